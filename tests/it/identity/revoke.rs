//! L01 and L02: revocation at a client's wish.

use dragoman::base::secret::checked_token;
use dragoman::identity::clients::NewClient;

use super::*;
use crate::support::databases::{both, postgres_url};

async fn revoke(world: &World, token: &str, client: &str) -> bool {
    let ended = world.identity.revoke(token, client).await.unwrap();
    if let Some(ended) = &ended {
        assert_eq!((ended.org, ended.user), (world.org.id, world.user.id));
    }
    ended.is_some()
}

#[tokio::test]
async fn l02_either_token_ends_its_family_and_no_other() {
    both(async |db| {
        let world = World::new(db).await;
        let (kept, by_refresh, by_access, by_old) =
            (world.pair().await, world.pair().await, world.pair().await, world.pair().await);
        let next = world.refresh(&by_old.refresh).await.unwrap();
        assert!(revoke(&world, by_refresh.refresh.expose(), CLIENT).await);
        assert!(revoke(&world, by_access.access.expose(), CLIENT).await);
        assert!(revoke(&world, by_old.refresh.expose(), CLIENT).await, "a replaced one is of the family all the same");
        for dead in [&by_refresh, &by_access, &by_old, &next] {
            revoked(&world.verify(&dead.access).await);
            invalid_grant(world.refresh(&dead.refresh).await);
            assert!(!revoke(&world, dead.refresh.expose(), CLIENT).await, "it has ended already");
            assert!(!revoke(&world, dead.access.expose(), CLIENT).await, "it has ended already");
        }
        world.verify(&kept.access).await.unwrap();
        world.refresh(&kept.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn l02_an_access_token_past_its_time_still_ends_its_family() {
    both(async |db| {
        let world = World::new(db).await;
        let pair = world.pair().await;
        world.wait(3600);
        assert!(matches!(world.verify(&pair.access).await, Err(Refusal::Expired)));
        assert!(revoke(&world, pair.access.expose(), CLIENT).await);
        invalid_grant(world.refresh(&pair.refresh).await);
    })
    .await;
}

#[tokio::test]
async fn l01_what_is_not_a_living_token_of_the_client_changes_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let pair = world.pair().await;
        let (access, refresh) = (pair.access.expose(), pair.refresh.expose());
        let (head, signature) = access.rsplit_once('.').unwrap();
        let other = world.pair().await.access;
        for (what, token, client) in [
            ("another's refresh token", refresh.to_owned(), "client-b"),
            ("another's access token", access.to_owned(), "client-b"),
            ("unknown", checked_token("dgrt_").expose().to_owned(), CLIENT),
            ("empty", String::new(), CLIENT),
            ("too long", format!("{access}{}", "A".repeat(8192)), CLIENT),
            ("unsigned", format!("{head}."), CLIENT),
            ("another's signature", format!("{head}.{}", other.expose().rsplit_once('.').unwrap().1), CLIENT),
            ("in another's name", format!("{}.{signature}", other.expose().rsplit_once('.').unwrap().0), CLIENT),
            ("a code", world.code().await.expose().to_owned(), CLIENT),
            ("padded", format!("{refresh}="), CLIENT),
        ] {
            assert!(!revoke(&world, &token, client).await, "{what}");
        }
        world.verify(&pair.access).await.unwrap();
        world.verify(&other).await.unwrap();
        world.refresh(&pair.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn l01_a_refresh_token_past_its_time_ends_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        world.wait(29 * 24 * 3600);
        let second = world.refresh(&first.refresh).await.unwrap();
        world.wait(2 * 24 * 3600);
        assert!(!revoke(&world, first.refresh.expose(), CLIENT).await);
        world.refresh(&second.refresh).await.unwrap();
    })
    .await;
}

/// Of two that took workspaces in different orders, PostgreSQL would have to refuse one.
#[tokio::test]
async fn the_grants_of_a_client_that_is_removed_end_in_the_order_of_their_workspaces() {
    let db = Db::open_postgres(&Secret::new(postgres_url().await)).await.unwrap();
    let world = World::new(db.clone()).await;
    let other = world.identity.create_org("other", "Other").await.unwrap();
    world.identity.set_role(other.id, world.user.id, Role::Contributor).await.unwrap();
    let redirect_uris = vec![REDIRECT.into()];
    let new = NewClient { name: "A".into(), redirect_uris, application_type: "native".into(), uri: None };
    let client = world.identity.register_client(new).await.unwrap().id;
    let mut orgs = [world.org.id, other.id];
    orgs.sort_unstable();
    // In the table they stand the other way round.
    for org in orgs.into_iter().rev() {
        world.identity.approve(Approval { client_id: client.clone(), org, ..world.approval() }).await.unwrap();
    }
    let hold = "SELECT id FROM grants WHERE org_id = $1 FOR UPDATE NOWAIT";
    let mut tx = db.begin().await.unwrap();
    sqlx::query(hold).bind(orgs[0].to_string()).fetch_one(&mut *tx).await.unwrap();
    let identity = world.identity.clone();
    let removed = tokio::spawn(async move { identity.remove_client(&client).await });
    let waiting =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(db.pool()).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    let second = sqlx::query(hold).bind(orgs[1].to_string()).fetch_one(&mut *tx).await;
    second.expect("who waits for the first workspace has the second");
    drop(tx);
    removed.await.unwrap().unwrap();
    db.close().await;
}
