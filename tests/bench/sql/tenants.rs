//! A thousand tenants: what one costs that does not ask, what its first question takes, and what it holds afterwards.

use std::path::Path;
use std::time::Instant;

use crate::callers;
use crate::figures::{Times, mb, ms, print};
use crate::node::Node;
use crate::server::{self, Memory, Server, children, disk, memory};

const TENANTS: usize = 1_000;
const FEW: usize = 30;
const MANY: usize = 300;
const SQL: &str = "SELECT region, count(*) AS n FROM events GROUP BY region ORDER BY region";

pub async fn run() {
    let data = tempfile::tempdir().unwrap();
    let made = data.path().join("events.duckdb");
    Node::new(&data.path().join("node"), |_| {}).make(&callers::events(), &made).await;
    let tables: [(&str, &Path); 1] = [("events", &made)];
    let (one, all) = (data.path().join("one"), data.path().join("all"));
    server::prepare(&one, 1, &tables).await;
    let tokens = server::prepare(&all, TENANTS, &tables).await;

    let mut rows = vec![];
    let server = Server::start(&one).await;
    rows.push(row("1 tenant, nobody asked", &settled(&server).await));
    drop(server);
    let server = Server::start(&all).await;
    rows.push(row(&format!("{TENANTS} tenants, nobody asked"), &settled(&server).await));

    let (mut cold, mut warm) = (Times::default(), Times::default());
    for (number, token) in tokens[..MANY].iter().enumerate() {
        let started = Instant::now();
        server.sql(token, SQL).await;
        cold.add(started.elapsed());
        for _ in 0..3 {
            let started = Instant::now();
            server.sql(token, SQL).await;
            warm.add(started.elapsed());
        }
        if number + 1 == FEW {
            rows.push(row(&format!("{FEW} of them asked"), &settled(&server).await));
        }
    }
    rows.push(row(&format!("{MANY} of them asked"), &settled(&server).await));
    let head = ["memory in MB", "server", "workers", "their own, each", "all (Pss)"];
    print(&format!("{TENANTS} tenants with a table of {} bytes each", made.metadata().unwrap().len()), &head, &rows);
    let each = (disk(&all) - disk(&one)) / (TENANTS as u64 - 1);
    println!("  disk of a tenant: {} KB", each / 1024);
    let line = |name: &str, times: &Times| {
        vec![name.to_owned(), times.len().to_string(), ms(times.median()), ms(times.p99()), ms(times.max())]
    };
    let rows = [line("a tenant's first query", &cold), line("its next ones", &warm)];
    print("A query over REST, in ms, one caller", &["", "queries", "p50", "p99", "most"], &rows);
}

/// The server and its workers, when the spare ones are ready again.
async fn settled(server: &Server) -> (Memory, Vec<Memory>) {
    let mut before = vec![];
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(1_000)).await;
        let now = children(server.pid());
        if now == before {
            return (memory(server.pid()).unwrap(), now.into_iter().filter_map(memory).collect());
        }
        before = now;
    }
}

fn row(name: &str, (server, workers): &(Memory, Vec<Memory>)) -> Vec<String> {
    let own: Vec<f64> = workers.iter().map(|worker| worker.own as f64).collect();
    let total = server.proportional + workers.iter().map(|worker| worker.proportional).sum::<u64>();
    let median = Times::of(own).median() as u64;
    vec![name.to_owned(), mb(server.resident), workers.len().to_string(), mb(median), mb(total)]
}
