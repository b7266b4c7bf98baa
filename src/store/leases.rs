//! Turns that nodes take: tasks that run on one node at a time, and locks within a transaction.

use sqlx::AnyConnection;

use crate::base::clock::Millis;

/// Takes the turn until `until`, or lengthens it for the one that has it; `false` while another has it.
pub async fn take(on: &mut AnyConnection, name: &str, holder: &str, now: Millis, until: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO leases (name, holder, expires_at) VALUES ($1, $2, $4)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
         WHERE leases.holder = excluded.holder OR leases.expires_at <= $3",
    )
    .bind(name)
    .bind(holder)
    .bind(now)
    .bind(until)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Gives the turn back before it ends; a turn that another has taken since stays theirs.
pub async fn release(on: &mut AnyConnection, name: &str, holder: &str) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM leases WHERE name = $1 AND holder = $2").bind(name).bind(holder).execute(on).await?;
    Ok(())
}

/// Makes others who lock this name wait until the transaction ends.
pub async fn lock(on: &mut AnyConnection, name: &str) -> sqlx::Result<()> {
    let sql = "INSERT INTO leases (name, holder, expires_at) VALUES ($1, '', 0)
               ON CONFLICT (name) DO UPDATE SET expires_at = 0";
    sqlx::query(sql).bind(name).execute(on).await?;
    Ok(())
}
