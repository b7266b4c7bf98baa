//! Dictionaries as a table: CSV, or a table in Markdown. The first line names the columns.

use crate::engine::ontology::draft::dictionary::said::{self, Said, name, wrong};
use crate::model::error::Result;
use crate::model::ontology::Term;

/// What a column of a dictionary holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Table,
    Column,
    Description,
    Synonyms,
    Term,
    Means,
}

/// Reads a table whose first line names its columns: `table`, `column`, `description`, `synonyms` (parted by `;`), or
/// `term` and `means`. Commas or Markdown's bars part its cells.
pub(super) fn read(text: &str) -> Result<Said> {
    let mut rows = rows(text)?.into_iter();
    let Some((_, head)) = rows.next() else { return Ok(Said::default()) };
    let holds: Vec<Option<Holds>> = head.iter().map(|name| holds(name)).collect();
    let column = |wanted: Holds| holds.iter().position(|it| *it == Some(wanted));
    let described = column(Holds::Description).or(column(Holds::Synonyms)).is_some();
    let tables = column(Holds::Table).is_some() && described;
    let terms = column(Holds::Term).is_some() && column(Holds::Means).is_some();
    if !tables && !terms {
        let message = "The first line names the columns: table, column, description and synonyms, or term and means. \
                       Files of dbt, Frictionless and CSVW are read too, as they are.";
        return Err(wrong(message.to_owned()));
    }
    let mut said = Said::default();
    for (line, row) in rows {
        let cell = |wanted: Holds| {
            let text = column(wanted).and_then(|at| row.get(at)).map(String::as_str).unwrap_or_default();
            said::line(text)
        };
        let (table, column) = (name(&cell(Holds::Table), line)?, name(&cell(Holds::Column), line)?);
        let (term, means) = (name(&cell(Holds::Term), line)?, cell(Holds::Means));
        if !term.is_empty() && !means.is_empty() {
            said.terms.push(Term { term, means });
        } else if !table.is_empty() {
            let column = Some(column).filter(|column| !column.is_empty());
            let synonyms: Vec<String> = cell(Holds::Synonyms).split([';', '/']).map(str::to_owned).collect();
            said.entry(&vec![table], &column.into_iter().collect(), &cell(Holds::Description), &synonyms);
        }
    }
    Ok(said)
}

fn holds(name: &str) -> Option<Holds> {
    Some(match name.trim().to_lowercase().as_str() {
        "table" | "dataset" | "table name" | "table_name" => Holds::Table,
        "column" | "field" | "column name" | "column_name" => Holds::Column,
        "description" | "definition" | "comment" | "meaning" => Holds::Description,
        "synonyms" | "synonym" | "aliases" | "also called" | "other names" => Holds::Synonyms,
        "term" | "word" => Holds::Term,
        "means" | "stands for" => Holds::Means,
        _ => return None,
    })
}

/// The rows that are not empty, with the numbers of their lines.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.trim_start().starts_with('|') {
        let cells = |line: &str| {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>()
        };
        let lines = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with('|'));
        let rows = lines.map(|(at, line)| (at + 1, cells(line)));
        let ruled =
            |row: &Vec<String>| row.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| "-: ".contains(c)));
        return Ok(rows.filter(|(_, row)| !ruled(row)).collect());
    }
    separated(text)
}

/// RFC 4180: cells between commas, in quotes where they hold commas, quotes (doubled) or ends of lines.
fn separated(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut line, mut start) = (false, 1, 1);
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted || cell.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push((start, std::mem::take(&mut row)));
                start = line;
            }
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(wrong(format!("Line {start}: a quotation mark is not closed.")));
    }
    row.push(cell);
    rows.push((start, row));
    rows.retain(|(_, row)| row.iter().any(|cell| !cell.trim().is_empty()));
    Ok(rows)
}
