//! What judging a statement takes, in the worker: the engine's parser, our reader of its tree, and the walk over it.

use std::time::Duration;

use crate::figures::{Times, print};
use crate::node::Node;
use crate::tpch::{self, TABLES};

const ROUNDS: usize = 10;

const FILES: [(&str, &str); 4] = [
    ("flights", "id,carrier,origin,day,dep_delay,distance\n1,AA,JFK,2013-01-01,5,100\n2,UA,LGA,2013-01-02,-3,200\n"),
    ("carriers", "carrier,name\nAA,American Airlines\nUA,United\n"),
    ("weather", "origin,day,temp,wind\nJFK,2013-01-01,10.5,3\nLGA,2013-01-02,-2.0,5\n"),
    ("notes", "body\nx\n"),
];

pub async fn run() {
    let folder = tpch::small().await;
    let data = tempfile::tempdir_in(&folder).unwrap();
    let node = Node::new(data.path(), |budgets| budgets.sql_time = Duration::from_secs(30));
    let mut tenant = node.tenant();
    for (name, text) in FILES {
        node.give_text(&mut tenant, name, text).await;
    }
    let allowed = include_str!("../../it/sql/allow.sql").lines();
    let allowed: Vec<String> = allowed
        .filter(|line| !line.is_empty() && !line.starts_with("-- "))
        .map(|line| line.replace("\\x0d", "\r").replace("\\x0a", "\n"))
        .collect();
    let first = judged(&node, &tenant.pass(node.person()), &allowed).await;

    let mut analysts = node.tenant();
    for table in TABLES {
        node.give(&mut analysts, table, &folder.join(format!("{table}.duckdb")));
    }
    let queries: Vec<String> = tpch::queries().into_iter().map(|query| query.sql).collect();
    let second = judged(&node, &analysts.pass(node.person()), &queries).await;

    let row = |name: &str, statements: usize, times: &Times| {
        let micros = |millis: f64| format!("{:.0}", millis * 1e3);
        let [p50, p99, most] = [times.median(), times.p99(), times.max()].map(micros);
        vec![name.to_owned(), statements.to_string(), times.len().to_string(), p50, p99, most]
    };
    let rows = [row("what people write", allowed.len(), &first), row("TPC-H-shaped", queries.len(), &second)];
    print("Judging a statement, in µs", &["corpus", "statements", "judged", "p50", "p99", "most"], &rows);
}

async fn judged(node: &Node, pass: &dragoman::model::access::Pass, statements: &[String]) -> Times {
    let mut micros = vec![];
    for round in 0..=ROUNDS {
        for sql in statements {
            // A statement may fail over these few rows; what counts was judged.
            if let Ok(answer) = node.query(pass, sql).await
                && round > 0
            {
                micros.push(answer.judged_us as f64 / 1e3);
            }
        }
    }
    Times::of(micros)
}
