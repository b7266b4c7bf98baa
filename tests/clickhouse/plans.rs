//! Plans over the tables of the question sets: those written for their questions, and for every field of the ontologies
//! those of all kinds. ClickHouse gives the rows that DuckDB gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dragoman::engine::agent::compiler::{Compiled, compile};
use dragoman::engine::ontology::graph::Graph;
use dragoman::engine::sql::remote::clickhouse::ClickHouse;
use dragoman::engine::sql::remote::{Address, Permitted, RemoteLimits};
use dragoman::model::ontology::{Aggregation, DataType, Field, Ontology};
use dragoman::model::plan::f64bits::F64;
use dragoman::model::plan::{
    Bound, By, Comparator, Comparison, Condition, Dimension, FieldRef, Grain, Having, Limit, Literal, Measure, Order,
    Pattern, Plan, Shown, TimeFilter, Value, Window,
};
use dragoman::model::source::Dialect;
use duckdb::Connection;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use super::{address, run};

/// The sets, where their tables are, and where their ontologies are.
const SETS: [(&str, &str, &str); 5] = [
    ("acme", "tests/data/acme", "tests/bench/questions/acme/ontology.yaml"),
    ("chinook", "tests/data/chinook", "tests/bench/questions/chinook/ontology.yaml"),
    ("sakila", "tests/data/sakila", "tests/bench/questions/sakila/ontology.yaml"),
    ("tpch", "tests/data/tpch", "tests/bench/questions/tpch/ontology.yaml"),
    ("flights", "src/ops/demo", "src/ops/demo/ontology.yaml"),
];
const FUNCTIONS: [Aggregation; 8] = [
    Aggregation::Sum,
    Aggregation::Avg,
    Aggregation::Median,
    Aggregation::Min,
    Aggregation::Max,
    Aggregation::Count,
    Aggregation::CountDistinct,
    Aggregation::Stddev,
];
const GRAINS: [Grain; 13] = [
    Grain::Hour,
    Grain::Day,
    Grain::Week,
    Grain::Month,
    Grain::Quarter,
    Grain::Year,
    Grain::FiscalQuarter,
    Grain::FiscalYear,
    Grain::HourOfDay,
    Grain::DayOfWeek,
    Grain::DayOfMonth,
    Grain::MonthOfYear,
    Grain::QuarterOfYear,
];
/// Plans of a set that are made.
const PLANS: usize = 600;
/// Rows of an answer.
const ROWS: u32 = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn plans_give_the_same_rows_in_both_engines() {
    let address = address();
    let mut wrong = Vec::new();
    let only = std::env::var("SET").unwrap_or_default();
    for (set, data, ontology) in SETS.into_iter().filter(|(set, ..)| only.is_empty() || only == *set) {
        let both = Both::load(set, Path::new(data), &address).await;
        let mut ontology =
            dragoman::engine::ontology::read::read(&std::fs::read_to_string(ontology).unwrap()).unwrap().ontology;
        ontology.calendar.fiscal_year_start = 4;
        let graph = Graph::new(&ontology);
        let written = std::fs::read_to_string(format!("tests/bench/questions/{set}/plans.json")).unwrap();
        let written: BTreeMap<String, Plan> = serde_json::from_str(&written).unwrap();
        let made = of_all_kinds(&ontology);
        // A part of them, of every kind: all take half an hour.
        let step = made.len().div_ceil(PLANS);
        let made = made.into_iter().enumerate().step_by(step).map(|(at, plan)| (format!("{set} {at}"), plan));
        let (mut same, mut refused, mut too_many) = (0, 0, 0);
        for (name, plan) in written.into_iter().chain(made) {
            let made = |dialect| compile(&plan, &ontology, &graph, dialect, ROWS);
            let (here, there) = match (made(Dialect::DuckDb), made(Dialect::ClickHouse)) {
                (Ok(here), Ok(there)) => (here, there),
                (Err(here), Err(there)) => {
                    assert_eq!(here, there, "{name}");
                    refused += 1;
                    continue;
                }
                (here, there) => {
                    wrong.push(format!("{name}: {:?} {:?}", here.map(|it| it.sql), there.map(|it| it.sql)));
                    continue;
                }
            };
            assert_eq!((&here.reads, &here.grain, &here.checks), (&there.reads, &there.grain, &there.checks), "{name}");
            match both.compare(&here, &there).await {
                Ok(()) => same += 1,
                // As with PostgreSQL.
                Err(why) if why.contains("too many tables in FROM") => too_many += 1,
                Err(why) => wrong.push(format!("{name}: {why}\n{}\n", there.sql)),
            }
        }
        println!("{set}: {same} the same, {refused} refused by both, {too_many} of too many tables");
        assert!(same > 100, "{set}: {same}");
    }
    assert!(wrong.is_empty(), "{} are not the same:\n{}", wrong.len(), wrong.join("\n"));
}

/// The tables of a set in both engines.
struct Both<'a> {
    duckdb: Connection,
    address: &'a Address,
    tables: Vec<Permitted>,
}

impl<'a> Both<'a> {
    async fn load(set: &str, data: &Path, address: &'a Address) -> Self {
        let duckdb = Connection::open_in_memory().unwrap();
        duckdb.execute_batch("SET TimeZone = 'UTC'").unwrap();
        run(address, &format!("CREATE DATABASE IF NOT EXISTS {set}")).await;
        let folder = tempfile::tempdir().unwrap();
        let mut tables = Vec::new();
        let files = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
        let is_table = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "csv" || kind == "parquet");
        for file in files.filter(is_table) {
            let table = file.file_stem().unwrap().to_str().unwrap();
            let copy = folder.path().join(format!("{table}.parquet"));
            let (from, to) = (file.display(), copy.display());
            duckdb.execute_batch(&format!("CREATE TABLE \"{table}\" AS FROM '{from}'")).unwrap();
            let mut columns: Vec<String> = {
                let mut shown = duckdb.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
                shown.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            };
            // As an import names them.
            for column in columns.iter_mut().filter(|column| column.contains(' ')) {
                let plain = column.to_lowercase().replace(' ', "_");
                duckdb.execute_batch(&format!("ALTER TABLE \"{table}\" RENAME \"{column}\" TO {plain}")).unwrap();
                *column = plain;
            }
            duckdb.execute_batch(&format!("COPY \"{table}\" TO '{to}'")).unwrap();
            run(
                address,
                &format!(
                    "CREATE OR REPLACE TABLE {set}.`{table}` ENGINE = Memory AS SELECT * FROM file('{to}', Parquet)"
                ),
            )
            .await;
            tables.push(Permitted { name: table.to_owned(), schema: set.into(), table: table.to_owned(), columns });
        }
        Self { duckdb, address, tables }
    }

    async fn compare(&self, here: &Compiled, there: &Compiled) -> Result<(), String> {
        let pairs = [
            (Some(&here.sql), Some(&there.sql)),
            (here.count_sql.as_ref(), there.count_sql.as_ref()),
            (here.checks_sql.as_ref(), there.checks_sql.as_ref()),
        ];
        for (here, there) in pairs.into_iter().filter_map(|(here, there)| Some((here?, there?))) {
            let limits = RemoteLimits {
                time: std::time::Duration::from_secs(60),
                rows: ROWS as usize + 1,
                bytes: 1 << 25,
                memory_mb: 4_000,
            };
            let theirs =
                ClickHouse::new(self.address).query(there, &self.tables, &limits, &CancellationToken::new()).await;
            let theirs = theirs.map_err(|error| format!("{error} {}", error.details))?.rows;
            let ours = self.here(here);
            if ours.len() != theirs.len() {
                return Err(format!("{} rows here, {} there", ours.len(), theirs.len()));
            }
            for (ours, theirs) in ours.iter().zip(&theirs) {
                if !ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours.as_deref(), theirs)) {
                    return Err(format!("{ours:?} here, {theirs:?} there"));
                }
            }
        }
        Ok(())
    }

    /// Values as DuckDB writes them.
    fn here(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let columns = {
            let mut described = self.duckdb.prepare(&format!("DESCRIBE {sql}")).unwrap();
            described.query_map([], |_| Ok(())).unwrap().count()
        };
        let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
        let shown: Vec<String> = names.iter().map(|name| format!("CAST({name} AS VARCHAR)")).collect();
        let sql = format!("SELECT {} FROM (\n{sql}\n) AS t({})", shown.join(", "), names.join(", "));
        let mut statement = self.duckdb.prepare(&sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect::<Result<_, _>>());
        rows.unwrap().map(Result::unwrap).collect()
    }
}

fn is_same(ours: Option<&str>, theirs: &Json) -> bool {
    let theirs = match theirs {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let (ours, theirs) = match (ours, &theirs) {
        (None, None) => return true,
        (Some(ours), Some(theirs)) => (ours, theirs),
        _ => return false,
    };
    let moment = |text: &str| {
        let text = text.trim_end_matches('Z').trim_end_matches("+00");
        text.replacen('T', " ", 1)
    };
    match (ours.parse::<f64>(), theirs.parse::<f64>()) {
        (Ok(ours), Ok(theirs)) => (ours - theirs).abs() <= 1e-9 * ours.abs().max(1e-6),
        _ => ours == theirs || moment(ours) == moment(theirs),
    }
}

/// Plans over every dataset and field of an ontology.
fn of_all_kinds(ontology: &Ontology) -> Vec<Plan> {
    let mut plans = Vec::new();
    for metric in &ontology.metrics {
        plans.push(Plan { measures: vec![Measure::metric(&metric.name)], ..Plan::default() });
    }
    for segment in &ontology.segments {
        for entity in &ontology.datasets {
            let segment = |negated| Condition::Segment { name: segment.name.clone(), negated };
            plans
                .extend([true, false].map(|negated| Plan { filters: vec![segment(negated)], ..counted(&entity.name) }));
        }
    }
    for entity in &ontology.datasets {
        let count = || counted(&entity.name);
        for field in &entity.fields {
            let reference = FieldRef::new(entity.name.clone(), field.name.clone());
            let grouped = Plan { dimensions: vec![Dimension::of(reference.clone())], ..count() };
            plans.push(grouped.clone());
            plans.extend(
                conditions(field, &reference).into_iter().map(|condition| Plan { filters: vec![condition], ..count() }),
            );
            if field.datatype.is_calendar() {
                plans.extend(over_time(&reference, &count()));
            }
            let aggregate = |function| Measure::of(Value::Aggregate { function, field: reference.clone() });
            if field.datatype.is_number() {
                // The median of decimal numbers is cut to their digits by DuckDB.
                let exact = |it: &Aggregation| *it != Aggregation::Median || field.datatype != DataType::Decimal;
                let functions = FUNCTIONS.into_iter().filter(exact);
                plans.push(Plan { measures: functions.clone().map(aggregate).collect(), ..Plan::default() });
                plans.extend(functions.map(|function| Plan {
                    filters: vec![Condition::AgainstOverall {
                        field: reference.clone(),
                        op: Comparator::Greater,
                        function,
                    }],
                    ..count()
                }));
                let ranges = Dimension { bucket: Some(10.into()), ..Dimension::of(reference.clone()) };
                plans.push(Plan { dimensions: vec![ranges], ..count() });
            }
            plans.extend(finished(&grouped));
            for other in ontology.datasets.iter().filter(|other| other.name != entity.name) {
                plans.push(Plan { dimensions: vec![Dimension::of(reference.clone())], ..counted(&other.name) });
                let mut two = grouped.clone();
                two.measures.extend(counted(&other.name).measures);
                plans.push(two);
            }
        }
        for other in ontology.datasets.iter().filter(|other| other.name != entity.name) {
            let measure = Box::new(Measure::of(Value::Count(other.name.clone())));
            let measured = Condition::Measured {
                of: entity.name.clone(),
                measure,
                op: Comparator::AtLeast,
                value: Literal::Number(2.into()),
            };
            plans.push(Plan { filters: vec![measured], ..count() });
            plans.extend([true, false].map(|negated| {
                let (of, dataset) = (entity.name.clone(), other.name.clone());
                let exists = Condition::Exists { of, dataset, via: vec![], filters: vec![], negated };
                Plan { filters: vec![exists], ..count() }
            }));
            let key = entity.primary_key.first().filter(|key| entity.field(key).is_some());
            if let Some(key) = key {
                let by = vec![Dimension::of(FieldRef::new(entity.name.clone(), key.clone()))];
                let over = |function| {
                    Measure::of(Value::Over {
                        function,
                        measure: Box::new(Measure::of(Value::Count(other.name.clone()))),
                        by: by.clone(),
                    })
                };
                plans.push(Plan { measures: FUNCTIONS.map(over).to_vec(), ..Plan::default() });
                plans.push(Plan { subject: Some(entity.name.clone()), dimensions: by.clone(), ..counted(&other.name) });
            }
        }
    }
    plans
}

fn counted(dataset: &str) -> Plan {
    Plan { measures: vec![Measure::of(Value::Count(dataset.into()))], ..Plan::default() }
}

/// Conditions of all kinds on a field.
fn conditions(field: &Field, reference: &FieldRef) -> Vec<Condition> {
    let values: Vec<Literal> = match field.datatype {
        DataType::String => ["a", "It's", "back\\slash", "100%"].map(|text| Literal::Text(text.into())).to_vec(),
        DataType::Boolean => vec![Literal::Bool(true)],
        DataType::Integer | DataType::Float | DataType::Decimal => {
            [1.0, 2.5, 0.99].map(|number| Literal::Number(F64::new(number).unwrap())).to_vec()
        }
        DataType::Date | DataType::DateTime | DataType::DateTimeTz => {
            ["2013-07-04", "1995-03-15", "2005-07-08T12:30:00", "1950-01-01"]
                .map(|text| Literal::Text(text.into()))
                .to_vec()
        }
        _ => return vec![],
    };
    let of = || reference.clone();
    let mut all = vec![
        Condition::IsNull { field: of(), negated: false },
        Condition::IsNull { field: of(), negated: true },
        Condition::In { field: of(), values: values.clone(), negated: false },
        Condition::In { field: of(), values: values.clone(), negated: true },
    ];
    for value in &values {
        for op in [
            Comparator::Equal,
            Comparator::NotEqual,
            Comparator::Less,
            Comparator::AtMost,
            Comparator::Greater,
            Comparator::AtLeast,
        ] {
            all.push(Condition::Compare { field: of(), op, value: value.clone() });
        }
    }
    let is_text = field.datatype == DataType::String;
    for (pattern, text) in [
        (Pattern::Contains, "A_"),
        (Pattern::Contains, "\\"),
        (Pattern::StartsWith, "m"),
        (Pattern::EndsWith, "É"),
        (Pattern::Contains, "a"),
    ] {
        all.extend(is_text.then(|| Condition::Like { field: of(), pattern, text: text.into(), negated: false }));
        all.extend(is_text.then(|| Condition::Like { field: of(), pattern, text: text.into(), negated: true }));
    }
    if field.datatype.is_calendar() {
        all.push(Condition::OnDays { field: of(), days: vec![6, 7], negated: false });
        all.push(Condition::AtHours { field: of(), from: 22, to: 6, negated: true });
        let window = window("1995-01-01", "2013-06-30");
        all.push(Condition::Within { field: of(), window, negated: true });
    }
    let all_again: Vec<Condition> = all.iter().step_by(5).cloned().map(|it| Condition::Not(Box::new(it))).collect();
    all.push(Condition::Any(all.iter().step_by(3).cloned().collect()));
    all.extend(all_again);
    all
}

fn window(start: &str, end: &str) -> Window {
    Window { start: Some(start.into()), end: Some(end.into()), ..Window::default() }
}

/// A number by time, in all the ways in which its course can be shown and compared.
fn over_time(time: &FieldRef, count: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    for grain in GRAINS {
        let dimension = Dimension { grain: Some(grain), ..Dimension::of(time.clone()) };
        let by = Plan { dimensions: vec![dimension], ..count.clone() };
        for (now, then) in [
            (("2013-07-01", "2013-10-01"), ("2013-04-01", "2013-07-01")),
            (("1996-01-01", "1997-01-01"), ("1995-01-01", "1996-01-01")),
            (("2005-07-01", "2005-08-01"), ("2005-06-01", "2005-07-01")),
        ] {
            plans.push(Plan {
                time: Some(TimeFilter { field: Some(time.clone()), window: window(now.0, now.1) }),
                comparison: Some(Comparison { with: window(then.0, then.1), align: None }),
                order: vec![Order { by: By::Change(0), descending: true }],
                ..by.clone()
            });
        }
        for shown in [
            Shown::Cumulative,
            Shown::Change,
            Shown::ChangePercent,
            Shown::MovingAverage { rows: 3 },
            Shown::Share { within: vec![] },
        ] {
            let mut course = by.clone();
            course.measures[0].shown_as = Some(shown);
            plans.push(course);
        }
        plans.push(by);
    }
    plans
}

/// A grouped number under conditions on it, in an order, cut.
fn finished(grouped: &Plan) -> Vec<Plan> {
    let order = vec![Order { by: By::Measure(0), descending: true }];
    let limit = |per: Vec<usize>, with_ties| Some(Limit { rows: 3, per, with_ties, skip: 1 });
    let mut plans: Vec<Plan> = FUNCTIONS
        .map(|function| Plan {
            having: vec![Having { measure: 0, op: Comparator::AtLeast, value: Bound::Overall(function) }],
            ..grouped.clone()
        })
        .to_vec();
    plans.push(Plan {
        having: vec![Having { measure: 0, op: Comparator::Less, value: Bound::Number(F64::new(2.5).unwrap()) }],
        ..grouped.clone()
    });
    for limit in [limit(vec![], false), limit(vec![], true), limit(vec![0], false)] {
        plans.push(Plan { order: order.clone(), limit, ..grouped.clone() });
    }
    plans.push(Plan { measures: vec![], distinct: true, ..grouped.clone() });
    plans
}
