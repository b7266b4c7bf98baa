//! A question as items: phrases that the lexicon knows, numbers, times, quoted texts, and words of the grammar. Where
//! phrases overlap, those that explain most of the question win.

pub(super) mod counted;
pub(super) mod deeds;
pub(super) mod endpoints;
mod everyday;
pub(super) mod extent;
mod letters;
pub(super) mod name_parts;
pub(super) mod years;

use std::ops::Range;

use crate::engine::agent::english::lexicon::{Entry, GENERIC, Lexicon, Sense, words};
use crate::engine::agent::english::text::number::{self, Quantity};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::engine::agent::english::time::{self, TimePhrase};
use crate::model::ontology::Calendar;

use super::vocabulary;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Word,
    Number(Quantity),
    Quoted,
    Time(TimePhrase),
    Punct,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// As written.
    pub text: String,
    /// Folded words with spaces between.
    pub norm: String,
    pub kind: Kind,
    /// What it may stand for; empty when the lexicon does not know it.
    pub entries: Vec<Entry>,
    /// The right spelling, where it was misspelt.
    pub corrected: Option<String>,
}

impl Item {
    pub(super) fn is(&self, word: &str) -> bool {
        self.norm == word && !matches!(self.kind, Kind::Quoted)
    }

    pub(super) fn any(&self, words: &[&str]) -> bool {
        !matches!(self.kind, Kind::Quoted) && words.contains(&self.norm.as_str())
    }

    /// Whether the lexicon knows it as more than values.
    pub(super) fn is_named(&self) -> bool {
        self.entries.iter().any(|entry| !matches!(entry.sense, Sense::Value { .. }))
    }

    pub(super) fn has_value(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.sense, Sense::Value { .. }))
    }
}

/// One way to read some tokens.
struct Choice {
    range: Range<usize>,
    weight: f32,
    item: Item,
}

/// Signs that only set phrases apart.
fn is_silent(token: &Token) -> bool {
    token.kind == TokenKind::Punct
        && matches!(token.norm.as_str(), "?" | "!" | "." | "\"" | "'" | "’" | "(" | ")" | ":" | "…")
}

/// The items of a question.
pub(super) fn items(question: &str, on: &Lexicon, now: jiff::civil::DateTime, calendar: &Calendar) -> Vec<Item> {
    let all = tokens(question);
    // "sale 7: shop and customer" does not speak of seven shops, and what is behind "Rye Loaf:" is a list.
    let named = |at: usize| all[at].kind == TokenKind::Number || at > 0 && all[at].text.starts_with(char::is_uppercase);
    let colon = |at: usize| all[at].is(":") && at.checked_sub(1).is_some_and(named);
    let keep: Vec<bool> = (0..all.len()).map(|at| !is_silent(&all[at]) || colon(at)).collect();
    let tokens: Vec<Token> = all.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(token, _)| token).collect();
    let folded: Vec<Vec<String>> = tokens.iter().map(|token| words::split(&token.text)).collect();
    let shouted = tokens.iter().all(|token| !token.text.chars().any(char::is_lowercase));
    let mut choices: Vec<Vec<Choice>> = (0..tokens.len()).map(|_| Vec::new()).collect();
    for (at, token) in tokens.iter().enumerate() {
        choices[at].push(plain(&tokens, at, &folded[at].join(" ")));
        if token.kind != TokenKind::Quoted
            && let Some((quantity, used)) = number::number(&tokens, at).filter(|_| !ambiguous_number(token))
        {
            let item = made(question, &tokens, at..at + used, Kind::Number(quantity));
            choices[at].push(Choice { range: at..at + used, weight: 0.9 * units(used), item });
        }
        phrases(question, &tokens, &folded, at, shouted, on, &mut choices[at]);
    }
    for found in time::find(&tokens, now, calendar) {
        let range = found.tokens.clone();
        if range.is_empty() || range.end > tokens.len() {
            continue;
        }
        let item = made(question, &tokens, range.clone(), Kind::Time(found.phrase));
        let weight = 0.98 * units(range.len()) + 0.05;
        choices[range.start].push(Choice { range, weight, item });
    }
    let mut items = best(choices, tokens.len());
    letters::settle(&mut items);
    items
}

fn units(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

/// "one" and "a" are seldom numbers, "second" is an ordinal or a unit.
fn ambiguous_number(token: &Token) -> bool {
    matches!(token.norm.as_str(), "one" | "a" | "an" | "single" | "couple" | "few" | "half" | "couple of")
}

fn made(question: &str, tokens: &[Token], range: Range<usize>, kind: Kind) -> Item {
    let (start, end) = (tokens[range.start].start, tokens[range.end - 1].end);
    let text = question.get(start..end).unwrap_or_default().to_owned();
    let norm = words::split(&text).join(" ");
    Item { text, norm, kind, entries: Vec::new(), corrected: None }
}

/// A token on its own, without the lexicon.
fn plain(tokens: &[Token], at: usize, folded: &str) -> Choice {
    let token = &tokens[at];
    let kind = match token.kind {
        TokenKind::Quoted => Kind::Quoted,
        TokenKind::Punct => Kind::Punct,
        TokenKind::Word | TokenKind::Number => Kind::Word,
    };
    let weight = match kind {
        Kind::Quoted => 0.9,
        Kind::Punct => 0.1,
        _ if vocabulary::is_ordinary(folded) => 0.75,
        _ => -1.0,
    };
    let norm = if kind == Kind::Punct { token.norm.clone() } else { folded.to_owned() };
    let item = Item { text: token.text.clone(), norm, kind, entries: Vec::new(), corrected: None };
    Choice { range: at..at + 1, weight, item }
}

fn phrases(
    question: &str,
    tokens: &[Token],
    folded: &[Vec<String>],
    at: usize,
    shouted: bool,
    on: &Lexicon,
    choices: &mut Vec<Choice>,
) {
    // A sign begins no name.
    if tokens[at].kind == TokenKind::Punct && folded[at].is_empty() && tokens[at].norm != "#" {
        return;
    }
    // "I'd like" is no id.
    if tokens[at].text.contains(['\'', '’']) && vocabulary::is_filler(&folded[at].join(" ")) {
        return;
    }
    // A token may be several words ("AC/DC"); a phrase ends where a token does.
    let mut list: Vec<&str> = Vec::new();
    let mut fuzzy: Vec<bool> = Vec::new();
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for (token_at, token) in tokens.iter().enumerate().skip(at).take(12) {
        let inner = token.kind == TokenKind::Quoted && token_at > at;
        let sign = token.kind == TokenKind::Punct && !matches!(token.norm.as_str(), "&" | "-" | "/" | "+" | "#");
        if inner || sign {
            break;
        }
        for word in &folded[token_at] {
            list.push(word);
            fuzzy.push(
                token.kind == TokenKind::Word
                    && !vocabulary::is_ordinary(word)
                    && !vocabulary::is_ordinary(&words::singular(word)),
            );
        }
        ends.push((list.len(), token_at + 1));
        if token.kind == TokenKind::Quoted {
            break;
        }
    }
    let mut matches = on.matches(&list, &fuzzy);
    let mut shorter: Option<(usize, Vec<Entry>)> = None;
    for found in &mut matches {
        // "end date" may be the end of something, too, not only the last words of another name.
        let last = list[..found.words].last().map(|word| words::singular(word)).unwrap_or_default();
        if found.words > 1
            && GENERIC.contains(&last.as_str())
            && let Some((_, entries)) = shorter.as_ref().filter(|(count, _)| count + 1 == found.words)
        {
            for entry in entries.iter().filter(|entry| !entry.partial && matches!(entry.sense, Sense::Field(..))) {
                let Sense::Field(of, _) = entry.sense else { continue };
                let own = |known: &Entry| !known.partial && matches!(known.sense, Sense::Field(d, _) if d == of);
                let cost = if found.entries.iter().any(own) { 0.15 } else { 0.05 };
                if found.entries.iter().all(|known| known.sense != entry.sense) {
                    found.entries.push(Entry { quality: entry.quality - cost, ..entry.clone() });
                }
            }
        }
        shorter = Some((found.words, found.entries.clone()));
    }
    for found in matches {
        let Some((_, end)) = ends.iter().find(|(words, _)| *words == found.words) else { continue };
        let range = at..*end;
        // "losses: claims" and "orders (status" are no names, but a value may have such a sign in it.
        let parted = is_parted(question, &tokens[range.clone()]);
        let value = |entry: &Entry| matches!(entry.sense, Sense::Value { .. });
        if parted && !found.entries.iter().any(value) {
            continue;
        }
        if range.len() > 1 && (is_share(tokens, &range) || is_mean_count(tokens, &range, &list, found.words, on)) {
            continue;
        }
        // "which shop made the most bread" asks for the shop, and not for its maker.
        if range.len() > 1 && is_deed(tokens, &range, &list[..found.words], &found.entries) {
            continue;
        }
        // "date of order 7" is the date of one of them.
        let of = list[..found.words].iter().rposition(|word| *word == "of").filter(|of| *of > 0);
        let one = tokens.get(*end).is_some_and(|next| next.kind == TokenKind::Number);
        if of.is_some_and(|of| one && is_thing(&list[of + 1..found.words], on)) {
            continue;
        }
        // "passes held by Ada" is not "pass holder".
        let derived = found.entries.iter().all(|entry| entry.quality < 0.96);
        if derived
            && range.len() > 1
            && is_done(&list, found.words)
            && tokens.get(*end).is_some_and(|next| next.is("by"))
        {
            continue;
        }
        // "claims per policy" is no part of "claims per policy holder".
        let of = |entry: &Entry| {
            is_metric(entry) || matches!(entry.sense, Sense::Field(..)) && list[..found.words].contains(&"of")
        };
        if range.len() > 1 && goes_on(&list, found.words, on) && found.entries.iter().all(of) {
            continue;
        }
        // "customers from" before a place, though a role may be called so, begins with the customers themselves.
        if range.len() > 1 && found.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_))) {
            let place = matches!(list[found.words - 1], "from" | "in" | "at" | "to" | "with");
            let first = on.matches(&list[..found.words - 1], &vec![false; found.words - 1]);
            if place
                && first.iter().any(|one| one.words + 1 == found.words && one.entries.iter().any(Entry::is_whole_thing))
            {
                continue;
            }
        }
        // "customers who bought", as the name of a number, is one where they are counted.
        let clause = list[..found.words].iter().any(|word| matches!(*word, "who" | "that"));
        if clause && found.entries.iter().any(|entry| is_metric(entry) && !entry.partial) && !is_counted(tokens, at) {
            continue;
        }
        let mut item = made(question, tokens, range.clone(), Kind::Word);
        let quoted = tokens[at].kind == TokenKind::Quoted;
        if quoted {
            item.kind = Kind::Quoted;
            item.text = tokens[at].text.clone();
        }
        item.corrected = found.corrected;
        item.entries = found.entries;
        if parted {
            item.entries.retain(value);
        }
        if !quoted {
            let ordinary = list[..found.words].iter().all(|word| vocabulary::is_ordinary(word));
            let numeric = list[..found.words].iter().all(|word| word.chars().all(|c| c.is_ascii_digit()));
            let marked = tokens[range.clone()].iter().all(|token| is_code(&token.text, shouted));
            let capital = at > 0
                && !shouted
                && tokens[range.clone()].iter().all(|token| token.text.starts_with(char::is_uppercase));
            // Values that are everyday words ("IN", "All") or numbers need a sign that they are meant.
            if ordinary
                && !marked
                && !(capital && range.len() > 1)
                && !(capital && found.words == 1 && list[0].len() > 3)
            {
                let place = everyday::Place { tokens, folded, range: &range, on };
                item.entries.retain(|entry| place.is_meant(entry));
            }
            // "the holder", written small, is the part that someone plays, whoever has that name.
            let part = |entry: &Entry| matches!(entry.sense, Sense::Role(_)) && entry.quality > 0.95;
            if !marked && !ordinary && tokens[at].text.starts_with(char::is_lowercase) && item.entries.iter().any(part)
            {
                item.entries.retain(|entry| !matches!(entry.sense, Sense::Value { .. }));
            }
            // "length in seconds" asks for a unit, whatever is called so.
            let unit = found.words == 1
                && vocabulary::unit(list[0]).is_some()
                && at.checked_sub(1).is_some_and(|before| tokens[before].norm == "in")
                && tokens[at].text.chars().all(char::is_lowercase);
            if unit {
                item.entries.retain(|entry| !matches!(entry.sense, Sense::Value { .. }));
            }
            let short = list[..found.words].iter().map(|word| word.len()).sum::<usize>() < 3;
            if short && !marked && tokens[at].text.chars().all(char::is_lowercase) {
                item.entries.retain(|entry| !matches!(entry.sense, Sense::Value { .. }));
            }
            if numeric {
                if let Some(choice) = choices
                    .iter_mut()
                    .find(|choice| choice.range == range && matches!(choice.item.kind, Kind::Number(_)))
                {
                    choice.item.entries = std::mem::take(&mut item.entries);
                }
                continue;
            }
        }
        if is_clause(&list[..found.words], tokens, &range, &item.entries) {
            continue;
        }
        let Some(quality) = item.entries.first().map(|entry| entry.quality) else { continue };
        let single = range.len() == 1 && vocabulary::is_ordinary(list[0]);
        let weight = if single && item.entries.iter().all(|entry| entry.partial) {
            0.7
        } else {
            // "of suppliers" is rather "suppliers" after an "of" that means something.
            let joining = range.len() > 1
                && matches!(
                    list[0],
                    "of" | "by" | "in" | "to" | "from" | "at" | "on" | "for" | "with" | "the" | "a" | "per"
                );
            quality * units(range.len()) + 0.2 * units(range.len() - 1) - if joining { 0.45 } else { 0.0 }
        };
        choices.push(Choice { range, weight, item });
    }
}

/// Whether a sign that ends a part of a sentence stands between tokens.
fn is_parted(question: &str, tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        let gap = question.get(pair[0].end..pair[1].start).unwrap_or_default();
        // "No. of loaves" is one name, "… in 2019. Show the names" are two sentences.
        let sentence = gap.starts_with(". ") && pair[1].text.starts_with(char::is_uppercase);
        gap.contains([':', '(', ')', '?', '!', ';']) || sentence
    })
}

/// Whether a name such as "percentage of late sales" is a share in words here: a clause or a verb after it says which
/// part of them is meant.
fn is_share(tokens: &[Token], range: &Range<usize>) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.norm.as_str());
    let part = matches!(word(range.start), "percentage" | "percent" | "share" | "proportion" | "fraction" | "%");
    let asked = range.start.checked_sub(1).is_some_and(|before| matches!(word(before), "what" | "which"));
    let next = word(range.end);
    part && word(range.start + 1) == "of"
        && (matches!(next, "were" | "are" | "that" | "which" | "who" | "have" | "had" | "come" | "came" | "did" | "do")
            || asked && matches!(next, "is" | "was" | "has" | "comes"))
}

/// Whether the last of some words is a verb with "the most" or "last" behind it: by its form alone it may be part of a name.
fn is_deed(tokens: &[Token], range: &Range<usize>, list: &[&str], entries: &[Entry]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.norm.as_str());
    let most = word(range.end) == "the"
        && matches!(word(range.end + 1), "most" | "fewest" | "least" | "largest" | "highest" | "biggest" | "lowest");
    let when = matches!(word(range.end), "last" | "first" | "latest" | "earliest")
        || matches!((word(range.end), word(range.end + 1)), ("most" | "least", "recently"));
    (most || when)
        && list.last().is_some_and(|last| vocabulary::is_relation(last))
        && entries.iter().all(|entry| entry.partial || entry.quality <= 1.0 - words::ENDING)
}

/// Whether some words are the name of a thing.
fn is_thing(list: &[&str], on: &Lexicon) -> bool {
    on.matches(list, &vec![false; list.len()])
        .iter()
        .any(|found| found.words == list.len() && found.entries.iter().any(Entry::is_whole_thing))
}

/// Whether some words end with what was done to the thing that they begin with, and are not a name as they are.
fn is_done(list: &[&str], count: usize) -> bool {
    let last = list.get(count.saturating_sub(1)).copied().unwrap_or_default();
    words::is_irregular(last)
}

fn is_metric(entry: &Entry) -> bool {
    matches!(entry.sense, Sense::Metric(_))
}

/// Whether the last of some words begins a name of a thing with the word after them.
fn goes_on(list: &[&str], count: usize, on: &Lexicon) -> bool {
    let Some(tail) = list.get(count.saturating_sub(1)..=count) else { return false };
    on.matches(tail, &[false, false])
        .iter()
        .any(|found| found.words == 2 && found.entries.iter().any(Entry::is_whole_thing))
}

/// Whether the words before a place ask for a number of what comes.
fn is_counted(tokens: &[Token], at: usize) -> bool {
    let before =
        |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.norm.as_str());
    matches!((before(2), before(1)), ("how", "many") | ("number" | "count", "of"))
}

/// Whether a name such as "average order" is the mean of a number here: "average orders per customer".
fn is_mean_count(tokens: &[Token], range: &Range<usize>, list: &[&str], count: usize, on: &Lexicon) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.norm.as_str());
    let (Some(first), Some(last)) = (list.first(), list.get(count - 1)) else { return false };
    let each = matches!(word(range.end), "per" | "each" | "every")
        || word(range.end) == "for" && matches!(word(range.end + 1), "each" | "every" | "a");
    each && matches!(*first, "average" | "avg" | "mean")
        && words::singular(last) != *last
        && on
            .matches(&list[1..count], &vec![false; count - 1])
            .iter()
            .any(|found| found.words == count - 1 && found.entries.iter().any(Entry::is_whole_thing))
}

/// "customers who bought" before what they bought is a thing and a condition on it, although a metric may have the name;
/// but not where a number of them is asked for.
fn is_clause(words: &[&str], tokens: &[Token], range: &Range<usize>, entries: &[Entry]) -> bool {
    let inner = words.iter().skip(1).any(|word| matches!(*word, "who" | "that" | "which"));
    let counted = range.start.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|before| before.norm == "many")
        || range.start > 1 && tokens[range.start - 1].norm == "of" && tokens[range.start - 2].norm == "number";
    // "towns served by only two lines" says a number of lines, although "towns served" may be one of towns.
    let next = |ahead: usize| tokens.get(range.end + ahead).map_or("", |token| token.norm.as_str());
    let few = matches!(next(1), "only" | "just" | "exactly" | "at" | "more" | "fewer" | "less" | "over");
    let bounded = few || tokens.get(range.end + 1).is_some_and(|token| token.kind == TokenKind::Number);
    let passive =
        words.len() > 1 && words.last().is_some_and(|word| word.ends_with("ed")) && next(0) == "by" && bounded;
    (inner || passive)
        && !counted
        && range.end < tokens.len()
        && !entries.is_empty()
        && entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_)))
}

/// Written as codes are: in capitals, or with figures in it.
fn is_code(text: &str, shouted: bool) -> bool {
    let capitals = !shouted && text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    capitals || text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(char::is_alphabetic)
}

/// The items that weigh most together, in order.
fn best(choices: Vec<Vec<Choice>>, count: usize) -> Vec<Item> {
    let mut weights = vec![f32::NEG_INFINITY; count + 1];
    let mut picks: Vec<Option<usize>> = vec![None; count];
    weights[count] = 0.0;
    for at in (0..count).rev() {
        for (pick, choice) in choices[at].iter().enumerate() {
            let weight = choice.weight + weights[choice.range.end];
            if weight > weights[at] {
                weights[at] = weight;
                picks[at] = Some(pick);
            }
        }
    }
    let mut items = Vec::new();
    let mut at = 0;
    let mut choices: Vec<Vec<Option<Choice>>> =
        choices.into_iter().map(|list| list.into_iter().map(Some).collect()).collect();
    while at < count {
        let Some(choice) = picks[at].and_then(|pick| choices[at][pick].take()) else { break };
        at = choice.range.end;
        items.push(choice.item);
    }
    items
}
