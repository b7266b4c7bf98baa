//! Arithmetic over leaves.

use crate::engine::ontology::expression::Aggregate;
use crate::model::source::Dialect;

use super::error::CompileError;
use super::leaf::{Leaf, leaf_at};
use super::literal::number_text;

/// A number made from leaves, which are meant by their positions.
#[derive(Clone, Debug)]
pub(super) enum Calc {
    Leaf(usize),
    Number(f64),
    Ratio(Box<Calc>, Box<Calc>),
    Sum(Vec<Calc>),
    Difference(Box<Calc>, Box<Calc>),
    Metric { expression: Box<Aggregate>, calls: Vec<Calc>, metrics: Vec<(String, Calc)> },
}

impl Calc {
    /// Whether the parts add up to the whole.
    pub(super) fn adds_up(&self, leaves: &[Leaf]) -> bool {
        match self {
            Calc::Leaf(leaf) => leaf_at(leaves, *leaf).adds_up(),
            Calc::Sum(parts) => parts.iter().all(|part| part.adds_up(leaves)),
            Calc::Difference(left, right) => left.adds_up(leaves) && right.adds_up(leaves),
            Calc::Metric { expression, calls, .. } => {
                expression.as_call().is_some() && calls.iter().all(|call| call.adds_up(leaves))
            }
            Calc::Number(_) | Calc::Ratio(..) => false,
        }
    }

    /// As SQL over the leaves' columns.
    pub(super) fn sql(&self, dialect: Dialect, leaf: &impl Fn(usize) -> String) -> Result<String, CompileError> {
        Ok(match self {
            Calc::Leaf(at) => leaf(*at),
            Calc::Number(number) => number_text(*number),
            Calc::Ratio(over, under) => {
                let (over, under) = (over.sql(dialect, leaf)?, under.sql(dialect, leaf)?);
                dialect.quotient(&over, &under)
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

    /// The leaf that it is, if it is nothing else.
    pub(super) fn as_leaf(&self) -> Option<usize> {
        match self {
            Calc::Leaf(at) => Some(*at),
            Calc::Metric { expression, calls, .. } if expression.as_call().is_some() => {
                calls.first().and_then(Calc::as_leaf)
            }
            _ => None,
        }
    }
}

/// What has no row counts as 0, unless nothing has one.
fn together(parts: &[String], by: &str) -> String {
    let zeros: Vec<String> = parts.iter().map(|part| format!("COALESCE({part}, 0)")).collect();
    let any: Vec<String> = parts.iter().map(|part| format!("{part} IS NOT NULL")).collect();
    format!("(CASE WHEN {} THEN {} END)", any.join(" OR "), zeros.join(by))
}
