//! Metrics of the ontology taken apart into leaves.

use crate::engine::ontology::expression::{Aggregate, Call};
use crate::engine::ontology::graph::Steps;
use crate::model::ontology::{Additivity, in_words};
use crate::model::plan::FieldRef;

use super::calc::Calc;
use super::error::CompileError;
use super::fields::broken;
use super::leaf::{Frame, Leaf, What, position, rows};
use super::work::{Work, unknown};
use crate::engine::render::nouns::capital;

/// Takes a metric apart; `inside` are the names of those that it is part of.
pub(super) fn metric(
    work: &mut Work<'_>,
    name: &str,
    frame: &Frame,
    leaves: &mut Vec<Leaf>,
    inside: &mut Vec<String>,
) -> Result<Calc, CompileError> {
    let metric = work.metric(name)?;
    if inside.iter().any(|other| other.eq_ignore_ascii_case(name)) {
        return Err(CompileError::Unsupported(format!(
            "the metric {name} is made from itself: {}",
            inside.join(" from ")
        )));
    }
    let expression =
        Aggregate::parse(&metric.expression).map_err(|problem| broken(&format!("metric {name}"), &problem))?;
    let expression = Box::new(expression);
    inside.push(metric.name.clone());
    let words = capital(&in_words(&metric.name));
    let own_time = match metric.default_time_field.as_deref().and_then(|field| field.split_once('.')) {
        Some((dataset, field)) => Some((work.dataset(dataset)?, FieldRef::new(dataset, field))),
        None => None,
    };
    metric.filters.iter().for_each(|own| work.reads.of_metric(&metric.name, own));
    let mut calls = Vec::new();
    let shared = shared_home(work, &expression, name)?;
    for call in expression.calls() {
        let home = match home(work, call, name)?.or(shared).or(own_time.as_ref().map(|(dataset, _)| *dataset)) {
            Some(home) => home,
            None if work.ontology.datasets.len() == 1 => 0,
            None => {
                return Err(CompileError::Unsupported(format!(
                    "the metric {name} counts rows without saying of what: write COUNT(dataset.key)"
                )));
            }
        };
        let time = match &own_time {
            None => None,
            Some((dataset, field)) => match work.way(home, *dataset, &[], Steps::ToOne) {
                Ok(_) => Some(field.clone()),
                Err(CompileError::Unreachable { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        let mut rows = rows(work, home, time, frame)?;
        rows.own.extend(metric.filters.iter().cloned());
        rows.last = metric.additivity == Additivity::SemiAdditive && call.function == "sum";
        if rows.last && rows.time.is_none() {
            return Err(CompileError::Unsupported(format!(
                "the metric {name} is semi-additive and has no time: give it a default_time_field"
            )));
        }
        let leaf = Leaf { rows, what: What::Call(Box::new(call.clone())), name: words.clone() };
        calls.push(Calc::Leaf(position(leaves, leaf)));
    }
    let mut metrics = Vec::new();
    for other in expression.metrics() {
        if work.ontology.metric(other).is_none() {
            return Err(unknown("metric", other, work.ontology.metrics.iter().map(|metric| metric.name.as_str())));
        }
        let mut narrowed = frame.clone();
        narrowed.own.extend(metric.filters.iter().cloned());
        metrics.push((other.clone(), self::metric(work, other, &narrowed, leaves, inside)?));
    }
    inside.pop();
    Ok(Calc::of_metric(expression, calls, metrics, leaves))
}

/// The home that all calls of a metric that name one share.
fn shared_home(work: &mut Work<'_>, expression: &Aggregate, name: &str) -> Result<Option<usize>, CompileError> {
    let mut homes = Vec::new();
    for call in expression.calls() {
        if let Some(home) = home(work, call, name)?
            && !homes.contains(&home)
        {
            homes.push(home);
        }
    }
    Ok(if homes.len() == 1 { homes.first().copied() } else { None })
}

/// The dataset whose rows a call is over: the one that each of its other datasets is met from once.
fn home(work: &mut Work<'_>, call: &Call, name: &str) -> Result<Option<usize>, CompileError> {
    let mut datasets = Vec::new();
    for reference in call.refs() {
        let Some(dataset) = &reference.dataset else {
            return Err(CompileError::Unsupported(format!(
                "the metric {name} names {} without its dataset: write dataset.{}",
                reference.name, reference.name
            )));
        };
        let dataset = work.dataset(dataset)?;
        if !datasets.contains(&dataset) {
            datasets.push(dataset);
        }
    }
    for &home in &datasets {
        let mut reaches_all = true;
        for &other in &datasets {
            reaches_all &= match work.way(home, other, &[], Steps::ToOne) {
                Ok(_) => true,
                Err(CompileError::Unreachable { .. }) => false,
                Err(error) => return Err(error),
            };
        }
        if reaches_all {
            return Ok(Some(home));
        }
    }
    if datasets.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = datasets.iter().map(|dataset| work.entity(*dataset).name.as_str()).collect();
    Err(CompileError::FanOut {
        measure: capital(&in_words(name)),
        relationship: names.join(" and "),
        instead: "no row of one belongs to one row of each other; aggregate each by itself and combine the results"
            .into(),
    })
}
