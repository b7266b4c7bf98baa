//! Texts that are saved, as new ontologies and as next versions of old ones, and ontologies that go.

use super::{Library, tables};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::ontology::covered::Covered;
use crate::engine::ontology::{check, read};
use crate::model::access::Pass;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Entity, Ontology, Problem, Severity, Status, StoredOntology};
use crate::store;

/// Texts of an ontology that are kept, and the characters of all of them.
const KEPT: (i64, i64) = (100, 64 << 20);

/// Ontologies of a workspace.
const MOST: i64 = 100;

/// What saving a text came to.
#[derive(Clone, Debug)]
pub struct Saved {
    pub stored: StoredOntology,
    /// What is wrong or doubtful; errors among them make it `failed`.
    pub problems: Vec<Problem>,
}

impl Library {
    /// Keeps a text as a new ontology, or as the next version of `id`. `before` is the version that it was made from.
    ///
    /// # Errors
    /// `invalid_argument` with every problem of a text that cannot be read, or for a name that is taken or a version
    /// that is not the newest, and for a text of an external client that names a table which it does not see;
    /// `ontology_not_found`; `limit_exceeded` for one more than a workspace may have.
    pub async fn save(
        &self,
        job: &Job<'_>,
        id: Option<Id<StoredOntology>>,
        text: &str,
        before: Option<i64>,
        summary: &str,
    ) -> Result<Saved> {
        let old = match id {
            Some(id) => Some(self.owned(job, id).await?),
            None => None,
        };
        let (text, pass) = (text.to_owned(), job.pass.clone());
        let judge = move || judged(&text, &pass).map(|judged| (judged, text));
        let judged = tokio::task::spawn_blocking(judge).await.map_err(Error::internal)?;
        let ((ontology, problems), text) = judged?;
        let errors: Vec<&Problem> = problems.iter().filter(|it| it.severity == Severity::Error).collect();
        let (status, problem) = match errors.first() {
            None => (Status::Draft, String::new()),
            Some(first) => (Status::Failed, summed(first, errors.len())),
        };
        let now = self.clock.now();
        if let (Some(old), Some(before)) = (&old, before)
            && old.version != before
        {
            return Err(outdated(old.version));
        }
        let stored = StoredOntology {
            id: old.as_ref().map_or_else(|| Id::new(&self.clock), |old| old.id),
            org: job.pass.org(),
            name: ontology.name.clone(),
            description: ontology.description.clone(),
            status,
            problem,
            version: old.as_ref().map_or(1, |old| old.version + 1),
            dataset_count: count(ontology.datasets.len()),
            field_count: count(ontology.datasets.iter().map(|entity| entity.fields.len()).sum()),
            created_at: old.as_ref().map_or(now, |old| old.created_at),
            updated_at: now,
        };
        let mut tx = self.db.tenant(job.pass.org()).await?;
        let taken = || {
            let message = format!("This workspace has another ontology of the name {:?}. Choose another.", stored.name);
            Error::invalid("name", message)
        };
        if old.is_none() && store::ontologies::count(&mut tx, stored.org).await? >= MOST {
            let message = format!("This workspace has {MOST} ontologies, as many as it may have. Delete one first.");
            let details = serde_json::json!({ "limit": "ontologies", "max": MOST });
            return Err(Error::new(Code::LimitExceeded, message).with(details));
        }
        match &old {
            None if !store::ontologies::insert(&mut tx, &stored).await? => return Err(taken()),
            Some(old) => {
                let named = store::ontologies::list(&mut tx, stored.org).await?;
                if named.iter().any(|other| other.id != stored.id && other.name == stored.name) {
                    return Err(taken());
                }
                if !store::ontologies::replace(&mut tx, &stored, old.version).await? {
                    return Err(outdated(stored.version));
                }
            }
            None => {}
        }
        let by = job.pass.user().map(|user| user.to_string());
        store::ontologies::keep(&mut tx, &stored, &text, summary, by).await?;
        let tables = tables::names(Some(&ontology));
        store::ontology_tables::set(&mut tx, stored.org, stored.id, stored.version, &tables).await?;
        store::ontologies::prune(&mut tx, stored.org, stored.id, stored.version, KEPT).await?;
        tx.commit().await?;
        Ok(Saved { stored, problems })
    }

    /// Removes an ontology with its history, its conversations and what was remembered of it. `name` must be its own, so
    /// that no wrong id removes.
    ///
    /// # Errors
    /// `ontology_not_found`; `invalid_argument` for another name.
    pub async fn delete(&self, job: &Job<'_>, id: Id<StoredOntology>, name: &str) -> Result<()> {
        let stored = self.owned(job, id).await?;
        if stored.name != name {
            let message = "This is not the ontology's name. Give the name as it is listed, to confirm what is deleted.";
            return Err(Error::invalid("name", message));
        }
        let mut tx = self.db.tenant(job.pass.org()).await?;
        if !store::ontologies::delete(&mut tx, job.pass.org(), id).await? {
            return Err(Error::ontology_not_found());
        }
        Ok(tx.commit().await?)
    }
}

/// What a text says, and everything that is wrong or doubtful with it.
fn judged(text: &str, pass: &Pass) -> Result<(Ontology, Vec<Problem>)> {
    let document = read::read(text).map_err(|problems| unreadable(&problems))?;
    if pass.is_external() {
        all_seen(pass, &document.ontology)?;
    }
    let checked = document.place(check::check(&document.ontology, pass.datasets()));
    let mut problems = document.warnings;
    problems.extend(checked);
    Ok((document.ontology, problems))
}

/// Refuses a text that names tables which the caller does not see: in the words for those that do not exist.
fn all_seen(pass: &Pass, ontology: &Ontology) -> Result<()> {
    let covered = Covered::by(pass);
    let missing = ontology.datasets.iter().map(Entity::table).find(|table| !covered.has(table));
    let Some(table) = missing else { return Ok(()) };
    Err(Error::invalid(
        "text",
        format!("There is no table {table:?} that this client may read. Import or publish it first."),
    ))
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// One problem stands for all in a status line. One of the whole text has no path; its line says where then.
pub(super) fn summed(first: &Problem, all: usize) -> String {
    let place = match (first.path.as_str(), first.line) {
        ("", None) => String::new(),
        ("", Some(line)) => format!("line {line}: "),
        (path, _) => format!("{path}: "),
    };
    let more = if all > 1 { format!(" (and {} more)", all - 1) } else { String::new() };
    format!("{place}{}{more}", first.message)
}

pub(super) fn outdated(newest: i64) -> Error {
    let message = format!("Somebody saved version {newest} meanwhile. Load it, and put your changes on top of it.");
    Error::invalid("version", message)
}

/// A text that is no ontology: every problem with its place.
pub fn unreadable(problems: &[Problem]) -> Error {
    let first = problems.iter().find(|problem| problem.is_error()).or(problems.first());
    let first = first.map_or_else(|| "It holds no model.".to_owned(), |first| summed(first, problems.len()));
    let details = serde_json::json!({ "field": "text", "problems": problems.iter().take(50).collect::<Vec<_>>() });
    Error::new(Code::InvalidArgument, format!("This is no ontology: {first}")).with(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_ontology_is_refused_in_a_sentence() {
        let said = |problems: &[Problem]| unreadable(problems).message;
        let whole = Problem::error("", "This is no YAML.", "");
        assert_eq!(said(std::slice::from_ref(&whole)), "This is no ontology: This is no YAML.");
        let placed = Problem { line: Some(3), ..whole };
        let doubt = Problem::warning("version", "The document has no version.", "");
        assert_eq!(said(&[doubt, placed]), "This is no ontology: line 3: This is no YAML. (and 1 more)");
        let field = Problem::error("datasets[0].name", "`name` is missing.", "Add it.");
        assert_eq!(said(&[field]), "This is no ontology: datasets[0].name: `name` is missing.");
        assert_eq!(said(&[]), "This is no ontology: It holds no model.");
    }
}
