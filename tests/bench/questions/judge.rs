//! What counts as right: the reference's columns are among the answer's, with the same rows as multisets.

use serde::Deserialize;
use serde_json::Value;

/// What is expected of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Answer,
    /// It must be asked about, or declined.
    Clarify,
    Decline,
    AnswerOrClarify,
}

impl Kind {
    pub fn has_answer(self) -> bool {
        matches!(self, Kind::Answer | Kind::AnswerOrClarify)
    }

    pub fn asked_back(self) -> Verdict {
        if self == Kind::Answer { Verdict::Silent } else { Verdict::Right }
    }

    pub fn declined(self) -> Verdict {
        if self == Kind::Decline { Verdict::Right } else { Verdict::Silent }
    }
}

/// How an answer is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Right,
    /// Nothing false was said, but not what was wanted either.
    Silent,
    /// A number that is not the one that was asked for.
    Wrong,
}

/// Relative difference under which numbers are equal.
const RELATIVE: f64 = 1e-6;

/// A value as it is compared.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Cell {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= (RELATIVE * one.abs().max(other.abs())).max(1e-9)
}

/// Days and times at midnight are the same text; a month or quarter is its first day.
fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(it) => Cell::Bool(*it),
        Value::Number(number) => Cell::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => {
            let text = text.trim();
            let is_date = text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
            let text = match is_date {
                true => text.trim_end_matches('Z').trim_end_matches("T00:00:00").to_owned(),
                false => text.to_owned(),
            };
            Cell::Text(text)
        }
        other => Cell::Text(other.to_string()),
    }
}

/// Exact numbers come as text: read as numbers where the other side has numbers, or both are such texts.
fn numeric(cells: &[Cell]) -> Option<Vec<Cell>> {
    let read = |cell: &Cell| match cell {
        Cell::Text(text) => text.parse().ok().map(Cell::Number),
        Cell::Bool(_) => None,
        other => Some(other.clone()),
    };
    cells.iter().map(read).collect()
}

/// Two columns on one footing.
fn footing(reference: &[Cell], answer: &[Cell]) -> (Vec<Cell>, Vec<Cell>) {
    match (numeric(reference), numeric(answer)) {
        (Some(reference), Some(answer)) => (reference, answer),
        _ => (reference.to_vec(), answer.to_vec()),
    }
}

fn equal(one: &Cell, other: &Cell) -> bool {
    match (one, other) {
        (Cell::Number(one), Cell::Number(other)) => near(*one, *other),
        (one, other) => one == other,
    }
}

/// Whether rows (given by columns) are equal as multisets.
fn same_rows(reference: &[Vec<Cell>], answer: &[Vec<Cell>]) -> bool {
    let rows = |columns: &[Vec<Cell>]| -> Vec<Vec<Cell>> {
        let count = columns.first().map_or(0, Vec::len);
        let mut rows: Vec<Vec<Cell>> =
            (0..count).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect();
        // What is not a number first: numbers that are nearly equal must not decide the order of the rest.
        let key = |row: &[Cell]| -> (Vec<String>, Vec<f64>) {
            let text = row.iter().map(|cell| match cell {
                Cell::Number(_) => String::new(),
                other => format!("{other:?}"),
            });
            let numbers = row.iter().map(|cell| if let Cell::Number(number) = cell { *number } else { 0.0 });
            (text.collect(), numbers.collect())
        };
        rows.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
        rows
    };
    let (reference, answer) = (rows(reference), rows(answer));
    reference.len() == answer.len()
        && reference.iter().zip(&answer).all(|(one, other)| one.iter().zip(other).all(|(a, b)| equal(a, b)))
}

/// See the module. When `ordered`, the last reference column, which is what is ranked by, has the same values in the
/// same order; rows that are tied may be exchanged.
pub fn matches(reference: &[Vec<Value>], answer: &[Vec<Value>], ordered: bool) -> bool {
    if reference.len() != answer.len() {
        return false;
    }
    if reference.is_empty() {
        return true;
    }
    let columns = |rows: &[Vec<Value>]| -> Vec<Vec<Cell>> {
        (0..rows[0].len()).map(|at| rows.iter().map(|row| cell(&row[at])).collect()).collect()
    };
    search(&columns(reference), &columns(answer), ordered, &mut Vec::new())
}

/// Gives each reference column a column of its own of the answer.
fn search(reference: &[Vec<Cell>], answer: &[Vec<Cell>], ordered: bool, taken: &mut Vec<usize>) -> bool {
    if taken.len() == reference.len() {
        let (ours, theirs): (Vec<_>, Vec<_>) =
            reference.iter().zip(taken.iter()).map(|(column, at)| footing(column, &answer[*at])).unzip();
        let in_order = || {
            let (Some(ours), Some(theirs)) = (ours.last(), theirs.last()) else { return true };
            ours.iter().zip(theirs).all(|(a, b)| equal(a, b))
        };
        return same_rows(&ours, &theirs) && (!ordered || in_order());
    }
    (0..answer.len()).any(|at| {
        if taken.contains(&at) {
            return false;
        }
        let (ours, theirs) = footing(&reference[taken.len()], &answer[at]);
        if !same_rows(&[ours], &[theirs]) {
            return false;
        }
        taken.push(at);
        let found = search(reference, answer, ordered, taken);
        taken.pop();
        found
    })
}
