//! The narrative: the answer first, then how the question was read, then what to know about it.

use serde_json::Value;

use super::names::{nouns, sentence_case};
use super::restate::restate;
use super::ways::preferred;
use crate::engine::render::column::{Column, Role};
use crate::engine::render::digits::Digits;
use crate::engine::render::markdown::{escaped, table};
use crate::engine::render::nouns::capital;
use crate::engine::render::number::{self, NO_VALUE};
use crate::model::lineage::JoinUse;
use crate::model::ontology::Ontology;
use crate::model::plan::{By, Plan};
use crate::model::reading::Reading;
use crate::model::table::Table;

/// Rows of a result that are shown in the text.
const SHOWN: usize = 20;

/// What an answer is told from.
pub struct Facts<'a> {
    pub reading: &'a Reading,
    pub ontology: &'a Ontology,
    /// One for each column of the table.
    pub columns: &'a [Column],
    pub table: &'a Table,
    /// Those of its statement.
    pub joins: &'a [JoinUse],
    /// How many rows there are, where the table has not all of them and they were counted.
    pub total: Option<usize>,
    /// What makes the numbers less than they seem, as sentences.
    pub caveats: &'a [String],
    /// Whether the result was checked against the data.
    pub verified: bool,
}

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Markdown.
    pub narrative: String,
    /// The first part of it: what was found, without the table. Markdown.
    pub answer: String,
    /// How the question was read. Plain text.
    pub read_as: String,
}

/// Tells a result. Every number in the text is one of the result, of the reading, or a count of rows.
pub fn tell(facts: &Facts<'_>) -> Told {
    let answer = answer(facts);
    let plan = &facts.reading.plan;
    let ways = preferred(plan, facts.joins, facts.ontology);
    let read_as = [restate(plan, facts.ontology)].into_iter().chain(ways).collect::<Vec<_>>().join(", ");
    let mut parts = vec![answer.clone()];
    if !is_one_line(facts) {
        parts.push(rows(facts));
    }
    parts.push(remarks(&read_as, facts));
    Told { narrative: parts.join("\n\n"), answer, read_as }
}

/// How it was read, what was assumed, what to be careful with: each on a line of its own.
fn remarks(read_as: &str, facts: &Facts<'_>) -> String {
    let mut lines = vec![format!("_Read as: {}._", escaped_words(read_as))];
    let sentences = |texts: &[String]| texts.iter().map(|text| escaped_words(text)).collect::<Vec<_>>();
    lines.extend(sentences(&facts.reading.assumptions).into_iter().map(|text| format!("Assumed: {text}")));
    if facts.table.truncated {
        let count = group(facts.table.rows.len());
        lines.push(format!(
            "⚠️ The result was cut after {count} rows: there are more, and no total or rank holds for all."
        ));
    }
    lines.extend(sentences(facts.caveats).into_iter().map(|text| format!("⚠️ {text}")));
    if !facts.verified {
        lines.push("⚠️ Not verified: this result could not be checked against the data.".into());
    }
    lines.join("  \n")
}

/// Sentences of ours hold names and values of the data: escaped, but not cut as a value is.
fn escaped_words(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(escaped).collect();
    words.join(" ")
}

fn group(count: usize) -> String {
    Digits::parse(&count.to_string()).map(|digits| digits.text(true)).unwrap_or_default()
}

fn count_of_rows(count: usize) -> String {
    if count == 1 { "1 row".into() } else { format!("{} rows", group(count)) }
}

/// A result that the first sentence says whole.
fn is_one_line(facts: &Facts<'_>) -> bool {
    facts.table.rows.is_empty() || facts.table.rows.len() == 1
}

fn answer(facts: &Facts<'_>) -> String {
    let plan = &facts.reading.plan;
    match facts.table.rows.as_slice() {
        [] => nothing(plan, facts.ontology),
        [row] => one_row(row, facts),
        rows if plan.is_listing() => {
            let least = if facts.table.truncated && facts.total.is_none() { "at least " } else { "" };
            let count = facts.total.unwrap_or(rows.len());
            let nouns = plan.subject.as_deref().map(|subject| nouns(subject, facts.ontology));
            match nouns.filter(|_| !plan.distinct) {
                Some(nouns) => format!("**{least}{} {}.**", group(count), escaped_words(&nouns)),
                None => format!("**{least}{}.**", count_of_rows(count)),
            }
        }
        rows => several(rows, facts),
    }
}

/// What there is none of: the rows of a list by their noun.
fn nothing(plan: &Plan, ontology: &Ontology) -> String {
    let narrowed: Vec<&str> = [
        plan.time.as_ref().map(|_| "the time"),
        (!plan.filters.is_empty()).then_some("the conditions"),
        (!plan.having.is_empty()).then_some("the bounds on the numbers"),
        plan.limit.as_ref().filter(|limit| limit.skip > 0).map(|_| "the rank that was asked for"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let listed = plan.subject.as_deref().filter(|_| plan.is_listing());
    if let Some(dataset) = listed {
        let nouns = escaped_words(&nouns(dataset, ontology));
        return match narrowed.as_slice() {
            [] => format!("**There are no {nouns}.**"),
            narrowed => format!("**There are no {nouns}** that meet {}.", narrowed.join(" and ")),
        };
    }
    match narrowed.as_slice() {
        [] => "**No rows.** The data hold nothing that this question is about.".into(),
        narrowed => format!("**No rows.** Nothing in the data meets {}.", narrowed.join(" and ")),
    }
}

fn one_row(row: &[Value], facts: &Facts<'_>) -> String {
    let is_list = facts.reading.plan.is_listing();
    let is_subject = |column: &Column| column.role.is_dimension() && !is_list;
    let cells: Vec<(&Column, &Value)> = facts.columns.iter().zip(row).collect();
    let subjects: Vec<String> =
        cells.iter().filter(|(column, _)| is_subject(column)).map(|(column, value)| subject(column, value)).collect();
    let values: Vec<String> = cells
        .iter()
        .filter(|(column, _)| !is_subject(column))
        .map(|(column, value)| format!("{}: {}", escaped(&column.heading), cell(column, value)))
        .collect();
    let empty = !is_list && cells.iter().all(|(column, value)| is_subject(column) || value.is_null());
    let why = if empty { " No row with a value meets the question." } else { "" };
    match subjects.is_empty() {
        true => format!("**{}.**{why}", values.join("; ")),
        false => format!("**{}** – {}.{why}", capitalised_heading(&subjects.join(", "), facts), values.join("; ")),
    }
}

/// What a row is about: a value, or what it has none of. A number alone would say nothing: "policy number 17".
fn subject(column: &Column, value: &Value) -> String {
    let name = escaped(&sentence_case(&column.heading));
    match value {
        Value::Null => format!("(no {name})"),
        value if column.style.code => format!("{name} {}", cell(column, value)),
        value => cell(column, value),
    }
}

/// A sentence that begins with a heading begins with a capital; one that begins with a value leaves it as it is.
fn capitalised_heading(text: &str, facts: &Facts<'_>) -> String {
    match facts.columns.first() {
        Some(column) if column.style.code => capital(text),
        _ => text.to_owned(),
    }
}

fn cell(column: &Column, value: &Value) -> String {
    escaped(&column.with_unit(value))
}

/// The first sentence above a table: how a time series went, or who leads.
fn several(rows: &[Vec<Value>], facts: &Facts<'_>) -> String {
    let counted = count_of_rows(rows.len());
    let measure = facts.columns.iter().enumerate().find(|(_, column)| column.role == Role::Measure(0));
    let dimensions: Vec<usize> =
        facts.columns.iter().enumerate().filter(|(_, column)| column.role.is_dimension()).map(|(at, _)| at).collect();
    let (Some((measure, shown)), false) = (measure, facts.table.truncated || dimensions.is_empty()) else {
        return format!("**{counted}.**");
    };
    let Some(lead) = leader(rows, measure, facts) else { return format!("**{counted}**, none with a value.") };
    let name = |row: &[Value]| -> String {
        let part = |at: &usize| Some(subject(facts.columns.get(*at)?, row.get(*at)?));
        let parts = dimensions.iter().filter_map(part);
        parts.collect::<Vec<_>>().join(", ")
    };
    let value = |row: &[Value]| row.get(measure).map(|value| cell(shown, value)).unwrap_or_default();
    let heading = escaped(&sentence_case(&shown.heading));
    let timeline = match dimensions.as_slice() {
        [only] if facts.columns.get(*only).is_some_and(Column::is_timeline) => ends(rows, *only),
        _ => None,
    };
    if let Some((first, last)) = timeline {
        let (from, to) = (name(first), name(last));
        let shown_heading = escaped(&shown.heading);
        if rows.iter().all(|row| value(row) == value(first)) {
            return format!("**{shown_heading}**: {} throughout, from {from} to {to}.", value(first));
        }
        let more = if lead.equal > 0 { format!(" and {} more", group(lead.equal)) } else { String::new() };
        return format!(
            "**{shown_heading}**: {} in {from}, {} in {to}; {} in **{}**{more} with {}.",
            value(first),
            value(last),
            lead.word,
            name(lead.row),
            value(lead.row)
        );
    }
    let among = if facts.reading.plan.limit.is_some() { "these " } else { "" };
    match lead.equal {
        0 => format!(
            "**{}** has the {} {heading}: **{}** (of {among}{counted}).",
            capitalised_heading(&name(lead.row), facts),
            lead.word,
            value(lead.row)
        ),
        equal => format!(
            "**{}** and {} more share the {} {heading}: **{}** (of {among}{counted}).",
            capitalised_heading(&name(lead.row), facts),
            group(equal),
            lead.word,
            value(lead.row)
        ),
    }
}

/// Rows of the earliest and the latest time, where times are texts that sort as they follow.
fn ends(rows: &[Vec<Value>], time: usize) -> Option<(&[Value], &[Value])> {
    let dated = || rows.iter().filter(|row| row.get(time).is_some_and(|value| !value.is_null()));
    let key = |row: &&Vec<Value>| match row.get(time) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => format!("{:>24}", other.to_string()),
        None => String::new(),
    };
    let (first, last) = (dated().min_by_key(key)?, dated().max_by_key(key)?);
    (first != last).then_some((first.as_slice(), last.as_slice()))
}

/// The row with the highest value, or the lowest where the plan asks for the lowest first.
struct Leader<'a> {
    row: &'a [Value],
    word: &'static str,
    /// Other rows with just the same value.
    equal: usize,
}

fn leader<'a>(rows: &'a [Vec<Value>], measure: usize, facts: &Facts<'_>) -> Option<Leader<'a>> {
    let lowest = facts.reading.plan.order.first().is_some_and(|key| key.by == By::Measure(0) && !key.descending);
    let column = facts.columns.get(measure)?;
    let number = |row: &Vec<Value>| row.get(measure).and_then(|value| column.number(value));
    let mut best: Option<(&Vec<Value>, Digits, usize)> = None;
    for row in rows {
        let Some(digits) = number(row) else { continue };
        let order = best.as_ref().and_then(|(_, best, _)| digits.partial_cmp(best));
        match (order, lowest) {
            (None, _) | (Some(std::cmp::Ordering::Greater), false) | (Some(std::cmp::Ordering::Less), true) => {
                best = Some((row, digits, 0));
            }
            (Some(std::cmp::Ordering::Equal), _) => {
                if let Some((_, _, equal)) = best.as_mut() {
                    *equal += 1;
                }
            }
            _ => {}
        }
    }
    let (row, _, equal) = best?;
    Some(Leader { row, word: if lowest { "lowest" } else { "highest" }, equal })
}

/// The first rows as a table, and how many are left out.
fn rows(facts: &Facts<'_>) -> String {
    let headings: Vec<String> =
        facts.columns.iter().map(|column| escaped(&number::heading(&column.heading, &column.style))).collect();
    let right: Vec<bool> = facts
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            facts.table.rows.iter().any(|row| row.get(at).and_then(|value| column.number(value)).is_some())
        })
        .collect();
    let cells = |row: &Vec<Value>| -> Vec<String> {
        facts
            .columns
            .iter()
            .zip(row)
            .map(|(column, value)| if value.is_null() { format!("_{NO_VALUE}_") } else { escaped(&column.bare(value)) })
            .collect()
    };
    let shown: Vec<Vec<String>> = facts.table.rows.iter().take(SHOWN).map(cells).collect();
    let mut text = table(&headings, &right, &shown);
    let left = facts.table.rows.len() - shown.len();
    if left > 0 {
        let more = if left == 1 { "row" } else { "rows" };
        text.push_str(&format!("\n… and {} more {more}", group(left)));
    }
    text.trim_end().to_owned()
}
