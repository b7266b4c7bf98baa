//! The sources that were asked of late, with their connections and the turns of those who ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::server::Server;
use crate::base::id::Id;
use crate::engine::turns::Turns;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::model::source::Source;

/// Queries that run in one source at the same time.
const AT_ONCE: usize = 4;

/// How long a source that nobody asks stays open.
const IDLE: Duration = Duration::from_secs(120);

/// A source that was asked of late.
pub(super) struct OpenSource {
    pub(super) server: Server,
    pub(super) turns: Turns,
    /// Cancelled when the source is removed.
    pub(super) gone: CancellationToken,
}

/// Workspace and source: what one workspace says of an id never touches another's source.
pub(super) type Key = (Id<Org>, Id<Source>);

/// See the module.
#[derive(Default)]
pub(super) struct OpenSources(Mutex<HashMap<Key, Held>>);

struct Held {
    source: Arc<OpenSource>,
    /// When somebody began to ask it.
    asked: Instant,
}

impl OpenSources {
    fn held(&self) -> MutexGuard<'_, HashMap<Key, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A source with what reaches its server. Answers also whether it was opened for this call.
    ///
    /// # Errors
    /// Those of `server`.
    pub(super) fn open(&self, key: Key, server: impl FnOnce() -> Result<Server>) -> Result<(Arc<OpenSource>, bool)> {
        let mut held = self.held();
        if let Some(held) = held.get_mut(&key) {
            held.asked = Instant::now();
            return Ok((held.source.clone(), false));
        }
        // Of so many turns a caller has half and a workspace all but one.
        let turns = Turns::of_queries(AT_ONCE + 1);
        let source = Arc::new(OpenSource { server: server()?, turns, gone: CancellationToken::new() });
        held.insert(key, Held { source: source.clone(), asked: Instant::now() });
        Ok((source, true))
    }

    /// Ends what runs in a source, and its connections.
    pub(super) fn close(&self, key: Key) {
        if let Some(held) = self.held().remove(&key) {
            held.source.gone.cancel();
        }
    }

    /// Lets go of a source that nobody has asked for long. Answers whether it is still open.
    pub(super) fn keep(&self, key: Key) -> bool {
        let mut held = self.held();
        let is_wanted = |held: &Held| {
            // Who asks it now holds it too.
            Arc::strong_count(&held.source) > 1 || held.asked.elapsed() < IDLE
        };
        if held.get(&key).is_some_and(is_wanted) {
            return true;
        }
        held.remove(&key);
        false
    }
}
