//! The part of a statement that computes leaves over the same rows, one row for each group.

use crate::engine::ontology::graph::Steps;
use crate::model::ontology::{Aggregation, DataType, Field};
use crate::model::plan::{Condition, Dimension, FieldRef, Grain};

use super::block;
use super::calendar::aligned;
use super::checks::Total;
use super::condition;
use super::error::CompileError;
use super::fields::broken;
use super::literal::number_text;
use super::measure::{Leaf, Rows, What, aggregate};
use super::names::{Names, capital, indented, plural, quote};
use super::scope::{Reached, Scope};
use super::work::Work;

/// What the rows of a part are grouped by.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    Plan(Dimension),
    /// A column of a dataset's key.
    Key {
        dataset: usize,
        column: String,
    },
}

/// A part of the statement. Its columns for the dimensions have the names that were asked for.
pub struct Part {
    pub name: String,
    /// Leaves and their columns.
    pub values: Vec<(usize, String)>,
    /// Leaves and the column of their total among the numbers of the checks.
    pub totals: Vec<(usize, Total)>,
}

/// A leaf of the aggregate over groups has a part of its own; all others are of the same rows.
pub fn part(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    leaves: &[(usize, &Leaf)],
) -> Result<Part, CompileError> {
    let Some((position, first)) = leaves.first() else {
        return Err(CompileError::Unsupported("a part without numbers".into()));
    };
    if let What::Over { function, measure, by, frame } = &first.what {
        return over(work, dims, names, *position, first, (*function, measure, by, frame));
    }
    let rows = &first.rows;
    let mut scope = Scope::new(work, rows.home);
    let mut grouped = Vec::new();
    for dim in dims {
        grouped.push(dimension(work, &mut scope, dim, Some(rows))?);
    }
    let conditions = conditions(work, &mut scope, rows)?;
    let mut columns = names.iter().fold(Names::default(), |mut columns, name| {
        columns.take(name);
        columns
    });
    let repeats = scope.fans && !leaves.iter().all(|(_, leaf)| leaf.ignores_repetition());
    let mut inner = Inner { needed: repeats || rows.last, columns: Vec::new(), names: columns.clone() };
    let mut written = Vec::new();
    for (position, leaf) in leaves {
        let sql = call(work, &mut scope, leaf, &mut inner)?;
        written.push((*position, columns.fresh(&leaf.name), sql));
    }
    if scope.fans {
        let noun = work.entity(rows.home).noun();
        work.note(format!(
            "{} can belong to several groups and count in each of them: the groups may add up to more than the whole.",
            capital(&plural(&noun))
        ));
    }
    let totals = work.watch(&scope, rows, &grouped, &conditions, &written, leaves)?;
    let dims_sql: Vec<String> =
        grouped.iter().zip(names).map(|((sql, _), name)| format!("{sql} AS {}", quote(name))).collect();
    let body = if inner.needed {
        let keys = scope.key(work)?;
        if repeats && keys.is_empty() {
            return Err(fan_out(work, &scope, &first.name));
        }
        if repeats {
            key_is_one(work, rows.home)?;
        }
        within(work, &scope, rows, &grouped, names, dims_sql, keys, &conditions, &inner, &written)?
    } else {
        let numbers = written.iter().map(|(_, name, sql)| format!("{sql} AS {}", quote(name)));
        let select: Vec<String> = dims_sql.into_iter().chain(numbers).collect();
        let mut body = format!("SELECT\n{}\n{}", list(&select), scope.from(work)?);
        body.push_str(&clause(&conditions));
        body.push_str(&group_by(grouped.len()));
        body
    };
    let wanted = if rows.other { format!("{} before", first.name) } else { first.name.clone() };
    let name = work.part(&wanted, body);
    Ok(Part { name, values: written.into_iter().map(|(at, column, _)| (at, column)).collect(), totals })
}

/// Rows that come several times are told apart by their key, which must be one.
pub fn key_is_one(work: &mut Work<'_>, dataset: usize) -> Result<(), CompileError> {
    let entity = work.entity(dataset);
    let key = if entity.primary_key.is_empty() { entity.unique_keys.first() } else { Some(&entity.primary_key) };
    let columns = key.map(Vec::as_slice).unwrap_or_default();
    let keys = columns.iter().map(|column| format!("\"x\".{}", quote(column))).collect();
    work.unique(dataset, &columns.join(", "), keys)
}

/// What the calls read, when the rows come from a sub-query that has each once.
struct Inner {
    needed: bool,
    /// SQL and the column's name.
    columns: Vec<(String, String)>,
    names: Names,
}

/// The rows of each group once, or only those of the last time, and the aggregates over them.
#[expect(clippy::too_many_arguments, reason = "the pieces of one SELECT")]
fn within(
    work: &mut Work<'_>,
    scope: &Scope,
    rows: &Rows,
    grouped: &[(String, Option<Grain>)],
    names: &[String],
    mut select: Vec<String>,
    keys: Vec<String>,
    conditions: &[String],
    inner: &Inner,
    written: &[(usize, String, String)],
) -> Result<String, CompileError> {
    let mut fresh = inner.names.clone();
    for key in keys {
        select.push(format!("{key} AS {}", quote(&fresh.fresh("key"))));
    }
    select.extend(inner.columns.iter().map(|(sql, name)| format!("{sql} AS {}", quote(name))));
    let mut last = String::new();
    if rows.last {
        let mut own = Scope::new(work, rows.home);
        let Some(time) = &rows.time else {
            return Err(CompileError::Unsupported("a balance without a time".into()));
        };
        let (dataset, field) = work.field(time)?;
        let way = work.way(rows.home, dataset, &time.via, Steps::ToOne)?;
        if !way.is_empty() {
            return Err(CompileError::Unsupported(format!(
                "the time of a semi-additive metric must be a field of its own dataset, not {}.{}",
                time.dataset, time.field
            )));
        }
        let Reached::At(node) = own.reach(work, &way, false)? else {
            return Err(CompileError::Unsupported("a time of several rows".into()));
        };
        let at = own.field(work, node, &field.name)?;
        let (at_name, last_name) = (quote(&fresh.fresh("at_time")), quote(&fresh.fresh("last_time")));
        let times: Vec<&str> =
            grouped.iter().filter(|(_, grain)| grain.is_some()).map(|(sql, _)| sql.as_str()).collect();
        let by = if times.is_empty() { String::new() } else { format!("PARTITION BY {}", times.join(", ")) };
        select.push(format!("{at} AS {at_name}"));
        select.push(format!("MAX({at}) OVER ({by}) AS {last_name}"));
        last = format!("\nWHERE {at_name} = {last_name}");
        work.note(format!(
            "Of each time, the last {} that there is counts: such amounts do not add up over time.",
            field.words().to_lowercase()
        ));
    }
    let once = if scope.fans { "SELECT DISTINCT" } else { "SELECT" };
    let body = format!("{once}\n{}\n{}{}", list(&select), scope.from(work)?, clause(conditions));
    let numbers = written.iter().map(|(_, name, sql)| format!("{sql} AS {}", quote(name)));
    let select: Vec<String> = names.iter().map(|name| quote(name)).chain(numbers).collect();
    let mut sql =
        format!("SELECT\n{}\nFROM (\n{}\n) AS {}{last}", list(&select), indented(&body, 2), quote("each_once"));
    sql.push_str(&group_by(names.len()));
    Ok(sql)
}

/// The WHERE of rows.
pub fn conditions(work: &mut Work<'_>, scope: &mut Scope, rows: &Rows) -> Result<Vec<String>, CompileError> {
    let within = match (&rows.time, &rows.window) {
        (Some(field), Some(window)) if window.start.is_some() || window.end.is_some() => {
            Some(Condition::Within { field: field.clone(), window: window.clone(), negated: false })
        }
        _ => None,
    };
    let all: Vec<&Condition> = rows.filters.iter().chain(&within).collect();
    let mut written = condition::all(work, scope, &all)?;
    for own in &rows.own {
        let what = format!("filter “{own}”");
        let scalar =
            crate::engine::ontology::expression::Scalar::parse(own).map_err(|problem| broken(&what, &problem))?;
        written.push(format!("({})", condition::expression(work, scope, &scalar, &what)?));
    }
    Ok(written)
}

/// A dimension as SQL, and the unit of the calendar that it is.
pub fn dimension(
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
            return Ok((format!("{}.{}", quote(&scope.node(node).alias), quote(column)), None));
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
    if let (Some(rows), Some(grain), Some(comparison)) = (rows, grain, &work.plan.comparison)
        && rows.other
        && rows.time.as_ref().is_some_and(|time| {
            time.dataset.eq_ignore_ascii_case(&reference.dataset) && time.field.eq_ignore_ascii_case(&reference.field)
        })
    {
        let window = work.plan.time.as_ref().map(|time| &time.window);
        sql = aligned(&sql, grain, comparison, window)?;
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
fn call(work: &mut Work<'_>, scope: &mut Scope, leaf: &Leaf, inner: &mut Inner) -> Result<String, CompileError> {
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
                return Ok(quote(name));
            }
            let name = inner.names.fresh(name);
            inner.columns.push((sql, name.clone()));
            Ok(quote(&name))
        };
    match &leaf.what {
        What::Count => Ok("COUNT(*)".to_owned()),
        What::Aggregate(function, field) => Ok(aggregate(dialect, *function, &column(work, home, field, &[])?)),
        What::Call(call) => call.write(dialect, &mut |dataset, name| {
            let dataset = match dataset {
                Some(dataset) => work.dataset(dataset)?,
                None => home,
            };
            column(work, dataset, name, &[])
        }),
        What::Days { function, from, to } => {
            let mut date = |work: &mut Work<'_>, at: &FieldRef| {
                let dataset = work.dataset(&at.dataset)?;
                column(work, dataset, &at.field, &at.via)
            };
            let (begin, end) = (date(work, from)?, date(work, to)?);
            Ok(aggregate(dialect, *function, &super::days::between(work, (from, &begin), (to, &end))?))
        }
        What::Over { .. } => Err(CompileError::Unsupported("an aggregate over groups inside rows".into())),
    }
}

/// An aggregate over a scope's own rows.
pub fn plain_call(work: &mut Work<'_>, scope: &mut Scope, leaf: &Leaf) -> Result<String, CompileError> {
    call(work, scope, leaf, &mut Inner { needed: false, columns: Vec::new(), names: Names::default() })
}

/// An aggregate of the groups of another measure.
fn over(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    position: usize,
    leaf: &Leaf,
    (function, measure, by, frame): (Aggregation, &crate::model::plan::Measure, &[Dimension], &super::measure::Frame),
) -> Result<Part, CompileError> {
    let mut all = dims.to_vec();
    let mut columns = Names::default();
    names.iter().for_each(|name| columns.take(name));
    let mut all_names = names.to_vec();
    for dimension in by {
        all_names.push(columns.fresh(&dimension.field.field));
        all.push(Dim::Plan(dimension.clone()));
    }
    let subject = if dims.is_empty() { whole(work, leaf.rows.home, by) } else { None };
    let groups = work.deeper(|work| block::groups(work, &all, &all_names, &[measure], frame, None, subject))?;
    let Some(value) = groups.values.first() else {
        return Err(CompileError::Unsupported("an aggregate over groups without a number".into()));
    };
    // Where there is no row, there are none and nothing; but no mean of them.
    let zero = subject.is_some() && (value.counts || value.adds_up);
    let number = if zero && !value.counts { format!("COALESCE({}, 0)", value.sql) } else { value.sql.clone() };
    let kept: Vec<String> = groups.dims[..dims.len()].to_vec();
    let mut select: Vec<String> =
        kept.iter().zip(names).map(|(sql, name)| format!("{sql} AS {}", quote(name))).collect();
    let column = columns.fresh(&leaf.name);
    select.push(format!("{} AS {}", aggregate(work.dialect, function, &number), quote(&column)));
    let told: &[String] = if subject.is_some() { &[] } else { &groups.dims[dims.len()..] };
    let present: Vec<String> = told.iter().chain([&number]).map(|sql| format!("{sql} IS NOT NULL")).collect();
    match subject {
        Some(subject) => {
            let none = if value.counts { format!("{} = 0", value.sql) } else { format!("{} IS NULL", value.sql) };
            work.groups(subject, &groups.from, &none, zero);
        }
        None if by.iter().any(|dimension| dimension.grain.is_some()) => {
            work.note(format!("{}: only times with a row are part of it.", leaf.name));
        }
        None => work.note(format!("{}: only groups with a row are part of it.", leaf.name)),
    }
    let mut body = format!("SELECT\n{}\nFROM {}", list(&select), groups.from);
    body.push_str(&clause(&present));
    body.push_str(&group_by(dims.len()));
    let name = work.part(&leaf.name, body);
    Ok(Part { name, values: vec![(position, column)], totals: Vec::new() })
}

/// The dataset each of whose rows is a group of its own, also one without any row of the number: what is grouped by is
/// its key, and there is one way to it.
fn whole(work: &mut Work<'_>, home: usize, by: &[Dimension]) -> Option<usize> {
    let first = by.first()?;
    let dataset = work.dataset(&first.field.dataset).ok()?;
    let plain = |dimension: &Dimension| {
        dimension.grain.is_none()
            && dimension.bucket.is_none()
            && dimension.field.via.is_empty()
            && dimension.field.dataset.eq_ignore_ascii_case(&first.field.dataset)
    };
    let entity = work.entity(dataset);
    let said = |column: &String| {
        by.iter().any(|dimension| {
            let field = entity.field(&dimension.field.field);
            field.is_some_and(|it| it.name.eq_ignore_ascii_case(column) || it.expression.eq_ignore_ascii_case(column))
        })
    };
    let mut keys = std::iter::once(&entity.primary_key).chain(&entity.unique_keys);
    let told = keys.any(|key| !key.is_empty() && key.iter().all(said));
    let known = dataset != home && !entity.primary_key.is_empty() && by.iter().all(plain) && told;
    (known && work.way(home, dataset, &[], Steps::Any).is_ok()).then_some(dataset)
}

fn fan_out(work: &Work<'_>, scope: &Scope, measure: &str) -> CompileError {
    let steps = scope.nodes().iter().filter_map(|node| node.parent.as_ref().map(|(_, step, _)| step));
    let relationship = steps.filter(|step| step.to_many).map(|step| work.step_words(step)).next().unwrap_or_default();
    let entity = &work.entity(scope.base()).name;
    CompileError::FanOut {
        measure: measure.to_owned(),
        relationship,
        instead: format!(
            "give {entity} a primary_key so that each of its rows counts once in a group, or group by something else"
        ),
    }
}

/// Columns, one a line.
pub fn list(columns: &[String]) -> String {
    indented(&columns.join(",\n"), 2)
}

pub fn clause(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join("\n  AND ")) }
}

/// By the first columns.
fn group_by(columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let positions: Vec<String> = (1..=columns).map(|at| at.to_string()).collect();
    format!("\nGROUP BY {}", positions.join(", "))
}
