//! A planner that asks a language model. The model sees names, descriptions and types of the ontology, and answers with
//! a plan, with what is unclear, or with what is unknown. A plan has to be valid in the ontology, and to be the
//! question's (`ground`). Nothing of an answer is used that is not a name of the ontology or a word of the question, but
//! for the values in conditions, which the caller looks up ([`super::values::literals`]). So whatever stands in
//! descriptions, it can at worst lead to another plan that is valid, and the answer says which plan that was.

mod answer;
mod ground;
mod prompt;
mod select;
mod veil;

use self::veil::Veil;
use crate::base::clock::Millis;
use crate::engine::llm::{LlmError, Message, Model, Speaker};
use crate::model::ontology::Ontology;
use crate::model::plan::FieldRef;
use crate::model::reading::{Chosen, Outcome, Turn};

/// How much of a useless answer is sent back with what is wrong with it, in bytes.
const QUOTED: usize = 8 << 10;

/// What a question is asked in.
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    pub now: Millis,
    /// What was chosen for earlier questions back.
    pub chosen: &'a [Chosen],
    /// Questions of the conversation that were answered, the oldest first.
    pub history: &'a [Turn],
    /// Stored values that may be meant. They are sent only where the workspace lets values be sent.
    pub values: &'a [KnownValues],
}

/// Some stored values of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownValues {
    pub field: FieldRef,
    pub values: Vec<String>,
}

/// Why the built-in planner has to read the question.
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
/// [`Fallback`]: the caller goes on with the built-in planner.
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
    let problems = match read(reply.json()) {
        Ok(outcome) => return Ok(outcome),
        Err(problems) => problems,
    };
    tracing::debug!(problems = problems.len(), "the plan of a language model is sent back");
    let quoted = prompt::clipped(reply.json(), QUOTED);
    let quoted = if quoted.is_empty() { "{}".to_owned() } else { quoted };
    request.messages.push(Message { from: Speaker::Model, text: quoted });
    request.messages.push(Message { from: Speaker::User, text: prompt::repair(&problems) });
    let reply = model.complete(&request).await?;
    read(reply.json()).map_err(Fallback::NeverValid)
}

#[cfg(test)]
mod tests;
