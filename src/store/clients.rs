//! OAuth clients that registered themselves. All are public: none has a secret.

use sqlx::Row as _;
use sqlx::any::{AnyExecutor, AnyRow};

use crate::base::clock::Millis;

/// A registered client; its `token_endpoint_auth_method` is `none`.
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
    pub created_at: Millis,
}

/// Adds a client, or returns the one that already has this fingerprint.
pub async fn insert_or_get(
    on: impl AnyExecutor<'_>,
    client: &OAuthClient,
    fingerprint: &str,
) -> sqlx::Result<OAuthClient> {
    let redirect_uris =
        serde_json::to_string(&client.redirect_uris).map_err(|problem| sqlx::Error::Encode(problem.into()))?;
    // Who registers again starts anew: the client is not cleaned up as unused while it is about to be used.
    let row = sqlx::query(
        "INSERT INTO oauth_clients (id, fingerprint, name, redirect_uris, application_type, uri, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (fingerprint) DO UPDATE SET created_at = excluded.created_at
         RETURNING id, name, redirect_uris, application_type, uri, created_at",
    )
    .bind(client.id.as_str())
    .bind(fingerprint)
    .bind(client.name.as_str())
    .bind(redirect_uris)
    .bind(client.application_type.as_str())
    .bind(client.uri.clone())
    .bind(client.created_at)
    .fetch_one(on)
    .await?;
    read(&row)
}

pub async fn by_id(on: impl AnyExecutor<'_>, id: &str) -> sqlx::Result<Option<OAuthClient>> {
    let row = sqlx::query(
        "SELECT id, name, redirect_uris, application_type, uri, created_at FROM oauth_clients WHERE id = $1",
    )
    .bind(id)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &AnyRow) -> sqlx::Result<OAuthClient> {
    let redirect_uris = row.try_get::<String, _>("redirect_uris")?;
    Ok(OAuthClient {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        redirect_uris: serde_json::from_str(&redirect_uris).map_err(|problem| sqlx::Error::Decode(problem.into()))?,
        application_type: row.try_get("application_type")?,
        uri: row.try_get("uri")?,
        created_at: row.try_get("created_at")?,
    })
}
