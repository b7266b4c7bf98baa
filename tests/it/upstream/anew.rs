//! Who has to prove themselves again is not let in by the session that their browser has at the provider.

use serde_json::{Value, json};

use super::{House, who};
use crate::factors::app::App;
use crate::site::{Browser, PASSWORD, field, location, param, refresh};

/// Wants a sign-in of the last 15 minutes.
const PAGE: &str = "/account/sensitive";

/// A house that lets the provider's person in.
async fn house() -> House {
    let house = House::start().await;
    house.open_to("example.com").await;
    house
}

/// The token of the page's own form.
fn own(page: &str) -> String {
    field(page.split_once("<main").unwrap().1, "csrf")
}

async fn is_fresh(browser: &Browser) -> bool {
    browser.get(PAGE).await.status() == 200
}

#[tokio::test]
async fn a21_a_step_up_needs_a_sign_in_at_the_provider_and_not_a_session_there() {
    let house = house().await;
    let browser = house.site.browser();
    let there = house.depart(&browser, PAGE).await;
    let asked = ["prompt", "max_age", "claims"].map(|name| param(&there, name));
    let claims = Some(r#"{"id_token":{"auth_time":{"essential":true}}}"#.to_owned());
    assert_eq!(asked, [None, None, claims.clone()], "whoever comes first may have a session there");
    assert_eq!(location(&browser.get(&house.provider.approve(&there)).await), PAGE);
    assert!(is_fresh(&browser).await);

    house.wait(901);
    assert!(!is_fresh(&browser).await);
    let there = house.depart(&browser, PAGE).await;
    let asked = ["prompt", "max_age", "claims"].map(|name| param(&there, name));
    assert_eq!(asked, [Some("login".into()), Some("0".into()), claims]);
    let now = house.site.clock.now() / 1000;
    for told in [Value::Null, (now - 901).into(), (now - 61).into()] {
        house.provider.claims(json!({ "auth_time": told }));
        let refused = house.come_back(&browser, PAGE).await;
        assert_eq!(house.last(), ("login.oidc", "not_anew".into()));
        assert_eq!(refused.status(), 401, "{told}");
        let page = refused.text().await.unwrap();
        assert!(page.contains("Example ID does not say that you have just signed in there"), "{page}");
        assert_eq!(field(&page, "return_to"), PAGE, "with the other ways to go on");
        assert_eq!(who(&browser).await.as_deref(), Some("new@example.com"), "signed in as before");
        assert!(!is_fresh(&browser).await, "{told}");
    }
    house.provider.claims(json!({}));
    assert_eq!(location(&house.come_back(&browser, PAGE).await), PAGE);
    assert!(is_fresh(&browser).await);
}

#[tokio::test]
async fn a_sign_in_is_as_old_as_the_provider_says() {
    let house = house().await;
    let a_month_ago = house.site.clock.now() / 1000 - 30 * 24 * 3600;
    house.provider.claims(json!({ "auth_time": a_month_ago }));
    let browser = house.site.browser();
    house.sign_in(&browser).await;
    assert_eq!(who(&browser).await.as_deref(), Some("new@example.com"), "however old");
    assert!(!is_fresh(&browser).await);
    house.provider.claims(json!({}));
    house.sign_in(&browser).await;
    assert!(is_fresh(&browser).await);
}

#[tokio::test]
async fn a_proof_of_here_makes_up_for_an_old_one_elsewhere() {
    let house = House::start().await;
    let ann = house.site.browser().signed_in("ann@example.com").await;
    let page = ann.get("/account/providers").await.text().await.unwrap();
    let link = ann.post("/account/providers", &[("csrf", &*own(&page)), ("provider", "oidc")]).await;
    assert_eq!(ann.get(&house.provider.approve(&refresh(&link))).await.status(), 303);
    house.provider.claims(json!({ "auth_time": house.site.clock.now() / 1000 - 901 }));
    let browser = house.site.browser();
    house.sign_in(&browser).await;
    let confirm = location(&browser.get(PAGE).await);
    let page = browser.get(&confirm).await.text().await.unwrap();
    let form = [("csrf", &*own(&page)), ("way", "password"), ("password", PASSWORD), ("return_to", PAGE)];
    assert_eq!(location(&browser.post("/login/confirm", &form).await), PAGE);
    assert!(is_fresh(&browser).await);
}

#[tokio::test]
async fn a21_a_client_that_wants_a_fresh_log_in_gets_none_from_a_session_at_the_provider() {
    let house = house().await;
    let client = house.site.client_id().await;
    for fresh in [("prompt", "login"), ("max_age", "900")] {
        let browser = house.site.browser();
        let to_login = location(&browser.get(&house.site.authorize_path(&client, &[fresh])).await);
        let authorize = param(&house.site.url(&to_login), "return_to").unwrap();
        house.wait(1);
        house.provider.claims(json!({ "auth_time": null }));
        assert_eq!(house.come_back(&browser, &authorize).await.status(), 401, "{fresh:?}");
        assert_eq!(who(&browser).await, None);
        house.provider.claims(json!({}));
        assert_eq!(location(&house.come_back(&browser, &authorize).await), authorize);
        let consent = location(&browser.get(&authorize).await);
        assert!(consent.starts_with("/consent?"), "{consent}");
    }
}

#[tokio::test]
async fn whoever_has_a_second_step_is_asked_for_it_whatever_the_provider_says() {
    let house = house().await;
    let browser = house.site.browser();
    house.sign_in(&browser).await;
    let user = house.site.identity.user_by_email("new@example.com").await.unwrap().unwrap();
    let key = house.site.identity.begin_totp(&user).await.unwrap();
    let code = App::new(key.text.expose()).code(house.site.clock.now());
    house.site.identity.confirm_totp(user.id, &code).await.unwrap();
    house.provider.claims(json!({ "auth_time": null }));
    let to = location(&house.come_back(&browser, PAGE).await);
    assert!(to.starts_with("/login/two-step?"), "{to}");
}
