//! The device authorization grant (RFC 8628): a program without a browser shows a short code, a person types it where
//! they are signed in, and the program asks again and again until they have answered.

use std::net::IpAddr;

use super::Identity;
use super::clients::OAuthClient;
use super::grants::{Approval, GrantError, TokenPair, client_blocked, not_a_member};
use crate::base::clock::{Millis, millis};
use crate::base::secret::{Secret, checked_token, hmac_hex, is_well_formed, random_bytes, sha256_hex};
use crate::model::access::Scope;
use crate::model::error::Result;
use crate::model::grant::scope_text;
use crate::store::devices::{self, DeviceRow, State};
use crate::store::{Tx, client_blocks, grants, members};

const DEVICE: &str = "dgdc_";
/// RFC 8628 §6.1: no vowels, so that no words come up, no digits, and nothing that looks like something else.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// Letters of a user code: 34 bits, of which a person may try a handful a minute.
const LENGTH: usize = 8;
/// Seconds between two questions at first, and by how much they grow for one that asks too often (RFC 8628 §3.5).
const INTERVAL: i64 = 5;
/// A device that keeps to the interval arrives a little early now and then.
const EARLY: Millis = 500;

/// What a device receives first (RFC 8628 §3.2).
#[derive(Clone, Debug)]
pub struct Started {
    pub device_code: Secret,
    /// As it is shown: `XXXX-XXXX`.
    pub user_code: Secret,
    /// Seconds that both codes live.
    pub expires_in: u64,
    /// Seconds between two questions.
    pub interval: u64,
}

/// A device that waits for an answer, as the person must see it.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// SHA-256 of the device code: which device is answered.
    pub digest: String,
    pub client_id: String,
    /// As it was when the device asked.
    pub client_name: String,
    /// As a `scope` value.
    pub scope: String,
    /// Canonical; becomes the audience.
    pub resource: String,
    /// The address that the device asked from.
    pub ip: String,
    pub asked_at: Millis,
}

/// Why a device gets no tokens (RFC 8628 §3.5).
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("nobody has answered yet")]
    Pending,
    #[error("nobody has answered yet, and the device asks too often")]
    SlowDown,
    #[error("the person did not approve")]
    Denied,
    #[error("the code is too old")]
    Expired,
    #[error(transparent)]
    Grant(#[from] GrantError),
}

impl From<sqlx::Error> for DeviceError {
    fn from(cause: sqlx::Error) -> Self {
        DeviceError::Grant(cause.into())
    }
}

impl Identity {
    /// Gives a client's device its two codes.
    pub async fn start_device(
        &self,
        client: &OAuthClient,
        scopes: &[Scope],
        resource: String,
        ip: IpAddr,
    ) -> Result<Started> {
        let (now, lifetime) = (self.0.clock.now(), self.0.config.limits.lifetimes.device);
        let device_code = checked_token(DEVICE);
        let mut row = DeviceRow {
            digest: sha256_hex(device_code.expose().as_bytes()),
            user_code: String::new(),
            client_id: client.id.clone(),
            client_name: client.name.clone(),
            scopes: scope_text(scopes),
            resource,
            ip: ip.to_canonical().to_string(),
            state: State::Waiting,
            grant: None,
            created_at: now,
            expires_at: now + millis(lifetime),
            polled_at: None,
            poll_seconds: INTERVAL,
        };
        // A user code that is taken is drawn again.
        let user_code = loop {
            let letters = draw();
            row.user_code = self.user_code_digest(&letters);
            if devices::insert(&mut *self.0.db.writer().await?, &row).await? {
                break shown(&letters);
            }
        };
        let interval = INTERVAL.unsigned_abs();
        Ok(Started { device_code, user_code, expires_in: lifetime.as_secs(), interval })
    }

    /// The device that waits with a code as a person typed it. One answer for codes that are wrong, answered or too old.
    pub async fn waiting_device(&self, typed: &str) -> Result<Option<Waiting>> {
        let Some(letters) = normal(typed) else { return Ok(None) };
        let digest = self.user_code_digest(&letters);
        let row = devices::by_user_code(self.0.db.pool(), &digest, self.0.clock.now()).await?;
        Ok(row.map(|row| Waiting {
            digest: row.digest,
            client_id: row.client_id,
            client_name: row.client_name,
            scope: row.scopes,
            resource: row.resource,
            ip: row.ip,
            asked_at: row.created_at,
        }))
    }

    /// Approves a device; `false` when it was answered already or is too old.
    ///
    /// # Errors
    /// `invalid_argument` when the person is not a member of the workspace.
    pub async fn approve_device(&self, digest: &str, approval: Approval) -> Result<bool> {
        // Nobody learns the code of this grant: it is opened with the device's code only.
        let grant = self.granted(approval, &checked_token(DEVICE));
        let mut tx = self.0.db.begin().await?;
        if members::role(&mut *tx, grant.org, grant.user).await?.is_none() {
            return Err(not_a_member());
        }
        if client_blocks::is_blocked(&mut *tx, Some(grant.org), &grant.client_id).await? {
            return Err(client_blocked());
        }
        if !devices::approve(&mut tx, grant.org, digest, &grant.id, self.0.clock.now()).await? {
            return Ok(false);
        }
        grants::insert(&mut tx, &grant).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Refuses a device; `false` when it was answered already or is too old.
    pub async fn deny_device(&self, digest: &str) -> Result<bool> {
        Ok(devices::deny(&mut *self.0.db.writer().await?, digest, self.0.clock.now()).await?)
    }

    /// Answers a device that asks (RFC 8628 §3.4). Signing out in the browser does not end an approval here, as it ends
    /// a code: nothing went through that browser, and who approves at a borrowed machine should sign out at once.
    pub async fn poll_device(
        &self,
        device_code: &str,
        client_id: &str,
        resource: Option<&str>,
    ) -> Result<TokenPair, DeviceError> {
        if !is_well_formed(DEVICE, device_code) {
            return Err(invalid("the device code is not valid"));
        }
        let now = self.0.clock.now();
        let digest = sha256_hex(device_code.as_bytes());
        let mut tx = self.0.db.begin().await?;
        let device = devices::lock(&mut tx, &digest, client_id).await?;
        let device = device.ok_or_else(|| invalid("the device code is not valid"))?;
        match device.state {
            State::Redeemed => return Err(invalid("the device code was used already")),
            State::Denied => return Err(DeviceError::Denied),
            _ if now >= device.expires_at => return Err(DeviceError::Expired),
            State::Waiting => return Err(not_yet(tx, &device, now).await?),
            State::Approved => {}
        }
        let (org, grant_id) = device.grant.ok_or_else(|| invalid("the device code is not valid"))?;
        let grant = grants::lock(&mut tx, org, &grant_id, now).await?;
        let grant = grant.filter(|grant| grant.revoked_at.is_none());
        let grant = grant.ok_or_else(|| invalid("the approval was withdrawn"))?;
        devices::redeem(&mut tx, &digest).await?;
        Ok(self.first_tokens(tx, &grant, resource).await?)
    }

    fn user_code_digest(&self, letters: &str) -> String {
        hmac_hex(&self.0.device_key, letters.as_bytes())
    }
}

/// Notes the question of a device that nobody has answered, and whether it came too early.
async fn not_yet(mut tx: Tx, device: &DeviceRow, now: Millis) -> Result<DeviceError, DeviceError> {
    let due = device.polled_at.map_or(now, |at| at + device.poll_seconds * 1000 - EARLY);
    let hasty = now < due;
    let poll_seconds = if hasty { device.poll_seconds + INTERVAL } else { device.poll_seconds };
    devices::polled(&mut tx, &device.digest, now, poll_seconds).await?;
    tx.commit().await?;
    Ok(if hasty { DeviceError::SlowDown } else { DeviceError::Pending })
}

fn invalid(why: &'static str) -> DeviceError {
    DeviceError::Grant(GrantError::InvalidGrant(why))
}

/// Letters, each equally likely: bytes past the last whole multiple of 20 are thrown away.
fn draw() -> String {
    let mut letters = String::with_capacity(LENGTH);
    while letters.len() < LENGTH {
        let [byte] = random_bytes::<1>();
        if byte < 240 {
            letters.extend(LETTERS.get(usize::from(byte % 20)).copied().map(char::from));
        }
    }
    letters
}

/// With a dash in the middle.
fn shown(letters: &str) -> Secret {
    let (left, right) = letters.split_at(LENGTH / 2);
    Secret::new(format!("{left}-{right}"))
}

/// What a person meant: case, spaces and punctuation say nothing (RFC 8628 §6.1).
fn normal(typed: &str) -> Option<String> {
    if typed.len() > 64 {
        return None;
    }
    let letters: String = typed.chars().filter(|c| c.is_alphanumeric()).collect();
    let letters = letters.to_ascii_uppercase();
    (letters.len() == LENGTH && letters.bytes().all(|letter| LETTERS.contains(&letter))).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l04_a_user_code_has_more_than_20_bits_and_no_vowels_or_look_alikes() {
        let seen: std::collections::HashSet<char> = (0..500).flat_map(|_| draw().chars().collect::<Vec<_>>()).collect();
        // 4,000 draws miss one of 20 letters with a probability below 1e-87.
        assert_eq!(seen.len(), 20);
        assert!(!seen.iter().any(|letter| "AEIOUY0O1I".contains(*letter)), "{seen:?}");
        assert!((seen.len() as f64).log2() * LENGTH as f64 > 20.0);
    }

    #[test]
    fn a_code_is_shown_in_two_halves_and_read_however_it_is_typed() {
        assert_eq!(shown("BCDFGHJK").expose(), "BCDF-GHJK");
        for typed in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "Bcdf–ghjk", "b.c.d.f.g.h.j.k"] {
            assert_eq!(normal(typed).as_deref(), Some("BCDFGHJK"), "{typed}");
        }
        for bad in ["", "BCDF", "BCDFGHJKL", "BCDFGHJA", "BCDFGHJ1", "BCDFGHJé", &"-".repeat(65)] {
            assert_eq!(normal(bad), None, "{bad}");
        }
    }
}
