//! What an engine gets with every task: the pass, the deadline, cancellation, the budget, and a way to report progress.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::config::Budgets;
use crate::model::access::Pass;
use crate::model::error::{Code, Error, Result};

/// Progress of a long task: a fraction where it is known, and what is being done.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1; `None` when the whole is unknown.
    pub fraction: Option<f64>,
    pub message: String,
}

/// Receives progress; each surface renders it in its own way.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// By how much a fraction must have risen to be told again in the same words.
const STEP: f64 = 0.01;

/// One task of an engine.
pub struct Job<'a> {
    pub pass: &'a Pass,
    pub budget: &'a Budgets,
    pub cancel: CancellationToken,
    deadline: Instant,
    on_progress: Option<OnProgress>,
}

impl<'a> Job<'a> {
    pub fn new(
        pass: &'a Pass,
        budget: &'a Budgets,
        time: Duration,
        cancel: CancellationToken,
        on_progress: Option<OnProgress>,
    ) -> Self {
        Self { pass, budget, cancel, deadline: Instant::now() + time, on_progress: on_progress.map(rising) }
    }

    /// The same task under another budget; time and cancellation stay.
    pub fn within<'b>(&self, budget: &'b Budgets) -> Job<'b>
    where
        'a: 'b,
    {
        Job {
            pass: self.pass,
            budget,
            cancel: self.cancel.clone(),
            deadline: self.deadline,
            on_progress: self.on_progress.clone(),
        }
    }

    /// The same task with at most so much time.
    #[must_use]
    pub fn at_most(mut self, time: Duration) -> Self {
        self.deadline = self.deadline.min(Instant::now() + time);
        self
    }

    /// The same task for a part of the work: what it says of its own progress, 0 to 1, is told as this share of the
    /// whole.
    pub fn part(&self, share: Range<f64>) -> Job<'a> {
        self.telling(self.on_progress().map(|whole| part(whole, share)))
    }

    /// The same task for a step that others tell of: nobody hears of its own progress.
    pub fn quiet(&self) -> Job<'a> {
        self.telling(None)
    }

    fn telling(&self, on_progress: Option<OnProgress>) -> Job<'a> {
        let Self { pass, budget, cancel, deadline, .. } = self;
        Job { pass, budget, cancel: cancel.clone(), deadline: *deadline, on_progress }
    }

    /// What work needs of the task that goes on when whoever waits for it is dropped, to do it in a task of its own.
    pub fn own(&self) -> OwnJob {
        OwnJob {
            pass: self.pass.clone(),
            budget: self.budget.clone(),
            time: self.time_left(),
            cancel: self.cancel.child_token(),
            on_progress: self.on_progress(),
        }
    }

    /// Tells who listens how far the task is.
    pub fn says(&self, fraction: f64, message: impl Into<String>) {
        if let Some(on_progress) = &self.on_progress {
            on_progress(Progress { fraction: Some(fraction), message: message.into() });
        }
    }

    /// What is left of the time; zero when it is over.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Who receives progress. Fractions that fall are told as the highest so far, and those above 1 as 1.
    pub fn on_progress(&self) -> Option<OnProgress> {
        self.on_progress.clone()
    }

    /// Fails when the caller has gone or the time is over; engines call it between steps.
    ///
    /// # Errors
    /// `query_timeout`.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(gone());
        }
        if self.time_left().is_zero() { Err(late()) } else { Ok(()) }
    }

    /// What `work` gives, unless the caller leaves or the time ends before: then it is dropped where it waits.
    ///
    /// # Errors
    /// As [`Job::check`].
    pub async fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        self.check()?;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(gone()),
            () = tokio::time::sleep(self.time_left()) => Err(late()),
            done = work => Ok(done),
        }
    }
}

/// A [`Job`] that borrows nothing.
pub struct OwnJob {
    pass: Pass,
    budget: Budgets,
    time: Duration,
    cancel: CancellationToken,
    on_progress: Option<OnProgress>,
}

impl OwnJob {
    /// Tells the work to stop when it is dropped.
    pub fn stops(&self) -> DropGuard {
        self.cancel.clone().drop_guard()
    }

    pub fn job(&self) -> Job<'_> {
        Job::new(&self.pass, &self.budget, self.time, self.cancel.clone(), self.on_progress.clone())
    }
}

fn gone() -> Error {
    Error::new(Code::QueryTimeout, "The call was cancelled.")
}

fn late() -> Error {
    Error::new(Code::QueryTimeout, "The time for this call is over. Ask for less at once.")
}

/// What is told never falls and never exceeds the whole, whoever tells it and on whichever thread: clients draw it, and
/// MCP wants values that rise (2025-11-25, Utilities, Progress). It is told again for a hundredth more, or other words.
fn rising(tell: OnProgress) -> OnProgress {
    let told = Mutex::new((0.0_f64, None::<String>));
    Arc::new(move |Progress { fraction, message }| {
        // Held while it is told: two threads must not pass each other on the way.
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        // The greater of a number and of what is none (0 of 0) is the number.
        let fraction = fraction.map(|fraction| fraction.max(told.0).min(1.0));
        let at = fraction.unwrap_or(told.0);
        let is_worth_it = at - told.0 >= STEP || (at >= 1.0 && told.0 < 1.0) || told.1.as_ref() != Some(&message);
        if is_worth_it {
            *told = (at, Some(message.clone()));
            tell(Progress { fraction, message });
        }
    })
}

/// Tells fractions of a part as its share of the whole.
fn part(whole: OnProgress, share: Range<f64>) -> OnProgress {
    Arc::new(move |Progress { fraction, message }| {
        let fraction = fraction.map(|part| share.start + (share.end - share.start) * part.clamp(0.0, 1.0));
        whole(Progress { fraction, message });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Received = Arc<Mutex<Vec<(Option<f64>, String)>>>;

    /// A receiver, and what it received.
    fn receiver() -> (OnProgress, Received) {
        let received = Arc::new(Mutex::new(Vec::new()));
        let sink = received.clone();
        (Arc::new(move |told: Progress| sink.lock().unwrap().push((told.fraction, told.message))), received)
    }

    fn say(to: &OnProgress, fraction: f64, message: &str) {
        to(Progress { fraction: Some(fraction), message: message.into() });
    }

    #[test]
    fn what_is_told_never_falls_and_ends_with_the_whole() {
        let (tell, received) = receiver();
        let rising = rising(tell);
        for (fraction, message) in [(0.5, "a"), (0.2, "a"), (0.2, "b"), (f64::NAN, "c"), (7.0, "c"), (-1.0, "d")] {
            say(&rising, fraction, message);
        }
        let expected = [(0.5, "a"), (0.5, "b"), (0.5, "c"), (1.0, "c"), (1.0, "d")];
        assert_eq!(*received.lock().unwrap(), expected.map(|(fraction, message)| (Some(fraction), message.to_owned())));
    }

    #[test]
    fn the_same_words_are_told_again_for_a_hundredth_more_and_for_the_end() {
        let (tell, received) = receiver();
        let rising = rising(tell);
        for thousandth in 0..=1_000 {
            say(&rising, f64::from(thousandth) / 1_000.0, "Reading");
        }
        let received = received.lock().unwrap();
        assert!((90..=101).contains(&received.len()), "{}", received.len());
        assert_eq!((received[0].0, received.last().unwrap().0), (Some(0.0), Some(1.0)));
    }

    #[test]
    fn an_unknown_whole_stays_unknown() {
        let (tell, received) = receiver();
        let rising = rising(tell);
        say(&rising, 0.4, "known");
        rising(Progress { fraction: None, message: "unknown".into() });
        say(&rising, 0.1, "known");
        let fractions: Vec<_> = received.lock().unwrap().iter().map(|(fraction, _)| *fraction).collect();
        assert_eq!(fractions, [Some(0.4), None, Some(0.4)]);
    }

    #[test]
    fn a_part_tells_its_share_of_the_share_of_the_whole() {
        let (tell, received) = receiver();
        let second_half = part(tell, 0.5..1.0);
        let its_first_half = part(second_half, 0.0..0.5);
        for fraction in [0.0, 0.5, 1.0, 2.0] {
            say(&its_first_half, fraction, "part");
        }
        let fractions: Vec<_> = received.lock().unwrap().iter().map(|(fraction, _)| fraction.unwrap()).collect();
        assert_eq!(fractions, [0.5, 0.625, 0.75, 0.75]);
    }
}
