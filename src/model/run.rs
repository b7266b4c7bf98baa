//! Questions as they were asked: conversations, what happened on the way to each answer, and what people let the
//! workspace remember.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::ontology::StoredOntology;
use crate::model::org::Org;
use crate::model::query::Query;
use crate::model::reading::{Cannot, Chosen, Clarification, Reading, Turn};

/// Most rounds of questions back in one conversation before an answer rests on assumptions.
pub const MOST_ROUNDS: u32 = 3;

/// Questions that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub id: Id<Conversation>,
    pub org: Id<Org>,
    pub ontology: Id<StoredOntology>,
    /// Who asked first; nobody else can go on.
    pub credential: String,
    pub state: State,
    /// Counts the writes: of two questions at once the later write is refused. 0 before the first.
    pub revision: i64,
    pub updated_at: Millis,
}

/// What the next question may refer to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last answered questions, oldest first.
    pub turns: Vec<Turn>,
    /// What was chosen so far.
    pub chosen: Vec<Chosen>,
    /// The question that waits for an answer, and what was asked back.
    pub pending: Option<Pending>,
}

/// A question that was answered by questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub question: String,
    pub asked: Vec<Clarification>,
    /// Counts from 1.
    pub round: u32,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Answer,
    Clarification,
    CannotAnswer,
    Failed,
}

impl Ending {
    pub const ALL: [Ending; 4] = [Ending::Answer, Ending::Clarification, Ending::CannotAnswer, Ending::Failed];

    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Answer => "answer",
            Ending::Clarification => "clarification",
            Ending::CannotAnswer => "cannot_answer",
            Ending::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == text)
    }
}

/// One question on its way to an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: Id<Run>,
    pub org: Id<Org>,
    pub ontology: Id<StoredOntology>,
    pub conversation: Id<Conversation>,
    pub credential: String,
    /// The person behind the credential; `None` for a connectivity token and for the operator.
    pub asked_by: Option<String>,
    pub question: String,
    pub ending: Ending,
    pub trace: Trace,
    pub duration_ms: i64,
    pub asked_at: Millis,
}

/// What happened, step by step. Holds no row of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// Whose plan, question back or refusal it is: `built-in` or `language model`. Empty when none was asked, as for a
    /// plan that somebody has verified.
    pub planner: String,
    pub phases: Vec<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub reading: Option<Reading>,
    /// Whether it rests on the question before it.
    #[serde(default)]
    pub follows: bool,
    /// Whether it rests on what the person who asked has set for themselves.
    #[serde(default)]
    pub own: bool,
    /// What was chosen in its conversation.
    #[serde(default)]
    pub chosen: Vec<Chosen>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub asked_back: Vec<Clarification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cannot: Option<Cannot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    pub checks: Vec<CheckFound>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<usize>,
    /// Whether every check was made and passed; absent when nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
}

/// A step and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    pub name: String,
    pub ms: f64,
    /// What it came to, in a few words.
    pub says: String,
}

/// What a stage on the way to an answer made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    pub name: String,
    pub made: String,
}

/// A reason to trust or distrust the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckFound {
    pub name: String,
    pub passed: bool,
    pub says: String,
}

/// What makes an answer less than it seems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    pub kind: CaveatKind,
    /// A sentence.
    pub says: String,
}

/// What a caveat is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaveatKind {
    /// A check failed, or could not be made: the numbers may be wrong.
    Unverified,
    /// Not all rows are here.
    Incomplete,
    /// How the data are: rows that belong to nothing, groups without a value.
    Data,
    /// How the numbers are made.
    Method,
    /// Why nothing was found.
    Empty,
}

impl CaveatKind {
    /// A caveat of this kind.
    pub fn says(self, says: impl Into<String>) -> Caveat {
        Caveat { kind: self, says: says.into() }
    }
}

/// What there is to go on with where a question has no answer yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Understood {
    /// As much of the question as was read: with what is assumed, without the words that mean nothing here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// Words of the question that mean nothing here.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unknown: Vec<String>,
    pub near: Near,
    /// What there is, as far as the caller sees it.
    pub datasets: Vec<Described>,
    /// What to do next.
    pub advice: String,
}

/// Names that a query may use, those that come nearest to the question first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Near {
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub metrics: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub segments: Vec<String>,
    /// `dataset.field`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fields: Vec<String>,
    /// Stored values, as conditions: `shop.town = 'Ghent'`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub values: Vec<String>,
}

/// A dataset of an ontology, and what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Described {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub description: String,
}

/// What is kept of what people agreed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// How an open point is settled from now on.
    Preference,
    /// Which plan answers a question.
    Verified,
}

impl Memory {
    pub fn name(self) -> &'static str {
        match self {
            Memory::Preference => "preference",
            Memory::Verified => "verified",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Memory::Preference, Memory::Verified].into_iter().find(|memory| memory.name() == text)
    }
}

/// One thing remembered of an ontology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    pub id: Id<Remembered>,
    pub org: Id<Org>,
    pub ontology: Id<StoredOntology>,
    pub memory: Memory,
    /// The open point's key, or the question in its normal form.
    pub key: String,
    /// What was chosen, or the plan as JSON.
    pub value: String,
    /// For people: the choice's label, or the question as it was asked.
    pub said: String,
    /// A person's id; `None` for a token and for the operator.
    pub made_by: Option<String>,
    pub made_at: Millis,
}
