//! The queries of TPC-H's shape, whose right answers are known: joins, subqueries, sums of decimals, dates.

use dragoman::engine::sql::TableFormat;
use serde::Deserialize;
use serde_json::Value;

use super::house::House;

const TABLES: [(&str, &[u8]); 8] = [
    ("region", include_bytes!("../../data/tpch/region.parquet")),
    ("nation", include_bytes!("../../data/tpch/nation.parquet")),
    ("supplier", include_bytes!("../../data/tpch/supplier.parquet")),
    ("customer", include_bytes!("../../data/tpch/customer.parquet")),
    ("part", include_bytes!("../../data/tpch/part.parquet")),
    ("partsupp", include_bytes!("../../data/tpch/partsupp.parquet")),
    ("orders", include_bytes!("../../data/tpch/orders.parquet")),
    ("lineitem", include_bytes!("../../data/tpch/lineitem.parquet")),
];

#[derive(Deserialize)]
struct Query {
    nr: u32,
    sql: String,
}

/// A header line, then lines; fields are separated by `|`.
#[derive(Deserialize)]
struct Expected {
    nr: u32,
    answer: String,
}

/// Texts and decimals to the last digit, but for zeros behind the point; binary fractions as far as adding in another
/// order lets them agree.
fn agree(value: &Value, expected: &str) -> bool {
    let plain = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match value {
        Value::Null => expected.is_empty(),
        Value::String(text) => text == expected || plain(text) == plain(expected),
        Value::Number(number) if number.is_f64() => {
            let (number, expected) = (number.as_f64().unwrap(), expected.parse::<f64>().unwrap());
            (number - expected).abs() <= 1e-9 * expected.abs()
        }
        other => serde_json::from_str::<Value>(expected).is_ok_and(|expected| *other == expected),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answers_to_the_22_queries_are_right() {
    let mut house = House::new(|_| {}).await;
    for (name, bytes) in TABLES {
        house.add(name, TableFormat::Parquet, bytes).await;
    }
    let queries: Vec<Query> = serde_json::from_str(include_str!("../../data/tpch/queries.json")).unwrap();
    let answers: Vec<Expected> = serde_json::from_str(include_str!("../../data/tpch/answers_sf0.01.json")).unwrap();
    assert_eq!((queries.len(), answers.len()), (22, 22));
    for (Query { nr, sql }, expected) in queries.iter().zip(&answers) {
        assert_eq!(*nr, expected.nr);
        let table = house.query(sql).await.unwrap_or_else(|error| panic!("query {nr}: {error}")).table;
        let mut lines = expected.answer.lines();
        // A column without a name is called by its text here, and by its function there.
        let names = table.columns.iter().map(|column| column.name.split('(').next().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), lines.next().unwrap().split('|').collect::<Vec<_>>(), "query {nr}");
        let lines: Vec<&str> = lines.collect();
        assert_eq!((table.rows.len(), table.truncated), (lines.len(), false), "query {nr}");
        for (row, line) in table.rows.iter().zip(lines) {
            let fields: Vec<&str> = line.split('|').collect();
            let same = row.len() == fields.len() && row.iter().zip(&fields).all(|(value, field)| agree(value, field));
            assert!(same, "query {nr}:\n{row:?}\n{line}");
        }
    }
}
