//! OpenDocument texts and presentations (OASIS OpenDocument 1.3): headings and lists with their numbers, paragraphs, tables,
//! slides. Notes and comments follow the paragraph or table that they belong to.

mod lists;

use super::budget::Budget;
use super::package::Package;
use super::tables::Tables;
use super::write::Text;
use super::xml::{Node, Tag, Xml, text_of};
use super::{Extracted, office};
use crate::model::error::Result;

use lists::Lists;

/// What stands in the content and is no text of it.
const SKIPPED: &[&str] = &["tracked-changes", "font-face-decls", "scripts", "forms", "desc"];
/// Spaces that one element stands for.
const SPACES: usize = 200;

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    package.unlocked()?;
    let meta = package.read("meta.xml")?.unwrap_or_default();
    let meta = text_of(&meta);
    let (title, facts) = (office::text_in(&meta, "title"), office::facts_in(&meta));
    let mut lists = Lists::default();
    if let Some(styles) = package.read("styles.xml")? {
        let styles = text_of(&styles);
        let mut xml = Xml::new(&styles, "styles.xml");
        while let Some(node) = xml.next()? {
            if let Node::Open(tag) = node {
                lists.define(&tag);
            }
        }
    }
    let content = package.need("content.xml")?;
    let mut text = Text::new(budget);
    Content {
        text: &mut text,
        open: Vec::new(),
        lists,
        tables: Tables::default(),
        slides: 0,
        asides: Asides::default(),
    }
    .read(&text_of(&content))?;
    let title = title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, facts))
}

/// A paragraph or heading that is open; one in a frame stands within another.
#[derive(Default)]
struct Open {
    text: String,
    level: Option<usize>,
    mark: Option<String>,
}

/// Notes and comments, whose paragraphs stand within the one that they belong to.
#[derive(Default)]
struct Asides {
    open: usize,
    /// What the next paragraph begins with: a note's mark, who comments.
    label: String,
    done: Vec<String>,
}

struct Content<'d, 'b> {
    text: &'d mut Text<'b>,
    open: Vec<Open>,
    lists: Lists,
    tables: Tables,
    slides: usize,
    asides: Asides,
}

impl Content<'_, '_> {
    fn read(&mut self, content: &str) -> Result<()> {
        let mut xml = Xml::new(content, "content.xml");
        let mut skipped = 0_usize;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(tag) if skipped > 0 || SKIPPED.contains(&tag.name.as_str()) => skipped += 1,
                Node::Close(_) if skipped > 0 => skipped -= 1,
                Node::Open(tag) => self.open(&tag)?,
                Node::Close(name) => self.close(&name)?,
                Node::Text(text) if skipped == 0 => {
                    // Spaces between words are one; more are an element.
                    let text = text.replace(['\n', '\t', '\r'], " ");
                    self.add(&text);
                }
                Node::Text(_) => {}
            }
        }
        self.end_asides()
    }

    fn add(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            open.text.push_str(text);
        }
    }

    fn open(&mut self, tag: &Tag) -> Result<()> {
        match tag.name.as_str() {
            // `draw:page`; a `text:page` would be a field.
            "page" if tag.get("master-page-name").is_some() => {
                self.end_asides()?;
                self.slides += 1;
                if self.slides > 1 {
                    self.text.page()?;
                }
            }
            "h" => {
                let level = tag.number("outline-level").unwrap_or(1);
                let is_numbered = tag.get("is-list-header") != Some("true") && self.lists.depth() == 0;
                let mark = match is_numbered {
                    true => Some(self.lists.heading(level, tag.number("start-value"))),
                    false => self.lists.mark().filter(|mark| mark != "-"),
                };
                self.open.push(Open { text: String::new(), level: Some(level), mark });
            }
            "p" if self.asides.open > 0 => self.open.push(Open::default()),
            "p" => {
                let mark = self.lists.mark();
                self.open.push(Open { mark, ..Open::default() });
            }
            "note-citation" => self.open.push(Open::default()),
            "note-body" | "annotation" => {
                self.asides.open += 1;
                self.open.push(Open::default());
            }
            "list" => self.lists.begin(tag),
            "list-item" => self.lists.item(tag),
            "table" => self.tables.open(),
            "table-row" => self.tables.row(),
            "table-cell" => {
                self.tables.cell();
                self.tables.span(tag.number("number-columns-repeated").unwrap_or(1));
            }
            "covered-table-cell" => self.tables.cell(),
            "s" => self.add(&" ".repeat(tag.number("c").unwrap_or(1).min(SPACES))),
            "tab" => self.add("\t"),
            "line-break" => self.add("\n"),
            "soft-page-break" if !self.tables.is_open() => self.text.page()?,
            _ => self.lists.define(tag),
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<()> {
        match name {
            "h" | "p" => {
                let Some(done) = self.open.pop() else { return Ok(()) };
                self.end(&done)
            }
            "note-citation" => {
                self.asides.label = format!("[{}]", self.open.pop().unwrap_or_default().text.trim());
                let label = self.asides.label.clone();
                self.add(&label);
                Ok(())
            }
            "creator" if self.asides.open > 0 => {
                let name = self.open.last_mut().map(|open| std::mem::take(&mut open.text)).unwrap_or_default();
                self.asides.label = format!("{name}:");
                Ok(())
            }
            "note-body" | "annotation" => {
                self.asides.open = self.asides.open.saturating_sub(1);
                self.open.pop();
                Ok(())
            }
            "list" => {
                self.lists.end();
                Ok(())
            }
            "table" => {
                if let Some(rows) = self.tables.close() {
                    self.text.table(&rows)?;
                }
                self.end_asides()
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, Open { text, level, mark }: &Open) -> Result<()> {
        if self.asides.open > 0 {
            let label = std::mem::take(&mut self.asides.label);
            self.asides.done.push(format!("{label} {text}"));
            return Ok(());
        }
        let shown = mark.as_deref().unwrap_or_default();
        match (level, mark) {
            _ if self.tables.is_open() => self.tables.add(&format!("{} {text}", shown.trim_start_matches('-'))),
            (Some(_), _) if text.trim().is_empty() => {}
            (Some(level), _) => self.text.heading(*level, &format!("{shown} {text}"))?,
            (None, Some(mark)) => self.text.item(self.lists.depth().saturating_sub(1), mark, text)?,
            (None, None) => self.text.paragraph(text)?,
        }
        self.end_asides()
    }

    /// Writes the notes of what is written, as soon as nothing is open that would go on behind them.
    fn end_asides(&mut self) -> Result<()> {
        if self.open.is_empty() && !self.tables.is_open() {
            for aside in std::mem::take(&mut self.asides.done) {
                self.text.paragraph(&aside)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::tests::zipped;

    #[test]
    fn items_and_headings_have_their_numbers_and_notes_follow_their_paragraph() {
        let styles = "<office:styles><text:outline-style><text:outline-level-style text:level=\"1\" style:num-format=\"1\"/>\
                      <text:outline-level-style text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/>\
                      </text:outline-style></office:styles>";
        let content = "<office:document><office:automatic-styles><text:list-style style:name=\"L\">\
                       <text:list-level-style-number text:level=\"1\" style:num-format=\"a\" style:num-suffix=\")\"/>\
                       <text:list-level-style-bullet text:level=\"2\"/></text:list-style></office:automatic-styles>\
                       <text:h text:outline-level=\"1\">One</text:h><text:h text:outline-level=\"2\">Two</text:h>\
                       <text:h text:outline-level=\"2\" text:is-list-header=\"true\">No number</text:h>\
                       <text:list text:style-name=\"L\"><text:list-item><text:p>x</text:p><text:p>more</text:p><text:list>\
                       <text:list-item><text:p>in</text:p></text:list-item></text:list></text:list-item><text:list-item>\
                       <text:p>y</text:p></text:list-item></text:list><text:p>Words<text:note><text:note-citation>1\
                       </text:note-citation><text:note-body><text:p>Note.</text:p></text:note-body></text:note> go \
                       <office:annotation><dc:creator>Ann</dc:creator><dc:date>2024</dc:date><text:p>Why?</text:p>\
                       </office:annotation>on.</text:p><text:list text:style-name=\"L\" text:continue-numbering=\"true\">\
                       <text:list-item><text:p>z</text:p></text:list-item></text:list></office:document>";
        let zip = zipped(&[("styles.xml", styles.as_bytes()), ("content.xml", content.as_bytes())]);
        let text = read(&zip, "x.odt", &Budget::new(0)).unwrap().text;
        let expected = "# 1 One\n\n## 1.1 Two\n\n## No number\n\na) x\n\nmore\n\n  - in\nb) y\n\nWords[1] go on.\n\n\
                        [1] Note.\n\nAnn: Why?\n\nc) z\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_list_within_another_begins_anew() {
        let style = |name: &str, level: usize, form: &str| {
            format!(
                "<text:list-style style:name=\"{name}\"><text:list-level-style-number text:level=\"{level}\" \
                 style:num-format=\"{form}\"/></text:list-style>"
            )
        };
        let inner = "<text:list text:style-name=\"M\"><text:list-item><text:p>in</text:p></text:list-item><text:list-item>\
                     <text:p>in</text:p></text:list-item></text:list>";
        let item = format!("<text:list-item><text:p>x</text:p>{inner}</text:list-item>");
        let content = format!(
            "<office:document>{}{}<text:list text:style-name=\"L\">{item}{item}</text:list></office:document>",
            style("L", 1, "1"),
            style("M", 2, "a")
        );
        let text = read(&zipped(&[("content.xml", content.as_bytes())]), "x.odt", &Budget::new(0)).unwrap().text;
        assert_eq!(text, "1 x\n  a in\n  b in\n2 x\n  a in\n  b in\n");
    }
}
