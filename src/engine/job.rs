//! What an engine gets with every task: the pass, the deadline, cancellation, the budget, and a way to report progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

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
        Self { pass, budget, cancel, deadline: Instant::now() + time, on_progress }
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

    /// Who receives progress.
    pub fn on_progress(&self) -> Option<OnProgress> {
        self.on_progress.clone()
    }

    /// Fails when the caller has gone or the time is over; engines call it between steps.
    ///
    /// # Errors
    /// `query_timeout`.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::new(Code::QueryTimeout, "The call was cancelled."));
        }
        if self.time_left().is_zero() {
            return Err(Error::new(Code::QueryTimeout, "The time for this call is over. Ask for less at once."));
        }
        Ok(())
    }
}
