//! D: refresh tokens.

use dragoman::identity::grants::{GrantError, RefreshUse};
use dragoman::model::access::{Role, Scope};
use futures_util::future::join_all;

use super::*;
use crate::support::databases::both;

const DAY: u64 = 24 * 60 * 60;

#[tokio::test]
async fn d01_a_replaced_token_after_the_window_ends_the_family() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        let second = world.refresh(&first.refresh).await.unwrap();
        world.wait(30);
        invalid_grant(world.refresh(&first.refresh).await);
        revoked(&world.verify(&second.access).await);
        invalid_grant(world.refresh(&second.refresh).await);
    })
    .await;
}

#[tokio::test]
async fn d02_a_retry_within_the_window_gets_the_same_successor_and_does_not_lengthen_the_window() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        let second = world.refresh(&first.refresh).await.unwrap();
        assert_ne!(first.refresh, second.refresh);
        world.wait(15);
        assert_eq!(world.refresh(&first.refresh).await.unwrap().refresh, second.refresh);
        world.wait(14);
        let again = world.refresh(&first.refresh).await.unwrap();
        assert_eq!(again.refresh, second.refresh);
        world.verify(&again.access).await.unwrap();
        world.wait(1);
        invalid_grant(world.refresh(&first.refresh).await);
        revoked(&world.verify(&again.access).await);
    })
    .await;
}

#[tokio::test]
async fn d03_the_predecessor_of_a_used_successor_ends_the_family_even_within_the_window() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        let second = world.refresh(&first.refresh).await.unwrap();
        let third = world.refresh(&second.refresh).await.unwrap();
        invalid_grant(world.refresh(&first.refresh).await);
        invalid_grant(world.refresh(&third.refresh).await);
        revoked(&world.verify(&third.access).await);
    })
    .await;
}

#[tokio::test]
async fn d04_a_grandparent_is_always_reuse() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        let second = world.refresh(&first.refresh).await.unwrap();
        let third = world.refresh(&second.refresh).await.unwrap();
        let fourth = world.refresh(&third.refresh).await.unwrap();
        invalid_grant(world.refresh(&first.refresh).await);
        revoked(&world.verify(&fourth.access).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d05_twenty_parallel_refreshes_leave_one_lineage() {
    both(async |db| {
        let world = World::new(db).await;
        let mut current = world.pair().await;
        for _ in 0..5 {
            let tasks = (0..20).map(|_| {
                let (identity, token) = (world.identity.clone(), current.refresh.clone());
                tokio::spawn(async move { identity.refresh(refresh_use(&token)).await })
            });
            let results = join_all(tasks).await;
            let pairs: Vec<TokenPair> = results.into_iter().map(|result| result.unwrap().unwrap()).collect();
            assert!(pairs.iter().all(|pair| pair.refresh == pairs[0].refresh), "one successor");
            for pair in &pairs {
                world.verify(&pair.access).await.unwrap();
            }
            current = pairs.into_iter().next().unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn d06_another_client_changes_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        let stranger = || RefreshUse { client_id: "client-b", ..refresh_use(&first.refresh) };
        invalid_grant(world.identity.refresh(stranger()).await);
        let second = world.refresh(&first.refresh).await.unwrap();
        world.wait(60);
        // Reuse by its own client would end the family; a stranger's does not.
        invalid_grant(world.identity.refresh(stranger()).await);
        world.verify(&second.access).await.unwrap();
        world.refresh(&second.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn d07_scopes_narrow_one_access_token_and_never_widen() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        for scope in ["datasets:write", "data_agent:read workspace:admin", "nonsense"] {
            let wide = RefreshUse { scope: Some(scope), ..refresh_use(&first.refresh) };
            let result = world.identity.refresh(wide).await;
            assert!(matches!(result, Err(GrantError::InvalidScope)), "{scope}: {result:?}");
        }
        let narrow = RefreshUse { scope: Some("data_agent:read"), ..refresh_use(&first.refresh) };
        let second = world.identity.refresh(narrow).await.unwrap();
        assert_eq!(second.scopes, [Scope::DataRead]);
        let third = world.refresh(&second.refresh).await.unwrap();
        assert_eq!(third.scopes, [Scope::DataRead, Scope::DataWrite], "the grant did not shrink");
    })
    .await;
}

#[tokio::test]
async fn d08_another_resource_is_refused_before_rotation() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        for resource in ["https://evil.example/mcp", "http://127.0.0.1:8787/t/acme/mcp", "mcp"] {
            let foreign = RefreshUse { resource: Some(resource), ..refresh_use(&first.refresh) };
            let result = world.identity.refresh(foreign).await;
            assert!(matches!(result, Err(GrantError::InvalidTarget)), "{resource}: {result:?}");
        }
        // Long after: had one of them rotated the token, this would be reuse.
        world.wait(60);
        world.refresh(&first.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn d09_a_revoked_family_and_a_removed_member_get_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        world.identity.revoke(first.refresh.expose(), CLIENT).await.unwrap().unwrap();
        invalid_grant(world.refresh(&first.refresh).await);
        revoked(&world.verify(&first.access).await);

        let second = world.pair().await;
        world.identity.remove_member(world.org.id, world.user.id).await.unwrap();
        invalid_grant(world.refresh(&second.refresh).await);
        revoked(&world.verify(&second.access).await);
        world.identity.set_role(world.org.id, world.user.id, Role::Contributor).await.unwrap();
        invalid_grant(world.refresh(&second.refresh).await);
        revoked(&world.verify(&second.access).await);
    })
    .await;
}

#[tokio::test]
async fn d09_a_lower_role_narrows_the_next_token_and_a_client_that_repeats_its_scopes_is_not_refused() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.pair().await;
        world.identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
        let full = RefreshUse { scope: Some("data_agent:read data_agent:write"), ..refresh_use(&first.refresh) };
        assert_eq!(world.identity.refresh(full).await.unwrap().scopes, [Scope::DataRead]);
    })
    .await;
}

#[tokio::test]
async fn d10_idle_and_absolute_lifetimes_hold() {
    both(async |db| {
        let world = World::new(db).await;
        let idle = world.pair().await;
        world.wait(30 * DAY);
        invalid_grant(world.refresh(&idle.refresh).await);

        let mut used = world.pair().await;
        for _ in 0..6 {
            world.wait(29 * DAY);
            used = world.refresh(&used.refresh).await.unwrap();
        }
        // 174 days old; in 6 more it ends, whatever its use.
        world.wait(6 * DAY - 60);
        used = world.refresh(&used.refresh).await.unwrap();
        assert_eq!(used.expires_in, 60, "no access token outlives its grant");
        world.wait(60);
        invalid_grant(world.refresh(&used.refresh).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d11_a_reuse_that_races_a_rotation_leaves_nothing_alive() {
    both(async |db| {
        let world = World::new(db).await;
        for _ in 0..5 {
            let first = world.pair().await;
            let second = world.refresh(&first.refresh).await.unwrap();
            world.wait(31);
            let tasks = (0..20).map(|n| {
                let identity = world.identity.clone();
                let token = if n % 2 == 0 { first.refresh.clone() } else { second.refresh.clone() };
                tokio::spawn(async move { identity.refresh(refresh_use(&token)).await })
            });
            let results: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
            for pair in results.into_iter().flatten() {
                revoked(&world.verify(&pair.access).await);
                invalid_grant(world.refresh(&pair.refresh).await);
            }
            revoked(&world.verify(&second.access).await);
        }
    })
    .await;
}

#[tokio::test]
async fn d12_other_kinds_of_tokens_are_no_refresh_tokens() {
    both(async |db| {
        let world = World::new(db).await;
        let (code, pair) = (world.code().await, world.pair().await);
        let renamed = Secret::new(code.expose().replace("dgac_", "dgrt_"));
        for token in [&code, &renamed, &pair.access, &Secret::new(""), &Secret::new("dgrt_x")] {
            invalid_grant(world.refresh(token).await);
        }
        let second = world.refresh(&pair.refresh).await.unwrap();
        for (prefix, token) in [("dgac_", &code), ("dgrt_", &pair.refresh), ("dgrt_", &second.refresh)] {
            assert!(dragoman::base::secret::is_well_formed(prefix, token.expose()), "{prefix}");
        }
        assert!(matches!(world.verify(&pair.refresh).await, Err(Refusal::Invalid)));
        assert!(matches!(world.verify(&code).await, Err(Refusal::Invalid)));
    })
    .await;
}

#[tokio::test]
async fn d14_a_rotation_that_cannot_finish_leaves_the_old_token_in_force() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let first = world.pair().await;
        // The successor cannot be written: its generation is taken.
        sqlx::query(
            "INSERT INTO refresh_tokens (digest, grant_id, generation, issued_at, expires_at)
             SELECT 'squatter', grant_id, 2, 0, 0 FROM refresh_tokens",
        )
        .execute(db.pool())
        .await
        .unwrap();
        let failed = world.refresh(&first.refresh).await;
        assert!(matches!(failed, Err(GrantError::Internal(_))), "{failed:?}");
        sqlx::query("DELETE FROM refresh_tokens WHERE digest = 'squatter'").execute(db.pool()).await.unwrap();
        world.wait(60);
        world.refresh(&first.refresh).await.unwrap();
    })
    .await;
}
