//! What is said once for several: "gross and net sales", "lowest and highest price", "with and without a lift". It is
//! written out before the question is read.

use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::model::ontology::{DataType, Ontology};

/// The question with what is said once written out.
pub(super) fn written_out(question: &str, on: &Lexicon, ontology: &Ontology) -> String {
    let mut text = question.to_owned();
    for rule in [aggregates, heads, owners] {
        // As often as there may be names in a list.
        for _ in 0..6 {
            let Some(other) = rule(&text, on) else { break };
            text = other;
        }
    }
    either_way(&text, on, ontology).unwrap_or(text)
}

fn folded(tokens: &[Token]) -> Vec<String> {
    tokens
        .iter()
        .map(|token| match token.kind {
            TokenKind::Punct => token.norm.clone(),
            TokenKind::Quoted => String::new(),
            _ => words::split(&token.text).join(" "),
        })
        .collect()
}

fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "," | "&" | "vs" | "versus" | "or")
}

/// The longest name of something that is no value, from here on: how many words it has, and what it may be.
fn name(list: &[String], on: &Lexicon) -> Option<(usize, Vec<Entry>)> {
    let said: Vec<&str> = list.iter().map(String::as_str).take_while(|word| !word.is_empty()).collect();
    let mut found = on.matches(&said, &vec![false; said.len()]);
    while let Some(longest) = found.pop() {
        let named = |entry: &Entry| !entry.partial && !matches!(entry.sense, Sense::Value { .. } | Sense::Role(_));
        let entries: Vec<Entry> = longest.entries.into_iter().filter(named).collect();
        if !entries.is_empty() {
            return Some((longest.words, entries));
        }
    }
    None
}

/// "lowest, highest and average price" as "minimum price, maximum price and average price".
fn aggregates(text: &str, on: &Lexicon) -> Option<String> {
    const WORDS: &[(&str, &str)] = &[
        ("lowest", "minimum"),
        ("smallest", "minimum"),
        ("minimum", "minimum"),
        ("min", "minimum"),
        ("highest", "maximum"),
        ("largest", "maximum"),
        ("maximum", "maximum"),
        ("max", "maximum"),
        ("average", "average"),
        ("mean", "average"),
        ("avg", "average"),
        ("median", "median"),
        ("total", "total"),
    ];
    let all = tokens(text);
    let list = folded(&all);
    let of = |word: &str| WORDS.iter().find(|(said, _)| *said == word).map(|(_, means)| *means);
    for from in 0..list.len() {
        let mut said = Vec::new();
        let mut at = from;
        while let Some(function) = list.get(at).and_then(|word| of(word)) {
            said.push(function);
            at += 1;
            let joint = at;
            while list.get(at).is_some_and(|word| is_joint(word) || word == "the") {
                at += 1;
            }
            if at == joint {
                break;
            }
        }
        // The last of them may be the beginning of a name: "average price".
        let Some((words, _)) = name(list.get(at..)?, on).filter(|_| said.len() > 1) else { continue };
        let (start, end) = (all.get(from)?.start, all.get(at + words - 1)?.end);
        let noun = text.get(all.get(at)?.start..end)?.to_owned();
        let parts: Vec<String> = said.iter().map(|function| format!("{function} {noun}")).collect();
        let mut text = text.to_owned();
        text.replace_range(start..end, &parts.join(" and "));
        return Some(text);
    }
    None
}

/// "gross and net sales" as "gross sales and net sales", where both are known and "gross" alone is not.
fn heads(text: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list = folded(&all);
    for at in 0..list.len() {
        let mut next = at + 1;
        while list.get(next).is_some_and(|word| is_joint(word)) {
            next += 1;
        }
        // "open and close date": "open" alone is a condition.
        let known = list.get(at..=at).and_then(|word| name(word, on)).map(|(_, entries)| entries).unwrap_or_default();
        let named = known.iter().any(|entry| !matches!(entry.sense, Sense::Segment(_)));
        if next == at + 1 || list[at].is_empty() || named {
            continue;
        }
        let Some((count, _)) = list.get(next..).and_then(|rest| name(rest, on)).filter(|(count, _)| *count > 1) else {
            continue;
        };
        let shared = (1..count).find_map(|own| {
            let mut whole = vec![list[at].clone()];
            whole.extend_from_slice(&list[next + own..next + count]);
            name(&whole, on).filter(|(known, _)| *known == whole.len()).map(|_| own)
        });
        if let Some(own) = shared {
            let noun = text.get(all[next + own].start..all[next + count - 1].end)?.to_owned();
            let mut text = text.to_owned();
            text.insert_str(all[at].end, &format!(" {noun}"));
            return Some(text);
        }
    }
    None
}

/// "customer names and points" as "customer names and customer points", where both are known.
fn owners(text: &str, on: &Lexicon) -> Option<String> {
    let all = tokens(text);
    let list = folded(&all);
    let whole = |words: &[String], thing: bool| {
        let is = |entry: &Entry| match entry.sense {
            Sense::Entity(_) => thing,
            Sense::Field(..) => !thing,
            _ => false,
        };
        name(words, on).is_some_and(|(count, entries)| count == words.len() && entries.iter().any(is))
    };
    for at in 0..list.len() {
        for own in 1..=2 {
            let Some(owner) = list.get(at..at + own).filter(|owner| whole(owner, true)) else { continue };
            let Some(first) = list.get(at..).and_then(|rest| name(rest, on)).filter(|(count, _)| *count > own) else {
                continue;
            };
            let mut next = at + first.0;
            let joint = next;
            while list.get(next).is_some_and(|word| matches!(word.as_str(), "and" | "," | "&")) {
                next += 1;
            }
            let Some(other) = list.get(next).filter(|_| next > joint) else { continue };
            let mut said = owner.to_vec();
            said.push(other.clone());
            let plain = whole(std::slice::from_ref(other), false) && !whole(std::slice::from_ref(other), true);
            if plain && whole(&said, false) {
                let owner = text.get(all[at].start..all[at + own - 1].end)?;
                let mut text = text.to_owned();
                text.insert_str(all[next].start, &format!("{owner} "));
                return Some(text);
            }
        }
    }
    None
}

/// "with and without a lift" as "by lift", where that is a field of yes and no. "Does a lift matter? … with and
/// without one" names it before.
fn either_way(text: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let mut all = tokens(text);
    let mut list = folded(&all);
    let mut text = text.to_owned();
    let end = list.iter().position(|word| word == "?")?;
    let asked = matches!(list.first().map(String::as_str), Some("does" | "do"))
        && list[..end].last().is_some_and(|word| matches!(word.as_str(), "matter" | "count" | "difference"))
        && end + 1 < list.len();
    let before = if asked {
        let from = 1 + usize::from(matches!(list[1].as_str(), "a" | "an" | "the" | "having"));
        let noun = text.get(all[from].start..all[end].start).unwrap_or_default();
        let noun = noun.split_whitespace().next().unwrap_or_default().to_owned();
        text.replace_range(..all[end].end, "");
        all = tokens(&text);
        list = folded(&all);
        Some(noun)
    } else {
        None
    };
    let at = (0..list.len()).find(|at| {
        list[*at] == "with"
            && matches!(list.get(at + 1).map(String::as_str), Some("and" | "or"))
            && list.get(at + 2).is_some_and(|word| word == "without")
    })?;
    let mut from = at + 3;
    from += usize::from(list.get(from).is_some_and(|word| matches!(word.as_str(), "a" | "an" | "any" | "the")));
    let yes_no = |list: &[String]| {
        let (count, entries) = name(list, on)?;
        let boolean = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => {
                ontology.datasets.get(d).and_then(|entity| entity.fields.get(f)).is_some_and(|field| {
                    let said = ["yes", "no"].iter().all(|value| field.value_synonyms.contains_key(*value));
                    field.datatype == DataType::Boolean || field.is_enum && said
                })
            }
            _ => false,
        };
        entries.iter().any(boolean).then_some(count)
    };
    let (to, noun) = match before.filter(|_| matches!(list.get(from).map(String::as_str), Some("one" | "it"))) {
        Some(noun) if yes_no(&words::split(&noun)).is_some() => (from + 1, noun),
        Some(_) => return None,
        None => {
            let count = yes_no(list.get(from..)?)?;
            (from + count, text.get(all[from].start..all[from + count - 1].end)?.to_owned())
        }
    };
    let (start, end) = (all.get(at)?.start, all.get(to - 1)?.end);
    text.replace_range(start..end, &format!("by {noun}"));
    Some(text)
}
