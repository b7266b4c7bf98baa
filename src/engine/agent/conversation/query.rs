//! A query in the place of a question: read as a plan, and answered as the plan of a question is.

use serde_json::json;

use super::ask::{is_late, late};
use super::opened::Opened;
use super::{Answered, Questions, Steps, civil};
use crate::base::id::Id;
use crate::engine::agent::compiler::{CompileError, Compiled, compile};
use crate::engine::agent::explainer::restate;
use crate::engine::agent::guide::by_way;
use crate::engine::agent::plan::validate::validate;
use crate::engine::agent::prepared::Prepared;
use crate::engine::agent::query::{read, refusal};
use crate::engine::agent::stages::Record;
use crate::engine::job::Job;
use crate::engine::render::nouns::capital;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Ontology, StoredOntology};
use crate::model::plan::Plan;
use crate::model::query::Query;
use crate::model::reading::{Reading, Turn};
use crate::model::run::Ending;

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
        let mut steps = Steps::new(Record::default());
        let text = serde_json::to_string(query).map_err(Error::internal)?;
        if text.len() > MOST_BYTES {
            return Err(Error::invalid("query", format!("A query has at most {MOST_BYTES} bytes.")));
        }
        let Opened { prepared, over, .. } = self.opened(job, ontology, &mut steps).await?;
        job.says(0.1, "Reading the query");
        let now = civil(&prepared.ontology, self.clock.now())?;
        let plan = read(query, &prepared.ontology, now).map_err(|problems| refusal(&problems, query))?;
        let plan = without_rank(plan);
        let compiled = computable(&plan, &prepared, job.budget.ask_rows)?;
        steps.trace.planner = PLANNER.into();
        steps.trace.notes.clone_from(&prepared.left_out);
        steps.done("plan", "read from a query");

        let mut conversation = self.conversation(job, ontology, None).await?;
        let reading = Reading { plan, ..Reading::default() };
        let answer = match self.computed(job, &prepared, "", (reading, &compiled), &mut steps).await {
            Ok(answer) => answer,
            Err(error) => {
                steps.trace.notes.push(error.message.clone());
                let run = self.ended(job, &conversation, &text, Ending::Failed, steps);
                self.keep(&mut conversation, run, &over).await?;
                return Err(error);
            }
        };
        // A question that follows says it in words, and so does the console.
        let said = restate(&answer.reading.plan, &prepared.ontology);
        conversation.state.turns.push(Turn { question: said, plan: answer.reading.plan.clone() });
        conversation.updated_at = self.clock.now();
        steps.trace.reading = Some(answer.reading);
        let run = self.ended(job, &conversation, &text, Ending::Answer, steps);
        let id = run.id;
        self.keep(&mut conversation, run, &over).await?;
        Ok(Answered { conversation: conversation.id, run: id, ending: Ending::Answer, body: answer.body })
    }
}

/// The statement of a plan, for so many rows.
///
/// # Errors
/// `invalid_argument`: what would mean nothing, what cannot be computed, and which ways there are where it is open.
fn computable(plan: &Plan, prepared: &Prepared, rows: usize) -> Result<Compiled> {
    let ontology = &prepared.ontology;
    let problems = validate(plan, ontology);
    if let Some(first) = problems.first() {
        let place = first.split([':', '[', '.']).next().filter(|place| *place != "plan");
        let told: Vec<&str> = problems.iter().map(|problem| problem.trim_start_matches("plan: ")).collect();
        return Err(Error::invalid(
            place.unwrap_or("query"),
            format!("This query cannot be answered. {}", told.join(" ")),
        ));
    }
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    compile(plan, ontology, &prepared.graph, prepared.dialect, rows).map_err(|problem| not_compiled(&problem, ontology))
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
    // What has nothing of its own cannot be named, and several may be named alike.
    let mut choices: Vec<(String, &String)> = Vec::new();
    for (way, label) in options.iter().zip(labels) {
        let own = own(way, options);
        let name = by_way(&own, to, ontology);
        if !own.is_empty() && choices.iter().all(|(other, _)| *other != name) {
            choices.push((name, label));
        }
    }
    choices.truncate(MOST_WAYS);
    let told: Vec<String> = choices.iter().map(|(way, label)| format!("`{way}.…` ({label})")).collect();
    let choices: Vec<String> = choices.into_iter().map(|(way, _)| way).collect();
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
