//! Guesses at one account from many addresses, and at many accounts from one.

use std::time::Duration;

use dragoman::base::secret::Secret;
use futures_util::future::join_all;

use super::{World, on_both};
use crate::support::service::PASSWORD;

/// Sends this many wrong passwords for an account, each from an address and a browser of its own.
async fn guess(world: &World, email: &str, times: u8) -> Vec<u16> {
    let mut statuses = Vec::new();
    for at in 0..times {
        let ip = format!("192.0.2.{at}");
        statuses.push(world.log_in_from(&world.browser(), &ip, email, "wrong password").await.status().as_u16());
    }
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn b23_b24_an_account_is_slowed_down_for_strangers_and_never_for_its_owner() {
    on_both(&[("DRAGOMAN_FAILURES_PER_ACCOUNT", "3")], async |world| {
        let (owner, bob) = (world.ann().await, world.browser().signed_in("bob@example.com").await);
        assert_eq!(guess(world, "ann@example.com", 4).await, [401, 401, 401, 429]);
        // Even the right password, from an address that never failed, in a browser that the account has never used.
        let stranger = world.browser();
        let response = world.log_in_from(&stranger, "203.0.113.9", "Ann@example.com ", PASSWORD).await;
        assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"5".parse().unwrap()));
        let with =
            async |browser, email| world.log_in_from(browser, "203.0.113.9", email, PASSWORD).await.status().as_u16();
        assert_eq!(with(&owner, "ann@example.com").await, 303, "the owner's browser, from anywhere");
        assert_eq!(with(&bob, "ann@example.com").await, 429, "a browser known for another account is a stranger");
        assert_eq!(with(&bob, "bob@example.com").await, 303, "another account is not slowed down");
        // One who is not there is slowed down in the same way.
        assert_eq!(guess(world, "nobody@example.com", 4).await, [401, 401, 401, 429]);
        // Waiting helps: nobody is locked out.
        world.service.clock.advance(Duration::from_secs(5));
        assert_eq!(with(&stranger, "ann@example.com").await, 303);
        assert_eq!(guess(world, "ann@example.com", 1).await, [401]);
        assert_eq!(with(&stranger, "ann@example.com").await, 303, "it is known now");
        // A new password makes strangers of all of them.
        world.service.identity.set_password(world.ann.id, &Secret::new("another long one")).await.unwrap();
        for browser in [&owner, &stranger] {
            let response = world.log_in_from(browser, "203.0.113.9", "ann@example.com", "another long one").await;
            assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"10".parse().unwrap()));
        }
        let target = format!("user:{}", world.ann.id);
        let record = world.record("login.password").await;
        assert!(record.contains(&("rate_limited".into(), String::new(), target.clone())), "{record:?}");
        assert!(record.contains(&("auth_invalid".into(), String::new(), target)), "{record:?}");
    })
    .await;
}

fn known_cookie(response: &reqwest::Response) -> String {
    let mut lines = response.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    lines.find_map(|line| line.strip_prefix("dragoman-known=")).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn b23_a_browser_is_not_known_by_a_cookie_that_it_made_up_or_found() {
    let world = World::with(&[("DRAGOMAN_FAILURES_PER_ACCOUNT", "1")]).await;
    let first = world.log_in_from(&world.browser(), "203.0.113.1", "ann@example.com", PASSWORD).await;
    let line = known_cookie(&first);
    for flag in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=15552000"] {
        assert!(line.contains(flag), "{line}");
    }
    let value = line.split(';').next().unwrap();
    let (device, mark) = value.split_once('.').unwrap();
    assert_eq!(guess(&world, "ann@example.com", 2).await, [401, 429]);
    let other = world.log_in_from(&world.browser(), "203.0.113.1", "bob@example.com", PASSWORD).await;
    let other_device = known_cookie(&other);
    let other_device = other_device.split('.').next().unwrap();
    let send = async |cookie: String| {
        let browser = crate::site::client(false);
        let page = browser.get(world.service.url("/login")).send().await.unwrap();
        let form_cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let csrf = crate::site::field(&page.text().await.unwrap(), "csrf");
        let form = [("csrf", &*csrf), ("email", "ann@example.com"), ("password", PASSWORD)];
        let request = browser.post(world.service.url("/login")).form(&form);
        let cookie = format!("{form_cookie}; dragoman-known={cookie}");
        request.header("cookie", cookie).send().await.unwrap().status().as_u16()
    };
    let zeros = "0".repeat(32);
    for made_up in [
        String::new(),
        device.to_owned(),
        format!("{device}."),
        format!("{device}.{zeros}"),
        format!("{other_device}.{mark}"),
        format!("{device}{mark}"),
        format!("x.{mark}"),
        format!("{device}.{}", &mark[..31]),
        format!("{device}.{zeros}.{zeros}.{zeros}.{zeros}.{zeros}.{mark}"),
        ".".repeat(4000),
    ] {
        assert_eq!(send(made_up.clone()).await, 429, "{made_up}");
    }
    assert_eq!(send(format!("{device}.{zeros}.{mark}")).await, 303, "beside marks of other accounts");
}

#[tokio::test(flavor = "multi_thread")]
async fn b24_many_addresses_at_once_try_no_more_than_the_limit() {
    let world = World::with(&[("DRAGOMAN_FAILURES_PER_ACCOUNT", "3")]).await;
    let browsers: Vec<_> = (0..16).map(|_| world.browser()).collect();
    let guesses = browsers.iter().enumerate().map(|(at, browser)| {
        let ip = format!("192.0.2.{at}");
        let world = &world;
        async move { world.log_in_from(browser, &ip, "ann@example.com", "wrong password").await.status().as_u16() }
    });
    let statuses = join_all(guesses).await;
    let tried = statuses.iter().filter(|status| **status == 401).count();
    assert!((1..=3).contains(&tried), "{statuses:?}");
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b24_many_accounts_from_one_address_end_in_a_pause_for_the_address() {
    let world = World::with(&[("DRAGOMAN_FAILURES_PER_IP", "5")]).await;
    let mut statuses = Vec::new();
    for at in 0..6 {
        let email = format!("person{at}@example.com");
        let browser = world.browser();
        statuses.push(world.log_in_from(&browser, "192.0.2.1", &email, "wrong password").await.status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429]);
    // The /64 of a subscriber is one address.
    for at in 0..5 {
        let ip = format!("2001:db8:1:2::{at}");
        assert_eq!(world.log_in_from(&world.browser(), &ip, "x@example.com", "wrong").await.status(), 401);
    }
    let neighbour = world.log_in_from(&world.browser(), "2001:db8:1:2:ffff::1", "y@example.com", "wrong").await;
    assert_eq!(neighbour.status(), 429);
    assert_eq!(world.log_in_from(&world.browser(), "203.0.113.7", "ann@example.com", PASSWORD).await.status(), 303);
}
