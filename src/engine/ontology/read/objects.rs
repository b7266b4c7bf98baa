//! The objects of a document, one by one.

use super::derive;
use super::extension::Extensions;
use super::settle::{Open, Written, roles, settle};
use super::walk::{MAX_NAME, MAX_TEXT, Object, Part, Walk, join};
use crate::engine::ontology::graph::column;
use crate::model::ontology::{AiContext, Cardinality, DataType, Entity, Field, Metric, Ontology, Relationship};

/// Datasets of an ontology.
pub const MAX_DATASETS: usize = 1_000;
/// Fields of an ontology, over all datasets.
pub const MAX_FIELDS: usize = 20_000;
pub const MAX_RELATIONSHIPS: usize = 5_000;
pub const MAX_METRICS: usize = 5_000;

/// Dialects of expressions that we can read, the best first: DuckDB's is what the engine speaks, the others are
/// portable.
const DIALECTS: [&str; 3] = ["DUCKDB", "OSSIE_SQL_2026", "ANSI_SQL"];
const FOREIGN_DIALECTS: [&str; 9] =
    ["SNOWFLAKE", "MDX", "TABLEAU", "DATABRICKS", "MAQL", "BIGQUERY", "SIGMA", "THOUGHTSPOT", "DAX"];
const DATATYPES: [&str; 10] =
    ["String", "Integer", "Decimal", "Float", "Boolean", "Date", "Time", "DateTime", "DateTimeTz", "Opaque"];

/// How a document may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The keys of the specification and no others.
    Strict,
    /// Also `label` of datasets, as writers of 0.1 have it.
    Wrapped,
    /// Also what documents without a version are written like by hand: `source: {table: …}`, and fields with `type`
    /// and `source_column`.
    Lenient,
}

/// A whole model: the root of a flat document, or the one entry of a wrapped one.
pub(super) fn model(walk: &mut Walk, part: &Part<'_>, manner: Manner) -> Ontology {
    let mut keys =
        vec!["name", "description", "ai_context", "datasets", "relationships", "metrics", "custom_extensions"];
    if manner != Manner::Wrapped {
        keys.push("version");
    }
    let mut ontology = Ontology::default();
    let Some(object) = walk.object(part, &keys) else { return ontology };
    let mut open = Open::default();
    ontology.name = walk.required(&object, "name", MAX_NAME);
    ontology.description = walk.text(&object, "description");
    ontology.ai = ai_context(walk, &object).0;
    Extensions::read(walk, &object).model(walk, &mut ontology);
    let parts = walk.required_list(&object, "datasets");
    for part in limited(walk, parts, MAX_DATASETS, "datasets") {
        let at = ontology.datasets.len();
        let entity = dataset(walk, &part, manner, at, &mut open);
        ontology.datasets.push(entity);
    }
    if open.fields > MAX_FIELDS {
        let message = format!("The ontology has {} fields; at most {MAX_FIELDS} are allowed.", open.fields);
        walk.error("datasets", object.at("datasets"), message, "Split it into several ontologies.");
    }
    let parts = walk.list(&object, "relationships");
    for part in limited(walk, parts, MAX_RELATIONSHIPS, "relationships") {
        let at = ontology.relationships.len();
        let relationship = relationship(walk, &part, at, &mut open);
        ontology.relationships.push(relationship);
    }
    let parts = walk.list(&object, "metrics");
    for part in limited(walk, parts, MAX_METRICS, "metrics") {
        let at = ontology.metrics.len();
        let metric = metric(walk, &part, at, &mut open);
        ontology.metrics.push(metric);
    }
    settle(walk, &mut ontology, &object, &open);
    ontology
}

/// The one dataset that is a whole document.
pub(super) fn lone_dataset(walk: &mut Walk, part: &Part<'_>) -> Ontology {
    let mut open = Open::default();
    let entity = dataset(walk, part, Manner::Lenient, 0, &mut open);
    let mut ontology = Ontology {
        name: entity.name.clone(),
        description: entity.description.clone(),
        datasets: vec![entity],
        ..Ontology::default()
    };
    roles(&mut ontology, &open);
    ontology
}

fn limited<'n>(walk: &mut Walk, mut parts: Vec<Part<'n>>, max: usize, what: &str) -> Vec<Part<'n>> {
    if let Some(part) = parts.get(max) {
        let message = format!("The ontology has {} {what}; at most {max} are allowed.", parts.len());
        walk.error(what, part.node.at, message, "Split it into several ontologies.");
        parts.truncate(max);
    }
    parts
}

/// The typed part of `ai_context`, and the whole for further keys: there, and only there, they are free.
fn ai_context<'n>(walk: &mut Walk, object: &Object<'n>) -> (AiContext, Option<Object<'n>>) {
    let Some(part) = object.part("ai_context") else { return Default::default() };
    if part.node.map().is_none() {
        let instructions = walk.text_of(&part, MAX_TEXT).unwrap_or_default();
        return (AiContext { instructions, ..AiContext::default() }, None);
    }
    let Some(context) = walk.open_object(&part) else { return Default::default() };
    let ai = AiContext {
        instructions: walk.text(&context, "instructions"),
        synonyms: walk.texts(&context, "synonyms"),
        examples: walk.texts(&context, "examples"),
    };
    (ai, Some(context))
}

fn dataset(walk: &mut Walk, part: &Part<'_>, manner: Manner, at: usize, open: &mut Open) -> Entity {
    let mut keys = vec![
        "name", "source", "primary_key", "unique_keys", "description", "ai_context", "fields", "custom_extensions",
    ];
    if manner != Manner::Strict {
        keys.push("label");
    }
    let Some(object) = walk.object(part, &keys) else { return Entity::default() };
    let mut entity = Entity {
        name: walk.required(&object, "name", MAX_NAME),
        source: source(walk, &object, manner),
        primary_key: walk.texts(&object, "primary_key"),
        description: walk.text(&object, "description"),
        ai: ai_context(walk, &object).0,
        ..Entity::default()
    };
    for part in walk.list(&object, "unique_keys") {
        let parts = walk.items(&part);
        let columns = walk.texts_of(&parts);
        if columns.is_empty() {
            walk.error(&part.path, part.node.at, "A key needs at least one column.", "Write `[column]`.");
        }
        entity.unique_keys.push(columns);
    }
    if let Some(label) = walk.word(&object, "label").filter(|label| !entity.ai.synonyms.contains(label)) {
        let message = "`label` of a dataset is read as a synonym.";
        walk.warn(&join(&object.path, "label"), object.at("label"), message, "Write it under `ai_context.synonyms`.");
        entity.ai.synonyms.push(label);
    }
    Extensions::read(walk, &object).dataset(walk, &mut entity);
    let mut keys = Vec::new();
    for part in walk.list(&object, "fields") {
        let place = (at, entity.fields.len());
        let (field, is_key) = field(walk, &part, manner, place, open);
        if is_key {
            keys.push(field.name.clone());
        }
        entity.fields.push(field);
    }
    open.fields += entity.fields.len();
    if entity.primary_key.is_empty() {
        entity.primary_key = keys.iter().map(|name| column(&entity, name).to_owned()).collect();
    }
    entity
}

/// The table's name: of `database.schema.table` the last part.
fn source(walk: &mut Walk, object: &Object<'_>, manner: Manner) -> String {
    let nested = object.part("source").filter(|part| manner == Manner::Lenient && part.node.map().is_some());
    let source = match nested.and_then(|part| walk.object(&part, &["table"])) {
        Some(inner) => walk.required(&inner, "table", MAX_TEXT),
        None => walk.required(object, "source", MAX_TEXT),
    };
    if source.contains(char::is_whitespace) || source.contains('(') {
        let message = "A source must be a table; this is a query.";
        let hint = "Save the query's result as a dataset, and write the dataset's name here.";
        walk.error(&join(&object.path, "source"), object.at("source"), message, hint);
    }
    let last = source.rsplit('.').next().unwrap_or_default();
    last.trim_matches(['"', '`', '[', ']']).to_owned()
}

/// A field, and whether it says that it is the key of its dataset.
fn field(walk: &mut Walk, part: &Part<'_>, manner: Manner, place: (usize, usize), open: &mut Open) -> (Field, bool) {
    let mut keys =
        vec!["name", "expression", "dimension", "label", "description", "datatype", "ai_context", "custom_extensions"];
    if manner == Manner::Lenient {
        keys.extend(["type", "source_column"]);
    }
    let Some(object) = walk.object(part, &keys) else { return Default::default() };
    let mut field = Field {
        name: walk.required(&object, "name", MAX_NAME),
        label: walk.word(&object, "label").unwrap_or_default(),
        description: walk.text(&object, "description"),
        ..Field::default()
    };
    let (ai, context) = ai_context(walk, &object);
    field.ai = ai;
    let mut is_key = false;
    let mut named = None;
    if let Some(context) = &context {
        // Other writers keep these here, since the specification had no place for them.
        let text = |key: &str| context.part(key).and_then(|part| part.node.text().map(str::to_owned));
        let truth = |key: &str| context.part(key).and_then(|part| part.node.truth());
        let written = text("data_type");
        named = written.as_deref().and_then(named_datatype);
        field.native_type = text("native_type").or(written.filter(|_| named.is_none()));
        field.nullable = truth("is_nullable");
        is_key = truth("is_primary_key").unwrap_or_default();
    }
    let extensions = Extensions::read(walk, &object);
    if !extensions.field(walk, &mut field) {
        open.roles.push(place);
    }
    let column = object.part("source_column").and_then(|part| walk.text_of(&part, MAX_NAME));
    field.expression = match column {
        Some(column) if object.part("expression").is_none() => column,
        _ if manner == Manner::Lenient && object.part("expression").is_none() => field.name.clone(),
        _ => expression(walk, &object, extensions.duckdb),
    };
    let written = walk.one_of(&object, "datatype", &DATATYPES).or(named);
    let kind = object.part("type").and_then(|part| walk.text_of(&part, MAX_NAME));
    field.datatype = written.unwrap_or_else(|| datatype(field.native_type.as_deref().or(kind.as_deref())));
    let dimension = object.part("dimension").and_then(|part| walk.object(&part, &["is_time"]));
    let is_time = dimension.and_then(|dimension| walk.truth(&dimension, "is_time"));
    field.is_time = is_time.unwrap_or(derive::is_time(field.datatype));
    (field, is_key)
}

/// One of the portable types by its exact name.
fn named_datatype(name: &str) -> Option<DataType> {
    serde_json::from_value(name.into()).ok()
}

/// From a type's name: ours, or an engine's.
fn datatype(name: Option<&str>) -> DataType {
    name.map_or(DataType::Opaque, |name| named_datatype(name).unwrap_or_else(|| derive::datatype_of(name)))
}

fn expression(walk: &mut Walk, object: &Object<'_>, duckdb: Option<String>) -> String {
    let Some(part) = object.part("expression") else {
        return duckdb.unwrap_or_else(|| walk.required(object, "expression", MAX_TEXT));
    };
    let Some(inner) = walk.object(&part, &["dialects"]) else { return String::new() };
    let mut best: Option<(usize, String)> = None;
    let mut foreign = Vec::new();
    for part in walk.required_list(&inner, "dialects") {
        let Some(entry) = walk.object(&part, &["dialect", "expression"]) else { continue };
        let dialect = walk.required(&entry, "dialect", MAX_NAME);
        let text = walk.required(&entry, "expression", MAX_TEXT);
        if let Some(rank) = DIALECTS.iter().position(|known| *known == dialect) {
            if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                best = Some((rank, text));
            }
        } else if FOREIGN_DIALECTS.contains(&dialect.as_str()) {
            foreign.push(dialect);
        } else if !dialect.is_empty() {
            let message = format!("`{dialect}` is not a dialect.");
            let path = join(&entry.path, "dialect");
            walk.error(&path, entry.at("dialect"), message, format!("Write one of {}.", DIALECTS.join(", ")));
        }
    }
    if let Some(expression) = duckdb.or_else(|| best.map(|(_, text)| text)) {
        if let [first, ..] = foreign.as_slice() {
            let message =
                format!("The expression in {first} is not used, and not written when the ontology is exported.");
            walk.warn(&part.path, part.node.at, message, "The saved text keeps it.");
        }
        return expression;
    }
    if let [first, ..] = foreign.as_slice() {
        let message = format!("There is no expression that can be read here, only one in {first}.");
        walk.error(&part.path, part.node.at, message, "Add one with `dialect: ANSI_SQL`.");
    }
    String::new()
}

fn relationship(walk: &mut Walk, part: &Part<'_>, at: usize, open: &mut Open) -> Relationship {
    let keys = ["name", "from", "to", "from_columns", "to_columns", "ai_context", "custom_extensions"];
    let mut relationship =
        Relationship { cardinality: Cardinality::ManyToMany, optional: true, ..Relationship::default() };
    let Some(object) = walk.object(part, &keys) else { return relationship };
    relationship.name = walk.required(&object, "name", MAX_NAME);
    relationship.from = walk.required(&object, "from", MAX_NAME);
    relationship.to = walk.required(&object, "to", MAX_NAME);
    let columns = walk.required_list(&object, "from_columns");
    relationship.from_columns = walk.texts_of(&columns);
    let columns = walk.required_list(&object, "to_columns");
    relationship.to_columns = walk.texts_of(&columns);
    let (from, to) = (relationship.from_columns.len(), relationship.to_columns.len());
    if from != to && from > 0 && to > 0 {
        let message = format!("`from_columns` has {from} columns and `to_columns` {to}.");
        walk.error(
            &join(&object.path, "to_columns"),
            object.at("to_columns"),
            message,
            "Columns go together in pairs.",
        );
    }
    relationship.ai = ai_context(walk, &object).0;
    let extensions = Extensions::read(walk, &object);
    match extensions.relationship(walk, &mut relationship) {
        Some(optional) => relationship.optional = optional,
        None => open.optional.push(at),
    }
    if let Some((path, mark, word)) = extensions.cardinality(walk) {
        open.cardinalities.push(Written { relationship: at, path, at: mark, word });
    }
    relationship
}

fn metric(walk: &mut Walk, part: &Part<'_>, at: usize, open: &mut Open) -> Metric {
    let keys = ["name", "expression", "description", "datatype", "ai_context", "custom_extensions"];
    let Some(object) = walk.object(part, &keys) else { return Metric::default() };
    let mut metric = Metric {
        name: walk.required(&object, "name", MAX_NAME),
        description: walk.text(&object, "description"),
        ..Metric::default()
    };
    let (ai, context) = ai_context(walk, &object);
    metric.ai = ai;
    let native = context.and_then(|context| Some(context.part("data_type")?.node.text()?.to_owned()));
    let written = walk.one_of(&object, "datatype", &DATATYPES);
    metric.datatype = written.unwrap_or_else(|| datatype(native.as_deref()));
    let extensions = Extensions::read(walk, &object);
    let given = extensions.metric(walk, &mut metric);
    metric.expression = expression(walk, &object, extensions.duckdb);
    if !given {
        open.metrics.push(at);
    }
    metric
}
