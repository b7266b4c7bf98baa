//! Charts and diagrams (ECMA-376 part 1, DrawingML §21.2 and §21.4): parts of their own, beside the document, slide or sheet
//! that shows them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::office;
use super::package::{Package, sound};
use super::write::Text;
use super::xml::{Node, Tag, Xml, text_of};
use crate::model::error::Result;

/// Categories and series of a chart that are written with their values; more are a curve.
const CATEGORIES: usize = 100;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Drawing {
    /// Of a chart, its axes and, where it has no categories, its series.
    titles: Vec<String>,
    /// A row for each category, with a column for each series.
    rows: Vec<Vec<String>>,
    /// What a diagram says, each with its depth.
    items: Vec<(usize, String)>,
}

impl Drawing {
    pub(super) fn write(&self, out: &mut Text<'_>) -> Result<()> {
        self.write_words(out)?;
        if self.rows.is_empty() { Ok(()) } else { out.table(&self.rows) }
    }

    /// Without the values of a chart.
    pub(super) fn write_words(&self, out: &mut Text<'_>) -> Result<()> {
        self.titles.iter().try_for_each(|title| out.paragraph(title))?;
        self.items.iter().try_for_each(|(depth, text)| out.item(*depth, "-", text))
    }
}

/// The charts and diagrams that a part shows, by the ids of their relations.
pub(super) fn beside(package: &mut Package<'_>, part: &str) -> Result<BTreeMap<String, Drawing>> {
    let mut found = BTreeMap::new();
    for (id, relation) in sound(office::relations_of(package, part))? {
        let read = match relation.kind.rsplit('/').next() {
            Some("chart") => chart,
            Some("diagramData") => diagram,
            _ => continue,
        };
        if let Some(bytes) = sound(package.read(&relation.target))? {
            found.insert(id, sound(read(&text_of(&bytes), &relation.target))?);
        }
    }
    Ok(found)
}

/// Writes what is drawn on the sheets of a workbook: boxes of text, diagrams, and charts, whose values are in the sheets.
pub(super) fn of_sheets(package: &mut Package<'_>, out: &mut Text<'_>) -> Result<()> {
    for index in 0..package.len() {
        let part = package.name(index);
        if !part.starts_with("xl/drawings/drawing") || !part.ends_with(".xml") {
            continue;
        }
        let bytes = sound(package.member(index))?.unwrap_or_default();
        boxes(&text_of(&bytes), &part, out)?;
        beside(package, &part)?.values().try_for_each(|drawing| drawing.write_words(out))?;
    }
    Ok(())
}

/// The paragraphs of boxes.
fn boxes(text: &str, part: &str, out: &mut Text<'_>) -> Result<()> {
    let (mut paragraph, mut is_text) = (String::new(), false);
    let mut xml = Xml::new(text, part);
    while let Ok(Some(node)) = xml.next() {
        match node {
            Node::Open(tag) => is_text = tag.name == "t",
            Node::Close(name) if name == "p" => out.paragraph(&std::mem::take(&mut paragraph))?,
            Node::Close(_) => is_text = false,
            Node::Text(text) if is_text => paragraph.push_str(&text),
            Node::Text(_) => {}
        }
    }
    Ok(())
}

/// The relation's id of the chart or diagram that an element shows.
pub(super) fn shown(tag: &Tag) -> Option<&str> {
    match tag.name.as_str() {
        "chart" => tag.get("id"),
        "relIds" => tag.get("dm"),
        _ => None,
    }
}

/// What the next text of a chart is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Other,
    Title,
    Series,
    Category,
    Value,
}

fn chart(text: &str, part: &str) -> Result<Drawing> {
    let (mut titles, mut series): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    // Of several levels, the innermost first.
    let mut categories: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut values: HashMap<(usize, usize), String> = HashMap::new();
    let (mut place, mut point, mut is_text) = (Place::Other, 0, false);
    let mut xml = Xml::new(text, part);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) => match tag.name.as_str() {
                "title" => {
                    place = Place::Title;
                    titles.push(String::new());
                }
                "ser" => series.push(String::new()),
                "tx" if place == Place::Other && series.last().is_some_and(String::is_empty) => place = Place::Series,
                "cat" => place = Place::Category,
                "val" => place = Place::Value,
                "pt" => point = tag.number("idx").unwrap_or_default(),
                "t" | "v" => {
                    is_text = true;
                    // The first series has the categories of all.
                    if place == Place::Category && series.len() < 2 {
                        categories.entry(point).or_default().push(String::new());
                    }
                }
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "title" | "cat" | "val" => place = Place::Other,
                "tx" if place == Place::Series => place = Place::Other,
                "p" if place == Place::Title => titles.last_mut().into_iter().for_each(|title| title.push(' ')),
                "t" | "v" => is_text = false,
                _ => {}
            },
            Node::Text(text) if is_text => match place {
                Place::Title => titles.last_mut().into_iter().for_each(|title| title.push_str(&text)),
                Place::Series => series.last_mut().into_iter().for_each(|name| name.push_str(&text)),
                Place::Category if series.len() < 2 => {
                    let name = categories.get_mut(&point).and_then(|names| names.last_mut());
                    name.into_iter().for_each(|name| name.push_str(&text));
                }
                Place::Value => values.entry((point, series.len())).or_default().push_str(&text),
                Place::Category | Place::Other => {}
            },
            Node::Text(_) => {}
        }
    }
    if categories.is_empty() || categories.len().max(series.len()) > CATEGORIES {
        titles.extend(series);
        return Ok(Drawing { titles, ..Drawing::default() });
    }
    let header = std::iter::once(String::new()).chain(series.iter().cloned()).collect();
    let rows = categories.into_iter().map(|(point, names)| {
        let category = names.into_iter().rev().collect::<Vec<_>>().join(" ");
        let values = (1..=series.len()).map(|series| shortest(values.remove(&(point, series)).unwrap_or_default()));
        std::iter::once(category).chain(values).collect()
    });
    Ok(Drawing { titles, rows: std::iter::once(header).chain(rows).collect(), items: Vec::new() })
}

/// A value as short as it can be told from others: programs write `4.4000000000000004`.
fn shortest(value: String) -> String {
    value.parse::<f64>().ok().filter(|number| number.abs() < 1e15).map_or(value, |number| number.to_string())
}

/// The texts of a diagram from its root down.
fn diagram(text: &str, part: &str) -> Result<Drawing> {
    let mut points: HashMap<String, String> = HashMap::new();
    let mut below: HashMap<String, Vec<(usize, String)>> = HashMap::new();
    let (mut open, mut is_text, mut next) = (String::new(), false, Vec::new());
    let mut xml = Xml::new(text, part);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) => {
                is_text = tag.name == "t";
                let name = |attribute: &str| tag.get(attribute).unwrap_or_default().to_owned();
                match tag.name.as_str() {
                    "pt" => {
                        open = name("modelId");
                        next.extend((tag.get("type") == Some("doc")).then(|| (0, open.clone())));
                    }
                    "cxn" if tag.get("type").is_none_or(|kind| kind == "parOf") => {
                        let order = tag.number("srcOrd").unwrap_or_default();
                        below.entry(name("srcId")).or_default().push((order, name("destId")));
                    }
                    _ => {}
                }
            }
            Node::Close(name) if name == "p" => points.entry(open.clone()).or_default().push('\n'),
            Node::Close(_) => is_text = false,
            Node::Text(text) if is_text => points.entry(open.clone()).or_default().push_str(&text),
            Node::Text(_) => {}
        }
    }
    let (mut items, mut seen) = (Vec::new(), HashSet::new());
    while let Some((depth, point)) = next.pop() {
        if !seen.insert(point.clone()) {
            continue;
        }
        let mut inner = below.remove(&point).unwrap_or_default();
        inner.sort_by(|a, b| b.cmp(a));
        next.extend(inner.into_iter().map(|(_, point)| (depth + 1, point)));
        let text = points.remove(&point).filter(|text| !text.trim().is_empty());
        // The root says nothing.
        items.extend(text.map(|text| (depth.max(1) - 1, text)));
    }
    Ok(Drawing { items, ..Drawing::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::error::Code;

    #[test]
    fn a_chart_is_its_titles_and_a_table() {
        let points = |texts: [&str; 2]| {
            let point = |(at, text): (usize, &&str)| format!("<c:pt idx=\"{at}\"><c:v>{text}</c:v></c:pt>");
            texts.iter().enumerate().map(point).collect::<String>()
        };
        let series = |name: &str, values: [&str; 2]| {
            format!(
                "<c:ser><c:tx><c:strRef><c:f>A!$B$1</c:f><c:v>{name}</c:v></c:strRef></c:tx><c:cat>{}</c:cat><c:val>{}</c:val>\
                 </c:ser>",
                points(["North", "South"]),
                points(values)
            )
        };
        let title = |text: &str| format!("<c:title><c:tx><a:p><a:t>{text}</a:t></a:p></c:tx></c:title>");
        let both = series("2023", ["1", "2.5000000000000001"]) + &series("2024", ["3", "4"]);
        let xml = format!("<c:chart>{}<c:plotArea>{both}{}</c:plotArea></c:chart>", title("Sales"), title("Region"));
        let drawing = chart(&xml, "chart1.xml").unwrap();
        let budget = crate::engine::extract::Budget::new(0);
        let mut text = Text::new(&budget);
        drawing.write(&mut text).unwrap();
        let expected =
            "Sales\n\nRegion\n\n|  | 2023 | 2024 |\n| --- | --- | --- |\n| North | 1 | 3 |\n| South | 2.5 | 4 |\n";
        assert_eq!(text.finish(), expected);
        let curve = xml.replace("c:cat>", "c:xVal>").replace("c:val>", "c:yVal>");
        assert_eq!(chart(&curve, "chart1.xml").unwrap().titles, ["Sales ", "Region ", "2023", "2024"]);
    }

    #[test]
    fn a_diagram_is_read_from_its_root_in_the_order_of_its_connections() {
        let point = |id: &str, kind: &str, text: &str| {
            format!(
                "<dgm:pt modelId=\"{id}\" type=\"{kind}\"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"
            )
        };
        let tie = |from: &str, to: &str, order: usize| {
            format!("<dgm:cxn srcId=\"{from}\" destId=\"{to}\" srcOrd=\"{order}\"/>")
        };
        let points = [("0", "doc", ""), ("c", "node", "Check"), ("p", "node", "Plan"), ("d", "node", "Details")];
        let points: String = points.map(|(id, kind, text)| point(id, kind, text)).concat();
        let ties = [tie("0", "c", 1), tie("0", "p", 0), tie("p", "d", 0), tie("d", "0", 0)].concat();
        let drawing = diagram(&format!("<dgm:dataModel>{points}{ties}</dgm:dataModel>"), "data1.xml").unwrap();
        let said: Vec<(usize, &str)> = drawing.items.iter().map(|(depth, text)| (*depth, text.trim())).collect();
        assert_eq!(said, [(0, "Plan"), (1, "Details"), (0, "Check")]);
    }

    #[test]
    fn what_is_drawn_on_sheets_is_read_behind_them() {
        let drawing = "<d><xdr:sp><a:p><a:r><a:t>See </a:t></a:r><a:r><a:t>below</a:t></a:r></a:p></xdr:sp></d>";
        let relations = "<r><Relationship Id=\"r1\" Type=\"x/chart\" Target=\"../charts/c.xml\"/></r>";
        let zip = crate::engine::extract::tests::zipped(&[
            ("xl/drawings/drawing1.xml", drawing.as_bytes()),
            ("xl/drawings/_rels/drawing1.xml.rels", relations.as_bytes()),
            ("xl/charts/c.xml", b"<c:chart><c:title><a:t>Sales</a:t></c:title></c:chart>"),
        ]);
        let budget = crate::engine::extract::Budget::new(0);
        let mut text = Text::new(&budget);
        of_sheets(&mut Package::open(&zip, &budget).unwrap(), &mut text).unwrap();
        assert_eq!(text.finish(), "See below\n\nSales\n");
    }

    #[test]
    fn what_is_damaged_spoils_no_document_and_bounds_hold() {
        let relations = "<r><Relationship Id=\"r1\" Type=\"x/chart\" Target=\"c.xml\"/></r>";
        let members = |relations: &'static str| {
            crate::engine::extract::tests::zipped(&[
                ("_rels/d.xml.rels", relations.as_bytes()),
                ("c.xml", b"<c:chart><c:title/></c:chart>"),
            ])
        };
        let budget = crate::engine::extract::Budget::new(0);
        let found = |zip: &[u8]| beside(&mut Package::open(zip, &budget).unwrap(), "d.xml").map(|found| found.len());
        let mut zip = members(relations);
        assert_eq!(found(&zip).unwrap(), 1);
        // Said to be imploded: once before the member, once in the directory.
        for (mark, method) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
            let at = zip.windows(4).rposition(|window| window == mark).unwrap();
            zip[at + method] = 6;
        }
        assert_eq!(found(&zip).unwrap(), 0);
        assert_eq!(found(&members("<r></x>")).unwrap(), 0);
        budget.unpacked(budget.unpackable()).unwrap();
        assert_eq!(found(&members(relations)).unwrap_err().code, Code::LimitExceeded);
    }
}
