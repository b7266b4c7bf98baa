//! The numbers that are asked for: the plan's by its dimensions, and one for each row of a dataset.

use crate::model::plan::Measure;

use super::block::{Block, groups};
use super::course::{low_units, since};
use super::error::CompileError;
use super::layout::list;
use super::leaf::Frame;
use super::names::Names;
use super::rows::Dim;
use super::subject::Each;
use super::words::words;
use super::work::{Keyed, Work};
use crate::model::source::quoted;

/// The plan's measures by its dimensions.
pub(super) fn of_plan(work: &mut Work<'_>) -> Result<Block, CompileError> {
    let plan = work.plan;
    let mut names = Names::default();
    let mut columns = Vec::new();
    for dimension in &plan.dimensions {
        columns.push(names.fresh(&dimension.field.field));
    }
    let dims: Vec<Dim> = plan.dimensions.iter().cloned().map(Dim::Plan).collect();
    let mut frame = Frame {
        filters: plan.filters.clone(),
        own: Vec::new(),
        window: plan.time.as_ref().map(|time| time.window.clone()),
        since: None,
        time: plan.time.as_ref().and_then(|time| time.field.clone()),
        other: false,
    };
    if plan.comparison.is_some() && plan.time.is_none() {
        return Err(CompileError::Unsupported("a comparison with another time needs a time to compare".into()));
    }
    let measures: Vec<&Measure> = plan.measures.iter().collect();
    frame.since = since(work, &frame)?;
    if frame.since.is_some()
        && let Some(window) = &mut frame.window
    {
        window.start = None;
    }
    let each = match (&plan.subject, columns.first()) {
        (Some(subject), _) => Some(Each::Row(work.dataset(subject)?)),
        (None, Some(name)) => low_units(work, &frame, name)?.map(Each::Unit),
        (None, None) => None,
    };
    let mut block = groups(work, &dims, &columns, &measures, &frame, plan.comparison.as_ref(), each)?;
    block.names = columns;
    block.since = frame.since;
    Ok(block)
}

/// A measure for each row of a dataset, also for those without any of its rows.
pub(super) fn of_each(work: &mut Work<'_>, dataset: usize, measure: &Measure) -> Result<Keyed, CompileError> {
    let entity = work.entity(dataset);
    if entity.primary_key.is_empty() {
        return Err(CompileError::Unsupported(format!(
            "a number for each {} needs to know which it is: give {} a primary_key",
            entity.noun(),
            entity.name
        )));
    }
    let groups = groups(work, &[], &[], &[measure], &Frame::default(), None, Some(Each::Row(dataset)))?;
    let number = groups.values.first();
    let is_sum = number.is_some_and(|number| number.adds_up && !number.counts);
    if !is_sum && number.is_some_and(|number| number.may_lack) {
        work.gaps_decide();
    }
    let mut names = Names::default();
    let keys: Vec<String> = entity.primary_key.iter().map(|column| names.fresh(column)).collect();
    let value = names.fresh("number");
    let mut select: Vec<String> =
        groups.ties.iter().zip(&keys).map(|(sql, name)| format!("{sql} AS {}", quoted(name))).collect();
    let number = number.map(|number| number.sql.clone()).unwrap_or_default();
    let number = if is_sum { format!("COALESCE({number}, 0)") } else { number };
    select.push(format!("{number} AS {}", quoted(&value)));
    let name = work.part(
        &format!("{} of each {}", words(work, measure), entity.noun()),
        format!("SELECT\n{}\nFROM {}", list(&select), groups.from),
    );
    Ok(Keyed { name, keys, value: quoted(&value), is_sum })
}
