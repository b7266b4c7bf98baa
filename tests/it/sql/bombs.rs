//! Legal queries that want far too much: each ends soon, within its memory, and costs nobody else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman::model::error::Code;
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::json;

use super::corpus;
use super::house::{CANARY, House};

fn bombs() -> Vec<String> {
    corpus(include_str!("bombs.sql"), false).into_iter().map(|(_, sql)| sql).collect()
}

/// The most memory that each worker of a house ever held, in bytes, watched until it is told to stop. The workers are
/// known by their limit, which is that of no other house: so many megabytes for a query or an import.
pub struct Watch {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<BTreeMap<u32, u64>>,
}

impl Watch {
    pub fn over(memory_mb: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, limit) = (stop.clone(), ((memory_mb << 20) + (1 << 30)).to_string());
        let thread = std::thread::spawn(move || {
            let mut peaks = BTreeMap::new();
            while !stopped.load(Ordering::Relaxed) {
                for (pid, peak) in children(&limit) {
                    peaks.entry(pid).and_modify(|most: &mut u64| *most = peak.max(*most)).or_insert(peak);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            peaks
        });
        Self { stop, thread }
    }

    pub fn end(self) -> BTreeMap<u32, u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Children of this process with a limit of address space, and the most memory that each has held.
pub fn children(limit: &str) -> Vec<(u32, u64)> {
    let mut found = vec![];
    let own = format!("PPid:\t{}", std::process::id());
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else { continue };
        let limits = std::fs::read_to_string(entry.path().join("limits")).unwrap_or_default();
        if !status.lines().any(|line| line == own) || !limits.contains(limit) {
            continue;
        }
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        if let Some(peak) = peak.and_then(|peak| peak.parse::<u64>().ok()) {
            found.push((pid, peak << 10));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bomb_ends_in_time_and_memory_and_costs_one_query() {
    let (time, memory_mb) = (Duration::from_millis(1_500), 192);
    let change = |budgets: &mut dragoman::config::Budgets| {
        (budgets.sql_time, budgets.sql_memory_mb, budgets.sql_workers) = (time, memory_mb, 12);
    };
    let house = House::new(change).await;
    let (before, watch) = (house.contents(), Watch::over(memory_mb));
    let bombs = bombs();
    assert!(bombs.len() >= 70, "{}", bombs.len());
    let run = async |sql: &String| {
        let (person, started) = (house.person(), Instant::now());
        let ended = house.query_as(person, sql).await;
        let took = started.elapsed();
        let started = Instant::now();
        let next = house.query_within(person, Duration::from_secs(30), "SELECT count(*) FROM flights").await;
        assert!(matches!(&next, Ok(answer) if answer.table.rows == [[json!(20)]]), "after {sql}: {next:?}");
        (sql.clone(), took, started.elapsed(), ended)
    };
    let heard: Vec<_> = stream::iter(&bombs).map(run).buffer_unordered(4).collect().await;
    let peaks = watch.end();

    // How long a worker takes to start on a machine this busy is seen at the queries that followed.
    let start = heard.iter().map(|(_, _, next, _)| *next).max().unwrap();
    let (mut answers, mut wrong) = (0, vec![]);
    for (sql, took, _, ended) in heard {
        let fits = match &ended {
            Ok(_) => {
                answers += 1;
                true
            }
            Err(error) => {
                matches!(error.code, Code::QueryTimeout | Code::LimitExceeded) && !error.message.contains(CANARY)
            }
        };
        if !fits || took > time + Duration::from_secs(2) + start {
            wrong.push(format!("{took:?} {:?}\n    {sql}", ended.map(|answer| answer.table.rows)));
        }
    }
    assert!(wrong.is_empty(), "next query at most {start:?}:\n{}", wrong.join("\n"));
    assert!(answers <= bombs.len() / 10, "{answers} of {} are no bombs", bombs.len());
    let most = peaks.values().max().copied().unwrap_or_default();
    println!(
        "{} workers, the largest {} MiB; {answers} answers; next query at most {start:?}",
        peaks.len(),
        most >> 20
    );
    assert!(peaks.len() >= 20, "{peaks:?}");
    assert!(most <= (memory_mb << 20) + (1 << 30), "{peaks:?}");
    assert!(house.contents() == before, "files changed");
}

/// How long each query took, from the shortest.
fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_bombs_at_once_leave_the_other_workspaces_their_turn() {
    let house = House::new(|budgets| budgets.sql_time = Duration::from_secs(2)).await;
    let next_door = async || {
        let started = Instant::now();
        let answer = house.query_next_door("SELECT count(*) FROM secret").await.unwrap();
        assert_eq!(answer.table.rows, [[json!(1)]]);
        started.elapsed()
    };
    let mut idle = vec![];
    for _ in 0..40 {
        idle.push(next_door().await);
    }
    let all = bombs();
    let twenty: Vec<&String> = all.iter().step_by(all.len() / 20).take(20).collect();
    let exploded = AtomicBool::new(false);
    let explode = async {
        let run = async |sql: &String| house.query_as(house.person(), sql).await.map_err(|error| error.code);
        let ended: Vec<_> = stream::iter(twenty).map(run).buffer_unordered(20).collect().await;
        exploded.store(true, Ordering::Relaxed);
        ended
    };
    let watch = async {
        let mut busy = vec![];
        while !exploded.load(Ordering::Relaxed) {
            busy.push(next_door().await);
        }
        busy
    };
    let (ended, busy) = tokio::join!(explode, watch);
    let fits = |code: &Code| *code != Code::InternalError;
    assert!(ended.len() == 20 && ended.iter().all(|end| end.as_ref().err().is_none_or(fits)), "{ended:?}");
    let (idle, busy) = (sorted(idle), sorted(busy));
    let (half, worst) = (busy[busy.len() / 2], busy[busy.len() - 1]);
    println!(
        "idle: p50 {:?}, worst {:?}; beside twenty bombs: p50 {half:?}, worst {worst:?} of {}",
        idle[idle.len() / 2],
        idle[idle.len() - 1],
        busy.len()
    );
    // In one queue with the twenty, the last would wait ten seconds and more. What else the machine does shows when idle.
    let (usual, slowest) = (idle[idle.len() / 2], idle[idle.len() - 1]);
    let fits = half < Duration::from_secs(1).max(10 * usual) && worst < Duration::from_secs(5).max(5 * slowest);
    assert!(busy.len() >= 10 && fits, "{busy:?}");
}
