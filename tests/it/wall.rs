//! The second wall between tenants: row-level security on PostgreSQL (K03, K04, K05).

use std::collections::BTreeMap;
use std::future::Future as _;
use std::task::{Context, Waker};

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::base::secret::Secret;
use dragoman::model::cluster_index::{Chain, ClusterIndex, Home, Standing};
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::document::{Document, Facts, Markup};
use dragoman::model::ontology::{Status, StoredOntology};
use dragoman::model::org::Org;
use dragoman::model::run::{Conversation, Ending, Memory, Remembered, Run, State, Trace};
use dragoman::model::source::{Source, SourceEngine};
use dragoman::model::sync::{self, DocumentSync, Mapping, Mark, Origin};
use dragoman::model::task::{self, Task};
use dragoman::model::version::{How, Version};
use dragoman::store::tenant::Scoped;
use dragoman::store::tokens::TokenRow;
use dragoman::store::{
    Db, cluster_indexes, dataset_versions, datasets, documents, ontologies, ontology_tables, orgs, questions, sources,
    sync_marks, syncs, tasks, tokens,
};
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use crate::support::databases::{as_superuser, postgres_url};

/// Tables behind the wall.
const WALLED: [&str; 17] = [
    "cluster_indexes", "connectivity_tokens", "conversations", "dataset_versions", "datasets", "document_sync_marks",
    "document_syncs", "documents", "index_homes", "ontologies", "ontology_tables", "ontology_versions",
    "question_runs", "remembered", "sources", "tasks", "version_documents",
];

/// Tables with a tenant that are not, each with its reason. The first wall, the tenant in every statement, stands
/// before all of them.
const OPEN: [(&str, &str); 7] = [
    ("client_blocks", "a block holds for one workspace or, as '-', for the whole installation"),
    ("consents", "belongs to a person, and is read for all of their workspaces"),
    ("device_codes", "has no workspace until a person chooses one"),
    ("freshness", "says only how often a workspace has changed, and is read for all whose requests come together"),
    ("grants", "is found by the digest of a code or token, before the tenant is known; every verification reads it"),
    ("invitations", "is found by the digest of a link, by people who are in no workspace yet"),
    ("memberships", "is read by person, to know which tenants there are; every verification reads it"),
];

struct Walled {
    db: Db,
    url: String,
    acme: Id<Org>,
    other: Id<Org>,
}

/// Two workspaces with a dataset, a document and a token each, over so many connections.
async fn walled(connections: u32) -> Walled {
    let url = postgres_url().await;
    let db = Db::open_postgres_with(&Secret::new(url.clone()), connections).await.unwrap();
    let clock = Clock::manual(1_790_000_000_000);
    let mut ids = Vec::new();
    for slug in ["acme", "other"] {
        let org = Org {
            id: Id::new(&clock),
            slug: slug.into(),
            name: slug.into(),
            connectivity_enabled: true,
            created_at: 0,
        };
        orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap();
        fill(&db, &clock, org.id, slug).await;
        ids.push(org.id);
    }
    Walled { db, url, acme: ids[0], other: ids[1] }
}

fn dataset(clock: &Clock, org: Id<Org>, name: &str) -> Dataset {
    Dataset::new(Id::new(clock), org, name, Kind::Table)
}

async fn fill(db: &Db, clock: &Clock, org: Id<Org>, slug: &str) {
    let mut tx = db.tenant(org).await.unwrap();
    let sales = dataset(clock, org, "sales");
    datasets::put(&mut tx, &sales).await.unwrap();
    let document = Document {
        org,
        id: Id::new(clock),
        row: Id::new(clock),
        dataset: sales.id,
        version: String::new(),
        title: String::new(),
        source_file: String::new(),
        text: String::new(),
        markup: Markup::Plain,
        facts: Facts::new(),
        created_at: 0,
    };
    documents::add(&mut tx, org, sales.id, "", &[document], &[]).await.unwrap();
    dataset_versions::put(&mut tx, &version(org, sales.id)).await.unwrap();
    let build = Id::new(clock);
    let index = ClusterIndex {
        org,
        build,
        dataset: sales.id,
        version: "v1".into(),
        encoder: String::new(),
        terms: String::new(),
        cutter: String::new(),
        points: 0,
        chain: Chain::whole(build),
        standing: Standing::Placed,
        touched_at: 0,
    };
    cluster_indexes::insert(&mut tx, &index).await.unwrap();
    cluster_indexes::set_home(&mut tx, org, Home::Cluster).await.unwrap();
    assert!(tokens::insert(&mut tx, &token(org, slug)).await.unwrap());
    assert!(sources::insert(&mut tx, &source(clock, org)).await.unwrap());
    let ontology = ontology(clock, org);
    assert!(ontologies::insert(&mut tx, &ontology).await.unwrap());
    ontologies::keep(&mut tx, &ontology, "", "", None).await.unwrap();
    ontology_tables::set(&mut tx, org, ontology.id, ontology.version, &["sales".into()]).await.unwrap();
    let (conversation, run, remembered) = asked(clock, org, ontology.id);
    questions::keep_conversation(&mut tx, &conversation).await.unwrap();
    questions::keep_run(&mut tx, &run).await.unwrap();
    questions::remember(&mut tx, &remembered).await.unwrap();
    let most = tasks::Most { of_credential: 1, of_workspace: 1 };
    assert!(tasks::insert(&mut tx, &task(org), most).await.unwrap());
    syncs::put(&mut tx, &kept(org)).await.unwrap();
    sync_marks::put(&mut tx, org, "notes", "a.md", &Mark::default()).await.unwrap();
    tx.commit().await.unwrap();
}

fn version(org: Id<Org>, dataset: Id<Dataset>) -> Version {
    Version {
        org,
        dataset,
        version: String::new(),
        how: How::Import,
        row_count: 0,
        bytes: 0,
        columns: Vec::new(),
        source: String::new(),
        files: String::new(),
        made_at: 0,
        made_by: None,
        current_since: 0,
        current_by: None,
    }
}

fn kept(org: Id<Org>) -> DocumentSync {
    let mapping = Mapping {
        table: "sales".into(),
        key: "id".into(),
        title: None,
        text: vec!["note".into()],
        changed: None,
        markdown: false,
        created: None,
        tags: None,
        metadata: vec![],
    };
    DocumentSync {
        org,
        name: "notes".into(),
        origin: Origin::Table(mapping),
        sealed_secret: None,
        every_minutes: None,
        cursor: None,
        run: sync::Run::wanted("j".into(), 0),
        created_at: 0,
        synced_at: None,
    }
}

fn task(org: Id<Org>) -> Task {
    Task {
        org,
        id: "t".into(),
        credential: "c".into(),
        tool: "dragoman_sql".into(),
        status: task::Status::Working,
        message: String::new(),
        outcome: None,
        seen: vec![],
        node: "n".into(),
        leased_until: 1,
        created_at: 0,
        updated_at: 0,
        expires_at: 1,
    }
}

fn ontology(clock: &Clock, org: Id<Org>) -> StoredOntology {
    StoredOntology {
        id: Id::new(clock),
        org,
        name: "shop".into(),
        description: String::new(),
        status: Status::Draft,
        problem: String::new(),
        version: 1,
        dataset_count: 0,
        field_count: 0,
        created_at: 0,
        updated_at: 0,
    }
}

/// A question, its conversation, and what was remembered of it.
fn asked(clock: &Clock, org: Id<Org>, ontology: Id<StoredOntology>) -> (Conversation, Run, Remembered) {
    let conversation = Conversation {
        id: Id::new(clock),
        org,
        ontology,
        credential: String::new(),
        state: State::default(),
        revision: 0,
        updated_at: 0,
    };
    let run = Run {
        id: Id::new(clock),
        org,
        ontology,
        conversation: conversation.id,
        credential: String::new(),
        asked_by: None,
        question: String::new(),
        ending: Ending::Answer,
        trace: Trace::default(),
        duration_ms: 0,
        asked_at: 0,
    };
    let remembered = Remembered {
        id: Id::new(clock),
        org,
        ontology,
        memory: Memory::Preference,
        key: "term:x".into(),
        value: String::new(),
        said: String::new(),
        made_by: None,
        made_at: 0,
    };
    (conversation, run, remembered)
}

fn source(clock: &Clock, org: Id<Org>) -> Source {
    Source {
        org,
        id: Id::new(clock),
        name: "shop".into(),
        engine: SourceEngine::Postgres,
        address: String::new(),
        ca: None,
        sealed_password: String::new(),
        created_by: None,
        created_at: 0,
        updated_at: 0,
        checked_at: 0,
        problem: String::new(),
        left_out: String::new(),
    }
}

fn token(org: Id<Org>, id: &str) -> TokenRow {
    TokenRow {
        org,
        id: id.into(),
        label: String::new(),
        scopes: String::new(),
        digest: String::new(),
        last_four: String::new(),
        created_at: 0,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        use_count: 0,
        replaced_by: None,
    }
}

/// Which workspaces' rows a statement that names no tenant sees in a table.
async fn seen(on: &mut AnyConnection, table: &str) -> Vec<String> {
    let sql = format!("SELECT DISTINCT org_id FROM {table} ORDER BY org_id");
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(on).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn sees(on: &mut AnyConnection, whose: &[Id<Org>]) {
    let mut expected: Vec<String> = whose.iter().map(Id::to_string).collect();
    expected.sort();
    for table in WALLED {
        assert_eq!(seen(on, table).await, expected, "{table}");
    }
}

async fn pairs(db: &Db, sql: &'static str) -> Vec<(String, String)> {
    let rows = sqlx::query(sql).fetch_all(db.pool()).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test]
async fn k03_every_table_with_a_tenant_is_behind_the_wall_or_says_why_not() {
    let Walled { db, .. } = walled(2).await;
    let sql = "SELECT CAST(c.relname AS TEXT),
                      CASE WHEN c.relrowsecurity AND c.relforcerowsecurity THEN 'forced' ELSE 'open' END
               FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
               WHERE c.relkind = 'r' AND a.attname = 'org_id' ORDER BY 1";
    let found: BTreeMap<String, String> = pairs(&db, sql).await.into_iter().collect();
    let forced = WALLED.iter().map(|table| (*table, "forced"));
    let expected: BTreeMap<String, String> =
        forced.chain(OPEN.iter().map(|(table, _)| (*table, "open"))).map(|(t, s)| (t.into(), s.into())).collect();
    assert_eq!(found, expected);

    let sql = "SELECT CAST(tablename AS TEXT), cmd || ' ' || permissive || ' ' || qual || ' ' || with_check
               FROM pg_policies ORDER BY 1";
    let policies = pairs(&db, sql).await;
    assert_eq!(policies.iter().map(|(table, _)| table.as_str()).collect::<Vec<_>>(), WALLED);
    for (table, policy) in &policies {
        assert!(policy.starts_with("ALL PERMISSIVE"), "{table}: {policy}");
        assert_eq!(policy, &policies[0].1, "one rule for reading and writing all of them");
        assert_eq!(policy.matches("org_id = current_setting('app.tenant_id'::text, true)").count(), 2, "{policy}");
    }
    assert!(db.is_walled().await.unwrap());
}

#[tokio::test]
async fn k03_without_a_tenant_nothing_is_seen_or_written() {
    let Walled { db, acme, other, .. } = walled(2).await;
    let mut bare = db.pool().acquire().await.unwrap();
    sees(&mut bare, &[]).await;
    for statement in
        ["UPDATE datasets SET name = 'x'", "DELETE FROM documents", "UPDATE connectivity_tokens SET digest = 'x'"]
    {
        assert_eq!(sqlx::query(statement).execute(&mut *bare).await.unwrap().rows_affected(), 0, "{statement}");
    }
    let sql = format!("INSERT INTO documents SELECT '{acme}', 'x', id, '', '', '', '', 0 FROM datasets LIMIT 1");
    assert_eq!(sqlx::query(AssertSqlSafe(sql)).execute(&mut *bare).await.unwrap().rows_affected(), 0);
    drop(bare);
    let mut tx = db.begin().await.unwrap();
    sees(&mut tx, &[]).await;
    drop(tx);

    sees(&mut db.tenant(acme).await.unwrap(), &[acme]).await;
    sees(&mut db.read_tenant(other).await.unwrap(), &[other]).await;
    sees(&mut db.read_everyone().await.unwrap(), &[acme, other]).await;
    sees(&mut db.everyone().await.unwrap(), &[acme, other]).await;
}

#[tokio::test]
async fn k03_within_one_tenant_another_cannot_be_written_even_when_named() {
    let Walled { db, acme, other, .. } = walled(2).await;
    let clock = Clock::manual(1);
    for attempt in 0..3 {
        let mut tx = db.tenant(acme).await.unwrap();
        let refused = match attempt {
            0 => datasets::put(&mut tx, &dataset(&clock, other, "planted")).await.is_err(),
            1 => tokens::insert(&mut tx, &token(other, "planted")).await.is_err(),
            _ => {
                let sql = format!("UPDATE datasets SET org_id = '{other}'");
                sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.is_err()
            }
        };
        assert!(refused, "attempt {attempt}");
    }
    let mut tx = db.tenant(acme).await.unwrap();
    assert_eq!(datasets::by_name(&mut tx, other, "sales").await.unwrap(), None);
    assert!(tokens::by_public_id(&mut tx, "other").await.unwrap().is_none());
    assert!(!tokens::revoke(&mut tx, other, "other", 1).await.unwrap());
    assert!(!tokens::insert(&mut tx, &token(acme, "other")).await.unwrap(), "an id is taken, whoever has it");
}

#[tokio::test]
async fn k03_for_a_superuser_there_is_no_wall_and_the_start_knows_it() {
    let Walled { url, acme, other, .. } = walled(2).await;
    let db = Db::open_postgres(&Secret::new(as_superuser(&url))).await.unwrap();
    assert!(!db.is_walled().await.unwrap());
    sees(&mut db.pool().acquire().await.unwrap(), &[acme, other]).await;
}

/// What the one connection of the pool says the tenant is, outside any transaction, and what it sees.
async fn is_clean(db: &Db) {
    let mut bare = db.pool().acquire().await.unwrap();
    let sql = "SELECT COALESCE(current_setting('app.tenant_id', true), '')";
    let tenant: String = sqlx::query_scalar(sql).fetch_one(&mut *bare).await.unwrap();
    assert_eq!(tenant, "");
    sees(&mut bare, &[]).await;
}

#[tokio::test]
async fn k04_a_connection_that_comes_back_to_the_pool_has_no_tenant() {
    let Walled { db, acme, other, .. } = walled(1).await;
    is_clean(&db).await;
    for round in 0..5 {
        for (mine, _theirs) in [(acme, other), (other, acme)] {
            let mut tx = db.tenant(mine).await.unwrap();
            sees(&mut tx, &[mine]).await;
            tx.commit().await.unwrap();
            is_clean(&db).await;

            let mut tx = db.tenant(mine).await.unwrap();
            sqlx::query("UPDATE datasets SET description = 'rolled back'").execute(&mut *tx).await.unwrap();
            drop(tx);
            is_clean(&db).await;

            let mut tx = db.tenant(mine).await.unwrap();
            sqlx::query("SELECT 1 / 0").execute(&mut *tx).await.unwrap_err();
            assert!(sqlx::query("SELECT org_id FROM datasets").fetch_all(&mut *tx).await.is_err());
            drop(tx);
            is_clean(&db).await;

            drop(db.read_everyone().await.unwrap());
            is_clean(&db).await;
        }
        let described = datasets::by_name(&mut db.read_tenant(acme).await.unwrap(), acme, "sales").await.unwrap();
        assert_eq!(described.unwrap().description, "", "round {round}");
    }
}

#[tokio::test]
async fn k04_a_call_that_is_given_up_half_way_leaves_no_tenant_behind() {
    let Walled { db, acme, other, .. } = walled(1).await;
    // Given up after each number of steps, from before the connection is there until after the answer.
    for steps in 0..40 {
        let mut call = Box::pin(async {
            let mut tx = db.tenant(acme).await.unwrap();
            sqlx::query("SELECT pg_sleep(0.001)").execute(&mut *tx).await.unwrap();
            sees(&mut tx, &[acme]).await;
            tx.commit().await.unwrap();
        });
        for _ in 0..steps {
            if call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(call);
        is_clean(&db).await;
        sees(&mut db.read_tenant(other).await.unwrap(), &[other]).await;
    }
    let late = tokio::time::timeout(std::time::Duration::from_millis(50), async {
        let mut tx: Scoped = db.tenant(acme).await.unwrap();
        sqlx::query("SELECT pg_sleep(5)").execute(&mut *tx).await.unwrap();
    });
    assert!(late.await.is_err());
    is_clean(&db).await;
    let panicking = {
        let db = db.clone();
        tokio::spawn(async move {
            let _tx = db.tenant(acme).await.unwrap();
            panic!("on purpose");
        })
    };
    assert!(panicking.await.unwrap_err().is_panic());
    is_clean(&db).await;
}

#[tokio::test]
async fn what_is_written_after_a_transaction_was_given_up_half_way_is_kept() {
    let Walled { db, acme, .. } = walled(1).await;
    for steps in 0..20 {
        let mut beginning = Box::pin(db.begin());
        for _ in 0..steps {
            if beginning.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(beginning);
        assert!(orgs::set_connectivity(&mut db.writer().await.unwrap(), acme, steps % 2 == 0).await.unwrap());
        drop(db.begin().await.unwrap());
        let org = orgs::by_id(db.pool(), acme).await.unwrap().unwrap();
        assert_eq!(org.connectivity_enabled, steps % 2 == 0, "given up after {steps} steps");
    }
}

/// Unique keys and foreign keys of tables with a tenant that do not begin with the tenant, each with its reason.
const NOT_COMPOSITE: [(&str, &str); 10] = [
    ("connectivity_tokens (id)", "drawn at random by us, and looked up before the tenant is known"),
    ("device_codes (digest)", "the digest of a secret of ours"),
    ("device_codes (user_code)", "drawn at random by us"),
    ("grants (code_digest)", "the digest of a secret of ours"),
    ("grants (id)", "made by us; refresh tokens, which have no tenant of their own, point at it"),
    ("grants (user_id)", "people belong to the installation"),
    ("consents (user_id)", "people belong to the installation"),
    ("invitations (digest)", "the digest of a secret of ours"),
    ("invitations (id)", "made by us"),
    ("memberships (user_id)", "people belong to the installation"),
];

#[tokio::test]
async fn k05_keys_begin_with_the_tenant_so_that_none_says_what_another_has() {
    let Walled { db, acme, other, .. } = walled(2).await;
    let sql = "SELECT CAST(t.relname AS TEXT),
                      (SELECT string_agg(a.attname, ', ' ORDER BY k.place)
                       FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
                       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number)
               FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
               WHERE c.contype IN ('p', 'u', 'f')
                 AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'org_id')";
    let keys = pairs(&db, sql).await;
    assert!(keys.len() > 15, "{keys:?}");
    let mut others: Vec<String> = keys
        .into_iter()
        .filter(|(_, columns)| columns.split(", ").next() != Some("org_id"))
        .map(|(table, columns)| format!("{table} ({columns})"))
        .collect();
    others.sort();
    let mut excused: Vec<&str> = NOT_COMPOSITE.iter().map(|(key, _)| *key).collect();
    excused.sort_unstable();
    assert_eq!(others, excused);

    // A document cannot be hung onto another tenant's dataset, and its refusal is that of one that nobody has.
    let theirs = datasets::by_name(&mut db.read_tenant(other).await.unwrap(), other, "sales").await.unwrap().unwrap();
    let clock = Clock::manual(1);
    let mut refusals = Vec::new();
    for dataset in [theirs.id, Id::new(&clock)] {
        let sql = format!("INSERT INTO documents VALUES ('{acme}', 'd', '{dataset}', '', '', '', '', 0)");
        let mut tx = db.tenant(acme).await.unwrap();
        let refused = sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap_err();
        refusals.push(refused.as_database_error().unwrap().code().unwrap().into_owned());
    }
    assert_eq!(refusals, ["23503", "23503"]);
    // The same id and name in two workspaces are two datasets.
    let mut tx = db.tenant(acme).await.unwrap();
    let twin = Dataset { org: acme, name: "twin".into(), ..theirs };
    datasets::put(&mut tx, &twin).await.unwrap();
    tx.commit().await.unwrap();
}
