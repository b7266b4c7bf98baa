//! Drafts of tables whose figures are made up.

mod evident;
mod figures;
mod identity;
mod references;
mod times;
mod values;
mod whole;
mod wording;

use super::*;
use crate::model::ontology::Entity;
use crate::model::personal::{Basis, Finding, Kind};

fn relationship_candidates(tables: &[DraftTable], facts: &Facts) -> Vec<Candidate> {
    super::relationship_candidates(tables, facts).0
}

/// A column of a test: name, type, different values, NULLs, least, greatest, samples.
struct Column(&'static str, &'static str, i64, i64, [&'static str; 2], &'static [&'static str]);

fn table(name: &str, rows: i64, columns: &[Column]) -> DraftTable {
    let info = |column: &Column| ColumnInfo {
        name: column.0.into(),
        r#type: column.1.into(),
        nullable: true,
        description: String::new(),
        sample_values: column.5.iter().map(|value| (*value).to_owned()).collect(),
        ..ColumnInfo::default()
    };
    let figures = |column: &Column| ColumnProfile {
        name: column.0.into(),
        r#type: column.1.into(),
        nulls: column.3,
        distinct: column.2,
        min: (!column.4[0].is_empty()).then(|| column.4[0].to_owned()),
        max: (!column.4[1].is_empty()).then(|| column.4[1].to_owned()),
        mean: None,
        median: None,
        not_finite: None,
        top_values: Vec::new(),
        approximate: Vec::new(),
        not_computed: Vec::new(),
        likely_personal_data: (["first_name", "last_name", "given_name"].contains(&column.0)).then(|| Finding {
            kind: Kind::PersonName,
            because: vec![Basis::Name],
            share: None,
        }),
    };
    DraftTable {
        name: name.into(),
        columns: columns.iter().map(info).collect(),
        profile: Some(Profile { row_count: rows, sampled_rows: None, columns: columns.iter().map(figures).collect() }),
        row_count: rows,
        ..DraftTable::default()
    }
}

fn wanted(name: &str) -> Wanted {
    Wanted { name: name.into(), ..Wanted::default() }
}

const NONE: [&str; 2] = ["", ""];

/// A shop: people, orders of them with two addresses each, lines, articles and their tags.
fn shop() -> Vec<DraftTable> {
    let int = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1", "2"]);
    vec![
        table(
            "customers",
            100,
            &[
                int("customer_id", 100),
                Column("first_name", "VARCHAR", 60, 0, NONE, &["Ann"]),
                Column("last_name", "VARCHAR", 90, 0, NONE, &["Lee"]),
                Column("birth_date", "DATE", 90, 0, NONE, &["1970-01-01"]),
                Column("valid", "BIGINT", 2, 0, ["0", "1"], &["0", "1"]),
            ],
        ),
        table(
            "addresses",
            150,
            &[
                int("address_id", 150),
                Column("city", "VARCHAR", 20, 0, NONE, &["Bonn"]),
                Column("zip", "BIGINT", 40, 0, ["10000", "99999"], &["10000"]),
            ],
        ),
        table(
            "orders",
            400,
            &[
                int("order_id", 400),
                int("cust_id", 90),
                int("billing_address_id", 90),
                Column("shipping_address_id", "BIGINT", 80, 12, ["1", "150"], &["1"]),
                Column("created_at", "TIMESTAMP", 400, 0, NONE, &[]),
                Column("order_date", "DATE", 200, 0, NONE, &["2024-01-05"]),
                Column("status", "VARCHAR", 3, 0, NONE, &["open", "paid"]),
                Column("comment", "VARCHAR", 300, 0, NONE, &["please ring"]),
            ],
        ),
        table(
            "order_items",
            1_000,
            &[
                int("order_id", 400),
                int("line_no", 9),
                int("product_id", 50),
                int("qty", 12),
                Column("unit_price", "DECIMAL(10,2)", 40, 0, ["0.5", "99"], &["1.50"]),
                Column("discount_pct", "DOUBLE", 5, 0, ["0", "20"], &["5"]),
            ],
        ),
        table(
            "products",
            50,
            &[
                int("productid", 50),
                Column("title", "VARCHAR", 50, 0, NONE, &["Lamp"]),
                Column("weight_kg", "DOUBLE", 30, 2, ["0.1", "20"], &["1.5"]),
                Column("stock", "BIGINT", 30, 0, ["0", "500"], &["12"]),
                Column("list_price", "DECIMAL(10,2)", 40, 0, ["0.5", "99"], &["1.50"]),
            ],
        ),
        table("tags", 8, &[int("id", 8), Column("name", "VARCHAR", 8, 0, NONE, &["new"])]),
        table(
            "product_tags",
            70,
            &[int("product_id", 50), int("tag_id", 8), Column("last_update", "TIMESTAMP", 1, 0, NONE, &[])],
        ),
    ]
}

/// Columns, and the tables in which all of their values are.
const REFER: &[(&str, &str)] = &[
    ("billing_address_id", "addresses"),
    ("brand", "firms"),
    ("car_id", "cars"),
    ("cust_id", "customers"),
    ("entry_id", "entries"),
    ("from_town", "towns"),
    ("lamp_id", "lamps"),
    ("order_id", "orders"),
    ("product_id", "products"),
    ("shipping_address_id", "addresses"),
    ("tag_id", "tags"),
    ("to_town", "towns"),
    ("town_id", "towns"),
];

/// How many values of a candidate are there: all, or none.
fn measured(candidate: &Candidate) -> Overlap {
    let refers = |column: &String| REFER.contains(&(column.as_str(), candidate.to.as_str()));
    Overlap { values: 80, found: if candidate.from_columns.iter().any(refers) { 80 } else { 0 } }
}

/// Answers every question: pairs of keys of the shop are keys, and what refers to something is there.
fn facts(tables: &[DraftTable]) -> Facts {
    let mut facts = Facts::default();
    loop {
        let open = key_candidates(tables, &facts);
        if open.is_empty() {
            break;
        }
        for candidate in open {
            let is_key =
                [["order_id", "line_no"], ["product_id", "tag_id"]].iter().any(|key| candidate.columns == *key);
            facts.keys.insert(candidate, is_key);
        }
    }
    for candidate in relationship_candidates(tables, &facts) {
        let overlap = measured(&candidate);
        facts.overlaps.insert(candidate, overlap);
    }
    facts
}

fn drafted() -> Draft {
    let tables = shop();
    draft(&wanted("shop"), &tables, &facts(&tables))
}

fn entity(name: &str) -> Entity {
    drafted().ontology.entity(name).unwrap().clone()
}

/// Trips between places whose code is called otherwise there.
fn trips() -> Vec<DraftTable> {
    let code = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["AAA", "BBB"]);
    vec![
        table("places", 300, &[code("iata", 300), Column("name", "VARCHAR", 299, 0, NONE, &["Aachen"])]),
        table(
            "trips",
            9_000,
            &[
                Column("id", "BIGINT", 9_000, 0, ["1", "9000"], &["1"]),
                code("orig", 40),
                code("dest", 60),
                Column("state", "VARCHAR", 4, 0, NONE, &["open", "done"]),
            ],
        ),
    ]
}

/// Tables whose keys are those of their names, and whose references hold.
fn made_of(tables: &[DraftTable]) -> Draft {
    draft(&wanted("it"), tables, &facts(tables))
}

fn key(name: &'static str, distinct: i64) -> Column {
    Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1", "2"])
}

/// A paper is told apart by `pid`, and so on: the first letter and "id". Keys of few rows, one after the other.
fn papers() -> Vec<DraftTable> {
    let id = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Ada Lovelace", "Alan Turing"]);
    vec![
        table("author", 12, &[id("aid", 12, "12"), text("name", 12), id("oid", 4, "5")]),
        table("organization", 5, &[id("oid", 5, "5"), text("name", 5)]),
        table(
            "paper",
            30,
            &[id("pid", 30, "30"), text("title", 30), Column("year", "BIGINT", 9, 0, ["1990", "1999"], &[])],
        ),
        table("writes", 40, &[id("aid", 12, "12"), id("pid", 30, "30")]),
        table("cite", 60, &[id("citing", 25, "30"), id("cited", 28, "30")]),
    ]
}

/// Measures candidates as if these columns held keys of these tables, and all others held none.
fn measured_by(tables: &[DraftTable], refers: &[(&str, &str, &str)]) -> Facts {
    let mut facts = Facts::default();
    for _ in 0..5 {
        for candidate in key_candidates(tables, &facts) {
            facts.keys.insert(candidate, false);
        }
    }
    for candidate in relationship_candidates(tables, &facts) {
        let [column] = candidate.from_columns.as_slice() else { continue };
        let holds = refers.contains(&(candidate.from.as_str(), column.as_str(), candidate.to.as_str()));
        facts.overlaps.insert(candidate, Overlap { values: 25, found: if holds { 25 } else { 5 } });
    }
    facts
}

fn shown(draft: &Draft) -> Vec<String> {
    let relationships = draft.ontology.relationships.iter();
    relationships.map(|it| format!("{}.{} {}", it.from, it.from_columns.join("+"), it.to)).collect()
}

/// What was decided of a column of a table, and why.
fn said_of(draft: &Draft, column: &str) -> String {
    let (table, column) = column.split_once('.').unwrap();
    let of = draft.columns.iter().find(|it| it.table == table).unwrap();
    let reasons = &of.columns.iter().find(|it| it.column == column).unwrap().reasons;
    reasons.iter().map(|it| format!("{}: {}", it.decided, it.because)).collect::<Vec<_>>().join(" ")
}

/// A club: members, lessons that are given by some of them and named by nobody's name, and what a member says of himself.
fn club() -> Vec<DraftTable> {
    let number = |name, distinct, least, most| Column(name, "BIGINT", distinct, 0, [least, most], &["7010"]);
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Fay", "Gil"]);
    vec![
        table(
            "members",
            90,
            &[number("member_id", 90, "7001", "7094"), text("name", 88), number("recommendedby", 30, "7001", "7060")],
        ),
        table(
            "lessons",
            400,
            &[
                number("lesson_id", 400, "1", "400"),
                number("given", 7, "7004", "7080"),
                number("fee", 40, "7010", "7090"),
                number("id_room", 9, "1", "9"),
                number("goals", 12, "0", "14"),
                number("first_half", 8, "1", "45"),
            ],
        ),
        table("member_notes", 60, &[number("member_id", 60, "7001", "7094"), text("title", 60)]),
    ]
}
