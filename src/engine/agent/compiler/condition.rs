//! Conditions on rows as SQL.
//!
//! A condition on a dataset that a row meets at most once is a comparison with the joined column. One on a dataset that
//! it may meet several times is EXISTS, so that no row counts twice; conditions on the same such rows are one EXISTS:
//! "policies with an open claim of 2019" is about one claim. Negations hold for rows without a value, too: what is not
//! known to be X is not X.

use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::graph::{Step, Steps, Way};
use crate::model::ontology::{Aggregation, DataType, Field};
use crate::model::plan::{Comparator, Condition, FieldRef, Grain, Pattern};

use super::block;
use super::error::CompileError;
use super::fields::broken;
use super::literal::Written;
use super::names::{capital, indented, plural, quote, text};
use super::scope::{Reached, Scope, equal, pairs};
use super::work::Work;

/// The conditions of a WHERE; all hold together.
pub fn all(work: &mut Work<'_>, scope: &mut Scope, conditions: &[&Condition]) -> Result<Vec<String>, CompileError> {
    let mut flat = Vec::new();
    flatten(conditions, &mut flat);
    let mut written = Vec::new();
    // Conditions on rows beyond a step to many, by that step.
    let mut beyond: Vec<(usize, Step, Vec<&Condition>)> = Vec::new();
    for condition in flat {
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

fn flatten<'c>(conditions: &[&'c Condition], into: &mut Vec<&'c Condition>) {
    for condition in conditions {
        match condition {
            Condition::All(parts) => flatten(&parts.iter().collect::<Vec<_>>(), into),
            other => into.push(other),
        }
    }
}

/// The way to a dataset from where a scope's ways begin, without what lies behind the scope's first dataset.
pub fn way(work: &mut Work<'_>, scope: &Scope, dataset: usize, via: &[String]) -> Result<Way, CompileError> {
    if scope.prefix.is_empty() {
        return work.way(scope.base(), dataset, via, Steps::Any);
    }
    let full = work.way(scope.origin, dataset, via, Steps::Any)?;
    match full.strip_prefix(scope.prefix.as_slice()) {
        Some(rest) => Ok(rest.to_vec()),
        None => work.way(scope.base(), dataset, via, Steps::Any),
    }
}

/// Where the rows of a condition are: `None` when each row meets one at most, otherwise the step to many.
fn place(work: &mut Work<'_>, scope: &mut Scope, condition: &Condition) -> Result<Option<(usize, Step)>, CompileError> {
    let mut steps = Vec::new();
    for (dataset, via) in subjects(work, condition)? {
        let way = way(work, scope, dataset, &via)?;
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
    let of = |field: &FieldRef| Ok((work.field(field)?.0, field.via.clone()));
    Ok(match condition {
        Condition::Compare { field, .. }
        | Condition::In { field, .. }
        | Condition::Like { field, .. }
        | Condition::IsNull { field, .. }
        | Condition::Within { field, .. }
        | Condition::OnDays { field, .. }
        | Condition::AtHours { field, .. }
        | Condition::AgainstOverall { field, .. } => vec![of(field)?],
        Condition::CompareFields { left, right, .. } => vec![of(left)?, of(right)?],
        Condition::Segment { name, .. } => {
            let scalar = segment(work, name)?;
            let mut datasets = Vec::new();
            for reference in scalar.refs() {
                let dataset = owner(work, name, reference.dataset.as_deref())?;
                if !datasets.contains(&(dataset, Vec::new())) {
                    datasets.push((dataset, Vec::new()));
                }
            }
            datasets
        }
        Condition::Exists { of, .. } | Condition::Measured { of, .. } => vec![(work.dataset(of)?, Vec::new())],
        Condition::Any(_) | Condition::All(_) | Condition::Not(_) => Vec::new(),
    })
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
    let (one, many) = (work.entity(scope.node(at).dataset).noun(), work.entity(step.to).noun());
    work.note(format!(
        "{} count when at least one of their {} meets the conditions.",
        capital(&plural(&one)),
        plural(&many)
    ));
    let mut parts = vec![equal(&on)];
    parts.extend(all(work, &mut inner, conditions)?);
    wrapped(work, &inner, &parts)
}

fn wrapped(work: &Work<'_>, inner: &Scope, parts: &[String]) -> Result<String, CompileError> {
    let body = format!("SELECT 1\n{}\nWHERE {}", inner.from(work)?, parts.join("\n  AND "));
    Ok(format!("EXISTS (\n{}\n)", indented(&body, 2)))
}

/// One condition, about rows that are joined.
fn one(work: &mut Work<'_>, scope: &mut Scope, condition: &Condition) -> Result<String, CompileError> {
    match condition {
        Condition::Compare { field, op, value } => {
            let (sql, known) = column(work, scope, field)?;
            Ok(compared(&sql, *op, work.literal(value, known)?))
        }
        Condition::CompareFields { left, op, right } => {
            let (left, _) = column(work, scope, left)?;
            let (right, _) = column(work, scope, right)?;
            Ok(compared(&left, *op, Written::Value(right)))
        }
        Condition::In { field, values, negated } => {
            let (sql, known) = column(work, scope, field)?;
            let mut plain = Vec::new();
            let mut parts = Vec::new();
            for value in values {
                match work.literal(value, known)? {
                    Written::Value(value) => plain.push(value),
                    day @ Written::Day(..) => parts.push(compared(&sql, Comparator::Equal, day)),
                }
            }
            if !plain.is_empty() {
                parts.insert(0, format!("{sql} IN ({})", plain.join(", ")));
            }
            let any = match parts.len() {
                0 => "FALSE".to_owned(),
                1 => parts.concat(),
                _ => format!("({})", joined(&parts, " OR ")),
            };
            Ok(if *negated { not(&any) } else { any })
        }
        Condition::Like { field, pattern, text: part, negated } => {
            let (sql, known) = column(work, scope, field)?;
            let sql = match known.datatype {
                DataType::String => sql,
                _ => format!("CAST({sql} AS VARCHAR)"),
            };
            let part = part.replace('!', "!!").replace('%', "!%").replace('_', "!_").replace('\u{0}', "");
            let pattern = match pattern {
                Pattern::Contains => format!("%{part}%"),
                Pattern::StartsWith => format!("{part}%"),
                Pattern::EndsWith => format!("%{part}"),
            };
            let like = format!("{sql} ILIKE {} ESCAPE '!'", text(&pattern));
            Ok(if *negated { not(&like) } else { like })
        }
        Condition::IsNull { field, negated } => {
            let (sql, _) = column(work, scope, field)?;
            Ok(format!("{sql} IS {}NULL", if *negated { "NOT " } else { "" }))
        }
        Condition::Within { field, window, negated } => {
            let (sql, known) = column(work, scope, field)?;
            let within = work.within(&sql, known, window)?.unwrap_or_else(|| "TRUE".to_owned());
            Ok(if *negated { not(&within) } else { within })
        }
        Condition::OnDays { field, days, negated } => {
            let (sql, known) = column(work, scope, field)?;
            let day = work.grained(&sql, known, Grain::DayOfWeek)?;
            if days.is_empty() || days.iter().any(|day| !(1..=7).contains(day)) {
                return Err(CompileError::Unsupported("days of the week are 1 for Monday to 7 for Sunday".into()));
            }
            let days: Vec<String> = days.iter().map(u8::to_string).collect();
            let on = format!("{day} IN ({})", days.join(", "));
            Ok(if *negated { not(&on) } else { on })
        }
        Condition::AtHours { field, from, to, negated } => {
            let (sql, known) = column(work, scope, field)?;
            let hour = work.grained(&sql, known, Grain::HourOfDay)?;
            if *from > 23 || !(1..=24).contains(to) {
                return Err(CompileError::Unsupported("hours of the day are 0 to 24".into()));
            }
            let joint = if from < to { "AND" } else { "OR" };
            let at = format!("({hour} >= {from} {joint} {hour} < {to})");
            Ok(if *negated { not(&at) } else { at })
        }
        Condition::Segment { name, negated } => {
            let scalar = segment(work, name)?;
            let written = expression(work, scope, &scalar, &format!("segment {name}"))?;
            Ok(if *negated { not(&written) } else { format!("({written})") })
        }
        Condition::Exists { of, dataset, via, filters, negated } => {
            let node = at(work, scope, of)?;
            let (from, to) = (scope.node(node).dataset, work.dataset(dataset)?);
            let ways = work.way(from, to, via, Steps::Any)?;
            let filters: Vec<&Condition> = filters.iter().collect();
            let Some((first, rest)) = ways.split_first() else {
                return Err(CompileError::Unsupported(format!(
                    "whether a {of} has a {dataset} needs a relationship: say which"
                )));
            };
            let mut inner = scope.inner(work, to);
            let back: Way = rest.iter().rev().map(|step| work.graph.back(step)).collect();
            let Reached::At(end) = inner.reach(work, &back, true)? else {
                return Err(CompileError::Unreachable { from: of.clone(), to: dataset.clone() });
            };
            let on = pairs(work, first, &scope.node(node).alias, &inner.node(end).alias)?;
            work.uses(first);
            let mut parts = vec![equal(&on)];
            parts.extend(all(work, &mut inner, &filters)?);
            let exists = wrapped(work, &inner, &parts)?;
            // A row that belongs to none of them is no row of one that has none.
            let there: Vec<String> = match &scope.node(node).parent {
                Some((_, _, on)) => on.iter().map(|(key, _)| format!("{key} IS NOT NULL")).collect(),
                None => Vec::new(),
            };
            Ok(match (*negated, there.is_empty()) {
                (false, _) => exists,
                (true, true) => format!("NOT {exists}"),
                (true, false) => format!("({} AND NOT {exists})", there.join(" AND ")),
            })
        }
        Condition::Measured { of, measure, op, value } => {
            let node = at(work, scope, of)?;
            let dataset = scope.node(node).dataset;
            let keyed = block::keyed(work, dataset, measure)?;
            let number = Field { name: "the number".into(), datatype: DataType::Float, ..Field::default() };
            let bound = compared(&keyed.value, *op, work.literal(value, &number)?);
            let alias = scope.alias(&keyed.name);
            let mut parts: Vec<String> = Vec::new();
            for (column, key) in keyed.keys.iter().zip(&work.entity(dataset).primary_key) {
                parts.push(format!(
                    "{}.{} = {}.{}",
                    quote(&alias),
                    quote(column),
                    quote(&scope.node(node).alias),
                    quote(key)
                ));
            }
            parts.push(bound);
            Ok(format!(
                "EXISTS (\n  SELECT 1\n  FROM {} AS {}\n  WHERE {}\n)",
                quote(&keyed.name),
                quote(&alias),
                parts.join("\n    AND ")
            ))
        }
        Condition::AgainstOverall { field, op, function } => {
            let (sql, known) = column(work, scope, field)?;
            let (dataset, _) = work.field(field)?;
            let inner = scope.inner(work, dataset);
            let theirs = inner.field(work, 0, &field.field)?;
            if !known.datatype.is_number()
                && matches!(function, Aggregation::Sum | Aggregation::Avg | Aggregation::Median | Aggregation::Stddev)
            {
                return Err(CompileError::WrongType {
                    field: known.words(),
                    value: "An average".into(),
                    wants: "it holds no numbers".into(),
                });
            }
            let overall = super::measure::aggregate(work.dialect, *function, &theirs);
            Ok(compared(&sql, *op, Written::Value(format!("(SELECT {overall} {})", inner.from(work)?))))
        }
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

/// The node of a dataset that each row meets once.
fn at(work: &mut Work<'_>, scope: &mut Scope, dataset: &str) -> Result<usize, CompileError> {
    let to = work.dataset(dataset)?;
    let way = way(work, scope, to, &[])?;
    match scope.reach(work, &way, false)? {
        Reached::At(node) => Ok(node),
        Reached::Beyond(..) => {
            Err(CompileError::Unreachable { from: work.entity(scope.base()).name.clone(), to: dataset.to_owned() })
        }
    }
}

fn column<'a>(
    work: &mut Work<'a>,
    scope: &mut Scope,
    reference: &FieldRef,
) -> Result<(String, &'a Field), CompileError> {
    let (dataset, field) = work.field(reference)?;
    let way = way(work, scope, dataset, &reference.via)?;
    match scope.reach(work, &way, false)? {
        Reached::At(node) => Ok((scope.field(work, node, &reference.field)?, field)),
        Reached::Beyond(..) => {
            Err(CompileError::Unsupported(format!("{} belongs to several rows: compare it on its own", field.words())))
        }
    }
}

/// A boolean expression of the ontology over `dataset.field`.
pub fn expression(work: &mut Work<'_>, scope: &mut Scope, scalar: &Scalar, what: &str) -> Result<String, CompileError> {
    let dialect = work.dialect;
    scalar.write(dialect, &mut |dataset, name| {
        let dataset = owner(work, what, dataset)?;
        let field = FieldRef::new(work.entity(dataset).name.clone(), name);
        Ok(column(work, scope, &field)?.0)
    })
}

fn owner(work: &Work<'_>, what: &str, dataset: Option<&str>) -> Result<usize, CompileError> {
    match dataset {
        Some(dataset) => work.dataset(dataset),
        None => Err(CompileError::Unsupported(format!("{what} of the ontology names a field without its dataset"))),
    }
}

fn segment(work: &Work<'_>, name: &str) -> Result<Scalar, CompileError> {
    let known = || work.ontology.segments.iter().map(|segment| segment.name.as_str());
    let segment = work.ontology.segment(name).ok_or_else(|| super::work::unknown("segment", name, known()))?;
    Scalar::parse(&segment.expression).map_err(|problem| broken(&format!("segment {name}"), &problem))
}

/// A comparison; rows without a value are not equal to anything.
pub fn compared(sql: &str, op: Comparator, value: Written) -> String {
    match (op, value) {
        (Comparator::NotEqual, Written::Value(value)) => format!("{sql} IS DISTINCT FROM {value}"),
        (op, Written::Value(value)) => format!("{sql} {} {value}", symbol(op)),
        (Comparator::Equal, Written::Day(start, end)) => format!("({sql} >= {start} AND {sql} < {end})"),
        (Comparator::NotEqual, Written::Day(start, end)) => not(&format!("{sql} >= {start} AND {sql} < {end}")),
        (Comparator::Less, Written::Day(start, _)) => format!("{sql} < {start}"),
        (Comparator::AtMost, Written::Day(_, end)) => format!("{sql} < {end}"),
        (Comparator::Greater, Written::Day(_, end)) => format!("{sql} >= {end}"),
        (Comparator::AtLeast, Written::Day(start, _)) => format!("{sql} >= {start}"),
    }
}

pub fn symbol(op: Comparator) -> &'static str {
    match op {
        Comparator::Equal => "=",
        Comparator::NotEqual => "<>",
        Comparator::Less => "<",
        Comparator::AtMost => "<=",
        Comparator::Greater => ">",
        Comparator::AtLeast => ">=",
    }
}

/// True also where the condition is not known to hold.
fn not(sql: &str) -> String {
    format!("NOT COALESCE({sql}, FALSE)")
}

/// Parts that keep their meaning whatever they are put into.
fn joined(parts: &[String], by: &str) -> String {
    match parts {
        [part] => part.clone(),
        _ => parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(by),
    }
}

/// Whether a condition tells rows of a dataset apart: all that it is about belongs to one of them.
pub fn concerns(work: &mut Work<'_>, dataset: usize, condition: &Condition) -> Result<bool, CompileError> {
    if let Condition::Any(parts) | Condition::All(parts) = condition {
        for part in parts {
            if !concerns(work, dataset, part)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let Condition::Not(inner) = condition {
        return concerns(work, dataset, inner);
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
