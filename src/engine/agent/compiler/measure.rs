//! Measures taken apart into leaves, and the arithmetic over them.

use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::{Measure, Value};

use super::calc::Calc;
use super::days;
use super::error::CompileError;
use super::leaf::{Frame, Leaf, Over, Rows, What, position, rows};
use super::metric::metric;
use super::words::{aggregate_words, words};
use super::work::Work;

/// Takes a measure apart; its leaves are added to those that are there.
pub(super) fn take(
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
    let mut leaf = |rows: Rows, what: What| Calc::Leaf(position(leaves, Leaf { rows, what, name: name.clone() }));
    Ok(match &measure.value {
        Value::Number(number) => Calc::Number(number.get()),
        Value::Count(dataset) => {
            let home = work.dataset(dataset)?;
            leaf(rows(work, home, None, frame)?, What::Count)
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
            leaf(rows(work, home, None, frame)?, what)
        }
        Value::Days { function, from, to } => {
            let home = days::home(work, from, to)?;
            let what = What::Days { function: *function, from: from.clone(), to: to.clone() };
            leaf(rows(work, home, None, frame)?, what)
        }
        Value::Metric(metric) => self::metric(work, metric, frame, leaves, &mut Vec::new())?,
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
            let over = Over { function: *function, measure: (**measure).clone(), by: by.clone(), frame: frame.clone() };
            leaf(first.rows.clone(), What::Over(Box::new(over)))
        }
    })
}
