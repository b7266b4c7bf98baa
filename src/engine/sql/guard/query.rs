//! Queries and the tables that they read.

use serde_json::{Map, Value};

use super::expression::Place;
use super::{
    Cost, Count, NO_CATALOGUE, Refusal, Verdict, Walk, functions, is_plain, keys, limit, list, no_table, path,
    too_many, unknown,
};

/// Whether a `type` names a query or a table reference; used for counting without understanding.
pub(super) fn is_relation(r#type: &str) -> bool {
    r#type.ends_with("_NODE")
        || matches!(
            r#type,
            "BASE_TABLE"
                | "SUBQUERY"
                | "JOIN"
                | "TABLE_FUNCTION"
                | "EXPRESSION_LIST"
                | "CTE"
                | "EMPTY"
                | "PIVOT"
                | "SHOW_REF"
                | "COLUMN_DATA"
                | "DELIM_GET"
                | "BOUND_TABLE_REF"
        )
}

/// What joins give, and how they are written.
const JOIN_TYPES: [&str; 6] = ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"];
const REF_TYPES: [&str; 6] = ["REGULAR", "NATURAL", "CROSS", "POSITIONAL", "ASOF", "NEAREST"];

/// Keys that every table reference may have.
const TABLE_KEYS: [&str; 4] = ["type", "alias", "query_location", "query_location_length"];

fn table_keys<'v>(value: &'v Value, plain: &[&str], deep: &[&str]) -> Verdict<&'v Map<String, Value>> {
    keys(value, "table", &[&TABLE_KEYS[..], plain].concat(), &[deep, &["sample"]].concat())
}

impl Walk<'_> {
    /// `{"node": query}`: a whole statement or a subquery.
    pub(super) fn statement(&mut self, value: &Value) -> Verdict {
        let map = keys(value, "statement", &[], &["node", "named_param_map"])?;
        if map.contains_key("named_param_map") {
            let message = "Parameters (?, $1) have no values here.";
            return Err(Refusal::new("expression", "?", message, "Write the value itself."));
        }
        self.query(map.get("node").ok_or_else(|| unknown("statement", "empty"))?)
    }

    fn query(&mut self, value: &Value) -> Verdict {
        self.visit(|count| &mut count.relations)?;
        // What a query names with WITH is seen inside it, and not after it.
        let outside = self.scope.len();
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let verdict = match kind {
            "SELECT_NODE" => self.select(value),
            "SET_OPERATION_NODE" => self.set_operation(value),
            "RECURSIVE_CTE_NODE" => self.recursion(value),
            "INSERT_QUERY_NODE" | "UPDATE_QUERY_NODE" | "DELETE_QUERY_NODE" | "MERGE_QUERY_NODE"
            | "COPY_QUERY_NODE" => {
                let verb = kind.split('_').next().unwrap_or_default();
                let message = format!("{verb} may not be used: queries only read.");
                Err(Refusal::new("statement", verb, message, "Write WITH parts that are SELECT statements."))
            }
            other => Err(unknown("query", other)),
        };
        self.scope.truncate(outside);
        verdict
    }

    fn select(&mut self, value: &Value) -> Verdict {
        let plain = ["type", "aggregate_handling", "group_sets"];
        let deep = [
            "modifiers", "cte_map", "select_list", "from_table", "where_clause", "group_expressions", "having",
            "qualify", "sample",
        ];
        let map = keys(value, "SELECT", &plain, &deep)?;
        self.common_tables(map)?;
        if list(map, "group_sets")?.len() > limit::GROUPING_SETS {
            return Err(too_many("grouping sets", limit::GROUPING_SETS, "Use fewer columns in CUBE or ROLLUP."));
        }
        self.expressions(list(map, "select_list")?)?;
        if let Some(from) = map.get("from_table") {
            let around = std::mem::take(&mut self.joined);
            self.table(from)?;
            self.joined = around;
        }
        for key in ["where_clause", "having", "qualify"] {
            if let Some(condition) = map.get(key) {
                self.expression(condition)?;
            }
        }
        self.expressions(list(map, "group_expressions")?)?;
        self.sample(map)?;
        self.modifiers(map)
    }

    fn set_operation(&mut self, value: &Value) -> Verdict {
        let plain = ["type", "setop_type", "setop_all"];
        let map = keys(value, "UNION", &plain, &["modifiers", "cte_map", "left", "right", "children"])?;
        self.common_tables(map)?;
        let arms = ["left", "right"].into_iter().filter_map(|key| map.get(key)).chain(list(map, "children")?);
        for arm in arms {
            self.arms += 1;
            if self.arms > limit::ARMS {
                return Err(too_many("parts joined by UNION", limit::ARMS, "Use VALUES or fewer parts."));
            }
            self.query(arm)?;
        }
        self.modifiers(map)
    }

    fn recursion(&mut self, value: &Value) -> Verdict {
        let plain = ["type", "cte_name", "union_all", "aliases"];
        let map = keys(value, "WITH RECURSIVE", &plain, &["modifiers", "cte_map", "left", "right", "key_targets"])?;
        self.common_tables(map)?;
        let name = map.get("cte_name").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        if let Some(start) = map.get("left") {
            self.query(start)?;
        }
        self.key_targets(list(map, "key_targets")?)?;
        if let Some(step) = map.get("right") {
            self.scope.push((name, Cost::default()));
            self.query(step)?;
            self.scope.pop();
        }
        self.modifiers(map)
    }

    /// `WITH`: each body sees the names before it, not its own (the step of a recursion excepted).
    fn common_tables(&mut self, map: &Map<String, Value>) -> Verdict {
        let Some(ctes) = map.get("cte_map") else { return Ok(()) };
        for entry in list(keys(ctes, "WITH", &[], &["map"])?, "map")? {
            self.ctes += 1;
            if self.ctes > limit::CTES {
                return Err(too_many("WITH parts", limit::CTES, "Use fewer."));
            }
            let entry = keys(entry, "WITH", &["key"], &["value"])?;
            let name = entry.get("key").and_then(Value::as_str).ok_or_else(|| unknown("WITH", "key"))?;
            let body = entry.get("value").ok_or_else(|| unknown("WITH", "value"))?;
            let body = keys(body, "WITH", &["aliases", "materialized"], &["key_targets", "query_node"])?;
            self.key_targets(list(body, "key_targets")?)?;
            let before = (self.table_refs, self.expanded);
            self.query(body.get("query_node").ok_or_else(|| unknown("WITH", "query"))?)?;
            // The planner writes such a part out wherever its name stands.
            let copied = body.get("materialized").and_then(Value::as_str) == Some("CTE_MATERIALIZE_NEVER");
            let cost = copied.then(|| Cost { tables: self.table_refs - before.0, parts: self.expanded - before.1 });
            self.scope.push((name.to_ascii_lowercase(), cost.unwrap_or_default()));
        }
        Ok(())
    }

    /// `USING KEY (…)`, which the engine binds outside every scope: a name in a query there would not mean what it means
    /// here.
    fn key_targets(&mut self, targets: &[Value]) -> Verdict {
        if targets.iter().any(|target| Count::blindly(target).relations > 0) {
            return Err(unknown("USING KEY", "subquery"));
        }
        self.expressions(targets)
    }

    fn modifiers(&mut self, map: &Map<String, Value>) -> Verdict {
        for modifier in list(map, "modifiers")? {
            match modifier.get("type").and_then(Value::as_str).unwrap_or_default() {
                "ORDER_MODIFIER" => self.order_modifier(modifier)?,
                "DISTINCT_MODIFIER" => {
                    let distinct = keys(modifier, "DISTINCT", &["type"], &["distinct_on_targets"])?;
                    self.expressions(list(distinct, "distinct_on_targets")?)?;
                }
                "LIMIT_MODIFIER" => {
                    let limit = keys(modifier, "LIMIT", &["type", "limit_type"], &["limit", "offset"])?;
                    for count in ["limit", "offset"].into_iter().filter_map(|key| limit.get(key)) {
                        // The binder computes them, before any deadline holds; a subquery runs with the rest.
                        let is_query = count.get("class").and_then(Value::as_str) == Some("SUBQUERY");
                        if !is_query && !functions::is_literal(count) {
                            let message = "LIMIT and OFFSET must be numbers.";
                            return Err(Refusal::new("literal", "LIMIT", message, "Write LIMIT 10."));
                        }
                        self.expression(count)?;
                    }
                }
                other => return Err(unknown("modifier", other)),
            }
        }
        Ok(())
    }

    /// `ORDER BY`, of a query or inside an aggregate.
    pub(super) fn order_modifier(&mut self, value: &Value) -> Verdict {
        let map = keys(value, "ORDER BY", &["type"], &["orders"])?;
        self.orders(list(map, "orders")?)
    }

    pub(super) fn orders(&mut self, orders: &[Value]) -> Verdict {
        for order in orders {
            let order = keys(order, "ORDER BY", &["type", "null_order"], &["expression"])?;
            self.expression(order.get("expression").ok_or_else(|| unknown("ORDER BY", "empty"))?)?;
        }
        Ok(())
    }

    fn table(&mut self, value: &Value) -> Verdict {
        self.visit(|count| &mut count.relations)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind != "EMPTY" && kind != "JOIN" {
            self.count_tables(1)?;
            self.joined += 1;
            if self.joined > limit::TABLES {
                return Err(too_many("tables in one FROM", limit::TABLES, "Join fewer tables."));
            }
        }
        match kind {
            "EMPTY" => table_keys(value, &[], &[]).map(drop),
            "BASE_TABLE" => self.base_table(value),
            "SUBQUERY" => {
                let map = table_keys(value, &["column_name_alias"], &["subquery"])?;
                self.sample(map)?;
                self.statement(map.get("subquery").ok_or_else(|| unknown("table", "subquery"))?)
            }
            "JOIN" => self.join(value),
            "TABLE_FUNCTION" => self.table_function(value),
            "EXPRESSION_LIST" => {
                let map = table_keys(value, &["expected_names"], &["values"])?;
                self.sample(map)?;
                for row in list(map, "values")? {
                    self.expressions(row.as_array().ok_or_else(|| unknown("VALUES", "row"))?)?;
                }
                Ok(())
            }
            "PIVOT" => self.pivot(value),
            "SHOW_REF" => self.describe(value),
            other => Err(unknown("table", other)),
        }
    }

    fn count_tables(&mut self, count: usize) -> Verdict {
        self.table_refs += count;
        if self.table_refs > limit::ALL_TABLES {
            let hint = "Join fewer tables, or leave NOT MATERIALIZED out.";
            return Err(too_many("tables in all its FROMs", limit::ALL_TABLES, hint));
        }
        Ok(())
    }

    fn base_table(&mut self, value: &Value) -> Verdict {
        let plain = ["table_name", "column_name_alias", "schema_name", "catalog_name"];
        let map = table_keys(value, &plain, &["qualified_name"])?;
        self.sample(map)?;
        let path = path(map)?;
        let [name] = path.as_slice() else {
            let name = path.join(".");
            let hint = match path.last().filter(|last| self.tables.contains(last)) {
                Some(last) => format!("Write {last}."),
                None => NO_CATALOGUE.to_owned(),
            };
            let message = format!("Tables have plain names here, and {name} has more than one part.");
            return Err(Refusal::new("qualified_name", &name, message, hint));
        };
        if let Some((_, cost)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            let Cost { tables, parts } = *cost;
            self.count_tables(tables)?;
            return self.count_parts(parts);
        }
        if self.tables.contains(name) {
            self.used.insert(name.clone());
            return Ok(());
        }
        Err(no_table(name, self.tables.iter().map(String::as_str)))
    }

    fn join(&mut self, value: &Value) -> Verdict {
        let plain = [
            "join_type", "ref_type", "using_columns", "is_implicit", "nearest_count", "nearest_order_type",
            "nearest_approx",
        ];
        let map = table_keys(value, &plain, &["left", "right", "condition", "ranking_expression"])?;
        self.sample(map)?;
        // `JOIN BY (TYPE …)` reaches kinds that the engine makes for itself.
        for (key, known) in [("join_type", &JOIN_TYPES[..]), ("ref_type", &REF_TYPES[..])] {
            let kind = map.get(key).and_then(Value::as_str);
            if kind.is_some_and(|kind| !known.contains(&kind)) {
                return Err(unknown("JOIN", kind.unwrap_or_default()));
            }
        }
        for side in ["left", "right"] {
            self.table(map.get(side).ok_or_else(|| unknown("JOIN", side))?)?;
        }
        ["condition", "ranking_expression"]
            .iter()
            .filter_map(|key| map.get(*key))
            .try_for_each(|it| self.expression(it))
    }

    fn table_function(&mut self, value: &Value) -> Verdict {
        let map = table_keys(value, &["column_name_alias", "with_ordinality"], &["function"])?;
        self.sample(map)?;
        let function = map.get("function").ok_or_else(|| unknown("table", "function"))?;
        self.call(function, Place::From)?;
        let Some(function) = function.as_object() else { return Err(unknown("table", "function")) };
        let name = path(function)?.pop().unwrap_or_default();
        // The binder computes the arguments; unnest is an exception, it becomes an expression.
        let arguments = list(function, "arguments")?;
        let fits = if name == "repeat_row" { functions::is_simple } else { functions::is_bound };
        let simple = arguments.iter().all(|argument| argument.get("expression").is_some_and(fits));
        if name != "unnest" && !simple {
            let message = format!("In FROM, the arguments of {name} must be simple: literals, columns, subqueries.");
            return Err(Refusal::new("literal", &name, message, "Write the values themselves."));
        }
        Ok(())
    }

    fn pivot(&mut self, value: &Value) -> Verdict {
        let plain = ["unpivot_names", "groups", "column_name_alias", "include_nulls"];
        let map = table_keys(value, &plain, &["source", "aggregates", "pivots"])?;
        self.sample(map)?;
        self.table(map.get("source").ok_or_else(|| unknown("PIVOT", "source"))?)?;
        self.expressions(list(map, "aggregates")?)?;
        for column in list(map, "pivots")? {
            let column = keys(column, "PIVOT", &["unpivot_names"], &["pivot_expressions", "entries"])?;
            self.expressions(list(column, "pivot_expressions")?)?;
            for entry in list(column, "entries")? {
                let entry = keys(entry, "PIVOT", &["alias"], &["star_expr"])?;
                let Some(value) = entry.get("star_expr") else { continue };
                let named = functions::uncast(value).get("class").and_then(Value::as_str) == Some("STAR");
                if !functions::is_simple(value) && !named {
                    let message = "The values in PIVOT … IN must be literals.";
                    return Err(Refusal::new("literal", "PIVOT", message, "Write IN ('x', 'y')."));
                }
                self.expression(value)?;
            }
        }
        Ok(())
    }

    /// `DESCRIBE` and `SUMMARIZE`, which hold the query that they describe.
    fn describe(&mut self, value: &Value) -> Verdict {
        let map = table_keys(value, &["show_type", "table_name"], &["query", "qualified_name"])?;
        self.sample(map)?;
        let kind = map.get("show_type").and_then(Value::as_str).unwrap_or_default();
        match map.get("query") {
            Some(query) if matches!(kind, "DESCRIBE" | "SUMMARY") && path(map)?.is_empty() => self.query(query),
            _ => {
                let hint = "dragoman_list_datasets shows the tables; DESCRIBE t and SUMMARIZE t show one of them.";
                Err(Refusal::new("statement", "SHOW", "SHOW may not be used.", hint))
            }
        }
    }

    /// `USING SAMPLE` and `TABLESAMPLE`: numbers and a method.
    fn sample(&mut self, map: &Map<String, Value>) -> Verdict {
        let Some(sample) = map.get("sample") else { return Ok(()) };
        self.is_fleeting = true;
        let plain = ["is_percentage", "method", "seed", "repeatable", "sample_rate"];
        let sample = keys(sample, "SAMPLE", &plain, &["sample_size"])?;
        let Some(size) = sample.get("sample_size") else { return Ok(()) };
        let size = keys(size, "SAMPLE", &["is_null", "value"], &["type"])?;
        match size.get("type") {
            Some(Value::Object(r#type)) if r#type.values().all(is_plain) => Ok(()),
            _ => Err(unknown("SAMPLE", "size")),
        }
    }
}
