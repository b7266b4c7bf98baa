//! Which account somebody gets into, over HTTP: linking, unlinking, and who may have an account at all.

use serde_json::json;

use super::{House, removes_journey, who};
use crate::site::{Browser, PASSWORD, field, location};

const PAGE: &str = "/account/providers";

/// The token of the page's own form: the frame around it has one for signing out.
fn own(page: &str) -> String {
    field(page.split_once("<main").unwrap().1, "csrf")
}

/// Links the provider to the account that the browser is signed in to.
async fn link(house: &House, browser: &Browser) -> reqwest::Response {
    let page = browser.get(PAGE).await.text().await.unwrap();
    let sent = browser.post(PAGE, &[("csrf", &*own(&page)), ("provider", "oidc")]).await;
    assert_eq!(sent.status(), 200);
    browser.get(&house.provider.approve(&crate::site::refresh(&sent))).await
}

async fn unlink(house: &House, browser: &Browser, subject: &str) -> u16 {
    let page = browser.get(PAGE).await.text().await.unwrap();
    let form = [("csrf", &*own(&page)), ("issuer", &house.provider.issuer), ("subject", subject)];
    browser.post(&format!("{PAGE}/unlink"), &form).await.status().as_u16()
}

#[tokio::test]
async fn b19_an_equal_address_gets_into_no_account_before_its_own_sign_in_and_a_yes() {
    let house = House::start().await;
    house.provider.claims(json!({ "email": "Ann@Example.com" }));
    let before = house.counts().await;
    let browser = house.site.browser();
    let page = house.come_back(&browser, "/account/apps").await;
    assert_eq!((page.status().as_u16(), removes_journey(&page)), (200, true));
    assert_eq!(house.last(), ("login.oidc", "sign_in_first".into()));
    let page = page.text().await.unwrap();
    assert!(page.contains("ann@example.com") && page.contains("Password"), "{page}");
    assert_eq!((house.counts().await, who(&browser).await), (before, None), "not silently");

    let (csrf, to) = (own(&page), field(&page, "return_to"));
    let form = |password| {
        [("csrf", csrf.clone()), ("return_to", to.clone()), ("email", "ann@example.com".into()), ("password", password)]
    };
    let send = async |password: &str| {
        let form = form(password.to_owned());
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post("/login", &form).await
    };
    assert_eq!(send("wrong password").await.status(), 401);
    assert_eq!(house.counts().await, before);
    let inside = send(PASSWORD).await;
    assert_eq!((inside.status().as_u16(), location(&inside)), (303, "/account/providers/confirm".to_owned()));
    assert_eq!(house.counts().await, before, "the password alone links nothing");
    let page = browser.get(&location(&inside)).await.text().await.unwrap();
    assert!(page.contains("Link Example ID?") && page.contains(&house.provider.issuer), "{page}");
    let csrf = own(&page);

    // From elsewhere, or without the page: no.
    let forged = browser.post("/account/providers/confirm", &[("csrf", "x"), ("decision", "link")]).await;
    assert_eq!((forged.status().as_u16(), house.counts().await), (403, before));
    let done = browser.post("/account/providers/confirm", &[("csrf", &csrf), ("decision", "link")]).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, "/account/apps".to_owned()));
    assert_eq!(house.counts().await, (before.0, before.1 + 1));
    assert_eq!(house.last(), ("account.link", "ok".into()));

    // From then on it is Ann, whatever address the provider says; and the address alone is nobody.
    house.provider.claims(json!({ "email": "changed@example.com" }));
    let browser = house.site.browser();
    house.sign_in(&browser).await;
    assert_eq!(who(&browser).await.as_deref(), Some("ann@example.com"));
    house.provider.claims(json!({ "email": "ann@example.com", "sub": "subject-2" }));
    let browser = house.site.browser();
    assert_eq!(house.come_back(&browser, "/").await.status(), 200);
    assert_eq!(who(&browser).await, None, "another subject with the same address");
}

#[tokio::test]
async fn b19_who_says_no_or_waits_too_long_links_nothing() {
    let house = House::start().await;
    house.provider.claims(json!({ "email": "ann@example.com" }));
    let browser = house.site.browser().signed_in("ann@example.com").await;
    // The session of before is still there; the question is asked all the same.
    assert_eq!(house.come_back(&browser, "/account/apps").await.status(), 200);
    let page = browser.get("/account/providers/confirm").await.text().await.unwrap();
    let no = browser.post("/account/providers/confirm", &[("csrf", &*own(&page)), ("decision", "no")]).await;
    assert_eq!((no.status().as_u16(), house.counts().await.1), (303, 0));
    let over = browser.get("/account/providers/confirm").await;
    assert_eq!((over.status().as_u16(), location(&over)), (303, PAGE.to_owned()), "there is no question any more");

    assert_eq!(house.come_back(&browser, "/").await.status(), 200);
    let page = browser.get("/account/providers/confirm").await.text().await.unwrap();
    house.wait(600);
    let form = [("csrf", &*own(&page)), ("decision", "link")];
    assert_eq!(browser.post("/account/providers/confirm", &form).await.status(), 403);
    assert_eq!(house.counts().await.1, 0);
}

#[tokio::test]
async fn a_signed_in_person_links_and_unlinks() {
    let house = House::start().await;
    let browser = house.site.browser().signed_in("ann@example.com").await;
    let before = house.counts().await;
    let back = link(&house, &browser).await;
    assert_eq!((back.status().as_u16(), location(&back)), (303, PAGE.to_owned()));
    assert_eq!(house.last(), ("account.link", "ok".into()));
    assert_eq!(house.counts().await, (before.0, before.1 + 1));
    let page = browser.get(PAGE).await.text().await.unwrap();
    for word in ["Example ID", "new@example.com", "2027-01-15"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert_eq!(link(&house, &browser).await.status(), 303, "linking again changes nothing");
    assert_eq!(house.counts().await, (before.0, before.1 + 1));

    let fresh = house.site.browser();
    house.sign_in(&fresh).await;
    assert_eq!(who(&fresh).await.as_deref(), Some("ann@example.com"));

    let bob = house.site.browser().signed_in("bob@example.com").await;
    let taken = link(&house, &bob).await;
    assert_eq!(taken.status(), 409);
    assert_eq!(house.last(), ("login.oidc", "linked_elsewhere".into()));
    assert_eq!(unlink(&house, &bob, "subject-1").await, 404, "another person's");
    assert_eq!(house.counts().await, (before.0, before.1 + 1));

    assert_eq!(unlink(&house, &browser, "subject-1").await, 303);
    assert_eq!(house.last(), ("account.unlink", "ok".into()));
    assert_eq!(house.counts().await, before);
    let stranger = house.site.browser();
    assert_eq!(house.come_back(&stranger, "/").await.status(), 403, "it opens nothing any more");
}

#[tokio::test]
async fn b19_a_link_is_finished_only_by_the_person_and_the_session_that_began_it() {
    let house = House::start().await;
    let browser = house.site.browser().signed_in("ann@example.com").await;
    let begin = async || {
        let page = browser.get(PAGE).await.text().await.unwrap();
        let sent = browser.post(PAGE, &[("csrf", &*own(&page)), ("provider", "oidc")]).await;
        house.provider.approve(&crate::site::refresh(&sent))
    };
    let back = begin().await;
    assert_eq!(browser.log_in("bob@example.com", PASSWORD, "/").await.status(), 303);
    assert_eq!(browser.get(&back).await.status(), 400, "Bob took over the browser");
    assert_eq!(browser.log_in("ann@example.com", PASSWORD, "/").await.status(), 303);
    let back = begin().await;
    assert_eq!(browser.log_in("ann@example.com", PASSWORD, "/").await.status(), 303);
    assert_eq!(browser.get(&back).await.status(), 400, "another session");
    assert_eq!(house.counts().await.1, 0);
    let forged = browser.post(PAGE, &[("csrf", "x"), ("provider", "oidc")]).await;
    assert_eq!(forged.status(), 403);
    let stranger = house.site.browser().get(PAGE).await;
    assert_eq!(location(&stranger), "/login?return_to=%2Faccount%2Fproviders");
}

#[tokio::test]
async fn how_an_account_is_signed_in_to_is_changed_only_soon_after_signing_in() {
    let house = House::start().await;
    let browser = house.site.browser().signed_in("ann@example.com").await;
    assert_eq!(link(&house, &browser).await.status(), 303);
    house.wait(901);
    let page = browser.get(PAGE).await.text().await.unwrap();
    let csrf = own(&page);
    let asked = browser.post(PAGE, &[("csrf", &csrf), ("provider", "oidc")]).await;
    assert!(location(&asked).starts_with("/login?return_to=%2Faccount%2Fproviders%3Fagain%3D"));
    let form = [("csrf", csrf.as_str()), ("issuer", &house.provider.issuer), ("subject", "subject-1")];
    let asked = browser.post(&format!("{PAGE}/unlink"), &form).await;
    assert!(location(&asked).starts_with("/login?return_to=%2Faccount%2Fproviders%3Fagain%3D"));
    assert_eq!(house.counts().await.1, 1);
}

#[tokio::test]
async fn only_who_is_expected_gets_an_account() {
    let house = House::start().await;
    let before = house.counts().await;
    let browser = house.site.browser();
    let response = house.come_back(&browser, "/").await;
    assert_eq!(response.status(), 403);
    assert!(response.text().await.unwrap().contains("invitation"));
    assert_eq!(house.last(), ("login.oidc", "uninvited".into()));
    assert_eq!((house.counts().await, who(&browser).await), (before, None));

    house.open_to("elsewhere.example").await;
    assert_eq!(house.come_back(&browser, "/").await.status(), 403, "another domain");
    house.provider.claims(json!({ "email": "new@evil-example.com" }));
    house.open_to("example.com").await;
    assert_eq!(house.come_back(&browser, "/").await.status(), 403, "a domain that only ends alike");
    house.provider.claims(json!({ "email": null, "email_verified": null }));
    assert_eq!(house.come_back(&browser, "/").await.status(), 401, "no address");
    house.provider.claims(json!({ "email_verified": null }));
    assert_eq!(house.come_back(&browser, "/").await.status(), 401, "an address that nobody vouches for");
    assert_eq!(house.counts().await, before);

    house.provider.claims(json!({ "email": "new@example.com" }));
    house.sign_in(&browser).await;
    assert_eq!(who(&browser).await.as_deref(), Some("new@example.com"));
    let actions: Vec<_> = house.site.events.lock().unwrap().iter().map(|event| event.action).collect();
    assert_eq!(actions[actions.len() - 2..], ["account.create", "login.oidc"]);
    let user = house.site.identity.user_by_email("new@example.com").await.unwrap().unwrap();
    assert_eq!(user.name, "New Person");
    assert_eq!(house.site.identity.memberships(user.id).await.unwrap(), [], "an account, and nothing else");
    assert_eq!(unlink(&house, &browser, "subject-1").await, 409, "the last way in stays");
    assert_eq!(house.last(), ("account.unlink", "last_way".into()));
    house.sign_in(&house.site.browser()).await;
}

#[tokio::test]
async fn b21_an_account_without_a_password_is_refused_like_any_other() {
    let house = House::start().await;
    house.open_to("example.com").await;
    house.sign_in(&house.site.browser()).await;
    for password in ["", "x", PASSWORD] {
        let response = house.site.browser().log_in("new@example.com", password, "/").await;
        assert_eq!(response.status(), 401, "{password:?}");
        let page = response.text().await.unwrap();
        assert!(page.contains("The e-mail address or the password is not right."), "{page}");
    }
}

#[tokio::test]
async fn a_suspended_person_does_not_get_in() {
    let house = House::start().await;
    house.open_to("example.com").await;
    house.sign_in(&house.site.browser()).await;
    let sql = "UPDATE users SET suspended_at = 1 WHERE email = 'new@example.com'";
    sqlx::query(sql).execute(house.site.identity.db().pool()).await.unwrap();
    let browser = house.site.browser();
    assert_eq!(house.come_back(&browser, "/").await.status(), 403);
    assert_eq!(house.last(), ("login.oidc", "suspended".into()));
    assert_eq!(who(&browser).await, None);
}
