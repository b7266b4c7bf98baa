//! The person's own pages: profile, password, sessions.

use std::time::Duration;

use super::{World, home_of, on_both, session_cookie};
use crate::site::{Browser, client, field, location};
use crate::support::service::PASSWORD;

const NEW: &str = "a brand new secret";

/// The token of the form with this action.
fn csrf(page: &str, action: &str) -> String {
    field(page.split_once(&format!("action=\"{action}\"")).unwrap().1, "csrf")
}

async fn page(browser: &Browser, path: &str) -> String {
    let response = browser.get(path).await;
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

async fn change(browser: &Browser, current: &str, new: &str, again: &str) -> reqwest::Response {
    let csrf = csrf(&page(browser, "/account").await, "/account/password");
    browser
        .post("/account/password", &[("csrf", &csrf), ("current", current), ("password", new), ("again", again)])
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn b02_a_new_password_gives_this_browser_a_new_id_and_ends_the_others() {
    on_both(&[], async |world| {
        let here = world.browser();
        let old = session_cookie(&here.log_in("ann@example.com", PASSWORD, "/").await).unwrap();
        let elsewhere = session_cookie(&world.browser().log_in("ann@example.com", PASSWORD, "/").await).unwrap();
        let bob = session_cookie(&world.browser().log_in("bob@example.com", PASSWORD, "/").await).unwrap();
        for (current, new, again, why) in [
            ("wrong password", NEW, NEW, "current password is not right"),
            ("", NEW, NEW, "current password is not right"),
            (PASSWORD, NEW, "another one", "not the same"),
            (PASSWORD, "iloveyou", "iloveyou", "most used"),
            (PASSWORD, "ANN@example.com", "ANN@example.com", "e-mail address"),
        ] {
            let response = change(&here, current, new, again).await;
            assert_eq!(response.status(), 422, "{why}");
            let page = response.text().await.unwrap();
            assert!(page.contains("role=\"alert\"") && page.contains(why), "{page}");
        }
        assert_eq!(home_of(world, &elsewhere).await.as_deref(), Some("ann@example.com"), "nothing has happened yet");
        assert!(world.mails().await.is_empty());

        let changed = change(&here, PASSWORD, NEW, NEW).await;
        assert_eq!((changed.status().as_u16(), location(&changed)), (303, "/account?saved=password".into()));
        let new = session_cookie(&changed).unwrap();
        assert_ne!(old, new);
        for (cookie, whose) in
            [(&old, None), (&elsewhere, None), (&new, Some("ann@example.com")), (&bob, Some("bob@example.com"))]
        {
            assert_eq!(home_of(world, cookie).await.as_deref(), whose);
        }
        assert!(page(&here, "/account?saved=password").await.contains("Your password is changed"));
        assert_eq!(world.browser().log_in("ann@example.com", PASSWORD, "/").await.status(), 401);
        assert_eq!(world.browser().log_in("ann@example.com", NEW, "/").await.status(), 303);
        let mails = world.mails().await;
        assert!(mails.len() == 1 && mails[0].to == "ann@example.com", "{mails:?}");
        let who = format!("user:{}", world.ann.id);
        let outcomes: Vec<_> =
            world.record("account.password").await.into_iter().map(|(outcome, ..)| outcome).collect();
        let expected =
            ["auth_invalid", "auth_invalid", "ok", "invalid_argument", "ok", "invalid_argument", "ok", "changed"];
        assert_eq!(outcomes, expected);
        assert_eq!(world.record("account.password").await.last().unwrap().1, who);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b23_who_finds_a_browser_left_open_cannot_guess_the_password_there() {
    let world = World::with(&[("DRAGOMAN_FAILURES_PER_IP", "3")]).await;
    let here = world.ann().await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(change(&here, "wrong password", NEW, NEW).await.status().as_u16());
    }
    assert_eq!(statuses, [422, 422, 422, 429]);
    assert_eq!(change(&here, PASSWORD, NEW, NEW).await.status(), 429, "not even the right one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_changed_and_a_hostile_one_is_text() {
    on_both(&[], async |world| {
        let ann = world.ann().await;
        let rename = async |name: &str| {
            let csrf = csrf(&page(&ann, "/account").await, "/account/profile");
            ann.post("/account/profile", &[("csrf", &csrf), ("name", name)]).await
        };
        let renamed = rename(" Ann <script>alert(1)</script> ").await;
        assert_eq!((renamed.status().as_u16(), location(&renamed)), (303, "/account?saved=name".into()));
        let shown = page(&ann, "/account?saved=name").await;
        assert!(shown.contains("Your name is changed") && shown.contains("value=\"Ann &#60;script&#62;"), "{shown}");
        for (bad, why) in [
            ("", "1 to 100 printable characters"),
            ("  ", "1 to 100 printable characters"),
            (&"x".repeat(101), "1 to 100 printable characters"),
            ("a\u{7}b", "printable characters only: U+0007"),
            ("Ann\u{202e}nimda", "printable characters only: U+202E"),
            ("An\u{200b}n", "printable characters only: U+200B"),
        ] {
            let refused = rename(bad).await;
            assert_eq!(refused.status(), 422, "{bad:?}");
            assert!(refused.text().await.unwrap().contains(why), "{bad:?}");
        }
        let name = world.service.identity.user(world.ann.id).await.unwrap().unwrap().name;
        assert_eq!(name, "Ann <script>alert(1)</script>");
        assert_eq!(world.record("account.profile").await[0].0, "ok");
        // Who has no password, and came in another way, is not asked for one.
        world.sql(r#"UPDATE browser_sessions SET data = replace(data, '"password":', '"other":')"#).await;
        world.sql("UPDATE users SET password_hash = '' WHERE email = 'ann@example.com'").await;
        let shown = page(&ann, "/account").await;
        assert!(!shown.contains("name=\"current\"") && shown.contains("Get a link to set one"), "{shown}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_browser_is_listed_with_where_and_when_and_can_be_signed_out() {
    on_both(&[], async |world| {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let here = world.ann().await;
        let there = world.ann().await;
        let get = async |browser: &Browser, ip: &str, agent: &str| {
            let request = browser.http.get(world.service.url("/account/sessions"));
            request
                .header("x-forwarded-for", ip)
                .header("user-agent", agent)
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap()
        };
        world.service.clock.advance(Duration::from_secs(61));
        let listed = get(&there, "203.0.113.5", firefox).await;
        assert!(listed.contains("Firefox on Linux <span class=\"tag good\">this browser</span>"), "{listed}");
        assert!(listed.contains("203.0.113.5"), "{listed}");
        // Within a minute nothing is written.
        world.service.clock.advance(Duration::from_secs(59));
        assert!(get(&there, "203.0.113.6", firefox).await.contains("203.0.113.5"));
        world.service.clock.advance(Duration::from_secs(1));
        let sessions = world.service.identity.browser_sessions(world.ann.id).await.unwrap();
        let before = sessions.iter().find(|session| session.trace.ip == "203.0.113.5").unwrap().trace.clone();
        get(&there, "203.0.113.6", "<b>curl").await;
        let sessions = world.service.identity.browser_sessions(world.ann.id).await.unwrap();
        assert_eq!(sessions.len(), 2);
        let after = &sessions[0].trace;
        assert_eq!((&after.id, after.created_at, after.ip.as_str()), (&before.id, before.created_at, "203.0.113.6"));
        assert_eq!(after.seen_at, world.service.clock.now());
        assert_eq!(before.seen_at - before.created_at, 61_000);

        let shown = page(&here, "/account/sessions").await;
        assert!(!shown.contains("<b>") && shown.contains("&#60;b&#62;curl"), "{shown}");
        assert_eq!(shown.matches("this browser").count(), 1);
        let token = csrf(&shown, "/account/sessions/end");
        // Another person's session, or none at all, is not ended by knowing its id.
        let bob = world.browser().signed_in("bob@example.com").await;
        let bobs = csrf(&page(&bob, "/account/sessions").await, "/account/sessions/end");
        for id in [after.id.as_str(), "", "x"] {
            assert_eq!(bob.post("/account/sessions/end", &[("csrf", &bobs), ("id", id)]).await.status(), 303);
        }
        assert_eq!(world.service.identity.browser_sessions(world.ann.id).await.unwrap().len(), 2);
        let ended = here.post("/account/sessions/end", &[("csrf", &token), ("id", &after.id)]).await;
        assert_eq!(location(&ended), "/account/sessions?ended=one");
        assert!(page(&here, "/account/sessions?ended=one").await.contains("That browser is signed out"));
        assert!(there.get("/").await.text().await.unwrap().contains("Sign in"));

        let (third, fourth) = (world.ann().await, world.ann().await);
        let token = csrf(&page(&here, "/account/sessions").await, "/account/sessions/end-others");
        let ended = here.post("/account/sessions/end-others", &[("csrf", &token)]).await;
        assert_eq!(location(&ended), "/account/sessions?ended=others");
        for browser in [&third, &fourth] {
            assert!(browser.get("/").await.text().await.unwrap().contains("Sign in"));
        }
        let shown = page(&here, "/account/sessions").await;
        let (token, id) = (csrf(&shown, "/account/sessions/end"), field(&shown, "id"));
        assert_eq!(location(&here.post("/account/sessions/end", &[("csrf", &token), ("id", &id)]).await), "/");
        assert!(here.get("/").await.text().await.unwrap().contains("Sign in"), "this browser can be signed out too");
        assert!(bob.get("/").await.text().await.unwrap().contains("bob@example.com"));
        let outcomes: Vec<_> = world.record("account.session").await.into_iter().map(|(outcome, ..)| outcome).collect();
        assert_eq!(outcomes, ["not_found", "not_found", "not_found", "ok", "ok", "ok"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b06_a_form_of_the_account_from_elsewhere_changes_nothing() {
    let world = World::with(&[]).await;
    let (ann, bob) = (world.ann().await, world.browser().signed_in("bob@example.com").await);
    type Fields = &'static [(&'static str, &'static str)];
    let forms: [(&str, &str, Fields); 4] = [
        ("/account", "/account/profile", &[("name", "Eve")]),
        ("/account", "/account/password", &[("current", PASSWORD), ("password", NEW), ("again", NEW)]),
        ("/account/sessions", "/account/sessions/end", &[("id", "x")]),
        ("/account/sessions", "/account/sessions/end-others", &[]),
    ];
    let other = world.ann().await;
    for (at, action, fields) in forms {
        let right = csrf(&page(&ann, at).await, action);
        let (bobs, others) =
            (csrf(&page(&bob, "/account").await, "/account/profile"), csrf(&page(&other, at).await, action));
        let send = async |csrf: &str, header: Option<(&str, &str)>| {
            let mut form = vec![("csrf", csrf)];
            form.extend(fields);
            let request = ann.http.post(world.service.url(action)).form(&form);
            let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
            request.send().await.unwrap().status().as_u16()
        };
        for wrong in ["", "x", &bobs, &others] {
            assert_eq!(send(wrong, None).await, 403, "{action} {wrong}");
        }
        for elsewhere in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
            assert_eq!(send(&right, Some(elsewhere)).await, 403, "{action} {elsewhere:?}");
        }
        // Nobody is sent to sign in.
        let nobody = client(false).post(world.service.url(action)).form(&[("csrf", &right)]).send().await.unwrap();
        assert_eq!(location(&nobody), format!("/login?return_to={}", action.replace('/', "%2F")));
    }
    assert_eq!(world.service.identity.user(world.ann.id).await.unwrap().unwrap().name, "Ann");
    assert_eq!(world.service.identity.browser_sessions(world.ann.id).await.unwrap().len(), 2);
    assert_eq!(world.browser().log_in("ann@example.com", PASSWORD, "/").await.status(), 303);
    assert_eq!(world.record("console.form").await.len(), 4 * 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn b10_b11_b29_the_pages_cannot_be_framed_stored_or_scripted_and_come_after_signing_in() {
    let world = World::with(&[]).await;
    let token = world.link("ann@example.com").await;
    let ann = world.ann().await;
    let reset = format!("/login/reset?token={token}");
    for path in ["/account", "/account/sessions", "/login/forgot", &reset, "/login/reset?token=x"] {
        let response = ann.get(path).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(policy.contains("form-action 'self'") && !policy.contains("unsafe"), "{path}");
        assert_eq!((header("x-frame-options"), header("cache-control")), ("DENY".into(), "no-store".into()), "{path}");
        let page = response.text().await.unwrap();
        assert!(!page.contains("<script") && !page.contains("https://"), "{path}: {page}");
    }
    for path in ["/account", "/account/sessions"] {
        let sent = world.browser().get(path).await;
        assert_eq!(location(&sent), format!("/login?return_to={}", path.replace('/', "%2F")));
        assert_eq!(location(&world.browser().log_in("ann@example.com", PASSWORD, path).await), path);
    }
}
