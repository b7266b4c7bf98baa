//! Signing keys over time: H06, I07, I15, L06 and L07.

use dragoman::identity::{JWKS_CACHE, KeyState};
use dragoman::model::error::Code;
use dragoman::store::keys;
use futures_util::future::join_all;
use serde_json::json;

use super::tokens::{part, signed, signing_key};
use super::*;
use crate::support::databases::both;

/// From publication to first use: noticed in 5 seconds, cached for 300, clocks a minute apart.
const LEAD: u64 = 365;
/// From retirement to the end of whatever a key signed: 600 seconds of life, and the same minute and cache.
const RETENTION: u64 = 960;
const DAY: u64 = 24 * 60 * 60;

fn kids(identity: &Identity) -> Vec<String> {
    let jwks = identity.jwks();
    jwks["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

fn kid(token: &Secret) -> String {
    jsonwebtoken::decode_header(token.expose()).unwrap().kid.unwrap()
}

fn states(identity: &Identity) -> Vec<&'static str> {
    identity.signing_keys().into_iter().map(|(_, state)| state.name()).collect()
}

/// A second node over the same database.
async fn node(world: &World) -> Identity {
    let db = world.identity.db().clone();
    Identity::open(db, config(), world.master.clone(), world.clock.clone()).await.unwrap()
}

fn invalid(result: &Result<Proven, Refusal>) {
    assert!(matches!(result, Err(Refusal::Invalid)), "{result:?}");
}

#[tokio::test]
async fn h06_the_published_set_has_public_members_only() {
    both(async |db| {
        let world = World::new(db).await;
        let jwks = world.identity.jwks();
        let keys = jwks["keys"].as_array().unwrap();
        assert_eq!(keys.len(), 1);
        let members: Vec<&str> = keys[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["kty", "crv", "x", "kid", "alg", "use"]);
        assert_eq!(keys[0]["kid"], world.identity.signing_keys()[0].0.kid);
    })
    .await;
}

#[tokio::test]
async fn l06_opened_again_the_same_key_signs_and_old_tokens_stay_good() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let access = world.pair().await.access;
        let again = node(&world).await;
        assert_eq!(again.jwks(), world.identity.jwks());
        again.verify(access.expose(), &world.resource()).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l06_nodes_that_start_at_once_on_an_empty_database_agree_on_one_key() {
    both(async |db| {
        let (master, clock) = (MasterKey::generate(), Clock::manual(NOW));
        let nodes = (0..8).map(|_| {
            let (db, master, clock) = (db.clone(), master.clone(), clock.clone());
            tokio::spawn(async move { Identity::open(db, config(), master, clock).await.unwrap().jwks() })
        });
        let sets: Vec<_> = join_all(nodes).await.into_iter().map(Result::unwrap).collect();
        assert!(sets.iter().all(|set| *set == sets[0]), "{sets:?}");
    })
    .await;
}

#[tokio::test]
async fn h06_i15_l06_a_key_is_published_then_signs_then_only_verifies_then_goes() {
    both(async |db| {
        let world = World::new(db).await;
        let first = kids(&world.identity).remove(0);
        let (next, new) = world.identity.rotate_key().await.unwrap();
        assert!(new);
        assert_eq!(kids(&world.identity), [first.clone(), next.kid.clone()], "published before it signs");
        assert!(LEAD > JWKS_CACHE.as_secs(), "no cached copy of the set is without it by then");
        let again = world.identity.rotate_key().await.unwrap();
        assert_eq!((again.0.kid, again.1), (next.kid.clone(), false), "one that waits is enough");

        world.wait(LEAD - 1);
        let old = world.pair().await.access;
        assert_eq!(kid(&old), first, "not active yet");
        assert_eq!(states(&world.identity), ["signing", "next"]);
        world.wait(1);
        let young = world.pair().await.access;
        assert_eq!(kid(&young), next.kid);
        world.verify(&old).await.unwrap();
        assert_eq!(states(&world.identity), ["retired", "signing"]);

        world.wait(RETENTION - 1);
        assert!(matches!(world.verify(&old).await, Err(Refusal::Expired)), "still known");
        assert_eq!(kids(&world.identity).len(), 2);
        world.wait(1);
        invalid(&world.verify(&old).await);
        assert_eq!(kids(&world.identity), [next.kid]);
        assert_eq!(states(&world.identity), ["ended", "signing"]);
    })
    .await;
}

#[tokio::test]
async fn l06_by_schedule_a_key_signs_for_its_time_and_is_followed_without_a_gap() {
    both(async |db| {
        let world = World::new(db).await;
        let first = kids(&world.identity).remove(0);
        // The first key counts as a minute old when it is made, for nodes whose clock is behind.
        world.wait(90 * DAY - LEAD - 61);
        world.identity.tend_keys().await.unwrap();
        assert_eq!(states(&world.identity), ["signing"]);
        world.wait(1);
        world.identity.tend_keys().await.unwrap();
        world.identity.tend_keys().await.unwrap();
        assert_eq!(states(&world.identity), ["signing", "next"]);
        world.wait(LEAD - 1);
        assert_eq!(kid(&world.pair().await.access), first);
        world.wait(1);
        assert_ne!(kid(&world.pair().await.access), first, "ninety days old");
        world.identity.tend_keys().await.unwrap();
        assert_eq!(states(&world.identity), ["retired", "signing"], "the next is young");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l06_of_nodes_that_rotate_at_once_one_wins_and_all_learn_it() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let mut nodes = Vec::new();
        for _ in 0..6 {
            nodes.push(node(&world).await);
        }
        let turns = nodes.iter().cloned().map(|node| {
            tokio::spawn(async move {
                let (next, new) = node.rotate_key().await.unwrap();
                (next.kid, new)
            })
        });
        let turns: Vec<_> = join_all(turns).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(turns.iter().filter(|(_, new)| *new).count(), 1, "{turns:?}");
        assert!(turns.iter().all(|(kid, _)| *kid == turns[0].0), "{turns:?}");
        assert_eq!(keys::list(db.pool()).await.unwrap().len(), 2);

        // The same by schedule, three months on.
        world.wait(91 * DAY);
        let rounds = nodes.iter().cloned().map(|node| tokio::spawn(async move { node.tend_keys().await }));
        for round in join_all(rounds).await {
            round.unwrap().unwrap();
        }
        assert_eq!(keys::list(db.pool()).await.unwrap().len(), 3);
        for node in &nodes {
            node.tend_keys().await.unwrap();
            assert_eq!(kids(node), kids(&nodes[0]));
        }
    })
    .await;
}

#[tokio::test]
async fn l06_what_a_withdrawn_key_signed_is_refused_and_another_signs_at_once() {
    both(async |db| {
        let world = World::new(db).await;
        let other = node(&world).await;
        let leaked = world.pair().await.access;
        let (forged_kid, private) = signing_key(&world).await;
        let done = world.identity.withdraw_key(&kid(&leaked)).await.unwrap().unwrap();
        assert_eq!((&done.kid, &kid(&leaked)), (&forged_kid, &forged_kid));
        invalid(&world.verify(&leaked).await);
        let header = json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": forged_kid }).to_string();
        let forged = Secret::new(signed(&private, &header, &part(&leaked, 1).to_string()));
        invalid(&world.verify(&forged).await);
        assert_eq!(kids(&world.identity), std::slice::from_ref(&done.signer), "out of the set at once");
        assert_eq!(states(&world.identity), ["withdrawn", "signing"]);

        let fresh = world.pair().await.access;
        assert_eq!(kid(&fresh), done.signer);
        // Another node accepts what it has heard nothing of, and refuses the old after its next look.
        other.verify(fresh.expose(), &world.resource()).await.unwrap();
        invalid(&other.verify(leaked.expose(), &world.resource()).await);
        assert_eq!(world.identity.withdraw_key(&forged_kid).await.unwrap(), None, "once");
        assert_eq!(world.identity.withdraw_key("nothing").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn l06_withdrawing_a_key_that_does_not_sign_yet_or_any_more_leaves_the_signer() {
    both(async |db| {
        let world = World::new(db).await;
        let first = kids(&world.identity).remove(0);
        let (next, _) = world.identity.rotate_key().await.unwrap();
        let done = world.identity.withdraw_key(&next.kid).await.unwrap().unwrap();
        assert_eq!(done.signer, first);
        world.wait(2 * LEAD);
        assert_eq!(kid(&world.pair().await.access), first, "nobody stopped for a successor that never signs");

        // The published one is promoted when the one that signs is withdrawn.
        let (next, _) = world.identity.rotate_key().await.unwrap();
        let done = world.identity.withdraw_key(&first).await.unwrap().unwrap();
        assert_eq!(done.signer, next.kid);
        assert_eq!(kid(&world.pair().await.access), next.kid);
        assert_eq!(states(&world.identity), ["withdrawn", "withdrawn", "signing"]);

        let (last, _) = world.identity.rotate_key().await.unwrap();
        world.wait(LEAD);
        let done = world.identity.withdraw_key(&next.kid).await.unwrap().unwrap();
        assert_eq!(done.signer, last.kid, "the withdrawn one was retired");
        assert_eq!(states(&world.identity), ["withdrawn", "withdrawn", "withdrawn", "signing"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l06_withdrawals_and_rotations_at_once_leave_one_key_that_signs() {
    both(async |db| {
        let world = World::new(db).await;
        for _ in 0..5 {
            let (a, b) = (node(&world).await, node(&world).await);
            let (signer, state) = world.identity.signing_keys().pop().unwrap();
            assert_eq!(state, KeyState::Signing);
            let rotating = tokio::spawn(async move { a.rotate_key().await.unwrap() });
            let withdrawing = tokio::spawn(async move { b.withdraw_key(&signer.kid).await.unwrap().unwrap() });
            rotating.await.unwrap();
            let done = withdrawing.await.unwrap();
            world.identity.tend_keys().await.unwrap();
            assert_eq!(states(&world.identity).iter().filter(|state| **state == "signing").count(), 1);
            assert_eq!(kid(&world.pair().await.access), done.signer);
            world.wait(LEAD);
            world.identity.tend_keys().await.unwrap();
            world.verify(&world.pair().await.access).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn i07_an_unknown_key_id_makes_us_read_once_a_second_at_most_and_a_malformed_one_never() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let access = world.pair().await.access;
        let (_, private) = signing_key(&world).await;
        let with = |kid: &str| {
            let header = json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": kid }).to_string();
            Secret::new(signed(&private, &header, &part(&access, 1).to_string()))
        };
        let unknown = with(&base64url(&sha256(b"unknown")));
        invalid(&world.verify(&unknown).await);
        // From here on every read fails, and would be seen.
        db.pool().close().await;
        for kid in
            ["", "../../dev/null", "' OR 1=1 --", "https://evil.example/keys", &"k".repeat(5000), &"A".repeat(42)]
        {
            invalid(&world.verify(&with(kid)).await);
        }
        invalid(&world.verify(&unknown).await);
        world.wait(1);
        let read = world.verify(&unknown).await;
        assert!(matches!(read, Err(Refusal::Internal(_))), "a second later one looks: {read:?}");
        invalid(&world.verify(&unknown).await);
    })
    .await;
}

#[tokio::test]
async fn l07_a_dump_of_the_database_and_the_program_sign_nothing() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let refused =
            Identity::open(db.clone(), config(), MasterKey::generate(), world.clock.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::ServiceUnavailable);
        assert!(refused.message.contains("master key"), "{refused}");

        let (_, private) = signing_key(&world).await;
        let row = keys::list(db.pool()).await.unwrap().remove(0);
        // The seed is 32 bytes of the PKCS #8 form (RFC 8410 §7), after a header of 16.
        let seed = &private[16..48];
        assert!(!hex::decode(&row.sealed).unwrap().windows(32).any(|window| window == seed));
        let shown = format!("{:?} {row:?} {:?} {refused:?}", world.identity, world.identity.signing_keys());
        assert!(shown.contains(&row.kid), "what is shown names the key");
        assert!(!shown.contains(&hex::encode(seed)) && !shown.contains(&base64url(seed)));
    })
    .await;
}

#[tokio::test]
async fn l07_a_key_that_an_intruder_writes_into_the_table_verifies_nothing() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let access = world.pair().await.access;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = World::new(Db::open_sqlite(&folder.path().join("intruder.db")).await.unwrap()).await;
        let (foreign, private) = signing_key(&elsewhere).await;
        let mut row = keys::list(elsewhere.identity.db().pool()).await.unwrap().remove(0);
        row.generation = 2;
        assert!(keys::insert(&mut db.writer().await.unwrap(), &row).await.unwrap());
        world.identity.tend_keys().await.unwrap();
        let header = json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": foreign }).to_string();
        let forged = Secret::new(signed(&private, &header, &part(&access, 1).to_string()));
        invalid(&world.verify(&forged).await);
        assert_eq!(kids(&world.identity), [kid(&access)], "nor is it published");
        world.verify(&access).await.unwrap();
        world.identity.withdraw_key(&kid(&access)).await.unwrap().unwrap();
        invalid(&world.verify(&access).await);
    })
    .await;
}
