//! How a question is read: by the built-in planner, and where that has no plan, by a language model, if the workspace
//! has one. What neither can read is asked back or declined as the built-in planner says it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::ask::{Questions, Steps};
use super::lexicon::Effort;
use super::planner::values::literals;
use super::planner::{model, rules};
use super::prepared::Prepared;
use crate::engine::job::Job;
use crate::engine::llm::LlmError;
use crate::model::plan::{Literal, Plan};
use crate::model::reading::{Cannot, Outcome};

/// Sentences about unknown values that are told with a word that means nothing.
const MOST_TOLD: usize = 3;

impl Questions {
    /// Reads a question.
    pub(super) async fn understand(
        &self,
        job: &Job<'_>,
        prepared: &Prepared,
        question: &str,
        context: &rules::Context,
        steps: &mut Steps,
    ) -> Outcome {
        let outcome = self.by_rules(job, prepared, question, context).await;
        steps.trace.planner = "built-in".into();
        for left_out in &prepared.left_out {
            if !steps.trace.notes.contains(left_out) {
                steps.trace.notes.push(left_out.clone());
            }
        }
        if matches!(outcome, Outcome::Plan(_)) {
            return outcome;
        }
        let model = match self.models.open(job).await {
            Ok(model) => model,
            Err(LlmError::NotConfigured | LlmError::Off) => return outcome,
            Err(error) => {
                steps.trace.notes.push(format!("The language model was not asked: {error}."));
                return outcome;
            }
        };
        steps.done("built-in planner", "no plan");
        job.says(0.2, "Asking a language model how to read it");
        let asked =
            model::Context { now: self.clock.now(), chosen: &context.chosen, history: &context.previous, values: &[] };
        let read = model::plan(question, &prepared.ontology, &asked, &model).await;
        let read = read.map_err(|error| error.to_string()).and_then(|read| match &read {
            Outcome::Plan(reading) => known(prepared, &reading.plan).map(|()| read),
            Outcome::Clarify(_) | Outcome::Cannot(_) => Ok(read),
        });
        match read {
            Ok(Outcome::Plan(mut reading)) => {
                steps.trace.planner = "language model".into();
                reading.assumptions.push("A language model read the question: check how it was read.".into());
                Outcome::Plan(reading)
            }
            // What it asks or declines is no better than what the built-in planner does.
            Ok(Outcome::Clarify(_) | Outcome::Cannot(_)) => outcome,
            Err(problem) => {
                steps.trace.notes.push(format!("The language model was no help: {problem}."));
                outcome
            }
        }
    }
}

impl Questions {
    /// Where nobody else waits for the thread, and no longer than somebody waits for the answer.
    async fn by_rules(&self, job: &Job<'_>, prepared: &Prepared, question: &str, context: &rules::Context) -> Outcome {
        let gone = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(gone.clone());
        let (cancel, until) = (job.cancel.clone(), Instant::now() + job.time_left());
        let (ontology, graph, lexicon) = (prepared.ontology.clone(), prepared.graph.clone(), prepared.lexicon.clone());
        let (question, context) = (question.to_owned(), context.clone());
        let read = move || {
            let stop = || gone.load(Ordering::Relaxed) || cancel.is_cancelled() || Instant::now() >= until;
            rules::plan_within(&question, &lexicon, &ontology, &graph, &context, &Effort::new(&stop))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(outcome) => told_apart(outcome, &prepared.left_out),
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The service is being stopped.
                Err(_) => {
                    Outcome::Cannot(Cannot { reason: "The service is being stopped.".into(), ..Cannot::default() })
                }
            },
        }
    }
}

/// Somebody waits for as long as it is there.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A word that means nothing may be a value that is not known: that is said beside it.
fn told_apart(outcome: Outcome, left_out: &[String]) -> Outcome {
    match outcome {
        Outcome::Cannot(mut cannot) if !cannot.unknown.is_empty() => {
            for sentence in left_out.iter().take(MOST_TOLD) {
                cannot.reason = format!("{} {sentence}", cannot.reason);
            }
            Outcome::Cannot(cannot)
        }
        other => other,
    }
}

/// Whether the texts that a plan compares with are stored, as far as all values of their fields are known.
fn known(prepared: &Prepared, plan: &Plan) -> Result<(), String> {
    for (field, literal) in literals(plan) {
        let Literal::Text(text) = literal else { continue };
        let entities = &prepared.ontology.datasets;
        let Some(entity) = entities.iter().position(|it| it.name.eq_ignore_ascii_case(&field.dataset)) else {
            continue;
        };
        let fields = &entities[entity].fields;
        let Some(at) = fields.iter().position(|it| it.name.eq_ignore_ascii_case(&field.field)) else { continue };
        if prepared.lexicon.indexed(entity, at) == Some(true) && !prepared.lexicon.has_value(entity, at, &text) {
            return Err(format!("{}.{} has no value {text:?}", field.dataset, field.field));
        }
    }
    Ok(())
}
