//! Calls that go on after their client was given a handle. Whoever changes one that is worked on has to hold it: its node,
//! for as long as the lease says.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::tenant::Scoped;
use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::org::Org;
use crate::model::task::{Status, Task};

/// Most tasks that are kept at once.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub of_credential: i64,
    pub of_workspace: i64,
}

/// Adds a task; `false` when there are as many as may be. Of two at the same moment both may be the last.
pub async fn insert(on: &mut Scoped, task: &Task, most: Most) -> sqlx::Result<bool> {
    let sql = "INSERT INTO tasks (org_id, id, credential, tool, status, message, outcome, cancelled, node, leased_until, \
                   created_at, updated_at, expires_at) \
               SELECT $1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $12 \
               WHERE (SELECT COUNT(*) FROM tasks WHERE org_id = $1 AND credential = $3 AND expires_at > $11) < $13 \
                 AND (SELECT COUNT(*) FROM tasks WHERE org_id = $1 AND expires_at > $11) < $14";
    let done = sqlx::query(sql)
        .bind(task.org.to_string())
        .bind(task.id.as_str())
        .bind(task.credential.as_str())
        .bind(task.tool.as_str())
        .bind(task.status.name())
        .bind(task.message.as_str())
        .bind(task.outcome.clone())
        .bind(task.node.as_str())
        .bind(task.leased_until)
        .bind(task.created_at)
        .bind(task.updated_at)
        .bind(task.expires_at)
        .bind(most.of_credential)
        .bind(most.of_workspace)
        .execute(&mut **on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A task of a credential that has not expired at `now`.
pub async fn find(
    on: &mut Scoped,
    org: Id<Org>,
    credential: &str,
    id: &str,
    now: Millis,
) -> sqlx::Result<Option<Task>> {
    let sql = "SELECT org_id, id, credential, tool, status, message, outcome, seen, node, leased_until, created_at, \
               updated_at, expires_at FROM tasks WHERE org_id = $1 AND id = $2 AND credential = $3 AND expires_at > $4";
    let query = sqlx::query(sql).bind(org.to_string()).bind(id).bind(credential).bind(now);
    query.fetch_optional(&mut **on).await?.as_ref().map(task_of).transpose()
}

/// Whether a task that its node holds at `now` is to stop; `None` when it does not hold it any more.
pub async fn held(on: &mut Scoped, task: &Task, now: Millis) -> sqlx::Result<Option<bool>> {
    let sql = "SELECT cancelled FROM tasks \
               WHERE org_id = $1 AND id = $2 AND node = $3 AND status = 'working' AND leased_until > $4";
    let query = sqlx::query_scalar::<_, i64>(sql);
    let query = query.bind(task.org.to_string()).bind(task.id.as_str()).bind(task.node.as_str()).bind(now);
    Ok(query.fetch_optional(&mut **on).await?.map(|cancelled| cancelled != 0))
}

/// Lengthens the lease of a task that its node holds at `now`, and says what it is doing. As [`held`].
pub async fn renew(
    on: &mut Scoped,
    task: &Task,
    message: &str,
    now: Millis,
    until: Millis,
) -> sqlx::Result<Option<bool>> {
    let sql = "UPDATE tasks SET leased_until = $5, message = $6, \
                   updated_at = CASE WHEN message = $6 THEN updated_at ELSE $4 END \
               WHERE org_id = $1 AND id = $2 AND node = $3 AND status = 'working' AND leased_until > $4 \
               RETURNING cancelled";
    let query = sqlx::query_scalar::<_, i64>(sql)
        .bind(task.org.to_string())
        .bind(task.id.as_str())
        .bind(task.node.as_str())
        .bind(now)
        .bind(until)
        .bind(message);
    Ok(query.fetch_optional(&mut **on).await?.map(|cancelled| cancelled != 0))
}

/// Writes what became of a task that its node holds at `task.updated_at`; `false` when it does not hold it any more.
pub async fn settle(on: &mut Scoped, task: &Task) -> sqlx::Result<bool> {
    let seen = serde_json::to_string(&task.seen).map_err(|problem| sqlx::Error::Encode(problem.into()))?;
    let sql = "UPDATE tasks SET status = $5, message = $6, outcome = $7, updated_at = $4, expires_at = $8, seen = $9 \
               WHERE org_id = $1 AND id = $2 AND node = $3 AND status = 'working' AND leased_until > $4";
    let done = sqlx::query(sql)
        .bind(task.org.to_string())
        .bind(task.id.as_str())
        .bind(task.node.as_str())
        .bind(task.updated_at)
        .bind(task.status.name())
        .bind(task.message.as_str())
        .bind(task.outcome.clone())
        .bind(task.expires_at)
        .bind(seen)
        .execute(&mut **on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Has a task that waits for an answer go on, as it now is in `task`; `false` when it does not wait any more.
pub async fn take_up(on: &mut Scoped, task: &Task) -> sqlx::Result<bool> {
    let sql = "UPDATE tasks SET status = 'working', message = $3, outcome = NULL, node = $4, leased_until = $5, \
               updated_at = $6, expires_at = $7 \
               WHERE org_id = $1 AND id = $2 AND status = 'input_required' AND expires_at > $6";
    let done = sqlx::query(sql)
        .bind(task.org.to_string())
        .bind(task.id.as_str())
        .bind(task.message.as_str())
        .bind(task.node.as_str())
        .bind(task.leased_until)
        .bind(task.updated_at)
        .bind(task.expires_at)
        .execute(&mut **on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Ends a task that waits for an answer, and has one that is worked on be stopped. What is over stays as it is.
pub async fn cancel(on: &mut Scoped, task: &Task, message: &str, now: Millis) -> sqlx::Result<()> {
    let sql = "UPDATE tasks SET cancelled = 1, updated_at = $4, \
                   message = CASE WHEN status = 'working' THEN message ELSE $3 END, \
                   outcome = CASE WHEN status = 'working' THEN outcome ELSE NULL END, \
                   status = CASE WHEN status = 'working' THEN status ELSE 'cancelled' END \
               WHERE org_id = $1 AND id = $2 AND status IN ('working', 'input_required')";
    let query = sqlx::query(sql).bind(task.org.to_string()).bind(task.id.as_str()).bind(message).bind(now);
    query.execute(&mut **on).await?;
    Ok(())
}

/// Ends the tasks of all workspaces whose nodes have left them at `now`; returns how many.
pub async fn end_lost(everyone: &mut Scoped, message: &str, now: Millis) -> sqlx::Result<u64> {
    let sql = "UPDATE tasks SET status = 'failed', message = $1, updated_at = $2 \
               WHERE status = 'working' AND leased_until <= $2";
    Ok(sqlx::query(sql).bind(message).bind(now).execute(&mut **everyone).await?.rows_affected())
}

/// Removes the tasks whose outcome was made of a dataset, and those of whose outcome nobody knows what it was made of.
/// Whoever settles one holds its datasets: this comes after the dataset itself is deleted, and in the same transaction.
pub async fn forget(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>) -> sqlx::Result<()> {
    let sql = "DELETE FROM tasks WHERE org_id = $1 AND outcome IS NOT NULL AND (seen = '[]' OR seen LIKE $2)";
    sqlx::query(sql).bind(org.to_string()).bind(format!("%{dataset}%")).execute(&mut **on).await?;
    Ok(())
}

fn task_of(row: &AnyRow) -> sqlx::Result<Task> {
    let status: Status =
        row.try_get::<String, _>("status")?.parse().map_err(|problem: String| sqlx::Error::Decode(problem.into()))?;
    Ok(Task {
        org: text_id(row, "org_id")?,
        id: row.try_get("id")?,
        credential: row.try_get("credential")?,
        tool: row.try_get("tool")?,
        status,
        message: row.try_get("message")?,
        outcome: row.try_get("outcome")?,
        seen: serde_json::from_str(&row.try_get::<String, _>("seen")?)
            .map_err(|problem| sqlx::Error::Decode(problem.into()))?,
        node: row.try_get("node")?,
        leased_until: row.try_get("leased_until")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        expires_at: row.try_get("expires_at")?,
    })
}
