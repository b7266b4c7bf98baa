//! What an answer costs: over the demo's 336,776 flights through MCP on a real port, step by step, and how reading a
//! question grows with the ontology.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman::app::App;
use dragoman::base::clock::Clock;
use dragoman::config::Config;
use dragoman::engine::agent::compiler::compile;
use dragoman::engine::agent::english::English;
use dragoman::engine::agent::planner::{Context, FieldValues, Planner, View};
use dragoman::engine::ontology::graph::Graph;
use dragoman::gateway::{Gateway, Via};
use dragoman::model::access::ExtScope;
use dragoman::model::ontology::{Additivity, DataType, Entity, Field, FieldRole, Metric, Ontology, Relationship};
use dragoman::model::reading::Outcome;
use dragoman::model::source::Dialect;
use dragoman::ops::questions::InspectTrace;
use serde_json::{Value, json};

use super::bank::{demo, operator};

/// Questions whose answers read all flights.
const QUESTIONS: [&str; 12] = [
    "How many flights were there by airline in July 2013?",
    "Which airline had the longest average departure delay in 2013?",
    "average departure delay by month",
    "number of flights by origin airport",
    "How many flights were cancelled?",
    "top 5 destinations by number of flights",
    "flights per month by origin",
    "average arrival delay of Delta",
    "share of flights by airline",
    "total distance flown by airline",
    "How many flights left from JFK in December 2013?",
    "average air time by destination, top 10",
];

/// Each question so many times.
const ROUNDS: usize = 10;

fn quantile(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * share) as usize]
}

/// Asks over HTTP as a client without sessions does.
#[expect(clippy::disallowed_methods, reason = "it is the outside; the ban is for the service's own calls")]
pub async fn answers() {
    let folder = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = Config::read(|name| match name {
        "DRAGOMAN_DATA_DIR" => Some(folder.path().display().to_string()),
        "DRAGOMAN_LISTEN" => Some(address.to_string()),
        "DRAGOMAN_ADMIN_LISTEN" => Some("off".into()),
        "DRAGOMAN_EXT_RATE_TOKEN"
        | "DRAGOMAN_EXT_RATE_ASK"
        | "DRAGOMAN_CLIENT_RATE_CALLS"
        | "DRAGOMAN_CLIENT_RATE_ASK"
        | "DRAGOMAN_EXT_RATE_WORKSPACE"
        | "DRAGOMAN_EXT_RATE_REQUESTS" => Some("100000".into()),
        _ => None,
    });
    let app =
        App::open_with_worker(config.unwrap(), Clock::system(), env!("CARGO_BIN_EXE_dragoman").into()).await.unwrap();
    let (org, ontology) = demo(&app).await;
    app.office.identity.set_connectivity(org.id, true).await.unwrap();
    let (_, secret) = app.office.identity.create_token(org.id, "bench", &ExtScope::ALL, None).await.unwrap();
    let (gateway, caller) = (app.gateway.clone(), operator(&org));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = tokio::spawn(async move { app.serve(listener, async { stopped.await.unwrap_or(()) }).await });

    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut whole = Vec::new();
    let mut steps: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    // Of each question: the whole answer, its statement, and its checks.
    let mut each: BTreeMap<&str, [Vec<f64>; 3]> = BTreeMap::new();
    let mut unanswered = BTreeSet::new();
    for round in 0..=ROUNDS {
        for question in QUESTIONS {
            let body = json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {
                    "name": "ask_question", "arguments": { "ontologyId": ontology, "question": question },
                    "_meta": {
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": {},
                        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                    },
                },
            });
            let started = Instant::now();
            let reply = http
                .post(format!("http://{address}/mcp"))
                .bearer_auth(secret.expose())
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", "ask_question")
                .json(&body)
                .send()
                .await
                .unwrap();
            let text = reply.text().await.unwrap();
            let took = started.elapsed();
            // The first round warms the workers, as the first minute of a day does.
            if round == 0 {
                continue;
            }
            whole.push(took.as_secs_f64() * 1_000.0);
            let times = each.entry(question).or_default();
            times[0].push(took.as_secs_f64() * 1_000.0);
            let from = text.find('{').unwrap();
            let reply: Value = serde_json::from_str(text[from..].trim_end()).unwrap();
            let reply = &reply["result"]["structuredContent"];
            if reply["outcome"] != "answer" {
                unanswered.insert(question);
                continue;
            }
            let trace = trace(&gateway, &caller, &reply["traceId"]).await;
            let mut planned = 0.0;
            for phase in trace["trace"]["phases"].as_array().unwrap() {
                let (name, ms) = (phase["name"].as_str().unwrap(), phase["ms"].as_f64().unwrap());
                match name {
                    "run" => times[1].push(ms),
                    "check" => times[2].push(ms),
                    _ => {}
                }
                planned += if matches!(name, "plan" | "compile") { ms } else { 0.0 };
                steps.entry(name.to_owned()).or_default().push(ms);
            }
            steps.entry("plan and compile".into()).or_default().push(planned);
        }
    }
    println!("{} answers through MCP over 336,776 flights, one after the other", whole.len());
    println!("{:18} {:>8} {:>8}", "", "p50 ms", "p95 ms");
    println!("{:18} {:>8.1} {:>8.1}", "whole answer", quantile(&mut whole, 0.5), quantile(&mut whole, 0.95));
    for (name, times) in &mut steps {
        println!("{name:18} {:>8.2} {:>8.2}", quantile(times, 0.5), quantile(times, 0.95));
    }
    println!("{:>8} {:>8} {:>8}  half of its answers take at most, in ms", "whole", "run", "check");
    for (question, times) in &mut each {
        let [whole, run, check] = times.each_mut().map(|times| match times.is_empty() {
            true => 0.0,
            false => quantile(times, 0.5),
        });
        println!("{whole:>8.1} {run:>8.1} {check:>8.1}  {question}");
    }
    unanswered.iter().for_each(|question| println!("not answered: {question}"));
    stop.send(()).unwrap();
    drop((gateway, caller));
    served.await.unwrap().unwrap();
}

async fn trace(gateway: &Gateway, caller: &dragoman::model::caller::Caller, id: &Value) -> Value {
    let op = InspectTrace { trace_id: id.as_str().unwrap().parse().unwrap() };
    serde_json::to_value(gateway.call(caller, op, Via::new("admin.call")).await.unwrap()).unwrap()
}

/// Reads the same questions with ever larger ontologies.
pub fn growth() {
    println!("{:>9} {:>9} {:>10} {:>9} {:>9} {:>9}", "datasets", "values", "build ms", "p50 ms", "p95 ms", "answered");
    for datasets in [10, 100, 1_000] {
        let ontology = Arc::new(chain(datasets));
        let values: Vec<FieldValues> = ontology
            .datasets
            .iter()
            .map(|entity| FieldValues {
                dataset: entity.name.clone(),
                field: "kind".into(),
                values: (0..100).map(|at| format!("{} kind {at}", words(&entity.name))).collect(),
                complete: true,
            })
            .collect();
        let started = Instant::now();
        let graph = Arc::new(Graph::new(&ontology));
        let learnt = English.learn(&ontology, &values);
        let built = started.elapsed();
        let now = jiff::civil::date(2025, 6, 15).at(12, 0, 0, 0);
        let context = Context { now, ..Context::default() };
        let view = View { ontology: &ontology, graph: &graph, values: &values, learnt: &learnt };
        let mut times = Vec::new();
        let mut answered = 0;
        for at in 0..100 {
            let thing = words(&ontology.datasets[at * (datasets - 1) / 100].name);
            let question = format!("total {thing} amount by {thing} kind in 2024");
            let started = Instant::now();
            let outcome = English.read(&question, &view, &context);
            let compiled = match &outcome {
                Outcome::Plan(reading) => compile(&reading.plan, &ontology, &graph, Dialect::DuckDb, 10_000).is_ok(),
                Outcome::Clarify(_) | Outcome::Cannot(_) => false,
            };
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
            answered += usize::from(compiled);
        }
        println!(
            "{datasets:>9} {:>9} {:>10.0} {:>9.2} {:>9.2} {answered:>9}",
            values.len() * 100,
            Duration::as_secs_f64(&built) * 1_000.0,
            quantile(&mut times, 0.5),
            quantile(&mut times, 0.95)
        );
    }
}

/// Names that are told apart by words, as those of a large warehouse are.
fn name(at: usize) -> String {
    const FIRST: [&str; 10] =
        ["copper", "maple", "harbour", "violet", "granite", "saffron", "meadow", "lantern", "cobalt", "timber"];
    const SECOND: [&str; 10] =
        ["pump", "crate", "ledger", "valve", "permit", "wagon", "beacon", "gasket", "voucher", "turbine"];
    const THIRD: [&str; 10] = ["batch", "shift", "zone", "lot", "tour", "grade", "phase", "series", "route", "cell"];
    format!("{}_{}_{}", FIRST[at % 10], SECOND[at / 10 % 10], THIRD[at / 100 % 10])
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// So many datasets, each referring to the next, with a sum of its own.
fn chain(datasets: usize) -> Ontology {
    let field = |name: &str, datatype: DataType, role: FieldRole| Field {
        name: name.into(),
        expression: name.into(),
        datatype,
        is_time: datatype.is_calendar(),
        role,
        index_values: name == "kind",
        ..Field::default()
    };
    let entities = (0..datasets).map(|at| Entity {
        name: name(at),
        source: name(at),
        primary_key: vec!["id".into()],
        default_time_field: Some("made_on".into()),
        fields: vec![
            Field { hidden: true, ..field("id", DataType::Integer, FieldRole::Key) },
            Field { hidden: true, ..field("next_id", DataType::Integer, FieldRole::Key) },
            Field {
                label: format!("{} kind", words(&name(at))),
                ..field("kind", DataType::String, FieldRole::Dimension)
            },
            field("made_on", DataType::Date, FieldRole::Dimension),
            Field { hidden: true, ..field("amount", DataType::Decimal, FieldRole::Measure) },
        ],
        ..Entity::default()
    });
    let relationships = (1..datasets).map(|at| Relationship {
        name: format!("link_{at}"),
        from: name(at - 1),
        to: name(at),
        from_columns: vec!["next_id".into()],
        to_columns: vec!["id".into()],
        ..Relationship::default()
    });
    let metrics = (0..datasets).map(|at| Metric {
        name: format!("{}_amount", name(at)),
        expression: format!("SUM({}.amount)", name(at)),
        datatype: DataType::Decimal,
        additivity: Additivity::Additive,
        ..Metric::default()
    });
    Ontology {
        name: "warehouse".into(),
        datasets: entities.collect(),
        relationships: relationships.collect(),
        metrics: metrics.collect(),
        ..Ontology::default()
    }
}
