//! How much work may go into one question: a bound that does not depend on the machine, and a way to stop before it.

use std::cell::Cell;

/// Steps of the longest question that is read. One is a reading that is weighed, or a stored value that is looked at; a
/// question that people ask takes some tens.
pub(super) const MOST_STEPS: u64 = 20_000;

/// What is left of the work for a question.
pub(crate) struct Effort<'a> {
    left: Cell<u64>,
    /// Whether nobody waits for the answer any more.
    stop: &'a dyn Fn() -> bool,
    is_over: Cell<bool>,
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Self::new(&|| false)
    }
}

impl<'a> Effort<'a> {
    /// [`MOST_STEPS`] steps, unless `stop` says that it is enough: it is asked at each step.
    pub(crate) fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self { left: Cell::new(MOST_STEPS), stop, is_over: Cell::new(false) }
    }

    /// Takes so many steps. Answers whether the work may go on.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        if !self.is_over.get() {
            match self.left.get().checked_sub(steps).filter(|_| !(self.stop)()) {
                Some(left) => self.left.set(left),
                None => self.is_over.set(true),
            }
        }
        !self.is_over.get()
    }

    /// Whether there was too much to do: what came of it is not all that there is.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Steps that were taken.
    pub(crate) fn spent(&self) -> u64 {
        MOST_STEPS - self.left.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_with_its_steps_and_when_nobody_waits() {
        let effort = Effort::default();
        assert!(effort.spend(MOST_STEPS - 1) && effort.spend(1) && !effort.is_over());
        assert!(!effort.spend(1) && effort.is_over() && !effort.spend(0));
        assert_eq!(effort.spent(), MOST_STEPS);

        let gone = Cell::new(false);
        let stop = || gone.get();
        let effort = Effort::new(&stop);
        assert!(effort.spend(1));
        gone.set(true);
        assert!(!effort.spend(1));
        gone.set(false);
        assert!(!effort.spend(1) && effort.is_over(), "what was left out stays left out");
    }
}
