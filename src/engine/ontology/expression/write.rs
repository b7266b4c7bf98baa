//! Expressions as SQL of an engine.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    Value, visit_expressions_mut,
};

use crate::model::source::Dialect;

/// Children come before their parents, so that what was written for an engine is put into the next as it is.
pub(super) fn expression<E>(
    expr: &Expr,
    dialect: Dialect,
    name: &mut impl FnMut(Option<&str>, &str) -> Result<String, E>,
) -> Result<String, E> {
    let mut expr = expr.clone();
    let wrong = visit_expressions_mut(&mut expr, |expr| {
        let written = match expr {
            Expr::Identifier(ident) => match name(None, &ident.value) {
                Ok(sql) => Some(sql),
                Err(error) => return ControlFlow::Break(error),
            },
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [dataset, field] => match name(Some(&dataset.value), &field.value) {
                    Ok(sql) => Some(sql),
                    Err(error) => return ControlFlow::Break(error),
                },
                _ => None,
            },
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => Some(quotient(left, right, dialect)),
            Expr::Function(function) => call(function, dialect),
            Expr::Cast { data_type: data_type @ DataType::Double(ExactNumberInfo::None), .. } => {
                *data_type = DataType::DoublePrecision;
                None
            }
            _ => None,
        };
        if let Some(sql) = written {
            *expr = raw(sql);
        }
        ControlFlow::Continue(())
    });
    match wrong {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(expr.to_string()),
    }
}

/// SQL as it is: a name without quotes is written as it stands.
fn raw(sql: String) -> Expr {
    Expr::Identifier(Ident { quote_style: None, ..Ident::new(sql) })
}

/// Exact in both engines: PostgreSQL would cut quotients of whole numbers, and both fail or give infinity at 0.
fn quotient(left: &Expr, right: &Expr, dialect: Dialect) -> String {
    let divisor = match right {
        Expr::Value(value) if matches!(&value.value, Value::Number(number, _) if number != "0") => right.to_string(),
        _ => format!("NULLIF({right}, 0)"),
    };
    match dialect {
        Dialect::PostgreSql => format!("1.0 * {left} / {divisor}"),
        _ => format!("{left} / {divisor}"),
    }
}

/// What the engines write differently.
fn call(function: &Function, dialect: Dialect) -> Option<String> {
    let name = function.name.to_string().to_ascii_lowercase();
    let FunctionArguments::List(list) = &function.args else { return None };
    let arguments: Vec<&Expr> = list
        .args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect();
    let filter = || function.filter.as_ref().map(|filter| format!(" FILTER (WHERE {filter})")).unwrap_or_default();
    match (name.as_str(), arguments.as_slice()) {
        ("year" | "quarter" | "month" | "day" | "hour" | "minute" | "second", [time]) => {
            Some(format!("EXTRACT({name} FROM {time})"))
        }
        ("date_diff", [part, from, to]) if part.to_string().eq_ignore_ascii_case("'day'") => {
            Some(format!("(CAST({to} AS DATE) - CAST({from} AS DATE))"))
        }
        ("median", [of]) if dialect == Dialect::PostgreSql => {
            Some(format!("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {of}){}", filter()))
        }
        ("quantile_cont", [of, part]) if dialect == Dialect::PostgreSql => {
            Some(format!("PERCENTILE_CONT({part}) WITHIN GROUP (ORDER BY {of}){}", filter()))
        }
        _ => None,
    }
}
