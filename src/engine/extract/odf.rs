//! OpenDocument texts and presentations (OASIS OpenDocument 1.3): headings, paragraphs, lists, tables, slides.

use super::budget::Budget;
use super::package::{Package, protected};
use super::tables::Tables;
use super::write::Text;
use super::xml::{Node, Tag, Xml, text_of};
use super::{Extracted, office};
use crate::model::error::Result;

/// What stands in the content and is no text of it.
const SKIPPED: &[&str] =
    &["tracked-changes", "annotation", "automatic-styles", "font-face-decls", "scripts", "forms", "desc"];
/// Spaces that one element stands for.
const SPACES: usize = 200;

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    if let Some(manifest) = package.read("META-INF/manifest.xml")?
        && text_of(&manifest).contains("encryption-data")
    {
        return Err(protected());
    }
    let meta = package.read("meta.xml")?.unwrap_or_default();
    let meta = text_of(&meta);
    let (title, facts) = (office::text_in(&meta, "title"), office::facts_in(&meta));
    let content = package.need("content.xml")?;
    let mut text = Text::new(budget);
    Content { text: &mut text, open: Vec::new(), lists: 0, tables: Tables::default(), slides: 0 }
        .read(&text_of(&content))?;
    let title = title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, facts))
}

/// A paragraph or heading that is open; one in a frame stands within another.
struct Open {
    text: String,
    level: Option<usize>,
}

struct Content<'d, 'b> {
    text: &'d mut Text<'b>,
    open: Vec<Open>,
    lists: usize,
    tables: Tables,
    slides: usize,
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
        Ok(())
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
                self.slides += 1;
                if self.slides > 1 {
                    self.text.page()?;
                }
            }
            "h" => {
                let level = tag.number("outline-level").unwrap_or(1);
                self.open.push(Open { text: String::new(), level: Some(level) });
            }
            "p" => self.open.push(Open { text: String::new(), level: None }),
            "list" => self.lists += 1,
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
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<()> {
        match name {
            "h" | "p" => {
                let Some(Open { text, level }) = self.open.pop() else { return Ok(()) };
                if self.tables.is_open() {
                    self.tables.add(&text);
                    return Ok(());
                }
                match (level, self.lists) {
                    (Some(level), _) => self.text.heading(level, &text),
                    (None, 0) => self.text.paragraph(&text),
                    (None, depth) => self.text.item(depth - 1, "-", &text),
                }
            }
            "list" => {
                self.lists = self.lists.saturating_sub(1);
                Ok(())
            }
            "table" => match self.tables.close() {
                Some(rows) => self.text.table(&rows),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
