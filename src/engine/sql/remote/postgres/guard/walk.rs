//! The walk over a tree: what it keeps in mind, and the one way to open an object.

use serde_json::{Map, Value};

use super::growth::Level;
use crate::base::json::objects;
use crate::engine::sql::guard::{Refusal, Verdict, keys, list, too_many, unknown};
use crate::engine::sql::remote::Permitted;

/// Objects of the tree that a statement may have; an expression has about three.
const OBJECTS: usize = 20_000;

/// The state of a walk.
#[derive(Default)]
pub(super) struct Walk<'a> {
    pub tables: &'a [Permitted],
    /// Common table expressions that can be seen from here, innermost last, and the copies that they make.
    pub scope: Vec<(String, usize)>,
    /// The queries around this place, innermost last.
    pub levels: Vec<Level>,
    pub ctes: usize,
    pub table_refs: usize,
    pub arms: usize,
    /// Amplifying calls around this place.
    pub amplifiers: usize,
    /// Permitted tables that the statement reads.
    pub used: Vec<&'a Permitted>,
    /// Objects that were opened, each once.
    opened: usize,
}

impl<'a> Walk<'a> {
    /// Judges a statement, and answers which of the tables it reads.
    ///
    /// # Errors
    /// The first thing that is not allowed.
    pub(super) fn judge(statement: &Value, tables: &'a [Permitted]) -> Verdict<Vec<&'a Permitted>> {
        let mut walk = Self { tables, levels: vec![Level::default()], ..Self::default() };
        walk.statement(statement)?;
        // A part of the tree that the walk never reached is a hole in the walk.
        let there = objects(statement).count();
        if there != walk.opened {
            let message = format!("Only {} of its {there} parts are understood.", walk.opened);
            return Err(Refusal::new("count", &there.to_string(), message, "Write it simpler."));
        }
        Ok(walk.used)
    }

    /// The query around this place.
    pub(super) fn level(&mut self) -> Verdict<&mut Level> {
        self.levels.last_mut().ok_or_else(|| unknown("query", "none"))
    }

    /// Opens an object that has no other keys than these, of which the `plain` ones hold no objects.
    pub(super) fn open<'v>(
        &mut self,
        value: &'v Value,
        what: &str,
        plain: &[&str],
        deep: &[&str],
    ) -> Verdict<Fields<'v>> {
        self.opened += 1;
        if self.opened > OBJECTS {
            return Err(too_many("parts", OBJECTS, "Send a smaller query."));
        }
        keys(value, what, &[plain, &["location"]].concat(), deep).map(Fields)
    }

    /// Opens the object around a node, `{"Type": {…}}`, and answers the type and what is inside; an empty object is a
    /// place where nothing stands.
    pub(super) fn node<'v>(&mut self, value: &'v Value) -> Verdict<Option<(&'v str, &'v Value)>> {
        self.opened += 1;
        let map = value.as_object().ok_or_else(|| unknown("node", "not an object"))?;
        let mut entries = map.iter();
        match (entries.next(), entries.next()) {
            (None, _) => Ok(None),
            (Some((name, inside)), None) => Ok(Some((name, inside))),
            (Some((name, _)), Some(_)) => Err(unknown("node", name)),
        }
    }

    /// A list of names, as they are written in a tree: `[{"String": {"sval": "name"}}]`.
    pub(super) fn names<'v>(&mut self, names: &'v [Value]) -> Verdict<Vec<&'v str>> {
        names.iter().map(|name| self.name(name)).collect()
    }

    pub(super) fn name<'v>(&mut self, name: &'v Value) -> Verdict<&'v str> {
        match self.node(name)? {
            Some(("String", inside)) => {
                let inside = self.open(inside, "name", &["sval"], &[])?;
                Ok(inside.word("sval"))
            }
            other => Err(unknown("name", other.map_or("empty", |(name, _)| name))),
        }
    }
}

/// An object that was opened.
pub(super) struct Fields<'v>(&'v Map<String, Value>);

impl<'v> Fields<'v> {
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.0.get(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn list(&self, key: &str) -> Verdict<&'v [Value]> {
        list(self.0, key)
    }

    /// A text; empty where there is none, as the parser leaves out what is empty.
    pub(super) fn word(&self, key: &str) -> &'v str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}
