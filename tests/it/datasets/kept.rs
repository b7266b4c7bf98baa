//! Earlier versions: which are kept, restored and deleted, by whom, and what is left of each.

use dragoman::model::access::{Role, Scope};
use dragoman::model::error::{Code, Error};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::{files, get, import, sql, versions};
use crate::console::{person, send};
use crate::site::location;
use crate::support::service::{Service, json_of};
use crate::tenancy::{both, code};

/// The kept versions, as the management API lists them.
async fn list(service: &Service, token: &str, id: &str) -> Vec<Value> {
    let (status, body) = service.manage(token, "GET", &format!("/datasets/{id}/versions"), None).await;
    assert_eq!(status, 200, "{body}");
    body["versions"].as_array().unwrap().clone()
}

async fn restore(service: &Service, token: &str, id: &str, version: &Value) -> (u16, Value) {
    let path = format!("/datasets/{id}/versions/{}/restore", version.as_str().unwrap());
    service.manage(token, "POST", &path, Some(json!({}))).await
}

async fn rows(service: &Service, token: &str, query: &str) -> Value {
    let (status, body) = sql(service, token, json!({ "sql": query })).await;
    assert_eq!(status, 200, "{body}");
    body["rows"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_version_becomes_the_current_one_again_for_all_who_read() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (ada, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        let id = import(&service, &org, "sales.csv", b"n,town\n1,Oslo\n2,Bergen\n").await;
        let form = Form::new().text("if_exists", "replace");
        let form = form.part("file", Part::bytes(b"n,city,euros\n7,Voss,1.5\n".to_vec()).file_name("sales.csv"));
        let sent = service.http.post(service.url("/api/v1/datasets")).bearer_auth(&writer).multipart(form);
        assert_eq!(json_of(sent.send().await.unwrap()).await.0, 200);

        let kept = list(&service, &writer, &id).await;
        let [now, before] = kept.as_slice() else { panic!("two versions: {kept:?}") };
        assert_eq!((&now["current"], &before["current"]), (&json!(true), &json!(false)));
        assert_eq!((&now["row_count"], &before["row_count"]), (&json!(1), &json!(2)));
        assert_eq!((&now["made_by"], &before["made_by"]), (&json!(ada.id.to_string()), &Value::Null));
        assert_eq!((&now["how"], &now["source"]), (&json!("import"), &json!("sales.csv")));
        assert!(before["bytes"].as_i64().unwrap() > 0 && now.get("columns").is_none(), "{kept:?}");
        assert_eq!(before["columns"], json!({ "added": ["town"], "removed": ["city", "euros"] }));

        // What reads keeps something of what it read: a page of rows, a profile, a schema.
        assert_eq!(rows(&service, &reader, "SELECT n FROM sales").await, json!([[7]]));
        assert_eq!(get(&service, &reader, &format!("/datasets/{id}/profile")).await.0, 200);
        let (status, body) = restore(&service, &writer, &id, &before["version"]).await;
        assert_eq!((status, &body["row_count"], &body["published"]), (200, &json!(2), &json!(true)), "{body}");
        assert_eq!(rows(&service, &reader, "SELECT town FROM sales ORDER BY n").await, json!([["Oslo"], ["Bergen"]]));
        let (_, schema) = get(&service, &reader, &format!("/datasets/{id}/schema")).await;
        let names: Vec<&str> =
            schema["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!((names, &schema["row_count"]), (vec!["n", "town"], &json!(2)));
        let (_, profile) = get(&service, &reader, &format!("/datasets/{id}/profile")).await;
        assert!(profile.to_string().contains("Bergen") && !profile.to_string().contains("Voss"), "{profile}");
        let entry = service.last_audit(&org).await;
        assert_ne!(entry.target, "", "{entry:?}");

        // The restoration can be taken back, and an import goes on from it.
        let kept = list(&service, &writer, &id).await;
        assert_eq!((kept.len(), &kept[0]["version"], &kept[0]["current"]), (2, &before["version"], &json!(true)));
        assert_eq!(kept[0]["restored_by"], json!(ada.id.to_string()));
        let again = restore(&service, &writer, &id, &before["version"]).await;
        assert_eq!((again.0, code(&again.1)), (400, "invalid_argument"), "it is the current one");
        assert_eq!(restore(&service, &writer, &id, &now["version"]).await.0, 200);
        assert_eq!(rows(&service, &reader, "SELECT euros FROM sales").await, json!([[1.5]]));
        assert_eq!(import(&service, &org, "sales.csv", b"n\n9\n").await, id);
        assert_eq!(list(&service, &writer, &id).await.len(), 3);
        assert_eq!(versions(&service, &org, &id).len(), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_come_back_with_their_ids_and_their_index() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        let search = async |query: &str| {
            let (failed, found) = service.tool(&reader, "dragoman_search", json!({ "query": query })).await;
            assert!(!failed, "{found}");
            found["matches"][0].clone()
        };
        let document = |found: &Value| found["id"].as_str().unwrap().split('#').next().unwrap().to_owned();
        let old = "# Storage\n\nThe tower is heated with peat.\n";
        let id = import(&service, &org, "plans.md", old.as_bytes()).await;
        let first = document(&search("peat tower").await);
        import(&service, &org, "plans.md", b"# Storage\n\nThe hall is cooled with sea water.\n").await;
        let (_, now) = get(&service, &reader, &format!("/documents/{first}")).await;
        assert!(now["text"].as_str().unwrap().contains("sea water"), "the file of its name has its id: {now}");
        assert!(!search("peat tower").await.to_string().contains("peat"));

        let kept = list(&service, &writer, &id).await;
        assert_eq!((kept.len(), &kept[1]["document_count"]), (2, &json!(1)));
        assert_eq!(restore(&service, &writer, &id, &kept[1]["version"]).await.0, 200);
        assert_eq!(document(&search("peat tower").await), first);
        let (status, read) = get(&service, &reader, &format!("/documents/{first}")).await;
        assert!(status == 200 && read.to_string().contains("heated with peat"), "{read}");
        let (_, stats) = service.tool(&reader, "rag_admin_stats", json!({})).await;
        assert_eq!(stats["sources"][0]["docs"], json!(1), "{stats}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_are_kept_as_the_settings_say_and_no_files_of_others() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", folder), ("DRAGOMAN_VERSIONS", "3")]).await;
    let org = service.workspace("acme").await;
    let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
    let mut id = String::new();
    for n in 1..=5 {
        id = import(&service, &org, "t.csv", format!("n\n{n}\n").as_bytes()).await;
    }
    let kept = list(&service, &writer, &id).await;
    assert_eq!((kept.len(), versions(&service, &org, &id).len()), (3, 3));
    // The oldest that is kept is the current one now, and stays when another comes.
    assert_eq!(restore(&service, &writer, &id, &kept[2]["version"]).await.0, 200);
    import(&service, &org, "t.csv", b"n\n6\n").await;
    let after = list(&service, &writer, &id).await;
    assert_eq!(after[1]["version"], kept[2]["version"], "{after:?}");
    let token = service.token(&org).await;
    service.stop().await;

    // A smaller number holds from the next start on; bytes count too.
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", folder), ("DRAGOMAN_VERSIONS", "2")]).await;
    assert_eq!(versions(&service, &org, &id).len(), 2);
    assert_eq!(rows(&service, &token, "SELECT n FROM t").await, json!([[6]]));
    service.stop().await;
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", folder), ("DRAGOMAN_VERSIONS_BYTES", "1000")]).await;
    assert_eq!(versions(&service, &org, &id).len(), 1);
    import(&service, &org, "t.csv", b"n\n7\n").await;
    assert_eq!(versions(&service, &org, &id).len(), 1, "an earlier one has more than 1,000 bytes");
    assert_eq!(rows(&service, &token, "SELECT n FROM t").await, json!([[7]]));
}

fn is_over(refused: &Error, most: u64) -> bool {
    let Error { code, details, .. } = refused;
    (*code, &details["limit"], &details["max"]) == (Code::LimitExceeded, &json!("workspace_bytes"), &json!(most))
        && details["was"].as_u64().unwrap() > most
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_keeps_no_more_than_it_may_and_what_is_deleted_makes_room() {
    const MOST: u64 = 1_000_000;
    both(&[("DRAGOMAN_WORKSPACE_BYTES", "1000000")], async |service| {
        let (org, other) = (service.workspace("acme").await, service.workspace("other").await);
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let mut made = Vec::new();
        let refused = loop {
            match service.import(&org, &format!("t{}.csv", made.len()), b"n\n1\n", true).await {
                Ok(reply) => made.push(reply),
                Err(refused) => break refused,
            }
        };
        assert!(is_over(&refused, MOST), "{refused:?}");
        let again = service.import(&org, "t0.csv", b"n\n2\n", true).await.unwrap_err();
        assert!(is_over(&again, MOST), "the version before is kept: {again:?}");
        let tables = service.config.data_dir.join(format!("workspaces/{}/tables", org.id));
        assert_eq!(files(&tables).len(), made.len(), "nothing of what was refused");
        let reader = service.token(&org).await;
        assert_eq!(rows(&service, &reader, "SELECT n FROM t0").await, json!([[1]]));
        service.import(&other, "t.csv", b"n\n1\n", true).await.unwrap();

        let bytes: i64 = made.iter().map(|reply| reply["bytes"].as_i64().unwrap()).sum();
        let id = made[0]["dataset_id"].as_str().unwrap();
        let (_, kept) = service.manage(&writer, "GET", &format!("/datasets/{id}/versions"), None).await;
        assert_eq!((&kept["workspace_bytes"], &kept["workspace_bytes_max"]), (&json!(bytes), &json!(MOST)), "{kept}");
        let (status, gone) = service.manage(&writer, "DELETE", &format!("/datasets/{id}?name=t0"), None).await;
        assert_eq!(status, 200, "{gone}");
        service.import(&org, "new.csv", b"n\n1\n", true).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_can_be_removed_where_no_more_may_be_kept() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", folder)]).await;
    let org = service.workspace("acme").await;
    let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
    let file = |text: &'static str, name: &'static str| Part::bytes(text.as_bytes()).file_name(name);
    let form = Form::new().text("name", "notes").text("publish", "true");
    let form = form.part("file", file("The ferry leaves.", "a.md")).part("file", file("Bread is late.", "b.md"));
    let sent = service.http.post(service.url("/api/v1/datasets")).bearer_auth(&writer).multipart(form);
    let (status, notes) = json_of(sent.send().await.unwrap()).await;
    assert_eq!(status, 200, "{notes}");
    let reader = service.token(&org).await;
    let (_, found) = service.tool(&reader, "dragoman_search", json!({ "query": "ferry" })).await;
    let document = found["matches"][0]["id"].as_str().unwrap().split('#').next().unwrap().to_owned();
    service.stop().await;

    let service = Service::with(&[("DRAGOMAN_DATA_DIR", folder), ("DRAGOMAN_WORKSPACE_BYTES", "1")]).await;
    let refused = service.import(&org, "c.md", b"Planes are late too.", true).await.unwrap_err();
    assert!(is_over(&refused, 1), "{refused:?}");
    let (_, writer) = service.member(&org, "bob@example.com", Role::Contributor).await;
    let path = format!("/datasets/{}/documents/{document}", notes["dataset_id"].as_str().unwrap());
    let (status, gone) = service.manage(&writer, "DELETE", &path, None).await;
    assert_eq!((status, &gone["documents"]["total"]), (200, &json!(1)), "{gone}");
}

/// In one version, and in no other.
const CANARY: &str = "CANARY91be04";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_deleted_version_is_left() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let table = import(&service, &org, "t.csv", format!("word\n{CANARY}\n").repeat(40).as_bytes()).await;
        let text = format!("# Plans\n\nThe word is {CANARY}, and nobody knows.\n");
        let texts = import(&service, &org, "plans.md", text.as_bytes()).await;
        import(&service, &org, "t.csv", b"word\nnothing\n").await;
        import(&service, &org, "plans.md", b"# Plans\n\nThere is none.\n").await;
        let holds = |file: &std::path::PathBuf| {
            let content = std::fs::read(file).unwrap_or_default();
            content.windows(CANARY.len()).any(|part| part == CANARY.as_bytes())
        };
        assert!(files(&service.config.data_dir).iter().any(holds), "the look for it can find it");
        for id in [&table, &texts] {
            let kept = list(&service, &writer, id).await;
            let at = |index: usize| format!("/datasets/{id}/versions/{}", kept[index]["version"].as_str().unwrap());
            let (status, refused) = service.manage(&writer, "DELETE", &at(0), None).await;
            assert_eq!((status, code(&refused)), (400, "invalid_argument"), "the current one stays");
            let (status, gone) = service.manage(&writer, "DELETE", &at(1), None).await;
            assert_eq!((status, &gone["deleted"]), (200, &json!(true)), "{gone}");
            assert_eq!(service.last_audit(&org).await.action, "admin.dataset.delete");
            assert_eq!(service.manage(&writer, "DELETE", &at(1), None).await.0, 404);
            assert_eq!(restore(&service, &writer, id, &kept[1]["version"]).await.0, 404);
            assert_eq!(list(&service, &writer, id).await.len(), 1);
        }
        let left: Vec<_> = files(&service.config.data_dir).into_iter().filter(holds).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(rows(&service, &service.token(&org).await, "SELECT word FROM t").await, json!([["nothing"]]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_for_who_may_write_and_hidden_columns_stay_hidden() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let id = import(&service, &org, "t.csv", b"n,secret\n1,x\n").await;
        let client = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
        let (_, viewer) = service.member(&org, "vic@example.com", Role::Viewer).await;
        let path = format!("/datasets/{id}/versions");
        for token in [&viewer, &service.token(&org).await] {
            let (status, body) = service.manage(token, "GET", &path, None).await;
            assert_eq!((status, code(&body)), (403, "scope_denied"));
        }
        let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
        let page = format!("/w/acme/datasets/{id}");
        let hide = [("title", ""), ("description", ""), ("hidden:secret", "1")];
        assert_eq!(send(&browser, &page, "describe", &hide).await.status(), 303);
        import(&service, &org, "t.csv", b"n\n2\n").await;
        let kept = list(&service, &client, &id).await;
        assert!(kept.len() == 2 && !json!(kept).to_string().contains("secret"), "{kept:?}");
        assert_eq!(restore(&service, &client, &id, &kept[1]["version"]).await.0, 200);
        let reader = service.token(&org).await;
        assert_eq!(rows(&service, &reader, "SELECT * FROM t").await, json!([[1]]));

        let other = service.workspace("other").await;
        let (_, stranger) = service.member(&other, "eve@example.com", Role::Admin).await;
        assert_eq!(service.manage(&stranger, "GET", &path, None).await.0, 404);
        assert_eq!(restore(&service, &stranger, &id, &kept[0]["version"]).await.0, 404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_shows_what_is_kept_and_restores_it() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "sales.csv", b"n,town\n1,Oslo\n").await;
    let page = format!("/w/acme/datasets/{id}");
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let text = async || browser.get(&page).await.text().await.unwrap();
    assert!(!text().await.contains(">Restore<"), "there is one alone");
    import(&service, &org, "sales.csv", b"n\n2\n3\n").await;
    let shown = text().await;
    for part in
        ["Versions", "up to 5 versions", "also <bdi>town</bdi>", ">Restore<", "AI clients read a restored version"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let version = shown.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let done = send(&browser, &page, "restore", &[("version", &version)]).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, format!("{page}#versions")));
    let shown = text().await;
    assert!(shown.contains("Oslo") && shown.contains("restored"), "{shown}");
    let unknown = send(&browser, &page, "restore", &[("version", "x")]).await;
    assert_eq!(unknown.status(), 422);
    assert!(unknown.text().await.unwrap().contains("There is no such version"));
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    assert!(!viewer.get(&page).await.text().await.unwrap().contains("id=\"versions\""));
}
