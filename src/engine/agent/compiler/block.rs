//! Measures of several datasets put together by their groups.

use crate::engine::render::nouns::plural;
use crate::model::plan::{Comparison, Dimension, Measure};

use super::calc::Calc;
use super::check::Total;
use super::compiled::NoteKind;
use super::error::CompileError;
use super::layout::{clause, group_by, list};
use super::leaf::{Frame, Leaf, Over, Since, What, leaf_at};
use super::measure;
use super::names::Names;
use super::part::{Part, part};
use super::rows::Dim;
use super::spine::units;
use super::subject::{Each, Subject, groups_of, whole};
use super::work::Work;
use crate::model::source::quoted;

/// How numbers of several datasets stand beside each other, where one of them has no row.
const GAPS: &str = "Groups without a row of one number show it as 0 where it counts, and otherwise as empty. What is \
                    empty comes last and meets no bound, but for sums, which are 0 there.";

/// Rows by groups: what follows FROM, and SQL over it.
pub(super) struct Block {
    pub from: String,
    /// Of the plan's dimensions.
    pub dims: Vec<String>,
    /// Names for their columns.
    pub names: Vec<String>,
    pub values: Vec<Number>,
    /// Whether a group may have no row of a number.
    pub gaps: bool,
    /// What else tells rows apart.
    pub ties: Vec<String>,
    pub since: Option<Since>,
}

/// A number of a block.
pub(super) struct Number {
    pub sql: String,
    /// At the comparison's time.
    pub other: Option<String>,
    /// Whether the parts add up to the whole.
    pub adds_up: bool,
    /// 0 where there is no row, so that it is never NULL.
    pub counts: bool,
    /// Whether it is empty in a group that has no row of one of its numbers.
    pub may_lack: bool,
    /// The column of its total among the numbers of the checks.
    pub total: Option<Total>,
}

/// Measures by dimensions; with `each`, its groups are there also without a row.
pub(super) fn groups(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    measures: &[&Measure],
    frame: &Frame,
    comparison: Option<&Comparison>,
    each: Option<Each>,
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
    let subject = match each {
        Some(each) => Some(groups_of(work, each, dims, names, &frame.filters)?),
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
    let (from, spine) = together(work, &parts, &part_names, subject.as_ref());
    let of = |name: &str| match &spine {
        Some(spine) => format!("{}.{}", quoted(spine), quoted(name)),
        None => format!("{}.{}", quoted(parts.first().map_or("", |part| &part.name)), quoted(name)),
    };
    let joined = spine.is_some();
    let leaf = |at: usize| {
        let found = parts.iter().find_map(|part| {
            part.values.iter().find(|(leaf, _)| *leaf == at).map(|(_, column)| (part.name.as_str(), column))
        });
        let Some((part, column)) = found else { return "NULL".to_owned() };
        let sql = format!("{}.{}", quoted(part), quoted(column));
        if joined && leaf_at(&leaves, at).counts() { format!("COALESCE({sql}, 0)") } else { sql }
    };
    let mut values = Vec::new();
    for (now, then) in &calcs {
        let only = now.as_leaf();
        values.push(Number {
            sql: now.sql(work.dialect, &leaf)?,
            other: then.as_ref().map(|then| then.sql(work.dialect, &leaf)).transpose()?,
            adds_up: now.adds_up(&leaves),
            counts: only.is_some_and(|at| leaf_at(&leaves, at).counts()),
            may_lack: now.may_lack(&leaves),
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
        work.note_of(NoteKind::Gaps, GAPS);
    }
    let dims = names.iter().map(|name| of(name)).collect();
    Ok(Block { dims, from, names: names.to_vec(), values, gaps: joined, ties, since: None })
}

/// The leaves by their rows, each in a part.
fn parts(work: &mut Work<'_>, dims: &[Dim], names: &[String], leaves: &[Leaf]) -> Result<Vec<Part>, CompileError> {
    let mut groups: Vec<Vec<(usize, &Leaf)>> = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        let shares = |other: &Leaf| {
            other.rows == leaf.rows && !matches!((&leaf.what, &other.what), (What::Over(_), _) | (_, What::Over(_)))
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(|(_, other)| shares(other))) {
            Some(group) => group.push((at, leaf)),
            None => groups.push(vec![(at, leaf)]),
        }
    }
    let mut made = Vec::new();
    for group in groups {
        made.push(match group.as_slice() {
            [(at, leaf @ Leaf { what: What::Over(of), .. })] => over(work, dims, names, (*at, leaf), of)?,
            same => part(work, dims, names, same)?,
        });
    }
    Ok(made)
}

/// What follows FROM, and the part that has all groups, when it is not the only one.
fn together(
    work: &mut Work<'_>,
    parts: &[Part],
    names: &[String],
    subject: Option<&Subject>,
) -> (String, Option<String>) {
    let spine = match subject.and_then(|subject| subject.body.clone()) {
        Some(body) => work.part("all_groups", body),
        None if parts.len() == 1 => return (parts.iter().map(|part| quoted(&part.name)).collect(), None),
        None if parts.is_empty() => return ("(SELECT 1) AS \"one\"".to_owned(), None),
        None if names.is_empty() => {
            let all: Vec<String> = parts.iter().map(|part| quoted(&part.name)).collect();
            return (all.join("\nCROSS JOIN "), None);
        }
        None => {
            let all: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            work.part("all_groups", work.dialect.all_groups(names, &all))
        }
    };
    let mut from = quoted(&spine);
    for part in parts {
        let on: Vec<String> = names
            .iter()
            .map(|name| {
                let (left, right) = (
                    format!("{}.{}", quoted(&spine), quoted(name)),
                    format!("{}.{}", quoted(&part.name), quoted(name)),
                );
                work.dialect.same(&left, &right)
            })
            .collect();
        let on = if on.is_empty() { "TRUE".to_owned() } else { on.join(" AND ") };
        from.push_str(&format!("\nLEFT JOIN {} ON {on}", quoted(&part.name)));
    }
    (from, Some(spine))
}

/// An aggregate of the groups of another measure.
fn over(
    work: &mut Work<'_>,
    dims: &[Dim],
    names: &[String],
    (position, leaf): (usize, &Leaf),
    Over { function, measure, by, frame }: &Over,
) -> Result<Part, CompileError> {
    let mut all = dims.to_vec();
    let mut columns = Names::default();
    names.iter().for_each(|name| columns.take(name));
    let mut all_names = names.to_vec();
    for dimension in by {
        all_names.push(columns.fresh(&dimension.field.field));
        all.push(Dim::Plan(dimension.clone()));
    }
    let (nouns, each) = match (dims, all_names.as_slice(), whole(work, leaf.rows.home, by)) {
        ([], _, Some(dataset)) => (Some(plural(&work.entity(dataset).noun())), Some(Each::Row(dataset))),
        ([], [name], None) => match units(work, &leaf.rows, by, name)? {
            Some(units) => (Some(times(by)), Some(Each::Unit(units))),
            None => (None, None),
        },
        _ => (None, None),
    };
    let groups = work.deeper(|work| groups(work, &all, &all_names, &[measure], frame, None, each))?;
    let Some(value) = groups.values.first() else {
        return Err(CompileError::Unsupported("an aggregate over groups without a number".into()));
    };
    // Where there is no row, there are none and nothing; but no mean of them.
    let zero = nouns.is_some() && (value.counts || value.adds_up);
    let number = if zero && !value.counts { format!("COALESCE({}, 0)", value.sql) } else { value.sql.clone() };
    let (kept, told) = groups.dims.split_at(dims.len());
    let mut select: Vec<String> =
        kept.iter().zip(names).map(|(sql, name)| format!("{sql} AS {}", quoted(name))).collect();
    let column = columns.fresh(&leaf.name);
    select.push(format!("{} AS {}", work.dialect.aggregate(*function, &number), quoted(&column)));
    let told = if nouns.is_some() { &[] } else { told };
    let present: Vec<String> = told.iter().chain([&number]).map(|sql| format!("{sql} IS NOT NULL")).collect();
    match nouns {
        Some(nouns) => {
            let none = if value.counts { format!("{} = 0", value.sql) } else { format!("{} IS NULL", value.sql) };
            work.groups(nouns, &groups.from, &none, zero);
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

/// What units of time are called: "months".
fn times(by: &[Dimension]) -> String {
    by.iter().find_map(|dimension| dimension.grain).map(|grain| plural(grain.words())).unwrap_or_default()
}
