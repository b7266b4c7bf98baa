//! When a dataset is deleted, what questions over it left goes too: it holds values of rows.

use dragoman::base::id::Id;
use dragoman::model::ontology::StoredOntology;
use dragoman::model::run::Memory;
use dragoman::ops::delete_dataset::DeleteDataset;
use dragoman::ops::list_datasets::ListDatasets;
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};
use dragoman::store::questions::{self, Whose};
use dragoman::store::{Db, datasets, ontologies, ontology_tables};
use serde_json::json;

use super::{Bakery, SHOPS, in_store};
use crate::support::service::Service;

/// Questions, conversations with a state, remembered things and attestations of an ontology.
async fn left(
    db: &Db,
    bakery: &Bakery,
    id: Id<StoredOntology>,
    conversations: &[String],
) -> (usize, usize, usize, bool) {
    let org = bakery.org.id;
    let mut read = db.read_tenant(org).await.unwrap();
    let runs = questions::runs(&mut read, org, id, &Whose::Everybodys, None, 100).await.unwrap().len();
    let mut kept = 0;
    for conversation in conversations {
        let found = questions::conversation(&mut read, org, conversation.parse().unwrap()).await.unwrap();
        kept += usize::from(found.is_some_and(|it| it.ontology == id));
    }
    let remembered = questions::remembered(&mut read, org, id).await.unwrap().len();
    let attested = ontologies::attested(&mut read, org, id).await.unwrap().unwrap().found.is_some();
    (runs, kept, remembered, attested)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_questions_over_an_erased_dataset_left_is_gone_and_that_over_others_stays() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        // Over sales alone; it says "shops", and does not use the table.
        let text = "version: 0.2.0.dev0\nname: till\ndescription: What the shops take\ndatasets:\n  - name: sale\n    \
                    source: sales\n    primary_key: [sale_id]\n    fields:\n      - {name: sale_id, datatype: Integer, \
                    expression: {dialects: [{dialect: ANSI_SQL, expression: sale_id}]}}\nmetrics:\n  - name: takings\n    \
                    expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(sale.sale_id)}]}\n    datatype: Integer\n";
        let made = bakery.console(CreateOntology { text: text.into(), summary: String::new() }).await.unwrap();
        let till: Id<StoredOntology> = made["ontology"]["ontology_id"].as_str().unwrap().parse().unwrap();
        let checked = bakery.console(CheckOntology { ontology_id: till }).await.unwrap();
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        let first = bakery.ask("revenue of Corner", None).await;
        assert_eq!(first["table"]["rows"], json!([[18.0]]), "{first}");
        bakery.remember(&first, Memory::Verified).await.unwrap();
        let ask = json!({ "ontologyId": till, "question": "takings" });
        let op: dragoman::ops::ask_question::AskQuestion = serde_json::from_value(ask).unwrap();
        let other = bakery.console(op).await.unwrap();
        assert_eq!(other["table"]["rows"], json!([[5]]), "{other}");
        let talks = [&first, &other].map(|reply| reply["conversationId"].as_str().unwrap().to_owned());
        let (bakers, db) = (bakery.ontology.parse().unwrap(), &bakery.service.db);
        assert_eq!(left(db, &bakery, bakers, &talks).await, (1, 1, 1, true));

        let listed = bakery.console(ListDatasets::default()).await.unwrap();
        let shops = listed["datasets"].as_array().unwrap().iter().find(|it| it["name"] == "shops").unwrap().clone();
        let dataset_id = shops["id"].as_str().unwrap().parse().unwrap();
        bakery.console(DeleteDataset { dataset_id, name: "shops".into() }).await.unwrap();
        assert_eq!(left(db, &bakery, bakers, &talks).await, (0, 0, 0, false));
        assert_eq!(left(db, &bakery, till, &talks).await, (1, 1, 0, true), "the other does not use it");
        let (status, refused) = bakery.try_ask("revenue of Corner").await;
        assert_ne!(status, 200, "{refused}");
        assert!(!refused.to_string().contains("Corner"), "{refused}");

        // The table comes back: compared again, and answered.
        bakery.service.import(&bakery.org, "shops.csv", SHOPS, true).await.unwrap();
        let again = bakery.ask("revenue of Corner", None).await;
        assert_eq!((&again["table"]["rows"], &again["verified"]), (&json!([[18.0]]), &json!(true)), "{again}");
        bakery.service.stop().await;
    })
    .await;
}

/// Of the till alone; `source` as it is written in YAML.
fn till(name: &str, source: &str) -> String {
    format!(
        "version: 0.2.0.dev0\nname: {name}\ndatasets:\n  - name: sale\n    source: {source}\n    \
         primary_key: [sale_id]\n    fields:\n      - {{name: sale_id, datatype: Integer, expression: \
         {{dialects: [{{dialect: ANSI_SQL, expression: sale_id}}]}}}}\nmetrics:\n  - name: takings\n    expression: \
         {{dialects: [{{dialect: ANSI_SQL, expression: COUNT(sale.sale_id)}}]}}\n    datatype: Integer\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_found_however_its_name_is_written_and_in_texts_of_before() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let text = till("escaped", "\"w.s\\u0061LES\"");
        assert!(!text.contains("sales"), "{text}");
        let made = bakery.console(CreateOntology { text, summary: String::new() }).await.unwrap();
        let escaped: Id<StoredOntology> = made["ontology"]["ontology_id"].as_str().unwrap().parse().unwrap();
        let checked = bakery.console(CheckOntology { ontology_id: escaped }).await.unwrap();
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        // Their tables were not kept with them.
        let older = in_store(&bakery, "older", &till("older", "sales")).await;
        let beside = in_store(&bakery, "beside", &till("beside", "shops")).await;
        let ancient = in_store(&bakery, "ancient", "ontology: of before\n").await;
        let ask = async |id: Id<StoredOntology>| {
            let ask = json!({ "ontologyId": id, "question": "takings" });
            let op: dragoman::ops::ask_question::AskQuestion = serde_json::from_value(ask).unwrap();
            bakery.console(op).await.map(|reply| reply["table"]["rows"].clone())
        };
        assert_eq!(ask(escaped).await.unwrap(), json!([[5]]));
        let (org, db) = (bakery.org.id, &bakery.service.db);
        let unknown = async || {
            let mut read = db.read_tenant(org).await.unwrap();
            ontology_tables::unknown(&mut read, org).await.unwrap().len()
        };
        assert_eq!(unknown().await, 3);

        let listed = bakery.console(ListDatasets::default()).await.unwrap();
        let sales = listed["datasets"].as_array().unwrap().iter().find(|it| it["name"] == "sales").unwrap().clone();
        let dataset_id = sales["id"].as_str().unwrap().parse().unwrap();
        bakery.console(DeleteDataset { dataset_id, name: "sales".into() }).await.unwrap();
        assert_eq!((left(db, &bakery, escaped, &[]).await, unknown().await), ((0, 0, 0, false), 0));
        let mut read = db.read_tenant(org).await.unwrap();
        let mut using = ontology_tables::using(&mut read, org, "Sales").await.unwrap();
        using.retain(|it| it.ontology.to_string() != bakery.ontology);
        let mut expected = [escaped, older, ancient];
        expected.sort_by_key(ToString::to_string);
        assert_eq!(using.iter().map(|it| it.ontology).collect::<Vec<_>>(), expected);
        for (id, problem) in [(escaped, "`sales`"), (older, "`sales`"), (ancient, "`sales`"), (beside, "")] {
            let stored = ontologies::by_id(&mut read, org, id).await.unwrap().unwrap();
            assert_eq!(stored.problem.is_empty(), problem.is_empty(), "{stored:?}");
            assert!(stored.problem.contains(problem), "{stored:?}");
        }
        drop(read);
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_went_meanwhile_cannot_be_held() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let (org, db) = (bakery.org.id, &bakery.service.db);
        let mut tx = db.tenant(org).await.unwrap();
        let all: Vec<_> = datasets::list(&mut tx, org).await.unwrap().iter().map(|it| it.id).collect();
        assert_eq!(all.len(), 2);
        assert!(datasets::hold(&mut tx, db.backend(), org, &all).await.unwrap());
        assert!(datasets::delete(&mut tx, org, all[1]).await.unwrap());
        assert!(!datasets::hold(&mut tx, db.backend(), org, &all).await.unwrap());
        assert!(datasets::hold(&mut tx, db.backend(), org, &all[..1]).await.unwrap());
        drop(tx);
        bakery.service.stop().await;
    })
    .await;
}
