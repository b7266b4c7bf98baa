//! Misspelt words of the grammar and names of months, put right before a question is read: "mnay", "nummber",
//! "Ocotber". Words that the ontology or its values know are never touched.

use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

use super::super::vocabulary;

/// Words that questions are built of. Those that are one letter away from another everyday word are left out.
const WORDS: &[&str] = &[
    "number", "many", "much", "average", "total", "count", "which", "where", "highest", "lowest", "largest",
    "smallest", "longest", "shortest", "cheapest", "latest", "oldest", "newest", "busiest", "month", "monthly",
    "quarter", "quarterly", "yearly", "weekly", "annual", "percentage", "percent", "compare", "compared", "without",
    "between", "during", "since", "before", "after", "never", "except", "excluding", "median", "maximum", "minimum",
    "distinct", "different", "something", "anything", "everything", "nothing", "least", "fewer", "cumulative",
    "growth", "january", "february", "april", "june", "july", "august", "september", "october", "november", "december",
    "their", "year", "years", "week", "weeks", "days", "hours", "minutes", "months", "quarters", "longer", "shorter",
    "higher", "lower", "greater", "exactly", "second", "third", "share", "ratio", "please", "other", "under", "above",
    "below", "first",
];

/// Misspelt words that are one letter away from several.
const KNOWN: &[(&str, &str)] = &[
    ("ther", "their"),
    ("thier", "their"),
    ("teh", "the"),
    ("hte", "the"),
    ("adn", "and"),
    ("nad", "and"),
    ("wich", "which"),
    ("whch", "which"),
    ("wiht", "with"),
    ("whit", "with"),
    ("waht", "what"),
    ("hwo", "how"),
    ("howmany", "how many"),
    ("howmuch", "how much"),
    ("alot", "a lot"),
    ("yaer", "year"),
    ("yera", "year"),
    ("mnth", "month"),
    ("avrage", "average"),
    ("avarage", "average"),
    ("averge", "average"),
    ("agerage", "average"),
    ("recieved", "received"),
];

/// What people write short.
const SHORT: &[(&str, &str)] = &[
    ("rev", "revenue"),
    ("qty", "quantity"),
    ("amt", "amount"),
    ("cust", "customer"),
    ("custs", "customers"),
    ("emp", "employee"),
    ("emps", "employees"),
    ("inv", "invoice"),
    ("addr", "address"),
    ("tel", "phone"),
    ("dob", "birth date"),
    ("mgr", "manager"),
    ("prod", "product"),
    ("loc", "location"),
    ("temp", "temperature"),
    ("dist", "distance"),
    ("dep", "departure"),
    ("arr", "arrival"),
    ("val", "value"),
    ("pct", "percent"),
    ("yr", "year"),
    ("yrs", "years"),
    ("mth", "month"),
    ("mths", "months"),
    ("qtr", "quarter"),
    ("wk", "week"),
    ("wks", "weeks"),
    ("nr", "number"),
    ("lat", "latitude"),
    ("lng", "longitude"),
    ("lon", "longitude"),
];

/// A question with its misspelt words put right, and each of them with the right one.
pub(in super::super) fn corrected(question: &str, on: &Lexicon) -> (String, Vec<(String, String)>) {
    let mut text = question.to_owned();
    let mut found = Vec::new();
    let all = tokens(question);
    // The replaced words stand behind the ones that are still to be looked at.
    for (at, token) in all.iter().enumerate().rev().filter(|(_, token)| token.kind == TokenKind::Word) {
        if token.norm == "then" && compares(at.checked_sub(1).and_then(|before| all.get(before))) {
            text.replace_range(token.start..token.end, "than");
            found.push((token.text.clone(), "than".to_owned()));
            continue;
        }
        if let Some(whole) = contracted(&token.norm) {
            text.replace_range(token.start..token.end, &whole);
            continue;
        }
        let written = question.get(token.start..token.end).unwrap_or_default();
        let word = words::fold(written);
        let plain = written.chars().all(|c| c.is_ascii_alphabetic());
        if !plain || vocabulary::is_ordinary(&word) || on.knows(&word) {
            continue;
        }
        let code = written.len() > 1 && !written.chars().any(char::is_lowercase);
        let known = |list: &'static [(&str, &'static str)]| {
            list.iter().find(|(wrong, _)| *wrong == word).map(|(_, right)| *right)
        };
        let short = known(SHORT)
            .filter(|right| right.split(' ').all(|word| vocabulary::is_ordinary(word) || is_named(word, on)));
        let meant = || WORDS.iter().copied().find(|right| !code && is_meant(&word, right));
        let Some(right) = short.or_else(|| known(KNOWN)).or_else(meant) else { continue };
        text.replace_range(token.start..token.end, right);
        found.push((written.to_owned(), (*right).to_owned()));
    }
    found.reverse();
    (text, found)
}

/// A question with "average" for "avg"; `None` where it is not said.
pub(in super::super) fn with_average(question: &str) -> Option<String> {
    let mut text = question.to_owned();
    let short = |token: &&Token| token.kind == TokenKind::Word && token.norm == "avg";
    // The replaced words stand behind the ones that are still to be looked at.
    for token in tokens(question).iter().rev().filter(short) {
        text.replace_range(token.start..token.end, "average");
    }
    (text != question).then_some(text)
}

/// Whether a word is one of a name, not only a value.
fn is_named(word: &str, on: &Lexicon) -> bool {
    let found = on.matches(&[word], &[false]);
    let value = |entry: &Entry| matches!(entry.sense, Sense::Value { .. });
    on.knows(word) && (found.is_empty() || !found.iter().flat_map(|found| &found.entries).all(value))
}

/// "what'd" as "what did", "we've" as "we have".
fn contracted(word: &str) -> Option<String> {
    let (first, ending) = word.split_once('\'')?;
    let asks = matches!(first, "what" | "how" | "who" | "where" | "when" | "which");
    let subject = matches!(first, "we" | "you" | "they" | "i");
    let whole = match ending {
        "d" if asks => "did",
        "re" if asks || subject => "are",
        "ve" if asks || subject => "have",
        _ => return None,
    };
    Some(format!("{first} {whole}"))
}

/// Whether a word compares two things: "longer then 5" says "than".
fn compares(before: Option<&Token>) -> bool {
    let Some(before) = before.map(|token| token.norm.as_str()) else { return false };
    vocabulary::comparative(before).is_some()
        || matches!(before, "more" | "less" | "fewer" | "higher" | "lower" | "greater" | "older" | "newer" | "later")
}

/// Whether a word is another one with two neighbours swapped, or with one letter too many or too few inside. A letter
/// in place of another makes too many other words.
fn is_meant(word: &str, right: &str) -> bool {
    let ends = |word: &str| (word.chars().next(), word.chars().next_back());
    let swapped = word.len() == right.len();
    let long = word.len() >= if swapped { 4 } else { 5 };
    long && ends(word) == ends(right)
        && strsim::osa_distance(word, right) == 1
        && (!swapped || strsim::levenshtein(word, right) == 2)
}
