//! Ranges that are said otherwise: "60-minute buckets", "built in each decade".

use crate::engine::agent::english::text::token::tokens;

use super::super::parse::is_band;
use super::super::vocabulary;
use super::Words;

/// The question with ranges said as they are read.
pub(super) fn plainly(question: &str) -> Option<String> {
    let text = apart(question);
    decade_of(text.as_deref().unwrap_or(question)).or(text)
}

/// "mills built in each decade": by decade built.
fn decade_of(question: &str) -> Option<String> {
    let words = Words::of(question);
    let decade = words.find("decade").or_else(|| words.find("decades"))?;
    let mut from = decade;
    while from > 0 && matches!(words.at(from - 1), "in" | "per" | "by" | "each" | "every" | "for" | "the" | "different")
    {
        from -= 1;
    }
    let verb = from.checked_sub(1).filter(|verb| *verb > 0 && from < decade)?;
    let done = words.at(verb).ends_with("ed") || matches!(words.at(verb), "built" | "made" | "born" | "written");
    if !done {
        return None;
    }
    let be = usize::from(matches!(words.at(verb - 1), "were" | "was" | "are" | "is"));
    let (head, tail) = (words.text(0, verb - be), words.text(decade + 1, words.len()));
    Some(format!("{head} by decade {} {tail}", words.at(verb)).trim().to_owned())
}

/// The number and its unit apart.
fn apart(question: &str) -> Option<String> {
    let all = tokens(question);
    all.iter().zip(all.iter().skip(1)).find_map(|(token, next)| {
        let (number, unit) = token.text.split_once('-')?;
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let known = vocabulary::unit(unit).is_some() || matches!(unit, "dollar" | "euro" | "pound" | "point" | "year");
        (digits && known && is_band(&next.norm)).then(|| {
            let (head, tail) = (question.get(..token.start)?, question.get(token.end..)?);
            Some(format!("{head}{number} {unit}{tail}"))
        })?
    })
}
