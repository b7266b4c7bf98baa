//! A YAML or JSON text as a tree that knows where everything stands.
//!
//! The tree is built from the events of the YAML parser, so that what is refused is refused before it is built: texts
//! that are too long, too deep or too large, anchors and aliases, tags, keys that are written twice, further documents.

use std::collections::BTreeSet;

use serde_saphyr::granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Span};

use crate::model::ontology::Problem;

/// Bytes of a document: as many fields as an ontology may have, each described at length.
pub const MAX_BYTES: usize = 10 << 20;
/// Nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// Values and keys.
pub const MAX_NODES: usize = 1_000_000;

/// A value and where it begins.
#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub at: Mark,
}

/// A place in the text: line and column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug)]
pub enum Value {
    /// What is written without quotes means more than its letters: a number, a truth value, nothing.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// In the order of the text.
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub struct Key {
    pub name: String,
    pub at: Mark,
}

impl Default for Node {
    /// Nothing.
    fn default() -> Self {
        Self { value: Value::Scalar { text: String::new(), plain: true }, at: Mark::default() }
    }
}

impl Node {
    /// Whether nothing is written, or `null` or `~`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if is_null(text))
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { text, plain: true } if truth(text).is_some() => "a truth value",
            Value::Scalar { text, plain: true } if number(text).is_some() => "a number",
            Value::Scalar { .. } => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// A text: in quotes, or plain and nothing else by the rules of YAML 1.2 (`no` and `2024-01-31` are texts).
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if self.kind() == "a text" => Some(text),
            _ => None,
        }
    }

    pub fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar { text, plain: true } => truth(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn map(&self) -> Option<&[(Key, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.map()?.iter().find(|(k, _)| k.name == key).map(|(_, node)| node)
    }

    /// The same as JSON.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Scalar { text, plain: true } if is_null(text) => serde_json::Value::Null,
            Value::Scalar { text, plain: true } => match (truth(text), number(text)) {
                (Some(truth), _) => truth.into(),
                (None, Some(number)) => number,
                (None, None) => text.as_str().into(),
            },
            Value::Scalar { text, plain: false } => text.as_str().into(),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Map(entries) => entries.iter().map(|(key, node)| (key.name.clone(), node.json())).collect(),
        }
    }

    /// Puts every part at one place: that of the string that it was written in.
    pub fn move_to(&mut self, at: Mark) {
        self.at = at;
        match &mut self.value {
            Value::Scalar { .. } => {}
            Value::List(items) => items.iter_mut().for_each(|item| item.move_to(at)),
            Value::Map(entries) => entries.iter_mut().for_each(|(key, node)| {
                key.at = at;
                node.move_to(at);
            }),
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Numbers as in JSON; the other notations of YAML are numbers too, but of no use here and so kept as JSON text.
fn number(text: &str) -> Option<serde_json::Value> {
    let first = text.trim_start_matches(['+', '-']);
    if !first.starts_with(|c: char| c.is_ascii_digit() || c == '.') || first == "." {
        return None;
    }
    if let Ok(number) = text.trim_start_matches('+').parse::<i64>() {
        return Some(number.into());
    }
    let floats = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let number = floats.then(|| text.parse::<f64>().ok()).flatten()?;
    serde_json::Number::from_f64(number).map(serde_json::Value::Number)
}

/// The tree of a text.
///
/// # Errors
/// What stands in the way, with its place.
pub fn parse(text: &str) -> Result<Node, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MAX_BYTES {
        let message = format!("The document has {} bytes; at most {MAX_BYTES} are read.", text.len());
        return Err(Problem::error("", message, "Split it into several ontologies."));
    }
    let options = serde_saphyr::granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut events = Events { parser: Parser::new_from_str_with_options(text, options), nodes: 0 };
    loop {
        match events.next()? {
            (Event::StreamStart | Event::DocumentStart(..), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => {
                return Err(Problem::error("", "The document is empty.", "Write an ontology in YAML or JSON."));
            }
            (event, span) => {
                let node = events.node(event, &span, 0)?;
                return events.end().map(|()| node);
            }
        }
    }
}

struct Events<'t> {
    parser: Parser<'t, serde_saphyr::granit_parser::StrInput<'t>>,
    nodes: usize,
}

impl<'t> Events<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Problem> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) => {
                Err(too_deep(mark(error.marker())))
            }
            Some(Err(error)) => {
                let message = format!("This is neither YAML nor JSON: {}.", error.info());
                Err(placed(mark(error.marker()), message, "Check indentation, quotes and brackets here."))
            }
            None => Err(Problem::error("", "The document ends too early.", "")),
        }
    }

    /// After the one document nothing may follow.
    fn end(&mut self) -> Result<(), Problem> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentStart(..), span) => {
                    let hint = "Send one ontology at a time, without a further `---`.";
                    return Err(placed(mark(&span.start), "A second document begins here.", hint));
                }
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Node, Problem> {
        let at = mark(&span.start);
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("The document has more than {MAX_NODES} values.");
            return Err(placed(at, message, "Split it into several ontologies."));
        }
        if depth > MAX_DEPTH {
            return Err(too_deep(at));
        }
        if event.is_alias() || event.anchor_id().is_some() {
            let hint = "Write the value out in both places; a text that begins with & or * needs quotes.";
            return Err(placed(at, "Anchors and aliases are not read.", hint));
        }
        if event.tag().is_some() {
            return Err(placed(at, "Tags are not read.", "Remove it; a text that begins with ! needs quotes."));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => {
                Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => Value::List(self.items(depth)?),
            Event::MappingStart(..) => Value::Map(self.entries(depth)?),
            other => return Err(placed(at, format!("A value is expected here, not {other:?}."), "")),
        };
        Ok(Node { value, at })
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, &span, depth + 1)?),
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Problem> {
        let mut entries = Vec::new();
        let mut names = BTreeSet::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key = self.node(event, &span, depth + 1)?;
            let Value::Scalar { text: name, .. } = key.value else {
                return Err(placed(key.at, "A key must be a text.", "Write `name: value`."));
            };
            if !names.insert(name.clone()) {
                let message = format!("The key `{name}` is written twice in this mapping.");
                return Err(placed(key.at, message, "Keep one of them."));
            }
            let (event, span) = self.next()?;
            let node = self.node(event, &span, depth + 1)?;
            entries.push((Key { name, at: key.at }, node));
        }
    }
}

fn too_deep(at: Mark) -> Problem {
    placed(at, format!("Values are nested deeper than {MAX_DEPTH}."), "An ontology needs far less.")
}

fn mark(marker: &Marker) -> Mark {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Mark { line: count(marker.line()), column: count(marker.col() + 1) }
}

fn placed(at: Mark, message: impl Into<String>, hint: &str) -> Problem {
    Problem { line: Some(at.line), column: Some(at.column), ..Problem::error("", message, hint) }
}
