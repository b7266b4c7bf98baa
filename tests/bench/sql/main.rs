//! Measures the SQL engine: `tests/bench/sql/run COMMAND`. Figures of two ways are taken in turns in one run, since
//! the machine does other things too; nothing is asserted about times.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on should stop, and prints"
)]

mod answers;
mod bombs;
mod callers;
mod figures;
mod guard;
mod node;
mod server;
mod tenants;
mod tpch;

use std::time::Duration;

const COMMANDS: &str = "answers, guard, tpch [0.01|1], callers, tenants, bombs";

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let argument = arguments.next();
    figures::load("at the start");
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let ended = match command.as_str() {
        "answers" => tokio::time::timeout(minutes(5), answers::run()).await,
        "guard" => tokio::time::timeout(minutes(5), guard::run()).await,
        "callers" => tokio::time::timeout(minutes(10), callers::run()).await,
        "tenants" => tokio::time::timeout(minutes(10), tenants::run()).await,
        "bombs" => tokio::time::timeout(minutes(5), bombs::run()).await,
        "tpch" => tokio::time::timeout(minutes(15), tpch::run(argument.as_deref().unwrap_or("0.01"))).await,
        _ => {
            eprintln!("Commands: {COMMANDS}");
            std::process::exit(2);
        }
    };
    figures::load("at the end");
    assert!(ended.is_ok(), "the command took longer than it may");
}
