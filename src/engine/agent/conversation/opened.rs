//! What a question and a query have in common: both begin with an ontology that is ready to be asked, and both leave a
//! record of themselves.

use std::sync::Arc;
use std::time::Instant;

use super::{Questions, Steps};
use crate::base::clock::millis;
use crate::base::id::Id;
use crate::engine::agent::prepared::{Prepared, tables};
use crate::engine::job::Job;
use crate::engine::ontology::library::Visible;
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::model::ontology::StoredOntology;
use crate::model::run::{CaveatKind, Conversation, Ending, Run};

/// Said of an answer over data that were not compared with the ontology.
const NOT_COMPARED: &str = "The data changed, and were not yet compared again with what the ontology says of them (keys, \
                            references, types).";

/// An ontology that is asked.
pub(super) struct Opened {
    pub visible: Visible,
    pub prepared: Arc<Prepared>,
    /// The data that it is asked over.
    pub over: Vec<Id<Dataset>>,
}

impl Questions {
    /// Makes an ontology ready to be asked. What is uncertain of every answer over it is added to the steps, whose time
    /// begins anew.
    ///
    /// # Errors
    /// `ontology_not_found`, `ontology_not_ready`, and those of the SQL engine.
    pub(super) async fn opened(&self, job: &Job<'_>, of: Id<StoredOntology>, steps: &mut Steps) -> Result<Opened> {
        let visible = self.library.ready(job, of).await?;
        let prepared = self.ready.get(&self.sql, job, &visible).await?;
        let over = tables(&visible.ontology, job.pass.datasets()).iter().map(|table| table.id).collect();
        if !visible.compared {
            steps.caveats.push(CaveatKind::Unverified.says(NOT_COMPARED));
        }
        steps.since = Instant::now();
        Ok(Opened { visible, prepared, over })
    }

    /// What is kept of a question that ended.
    pub(super) fn ended(
        &self,
        job: &Job<'_>,
        conversation: &Conversation,
        question: &str,
        ending: Ending,
        steps: Steps,
    ) -> Run {
        Run {
            id: Id::new(&self.clock),
            org: job.pass.org(),
            ontology: conversation.ontology,
            conversation: conversation.id,
            credential: job.pass.credential().to_owned(),
            asked_by: job.pass.user().map(|user| user.to_string()),
            question: question.to_owned(),
            ending,
            trace: steps.trace,
            duration_ms: millis(steps.begun.elapsed()),
            asked_at: self.clock.now(),
        }
    }
}
