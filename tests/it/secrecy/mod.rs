//! L09 and C20: a whole story with the real program, and then a search for every secret that a client ever saw: in each
//! row of the database, in each line that the program logged at its most talkative, and in the metrics. To have one
//! more secret searched for, give it to [`Story::keep`].

mod search;
mod story;

use std::path::Path;

use sqlx::any::AnyPoolOptions;

use self::search::Secrets;
use self::story::Story;
use crate::support::databases::postgres_url;
use crate::support::dump::dump;

/// A secret with everything that its encodings could look like.
const PLANTED: &str = "dgrt_4f9Q-x_7Lk2mZ0aVbN8cR5tY1uI3oP6eW+/=~";

#[test]
fn l09_c20_the_search_finds_a_planted_secret_in_any_spelling() {
    let mut secrets = Secrets::default();
    secrets.keep("refresh token", PLANTED);
    let base64 = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    for planted in [
        PLANTED.to_owned(),
        PLANTED[5..].to_owned(),
        format!("a form: token={}&x=1", url::form_urlencoded::byte_serialize(PLANTED.as_bytes()).collect::<String>()),
        base64(PLANTED),
        // Behind one, two and three bytes, a secret is written with other letters.
        base64(&format!("a{PLANTED}z")),
        base64(&format!("ab{PLANTED}")),
        format!("Basic {}", base64(&format!("abc:{PLANTED}"))),
        dragoman::base::secret::base64url(format!("client:{PLANTED}").as_bytes()),
        hex::encode(PLANTED),
        hex::encode_upper(PLANTED),
        format!("{:?}", serde_json::json!({ "token": PLANTED }).to_string()),
    ] {
        let found = secrets.search("a place", &format!("before {planted} after"));
        assert!(found.iter().any(|found| found.contains("refresh token")), "{planted}");
    }
    for clean in ["", "dgrt_", "a form: token=x", &base64("dgrt_"), &hex::encode("dgrt_4f9Q")] {
        assert!(secrets.search("a place", clean).is_empty(), "{clean}");
    }
}

/// The pool of one who may see everything.
async fn owner(url: &str) -> sqlx::AnyPool {
    sqlx::any::install_default_drivers();
    let pool = AnyPoolOptions::new().max_connections(1).connect(url).await.unwrap();
    if url.starts_with("postgres") {
        // Sees the rows of every tenant, which an ordinary role otherwise does not.
        sqlx::query("SELECT set_config('app.tenant_id', '*', false)").execute(&pool).await.unwrap();
    }
    pool
}

#[tokio::test]
async fn l09_c20_the_search_of_a_database_sees_every_table_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}?mode=rwc", folder.path().join("planted.sqlite").display());
    for url in [file, postgres_url().await] {
        let pool = owner(&url).await;
        let bytes = if url.starts_with("sqlite") { "BLOB" } else { "BYTEA" };
        for sql in [
            format!("CREATE TABLE planted (a BIGINT, b TEXT, c {bytes})"),
            format!("INSERT INTO planted VALUES (1, NULL, NULL), (2, 'x', {})", hexed(&url, PLANTED)),
            format!("INSERT INTO planted VALUES (3, '{{\"token\":\"{PLANTED}\"}}', NULL)"),
        ] {
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();
        }
        let mut secrets = Secrets::default();
        secrets.keep("planted", PLANTED);
        assert_eq!(secrets.search("database", &dump(&pool).await).len(), 2, "{url}: as text, and as bytes");
        sqlx::query("UPDATE planted SET b = NULL, c = NULL").execute(&pool).await.unwrap();
        assert!(secrets.search("database", &dump(&pool).await).is_empty(), "{url}");
        pool.close().await;
    }
}

fn hexed(url: &str, text: &str) -> String {
    if url.starts_with("sqlite") { format!("X'{}'", hex::encode(text)) } else { format!("'\\x{}'", hex::encode(text)) }
}

#[tokio::test]
async fn l09_c20_a31_after_a_whole_story_no_secret_is_in_database_logs_or_metrics() {
    for postgres in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let url = if postgres { postgres_url().await } else { String::new() };
        let told = story::tell(folder.path(), &url).await;
        let file = format!("sqlite://{}", folder.path().join("metadata.sqlite").display());
        let pool = owner(if postgres { &url } else { &file }).await;
        let database = dump(&pool).await;
        pool.close().await;
        judge(&told, &database);
        if !postgres {
            // What was deleted, or changed, may still be in the file.
            assert_eq!(told.secrets.search("database file", &raw(folder.path())), [""; 0]);
        }
    }
}

fn judge(told: &Story, database: &str) {
    for table in ["users", "grants", "refresh_tokens", "connectivity_tokens", "browser_sessions", "audit"] {
        let rows = [format!("\n{table}: "), format!("\npublic.{table}: ")];
        assert!(rows.iter().any(|row| database.contains(row)), "{table} is empty: it proves nothing");
    }
    assert!(database.contains("ann@example.com") && database.contains("oauth.token"));
    // It was asked for all that there is, and answered requests.
    for said in ["asked=\"trace\"", "answered", "/api/oauth/token", "/login", "/mcp"] {
        assert!(told.log.contains(said), "the log does not say {said}: it proves nothing");
    }
    assert!(told.metrics.contains("dragoman_"), "{}", told.metrics);
    assert!(told.secrets.len() > 25, "only {} secrets", told.secrets.len());
    let places = [("database", database), ("log", &told.log), ("metrics", &told.metrics)];
    let found: Vec<String> = places.iter().flat_map(|(place, text)| told.secrets.search(place, text)).collect();
    assert!(found.is_empty(), "{found:#?}");

    // Nor does a line give room to what a secret would stand behind.
    let names =
        ["code=", "access_token=", "refresh_token=", "client_secret=", "password=", "authorization:", "cookie:"];
    for line in told.log.lines() {
        let lower = line.to_ascii_lowercase();
        assert!(!names.iter().any(|name| lower.contains(name)), "{line}");
    }
}

/// The bytes of the database's files, as far as they are text.
fn raw(data: &Path) -> String {
    let files = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.to_string_lossy().contains("metadata.sqlite"));
    files.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
}
