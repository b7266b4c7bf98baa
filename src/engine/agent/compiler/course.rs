//! The course of a number over time: which time it goes along, and whether what was before the plan's window is read
//! too, so that its first rows have what goes before them. Then all of it is: a course begins with its first row,
//! however long before. It goes by units of the calendar, and one without a row is one all the same; so it is where the
//! lowest are asked for.

use crate::engine::render::nouns::plural;
use crate::model::plan::{Bound, By, Comparator, Dimension, FieldRef, Grain, Plan, Shown, TimeUnit};

use super::calendar::bounds;
use super::error::CompileError;
use super::leaf::{Frame, Since, leaf_at};
use super::measure;
use super::spine::units;
use super::work::Work;

/// The position of the first dimension that is a time; a stretch of time comes before a cycle.
pub(super) fn time_dimension(work: &Work<'_>) -> Option<usize> {
    let dimensions = &work.plan.dimensions;
    let is_time = |dimension: &Dimension| {
        dimension.field.is_calendar(work.ontology) && !dimension.grain.is_some_and(Grain::is_cycle)
    };
    dimensions.iter().position(is_time).or_else(|| dimensions.iter().position(|dimension| dimension.grain.is_some()))
}

/// The number of a unit of the calendar, as SQL over its first day (of an hour its beginning, of a cycle its number), and
/// how far apart those of two that follow each other are.
pub(super) fn unit_number(work: &Work<'_>, grain: Grain, sql: &str) -> (String, u32) {
    let dialect = work.dialect;
    let part = |part: &str| format!("CAST({} AS INTEGER)", dialect.part(part, sql));
    let days = || dialect.days(&dialect.day_literal("1970-01-01"), &dialect.day(sql));
    let months = || format!("(12 * {} + {})", part("year"), part("month"));
    match grain {
        Grain::Hour => (format!("(24 * {} + {})", days(), part("hour")), 1),
        Grain::Day => (days(), 1),
        Grain::Week => (days(), 7),
        Grain::Month => (months(), 1),
        Grain::Quarter | Grain::FiscalQuarter => (months(), 3),
        Grain::Year | Grain::FiscalYear => (months(), 12),
        Grain::HourOfDay | Grain::DayOfWeek | Grain::DayOfMonth | Grain::MonthOfYear | Grain::QuarterOfYear => {
            (sql.to_owned(), 1)
        }
    }
}

/// Where the plan's window begins, if what was before is to be read. None where nothing shown reaches back, where the
/// window begins within a unit, of which the part before it is not meant, and where rows are placed by another time
/// than they are grouped by.
pub(super) fn since(work: &mut Work<'_>, frame: &Frame) -> Result<Option<Since>, CompileError> {
    let plan = work.plan;
    let (Some(reach), Some(window), Some(at)) = (reach(plan), &frame.window, time_dimension(work)) else {
        return Ok(None);
    };
    let Some(dimension) = plan.dimensions.get(at) else { return Ok(None) };
    let Some(unit) = dimension.grain.and_then(TimeUnit::of) else { return Ok(None) };
    let Some(start) = bounds(window)?.0 else { return Ok(None) };
    let begins = unit.start(start, &work.ontology.calendar) == Some(start);
    if !begins || !is_placed_by(work, frame, &dimension.field)? {
        return Ok(None);
    }
    // Without an end nothing else says it.
    work.reads.time(&dimension.field);
    let start = match unit {
        TimeUnit::Hour => work.dialect.civil_literal(&start.strftime("%Y-%m-%d %H:%M:%S").to_string()),
        _ => work.dialect.day_literal(&start.date().to_string()),
    };
    Ok(Some(Since { dimension: at, start, reach }))
}

/// How many units before a row what is shown reaches back; `None` where it does not, or something else that is shown is
/// taken over all rows.
fn reach(plan: &Plan) -> Option<i64> {
    if plan.comparison.is_some() || plan.subject.is_some() {
        return None;
    }
    let mut most = 0;
    for measure in &plan.measures {
        most = most.max(match &measure.shown_as {
            None => 0,
            Some(Shown::Change | Shown::ChangePercent) => 1,
            Some(Shown::MovingAverage { rows }) => i64::from(rows.saturating_sub(1)),
            Some(Shown::Share { .. } | Shown::Cumulative) => return None,
        });
    }
    (most > 0).then_some(most)
}

/// Whether a field is when the rows of every number were.
fn is_placed_by(work: &mut Work<'_>, frame: &Frame, at: &FieldRef) -> Result<bool, CompileError> {
    let plan = work.plan;
    let mut leaves = Vec::new();
    for measure in &plan.measures {
        measure::take(work, measure, frame, &mut leaves)?;
    }
    Ok(leaves.iter().all(|leaf| leaf.rows.is_placed_by(at)))
}

/// The units of time of the plan's window, also those without a row, as a column of this name: where some of them are
/// asked for because a number is low, and it is 0 where there is no row.
pub(super) fn low_units(work: &mut Work<'_>, frame: &Frame, name: &str) -> Result<Option<String>, CompileError> {
    let plan = work.plan;
    let low = low(plan);
    let Some(grain) = plan.dimensions.iter().find_map(|dimension| TimeUnit::of(dimension.grain?).and(dimension.grain))
    else {
        return Ok(None);
    };
    if low.is_empty() || plan.subject.is_some() || plan.measures.iter().any(|measure| measure.shown_as.is_some()) {
        return Ok(None);
    }
    let mut leaves = Vec::new();
    for (at, measure) in plan.measures.iter().enumerate() {
        let number = measure::take(work, measure, frame, &mut leaves)?;
        let counts = number.as_leaf().is_some_and(|at| leaf_at(&leaves, at).counts());
        if low.contains(&at) && !counts && !number.adds_up(&leaves) {
            return Ok(None);
        }
    }
    let is_one_time = leaves.iter().all(|leaf| plan.dimensions.iter().all(|at| leaf.rows.is_placed_by(&at.field)));
    let units = match leaves.first() {
        Some(leaf) if is_one_time => units(work, &leaf.rows, &plan.dimensions, name)?,
        _ => None,
    };
    if units.is_none() {
        work.note(format!("Only {} with a row are compared.", plural(grain.words())));
    }
    Ok(units)
}

/// The numbers that are asked for because they are low: the lowest of them, those that meet a bound as 0 does, and what
/// is held against all others.
fn low(plan: &Plan) -> Vec<usize> {
    let bounded = plan.having.iter().filter(|having| match &having.value {
        Bound::Number(number) => zero_meets(having.op, number.get()),
        Bound::Overall(_) => true,
    });
    let first = plan.order.first().filter(|order| plan.limit.is_some() && !order.descending);
    let lowest = first.and_then(|order| match order.by {
        By::Measure(at) => Some(at),
        By::Dimension(_) | By::Difference(_) | By::Change(_) => None,
    });
    bounded.map(|having| having.measure).chain(lowest).collect()
}

fn zero_meets(op: Comparator, bound: f64) -> bool {
    match op {
        Comparator::Equal => bound == 0.0,
        Comparator::NotEqual => bound != 0.0,
        Comparator::Less => bound > 0.0,
        Comparator::AtMost => bound >= 0.0,
        Comparator::Greater => bound < 0.0,
        Comparator::AtLeast => bound <= 0.0,
    }
}
