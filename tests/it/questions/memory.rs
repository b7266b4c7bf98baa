//! What is remembered, by whom, and when it holds; what is kept of questions, and how much.

use dragoman::base::id::Id;
use dragoman::model::error::Code;
use dragoman::model::ontology::StoredOntology;
use dragoman::model::run::{Conversation, Ending, Memory, Remembered, Run, State, Trace};
use dragoman::ops::ask_question::AskQuestion;
use dragoman::ops::questions::ListRemembered;
use dragoman::store::questions::{self, Whose};
use serde_json::json;

use super::Bakery;
use crate::support::service::Service;

#[tokio::test(flavor = "multi_thread")]
async fn no_client_remembers_and_no_question_that_rests_on_others_is_remembered() {
    let bakery = Bakery::start().await;
    let first = bakery.ask("revenue in January 2025", None).await;
    let then = bakery.ask("and by product?", Some(&first["conversationId"])).await;
    assert_eq!(then["outcome"], "answer", "{then}");
    let refused = bakery.remember(&then, Memory::Verified).await.unwrap_err();
    assert!(refused.message.contains("rests on the one before"), "{refused}");

    let path = format!("/questions/{}/remember", first["traceId"].as_str().unwrap());
    let verified = Some(json!({ "memory": "verified" }));
    let refused = bakery.service.manage(&bakery.admin, "POST", &path, verified).await;
    assert_eq!((refused.0, &refused.1["error"]["code"]), (403, &json!("forbidden")), "{refused:?}");

    // The choice would hold for everybody, and nobody would be told of it.
    let asked = bakery.ask("Which is the best shop?", None).await;
    let chosen = bakery.ask("1", Some(&asked["conversationId"])).await;
    assert_eq!(chosen["outcome"], "answer", "{chosen}");
    let refused = bakery.remember(&chosen, Memory::Verified).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidArgument);
    assert!(refused.message.contains("chosen"), "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_chosen_for_another_is_said_and_holds_in_its_conversation_alone() {
    let bakery = Bakery::start().await;
    let open = bakery.ask("top 2", None).await;
    assert_eq!(open["outcome"], "clarification", "{open}");
    let chosen = bakery.ask("1", Some(&open["conversationId"])).await;
    assert_eq!(chosen["outcome"], "answer", "{chosen}");
    let said = "Read as “top 2 shops by revenue”, as it was chosen.";
    assert!(chosen["narrative"].as_str().unwrap().contains(said), "{chosen}");
    let refused = bakery.remember(&chosen, Memory::Preference).await.unwrap_err();
    assert!(refused.message.contains("hold for other questions"), "{refused}");

    // One that was remembered before is no longer taken.
    let ontology: Id<StoredOntology> = bakery.ontology.parse().unwrap();
    let kept = Remembered {
        id: Id::new(&bakery.service.clock),
        org: bakery.org.id,
        ontology,
        memory: Memory::Preference,
        key: "question:top 2".into(),
        value: "top 2 shops by revenue".into(),
        said: "top 2 shops by revenue".into(),
        made_by: None,
        made_at: 1,
    };
    let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
    questions::remember(&mut tx, &kept).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(bakery.ask("top 2", None).await["outcome"], "clarification");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verified_question_says_who_and_when_and_takes_no_question_that_follows_another() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let ontology: Id<StoredOntology> = bakery.ontology.parse().unwrap();
        let total = bakery.ask("revenue", None).await;
        bakery.remember(&total, Memory::Verified).await.unwrap();
        let again = bakery.ask("Revenue?", None).await;
        let day: String = dragoman::base::clock::rfc3339(bakery.service.clock.now()).chars().take(10).collect();
        let user = bakery.service.identity.user(bakery.baker.user.unwrap()).await.unwrap().unwrap();
        let said = format!("A member verified on {day}");
        assert!(again["narrative"].as_str().unwrap().contains(&said), "clients are not told who: {again}");
        let ask: AskQuestion =
            serde_json::from_value(json!({ "ontologyId": ontology, "question": "Revenue?" })).unwrap();
        let told = bakery.console(ask).await.unwrap();
        let said = format!("{} verified on {day}", user.name);
        assert!(told["narrative"].as_str().unwrap().contains(&said), "{said}: {told}");
        let kept = bakery.console(ListRemembered { ontology_id: ontology }).await.unwrap();
        assert_eq!(kept["remembered"][0]["made_by"], user.id.to_string());
        let path = format!("/remembered/{}", kept["remembered"][0]["id"].as_str().unwrap());
        let (status, refused) = bakery.service.manage(&bakery.admin, "DELETE", &path, None).await;
        assert_eq!((status, &refused["error"]["details"]["rule"]), (403, &json!("remembered_by_people")), "{refused}");

        // A fragment that came to be remembered, with the plan of another question.
        let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
        let mut poison = questions::remembered(&mut tx, bakery.org.id, ontology).await.unwrap().remove(0);
        poison = Remembered { id: Id::new(&bakery.service.clock), key: "and by product".into(), ..poison };
        questions::remember(&mut tx, &poison).await.unwrap();
        tx.commit().await.unwrap();
        let first = bakery.ask("revenue in January 2025", None).await;
        let then = bakery.ask("and by product?", Some(&first["conversationId"])).await;
        let rows = then["table"]["rows"].to_string();
        assert!(rows.contains(r#"["Bun",5.0]"#) && rows.contains(r#"["Rye",8.0]"#), "{then}");
        // One that is whole in itself is read as verified also in a conversation.
        let whole = bakery.ask("revenue", Some(&first["conversationId"])).await;
        assert_eq!(whole["table"]["rows"], json!([[31.0]]), "{whole}");
        bakery.service.stop().await;
    })
    .await;
}

fn run(bakery: &Bakery, ontology: Id<StoredOntology>, number: i64) -> Run {
    Run {
        id: Id::new(&bakery.service.clock),
        org: bakery.org.id,
        ontology,
        conversation: Id::new(&bakery.service.clock),
        credential: "someone".into(),
        asked_by: None,
        question: format!("question {number}"),
        ending: Ending::Answer,
        trace: Trace::default(),
        duration_ms: 1,
        asked_at: number,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_questions_of_an_ontology_the_newest_are_kept() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let ontology = bakery.ontology.parse().unwrap();
        let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
        for number in 1..=5 {
            questions::keep_run(&mut tx, &run(&bakery, ontology, number)).await.unwrap();
        }
        questions::prune_runs(&mut tx, bakery.org.id, ontology, 3).await.unwrap();
        questions::prune_runs(&mut tx, bakery.org.id, ontology, 10).await.unwrap();
        let left = questions::runs(&mut tx, bakery.org.id, ontology, &Whose::Everybodys, None, 10).await.unwrap();
        let mut left: Vec<i64> = left.iter().map(|run| run.asked_at).collect();
        left.sort_unstable();
        assert_eq!(left, [3, 4, 5]);
        drop(tx);
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_writes_on_one_state_of_a_conversation_the_later_is_refused() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let mut conversation = Conversation {
            id: Id::new(&bakery.service.clock),
            org: bakery.org.id,
            ontology: bakery.ontology.parse().unwrap(),
            credential: "someone".into(),
            state: State::default(),
            revision: 0,
            updated_at: 1,
        };
        let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
        assert!(questions::keep_conversation(&mut tx, &conversation).await.unwrap());
        let now = questions::conversation(&mut tx, bakery.org.id, conversation.id).await.unwrap().unwrap();
        assert_eq!(now.revision, 1);
        assert!(questions::keep_conversation(&mut tx, &now).await.unwrap());
        conversation.updated_at = 2;
        for revision in [0, 1] {
            conversation.revision = revision;
            assert!(!questions::keep_conversation(&mut tx, &conversation).await.unwrap(), "{revision}");
        }
        drop(tx);
        bakery.service.stop().await;
    })
    .await;
}
