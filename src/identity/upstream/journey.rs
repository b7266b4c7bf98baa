//! What a browser keeps for us while a person is at a provider: sealed, so that it can neither be read nor made up.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Foreigner, Id, Identity, Millis, User};
use crate::base::secret::{base64url, from_base64url, same, sha256_hex};

/// How long a person may take.
pub const LIFE: Millis = 600_000;

/// What somebody went for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// To sign in, and then go there.
    SignIn { return_to: String },
    /// To add a way to sign in to the account that they are signed in to, in this browser session.
    Link { user: Id<User>, session_hash: String },
}

/// One way to a provider and back. Several may be under way in one browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journey {
    pub provider: String,
    pub state: String,
    pub nonce: String,
    /// PKCE (RFC 7636).
    pub verifier: String,
    pub departed_at: Millis,
    pub errand: Errand,
}

/// Somebody who is proven to the provider, and has still to prove to us which account is theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub foreigner: Foreigner,
    pub return_to: String,
    pub since: Millis,
}

/// What tells the journeys of one browser apart. Known to the browser and to the provider; worth nothing alone.
pub fn tag(state: &str) -> String {
    sha256_hex(state.as_bytes()).chars().take(16).collect()
}

impl Identity {
    /// For the browser.
    ///
    /// # Errors
    /// Sealing fails.
    pub fn seal_journey(&self, journey: &Journey) -> crate::model::error::Result<String> {
        self.seal(&format!("journey:{}", tag(&journey.state)), journey)
    }

    /// The journey that returns with this state from this provider; `None` for one of another provider, another state
    /// or another installation, and for one that took too long.
    pub fn open_journey(&self, sealed: &str, provider: &str, state: &str) -> Option<Journey> {
        let journey: Journey = self.unseal(&format!("journey:{}", tag(state)), sealed)?;
        let age = self.0.clock.now() - journey.departed_at;
        let fits = same(journey.state.as_bytes(), state.as_bytes()) && journey.provider == provider;
        (fits && age < LIFE).then_some(journey)
    }

    /// For the browser of somebody who has to sign in to their account first.
    ///
    /// # Errors
    /// Sealing fails.
    pub fn seal_waiting(&self, foreigner: &Foreigner, return_to: &str) -> crate::model::error::Result<String> {
        let (foreigner, return_to) = (foreigner.clone(), return_to.to_owned());
        self.seal("waiting", &Waiting { foreigner, return_to, since: self.0.clock.now() })
    }

    /// Whoever waits, unless it has been too long.
    pub fn open_waiting(&self, sealed: &str) -> Option<Waiting> {
        let waiting: Waiting = self.unseal("waiting", sealed)?;
        (self.0.clock.now() - waiting.since < LIFE).then_some(waiting)
    }

    fn seal(&self, label: &str, value: &impl Serialize) -> crate::model::error::Result<String> {
        let plain = serde_json::to_vec(value).map_err(crate::model::error::Error::internal)?;
        let sealed = self.0.providers.master.seal(&label_of(label), &plain);
        Ok(base64url(&sealed.map_err(crate::model::error::Error::internal)?))
    }

    fn unseal<T: DeserializeOwned>(&self, label: &str, sealed: &str) -> Option<T> {
        let plain = self.0.providers.master.open(&label_of(label), &from_base64url(sealed)?).ok()?;
        serde_json::from_slice(&plain).ok()
    }
}

/// Apart from every other use of the master key.
fn label_of(label: &str) -> String {
    format!("upstream:{label}")
}
