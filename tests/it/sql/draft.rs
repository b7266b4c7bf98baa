//! Ontologies drafted from tables that the engine measures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman::engine::job::{Job, Progress};
use dragoman::engine::ontology::draft::measure::measured;
use dragoman::engine::ontology::draft::{Draft, Wanted};
use dragoman::engine::sql::TableFormat;
use dragoman::model::dataset::{ColumnInfo, Dataset};
use dragoman::model::error::{Code, Result};
use tokio_util::sync::CancellationToken;

use super::house::House;

const TABLES: [(&str, &str); 5] = [
    (
        "people",
        "id,first_name,last_name,town\n1,Ann,Lee,Bonn\n2,Bob,Poe,Bonn\n3,Cy,Ray,Ulm\n4,Di,Lee,Ulm\n5,Ed,Roe,Ulm\n6,Flo,Fox,Bonn\n",
    ),
    (
        "orders",
        "order_id,person_id,ordered_on,amount\n1,1,2024-01-05,10.5\n2,2,2024-01-06,20\n3,2,2024-02-01,5\n4,,2024-02-02,7.25\n\
         5,3,2024-03-01,1\n6,6,2024-03-02,2\n",
    ),
    ("ports", "code,name\nAAA,Aachen\nBBB,Bremen\nCCC,Celle\nDDD,Dessau\nEEE,Emden\nFFF,Fulda\n"),
    (
        "trips",
        "trip_id,orig,dest,hours\n1,AAA,BBB,3\n2,AAA,CCC,4\n3,BBB,DDD,5\n4,BBB,AAA,3\n5,AAA,CCC,4\n6,BBB,AAA,3\n",
    ),
    ("riders", "trip_id,person_id\n1,1\n1,2\n2,1\n2,3\n3,1\n3,4\n"),
];

/// Drafts them within so many seconds, of which reading the third takes as many as `slow` says.
async fn drafted(
    house: &mut House,
    cancel: CancellationToken,
    [whole, slow]: [u64; 2],
) -> (Result<Draft>, Vec<Progress>) {
    for (name, content) in TABLES {
        house.add(name, TableFormat::Csv, content).await;
    }
    let datasets: Vec<Dataset> = TABLES.iter().map(|(name, _)| house.dataset(name).clone()).collect();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let receive = {
        let seen = seen.clone();
        Arc::new(move |progress| {
            let mut seen = seen.lock().unwrap();
            seen.push(progress);
            if seen.len() == 3 {
                std::thread::sleep(Duration::from_secs(slow));
            }
        })
    };
    let wanted = Wanted { name: "travel".into(), ..Wanted::default() };
    let pass = house.pass();
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(whole), cancel, Some(receive));
    let made = measured(&house.engine, &job, &wanted, &datasets, &BTreeMap::new()).await;
    let progress = std::mem::take(&mut *seen.lock().unwrap());
    (made, progress)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ontology_is_drafted_from_what_the_engine_measures() {
    let mut house = House::new(|_| {}).await;
    let (made, progress) = drafted(&mut house, CancellationToken::new(), [60, 0]).await;
    let Draft { ontology, notes, evidence, .. } = made.unwrap();
    assert_eq!(notes, [""; 0]);
    // Two and four values may be codes of ports by chance.
    let looked_at: Vec<&str> = evidence.iter().filter(|it| !it.sure).map(|it| it.decided.as_str()).collect();
    assert_eq!(looked_at, ["orig", "dest"].map(|column| format!("trips.{column} refers to ports.code")));

    let key = |name: &str| ontology.entity(name).unwrap().primary_key.clone();
    assert_eq!(key("people"), ["id"]);
    assert_eq!(key("ports"), ["code"]);
    assert_eq!(key("riders"), ["trip_id", "person_id"]);
    let shown: Vec<String> = ontology
        .relationships
        .iter()
        .map(|r| {
            format!("{}.{} {} {} {}", r.from, r.from_columns[0], r.to, r.role.as_deref().unwrap_or("-"), r.optional)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "orders.person_id people - true",
            "trips.orig ports orig false",
            "trips.dest ports dest false",
            "riders.trip_id trips - false",
            "riders.person_id people - false",
        ]
    );
    // The profile finds the names of people, which are not looked up in questions.
    let name = ontology.field("people", "last_name").unwrap();
    assert_eq!((name.pii.as_deref(), name.index_values), (Some("person_name"), false));
    assert!(ontology.field("people", "town").unwrap().is_enum);
    assert_eq!(ontology.entity("orders").unwrap().default_time_field.as_deref(), Some("ordered_on"));
    assert!(ontology.entity("riders").unwrap().hidden);

    let fractions: Vec<f64> = progress.iter().filter_map(|progress| progress.fraction).collect();
    assert!(fractions.is_sorted() && fractions.iter().all(|part| (0.0..=1.0).contains(part)), "{fractions:?}");
    assert!(progress.iter().any(|progress| progress.message == "Looking for relationships"));
}

/// Of a huge table keys are looked for in portions of all rows, and what it refers to in a sample.
#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_a_huge_table_is_found_and_a_number_that_comes_twice_is_none() {
    let mut house = House::new(|budgets| budgets.sql_time = Duration::from_secs(120)).await;
    // 108 million cells: too many for a profile of all rows.
    house.make(
        "sales",
        "SELECT i AS sale_id, 7000000 + CASE WHEN i = 11999999 THEN 3 ELSE i END AS receipt_no,
                CAST(hash(i) % 5000 + 1 AS BIGINT) AS product_id, 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e, 6 AS f
         FROM range(12000000) r(i)",
    );
    house.make("products", "SELECT i AS product_id, 'Lamp ' || i AS name FROM range(1, 5001) r(i)");
    let columns = |names: &[(&str, &str)]| -> Vec<ColumnInfo> {
        let column = |(name, r#type): &(&str, &str)| ColumnInfo {
            name: (*name).to_owned(),
            r#type: (*r#type).to_owned(),
            ..ColumnInfo::default()
        };
        names.iter().map(column).collect()
    };
    let [mut sales, mut products] = ["sales", "products"].map(|name| house.dataset(name).clone());
    sales.columns = columns(&[("sale_id", "BIGINT"), ("receipt_no", "BIGINT"), ("product_id", "BIGINT")]);
    products.columns = columns(&[("product_id", "BIGINT"), ("name", "VARCHAR")]);
    let datasets = [sales, products];
    let pass = house.pass();
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(300), CancellationToken::new(), None);
    let wanted = Wanted { name: "shop".into(), ..Wanted::default() };
    let made = measured(&house.engine, &job, &wanted, &datasets, &BTreeMap::new()).await.unwrap();
    let sales = made.ontology.entity("sales").unwrap();
    assert_eq!(sales.primary_key, ["sale_id"], "{:?}", made.notes);
    assert!(sales.unique_keys.is_empty(), "{:?}", sales.unique_keys);
    assert_eq!(made.ontology.relationships.len(), 1, "{:?}", made.notes);
    assert!(made.notes.iter().any(|note| note.contains("about 1000000 of its 12000000 rows")), "{:?}", made.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_nobody_waits_for_ends() {
    let mut house = House::new(|_| {}).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (made, _) = drafted(&mut house, cancel, [60, 0]).await;
    assert_eq!(made.unwrap_err().code, Code::QueryTimeout);
}

/// Of a thousand tables, or on a busy machine: what is drafted by names alone is better than nothing.
#[tokio::test(flavor = "multi_thread")]
async fn where_reading_takes_too_long_the_others_are_drafted_by_what_is_known() {
    let mut house = House::new(|_| {}).await;
    let (made, _) = drafted(&mut house, CancellationToken::new(), [30, 21]).await;
    let Draft { ontology, notes, .. } = made.unwrap();
    assert_eq!(ontology.datasets.len(), TABLES.len());
    let unread = "Not measured, because there was no time: the values of ";
    assert!(notes.iter().any(|note| note.starts_with(unread)), "{notes:?}");
    assert_eq!(ontology.entity("people").unwrap().primary_key, ["id"], "keys are measured still");
}
