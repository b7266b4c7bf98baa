//! Arguments and replies as JSON. Schemas are written as MCP clients and OpenAPI readers accept them: draft 2020-12,
//! sub-schemas inlined, an object at the root, no `$schema` (Claude refuses other dialects and combinators there).

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::gateway::operation::Operation;
use crate::model::error::{Error, Result};

/// The schema of `T` as a JSON object.
pub fn of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let portable = RecursiveTransform(portable);
    let settings = settings.with_transform(portable);
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
    }
    if schema.as_bool() == Some(true) {
        *schema = schemars::json_schema!({ "description": "Any JSON value" });
    }
}

/// The schema of a reply: the operation's, with the `request_id` that the gateway adds.
pub fn of_reply<T: JsonSchema>() -> Map<String, Value> {
    let mut object = of::<T>();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.insert(
            "request_id".into(),
            json!({ "type": "string", "description": "Name it when you report a problem." }),
        );
    }
    object
}

/// Arguments as the operation's type.
///
/// # Errors
/// `invalid_argument` that names the field and what was expected of it.
pub fn parse<O: Operation>(arguments: Map<String, Value>) -> Result<O> {
    serde_json::from_value(Value::Object(arguments)).map_err(|problem| {
        let text = problem.to_string();
        let field = text.split('`').nth(1).unwrap_or("arguments").to_owned();
        Error::invalid(&field, format!("The arguments of {} are wrong: {text}.", O::INFO.name))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn wrong_arguments_name_the_field_and_the_right_ones() {
        let arguments = serde_json::json!({ "datasetid": "x" }).as_object().unwrap().clone();
        let error = super::parse::<crate::ops::get_schema::GetSchema>(arguments).unwrap_err();
        assert_eq!(error.details["field"], "datasetid");
        assert!(error.message.contains("dataset_id"), "{}", error.message);
    }
}
