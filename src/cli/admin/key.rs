//! `dragoman admin key`: the keys that sign access tokens, their orderly succession, and what to do when one leaked.

use anyhow::{Context as _, Result};
use clap::Subcommand;
use serde_json::{Value, json};

use super::show::{Said, table};
use crate::base::clock::{Millis, rfc3339};
use crate::identity::{Identity, KeyInfo, KeyState};

#[derive(Debug, Subcommand)]
pub enum Key {
    /// List signing keys: next, signing, retired (still accepted), ended or withdrawn
    List,
    /// Publish the next key; it signs a few minutes later, when everybody can know it
    Rotate,
    /// Refuse whatever a leaked key signed, from now on; when it was the one that signs, another signs at once
    Withdraw {
        /// As `key list` shows it
        #[arg(allow_hyphen_values = true)]
        kid: String,
    },
}

pub(super) async fn key(command: Key, identity: &Identity) -> Result<Said> {
    match command {
        Key::List => Ok(list(identity)),
        Key::Rotate => {
            let (next, new) = identity.rotate_key().await?;
            let was = if new { "is published" } else { "was published before" };
            let text = format!("The key {} {was}; it signs from {}.", next.kid, rfc3339(next.active_from));
            let facts = json!({ "kid": next.kid, "active_from": rfc3339(next.active_from), "new": new });
            Ok(Said { facts, text })
        }
        Key::Withdraw { kid } => {
            let done = identity.withdraw_key(&kid).await?.with_context(|| {
                format!("There is no key {kid:?} that could be withdrawn. List them with: dragoman admin key list")
            })?;
            let text = format!(
                "The key {kid} is withdrawn: a running service refuses what it signed within 5 seconds.\n\
                 The key {} signs.",
                done.signer
            );
            Ok(Said { facts: json!({ "kid": done.kid, "withdrawn": true, "signer": done.signer }), text })
        }
    }
}

fn list(identity: &Identity) -> Said {
    let keys = identity.signing_keys();
    let facts = keys.iter().map(|(key, state)| {
        json!({ "kid": key.kid, "state": state.name(), "created_at": rfc3339(key.created_at),
                "active_from": rfc3339(key.active_from), "retired_at": key.retired_at.map(rfc3339),
                "withdrawn_at": key.withdrawn_at.map(rfc3339) })
    });
    let facts: Value = facts.collect();
    let at = |at: Option<Millis>| at.map_or_else(|| "-".to_owned(), rfc3339);
    let row = |(key, state): &(KeyInfo, KeyState)| {
        vec![key.kid.clone(), state.name().into(), rfc3339(key.active_from), at(key.retired_at), at(key.withdrawn_at)]
    };
    Said { facts, text: table(&["kid", "state", "signs from", "until", "withdrawn"], keys.iter().map(row)) }
}
