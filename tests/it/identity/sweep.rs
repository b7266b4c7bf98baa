//! L10: clean-up takes what is past its time, and nothing else.

use std::collections::BTreeMap;
use std::time::Instant;

use dragoman::identity::clients::NewClient;
use dragoman::store::{self, leases};
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::*;
use crate::support::databases::{both, postgres_url};

const DAY: u64 = 24 * 60 * 60;
const MONTH: u64 = 30 * DAY;

async fn run(db: &Db, sql: String) {
    // Written here; nothing foreign is in it.
    sqlx::query(AssertSqlSafe(sql)).execute(db.pool()).await.unwrap();
}

async fn count(db: &Db, what: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {what}"))).fetch_one(db.pool()).await.unwrap()
}

/// What goes in a turn of a clean-up that has kept up with the clock.
async fn swept(world: &World) -> BTreeMap<&'static str, u64> {
    run(world.identity.db(), "DELETE FROM clean_up".into()).await;
    world.identity.sweep().await.unwrap().unwrap().into_iter().collect()
}

/// The moment `seconds` before now.
fn ago(world: &World, seconds: u64) -> Millis {
    world.clock.now() - Millis::try_from(seconds * 1000).unwrap()
}

#[tokio::test]
async fn l10_rows_go_when_their_time_has_come_and_not_a_moment_earlier() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let (org, user) = (world.org.id, world.user.id);
        // Of each kind one that ended just long enough ago, and one a second later.
        for (id, late) in [("gone", 0), ("kept", 1)] {
            let at = |seconds: u64| ago(&world, seconds - late);
            let (now, day, month) = (at(1) + 1000, at(DAY), at(MONTH));
            run(&db, format!("INSERT INTO browser_sessions (id_hash, data, expires_at) VALUES ('{id}', '', {now})")).await;
            run(
                &db,
                format!(
                    "INSERT INTO pending_authorizations (handle_hash, session_hash, user_id, data, expires_at)
                     VALUES ('{id}', '', '', '', {now})"
                ),
            )
            .await;
            run(
                &db,
                format!(
                    "INSERT INTO device_codes (digest, user_code, client_id, client_name, scopes, resource, ip, state,
                         created_at, expires_at, poll_seconds) VALUES ('{id}', '{id}', '', '', '', '', '', '', 0, {day}, 5)"
                ),
            )
            .await;
            run(
                &db,
                format!(
                    "INSERT INTO email_links (digest, kind, user_id, created_at, expires_at)
                     VALUES ('{id}', 'reset', '{user}', 0, {day})"
                ),
            )
            .await;
            let far = world.clock.now() + 1_000_000;
            for (end, expires, accepted, revoked) in [
                ("expired", month.to_string(), "NULL".into(), "NULL".into()),
                ("accepted", far.to_string(), month.to_string(), "NULL".into()),
                ("revoked", far.to_string(), "NULL".into(), month.to_string()),
            ] {
                run(
                    &db,
                    format!(
                        "INSERT INTO invitations (org_id, id, email, role, digest, invited_by, created_at, expires_at,
                             accepted_at, revoked_at)
                         VALUES ('{org}', '{id} {end}', '', '', '{id} {end}', '', 0, {expires}, {accepted}, {revoked})"
                    ),
                )
                .await;
            }
        }
        let gone = swept(&world).await;
        let expected = [
            ("browser_sessions", 1),
            ("device_codes", 1),
            ("email_links", 1),
            ("invitations", 3),
            ("pending_authorizations", 1),
        ];
        assert_eq!(gone, BTreeMap::from(expected));
        for (table, id) in [
            ("browser_sessions", "id_hash"),
            ("pending_authorizations", "handle_hash"),
            ("device_codes", "digest"),
            ("email_links", "digest"),
        ] {
            assert_eq!(count(&db, &format!("{table} WHERE {id} = 'kept'")).await, 1, "{table}");
            assert_eq!(count(&db, table).await, 1, "{table}");
        }
        assert_eq!(count(&db, "invitations WHERE id LIKE 'kept %'").await, 3);
        assert_eq!(swept(&world).await, BTreeMap::new());
    })
    .await;
}

#[tokio::test]
async fn l10_ended_families_go_and_the_tombstones_of_living_ones_stay() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        // A living family whose first token was replaced long ago.
        let living = world.pair().await;
        let mut newest = living.refresh.clone();
        let revoked = world.pair().await;
        let never_redeemed = world.code().await;
        assert!(world.identity.revoke(revoked.refresh.expose(), CLIENT).await.unwrap().is_some());
        world.wait(DAY - 1);
        assert_eq!(swept(&world).await, BTreeMap::new());
        world.wait(1);
        assert_eq!(swept(&world).await, BTreeMap::from([("unused_grants", 1)]));
        invalid_grant(world.redeem(&never_redeemed).await);

        world.wait(MONTH - 2 * DAY);
        newest = world.refresh(&newest).await.unwrap().refresh;
        assert_eq!(swept(&world).await, BTreeMap::new(), "revoked 29 days ago");
        world.wait(DAY);
        assert_eq!(swept(&world).await, BTreeMap::from([("refresh_tokens", 1), ("grants", 1)]));
        assert_eq!((count(&db, "grants").await, count(&db, "refresh_tokens").await), (1, 2));

        // Months later the first token is still known as used, and its use ends the family.
        for _ in 0..3 {
            world.wait(MONTH - DAY - 1);
            newest = world.refresh(&newest).await.unwrap().refresh;
            assert_eq!(swept(&world).await.get("refresh_tokens"), None);
        }
        invalid_grant(world.refresh(&living.refresh).await);
        invalid_grant(world.refresh(&newest).await);
        world.wait(MONTH);
        assert_eq!(swept(&world).await.get("refresh_tokens"), Some(&5));
        assert_eq!((count(&db, "grants").await, count(&db, "refresh_tokens").await), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn l10_a_family_goes_a_month_after_its_last_day() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        world.pair().await;
        world.wait(180 * DAY + MONTH - 1);
        swept(&world).await;
        assert_eq!(count(&db, "grants").await, 1);
        world.wait(1);
        swept(&world).await;
        assert_eq!((count(&db, "grants").await, count(&db, "refresh_tokens").await), (0, 0));
    })
    .await;
}

/// On PostgreSQL: a grant in each of two workspaces that was never redeemed, and is about to go. The workspaces in their
/// order, in which they do not stand in the table.
async fn two_unused(db: &Db) -> (World, [Id<Org>; 2]) {
    let world = World::new(db.clone()).await;
    let other = world.identity.create_org("other", "Other").await.unwrap();
    world.identity.set_role(other.id, world.user.id, Role::Contributor).await.unwrap();
    let mut orgs = [world.org.id, other.id];
    orgs.sort_unstable();
    for org in orgs.into_iter().rev() {
        world.identity.approve(Approval { org, ..world.approval() }).await.unwrap();
    }
    world.wait(DAY);
    (world, orgs)
}

#[tokio::test]
async fn l10_a_family_that_somebody_has_goes_the_next_time() {
    let db = Db::open_postgres(&Secret::new(postgres_url().await)).await.unwrap();
    let (world, [first, second]) = two_unused(&db).await;
    let mut holder = db.begin().await.unwrap();
    let held = sqlx::query("SELECT id FROM grants WHERE org_id = $1 FOR UPDATE").bind(first.to_string());
    held.fetch_one(&mut *holder).await.unwrap();
    assert_eq!(swept(&world).await, BTreeMap::from([("unused_grants", 1)]), "nobody is waited for");
    assert_eq!(count(&db, &format!("grants WHERE org_id = '{second}'")).await, 0);
    holder.commit().await.unwrap();
    assert_eq!(swept(&world).await, BTreeMap::from([("unused_grants", 1)]));
    db.close().await;
}

/// Of two that took workspaces in different orders, PostgreSQL would have to refuse one.
#[tokio::test]
async fn l10_families_go_in_the_order_of_their_workspaces() {
    let db = Db::open_postgres(&Secret::new(postgres_url().await)).await.unwrap();
    let (world, [first, second]) = two_unused(&db).await;
    let hold = "SELECT org_id FROM freshness WHERE org_id = $1 FOR UPDATE NOWAIT";
    let mut holder = db.begin().await.unwrap();
    sqlx::query(hold).bind(first.to_string()).fetch_one(&mut *holder).await.unwrap();
    let identity = world.identity.clone();
    let sweeping = tokio::spawn(async move { identity.sweep().await });
    let waiting =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(db.pool()).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    let other = sqlx::query(hold).bind(second.to_string()).fetch_one(&mut *holder).await;
    other.expect("who waits for the first workspace has the second");
    holder.commit().await.unwrap();
    assert_eq!(sweeping.await.unwrap().unwrap(), Some(vec![("unused_grants", 2)]));
    db.close().await;
}

#[tokio::test]
async fn l10_clients_that_nobody_uses_go_after_a_day() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let new = |name: &str| NewClient {
            name: name.into(),
            redirect_uris: vec![REDIRECT.into()],
            application_type: "native".into(),
            uri: None,
        };
        let mut ids = BTreeMap::new();
        for name in ["unused", "granted", "remembered", "device", "waiting", "confidential", "blocked", "again"] {
            ids.insert(name, world.identity.register_client(new(name)).await.unwrap().id);
        }
        world.identity.block_client(None, &ids["blocked"]).await.unwrap();
        let (org, user) = (world.org.id, world.user.id);
        world.identity.approve(Approval { client_id: ids["granted"].clone(), ..world.approval() }).await.unwrap();
        run(
            &db,
            format!(
                "INSERT INTO consents (org_id, user_id, client_id, redirect_uri, resource, scopes, addresses, created_at)
                 VALUES ('{org}', '{user}', '{}', '', '', '', '', 0)",
                ids["remembered"]
            ),
        )
        .await;
        let later = world.clock.now() + 2 * 24 * 60 * 60 * 1000;
        run(
            &db,
            format!(
                "INSERT INTO device_codes (digest, user_code, client_id, client_name, scopes, resource, ip, state,
                     created_at, expires_at, poll_seconds) VALUES ('d', 'd', '{}', '', '', '', '', '', 0, {later}, 5)",
                ids["device"]
            ),
        )
        .await;
        run(
            &db,
            format!(
                "INSERT INTO pending_authorizations (handle_hash, session_hash, user_id, data, expires_at)
                 VALUES ('h', '{1}', '', '{{\"client_id\":\"{0}\"}}', {later})",
                ids["waiting"],
                "s".repeat(64)
            ),
        )
        .await;
        // What is kept of a form or a page waits for no client, whatever it says.
        run(
            &db,
            format!(
                "INSERT INTO pending_authorizations (handle_hash, session_hash, user_id, data, expires_at)
                 VALUES ('f', 'form', '', '{0}', {later}), ('p', 'page', '', '{0}', {later})",
                ids["unused"]
            ),
        )
        .await;
        run(&db, format!("UPDATE oauth_clients SET secret_digest = 'x' WHERE id = '{}'", ids["confidential"])).await;

        world.wait(DAY - 1);
        assert_eq!(world.identity.register_client(new("again")).await.unwrap().id, ids["again"]);
        assert_eq!(swept(&world).await, BTreeMap::new());
        world.wait(1);
        let gone = swept(&world).await;
        assert_eq!(gone, BTreeMap::from([("unused_grants", 1), ("oauth_clients", 2)]), "its grant was never redeemed");
        for (name, id) in &ids {
            let there = world.identity.client(id).await.unwrap().is_some();
            assert_eq!(there, !["unused", "granted"].contains(name), "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn l10_signing_keys_go_a_day_after_whatever_they_signed_and_the_newest_stays() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        world.identity.rotate_key().await.unwrap();
        // Signs after 365 s; what the first signed is dead 960 s later.
        world.wait(365 + 960 + DAY - 1);
        assert_eq!(swept(&world).await, BTreeMap::new());
        world.wait(1);
        assert_eq!(swept(&world).await, BTreeMap::from([("signing_keys", 1)]));
        world.identity.tend_keys().await.unwrap();
        assert_eq!(world.identity.signing_keys().len(), 1);
        world.verify(&world.pair().await.access).await.unwrap();
        world.wait(365 * DAY);
        assert_eq!(swept(&world).await.get("signing_keys"), None, "the newest stays");
        world.verify(&world.pair().await.access).await.unwrap();
    })
    .await;
}

/// A command has the settings of a shell, or none.
#[tokio::test]
async fn l10_what_settings_end_is_the_services_to_delete() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        world.identity.rotate_key().await.unwrap();
        run(&db, "INSERT INTO browser_sessions (id_hash, data, expires_at) VALUES ('x', '', 0)".into()).await;
        let entry = json!({
            "at": NOW, "org": null, "principal": "local", "client": "", "client_version": "", "session": "", "ip": "",
            "request_id": "", "action": "x", "target": "", "outcome": "ok", "duration_ms": 0, "rows": 0, "bytes": 0,
        });
        store::audit::append(&db, vec![serde_json::from_value(entry).unwrap()], vec![]).await.unwrap();
        world.wait(401 * DAY);
        let config = Arc::new(Config { trims: false, ..Config::read(|_| None).unwrap() });
        let shell = Identity::open(db.clone(), config, world.master.clone(), world.clock.clone()).await.unwrap();
        assert_eq!(shell.sweep().await.unwrap().unwrap(), [("browser_sessions", 1)]);
        assert_eq!(swept(&world).await, BTreeMap::from([("signing_keys", 1), ("audit", 1)]));
    })
    .await;
}

#[tokio::test]
async fn l10_a_clock_that_leaps_ahead_does_not_take_everything_with_it() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        world.pair().await;
        super::audit::recorded(&db, world.org.id).await;
        for (id, days) in [("soon", 1), ("later", 3)] {
            let end = NOW + days * 24 * 60 * 60 * 1000;
            run(&db, format!("INSERT INTO browser_sessions (id_hash, data, expires_at) VALUES ('{id}', '', {end})"))
                .await;
        }
        let sweep = async |identity: &Identity| identity.sweep().await.unwrap().unwrap();
        assert!(sweep(&world.identity).await.is_empty());
        world.wait(3 * 365 * DAY);
        assert!(sweep(&world.identity).await.is_empty());
        assert!(sweep(&world.identity).await.is_empty(), "nor when it is asked again");
        // Another node's clock is right: whoever is asked, nothing goes.
        let clock = Clock::manual(NOW + 60 * 60 * 1000);
        let right = Identity::open(db.clone(), config(), world.master.clone(), clock).await.unwrap();
        for identity in [&right, &world.identity, &right, &world.identity] {
            assert!(sweep(identity).await.is_empty());
        }
        let left = [count(&db, "audit").await, count(&db, "grants").await, count(&db, "browser_sessions").await];
        assert_eq!(left, [23, 1, 2]);
        // A clock that goes on so is the time after all.
        world.wait(60 * 60);
        assert_eq!(sweep(&world.identity).await, [("browser_sessions", 1)], "a day in an hour");
        for _ in 0..20 {
            world.wait(24 * 60 * 60);
            sweep(&world.identity).await;
        }
        let left = [count(&db, "audit").await, count(&db, "grants").await, count(&db, "browser_sessions").await];
        assert_eq!(left, [0, 0, 0]);
    })
    .await;
}

#[tokio::test]
async fn l10_one_node_cleans_at_a_time_and_a_dead_one_is_followed() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        run(&db, "INSERT INTO browser_sessions (id_hash, data, expires_at) VALUES ('x', '', 0)".into()).await;
        let now = world.clock.now();
        assert!(
            leases::take(&mut db.writer().await.unwrap(), "clean-up", "another node", now, now + 60_000).await.unwrap()
        );
        assert_eq!(world.identity.sweep().await.unwrap(), None, "another has the turn");
        assert_eq!(count(&db, "browser_sessions").await, 1);
        assert!(
            leases::take(&mut db.writer().await.unwrap(), "clean-up", "another node", now, now + 90_000).await.unwrap(),
            "it may go on"
        );
        world.wait(89);
        assert_eq!(world.identity.sweep().await.unwrap(), None);
        world.wait(1);
        assert_eq!(swept(&world).await, BTreeMap::from([("browser_sessions", 1)]), "the other is dead");
        assert_eq!(count(&db, "leases").await, 0, "given back");
        leases::release(&mut db.writer().await.unwrap(), "clean-up", "another node").await.unwrap();

        let takers = (0..8).map(|taker| {
            let (db, now) = (db.clone(), world.clock.now());
            tokio::spawn(async move {
                leases::take(&mut db.writer().await.unwrap(), "x", &format!("{taker}"), now, now + 1000).await.unwrap()
            })
        });
        let taken = futures_util::future::join_all(takers).await;
        assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l10_a_hundred_thousand_rows_go_in_batches_between_which_others_write() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let digits =
            "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL
                       SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
        run(
            &db,
            format!(
                "INSERT INTO browser_sessions (id_hash, data, expires_at)
                 SELECT 's' || a.d || b.d || c.d || e.d || f.d, '', 0
                 FROM {digits} a, {digits} b, {digits} c, {digits} e, {digits} f"
            ),
        )
        .await;
        assert_eq!(count(&db, "browser_sessions").await, 100_000);
        let started = Instant::now();
        let cleaner = tokio::spawn({
            let identity = world.identity.clone();
            async move { identity.sweep().await.unwrap().unwrap() }
        });
        let (mut between, mut longest) = (0, std::time::Duration::ZERO);
        while !cleaner.is_finished() {
            let waited = Instant::now();
            world.identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
            longest = longest.max(waited.elapsed());
            let left = count(&db, "browser_sessions").await;
            between += u32::from(left > 0 && left < 100_000);
        }
        assert_eq!(cleaner.await.unwrap(), [("browser_sessions", 100_000)]);
        eprintln!("100,000 rows in {:?}; {between} writes in between, the slowest took {longest:?}", started.elapsed());
        assert!(between > 0, "nobody could write while the clean-up ran");
    })
    .await;
}
