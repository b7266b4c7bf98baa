//! What expressions write and ClickHouse writes otherwise, beyond what every engine does (`write.rs`).

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, DataType, DateTimeField, ExactNumberInfo, Expr, Function, OrderBySort, TimezoneInfo, Value,
    VisitMut as _, VisitorMut,
};

use super::functions::{arguments, filter};
use crate::engine::ontology::dialect::{Unwritten, not_in_clickhouse};
use crate::model::source::Dialect::ClickHouse;

/// What `AT TIME ZONE` makes of what clocks show, and what is between two days.
const INSTANT: &str = "as instant in";
const DAYS: &str = "days since";

/// Tells apart, while types can still be seen, what is one operator and has two meanings: what clocks show becomes an
/// instant `AT TIME ZONE`, and of two days the difference is a number. These become operators that no expression holds.
pub(super) fn told_apart(expr: &mut Expr) {
    struct Apart;
    impl VisitorMut for Apart {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            let (left, op, right) = match expr {
                Expr::AtTimeZone { timestamp, time_zone } if is_civil(timestamp) => (timestamp, INSTANT, time_zone),
                Expr::BinaryOp { left, op: BinaryOperator::Minus, right } if is_day(left) && is_day(right) => {
                    (left, DAYS, right)
                }
                _ => return ControlFlow::Continue(()),
            };
            let (left, op, right) = (left.clone(), BinaryOperator::Custom(op.to_owned()), right.clone());
            *expr = Expr::BinaryOp { left, op, right };
            ControlFlow::Continue(())
        }
    }
    let _ = expr.visit(&mut Apart);
}

/// Whether it is seen to be a day.
fn is_day(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_day(inner),
        Expr::Cast { data_type, .. } => *data_type == DataType::Date,
        Expr::TypedString(text) => text.data_type == DataType::Date,
        _ => false,
    }
}

/// Whether it is seen to be what clocks or calendars show, and no instant.
fn is_civil(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_civil(inner),
        Expr::Cast { data_type, .. } => is_civil_type(data_type),
        Expr::TypedString(text) => is_civil_type(&text.data_type),
        Expr::AtTimeZone { timestamp, .. } => !is_civil(timestamp),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_civil(left) || is_civil(right)
        }
        Expr::Function(function) => {
            match (function.name.to_string().to_ascii_lowercase().as_str(), arguments(function).as_slice()) {
                ("make_date", _) => true,
                ("date_trunc", [_, time]) => is_civil(time),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_civil_type(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date)
        || matches!(data_type, DataType::Timestamp(_, zone) if !matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone))
}

/// As ClickHouse writes it, where that is otherwise.
pub(super) fn written(expr: &Expr) -> Result<Option<String>, Unwritten> {
    Ok(Some(match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => ClickHouse.text(text),
            _ => return Ok(None),
        },
        Expr::TypedString(typed) => {
            let Value::SingleQuotedString(text) = &typed.value.value else { return Ok(None) };
            cast(&ClickHouse.text(text), &typed.data_type)?
        }
        Expr::Cast { expr, data_type, .. } => cast(&expr.to_string(), data_type)?,
        Expr::AtTimeZone { timestamp, time_zone } => ClickHouse.local(&timestamp.to_string(), &time_zone.to_string()),
        Expr::BinaryOp { left, op: BinaryOperator::Custom(op), right } => {
            let (left, right) = (left.to_string(), right.to_string());
            if op == DAYS { ClickHouse.days(&right, &left) } else { ClickHouse.instant(&left, &right) }
        }
        Expr::BinaryOp { left, op: BinaryOperator::Modulo, right } => format!("{left} % NULLIF({right}, 0)"),
        Expr::InList { expr, list, negated } => {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            let among = ClickHouse.among(&expr.to_string(), &list);
            if *negated { format!("NOT ({among})") } else { among }
        }
        Expr::IsDistinctFrom(left, right) => ClickHouse.differs(&left.to_string(), &right.to_string()),
        Expr::IsNotDistinctFrom(left, right) => ClickHouse.same(&left.to_string(), &right.to_string()),
        Expr::Position { expr, r#in } => format!("positionUTF8({in}, {expr})"),
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let from = substring_from.as_ref().map_or_else(|| "1".to_owned(), ToString::to_string);
            let length = substring_for.as_ref().map(|length| format!(", {length}")).unwrap_or_default();
            format!("substringUTF8({expr}, {from}{length})")
        }
        Expr::Extract { field, expr, .. } => part(&field.to_string(), field == &DateTimeField::Epoch, expr),
        Expr::Function(function) => return call(function),
        _ => return Ok(None),
    }))
}

/// A part of a time; the seconds of a length are those between its ends.
fn part(name: &str, is_epoch: bool, of: &Expr) -> String {
    let mut inner = of;
    while let Expr::Nested(nested) = inner {
        inner = nested;
    }
    match inner {
        Expr::BinaryOp { left, op: BinaryOperator::Minus, right } if is_epoch => {
            format!("date_diff('second', {right}, {left})")
        }
        _ => ClickHouse.part(&name.to_ascii_lowercase(), &of.to_string()),
    }
}

fn cast(of: &str, to: &DataType) -> Result<String, Unwritten> {
    let name = to.to_string().to_ascii_uppercase();
    Ok(match to {
        DataType::Date => ClickHouse.day(of),
        to if is_civil_type(to) => format!("toDateTime64({of}, 6, 'UTC')"),
        DataType::Timestamp(..) => format!("parseDateTime64BestEffort(toString({of}), 6, 'UTC')"),
        DataType::Time(..) => return Err(not_in_clickhouse("a time of day")),
        // Rounded, not cut, and with every digit of what is written as a text.
        _ if ["BIGINT", "INT", "INTEGER", "SMALLINT"].contains(&name.as_str()) => {
            format!("CAST(round(toDecimal128({of}, 9)) AS {name})")
        }
        DataType::Decimal(ExactNumberInfo::None) | DataType::Numeric(ExactNumberInfo::None) => {
            format!("CAST({of} AS DECIMAL(18, 3))")
        }
        _ if ["CHAR", "CHARACTER", "TEXT", "VARCHAR"].iter().any(|text| name.starts_with(text)) => {
            format!("toString({of})")
        }
        _ => format!("CAST({of} AS {name})"),
    })
}

/// The functions that have another name or another meaning there.
fn call(function: &Function) -> Result<Option<String>, Unwritten> {
    let name = function.name.to_string().to_ascii_lowercase();
    let given: Vec<String> = arguments(function).iter().map(ToString::to_string).collect();
    let all = given.join(", ");
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    if let Some((_, theirs)) = RENAMED.iter().find(|(known, _)| *known == name) {
        return Ok(Some(format!("{theirs}({all})")));
    }
    Ok(Some(match (name.as_str(), given.as_slice()) {
        ("age", _) => return Err(not_in_clickhouse("AGE")),
        ("chr", _) => return Err(not_in_clickhouse("CHR")),
        ("bit_length", [of]) => format!("(8 * length({of}))"),
        ("btrim", [of, what]) => format!("trim(BOTH {what} FROM {of})"),
        // NULL is as an empty text.
        ("concat", parts) => {
            let parts: Vec<String> = parts.iter().map(|part| format!("COALESCE(toString({part}), '')")).collect();
            format!("concat({})", parts.join(", "))
        }
        // What is NULL is left out, by the function itself.
        ("concat_ws", [by, parts @ ..]) => {
            let parts: Vec<String> = parts.iter().map(|part| format!("toString({part})")).collect();
            format!("arrayStringConcat([{}], {by})", parts.join(", "))
        }
        ("cot", [of]) => format!("(1 / tan({of}))"),
        ("log", [of]) => format!("log10({of})"),
        ("log", [base, of]) => format!("(log({of}) / log({base}))"),
        ("date_part", [what, time]) => ClickHouse.part(&what.trim_matches('\'').to_ascii_lowercase(), time),
        ("md5", [of]) => format!("lower(hex(MD5({of})))"),
        ("mod", [left, right]) => format!("modulo({left}, NULLIF({right}, 0))"),
        ("regexp_replace", [_, _, _]) => format!("replaceRegexpOne({all})"),
        ("regexp_replace", [of, what, by, "'g'"]) => format!("replaceRegexpAll({of}, {what}, {by})"),
        ("regexp_replace", _) => return Err(not_in_clickhouse("REGEXP_REPLACE")),
        // Halves go away from 0.
        ("round", [of]) => format!("(sign({of}) * floor(abs({of}) + 0.5))"),
        ("round", [of, digits]) => {
            format!("(sign({of}) * floor(abs({of}) * exp10({digits}) + 0.5) / exp10({digits}))")
        }
        ("split_part", [of, by, at]) => {
            format!("if({of} IS NULL, NULL, splitByString({by}, assumeNotNull({of}))[{at}])")
        }
        ("to_timestamp", [seconds]) => format!("toDateTime64({seconds}, 6, 'UTC')"),
        ("percentile_cont", [part]) => {
            let Some(order) = function.within_group.first() else { return Ok(None) };
            let is_falling = order.options.sort == Some(OrderBySort::Desc);
            let part = if is_falling { format!("1 - {part}") } else { (*part).to_owned() };
            return Ok(ClickHouse.quantile(&part, &order.expr.to_string(), &filter(function)));
        }
        _ => return Ok(None),
    }))
}

/// Those that differ in their names alone: texts are of characters, as everywhere, and not of bytes.
const RENAMED: [(&str, &str); 15] = [
    ("char_length", "lengthUTF8"),
    ("character_length", "lengthUTF8"),
    ("left", "leftUTF8"),
    ("length", "lengthUTF8"),
    ("lower", "lowerUTF8"),
    ("lpad", "leftPadUTF8"),
    ("make_date", "makeDate32"),
    ("octet_length", "length"),
    ("reverse", "reverseUTF8"),
    ("right", "rightUTF8"),
    ("rpad", "rightPadUTF8"),
    ("starts_with", "startsWith"),
    ("strpos", "positionUTF8"),
    ("translate", "translateUTF8"),
    ("upper", "upperUTF8"),
];
