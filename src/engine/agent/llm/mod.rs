//! A planner that asks a language model. The model sees names, descriptions and types of the ontology, and answers with
//! a plan, with what is unclear, or with what is unknown. A plan has to be valid in the ontology, and to be the
//! question's (`ground`). Nothing of an answer is used that is not a name of the ontology or a word of the question, but
//! for the values in conditions, which the caller looks up ([`super::plan::values::literals`]). So whatever stands in
//! descriptions, it can at worst lead to another plan that is valid, and the answer says which plan that was.

mod answer;
mod fence;
mod ground;
mod meant;
mod prompt;
mod select;
mod veil;

use futures_util::future::BoxFuture;

use self::veil::Veil;
use crate::base::clock::{Clock, Millis};
use crate::engine::agent::plan::values::literals;
use crate::engine::agent::planner::{self, FieldValues, Planner, Unread, View};
use crate::engine::agent::stages::Record;
use crate::engine::job::Job;
use crate::engine::llm::{LlmError, Message, Model, Models, Speaker};
use crate::model::ontology::Ontology;
use crate::model::plan::{Literal, Plan};
use crate::model::reading::{Chosen, Outcome, Turn};

/// How much of a useless answer is sent back with what is wrong with it, in bytes.
const QUOTED: usize = 8 << 10;

/// Reads questions with the language model of the workspace, where it has one.
pub struct LanguageModel {
    models: Models,
    clock: Clock,
}

impl LanguageModel {
    pub fn new(models: Models, clock: Clock) -> Self {
        Self { models, clock }
    }

    async fn read(
        &self,
        job: &Job<'_>,
        question: &str,
        view: &View<'_>,
        context: &planner::Context,
    ) -> Result<Outcome, Unread> {
        let model = self.models.open(job).await.map_err(|error| match error {
            LlmError::NotConfigured | LlmError::Off => Unread::Off,
            error => Unread::NotAsked(format!("The language model was not asked: {error}.")),
        })?;
        job.says(0.2, "Asking a language model how to read it");
        let asked = Context {
            now: self.clock.now(),
            chosen: &context.chosen,
            history: &context.previous,
            values: view.values,
            record: context.record.clone(),
        };
        let no_help = |problem: String| Unread::NoHelp(format!("The language model was no help: {problem}."));
        let read = plan(question, view.ontology, &asked, &model).await;
        let mut read = read.map_err(|error| no_help(error.to_string()))?;
        if let Outcome::Plan(reading) = &mut read {
            known(view, &reading.plan).map_err(no_help)?;
            reading.assumptions.push("A language model read the question: check how it was read.".into());
        }
        Ok(read)
    }
}

impl Planner for LanguageModel {
    fn name(&self) -> &'static str {
        "language model"
    }

    fn plan<'a>(
        &'a self,
        job: &'a Job<'_>,
        question: &'a str,
        view: &'a View<'_>,
        context: &'a planner::Context,
    ) -> BoxFuture<'a, Result<Outcome, Unread>> {
        Box::pin(self.read(job, question, view, context))
    }
}

/// Whether the texts that a plan compares with are stored, as far as all values of their fields are known.
fn known(view: &View<'_>, plan: &Plan) -> Result<(), String> {
    for (field, literal) in literals(plan) {
        let Literal::Text(text) = literal else { continue };
        if view.is_stored(&field.dataset, &field.field, &text) == Some(false) {
            return Err(format!("{}.{} has no value {text:?}", field.dataset, field.field));
        }
    }
    Ok(())
}

/// What a question is asked in.
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    pub now: Millis,
    /// What was chosen for earlier questions back.
    pub chosen: &'a [Chosen],
    /// Questions of the conversation that were answered, the oldest first.
    pub history: &'a [Turn],
    /// Stored values. Those that the question names are sent, and few of a field that has few, where the workspace lets
    /// values be sent.
    pub values: &'a [FieldValues],
    /// Where what the model answers is noted, if anywhere.
    pub record: Record,
}

/// Why a language model gave nothing that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fallback {
    #[error("{0}")]
    Model(#[from] LlmError),
    /// Neither the first answer nor the one after its problems were named could be used. The problems of the last.
    #[error("the language model gave no plan that fits the ontology")]
    NeverValid(Vec<String>),
}

/// Reads a question with a language model, which has one chance to repair its answer.
///
/// # Errors
/// [`Fallback`]: what the planners before it said stands.
pub async fn plan<M: Model>(
    question: &str,
    ontology: &Ontology,
    context: &Context<'_>,
    model: &M,
) -> Result<Outcome, Fallback> {
    let mut veil = Veil::new(model.may_see_values(), ontology);
    let mut request = prompt::request(question, ontology, context, &mut veil);
    let read = |reply: &str| answer::read(reply, question, ontology, context, &veil);
    let reply = model.complete(&request).await?;
    context.record.add("language model", || reply.json().to_owned());
    let problems = match read(reply.json()) {
        Ok(outcome) => return Ok(outcome),
        Err(problems) => problems,
    };
    tracing::debug!(problems = problems.len(), "the plan of a language model is sent back");
    let quoted = fence::clipped(reply.json(), QUOTED);
    let quoted = if quoted.is_empty() { "{}".to_owned() } else { quoted };
    request.messages.push(Message { from: Speaker::Model, text: quoted });
    request.messages.push(Message { from: Speaker::User, text: prompt::repair(&problems) });
    context.record.add("validation", || problems.join("\n"));
    let reply = model.complete(&request).await?;
    context.record.add("language model", || reply.json().to_owned());
    read(reply.json()).map_err(Fallback::NeverValid)
}

#[cfg(test)]
mod tests;
