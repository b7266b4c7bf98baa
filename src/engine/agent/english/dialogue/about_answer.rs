//! Questions about the answer before: who they are, how many they are, those over a bound, the others, what share they
//! are. They change the plan before in one place, and refuse where it is not clear which.

use crate::engine::agent::english::lexicon::words;
use crate::model::ontology::Ontology;
use crate::model::plan::f64bits::F64;
use crate::model::plan::{
    Bound, Comparator, Condition, FieldRef, Having, Literal, Measure, Plan, Shown, TimeFilter, Value,
};

use super::variations::counted_by;

/// Words before such a question that only say that it goes on.
const LEADS: &[&str] = &["and", "but", "so", "ok", "okay", "please", "now", "then", "also", "well", "now just"];

const THEM: &[&str] = &["they", "them", "those", "these"];

fn said(question: &str) -> Vec<String> {
    let all = words::split(question);
    let from = all.iter().take_while(|word| LEADS.contains(&word.as_str())).count();
    let to = all.iter().rposition(|word| word != "please").map_or(0, |at| at + 1);
    all.get(from..to).unwrap_or_default().to_vec()
}

/// The plan of a question about the answer before; why there is none where it is not clear what is meant.
pub(in super::super) fn asked(question: &str, before: &Plan, ontology: &Ontology) -> Option<Result<Plan, String>> {
    let list = said(question);
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    over_bound(&list, question, before).or_else(|| others(&list, before)).or_else(|| share(&list, before, ontology))
}

/// Takes one of some phrases from the beginning.
fn eat(rest: &mut &[&str], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let count = phrase.split(' ').count();
        let here = rest.len() >= count && phrase.split(' ').eq(rest[..count].iter().copied());
        if here {
            *rest = &rest[count..];
        }
        here
    })
}

/// "only those over 50", "the ones with less than 10": a bound on the one number of each row.
fn over_bound(list: &[&str], question: &str, before: &Plan) -> Option<Result<Plan, String>> {
    let mut rest = list;
    let only = eat(&mut rest, &["only", "just", "keep only", "show only", "show me only"]);
    eat(&mut rest, &["show me", "show", "keep", "what about", "which of", "list"]);
    let ones = eat(&mut rest, &["the ones", "those", "these", "them", "ones"]);
    let with = eat(&mut rest, &["that are", "which are", "that have", "who have", "with", "having", "are"]);
    let op = [
        (&["more", "than"][..], Comparator::Greater),
        (&["greater", "than"], Comparator::Greater),
        (&["higher", "than"], Comparator::Greater),
        (&["bigger", "than"], Comparator::Greater),
        (&["over"], Comparator::Greater),
        (&["above"], Comparator::Greater),
        (&["less", "than"], Comparator::Less),
        (&["fewer", "than"], Comparator::Less),
        (&["lower", "than"], Comparator::Less),
        (&["smaller", "than"], Comparator::Less),
        (&["under"], Comparator::Less),
        (&["below"], Comparator::Less),
        (&["at", "least"], Comparator::AtLeast),
        (&["at", "most"], Comparator::AtMost),
        (&["exactly"], Comparator::Equal),
    ];
    let (rest, op) = op.iter().find_map(|(phrase, op)| Some((rest.strip_prefix(*phrase)?, *op)))?;
    let (number, percent) = match rest {
        [number] => (number, question.contains('%')),
        [number, "percent" | "%"] => (number, true),
        _ => return None,
    };
    let number: f64 = number.replace(',', "").parse().ok()?;
    if !(only || ones || with) {
        return None;
    }
    // The bound on what is listed or counted: "artists with more than 10 records", "and with fewer than 3?".
    if before.dimensions.is_empty() || before.measures.is_empty() {
        let bound = |filter: &&Condition| matches!(filter, Condition::Measured { .. });
        let known = before.filters.iter().find(bound)?.clone();
        let several = before.filters.iter().filter(bound).count() > 1;
        if several || percent || before.limit.is_some() || !before.having.is_empty() {
            return None;
        }
        let mut plan = before.clone();
        if !only {
            plan.filters.retain(|filter| *filter != known);
        }
        let Condition::Measured { of, measure, .. } = known else { return None };
        let value = Literal::Number(F64::new(number)?);
        plan.filters.push(Condition::Measured { of, measure, op, value });
        return Some(Ok(plan));
    }
    let [measure] = before.measures.as_slice() else {
        return (!before.measures.is_empty())
            .then(|| Err("The answer before has several numbers: say which of them the bound is on.".to_owned()));
    };
    if before.dimensions.is_empty() {
        return None;
    }
    let share = matches!(measure.shown_as, Some(Shown::Share { .. } | Shown::ChangePercent));
    if percent != share || before.limit.is_some() || before.comparison.is_some() {
        return Some(Err("It is not clear what the bound is on: ask the whole question again.".to_owned()));
    }
    let value = Bound::Number(F64::new(if share { number / 100.0 } else { number })?);
    let mut plan = before.clone();
    if !only {
        plan.having.retain(|having| having.measure != 0);
    }
    plan.having.push(Having { measure: 0, op, value });
    Some(Ok(plan))
}

/// "and those without?", "and with?", "and how many did?", "the others", "the other way round": the same of those of
/// which the condition does not hold.
fn others(list: &[&str], before: &Plan) -> Option<Result<Plan, String>> {
    let turned = matches!(
        list,
        ["the", "other", "way", "round" | "around"]
            | ["vice", "versa"]
            | ["the", "other", "way"]
            | ["the", "opposite"]
            | ["what", "about", "the", "other", "way", "round" | "around"]
    );
    if turned {
        return Some(other_way(before));
    }
    let rest = list.strip_prefix(&["what", "about"]).or_else(|| list.strip_prefix(&["how", "about"])).unwrap_or(list);
    let rest = rest.strip_prefix(&["show", "me"]).or_else(|| rest.strip_prefix(&["show"])).unwrap_or(rest);
    // Whether those with it are asked for, or just those that were not.
    let positive = match rest {
        ["the", "others" | "rest"] | ["the", "other", "ones"] | ["others"] => None,
        ["those" | "them" | "ones", "without"] | ["the", "ones", "without"] | ["without"] => Some(false),
        ["those" | "them" | "ones", "with"] | ["the", "ones", "with"] | ["those", "with", "one"] | ["with"] => {
            Some(true)
        }
        ["how", "many", "did" | "have" | "do" | "were" | "are" | "was"]
        | ["those" | "the", "that" | "who" | "which", "did" | "have" | "do" | "were" | "are"]
        | ["the", "ones", "that" | "who" | "which", "did" | "have" | "do" | "were" | "are"]
        | ["who" | "which", "did" | "have" | "do"] => Some(true),
        ["how", "many", verb] | ["who" | "which", verb] if verb.ends_with("nt") => Some(false),
        ["how", "many", _, "not"] | ["who" | "which", _, "not"] => Some(false),
        _ => return None,
    };
    let unclear = || Err("It is not clear of which things this is said: ask the whole question again.".to_owned());
    if let (None, [having], None) = (positive, before.having.as_slice(), &before.limit) {
        let mut plan = before.clone();
        plan.having = vec![Having { op: inverse(having.op), ..having.clone() }];
        return Some(Ok(plan));
    }
    let [one] = before.filters.as_slice() else { return Some(unclear()) };
    if before.limit.is_some() || !before.having.is_empty() || before.measures.iter().any(|one| !one.filters.is_empty())
    {
        return Some(unclear());
    }
    let was = match one {
        Condition::Exists { negated, .. } | Condition::Segment { negated, .. } => Some(!negated),
        Condition::IsNull { negated, .. } => Some(*negated),
        _ => None,
    };
    if positive.is_some() && (was.is_none() || was == positive) {
        return Some(unclear());
    }
    let Some(flipped) = opposite(one) else { return Some(unclear()) };
    Some(Ok(Plan { filters: vec![flipped], ..before.clone() }))
}

/// What holds of numbers of which a comparison does not.
fn inverse(op: Comparator) -> Comparator {
    match op {
        Comparator::Equal => Comparator::NotEqual,
        Comparator::NotEqual => Comparator::Equal,
        Comparator::Less => Comparator::AtLeast,
        Comparator::AtLeast => Comparator::Less,
        Comparator::Greater => Comparator::AtMost,
        Comparator::AtMost => Comparator::Greater,
    }
}

/// What holds of a row where a condition does not.
fn opposite(condition: &Condition) -> Option<Condition> {
    let mut other = condition.clone();
    match &mut other {
        Condition::Exists { negated, .. }
        | Condition::Segment { negated, .. }
        | Condition::IsNull { negated, .. }
        | Condition::In { negated, .. }
        | Condition::Like { negated, .. } => *negated = !*negated,
        Condition::Compare { op, value: Literal::Text(_), .. } => {
            *op = match op {
                Comparator::Equal => Comparator::NotEqual,
                Comparator::NotEqual => Comparator::Equal,
                _ => return None,
            }
        }
        Condition::Measured { op, .. } => *op = inverse(*op),
        _ => return None,
    }
    Some(other)
}

/// What there is and what there is not changed for each other; of a ranking, the other end.
fn other_way(before: &Plan) -> Result<Plan, String> {
    let mut plan = before.clone();
    let exists = |condition: &&mut Condition| matches!(condition, Condition::Exists { .. });
    let mut found: Vec<&mut Condition> = plan.filters.iter_mut().filter(exists).collect();
    if let [
        Condition::Exists { dataset: one, negated: first, .. },
        Condition::Exists { dataset: other, negated: second, .. },
    ] = found.as_mut_slice()
        && one == other
        && first != second
        && before.order.is_empty()
    {
        std::mem::swap(first, second);
        return Ok(plan);
    }
    if let (true, [order]) = (found.is_empty(), plan.order.as_mut_slice()) {
        order.descending = !order.descending;
        return Ok(plan);
    }
    Err("It is not clear what is to be turned round: ask the whole question again.".to_owned())
}

/// "as a percentage", "what share is that?" after a number of rows for which something holds: their part of all.
fn share(list: &[&str], before: &Plan, ontology: &Ontology) -> Option<Result<Plan, String>> {
    let part = |word: &str| matches!(word, "percentage" | "percent" | "share" | "fraction" | "proportion" | "%");
    let share_of: Vec<&str>;
    let of = match list {
        ["as" | "in", "a", one, rest @ ..] | ["as" | "in", one, rest @ ..] if part(one) => rest,
        ["what" | "which", one, "is" | "are" | "was" | "were", that, rest @ ..]
            if part(one) && (*that == "that" || *that == "this" || THEM.contains(that)) =>
        {
            rest
        }
        ["what" | "which", one, "of", rest @ .., "is" | "are" | "was" | "were", that]
            if part(one) && !rest.is_empty() && (*that == "that" || *that == "this" || THEM.contains(that)) =>
        {
            share_of = std::iter::once("of").chain(rest.iter().copied()).collect::<Vec<_>>();
            share_of.as_slice()
        }
        ["what", "is" | "s", "that", "as" | "in", "a", one, rest @ ..] if part(one) => rest,
        _ => return None,
    };
    let all = match of {
        [] | ["of", "the", "total" | "whole"] | ["of", "all"] | ["of", "them", "all"] => None,
        ["of", "all", name @ ..] | ["of", "the", "total", name @ ..] | ["of", name @ ..] => Some(name.join(" ")),
        _ => return None,
    };
    let [measure] = before.measures.as_slice() else { return None };
    let counted = match &measure.value {
        Value::Count(dataset) => dataset.as_str(),
        Value::Metric(name) => counted_by(name, ontology)?,
        _ => return None,
    };
    if !before.dimensions.is_empty() || !measure.filters.is_empty() || measure.shown_as.is_some() {
        return None;
    }
    let one = |text: &str| words::split(text).iter().map(|word| words::singular(word)).collect::<Vec<_>>();
    let called = |name: &String| {
        ontology.entity(counted).is_some_and(|entity| {
            one(&entity.noun()) == one(name) || entity.ai.synonyms.iter().any(|synonym| one(synonym) == one(name))
        })
    };
    let plain = before.having.is_empty() && before.comparison.is_none() && before.limit.is_none();
    // Of several conditions it is not clear which make the part, and which the whole.
    let clear = before.filters.len() == 1 || all.is_some() && !before.filters.is_empty() && before.time.is_none();
    if !plain || !clear || all.as_ref().is_some_and(|name| !called(name)) {
        return Some(Err("It is not clear of which whole the share is: ask the whole question again.".to_owned()));
    }
    let numerator = Measure { filters: before.filters.clone(), ..measure.clone() };
    let value = Value::Ratio { numerator: Box::new(numerator), denominator: Box::new(measure.clone()) };
    Some(Ok(Plan { measures: vec![Measure::of(value)], filters: Vec::new(), ..before.clone() }))
}

/// "who are they?", "which ones?" after a number of rows: the question that lists them, without what held for them.
pub(in super::super) fn listed(question: &str, before: &Plan, ontology: &Ontology) -> Option<String> {
    let list = said(question);
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    let asked = match list.as_slice() {
        ["who" | "which" | "what", "are", them] => THEM.contains(them),
        ["which", "ones" | "one"] | ["which", "ones", "are", _] | ["which" | "who"] => true,
        ["list" | "show" | "name", them] | ["show" | "give", "me" | "us", them] => THEM.contains(them),
        ["let", "me", "see", them] | ["can", "you", "list" | "show", them] => THEM.contains(them),
        _ => false,
    };
    let [measure] = before.measures.as_slice() else { return None };
    let counted = match &measure.value {
        Value::Count(dataset) => dataset.as_str(),
        Value::Metric(name) => counted_by(name, ontology)?,
        _ => return None,
    };
    let rows = before.dimensions.is_empty()
        && measure.filters.is_empty()
        && measure.shown_as.is_none()
        && before.having.is_empty()
        && before.comparison.is_none();
    let entity = ontology.entity(counted).filter(|_| asked && rows)?;
    Some(format!("list {}", super::super::repair::vague::many(&entity.noun())))
}

/// A list with what held for the rows that were counted.
pub(in super::super) fn with_conditions(mut list: Plan, before: &Plan, ontology: &Ontology) -> Result<Plan, String> {
    list.filters.extend(before.filters.iter().cloned());
    let Some(time) = &before.time else { return Ok(list) };
    let metric = before.measures.first().and_then(|measure| match &measure.value {
        Value::Metric(name) => ontology.metric(name)?.default_time_field.as_ref()?.split_once('.'),
        _ => None,
    });
    let own = list.subject.as_deref().and_then(|name| {
        let entity = ontology.entity(name)?;
        Some((entity.name.as_str(), entity.default_time_field.as_deref()?))
    });
    let field = time.field.clone().or_else(|| metric.or(own).map(|(dataset, field)| FieldRef::new(dataset, field)));
    if field.is_none() {
        return Err("It is not clear which time is meant: ask the whole question again.".to_owned());
    }
    list.time = Some(TimeFilter { field, window: time.window.clone() });
    Ok(list)
}
