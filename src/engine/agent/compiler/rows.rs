//! The pieces of a SELECT over the rows of a leaf: conditions, dimensions and aggregates.

use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::graph::Steps;
use crate::engine::render::nouns::plural;
use crate::model::ontology::{DataType, Field};
use crate::model::plan::{Condition, Dimension, FieldRef, Grain};

use super::calendar::moves_leap_day;
use super::condition;
use super::days;
use super::error::CompileError;
use super::fields::broken;
use super::leaf::{Leaf, Rows, What};
use super::literal::number_text;
use super::names::Names;
use super::scope::{Reached, Scope};
use super::work::Work;
use crate::model::source::quoted;

/// What the rows of a part are grouped by.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Dim {
    Plan(Dimension),
    /// A column of a dataset's key.
    Key {
        dataset: usize,
        column: String,
    },
}

/// What the aggregates read, when the rows come from a sub-query that has each once.
#[derive(Default)]
pub(super) struct Inner {
    pub needed: bool,
    /// SQL and the column's name.
    pub columns: Vec<(String, String)>,
    pub names: Names,
}

/// The WHERE of rows.
pub(super) fn conditions(work: &mut Work<'_>, scope: &mut Scope, rows: &Rows) -> Result<Vec<String>, CompileError> {
    let within = match (&rows.time, &rows.window) {
        (Some(field), Some(window)) if window.start.is_some() || window.end.is_some() => {
            work.reads.time(field);
            Some(Condition::Within { field: field.clone(), window: window.clone(), negated: false })
        }
        _ => None,
    };
    let all: Vec<&Condition> = rows.filters.iter().chain(&within).collect();
    let mut written = condition::all(work, scope, &all)?;
    for own in &rows.own {
        let what = format!("filter “{own}”");
        let scalar = Scalar::parse(own).map_err(|problem| broken(&what, &problem))?;
        written.push(format!("({})", scope.expression(work, &scalar, &what)?));
    }
    Ok(written)
}

/// A dimension as SQL, and the unit of the calendar that it is.
pub(super) fn dimension(
    work: &mut Work<'_>,
    scope: &mut Scope,
    dim: &Dim,
    rows: Option<&Rows>,
) -> Result<(String, Option<Grain>), CompileError> {
    let dimension = match dim {
        Dim::Key { dataset, column } => {
            let way = work.way(scope.base(), *dataset, &[], Steps::Any)?;
            let Reached::At(node) = scope.reach(work, &way, true)? else {
                return Err(CompileError::Unsupported("a key that is not reached".into()));
            };
            return Ok((format!("{}.{}", quoted(&scope.node(node).alias), quoted(column)), None));
        }
        Dim::Plan(dimension) => dimension,
    };
    let mut reference = dimension.field.clone();
    let (mut dataset, mut field) = work.field(&reference)?;
    let is_time = field.datatype.is_calendar();
    // Each number has its own time, where it does not belong to one row of the dimension's dataset and another does.
    if let Some(time) = rows.and_then(|rows| rows.time.as_ref())
        && is_time
        && reference.via.is_empty()
        && is_default_time(work, dataset, field)
        && matches!(work.way(scope.base(), dataset, &[], Steps::ToOne), Err(CompileError::Unreachable { .. }))
        && work.homes.clone().into_iter().any(|home| work.way(home, dataset, &[], Steps::ToOne).is_ok())
    {
        let noun = plural(&work.entity(scope.base()).noun());
        reference = time.clone();
        (dataset, field) = work.field(&reference)?;
        work.note(format!("Of {noun}, the time is their {}.", field.words().to_lowercase()));
    }
    let way = work.way(scope.base(), dataset, &reference.via, Steps::Any)?;
    let Reached::At(node) = scope.reach(work, &way, true)? else {
        return Err(CompileError::Unsupported("a dimension that is not reached".into()));
    };
    let sql = scope.field(work, node, &field.name)?;
    let mut sql = cut(work, &sql, field, dimension)?;
    let fine = if field.datatype == DataType::Date { Grain::Day } else { Grain::Hour };
    let grain = dimension.grain.or((is_time && dimension.bucket.is_none()).then_some(fine));
    let plan = work.plan;
    if let (Some(rows), Some(grain), Some(comparison)) = (rows, grain, &plan.comparison)
        && rows.other
        && rows.time.as_ref().is_some_and(|time| {
            time.dataset.eq_ignore_ascii_case(&reference.dataset) && time.field.eq_ignore_ascii_case(&reference.field)
        })
    {
        let window = plan.time.as_ref().map(|time| &time.window);
        if moves_leap_day(grain, comparison, window)? {
            work.note("What was on 29 February of the other time counts on 28 February.");
        }
        sql = if dimension.grain.is_none() && field.datatype == DataType::DateTimeTz {
            work.instant_of(&work.aligned(&work.local(&sql, field)?, grain, comparison, window)?)
        } else {
            work.aligned(&sql, grain, comparison, window)?
        };
    }
    Ok((sql, grain))
}

/// Whether it is when the rows of its dataset were, by the dataset or by a metric.
fn is_default_time(work: &Work<'_>, dataset: usize, field: &Field) -> bool {
    let entity = work.entity(dataset);
    let is = |name: &str| name.eq_ignore_ascii_case(&field.name);
    entity.default_time_field.as_deref().is_some_and(is)
        || work.ontology.metrics.iter().filter_map(|metric| metric.default_time_field.as_deref()).any(|time| {
            time.split_once('.').is_some_and(|(of, name)| of.eq_ignore_ascii_case(&entity.name) && is(name))
        })
}

/// A value cut to a unit of the calendar or put in a range.
fn cut(work: &Work<'_>, sql: &str, field: &Field, dimension: &Dimension) -> Result<String, CompileError> {
    match (dimension.grain, dimension.bucket) {
        (Some(_), Some(_)) => {
            Err(CompileError::Unsupported(format!("{} is cut both by time and by ranges", field.words())))
        }
        (Some(grain), None) => work.grained(sql, field, grain),
        (None, Some(width)) => {
            let width = width.get();
            if width <= 0.0 || !field.datatype.is_number() {
                return Err(CompileError::WrongType {
                    field: field.words(),
                    value: format!("A range of {width}"),
                    wants: "ranges are wider than 0, of numbers".into(),
                });
            }
            let width = number_text(width);
            Ok(format!("FLOOR(CAST({sql} AS DOUBLE PRECISION) / {width}) * {width}"))
        }
        (None, None) => Ok(sql.to_owned()),
    }
}

/// An aggregate as SQL, over the scope's columns or those of the sub-query.
pub(super) fn call(
    work: &mut Work<'_>,
    scope: &mut Scope,
    leaf: &Leaf,
    inner: &mut Inner,
) -> Result<String, CompileError> {
    let dialect = work.dialect;
    let home = leaf.rows.home;
    let mut column =
        |work: &mut Work<'_>, dataset: usize, name: &str, via: &[String]| -> Result<String, CompileError> {
            let field = work.field_of(dataset, name).map(|field| field.name.clone());
            let way = work.way(home, dataset, via, Steps::ToOne)?;
            let Reached::At(node) = scope.reach(work, &way, false)? else {
                return Err(CompileError::Unsupported("a field that is not reached".into()));
            };
            let sql = scope.field(work, node, &field?)?;
            if !inner.needed {
                return Ok(sql);
            }
            if let Some((_, name)) = inner.columns.iter().find(|(other, _)| *other == sql) {
                return Ok(quoted(name));
            }
            let name = inner.names.fresh(name);
            inner.columns.push((sql, name.clone()));
            Ok(quoted(&name))
        };
    match &leaf.what {
        What::Count => Ok("COUNT(*)".to_owned()),
        What::Aggregate(function, field) => Ok(dialect.aggregate(*function, &column(work, home, field, &[])?)),
        What::Call(call) => {
            let call = call.settled(work.ontology, &work.entity(home).name);
            call.write(dialect, &mut |dataset, name| {
                let dataset = match dataset {
                    Some(dataset) => work.dataset(dataset)?,
                    None => home,
                };
                column(work, dataset, name, &[])
            })
        }
        What::Days { function, from, to } => {
            let mut date = |work: &mut Work<'_>, at: &FieldRef| {
                let dataset = work.dataset(&at.dataset)?;
                column(work, dataset, &at.field, &at.via)
            };
            let (begin, end) = (date(work, from)?, date(work, to)?);
            Ok(dialect.aggregate(*function, &days::between(work, (from, &begin), (to, &end))?))
        }
        What::Over(_) => Err(CompileError::Unsupported("an aggregate over groups inside rows".into())),
    }
}
