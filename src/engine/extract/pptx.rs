//! Slides (ECMA-376 part 1, PresentationML), in their order: the title as a heading, texts, tables, and what the speaker
//! notes say.

use super::budget::Budget;
use super::package::Package;
use super::tables::Tables;
use super::write::Text;
use super::xml::{Node, Xml, text_of};
use super::{Extracted, broken, office};
use crate::model::error::Result;

const PRESENTATION: &str = "ppt/presentation.xml";

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut package = Package::open(bytes, budget)?;
    let properties = office::properties(&mut package)?;
    let main = office::main_part(&mut package, PRESENTATION)?;
    let relations = office::relations_of(&mut package, &main)?;
    let presentation = package.need(&main)?;
    let mut text = Text::new(budget);
    for (index, id) in slides(&text_of(&presentation), &main)?.iter().enumerate() {
        let slide = relations.get(id).ok_or_else(|| broken(format!("{main}: slide {} is missing", index + 1)))?;
        let part = package.need(&slide.target)?;
        shapes(&text_of(&part), &slide.target, false, &mut text)?;
        let beside = office::relations_of(&mut package, &slide.target)?;
        if let Some(notes) = beside.values().find(|relation| relation.kind.ends_with("/notesSlide"))
            && let Some(part) = package.read(&notes.target)?
        {
            shapes(&text_of(&part), &notes.target, true, &mut text)?;
        }
        text.page()?;
    }
    let title = properties.title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, properties.facts))
}

/// The relations of the slides, in order.
fn slides(xml: &str, part: &str) -> Result<Vec<String>> {
    let mut slides = Vec::new();
    let mut xml = Xml::new(xml, part);
    while let Some(node) = xml.next()? {
        let Node::Open(tag) = node else { continue };
        if tag.name == "sldId" {
            // Two attributes are called `id`; the relation's has a prefix and comes second.
            slides.extend(tag.all("id").find(|id| id.parse::<u64>().is_err()).map(str::to_owned));
        }
    }
    Ok(slides)
}

/// What a shape is to its slide.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Body,
    Title,
    /// The number, the date, the footer: the same on each.
    Furniture,
}

/// The texts of a slide, or of its notes: of these what the speaker wrote.
fn shapes(xml: &str, part: &str, is_notes: bool, out: &mut Text<'_>) -> Result<()> {
    let mut xml = Xml::new(xml, part);
    let (mut role, mut tables) = (Role::Body, Tables::default());
    let (mut paragraph, mut depth, mut is_text, mut fallback) = (String::new(), 0, false, 0_usize);
    let mut title = String::new();
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) if fallback > 0 || tag.name == "Fallback" => fallback += 1,
            Node::Close(_) if fallback > 0 => fallback -= 1,
            Node::Open(tag) => match tag.name.as_str() {
                "sp" | "graphicFrame" => role = if is_notes { Role::Furniture } else { Role::Body },
                "ph" => {
                    role = match tag.get("type").unwrap_or("body") {
                        "title" | "ctrTitle" if !is_notes => Role::Title,
                        "body" | "obj" | "subTitle" => Role::Body,
                        "dt" | "ftr" | "sldNum" | "hdr" | "sldImg" => Role::Furniture,
                        _ if is_notes => Role::Furniture,
                        _ => Role::Body,
                    }
                }
                "tbl" => tables.open(),
                "tr" => tables.row(),
                "tc" => {
                    tables.cell();
                    tables.span(tag.number("gridSpan").unwrap_or(1));
                }
                "p" => (paragraph, depth) = (String::new(), 0),
                "pPr" => depth = tag.number("lvl").unwrap_or_default(),
                "br" => paragraph.push('\n'),
                "t" => is_text = true,
                _ => {}
            },
            Node::Text(text) if is_text && fallback == 0 => paragraph.push_str(&text),
            Node::Text(_) => {}
            Node::Close(name) => match name.as_str() {
                "t" => is_text = false,
                "p" if tables.is_open() => tables.add(&std::mem::take(&mut paragraph)),
                "p" => match role {
                    Role::Title => title = format!("{title} {}", std::mem::take(&mut paragraph)),
                    Role::Body if depth > 0 => out.item(depth - 1, "-", &std::mem::take(&mut paragraph))?,
                    Role::Body => out.paragraph(&std::mem::take(&mut paragraph))?,
                    Role::Furniture => paragraph.clear(),
                },
                "sp" if role == Role::Title => out.heading(1, &std::mem::take(&mut title))?,
                "tbl" => {
                    if let Some(rows) = tables.close() {
                        out.table(&rows)?;
                    }
                }
                _ => {}
            },
        }
    }
    Ok(())
}
