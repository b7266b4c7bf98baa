//! Whose import works next. What imports share (the sentence encoder, the place of the one table import) goes round by
//! workspace: one that has three imports waits as long for its next turn as one that has a single one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;

/// A number of turns at the same time; clones share them.
#[derive(Clone, Debug)]
pub struct ImportTurns(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    all: usize,
    free: usize,
    /// Counts who came, and who was let in.
    next: u64,
    waiting: Vec<Waiting>,
    /// When a workspace was last let in, for as long as anybody works or waits.
    last: HashMap<Id<Org>, u64>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    org: Id<Org>,
    admit: oneshot::Sender<()>,
}

/// A place in the queue, and then the right to work, until it is dropped.
#[derive(Debug)]
pub struct ImportTurn {
    turns: ImportTurns,
    id: u64,
}

impl ImportTurns {
    pub fn new(at_once: usize) -> Self {
        let at_once = at_once.max(1);
        Self(Arc::new(Mutex::new(State {
            all: at_once,
            free: at_once,
            next: 0,
            waiting: Vec::new(),
            last: HashMap::new(),
        })))
    }

    /// Waits for a turn. Whoever stops waiting leaves the queue.
    ///
    /// # Errors
    /// None while the process lives.
    pub async fn take(&self, org: Id<Org>) -> Result<ImportTurn> {
        let (admit, admitted) = oneshot::channel();
        let turn = {
            let mut state = self.state();
            state.next += 1;
            let id = state.next;
            state.waiting.push(Waiting { id, org, admit });
            state.let_in();
            ImportTurn { turns: self.clone(), id }
        };
        admitted.await.map_err(Error::internal)?;
        Ok(turn)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives what is free to those who wait: first to the workspace whose last turn is longest ago.
    fn let_in(&mut self) {
        while self.free > 0 {
            let next = self.waiting.iter().enumerate();
            let next = next.min_by_key(|(_, waiting)| (self.last.get(&waiting.org).copied(), waiting.id));
            let Some((index, _)) = next else { break };
            let Waiting { org, admit, .. } = self.waiting.remove(index);
            self.free -= 1;
            self.next += 1;
            self.last.insert(org, self.next);
            // Who left meanwhile drops the turn, and gives it back so.
            let _left = admit.send(());
        }
        if self.waiting.is_empty() && self.free == self.all {
            self.last.clear();
        }
    }
}

impl Drop for ImportTurn {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        match state.waiting.iter().position(|waiting| waiting.id == self.id) {
            Some(index) => drop(state.waiting.remove(index)),
            None => state.free += 1,
        }
        state.let_in();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::time::Duration;

    use super::*;
    use crate::base::clock::Clock;

    type Queued<'t> = Pin<Box<dyn Future<Output = Result<ImportTurn>> + 't>>;

    /// The turn when it comes at once.
    async fn now(queued: &mut Queued<'_>) -> Option<ImportTurn> {
        tokio::time::timeout(Duration::ZERO, queued).await.ok().map(Result::unwrap)
    }

    /// A place in the queue, taken.
    async fn queue(turns: &ImportTurns, org: Id<Org>) -> Queued<'_> {
        let mut queued: Queued<'_> = Box::pin(turns.take(org));
        assert!(now(&mut queued).await.is_none(), "it has to wait");
        queued
    }

    fn orgs() -> (Id<Org>, Id<Org>) {
        let clock = Clock::manual(1);
        (Id::new(&clock), Id::new(&clock))
    }

    #[tokio::test]
    async fn workspaces_go_in_turn_however_many_imports_one_has() {
        let turns = ImportTurns::new(1);
        let (many, single) = orgs();
        let mut running = turns.take(many).await.unwrap();
        let mut queued = vec![];
        for org in [many, many, many, single] {
            queued.push((org, queue(&turns, org).await));
        }
        let mut order = vec![];
        for _ in 0..6 {
            drop(running);
            let mut found = None;
            for (index, (org, waiting)) in queued.iter_mut().enumerate() {
                if let Some(turn) = now(waiting).await {
                    assert!(found.replace((index, *org, turn)).is_none(), "one at a time");
                }
            }
            let (index, org, turn) = found.unwrap();
            running = turn;
            drop(queued.remove(index));
            // Each comes back for its next batch.
            queued.push((org, queue(&turns, org).await));
            order.push(org);
        }
        assert_eq!(order, [single, many, single, many, single, many]);
    }

    #[tokio::test]
    async fn who_leaves_is_not_waited_for_and_what_is_given_back_goes_on() {
        let turns = ImportTurns::new(2);
        let (one, other) = orgs();
        let held = (turns.take(one).await.unwrap(), turns.take(one).await.unwrap());
        let first = queue(&turns, one).await;
        let mut second = queue(&turns, other).await;
        drop(first);
        assert!(now(&mut second).await.is_none(), "its place was in the queue, not a turn");
        drop(held.0);
        let second = now(&mut second).await.unwrap();
        drop((held.1, second));
        let state = turns.state();
        assert_eq!((state.free, state.waiting.len(), state.last.len()), (2, 0, 0));
    }

    #[tokio::test]
    async fn a_turn_that_comes_when_nobody_waits_any_more_is_not_lost() {
        let turns = ImportTurns::new(1);
        let (one, other) = orgs();
        let held = turns.take(one).await.unwrap();
        let left = queue(&turns, one).await;
        drop(held);
        // It has been let in, and leaves without having looked.
        drop(left);
        assert!(now(&mut (Box::pin(turns.take(other)) as Queued<'_>)).await.is_some());
    }
}
