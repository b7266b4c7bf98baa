//! The 22 queries of TPC-H's shape, through the engine and through DuckDB directly, in turns. (Not results in the sense
//! of the TPC: neither its rules of measurement nor its reports were followed.)

use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::engine::sql::TableFormat;
use serde::Deserialize;
use tpchgen::generators as g;

use crate::figures::{Times, ms, print, timed};
use crate::node::{Node, Raw};
use crate::server::children;

pub const TABLES: [&str; 8] = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"];

/// For both sides: some queries need more than the engine's usual memory at scale 1.
const MEMORY_MB: u64 = 2_048;

/// Which way goes when: none always follows the same other one.
const ORDERS: [[u8; 3]; 6] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];

#[derive(Deserialize)]
pub struct Query {
    pub nr: u32,
    pub sql: String,
}

pub fn queries() -> Vec<Query> {
    serde_json::from_str(include_str!("../../data/tpch/queries.json")).unwrap()
}

/// Compares at scale 0.01 or 1; each query at least three times, and at most so long.
pub async fn run(scale: &str) {
    let (kept, each) = match scale {
        "0.01" => (small().await, Duration::from_millis(2_500)),
        "1" => (large().await, Duration::from_millis(6_000)),
        other => panic!("scale {other}: there are 0.01 and 1"),
    };
    let data = tempfile::tempdir_in(&kept).unwrap();
    let node = Node::new(data.path(), |budgets| {
        (budgets.sql_memory_mb, budgets.sql_time) = (MEMORY_MB, Duration::from_secs(60));
    });
    let mut tenant = node.tenant();
    for table in TABLES {
        node.give(&mut tenant, table, &kept.join(format!("{table}.duckdb")));
    }
    let raw = Raw::open(&node.tables(&tenant), &node.budgets);
    let pass = tenant.pass(node.person());
    // All tables are attached by one query, so that none of the measured ones needs another worker.
    let all: Vec<String> = TABLES.iter().map(|table| format!("(SELECT count(*) FROM {table})")).collect();
    node.query(&pass, &format!("SELECT {}", all.join(" + "))).await.unwrap();

    let (mut rows, mut ratios, mut added) = (vec![], vec![], vec![]);
    for Query { nr, sql } in queries() {
        let count = raw.streamed(&sql);
        raw.collected(&sql);
        let answer = node.query(&pass, &sql).await.unwrap();
        assert!(answer.table.rows.len() == count || answer.table.truncated, "query {nr}: {count} rows");
        let (mut streamed, mut collected, mut ours, mut judged) = <(Times, Times, Times, Vec<f64>)>::default();
        let (mut raw_spent, mut our_spent) = <(Times, Times)>::default();
        let until = Instant::now() + each;
        while ours.len() < 3 || (Instant::now() < until && ours.len() < 60) {
            for way in ORDERS[ours.len() % ORDERS.len()] {
                let (started, spent) = (Instant::now(), processor_time());
                match way {
                    0 => {
                        raw.streamed(&sql);
                        streamed.add(started.elapsed());
                    }
                    1 => {
                        raw.collected(&sql);
                        collected.add(started.elapsed());
                        raw_spent.add(processor_time().saturating_sub(spent));
                    }
                    _ => {
                        judged.push(node.query(&pass, &sql).await.unwrap().judged_us as f64);
                        ours.add(started.elapsed());
                        our_spent.add(processor_time().saturating_sub(spent));
                    }
                }
            }
        }
        let (streamed, collected, median) = (streamed.median(), collected.median(), ours.median());
        if collected >= 100.0 {
            ratios.push(median / collected);
        } else {
            added.push(median - collected);
        }
        rows.push(vec![
            nr.to_string(),
            ms(collected),
            ms(streamed),
            ms(median),
            format!("{:.2}", median / collected),
            format!("{:+.2}", median - collected),
            ms(raw_spent.median()),
            ms(our_spent.median()),
            format!("{:.0}", Times::of(judged).median()),
            ours.len().to_string(),
        ]);
    }
    let head = [
        "query", "raw, collected", "raw, streamed", "ours", "ratio", "added ms", "raw, CPU", "ours, CPU", "judged µs",
        "times",
    ];
    let title = format!("TPC-H-shaped queries, scale {scale}, warm, medians in ms; ratio of ours to raw, collected");
    print(&title, &head, &rows);
    let (ratios, added) = (Times::of(ratios), Times::of(added));
    if ratios.len() > 0 {
        println!(
            "  from 100 ms: {} queries, ratio median {:.3}, worst {:.3}",
            ratios.len(),
            ratios.median(),
            ratios.max()
        );
    }
    if added.len() > 0 {
        println!(
            "  below 100 ms: {} queries, added median {:.2} ms, worst {:.2} ms",
            added.len(),
            added.median(),
            added.max()
        );
    }
}

/// What this process and those that it started have computed so far, on all threads that still run.
fn processor_time() -> Duration {
    let of = |pid: u32| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let nanos = threads.filter_map(|thread| {
            let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            times.split(' ').next()?.parse::<u64>().ok()
        });
        nanos.sum::<u64>()
    };
    let own = std::process::id();
    Duration::from_nanos(children(own).into_iter().chain([own]).map(of).sum())
}

/// Table files that are made once and kept, outside of the repository.
pub fn kept(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
    let folder = cache.join("dragoman-bench").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub async fn small() -> PathBuf {
    let folder = kept("tpch-0.01");
    let parquet = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tpch");
    make(&folder, |table, _| parquet.join(format!("{table}.parquet"))).await;
    folder
}

async fn large() -> PathBuf {
    let folder = kept("tpch-1");
    make(&folder, generated).await;
    folder
}

/// Imports what is not there yet.
async fn make(folder: &Path, source: impl Fn(&str, &Path) -> PathBuf) {
    let work = tempfile::tempdir_in(folder).unwrap();
    let node = Node::new(&work.path().join("data"), |_| {});
    for table in TABLES {
        let file = folder.join(format!("{table}.duckdb"));
        if !file.exists() {
            let made = work.path().join(format!("{table}.duckdb"));
            let (took, source) = timed(|| source(table, work.path()));
            let started = Instant::now();
            node.import(&source, TableFormat::Parquet, &made).await;
            println!("[made {table}: {:.1} s; imported: {:.1} s]", took.as_secs_f64(), started.elapsed().as_secs_f64());
            std::fs::rename(made, file).unwrap();
        }
    }
}

/// A table at scale 1 as Parquet, with the types that the specification gives.
fn generated(table: &str, folder: &Path) -> PathBuf {
    let (text, parquet) = (folder.join(format!("{table}.tbl")), folder.join(format!("{table}.parquet")));
    let columns = match table {
        "region" => written(&text, g::RegionGenerator::new(1.0, 1, 1).iter(), "r_regionkey I, r_name V, r_comment V"),
        "nation" => written(
            &text,
            g::NationGenerator::new(1.0, 1, 1).iter(),
            "n_nationkey I, n_name V, n_regionkey I, n_comment V",
        ),
        "supplier" => written(
            &text,
            g::SupplierGenerator::new(1.0, 1, 1).iter(),
            "s_suppkey B, s_name V, s_address V, s_nationkey I, s_phone V, s_acctbal M, s_comment V",
        ),
        "customer" => written(
            &text,
            g::CustomerGenerator::new(1.0, 1, 1).iter(),
            "c_custkey B, c_name V, c_address V, c_nationkey I, c_phone V, c_acctbal M, c_mktsegment V, c_comment V",
        ),
        "part" => written(
            &text,
            g::PartGenerator::new(1.0, 1, 1).iter(),
            "p_partkey B, p_name V, p_mfgr V, p_brand V, p_type V, p_size I, p_container V, p_retailprice M, p_comment V",
        ),
        "partsupp" => written(
            &text,
            g::PartSuppGenerator::new(1.0, 1, 1).iter(),
            "ps_partkey B, ps_suppkey B, ps_availqty I, ps_supplycost M, ps_comment V",
        ),
        "orders" => written(
            &text,
            g::OrderGenerator::new(1.0, 1, 1).iter(),
            "o_orderkey B, o_custkey B, o_orderstatus V, o_totalprice M, o_orderdate D, o_orderpriority V, o_clerk V, \
             o_shippriority I, o_comment V",
        ),
        _ => written(
            &text,
            g::LineItemGenerator::new(1.0, 1, 1).iter(),
            "l_orderkey B, l_partkey B, l_suppkey B, l_linenumber I, l_quantity M, l_extendedprice M, l_discount M, \
             l_tax M, l_returnflag V, l_linestatus V, l_shipdate D, l_commitdate D, l_receiptdate D, \
             l_shipinstruct V, l_shipmode V, l_comment V",
        ),
    };
    let sql = format!(
        "COPY (SELECT * EXCLUDE (nothing) FROM read_csv('{}', delim='|', quote='', escape='', header=false, columns={{{columns}}}))
         TO '{}' (FORMAT parquet)",
        text.display(),
        parquet.display()
    );
    duckdb::Connection::open_in_memory().unwrap().execute_batch(&sql).unwrap();
    std::fs::remove_file(text).unwrap();
    parquet
}

/// Writes rows, and answers their columns: each line ends with a separator, behind which there is nothing.
fn written(file: &Path, rows: impl Iterator<Item = impl Display>, columns: &str) -> String {
    let mut file = std::io::BufWriter::new(std::fs::File::create(file).unwrap());
    for row in rows {
        writeln!(file, "{row}").unwrap();
    }
    file.flush().unwrap();
    let column = |column: &str| {
        let (name, r#type) = column.trim().split_once(' ').unwrap();
        let r#type = match r#type {
            "B" => "BIGINT",
            "I" => "INTEGER",
            "M" => "DECIMAL(15,2)",
            "D" => "DATE",
            _ => "VARCHAR",
        };
        format!("'{name}': '{type}', ")
    };
    format!("{}'nothing': 'VARCHAR'", columns.split(',').map(column).collect::<String>())
}
