//! Slides (ECMA-376 part 1, PresentationML), in their order: the title as a heading, texts, tables, charts, diagrams, and what
//! the speaker notes say.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::drawings::{self, Drawing};
use super::formula::Formula;
use super::package::{Package, sound};
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
        let drawings = drawings::beside(&mut package, &slide.target)?;
        shapes(&text_of(&part), &slide.target, &drawings, false, &mut text)?;
        let beside = sound(office::relations_of(&mut package, &slide.target))?;
        if let Some(notes) = beside.values().find(|relation| relation.kind.ends_with("/notesSlide"))
            && let Some(part) = package.read(&notes.target)?
        {
            shapes(&text_of(&part), &notes.target, &BTreeMap::new(), true, &mut text)?;
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
fn shapes(
    xml: &str,
    part: &str,
    drawings: &BTreeMap<String, Drawing>,
    is_notes: bool,
    out: &mut Text<'_>,
) -> Result<()> {
    let mut xml = Xml::new(xml, part);
    let (mut role, mut tables) = (Role::Body, Tables::default());
    let (mut paragraph, mut depth, mut is_text, mut fallback) = (String::new(), 0, false, 0_usize);
    let mut title = String::new();
    let mut formula: Option<Formula> = None;
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) if fallback > 0 || tag.name == "Fallback" => fallback += 1,
            Node::Close(_) if fallback > 0 => fallback -= 1,
            Node::Open(tag) if formula.is_some() || tag.name == "oMath" => {
                is_text = tag.name == "t";
                formula.get_or_insert_default().open(&tag.name, tag.get("val"));
            }
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
                _ => {
                    if let Some(drawing) = drawings::shown(&tag).and_then(|id| drawings.get(id)) {
                        drawing.write(out)?;
                    }
                }
            },
            Node::Text(text) if is_text && fallback == 0 => match &mut formula {
                Some(formula) => formula.add(&text),
                None => paragraph.push_str(&text),
            },
            Node::Text(_) => {}
            Node::Close(_) if formula.is_some() => {
                is_text = false;
                if let Some(text) = formula.as_mut().and_then(Formula::close) {
                    formula = None;
                    paragraph.push_str(&text);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::tests::zipped;

    #[test]
    fn charts_diagrams_and_formulas_stand_on_their_slide() {
        let slide = "<p:sld><p:graphicFrame><c:chart r:id=\"r1\"/></p:graphicFrame><p:sp><a:p><a:r><a:t>Area </a:t></a:r><m:oMath>\
                     <m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath><a:r>\
                     <a:t> in all</a:t></a:r></a:p></p:sp><p:graphicFrame><dgm:relIds r:dm=\"r2\"/></p:graphicFrame></p:sld>";
        let presentation = "<p:presentation><p:sldId id=\"256\" r:id=\"r1\"/></p:presentation>";
        let relation = |id: &str, kind: &str, target: &str| {
            format!("<Relationship Id=\"{id}\" Type=\"x/{kind}\" Target=\"{target}\"/>")
        };
        let of_main = format!("<r>{}</r>", relation("r1", "slide", "slide1.xml"));
        let of_slide = [relation("r1", "chart", "c.xml"), relation("r2", "diagramData", "d.xml")].concat();
        let diagram = "<dgm:m><dgm:pt modelId=\"0\" type=\"doc\"/><dgm:pt modelId=\"1\"><a:p><a:t>Plan</a:t></a:p></dgm:pt>\
                       <dgm:cxn srcId=\"0\" destId=\"1\"/></dgm:m>";
        let zip = zipped(&[
            ("ppt/presentation.xml", presentation.as_bytes()),
            ("ppt/_rels/presentation.xml.rels", of_main.as_bytes()),
            ("ppt/slide1.xml", slide.as_bytes()),
            ("ppt/_rels/slide1.xml.rels", format!("<r>{of_slide}</r>").as_bytes()),
            ("ppt/c.xml", b"<c:chart><c:title><a:t>Sales</a:t></c:title></c:chart>"),
            ("ppt/d.xml", diagram.as_bytes()),
        ]);
        let text = read(&zip, "x.pptx", &Budget::new(0)).unwrap().text;
        assert_eq!(text, "Sales\n\nArea r^2 in all\n\n- Plan\n\u{c}\n");
    }
}
