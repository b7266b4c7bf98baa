//! Measures taken apart into leaves, each an aggregate over the rows of one dataset, and the arithmetic over them.

use crate::engine::ontology::expression::{Aggregate, Call};
use crate::engine::ontology::graph::Steps;
use crate::model::ontology::{Additivity, Aggregation, DataType, in_words};
use crate::model::plan::{Condition, Dimension, FieldRef, Measure, Value, Window};
use crate::model::source::Dialect;

use super::error::CompileError;
use super::fields::broken;
use super::literal::number_text;
use super::names::{capital, plural};
use super::work::{Work, unknown};

/// The rows that a leaf is computed from. Leaves of the same rows share a part of the statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The dataset whose rows are counted.
    pub home: usize,
    pub filters: Vec<Condition>,
    /// Conditions of the metric, as the ontology writes them.
    pub own: Vec<String>,
    /// When a row was.
    pub time: Option<FieldRef>,
    pub window: Option<Window>,
    /// Only those of the last time in each group.
    pub last: bool,
    /// The comparison's time.
    pub other: bool,
}

/// An aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    pub rows: Rows,
    pub what: What,
    /// In words.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Count,
    Aggregate(Aggregation, String),
    Call(Box<Call>),
    /// Of the days from one date to another; both are of the rows' dataset or of one that each row belongs to.
    Days {
        function: Aggregation,
        from: FieldRef,
        to: FieldRef,
    },
    /// An aggregate of another measure's groups.
    Over {
        function: Aggregation,
        measure: Box<Measure>,
        by: Vec<Dimension>,
        frame: Box<Frame>,
    },
}

/// A number made from leaves, which are meant by their positions.
#[derive(Clone, Debug)]
pub enum Calc {
    Leaf(usize),
    Number(f64),
    Ratio(Box<Calc>, Box<Calc>),
    Sum(Vec<Calc>),
    Difference(Box<Calc>, Box<Calc>),
    Metric { expression: Box<Aggregate>, calls: Vec<Calc>, metrics: Vec<(String, Calc)> },
}

/// What holds for all leaves of a measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub filters: Vec<Condition>,
    /// Conditions of metrics, as the ontology writes them.
    pub own: Vec<String>,
    pub window: Option<Window>,
    /// The field of the window, when the plan names one.
    pub time: Option<FieldRef>,
    pub other: bool,
}

impl Leaf {
    /// 0 where there is no row.
    pub fn counts(&self) -> bool {
        match &self.what {
            What::Count | What::Aggregate(Aggregation::Count | Aggregation::CountDistinct, _) => true,
            What::Call(call) => call.counts(),
            What::Aggregate(..) | What::Days { .. } | What::Over { .. } => false,
        }
    }

    /// Whether its parts add up to the whole.
    pub fn adds_up(&self) -> bool {
        !self.rows.last
            && match &self.what {
                What::Count | What::Aggregate(Aggregation::Count | Aggregation::Sum, _) => true,
                What::Call(call) => call.adds_up(),
                What::Days { function, .. } => *function == Aggregation::Sum,
                What::Aggregate(..) | What::Over { .. } => false,
            }
    }

    /// Whether rows that come several times change nothing.
    pub fn ignores_repetition(&self) -> bool {
        match &self.what {
            What::Aggregate(Aggregation::CountDistinct | Aggregation::Min | Aggregation::Max, _) => true,
            What::Call(call) => call.ignores_repetition(),
            What::Days { function, .. } => matches!(function, Aggregation::Min | Aggregation::Max),
            What::Count | What::Aggregate(..) | What::Over { .. } => false,
        }
    }
}

impl Calc {
    /// Whether the parts add up to the whole.
    pub fn adds_up(&self, leaves: &[Leaf]) -> bool {
        match self {
            Calc::Leaf(leaf) => leaves[*leaf].adds_up(),
            Calc::Sum(parts) => parts.iter().all(|part| part.adds_up(leaves)),
            Calc::Difference(left, right) => left.adds_up(leaves) && right.adds_up(leaves),
            Calc::Metric { expression, calls, .. } => {
                expression.as_call().is_some() && calls.iter().all(|call| call.adds_up(leaves))
            }
            Calc::Number(_) | Calc::Ratio(..) => false,
        }
    }

    /// As SQL over the leaves' columns.
    pub fn sql(&self, dialect: Dialect, leaf: &impl Fn(usize) -> String) -> Result<String, CompileError> {
        Ok(match self {
            Calc::Leaf(at) => leaf(*at),
            Calc::Number(number) => number_text(*number),
            Calc::Ratio(over, under) => {
                let (over, under) = (over.sql(dialect, leaf)?, under.sql(dialect, leaf)?);
                quotient(dialect, &over, &under)
            }
            Calc::Sum(parts) => {
                let mut written = Vec::new();
                for part in parts {
                    written.push(part.sql(dialect, leaf)?);
                }
                together(&written, " + ")
            }
            Calc::Difference(left, right) => together(&[left.sql(dialect, leaf)?, right.sql(dialect, leaf)?], " - "),
            Calc::Metric { expression, calls, metrics } => {
                let written = expression.write(
                    dialect,
                    &mut |at| match calls.get(at) {
                        Some(call) => call.sql(dialect, leaf),
                        None => Err(CompileError::Unsupported("a metric has a call too many".into())),
                    },
                    &mut |name| match metrics.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
                        Some((_, metric)) => metric.sql(dialect, leaf),
                        None => Err(CompileError::UnknownName { kind: "metric", name: name.to_owned(), nearest: None }),
                    },
                )?;
                if expression.as_call().is_some() { written } else { format!("({written})") }
            }
        })
    }
}

/// A quotient that is exact, and NULL where the divisor is 0.
pub fn quotient(dialect: Dialect, over: &str, under: &str) -> String {
    match dialect {
        Dialect::PostgreSql => format!("(1.0 * {over} / NULLIF({under}, 0))"),
        _ => format!("({over} / NULLIF({under}, 0))"),
    }
}

/// What has no row counts as 0, unless nothing has one.
fn together(parts: &[String], by: &str) -> String {
    let zeros: Vec<String> = parts.iter().map(|part| format!("COALESCE({part}, 0)")).collect();
    format!("(CASE WHEN COALESCE({}) IS NOT NULL THEN {} END)", parts.join(", "), zeros.join(by))
}

/// An aggregate of one expression.
pub fn aggregate(dialect: Dialect, function: Aggregation, of: &str) -> String {
    match function {
        Aggregation::Sum => format!("SUM({of})"),
        Aggregation::Avg => format!("AVG({of})"),
        Aggregation::Median if dialect == Dialect::PostgreSql => {
            format!("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {of})")
        }
        Aggregation::Median => format!("MEDIAN({of})"),
        Aggregation::Min => format!("MIN({of})"),
        Aggregation::Max => format!("MAX({of})"),
        Aggregation::Count => format!("COUNT({of})"),
        Aggregation::CountDistinct => format!("COUNT(DISTINCT {of})"),
        Aggregation::Stddev => format!("STDDEV_SAMP({of})"),
    }
}

/// What people call an aggregate.
fn aggregate_words(function: Aggregation) -> &'static str {
    match function {
        Aggregation::Sum => "total",
        Aggregation::Avg => "average",
        Aggregation::Median => "median",
        Aggregation::Min => "least",
        Aggregation::Max => "greatest",
        Aggregation::Count => "number of",
        Aggregation::CountDistinct => "number of different",
        Aggregation::Stddev => "standard deviation of",
    }
}

/// Takes a measure apart; its leaves are added to those that are there.
pub fn take(
    work: &mut Work<'_>,
    measure: &Measure,
    frame: &Frame,
    leaves: &mut Vec<Leaf>,
) -> Result<Calc, CompileError> {
    let mut frame = frame.clone();
    frame.filters.extend(measure.filters.iter().cloned());
    work.deeper(|work| value(work, measure, &frame, leaves))
}

fn value(work: &mut Work<'_>, measure: &Measure, frame: &Frame, leaves: &mut Vec<Leaf>) -> Result<Calc, CompileError> {
    let name = words(work, measure);
    Ok(match &measure.value {
        Value::Number(number) => Calc::Number(number.get()),
        Value::Count(dataset) => {
            let home = work.dataset(dataset)?;
            leaf(leaves, Leaf { rows: rows(work, home, None, frame)?, what: What::Count, name })
        }
        Value::Aggregate { function, field } => {
            let (home, known) = work.field(field)?;
            let needs_number =
                matches!(function, Aggregation::Sum | Aggregation::Avg | Aggregation::Median | Aggregation::Stddev);
            if needs_number && !known.datatype.is_number() && known.datatype != DataType::Opaque {
                return Err(CompileError::WrongType {
                    field: known.words(),
                    value: format!("The {}", aggregate_words(*function)),
                    wants: "it holds no numbers".into(),
                });
            }
            let what = What::Aggregate(*function, known.name.clone());
            leaf(leaves, Leaf { rows: rows(work, home, None, frame)?, what, name })
        }
        Value::Days { function, from, to } => {
            let home = super::days::home(work, from, to)?;
            let what = What::Days { function: *function, from: from.clone(), to: to.clone() };
            leaf(leaves, Leaf { rows: rows(work, home, None, frame)?, what, name })
        }
        Value::Metric(metric) => return self::metric(work, metric, frame, leaves, &mut Vec::new()),
        Value::Ratio { numerator, denominator } => Calc::Ratio(
            Box::new(take(work, numerator, frame, leaves)?),
            Box::new(take(work, denominator, frame, leaves)?),
        ),
        Value::Sum(parts) if parts.is_empty() => return Err(CompileError::Unsupported("a sum of no numbers".into())),
        Value::Sum(parts) => {
            let mut taken = Vec::new();
            for part in parts {
                taken.push(take(work, part, frame, leaves)?);
            }
            Calc::Sum(taken)
        }
        Value::Difference(left, right) => {
            Calc::Difference(Box::new(take(work, left, frame, leaves)?), Box::new(take(work, right, frame, leaves)?))
        }
        Value::Over { function, measure, by } => {
            if by.is_empty() {
                return Err(CompileError::Unsupported("an aggregate over groups needs something to group by".into()));
            }
            // Its rows only tell the parts of the statement apart; its own leaves have theirs.
            let mut inner = Vec::new();
            take(work, measure, frame, &mut inner)?;
            let Some(first) = inner.first() else {
                return Err(CompileError::Unsupported("an aggregate over groups of a number that is fixed".into()));
            };
            let what = What::Over {
                function: *function,
                measure: measure.clone(),
                by: by.clone(),
                frame: Box::new(frame.clone()),
            };
            leaf(leaves, Leaf { rows: first.rows.clone(), what, name })
        }
    })
}

fn leaf(leaves: &mut Vec<Leaf>, leaf: Leaf) -> Calc {
    match leaves.iter().position(|other| other.rows == leaf.rows && other.what == leaf.what) {
        Some(at) => Calc::Leaf(at),
        None => {
            leaves.push(leaf);
            Calc::Leaf(leaves.len() - 1)
        }
    }
}

/// The rows of a leaf; the metric's own time comes before the dataset's.
fn rows(work: &mut Work<'_>, home: usize, time: Option<FieldRef>, frame: &Frame) -> Result<Rows, CompileError> {
    let time = match &frame.time {
        Some(field) => Some(field.clone()),
        None => match time {
            Some(field) => Some(field),
            None => default_time(work, home),
        },
    };
    if frame.window.is_some() && time.is_none() {
        let entity = work.entity(home);
        return Err(CompileError::Unsupported(format!(
            "{} has no date to tell when it was: name the field that is meant, or give {} a default_time_field",
            entity.noun(),
            entity.name
        )));
    }
    Ok(Rows {
        home,
        filters: frame.filters.clone(),
        own: frame.own.clone(),
        time,
        window: frame.window.clone(),
        last: false,
        other: frame.other,
    })
}

/// When rows of a dataset were: its own time, or that of the nearest dataset that each row belongs to, if one is.
pub fn default_time(work: &Work<'_>, home: usize) -> Option<FieldRef> {
    let mut nearest: Option<(usize, FieldRef)> = None;
    for (dataset, steps) in work.graph.upward(home) {
        if nearest.as_ref().is_some_and(|(other, _)| steps > *other) {
            break;
        }
        let entity = work.entity(dataset);
        let Some(time) = entity.default_time_field.as_ref().filter(|name| entity.field(name).is_some()) else {
            continue;
        };
        if nearest.is_some() {
            return None;
        }
        nearest = Some((steps, FieldRef::new(entity.name.clone(), time.clone())));
    }
    nearest.map(|(_, field)| field)
}

fn metric(
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
        calls.push(leaf(leaves, Leaf { rows, what: What::Call(Box::new(call.clone())), name: words.clone() }));
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
    Ok(Calc::Metric { expression, calls, metrics })
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

/// What people call a measure.
pub fn words(work: &Work<'_>, measure: &Measure) -> String {
    if let Some(label) = &measure.label {
        return label.clone();
    }
    let text = match &measure.value {
        Value::Metric(name) => in_words(name),
        Value::Count(dataset) => {
            let noun = work.ontology.entity(dataset).map_or_else(|| in_words(dataset), |entity| entity.noun());
            format!("number of {}", plural(&noun))
        }
        Value::Aggregate { function, field } => {
            let words = work.ontology.field(&field.dataset, &field.field).map(|field| field.words());
            let words = words.unwrap_or_else(|| in_words(&field.field)).to_lowercase();
            let words = if *function == Aggregation::CountDistinct { plural(&words) } else { words };
            format!("{} {words}", aggregate_words(*function))
        }
        Value::Days { function, from, to } => {
            format!("{} {}", aggregate_words(*function), super::days::words(work, from, to))
        }
        Value::Ratio { numerator, denominator }
            if numerator.value == denominator.value && numerator.filters.len() > denominator.filters.len() =>
        {
            format!("share of {}", words(work, denominator).trim_start_matches("Number of ").to_lowercase())
        }
        Value::Ratio { numerator, denominator } => {
            format!("{} per {}", words(work, numerator), words(work, denominator).to_lowercase())
        }
        Value::Sum(parts) => parts.iter().map(|part| words(work, part)).collect::<Vec<_>>().join(" and "),
        Value::Difference(left, right) => {
            format!("{} less {}", words(work, left), words(work, right).to_lowercase())
        }
        Value::Over { function, measure, .. } => {
            format!("{} {}", aggregate_words(*function), words(work, measure).to_lowercase())
        }
        Value::Number(number) => number.to_string(),
    };
    capital(&text)
}
