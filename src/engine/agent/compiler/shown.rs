//! What is shown instead of the numbers: shares, running totals, changes and moving averages.

use crate::engine::render::nouns::plural;
use crate::model::ontology::Additivity;
use crate::model::plan::{Grain, Measure, Shown, Value};
use crate::model::source::Dialect;

use super::block::{Block, Number};
use super::check::{Check, CheckKind, column_name, without_rows};
use super::course::{time_dimension, unit_number};
use super::error::CompileError;
use super::layer::Layer;
use super::words::words;
use super::work::Work;

/// What is shown instead of the numbers.
pub(super) fn shown(
    work: &mut Work<'_>,
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
        let one = |sql: &str| shown_as(work, layer, shown, sql, is_zero(work, measure, value));
        written.push((one(now)?, other.as_deref().map(one).transpose()?));
    }
    units_passed_over(work, block, layer);
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

/// Whether a group, or a unit of time, without a row has 0 of it: there is nothing to count or to add up.
pub(super) fn is_zero(work: &Work<'_>, measure: &Measure, value: &Number) -> bool {
    value.counts || value.adds_up || is_additive(work, measure)
}

fn shown_as(work: &Work<'_>, layer: &Layer, shown: &Shown, sql: &str, zero: bool) -> Result<String, CompileError> {
    let dialect = work.dialect;
    if let Shown::Share { within } = shown {
        let by: Vec<&str> = within.iter().map(|at| layer.dim(*at)).collect();
        let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {}", by.join(", ")) };
        return Ok(dialect.quotient(sql, &format!("SUM({sql}) OVER ({by})")));
    }
    let Some(course) = Course::of(work, layer) else {
        return Err(CompileError::Unsupported("a course over time needs a time to group by".into()));
    };
    // Another number may have a row of a unit of which this one has none.
    let sql = if zero && layer.gaps { format!("COALESCE({sql}, 0)") } else { sql.to_owned() };
    Ok(match shown {
        Shown::Cumulative => {
            format!("SUM({sql}) OVER ({} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", course.along())
        }
        Shown::Change => format!("({sql} - {})", course.before(dialect, &sql, zero)),
        Shown::ChangePercent => {
            let before = course.before(dialect, &sql, zero);
            dialect.quotient(&format!("({sql} - {before})"), &before)
        }
        Shown::MovingAverage { rows } => course.mean(dialect, &sql, *rows, zero),
        Shown::Share { .. } => sql,
    })
}

/// Where a course goes along, as SQL.
struct Course {
    /// PARTITION BY the other dimensions, with a space behind it; empty without any.
    by: String,
    time: String,
    /// The number of the time's unit, and how far apart two that follow each other are. None where the time is cut to
    /// no unit: then a course goes from row to row.
    unit: Option<(String, u32)>,
}

impl Course {
    /// None where nothing that is grouped by is a time.
    fn of(work: &Work<'_>, layer: &Layer) -> Option<Self> {
        let time = time_dimension(work)?;
        let others: Vec<&str> =
            layer.dims.iter().enumerate().filter(|(at, _)| *at != time).map(|(_, sql)| sql.as_str()).collect();
        let by = if others.is_empty() { String::new() } else { format!("PARTITION BY {} ", others.join(", ")) };
        let grain = work.plan.dimensions.get(time).and_then(|dimension| dimension.grain);
        let unit = grain.map(|grain| unit_number(work, grain, layer.dim(time)));
        Some(Self { by, time: layer.dim(time).to_owned(), unit })
    }

    fn along(&self) -> String {
        format!("{}ORDER BY {}", self.by, self.time)
    }

    /// The number right before: of the unit before, whatever the row before is of.
    fn before(&self, dialect: Dialect, sql: &str, zero: bool) -> String {
        let value = dialect.before(sql, &self.along());
        let Some((unit, step)) = &self.unit else { return value };
        let last = dialect.before(unit, &self.along());
        let none = if zero { format!(" WHEN {last} < {unit} - {step} THEN 0") } else { String::new() };
        format!("CASE WHEN {last} = {unit} - {step} THEN {value}{none} END")
    }

    /// The mean of so many units; of those that there are, where the first of all is among them.
    fn mean(&self, dialect: Dialect, sql: &str, rows: u32, zero: bool) -> String {
        let Some((unit, step)) = &self.unit else {
            let before = rows.saturating_sub(1);
            return format!("AVG({sql}) OVER ({} ROWS BETWEEN {before} PRECEDING AND CURRENT ROW)", self.along());
        };
        let reach = u64::from(rows.saturating_sub(1)) * u64::from(*step);
        let over = format!("OVER ({}ORDER BY {unit} RANGE BETWEEN {reach} PRECEDING AND CURRENT ROW)", self.by);
        if !zero {
            return format!("AVG({sql}) {over}");
        }
        let passed = format!("({unit} - MIN({unit}) OVER ({}))", self.by.trim_end());
        let units = format!("CASE WHEN {passed} >= {reach} THEN {rows} ELSE {passed} / {step} + 1 END");
        dialect.quotient(&format!("SUM({sql}) {over}"), &units)
    }
}

/// Looks up how many units of time are passed over without a row, and so count as 0 or are left out: of those that are
/// shown, and of those before them that they reach back to.
fn units_passed_over(work: &mut Work<'_>, block: &Block, layer: &Layer) {
    let plan = work.plan;
    let grain = time_dimension(work).and_then(|at| plan.dimensions.get(at)).and_then(|dimension| dimension.grain);
    let (Some(course), Some(grain)) = (Course::of(work, layer), grain) else { return };
    let Some((unit, step)) = &course.unit else { return };
    let mut last = work.dialect.before(unit, &course.along());
    let (mut number_of, mut counted) = (String::new(), String::new());
    if let Some(since) = &block.since {
        let (start, _) = unit_number(work, grain, &since.start);
        let before = format!("{start} - {}", (since.reach + 1) * i64::from(*step));
        last = format!("CASE WHEN {last} < {before} THEN {before} ELSE {last} END");
        number_of = format!(", {unit} AS \"unit\"");
        counted = format!("\nWHERE \"unit\" > {before}");
    }
    let passed = format!("({unit} - {last})");
    for (measure, value) in plan.measures.iter().zip(&block.values) {
        let reaches =
            matches!(measure.shown_as, Some(Shown::Change | Shown::ChangePercent | Shown::MovingAverage { .. }));
        let zero = is_zero(work, measure, value);
        let name = format!("units:{zero}");
        if !reaches || !work.checks.is_new(name.clone()) {
            continue;
        }
        let (without, of) = (work.checks.column(), work.checks.column());
        work.checks.look_up(format!(
            "SELECT COALESCE(SUM(\"missing\"), 0) AS {}, COUNT(*) + COALESCE(SUM(\"missing\"), 0) AS {}\nFROM (\n  \
             SELECT CASE WHEN {passed} > {step} THEN {passed} / {step} - 1 ELSE 0 END AS \"missing\"{number_of}\n  \
             FROM {}\n) AS \"units\"{counted}",
            column_name(without),
            column_name(of),
            layer.from
        ));
        let groups = units(grain, layer.dims.len(), block.since.is_some());
        let says = format!("all {groups} have a row");
        let have = without_rows(zero);
        work.checks.list.push(Check { name, kind: CheckKind::Groups { without, of, groups, have }, says });
    }
}

/// "months", and where each group has its own, "months of single groups"; where some are read that are not shown, with
/// those.
fn units(grain: Grain, dims: usize, reaches_before: bool) -> String {
    let of = if dims > 1 { " of single groups" } else { "" };
    let with = if reaches_before { " with those right before that count in them" } else { "" };
    format!("{}{of}{with}", plural(grain.words()))
}
