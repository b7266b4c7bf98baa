//! Which engine a query runs in. It decides convenience, not safety: whatever engine it is judges the text by its own
//! parser and knows the permitted tables that live in it, and no others.

use std::collections::BTreeSet;

use serde_json::json;

use crate::base::id::Id;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::source::Source;

/// Where a query runs, with the tables that it may name there.
#[derive(Debug, PartialEq)]
pub enum Place<'a> {
    Here(Vec<&'a Dataset>),
    There(Id<Source>, Vec<&'a Dataset>),
}

/// Decides by the names of tables in the text: those after FROM and JOIN where there are any, otherwise all words. When
/// only one table may be used, its engine it is.
///
/// # Errors
/// `invalid_argument` when tables of several engines are named, with where each of them is.
pub fn place<'a>(datasets: &'a [Dataset], sql: &str) -> Result<Place<'a>> {
    let tables: Vec<&Dataset> = datasets.iter().filter(|dataset| dataset.kind == Kind::Table).collect();
    let home = |dataset: &Dataset| dataset.remote.as_ref().map(|remote| remote.source);
    let at = |source: Option<Id<Source>>| {
        let own = tables.iter().copied().filter(|dataset| home(dataset) == source).collect();
        match source {
            None => Place::Here(own),
            Some(source) => Place::There(source, own),
        }
    };
    if let [only] = tables.as_slice() {
        return Ok(at(home(only)));
    }
    if tables.iter().all(|dataset| dataset.remote.is_none()) {
        return Ok(Place::Here(tables));
    }
    let words = words(sql);
    let named = |words: &BTreeSet<&str>| -> Vec<&Dataset> {
        tables.iter().copied().filter(|dataset| words.contains(dataset.name.as_str())).collect()
    };
    let read = named(&words.iter().filter(|word| word.is_read).map(|word| word.text.as_str()).collect());
    let used = if read.is_empty() { named(&words.iter().map(|word| word.text.as_str()).collect()) } else { read };
    let homes: BTreeSet<Option<String>> = used.iter().map(|dataset| home(dataset).map(|id| id.to_string())).collect();
    match used.first() {
        None => Ok(at(None)),
        Some(first) if homes.len() == 1 => Ok(at(home(first))),
        Some(_) => Err(mixed(&used)),
    }
}

fn mixed(used: &[&Dataset]) -> Error {
    let dialect = |dataset: &Dataset| dataset.dialect().map_or("", |dialect| dialect.name());
    let source = |dataset: &Dataset| dataset.remote.as_ref().map(|remote| remote.source_name.clone());
    let lives = |dataset: &&Dataset| match source(dataset) {
        Some(source) => format!("{} in the source {source} ({})", dataset.name, dialect(dataset)),
        None => format!("{} in the service itself ({})", dataset.name, dialect(dataset)),
    };
    let message = format!(
        "One query runs in one engine, and these tables live in several: {}. Query each engine by itself, aggregated, \
         and combine the answers; each in its own dialect.",
        used.iter().map(lives).collect::<Vec<_>>().join("; ")
    );
    let tables: Vec<_> = used
        .iter()
        .map(|dataset| json!({ "name": dataset.name, "source": source(dataset), "dialect": dialect(dataset) }))
        .collect();
    Error::new(Code::InvalidArgument, message).with(json!({ "field": "sql", "tables": tables }))
}

/// A word of a text that can be a name.
struct Word {
    /// In lower case.
    text: String,
    /// Whether it stands where a table is read.
    is_read: bool,
}

#[derive(Default, Clone, Copy)]
struct Clause {
    /// The next word is a table.
    is_due: bool,
    /// A comma leads to another table.
    is_list: bool,
}

/// The words outside of strings and comments, less the names that the text itself defines (`WITH x AS (…)`).
fn words(sql: &str) -> Vec<Word> {
    let tokens = tokens(sql);
    let mut words: Vec<Word> = Vec::new();
    let mut defined = BTreeSet::new();
    let mut clauses = vec![Clause::default()];
    for (index, token) in tokens.iter().enumerate() {
        if token == ")" && clauses.len() > 1 {
            clauses.pop();
            continue;
        }
        let Some(clause) = clauses.last_mut() else { break };
        match token.as_str() {
            "(" => {
                let inner = Clause { is_due: clause.is_due, is_list: clause.is_due };
                clause.is_due = false;
                clauses.push(inner);
            }
            "," => clause.is_due = clause.is_list,
            "." => {}
            "from" | "using" => *clause = Clause { is_due: true, is_list: true },
            "join" | "table" | "describe" | "summarize" | "pivot" | "unpivot" => clause.is_due = true,
            "select" | "where" | "group" | "order" | "having" | "limit" | "on" | "union" | "except" | "intersect"
            | "window" | "qualify" => *clause = Clause::default(),
            "lateral" | "only" | "natural" | "left" | "right" | "inner" | "outer" | "full" | "cross" => {}
            name if name.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let follows = |at: usize, what: &str| tokens.get(index + at).is_some_and(|token| token == what);
                if follows(1, "as") && (follows(2, "(") || follows(2, "not") || follows(2, "materialized")) {
                    defined.insert(name.to_owned());
                }
                words.push(Word { text: name.to_owned(), is_read: clause.is_due });
                // A qualified name goes on.
                clause.is_due = clause.is_due && follows(1, ".");
            }
            _ => {}
        }
    }
    words.retain(|word| !defined.contains(&word.text));
    words
}

/// Words and signs in lower case, without strings and comments.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let skip_to = |end: &str, from: usize| {
            let tail = rest.get(from..).unwrap_or_default();
            tail.find(end).map_or(rest.len(), |at| from + at + end.len())
        };
        let length = if rest.starts_with("--") {
            skip_to("\n", 2)
        } else if rest.starts_with("/*") {
            skip_to("*/", 2)
        } else if first == '\'' {
            skip_to("'", 1)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            tokens.push(rest.get(..end).unwrap_or_default().to_lowercase());
            end
        } else {
            // The quotes around a name are no part of it.
            if "(),.".contains(first) {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::source::{RemoteTable, SourceEngine};

    /// `flights` and `planes` here; `orders` and `items` in one source, `events` in another.
    fn datasets() -> (Vec<Dataset>, Id<Source>, Id<Source>) {
        let clock = Clock::manual(1);
        let org = Id::new(&clock);
        let (shop, log) = (Id::new(&clock), Id::new(&clock));
        let dataset = |name: &str, source: Option<(Id<Source>, &str, SourceEngine)>| Dataset {
            externally_queryable: true,
            version: Some("1".into()),
            remote: source.map(|(source, source_name, engine)| RemoteTable {
                source,
                source_name: source_name.into(),
                engine,
                schema: "s".into(),
                table: name.into(),
            }),
            ..Dataset::new(Id::new(&clock), org, name, Kind::Table)
        };
        let of_shop = Some((shop, "shop", SourceEngine::Postgres));
        let all = vec![
            dataset("events", Some((log, "log", SourceEngine::ClickHouse))),
            dataset("flights", None),
            dataset("items", of_shop),
            dataset("orders", of_shop),
            dataset("planes", None),
        ];
        (all, shop, log)
    }

    #[test]
    fn the_tables_that_are_read_decide() {
        let (all, shop, log) = datasets();
        for (sql, home) in [
            ("SELECT 1", None),
            ("SELECT * FROM flights JOIN planes USING (tailnum)", None),
            ("FROM flights", None),
            ("SELECT * FROM orders", Some(shop)),
            ("SELECT * FROM Orders, ITEMS WHERE 1 = 1", Some(shop)),
            ("select * from \"orders\" o join lateral (select 1) x on true", Some(shop)),
            ("SELECT count(*) AS flights FROM orders", Some(shop)),
            ("SELECT flights, planes FROM orders", Some(shop)),
            ("SELECT 'flights' FROM orders -- planes", Some(shop)),
            ("SELECT /* flights */ * FROM (SELECT * FROM items) x", Some(shop)),
            ("WITH flights AS (SELECT * FROM orders) SELECT * FROM flights", Some(shop)),
            ("WITH flights AS NOT MATERIALIZED (SELECT * FROM orders) SELECT * FROM flights", Some(shop)),
            ("SELECT * FROM (orders JOIN items ON true)", Some(shop)),
            ("SELECT (SELECT max(at) FROM events)", Some(log)),
            ("DESCRIBE events", Some(log)),
            ("SELECT * FROM nothing_known", None),
        ] {
            let expected: Vec<&str> = match home {
                None => vec!["flights", "planes"],
                Some(home) if home == shop => vec!["items", "orders"],
                Some(_) => vec!["events"],
            };
            let placed = place(&all, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let (source, tables) = match placed {
                Place::Here(tables) => (None, tables),
                Place::There(source, tables) => (Some(source), tables),
            };
            assert_eq!(source, home, "{sql}");
            assert_eq!(tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), expected, "{sql}");
        }
    }

    #[test]
    fn tables_of_several_engines_do_not_meet() {
        let (all, ..) = datasets();
        for sql in
            ["SELECT * FROM flights, orders", "SELECT * FROM orders JOIN events ON true", "FROM flights JOIN items"]
        {
            let error = place(&all, sql).unwrap_err();
            assert_eq!(
                (error.code, error.details["tables"].as_array().map(Vec::len)),
                (Code::InvalidArgument, Some(2))
            );
        }
        let told = place(&all, "SELECT * FROM flights, orders").unwrap_err();
        assert!(told.message.contains("flights in the service itself (DuckDB)"), "{told}");
        assert!(told.message.contains("orders in the source shop (PostgreSQL)"), "{told}");
    }

    #[test]
    fn a_single_table_is_its_engine() {
        let (all, shop, _) = datasets();
        assert_eq!(place(&all[3..4], "SELECT 1").unwrap(), Place::There(shop, vec![&all[3]]));
        assert_eq!(place(&all[1..2], "SELECT * FROM orders").unwrap(), Place::Here(vec![&all[1]]));
        assert_eq!(place(&[], "SELECT 1").unwrap(), Place::Here(vec![]));
    }

    #[test]
    fn odd_texts_are_no_trouble() {
        let (all, ..) = datasets();
        for sql in ["'", "/*", "--", ")))((", "\"", "é'é", "FROM", "SELECT . , ("] {
            assert!(place(&all, sql).is_ok(), "{sql}");
        }
    }
}
