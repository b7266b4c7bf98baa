//! Documents that are kept from tables: rows come, change and go, and their documents with them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::engine::syncs::Syncs;
use dragoman::gateway::Via;
use dragoman::model::access::{Role, Scope};
use dragoman::model::document::Changes;
use dragoman::model::org::Org;
use dragoman::model::sync::{DocumentSync, Mapping, Origin, Run, State};
use dragoman::ops::document_syncs::ListSyncs;
use dragoman::ops::publish::Publish;
use dragoman::ops::rag::admin_sync::AdminSync;
use dragoman::ops::update_dataset::UpdateDataset;
use dragoman::store;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::console::{person, send};
use crate::site::Browser;
use crate::sources::{OPEN, Ready, Shop as Server};
use crate::support::databases::both;
use crate::support::service::{Service, as_json, operator};

pub(super) const FIRST: &str = "id,title,body,changed\n\
    1,Returns,Goods may be sent back within thirty days.,2024-01-01\n\
    2,Lunch,The canteen opens at noon.,2024-01-02\n\
    3,Planes,Many planes left late in July.,2024-01-03\n\
    4,Also lunch,,2024-01-03\n\
    5,,,2024-01-03\n";

/// 2 is gone, 3 says something else, 6 is new with a time that was over before.
const SECOND: &str = "id,title,body,changed\n\
    1,Returns,Goods may be sent back within thirty days.,2024-01-01\n\
    3,Planes,Nearly all planes left on time in August.,2024-02-01\n\
    4,Also lunch,,2024-01-03\n\
    5,,,2024-01-03\n\
    6,Parking,The garage closes at ten.,2023-12-01\n";

/// An admin of a workspace with a table.
pub(super) struct Shop {
    pub(super) service: Service,
    pub(super) org: Org,
    pub(super) admin: String,
}

impl Shop {
    pub(super) async fn open(service: Service, rows: &str) -> Self {
        let org = service.workspace("acme").await;
        service.import(&org, "posts.csv", rows.as_bytes(), true).await.unwrap();
        let admin = service.access_token(&org, Role::Admin, &Scope::ALL).await;
        Self { service, org, admin }
    }

    pub(super) async fn set(&self, sync: Value) -> (u16, Value) {
        self.service.manage(&self.admin, "POST", "/document-syncs", Some(sync)).await
    }

    /// Asks for a run as the workspace's own people do.
    pub(super) async fn bring(&self, name: &str) -> Value {
        let op = AdminSync { source_names: vec![name.to_owned()] };
        as_json(self.service.gateway.call(&operator(&self.org), op, Via::new("admin.call")).await).unwrap()
    }

    /// A dataset's last run, once it is over.
    pub(super) async fn ended(&self, name: &str) -> Value {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let listed = syncs(&self.service, &self.org).await;
            let sync = listed.as_array().unwrap().iter().find(|sync| sync["name"] == name);
            let run = &sync.unwrap_or_else(|| panic!("{listed}"))["run"];
            if run["state"] == "done" || run["state"] == "failed" {
                return run.clone();
            }
            assert!(Instant::now() < end, "{run}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(super) async fn ask(&self, tool: &str, arguments: Value) -> Value {
        let (failed, body) = self.service.tool(&self.admin, tool, arguments).await;
        assert!(!failed, "{body}");
        body
    }

    pub(super) async fn publish(&self, name: &str) {
        let dataset = self.dataset(name).await;
        // The operator's: a client publishes only what it sees.
        let op: Publish =
            serde_json::from_value(json!({ "dataset_id": dataset, "externally_queryable": true })).unwrap();
        self.service.gateway.call(&operator(&self.org), op, Via::new("admin.call")).await.unwrap();
    }

    pub(super) async fn dataset(&self, name: &str) -> String {
        let mut read = self.service.db.read_tenant(self.org.id).await.unwrap();
        store::datasets::by_name(&mut read, self.org.id, name).await.unwrap().unwrap().id.to_string()
    }

    /// Names and ids of the documents that a search for words finds.
    pub(super) async fn found(&self, query: &str) -> BTreeSet<(String, String)> {
        let reply = self.ask("rag_search_fts", json!({ "query": query, "k": 50 })).await;
        let hits = reply["results"].as_array().unwrap().iter();
        hits.map(|hit| {
            let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{hit}")).to_owned();
            (text(&hit["metadata"]["source_file"]), text(&hit["doc_id"]))
        })
        .collect()
    }
}

/// The syncs of a workspace as its own people see them: clients hear of those alone whose datasets are published.
pub(super) async fn syncs(service: &Service, org: &Org) -> Value {
    let listed = service.gateway.call(&operator(org), ListSyncs {}, Via::new("admin.call")).await;
    as_json(listed).unwrap()["syncs"].clone()
}

pub(super) fn names(found: &BTreeSet<(String, String)>) -> Vec<&str> {
    found.iter().map(|(name, _)| name.as_str()).collect()
}

pub(super) fn counts(run: &Value) -> [u64; 5] {
    ["added", "replaced", "unchanged", "removed", "total"]
        .map(|key| run["changes"][key].as_u64().unwrap_or_else(|| panic!("{run}")))
}

fn posts() -> Value {
    json!({ "name": "texts", "table": "posts", "key": "id", "title": "title", "text": ["body"], "changed": "changed" })
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_the_rows_of_a_table() {
    Service::both(async |service| {
        let shop = Shop::open(service, FIRST).await;
        let (status, set) = shop.set(posts()).await;
        assert_eq!(status, 200, "{set}");
        let run = shop.ended("texts").await;
        assert_eq!((run["state"].as_str(), counts(&run)), (Some("done"), [4, 0, 0, 0, 4]), "{run}");
        assert!(shop.found("planes").await.is_empty(), "no client sees it before it is published");
        shop.publish("texts").await;
        let planes = shop.found("planes").await;
        assert_eq!(names(&planes), ["posts:3"]);
        assert_eq!(names(&shop.found("lunch").await), ["posts:2", "posts:4"], "titles are found too");

        shop.service.import(&shop.org, "posts.csv", SECOND.as_bytes(), true).await.unwrap();
        let asked = shop.ask("rag_admin_sync", json!({ "source_names": ["texts"] })).await;
        assert_eq!((&asked["accepted"], &asked["sources"][0]["job_id"]), (&json!(true), &asked["job_id"]), "{asked}");
        let run = shop.ended("texts").await;
        assert_eq!((&run["job_id"], counts(&run)), (&asked["job_id"], [1, 1, 1, 1, 4]), "{run}");
        assert_eq!(shop.found("planes August").await.first(), planes.first(), "its id stays");
        assert_eq!(names(&shop.found("lunch").await), ["posts:4"]);
        assert_eq!(names(&shop.found("garage").await), ["posts:6"], "a row that came late is found by its key");
        let stats = shop.ask("rag_admin_stats", json!({})).await;
        let source =
            stats["sources"].as_array().unwrap().iter().find(|source| source["source_name"] == "texts").unwrap();
        assert_eq!((source["docs"].as_u64(), &source["sync"]["state"]), (Some(4), &json!("done")), "{source}");

        let run = shop.ask("rag_admin_sync", json!({ "source_names": [] })).await;
        assert_eq!(run["sources"].as_array().unwrap().len(), 1);
        let run = shop.ended("texts").await;
        assert_eq!(counts(&run)[..2], [0, 0], "{run}");
        let record = store::audit::newest(&shop.service.db, Some(shop.org.id), 50).await.unwrap();
        let (_, audit) = record.into_iter().find(|(_, entry)| entry.action == "admin.document.sync").unwrap();
        assert_eq!((audit.outcome.as_str(), audit.target.as_str()), ("ok", "texts from posts"));
        shop.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rows_say_beside_their_text_narrows_searches_and_a_document_leads_to_its_row() {
    let rows = "id,title,body,written,labels,score\n\
        1,Returns,Goods may be sent back.,2022-01-31 09:00:00,\"Policy, shop\",12\n\
        2,Lunch,Goods are eaten at noon.,2024-05-05 10:00:00,canteen,3\n";
    let shop = Shop::open(Service::start().await, rows).await;
    let mut sync = json!({ "name": "texts", "table": "posts", "key": "id", "title": "title", "text": ["body"] });
    assert_eq!(shop.set(sync.clone()).await.0, 200);
    shop.ended("texts").await;
    shop.publish("texts").await;
    let (_, before) = shop.found("goods back").await.pop_first().unwrap();
    for (field, value) in [("created", json!("written")), ("tags", json!("labels")), ("metadata", json!(["score"]))] {
        sync[field] = value;
    }
    assert_eq!(shop.set(sync.clone()).await.0, 200);
    let run = shop.ended("texts").await;
    assert_eq!(counts(&run), [0, 2, 0, 0, 2], "the same texts say more of themselves: {run}");
    for filters in [
        json!({ "created_before": "2023-01-01" }),
        json!({ "tags_any": ["policy"] }),
        json!({ "metadata": { "score": { "gte": 10 } } }),
    ] {
        let reply = shop.ask("rag_search_fts", json!({ "query": "goods", "filters": filters })).await;
        let hits = reply["results"].as_array().unwrap();
        assert_eq!((hits.len(), &hits[0]["doc_id"]), (1, &json!(before)), "{filters}: {reply}");
    }
    let read = shop.ask("rag_get_docs", json!({ "doc_ids": [before] })).await;
    assert_eq!(
        (&read["docs"][0]["pk_json"], &read["docs"][0]["metadata"]["score"]),
        (&json!({ "id": "1" }), &json!(12)),
        "{read}"
    );
    let fetched = shop.ask("rag_fetch_from_source", json!({ "doc_ids": [before], "columns": ["title"] })).await;
    let row = &fetched["rows"][0];
    assert_eq!((&row["row"], &row["source_name"]), (&json!({ "title": "Returns" }), &json!("posts")), "{fetched}");
    sync["metadata"] = json!(["scor"]);
    let (status, refused) = shop.set(sync).await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("metadata")), "{refused}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_say_very_much_of_themselves_fill_no_reply() {
    const ROWS: usize = 12;
    let columns: Vec<String> = (0..20).map(|n| format!("m{n}")).collect();
    let wide = (0..20).map(|n| "é".repeat(if n == 0 { 60_000 } else { 600 })).collect::<Vec<_>>().join(",");
    let row = |n: usize| format!("{n},Ship {n} waits at the lock.,{wide}\n");
    let rows = format!("id,body,{}\n{}", columns.join(","), (0..ROWS).map(row).collect::<String>());
    let shop = Shop::open(Service::start().await, &rows).await;
    let set = json!({ "name": "texts", "table": "posts", "key": "id", "text": ["body"], "metadata": columns });
    assert_eq!(shop.set(set).await.0, 200);
    let run = shop.ended("texts").await;
    assert_eq!(counts(&run), [12, 0, 0, 0, 12], "{run}");
    shop.publish("texts").await;
    let most = shop.service.config.limits.budgets.reply_bytes;
    // Every page has something, and the last one ends.
    let all = async |tool: &str, mut arguments: Value, listed: &str| -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let reply = shop.ask(tool, arguments.clone()).await;
            let page = reply[listed].as_array().unwrap();
            assert!(!page.is_empty() && reply.to_string().len() <= most, "{tool}: {}", page.len());
            all.extend(page.iter().cloned());
            match reply.get("next_cursor") {
                Some(next) => arguments["cursor"] = next.clone(),
                None => return all,
            }
        }
    };
    let hits = all("rag_search_fts", json!({ "query": "lock", "k": 50 }), "results").await;
    let ids: BTreeSet<&str> = hits.iter().map(|hit| hit["doc_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), ROWS);
    let said = hits[0]["metadata"]["document"]["m0"].as_str().unwrap();
    assert_eq!(said, format!("{}…", "é".repeat(500)));
    let docs = all("rag_get_docs", json!({ "doc_ids": ids }), "docs").await;
    assert_eq!(docs.len(), ROWS);
    assert!(docs.iter().all(|doc| doc["metadata"]["m0"] == said && doc["body"].is_string()));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_no_document_can_be_called_by_is_refused() {
    let rows = format!("id,body,number\n{},Words.,1\n", "k".repeat(2_000));
    let shop = Shop::open(Service::start().await, &rows).await;
    assert_eq!(shop.set(json!({ "name": "texts", "table": "posts", "key": "id", "text": ["body"] })).await.0, 200);
    let run = shop.ended("texts").await;
    let said = run["message"].as_str().unwrap();
    assert!(run["state"] == "failed" && said.contains("id of posts has a value of 2000 bytes"), "{run}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_kept_is_said_by_its_name() {
    let shop = Shop::open(Service::start().await, "id,kind,body\n1,a,x\n2,a,x\n").await;
    let set =
        |key: &str, column: &str, table: &str| json!({ "name": "texts", "table": table, "key": key, "text": [column] });
    for (sync, field, hint) in [
        (set("id", "body", "post"), "table", "list of datasets"),
        (set("ident", "body", "posts"), "key", "no column"),
        (set("id", "bodi", "posts"), "text", "Did you mean body?"),
        (json!({ "name": "posts", "table": "posts", "key": "id", "text": ["body"] }), "name", "holds a table"),
        (
            json!({ "name": "texts", "table": "posts", "key": "id", "text": ["body"], "every_minutes": 0 }),
            "every_minutes",
            "1 to",
        ),
    ] {
        let (status, body) = shop.set(sync.clone()).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{sync} {body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(hint), "{body}");
    }
    let (failed, body) = shop.service.tool(&shop.admin, "rag_admin_sync", json!({ "source_names": ["notes"] })).await;
    assert!(failed && body["error"]["message"].as_str().unwrap().contains("\"notes\""), "{body}");

    assert_eq!(shop.set(set("kind", "body", "posts")).await.0, 200);
    let run = shop.ended("texts").await;
    assert_eq!(run["state"], "failed");
    assert!(
        run["message"].as_str().unwrap().contains("kind is no key of posts: in 2 rows it has 1 different value."),
        "{run}"
    );
    // Rows of equal texts are documents of their own.
    assert_eq!(shop.set(set("id", "body", "posts")).await.0, 200);
    assert_eq!(counts(&shop.ended("texts").await), [2, 0, 0, 0, 2]);
    shop.service.stop().await;
}

/// Processes that have a file of a folder open, whether it was removed or not.
fn holders(folder: &Path) -> Vec<Pid> {
    let holds = |process: &i32| {
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|file| file.starts_with(folder))
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(holds).map(Pid::from_raw).collect()
}

/// A run whose first statement waits for a worker that stands still, the worker, and the folder of the table.
async fn standing(sync: Value) -> (Shop, Pid, PathBuf) {
    let shop = Shop::open(Service::with(&[("DRAGOMAN_SQL_KNOWN_MB", "0")]).await, FIRST).await;
    assert_eq!(shop.set(sync).await.0, 200);
    shop.ended("texts").await;
    let (id, data) = (shop.dataset("posts").await, shop.service.config.data_dir.canonicalize().unwrap());
    let folder = data.join(format!("workspaces/{}/tables/{id}", shop.org.id));
    let [worker] = holders(&folder)[..] else { panic!("one worker") };
    kill(worker, Signal::SIGSTOP).unwrap();
    shop.bring("texts").await;
    let end = Instant::now() + Duration::from_secs(30);
    while syncs(&shop.service, &shop.org).await[0]["run"]["state"] == "waiting" {
        assert!(Instant::now() < end, "the run does not begin");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    (shop, worker, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_leaves_no_worker_that_holds_a_table_which_was_erased_meanwhile() {
    let (shop, worker, folder) = standing(posts()).await;
    let (id, end) = (shop.dataset("posts").await, Instant::now() + Duration::from_secs(30));
    let path = format!("/datasets/{id}?name=posts");
    let (status, gone) = shop.service.manage(&shop.admin, "DELETE", &path, None).await;
    assert_eq!(status, 200, "{gone}");
    let _one_that_was_let_go_of_already = kill(worker, Signal::SIGCONT);
    shop.ended("texts").await;
    while !holders(&folder).is_empty() {
        assert!(Instant::now() < end, "a worker still holds it");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_brings_no_dataset_back_that_was_deleted_meanwhile() {
    let mut all = posts();
    all.as_object_mut().unwrap().remove("changed");
    let (shop, worker, _) = standing(all).await;
    shop.publish("texts").await;
    let path = format!("/datasets/{}?name=texts", shop.dataset("texts").await);
    let (status, gone) = shop.service.manage(&shop.admin, "DELETE", &path, None).await;
    assert_eq!(status, 200, "{gone}");
    let _one_that_was_let_go_of_already = kill(worker, Signal::SIGCONT);
    let end = Instant::now() + Duration::from_secs(60);
    let runs = async || {
        let record = store::audit::newest(&shop.service.db, Some(shop.org.id), 500).await.unwrap();
        record.iter().filter(|(_, entry)| entry.action == "admin.document.sync").count()
    };
    while runs().await < 2 {
        assert!(Instant::now() < end, "the run does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut read = shop.service.db.read_tenant(shop.org.id).await.unwrap();
    assert!(store::datasets::by_name(&mut read, shop.org.id, "texts").await.unwrap().is_none());
    drop(read);
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_hears_of_the_syncs_whose_datasets_it_sees() {
    let shop = Shop::open(Service::start().await, FIRST).await;
    for name in ["open_texts", "own_texts"] {
        let mut sync = posts();
        sync["name"] = name.into();
        assert_eq!(shop.set(sync).await.0, 200);
        shop.ended(name).await;
    }
    let listed = async || shop.service.manage(&shop.admin, "GET", "/document-syncs", None).await.1["syncs"].clone();
    assert_eq!(listed().await, json!([]));
    let none = shop.ask("rag_admin_sync", json!({ "source_names": [] })).await;
    assert_eq!((&none["accepted"], &none["sources"]), (&json!(false), &json!([])), "{none}");
    let refused = async |name: &str| {
        let (failed, body) = shop.service.tool(&shop.admin, "rag_admin_sync", json!({ "source_names": [name] })).await;
        assert!(failed, "{body}");
        body["error"]["message"].as_str().unwrap().replace(name, "…")
    };
    assert_eq!(refused("own_texts").await, refused("no_texts").await, "it is as one that is not there");

    shop.publish("open_texts").await;
    let seen = listed().await;
    assert_eq!((seen.as_array().unwrap().len(), &seen[0]["name"]), (1, &json!("open_texts")), "{seen}");
    let others = refused("no_texts").await;
    assert!(others.contains("open_texts") && !others.contains("own_texts"), "{others}");
    let (_, document) = shop.found("planes").await.pop_first().unwrap();
    let key = async || shop.ask("rag_get_docs", json!({ "doc_ids": [document] })).await["docs"][0]["pk_json"].clone();
    assert_eq!(key().await, json!({ "id": "3" }));

    // The definition and the key name a column that it does not see any more; the dataset is there as before.
    let hide = json!({ "dataset_id": shop.dataset("posts").await, "hidden": { "id": true } });
    let op: UpdateDataset = serde_json::from_value(hide).unwrap();
    shop.service.gateway.call(&operator(&shop.org), op, Via::new("admin.call")).await.unwrap();
    assert_eq!((listed().await, key().await), (json!([]), Value::Null));
    let asked = shop.ask("rag_admin_sync", json!({ "source_names": [] })).await;
    assert_eq!(asked["sources"].as_array().unwrap().len(), 1, "{asked}");
    assert_eq!(asked["sources"][0]["source_name"], "open_texts");
    assert_eq!(syncs(&shop.service, &shop.org).await.as_array().unwrap().len(), 2, "people see all");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_removed_alone_and_a_dataset_with_what_keeps_it() {
    let shop = Shop::open(Service::start().await, FIRST).await;
    assert_eq!(shop.set(posts()).await.0, 200);
    shop.ended("texts").await;
    shop.publish("texts").await;
    let dataset = shop.dataset("texts").await;
    let (_, lunch) = shop.found("canteen").await.pop_first().unwrap();
    let delete = async |path: String| shop.service.manage(&shop.admin, "DELETE", &path, None).await;
    let (status, gone) = delete(format!("/datasets/{dataset}/documents/{lunch}")).await;
    assert_eq!((status, &gone["title"], &gone["documents"]["total"]), (200, &json!("Lunch"), &json!(3)), "{gone}");
    assert!(shop.found("canteen").await.is_empty());
    let fetched = shop.ask("rag_get_docs", json!({ "doc_ids": [lunch] })).await;
    assert!(!fetched.to_string().contains("canteen"), "{fetched}");
    assert_eq!(delete(format!("/datasets/{dataset}/documents/{lunch}")).await.0, 404);

    let (status, gone) = delete(format!("/datasets/{dataset}?name=texts")).await;
    assert_eq!(status, 200, "{gone}");
    assert_eq!(syncs(&shop.service, &shop.org).await, json!([]), "nothing brings it back");
    let none = shop.ask("rag_admin_sync", json!({ "source_names": [] })).await;
    assert_eq!(none["accepted"], json!(false), "{none}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_the_dataset_says_what_it_follows_and_asks_for_it() {
    let shop = Shop::open(Service::start().await, FIRST).await;
    let mut hourly = posts();
    hourly["every_minutes"] = 60.into();
    assert_eq!(shop.set(hourly).await.0, 200);
    shop.ended("texts").await;
    let page = format!("/w/acme/datasets/{}", shop.dataset("texts").await);
    let (_, ann) = person(&shop.service, "ann@example.com", &[(&shop.org, Role::Contributor)]).await;
    let text = async |browser: &Browser| browser.get(&page).await.text().await.unwrap();
    let shown = text(&ann).await;
    for part in [
        "<bdi>posts</bdi></a> is a document here",
        "every 60 minutes, and when",
        "The last run brought 4 new, 0 changed",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    shop.service.import(&shop.org, "posts.csv", SECOND.as_bytes(), true).await.unwrap();
    assert_eq!(send(&ann, &page, "sync", &[("name", "texts")]).await.status(), 303);
    shop.ended("texts").await;
    assert!(text(&ann).await.contains("brought 1 new, 1 changed, and removed 1"));
    let (_, vic) = person(&shop.service, "vic@example.com", &[(&shop.org, Role::Viewer)]).await;
    assert!(!text(&vic).await.contains("Kept from elsewhere"));
    assert_eq!(send(&ann, &page, "unfollow", &[("name", "texts")]).await.status(), 303);
    assert!(!text(&ann).await.contains("Kept from elsewhere"));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_begins_it_on_the_page_of_the_table() {
    let shop = Shop::open(Service::start().await, FIRST).await;
    let page = format!("/w/acme/datasets/{}", shop.dataset("posts").await);
    let (_, ann) = person(&shop.service, "ann@example.com", &[(&shop.org, Role::Contributor)]).await;
    let shown = ann.get(&page).await.text().await.unwrap();
    for part in [
        r#"name="text" value="body" checked"#,
        r#"<option value="title" selected>"#,
        r#"<option value="id" selected>"#,
        r#"<option value="changed">a later changed"#,
        r#"value="posts_texts""#,
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let form = |name: &'static str| {
        [("text", "body"), ("text", "title"), ("key", "id"), ("title", "title"), ("every", "1440"), ("name", name)]
    };
    let refused = send(&ann, &page, "keep", &form("posts")).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    for part in ["exists and holds a table", r#"value="title" checked"#, r#"<option value="1440" selected>"#] {
        assert!(refused.contains(part), "what was chosen stays: {part}: {refused}");
    }
    assert_eq!(send(&ann, &page, "keep", &form("faq")).await.status(), 303);
    let run = shop.ended("faq").await;
    assert_eq!(counts(&run), [4, 0, 0, 0, 4], "{run}");
    let shown = ann.get(&page).await.text().await.unwrap();
    let link = format!(r#"<a href="/w/acme/datasets/{}"><bdi>faq</bdi></a>"#, shop.dataset("faq").await);
    assert!(shown.contains(&link) && shown.contains("every 1440 minutes"), "{shown}");
    assert_eq!(send(&ann, &page, "bring", &[("name", "faq")]).await.status(), 422, "no form of this page");

    // What clients do not see is not offered: they would see it in the documents.
    assert_eq!(send(&ann, &page, "describe", &[("title", ""), ("hidden:body", "1")]).await.status(), 303);
    let shown = ann.get(&page).await.text().await.unwrap();
    assert!(
        !shown.contains(r#"name="text" value="body""#) && shown.contains(r#"name="text" value="title""#),
        "{shown}"
    );
    let (_, vic) = person(&shop.service, "vic@example.com", &[(&shop.org, Role::Viewer)]).await;
    assert!(!vic.get(&page).await.text().await.unwrap().contains("searchable by words"));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_remote_engine_is_followed_in_its_own_dialect() {
    let service = Service::with(&[OPEN]).await;
    let ready = Ready::new(&service).await;
    let shop = Shop { service, org: ready.org.clone(), admin: ready.admin.clone() };
    let sync =
        json!({ "name": "texts", "table": "orders", "key": "id", "text": ["total", "placed"], "changed": "placed" });
    let (status, set) = shop.set(sync).await;
    assert_eq!(status, 200, "{set}");
    let run = shop.ended("texts").await;
    assert_eq!(counts(&run), [1000, 0, 0, 0, 1000], "{run}");
    let change = "DELETE FROM orders WHERE id <= 3; UPDATE orders SET total = 7, placed = placed + interval '3 years' \
                  WHERE id = 9; INSERT INTO orders VALUES (2000, 1, 5, now())";
    ready.shop.admin(change).await;
    shop.bring("texts").await;
    let run = shop.ended("texts").await;
    assert_eq!(counts(&run)[..2], [1, 1], "{run}");
    assert_eq!((&run["changes"]["removed"], &run["changes"]["total"]), (&json!(3), &json!(998)), "{run}");
    assert!(run["changes"]["unchanged"].as_u64().unwrap() <= 1, "what did not change is not read again: {run}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_gives_more_rows_than_it_counts_is_not_followed_without_end() {
    let (service, server) = (Service::with(&[OPEN]).await, Server::open().await);
    let endless = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint * 100000 + n AS id, 'x' AS body \
                   FROM generate_series(1, 20000) n";
    server.admin(&format!("CREATE VIEW endless AS {endless}; GRANT SELECT ON endless TO {}", server.reader)).await;
    let ready = Ready::with(&service, server).await;
    let shop = Shop { service, org: ready.org.clone(), admin: ready.admin.clone() };
    let (status, set) = shop.set(json!({ "name": "texts", "table": "endless", "key": "id", "text": ["body"] })).await;
    assert_eq!(status, 200, "{set}");
    let run = shop.ended("texts").await;
    let message = "endless gives more than 200000 rows, which are kept as documents at most.";
    assert_eq!((&run["state"], &run["message"]), (&json!("failed"), &json!(message)), "{run}");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_one_nodes_at_a_time_and_outlives_it() {
    both(async |db| {
        let clock = Clock::manual(1_700_000_000_000);
        let acme = Org {
            id: Id::new(&clock),
            slug: "acme".into(),
            name: "Acme".into(),
            connectivity_enabled: true,
            created_at: clock.now(),
        };
        let org = acme.id;
        store::orgs::insert(&mut db.writer().await.unwrap(), &acme).await.unwrap();
        let beta = Org { id: Id::new(&clock), slug: "beta".into(), ..acme.clone() };
        store::orgs::insert(&mut db.writer().await.unwrap(), &beta).await.unwrap();
        let (one, other) = (Syncs::new(db.clone(), clock.clone()), Syncs::new(db.clone(), clock.clone()));
        let mut tx = db.tenant(org).await.unwrap();
        let mapping = Mapping {
            table: "t".into(),
            key: "id".into(),
            title: None,
            text: vec!["x".into()],
            changed: None,
            markdown: false,
            created: None,
            tags: None,
            metadata: vec![],
        };
        let wanted = DocumentSync {
            org,
            name: "texts".into(),
            origin: Origin::Table(mapping),
            sealed_secret: None,
            every_minutes: Some(5),
            cursor: None,
            run: Run::wanted("first".into(), clock.now()),
            created_at: clock.now(),
            synced_at: None,
        };
        store::syncs::put(&mut tx, &wanted).await.unwrap();
        store::syncs::put(&mut tx, &DocumentSync { name: "more".into(), ..wanted.clone() }).await.unwrap();
        tx.commit().await.unwrap();

        clock.advance(Duration::from_millis(1));
        let taken = one.take().await.unwrap().unwrap();
        assert_eq!((taken.name.as_str(), taken.run.state), ("more", State::Running));
        assert!(other.take().await.unwrap().is_none(), "one of a workspace at a time");
        let half = Run { progress: 0.5, message: "Indexing".into(), ..taken.run.clone() };
        clock.advance(Duration::from_secs(50));
        assert!(one.hold(&taken, &half).await.unwrap());
        clock.advance(Duration::from_secs(50));
        assert!(other.take().await.unwrap().is_none(), "it is still held");
        let told = other.list(org).await.unwrap().remove(0).run;
        assert_eq!((told.progress, told.message.as_str()), (0.5, "Indexing"));

        clock.advance(Duration::from_secs(11));
        let mut tx = db.tenant(beta.id).await.unwrap();
        let late = Run::wanted("late".into(), wanted.created_at);
        let theirs = DocumentSync { org: beta.id, every_minutes: None, run: late, ..wanted.clone() };
        store::syncs::put(&mut tx, &theirs).await.unwrap();
        tx.commit().await.unwrap();
        let theirs = other.take().await.unwrap().unwrap();
        assert_eq!(theirs.org, beta.id, "whose workspace waits longest, first");
        let texts = other.take().await.unwrap().unwrap();
        assert_eq!((texts.org, texts.name.as_str()), (org, "texts"), "then what waits longest in its own");
        assert!(one.take().await.unwrap().is_none());
        // It lets others go first.
        let so_far = Changes { added: 7, total: 7, ..Changes::default() };
        let message = "7 of 9".to_owned();
        let run = Run { state: State::Waiting, message, progress: 0.75, changes: Some(so_far), ..texts.run.clone() };
        assert!(other.settle(DocumentSync { run, ..texts }).await.unwrap());
        let told = one.list(org).await.unwrap().remove(1).run;
        assert_eq!((told.state, told.message.as_str(), told.progress), (State::Waiting, "7 of 9", 0.75));
        assert_eq!((told.changes, told.ended_at), (Some(so_far), None));

        let again = other.take().await.unwrap().unwrap();
        assert_eq!((again.name.as_str(), again.run.job_id.as_str()), ("more", "first"), "the one that was left");
        assert!(!one.hold(&taken, &half).await.unwrap(), "who was too late has lost it");
        let done = |sync: &DocumentSync| {
            let changes = Changes { added: 1, ..Changes::default() };
            let run = Run { state: State::Done, changes: Some(changes), ..sync.run.clone() };
            DocumentSync { cursor: Some("c".into()), run, ..sync.clone() }
        };
        assert!(other.settle(done(&theirs)).await.unwrap());
        assert!(!one.settle(done(&taken)).await.unwrap());
        assert!(other.settle(done(&again)).await.unwrap());
        let kept = other.list(org).await.unwrap().remove(0);
        assert_eq!((kept.cursor.as_deref(), kept.synced_at), (Some("c"), Some(clock.now())));
        assert_eq!(kept.run.changes.unwrap().added, 1);

        // The other one, given back by a node that stops.
        let texts = one.take().await.unwrap().unwrap();
        assert_eq!((texts.name.as_str(), texts.run.changes), ("texts", Some(so_far)), "it goes on");
        let waits = Run { state: State::Waiting, ..texts.run.clone() };
        assert!(one.settle(DocumentSync { run: waits, ..texts.clone() }).await.unwrap());
        let texts = other.take().await.unwrap().unwrap();
        assert!(other.settle(done(&texts)).await.unwrap());
        assert!(one.take().await.unwrap().is_none(), "nothing is due");
        clock.advance(Duration::from_secs(301));
        let due = one.take().await.unwrap().unwrap();
        assert!(due.run.job_id != "first" && due.cursor.as_deref() == Some("c"), "by its own time, a run of its own");
    })
    .await;
}
