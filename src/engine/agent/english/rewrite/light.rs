//! Words that say nothing more where they stand, and phrases of more words than they need: "40 seats or more", "month by
//! month", "cancelled ones excluded", "in our catalog", "in terms of revenue".

use crate::engine::agent::english::lexicon::{Lexicon, Match, Sense, words};
use crate::engine::agent::english::text::number;
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

use super::super::vocabulary;

/// A rule with the words of which a question must have one for it.
type Rule = (&'static [&'static str], fn(&str, &Lexicon) -> Option<String>);

const RULES: &[Rule] = &[
    (
        &["more", "above", "over", "high", "great", "big", "larg", "long", "up", "better", "beyond", "heav", "tall"],
        or_more,
    ),
    (&["less", "few", "low", "below", "under", "small", "short", "light", "+"], or_more),
    (&[" by ", " after "], step_by_step),
    (&["excluded", "omitted", " out", "not included", "not counted"], left_out),
    (&["terms", "respect", "measured"], in_terms_of),
    (&["our ", "the ", "my ", "your ", "this "], stored),
    (&["over all"], over_all),
    (&["next", "beside", "alongside"], next_to),
    (&["break", "split", "divide", "group"], broken_down),
    (&["people"], people),
    (&["list of"], list_of),
];

/// The question in fewer words.
pub(super) fn plainly(question: &str, on: &Lexicon) -> Option<String> {
    let mut text = question.to_owned();
    for (words, rule) in RULES {
        // Said once or twice, not more often.
        for _ in 0..2 {
            let folded = text.to_lowercase();
            if !words.iter().any(|word| folded.contains(word)) {
                break;
            }
            let Some(other) = rule(&text, on) else { break };
            text = other;
        }
    }
    (text != question).then_some(text)
}

/// A question as its tokens and their folded words.
struct Said<'q> {
    text: &'q str,
    all: Vec<Token>,
    list: Vec<String>,
}

impl<'q> Said<'q> {
    fn of(text: &'q str) -> Self {
        let all = tokens(text);
        let folded = |token: &Token| match token.kind {
            TokenKind::Quoted => String::new(),
            TokenKind::Punct => token.norm.clone(),
            _ => words::split(&token.text).join(" "),
        };
        let list = all.iter().map(folded).collect();
        Self { text, all, list }
    }

    fn word(&self, at: usize) -> &str {
        self.list.get(at).map_or("", String::as_str)
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn slice(&self, from: usize, to: usize) -> &'q str {
        let (Some(first), Some(last)) = (self.all.get(from), to.checked_sub(1).and_then(|to| self.all.get(to))) else {
            return "";
        };
        if from < to { self.text.get(first.start..last.end).unwrap_or_default() } else { "" }
    }

    /// The question with other words in place of some.
    fn with(&self, from: usize, to: usize, instead: &str) -> Option<String> {
        let (start, end) = (self.all.get(from)?.start, self.all.get(to.checked_sub(1)?)?.end);
        let mut text = self.text.to_owned();
        text.replace_range(start..end, instead);
        Some(text)
    }

    fn is_sign(&self, at: usize) -> bool {
        self.all.get(at).is_none_or(|token| token.kind == TokenKind::Punct && token.norm != "%")
    }

    /// Whether the word is the name of a thing or a value: in a field there is nothing.
    fn is_thing(&self, at: usize, on: &Lexicon) -> bool {
        let thing = |sense: &Sense| matches!(sense, Sense::Entity(_) | Sense::Value { .. } | Sense::Segment(_));
        on.matches(&[self.word(at)], &[false])
            .iter()
            .any(|found| found.entries.iter().any(|entry| !entry.partial && thing(&entry.sense)))
    }

    /// Whether the word is the name of something here.
    fn is_name(&self, at: usize, on: &Lexicon) -> bool {
        let word = self.word(at);
        on.matches(&[word], &[false])
            .iter()
            .any(|found| found.entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Role(_))))
    }
}

/// "40 seats or more", "size 40 and above", "30+ songs" as "at least 40 seats".
fn or_more(text: &str, _: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    for at in 0..said.all.len() {
        // "between 10 and above", "than 10 or more" say something else.
        let bound =
            matches!(said.before(at, 1), "than" | "least" | "most" | "between" | "to" | "over" | "under" | "top")
                || said.before(at, 1) == "and" && (2..6).any(|back| said.before(at, back) == "between");
        let worded = number::count(&said.all, at).is_some_and(|(count, used)| used == 1 && count > 1);
        if said.all[at].kind != TokenKind::Number && !worded || bound {
            continue;
        }
        let number = said.slice(at, at + 1);
        if said.word(at + 1) == "+" && said.all[at].end == said.all[at + 1].start {
            return said.with(at, at + 2, &format!("at least {number}"));
        }
        for ahead in 1..=4 {
            let joint = at + ahead;
            if said.is_sign(joint) {
                break;
            }
            let up = match (said.word(joint), said.word(joint + 1)) {
                (
                    "or",
                    "more" | "above" | "over" | "higher" | "greater" | "bigger" | "larger" | "longer" | "up" | "better"
                    | "upwards" | "beyond" | "heavier" | "taller",
                )
                | ("and", "above" | "over" | "more" | "up" | "upwards" | "higher" | "bigger" | "larger") => true,
                ("or", "less" | "fewer" | "lower" | "below" | "under" | "smaller" | "shorter" | "lighter")
                | ("and", "below" | "under" | "less" | "fewer" | "lower" | "smaller") => false,
                _ => continue,
            };
            // "or more than" begins a comparison of its own.
            if matches!(said.word(joint + 2), "than" | "of") {
                break;
            }
            // "5 or more claims": what is counted stands behind.
            let unit = said.slice(at + 1, joint);
            let least = if up { "at least" } else { "at most" };
            let gap = if unit.is_empty() { "" } else { " " };
            return said.with(at, joint + 2, &format!("{least} {number}{gap}{unit}"));
        }
    }
    None
}

/// "month by month" as "by month", "shop by shop" as "by shop".
fn step_by_step(text: &str, on: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        let (one, other) = (said.before(*at, 1), said.word(at + 1));
        let after = said.word(*at) == "after" && matches!(one, "day" | "week" | "month" | "quarter" | "year");
        let known = matches!(one, "day" | "week" | "month" | "quarter" | "year" | "hour") || said.is_name(at - 1, on);
        // "of each claim by claim number" goes on with another name.
        let whole = said.is_sign(at + 2) || !continues(&said, at + 1, on);
        let each = matches!(said.before(*at, 2), "each" | "every" | "per");
        (said.word(*at) == "by" || after) && !one.is_empty() && one == other && known && whole && !each
    })?;
    // "by country, country by country" is said once; a comma before it sets nothing apart.
    said.with(at - 1, at + 1, "by").map(|text| text.replace("  ", " "))
}

/// "…, cancelled ones excluded" as "excluding cancelled ones".
fn left_out(text: &str, _: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    for end in 1..said.all.len() {
        let (last, length) = match (said.word(end), said.word(end + 1)) {
            ("excluded" | "omitted", _) => (end, 1),
            ("left" | "leaving", "out") | ("not", "included" | "counted") => (end, 2),
            _ => continue,
        };
        // What is left out stands before it, from a comma or "with" on.
        let closes = said.all.get(end + length).is_none_or(|next| matches!(next.norm.as_str(), "?" | "." | "!" | ","));
        let from = (0..last).rev().find(|at| matches!(said.word(*at), "," | "with" | "-" | ":" | "("))?;
        let to = if matches!(said.before(last, 1), "is" | "are" | "being" | "were") { last - 1 } else { last };
        let what = said.slice(from + 1, to);
        if !closes || what.is_empty() || to - from > 6 {
            continue;
        }
        return said.with(from, end + length, &format!(" excluding {what}"));
    }
    None
}

/// "best in terms of revenue" as "best by revenue"; in front it goes behind: "in terms of revenue, which shop is best?".
fn in_terms_of(text: &str, _: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (0..said.all.len()).find(|at| {
        said.word(*at) == "in" && matches!(said.word(at + 1), "terms") && said.word(at + 2) == "of"
            || said.word(*at) == "with" && said.word(at + 1) == "respect" && said.word(at + 2) == "to"
            || said.word(*at) == "measured" && said.word(at + 1) == "by"
    })?;
    let from = if said.word(at) == "measured" { at + 2 } else { at + 3 };
    // "How did Lund do in 2024 in terms of revenue?" asks for it.
    if said.word(0) == "how" && matches!(said.word(1), "did" | "does" | "do" | "is" | "are" | "was" | "were") {
        let end = said.all.iter().rposition(|token| !matches!(token.norm.as_str(), "?" | "." | "!"))? + 1;
        let plain = |at: &usize| !matches!(said.word(*at), "do" | "doing" | "perform" | "performing");
        let head: Vec<&str> = (2..at).filter(plain).map(|at| said.slice(at, at + 1)).collect();
        return Some(format!("{} of {}", said.slice(from, end), head.join(" ")));
    }
    if at > 0 {
        let unit = vocabulary::unit(said.word(from)).is_some();
        return said.with(at, from, if unit { "in" } else { "by" });
    }
    let comma = (from..said.all.len()).find(|at| said.word(*at) == ",")?;
    let what = said.slice(from, comma);
    let end = said.all.iter().rposition(|token| !matches!(token.norm.as_str(), "?" | "." | "!"))? + 1;
    Some(format!("{} by {what}", said.slice(comma + 1, end)))
}

/// "in our catalog", "on our list", "in the system": in what was asked.
fn stored(text: &str, on: &Lexicon) -> Option<String> {
    const PLACES: &[&str] = &[
        "catalog", "catalogue", "list", "lists", "system", "systems", "register", "registry", "registers", "database",
        "book", "books", "files", "file", "records", "archive", "archives", "directory", "data", "dataset", "db",
    ];
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        let own = matches!(said.word(at + 1), "our" | "the" | "my" | "your" | "this");
        matches!(said.word(*at), "in" | "on" | "from")
            && own
            && PLACES.contains(&said.word(at + 2))
            && !said.is_thing(at + 2, on)
            // "in the list price" is a name that goes on.
            && (said.is_sign(at + 3) || vocabulary::is_ordinary(said.word(at + 3)) || !continues(&said, at + 2, on))
    })?;
    said.with(at, at + 3, "").map(|text| text.replace("  ", " "))
}

/// Whether a word begins a name with the next one.
fn continues(said: &Said<'_>, at: usize, on: &Lexicon) -> bool {
    on.matches(&[said.word(at), said.word(at + 1)], &[false, false]).iter().any(|found| found.words == 2)
}

/// "the stock over all suppliers", "across all shops": of all of them.
fn over_all(text: &str, on: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        let all = usize::from(matches!(said.word(at + 2), "our" | "the"));
        matches!(said.word(*at), "over" | "across") && said.word(at + 1) == "all" && said.is_name(at + 2 + all, on)
    })?;
    (said.word(at) == "over").then(|| said.with(at, at + 1, "of"))?
}

/// "payments next to reserves": both.
fn next_to(text: &str, on: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        matches!(said.word(*at), "next" | "beside" | "alongside")
            && ends_name(&said, *at, on)
            && (said.word(at + 1) == "to"
                && starts_name(&said, at + 2 + usize::from(matches!(said.word(at + 2), "the" | "our")), on)
                || said.word(*at) != "next" && starts_name(&said, at + 1, on))
    })?;
    let to = if said.word(at) == "next" { at + 2 } else { at + 1 };
    said.with(at, to, "and")
}

/// Whether a name of a number ends there.
fn ends_name(said: &Said<'_>, to: usize, on: &Lexicon) -> bool {
    (1..=4).filter_map(|count| to.checked_sub(count).map(|from| (from, count))).any(|(from, count)| {
        let list: Vec<&str> = said.list[from..to].iter().map(String::as_str).collect();
        on.matches(&list, &vec![false; count]).iter().any(|found| found.words == count && names_number(found))
    })
}

fn names_number(found: &Match) -> bool {
    found.entries.iter().any(|entry| !entry.partial && matches!(entry.sense, Sense::Metric(_) | Sense::Field(..)))
}

/// Whether a name of a number begins there.
fn starts_name(said: &Said<'_>, at: usize, on: &Lexicon) -> bool {
    let list: Vec<&str> = said.list.get(at..).unwrap_or_default().iter().map(String::as_str).take(4).collect();
    on.matches(&list, &vec![false; list.len()]).iter().any(names_number)
}

/// "Break the sales of 1996 down by region", "group the shops by town and count them": by that.
fn broken_down(text: &str, _: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let polite = ["please", "could", "can", "you", "would", "kindly", "pls", ","];
    let from = (0..said.all.len()).find(|at| !polite.contains(&said.word(*at)))?;
    if !matches!(said.word(from), "break" | "split" | "divide" | "group") {
        return None;
    }
    let mut begin = from + 1 + usize::from(matches!(said.word(from + 1), "down" | "up"));
    while matches!(said.word(begin), "the" | "our" | "all" | "my") {
        begin += 1;
    }
    // "Split it by month" goes on from another question.
    if matches!(said.word(begin), "it" | "that" | "this" | "those" | "these" | "them") {
        return None;
    }
    let by = (begin + 1..said.all.len()).find(|at| {
        matches!(said.word(*at), "by" | "per")
            || matches!(said.word(*at), "down" | "up") && matches!(said.word(at + 1), "by" | "per")
    })?;
    let what = said.slice(begin, by);
    let group = if matches!(said.word(by), "down" | "up") { by + 1 } else { by };
    let mut end = said.all.iter().rposition(|token| !matches!(token.norm.as_str(), "?" | "." | "!"))? + 1;
    // "… and count them", "… and give me the count for each one"
    let counted = (group + 2..end).find(|at| {
        said.word(*at) == "and" && (at + 1..end).any(|at| matches!(said.word(at), "count" | "counts" | "number"))
    });
    end = counted.unwrap_or(end);
    let number = if counted.is_some() { "number of " } else { "" };
    let group = said.slice(group, end);
    (!what.is_empty()).then(|| format!("{number}{what} {group}"))
}

/// "what did people buy": whoever did it.
fn people(text: &str, on: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        said.word(*at) == "people" && matches!(said.before(*at, 1), "do" | "did" | "does" | "have" | "had")
    })?;
    if said.is_name(at, on) { None } else { said.with(at, at + 1, "") }
}

/// "phone list of the shops": their phones.
fn list_of(text: &str, on: &Lexicon) -> Option<String> {
    let said = Said::of(text);
    let at = (1..said.all.len()).find(|at| {
        said.word(*at) == "list" && said.word(at + 1) == "of" && said.is_name(at - 1, on) && !said.is_name(*at, on)
    })?;
    said.with(at, at + 1, "")
}
