//! What outlives a question: conversations, traces, and what people agreed to have remembered.

use crate::base::id::Id;
use crate::engine::agent::ask::Questions;
use crate::engine::job::Job;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::plan::Plan;
use crate::model::preferences::DataAgent;
use crate::model::reading::Chosen;
use crate::model::run::{Conversation, Memory, Remembered, Run, State};
use crate::store;

/// Most questions of an ontology that are remembered, and most preferences.
const MOST: usize = 1_000;

/// What is remembered of an ontology, as planners use it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Questions in their normal form, with their plans.
    pub verified: Vec<(String, Plan)>,
    pub preferences: Vec<Chosen>,
    /// What the person who asks has set for themselves.
    pub own: DataAgent,
}

/// A question without what does not change its meaning: case, spaces, punctuation at the end.
pub fn normal_form(question: &str) -> String {
    let words: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['?', '.', '!', ' ']).to_owned()
}

impl Questions {
    /// The conversation to go on with, or a new one.
    ///
    /// # Errors
    /// `not_found`, the same for absent ones, for those of others, and for those about another ontology.
    pub(super) async fn conversation(
        &self,
        job: &Job<'_>,
        ontology: Id<StoredOntology>,
        id: Option<Id<Conversation>>,
    ) -> Result<Conversation> {
        let Some(id) = id else {
            return Ok(Conversation {
                id: Id::new(&self.clock),
                org: job.pass.org(),
                ontology,
                credential: job.pass.credential().to_owned(),
                state: State::default(),
                updated_at: self.clock.now(),
            });
        };
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let found = store::questions::conversation(&mut read, job.pass.org(), id).await?;
        let mine = |it: &Conversation| it.credential == job.pass.credential() && it.ontology == ontology;
        found.filter(mine).ok_or_else(|| Error::not_found("conversation"))
    }

    /// Keeps a conversation and the run that it came through, both or none.
    pub(super) async fn keep(&self, conversation: &Conversation, run: &Run) -> Result<()> {
        let mut tx = self.db.tenant(conversation.org).await?;
        store::questions::keep_conversation(&mut tx, conversation).await?;
        store::questions::keep_run(&mut tx, run).await?;
        Ok(tx.commit().await?)
    }

    /// What is remembered, for planning. A plan that can no longer be read is none.
    pub(super) async fn known(&self, job: &Job<'_>, ontology: Id<StoredOntology>) -> Result<Known> {
        let mut known = Known { own: self.settings(job).await?, ..Known::default() };
        for it in self.remembered(job, ontology).await? {
            match it.memory {
                Memory::Preference => known.preferences.push(Chosen { key: it.key, value: it.value }),
                Memory::Verified => {
                    known.verified.extend(serde_json::from_str(&it.value).ok().map(|plan| (it.key, plan)));
                }
            }
        }
        Ok(known)
    }

    /// The newest questions of an ontology.
    ///
    /// # Errors
    /// The database fails.
    pub async fn runs(
        &self,
        job: &Job<'_>,
        ontology: Id<StoredOntology>,
        before: Option<Id<Run>>,
        limit: i64,
    ) -> Result<Vec<Run>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        store::questions::runs(&mut read, job.pass.org(), ontology, before, limit).await
    }

    /// One question with its trace.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn run(&self, job: &Job<'_>, id: Id<Run>) -> Result<Run> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let found = store::questions::run(&mut read, job.pass.org(), id).await?;
        found.ok_or_else(|| Error::not_found("question"))
    }

    /// Everything remembered of an ontology.
    ///
    /// # Errors
    /// The database fails.
    pub async fn remembered(&self, job: &Job<'_>, ontology: Id<StoredOntology>) -> Result<Vec<Remembered>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        store::questions::remembered(&mut read, job.pass.org(), ontology).await
    }

    /// Remembers a question's plan, or what was chosen in its conversation.
    ///
    /// # Errors
    /// `not_found`; `invalid_argument` when the question has no answer to remember, or nothing was chosen; `limit_exceeded`.
    pub async fn remember(&self, job: &Job<'_>, id: Id<Run>, memory: Memory) -> Result<()> {
        let run = self.run(job, id).await?;
        let kept = self.remembered(job, run.ontology).await?;
        if kept.iter().filter(|it| it.memory == memory).count() >= MOST {
            let message = format!("{MOST} are remembered already. Forget some first.");
            return Err(Error::new(crate::model::error::Code::LimitExceeded, message));
        }
        let one = |key: String, value: String, said: String| Remembered {
            id: Id::new(&self.clock),
            org: run.org,
            ontology: run.ontology,
            memory,
            key,
            value,
            said,
            made_by: job.pass.user().map(|user| user.to_string()),
            made_at: self.clock.now(),
        };
        let all: Vec<Remembered> = match memory {
            Memory::Verified => {
                let nothing = || Error::invalid("trace_id", "This question has no answer that could be remembered.");
                let reading = run.trace.reading.as_ref().filter(|_| run.trace.sql.is_some()).ok_or_else(nothing)?;
                if run.trace.follows {
                    let message = "This question rests on the one before it. Ask it in full, then remember that.";
                    return Err(Error::invalid("trace_id", message));
                }
                let plan = serde_json::to_string(&reading.plan).map_err(Error::internal)?;
                vec![one(normal_form(&run.question), plan, run.question.clone())]
            }
            Memory::Preference => {
                let chosen = run.trace.chosen.iter();
                chosen.map(|it| one(it.key.clone(), it.value.clone(), it.value.clone())).collect()
            }
        };
        if all.is_empty() {
            return Err(Error::invalid("memory", "Nothing was chosen in this conversation."));
        }
        let mut tx = self.db.tenant(job.pass.org()).await?;
        for it in &all {
            store::questions::remember(&mut tx, it).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Forgets one thing.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn forget(&self, job: &Job<'_>, id: Id<Remembered>) -> Result<()> {
        let mut tx = self.db.tenant(job.pass.org()).await?;
        if !store::questions::forget(&mut tx, job.pass.org(), id).await? {
            return Err(Error::not_found("thing remembered"));
        }
        Ok(tx.commit().await?)
    }
}
