//! Who belongs to which workspace, and as what.

use sqlx::Row as _;
use sqlx::any::{AnyExecutor, AnyRow};

use super::{orgs, users};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::org::Org;
use crate::model::user::{Membership, User};

/// Adds a membership or changes its role.
pub async fn set(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>, role: Role, now: Millis) -> sqlx::Result<()> {
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
pub async fn remove(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM memberships WHERE org_id = $1 AND user_id = $2")
        .bind(org.to_string())
        .bind(user.to_string())
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn role(on: impl AnyExecutor<'_>, org: Id<Org>, user: Id<User>) -> sqlx::Result<Option<Role>> {
    let row = sqlx::query("SELECT role FROM memberships WHERE org_id = $1 AND user_id = $2")
        .bind(org.to_string())
        .bind(user.to_string())
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read_role).transpose()
}

/// A person's workspaces by name.
pub async fn of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<Membership>> {
    let rows = sqlx::query(
        "SELECT o.id AS id, o.slug AS slug, o.name AS name, o.connectivity_enabled AS connectivity_enabled,
                o.created_at AS created_at, m.role AS role
         FROM memberships m JOIN orgs o ON o.id = m.org_id WHERE m.user_id = $1 ORDER BY o.name, o.id",
    )
    .bind(user.to_string())
    .fetch_all(on)
    .await?;
    rows.iter().map(|row| Ok(Membership { org: orgs::read(row)?, user, role: read_role(row)? })).collect()
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
