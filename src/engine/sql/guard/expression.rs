//! Expressions.

use serde_json::{Map, Value};

use super::{Refusal, Verdict, Walk, functions, is_plain, keys, limit, list, path, too_many, unknown};

/// Keys that every expression may have.
const KEYS: [&str; 5] = ["class", "type", "alias", "query_location", "query_location_length"];

/// Names that the binder turns into calls when no column has them.
pub(super) const SESSION_NAMES: [&str; 5] =
    ["current_catalog", "current_schema", "current_role", "current_user", "session_user"];

/// As those; they read the clock.
const CLOCK_NAMES: [&str; 5] = ["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"];

/// Where a function stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Expression,
    /// In the place of a table.
    From,
}

fn own_keys<'v>(value: &'v Value, plain: &[&str], deep: &[&str]) -> Verdict<&'v Map<String, Value>> {
    keys(value, "expression", &[&KEYS[..], plain].concat(), deep)
}

impl Walk<'_> {
    pub(super) fn expressions(&mut self, expressions: &[Value]) -> Verdict {
        expressions.iter().try_for_each(|expression| self.expression(expression))
    }

    pub(super) fn expression(&mut self, value: &Value) -> Verdict {
        let class = value.get("class").and_then(Value::as_str).unwrap_or_default();
        if class == "FUNCTION" || class == "WINDOW" {
            return self.call(value, Place::Expression);
        }
        self.visit(|count| &mut count.expressions)?;
        match class {
            "CONSTANT" => {
                let map = own_keys(value, &[], &["literal"])?;
                let literal = map.get("literal").ok_or_else(|| unknown("constant", "empty"))?;
                keys(literal, "constant", &["kind", "text"], &[]).map(drop)
            }
            "COLUMN_REF" => self.column(value),
            "BETWEEN" => self.children(own_keys(value, &[], &["input", "lower", "upper"])?),
            "COMPARISON" => self.children(own_keys(value, &[], &["left", "right"])?),
            "CONJUNCTION" => self.expressions(list(own_keys(value, &[], &["children"])?, "children")?),
            "OPERATOR" => self.operator(value),
            "CASE" => {
                let map = own_keys(value, &[], &["case_checks", "else_expr"])?;
                for check in list(map, "case_checks")? {
                    self.children(keys(check, "CASE", &[], &["when_expr", "then_expr"])?)?;
                }
                map.get("else_expr").map_or(Ok(()), |value| self.expression(value))
            }
            "CAST" => {
                let map = own_keys(value, &["try_cast"], &["child", "type_expr"])?;
                self.expression(map.get("child").ok_or_else(|| unknown("CAST", "empty"))?)?;
                self.expression(map.get("type_expr").ok_or_else(|| unknown("CAST", "type"))?)
            }
            "TYPE" => self.type_name(value),
            "COLLATE" => self.children(own_keys(value, &["collation"], &["child"])?),
            "SUBQUERY" => {
                let map = own_keys(value, &["subquery_type", "comparison_type"], &["subquery", "child"])?;
                if self.binding {
                    return Err(too_early("a subquery"));
                }
                if let Some(child) = map.get("child") {
                    self.expression(child)?;
                }
                self.statement(map.get("subquery").ok_or_else(|| unknown("subquery", "empty"))?)
            }
            "LAMBDA" => self.lambda(value),
            "STAR" => self.star(value),
            "POSITIONAL_REFERENCE" => own_keys(value, &["index"], &[]).map(drop),
            "PARAMETER" => {
                let message = "Parameters (?, $1) have no values here.";
                Err(Refusal::new("expression", "?", message, "Write the value itself."))
            }
            other => Err(unknown("expression", other)),
        }
    }

    fn column(&mut self, value: &Value) -> Verdict {
        let map = own_keys(value, &["column_names"], &[])?;
        if let [name] = list(map, "column_names")? {
            let name = name.as_str().unwrap_or_default().to_ascii_lowercase();
            self.is_fleeting |= CLOCK_NAMES.contains(&name.as_str());
            if SESSION_NAMES.contains(&name.as_str()) {
                self.session_names.insert(name);
            }
        }
        Ok(())
    }

    /// Every deep key of an object is an expression.
    fn children(&mut self, map: &Map<String, Value>) -> Verdict {
        map.values().filter(|value| !is_plain(value)).try_for_each(|value| self.expression(value))
    }

    fn operator(&mut self, value: &Value) -> Verdict {
        let map = own_keys(value, &[], &["children"])?;
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "OPERATOR_NOT"
            | "OPERATOR_IS_NULL"
            | "OPERATOR_IS_NOT_NULL"
            | "OPERATOR_COALESCE"
            | "OPERATOR_NULLIF"
            | "OPERATOR_TRY"
            | "OPERATOR_UNPACK"
            | "COMPARE_IN"
            | "COMPARE_NOT_IN"
            | "ARRAY_EXTRACT"
            | "ARRAY_SLICE"
            | "STRUCT_EXTRACT"
            | "ARRAY_CONSTRUCTOR"
            | "GROUPING_FUNCTION"
            | "ARROW" => {}
            other => return Err(unknown("operator", other)),
        }
        self.expressions(list(map, "children")?)
    }

    /// A function or a window function.
    pub(super) fn call(&mut self, value: &Value, place: Place) -> Verdict {
        self.visit(|count| &mut count.expressions)?;
        let map = match value.get("class").and_then(Value::as_str) {
            Some("FUNCTION") => own_keys(
                value,
                &["function_name", "schema", "catalog", "distinct", "is_operator"],
                &["arguments", "filter", "order_bys", "qualified_name"],
            )?,
            Some("WINDOW") => own_keys(
                value,
                &[
                    "function_name", "schema", "catalog", "start", "end", "ignore_nulls", "has_ignore_nulls",
                    "exclude_clause", "distinct",
                ],
                &[
                    "arguments", "partitions", "orders", "arg_orders", "start_expr", "end_expr", "filter_expr",
                    "qualified_name",
                ],
            )?,
            other => return Err(unknown("function", other.unwrap_or("empty"))),
        };
        // A method call, name.upper(), and a qualified name, main.upper(name), look the same: the last part is the
        // function in both.
        let path = path(map)?;
        let name = path.last().ok_or_else(|| unknown("function", "empty"))?;
        self.is_fleeting |= functions::is_fleeting(name);
        match place {
            Place::Expression => functions::in_expression(name)?,
            Place::From => functions::in_from(name)?,
        }
        if self.binding && !functions::tests_names(name) {
            self.name_lists += 1;
            if !functions::lists_names(name) || self.name_lists > 2 {
                return Err(too_early(name));
            }
        }
        let arguments = list(map, "arguments")?;
        let inner = functions::aggregate(name, arguments, path.len() > 1);
        self.is_fleeting |= inner.is_some_and(|inner| functions::is_fleeting(&inner));
        if place == Place::Expression {
            functions::arguments(name, arguments, path.len() > 1)?;
        }
        let amplifies = functions::amplifies(name) && place == Place::Expression;
        if amplifies && self.amplifiers > 0 {
            let message = format!("{name} may not stand inside another function of its kind.");
            return Err(functions::amplifier(name, message, "Use one of them."));
        }
        for (index, argument) in arguments.iter().enumerate() {
            let argument = keys(argument, "argument", &["name"], &["expression"])?;
            let expression = argument.get("expression").ok_or_else(|| unknown("argument", "empty"))?;
            if functions::takes_lambda(name) {
                no_arrow(expression)?;
            }
            let counts = usize::from(amplifies && !functions::absorbs(name, index));
            self.amplifiers += counts;
            self.expression(expression)?;
            self.amplifiers -= counts;
        }
        for key in ["filter", "filter_expr", "start_expr", "end_expr"] {
            if let Some(inner) = map.get(key) {
                self.expression(inner)?;
            }
        }
        self.expressions(list(map, "partitions")?)?;
        self.orders(list(map, "orders")?)?;
        self.orders(list(map, "arg_orders")?)?;
        map.get("order_bys").map_or(Ok(()), |orders| self.order_modifier(orders))
    }

    fn lambda(&mut self, value: &Value) -> Verdict {
        let map = own_keys(value, &["syntax_type"], &["lhs", "expr"])?;
        self.lambdas += 1;
        if self.lambdas > limit::LAMBDAS {
            return Err(too_many("lambdas inside each other", limit::LAMBDAS, "Use subqueries."));
        }
        for side in ["lhs", "expr"] {
            self.expression(map.get(side).ok_or_else(|| unknown("lambda", side))?)?;
        }
        self.lambdas -= 1;
        Ok(())
    }

    fn star(&mut self, value: &Value) -> Verdict {
        let plain = ["relation_name", "exclude_list", "columns"];
        let map = own_keys(value, &plain, &["replace_list", "expr", "qualified_exclude_list", "rename_list"])?;
        for entry in list(map, "replace_list")? {
            let entry = keys(entry, "REPLACE", &["key"], &["value"])?;
            self.expression(entry.get("value").ok_or_else(|| unknown("REPLACE", "value"))?)?;
        }
        for name in list(map, "qualified_exclude_list")? {
            column_name(name)?;
        }
        for entry in list(map, "rename_list")? {
            let entry = keys(entry, "RENAME", &["value"], &["key"])?;
            column_name(entry.get("key").ok_or_else(|| unknown("RENAME", "key"))?)?;
        }
        if let Some(choice) = map.get("expr") {
            // COLUMNS(…) is evaluated while names are resolved, before any limit holds.
            let outer = std::mem::replace(&mut self.binding, true);
            self.name_lists = 0;
            let verdict = self.expression(choice);
            self.binding = outer;
            verdict?;
        }
        Ok(())
    }

    fn type_name(&mut self, value: &Value) -> Verdict {
        let map = own_keys(value, &["type_name", "schema", "catalog"], &["children", "qualified_name"])?;
        if path(map)?.len() != 1 {
            return Err(unknown("type", "qualified name"));
        }
        for child in list(map, "children")? {
            match child.get("class").and_then(Value::as_str) {
                Some("TYPE" | "CONSTANT") => self.expression(child)?,
                _ => {
                    let message = "The parameters of a type must be literals.";
                    return Err(Refusal::new("literal", "type", message, "Write DECIMAL(10, 2)."));
                }
            }
        }
        Ok(())
    }
}

fn column_name(value: &Value) -> Verdict {
    keys(value, "column name", &["catalog", "schema", "table", "column"], &[]).map(drop)
}

/// `x -> x + 1` is the engine's JSON arrow now, and models still write it for lambdas.
fn no_arrow(value: &Value) -> Verdict {
    let is = |key: &str, text: &str| value.get(key).and_then(Value::as_str) == Some(text);
    if is("class", "LAMBDA") && is("syntax_type", "SINGLE_ARROW") {
        let message = "Lambdas with an arrow (x -> x + 1) are no longer supported by the engine.";
        return Err(Refusal::new("expression", "->", message, "Write: lambda x: x + 1."));
    }
    Ok(())
}

fn too_early(name: &str) -> Refusal {
    let message = format!("COLUMNS(…) may not use {name}.");
    Refusal::new("literal", name, message, "Use a pattern: COLUMNS('^a'), or a simple lambda with LIKE.")
}
