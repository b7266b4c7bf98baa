//! The columns of an answer: headings, types, units.

use crate::model::ontology::{Aggregation, DataType, Field};
use crate::model::plan::{Dimension, Grain, Measure, Shown, Value};

use super::block::Block;
use super::compiled::{OutputColumn, Role};
use super::layer::{Layer, change, difference};
use super::names::Names;
use super::words::words;
use super::work::Work;
use crate::engine::render::nouns::capital;
use crate::model::source::quoted;

/// The columns of the result and their SQL.
pub(super) fn columns(work: &Work<'_>, block: &Block, layer: &Layer) -> (Vec<OutputColumn>, Vec<String>) {
    let plan = work.plan;
    let mut headings = Names::default();
    let mut columns: Vec<OutputColumn> = Vec::new();
    let mut select = Vec::new();
    let mut add = |wanted: String, sql: &str, mut column: OutputColumn| {
        column.heading = headings.heading(&wanted);
        select.push(format!("{sql} AS {}", quoted(&column.heading)));
        columns.push(column);
    };
    for (at, (dimension, sql)) in plan.dimensions.iter().zip(&layer.dims).enumerate() {
        let (heading, column) = of_dimension(work, dimension, at);
        add(heading, sql, column);
    }
    let values = layer.numbers.iter().zip(&block.values);
    for (at, (measure, (number, value))) in plan.measures.iter().zip(values).enumerate() {
        let heading = heading(work, measure);
        let column = of_measure(work, measure, at, value.counts);
        add(heading.clone(), &number.0, column.clone());
        if let (Some(other), Some(comparison)) = (&number.1, &plan.comparison) {
            let phrase = comparison.with.phrase.clone().unwrap_or_else(|| "before".to_owned());
            add(format!("{heading}, {phrase}"), other, OutputColumn { role: Role::Other(at), ..column.clone() });
            let less = OutputColumn { role: Role::Difference(at), nullable: true, ..column.clone() };
            add(format!("{heading}, difference"), &difference(number), less);
            let part = OutputColumn {
                role: Role::Change(at),
                datatype: DataType::Float,
                unit: None,
                format: Some("0.0%".into()),
                nullable: true,
                ..column
            };
            add(format!("{heading}, change"), &change(work, number), part);
        }
    }
    (columns, select)
}

/// What a number is called. A share is called so; what else is shown of a number is told from the number itself where
/// that is beside it, as in a comparison.
fn heading(work: &Work<'_>, measure: &Measure) -> String {
    let words = words(work, measure);
    let itself =
        |other: &Measure| other.shown_as.is_none() && other.value == measure.value && other.filters == measure.filters;
    let said = match &measure.shown_as {
        Some(Shown::Share { within }) if measure.label.is_none() => {
            let of = words.trim_start_matches("Number of ").to_lowercase();
            let dimensions = within.iter().filter_map(|at| Some((*at, work.plan.dimensions.get(*at)?)));
            let groups: Vec<String> =
                dimensions.map(|(at, dimension)| of_dimension(work, dimension, at).0.to_lowercase()).collect();
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

pub(super) fn of_dimension(work: &Work<'_>, dimension: &Dimension, at: usize) -> (String, OutputColumn) {
    let field = work.ontology.field(&dimension.field.dataset, &dimension.field.field);
    let words = field.map(Field::words).unwrap_or_default();
    let role = dimension.field.via.first().and_then(|name| work.ontology.relationship(name));
    let words = match role.and_then(|relationship| relationship.role.as_ref()) {
        Some(role) => format!("{role} {words}"),
        None => words,
    };
    let heading = match dimension.grain {
        Some(grain) => format!("{words} ({})", grain_words(grain)),
        None => words,
    };
    let datatype = match dimension.grain {
        Some(Grain::Hour) => DataType::DateTime,
        Some(grain) if grain.is_cycle() => DataType::Integer,
        Some(_) => DataType::Date,
        None if dimension.bucket.is_some() => DataType::Float,
        // Also one that was read as a float because some rows have none.
        None if field.is_some_and(Field::is_year) => DataType::Integer,
        None => field.map(|field| field.datatype).unwrap_or_default(),
    };
    let keeps = dimension.grain.is_none();
    let column = OutputColumn {
        heading: String::new(),
        role: Role::Dimension(at),
        datatype,
        unit: field.filter(|_| keeps).and_then(|field| field.unit.clone()),
        format: field.filter(|_| keeps).and_then(|field| match dimension.bucket {
            Some(_) => format_of(field),
            None => field.format.clone(),
        }),
        nullable: true,
    };
    (dimension.label.clone().unwrap_or_else(|| capital(&heading)), column)
}

fn of_measure(work: &Work<'_>, measure: &Measure, at: usize, counts: bool) -> OutputColumn {
    let (datatype, unit, format) = match &measure.value {
        Value::Metric(name) => work
            .ontology
            .metric(name)
            .map(|metric| (metric.datatype, metric.unit.clone(), metric.format.clone()))
            .unwrap_or_default(),
        Value::Count(_) => (DataType::Integer, None, None),
        Value::Aggregate { function: Aggregation::Count | Aggregation::CountDistinct, .. } => {
            (DataType::Integer, None, None)
        }
        Value::Aggregate { function, field } => {
            let field = work.ontology.field(&field.dataset, &field.field);
            let same = matches!(function, Aggregation::Sum | Aggregation::Min | Aggregation::Max);
            let datatype = field.filter(|_| same).map_or(DataType::Float, |field| field.datatype);
            let adds = matches!(function, Aggregation::Sum | Aggregation::Stddev);
            let format = field.and_then(|field| if adds { field.format.clone() } else { format_of(field) });
            (datatype, field.and_then(|field| field.unit.clone()), format)
        }
        Value::Days { function, .. } => {
            let whole = matches!(function, Aggregation::Sum | Aggregation::Min | Aggregation::Max);
            (if whole { DataType::Integer } else { DataType::Float }, Some("days".to_owned()), None)
        }
        Value::Sum(parts) => match parts.first() {
            Some(part) => {
                let column = of_measure(work, part, at, false);
                (column.datatype, column.unit, column.format)
            }
            None => Default::default(),
        },
        Value::Difference(left, _) => {
            let column = of_measure(work, left, at, false);
            (column.datatype, column.unit, column.format)
        }
        Value::Over { measure, .. } => {
            let column = of_measure(work, measure, at, false);
            (DataType::Float, column.unit, column.format)
        }
        Value::Ratio { .. } | Value::Number(_) => (DataType::Float, None, None),
    };
    let (datatype, unit, format) = match &measure.shown_as {
        Some(Shown::Share { .. } | Shown::ChangePercent) => (DataType::Float, None, Some("0.0%".to_owned())),
        Some(Shown::MovingAverage { .. }) => (DataType::Float, unit, format),
        _ => (datatype, unit, format),
    };
    let nullable = !counts || measure.shown_as.is_some();
    OutputColumn { heading: String::new(), role: Role::Measure(at), datatype, unit, format, nullable }
}

/// How values of a field are written. Years are no amounts: their thousands are not told apart.
fn format_of(field: &Field) -> Option<String> {
    field.format.clone().or_else(|| field.is_year().then(|| "0.##".to_owned()))
}

fn grain_words(grain: Grain) -> &'static str {
    match grain {
        Grain::Hour => "hour",
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
        Grain::FiscalQuarter => "fiscal quarter",
        Grain::FiscalYear => "fiscal year",
        Grain::HourOfDay => "hour of the day",
        Grain::DayOfWeek => "day of the week, 1 is Monday",
        Grain::DayOfMonth => "day of the month",
        Grain::MonthOfYear => "month of the year",
        Grain::QuarterOfYear => "quarter of the year",
    }
}
