//! Imports beside each other, and imports whose dataset is not what they began on when they are ready.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use dragoman::engine::job::Progress;
use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::error::{Code, Result};
use dragoman::model::org::Org;
use dragoman::ops::import::{Import, Staged};
use dragoman::ops::update_dataset::UpdateDataset;
use dragoman::store;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{files, get, import, sql, until, versions};
use crate::support::databases::postgres_url;
use crate::support::service::{Service, as_json, json_of, operator};
use crate::tenancy::both;

/// An import that stands still where it was told to, until it is let go.
struct Held {
    call: JoinHandle<Result<Value>>,
    go: mpsc::Sender<()>,
}

impl Held {
    /// Lets it go, and returns what became of it.
    async fn end(self) -> Result<Value> {
        drop(self.go);
        self.call.await.unwrap()
    }
}

/// Begins an import as the operator; returns when it says for the first time what begins with `at`.
async fn held(service: &Service, org: &Org, file: &str, content: &[u8], at: &'static str) -> Held {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, content).unwrap();
    let (go, gate) = mpsc::channel::<()>();
    let (tell, reached) = oneshot::channel();
    let held = Mutex::new(Some((tell, gate)));
    let mut via = Via::new("admin.call");
    via.on_progress = Some(Arc::new(move |progress: Progress| {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.message.starts_with(at)
            && let Some((tell, gate)) = held.take()
        {
            tell.send(()).unwrap();
            // Ends when the other side is dropped.
            let _gone = tokio::task::block_in_place(|| gate.recv());
        }
    }));
    let files = vec![Staged { name: file.to_owned(), path }];
    let op = Import { publish: true, files, ..Import::default() };
    let (gateway, caller) = (service.gateway.clone(), operator(org));
    let call = tokio::spawn(async move {
        let reply = as_json(gateway.call(&caller, op, via).await);
        drop(folder);
        reply
    });
    match tokio::time::timeout(Duration::from_secs(60), reached).await.expect("it never got there") {
        Ok(()) => Held { call, go },
        Err(_) => panic!("it ended before: {:?}", call.await),
    }
}

async fn delete(service: &Service, admin: &str, id: &str, name: &str) {
    let (status, body) = service.manage(admin, "DELETE", &format!("/datasets/{id}?name={name}"), None).await;
    assert_eq!((status, &body["deleted"]), (200, &json!(true)), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_while_it_is_imported_stays_deleted() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
        let kinds: [(&str, &str, &[u8]); 2] =
            [("sales.csv", "sales", b"a\n1\n"), ("plans.md", "plans", b"# Plans\n\nThe pump leaks.\n")];
        for (file, name, content) in kinds {
            let id = import(&service, &org, file, content).await;
            let held = held(&service, &org, file, content, "Publishing").await;
            delete(&service, &admin, &id, name).await;
            let refused = held.end().await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &json!("name")));
            assert!(refused.message.contains("was deleted while it was imported"), "{refused}");
            assert_eq!(get(&service, &admin, &format!("/datasets/{id}/schema")).await.0, 404);
        }
        let listed = store::datasets::list(&mut service.db.read_tenant(org.id).await.unwrap(), org.id).await.unwrap();
        assert_eq!(listed, []);
        let left = files(&service.config.data_dir.join(format!("workspaces/{}", org.id)));
        assert!(left.is_empty(), "{left:?}");
        let (_, found) = service.tool(&admin, "dragoman_search", json!({ "query": "pump" })).await;
        assert_eq!(found["matches"], json!([]));
        // The name is free again.
        import(&service, &org, "sales.csv", b"a\n2\n").await;
        assert_eq!(sql(&service, &admin, json!({ "sql": "SELECT a FROM sales" })).await.1["rows"], json!([[2]]));

        // So is a workspace that is erased meanwhile.
        let held = held(&service, &org, "late.csv", b"a\n3\n", "Publishing").await;
        service.gateway.erase_workspace(&operator(&org)).await.unwrap();
        let refused = held.end().await.unwrap_err();
        assert!(refused.code == Code::NotFound && refused.message.contains("erased"), "{refused}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_the_next_version_of_nothing_but_what_it_began_on() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
        let rows = async || sql(&service, &admin, json!({ "sql": "SELECT v FROM t" })).await.1["rows"].clone();

        // Of two that begin on the same version the one that ends last stays.
        let id = import(&service, &org, "t.csv", b"v\n1\n").await;
        let second = held(&service, &org, "t.csv", b"v\n3\n", "Publishing").await;
        assert_eq!(import(&service, &org, "t.csv", b"v\n2\n").await, id);
        second.end().await.unwrap();
        assert_eq!((rows().await, versions(&service, &org, &id).len()), (json!([[3]]), 3), "all of them are kept");

        // One that was made anew under the name is another one.
        let of_the_old = held(&service, &org, "t.csv", b"v\n5\n", "Publishing").await;
        delete(&service, &admin, &id, "t").await;
        let anew = import(&service, &org, "t.csv", b"v\n4\n").await;
        assert_ne!(anew, id);
        let refused = of_the_old.end().await.unwrap_err();
        assert!(refused.code == Code::InvalidArgument && refused.message.contains("Another import"), "{refused}");
        assert_eq!((rows().await, versions(&service, &org, &anew).len()), (json!([[4]]), 1));
        assert_eq!(versions(&service, &org, &id).len(), 0);

        // So is one that was made where there was none.
        let first = held(&service, &org, "fresh.csv", b"v\n1\n", "Publishing").await;
        let fresh = import(&service, &org, "fresh.csv", b"v\n2\n").await;
        assert_eq!(first.end().await.unwrap_err().code, Code::InvalidArgument);
        assert_eq!(versions(&service, &org, &fresh).len(), 1);
    })
    .await;
}

/// An import that is in the midst of its reading, and so has the turn of its workspace.
async fn reading(service: &Service, org: &Org) -> Held {
    held(service, org, "first.csv", b"id,number,words\n1,2,three\n", "Reading the file").await
}

/// Two imports over HTTP, of which each has seen what there is before the other is ready; what became of them.
async fn at_once(service: &Service, org: &Org, token: &str, how: &'static str, rows: [&str; 2]) -> [(u16, Value); 2] {
    let first = reading(service, org).await;
    let staging = service.config.data_dir.join(format!("workspaces/{}/staging", org.id));
    let folders = || std::fs::read_dir(&staging).map_or(0, Iterator::count);
    let before = folders();
    let calls = rows.map(|rows| {
        let file = Part::bytes(format!("v\n{rows}").into_bytes()).file_name("t.csv");
        let form = Form::new().text("if_exists", how).text("publish", "true").part("file", file);
        tokio::spawn(service.http.post(service.url("/api/v1/datasets")).bearer_auth(token).multipart(form).send())
    });
    // Each has one for what came, and one for what is made of it, when it waits for its turn.
    until("both wait", || folders() == before + 4).await;
    first.end().await.unwrap();
    let [one, other] = calls.map(async |call| json_of(call.await.unwrap().unwrap()).await);
    [one.await, other.await]
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_at_once_one_says_so_and_the_rows_of_the_other_are_whole() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
    let made = async |before: &[i32], how| {
        let answers = at_once(&service, &org, &admin, how, ["2\n3\n", "4\n5\n"]).await;
        let (lost, won) = match answers {
            [lost @ (400, _), (200, _)] => (lost.1, [4, 5]),
            [(200, _), lost @ (400, _)] => (lost.1, [2, 3]),
            both => panic!("{how}: {both:?}"),
        };
        let said = lost["error"]["message"].as_str().unwrap();
        assert!(said.starts_with("Another import has just made \"t\""), "{how}: {said}");
        let mut rows: Vec<[i32; 1]> = before.iter().copied().chain(won).map(|v| [v]).collect();
        rows.sort_unstable();
        let (_, body) = sql(&service, &admin, json!({ "sql": "SELECT v FROM t ORDER BY v" })).await;
        assert_eq!(body["rows"], json!(rows), "{how}: {body}");
        won
    };
    let [first, second] = made(&[], "refuse").await;
    made(&[first, second], "append").await;
    service.stop().await;
}

/// On a machine with two cores and eight gigabytes at least: a smaller one imports one table at a time.
#[tokio::test(flavor = "multi_thread")]
async fn table_imports_of_different_workspaces_run_side_by_side() {
    let service = Service::start().await;
    let (org, other) = (service.workspace("acme").await, service.workspace("other").await);
    let first = reading(&service, &org).await;
    let beside = service.import(&other, "small.csv", b"a\n1\n", true);
    let beside = tokio::time::timeout(Duration::from_secs(60), beside).await.expect("it waits for another workspace");
    assert_eq!(beside.unwrap()["row_count"], 1);
    assert!(!first.call.is_finished());
    assert_eq!(first.end().await.unwrap()["row_count"], 1);
}

/// On PostgreSQL, where whoever describes a dataset waits for those who name one, and not for long.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_the_texts_of_an_import() {
    const WAITING: &str = "SELECT COUNT(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE d.datname = current_database() AND l.relation = CAST('documents' AS regclass) AND NOT l.granted";
    let service = Service::with(&[("DATABASE_URL", &postgres_url().await)]).await;
    let org = service.workspace("acme").await;
    let sales = import(&service, &org, "sales.csv", b"a\n1\n").await;
    // The first makes the dataset, the second is its next version.
    for text in ["# Plans\n\nThe pump leaks.\n", "# Plans\n\nThe pump is tight.\n"] {
        let mut wall = service.db.begin().await.unwrap();
        sqlx::query("LOCK TABLE documents IN SHARE MODE").execute(&mut *wall).await.unwrap();
        let describe = async {
            while sqlx::query_scalar::<_, i64>(WAITING).fetch_one(service.db.pool()).await.unwrap() == 0 {
                tokio::task::yield_now().await;
            }
            let words = json!({ "dataset_id": sales, "title": "Sales" });
            let op: UpdateDataset = serde_json::from_value(words).unwrap();
            let described = as_json(service.gateway.call(&operator(&org), op, Via::new("admin.call")).await);
            wall.commit().await.unwrap();
            described
        };
        let imported = service.import(&org, "plans.md", text.as_bytes(), true);
        let (imported, described) = tokio::join!(imported, describe);
        assert_eq!(described.unwrap()["title"], "Sales");
        assert_eq!(imported.unwrap()["name"], "plans");
    }
    service.stop().await;
}
