//! Whether a plan asks for something: conditions that exclude each other, a rank of one number and a share of itself are
//! well formed, and each gives a number that means nothing.

use super::values::{each, exclusive};
use crate::model::ontology::{Aggregation, Entity, Ontology};
use crate::model::plan::{Condition, FieldRef, Measure, Plan, Shown, Value, Window};

/// Every reason why the answer to a plan would mean nothing, as sentences for people. Empty when there is none.
pub fn nonsense(plan: &Plan, ontology: &Ontology) -> Vec<String> {
    let mut said = Vec::new();
    if plan.limit.is_some() && plan.dimensions.is_empty() && plan.subject.is_none() && !plan.measures.is_empty() {
        said.push(
            "There is one number, and nothing to choose from: say what it is to be ranked by, such as “by month”, or \
             ask for the “maximum” of the single values."
                .to_owned(),
        );
    }
    if !plan.order.is_empty() && plan.dimensions.is_empty() && plan.subject.is_none() && !plan.measures.is_empty() {
        said.push("There is one number, and nothing to sort: say what it is to be broken down by.".to_owned());
    }
    if plan.limit.as_ref().is_some_and(|limit| ranks_alone(plan, &limit.per, ontology)) {
        said.push(
            "Each row would be ranked alone, and so be the first: say what it is to be ranked within.".to_owned(),
        );
    }
    if let Some(thing) = plan.measures.iter().find_map(|measure| other_rows(measure, &plan.filters, ontology)) {
        said.push(format!(
            "It is not clear whether the extreme is that of the {thing} which is named, or of any {thing} of those that \
             have it: ask for one of them."
        ));
    }
    if plan.dimensions.iter().any(|dimension| counts_itself(plan, &dimension.field, ontology)) {
        said.push("Each row would be counted alone, and so be 1: say what the rows are counted by.".to_owned());
    }
    times(plan, ontology, &mut said);
    exclusive(plan, ontology, &mut said);
    for measure in &plan.measures {
        if let Some(Shown::Share { within }) = &measure.shown_as
            && (0..plan.dimensions.len()).all(|at| within.contains(&at))
        {
            said.push("Each share would be of itself, and so 100 %: say what it is broken down by.".to_owned());
        }
        parts(measure, &plan.filters, &mut said);
    }
    said
}

/// Whether a ranking within groups is within single rows of a dataset, by its whole key.
fn ranks_alone(plan: &Plan, per: &[usize], ontology: &Ontology) -> bool {
    let fields: Vec<&FieldRef> =
        per.iter().filter_map(|at| plan.dimensions.get(*at)).map(|dimension| &dimension.field).collect();
    let Some(entity) = fields.first().and_then(|field| ontology.entity(&field.dataset)) else { return false };
    let is = |key: &String, field: &FieldRef| {
        let column = entity.field(&field.field).map_or(field.field.as_str(), |field| field.expression.as_str());
        field.dataset.eq_ignore_ascii_case(&entity.name)
            && (key.eq_ignore_ascii_case(&field.field) || key.eq_ignore_ascii_case(column))
    };
    entity.primary_key.len() > 1 && entity.primary_key.iter().all(|key| fields.iter().any(|field| is(key, field)))
}

/// What an extreme is of, where a condition says only that there is such a row among several of each thing: "the
/// supplier of part 7 at the lowest cost" is not the one with the lowest cost of any part.
fn other_rows(measure: &Measure, filters: &[Condition], ontology: &Ontology) -> Option<String> {
    let Value::Aggregate { function: Aggregation::Min | Aggregation::Max, field } = &measure.value else { return None };
    filters.iter().find_map(|filter| match filter {
        Condition::Exists { of, dataset, filters, negated: false, .. }
            if dataset.eq_ignore_ascii_case(&field.dataset)
                && !of.eq_ignore_ascii_case(&field.dataset)
                && !filters.is_empty() =>
        {
            ontology.entity(dataset).map(Entity::noun)
        }
        _ => None,
    })
}

/// Whether all that is asked for is how many rows of a dataset have each of its keys.
fn counts_itself(plan: &Plan, field: &FieldRef, ontology: &Ontology) -> bool {
    let Some(entity) = ontology.entity(&field.dataset) else { return false };
    let column = entity.field(&field.field).map_or(field.field.as_str(), |field| field.expression.as_str());
    let key = matches!(entity.primary_key.as_slice(), [key] if key.eq_ignore_ascii_case(column));
    let counted =
        |measure: &Measure| matches!(&measure.value, Value::Count(name) if name.eq_ignore_ascii_case(&field.dataset));
    key && field.via.is_empty() && !plan.measures.is_empty() && plan.measures.iter().all(counted)
}

/// Shares whose part is the whole, or more than it.
fn parts(measure: &Measure, all: &[Condition], said: &mut Vec<String>) {
    if let Value::Ratio { numerator, denominator } = &measure.value
        && numerator.value == denominator.value
    {
        let outside = |conditions: &[Condition], known: &[Condition]| {
            conditions.iter().any(|condition| !known.contains(condition) && !all.contains(condition))
        };
        if !outside(&numerator.filters, &denominator.filters) {
            let text = if outside(&denominator.filters, &numerator.filters) {
                "The part would be more than the whole that it is a share of: say first what the whole is, and then the part, as in “percentage of … that …”."
            } else {
                "The part would be the whole, and so 100 %: say which of them the part is, as in “percentage of … that …”."
            };
            said.push(text.to_owned());
        }
    }
    measure.value.measures().into_iter().for_each(|part| parts(part, all, said));
}

/// Windows that hold together on one field, and that no time is in.
fn times(plan: &Plan, ontology: &Ontology, said: &mut Vec<String>) {
    let mut held: Vec<(Option<&FieldRef>, &Window, bool)> = Vec::new();
    if let Some(time) = &plan.time {
        held.push((time.field.as_ref(), &time.window, false));
    }
    together(&plan.filters, &mut held);
    disjoint(&held, plan, ontology, said);
    for measure in &plan.measures {
        let mut own = held.clone();
        together(&measure.filters, &mut own);
        if own.len() > held.len() {
            disjoint(&own, plan, ontology, said);
        }
    }
    each(&plan.filters, &mut |conditions| {
        let mut held = Vec::new();
        together(conditions, &mut held);
        disjoint(&held, plan, ontology, said);
    });
}

/// The windows among conditions that all hold.
fn together<'a>(conditions: &'a [Condition], held: &mut Vec<(Option<&'a FieldRef>, &'a Window, bool)>) {
    for condition in conditions.iter().flat_map(Condition::together) {
        if let Condition::Within { field, window, negated } = condition {
            held.push((Some(field), window, *negated));
        }
    }
}

fn disjoint(held: &[(Option<&FieldRef>, &Window, bool)], plan: &Plan, ontology: &Ontology, said: &mut Vec<String>) {
    for (at, (field, window, negated)) in held.iter().enumerate() {
        for (other, late, not) in held.iter().skip(at + 1) {
            let same = match (field, other) {
                (Some(one), Some(other)) => one == other,
                (None, Some(field)) | (Some(field), None) => is_usual(field, plan, ontology),
                (None, None) => true,
            };
            let apart = match (negated, not) {
                (false, false) => before(window, late) || before(late, window),
                (false, true) => inside(window, late),
                (true, false) => inside(late, window),
                (true, true) => false,
            };
            if same && apart {
                let phrase = |window: &Window, negated: bool| {
                    let words = window.phrase.clone().unwrap_or_else(|| match (&window.start, &window.end) {
                        (Some(start), Some(end)) => format!("from {start} to before {end}"),
                        (Some(start), None) => format!("since {start}"),
                        (None, Some(end)) => format!("before {end}"),
                        (None, None) => "any time".to_owned(),
                    });
                    if negated { format!("not {words}") } else { words }
                };
                let text = format!(
                    "No time is in both “{}” and “{}”: ask for one of them, or for both with “compare”.",
                    phrase(window, *negated),
                    phrase(late, *not)
                );
                if !said.contains(&text) {
                    said.push(text);
                }
            }
        }
    }
}

/// Whether a field is when the rows of a number are taken to have been, where the plan names no field.
fn is_usual(field: &FieldRef, plan: &Plan, ontology: &Ontology) -> bool {
    let own = format!("{}.{}", field.dataset, field.field);
    let of = |measure: &Measure| match &measure.value {
        Value::Metric(name) => ontology.metric(name).and_then(|metric| metric.default_time_field.clone()),
        Value::Count(dataset) => default_of(dataset, ontology),
        Value::Aggregate { field, .. } => default_of(&field.dataset, ontology),
        _ => None,
    };
    let listed = plan.subject.as_deref().filter(|_| plan.measures.is_empty()).and_then(|it| default_of(it, ontology));
    let times: Vec<Option<String>> = plan.measures.iter().map(of).collect();
    let known = if times.iter().all(Option::is_none) { default_of(&field.dataset, ontology) } else { None };
    times.into_iter().chain([listed, known]).flatten().any(|time| time.eq_ignore_ascii_case(&own))
}

fn default_of(dataset: &str, ontology: &Ontology) -> Option<String> {
    let entity = ontology.entity(dataset)?;
    entity.default_time_field.as_ref().map(|field| format!("{}.{field}", entity.name))
}

/// A civil time that can be compared as text.
fn civil(at: &str) -> String {
    if at.len() == 10 { format!("{at}T00:00:00") } else { at.to_owned() }
}

/// Whether one window ends before the other begins.
fn before(one: &Window, other: &Window) -> bool {
    matches!((&one.end, &other.start), (Some(end), Some(start)) if civil(end) <= civil(start))
}

/// Whether one window lies in the other.
fn inside(one: &Window, other: &Window) -> bool {
    let from = match (&one.start, &other.start) {
        (_, None) => true,
        (Some(start), Some(other)) => civil(start) >= civil(other),
        (None, Some(_)) => false,
    };
    let to = match (&one.end, &other.end) {
        (_, None) => true,
        (Some(end), Some(other)) => civil(end) <= civil(other),
        (None, Some(_)) => false,
    };
    from && to
}
