//! Conversations, the traces of questions, and what was remembered of them.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::org::Org;
use crate::model::run::{Conversation, Ending, Memory, Remembered, Run};
use crate::store::tenant::Scoped;

/// A conversation of the workspace, if it is there.
pub async fn conversation(on: &mut Scoped, org: Id<Org>, id: Id<Conversation>) -> Result<Option<Conversation>> {
    let sql = "SELECT org_id, id, ontology_id, credential, state, revision, updated_at FROM conversations \
               WHERE org_id = $1 AND id = $2";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Conversation {
        org: id_of(&row, "org_id")?,
        id: id_of(&row, "id")?,
        ontology: id_of(&row, "ontology_id")?,
        credential: row.try_get("credential")?,
        state: json_of(&row, "state")?,
        revision: row.try_get("revision")?,
        updated_at: row.try_get("updated_at")?,
    }))
}

/// Keeps a conversation as it now is, on top of its `revision`; `false` when another write came first. The first write
/// says whose it is.
pub async fn keep_conversation(on: &mut Scoped, conversation: &Conversation) -> Result<bool> {
    let sql = "INSERT INTO conversations (org_id, id, ontology_id, credential, state, updated_at, revision) \
               VALUES ($1, $2, $3, $4, $5, $6, $7 + 1) \
               ON CONFLICT (org_id, id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at, \
               revision = excluded.revision WHERE conversations.revision = $7";
    let query = sqlx::query(sql)
        .bind(conversation.org.to_string())
        .bind(conversation.id.to_string())
        .bind(conversation.ontology.to_string())
        .bind(conversation.credential.clone())
        .bind(serde_json::to_string(&conversation.state).map_err(Error::internal)?)
        .bind(conversation.updated_at)
        .bind(conversation.revision);
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Keeps how a question was answered.
pub async fn keep_run(on: &mut Scoped, run: &Run) -> Result<()> {
    let sql = "INSERT INTO question_runs (org_id, id, ontology_id, conversation_id, credential, question, outcome, \
               trace, duration_ms, asked_at, asked_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let query = sqlx::query(sql)
        .bind(run.org.to_string())
        .bind(run.id.to_string())
        .bind(run.ontology.to_string())
        .bind(run.conversation.to_string())
        .bind(run.credential.clone())
        .bind(run.question.clone())
        .bind(run.ending.name())
        .bind(serde_json::to_string(&run.trace).map_err(Error::internal)?)
        .bind(run.duration_ms)
        .bind(run.asked_at)
        .bind(run.asked_by.clone());
    query.execute(&mut **on).await?;
    Ok(())
}

/// Removes the oldest questions of an ontology but about the newest `keep`: those of one millisecond go or stay together.
pub async fn prune_runs(on: &mut Scoped, org: Id<Org>, ontology: Id<StoredOntology>, keep: i64) -> Result<()> {
    let sql = "DELETE FROM question_runs WHERE org_id = $1 AND ontology_id = $2 AND asked_at < ( \
                   SELECT asked_at FROM question_runs WHERE org_id = $1 AND ontology_id = $2 \
                   ORDER BY asked_at DESC LIMIT 1 OFFSET $3)";
    // The last that stays is the one before which everything goes.
    let query = sqlx::query(sql).bind(org.to_string()).bind(ontology.to_string()).bind(keep - 1);
    query.execute(&mut **on).await?;
    Ok(())
}

/// Whose questions are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    Everybodys,
    /// Those of a credential, and where a person is behind it, those that this person asked through others.
    Of {
        credential: String,
        person: Option<String>,
    },
}

impl Whose {
    /// Whether a question is one of them.
    pub fn has(&self, run: &Run) -> bool {
        match self {
            Whose::Everybodys => true,
            Whose::Of { credential, person } => {
                run.credential == *credential || person.is_some() && run.asked_by == *person
            }
        }
    }
}

/// The newest questions of an ontology, at most `limit`; those before `before` where it is given.
pub async fn runs(
    on: &mut Scoped,
    org: Id<Org>,
    ontology: Id<StoredOntology>,
    whose: &Whose,
    before: Option<Id<Run>>,
    limit: i64,
) -> Result<Vec<Run>> {
    let sql = "SELECT org_id, id, ontology_id, conversation_id, credential, question, outcome, trace, duration_ms, \
               asked_at, asked_by FROM question_runs WHERE org_id = $1 AND ontology_id = $2 AND id < $3 \
               AND ($4 = 'everybody' OR credential = $5 OR asked_by = $6) ORDER BY id DESC LIMIT $7";
    // Ids sort by time; `g` is beyond every hexadecimal digit.
    let before = before.map_or_else(|| "g".to_owned(), |id| id.to_string());
    // No row was asked by the empty text: who has no person behind is NULL there.
    let (all, credential, person) = match whose {
        Whose::Everybodys => ("everybody", String::new(), String::new()),
        Whose::Of { credential, person } => ("some", credential.clone(), person.clone().unwrap_or_default()),
    };
    let query = sqlx::query(sql)
        .bind(org.to_string())
        .bind(ontology.to_string())
        .bind(before)
        .bind(all)
        .bind(credential)
        .bind(person)
        .bind(limit);
    query.fetch_all(&mut **on).await?.iter().map(run_of).collect()
}

/// Erases what was asked of an ontology, and what was remembered of it.
pub async fn erase(on: &mut Scoped, org: Id<Org>, ontology: Id<StoredOntology>) -> Result<()> {
    for sql in [
        "DELETE FROM question_runs WHERE org_id = $1 AND ontology_id = $2",
        "DELETE FROM conversations WHERE org_id = $1 AND ontology_id = $2",
        "DELETE FROM remembered WHERE org_id = $1 AND ontology_id = $2",
    ] {
        sqlx::query(sql).bind(org.to_string()).bind(ontology.to_string()).execute(&mut **on).await?;
    }
    Ok(())
}

/// One question of the workspace, if it is there.
pub async fn run(on: &mut Scoped, org: Id<Org>, id: Id<Run>) -> Result<Option<Run>> {
    let sql = "SELECT org_id, id, ontology_id, conversation_id, credential, question, outcome, trace, duration_ms, \
               asked_at, asked_by FROM question_runs WHERE org_id = $1 AND id = $2";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.as_ref().map(run_of).transpose()
}

/// Everything remembered of an ontology, by key.
pub async fn remembered(on: &mut Scoped, org: Id<Org>, ontology: Id<StoredOntology>) -> Result<Vec<Remembered>> {
    let sql = "SELECT org_id, id, ontology_id, kind, key, value, said, made_by, made_at FROM remembered \
               WHERE org_id = $1 AND ontology_id = $2 ORDER BY kind, key";
    let rows = sqlx::query(sql).bind(org.to_string()).bind(ontology.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(remembered_of).collect()
}

/// Remembers; what was remembered under the same key is replaced.
pub async fn remember(on: &mut Scoped, it: &Remembered) -> Result<()> {
    let sql = "INSERT INTO remembered (org_id, id, ontology_id, kind, key, value, said, made_by, made_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (org_id, ontology_id, kind, key) DO UPDATE \
               SET value = excluded.value, said = excluded.said, made_by = excluded.made_by, \
               made_at = excluded.made_at";
    let query = sqlx::query(sql)
        .bind(it.org.to_string())
        .bind(it.id.to_string())
        .bind(it.ontology.to_string())
        .bind(it.memory.name())
        .bind(it.key.clone())
        .bind(it.value.clone())
        .bind(it.said.clone())
        .bind(it.made_by.clone())
        .bind(it.made_at);
    query.execute(&mut **on).await?;
    Ok(())
}

/// One thing remembered in the workspace, if it is there.
pub async fn one_remembered(on: &mut Scoped, org: Id<Org>, id: Id<Remembered>) -> Result<Option<Remembered>> {
    let sql = "SELECT org_id, id, ontology_id, kind, key, value, said, made_by, made_at FROM remembered \
               WHERE org_id = $1 AND id = $2";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.as_ref().map(remembered_of).transpose()
}

/// Forgets one thing; `false` when there is none.
pub async fn forget(on: &mut Scoped, org: Id<Org>, id: Id<Remembered>) -> Result<bool> {
    let query = sqlx::query("DELETE FROM remembered WHERE org_id = $1 AND id = $2");
    Ok(query.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?.rows_affected() == 1)
}

fn run_of(row: &AnyRow) -> Result<Run> {
    let ending: String = row.try_get("outcome")?;
    Ok(Run {
        org: id_of(row, "org_id")?,
        id: id_of(row, "id")?,
        ontology: id_of(row, "ontology_id")?,
        conversation: id_of(row, "conversation_id")?,
        credential: row.try_get("credential")?,
        asked_by: row.try_get("asked_by")?,
        question: row.try_get("question")?,
        ending: Ending::parse(&ending).ok_or_else(|| Error::internal(format!("question_runs.outcome is {ending}")))?,
        trace: json_of(row, "trace")?,
        duration_ms: row.try_get("duration_ms")?,
        asked_at: row.try_get("asked_at")?,
    })
}

fn remembered_of(row: &AnyRow) -> Result<Remembered> {
    let kind: String = row.try_get("kind")?;
    Ok(Remembered {
        org: id_of(row, "org_id")?,
        id: id_of(row, "id")?,
        ontology: id_of(row, "ontology_id")?,
        memory: Memory::parse(&kind).ok_or_else(|| Error::internal(format!("remembered.kind is {kind}")))?,
        key: row.try_get("key")?,
        value: row.try_get("value")?,
        said: row.try_get("said")?,
        made_by: row.try_get("made_by")?,
        made_at: row.try_get("made_at")?,
    })
}

fn id_of<T>(row: &AnyRow, column: &str) -> Result<Id<T>> {
    row.try_get::<String, _>(column)?.parse().map_err(Error::internal)
}

fn json_of<T: serde::de::DeserializeOwned>(row: &AnyRow, column: &str) -> Result<T> {
    serde_json::from_str(&row.try_get::<String, _>(column)?).map_err(Error::internal)
}
