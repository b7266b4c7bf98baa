//! Reading typed values from a tree, and noting what is wrong with its place.

use serde::de::DeserializeOwned;

use super::node::{Key, Mark, Node};
use crate::base::nearest::nearest;
use crate::engine::render::nouns::capital;
use crate::model::ontology::{Problem, Severity};

/// Characters of a name.
pub const MAX_NAME: usize = 128;
/// Characters of any other text.
pub const MAX_TEXT: usize = 10_000;
/// Problems that one reading reports.
pub(super) const MAX_PROBLEMS: usize = 100;

/// What was found wrong so far.
#[derive(Default)]
pub(super) struct Walk {
    pub problems: Vec<Problem>,
}

/// A mapping and the way to it.
#[derive(Clone)]
pub(super) struct Object<'n> {
    pub path: String,
    pub at: Mark,
    entries: &'n [(Key, Node)],
}

/// A value and the way to it.
pub(super) struct Part<'n> {
    pub path: String,
    pub node: &'n Node,
}

impl Walk {
    /// Whether what else is wrong is left out.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    pub(super) fn error(&mut self, path: &str, at: Mark, message: impl Into<String>, hint: impl Into<String>) {
        self.note(Problem::error(path, message, hint), at);
    }

    pub(super) fn warn(&mut self, path: &str, at: Mark, message: impl Into<String>, hint: impl Into<String>) {
        self.note(Problem::warning(path, message, hint), at);
    }

    /// Warnings beyond the limit are dropped; an error always finds its place.
    fn note(&mut self, problem: Problem, at: Mark) {
        if self.is_full() {
            let last_warning = self.problems.iter().rposition(|known| known.severity == Severity::Warning);
            match last_warning {
                Some(at) if problem.is_error() => self.problems.remove(at),
                _ => return,
            };
        }
        self.problems.push(Problem { line: Some(at.line), column: Some(at.column), ..problem });
    }

    /// A mapping with no other keys than these.
    pub(super) fn object<'n>(&mut self, part: &Part<'n>, keys: &[&str]) -> Option<Object<'n>> {
        let object = self.open_object(part)?;
        for (key, _) in object.entries.iter().filter(|(key, _)| !keys.contains(&key.name.as_str())) {
            let hint = match nearest(&key.name, keys.iter().copied()) {
                Some(near) => format!("Write `{near}`, or remove it."),
                None => format!("Allowed here: {}.", keys.join(", ")),
            };
            self.error(
                &join(&object.path, &key.name),
                key.at,
                format!("The key `{}` is unknown here.", key.name),
                hint,
            );
        }
        Some(object)
    }

    /// A mapping with any keys.
    pub(super) fn open_object<'n>(&mut self, part: &Part<'n>) -> Option<Object<'n>> {
        match part.node.map() {
            Some(entries) => Some(Object { path: part.path.clone(), at: part.node.at, entries }),
            None => {
                self.expected("a mapping", part);
                None
            }
        }
    }

    pub(super) fn expected(&mut self, what: &str, part: &Part<'_>) {
        let quotes = part.node.map().is_none() && part.node.list().is_none() && !part.node.is_null();
        let hint = if what.starts_with("a text") && quotes { "Put it in quotes." } else { "" };
        let message = format!("{} is expected here, not {}.", capital(what), part.node.kind());
        self.error(&part.path, part.node.at, message, hint);
    }

    /// Not said where an unknown key was already taken for this one.
    fn missing(&mut self, object: &Object<'_>, key: &str) {
        let meant = |(known, _): &(Key, Node)| {
            let path = join(&object.path, &known.name);
            nearest(&known.name, [key]).is_some() && self.problems.iter().any(|p| p.path == path)
        };
        if object.entries.iter().any(meant) {
            return;
        }
        let message = format!("`{key}` is missing.");
        self.error(&join(&object.path, key), object.at, message, format!("Add `{key}`."));
    }

    /// A text of at most [`MAX_TEXT`] characters; empty when it is not written.
    pub(super) fn text(&mut self, object: &Object<'_>, key: &str) -> String {
        object.part(key).and_then(|part| self.text_of(&part, MAX_TEXT)).unwrap_or_default()
    }

    /// A text of at most [`MAX_NAME`] characters, `None` when it is not written.
    pub(super) fn word(&mut self, object: &Object<'_>, key: &str) -> Option<String> {
        object.part(key).and_then(|part| self.text_of(&part, MAX_NAME)).filter(|text| !text.is_empty())
    }

    /// A text that must be there and not empty.
    pub(super) fn required(&mut self, object: &Object<'_>, key: &str, max: usize) -> String {
        let Some(part) = object.part(key) else {
            self.missing(object, key);
            return String::new();
        };
        let Some(text) = self.text_of(&part, max) else { return String::new() };
        if text.is_empty() {
            self.error(&part.path, part.node.at, format!("`{key}` is empty."), "Write it out.");
        }
        text
    }

    /// Any text, without white space around it.
    pub(super) fn text_of(&mut self, part: &Part<'_>, max: usize) -> Option<String> {
        let Some(text) = part.node.text() else {
            self.expected("a text", part);
            return None;
        };
        let text = text.trim();
        let length = text.chars().count();
        if length > max {
            let message = format!("This text has {length} characters; at most {max} are allowed.");
            self.error(&part.path, part.node.at, message, "Shorten it.");
            return None;
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            self.error(&part.path, part.node.at, "This text holds control characters.", "Remove them.");
            return None;
        }
        Some(text.to_owned())
    }

    pub(super) fn truth(&mut self, object: &Object<'_>, key: &str) -> Option<bool> {
        let part = object.part(key)?;
        let truth = part.node.truth();
        if truth.is_none() {
            self.expected("true or false", &part);
        }
        truth
    }

    /// The values of a list; none when it is not written.
    pub(super) fn list<'n>(&mut self, object: &Object<'n>, key: &str) -> Vec<Part<'n>> {
        object.part(key).map(|part| self.items(&part)).unwrap_or_default()
    }

    pub(super) fn items<'n>(&mut self, part: &Part<'n>) -> Vec<Part<'n>> {
        let Some(items) = part.node.list() else {
            self.expected("a list", part);
            return Vec::new();
        };
        let path = |at: usize| format!("{}[{at}]", part.path);
        items.iter().enumerate().map(|(at, node)| Part { path: path(at), node }).collect()
    }

    /// A list with at least one value, which must be there.
    pub(super) fn required_list<'n>(&mut self, object: &Object<'n>, key: &str) -> Vec<Part<'n>> {
        let Some(part) = object.part(key) else {
            self.missing(object, key);
            return Vec::new();
        };
        let items = self.items(&part);
        if part.node.list().is_some_and(<[Node]>::is_empty) {
            self.error(&part.path, part.node.at, format!("`{key}` is empty."), "Write at least one.");
        }
        items
    }

    /// A list of texts that are not empty, each once.
    pub(super) fn texts(&mut self, object: &Object<'_>, key: &str) -> Vec<String> {
        let parts = self.list(object, key);
        self.texts_of(&parts)
    }

    pub(super) fn texts_of(&mut self, parts: &[Part<'_>]) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for part in parts {
            match self.text_of(part, MAX_TEXT) {
                Some(text) if text.is_empty() => {
                    self.error(&part.path, part.node.at, "This text is empty.", "Remove it.");
                }
                Some(text) if texts.contains(&text) => {
                    self.warn(&part.path, part.node.at, format!("`{text}` is written twice."), "Remove one of them.");
                }
                Some(text) => texts.push(text),
                None => {}
            }
        }
        texts
    }

    /// One of a closed set of words, named as the type's serde names them.
    pub(super) fn one_of<T: DeserializeOwned>(&mut self, object: &Object<'_>, key: &str, words: &[&str]) -> Option<T> {
        let part = object.part(key)?;
        let Some(text) = part.node.text() else {
            self.expected("a text", &part);
            return None;
        };
        if let Ok(value) = serde_json::from_value(text.into()) {
            return Some(value);
        }
        let hint = match nearest(text, words.iter().copied()) {
            Some(near) => format!("Write `{near}`; allowed are {}.", words.join(", ")),
            None => format!("Write one of {}.", words.join(", ")),
        };
        self.error(&part.path, part.node.at, format!("`{text}` is not a value of `{key}`."), hint);
        None
    }
}

impl<'n> Object<'n> {
    /// A value that is written and not `null`.
    pub(super) fn part(&self, key: &str) -> Option<Part<'n>> {
        let (_, node) = self.entries.iter().find(|(k, node)| k.name == key && !node.is_null())?;
        Some(Part { path: join(&self.path, key), node })
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&'n Key, Part<'n>)> + '_ {
        self.entries.iter().map(|(key, node)| (key, Part { path: join(&self.path, &key.name), node }))
    }

    /// Where the value at a path below this mapping stands, or else the deepest part of the way to it.
    pub(super) fn locate(&self, path: &str) -> Mark {
        let Some((first, rest)) = steps(path).split_first().map(|(first, rest)| (first.clone(), rest.to_vec())) else {
            return self.at;
        };
        let Step::Key(first) = first else { return self.at };
        self.part(&first).map_or(self.at, |part| descend(part.node, &rest).0.at)
    }

    /// Where a key's value stands, or else the mapping.
    pub(super) fn at(&self, key: &str) -> Mark {
        self.part(key).map_or(self.at, |part| part.node.at)
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// The steps of a path such as `datasets[2].name`.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
        let item = part.strip_suffix(']').and_then(|number| number.parse().ok());
        steps.push(item.map_or_else(|| Step::Key(part.to_owned()), Step::Item));
    }
    steps
}

/// Follows steps as far as they go; also returns those that are left.
pub(super) fn descend<'n, 's>(mut node: &'n Node, mut steps: &'s [Step]) -> (&'n Node, &'s [Step]) {
    while let [step, rest @ ..] = steps {
        let next = match step {
            Step::Key(key) => node.get(key),
            Step::Item(at) => node.list().and_then(|items| items.get(*at)),
        };
        let Some(next) = next else { break };
        (node, steps) = (next, rest);
    }
    (node, steps)
}

/// `a.b`, or `b` at the root.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
