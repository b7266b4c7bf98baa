//! The way there and back: who is asked before anybody is sent away, and which return is believed.

use super::{House, removes_journey, who};
use crate::site::{REDIRECT, field, location, param, refresh};

fn journeys(response: &reqwest::Response) -> Vec<String> {
    let set = response.headers().get_all("set-cookie").iter().map(|value| value.to_str().unwrap().to_owned());
    set.filter(|line| line.contains("dragoman-journey-")).collect()
}

#[tokio::test]
async fn the_sign_in_page_offers_the_provider_and_keeps_the_way_back() {
    let house = House::start().await;
    let browser = house.site.browser();
    let page = browser.get("/login?return_to=/account/apps").await.text().await.unwrap();
    assert!(page.contains("Continue with Example ID"), "{page}");
    assert!(page.contains("href=\"/login/oidc?return_to=%2Faccount%2Fapps\""), "{page}");
    assert!(!page.contains("/login/google"), "only what is configured");
    for missing in ["/login/google", "/login/elsewhere"] {
        assert_eq!(browser.get(missing).await.status(), 404, "{missing}");
    }
    assert_eq!(browser.get("/login/google/callback?state=x&code=y").await.status(), 404);
    let page = browser.get("/login/oidc").await.text().await.unwrap();
    assert!(page.contains("127.0.0.1") && page.contains("Example ID"), "where one is sent: {page}");
}

#[tokio::test]
async fn b15_who_asks_is_shown_before_anybody_is_sent_away_whatever_was_approved_before() {
    let house = House::start().await;
    house.open_to("example.com").await;
    // The victim: known to the provider, signed in here, and has approved this very client.
    let client = house.site.named_client("Evil \u{202e}twin").await;
    let browser = house.site.browser();
    house.sign_in(&browser).await;
    let user = house.site.identity.user_by_email("new@example.com").await.unwrap().unwrap();
    let role = dragoman::model::access::Role::Viewer;
    house.site.identity.set_role(house.site.demo.id, user.id, role).await.unwrap();
    let authorize = house.site.authorize_path(&client, &[]);
    let page = browser.consent_page(&authorize).await;
    assert_eq!(browser.answer(&page, "approve", &[("scope", "data_agent:read")]).await.status(), 200);

    let encoded: String = url::form_urlencoded::byte_serialize(authorize.as_bytes()).collect();
    let tokens = house.provider.count("/token");
    let page = browser.get(&format!("/login/oidc?return_to={encoded}")).await;
    assert_eq!((page.status().as_u16(), page.headers().get("location")), (200, None));
    assert!(journeys(&page).is_empty(), "B16: no state exists yet");
    let page = page.text().await.unwrap();
    for word in ["Evil twin", "unverified", "127.0.0.1", "Continue to Example ID"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    assert_eq!(house.provider.count("/token"), tokens);

    let back = house.come_back(&browser, &authorize).await;
    assert_eq!((back.status().as_u16(), location(&back)), (303, authorize.clone()));
    let page = browser.consent_page(&location(&back)).await;
    assert!(page.contains("Evil twin") && page.contains("unverified"), "and asked again: {page}");
}

#[tokio::test]
async fn b15_a_program_that_is_not_known_or_not_proven_sends_nobody_away() {
    let house = House::start().await;
    let browser = house.site.browser();
    let client = house.site.client_id().await;
    for authorize in [
        house.site.authorize_path("dgc_unknown", &[]),
        house.site.authorize_path(&client, &[("redirect_uri", "https://evil.example/cb")]),
        house.site.authorize_path(&client, &[("redirect_uri", "")]),
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(authorize.as_bytes()).collect();
        let response = browser.get(&format!("/login/oidc?return_to={encoded}")).await;
        assert_eq!(response.status(), 400, "{authorize}");
        assert_eq!(house.last(), ("login.oidc", "client_unknown".into()));
    }
}

#[tokio::test]
async fn b15_the_form_is_for_the_program_that_the_page_named() {
    let house = House::start().await;
    let (one, two) = (house.site.named_client("One").await, house.site.named_client("Two").await);
    let (one, two) = (house.site.authorize_path(&one, &[]), house.site.authorize_path(&two, &[]));
    let encoded: String = url::form_urlencoded::byte_serialize(one.as_bytes()).collect();
    let browser = house.site.browser();
    let page = browser.get(&format!("/login/oidc?return_to={encoded}")).await.text().await.unwrap();
    let csrf = field(&page, "csrf");
    let swapped = browser.post("/login/oidc", &[("csrf", &csrf), ("return_to", &two)]).await;
    assert_eq!(swapped.status(), 403);
    assert!(journeys(&swapped).is_empty());
    assert_eq!(house.last(), ("login.oidc", "form_refused".into()));
    let stranger = house.site.browser();
    let stolen = stranger.post("/login/oidc", &[("csrf", &csrf), ("return_to", &one)]).await;
    assert_eq!(stolen.status(), 403, "the token of another browser");
    let url = format!("{}/login/oidc", house.site.base);
    let form = [("csrf", csrf.as_str()), ("return_to", one.as_str())];
    let foreign = browser.http.post(url).form(&form).header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), 403, "from another site");
    let sent = browser.post("/login/oidc", &form).await;
    assert_eq!((sent.status().as_u16(), journeys(&sent).len()), (200, 1));
}

#[tokio::test]
async fn b16_b17_only_a_return_that_this_browser_waits_for_is_believed() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser();
    assert_eq!(browser.get("/login/oidc/callback?code=c-1").await.status(), 400, "no state");
    assert_eq!(browser.get("/login/oidc/callback?code=c-1&state=made-up").await.status(), 400, "no consent before");
    assert_eq!(house.last(), ("login.oidc", "state_invalid".into()));

    let back = house.provider.approve(&house.depart(&browser, "/").await);
    let other = house.site.browser();
    assert_eq!(other.get(&back).await.status(), 400, "another browser");
    house.depart(&other, "/").await;
    assert_eq!(other.get(&back).await.status(), 400, "another browser with a journey of its own");
    assert_eq!(browser.get(&format!("{back}x")).await.status(), 400, "another state");
    assert_eq!(house.provider.count("/token"), 0, "nothing was exchanged for any of them");
    assert_eq!(house.counts().await.1, 0);

    assert_eq!(browser.get(&back).await.status(), 303);
    let again = browser.get(&back).await;
    assert_eq!((again.status().as_u16(), house.provider.count("/token")), (400, 1), "replayed");

    for extra in ["&state=x", "&code=c-2", "&error=access_denied&error=x"] {
        let back = house.provider.approve(&house.depart(&browser, "/").await);
        let response = browser.get(&format!("{back}{extra}")).await;
        assert_eq!((response.status().as_u16(), removes_journey(&response)), (400, true), "{extra}");
        assert_eq!(browser.get(&back).await.status(), 400, "{extra}: the journey is over");
    }
}

#[tokio::test]
async fn b17_a_journey_ends_after_ten_minutes() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser();
    let back = house.provider.approve(&house.depart(&browser, "/").await);
    house.wait(600);
    assert_eq!(browser.get(&back).await.status(), 400);
    let back = house.provider.approve(&house.depart(&browser, "/").await);
    house.wait(599);
    assert_eq!(browser.get(&back).await.status(), 303);
}

#[tokio::test]
async fn b17_a_sealed_journey_cannot_be_moved_or_changed() {
    let house = House::start().await;
    let browser = house.site.browser();
    let page = browser.get("/login/oidc").await.text().await.unwrap();
    let send = async || {
        let sent = browser.post("/login/oidc", &[("csrf", &*field(&page, "csrf")), ("return_to", "/")]).await;
        let line = journeys(&sent).remove(0);
        let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
        (name.to_owned(), value.to_owned(), house.provider.approve(&refresh(&sent)))
    };
    let (name, value, back) = send().await;
    let (_, another, _) = send().await;
    let mut changed = value.clone();
    changed.replace_range(30..31, if &value[30..31] == "A" { "B" } else { "A" });
    let plain = house.site.program();
    for value in [another.as_str(), &changed, "", "AAAA"] {
        let url = house.site.url(&back);
        let response = plain.get(url).header("cookie", format!("{name}={value}")).send().await.unwrap();
        assert_eq!(response.status(), 400);
    }
    for secret in ["nonce", "verifier", "oidc", "return_to"] {
        let bytes = dragoman::base::secret::from_base64url(&value).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} can be read");
    }
}

#[tokio::test]
async fn b20_a_return_to_another_providers_address_is_refused() {
    let house = House::with(&[("DRAGOMAN_OIDC_GOOGLE_CLIENT_ID", "g")]).await;
    let browser = house.site.browser();
    let back = house.provider.approve(&house.depart(&browser, "/").await);
    let mixed = browser.get(&back.replace("/oidc/", "/google/")).await;
    assert_eq!((mixed.status().as_u16(), removes_journey(&mixed)), (400, true));
    assert_eq!(house.last(), ("login.oidc", "state_invalid".into()));
    assert_eq!(house.provider.count("/token"), 0);

    let back = house.provider.approve(&house.depart(&browser, "/").await);
    let mixed = browser.get(&format!("{back}&iss=https%3A%2F%2Faccounts.google.com")).await;
    assert_eq!(mixed.status(), 400);
    assert_eq!(house.last(), ("login.oidc", "issuer_mismatch".into()), "RFC 9207");
    assert_eq!(house.provider.count("/token"), 0);
}

#[tokio::test]
async fn b17_a_refusal_at_the_provider_is_told_to_the_program_or_to_the_person() {
    let house = House::start().await;
    let client = house.site.client_id().await;
    let browser = house.site.browser();
    let there = house.depart(&browser, &house.site.authorize_path(&client, &[])).await;
    let state = param(&there, "state").unwrap();
    let response = browser.get(&format!("/login/oidc/callback?error=access_denied&state={state}")).await;
    assert!(removes_journey(&response));
    let to = refresh(&response);
    assert!(to.starts_with(&format!("{REDIRECT}?")), "{to}");
    let got = ["error", "state", "iss"].map(|name| param(&to, name).unwrap());
    assert_eq!(got, ["access_denied".to_owned(), "s-1".into(), house.site.base.clone()]);
    assert_eq!(house.last(), ("login.oidc", "access_denied".into()));

    for (error, word) in [("access_denied", "You cancelled"), ("temporarily_unavailable", "could not sign you in")] {
        let there = house.depart(&browser, "/account/apps").await;
        let state = param(&there, "state").unwrap();
        let response = browser.get(&format!("/login/oidc/callback?error={error}&state={state}")).await;
        assert_eq!((response.status().as_u16(), removes_journey(&response)), (200, true));
        let page = response.text().await.unwrap();
        assert!(page.contains(word) && field(&page, "return_to") == "/account/apps", "{page}");
    }
    let forged = browser.get("/login/oidc/callback?error=access_denied&state=made-up").await;
    assert_eq!(forged.status(), 400, "nobody else can refuse for the person");
    assert_eq!(house.provider.count("/token"), 0);
}

#[tokio::test]
async fn b31_journeys_in_two_tabs_do_not_disturb_each_other() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser();
    let first = house.depart(&browser, "/account/apps").await;
    let second = house.depart(&browser, "/account/sessions").await;
    for (there, goal) in [(first, "/account/apps"), (second, "/account/sessions")] {
        let response = browser.get(&house.provider.approve(&there)).await;
        assert_eq!((response.status().as_u16(), location(&response)), (303, goal.to_owned()));
    }
}

#[tokio::test]
async fn abandoned_journeys_end_before_they_fill_a_proxys_headers() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser();
    let mut ways = Vec::new();
    for _ in 0..6 {
        ways.push(house.depart(&browser, "/").await);
    }
    let mut statuses = Vec::new();
    for there in &ways {
        statuses.push(browser.get(&house.provider.approve(there)).await.status().as_u16());
    }
    // Which of the older ones end is the browser's order of cookies.
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 4, "{statuses:?}");
    assert_eq!(statuses[5], 303, "the latest goes on");
}

#[tokio::test]
async fn b01_signing_in_gives_a_new_session_and_strangers_leave_nothing_in_the_database() {
    let house = House::start().await;
    house.open_to("example.com").await;
    let browser = house.site.browser();
    let there = house.depart(&browser, "/").await;
    assert_eq!((house.site.rows("sessions").await, house.site.rows("pending").await), (0, 0));
    let signed_in = house.site.browser().signed_in("bob@example.com").await;
    let before = house.site.rows("sessions").await;
    house.sign_in(&signed_in).await;
    assert_eq!(who(&signed_in).await.as_deref(), Some("new@example.com"), "whoever was there before is gone");
    assert_eq!(house.site.rows("sessions").await, before);
    assert_eq!(browser.get(&house.provider.approve(&there)).await.status(), 303);
}

/// H03 as well: the way back is the configured address, whatever name the request came with.
#[tokio::test]
async fn behind_tls_the_journeys_cookie_is_bound_to_the_host_and_the_way_back_is_the_configured_one() {
    let house = House::with(&[("DRAGOMAN_PUBLIC_URL", "https://data.example.com")]).await;
    let program = house.site.program();
    let at = format!("{}/login/oidc", house.site.listen);
    let page = program.get(&at).header("host", "evil.example").send().await.unwrap();
    let form_cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let csrf = field(&page.text().await.unwrap(), "csrf");
    let sent = program
        .post(&at)
        .form(&[("csrf", csrf.as_str()), ("return_to", "/")])
        .header("host", "evil.example")
        .header("cookie", form_cookie)
        .header("origin", "https://data.example.com")
        .send()
        .await
        .unwrap();
    let line = journeys(&sent).remove(0);
    assert!(line.starts_with("__Host-dragoman-journey-"), "{line}");
    for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure", "; Max-Age=600"] {
        assert!(line.contains(attribute), "{attribute}: {line}");
    }
    assert!(!line.contains("Domain"), "{line}");
    let back = param(&refresh(&sent), "redirect_uri").unwrap();
    assert_eq!(back, "https://data.example.com/login/oidc/callback");
}

#[tokio::test]
async fn a_way_back_that_no_cookie_holds_is_said_to_be_too_long() {
    let house = House::start().await;
    let client = house.site.client_id().await;
    let authorize = house.site.authorize_path(&client, &[("state", &"s".repeat(3000))]);
    let encoded: String = url::form_urlencoded::byte_serialize(authorize.as_bytes()).collect();
    let browser = house.site.browser();
    let page = browser.get(&format!("/login/oidc?return_to={encoded}")).await.text().await.unwrap();
    let form = [("csrf", &*field(&page, "csrf")), ("return_to", &authorize)];
    let sent = browser.post("/login/oidc", &form).await;
    assert_eq!(sent.status(), 400);
    assert_eq!(house.last(), ("login.oidc", "too_long".into()));
}
