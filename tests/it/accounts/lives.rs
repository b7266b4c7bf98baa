//! How long browser sessions live, and that nothing else opens them.

use std::time::Duration;

use super::{World, home_of, on_both, session_cookie};
use crate::site::field;
use crate::support::service::PASSWORD;

const HOUR: u64 = 3600;

async fn cookie_of(world: &World, email: &str) -> String {
    session_cookie(&world.browser().log_in(email, PASSWORD, "/").await).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn b04_a_forged_truncated_unknown_or_deleted_session_is_nobody_and_never_a_failure() {
    on_both(&[], async |world| {
        let cookie = cookie_of(world, "ann@example.com").await;
        assert_eq!(home_of(world, &cookie).await.as_deref(), Some("ann@example.com"));
        let mut other = cookie.clone();
        let last = if other.pop() == Some('A') { 'Q' } else { 'A' };
        other.push(last);
        let digest = dragoman::base::secret::sha256_hex(cookie.as_bytes());
        for forged in [
            "",
            "x",
            &other,
            &cookie[..21],
            &cookie[1..],
            &format!("{cookie}A"),
            &format!("{cookie}=="),
            &cookie.to_lowercase(),
            &digest,
            &"A".repeat(22),
            &"A".repeat(6000),
            "../../etc/passwd",
            "' OR 1=1 --",
            "%00",
        ] {
            assert_eq!(home_of(world, forged).await, None, "{forged}");
        }
        assert_eq!(home_of(world, &cookie).await.as_deref(), Some("ann@example.com"), "it lives still");
        // A person who is gone takes their sessions with them, row or not.
        world.sql("DELETE FROM users WHERE email = 'ann@example.com'").await;
        assert_eq!(home_of(world, &cookie).await, None);
        let cookie = cookie_of(world, "bob@example.com").await;
        world.sql("DELETE FROM browser_sessions").await;
        assert_eq!(home_of(world, &cookie).await, None);
        assert_eq!(home_of(world, &cookie).await, None, "looking does not bring it back");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b04_a_session_ends_unused_after_half_a_day_and_used_after_a_week() {
    on_both(&[], async |world| {
        let later = |hours: u64, less: u64| world.service.clock.advance(Duration::from_secs(hours * HOUR - less));
        let cookie = cookie_of(world, "ann@example.com").await;
        later(12, 1);
        assert!(home_of(world, &cookie).await.is_some());
        later(12, 1);
        assert!(home_of(world, &cookie).await.is_some(), "use counts from the last time");
        later(12, 0);
        assert!(home_of(world, &cookie).await.is_none());
        // Used all the time, it ends a week after the password was given.
        let cookie = cookie_of(world, "ann@example.com").await;
        for _ in 0..15 {
            later(11, 0);
            assert!(home_of(world, &cookie).await.is_some());
        }
        later(3, 1);
        assert!(home_of(world, &cookie).await.is_some(), "a second before the week is over");
        later(1, HOUR - 2);
        assert!(home_of(world, &cookie).await.is_none());
        // A stolen cookie cannot be refreshed by a log-in elsewhere.
        let fresh = cookie_of(world, "ann@example.com").await;
        assert!(home_of(world, &fresh).await.is_some() && home_of(world, &cookie).await.is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b01_b05_a_planted_id_is_not_taken_over_and_a_left_one_is_dead() {
    on_both(&[], async |world| {
        let ann = world.browser();
        let first = session_cookie(&ann.log_in("ann@example.com", PASSWORD, "/").await).unwrap();
        let second = session_cookie(&ann.log_in("ann@example.com", PASSWORD, "/").await).unwrap();
        assert_ne!(first, second);
        assert_eq!(home_of(world, &first).await, None, "the same person gets a new id too");
        // Logging out needs our form, by POST.
        assert_eq!(ann.get("/logout").await.status(), 405);
        assert_eq!(ann.post("/logout", &[]).await.status(), 403);
        let page = ann.get("/").await.text().await.unwrap();
        assert_eq!(ann.post("/logout", &[("csrf", &field(&page, "csrf"))]).await.status(), 303);
        assert_eq!(home_of(world, &second).await, None);
        let rows: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM browser_sessions")
            .fetch_one(world.service.db.pool())
            .await
            .unwrap();
        assert_eq!(rows, 0, "and its row is gone");
    })
    .await;
}
