//! What is shown instead of the numbers: shares, running totals, changes and moving averages.

use crate::model::ontology::Additivity;
use crate::model::plan::{Dimension, Grain, Measure, Shown, Value};

use super::block::Block;
use super::error::CompileError;
use super::layer::Layer;
use super::words::words;
use super::work::Work;

/// What is shown instead of the numbers.
pub(super) fn shown(
    work: &Work<'_>,
    block: &Block,
    layer: &Layer,
) -> Result<Vec<(String, Option<String>)>, CompileError> {
    let plan = work.plan;
    let mut written = Vec::new();
    for ((measure, value), (now, other)) in plan.measures.iter().zip(&block.values).zip(&layer.numbers) {
        let Some(shown) = &measure.shown_as else {
            written.push((now.clone(), other.clone()));
            continue;
        };
        let sums = matches!(shown, Shown::Share { .. } | Shown::Cumulative);
        if sums && !(value.adds_up || is_additive(work, measure)) {
            return Err(CompileError::Unsupported(format!(
                "{} does not add up, so that it has no shares and no running total: ask for a sum or a number of rows",
                words(work, measure)
            )));
        }
        let one = |sql: &str| shown_as(work, layer, shown, sql);
        written.push((one(now)?, other.as_deref().map(one).transpose()?));
    }
    Ok(written)
}

/// Whether the ontology says that it adds up.
fn is_additive(work: &Work<'_>, measure: &Measure) -> bool {
    match &measure.value {
        Value::Metric(name) => {
            work.ontology.metric(name).is_some_and(|metric| metric.additivity == Additivity::Additive)
        }
        _ => false,
    }
}

fn shown_as(work: &Work<'_>, layer: &Layer, shown: &Shown, sql: &str) -> Result<String, CompileError> {
    if let Shown::Share { within } = shown {
        let by: Vec<&str> = within.iter().map(|at| layer.dim(*at)).collect();
        let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {}", by.join(", ")) };
        return Ok(work.dialect.quotient(sql, &format!("SUM({sql}) OVER ({by})")));
    }
    let Some(time) = time_dimension(work) else {
        return Err(CompileError::Unsupported("a course over time needs a time to group by".into()));
    };
    let others: Vec<&str> =
        layer.dims.iter().enumerate().filter(|(at, _)| *at != time).map(|(_, sql)| sql.as_str()).collect();
    let by = if others.is_empty() { String::new() } else { format!("PARTITION BY {} ", others.join(", ")) };
    let along = format!("{by}ORDER BY {}", layer.dim(time));
    Ok(match shown {
        Shown::Cumulative => format!("SUM({sql}) OVER ({along} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"),
        Shown::Change => format!("({sql} - {})", work.dialect.before(sql, &along)),
        Shown::ChangePercent => {
            let before = work.dialect.before(sql, &along);
            work.dialect.quotient(&format!("({sql} - {before})"), &before)
        }
        Shown::MovingAverage { rows } => {
            let before = rows.saturating_sub(1);
            format!("AVG({sql}) OVER ({along} ROWS BETWEEN {before} PRECEDING AND CURRENT ROW)")
        }
        Shown::Share { .. } => sql.to_owned(),
    })
}

/// The first dimension that is a time; a stretch of time comes before a cycle.
fn time_dimension(work: &Work<'_>) -> Option<usize> {
    let dimensions = &work.plan.dimensions;
    let is_time = |dimension: &Dimension| {
        let field = work.ontology.field(&dimension.field.dataset, &dimension.field.field);
        field.is_some_and(|field| field.datatype.is_calendar()) && !dimension.grain.is_some_and(Grain::is_cycle)
    };
    dimensions.iter().position(is_time).or_else(|| dimensions.iter().position(|dimension| dimension.grain.is_some()))
}
