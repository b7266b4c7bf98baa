//! The columns of an answer: types, units, and their SQL.

use crate::model::ontology::{Aggregation, DataType, Field};
use crate::model::plan::{Dimension, Grain, Measure, Shown, Value};

use super::block::Block;
use super::compiled::OutputColumn;
use super::days;
use super::headings::headings;
use super::layer::Layer;
use super::names::Names;
use super::work::Work;
use crate::engine::render::column::Role;
use crate::model::source::quoted;

/// The columns of the result and their SQL.
pub(super) fn columns(work: &Work<'_>, block: &Block, layer: &Layer) -> (Vec<OutputColumn>, Vec<String>) {
    let plan = work.plan;
    let (mut taken, mut names) = (Names::default(), Names::default());
    let mut columns: Vec<OutputColumn> = Vec::new();
    let mut select = Vec::new();
    let mut add = |wanted: String, sql: &str, mut column: OutputColumn| {
        column.heading = taken.heading(&wanted);
        let name = names.heading(&work.dialect.alias(&column.heading));
        select.push(format!("{} AS {}", work.dialect.shown(sql, column.datatype), quoted(&name)));
        columns.push(column);
    };
    let called = headings(work);
    let dimensions = plan.dimensions.iter().zip(called.dimensions).zip(&layer.dims);
    for (at, ((dimension, heading), sql)) in dimensions.enumerate() {
        add(heading, sql, of_dimension(work, dimension, at));
    }
    let values = layer.numbers.iter().zip(&block.values);
    let measures = plan.measures.iter().zip(called.measures).zip(values);
    for (at, ((measure, heading), (number, value))) in measures.enumerate() {
        let column = of_measure(work, measure, at, value.counts);
        add(heading.clone(), &number.0, column.clone());
        if let (Some(other), Some(comparison)) = (&number.1, &plan.comparison) {
            let phrase = comparison.with.phrase.clone().unwrap_or_else(|| "before".to_owned());
            add(format!("{heading}, {phrase}"), other, OutputColumn { role: Role::Other(at), ..column.clone() });
            let less = OutputColumn { role: Role::Difference(at), nullable: true, ..column.clone() };
            add(format!("{heading}, difference"), &layer.difference(at), less);
            let part = OutputColumn {
                role: Role::Change(at),
                datatype: DataType::Float,
                unit: None,
                format: Some("0.0%".into()),
                nullable: true,
                ..column
            };
            add(format!("{heading}, change"), &layer.change(work, at), part);
        }
    }
    (columns, select)
}

fn of_dimension(work: &Work<'_>, dimension: &Dimension, at: usize) -> OutputColumn {
    let field = work.ontology.field(&dimension.field.dataset, &dimension.field.field);
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
    OutputColumn {
        heading: String::new(),
        role: Role::Dimension(at),
        datatype,
        unit: field.filter(|_| keeps).and_then(|field| field.unit.clone()),
        format: field.filter(|_| keeps).and_then(|field| match dimension.bucket {
            Some(_) => format_of(field),
            None => field.format.clone(),
        }),
        nullable: true,
    }
}

fn of_measure(work: &Work<'_>, measure: &Measure, at: usize, counts: bool) -> OutputColumn {
    let of_part = |part: &Measure| {
        let OutputColumn { datatype, unit, format, .. } = of_measure(work, part, at, false);
        (datatype, unit, format)
    };
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
        Value::Days { function, from, to } => {
            let whole = matches!(function, Aggregation::Sum | Aggregation::Min | Aggregation::Max)
                && !days::have_parts(work, from, to);
            (if whole { DataType::Integer } else { DataType::Float }, Some("days".to_owned()), None)
        }
        Value::Sum(parts) => parts.first().map(of_part).unwrap_or_default(),
        Value::Difference(left, _) => of_part(left),
        Value::Over { function, measure, .. } => {
            let (_, unit, format) = of_part(measure);
            let same = matches!(function, Aggregation::Sum | Aggregation::Min | Aggregation::Max);
            (DataType::Float, unit, format.filter(|format| same || has_parts(format)))
        }
        Value::Ratio { .. } | Value::Number(_) => (DataType::Float, None, None),
    };
    let (datatype, unit, format) = match &measure.shown_as {
        Some(Shown::Share { .. } | Shown::ChangePercent) => (DataType::Float, None, Some("0.0%".to_owned())),
        Some(Shown::MovingAverage { .. }) => (DataType::Float, unit, format.filter(|format| has_parts(format))),
        _ => (datatype, unit, format),
    };
    let nullable = !counts || measure.shown_as.is_some();
    OutputColumn { heading: String::new(), role: Role::Measure(at), datatype, unit, format, nullable }
}

/// Whether a format has room for parts of one, as means of whole numbers have.
fn has_parts(format: &str) -> bool {
    format.contains(['.', '%'])
}

/// How values of a field are written. Years are no amounts: their thousands are not told apart.
fn format_of(field: &Field) -> Option<String> {
    field.format.clone().or_else(|| field.is_year().then(|| "0.##".to_owned()))
}
