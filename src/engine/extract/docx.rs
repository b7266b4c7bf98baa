//! Word documents (ECMA-376 part 1, WordprocessingML): headings by style or outline level, lists, tables, notes. Text
//! that was deleted under tracking is not there; text in boxes is. Pages are those that the last program that laid the
//! document out wrote into it.

use std::collections::HashMap;

use super::budget::Budget;
use super::package::Package;
use super::tables::Tables;
use super::write::Text;
use super::xml::{Node, Tag, Xml, text_of};
use super::{Extracted, office};
use crate::model::error::Result;

const DOCUMENT: &str = "word/document.xml";
/// Styles that a style may rest on, one on the other.
const CHAIN: usize = 20;

/// Elements whose content is no text of the document.
const SKIPPED: &[&str] = &[
    "del",
    "moveFrom",
    "Fallback",
    "instrText",
    "delText",
    "rPr",
    "sectPr",
    "tblPr",
    "trPr",
    "sdtPr",
    "fldData",
    "pict",
];

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    let properties = office::properties(&mut package)?;
    let main = office::main_part(&mut package, DOCUMENT)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let styles = match package.read(&beside("styles.xml"))? {
        Some(part) => levels(&text_of(&part), "styles.xml")?,
        None => HashMap::new(),
    };
    let mut text = Text::new(budget);
    let mut document = Document { styles: &styles, text: &mut text, open: Vec::new(), tables: Tables::default() };
    document.part(&text_of(&package.need(&main)?), &main)?;
    for notes in ["footnotes.xml", "endnotes.xml"] {
        if let Some(part) = package.read(&beside(notes))? {
            document.part(&text_of(&part), notes)?;
        }
    }
    let title = properties.title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, properties.facts))
}

/// The heading level of each style that has one, by its id.
fn levels(styles: &str, part: &str) -> Result<HashMap<String, usize>> {
    #[derive(Default)]
    struct Style {
        name: String,
        based_on: String,
        is_default: bool,
        outline: Option<usize>,
    }
    let mut known: HashMap<String, Style> = HashMap::new();
    let mut current: Option<(String, Style)> = None;
    let mut xml = Xml::new(styles, part);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) if tag.name == "style" => {
                let is_default = matches!(tag.get("default"), Some("1" | "true" | "on"));
                let id = tag.get("styleId").unwrap_or_default().to_owned();
                current = Some((id, Style { is_default, ..Style::default() }));
            }
            Node::Open(tag) => {
                let Some((_, style)) = &mut current else { continue };
                let value = || tag.get("val").unwrap_or_default().to_owned();
                match tag.name.as_str() {
                    "name" => style.name = value().to_lowercase(),
                    "basedOn" => style.based_on = value(),
                    "outlineLvl" => style.outline = tag.number("val"),
                    _ => {}
                }
            }
            Node::Close(name) if name == "style" => known.extend(current.take()),
            _ => {}
        }
    }
    let of_name = |name: &str| match name {
        "title" => Some(1),
        "subtitle" => Some(2),
        name => name.strip_prefix("heading ")?.trim().parse().ok().filter(|level| (1..=9).contains(level)),
    };
    let level = |id: &str| {
        let chain = std::iter::successors(known.get(id), |style| known.get(&style.based_on));
        // Level 9 says that the text is of the body; what the default style says would make headings of all of it.
        let mut own = chain.take(CHAIN).take_while(|style| !style.is_default);
        let level =
            own.find_map(|style| style.outline.map(|level| level.saturating_add(1)).or_else(|| of_name(&style.name)));
        level.filter(|level| *level <= 9)
    };
    Ok(known.keys().filter_map(|id| Some((id.clone(), level(id)?))).collect())
}

/// A paragraph whose end is still to come: one in a text box stands within another.
#[derive(Default)]
struct Paragraph {
    text: String,
    level: Option<usize>,
    item: Option<usize>,
}

struct Document<'d, 'b> {
    styles: &'d HashMap<String, usize>,
    text: &'d mut Text<'b>,
    open: Vec<Paragraph>,
    tables: Tables,
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
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn open(&mut self, tag: &Tag) -> Result<()> {
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
                let level = tag.get("val").and_then(|style| self.styles.get(style)).copied();
                self.paragraph(|paragraph| paragraph.level = paragraph.level.or(level));
            }
            "outlineLvl" => {
                let level = tag.number("val").filter(|level| *level < 9).map(|level| level + 1);
                self.paragraph(|paragraph| paragraph.level = level);
            }
            "numId" if tag.number("val") == Some(0) => self.paragraph(|paragraph| paragraph.item = None),
            "numPr" => self.paragraph(|paragraph| paragraph.item = Some(0)),
            "ilvl" => {
                let depth = tag.number("val").unwrap_or_default();
                self.paragraph(|paragraph| paragraph.item = paragraph.item.map(|_| depth));
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
        match name {
            "p" => {
                let Some(done) = self.open.pop() else { return Ok(()) };
                if self.tables.is_open() {
                    self.tables.add(&done.text);
                    return Ok(());
                }
                match (done.level, done.item) {
                    (Some(level), _) => self.text.heading(level, &done.text),
                    (None, Some(depth)) => self.text.item(depth, "-", &done.text),
                    (None, None) => self.text.paragraph(&done.text),
                }
            }
            "tbl" => match self.tables.close() {
                Some(rows) => self.text.table(&rows),
                None => Ok(()),
            },
            _ => Ok(()),
        }
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

    #[test]
    fn styles_say_what_is_a_heading() {
        let style = |id: &str, attributes: &str, inner: &str| {
            format!("<w:style w:type=\"paragraph\" w:styleId=\"{id}\"{attributes}>{inner}</w:style>")
        };
        let styles = [
            style("Normal", " w:default=\"1\"", "<w:outlineLvl w:val=\"0\"/>"),
            style("Plain", "", "<w:basedOn w:val=\"Normal\"/>"),
            style("H1", "", "<w:name w:val=\"heading 1\"/><w:basedOn w:val=\"Normal\"/>"),
            style("Quiet", "", "<w:basedOn w:val=\"H1\"/><w:outlineLvl w:val=\"9\"/>"),
            style("Quieter", "", "<w:basedOn w:val=\"Quiet\"/>"),
            style("Own", "", "<w:basedOn w:val=\"H1\"/><w:outlineLvl w:val=\"2\"/>"),
        ];
        let found = levels(&format!("<w:styles xmlns:w=\"w\">{}</w:styles>", styles.concat()), "styles.xml").unwrap();
        assert_eq!(found, HashMap::from([("H1".to_owned(), 1), ("Own".to_owned(), 3)]));
    }
}
