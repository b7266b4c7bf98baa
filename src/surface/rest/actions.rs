//! The OpenAPI document as GPT Actions take it (developers.openai.com, actions: production notes, authentication): an
//! absolute address, descriptions of at most 300 characters (700 of a parameter), an operation id and an example for each
//! operation, and every operation marked as one that changes nothing. It offers a token as the key and no sign-in: Actions
//! send no challenge of PKCE, without which nobody gets a code (OAuth 2.1, 7.5.1).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};

use super::openapi;
use crate::base::json::put;
use crate::config::Config;
use crate::gateway::operation::{Operation, Surface, Toolset};
use crate::ops;
use crate::surface::made::Made;

/// Characters of a description: of an operation, and of anything in its arguments.
const OPERATION: usize = 300;
const PARAMETER: usize = 700;

/// `GET /api/v1/ext/openapi.actions.json`.
pub async fn actions(State(made): State<Made>) -> Response {
    made.document("actions", |config| Json(document(config)).into_response()).await
}

/// The operations that a GPT gets: the tools that are listed where nobody chose.
struct Offered(Vec<(&'static str, String)>);

impl ops::Visitor for Offered {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        if info.surface == Surface::Tool && Toolset::is_usual(info.toolsets) {
            self.0.push((info.route.path, info.route.method.to_ascii_lowercase()));
        }
    }
}

/// See the module.
pub fn document(config: &Config) -> Value {
    let mut document = openapi::document(Surface::Tool);
    let mut offered = Offered(vec![]);
    ops::each(&mut offered);
    let mut paths = Map::new();
    for (path, method) in offered.0 {
        let Some(mut operation) = document.pointer_mut(&pointer(path, &method)).map(Value::take) else { continue };
        fit(&mut operation);
        let place = paths.entry(path).or_insert_with(|| json!({}));
        put(place, &method, operation);
    }
    put(&mut document, "paths", paths);
    put(&mut document, "servers", json!([{ "url": config.url(openapi::base(Surface::Tool)) }]));
    if let Some(info) = document.get_mut("info") {
        put(info, "title", "Dragoman");
        put(info, "description", "Answers from the organisation's own data: datasets, SQL, documents, ontologies.");
    }
    document
}

/// Where an operation stands (RFC 6901).
fn pointer(path: &str, method: &str) -> String {
    format!("/paths/{}/{method}", path.replace('~', "~0").replace('/', "~1"))
}

/// One operation within the limits.
fn fit(operation: &mut Value) {
    plain(operation);
    if let Some(Value::String(text)) = operation.get_mut("description") {
        *text = short(text, OPERATION);
    }
    // Nothing that is offered changes anything: without this, everything but GET would be confirmed each time.
    put(operation, "x-openai-isConsequential", false);
    let refusal = json!({
        "error": { "code": "invalid_argument", "message": "Name a dataset by its id.", "details": { "field": "dataset_id" } },
        "request_id": "01936f2e-7c1a-7000-8000-0000000000aa",
    });
    if let Some(refused) = operation.pointer_mut("/responses/default/content/application~1json") {
        put(refused, "example", refusal);
    }
}

/// Without what the importer does not know: types beside `null`, and descriptions that are too long.
fn plain(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get("type") {
                let one: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
                if let [one] = one.as_slice() {
                    members.insert("type".into(), one.clone());
                    if let Some(Value::Array(values)) = members.get_mut("enum") {
                        values.retain(|value| !value.is_null());
                    }
                }
            }
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = short(text, PARAMETER);
            }
            members.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        _ => {}
    }
}

/// As many whole sentences as fit; of a first one that does not, as many words.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = text.char_indices().nth(most - 1).map_or(text.len(), |(at, _)| at);
    let head = text.get(..end).unwrap_or_default();
    match (head.rfind(". "), head.rfind(' ')) {
        (Some(at), _) => head.get(..=at).unwrap_or_default().to_owned(),
        (None, Some(at)) => format!("{}…", head.get(..at).unwrap_or_default()),
        (None, None) => format!("{head}…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_ends_where_a_sentence_does() {
        assert_eq!(short("One. Two. Three.", 12), "One. Two.");
        assert_eq!(short("One. Two.", 9), "One. Two.");
        assert_eq!(short("One two three", 9), "One two…");
        assert_eq!(short(&"x".repeat(400), 300).chars().count(), 300);
        assert!(short(&"é ".repeat(200), 300).chars().count() <= 300);
    }
}
