//! Conditions on rows as SQL.
//!
//! A condition on a dataset that a row meets at most once is a comparison with the joined column. One on a dataset that
//! it may meet several times is EXISTS (`IN` for ClickHouse), so that no row counts twice; conditions on the same such rows are one EXISTS:
//! "policies with an open claim of 2019" is about one claim. Negations hold for rows without a value, too: what is not
//! known to be X is not X.

use crate::engine::ontology::dialect::Belonging;
use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::graph::{Step, Steps, Way, shared};
use crate::model::ontology::{DataType, Entity, Field};
use crate::model::plan::{Comparator, Condition, Literal, Measure, Node};

use super::comparison::{
    against_overall, among, at_hours, compared, joined, like, not, on_days, unless, with_other, within,
};
use super::error::CompileError;
use super::fields::broken;
use super::joins::pairs;
use super::layout::{clause, indented};
use super::scope::{Reached, Scope};
use super::work::{Work, unknown};
use crate::engine::render::nouns::{capital, plural};
use crate::model::source::quoted;

/// The conditions of a WHERE; all hold together.
pub(super) fn all(
    work: &mut Work<'_>,
    scope: &mut Scope,
    conditions: &[&Condition],
) -> Result<Vec<String>, CompileError> {
    let mut written = Vec::new();
    // Conditions on rows beyond a step to many, by that step.
    let mut beyond: Vec<(usize, Step, Vec<&Condition>)> = Vec::new();
    for condition in conditions.iter().flat_map(|condition| condition.together()) {
        match place(work, scope, condition)? {
            None => written.push(work.deeper(|work| one(work, scope, condition))?),
            Some((at, step)) => match beyond.iter_mut().find(|(node, by, _)| *node == at && *by == step) {
                Some((_, _, group)) => group.push(condition),
                None => beyond.push((at, step, vec![condition])),
            },
        }
    }
    for (at, step, group) in beyond {
        written.push(work.deeper(|work| exists(work, scope, at, &step, &group))?);
    }
    Ok(written)
}

/// Where the rows of a condition are: `None` when each row meets one at most, otherwise the step to many.
fn place(work: &mut Work<'_>, scope: &mut Scope, condition: &Condition) -> Result<Option<(usize, Step)>, CompileError> {
    let mut steps = Vec::new();
    for (dataset, via) in subjects(work, condition)? {
        let way = scope.way(work, dataset, &via)?;
        steps.push(match scope.reach(work, &way, false)? {
            Reached::At(_) => None,
            Reached::Beyond(at, rest) => rest.first().map(|step| (at, *step)),
        });
    }
    let first = steps.first().copied().flatten();
    if steps.iter().any(|step| *step != first) {
        return Err(CompileError::Unsupported(
            "a condition compares fields of rows that belong to different datasets: ask about one of them at a time"
                .into(),
        ));
    }
    Ok(first)
}

/// The datasets that a condition itself is about, and by which ways.
fn subjects(work: &Work<'_>, condition: &Condition) -> Result<Vec<(usize, Vec<String>)>, CompileError> {
    match condition {
        Condition::Segment { name, .. } => {
            let scalar = segment(work, name)?;
            let mut datasets = Vec::new();
            for reference in scalar.refs() {
                let dataset = work.owner(name, reference.dataset.as_deref())?;
                if !datasets.contains(&(dataset, Vec::new())) {
                    datasets.push((dataset, Vec::new()));
                }
            }
            Ok(datasets)
        }
        Condition::Exists { of, .. } | Condition::Measured { of, .. } => Ok(vec![(work.dataset(of)?, Vec::new())]),
        other => other.fields().into_iter().map(|field| Ok((work.field(field)?.0, field.via.clone()))).collect(),
    }
}

/// A row beyond a step to many that meets the conditions.
fn exists(
    work: &mut Work<'_>,
    scope: &Scope,
    at: usize,
    step: &Step,
    conditions: &[&Condition],
) -> Result<String, CompileError> {
    let mut inner = scope.inner(work, step.to);
    inner.origin = scope.origin;
    inner.prefix = scope.way_to(at);
    inner.prefix.push(*step);
    let on = pairs(work, step, &scope.node(at).alias, &inner.node(0).alias)?;
    work.uses(step);
    let noun = |dataset: usize| work.entity(dataset).noun();
    let (one, many) = (noun(scope.base()), noun(step.to));
    let whose = if at == 0 { "their".to_owned() } else { format!("their {}’s", noun(scope.node(at).dataset)) };
    work.note(format!(
        "{} count when at least one of {whose} {} meets the conditions.",
        capital(&plural(&one)),
        plural(&many)
    ));
    let conditions = all(work, &mut inner, conditions)?;
    let from = inner.from(work)?;
    Ok(belongs(work, &on, &from, conditions))
}

/// Whether a row of what is read from belongs to the row outside, and meets the conditions.
fn belongs(work: &Work<'_>, on: &[(String, String)], from: &str, conditions: Vec<String>) -> String {
    let Belonging { before, select, condition, after } = work.dialect.belonging(on);
    let conditions: Vec<String> = condition.into_iter().chain(conditions).collect();
    let body = format!("SELECT {select}\n{from}{}", clause(&conditions));
    format!("{before}(\n{}\n){after}", indented(&body, 2))
}

/// One condition, about rows that are joined.
fn one(work: &mut Work<'_>, scope: &mut Scope, condition: &Condition) -> Result<String, CompileError> {
    match condition {
        Condition::Compare { field, op, value } => {
            let (sql, known) = scope.column(work, field)?;
            Ok(compared(work, &sql, *op, work.literal(value, known)?))
        }
        Condition::CompareFields { left, op, right } => {
            let left = scope.column(work, left)?;
            let right = scope.column(work, right)?;
            with_other(work, &left, *op, &right)
        }
        Condition::In { field, values, negated } => {
            let column = scope.column(work, field)?;
            Ok(unless(*negated, among(work, &column, values)?))
        }
        Condition::Like { field, pattern, text, negated } => {
            let column = scope.column(work, field)?;
            Ok(unless(*negated, like(work, &column, *pattern, text)?))
        }
        Condition::IsNull { field, negated } => {
            let (sql, _) = scope.column(work, field)?;
            Ok(format!("{sql} IS {}NULL", if *negated { "NOT " } else { "" }))
        }
        Condition::Within { field, window, negated } => {
            let column = scope.column(work, field)?;
            Ok(unless(*negated, within(work, &column, window)?))
        }
        Condition::OnDays { field, days, negated } => {
            let column = scope.column(work, field)?;
            Ok(unless(*negated, on_days(work, &column, days)?))
        }
        Condition::AtHours { field, from, to, negated } => {
            let column = scope.column(work, field)?;
            Ok(unless(*negated, at_hours(work, &column, *from, *to)?))
        }
        Condition::Segment { name, negated } => {
            let scalar = segment(work, name)?;
            let written = scope.expression(work, &scalar, &format!("segment {name}"))?;
            Ok(if *negated { not(&written) } else { format!("({written})") })
        }
        Condition::Exists { of, dataset, via, filters, negated } => {
            let node = scope.at(work, of)?;
            let exists = related(work, scope, node, (of, dataset), via, filters)?;
            Ok(if *negated { lacking(scope, node, &exists) } else { exists })
        }
        Condition::Measured { of, measure, op, value } => measured(work, scope, of, measure, (*op, value)),
        Condition::AgainstOverall { field, op, function } => against_overall(work, scope, field, *op, *function),
        Condition::Any(parts) => {
            let mut written = Vec::new();
            for part in parts {
                let all = all(work, scope, &[part])?;
                written.push(if all.len() == 1 { all.concat() } else { format!("({})", joined(&all, " AND ")) });
            }
            Ok(if written.is_empty() { "FALSE".to_owned() } else { format!("({})", joined(&written, " OR ")) })
        }
        Condition::All(parts) => {
            let all = all(work, scope, &parts.iter().collect::<Vec<_>>())?;
            Ok(if all.is_empty() { "TRUE".to_owned() } else { joined(&all, " AND ") })
        }
        Condition::Not(inner) => Ok(not(&joined(&all(work, scope, &[inner])?, " AND "))),
    }
}

/// A row of the other dataset that belongs to the node's and meets the conditions.
fn related(
    work: &mut Work<'_>,
    scope: &Scope,
    node: usize,
    (of, dataset): (&str, &str),
    via: &[String],
    filters: &[Condition],
) -> Result<String, CompileError> {
    let (from, to) = (scope.node(node).dataset, work.dataset(dataset)?);
    let ways = work.way(from, to, via, Steps::Any)?;
    let filters: Vec<&Condition> = filters.iter().collect();
    let Some((first, rest)) = ways.split_first() else {
        return Err(CompileError::Unsupported(format!(
            "whether a {of} has a {dataset} needs a relationship: say which"
        )));
    };
    if let Some(down) = shared(&ways).and_then(|up| ways.get(up)) {
        return Err(of_another(work, from, work.entity(down.from), to));
    }
    let behind = |at: usize| ways.get(at..).and_then(|rest| rest.get(shared(rest)?));
    if let Some(down) = (1..ways.len()).find_map(behind) {
        let (one, many) = (work.entity(from).noun(), plural(&work.entity(to).noun()));
        let whose = work.entity(down.from).noun();
        work.note(format!(
            "Which {many} are of which {one} is not known: those of a {whose} count for each {one} that it belongs to."
        ));
    }
    let mut inner = scope.inner(work, to);
    let back: Way = rest.iter().rev().map(|step| work.graph.back(step)).collect();
    let Reached::At(end) = inner.reach(work, &back, true)? else {
        return Err(CompileError::Unreachable { from: of.to_owned(), to: dataset.to_owned() });
    };
    let on = pairs(work, first, &scope.node(node).alias, &inner.node(end).alias)?;
    work.uses(first);
    let conditions = all(work, &mut inner, &filters)?;
    let from = inner.from(work)?;
    Ok(belongs(work, &on, &from, conditions))
}

/// Rows that only belong to a row that others share are of none of these alone.
fn of_another(work: &Work<'_>, from: usize, owner: &Entity, to: usize) -> CompileError {
    let (one, many, whose) = (work.entity(from).noun(), plural(&work.entity(to).noun()), owner.noun());
    CompileError::Unsupported(format!(
        "which {many} are of which {one} is not known: both only belong to the same {whose}. Say it of that: {} of {} \
         with {many}, in a query `{} has {}`",
        plural(&one),
        plural(&whose),
        owner.name,
        work.entity(to).name
    ))
}

/// That there is none; a row that belongs to none of the node's is no row of one that has none.
fn lacking(scope: &Scope, node: usize, exists: &str) -> String {
    match &scope.node(node).parent {
        None => format!("NOT {exists}"),
        Some((_, _, on)) => {
            let there: Vec<String> = on.iter().map(|(key, _)| format!("{key} IS NOT NULL")).collect();
            format!("({} AND NOT {exists})", there.join(" AND "))
        }
    }
}

/// Rows whose own number meets a bound.
fn measured(
    work: &mut Work<'_>,
    scope: &mut Scope,
    of: &str,
    measure: &Measure,
    (op, value): (Comparator, &Literal),
) -> Result<String, CompileError> {
    let node = scope.at(work, of)?;
    let dataset = scope.node(node).dataset;
    let is_equal = matches!(op, Comparator::Equal | Comparator::NotEqual);
    let outside = std::mem::replace(&mut work.whole_days, is_equal);
    let keyed = (work.number_of_each)(work, dataset, measure);
    work.whole_days = outside;
    let keyed = keyed?;
    let number = Field { name: "the number".into(), datatype: DataType::Float, ..Field::default() };
    if keyed.is_sum && !matches!(op, Comparator::Greater | Comparator::AtLeast) {
        let many = plural(&work.entity(dataset).noun());
        work.note(format!("{} without a row of the number count as 0.", capital(&many)));
    }
    let bound = compared(work, &keyed.value, op, work.literal(value, &number)?);
    let alias = scope.alias(&keyed.name);
    let mut on = Vec::new();
    for (column, key) in keyed.keys.iter().zip(&work.entity(dataset).primary_key) {
        let theirs = quoted(&scope.node(node).alias);
        on.push((format!("{}.{}", quoted(&alias), quoted(column)), format!("{theirs}.{}", quoted(key))));
    }
    let from = format!("FROM {} AS {}", quoted(&keyed.name), quoted(&alias));
    Ok(belongs(work, &on, &from, vec![bound]))
}

fn segment(work: &Work<'_>, name: &str) -> Result<Scalar, CompileError> {
    let known = || work.ontology.segments.iter().map(|segment| segment.name.as_str());
    let segment = work.ontology.segment(name).ok_or_else(|| unknown("segment", name, known()))?;
    Scalar::parse(&segment.expression).map_err(|problem| broken(&format!("segment {name}"), &problem))
}

/// Whether a condition tells rows of a dataset apart: all that it is about belongs to one of them.
pub(super) fn concerns(work: &mut Work<'_>, dataset: usize, condition: &Condition) -> Result<bool, CompileError> {
    if let Condition::Any(_) | Condition::All(_) | Condition::Not(_) = condition {
        for part in condition.children() {
            if let Node::Condition(part) = part
                && !concerns(work, dataset, part)?
            {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    for (of, via) in subjects(work, condition)? {
        match work.way(dataset, of, &via, Steps::ToOne) {
            Ok(_) => {}
            Err(CompileError::Unreachable { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
