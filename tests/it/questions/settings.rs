//! What a person has set for themselves: the time of questions without one, and words of their own.

use dragoman::model::access::Role;
use dragoman::model::preferences::UserSettings;
use dragoman::model::run::Memory;
use serde_json::{Value, json};

use super::Bakery;
use crate::console::{person, token, was};
use crate::support::service::{Service, json_of};

async fn set(bakery: &Bakery, change: Value) -> (u16, Value) {
    bakery.service.manage(&bakery.admin, "PATCH", "/user-settings", Some(json!({ "dataAgent": change }))).await
}

async fn ask(bakery: &Bakery, who: &str, question: &str) -> Value {
    let body = json!({ "ontologyId": bakery.ontology, "question": question });
    let (status, reply) = json_of(bakery.service.post("/api/v1/ext/ask", who).json(&body).send().await.unwrap()).await;
    assert_eq!(status, 200, "{question}: {reply}");
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_s_own_time_holds_for_them_alone_and_is_said() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let (status, now) = set(&bakery, json!({ "defaultTimePeriod": "february_2025" })).await;
        assert_eq!((status, &now["dataAgent"]), (200, &json!({ "defaultTimePeriod": "february_2025" })), "{now}");
        let mine = ask(&bakery, &bakery.admin, "revenue").await;
        // 4 + 2 + 12 of February; the two sales of January are 13.
        assert_eq!(mine["table"]["rows"], json!([[18.0]]), "{mine}");
        let said = mine["narrative"].as_str().unwrap();
        assert!(said.contains("february 2025 is taken"), "{said}");
        let named = ask(&bakery, &bakery.admin, "revenue in January 2025").await;
        assert_eq!(named["table"]["rows"], json!([[13.0]]), "{named}");
        let theirs = ask(&bakery, &bakery.client, "revenue").await;
        assert_eq!(theirs["table"]["rows"], json!([[31.0]]), "{theirs}");

        assert_eq!(set(&bakery, json!({ "defaultTimePeriod": null })).await.1["dataAgent"], json!({}));
        assert_eq!(ask(&bakery, &bakery.admin, "revenue").await["table"]["rows"], json!([[31.0]]));
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_one_s_own_stand_for_a_condition() {
    let bakery = Bakery::start().await;
    let unknown = ask(&bakery, &bakery.admin, "busy shops").await;
    assert_eq!(unknown["outcome"], "clarification", "{unknown}");
    assert!(unknown["narrative"].as_str().unwrap().starts_with("“busy” is not known here"), "{unknown}");
    set(&bakery, json!({ "busyThreshold": "revenue over 15" })).await;
    let busy = ask(&bakery, &bakery.admin, "busy shops").await;
    assert_eq!(busy["table"]["rows"].as_array().map(Vec::len), Some(1), "{busy}");
    assert!(busy["table"]["rows"][0].to_string().contains("Corner"), "18 in Corner, 13 in Old Mill: {busy}");
    let said = busy["narrative"].as_str().unwrap();
    assert!(said.contains("“busy” is read as “revenue over 15”"), "{said}");
    assert_eq!(ask(&bakery, &bakery.client, "busy shops").await["narrative"], unknown["narrative"]);

    // A number alone is asked about, and then known for the conversation.
    set(&bakery, json!({ "busyThreshold": 15 })).await;
    let open = ask(&bakery, &bakery.admin, "busy shops").await;
    assert_eq!(open["outcome"], "clarification", "{open}");
    assert!(open.to_string().contains("“busy” is over 15 for you. Of what?"), "{open}");
    let body =
        json!({ "ontologyId": bakery.ontology, "question": "revenue", "conversationId": open["conversationId"] });
    let reply = bakery.service.post("/api/v1/ext/ask", &bakery.admin).json(&body).send().await.unwrap();
    let (_, busy) = json_of(reply).await;
    assert!(busy["table"]["rows"][0].to_string().contains("Corner"), "{busy}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_mean_nothing_are_refused_by_name_and_change_nothing() {
    let bakery = Bakery::start().await;
    set(&bakery, json!({ "defaultTimePeriod": "this_year" })).await;
    let long = "x".repeat(101) + "1";
    for (change, field) in [
        (json!({ "defaultTimePeriod": "whenever" }), "dataAgent.defaultTimePeriod"),
        (json!({ "defaultTimePeriod": 7 }), "dataAgent.defaultTimePeriod"),
        (json!({ "defaultTimePeriod": "revenue last month" }), "dataAgent.defaultTimePeriod"),
        (json!({ "defaultProvider": "gpt" }), "dataAgent.defaultProvider"),
        (json!({ "model": "other" }), "dataAgent.model"),
        (json!({ "showThreshold": 3 }), "dataAgent.showThreshold"),
        (json!({ "busyThreshold": true }), "dataAgent.busyThreshold"),
        (json!({ "busyThreshold": "no number" }), "dataAgent.busyThreshold"),
        (json!({ "busyThreshold": "revenue over 5; drop" }), "dataAgent.busyThreshold"),
        (json!({ "busyThreshold": long }), "dataAgent.busyThreshold"),
    ] {
        let (status, refused) = set(&bakery, change.clone()).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{change}: {refused}");
        assert_eq!(refused["error"]["details"]["field"], field, "{change}: {refused}");
    }
    let words = |at: usize| format!("own{}Threshold", ["A", "B", "C", "D", "E"][at % 5].repeat(at / 5 + 1));
    let many: Value = (0..21).map(|at| (words(at), json!(at))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(set(&bakery, many).await.0, 400);
    let (_, kept) = bakery.service.manage(&bakery.admin, "GET", "/user-settings", None).await;
    assert_eq!(kept["dataAgent"], json!({ "defaultTimePeriod": "this_year" }));
    let record = bakery.service.last_audit(&bakery.org).await;
    assert_eq!(record.action, "account.settings.show");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_the_settings_of_another_and_a_token_has_none() {
    let bakery = Bakery::start().await;
    set(&bakery, json!({ "defaultTimePeriod": "this_year" })).await;
    let (_, theirs) = bakery.service.manage(&bakery.client, "GET", "/user-settings", None).await;
    assert_eq!(theirs["dataAgent"], json!({}));
    let token = bakery.service.token(&bakery.org).await;
    let (status, refused) = bakery.service.manage(&token, "GET", "/user-settings", None).await;
    assert_eq!((status, &refused["error"]["details"]["rule"]), (403, &json!("person")), "{refused}");
    let (_, viewer) = bakery.service.member(&bakery.org, "vera@example.com", Role::Viewer).await;
    assert_eq!(bakery.service.manage(&viewer, "GET", "/user-settings", None).await.0, 200);
    let change = json!({ "dataAgent": { "defaultTimePeriod": "this_year" } });
    assert_eq!(bakery.service.manage(&viewer, "PATCH", "/user-settings", Some(change)).await.0, 403);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_turns_language_models_off_and_never_on() {
    let bakery = Bakery::start().await;
    let (status, off) = set(&bakery, json!({ "defaultProvider": "built_in" })).await;
    assert_eq!((status, &off["dataAgent"]), (200, &json!({ "defaultProvider": "built_in" })), "{off}");
    for provider in [json!(null), json!("language_model")] {
        let change = json!({ "defaultProvider": provider, "defaultTimePeriod": "this_year" });
        let (status, refused) = set(&bakery, change).await;
        assert_eq!((status, &refused["error"]["details"]["rule"]), (403, &json!("people")), "{refused}");
    }
    let (_, kept) = bakery.service.manage(&bakery.admin, "GET", "/user-settings", None).await;
    assert_eq!(kept["dataAgent"], json!({ "defaultProvider": "built_in" }), "nothing of it was changed");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_with_rights_in_one_workspace_changes_nothing_in_another() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let (user, service) = (bakery.baker.user.unwrap(), &bakery.service);
        let mill = service.workspace("mill").await;
        set(&bakery, json!({ "defaultTimePeriod": "this_year", "busyThreshold": 15 })).await;
        assert_eq!(service.identity.user_settings(user, mill.id).await.unwrap(), UserSettings::default());
        let change = json!({ "busyThreshold": 20 });
        let change = change.as_object().unwrap();
        service.identity.change_user_settings(user, mill.id, change, |_| Ok(())).await.unwrap();
        let (_, ours) = service.manage(&bakery.admin, "GET", "/user-settings", None).await;
        assert_eq!(ours["dataAgent"], json!({ "defaultTimePeriod": "this_year", "busyThreshold": 15.0 }), "{ours}");
        let theirs = serde_json::to_value(service.identity.user_settings(user, mill.id).await.unwrap()).unwrap();
        assert_eq!(theirs, json!({ "dataAgent": { "busyThreshold": 20.0 } }));
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_and_keeps_what_is_set() {
    let service = Service::start().await;
    let org = service.workspace("ours").await;
    let (user, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let page = browser.get("/account/questions").await.text().await.unwrap();
    let (csrf, workspace, nothing) = (token(&page), org.id.to_string(), was(&page));
    let form = [
        ("csrf", csrf.as_str()),
        ("workspace", workspace.as_str()),
        ("was", nothing.as_str()),
        ("period", "this year"),
        ("words", "High value: revenue over 10\nold: 7"),
        ("built_in", "1"),
    ];
    let saved = browser.post("/account/questions", &form).await;
    assert_eq!(saved.status(), 303);
    let record = service.last_audit(&org).await;
    let target = "defaultTimePeriod defaultProvider highValueThreshold oldThreshold";
    let keys = |text: &str| text.split(' ').map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!((record.action.as_str(), record.outcome.as_str()), ("account.settings", "ok"));
    assert_eq!(keys(&record.target), keys(target));
    let now = serde_json::to_value(service.identity.user_settings(user.id, org.id).await.unwrap()).unwrap();
    let agent = json!({ "defaultTimePeriod": "this year", "defaultProvider": "built_in",
                        "highValueThreshold": "revenue over 10", "oldThreshold": 7.0 });
    assert_eq!(now, json!({ "dataAgent": agent }));
    let page = browser.get("/account/questions").await.text().await.unwrap();
    assert!(page.contains("high value: revenue over 10\nold: 7\n") && page.contains("value=\"this year\""), "{page}");

    let was = was(&page);
    let own = [("csrf", csrf.as_str()), ("workspace", &workspace), ("was", &was)];
    let wrong = [own.as_slice(), &[("period", "whenever"), ("words", "old: 8")]].concat();
    let refused = browser.post("/account/questions", &wrong).await;
    assert_eq!(refused.status(), 422);
    let page = refused.text().await.unwrap();
    assert!(page.contains("“whenever” is no time") && page.contains("old: 8"), "what was typed stays: {page}");
    let record = service.last_audit(&org).await;
    assert_eq!((record.action.as_str(), record.outcome.as_str()), ("account.settings", "invalid_argument"));
    let other = service.workspace("theirs").await.id.to_string();
    let foreign = [("csrf", csrf.as_str()), ("workspace", &other), ("period", "this year"), ("words", "")];
    assert_eq!(browser.post("/account/questions", &foreign).await.status(), 400);
    let fewer = [own.as_slice(), &[("period", ""), ("words", "old: 8")]].concat();
    assert_eq!(browser.post("/account/questions", &fewer).await.status(), 303);
    let kept = async || serde_json::to_value(service.identity.user_settings(user.id, org.id).await.unwrap()).unwrap();
    assert_eq!(kept().await, json!({ "dataAgent": { "oldThreshold": 8.0 } }));

    // A page of before takes back nothing that was set since, as here that no language model reads the questions.
    let old = [("csrf", csrf.as_str()), ("workspace", &workspace), ("was", r#"{"oldThreshold":8.0}"#)];
    let built_in = [old.as_slice(), &[("words", "old: 8\nnew: 9"), ("built_in", "1")]].concat();
    let period = [old.as_slice(), &[("words", "old: 8"), ("period", "this year")]].concat();
    for form in [built_in, period] {
        assert_eq!(browser.post("/account/questions", &form).await.status(), 303);
    }
    let agent = json!({ "defaultTimePeriod": "this year", "defaultProvider": "built_in", "oldThreshold": 8.0,
                        "newThreshold": 9.0 });
    assert_eq!(kept().await, json!({ "dataAgent": agent }));
    let silent = browser.post("/account/questions", &[("csrf", csrf.as_str()), ("workspace", &workspace)]).await;
    assert_eq!((silent.status().as_u16(), kept().await["dataAgent"] == agent), (422, true));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rests_on_one_s_own_settings_is_not_remembered_for_everybody() {
    let bakery = Bakery::start().await;
    set(&bakery, json!({ "busyThreshold": "revenue over 15", "defaultTimePeriod": "february_2025" })).await;
    for question in ["busy shops", "revenue"] {
        let answered = ask(&bakery, &bakery.admin, question).await;
        assert_eq!(answered["outcome"], "answer", "{answered}");
        let refused = bakery.remember(&answered, Memory::Verified).await.unwrap_err();
        assert!(refused.message.contains("your own questions"), "{refused}");
    }
    bakery.service.stop().await;
}
