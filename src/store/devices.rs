//! Devices that wait for a person's answer (RFC 8628). The row is the lock of its device: polling and answering begin by
//! updating it. Both of its codes are kept as digests.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;

/// How far a device has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Approved,
    Denied,
    /// It has its tokens.
    Redeemed,
}

impl State {
    const ALL: [State; 4] = [State::Waiting, State::Approved, State::Denied, State::Redeemed];

    fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Approved => "approved",
            State::Denied => "denied",
            State::Redeemed => "redeemed",
        }
    }
}

/// A device as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    /// SHA-256 of the device code.
    pub digest: String,
    /// Keyed digest of the user code, which is too short for a plain one.
    pub user_code: String,
    pub client_id: String,
    /// As it was when the device asked.
    pub client_name: String,
    /// Names with spaces between.
    pub scopes: String,
    pub resource: String,
    /// The address that the device asked from.
    pub ip: String,
    pub state: State,
    /// The workspace and the grant, once approved.
    pub grant: Option<(Id<Org>, String)>,
    pub created_at: Millis,
    pub expires_at: Millis,
    pub polled_at: Option<Millis>,
    /// The device waits this long between two questions.
    pub poll_seconds: i64,
}

/// Adds a device that waits; `false` when one of its codes is taken.
pub async fn insert(on: &mut AnyConnection, device: &DeviceRow) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO device_codes (digest, user_code, client_id, client_name, scopes, resource, ip, state, created_at,
                                   expires_at, poll_seconds)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
    )
    .bind(device.digest.as_str())
    .bind(device.user_code.as_str())
    .bind(device.client_id.as_str())
    .bind(device.client_name.as_str())
    .bind(device.scopes.as_str())
    .bind(device.resource.as_str())
    .bind(device.ip.as_str())
    .bind(device.state.name())
    .bind(device.created_at)
    .bind(device.expires_at)
    .bind(device.poll_seconds)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// The device that waits with this user code at `now`.
pub async fn by_user_code(on: impl AnyExecutor<'_>, user_code: &str, now: Millis) -> sqlx::Result<Option<DeviceRow>> {
    let row = sqlx::query(
        "SELECT digest, user_code, client_id, client_name, scopes, resource, ip, state, org_id, grant_id, created_at,
                expires_at, polled_at, poll_seconds
         FROM device_codes WHERE user_code = $1 AND state = 'waiting' AND expires_at > $2",
    )
    .bind(user_code)
    .bind(now)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Locks a device for its own client; another client's call finds and changes nothing.
pub async fn lock(on: &mut AnyConnection, digest: &str, client_id: &str) -> sqlx::Result<Option<DeviceRow>> {
    let row = sqlx::query(
        "UPDATE device_codes SET poll_seconds = poll_seconds WHERE digest = $1 AND client_id = $2
         RETURNING digest, user_code, client_id, client_name, scopes, resource, ip, state, org_id, grant_id, created_at,
                   expires_at, polled_at, poll_seconds",
    )
    .bind(digest)
    .bind(client_id)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Notes that a device has asked, and how long it has to wait from now on.
pub async fn polled(on: &mut AnyConnection, digest: &str, now: Millis, poll_seconds: i64) -> sqlx::Result<()> {
    sqlx::query("UPDATE device_codes SET polled_at = $2, poll_seconds = $3 WHERE digest = $1")
        .bind(digest)
        .bind(now)
        .bind(poll_seconds)
        .execute(on)
        .await?;
    Ok(())
}

/// Approves a device that waits, by the grant that is made with it; `false` when it was answered already, or is too old.
pub async fn approve(
    on: &mut AnyConnection,
    org: Id<Org>,
    digest: &str,
    grant_id: &str,
    now: Millis,
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE device_codes SET state = 'approved', org_id = $2, grant_id = $3
         WHERE digest = $1 AND state = 'waiting' AND expires_at > $4",
    )
    .bind(digest)
    .bind(org.to_string())
    .bind(grant_id)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Refuses a device that waits; `false` when it was answered already, or is too old.
pub async fn deny(on: &mut AnyConnection, digest: &str, now: Millis) -> sqlx::Result<bool> {
    let sql = "UPDATE device_codes SET state = 'denied' WHERE digest = $1 AND state = 'waiting' AND expires_at > $2";
    let done = sqlx::query(sql).bind(digest).bind(now).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// Notes that a device has its tokens.
pub async fn redeem(on: &mut AnyConnection, digest: &str) -> sqlx::Result<()> {
    sqlx::query("UPDATE device_codes SET state = 'redeemed' WHERE digest = $1").bind(digest).execute(on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> sqlx::Result<DeviceRow> {
    let state = row.try_get::<String, _>("state")?;
    let state = State::ALL.into_iter().find(|known| known.name() == state);
    let grant = match row.try_get::<Option<String>, _>("grant_id")? {
        Some(id) => Some((text_id(row, "org_id")?, id)),
        None => None,
    };
    Ok(DeviceRow {
        digest: row.try_get("digest")?,
        user_code: row.try_get("user_code")?,
        client_id: row.try_get("client_id")?,
        client_name: row.try_get("client_name")?,
        scopes: row.try_get("scopes")?,
        resource: row.try_get("resource")?,
        ip: row.try_get("ip")?,
        state: state.ok_or_else(|| sqlx::Error::Decode("unknown state of a device".into()))?,
        grant,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        polled_at: row.try_get("polled_at")?,
        poll_seconds: row.try_get("poll_seconds")?,
    })
}
