//! What outlives a question: its conversation, its trace, and what people agreed to have remembered.

use super::{Questions, civil};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::agent::compiler::compile;
use crate::engine::agent::conversation::traces::is_admin;
use crate::engine::agent::plan::renew::kept;
use crate::engine::agent::planner::{is_of_a_question, normal_form};
use crate::engine::agent::prepared::Prepared;
use crate::engine::job::Job;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{OntologyRef, StoredOntology};
use crate::model::org::Org;
use crate::model::plan::Plan;
use crate::model::preferences::DataAgent;
use crate::model::reading::Chosen;
use crate::model::run::{Conversation, Memory, Remembered, Run, State, Trace};
use crate::store;

/// Most questions of an ontology that are remembered, and most preferences.
const MOST: usize = 1_000;

/// Questions of an ontology whose traces are kept; the oldest go.
const MOST_RUNS: i64 = 10_000;

/// Characters of a statement that a trace keeps.
const KEPT_SQL: usize = 16_000;

/// What was chosen in a conversation and is kept with it; the oldest go.
const MOST_CHOSEN: usize = 50;

/// What is remembered of an ontology, as planners use it for one question.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// How this very question is read.
    pub verified: Option<Verified>,
    pub preferences: Vec<Chosen>,
    /// What the person who asks has set for themselves.
    pub own: DataAgent,
}

/// A question's plan that somebody confirmed.
#[derive(Clone, Debug)]
pub(super) struct Verified {
    pub plan: Plan,
    /// Who confirmed it and when, for people.
    pub says: String,
}

/// Whether a plan that was made before can be asked of the ontology as this caller sees it now.
pub(super) fn still_fits(plan: &Plan, prepared: &Prepared) -> bool {
    compile(plan, &prepared.ontology, &prepared.graph, prepared.dialect, 1).is_ok()
}

/// Keeps no more of a conversation and of a trace than may be kept.
fn clip(state: &mut State, trace: &mut Trace) {
    let surplus = state.chosen.len().saturating_sub(MOST_CHOSEN);
    state.chosen.drain(..surplus);
    if let Some(sql) = &mut trace.sql
        && sql.chars().count() > KEPT_SQL
    {
        *sql = sql.chars().take(KEPT_SQL).collect();
        trace.notes.push(format!("Of the statement the first {KEPT_SQL} characters are kept."));
    }
}

impl Questions {
    /// The ontology that is asked: the one that is named, or else that of the conversation, or the only one.
    ///
    /// # Errors
    /// Those of [`crate::engine::ontology::library::Library::meant`]; `not_found` for a conversation of others.
    pub async fn meant(
        &self,
        job: &Job<'_>,
        named: Option<&OntologyRef>,
        conversation: Option<Id<Conversation>>,
    ) -> Result<Id<StoredOntology>> {
        match (named, conversation) {
            (None, Some(id)) => Ok(self.known_conversation(job, id).await?.ontology),
            _ => self.library.meant(job, named).await,
        }
    }

    /// A conversation of the caller's.
    async fn known_conversation(&self, job: &Job<'_>, id: Id<Conversation>) -> Result<Conversation> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let found = store::questions::conversation(&mut read, job.pass.org(), id).await?;
        let mine = |it: &Conversation| it.credential == job.pass.credential();
        found.filter(mine).ok_or_else(|| Error::not_found("conversation"))
    }

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
                revision: 0,
                updated_at: self.clock.now(),
            });
        };
        let found = self.known_conversation(job, id).await?;
        Some(found).filter(|it| it.ontology == ontology).ok_or_else(|| Error::not_found("conversation"))
    }

    /// Keeps a conversation and the run that it came through, both or none. `over` are the datasets that it is about: what
    /// they hold is not kept when they are gone.
    ///
    /// # Errors
    /// `invalid_argument` when another question of the conversation was answered meanwhile; `ontology_not_ready` when one
    /// of the datasets was deleted meanwhile.
    pub(super) async fn keep(&self, conversation: &mut Conversation, mut run: Run, over: &[Id<Dataset>]) -> Result<()> {
        clip(&mut conversation.state, &mut run.trace);
        let mut tx = self.db.tenant(conversation.org).await?;
        if !store::datasets::hold(&mut tx, self.db.backend(), run.org, over).await? {
            let message = "A table of this ontology was deleted while the question was answered. Ask again.";
            return Err(Error::new(Code::OntologyNotReady, message));
        }
        if !store::questions::keep_conversation(&mut tx, conversation).await? {
            let message = "Another question of this conversation was answered meanwhile. Ask again.";
            return Err(Error::invalid("conversationId", message));
        }
        store::questions::keep_run(&mut tx, &run).await?;
        store::questions::prune_runs(&mut tx, run.org, run.ontology, MOST_RUNS).await?;
        Ok(tx.commit().await?)
    }

    /// What is remembered, for planning a question. A plan that can no longer be read or asked is none; and nothing is
    /// told to those who do not see all of the ontology but how a question is read that they may ask.
    pub(super) async fn known(
        &self,
        job: &Job<'_>,
        ontology: Id<StoredOntology>,
        question: &str,
        (prepared, may_know): (&Prepared, bool),
    ) -> Result<Known> {
        let mut known = Known { own: self.settings(job).await?, ..Known::default() };
        let asked = normal_form(question);
        for it in self.all_remembered(job.pass.org(), ontology).await? {
            match it.memory {
                // Of a whole question, as it was once possible: it would stand for others in every conversation.
                Memory::Preference if is_of_a_question(&it.key) => {}
                Memory::Preference if may_know => known.preferences.push(Chosen { key: it.key, value: it.value }),
                Memory::Preference => {}
                Memory::Verified if it.key == asked => {
                    let plan = serde_json::from_str::<Plan>(&it.value).ok();
                    if let Some(plan) = plan.filter(|plan| still_fits(plan, prepared)) {
                        known.verified = Some(Verified { plan, says: self.told(job, &it).await? });
                    }
                }
                Memory::Verified => {}
            }
        }
        Ok(known)
    }

    /// Who verified a question, and when. Who is in the workspace is nothing for external clients.
    async fn told(&self, job: &Job<'_>, it: &Remembered) -> Result<String> {
        let user = match it.made_by.as_deref().map(str::parse) {
            Some(Ok(id)) => store::users::by_id(self.db.pool(), id).await?,
            _ => None,
        };
        let who = match (user, &it.made_by) {
            (Some(_), _) if job.pass.is_external() => "A member".into(),
            (Some(user), _) => user.name,
            (None, Some(_)) => "Somebody who has left".into(),
            (None, None) => "The operator".into(),
        };
        let day: String = rfc3339(it.made_at).chars().take(10).collect();
        Ok(format!("{who} verified on {day} how this question is read."))
    }

    async fn all_remembered(&self, org: Id<Org>, ontology: Id<StoredOntology>) -> Result<Vec<Remembered>> {
        let mut read = self.db.read_tenant(org).await?;
        store::questions::remembered(&mut read, org, ontology).await
    }

    /// Everything remembered of an ontology.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn remembered(&self, job: &Job<'_>, ontology: Id<StoredOntology>) -> Result<Vec<Remembered>> {
        self.library.owned(job, ontology).await?;
        self.all_remembered(job.pass.org(), ontology).await
    }

    /// Remembers a question's plan, or what was chosen in its conversation. It holds for everybody in the workspace, and
    /// so a person has to want it: no AI client remembers anything.
    ///
    /// # Errors
    /// `forbidden` for external clients; `not_found`; `invalid_argument` when the question has no answer to remember, or
    /// one that rests on more than its own words, or nothing was chosen; `limit_exceeded`.
    pub async fn remember(&self, job: &Job<'_>, id: Id<Run>, memory: Memory) -> Result<()> {
        if job.pass.is_external() {
            let message = "What is remembered holds for everybody in the workspace, so that only a person can have it \
                           remembered. Open the trace of the question in the console.";
            return Err(Error::forbidden("remembered_by_people", message));
        }
        let run = match self.run(job, id).await {
            Err(error) if error.code == Code::NotFound && is_admin(job) => self.anybodys_run(job, id).await?,
            found => found?,
        };
        let known = self.all_remembered(job.pass.org(), run.ontology).await?;
        if known.iter().filter(|it| it.memory == memory).count() >= MOST {
            let message = format!("{MOST} are remembered already. Forget some first.");
            return Err(Error::new(Code::LimitExceeded, message));
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
                if run.trace.own {
                    let message = "This answer rests on what you have set for your own questions. Say it in the \
                                   question, then remember that.";
                    return Err(Error::invalid("trace_id", message));
                }
                if !run.trace.chosen.is_empty() {
                    let message = "What was chosen in this conversation may have settled how the question was read. \
                                   Remember the choice, or ask in full in a new conversation and remember that.";
                    return Err(Error::invalid("trace_id", message));
                }
                // Those who ask later ask of their own time.
                let plan = match self.library.one(job, run.ontology).await {
                    Ok(visible) => {
                        let asked = civil(&visible.ontology, run.asked_at)?;
                        kept(reading.plan.clone(), &self.planners, asked, &visible.ontology.calendar)
                    }
                    Err(error) if error.code == Code::OntologyNotFound => reading.plan.clone(),
                    Err(error) => return Err(error),
                };
                let plan = serde_json::to_string(&plan).map_err(Error::internal)?;
                vec![one(normal_form(&run.question), plan, run.question.clone())]
            }
            Memory::Preference => {
                let chosen = run.trace.chosen.iter().filter(|it| !is_of_a_question(&it.key));
                chosen.map(|it| one(it.key.clone(), it.value.clone(), it.value.clone())).collect()
            }
        };
        if all.is_empty() {
            let message = "Nothing was chosen in this conversation that could hold for other questions.";
            return Err(Error::invalid("memory", message));
        }
        let mut tx = self.db.tenant(job.pass.org()).await?;
        // It is erased with the data that it is about, and nothing may outlive it.
        if store::questions::run(&mut tx, job.pass.org(), run.id).await?.is_none() {
            return Err(Error::not_found("question"));
        }
        for it in &all {
            store::questions::remember(&mut tx, it).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Forgets one thing. As with remembering, a person has to want it.
    ///
    /// # Errors
    /// `forbidden` for external clients; `not_found`, the same for absent ones and for those of ontologies which the caller does not see.
    pub async fn forget(&self, job: &Job<'_>, id: Id<Remembered>) -> Result<()> {
        if job.pass.is_external() {
            let message = "What is remembered holds for everybody in the workspace, so that only a person can have it \
                           forgotten. Open what is remembered of the ontology in the console.";
            return Err(Error::forbidden("remembered_by_people", message));
        }
        let missing = || Error::not_found("thing remembered");
        let found = {
            let mut read = self.db.read_tenant(job.pass.org()).await?;
            store::questions::one_remembered(&mut read, job.pass.org(), id).await?
        };
        match self.library.owned(job, found.ok_or_else(missing)?.ontology).await {
            Err(error) if error.code == Code::OntologyNotFound => return Err(missing()),
            owned => owned?,
        };
        let mut tx = self.db.tenant(job.pass.org()).await?;
        if !store::questions::forget(&mut tx, job.pass.org(), id).await? {
            return Err(missing());
        }
        Ok(tx.commit().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_statements_the_beginning_and_of_many_choices_the_newest_are_kept() {
        let chosen = |number: usize| Chosen { key: format!("key {number}"), value: "v".into() };
        let mut state = State { chosen: (0..MOST_CHOSEN + 2).map(chosen).collect(), ..State::default() };
        let mut trace = Trace { sql: Some("é".repeat(KEPT_SQL + 1)), ..Trace::default() };
        clip(&mut state, &mut trace);
        assert_eq!((state.chosen.len(), &state.chosen[0]), (MOST_CHOSEN, &chosen(2)));
        assert_eq!((trace.sql.unwrap().chars().count(), trace.notes.len()), (KEPT_SQL, 1));
        let mut trace = Trace { sql: Some("SELECT 1".into()), ..Trace::default() };
        clip(&mut state, &mut trace);
        assert_eq!((trace.sql.as_deref(), trace.notes.len()), (Some("SELECT 1"), 0));
    }
}
