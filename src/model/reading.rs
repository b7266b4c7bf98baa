//! How a question was understood: a plan with the words that it was made from, a question back, or why there is no
//! answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::plan::Plan;

/// What a planner makes of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Plan(Box<Reading>),
    /// One to three questions back.
    Clarify(Vec<Clarification>),
    Cannot(Cannot),
}

/// A question understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub plan: Plan,
    /// Which words became what, in their order.
    pub phrases: Vec<Phrase>,
    /// What the question left open and how it was settled, as sentences for people.
    pub assumptions: Vec<String>,
    /// Whether it goes on from the question before: alone it would mean something else, or nothing.
    #[serde(default)]
    pub follows: bool,
    /// Other readings that were looked at, best first, for the trace.
    pub candidates: Vec<Candidate>,
}

/// Some words of the question and what they were taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Phrase {
    pub text: String,
    /// "the metric total premium", "carrier is United Air Lines Inc.", "1 Jan – 31 Mar 2013".
    pub means: String,
}

/// A reading that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The plan in words.
    pub reading: String,
    /// Higher is better; only the order among candidates of one question means anything.
    pub score: f64,
}

/// A question back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clarification {
    /// What is open, stable over turns: an answer is kept under it.
    pub key: String,
    pub question: String,
    /// 2 to 5.
    pub options: Vec<Choice>,
    /// What holds when nobody answers; the label of one of the options.
    pub assumption: String,
}

/// A way to settle what is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// For people.
    pub label: String,
    /// For the planner: what the key stands for when this is chosen.
    pub value: String,
}

/// What was chosen for a key, by an answer or as a preference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    pub key: String,
    pub value: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cannot {
    /// One or two sentences.
    pub reason: String,
    /// Words of the question that mean nothing here.
    pub unknown: Vec<String>,
    /// What comes nearest, or what there is, in words that can be used in a question.
    pub instead: Vec<String>,
}

/// A question of a conversation that was answered, for the questions that follow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub question: String,
    pub plan: Plan,
}
