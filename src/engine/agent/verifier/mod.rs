//! Reasons to distrust a result.
//!
//! Whatever cannot be looked up or read counts as a reason: an answer passes only when everything was seen to hold.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::base::counted::{counted, grouped};
use crate::engine::agent::compiler::{Check, CheckKind, Compiled, OutputColumn};
use crate::engine::render::column::Role;
use crate::engine::render::nouns::plural;
use crate::engine::render::number::{Style, bare};
use crate::model::ontology::{Aggregation, DataType, Ontology};
use crate::model::plan::{Plan, Shown, Value};
use crate::model::table::Table;

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub check: String,
    pub passed: bool,
    /// What was seen, as a sentence.
    pub says: String,
}

/// Whether a result can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// All findings passed.
    pub passed: bool,
    pub findings: Vec<Finding>,
    /// What people should know although nothing is wrong.
    pub caveats: Vec<String>,
    /// That not all rows are here.
    pub cut: Option<String>,
}

/// The least and greatest value that a field is known to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    pub dataset: String,
    pub field: String,
    pub min: f64,
    pub max: f64,
}

/// Judges a result. `checks` is the result of [`Compiled::checks_sql`], `None` when it was not looked up.
pub fn verify(
    compiled: &Compiled,
    plan: &Plan,
    ontology: &Ontology,
    result: &Table,
    checks: Option<&Table>,
    bounds: &[Bounds],
) -> Verdict {
    let mut judge = Judge { compiled, plan, ontology, result, findings: Vec::new(), caveats: Vec::new() };
    if judge.shape() {
        let numbers = checks.map(only_row);
        for check in &compiled.checks {
            judge.check(check, numbers);
        }
        for (at, column) in compiled.columns.iter().enumerate() {
            judge.column(at, column, bounds);
        }
    }
    let cut = result.truncated.then(|| format!("There are more rows than the {} shown.", grouped(result.rows.len())));
    Verdict {
        passed: judge.findings.iter().all(|finding| finding.passed),
        findings: judge.findings,
        caveats: judge.caveats,
        cut,
    }
}

/// A number of rows, or a total, as people write it.
fn shown(number: f64) -> String {
    bare(&Json::from(number), &Style::default())
}

/// The only row; nothing when there is not exactly one.
fn only_row(table: &Table) -> &[Json] {
    match table.rows.as_slice() {
        [row] => row,
        _ => &[],
    }
}

struct Judge<'a> {
    compiled: &'a Compiled,
    plan: &'a Plan,
    ontology: &'a Ontology,
    result: &'a Table,
    findings: Vec<Finding>,
    caveats: Vec<String>,
}

impl Judge<'_> {
    fn find(&mut self, check: impl Into<String>, passed: bool, says: impl Into<String>) {
        self.findings.push(Finding { check: check.into(), passed, says: says.into() });
    }

    /// The result has the columns that it should have.
    fn shape(&mut self) -> bool {
        let columns = self.compiled.columns.len();
        let fits = self.result.columns.len() == columns && self.result.rows.iter().all(|row| row.len() == columns);
        if !fits {
            self.find("shape", false, format!("The result does not have the {columns} columns that were asked for."));
        }
        fits
    }

    /// `looked_up` is the row of numbers; `None` when there is none.
    fn check(&mut self, check: &Check, looked_up: Option<&[Json]>) {
        let read = |at: usize| looked_up.and_then(|row| row.get(at)).and_then(number);
        let unread = || format!("It could not be looked up whether {}.", check.says);
        match &check.kind {
            CheckKind::OneSide { rows, keys } => match (read(*rows), read(*keys)) {
                (Some(rows), Some(keys)) if rows == keys => {
                    self.find(&check.name, true, format!("{}: {}.", sentence(&check.says), counted(rows, "row")));
                }
                (Some(rows), Some(keys)) => self.find(
                    &check.name,
                    false,
                    format!(
                        "It does not hold that {}: {} rows have {} different keys, so that numbers may count more than once.",
                        check.says,
                        shown(rows),
                        shown(keys)
                    ),
                ),
                _ => self.find(&check.name, false, unread()),
            },
            CheckKind::Partners { orphans, without, of, lost, optional, rows, from, to } => {
                let (Some(orphans), Some(without), Some(of)) = (read(*orphans), read(*without), read(*of)) else {
                    self.find(&check.name, false, unread());
                    return;
                };
                let lost = match lost.map(read) {
                    Some(None) => return self.find(&check.name, false, unread()),
                    Some(Some(lost)) => Some(lost),
                    None => None,
                };
                let none = shown(orphans + without);
                self.find(&check.name, true, format!("{none} of {} {rows} are without a {to}.", shown(of)));
                self.partners((orphans, without, of), lost, *optional, (rows, from, to));
            }
            CheckKind::Groups { without, of, groups, have } => {
                let (Some(without), Some(of)) = (read(*without), read(*of)) else {
                    self.find(&check.name, false, unread());
                    return;
                };
                let part = format!("{} of {} {groups}", shown(without), shown(of));
                self.find(&check.name, true, format!("{part} have {have}."));
                if without > 0.0 {
                    self.caveats.push(format!("{part} ({}) have {have}.", percent(without, of)));
                }
            }
            CheckKind::Total { measure, total, shared } => {
                self.total(check, *measure, looked_up.and_then(|row| row.get(*total)), *shared);
            }
            CheckKind::Units { different, amounts, by } => {
                let Some(different) = read(*different) else {
                    self.find(&check.name, false, unread());
                    return;
                };
                let several = different > 1.0;
                let units = if several { plural(by) } else { by.clone() };
                let says = format!("{amounts} is in {different} {units}");
                self.find(&check.name, true, format!("{says}."));
                let says = format!("{says}, taken together as if they were one: ask for one {by}, or by {by}.");
                if several && !self.caveats.contains(&says) {
                    self.caveats.push(says);
                }
            }
            CheckKind::Grain => self.grain(check),
        }
    }

    /// What people should know of rows without a partner.
    fn partners(
        &mut self,
        (orphans, without, of): (f64, f64, f64),
        lost: Option<f64>,
        optional: bool,
        (rows, from, to): (&str, &str, &str),
    ) {
        let told = |part: f64| format!("{} of {} {rows} ({})", shown(part), shown(of), percent(part, of));
        let none = orphans + without;
        let lost_rows = lost.unwrap_or_default();
        if lost_rows > 0.0 {
            self.caveats.push(format!("{} have no {to}, and are left out.", told(lost_rows)));
        }
        if lost.is_some() && none > lost_rows {
            self.caveats.push(format!("{} have no {to}, and count.", told(none - lost_rows)));
        }
        if orphans > 0.0 && !optional {
            let how = if lost_rows > 0.0 { "" } else { ": they count, without one" };
            self.caveats.push(format!("{} have a key of the {from} for a {to} that is not there{how}.", told(orphans)));
        }
        if without > 0.0 && lost.is_none() && !optional {
            self.caveats.push(format!("{} have no {to}.", told(without)));
        }
    }

    /// The parts add up to the total that was computed in another way, or none is more than it.
    fn total(&mut self, check: &Check, measure: usize, total: Option<&Json>, shared: bool) {
        let column = self.compiled.columns.iter().position(|column| column.role == Role::Measure(measure));
        let (Some(column), Some(total)) = (column, total) else {
            self.find(&check.name, false, format!("It could not be looked up whether {}.", check.says));
            return;
        };
        if self.result.truncated && !shared {
            let says = format!("Not all parts are here, so that it was not seen whether {}.", check.says);
            self.find(&check.name, true, says.clone());
            self.caveats.push(says);
            return;
        }
        let mut parts = Vec::new();
        for cell in self.result.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_null()) {
            let Some(part) = number(cell) else {
                self.find(&check.name, false, format!("{cell} is no number to add up."));
                return;
            };
            parts.push(part);
        }
        let total = match (total, number(total)) {
            (_, Some(total)) => total,
            // No value at all: then no part has one.
            (Json::Null, None) if parts.is_empty() => {
                self.find(&check.name, true, "There is no value, and no part has one.");
                return;
            }
            (Json::Null, None) => {
                let says = format!("{} parts have a value, but there is none without groups.", parts.len());
                self.find(&check.name, false, says);
                return;
            }
            (cell, None) => {
                self.find(&check.name, false, format!("The total {cell} is no number."));
                return;
            }
        };
        if shared {
            let most = parts.iter().copied().fold(0.0, f64::max);
            let holds = most <= total;
            let says = if holds {
                format!("No part is more than {}.", shown(total))
            } else {
                format!("A part is {most}, but the total without groups is {total}.")
            };
            self.find(&check.name, holds, says);
            return;
        }
        let sum: f64 = parts.iter().sum();
        let size = total.abs() + parts.iter().map(|part| part.abs()).sum::<f64>();
        let holds = (sum - total).abs() <= size * 1e-9 && !(parts.is_empty() && total != 0.0);
        let says = if holds {
            format!("The parts add up to {}.", shown(total))
        } else {
            format!("The parts add up to {sum}, but the total without groups is {total}.")
        };
        self.find(&check.name, holds, says);
    }

    /// The dimensions tell the rows apart.
    fn grain(&mut self, check: &Check) {
        let is_dimension = |column: &OutputColumn| matches!(column.role, Role::Dimension(_));
        let mut seen = BTreeSet::new();
        for row in &self.result.rows {
            let cells = row.iter().zip(&self.compiled.columns).filter(|(_, column)| is_dimension(column));
            let key: Vec<String> = cells.map(|(cell, _)| cell.to_string()).collect();
            if !seen.insert(key.clone()) {
                let says = format!("The group {} is there more than once.", key.join(", "));
                self.find(&check.name, false, says);
                return;
            }
        }
        self.find(&check.name, true, format!("{}.", sentence(&check.says)));
    }

    /// The values of a column are what they can be.
    fn column(&mut self, at: usize, column: &OutputColumn, bounds: &[Bounds]) {
        let Role::Measure(measure) = column.role else { return };
        let Some(measure) = self.plan.measures.get(measure) else { return };
        let cells: Vec<&Json> =
            self.result.rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_null()).collect();
        if cells.is_empty() {
            if !self.result.rows.is_empty() {
                self.caveats
                    .push(format!("{} has no value: there is nothing that it could be computed from.", column.heading));
            }
            return;
        }
        let is_plain = measure.shown_as.is_none();
        let check = format!("values:{at}");
        let counts = is_plain && column.datatype == DataType::Integer && !column.nullable;
        let is_share = matches!(measure.shown_as, Some(Shown::Share { .. }));
        let known = match &measure.value {
            Value::Aggregate { function, field } if is_plain => {
                let within =
                    matches!(function, Aggregation::Avg | Aggregation::Median | Aggregation::Min | Aggregation::Max);
                bounds.iter().find(|known| {
                    within
                        && known.dataset.eq_ignore_ascii_case(&field.dataset)
                        && known.field.eq_ignore_ascii_case(&field.field)
                })
            }
            _ => None,
        };
        if !(counts || is_share || known.is_some()) {
            return;
        }
        let is_number = self.is_number(&measure.value);
        for cell in cells {
            let Some(value) = number(cell) else {
                if is_number {
                    self.find(&check, false, format!("{} holds {cell}, which is no number.", column.heading));
                }
                return;
            };
            let wrong = if counts && (value < 0.0 || value.fract() != 0.0) {
                Some(format!("{} holds {value}, and a count is a whole number from 0 on.", column.heading))
            } else if is_share && !(-1e-9..=1.0 + 1e-9).contains(&value) {
                Some(format!(
                    "{} holds {value}: a share is between 0 and 1 unless some parts are negative.",
                    column.heading
                ))
            } else {
                known.filter(|known| value < known.min - slack(known) || value > known.max + slack(known)).map(
                    |known| {
                        format!(
                            "{} holds {value}, but the field is between {} and {}.",
                            column.heading, known.min, known.max
                        )
                    },
                )
            };
            if let Some(says) = wrong {
                self.find(&check, false, says);
                return;
            }
        }
        self.find(&check, true, format!("The values of {} are what they can be.", column.heading));
    }

    /// Whether a value must be one (the least and greatest may be a day or a text).
    fn is_number(&self, value: &Value) -> bool {
        match value {
            Value::Aggregate { function: Aggregation::Min | Aggregation::Max, field } => {
                self.ontology.field(&field.dataset, &field.field).is_some_and(|field| field.datatype.is_number())
            }
            _ => true,
        }
    }
}

/// What rounding may do to a mean.
fn slack(bounds: &Bounds) -> f64 {
    (bounds.min.abs() + bounds.max.abs()) * 1e-9
}

/// A cell as a number: large ones are texts.
fn number(cell: &Json) -> Option<f64> {
    match cell {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn percent(part: f64, of: f64) -> String {
    if of > 0.0 { format!("{:.1} %", part / of * 100.0) } else { "0 %".to_owned() }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
