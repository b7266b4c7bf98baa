//! Second factors of a person together: what they have, how often codes may be tried, recovery codes, and the stage
//! between a first factor and a second.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::base::clock::Millis;
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::base::secret::{Secret, hmac_hex, random_bytes};
use crate::model::error::{Code, Error, Result};
use crate::model::user::User;
use crate::store::factors::{self, Counts};
use crate::store::sessions;

/// Codes that may be tried for one account in [`WINDOW`], right or wrong (B28).
const TRIES: i64 = 5;
const WINDOW: Millis = 60_000;
/// Time to show a second factor after the first.
const STAGE: Duration = Duration::from_secs(10 * 60);
/// Recovery codes that a person gets.
const CODES: usize = 10;
/// Characters of a recovery code: 60 bits.
const CODE_LENGTH: usize = 12;
/// Crockford's base 32: no character looks like another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What a person can show besides a password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    pub totp: bool,
    pub passkeys: bool,
    /// Codes that still work.
    pub recovery_codes: i64,
}

impl Factors {
    /// Whether a log-in needs more than a password.
    pub fn any(self) -> bool {
        self.totp || self.passkeys
    }
}

impl From<Counts> for Factors {
    fn from(counts: Counts) -> Self {
        Self { totp: counts.totp > 0, passkeys: counts.passkeys > 0, recovery_codes: counts.recovery_codes_left }
    }
}

/// A right first factor that waits for the second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stage {
    pub user: Id<User>,
    /// Of the password, when it was the first factor: a new password ends the stage.
    pub stamp: Option<String>,
}

impl Identity {
    pub async fn factors(&self, user: Id<User>) -> Result<Factors> {
        Ok(factors::counts(self.0.db.pool(), user).await?.into())
    }

    /// Counts a try of a code, before the code is looked at; over all nodes.
    ///
    /// # Errors
    /// `rate_limited` with the seconds to wait.
    pub(super) async fn count_try(&self, user: Id<User>) -> Result<()> {
        let now = self.0.clock.now();
        let (tries, since) = factors::count_try(&mut *self.0.db.writer().await?, user, now, WINDOW).await?;
        if tries <= TRIES {
            return Ok(());
        }
        let wait = u64::try_from(since + WINDOW - now).unwrap_or(0).div_ceil(1000).max(1);
        let text = format!("Too many codes were tried for this account. Try again in {}.", counted(wait, "second"));
        Err(Error::new(Code::RateLimited, text).retry_after(wait))
    }

    /// Uses up a recovery code, however it is written; `false` when it is none of the person's, or was used.
    ///
    /// # Errors
    /// `rate_limited` after five tries in a minute.
    pub async fn use_recovery_code(&self, user: Id<User>, code: &Secret) -> Result<bool> {
        self.count_try(user).await?;
        let code = plain(code.expose());
        if code.len() != CODE_LENGTH {
            return Ok(false);
        }
        let digest = self.recovery_digest(user, &code);
        Ok(factors::use_recovery_code(&mut *self.0.db.writer().await?, user, &digest, self.0.clock.now()).await?)
    }

    /// New recovery codes for a person who has a second factor; earlier ones work no more. They can be shown now, and
    /// never again.
    ///
    /// # Errors
    /// `invalid_argument` when there is nothing to recover from.
    pub async fn new_recovery_codes(&self, user: Id<User>) -> Result<Vec<Secret>> {
        if !self.factors(user).await?.any() {
            return Err(Error::invalid("user", "Turn on two-step sign-in or add a passkey first."));
        }
        let codes: Vec<String> = (0..CODES).map(|_| recovery_code()).collect();
        let digests: Vec<String> = codes.iter().map(|code| self.recovery_digest(user, code)).collect();
        let mut tx = self.0.db.begin().await?;
        factors::put_recovery_codes(&mut tx, user, &digests).await?;
        tx.commit().await?;
        Ok(codes.iter().map(|code| Secret::new(grouped(code))).collect())
    }

    /// New recovery codes when the person has none that work: with the first factor.
    pub(super) async fn first_recovery_codes(&self, user: Id<User>) -> Result<Vec<Secret>> {
        match self.factors(user).await?.recovery_codes {
            0 => self.new_recovery_codes(user).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Ends recovery codes that nothing is left to recover from.
    pub(super) async fn drop_stale_recovery_codes(&self, user: Id<User>) -> Result<()> {
        if !self.factors(user).await?.any() {
            factors::delete_recovery_codes(&mut *self.0.db.writer().await?, user).await?;
        }
        Ok(())
    }

    /// For a person who lost everything: no second factor is left, and every browser is signed out.
    ///
    /// # Errors
    /// The database fails.
    pub async fn reset_factors(&self, user: Id<User>) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        factors::delete_of_user(&mut tx, user).await?;
        sessions::delete_of_user(&mut tx, user).await?;
        Ok(tx.commit().await?)
    }

    /// What a browser keeps after a right first factor, for ten minutes: good for showing the second, and nothing else.
    /// `browser` is a secret of this browser.
    ///
    /// # Errors
    /// It cannot be sealed.
    pub fn stage(&self, stage: &Stage, browser: &str) -> Result<String> {
        self.seal(&stage_label(browser), stage, STAGE)
    }

    /// The person of a stage, in the browser that it was made for.
    pub fn staged(&self, stage: &str, browser: &str) -> Option<Stage> {
        self.unseal(&stage_label(browser), stage).map(|(stage, _)| stage)
    }

    /// Keyed, because the codes are short enough to be found from plain digests.
    fn recovery_digest(&self, user: Id<User>, code: &str) -> String {
        hmac_hex(&self.0.recovery_key, format!("{user}:{code}").as_bytes())
    }
}

fn stage_label(browser: &str) -> String {
    format!("two-step:{browser}")
}

fn recovery_code() -> String {
    let letter = |byte: u8| ALPHABET.get(usize::from(byte % 32)).copied().map_or('0', char::from);
    random_bytes::<CODE_LENGTH>().into_iter().map(letter).collect()
}

/// `abcd-efgh-jkmn`.
fn grouped(code: &str) -> String {
    let chars: Vec<char> = code.chars().collect();
    chars.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// As it was made: without spaces and hyphens, and with the letters that people write for digits put right.
fn plain(code: &str) -> String {
    let kept = code.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let right = |c: char| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    kept.map(right).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_code_is_read_as_people_write_it() {
        let code = recovery_code();
        assert_eq!(code.len(), CODE_LENGTH);
        assert_ne!(code, recovery_code());
        assert_eq!(plain(&format!(" {} ", grouped(&code).to_uppercase())), code);
        assert_eq!(plain("O0Il-1abc"), "001 11abc".replace(' ', ""));
        assert_eq!(grouped("abcdefghjkmn"), "abcd-efgh-jkmn");
    }
}
