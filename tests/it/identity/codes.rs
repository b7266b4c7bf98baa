//! C: authorization codes.

use dragoman::identity::grants::{CodeUse, GrantError, TokenPair};
use dragoman::model::access::{Role, Scope};
use dragoman::model::error::Code;
use futures_util::future::join_all;

use super::*;
use crate::support::databases::both;

#[tokio::test]
async fn a_code_gives_tokens_that_say_who_where_and_what() {
    both(async |db| {
        let world = World::new(db).await;
        let pair = world.pair().await;
        assert_eq!(pair.expires_in, 600);
        assert_eq!(pair.scopes, [Scope::DataRead, Scope::DataWrite]);
        let proven = world.verify(&pair.access).await.unwrap();
        assert_eq!(proven.org, world.org);
        assert_eq!(proven.user.as_ref(), Some(&world.user));
        assert_eq!(proven.role, Role::Contributor);
        assert_eq!(proven.client.id, CLIENT);
        world.refresh(&pair.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c01_a_code_used_again_later_ends_the_family() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        let pair = world.redeem(&code).await.unwrap();
        world.wait(11);
        invalid_grant(world.redeem(&code).await);
        revoked(&world.verify(&pair.access).await);
        invalid_grant(world.refresh(&pair.refresh).await);
    })
    .await;
}

#[tokio::test]
async fn c01_a_code_sent_twice_at_once_is_refused_and_the_first_answer_stays_good() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        let pair = world.redeem(&code).await.unwrap();
        world.wait(9);
        invalid_grant(world.redeem(&code).await);
        world.verify(&pair.access).await.unwrap();
        world.refresh(&pair.refresh).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c02_another_client_with_a_leaked_code_changes_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        let stranger = || CodeUse { client_id: "client-b", ..code_use(&code) };
        invalid_grant(world.identity.redeem(stranger()).await);
        let pair = world.redeem(&code).await.unwrap();
        world.wait(30);
        invalid_grant(world.identity.redeem(stranger()).await);
        world.verify(&pair.access).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c03_twenty_parallel_redeems_give_one_success() {
    both(async |db| {
        let world = World::new(db).await;
        for _ in 0..5 {
            let code = world.code().await;
            let tasks = (0..20).map(|_| {
                let (identity, code) = (world.identity.clone(), code.clone());
                tokio::spawn(async move { identity.redeem(code_use(&code)).await })
            });
            let results: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
            let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
            assert_eq!(good.len(), 1);
            bad.into_iter().for_each(invalid_grant);
            let pair = good.into_iter().next().unwrap().unwrap();
            world.verify(&pair.access).await.unwrap();
            world.refresh(&pair.refresh).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn c04_a_code_lives_sixty_seconds() {
    both(async |db| {
        let world = World::new(db).await;
        let (first, second) = (world.code().await, world.code().await);
        world.wait(59);
        world.redeem(&first).await.unwrap();
        world.wait(1);
        invalid_grant(world.redeem(&second).await);
    })
    .await;
}

#[tokio::test]
async fn c05_c18_only_the_verifier_of_the_challenge_opens_a_code_and_a_wrong_one_does_not_use_it_up() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        let challenge = world.approval().code_challenge;
        let long = "a".repeat(129);
        let other = "b".repeat(43);
        for verifier in ["", &VERIFIER[..42], &challenge, &long, &other, "é"] {
            invalid_grant(world.identity.redeem(CodeUse { verifier, ..code_use(&code) }).await);
        }
        world.redeem(&code).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c06_a_grant_without_a_challenge_cannot_be_opened_with_any_verifier() {
    both(async |db| {
        let world = World::new(db).await;
        let approval = Approval { code_challenge: String::new(), ..world.approval() };
        let code = world.identity.approve(approval).await.unwrap();
        for verifier in ["", VERIFIER] {
            invalid_grant(world.identity.redeem(CodeUse { verifier, ..code_use(&code) }).await);
        }
    })
    .await;
}

#[tokio::test]
async fn c07_another_redirect_uri_is_refused_and_does_not_use_the_code_up() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        for other in ["", "http://127.0.0.1:9998/callback", "http://127.0.0.1:9999/callback/", "https://evil.example"] {
            invalid_grant(world.identity.redeem(CodeUse { redirect_uri: Some(other), ..code_use(&code) }).await);
        }
        world.identity.redeem(CodeUse { redirect_uri: None, ..code_use(&code) }).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c08_another_resource_is_refused_and_does_not_use_the_code_up() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        for other in ["https://evil.example/mcp", "http://127.0.0.1:8787", "http://127.0.0.1:8787/mcp2", "mcp", ""] {
            let result = world.identity.redeem(CodeUse { resource: Some(other), ..code_use(&code) }).await;
            assert!(matches!(result, Err(GrantError::InvalidTarget)), "{other}: {result:?}");
        }
        let spelled = CodeUse { resource: Some("HTTP://127.0.0.1:8787/mcp"), ..code_use(&code) };
        let pair = world.identity.redeem(spelled).await.unwrap();
        world.verify(&pair.access).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c15_who_was_removed_between_approval_and_exchange_gets_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        world.identity.remove_member(world.org.id, world.user.id).await.unwrap();
        invalid_grant(world.redeem(&code).await);
        // Taken back, the old approval stays dead.
        world.identity.set_role(world.org.id, world.user.id, Role::Admin).await.unwrap();
        invalid_grant(world.redeem(&code).await);
        world.pair().await;
    })
    .await;
}

#[tokio::test]
async fn c15_a_lower_role_narrows_what_the_code_gives() {
    both(async |db| {
        let world = World::new(db).await;
        let code = world.code().await;
        world.identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
        let pair = world.redeem(&code).await.unwrap();
        assert_eq!(pair.scopes, [Scope::DataRead]);
    })
    .await;
}

#[tokio::test]
async fn c19_an_exchange_that_cannot_finish_leaves_the_code_unused() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let code = world.code().await;
        // The tokens have nowhere to go: the exchange fails after the code was marked.
        sqlx::query("ALTER TABLE refresh_tokens RENAME TO away").execute(db.pool()).await.unwrap();
        let failed = world.redeem(&code).await;
        assert!(matches!(&failed, Err(GrantError::Internal(error)) if error.code == Code::InternalError), "{failed:?}");
        sqlx::query("ALTER TABLE away RENAME TO refresh_tokens").execute(db.pool()).await.unwrap();
        world.redeem(&code).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn c20_malformed_and_unknown_codes_are_refused() {
    both(async |db| {
        let world = World::new(db).await;
        let TokenPair { access, refresh, .. } = world.pair().await;
        let unknown = dragoman::base::secret::checked_token("dgac_");
        for code in [Secret::new(""), Secret::new("dgac_"), Secret::new("dgac_' OR 1=1"), unknown, access, refresh] {
            invalid_grant(world.redeem(&code).await);
        }
    })
    .await;
}

#[tokio::test]
async fn who_is_no_member_cannot_approve() {
    both(async |db| {
        let world = World::new(db).await;
        let other = world.identity.create_org("other", "Other").await.unwrap();
        for org in [other.id, nowhere()] {
            let refused = world.identity.approve(Approval { org, ..world.approval() }).await.unwrap_err();
            assert_eq!(refused.code, Code::InvalidArgument);
        }
    })
    .await;
}
