//! Times of the day: "after 10 pm", "between 6 and 9 am", "22:00 or later". Only whole hours: many times are kept no
//! finer, and a bound inside an hour would then be read as another one.

use crate::engine::agent::english::time::phrase::{Match, Phrases, What};

impl Phrases<'_> {
    /// Whole hours, from one up to but not with another. "After 10 pm" begins at ten.
    pub(super) fn hours(&self, at: usize) -> Option<Match> {
        let (from, until, to) = self.hour_range(at).or_else(|| self.open_hours(at)).or_else(|| self.hour_tail(at))?;
        let what = What::Hours(from, until);
        // None of the day, or all of it.
        let some = from != until && (from, until) != (0, 24);
        some.then_some(Match { from: at, core: at, to, what, unit: None, bare_number: false, named: None })
    }

    fn hour_range(&self, at: usize) -> Option<(u8, u8, usize)> {
        let first = self.words.after_any(at, &["between", "from"]).unwrap_or(at);
        let joints: &[&str] = match self.words.at(at) {
            "between" => &["and"],
            _ => &["to", "until", "till", "up to"],
        };
        // "6 to 9 am": the half of the day is said once.
        let (begin, middle) = match self.clock(first) {
            Some((hour, to)) => (Some(hour), to),
            None => (None, first + 1),
        };
        let (end, to) = self.clock(self.words.after_any(middle, joints)?)?;
        let end = if end == 0 { 24 } else { end };
        let begin = match begin {
            Some(hour) => hour,
            None => {
                let hour = self.words.at(first).parse::<u8>().ok().filter(|hour| (1..=12).contains(hour))? % 12;
                // The same half of the day, or the one before where it is later than the end: "10 to 1 pm".
                if end > 12 && hour + 12 < end { hour + 12 } else { hour }
            }
        };
        Some((begin, end, to))
    }

    fn open_hours(&self, at: usize) -> Option<(u8, u8, usize)> {
        if let Some(place) = self.words.after_any(at, &["after", "later than", "past"]) {
            let (hour, to) = self.clock(place)?;
            return Some((hour, 24, to));
        }
        if let Some(place) = self.words.after_any(at, &["from", "since", "starting at"]) {
            let (hour, to) = self.clock(place)?;
            return Some((hour, 24, self.words.after_any(to, &["on", "onward", "onwards"]).unwrap_or(to)));
        }
        let place = self.words.after_any(at, &["before", "earlier than", "until", "till", "up to"])?;
        let (hour, to) = self.clock(place)?;
        Some((0, hour, to))
    }

    /// "10 pm or later".
    fn hour_tail(&self, at: usize) -> Option<(u8, u8, usize)> {
        let (hour, to) = self.clock(self.words.skip(at, &["at"]))?;
        let to = self.words.after_any(to, &["or later", "and later", "or after", "onward", "onwards"])?;
        Some((hour, 24, to))
    }

    /// `10 pm`, `10pm`, `6 a.m.`, `22:00`, `noon`: the hour, and the place after it. A number alone is none.
    fn clock(&self, at: usize) -> Option<(u8, usize)> {
        let word = self.words.at(at);
        match word {
            "noon" | "midday" => return Some((12, at + 1)),
            "midnight" => return Some((0, at + 1)),
            _ => {}
        }
        let half = |word: &str| match word {
            "am" | "a.m" | "a.m." => Some(0),
            "pm" | "p.m" | "p.m." => Some(12),
            _ => None,
        };
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
        let joined = half(&word[digits.len()..]);
        if joined.is_none() && digits.len() < word.len() {
            return None;
        }
        let whole = digits.strip_suffix(":00");
        let hour: u8 = whole.unwrap_or(digits).parse().ok()?;
        let Some(shift) = joined.or_else(|| half(self.words.at(at + 1))) else {
            return (whole.is_some() && hour < 24).then_some((hour, at + 1));
        };
        let mut to = at + 1 + usize::from(joined.is_none());
        // The last full stop of "a.m." is a sign of its own.
        if self.words.at(to - 1).ends_with(".m") && self.words.at(to) == "." && !self.words.ends(to) {
            to += 1;
        }
        (1..=12).contains(&hour).then_some((hour % 12 + shift, to))
    }
}
