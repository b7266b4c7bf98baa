//! Which of the phrases at a word is meant: windows with their prepositions, ranges, grains and rolling means.

use jiff::civil::DateTime;

use crate::engine::agent::english::text::token::{Token, TokenKind};
use crate::engine::agent::english::time::point::{Named, Point};
use crate::engine::agent::english::time::words::{Words, adverb, unit};
use crate::engine::agent::english::time::{Found, TimePhrase, compare};
use crate::engine::agent::plan::window::{Span, text};
use crate::model::ontology::Calendar;
use crate::model::plan::{Grain, TimeUnit, Window};

/// A question, and what its phrases are relative to.
pub(super) struct Phrases<'a> {
    pub words: Words,
    pub now: DateTime,
    pub calendar: &'a Calendar,
}

/// A phrase between words.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub from: usize,
    /// Where its words begin as people are shown them, without the preposition.
    pub core: usize,
    pub to: usize,
    pub what: What,
    pub unit: Option<Grain>,
    pub bare_number: bool,
    /// The one name that it is made of.
    pub named: Option<Named>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Window(Option<DateTime>, Option<DateTime>),
    /// What has passed of a window that goes on.
    SoFar(DateTime, DateTime),
    Hours(u8, u8),
    Grain(Grain),
    Rolling(u32, Grain),
    Compare(compare::Other),
}

impl Match {
    /// Gives its name a year.
    fn fix(&mut self, named: Named, year: i16, span: Span) {
        self.named = Some(named.of(year));
        self.what = match self.what {
            What::Compare(_) => What::Compare(compare::Other::Named(span)),
            _ => What::Window(Some(span.start), Some(span.end)),
        };
    }
}

const PREPOSITIONS: [&str; 20] = [
    "in", "on", "during", "within", "for", "of", "from", "over", "throughout", "across", "in the year", "for the year",
    "of the year", "all of", "in all of", "for all of", "in the month of", "for the month of", "in the course of",
    "at",
];
/// What follows a year in figures that is a year, and not the number of something.
const AFTER_YEAR: [&str; 32] = [
    ",", ";", "?", ".", "!", ")", "and", "or", "by", "per", "vs", "versus", "compared", "against", "grouped", "broken",
    "split", "for", "in", "with", "where", "to", "until", "through", "only", "than", "each", "respectively",
    "separately", "combined", "together", "alone",
];
/// What stands before a number that is none of a year.
pub(super) const BEFORE_NUMBER: [&str; 29] = [
    "over", "under", "above", "below", "than", "least", "most", "exceeding", "exceed", "exceeds", "top", "bottom",
    "first", "last", "limit", "=", "<", ">", "is", "are", "equals", "equal", "to", "number", "id", "code", "#",
    "about", "around",
];

impl Phrases<'_> {
    pub(super) fn all(&self, tokens: &[Token]) -> Vec<Found> {
        let mut matches: Vec<Match> = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            match self.longest(at) {
                Some(found) => {
                    at = found.to;
                    matches.push(found);
                }
                None => at += 1,
            }
        }
        self.share_years(&mut matches);
        self.hold_so_far(&mut matches);
        let main = matches.iter().find_map(|found| match found.what {
            What::Window(Some(start), Some(end)) | What::SoFar(start, end) => Span::new(start, end),
            _ => None,
        });
        matches.iter().filter_map(|found| self.found(found, main, tokens)).collect()
    }

    /// Gives names without a year that of their neighbours: "March and April 2013", "March 2013 vs April".
    fn share_years(&self, matches: &mut [Match]) {
        let joined = |first: &Match, second: &Match| {
            let compared = matches!(second.what, What::Compare(_));
            let list = |at: usize| self.words.any(at, &[",", "and", "or", "&"]);
            second.from <= first.to + 2 && (first.to..second.from).all(list) && (compared || first.to < second.from)
        };
        for at in (1..matches.len()).rev() {
            let (before, after) = matches.split_at_mut(at);
            let (Some(first), Some(second)) = (before.last_mut(), after.first()) else { continue };
            if joined(first, second)
                && let (Some(named), Some(year)) = (first.named, second.named.and_then(Named::year))
                && let Some(span) = named.within(year, self.calendar).filter(|_| named.lacks_year())
            {
                first.fix(named, year, span);
            }
        }
        for at in 1..matches.len() {
            let (before, after) = matches.split_at_mut(at);
            let (Some(first), Some(second)) = (before.last(), after.first_mut()) else { continue };
            if joined(first, second)
                && let (Some(named), Some(year)) = (second.named, first.named.and_then(Named::year))
                && let Some(start) = first.named.and_then(|first| first.within(year, self.calendar))
                && named.lacks_year()
            {
                let span = match second.what {
                    What::Compare(_) => named.within(year, self.calendar),
                    _ => named.first_after(start.start, self.calendar),
                };
                if let Some(span) = span {
                    second.fix(named, span.start.year(), span);
                }
            }
        }
    }

    fn longest(&self, at: usize) -> Option<Match> {
        let kinds: [fn(&Self, usize) -> Option<Match>; 6] =
            [Self::compare, Self::rolling, Self::range, Self::plain, Self::hours, Self::grain];
        let mut longest: Option<Match> = None;
        let whole = |found: &Match| self.words.tokens(found.from, found.to).is_some();
        for found in kinds.iter().filter_map(|kind| kind(self, at)).filter(whole) {
            if longest.as_ref().is_none_or(|longest| found.to > longest.to) {
                longest = Some(found);
            }
        }
        longest
    }

    fn found(&self, found: &Match, main: Option<Span>, tokens: &[Token]) -> Option<Found> {
        let range = self.words.tokens(found.from, found.to)?;
        let core = self.words.tokens(found.core, found.to).unwrap_or_else(|| range.clone());
        let phrase = match found.what {
            What::Window(start, end) => TimePhrase::Window(Window {
                start: start.map(text),
                end: end.map(text),
                phrase: Some(written(&tokens[core])),
                relative: None,
            }),
            What::SoFar(start, end) => TimePhrase::Window(Window {
                start: Some(text(start)),
                end: Some(text(end)),
                phrase: Some(format!("{} so far", written(&tokens[core]))),
                relative: None,
            }),
            What::Hours(from, to) => TimePhrase::Hours(from, to),
            What::Grain(grain) => TimePhrase::Grain(grain),
            What::Rolling(count, grain) => TimePhrase::Rolling(count, grain),
            What::Compare(other) => TimePhrase::Compare(self.resolved(other, main, written(&tokens[core]))?),
        };
        Some(Found { tokens: range, phrase, unit: found.unit, bare_number: found.bare_number })
    }

    /// A window with its preposition.
    fn plain(&self, at: usize) -> Option<Match> {
        if let Some(to) = self.words.after_any(at, &["all time", "of all time", "in all time", "over all time"]) {
            return Some(Match {
                from: at,
                core: to - 2,
                to,
                what: What::Window(None, None),
                unit: None,
                bare_number: false,
                named: None,
            });
        }
        let after = self.words.after_any(at, &PREPOSITIONS);
        // "2013" after "in the year" as after "in".
        let core = after.unwrap_or(at);
        let core = if self.words.at(core) == "the" && self.point(core).is_none() { core + 1 } else { core };
        let point = self.point(core)?;
        // "January and March by city", "March vs April"
        let listed = self.words.any(point.to, &["vs", "versus", "compared"])
            || matches!(self.words.before(at), "and" | "or" | ",")
                && (self.words.ends(point.to) || self.words.any(point.to, &AFTER_YEAR));
        if point.doubtful && after.is_none() && !listed {
            return None;
        }
        let word = if after.is_some() { self.words.at(at) } else { "" };
        let span = point.named.latest(self.now, self.calendar)?;
        // "From 2013 on", "2013 or later"; "on" after another word belongs to what follows.
        let tails: &[&str] = match word {
            "from" => &["on", "onward", "onwards"],
            "" => &["onward", "onwards", "or later", "and later", "and after"],
            _ => &[],
        };
        if let Some(to) = self.words.after_any(point.to, tails) {
            return Some(Match { to, ..Self::open(at, at, &point, Some(span.start), None) });
        }
        if point.bare_number && !self.is_year(core, &point, word) {
            return None;
        }
        let sure = matches!(word, "in" | "during" | "throughout" | "within") || core > at + 1;
        let bare_number = point.bare_number && !sure;
        Some(Match {
            from: at,
            core,
            to: point.to,
            what: What::Window(Some(span.start), Some(span.end)),
            unit: point.unit.and_then(TimeUnit::grain),
            bare_number,
            named: Some(point.named),
        })
    }

    /// Whether four digits are a year where they stand.
    fn is_year(&self, at: usize, point: &Point, preposition: &str) -> bool {
        if !preposition.is_empty() {
            return !matches!(preposition, "over" | "at" | "on");
        }
        !BEFORE_NUMBER.contains(&self.words.before(at)) && self.is_over(point.to)
    }

    /// Whether a year in figures may have ended here.
    pub(super) fn is_over(&self, at: usize) -> bool {
        self.words.ends(at) || self.words.any(at, &AFTER_YEAR)
    }

    /// `7-day moving average`, `rolling 3 months`.
    fn rolling(&self, at: usize) -> Option<Match> {
        const KINDS: [&str; 3] = ["rolling", "moving", "running"];
        const MEANS: [&str; 3] = ["average", "mean", "avg"];
        let before = self.words.any(at, &KINDS);
        let place = at + usize::from(before);
        let (count, place) = self.words.count(place)?;
        let grain = self.words.at(place);
        let grain = unit(grain).and_then(TimeUnit::grain)?;
        let after = self.words.any(place + 1, &KINDS);
        if before == after {
            return None;
        }
        let to = self.words.skip(place + 1 + usize::from(after), &MEANS);
        let what = What::Rolling(count, grain);
        Some(Match { from: at, core: at, to, what, unit: Some(grain), bare_number: false, named: None })
    }

    fn grain(&self, at: usize) -> Option<Match> {
        const CYCLES: [(&str, Grain); 18] = [
            // A date, and not its number in the year.
            ("day of the year", Grain::Day),
            ("days of the year", Grain::Day),
            ("week of the year", Grain::Week),
            ("day of week", Grain::DayOfWeek),
            ("day of the week", Grain::DayOfWeek),
            ("days of the week", Grain::DayOfWeek),
            ("hour of day", Grain::HourOfDay),
            ("hour of the day", Grain::HourOfDay),
            ("hours of the day", Grain::HourOfDay),
            ("time of day", Grain::HourOfDay),
            ("month of year", Grain::MonthOfYear),
            ("month of the year", Grain::MonthOfYear),
            ("months of the year", Grain::MonthOfYear),
            ("day of month", Grain::DayOfMonth),
            ("day of the month", Grain::DayOfMonth),
            ("quarter of year", Grain::QuarterOfYear),
            ("quarter of the year", Grain::QuarterOfYear),
            ("per annum", Grain::Year),
        ];
        let found = |grain, to| {
            Some(Match {
                from: at,
                core: at,
                to,
                what: What::Grain(grain),
                unit: Some(grain),
                bare_number: false,
                named: None,
            })
        };
        for (words, grain) in CYCLES {
            if let Some(to) = self.words.after(at, words) {
                return found(grain, to);
            }
        }
        if let Some(grain) = adverb(self.words.at(at)) {
            return found(grain, at + 1);
        }
        let (unit, to) = self.unit(at)?;
        let grain = unit.grain()?;
        // "Month by month"
        let again = self.words.any(to, &["by"]) && self.words.at(to + 1) == self.words.at(at);
        // A number of units is an amount, but "top 3 months" are months.
        let counted = (1..=3)
            .any(|back| at.checked_sub(back).and_then(|from| self.words.count(from)).is_some_and(|(_, to)| to == at));
        let ranked = (1..=4).any(|back| {
            const RANKS: [&str; 8] = ["top", "bottom", "best", "worst", "highest", "lowest", "busiest", "first"];
            at.checked_sub(back).is_some_and(|from| self.words.any(from, &RANKS))
        });
        if counted && !ranked {
            return None;
        }
        found(grain, if again { to + 2 } else { to })
    }
}

/// Tokens as people write them.
fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        let joined = token.kind == TokenKind::Punct && matches!(token.text.as_str(), "," | "." | "'");
        if !text.is_empty() && !joined {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
