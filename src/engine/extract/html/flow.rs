//! Elements into headings, paragraphs, lists, code and tables. The tree is walked without recursion: pages are nested as
//! deep as their makers like.

use std::collections::HashSet;

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::Node;

use crate::engine::extract::formula::Formula;
use crate::engine::extract::numbers::{Form, written};
use crate::engine::extract::tables::Tables;
use crate::engine::extract::write::{Text, squeezed};
use crate::model::error::Result;

/// Elements that stand by themselves (WHATWG HTML §15.3), and those that are shown as things of their own. All others, known
/// or not, stand in a line.
const BLOCKS: &[&str] = &[
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup",
    "option", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "textarea", "tfoot",
    "th", "thead", "tr", "ul", "xmp", "audio", "button", "canvas", "embed", "iframe", "input", "object", "select",
    "svg", "video",
];

/// Whether an element stands by itself. Pages lay out elements of their own as they like, as cards and panes mostly.
fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || (name.contains('-') && !name.contains(':'))
}

/// What the text that comes next will be.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Paragraph,
    Heading(usize),
    /// So many lists deep, with its number.
    Item(usize, Option<(usize, Form)>),
    Code,
}

struct Flow<'t, 'b> {
    out: &'t mut Text<'b>,
    text: String,
    shape: Shape,
    /// The lists that are open, with the number of the next item where they count.
    lists: Vec<Option<(usize, Form)>>,
    tables: Tables,
    /// Open `pre`.
    code: usize,
    formula: Option<Formula>,
}

pub(super) fn write(root: NodeRef<'_, Node>, left_out: &HashSet<NodeId>, out: &mut Text<'_>) -> Result<()> {
    let layout = layouts(root);
    let mut flow = Flow {
        out,
        text: String::new(),
        shape: Shape::Paragraph,
        lists: Vec::new(),
        tables: Tables::default(),
        code: 0,
        formula: None,
    };
    let mut hidden = 0_usize;
    for edge in root.traverse() {
        match edge {
            Edge::Open(node) => {
                hidden += usize::from(left_out.contains(&node.id()));
                if hidden > 0 {
                    continue;
                }
                match node.value() {
                    Node::Text(text) => flow.add(text),
                    Node::Element(element) if flow.formula.is_some() || element.name() == "math" => {
                        flow.formula.get_or_insert_default().open(element.name(), None);
                    }
                    Node::Element(element) if !(is_of_table(element.name()) && layout.contains(&owner(node))) => {
                        flow.open(element.name(), |name| element.attr(name))?;
                    }
                    Node::Element(_) => flow.flush()?,
                    _ => {}
                }
            }
            Edge::Close(node) => {
                if let Node::Element(element) = node.value()
                    && hidden == 0
                {
                    match is_of_table(element.name()) && layout.contains(&owner(node)) {
                        _ if flow.formula.is_some() => flow.close_in_formula(),
                        true => flow.flush()?,
                        false => flow.close(element.name())?,
                    }
                }
                hidden -= usize::from(left_out.contains(&node.id()));
            }
        }
    }
    flow.flush()
}

fn is_of_table(name: &str) -> bool {
    matches!(name, "table" | "tr" | "td" | "th" | "caption" | "thead" | "tbody" | "tfoot")
}

/// The table that an element is of, itself included.
fn owner(node: NodeRef<'_, Node>) -> NodeId {
    let is_table =
        |node: &NodeRef<'_, Node>| node.value().as_element().is_some_and(|element| element.name() == "table");
    if is_table(&node) { node.id() } else { node.ancestors().find(is_table).map_or(node.id(), |table| table.id()) }
}

/// Tables that only lay out: with another table, a heading or several paragraphs in a cell, or of one column or row.
fn layouts(root: NodeRef<'_, Node>) -> HashSet<NodeId> {
    let mut layouts = HashSet::new();
    let mut open: Vec<(NodeId, usize, usize, bool)> = Vec::new();
    for edge in root.traverse() {
        let (node, opens) = match edge {
            Edge::Open(node) => (node, true),
            Edge::Close(node) => (node, false),
        };
        let Some(element) = node.value().as_element() else { continue };
        match (element.name(), opens) {
            ("table", true) => {
                if let Some(above) = open.last_mut() {
                    above.3 = true;
                }
                open.push((node.id(), 0, 0, attribute_is(element, "role", "presentation")));
            }
            ("table", false) => {
                if let Some((id, rows, cells, is_layout)) = open.pop()
                    && (is_layout || rows < 2 || cells < rows * 2 - 1)
                {
                    layouts.insert(id);
                }
            }
            ("tr", true) => open.last_mut().into_iter().for_each(|table| table.1 += 1),
            ("td" | "th", true) => open.last_mut().into_iter().for_each(|table| table.2 += 1),
            ("h1" | "h2" | "h3" | "pre" | "blockquote", true) => {
                open.last_mut().into_iter().for_each(|table| table.3 = true);
            }
            _ => {}
        }
    }
    layouts
}

fn attribute_is(element: &scraper::node::Element, name: &str, value: &str) -> bool {
    element.attr(name) == Some(value)
}

impl Flow<'_, '_> {
    fn close_in_formula(&mut self) {
        if let Some(text) = self.formula.as_mut().and_then(Formula::close) {
            self.formula = None;
            self.add(&text);
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(formula) = &mut self.formula {
            formula.add(&squeezed(text));
            return;
        }
        if self.code > 0 {
            self.text.push_str(text);
            return;
        }
        // White space of the source is one space, and none where there is one.
        for c in text.chars() {
            match c {
                ' ' | '\n' | '\t' | '\r' | '\u{c}' => {
                    if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                        self.text.push(' ');
                    }
                }
                c => self.text.push(c),
            }
        }
    }

    /// An element begins, with attributes by their names.
    fn open<'e>(&mut self, name: &str, attribute: impl Fn(&str) -> Option<&'e str>) -> Result<()> {
        let number = |name: &str| attribute(name).and_then(|number| number.trim().parse().ok());
        match name {
            // Two of them part paragraphs.
            "br" if self.code == 0 && self.text.ends_with('\n') => self.flush()?,
            "br" => self.text.push('\n'),
            "td" | "th" if self.tables.is_open() => {
                self.flush()?;
                self.tables.cell();
                self.tables.span(number("colspan").unwrap_or(1));
            }
            "tr" if self.tables.is_open() => {
                self.flush()?;
                self.tables.row();
            }
            "table" => {
                self.flush()?;
                self.tables.open();
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush()?;
                self.shape = Shape::Heading(name.bytes().last().map_or(1, |digit| usize::from(digit - b'0')));
            }
            "ol" => {
                self.flush()?;
                // One that counts down has no numbers: the first is known at the end.
                let counts = attribute("reversed").is_none();
                let form = attribute("type").map_or(Form::Digits, Form::of);
                self.lists.push(counts.then(|| (number("start").unwrap_or(1), form)));
            }
            "ul" | "menu" | "dir" => {
                self.flush()?;
                self.lists.push(None);
            }
            "li" | "dt" => {
                self.flush()?;
                let depth = self.lists.len().saturating_sub(1);
                let item = self.lists.last_mut().and_then(Option::as_mut).filter(|_| name == "li").map(|next| {
                    let own = (number("value").unwrap_or(next.0), next.1);
                    next.0 = own.0.saturating_add(1);
                    own
                });
                self.shape = Shape::Item(depth, item);
            }
            "pre" | "textarea" => {
                self.flush()?;
                self.code += 1;
                self.shape = Shape::Code;
            }
            // A paragraph within an item is the item's.
            "p" | "div" if self.text.trim().is_empty() => self.text.clear(),
            name if is_block(name) => self.flush()?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<()> {
        match name {
            "ul" | "ol" | "menu" | "dir" => {
                self.flush()?;
                self.lists.pop();
            }
            "pre" | "textarea" => {
                self.flush()?;
                self.code = self.code.saturating_sub(1);
            }
            "table" if self.tables.is_open() => {
                self.flush()?;
                if let Some(rows) = self.tables.close() {
                    self.out.table(&rows)?;
                }
            }
            name if is_block(name) => self.flush()?,
            _ => {}
        }
        Ok(())
    }

    /// What stands together is written.
    fn flush(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let shape = std::mem::replace(&mut self.shape, if self.code > 0 { Shape::Code } else { Shape::Paragraph });
        let mark = match shape {
            Shape::Item(_, Some((number, form))) => format!("{}.", written(number, form)),
            _ => String::new(),
        };
        if self.tables.is_open() {
            self.tables.add(&format!("{mark} {text}"));
            return Ok(());
        }
        match shape {
            Shape::Paragraph => self.out.paragraph(&text),
            Shape::Heading(level) => self.out.heading(level, &text),
            Shape::Item(depth, number) => self.out.item(depth, if number.is_some() { &mark } else { "-" }, &text),
            Shape::Code => self.out.code(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::extract::{Budget, html};

    #[test]
    fn items_of_lists_that_count_have_their_numbers() {
        let page = "<body><ol start=3><li>x<ul><li>in</ul><li value=7>y<ol type=a><li>z</ol></ol><ul><li>end</ul>";
        let read = html::read(page.as_bytes(), "x.html", &Budget::new(0)).unwrap();
        assert_eq!(read.text, "3. x\n  - in\n7. y\n  a. z\n- end\n");
        let down = html::read(b"<body><ol reversed><li>x<li>y</ol>", "x.html", &Budget::new(0)).unwrap();
        assert_eq!(down.text, "- x\n- y\n");
    }

    #[test]
    fn elements_of_other_vocabularies_stand_in_their_line() {
        let page = "<body><p>Sales of <ix:nonfraction name=s>12</ix:nonfraction> million in\n\
                    <st1:place>Ghent</st1:place>.<o:p></o:p></p><div>Next<my-card>card</my-card></div>";
        let read = html::read(page.as_bytes(), "x.html", &Budget::new(0)).unwrap();
        assert_eq!(read.text, "Sales of 12 million in Ghent.\n\nNext\n\ncard\n");
    }

    #[test]
    fn formulas_are_a_line_of_text() {
        let page = "<body><p>Half of <math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mfrac><mrow><mi>a</mi>\
                    <mo>+</mo>\n<msqrt><mi>b</mi></msqrt></mrow><mn>12</mn></mfrac></mrow><annotation>tex</annotation>\
                    </semantics></math> is it.";
        let read = html::read(page.as_bytes(), "x.html", &Budget::new(0)).unwrap();
        assert_eq!(read.text, "Half of x^2=(a+√b)/12 is it.\n");
    }

    #[test]
    fn one_break_parts_lines_and_two_part_paragraphs() {
        let page = "<body><p>One<br>two<br>\n<br>three</p><pre>a<br><br>b</pre>";
        let read = html::read(page.as_bytes(), "x.html", &Budget::new(0)).unwrap();
        assert_eq!(read.text, "One\ntwo\n\nthree\n\n```\na\n\nb\n```\n");
    }
}
