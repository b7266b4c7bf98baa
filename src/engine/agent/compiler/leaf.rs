//! Aggregates over the rows of one dataset: what measures are made from.

use crate::engine::ontology::expression::Call;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Condition, Dimension, FieldRef, Measure, Window};

use super::error::CompileError;
use super::work::Work;

/// The rows that a leaf is computed from. Leaves of the same rows share a part of the statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// The dataset whose rows are counted.
    pub home: usize,
    pub filters: Vec<Condition>,
    /// Conditions of the metric, as the ontology writes them.
    pub own: Vec<String>,
    /// When a row was.
    pub time: Option<FieldRef>,
    pub window: Option<Window>,
    pub since: Option<Since>,
    /// Only those of the last time in each group.
    pub last: bool,
    /// The comparison's time.
    pub other: bool,
}

/// From where on rows are asked for, where those before are read only to be reached back to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Since {
    /// The plan's dimension that is the time.
    pub dimension: usize,
    /// Its first unit, as SQL.
    pub start: String,
    /// How many units before it count in what is shown.
    pub reach: i64,
}

/// An aggregate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    pub rows: Rows,
    pub what: What,
    /// In words.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    Count,
    Aggregate(Aggregation, String),
    Call(Box<Call>),
    /// Of the days from one date to another; both are of the rows' dataset or of one that each row belongs to.
    Days {
        function: Aggregation,
        from: FieldRef,
        to: FieldRef,
    },
    Over(Box<Over>),
}

/// An aggregate of another measure's groups.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Over {
    pub function: Aggregation,
    pub measure: Measure,
    pub by: Vec<Dimension>,
    pub frame: Frame,
}

/// What holds for all leaves of a measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frame {
    pub filters: Vec<Condition>,
    /// Conditions of metrics, as the ontology writes them.
    pub own: Vec<String>,
    pub window: Option<Window>,
    pub since: Option<Since>,
    /// The field of the window, when the plan names one.
    pub time: Option<FieldRef>,
    pub other: bool,
}

impl Rows {
    /// Whether a field is when they were.
    pub(super) fn is_placed_by(&self, at: &FieldRef) -> bool {
        self.time.as_ref().is_some_and(|time| {
            time.dataset.eq_ignore_ascii_case(&at.dataset)
                && time.field.eq_ignore_ascii_case(&at.field)
                && time.via == at.via
        })
    }
}

impl Leaf {
    /// 0 where there is no row.
    pub(super) fn counts(&self) -> bool {
        match &self.what {
            What::Count | What::Aggregate(Aggregation::Count | Aggregation::CountDistinct, _) => true,
            What::Call(call) => call.counts(),
            What::Aggregate(..) | What::Days { .. } | What::Over(_) => false,
        }
    }

    /// Whether it is an amount or a number of rows.
    pub(super) fn is_amount(&self) -> bool {
        self.counts()
            || match &self.what {
                What::Aggregate(function, _) | What::Days { function, .. } => *function == Aggregation::Sum,
                What::Call(call) => call.function == "sum",
                What::Count | What::Over(_) => false,
            }
    }

    /// The fields that its value is made from, with their datasets where they are said; none where it counts.
    pub(super) fn amounts(&self) -> Vec<(Option<&str>, &str)> {
        match &self.what {
            What::Aggregate(_, field) if !self.counts() => vec![(None, field.as_str())],
            What::Call(call) if !self.counts() => {
                call.refs().iter().map(|of| (of.dataset.as_deref(), of.name.as_str())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether its parts add up to the whole.
    pub(super) fn adds_up(&self) -> bool {
        !self.rows.last
            && match &self.what {
                What::Count | What::Aggregate(Aggregation::Count | Aggregation::Sum, _) => true,
                What::Call(call) => call.adds_up(),
                What::Days { function, .. } => *function == Aggregation::Sum,
                What::Aggregate(..) | What::Over(_) => false,
            }
    }

    /// Whether rows that come several times change nothing.
    pub(super) fn ignores_repetition(&self) -> bool {
        match &self.what {
            What::Aggregate(Aggregation::CountDistinct | Aggregation::Min | Aggregation::Max, _) => true,
            What::Call(call) => call.ignores_repetition(),
            What::Days { function, .. } => matches!(function, Aggregation::Min | Aggregation::Max),
            What::Count | What::Aggregate(..) | What::Over(_) => false,
        }
    }
}

/// The position of a leaf among those that are there; a new one is added.
pub(super) fn position(leaves: &mut Vec<Leaf>, leaf: Leaf) -> usize {
    leaves.iter().position(|other| other.rows == leaf.rows && other.what == leaf.what).unwrap_or_else(|| {
        leaves.push(leaf);
        leaves.len() - 1
    })
}

#[expect(clippy::indexing_slicing, reason = "leaves are meant by what `position` answers, and none is taken away")]
pub(super) fn leaf_at(leaves: &[Leaf], at: usize) -> &Leaf {
    &leaves[at]
}

/// The rows of a leaf; the metric's own time comes before the dataset's.
pub(super) fn rows(work: &Work<'_>, home: usize, time: Option<FieldRef>, frame: &Frame) -> Result<Rows, CompileError> {
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
        since: frame.since.clone(),
        last: false,
        other: frame.other,
    })
}

/// When rows of a dataset were: its own time, or that of the nearest dataset that each row belongs to, if one is.
pub(super) fn default_time(work: &Work<'_>, home: usize) -> Option<FieldRef> {
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
