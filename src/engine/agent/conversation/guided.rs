//! What an ontology offers to who is to write a query over it, as far as the caller sees it.

use super::{Questions, civil};
use crate::base::id::Id;
use crate::engine::agent::guide::{Wish, guide};
use crate::engine::job::Job;
use crate::engine::ontology::library::Visible;
use crate::model::access::Action;
use crate::model::error::{Error, Result};
use crate::model::guide::Guide;
use crate::model::ontology::StoredOntology;

/// Why nothing is said of the data.
const NO_RIGHT: &str = "Stored values are not shown: this needs the right to read schemas.";
const NOT_READ: &str = "Stored values and times could not be read at the moment.";

impl Questions {
    /// What may be named in a query, in at most so many bytes of JSON; with `about`, what has to do with these words, and
    /// the stored values that they name. Values are told to those who may see samples of them.
    ///
    /// # Errors
    /// `ontology_not_found`, `ontology_not_ready`; `query_timeout`.
    pub async fn guide(
        &self,
        job: &Job<'_>,
        ontology: Id<StoredOntology>,
        about: Option<String>,
        bytes: usize,
    ) -> Result<(Visible, Guide)> {
        let visible = self.library.readable(job, ontology).await?;
        let (prepared, why) = match job.pass.rights().allow(Action::ReadSchema) {
            false => (None, Some(NO_RIGHT)),
            true => match self.ready.get(&self.sql, job, &visible).await {
                Ok(prepared) => (Some(prepared), None),
                Err(error) => {
                    job.check()?;
                    tracing::warn!(code = error.code.info().name, "the values of an ontology could not be read");
                    (None, Some(NOT_READ))
                }
            },
        };
        let now = civil(&visible.ontology, self.clock.now())?;
        let of = visible.ontology.clone();
        // Of a large ontology every word is looked at.
        let work = tokio::task::spawn_blocking(move || {
            let wish = Wish { about: about.as_deref(), now, bytes };
            guide(&of, prepared.as_deref(), why, &wish)
        });
        Ok((visible, work.await.map_err(Error::internal)?))
    }
}
