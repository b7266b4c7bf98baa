//! Questions as they were answered, for those who asked them; for admins, in the console, those of everybody.

use super::Questions;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::access::Action;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::run::Run;
use crate::store;
use crate::store::questions::Whose;

impl Questions {
    /// The newest questions of an ontology: the caller's own, or where an admin asks for them in the console, everybody's.
    ///
    /// # Errors
    /// `ontology_not_found`; `forbidden` for everybody's to others than admins in the console.
    pub async fn runs(
        &self,
        job: &Job<'_>,
        ontology: Id<StoredOntology>,
        everybodys: bool,
        before: Option<Id<Run>>,
        limit: i64,
    ) -> Result<Vec<Run>> {
        self.library.owned(job, ontology).await?;
        let whose = if everybodys { everybodys_questions(job)? } else { own(job) };
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        store::questions::runs(&mut read, job.pass.org(), ontology, &whose, before, limit).await
    }

    /// One question of the caller's.
    ///
    /// # Errors
    /// `not_found`, the same for absent ones, for those of others, and for those of ontologies which the caller does not
    /// see.
    pub async fn run(&self, job: &Job<'_>, id: Id<Run>) -> Result<Run> {
        self.run_of(job, id, &own(job)).await
    }

    /// One question of anybody's, for an admin in the console.
    ///
    /// # Errors
    /// `not_found`; `forbidden` to others.
    pub async fn anybodys_run(&self, job: &Job<'_>, id: Id<Run>) -> Result<Run> {
        self.run_of(job, id, &everybodys_questions(job)?).await
    }

    async fn run_of(&self, job: &Job<'_>, id: Id<Run>, whose: &Whose) -> Result<Run> {
        let missing = || Error::not_found("question");
        let found = {
            let mut read = self.db.read_tenant(job.pass.org()).await?;
            store::questions::run(&mut read, job.pass.org(), id).await?
        };
        let run = found.filter(|run| whose.has(run)).ok_or_else(missing)?;
        match self.library.owned(job, run.ontology).await {
            Ok(_) => Ok(run),
            Err(error) if error.code == Code::OntologyNotFound => Err(missing()),
            Err(error) => Err(error),
        }
    }
}

/// Whether the caller is an admin in the console, or the operator.
pub(super) fn is_admin(job: &Job<'_>) -> bool {
    !job.pass.is_external() && job.pass.rights().allow(Action::Administer)
}

/// The caller's own questions: for a person also those that were asked through clients of theirs, for a client its own
/// alone.
fn own(job: &Job<'_>) -> Whose {
    let person = job.pass.user().filter(|_| !job.pass.is_external()).map(|user| user.to_string());
    Whose::Of { credential: job.pass.credential().to_owned(), person }
}

fn everybodys_questions(job: &Job<'_>) -> Result<Whose> {
    if is_admin(job) {
        return Ok(Whose::Everybodys);
    }
    let message = "The questions of others can be read by admins of the workspace alone, in the console.";
    Err(Error::forbidden("questions_of_others", message))
}
