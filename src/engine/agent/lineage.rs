//! What a statement reads, from its own syntax tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, Query, Select, SetExpr, Statement, TableFactor,
    TableWithJoins, Visit as _, Visitor, visit_expressions_mut,
};
use sqlparser::dialect::{Dialect as Parsed, DuckDbDialect, PostgreSqlDialect};
use sqlparser::parser::Parser;

use crate::model::lineage::{JoinUse, Lineage};
use crate::model::source::Dialect;

/// Where the rows of a statement come from: the tables that it reads, how they are joined, what holds for their rows.
/// `window` is the time in words, `grain` what one row is. `None` when the statement cannot be parsed.
pub fn of(sql: &str, dialect: Dialect, rows: usize, window: Option<&str>, grain: &str) -> Option<Lineage> {
    let parsed: &dyn Parsed = match dialect {
        Dialect::DuckDb => &DuckDbDialect {},
        Dialect::PostgreSql => &PostgreSqlDialect {},
        Dialect::ClickHouse => return None,
    };
    let statements = Parser::parse_sql(parsed, sql).ok()?;
    let [Statement::Query(query)] = statements.as_slice() else { return None };
    let mut reader = Reader::default();
    reader.query(query, &BTreeSet::new(), &BTreeMap::new());
    Some(Lineage {
        kind: "data_lineage".into(),
        datasets: reader.tables.into_iter().collect(),
        joins: reader.joins,
        filters: reader.filters,
        time_window: window.map(str::to_owned),
        grain: grain.to_owned(),
        row_count: rows,
        sql: sql.to_owned(),
    })
}

/// Aliases and the tables that they stand for; `None` for parts of the statement itself.
type Aliases = BTreeMap<String, Option<String>>;

#[derive(Default)]
struct Reader {
    tables: BTreeSet<String>,
    joins: Vec<JoinUse>,
    filters: Vec<String>,
}

impl Reader {
    /// `parts` are the names that WITH gives, `outer` the aliases around a sub-query.
    fn query(&mut self, query: &Query, parts: &BTreeSet<String>, outer: &Aliases) {
        let mut parts = parts.clone();
        if let Some(with) = &query.with {
            for part in &with.cte_tables {
                if with.recursive {
                    parts.insert(part.alias.name.value.to_lowercase());
                }
                self.query(&part.query, &parts, outer);
                parts.insert(part.alias.name.value.to_lowercase());
            }
        }
        self.body(&query.body, &parts, outer);
    }

    fn body(&mut self, body: &SetExpr, parts: &BTreeSet<String>, outer: &Aliases) {
        match body {
            SetExpr::Select(select) => self.select(select, parts, outer),
            SetExpr::Query(query) => self.query(query, parts, outer),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, parts, outer);
                self.body(right, parts, outer);
            }
            _ => {}
        }
    }

    fn select(&mut self, select: &Select, parts: &BTreeSet<String>, outer: &Aliases) {
        let mut aliases = outer.clone();
        for table in &select.from {
            self.joined(table, parts, &mut aliases);
        }
        for table in &select.from {
            for join in &table.joins {
                if let Some(on) = condition(&join.join_operator) {
                    self.join(on, &join.relation, &aliases);
                    self.inside(on, parts, &aliases);
                }
            }
        }
        let conditions = select.selection.iter().chain(&select.having).chain(&select.qualify);
        for condition in conditions {
            for part in conjuncts(condition) {
                if !self.correlates(part, &aliases, outer) {
                    push(&mut self.filters, resolved(part, &aliases));
                }
                self.inside(part, parts, &aliases);
            }
        }
        for item in &select.projection {
            self.inside(item, parts, &aliases);
        }
    }

    fn joined(&mut self, table: &TableWithJoins, parts: &BTreeSet<String>, aliases: &mut Aliases) {
        self.factor(&table.relation, parts, aliases);
        for join in &table.joins {
            self.factor(&join.relation, parts, aliases);
        }
    }

    fn factor(&mut self, factor: &TableFactor, parts: &BTreeSet<String>, aliases: &mut Aliases) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let Some(last) = name.0.last().and_then(|part| part.as_ident()) else { return };
                let table = last.value.clone();
                let known = alias.as_ref().map_or(&table, |alias| &alias.name.value).to_lowercase();
                let is_part = name.0.len() == 1 && parts.contains(&table.to_lowercase());
                if !is_part {
                    self.tables.insert(table.clone());
                }
                aliases.insert(known, (!is_part).then_some(table));
            }
            TableFactor::Derived { subquery, alias, .. } => {
                self.query(subquery, parts, aliases);
                if let Some(alias) = alias {
                    aliases.insert(alias.name.value.to_lowercase(), only_table(subquery, parts));
                }
            }
            TableFactor::NestedJoin { table_with_joins, .. } => self.joined(table_with_joins, parts, aliases),
            _ => {}
        }
    }

    /// A join between tables; one with a part of the statement itself says nothing about the data.
    fn join(&mut self, on: &Expr, relation: &TableFactor, aliases: &Aliases) {
        let alias = match relation {
            TableFactor::Table { name, alias, .. } => alias
                .as_ref()
                .map(|alias| alias.name.value.clone())
                .or_else(|| name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone())),
            TableFactor::Derived { alias, .. } => alias.as_ref().map(|alias| alias.name.value.clone()),
            _ => None,
        };
        let Some(alias) = alias.map(|alias| alias.to_lowercase()) else { return };
        let Some(Some(to)) = aliases.get(&alias) else { return };
        let others = owners(on).into_iter().filter(|owner| *owner != alias);
        let mut from: Vec<&String> = others.filter_map(|owner| aliases.get(&owner)?.as_ref()).collect();
        from.dedup();
        let Some(from) = from.first() else { return };
        let join = JoinUse { from: (*from).clone(), to: to.clone(), on: resolved(on, aliases) };
        if !self.joins.contains(&join) {
            self.joins.push(join);
        }
    }

    /// Whether a condition of a sub-query joins it to the statement around it; then it is one of the joins.
    fn correlates(&mut self, part: &Expr, aliases: &Aliases, outer: &Aliases) -> bool {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = part else { return false };
        let (Expr::CompoundIdentifier(_), Expr::CompoundIdentifier(_)) = (&**left, &**right) else { return false };
        let owners = owners(part);
        let is_outer = |owner: &String| outer.contains_key(owner);
        let (Some(out), Some(own)) =
            (owners.iter().find(|owner| is_outer(owner)), owners.iter().find(|owner| !is_outer(owner)))
        else {
            return false;
        };
        if let (Some(Some(from)), Some(Some(to))) = (aliases.get(out), aliases.get(own)) {
            let join = JoinUse { from: from.clone(), to: to.clone(), on: resolved(part, aliases) };
            if !self.joins.contains(&join) {
                self.joins.push(join);
            }
        }
        true
    }

    /// The sub-queries of an expression.
    fn inside(&mut self, expr: &impl sqlparser::ast::Visit, parts: &BTreeSet<String>, aliases: &Aliases) {
        for query in subqueries(expr) {
            self.query(&query, parts, aliases);
        }
    }
}

/// The table that a derived one is a part of the rows of, if it is one.
fn only_table(query: &Query, parts: &BTreeSet<String>) -> Option<String> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let [TableWithJoins { relation: TableFactor::Table { name, .. }, joins }] = select.from.as_slice() else {
        return None;
    };
    let table = name.0.last()?.as_ident()?.value.clone();
    (joins.is_empty() && !parts.contains(&table.to_lowercase())).then_some(table)
}

fn condition(operator: &JoinOperator) -> Option<&Expr> {
    use JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, LeftSemi, Right, RightOuter, Semi};
    match operator {
        Join(on) | Inner(on) | Left(on) | LeftOuter(on) | Right(on) | RightOuter(on) | FullOuter(on)
        | CrossJoin(on) | Semi(on) | LeftSemi(on) => match on {
            JoinConstraint::On(on) => Some(on),
            _ => None,
        },
        _ => None,
    }
}

/// Conditions that hold together.
fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        Expr::Nested(inner) if matches!(&**inner, Expr::BinaryOp { op: BinaryOperator::And, .. }) => conjuncts(inner),
        other => vec![other],
    }
}

/// The aliases that columns of an expression are named with, in their order; those of sub-queries are not its own.
fn owners(expr: &Expr) -> Vec<String> {
    struct Owners(Vec<String>, usize);
    impl Visitor for Owners {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.1 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.1 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if let (Expr::CompoundIdentifier(parts), 0) = (expr, self.1)
                && let Some(owner) = parts.first()
            {
                let owner = owner.value.to_lowercase();
                if !self.0.contains(&owner) {
                    self.0.push(owner);
                }
            }
            ControlFlow::Continue(())
        }
    }
    let mut owners = Owners(Vec::new(), 0);
    let _ = expr.visit(&mut owners);
    owners.0
}

/// The outermost queries in a node.
fn subqueries(node: &impl sqlparser::ast::Visit) -> Vec<Query> {
    struct Queries(Vec<Query>, usize);
    impl Visitor for Queries {
        type Break = ();
        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            if self.1 == 0 {
                self.0.push(query.clone());
            }
            self.1 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.1 -= 1;
            ControlFlow::Continue(())
        }
    }
    let mut queries = Queries(Vec::new(), 0);
    let _ = node.visit(&mut queries);
    queries.0
}

/// SQL with the names of tables for aliases.
fn resolved(expr: &Expr, aliases: &Aliases) -> String {
    let mut expr = expr.clone();
    let _ = visit_expressions_mut(&mut expr, |expr| {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [owner, column] = parts.as_mut_slice()
        {
            if let Some(Some(table)) = aliases.get(&owner.value.to_lowercase()) {
                *owner = plain(table);
            }
            *column = plain(&column.value);
        }
        ControlFlow::<()>::Continue(())
    });
    expr.to_string()
}

/// With quotes only where they are needed.
fn plain(name: &str) -> Ident {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty();
    if is_plain { Ident::new(name) } else { Ident::with_quote('"', name) }
}

fn push(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> Lineage {
        of(sql, Dialect::DuckDb, 3, Some("2024"), "one row for each city").unwrap()
    }

    fn join(from: &str, to: &str, on: &str) -> JoinUse {
        JoinUse { from: from.into(), to: to.into(), on: on.into() }
    }

    #[test]
    fn tables_are_those_that_are_read_and_not_the_parts_of_the_statement() {
        let lineage = read(
            r#"WITH "a" AS (SELECT f."city" AS "c" FROM "flights" AS f LEFT JOIN "airports" AS o ON o."code" = f."origin"
               WHERE f."day" >= DATE '2024-01-01' AND o."city" = 'Rome'),
               "b" AS (SELECT "a"."c" FROM "a") SELECT "b"."c" AS "City" FROM "b" LEFT JOIN "a" ON "a"."c" = "b"."c""#,
        );
        assert_eq!(lineage.datasets, ["airports", "flights"]);
        assert_eq!(lineage.joins, [join("flights", "airports", "airports.code = flights.origin")]);
        assert_eq!(lineage.filters, ["flights.day >= DATE '2024-01-01'", "airports.city = 'Rome'"]);
        assert_eq!((lineage.row_count, lineage.time_window.as_deref()), (3, Some("2024")));
        assert_eq!(lineage.kind, "data_lineage");
    }

    #[test]
    fn a_part_hides_a_table_only_where_it_is_known() {
        // The first FROM is the table; the part of the same name comes to be after it.
        let lineage = read("WITH t AS (SELECT x FROM t) SELECT x FROM t");
        assert_eq!(lineage.datasets, ["t"]);
        let lineage = read("SELECT x FROM (WITH u AS (SELECT 1 AS x) SELECT x FROM u) AS d");
        assert_eq!(lineage.datasets, Vec::<String>::new());
    }

    #[test]
    fn both_roles_of_one_table_are_joins() {
        let lineage = read(
            "SELECT 1 FROM flights AS f LEFT JOIN airports AS o ON o.code = f.origin LEFT JOIN airports AS d ON d.code = f.dest",
        );
        assert_eq!(
            lineage.joins,
            [
                join("flights", "airports", "airports.code = flights.origin"),
                join("flights", "airports", "airports.code = flights.dest")
            ]
        );
    }

    #[test]
    fn a_sub_query_is_read_and_joined_by_its_condition() {
        let lineage = read(
            "SELECT 1 FROM policies AS p WHERE NOT EXISTS (SELECT 1 FROM claims AS c WHERE c.policy_id = p.id AND c.open)",
        );
        assert_eq!(lineage.datasets, ["claims", "policies"]);
        assert_eq!(lineage.joins, [join("policies", "claims", "claims.policy_id = policies.id")]);
        assert_eq!(lineage.filters[1], "claims.open");
    }

    #[test]
    fn rows_that_a_policy_leaves_are_rows_of_the_table() {
        let lineage = read(
            r#"SELECT 1 FROM "o" LEFT JOIN (SELECT * FROM "c" AS "c" WHERE "c"."seen" = 1) AS "c" ON "c"."id" = "o"."c""#,
        );
        assert_eq!(lineage.joins, [join("o", "c", "c.id = o.c")]);
        assert_eq!(lineage.filters, ["c.seen = 1"]);
    }

    #[test]
    fn what_is_no_query_has_no_lineage() {
        assert_eq!(of("SELECT FROM WHERE", Dialect::DuckDb, 0, None, ""), None);
        assert_eq!(of("DROP TABLE t", Dialect::PostgreSql, 0, None, ""), None);
        assert_eq!(of("SELECT 1; SELECT 2", Dialect::PostgreSql, 0, None, ""), None);
    }
}
