//! The sources that were asked of late, with their connections and the turns of those who ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
        let held = self.held().remove(&key);
        if let Some(held) = held {
            held.source.gone.cancel();
        }
    }

    /// Lets go of a source that nobody has asked for long. Answers whether it is still open: one that was closed and
    /// opened again since is another.
    pub(super) fn keep(&self, key: Key, of: &Weak<OpenSource>) -> bool {
        let mut held = self.held();
        let is_it = |held: &&Held| std::ptr::eq(Arc::as_ptr(&held.source), of.as_ptr());
        let Some(it) = held.get(&key).filter(is_it) else { return false };
        // Who asks it now holds it too.
        let is_wanted = Arc::strong_count(&it.source) > 1 || it.asked.elapsed() < IDLE;
        if !is_wanted {
            held.remove(&key);
        }
        is_wanted
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::base::clock::Clock;
    use crate::base::secret::Secret;

    #[test]
    fn a_source_that_was_opened_again_is_not_the_one_before() {
        let clock = Clock::manual(1);
        let (sources, key) = (OpenSources::default(), (Id::new(&clock), Id::new(&clock)));
        let open = || {
            let url = Url::parse("https://db.example.com").unwrap();
            let server = Server::ClickHouse { url, password: Secret::new("x"), private: vec![] };
            let (source, is_new) = sources.open(key, || Ok(server)).unwrap();
            assert!(is_new);
            Arc::downgrade(&source)
        };
        let before = open();
        assert!(sources.keep(key, &before));
        sources.close(key);
        assert!(!sources.keep(key, &before));
        let after = open();
        assert!(!sources.keep(key, &before));
        assert!(sources.keep(key, &after));
    }
}
