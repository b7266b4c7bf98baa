//! Uploaded files into tables, through the real worker process.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dragoman::engine::job::{Job, OnProgress};
use dragoman::engine::sql::{ImportedTable, TableFormat, TableSource};
use dragoman::model::column_change::ColumnChange;
use dragoman::model::error::{Code, Error};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::house::House;

async fn import(house: &House, format: TableFormat, content: &[u8]) -> Result<ImportedTable, Error> {
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
    std::fs::write(&source, content).unwrap();
    let outcome = house.import(&source, format, &made).await;
    assert_eq!(made.exists(), outcome.is_ok());
    let left = if outcome.is_ok() { 2 } else { 1 };
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), left, "nothing but the source and the table");
    outcome
}

fn types(table: &ImportedTable) -> Vec<(&str, &str)> {
    table.columns.iter().map(|column| (column.name.as_str(), column.r#type.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_gets_types_from_all_rows_and_plain_names() {
    let house = House::new(|_| {}).await;
    let mut csv = "Flight No.,order,day,delay\n".to_owned();
    for i in 0..30_000 {
        csv += &format!("{i},a,2013-01-01,{}\n", if i == 7 { String::new() } else { i.to_string() });
    }
    csv += "X1,\"b, \"\"quoted\"\"\",2013-02-01,1.5\n";
    let table = import(&house, TableFormat::Csv, csv.as_bytes()).await.unwrap();
    let expected = [("flight_no", "VARCHAR"), ("c_order", "VARCHAR"), ("day", "DATE"), ("delay", "DOUBLE")];
    assert_eq!(types(&table), expected);
    assert_eq!(table.row_count, 30_001);
    assert_eq!(table.columns.iter().map(|column| column.nullable).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(table.columns[2].sample_values, ["2013-01-01", "2013-02-01"]);
    assert!(table.columns.iter().all(|column| column.sample_values.len() <= 5));
}

/// A row of a CSV file whose note has a second line.
fn noted(i: usize, amount: &str) -> String {
    format!("{i},{amount},\"a note\nof two lines\",411E{}\n", i % 9)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_words_among_numbers_are_told_with_their_lines_and_empty_when_people_say_that_they_are_numbers() {
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
    let rows = |odd: &str| -> String {
        let amount = |i: usize| if i == 7 || i == 400 { odd.to_owned() } else { i.to_string() };
        "id,amount,note,account\n".to_owned()
            + &(0..500).map(|i| noted(i, &amount(i))).collect::<String>()
            + "9,9,x,411\n"
    };
    std::fs::write(&source, rows("N/A")).unwrap();
    let table = house.import(&source, TableFormat::Csv, &made).await.unwrap();
    assert_eq!(types(&table)[1], ("amount", "VARCHAR"), "nothing is changed unasked");
    let says = "amount: 499 of 501 values are whole numbers; 2 are not: \"N/A\" (lines 16 and 802). It is text until you \
                give it the type BIGINT, which leaves these empty.";
    assert_eq!(table.hints.iter().map(|hint| hint.says.as_str()).collect::<Vec<_>>(), [says]);

    let (pass, time) = (house.pass(), Duration::from_secs(600));
    let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), None);
    let changes = [ColumnChange { column: "amount".into(), r#type: Some("BIGINT".into()), ..ColumnChange::default() }];
    let changed = TableSource { path: &source, format: TableFormat::Csv, changes: &changes };
    let table = house.engine.import(&job, changed, &folder.path().join("typed.duckdb")).await.unwrap();
    assert_eq!(types(&table)[1], ("amount", "BIGINT"));
    assert_eq!(types(&table)[3], ("account", "VARCHAR"), "what is told of one column leaves the codes in another");
    let says = "amount: 2 of 501 values say nothing and are left empty: \"N/A\" (lines 16 and 802).";
    assert_eq!(table.hints.iter().map(|hint| hint.says.as_str()).collect::<Vec<_>>(), [says]);
    assert_eq!((&table.rows[7][1], &table.rows[8][1]), (&None, &Some("8".to_owned())));

    std::fs::write(&source, rows("1.5")).unwrap();
    let unfit = house.engine.import(&job, changed, &folder.path().join("unfit.duckdb")).await.unwrap_err();
    assert_eq!((&unfit.details["line"], &unfit.details["problems"][1]["line"]), (&json!(16), &json!(802)), "{unfit}");
    assert!(unfit.message.contains("line 16, column amount: \"1.5\" is no BIGINT. 1 more is like it."), "{unfit}");

    // Rows that are added are held to the types that are there.
    std::fs::write(&source, rows("-")).unwrap();
    let plain = csv(&source);
    let both = folder.path().join("both.duckdb");
    let table = house.engine.append(&job, plain, &folder.path().join("typed.duckdb"), &both).await.unwrap();
    assert_eq!((table.row_count, types(&table)[1]), (1_002, ("amount", "BIGINT")));
    assert!(table.hints[0].says.contains("2 of 501 values say nothing and are left empty: \"-\""), "{:?}", table.hints);
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_read_as_the_whole_file_writes_them_and_told_where_they_could_be_others() {
    let house = House::new(|_| {}).await;
    let days = |table: &ImportedTable, column: usize| -> Vec<String> {
        table.rows.iter().map(|row| row[column].clone().unwrap_or_default()).collect()
    };
    let told = |table: &ImportedTable| -> Vec<String> { table.hints.iter().map(|hint| hint.says.clone()).collect() };
    let none: Vec<String> = vec![];

    // Years of two digits, which the engine takes for days; and a file without names.
    for csv in ["id,day\n1,31.12.24\n2,01.02.24\n", "1,31.12.24\n2,01.02.24\n"] {
        let table = import(&house, TableFormat::Csv, csv.as_bytes()).await.unwrap();
        assert_eq!(
            (days(&table, 1), told(&table)),
            (vec!["2024-12-31".into(), "2024-02-01".into()], none.clone()),
            "{csv}"
        );
        assert_eq!(types(&table)[1].1, "DATE");
    }
    // What another column says of the order holds for the one that says nothing, in a file whose first rows have no days.
    let csv = "Ordered,shipped,moment\n,,\n01/02/2024,01/31/2024,2024-02-01 10:30\n03/04/2024,,2024-02-01 10:30\n";
    let table = import(&house, TableFormat::Csv, csv.as_bytes()).await.unwrap();
    assert_eq!(
        (days(&table, 0), told(&table)),
        (vec![String::new(), "2024-01-02".into(), "2024-03-04".into()], none.clone())
    );
    assert_eq!(types(&table), [("Ordered", "DATE"), ("shipped", "DATE"), ("moment", "TIMESTAMP")]);
    // Where nothing says it, people are told, and can say it.
    let ambiguous = "id,Order day\n1,02-02-2024\n2,01-02-2024\n";
    let json = "[{\"id\": 1, \"Order day\": \"02-02-2024\"}, {\"id\": 2, \"Order day\": \"01-02-2024\"}]";
    for (format, text, place) in [(TableFormat::Csv, ambiguous, "line 3"), (TableFormat::Json, json, "record 2")] {
        let table = import(&house, format, text.as_bytes()).await.unwrap();
        assert_eq!(days(&table, 1), ["2024-02-02", "2024-02-01"], "{text}");
        let says = format!(
            "order_day: \"01-02-2024\" ({place}) was read as 1 February 2024, day first; all 2 values could be month first \
             too. If they are, give it the type DATE(MDY)."
        );
        assert_eq!((told(&table), table.hints[0].r#type.as_str()), (vec![says], "DATE(MDY)"), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
        std::fs::write(&source, text).unwrap();
        let (pass, time) = (house.pass(), Duration::from_secs(600));
        let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), None);
        let change = ColumnChange {
            column: "order_day".into(),
            name: Some("ordered".into()),
            r#type: Some("DATE(MDY)".into()),
            ..ColumnChange::default()
        };
        let changed = TableSource { path: &source, format, changes: &[change] };
        let table = house.engine.import(&job, changed, &made).await.unwrap();
        assert_eq!((days(&table, 1), told(&table)), (vec!["2024-02-02".into(), "2024-01-02".into()], none.clone()));
        assert_eq!(types(&table)[1], ("ordered", "DATE"));
    }
    // What the engine takes for days of the year 1 are sections.
    let table = import(&house, TableFormat::Csv, b"id,section\n1,1-2-3\n2,1-2-4\n").await.unwrap();
    assert_eq!((types(&table)[1], days(&table, 1)), (("section", "VARCHAR"), vec!["1-2-3".into(), "1-2-4".into()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_arrays_and_lines_become_tables() {
    let house = House::new(|_| {}).await;
    for content in
        ["[{\"a\": 1, \"b\": {\"c\": [1, 2]}},\n {\"a\": 2}]", "{\"a\": 1, \"b\": {\"c\": [1, 2]}}\n{\"a\": 2}\n"]
    {
        let table = import(&house, TableFormat::Json, content.as_bytes()).await.unwrap();
        assert_eq!(types(&table), [("a", "BIGINT"), ("b", "STRUCT(c BIGINT[])")], "{content}");
        assert_eq!(table.row_count, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parquet_keeps_its_types() {
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let parquet = folder.path().join("x.parquet");
    let writer = duckdb::Connection::open_in_memory().unwrap();
    let copy = format!(
        "COPY (SELECT 1::SMALLINT AS a, DATE '2013-01-01' AS d, to_timestamp(0) AS moment) TO '{}' (FORMAT parquet)",
        parquet.display()
    );
    writer.execute_batch(&copy).unwrap();
    let table = import(&house, TableFormat::Parquet, &std::fs::read(&parquet).unwrap()).await.unwrap();
    assert_eq!(
        types(&table),
        [("a", "SMALLINT"), ("d", "DATE"), ("moment", "TIMESTAMP WITH TIME ZONE")],
        "times with a zone keep it"
    );
    assert!(table.bytes < 200_000, "small blocks for a small table: {}", table.bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_parquet_says_of_its_columns_describes_them() {
    use duckdb::arrow::datatypes::{DataType, Field, Schema};
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let described = HashMap::from([("description".to_owned(), "When it was ordered".to_owned())]);
    let schema = Schema::new(vec![Field::new("Order Date", DataType::Date32, true).with_metadata(described)]);
    let mut arrow = Vec::new();
    drop(arrow_ipc::writer::StreamWriter::try_new(&mut arrow, &schema).unwrap());
    let spark = r#"{"type":"struct","fields":[{"name":"id","metadata":{"comment":"Of the order"}}]}"#;
    for (key, value, described) in [
        ("ARROW:schema", STANDARD.encode(arrow).as_str(), [("id", ""), ("order_date", "When it was ordered")]),
        ("org.apache.spark.sql.parquet.row.metadata", spark, [("id", "Of the order"), ("order_date", "")]),
        ("ARROW:schema", "no schema", [("id", ""), ("order_date", "")]),
    ] {
        let parquet = folder.path().join("x.parquet");
        let copy = format!(
            "COPY (SELECT 1 AS id, DATE '2013-01-01' AS \"Order Date\") TO '{}' (FORMAT parquet, KV_METADATA {{'{key}': '{value}'}})",
            parquet.display()
        );
        duckdb::Connection::open_in_memory().unwrap().execute_batch(&copy).unwrap();
        let table = import(&house, TableFormat::Parquet, &std::fs::read(&parquet).unwrap()).await.unwrap();
        let found: Vec<(&str, &str)> =
            table.columns.iter().map(|column| (column.name.as_str(), column.description.as_str())).collect();
        assert_eq!(found, described, "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_refused_with_its_place() {
    let house = House::new(|_| {}).await;
    let many = (0..5_000).map(|i| format!("{i},x\n")).collect::<String>();
    let cases: Vec<(TableFormat, Vec<u8>, &str, serde_json::Value)> = vec![
        (TableFormat::Csv, format!("a,b\n{many}7,y,z\n8,y\n").into(), "line", json!(5_002)),
        (TableFormat::Csv, b"id,name\n1,a\n2,\xff\xfe\n3,c\n".to_vec(), "line", json!(3)),
        (TableFormat::Json, b"{\"a\":1}\n{\"a\":2}\n{\"a\":x}\n{\"a\":4}\n".to_vec(), "line", json!(3)),
        (TableFormat::Parquet, b"PAR1 and nothing more".to_vec(), "field", json!("file")),
        (TableFormat::Csv, vec![], "field", json!("file")),
        (TableFormat::Csv, b"a\0,b\n1,2\n".to_vec(), "field", json!("file")),
    ];
    for (format, content, key, value) in cases {
        let error = import(&house, format, &content).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument, "{error}");
        assert_eq!(error.details[key], value, "{error} {}", error.details);
        assert!(!error.message.contains("/tmp"), "{error}");
    }
}

/// Some seconds of work.
fn long() -> String {
    let row = |i: u64| format!("{i},{},{},some longer text to read {}\n", i * 7, i * 13 % 1_000, i * 31);
    (0..1_500_000).map(row).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_import_leaves_nothing() {
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
    std::fs::write(&source, long()).unwrap();
    let begun = Arc::new(tokio::sync::Notify::new());
    let seen = begun.clone();
    let on_progress: OnProgress = Arc::new(move |_| seen.notify_one());
    let (pass, time) = (house.pass(), Duration::from_secs(600));
    let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), Some(on_progress));
    tokio::select! {
        ended = house.engine.import(&job, csv(&source), &made) => {
            panic!("it ended before it could be interrupted: {ended:?}")
        }
        () = begun.notified() => {}
    }
    assert_eq!(names(folder.path()), ["source"]);
}

fn csv(path: &Path) -> TableSource<'_> {
    TableSource { path, format: TableFormat::Csv, changes: &[] }
}

/// Whether a process has the file open.
fn is_open(file: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut handles =
        processes.flat_map(|process| std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten());
    handles.any(|handle| std::fs::read_link(handle.path()).is_ok_and(|target| target == file))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_whose_caller_has_gone_or_whose_time_is_over_ends_with_its_worker_and_lets_the_next_begin() {
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
    std::fs::write(&source, long()).unwrap();
    let source = source.canonicalize().unwrap();
    let pass = house.pass();
    let gone = CancellationToken::new();
    let leaves = gone.clone();
    let on_progress: OnProgress = Arc::new(move |_| leaves.cancel());
    let long = Duration::from_secs(600);
    let jobs = [
        Job::new(&pass, &house.budgets, long, gone, Some(on_progress)),
        Job::new(&pass, &house.budgets, Duration::from_millis(300), CancellationToken::new(), None),
    ];
    for job in jobs {
        let ended = house.engine.import(&job, csv(&source), &made).await;
        assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
        assert_eq!(names(folder.path()), ["source"]);
        assert!(!is_open(&source), "its worker is gone");
    }
    // While another has the only place, who leaves does not wait for it, and takes it from nobody.
    let running = Job::new(&pass, &house.budgets, long, CancellationToken::new(), None);
    let first = house.engine.import(&running, csv(&source), &made);
    let mut first = std::pin::pin!(first);
    while !is_open(&source) {
        let looked = tokio::time::timeout(Duration::from_millis(10), &mut first).await;
        assert!(looked.is_err(), "it ended before it was seen to run: {looked:?}");
    }
    let waiting = Job::new(&pass, &house.budgets, long, CancellationToken::new(), None);
    waiting.cancel.cancel();
    let other = folder.path().join("other.duckdb");
    let began = Instant::now();
    let left = house.engine.import(&waiting, csv(&source), &other).await;
    assert_eq!(left.unwrap_err().code, Code::QueryTimeout);
    let short = Job::new(&pass, &house.budgets, Duration::from_millis(50), CancellationToken::new(), None);
    let late = house.engine.import(&short, csv(&source), &other).await;
    assert_eq!(late.unwrap_err().code, Code::QueryTimeout);
    assert!(began.elapsed() < Duration::from_secs(10));
    let looked = tokio::time::timeout(Duration::ZERO, &mut first).await;
    assert!(looked.is_err(), "the first has the place all the time: {looked:?}");
    running.cancel.cancel();
    assert_eq!(first.await.unwrap_err().code, Code::QueryTimeout);
    import(&house, TableFormat::Csv, b"a\n1\n").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_rises_over_all_that_an_import_does() {
    let house = House::new(|_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("source"), folder.path().join("made.duckdb"));
    // Rows enough for the reading to be seen, and columns enough for what comes after it.
    let line =
        |row: usize| (0..300).map(|column| ((row + column) % 10).to_string()).collect::<Vec<_>>().join(",") + "\n";
    let header = (0..300).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    std::fs::write(&source, header + "\n" + &(0..10).map(line).collect::<String>().repeat(6_000)).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let on_progress: OnProgress = Arc::new(move |told| sink.lock().unwrap().push(told.fraction.unwrap()));
    let (pass, time) = (house.pass(), Duration::from_secs(600));
    let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), Some(on_progress));
    house.engine.import(&job, csv(&source), &made).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() >= 2, "{seen:?}");
    assert!(seen.is_sorted() && seen.iter().all(|fraction| (0.0..=1.0).contains(fraction)), "{seen:?}");
}

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
