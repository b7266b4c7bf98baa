//! Second factors and passkeys as a person meets them.

use std::time::Duration;

use dragoman::base::secret::{Secret, from_base64url};
use reqwest::Response;
use serde_json::Value;

use super::app::App;
use super::authenticator::Authenticator;
use crate::site::{Browser, PASSWORD, REDIRECT, Site, field, location, param, refresh};

const ANN: &str = "ann@example.com";

/// A site whose address has a name, as passkeys need it.
async fn named() -> Site {
    Site::with(&[("DRAGOMAN_PUBLIC_URL", "http://localhost:{port}")]).await
}

/// The form token of a page for one of its forms: console pages have the one for signing out as well.
fn csrf(page: &str, action: &str) -> String {
    let form = page.split_once(&format!("action=\"{action}\"")).unwrap_or_else(|| panic!("no {action} in {page}")).1;
    field(form, "csrf")
}

/// What the script would ask the browser for.
fn options(page: &str) -> String {
    let text = page.split_once("data-options=\"").unwrap().1.split_once('"').unwrap().0;
    text.replace("&#34;", "\"").replace("&quot;", "\"")
}

async fn text(response: Response) -> String {
    response.text().await.unwrap()
}

impl Browser {
    async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status(), 200, "{path}");
        text(response).await
    }

    /// Sends one of the forms of the second step or of the page that confirms.
    async fn show(&self, path: &str, more: &[(&str, &str)]) -> Response {
        let page = self.page(path).await;
        let action = path.split('?').next().unwrap();
        let (csrf, to, acr) = (csrf(&page, action), field(&page, "return_to"), field(&page, "acr"));
        let to = to.replace("&#38;", "&");
        let mut form = vec![("csrf", &*csrf), ("return_to", &*to), ("acr", &*acr)];
        form.extend(more);
        self.post(action, &form).await
    }

    async fn show_code(&self, path: &str, code: &Secret) -> Response {
        self.show(path, &[("way", "totp"), ("code", code.expose())]).await
    }

    /// Turns two-step sign-in on; the app and the page with the recovery codes.
    async fn turn_on(&self, site: &Site) -> (App, String) {
        let page = self.page("/account/two-step").await;
        let form = [("csrf", &*csrf(&page, "/account/two-step/start"))];
        let page = self.once(self.post("/account/two-step/start", &form).await).await;
        assert!(page.contains("src=\"data:image/svg+xml;base64,"), "{page}");
        let key = page.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0;
        let app = App::new(key);
        let csrf = csrf(&page, "/account/two-step/confirm");
        let wrong = self.post("/account/two-step/confirm", &[("csrf", &csrf), ("code", "000000")]).await;
        assert_eq!(wrong.status(), 422);
        let wrong = text(wrong).await;
        assert!(wrong.contains(key) && wrong.contains("role=\"alert\""), "the same key again: {wrong}");
        let code = app.code(site.clock.now());
        let done = self.post("/account/two-step/confirm", &[("csrf", &csrf), ("code", code.expose())]).await;
        (app, self.once(done).await)
    }

    /// Adds a passkey as the script would.
    async fn add_passkey(&self, site: &Site, name: &str) -> Authenticator {
        let mut authenticator = Authenticator::new(&site.base);
        let page = self.page("/account/passkeys").await;
        let credential = authenticator.create(&options(&page));
        let (csrf, state) = (csrf(&page, "/account/passkeys/add"), field(&page, "state"));
        let form = [("csrf", &*csrf), ("state", &*state), ("credential", &*credential), ("name", name)];
        let done = self.post("/account/passkeys/add", &form).await;
        assert!(done.status() == 200 || done.status() == 303, "{}", text(done).await);
        authenticator
    }
}

fn codes(page: &str) -> Vec<Secret> {
    let codes = page.split("<li><code>").skip(1).map(|rest| Secret::new(rest.split_once('<').unwrap().0));
    codes.collect()
}

fn outcomes(site: &Site, action: &str) -> Vec<String> {
    let events = site.events.lock().unwrap();
    events.iter().filter(|event| event.action == action).map(|event| event.outcome.clone()).collect()
}

fn session_cookie(response: &Response) -> Option<String> {
    let lines = response.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap().to_owned());
    lines
        .filter_map(|line| line.strip_prefix("dragoman=").map(|rest| rest.split(';').next().unwrap().to_owned()))
        .next_back()
}

async fn is_signed_in(site: &Site, cookie: &str) -> bool {
    let request = site.program().get(site.url("/account/two-step")).header("cookie", format!("dragoman={cookie}"));
    request.send().await.unwrap().status() == 200
}

/// `acr` and `auth_time` of the access token that a browser's approval leads to.
async fn strength(site: &Site, browser: &Browser, changes: &[(&str, &str)]) -> (String, i64) {
    let client = site.client_id().await;
    let code = browser.code(&site.authorize_path(&client, changes)).await;
    let (status, tokens) = site.redeem(&client, &code).await;
    assert_eq!(status, 200, "{tokens}");
    let claims = tokens["access_token"].as_str().unwrap().split('.').nth(1).and_then(from_base64url).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    (claims["acr"].as_str().unwrap().to_owned(), claims["auth_time"].as_i64().unwrap())
}

#[tokio::test]
async fn two_step_sign_in_is_turned_on_used_and_turned_off() {
    let site = Site::start().await;
    let ann = site.browser().signed_in(ANN).await;
    assert_eq!(strength(&site, &ann, &[]).await.0, "aal1");
    let (app, shown) = ann.turn_on(&site).await;
    let kept = codes(&shown);
    assert_eq!(kept.len(), 10);
    let page = ann.page("/account/two-step").await;
    assert!(page.contains(">On<") && page.contains("<strong>10</strong>"), "{page}");
    assert!(kept.iter().all(|code| !page.contains(code.expose())), "shown once");
    assert_eq!(strength(&site, &ann, &[]).await.0, "aal2", "both factors were shown in this session");

    // A password alone leads to the second step, and to nothing else.
    site.clock.advance(Duration::from_secs(60));
    let other = site.browser();
    let first = other.log_in(ANN, PASSWORD, "/account/passkeys").await;
    let step = location(&first);
    assert_eq!(step, "/login/two-step?return_to=%2Faccount%2Fpasskeys");
    assert_eq!(session_cookie(&first), None);
    assert_eq!(site.rows("sessions").await, 1);
    assert!(location(&other.get("/account/two-step").await).starts_with("/login?"));
    let wrong = other.show_code(&step, &Secret::new("000000")).await;
    assert_eq!((wrong.status().as_u16(), session_cookie(&wrong)), (401, None));
    let refused = other.show(&step, &[("way", "password"), ("password", PASSWORD)]).await;
    assert_eq!((refused.status().as_u16(), session_cookie(&refused)), (400, None));
    let done = other.show_code(&step, &app.code(site.clock.now())).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, "/account/passkeys".to_owned()));
    let now = site.clock.now() / 1000;
    assert_eq!(strength(&site, &other, &[]).await, ("aal2".to_owned(), now));
    assert!(location(&other.get(&step).await).starts_with("/login?"), "the stage is gone");
    assert_eq!(outcomes(&site, "login.totp"), ["auth_invalid", "ok"]);

    // Who has no other factor left goes back to the password alone.
    let page = other.page("/account/two-step").await;
    let off = other.post("/account/two-step/off", &[("csrf", &csrf(&page, "/account/two-step/off"))]).await;
    assert_eq!(off.status(), 303);
    assert!(other.page("/account/two-step").await.contains(">Off<"));
    assert_eq!(location(&site.browser().log_in(ANN, PASSWORD, "/").await), "/");
    assert_eq!(outcomes(&site, "account.totp"), ["ok", "auth_invalid", "ok", "ok"]);
}

#[tokio::test]
async fn b28_codes_at_the_log_in_do_not_work_twice_and_are_slowed_down() {
    let site = Site::start().await;
    let (app, shown) = site.browser().signed_in(ANN).await.turn_on(&site).await;
    site.clock.advance(Duration::from_secs(60));
    let (ann, thief) = (site.browser(), site.browser());
    let step = location(&ann.log_in(ANN, PASSWORD, "/").await);
    assert_eq!(location(&thief.log_in(ANN, PASSWORD, "/").await), step);
    let code = app.code(site.clock.now());
    assert_eq!(ann.show_code(&step, &code).await.status(), 303);
    assert_eq!(thief.show_code(&step, &code).await.status(), 401, "seen over the shoulder");
    let recovery = &codes(&shown)[0];
    let form = [("way", "recovery_code"), ("code", recovery.expose())];
    assert_eq!(thief.show(&step, &form).await.status(), 303);
    let again = site.browser();
    again.log_in(ANN, PASSWORD, "/").await;
    assert_eq!(again.show(&step, &form).await.status(), 401, "a recovery code works once");
    assert_eq!(outcomes(&site, "login.recovery_code"), ["ok", "auth_invalid"]);
    assert_eq!(again.show_code(&step, &Secret::new("000000")).await.status(), 401);
    let late = again.show_code(&step, &app.code(site.clock.now() + 30_000)).await;
    assert_eq!((late.status().as_u16(), late.headers()["retry-after"].to_str().unwrap()), (429, "60"));
    assert_eq!(outcomes(&site, "login.totp"), ["ok", "auth_invalid", "auth_invalid", "rate_limited"]);
    site.clock.advance(Duration::from_secs(60));
    assert_eq!(again.show_code(&step, &app.code(site.clock.now())).await.status(), 303);
}

#[tokio::test]
async fn the_stage_between_two_factors_is_of_one_browser_for_ten_minutes_and_no_session() {
    let site = Site::start().await;
    let (app, _) = site.browser().signed_in(ANN).await.turn_on(&site).await;
    site.clock.advance(Duration::from_secs(60));
    let ann = site.browser();
    let first = ann.log_in(ANN, PASSWORD, "/").await;
    let mut lines = first.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let stage = lines.rfind(|line| line.starts_with("dragoman-step=")).unwrap().to_owned();
    assert!(stage.contains("HttpOnly") && stage.contains("SameSite=Lax") && stage.contains("Path=/"), "{stage}");
    let stage = stage.split(';').next().unwrap().to_owned();
    // Stolen without the browser's form cookie, with another's, or as a session, it is nothing.
    let other = site.browser();
    let page = other.get("/login").await;
    let form_cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let as_session = stage.replacen("dragoman-step=", "dragoman=", 1);
    for cookies in [stage.clone(), format!("{form_cookie}; {stage}"), format!("{form_cookie}; {as_session}")] {
        for path in ["/login/two-step", "/account/two-step"] {
            let request = site.program().get(site.url(path)).header("cookie", &cookies);
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 303, "{cookies} {path}");
            assert!(location(&answer).starts_with("/login?"), "{cookies} {path}");
        }
    }
    // A form that our page did not send tries nothing.
    let code = app.code(site.clock.now());
    let foreign = ann.post("/login/two-step", &[("csrf", "x"), ("way", "totp"), ("code", code.expose())]).await;
    assert_eq!(foreign.status(), 403);
    assert_eq!(outcomes(&site, "login.two_step"), ["form_refused"]);
    site.clock.advance(Duration::from_secs(599));
    assert_eq!(ann.get("/login/two-step").await.status(), 200);
    site.clock.advance(Duration::from_secs(1));
    assert!(location(&ann.get("/login/two-step").await).starts_with("/login?"));
}

#[tokio::test]
async fn a_passkey_is_added_signs_in_alone_and_as_second_factor_and_is_removed() {
    let site = named().await;
    let ann = site.browser().signed_in(ANN).await;
    let mut key = ann.add_passkey(&site, "Laptop").await;
    let page = ann.page("/account/passkeys").await;
    assert!(page.contains("value=\"Laptop\"") && page.contains("never"), "{page}");
    // Alone, without a word about who it is.
    let other = site.browser();
    let page = other.page("/login").await;
    assert!(page.contains("href=\"/login/passkey?return_to=%2F\""), "{page}");
    let page = other.page("/login/passkey?return_to=/account").await;
    assert!(!page.contains("ann@example.com"));
    let credential = key.get(&options(&page));
    let form = [
        ("csrf", &*field(&page, "csrf")),
        ("return_to", "/account/two-step"),
        ("state", &*field(&page, "state")),
        ("credential", &*credential),
    ];
    let done = other.post("/login/passkey", &form).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, "/account/two-step".to_owned()));
    assert_eq!(strength(&site, &other, &[("acr_values", "aal2")]).await.0, "aal2");
    assert!(ann.page("/account/passkeys").await.contains("<td>2027-01-15</td>\n<td>2027-01-15</td>"));
    // The same answer again.
    assert_eq!(other.post("/login/passkey", &form).await.status(), 400);
    // After the password.
    let third = site.browser();
    let step = location(&third.log_in(ANN, PASSWORD, "/").await);
    assert!(step.starts_with("/login/two-step"));
    let page = third.page(&step).await;
    let (credential, state) = (key.get(&options(&page)), field(&page, "state"));
    let form = [("csrf", &*field(&page, "csrf")), ("way", "passkey"), ("state", &*state), ("credential", &*credential)];
    assert_eq!(third.post("/login/two-step", &form).await.status(), 303);
    assert_eq!(strength(&site, &third, &[]).await.0, "aal2");
    assert_eq!(outcomes(&site, "login.passkey"), ["ok", "passkey_counter", "ok"]);

    let page = third.page("/account/passkeys").await;
    let (token, id) = (csrf(&page, "/account/passkeys/rename"), field(&page, "id"));
    let renamed = [("csrf", &*token), ("id", &*id), ("name", "<Phone>")];
    assert_eq!(third.post("/account/passkeys/rename", &renamed).await.status(), 303);
    assert!(third.page("/account/passkeys").await.contains("value=\"&#60;Phone&#62;\""));
    // Bob sees and touches none of it.
    let bob = site.browser().signed_in("bob@example.com").await;
    bob.add_passkey(&site, "Bob's").await;
    let page = bob.page("/account/passkeys").await;
    assert!(!page.contains("Phone"));
    let bobs = csrf(&page, "/account/passkeys/remove");
    assert_eq!(bob.post("/account/passkeys/remove", &[("csrf", &bobs), ("id", &id)]).await.status(), 404);
    assert_eq!(third.post("/account/passkeys/remove", &[("csrf", &token), ("id", &id)]).await.status(), 303);
    assert_eq!(location(&site.browser().log_in(ANN, PASSWORD, "/").await), "/", "no second factor is left");
    assert_eq!(outcomes(&site, "account.passkey"), ["ok", "ok", "ok", "not_found", "ok"]);
}

#[tokio::test]
async fn b27_whatever_is_wrong_with_a_passkeys_answer_is_refused() {
    let site = named().await;
    let ann = site.browser().signed_in(ANN).await;
    let mut key = ann.add_passkey(&site, "Laptop").await;
    let bob = site.browser().signed_in("bob@example.com").await;
    let mut bobs = bob.add_passkey(&site, "Bob's").await;
    let right = (site.base.clone(), "localhost".to_owned());

    // Without knowing who it is.
    type Spoil = fn(&mut Authenticator);
    let cases: [(&str, Spoil); 6] = [
        ("passkey_origin", |key| key.origin = "https://evil.example".into()),
        ("passkey_origin", |key| key.origin = "http://localhost:1".into()),
        ("passkey_rp_id", |key| key.rp_id = "evil.example".into()),
        ("passkey_unverified", |key| key.verifies_user = false),
        ("passkey_counter", |key| key.counter = 0),
        ("passkey_unknown", |key| key.user_handle = Vec::new()),
    ];
    let handle = key.user_handle.clone();
    for (expected, spoil) in cases {
        let stranger = site.browser();
        let page = stranger.page("/login/passkey").await;
        let counter = key.counter;
        spoil(&mut key);
        let credential = key.get(&options(&page));
        (key.origin, key.rp_id) = right.clone();
        (key.verifies_user, key.counter, key.user_handle) = (true, counter, handle.clone());
        let form = [("csrf", &*field(&page, "csrf")), ("state", &*field(&page, "state")), ("credential", &*credential)];
        let refused = stranger.post("/login/passkey", &form).await;
        assert_eq!((refused.status().as_u16(), session_cookie(&refused)), (400, None), "{expected}");
        assert_eq!(outcomes(&site, "login.passkey").last().unwrap(), expected);
    }
    // The answer to another challenge, another browser's page, a handle of somebody else, a credential that nobody has.
    let (mine, theirs) = (site.browser(), site.browser());
    let (page, other) = (mine.page("/login/passkey").await, theirs.page("/login/passkey").await);
    let renewed = mine.page("/login/passkey").await;
    let mut unknown = Authenticator::new(&site.base);
    unknown.user_handle = handle.clone();
    let answered = key.get(&options(&page));
    bobs.user_handle = handle.clone();
    let cases = [
        ("passkey_challenge", field(&renewed, "state"), answered.clone()),
        ("passkey_expired", field(&other, "state"), answered.clone()),
        ("passkey_expired", String::new(), answered),
        ("passkey_unknown", field(&page, "state"), bobs.get(&options(&page))),
        ("passkey_unknown", field(&page, "state"), unknown.get(&options(&page))),
        ("passkey_invalid", field(&page, "state"), "{}".into()),
        ("passkey_invalid", field(&page, "state"), String::new()),
    ];
    for (expected, state, credential) in cases {
        let form = [("csrf", &*field(&page, "csrf")), ("state", &*state), ("credential", &*credential)];
        let refused = mine.post("/login/passkey", &form).await;
        assert_eq!((refused.status().as_u16(), session_cookie(&refused)), (400, None), "{expected}");
        assert_eq!(outcomes(&site, "login.passkey").last().unwrap(), expected);
    }
    // As second factor: Bob's passkey for Ann's log-in.
    let step = location(&mine.log_in(ANN, PASSWORD, "/").await);
    let page = mine.page(&step).await;
    bobs.user_handle = Vec::new();
    let (credential, state) = (bobs.get(&options(&page)), field(&page, "state"));
    let form = [("csrf", &*field(&page, "csrf")), ("way", "passkey"), ("state", &*state), ("credential", &*credential)];
    assert_eq!(mine.post("/login/two-step", &form).await.status(), 400);
    assert_eq!(outcomes(&site, "login.passkey").last().unwrap(), "passkey_unknown");
    // Adding: an unverified one, and one made on another page.
    for (expected, origin, verifies) in
        [("passkey_unverified", site.base.as_str(), false), ("passkey_origin", "http://localhost:1", true)]
    {
        let mut bad = Authenticator::new(&site.base);
        (bad.origin, bad.verifies_user) = (origin.to_owned(), verifies);
        let page = ann.page("/account/passkeys").await;
        let (credential, state) = (bad.create(&options(&page)), field(&page, "state"));
        let token = csrf(&page, "/account/passkeys/add");
        let form = [("csrf", &*token), ("state", &*state), ("credential", &*credential)];
        assert_eq!(ann.post("/account/passkeys/add", &form).await.status(), 400, "{expected}");
        assert_eq!(outcomes(&site, "account.passkey").last().unwrap(), expected);
    }
}

#[tokio::test]
async fn an_address_without_a_name_has_no_passkeys_and_says_so() {
    let site = Site::start().await;
    assert!(!site.browser().page("/login").await.contains("passkey"));
    assert!(site.browser().page("/login/passkey").await.contains("cannot have passkeys"));
    let ann = site.browser().signed_in(ANN).await;
    assert!(ann.page("/account/passkeys").await.contains("cannot have passkeys"));
}

#[tokio::test]
async fn b11_the_pages_of_passkeys_load_our_script_and_the_others_of_an_account_none() {
    let site = named().await;
    let ann = site.browser().signed_in(ANN).await;
    for (path, scripted) in [
        ("/login", false),
        ("/", false),
        ("/account/two-step", false),
        ("/account/passkeys", true),
        ("/login/passkey", true),
        ("/login/confirm", true),
    ] {
        let response = ann.get(path).await;
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert_eq!(policy.contains("script-src 'self';"), scripted, "{path}: {policy}");
        assert!(policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    let page = ann.page("/account/passkeys").await;
    assert!(page.contains("<noscript>"));
    let script = page.split_once("<script src=\"").unwrap().1.split_once('"').unwrap().0;
    let answer = ann.get(script).await;
    assert_eq!(answer.headers()["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(answer.headers()["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(ann.get("/assets/passkey.js").await.status(), 404);
}

#[tokio::test]
async fn b02_to_confirm_cycles_the_session_and_a_change_that_comes_too_late_is_refused() {
    let site = Site::start().await;
    let ann = site.browser();
    let old = session_cookie(&ann.log_in(ANN, PASSWORD, "/").await).unwrap();
    let page = ann.page("/account/two-step").await;
    let token = csrf(&page, "/account/two-step/start");
    site.clock.advance(Duration::from_secs(15 * 60));
    let late = ann.post("/account/two-step/start", &[("csrf", &token)]).await;
    assert_eq!(location(&late), "/login/confirm?return_to=%2Faccount%3Fagain%3D1");
    assert_eq!(outcomes(&site, "console.form"), ["step_up_required"]);
    let page = ann.page("/account/two-step").await;
    let confirm = "/login/confirm?return_to=%2Faccount%2Ftwo-step";
    assert!(page.contains(confirm) && !page.contains("/account/two-step/start"), "{page}");
    let wrong = ann.show(confirm, &[("way", "password"), ("password", "wrong horse battery")]).await;
    assert_eq!(wrong.status(), 401);
    let foreign = ann.post("/login/confirm", &[("csrf", "x"), ("way", "password"), ("password", PASSWORD)]).await;
    assert_eq!(foreign.status(), 403);
    assert!(is_signed_in(&site, &old).await);
    let done = ann.show(confirm, &[("way", "password"), ("password", PASSWORD)]).await;
    assert_eq!((done.status().as_u16(), location(&done)), (303, "/account/two-step".to_owned()));
    let new = session_cookie(&done).unwrap();
    assert_ne!(old, new);
    assert!(!is_signed_in(&site, &old).await && is_signed_in(&site, &new).await);
    assert_eq!(strength(&site, &ann, &[]).await, ("aal1".to_owned(), site.clock.now() / 1000));
    assert!(ann.page("/account/two-step").await.contains("/account/two-step/start"));
    // Nobody is there: the log-in page, and then on.
    assert!(location(&site.browser().get(confirm).await).starts_with("/login?return_to="));
    for elsewhere in ["https://evil.example", "//evil.example", "/login"] {
        let path = format!("/login/confirm?return_to={elsewhere}");
        assert_eq!(location(&ann.show(&path, &[("way", "password"), ("password", PASSWORD)]).await), "/");
    }
}

#[tokio::test]
async fn b02_who_has_a_second_factor_confirms_with_it() {
    let site = Site::start().await;
    let ann = site.browser();
    ann.log_in(ANN, PASSWORD, "/").await;
    ann.turn_on(&site).await;
    site.clock.advance(Duration::from_secs(16 * 60));
    let page = ann.page("/login/confirm?return_to=%2Faccount").await;
    assert!(!page.contains("Continue with the password"), "{page}");
    let form = [("csrf", csrf(&page, "/login/confirm")), ("way", "password".into()), ("password", PASSWORD.into())];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(ann.post("/login/confirm", &form).await.status(), 400, "an old second proof does not become fresh");
}

#[tokio::test]
async fn a_sensitive_page_sends_who_is_not_fresh_to_confirm_and_back() {
    let site = Site::start().await;
    let here = "/account/sensitive?page=2";
    assert_eq!(
        location(&site.browser().get(here).await),
        "/login?return_to=%2Faccount%2Fsensitive%3Fpage%3D2",
        "nobody is there"
    );
    let ann = site.browser().signed_in(ANN).await;
    site.clock.advance(Duration::from_secs(15 * 60 - 1));
    assert_eq!(ann.page(here).await, "the sensitive page");
    site.clock.advance(Duration::from_secs(1));
    let confirm = location(&ann.get(here).await);
    assert_eq!(confirm, "/login/confirm?return_to=%2Faccount%2Fsensitive%3Fpage%3D2");
    // A form that comes too late is refused, on a way that leads back to its page, if that is one of ours.
    for (from, to) in [
        (here, "%2Faccount%2Fsensitive%3Fpage%3D2%26again%3D1"),
        ("/api/v1/x", "%2F%3Fagain%3D1"),
        (".evil.example/w", "%2F%3Fagain%3D1"),
    ] {
        let request = ann.http.post(site.url("/account/sensitive")).header("referer", format!("{}{from}", site.base));
        let late = request.send().await.unwrap();
        assert_eq!(location(&late), format!("/login/confirm?return_to={to}"), "{from}");
    }
    assert_eq!(outcomes(&site, "console.form"), ["step_up_required"; 3]);
    let done = ann.show(&confirm, &[("way", "password"), ("password", PASSWORD)]).await;
    assert_eq!(location(&done), here);
    assert_eq!(ann.page(here).await, "the sensitive page");
}

#[tokio::test]
async fn who_has_a_second_factor_changes_it_with_that_factor_only() {
    let site = Site::start().await;
    // A session from before, in another browser: it has shown one factor.
    let older = site.browser().signed_in(ANN).await;
    let (app, _) = site.browser().signed_in(ANN).await.turn_on(&site).await;
    site.clock.advance(Duration::from_secs(60));
    let page = older.page("/account/two-step").await;
    assert!(!page.contains("/account/two-step/off"), "{page}");
    let confirm = "/login/confirm?return_to=%2Faccount%2Ftwo-step&acr=aal2";
    assert!(page.contains(&confirm.replace('&', "&#38;")), "{page}");
    assert!(!older.page(confirm).await.contains("type=\"password\""));
    let refused = older.show(confirm, &[("way", "password"), ("password", PASSWORD)]).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(older.show_code(confirm, &app.code(site.clock.now())).await.status(), 303);
    assert!(older.page("/account/two-step").await.contains("/account/two-step/off"));
}

#[tokio::test]
async fn a_client_that_asks_for_aal2_gets_it_or_hears_that_it_did_not() {
    let site = Site::start().await;
    let server: Value = {
        let url = site.url("/.well-known/oauth-authorization-server");
        site.program().get(url).send().await.unwrap().json().await.unwrap()
    };
    assert_eq!(server["acr_values_supported"], serde_json::json!(["aal1", "aal2"]));
    let client = site.client_id().await;
    let strong = site.authorize_path(&client, &[("acr_values", "urn:unknown aal2")]);
    let ann = site.browser().signed_in(ANN).await;
    // Any of several values is good enough, and unknown ones ask for nothing.
    for weak in ["aal1", "aal2 aal1", "urn:unknown"] {
        let path = site.authorize_path(&client, &[("acr_values", weak)]);
        assert!(location(&ann.get(&path).await).starts_with("/consent?"), "{weak}");
    }
    // Without a second factor: how to add one, or back to the client.
    let confirm = location(&ann.get(&strong).await);
    assert!(confirm.starts_with("/login/confirm?return_to=") && confirm.ends_with("&acr=aal2"), "{confirm}");
    let page = ann.page(&confirm).await;
    assert!(page.contains("href=\"/account/two-step\"") && page.contains("href=\"/account/passkeys\""), "{page}");
    let cancel = page.split_once("<a href=\"/api/oauth/authorize").unwrap().1.split_once('"').unwrap().0;
    let cancel = format!("/api/oauth/authorize{}", cancel.replace("&#38;", "&"));
    let back = refresh(&ann.get(&cancel).await);
    assert!(back.starts_with(&format!("{REDIRECT}?")), "{back}");
    assert_eq!(param(&back, "error").as_deref(), Some("unmet_authentication_requirements"));
    assert_eq!((param(&back, "state").as_deref(), param(&back, "iss")), (Some("s-1"), Some(site.base.clone())));
    // No page may be shown.
    let silent = site.authorize_path(&client, &[("acr_values", "aal2"), ("prompt", "none")]);
    assert_eq!(param(&location(&ann.get(&silent).await), "error").as_deref(), Some("interaction_required"));
    let twice = format!("{strong}&acr_values=aal1");
    assert_eq!(param(&location(&ann.get(&twice).await), "error").as_deref(), Some("invalid_request"));

    // With one: it is asked for before consent, then the token says so.
    let older = site.browser().signed_in(ANN).await;
    let (app, _) = ann.turn_on(&site).await;
    site.clock.advance(Duration::from_secs(60));
    let confirm = location(&older.get(&strong).await);
    assert!(older.page(&confirm).await.contains("name=\"way\" value=\"totp\""));
    let done = older.show_code(&confirm, &app.code(site.clock.now())).await;
    assert_eq!(done.status(), 303);
    let code = older.code(&location(&done)).await;
    let (_, tokens) = site.redeem(&client, &code).await;
    let claims = tokens["access_token"].as_str().unwrap().split('.').nth(1).and_then(from_base64url).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["acr"], &claims["auth_time"]), (&"aal2".into(), &(site.clock.now() / 1000).into()));
}

#[tokio::test]
async fn a21_to_log_in_again_takes_the_second_factor_again() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in(ANN).await;
    let (app, _) = ann.turn_on(&site).await;
    for fresh in [("prompt", "login"), ("max_age", "30")] {
        site.clock.advance(Duration::from_secs(60));
        let login = location(&ann.get(&site.authorize_path(&client, &[fresh])).await);
        assert!(login.starts_with("/login?"), "{login}");
        let back = param(&site.url(&login), "return_to").unwrap();
        let step = location(&ann.log_in(ANN, PASSWORD, &back).await);
        assert!(step.starts_with("/login/two-step?"), "{step}");
        // The old session does not count meanwhile.
        assert!(location(&ann.get(&back).await).starts_with("/login?"), "{fresh:?}");
        let done = ann.show_code(&step, &app.code(site.clock.now())).await;
        assert_eq!(done.status(), 303);
        assert!(location(&ann.get(&location(&done)).await).starts_with("/consent?"), "{fresh:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_browser_with_a_virtual_authenticator_adds_and_uses_a_passkey() {
    for colour in ["light", "dark"] {
        let site = named().await;
        let clients = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        assert!(clients.join("node_modules").exists(), "run `npm ci --ignore-scripts` in tests/clients");
        let pictures = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("passkeys");
        let output = tokio::process::Command::new("node")
            .current_dir(clients)
            .args(["passkey.mjs", &site.base, ANN, PASSWORD])
            .arg(pictures)
            .arg(colour)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(120), output).await.unwrap().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&said["codes"], &said["scanned"]), (&10.into(), &true.into()), "{said}");
        assert_eq!(said["said"], "This device has a passkey for your account already.");
        assert!(said["row"].as_str().unwrap().contains("2027-01-15"), "{said}");
        assert!(said["unverified"].as_str().unwrap().starts_with("No passkey was used"), "{said}");
        assert!(said["without"].as_str().unwrap().contains("needs JavaScript"), "{said}");
        assert_eq!(outcomes(&site, "login.passkey"), ["ok", "ok"]);
    }
}
