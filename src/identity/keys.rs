//! Keys that sign access tokens: Ed25519 (RFC 8037), private halves sealed at rest, public ones in the JWKS (RFC 7517).
//!
//! A key is published first, signs from `active_from`, retires when the next one signs, and stays published until
//! nothing that it signed can be alive. One that leaked is withdrawn: it verifies nothing from then on. The table is
//! shared by all nodes; `rotate.rs` changes it, and every node reads it again every other second.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::Identity;
use super::token::SKEW;
use crate::base::clock::{Clock, Millis, millis};
use crate::base::secret::{MasterKey, base64url, from_base64url, sha256};
use crate::model::error::{Code, Error, Result};
use crate::store::Db;
use crate::store::keys::{self, KeyRow};

/// How long others may keep the key set (`Cache-Control` of the JWKS).
pub const JWKS_CACHE: Duration = Duration::from_secs(300);
/// At least this long between two reads of the table that unknown key ids cause, in milliseconds.
const EARLY_READ: Millis = 1000;

/// What an operator may see of a signing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    pub kid: String,
    /// Counts keys from 1.
    pub generation: i64,
    pub created_at: Millis,
    pub active_from: Millis,
    pub retired_at: Option<Millis>,
    pub withdrawn_at: Option<Millis>,
}

/// Where a key is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Published, and signs later.
    Next,
    Signing,
    /// Verifies what it signed.
    Retired,
    /// Nothing that it signed can be alive: neither published nor accepted.
    Ended,
    /// Leaked: neither published nor accepted.
    Withdrawn,
}

impl KeyState {
    pub fn name(self) -> &'static str {
        match self {
            KeyState::Next => "next",
            KeyState::Signing => "signing",
            KeyState::Retired => "retired",
            KeyState::Ended => "ended",
            KeyState::Withdrawn => "withdrawn",
        }
    }
}

impl KeyInfo {
    /// Where the key is in its life at `now`, when what a key signed lives for `retention` after it retired.
    pub(super) fn state(&self, now: Millis, retention: Duration) -> KeyState {
        match (self.withdrawn_at, self.retired_at) {
            (Some(_), _) => KeyState::Withdrawn,
            (None, Some(at)) if at + millis(retention) <= now => KeyState::Ended,
            (None, Some(at)) if at <= now => KeyState::Retired,
            (None, _) if self.active_from > now => KeyState::Next,
            (None, _) => KeyState::Signing,
        }
    }
}

/// The keys of the installation, opened, as the table had them at the last look.
pub(super) struct Keys {
    ring: RwLock<Arc<Ring>>,
    master: MasterKey,
    clock: Clock,
    /// Who reads the table takes it. When an unknown key id last made us look.
    looked: Mutex<Millis>,
}

/// All keys at one moment.
pub(super) struct Ring {
    rows: Vec<KeyRow>,
    by_kid: HashMap<String, Key>,
}

struct Key {
    info: KeyInfo,
    halves: Arc<Halves>,
}

struct Halves {
    public: Vec<u8>,
    verify: DecodingKey,
    private: Vec<u8>,
}

impl Keys {
    /// Opens all keys; an empty database gets its first. Two nodes that start at once agree on one, because
    /// generations are unique and both read afterwards.
    pub(super) async fn open(db: &Db, master: MasterKey, clock: Clock) -> Result<Self> {
        let mut rows = keys::list(db.pool()).await?;
        if rows.is_empty() {
            keys::insert(&mut *db.writer().await?, &generate(1, clock.now() - millis(SKEW), &master, &clock)?).await?;
            rows = keys::list(db.pool()).await?;
        }
        let mut by_kid = HashMap::new();
        for row in &rows {
            by_kid.insert(row.kid.clone(), Key { halves: Arc::new(open(row, &master)?), info: info(row) });
        }
        let ring = RwLock::new(Arc::new(Ring { rows, by_kid }));
        Ok(Self { ring, master, clock, looked: Mutex::new(Millis::MIN) })
    }

    /// The keys as they are known now.
    pub(super) fn ring(&self) -> Arc<Ring> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the table again. A row that does not open is left out and reported: it must not keep the others from
    /// changing.
    pub(super) async fn reload(&self, db: &Db) -> Result<()> {
        // One reader at a time: what was read earlier must not replace what was read later.
        let _turn = self.looked.lock().await;
        self.learn(keys::list(db.pool()).await?);
        Ok(())
    }

    /// Takes over what the table holds, and says what of it opened.
    pub(super) fn learn(&self, rows: Vec<KeyRow>) -> Arc<Ring> {
        let before = self.ring();
        if rows == before.rows {
            return before;
        }
        let mut by_kid = HashMap::new();
        for row in &rows {
            let halves = match before.by_kid.get(&row.kid) {
                Some(known) if hex::encode(&known.halves.public) == row.public => known.halves.clone(),
                _ => match open(row, &self.master) {
                    Ok(halves) => Arc::new(halves),
                    Err(problem) => {
                        tracing::error!(kid = row.kid, %problem, "a signing key is left out");
                        continue;
                    }
                },
            };
            by_kid.insert(row.kid.clone(), Key { halves, info: info(row) });
        }
        let ring = Arc::new(Ring { rows, by_kid });
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring.clone();
        ring
    }

    /// Looks whether another node has just made a key with this id, once a second at most and only for an id that has
    /// the form of ours: strangers must not make us read at their pace.
    pub(super) async fn look_for(&self, kid: &str, db: &Db) -> Result<()> {
        if from_base64url(kid).is_none_or(|bytes| bytes.len() != 32) {
            return Ok(());
        }
        let mut looked = self.looked.lock().await;
        let now = self.clock.now();
        // The first of several that wait here has looked for all; a clock that went back must not stop us.
        if (0..EARLY_READ).contains(&now.saturating_sub(*looked)) {
            return Ok(());
        }
        *looked = now;
        self.learn(keys::list(db.pool()).await?);
        Ok(())
    }

    /// A new key, sealed for the row that names it.
    pub(super) fn generate(&self, generation: i64, active_from: Millis) -> Result<KeyRow> {
        generate(generation, active_from, &self.master, &self.clock)
    }
}

impl Ring {
    /// The key that signs now: the newest that is active, neither retired nor withdrawn.
    pub(super) fn signer(&self, now: Millis) -> Result<(&str, EncodingKey)> {
        let key = self.signing(now)?;
        Ok((&key.info.kid, EncodingKey::from_ed_der(&key.halves.private)))
    }

    /// The public half of a key that opened, and whether it was withdrawn.
    pub(super) fn public(&self, kid: &str) -> Option<(&[u8], bool)> {
        self.by_kid.get(kid).map(|key| (key.halves.public.as_slice(), key.info.withdrawn_at.is_some()))
    }

    /// Signs other things than access tokens with the key that signs now: the raw signature (RFC 8032).
    pub(super) fn seal(&self, message: &[u8], now: Millis) -> Result<Vec<u8>> {
        let key = self.signing(now)?;
        let pair = Ed25519KeyPair::from_pkcs8(&key.halves.private).map_err(Error::internal)?;
        Ok(pair.sign(message).as_ref().to_vec())
    }

    fn signing(&self, now: Millis) -> Result<&Key> {
        let signs = |key: &&Key| key.info.state(now, Duration::ZERO) == KeyState::Signing;
        let newest = self.by_kid.values().filter(signs).max_by_key(|key| (key.info.active_from, key.info.generation));
        newest.ok_or_else(|| Error::internal("no signing key is active"))
    }

    pub(super) fn has(&self, kid: &str) -> bool {
        self.by_kid.contains_key(kid)
    }

    /// The key with exactly this id, unless it was withdrawn, or retired so long ago that nothing it signed can be
    /// alive.
    pub(super) fn verifier(&self, kid: &str, now: Millis, retention: Duration) -> Option<&DecodingKey> {
        self.by_kid.get(kid).filter(|key| accepted(key, now, retention)).map(|key| &key.halves.verify)
    }

    fn sorted(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = self.by_kid.values().collect();
        keys.sort_by_key(|key| key.info.generation);
        keys
    }
}

fn accepted(key: &Key, now: Millis, retention: Duration) -> bool {
    !matches!(key.info.state(now, retention), KeyState::Ended | KeyState::Withdrawn)
}

impl Identity {
    /// The public keys (RFC 7517 §5): of every key that signs, will sign, or has signed what may still be alive.
    pub fn jwks(&self) -> Value {
        let (now, retention, ring) = (self.0.clock.now(), self.key_retention(), self.0.keys.ring());
        let jwk = |key: &Key| {
            json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(&key.halves.public), "kid": key.info.kid,
                    "alg": "EdDSA", "use": "sig" })
        };
        let published = ring.sorted().into_iter().filter(|key| accepted(key, now, retention)).map(jwk);
        json!({ "keys": published.collect::<Vec<_>>() })
    }

    /// All signing keys, oldest first, each with where it is in its life.
    pub fn signing_keys(&self) -> Vec<(KeyInfo, KeyState)> {
        let (now, retention, ring) = (self.0.clock.now(), self.key_retention(), self.0.keys.ring());
        ring.sorted().into_iter().map(|key| (key.info.clone(), key.info.state(now, retention))).collect()
    }

    /// How long a retired key still verifies and is published: as long as a token that it signed last, on a node whose
    /// clock is behind, and as long as the key set is cached.
    pub(super) fn key_retention(&self) -> Duration {
        self.0.config.limits.lifetimes.access + SKEW + JWKS_CACHE
    }
}

pub(super) fn info(row: &KeyRow) -> KeyInfo {
    KeyInfo {
        kid: row.kid.clone(),
        generation: row.generation,
        created_at: row.created_at,
        active_from: row.active_from,
        retired_at: row.retired_at,
        withdrawn_at: row.withdrawn_at,
    }
}

fn generate(generation: i64, active_from: Millis, master: &MasterKey, clock: &Clock) -> Result<KeyRow> {
    let private = Ed25519KeyPair::generate_pkcs8(&aws_lc_rs::rand::SystemRandom::new()).map_err(Error::internal)?;
    let pair = Ed25519KeyPair::from_pkcs8(private.as_ref()).map_err(Error::internal)?;
    let public = pair.public_key().as_ref();
    let kid = thumbprint(public);
    let sealed = master.seal(&kid, private.as_ref()).map_err(Error::internal)?;
    Ok(KeyRow {
        kid,
        generation,
        sealed: hex::encode(sealed),
        public: hex::encode(public),
        created_at: clock.now(),
        active_from,
        retired_at: None,
        withdrawn_at: None,
    })
}

fn open(row: &KeyRow, master: &MasterKey) -> Result<Halves> {
    let sealed = hex::decode(&row.sealed).map_err(Error::internal)?;
    let private = master.open(&row.kid, &sealed).map_err(|_| {
        Error::new(
            Code::ServiceUnavailable,
            "The master key does not open the signing keys of this database. Start with the key that made them.",
        )
    })?;
    // The public half is computed again: a changed column must not become a key that verifies.
    let pair = Ed25519KeyPair::from_pkcs8(&private).map_err(Error::internal)?;
    let public = pair.public_key().as_ref().to_vec();
    if thumbprint(&public) != row.kid || hex::encode(&public) != row.public {
        return Err(Error::internal("a signing key's public half or id does not belong to its private half"));
    }
    Ok(Halves { verify: DecodingKey::from_ed_der(&public), public, private })
}

/// The JWK thumbprint of an Ed25519 key (RFC 7638 §3, members of RFC 8037 §2).
fn thumbprint(public: &[u8]) -> String {
    base64url(&sha256(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, base64url(public)).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thumbprint_is_the_one_of_rfc_8037() {
        // RFC 8037 appendix A.3.
        let public = crate::base::secret::from_base64url("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        assert_eq!(thumbprint(&public), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn l07_a_key_opens_only_under_its_own_master_key_and_id() {
        let (master, clock) = (MasterKey::generate(), Clock::manual(1_000));
        let row = generate(1, 0, &master, &clock).unwrap();
        assert!(open(&row, &master).is_ok());
        assert!(open(&row, &MasterKey::generate()).is_err());
        let other = generate(2, 0, &master, &clock).unwrap();
        assert!(open(&KeyRow { kid: other.kid.clone(), ..row.clone() }, &master).is_err());
        assert!(open(&KeyRow { public: other.public, ..row }, &master).is_err());
    }
}
