//! An ontology of as many datasets and fields as one may have, over real tables.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dragoman::model::access::Role;
use dragoman::store;
use serde_json::{Value, json};

use crate::support::databases::both;
use crate::support::service::{Service, json_of};

const TABLES: usize = 10;
const DATASETS: usize = 1_000;
const FIELDS: usize = 20;
const REPLY: usize = 130_000;
const GUIDE: usize = 24 << 10;

/// Three rows of twenty columns: a number, an amount, and texts.
fn rows() -> String {
    let notes = |row: usize| (2..FIELDS).map(|at| format!(",note {row} {at}")).collect::<String>();
    let head: String = (2..FIELDS).map(|at| format!(",note_{at}")).collect();
    let amounts = ["10.5", "20.25", "29.25"];
    let rows = amounts.iter().enumerate().map(|(row, amount)| format!("{row},{amount}{}\n", notes(row)));
    format!("id,amount{head}\n{}", rows.collect::<String>())
}

/// About seven megabytes.
fn document() -> String {
    let mut text = "version: 0.2.0.dev0\nname: orchards\ndatasets:\n".to_owned();
    let about = "What somebody wrote of it, at length. ".repeat(6);
    let field = |text: &mut String, name: &str, datatype: &str| {
        let expression = format!("{{dialects: [{{dialect: ANSI_SQL, expression: {name}}}]}}");
        writeln!(
            text,
            "      - {{name: {name}, expression: {expression}, datatype: {datatype}, description: '{about}'}}"
        )
        .unwrap();
    };
    for at in 0..DATASETS {
        let table = at % TABLES;
        let head = format!("  - name: plot_{at}\n    source: part_{table}\n    primary_key: [id]\n");
        writeln!(text, "{head}    description: '{about}'\n    fields:").unwrap();
        field(&mut text, "id", "Integer");
        field(&mut text, "amount", "Float");
        (2..FIELDS).for_each(|note| field(&mut text, &format!("note_{note}"), "String"));
    }
    text += "metrics:\n  - name: harvest\n    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(plot_500.amount)}]}\n    \
             datatype: Float\n    custom_extensions: [{vendor_name: DRAGOMAN, data: {additivity: additive}}]\n";
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ontology_of_a_thousand_datasets_is_saved_checked_listed_read_and_asked() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
    for table in 0..TABLES {
        service.import(&org, &format!("part_{table}.csv"), rows().as_bytes(), true).await.unwrap();
    }
    let manage = async |method: &str, path: &str, body: Option<Value>| {
        let (status, body) = service.manage(&admin, method, path, body).await;
        assert_eq!(status, 200, "{method} {path}: {}", &body.to_string()[..500.min(body.to_string().len())]);
        body
    };
    let text = document();
    assert!(text.len() > 6 << 20, "{} bytes", text.len());
    let saved = manage("POST", "/ontologies", Some(json!({ "text": text }))).await;
    let standing = &saved["ontology"];
    assert_eq!((&standing["dataset_count"], &standing["field_count"]), (&json!(DATASETS), &json!(DATASETS * FIELDS)));
    assert_eq!(standing["status"], "draft", "{}", saved["problems"]);
    let id = standing["ontology_id"].as_str().unwrap();
    let checked = manage("POST", &format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{}", checked["ontology"]);
    assert_eq!(manage("GET", "/ontologies", None).await["ontologies"][0]["name"], "orchards");
    let kept = manage("GET", &format!("/ontologies/{id}/text"), None).await;
    assert!(kept["text"] == text, "as it was saved");
    assert!(kept["graph_svg"].as_str().unwrap().contains("plot_999"));

    // What clients read of it comes in pages that fit into replies.
    let listed = json_of(service.get("/api/v1/ext/ontologies", &admin).send().await.unwrap()).await.1;
    assert_eq!(listed["ontologies"][0]["datasetCount"], DATASETS);
    let read = async |cursor: &str| {
        let path = format!("/api/v1/ext/ontologies/{id}{cursor}");
        json_of(service.get(&path, &admin).send().await.unwrap()).await
    };
    let (mut names, mut metrics, mut pages, mut cursor) = (BTreeSet::new(), 0, 0, String::new());
    loop {
        let (status, page) = read(&cursor).await;
        assert!(status == 200 && page.to_string().len() <= REPLY, "{status}: {} bytes", page.to_string().len());
        let datasets = page["datasets"].as_array().unwrap();
        assert!(datasets.iter().all(|one| names.insert(one["name"].as_str().unwrap().to_owned())), "each once");
        metrics += page["metrics"].as_array().unwrap().len();
        pages += 1;
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("?cursor={next}");
    }
    assert_eq!((names.len(), metrics), (DATASETS, 1));
    assert!(pages > 1, "it does not fit into one");
    let (status, refused) = read("?cursor=bm90aGluZw").await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("cursor")), "{refused}");
    let resource = async |uri: String| {
        let (_, body) =
            json_of(service.rpc(&admin, "resources/read", json!({ "uri": uri })).send().await.unwrap()).await;
        let text = body["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{body}"));
        serde_json::from_str::<Value>(text).unwrap()
    };
    let first = resource(format!("dragoman://ontologies/{id}")).await;
    let next = first["next_cursor"].as_str().unwrap();
    let second = resource(format!("dragoman://ontologies/{id}?cursor={next}")).await;
    assert_ne!(first["datasets"][0], second["datasets"][0]);

    // What models are told of it has room in one reply, and words find what there is.
    let told = async |about: &str| {
        let path = format!("/api/v1/ext/query/ontology?ontologyId=orchards&about={about}");
        let text = service.get(&path, &admin).send().await.unwrap().text().await.unwrap();
        assert!(text.len() <= GUIDE, "{about}: {} bytes", text.len());
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let all = told("").await;
    assert!(all["metrics"][0].as_str().unwrap().starts_with("harvest = SUM(plot_500.amount)"), "{all}");
    assert!(all["leftOut"].as_str().unwrap().contains("plot_"), "{all}");
    let one = told("plot%20777").await;
    let found = one["datasets"].as_array().unwrap().iter().find(|it| it["dataset"].to_string().contains("plot_777"));
    assert!(found.unwrap()["fields"].to_string().contains("amount number"), "{one}");
    let harvest = told("harvest").await;
    let datasets = harvest["datasets"].as_array().unwrap();
    assert!(datasets.len() == 1 && datasets[0]["dataset"].to_string().contains("plot_500"), "{harvest}");
    let body = json!({ "measures": ["harvest"] });
    let (status, answer) = json_of(service.post("/api/v1/ext/query", &admin).json(&body).send().await.unwrap()).await;
    assert_eq!((status, &answer["table"]["rows"]), (200, &json!([[60.0]])), "{answer}");

    let body = json!({ "ontologyId": id, "question": "harvest" });
    let (status, answer) = json_of(service.post("/api/v1/ext/ask", &admin).json(&body).send().await.unwrap()).await;
    assert_eq!((status, &answer["outcome"]), (200, &json!("answer")), "{answer}");
    assert_eq!(answer["table"]["rows"].to_string(), "[[60.0]]", "10.5 + 20.25 + 29.25");
    service.stop().await;
}

#[tokio::test]
async fn of_long_texts_fewer_versions_are_kept_and_the_newest_always() {
    both(async |db| {
        let clock = dragoman::base::clock::Clock::manual(1_790_000_000_000);
        let config = std::sync::Arc::new(dragoman::config::Config::read(|_| None).unwrap());
        let master = dragoman::base::secret::MasterKey::generate();
        let identity = dragoman::identity::Identity::open(db.clone(), config, master, clock.clone()).await.unwrap();
        let org = identity.create_org("acme", "Acme").await.unwrap().id;
        let mut stored = dragoman::model::ontology::StoredOntology {
            id: dragoman::base::id::Id::new(&clock),
            org,
            name: "long".into(),
            description: String::new(),
            status: dragoman::model::ontology::Status::Draft,
            problem: String::new(),
            version: 1,
            dataset_count: 1,
            field_count: 1,
            created_at: 0,
            updated_at: 0,
        };
        let mut tx = db.tenant(org).await.unwrap();
        assert!(store::ontologies::insert(&mut tx, &stored).await.unwrap());
        for version in 1..=6 {
            stored.version = version;
            store::ontologies::keep(&mut tx, &stored, &"ä".repeat(100), "", None).await.unwrap();
        }
        let mut left = async |keep: i64, characters: i64| {
            store::ontologies::prune(&mut tx, org, stored.id, 6, (keep, characters)).await.unwrap();
            let kept = store::ontologies::history(&mut tx, org, stored.id).await.unwrap();
            kept.iter().map(|it| it.version).collect::<Vec<_>>()
        };
        assert_eq!(left(5, 1_000).await, [6, 5, 4, 3, 2], "by number");
        assert_eq!(left(5, 300).await, [6, 5, 4], "by what they hold together");
        assert_eq!(left(5, 99).await, [6], "the newest whatever it holds");
        tx.commit().await.unwrap();
    })
    .await;
}
