//! Deletion of a dataset: who may, and that nothing of it is left.

use std::path::PathBuf;
use std::time::Duration;

use dragoman::model::access::Role;
use dragoman::store;
use serde_json::json;

use super::{files, get, import, sql};
use crate::console::{person, send, token as csrf};
use crate::site::location;
use crate::support::databases::postgres_url;
use crate::support::service::Service;
use crate::tenancy::{both, code};

/// In the data, and nowhere else.
const CANARY: &str = "CANARY7f3a91";

/// Files of the data folder that hold the canary, as it is or with its bytes in the engine's other order.
fn with_canary(service: &Service) -> Vec<String> {
    let holds = |content: &[u8]| content.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    let found =
        files(&service.config.data_dir).into_iter().filter(|file| holds(&std::fs::read(file).unwrap_or_default()));
    found.map(|file| file.display().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_deleted_dataset_is_left() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let rows: String = (0..300).map(|id| format!("{id},{CANARY}{}\n", "x".repeat(2_000))).collect();
        let table = import(&service, &org, "secrets.csv", format!("id,body\n{rows}").as_bytes()).await;
        let text = format!("# Secrets\n\nThe word is {CANARY}, and nobody knows.\n").repeat(50);
        let texts = import(&service, &org, "plans.md", text.as_bytes()).await;
        let kept = import(&service, &org, "kept.csv", b"a\n1\n").await;
        let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
        // Whatever keeps something of the data has it now.
        let query = "SELECT * FROM secrets";
        let (_, page) = sql(&service, &admin, json!({ "sql": query })).await;
        let cursor = page["next_cursor"].as_str().unwrap().to_owned();
        assert_eq!(get(&service, &admin, &format!("/datasets/{table}/profile")).await.0, 200);
        let (failed, found) = service.tool(&admin, "dragoman_search", json!({ "query": "secret word" })).await;
        assert!(!failed && found.to_string().contains(CANARY), "{found}");
        import(&service, &org, "secrets.csv", format!("id,body\n{rows}").as_bytes()).await;
        let document = found["matches"][0]["metadata"]["document_id"].as_str().unwrap_or_default().to_owned();
        assert!(!with_canary(&service).is_empty(), "the search for it can find it");

        for (id, name) in [(&table, "secrets"), (&texts, "plans")] {
            let (status, body) = service.manage(&admin, "DELETE", &format!("/datasets/{id}?name={name}"), None).await;
            assert_eq!((status, &body["deleted"], &body["name"]), (200, &json!(true), &json!(name)), "{body}");
            let entry = service.last_audit(&org).await;
            assert_eq!(
                (entry.action.as_str(), entry.target),
                ("admin.dataset.delete", format!("delete_dataset {id} {name}"))
            );
        }
        assert_eq!(with_canary(&service), Vec::<String>::new());
        let folder = service.config.data_dir.join(format!("workspaces/{}", org.id));
        assert!(!folder.join(format!("tables/{table}")).exists() && !folder.join(format!("vectors/{texts}")).exists());

        assert_eq!(get(&service, &admin, &format!("/datasets/{table}/schema")).await.0, 404);
        assert_eq!(get(&service, &admin, &format!("/datasets/{table}/profile")).await.0, 404);
        assert_eq!(get(&service, &admin, &format!("/documents/{document}")).await.0, 404);
        let (status, body) = sql(&service, &admin, json!({ "sql": query, "cursor": cursor })).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("cursor")));
        let (status, body) = sql(&service, &admin, json!({ "sql": query })).await;
        assert_eq!((status, code(&body)), (400, "invalid_argument"), "there is no such table");
        let (_, found) = service.tool(&admin, "dragoman_search", json!({ "query": "secret word" })).await;
        assert_eq!(found["matches"], json!([]));
        let left = store::datasets::list(&mut service.db.read_tenant(org.id).await.unwrap(), org.id).await.unwrap();
        assert_eq!(left.iter().map(|dataset| dataset.id.to_string()).collect::<Vec<_>>(), [kept]);
        assert_eq!(sql(&service, &admin, json!({ "sql": "SELECT a FROM kept" })).await.1["rows"], json!([[1]]));
        let (status, _) = service.manage(&admin, "DELETE", &format!("/datasets/{table}?name=secrets"), None).await;
        assert_eq!(status, 404, "it is gone");
        assert_eq!(store::audit::verify(&service.db, Some(org.id)).await.unwrap(), None, "the record is whole");
        // The name is free again.
        import(&service, &org, "secrets.csv", b"a\n1\n").await;
    })
    .await;
}

/// A process that dies after the metadata say that a dataset is deleted, and before they have emptied their log.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_process_had_deleted_is_in_no_file_after_the_next_start() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "plans.md", format!("The word is {CANARY}.\n").as_bytes()).await;
    let mut tx = service.db.tenant(org.id).await.unwrap();
    assert!(store::datasets::delete(&mut tx, org.id, id.parse().unwrap()).await.unwrap());
    tx.commit().await.unwrap();
    assert!(with_canary(&service).iter().any(|file| file.ends_with("metadata.sqlite-wal")), "the log has it");
    let left = tempfile::tempdir().unwrap();
    let alone = service.db.writer().await.unwrap();
    for file in ["master.key", "metadata.sqlite", "metadata.sqlite-wal"] {
        std::fs::copy(service.config.data_dir.join(file), left.path().join(file)).unwrap();
    }
    drop(alone);
    service.stop().await;

    let service = Service::with(&[("DRAGOMAN_DATA_DIR", left.path().to_str().unwrap())]).await;
    assert_eq!(with_canary(&service), Vec::<String>::new());
    service.stop().await;
}

/// A call that ends after the metadata say that datasets are deleted, and before their files are.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_that_died_had_deleted_leaves_the_folder_without_a_start() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let table = import(&service, &org, "sales.csv", b"a\n1\n").await;
        let texts = import(&service, &org, "plans.md", b"# Plans\n\nThe pump leaks.\n").await;
        let kept = import(&service, &org, "kept.csv", b"a\n1\n").await;
        let mut tx = service.db.tenant(org.id).await.unwrap();
        for id in [table, texts] {
            assert!(store::datasets::delete(&mut tx, org.id, id.parse().unwrap()).await.unwrap());
        }
        tx.commit().await.unwrap();
        let folder = service.config.data_dir.join(format!("workspaces/{}", org.id));
        let is_kept = |file: &PathBuf| file.starts_with(folder.join("tables").join(&kept));
        service.gateway.renew_once().await.unwrap();
        let left = files(&folder);
        assert!(left.len() == 1 && left.iter().all(is_kept), "{left:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_at_one_node_leaves_the_folders_of_the_others() {
    let (database, key) = (postgres_url().await, "7".repeat(64));
    let settings = [("DATABASE_URL", &*database), ("DRAGOMAN_MASTER_KEY", &*key)];
    let (first, second) = (Service::with(&settings).await, Service::with(&settings).await);
    let org = first.workspace("acme").await;
    let id = import(&first, &org, "plans.md", b"# Plans\n\nThe pump leaks.\n").await;
    second.gateway.renew_once().await.unwrap();
    let indexes = || files(&second.config.data_dir.join(format!("workspaces/{}/vectors", org.id)));
    assert!(!indexes().is_empty(), "each node has an index of its own");
    let (_, admin) = first.member(&org, "ada@example.com", Role::Admin).await;
    let (status, body) = first.manage(&admin, "DELETE", &format!("/datasets/{id}?name=plans"), None).await;
    assert_eq!(status, 200, "{body}");
    second.gateway.renew_once().await.unwrap();
    assert_eq!(indexes(), Vec::<PathBuf>::new());
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_needs_the_right_the_name_and_a_recent_sign_in() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let made = service.import(&org, "sales.csv", b"a\n1\n", false).await.unwrap();
        let id = made["dataset_id"].as_str().unwrap().to_owned();
        let (_, viewer) = service.member(&org, "vic@example.com", Role::Viewer).await;
        let (_, writer) = service.member(&org, "con@example.com", Role::Contributor).await;
        let delete = async |token: &str, path: &str| {
            let (status, body) = service.manage(token, "DELETE", path, None).await;
            (status, if status == 200 { String::new() } else { code(&body).to_owned() })
        };
        let path = format!("/datasets/{id}?name=sales");
        let told = |status, code: &str| (status, code.to_owned());
        assert_eq!(delete(&viewer, &path).await, told(403, "scope_denied"));
        assert_eq!(delete(&service.token(&org).await, &path).await, told(403, "scope_denied"));
        assert_eq!(delete(&writer, &format!("/datasets/{id}?name=sale")).await, told(400, "invalid_argument"));
        assert_eq!(delete(&writer, &format!("/datasets/{id}")).await, told(400, "invalid_argument"));
        let nothing = "/datasets/01936f2e-7c1a-7000-8000-000000000001?name=sales";
        assert_eq!(delete(&writer, nothing).await, told(404, "dataset_not_found"));
        let list =
            async || store::datasets::list(&mut service.db.read_tenant(org.id).await.unwrap(), org.id).await.unwrap();
        assert_eq!(list().await.len(), 1);
        assert_eq!(delete(&writer, &path).await.0, 200);
        assert!(list().await.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_deletes_what_is_named_by_who_signed_in_lately() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let made = service.import(&org, "sales.csv", b"a\n1\n", false).await.unwrap();
    let page = format!("/w/acme/datasets/{}", made["dataset_id"].as_str().unwrap());
    let (_, browser) = person(&service, "con@example.com", &[(&org, Role::Contributor)]).await;
    let wrong = send(&browser, &page, "delete", &[("name", "other")]).await;
    assert_eq!(wrong.status(), 422);
    assert!(wrong.text().await.unwrap().contains("This is not the dataset&#39;s name"));
    let forged = browser.post(&page, &[("csrf", "00"), ("do", "delete"), ("name", "sales")]).await;
    assert_eq!(forged.status(), 403);

    service.clock.advance(service.config.limits.lifetimes.step_up + Duration::from_secs(1));
    let token = csrf(&browser.get(&page).await.text().await.unwrap());
    let form = [("csrf", token.as_str()), ("do", "delete"), ("name", "sales")];
    let old = browser.post(&page, &form).await;
    let back: String = url::form_urlencoded::byte_serialize(format!("{page}?again=").as_bytes()).collect();
    assert!(location(&old).starts_with(&format!("/login/confirm?return_to={back}")));
    assert_eq!(browser.get(&page).await.status(), 200, "it is still there");

    let (_, fresh) = person(&service, "ada@example.com", &[(&org, Role::Admin)]).await;
    let gone = send(&fresh, &page, "delete", &[("name", "sales")]).await;
    assert_eq!((gone.status().as_u16(), location(&gone).as_str()), (303, "/w/acme"));
    assert_eq!(fresh.get(&page).await.status(), 404);
    assert!(!fresh.get("/w/acme").await.text().await.unwrap().contains("sales"));
    service.stop().await;
}
