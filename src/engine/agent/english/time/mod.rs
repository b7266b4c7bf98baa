//! Phrases of time: which words of a question mean a time, and which.
//!
//! Everything is relative to a given `now` in the ontology's own zone, whatever times the data hold. Windows are
//! half-open: from their start up to but not with their end. The rules where people mean different things:
//!
//! - "last 7 days" are the seven whole days before today; today is not among them. The same holds for weeks, months,
//!   quarters and years: "last 3 months" are three whole calendar months, and "last month" is the one before this.
//!   "past", "previous" and "trailing" mean the same as "last".
//! - "this year" is the whole year, also what is still to come; "year to date" and "so far this year" end with today.
//! - "in January", "Q3", "July 4" without a year are the latest that have begun; of a range without a year that is
//!   its first part, and the second part follows it.
//! - "since" and "from … on" begin with the named time, "after" begins when it has ended, "before" ends when it begins,
//!   and "until", "through" and "to" include it.
//! - "3 months ago" is that whole calendar month.
//! - A fiscal year has the number of the calendar year in which it ends.
//! - Four digits are a year only between 1900 and 2100, and only after a preposition ("in 2013"), after "year", at the
//!   end of the question, or before a comma or a connecting word such as "by". In "2013 flights" they are none.
//! - `3/4/2013` may be two days, and is none.

mod clock;
mod compare;
mod phrase;
mod point;
mod range;
mod relative;
#[cfg(test)]
mod tests;
mod words;
mod written;

use std::ops::Range;

use jiff::civil::DateTime;

use crate::engine::agent::english::text::token::Token;
use crate::engine::agent::plan::window::{Span, Unit};
use crate::model::ontology::Calendar;
use crate::model::plan::{Grain, Window};

pub(super) use words::month;

/// A phrase of time and where it stands, with its prepositions: all of "during the last 3 months".
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub tokens: Range<usize>,
    pub phrase: TimePhrase,
    /// What the phrase counts in: months for "last 3 months", "March 2013" and "month over month".
    pub unit: Option<Grain>,
    /// Whether it is made of nothing but years in figures, and of words that numbers have too: "between 1950 and
    /// 2000" is a time only if the question does not compare a number there.
    pub bare_number: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TimePhrase {
    /// A stretch of time. Without start and end it is "all time".
    Window(Window),
    /// Hours of the day: from one up to but not with the other, which may be 24.
    Hours(u8, u8),
    /// A unit or cycle of the calendar, as in "monthly" or the last word of "by month". A unit alone is always found,
    /// but not after a number; whether anything is grouped by it is for the caller to know.
    Grain(Grain),
    /// Another time beside the one that is asked for.
    Compare(CompareWith),
    /// The mean of as many units, as in "7-day moving average".
    Rolling(u32, Grain),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum CompareWith {
    /// As much time right before.
    PreviousPeriod,
    /// The same dates a year before.
    YearBefore,
    Window(Window),
}

impl CompareWith {
    /// The window beside a window. `None` when that one is open at a side, so that nothing of the same length is
    /// before it.
    ///
    /// Windows of whole months go back by months: before the first quarter is the fourth. A window that ends within a
    /// month goes back by days, and by a year to the same dates.
    pub(super) fn beside(&self, window: &Window) -> Option<Window> {
        let back = match self {
            CompareWith::Window(other) => return Some(other.clone()),
            CompareWith::PreviousPeriod => Span::read(window)?.before()?,
            CompareWith::YearBefore => Span::read(window)?.year_before()?,
        };
        Some(back.window(None))
    }
}

/// The phrases of time in a question, from left to right, none within another; of several that begin with the same
/// word the longest.
pub(super) fn find(tokens: &[Token], now: DateTime, calendar: &Calendar) -> Vec<Found> {
    phrase::Phrases { words: words::Words::new(tokens), now, calendar }.all(tokens)
}

/// The unit or cycle that a single word names: "month", "months", "monthly".
pub(super) fn grain(word: &str) -> Option<Grain> {
    words::adverb(word).or_else(|| words::unit(word).and_then(Unit::grain))
}
