//! Uses of connectivity tokens. They are counted here as they happen, and written with the next rows of the record: a
//! transaction of its own for each request would make every request wait for the single writer of SQLite.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::store::tokens::Use;

/// How often each token was used, and when last.
type Waiting = BTreeMap<(Id<Org>, String), (i64, Millis)>;

/// What is counted and not written yet; clones share it. What a crash takes are the uses since the last rows of the
/// record, which says each call anyway.
#[derive(Clone, Debug, Default)]
pub struct Uses(Arc<Mutex<Waiting>>);

impl Uses {
    pub(super) fn note(&self, org: Id<Org>, token: &str, at: Millis) {
        self.add(Use { org, token: token.to_owned(), count: 1, last: at });
    }

    /// Everything that waits, for whoever writes it; sorted, so that two writers do not lock each other out.
    pub fn take(&self) -> Vec<Use> {
        let all = std::mem::take(&mut *self.waiting());
        all.into_iter().map(|((org, token), (count, last))| Use { org, token, count, last }).collect()
    }

    /// What could not be written waits on.
    pub fn put_back(&self, uses: Vec<Use>) {
        for one in uses {
            self.add(one);
        }
    }

    fn add(&self, Use { org, token, count, last }: Use) {
        let mut waiting = self.waiting();
        let sum = waiting.entry((org, token)).or_insert((0, last));
        *sum = (sum.0 + count, sum.1.max(last));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
