//! The part of a statement that computes leaves over the same rows, one row for each group.

use crate::model::plan::Grain;

use super::check::Total;
use super::error::CompileError;
use super::last::Last;
use super::layout::{clause, group_by, indented, list};
use super::leaf::{Leaf, Rows};
use super::names::Names;
use super::rows::{Dim, Inner, call, conditions, dimension};
use super::scope::Scope;
use super::work::Work;
use crate::engine::render::nouns::{capital, plural};
use crate::model::source::quoted;

/// A part of the statement. Its columns for the dimensions have the names that were asked for.
pub(super) struct Part {
    pub name: String,
    /// Leaves and their columns.
    pub values: Vec<(usize, String)>,
    /// Leaves and the column of their total among the numbers of the checks.
    pub totals: Vec<(usize, Total)>,
}

/// The pieces of a part's SELECT.
struct Pieces<'p> {
    rows: &'p Rows,
    scope: Scope,
    /// The dimensions with their units of the calendar, and the names of their columns.
    grouped: Vec<(String, Option<Grain>)>,
    names: &'p [String],
    conditions: Vec<String>,
    /// Those of the rows that are asked for.
    asked: Vec<String>,
    /// Leaves with the names of their columns and their SQL.
    written: Vec<(usize, String, String)>,
    inner: Inner,
}

/// The part of leaves, which are all of the same rows.
pub(super) fn part(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    leaves: &[(usize, &Leaf)],
) -> Result<Part, CompileError> {
    let Some((_, first)) = leaves.first() else {
        return Err(CompileError::Unsupported("a part without numbers".into()));
    };
    let rows = &first.rows;
    let mut scope = Scope::new(work, rows.home);
    let mut grouped = Vec::new();
    for dim in dims {
        grouped.push(dimension(work, &mut scope, dim, Some(rows))?);
    }
    let conditions = conditions(work, &mut scope, rows)?;
    let mut columns = Names::default();
    names.iter().for_each(|name| columns.take(name));
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
    let begun = rows.since.iter().filter_map(|since| {
        let (time, _) = grouped.get(since.dimension)?;
        Some(format!("{time} >= {}", since.start))
    });
    let asked: Vec<String> = begun.chain(conditions.iter().cloned()).collect();
    let totals = work.watch(&scope, rows, &grouped, &asked, &written, leaves)?;
    let keys = if inner.needed { scope.key(work) } else { Vec::new() };
    if repeats && keys.is_empty() {
        return Err(fan_out(work, &scope, &first.name));
    }
    if repeats {
        work.key_is_one(rows.home)?;
    }
    let pieces = Pieces { rows, scope, grouped, names, conditions, asked, written, inner };
    let body = if pieces.inner.needed { pieces.each_once(work, &keys)? } else { pieces.plain(work)? };
    let wanted = if rows.other { format!("{} before", first.name) } else { first.name.clone() };
    let name = work.part(&wanted, body);
    Ok(Part { name, values: pieces.written.into_iter().map(|(at, column, _)| (at, column)).collect(), totals })
}

impl Pieces<'_> {
    fn dimensions(&self) -> Vec<String> {
        self.grouped.iter().zip(self.names).map(|((sql, _), name)| format!("{sql} AS {}", quoted(name))).collect()
    }

    fn numbers(&self) -> impl Iterator<Item = String> {
        self.written.iter().map(|(_, name, sql)| format!("{sql} AS {}", quoted(name)))
    }

    fn plain(&self, work: &mut Work<'_>) -> Result<String, CompileError> {
        let select: Vec<String> = self.dimensions().into_iter().chain(self.numbers()).collect();
        let (from, conditions) = (self.scope.from(work)?, clause(&self.conditions));
        Ok(format!("SELECT\n{}\n{from}{conditions}{}", list(&select), group_by(self.names.len())))
    }

    /// The rows of each group once, or only the last ones, and the aggregates over them.
    fn each_once(&self, work: &mut Work<'_>, keys: &[String]) -> Result<String, CompileError> {
        let mut fresh = self.inner.names.clone();
        let mut select = self.dimensions();
        select.extend(keys.iter().map(|key| format!("{key} AS {}", quoted(&fresh.fresh("key")))));
        select.extend(self.inner.columns.iter().map(|(sql, name)| format!("{sql} AS {}", quoted(name))));
        let mut last = String::new();
        if self.rows.last {
            let of = Last::of(work, &self.scope, self.rows)?;
            let times: Vec<&str> =
                self.grouped.iter().filter(|(_, grain)| grain.is_some()).map(|(sql, _)| sql.as_str()).collect();
            let mut column = |(sql, wanted): (String, &str)| {
                let name = quoted(&fresh.fresh(wanted));
                select.push(format!("{sql} AS {name}"));
                name
            };
            let kept: Vec<String> =
                of.kept(&times).into_iter().map(|equal| equal.map(&mut column).join(" = ")).collect();
            last = clause(&kept);
            let from = self.scope.from(work)?;
            of.watch(work, &from, &self.asked, &times);
        }
        let once = if self.scope.fans { "SELECT DISTINCT" } else { "SELECT" };
        let (from, conditions) = (self.scope.from(work)?, clause(&self.conditions));
        let body = format!("{once}\n{}\n{from}{conditions}", list(&select));
        let select: Vec<String> = self.names.iter().map(|name| quoted(name)).chain(self.numbers()).collect();
        Ok(format!(
            "SELECT\n{}\nFROM (\n{}\n) AS {}{last}{}",
            list(&select),
            indented(&body, 2),
            quoted("each_once"),
            group_by(self.names.len())
        ))
    }
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
