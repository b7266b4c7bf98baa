//! Imports beside each other, and imports whose dataset is not what they began on when they are ready.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use dragoman::engine::job::Progress;
use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::error::{Code, Result};
use dragoman::model::org::Org;
use dragoman::ops::import::{Import, Staged};
use dragoman::store;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{files, get, import, sql, versions};
use crate::support::service::{Service, as_json, operator};
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
    tokio::time::timeout(Duration::from_secs(60), reached).await.expect("it never got there").unwrap();
    Held { call, go }
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

/// On a machine with two cores and eight gigabytes at least: a smaller one imports one table at a time.
#[tokio::test(flavor = "multi_thread")]
async fn table_imports_of_different_workspaces_run_side_by_side() {
    let service = Service::start().await;
    let (org, other) = (service.workspace("acme").await, service.workspace("other").await);
    let rows = "1234567,89,some longer text to read\n".repeat(1_500_000);
    let long =
        held(&service, &org, "long.csv", format!("id,number,words\n{rows}").as_bytes(), "Reading the file").await;
    let beside = service.import(&other, "small.csv", b"a\n1\n", true);
    let beside = tokio::time::timeout(Duration::from_secs(60), beside).await.expect("it waits for another workspace");
    assert_eq!(beside.unwrap()["row_count"], 1);
    assert!(!long.call.is_finished());
    assert_eq!(long.end().await.unwrap()["row_count"], 1_500_000);
}
