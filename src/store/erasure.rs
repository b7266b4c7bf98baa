//! The end of a workspace: every row of it, but for those of the record. First it is locked, then its rows go in turns
//! between which others write, and its own row is the last: until then the erasure can be taken up again.

use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use super::tenant::Scoped;
use super::{Backend, orgs, users};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::preferences::UserSettings;

/// Rows that one statement deletes.
const AT_ONCE: u64 = 500;

/// A table that has rows of workspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    name: &'static str,
    /// What tells its rows apart.
    key: &'static str,
    /// Which are the workspace's, whose id is `$1`.
    of: &'static str,
}

const fn own(name: &'static str, key: &'static str) -> Table {
    Table { name, key, of: "org_id = $1" }
}

/// The tables whose rows go in turns; what points at a row goes before it. Memberships go in the last turn, which tells
/// whose only one it was, and indexes on a server with their points.
pub const TABLES: [Table; 22] = [
    own("version_documents", "org_id, dataset_id, version, row_id"),
    own("documents", "org_id, id"),
    own("dataset_versions", "org_id, dataset_id, version"),
    own("datasets", "org_id, id"),
    own("sources", "org_id, id"),
    own("document_sync_marks", "org_id, name, item"),
    own("document_syncs", "org_id, name"),
    own("question_runs", "org_id, id"),
    own("conversations", "org_id, id"),
    own("remembered", "org_id, id"),
    own("ontology_tables", "org_id, name, ontology_id, version"),
    own("ontology_versions", "org_id, ontology_id, version"),
    own("ontologies", "org_id, id"),
    own("tasks", "org_id, id"),
    own("index_homes", "org_id"),
    own("connectivity_tokens", "org_id, id"),
    Table { name: "refresh_tokens", key: "digest", of: "grant_id IN (SELECT id FROM grants WHERE org_id = $1)" },
    own("device_codes", "digest"),
    own("grants", "org_id, id"),
    own("consents", "org_id, user_id, client_id, redirect_uri, resource"),
    own("client_blocks", "org_id, client_id"),
    own("invitations", "org_id, id"),
];

/// What calls leave that were under way when their workspaces were erased, in tables whose rows do not need that of the
/// workspace: blocks, but for the operator's, and locks, whose names end with the id.
const LEAVINGS: [&str; 2] = [
    "DELETE FROM client_blocks WHERE org_id <> '-' \
     AND NOT EXISTS (SELECT 1 FROM orgs o WHERE o.id = client_blocks.org_id)",
    "DELETE FROM leases WHERE (name LIKE 'names of datasets %' OR name LIKE 'indexes %') \
     AND NOT EXISTS (SELECT 1 FROM orgs o WHERE o.id = substr(leases.name, length(leases.name) - 35))",
];

/// Locks a workspace, for good; `false` when there is no such workspace.
pub async fn begin(on: &mut AnyConnection, org: Id<Org>, now: Millis) -> sqlx::Result<bool> {
    let sql = "UPDATE orgs SET erased_at = COALESCE(erased_at, $2), suspended_at = COALESCE(suspended_at, $2), \
               connectivity_enabled = 0 WHERE id = $1";
    let done = sqlx::query(sql).bind(org.to_string()).bind(now).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// Deletes some rows of a workspace from a table; whether there may be more.
pub async fn some(on: &mut Scoped, org: Id<Org>, table: &Table) -> sqlx::Result<bool> {
    let Table { name, key, of } = table;
    let these = format!("SELECT {key} FROM {name} WHERE {of} LIMIT {AT_ONCE}");
    let sql = format!("DELETE FROM {name} WHERE {of} AND ({key}) IN ({these})");
    let done = sqlx::query(AssertSqlSafe(sql)).bind(org.to_string()).execute(&mut **on).await?;
    Ok(done.rows_affected() == AT_ONCE)
}

/// Deletes what is left of a workspace, its own row last; the names of its datasets are held. Gives the addresses of the
/// people who belonged to no other.
///
/// # Errors
/// The database fails; `service_unavailable` when a member changes their settings just now.
pub async fn end(on: &mut Scoped, backend: Backend, org: Id<Org>) -> Result<Vec<String>> {
    // People's own rows, and then the workspace, as whoever changes who belongs there.
    forget_settings(on, org).await?;
    orgs::hold(on, backend, org).await?;
    for Table { name, key: _, of } in &TABLES {
        delete(on, format!("DELETE FROM {name} WHERE {of}"), org.to_string()).await?;
    }
    let alone = "SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 \
                 AND NOT EXISTS (SELECT 1 FROM memberships o WHERE o.user_id = m.user_id AND o.org_id <> $1) \
                 ORDER BY u.email";
    let alone: Vec<String> = sqlx::query_scalar(alone).bind(org.to_string()).fetch_all(&mut **on).await?;
    delete(on, "DELETE FROM memberships WHERE org_id = $1".into(), org.to_string()).await?;
    delete(on, "DELETE FROM leases WHERE name LIKE $1".into(), format!("%{org}%")).await?;
    delete(on, "DELETE FROM orgs WHERE id = $1".into(), org.to_string()).await?;
    Ok(alone)
}

/// Deletes what calls have left that were under way when their workspaces were erased; how many rows.
pub async fn leavings(everyone: &mut Scoped) -> sqlx::Result<u64> {
    let mut gone = 0;
    for sql in LEAVINGS {
        gone += sqlx::query(sql).execute(&mut **everyone).await?.rows_affected();
    }
    Ok(gone)
}

async fn delete(on: &mut Scoped, sql: String, of: String) -> sqlx::Result<()> {
    sqlx::query(AssertSqlSafe(sql)).bind(of).execute(&mut **on).await?;
    Ok(())
}

/// What people had set for themselves in a workspace, those too who left it before.
async fn forget_settings(on: &mut Scoped, org: Id<Org>) -> Result<()> {
    let query =
        sqlx::query("SELECT id, settings FROM users WHERE settings LIKE $1 ORDER BY id").bind(format!("%{org}%"));
    for row in query.fetch_all(&mut **on).await? {
        let before: String = row.try_get("settings")?;
        let after = UserSettings::without(&before, org).map_err(Error::internal)?;
        if !users::set_settings(on, super::text_id(&row, "id")?, &before, &after).await? {
            return Err(Error::unavailable("A member changes their settings just now. Try again."));
        }
    }
    Ok(())
}
