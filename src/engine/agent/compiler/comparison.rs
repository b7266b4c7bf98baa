//! Comparisons of a column with values and with other columns. Negations hold for rows without a value, too: what is
//! not known to be X is not X.

use crate::model::ontology::{Aggregation, DataType, Field};
use crate::model::plan::{Comparator, FieldRef, Grain, Literal, Pattern, Window};

use super::error::CompileError;
use super::literal::Written;
use super::scope::Scope;
use super::work::Work;

/// A column as SQL, and what it is.
pub(super) type Column<'a> = (String, &'a Field);

/// A condition or its opposite.
pub(super) fn unless(negated: bool, sql: String) -> String {
    if negated { not(&sql) } else { sql }
}

/// Whether the column has one of the values; a whole day for a time is all of it.
pub(super) fn among(work: &Work<'_>, (sql, field): &Column<'_>, values: &[Literal]) -> Result<String, CompileError> {
    let mut plain = Vec::new();
    let mut parts = Vec::new();
    for value in values {
        match work.literal(value, field)? {
            Written::Value(value) => plain.push(value),
            day @ Written::Day(..) => parts.push(compared(work, sql, Comparator::Equal, day)),
        }
    }
    if !plain.is_empty() {
        parts.insert(0, work.dialect.among(sql, &plain));
    }
    Ok(match parts.len() {
        0 => "FALSE".to_owned(),
        1 => parts.concat(),
        _ => format!("({})", joined(&parts, " OR ")),
    })
}

/// Whether a text is in the column's, without regard to case.
pub(super) fn like(
    work: &Work<'_>,
    (sql, field): &Column<'_>,
    pattern: Pattern,
    part: &str,
) -> Result<String, CompileError> {
    let sql = match field.datatype {
        DataType::String => sql.clone(),
        DataType::DateTimeTz => format!("CAST({} AS VARCHAR)", work.local(sql, field)?),
        _ => format!("CAST({sql} AS VARCHAR)"),
    };
    Ok(work.dialect.like(&sql, pattern, part))
}

/// One column against another. An instant is held against a date or a civil time as what clocks show.
pub(super) fn with_other(
    work: &Work<'_>,
    left: &Column<'_>,
    op: Comparator,
    right: &Column<'_>,
) -> Result<String, CompileError> {
    let side = |(sql, field): &Column<'_>, other: &Field| match (field.datatype, other.datatype) {
        (DataType::DateTimeTz, DataType::Date | DataType::DateTime) => work.local(sql, field),
        _ => Ok(sql.clone()),
    };
    Ok(compared(work, &side(left, right.1)?, op, Written::Value(side(right, left.1)?)))
}

/// Whether the column's time is in a window.
pub(super) fn within(work: &Work<'_>, (sql, field): &Column<'_>, window: &Window) -> Result<String, CompileError> {
    Ok(work.within(sql, field, window)?.unwrap_or_else(|| "TRUE".to_owned()))
}

/// Whether the column's time is on one of some days of the week.
pub(super) fn on_days(work: &Work<'_>, (sql, field): &Column<'_>, days: &[u8]) -> Result<String, CompileError> {
    let day = work.grained(sql, field, Grain::DayOfWeek)?;
    if days.is_empty() || days.iter().any(|day| !(1..=7).contains(day)) {
        return Err(CompileError::Unsupported("days of the week are 1 for Monday to 7 for Sunday".into()));
    }
    let days: Vec<String> = days.iter().map(u8::to_string).collect();
    Ok(format!("{day} IN ({})", days.join(", ")))
}

/// Whether the column's time is between two hours of the day.
pub(super) fn at_hours(work: &Work<'_>, (sql, field): &Column<'_>, from: u8, to: u8) -> Result<String, CompileError> {
    let hour = work.grained(sql, field, Grain::HourOfDay)?;
    if from > 23 || !(1..=24).contains(&to) {
        return Err(CompileError::Unsupported("hours of the day are 0 to 24".into()));
    }
    let joint = if from < to { "AND" } else { "OR" };
    Ok(format!("({hour} >= {from} {joint} {hour} < {to})"))
}

/// Rows whose field compares with the same field of all rows.
pub(super) fn against_overall(
    work: &mut Work<'_>,
    scope: &mut Scope,
    field: &FieldRef,
    op: Comparator,
    function: Aggregation,
) -> Result<String, CompileError> {
    let (sql, known) = scope.column(work, field)?;
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
    let overall = work.dialect.aggregate(function, &theirs);
    let overall = format!("(SELECT {overall} {})", inner.from(work)?);
    Ok(compared(work, &sql, op, Written::Value(overall)))
}

/// A comparison; rows without a value are not equal to anything.
pub(super) fn compared(work: &Work<'_>, sql: &str, op: Comparator, value: Written) -> String {
    match (op, value) {
        (Comparator::NotEqual, Written::Value(value)) => work.dialect.differs(sql, &value),
        (op, Written::Value(value)) => format!("{sql} {} {value}", symbol(op)),
        (Comparator::Equal, Written::Day(start, end)) => format!("({sql} >= {start} AND {sql} < {end})"),
        (Comparator::NotEqual, Written::Day(start, end)) => not(&format!("{sql} >= {start} AND {sql} < {end}")),
        (Comparator::Less, Written::Day(start, _)) => format!("{sql} < {start}"),
        (Comparator::AtMost, Written::Day(_, end)) => format!("{sql} < {end}"),
        (Comparator::Greater, Written::Day(_, end)) => format!("{sql} >= {end}"),
        (Comparator::AtLeast, Written::Day(start, _)) => format!("{sql} >= {start}"),
    }
}

pub(super) fn symbol(op: Comparator) -> &'static str {
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
pub(super) fn not(sql: &str) -> String {
    format!("NOT COALESCE({sql}, FALSE)")
}

/// Parts that keep their meaning whatever they are put into.
pub(super) fn joined(parts: &[String], by: &str) -> String {
    match parts {
        [part] => part.clone(),
        _ => parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(by),
    }
}
