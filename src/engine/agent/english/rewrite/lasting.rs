//! "how long": the field of a time or length that the thing asked for has.

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::number;
use crate::engine::agent::english::text::token::{Token, tokens};
use crate::model::ontology::{Entity, Field, FieldRole, Ontology, in_words};

use super::super::vocabulary;

/// The question with the time that is asked for named as what it is.
pub(super) fn plainly(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    named(question, on, ontology)
        .or_else(|| lasted(question, on, ontology))
        .or_else(|| happened(question, on, ontology))
}

/// A question that asks "how long …" in the words of the one field that it can mean; `None` where none or several may
/// be meant.
fn named(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let all: Vec<Token> = tokens(question);
    let list: Vec<String> = all.iter().map(|token| words::split(&token.text).join(" ")).collect();
    let is = |at: usize, words: &[&str]| list.get(at).is_some_and(|word| words.contains(&word.as_str()));
    let timed = |at: usize| list.get(at).is_some_and(|word| matches!(vocabulary::unit(word), Some(("time", _))));
    let begin = (0..list.len())
        .find(|at| is(*at, &["how"]) && (is(at + 1, &["long"]) || is(at + 1, &["many"]) && timed(at + 2)))?;
    // "how many days did it take": in days.
    let unit = is(begin + 1, &["many"]).then(|| list[begin + 2].as_str());
    let verb = begin + 2 + usize::from(unit.is_some());
    if !is(verb, &["is", "are", "was", "were", "do", "does", "did", "have", "has"]) {
        return None;
    }
    let (thing, count, entity) = thing(&list, verb + 1, on, ontology)?;
    // "how many days are there between trips" asks for no length of a trip.
    let lead = ["the", "a", "an", "our", "all", "each", "every", "longest", "shortest", "average", "usual", "typical"];
    if unit.is_some() && !(verb + 1..thing).all(|at| is(at, &lead)) {
        return None;
    }
    let Some(field) = field(entity, &list) else { return spanned(question, &all, &list, (verb, thing, count), entity) };
    let own_unit = field.unit.as_deref().and_then(vocabulary::unit);
    let same_unit = unit.is_none_or(|unit| vocabulary::unit(unit) == own_unit);
    let noun = all.get(thing..thing + count).and_then(|found| question.get(found.first()?.start..found.last()?.end))?;
    let each = (verb + 1..thing).any(|at| is(at, &["each", "every"]));
    let superlative = (verb + 1..thing)
        .find_map(|at| if is(at, &["longest"]) { Some("maximum") } else { is(at, &["shortest"]).then_some("minimum") });
    let usual = ["average", "usually", "typically", "normally", "generally"];
    let average = list.iter().any(|word| usual.contains(&word.as_str()));
    let many = words::singular(&list[thing + count - 1]) != list[thing + count - 1];
    let said = field.words();
    // What is left says which of them: places, times, names.
    let own = in_words(&said);
    let rest: Vec<&str> = (thing + count..all.len())
        .filter(|at| {
            let word = list[*at].as_str();
            let of_field = own.split(' ').any(|part| part == word);
            let on_average = usual.contains(&word) || word == "on" && is(at + 1, &["average"]);
            let verb = matches!(word, "take" | "takes" | "took" | "last" | "lasts" | "lasted" | "run" | "runs");
            let before = word == "in"
                && is(at + 1, &["the"])
                && (at + 2..=at + 2).any(|at| list.get(at).is_some_and(|word| own.split(' ').any(|part| part == word)));
            let article = word == "the"
                && at.checked_sub(1).is_some_and(|back| list[back] == "in")
                && list.get(at + 1).is_some_and(|word| own.split(' ').any(|part| part == word));
            !(of_field || on_average || verb || before || article)
        })
        .filter_map(|at| question.get(all[at].start..all[at].end))
        .collect();
    let rest = rest.join(" ");
    let head = question.get(..all[begin].start).unwrap_or_default();
    if each {
        return same_unit.then(|| format!("{head}list the {noun} and its {said} {rest}"));
    }
    let function = superlative.or(if average || many { Some("average") } else { None })?;
    let unit = unit.filter(|_| !same_unit).map(|unit| format!(" in {unit}")).unwrap_or_default();
    Some(format!("{head}{function} {said} of the {noun}{unit} {rest}"))
}

/// "how long does each lease run", where a lease has one date of its beginning and one of its end, and no length of
/// its own.
fn spanned(
    question: &str,
    all: &[Token],
    list: &[String],
    (verb, thing, count): (usize, usize, usize),
    entity: &Entity,
) -> Option<String> {
    const BEGIN: &[&str] = &["start", "begin", "beginning", "effective", "inception", "opened", "open", "issued"];
    const END: &[&str] =
        &["end", "expiration", "expiry", "expires", "expire", "close", "closed", "finish", "termination"];
    let lengths = entity.fields.iter().any(|field| {
        !field.hidden && field.unit.as_deref().and_then(vocabulary::unit).is_some_and(|(kind, _)| kind == "time")
    });
    let said =
        ["run", "runs", "last", "lasts", "lasted", "ran", "go", "valid", "active", "force", "take", "took", "stay"];
    let rest: Vec<&str> = list.get(thing + count..)?.iter().map(String::as_str).collect();
    let plain = |word: &&str| {
        said.contains(word) || matches!(*word, "" | "in" | "on" | "for" | "days" | "average" | "effect" | "usually")
    };
    if lengths || rest.is_empty() || !rest.iter().all(plain) {
        return None;
    }
    let one = |family: &[&str]| -> Option<&Field> {
        let says = |field: &&Field| {
            let named = [in_words(&field.name), field.words().to_lowercase()];
            let word = |word: &str| family.contains(&word);
            field.datatype.is_calendar() && !field.hidden && named.iter().any(|name| name.split(' ').any(word))
        };
        let mut found = entity.fields.iter().filter(says);
        let one = found.next()?;
        found.next().is_none().then_some(one)
    };
    let (begin, end) = (one(BEGIN)?, one(END)?);
    let noun = question.get(all.get(thing)?.start..all.get(thing + count - 1)?.end)?;
    let each = (verb + 1..thing).any(|at| matches!(list[at].as_str(), "each" | "every"));
    let days = format!("days from {} to {}", begin.words(), end.words());
    Some(if each { format!("{days} for each {noun}") } else { format!("average {days} of the {noun}") })
}

/// The first dataset that is named: where, in how many words, and which.
fn thing<'o>(list: &[String], from: usize, on: &Lexicon, ontology: &'o Ontology) -> Option<(usize, usize, &'o Entity)> {
    (from..list.len()).find_map(|at| {
        let said: Vec<&str> = list[at..].iter().map(String::as_str).collect();
        on.matches(&said, &vec![false; said.len()]).into_iter().rev().find_map(|found| {
            found.entries.iter().find_map(|entry| match entry.sense {
                Sense::Entity(d) if !entry.partial => Some((at, found.words, ontology.datasets.get(d)?)),
                _ => None,
            })
        })
    })
}

fn names(field: &Field) -> Vec<String> {
    let mut names = vec![in_words(&field.name), field.words().to_lowercase()];
    names.extend(field.ai.synonyms.iter().map(|synonym| synonym.to_lowercase()));
    names
}

/// "took the longest to close", "the longest claim to close", "that took more than 20 days to close": in the words of
/// the field that it can mean.
fn lasted(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let all: Vec<Token> = tokens(question);
    let list: Vec<String> = all.iter().map(|token| words::split(&token.text).join(" ")).collect();
    let is = |at: usize, words: &[&str]| list.get(at).is_some_and(|word| words.contains(&word.as_str()));
    let (owner, count, entity) = thing(&list, 0, on, ontology)?;
    let most = |at: usize| {
        if is(at, &["longest", "slowest"]) {
            Some("highest")
        } else {
            is(at, &["shortest", "quickest", "fastest"]).then_some("lowest")
        }
    };
    let verb = |at: usize| {
        is(at, &["take", "takes", "took", "taken", "last", "lasts", "lasted", "need", "needed"])
            || is(at, &["kept", "keep", "stayed", "stay"]) && is(at + 1, &["longer", "for", "more", "less", "over"])
    };
    // What it took the time for.
    let purpose = |at: usize| is(at, &["to"]).then(|| list.get(at + 1)).flatten().filter(|word| !word.is_empty());
    let text = |from: usize, to: usize| question.get(all.get(from)?.start..all.get(to.checked_sub(1)?)?.end);
    for at in 0..list.len() {
        let article = at + 1 + usize::from(is(at + 1, &["the"]));
        if let Some(most) = most(article).filter(|_| verb(at)) {
            let to = article + 1;
            let field = for_purpose(entity, &list, purpose(to))?;
            let end = if purpose(to).is_some() { to + 2 } else { to };
            // "the longest from baking to selling" may be another time than that of the field.
            if is(end, &["from", "between"]) {
                return None;
            }
            let text = question.get(all[at].start..all.get(end - 1)?.end)?;
            return Some(question.replacen(text, &format!("with the {most} {}", field.words()), 1));
        }
        if let Some(most) = most(at).filter(|_| at + 1 == owner)
            && let Some(purpose) = purpose(owner + count)
        {
            let field = for_purpose(entity, &list, Some(purpose))?;
            let noun = text(owner, owner + count)?;
            let whole = text(at, owner + count + 2)?;
            return Some(question.replacen(whole, &format!("{noun} with the {most} {}", field.words()), 1));
        }
        // "closed within 3 weeks"
        let unit = at + 2;
        if is(at, &["within"])
            && !is(unit + 1, &["of", "after", "from", "before"])
            && at > owner + count - 1
            && list.get(unit).is_some_and(|unit| matches!(vocabulary::unit(unit), Some(("time", _))))
            && let Some(verb) = at.checked_sub(1).and_then(|back| list.get(back)).filter(|verb| verb.ends_with("ed"))
            && let Some(field) = for_purpose(entity, &list, Some(verb))
        {
            let that = at - 1 - usize::from(at > 1 && is(at - 2, &["that", "which", "were", "was"]));
            let whole = text(that, unit + 1)?;
            let bound = text(at + 1, unit + 1)?;
            return Some(question.replacen(whole, &format!("with {} at most {bound}", field.words()), 1));
        }
        if verb(at) && at > owner {
            // The bound ends with its unit.
            let unit = (at + 1..list.len().min(at + 7))
                .find(|at| vocabulary::unit(&list[*at]).is_some_and(|(kind, _)| kind == "time"));
            let number = unit
                .and_then(|unit| unit.checked_sub(1))
                .filter(|at| is(*at, &["a", "one"]) || number::number(&all, *at).is_some());
            let (Some(unit), Some(_)) = (unit, number) else { continue };
            let field = for_purpose(entity, &list, purpose(unit + 1))?;
            let end = if purpose(unit + 1).is_some() { unit + 3 } else { unit + 1 };
            let that = at - usize::from(at > 0 && is(at - 1, &["that", "which", "who"]));
            let bound = text(at + 1, unit + 1)?;
            let bound = bound.replacen("longer than", "more than", 1).replacen("shorter than", "less than", 1);
            let bound = bound.strip_prefix("for ").unwrap_or(&bound).to_owned();
            let whole = text(that, end)?;
            return Some(question.replacen(whole, &format!("with {} {bound}", field.words()), 1));
        }
    }
    None
}

/// The one field of a time that may be meant; with a verb one that speaks of it.
fn for_purpose<'o>(entity: &'o Entity, list: &[String], purpose: Option<&String>) -> Option<&'o Field> {
    let Some(purpose) = purpose else { return field(entity, list) };
    let forms = words::forms(purpose);
    let spoken = |field: &&Field| {
        field.datatype.is_number()
            && !field.hidden
            && field.unit.as_deref().and_then(vocabulary::unit).is_some_and(|(kind, _)| kind == "time")
            && names(field)
                .iter()
                .flat_map(|name| name.split(' '))
                .any(|word| words::forms(word).iter().any(|(own, _)| forms.iter().any(|(form, _)| form == own)))
    };
    let mut found = entity.fields.iter().filter(spoken);
    let one = found.next()?;
    found.next().is_none().then_some(one)
}

/// "When did the loss of each claim happen?" in the words of the time that has this name: "loss date".
fn happened(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let all: Vec<Token> = tokens(question);
    let list: Vec<String> = all.iter().map(|token| words::split(&token.text).join(" ")).collect();
    let is = |at: usize, words: &[&str]| list.get(at).is_some_and(|word| words.contains(&word.as_str()));
    let begin = (0..list.len().min(3)).find(|at| is(*at, &["when"]))?;
    if !is(begin + 1, &["did", "do", "does", "was", "were", "is", "are"]) {
        return None;
    }
    let from = begin + 2 + usize::from(is(begin + 2, &["the"]));
    let of = (from + 1..list.len()).find(|at| is(*at, &["of"]))?;
    let what = list.get(from..of)?.join(" ");
    let named =
        [format!("{what} date"), format!("date of {what}"), format!("{what} time")].into_iter().find(|name| {
            let said: Vec<&str> = name.split(' ').collect();
            on.matches(&said, &vec![false; said.len()]).iter().any(|found| {
                found.words == said.len()
                    && found.entries.iter().any(|entry| match entry.sense {
                        Sense::Field(d, f) => !entry.partial && ontology.datasets[d].fields[f].datatype.is_calendar(),
                        _ => false,
                    })
            })
        })?;
    let last = (of + 1..list.len()).rev().find(|at| !list[*at].is_empty())?;
    let verb = is(last, &["happen", "occur", "happened", "occurred", "begin", "start", "take", "place"]);
    let end = if !verb { last + 1 } else { last - usize::from(is(last, &["place"])) };
    let each = is(of + 1, &["each", "every", "all"]);
    let rest = question.get(all.get(of + 1 + usize::from(each))?.start..all.get(end.checked_sub(1)?)?.end)?;
    Some(if each { format!("list the {rest} and its {named}") } else { format!("show the {named} of {rest}") })
}

/// The field of the thing that is a time, or else a length: the only one, or the one that the question speaks of.
fn field<'o>(entity: &'o Entity, list: &[String]) -> Option<&'o Field> {
    let of = |kind: &str| -> Vec<&Field> {
        let fits = |field: &&Field| {
            !field.hidden
                && field.role != FieldRole::Key
                && field.datatype.is_number()
                && field.unit.as_deref().and_then(vocabulary::unit).is_some_and(|(own, _)| own == kind)
        };
        entity.fields.iter().filter(fits).collect()
    };
    let mut found = of("time");
    if found.is_empty() {
        found = of("length");
    }
    if found.len() > 1 {
        // The thing itself, and words of the grammar, tell nothing.
        let own = words::split(&entity.noun());
        let says = |word: &str| {
            !vocabulary::is_ordinary(word) && !own.iter().any(|own| own == word) && list.iter().any(|said| said == word)
        };
        let told = |field: &Field| names(field).iter().flat_map(|name| name.split(' ')).any(says);
        let plain = |field: &Field| {
            names(field).iter().any(|name| matches!(name.as_str(), "length" | "duration" | "run time" | "running time"))
        };
        // What a field is called says more than its synonyms.
        let called = |field: &Field| field.words().to_lowercase().split(' ').any(says);
        if found.iter().filter(|field| called(field)).count() == 1 {
            found.retain(|field| called(field));
        } else if found.iter().any(|field| told(field)) {
            found.retain(|field| told(field));
        } else {
            found.retain(|field| plain(field));
        }
    }
    match found.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}
