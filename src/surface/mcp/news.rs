//! What listeners are told of without asking: that lists have changed, and resources that they subscribed to. In the era
//! of sessions on the stream that a client opens for it, and in the newer one on the answer to `subscriptions/listen`.
//!
//! A listener holds no queue. They remember what they were told last, look again when there may be news, and say what is
//! different ([`crate::gateway::sight`]); somebody who reads slowly hears once of what changed often, and costs no memory.
//! Each look proves the credential anew: what it may no longer do is gone from sight, and when it is no more, listening
//! ends.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use futures_util::Stream;
use serde_json::{Value, json};

use super::Shared;
use crate::gateway::sight::{Listening, Sight, Thing};
use crate::model::access::Rights;
use crate::model::caller::Caller;
use crate::surface::guard::Lease;

/// Most resources that one session, or one call of `subscriptions/listen`, subscribes to.
pub(super) const MOST: usize = 100;

/// How long after something was told it may turn out that nobody heard it.
const DOUBT: Duration = Duration::from_secs(60);

/// News.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Tools,
    Resources,
    Updated(String),
}

impl Event {
    /// As a message of the protocol.
    pub(super) fn message(&self) -> Value {
        let bare = |method| json!({ "jsonrpc": "2.0", "method": method });
        match self {
            Event::Tools => bare("notifications/tools/list_changed"),
            Event::Resources => bare("notifications/resources/list_changed"),
            Event::Updated(uri) => {
                json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": uri } })
            }
        }
    }
}

/// A message as an event of a stream.
pub(super) fn frame(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// What somebody listens to, and what they know.
#[derive(Default)]
pub(super) struct Ear {
    inner: Mutex<Inner>,
    /// The least severe messages of the log that are wanted, counted from 1; 0 for none.
    pub level: AtomicU8,
}

#[derive(Default)]
struct Inner {
    /// By address, with the content that is known.
    subscribed: BTreeMap<String, (Thing, Option<u64>)>,
    /// The tools and the list of resources that are known.
    known: Option<(u64, u64)>,
    /// The open streams, by number: each message goes out on one of them only (2025-11-25, transports), the newest,
    /// because older ones may belong to a connection that nobody reads any more.
    streams: BTreeSet<u64>,
    /// When something was told last, and what was known before it.
    told: Option<(Instant, Known)>,
}

/// What somebody knows, to go back to: tools and list, and the content of each resource.
struct Known {
    since: Instant,
    lists: Option<(u64, u64)>,
    contents: Vec<(String, Option<u64>)>,
}

impl Inner {
    /// Something is being told.
    fn tells(&mut self) {
        let now = Instant::now();
        let before = self.told.take().map(|(_, before)| before).filter(|before| before.since.elapsed() < DOUBT);
        let before = before.unwrap_or_else(|| Known {
            since: now,
            lists: self.known,
            contents: self.subscribed.iter().map(|(uri, (_, content))| (uri.clone(), *content)).collect(),
        });
        self.told = Some((now, before));
    }

    /// Whoever spoke is gone, or another speaks: what was told in the last moments may have been told to nobody, since that
    /// a connection is dead shows late. It is told once more.
    fn doubts(&mut self) {
        let Some((_, before)) = self.told.take().filter(|(last, _)| last.elapsed() < DOUBT) else { return };
        self.known = before.lists;
        for (uri, content) in before.contents {
            if let Some((_, known)) = self.subscribed.get_mut(&uri) {
                *known = content;
            }
        }
    }
}

/// The addresses are as many as may be.
#[derive(Debug)]
pub(super) struct Full;

impl Ear {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to a resource from now on.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn subscribe(&self, uri: &str, thing: Thing, sight: &Sight) -> Result<(), Full> {
        let mut inner = self.inner();
        if inner.subscribed.len() >= MOST && !inner.subscribed.contains_key(uri) {
            return Err(Full);
        }
        inner.subscribed.insert(uri.to_owned(), (thing, sight.of(&thing)));
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.inner().subscribed.remove(uri);
    }

    /// What is new in what is seen now. The first look makes no news: nobody was told of anything before.
    fn hear(&self, tools: u64, sight: &Sight) -> Vec<Event> {
        let mut inner = self.inner();
        let now = (tools, sight.list());
        let (tools, list) = inner.known.unwrap_or(now);
        let mut events = Vec::new();
        if tools != now.0 {
            events.push(Event::Tools);
        }
        if list != now.1 {
            events.push(Event::Resources);
        }
        let differs = |(thing, known): &(Thing, Option<u64>)| *known != sight.of(thing);
        let updated = inner.subscribed.iter().filter(|entry| differs(entry.1));
        events.extend(updated.map(|(uri, _)| Event::Updated(uri.clone())));
        if !events.is_empty() {
            inner.tells();
        }
        inner.known = Some(now);
        inner.subscribed.values_mut().for_each(|(thing, known)| *known = sight.of(thing));
        events
    }
}

/// Whoever looks for news on behalf of a client.
pub(super) struct Listener {
    shared: Arc<Shared>,
    lease: Lease,
    caller: Caller,
    /// The rights of the session that it is for.
    bound: Option<Rights>,
    listening: Listening,
}

impl Listener {
    pub(super) fn new(shared: Arc<Shared>, lease: Lease, caller: Caller, bound: Option<Rights>) -> Self {
        let listening = shared.gateway.listen(&caller);
        Self { shared, lease, caller, bound, listening }
    }

    /// Waits until another look may find something.
    pub(super) async fn pause(&mut self) {
        self.listening.pause().await;
    }

    /// What there is to be seen now, and by whom; `None` when the credential is no more.
    pub(super) async fn sight(&mut self) -> Option<Option<Arc<Sight>>> {
        let rights = self.lease.rights().await?;
        self.caller.rights = self.bound.map_or(rights, |bound| rights.and(bound));
        let sight = self.shared.gateway.sight(&self.listening, &self.caller).await;
        // Logged where it failed; the next look may succeed.
        Some(sight.ok())
    }

    /// What is new; `None` when the credential is no more.
    pub(super) async fn look(&mut self, ear: &Ear) -> Option<Vec<Event>> {
        let sight = self.sight().await?;
        Some(sight.map(|sight| ear.hear(self.tools(), &sight)).unwrap_or_default())
    }

    /// Another number for another list of tools.
    fn tools(&self) -> u64 {
        let mut names = DefaultHasher::new();
        self.shared.tools.names(self.caller.rights).for_each(|name| name.hash(&mut names));
        names.finish()
    }
}

/// A listener who has looked before the client hears that its subscription holds: nothing that changes from then on is
/// missed. Taken once.
#[derive(Clone)]
pub(super) struct Before(Arc<Mutex<Option<Looked>>>);

/// Who looked, who is to hear of it, and what was there.
type Looked = (Listener, Ear, Arc<Sight>);

impl Before {
    /// `None` when the credential is no more.
    pub(super) async fn new(mut listener: Listener) -> Option<Self> {
        let sight = listener.sight().await?.unwrap_or_default();
        let ear = Ear::default();
        ear.hear(listener.tools(), &sight);
        Some(Self(Arc::new(Mutex::new(Some((listener, ear, sight))))))
    }

    pub(super) fn take(&self) -> Option<Looked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A stream in a session, until it is dropped.
struct Open {
    ear: Arc<Ear>,
    number: u64,
}

impl Open {
    fn new(ear: Arc<Ear>) -> Self {
        let mut inner = ear.inner();
        let number = inner.streams.last().map_or(0, |last| last + 1);
        inner.streams.insert(number);
        inner.doubts();
        drop(inner);
        Self { ear, number }
    }

    /// Whether it is the one to speak.
    fn speaks(&self) -> bool {
        self.ear.inner().streams.last() == Some(&self.number)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut inner = self.ear.inner();
        inner.streams.remove(&self.number);
        if inner.streams.last().is_none_or(|last| *last < self.number) {
            inner.doubts();
        }
    }
}

/// The news of a session as parts of its stream, after what there is to be said when it is opened; `None` when the
/// credential is no more.
pub(super) async fn frames(mut listener: Listener, ear: Arc<Ear>) -> Option<impl Stream<Item = Bytes> + Send> {
    let open = Open::new(ear);
    let first = listener.look(&open.ear).await?;
    Some(told(listener, open, first))
}

fn told(listener: Listener, open: Open, first: Vec<Event>) -> impl Stream<Item = Bytes> + Send {
    let start = (listener, open, Some(first));
    futures_util::stream::unfold(start, |(mut listener, open, mut first)| async move {
        loop {
            let events = match first.take() {
                Some(first) => first,
                None => {
                    listener.pause().await;
                    match open.speaks() {
                        true => listener.look(&open.ear).await?,
                        false => continue,
                    }
                }
            };
            if !events.is_empty() {
                let text: String = events.iter().map(|event| frame(&event.message())).collect();
                return Some((Bytes::from(text), (listener, open, None)));
            }
        }
    })
}

impl Ear {
    /// Whether messages of this severity, counted from 1, are wanted.
    pub(super) fn wants(&self, severity: u8) -> bool {
        let least = self.level.load(Ordering::Relaxed);
        least != 0 && severity >= least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stream_speaks_and_the_one_before_it_when_it_is_gone() {
        let ear = Arc::new(Ear::default());
        let (first, second) = (Open::new(ear.clone()), Open::new(ear.clone()));
        assert!(!first.speaks() && second.speaks());
        drop(second);
        assert!(first.speaks());
        let third = Open::new(ear.clone());
        assert!(third.speaks() && !first.speaks());
        drop((first, third));
        assert!(ear.inner().streams.is_empty());
    }

    #[test]
    fn what_is_known_is_no_news_and_what_changed_often_is_told_once() {
        let (ear, none) = (Ear::default(), Sight::default());
        assert_eq!(ear.hear(1, &none), []);
        assert_eq!(ear.hear(1, &none), []);
        assert_eq!(ear.hear(3, &none), [Event::Tools]);
        assert_eq!(ear.hear(3, &none), []);
    }

    #[test]
    fn what_may_have_been_told_to_nobody_is_told_again() {
        let (ear, none) = (Arc::new(Ear::default()), Sight::default());
        let first = Open::new(ear.clone());
        ear.hear(1, &none);
        assert_eq!(ear.hear(2, &none), [Event::Tools]);
        assert_eq!(ear.hear(3, &none), [Event::Tools]);
        // The client connects anew, before it shows that its first connection is dead.
        let second = Open::new(ear.clone());
        assert_eq!(ear.hear(3, &none), [Event::Tools]);
        drop(first);
        assert_eq!(ear.hear(3, &none), [], "it had nothing to say");
        drop(second);
        assert_eq!(ear.hear(3, &none), [Event::Tools]);
        let mut inner = ear.inner();
        let long_ago = Instant::now().checked_sub(DOUBT).unwrap();
        inner.told.as_mut().unwrap().0 = long_ago;
        inner.doubts();
        drop(inner);
        assert_eq!(ear.hear(3, &none), [], "heard long ago");
    }

    #[test]
    fn subscriptions_are_so_many() {
        let (ear, none) = (Ear::default(), Sight::default());
        for number in 0..MOST {
            ear.subscribe(&format!("dragoman://{number}"), Thing::Datasets, &none).unwrap();
        }
        assert!(ear.subscribe("dragoman://more", Thing::Datasets, &none).is_err());
        ear.subscribe("dragoman://0", Thing::Datasets, &none).unwrap();
        ear.unsubscribe("dragoman://1");
        ear.subscribe("dragoman://more", Thing::Datasets, &none).unwrap();
    }

    #[test]
    fn an_event_is_one_line() {
        let uri = "dragoman://datasets/a\nb".to_owned();
        assert_eq!(frame(&Event::Updated(uri).message()).trim_end().lines().count(), 1);
    }
}
