//! OpenAPI 3.1 documents, made from the same types as the routes; the committed files in `openapi/` are kept equal by
//! a test.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::response::IntoResponse;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

use crate::base::json::put;
use crate::gateway::operation::{Info, Operation, Surface};
use crate::model::error::Code;
use crate::ops;
use crate::ops::audit_log::{ExportAudit, Format};
use crate::ops::check_import::CheckImport;
use crate::ops::health::Health;
use crate::ops::import::Import;
use crate::surface::schema;

/// What each operation of the external tier answers, to show: held against its schema by a test.
const EXAMPLES: &str = include_str!("examples.json");

/// Where a surface's routes begin.
pub fn base(surface: Surface) -> &'static str {
    match surface {
        Surface::Tool | Surface::Resource => "/api/v1/ext",
        Surface::Manage => "/api/v1",
    }
}

/// Whether requests of a method have a body (RFC 9110 §9.3: of those that we serve, GET and DELETE have none).
pub fn has_body(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "DELETE")
}

/// The document for external models and programs. Needs no credential, as the other: whoever asks gets a text that is made
/// once.
pub async fn tools() -> impl IntoResponse {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| document(Surface::Tool).to_string().into());
    ([(CONTENT_TYPE, "application/json")], TEXT.clone())
}

/// The document of management.
pub async fn management() -> impl IntoResponse {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| document(Surface::Manage).to_string().into());
    ([(CONTENT_TYPE, "application/json")], TEXT.clone())
}

struct Paths {
    management: bool,
    examples: Map<String, Value>,
    paths: Map<String, Value>,
}

impl ops::Visitor for Paths {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        if self.management != (info.surface == Surface::Manage) {
            return;
        }
        let mut operation = operation::<O>(&info);
        let answer = operation.pointer_mut("/responses/200/content/application~1json");
        if let (Some(answer), Some(example)) = (answer, self.examples.remove(info.name)) {
            put(answer, "example", example);
        }
        let path = self.paths.entry(info.route.path).or_insert_with(|| json!({}));
        path[info.route.method.to_ascii_lowercase()] = operation;
    }
}

/// The document of the external tier ([`Surface::Tool`]) or of management ([`Surface::Manage`]).
pub fn document(of: Surface) -> Value {
    let management = of == Surface::Manage;
    let examples = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let mut paths = Paths { management, examples, paths: Map::new() };
    ops::each(&mut paths);
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.info().name).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": if management { "Dragoman management" } else { "Dragoman for external models and programs" },
            "version": "1.0.0",
            "description": "Every answer carries request_id. Errors are {error:{code,message,details},request_id}.",
        },
        "servers": [{ "url": base(of) }],
        "security": [{ "bearer": [] }],
        "paths": paths.paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An OAuth access token, or a connectivity token (dgmcp_…).",
                },
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error", "request_id"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["code", "message", "details"],
                            "properties": {
                                "code": { "type": "string", "enum": codes },
                                "message": { "type": "string" },
                                "details": { "type": "object" },
                            },
                        },
                        "request_id": { "type": "string" },
                    },
                },
            },
        },
    })
}

fn operation<O: Operation>(info: &Info) -> Value {
    let schema = schema::of::<O>();
    let named: Vec<&str> =
        info.route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let in_body = has_body(info.route.method);
    let mut parameters = Vec::new();
    let mut members = Map::new();
    for (name, property) in properties {
        let in_path = named.contains(&name.as_str());
        if in_path || !in_body {
            let place = if in_path { "path" } else { "query" };
            let needed = in_path || !schema::is_optional(&schema, &name);
            let is_list = property.get("type").and_then(Value::as_str) == Some("array");
            let all = [("name", name.into()), ("in", place.into()), ("required", needed.into()), ("schema", property)];
            let mut parameter = Map::from_iter(all.map(|(key, value)| (key.to_owned(), value)));
            if is_list {
                // With commas between its parts.
                parameter.insert("explode".into(), false.into());
            }
            parameters.push(Value::Object(parameter));
        } else {
            members.insert(name, property);
        }
    }
    let mut operation = json!({
        "operationId": info.name,
        "summary": info.title,
        "description": info.description,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer", "content": answer::<O>() },
            "default": {
                "description": "A refusal or failure",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            },
        },
    });
    // Open to whoever asks; who shows a credential is told of their own workspace.
    if info.name == Health::INFO.name {
        put(&mut operation, "security", json!([{}, { "bearer": [] }]));
    }
    if [Import::INFO.name, CheckImport::INFO.name].contains(&info.name) {
        members.remove("files");
        let mut body = request_body(info, &schema, members.clone());
        if let Some(content) = body.get_mut("content") {
            put(content, "multipart/form-data", multipart(members));
        }
        put(&mut operation, "requestBody", body);
    } else if !members.is_empty() {
        put(&mut operation, "requestBody", request_body(info, &schema, members));
    }
    operation
}

/// By media type: JSON, or for an export the file in each of its formats.
fn answer<O: Operation>() -> Value {
    if O::INFO.name != ExportAudit::INFO.name {
        return json!({ "application/json": { "schema": schema::of_reply::<O::Reply>() } });
    }
    let file = |format: Format| {
        let media = format.media().split(';').next().unwrap_or_default();
        (media.to_owned(), json!({ "schema": { "type": "string" } }))
    };
    Value::Object(Format::ALL.map(file).into_iter().collect())
}

/// `members` of `schema`, the operation's, as a JSON body.
fn request_body(info: &Info, schema: &Map<String, Value>, members: Map<String, Value>) -> Value {
    let optional = |name: &str| schema::is_optional(schema, name);
    let needed: Vec<&String> = members.keys().filter(|name| !optional(name)).collect();
    let mut body = json!({ "type": "object", "required": needed });
    for rule in ["additionalProperties", "minProperties"] {
        if let Some(value) = schema.get(rule) {
            put(&mut body, rule, value.clone());
        }
    }
    let member = |(name, member): (String, Value)| {
        let member = if optional(&name) { or_null(member) } else { member };
        (name, member)
    };
    put(&mut body, "properties", Value::Object(members.into_iter().map(member).collect()));
    let example: Value = serde_json::from_str(info.example).unwrap_or_default();
    json!({ "required": true, "content": { "application/json": { "schema": body, "example": example } } })
}

/// What may be left out of a body may be null as well. The schemas of tools do not say so: some MCP clients refuse a set
/// with a list of types.
fn or_null(mut member: Value) -> Value {
    if member.get("oneOf").is_some() {
        return json!({ "anyOf": [member, { "type": "null" }] });
    }
    if let Some(kind) = member.get("type").and_then(Value::as_str).map(str::to_owned) {
        put(&mut member, "type", json!([kind, "null"]));
        if let Some(Value::Array(values)) = member.get_mut("enum") {
            values.push(Value::Null);
        }
    }
    member
}

/// An import arrives as a form with files, unless they have been uploaded before.
fn multipart(mut fields: Map<String, Value>) -> Value {
    let file =
        json!({ "type": "array", "items": { "type": "string", "contentMediaType": "application/octet-stream" } });
    fields.remove("uploads");
    fields.insert("file".into(), file);
    if let Some(columns) = fields.remove("columns") {
        fields.insert(
            "columns".into(),
            json!({ "type": "string", "contentMediaType": "application/json", "contentSchema": columns }),
        );
    }
    let schema = json!({ "type": "object", "properties": fields, "required": ["file"], "additionalProperties": false });
    json!({ "schema": schema })
}
