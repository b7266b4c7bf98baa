//! What an expression may be made of. A kind of node that is not named here is refused.

use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, DuplicateTreatment, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArguments, Ident, Spanned as _, UnaryOperator, Value,
};

use super::{Call, Place, Problem, Reference, functions};

/// Checks an expression over one row, and collects its names.
pub(super) fn scalar(expr: &Expr, place: &Place<'_>, refs: &mut Vec<Reference>) -> Result<(), Problem> {
    let refuse = |message: String| Err(Problem { message, offset: place.of(expr) });
    match expr {
        Expr::Identifier(name) => push(refs, None, name),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [dataset, name] => push(refs, Some(dataset), name),
            _ => return refuse(format!("{expr} has {} parts: write dataset.field", parts.len())),
        },
        Expr::Value(value) => match &value.value {
            Value::Number(..) | Value::SingleQuotedString(_) | Value::Boolean(_) | Value::Null => {}
            Value::Placeholder(_) => return refuse(format!("{expr}: an expression has no placeholders")),
            _ => return refuse(format!("{expr}: write texts as 'text' and numbers as 1 or 1.5")),
        },
        Expr::TypedString(typed) => known_type(&typed.data_type, place.of(expr))?,
        Expr::Interval(interval) => scalar(&interval.value, place, refs)?,
        Expr::Nested(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::Extract { expr: inner, .. }
        | Expr::Ceil { expr: inner, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) }
        | Expr::Floor { expr: inner, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) }
        | Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not, expr: inner } => {
            scalar(inner, place, refs)?;
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            each([&**left, right], place, refs)?;
        }
        Expr::BinaryOp { left, op, right } => {
            if !is_portable(op) {
                return refuse(format!("the operator {op} does not mean the same in every engine"));
            }
            each([&**left, right], place, refs)?;
        }
        Expr::InList { expr: inner, list, .. } => {
            scalar(inner, place, refs)?;
            each(list, place, refs)?;
        }
        Expr::Between { expr: inner, low, high, .. } => each([&**inner, low, high], place, refs)?,
        Expr::Like { any: false, expr: inner, pattern, .. } | Expr::ILike { any: false, expr: inner, pattern, .. } => {
            each([&**inner, pattern], place, refs)?;
        }
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr: inner, data_type, format: None } => {
            known_type(data_type, place.of(expr))?;
            scalar(inner, place, refs)?;
        }
        Expr::AtTimeZone { timestamp, time_zone } => each([&**timestamp, time_zone], place, refs)?,
        Expr::Position { expr: inner, r#in } => each([&**inner, r#in], place, refs)?,
        Expr::Substring { expr: inner, substring_from, substring_for, .. } => {
            scalar(inner, place, refs)?;
            each(substring_from.iter().chain(substring_for).map(|part| &**part), place, refs)?;
        }
        Expr::Trim { expr: inner, trim_what, trim_characters: None, .. } => {
            scalar(inner, place, refs)?;
            each(trim_what.iter().map(|part| &**part), place, refs)?;
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            each(operand.iter().map(|part| &**part), place, refs)?;
            for when in conditions {
                each([&when.condition, &when.result], place, refs)?;
            }
            each(else_result.iter().map(|part| &**part), place, refs)?;
        }
        Expr::Function(function) => {
            let name = function.name.to_string();
            if functions::is_aggregate(&name) {
                return refuse(format!("{name} is an aggregate; here one row is computed from, so write a scalar"));
            }
            if !functions::is_scalar(&name) {
                return refuse(format!("the function {name} is not available: {}", functions::instead(&name)));
            }
            arguments(function, false, place, refs)?;
        }
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
            return refuse("an expression has no sub-query: say it as a relationship between datasets".to_owned());
        }
        _ => return refuse(format!("{expr} is not among what expressions may hold")),
    }
    Ok(())
}

/// Checks an aggregate call.
pub(super) fn call(function: Function, place: &Place<'_>) -> Result<Call, Problem> {
    let name = function.name.to_string().to_ascii_lowercase();
    let expr = Expr::Function(function);
    let offset = place.of(&expr);
    let Expr::Function(function) = &expr else {
        return Err(Problem { message: "not a call".into(), offset });
    };
    let mut refs = Vec::new();
    arguments(function, true, place, &mut refs)?;
    let given = match &function.args {
        FunctionArguments::List(list) => list.args.len(),
        _ => 0,
    };
    let wanted = if name == "quantile_cont" { 2 } else { 1 };
    if given != wanted {
        let message = format!("{name} takes {wanted} argument(s), not {given}");
        return Err(Problem { message, offset });
    }
    if (name == "percentile_cont") == function.within_group.is_empty() {
        let message = if name == "percentile_cont" {
            "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY dataset.field)".to_owned()
        } else {
            format!("{name} has no WITHIN GROUP")
        };
        return Err(Problem { message, offset });
    }
    let distinct = matches!(&function.args, FunctionArguments::List(list)
        if list.duplicate_treatment == Some(DuplicateTreatment::Distinct));
    Ok(Call { function: name, distinct, refs, expr })
}

fn arguments(
    function: &Function,
    is_aggregate: bool,
    place: &Place<'_>,
    refs: &mut Vec<Reference>,
) -> Result<(), Problem> {
    let offset = place.at(function.name.span().start.line, function.name.span().start.column);
    let refuse = |message: &str| Err(Problem { message: format!("{}: {message}", function.name), offset });
    if function.over.is_some() {
        return refuse("an expression has no windows (OVER): running totals and ranks are asked for in questions");
    }
    if !matches!(function.parameters, FunctionArguments::None) || function.null_treatment.is_some() {
        return refuse("write the arguments alone");
    }
    if !is_aggregate && (function.filter.is_some() || !function.within_group.is_empty()) {
        return refuse("only aggregates have FILTER and WITHIN GROUP");
    }
    let FunctionArguments::List(list) = &function.args else {
        return refuse("write the arguments in brackets");
    };
    if !list.clauses.is_empty() || (!is_aggregate && list.duplicate_treatment.is_some()) {
        return refuse("write the arguments alone");
    }
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => scalar(expr, place, refs)?,
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard)
                if function.name.to_string().eq_ignore_ascii_case("count") && list.duplicate_treatment.is_none() => {}
            _ => return refuse("write dataset.field as argument"),
        }
    }
    for order in &function.within_group {
        scalar(&order.expr, place, refs)?;
    }
    if let Some(filter) = &function.filter {
        scalar(filter, place, refs)?;
    }
    Ok(())
}

fn each<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    place: &Place<'_>,
    refs: &mut Vec<Reference>,
) -> Result<(), Problem> {
    exprs.into_iter().try_for_each(|expr| scalar(expr, place, refs))
}

fn push(refs: &mut Vec<Reference>, dataset: Option<&Ident>, name: &Ident) {
    let reference = Reference { dataset: dataset.map(|dataset| dataset.value.clone()), name: name.value.clone() };
    if !refs.contains(&reference) {
        refs.push(reference);
    }
}

fn is_portable(op: &BinaryOperator) -> bool {
    use BinaryOperator::{And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, Plus, StringConcat};
    matches!(
        op,
        And | Divide | Eq | Gt | GtEq | Lt | LtEq | Minus | Modulo | Multiply | NotEq | Or | Plus | StringConcat
    )
}

fn known_type(data_type: &DataType, offset: usize) -> Result<(), Problem> {
    const KNOWN: &[&str] = &[
        "BIGINT", "BOOL", "BOOLEAN", "CHAR", "CHARACTER", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTEGER",
        "NUMERIC", "REAL", "SMALLINT", "TEXT", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR",
    ];
    let text = data_type.to_string().to_ascii_uppercase();
    let name = text.split(['(', ' ']).next().unwrap_or_default();
    if KNOWN.contains(&name) && !text.ends_with(']') {
        return Ok(());
    }
    Err(Problem {
        message: format!("{data_type} is not a type that every engine has: one of {}", KNOWN.join(", ")),
        offset,
    })
}
