//! The words of a question as phrases of time are looked for in them, and the words of the calendar.

use crate::engine::agent::english::text::number;
use crate::engine::agent::english::text::token::{Token, TokenKind};
use crate::engine::agent::english::time::written;
use crate::engine::agent::plan::window::Unit;
use crate::model::plan::Grain;

/// Tokens without possessive endings, and those with hyphens in pieces: "7-day" is "7 day", "Jan-Mar" is "jan to mar".
pub(super) struct Words {
    words: Vec<Token>,
    /// The token of each word.
    tokens: Vec<usize>,
}

impl Words {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut all = Words { words: Vec::new(), tokens: Vec::new() };
        for (at, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Word && token.kind != TokenKind::Punct {
                all.push(token, &token.norm, at);
                continue;
            }
            let norm = match token.norm.as_str() {
                "\u{2013}" | "\u{2014}" | "-" => "to",
                norm => norm.strip_suffix("'s").unwrap_or(norm),
            };
            let pieces: Vec<&str> = norm.split(['-', '\u{2010}', '\u{2011}']).collect();
            match pieces.as_slice() {
                [first, second] if is_range(first, second) => {
                    all.push(token, first, at);
                    all.push(token, "to", at);
                    all.push(token, second, at);
                }
                // A day or a year: nobody can know.
                [first, second] if month(first).is_some() && second.len() <= 2 => all.push(token, norm, at),
                _ if pieces.iter().any(|piece| piece.is_empty()) || is_date(norm) => all.push(token, norm, at),
                _ => pieces.iter().for_each(|piece| all.push(token, piece, at)),
            }
        }
        all
    }

    fn push(&mut self, token: &Token, norm: &str, at: usize) {
        let digits = is_digits(norm);
        let kind = if token.kind == TokenKind::Word && digits { TokenKind::Number } else { token.kind };
        self.words.push(Token { norm: norm.to_owned(), kind, ..token.clone() });
        self.tokens.push(at);
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word at a place; empty for quoted texts, and before the first and after the last word.
    pub(super) fn at(&self, at: usize) -> &str {
        self.words.get(at).filter(|word| word.kind != TokenKind::Quoted).map_or("", |word| word.norm.as_str())
    }

    pub(super) fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.at(at))
    }

    pub(super) fn any(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.at(at))
    }

    /// The place after one of the words when one is there, otherwise the place itself.
    pub(super) fn skip(&self, at: usize, words: &[&str]) -> usize {
        at + usize::from(self.any(at, words))
    }

    /// The place after a phrase.
    pub(super) fn after(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut place = at;
        for word in phrase.split(' ') {
            if self.at(place) != word {
                return None;
            }
            place += 1;
        }
        Some(place)
    }

    /// The place after the longest of the phrases that are here.
    pub(super) fn after_any(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.after(at, phrase)).max()
    }

    /// A count such as "7" or "three", and the place after it.
    pub(super) fn count(&self, at: usize) -> Option<(u32, usize)> {
        number::count(&self.words, at).filter(|(count, _)| *count > 0).map(|(count, used)| (count, at + used))
    }

    pub(super) fn ordinal(&self, at: usize) -> Option<(u32, usize)> {
        number::ordinal(&self.words, at).map(|(number, used)| (number, at + used))
    }

    /// Whether nothing but punctuation follows.
    pub(super) fn ends(&self, at: usize) -> bool {
        self.words.get(at..).is_none_or(|rest| rest.iter().all(|word| word.kind == TokenKind::Punct))
    }

    /// The tokens from a word up to another; `None` when a token would be cut.
    pub(super) fn tokens(&self, from: usize, to: usize) -> Option<std::ops::Range<usize>> {
        let token = |at: usize| self.tokens.get(at).copied();
        let first = token(from)?;
        let last = token(to.checked_sub(1)?)?;
        let whole = from.checked_sub(1).and_then(token) != Some(first) && token(to) != Some(last);
        whole.then_some(first..last + 1)
    }
}

/// Whether two words around a hyphen are the ends of a range.
fn is_range(first: &str, second: &str) -> bool {
    let days = |word: &str| word.len() <= 2 && is_digits(word);
    let years = |word: &str| year(word).is_some();
    let quarter = |word: &str| matches!(word, "q1" | "q2" | "q3" | "q4");
    [days, years, quarter].iter().any(|is| is(first) && is(second)) || month(first).is_some() && month(second).is_some()
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the hyphens are those of a date in figures.
fn is_date(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit() || b == b'-') || written::read(word).is_some()
}

/// A year in four digits.
pub(super) fn year(word: &str) -> Option<i16> {
    let digits = word.len() == 4 && is_digits(word);
    word.parse().ok().filter(|year| digits && (1900..=2100).contains(year))
}

/// A year in two digits: 70 and later in the last century.
pub(super) fn short_year(word: &str) -> Option<i16> {
    let digits = word.len() == 2 && is_digits(word);
    word.parse().ok().filter(|_| digits).map(|year: i16| if year < 70 { 2000 + year } else { 1900 + year })
}

/// A unit by its noun.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "hour" | "hours" | "hr" | "hrs" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" | "wk" | "wks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "quarter" | "quarters" => Unit::Quarter,
        "year" | "years" | "yr" | "yrs" => Unit::Year,
        _ => return None,
    })
}

/// A unit by its adverb.
pub(super) fn adverb(word: &str) -> Option<Grain> {
    Some(match word {
        "hourly" => Grain::Hour,
        "daily" => Grain::Day,
        "weekly" => Grain::Week,
        "monthly" => Grain::Month,
        "quarterly" => Grain::Quarter,
        "yearly" | "annual" | "annually" => Grain::Year,
        "weekday" => Grain::DayOfWeek,
        _ => return None,
    })
}

/// The number of a month, by its English name or the beginning of it: 1 for "january", "jan".
pub(crate) fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ];
    let at = MONTHS.iter().position(|name| *name == word || word.len() == 3 && name.starts_with(word));
    let at = at.or_else(|| (word == "sept").then_some(8))?;
    i8::try_from(at + 1).ok()
}

/// Whether the name of a month is usually another word.
pub(super) fn is_doubtful(word: &str) -> bool {
    matches!(word, "may" | "march" | "mar")
}

/// A day of the week: 1 is Monday.
pub(super) fn weekday(word: &str) -> Option<i8> {
    Some(match word {
        "monday" => 1,
        "tuesday" => 2,
        "wednesday" => 3,
        "thursday" => 4,
        "friday" => 5,
        "saturday" => 6,
        "sunday" => 7,
        _ => return None,
    })
}
