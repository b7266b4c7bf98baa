//! PostgreSQL under those who hold what others need: nobody waits for them for long, and is told what to do.

use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::base::secret::Secret;
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::document::{Document, Facts, Markup};
use dragoman::model::error::{Code, Error};
use dragoman::model::org::Org;
use dragoman::store::{Db, audit, datasets, documents, leases, orgs};
use sqlx::AnyConnection;

use crate::support::databases::postgres_url;

/// With so many connections for requests.
async fn open(connections: u32) -> Db {
    Db::open_postgres_with(&Secret::new(postgres_url().await), connections).await.unwrap()
}

async fn workspace(db: &Db, clock: &Clock) -> Id<Org> {
    let org =
        Org { id: Id::new(clock), slug: "acme".into(), name: "Acme".into(), connectivity_enabled: true, created_at: 0 };
    assert!(orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap());
    org.id
}

#[track_caller]
fn is_busy(problem: sqlx::Error) {
    let told = Error::from(problem);
    assert_eq!((told.code, told.retry_after), (Code::ServiceUnavailable, Some(1)), "{told}");
}

#[tokio::test]
async fn who_waits_too_long_for_a_lock_is_told_to_try_again() {
    let db = open(4).await;
    let mut holder = db.begin().await.unwrap();
    leases::lock(&mut holder, "names").await.unwrap();
    let mut waits = db.begin().await.unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(60), leases::lock(&mut waits, "names")).await;
    is_busy(waited.expect("nobody waits for ever").unwrap_err());
    drop(waits);
    holder.commit().await.unwrap();

    let (mut one, mut other) = (db.begin().await.unwrap(), db.begin().await.unwrap());
    leases::lock(&mut one, "one").await.unwrap();
    leases::lock(&mut other, "other").await.unwrap();
    let (first, second) = tokio::join!(leases::lock(&mut one, "other"), leases::lock(&mut other, "one"));
    let mut refused: Vec<sqlx::Error> = [first, second].into_iter().filter_map(Result::err).collect();
    is_busy(refused.pop().expect("one of a circle is refused"));
    assert!(refused.is_empty(), "{refused:?}");
    drop((one, other));

    is_busy(sqlx::Error::PoolTimedOut);
    db.close().await;
}

/// How long locks, statements and a silent owner of a transaction are waited for.
async fn bounds(on: &mut AnyConnection) -> [String; 3] {
    let mut bounds = <[String; 3]>::default();
    let names = ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"];
    for (bound, name) in bounds.iter_mut().zip(names) {
        *bound = sqlx::query_scalar("SELECT current_setting($1)").bind(name).fetch_one(&mut *on).await.unwrap();
    }
    bounds
}

#[tokio::test]
async fn every_connection_is_bounded_and_what_may_take_long_for_its_transaction_alone() {
    let db = open(1).await;
    let org = workspace(&db, &Clock::manual(1)).await;
    for _ in 0..3 {
        let mut long = db.tenant_at_length(org).await.unwrap();
        assert_eq!(bounds(&mut long).await, ["2min", "15min", "30s"]);
        long.commit().await.unwrap();
        let mut tenant = db.tenant(org).await.unwrap();
        assert_eq!(bounds(&mut tenant).await, ["5s", "2min", "30s"]);
        tenant.commit().await.unwrap();
        let mut writer = db.writer().await.unwrap();
        assert_eq!(bounds(&mut writer).await, ["5s", "2min", "30s"]);
    }
    db.close().await;
}

#[tokio::test]
async fn the_record_is_written_while_others_hold_every_connection() {
    let db = open(1).await;
    // That of requests, and that of the counts.
    let all = [db.begin().await.unwrap(), db.begin().await.unwrap()];
    audit::append(&db, Vec::new(), Vec::new()).await.unwrap();
    drop(all);
    db.close().await;
}

#[tokio::test]
async fn the_documents_of_a_version_are_written_many_at_once() {
    const DOCUMENTS: usize = 1_000;
    let db = open(4).await;
    let clock = Clock::manual(1);
    let org = workspace(&db, &clock).await;
    let mut tx = db.tenant(org).await.unwrap();
    let notes = Dataset::new(Id::new(&clock), org, "notes", Kind::Documents);
    datasets::put(&mut tx, &notes).await.unwrap();
    for sql in [
        "CREATE TABLE statements (at BIGINT NOT NULL)",
        "CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO statements VALUES (0);
             RETURN NULL;
         END $$",
        "CREATE TRIGGER counted AFTER INSERT ON documents FOR EACH STATEMENT EXECUTE FUNCTION counted()",
    ] {
        sqlx::query(sql).execute(&mut *tx).await.unwrap();
    }
    let document = |number: usize| Document {
        id: Id::new(&clock),
        row: Id::new(&clock),
        org,
        dataset: notes.id,
        version: "v1".into(),
        title: format!("Note {number}"),
        source_file: format!("{number:04}.txt"),
        text: format!("Text {number}"),
        markup: Markup::Plain,
        facts: Facts::new(),
        created_at: 0,
    };
    let all: Vec<Document> = (0..DOCUMENTS).map(document).collect();
    documents::add(&mut tx, org, notes.id, "v1", &all, &[]).await.unwrap();
    assert_eq!(documents::list(&mut tx, org, notes.id, "v1").await.unwrap(), all);
    let statements: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM statements").fetch_one(&mut *tx).await.unwrap();
    assert!(statements <= 10, "{statements} statements for {DOCUMENTS} documents");
    tx.commit().await.unwrap();
    db.close().await;
}
