//! Connectivity tokens.

use dragoman::model::access::{Action, ExtScope, Rights};
use dragoman::model::caller::Proof;
use dragoman::model::error::Code;
use futures_util::future::join_all;

use super::*;
use crate::support::databases::{both, postgres_url};

#[tokio::test]
async fn a_token_opens_what_its_scopes_say_and_every_use_is_counted() {
    both(async |db| {
        let world = World::new(db).await;
        let scopes = [ExtScope::Sql, ExtScope::Datasets, ExtScope::Sql];
        let (info, secret) = world.identity.create_token(world.org.id, " nightly ", &scopes, None).await.unwrap();
        assert_eq!(info.label, "nightly");
        assert_eq!(info.scopes, [ExtScope::Datasets, ExtScope::Sql]);
        assert!(secret.expose().starts_with(&format!("dgmcp_{}_", info.id)));
        assert!(secret.expose().ends_with(&info.last_four));
        assert_eq!(secret.expose().len(), "dgmcp_".len() + 8 + 1 + 32);
        world.wait(1);
        let proven = world.verify(&secret).await.unwrap();
        assert_eq!((proven.org, proven.user, proven.role), (world.org.clone(), None, Role::Contributor));
        assert_eq!(proven.proof, Proof::ConnectivityToken { id: info.id.clone() });
        assert_eq!(proven.client.id, "nightly");
        assert!(proven.rights.allow(Action::RunSql) && proven.rights.allow(Action::ListDatasets));
        assert!(!proven.rights.allow(Action::ReadSchema) && !proven.rights.allow(Action::WriteDatasets));
        world.wait(1);
        world.verify(&secret).await.unwrap();
        let listed = world.identity.tokens(world.org.id).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].use_count, listed[0].last_used_at), (2, Some(NOW + 2_000)));
    })
    .await;
}

#[tokio::test]
async fn a_wrong_or_malformed_token_is_refused_and_not_counted() {
    both(async |db| {
        let world = World::new(db).await;
        let (info, secret) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        let token = secret.expose();
        let flip = |at: usize| {
            let mut bytes = token.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            String::from_utf8(bytes).unwrap()
        };
        let upper = format!("{}{}", &token[..15], token[15..].to_uppercase());
        let mut bad =
            vec![flip(token.len() - 1), flip(15), flip(6), format!("{token} "), token[..46].into(), String::new()];
        bad.extend((upper != token).then_some(upper));
        for bad in bad {
            assert!(matches!(world.verify(&Secret::new(bad.clone())).await, Err(Refusal::Invalid)), "{bad}");
        }
        let listed = world.identity.tokens(world.org.id).await.unwrap();
        assert_eq!((&listed[0].id, listed[0].use_count), (&info.id, 0));
    })
    .await;
}

#[tokio::test]
async fn revocation_holds_at_once_and_only_from_its_own_workspace() {
    both(async |db| {
        let world = World::new(db).await;
        let (info, secret) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        let other = world.identity.create_org("other", "Other").await.unwrap();
        assert!(!world.identity.revoke_token(other.id, &info.id).await.unwrap());
        assert_eq!(world.identity.tokens(other.id).await.unwrap(), []);
        world.verify(&secret).await.unwrap();
        assert!(world.identity.revoke_token(world.org.id, &info.id).await.unwrap());
        revoked(&world.verify(&secret).await);
        assert!(!world.identity.revoke_token(world.org.id, &info.id).await.unwrap(), "it is in force no more");
        let listed = world.identity.tokens(world.org.id).await.unwrap();
        assert_eq!((listed[0].revoked_at, listed[0].use_count), (Some(NOW), 1));
    })
    .await;
}

#[tokio::test]
async fn a_rotated_token_works_on_beside_its_successor_and_ends_by_itself() {
    both(async |db| {
        let world = World::new(db).await;
        let (org, hour) = (world.org.id, Duration::from_secs(3_600));
        let rotate = async |id: &str, overlap| world.identity.rotate_token(org, None, id, overlap).await;
        let scopes = [ExtScope::Datasets, ExtScope::Sql];
        let life = NOW + 30 * 24 * 3_600_000;
        let (old, secret) = world.identity.create_token(org, "nightly", &scopes, Some(life)).await.unwrap();
        world.clock.advance(hour);
        let (new, next) = rotate(&old.id, hour).await.unwrap();
        assert_eq!((&new.label, &new.scopes, new.use_count), (&"nightly".to_owned(), &scopes.to_vec(), 0));
        assert_eq!(new.expires_at, Some(life + 3_600_000), "as long a life as the old one had");
        assert!(new.id != old.id && secret.expose() != next.expose());
        let listed = world.identity.tokens(org).await.unwrap();
        let kept = listed.iter().find(|info| info.id == old.id).unwrap();
        assert_eq!((kept.replaced_by.as_deref(), kept.expires_at), (Some(&*new.id), Some(NOW + 2 * 3_600_000)));
        world.clock.advance(hour - Duration::from_millis(1));
        world.verify(&secret).await.unwrap();
        world.verify(&next).await.unwrap();
        let again = rotate(&old.id, hour).await.unwrap_err();
        assert!(again.code == Code::InvalidArgument && again.message.contains(&new.id), "{again:?}");
        world.clock.advance(Duration::from_millis(1));
        assert!(matches!(world.verify(&secret).await, Err(Refusal::Expired)));
        world.verify(&next).await.unwrap();

        // At once; and never longer than it would have lived.
        let (last, _) = rotate(&new.id, Duration::ZERO).await.unwrap();
        assert!(matches!(world.verify(&next).await, Err(Refusal::Expired)));
        assert_eq!(rotate(&new.id, hour).await.unwrap_err().code, Code::NotFound);
        let (short, _) = world.identity.create_token(org, "short", &scopes, Some(world.clock.now() + 5)).await.unwrap();
        rotate(&short.id, hour).await.unwrap();
        let listed = world.identity.tokens(org).await.unwrap();
        assert_eq!(listed.iter().find(|info| info.id == short.id).unwrap().expires_at, Some(world.clock.now() + 5));
        assert_eq!(rotate(&last.id, hour * 24 * 8).await.unwrap_err().code, Code::InvalidArgument);
        let other = world.identity.create_org("other", "Other").await.unwrap();
        let theirs = world.identity.rotate_token(other.id, None, &last.id, hour).await;
        assert_eq!(theirs.unwrap_err().code, Code::NotFound);
        assert!(world.identity.revoke_token(org, &last.id).await.unwrap());
        assert_eq!(rotate(&last.id, hour).await.unwrap_err().code, Code::NotFound);
    })
    .await;
}

#[tokio::test]
async fn tokens_are_rotated_when_there_are_as_many_as_may_be_and_not_without_end() {
    both(async |db| {
        let world = World::new(db).await;
        let (org, hour) = (world.org.id, Duration::from_secs(3_600));
        let mut ids = Vec::new();
        for _ in 0..10 {
            ids.push(world.identity.create_token(org, "x", &ExtScope::ALL, None).await.unwrap().0.id);
        }
        for id in &mut ids {
            *id = world.identity.rotate_token(org, None, id, hour).await.unwrap().0.id;
        }
        let full = world.identity.rotate_token(org, None, &ids[0], hour).await;
        assert_eq!(full.unwrap_err().code, Code::LimitExceeded);
        world.clock.advance(hour);
        world.identity.rotate_token(org, None, &ids[0], hour).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_token_ends_at_its_expiry() {
    both(async |db| {
        let world = World::new(db).await;
        let create = async |at| world.identity.create_token(world.org.id, "x", &ExtScope::ALL, Some(at)).await;
        let (_, secret) = create(NOW + 10_000).await.unwrap();
        assert_eq!(create(NOW).await.unwrap_err().code, Code::InvalidArgument);
        world.clock.advance(Duration::from_millis(9_999));
        world.verify(&secret).await.unwrap();
        world.clock.advance(Duration::from_millis(1));
        assert!(matches!(world.verify(&secret).await, Err(Refusal::Expired)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_has_at_most_ten_in_force_even_when_twenty_ask_at_once() {
    both(async |db| {
        let world = World::new(db).await;
        let tasks = (0..20).map(|n| {
            let (identity, org) = (world.identity.clone(), world.org.id);
            let expires_at = (n % 2 == 0).then_some(NOW + 1_000);
            tokio::spawn(async move { identity.create_token(org, "x", &ExtScope::ALL, expires_at).await })
        });
        let results: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!(good.len(), 10);
        assert!(bad.into_iter().all(|refused| refused.unwrap_err().code == Code::LimitExceeded));

        let again = async || world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await;
        let other = world.identity.create_org("other", "Other").await.unwrap();
        world.identity.create_token(other.id, "x", &ExtScope::ALL, None).await.unwrap();
        let first = good.into_iter().next().unwrap().unwrap().0;
        assert!(world.identity.revoke_token(world.org.id, &first.id).await.unwrap());
        again().await.unwrap();
        assert_eq!(again().await.unwrap_err().code, Code::LimitExceeded);
    })
    .await;
}

#[tokio::test]
async fn stored_scopes_that_cannot_be_read_open_nothing() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let (_, secret) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        let mut all = db.everyone().await.unwrap();
        sqlx::query("UPDATE connectivity_tokens SET scopes = 'ext:datasets ext:everything'")
            .execute(&mut *all)
            .await
            .unwrap();
        all.commit().await.unwrap();
        assert_eq!(world.verify(&secret).await.unwrap().rights, Rights::NONE);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused_with_the_field() {
    both(async |db| {
        let world = World::new(db).await;
        let (org, all) = (world.org.id, &ExtScope::ALL[..]);
        let long = "x".repeat(81);
        for (org, label, scopes, field) in [
            (org, " ", all, "label"),
            (org, &long, all, "label"),
            (org, "a\nb", all, "label"),
            (org, "x", &[], "scopes"),
            (nowhere(), "x", all, "workspace"),
        ] {
            let refused = world.identity.create_token(org, label, scopes, None).await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &field.into()));
        }
        assert_eq!(world.identity.tokens(org).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn with_another_master_key_no_token_is_good() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let (_, secret) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
        // The digests alone are worth nothing: they cannot be made without the pepper.
        sqlx::query("DELETE FROM signing_keys").execute(db.pool()).await.unwrap();
        let other = Identity::open(db, config(), MasterKey::generate(), world.clock.clone()).await.unwrap();
        assert!(matches!(other.verify(secret.expose(), &world.resource()).await, Err(Refusal::Invalid)));
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_made_up_tokens_leaves_connections_to_others() {
    let db = Db::open_postgres_with(&Secret::new(postgres_url().await), 6).await.unwrap();
    let world = World::new(db.clone()).await;
    let (_, good) = world.identity.create_token(world.org.id, "x", &ExtScope::ALL, None).await.unwrap();
    // The second time it is known, and the seventh connection is that of the counts.
    for _ in 0..2 {
        world.verify(&good).await.unwrap();
    }
    let mut wall = db.begin().await.unwrap();
    sqlx::query("LOCK TABLE connectivity_tokens").execute(&mut *wall).await.unwrap();
    let flood: Vec<_> = (0..100)
        .map(|number| {
            let (identity, resource) = (world.identity.clone(), world.resource());
            let token = format!("dgmcp_{number:08}_{}", "0".repeat(32));
            tokio::spawn(async move { identity.verify(&token, &resource).await })
        })
        .collect();
    let waiting = "SELECT COUNT(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
                   WHERE datname = current_database() AND NOT granted";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *wall).await.unwrap() < 3 {
        tokio::task::yield_now().await;
    }
    world.verify(&good).await.unwrap();
    let others = [db.read_everyone().await.unwrap(), db.read_everyone().await.unwrap()];
    drop((wall, others));
    for refused in join_all(flood).await {
        assert!(matches!(refused.unwrap(), Err(Refusal::Invalid)));
    }
    db.close().await;
}
