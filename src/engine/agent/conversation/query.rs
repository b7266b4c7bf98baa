//! A query in the place of a question: read as a plan, and answered as the plan of a question is.

use std::time::Instant;

use serde_json::json;

use super::ask::{NOT_COMPARED, is_late, late};
use super::{Answered, Made, Questions, Steps, civil};
use crate::base::id::Id;
use crate::engine::agent::compiler::{CompileError, compile};
use crate::engine::agent::explainer::restate;
use crate::engine::agent::guide::by_way;
use crate::engine::agent::plan::validate::validate;
use crate::engine::agent::prepared::{Prepared, tables};
use crate::engine::agent::query::{read, refusal};
use crate::engine::agent::record::Record;
use crate::engine::job::Job;
use crate::engine::render::nouns::capital;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Ontology, StoredOntology};
use crate::model::plan::Plan;
use crate::model::query::Query;
use crate::model::reading::{Reading, Turn};
use crate::model::run::{CaveatKind, Ending, Run};

/// Longest query as JSON, in bytes.
const MOST_BYTES: usize = 16 << 10;

/// Ways that are told where several are meant.
const MOST_WAYS: usize = 8;

/// Whose plan it is, in its trace.
const PLANNER: &str = "query";

impl Questions {
    /// Answers a query. It begins a conversation of its own, which a question may go on with.
    ///
    /// # Errors
    /// `invalid_argument` with every place that cannot be read and the nearest names, for what cannot be computed, and
    /// with the ways to choose from where several lead to a dataset; and as [`Questions::ask`].
    pub async fn query(&self, job: &Job<'_>, ontology: Id<StoredOntology>, query: &Query) -> Result<Answered> {
        let answered = self.queried(job, ontology, query).await;
        answered.map_err(|error| if is_late(job, &error) { late(job) } else { error })
    }

    async fn queried(&self, job: &Job<'_>, ontology: Id<StoredOntology>, query: &Query) -> Result<Answered> {
        let started = Instant::now();
        let text = serde_json::to_string(query).map_err(Error::internal)?;
        if text.len() > MOST_BYTES {
            return Err(Error::invalid("query", format!("A query has at most {MOST_BYTES} bytes.")));
        }
        let visible = self.library.ready(job, ontology).await?;
        let prepared = self.ready.get(&self.sql, job, &visible).await?;
        let over: Vec<Id<Dataset>> =
            tables(&visible.ontology, job.pass.datasets()).iter().map(|table| table.id).collect();
        let mut steps = Steps::new(Record::default());
        if !visible.compared {
            steps.caveats.push(CaveatKind::Unverified.says(NOT_COMPARED));
        }
        job.says(0.1, "Reading the query");
        let now = civil(&prepared.ontology, self.clock.now())?;
        let plan = read(query, &prepared.ontology, now).map_err(|problems| refusal(&problems, query))?;
        let plan = computable(plan, &prepared)?;
        steps.trace.planner = PLANNER.into();
        steps.trace.notes.clone_from(&prepared.left_out);
        steps.done("plan", "read from a query");

        let mut conversation = self.conversation(job, ontology, None).await?;
        let reading = Reading { plan, ..Reading::default() };
        let made = self.answer(job, &prepared, "", reading, &[], &mut steps).await;
        let conversation_id = conversation.id;
        let run = |ending, trace| Run {
            id: Id::new(&self.clock),
            org: job.pass.org(),
            ontology,
            conversation: conversation_id,
            credential: job.pass.credential().to_owned(),
            asked_by: job.pass.user().map(|user| user.to_string()),
            question: text.clone(),
            ending,
            trace,
            duration_ms: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
            asked_at: self.clock.now(),
        };
        let answer = match made {
            Ok(Made::Answer(answer)) => answer,
            // What can be compiled has an answer.
            Ok(_) => return Err(Error::internal("a plan that can be compiled was not answered")),
            Err(error) => {
                steps.trace.notes.push(error.message.clone());
                self.keep(&mut conversation, run(Ending::Failed, steps.trace), &over).await?;
                return Err(error);
            }
        };
        // A question that follows says it in words, and so does the console.
        let said = restate(&answer.reading.plan, &prepared.ontology);
        conversation.state.turns.push(Turn { question: said, plan: answer.reading.plan.clone() });
        conversation.updated_at = self.clock.now();
        steps.trace.reading = Some(answer.reading);
        let run = run(Ending::Answer, steps.trace);
        let id = run.id;
        self.keep(&mut conversation, run, &over).await?;
        Ok(Answered { conversation: conversation_id, run: id, ending: Ending::Answer, body: answer.body })
    }
}

/// A plan that has a statement.
///
/// # Errors
/// `invalid_argument`: what would mean nothing, what cannot be computed, and which ways there are where it is open.
fn computable(plan: Plan, prepared: &Prepared) -> Result<Plan> {
    let plan = without_rank(plan);
    let ontology = &prepared.ontology;
    let problems = validate(&plan, ontology);
    if let Some(first) = problems.first() {
        let place = first.split([':', '[', '.']).next().filter(|place| *place != "plan");
        let told: Vec<&str> = problems.iter().map(|problem| problem.trim_start_matches("plan: ")).collect();
        return Err(Error::invalid(
            place.unwrap_or("query"),
            format!("This query cannot be answered. {}", told.join(" ")),
        ));
    }
    match compile(&plan, ontology, &prepared.graph, prepared.dialect, 1) {
        Ok(_) => Ok(plan),
        Err(problem) => Err(not_compiled(&problem, ontology)),
    }
}

/// One number has no order and no first: what says so all the same says nothing.
fn without_rank(mut plan: Plan) -> Plan {
    let is_one = plan.dimensions.is_empty() && plan.subject.is_none() && !plan.measures.is_empty();
    if is_one {
        plan.order.clear();
        plan.limit = plan.limit.filter(|limit| limit.skip > 0 || limit.rows == 0 || !limit.per.is_empty());
    }
    plan
}

fn not_compiled(problem: &CompileError, ontology: &Ontology) -> Error {
    let CompileError::Ambiguous { from, to, options, labels } = problem else {
        let message = format!("This query cannot be answered: {}.", capital(&problem.to_string()));
        return Error::invalid("query", message);
    };
    let choices: Vec<String> =
        options.iter().take(MOST_WAYS).map(|way| by_way(&own(way, options), to, ontology)).collect();
    let told: Vec<String> = choices.iter().zip(labels).map(|(way, label)| format!("`{way}.…` ({label})")).collect();
    let message = format!(
        "{from} and {to} are connected in several ways. Say which is meant, before the name of the dataset: {}.",
        told.join(", ")
    );
    Error::invalid("query", message).with(json!({ "field": "query", "dataset": to, "ways": choices }))
}

/// The relationships of a way that not all of them have.
fn own(way: &[String], all: &[Vec<String>]) -> Vec<String> {
    way.iter().filter(|name| !all.iter().all(|other| other.contains(name))).cloned().collect()
}
