//! Everything that a provider can do wrong: refused with its status, recorded, nobody's account touched.

use futures_util::future::join_all;
use serde_json::json;

use super::provider::{Fault, PATIENCE};
use super::{House, removes_journey, who};
use crate::site::field;

#[tokio::test]
async fn b18_a_faulty_id_token_is_refused_and_no_account_is_touched() {
    let house = House::start().await;
    // Without the fault each would get in: the domain is open, and the second subject is linked to Ann.
    house.open_to("example.com").await;
    let before = house.counts().await;
    for (fault, outcome) in [
        (Fault::WrongNonce, "id_token_invalid"),
        (Fault::NoNonce, "id_token_invalid"),
        (Fault::AlgNone, "id_token_invalid"),
        (Fault::Hs256WithThePublicKey, "id_token_invalid"),
        (Fault::BadSignature, "id_token_invalid"),
        (Fault::Expired, "id_token_invalid"),
        (Fault::IssuedInTheFuture, "id_token_invalid"),
        (Fault::OtherIssuer, "id_token_invalid"),
        (Fault::OtherAudience, "id_token_invalid"),
        (Fault::SeveralAudiences, "id_token_invalid"),
        (Fault::OtherParty, "id_token_invalid"),
        (Fault::UnknownKey, "id_token_invalid"),
        (Fault::NoSubject, "id_token_invalid"),
        (Fault::NoIdToken, "id_token_invalid"),
        (Fault::NotJson, "id_token_invalid"),
        (Fault::UnverifiedEmail, "email_unverified"),
    ] {
        house.provider.fault(fault);
        let browser = house.site.browser();
        let response = house.come_back(&browser, "/account/providers").await;
        assert_eq!(response.status(), 401, "{fault:?}");
        assert!(removes_journey(&response), "{fault:?}");
        assert_eq!(house.last(), ("login.oidc", outcome.to_owned()), "{fault:?}");
        assert_eq!(house.counts().await, before, "{fault:?}");
        assert_eq!(who(&browser).await, None, "{fault:?}");
    }
    house.provider.fault(Fault::None);
    house.sign_in(&house.site.browser()).await;
    assert_eq!(house.counts().await, (before.0 + 1, before.1 + 1), "without a fault the same token is good");
}

#[tokio::test]
async fn b18_a_linked_person_does_not_get_in_with_a_faulty_token_either() {
    let house = House::start().await;
    house.open_to("example.com").await;
    house.sign_in(&house.site.browser()).await;
    let before = house.counts().await;
    for fault in [Fault::WrongNonce, Fault::AlgNone, Fault::BadSignature, Fault::Expired, Fault::UnverifiedEmail] {
        house.provider.fault(fault);
        let browser = house.site.browser();
        assert_eq!(house.come_back(&browser, "/").await.status(), 401, "{fault:?}");
        assert_eq!(who(&browser).await, None, "{fault:?}");
    }
    assert_eq!(house.counts().await, before);
}

#[tokio::test]
async fn b18_keys_are_read_anew_for_an_unknown_one_but_not_more_than_twice_a_minute() {
    let house = House::start().await;
    house.open_to("example.com").await;
    house.sign_in(&house.site.browser()).await;
    assert_eq!(house.provider.count("/jwks"), 1);
    house.provider.rotate("k-2");
    assert_eq!(house.come_back(&house.site.browser(), "/").await.status(), 401, "the keys are seconds old");
    assert_eq!(house.provider.count("/jwks"), 1);
    house.wait(30);
    house.sign_in(&house.site.browser()).await;
    assert_eq!(house.provider.count("/jwks"), 2, "the rotation is noticed");
    house.provider.fault(Fault::UnknownKey);
    for _ in 0..3 {
        assert_eq!(house.come_back(&house.site.browser(), "/").await.status(), 401);
    }
    assert_eq!(house.provider.count("/jwks"), 2);
    house.wait(30);
    for _ in 0..3 {
        assert_eq!(house.come_back(&house.site.browser(), "/").await.status(), 401);
    }
    assert_eq!(house.provider.count("/jwks"), 3);
    assert_eq!(house.provider.count("/.well-known/openid-configuration"), 1, "discovery is kept");
}

#[tokio::test]
async fn b20_a_code_that_the_provider_does_not_know_is_refused() {
    let house = House::start().await;
    house.open_to("example.com").await;
    house.provider.fault(Fault::RefusesCodes);
    let response = house.come_back(&house.site.browser(), "/").await;
    assert_eq!(response.status(), 400);
    assert_eq!(house.last(), ("login.oidc", "code_invalid".into()));
    assert_eq!(house.counts().await.1, 0);
}

#[tokio::test]
async fn a_token_endpoint_that_redirects_floods_or_stalls_is_given_up() {
    let attempts = [Fault::TokenRedirects, Fault::TokenHuge, Fault::TokenSlow].map(async |fault| {
        let house = House::start().await;
        house.open_to("example.com").await;
        house.provider.fault(fault);
        let browser = house.site.browser();
        let response = tokio::time::timeout(PATIENCE, house.come_back(&browser, "/")).await.unwrap();
        assert_eq!(response.status(), 502, "{fault:?}");
        assert!(removes_journey(&response), "{fault:?}");
        assert_eq!(house.last(), ("login.oidc", "provider_unusable".into()), "{fault:?}");
        assert_eq!((house.counts().await.1, who(&browser).await), (0, None), "{fault:?}");
        assert_eq!(house.provider.count("/other"), 0, "no redirect is followed");
    });
    join_all(attempts).await;
}

#[tokio::test]
async fn discovery_that_is_anothers_or_unsafe_or_stalls_sends_nobody_away() {
    let attempts = [
        Fault::DiscoveryOfAnother,
        Fault::DiscoveryWithSlash,
        Fault::DiscoveryWithoutTls,
        Fault::DiscoveryToPrivateKeys,
        Fault::DiscoveryToScript,
        Fault::DiscoveryRedirects,
        Fault::DiscoveryHuge,
        Fault::DiscoverySlow,
    ]
    .map(async |fault| {
        let house = House::start().await;
        house.provider.fault(fault);
        let browser = house.site.browser();
        let response = tokio::time::timeout(PATIENCE, browser.get("/login/oidc")).await.unwrap();
        assert_eq!(response.status(), 502, "{fault:?}");
        assert_eq!(house.last(), ("login.oidc", "provider_unusable".into()), "{fault:?}");
        // The failure is remembered: strangers cannot make us ask again and again.
        let asked = house.provider.asked().len();
        assert_eq!(browser.get("/login/oidc").await.status(), 502, "{fault:?}");
        assert_eq!(house.provider.asked().len(), asked, "{fault:?}");
        assert_eq!(browser.get("/login").await.status(), 200, "the password still works");
        // And forgotten soon.
        house.provider.fault(Fault::None);
        house.wait(10);
        assert_eq!(browser.get("/login/oidc").await.status(), 200, "{fault:?}");
    });
    join_all(attempts).await;
}

#[tokio::test]
async fn i23_nothing_of_ours_goes_upstream_but_the_code_exchange_and_nothing_of_theirs_opens_anything() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser().signed_in("ann@example.com").await;
    let client = house.site.client_id().await;
    let code = browser.code(&house.site.authorize_path(&client, &[])).await;
    let ours = house.site.redeem(&client, &code).await.1["access_token"].as_str().unwrap().to_owned();
    assert_eq!(house.site.call("/mcp", &ours).await.status(), 200);
    house.sign_in(&browser).await;

    let asked = house.provider.asked();
    let paths: Vec<(&str, &str)> = asked.iter().map(|one| (one.method.as_str(), one.path.as_str())).collect();
    assert_eq!(paths, [("GET", "/.well-known/openid-configuration"), ("GET", "/jwks"), ("POST", "/token")]);
    for one in &asked {
        let text = format!("{one:?}");
        assert!(!text.contains(&ours) && !one.headers.contains_key("cookie"), "{text}");
        let mut names: Vec<&str> = one.headers.keys().map(http::HeaderName::as_str).collect();
        names.retain(|name| !["host", "accept", "user-agent", "content-type", "content-length"].contains(name));
        assert_eq!(names, if one.path == "/token" { vec!["authorization"] } else { vec![] }, "{text}");
    }
    let form: Vec<(String, String)> = url::form_urlencoded::parse(asked[2].body.as_bytes()).into_owned().collect();
    let mut names: Vec<&str> = form.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["code", "code_verifier", "grant_type", "redirect_uri"]);
    assert!(asked[2].headers["authorization"].to_str().unwrap().starts_with("Basic "), "the client's secret");

    for theirs in [house.provider.last_id_token(), "an upstream access token".into()] {
        let response = house.site.call("/mcp", &theirs).await;
        assert_eq!(response.status(), 401);
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    }
}

#[tokio::test]
async fn repeated_faults_block_the_address_like_wrong_passwords() {
    let house = House::with(&[("DRAGOMAN_FAILURES_PER_IP", "3")]).await;
    house.provider.fault(Fault::BadSignature);
    let browser = house.site.browser();
    for _ in 0..3 {
        assert_eq!(house.come_back(&browser, "/").await.status(), 401);
    }
    let response = browser.get("/login/oidc").await;
    assert_eq!(response.status(), 429);
    assert!(response.headers().contains_key("retry-after"));
}

#[tokio::test]
async fn pages_say_names_and_addresses_as_text() {
    let house = House::start().await;
    house.provider.claims(json!({ "email": "a&amp;x@example.com" }));
    let page = house.come_back(&house.site.browser(), "/").await;
    assert_eq!(page.status(), 401, "no address");
    assert!(!page.text().await.unwrap().contains("x@example.com"));
    house.provider.claims(json!({ "email": "a&lt@example.com" }));
    let page = house.come_back(&house.site.browser(), "/").await;
    assert_eq!(page.status(), 403);
    let page = page.text().await.unwrap();
    assert!(!page.contains("a&lt@") && page.contains("lt@example.com"), "{page}");
    assert_eq!(field(&page, "csrf"), "", "nothing to send");
}
