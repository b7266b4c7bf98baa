//! Measures of several datasets put together by their groups.

use crate::engine::ontology::graph::Steps;
use crate::model::plan::{Comparison, Condition, Measure};
use crate::model::source::Dialect;

use super::checks::Total;
use super::condition;
use super::error::CompileError;
use super::measure::{self, Calc, Frame, Leaf, What};
use super::names::{Names, plural, quote};
use super::rows::{self, Dim, Part, clause, list};
use super::scope::Scope;
use super::work::Work;

/// Rows by groups: what follows FROM, and SQL over it.
pub struct Block {
    pub from: String,
    /// Of the plan's dimensions.
    pub dims: Vec<String>,
    /// Names for their columns.
    pub names: Vec<String>,
    pub values: Vec<Number>,
    /// What else tells rows apart.
    pub ties: Vec<String>,
}

/// A number of a block.
pub struct Number {
    pub sql: String,
    /// At the comparison's time.
    pub other: Option<String>,
    /// Whether the parts add up to the whole.
    pub adds_up: bool,
    /// 0 where there is no row, so that it is never NULL.
    pub counts: bool,
    /// The column of its total among the numbers of the checks.
    pub total: Option<Total>,
}

/// A number for each row of a dataset, in a part of the statement.
pub struct Keyed {
    pub name: String,
    /// Names of the columns of the key.
    pub keys: Vec<String>,
    /// SQL of the number.
    pub value: String,
}

/// The plan's measures by its dimensions.
pub fn of_plan(work: &mut Work<'_>) -> Result<Block, CompileError> {
    let plan = work.plan;
    let mut names = Names::default();
    let mut columns = Vec::new();
    for dimension in &plan.dimensions {
        columns.push(names.fresh(&dimension.field.field));
    }
    let dims: Vec<Dim> = plan.dimensions.iter().cloned().map(Dim::Plan).collect();
    let frame = Frame {
        filters: plan.filters.clone(),
        own: Vec::new(),
        window: plan.time.as_ref().map(|time| time.window.clone()),
        time: plan.time.as_ref().and_then(|time| time.field.clone()),
        other: false,
    };
    if plan.comparison.is_some() && plan.time.is_none() {
        return Err(CompileError::Unsupported("a comparison with another time needs a time to compare".into()));
    }
    let subject = plan.subject.as_deref().map(|subject| work.dataset(subject)).transpose()?;
    let measures: Vec<&Measure> = plan.measures.iter().collect();
    let mut block = groups(work, &dims, &columns, &measures, &frame, plan.comparison.as_ref(), subject)?;
    block.names = columns;
    Ok(block)
}

/// A measure for each row of a dataset, also for those without any of its rows.
pub fn keyed(work: &mut Work<'_>, dataset: usize, measure: &Measure) -> Result<Keyed, CompileError> {
    let entity = work.entity(dataset);
    if entity.primary_key.is_empty() {
        return Err(CompileError::Unsupported(format!(
            "a number for each {} needs to know which it is: give {} a primary_key",
            entity.noun(),
            entity.name
        )));
    }
    let groups = groups(work, &[], &[], &[measure], &Frame::default(), None, Some(dataset))?;
    let mut names = Names::default();
    let keys: Vec<String> = entity.primary_key.iter().map(|column| names.fresh(column)).collect();
    let value = names.fresh("number");
    let mut select: Vec<String> =
        groups.ties.iter().zip(&keys).map(|(sql, name)| format!("{sql} AS {}", quote(name))).collect();
    let number = groups.values.first().map(|number| number.sql.clone()).unwrap_or_default();
    select.push(format!("{number} AS {}", quote(&value)));
    let words = measure::words(work, measure);
    let name = work.part(
        &format!("{} of each {}", words, entity.noun()),
        format!("SELECT\n{}\nFROM {}", list(&select), groups.from),
    );
    Ok(Keyed { name, keys, value: quote(&value) })
}

/// Measures by dimensions. With a subject each of its rows is a group.
pub fn groups(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    measures: &[&Measure],
    frame: &Frame,
    comparison: Option<&Comparison>,
    subject: Option<usize>,
) -> Result<Block, CompileError> {
    let mut leaves = Vec::new();
    let mut calcs: Vec<(Calc, Option<Calc>)> = Vec::new();
    for measure in measures {
        let now = measure::take(work, measure, frame, &mut leaves)?;
        let then = match comparison {
            Some(comparison) => {
                let frame = Frame { window: Some(comparison.with.clone()), other: true, ..frame.clone() };
                Some(measure::take(work, measure, &frame, &mut leaves)?)
            }
            None => None,
        };
        calcs.push((now, then));
    }
    let subject = match subject {
        Some(dataset) => Some(subject_of(work, dataset, dims, names, &frame.filters)?),
        None => None,
    };
    let (part_dims, part_names) = match &subject {
        Some(subject) => (subject.dims.clone(), subject.names.clone()),
        None => (dims.to_vec(), names.to_vec()),
    };
    if leaves.is_empty() && !part_dims.is_empty() {
        return Err(CompileError::Unsupported(
            "a number that is fixed is the same for every group: ask without groups".into(),
        ));
    }
    let homes = work.homes.len();
    work.homes.extend(leaves.iter().map(|leaf| leaf.rows.home));
    let parts = parts(work, &part_dims, &part_names, &leaves)?;
    work.homes.truncate(homes);
    let (from, spine) = together(work, &parts, &part_names, subject.as_ref())?;
    let of = |name: &str| match &spine {
        Some(spine) => format!("{}.{}", quote(spine), quote(name)),
        None => format!("{}.{}", quote(parts.first().map_or("", |part| &part.name)), quote(name)),
    };
    let joined = spine.is_some();
    let leaf = |at: usize| {
        let found = parts.iter().find_map(|part| {
            part.values.iter().find(|(leaf, _)| *leaf == at).map(|(_, column)| (part.name.as_str(), column))
        });
        let Some((part, column)) = found else { return "NULL".to_owned() };
        let sql = format!("{}.{}", quote(part), quote(column));
        if joined && leaves[at].counts() { format!("COALESCE({sql}, 0)") } else { sql }
    };
    let mut values = Vec::new();
    for (now, then) in &calcs {
        let only = single(now);
        values.push(Number {
            sql: now.sql(work.dialect, &leaf)?,
            other: then.as_ref().map(|then| then.sql(work.dialect, &leaf)).transpose()?,
            adds_up: now.adds_up(&leaves),
            counts: only.is_some_and(|at| leaves[at].counts()),
            total: only.and_then(|at| {
                parts.iter().flat_map(|part| &part.totals).find(|(leaf, _)| *leaf == at).map(|(_, column)| *column)
            }),
        });
    }
    let ties = match &subject {
        Some(subject) => subject.keys.iter().map(|key| of(key)).collect(),
        None => Vec::new(),
    };
    if joined && parts.len() > 1 {
        work.note("Groups without a row of one number show it as 0 where it counts, and as empty otherwise.");
    }
    Ok(Block { dims: names.iter().map(|name| of(name)).collect(), from, names: names.to_vec(), values, ties })
}

/// The leaf that a number is, if it is nothing else.
fn single(calc: &Calc) -> Option<usize> {
    match calc {
        Calc::Leaf(at) => Some(*at),
        Calc::Metric { expression, calls, .. } if expression.as_call().is_some() => calls.first().and_then(single),
        Calc::Metric { calls, metrics, .. } if calls.is_empty() && metrics.len() == 1 => None,
        _ => None,
    }
}

/// The leaves by their rows, each in a part.
fn parts(work: &mut Work<'_>, dims: &[Dim], names: &[String], leaves: &[Leaf]) -> Result<Vec<Part>, CompileError> {
    let mut groups: Vec<Vec<(usize, &Leaf)>> = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        let alone = matches!(leaf.what, What::Over { .. });
        let same = groups.iter_mut().find(|group| {
            !alone
                && group
                    .first()
                    .is_some_and(|(_, other)| other.rows == leaf.rows && !matches!(other.what, What::Over { .. }))
        });
        match same {
            Some(group) => group.push((at, leaf)),
            None => groups.push(vec![(at, leaf)]),
        }
    }
    groups.iter().map(|group| rows::part(work, dims, names, group)).collect()
}

/// What follows FROM, and the part that has all groups, when it is not the only one.
fn together(
    work: &mut Work<'_>,
    parts: &[Part],
    names: &[String],
    subject: Option<&Subject>,
) -> Result<(String, Option<String>), CompileError> {
    let spine = match subject.and_then(|subject| subject.body.clone()) {
        Some(body) => work.part("all_groups", body),
        None if parts.len() == 1 => return Ok((parts.iter().map(|part| quote(&part.name)).collect(), None)),
        None if parts.is_empty() => return Ok(("(SELECT 1) AS \"one\"".to_owned(), None)),
        None if names.is_empty() => {
            let all: Vec<String> = parts.iter().map(|part| quote(&part.name)).collect();
            return Ok((all.join("\nCROSS JOIN "), None));
        }
        None => {
            let columns: Vec<String> = names.iter().map(|name| quote(name)).collect();
            let selects: Vec<String> =
                parts.iter().map(|part| format!("SELECT {} FROM {}", columns.join(", "), quote(&part.name))).collect();
            work.part("all_groups", selects.join("\nUNION\n"))
        }
    };
    let mut from = quote(&spine);
    for part in parts {
        let on: Vec<String> = names
            .iter()
            .map(|name| {
                let (left, right) =
                    (format!("{}.{}", quote(&spine), quote(name)), format!("{}.{}", quote(&part.name), quote(name)));
                same(work.dialect, &left, &right)
            })
            .collect();
        let on = if on.is_empty() { "TRUE".to_owned() } else { on.join(" AND ") };
        from.push_str(&format!("\nLEFT JOIN {} ON {on}", quote(&part.name)));
    }
    Ok((from, Some(spine)))
}

/// Whether two values are the same, NULL being the same as NULL. PostgreSQL can only look up equality.
fn same(dialect: Dialect, left: &str, right: &str) -> String {
    match dialect {
        Dialect::PostgreSql => format!(
            "COALESCE(CAST({left} AS TEXT), '') = COALESCE(CAST({right} AS TEXT), '') AND {left} IS NOT DISTINCT FROM {right}"
        ),
        _ => format!("{left} IS NOT DISTINCT FROM {right}"),
    }
}

/// What the rows of the subject are grouped by.
struct Subject {
    /// What the parts are grouped by.
    dims: Vec<Dim>,
    names: Vec<String>,
    /// Names of the columns of its key.
    keys: Vec<String>,
    /// Its rows; absent when its rows alone do not tell the dimensions.
    body: Option<String>,
}

fn subject_of(
    work: &mut Work<'_>,
    dataset: usize,
    dims: &[Dim],
    names: &[String],
    filters: &[Condition],
) -> Result<Subject, CompileError> {
    let entity = work.entity(dataset);
    let mut fresh = Names::default();
    names.iter().for_each(|name| fresh.take(name));
    let keys: Vec<String> = entity.primary_key.iter().map(|column| fresh.fresh(column)).collect();
    let key_dims: Vec<Dim> =
        entity.primary_key.iter().map(|column| Dim::Key { dataset, column: column.clone() }).collect();
    let mut tells = true;
    for dim in dims {
        if let Dim::Plan(dimension) = dim {
            let (of, _) = work.field(&dimension.field)?;
            tells &= match work.way(dataset, of, &dimension.field.via, Steps::ToOne) {
                Ok(_) => true,
                Err(CompileError::Unreachable { .. }) => false,
                Err(error) => return Err(error),
            };
        }
    }
    if !tells {
        let all: Vec<Dim> = dims.iter().cloned().chain(key_dims).collect();
        let all_names = names.iter().chain(&keys).cloned().collect();
        work.note(format!("Only {} with a row are shown.", plural(&entity.noun())));
        return Ok(Subject { dims: all, names: all_names, keys, body: None });
    }
    let mut scope = Scope::new(work, dataset);
    let mut select = Vec::new();
    for (dim, name) in dims.iter().zip(names) {
        let (sql, _) = rows::dimension(work, &mut scope, dim, None)?;
        select.push(format!("{sql} AS {}", quote(name)));
    }
    let mut own = Vec::new();
    for condition in filters {
        if condition::concerns(work, dataset, condition)? {
            own.push(condition);
        }
    }
    let conditions = condition::all(work, &mut scope, &own)?;
    for (column, name) in scope.key(work)?.iter().zip(&keys) {
        select.push(format!("{column} AS {}", quote(name)));
    }
    if !keys.is_empty() {
        rows::key_is_one(work, dataset)?;
    }
    let once = if keys.is_empty() { "SELECT DISTINCT" } else { "SELECT" };
    if select.is_empty() {
        return Err(CompileError::Unsupported(format!(
            "a number for each {} needs to know which it is: give {} a primary_key",
            entity.noun(),
            entity.name
        )));
    }
    let body = format!("{once}\n{}\n{}{}", list(&select), scope.from(work)?, clause(&conditions));
    let (dims, part_names) = if keys.is_empty() { (dims.to_vec(), names.to_vec()) } else { (key_dims, keys.clone()) };
    Ok(Subject { dims, names: part_names, keys, body: Some(body) })
}
