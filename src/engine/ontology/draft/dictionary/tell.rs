//! What a dictionary says, told to the tables that it is about.
//!
//! What it declares wins over what names and values make likely, but not over the data: a key that is there twice is
//! none, whoever wrote that it is one.

use std::collections::{BTreeSet, HashMap};

use crate::engine::ontology::draft::columns::is_unique;
use crate::engine::ontology::draft::dictionary::alike::Known;
use crate::engine::ontology::draft::dictionary::said::{Entry, Key, Names, Reference, Said};
use crate::engine::ontology::draft::{DraftTable, ForeignKey};

/// Writes it into the tables; what is not there and what the data speak against is said.
pub(super) fn tell(said: &Said, tables: &mut [DraftTable]) -> Vec<String> {
    let mut place = Place::of(said, tables);
    let mut notes = said.left_out.clone();
    for entry in &said.entries {
        describe(entry, tables, &mut place, &mut notes);
    }
    for (table, column) in &said.personal {
        if let Some((at, name)) = place.column(table, column)
            && let Some(table) = tables.get_mut(at)
        {
            table.told.personal.insert(name);
        }
    }
    for values in &said.values {
        if let Some((at, name)) = place.column(&values.table, &values.column)
            && let Some(table) = tables.get_mut(at)
            && !table.values.contains_key(&name)
        {
            table.told.values.insert(name, values.values.clone());
        }
    }
    for key in &said.keys {
        notes.extend(tell_key(key, tables, &place));
    }
    for reference in &said.references {
        notes.extend(tell_reference(reference, tables, &place));
    }
    let mut once = BTreeSet::new();
    notes.retain(|note| once.insert(note.clone()));
    notes
}

/// Where things are that a dictionary names.
struct Place {
    tables: Known,
    columns: Vec<Known>,
    names: Vec<Vec<String>>,
    /// The table of texts that do not say of which one they are.
    only: Option<usize>,
    /// What entries name, by the name that keys and references have for it: tables, and columns of a table.
    of_tables: HashMap<String, usize>,
    of_columns: HashMap<(usize, String), usize>,
}

impl Place {
    fn of(said: &Said, tables: &[DraftTable]) -> Self {
        let names = |table: &DraftTable| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        let names: Vec<Vec<String>> = tables.iter().map(names).collect();
        let columns: Vec<Known> = names.iter().map(|names| Known::new(names.iter().map(String::as_str))).collect();
        // The one that has all of the columns.
        let own = || said.entries.iter().filter(|entry| entry.table.is_empty());
        let has = |known: &Known| own().count() > 0 && own().all(|entry| known.first(&entry.column).is_some());
        let mut having = columns.iter().enumerate().filter(|(_, known)| has(known)).map(|(at, _)| at);
        let only = match (having.next(), having.next()) {
            (Some(one), None) => Some(one),
            _ => (tables.len() == 1).then_some(0),
        };
        let tables = Known::new(tables.iter().map(|table| table.name.as_str()));
        Self { tables, columns, names, only, of_tables: HashMap::new(), of_columns: HashMap::new() }
    }

    fn table(&self, names: &Names) -> Option<usize> {
        let named = || names.iter().find_map(|name| self.of_tables.get(name).copied());
        if names.is_empty() { self.only } else { self.tables.first(names).or_else(named) }
    }

    fn of_table(&self, table: usize, column: &Names) -> Option<usize> {
        let named = || column.iter().find_map(|name| self.of_columns.get(&(table, name.clone())).copied());
        self.columns.get(table)?.first(column).or_else(named)
    }

    fn column(&self, table: &Names, column: &Names) -> Option<(usize, String)> {
        let table = self.table(table)?;
        let at = self.of_table(table, column)?;
        Some((table, self.names.get(table)?.get(at)?.clone()))
    }

    /// The names that columns have here; which one is not there.
    fn columns(&self, table: usize, columns: &[String]) -> Result<Vec<String>, String> {
        let found = columns.iter().map(|name| {
            let at = self.of_table(table, &vec![name.clone()]);
            at.and_then(|at| self.names.get(table)?.get(at).cloned()).ok_or_else(|| name.clone())
        });
        found.collect()
    }
}

fn describe(entry: &Entry, tables: &mut [DraftTable], place: &mut Place, notes: &mut Vec<String>) {
    let at = place.table(&entry.table);
    let Some((at, table)) = at.and_then(|at| Some((at, tables.get_mut(at)?))) else {
        notes.push(match entry.table.first() {
            Some(name) => format!("The dictionary names a table {name}, which is not there."),
            None => {
                "The dictionary does not say of which table it is, and no single one has all of its columns.".to_owned()
            }
        });
        return;
    };
    let Some(name) = entry.column.first() else {
        place.of_tables.extend(entry.table.first().map(|name| (name.clone(), at)));
        if !entry.description.is_empty() {
            table.description.clone_from(&entry.description);
        }
        return;
    };
    let Some(column) = place.of_table(at, &entry.column) else {
        let table = &table.name;
        notes.push(format!("The dictionary names a column {name} of {table}, which is not there."));
        return;
    };
    place.of_columns.insert((at, name.clone()), column);
    if let Some(column) = table.columns.get_mut(column).filter(|_| !entry.description.is_empty()) {
        column.description.clone_from(&entry.description);
    }
}

/// A key that is declared, unless the database declares another or the data speak against it, which is said.
fn tell_key(key: &Key, tables: &mut [DraftTable], place: &Place) -> Option<String> {
    // Tables that are not there are named once.
    let at = place.table(&key.table)?;
    let columns = match place.columns(at, &key.columns) {
        Ok(columns) => columns,
        Err(name) => return Some(missing(tables.get(at)?, &name)),
    };
    let table = tables.get_mut(at)?;
    let (name, listed) = (table.name.clone(), columns.join(", "));
    if let Some(problem) = against(table, &columns) {
        // What may be empty is no key of rows, and only unique.
        return (key.filled || problem != EMPTY)
            .then(|| format!("The dictionary says that {listed} is a key of {name}, but {problem}: it is not taken."));
    }
    if table.primary_key == columns || table.unique_keys.contains(&columns) {
        return None;
    }
    if key.primary && table.primary_key.is_empty() {
        table.primary_key.clone_from(&columns);
        table.told.keys.insert(columns);
    } else if key.filled || filled(table, &columns) {
        table.unique_keys.push(columns.clone());
        table.told.keys.insert(columns);
    }
    None
}

const EMPTY: &str = "it is empty in some rows";

/// What the data say against a key; several columns are not compared here.
fn against(table: &DraftTable, columns: &[String]) -> Option<&'static str> {
    let rows = table.rows();
    let figures = || columns.iter().filter_map(|name| table.figures(name));
    if rows == 0 {
        return None;
    }
    if figures().any(|figures| figures.nulls > 0) {
        return Some(EMPTY);
    }
    let [_] = columns else { return None };
    let twice = figures().any(|figures| is_unique(figures, rows) == Some(false));
    twice.then_some("several rows have the same value in it")
}

/// Whether no row is without a value in them, as far as is known.
fn filled(table: &DraftTable, columns: &[String]) -> bool {
    let filled = |name: &String| match table.figures(name) {
        Some(figures) => figures.nulls == 0,
        None => table.column(name).is_some_and(|column| !column.nullable),
    };
    columns.iter().all(filled)
}

/// A reference that is declared, unless the database declares one of the same columns or what it leads to is no key.
fn tell_reference(reference: &Reference, tables: &mut [DraftTable], place: &Place) -> Option<String> {
    let at = place.table(&reference.table)?;
    let to = match reference.to.first() {
        None => at,
        Some(name) => match place.table(&reference.to) {
            Some(to) => to,
            None => {
                let from = &tables.get(at)?.name;
                return Some(format!("The dictionary says that {from} refers to {name}, which is not there."));
            }
        },
    };
    let (from, target) = (tables.get(at)?, tables.get(to)?);
    let columns = match place.columns(at, &reference.columns) {
        Ok(columns) => columns,
        Err(name) => return Some(missing(from, &name)),
    };
    let to_columns = match place.columns(to, &reference.to_columns) {
        Ok(columns) => columns,
        Err(name) => return Some(missing(target, &name)),
    };
    let (source, name) = (format!("{}.{}", from.name, columns.join(", ")), target.name.clone());
    let listed = to_columns.join(", ");
    if from.place != target.place {
        return Some(format!("{source} and {name} are in different places: no relationship."));
    }
    if to_columns.len() == 1
        && let Some(problem) = against(target, &to_columns).filter(|problem| *problem != EMPTY)
    {
        let says = format!("The dictionary says that {source} refers to {name}.{listed}");
        return Some(format!("{says}, but {problem}: no relationship."));
    }
    let table = tables.get_mut(at)?;
    if table.foreign_keys.iter().all(|key| key.columns != columns) {
        table.told.references.insert(columns.clone());
        table.foreign_keys.push(ForeignKey { columns, to: name, to_columns });
    }
    None
}

fn missing(table: &DraftTable, column: &str) -> String {
    format!("The dictionary names a column {column} of {}, which is not there.", table.name)
}
