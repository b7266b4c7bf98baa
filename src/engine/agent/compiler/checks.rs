//! What a statement relies on in the data, and one statement that looks it up.

use std::collections::BTreeSet;

use crate::engine::ontology::graph::Step;
use crate::model::lineage::JoinUse;
use crate::model::plan::{Comparator, Condition, Grain, Node};

use super::error::CompileError;
use super::measure::{Leaf, Rows};
use super::names::{indented, plural, quote};
use super::rows::{self, clause};
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
    /// `lost` is how many of them a condition leaves out, where one asks for the partner; `optional` is said by the
    /// ontology.
    Partners {
        orphans: usize,
        without: usize,
        of: usize,
        lost: Option<usize>,
        optional: bool,
        rows: String,
        from: String,
        to: String,
    },
    /// The total of a measure without the groups; the parts in the answer add up to it. Where a row may be in several
    /// groups (`shared`), none of them is more than it.
    Total { measure: usize, total: usize, shared: bool },
    /// Groups without any row of a number that is taken over all of them, of how many. What the groups are, as a noun,
    /// and whether those without count as 0; otherwise they are left out.
    Groups { without: usize, of: usize, groups: String, zero: bool },
    /// The dimensions tell the rows of the answer apart.
    Grain,
}

/// A total among the numbers of the checks, and whether rows are in several of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    pub column: usize,
    pub shared: bool,
}

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
    /// `parts` are those of the statement, which conditions may read.
    pub fn sql(&self, parts: &[(String, String)]) -> Result<Option<String>, CompileError> {
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
        let body = format!("SELECT {}\nFROM {}", columns.join(", "), from.join("\nCROSS JOIN "));
        let reads = |(name, _): &(String, String)| self.selects.iter().any(|select| select.contains(&quote(name)));
        let with: Vec<String> = match parts.iter().rposition(reads) {
            Some(last) => parts[..=last]
                .iter()
                .map(|(name, body)| format!("{} AS (\n{}\n)", quote(name), indented(body, 2)))
                .collect(),
            None => Vec::new(),
        };
        Ok(Some(if with.is_empty() { body } else { format!("WITH {}\n{body}", with.join(", ")) }))
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

    /// Looks up how many groups there are, and for how many a condition holds: that there is no row of their number.
    /// `from` reads the parts that the statement has so far.
    pub fn groups(&mut self, dataset: usize, from: &str, none: &str, zero: bool) {
        let noun = plural(&self.entity(dataset).noun());
        let check = format!("groups:{noun}");
        if !self.checks.seen.insert(check.clone()) {
            return;
        }
        let (without, of) = (self.checks.column(), self.checks.column());
        self.checks.selects.push(format!(
            "SELECT COUNT(CASE WHEN {none} THEN 1 END) AS {}, COUNT(*) AS {}\nFROM {from}",
            name(without),
            name(of)
        ));
        let says = format!("all {noun} are part of the number");
        self.checks.list.push(Check { name: check, kind: CheckKind::Groups { without, of, groups: noun, zero }, says });
    }

    /// Looks up the rows of a part that its joins cannot place, and totals without joins. Gives the totals' columns.
    pub fn watch(
        &mut self,
        scope: &Scope,
        rows: &Rows,
        grouped: &[(String, Option<Grain>)],
        conditions: &[String],
        written: &[(usize, String, String)],
        leaves: &[(usize, &Leaf)],
    ) -> Result<Vec<(usize, Total)>, CompileError> {
        let joined: Vec<String> = scope.nodes().iter().skip(1).map(|node| format!("{}.", quote(&node.alias))).collect();
        let is_home = |sql: &String| !joined.iter().any(|alias| sql.contains(alias));
        let home: Vec<String> = conditions.iter().filter(|condition| is_home(condition)).cloned().collect();
        if joined.is_empty() {
            return Ok(Vec::new());
        }
        // What a metric asks of its rows is a part of what it is.
        let asked = &conditions[..conditions.len().saturating_sub(rows.own.len())];
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
                let sql = rows::plain_call(self, &mut own, leaf)?;
                let column = self.checks.column();
                select.push(format!("{sql} AS {}", name(column)));
                totals.push((*position, Total { column, shared: scope.fans }));
            }
        }
        if !select.is_empty() {
            let body = format!("SELECT {}\n{}{}", select.join(", "), own.from(self)?, clause(&conditions));
            self.checks.selects.push(body);
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
            let relationship = &self.ontology.relationships[step.relationship];
            let from = self.entity(scope.node(*parent).dataset).noun();
            let to = self.entity(node.dataset).noun();
            let check = format!("partners:{base}:{}:{}", relationship.name, node.alias);
            let alias = format!("{}.", quote(&node.alias));
            let asking: Vec<&str> =
                conditions.iter().filter(|condition| condition.contains(&alias)).map(String::as_str).collect();
            // What asks for rows without a partner is about nothing else.
            let missing = asking.iter().any(|condition| condition.ends_with(" IS NULL"));
            if relationship.optional && (asking.is_empty() || missing) || !self.checks.seen.insert(check.clone()) {
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
            select.push(format!("COUNT(CASE WHEN {has_key} AND {no_partner} THEN 1 END) AS {}", name(orphans)));
            select.push(format!("COUNT(CASE WHEN {is_without} THEN 1 END) AS {}", name(without)));
            select.push(format!("COUNT(*) AS {}", name(of)));
            if let Some(lost) = lost {
                let kept = asking.iter().map(|condition| format!("({condition})")).collect::<Vec<_>>().join(" AND ");
                let none = format!("({has_key} AND {no_partner} OR {is_without})");
                let is_lost = format!("{none} AND NOT COALESCE({kept}, FALSE)");
                select.push(format!("COUNT(CASE WHEN {is_lost} THEN 1 END) AS {}", name(lost)));
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
                    optional: relationship.optional,
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
            self.checks.selects.push(body);
            self.checks.list.append(&mut checks);
        }
        Ok(())
    }
}
