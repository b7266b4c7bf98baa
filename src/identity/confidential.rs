//! Confidential clients (RFC 6749 §2.1): programs on servers, which can keep a secret. The operator registers them; of
//! the secret, which is shown once, only a digest is kept. And the one place that says whether a client has proved who
//! it is.

use super::Identity;
use super::clients::OAuthClient;
use super::members::checked_name;
use super::redirect;
use crate::base::secret::{Secret, checked_token, random_token, same, sha256_hex};
use crate::model::error::{Error, Result};
use crate::store::{client_blocks, clients, freshness, grants};

/// How every client secret begins.
const SECRET: &str = "dgcs_";
/// Compared with what is sent for a client that has no secret, so that this takes as long. Nothing has this digest.
const NOBODYS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A confidential client as the operator wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConfidentialClient {
    pub name: String,
    /// May be empty for one that never sends a person here.
    pub redirect_uris: Vec<String>,
    /// Whether it may introspect every access token: a resource server or a gateway.
    pub may_introspect: bool,
}

/// A client that has proved who it is as far as it can: a confidential one with its secret, a public one not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownClient {
    pub id: String,
    pub confidential: bool,
    /// Only of a confidential client.
    pub may_introspect: bool,
}

impl Identity {
    /// Registers a confidential client; returns it and, for the only time, its secret.
    ///
    /// # Errors
    /// `invalid_argument` for a bad name or redirect address.
    pub async fn create_confidential_client(&self, new: NewConfidentialClient) -> Result<(OAuthClient, Secret)> {
        if !new.redirect_uris.is_empty() {
            redirect::judge(&new.redirect_uris).map_err(|unfit| Error::invalid("redirect_uri", unfit.to_string()))?;
        }
        let secret = checked_token(SECRET);
        let client = OAuthClient {
            id: random_token("dgc_").expose().to_owned(),
            name: checked_name(&new.name)?,
            redirect_uris: new.redirect_uris,
            application_type: "web".to_owned(),
            uri: None,
            secret_digest: Some(digest(secret.expose())),
            may_introspect: new.may_introspect,
            created_at: self.0.clock.now(),
        };
        // Its own id: two confidential clients are never one, whatever they are called.
        let client = clients::insert_or_get(&mut *self.0.db.writer().await?, &client, &client.id).await?;
        Ok((client, secret))
    }

    /// Every registered client, the latest first.
    pub async fn clients(&self) -> Result<Vec<OAuthClient>> {
        Ok(clients::list(self.0.db.pool()).await?)
    }

    /// Whether the operator registered the client, and so vouches for its name. Nothing is fetched.
    pub async fn is_confidential(&self, id: &str) -> Result<bool> {
        Ok(clients::by_id(self.0.db.pool(), id).await?.is_some_and(|client| client.is_confidential()))
    }

    /// A new secret for a confidential client; the old one is worth nothing from now on.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such client, or it is public.
    pub async fn replace_client_secret(&self, id: &str) -> Result<Secret> {
        let secret = checked_token(SECRET);
        match clients::set_secret(&mut *self.0.db.writer().await?, id, &digest(secret.expose())).await? {
            true => Ok(secret),
            false => Err(Error::invalid("client_id", "There is no confidential client with this id.")),
        }
    }

    /// Removes a registered client, and ends every grant that anybody gave it. Its blocks go with it: its id is never
    /// given again.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such client.
    pub async fn remove_client(&self, id: &str) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        if !clients::remove(&mut tx, id).await? {
            return Err(Error::invalid("client_id", "There is no registered client with this id."));
        }
        grants::revoke_of_client(&mut tx, id, "client_removed", self.0.clock.now()).await?;
        if client_blocks::remove_of_client(&mut tx, id).await? > 0 {
            freshness::hold_all(&mut tx, self.0.db.backend()).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The client that says `id` and sends `secret`, or none: `None` when there is no such client, when its secret is
    /// another, when it has one and sends none, and when it has none and sends one. One look-up, one digest and one
    /// comparison in every case, so that the time does not tell which (E01, E08). Nothing is fetched.
    pub async fn authenticate_client(&self, id: &str, secret: Option<&str>) -> Result<Option<KnownClient>> {
        let registered = clients::by_id(self.0.db.pool(), id).await?;
        let expected = registered.as_ref().and_then(|client| client.secret_digest.as_deref());
        let right = same(digest(secret.unwrap_or("")).as_bytes(), expected.unwrap_or(NOBODYS).as_bytes());
        let known = match (secret, &registered) {
            (Some(_), Some(client)) => right && client.is_confidential(),
            (None, Some(client)) => !client.is_confidential(),
            (Some(_), None) => false,
            (None, None) => self.is_document(id),
        };
        Ok(known.then(|| KnownClient {
            id: id.to_owned(),
            confidential: secret.is_some(),
            may_introspect: secret.is_some() && registered.is_some_and(|client| client.may_introspect),
        }))
    }
}

fn digest(secret: &str) -> String {
    sha256_hex(secret.as_bytes())
}
