//! Data on their way in, over REST and through the gateway: all or nothing, published only when told, on both
//! metadata engines; and the record of it.

use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::model::access::{Role, Scope};
use dragoman::model::audit::Entry;
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::error::Code;
use dragoman::store::{self, Db};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::support::databases::{both, postgres_url};
use crate::support::service::{Service, json_of};

fn file(name: &str, content: &str) -> Part {
    Part::bytes(content.as_bytes().to_vec()).file_name(name.to_owned())
}

async fn upload(service: &Service, token: &str, form: Form) -> (u16, Value) {
    json_of(service.post("/api/v1/datasets", token).multipart(form).send().await.unwrap()).await
}

/// The whole service over a metadata engine: upload, publish, ask, replace, withdraw.
async fn from_upload_to_answer(service: Service) {
    let org = service.workspace("acme").await;
    let token =
        service.access_token(&org, Role::Contributor, &[Scope::DataRead, Scope::DataWrite, Scope::DatasetsWrite]).await;
    let form = Form::new()
        .text("name", "sales")
        .text("description", "By region")
        .part("file", file("x.csv", "region,total\nnorth,10\n"));
    let (status, made) = upload(&service, &token, form).await;
    assert_eq!((status, &made["row_count"], &made["published"]), (200, &json!(1), &json!(false)), "{made}");

    let sum = json!({ "sql": "SELECT sum(total) AS t FROM sales" });
    assert!(service.tool(&token, "dragoman_sql", sum.clone()).await.0, "not published: not visible");
    let id = made["dataset_id"].as_str().unwrap();
    let patch = |body: Value| {
        service.http.patch(service.url(&format!("/api/v1/datasets/{id}"))).bearer_auth(&token).json(&body).send()
    };
    assert_eq!(patch(json!({ "externally_queryable": true })).await.unwrap().status(), 200);
    assert_eq!(service.tool(&token, "dragoman_sql", sum.clone()).await.1["rows"], json!([[10]]));

    // A new version under the same name keeps id and publication.
    let form = Form::new().text("name", "sales").part("file", file("y.csv", "region,total\nnorth,1\nsouth,2\n"));
    let (_, again) = upload(&service, &token, form).await;
    assert_eq!(again["dataset_id"], made["dataset_id"]);
    assert_eq!(service.tool(&token, "dragoman_sql", sum.clone()).await.1["rows"], json!([[3]]));

    let texts = Form::new()
        .text("name", "notes")
        .text("publish", "true")
        .part("file", file("a.md", "# Returns\n\nGoods may be sent back within thirty days.\n"))
        .part("file", file("b.txt", "The warehouse in Rotterdam holds spare parts."));
    let (status, notes) = upload(&service, &token, texts).await;
    assert_eq!((status, &notes["type"]), (200, &json!("documents")), "{notes}");
    let (failed, found) = service.tool(&token, "dragoman_search", json!({ "query": "refund period" })).await;
    assert_eq!(found["note"], serde_json::Value::Null, "{found}");
    assert!(!failed);
    assert_eq!(found["matches"][0]["metadata"]["source_file"], "a.md", "{found}");

    assert_eq!(patch(json!({ "externally_queryable": false })).await.unwrap().status(), 200);
    assert!(service.tool(&token, "dragoman_sql", sum).await.0, "withdrawn at once");
    assert_eq!(store::audit::verify(&service.db, Some(org.id)).await.unwrap(), None, "the chain is whole");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_upload_to_answer_on_sqlite() {
    from_upload_to_answer(Service::start().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_upload_to_answer_on_postgresql() {
    from_upload_to_answer(Service::with(&[("DATABASE_URL", &postgres_url().await)]).await).await;
}

/// Account numbers with a letter in them are written like powers of ten; numbers that are some stay numbers.
#[tokio::test(flavor = "multi_thread")]
async fn codes_that_look_like_powers_of_ten_stay_what_they_are() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token =
        service.access_token(&org, Role::Contributor, &[Scope::DataRead, Scope::DataWrite, Scope::DatasetsWrite]).await;
    let rows = "code compta,size,share\n411000,1E5,0.5\n411E123,2E6,1E3\n";
    let form = Form::new().text("name", "accounts").text("publish", "true").part("file", file("x.csv", rows));
    let (status, made) = upload(&service, &token, form).await;
    assert_eq!(status, 200, "{made}");
    let sql = json!({ "sql": "SELECT code_compta, size, share FROM accounts ORDER BY code_compta" });
    let (_, answer) = service.tool(&token, "dragoman_sql", sql).await;
    assert_eq!(answer["rows"], json!([["411000", 100_000.0, 0.5], ["411E123", 2_000_000.0, 1_000.0]]), "{answer}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_import_says_where_and_leaves_nothing() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
    let ragged = "a,b\n1,2\n3,4,5,6\n";
    let (status, body) =
        upload(&service, &token, Form::new().text("name", "bad").part("file", file("bad.csv", ragged))).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_argument")), "{body}");
    assert!(body["error"]["details"].to_string().contains('3'), "names the line: {body}");
    for (name, content, field) in [
        ("evil.duckdb", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}DUCK", "file"),
        ("x.json", "{", "file"),
        ("t.md", "\u{0}", "file"),
    ] {
        let (status, body) =
            upload(&service, &token, Form::new().text("name", "bad").part("file", file(name, content))).await;
        assert_eq!(status, 400, "{name} {field}: {body}");
    }
    assert!(store::datasets::list(&mut service.db.read_everyone().await.unwrap(), org.id).await.unwrap().is_empty());
    let left: Vec<_> = walk(&service.config.data_dir.join("workspaces"));
    assert!(left.is_empty(), "{left:?}");
    let entry = service.last_audit(&org).await;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("rest.call", "invalid_argument"));
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() { files.extend(walk(&entry.path())) } else { files.push(entry.path()) }
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_need_the_right_and_stay_within_their_size() {
    let service = Service::with(&[("DRAGOMAN_UPLOAD_BYTES", "1000")]).await;
    let org = service.workspace("acme").await;
    let reader = service.access_token(&org, Role::Admin, &[Scope::DataRead, Scope::DataWrite]).await;
    let form = || Form::new().text("name", "big").part("file", file("big.csv", &"a\n".repeat(5000)));
    assert_eq!(upload(&service, &reader, form()).await.0, 403);
    assert_eq!(upload(&service, &service.token(&org).await, form()).await.0, 403, "connectivity tokens never write");
    let writer = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
    let (status, body) = upload(&service, &writer, form()).await;
    assert_eq!((status, &body["error"]["code"]), (413, &json!("file_too_large")));
    assert_eq!(body["error"]["details"]["max"], 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_name_holds_one_kind_of_data() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "notes.csv", b"a\n1\n", true).await.unwrap();
    let error = service.import(&org, "notes.md", b"# Notes\n\ntext", true).await.unwrap_err();
    assert_eq!((error.code, &error.details["field"]), (Code::InvalidArgument, &json!("name")));
}

fn dataset(clock: &Clock, org: Id<dragoman::model::org::Org>, name: &str) -> Dataset {
    Dataset {
        description: "d".into(),
        version: Some("v1".into()),
        row_count: 3,
        bytes: 4,
        source: "s.csv".into(),
        created_at: 5,
        updated_at: 6,
        ..Dataset::new(Id::new(clock), org, name, Kind::Table)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn datasets_are_kept_by_tenant_and_a_new_version_keeps_the_publication() {
    both(async |db: Db| {
        let clock = Clock::manual(1_700_000_000_000);
        let (acme, other) = (org(&db, &clock, "acme").await, org(&db, &clock, "other").await);
        let mut sales = dataset(&clock, acme, "sales");
        let put = async |dataset: &Dataset| {
            let mut tx = db.tenant(dataset.org).await.unwrap();
            store::datasets::put(&mut tx, dataset).await?;
            tx.commit().await.unwrap();
            Ok::<_, dragoman::model::error::Error>(())
        };
        let publish = async |org, id| {
            let mut tx = db.tenant(org).await.unwrap();
            let found = store::datasets::publish(&mut tx, org, id, true, 7).await.unwrap();
            tx.commit().await.unwrap();
            found
        };
        let by_id = async |org, id| {
            // The wall stands aside, so that what is seen is what the statement asks for.
            store::datasets::by_id(&mut db.read_everyone().await.unwrap(), org, id).await.unwrap()
        };
        put(&sales).await.unwrap();
        assert_eq!(by_id(acme, sales.id).await.as_ref(), Some(&sales));
        assert_eq!(by_id(other, sales.id).await, None);
        let mut all = db.read_everyone().await.unwrap();
        assert_eq!(store::datasets::by_name(&mut all, other, "sales").await.unwrap(), None);
        drop(all);
        assert!(!publish(other, sales.id).await, "not a stranger");
        assert!(publish(acme, sales.id).await);
        sales.version = Some("v2".into());
        put(&sales).await.unwrap();
        let kept = by_id(acme, sales.id).await.unwrap();
        assert!(kept.externally_queryable && kept.version.as_deref() == Some("v2"));
        assert!(put(&dataset(&clock, acme, "sales")).await.is_err(), "a name is taken once");
        put(&dataset(&clock, other, "sales")).await.unwrap();
    })
    .await;
}

async fn org(db: &Db, clock: &Clock, slug: &str) -> Id<dragoman::model::org::Org> {
    let org = dragoman::model::org::Org {
        id: Id::new(clock),
        slug: slug.into(),
        name: slug.into(),
        connectivity_enabled: true,
        created_at: clock.now(),
    };
    store::orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap();
    org.id
}

fn entry(org: Option<Id<dragoman::model::org::Org>>, target: &str) -> Entry {
    Entry {
        at: 1,
        org,
        principal: "user:x".into(),
        client: "c".into(),
        client_version: String::new(),
        session: String::new(),
        ip: "127.0.0.1".into(),
        request_id: "r".into(),
        action: "mcp.tool.call".into(),
        target: target.into(),
        outcome: "ok".into(),
        duration_ms: 1,
        rows: 2,
        bytes: 3,
        count: 1,
    }
}

/// L08: a row that was changed, removed or cut off shows; many writers keep one chain.
#[tokio::test(flavor = "multi_thread")]
async fn l08_the_audit_chain_shows_every_change() {
    both(async |db: Db| {
        let clock = Clock::manual(1_700_000_000_000);
        let (acme, other) = (org(&db, &clock, "acme").await, org(&db, &clock, "other").await);
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..10 {
            let db = db.clone();
            writers.spawn(async move {
                for at in 0..10 {
                    let rows =
                        [entry(Some(acme), &format!("{writer}/{at}")), entry(Some(other), "x"), entry(None, "y")];
                    store::audit::append(&db, rows.to_vec(), vec![]).await.unwrap();
                }
            });
        }
        while let Some(done) = writers.join_next().await {
            done.unwrap();
        }
        for chain in [Some(acme), Some(other), None] {
            assert_eq!(store::audit::verify(&db, chain).await.unwrap(), None);
            assert_eq!(store::audit::newest(&db, chain, 1000).await.unwrap().len(), 100);
        }
        let run = async |sql: &'static str| {
            sqlx::query(sql).bind(acme.to_string()).execute(db.pool()).await.unwrap();
            store::audit::verify(&db, Some(acme)).await.unwrap()
        };
        assert_eq!(run("DELETE FROM audit WHERE chain = $1 AND seq = 100").await, Some(100), "cut off at the end");
        assert_eq!(
            run("UPDATE audit SET entry = replace(entry, '\"rows\":2', '\"rows\":9') WHERE chain = $1 AND seq = 50")
                .await,
            Some(50)
        );
        assert_eq!(run("DELETE FROM audit WHERE chain = $1 AND seq = 7").await, Some(7));
        assert_eq!(store::audit::verify(&db, Some(other)).await.unwrap(), None, "others are not touched");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_answers_whoever_asks_and_says_of_a_workspace_to_its_own_alone() {
    Service::both(async |service| {
        let path = "/api/v1/ext/health";
        let open = async || json_of(service.http.get(service.url(path)).send().await.unwrap()).await;
        let said = |on: bool| (200, json!({ "status": "ok", "connectivity_enabled": on, "version": "1.0" }));
        // Strangers get an answer that may be a second old: the first of each service is fresh.
        let org = service.workspace("acme").await;
        assert_eq!(open().await, said(true));
        let status = async |token: &str| service.get(path, token).send().await.unwrap().status().as_u16();
        let token = service.token(&org).await;
        assert_eq!((status(&token).await, status("nonsense").await), (200, 401));
        service.identity.set_connectivity(org.id, false).await.unwrap();
        let off = async { while open().await != said(false) {} };
        tokio::time::timeout(std::time::Duration::from_secs(10), off).await.expect("the flag follows");
        assert_eq!(status(&token).await, 503);
        let posted = service.http.post(service.url(path)).send().await.unwrap();
        assert_eq!(posted.status(), 401, "nothing else is open");
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_record_cannot_be_written_is_not_ready() {
    let service = Service::start().await;
    let token = service.token(&service.workspace("acme").await).await;
    let asked = async || {
        let answer = service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status().as_u16();
        (answer, service.http.get(service.url("/health/ready")).send().await.unwrap().status().as_u16())
    };
    let run = async |sql: &'static str| sqlx::query(sql).execute(service.db.pool()).await.unwrap();
    // A row of no workspace.
    assert_eq!(service.get("/api/v1/ext/datasets", "nobody's").send().await.unwrap().status(), 401);
    assert_eq!(asked().await, (200, 200));
    run("CREATE TRIGGER full BEFORE UPDATE ON audit_heads BEGIN SELECT RAISE(ABORT, 'full'); END").await;
    assert_eq!(asked().await, (503, 503));
    run("DROP TRIGGER full").await;
    assert_eq!(asked().await, (200, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn health_answers_a_credential_and_metrics_count_without_tenant_data() {
    let admin = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let service = Service::with(&[("DRAGOMAN_ADMIN_LISTEN", &admin)]).await;
    let org = service.workspace("acme-corp").await;
    let token = service.token(&org).await;
    let (status, body) = json_of(service.get("/api/v1/ext/health", &token).send().await.unwrap()).await;
    assert_eq!((status, &body["status"], &body["connectivity_enabled"]), (200, &json!("ok"), &json!(true)));
    service.identity.set_connectivity(org.id, false).await.unwrap();
    let (status, body) = json_of(service.get("/api/v1/ext/health", &token).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["details"]["connectivity_enabled"]), (503, &json!(false)));

    for (path, answer) in [("/health/live", "live\n"), ("/health/ready", "ready\n")] {
        assert_eq!(service.http.get(service.url(path)).send().await.unwrap().text().await.unwrap(), answer);
    }
    service.identity.set_connectivity(org.id, true).await.unwrap();
    let (status, _) = json_of(service.get("/api/v1/ext/datasets/none/schema", &token).send().await.unwrap()).await;
    assert_eq!(status, 404);
    assert_eq!(service.get("/api/v1/ext/health", "nonsense").send().await.unwrap().status(), 401);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let stream = service.rpc(&token, "subscriptions/listen", params).send().await.unwrap();
    assert_eq!(stream.status(), 200);
    // By another name than this machine's, a web page would read it.
    for (host, status) in [("evil.example", 421), ("evil.example:8788", 421), ("localhost:8788", 200), ("[::1]", 200)] {
        let asked = service.http.get(format!("http://{admin}/metrics")).header("host", host);
        assert_eq!(asked.send().await.unwrap().status(), status, "{host}");
    }
    let metrics = service.http.get(format!("http://{admin}/metrics")).send().await.unwrap().text().await.unwrap();
    for line in [
        "dragoman_call_seconds_count{operation=\"dragoman_health\",outcome=\"ok\"",
        "dragoman_call_seconds_count{operation=\"dragoman_health\",outcome=\"service_unavailable\"",
        "dragoman_call_seconds_count{operation=\"dragoman_get_schema\",outcome=\"dataset_not_found\"",
        // All services of this process count together.
        "dragoman_auth_refused_total{kind=\"auth_invalid\"} ",
        "dragoman_open{of=\"streams\"} ",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(!metrics.contains("127.0.0.1"), "no address of anybody");
    drop(stream);
    assert!(!metrics.contains("acme-corp") && !metrics.contains(&org.id.to_string()));
    assert_eq!(service.http.get(service.url("/metrics")).send().await.unwrap().status(), 404, "not on the service");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_of_the_other_kind_says_which_tool_is_right() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let table = service.import(&org, "sales.csv", b"a\n1\n", true).await.unwrap();
    let texts = service.import(&org, "notes.md", b"# Notes\n\nSome text.\n", true).await.unwrap();
    let search = json!({ "query": "x", "dataset_id": table["dataset_id"] });
    let sql = json!({ "sql": "SELECT 1", "dataset_id": texts["dataset_id"] });
    for (tool, arguments, right) in
        [("dragoman_search", search, "dragoman_sql"), ("dragoman_sql", sql, "dragoman_search")]
    {
        let (failed, body) = service.tool(&token, tool, arguments).await;
        assert!(failed && body["error"]["message"].as_str().unwrap().contains(right), "{body}");
    }
}

/// Who tried without a turn would meet a busy file again and again, and might never meet one that is not.
#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite_a_single_statement_that_writes_takes_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open_sqlite(&folder.path().join("metadata.db")).await.unwrap();
    let before = db.begin().await.unwrap();
    let mut next = std::pin::pin!(db.writer());
    let waits = tokio::time::timeout(Duration::from_millis(50), &mut next).await;
    assert!(waits.is_err(), "another writes");
    before.commit().await.unwrap();
    drop(next.await.unwrap());
    let acme = org(&db, &Clock::system(), "acme").await;
    store::audit::append(&db, vec![entry(Some(acme), "x")], vec![]).await.unwrap();
    db.close().await;
}
