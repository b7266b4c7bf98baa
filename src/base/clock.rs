//! The only source of time. Instants are epoch milliseconds (UTC), as the metadata stores them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// Reads the time: the system's, or in tests one that moves only when told.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<AtomicI64>>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands at `at` until [`Clock::advance`] moves it; clones share it.
    pub fn manual(at: Millis) -> Self {
        Self(Some(Arc::new(AtomicI64::new(at))))
    }

    /// Now, in epoch milliseconds.
    #[expect(clippy::disallowed_methods, reason = "this is the door that the ban points to")]
    pub fn now(&self) -> Millis {
        match &self.0 {
            Some(fixed) => fixed.load(Ordering::SeqCst),
            None => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, millis),
        }
    }

    /// Moves a manual clock forward; the system's clock does not move.
    pub fn advance(&self, by: Duration) {
        if let Some(fixed) = &self.0 {
            fixed.fetch_add(millis(by), Ordering::SeqCst);
        }
    }
}

/// A span in whole milliseconds. The longest count as 70 million years, which can be added to any moment.
pub fn millis(span: Duration) -> Millis {
    Millis::try_from(span.as_millis()).unwrap_or(Millis::MAX).min(Millis::MAX / 4)
}

/// As [`millis`], for counts without a sign, and without an end.
pub fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// `2026-11-21T22:07:48.123Z`, the form of every time that leaves the service (RFC 3339, UTC).
pub fn rfc3339(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |t| format!("{t:.3}"))
}

/// A moment as [`rfc3339`] gives it, as HTTP writes it (RFC 9110 §5.6.7); as it is when it is none.
pub fn http_date(moment: &str) -> String {
    let read = moment.parse::<jiff::Timestamp>();
    read.map_or_else(|_| moment.to_owned(), |t| t.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told_and_its_clones_move_with_it() {
        let clock = Clock::manual(1_000);
        let twin = clock.clone();
        assert_eq!(clock.now(), 1_000);
        twin.advance(Duration::from_secs(2));
        assert_eq!(clock.now(), 3_000);
    }

    #[test]
    fn the_longest_span_can_be_added_to_a_moment() {
        assert_eq!(millis(Duration::from_micros(1_999)), 1);
        assert_eq!(Clock::system().now().checked_add(millis(Duration::MAX)).map(|at| at > 0), Some(true));
        assert_eq!(whole_millis(Duration::from_micros(1_999)), 1);
        assert_eq!(whole_millis(Duration::MAX), u64::MAX);
    }

    #[test]
    fn times_leave_as_rfc3339_in_utc() {
        assert_eq!(rfc3339(1_357_016_400_000), "2013-01-01T05:00:00.000Z");
        assert_eq!(http_date("2013-01-01T05:00:00.000Z"), "Tue, 01 Jan 2013 05:00:00 GMT");
    }
}
