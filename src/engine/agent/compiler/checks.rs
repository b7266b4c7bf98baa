//! What a statement relies on in the data, and one statement that looks it up.

use std::collections::BTreeSet;

use crate::engine::ontology::graph::Step;
use crate::model::lineage::JoinUse;
use crate::model::plan::Grain;

use super::error::CompileError;
use super::measure::{Leaf, Rows, plural};
use super::names::{indented, quote};
use super::rows::clause;
use super::scope::{Scope, pairs};
use super::work::Work;

/// One thing to look up. Positions are those of columns of [`super::Compiled::checks_sql`].
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// `one_side:flight_carrier`: stable for one plan.
    pub name: String,
    pub kind: CheckKind,
    /// What is expected, for people.
    pub says: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckKind {
    /// As many rows as different keys: no join repeats a row.
    OneSide { rows: usize, keys: usize },
    /// Rows of a measure whose key has no partner, and those without a key, of how many. What the rows are, which of
    /// them have the key, and what it leads to, as nouns.
    Partners { orphans: usize, without: usize, of: usize, rows: String, from: String, to: String },
    /// The total of a measure without any join; the parts in the answer add up to it.
    Total { measure: usize, total: usize },
    /// The dimensions tell the rows of the answer apart.
    Grain,
}

/// Collects checks while a statement is made.
#[derive(Default)]
pub struct Checks {
    /// Sub-queries of one row each.
    selects: Vec<String>,
    columns: usize,
    pub list: Vec<Check>,
    seen: BTreeSet<String>,
    problem: Option<CompileError>,
}

impl Checks {
    fn column(&mut self) -> usize {
        self.columns += 1;
        self.columns - 1
    }

    /// One SELECT with one row; none when nothing is looked up.
    pub fn sql(&self) -> Result<Option<String>, CompileError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.selects.is_empty() {
            return Ok(None);
        }
        let columns: Vec<String> = (0..self.columns).map(name).collect();
        let from: Vec<String> = self
            .selects
            .iter()
            .enumerate()
            .map(|(at, select)| format!("(\n{}\n) AS {}", indented(select, 2), quote(&format!("s{at}"))))
            .collect();
        Ok(Some(format!("SELECT {}\nFROM {}", columns.join(", "), from.join("\nCROSS JOIN "))))
    }
}

fn name(column: usize) -> String {
    quote(&format!("c{column}"))
}

impl Work<'_> {
    /// A step of the statement: it is named as a join, and its one side is checked to be one.
    pub fn uses(&mut self, step: &Step) {
        if let Err(problem) = self.used(step) {
            self.checks.problem.get_or_insert(problem);
        }
    }

    fn used(&mut self, step: &Step) -> Result<(), CompileError> {
        let relationship = &self.ontology.relationships[step.relationship];
        let on: Vec<String> = relationship
            .from_columns
            .iter()
            .zip(&relationship.to_columns)
            .map(|(from, to)| format!("{}.{from} = {}.{to}", relationship.from, relationship.to))
            .collect();
        let join = JoinUse { from: relationship.from.clone(), to: relationship.to.clone(), on: on.join(" AND ") };
        if !self.joins.contains(&join) {
            self.joins.push(join);
        }
        // The side that is met once: where the step leads to, or where it comes from.
        let back = self.graph.back(step);
        for side in [*step, back] {
            if !side.to_many {
                self.one_side(&side)?;
            }
        }
        Ok(())
    }

    fn one_side(&mut self, step: &Step) -> Result<(), CompileError> {
        let relationship = &self.ontology.relationships[step.relationship];
        let columns = if step.forward { &relationship.to_columns } else { &relationship.from_columns };
        let keys = pairs(self, step, "x", "x")?.into_iter().map(|(key, _)| key).collect();
        self.unique(step.to, &columns.join(", "), keys)
    }

    /// The rows of a dataset are told apart by a key, where it is known.
    pub fn unique(&mut self, dataset: usize, columns: &str, keys: Vec<String>) -> Result<(), CompileError> {
        let entity = self.entity(dataset);
        let check = format!("one_side:{}:{columns}", entity.name);
        if !self.checks.seen.insert(check.to_lowercase()) {
            return Ok(());
        }
        let table = self.table(dataset, "x")?;
        let (rows, distinct) = (self.checks.column(), self.checks.column());
        if let [key] = keys.as_slice() {
            self.checks.selects.push(format!(
                "SELECT COUNT({key}) AS {}, COUNT(DISTINCT {key}) AS {} FROM {table}",
                name(rows),
                name(distinct)
            ));
        } else {
            let present = keys.iter().map(|key| format!("{key} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
            self.checks.selects.push(format!("SELECT COUNT(*) AS {} FROM {table} WHERE {present}", name(rows)));
            let numbered: Vec<String> =
                keys.iter().enumerate().map(|(at, key)| format!("{key} AS {}", quote(&format!("k{at}")))).collect();
            self.checks.selects.push(format!(
                "SELECT COUNT(*) AS {} FROM (SELECT DISTINCT {} FROM {table} WHERE {present}) AS \"d\"",
                name(distinct),
                numbered.join(", ")
            ));
        }
        self.checks.list.push(Check {
            name: check,
            kind: CheckKind::OneSide { rows, keys: distinct },
            says: format!("each {} is there once by {columns}", entity.noun()),
        });
        Ok(())
    }

    /// Looks up the rows of a part that its joins cannot place, and totals without joins. Gives the totals' columns.
    #[expect(clippy::too_many_arguments, reason = "the pieces of one SELECT")]
    pub fn watch(
        &mut self,
        scope: &Scope,
        rows: &Rows,
        grouped: &[(String, Option<Grain>)],
        conditions: &[String],
        written: &[(usize, String, String)],
        inner: &[(String, String)],
        leaves: &[(usize, &Leaf)],
    ) -> Result<Vec<(usize, usize)>, CompileError> {
        let joined: Vec<String> = scope.nodes().iter().skip(1).map(|node| format!("{}.", quote(&node.alias))).collect();
        let is_home = |sql: &String| !joined.iter().any(|alias| sql.contains(alias));
        let home: Vec<String> = conditions.iter().filter(|condition| is_home(condition)).cloned().collect();
        if joined.is_empty() {
            return Ok(Vec::new());
        }
        self.partners(scope, &home)?;
        let is_plain = !scope.fans && !rows.last && home.len() == conditions.len() && !grouped.is_empty();
        if !is_plain || !inner.is_empty() {
            return Ok(Vec::new());
        }
        let mut totals = Vec::new();
        let mut select = Vec::new();
        for ((position, _, sql), (_, leaf)) in written.iter().zip(leaves) {
            if leaf.adds_up() && is_home(sql) {
                let column = self.checks.column();
                select.push(format!("{sql} AS {}", name(column)));
                totals.push((*position, column));
            }
        }
        if !select.is_empty() {
            let node = scope.node(0);
            let table = self.table(node.dataset, &node.alias)?;
            self.checks.selects.push(format!("SELECT {}\nFROM {table}{}", select.join(", "), clause(&home)));
        }
        Ok(totals)
    }

    fn partners(&mut self, scope: &Scope, home: &[String]) -> Result<(), CompileError> {
        let mut select = Vec::new();
        let mut checks = Vec::new();
        let base = self.entity(scope.base()).noun();
        for node in scope.nodes() {
            let Some((parent, step, on)) = &node.parent else { continue };
            // Along a step to many a row without a partner is nothing to report: it has none.
            if step.to_many || scope.way_to(*parent).iter().any(|step| step.to_many) {
                continue;
            }
            let relationship = &self.ontology.relationships[step.relationship];
            let from = self.entity(scope.node(*parent).dataset).noun();
            let to = self.entity(node.dataset).noun();
            let check = format!("partners:{base}:{}:{}", relationship.name, node.alias);
            if relationship.optional || !self.checks.seen.insert(check.clone()) {
                continue;
            }
            let (orphans, without, of) = (self.checks.column(), self.checks.column(), self.checks.column());
            let has_key = on.iter().map(|(_, key)| format!("{key} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
            let mut is_without = vec![format!("NOT ({has_key})")];
            if let Some((_, _, on)) = &scope.node(*parent).parent {
                is_without.extend(on.iter().map(|(key, _)| format!("{key} IS NOT NULL")));
            }
            let is_without = is_without.join(" AND ");
            let no_partner = on.first().map(|(key, _)| format!("{key} IS NULL")).unwrap_or_default();
            select.push(format!("COUNT(CASE WHEN {has_key} AND {no_partner} THEN 1 END) AS {}", name(orphans)));
            select.push(format!("COUNT(CASE WHEN {is_without} THEN 1 END) AS {}", name(without)));
            select.push(format!("COUNT(*) AS {}", name(of)));
            let role = relationship.role.as_ref().map(|role| format!("{role} ")).unwrap_or_default();
            checks.push(Check {
                name: check,
                kind: CheckKind::Partners {
                    orphans,
                    without,
                    of,
                    rows: plural(&base),
                    from: from.clone(),
                    to: format!("{role}{to}"),
                },
                says: format!("each {from} has its {role}{to}"),
            });
        }
        if !select.is_empty() {
            let to_one = |node: usize| scope.way_to(node).iter().all(|step| !step.to_many);
            let from = scope.only(self, to_one)?;
            let body = format!("SELECT\n  {}\n{from}{}", select.join(",\n  "), clause(home));
            self.checks.selects.push(body);
            self.checks.list.append(&mut checks);
        }
        Ok(())
    }
}
