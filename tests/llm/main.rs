//! The client and the planner on a real language model; `tests/llm/run` starts it and names it in `LLM_URL`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so by panicking, and its script tells it where the server is"
)]

use std::time::{Duration, Instant};

use dragoman::app::Office;
use dragoman::base::clock::Clock;
use dragoman::config::{Config, Limits};
use dragoman::engine::agent::llm::{Context, Fallback, plan};
use dragoman::engine::agent::plan::validate::validate;
use dragoman::engine::agent::plan::values::literals;
use dragoman::engine::job::Job;
use dragoman::engine::llm::{Asked, Form, LlmError, Message, Model as _, Models, Request, Speaker};
use dragoman::identity::workspace_settings::Change;
use dragoman::model::access::{Action, Catalogue, Rights, Role, Want, authorize};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::ontology::{AiContext, DataType, Entity, Field, Metric, Ontology};
use dragoman::model::org::{Egress, Org};
use dragoman::model::reading::Outcome;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(300);

/// An installation whose language model is this one.
fn models(office: &Office, protocol: &str, model: &str) -> Models {
    let url = std::env::var("LLM_URL").expect("run tests/llm/run");
    let config = Config::read(|name| match name {
        "DRAGOMAN_LLM_PROVIDER" => Some(protocol.into()),
        "DRAGOMAN_LLM_URL" => Some(url.clone()),
        "DRAGOMAN_LLM_API_KEY" => Some("none".into()),
        "DRAGOMAN_LLM_MODEL" => Some(model.into()),
        "DRAGOMAN_LLM_TIMEOUT" => Some("300".into()),
        "DRAGOMAN_LLM_OUTPUT_TOKENS" => Some("150".into()),
        "DRAGOMAN_LLM_LOCAL_HOSTS" => Some("127.0.0.0/8".into()),
        _ => None,
    });
    Models::new(&config.unwrap(), office.db.clone(), office.clock.clone())
}

async fn open(models: &Models, org: &Org, time: Duration, cancel: &CancellationToken) -> Asked {
    let caller = Caller {
        org: org.id,
        user: None,
        role: Role::Admin,
        rights: Rights::of_role(Role::Admin),
        proof: Proof::Local,
        client: Client::default(),
        session: None,
        ip: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        request_id: "test".into(),
    };
    let pass = authorize(&caller, &Catalogue::new(org.clone(), vec![]), Action::RunSql, &Want::Nothing).unwrap();
    let budgets = Limits::default().budgets;
    models.open(&Job::new(&pass, &budgets, time, cancel.clone(), None)).await.unwrap()
}

fn ontology() -> Ontology {
    let field = |name: &str, datatype| Field { name: name.into(), datatype, ..Field::default() };
    let visits = Entity {
        name: "visits".into(),
        description: "One row for each visit of a garden".into(),
        fields: vec![
            field("started_at", DataType::DateTime),
            field("region", DataType::String),
            field("minutes", DataType::Float),
        ],
        default_time_field: Some("started_at".into()),
        ..Entity::default()
    };
    let synonyms = AiContext { synonyms: vec!["visitors".into()], ..AiContext::default() };
    Ontology {
        name: "parks".into(),
        datasets: vec![visits],
        metrics: vec![Metric { name: "visitor_count".into(), ai: synonyms, ..Metric::default() }],
        ..Ontology::default()
    }
}

fn request(schema: Value) -> Request {
    Request {
        system: "Answer with JSON.".into(),
        messages: vec![Message { from: Speaker::User, text: "Name a colour of the sky.".into() }],
        form: Some(Form { name: "answer", schema }),
        max_tokens: 60,
    }
}

/// One model serves all, one request after the other.
#[tokio::test(flavor = "multi_thread")]
async fn the_client_and_the_planner_fit_a_real_model() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let config = Config::read(|name| (name == "DRAGOMAN_DATA_DIR").then(|| data.clone())).unwrap();
    let office = Office::open(config, Clock::system()).await.unwrap();
    let org = office.identity.create_org("acme", "Acme").await.unwrap();
    // The server is on this machine: that is all that the workspace allows.
    let change = Change { llm_egress: Some(Egress::Restricted), ..Change::default() };
    office.identity.change_settings(org.id, None, change).await.unwrap();
    let (here, never) = (models(&office, "openai", "model.gguf"), CancellationToken::new());

    // A schema is held to: the member is there, and is one of the words.
    let colours = json!({ "type": "object", "properties": { "colour": { "enum": ["blue", "grey"] } },
        "required": ["colour"], "additionalProperties": false });
    let started = Instant::now();
    let model = open(&here, &org, LONG, &never).await;
    let reply = model.complete(&request(colours.clone())).await.unwrap();
    println!("{} in {:?}: {}", reply.usage.map_or(0, |usage| usage.output), started.elapsed(), reply.text);
    let colour: Value = serde_json::from_str(reply.json()).unwrap();
    assert!(["blue", "grey"].iter().any(|word| colour["colour"] == *word), "{colour}");
    assert!(reply.usage.is_some_and(|usage| usage.input > 0 && usage.output > 0));

    // What it cannot do has its kind.
    let other = models(&office, "openai", "no-such-model");
    let problem = open(&other, &org, LONG, &never).await.complete(&request(colours.clone())).await.unwrap_err();
    assert!(matches!(problem, LlmError::Rejected(_)), "{problem:?}");
    let other = models(&office, "anthropic", "model.gguf");
    let problem = open(&other, &org, LONG, &never).await.complete(&request(colours.clone())).await.unwrap_err();
    assert!(matches!(problem, LlmError::Rejected(_)), "{problem:?}");
    let hurried = open(&here, &org, Duration::from_millis(20), &never).await;
    assert_eq!(hurried.complete(&request(colours.clone())).await, Err(LlmError::Timeout));
    let cancel = CancellationToken::new();
    let model = open(&here, &org, LONG, &cancel).await;
    cancel.cancel();
    assert_eq!(model.complete(&request(colours)).await, Err(LlmError::Cancelled));

    // Whatever it makes of a question is valid, or is left to the built-in planner.
    for question in [
        "How many visitors by region?",
        "Average minutes of visits in the north",
        "visitors per month in 2024",
        "Which region had the most visitors?",
        "How many elephants are there?",
    ] {
        let started = Instant::now();
        let model = open(&here, &org, Duration::from_secs(45), &never).await;
        let context = Context { now: office.clock.now(), ..Context::default() };
        let outcome = plan(question, &ontology(), &context, &model).await;
        println!("{question} ({:?}): {outcome:?}", started.elapsed());
        match outcome {
            Ok(Outcome::Plan(reading)) => {
                assert_eq!(validate(&reading.plan, &ontology()), [""; 0]);
                assert!(!question.contains("elephants"), "{:?}", reading.plan);
                assert!(literals(&reading.plan).iter().all(|(field, _)| field.dataset == "visits"));
            }
            Ok(Outcome::Clarify(asked)) => assert!(asked.iter().all(|asked| asked.options.len() >= 2)),
            Ok(Outcome::Cannot(cannot)) => assert!(cannot.unknown.iter().all(|word| question.contains(word.as_str()))),
            Err(Fallback::NeverValid(problems)) => assert!(!problems.is_empty()),
            Err(Fallback::Model(problem)) => {
                // It writes slowly, and may not find the end.
                assert!(matches!(problem, LlmError::Truncated | LlmError::Timeout), "{problem:?}");
            }
        }
    }
    office.close().await;
}
