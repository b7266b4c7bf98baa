//! Questions to an invented bakery. Every expectation was worked out by hand.

mod answers;
mod clauses;
mod conversations;
mod durations;
mod events;
mod everyday;
mod forms;
mod groups;
mod guard;
mod light;
mod orders;
mod others;
mod quantified;
mod refusals;
mod roles;
mod sets;
mod shown;
mod spoken;
mod wholes;
mod work;

use crate::engine::ontology::graph::Graph;
use crate::engine::ontology::read::read;
use crate::model::ontology::Ontology;

use super::dialogue::choose::choose;
use super::lexicon::{Effort, Lexicon};
use super::read::plan_within;
use super::repair::vague;
use super::{rewrite, vocabulary};
use crate::engine::agent::planner::{Context, Extent, FieldValues};
use crate::model::reading::{Chosen, Outcome, Turn};

/// Reads a question for as long as it takes.
fn plan(question: &str, on: &Lexicon, ontology: &Ontology, graph: &Graph, context: &Context) -> Outcome {
    plan_within(question, on, ontology, graph, context, &Effort::default())
}

struct Bakery {
    ontology: Ontology,
    lexicon: Lexicon,
    graph: Graph,
}

fn known(dataset: &str, field: &str, values: &[&str]) -> FieldValues {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    FieldValues { dataset: dataset.into(), field: field.into(), values, complete: true }
}

fn bakery() -> Bakery {
    bakery_with(&[], &[])
}

/// The bakery with other words in its ontology, and with breads of other names beside its own.
fn bakery_with(changes: &[(&str, &str)], breads: &[&str]) -> Bakery {
    let mut text = include_str!("bakery.yaml").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let ontology = read(&text).unwrap().ontology;
    let values = vec![
        known("sale", "channel", &["counter", "online", "phone"]),
        known("shop", "shop_name", &["North Lane", "Harbour", "Castle Hill"]),
        known("shop", "town", &["Lund", "Bergen", "Paris"]),
        known("customer", "full_name", &["Mary Smith", "John Smith", "Ada Berg", "Robert'); DROP TABLE sale;--"]),
        known("customer", "country", &["SE", "NO", "DK"]),
        known("van_trip", "origin_note", &["Depot"]),
        known("bread", "title", &[["Rye Loaf", "Baguette", "Pumpernickel"].as_slice(), breads].concat()),
        known("bread", "flour", &["rye", "wheat", "spelt"]),
    ];
    let lexicon = Lexicon::build(&ontology, &values);
    let graph = Graph::new(&ontology);
    Bakery { ontology, lexicon, graph }
}

fn context() -> Context {
    Context {
        now: jiff::civil::datetime(2025, 6, 15, 12, 0, 0, 0),
        previous: vec![],
        chosen: vec![],
        default_window: None,
        extent: None,
        ..Context::default()
    }
}

impl Bakery {
    fn ask(&self, question: &str) -> Outcome {
        self.ask_in(question, &context())
    }

    fn ask_in(&self, question: &str, context: &Context) -> Outcome {
        plan(question, &self.lexicon, &self.ontology, &self.graph, context)
    }

    fn said(&self, question: &str) -> String {
        shown::outcome(&self.ask(question))
    }
}

/// What the last question of a conversation means.
fn talk(bakery: &Bakery, questions: &[&str]) -> String {
    let mut context = context();
    let mut said = String::new();
    for question in questions {
        let outcome = bakery.ask_in(question, &context);
        said = shown::outcome(&outcome);
        if let Outcome::Plan(reading) = outcome {
            context.previous.push(Turn { question: (*question).into(), plan: reading.plan });
        }
    }
    said
}

/// Checks all questions, and says all that are not as expected.
fn check(bakery: &Bakery, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(question, expected)| (question, expected, bakery.said(question)))
        .filter(|(_, expected, said)| said != *expected)
        .map(|(question, expected, said)| format!("{question}\n   said     {said}\n   expected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
