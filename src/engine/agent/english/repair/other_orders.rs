//! Other orders in which the same is said: "LaGuardia: which hour has the most flights?", "Among the homes with a lift,
//! what is the mean rent?", "Ada Berg bought how many loaves?". They are tried where a question has no answer as it
//! stands.

use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

use super::super::vocabulary;

/// Words before what a question is about, of which only what comes behind them counts.
const FRAMES: &[&[&str]] = &[
    &["for"],
    &["among"],
    &["amongst"],
    &["of", "all"],
    &["out", "of", "all"],
    &["of"],
    &["out", "of"],
    &["looking", "only", "at"],
    &["looking", "at"],
    &["considering", "only"],
    &["considering"],
    &["counting", "only"],
    &["taking", "only"],
    &["taking"],
    &["as", "for"],
    &["regarding"],
    &["concerning"],
    &["about"],
    &["only"],
];

/// Prepositions that stay with what a question is about when it goes behind.
const PLACES: &[&str] = &["in", "on", "at", "from", "with", "without", "during", "since", "between", "before", "after"];

/// How what is asked may begin.
const ASKS: &[&str] = &[
    "how", "what", "whats", "which", "who", "whose", "when", "where", "the", "total", "average", "mean", "median",
    "number", "share", "percentage", "highest", "lowest", "calculate", "compute", "determine", "show", "give", "tell",
    "list", "find", "display", "report", "please", "id",
];

/// Words before what is asked that only ask for it.
const LEADS: &[&str] = &[
    "please", "calculate", "compute", "determine", "show", "give", "tell", "list", "find", "display", "report", "me",
    "us", "and", "then", "i", "would", "like", "want", "to", "know", "see", "id",
];

/// The question in other orders, for where it has no answer as it stands.
pub(in super::super) fn ways(question: &str) -> Vec<String> {
    let said = Said::of(question);
    framed(&said).into_iter().chain(somebody(&said)).collect()
}

/// "Ada Berg bought how many loaves?" with what is counted first.
pub(in super::super) fn inverted(question: &str) -> Option<String> {
    counted_last(&Said::of(question))
}

struct Said<'q> {
    text: &'q str,
    all: Vec<Token>,
}

impl<'q> Said<'q> {
    fn of(text: &'q str) -> Self {
        let end = |token: &Token| token.kind == TokenKind::Punct && matches!(token.norm.as_str(), "?" | "!" | ".");
        Self { text, all: tokens(text).into_iter().filter(|token| !end(token)).collect() }
    }

    fn word(&self, at: usize) -> String {
        let folded = |token: &Token| if token.text == "US" { "US".into() } else { token.norm.replace('\'', "") };
        self.all.get(at).map_or(String::new(), folded)
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| self.word(at + ahead) == *word)
    }

    fn slice(&self, from: usize, to: usize) -> &'q str {
        let (Some(first), Some(last)) = (self.all.get(from), to.checked_sub(1).and_then(|to| self.all.get(to))) else {
            return "";
        };
        if from < to { self.text.get(first.start..last.end).unwrap_or_default() } else { "" }
    }
}

/// What a question is about, said before it: behind it with "for".
fn framed(said: &Said<'_>) -> Option<String> {
    let lead = FRAMES.iter().find(|frame| said.is(0, frame)).map_or(0, |frame| frame.len());
    let place = PLACES.contains(&said.word(0).as_str());
    let sign = (1..said.all.len()).find(|at| {
        let token = &said.all[*at];
        let sets_apart = match token.norm.as_str() {
            ":" | "-" | "–" | "—" => true,
            "," => lead > 0 || place,
            _ => false,
        };
        token.kind == TokenKind::Punct && sets_apart && ASKS.contains(&said.word(at + 1).as_str())
    })?;
    let asked = ["how", "which", "what", "who", "when", "where", "list", "show", "give", "compare"];
    if lead == 0 && asked.contains(&said.word(0).as_str()) || sign <= lead {
        return None;
    }
    let mut from = sign + 1;
    while LEADS.contains(&said.word(from).as_str()) {
        from += 1;
    }
    let tail = said.slice(from, said.all.len());
    let head = said.slice(lead, sign);
    // "For every customer, …" makes a row of each.
    let each = (lead..sign).any(|at| matches!(said.word(at).as_str(), "each" | "every" | "any" | "both" | "either"));
    let sought = matches!(said.word(sign + 1).as_str(), "who" | "whose" | "which" | "when" | "where");
    let each = each && (sought || !said.is(0, &["for"]));
    if each {
        return None;
    }
    // What stands in several parts is more than a frame.
    let inner = (from..said.all.len()).any(|at| matches!(said.word(at).as_str(), ":" | ";"));
    if tail.is_empty() || inner {
        return None;
    }
    Some(if place && lead == 0 { format!("{tail} {head}") } else { format!("{tail} for {head}") })
}

/// "Ada Berg bought how many loaves?", "a film has how many actors?": with what is counted first.
fn counted_last(said: &Said<'_>) -> Option<String> {
    let many = (1..said.all.len()).find(|at| {
        said.word(*at) == "how" && matches!(said.word(at + 1).as_str(), "many" | "much") && *at + 2 < said.all.len()
    })?;
    let plain = said.all[..many].iter().all(|token| token.kind != TokenKind::Punct)
        && !matches!(
            said.word(0).as_str(),
            "how"
                | "what"
                | "which"
                | "who"
                | "when"
                | "where"
                | "show"
                | "list"
                | "give"
                | "tell"
                | "in"
                | "on"
                | "at"
                | "for"
                | "and"
                | "or"
                | "by"
                | "of"
                | "with"
        )
        && said.word(many - 1) != "and";
    let verb = said.word(many - 1);
    let what = said.slice(many, said.all.len());
    let who = said.slice(0, many - 1);
    if !plain || who.is_empty() {
        return None;
    }
    match verb.as_str() {
        "has" | "have" | "had" => {
            let does = if verb == "have" { "do" } else { "does" };
            let did = if verb == "had" { "did" } else { does };
            // "on average" is said of each one, and stays behind.
            let (what, end) = match what.strip_suffix(" on average") {
                Some(what) => (what, " on average"),
                None => (what, ""),
            };
            Some(format!("{what} {did} {who} have{end}"))
        }
        verb if vocabulary::is_relation(verb) || verb.ends_with("ed") => Some(format!("{what} {who} {verb}")),
        _ => None,
    }
}

/// "Have we got anybody in Lund?": who is there.
fn somebody(said: &Said<'_>) -> Option<String> {
    let at = (0..said.all.len().min(6))
        .find(|at| matches!(said.word(*at).as_str(), "anybody" | "anyone" | "somebody" | "someone"))?;
    let asks = [
        &["have", "we", "got"][..],
        &["do", "we", "have"],
        &["did", "we", "have"],
        &["is", "there"],
        &["was", "there"],
        &["are", "there"],
    ];
    asks.iter().any(|asks| said.is(0, asks) && asks.len() == at).then(|| said.slice(at + 1, said.all.len()).to_owned())
}
