//! Keys that sign access tokens: Ed25519 (RFC 8037), private halves sealed at rest, public ones in the JWKS (RFC 7517).

use std::collections::HashMap;
use std::time::Duration;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde_json::{Value, json};

use super::Identity;
use crate::base::clock::{Clock, Millis};
use crate::base::secret::{MasterKey, base64url, sha256};
use crate::model::error::{Code, Error, Result};
use crate::store::Db;
use crate::store::keys::{self, KeyRow};

/// What an operator may see of a signing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    pub kid: String,
    pub created_at: Millis,
    pub active_from: Millis,
    pub retired_at: Option<Millis>,
}

/// The keys of the installation, opened.
pub(super) struct Keys {
    by_kid: HashMap<String, Key>,
}

struct Key {
    info: KeyInfo,
    public: Vec<u8>,
    verify: DecodingKey,
    sign: EncodingKey,
}

impl Keys {
    /// Opens all keys; an empty database gets its first. Two nodes that start at once agree on one, because
    /// generations are unique and both read afterwards.
    pub(super) async fn open(db: &Db, master: &MasterKey, clock: &Clock) -> Result<Self> {
        let mut rows = keys::list(db.pool()).await?;
        if rows.is_empty() {
            keys::insert(db.pool(), &generate(1, master, clock)?).await?;
            rows = keys::list(db.pool()).await?;
        }
        let mut by_kid = HashMap::new();
        for row in rows {
            by_kid.insert(row.kid.clone(), open(row, master)?);
        }
        Ok(Self { by_kid })
    }

    /// The key that signs now: the newest that is active and not retired.
    pub(super) fn signer(&self, now: Millis) -> Result<(&str, &EncodingKey)> {
        let in_force = |key: &&Key| key.info.active_from <= now && key.info.retired_at.is_none_or(|at| now < at);
        let newest = self.by_kid.values().filter(in_force).max_by_key(|key| (key.info.active_from, &key.info.kid));
        let key = newest.ok_or_else(|| Error::internal("no signing key is active"))?;
        Ok((&key.info.kid, &key.sign))
    }

    /// The key with exactly this id, unless it was retired so long ago that nothing it signed can be alive.
    pub(super) fn verifier(&self, kid: &str, now: Millis, retention: Duration) -> Option<&DecodingKey> {
        self.by_kid.get(kid).filter(|key| retained(key, now, retention)).map(|key| &key.verify)
    }
}

fn retained(key: &Key, now: Millis, retention: Duration) -> bool {
    key.info.retired_at.is_none_or(|at| now < at + retention.as_millis() as Millis)
}

impl Identity {
    /// The public keys (RFC 7517 §5): of every key that signs, will sign, or has signed what may still be alive.
    pub fn jwks(&self) -> Value {
        let (now, retention) = (self.0.clock.now(), self.key_retention());
        let mut keys: Vec<&Key> = self.0.keys.by_kid.values().filter(|key| retained(key, now, retention)).collect();
        keys.sort_by_key(|key| (key.info.created_at, &key.info.kid));
        let jwk = |key: &&Key| {
            json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(&key.public), "kid": key.info.kid,
                    "alg": "EdDSA", "use": "sig" })
        };
        json!({ "keys": keys.iter().map(jwk).collect::<Vec<_>>() })
    }

    /// All signing keys, oldest first.
    pub fn signing_keys(&self) -> Vec<KeyInfo> {
        let mut keys: Vec<KeyInfo> = self.0.keys.by_kid.values().map(|key| key.info.clone()).collect();
        keys.sort_by(|a, b| (a.created_at, &a.kid).cmp(&(b.created_at, &b.kid)));
        keys
    }

    /// How long a retired key still verifies: as long as a token that it signed last.
    pub(super) fn key_retention(&self) -> Duration {
        self.0.config.limits.lifetimes.access + super::token::SKEW
    }
}

/// A new key, sealed for the row that names it.
fn generate(generation: i64, master: &MasterKey, clock: &Clock) -> Result<KeyRow> {
    let private = Ed25519KeyPair::generate_pkcs8(&aws_lc_rs::rand::SystemRandom::new()).map_err(Error::internal)?;
    let pair = Ed25519KeyPair::from_pkcs8(private.as_ref()).map_err(Error::internal)?;
    let public = pair.public_key().as_ref();
    let kid = thumbprint(public);
    let sealed = master.seal(&kid, private.as_ref()).map_err(Error::internal)?;
    let now = clock.now();
    Ok(KeyRow {
        kid,
        generation,
        sealed: hex::encode(sealed),
        public: hex::encode(public),
        created_at: now,
        active_from: now,
        retired_at: None,
    })
}

fn open(row: KeyRow, master: &MasterKey) -> Result<Key> {
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
    Ok(Key {
        verify: DecodingKey::from_ed_der(&public),
        sign: EncodingKey::from_ed_der(&private),
        public,
        info: KeyInfo {
            kid: row.kid,
            created_at: row.created_at,
            active_from: row.active_from,
            retired_at: row.retired_at,
        },
    })
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
        let row = generate(1, &master, &clock).unwrap();
        assert!(open(row.clone(), &master).is_ok());
        assert!(open(row.clone(), &MasterKey::generate()).is_err());
        let other = generate(2, &master, &clock).unwrap();
        assert!(open(KeyRow { kid: other.kid.clone(), ..row.clone() }, &master).is_err());
        assert!(open(KeyRow { public: other.public, ..row }, &master).is_err());
    }
}
