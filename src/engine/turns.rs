//! Whose work runs next, where there is room for so much at the same time: queries in workers and in remote engines,
//! imports, and the texts of imports that are encoded. No caller and no workspace takes all room from others, who used
//! less of late goes first, and a query that takes long gives way to who waits. Room that nobody else wants may be lent
//! beyond a share; it is given back as soon as somebody does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::model::error::{Error, Result};

/// How long a query may keep its worker while others wait for one: less the more wait, since each that waits may
/// have to see several go.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_PATIENCE: Duration = Duration::from_secs(5);
const LEAST_PATIENCE: Duration = Duration::from_secs(2);

/// How long a query may keep its worker when one waits whose workspace used much less of late.
const PATIENCE_OF_THE_MODEST: Duration = Duration::from_secs(1);

/// How long one whose turn was lent may keep it when anybody waits whose own it is: the short ones end by themselves.
const PATIENCE_WITH_LENT: Duration = Duration::from_millis(100);

/// How often a query looks whether it should give way.
const LOOK: Duration = Duration::from_millis(100);

/// How often it is looked which workspaces used nothing of late.
const SWEEP: Duration = Duration::from_secs(1);

/// After so long, what a workspace used counts half.
const HALF_LIFE: f64 = 30.0;

fn patience(waiting: usize) -> Duration {
    let share = PATIENCE / u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
    share.clamp(LEAST_PATIENCE, MOST_PATIENCE)
}

/// A place in the queue, and then the right to work, until it is dropped.
pub(super) struct Turn {
    turns: Turns,
    id: u64,
    is_lent: bool,
}

impl Turn {
    /// Whether it was beyond the share of its caller or workspace.
    pub(super) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Ends when this query is the one that should end for one who waits.
    pub(super) async fn wanted(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            if self.turns.state().gives_way(self.id) {
                return;
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.waiting.retain(|waiting| waiting.id != self.id);
        state.end(self.id);
        state.let_in();
    }
}

/// A queue and what it gives out; clones share them.
#[derive(Clone)]
pub(super) struct Turns(Arc<Mutex<State>>);

/// How many turns there are at the same time: in all, for one caller, and for one workspace.
struct Shares {
    all: usize,
    of_caller: usize,
    of_workspace: usize,
    /// Whether what is left when each who waits has its share is given out too.
    lends: bool,
}

impl Shares {
    fn of_queries(workers: usize) -> Self {
        let workers = workers.max(1);
        Self { all: workers, of_caller: (workers / 2).max(1), of_workspace: (workers - 1).max(1), lends: false }
    }

    fn of_imports(all: usize, of_workspace: usize) -> Self {
        let (all, of_workspace) = (all.max(1), of_workspace.max(1));
        Self { all, of_caller: of_workspace, of_workspace, lends: false }
    }
}

struct State {
    /// What time it is.
    now: Box<dyn Fn() -> Instant + Send>,
    shares: Shares,
    next: u64,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    running: Vec<Running>,
    /// Seconds that turns of a workspace took, as they count at an instant.
    used: HashMap<Arc<str>, (f64, Instant)>,
    /// When those of which nothing counts any more were last forgotten.
    swept: Instant,
}

struct Who {
    caller: Arc<str>,
    workspace: Arc<str>,
}

struct Waiting {
    id: u64,
    who: Who,
    may_borrow: bool,
    /// Hears whether the turn is lent.
    admit: oneshot::Sender<bool>,
}

struct Running {
    id: u64,
    who: Who,
    since: Instant,
    is_lent: bool,
    /// Whether it ends for one who waits.
    yields: bool,
}

impl Turns {
    /// For the queries of callers: one has at most half of the workers, and a workspace all but one.
    pub(super) fn of_queries(workers: usize) -> Self {
        Self::at(Shares::of_queries(workers), Box::new(Instant::now))
    }

    /// For the imports of workspaces, whoever of one asks: so many at the same time, and so many of one workspace.
    pub(super) fn of_imports(all: usize, of_workspace: usize) -> Self {
        Self::at(Shares::of_imports(all, of_workspace), Box::new(Instant::now))
    }

    /// The same, where room that nobody else wants is lent beyond the shares. Who borrows heeds [`Turn::wanted`].
    pub(super) fn lending(self) -> Self {
        self.state().shares.lends = true;
        self
    }

    fn at(shares: Shares, now: Box<dyn Fn() -> Instant + Send>) -> Self {
        let swept = now();
        Self(Arc::new(Mutex::new(State {
            now,
            shares,
            next: 0,
            waiting: vec![],
            running: vec![],
            used: HashMap::new(),
            swept,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; whoever stops waiting leaves the queue. For imports a workspace is its own caller.
    ///
    /// # Errors
    /// None while the process lives.
    pub(super) async fn take(&self, caller: &str, workspace: &str) -> Result<Turn> {
        self.queue(caller, workspace, true).await
    }

    /// The same, with or without turns that are only lent.
    ///
    /// # Errors
    /// As [`Turns::take`].
    pub(super) async fn queue(&self, caller: &str, workspace: &str, may_borrow: bool) -> Result<Turn> {
        let (admit, admitted) = oneshot::channel();
        let who = Who { caller: caller.into(), workspace: workspace.into() };
        let mut turn = {
            let mut state = self.state();
            state.next += 1;
            let id = state.next;
            state.waiting.push(Waiting { id, who, may_borrow, admit });
            state.let_in();
            Turn { turns: self.clone(), id, is_lent: false }
        };
        turn.is_lent = admitted.await.map_err(Error::internal)?;
        Ok(turn)
    }
}

impl State {
    /// Whether the shares of a caller and its workspace leave room for one more, not counting the one named.
    fn may_run(&self, who: &Who, without: Option<u64>) -> bool {
        let others = || self.running.iter().filter(|running| Some(running.id) != without);
        let of_caller = others().filter(|running| running.who.caller == who.caller).count();
        let of_workspace = others().filter(|running| running.who.workspace == who.workspace).count();
        of_caller < self.shares.of_caller && of_workspace < self.shares.of_workspace
    }

    /// Seconds that turns of a workspace took of late, those that run now included.
    fn used(&self, workspace: &str) -> f64 {
        let running = self.running.iter().filter(|running| *running.who.workspace == *workspace);
        self.past(workspace) + running.map(|running| self.since(running.since).as_secs_f64()).sum::<f64>()
    }

    fn past(&self, workspace: &str) -> f64 {
        self.used.get(workspace).map_or(0.0, |(seconds, at)| faded(*seconds, self.since(*at)))
    }

    fn since(&self, then: Instant) -> Duration {
        (self.now)().saturating_duration_since(then)
    }

    /// Gives what is free to those who wait: first to those within their shares, of these to whose workspace used least,
    /// then to who came first; and what is left, where it may be lent, to the others in the same order.
    fn let_in(&mut self) {
        while self.running.len() < self.shares.all {
            let first = |is_lent: bool| {
                let allowed = self.waiting.iter().enumerate().filter(|(_, waiting)| match is_lent {
                    true => self.shares.lends && waiting.may_borrow,
                    false => self.may_run(&waiting.who, None),
                });
                let first = allowed.min_by(|(_, one), (_, other)| {
                    let used = |waiting: &Waiting| self.used(&waiting.who.workspace);
                    used(one).total_cmp(&used(other)).then(one.id.cmp(&other.id))
                });
                first.map(|(index, _)| (index, is_lent))
            };
            let Some((index, is_lent)) = first(false).or_else(|| first(true)) else { return };
            let Waiting { id, who, admit, .. } = self.waiting.remove(index);
            self.running.push(Running { id, who, since: (self.now)(), is_lent, yields: false });
            // Who left meanwhile drops the turn, and with it this entry.
            let _left = admit.send(is_lent);
        }
    }

    fn end(&mut self, id: u64) {
        let Some(index) = self.running.iter().position(|running| running.id == id) else { return };
        let ended = self.running.swap_remove(index);
        let (past, now) = (self.past(&ended.who.workspace), (self.now)());
        if now.saturating_duration_since(self.swept) >= SWEEP {
            self.used.retain(|_, (seconds, at)| faded(*seconds, now.saturating_duration_since(*at)) > 0.001);
            self.swept = now;
        }
        let seconds = now.saturating_duration_since(ended.since).as_secs_f64();
        self.used.insert(ended.who.workspace, (past + seconds, now));
    }

    /// Takes it upon a query to end for another caller that waits and could then run; not when others end for all of
    /// those, and not when a query of a workspace that used more can.
    fn gives_way(&mut self, id: u64) -> bool {
        let yielding = self.running.iter().filter(|running| running.yields).count();
        let candidates = self.running.iter().filter(|running| !running.yields).filter_map(|running| {
            let used = self.used(&running.who.workspace);
            let could = |waiting: &&Waiting| {
                let who = &waiting.who;
                let is_modest =
                    running.is_lent || who.workspace == running.who.workspace || self.used(&who.workspace) <= used;
                is_modest && who.caller != running.who.caller && self.may_run(who, Some(running.id))
            };
            let waiting: Vec<f64> =
                self.waiting.iter().filter(could).map(|waiting| self.used(&waiting.who.workspace)).collect();
            if waiting.len() <= yielding {
                return None;
            }
            let is_modest = |least: &f64| used > 4.0 * least + 1.0;
            let patience = match waiting.iter().any(is_modest) {
                _ if running.is_lent => PATIENCE_WITH_LENT,
                true => PATIENCE_OF_THE_MODEST,
                false => patience(waiting.len()),
            };
            (self.since(running.since) >= patience).then_some((running.is_lent, used, running.since, running.id))
        });
        // What was lent goes back first; then the greediest goes.
        let first = candidates
            .max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(other.2.cmp(&one.2)));
        let chosen = first.is_some_and(|(.., chosen)| chosen == id);
        if let Some(running) = self.running.iter_mut().find(|running| chosen && running.id == id) {
            running.yields = true;
        }
        chosen
    }
}

/// What seconds count after a time.
fn faded(seconds: f64, after: Duration) -> f64 {
    seconds * (-after.as_secs_f64() / HALF_LIFE).exp2()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    async fn now(turns: &Turns, caller: &str, workspace: &str) -> Option<Turn> {
        tokio::time::timeout(Duration::ZERO, turns.take(caller, workspace)).await.ok().map(Result::unwrap)
    }

    /// Turns whose time is set by hand, in seconds.
    fn timed(workers: usize) -> (Turns, Arc<AtomicU64>) {
        timed_of(Shares::of_queries(workers))
    }

    fn timed_of(shares: Shares) -> (Turns, Arc<AtomicU64>) {
        let (start, time) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let shown = time.clone();
        let now = move || start + Duration::from_secs(shown.load(Ordering::SeqCst));
        (Turns::at(shares, Box::new(now)), time)
    }

    fn pass(time: &AtomicU64, seconds: u64) {
        time.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Who of these gives way now.
    fn yielding(turns: &Turns, among: &[&Turn]) -> Vec<usize> {
        let asked = among.iter().enumerate().filter(|(_, turn)| turns.state().gives_way(turn.id));
        asked.map(|(index, _)| index).collect()
    }

    #[tokio::test]
    async fn a_caller_and_a_workspace_leave_workers_to_others() {
        let (turns, _) = timed(4);
        let (first, second) = (now(&turns, "a", "x").await, now(&turns, "a", "x").await);
        assert!(first.is_some() && second.is_some());
        assert!(now(&turns, "a", "x").await.is_none(), "a has half of all");
        let third = now(&turns, "b", "x").await;
        assert!(third.is_some());
        assert!(now(&turns, "c", "x").await.is_none(), "x has all but one");
        let fourth = now(&turns, "d", "y").await;
        assert!(fourth.is_some());
        assert!(now(&turns, "e", "z").await.is_none(), "all are taken");
        drop(first);
        assert!(now(&turns, "c", "x").await.is_some());
        assert!(turns.state().waiting.is_empty(), "who left the queue is not in it");
    }

    #[tokio::test]
    async fn one_worker_is_shared_by_all() {
        let (turns, _) = timed(1);
        let only = now(&turns, "a", "x").await;
        assert!(only.is_some() && now(&turns, "b", "y").await.is_none());
        drop(only);
        assert!(now(&turns, "b", "y").await.is_some());
    }

    #[tokio::test]
    async fn who_used_less_goes_first_and_the_past_fades() {
        let (turns, time) = timed(1);
        let greedy = now(&turns, "a", "x").await;
        pass(&time, 8);
        let (again, modest) = (turns.take("a", "x"), turns.take("b", "y"));
        let (mut again, mut modest) = (std::pin::pin!(again), std::pin::pin!(modest));
        assert!(tokio::time::timeout(Duration::ZERO, &mut again).await.is_err(), "it came first");
        assert!(tokio::time::timeout(Duration::ZERO, &mut modest).await.is_err());
        drop(greedy);
        assert!(tokio::time::timeout(Duration::ZERO, &mut again).await.is_err());
        assert!(modest.await.is_ok());
        assert!(again.await.is_ok());
        assert!((turns.state().used("x") - 8.0).abs() < 0.1);
        pass(&time, 60);
        assert!((turns.state().used("x") - 2.0).abs() < 0.1, "two half-lives later");
    }

    #[test]
    fn patience_ends_sooner_the_more_wait() {
        let millis = [0, 1, 2, 4, 8, 100].map(|waiting| patience(waiting).as_millis());
        assert_eq!(millis, [5_000, 5_000, 5_000, 2_500, 2_000, 2_000]);
    }

    #[tokio::test]
    async fn as_many_give_way_as_wait_and_the_greediest_first() {
        let (turns, time) = timed(2);
        let one = now(&turns, "a", "x").await.unwrap();
        pass(&time, 3);
        let two = now(&turns, "b", "y").await.unwrap();
        pass(&time, 3);
        assert!(yielding(&turns, &[&one, &two]).is_empty(), "nobody waits");
        let mut waiter = std::pin::pin!(turns.take("c", "z"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut waiter).await.is_err());
        assert_eq!(yielding(&turns, &[&two, &one]), [1], "x used six seconds, y three");
        assert!(yielding(&turns, &[&two, &one]).is_empty(), "one is enough for one");
        drop(one);
        assert!(waiter.await.is_ok());
        assert!(yielding(&turns, &[&two]).is_empty(), "nobody waits any more");
    }

    #[tokio::test]
    async fn one_who_used_nothing_waits_a_second_and_equals_wait_longer() {
        let (turns, time) = timed(1);
        let long = now(&turns, "a", "x").await.unwrap();
        let mut colleague = std::pin::pin!(turns.take("b", "x"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut colleague).await.is_err());
        pass(&time, 4);
        assert!(yielding(&turns, &[&long]).is_empty(), "a colleague waits five seconds");
        let mut stranger = std::pin::pin!(turns.take("c", "y"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut stranger).await.is_err());
        assert_eq!(yielding(&turns, &[&long]), [0]);
    }

    #[tokio::test]
    async fn nobody_gives_way_to_itself() {
        let (turns, time) = timed(2);
        let only = now(&turns, "a", "x").await.unwrap();
        let mut own = std::pin::pin!(turns.take("a", "x"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut own).await.is_err(), "a has its half");
        pass(&time, 60);
        assert!(yielding(&turns, &[&only]).is_empty());
    }

    #[tokio::test]
    async fn who_is_alone_borrows_all_and_gives_back_at_once() {
        let (turns, time) = timed(4);
        let turns = turns.lending();
        let mut held = vec![];
        for _ in 0..4 {
            held.push(now(&turns, "a", "x").await.unwrap());
            pass(&time, 1);
        }
        assert_eq!(held.iter().map(Turn::is_lent).collect::<Vec<_>>(), [false, false, true, true]);
        let all = |held: &[Turn]| {
            let asked = held.iter().enumerate().filter(|(_, turn)| turns.state().gives_way(turn.id));
            asked.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let mut own = queue(&turns, "a").await;
        assert!(all(&held).is_empty(), "nothing goes back to the one who borrows");
        let mut other = std::pin::pin!(turns.take("b", "y"));
        assert!(tokio::time::timeout(Duration::ZERO, &mut other).await.is_err());
        assert_eq!(all(&held), [2], "the oldest that was lent, after a tenth of a second");
        drop(held.remove(2));
        let other = other.await.unwrap();
        assert!(!other.is_lent(), "b goes before a, which came first");
        assert!(come(&mut own).await.is_none() && all(&held).is_empty());
        drop(other);
        assert!(come(&mut own).await.is_some_and(|turn| turn.is_lent()));
    }

    #[tokio::test]
    async fn who_gave_a_turn_back_waits_for_one_of_its_own() {
        let (turns, _) = timed(2);
        let turns = turns.lending();
        let first = now(&turns, "a", "x").await.unwrap();
        let mut strict = Box::pin(turns.queue("a", "x", false));
        assert!(tokio::time::timeout(Duration::ZERO, &mut strict).await.is_err(), "what is free may only be lent");
        assert!(now(&turns, "a", "x").await.is_some_and(|turn| turn.is_lent()));
        drop(first);
        assert!(strict.await.is_ok_and(|turn| !turn.is_lent()));
    }

    #[tokio::test]
    async fn who_used_nothing_of_late_is_forgotten_once_a_second_and_not_at_each_end() {
        let (turns, time) = timed(1);
        let used = |turns: &Turns| turns.state().used.keys().map(ToString::to_string).collect::<Vec<_>>();
        // What takes no time counts nothing from the start.
        drop(now(&turns, "a", "x").await);
        drop(now(&turns, "b", "y").await);
        assert_eq!(used(&turns).len(), 2, "nobody looks within the second");
        pass(&time, 1);
        drop(now(&turns, "c", "z").await);
        assert_eq!(used(&turns), ["z"]);
    }

    type Queued<'t> = std::pin::Pin<Box<dyn Future<Output = Result<Turn>> + 't>>;

    /// The turn when it comes at once.
    async fn come(queued: &mut Queued<'_>) -> Option<Turn> {
        tokio::time::timeout(Duration::ZERO, queued).await.ok().map(Result::unwrap)
    }

    /// A place of an import in the queue, taken.
    async fn queue<'t>(turns: &'t Turns, workspace: &'t str) -> Queued<'t> {
        let mut queued: Queued<'_> = Box::pin(turns.take(workspace, workspace));
        assert!(come(&mut queued).await.is_none(), "it has to wait");
        queued
    }

    #[tokio::test]
    async fn workspaces_go_in_turn_however_many_imports_one_has() {
        let (turns, time) = timed_of(Shares::of_imports(1, 1));
        let mut running = now(&turns, "many", "many").await.unwrap();
        let mut queued = vec![];
        for workspace in ["many", "many", "many", "single"] {
            queued.push((workspace, queue(&turns, workspace).await));
        }
        let mut order = vec![];
        for _ in 0..6 {
            pass(&time, 1);
            drop(running);
            let mut found = None;
            for (index, (workspace, waiting)) in queued.iter_mut().enumerate() {
                if let Some(turn) = come(waiting).await {
                    assert!(found.replace((index, *workspace, turn)).is_none(), "one at a time");
                }
            }
            let (index, workspace, turn) = found.unwrap();
            running = turn;
            drop(queued.remove(index));
            // Each comes back for its next batch.
            queued.push((workspace, queue(&turns, workspace).await));
            order.push(workspace);
        }
        assert_eq!(order, ["single", "many", "single", "many", "single", "many"]);
    }

    #[tokio::test]
    async fn imports_of_one_workspace_leave_turns_to_others() {
        let turns = Turns::of_imports(2, 1);
        let first = now(&turns, "x", "x").await;
        assert!(first.is_some());
        let mut second = queue(&turns, "x").await;
        let other = now(&turns, "y", "y").await;
        assert!(other.is_some(), "it goes before one that came earlier");
        assert!(come(&mut second).await.is_none());
        drop(first);
        assert!(come(&mut second).await.is_some());
    }

    #[tokio::test]
    async fn who_leaves_is_not_waited_for_and_what_is_given_back_goes_on() {
        let turns = Turns::of_imports(2, 2);
        let held = (now(&turns, "one", "one").await.unwrap(), now(&turns, "one", "one").await.unwrap());
        let first = queue(&turns, "one").await;
        let mut second = queue(&turns, "other").await;
        drop(first);
        assert!(come(&mut second).await.is_none(), "its place was in the queue, not a turn");
        drop(held.0);
        let second = come(&mut second).await.unwrap();
        drop((held.1, second));
        let state = turns.state();
        assert_eq!((state.running.len(), state.waiting.len()), (0, 0));
    }

    #[tokio::test]
    async fn a_turn_that_comes_when_nobody_waits_any_more_is_not_lost() {
        let turns = Turns::of_imports(1, 1);
        let held = now(&turns, "one", "one").await;
        let left = queue(&turns, "one").await;
        drop(held);
        // It has been let in, and leaves without having looked.
        drop(left);
        assert!(now(&turns, "other", "other").await.is_some());
    }
}
