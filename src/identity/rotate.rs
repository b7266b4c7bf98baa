//! How signing keys follow each other: by schedule, by command, and at once when one leaked. Whoever changes the table
//! locks it first, so that of two nodes the second sees what the first did.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Identity;
use super::keys::{JWKS_CACHE, KeyInfo, KeyState, info};
use super::token::SKEW;
use crate::base::clock::{Millis, millis};
use crate::model::error::{Error, Result};
use crate::store::keys::{self, KeyRow};
use crate::store::{Tx, leases};

/// How often every node reads the table: a change holds everywhere within 5 seconds.
const LOOK: Duration = Duration::from_secs(2);
/// From when a key is made until it signs: every node has noticed it and published it, every cached copy of the key
/// set has ended since, and a clock that is ahead does not use it earlier.
const LEAD: Duration = Duration::from_secs(5 + JWKS_CACHE.as_secs() + SKEW.as_secs());
/// The name under which changes of the table take turns.
const LOCK: &str = "signing keys";

/// What a withdrawal did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    pub kid: String,
    /// The key that signs now.
    pub signer: String,
}

impl Identity {
    /// Publishes the next key, which signs after [`LEAD`]; one that is published already is left as it is.
    /// Returns it, and whether it is new.
    pub async fn rotate_key(&self) -> Result<(KeyInfo, bool)> {
        let now = self.0.clock.now();
        let mut table = self.lock_keys().await?;
        if let Some(next) = table.opened.iter().find(|row| is_next(row, now)) {
            return Ok((info(next), false));
        }
        let next = self.add_key(&mut table, now + millis(LEAD)).await?;
        table.tx.commit().await?;
        self.0.keys.reload(&self.0.db).await?;
        Ok((next, true))
    }

    /// Withdraws a key that leaked: nothing that it signed is accepted any more, and it leaves the key set at once. When
    /// it was the one that signs, the next one signs at once: the published one, or else a new one. `None` when there is
    /// no such key that was not withdrawn.
    pub async fn withdraw_key(&self, kid: &str) -> Result<Option<Withdrawn>> {
        let now = self.0.clock.now();
        let mut table = self.lock_keys().await?;
        if !keys::withdraw(&mut table.tx, kid, now).await? {
            return Ok(None);
        }
        // For the sake of a successor that will never sign, nobody stops.
        if let Some(next) = table.opened.iter().find(|row| row.kid == kid && is_next(row, now)) {
            keys::go_on_after(&mut table.tx, next.active_from).await?;
        }
        table.opened.retain(|row| row.kid != kid);
        if !table.opened.iter().any(|row| signs(row, now)) {
            // A node whose clock is behind must not be left without a key.
            let at_once = now - millis(SKEW);
            match table.opened.iter().find(|row| is_next(row, now)) {
                Some(next) => {
                    keys::activate(&mut table.tx, &next.kid, at_once).await?;
                    keys::retire_before(&mut table.tx, next.generation, at_once).await?;
                }
                None => {
                    self.add_key(&mut table, at_once).await?;
                }
            }
        }
        table.tx.commit().await?;
        self.0.keys.reload(&self.0.db).await?;
        let ring = self.0.keys.ring();
        let (signer, _) = ring.signer(now)?;
        tracing::warn!(kid, signer, "a signing key was withdrawn");
        Ok(Some(Withdrawn { kid: kid.to_owned(), signer: signer.to_owned() }))
    }

    /// One round of what [`Identity::keep_keys`] does: learns what other nodes changed, and makes the next key when the
    /// one that signs will be older than a key may be by the time that a new one can sign.
    pub async fn tend_keys(&self) -> Result<()> {
        self.0.keys.reload(&self.0.db).await?;
        let now = self.0.clock.now();
        let states = self.signing_keys();
        let age = self.0.config.limits.lifetimes.key.saturating_sub(LEAD);
        let young = |(key, state): &(KeyInfo, KeyState)| {
            *state == KeyState::Next || *state == KeyState::Signing && now - key.active_from < millis(age)
        };
        if states.iter().any(young) {
            return Ok(());
        }
        let (next, new) = self.rotate_key().await?;
        if new {
            tracing::info!(kid = next.kid, "the next signing key is published");
        }
        Ok(())
    }

    /// Follows changes of the table and keeps to the schedule, until `stop`.
    pub async fn keep_keys(self, stop: CancellationToken) {
        loop {
            if let Err(problem) = self.tend_keys().await {
                tracing::warn!(%problem, "the signing keys could not be looked at");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    async fn lock_keys(&self) -> Result<Table> {
        let mut tx = self.0.db.begin().await?;
        leases::lock(&mut tx, LOCK).await?;
        let mut opened = keys::list(&mut *tx).await?;
        let newest = opened.last().map_or(0, |row| row.generation);
        let ring = self.0.keys.learn(opened.clone());
        opened.retain(|row| ring.has(&row.kid));
        Ok(Table { tx, opened, newest })
    }

    /// Adds the key that follows all others, and lets them sign until it does.
    async fn add_key(&self, table: &mut Table, active_from: Millis) -> Result<KeyInfo> {
        let generation = table.newest + 1;
        let key = self.0.keys.generate(generation, active_from)?;
        if !keys::insert(&mut table.tx, &key).await? {
            return Err(Error::internal("another node made this generation of the signing key"));
        }
        keys::retire_before(&mut table.tx, generation, active_from).await?;
        Ok(info(&key))
    }
}

/// The keys, while nobody else changes them.
struct Table {
    tx: Tx,
    /// Oldest first. A row that does not open is no key: it neither signs nor follows anybody.
    opened: Vec<KeyRow>,
    /// The highest generation of all rows.
    newest: i64,
}

fn is_next(row: &KeyRow, now: Millis) -> bool {
    info(row).state(now, Duration::ZERO) == KeyState::Next
}

fn signs(row: &KeyRow, now: Millis) -> bool {
    info(row).state(now, Duration::ZERO) == KeyState::Signing
}
