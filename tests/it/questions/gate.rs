//! What AI clients that do not see all data of an ontology get of it, and what nobody gets: the part that they see and
//! nothing else, the same refusal as for what does not exist, and no way to judge or change.

use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::model::access::{Role, Scope};
use dragoman::model::error::Code;
use dragoman::model::ontology::{Status, StoredOntology};
use dragoman::model::run::Memory;
use dragoman::ops::ontologies::{GetOntologyDataset, ListOntologies};
use dragoman::ops::ontology_texts::{
    CheckOntology, CreateOntology, DeleteOntology, GetOntologyText, ListAllOntologies,
};
use dragoman::ops::questions::{GetTrace, InspectTrace, ListQuestions};
use dragoman::store::{leases, ontologies, ontology_tables, questions};
use serde_json::{Value, json};

use super::{Bakery, ONTOLOGY, SALES, in_store};
use crate::support::service::{Service, in_console, json_of};

const NOWHERE: &str = "01936f2e-7c1a-7000-8000-000000000009";

/// A call without its own id.
fn plain(mut body: Value) -> Value {
    body.as_object_mut().unwrap().remove("request_id");
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sees_a_part_neither_reads_judges_nor_changes_the_whole() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let asked = bakery.service.post("/api/v1/ext/ask", &bakery.admin);
        let asked = asked.json(&json!({ "ontologyId": bakery.ontology, "question": "revenue by town" }));
        let (_, asked) = json_of(asked.send().await.unwrap()).await;
        let trace = asked["traceId"].as_str().unwrap();
        bakery.remember(&asked, Memory::Verified).await.unwrap();
        let ontology_id = bakery.ontology.parse().unwrap();
        let manage = async |method: &str, path: String, body: Option<Value>| {
            let (status, body) = bakery.service.manage(&bakery.admin, method, &path, body).await;
            (status, plain(body))
        };
        assert_eq!(manage("GET", format!("/questions/{trace}"), None).await.0, 200, "its own, while it sees all");
        bakery.withdraw("shops").await;

        let update = json!({ "text": ONTOLOGY });
        let calls = [
            ("GET", "/text", None),
            ("GET", "/text?version=1", None),
            ("GET", "/history", None),
            ("POST", "/check", None),
            ("PUT", "", Some(update)),
            ("DELETE", "?name=bakery", None),
            ("GET", "/questions", None),
            ("GET", "/remembered", None),
        ];
        for (method, path, body) in calls {
            let theirs = manage(method, format!("/ontologies/{}{path}", bakery.ontology), body.clone()).await;
            let nowhere = manage(method, format!("/ontologies/{NOWHERE}{path}"), body).await;
            assert_eq!((theirs.0, &theirs.1["error"]["code"]), (404, &json!("ontology_not_found")), "{method} {path}");
            assert_eq!(theirs, nowhere, "{method} {path}");
        }
        let theirs = manage("GET", format!("/questions/{trace}"), None).await;
        assert_eq!(theirs, manage("GET", format!("/questions/{NOWHERE}"), None).await, "not even its own trace");
        assert_eq!(theirs.0, 404);
        assert_eq!(manage("GET", "/ontologies".into(), None).await.1["ontologies"], json!([]));

        // A text may name hidden tables no more than tables that are not there.
        let refusal = |table: &str| {
            let text =
                ONTOLOGY.replace("name: bakery", "name: other").replace("source: shops", &format!("source: {table}"));
            manage("POST", "/ontologies".into(), Some(json!({ "text": text })))
        };
        let (hidden, absent) = (refusal("shops").await, refusal("absent").await);
        assert_eq!(hidden.0, 400);
        assert_eq!(hidden.1.to_string().replace("shops", "absent"), absent.1.to_string());

        // Nothing of it has happened.
        let standing = bakery.console(ListAllOntologies {}).await.unwrap();
        let standing = &standing["ontologies"][0];
        assert_eq!((&standing["status"], &standing["version"]), (&json!("ready"), &json!(1)), "{standing}");
        bakery.console(GetOntologyText { ontology_id, version: None, format: Default::default() }).await.unwrap();

        // What it reads names nothing of what is hidden; and the rest can be asked.
        let path = format!("/api/v1/ext/ontologies/{}", bakery.ontology);
        let (_, seen) = json_of(bakery.service.get(&path, &bakery.client).send().await.unwrap()).await;
        assert!(!seen.to_string().contains("shop"), "{seen}");
        assert_eq!(seen["ontology"]["description"], "");
        // Somebody verified how this is read, over the hidden table.
        let (status, declined) = bakery.try_ask("revenue by town").await;
        assert_eq!((status, &declined["outcome"]), (200, &json!("cannot_answer")), "{declined}");
        let said = declined["narrative"].as_str().unwrap();
        assert!(!said.contains("shop") && said.contains("town"), "{said}");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_in_unpublished_tables_is_not_told() {
    let bakery = Bakery::start().await;
    bakery.withdraw("shops").await;
    let twice = b"shop_id,shop_name,town\n1,Old Mill,Ghent\n1,Corner,Bruges\n";
    bakery.service.import(&bakery.org, "shops.csv", twice, false).await.unwrap();
    let ontology_id = bakery.ontology.parse().unwrap();
    let checked = bakery.console(CheckOntology { ontology_id }).await.unwrap();
    let problem = checked["ontology"]["problem"].as_str().unwrap();
    assert!(problem.contains("shop.shop_id"), "who sees all of it is told: {problem}");
    let path = format!("/api/v1/ext/ontologies/{}", bakery.ontology);
    let seen = json_of(bakery.service.get(&path, &bakery.client).send().await.unwrap()).await;
    for (status, refused) in [bakery.try_ask("revenue").await, seen] {
        assert_eq!((status, &refused["error"]["details"]), (409, &json!({ "status": "failed" })), "{refused}");
        assert!(!refused.to_string().contains("shop"), "{refused}");
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nobody_can_compare_an_answer_is_given_and_not_called_verified() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let ontology_id: Id<StoredOntology> = bakery.ontology.parse().unwrap();
        let stored = async || {
            let mut read = bakery.service.db.read_tenant(bakery.org.id).await.unwrap();
            ontologies::by_id(&mut read, bakery.org.id, ontology_id).await.unwrap().unwrap()
        };
        // Another node compares it, and has died over it.
        let now = bakery.service.clock.now();
        let turn = format!("ontology {} {ontology_id}", bakery.org.id);
        assert!(
            leases::take(&mut bakery.service.db.writer().await.unwrap(), &turn, "another", now, now + 300_000)
                .await
                .unwrap()
        );
        bakery.service.import(&bakery.org, "sales.csv", &SALES[..SALES.len() - 1], true).await.unwrap();
        let answer = bakery.ask("revenue", None).await;
        assert_eq!((&answer["table"]["rows"], &answer["verified"]), (&json!([[31.0]]), &json!(false)), "{answer}");
        assert!(answer["narrative"].as_str().unwrap().contains("not yet compared"), "{answer}");
        let refused = bakery.console(CheckOntology { ontology_id }).await.unwrap_err();
        assert_eq!((refused.code, stored().await.status), (Code::OntologyNotReady, Status::Ready), "{refused}");
        // Its turn ends by itself.
        bakery.service.clock.advance(std::time::Duration::from_secs(301));
        let client = bakery.service.access_token(&bakery.org, Role::Contributor, &Scope::ALL).await;
        let body = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
        let reply = bakery.service.post("/api/v1/ext/ask", &client).json(&body).send().await.unwrap();
        let (_, answer) = json_of(reply).await;
        assert_eq!(answer["verified"], true, "{answer}");

        // After a comparison that failed the next questions do not ask for another; a person may.
        bakery.service.import(&bakery.org, "sales.csv", SALES, true).await.unwrap();
        let now = bakery.service.clock.now();
        assert!(
            leases::take(&mut bakery.service.db.writer().await.unwrap(), &turn, "another", now, now + 300_000)
                .await
                .unwrap()
        );
        let ask = async || {
            let reply = bakery.service.post("/api/v1/ext/ask", &client).json(&body).send().await.unwrap();
            json_of(reply).await.1["verified"].clone()
        };
        assert_eq!(ask().await, false);
        leases::release(&mut bakery.service.db.writer().await.unwrap(), &turn, "another").await.unwrap();
        assert_eq!(ask().await, false);
        let checked = bakery.console(CheckOntology { ontology_id }).await.unwrap();
        assert_eq!((&checked["ontology"]["status"], ask().await), (&json!("ready"), json!(true)));
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_part_is_told_that_newer_data_were_not_compared() {
    let bakery = Bakery::start().await;
    bakery.withdraw("shops").await;
    assert_eq!(bakery.ask("revenue", None).await["verified"], true);
    bakery.service.import(&bakery.org, "sales.csv", &SALES[..SALES.len() - 1], true).await.unwrap();
    let answer = bakery.ask("revenue", None).await;
    assert_eq!((&answer["table"]["rows"], &answer["verified"]), (&json!([[31.0]]), &json!(false)), "{answer}");
    // A person asks, and with that it is compared.
    let ask = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
    let op: dragoman::ops::ask_question::AskQuestion = serde_json::from_value(ask).unwrap();
    assert_eq!(bakery.console(op).await.unwrap()["verified"], true);
    assert_eq!(bakery.ask("revenue", None).await["verified"], true);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_an_ontology_never_compares_it() {
    let bakery = Bakery::start().await;
    // Data that break the key of a sale.
    let twice = b"sale_id,shop_id,product,sold_on,pieces,euros\n1,1,Rye,2025-01-10,2,8.00\n1,1,Rye,2025-01-10,2,8.00\n";
    bakery.service.import(&bakery.org, "sales.csv", twice, true).await.unwrap();
    let path = format!("/api/v1/ext/ontologies/{}", bakery.ontology);
    assert_eq!(bakery.service.get(&path, &bakery.client).send().await.unwrap().status(), 200);
    let standing = bakery.console(ListAllOntologies {}).await.unwrap();
    assert_eq!(standing["ontologies"][0]["status"], "ready");
    assert_eq!(bakery.try_ask("revenue").await.0, 409, "asking does");
    assert_eq!(bakery.service.get(&path, &bakery.client).send().await.unwrap().status(), 409);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_at_once_are_one_and_all_are_told() {
    let bakery = Bakery::start().await;
    let ontology_id = bakery.ontology.parse().unwrap();
    let check = || bakery.console(CheckOntology { ontology_id });
    let (one, two, three) = tokio::join!(check(), check(), check());
    for checked in [one, two, three] {
        assert_eq!(checked.unwrap()["ontology"]["status"], "ready");
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_their_askers_and_an_admin_who_looks_is_in_the_record() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let ann = bakery.service.person("ann@example.com").await;
        bakery.service.identity.set_role(bakery.org.id, ann.id, Role::Contributor).await.unwrap();
        let token = bakery.service.access_token_of(&bakery.org, ann.id, &Scope::ALL).await;
        let other = bakery.service.access_token_of(&bakery.org, ann.id, &Scope::ALL).await;
        let ontology_id = bakery.ontology.parse().unwrap();
        let body = json!({ "ontologyId": bakery.ontology, "question": "revenue by town" });
        let reply = bakery.service.post("/api/v1/ext/ask", &token).json(&body).send().await.unwrap();
        let trace = json_of(reply).await.1["traceId"].as_str().unwrap().to_owned();
        let trace_id = trace.parse().unwrap();
        let list = ListQuestions { ontology_id, everybodys: false, cursor: None };

        // Ann finds what her client asked; neither another client of hers nor anybody else does.
        let ann = in_console(&bakery.service, &bakery.org, ann.id, Role::Contributor);
        let mine = bakery.service.gateway.call(&ann, list, Via::new("console.call")).await.unwrap();
        assert_eq!(mine.reply.questions.len(), 1);
        let path = format!("/questions/{trace}");
        assert_eq!(bakery.service.manage(&token, "GET", &path, None).await.0, 200);
        assert_eq!(bakery.service.manage(&other, "GET", &path, None).await.0, 404);
        let listed = format!("/ontologies/{ontology_id}/questions");
        assert_eq!(bakery.service.manage(&other, "GET", &listed, None).await.1["questions"], json!([]));
        assert_eq!(bakery.console(GetTrace { trace_id }).await.unwrap_err().code, Code::NotFound);
        let list = ListQuestions { ontology_id, everybodys: false, cursor: None };
        assert_eq!(bakery.console(list).await.unwrap()["questions"], json!([]));

        // Everybody's are for admins, in the console.
        let list = ListQuestions { ontology_id, everybodys: true, cursor: None };
        assert_eq!(bakery.console(list).await.unwrap()["questions"][0]["trace_id"], trace.as_str());
        bakery.console(InspectTrace { trace_id }).await.unwrap();
        let entry = bakery.service.last_audit(&bakery.org).await;
        assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("admin.question.inspect", "ok"));
        let inspect = bakery.service.manage(&bakery.admin, "GET", &format!("{path}/inspect"), None).await;
        assert_eq!((inspect.0, &inspect.1["error"]["code"]), (403, &json!("forbidden")), "no client");
        let list = ListQuestions { ontology_id, everybodys: true, cursor: None };
        let refused = bakery.service.gateway.call(&ann, list, Via::new("console.call")).await.unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_fields_policies_and_personal_values_are_not_for_readers() {
    let bakery = Bakery::start().await;
    let text = ONTOLOGY
        .replace("name: bakery", "name: shown")
        .replace("grain: sale}", "grain: sale, row_policy: \"sale.product <> 'Secret Rye'\"}")
        .replace("data: {enum: true}", "data: {pii: name, value_synonyms: {Rye: [dark]}}");
    assert!(text.contains("Secret Rye") && text.contains("dark"));
    let made = bakery.console(CreateOntology { text, summary: String::new() }).await.unwrap();
    let ontology_id = made["ontology"]["ontology_id"].as_str().unwrap().parse().unwrap();
    let checked = bakery.console(CheckOntology { ontology_id }).await.unwrap();
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    let shown =
        bakery.console(GetOntologyDataset { ontology_id: ontology_id.into(), name: "sale".into() }).await.unwrap();
    let yaml = shown["yaml"].as_str().unwrap();
    assert!(yaml.contains("product") && yaml.contains("sold_on"), "{yaml}");
    for gone in ["euros", "Secret Rye", "dark", "row_policy"] {
        assert!(!yaml.contains(gone), "{gone}: {yaml}");
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_needs_the_name_and_a_recent_sign_in() {
    let bakery = Bakery::start().await;
    let ontology_id = bakery.ontology.parse().unwrap();
    let refused = bakery.console(DeleteOntology { ontology_id, name: "bakeri".into() }).await.unwrap_err();
    assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &json!("name")), "{refused}");
    bakery.service.clock.advance(bakery.service.config.limits.lifetimes.step_up + std::time::Duration::from_secs(2));
    let refused = bakery.console(DeleteOntology { ontology_id, name: "bakery".into() }).await.unwrap_err();
    assert_eq!(refused.code, Code::InsufficientUserAuthentication);
    let listed = bakery.console(ListAllOntologies {}).await.unwrap();
    assert_eq!(listed["ontologies"].as_array().unwrap().len(), 1);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_can_no_longer_be_read_takes_nothing_else_away() {
    let bakery = Bakery::start().await;
    let id = in_store(&bakery, "ancient", "ontology: of before\n").await;
    let listed = bakery.console(ListOntologies {}).await.unwrap();
    assert_eq!(listed["ontologies"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["ontologies"][0]["name"], "bakery");
    let standings = bakery.console(ListAllOntologies {}).await.unwrap();
    let ancient = &standings["ontologies"][0];
    assert_eq!((&ancient["name"], &ancient["status"]), (&json!("ancient"), &json!("failed")));
    assert!(ancient["problem"].as_str().unwrap().contains("can no longer be read"), "{ancient}");
    let text = GetOntologyText { ontology_id: id, version: None, format: Default::default() };
    assert_eq!(bakery.console(text).await.unwrap()["text"], "ontology: of before\n");
    let (_, theirs) = bakery.service.manage(&bakery.admin, "GET", "/ontologies", None).await;
    assert!(!theirs.to_string().contains("ancient"), "whether a client sees all of it is not known: {theirs}");
    assert_eq!(bakery.service.manage(&bakery.admin, "POST", &format!("/ontologies/{id}/check"), None).await.0, 404);
    bakery.console(DeleteOntology { ontology_id: id, name: "ancient".into() }).await.unwrap();
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_chosen_of_a_withdrawn_table_leaves_the_conversation() {
    let bakery = Bakery::start().await;
    let open = bakery.ask("Which is the best shop?", None).await;
    let chosen = bakery.ask("1", Some(&open["conversationId"])).await;
    assert_eq!(chosen["outcome"], "answer", "{chosen}");
    let kept = async || {
        let mut read = bakery.service.db.read_tenant(bakery.org.id).await.unwrap();
        let id = open["conversationId"].as_str().unwrap().parse().unwrap();
        questions::conversation(&mut read, bakery.org.id, id).await.unwrap().unwrap().state.chosen.len()
    };
    assert_eq!(kept().await, 1);
    bakery.withdraw("sales").await;
    bakery.ask("How many shops are there?", Some(&open["conversationId"])).await;
    assert_eq!(kept().await, 0, "it names what only the sales have");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_see_an_ontology_is_told_by_the_names_of_its_tables_and_not_by_its_text() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let kept = async |name: &str, tables: &[&str]| {
            let id = in_store(&bakery, name, &ONTOLOGY.replace("name: bakery", &format!("name: {name}"))).await;
            let tables: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
            let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
            ontology_tables::set(&mut tx, bakery.org.id, id, 1, &tables).await.unwrap();
            tx.commit().await.unwrap();
        };
        kept("some", &["SALES", "wages"]).await;
        kept("none", &["wages"]).await;
        let names = |list: &Value| -> Vec<String> {
            let all = list["ontologies"].as_array().unwrap().iter();
            all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
        };
        let listed = bakery.console(ListOntologies {}).await.unwrap();
        assert_eq!(names(&listed), ["bakery", "some"], "a part of it is seen");
        let (_, theirs) = bakery.service.manage(&bakery.admin, "GET", "/ontologies", None).await;
        assert_eq!(names(&theirs), ["bakery"], "a client has to see all: {theirs}");
        let standings = bakery.console(ListAllOntologies {}).await.unwrap();
        assert_eq!(names(&standings), ["bakery", "none", "some"], "people see all");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_has_a_hundred_ontologies_and_no_more() {
    let bakery = Bakery::start().await;
    for number in 1..100 {
        in_store(&bakery, &format!("of before {number}"), ONTOLOGY).await;
    }
    let create = || CreateOntology { text: ONTOLOGY.replace("name: bakery", "name: last"), summary: String::new() };
    let refused = bakery.console(create()).await.unwrap_err();
    assert_eq!((refused.code, &refused.details["max"]), (Code::LimitExceeded, &json!(100)), "{refused}");
    let ontology_id = bakery.ontology.parse().unwrap();
    bakery.console(DeleteOntology { ontology_id, name: "bakery".into() }).await.unwrap();
    bakery.console(create()).await.unwrap();
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_people_belong_to_questions_alone() {
    let bakery = Bakery::start().await;
    // A client that repeats a call of another tool with the state of a form.
    let params = json!({
        "name": "dragoman_sql",
        "arguments": { "sql": "SELECT count(*) AS n FROM sales" },
        "requestState": NOWHERE,
        "inputResponses": { "clarification": { "action": "accept", "content": { "answer_1": "x" } } },
    });
    let (status, body) = json_of(bakery.service.rpc(&bakery.client, "tools/call", params).send().await.unwrap()).await;
    assert_eq!((status, &body["result"]["isError"]), (200, &json!(false)), "{body}");
    assert_eq!(body["result"]["structuredContent"]["rows"], json!([[5]]), "{body}");
    bakery.service.stop().await;
}

/// The state of a form is sealed: of use to whom it was put, for the same call, and not for long.
#[tokio::test(flavor = "multi_thread")]
async fn j06_the_state_of_a_form_is_worth_nothing_to_others_and_nothing_when_it_is_made_up() {
    let bakery = Bakery::start().await;
    let question = "Which is the best shop?";
    let call = async |token: &str, arguments: &Value, state: Option<&str>, answer: Option<&Value>| {
        let mut params = json!({ "name": "ask_question", "arguments": arguments });
        if let Some(state) = state {
            params["requestState"] = state.into();
        }
        if let Some(answer) = answer {
            let form = json!({ "action": "accept", "content": { "answer_1": answer } });
            params["inputResponses"] = json!({ "clarification": form });
        }
        let mut request = bakery.service.rpc(token, "tools/call", params).build().unwrap();
        let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
        body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        *request.body_mut() = Some(body.to_string().into());
        json_of(bakery.service.http.execute(request).await.unwrap()).await.1["result"].clone()
    };
    let arguments = json!({ "ontologyId": bakery.ontology, "question": question });
    let asked = call(&bakery.client, &arguments, None, None).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let form = &asked["inputRequests"]["clarification"]["params"]["requestedSchema"]["properties"]["answer_1"];
    let pieces = form["enum"].as_array().unwrap().iter().find(|it| it.as_str().unwrap().contains("pieces")).unwrap();
    let state = asked["requestState"].as_str().unwrap();
    assert!(uuid::Uuid::parse_str(state).is_err(), "not the conversation itself: {state}");
    let flipped = format!("{}{}", if state.starts_with('A') { 'B' } else { 'A' }, &state[1..]);
    let others = json!({ "ontologyId": bakery.ontology, "question": "Which is the worst shop?" });
    for (what, token, arguments, state) in [
        ("another's", &bakery.admin, &arguments, state),
        ("made up", &bakery.client, &arguments, NOWHERE),
        ("changed", &bakery.client, &arguments, flipped.as_str()),
        ("of other arguments", &bakery.client, &others, state),
    ] {
        let refused = call(token, arguments, Some(state), Some(pieces)).await;
        assert_eq!(refused["isError"], true, "{what}: {refused}");
        assert!(refused["content"][0]["text"].as_str().unwrap().contains("requestState"), "{what}: {refused}");
    }
    // It still waits for whom it was put to, however the members are ordered.
    let ordered = json!({ "question": question, "ontologyId": bakery.ontology });
    let answered = call(&bakery.client, &ordered, Some(state), Some(pieces)).await;
    assert_eq!(answered["structuredContent"]["outcome"], "answer", "{answered}");
    // Sent twice, a state is harmless: what it opens is a conversation of its own owner's, which goes on.
    let again = call(&bakery.client, &ordered, Some(state), Some(pieces)).await;
    assert_ne!(again["isError"], true, "{again}");
    let conversation = |result: &Value| result["structuredContent"]["conversationId"].clone();
    assert_eq!((conversation(&again), conversation(&answered).is_string()), (conversation(&answered), true), "{again}");
    // An access token lives shorter than a state.
    let token = bakery.service.token(&bakery.org).await;
    let late = call(&token, &arguments, None, None).await["requestState"].as_str().unwrap().to_owned();
    bakery.service.clock.advance(std::time::Duration::from_secs(15 * 60));
    let refused = call(&token, &arguments, Some(&late), Some(pieces)).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("older than"), "{refused}");
    bakery.service.stop().await;
}
