//! Datasets of documents that are kept from something else, and the runs that keep them. A run is a row's state: wanted,
//! taken by a node for as long as its lease says, over. A node that dies leaves a lease that ends, and another takes the
//! run up. One that lets others go first is wanted again.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::tenant::Scoped;
use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::sync::{DocumentSync, Run};

const SELECT: &str = "SELECT org_id, name, mapping, sealed_secret, every_minutes, cursor, job_id, state, message, progress, changes, \
                      created_at, requested_at, ended_at, synced_at FROM document_syncs";

/// Those that are due at `$1`: asked for, left by their node, or by their own time.
const DUE: &str = "(state = 'waiting' OR (state = 'running' AND leased_until <= $1) OR (state IN ('done', 'failed') \
                   AND every_minutes IS NOT NULL AND ended_at + every_minutes * 60000 <= $1))";

/// Keeps a definition in the place of one of its name, and wants a run of it, behind those of others that wait. A run of the
/// one before is not held any more.
pub async fn put(on: &mut Scoped, sync: &DocumentSync) -> Result<()> {
    let sql = "INSERT INTO document_syncs (org_id, name, mapping, every_minutes, cursor, job_id, state, message, progress, \
                   changes, node, leased_until, created_at, requested_at, turn_at, ended_at, synced_at, sealed_secret) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, NULL, '', 0, $9, $10, $10, NULL, $11, $12) \
               ON CONFLICT (org_id, name) DO UPDATE SET mapping = excluded.mapping, sealed_secret = excluded.sealed_secret, \
                   every_minutes = excluded.every_minutes, cursor = excluded.cursor, job_id = excluded.job_id, \
                   state = excluded.state, message = excluded.message, progress = 0, changes = NULL, node = '', \
                   leased_until = 0, requested_at = excluded.requested_at, ended_at = NULL";
    sqlx::query(sql)
        .bind(sync.org.to_string())
        .bind(sync.name.as_str())
        .bind(serde_json::to_string(&sync.origin).map_err(Error::internal)?)
        .bind(sync.every_minutes)
        .bind(sync.cursor.clone())
        .bind(sync.run.job_id.as_str())
        .bind(sync.run.state.name())
        .bind(sync.run.message.as_str())
        .bind(sync.created_at)
        .bind(sync.run.requested_at)
        .bind(sync.synced_at)
        .bind(sync.sealed_secret.clone())
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// Those of a workspace, by name.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> Result<Vec<DocumentSync>> {
    let sql = format!("{SELECT} WHERE org_id = $1 ORDER BY name");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// One of a workspace.
pub async fn find(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<Option<DocumentSync>> {
    let sql = format!("{SELECT} WHERE org_id = $1 AND name = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(name);
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Removes one; `false` when it was not there.
pub async fn remove(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<bool> {
    let query = sqlx::query("DELETE FROM document_syncs WHERE org_id = $1 AND name = $2");
    Ok(query.bind(org.to_string()).bind(name).execute(&mut **on).await?.rows_affected() == 1)
}

/// Wants a run, unless one is wanted or under way.
pub async fn request(on: &mut Scoped, org: Id<Org>, name: &str, job_id: &str, now: Millis) -> Result<()> {
    let sql = "UPDATE document_syncs SET job_id = $3, state = 'waiting', message = '', progress = 0, changes = NULL, \
                   requested_at = $4 WHERE org_id = $1 AND name = $2 AND state IN ('done', 'failed')";
    let query = sqlx::query(sql).bind(org.to_string()).bind(name).bind(job_id).bind(now);
    query.execute(&mut **on).await?;
    Ok(())
}

/// Takes a run for a node, of a workspace of which none is under way: of the one whose last turn is longest ago, and there the
/// run whose own is. `None` when none is due at `now`, or another node was first. A run that is due by its own time gets
/// `job_id`.
pub async fn take(
    everyone: &mut Scoped,
    node: &str,
    job_id: &str,
    now: Millis,
    until: Millis,
) -> Result<Option<DocumentSync>> {
    let sql = format!(
        "SELECT org_id, name FROM document_syncs AS due WHERE {DUE} AND org_id NOT IN \
             (SELECT org_id FROM document_syncs WHERE state = 'running' AND leased_until > $1) \
         ORDER BY (SELECT MAX(own.turn_at) FROM document_syncs AS own WHERE own.org_id = due.org_id), \
             turn_at, requested_at, org_id, name LIMIT 1"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(now);
    let Some(first) = query.fetch_optional(&mut **everyone).await? else { return Ok(None) };
    let (org, name): (Id<Org>, String) = (text_id(&first, "org_id")?, first.try_get("name")?);
    let sql = format!(
        "UPDATE document_syncs SET job_id = CASE WHEN state IN ('done', 'failed') THEN $5 ELSE job_id END, \
             requested_at = CASE WHEN state IN ('done', 'failed') THEN $1 ELSE requested_at END, \
             progress = CASE WHEN state IN ('done', 'failed') THEN 0 ELSE progress END, \
             changes = CASE WHEN state IN ('done', 'failed') THEN NULL ELSE changes END, \
             state = 'running', message = '', node = $4, leased_until = $6, turn_at = $1 \
         WHERE org_id = $2 AND name = $3 AND {DUE}"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(now).bind(org.to_string()).bind(name.as_str());
    let taken = query.bind(node).bind(job_id).bind(until).execute(&mut **everyone).await?;
    if taken.rows_affected() == 0 {
        return Ok(None);
    }
    find(everyone, org, &name).await
}

/// Whether a run is still the one that is under way; nobody can define the sync anew until the transaction ends.
pub async fn is_running(on: &mut Scoped, sync: &DocumentSync) -> Result<bool> {
    let sql =
        "UPDATE document_syncs SET state = state WHERE org_id = $1 AND name = $2 AND job_id = $3 AND state = 'running'";
    let query = sqlx::query(sql).bind(sync.org.to_string()).bind(sync.name.as_str()).bind(sync.run.job_id.as_str());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Forgets up to where a sync had come and what its things were, so that its next run looks at all of them.
pub async fn look_again(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<()> {
    for sql in [
        "UPDATE document_syncs SET cursor = NULL WHERE org_id = $1 AND name = $2",
        // No document was of these: what has their names now is somebody else's.
        "DELETE FROM document_sync_marks WHERE org_id = $1 AND name = $2 AND mark LIKE '%\"is_empty\":true%'",
        "UPDATE document_sync_marks SET mark = '{}' WHERE org_id = $1 AND name = $2",
    ] {
        sqlx::query(sql).bind(org.to_string()).bind(name).execute(&mut **on).await?;
    }
    Ok(())
}

/// Says how far a run is and lengthens its lease; `false` when its node does not hold it any more, or holds another since it
/// was defined anew.
pub async fn hold(on: &mut Scoped, sync: &DocumentSync, node: &str, run: &Run, until: Millis) -> Result<bool> {
    let sql = "UPDATE document_syncs SET message = $4, progress = $5, leased_until = $6 \
               WHERE org_id = $1 AND name = $2 AND node = $3 AND job_id = $7 AND state = 'running'";
    let query = sqlx::query(sql).bind(sync.org.to_string()).bind(sync.name.as_str()).bind(node);
    let query = query.bind(run.message.as_str()).bind(thousandths(run.progress)).bind(until);
    let done = query.bind(run.job_id.as_str());
    Ok(done.execute(&mut **on).await?.rows_affected() == 1)
}

/// Keeps what became of a run or of its turn, which ends `now`, as it now is in `sync`; `false` as of [`hold`].
pub async fn settle(on: &mut Scoped, sync: &DocumentSync, node: &str, now: Millis) -> Result<bool> {
    let sql = "UPDATE document_syncs SET state = $4, message = $5, progress = $6, changes = $7, cursor = $8, ended_at = $9, \
                   synced_at = $10, node = '', leased_until = 0, turn_at = $12 \
               WHERE org_id = $1 AND name = $2 AND node = $3 AND job_id = $11 AND state = 'running'";
    let changes = sync.run.changes.map(|changes| serde_json::to_string(&changes)).transpose();
    let done = sqlx::query(sql)
        .bind(sync.org.to_string())
        .bind(sync.name.as_str())
        .bind(node)
        .bind(sync.run.state.name())
        .bind(sync.run.message.as_str())
        .bind(thousandths(sync.run.progress))
        .bind(changes.map_err(Error::internal)?)
        .bind(sync.cursor.clone())
        .bind(sync.run.ended_at)
        .bind(sync.synced_at)
        .bind(sync.run.job_id.as_str())
        .bind(now)
        .execute(&mut **on)
        .await?;
    Ok(done.rows_affected() == 1)
}

fn thousandths(fraction: f64) -> i64 {
    (fraction.clamp(0.0, 1.0) * 1_000.0) as i64
}

fn read(row: &AnyRow) -> Result<DocumentSync> {
    let changes: Option<String> = row.try_get("changes")?;
    let changes = changes.map(|changes| serde_json::from_str(&changes)).transpose().map_err(Error::internal)?;
    Ok(DocumentSync {
        org: text_id(row, "org_id")?,
        name: row.try_get("name")?,
        origin: serde_json::from_str(&row.try_get::<String, _>("mapping")?).map_err(Error::internal)?,
        sealed_secret: row.try_get("sealed_secret")?,
        every_minutes: row.try_get("every_minutes")?,
        cursor: row.try_get("cursor")?,
        run: Run {
            job_id: row.try_get("job_id")?,
            state: row.try_get::<String, _>("state")?.parse().map_err(Error::internal)?,
            message: row.try_get("message")?,
            progress: row.try_get::<i64, _>("progress")? as f64 / 1_000.0,
            changes,
            requested_at: row.try_get("requested_at")?,
            ended_at: row.try_get("ended_at")?,
        },
        created_at: row.try_get("created_at")?,
        synced_at: row.try_get("synced_at")?,
    })
}
