//! Workers that serve one caller more than once, and nobody else.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman::engine::job::Job;
use dragoman::engine::sql::{SqlEngine, TableFormat};
use dragoman::model::error::Code;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::house::House;

fn warm(house: &House) -> BTreeSet<u32> {
    house.engine.warm_workers().into_iter().map(|(pid, _)| pid).collect()
}

/// Files below the data folder that a process has open.
fn open_files(house: &House, pid: u32) -> Vec<PathBuf> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let paths = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    let root = house.data.path().canonicalize().unwrap();
    paths.filter(|path| path.starts_with(&root)).collect()
}

/// Processor time of a process, in hundredths of a second.
fn ticks(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = status.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn kill(pid: u32, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_query_of_a_caller_is_served_by_the_same_worker() {
    let house = House::new(|_| {}).await;
    house.query("SELECT count(*) FROM flights").await.unwrap();
    let first = warm(&house);
    assert_eq!(first.len(), 1);
    for sql in ["SELECT max(id) FROM flights", "SELECT nonsense FROM flights", "DROP TABLE flights", "SELECT 2"] {
        let _answer_or_refusal = house.query(sql).await;
        assert_eq!(warm(&house), first, "{sql}");
    }
    assert_eq!(house.query("SELECT count(*) FROM flights").await.unwrap().table.rows, [[json!(20)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_holds_the_tables_that_were_asked_for_and_no_others() {
    let house = House::new(|_| {}).await;
    house.query("FROM carriers").await.unwrap();
    let [first] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    assert_eq!(open_files(&house, first).len(), 1);
    let joined = house.query("SELECT count(*) FROM flights JOIN carriers USING (carrier)").await.unwrap();
    assert_eq!((joined.table.rows, joined.used), (vec![vec![json!(20)]], vec!["carriers".into(), "flights".into()]));
    let [second] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    assert_ne!(first, second, "its door was closed behind one table");
    assert_eq!(open_files(&house, second).len(), 2);
    house.query("FROM carriers").await.unwrap();
    house.query("FROM flights").await.unwrap();
    assert_eq!(warm(&house), BTreeSet::from([second]), "both are there now");
}

/// What a worker holds does not depend on how its queries end.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_query_fails_keeps_its_tables_for_the_next() {
    for first in ["SELECT nonsense FROM carriers", "SELECT name::INTEGER FROM carriers"] {
        let house = House::new(|_| {}).await;
        let failed = house.query(first).await.unwrap_err();
        assert_eq!(failed.code, Code::InvalidArgument, "{first}");
        let [one] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
        assert_eq!(open_files(&house, one).len(), 1, "{first}: carriers are open");
        house.query("FROM flights").await.unwrap();
        let [other] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
        assert_eq!(open_files(&house, other).len(), 2, "{first}: flights, and carriers with them");
    }
    // Refused before any table is attached; the next query decides which are.
    let house = House::new(|_| {}).await;
    house.query("DROP TABLE carriers").await.unwrap_err();
    let first = warm(&house);
    house.query("FROM carriers").await.unwrap();
    assert_eq!(warm(&house), first);
    house.query("FROM flights").await.unwrap();
    let [both] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    assert_eq!(open_files(&house, both).len(), 2);
    house.query("FROM carriers").await.unwrap();
    assert_eq!(warm(&house), BTreeSet::from([both]));
}

/// The engine's own limit of time is set once, before its door is closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_began_with_less_time_does_not_serve_who_has_more() {
    let house = House::new(|_| {}).await;
    let ann = house.person();
    let [short, long] = [5, 30].map(Duration::from_secs);
    house.query_within(ann, short, "FROM carriers").await.unwrap();
    let first = warm(&house);
    house.query_within(ann, long, "FROM carriers").await.unwrap();
    let both = warm(&house);
    assert!(both.len() == 2 && both.is_superset(&first), "{first:?} {both:?}");
    house.query_within(ann, short, "SELECT count(*) FROM carriers").await.unwrap();
    assert_eq!(warm(&house), both, "one with more time serves who has less");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_worker_serves_two_callers() {
    let house = House::new(|_| {}).await;
    let (one, other) = (house.person(), house.person());
    house.query_as(one, "FROM carriers").await.unwrap();
    let first = warm(&house);
    house.query_as(other, "FROM carriers").await.unwrap();
    let both = warm(&house);
    assert!(both.len() == 2 && both.is_superset(&first), "{first:?} {both:?}");
    house.query_as(one, "FROM carriers").await.unwrap();
    house.query_as(other, "FROM carriers").await.unwrap();
    assert_eq!(warm(&house), both);
}

/// More threads than cores would only take turns.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_begins_while_another_works_has_its_part_of_the_cores() {
    let threads = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().count();
    let cores = std::thread::available_parallelism().unwrap().get();
    let house = House::new(|budgets| budgets.sql_threads = u32::try_from(cores).unwrap()).await;
    house.query("SELECT 1").await.unwrap();
    let [alone] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    let all = threads(alone);
    let cancel = CancellationToken::new();
    let long = "SELECT count(*) FROM range(100000) a(x), range(1000000) b(y) WHERE (x * y) % 7 = 3";
    let mut long = Box::pin(house.query_until(long, cancel.clone()));
    assert!(tokio::time::timeout(Duration::ZERO, &mut long).await.is_err(), "it works from here on");
    house.query_as(house.person(), "SELECT 1").await.unwrap();
    let [beside] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker that waits") };
    assert_eq!(all - threads(beside), cores - (cores / 2).max(1), "{cores} cores");
    cancel.cancel();
    long.await.unwrap_err();
}

/// A statement that ran is kept prepared: run again it gives what it would in a worker that never saw it.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_again_gives_what_it_gives_anew() {
    let house = House::new(|budgets| budgets.sql_rows = 15).await;
    let statements = [
        "SELECT 1",
        "  SELECT 1 AS one, 'x' AS \"Ö\", NULL AS nothing -- and a remark\n",
        "SELECT carrier, count(*) AS n, avg(dep_delay) FROM flights GROUP BY ALL ORDER BY ALL",
        "SELECT f.id, c.name FROM flights f LEFT JOIN carriers c ON f.carrier = c.carrier AND f.id < 3 ORDER BY f.id LIMIT 9",
        "SELECT * FROM flights ORDER BY id",
        "SELECT id FROM flights WHERE false",
        "SELECT 12345678901234567890::HUGEINT, 1.10::DECIMAL(9,2), DATE '2013-01-01', [1, NULL], {'a': 'b'}, MAP {'k': 1}",
        "SELECT '10:00:00+02'::TIMETZ AS t, '99999999999999999999999999999999999999999'::BIGNUM AS b",
        "SELECT TIMESTAMPTZ '2024-01-01 10:00:00+02' AT TIME ZONE 'Europe/Berlin', TIMESTAMPTZ '2024-01-01' + INTERVAL 1 MONTH",
        "PIVOT flights ON carrier USING count(*) GROUP BY origin ORDER BY origin",
        "DESCRIBE flights",
        "SELECT carrier::INTEGER FROM flights",
        "SELECT nonsense FROM flights",
        "SELECT * FROM secret",
        "DROP TABLE flights",
    ];
    let (hot, all) = (house.person(), "SELECT (SELECT count(*) FROM flights) + (SELECT count(*) FROM carriers)");
    house.query_as(hot, all).await.unwrap();
    let worker = warm(&house);
    for sql in statements {
        let told = |answer: Result<dragoman::engine::sql::Answer, dragoman::model::error::Error>| match answer {
            Ok(answer) => {
                let table = answer.table;
                let types: Vec<_> =
                    table.columns.iter().map(|column| (column.name.clone(), column.r#type.clone())).collect();
                Ok((types, table.rows, table.truncated, answer.used))
            }
            Err(error) => Err((error.code, error.message.clone(), error.details)),
        };
        let anew = told(house.query_as(house.person(), sql).await);
        for time in 1..=4 {
            assert_eq!(told(house.query_as(hot, sql).await), anew, "{sql}, time {time}");
        }
    }
    assert!(warm(&house).is_superset(&worker), "one worker answered them all");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_other_each_time_is_so_in_a_statement_that_runs_again() {
    let house = House::new(|_| {}).await;
    for sql in ["SELECT now()::TIMESTAMP AS t", "SELECT current_timestamp AS t"] {
        let mut seen = BTreeSet::new();
        for _ in 0..5 {
            seen.insert(house.query(sql).await.unwrap().table.rows[0][0].to_string());
        }
        assert_eq!(seen.len(), 5, "{sql}: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_limits_hold_for_a_statement_that_runs_again() {
    let mut house = House::new(|_| {}).await;
    let sql = "SELECT id FROM flights";
    for _ in 0..3 {
        assert_eq!(house.query(sql).await.unwrap().table.rows.len(), 20);
    }
    house.budgets.sql_rows = 5;
    for _ in 0..3 {
        let table = house.query(sql).await.unwrap().table;
        assert!(table.rows.len() == 5 && table.truncated);
    }
    house.budgets.sql_rows = 100;
    assert_eq!(house.query(sql).await.unwrap().table.rows.len(), 20);
    assert_eq!(house.query("SELECT id FROM carriers").await.unwrap_err().code, Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_again_is_stopped_as_any_other() {
    let house = House::new(|_| {}).await;
    let long = "SELECT count(*) FROM range(3000) a(x), range(10000) b(y) WHERE (x * y) % 7 = 3";
    let first = house.query(long).await.unwrap().table.rows;
    assert_eq!(house.query(long).await.unwrap().table.rows, first);
    let cancel = CancellationToken::new();
    let before = warm(&house);
    let stop = async {
        // It is taken out of those that wait when it gets the query.
        while !warm(&house).is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(house.query_until(long, cancel.clone()), stop);
    assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
    assert!(warm(&house).is_disjoint(&before));

    for _ in 0..2 {
        assert_eq!(house.query(long).await.unwrap().table.rows, first);
    }
    let pass = house.pass();
    let short = Duration::from_millis(50);
    let job = Job::new(&pass, &house.budgets, short, CancellationToken::new(), None);
    assert_eq!(house.engine.query(&job, long).await.unwrap_err().code, Code::QueryTimeout);
    assert_eq!(house.query(long).await.unwrap().table.rows, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hot_caller_keeps_its_worker() {
    let house = House::new(|_| {}).await;
    house.query("SELECT 0").await.unwrap();
    let first = warm(&house);
    for number in 0..1_100 {
        house.query(&format!("SELECT {}", number % 12)).await.unwrap();
    }
    assert_eq!(warm(&house), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_of_a_table_is_read_by_the_next_query() {
    let mut house = House::new(|_| {}).await;
    let count = "SELECT count(*) FROM carriers";
    for _ in 0..3 {
        assert_eq!(house.query(count).await.unwrap().table.rows, [[json!(3)]]);
    }
    house.replace("carriers", TableFormat::Csv, "carrier,name\nAA,American\n").await;
    assert_eq!(house.query(count).await.unwrap().table.rows, [[json!(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_is_let_go_of() {
    let house = House::new(|_| {}).await;
    let other = house.person();
    house.query("FROM carriers").await.unwrap();
    house.query_as(other, "FROM flights").await.unwrap();
    let before = warm(&house);
    let carriers = house.dataset("carriers");
    house.engine.forget(carriers.org, carriers.id);
    // Both callers could have had it opened by their next query.
    assert!(warm(&house).is_empty() && before.len() == 2);
    assert_eq!(house.query("SELECT count(*) FROM flights").await.unwrap().table.rows, [[json!(20)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_confines_a_worker() {
    let house = House::new(|budgets| budgets.sql_memory_mb = 300).await;
    house.query("FROM carriers").await.unwrap();
    let [pid] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
        line.split_once(':').unwrap().1.trim().to_owned()
    };
    assert_eq!((field("NoNewPrivs"), field("Seccomp")), ("1".into(), "2".into()));
    assert_eq!(field("Seccomp_filters"), "2", "one from the start, one behind the open tables");
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_ascii_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(limit("Max address space"), ((300_u64 << 20) + (1 << 30)).to_string());
    for nothing in ["Max core file size", "Max file size", "Max processes"] {
        assert_eq!(limit(nothing), "0", "{nothing}");
    }
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert_eq!(environment, b"", "nothing of the server's settings");
}

/// Each thread that an engine once had keeps 64 MiB of the address space, which is bounded. As many as the processors
/// of a large machine suggest would leave no room for the first query.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_waits_has_reserved_no_memory_for_threads() {
    let house = House::empty(|_| {});
    let spare = async {
        loop {
            if let Some(pid) = house.engine.idle_workers().first() {
                return *pid;
            }
            tokio::task::yield_now().await;
        }
    };
    let pid = tokio::time::timeout(Duration::from_secs(60), spare).await.unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let reserved = maps.lines().filter(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next().unwrap().split_once('-').unwrap();
        let size = u64::from_str_radix(to, 16).unwrap() - u64::from_str_radix(from, 16).unwrap();
        fields.next().unwrap().starts_with("---") && size > 32 << 20
    });
    assert_eq!(reserved.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_died_while_it_waited_costs_nothing() {
    let house = House::new(|_| {}).await;
    for _ in 0..5 {
        assert_eq!(house.query("SELECT count(*) FROM flights").await.unwrap().table.rows, [[json!(20)]]);
        for pid in warm(&house) {
            kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_hangs_while_it_waits_costs_no_query() {
    let house = House::new(|_| {}).await;
    house.query("FROM flights").await.unwrap();
    let [hung] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    kill(hung, nix::sys::signal::Signal::SIGSTOP);
    assert_eq!(house.query("SELECT count(*) FROM flights").await.unwrap().table.rows, [[json!(20)]]);
    assert!(!warm(&house).contains(&hung));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_told_and_costs_one_query() {
    let house = House::new(|_| {}).await;
    house.query("FROM flights").await.unwrap();
    let [pid] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
    let before = ticks(pid);
    let crash = async {
        while ticks(pid) < before + 10 {
            tokio::task::yield_now().await;
        }
        kill(pid, nix::sys::signal::Signal::SIGABRT);
    };
    let (ended, ()) = tokio::join!(house.query("SELECT count(*) FROM range(100000000000), flights"), crash);
    let error = ended.unwrap_err();
    assert_eq!((error.code, &error.details["reason"]), (Code::InternalError, &json!("engine_crashed")));
    assert_eq!(house.query("SELECT count(*) FROM flights").await.unwrap().table.rows, [[json!(20)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_warm_ones_together_are_bounded_in_memory() {
    let house = House::new(|budgets| (budgets.sql_workers, budgets.sql_memory_mb) = (1, 64)).await;
    for _ in 0..40 {
        house.query_as(house.person(), "FROM carriers").await.unwrap();
    }
    let workers = house.engine.warm_workers();
    let bytes: u64 = workers.iter().map(|(_, bytes)| bytes).sum();
    assert!(workers.len() > 1 && workers.len() < 40 && bytes <= 256 << 20, "{workers:?}");
}

/// Lets everybody read a folder and what is in it.
fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => open_to_all(&path),
            path => std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap(),
        }
    }
}

/// Whoever runs the other tests as an ordinary user sees the same there.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_needs_no_rights() {
    let mut house = House::new(|_| {}).await;
    open_to_all(house.data.path());
    // As long as the pool may start another worker from it.
    let programs;
    if rustix::process::geteuid().is_root() {
        programs = tempfile::Builder::new().prefix("dragoman-programs").tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let (copy, nobody) = (programs.path().join("dragoman"), programs.path().join("nobody"));
        let drop_all = "setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all";
        let path = "PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
        let script = format!("#!/bin/sh\n{path}\nexec {drop_all} {} \"$@\"\n", copy.display());
        // Written by another process: a file that this one has open for writing while it starts a child cannot be run.
        let make = r#"cp "$1" "$2" && printf %s "$4" > "$3" && chmod 755 "$2" "$3""#;
        let made = std::process::Command::new("sh")
            .args(["-c", make, "sh", env!("CARGO_BIN_EXE_dragoman")])
            .args([copy.as_os_str(), nobody.as_os_str(), script.as_ref()])
            .status()
            .unwrap();
        assert!(made.success());
        house.engine = SqlEngine::new(nobody, house.files.clone(), house.budgets.clone());
        let count = house.query("SELECT count(*) FROM flights").await.unwrap();
        assert_eq!(count.table.rows, [[json!(20)]]);
        let [pid] = warm(&house).into_iter().collect::<Vec<_>>()[..] else { panic!("one worker") };
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("Uid:\t65534") && status.contains("CapEff:\t0000000000000000"), "{status}");
        assert!(status.contains("Seccomp_filters:\t2"), "{status}");
    }
    let joined = house.query("SELECT count(*) FROM flights JOIN carriers USING (carrier)").await.unwrap();
    assert_eq!(joined.table.rows, [[json!(20)]]);
}
