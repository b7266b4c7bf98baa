//! Columns of types that the transport from the engine has no form for become texts inside the engine.

use duckdb::Connection;
use duckdb::core::{LogicalTypeHandle, LogicalTypeId};
use serde_json::{Value, json};

use super::edit;
use crate::base::json::put;
use crate::engine::sql::guard::tree as json_tree;

/// A statement around `sql` that gives its columns, and those that cannot be carried as texts (inside lists, structs
/// and maps too), with the names of its columns; nothing when every column can be carried. Rows keep their order.
pub(super) fn wrap(connection: &Connection, sql: &str, types: &[LogicalTypeHandle]) -> Option<(String, Vec<String>)> {
    if !types.iter().any(is_foreign) {
        return None;
    }
    let tree = edit::parse(connection, sql).ok()?;
    let names = edit::names(connection, &tree)?;
    let mut parsed = json_tree::parse(&tree).ok()?;
    let node = parsed.pointer_mut("/statements/0/node")?;
    let aliases: Vec<String> = (0..types.len()).map(|index| format!("c{index}")).collect();
    let columns: Vec<Value> = types.iter().zip(&aliases).map(|(r#type, name)| column(r#type, name)).collect();
    *node = json!({
        "type": "SELECT_NODE", "cte_map": {}, "aggregate_handling": "STANDARD_HANDLING", "select_list": columns,
        "from_table": {
            "type": "SUBQUERY", "alias": "r", "subquery": { "node": node.take() }, "column_name_alias": aliases,
        },
    });
    Some((edit::text(connection, &parsed)?, names))
}

fn column(r#type: &LogicalTypeHandle, name: &str) -> Value {
    let column = json!({ "class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": [name] });
    if !is_foreign(r#type) {
        return column;
    }
    json!({ "class": "CAST", "type": "OPERATOR_CAST", "child": column, "type_expr": carried(r#type) })
}

/// Whether a type, or one inside it, has no form in the transport.
fn is_foreign(r#type: &LogicalTypeHandle) -> bool {
    match r#type.try_id() {
        Ok(LogicalTypeId::Bignum | LogicalTypeId::TimeTZ | LogicalTypeId::Variant | LogicalTypeId::Unsupported)
        | Err(_) => true,
        Ok(id) if is_nested(id) => (0..r#type.num_children()).any(|index| is_foreign(&r#type.child(index))),
        Ok(_) => false,
    }
}

fn is_nested(id: LogicalTypeId) -> bool {
    matches!(
        id,
        LogicalTypeId::List | LogicalTypeId::Array | LogicalTypeId::Struct | LogicalTypeId::Map | LogicalTypeId::Union
    )
}

/// The same type with texts in the place of what cannot be carried. Lists and structs keep their form; what else
/// holds such a type becomes a text as a whole.
fn carried(r#type: &LogicalTypeHandle) -> Value {
    let child = |index: usize| match r#type.child(index) {
        child if is_foreign(&child) => Some(carried(&child)),
        _ => None,
    };
    let part = |index: usize| child(index).or_else(|| plain(&r#type.child(index)));
    let made = match r#type.try_id() {
        Ok(LogicalTypeId::List) => child(0).map(|item| named("list", vec![item])),
        Ok(LogicalTypeId::Map) => part(0).zip(part(1)).map(|(key, value)| named("map", vec![key, value])),
        Ok(LogicalTypeId::Struct) => {
            let fields = (0..r#type.num_children()).map(|index| {
                let mut field = part(index)?;
                put(&mut field, "alias", r#type.child_name(index));
                Some(field)
            });
            fields.collect::<Option<Vec<_>>>().map(|fields| named("struct", fields))
        }
        _ => None,
    };
    made.unwrap_or_else(|| named("varchar", vec![]))
}

/// A type that can be carried, where its name says all of it.
fn plain(r#type: &LogicalTypeHandle) -> Option<Value> {
    let name = match r#type.try_id().ok()? {
        LogicalTypeId::Boolean => "boolean",
        LogicalTypeId::Tinyint => "tinyint",
        LogicalTypeId::Smallint => "smallint",
        LogicalTypeId::Integer => "integer",
        LogicalTypeId::Bigint => "bigint",
        LogicalTypeId::UTinyint => "utinyint",
        LogicalTypeId::USmallint => "usmallint",
        LogicalTypeId::UInteger => "uinteger",
        LogicalTypeId::UBigint => "ubigint",
        LogicalTypeId::Float => "float",
        LogicalTypeId::Double => "double",
        LogicalTypeId::Hugeint => "hugeint",
        LogicalTypeId::UHugeint => "uhugeint",
        LogicalTypeId::Varchar if r#type.get_alias().is_none() => "varchar",
        LogicalTypeId::Blob => "blob",
        LogicalTypeId::Uuid => "uuid",
        LogicalTypeId::Date => "date",
        LogicalTypeId::Time => "time",
        LogicalTypeId::Timestamp => "timestamp",
        LogicalTypeId::TimestampTZ => "timestamptz",
        LogicalTypeId::Interval => "interval",
        _ => return None,
    };
    Some(named(name, vec![]))
}

fn named(name: &str, children: Vec<Value>) -> Value {
    let mut made = json!({ "class": "TYPE", "type": "TYPE", "type_name": name, "qualified_name": { "path": [name] } });
    if !children.is_empty() {
        put(&mut made, "children", children);
    }
    made
}
