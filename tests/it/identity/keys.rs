//! Signing keys: H06 and I15.

use dragoman::model::error::Code;
use dragoman::store::keys;
use futures_util::future::join_all;

use super::*;
use crate::support::databases::both;

#[tokio::test]
async fn h06_the_published_set_has_public_members_only() {
    both(async |db| {
        let world = World::new(db).await;
        let jwks = world.identity.jwks();
        let keys = jwks["keys"].as_array().unwrap();
        assert_eq!(keys.len(), 1);
        let members: Vec<&str> = keys[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["kty", "crv", "x", "kid", "alg", "use"]);
        assert_eq!(keys[0]["kid"], world.identity.signing_keys()[0].kid);
    })
    .await;
}

#[tokio::test]
async fn l06_opened_again_the_same_key_signs_and_old_tokens_stay_good() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let access = world.pair().await.access;
        let again = Identity::open(db, config(), world.master.clone(), world.clock.clone()).await.unwrap();
        assert_eq!(again.jwks(), world.identity.jwks());
        again.verify(access.expose(), &world.resource()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn l07_another_master_key_is_told_apart_in_words() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let refused = Identity::open(db, config(), MasterKey::generate(), world.clock.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::ServiceUnavailable);
        assert!(refused.message.contains("master key"), "{refused}");
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
async fn i15_a_retired_key_verifies_while_what_it_signed_can_live_and_signs_no_more() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let old = world.pair().await.access;
        let donor_folder = tempfile::tempdir().unwrap();
        let donor = Db::open_sqlite(&donor_folder.path().join("donor.db")).await.unwrap();
        Identity::open(donor.clone(), config(), world.master.clone(), world.clock.clone()).await.unwrap();
        // The successor is published before it signs.
        let mut next = keys::list(donor.pool()).await.unwrap().remove(0);
        (next.generation, next.active_from) = (2, NOW + 60_000);
        assert!(keys::insert(db.pool(), &next).await.unwrap());
        sqlx::query("UPDATE signing_keys SET retired_at = $1 WHERE generation = 1")
            .bind(NOW + 120_000)
            .execute(db.pool())
            .await
            .unwrap();
        let identity = Identity::open(db, config(), world.master.clone(), world.clock.clone()).await.unwrap();
        let world = World { identity, ..world };
        let kids = || world.identity.jwks()["keys"].as_array().unwrap().len();
        let kid = |token: &Secret| jsonwebtoken::decode_header(token.expose()).unwrap().kid.unwrap();
        assert_eq!(kids(), 2);
        assert_ne!(kid(&world.pair().await.access), next.kid, "not active yet");
        world.wait(60);
        let new = world.pair().await.access;
        assert_eq!(kid(&new), next.kid);
        world.wait(60 + 599);
        world.verify(&new).await.unwrap();
        assert!(matches!(world.verify(&old).await, Err(Refusal::Expired)), "still known");
        assert_eq!(kids(), 2);
        world.wait(61);
        assert!(matches!(world.verify(&old).await, Err(Refusal::Invalid)), "forgotten");
        assert_eq!(kids(), 1);
    })
    .await;
}
