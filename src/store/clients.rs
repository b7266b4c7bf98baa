//! OAuth clients: public ones that registered themselves, and confidential ones that the operator registered.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use crate::base::clock::Millis;

/// A client. One without a secret is public; its `token_endpoint_auth_method` is `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthClient {
    pub id: String,
    pub name: String,
    /// As registered, in that order.
    pub redirect_uris: Vec<String>,
    /// `native` or `web`.
    pub application_type: String,
    /// The client's home page, when it named one.
    pub uri: Option<String>,
    /// SHA-256 of a confidential client's secret, in hex.
    pub secret_digest: Option<String>,
    /// Whether it may introspect access tokens of other clients (RFC 7662). Only a confidential client may.
    pub may_introspect: bool,
    /// When it registered last.
    pub created_at: Millis,
}

impl OAuthClient {
    /// Whether it has a secret to prove itself with (RFC 6749 §2.1).
    pub fn is_confidential(&self) -> bool {
        self.secret_digest.is_some()
    }
}

/// Adds a client, or returns the one that already has this fingerprint, as if it had been added now.
pub async fn insert_or_get(
    on: &mut AnyConnection,
    client: &OAuthClient,
    fingerprint: &str,
) -> sqlx::Result<OAuthClient> {
    let redirect_uris =
        serde_json::to_string(&client.redirect_uris).map_err(|problem| sqlx::Error::Encode(problem.into()))?;
    // Who registers again starts anew: the client is not cleaned up as unused while it is about to be used.
    let row = sqlx::query(
        "INSERT INTO oauth_clients
         (id, fingerprint, name, redirect_uris, application_type, uri, secret_digest, may_introspect, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (fingerprint) DO UPDATE SET created_at = excluded.created_at
         RETURNING id, name, redirect_uris, application_type, uri, secret_digest, may_introspect, created_at",
    )
    .bind(client.id.as_str())
    .bind(fingerprint)
    .bind(client.name.as_str())
    .bind(redirect_uris)
    .bind(client.application_type.as_str())
    .bind(client.uri.clone())
    .bind(client.secret_digest.clone())
    .bind(i64::from(client.may_introspect))
    .bind(client.created_at)
    .fetch_one(on)
    .await?;
    read(&row)
}

/// Whether a client has this fingerprint.
pub async fn is_known(on: impl AnyExecutor<'_>, fingerprint: &str) -> sqlx::Result<bool> {
    let query = sqlx::query("SELECT id FROM oauth_clients WHERE fingerprint = $1");
    Ok(query.bind(fingerprint).fetch_optional(on).await?.is_some())
}

pub async fn by_id(on: impl AnyExecutor<'_>, id: &str) -> sqlx::Result<Option<OAuthClient>> {
    let row = sqlx::query(
        "SELECT id, name, redirect_uris, application_type, uri, secret_digest, may_introspect, created_at
         FROM oauth_clients WHERE id = $1",
    )
    .bind(id)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Every client, the latest first.
pub async fn list(on: impl AnyExecutor<'_>) -> sqlx::Result<Vec<OAuthClient>> {
    let rows = sqlx::query(
        "SELECT id, name, redirect_uris, application_type, uri, secret_digest, may_introspect, created_at
         FROM oauth_clients ORDER BY created_at DESC, id",
    )
    .fetch_all(on)
    .await?;
    rows.iter().map(read).collect()
}

/// Replaces the secret of a confidential client; `false` when there is no such client with a secret.
pub async fn set_secret(on: &mut AnyConnection, id: &str, digest: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE oauth_clients SET secret_digest = $2 WHERE id = $1 AND secret_digest IS NOT NULL")
        .bind(id)
        .bind(digest)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Removes a client; `false` when there is none.
pub async fn remove(on: &mut AnyConnection, id: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM oauth_clients WHERE id = $1").bind(id).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

fn read(row: &AnyRow) -> sqlx::Result<OAuthClient> {
    let redirect_uris = row.try_get::<String, _>("redirect_uris")?;
    Ok(OAuthClient {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        redirect_uris: serde_json::from_str(&redirect_uris).map_err(|problem| sqlx::Error::Decode(problem.into()))?,
        application_type: row.try_get("application_type")?,
        uri: row.try_get("uri")?,
        secret_digest: row.try_get("secret_digest")?,
        may_introspect: row.try_get::<i64, _>("may_introspect")? != 0,
        created_at: row.try_get("created_at")?,
    })
}
