//! The tools that the suite calls, and the forms that some of them show.

use rmcp::model::Tool;
use serde_json::{Value, json};

use super::fixture::typed;
use super::jobs::NAMES;

/// The schema whose every keyword has to arrive at the client (SEP-1613, SEP-2106).
fn whole_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef", "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

/// In the order of their names.
pub fn tools() -> Vec<Tool> {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let one =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let mut schemas: Vec<(&str, Value)> = [
        "test_audio_content",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_embedded_resource",
        "test_error_handling",
        "test_image_content",
        "test_input_required_result_capabilities",
        "test_input_required_result_elicitation",
        "test_input_required_result_list_roots",
        "test_input_required_result_multi_round",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_request_state",
        "test_input_required_result_sampling",
        "test_input_required_result_tampered_state",
        "test_logging_tool",
        "test_missing_capability",
        "test_multiple_content_types",
        "test_simple_text",
        "test_streaming_elicitation",
        "test_tool_with_logging",
        "test_tool_with_progress",
        "test_trigger_prompt_change",
        "test_trigger_tool_change",
    ]
    .map(|name| (name, nothing.clone()))
    .into();
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    schemas.extend([
        ("json_schema_2020_12_tool", whole_schema()),
        ("test_elicitation", one("message")),
        ("test_sampling", one("prompt")),
        ("test_header", json!({ "type": "object", "properties": { "region": region }, "required": ["region"] })),
    ]);
    // What they take does not matter: they say nothing of it.
    schemas.extend(NAMES.map(|name| (name, json!({ "type": "object" }))));
    schemas.sort_by_key(|(name, _)| *name);
    let tool = |(name, schema)| typed(json!({ "name": name, "description": name, "inputSchema": schema }));
    schemas.into_iter().map(tool).collect()
}

/// The form of SEP-1034: a default for every type.
pub fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

/// The form of SEP-1330: every way to choose.
pub fn choices() -> Value {
    let titled = json!([
        { "const": "value1", "title": "First" }, { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let plain = json!(["option1", "option2", "option3"]);
    let names = json!(["Option One", "Option Two", "Option Three"]);
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}
