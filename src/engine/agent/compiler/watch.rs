//! Checks of a part of the statement: units of its amounts, rows that its joins cannot place, and totals by a statement
//! of another shape.

use crate::engine::render::nouns::{capital, plural};
use crate::model::ontology::{Field, in_words};
use crate::model::plan::{Comparator, Condition, Grain, Node};

use super::check::{Check, CheckKind, Total, column_name, without_rows};
use super::error::CompileError;
use super::layout::clause;
use super::leaf::{Leaf, Rows};
use super::rows::{self, Inner};
use super::scope::Scope;
use super::work::Work;
use crate::model::source::quoted;

/// Whether a condition holds for no row without a partner, so that it can be said of a partner that there is.
fn is_positive(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { op, .. } => *op != Comparator::NotEqual,
        Condition::In { negated, .. }
        | Condition::Like { negated, .. }
        | Condition::Within { negated, .. }
        | Condition::OnDays { negated, .. }
        | Condition::AtHours { negated, .. } => !negated,
        Condition::IsNull { negated, .. } => *negated,
        _ => false,
    }
}

/// Whether a condition is on a number of its own, which is a part of the statement.
fn is_measured(condition: &Condition) -> bool {
    let measured = |node: &Node<'_>| matches!(node, Node::Condition(Condition::Measured { .. }));
    Node::Condition(condition).all().iter().any(measured)
}

impl Work<'_> {
    /// Looks up how many groups there are, and for how many a condition holds: that there is no row of their number.
    /// `from` reads the parts that the statement has so far.
    pub(super) fn groups(&mut self, nouns: String, from: &str, none: &str, zero: bool) {
        let check = format!("groups:{nouns}");
        if !self.checks.is_new(check.clone()) {
            return;
        }
        let (without, of) = (self.checks.column(), self.checks.column());
        self.checks.look_up(format!(
            "SELECT COUNT(CASE WHEN {none} THEN 1 END) AS {}, COUNT(*) AS {}\nFROM {from}",
            column_name(without),
            column_name(of)
        ));
        let says = format!("all {nouns} are part of the number");
        let kind = CheckKind::Groups { without, of, groups: nouns, have: without_rows(zero) };
        self.checks.list.push(Check { name: check, kind, says });
    }

    /// Looks up in how many units amounts are whose rows say it, where none of the dimensions does.
    fn units(
        &mut self,
        scope: &Scope,
        grouped: &[(String, Option<Grain>)],
        conditions: &[String],
        leaves: &[(usize, &Leaf)],
    ) -> Result<(), CompileError> {
        for (dataset, name) in leaves.iter().flat_map(|(_, leaf)| leaf.amounts()) {
            let node = scope.nodes().iter().position(|node| {
                dataset.map_or(node.dataset == scope.base(), |it| self.graph.dataset(it) == Some(node.dataset))
            });
            let Some(node) = node else { continue };
            let entity = self.entity(scope.node(node).dataset);
            let Some(field) = entity.field(name) else { continue };
            let Some(by) = &field.unit_field else { continue };
            let sql = scope.field(self, node, by)?;
            if grouped.iter().any(|(dimension, _)| *dimension == sql) {
                continue;
            }
            let body = format!("{}{}", scope.from(self)?, clause(conditions));
            if !self.checks.is_new(format!("{sql}\n{body}")) {
                continue;
            }
            let different = self.checks.column();
            self.checks.look_up(format!("SELECT COUNT(DISTINCT {sql}) AS {}\n{body}", column_name(different)));
            let by = entity.field(by).map_or_else(|| in_words(by), Field::words).to_lowercase();
            let amounts = capital(&field.words());
            let says = format!("{} is in one {by}", field.words().to_lowercase());
            let name = format!("units:{}.{}", entity.name, field.name);
            self.checks.list.push(Check { name, kind: CheckKind::Units { different, amounts, by }, says });
        }
        Ok(())
    }

    /// Looks up the rows of a part that its joins cannot place, and totals without joins. Gives the totals' columns.
    pub(super) fn watch(
        &mut self,
        scope: &Scope,
        rows: &Rows,
        grouped: &[(String, Option<Grain>)],
        conditions: &[String],
        written: &[(usize, String, String)],
        leaves: &[(usize, &Leaf)],
    ) -> Result<Vec<(usize, Total)>, CompileError> {
        let joined: Vec<String> =
            scope.nodes().iter().skip(1).map(|node| format!("{}.", quoted(&node.alias))).collect();
        let is_home = |sql: &String| !joined.iter().any(|alias| sql.contains(alias));
        let home: Vec<String> = conditions.iter().filter(|condition| is_home(condition)).cloned().collect();
        self.units(scope, grouped, conditions, leaves)?;
        if joined.is_empty() {
            return Ok(Vec::new());
        }
        // What a metric asks of its rows is a part of what it is.
        let (asked, _) = conditions.split_at(conditions.len().saturating_sub(rows.own.len()));
        self.partners(scope, asked, &home)?;
        if rows.last || grouped.is_empty() && home.len() == conditions.len() {
            return Ok(Vec::new());
        }
        self.totals(scope, rows, written, leaves)
    }

    /// Totals by a statement of another shape, without the groups: conditions on joined rows are sub-queries in it, where
    /// they can be. Where rows are in several groups no part may be more than the total.
    fn totals(
        &mut self,
        scope: &Scope,
        rows: &Rows,
        written: &[(usize, String, String)],
        leaves: &[(usize, &Leaf)],
    ) -> Result<Vec<(usize, Total)>, CompileError> {
        if rows.filters.iter().any(is_measured) {
            return Ok(Vec::new());
        }
        // What is said of the statement is said of its own shape.
        let notes = self.notes.clone();
        let mut own = Scope::new(self, rows.home);
        own.apart = rows.filters.iter().all(is_positive);
        let conditions = match rows::conditions(self, &mut own, rows) {
            Ok(conditions) => conditions,
            Err(_) => {
                own = Scope::new(self, rows.home);
                rows::conditions(self, &mut own, rows)?
            }
        };
        own.apart = false;
        self.notes = notes;
        let mut totals = Vec::new();
        let mut select = Vec::new();
        for ((position, _, _), (_, leaf)) in written.iter().zip(leaves) {
            if leaf.adds_up() && (!scope.fans || leaf.counts()) {
                let sql = rows::call(self, &mut own, leaf, &mut Inner::default())?;
                let column = self.checks.column();
                select.push(format!("{sql} AS {}", column_name(column)));
                totals.push((*position, Total { column, shared: scope.fans }));
            }
        }
        if !select.is_empty() {
            let body = format!("SELECT {}\n{}{}", select.join(", "), own.from(self)?, clause(&conditions));
            self.checks.look_up(body);
        }
        Ok(totals)
    }

    fn partners(&mut self, scope: &Scope, conditions: &[String], home: &[String]) -> Result<(), CompileError> {
        let mut select = Vec::new();
        let mut checks = Vec::new();
        let base = self.entity(scope.base()).noun();
        for node in scope.nodes() {
            let Some((parent, step, on)) = &node.parent else { continue };
            // Along a step to many a row without a partner is nothing to report: it has none.
            if step.to_many || scope.way_to(*parent).iter().any(|step| step.to_many) {
                continue;
            }
            let relationship = self.relationship(step);
            // A reference is expected to lead somewhere; not the way back, as from a claim down to its subtypes.
            let optional = relationship.optional || !step.forward;
            let from = self.entity(scope.node(*parent).dataset).noun();
            let to = self.entity(node.dataset).noun();
            let check = format!("partners:{base}:{}:{}", relationship.name, node.alias);
            let alias = format!("{}.", quoted(&node.alias));
            let asking: Vec<&str> =
                conditions.iter().filter(|condition| condition.contains(&alias)).map(String::as_str).collect();
            // What asks for rows without a partner is about nothing else.
            let missing = asking.iter().any(|condition| condition.ends_with(" IS NULL"));
            if optional && (asking.is_empty() || missing) || !self.checks.is_new(check.clone()) {
                continue;
            }
            let (orphans, without, of) = (self.checks.column(), self.checks.column(), self.checks.column());
            let lost = (!asking.is_empty() && !missing).then(|| self.checks.column());
            let has_key = on.iter().map(|(_, key)| format!("{key} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
            let mut is_without = vec![format!("NOT ({has_key})")];
            if let Some((_, _, on)) = &scope.node(*parent).parent {
                is_without.extend(on.iter().map(|(key, _)| format!("{key} IS NOT NULL")));
            }
            let is_without = is_without.join(" AND ");
            let no_partner = on.first().map(|(key, _)| format!("{key} IS NULL")).unwrap_or_default();
            select.push(format!("COUNT(CASE WHEN {has_key} AND {no_partner} THEN 1 END) AS {}", column_name(orphans)));
            select.push(format!("COUNT(CASE WHEN {is_without} THEN 1 END) AS {}", column_name(without)));
            select.push(format!("COUNT(*) AS {}", column_name(of)));
            if let Some(lost) = lost {
                let kept = asking.iter().map(|condition| format!("({condition})")).collect::<Vec<_>>().join(" AND ");
                let none = format!("({has_key} AND {no_partner} OR {is_without})");
                let is_lost = format!("{none} AND NOT COALESCE({kept}, FALSE)");
                select.push(format!("COUNT(CASE WHEN {is_lost} THEN 1 END) AS {}", column_name(lost)));
            }
            // "manager", not "manager manager".
            let noun = to.to_lowercase();
            let to = match &relationship.role {
                Some(role) if role.to_lowercase().split(' ').any(|word| noun.split(' ').any(|own| own == word)) => {
                    role.clone()
                }
                Some(role) => format!("{role} {to}"),
                None => to,
            };
            checks.push(Check {
                name: check,
                kind: CheckKind::Partners {
                    orphans,
                    without,
                    of,
                    lost,
                    optional,
                    rows: plural(&base),
                    from: from.clone(),
                    to: to.clone(),
                },
                says: format!("each {from} has its {to}"),
            });
        }
        if !select.is_empty() {
            let to_one = |node: usize| scope.way_to(node).iter().all(|step| !step.to_many);
            let from = scope.only(self, to_one)?;
            let body = format!("SELECT\n  {}\n{from}{}", select.join(",\n  "), clause(home));
            self.checks.look_up(body);
            self.checks.list.append(&mut checks);
        }
        Ok(())
    }
}
