//! Orders and columns that are asked for beside the question: "rank the shops by revenue, worst first", "… Show shop id
//! and amount."

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, tokens};
use crate::model::ontology::{FieldRole, Ontology};

/// Words for the number that was asked for already.
const NUMBER: &[&str] =
    &["amount", "amounts", "number", "numbers", "count", "counts", "total", "totals", "value", "values", "figure"];

/// The question in the words of a list with an order, or of groups.
pub(super) fn plainly(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let beside = beside(question, on);
    let question = beside.as_deref().unwrap_or(question);
    let plainer =
        ranked(question, on, ontology).or_else(|| shown(question, on)).or_else(|| by_name(question, on, ontology));
    plainer.or(beside)
}

/// "shops that never sold: town and opening date": what is shown of each.
fn beside(question: &str, on: &Lexicon) -> Option<String> {
    let (at, sign) = [": ", " - ", " – ", " — "].iter().find_map(|sign| Some((question.find(sign)?, sign)))?;
    let (head, tail) = (question.get(..at)?, question.get(at + sign.len()..)?);
    let tail = tail.trim_end_matches(['?', '.', '!', ' ']);
    let tail = tail.strip_suffix("please").unwrap_or(tail).trim_end_matches([',', ' ']);
    let list = folded(&tokens(tail));
    let mut at = 0;
    let mut names = 0;
    while at < list.len() {
        if matches!(list[at].as_str(), "" | "and" | "the" | "their" | "its") {
            at += 1;
            continue;
        }
        let (count, _) = name(&list[at..], on)?;
        at += count;
        names += 1;
    }
    let said = folded(&tokens(head));
    let thing = (0..said.len()).find_map(|at| {
        let (_, senses) = name(&said[at..], on)?;
        // "film Heat: year" speaks of one.
        let several = words::singular(said.get(at)?) != *said.get(at)?;
        (several && senses.iter().any(|sense| matches!(sense, Sense::Entity(_)))).then_some(at)
    });
    let number = said.iter().any(|word| matches!(word.as_str(), "how" | "number" | "many" | "by" | "per" | "top"));
    (names > 0 && thing.is_some_and(|at| at < 3) && !number).then(|| format!("{head}, with their {tail}"))
}

fn folded(all: &[Token]) -> Vec<String> {
    all.iter().map(|token| words::split(&token.text).join(" ")).collect()
}

/// The longest name that begins here, which is no value: how many words it has, and what it may be.
fn name(list: &[String], on: &Lexicon) -> Option<(usize, Vec<Sense>)> {
    let said: Vec<&str> = list.iter().map(String::as_str).take_while(|word| !word.is_empty()).collect();
    on.matches(&said, &vec![false; said.len()]).into_iter().rev().find_map(|found| {
        let named: Vec<Sense> = found
            .entries
            .into_iter()
            .filter(|entry| !entry.partial && !matches!(entry.sense, Sense::Value { .. } | Sense::Role(_)))
            .map(|entry| entry.sense)
            .collect();
        (!named.is_empty()).then_some((found.words, named))
    })
}

/// "Rank A by B": all of them, from the top; "worst first" where it is known which end is the worse.
fn ranked(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let all = tokens(question);
    let list = folded(&all);
    let begin =
        list.iter().position(|word| !matches!(word.as_str(), "please" | "pls" | "can" | "could" | "you" | ""))?;
    if matches!(list.get(begin)?.as_str(), "sort" | "order" | "arrange") {
        // "order 17" is one of the orders.
        let things = matches!(list.get(begin + 1)?.as_str(), "the" | "our" | "all" | "these") || list[begin] != "order";
        let by = list.iter().any(|word| word == "by" || word == "from");
        return if things && by { replaced(question, &all[begin], "list") } else { None };
    }
    if list.get(begin)? != "rank" {
        return None;
    }
    let Some(by) = list.iter().position(|word| word == "by") else {
        // "rank the shops from most to least sales"
        let from = list.iter().any(|word| word == "from") && list.iter().any(|word| word == "to");
        return if from { replaced(question, &all[begin], "list") } else { None };
    };
    let mut text = question.to_owned();
    let ordered = ["top", "bottom", "last", "to", "ascending", "descending", "order", "starting", "beginning"];
    match list.iter().rposition(|word| word == "first") {
        None if list[by..].iter().any(|word| ordered.contains(&word.as_str())) => {}
        None => {
            let end = all.iter().rfind(|token| !matches!(token.norm.as_str(), "?" | "." | "!"))?.end;
            text.insert_str(end, ", highest first");
        }
        Some(first) => {
            let end = first.checked_sub(1)?;
            let best = match list[end].as_str() {
                "best" => true,
                "worst" => false,
                _ => return replaced(&text, &all[begin], "list"),
            };
            let (_, senses) = name(list.get(by + 1..)?, on)?;
            let better = senses.iter().find_map(|sense| match sense {
                Sense::Metric(metric) => ontology.metrics.get(*metric)?.higher_is.clone(),
                _ => None,
            })?;
            let highest = match better.as_str() {
                "better" => best,
                "worse" => !best,
                _ => return None,
            };
            text = replaced(&text, &all[end], if highest { "highest" } else { "lowest" })?;
        }
    }
    replaced(&text, &all[begin], "list")
}

fn replaced(text: &str, token: &Token, instead: &str) -> Option<String> {
    text.get(token.start..token.end)?;
    let mut text = text.to_owned();
    text.replace_range(token.start..token.end, instead);
    Some(text)
}

/// "What is the revenue of each shop? Show shop id and amount." as "… by shop id".
fn shown(question: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(question);
    let list = folded(&all);
    let mark = (1..all.len()).rev().find(|at| {
        matches!(all[*at].norm.as_str(), "." | "?")
            && list.get(at + 1).is_some_and(|word| {
                matches!(word.as_str(), "show" | "list" | "include" | "give" | "return" | "display" | "print")
            })
    })?;
    let number = ["how", "total", "number", "average", "sum", "count"];
    if !list[..mark].iter().any(|word| number.contains(&word.as_str())) {
        return None;
    }
    let mut at = mark + 2;
    let mut columns = Vec::new();
    while at < list.len() {
        let word = list[at].as_str();
        if word.is_empty() || NUMBER.contains(&word) || matches!(word, "and" | "the" | "its" | "their" | "me") {
            at += 1;
            continue;
        }
        let (count, _) = name(&list[at..], on)?;
        columns.push(question.get(all.get(at)?.start..all.get(at + count - 1)?.end)?);
        at += count;
    }
    let head = question.get(..all[mark].start)?;
    (!columns.is_empty()).then(|| format!("{head} by {}", columns.join(" and by ")))
}

/// "… has each shop made, by name?": things are called by their names anyway.
fn by_name(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let all = tokens(question);
    let list = folded(&all);
    let last = list.iter().rposition(|word| !word.is_empty())?;
    let named = matches!(list[last].as_str(), "name" | "names") && last > 2;
    let by = last.checked_sub(1).filter(|by| named && list[*by] == "by")?;
    let each = list[..by].iter().position(|word| matches!(word.as_str(), "each" | "every"))?;
    let (_, senses) = name(list.get(each + 1..by)?, on)?;
    let called = senses.iter().any(|sense| match sense {
        Sense::Entity(d) => ontology.datasets.get(*d).is_some_and(|entity| {
            let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
            label.is_some_and(|label| label.role != FieldRole::Key && !label.datatype.is_number())
        }),
        _ => false,
    });
    if !called {
        return None;
    }
    let end = if all[by - 1].norm == "," { by - 1 } else { by };
    question.get(..all[end].start).map(str::to_owned)
}
