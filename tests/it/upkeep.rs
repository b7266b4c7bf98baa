//! What a running service does by itself: follow the signing keys, and keep what it measures small.

use std::time::{Duration, Instant};

use dragoman::identity::Identity;
use dragoman::model::access::{Role, Scope};
use serde_json::Value;

use crate::support::service::Service;

/// Another process over the same data folder, as the command line is.
async fn command_line(service: &Service) -> Identity {
    let key = std::fs::read_to_string(service.config.data_dir.join("master.key")).unwrap();
    let master = dragoman::base::secret::MasterKey::from_hex(&key).unwrap();
    Identity::open(service.db.clone(), service.config.clone(), master, service.clock.clone()).await.unwrap()
}

async fn key_set(service: &Service) -> (String, usize) {
    let response = service.http.get(service.url("/.well-known/jwks.json")).send().await.unwrap();
    let cache = response.headers()["cache-control"].to_str().unwrap().to_owned();
    let set: Value = response.json().await.unwrap();
    (cache, set["keys"].as_array().unwrap().len())
}

#[tokio::test(flavor = "multi_thread")]
async fn h06_l06_a_running_service_follows_the_table_within_five_seconds() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Viewer, &[Scope::DataRead]).await;
    let status = async || service.rpc(&token, "tools/list", serde_json::json!({})).send().await.unwrap().status();
    assert_eq!(status().await, 200);
    assert_eq!(key_set(&service).await, ("public, max-age=300".to_owned(), 1));

    let outside = command_line(&service).await;
    outside.rotate_key().await.unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while key_set(&service).await.1 != 2 {
        assert!(Instant::now() < end, "the new key is not published within 5 seconds");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(status().await, 200);
    let leaked = jsonwebtoken::decode_header(&token).unwrap().kid.unwrap();
    outside.withdraw_key(&leaked).await.unwrap().unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while status().await != 401 {
        assert!(Instant::now() < end, "the leaked key is not refused within 5 seconds");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(key_set(&service).await.1, 1);
    drop(outside);
    service.stop().await;
}

/// The most memory that this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() << 10
}

/// Set for the process that measures itself: the memory of this one is that of all tests.
const ALONE: &str = "DRAGOMAN_TEST_ALONE";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_measured_takes_no_memory_while_nobody_asks_for_it() {
    const SLICE: usize = 1_000_000;
    const SLICES: usize = 16;
    // A value and its time.
    const EACH: usize = 16;
    if std::env::var_os(ALONE).is_none() {
        let test = "upkeep::what_is_measured_takes_no_memory_while_nobody_asks_for_it";
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        let ran = child.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().await.unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
        return;
    }
    let service = Service::start().await;
    let handle = dragoman::base::telemetry::start_metrics();
    let measured = metrics::histogram!("dragoman_test_seconds");
    let before = peak();
    for _ in 0..SLICES {
        (0..SLICE).for_each(|_| measured.record(0.001));
        // Nothing is waited for: it is the pace of a service under load.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let grown = peak() - before;
    assert!(grown < SLICE * SLICES * EACH / 2, "{grown} bytes more");
    let text = handle.render();
    assert!(text.contains("dragoman_test_seconds_count 16000000"), "every measurement is counted: {text}");
    service.stop().await;
}
