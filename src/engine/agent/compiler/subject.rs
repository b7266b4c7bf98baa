//! Groups that are the rows of a dataset, also those without any row of a number.

use crate::engine::ontology::graph::Steps;
use crate::engine::render::nouns::plural;
use crate::model::plan::{Condition, Dimension};

use super::condition;
use super::error::CompileError;
use super::layout::{clause, list};
use super::names::Names;
use super::rows::{self, Dim};
use super::scope::Scope;
use super::work::Work;
use crate::model::source::quoted;

/// Groups that are there also without any row of a number.
pub(super) enum Each {
    /// The rows of a dataset.
    Row(usize),
    /// The units of the calendar that a SELECT gives.
    Unit(String),
}

/// What the rows of the subject are grouped by.
pub(super) struct Subject {
    /// What the parts are grouped by.
    pub dims: Vec<Dim>,
    pub names: Vec<String>,
    /// Names of the columns of its key.
    pub keys: Vec<String>,
    /// Its rows; absent when its rows alone do not tell the dimensions.
    pub body: Option<String>,
}

/// The groups of a number by dimensions: units of the calendar, or rows of a dataset, those that the conditions on them
/// leave.
pub(super) fn groups_of(
    work: &mut Work<'_>,
    each: Each,
    dims: &[Dim],
    names: &[String],
    filters: &[Condition],
) -> Result<Subject, CompileError> {
    let dataset = match each {
        Each::Row(dataset) => dataset,
        Each::Unit(body) => {
            return Ok(Subject { dims: dims.to_vec(), names: names.to_vec(), keys: Vec::new(), body: Some(body) });
        }
    };
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
        select.push(format!("{sql} AS {}", quoted(name)));
    }
    let mut own = Vec::new();
    for condition in filters {
        if condition::concerns(work, dataset, condition)? {
            own.push(condition);
        }
    }
    let conditions = condition::all(work, &mut scope, &own)?;
    for (column, name) in scope.key(work).iter().zip(&keys) {
        select.push(format!("{column} AS {}", quoted(name)));
    }
    if !keys.is_empty() {
        work.key_is_one(dataset)?;
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

/// The dataset each of whose rows is a group of its own, also one without any row of the number: what is grouped by is
/// its key, and there is one way to it.
pub(super) fn whole(work: &mut Work<'_>, home: usize, by: &[Dimension]) -> Option<usize> {
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
