//! The end of a workspace: nobody is let in any more, nothing of it is left but its record, and no other notices.

use std::path::PathBuf;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::model::user::User;
use dragoman::store::{self, erasure};
use serde_json::{Value, json};
use sqlx::{AnyPool, AssertSqlSafe};

use super::both;
use crate::console::person;
use crate::datasets::files;
use crate::support::databases::{as_superuser, postgres_url};
use crate::support::dump::{dump, is_postgres};
use crate::support::program::command;
use crate::support::service::{Service, operator};

/// A row of a workspace `ORG` with a member `USER` in each table that nothing else fills here; of the moment `NOW`.
const ROWS: [&str; 17] = [
    "INSERT INTO sources (org_id, id, name, engine, address, sealed_password, created_at, updated_at, checked_at, problem)
     VALUES ('ORG', 'ORG', 'crm', 'postgres', 'a', 'p', 1, 1, 1, '')",
    "INSERT INTO document_syncs (org_id, name, mapping, job_id, state, message, progress, node, leased_until, created_at,
        requested_at) VALUES ('ORG', 'handbook', '{}', 'j', 'done', '', 0, '', 0, NOW, NOW)",
    "INSERT INTO document_sync_marks (org_id, name, item, mark) VALUES ('ORG', 'handbook', 'page', '{}')",
    "INSERT INTO ontologies (org_id, id, name, description, status, problem, version, dataset_count, field_count,
        attested_data, created_at, updated_at) VALUES ('ORG', 'ORG', 'shop', '', 'failed', '', 1, 1, 1, '', NOW, NOW)",
    "INSERT INTO ontology_versions (org_id, ontology_id, version, text, summary, saved_at)
     VALUES ('ORG', 'ORG', 1, 'name: shop', '', NOW)",
    "INSERT INTO ontology_tables (org_id, ontology_id, version, name) VALUES ('ORG', 'ORG', 1, 'sales')",
    "INSERT INTO conversations (org_id, id, ontology_id, credential, state, updated_at)
     VALUES ('ORG', 'c', 'ORG', 'x', '{}', NOW)",
    "INSERT INTO question_runs (org_id, id, ontology_id, conversation_id, credential, question, outcome, trace,
        duration_ms, asked_at) VALUES ('ORG', 'q', 'ORG', 'c', 'x', 'How many?', 'answer', '{}', 1, NOW)",
    "INSERT INTO remembered (org_id, id, ontology_id, kind, key, value, said, made_at)
     VALUES ('ORG', 'r', 'ORG', 'preference', 'k', 'v', '', NOW)",
    "INSERT INTO tasks (org_id, id, credential, tool, status, message, node, leased_until, created_at, updated_at,
        expires_at) VALUES ('ORG', 't', 'x', 'dragoman_sql', 'completed', '', '', 0, NOW, NOW, NOW + 1000000)",
    "INSERT INTO index_homes (org_id, home) VALUES ('ORG', 'folder')",
    "INSERT INTO consents (org_id, user_id, client_id, redirect_uri, resource, scopes, addresses, created_at)
     VALUES ('ORG', 'USER', 'c', '', '', '', '', NOW)",
    "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('ORG', 'https://evil.example/c', NOW)",
    "INSERT INTO device_codes (digest, user_code, client_id, client_name, scopes, resource, ip, state, org_id, grant_id,
        created_at, expires_at, poll_seconds)
     VALUES ('d', 'd', 'c', '', '', '', '', 'approved', 'ORG', 'g', NOW, NOW + 1000000, 5)",
    "INSERT INTO invitations (org_id, id, email, role, digest, invited_by, created_at, expires_at)
     VALUES ('ORG', 'ORG', 'new@example.com', 'viewer', 'd', 'USER', NOW, NOW + 1000000)",
    "INSERT INTO leases (name, holder, expires_at) VALUES ('ontology ORG x', 'h', NOW)",
    "UPDATE users SET settings = '{\"orgs\":{\"ORG\":{\"dataAgent\":{}},\"kept\":{\"dataAgent\":{}}}}' WHERE id = 'USER'",
];

async fn run(service: &Service, sql: &str, org: Id<Org>, user: Id<User>) {
    let now = service.clock.now().to_string();
    let sql = sql.replace("ORG", &org.to_string()).replace("USER", &user.to_string()).replace("NOW", &now);
    let mut tx = service.db.everyone().await.unwrap();
    sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
}

/// The metadata, for somebody for whom no wall stands.
async fn all_rows(service: &Service) -> AnyPool {
    match &service.config.database_url {
        Some(url) => AnyPool::connect(&as_superuser(url.expose())).await.unwrap(),
        None => service.db.pool().clone(),
    }
}

/// The rows that name something, each behind the name of its table; less those of the record.
async fn naming(pool: &AnyPool, what: &str) -> Vec<String> {
    let text = dump(pool).await;
    let rows = text.lines().map(|row| row.trim_start_matches("public."));
    let mut rows: Vec<String> =
        rows.filter(|row| row.contains(what) && !row.starts_with("audit")).map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

/// The tables whose rows say which workspace they are of.
async fn tables(pool: &AnyPool) -> Vec<String> {
    let sql = match is_postgres(pool) {
        true => {
            "SELECT CAST(table_name AS TEXT) FROM information_schema.columns
             WHERE column_name = 'org_id' AND table_schema = 'public'"
        }
        false => {
            "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND c.name = 'org_id'"
        }
    };
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
}

/// What a command says beside the service: whether it worked, and its outputs.
async fn said(service: &Service, arguments: &[&str]) -> (bool, String, String) {
    let mut asked = command(&service.config.data_dir);
    if let Some(url) = &service.config.database_url {
        asked.env("DATABASE_URL", url.expose());
    }
    let output = asked.arg("admin").args(arguments).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

async fn facts(service: &Service, arguments: &[&str]) -> Value {
    let (worked, text, problem) = said(service, &[arguments, &["--json"]].concat()).await;
    assert!(worked, "{arguments:?}: {problem}");
    serde_json::from_str(&text).unwrap()
}

async fn status(service: &Service, token: &str) -> u16 {
    service.get("/api/v1/ext/datasets", token).send().await.unwrap().status().as_u16()
}

fn folder(service: &Service, org: &Org) -> PathBuf {
    service.config.data_dir.join(format!("workspaces/{}", org.id))
}

/// Whether a record says that a workspace was erased, with what outcome.
fn says(record: &Value, target: &str, outcome: &str) -> bool {
    let mut entries = record.as_array().unwrap().iter().map(|row| &row["entry"]);
    entries.any(|entry| {
        (&entry["action"], &entry["target"], &entry["outcome"])
            == (&json!("admin.workspace.erase"), &json!(target), &json!(outcome))
    })
}

/// What the data folder has of a workspace.
fn placed(service: &Service, org: &Org) -> Vec<PathBuf> {
    let mut placed = files(&folder(service, org));
    placed.sort_unstable();
    placed
}

/// A table, and documents.
async fn import(service: &Service, org: &Org) {
    service.import(org, "sales.csv", b"a\n1\n2\n", true).await.unwrap();
    service.import(org, "plans.md", b"# Plans\n\nThe pump leaks.\n", true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_an_erased_workspace_is_left_but_its_record_and_its_name_is_anybodys() {
    both(&[], async |service| {
        let (org, other) = (service.workspace("acme").await, service.workspace("other").await);
        import(&service, &org).await;
        import(&service, &other).await;
        let (ann, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        let named = service.url("/t/acme/mcp");
        let of_name = service.access_token_for(&org, Role::Viewer, &[Scope::DataRead], &named).await;
        let (_, browser) = person(&service, "bob@example.com", &[(&org, Role::Admin), (&other, Role::Viewer)]).await;
        let token = service.token(&org).await;
        let listed = async || service.rpc_at("/t/acme/mcp", &of_name, "tools/list", json!({})).send().await.unwrap();
        assert_eq!((status(&service, &token).await, listed().await.status().as_u16()), (200, 200));
        assert_eq!((status(&service, &admin).await, browser.get("/w/acme").await.status().as_u16()), (200, 200));
        for sql in ROWS {
            run(&service, sql, org.id, ann.id).await;
        }
        for place in ["uploads/x/data", "staging/import-x/t.duckdb"] {
            let file = folder(&service, &org).join(place);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "rows").unwrap();
        }
        let pool = all_rows(&service).await;
        let ours = naming(&pool, &org.id.to_string()).await;
        for table in tables(&pool).await {
            // Indexes on a server go with their points.
            let is_filled = ours.iter().any(|row| row.starts_with(&format!("{table}: ")));
            assert!(is_filled || table == "cluster_indexes", "the test has no row in {table}: add one");
        }
        let theirs = (naming(&pool, &other.id.to_string()).await, placed(&service, &other));

        let (worked, _, refused) = said(&service, &["workspace", "erase", "acme"]).await;
        assert!(!worked && refused.contains("Nothing was changed.") && refused.contains("2 datasets"), "{refused}");
        assert_eq!(naming(&pool, &org.id.to_string()).await.len(), ours.len());
        let erased = facts(&service, &["workspace", "erase", "acme", "--yes"]).await;
        assert_eq!((&erased["erased"], &erased["indexes_left"]), (&json!(true), &json!(0)), "{erased}");
        let people = erased["people_without_workspace"].as_array().unwrap();
        assert!(people.len() == 2 && people.contains(&json!("ann@example.com")), "bob has another: {people:?}");

        // Of the next request on.
        assert_eq!([status(&service, &token).await, status(&service, &admin).await], [401, 401]);
        assert_eq!((listed().await.status().as_u16(), browser.get("/w/acme").await.status().as_u16()), (401, 404));
        assert_eq!(store::orgs::closed(service.db.pool(), &[org.id, other.id]).await.unwrap(), [org.id]);
        assert_eq!(naming(&pool, &org.id.to_string()).await, Vec::<String>::new());
        assert!(!folder(&service, &org).exists());
        let settings = store::users::settings(service.db.pool(), ann.id).await.unwrap().unwrap();
        assert_eq!(settings, r#"{"orgs":{"kept":{"dataAgent":{}}}}"#);
        assert_eq!((naming(&pool, &other.id.to_string()).await, placed(&service, &other)), theirs);
        assert_eq!(browser.get("/w/other").await.status(), 200);

        // The record is there, whole, and says so; by the id, which is all that is left.
        let id = org.id.to_string();
        let record = facts(&service, &["audit", "list", "--workspace", &id]).await;
        assert!(says(&record, "acme", "ok"), "{record}");
        assert_eq!(facts(&service, &["audit", "verify", "--workspace", &id]).await["whole"], true);
        let of_operator = facts(&service, &["audit", "list"]).await;
        assert!(says(&of_operator, "acme", "failed") && says(&of_operator, "acme", "ok"), "{of_operator}");
        let (worked, _, refused) = said(&service, &["workspace", "erase", "acme", "--yes"]).await;
        assert!(!worked && refused.contains("There is no workspace \"acme\"."), "{refused}");

        // The name is another's now.
        let anew = service.workspace("acme").await;
        let fresh = service.token(&anew).await;
        let reply: Value = service.get("/api/v1/ext/datasets", &fresh).send().await.unwrap().json().await.unwrap();
        assert_eq!((anew.id == org.id, &reply["datasets"]), (false, &json!([])));
        assert_eq!((status(&service, &token).await, listed().await.status().as_u16()), (401, 401));
        assert_eq!(browser.get("/w/acme").await.status(), 404);

        // What a call leaves that was under way goes with the next clean-up.
        for sql in [
            "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('ORG', 'c', 1)",
            "INSERT INTO leases (name, holder, expires_at) VALUES ('indexes ORG', '', 0)",
            "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('-', 'c', 1)",
        ] {
            run(&service, sql, org.id, ann.id).await;
        }
        std::fs::create_dir_all(folder(&service, &org).join("staging/import-y")).unwrap();
        let swept = service.identity.sweep().await.unwrap().unwrap();
        assert!(swept.contains(&("erased_workspaces", 2)), "{swept:?}");
        service.gateway.renew_once().await.unwrap();
        assert_eq!(naming(&pool, &org.id.to_string()).await, Vec::<String>::new());
        assert!(!folder(&service, &org).exists());
        assert!(service.identity.is_blocked("c", None).await.unwrap(), "that is the operator's");
        if is_postgres(&pool) {
            pool.close().await;
        }
    })
    .await;
}

/// As a process that died between two steps leaves it.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_that_was_cut_off_leaves_it_locked_and_is_ended_by_the_same_command() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        import(&service, &org).await;
        let (_, admin) = service.member(&org, "ann@example.com", Role::Admin).await;
        assert_eq!(status(&service, &admin).await, 200);
        assert!(erasure::begin(&mut service.db.writer().await.unwrap(), org.id, service.clock.now()).await.unwrap());
        for table in &erasure::TABLES[..4] {
            let mut tx = service.db.tenant(org.id).await.unwrap();
            erasure::some(&mut tx, org.id, table).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(status(&service, &admin).await, 401);
        assert_eq!(facts(&service, &["workspace", "list"]).await[0]["state"], "being erased");
        let (worked, _, refused) = said(&service, &["workspace", "resume", "acme"]).await;
        assert!(!worked && refused.contains("workspace erase acme --yes"), "{refused}");
        assert!(service.identity.create_org("acme", "Another").await.is_err(), "the name is not free yet");

        let erased = facts(&service, &["workspace", "erase", "acme", "--yes"]).await;
        assert_eq!(erased["people_without_workspace"], json!(["ann@example.com"]), "{erased}");
        let pool = all_rows(&service).await;
        assert_eq!(naming(&pool, &org.id.to_string()).await, Vec::<String>::new());
        assert!(!folder(&service, &org).exists());
        service.identity.create_org("acme", "Another").await.unwrap();
        if is_postgres(&pool) {
            pool.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_says_how_the_erasure_of_its_workspace_is_ended() {
    let service = Service::start().await;
    let org = service.workspace("demo").await;
    assert!(erasure::begin(&mut service.db.writer().await.unwrap(), org.id, 1).await.unwrap());
    let data = service.ended().await;
    let serve = ["serve", "--demo", "--listen", "127.0.0.1:0"];
    let output = command(data.path()).args(serve).output().await.unwrap();
    let refused = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && refused.contains("workspace erase demo --yes"), "{refused}");
}

/// Deletes all that the metadata have of a workspace, as a process does that dies then.
async fn end(service: &Service, org: Id<Org>) {
    assert!(erasure::begin(&mut service.db.writer().await.unwrap(), org, 1).await.unwrap());
    let mut tx = service.db.tenant(org).await.unwrap();
    store::datasets::hold_names(&mut tx, org).await.unwrap();
    erasure::end(&mut tx, service.db.backend(), org).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_an_erased_workspace_go_with_the_next_look_and_those_of_other_metadata_stay() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    import(&service, &org).await;
    end(&service, org.id).await;
    let data = service.ended().await;
    // The folder has nothing else, and is that of these metadata all the same.
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", data.path().to_str().unwrap())]).await;
    let unknown = service.config.data_dir.join(format!("workspaces/{}/tables", Id::<Org>::new(&Clock::system())));
    std::fs::create_dir_all(&unknown).unwrap();
    service.gateway.renew_once().await.unwrap();
    assert!(!folder(&service, &org).exists() && unknown.exists());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_at_one_node_is_shut_at_the_others_and_leaves_their_folders() {
    let (database, key) = (postgres_url().await, "7".repeat(64));
    let settings = [("DATABASE_URL", &*database), ("DRAGOMAN_MASTER_KEY", &*key)];
    let (first, second) = (Service::with(&settings).await, Service::with(&settings).await);
    let org = first.workspace("acme").await;
    first.import(&org, "plans.md", b"# Plans\n\nThe pump leaks.\n", true).await.unwrap();
    second.gateway.renew_once().await.unwrap();
    assert!(!placed(&second, &org).is_empty(), "each node has an index of its own");
    let token = first.token(&org).await;
    assert_eq!(status(&second, &token).await, 200);
    let erased = first.gateway.erase_workspace(&operator(&org)).await.unwrap();
    assert_eq!((erased.people, erased.indexes_left), (vec![], 0));
    assert_eq!(status(&second, &token).await, 401);
    second.gateway.renew_once().await.unwrap();
    assert!(!folder(&second, &org).exists());
    first.stop().await;
    second.stop().await;
}
