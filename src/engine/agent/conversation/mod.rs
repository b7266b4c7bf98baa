//! A question within its conversation: which question is asked, how it is read, the answer made of its plan, and what
//! is kept of it.

mod answer;
mod ask;
mod erase;
mod guided;
mod memory;
mod open;
mod opened;
mod preferences;
mod query;
mod relax;
pub mod reword;
mod traces;
mod understand;
mod understood;

use std::time::Instant;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use self::answer::Answer;
use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::engine::agent::planner::Planners;
use crate::engine::agent::prepared::Ready;
use crate::engine::agent::stages::Record;
use crate::engine::llm::Models;
use crate::engine::ontology::library::Library;
use crate::engine::sql::SqlEngine;
use crate::model::chart::ChartSpec;
use crate::model::error::{Error, Result};
use crate::model::lineage::Lineage;
use crate::model::ontology::{Ontology, StoredOntology};
use crate::model::plan::Plan;
use crate::model::query::Query;
use crate::model::reading::{Cannot, Clarification};
use crate::model::run::{Caveat, Conversation, Ending, Phase, Run, Trace, Understood};
use crate::model::table::Table;
use crate::store::Db;

/// Answers questions over ontologies.
#[derive(Clone)]
pub struct Questions {
    db: Db,
    clock: Clock,
    sql: SqlEngine,
    models: Models,
    planners: Planners,
    library: Library,
    ready: Ready,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Ask {
    pub ontology: Id<StoredOntology>,
    pub question: String,
    pub conversation: Option<Id<Conversation>>,
    /// Where what each stage makes is noted, if anywhere.
    pub record: Record,
}

/// How it was answered.
#[derive(Clone, Debug)]
pub struct Answered {
    pub conversation: Id<Conversation>,
    pub run: Id<Run>,
    pub ending: Ending,
    pub body: Body,
}

/// What is said.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Markdown.
    pub narrative: String,
    /// How it was read, in words; plain text.
    pub read_as: Option<String>,
    /// How what the question left open was settled, as sentences.
    pub assumptions: Vec<String>,
    pub caveats: Vec<Caveat>,
    pub verified: Option<bool>,
    pub charts: Vec<ChartSpec>,
    /// One for each chart.
    pub svg: Vec<String>,
    pub lineage: Option<Lineage>,
    /// What is asked back.
    pub asked: Vec<Clarification>,
    pub table: Option<Table>,
    /// How it was read, to change and run again.
    pub query: Option<Query>,
    /// What there is to go on with where there is no answer.
    pub understood: Option<Understood>,
}

/// What a planner and the data made of a question.
enum Made {
    Answer(Box<Answer>),
    Clarify(Open),
    Cannot(Refused),
}

/// What is asked back, and the plan that stands when what is assumed holds.
#[derive(Default)]
struct Open {
    asked: Vec<Clarification>,
    plan: Option<Plan>,
}

/// Why there is no answer, and the plan of what was understood.
#[derive(Default)]
struct Refused {
    cannot: Cannot,
    plan: Option<Plan>,
}

impl Refused {
    fn because(reason: impl Into<String>) -> Self {
        Self { cannot: Cannot { reason: reason.into(), ..Cannot::default() }, plan: None }
    }
}

/// The steps of a question, with their times.
struct Steps {
    trace: Trace,
    /// What is uncertain whatever the answer is: with any of them it is not verified.
    caveats: Vec<Caveat>,
    record: Record,
    begun: Instant,
    /// When the step before ended.
    since: Instant,
}

impl Steps {
    fn new(record: Record) -> Self {
        let begun = Instant::now();
        Self { trace: Trace::default(), caveats: Vec::new(), record, begun, since: begun }
    }

    /// Ends a step.
    fn done(&mut self, name: &str, says: impl Into<String>) {
        self.done_at(Instant::now(), name, says);
    }

    /// Ends a step that was over at a time.
    fn done_at(&mut self, at: Instant, name: &str, says: impl Into<String>) {
        let ms = at.saturating_duration_since(self.since).as_secs_f64() * 1_000.0;
        self.since = at;
        self.trace.phases.push(Phase { name: name.into(), ms, says: says.into() });
    }
}

impl Questions {
    pub fn new(db: Db, clock: Clock, sql: SqlEngine, library: Library, models: Models, planners: Planners) -> Self {
        Self { db, clock, sql, models, library, ready: Ready::new(planners.clone()), planners }
    }
}

/// A time in the ontology's zone.
fn civil(ontology: &Ontology, at: Millis) -> Result<DateTime> {
    let zone = TimeZone::get(&ontology.calendar.timezone).map_err(Error::internal)?;
    let at = Timestamp::from_millisecond(at).map_err(Error::internal)?;
    Ok(at.to_zoned(zone).datetime())
}
