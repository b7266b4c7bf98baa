//! Runs that take long do it in turns: others go first in between, and none is lost with the process that did it.

use std::time::{Duration, Instant};

use dragoman::base::id::Id;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::model::sync::{DocumentSync, Origin, Run, State};
use dragoman::store::{self, Db};
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection as _};

use super::sites::{Page, Site, page};
use super::sync::{FIRST, Shop, counts, syncs};
use crate::sources::{OPEN, Ready, Shop as Server};
use crate::support::program::{Program, free_port};
use crate::support::service::Service;

/// What `look` gives, once it gives something.
async fn soon<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The run of the only sync of a workspace.
async fn run_of(service: &Service, org: &Org) -> Value {
    syncs(service, org).await[0]["run"].clone()
}

/// Keeps documents from a site, as an admin of a workspace; gives the run.
async fn follow(service: &Service, org: &Org, site: &Site) -> Value {
    let admin = service.access_token(org, Role::Admin, &Scope::ALL).await;
    let (status, set) = service.manage(&admin, "POST", "/document-syncs", Some(site.sync(&[]))).await;
    assert_eq!(status, 200, "{set}");
    set["run"].clone()
}

/// Lets ten minutes go by for runs that are held.
async fn ten_minutes(service: &Service) {
    service.clock.advance(Duration::from_secs(600));
    soon("both lanes are held", async || {
        let leases = "SELECT MIN(leased_until) FROM document_syncs WHERE state = 'running'";
        let until: i64 = sqlx::query_scalar(leases).fetch_one(service.db.pool()).await.unwrap();
        (until > service.clock.now()).then_some(())
    })
    .await;
}

/// A site of so many pages, of which the last ones are held.
async fn slow_site(pages: usize, held: usize) -> Site {
    let site = Site::open().await;
    let paths: Vec<String> = (0..pages).map(|number| format!("/{number:03}")).collect();
    let listed: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    site.list("/sitemap.xml", &listed);
    for (number, path) in paths.iter().enumerate() {
        let body = page(&format!("Page {number}"), &format!("What stands on page {number} alone.")).into();
        site.set(path, Page { body, is_held: number >= pages - held, ..Page::default() });
    }
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn two_slow_sites_do_not_hold_a_third_sync() {
    let (slow, slower, third) = (slow_site(2, 2).await, slow_site(2, 2).await, slow_site(1, 1).await);
    let private = format!("one={},two={},acme={}", slow.origin, slower.origin, third.origin);
    let mut shop = Shop::open(Service::with(&[("DRAGOMAN_SYNC_PRIVATE_SITES", &private)]).await, FIRST).await;
    let service = shop.service;
    let (one, two) = (service.workspace("one").await, service.workspace("two").await);
    for (org, site) in [(&one, &slow), (&two, &slower)] {
        follow(&service, org, site).await;
        site.until("/000").await;
    }
    assert_eq!(follow(&service, &shop.org, &third).await["state"], "waiting");

    ten_minutes(&service).await;
    slow.permits.add_permits(1);
    slower.permits.add_permits(1);
    third.until("/000").await;
    let told = soon("one of the slow ones waits", async || {
        let mut runs = [run_of(&service, &one).await, run_of(&service, &two).await].into_iter();
        runs.find(|run| run["state"] == "waiting")
    })
    .await;
    let message = "1 of 2 were looked at. It goes on when others have had their turn.";
    assert_eq!((&told["message"], counts(&told)), (&json!(message), [1, 0, 0, 0, 1]), "{told}");
    third.permits.add_permits(1);
    shop.service = service;
    assert_eq!(shop.ended("pages").await["state"], "done");

    // Each goes on with what was not looked at, and is told as the one run that it is.
    for (org, site) in [(&one, &slow), (&two, &slower)] {
        site.permits.add_permits(1);
        let run = soon("it ends", async || {
            let run = run_of(&shop.service, org).await;
            (run["state"] == "done").then_some(run)
        })
        .await;
        assert_eq!(counts(&run), [2, 0, 0, 0, 2], "{run}");
        let pages: Vec<String> = site.asked().into_iter().filter(|path| path.starts_with("/0")).collect();
        assert_eq!(pages, ["/000", "/001"], "none is read twice");
    }
    shop.service.stop().await;
}

/// A view of 1,500 rows whose texts are given while nobody holds the lock 7.
const LATE: &str = "
CREATE TABLE notes (id int PRIMARY KEY);
INSERT INTO notes SELECT generate_series(1, 1500);
CREATE FUNCTION opened(id int) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN
    WHILE NOT pg_try_advisory_lock_shared(7) LOOP PERFORM pg_sleep(0.02); END LOOP;
    PERFORM pg_advisory_unlock_shared(7);
    RETURN 'Note ' || id;
END $$;
CREATE VIEW late AS SELECT id, opened(id) AS body FROM notes;
GRANT SELECT ON late TO ";

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_table_gives_way_and_goes_on_behind_what_was_read() {
    let (slow, third, server) = (slow_site(1, 1).await, slow_site(1, 1).await, Server::open().await);
    let private = format!("one={},two={}", slow.origin, third.origin);
    let settings = [OPEN, ("DRAGOMAN_SYNC_PRIVATE_SITES", private.as_str()), ("DRAGOMAN_SQL_SECONDS", "120")];
    let service = Service::with(&settings).await;
    server.admin(&format!("{LATE}{}", server.reader)).await;
    let ready = Ready::with(&service, server).await;
    let (one, two) = (service.workspace("one").await, service.workspace("two").await);
    let database = ready.shop.cluster.url_of("postgres", &ready.shop.database);
    let mut lock = AnyConnection::connect(&database).await.unwrap();
    sqlx::raw_sql("DO $$ BEGIN PERFORM pg_advisory_lock(7); END $$").execute(&mut lock).await.unwrap();
    let sync = json!({ "name": "texts", "table": "late", "key": "id", "text": ["body"] });
    let (status, set) = service.manage(&ready.admin, "POST", "/document-syncs", Some(sync)).await;
    assert_eq!(status, 200, "{set}");
    soon("its rows are asked for", async || {
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
        (ready.shop.value(waits).await > 0).then_some(())
    })
    .await;
    follow(&service, &one, &slow).await;
    slow.until("/000").await;
    assert_eq!(follow(&service, &two, &third).await["state"], "waiting");

    ten_minutes(&service).await;
    lock.close().await.unwrap();
    third.until("/000").await;
    let told = run_of(&service, &ready.org).await;
    let message = "1000 of 1500 were looked at. It goes on when others have had their turn.";
    assert_eq!((&told["state"], &told["message"]), (&json!("waiting"), &json!(message)), "{told}");
    assert_eq!(counts(&told), [1000, 0, 0, 0, 1000], "{told}");
    slow.permits.add_permits(1);
    third.permits.add_permits(1);
    let run = soon("it ends", async || {
        let run = run_of(&service, &ready.org).await;
        (run["state"] == "done").then_some(run)
    })
    .await;
    assert_eq!(counts(&run), [1500, 0, 0, 0, 1500], "no row is read twice: {run}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_at_the_next_start_after_its_program_was_killed_or_stopped() {
    // With half a second between two pages more than a minute, which is when what was read is published.
    const PAGES: usize = 125;
    let site = slow_site(PAGES, 1).await;
    let last = format!("/{:03}", PAGES - 1);
    let data = tempfile::tempdir().unwrap();
    let settings = [("DRAGOMAN_SYNC_PRIVATE_SITES".to_owned(), format!("demo={}", site.origin))];
    let start = async || Program::with(data.path(), free_port(), &settings).await;
    let program = start().await;
    let db = Db::open_sqlite(&Db::file(data.path())).await.unwrap();
    let org = store::orgs::by_slug(db.pool(), "demo").await.unwrap().unwrap().id;
    let now = dragoman::base::clock::Clock::system().now();
    let origin: Origin = serde_json::from_value(json!({ "site": site.sync(&[])["site"] })).unwrap();
    let wanted = DocumentSync {
        org,
        name: "pages".into(),
        origin,
        sealed_secret: None,
        every_minutes: None,
        cursor: None,
        run: Run::wanted("first".into(), now),
        created_at: now,
        synced_at: None,
    };
    let mut tx = db.tenant(org).await.unwrap();
    store::syncs::put(&mut tx, &wanted).await.unwrap();
    tx.commit().await.unwrap();
    site.until(&last).await;
    let published = passages(&db, org).await;
    assert!(published > 0, "what was read is published in between");

    program.kill().await;
    assert_eq!(passages(&db, org).await, published);
    // As a minute later: nobody holds it any more.
    let lapsed = "UPDATE document_syncs SET leased_until = 0 WHERE state = 'running'";
    assert_eq!(sqlx::query(lapsed).execute(db.pool()).await.unwrap().rows_affected(), 1);
    for is_killed in [true, false] {
        let before = site.asked();
        let program = start().await;
        site.until(&last).await;
        assert_eq!(passages(&db, org).await, published, "what was published is there");
        let asked = site.asked.lock().unwrap().iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        let not_published = PAGES - usize::try_from(published).unwrap();
        assert_eq!(asked.len(), 2 + not_published, "{is_killed}: {asked:?} after {before:?}");
        assert_eq!(asked.first().map(String::as_str), Some("/robots.txt"));
        // Asked to stop, it gives the run back at once.
        program.stop().await;
    }
    site.asked();
    site.permits.add_permits(PAGES);
    let program = start().await;
    let run = soon("it ends", async || {
        let sync = store::syncs::find(&mut db.read_tenant(org).await.unwrap(), org, "pages").await.unwrap().unwrap();
        (!sync.run.state.is_ahead()).then_some(sync.run)
    })
    .await;
    assert_eq!((run.state, run.job_id.as_str()), (State::Done, "first"), "{}", run.message);
    assert_eq!(run.changes.map(|changes| changes.total), Some(PAGES));
    assert!(!site.asked().contains(&"/000".to_owned()), "what was read is not read again");
    program.stop().await;
    db.close().await;
}

/// Passages that are published of the pages: each has one.
async fn passages(db: &Db, org: Id<Org>) -> i64 {
    let found = store::datasets::by_name(&mut db.read_tenant(org).await.unwrap(), org, "pages").await.unwrap();
    found.map_or(0, |dataset| dataset.row_count)
}
