//! How a question is read: by the built-in planner, and where that has no plan, by a language model, if the workspace
//! has one. What neither can read is asked back or declined as the built-in planner says it.

use super::ask::{Questions, Steps};
use super::planner::values::literals;
use super::planner::{model, rules};
use super::prepared::Prepared;
use crate::engine::job::Job;
use crate::engine::llm::LlmError;
use crate::model::plan::{Literal, Plan};
use crate::model::reading::Outcome;

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
        let outcome = rules::plan(question, &prepared.lexicon, &prepared.ontology, &prepared.graph, context);
        steps.trace.planner = "built-in".into();
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
        if prepared.lexicon.indexed(entity, at) == Some(true)
            && prepared.lexicon.near_values(entity, at, &text).first() != Some(&text)
        {
            return Err(format!("{}.{} has no value {text:?}", field.dataset, field.field));
        }
    }
    Ok(())
}
