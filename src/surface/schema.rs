//! JSON Schemas of operations, as MCP clients and OpenAPI readers accept them: draft 2020-12, sub-schemas inlined,
//! an object at the root, no `$schema` (Claude refuses other dialects and combinators at the root).

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The schema of `T` as a JSON object.
pub fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
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

/// The schema of a reply: the operation's, with the `request_id` that the gateway adds.
pub fn of_reply<T: JsonSchema>() -> Map<String, Value> {
    let mut object = of::<T>();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.insert("request_id".into(), json!({ "type": "string", "description": "Name it when you report a problem." }));
    }
    object
}
