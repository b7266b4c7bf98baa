//! From an ontology to Ossie documents.
//!
//! What the specification has a place for stands there; the rest is in one extension for each thing, as JSON in a
//! string, so that every reader of Ossie can read the document. Reading what was written gives the same ontology.

mod yaml;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::read::{COMMON_KEY, LEGACY_VERSION, VENDOR, VERSION, cardinality_name, datatype_of, is_time};
use crate::model::ontology::{
    AiContext, Calendar, Confidence, DataType, Entity, Field, Metric, Ontology, Relationship,
};

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A flat document of the current version in YAML.
pub fn flat_yaml(ontology: &Ontology) -> String {
    yaml::text(&flat(ontology))
}

/// What a document says of one dataset, in YAML.
pub fn dataset_yaml(entity: &Entity) -> String {
    yaml::text(&Writer { legacy: false }.dataset(entity))
}

/// A part of a document in YAML.
pub(super) fn yaml_of(part: &Value) -> String {
    yaml::text(part)
}

/// A flat document of the current version in JSON, indented.
pub fn flat_json(ontology: &Ontology) -> String {
    format!("{:#}\n", flat(ontology))
}

/// A document of the last released version, 0.1.1, in JSON, for readers that know no other. That version has neither
/// data types nor vendors of its own: types stand in `ai_context`, our keys in the common extension.
pub fn legacy_json(ontology: &Ontology) -> String {
    let model = Writer { legacy: true }.model(ontology);
    format!("{:#}\n", json!({ "version": LEGACY_VERSION, "semantic_model": [model] }))
}

/// A flat document of the current version.
pub(super) fn flat(ontology: &Ontology) -> Value {
    let mut root = Map::new();
    root.insert("version".into(), VERSION.into());
    root.extend(Writer { legacy: false }.model(ontology));
    Value::Object(root)
}

struct Writer {
    legacy: bool,
}

impl Writer {
    fn model(&self, ontology: &Ontology) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("name".into(), ontology.name.as_str().into());
        put_text(&mut map, "description", &ontology.description);
        put_map(&mut map, "ai_context", ai_context(&ontology.ai));
        self.extend(&mut map, model_keys(ontology));
        let datasets = ontology.datasets.iter().map(|entity| self.dataset(entity)).collect();
        map.insert("datasets".into(), Value::Array(datasets));
        put_list(&mut map, "relationships", ontology.relationships.iter().map(|one| self.relationship(one)).collect());
        put_list(&mut map, "metrics", ontology.metrics.iter().map(|metric| self.metric(metric)).collect());
        map
    }

    fn dataset(&self, entity: &Entity) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), entity.name.as_str().into());
        map.insert("source".into(), entity.source.as_str().into());
        put_list(&mut map, "primary_key", texts(&entity.primary_key));
        put_list(&mut map, "unique_keys", entity.unique_keys.iter().map(|key| json!(key)).collect());
        put_text(&mut map, "description", &entity.description);
        put_map(&mut map, "ai_context", ai_context(&entity.ai));
        let mut keys = Map::new();
        put_some(&mut keys, "default_time_field", entity.default_time_field.as_deref());
        put_some(&mut keys, "label_field", entity.label_field.as_deref());
        put_some(&mut keys, "grain", entity.grain.as_deref());
        put_some(&mut keys, "row_policy", entity.row_policy.as_deref());
        put_true(&mut keys, "hidden", entity.hidden);
        self.extend(&mut map, keys);
        put_list(&mut map, "fields", entity.fields.iter().map(|field| self.field(field)).collect());
        Value::Object(map)
    }

    fn field(&self, field: &Field) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), field.name.as_str().into());
        map.insert("expression".into(), expression(&field.expression));
        let mut ai = ai_context(&field.ai);
        let derived = field.native_type.as_deref().map_or(DataType::Opaque, datatype_of);
        if field.datatype != DataType::Opaque || derived != DataType::Opaque {
            self.datatype(&mut map, &mut ai, field.datatype);
        }
        if field.is_time || is_time(field.datatype) {
            map.insert("dimension".into(), json!({ "is_time": field.is_time }));
        }
        put_text(&mut map, "label", &field.label);
        put_text(&mut map, "description", &field.description);
        put_map(&mut map, "ai_context", ai);
        let mut keys = Map::new();
        keys.insert("role".into(), json!(field.role));
        put_some(&mut keys, "native_type", field.native_type.as_deref());
        put_some(&mut keys, "nullable", field.nullable);
        put_some(&mut keys, "default_aggregation", field.default_aggregation.map(|function| json!(function)));
        put_some(&mut keys, "unit", field.unit.as_deref());
        put_some(&mut keys, "unit_field", field.unit_field.as_deref());
        put_some(&mut keys, "format", field.format.as_deref());
        put_true(&mut keys, "enum", field.is_enum);
        put_true(&mut keys, "index_values", field.index_values);
        if !field.value_synonyms.is_empty() {
            keys.insert("value_synonyms".into(), json!(field.value_synonyms));
        }
        put_some(&mut keys, "hierarchy", field.hierarchy.as_deref());
        put_true(&mut keys, "hidden", field.hidden);
        put_some(&mut keys, "pii", field.pii.as_deref());
        self.extend(&mut map, keys);
        Value::Object(map)
    }

    fn relationship(&self, relationship: &Relationship) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), relationship.name.as_str().into());
        map.insert("from".into(), relationship.from.as_str().into());
        map.insert("to".into(), relationship.to.as_str().into());
        map.insert("from_columns".into(), json!(relationship.from_columns));
        map.insert("to_columns".into(), json!(relationship.to_columns));
        put_map(&mut map, "ai_context", ai_context(&relationship.ai));
        let mut keys = Map::new();
        put_some(&mut keys, "role", relationship.role.as_deref());
        keys.insert("cardinality".into(), cardinality_name(relationship.cardinality).into());
        keys.insert("optional".into(), relationship.optional.into());
        put_true(&mut keys, "preferred", relationship.preferred);
        if relationship.confidence != Confidence::Declared {
            keys.insert("confidence".into(), json!(relationship.confidence));
        }
        self.extend(&mut map, keys);
        Value::Object(map)
    }

    fn metric(&self, metric: &Metric) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), metric.name.as_str().into());
        map.insert("expression".into(), expression(&metric.expression));
        put_text(&mut map, "description", &metric.description);
        let mut ai = ai_context(&metric.ai);
        if metric.datatype != DataType::Opaque {
            self.datatype(&mut map, &mut ai, metric.datatype);
        }
        put_map(&mut map, "ai_context", ai);
        let mut keys = Map::new();
        keys.insert("additivity".into(), json!(metric.additivity));
        put_some(&mut keys, "default_time_field", metric.default_time_field.as_deref());
        put_some(&mut keys, "unit", metric.unit.as_deref());
        put_some(&mut keys, "format", metric.format.as_deref());
        put_some(&mut keys, "higher_is", metric.higher_is.as_deref());
        put_list(&mut keys, "filters", texts(&metric.filters));
        self.extend(&mut map, keys);
        Value::Object(map)
    }

    fn datatype(&self, map: &mut Map<String, Value>, ai: &mut Map<String, Value>, datatype: DataType) {
        if self.legacy {
            ai.insert("data_type".into(), json!(datatype));
        } else {
            map.insert("datatype".into(), json!(datatype));
        }
    }

    fn extend(&self, map: &mut Map<String, Value>, keys: Map<String, Value>) {
        if keys.is_empty() {
            return;
        }
        let (vendor, data) = if self.legacy { ("COMMON", json!({ COMMON_KEY: keys })) } else { (VENDOR, json!(keys)) };
        map.insert("custom_extensions".into(), json!([{ "vendor_name": vendor, "data": data.to_string() }]));
    }
}

fn model_keys(ontology: &Ontology) -> Map<String, Value> {
    let mut keys = Map::new();
    let (calendar, default) = (&ontology.calendar, Calendar::default());
    if calendar.timezone != default.timezone {
        keys.insert("timezone".into(), calendar.timezone.as_str().into());
    }
    if calendar.week_start != default.week_start {
        let day = WEEKDAYS.get(usize::from(calendar.week_start).saturating_sub(1));
        put_some(&mut keys, "week_start", day.copied());
    }
    if calendar.fiscal_year_start != default.fiscal_year_start {
        keys.insert("fiscal_year_start".into(), calendar.fiscal_year_start.into());
    }
    put_some(&mut keys, "currency", ontology.currency.as_deref());
    put_some(&mut keys, "default_time_window", ontology.default_time_window.as_deref());
    put_list(&mut keys, "segments", ontology.segments.iter().map(|segment| json!(segment)).collect());
    put_list(&mut keys, "glossary", ontology.glossary.iter().map(|term| json!(term)).collect());
    put_list(&mut keys, "refused_relationships", ontology.refused.iter().map(|link| json!(link)).collect());
    let queries = ontology.verified_queries.iter().map(|query| {
        let mut map = Map::new();
        map.insert("question".into(), query.question.as_str().into());
        put_some(&mut map, "plan", query.plan.clone());
        put_some(&mut map, "sql", query.sql.as_deref());
        put_some(&mut map, "verified_at", query.verified_at.as_deref());
        Value::Object(map)
    });
    put_list(&mut keys, "verified_queries", queries.collect());
    keys
}

/// Expressions are kept in the portable dialect: what an ontology may use of SQL reads the same there.
fn expression(text: &str) -> Value {
    json!({ "dialects": [{ "dialect": "ANSI_SQL", "expression": text }] })
}

fn ai_context(ai: &AiContext) -> Map<String, Value> {
    let mut map = Map::new();
    put_text(&mut map, "instructions", &ai.instructions);
    put_list(&mut map, "synonyms", texts(&ai.synonyms));
    put_list(&mut map, "examples", texts(&ai.examples));
    map
}

fn texts(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

fn put_text(map: &mut Map<String, Value>, key: &str, text: &str) {
    put_some(map, key, Some(text).filter(|text| !text.is_empty()));
}

fn put_some(map: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        map.insert(key.into(), value.into());
    }
}

fn put_true(map: &mut Map<String, Value>, key: &str, value: bool) {
    put_some(map, key, value.then_some(true));
}

fn put_list(map: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    put_some(map, key, Some(list).filter(|list| !list.is_empty()));
}

fn put_map(map: &mut Map<String, Value>, key: &str, inner: Map<String, Value>) {
    put_some(map, key, Some(inner).filter(|inner| !inner.is_empty()).map(Value::Object));
}
