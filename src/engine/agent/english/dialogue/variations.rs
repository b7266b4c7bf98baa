//! Questions that only make sense after another one: "and the day before?", "and on average?", "how long exactly?".

use jiff::civil::Date;
use jiff::{Span, ToSpan as _};

use crate::engine::agent::english::lexicon::words;
use crate::model::ontology::{Aggregation, FieldRole, Ontology};
use crate::model::plan::{By, Condition, Dimension, Measure, Plan, Value};

use super::super::repair::vague;
use super::super::rewrite::Words;

/// Words around such a question that say nothing.
const AROUND: &[&str] = &[
    "and", "but", "what", "how", "about", "is", "it", "that", "was", "were", "then", "exactly", "precisely", "so",
    "ok", "in", "on", "for", "the", "a", "of",
];

/// The plan of a question that asks for the same in another way, or for a number that was shown before.
pub(in super::super) fn told(question: &str, before: &Plan, ontology: &Ontology) -> Option<Plan> {
    let said = words::split(question);
    let list: Vec<&str> = said.iter().map(String::as_str).collect();
    let bare: Vec<&str> = list.iter().copied().filter(|word| !AROUND.contains(word)).collect();
    let function = match bare.as_slice() {
        ["average" | "avg" | "mean"] => Aggregation::Avg,
        ["median"] => Aggregation::Median,
        ["total" | "altogether"] => Aggregation::Sum,
        ["highest" | "maximum" | "most"] => Aggregation::Max,
        ["lowest" | "minimum" | "least"] => Aggregation::Min,
        _ => return shown(&list, before, ontology),
    };
    let end = matches!(function, Aggregation::Max | Aggregation::Min);
    let ranked = if end { ranked_from(before, function == Aggregation::Max) } else { None };
    ranked.or_else(|| aggregated(before, function, ontology))
}

/// "and the lowest?" after "which shop has the highest average price?": the same ranking, from the end that is named.
fn ranked_from(before: &Plan, descending: bool) -> Option<Plan> {
    let mut plan = before.clone();
    let ([_], [order], Some(limit)) = (plan.measures.as_slice(), plan.order.as_mut_slice(), plan.limit.as_mut()) else {
        return None;
    };
    if matches!(order.by, By::Dimension(_)) {
        return None;
    }
    order.descending = descending;
    limit.skip = 0;
    Some(plan)
}

/// "how long exactly?" after "which took the longest?": the number by which things were ranked.
fn shown(list: &[&str], before: &Plan, ontology: &Ontology) -> Option<Plan> {
    let list: Vec<&str> =
        list.iter().copied().filter(|word| !matches!(*word, "and" | "exactly" | "precisely" | "so")).collect();
    let kind = match list.as_slice() {
        ["how", "long"] | ["how", "long", "did" | "does" | "was" | "is", "it" | "that", ..] => "time",
        ["how", "much"] | ["how", "much", "did" | "does" | "was" | "is", "it" | "that", ..] => "",
        _ => return None,
    };
    before.limit.as_ref()?;
    let unit = match before.order.first()?.by {
        By::Dimension(at) => {
            let field = &before.dimensions.get(at)?.field;
            ontology.field(&field.dataset, &field.field).filter(|field| field.datatype.is_number())?.unit.clone()
        }
        By::Measure(at) | By::Difference(at) | By::Change(at) => match &before.measures.get(at)?.value {
            Value::Metric(name) => ontology.metric(name)?.unit.clone(),
            Value::Aggregate { field, .. } => ontology.field(&field.dataset, &field.field)?.unit.clone(),
            _ => None,
        },
    };
    let own = unit.as_deref().and_then(super::super::vocabulary::unit).map(|(kind, _)| kind);
    (kind.is_empty() || own == Some(kind)).then(|| before.clone())
}

/// The one number of the question before, taken together in another way.
fn aggregated(before: &Plan, function: Aggregation, ontology: &Ontology) -> Option<Plan> {
    let number = |dimension: &&Dimension| {
        let field = ontology.field(&dimension.field.dataset, &dimension.field.field);
        field.is_some_and(|field| field.datatype.is_number() && field.role == FieldRole::Measure)
    };
    let mut plan = before.clone();
    match before.measures.as_slice() {
        [] => {
            let mut fields = before.dimensions.iter().filter(number);
            let field = fields.next().filter(|_| before.limit.is_none())?.field.clone();
            if fields.next().is_some() {
                return None;
            }
            plan = Plan { measures: vec![Measure::of(Value::Aggregate { function, field })], ..plan };
            plan.dimensions.clear();
            plan.order.clear();
            plan.subject = None;
            plan.distinct = false;
        }
        [measure] => {
            let Value::Aggregate { field, .. } = &measure.value else { return None };
            let value = Value::Aggregate { function, field: field.clone() };
            plan.measures = vec![Measure { value, ..measure.clone() }];
        }
        _ => return None,
    }
    Some(plan)
}

/// "and the day before?", "and in the whole year?": the time that is meant, beside the one of the question before.
pub(in super::super) fn beside(question: &str, before: &Plan) -> Option<String> {
    let said = words::split(question);
    let list: Vec<&str> = said.iter().map(String::as_str).filter(|word| !AROUND.contains(word)).collect();
    let window = &before.time.as_ref()?.window;
    let (start, end): (Date, Date) = (window.start.as_ref()?.parse().ok()?, window.end.as_ref()?.parse().ok()?);
    let (sign, unit) = match list.as_slice() {
        ["whole" | "full" | "entire", "year"] => {
            // A time that crosses the years is in no one year.
            let last = end.yesterday().ok()?;
            return (start.year() == last.year()).then(|| format!("and in {}", start.year()));
        }
        [unit, "before" | "earlier"] | ["previous" | "preceding" | "prior", unit] => (-1, *unit),
        [unit, "after" | "later"] | ["following" | "next", unit] => (1, *unit),
        _ => return None,
    };
    let (span, longest): (Span, i64) = match unit {
        "day" => (sign.days(), 1),
        "week" => ((7 * sign).days(), 7),
        "month" => (sign.months(), 31),
        "quarter" => ((3 * sign).months(), 92),
        "year" => (sign.years(), 366),
        _ => return None,
    };
    // What is longer than the unit has no such time before it.
    let days = i64::from(start.until(end).ok()?.get_days());
    let (first, last) = (start.checked_add(span).ok()?, end.checked_add(span).ok()?.yesterday().ok()?);
    (days <= longest).then(|| format!("and from {first} to {last}"))
}

/// "and of those with claims?" after a question about what has none, and the other way round: the same of the others.
/// Why not, where the question before says nothing of them.
pub(in super::super) fn of_the_others(
    question: &str,
    before: &Plan,
    ontology: &Ontology,
) -> Option<Result<Plan, String>> {
    let said = words::split(question);
    let list: Vec<&str> = said.iter().map(String::as_str).collect();
    let rest = list.strip_prefix(&["and"]).or_else(|| list.strip_prefix(&["what", "about"])).unwrap_or(&list);
    let rest = rest.strip_prefix(&["of"]).or_else(|| rest.strip_prefix(&["for"])).unwrap_or(rest);
    let rest = match rest {
        ["those" | "them" | "these", rest @ ..] | ["the", "ones", rest @ ..] if rest.len() < list.len() => rest,
        _ => return None,
    };
    let (negated, name) = match rest {
        ["without" | "lacking", "any" | "a" | "an", name @ ..]
        | ["with", "no", name @ ..]
        | ["that" | "who" | "which", "have" | "has" | "had", "no", name @ ..]
        | ["without" | "lacking", name @ ..] => (true, name),
        ["with", "a" | "an" | "any", name @ ..]
        | ["that" | "who" | "which", "have" | "has" | "had", name @ ..]
        | ["with", name @ ..] => (false, name),
        _ => return None,
    };
    let one = |text: &str| words::split(text).iter().map(|word| words::singular(word)).collect::<Vec<_>>();
    let name = one(&name.join(" "));
    let named = |dataset: &str| {
        ontology.entity(dataset).is_some_and(|entity| {
            one(&entity.noun()) == name || entity.ai.synonyms.iter().any(|synonym| one(synonym) == name)
        })
    };
    let mut plan = before.clone();
    let mut found = plan.filters.iter_mut().filter_map(|filter| match filter {
        Condition::Exists { dataset, filters, negated, .. } if filters.is_empty() && named(dataset) => Some(negated),
        _ => None,
    });
    match (found.next(), found.next()) {
        (Some(known), None) => *known = negated,
        _ => return Some(Err("It is not clear of which things this is said: ask the whole question again.".into())),
    }
    Some(Ok(plan))
}

/// "how many of them were late?" after a list or a count of rows: the same rows, counted, with one more condition.
pub(in super::super) fn of_them(question: &str, before: &Plan, ontology: &Ontology) -> Option<String> {
    let words = Words::of(question);
    let from = usize::from(matches!(words.at(0), "and" | "but" | "so"));
    let them = ["them", "those", "these"].iter().any(|them| words.has(from, &format!("how many of {them}")));
    // "how many are there?" after a list.
    let bare = before.measures.is_empty()
        && ["how many", "how many are there", "how many are they", "how many is that", "how many are those"]
            .iter()
            .chain(&["how many in total", "how many were there", "how many are that"])
            .any(|bare| words.has(from, bare) && words.len() == from + bare.split(' ').count());
    let counted = match before.measures.as_slice() {
        [] => before.subject.as_deref(),
        [one] => match &one.value {
            _ if !one.filters.is_empty() || one.shown_as.is_some() => None,
            Value::Count(dataset) => Some(dataset.as_str()),
            Value::Metric(name) => counted_by(name, ontology),
            _ => None,
        },
        _ => None,
    };
    // Groups and the first of many are other things than the rows.
    let rows = before.limit.is_none()
        && before.having.is_empty()
        && before.comparison.is_none()
        && !before.distinct
        && (before.measures.is_empty() || before.dimensions.is_empty());
    if !(them || bare) || !rows {
        return None;
    }
    let entity = ontology.entity(counted?)?;
    let rest = words.text(from + 4, words.len());
    if rest.is_empty() || bare {
        return Some(format!("number of {}", vague::many(&entity.noun())));
    }
    let that = if matches!(words.at(from + 4), "with" | "without" | "from" | "in" | "to") { "" } else { "that " };
    Some(format!("number of {} {that}{rest}", vague::many(&entity.noun())))
}

/// The dataset all of whose rows a metric counts.
pub(in super::super) fn counted_by<'o>(metric: &str, ontology: &'o Ontology) -> Option<&'o str> {
    let metric = ontology.metric(metric).filter(|metric| metric.filters.is_empty())?;
    let inner = metric.expression.trim().to_lowercase();
    let inner = inner.strip_prefix("count(")?.strip_suffix(')')?.trim();
    let (dataset, field) = inner.strip_prefix("distinct ").unwrap_or(inner).split_once('.')?;
    let entity = ontology.entity(dataset)?;
    let column = entity.field(field).map_or(field, |field| field.expression.as_str());
    let is = |key: &String| key.eq_ignore_ascii_case(column) || key.eq_ignore_ascii_case(field);
    // A part of a key is never missing, so that it counts all rows, unless each of its values counts once.
    let whole = match entity.primary_key.as_slice() {
        [key] => is(key),
        keys => !inner.starts_with("distinct ") && keys.iter().any(is),
    };
    whole.then_some(entity.name.as_str())
}

/// The plan of a question about some of the rows of the one before: what held for those holds still.
pub(in super::super) fn narrowed(mut plan: Plan, before: &Plan) -> Option<Plan> {
    for condition in before.filters.iter().rev() {
        if !plan.filters.contains(condition) {
            plan.filters.insert(0, condition.clone());
        }
    }
    if let Some(time) = &before.time {
        if plan.time.as_ref().is_some_and(|now| now != time) {
            return None;
        }
        plan.time = Some(time.clone());
    }
    plan.dimensions.clear();
    plan.order.clear();
    plan.subject = None;
    plan.distinct = false;
    Some(plan)
}
