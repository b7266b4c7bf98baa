//! Arguments and replies as JSON. Schemas are written as MCP clients and OpenAPI readers accept them: draft 2020-12,
//! sub-schemas inlined, an object at the root, no `$schema` (Claude refuses other dialects and combinators there).

use std::any::TypeId;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value, json};

use crate::base::nearest::nearest;
use crate::gateway::operation::Operation;
use crate::model::audit::clip;
use crate::model::error::{Error, Result};

/// The schema of arguments as a JSON object.
pub fn of<T: JsonSchema>() -> Map<String, Value> {
    written::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// As [`of`], written once for the process.
pub fn kept<T: JsonSchema + 'static>() -> Arc<Map<String, Value>> {
    type Kept = Mutex<HashMap<TypeId, Arc<Map<String, Value>>>>;
    static KEPT: LazyLock<Kept> = LazyLock::new(Mutex::default);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(of::<T>())).clone()
}

fn written<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = settings.with_transform(RecursiveTransform(portable));
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = match schema.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    object.remove("title");
    object.remove("description");
    object.entry("type").or_insert_with(|| "object".into());
    object.entry("properties").or_insert_with(|| json!({}));
    object
}

/// What strict clients and other dialects stumble over, said in the way that all understand.
fn portable(schema: &mut Schema) {
    // `uint32` and the like are no formats of JSON Schema.
    let rust_only = |format: &str| format.starts_with("uint") || format.starts_with("int") || format == "double";
    if schema.get("format").and_then(Value::as_str).is_some_and(rust_only) {
        schema.remove("format");
    }
    // An optional field is one that may be absent; `[type, null]` would add nothing to that.
    if let Some(Value::Array(types)) = schema.get("type")
        && let [one, Value::String(null)] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        schema.insert("type".into(), one);
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
    }
    // Says that there is no default, in a type that has no null.
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    // Where a line of the source ends says nothing.
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split('\n').collect::<Vec<_>>().join(" ");
    }
    if schema.as_bool() == Some(true) {
        *schema = schemars::json_schema!({ "description": "Any JSON value" });
    }
}

/// The schema of a reply, in which what is left out where it is empty need not be: the operation's, with the `request_id`
/// that the gateway adds.
pub fn of_reply<T: JsonSchema>() -> Map<String, Value> {
    let mut object = written::<T>(SchemaSettings::draft2020_12().for_serialize());
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.insert(
            "request_id".into(),
            json!({ "type": "string", "description": "Name it when you report a problem." }),
        );
    }
    object
}

/// Characters of all texts of arguments whose length has an end.
pub fn texts(schema: &Map<String, Value>) -> usize {
    let all = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let lengths = all.filter_map(|one| one.get("maxLength")?.as_u64());
    lengths.filter_map(|length| usize::try_from(length).ok()).sum()
}

/// Whether a schema of arguments names one that may be left out.
pub fn is_optional(schema: &Map<String, Value>, name: &str) -> bool {
    let known = schema.get("properties").is_some_and(|all| all.get(name).is_some());
    let required = schema.get("required").and_then(Value::as_array);
    known && !required.is_some_and(|names| names.iter().any(|one| one == name))
}

/// Arguments as the operation's type.
///
/// # Errors
/// `invalid_argument` that names the field and what was expected of it; for an unknown one, the nearest that there is.
pub fn parse<O: Operation>(arguments: Map<String, Value>) -> Result<O> {
    // The field that was looked at last is the one that is wrong: not every message of serde names it.
    let at = Cell::new("arguments");
    let members = arguments.iter().map(|(name, value)| {
        at.set(name.as_str());
        (name.as_str(), value)
    });
    let members: MapDeserializer<'_, _, serde_json::Error> = MapDeserializer::new(members);
    O::deserialize(members).map_err(|problem| wrong::<O>(at.get(), &problem.to_string()))
}

/// `text` is serde's word on the field `at`. Both are cut: they may hold a text of megabytes.
fn wrong<O: Operation>(at: &str, text: &str) -> Error {
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    let field = clip(missing.unwrap_or(at));
    let unknown = text.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    // Of an argument's own member, or of an argument.
    let is_inner = unknown.is_some_and(|(name, _)| name != at);
    let is_plain = missing.is_some() || unknown.is_some() && !is_inner;
    let said = if is_plain { text.to_owned() } else { format!("{field}: {text}") };
    let message = format!("The arguments of {} are wrong: {}.", O::INFO.name, clip(&said));
    let near = match unknown {
        Some((name, known)) if is_inner => nearest(name, known.split('`').skip(1).step_by(2)).map(str::to_owned),
        Some(_) => meant::<O>(at),
        None => None,
    };
    match near {
        Some(near) => Error::invalid(&field, format!("{message} Did you mean {near}?"))
            .with(json!({ "field": field, "nearest": near })),
        None => Error::invalid(&field, message),
    }
}

/// The argument that was most likely meant.
fn meant<O: Operation>(name: &str) -> Option<String> {
    let schema = of::<O>();
    let known = schema.get("properties")?.as_object()?.keys();
    nearest(name, known.map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::get_schema::GetSchema;
    use crate::ops::ontology_texts::CreateOntology;
    use crate::ops::search::Search;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn how_long_texts_may_be_together_is_known() {
        assert_eq!(texts(&of::<CreateOntology>()), 10 << 20);
        assert_eq!(texts(&of::<GetSchema>()), 0);
    }

    #[test]
    fn wrong_arguments_name_the_field_and_the_right_ones() {
        let error = parse::<GetSchema>(arguments(json!({ "datasetid": "x" }))).unwrap_err();
        assert_eq!(error.details, json!({ "field": "datasetid", "nearest": "dataset_id" }));
        assert!(error.message.contains("dataset_id"), "{}", error.message);
        let id = "01936f2e-7c1a-7000-8000-000000000001";
        for (wrong, field) in [
            (json!({ "query": "x", "nonsense": 1 }), "nonsense"),
            (json!({ "query": 5 }), "query"),
            (json!({ "query": null }), "query"),
            (json!({ "query": "x", "dataset_id": "y" }), "dataset_id"),
            (json!({ "query": "x", "dataset_id": id, "top_k": "many" }), "top_k"),
            (json!({ "top_k": 1, "dataset_id": id }), "query"),
            (json!({}), "query"),
        ] {
            let error = parse::<Search>(arguments(wrong.clone())).unwrap_err();
            assert_eq!(error.details, json!({ "field": field }), "{wrong}");
            assert!(error.message.contains(field), "{}", error.message);
        }
    }

    #[test]
    fn a_wrong_member_of_an_argument_is_told_the_nearest_of_its_own() {
        use crate::ops::rag::search_hybrid::SearchHybrid;
        let wrong = json!({ "query": "x", "fuse": { "w_fst": 1 } });
        let error = parse::<SearchHybrid>(arguments(wrong)).unwrap_err();
        assert_eq!(error.details, json!({ "field": "fuse", "nearest": "w_fts" }));
        assert!(
            error.message.contains("fuse: unknown field `w_fst`") && error.message.ends_with("Did you mean w_fts?")
        );
    }

    #[test]
    fn a_wrong_argument_of_any_length_makes_a_short_error() {
        let long = "x".repeat(1 << 20);
        let mut named = Map::new();
        named.insert(long.clone(), json!(1));
        for wrong in [named, arguments(json!({ "query": "x", "top_k": long }))] {
            let error = parse::<Search>(wrong).unwrap_err();
            assert!(error.body("").to_string().len() < 3_000, "{error}");
        }
    }
}
