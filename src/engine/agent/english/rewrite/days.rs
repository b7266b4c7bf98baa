//! Several days of one month: "Feb 8 and 9", "June 3, 4 and 5 2024"; and two months: "in both May and June".

use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::engine::agent::english::time;

/// The question with the month said for each of the days; `None` where there are no such days.
pub(super) fn each_with_its_month(question: &str) -> Option<String> {
    let all = tokens(question);
    let is = |at: usize, words: &[&str]| all.get(at).is_some_and(|token| words.contains(&token.norm.as_str()));
    let number = |at: usize| all.get(at).filter(|token| token.kind == TokenKind::Number)?.text.parse::<u16>().ok();
    let day = |at: usize| number(at).filter(|day| (1..=31).contains(day));
    let begin = (0..all.len())
        .find(|at| all.get(*at).is_some_and(|token| time::month(&token.norm).is_some()) && day(at + 1).is_some())?;
    let mut days = vec![day(begin + 1)?];
    let mut at = begin + 2;
    loop {
        let sign = if is(at, &[","]) && is(at + 1, &["and", "or"]) {
            2
        } else {
            usize::from(is(at, &["and", "or", "&", ","]))
        };
        let Some(next) = day(at + sign).filter(|_| sign > 0) else { break };
        days.push(next);
        at += sign + 1;
    }
    let year_at = at + usize::from(is(at, &[","]));
    let year = number(year_at).filter(|year| (1900..2100).contains(year));
    let end = if year.is_some() { year_at + 1 } else { at };
    // "June 5 and 10 flights" says how many flights.
    let over = ["by", "per", "for", "in", "at", "from", "to", "each", "on", "with", "and", ",", "?", ".", "!"];
    let ended = all.get(end).is_none_or(|token| over.contains(&token.norm.as_str()));
    if days.len() < 2 || !ended {
        return None;
    }
    let month = &all.get(begin)?.text;
    let year = year.map(|year| format!(" {year}")).unwrap_or_default();
    let said: Vec<String> = days.iter().map(|day| format!("{month} {day}{year}")).collect();
    let last: &Token = all.get(end - 1)?;
    let (before, after) = (question.get(..all[begin].start)?, question.get(last.end..)?);
    Some(format!("{before}{}{after}", said.join(" and ")))
}

/// "in both May and June": each with its own "in", by which it is known for a month.
pub(super) fn both_months(question: &str) -> Option<String> {
    let all = tokens(question);
    let month = |at: usize| all.get(at).is_some_and(|token| time::month(&token.norm).is_some());
    let is = |at: usize, word: &str| all.get(at).is_some_and(|token| token.norm == word);
    let both = (0..all.len()).find(|at| is(*at, "both") && month(at + 1) && is(at + 2, "and") && month(at + 3))?;
    let (first, second) = (all.get(both + 1)?, all.get(both + 3)?);
    let (head, middle) = (question.get(..first.start)?, question.get(first.start..second.start)?);
    Some(format!("{head}in {middle}in {}", question.get(second.start..)?))
}
