//! Who belongs to which workspace, and as what.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::{orgs, text_id, users};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::org::Org;
use crate::model::user::{Membership, User};

/// Adds a membership or changes its role.
pub async fn set(on: &mut AnyConnection, org: Id<Org>, user: Id<User>, role: Role, now: Millis) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO memberships (org_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role",
    )
    .bind(org.to_string())
    .bind(user.to_string())
    .bind(role.name())
    .bind(now)
    .execute(on)
    .await?;
    Ok(())
}

/// Ends a membership; `false` when there was none.
pub async fn remove(on: &mut AnyConnection, org: Id<Org>, user: Id<User>) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM memberships WHERE org_id = $1 AND user_id = $2")
        .bind(org.to_string())
        .bind(user.to_string())
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// What a person is in a workspace; nothing while either is suspended.
pub async fn role(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>) -> sqlx::Result<Option<Role>> {
    let row = sqlx::query(
        "SELECT m.role AS role FROM memberships m JOIN orgs o ON o.id = m.org_id JOIN users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id = $2 AND o.suspended_at IS NULL AND u.suspended_at IS NULL",
    )
    .bind(org.to_string())
    .bind(user.to_string())
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read_role).transpose()
}

/// What a person was made in a workspace, suspended or not.
pub async fn kept_role(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>) -> sqlx::Result<Option<Role>> {
    let row = sqlx::query("SELECT role FROM memberships WHERE org_id = $1 AND user_id = $2")
        .bind(org.to_string())
        .bind(user.to_string())
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read_role).transpose()
}

/// How many people other than `user` administer a workspace and are not suspended.
pub async fn other_admins(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT COUNT(*) FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id <> $2 AND m.role = 'admin' AND u.suspended_at IS NULL",
    )
    .bind(org.to_string())
    .bind(user.to_string())
    .fetch_one(on)
    .await
}

/// A member as the admins of the workspace see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRow {
    pub user: User,
    pub role: Role,
    /// Since when they belong to the workspace.
    pub joined_at: Millis,
    pub suspended: bool,
}

/// A workspace's members by address; at most `limit` whose address comes after `after`.
pub async fn page(on: impl AnyExecutor<'_>, org: Id<Org>, after: &str, limit: i64) -> sqlx::Result<Vec<MemberRow>> {
    let rows = sqlx::query(
        "SELECT u.id AS id, u.email AS email, u.name AS name, u.created_at AS created_at, m.role AS role,
                m.created_at AS joined_at, u.suspended_at AS suspended_at
         FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND u.email > $2 ORDER BY u.email LIMIT $3",
    )
    .bind(org.to_string())
    .bind(after)
    .bind(limit)
    .fetch_all(on)
    .await?;
    let member = |row| {
        let suspended: Option<Millis> = AnyRow::try_get(row, "suspended_at")?;
        let joined_at = row.try_get("joined_at")?;
        Ok(MemberRow { user: users::read(row)?, role: read_role(row)?, joined_at, suspended: suspended.is_some() })
    };
    rows.iter().map(member).collect()
}

/// A person's workspaces by name, without suspended ones.
pub async fn of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<Membership>> {
    let rows = sqlx::query(
        "SELECT o.id AS id, o.slug AS slug, o.name AS name, o.connectivity_enabled AS connectivity_enabled,
                o.created_at AS created_at, m.role AS role
         FROM memberships m JOIN orgs o ON o.id = m.org_id
         WHERE m.user_id = $1 AND o.suspended_at IS NULL ORDER BY o.name, o.id",
    )
    .bind(user.to_string())
    .fetch_all(on)
    .await?;
    rows.iter().map(|row| Ok(Membership { org: orgs::read(row)?, user, role: read_role(row)? })).collect()
}

/// A person's workspaces, suspended ones too, always in the same order.
pub async fn orgs_of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<Id<Org>>> {
    let sql = "SELECT org_id FROM memberships WHERE user_id = $1 ORDER BY org_id";
    let rows = sqlx::query(sql).bind(user.to_string()).fetch_all(on).await?;
    rows.iter().map(|row| text_id(row, "org_id")).collect()
}

/// A workspace's people by address.
pub async fn of_org(on: impl AnyExecutor<'_>, org: Id<Org>) -> sqlx::Result<Vec<(User, Role)>> {
    let rows = sqlx::query(
        "SELECT u.id AS id, u.email AS email, u.name AS name, u.created_at AS created_at, m.role AS role
         FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 ORDER BY u.email",
    )
    .bind(org.to_string())
    .fetch_all(on)
    .await?;
    rows.iter().map(|row| Ok((users::read(row)?, read_role(row)?))).collect()
}

fn read_role(row: &AnyRow) -> sqlx::Result<Role> {
    row.try_get::<String, _>("role")?.parse().map_err(|problem: String| sqlx::Error::Decode(problem.into()))
}
