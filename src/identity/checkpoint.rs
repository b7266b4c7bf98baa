//! Checkpoints of the audit log. A chain shows what was changed in it, but not that its end was cut off together with
//! its head, or that all of it was written anew. A checkpoint, signed and kept elsewhere, shows both.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::Identity;
use crate::base::clock::Millis;
use crate::base::secret::{base64url, from_base64url};
use crate::model::error::{Error, Result};
use crate::store::audit::cuts::{self, Cut};
use crate::store::audit::{self, Head};

/// What the signature begins with. No access token can be read as a checkpoint or the reverse: the signed text of a
/// JWT begins with base64url.
const TYPE: &str = "audit-checkpoint";

/// The heads of all chains at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// `audit-checkpoint`.
    pub typ: String,
    /// Of which installation, by the settings of whoever made it. Whose it is, the key tells.
    pub issuer: String,
    pub at: Millis,
    /// The key that signed it.
    pub kid: String,
    pub chains: Vec<Head>,
    /// Ed25519 (RFC 8032) over the type, a line feed, and the members above as JSON; base64url.
    pub signature: String,
}

/// What is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// A workspace's id, or `-`.
    pub chain: String,
    /// In words, with the number of the entry.
    pub what: String,
}

impl Checkpoint {
    fn message(&self) -> Result<Vec<u8>> {
        let members = (&self.typ, &self.issuer, self.at, &self.kid, &self.chains);
        Ok(format!("{TYPE}\n{}", serde_json::to_string(&members).map_err(Error::internal)?).into_bytes())
    }
}

impl Identity {
    /// The heads of all chains as they are now, signed with the key that signs now.
    ///
    /// # Errors
    /// The database fails.
    pub async fn audit_checkpoint(&self) -> Result<Checkpoint> {
        let (now, ring) = (self.0.clock.now(), self.0.keys.ring());
        let mut checkpoint = Checkpoint {
            typ: TYPE.to_owned(),
            issuer: self.0.config.issuer(),
            at: now,
            kid: ring.signer(now)?.0.to_owned(),
            chains: audit::heads(&self.0.db).await?,
            signature: String::new(),
        };
        checkpoint.signature = base64url(&ring.seal(&checkpoint.message()?, now)?);
        Ok(checkpoint)
    }

    /// Every chain that is broken in itself, or is not the continuation of what the checkpoint saw.
    ///
    /// # Errors
    /// `invalid_argument` for a checkpoint that no key of this installation signed; the database fails.
    pub async fn check_audit(&self, checkpoint: Option<&Checkpoint>) -> Result<Vec<Broken>> {
        if let Some(checkpoint) = checkpoint {
            self.check_signature(checkpoint)?;
        }
        let cuts = cuts::all(&self.0.db).await?;
        let cut_of = |chain: &str| cuts.iter().find(|cut| cut.head.chain == chain);
        let mut broken = Vec::new();
        for chain in audit::chains(&self.0.db).await? {
            if let Some(what) = self.broken(&chain, cut_of(&chain)).await? {
                broken.push(Broken { chain, what });
            }
        }
        for head in checkpoint.map(|checkpoint| checkpoint.chains.as_slice()).unwrap_or_default() {
            let what = match audit::hash_of(&self.0.db, &head.chain, head.seq).await? {
                Some(hash) if hash == head.hash => continue,
                // Its time was over; a cut that is not ours was named above.
                None if cut_of(&head.chain).is_some_and(|cut| cut.head.seq > head.seq || cut.head == *head) => continue,
                Some(_) => format!("entries up to {} are not those that the checkpoint saw", head.seq),
                None => format!("entry {}, which the checkpoint saw, is missing", head.seq),
            };
            broken.push(Broken { chain: head.chain.clone(), what });
        }
        Ok(broken)
    }

    /// What is wrong with one chain in itself.
    ///
    /// # Errors
    /// The database fails.
    pub async fn check_chain(&self, chain: &str) -> Result<Option<String>> {
        let cuts = cuts::all(&self.0.db).await?;
        self.broken(chain, cuts.iter().find(|cut| cut.head.chain == chain)).await
    }

    async fn broken(&self, chain: &str, cut: Option<&Cut>) -> Result<Option<String>> {
        if let Some(cut) = cut.filter(|cut| !self.is_ours(cut)) {
            let last = cut.head.seq;
            return Ok(Some(format!(
                "entries up to {last} were deleted, and not by this service at the end of their time"
            )));
        }
        let missing = audit::verify_chain(&self.0.db, chain).await?;
        Ok(missing.map(|seq| format!("entry {seq} is missing or was changed; entries before it are whole")))
    }

    fn check_signature(&self, checkpoint: &Checkpoint) -> Result<()> {
        let refused = |why: &str| Err(Error::invalid("checkpoint", why));
        if checkpoint.typ != TYPE {
            return refused("This is no audit checkpoint.");
        }
        let ring = self.0.keys.ring();
        let Some((public, withdrawn)) = ring.public(&checkpoint.kid) else {
            return refused("The key that signed the checkpoint is not among the keys of this installation any more.");
        };
        if withdrawn {
            return refused("The key that signed the checkpoint was withdrawn: whoever has it may have signed this.");
        }
        let signature = from_base64url(&checkpoint.signature).unwrap_or_default();
        if UnparsedPublicKey::new(&ED25519, public).verify(&checkpoint.message()?, &signature).is_err() {
            return refused("The checkpoint's signature does not belong to what it says: it was changed.");
        }
        Ok(())
    }
}
