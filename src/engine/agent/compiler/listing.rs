//! Lists of rows.

use crate::engine::ontology::graph::Steps;
use crate::model::plan::{Condition, FieldRef};

use super::block::Block;
use super::condition;
use super::error::CompileError;
use super::layout::{clause, list};
use super::leaf::{Rows, default_time};
use super::names::Names;
use super::rows::{self, Dim};
use super::scope::Scope;
use super::work::Work;
use crate::engine::render::nouns::{capital, plural};
use crate::model::source::quoted;

/// The rows of the plan's subject, or of the dataset from which all fields are met with the fewest steps to many.
pub(super) fn block(work: &mut Work<'_>) -> Result<Block, CompileError> {
    let plan = work.plan;
    if plan.dimensions.is_empty() {
        return Err(CompileError::Unsupported("the plan asks for nothing: neither a field nor a number".into()));
    }
    if plan.comparison.is_some() || !plan.having.is_empty() {
        return Err(CompileError::Unsupported("a list has no numbers to compare: ask for a number".into()));
    }
    let base = base(work)?;
    let mut scope = Scope::new(work, base);
    let mut names = Names::default();
    let mut columns = Vec::new();
    let mut select = Vec::new();
    for dimension in &plan.dimensions {
        let name = names.fresh(&dimension.field.field);
        let (sql, _) = rows::dimension(work, &mut scope, &Dim::Plan(dimension.clone()), None)?;
        select.push(format!("{sql} AS {}", quoted(&name)));
        columns.push(name);
    }
    let window = match &plan.time {
        Some(time) if time.window.start.is_some() || time.window.end.is_some() => {
            let field = time_field(work, base, time.field.as_ref())?;
            work.reads.time(&field);
            Some(Condition::Within { field, window: time.window.clone(), negated: false })
        }
        _ => None,
    };
    let all: Vec<&Condition> = plan.filters.iter().chain(&window).collect();
    let conditions = condition::all(work, &mut scope, &all)?;
    if scope.fans {
        let noun = plural(&work.entity(base).noun());
        work.note(format!("{} are listed once for each of the rows that belong to them.", capital(&noun)));
    }
    work.watch(&scope, &rows_of(base), &[], &conditions, &[], &[])?;
    let once = if plan.distinct { "SELECT DISTINCT" } else { "SELECT" };
    let body = format!("{once}\n{}\n{}{}", list(&select), scope.from(work)?, clause(&conditions));
    let name = work.part(&format!("listed_{}", plural(&work.entity(base).noun())), body);
    let dims = columns.iter().map(|column| format!("{}.{}", quoted(&name), quoted(column))).collect();
    let (values, ties) = (Vec::new(), Vec::new());
    Ok(Block { from: quoted(&name), dims, names: columns, values, gaps: false, ties, since: None })
}

fn rows_of(home: usize) -> Rows {
    let (filters, own) = (Vec::new(), Vec::new());
    Rows { home, filters, own, time: None, window: None, since: None, last: false, other: false }
}

fn time_field(work: &Work<'_>, base: usize, named: Option<&FieldRef>) -> Result<FieldRef, CompileError> {
    named.cloned().or_else(|| default_time(work, base)).ok_or_else(|| {
        let entity = work.entity(base);
        CompileError::Unsupported(format!(
            "{} has no date to tell when it was: name the field that is meant, or give {} a default_time_field",
            entity.noun(),
            entity.name
        ))
    })
}

/// The dataset whose rows are listed.
fn base(work: &mut Work<'_>) -> Result<usize, CompileError> {
    let plan = work.plan;
    if let Some(subject) = &plan.subject {
        return work.dataset(subject);
    }
    let mut datasets = Vec::new();
    for dimension in &plan.dimensions {
        let (dataset, _) = work.field(&dimension.field)?;
        if !datasets.contains(&dataset) {
            datasets.push(dataset);
        }
    }
    let mut best: Option<(usize, usize, usize)> = None;
    let mut wrong = None;
    for &base in &datasets {
        let mut cost = Some((0, 0));
        for dimension in &plan.dimensions {
            let (dataset, _) = work.field(&dimension.field)?;
            match work.way(base, dataset, &dimension.field.via, Steps::Any) {
                Ok(way) => {
                    let many = way.iter().filter(|step| step.to_many).count();
                    cost = cost.map(|(all, steps)| (all + many, steps + way.len()));
                }
                Err(error) => {
                    wrong.get_or_insert(error);
                    cost = None;
                    break;
                }
            }
        }
        if let Some((many, steps)) = cost
            && best.is_none_or(|(other, more, _)| (many, steps) < (other, more))
        {
            best = Some((many, steps, base));
        }
    }
    match (best, wrong) {
        (Some((_, _, base)), _) => Ok(base),
        (None, Some(error)) => Err(error),
        (None, None) => Err(CompileError::Unsupported("the list has no fields".into())),
    }
}
