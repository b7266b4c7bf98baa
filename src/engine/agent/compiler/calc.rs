//! Arithmetic over leaves.

use crate::engine::ontology::expression::{Aggregate, Made};
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
    /// `amount`: whether it adds and subtracts amounts alone.
    Metric {
        expression: Box<Aggregate>,
        calls: Vec<Calc>,
        metrics: Vec<(String, Calc)>,
        amount: bool,
    },
}

impl Calc {
    /// A metric's expression over its calls and other metrics. Amounts that are not of the same rows are put together
    /// one by one, so that one without a row counts as 0 beside one that has some.
    pub(super) fn of_metric(
        expression: Box<Aggregate>,
        calls: Vec<Calc>,
        metrics: Vec<(String, Calc)>,
        leaves: &[Leaf],
    ) -> Self {
        match arranged(&expression, &calls, &metrics, leaves) {
            Some(calc) if matches!(calc, Calc::Leaf(_)) || calc.is_of_several(leaves) => calc,
            made => {
                let amount = made.is_some_and(|calc| calc.is_amount(leaves));
                Calc::Metric { expression, calls, metrics, amount }
            }
        }
    }

    /// Whether its leaves are of different rows.
    fn is_of_several(&self, leaves: &[Leaf]) -> bool {
        let mut all = Vec::new();
        self.collect(&mut all);
        let mut rows = all.into_iter().map(|at| &leaf_at(leaves, at).rows);
        let first = rows.next();
        rows.any(|other| Some(other) != first)
    }

    fn collect(&self, leaves: &mut Vec<usize>) {
        match self {
            Calc::Leaf(at) => leaves.push(*at),
            Calc::Number(_) => {}
            Calc::Sum(parts) => parts.iter().for_each(|part| part.collect(leaves)),
            Calc::Ratio(left, right) | Calc::Difference(left, right) => {
                left.collect(leaves);
                right.collect(leaves);
            }
            Calc::Metric { calls, metrics, .. } => {
                let parts = calls.iter().chain(metrics.iter().map(|(_, metric)| metric));
                parts.for_each(|part| part.collect(leaves));
            }
        }
    }

    /// Whether it is an amount or a number of rows, which is 0 where there are none.
    fn is_amount(&self, leaves: &[Leaf]) -> bool {
        match self {
            Calc::Leaf(at) => leaf_at(leaves, *at).is_amount(),
            Calc::Sum(parts) => parts.iter().all(|part| part.is_amount(leaves)),
            Calc::Difference(left, right) => left.is_amount(leaves) && right.is_amount(leaves),
            Calc::Metric { amount, .. } => *amount,
            Calc::Number(_) | Calc::Ratio(..) => false,
        }
    }

    /// Whether it is empty in a group that has no row of one of its numbers.
    pub(super) fn may_lack(&self, leaves: &[Leaf]) -> bool {
        match self {
            Calc::Leaf(at) => !leaf_at(leaves, *at).counts(),
            Calc::Number(_) | Calc::Sum(_) | Calc::Difference(..) => false,
            Calc::Ratio(..) | Calc::Metric { .. } => true,
        }
    }

    /// Whether the parts add up to the whole.
    pub(super) fn adds_up(&self, leaves: &[Leaf]) -> bool {
        match self {
            Calc::Leaf(leaf) => leaf_at(leaves, *leaf).adds_up(),
            Calc::Sum(parts) => parts.iter().all(|part| part.adds_up(leaves)),
            Calc::Difference(left, right) => left.adds_up(leaves) && right.adds_up(leaves),
            Calc::Number(_) | Calc::Ratio(..) | Calc::Metric { .. } => false,
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
            Calc::Metric { expression, calls, metrics, .. } => {
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
                format!("({written})")
            }
        })
    }

    /// The leaf that it is, if it is nothing else.
    pub(super) fn as_leaf(&self) -> Option<usize> {
        match self {
            Calc::Leaf(at) => Some(*at),
            _ => None,
        }
    }
}

/// An expression taken apart as far as it is arithmetic over amounts; `None` for what is written as it stands.
fn arranged(expression: &Aggregate, calls: &[Calc], metrics: &[(String, Calc)], leaves: &[Leaf]) -> Option<Calc> {
    let side = |side: &Aggregate| arranged(side, calls, metrics, leaves);
    let amount = |of: &Aggregate| side(of).filter(|calc| calc.is_amount(leaves));
    match expression.made() {
        Made::Call(at) => calls.get(at).cloned(),
        Made::Metric(name) => {
            metrics.iter().find(|(other, _)| other.eq_ignore_ascii_case(&name)).map(|(_, metric)| metric.clone())
        }
        Made::Sum(left, right) => {
            let mut parts = match amount(&left)? {
                Calc::Sum(parts) => parts,
                one => vec![one],
            };
            parts.push(amount(&right)?);
            Some(Calc::Sum(parts))
        }
        Made::Difference(left, right) => Some(Calc::Difference(Box::new(amount(&left)?), Box::new(amount(&right)?))),
        Made::Ratio(left, right) => Some(Calc::Ratio(Box::new(side(&left)?), Box::new(side(&right)?))),
        Made::Other => None,
    }
}

/// What has no row counts as 0, unless nothing has one.
pub(super) fn together(parts: &[String], by: &str) -> String {
    let zeros: Vec<String> = parts.iter().map(|part| format!("COALESCE({part}, 0)")).collect();
    let any: Vec<String> = parts.iter().map(|part| format!("{part} IS NOT NULL")).collect();
    format!("(CASE WHEN {} THEN {} END)", any.join(" OR "), zeros.join(by))
}
