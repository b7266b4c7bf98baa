//! The switch of a workspace, for what is open: answers that stay open and calls that are running end within [`LOOK`] of
//! the moment when somebody turns external clients off, or suspends the workspace, on whatever node, page or command
//! line. What begins later is refused by the guard and by [`crate::model::access::authorize`], which look each time.
//!
//! The metadata are looked at, in one statement for all workspaces in which something is open; while nothing is, nobody
//! looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;

use crate::base::id::Id;
use crate::model::org::Org;
use crate::store::{self, Db};

/// How long a switch that was turned off may be unseen.
pub const LOOK: Duration = Duration::from_millis(250);

/// The workspaces in which something is open.
#[derive(Clone)]
pub(super) struct Switches(Arc<Inner>);

struct Inner {
    db: Db,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Counts how often a workspace was found closed.
    found_closed: HashMap<Id<Org>, Weak<watch::Sender<u64>>>,
    is_watched: bool,
}

/// Something that is open in a workspace.
pub struct Open {
    found_closed: watch::Receiver<u64>,
    _kept_while_it_is_open: Arc<watch::Sender<u64>>,
}

impl Open {
    /// Ready when the workspace was found closed to external clients since this was opened.
    pub async fn closed(mut self) {
        // The sender is held here.
        let _closed = self.found_closed.changed().await;
    }
}

impl Switches {
    pub(super) fn new(db: Db) -> Self {
        Self(Arc::new(Inner { db, state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to look after a workspace, which was open a moment ago.
    pub(super) fn open(&self, org: Id<Org>) -> Open {
        let mut state = self.state();
        let known = state.found_closed.get(&org).and_then(Weak::upgrade);
        let sender = known.unwrap_or_else(|| {
            let new = Arc::new(watch::Sender::new(0));
            state.found_closed.insert(org, Arc::downgrade(&new));
            new
        });
        if !std::mem::replace(&mut state.is_watched, true) {
            let switches = self.clone();
            tokio::spawn(async move { switches.watch().await });
        }
        Open { found_closed: sender.subscribe(), _kept_while_it_is_open: sender }
    }

    async fn watch(self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let Some(watched) = self.watched() else { return };
            match store::orgs::closed(self.0.db.pool(), &watched).await {
                Ok(closed) => self.tell(&closed),
                Err(problem) => tracing::warn!(%problem, "the switches of workspaces could not be looked at"),
            }
        }
    }

    /// The workspaces that are looked after; `None` when there are none any more, and with that nobody looks.
    fn watched(&self) -> Option<Vec<Id<Org>>> {
        let mut state = self.state();
        state.found_closed.retain(|_, sender| sender.strong_count() > 0);
        state.is_watched = !state.found_closed.is_empty();
        state.is_watched.then(|| state.found_closed.keys().copied().collect())
    }

    fn tell(&self, closed: &[Id<Org>]) {
        let state = self.state();
        for sender in closed.iter().filter_map(|org| state.found_closed.get(org)?.upgrade()) {
            sender.send_modify(|times| *times += 1);
        }
    }
}
