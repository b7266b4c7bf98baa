//! Questions that follow each other, what is asked back, and what is remembered, on both databases.

use dragoman::model::run::Memory;
use dragoman::ops::questions::{Forget, InspectTrace, ListQuestions};
use serde_json::{Value, json};

use super::Bakery;
use crate::support::service::{Service, json_of};

fn rows(reply: &Value) -> String {
    reply["table"]["rows"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_follows_rests_on_the_one_before_and_on_its_conversation_alone() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let first = bakery.ask("revenue in January 2025", None).await;
        assert_eq!((&first["outcome"], rows(&first)), (&json!("answer"), "[[13.0]]".into()), "{first}");
        let then = bakery.ask("and by product?", Some(&first["conversationId"])).await;
        assert_eq!(then["outcome"], "answer", "{then}");
        assert!(rows(&then).contains(r#"["Bun",5.0]"#) && rows(&then).contains(r#"["Rye",8.0]"#), "{then}");
        let alone = bakery.ask("and by product?", None).await;
        assert_ne!(rows(&alone), rows(&then), "without its conversation it means something else, or nothing: {alone}");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_back_is_answered_by_words_numbers_or_not_at_all() {
    let bakery = Bakery::start().await;
    let asked = bakery.ask("Which is the best shop?", None).await;
    assert_eq!(asked["outcome"], "clarification", "{asked}");
    let suggestions = asked["clarificationRequest"]["questions"][0]["suggestions"].as_array().unwrap().clone();
    let position = suggestions.iter().position(|it| it.as_str().unwrap().contains("pieces")).unwrap();
    let answer = bakery.ask(&(position + 1).to_string(), Some(&asked["conversationId"])).await;
    assert_eq!(answer["outcome"], "answer", "{answer}");
    assert!(rows(&answer).contains("Old Mill"), "12 pieces against 8: {answer}");

    let asked = bakery.ask("Which is the best shop?", None).await;
    let answer = bakery.ask("as you assume", Some(&asked["conversationId"])).await;
    assert_eq!(answer["outcome"], "answer", "{answer}");

    let asked = bakery.ask("Which is the best shop?", None).await;
    let other = bakery.ask("revenue in February 2025", Some(&asked["conversationId"])).await;
    assert_eq!((&other["outcome"], rows(&other)), (&json!("answer"), "[[18.0]]".into()), "a new question: {other}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn j06_a_conversation_is_its_askers_alone() {
    let bakery = Bakery::start().await;
    let first = bakery.ask("revenue", None).await;
    let body =
        json!({ "ontologyId": bakery.ontology, "question": "by shop", "conversationId": first["conversationId"] });
    let other = bakery.service.post("/api/v1/ext/ask", &bakery.admin).json(&body).send().await.unwrap();
    let (status, refused) = json_of(other).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("not_found")), "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_says_which_condition_leaves_nothing() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue of Corner in January 2025", None).await;
    assert_eq!(reply["outcome"], "answer", "{reply}");
    let said = reply["narrative"].as_str().unwrap();
    // Corner has 3 sales, none of them in January; January has 2 sales, none of them Corner's.
    assert!(said.contains("3 rows") && said.contains("2 rows"), "{said}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_agree_to_is_remembered_for_the_workspace_and_forgotten_again() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let manage = async |method: &str, path: &str, body: Option<Value>| {
            bakery.service.manage(&bakery.admin, method, path, body).await
        };
        let asked = bakery.ask("Which is the best shop?", None).await;
        let suggestions = asked["clarificationRequest"]["questions"][0]["suggestions"].as_array().unwrap().clone();
        let pieces = suggestions.iter().find(|it| it.as_str().unwrap().contains("pieces")).unwrap().as_str().unwrap();
        let answer = bakery.ask(pieces, Some(&asked["conversationId"])).await;
        bakery.remember(&answer, Memory::Preference).await.unwrap();
        let settled = bakery.ask("Which is the best shop?", None).await;
        assert_eq!((&settled["outcome"], rows(&settled)), (&json!("answer"), rows(&answer)), "{settled}");

        let list = format!("/ontologies/{}/remembered", bakery.ontology);
        let (_, kept) = manage("GET", &list, None).await;
        let id = kept["remembered"][0]["id"].as_str().unwrap();
        bakery.console(Forget { remembered_id: id.parse().unwrap() }).await.unwrap();
        assert_eq!(bakery.ask("Which is the best shop?", None).await["outcome"], "clarification");

        let right = bakery.ask("Total revenue?", None).await;
        bakery.remember(&right, Memory::Verified).await.unwrap();
        let again = bakery.ask("total  REVENUE", None).await;
        assert!(again["narrative"].as_str().unwrap().contains("verified"), "{again}");
        assert_eq!(rows(&again), "[[31.0]]");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_tells_the_way_and_holds_no_row() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue by town", None).await;
    let trace_id = reply["traceId"].as_str().unwrap().parse().unwrap();
    let traced = bakery.console(InspectTrace { trace_id }).await.unwrap();
    let trace = &traced["trace"];
    let phases: Vec<&str> = trace["phases"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(phases, ["plan", "compile", "run", "check", "tell"]);
    assert_eq!(
        (&trace["planner"], &trace["verified"], &trace["row_count"]),
        (&json!("built-in"), &json!(true), &json!(2))
    );
    assert!(trace["sql"].as_str().unwrap().contains("GROUP BY"));
    assert!(trace["reading"]["phrases"].as_array().unwrap().iter().any(|it| it["text"] == "revenue"), "{trace}");
    assert!(!traced.to_string().contains("13.0"), "no number of the answer is kept");
    let ontology_id = bakery.ontology.parse().unwrap();
    let listed = bakery.console(ListQuestions { ontology_id, everybodys: true, cursor: None }).await.unwrap();
    assert_eq!(listed["questions"][0]["question"], "revenue by town");
    bakery.service.stop().await;
}
