//! The part that says how lists are counted (ECMA-376 part 1 §17.9). A paragraph names a list, a list its kind, and lists
//! of one kind count on; styles may be tied to a kind's levels.

use std::collections::{HashMap, HashSet};

use crate::engine::extract::numbers::{Counts, Form, Level};
use crate::engine::extract::xml::{Node, Tag, Xml};
use crate::model::error::Result;

/// What lists name their kind by.
type Name = String;

/// A kind of list, or a list with what it says otherwise than its kind.
#[derive(Default)]
struct Definition {
    /// The kind of a list.
    kind: Name,
    /// A style whose kind this one is, and the style that this one is for.
    of_style: Option<String>,
    for_style: Option<String>,
    levels: HashMap<usize, Level>,
    /// The levels that styles are tied to.
    styles: HashMap<String, usize>,
    /// Where levels of a list begin anew.
    starts: HashMap<usize, usize>,
}

#[derive(Default)]
pub(super) struct Numbering {
    kinds: HashMap<Name, Definition>,
    lists: HashMap<Name, Definition>,
    counts: HashMap<Name, Counts>,
    /// Lists and levels of them that have begun.
    begun: HashSet<(Name, usize)>,
}

impl Numbering {
    pub(super) fn read(text: &str, part: &str) -> Result<Self> {
        let mut numbering = Self::default();
        let mut xml = Xml::new(text, part);
        let (mut id, mut open, mut at) = (Name::new(), Definition::default(), 0);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(tag) => match tag.name.as_str() {
                    "abstractNum" => (id, open) = (named(&tag, "abstractNumId"), Definition::default()),
                    "num" => (id, open) = (named(&tag, "numId"), Definition::default()),
                    "lvl" => {
                        at = tag.number("ilvl").unwrap_or_default();
                        open.levels.insert(at, Level::default());
                    }
                    "lvlOverride" => at = tag.number("ilvl").unwrap_or_default(),
                    "startOverride" => open.starts.extend(tag.number("val").map(|start| (at, start))),
                    _ => open.say(&tag, at),
                },
                Node::Close(name) => match name.as_str() {
                    "abstractNum" => {
                        numbering.kinds.insert(std::mem::take(&mut id), std::mem::take(&mut open));
                    }
                    "num" => {
                        numbering.lists.insert(std::mem::take(&mut id), std::mem::take(&mut open));
                    }
                    _ => {}
                },
                Node::Text(_) => {}
            }
        }
        numbering.follow_styles();
        Ok(numbering)
    }

    /// Lists whose kind says that it is a style's are of the kind that is for the style.
    fn follow_styles(&mut self) {
        let for_styles = self.kinds.iter().filter_map(|(name, kind)| Some((kind.for_style.as_ref()?, name)));
        let for_styles: HashMap<&String, &Name> = for_styles.collect();
        for list in self.lists.values_mut() {
            let style = self.kinds.get(&list.kind).and_then(|kind| kind.of_style.as_ref());
            if let Some(name) = style.and_then(|style| for_styles.get(style)) {
                list.kind = (*name).clone();
            }
        }
    }

    /// The level that a style is tied to in a list.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        self.kinds.get(&self.lists.get(list)?.kind)?.styles.get(style).copied()
    }

    /// Counts a paragraph of a list; answers its mark, which is empty for a bullet.
    pub(super) fn next(&mut self, list: &str, depth: usize) -> String {
        let Some(own) = self.lists.get(list) else { return String::new() };
        let kind = self.kinds.get(&own.kind);
        let start = own.starts.get(&depth).copied().filter(|_| self.begun.insert((list.to_owned(), depth)));
        let level = |at: usize| own.levels.get(&at).or_else(|| kind?.levels.get(&at));
        self.counts.entry(own.kind.clone()).or_default().next(depth, start, level)
    }
}

impl Definition {
    /// Takes what an element says of the whole, or of the level that is open.
    fn say(&mut self, tag: &Tag, at: usize) {
        let value = || named(tag, "val");
        match tag.name.as_str() {
            "abstractNumId" => self.kind = value(),
            "numStyleLink" => self.of_style = Some(value()),
            "styleLink" => self.for_style = Some(value()),
            "pStyle" => {
                self.styles.insert(value(), at);
            }
            _ => {}
        }
        let Some(level) = self.levels.get_mut(&at) else { return };
        match tag.name.as_str() {
            "start" => level.start = tag.number("val").unwrap_or(1),
            "lvlRestart" => level.goes_on = tag.number("val") == Some(0),
            "lvlText" => level.mark = value(),
            "isLgl" => level.is_of_digits = !matches!(tag.get("val"), Some("0" | "false" | "off")),
            "numFmt" => {
                level.form = match tag.get("val").unwrap_or_default() {
                    "bullet" | "none" => Form::None,
                    "decimalZero" => Form::Padded,
                    "lowerLetter" => Form::LowerLetters,
                    "upperLetter" => Form::UpperLetters,
                    "lowerRoman" => Form::LowerRoman,
                    "upperRoman" => Form::UpperRoman,
                    _ => Form::Digits,
                }
            }
            _ => {}
        }
    }
}

fn named(tag: &Tag, attribute: &str) -> Name {
    tag.get(attribute).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_one_kind_count_on_unless_they_begin_anew() {
        let level = |at: usize, form: &str, text: &str, more: &str| {
            format!(
                "<w:lvl w:ilvl=\"{at}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{form}\"/>{more}\
                 <w:lvlText w:val=\"{text}\"/></w:lvl>"
            )
        };
        let numbering = [
            "<w:numbering xmlns:w=\"w\"><w:abstractNum w:abstractNumId=\"0\"><w:styleLink w:val=\"Clauses\"/>".to_owned(),
            level(0, "decimal", "%1.", ""),
            level(1, "lowerLetter", "%1%2)", "<w:pStyle w:val=\"Clause2\"/>"),
            "</w:abstractNum><w:abstractNum w:abstractNumId=\"1\"><w:numStyleLink w:val=\"Clauses\"/></w:abstractNum>"
                .to_owned(),
            "<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>".to_owned(),
            "<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num>".to_owned(),
            "<w:num w:numId=\"3\"><w:abstractNumId w:val=\"0\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"1\"/>\
             </w:lvlOverride></w:num></w:numbering>"
                .to_owned(),
        ];
        let mut numbering = Numbering::read(&numbering.concat(), "numbering.xml").unwrap();
        assert_eq!(numbering.level_of_style("1", "Clause2"), Some(1));
        let marks = [("1", 0), ("1", 1), ("2", 0), ("3", 0), ("3", 0), ("9", 0)];
        assert_eq!(marks.map(|(list, depth)| numbering.next(list, depth)), ["1.", "1a)", "2.", "1.", "2.", ""]);
    }
}
