//! Columns that clients do not see: whatever a client asks, nothing tells of them, and people still see them.

use std::collections::BTreeMap;

use dragoman::gateway::Via;
use dragoman::model::access::{Role, Scope};
use dragoman::ops::get_schema::GetSchema;
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};
use dragoman::ops::prompt::GetPrompt;
use dragoman::ops::run_sql::RunSql;
use dragoman::ops::update_dataset::{UpdateDataset, Words};
use serde_json::{Value, json};

use super::{get, sql};
use crate::support::service::{Service, as_json, in_console, json_of, operator};

/// The pay is longer than any run of digits in an identifier, so that none can hold it by chance.
const STAFF: &str = "person,town,base_pay,grade
Ann,Oslo,4711471147114,a
Bo,Bergen,4712471247124,b
Cy,Oslo,4713471347134,b
";
/// The sum of it.
const PAYROLL: &str = "14137413741372";
const ONTOLOGY: &str = r#"version: "0.2.0.dev0"
name: people
description: Staff, and the base pay of each.
datasets:
  - name: staff
    source: staff
    primary_key: [person]
    fields:
      - {name: person, datatype: String, expression: {dialects: [{dialect: ANSI_SQL, expression: person}]}}
      - name: town
        datatype: String
        expression: {dialects: [{dialect: ANSI_SQL, expression: town}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"dimension","index_values":true}'}]
      - name: wage
        datatype: Integer
        expression: {dialects: [{dialect: ANSI_SQL, expression: base_pay}]}
        custom_extensions: [{vendor_name: DRAGOMAN, data: '{"role":"measure","default_aggregation":"sum"}'}]
metrics:
  - name: heads
    expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(staff.person)}]}
  - name: payroll
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(staff.wage)}]}
"#;

/// What the column is called.
const NAMES: [&str; 2] = ["base_pay", "base pay"];
/// What only somebody who sees the column knows.
const VALUES: [&str; 4] = ["4711471147114", "4712471247124", "4713471347134", PAYROLL];

fn tells_nothing(what: &str, answer: &Value) {
    let said = answer.to_string().to_lowercase();
    for secret in NAMES.iter().chain(&VALUES) {
        assert!(!said.contains(secret), "{what} tells {secret}: {said}");
    }
}

/// Whether a semantic query failed, and all of its reply: the text of it is written for models.
async fn queried(service: &Service, token: &str, arguments: &Value) -> (bool, Value) {
    let call = service.rpc(token, "tools/call", json!({ "name": "dragoman_query", "arguments": arguments }));
    let (_, body) = json_of(call.send().await.unwrap()).await;
    (body["result"]["isError"] == true, body["result"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_column_is_nowhere_for_clients() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let made = service.import(&org, "staff.csv", STAFF.as_bytes(), true).await.unwrap();
        let id = made["dataset_id"].as_str().unwrap().to_owned();
        let operator = operator(&org);
        let op = CreateOntology { text: ONTOLOGY.into(), summary: "First".into() };
        let ontology = service.gateway.call(&operator, op, Via::new("admin.call")).await.unwrap().reply;
        let ontology = serde_json::to_value(ontology).unwrap();
        let ontology = ontology["ontology"]["ontology_id"].as_str().unwrap().to_owned();
        let check: CheckOntology = serde_json::from_value(json!({ "ontology_id": ontology })).unwrap();
        service.gateway.call(&operator, check, Via::new("admin.call")).await.unwrap();
        let token = service.token(&org).await;
        let scopes = [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead, Scope::DatasetsWrite];
        let person = service.access_token(&org, Role::Contributor, &scopes).await;

        // While it is seen, a question knows it, and a large answer is kept for its next pages.
        let payroll = json!({ "ontologyId": ontology, "measures": ["payroll"] });
        let (failed, before) = queried(&service, &token, &payroll).await;
        assert!(!failed && before.to_string().contains(PAYROLL), "{before}");

        let hide = |hidden: bool| UpdateDataset {
            dataset_id: id.parse().unwrap(),
            title: None,
            description: None,
            columns: BTreeMap::new(),
            hidden: BTreeMap::from([("BASE_PAY".to_owned(), hidden)]),
            seen: Words::default(),
        };
        let hidden = as_json(service.gateway.call(&operator, hide(true), Via::new("admin.call")).await).unwrap();
        assert_eq!(hidden["hidden"], json!(["base_pay"]));

        for (who, token) in [("a token", &token), ("a client", &person)] {
            let tools = [
                ("dragoman_list_datasets", json!({})),
                ("dragoman_get_schema", json!({ "dataset_id": "staff" })),
                ("dragoman_preview_rows", json!({ "dataset_id": id })),
                ("dragoman_profile_dataset", json!({ "dataset_id": id })),
                ("dragoman_sql", json!({ "sql": "SELECT * FROM staff" })),
                ("dragoman_sql", json!({ "sql": "FROM staff" })),
                ("dragoman_sql", json!({ "sql": "DESCRIBE staff" })),
                ("dragoman_sql", json!({ "sql": "SUMMARIZE staff" })),
                ("dragoman_sql", json!({ "sql": "SELECT COLUMNS('.*') FROM staff" })),
                ("dragoman_sql", json!({ "sql": "SELECT s FROM staff s" })),
                ("dragoman_sql", json!({ "sql": "SELECT * EXCLUDE (town) FROM main.staff" })),
                ("dragoman_sql", json!({ "sql": "SELECT pay FROM staff" })),
                ("dragoman_sql", json!({ "sql": "SELECT base FROM staff" })),
                ("dragoman_sql", json!({ "sql": "SELECT count(*) FROM staff WHERE rowid = 0" })),
                ("dragoman_list_ontologies", json!({})),
                ("dragoman_get_ontology", json!({ "ontologyId": ontology })),
                ("list_ontologies", json!({})),
                ("get_ontology", json!({ "ontology_id": ontology })),
                ("get_ontology_dataset", json!({ "ontology_id": ontology, "name": "staff" })),
                ("ask_question", json!({ "ontologyId": ontology, "question": "total payroll by town" })),
                ("ask_question", json!({ "ontologyId": ontology, "question": "how many heads by town" })),
                ("dragoman_query", json!({ "ontologyId": ontology, "measures": ["heads"] })),
                ("search", json!({ "query": "staff" })),
                ("fetch", json!({ "id": format!("dataset:{id}") })),
                ("dragoman_prompt", json!({})),
            ];
            for (name, arguments) in tools {
                let response = service.rpc(token, "tools/call", json!({ "name": name, "arguments": arguments }));
                let (_, answer) = json_of(response.send().await.unwrap()).await;
                tells_nothing(&format!("{name} {arguments} to {who}"), &answer);
                assert_ne!(answer["error"]["code"], -32603, "{name}: {answer}");
            }
            // Named, it is a column that is not there; the question itself says the name, the answer adds nothing.
            for column in ["base_pay", "staff.base_pay", "\"base_pay\""] {
                for text in [
                    "SELECT {} FROM staff",
                    "SELECT person FROM staff WHERE {} > 4712471247123",
                    "SELECT max({}) FROM staff",
                ] {
                    let (status, refused) = sql(&service, token, json!({ "sql": text.replace("{}", column) })).await;
                    assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
                    assert!(!VALUES.iter().any(|value| refused.to_string().contains(value)), "{refused}");
                }
            }
            let (_, absent) = sql(&service, token, json!({ "sql": "SELECT xase_pay FROM staff" })).await;
            tells_nothing("a name beside it", &absent);
            let (failed, gone) = queried(&service, token, &payroll).await;
            assert!(failed, "a saved plan that used it: {gone}");
            assert!(!gone.to_string().contains(PAYROLL) && !gone.to_string().contains("base_pay"), "{gone}");
            for path in [format!("/datasets/{id}/schema"), format!("/datasets/{id}/profile"), "/datasets".to_owned()] {
                tells_nothing(&path, &get(&service, token, &path).await.1);
            }
            let (_, schema) = get(&service, token, &format!("/datasets/{id}/schema")).await;
            let names: Vec<&str> =
                schema["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["person", "town", "grade"], "the others are there");
        }

        // A client that may write data can neither find it nor show it.
        let describe = format!("/api/v1/datasets/{id}/description");
        let patch = async |body: Value| {
            let request = service.http.patch(service.url(&describe)).bearer_auth(&person).json(&body);
            json_of(request.send().await.unwrap()).await
        };
        let (status, shown) = patch(json!({ "hidden": { "town": true } })).await;
        assert_eq!(status, 403, "{shown}");
        let (status, refused) = patch(json!({ "columns": { "base_pai": "x" } })).await;
        assert_eq!(status, 400);
        tells_nothing("a near name", &refused);
        let (_, described) = patch(json!({ "title": "Staff" })).await;
        tells_nothing("the description", &described);
        let part = || reqwest::multipart::Part::bytes(b"nothing\n1\n".as_slice()).file_name("staff.csv");
        let form = reqwest::multipart::Form::new().text("if_exists", "append").part("file", part());
        let added = service.post("/api/v1/datasets", &person).multipart(form).send().await.unwrap();
        tells_nothing("rows that do not fit", &json_of(added).await.1);

        // It stays hidden in a new version, and people see it all the while.
        service.import(&org, "staff.csv", STAFF.as_bytes(), true).await.unwrap();
        let (_, rows) = sql(&service, &token, json!({ "sql": "FROM staff" })).await;
        tells_nothing("the next version", &rows);
        let (ann, browser) = crate::console::person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
        let console = in_console(&service, &org, ann.id, Role::Contributor);
        let schema = service.gateway.call(&console, GetSchema::of(id.parse().unwrap()), Via::new("console.call")).await;
        let schema = as_json(schema).unwrap();
        let column = &schema["columns"][2];
        assert_eq!((&column["name"], &column["hidden"]), (&json!("base_pay"), &json!(true)), "{schema}");
        let run: RunSql = serde_json::from_value(json!({ "sql": "SELECT sum(base_pay) FROM staff" })).unwrap();
        let ran = as_json(service.gateway.call(&console, run, Via::new("console.call")).await).unwrap();
        assert!(ran.to_string().contains(PAYROLL), "{ran}");

        // But what the console hands out for a client, and a command, say what a client sees.
        let (_, told) = get(&service, &token, "/prompt").await;
        assert!(told["prompt"].as_str().unwrap().contains("\"people\""), "the rest of the ontology is told: {told}");
        for caller in [&console, &operator] {
            let handed_out = service.gateway.call(caller, GetPrompt {}, Via::new("console.call")).await;
            assert_eq!(as_json(handed_out).unwrap()["prompt"], told["prompt"]);
        }
        for guide in ["prompt", "custom-gpt"] {
            let page = browser.get(&format!("/w/acme/connect/{guide}")).await.text().await.unwrap();
            assert!(page.contains("grade VARCHAR") && !page.contains("payroll"), "{page}");
            tells_nothing(guide, &page.into());
        }

        // Shown again, it is there again.
        service.gateway.call(&operator, hide(false), Via::new("admin.call")).await.unwrap();
        let (_, rows) = sql(&service, &token, json!({ "sql": "SELECT sum(base_pay) FROM staff" })).await;
        assert!(rows.to_string().contains(PAYROLL), "{rows}");
        service.stop().await;
    })
    .await;
}
