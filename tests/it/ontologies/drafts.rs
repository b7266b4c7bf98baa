//! Drafts: with what a server declares, with what people wrote, and in the words of a language model.

use std::sync::Arc;

use dragoman::engine::ontology::read::read;
use dragoman::identity::workspace_settings::Change;
use dragoman::model::access::Role;
use dragoman::model::ontology::{Confidence, Field, Ontology};
use dragoman::model::org::Egress;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::console::{person, send, token};
use crate::models::provider::{Answer, Provider};
use crate::site::field;
use crate::sources::{OPEN, Ready, Shop};
use crate::support::service::{Service, json_of};

/// Names tell nothing here: a number, a place in a day, and somebody.
const TICKETS: &str = "
CREATE TYPE mood AS ENUM ('glad', 'sad', 'furious');
CREATE TABLE tickets (nr int PRIMARY KEY, slot text NOT NULL UNIQUE, lane text UNIQUE, who int NOT NULL
    REFERENCES customers, state mood NOT NULL);
CREATE UNIQUE INDEX ON tickets (who) WHERE state = 'sad';
COMMENT ON COLUMN tickets.slot IS 'When it is served';
INSERT INTO tickets VALUES (1, 'a', NULL, 1, 'sad'), (2, 'b', NULL, 2, 'glad'), (3, 'c', 'x', 3, 'sad');
";

fn ontology(made: &Value) -> Ontology {
    read(made["text"].as_str().unwrap_or_else(|| panic!("{made}"))).unwrap().ontology
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_has_what_the_server_declares() {
    let service = Service::with(&[OPEN]).await;
    let shop = Shop::open().await;
    shop.admin(TICKETS).await;
    shop.admin(&format!("GRANT SELECT ON tickets TO {}; ANALYZE;", shop.reader)).await;
    let ready = Ready::with(&service, shop).await;
    let manage =
        async |method: &str, path: &str, body: Option<Value>| service.manage(&ready.admin, method, path, body).await;
    let (status, made) = manage("POST", "/ontologies/draft", Some(json!({ "name": "shop" }))).await;
    assert_eq!(status, 200, "{made}");
    let drafted = ontology(&made);
    let tickets = drafted.entity("tickets").unwrap();
    // The partial index is no key, and a key with NULLs tells no rows apart.
    assert_eq!(
        (tickets.primary_key.as_slice(), tickets.unique_keys.as_slice()),
        (["nr".to_owned()].as_slice(), [vec!["slot".to_owned()]].as_slice())
    );
    assert_eq!(tickets.field("slot").unwrap().description, "When it is served");
    let state = tickets.field("state").unwrap();
    assert_eq!((state.is_enum, state.hidden), (true, false));
    // Nobody is furious today.
    assert_eq!(state.value_synonyms.keys().collect::<Vec<_>>(), ["furious", "glad", "sad"]);
    let references: Vec<(&str, &str, &str, Confidence)> = drafted
        .relationships
        .iter()
        .map(|it| (it.from.as_str(), it.from_columns[0].as_str(), it.to.as_str(), it.confidence))
        .collect();
    assert_eq!(
        references,
        [
            ("orders", "customer", "customers", Confidence::Declared),
            ("tickets", "who", "customers", Confidence::Declared)
        ]
    );
    assert_eq!(drafted.field("orders", "total").unwrap().description, "in euros");

    // It is asked as it is.
    let (_, saved) = manage("POST", "/ontologies", Some(json!({ "text": made["text"] }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let (_, checked) = manage("POST", &format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    let body = json!({ "ontologyId": id, "question": "number of tickets by state" });
    let (_, reply) = json_of(service.post("/api/v1/ext/ask", &ready.token).json(&body).send().await.unwrap()).await;
    assert_eq!(reply["outcome"], "answer", "{reply}");
    let rows = reply["table"]["rows"].to_string();
    assert!(rows.contains(r#"["sad",2]"#) && rows.contains(r#"["glad",1]"#), "{reply}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dictionary_and_a_time_zone_are_written_into_a_draft() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "visits.csv", b"visit_id,wrd,day\n1,A,2024-01-01\n2,B,2024-01-02\n", true).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let draft = async |more: Value| {
        let mut body = json!({ "name": "hospital" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await
    };
    let dictionary = "| table | column | description | synonyms |\n|---|---|---|---|\n\
                      | visits | wrd | Where the patient lay | ward; station |\n| visits | room | x | |\n";
    let (status, made) = draft(json!({ "dictionary": dictionary, "timezone": "Asia/Tokyo" })).await;
    assert_eq!(status, 200, "{made}");
    let drafted = ontology(&made);
    assert_eq!(drafted.calendar.timezone, "Asia/Tokyo");
    let ward = drafted.field("visits", "wrd").unwrap();
    assert_eq!(
        (ward.description.as_str(), ward.ai.synonyms.join(",")),
        ("Where the patient lay", "ward,station".into())
    );
    assert!(made["notes"].to_string().contains("The dictionary names a column room of visits"), "{made}");

    for (wrong, says) in [
        (json!({ "timezone": "Tokio" }), "is not a time zone. Write an IANA name"),
        (json!({ "dictionary": "a,b\n1,2\n" }), "The first line names the columns"),
    ] {
        let (status, refused) = draft(wrong).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(says), "{refused}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_is_made_of_parts_that_are_a_date_in_every_row() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let dates = b"state,year,month,day,count\nN,2001,1,31,5\nS,2001,2,28,7\nN,2004,2,29,6\nS,2004,,,1\n";
    let others = b"state,year,month,day,count\nN,2001,1,31,5\nS,2001,2,28,7\nN,2004,0,1,6\nS,2004,12,99,1\n";
    service.import(&org, "births.csv", dates, true).await.unwrap();
    service.import(&org, "deaths.csv", others, true).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let body = json!({ "name": "people" });
    let (status, made) = service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await;
    assert_eq!(status, 200, "{made}");
    let drafted = ontology(&made);
    assert!(drafted.field("births", "date").is_some() && drafted.field("deaths", "date").is_none(), "{made}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_count_since_1970_and_months_of_a_year_are_times() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let visits = b"visit_id,created_at,fee\n1,1609459200,5\n2,1609545600,7\n3,1612137600,6\n4,0,8\n";
    let rents = b"rent_id,year,month,rent\n1,2020,12,500\n2,2021,1,510\n3,2021,2,520\n4,2021,,530\n";
    service.import(&org, "visits.csv", visits, true).await.unwrap();
    service.import(&org, "rents.csv", rents, true).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let manage = async |path: &str, body: Option<Value>| service.manage(&admin, "POST", path, body).await;
    let (status, made) = manage("/ontologies/draft", Some(json!({ "name": "house" }))).await;
    assert_eq!(status, 200, "{made}");
    let drafted = ontology(&made);
    let time = |name: &str| drafted.entity(name).unwrap().default_time_field.clone();
    assert_eq!((time("visits").as_deref(), time("rents").as_deref()), (Some("created_at"), Some("date")), "{made}");

    // The engine computes both.
    let (_, saved) = manage("/ontologies", Some(json!({ "text": made["text"] }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let (_, checked) = manage(&format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_dbt_declares_what_no_name_tells() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "wards.csv", b"w,label\n7,North\n8,South\n", true).await.unwrap();
    let visits = b"v,whr,score,state\n1,7,3,1\n2,8,4,2\n3,7,5,1\n";
    service.import(&org, "visits.csv", visits, true).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let dictionary = r#"
version: 2
models:
  - name: wards
    columns:
      - {name: w, data_tests: [unique, not_null]}
  - name: visits
    description: One row per stay.
    columns:
      - {name: v, tests: [unique, not_null]}
      - {name: whr, tests: [unique, not_null, {relationships: {to: ref('wards'), field: w}}]}
      - {name: state, data_tests: [{accepted_values: {arguments: {values: [1, 2], quote: false}}}]}
"#;
    let body = json!({ "name": "hospital", "dictionary": dictionary });
    let (status, made) = service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await;
    assert_eq!(status, 200, "{made}");
    let drafted = ontology(&made);
    let (wards, visits) = (drafted.entity("wards").unwrap(), drafted.entity("visits").unwrap());
    assert_eq!((wards.primary_key.join(","), visits.primary_key.join(",")), ("w".into(), "v".into()));
    assert_eq!(visits.description, "One row per stay.");
    assert!(visits.field("state").unwrap().is_enum, "{made}");
    let reference = drafted.relationships.first().unwrap();
    assert_eq!((reference.from_columns.join(","), reference.to.as_str()), ("whr".into(), "wards"));
    assert_eq!(reference.confidence, Confidence::Declared);
    let evidence = made["evidence"].to_string();
    assert!(evidence.contains("The dictionary declares it."), "{evidence}");
    // Two visits are in one ward, whatever is tested.
    assert!(made["notes"].to_string().contains("whr is a key of visits, but several rows"), "{made}");

    let body = json!({ "name": "hospital", "dictionary": "models:\n  - description: x\n" });
    let (status, refused) = service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await;
    assert_eq!(status, 400, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("Line 2: A table needs a name"), "{refused}");
    service.stop().await;
}

/// What a model may not change.
fn bare(mut ontology: Ontology) -> Ontology {
    let clear = |field: &mut Field| {
        field.description.clear();
        field.ai.synonyms.clear();
    };
    for entity in &mut ontology.datasets {
        entity.description.clear();
        entity.ai.synonyms.clear();
        entity.fields.iter_mut().for_each(clear);
    }
    ontology
}

#[tokio::test(flavor = "multi_thread")]
async fn a_language_model_adds_words_to_a_draft_and_nothing_else() {
    let answer = json!({
        "description": "A stay of a patient.",
        "synonyms": ["hospital stays"],
        "fields": [
            { "name": "ward", "description": "The ward, see https://evil.example", "synonyms": ["station", "day"] },
            { "name": "minutes", "description": "How long it took.", "synonyms": [] },
            { "name": "secret", "description": "Not there.", "synonyms": ["hidden"] }
        ]
    });
    let provider = Provider::start(vec![Answer::Object(answer), Answer::Refusal]).await;
    let service = Service::with(&[
        ("DRAGOMAN_LLM_PROVIDER", "openai"),
        ("DRAGOMAN_LLM_URL", &provider.url),
        ("DRAGOMAN_LLM_API_KEY", crate::models::KEY),
        ("DRAGOMAN_LLM_MODEL", "model-1"),
    ])
    .await;
    let org = service.workspace("acme").await;
    let rows = b"visit_id,ward,minutes,day\n1,CANARY-1,30,2024-01-01\n2,CANARY-2,40,2024-01-02\n";
    service.import(&org, "visits.csv", rows, true).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let draft = async |improve: bool| {
        let body = json!({ "name": "hospital", "improve": improve });
        let (status, made) = service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await;
        assert_eq!(status, 200, "{made}");
        made
    };
    let plain = ontology(&draft(false).await);
    // The workspace has not let anything be sent.
    let off = draft(true).await;
    assert_eq!((ontology(&off), provider.count()), (plain.clone(), 0));
    assert!(off["notes"].to_string().contains("No language model improved the words"), "{off}");

    let change = Change { llm_egress: Some(Egress::Allowed), ..Change::default() };
    service.identity.change_settings(org.id, None, change).await.unwrap();
    let made = draft(true).await;
    let better = ontology(&made);
    assert_eq!(bare(better.clone()), bare(plain.clone()));
    let visits = better.entity("visits").unwrap();
    assert_eq!(visits.description, "A stay of a patient.");
    assert!(visits.ai.synonyms.contains(&"hospital stays".to_owned()));
    let field = |name: &str| (visits.field(name).unwrap().description.clone(), visits.field(name).unwrap().ai.clone());
    // A link is nothing to keep, and a word that a column has is not given to another.
    assert_eq!((field("ward").0.as_str(), field("ward").1.synonyms), ("", vec!["station".to_owned()]));
    assert_eq!(field("minutes").0, "How long it took.");
    assert!(made["notes"].to_string().contains("A language model wrote 2 descriptions and 2 synonyms"), "{made}");
    assert!(provider.all().contains("minutes") && !provider.all().contains("CANARY"), "{}", provider.all());

    // Without an answer the draft stands.
    let refused = draft(true).await;
    assert_eq!(ontology(&refused), plain);
    assert!(refused["notes"].to_string().contains("the model declined to answer"), "{refused}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_while_a_draft_is_made_anew_is_not_written_over() {
    let told = Arc::new(Notify::new());
    let answer = json!({ "description": "A stay.", "synonyms": [], "fields": [] });
    let provider = Provider::start(vec![Answer::Held(told.clone(), answer)]).await;
    let service = Service::with(&[
        ("DRAGOMAN_LLM_PROVIDER", "openai"),
        ("DRAGOMAN_LLM_URL", &provider.url),
        ("DRAGOMAN_LLM_API_KEY", crate::models::KEY),
        ("DRAGOMAN_LLM_MODEL", "model-1"),
    ])
    .await;
    let org = service.workspace("acme").await;
    service.import(&org, "visits.csv", b"visit_id,minutes\n1,30\n2,40\n", true).await.unwrap();
    let change = Change { llm_egress: Some(Egress::Allowed), ..Change::default() };
    service.identity.change_settings(org.id, None, change).await.unwrap();
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let (_, made) = service.manage(&admin, "POST", "/ontologies/draft", Some(json!({ "name": "hospital" }))).await;
    let text = made["text"].as_str().unwrap();
    let (_, saved) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": text }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap_or_else(|| panic!("{saved}"));
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let edit = format!("/w/acme/ontologies/{id}/edit");

    // A colleague saves while the model thinks about the draft.
    let draft = async { send(&ann, &edit, "anew", &[("improve", "1")]).await.text().await.unwrap() };
    let theirs = format!("# Theirs.\n{text}");
    let colleague = async {
        provider.arrived.notified().await;
        let body = json!({ "text": theirs, "version": 1 });
        let (status, saved) = service.manage(&admin, "PUT", &format!("/ontologies/{id}"), Some(body)).await;
        assert_eq!(status, 200, "{saved}");
        told.notify_one();
    };
    let (drafted, ()) = tokio::join!(draft, colleague);
    assert!(drafted.contains("made from version 1") && field(&drafted, "was") == "1", "{drafted}");
    let csrf = token(&drafted);
    let form = [("csrf", csrf.as_str()), ("was", "1"), ("text", text)];
    let refused = ann.post(&edit, &form).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("Somebody saved version 2 meanwhile."));
    let (_, kept) = service.manage(&admin, "GET", &format!("/ontologies/{id}/text"), None).await;
    assert_eq!(kept["text"], theirs.as_str(), "{kept}");
    service.stop().await;
}

/// 10 customers, and orders of which three in four have a number that is no customer's.
async fn hardly_known(service: &Service, org: &dragoman::model::org::Org, more: &str) {
    let customers: String = (1..=10).map(|id| format!("{},Name{id}\n", id * 4)).collect();
    let orders: String = (1..=40).map(|id| format!("{},{id},{}{more}\n", id + 500, id * 10 % 70)).collect();
    let head = if more.is_empty() { "" } else { ",coupon" };
    let customers = format!("customer_id,name\n{customers}");
    let orders = format!("order_id,customer_id,amount{head}\n{orders}");
    service.import(org, "customers.csv", customers.as_bytes(), true).await.unwrap();
    service.import(org, "orders.csv", orders.as_bytes(), true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_kept_and_a_draft_made_anew_brings_only_what_is_new() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    hardly_known(&service, &org, "").await;
    let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
    let draft = async |body: Value| service.manage(&admin, "POST", "/ontologies/draft", Some(body)).await;
    let link =
        json!({ "from": "orders", "from_columns": ["customer_id"], "to": "customers", "to_columns": ["customer_id"] });
    let state = |made: &Value| {
        let evidence = made["evidence"].as_array().unwrap();
        let of = evidence.iter().find(|it| it["reference"]["link"] == link);
        of.unwrap_or_else(|| panic!("{made}"))["reference"]["state"].clone()
    };
    let (_, made) = draft(json!({ "name": "shop" })).await;
    assert_eq!((state(&made), ontology(&made).relationships.len()), (json!("left_out"), 0), "{made}");
    let (_, made) = draft(json!({ "name": "shop", "answers": [{ "link": link, "holds": true }] })).await;
    assert_eq!(state(&made), json!("confirmed"), "{made}");
    let relationship = &ontology(&made).relationships[0];
    assert_eq!((relationship.confidence, relationship.optional), (Confidence::Verified, true));
    let (_, made) = draft(json!({ "name": "shop", "answers": [{ "link": link, "holds": false }] })).await;
    assert_eq!((state(&made), ontology(&made).refused.len()), (json!("refused"), 1), "{made}");

    let wrong =
        json!({ "from": "orders", "from_columns": ["custmer_id"], "to": "customers", "to_columns": ["customer_id"] });
    let (status, refused) = draft(json!({ "name": "shop", "answers": [{ "link": wrong, "holds": true }] })).await;
    assert_eq!(status, 400, "{refused}");
    let says = "There is no custmer_id among the tables of this draft. Did you mean customer_id?";
    assert_eq!(refused["error"]["message"], says, "{refused}");

    // A person keeps the refusal, renames a field and writes beside it.
    let text = made["text"].as_str().unwrap();
    assert!(text.contains("- name: amount"), "{text}");
    let text = text.replacen("- name: amount", "# Gross, says Mara.\n      - name: paid", 1);
    let text = text.replace("orders.amount", "orders.paid");
    let (status, saved) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": text }))).await;
    assert_eq!(status, 200, "{saved}");
    let id = saved["ontology"]["ontology_id"].as_str().unwrap();
    let (_, same) = draft(json!({ "ontology_id": id })).await;
    assert_eq!((same["changes"].as_array(), same["text"].as_str()), (None, Some(text.as_str())), "{same}");
    hardly_known(&service, &org, ",yes").await;
    let (_, anew) = draft(json!({ "ontology_id": id })).await;
    assert_eq!(anew["changes"], json!(["The field `orders.coupon` was added."]), "{anew}");
    assert_eq!(state(&anew), json!("refused"), "{anew}");
    let anew_text = anew["text"].as_str().unwrap();
    assert!(anew_text.contains("# Gross, says Mara.") && anew_text.contains("- name: paid"), "{anew_text}");
    // Nothing is saved, and nobody else's ontology can be drafted anew.
    let (_, kept) = service.manage(&admin, "GET", &format!("/ontologies/{id}/text"), None).await;
    assert_eq!(kept["text"], text.as_str(), "{kept}");
    let other = service.workspace("other").await;
    let (_, stranger) = service.member(&other, "eve@other.example", Role::Admin).await;
    let (status, refused) =
        service.manage(&stranger, "POST", "/ontologies/draft", Some(json!({ "ontology_id": id }))).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("ontology_not_found")), "{refused}");
    service.stop().await;
}
