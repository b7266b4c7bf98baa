//! What was found out about bearers, for their next requests. Whatever anybody can withdraw is used again only as long as
//! it stands ([`Fresh`]); that we signed a token stays true, and whether the key still counts is looked at each time.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use tokio::sync::Semaphore;

use super::token::Claims;
use crate::base::id::Id;
use crate::base::secret::sha256;
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::Db;
use crate::store::freshness::Fresh;
use crate::store::grants::FamilyState;
use crate::store::tokens::Found;

/// Bearers of a kind; each takes about a kilobyte.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// Look-ups at a time of ids of which nothing is known: anybody can make those up. Fewer than SQLite has readers.
const LOOKUPS: usize = 3;

/// Family, person and client.
type Family = (Id<Org>, String, Id<User>, String);

/// A token that we signed: its key, and what it says.
pub(super) type Signed = Arc<(String, Claims)>;

/// See the module.
pub(super) struct Known {
    /// By public id.
    pub tokens: Fresh<String, Found>,
    /// Who looks one up that is not among them, holding a connection.
    pub lookups: Semaphore,
    pub families: Fresh<Family, FamilyState>,
    /// By the digest of the whole token.
    signed: Mutex<LruCache<Vec<u8>, Signed>>,
}

impl Known {
    pub(super) fn new(db: &Db) -> Self {
        Self {
            tokens: Fresh::new(db, MOST.get(), |_| 1),
            lookups: Semaphore::new(LOOKUPS),
            families: Fresh::new(db, MOST.get(), |_| 1),
            signed: Mutex::new(LruCache::new(MOST)),
        }
    }

    pub(super) fn signed(&self, token: &str) -> Option<Signed> {
        self.all_signed().get(&sha256(token.as_bytes())).cloned()
    }

    pub(super) fn keep_signed(&self, token: &str, kid: String, claims: Claims) -> Signed {
        let signed = Arc::new((kid, claims));
        self.all_signed().put(sha256(token.as_bytes()), signed.clone());
        signed
    }

    fn all_signed(&self) -> MutexGuard<'_, LruCache<Vec<u8>, Signed>> {
        self.signed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
