//! Time-based one-time passwords (RFC 6238): SHA-1, six digits, 30 seconds, which is what every app knows.

use totp_rs::{Algorithm, Builder, Totp};

use super::Identity;
use crate::base::id::Id;
use crate::base::secret::{Secret, random_bytes};
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::store::factors;

const DIGITS: u8 = 6;
const STEP_SECONDS: u64 = 30;
/// Steps before and after the present one whose codes are taken (RFC 6238 §5.2).
const WINDOW: u16 = 1;
/// Bytes of a key: as many as SHA-1 makes (RFC 4226 §4).
const KEY: usize = 20;

/// What a person's app needs.
#[derive(Clone, Debug)]
pub struct TotpKey {
    /// Base 32, for who cannot scan.
    pub text: Secret,
    /// `otpauth://` address, for the picture.
    pub address: Secret,
}

/// How a first code was answered.
#[derive(Clone, Debug)]
pub enum Confirmed {
    /// Two-step sign-in is on. Recovery codes, unless the person had some.
    On(Vec<Secret>),
    Wrong,
}

impl Identity {
    /// A new key for a person. It counts for nothing until [`Identity::confirm_totp`] has seen a code of it.
    ///
    /// # Errors
    /// `invalid_argument` when the person has a confirmed key already.
    pub async fn begin_totp(&self, user: &User) -> Result<TotpKey> {
        let key = random_bytes::<KEY>();
        let sealed = hex::encode(self.0.master.seal(&label(user.id), &key).map_err(Error::internal)?);
        if !factors::put_totp(&mut *self.0.db.writer().await?, user.id, &sealed, self.0.clock.now()).await? {
            return Err(Error::invalid("user", "Two-step sign-in is on already."));
        }
        Ok(for_app(&key, &user.email))
    }

    /// The key that waits for its first code.
    ///
    /// # Errors
    /// The database fails, or the master key is another one.
    pub async fn unconfirmed_totp(&self, user: &User) -> Result<Option<TotpKey>> {
        let row = factors::totp(self.0.db.pool(), user.id).await?;
        let Some(row) = row.filter(|row| row.confirmed_at.is_none()) else { return Ok(None) };
        Ok(Some(for_app(&self.open_key(user.id, &row.sealed)?, &user.email)))
    }

    /// Turns two-step sign-in on with a first right code.
    ///
    /// # Errors
    /// `rate_limited` after five tries in a minute.
    pub async fn confirm_totp(&self, user: Id<User>, code: &Secret) -> Result<Confirmed> {
        if !self.check_totp(user, code, false).await? {
            return Ok(Confirmed::Wrong);
        }
        Ok(Confirmed::On(self.first_recovery_codes(user).await?))
    }

    /// Uses up the code of a person whose two-step sign-in is on; a code of the same or an earlier time step than the
    /// last one is refused (RFC 6238 §5.2).
    ///
    /// # Errors
    /// `rate_limited` after five tries in a minute.
    pub async fn use_totp(&self, user: Id<User>, code: &Secret) -> Result<bool> {
        self.check_totp(user, code, true).await
    }

    async fn check_totp(&self, user: Id<User>, code: &Secret, confirmed: bool) -> Result<bool> {
        self.count_try(user).await?;
        let row = factors::totp(self.0.db.pool(), user).await?;
        let Some(row) = row.filter(|row| row.confirmed_at.is_some() == confirmed) else { return Ok(false) };
        let totp = generator(self.open_key(user, &row.sealed)?)?;
        let now = self.0.clock.now();
        let digits: String = code.expose().chars().filter(|c| !c.is_whitespace()).collect();
        let Some(step) = totp.check(&digits, u64::try_from(now / 1000).unwrap_or(0)) else { return Ok(false) };
        let step = i64::try_from(step).map_err(Error::internal)?;
        Ok(factors::use_totp_step(&mut *self.0.db.writer().await?, user, &row.sealed, step, now).await?)
    }

    /// Turns two-step sign-in off; `false` when it was not on.
    ///
    /// # Errors
    /// The database fails.
    pub async fn end_totp(&self, user: Id<User>) -> Result<bool> {
        let ended = factors::delete_totp(&mut *self.0.db.writer().await?, user).await?;
        self.drop_stale_recovery_codes(user).await?;
        Ok(ended)
    }

    fn open_key(&self, user: Id<User>, sealed: &str) -> Result<[u8; KEY]> {
        let sealed = hex::decode(sealed).map_err(Error::internal)?;
        let key = self.0.master.open(&label(user), &sealed).map_err(Error::internal)?;
        key.try_into().map_err(|_| Error::internal("a key for one-time passwords has another length"))
    }
}

fn label(user: Id<User>) -> String {
    format!("totp:{user}")
}

fn generator(key: [u8; KEY]) -> Result<Totp> {
    let builder = Builder::new().with_algorithm(Algorithm::SHA1).with_digits(DIGITS).with_skew(WINDOW);
    let builder = builder.with_step_duration(STEP_SECONDS).with_secret(totp_rs::Secret::new_stack(key));
    builder.build().map_err(|problem| Error::internal(problem.to_string()))
}

fn for_app(key: &[u8; KEY], email: &str) -> TotpKey {
    let text = base32(key);
    let account: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
    let address = format!("otpauth://totp/Dragoman:{account}?secret={text}&issuer=Dragoman");
    TotpKey { text: Secret::new(text), address: Secret::new(address) }
}

/// RFC 4648 §6, without padding.
fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let letter = |five: &[bool]| {
        let at = (0..5).fold(0, |at, bit| at << 1 | usize::from(five.get(bit).copied().unwrap_or(false)));
        LETTERS.get(at).copied().map_or('A', char::from)
    };
    let bits: Vec<bool> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    bits.chunks(5).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_32_is_the_published_one() {
        // RFC 4648 §10.
        for (plain, text) in [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foob", "MZXW6YQ"), ("foobar", "MZXW6YTBOI")] {
            assert_eq!(base32(plain.as_bytes()), text);
        }
    }

    #[test]
    fn codes_are_those_of_the_rfc() {
        // RFC 6238 appendix B, SHA-1; the last six of its eight digits.
        let totp = generator(*b"12345678901234567890").unwrap();
        for (time, code) in [(59, "287082"), (1_111_111_109, "081804"), (2_000_000_000, "279037")] {
            assert_eq!(totp.generate(time).to_string(), code);
            assert_eq!(totp.check(code, time + 30), Some(time / 30));
            assert_eq!(totp.check(code, time + 60), None);
        }
    }

    #[test]
    fn an_address_is_escaped() {
        let key = for_app(b"12345678901234567890", "a+b&c@example.com");
        assert_eq!(
            key.address.expose(),
            "otpauth://totp/Dragoman:a%2Bb%26c%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Dragoman"
        );
    }
}
