//! Who is calling: people and their places, passwords, OAuth clients and grants, tokens and the keys that sign them.
//! No HTTP. Whatever proves somebody is verified here and nowhere else; of every secret only a digest is stored.

pub mod blocks;
pub mod browsers;
pub mod checkpoint;
pub mod clients;
pub mod confidential;
pub mod connected;
pub mod connectivity;
pub mod consents;
pub mod device;
mod documents;
mod erase;
pub mod factors;
pub mod grants;
pub mod introspect;
pub mod invitations;
mod keys;
mod known;
mod mails;
pub mod members;
pub mod own_name;
pub mod passkeys;
pub mod password;
pub mod proven;
pub mod redirect;
pub mod reset;
mod retention;
mod revoke;
mod roles;
mod rotate;
mod sealed;
mod suspension;
mod sweep;
pub mod token;
pub mod totp;
pub mod upstream;
pub mod user_profile;
pub mod user_settings;
pub mod uses;
pub mod workspace_settings;

use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::mail::Mailer;
use crate::base::secret::MasterKey;
use crate::base::throttle::Rate;
use crate::config::Config;
use crate::model::error::{Error, Result};
use crate::store::Db;
pub use keys::{JWKS_CACHE, KeyInfo, KeyState};
use password::breached::Breached;
pub use rotate::Withdrawn;
pub use sweep::Swept;

/// The identity of an installation; clones share it.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

struct Inner {
    db: Db,
    config: Arc<Config>,
    clock: Clock,
    keys: keys::Keys,
    documents: documents::Documents,
    providers: upstream::Providers,
    hashing: password::Hashing,
    breached: Option<Breached>,
    mailer: Mailer,
    /// Derives the successor of a refresh token.
    refresh_key: Vec<u8>,
    /// Keys the digests of connectivity tokens.
    pepper: Vec<u8>,
    uses: uses::Uses,
    known: known::Known,
    /// How often each grant may be refreshed.
    refreshes: Rate<String>,
    /// Keys the digests of user codes.
    device_key: Vec<u8>,
    /// Authenticates what browsers keep of earlier log-ins.
    browser_key: Vec<u8>,
    /// Keys the digests of recovery codes.
    recovery_key: Vec<u8>,
    /// Authenticates where the chains of the audit log begin.
    audit_key: Vec<u8>,
    /// Seals what must be read back.
    master: MasterKey,
    /// `None` when the public address has no name that passkeys could be for.
    relying_party: Option<passkeys::RelyingParty>,
}

impl Identity {
    /// Opens the signing keys, and makes the first one when there is none.
    ///
    /// # Errors
    /// The database fails, the master key is not the one that sealed the signing keys, or a setting about mails or
    /// breached passwords names what cannot be used.
    pub async fn open(db: Db, config: Arc<Config>, master: MasterKey, clock: Clock) -> Result<Self> {
        let keys = keys::Keys::open(&db, master.clone(), clock.clone()).await?;
        let breached = match &config.breached_passwords {
            Some(path) => Some(Breached::open(path).map_err(|problem| {
                Error::invalid("DRAGOMAN_BREACHED_PASSWORDS", format!("DRAGOMAN_BREACHED_PASSWORDS: {problem}"))
            })?),
            None => None,
        };
        let mailer = mails::mailer(&config, &clock)?;
        let documents = documents::Documents::new(clock.clone(), &config.public_url);
        let relying_party = passkeys::RelyingParty::of(&config)?;
        let providers = upstream::Providers::new(&config);
        Ok(Self(Arc::new(Inner {
            known: known::Known::new(&db),
            refreshes: Rate::new(config.limits.rates.exchange, &clock),
            db,
            config,
            clock,
            keys,
            documents,
            providers,
            hashing: password::Hashing::new(),
            breached,
            mailer,
            refresh_key: master.derive("refresh token successor"),
            pepper: master.derive("connectivity token pepper"),
            uses: uses::Uses::default(),
            device_key: master.derive("device user code"),
            browser_key: master.derive("browsers of earlier log-ins"),
            recovery_key: master.derive("recovery codes"),
            audit_key: master.derive("cuts of the audit log"),
            relying_party,
            master,
        })))
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub fn db(&self) -> &Db {
        &self.0.db
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("db", &self.0.db).finish_non_exhaustive()
    }
}
