//! OpenAPI 3.1 documents, made from the same types as the routes; the committed files in `openapi/` are kept equal by
//! a test.

use serde_json::{Map, Value, json};

use crate::gateway::operation::{Info, Operation, Surface};
use crate::model::error::Code;
use crate::ops;
use crate::surface::schema;

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

struct Paths {
    management: bool,
    paths: Map<String, Value>,
}

impl ops::Visitor for Paths {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        if self.management != (info.surface == Surface::Manage) {
            return;
        }
        let operation = operation::<O>(&info);
        let path = self.paths.entry(info.route.path).or_insert_with(|| json!({}));
        path[info.route.method.to_ascii_lowercase()] = operation;
    }
}

/// The document of the external tier ([`Surface::Tool`]) or of management ([`Surface::Manage`]).
pub fn document(of: Surface) -> Value {
    let management = of == Surface::Manage;
    let mut paths = Paths { management, paths: Map::new() };
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
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let in_body = has_body(info.route.method);
    let mut parameters = Vec::new();
    let mut body = Map::new();
    for (name, property) in properties {
        let in_path = named.contains(&name.as_str());
        if in_path || !in_body {
            let place = if in_path { "path" } else { "query" };
            let needed = in_path || required.contains(&name.as_str().into());
            parameters.push(json!({ "name": name, "in": place, "required": needed, "schema": property }));
        } else {
            body.insert(name, property);
        }
    }
    let (media, reply) = match info.name == ops::audit_log::ExportAudit::INFO.name {
        true => ("text/plain", json!({ "type": "string" })),
        false => ("application/json", Value::Object(schema::of_reply::<O::Reply>())),
    };
    let mut operation = json!({
        "operationId": info.name,
        "summary": info.title,
        "description": info.description,
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "The answer",
                "content": { media: { "schema": reply } },
            },
            "default": {
                "description": "A refusal or failure",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            },
        },
    });
    if in_body {
        operation["requestBody"] = request_body(info, &body, &required);
    }
    operation
}

fn request_body(info: &Info, properties: &Map<String, Value>, required: &[Value]) -> Value {
    if info.name == ops::import::Import::INFO.name {
        return multipart(properties);
    }
    let needed: Vec<&Value> =
        required.iter().filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name))).collect();
    let example: Value = serde_json::from_str(info.example).unwrap_or_default();
    json!({
        "required": true,
        "content": {
            "application/json": {
                "schema": { "type": "object", "properties": properties, "required": needed },
                "example": example,
            },
        },
    })
}

/// An import arrives as a form with files.
fn multipart(properties: &Map<String, Value>) -> Value {
    let mut fields = properties.clone();
    fields.remove("files");
    let file =
        json!({ "type": "array", "items": { "type": "string", "contentMediaType": "application/octet-stream" } });
    fields.insert("file".into(), file);
    let schema = json!({ "type": "object", "properties": fields, "required": ["file"] });
    json!({ "required": true, "content": { "multipart/form-data": { "schema": schema } } })
}
