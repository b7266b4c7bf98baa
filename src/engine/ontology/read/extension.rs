//! Our keys in `custom_extensions`: a closed set for each kind of thing, in one extension for each thing.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::node::{self, Node};
use super::walk::{MAX_NAME, MAX_TEXT, Object, Part, Walk, join};
use crate::model::ontology::{
    Calendar, Confidence, Entity, Field, Link, Metric, Ontology, Relationship, Segment, Term, VerifiedQuery,
};

/// The name under which our keys stand in a document.
pub const VENDOR: &str = "DRAGOMAN";
/// The version 0.1.1 knows no vendors but its own: there our keys stand in its common extension, under this key.
pub const COMMON_KEY: &str = "dragoman";

const MODEL: [&str; 10] = [
    "timezone", "week_start", "fiscal_year_start", "currency", "locale", "default_time_window", "segments",
    "verified_queries", "glossary", "refused_relationships",
];
const DATASET: [&str; 5] = ["default_time_field", "label_field", "grain", "row_policy", "hidden"];
const FIELD: [&str; 13] = [
    "native_type", "nullable", "role", "default_aggregation", "unit", "unit_field", "format", "enum", "index_values",
    "value_synonyms", "hierarchy", "hidden", "pii",
];
const RELATIONSHIP: [&str; 5] = ["role", "cardinality", "optional", "preferred", "confidence"];
const METRIC: [&str; 6] = ["additivity", "default_time_field", "unit", "format", "filters", "higher_is"];

pub(super) const ROLES: [&str; 4] = ["dimension", "measure", "key", "attribute"];
pub(super) const AGGREGATIONS: [&str; 8] = ["sum", "avg", "median", "min", "max", "count", "count_distinct", "stddev"];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The extensions of one thing: ours, and an expression for DuckDB.
#[derive(Default)]
pub(super) struct Extensions {
    ours: Option<(String, Node)>,
    /// Of a vendor `DUCKDB` whose data are `{"expression": "…"}`.
    pub duckdb: Option<String>,
}

impl Extensions {
    /// Reads `custom_extensions` of an object; those of other vendors are named in a warning, since they are not kept.
    pub(super) fn read(walk: &mut Walk, object: &Object<'_>) -> Self {
        let mut found = Self::default();
        for part in walk.list(object, "custom_extensions") {
            let Some(extension) = walk.object(&part, &["vendor_name", "data"]) else { continue };
            let vendor = walk.required(&extension, "vendor_name", MAX_NAME);
            let Some(data) = extension.part("data") else {
                walk.error(&join(&part.path, "data"), part.node.at, "`data` is missing.", "Add `data`.");
                continue;
            };
            match vendor.as_str() {
                VENDOR => {
                    let node = read_data(walk, &data);
                    found.keep(walk, data.path.clone(), node);
                }
                "COMMON" => {
                    let read = read_data(walk, &data).and_then(|node| node.get(COMMON_KEY).cloned());
                    match read {
                        Some(node) => found.keep(walk, data.path.clone(), Some(node)),
                        None => dropped(walk, &part, &vendor),
                    }
                }
                "DUCKDB" => match read_data(walk, &data).as_ref().and_then(|node| node.get("expression")?.text()) {
                    Some(expression) => found.duckdb = Some(expression.to_owned()),
                    None => dropped(walk, &part, &vendor),
                },
                _ => dropped(walk, &part, &vendor),
            }
        }
        found
    }

    fn keep(&mut self, walk: &mut Walk, path: String, node: Option<Node>) {
        let Some(node) = node else { return };
        if self.ours.is_some() {
            let message = format!("There are two extensions of `{VENDOR}` here.");
            return walk.error(&path, node.at, message, "Put their keys into one.");
        }
        self.ours = Some((path, node));
    }

    fn object(&self, walk: &mut Walk, keys: &[&str]) -> Option<Object<'_>> {
        let (path, node) = self.ours.as_ref()?;
        walk.object(&Part { path: path.clone(), node }, keys)
    }

    pub(super) fn model(&self, walk: &mut Walk, ontology: &mut Ontology) {
        let Some(object) = self.object(walk, &MODEL) else { return };
        ontology.calendar = calendar(walk, &object);
        ontology.currency = currency(walk, &object);
        ontology.default_time_window = walk.word(&object, "default_time_window");
        if let Some(part) = object.part("locale") {
            walk.warn(&part.path, part.node.at, "`locale` is not used yet and not kept.", "Remove it.");
        }
        for part in walk.list(&object, "segments") {
            let Some(segment) = walk.object(&part, &["name", "synonyms", "expression", "datasets"]) else { continue };
            ontology.segments.push(Segment {
                name: walk.required(&segment, "name", MAX_NAME),
                synonyms: walk.texts(&segment, "synonyms"),
                expression: walk.required(&segment, "expression", MAX_TEXT),
                datasets: walk.texts(&segment, "datasets"),
            });
        }
        for part in walk.list(&object, "glossary") {
            let Some(term) = walk.object(&part, &["term", "means"]) else { continue };
            ontology.glossary.push(Term {
                term: walk.required(&term, "term", MAX_NAME),
                means: walk.required(&term, "means", MAX_TEXT),
            });
        }
        for part in walk.list(&object, "refused_relationships") {
            let Some(link) = walk.object(&part, &["from", "from_columns", "to", "to_columns"]) else { continue };
            ontology.refused.push(Link {
                from: walk.required(&link, "from", MAX_NAME),
                from_columns: walk.texts(&link, "from_columns"),
                to: walk.required(&link, "to", MAX_NAME),
                to_columns: walk.texts(&link, "to_columns"),
            });
        }
        for part in walk.list(&object, "verified_queries") {
            let Some(query) = walk.object(&part, &["question", "plan", "sql", "verified_at"]) else { continue };
            ontology.verified_queries.push(VerifiedQuery {
                question: walk.required(&query, "question", MAX_TEXT),
                plan: query.part("plan").and_then(|plan| {
                    walk.open_object(&plan)?;
                    Some(plan.node.json())
                }),
                sql: query.part("sql").and_then(|sql| walk.text_of(&sql, MAX_TEXT)),
                verified_at: walk.word(&query, "verified_at"),
            });
        }
    }

    pub(super) fn dataset(&self, walk: &mut Walk, entity: &mut Entity) {
        let Some(object) = self.object(walk, &DATASET) else { return };
        entity.default_time_field = walk.word(&object, "default_time_field");
        entity.label_field = walk.word(&object, "label_field");
        entity.grain = walk.word(&object, "grain");
        entity.row_policy = object.part("row_policy").and_then(|part| walk.text_of(&part, MAX_TEXT));
        entity.hidden = walk.truth(&object, "hidden").unwrap_or_default();
    }

    /// Returns whether a role is given.
    pub(super) fn field(&self, walk: &mut Walk, field: &mut Field) -> bool {
        let Some(object) = self.object(walk, &FIELD) else { return false };
        field.native_type = walk.word(&object, "native_type").or(field.native_type.take());
        field.nullable = walk.truth(&object, "nullable").or(field.nullable);
        field.default_aggregation = walk.one_of(&object, "default_aggregation", &AGGREGATIONS);
        field.unit = walk.word(&object, "unit");
        field.unit_field = walk.word(&object, "unit_field");
        field.format = walk.word(&object, "format");
        field.is_enum = walk.truth(&object, "enum").unwrap_or_default();
        field.index_values = walk.truth(&object, "index_values").unwrap_or_default();
        field.value_synonyms = value_synonyms(walk, &object);
        field.hierarchy = walk.word(&object, "hierarchy");
        field.hidden = walk.truth(&object, "hidden").unwrap_or_default();
        field.pii = walk.word(&object, "pii").filter(|kind| kind != "none");
        let role = walk.one_of(&object, "role", &ROLES);
        field.role = role.unwrap_or_default();
        role.is_some()
    }

    /// Returns the cardinality that is written, and whether it is optional, where the document says.
    pub(super) fn relationship(&self, walk: &mut Walk, relationship: &mut Relationship) -> Option<bool> {
        let object = self.object(walk, &RELATIONSHIP)?;
        relationship.role = walk.word(&object, "role");
        relationship.preferred = walk.truth(&object, "preferred").unwrap_or_default();
        let confidence: Option<Confidence> = walk.one_of(&object, "confidence", &["declared", "inferred", "verified"]);
        relationship.confidence = confidence.unwrap_or_default();
        walk.truth(&object, "optional")
    }

    /// The cardinality that is written, with its place; it is compared and never believed.
    pub(super) fn cardinality(&self, walk: &mut Walk) -> Option<(String, node::Mark, String)> {
        let (path, node) = self.ours.as_ref()?;
        let written = node.get("cardinality").filter(|node| !node.is_null())?;
        let part = Part { path: join(path, "cardinality"), node: written };
        let text = walk.text_of(&part, MAX_NAME)?;
        Some((part.path, written.at, text))
    }

    /// Returns whether an additivity is given.
    pub(super) fn metric(&self, walk: &mut Walk, metric: &mut Metric) -> bool {
        let Some(object) = self.object(walk, &METRIC) else { return false };
        metric.default_time_field = walk.word(&object, "default_time_field");
        metric.unit = walk.word(&object, "unit");
        metric.format = walk.word(&object, "format");
        metric.filters = walk.texts(&object, "filters");
        metric.higher_is = walk.word(&object, "higher_is");
        if let Some(word) = metric.higher_is.as_deref().filter(|word| !["better", "worse", "neutral"].contains(word)) {
            let message = format!("`{word}` is not a value of `higher_is`.");
            walk.error(
                &join(&object.path, "higher_is"),
                object.at("higher_is"),
                message,
                "Write better, worse or neutral.",
            );
        }
        let additivity = walk.one_of(&object, "additivity", &["additive", "semi_additive", "non_additive"]);
        let given = additivity.is_some();
        metric.additivity = additivity.unwrap_or_default();
        given
    }
}

/// `data` as a tree: a mapping, or a JSON string of one, whose parts then all stand where the string stands.
fn read_data(walk: &mut Walk, data: &Part<'_>) -> Option<Node> {
    if data.node.map().is_some() {
        return Some(data.node.clone());
    }
    let Some(text) = data.node.text() else {
        walk.expected("a text with JSON or a mapping", data);
        return None;
    };
    let parsed = match serde_json::from_str::<Json>(text) {
        Ok(_) => node::parse(text).map_err(|problem| problem.message),
        Err(error) => Err(error.to_string()),
    };
    match parsed {
        Ok(mut node) => {
            node.move_to(data.node.at);
            Some(node)
        }
        Err(message) => {
            let message = format!("`data` is not JSON: {message}.");
            walk.error(&data.path, data.node.at, message, "Write a JSON string or a mapping.");
            None
        }
    }
}

fn dropped(walk: &mut Walk, part: &Part<'_>, vendor: &str) {
    let message = format!("The extension of `{vendor}` is not used, and not written when the ontology is exported.");
    walk.warn(&part.path, part.node.at, message, "The saved text keeps it.");
}

fn calendar(walk: &mut Walk, object: &Object<'_>) -> Calendar {
    let mut calendar = Calendar::default();
    if let Some(zone) = walk.word(object, "timezone") {
        if jiff::tz::TimeZone::get(&zone).is_err() {
            let message = format!("`{zone}` is not a time zone.");
            let hint = "Write an IANA name such as Europe/Berlin.";
            walk.error(&join(&object.path, "timezone"), object.at("timezone"), message, hint);
        }
        calendar.timezone = zone;
    }
    if let Some(part) = object.part("week_start") {
        let word = part.node.text().unwrap_or_default().to_lowercase();
        let named = WEEKDAYS.iter().position(|day| *day == word).map(|at| at + 1);
        match named.or_else(|| whole(part.node, 7)).and_then(|day| u8::try_from(day).ok()) {
            Some(day) => calendar.week_start = day,
            None => {
                let hint = "Write monday to sunday, or 1 for Monday to 7 for Sunday.";
                walk.error(&part.path, part.node.at, "This is not a day of the week.", hint);
            }
        }
    }
    if let Some(part) = object.part("fiscal_year_start") {
        match whole(part.node, 12).and_then(|month| u8::try_from(month).ok()) {
            Some(month) => calendar.fiscal_year_start = month,
            None => walk.error(&part.path, part.node.at, "This is not a month.", "Write a number from 1 to 12."),
        }
    }
    calendar
}

/// A whole number from 1 to `max`.
fn whole(node: &Node, max: usize) -> Option<usize> {
    let number = usize::try_from(node.json().as_u64()?).ok()?;
    (1..=max).contains(&number).then_some(number)
}

fn currency(walk: &mut Walk, object: &Object<'_>) -> Option<String> {
    let currency = walk.word(object, "currency")?;
    if currency.len() != 3 || !currency.bytes().all(|b| b.is_ascii_uppercase()) {
        let message = format!("`{currency}` is not a currency.");
        walk.error(
            &join(&object.path, "currency"),
            object.at("currency"),
            message,
            "Write an ISO 4217 code such as EUR.",
        );
    }
    Some(currency)
}

fn value_synonyms(walk: &mut Walk, object: &Object<'_>) -> BTreeMap<String, Vec<String>> {
    let Some(part) = object.part("value_synonyms") else { return BTreeMap::new() };
    let Some(values) = walk.open_object(&part) else { return BTreeMap::new() };
    let mut synonyms = BTreeMap::new();
    for (value, words) in values.entries() {
        let words = walk.items(&words);
        synonyms.insert(value.name.clone(), walk.texts_of(&words));
    }
    synonyms
}
