//! What one answer costs: the smallest statement and a group-by over the flights of the demo, by one caller and by
//! sixteen at a time, the same text again and another each time; and a hundred tenants that ask at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman::engine::job::Job;
use dragoman::engine::sql::TableFormat;
use dragoman::model::access::Pass;
use dragoman::model::error::Code;
use tokio_util::sync::CancellationToken;

use crate::callers;
use crate::figures::{Times, ms, print};
use crate::node::Node;

const TENANTS: usize = 100;
const MEASURED: Duration = Duration::from_secs(3);
const GROUPED: &str =
    "SELECT carrier, count(*) AS n, avg(dep_delay) AS mean FROM flights GROUP BY carrier ORDER BY n DESC";
const OF_TENANTS: &str = "SELECT region, count(*) AS n FROM events GROUP BY region ORDER BY region";

pub async fn run() {
    let data = tempfile::tempdir().unwrap();
    let node = Arc::new(Node::new(&data.path().join("node"), |budgets| {
        budgets.sql_time = Duration::from_secs(60);
        if let Some(threads) = std::env::var_os("BENCH_THREADS") {
            budgets.sql_threads = threads.to_str().unwrap().parse().unwrap();
        }
    }));
    let flights = data.path().join("flights.duckdb");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops/demo/flights.parquet");
    node.import(&source, TableFormat::Parquet, &flights).await;
    let mut analysts = node.tenant();
    node.give(&mut analysts, "flights", &flights);
    let made = data.path().join("events.duckdb");
    node.make(&callers::events(), &made).await;

    let mut rows = vec![];
    let person = node.person();
    for at_a_time in [1, 16] {
        let passes = vec![analysts.pass(person); at_a_time];
        let varied = |number: usize| format!("select {number}");
        let grouped = |number: usize| GROUPED.replace("ORDER", &format!("HAVING n > {} ORDER", number % 1_000_000));
        for (name, sql) in [
            ("select 1", Box::new(|_| "select 1".to_owned()) as Box<dyn Fn(usize) -> String>),
            ("select N, another each time", Box::new(varied)),
            ("group-by", Box::new(|_| GROUPED.to_owned())),
            ("group-by, another each time", Box::new(grouped)),
        ] {
            rows.push(asked(name, &node, &passes, &sql).await);
        }
    }
    let mut passes = vec![];
    for _ in 0..TENANTS {
        let mut tenant = node.tenant();
        node.give_copy(&mut tenant, "events", &made);
        passes.push(tenant.pass(node.person()));
    }
    for round in ["first", "second"] {
        let name = format!("tenants, {round} time");
        rows.push(asked(&name, &node, &passes, &|_| OF_TENANTS.to_owned()).await);
    }
    print("Answers, in this process", &["what", "at a time", "queries/s", "p50 ms", "p99 ms", "turned away"], &rows);
    let mut sizes: Vec<f64> = node.engine.warm_workers().iter().map(|(_, bytes)| *bytes as f64 / 1e6).collect();
    sizes.sort_by(f64::total_cmp);
    println!("  {} warm workers, {} MB at the median", sizes.len(), ms(Times::of(sizes).median()));
}

/// Each asks one question after the other.
async fn asked(name: &str, node: &Arc<Node>, passes: &[Pass], sql: &dyn Fn(usize) -> String) -> Vec<String> {
    for pass in &passes[..1] {
        ask(node, pass, &sql(0)).await;
    }
    let until = Instant::now() + MEASURED;
    let started = Instant::now();
    let next = std::cell::Cell::new(0);
    let one = async |pass: &Pass| {
        let (mut took, mut turned) = (vec![], 0);
        while Instant::now() < until {
            next.set(next.get() + 1);
            let began = Instant::now();
            match ask(node, pass, &sql(next.get())).await {
                true => took.push(began.elapsed().as_secs_f64() * 1e3),
                false => turned += 1,
            }
        }
        (took, turned)
    };
    let (took, turned): (Vec<_>, Vec<usize>) =
        futures_util::future::join_all(passes.iter().map(one)).await.into_iter().unzip();
    let times = Times::of(took.concat());
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    let (p50, p99) = (ms(times.median()), ms(times.p99()));
    let turned = turned.iter().sum::<usize>().to_string();
    vec![name.to_owned(), passes.len().to_string(), format!("{rate:.0}"), p50, p99, turned]
}

async fn ask(node: &Arc<Node>, pass: &Pass, sql: &str) -> bool {
    let job = Job::new(pass, &node.budgets, node.budgets.sql_time, CancellationToken::new(), None);
    match node.engine.query_text(&job, sql).await {
        Ok(answer) => !answer.table.rows.is_empty(),
        Err(error) if error.code == Code::ServiceUnavailable => false,
        Err(error) => panic!("{error}"),
    }
}
