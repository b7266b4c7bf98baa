//! What is made ready before a question is understood: the values that it may name, and what the data hold.

use dragoman::model::access::{Role, Scope};
use dragoman::ops::questions::InspectTrace;
use serde_json::{Value, json};

use super::Bakery;
use crate::support::service::{Service, json_of};

/// A trace of what the admin asked.
async fn trace(bakery: &Bakery, reply: &Value) -> Value {
    let trace_id = reply["traceId"].as_str().unwrap().parse().unwrap();
    let trace = bakery.console(InspectTrace { trace_id }).await.unwrap();
    trace["trace"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_checked_against_what_the_fields_hold() {
    let bakery = Bakery::start().await;
    // Who asked sees how it was read; nobody else does.
    let reply = ask(&bakery.service, &bakery.admin, &bakery.ontology, "average pieces by product").await;
    assert_eq!(reply["outcome"], "answer", "{reply}");
    let trace = trace(&bakery, &reply).await;
    let says: Vec<&str> = trace["checks"].as_array().unwrap().iter().filter_map(|it| it["says"].as_str()).collect();
    // Between 1 and 10 pieces are in each sale, and so is their mean.
    assert!(says.iter().any(|says| says.ends_with("are what they can be.")), "{says:?}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_without_data_is_told_with_the_time_that_has_some() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue in 2019", None).await;
    let told = reply["narrative"].as_str().unwrap();
    assert!(told.contains("The data on sales are from 2025-01-10 to 2025-02-28."), "{reply}");
    let reply = bakery.ask("number of sales in January 2025 in Bruges", None).await;
    assert!(!reply["narrative"].as_str().unwrap().contains("The data on"), "{reply}");
    bakery.service.stop().await;
}

/// A note of 1.5 million letters, a field whose values are too wide for any answer, and one of addresses.
async fn notes() -> (Service, String, String) {
    let service = Service::start().await;
    let org = service.workspace("notes").await;
    let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
    let long = "a".repeat(1_500_000);
    let table = format!(
        "id,note,kind,reached_at\n1,short,south,bo@example.org\n2,{long},north,ada@example.org\n3,brief,south,cy@example.org\n"
    );
    service.import(&org, "notes.csv", table.as_bytes(), true).await.unwrap();
    let field = |name: &str, expression: &str, datatype: &str, data: &str| {
        format!(
            "      - {{name: {name}, expression: {{dialects: [{{dialect: ANSI_SQL, expression: \"{expression}\"}}]}}, \
             datatype: {datatype}, custom_extensions: [{{vendor_name: DRAGOMAN, data: {{{data}}}}}]}}\n"
        )
    };
    let text = format!(
        "version: 0.2.0.dev0\nname: notes\ndatasets:\n  - name: entry\n    source: notes\n    primary_key: [id]\n    \
         fields:\n      - {{name: id, expression: {{dialects: [{{dialect: ANSI_SQL, expression: id}}]}}, datatype: Integer}}\n{}{}{}{}",
        field("note", "note", "String", "role: dimension, index_values: true"),
        field("kind", "kind", "String", "role: dimension"),
        field("reached_at", "reached_at", "String", "role: dimension"),
        field("wide", "note || note", "Opaque", "role: dimension"),
    );
    let (status, made) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": text }))).await;
    assert_eq!(status, 200, "{made}");
    let ontology = made["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let (_, checked) = service.manage(&admin, "POST", &format!("/ontologies/{ontology}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    let scopes = [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead];
    let client = service.access_token(&org, Role::Contributor, &scopes).await;
    (service, client, ontology)
}

async fn ask(service: &Service, client: &str, ontology: &str, question: &str) -> Value {
    let body = json!({ "ontologyId": ontology, "question": question });
    let (status, reply) = json_of(service.post("/api/v1/ext/ask", client).json(&body).send().await.unwrap()).await;
    assert_eq!(status, 200, "{question}: {reply}");
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_cannot_be_prepared_take_nothing_from_the_others() {
    let (service, client, ontology) = notes().await;
    let reply = ask(&service, &client, &ontology, "how many entries with kind south?").await;
    assert_eq!((&reply["outcome"], &reply["table"]["rows"]), (&json!("answer"), &json!([[2]])), "{reply}");
    let reply = ask(&service, &client, &ontology, "how many entries with note brief?").await;
    assert_eq!((&reply["outcome"], &reply["table"]["rows"]), (&json!("answer"), &json!([[1]])), "{reply}");

    // The answer says what is not known beside the word.
    let reply = ask(&service, &client, &ontology, "how many entries of gribble?").await;
    assert_eq!(reply["outcome"], "cannot_answer", "{reply}");
    let told = reply["narrative"].as_str().unwrap();
    assert!(told.contains("The values of entry.wide could not be read."), "{told}");
    assert!(told.contains("The values of entry.reached_at look personal (email)"), "{told}");
    assert!(!told.contains("example.org"), "{told}");

    // Comparing this with the long note would take 23 GB.
    let question = format!("how many entries where note is \"{}\"?", "y".repeat(1_900));
    let reply = ask(&service, &client, &ontology, &question).await;
    assert!(!reply["narrative"].as_str().unwrap().contains("aaaaaaaa"), "{}", reply["outcome"]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_are_all_answered() {
    let bakery = Bakery::start().await;
    let asked = (0..3).map(|_| bakery.ask("revenue in January 2025", None));
    for reply in futures_util::future::join_all(asked).await {
        assert_eq!(reply["table"]["rows"], json!([[13.0]]), "{reply}");
    }
    bakery.service.stop().await;
}
