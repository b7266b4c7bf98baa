//! What is wrong with a query, told so that the next try is right.

use serde_json::json;

use crate::model::error::Error;
use crate::model::query::Query;

/// Characters of a text that are shown before and after the place.
const AROUND: usize = 40;
/// Most problems that are told at once.
const MAX_PROBLEMS: usize = 12;

/// Something in a query that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The argument, and which of its texts: `filters[1]`, `time`.
    pub argument: String,
    /// Where in the text, in characters from its beginning.
    pub at: usize,
    /// What is wrong and what to write instead.
    pub message: String,
    /// The nearest right names, best first.
    pub nearest: Vec<String>,
}

/// The same within one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub at: usize,
    pub message: String,
    pub nearest: Vec<String>,
}

impl Wrong {
    pub(super) fn at(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), nearest: Vec::new() }
    }

    pub(super) fn near(self, nearest: Vec<String>) -> Self {
        Self { nearest, ..self }
    }

    pub(super) fn of(self, argument: &str) -> Problem {
        Problem { argument: argument.to_owned(), at: self.at, message: self.message, nearest: self.nearest }
    }
}

/// All problems of a query as the refusal that its caller sees: each with its argument, the place in the text after
/// `»`, what is wrong and the nearest names.
pub(crate) fn refusal(problems: &[Problem], query: &Query) -> Error {
    let told: Vec<String> =
        problems.iter().take(MAX_PROBLEMS).map(|problem| told(problem, text_of(query, &problem.argument))).collect();
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    let particulars: Vec<_> = problems
        .iter()
        .take(MAX_PROBLEMS)
        .map(|it| json!({ "argument": it.argument, "at": it.at, "message": it.message, "nearest": it.nearest }))
        .collect();
    let field = problems.first().map_or("query", |problem| problem.argument.as_str());
    let message = format!("{}{more} Change this and ask again.", told.join(" "));
    Error::invalid(field, message).with(json!({ "field": field, "problems": particulars }))
}

fn told(problem: &Problem, text: Option<&str>) -> String {
    let place = text.filter(|text| !text.is_empty()).map(|text| format!(" `{}`", marked(text, problem.at)));
    let mut message = problem.message.trim_end_matches('.').to_owned();
    if !problem.nearest.is_empty() {
        let all: Vec<String> = problem.nearest.iter().map(|name| format!("`{name}`")).collect();
        message.push_str(&format!(" (nearest: {})", all.join(", ")));
    }
    format!("{}{}: {message}.", problem.argument, place.unwrap_or_default())
}

/// The text around a place, with a mark before it.
fn marked(text: &str, at: usize) -> String {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let at = at.min(chars.len());
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(chars.len()));
    let part = |from: usize, to: usize| chars.get(from..to).unwrap_or_default().iter().collect::<String>();
    let dots = |is: bool| if is { "…" } else { "" };
    format!("{}{}»{}{}", dots(from > 0), part(from, at), part(at, to), dots(to < chars.len()))
}

/// The text that an argument names.
fn text_of<'q>(query: &'q Query, argument: &str) -> Option<&'q str> {
    let (name, number) = match argument.split_once('[') {
        Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()?),
        None => (argument, 0),
    };
    let texts = match name {
        "measures" => &query.measures,
        "dimensions" => &query.dimensions,
        "list" => &query.list,
        "filters" => &query.filters,
        "segments" => &query.segments,
        "having" => &query.having,
        "order" => &query.order,
        "per" => &query.per,
        "each" => return query.each.as_deref(),
        "time" => return query.time.as_deref(),
        "compare_to" => return query.compare_to.as_deref(),
        _ => return None,
    };
    texts.get(number).map(String::as_str)
}
