//! A person's browsers: where they are signed in, and which of them have signed in before.

use super::Identity;
use super::password::Candidate;
use crate::base::id::Id;
use crate::base::secret::{hmac_hex, same};
use crate::model::error::Result;
use crate::model::user::User;
use crate::store::sessions;
pub use crate::store::sessions::BrowserSession;

impl Identity {
    /// Where a person is signed in, the last used first.
    pub async fn browser_sessions(&self, user: Id<User>) -> Result<Vec<BrowserSession>> {
        Ok(sessions::of_user(self.0.db.pool(), user, self.0.clock.now()).await?)
    }

    /// Signs a person out of one browser; `false` when they are not signed in there.
    pub async fn end_browser_session(&self, user: Id<User>, id: &str) -> Result<bool> {
        Ok(sessions::delete_one_of_user(&mut *self.0.db.writer().await?, user, id).await?)
    }

    /// Signs a person out of every browser but the one with this digest of its session's id; returns how many.
    pub async fn end_other_browser_sessions(&self, user: Id<User>, keep: &str) -> Result<u64> {
        Ok(sessions::delete_others_of_user(&mut *self.0.db.writer().await?, user, keep).await?)
    }

    /// What a browser keeps to show that the candidate has signed in there before. It proves nothing else, and is worth
    /// nothing once the password changes.
    pub fn browser_mark(&self, candidate: &Candidate, device: &str) -> String {
        let mark = hmac_hex(&self.0.browser_key, format!("{}:{device}", candidate.stamp()).as_bytes());
        mark.chars().take(32).collect()
    }

    /// Whether one of a browser's marks is the candidate's. Looks at all of them, for somebody and for nobody.
    pub fn knows_browser(&self, candidate: &Candidate, device: &str, marks: &[&str]) -> bool {
        let right = self.browser_mark(candidate, device);
        let known = marks.iter().fold(false, |known, mark| same(mark.as_bytes(), right.as_bytes()) | known);
        known & candidate.principal().is_some()
    }
}
