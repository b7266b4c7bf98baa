//! What the columns of an answer are called.
//!
//! A heading is short while no other says the same: "Town", "Number of orders". Where two columns would be called alike,
//! each says more: of which rows it is, and under which conditions. What leads to a dataset is always said where several
//! ways do.

use std::collections::BTreeMap;

use super::words::{aggregate_of, words};
use super::work::Work;
use crate::engine::agent::query::conditions;
use crate::engine::render::nouns::capital;
use crate::model::ontology::{Entity, Field, Relationship, in_words};
use crate::model::plan::{Dimension, Grain, Measure, Shown, Value};

/// Conditions in a heading, in characters: those of a list of values have no end.
const LONGEST: usize = 80;

/// What the columns of a plan are called; a comparison has more of each measure.
pub(super) struct Headings {
    pub dimensions: Vec<String>,
    pub measures: Vec<String>,
}

/// The headings of a plan. Those that a query gives itself stay as they are.
pub(super) fn headings(work: &Work<'_>) -> Headings {
    let plan = work.plan;
    let unnamed = plan.dimensions.iter().filter(|it| it.label.is_none()).map(|it| of_dimension(work, it));
    let of_measures = plan.measures.iter().filter(|it| it.label.is_none()).map(|it| of_measure(work, it));
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for heading in unnamed.chain(of_measures) {
        *count.entry(heading.to_lowercase()).or_default() += 1;
    }
    let is_alone = |heading: &str| count.get(&heading.to_lowercase()).is_none_or(|count| *count == 1);
    let dimension = |it: &Dimension| {
        let short = of_dimension(work, it);
        if it.label.is_some() || is_alone(&short) { short } else { capital(&dimension_words(work, it, true)) }
    };
    let measure = |it: &Measure| {
        let short = of_measure(work, it);
        if it.label.is_some() || is_alone(&short) { short } else { measure_in_full(work, it) }
    };
    Headings {
        dimensions: plan.dimensions.iter().map(dimension).collect(),
        measures: plan.measures.iter().map(measure).collect(),
    }
}

/// What a dimension is called where nothing else is called so.
pub(super) fn of_dimension(work: &Work<'_>, dimension: &Dimension) -> String {
    dimension.label.clone().unwrap_or_else(|| capital(&dimension_words(work, dimension, false)))
}

fn dimension_words(work: &Work<'_>, dimension: &Dimension, in_full: bool) -> String {
    let at = &dimension.field;
    let field = work.ontology.field(&at.dataset, &at.field).map(Field::words).unwrap_or_default();
    let noun = work.ontology.entity(&at.dataset).filter(|_| in_full).map(Entity::noun);
    let before = roles(work, &at.via).into_iter().chain(noun).rev();
    let words = before.fold(field, |words, said| if says(&words, &said) { words } else { format!("{said} {words}") });
    match dimension.grain {
        Some(Grain::DayOfWeek) => format!("{words} ({}, 1 is Monday)", Grain::DayOfWeek.words()),
        Some(grain) => format!("{words} ({})", grain.words()),
        None => words,
    }
}

/// What the relationships of a way are to those who take it. One without a role has its name where others lead to the
/// same dataset.
fn roles(work: &Work<'_>, via: &[String]) -> Vec<String> {
    let all = &work.ontology.relationships;
    let beside = |one: &Relationship, other: &Relationship| {
        one.name != other.name && one.from.eq_ignore_ascii_case(&other.from) && one.to.eq_ignore_ascii_case(&other.to)
    };
    let ways = via.iter().filter_map(|name| work.ontology.relationship(name));
    let said = ways.filter_map(|one| match &one.role {
        Some(role) => Some(in_words(role)),
        None => all.iter().any(|other| beside(one, other)).then(|| in_words(&one.name)),
    });
    said.collect()
}

fn says(words: &str, part: &str) -> bool {
    format!(" {} ", words.to_lowercase()).contains(&format!(" {} ", part.to_lowercase()))
}

fn of_measure(work: &Work<'_>, measure: &Measure) -> String {
    shown(work, measure, words(work, measure))
}

/// Of which rows a number is, and under which conditions.
fn measure_in_full(work: &Work<'_>, measure: &Measure) -> String {
    let words = match &measure.value {
        Value::Aggregate { function, field } => capital(&aggregate_of(work, *function, field, true)),
        _ => words(work, measure),
    };
    let heading = shown(work, measure, words);
    if measure.filters.is_empty() {
        return heading;
    }
    let told = conditions(&measure.filters, work.ontology);
    match told.chars().count() > LONGEST {
        true => format!("{heading} where {}…", told.chars().take(LONGEST).collect::<String>()),
        false => format!("{heading} where {told}"),
    }
}

/// What a number is called by its words. A share is called so; what else is shown of a number is told from the number
/// itself where that is beside it, as in a comparison.
fn shown(work: &Work<'_>, measure: &Measure, words: String) -> String {
    let itself =
        |other: &Measure| other.shown_as.is_none() && other.value == measure.value && other.filters == measure.filters;
    let said = match &measure.shown_as {
        Some(Shown::Share { within }) if measure.label.is_none() => {
            let of = words.trim_start_matches("Number of ").to_lowercase();
            let dimensions = within.iter().filter_map(|at| work.plan.dimensions.get(*at));
            let groups: Vec<String> =
                dimensions.map(|dimension| of_dimension(work, dimension).to_lowercase()).collect();
            return match groups.is_empty() {
                true => format!("Share of {of}"),
                false => format!("Share of {of} within {}", groups.join(" and ")),
            };
        }
        Some(Shown::Change) => "difference",
        Some(Shown::ChangePercent) => "change",
        Some(Shown::Cumulative) => "running total",
        Some(Shown::MovingAverage { .. }) => "moving average",
        Some(Shown::Share { .. }) | None => return words,
    };
    if work.plan.measures.iter().any(itself) { format!("{words}, {said}") } else { words }
}
