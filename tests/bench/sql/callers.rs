//! Queries a second: small group-by queries of several callers at once, over one tenant and over a hundred.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman::model::error::Code;
use serde_json::json;

use crate::figures::{Times, ms, print};
use crate::node::{Node, Raw};
use crate::server::{self, Server};

const ROWS: usize = 5_000;
const TENANTS: usize = 100;
const CALLERS: [usize; 3] = [1, 8, 32];
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(6);

const QUERIES: [&str; 4] = [
    "SELECT region, count(*) AS n, sum(amount) AS total FROM events GROUP BY region ORDER BY region",
    "SELECT product, avg(amount) AS mean FROM events WHERE region <> 'r3' GROUP BY product ORDER BY mean DESC LIMIT 10",
    "SELECT day, max(amount) AS top FROM events GROUP BY day ORDER BY day LIMIT 20",
    "SELECT region, product, count(*) AS n FROM events GROUP BY ALL HAVING n > 2 ORDER BY n DESC, region, product LIMIT 50",
];

/// The table that the small queries read.
pub fn events() -> String {
    let row = |n: usize| {
        format!(
            "{n},r{},p{},2024-{:02}-{:02},{}.{:02}\n",
            n % 7,
            n * 31 % 97,
            n % 12 + 1,
            n % 28 + 1,
            n * 7 % 1_000,
            n % 100
        )
    };
    format!("id,region,product,day,amount\n{}", (0..ROWS).map(row).collect::<String>())
}

/// Numbers that look like chance and are the same in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: usize) -> Self {
        Self(seed as u64 * 2 + 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

pub async fn run() {
    let data = tempfile::tempdir().unwrap();
    let made = data.path().join("events.duckdb");
    let mut rows = vec![];
    {
        let node = Node::new(&data.path().join("node"), |budgets| budgets.sql_time = Duration::from_secs(60));
        let node = Arc::new(node);
        node.make(&events(), &made).await;
        let mut tenants = vec![];
        for _ in 0..TENANTS {
            let mut tenant = node.tenant();
            node.give_copy(&mut tenant, "events", &made);
            tenants.push(tenant);
        }
        for callers in CALLERS {
            let raw = Raw::open(&node.tables(&tenants[0]), &node.budgets);
            rows.push(row("raw, one instance", 1, callers, raw_together(&raw, callers)));
            // One tenant: each caller is another person. A hundred: each has one person, and callers are anywhere.
            for of in [1, TENANTS] {
                let people = if of == 1 { callers } else { of };
                let passes: Vec<_> = (0..people).map(|person| tenants[person % of].pass(node.person())).collect();
                for pass in &passes {
                    node.query(pass, QUERIES[0]).await.unwrap();
                }
                let passes = Arc::new(passes);
                let call = |caller: usize| {
                    let (node, passes) = (node.clone(), passes.clone());
                    let mut dice = Dice::new(caller);
                    let fixed = (of == 1).then_some(caller);
                    async move |at: usize| {
                        let person = fixed.unwrap_or_else(|| dice.below(passes.len()));
                        match node.query(&passes[person], QUERIES[at % QUERIES.len()]).await {
                            Ok(answer) => !answer.table.rows.is_empty(),
                            Err(error) if error.code == Code::ServiceUnavailable => false,
                            Err(error) => panic!("{error}"),
                        }
                    }
                };
                rows.push(row("engine", of, callers, together(callers, call).await));
            }
        }
    }
    for of in [1, TENANTS] {
        rows.extend(over_http(&data.path().join(format!("server-{of}")), &made, of).await);
    }
    let title = format!("Group-by queries over {ROWS} rows, {} s each", MEASURED.as_secs());
    print(&title, &["way", "tenants", "callers", "queries/s", "p50 ms", "p99 ms", "turned away"], &rows);
}

async fn over_http(folder: &Path, made: &Path, tenants: usize) -> Vec<Vec<String>> {
    let tokens = server::prepare(folder, tenants, &[("events", made)]).await;
    let server = Arc::new(Server::start(folder).await);
    for token in &tokens {
        server.sql(token, QUERIES[0]).await;
    }
    let tokens = Arc::new(tokens);
    let mut rows = vec![];
    for callers in CALLERS {
        let call = |caller: usize| {
            let (server, tokens) = (server.clone(), tokens.clone());
            let mut dice = Dice::new(caller);
            async move |at: usize| {
                let token = &tokens[dice.below(tokens.len())];
                server.ask(token, QUERIES[at % QUERIES.len()]).await.is_some_and(|answer| answer["rows"] != json!([]))
            }
        };
        rows.push(row("REST", tenants, callers, together(callers, call).await));
    }
    rows
}

/// Times of the answers, how long all took, and how many questions were turned away.
type Asked = (Times, Duration, usize);

fn row(way: &str, tenants: usize, callers: usize, (times, elapsed, turned): Asked) -> Vec<String> {
    let rate = times.len() as f64 / elapsed.as_secs_f64();
    let (p50, p99) = (ms(times.median()), ms(times.p99()));
    vec![way.into(), tenants.to_string(), callers.to_string(), format!("{rate:.0}"), p50, p99, turned.to_string()]
}

/// Lets callers ask, each one question after the other; a call says whether it was answered.
async fn together<C>(callers: usize, call: impl Fn(usize) -> C) -> Asked
where
    C: AsyncFnMut(usize) -> bool + 'static,
{
    let start = Instant::now() + WARM_UP;
    let one = async |mut call: C, caller: usize| {
        let (mut took, mut turned) = (vec![], 0);
        let mut at = caller;
        while start + MEASURED > Instant::now() {
            let began = Instant::now();
            let answered = call(at).await;
            at += 1;
            if began >= start && answered {
                took.push(began.elapsed().as_secs_f64() * 1e3);
            }
            turned += usize::from(began >= start && !answered);
        }
        (took, turned)
    };
    let all = futures_util::future::join_all((0..callers).map(|caller| one(call(caller), caller))).await;
    let (took, turned): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    (Times::of(took.concat()), start.elapsed(), turned.iter().sum())
}

/// The same with a thread and a connection of DuckDB's for each caller.
fn raw_together(raw: &Raw, callers: usize) -> Asked {
    let start = Instant::now() + WARM_UP;
    let threads: Vec<_> = (0..callers)
        .map(|caller| {
            let raw = raw.another();
            std::thread::spawn(move || {
                let mut took = vec![];
                let mut at = caller;
                while start + MEASURED > Instant::now() {
                    let began = Instant::now();
                    assert!(raw.collected(QUERIES[at % QUERIES.len()]) > 0);
                    at += 1;
                    if began >= start {
                        took.push(began.elapsed().as_secs_f64() * 1e3);
                    }
                }
                took
            })
        })
        .collect();
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    (Times::of(all.concat()), start.elapsed(), 0)
}
