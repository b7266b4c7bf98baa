//! Statements for who looks through a table without writing SQL: the rows that say something, in an order. Names and texts
//! become parts of a statement in the table's own dialect; it is judged and run like any other.

use crate::model::dataset::Dataset;
use crate::model::source::{Dialect, quoted};

/// Bytes of the columns that break ties.
const TIES: usize = 2_000;

/// Which rows, and in which order. Columns are the table's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection<'a> {
    /// A column, and what its text has anywhere; upper and lower case are the same.
    pub contains: Option<(&'a str, &'a str)>,
    /// A column, and whether the greatest comes first. NULLs come last.
    pub sort: Option<(&'a str, bool)>,
}

/// The statement for all of these rows, without an end.
pub fn statement(dataset: &Dataset, selection: &Selection<'_>) -> String {
    let dialect = dataset.dialect().unwrap_or(Dialect::DuckDb);
    let mut sql = format!("SELECT * FROM {}", name(dialect, &dataset.name));
    if let Some((column, text)) = selection.contains {
        sql.push_str(&format!("\nWHERE {}", says(dialect, &name(dialect, column), &dialect.text(text))));
    }
    if let Some((column, greatest_first)) = selection.sort {
        let order = if greatest_first { "DESC" } else { "ASC" };
        sql.push_str(&format!("\nORDER BY {} {order} NULLS LAST", name(dialect, column)));
        sql.push_str(&ties(dialect, dataset, column));
    }
    sql
}

/// So many of them, after so many others.
pub fn page(statement: &str, limit: usize, offset: usize) -> String {
    format!("{statement}\nLIMIT {limit} OFFSET {offset}")
}

/// The statement for the row of a key, in these columns alone; of two, that it is no key. Columns are the table's own,
/// and each value is a text that the engine reads in its column's type.
pub fn by_key(dataset: &Dataset, columns: &[&str], key: &[(&str, &str)]) -> String {
    let dialect = dataset.dialect().unwrap_or(Dialect::DuckDb);
    let shown: Vec<String> = columns.iter().map(|column| name(dialect, column)).collect();
    let is = |(column, value): &(&str, &str)| format!("{} = {}", name(dialect, column), dialect.text(value));
    let key: Vec<String> = key.iter().map(is).collect();
    let table = name(dialect, &dataset.name);
    format!("SELECT {} FROM {table}\nWHERE {}\nLIMIT 2", shown.join(", "), key.join(" AND "))
}

/// How a column tells the rows of a table apart: the rows that have a value there, the different ones among them, and the
/// greatest value of another column as a text, if there is one.
pub fn facts(dataset: &Dataset, key: &str, greatest: Option<&str>) -> String {
    let dialect = dataset.dialect().unwrap_or(Dialect::DuckDb);
    let (table, key) = (name(dialect, &dataset.name), name(dialect, key));
    let greatest = greatest
        .map_or_else(String::new, |column| format!(", {}", text(dialect, &format!("MAX({})", name(dialect, column)))));
    format!("SELECT COUNT({key}), COUNT(DISTINCT {key}){greatest} FROM {table}")
}

/// Rows in the order of their key: first the key as a text, then the columns.
#[derive(Clone, Copy, Debug)]
pub struct Keyed<'a> {
    pub key: &'a str,
    pub columns: &'a [&'a str],
    /// Those after this key alone.
    pub after: Option<&'a str>,
    /// Those alone whose column has this value, a greater one, or none.
    pub since: Option<(&'a str, &'a str)>,
    /// Those of these keys alone.
    pub among: Option<&'a [String]>,
    pub limit: usize,
}

/// The statement for some rows of a table. Rows without a key are left out.
pub fn keyed(dataset: &Dataset, rows: Keyed<'_>) -> String {
    let dialect = dataset.dialect().unwrap_or(Dialect::DuckDb);
    let key = name(dialect, rows.key);
    let columns = rows.columns.iter().map(|column| name(dialect, column));
    let columns: Vec<String> = std::iter::once(text(dialect, &key)).chain(columns).collect();
    let mut conditions = vec![format!("{key} IS NOT NULL")];
    if let Some(after) = rows.after {
        conditions.push(format!("{key} > {}", dialect.text(after)));
    }
    if let Some((column, value)) = rows.since {
        let (column, value) = (name(dialect, column), dialect.text(value));
        conditions.push(format!("({column} >= {value} OR {column} IS NULL)"));
    }
    if let Some(among) = rows.among {
        let among: Vec<String> = among.iter().map(|value| dialect.text(value)).collect();
        conditions.push(format!("{key} IN ({})", among.join(", ")));
    }
    let (columns, table, conditions) = (columns.join(", "), name(dialect, &dataset.name), conditions.join(" AND "));
    // Of the table: the text beside it has the same name for some engines, and another order.
    format!("SELECT {columns} FROM {table}\nWHERE {conditions}\nORDER BY {table}.{key}\nLIMIT {}", rows.limit)
}

/// Equal rows have no order of their own, and would be on two pages or on none: the other columns decide. Engines of
/// others have types without an order, for which they would refuse.
fn ties(dialect: Dialect, dataset: &Dataset, sorted: &str) -> String {
    let mut ties = String::new();
    if dialect != Dialect::DuckDb {
        return ties;
    }
    for column in dataset.columns.iter().filter(|column| column.name != sorted) {
        let next = format!(", {}", name(dialect, &column.name));
        if ties.len() + next.len() > TIES {
            break;
        }
        ties.push_str(&next);
    }
    ties
}

fn says(dialect: Dialect, column: &str, part: &str) -> String {
    let position = if dialect == Dialect::ClickHouse { "position" } else { "strpos" };
    format!("{position}(lower({}), lower({part})) > 0", text(dialect, column))
}

/// A value as the engine writes it.
fn text(dialect: Dialect, value: &str) -> String {
    match dialect {
        Dialect::DuckDb => format!("CAST({value} AS VARCHAR)"),
        Dialect::PostgreSql => format!("CAST({value} AS text)"),
        Dialect::ClickHouse => format!("toString({value})"),
    }
}

fn name(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::DuckDb | Dialect::PostgreSql => quoted(name),
        // ClickHouse reads escapes in names too.
        Dialect::ClickHouse => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;
    use crate::model::dataset::{ColumnInfo, Kind};
    use crate::model::source::{RemoteTable, SourceEngine};

    fn table(engine: Option<SourceEngine>) -> Dataset {
        let clock = Clock::manual(0);
        let column = |name: &str| ColumnInfo { name: name.into(), ..ColumnInfo::default() };
        let remote = |engine| RemoteTable {
            source: Id::new(&clock),
            source_name: "shop".into(),
            engine,
            schema: "public".into(),
            table: "t".into(),
        };
        Dataset {
            version: Some("v1".into()),
            columns: ["a", "b\"c", "d"].map(column).into(),
            remote: engine.map(remote),
            ..Dataset::new(Id::new(&clock), Id::new(&clock), "t", Kind::Table)
        }
    }

    #[test]
    fn a_key_is_names_and_texts_and_nothing_else_in_every_dialect() {
        let key = [("a", "1' OR '1'='1"), ("b\"c", "x\\")];
        let duckdb =
            "SELECT \"d\", \"b\"\"c\" FROM \"t\"\nWHERE \"a\" = '1'' OR ''1''=''1' AND \"b\"\"c\" = 'x\\'\nLIMIT 2";
        for engine in [None, Some(SourceEngine::Postgres)] {
            assert_eq!(by_key(&table(engine), &["d", "b\"c"], &key), duckdb);
        }
        let clickhouse =
            "SELECT \"d\", \"b\\\"c\" FROM \"t\"\nWHERE \"a\" = '1'' OR ''1''=''1' AND \"b\\\"c\" = 'x\\\\'\nLIMIT 2";
        assert_eq!(by_key(&table(Some(SourceEngine::ClickHouse)), &["d", "b\"c"], &key), clickhouse);
    }

    #[test]
    fn names_and_texts_stay_what_they_are_in_every_dialect() {
        let selection = Selection { contains: Some(("b\"c", "it's \\ 5%")), sort: Some(("a", true)) };
        let duckdb = "SELECT * FROM \"t\"\nWHERE strpos(lower(CAST(\"b\"\"c\" AS VARCHAR)), lower('it''s \\ 5%')) > 0\n\
                      ORDER BY \"a\" DESC NULLS LAST, \"b\"\"c\", \"d\"";
        assert_eq!(statement(&table(None), &selection), duckdb);
        let postgres = "SELECT * FROM \"t\"\nWHERE strpos(lower(CAST(\"b\"\"c\" AS text)), lower('it''s \\ 5%')) > 0\n\
                        ORDER BY \"a\" DESC NULLS LAST";
        assert_eq!(statement(&table(Some(SourceEngine::Postgres)), &selection), postgres);
        let clickhouse = "SELECT * FROM \"t\"\nWHERE position(lower(toString(\"b\\\"c\")), lower('it''s \\\\ 5%')) > 0\n\
                          ORDER BY \"a\" DESC NULLS LAST";
        assert_eq!(statement(&table(Some(SourceEngine::ClickHouse)), &selection), clickhouse);
    }

    #[test]
    fn rows_come_in_the_order_of_their_key_in_every_dialect() {
        let rows =
            Keyed { key: "a", columns: &["d"], after: Some("o'1"), since: Some(("d", "5")), among: None, limit: 9 };
        let among = ["x\\".to_owned(), "y".to_owned()];
        let some = Keyed { after: None, since: None, among: Some(&among), ..rows };
        let sql = keyed(&table(None), rows);
        let end = "AND \"a\" > 'o''1' AND (\"d\" >= '5' OR \"d\" IS NULL)\nORDER BY \"t\".\"a\"\nLIMIT 9";
        assert_eq!(sql, format!("SELECT CAST(\"a\" AS VARCHAR), \"d\" FROM \"t\"\nWHERE \"a\" IS NOT NULL {end}"));
        let sql = keyed(&table(Some(SourceEngine::ClickHouse)), some);
        let end = "AND \"a\" IN ('x\\\\', 'y')\nORDER BY \"t\".\"a\"\nLIMIT 9";
        assert_eq!(sql, format!("SELECT toString(\"a\"), \"d\" FROM \"t\"\nWHERE \"a\" IS NOT NULL {end}"));
        let sql = facts(&table(Some(SourceEngine::Postgres)), "a", Some("d"));
        assert_eq!(sql, "SELECT COUNT(\"a\"), COUNT(DISTINCT \"a\"), CAST(MAX(\"d\") AS text) FROM \"t\"");
    }

    #[test]
    fn without_a_wish_there_is_neither_condition_nor_order() {
        assert_eq!(statement(&table(None), &Selection::default()), "SELECT * FROM \"t\"");
        assert_eq!(page("SELECT 1", 51, 100), "SELECT 1\nLIMIT 51 OFFSET 100");
    }
}
