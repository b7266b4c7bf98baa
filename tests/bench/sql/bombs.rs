//! Queries that would take minutes or gigabytes, twenty at once, beside a tenant that asks small things.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman::model::error::Code;

use crate::callers;
use crate::figures::{Times, mb, ms, print};
use crate::node::{Node, Tenant};
use crate::server::{children, memory};

const BOMBS: usize = 20;
const SQL: &str = "SELECT region, count(*) AS n, sum(amount) AS total FROM events GROUP BY region ORDER BY region";

fn kinds() -> Vec<String> {
    let lambdas = "list_transform(range(3000), lambda a: list_sum(list_transform(range(3000), lambda b: list_sum(list_transform(range(3000), lambda c: a * b * c)))))";
    vec![
        "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range + b.range) % 7 = 3".into(),
        "SELECT max(s) FROM (SELECT repeat('x', 100000) || i AS s FROM range(10000000) t(i)) GROUP BY s ORDER BY s"
            .into(),
        format!("SELECT len({lambdas})"),
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n".into(),
        "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000)) FROM range(1000)".into(),
        "SELECT sum(len(range(id, n))) FROM (SELECT id, 9000000000 AS n FROM events)".into(),
    ]
}

pub async fn run() {
    let data = tempfile::tempdir().unwrap();
    let made = data.path().join("events.duckdb");
    let node = Arc::new(Node::new(&data.path().join("node"), |_| {}));
    node.make(&callers::events(), &made).await;
    let tenants: Vec<Tenant> = (0..6)
        .map(|_| {
            let mut tenant = node.tenant();
            node.give(&mut tenant, "events", &made);
            tenant
        })
        .collect();
    let mut rows = vec![];
    for bombers in [1, 5] {
        let idle = quiet(&node, &tenants[0]).await;
        rows.push(line("nobody else", &idle, String::new(), String::new(), String::new(), String::new()));
        rows.push(attacked(&node, &tenants[0], &tenants[1..=bombers], bombers).await);
    }
    let title = format!(
        "A tenant's small query beside {BOMBS} bombs at once; a query may run {} s",
        node.budgets.sql_time.as_secs()
    );
    let head = [
        "beside it", "queries", "p50 ms", "p99 ms", "most ms", "bombs ran", "turned away", "last end s",
        "workers' memory MB",
    ];
    print(&title, &head, &rows);
}

fn line(name: &str, times: &Times, ran: String, turned: String, end: String, memory: String) -> Vec<String> {
    let [p50, p99, most] = [times.median(), times.p99(), times.max()].map(ms);
    vec![name.to_owned(), times.len().to_string(), p50, p99, most, ran, turned, end, memory]
}

/// How small queries fare when nobody else asks.
async fn quiet(node: &Node, victim: &Tenant) -> Times {
    let pass = victim.pass(node.person());
    node.query(&pass, SQL).await.unwrap();
    let mut times = Times::default();
    for _ in 0..100 {
        let started = Instant::now();
        node.query(&pass, SQL).await.unwrap();
        times.add(started.elapsed());
    }
    times
}

async fn attacked(node: &Arc<Node>, victim: &Tenant, bombers: &[Tenant], count: usize) -> Vec<String> {
    let kinds = kinds();
    let started = Instant::now();
    let bombs = (0..BOMBS).map(|number| {
        let (node, sql) = (node.clone(), kinds[number % kinds.len()].clone());
        let pass = bombers[number % bombers.len()].pass(node.person());
        tokio::spawn(async move { (node.query(&pass, &sql).await.map(|answer| answer.table), started.elapsed()) })
    });
    let bombs: Vec<_> = bombs.collect();
    let ended = Arc::new(AtomicBool::new(false));
    let peak = tokio::spawn({
        let ended = ended.clone();
        async move {
            let mut peak = 0;
            while !ended.load(Ordering::SeqCst) {
                let now = children(std::process::id()).into_iter().filter_map(memory);
                peak = peak.max(now.map(|memory| memory.proportional).sum::<u64>());
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            peak
        }
    });
    let pass = victim.pass(node.person());
    let mut times = Times::default();
    while bombs.iter().any(|bomb| !bomb.is_finished()) {
        let began = Instant::now();
        node.query(&pass, SQL).await.unwrap();
        times.add(began.elapsed());
        // As a person who reads what came.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ended.store(true, Ordering::SeqCst);
    let (mut ran, mut turned, mut last) = (0, 0, Duration::ZERO);
    for bomb in bombs {
        let (result, end) = bomb.await.unwrap();
        match result {
            Err(error) if matches!(error.code, Code::QueryTimeout | Code::LimitExceeded) => ran += 1,
            Err(error) if error.code == Code::ServiceUnavailable => turned += 1,
            other => panic!("a bomb ended with {other:?}"),
        }
        last = last.max(end);
    }
    let name = format!("{BOMBS} bombs of {count} tenant{}", if count == 1 { "" } else { "s" });
    let end = format!("{:.1}", last.as_secs_f64());
    line(&name, &times, ran.to_string(), turned.to_string(), end, mb(peak.await.unwrap()))
}
