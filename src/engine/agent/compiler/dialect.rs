//! What the engines write differently, but for expressions of the ontology (`engine/ontology/expression/write.rs`).
//! Whatever else the compiler writes means the same in each of them.

use super::error::CompileError;
use crate::model::ontology::Aggregation;
use crate::model::source::Dialect;

/// Why no statements are made for an engine, and what to do instead; `None` where they are.
pub fn unwritten(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::DuckDb | Dialect::PostgreSql => None,
        Dialect::ClickHouse => Some(
            "tables in ClickHouse are asked in SQL alone: read their columns with dragoman_get_schema, and write the \
             statement in ClickHouse's SQL with dragoman_sql",
        ),
    }
}

/// Whether statements are made for an engine at all.
pub(super) fn is_written(dialect: Dialect) -> Result<(), CompileError> {
    unwritten(dialect).map_or(Ok(()), |why| Err(CompileError::Unsupported(why.into())))
}

/// A quotient that is exact, and NULL where the divisor is 0.
pub(super) fn quotient(dialect: Dialect, over: &str, under: &str) -> String {
    match dialect {
        Dialect::PostgreSql => format!("(1.0 * {over} / NULLIF({under}, 0))"),
        _ => format!("({over} / NULLIF({under}, 0))"),
    }
}

/// An aggregate of one expression.
pub(super) fn aggregate(dialect: Dialect, function: Aggregation, of: &str) -> String {
    match function {
        Aggregation::Sum => format!("SUM({of})"),
        Aggregation::Avg => format!("AVG({of})"),
        Aggregation::Median if dialect == Dialect::PostgreSql => {
            format!("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {of})")
        }
        Aggregation::Median => format!("MEDIAN({of})"),
        Aggregation::Min => format!("MIN({of})"),
        Aggregation::Max => format!("MAX({of})"),
        Aggregation::Count => format!("COUNT({of})"),
        Aggregation::CountDistinct => format!("COUNT(DISTINCT {of})"),
        Aggregation::Stddev => format!("STDDEV_SAMP({of})"),
    }
}

/// Whether two values are the same, NULL being the same as NULL. PostgreSQL can only look up equality.
pub(super) fn same(dialect: Dialect, left: &str, right: &str) -> String {
    match dialect {
        Dialect::PostgreSql => format!(
            "COALESCE(CAST({left} AS TEXT), '') = COALESCE(CAST({right} AS TEXT), '') AND {left} IS NOT DISTINCT FROM {right}"
        ),
        _ => format!("{left} IS NOT DISTINCT FROM {right}"),
    }
}
