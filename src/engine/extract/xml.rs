//! XML as a row of tags and texts. Names come without their prefix; entities that a document defines are not expanded.

use std::borrow::Cow;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::broken;
use crate::engine::extract::decode;
use crate::model::error::Result;

/// Elements within elements.
const DEPTH: usize = 1_000;

/// An opened element.
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute, by its name without prefix.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The values of all attributes of a name: prefixes may tell them apart.
    pub(super) fn all<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t str> {
        self.attributes.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An attribute that is a whole number.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.trim().parse().ok()
    }
}

pub(super) enum Node {
    Open(Tag),
    Close(String),
    Text(String),
}

/// Reads a part of a document.
pub(super) struct Xml<'b> {
    reader: Reader<&'b [u8]>,
    part: &'b str,
    depth: usize,
}

/// The bytes of a part as UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    decode::marked(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes))
}

impl<'b> Xml<'b> {
    /// `part` names it in errors.
    pub(super) fn new(text: &'b str, part: &'b str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, part, depth: 0 }
    }

    /// The next tag or text; `None` at the end.
    ///
    /// # Errors
    /// `invalid_argument` with the byte for what is not XML.
    pub(super) fn next(&mut self) -> Result<Option<Node>> {
        loop {
            let at = self.reader.buffer_position();
            let wrong = |what: &dyn std::fmt::Display| broken(format!("{}, byte {}: {what}", self.part, at + 1));
            let event = self.reader.read_event();
            return Ok(Some(match event.map_err(|cause| wrong(&cause))? {
                Event::Start(tag) => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        return Err(wrong(&format!("elements are nested more than {DEPTH} deep")));
                    }
                    Node::Open(opened(&tag))
                }
                Event::End(tag) => {
                    self.depth = self.depth.saturating_sub(1);
                    let name = tag.name();
                    Node::Close(local(name.as_ref()).to_owned())
                }
                Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Node::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(c)) => Node::Text(c.to_string()),
                    _ => match resolve_predefined_entity(&reference.xml10_content()) {
                        Some(text) => Node::Text(text.to_owned()),
                        None => continue,
                    },
                },
                Event::Eof if self.depth > 0 => return Err(wrong(&"it ends in its midst")),
                Event::Eof => return Ok(None),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            }));
        }
    }
}

fn opened(tag: &BytesStart<'_>) -> Tag {
    let name = tag.name();
    let mut attributes = tag.attributes();
    let attributes = attributes.with_checks(false).flatten().map(|attribute| {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_or_else(|_| String::new(), Cow::into_owned);
        let key = attribute.key;
        (local(key.as_ref()).to_owned(), value)
    });
    Tag { name: local(name.as_ref()).to_owned(), attributes: attributes.collect() }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}
