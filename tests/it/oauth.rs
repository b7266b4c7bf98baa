//! The OAuth endpoints and pages as clients and browsers meet them. Names are those of the attack catalogue.

use serde_json::{Value, json};

use crate::site::{Browser, PASSWORD, REDIRECT, Site, VERIFIER, field, location, param, refresh};

/// What a client learns when the authorization request is answered by redirect.
fn error_of(site: &Site, url: &str) -> String {
    assert!(url.starts_with(&format!("{REDIRECT}?")), "{url}");
    assert_eq!(param(url, "iss").as_deref(), Some(site.base.as_str()), "{url}");
    assert_eq!(param(url, "code"), None);
    param(url, "error").unwrap()
}

#[tokio::test]
async fn a_client_that_knows_one_address_ends_up_with_working_tokens() {
    let site = Site::start().await;
    // The challenge leads to the metadata, the metadata to the endpoints.
    let response = site.program().post(site.url("/mcp")).body("not even json").send().await.unwrap();
    assert_eq!(response.status(), 401);
    let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
    let metadata = site.url("/.well-known/oauth-protected-resource/mcp");
    assert_eq!(
        challenge,
        format!("Bearer resource_metadata=\"{metadata}\", scope=\"data_agent:read data_agent:write ontologies:read\"")
    );
    let resource: Value = site.program().get(metadata).send().await.unwrap().json().await.unwrap();
    assert_eq!(resource["resource"], site.url("/mcp"));
    let issuer = resource["authorization_servers"][0].as_str().unwrap();
    let server = format!("{issuer}/.well-known/oauth-authorization-server");
    let server: Value = site.program().get(server).send().await.unwrap().json().await.unwrap();
    assert_eq!(server["issuer"], issuer);
    assert_eq!(server["authorization_endpoint"], site.url("/api/oauth/authorize"));
    assert_eq!(server["token_endpoint"], site.url("/api/oauth/token"));
    assert_eq!(server["registration_endpoint"], site.url("/api/oauth/register"));

    let client = site.client_id().await;
    let browser = site.browser();
    let start = browser.get(&site.authorize_path(&client, &[("resource", &site.url("/mcp"))])).await;
    let login = location(&start);
    assert!(login.starts_with("/login?return_to="), "{login}");
    let page = browser.get(&login).await.text().await.unwrap();
    let back = field(&page, "return_to").replace("&#38;", "&").replace("&amp;", "&");
    let done = browser.log_in("ann@example.com", PASSWORD, &back).await;
    assert_eq!(done.status(), 303);
    let code = browser.code(&location(&done)).await;

    let (status, tokens) = site.redeem(&client, &code).await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 600);
    assert_eq!(tokens["scope"], "data_agent:read data_agent:write");
    let access = tokens["access_token"].as_str().unwrap();
    let answer = site.call("/mcp", access).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), format!("{} admin", site.demo.id));
    assert_eq!(site.call("/api/v1/ext/who", access).await.status(), 200);

    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("client_id", &client)];
    let (status, renewed) = site.token(&form).await;
    assert_eq!(status, 200, "{renewed}");
    assert_ne!(renewed["refresh_token"], tokens["refresh_token"]);
    assert_eq!(site.call("/mcp", renewed["access_token"].as_str().unwrap()).await.status(), 200);

    let actions: Vec<_> =
        site.events.lock().unwrap().iter().map(|event| (event.action, event.outcome.clone())).collect();
    for action in ["oauth.register", "login.password", "oauth.authorize", "oauth.consent", "oauth.token"] {
        assert!(actions.contains(&(action, "ok".to_owned())), "{action} is not in {actions:?}");
    }
    let events = site.events.lock().unwrap();
    let token = events.iter().find(|event| event.action == "oauth.token").unwrap();
    assert_eq!((token.org, token.principal.clone()), (Some(site.demo.id), format!("user:{}", site.ann.id)));
}

#[tokio::test]
async fn a01_a02_a03_a13_an_unproven_destination_is_never_redirected_to() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let browser = site.browser();
    let mut paths = vec![site.authorize_path("dgc_unknown", &[])];
    for redirect in [
        "",
        "https://evil.example/callback",
        "http://127.0.0.1:43210/callback/",
        "http://localhost:43210/callback",
        "http://127.0.0.1:43210/callback#x",
        "http://127.0.0.1:43210@evil.example/callback",
        "javascript:alert(1)",
    ] {
        paths.push(site.authorize_path(&client, &[("redirect_uri", redirect)]));
    }
    for repeated in ["&client_id=x", "&redirect_uri=https%3A%2F%2Fevil.example%2Fcallback"] {
        paths.push(site.authorize_path(&client, &[]) + repeated);
    }
    for path in paths {
        let response = browser.get(&path).await;
        assert_eq!(response.status(), 400, "{path}");
        assert!(response.headers().get("location").is_none() && response.headers().get("refresh").is_none());
        assert!(!response.text().await.unwrap().contains("evil.example"));
    }
}

#[tokio::test]
async fn a08_a09_a10_a11_a12_a13_a14_a16_a19_a20_every_later_error_goes_to_the_client_with_state_and_issuer() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let browser = site.browser();
    let foreign = "https://elsewhere.example/mcp";
    let sibling = site.url("/mcp-evil");
    let long = "a".repeat(129);
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("response_type", "")], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_type", "code token")], "unsupported_response_type"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "s256")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("code_challenge", &long)], "invalid_request"),
        (&[("code_challenge", "!aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], "invalid_request"),
        (&[("scope", "data_agent:read root")], "invalid_scope"),
        (&[("resource", foreign)], "invalid_target"),
        (&[("resource", &sibling)], "invalid_target"),
        (&[("resource", "/mcp")], "invalid_target"),
        (&[("request", "eyJ")], "request_not_supported"),
        (&[("request_uri", "https://evil.example/r")], "request_uri_not_supported"),
        (&[("prompt", "none")], "login_required"),
        (&[("prompt", "none login")], "invalid_request"),
        (&[("max_age", "soon")], "invalid_request"),
    ];
    for (changes, expected) in cases {
        let response = browser.get(&site.authorize_path(&client, changes)).await;
        assert_eq!(response.status(), 303, "{changes:?}");
        let url = location(&response);
        assert_eq!(error_of(&site, &url), *expected, "{changes:?}");
        assert_eq!(param(&url, "state").as_deref(), Some("s-1"));
    }
    for repeated in ["&scope=x", "&state=2", "&resource=a&resource=b", "&code_challenge=x"] {
        let response = browser.get(&(site.authorize_path(&client, &[]) + repeated)).await;
        assert_eq!(error_of(&site, &location(&response)), "invalid_request", "{repeated}");
    }
    let person = site.browser().signed_in("ann@example.com").await;
    let response = person.get(&site.authorize_path(&client, &[("prompt", "none")])).await;
    assert_eq!(error_of(&site, &location(&response)), "consent_required");
    assert_eq!(site.rows("pending").await, 0);
}

#[tokio::test]
async fn a17_a_foreign_and_a_missing_workspace_look_the_same() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let person = site.browser().signed_in("ann@example.com").await;
    let mut answers = Vec::new();
    for slug in ["others", "nowhere"] {
        let resource = site.url(&format!("/t/{slug}/mcp"));
        let response = person.get(&site.authorize_path(&client, &[("resource", &resource)])).await;
        assert_eq!(error_of(&site, &location(&response)), "access_denied");
        answers.push(location(&response));
        // Coming from the log-in form it is a page of ours that sends the browser on.
        let returned = site.authorize_path(&client, &[("resource", &resource), ("login_after", "0")]);
        let response = person.get(&returned).await;
        assert_eq!((response.status().as_u16(), refresh(&response)), (200, answers[0].clone()));
    }
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn a21_prompt_login_and_max_age_ask_for_the_password_again() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let person = site.browser().signed_in("ann@example.com").await;
    let response = person.get(&site.authorize_path(&client, &[("prompt", "login")])).await;
    assert!(location(&response).starts_with("/login?"), "even in the same millisecond");
    site.clock.advance(std::time::Duration::from_secs(60));
    for fresh in [("prompt", "login"), ("max_age", "0"), ("max_age", "59")] {
        let response = person.get(&site.authorize_path(&client, &[fresh])).await;
        let login = location(&response);
        assert!(login.starts_with("/login?"), "{fresh:?} {login}");
        let back = param(&site.url(&login), "return_to").unwrap();
        // Returning without having logged in asks again; having logged in it goes on.
        assert!(location(&person.get(&back).await).starts_with("/login?"), "{fresh:?}");
        let again = site.browser().signed_in("ann@example.com").await;
        assert!(location(&again.get(&back).await).starts_with("/consent?"), "{fresh:?}");
    }
    let response = person.get(&site.authorize_path(&client, &[("max_age", "60")])).await;
    assert!(location(&response).starts_with("/consent?"));
}

#[tokio::test]
async fn a22_a23_a24_state_comes_back_exactly_and_the_issuer_once() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let person = site.browser().signed_in("ann@example.com").await;
    for state in ["", "a b&c=d\"<script>alert(1)</script>\r\nSet-Cookie: x=é", &"x".repeat(4096)] {
        for decision in ["approve", "deny"] {
            let page = person.consent_page(&site.authorize_path(&client, &[("state", state)])).await;
            let url = refresh(&person.answer(&page, decision, &[]).await);
            assert_eq!(param(&url, "state").unwrap_or_default(), state);
            assert_eq!(url.contains("state="), !state.is_empty());
            assert_eq!(param(&url, "iss").as_deref(), Some(site.base.as_str()));
            assert_eq!(param(&url, "code").is_some(), decision == "approve");
        }
    }
}

#[tokio::test]
async fn a26_a27_methods_types_and_sizes() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let path = site.authorize_path(&client, &[]);
    let program = site.program();
    for method in ["PUT", "DELETE", "HEAD"] {
        let method = method.parse::<reqwest::Method>().unwrap();
        assert_eq!(program.request(method.clone(), site.url(&path)).send().await.unwrap().status(), 405, "{method}");
    }
    let query = path.split_once('?').unwrap().1.to_owned();
    let posted = program.post(site.url("/api/oauth/authorize")).body(query);
    let form = "application/x-www-form-urlencoded; charset=utf-8";
    assert_eq!(posted.header("content-type", form).send().await.unwrap().status(), 303);
    let posted = program.post(site.url("/api/oauth/authorize")).json(&json!({ "client_id": client }));
    assert_eq!(posted.send().await.unwrap().status(), 415);
    let long = path.clone() + "&x=" + &"a".repeat(8 << 10);
    assert_eq!(program.get(site.url(&long)).send().await.unwrap().status(), 413);
    let many = path + &"&x=1".repeat(64);
    assert_eq!(program.get(site.url(&many)).send().await.unwrap().status(), 413);
}

#[tokio::test]
async fn a28_strangers_write_nothing_and_are_slowed_down() {
    let site = Site::with(&[("DRAGOMAN_RATE_AUTHORIZE", "10")]).await;
    let client = site.client_id().await;
    let browser = site.browser();
    for _ in 0..10 {
        let response = browser.get(&site.authorize_path(&client, &[])).await;
        assert_eq!(response.status(), 303);
        browser.get(&location(&response)).await;
    }
    assert_eq!((site.rows("sessions").await, site.rows("pending").await), (0, 0));
    let response = browser.get(&site.authorize_path(&client, &[])).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "6");
}

/// The value of the session cookie that an answer sets.
fn session_cookie(response: &reqwest::Response) -> Option<(String, String)> {
    let mut lines = response.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap().to_owned());
    let line = lines.rfind(|line| line.starts_with("dragoman="))?;
    Some((line[9..].split(';').next().unwrap().to_owned(), line))
}

async fn home_with(site: &Site, cookie: &str) -> String {
    let request = site.program().get(site.url("/")).header("cookie", format!("dragoman={cookie}"));
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

#[tokio::test]
async fn b01_b03_a_log_in_gets_a_new_id_and_the_old_one_is_dead() {
    let site = Site::start().await;
    let victim = site.browser();
    let first = victim.log_in("ann@example.com", PASSWORD, "/").await;
    let (old, line) = session_cookie(&first).unwrap();
    assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax") && line.contains("Path=/"), "{line}");
    assert!(!line.contains("Domain"), "{line}");
    assert!(home_with(&site, &old).await.contains("ann@example.com"));
    // Logging in in a browser that came with a known id: the id does not become the new person's.
    let second = victim.log_in("bob@example.com", PASSWORD, "/").await;
    let (new, _) = session_cookie(&second).unwrap();
    assert_ne!(old, new);
    assert!(home_with(&site, &new).await.contains("bob@example.com"));
    let page = home_with(&site, &old).await;
    assert!(!page.contains("ann@example.com") && !page.contains("bob@example.com"));
    // An id that the attacker made up is not taken over either.
    let planted = "AAAAAAAAAAAAAAAAAAAAAA";
    let page = site.program().get(site.url("/login")).send().await.unwrap();
    let form_cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let csrf = field(&page.text().await.unwrap(), "csrf");
    let form = [("csrf", &*csrf), ("email", "ann@example.com"), ("password", PASSWORD)];
    let request = site.program().post(site.url("/login")).form(&form);
    let response = request.header("cookie", format!("{form_cookie}; dragoman={planted}")).send().await.unwrap();
    assert_eq!(response.status(), 303);
    assert_ne!(session_cookie(&response).unwrap().0, planted);
    assert!(!home_with(&site, planted).await.contains("ann@example.com"));
}

#[tokio::test]
async fn b03_behind_tls_cookies_are_host_only_and_secure() {
    let site = Site::with(&[("DRAGOMAN_PUBLIC_URL", "https://data.example.com")]).await;
    let login = format!("{}/login", site.listen);
    let page = site.program().get(&login).send().await.unwrap();
    let form_cookie = page.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(form_cookie.starts_with("__Host-dragoman-form=") && form_cookie.contains("; Secure"), "{form_cookie}");
    let csrf = field(&page.text().await.unwrap(), "csrf");
    let form = [("csrf", &*csrf), ("email", "ann@example.com"), ("password", PASSWORD)];
    let request = site.program().post(&login).form(&form).header("origin", "https://data.example.com");
    let cookie = form_cookie.split(';').next().unwrap();
    let response = request.header("cookie", cookie).send().await.unwrap();
    assert_eq!(response.status(), 303);
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    for name in ["__Host-dragoman=", "__Host-dragoman-known="] {
        let line = cookies.iter().find(|line| line.starts_with(name)).unwrap();
        for flag in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(line.contains(flag), "{line}");
        }
        assert!(!line.contains("Domain"), "{line}");
    }
}

#[tokio::test]
async fn b02_b04_b05_dead_forged_and_expired_cookies_are_nobody() {
    let site = Site::start().await;
    let long = "A".repeat(5000);
    for forged in ["", "x", "../../etc/passwd", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA==", &long] {
        assert!(home_with(&site, forged).await.contains("Sign in"), "{forged}");
    }
    let person = site.browser();
    let (cookie, _) = session_cookie(&person.log_in("ann@example.com", PASSWORD, "/").await).unwrap();
    // Logging out needs the form's token, and ends the session on the server.
    assert_eq!(person.post("/logout", &[("csrf", "x")]).await.status(), 403);
    let page = home_with(&site, &cookie).await;
    assert_eq!(person.post("/logout", &[("csrf", &field(&page, "csrf"))]).await.status(), 303);
    assert!(home_with(&site, &cookie).await.contains("Sign in"));
    assert_eq!(site.rows("sessions").await, 0);
    // Half a day without use ends it too.
    let (cookie, _) = session_cookie(&site.browser().log_in("ann@example.com", PASSWORD, "/").await).unwrap();
    site.clock.advance(std::time::Duration::from_secs(12 * 3600 - 1));
    assert!(home_with(&site, &cookie).await.contains("ann@example.com"));
    site.clock.advance(std::time::Duration::from_secs(12 * 3600));
    assert!(home_with(&site, &cookie).await.contains("Sign in"));
    // A new password signs out every browser.
    let (cookie, _) = session_cookie(&site.browser().log_in("bob@example.com", PASSWORD, "/").await).unwrap();
    let password = dragoman::base::secret::Secret::new("another long password");
    site.identity.set_password(site.bob.id, &password).await.unwrap();
    assert!(home_with(&site, &cookie).await.contains("Sign in"));
}

#[tokio::test]
async fn b06_a_log_in_form_from_elsewhere_is_refused() {
    let site = Site::start().await;
    let browser = site.browser();
    let page = browser.get("/login").await.text().await.unwrap();
    let csrf = field(&page, "csrf");
    let other = field(&site.browser().get("/login").await.text().await.unwrap(), "csrf");
    let send = async |csrf: &str, headers: &[(&str, &str)]| {
        let form = [("csrf", csrf), ("email", "ann@example.com"), ("password", PASSWORD)];
        let mut request = browser.http.post(site.url("/login")).form(&form);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
    };
    for wrong in ["", "x", &other] {
        assert_eq!(send(wrong, &[]).await, 403, "{wrong}");
    }
    for elsewhere in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        assert_eq!(send(&csrf, &[elsewhere]).await, 403, "{elsewhere:?}");
    }
    assert_eq!(site.rows("sessions").await, 0);
    assert_eq!(send(&csrf, &[("origin", &site.base), ("sec-fetch-site", "same-origin")]).await, 303);
}

#[tokio::test]
async fn b07_b08_an_approval_works_once_in_its_own_browser_for_its_own_request() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let path = site.authorize_path(&client, &[]);
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&path).await;
    let other_page = ann.consent_page(&path).await;
    // Another transaction's token, no token.
    let (csrf, request) = (field(&other_page, "csrf"), field(&page, "request"));
    for wrong in [&*csrf, ""] {
        let form = [("csrf", wrong), ("request", &request), ("workspace", "demo"), ("decision", "approve")];
        assert_eq!(ann.post("/consent", &form).await.status(), 403);
    }
    // Another person, another browser of the same person, nobody.
    for stranger in [
        site.browser().signed_in("bob@example.com").await,
        site.browser().signed_in("ann@example.com").await,
        site.browser(),
    ] {
        assert_eq!(stranger.get(&format!("/consent?request={request}")).await.status(), 400);
        assert!([400, 403].contains(&stranger.answer(&page, "approve", &[]).await.status().as_u16()));
    }
    // Once, and never again; after a denial neither.
    assert!(param(&refresh(&ann.answer(&page, "approve", &[]).await), "code").is_some());
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 400);
    let denied = refresh(&ann.answer(&other_page, "deny", &[]).await);
    assert_eq!(error_of(&site, &denied), "access_denied");
    assert_eq!(ann.answer(&other_page, "approve", &[]).await.status(), 400);
    // Not after ten minutes.
    let page = ann.consent_page(&path).await;
    site.clock.advance(std::time::Duration::from_secs(600));
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 400);
}

#[tokio::test]
async fn b09_a_tampered_form_changes_nothing_and_scope_only_shrinks() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&site.authorize_path(&client, &[])).await;
    let tampered = [
        ("client_id", "dgc_evil"),
        ("redirect_uri", "https://evil.example/cb"),
        ("resource", "https://evil.example"),
        ("state", "evil"),
        ("scope", "data_agent:read"),
        ("scope", "workspace:admin"),
    ];
    let url = refresh(&ann.answer(&page, "approve", &tampered).await);
    assert!(url.starts_with(&format!("{REDIRECT}?")), "{url}");
    assert_eq!(param(&url, "state").as_deref(), Some("s-1"));
    let (status, tokens) = site.redeem(&client, &param(&url, "code").unwrap()).await;
    assert_eq!((status, &tokens["scope"]), (200, &json!("data_agent:read")));
    // A workspace that is not the person's.
    let page = ann.consent_page(&site.authorize_path(&client, &[])).await;
    let page = page.replace("name=\"workspace\" value=\"demo\"", "name=\"workspace\" value=\"others\"");
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 422);
}

#[tokio::test]
async fn b10_b11_a30_pages_cannot_be_framed_stored_or_scripted() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let consent = location(&ann.get(&site.authorize_path(&client, &[])).await);
    for path in ["/", "/login", &consent, &site.authorize_path("unknown", &[])] {
        let response = ann.get(path).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe") && policy.contains("form-action 'self'"), "{path}");
        assert_eq!(header("x-frame-options"), "DENY", "{path}");
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        let page = response.text().await.unwrap();
        assert!(!page.contains("<script") && !page.contains("https://"), "{path}");
        let css = page.split_once("stylesheet\" href=\"").unwrap().1.split('"').next().unwrap().to_owned();
        let css = ann.get(&css).await;
        assert_eq!(
            (css.status().as_u16(), css.headers()["content-type"].to_str().unwrap()),
            (200, "text/css; charset=utf-8")
        );
    }
    let page = ann.consent_page(&site.authorize_path(&client, &[])).await;
    let left = ann.answer(&page, "approve", &[]).await;
    assert_eq!(left.headers()["referrer-policy"], "no-referrer");
}

#[tokio::test]
async fn b12_b13_a_hostile_name_is_text_and_the_person_sees_what_counts() {
    let site = Site::start().await;
    let name = "<script>alert(1)</script>\u{202e}\"' onload=x\u{200b}";
    let client = site.named_client(name).await;
    let bob = site.browser().signed_in("bob@example.com").await;
    let page = bob.consent_page(&site.authorize_path(&client, &[])).await;
    assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains('\u{200b}'));
    assert!(page.contains("&#60;script&#62;alert(1)"), "{page}");
    assert!(page.contains("unverified"));
    assert!(page.contains("<strong>127.0.0.1</strong>") && page.contains("a program on the computer"));
    assert!(page.contains("See published datasets"));
    // Bob is a viewer: running SQL is beyond his role, and is not given even when he posts it.
    assert!(page.contains("beyond your role"));
    let url = refresh(&bob.answer(&page, "approve", &[]).await);
    let (_, tokens) = site.redeem(&client, &param(&url, "code").unwrap()).await;
    assert_eq!(tokens["scope"], "data_agent:read");
}

#[tokio::test]
async fn b21_b23_wrong_names_and_wrong_passwords_look_alike_and_end_in_a_pause() {
    let site = Site::with(&[("DRAGOMAN_FAILURES_PER_IP", "5")]).await;
    let browser = site.browser();
    let mut pages = Vec::new();
    for email in ["ann@example.com", "ann@nowhere.example"] {
        let response = browser.log_in(email, "wrong password", "/").await;
        assert_eq!(response.status(), 401);
        pages.push(response.text().await.unwrap().replace(email, ""));
    }
    assert_eq!(pages[0], pages[1]);
    for _ in 0..3 {
        assert_eq!(browser.log_in("ann@example.com", "wrong password", "/").await.status(), 401);
    }
    let blocked = browser.get("/login").await;
    assert_eq!((blocked.status().as_u16(), blocked.headers()["retry-after"].to_str().unwrap()), (429, "300"));
    let form = [("email", "ann@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/login", &form).await.status(), 429);
    site.clock.advance(std::time::Duration::from_secs(300));
    assert_eq!(browser.log_in("ann@example.com", PASSWORD, "/").await.status(), 303);
}

#[tokio::test]
async fn b29_a_log_in_leads_nowhere_else() {
    let site = Site::start().await;
    for evil in ["//evil.example", "/\\evil.example", "https://evil.example", "/consent/../x"] {
        let response = site.browser().log_in("ann@example.com", PASSWORD, evil).await;
        assert_eq!(location(&response), "/", "{evil}");
    }
}

#[tokio::test]
async fn a_person_who_typed_another_name_of_this_machine_is_sent_to_the_one_in_the_settings() {
    let site = Site::start().await;
    for path in ["/", "/login?return_to=%2F", "//evil.example/login"] {
        let response = site.program().get(site.url(path)).header("host", "localhost:8787").send().await.unwrap();
        match path.starts_with("//") {
            true => assert_eq!(response.status(), 404),
            false => assert_eq!(location(&response), site.url(path)),
        }
    }
    let tls = Site::with(&[("DRAGOMAN_PUBLIC_URL", "https://data.example.com")]).await;
    assert_eq!(tls.program().get(format!("{}/login", tls.listen)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn b31_two_tabs_both_finish() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let browser = site.browser();
    // Both tabs show the log-in form before either is sent.
    let tabs = [browser.get("/login").await.text().await.unwrap(), browser.get("/login").await.text().await.unwrap()];
    for tab in &tabs {
        let form = [("csrf", &*field(tab, "csrf")), ("email", "ann@example.com"), ("password", PASSWORD)];
        assert_eq!(browser.post("/login", &form).await.status(), 303);
    }
    let path = site.authorize_path(&client, &[]);
    let (first, second) = (browser.consent_page(&path).await, browser.consent_page(&path).await);
    for page in [second, first] {
        let url = refresh(&browser.answer(&page, "approve", &[]).await);
        assert_eq!(site.redeem(&client, &param(&url, "code").unwrap()).await.0, 200);
    }
}

#[tokio::test]
async fn i14_a_workspace_is_opened_to_ai_clients_by_an_admin_only() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let resource = site.url("/t/quiet/mcp");
    let path = site.authorize_path(&client, &[("resource", &resource)]);
    let bob = site.browser().signed_in("bob@example.com").await;
    let page = bob.consent_page(&path).await;
    assert!(page.contains("does not accept AI clients") && !page.contains("value=\"approve\""));
    assert_eq!(bob.answer(&page, "approve", &[("enable", "1")]).await.status(), 422);
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&path).await;
    assert!(page.contains("Let AI clients connect to this workspace"));
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 422);
    assert!(!site.identity.org(site.quiet.id).await.unwrap().unwrap().connectivity_enabled);
    // The switch is as sensitive here as in the settings: an old log-in does not turn it (RFC 9470).
    site.clock.advance(std::time::Duration::from_secs(901));
    let stale = ann.consent_page(&path).await;
    let refused = ann.answer(&stale, "approve", &[("enable", "1")]).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("needs a sign-in that is more recent"));
    assert!(!site.identity.org(site.quiet.id).await.unwrap().unwrap().connectivity_enabled);
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&path).await;
    let url = refresh(&ann.answer(&page, "approve", &[("enable", "1")]).await);
    assert!(site.identity.org(site.quiet.id).await.unwrap().unwrap().connectivity_enabled);
    assert!(site.events.lock().unwrap().iter().any(|event| event.action == "admin.connectivity"));

    // I14: the token is for that address alone.
    let (status, tokens) = site.redeem(&client, &param(&url, "code").unwrap()).await;
    assert_eq!(status, 200, "{tokens}");
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(site.call("/t/quiet/mcp", access).await.text().await.unwrap(), format!("{} admin", site.quiet.id));
    for elsewhere in ["/mcp", "/t/demo/mcp", "/api/v1/ext/who"] {
        assert_eq!(site.call(elsewhere, access).await.status(), 401, "{elsewhere}");
    }
}

#[tokio::test]
async fn c07_c08_c10_c11_c12_c13_c14_bad_token_requests_are_refused_without_using_the_code_up() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let code = ann.code(&site.authorize_path(&client, &[])).await;
    let usual = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("client_id", &*client),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    let changed = |name: &str, value: &'static str| -> Vec<(&str, &str)> {
        usual.iter().map(|(key, old)| if *key == name { (*key, value) } else { (*key, *old) }).collect()
    };
    for (form, status, error) in [
        (changed("grant_type", ""), 400, "invalid_request"),
        (changed("grant_type", "password"), 400, "unsupported_grant_type"),
        (changed("code", ""), 400, "invalid_request"),
        (changed("code_verifier", ""), 400, "invalid_request"),
        (changed("redirect_uri", "http://127.0.0.1:1/callback"), 400, "invalid_grant"),
        (changed("client_id", ""), 400, "invalid_request"),
        (changed("client_id", "dgc_unknown"), 401, "invalid_client"),
        ([&usual[..], &[("resource", "https://elsewhere.example/mcp")]].concat(), 400, "invalid_target"),
        ([&usual[..], &[("code", "x")]].concat(), 400, "invalid_request"),
        ([&usual[..], &[("client_secret", "x")]].concat(), 401, "invalid_client"),
    ] {
        let (got, body) = site.token(&form).await;
        assert_eq!((got, body["error"].as_str().unwrap()), (status, error), "{form:?}");
    }
    let token = site.url("/api/oauth/token");
    let program = site.program();
    assert_eq!(program.get(&token).send().await.unwrap().status(), 405);
    assert_eq!(program.post(&token).json(&json!({ "code": code })).send().await.unwrap().status(), 415);
    let form = "application/x-www-form-urlencoded";
    for body in ["grant_type=%zz", "grant_type=%ff", "grant_type=a%00b"] {
        let request = program.post(&token).header("content-type", form).body(body);
        assert_eq!(request.send().await.unwrap().status(), 400, "{body}");
    }
    let request = program.post(&token).header("content-type", form).body("a".repeat(20 << 10));
    assert_eq!(request.send().await.unwrap().status(), 413);
    let query = program.post(format!("{token}?grant_type=authorization_code&code={code}&client_id={client}"));
    assert_eq!(query.header("content-type", form).send().await.unwrap().status(), 400);
    // After all of that the code still works, once.
    let response = program.post(&token).form(&usual).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["pragma"], "no-cache");
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert!(response.headers().get("access-control-allow-credentials").is_none());
    let (status, body) = site.redeem(&client, &code).await;
    assert_eq!((status, body["error"].as_str().unwrap()), (400, "invalid_grant"));
}

#[tokio::test]
async fn e02_e05_basic_credentials_are_answered_with_the_challenge() {
    let site = Site::start().await;
    for value in ["Basic !!!", "basic YTpi", "Basic YWJj", "Bearer x"] {
        let form = [("grant_type", "refresh_token"), ("refresh_token", "x")];
        let request = site.program().post(site.url("/api/oauth/token")).form(&form).header("authorization", value);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 401, "{value}");
        assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Basic"));
        assert_eq!(response.json::<Value>().await.unwrap()["error"], "invalid_client");
    }
}

#[tokio::test]
async fn l01_l02_c11_c12_c13_c14_a_client_gives_its_tokens_back() {
    let site = Site::start().await;
    let (client, other) = (site.client_id().await, site.named_client("Other").await);
    let server = site.program().get(site.url("/.well-known/oauth-authorization-server"));
    let server: Value = server.send().await.unwrap().json().await.unwrap();
    assert_eq!(server["revocation_endpoint"], site.url("/api/oauth/revoke"));
    let methods = json!(["none", "client_secret_basic", "client_secret_post"]);
    assert_eq!(server["revocation_endpoint_auth_methods_supported"], methods);
    let ann = site.browser().signed_in("ann@example.com").await;
    let code = ann.code(&site.authorize_path(&client, &[])).await;
    let tokens = site.redeem(&client, &code).await.1;
    let (access, refresh) = (tokens["access_token"].as_str().unwrap(), tokens["refresh_token"].as_str().unwrap());
    let endpoint = site.url("/api/oauth/revoke");
    let program = site.program();

    let usual = [("token", refresh), ("client_id", &*client)];
    for (form, status, error) in [
        (vec![("client_id", &*client)], 400, "invalid_request"),
        (vec![("token", ""), ("client_id", &*client)], 400, "invalid_request"),
        (vec![("token", refresh)], 400, "invalid_request"),
        (vec![("token", refresh), ("client_id", "dgc_unknown")], 401, "invalid_client"),
        ([&usual[..], &[("client_secret", "x")]].concat(), 401, "invalid_client"),
        ([&usual[..], &[("token", access)]].concat(), 400, "invalid_request"),
        ([&usual[..], &[("token_type_hint", "a"), ("token_type_hint", "b")]].concat(), 400, "invalid_request"),
        ([&usual[..], &[("client_id", &*client)]].concat(), 400, "invalid_request"),
    ] {
        let response = program.post(&endpoint).form(&form).send().await.unwrap();
        assert_eq!(response.status(), status, "{form:?}");
        assert_eq!(response.json::<Value>().await.unwrap()["error"], error, "{form:?}");
    }
    let basic = program.post(&endpoint).form(&usual).header("authorization", "Basic YTpi").send().await.unwrap();
    assert_eq!(basic.status(), 401);
    assert!(basic.headers()["www-authenticate"].to_str().unwrap().starts_with("Basic"));
    assert_eq!(program.get(&endpoint).send().await.unwrap().status(), 405);
    assert_eq!(program.post(&endpoint).json(&json!({ "token": refresh })).send().await.unwrap().status(), 415);
    let encoded = "application/x-www-form-urlencoded";
    for (body, status) in [("token=%zz".to_owned(), 400), ("token=a%00b".to_owned(), 400), ("a".repeat(20 << 10), 413)]
    {
        let request = program.post(&endpoint).header("content-type", encoded).body(body);
        assert_eq!(request.send().await.unwrap().status(), status);
    }
    let query = program.post(format!("{endpoint}?token={refresh}&client_id={client}"));
    assert_eq!(query.header("content-type", encoded).send().await.unwrap().status(), 400);

    // Nothing that is refused, and nothing that is not the client's own, ends anything.
    for (token, by) in [(refresh, &other), (access, &other), ("dgrt_unknown", &client), ("a.b.c", &client)] {
        let form = [("token", token), ("client_id", by), ("token_type_hint", "refresh_token")];
        empty(program.post(&endpoint).form(&form).send().await.unwrap()).await;
    }
    assert_eq!(site.call("/mcp", access).await.status(), 200);
    assert!(site.events.lock().unwrap().iter().all(|event| event.action != "oauth.revoke" || event.target != "grant"));

    let form = [("token", refresh), ("client_id", &*client), ("token_type_hint", "nonsense")];
    for _ in 0..2 {
        empty(program.post(&endpoint).form(&form).send().await.unwrap()).await;
    }
    assert_eq!(site.call("/mcp", access).await.status(), 401);
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", &*client)];
    let (status, body) = site.token(&form).await;
    assert_eq!((status, body["error"].as_str().unwrap()), (400, "invalid_grant"));

    // L02: an access token takes its family with it.
    let code = ann.code(&site.authorize_path(&client, &[])).await;
    let tokens = site.redeem(&client, &code).await.1;
    let (access, refresh) = (tokens["access_token"].as_str().unwrap(), tokens["refresh_token"].as_str().unwrap());
    empty(program.post(&endpoint).form(&[("token", access), ("client_id", &client)]).send().await.unwrap()).await;
    assert_eq!(site.call("/mcp", access).await.status(), 401);
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", &*client)];
    assert_eq!(site.token(&form).await.0, 400);

    let events = site.events.lock().unwrap();
    let ended: Vec<_> =
        events.iter().filter(|event| event.action == "oauth.revoke" && event.target == "grant").collect();
    assert_eq!(ended.len(), 2);
    for event in ended {
        assert_eq!((event.outcome.as_str(), event.org, &event.client), ("ok", Some(site.demo.id), &client));
        assert_eq!(event.principal, format!("user:{}", site.ann.id));
    }
    let outcomes: Vec<&str> =
        events.iter().filter(|event| event.action == "oauth.revoke").map(|event| event.outcome.as_str()).collect();
    assert!(outcomes.contains(&"invalid_client") && outcomes.contains(&"invalid_request"), "{outcomes:?}");
}

/// The one answer to a revocation (RFC 7009 §2.2).
async fn empty(response: reqwest::Response) {
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["pragma"], "no-cache");
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert_eq!(response.text().await.unwrap(), "");
}

#[tokio::test]
async fn f05_f07_f11_f12_registration_gives_what_it_says_and_no_more() {
    let site = Site::start().await;
    let response = site
        .register(json!({
            "client_name": "Cursor",
            "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "https://cursor.example/cb"],
            "token_endpoint_auth_method": "client_secret_post",
            "client_id": "mine", "client_secret": "mine", "trusted": true,
            "logo_uri": null, "client_uri": "",
        }))
        .await;
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let body: Value = response.json().await.unwrap();
    assert!(body["client_id"].as_str().unwrap().starts_with("dgc_"), "{body}");
    assert_eq!(body["token_endpoint_auth_method"], "none");
    assert_eq!(body["redirect_uris"][0], "cursor://anysphere.cursor-mcp/oauth/callback");
    assert!(body.as_object().unwrap().values().all(|value| !value.is_null() && value != ""), "{body}");
    for absent in ["client_secret", "registration_client_uri", "client_uri", "trusted"] {
        assert!(body.get(absent).is_none(), "{absent}");
    }
    for (body, status, error) in [
        (r#"{"redirect_uris":["javascript:alert(1)"]}"#.to_owned(), 400, "invalid_redirect_uri"),
        (r#"{"redirect_uris":"https://a.example/cb"}"#.to_owned(), 400, "invalid_client_metadata"),
        (
            r#"{"redirect_uris":["https://a.example"],"redirect_uris":["https://b.example"]}"#.to_owned(),
            400,
            "invalid_client_metadata",
        ),
        ("[".repeat(10_000), 400, "invalid_client_metadata"),
        ("null".to_owned(), 400, "invalid_client_metadata"),
        (" ".repeat(1 << 20), 413, "invalid_client_metadata"),
    ] {
        let shown = body.chars().take(60).collect::<String>();
        let request = site.program().post(site.url("/api/oauth/register")).body(body);
        let response = request.header("content-type", "application/json").send().await.unwrap();
        assert_eq!(response.status(), status, "{shown}");
        assert_eq!(response.json::<Value>().await.unwrap()["error"], error, "{shown}");
    }
}

#[tokio::test]
async fn f06_registrations_are_limited_before_the_body_is_read() {
    let site = Site::with(&[("DRAGOMAN_RATE_REGISTER", "2")]).await;
    let id = async |host: &str| {
        let body = json!({ "redirect_uris": [format!("https://{host}.example/cb")] });
        let registered: Value = site.register(body).await.json().await.unwrap();
        registered["client_id"].as_str().unwrap().to_owned()
    };
    let first = id("a").await;
    for _ in 0..5 {
        assert_eq!(id("a").await, first, "the same registration is the same client, and does not count again");
    }
    assert_ne!(id("b").await, first);
    let response = site.register(json!("not even an object")).await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "60");
}

#[tokio::test]
async fn token_requests_and_revocations_that_fail_share_a_rate() {
    let site = Site::with(&[("DRAGOMAN_RATE_TOKEN", "4")]).await;
    let (token, revoke) = (site.url("/api/oauth/token"), site.url("/api/oauth/revoke"));
    for (endpoint, status) in
        [(&token, 415), (&revoke, 415), (&token, 415), (&revoke, 415), (&token, 429), (&revoke, 429)]
    {
        // JSON is what neither endpoint reads.
        let response = site.program().post(endpoint).json(&json!({})).send().await.unwrap();
        assert_eq!(response.status(), status, "{endpoint}");
        if status == 429 {
            assert_eq!(response.headers()["retry-after"], "15");
            assert_eq!(response.headers()["cache-control"], "no-store");
            assert_eq!(response.headers()["access-control-allow-origin"], "*");
            assert_eq!(response.json::<Value>().await.unwrap()["error"], "temporarily_unavailable");
        }
    }
    site.clock.advance(std::time::Duration::from_secs(15));
    assert_eq!(site.program().post(&token).json(&json!({})).send().await.unwrap().status(), 415);
    assert_eq!(site.program().post(&revoke).json(&json!({})).send().await.unwrap().status(), 429);
}

#[tokio::test]
async fn h01_h02_h04_h05_metadata_does_not_believe_request_headers_and_is_open_to_scripts() {
    let site = Site::start().await;
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/mcp/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/t/demo/mcp",
        "/.well-known/oauth-protected-resource/t/nowhere/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/oauth-authorization-server/t/demo/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/.well-known/openid-configuration/t/demo/mcp",
        "/.well-known/jwks.json",
    ] {
        let request = site.program().get(site.url(path)).header("x-forwarded-host", "evil.example");
        let response = request.header("host", "evil.example").header("forwarded", "host=evil.example").send();
        let response = response.await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["access-control-allow-origin"], "*", "{path}");
        assert!(response.headers()["cache-control"].to_str().unwrap().contains("max-age"), "{path}");
        let body = response.text().await.unwrap();
        assert!(!body.contains("evil.example") && !body.contains("null"), "{path} {body}");
        if !path.ends_with("jwks.json") {
            assert!(body.contains(&site.base), "{path} {body}");
        }
    }
    let server: Value = {
        let response = site.program().get(site.url("/.well-known/oauth-authorization-server")).send().await.unwrap();
        response.json().await.unwrap()
    };
    // H04: what is advertised answers (with something other than "not found").
    for (name, value) in server.as_object().unwrap() {
        if name.ends_with("_endpoint") || name == "jwks_uri" {
            let response = site.program().get(value.as_str().unwrap()).send().await.unwrap();
            assert_ne!(response.status(), 404, "{name}");
        }
    }
    let request = site.program().request(reqwest::Method::OPTIONS, site.url("/api/oauth/token"));
    let response = request.header("origin", "https://inspector.example").send().await.unwrap();
    assert_eq!(response.status(), 204);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    // Pages, and paths that do not exist, are not open to scripts of other origins.
    let request = site.program().request(reqwest::Method::OPTIONS, site.url("/nothing"));
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 404);
    assert!(response.headers().get("access-control-allow-origin").is_none());
    let response = site.program().get(site.url("/login")).header("origin", "https://a.example").send().await.unwrap();
    assert!(response.headers().get("access-control-allow-origin").is_none());
}

#[tokio::test]
async fn i01_i02_i03_i14_i21_only_the_authorization_header_is_a_credential() {
    let site = Site::start().await;
    let bare = async |request: reqwest::RequestBuilder| {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 401);
        let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
        (challenge.contains("error="), response.text().await.unwrap())
    };
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let code = ann.code(&site.authorize_path(&client, &[])).await;
    let tokens = site.redeem(&client, &code).await.1;
    let access = tokens["access_token"].as_str().unwrap();
    let program = site.program();
    assert!(!bare(program.post(site.url("/mcp"))).await.0);
    assert!(!bare(program.get(site.url(&format!("/mcp?access_token={access}")))).await.0);
    assert!(!bare(program.post(site.url("/mcp")).form(&[("access_token", access)])).await.0);
    assert!(!bare(program.post(site.url("/mcp")).header("cookie", format!("access_token={access}"))).await.0);
    assert!(!bare(program.post(site.url("/mcp")).header("authorization", "Basic YTpi")).await.0);
    let (error, body) = bare(program.post(site.url("/mcp")).bearer_auth("garbage")).await;
    assert!(error && body.contains("\"error\":\"invalid_token\""), "{body}");
    let (_, body) = bare(program.post(site.url("/api/v1/ext/who")).bearer_auth("garbage")).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["error"]["code"], &body["request_id"]), (&json!("auth_invalid"), &json!("r-1")));
    assert_eq!(site.call("/t/demo/mcp", access).await.status(), 401, "bound to /mcp");
    assert_eq!(site.call("/mcp", access).await.status(), 200);
    site.clock.advance(std::time::Duration::from_secs(3600));
    let response = site.call("/api/v1/ext/who", access).await;
    assert_eq!(response.status(), 401);
    assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], "auth_expired");
    let outcomes: Vec<_> = site.refused.lock().unwrap().iter().map(|refused| refused.outcome.clone()).collect();
    for outcome in ["auth_missing", "auth_invalid", "auth_expired"] {
        assert!(outcomes.iter().any(|known| known == outcome), "{outcome} is not in {outcomes:?}");
    }
}

#[tokio::test]
async fn i03_bad_tokens_block_an_address_and_expired_ones_do_not() {
    let site = Site::with(&[("DRAGOMAN_FAILURES_PER_IP", "5")]).await;
    let client = site.client_id().await;
    let browser: Browser = site.browser().signed_in("ann@example.com").await;
    let code = browser.code(&site.authorize_path(&client, &[])).await;
    let tokens = site.redeem(&client, &code).await.1;
    site.clock.advance(std::time::Duration::from_secs(3600));
    for _ in 0..10 {
        assert_eq!(site.call("/mcp", tokens["access_token"].as_str().unwrap()).await.status(), 401);
    }
    for _ in 0..5 {
        assert_eq!(site.call("/mcp", "garbage").await.status(), 401);
    }
    let response = site.call("/mcp", "garbage").await;
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "300");
}
