//! A checked request that waits for the person's answer on the consent page.

use serde::{Deserialize, Serialize};

use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::base::secret::{Secret, random_token, sha256_hex};
use crate::identity::grants::Approval;
use crate::model::access::Scope;
use crate::model::error::{Error, Result};
use crate::model::grant::parse_scopes;
use crate::model::org::Org;
use crate::store::pending::{self, PendingKey};
use crate::surface::browser::session::SignedIn;
use crate::surface::web::Web;

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pending {
    pub client_id: String,
    /// As it was when the request was checked; the document of a client may change at any time.
    pub client_name: String,
    pub client_site: Option<String>,
    /// Canonical; the audience of the tokens.
    pub resource: String,
    /// As a `scope` value.
    pub scope: String,
    /// The only workspace that may be chosen, when the resource names one.
    pub org: Option<Id<Org>>,
    pub asker: Asker,
}

/// How the client hears the answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Asker {
    /// The browser goes back to it.
    Browser(Back),
    /// It is on another device, and asks until it hears (RFC 8628).
    Device(Device),
}

/// Where the browser goes back to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Back {
    pub redirect_uri: String,
    pub state: Option<String>,
    pub code_challenge: String,
    /// Digest of all redirect addresses of the client.
    pub addresses: String,
}

/// The device that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Device {
    /// SHA-256 of its code.
    pub digest: String,
    /// The address that it asked from, and when.
    pub ip: String,
    pub asked_at: Millis,
}

impl Pending {
    /// Stores the request for this person in this browser; returns the path of its page.
    pub async fn store(&self, web: &Web, person: &SignedIn) -> Result<String> {
        let handle = random_token("");
        let data = serde_json::to_string(self).map_err(Error::internal)?;
        let now = web.identity.clock().now();
        let life = millis(web.config.limits.lifetimes.consent);
        let mut writer = web.identity.db().writer().await?;
        pending::create(&mut writer, &key(&handle, person), &data, now.saturating_add(life)).await?;
        Ok(format!("/consent?request={}", handle.expose()))
    }

    /// The request with this handle, left in place; `None` unless it is this person's in this browser.
    pub async fn peek(web: &Web, handle: &Secret, person: &SignedIn) -> Result<Option<Self>> {
        let now = web.identity.clock().now();
        let data = pending::peek(web.identity.db().pool(), &key(handle, person), now).await?;
        data.map(|data| serde_json::from_str(&data).map_err(Error::internal)).transpose()
    }

    /// Uses the handle up; `false` when another call was first.
    pub async fn take(web: &Web, handle: &Secret, person: &SignedIn) -> Result<bool> {
        let now = web.identity.clock().now();
        Ok(pending::take(&mut *web.identity.db().writer().await?, &key(handle, person), now).await?.is_some())
    }

    pub fn scopes(&self) -> Vec<Scope> {
        parse_scopes(&self.scope).unwrap_or_default()
    }

    /// What the person allows. A device's approval has no address to go back to, and no challenge.
    pub fn approval(&self, person: &SignedIn, org: Id<Org>, scopes: Vec<Scope>) -> Approval {
        let (redirect_uri, code_challenge) = match &self.asker {
            Asker::Browser(back) => (back.redirect_uri.clone(), back.code_challenge.clone()),
            Asker::Device(_) => (String::new(), String::new()),
        };
        Approval {
            client_id: self.client_id.clone(),
            user: person.user.id,
            org,
            scopes,
            resource: self.resource.clone(),
            redirect_uri,
            code_challenge,
            auth_time: person.auth_time,
            acr: person.acr,
            session_hash: Some(person.session_hash()),
        }
    }
}

fn key(handle: &Secret, person: &SignedIn) -> PendingKey {
    let handle_hash = sha256_hex(handle.expose().as_bytes());
    PendingKey { handle_hash, session_hash: person.session_hash(), user: person.user.id }
}
