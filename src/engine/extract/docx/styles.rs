//! What styles say of their paragraphs: whether they are headings, and items of which list.

use std::collections::HashMap;

use crate::engine::extract::xml::{Node, Xml};
use crate::model::error::Result;

/// Styles that a style may rest on, one on the other.
const CHAIN: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// The level of a heading, from 1.
    pub(super) level: Option<usize>,
    /// The list that its paragraphs are items of, and how deep in it.
    pub(super) list: Option<String>,
    pub(super) depth: Option<usize>,
}

/// A style as it stands there, without what it rests on.
#[derive(Default)]
struct Own {
    name: String,
    based_on: String,
    is_default: bool,
    outline: Option<usize>,
    list: Option<String>,
    depth: Option<usize>,
}

/// The styles that say any of it, by their ids.
pub(super) fn read(text: &str, part: &str) -> Result<HashMap<String, Style>> {
    let known = own(text, part)?;
    let whole = |id: &str| {
        let chain = std::iter::successors(known.get(id), |style| known.get(&style.based_on));
        // Level 9 says that the text is of the body; what the default style says would make headings of all of it.
        let chain: Vec<&Own> = chain.take(CHAIN).take_while(|style| !style.is_default).collect();
        let level = |style: &&Own| style.outline.map(|level| level.saturating_add(1)).or_else(|| of_name(&style.name));
        Style {
            level: chain.iter().find_map(level).filter(|level| *level <= 9),
            list: chain.iter().find_map(|style| style.list.clone()),
            depth: chain.iter().find_map(|style| style.depth),
        }
    };
    let styles = known.keys().map(|id| (id.clone(), whole(id)));
    Ok(styles.filter(|(_, style)| *style != Style::default()).collect())
}

fn own(text: &str, part: &str) -> Result<HashMap<String, Own>> {
    let mut known: HashMap<String, Own> = HashMap::new();
    let mut current: Option<(String, Own)> = None;
    let mut xml = Xml::new(text, part);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(tag) if tag.name == "style" => {
                let is_default = matches!(tag.get("default"), Some("1" | "true" | "on"));
                let id = tag.get("styleId").unwrap_or_default().to_owned();
                current = Some((id, Own { is_default, ..Own::default() }));
            }
            Node::Open(tag) => {
                let Some((_, style)) = &mut current else { continue };
                let value = || tag.get("val").unwrap_or_default().to_owned();
                match tag.name.as_str() {
                    "name" => style.name = value().to_lowercase(),
                    "basedOn" => style.based_on = value(),
                    "outlineLvl" => style.outline = tag.number("val"),
                    "numId" => style.list = Some(value()),
                    "ilvl" => style.depth = tag.number("val"),
                    _ => {}
                }
            }
            Node::Close(name) if name == "style" => known.extend(current.take()),
            _ => {}
        }
    }
    Ok(known)
}

fn of_name(name: &str) -> Option<usize> {
    match name {
        "title" => Some(1),
        "subtitle" => Some(2),
        name => name.strip_prefix("heading ")?.trim().parse().ok().filter(|level| (1..=9).contains(level)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_say_what_is_a_heading_and_of_which_list() {
        let style = |id: &str, attributes: &str, inner: &str| {
            format!("<w:style w:type=\"paragraph\" w:styleId=\"{id}\"{attributes}>{inner}</w:style>")
        };
        let styles = [
            style("Normal", " w:default=\"1\"", "<w:outlineLvl w:val=\"0\"/>"),
            style("Plain", "", "<w:basedOn w:val=\"Normal\"/>"),
            style("H1", "", "<w:name w:val=\"heading 1\"/><w:basedOn w:val=\"Normal\"/><w:numId w:val=\"7\"/>"),
            style("Quiet", "", "<w:basedOn w:val=\"H1\"/><w:outlineLvl w:val=\"9\"/><w:numId w:val=\"0\"/>"),
            style("Quieter", "", "<w:basedOn w:val=\"Quiet\"/>"),
            style("Own", "", "<w:basedOn w:val=\"H1\"/><w:outlineLvl w:val=\"2\"/><w:ilvl w:val=\"2\"/>"),
        ];
        let found = read(&format!("<w:styles xmlns:w=\"w\">{}</w:styles>", styles.concat()), "styles.xml").unwrap();
        let style = |level: Option<usize>, list: &str, depth: Option<usize>| Style {
            level,
            list: Some(list.to_owned()),
            depth,
        };
        let expected = [
            ("H1", style(Some(1), "7", None)),
            ("Quiet", style(None, "0", None)),
            ("Quieter", style(None, "0", None)),
            ("Own", style(Some(3), "7", Some(2))),
        ];
        assert_eq!(found, HashMap::from(expected.map(|(id, style)| (id.to_owned(), style))));
    }
}
