//! L08: what an intruder with the database does to the audit log shows.

use dragoman::identity::checkpoint::Checkpoint;
use dragoman::model::audit::Entry;
use dragoman::store::audit;
use dragoman::store::audit::cuts;
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::*;
use crate::support::databases::both;

fn entry(at: Millis, org: Option<Id<Org>>, target: &str) -> Entry {
    let json = json!({
        "at": at, "org": org, "principal": "user:x", "client": "c", "client_version": "", "session": "",
        "ip": "127.0.0.1", "request_id": "r", "action": "mcp.tool.call", "target": target, "outcome": "ok",
        "duration_ms": 1, "rows": 2, "bytes": 3,
    });
    serde_json::from_value(json).unwrap()
}

/// Twenty entries of the workspace, and three about none.
pub(super) async fn recorded(db: &Db, org: Id<Org>) {
    for number in 1..=20 {
        audit::append(db, vec![entry(NOW + number, Some(org), &format!("call {number}"))], vec![]).await.unwrap();
    }
    for number in 1..=3 {
        audit::append(db, vec![entry(NOW + number, None, "log-in")], vec![]).await.unwrap();
    }
}

async fn run(db: &Db, sql: &str) {
    // Written here; nothing foreign is in it.
    sqlx::query(AssertSqlSafe(sql.to_owned())).execute(db.pool()).await.unwrap();
}

/// Writes the chain's entries anew from `from` on, with hashes that fit, as one who knows how they are made.
async fn rewrite(db: &Db, org: Id<Org>, from: i64, change: impl Fn(&mut Entry)) {
    let mut entries: Vec<_> = audit::newest(db, Some(org), 1000).await.unwrap();
    entries.reverse();
    let mut hash = String::new();
    for (seq, mut entry) in entries {
        if seq >= from {
            change(&mut entry);
        }
        hash = entry.hash(seq, &hash);
        sqlx::query("UPDATE audit SET entry = $1, hash = $2 WHERE chain = $3 AND seq = $4")
            .bind(serde_json::to_string(&entry).unwrap())
            .bind(hash.clone())
            .bind(org.to_string())
            .bind(seq)
            .execute(db.pool())
            .await
            .unwrap();
    }
    run(db, &format!("UPDATE audit_heads SET hash = '{hash}' WHERE chain = '{org}'")).await;
}

#[tokio::test]
async fn l08_the_first_entry_that_was_altered_deleted_moved_or_added_is_named() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let org = world.org.id;
        recorded(&db, org).await;
        let copy = "INSERT INTO audit (chain, seq, at, action, outcome, entry, hash)
                    SELECT chain, 21, at, action, outcome, entry, hash FROM audit";
        for (what, sql, undo, first) in [
            (
                "altered",
                format!(
                    "UPDATE audit SET entry = replace(entry, 'call 7', 'call 8') WHERE chain = '{org}' AND seq = 7"
                ),
                format!(
                    "UPDATE audit SET entry = replace(entry, 'call 8', 'call 7') WHERE chain = '{org}' AND seq = 7"
                ),
                7,
            ),
            (
                "altered, hash too",
                format!("UPDATE audit SET hash = 'x' || hash WHERE chain = '{org}' AND seq = 7"),
                format!("UPDATE audit SET hash = substr(hash, 2) WHERE chain = '{org}' AND seq = 7"),
                7,
            ),
            (
                "moved away",
                format!("UPDATE audit SET seq = 30 WHERE chain = '{org}' AND seq = 5"),
                format!("UPDATE audit SET seq = 5 WHERE chain = '{org}' AND seq = 30"),
                5,
            ),
            (
                "added at the end",
                format!("{copy} WHERE chain = '{org}' AND seq = 20"),
                format!("DELETE FROM audit WHERE chain = '{org}' AND seq = 21"),
                21,
            ),
            (
                "head lost",
                format!("UPDATE audit_heads SET chain = 'gone' WHERE chain = '{org}'"),
                format!("UPDATE audit_heads SET chain = '{org}' WHERE chain = 'gone'"),
                21,
            ),
            (
                "head set back",
                format!("UPDATE audit_heads SET seq = 15 WHERE chain = '{org}'"),
                format!("UPDATE audit_heads SET seq = 20 WHERE chain = '{org}'"),
                16,
            ),
        ] {
            run(&db, &sql).await;
            assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), Some(first), "{what}");
            assert!(!world.identity.check_audit(None).await.unwrap().is_empty(), "{what}");
            run(&db, &undo).await;
            assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), None, "{what}, undone");
        }
        // Two entries change places.
        for (from, to) in [(3, 100), (4, 3), (100, 4)] {
            run(&db, &format!("UPDATE audit SET seq = {to} WHERE chain = '{org}' AND seq = {from}")).await;
        }
        assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), Some(3));
        run(&db, &format!("DELETE FROM audit WHERE chain = '{org}' AND seq = 2")).await;
        assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), Some(2));
        assert_eq!(audit::verify(&db, None).await.unwrap(), None, "the other chain is whole");
    })
    .await;
}

#[tokio::test]
async fn l08_a_checkpoint_finds_what_was_cut_off_or_written_anew() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let org = world.org.id;
        recorded(&db, org).await;
        let checkpoint = world.identity.audit_checkpoint().await.unwrap();
        assert_eq!(checkpoint.chains.iter().map(|head| head.seq).collect::<Vec<_>>(), [3, 20]);
        audit::append(&db, vec![entry(NOW, Some(org), "later")], vec![]).await.unwrap();
        world.identity.rotate_key().await.unwrap();
        world.wait(400);
        assert_eq!(world.identity.check_audit(Some(&checkpoint)).await.unwrap(), [], "it went on, and keys changed");

        let found = async |what: &str, words: &str| {
            assert_eq!(world.identity.check_audit(None).await.unwrap(), [], "{what}: fits together by itself");
            let broken = world.identity.check_audit(Some(&checkpoint)).await.unwrap();
            assert_eq!(broken.len(), 1, "{what}: {broken:?}");
            assert_eq!(broken[0].chain, org.to_string());
            assert!(broken[0].what.contains(words), "{what}: {}", broken[0].what);
        };
        // What comes after the checkpoint is not covered by it; what comes before is.
        rewrite(&db, org, 21, |entry| entry.target = "other".into()).await;
        assert_eq!(world.identity.check_audit(Some(&checkpoint)).await.unwrap(), []);
        rewrite(&db, org, 10, |entry| entry.target = "other".into()).await;
        found("written anew", "entries up to 20").await;

        run(&db, &format!("DELETE FROM audit WHERE chain = '{org}' AND seq > 12")).await;
        let set =
            "UPDATE audit_heads SET seq = 12, hash = (SELECT hash FROM audit WHERE audit.chain = audit_heads.chain
                       AND audit.seq = 12)";
        run(&db, &format!("{set} WHERE chain = '{org}'")).await;
        found("cut off", "entry 20").await;

        run(&db, &format!("DELETE FROM audit WHERE chain = '{org}'")).await;
        run(&db, &format!("DELETE FROM audit_heads WHERE chain = '{org}'")).await;
        found("removed", "entry 20").await;
    })
    .await;
}

#[tokio::test]
async fn l08_a_checkpoint_that_we_did_not_sign_is_refused() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        recorded(&db, world.org.id).await;
        let good = world.identity.audit_checkpoint().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = World::new(Db::open_sqlite(&folder.path().join("other.db")).await.unwrap()).await;
        let foreign = elsewhere.identity.audit_checkpoint().await.unwrap();
        let changed = |change: &dyn Fn(&mut Checkpoint)| {
            let mut checkpoint = good.clone();
            change(&mut checkpoint);
            checkpoint
        };
        for (what, bad) in [
            ("a head", changed(&|checkpoint| checkpoint.chains[1].seq = 12)),
            ("a hash", changed(&|checkpoint| checkpoint.chains[1].hash = checkpoint.chains[0].hash.clone())),
            ("a chain left out", changed(&|checkpoint| drop(checkpoint.chains.pop()))),
            ("the time", changed(&|checkpoint| checkpoint.at += 1)),
            ("the type", changed(&|checkpoint| checkpoint.typ = "at+jwt".into())),
            ("the issuer", changed(&|checkpoint| checkpoint.issuer = "https://evil.example".into())),
            ("no signature", changed(&|checkpoint| checkpoint.signature.clear())),
            ("another's signature", changed(&|checkpoint| checkpoint.signature = foreign.signature.clone())),
            ("another key", foreign.clone()),
        ] {
            let refused = world.identity.check_audit(Some(&bad)).await.unwrap_err();
            assert_eq!(refused.code, dragoman::model::error::Code::InvalidArgument, "{what}");
        }
        assert_eq!(world.identity.check_audit(Some(&good)).await.unwrap(), []);
        // A shell may know the installation by another address than the service.
        let url = |name: &str| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://data.example.com".to_owned());
        let config = Arc::new(Config::read(url).unwrap());
        let shell = Identity::open(db.clone(), config, world.master.clone(), world.clock.clone()).await.unwrap();
        assert_eq!(shell.check_audit(Some(&good)).await.unwrap(), []);
        world.identity.withdraw_key(&good.kid).await.unwrap().unwrap();
        let refused = world.identity.check_audit(Some(&good)).await.unwrap_err();
        assert!(refused.message.contains("withdrawn"), "{refused}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l08_a_clock_that_goes_back_and_writers_at_once_leave_one_whole_chain() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let org = world.org.id;
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..8 {
            let db = db.clone();
            writers.spawn(async move {
                for number in 0..20 {
                    // Each later one says an earlier time.
                    let row = entry(NOW - number * 60_000, Some(org), &format!("{writer}/{number}"));
                    audit::append(&db, vec![row], vec![]).await.unwrap();
                }
            });
        }
        // Looked at while it grows, it is whole at every look.
        while !writers.is_empty() {
            assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), None);
            while writers.try_join_next().is_some_and(|done| done.is_ok()) {}
        }
        assert_eq!(audit::newest(&db, Some(org), 1000).await.unwrap().len(), 160);
        assert_eq!(world.identity.check_audit(None).await.unwrap(), []);
    })
    .await;
}

/// A world that keeps entries for a day, with twenty of them.
async fn kept_for_a_day(db: &Db) -> World {
    let a_day = |name: &str| (name == "DRAGOMAN_AUDIT_DAYS").then(|| "1".to_owned());
    let world = World::with(db.clone(), Arc::new(Config::read(a_day).unwrap())).await;
    recorded(db, world.org.id).await;
    world
}

#[tokio::test]
async fn l08_entries_go_when_their_time_is_over_and_what_stays_is_whole() {
    both(async |db| {
        let world = kept_for_a_day(&db).await;
        let org = world.org.id;
        let before = world.identity.audit_checkpoint().await.unwrap();
        let numbers = async || -> Vec<i64> {
            audit::newest(&db, Some(org), 1000).await.unwrap().into_iter().map(|(seq, _)| seq).rev().collect()
        };
        // The first was made a millisecond after `NOW`.
        world.clock.advance(Duration::from_millis(24 * 60 * 60 * 1000 + 6));
        let swept = world.identity.sweep().await.unwrap().unwrap();
        assert_eq!(swept, [("audit", 5 + 3)]);
        assert_eq!(numbers().await, (6..=20).collect::<Vec<_>>());
        assert_eq!(world.identity.check_audit(Some(&before)).await.unwrap(), []);
        assert_eq!(audit::verify(&db, None).await.unwrap(), None, "nothing is left, and nothing is missing");

        // The log goes on from there, and a later checkpoint sees what is cut off.
        audit::append(
            &db,
            vec![entry(world.clock.now(), Some(org), "later"), entry(world.clock.now(), None, "later")],
            vec![],
        )
        .await
        .unwrap();
        let after = world.identity.audit_checkpoint().await.unwrap();
        world.wait(24 * 60 * 60 - 1);
        assert_eq!(world.identity.sweep().await.unwrap().unwrap(), [("audit", 15)]);
        assert_eq!(numbers().await, [21]);
        assert_eq!(world.identity.check_audit(Some(&after)).await.unwrap(), []);
        run(&db, &format!("DELETE FROM audit WHERE chain = '{org}'")).await;
        assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), Some(21));
    })
    .await;
}

#[tokio::test]
async fn l08_who_has_only_the_database_cannot_pass_a_deletion_off_as_the_end_of_time() {
    both(async |db| {
        let world = kept_for_a_day(&db).await;
        let org = world.org.id;
        world.clock.advance(Duration::from_millis(24 * 60 * 60 * 1000 + 6));
        world.identity.sweep().await.unwrap().unwrap();
        let own = cuts::all(&db).await.unwrap().into_iter().find(|cut| cut.head.chain == org.to_string()).unwrap();
        let found = async |what: &str, words: &str| {
            let broken = world.identity.check_audit(None).await.unwrap();
            assert_eq!(broken.len(), 1, "{what}: {broken:?}");
            assert!(broken[0].what.contains(words), "{what}: {}", broken[0].what);
        };
        // More is cut off, and the beginning moved to where the rest fits.
        let moved = "SELECT hash FROM audit WHERE audit.chain = audit_cuts.chain AND audit.seq = 9";
        run(&db, &format!("UPDATE audit_cuts SET seq = 9, hash = ({moved}) WHERE chain = '{org}'")).await;
        run(&db, &format!("DELETE FROM audit WHERE chain = '{org}' AND seq <= 9")).await;
        assert_eq!(audit::verify(&db, Some(org)).await.unwrap(), None, "it fits together by itself");
        found("moved", "entries up to 9 were deleted").await;
        // The code of an earlier beginning is not that of a later one.
        run(&db, &format!("UPDATE audit_cuts SET seq = 5, hash = '{}' WHERE chain = '{org}'", own.head.hash)).await;
        found("moved back", "entry 6 is missing").await;
        // Without a beginning everything must be there, and all of it gone is not nothing.
        run(&db, &format!("DELETE FROM audit_cuts WHERE chain = '{org}'")).await;
        found("forgotten", "entry 1 is missing").await;
    })
    .await;
}

#[tokio::test]
async fn l08_what_was_changed_stays_as_evidence_and_what_comes_after_it_too() {
    both(async |db| {
        let world = kept_for_a_day(&db).await;
        let org = world.org.id;
        run(
            &db,
            &format!("UPDATE audit SET entry = replace(entry, 'call 7', 'call 8') WHERE chain = '{org}' AND seq = 7"),
        )
        .await;
        world.wait(2 * 24 * 60 * 60);
        let swept = world.identity.sweep().await.unwrap().unwrap();
        assert_eq!(swept, [("audit", 3)], "those about no workspace");
        assert_eq!(audit::newest(&db, Some(org), 1000).await.unwrap().len(), 20);
    })
    .await;
}
