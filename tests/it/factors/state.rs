//! Second factors as the metadata keep them, on both databases: what works once works once, whoever is faster.

use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::identity::passkeys::{Answer, ProofError};
use dragoman::model::error::Code;
use futures_util::future::join_all;

use super::app::App;
use super::authenticator::Authenticator;
use crate::identity::World;
use crate::support::databases::both;

const BROWSER: &str = "a browser's secret";

/// Turns two-step sign-in on; the app, and the recovery codes.
async fn enrolled(world: &World) -> (App, Vec<Secret>) {
    let key = world.identity.begin_totp(&world.user).await.unwrap();
    let app = App::new(key.text.expose());
    let confirmed = world.identity.confirm_totp(world.user.id, &app.code(world.clock.now())).await.unwrap();
    let dragoman::identity::totp::Confirmed::On(codes) = confirmed else { panic!("{confirmed:?}") };
    (app, codes)
}

#[tokio::test]
async fn b28_a_code_works_once_and_only_in_its_window() {
    both(async |db| {
        let world = World::new(db).await;
        let (app, _) = enrolled(&world).await;
        let used = async |code: &Secret| world.identity.use_totp(world.user.id, code).await.unwrap();
        let now = || world.clock.now();
        assert!(!used(&app.code(now())).await, "the code that turned it on");
        world.wait(30);
        let (earlier, present, next) = (app.code(now() - 30_000), app.code(now()), app.code(now() + 30_000));
        assert!(used(&present).await);
        assert!(!used(&present).await, "the same step");
        assert!(!used(&earlier).await, "an earlier step");
        world.wait(60);
        assert!(!used(&app.code(now() - 60_000)).await, "two steps ago");
        assert!(!used(&app.code(now() + 60_000)).await, "two steps ahead");
        assert!(used(&next).await, "one step ago");
        assert!(used(&app.code(now() + 30_000)).await, "one step ahead");
        assert!(!used(&app.code(now())).await, "the present step, now that a later one was used");
        world.wait(60);
        assert!(!used(&app.code(now() - 30_000)).await, "used when it was one step ahead");
        assert!(used(&app.code(now())).await);
        for malformed in ["", "12345", "1234567", "+12345", "abcdef", "１２３４５６"] {
            world.wait(60);
            assert!(!used(&Secret::new(malformed)).await, "{malformed}");
        }
    })
    .await;
}

#[tokio::test]
async fn b28_of_two_uses_of_a_code_at_once_one_works() {
    both(async |db| {
        let world = World::new(db).await;
        let (app, codes) = enrolled(&world).await;
        world.wait(60);
        let code = app.code(world.clock.now());
        let used = join_all((0..5).map(|_| world.identity.use_totp(world.user.id, &code))).await;
        assert_eq!(used.into_iter().filter(|used| *used.as_ref().unwrap()).count(), 1);
        world.wait(60);
        let used = join_all((0..5).map(|_| world.identity.use_recovery_code(world.user.id, &codes[3]))).await;
        assert_eq!(used.into_iter().filter(|used| *used.as_ref().unwrap()).count(), 1);
    })
    .await;
}

#[tokio::test]
async fn b28_five_tries_a_minute_whatever_they_are() {
    both(async |db| {
        let world = World::new(db).await;
        let (app, codes) = enrolled(&world).await;
        world.wait(60);
        let wrong = Secret::new("000000");
        let tries = (0..12).map(|_| world.identity.use_totp(world.user.id, &wrong));
        let refused: Vec<_> = join_all(tries).await.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused.len(), 7, "sent at once they count all the same");
        assert!(refused.iter().all(|error| error.code == Code::RateLimited && error.retry_after == Some(60)));
        world.wait(59);
        let right = app.code(world.clock.now());
        assert_eq!(world.identity.use_totp(world.user.id, &right).await.unwrap_err().retry_after, Some(1));
        assert!(world.identity.use_recovery_code(world.user.id, &codes[0]).await.is_err());
        world.wait(1);
        assert!(world.identity.use_totp(world.user.id, &app.code(world.clock.now())).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn b28_recovery_codes_are_kept_as_digests_of_their_person_and_replaced_together() {
    both(async |db| {
        let world = World::new(db).await;
        let (_, codes) = enrolled(&world).await;
        assert_eq!(codes.len(), 10);
        let stored: Vec<String> = sqlx::query_scalar("SELECT digest FROM recovery_codes")
            .fetch_all(world.identity.db().pool())
            .await
            .unwrap();
        for code in &codes {
            let plain = code.expose().replace('-', "");
            assert!(stored.iter().all(|digest| digest.len() == 64 && !digest.contains(&plain)));
        }
        let bob = world.identity.create_user("bob@example.com", "Bob", &Secret::new(crate::identity::PASSWORD)).await;
        assert!(!world.identity.use_recovery_code(bob.unwrap().id, &codes[0]).await.unwrap(), "another person's");
        let written = Secret::new(codes[0].expose().to_uppercase().replace('-', " "));
        world.wait(60);
        assert!(world.identity.use_recovery_code(world.user.id, &written).await.unwrap());
        assert!(!world.identity.use_recovery_code(world.user.id, &codes[0]).await.unwrap());
        assert_eq!(world.identity.factors(world.user.id).await.unwrap().recovery_codes, 9);
        let fresh = world.identity.new_recovery_codes(world.user.id).await.unwrap();
        assert!(!world.identity.use_recovery_code(world.user.id, &codes[1]).await.unwrap(), "replaced");
        assert!(world.identity.use_recovery_code(world.user.id, &fresh[1]).await.unwrap());
        // With the last factor they go.
        assert!(world.identity.end_totp(world.user.id).await.unwrap());
        assert_eq!(world.identity.factors(world.user.id).await.unwrap().recovery_codes, 0);
        assert!(world.identity.new_recovery_codes(world.user.id).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_key_is_sealed_for_its_person_and_not_replaced_once_confirmed() {
    both(async |db| {
        let world = World::new(db).await;
        let first = world.identity.begin_totp(&world.user).await.unwrap();
        let second = world.identity.begin_totp(&world.user).await.unwrap();
        assert_ne!(first.text.expose(), second.text.expose());
        let now = world.clock.now();
        let wrong = App::new(first.text.expose()).code(now);
        let confirmed = world.identity.confirm_totp(world.user.id, &wrong).await.unwrap();
        assert!(matches!(confirmed, dragoman::identity::totp::Confirmed::Wrong), "of the key that was replaced");
        assert!(!world.identity.use_totp(world.user.id, &App::new(second.text.expose()).code(now)).await.unwrap());
        assert!(!world.identity.factors(world.user.id).await.unwrap().any(), "not before it is confirmed");
        let (app, _) = enrolled(&world).await;
        assert_eq!(world.identity.begin_totp(&world.user).await.unwrap_err().code, Code::InvalidArgument);
        assert!(world.identity.unconfirmed_totp(&world.user).await.unwrap().is_none());
        let pool = world.identity.db().pool();
        let sealed: String = sqlx::query_scalar("SELECT sealed FROM totp").fetch_one(pool).await.unwrap();
        assert!(!sealed.contains(&hex::encode(app.key())));
        // Moved to another person's row it does not open.
        let bob = world.identity.create_user("bob@example.com", "Bob", &Secret::new(crate::identity::PASSWORD)).await;
        let bob = bob.unwrap();
        sqlx::query("UPDATE totp SET user_id = $1").bind(bob.id.to_string()).execute(pool).await.unwrap();
        world.wait(60);
        let moved = world.identity.use_totp(bob.id, &app.code(world.clock.now())).await;
        assert_eq!(moved.unwrap_err().code, Code::InternalError);
    })
    .await;
}

/// A world whose address has a name, and a person with a passkey.
async fn with_passkey(db: dragoman::store::Db) -> (World, Authenticator) {
    let world = World::named(db).await;
    let mut authenticator = Authenticator::new(&world.identity.config().issuer());
    let ceremony = world.identity.begin_passkey(&world.user, BROWSER).await.unwrap();
    let credential = authenticator.create(&ceremony.options);
    let answer = Answer { state: &ceremony.state, credential: &credential };
    let codes = world.identity.add_passkey(&world.user, BROWSER, answer, " Laptop ").await.unwrap();
    assert_eq!(codes.len(), 10, "with the first factor");
    let again = world.identity.add_passkey(&world.user, BROWSER, answer, "Laptop").await.unwrap_err();
    assert!(matches!(again, ProofError::Refused("passkey_replayed")), "{again:?}");
    (world, authenticator)
}

#[tokio::test]
async fn b27_a_challenge_is_answered_once_and_the_counter_only_goes_up() {
    both(async |db| {
        let (world, mut authenticator) = with_passkey(db).await;
        let identity = &world.identity;
        let ceremony = identity.begin_passkey_proof(None, BROWSER).await.unwrap();
        let credential = authenticator.get(&ceremony.options);
        let answer = Answer { state: &ceremony.state, credential: &credential };
        let answers = join_all((0..4).map(|_| identity.passkey_proof(None, BROWSER, answer))).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        world.wait(1);
        // Of a passkey without a counter as well, which only the challenge protects.
        let other = identity.begin_passkey(&world.user, BROWSER).await.unwrap();
        let mut synced = Authenticator::new(&identity.config().issuer());
        synced.counter = 0;
        let credential = synced.create(&other.options);
        let answer = Answer { state: &other.state, credential: &credential };
        assert!(identity.add_passkey(&world.user, BROWSER, answer, "").await.unwrap().is_empty());
        for _ in 0..2 {
            let ceremony = identity.begin_passkey_proof(Some(world.user.id), BROWSER).await.unwrap();
            let credential = synced.get(&ceremony.options);
            let answer = Answer { state: &ceremony.state, credential: &credential };
            identity.passkey_proof(Some(world.user.id), BROWSER, answer).await.unwrap();
            let again = identity.passkey_proof(Some(world.user.id), BROWSER, answer).await.unwrap_err();
            assert!(matches!(again, ProofError::Refused("passkey_replayed")), "{again:?}");
        }
        // A copy of the first that lags behind.
        authenticator.counter = 1;
        let ceremony = identity.begin_passkey_proof(None, BROWSER).await.unwrap();
        let credential = authenticator.get(&ceremony.options);
        let answer = Answer { state: &ceremony.state, credential: &credential };
        let lagging = identity.passkey_proof(None, BROWSER, answer).await.unwrap_err();
        assert!(matches!(lagging, ProofError::Refused("passkey_counter")), "{lagging:?}");
        let passkeys = identity.passkeys(world.user.id).await.unwrap();
        assert_eq!(passkeys.iter().map(|passkey| passkey.name.as_str()).collect::<Vec<_>>(), ["Laptop", "Passkey"]);
        let used: Vec<_> = passkeys.iter().map(|passkey| passkey.last_used_at).collect();
        assert_eq!(used, [Some(world.clock.now() - 1000), Some(world.clock.now())]);
    })
    .await;
}

#[tokio::test]
async fn b27_a_ceremony_belongs_to_a_browser_a_person_and_five_minutes() {
    both(async |db| {
        let (world, mut authenticator) = with_passkey(db).await;
        let identity = &world.identity;
        let bob =
            identity.create_user("bob@example.com", "Bob", &Secret::new(crate::identity::PASSWORD)).await.unwrap();
        let ceremony = identity.begin_passkey_proof(Some(world.user.id), BROWSER).await.unwrap();
        let credential = authenticator.get(&ceremony.options);
        let answer = Answer { state: &ceremony.state, credential: &credential };
        for (user, browser) in [
            (Some(world.user.id), "another browser"),
            (Some(bob.id), BROWSER),
            // For a known person is not for whoever the passkey says.
            (None, BROWSER),
        ] {
            let refused = identity.passkey_proof(user, browser, answer).await.unwrap_err();
            assert!(matches!(refused, ProofError::Refused("passkey_expired")), "{refused:?}");
        }
        // The state of a proof is not one for adding.
        let refused = identity.add_passkey(&world.user, BROWSER, answer, "").await.unwrap_err();
        assert!(matches!(refused, ProofError::Refused("passkey_expired")), "{refused:?}");
        world.clock.advance(Duration::from_secs(300));
        let refused = identity.passkey_proof(Some(world.user.id), BROWSER, answer).await.unwrap_err();
        assert!(matches!(refused, ProofError::Refused("passkey_expired")), "{refused:?}");
        // Another person may neither use, rename nor remove it, and its credential cannot be added twice.
        let ceremony = identity.begin_passkey_proof(Some(bob.id), BROWSER).await.unwrap();
        let credential = authenticator.get(&ceremony.options);
        let answer = Answer { state: &ceremony.state, credential: &credential };
        let refused = identity.passkey_proof(Some(bob.id), BROWSER, answer).await.unwrap_err();
        assert!(matches!(refused, ProofError::Refused("passkey_unknown")), "{refused:?}");
        let id = identity.passkeys(world.user.id).await.unwrap().remove(0).id;
        assert!(!identity.rename_passkey(bob.id, &id, "mine").await.unwrap());
        assert!(!identity.remove_passkey(bob.id, &id).await.unwrap());
        let ceremony = identity.begin_passkey(&bob, BROWSER).await.unwrap();
        let credential = authenticator.create(&ceremony.options);
        let answer = Answer { state: &ceremony.state, credential: &credential };
        let refused = identity.add_passkey(&bob, BROWSER, answer, "").await.unwrap_err();
        assert!(matches!(refused, ProofError::Refused("passkey_known")), "{refused:?}");
        // Removed, it proves nothing, and the recovery codes go with the last factor.
        assert!(identity.remove_passkey(world.user.id, &id).await.unwrap());
        assert_eq!(identity.factors(world.user.id).await.unwrap(), dragoman::identity::factors::Factors::default());
    })
    .await;
}
