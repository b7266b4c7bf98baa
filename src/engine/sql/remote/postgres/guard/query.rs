//! Queries and the tables that they read.

use serde_json::Value;

use super::functions;
use super::growth::Level;
use super::walk::{Fields, Walk};
use crate::engine::sql::guard::{Refusal, Verdict, limit, no_table, too_many, unknown};

impl Walk<'_> {
    /// The node of a whole statement.
    pub(super) fn statement(&mut self, value: &Value) -> Verdict {
        let (_, copies) = self.query(value)?;
        self.level()?.reads(copies);
        Ok(())
    }

    /// The node of a query: what it writes, and how many copies of it it makes for the one around it.
    pub(super) fn query(&mut self, value: &Value) -> Verdict<(Level, usize)> {
        match self.node(value)? {
            Some(("SelectStmt", select)) => self.select(select),
            Some((other, _)) => {
                let verb = other.trim_end_matches("Stmt").to_ascii_uppercase();
                let message = format!("Only queries may run, and {verb} is none.");
                let hint = "Write one statement that starts with SELECT, WITH or VALUES.";
                Err(Refusal::new("statement", &verb, message, hint))
            }
            None => Err(unknown("statement", "empty")),
        }
    }

    /// A `SELECT`, `VALUES` or set operation, as a node or, in the arms of a set operation, without one around it.
    fn select(&mut self, value: &Value) -> Verdict<(Level, usize)> {
        self.levels.push(Level::default());
        let is_cut = self.clauses(value)?;
        let level = self.levels.pop().unwrap_or_default();
        let copies = level.copies()?;
        // Nothing is moved through a LIMIT.
        Ok((level, if is_cut { 1 } else { copies }))
    }

    /// Whether the query has a limit.
    fn clauses(&mut self, value: &Value) -> Verdict<bool> {
        if value.get("intoClause").is_some() {
            let message = "SELECT INTO may not be used: queries only read.";
            return Err(Refusal::new("statement", "INTO", message, "Leave INTO out."));
        }
        if value.get("lockingClause").is_some() {
            let message = "FOR UPDATE and FOR SHARE may not be used: they lock rows.";
            return Err(Refusal::new("statement", "FOR UPDATE", message, "Leave it out."));
        }
        let plain = ["op", "all", "limitOption", "groupDistinct"];
        let deep = [
            "distinctClause", "targetList", "fromClause", "whereClause", "groupClause", "havingClause", "windowClause",
            "valuesLists", "sortClause", "limitOffset", "limitCount", "withClause", "larg", "rarg",
        ];
        let select = self.open(value, "SELECT", &plain, &deep)?;
        // What a query names with WITH is seen inside it, and not after it.
        let outside = self.scope.len();
        if let Some(with) = select.get("withClause") {
            self.with(with)?;
        }
        for arm in ["larg", "rarg"].into_iter().filter_map(|key| select.get(key)) {
            self.arms += 1;
            if self.arms > limit::ARMS {
                return Err(too_many("parts joined by UNION", limit::ARMS, "Use VALUES or fewer parts."));
            }
            let (_, copies) = self.select(arm)?;
            self.level()?.reads(copies);
        }
        for target in select.list("targetList")? {
            self.target(target)?;
        }
        for table in select.list("fromClause")? {
            self.table(table)?;
        }
        for key in ["whereClause", "havingClause", "limitOffset", "limitCount"] {
            self.optional(select.get(key))?;
        }
        self.expressions(select.list("distinctClause")?)?;
        self.groups(select.list("groupClause")?)?;
        for window in select.list("windowClause")? {
            match self.node(window)? {
                Some(("WindowDef", window)) => self.window(window)?,
                other => return Err(unexpected("WINDOW", other)),
            }
        }
        self.expressions(select.list("valuesLists")?)?;
        self.orders(select.list("sortClause")?)?;
        self.scope.truncate(outside);
        Ok(select.has("limitCount") || select.has("limitOffset"))
    }

    /// `WITH`: each part sees those before it; with `RECURSIVE`, each sees all, and itself.
    fn with(&mut self, value: &Value) -> Verdict {
        let with = self.open(value, "WITH", &["recursive"], &["ctes"])?;
        let mut parts = vec![];
        for part in with.list("ctes")? {
            self.ctes += 1;
            if self.ctes > limit::CTES {
                return Err(too_many("WITH parts", limit::CTES, "Use fewer."));
            }
            let part = match self.node(part)? {
                Some(("CommonTableExpr", part)) => part,
                other => return Err(unexpected("WITH", other)),
            };
            let deep = ["aliascolnames", "ctequery", "search_clause", "cycle_clause"];
            let part = self.open(part, "WITH", &["ctename", "ctematerialized"], &deep)?;
            let name = part.word("ctename");
            if name.is_empty() || name.starts_with("pg_") {
                let message = format!("A WITH part may not be called {name}: such names are the server's own.");
                return Err(Refusal::new("table", name, message, "Give the WITH part another name."));
            }
            if part.word("ctematerialized") == "CTEMaterializeNever" {
                let message = "NOT MATERIALIZED may not be used: planning could take without end.";
                return Err(Refusal::new("planner", "NOT MATERIALIZED", message, "Leave it out."));
            }
            parts.push(part);
        }
        let is_recursive = with.has("recursive");
        if is_recursive {
            self.scope.extend(parts.iter().map(|part| (part.word("ctename").to_owned(), 1)));
        }
        for part in parts {
            self.names(part.list("aliascolnames")?)?;
            let (_, mut copies) = self.query(part.get("ctequery").ok_or_else(|| unknown("WITH", "query"))?)?;
            self.search_and_cycle(&part)?;
            if part.word("ctematerialized") == "CTEMaterializeAlways" {
                copies = 1;
            }
            let name = part.word("ctename");
            match self.scope.iter_mut().rev().find(|(seen, _)| is_recursive && seen == name) {
                Some((_, seen)) => *seen = copies,
                None => self.scope.push((name.to_owned(), copies)),
            }
        }
        Ok(())
    }

    fn search_and_cycle(&mut self, part: &Fields<'_>) -> Verdict {
        if let Some(search) = part.get("search_clause") {
            let plain = ["search_breadth_first", "search_seq_column"];
            let search = self.open(search, "SEARCH", &plain, &["search_col_list"])?;
            self.names(search.list("search_col_list")?)?;
        }
        if let Some(cycle) = part.get("cycle_clause") {
            let plain = ["cycle_mark_column", "cycle_path_column"];
            let deep = ["cycle_col_list", "cycle_mark_value", "cycle_mark_default"];
            let cycle = self.open(cycle, "CYCLE", &plain, &deep)?;
            self.names(cycle.list("cycle_col_list")?)?;
            self.optional(cycle.get("cycle_mark_value"))?;
            self.optional(cycle.get("cycle_mark_default"))?;
        }
        Ok(())
    }

    fn target(&mut self, value: &Value) -> Verdict {
        match self.node(value)? {
            Some(("ResTarget", target)) => {
                let target = self.open(target, "column", &["name"], &["val"])?;
                self.expression(target.get("val").ok_or_else(|| unknown("column", "empty"))?)
            }
            other => Err(unexpected("column", other)),
        }
    }

    fn groups(&mut self, groups: &[Value]) -> Verdict {
        let mut sets = 1_usize;
        for group in groups {
            sets = sets.saturating_mul(grouping_sets(group));
        }
        if sets > limit::GROUPING_SETS {
            return Err(too_many("grouping sets", limit::GROUPING_SETS, "Use fewer columns in CUBE or ROLLUP."));
        }
        self.expressions(groups)
    }

    /// `ORDER BY`, of a query, a window or an aggregate.
    pub(super) fn orders(&mut self, orders: &[Value]) -> Verdict {
        for order in orders {
            let order = match self.node(order)? {
                Some(("SortBy", order)) => order,
                other => return Err(unexpected("ORDER BY", other)),
            };
            let order = self.open(order, "ORDER BY", &["sortby_dir", "sortby_nulls"], &["node", "useOp"])?;
            let operator = self.names(order.list("useOp")?)?;
            if !operator.is_empty() {
                functions::operator(&operator)?;
            }
            self.expression(order.get("node").ok_or_else(|| unknown("ORDER BY", "empty"))?)?;
        }
        Ok(())
    }

    fn table(&mut self, value: &Value) -> Verdict {
        let (kind, table) = self.node(value)?.ok_or_else(|| unknown("table", "empty"))?;
        if kind != "JoinExpr" {
            self.table_refs += 1;
            if self.table_refs > limit::TABLES {
                return Err(too_many("tables in FROM", limit::TABLES, "Join fewer tables."));
            }
        }
        match kind {
            "RangeVar" => self.named_table(table),
            "RangeSubselect" => {
                let table = self.open(table, "table", &["lateral"], &["subquery", "alias"])?;
                self.alias(table.get("alias"))?;
                let (inner, copies) = self.query(table.get("subquery").ok_or_else(|| unknown("table", "subquery"))?)?;
                let level = self.level()?;
                level.reads(copies);
                if table.has("lateral") {
                    level.holds(inner);
                }
                Ok(())
            }
            "JoinExpr" => {
                let plain = ["jointype", "isNatural", "rtindex"];
                let deep = ["larg", "rarg", "usingClause", "join_using_alias", "quals", "alias"];
                let join = self.open(table, "JOIN", &plain, &deep)?;
                for side in ["larg", "rarg"] {
                    self.table(join.get(side).ok_or_else(|| unknown("JOIN", side))?)?;
                }
                self.names(join.list("usingClause")?)?;
                self.alias(join.get("join_using_alias"))?;
                self.alias(join.get("alias"))?;
                self.optional(join.get("quals"))
            }
            "RangeFunction" => self.table_function(table),
            "RangeTableSample" => {
                let message = "TABLESAMPLE may not be used here.";
                Err(Refusal::new("node", "TABLESAMPLE", message, "Write WHERE random() < 0.1, or LIMIT."))
            }
            other => Err(unknown("table", other)),
        }
    }

    fn named_table(&mut self, value: &Value) -> Verdict {
        let plain = ["catalogname", "schemaname", "relname", "inh", "relpersistence"];
        let table = self.open(value, "table", &plain, &["alias"])?;
        self.alias(table.get("alias"))?;
        let name = table.word("relname");
        let permitted = self.tables.iter().find(|permitted| permitted.name == name);
        if table.has("schemaname") || table.has("catalogname") {
            let parts = [table.word("catalogname"), table.word("schemaname"), name];
            let path = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
            let hint = match permitted {
                Some(_) => format!("Write {name}."),
                None => "List the datasets to see which tables there are.".to_owned(),
            };
            let message = format!("Tables have plain names here, and {path} has more than one part.");
            return Err(Refusal::new("qualified_name", &path, message, hint));
        }
        if !table.has("inh") {
            let message = "ONLY may not be used.";
            return Err(Refusal::new("node", "ONLY", message, "Leave it out."));
        }
        if let Some((_, copies)) = self.scope.iter().rev().find(|(seen, _)| seen == name) {
            let copies = *copies;
            self.level()?.reads(copies);
            return Ok(());
        }
        if let Some(permitted) = permitted {
            if !self.used.iter().any(|used| used.name == permitted.name) {
                self.used.push(permitted);
            }
            return Ok(());
        }
        Err(no_table(name, self.tables.iter().map(|table| table.name.as_str())))
    }

    /// Functions in the place of a table, each with the columns that it gives where these must be said.
    fn table_function(&mut self, value: &Value) -> Verdict {
        let plain = ["lateral", "ordinality", "is_rowsfrom"];
        let table = self.open(value, "table", &plain, &["functions", "alias", "coldeflist"])?;
        self.alias(table.get("alias"))?;
        for function in table.list("functions")? {
            let pair = match self.node(function)? {
                Some(("List", pair)) => self.open(pair, "function", &[], &["items"])?,
                other => return Err(unexpected("function", other)),
            };
            let [function, columns] = pair.list("items")? else { return Err(unknown("table", "function")) };
            match self.node(function)? {
                Some(("FuncCall", call)) => self.call(call, functions::in_from)?,
                other => return Err(unexpected("table", other)),
            }
            match self.node(columns)? {
                None => {}
                Some(("List", columns)) => {
                    let columns = self.open(columns, "columns", &[], &["items"])?;
                    self.column_definitions(columns.list("items")?)?;
                }
                other => return Err(unexpected("columns", other)),
            }
        }
        self.column_definitions(table.list("coldeflist")?)
    }

    fn column_definitions(&mut self, columns: &[Value]) -> Verdict {
        for column in columns {
            let column = match self.node(column)? {
                Some(("ColumnDef", column)) => column,
                other => return Err(unexpected("column", other)),
            };
            let column = self.open(column, "column", &["colname", "is_local"], &["typeName"])?;
            self.type_name(column.get("typeName").ok_or_else(|| unknown("column", "type"))?)?;
        }
        Ok(())
    }

    fn alias(&mut self, value: Option<&Value>) -> Verdict {
        let Some(value) = value else { return Ok(()) };
        let alias = self.open(value, "alias", &["aliasname"], &["colnames"])?;
        self.names(alias.list("colnames")?).map(drop)
    }
}

/// How many sets an element of `GROUP BY` makes.
fn grouping_sets(group: &Value) -> usize {
    let Some(set) = group.get("GroupingSet") else { return 1 };
    let content = set.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    match set.get("kind").and_then(Value::as_str) {
        Some("GROUPING_SET_CUBE") => {
            1_usize.checked_shl(u32::try_from(content.len()).unwrap_or(u32::MAX)).unwrap_or(usize::MAX)
        }
        Some("GROUPING_SET_ROLLUP") => content.len() + 1,
        Some("GROUPING_SET_SETS") => content.iter().map(grouping_sets).fold(0, usize::saturating_add),
        _ => 1,
    }
}

/// A node that may not stand where it stands.
pub(super) fn unexpected(what: &str, node: Option<(&str, &Value)>) -> Refusal {
    unknown(what, node.map_or("empty", |(name, _)| name))
}
