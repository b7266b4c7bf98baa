//! What a browser keeps for us while a person is at a provider: sealed, so that it can neither be read nor made up.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id_token::SKEW;
use super::{Foreigner, Id, Identity, Millis, User};
use crate::base::secret::{same, sha256_hex};

/// How long a person may take.
pub(super) const LIFE: Duration = Duration::from_secs(600);
const WAITING: &str = "upstream:waiting";

/// What somebody went for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// To sign in, and then go there. With `anew` only a sign-in at the provider since then will do.
    SignIn { return_to: String, anew: Option<Millis> },
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
    pub errand: Errand,
}

/// Somebody who is proven to the provider, and has still to prove to us which account is theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub foreigner: Foreigner,
    pub return_to: String,
}

impl Foreigner {
    /// When they last proved who they are, by our clock, which says `now`. `None` when they went to do so `anew`, and
    /// the provider does not say that they did: what was asked for passed through the browser, and only `auth_time`
    /// tells a new sign-in from the session that they had there (Core §3.1.2.1: who is asked for `max_age` must send
    /// it). Where nothing was asked for, a provider that does not say is believed.
    pub fn proven_at(&self, anew: Option<Millis>, now: Millis) -> Option<Millis> {
        match (anew, self.auth_time) {
            (None, told) => Some(told.unwrap_or(now).min(now)),
            // Whole seconds of another clock.
            (Some(since), Some(told)) if told >= since - SKEW => Some(told.max(since).min(now)),
            (Some(_), _) => None,
        }
    }
}

/// What tells the journeys of one browser apart. Known to the browser and to the provider; worth nothing alone.
pub fn tag(state: &str) -> String {
    sha256_hex(state.as_bytes()).chars().take(16).collect()
}

fn label(state: &str) -> String {
    format!("upstream:journey:{}", tag(state))
}

impl Identity {
    /// For the browser.
    ///
    /// # Errors
    /// Sealing fails.
    pub fn seal_journey(&self, journey: &Journey) -> crate::model::error::Result<String> {
        self.seal(&label(&journey.state), journey, LIFE)
    }

    /// The journey that returns with this state from this provider; `None` for one of another provider, another state
    /// or another installation, and for one that took too long.
    pub fn open_journey(&self, sealed: &str, provider: &str, state: &str) -> Option<Journey> {
        let (journey, _): (Journey, Millis) = self.unseal(&label(state), sealed)?;
        let fits = same(journey.state.as_bytes(), state.as_bytes()) && journey.provider == provider;
        fits.then_some(journey)
    }

    /// For the browser of somebody who has to sign in to their account first.
    ///
    /// # Errors
    /// Sealing fails.
    pub fn seal_waiting(&self, foreigner: &Foreigner, return_to: &str) -> crate::model::error::Result<String> {
        let (foreigner, return_to) = (foreigner.clone(), return_to.to_owned());
        self.seal(WAITING, &Waiting { foreigner, return_to }, LIFE)
    }

    /// Whoever waits, unless it has been too long.
    pub fn open_waiting(&self, sealed: &str) -> Option<Waiting> {
        self.unseal(WAITING, sealed).map(|(waiting, _)| waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_does_not_say_when_proves_no_new_sign_in() {
        let (since, now) = (1_000_000_000, 1_000_090_000);
        let proven = |anew, auth_time| {
            let foreigner = Foreigner {
                provider: "oidc".into(),
                issuer: String::new(),
                subject: String::new(),
                email: None,
                name: None,
                hosted_domain: None,
                auth_time,
            };
            foreigner.proven_at(anew, now)
        };
        assert_eq!(proven(None, None), Some(now));
        assert_eq!(proven(None, Some(7)), Some(7), "as long ago as it says");
        assert_eq!(proven(None, Some(now + 1)), Some(now), "never later than now");
        assert_eq!(proven(Some(since), None), None);
        assert_eq!(proven(Some(since), Some(since - SKEW - 1)), None);
        assert_eq!(proven(Some(since), Some(since - SKEW)), Some(since), "clocks differ");
        assert_eq!(proven(Some(since), Some(since + 30_000)), Some(since + 30_000));
        assert_eq!(proven(Some(since), Some(now + 1)), Some(now));
    }
}
