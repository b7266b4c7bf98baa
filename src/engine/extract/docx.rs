//! Word documents (ECMA-376 part 1, WordprocessingML): headings by style or outline level, lists and headings with their
//! numbers, tables, formulas, charts and diagrams, notes, comments. Text that was deleted under tracking is not there; text
//! in boxes is. Pages are those that the last program that laid the document out wrote into it.

mod numbering;
mod styles;

use std::collections::{BTreeMap, HashMap};

use super::budget::Budget;
use super::drawings::{self, Drawing};
use super::formula::Formula;
use super::package::Package;
use super::tables::Tables;
use super::write::Text;
use super::xml::{Node, Tag, Xml, text_of};
use super::{Extracted, office};
use crate::model::error::Result;

use numbering::Numbering;
use styles::Style;

const DOCUMENT: &str = "word/document.xml";

/// Elements whose content is no text of the document.
const SKIPPED: &[&str] = &[
    "del", "moveFrom", "Fallback", "instrText", "delText", "rPr", "pPrChange", "sectPr", "tblPr", "trPr", "sdtPr",
    "fldData",
];

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    let properties = office::properties(&mut package)?;
    let main = office::main_part(&mut package, DOCUMENT)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let styles = match package.read(&beside("styles.xml"))? {
        Some(part) => styles::read(&text_of(&part), "styles.xml")?,
        None => HashMap::new(),
    };
    let numbering = match package.read(&beside("numbering.xml"))? {
        Some(part) => Numbering::read(&text_of(&part), "numbering.xml")?,
        None => Numbering::default(),
    };
    let mut text = Text::new(budget);
    let drawings = drawings::beside(&mut package, &main)?;
    let mut document = Document {
        styles: &styles,
        numbering,
        drawings,
        text: &mut text,
        open: Vec::new(),
        tables: Tables::default(),
        shown: Vec::new(),
        by: None,
        formula: None,
    };
    document.part(&text_of(&package.need(&main)?), &main)?;
    for notes in ["footnotes.xml", "endnotes.xml", "comments.xml"] {
        if let Some(part) = package.read(&beside(notes))? {
            document.part(&text_of(&part), notes)?;
        }
    }
    let title = properties.title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, properties.facts))
}

/// A paragraph whose end is still to come: one in a text box stands within another.
#[derive(Default)]
struct Paragraph {
    text: String,
    style: Option<String>,
    /// The heading level that it says itself, 0 for none.
    level: Option<usize>,
    /// The list that it says itself, and how deep in it.
    list: Option<String>,
    depth: Option<usize>,
}

struct Document<'d, 'b> {
    styles: &'d HashMap<String, Style>,
    numbering: Numbering,
    text: &'d mut Text<'b>,
    open: Vec<Paragraph>,
    tables: Tables,
    /// Charts and diagrams by the ids of their relations, and those of what is open.
    drawings: BTreeMap<String, Drawing>,
    shown: Vec<String>,
    /// Who made the comment that is open.
    by: Option<String>,
    formula: Option<Formula>,
}

impl Document<'_, '_> {
    fn part(&mut self, text: &str, part: &str) -> Result<()> {
        let mut xml = Xml::new(text, part);
        let mut skipped = 0_usize;
        let mut is_text = false;
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(tag) if skipped > 0 || is_skipped(&tag) => skipped += 1,
                Node::Close(_) if skipped > 0 => skipped -= 1,
                Node::Open(tag) => {
                    is_text = tag.name == "t";
                    self.open(&tag)?;
                }
                Node::Close(name) => {
                    is_text = false;
                    self.close(&name)?;
                }
                Node::Text(text) if is_text && skipped == 0 => self.add(&text),
                Node::Text(_) => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        if let Some(formula) = &mut self.formula {
            formula.add(text);
        } else if let Some(paragraph) = self.open.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn open(&mut self, tag: &Tag) -> Result<()> {
        if self.formula.is_some() || tag.name == "oMath" {
            self.formula.get_or_insert_default().open(&tag.name, tag.get("val"));
            return Ok(());
        }
        match tag.name.as_str() {
            "p" => self.open.push(Paragraph::default()),
            "tbl" => self.tables.open(),
            "tr" => self.tables.row(),
            "tc" => self.tables.cell(),
            "gridSpan" => self.tables.span(tag.number("val").unwrap_or(1)),
            "tab" => self.add("\t"),
            "cr" => self.add("\n"),
            "noBreakHyphen" => self.add("-"),
            "sym" => self.add(" "),
            "br" if tag.get("type") == Some("page") => {}
            "br" => self.add("\n"),
            "lastRenderedPageBreak" if !self.tables.is_open() => self.text.page()?,
            "pStyle" => {
                let style = tag.get("val").map(str::to_owned);
                self.paragraph(|paragraph| paragraph.style = style);
            }
            "outlineLvl" => {
                let level = tag.number("val").map(|level| if level < 9 { level + 1 } else { 0 });
                self.paragraph(|paragraph| paragraph.level = level);
            }
            "comment" => self.by = tag.get("author").map(str::to_owned),
            "chart" | "relIds" => self.shown.extend(drawings::shown(tag).map(str::to_owned)),
            "numId" => {
                let list = tag.get("val").map(str::to_owned);
                self.paragraph(|paragraph| paragraph.list = list);
            }
            "ilvl" => {
                let depth = tag.number("val");
                self.paragraph(|paragraph| paragraph.depth = depth);
            }
            _ => {}
        }
        Ok(())
    }

    fn paragraph(&mut self, change: impl FnOnce(&mut Paragraph)) {
        if let Some(paragraph) = self.open.last_mut() {
            change(paragraph);
        }
    }

    fn close(&mut self, name: &str) -> Result<()> {
        if let Some(formula) = &mut self.formula {
            if let Some(text) = formula.close() {
                self.formula = None;
                self.add(&text);
            }
            return Ok(());
        }
        match name {
            "p" => {
                let Some(mut done) = self.open.pop() else { return Ok(()) };
                if let Some(by) = self.by.take_if(|_| !done.text.trim().is_empty()) {
                    done.text.insert_str(0, &format!("{by}: "));
                }
                self.end(&done)
            }
            "tbl" => {
                if let Some(rows) = self.tables.close() {
                    self.text.table(&rows)?;
                }
                self.show()
            }
            _ => Ok(()),
        }
    }
}

impl Document<'_, '_> {
    fn end(&mut self, done: &Paragraph) -> Result<()> {
        let style = done.style.as_ref().and_then(|style| self.styles.get(style));
        let level = done.level.or(style.and_then(|style| style.level)).filter(|level| *level > 0);
        // List 0 is none.
        let list = done.list.as_ref().or(style.and_then(|style| style.list.as_ref())).filter(|list| *list != "0");
        let item = list.map(|list| {
            let of_style = || self.numbering.level_of_style(list, done.style.as_ref()?);
            let depth = done.depth.or_else(of_style).or(style.and_then(|style| style.depth)).unwrap_or_default();
            (depth, self.numbering.next(list, depth))
        });
        let mark = item.as_ref().map_or("", |(_, mark)| mark.as_str());
        let marked = || format!("{mark} {}", done.text);
        match (level, &item) {
            _ if self.tables.is_open() => self.tables.add(&marked()),
            (Some(_), _) if done.text.trim().is_empty() => {}
            (Some(level), _) => self.text.heading(level, &marked())?,
            (None, Some((depth, _))) => self.text.item(*depth, if mark.is_empty() { "-" } else { mark }, &done.text)?,
            (None, None) => self.text.paragraph(&done.text)?,
        }
        self.show()
    }

    /// Writes the charts and diagrams of what is written, as soon as nothing is open that would go on behind them.
    fn show(&mut self) -> Result<()> {
        if self.open.is_empty() && !self.tables.is_open() {
            let shown = std::mem::take(&mut self.shown).into_iter();
            shown.filter_map(|id| self.drawings.remove(&id)).try_for_each(|drawing| drawing.write(self.text))?;
        }
        Ok(())
    }
}

fn is_skipped(tag: &Tag) -> bool {
    // A separator of notes is a note too.
    let is_separator = matches!(tag.get("type"), Some("separator" | "continuationSeparator" | "continuationNotice"));
    SKIPPED.contains(&tag.name.as_str()) || (is_separator && matches!(tag.name.as_str(), "footnote" | "endnote"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::tests::zipped;

    #[test]
    fn boxes_are_read_once_in_the_form_of_any_word() {
        let framed = |text: &str| {
            format!("<v:textbox><w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent></v:textbox>")
        };
        let older = format!("<w:p><w:r><w:t>One.</w:t><w:pict>{}</w:pict></w:r></w:p>", framed("Older box."));
        let newer = format!(
            "<w:p><w:r><w:t>Two.</w:t><mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback><w:pict>{0}</w:pict>\
             </mc:Fallback></mc:AlternateContent></w:r></w:p>",
            framed("Newer box.")
        );
        let document = format!("<w:document><w:body>{older}{newer}</w:body></w:document>");
        let zip = zipped(&[("word/document.xml", document.as_bytes())]);
        let text = read(&zip, "x.docx", &Budget::new(0)).unwrap().text;
        assert_eq!(text, "Older box.\n\nOne.\n\nNewer box.\n\nTwo.\n");
    }

    #[test]
    fn numbers_charts_formulas_and_comments_are_where_they_show() {
        let document = "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"H1\"/></w:pPr><w:r><w:t>Scope</w:t></w:r></w:p>\
                        <w:p><w:pPr><w:pStyle w:val=\"H2\"/></w:pPr><w:r><w:t>Terms</w:t></w:r></w:p>\
                        <w:p><w:pPr><w:pStyle w:val=\"H2\"/><w:numPr><w:numId w:val=\"0\"/></w:numPr></w:pPr><w:r><w:t>Bare</w:t>\
                        </w:r></w:p><w:p><w:pPr><w:numPr><w:ilvl w:val=\"2\"/><w:numId w:val=\"1\"/></w:numPr><w:pPrChange><w:pPr>\
                        <w:pStyle w:val=\"H1\"/></w:pPr></w:pPrChange></w:pPr><w:r><w:t>item</w:t></w:r></w:p><w:p><w:r>\
                        <w:drawing><c:chart r:id=\"r1\"/></w:drawing><w:t>Of </w:t></w:r><m:oMath><m:f><m:fPr><m:ctrlPr/></m:fPr>\
                        <m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath><w:r>\
                        <w:t> it is.</w:t></w:r></w:p></w:body></w:document>";
        let level = |at: usize, text: &str, style: &str| {
            format!("<w:lvl w:ilvl=\"{at}\"><w:start w:val=\"1\"/>{style}<w:lvlText w:val=\"{text}\"/></w:lvl>")
        };
        let levels =
            [level(0, "%1.", ""), level(1, "%1.%2", "<w:pStyle w:val=\"H2\"/>"), level(2, "(%3)", "")].concat();
        let numbering = format!(
            "<w:numbering><w:abstractNum w:abstractNumId=\"5\">{levels}</w:abstractNum><w:num w:numId=\"1\">\
             <w:abstractNumId w:val=\"5\"/></w:num></w:numbering>"
        );
        let styles = "<w:styles><w:style w:styleId=\"H1\"><w:name w:val=\"heading 1\"/><w:numId w:val=\"1\"/></w:style>\
                      <w:style w:styleId=\"H2\"><w:name w:val=\"heading 2\"/><w:numId w:val=\"1\"/></w:style></w:styles>";
        let comments = "<w:comments><w:comment w:author=\"Ann\"><w:p><w:r><w:t>Why?</w:t></w:r></w:p></w:comment>\
                        <w:comment w:author=\"Bob\"><w:p><w:pPr><w:numPr><w:ilvl w:val=\"2\"/><w:numId w:val=\"1\"/>\
                        </w:numPr></w:pPr><w:r><w:t>Here.</w:t></w:r></w:p></w:comment></w:comments>";
        let relations =
            "<Relationships><Relationship Id=\"r1\" Type=\"x/chart\" Target=\"charts/c.xml\"/></Relationships>";
        let chart = "<c:chart><c:title><a:t>Sales</a:t></c:title></c:chart>";
        let zip = zipped(&[
            ("word/document.xml", document.as_bytes()),
            ("word/styles.xml", styles.as_bytes()),
            ("word/numbering.xml", numbering.as_bytes()),
            ("word/comments.xml", comments.as_bytes()),
            ("word/_rels/document.xml.rels", relations.as_bytes()),
            ("word/charts/c.xml", chart.as_bytes()),
        ]);
        let text = read(&zip, "x.docx", &Budget::new(0)).unwrap().text;
        let expected = "# 1. Scope\n\n## 1.1 Terms\n\n## Bare\n\n    (1) item\n\nOf (a+b)/2 it is.\n\nSales\n\n\
                        Ann: Why?\n\n    (2) Bob: Here.\n";
        assert_eq!(text, expected);
    }
}
