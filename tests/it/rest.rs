//! REST does what its OpenAPI documents say, operation by operation: which members a body has, where null may stand, what
//! is too long, in which form a file comes. An operation that is added is tested by its documents alone. And what is at
//! no address, or has no such method, says so in the published body.

use dragoman::model::access::{Role, Scope};
use reqwest::RequestBuilder;
use serde_json::{Map, Value, json};

use crate::support::service::{Service, json_of};

/// An id of nothing.
const NOWHERE: &str = "01936f2e-7c1a-7000-8000-00000000ffff";
/// A member that no operation has.
const ODD: &str = "no_such_member";

/// An operation, as a document has it.
#[derive(Clone)]
struct Documented {
    name: String,
    method: String,
    path: String,
    spec: Value,
}

impl Documented {
    /// What stands in the address.
    fn named(&self) -> Vec<&str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
    }

    /// A call about nothing that is there, still without arguments.
    fn request(&self, service: &Service, token: &str) -> RequestBuilder {
        let path =
            self.named().iter().fold(self.path.clone(), |path, name| path.replace(&format!("{{{name}}}"), NOWHERE));
        service.http.request(self.method.parse().unwrap(), service.url(&path)).bearer_auth(token)
    }

    fn is_form(&self) -> bool {
        self.spec["requestBody"]["content"].get("multipart/form-data").is_some()
    }

    fn takes_body(&self) -> bool {
        !["GET", "DELETE"].contains(&self.method.as_str())
    }

    /// The schema of its JSON body, and the example of one.
    fn body(&self) -> Option<(&Value, &Value)> {
        let media = self.spec["requestBody"]["content"].get("application/json")?;
        Some((&media["schema"], &media["example"]))
    }

    /// The members of its JSON body.
    fn members(&self) -> Map<String, Value> {
        self.body().map_or_else(Map::new, |(schema, _)| schema["properties"].as_object().unwrap().clone())
    }

    fn needs(&self, name: &str) -> bool {
        self.body().is_some_and(|(schema, _)| schema["required"].as_array().unwrap().contains(&name.into()))
    }

    /// The example with a member set, which stands last unless it is there.
    fn example_with(&self, name: &str, value: Value) -> Value {
        let mut body = self.body().map_or_else(|| json!({}), |(_, example)| example.clone());
        body[name] = value;
        body
    }
}

/// Everything that both documents list.
async fn documented(service: &Service) -> Vec<Documented> {
    let mut all = Vec::new();
    for base in ["/api/v1/ext", "/api/v1"] {
        let (_, document) = get(service, &format!("{base}/openapi.json")).await;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, spec) in methods.as_object().unwrap() {
                all.push(Documented {
                    name: spec["operationId"].as_str().unwrap().to_owned(),
                    method: method.to_uppercase(),
                    path: format!("{base}{path}"),
                    spec: spec.clone(),
                });
            }
        }
    }
    assert!(all.len() >= 50, "{} operations", all.len());
    all
}

async fn get(service: &Service, path: &str) -> (u16, Value) {
    json_of(service.http.get(service.url(path)).send().await.unwrap()).await
}

/// A service, and the token of an admin who may do everything in it.
async fn administered() -> (Service, String) {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    (service, token)
}

/// The call is refused for this field, and the sentence names it.
async fn refused(request: RequestBuilder, field: &str, what: &str) {
    let (status, body) = json_of(request.send().await.unwrap()).await;
    let error = &body["error"];
    assert_eq!((status, &error["code"]), (400, &json!("invalid_argument")), "{what}, {field}: {body}");
    assert_eq!(error["details"]["field"], field, "{what}: {body}");
    assert!(error["message"].as_str().unwrap().contains(field), "{what}: {body}");
}

/// What callers name themselves: values of documents, and columns.
const MAPS: [&str; 3] = ["metadata", "columns", "hidden"];

/// Whether no object takes members that nobody named, but for [`MAPS`].
fn is_closed(schema: &Value) -> bool {
    let kind = &schema["type"];
    let is_object = *kind == "object" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("object")));
    let open = is_object && schema["additionalProperties"] != false;
    !open
        && match schema {
            Value::Object(members) => {
                members.iter().all(|(name, of)| is_closed(of) || (MAPS.contains(&name.as_str()) && is_map(of)))
            }
            Value::Array(items) => items.iter().all(is_closed),
            _ => true,
        }
}

fn is_map(schema: &Value) -> bool {
    schema["additionalProperties"].is_object() && schema.get("properties").is_none()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_document_names_is_refused_by_its_name() {
    let (service, token) = administered().await;
    let mut bodies = 0;
    for op in documented(&service).await {
        let request = || op.request(&service, &token);
        let what = &op.name;
        if op.is_form() {
            assert!(is_closed(&op.spec["requestBody"]["content"]), "{what}");
            let form = reqwest::multipart::Form::new().text(ODD, "1");
            let (status, body) = json_of(request().multipart(form).send().await.unwrap()).await;
            assert!(status == 400 && body["error"]["message"].as_str().unwrap().contains(ODD), "{what}: {body}");
            continue;
        }
        if let Some((schema, example)) = op.body() {
            bodies += 1;
            assert!(is_closed(schema), "{what}: {schema}");
            assert!(example.as_object().unwrap().keys().all(|name| op.members().contains_key(name)), "{what}");
            assert!(op.members().keys().all(|name| !op.needs(name) || example.get(name).is_some()), "{what}");
        }
        // The example comes first: what is refused is the member that is too many, and nothing before it.
        let with = |name: &str| match op.takes_body() {
            true => request().json(&op.example_with(name, NOWHERE.into())),
            false => request().query(&[(name, NOWHERE)]),
        };
        refused(with(ODD), ODD, what).await;
        for name in op.named() {
            refused(with(name), name, what).await;
        }
        let twice = [("limit", "1"), ("limit", "1")];
        match op.takes_body() {
            true => refused(request().query(&[(ODD, "1")]).json(&op.example_with(ODD, json!(1))), ODD, what).await,
            false => refused(request().query(&twice), "limit", what).await,
        }
    }
    assert!(bodies >= 16, "{bodies} bodies");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nearest_name_is_offered() {
    let (service, token) = administered().await;
    let wrong = json!({ "label": "x", "scopes": ["ext:sql"], "expires_in_day": 1 });
    let (status, body) = json_of(service.post("/api/v1/tokens", &token).json(&wrong).send().await.unwrap()).await;
    assert_eq!(status, 400);
    assert_eq!(body["error"]["details"], json!({ "field": "expires_in_day", "nearest": "expires_in_days" }), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().ends_with("Did you mean expires_in_days?"), "{body}");
    let (_, listed) = json_of(service.get("/api/v1/tokens", &token).send().await.unwrap()).await;
    assert_eq!(listed["tokens"], json!([]), "nothing was made of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn null_is_taken_for_not_given_where_the_document_has_it_and_refused_elsewhere() {
    let (service, token) = administered().await;
    let mut optional = 0;
    for op in documented(&service).await {
        for (name, member) in op.members() {
            let null =
                |schema: &Value| schema["type"] == "null" || schema["type"] == json!([schema["type"][0], "null"]);
            let takes = null(&member) || member["anyOf"].as_array().is_some_and(|some| some.iter().any(null));
            assert_eq!(takes, !op.needs(&name), "{}.{name}: {member}", op.name);
            // The member after it stops the call: so far it comes only where null was taken.
            let mut body = op.example_with(&name, Value::Null);
            body[ODD] = json!(1);
            let field = if takes { ODD } else { name.as_str() };
            refused(op.request(&service, &token).json(&body), field, &op.name).await;
            optional += usize::from(takes);
        }
    }
    assert!(optional >= 15, "{optional} optional members");
    let query = json!({ "sql": "SELECT 7 AS n", "dataset_id": null, "cursor": null });
    let (status, body) = json_of(service.post("/api/v1/ext/sql", &token).json(&query).send().await.unwrap()).await;
    assert_eq!((status, &body["rows"]), (200, &json!([[7]])), "{body}");
}

/// Values that a schema excludes.
fn excluded(schema: &Value) -> Vec<Value> {
    let number = |key: &str| schema[key].as_i64();
    let mut values = Vec::new();
    values.extend(number("minimum").map(|least| json!(least - 1)));
    values.extend(number("maximum").map(|most| json!(most + 1)));
    values.extend(number("minLength").filter(|least| *least > 0).map(|_| json!("")));
    values.extend(number("maxLength").map(|most| json!("x".repeat(usize::try_from(most).unwrap() + 1))));
    values.extend(number("minItems").filter(|least| *least > 0).map(|_| json!([])));
    let many = |most: i64| (0..=most).map(|n| format!("d{n}.example.com")).collect::<Vec<_>>();
    values.extend(number("maxItems").map(|most| json!(many(most))));
    values.extend(schema.get("pattern").map(|_| json!("é è")));
    values.extend(["enum", "oneOf", "anyOf"].iter().filter_map(|key| schema.get(key)).map(|_| json!("no such word")));
    values.extend(schema["items"].get("enum").map(|_| json!(["no such word"])));
    values.extend(schema.get("format").map(|_| json!("no such form")));
    values
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_document_excludes_is_refused() {
    let (service, token) = administered().await;
    let mut tried = 0;
    for op in documented(&service).await {
        // What is nowhere may be missed before its text is read.
        let known: &[u16] = if op.named().is_empty() { &[400] } else { &[400, 404] };
        let mut requests = Vec::new();
        for (name, member) in op.members() {
            for value in excluded(&member) {
                let said: String = value.to_string().chars().take(80).collect();
                requests.push((
                    format!("{name} {said}"),
                    op.request(&service, &token).json(&op.example_with(&name, value)),
                ));
            }
        }
        if op.body().is_some_and(|(schema, _)| schema["minProperties"] == 1) {
            requests.push(("nothing".into(), op.request(&service, &token).json(&json!({}))));
        }
        for parameter in op.spec["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            for value in excluded(&parameter["schema"]) {
                if parameter["in"] == "query" {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let mut query = vec![(name, text)];
                    if op.name == "export_audit" && name != "format" {
                        query.push(("format", "csv".into()));
                    }
                    requests.push((format!("{query:?}"), op.request(&service, &token).query(&query)));
                } else {
                    assert_eq!(parameter["schema"]["format"], "uuid", "{}.{name}", op.name);
                    let other = Documented { path: op.path.replace(&format!("{{{name}}}"), "no-id"), ..op.clone() };
                    requests.push((format!("{name} no-id"), other.request(&service, &token)));
                }
            }
        }
        for (what, request) in requests {
            let (status, body) = json_of(request.send().await.unwrap()).await;
            assert!(known.contains(&status), "{} with {what}: {status} {body}", op.name);
            tried += 1;
        }
    }
    assert!(tried >= 70, "{tried} values");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_needed_where_the_document_has_one_and_nowhere_else() {
    let (service, token) = administered().await;
    let mut without = Vec::new();
    for op in documented(&service).await.into_iter().filter(|op| op.takes_body() && !op.is_form()) {
        let request = op.request(&service, &token);
        let (status, body) = json_of(request.send().await.unwrap()).await;
        if op.body().is_some() {
            assert_eq!((status, &op.spec["requestBody"]["required"]), (400, &json!(true)), "{}: {body}", op.name);
            continue;
        }
        // It is about something that is nowhere, or about the workspace itself.
        let expected = if op.named().is_empty() { 200 } else { 404 };
        assert_eq!(status, expected, "{}: {body}", op.name);
        let (status, body) = json_of(op.request(&service, &token).json(&json!({})).send().await.unwrap()).await;
        assert_eq!(status, expected, "{}: {body}", op.name);
        without.push(op.name);
    }
    without.sort();
    let expected =
        ["check_ontology", "connectivity_enable", "refresh_source", "restore_dataset_version", "test_source"];
    assert_eq!(without, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_comes_in_the_media_types_of_its_document() {
    let (service, token) = administered().await;
    let all = documented(&service).await;
    let export = all.iter().find(|op| op.name == "export_audit").unwrap();
    let said: Vec<&String> = export.spec["responses"]["200"]["content"].as_object().unwrap().keys().collect();
    let mut sent = Vec::new();
    for format in ["csv", "ndjson"] {
        let answer = export.request(&service, &token).query(&[("format", format)]).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let media = answer.headers()["content-type"].to_str().unwrap().to_owned();
        sent.push(media.split(';').next().unwrap().to_owned());
    }
    assert_eq!(said, sent.iter().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_ontologies_are_read() {
    let (service, token) = administered().await;
    for op in documented(&service).await {
        let Some((_, example)) = op.body().filter(|_| ["create_ontology", "convert_ontology"].contains(&&*op.name))
        else {
            continue;
        };
        let (status, body) = json_of(op.request(&service, &token).json(example).send().await.unwrap()).await;
        // The table of the one is nowhere.
        let read = status == 200 || !body["error"]["message"].as_str().unwrap().contains("This is no ontology");
        assert!(read && (status == 200 || op.name == "create_ontology"), "{}: {status} {body}", op.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_no_ontology_is_refused_in_a_sentence() {
    let (service, token) = administered().await;
    for (path, text, said) in [
        ("/api/v1/ontologies", "just words", "This is no ontology: line 1: A mapping with "),
        ("/api/v1/ontologies/convert", "just words", "This is no ontology: This is no semantic model that is known."),
    ] {
        let sent = service.post(path, &token).json(&json!({ "text": text })).send().await.unwrap();
        let (status, body) = json_of(sent).await;
        assert_eq!(status, 400, "{path}: {body}");
        assert!(body["error"]["message"].as_str().unwrap().starts_with(said), "{path}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_read_in_either_case_and_written_in_lower_case() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
        let made = service.import(&org, "sales.csv", b"total\n10\n", true).await.unwrap();
        let id = made["dataset_id"].as_str().unwrap();
        let upper = id.to_uppercase();
        assert_ne!(id, upper);

        let schema = format!("/api/v1/ext/datasets/{upper}/schema");
        let (status, body) = json_of(service.get(&schema, &token).send().await.unwrap()).await;
        assert_eq!((status, &body["dataset_id"]), (200, &json!(id)), "{body}");
        let query = json!({ "sql": "SELECT total FROM sales", "dataset_id": upper });
        let (status, body) = json_of(service.post("/api/v1/ext/sql", &token).json(&query).send().await.unwrap()).await;
        assert_eq!((status, &body["rows"]), (200, &json!([[10]])), "{body}");
        let (failed, body) = service.tool(&token, "dragoman_get_schema", json!({ "dataset_id": upper })).await;
        assert!(!failed && body["dataset_id"] == id, "{body}");
        let uri = format!("dragoman://datasets/{upper}");
        let (_, body) =
            json_of(service.rpc(&token, "resources/read", json!({ "uri": uri })).send().await.unwrap()).await;
        assert!(body["result"]["contents"][0]["text"].as_str().unwrap().contains(id), "{body}");

        let withdraw = service.http.patch(service.url(&format!("/api/v1/datasets/{upper}"))).bearer_auth(&token);
        let (status, body) =
            json_of(withdraw.json(&json!({ "externally_queryable": false })).send().await.unwrap()).await;
        assert_eq!((status, &body["dataset_id"]), (200, &json!(id)), "{body}");
        assert_eq!(service.last_audit(&org).await.target, format!("publish_dataset {id} false"));
        let other = [id.replace('-', ""), format!("%7B{id}%7D"), format!("urn:uuid:{id}")];
        for form in other {
            let path = format!("/api/v1/ext/datasets/{form}/schema");
            let (status, body) = json_of(service.get(&path, &token).send().await.unwrap()).await;
            // What is no id may be a name; none is called so.
            assert_eq!((status, &body["error"]["code"]), (404, &json!("dataset_not_found")), "{form}: {body}");
        }
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_no_address_is_answered_in_the_published_body() {
    let service = Service::start().await;
    for (method, path) in [
        ("GET", "/nothing"),
        ("POST", "/nothing"),
        ("GET", "/.well-known/other"),
        ("GET", "/api/v1/nothing"),
        ("PUT", "/a/b/"),
    ] {
        let answer = service.http.request(method.parse().unwrap(), service.url(path)).body("x").send().await.unwrap();
        let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(answer.headers()["content-type"], "application/json", "{method} {path}");
        let (status, body) = json_of(answer).await;
        let error = json!({ "code": "not_found", "message": "There is nothing at this address.", "details": {} });
        assert_eq!((status, body), (404, json!({ "error": error, "request_id": id })), "{method} {path}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_an_address_has_not_is_told_those_that_it_has() {
    let (service, token) = administered().await;
    for (method, path, allowed) in [
        ("DELETE", "/health/live", &["GET", "HEAD"][..]),
        ("GET", "/api/oauth/token", &["POST"]),
        ("PUT", "/login", &["GET", "HEAD", "POST"]),
        ("POST", "/api/v1/openapi.json", &["GET", "HEAD"]),
        ("GET", "/api/v1/ext/sql", &["POST"]),
        ("PUT", "/api/v1/tokens", &["GET", "HEAD", "POST"]),
    ] {
        let request = service.http.request(method.parse().unwrap(), service.url(path)).bearer_auth(&token);
        let answer = request.send().await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        let (id, media, allow) = (header("x-request-id"), header("content-type"), header("allow"));
        let mut listed: Vec<&str> = allow.split(',').collect();
        listed.sort_unstable();
        assert_eq!((&listed[..], &*media), (allowed, "application/json"), "{method} {path}");
        let (status, body) = json_of(answer).await;
        let error = &body["error"];
        assert_eq!(
            (status, &error["code"], &body["request_id"]),
            (405, &json!("invalid_argument"), &json!(id)),
            "{body}"
        );
        assert_eq!(error["details"]["field"], "method", "{body}");
        let mut told: Vec<&str> =
            error["details"]["allowed"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
        told.sort_unstable();
        assert_eq!(told, listed, "{body}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(method) && allowed.iter().all(|name| message.contains(name)), "{message}");
    }
    let head = service.http.head(service.url("/api/oauth/token")).send().await.unwrap();
    assert_eq!((head.status().as_u16(), head.headers()["allow"].to_str().unwrap()), (405, "POST"));
    assert_eq!(head.text().await.unwrap(), "");
    // What is guarded asks for a credential before it says anything.
    let stranger = service.http.get(service.url("/api/v1/ext/sql")).send().await.unwrap();
    assert_eq!(stranger.status(), 401);
    service.stop().await;
}
