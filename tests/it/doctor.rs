//! `dragoman doctor`: what it finds, what it says to do, and what it never tells.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::datasets::files;
use crate::stdio::Folder;
use crate::support::program::{command, free_port};

/// What it found of each thing; whether it ended well.
async fn doctor(data: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> (bool, Value) {
    let mut doctor = command(data);
    let free = format!("127.0.0.1:{}", free_port());
    doctor.env("DRAGOMAN_LISTEN", free).envs(settings.iter().copied()).args(["doctor", "--json"]).args(arguments);
    let output = doctor.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    assert_eq!(output.status.success(), said["well"] == true, "{said} {errors}");
    (output.status.success(), said)
}

fn finding<'v>(said: &'v Value, what: &str) -> &'v Value {
    let all = said["findings"].as_array().unwrap();
    all.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("{what}: {said}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_well_is_said_to_be_and_a_look_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("none");
    let (well, said) = doctor(&fresh, &[], &[]).await;
    assert!(well && !fresh.exists(), "{said}");
    assert_eq!(finding(&said, "data folder")["state"], "note");
    assert!(finding(&said, "data folder")["mend"].as_str().unwrap().contains("--data or DRAGOMAN_DATA_DIR"), "{said}");
    assert_eq!(
        (&finding(&said, "query")["state"], &finding(&said, "search model")["state"]),
        (&json!("good"), &json!("good"))
    );

    let world = Folder::new().await;
    let (well, said) = doctor(&world.data(), &[], &[]).await;
    assert!(well, "{said}");
    for what in ["settings", "data folder", "master key", "database", "sealed keys", "clock", "address"] {
        assert_eq!(finding(&said, what)["state"], "good", "{what}: {said}");
    }
    assert_eq!(finding(&said, "service")["mend"], "Start it with: dragoman serve");

    let (mut service, address) = world.serve().await;
    let listen = address.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    // It says itself where it listens: whoever looks need not know how it was started.
    let (well, said) = doctor(&world.data(), &[], &[]).await;
    assert!(well && finding(&said, "address")["says"].as_str().unwrap().contains(listen), "{said}");
    for what in ["service", "address", "discovery documents"] {
        assert_eq!(finding(&said, what)["state"], "good", "{what}: {said}");
    }
    assert!(finding(&said, "public address")["mend"].as_str().unwrap().contains("DRAGOMAN_PUBLIC_URL"), "{said}");
    service.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_no_setting_names_is_asked_after() {
    let folder = tempfile::tempdir().unwrap();
    let public = ("DRAGOMAN_PUBLIC_URL", "https://localhost:1");
    for (proxies, state) in [("", "note"), ("10.0.0.0/8,fd00::1", "good")] {
        let (_, said) = doctor(folder.path(), &[public, ("DRAGOMAN_TRUSTED_PROXIES", proxies)], &[]).await;
        let found = finding(&said, "proxy");
        assert_eq!(found["state"], state, "{said}");
        assert_eq!(found["mend"].as_str().unwrap().contains("DRAGOMAN_TRUSTED_PROXIES"), proxies.is_empty(), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_hardly_anybody_means_are_noted() {
    let world = Folder::new().await;
    let settings = [
        ("DRAGOMAN_ACCESS_TTL", "31536000"),
        ("DRAGOMAN_STEP_UP_TTL", "31536000"),
        ("DRAGOMAN_AUDIT_DAYS", "1"),
        ("DRAGOMAN_VERSIONS", "1"),
    ];
    let (well, said) = doctor(&world.data(), &settings, &[]).await;
    let found = finding(&said, "settings");
    assert!(well && found["state"] == "note", "{said}");
    assert!(settings.iter().all(|(name, _)| found["says"].as_str().unwrap().contains(name)), "{said}");
}

/// As after a restore whose folder was not restored with the metadata, or not whole.
#[tokio::test(flavor = "multi_thread")]
async fn data_that_the_metadata_name_and_the_folder_lacks_are_found() {
    let world = Folder::new().await;
    let data = world.data();
    let (well, said) = doctor(&data, &[], &[]).await;
    assert!(well && finding(&said, "data")["state"] == "good", "{said}");
    let is_table = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "duckdb");
    let table = files(&data).into_iter().find(is_table).unwrap().canonicalize().unwrap();
    for (is_there, wrong) in [(true, "it has 4 bytes, and was made with"), (false, "it is not there")] {
        match is_there {
            true => std::fs::write(&table, "rows").unwrap(),
            false => std::fs::remove_file(&table).unwrap(),
        }
        let wrong = format!("{}: {wrong}", table.display());
        let (well, said) = doctor(&data, &[], &[]).await;
        let found = finding(&said, "data");
        assert!(!well && found["state"] == "wrong" && found["says"].as_str().unwrap().contains(&wrong), "{said}");
        let repaired = command(&data).args(["admin", "repair", "--json"]).output().await.unwrap();
        let errors = String::from_utf8_lossy(&repaired.stderr);
        assert!(!repaired.status.success() && errors.contains("1 tables are not in the data folder"), "{errors}");
        let facts: Value = serde_json::from_slice(&repaired.stdout).unwrap();
        assert_eq!((&facts["data"]["versions"], &facts["data"]["indexes"]), (&json!(1), &json!([])));
        assert!(facts["data"]["tables"][0].as_str().unwrap().starts_with(&wrong), "{facts}");
        assert!(!errors.contains("tables=1"), "it is said once: {errors}");
    }
    // A start over it works, and says so.
    let mut serve = command(&data);
    let serve = serve.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut service = serve.spawn().unwrap();
    let mut log = BufReader::new(service.stderr.take().unwrap()).lines();
    let warned = async {
        loop {
            let line = log.next_line().await.unwrap().expect("it ended before it had looked");
            if line.contains("tables=1") {
                return line;
            }
        }
    };
    let warned = tokio::time::timeout(Duration::from_secs(60), warned).await.expect("nobody is warned");
    let wrong = format!("{}: it is not there", table.display());
    assert!(warned.contains("WARN") && warned.contains(&wrong), "{warned}");
    service.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_named_with_its_mend() {
    let world = Folder::new().await;
    let data = world.data();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = taken.local_addr().unwrap().to_string();
    let another_key = "ab".repeat(32);
    for (settings, what, words) in [
        (
            vec![("DRAGOMAN_SQL_ROWS", "0"), ("DRAGOMAN_LOG_FORMAT", "xml")],
            "settings",
            vec!["DRAGOMAN_SQL_ROWS", "DRAGOMAN_LOG_FORMAT"],
        ),
        (vec![("DRAGOMAN_LISTEN", &*busy)], "address", vec!["cannot be listened on", "DRAGOMAN_LISTEN"]),
        (
            vec![("DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/x")],
            "database",
            vec!["DATABASE_URL", "Is it running"],
        ),
        (vec![("DRAGOMAN_MASTER_KEY", &*another_key)], "sealed keys", vec!["Restore the master key"]),
        (
            vec![
                ("DRAGOMAN_LLM_PROVIDER", "openai"),
                ("DRAGOMAN_LLM_URL", "http://127.0.0.1:1/v1"),
                ("DRAGOMAN_LLM_MODEL", "m"),
            ],
            "language model",
            vec!["127.0.0.1:1", "DRAGOMAN_LLM_URL"],
        ),
    ] {
        let (well, said) = doctor(&data, &settings, &[]).await;
        let found = finding(&said, what);
        assert!(!well && found["state"] == "wrong", "{what}: {said}");
        let text = format!("{} {}", found["says"], found["mend"]);
        assert!(
            words.iter().all(|word| text.contains(word)) && !said.to_string().contains("hunter2"),
            "{what}: {text}"
        );
    }
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (_, said) = doctor(&data, &[], &[]).await;
    let found = finding(&said, "data folder");
    assert!(found["mend"].as_str().unwrap().starts_with("chmod 700"), "{said}");
    // A look mends nothing by itself, and says so in plain text too.
    let output = command(&data).env("DRAGOMAN_LISTEN", &busy).arg("doctor").output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        !output.status.success() && text.contains("WRONG  address:") && text.contains("ok     settings:"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_has_what_helps_and_no_secret() {
    let world = Folder::new().await;
    let (mut service, address) = world.serve().await;
    let http = crate::support::service::http();
    // A failure with things in it that are nobody else's business.
    let base = address.strip_suffix("/mcp").unwrap();
    let refused = http.post(format!("{base}/api/v1/ext/sql")).bearer_auth(&world.token);
    let refused = refused.json(&json!({ "sql": "SELECT 'marker-in-sql' FROM nowhere" })).send().await.unwrap();
    assert!(refused.status().is_client_error());
    let secrets = [
        ("DRAGOMAN_SMTP_URL", "smtps://me:marker-smtp@127.0.0.1:1"),
        ("DRAGOMAN_LLM_PROVIDER", "openai"),
        ("DRAGOMAN_LLM_MODEL", "m"),
        ("DRAGOMAN_LLM_URL", "http://127.0.0.1:1/v1"),
        ("DRAGOMAN_LLM_API_KEY", "marker-llm-key"),
        ("DRAGOMAN_OIDC_ISSUER", "http://127.0.0.1:1"),
        ("DRAGOMAN_OIDC_CLIENT_ID", "client"),
        ("DRAGOMAN_OIDC_CLIENT_SECRET", "marker-oidc"),
        ("DRAGOMAN_TOKEN", &*world.token),
        ("DRAGOMAN_SQL_ROWS", "123"),
    ];
    let file = world.folder.path().join("bundle.json");
    let bundle = ["--bundle", file.to_str().unwrap()];
    doctor(&world.data(), &secrets, &bundle).await;
    let text = std::fs::read_to_string(&file).unwrap();
    let key = std::fs::read_to_string(world.data().join("master.key")).unwrap();
    let secret = world.token.rsplit('_').next().unwrap();
    for hidden in ["marker", key.trim(), secret, "acme", "sales", "region"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&said["settings"]["DRAGOMAN_SQL_ROWS"], &said["settings"]["DRAGOMAN_TOKEN"]),
        (&json!("123"), &json!("(set)"))
    );
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert!(said["service"]["metrics"].as_str().unwrap().contains("dragoman_call_seconds"), "{text}");
    assert!(
        said["service"]["log"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("answered")),
        "{text}"
    );
    let of_nobody = |line: &Value| !line.as_str().unwrap().contains(" ip=");
    assert!(said["service"]["log"].as_array().unwrap().iter().all(of_nobody), "{text}");
    let failed = said["failures"].as_array().unwrap();
    assert!(failed.iter().any(|row| row["operation"] == "dragoman_sql" && row["outcome"] != "ok"), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // What is there is not written over.
    let again = command(&world.data()).arg("doctor").args(bundle).output().await.unwrap();
    let errors = String::from_utf8_lossy(&again.stderr);
    assert!(!again.status.success() && errors.contains("name a new file"), "{errors}");
    service.kill().await.unwrap();
}
