//! What a browser or a client carries for us between two steps: unreadable, unchangeable, and only for a while.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::base::clock::{Millis, millis};
use crate::base::secret::{base64url, from_base64url};
use crate::model::error::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Carried<T> {
    what: T,
    expires_at: Millis,
}

impl Identity {
    /// Seals a value for `life`; it opens with the same label only.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    pub fn seal(&self, label: &str, what: &impl Serialize, life: Duration) -> Result<String> {
        let expires_at = self.0.clock.now().saturating_add(millis(life));
        let plain = serde_json::to_vec(&Carried { what, expires_at }).map_err(Error::internal)?;
        Ok(base64url(&self.0.master.seal(label, &plain).map_err(Error::internal)?))
    }

    /// The value and when it ends; `None` when it is too old, was changed, or is for something else.
    pub fn unseal<T: for<'de> Deserialize<'de>>(&self, label: &str, sealed: &str) -> Option<(T, Millis)> {
        let plain = self.0.master.open(label, &from_base64url(sealed)?).ok()?;
        let carried: Carried<T> = serde_json::from_slice(&plain).ok()?;
        (carried.expires_at > self.0.clock.now()).then_some((carried.what, carried.expires_at))
    }
}
