//! What goes with a question that has no answer yet: as much of it as was read, as a query, the names that come near,
//! what data there are, and what to do next.

use std::sync::Arc;

use super::{Made, Questions};
use crate::base::id::Id;
use crate::engine::agent::explainer::restate;
use crate::engine::agent::near::{datasets, near};
use crate::engine::agent::prepared::Prepared;
use crate::engine::agent::query::write;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::run::Understood;

impl Questions {
    /// `None` for an answer: that has a query of its own.
    pub(super) async fn understood(
        &self,
        prepared: &Arc<Prepared>,
        ontology: Id<StoredOntology>,
        question: &str,
        made: &Made,
    ) -> Result<Option<Understood>> {
        let (unknown, plan, is_open) = match made {
            Made::Answer(_) => return Ok(None),
            Made::Clarify(open) => (Vec::new(), open.plan.as_ref(), true),
            Made::Cannot(refused) => (refused.cannot.unknown.clone(), refused.plan.as_ref(), false),
        };
        let words = if unknown.is_empty() { self.telling(question) } else { unknown.clone() };
        let looked_in = prepared.clone();
        // Many values are compared.
        let near = tokio::task::spawn_blocking(move || near(&words, &looked_in.ontology, &looked_in.values))
            .await
            .map_err(Error::internal)?;
        Ok(Some(Understood {
            query: plan.map(|plan| write(plan, &prepared.ontology)),
            read_as: plan.map(|plan| restate(plan, &prepared.ontology)),
            unknown,
            near,
            datasets: datasets(&prepared.ontology),
            advice: advice(ontology, plan.is_some(), is_open),
        }))
    }

    /// The words of a question that say what it is about.
    fn telling(&self, question: &str) -> Vec<String> {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        words.filter(|word| self.planners.is_own_word(word)).map(str::to_owned).collect()
    }
}

fn advice(ontology: Id<StoredOntology>, has_query: bool, is_open: bool) -> String {
    let with = match has_query {
        true => "change `query`, which is what was read so far, to what is meant",
        false => "write what is meant with the names here",
    };
    let go_on = format!(
        "call dragoman_query with ontologyId {ontology}: {with}. dragoman_get_ontology with `about` finds more names."
    );
    match is_open {
        true => format!("Answer all questions at once with ask_question and this conversationId. Or {go_on}"),
        false => format!("Do not guess an answer. To go on, {go_on}"),
    }
}
