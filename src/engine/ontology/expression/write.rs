//! Expressions as SQL of an engine.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, DataType, ExactNumberInfo, Expr, Function, Ident, Value, visit_expressions_mut};

use super::clickhouse;
use super::functions::{arguments, filter};
use crate::engine::ontology::dialect::Unwritten;
use crate::model::source::Dialect;

/// Children come before their parents, so that what was written for an engine is put into the next as it is.
pub(super) fn expression<E: From<Unwritten>>(
    expr: &Expr,
    dialect: Dialect,
    name: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
) -> Result<String, E> {
    let mut expr = expr.clone();
    if dialect == Dialect::ClickHouse {
        clickhouse::told_apart(&mut expr);
    }
    let wrong = visit_expressions_mut(&mut expr, |expr| match written(expr, dialect, name) {
        Ok(sql) => {
            if let Some(sql) = sql {
                *expr = raw(sql);
            }
            ControlFlow::Continue(())
        }
        Err(error) => ControlFlow::Break(error),
    });
    match wrong {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(expr.to_string()),
    }
}

/// What the engine writes otherwise than expressions do; `None` for what stays as it is.
fn written<E: From<Unwritten>>(
    expr: &mut Expr,
    dialect: Dialect,
    name: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
) -> Result<Option<String>, E> {
    match expr {
        Expr::Identifier(ident) => return name(None, &ident.value).map(Some),
        Expr::CompoundIdentifier(parts) => {
            if let [dataset, field] = parts.as_slice() {
                return name(Some(&dataset.value), &field.value).map(Some);
            }
        }
        Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => return Ok(Some(quotient(left, right, dialect))),
        Expr::Cast { data_type: data_type @ DataType::Double(ExactNumberInfo::None), .. } => {
            *data_type = DataType::DoublePrecision;
        }
        _ => {}
    }
    if dialect == Dialect::ClickHouse
        && let Some(sql) = clickhouse::written(expr)?
    {
        return Ok(Some(sql));
    }
    Ok(match expr {
        Expr::Function(function) => call(function, dialect),
        _ => None,
    })
}

/// SQL as it is: a name without quotes is written as it stands.
fn raw(sql: String) -> Expr {
    Expr::Identifier(Ident { quote_style: None, ..Ident::new(sql) })
}

/// All engines fail or give infinity at 0.
fn quotient(left: &Expr, right: &Expr, dialect: Dialect) -> String {
    let divisor = match right {
        Expr::Value(value) if matches!(&value.value, Value::Number(number, _) if number != "0") => right.to_string(),
        _ => format!("NULLIF({right}, 0)"),
    };
    dialect.divided(&left.to_string(), &divisor)
}

/// What the engines write differently.
fn call(function: &Function, dialect: Dialect) -> Option<String> {
    let name = function.name.to_string().to_ascii_lowercase();
    match (name.as_str(), arguments(function).as_slice()) {
        ("year" | "quarter" | "month" | "day" | "hour" | "minute" | "second", [time]) => {
            Some(dialect.part(&name, &time.to_string()))
        }
        ("date_diff", [part, from, to]) if part.to_string().eq_ignore_ascii_case("'day'") => {
            let day = |at: &Expr| dialect.day(&at.to_string());
            Some(dialect.days(&day(from), &day(to)))
        }
        ("median", [of]) => dialect.quantile("0.5", &of.to_string(), &filter(function)),
        ("quantile_cont", [of, part]) => dialect.quantile(&part.to_string(), &of.to_string(), &filter(function)),
        ("stddev" | "stddev_samp" | "variance" | "var_samp", [of]) => {
            let of_sample = if name.starts_with("std") { "stddev_samp" } else { "var_samp" };
            dialect.spread(of_sample, &of.to_string(), &filter(function))
        }
        _ => None,
    }
}
