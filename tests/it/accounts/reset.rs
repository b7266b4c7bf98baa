//! A forgotten password: the link, and what it may not do.

use std::time::Duration;

use super::{World, on_both, session_cookie};
use crate::site::{Browser, client, field};
use crate::support::service::PASSWORD;

const NEW: &str = "a brand new secret";

/// Fills in the form behind a link.
async fn choose(browser: &Browser, token: &str, password: &str, again: &str) -> reqwest::Response {
    let page = browser.get(&format!("/login/reset?token={token}")).await;
    assert_eq!(page.status(), 200);
    let csrf = field(&page.text().await.unwrap(), "csrf");
    browser.post("/login/reset", &form(&csrf, token, password, again)).await
}

fn form<'a>(csrf: &'a str, token: &'a str, password: &'a str, again: &'a str) -> [(&'a str, &'a str); 4] {
    [("csrf", csrf), ("token", token), ("password", password), ("again", again)]
}

async fn can_log_in(world: &World, password: &str) -> bool {
    world.browser().log_in("ann@example.com", password, "/").await.status() == 303
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_a_link_sets_a_password_once_and_looking_at_it_does_nothing() {
    on_both(&[], async |world| {
        let before = world.ann().await;
        let token = world.link("ann@example.com").await;
        // Programs look at mails before people do.
        let address = world.service.url(&format!("/login/reset?token={token}"));
        for method in [reqwest::Method::HEAD, reqwest::Method::GET, reqwest::Method::HEAD, reqwest::Method::GET] {
            let looked =
                client(false).request(method, &address).header("sec-purpose", "prefetch").send().await.unwrap();
            assert_eq!(looked.status(), 200);
            assert_eq!(looked.headers()["cache-control"], "no-store");
            assert_eq!(looked.headers()["referrer-policy"], "same-origin", "the address is a secret");
        }
        let browser = world.browser();
        // What is wrong with the form leaves the link as it is.
        for (password, again, why) in [
            ("Password1", "Password1", "most used"),
            ("short", "short", "8 to 128"),
            ("ann@example.com", "ann@example.com", "e-mail address"),
            (NEW, "another one", "not the same"),
        ] {
            let response = choose(&browser, &token, password, again).await;
            assert_eq!(response.status(), 422, "{password}");
            let page = response.text().await.unwrap();
            assert!(page.contains("role=\"alert\"") && page.contains(why), "{page}");
            assert!(!page.contains(password) || password == "ann@example.com", "no password is written back");
        }
        let page = browser.get(&format!("/login/reset?token={token}")).await.text().await.unwrap();
        let csrf = field(&page, "csrf");
        for (csrf, origin) in [("", None), ("x", None), (&*csrf, Some("https://evil.example"))] {
            let request = browser.http.post(world.service.url("/login/reset")).form(&form(csrf, &token, NEW, NEW));
            let request = origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
            assert_eq!(request.send().await.unwrap().status(), 403);
        }
        assert!(!can_log_in(world, NEW).await);

        let set = choose(&browser, &token, NEW, NEW).await;
        assert_eq!(set.status(), 200);
        assert_eq!(session_cookie(&set), None, "it signs nobody in");
        assert!(before.get("/").await.text().await.unwrap().contains("Sign in"), "every browser is signed out");
        assert!(can_log_in(world, NEW).await && !can_log_in(world, PASSWORD).await);
        let again = browser.post("/login/reset", &form(&csrf, &token, "yet another one", "yet another one")).await;
        assert_eq!(again.status(), 400, "it works once");
        assert_eq!(browser.get(&format!("/login/reset?token={token}")).await.status(), 400);
        assert!(can_log_in(world, NEW).await);

        let mails = world.mails().await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        assert!(mails[0].to == "ann@example.com" && mails[0].content.contains("has just been changed"), "{mails:?}");
        let who = format!("user:{}", world.ann.id);
        let record = world.record("login.reset").await;
        let times = |wanted: &str| record.iter().filter(|(outcome, ..)| outcome == wanted).count();
        let counted = ["asked", "link_sent", "invalid_argument", "form_refused", "ok", "auth_invalid"].map(times);
        assert_eq!(counted, [1, 1, 3, 3, 1, 1], "{record:?}");
        assert!(record.contains(&("ok".into(), who.clone(), String::new())), "{record:?}");
        assert!(record.contains(&("link_sent".into(), String::new(), who)), "{record:?}");
        assert!(!format!("{record:?}").contains(&token));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_h03_the_link_has_the_configured_host_and_only_its_digest_is_kept() {
    on_both(&[], async |world| {
        let browser = world.browser();
        let csrf = field(&browser.get("/login/forgot").await.text().await.unwrap(), "csrf");
        let request = browser.http.post(world.service.url("/login/forgot"));
        let request = request.form(&[("csrf", &*csrf), ("email", " Ann@Example.com")]);
        let request = request.header("host", "evil.example").header("x-forwarded-host", "evil.example");
        let request = request.header("forwarded", "host=evil.example").header("x-forwarded-proto", "gopher");
        assert_eq!(request.send().await.unwrap().status(), 200);
        let mails = world.mails().await;
        let mail = &mails[0];
        assert_eq!((mail.from.as_str(), mail.to.as_str()), ("dragoman@data.example", "ann@example.com"));
        assert!(mail.content.contains("From: Dragoman <dragoman@data.example>"), "{}", mail.content);
        assert!(!mail.content.contains("evil") && !mail.content.contains("gopher"), "{}", mail.content);
        assert!(mail.content.contains("within 30 minutes"), "{}", mail.content);
        let start = format!("{}/login/reset?token=", world.service.config.issuer());
        assert!(mail.link().starts_with(&start), "{}", mail.link());
        let pool = world.service.db.pool();
        let kept: String = sqlx::query_scalar("SELECT digest FROM email_links").fetch_one(pool).await.unwrap();
        assert_eq!(kept, dragoman::base::secret::sha256_hex(mail.token().as_bytes()));
        // What is not the whole secret is nothing.
        for wrong in ["", "x", &mail.token()[1..], &format!("{}A", mail.token()), &kept, &"A".repeat(43)] {
            assert_eq!(browser.get(&format!("/login/reset?token={wrong}")).await.status(), 400, "{wrong}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_a_link_ends_in_time_with_another_new_password_and_with_a_suspension() {
    on_both(&[], async |world| {
        let works =
            async |token: &str| world.browser().get(&format!("/login/reset?token={token}")).await.status() == 200;
        let later = |seconds| world.service.clock.advance(Duration::from_secs(seconds));
        let first = world.link("ann@example.com").await;
        later(1799);
        assert!(works(&first).await);
        // Whoever asks again meanwhile, one link is enough.
        world.forgot("ann@example.com").await;
        assert_eq!(world.mails().await.len(), 0);
        later(1);
        assert!(!works(&first).await, "half an hour is over");
        let second = world.link("ann@example.com").await;
        let new = dragoman::base::secret::Secret::new(NEW);
        world.service.identity.set_password(world.ann.id, &new).await.unwrap();
        assert!(!works(&second).await, "a new password ends it");
        later(3600);
        let third = world.link("ann@example.com").await;
        let browser = world.browser();
        let page = browser.get(&format!("/login/reset?token={third}")).await.text().await.unwrap();
        world.sql("UPDATE users SET suspended_at = 1 WHERE email = 'ann@example.com'").await;
        let csrf = field(&page, "csrf");
        let refused =
            browser.post("/login/reset", &form(&csrf, &third, "one more password", "one more password")).await;
        assert_eq!(refused.status(), 400, "a suspended person sets no password");
        world.sql("UPDATE users SET suspended_at = NULL WHERE email = 'ann@example.com'").await;
        assert!(can_log_in(world, NEW).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b30_of_two_that_use_a_link_at_once_one_does() {
    on_both(&[], async |world| {
        let token = world.link("ann@example.com").await;
        let (one, two) = (world.browser(), world.browser());
        let shown = async |browser: &Browser| {
            let page = browser.get(&format!("/login/reset?token={token}")).await;
            field(&page.text().await.unwrap(), "csrf")
        };
        let (first, second) = (shown(&one).await, shown(&two).await);
        let first = form(&first, &token, "the first secret", "the first secret");
        let second = form(&second, &token, "the second secret", "the second secret");
        let sent = tokio::join!(one.post("/login/reset", &first), two.post("/login/reset", &second));
        let statuses = [sent.0.status().as_u16(), sent.1.status().as_u16()];
        assert!(statuses == [200, 400] || statuses == [400, 200], "{statuses:?}");
        let works = [can_log_in(world, "the first secret").await, can_log_in(world, "the second secret").await];
        assert_eq!(works, [statuses[0] == 200, statuses[1] == 200]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_password_gets_a_first_one_and_the_browser_is_known() {
    on_both(&[("DRAGOMAN_FAILURES_PER_ACCOUNT", "1")], async |world| {
        world.sql("UPDATE users SET password_hash = '' WHERE email = 'ann@example.com'").await;
        let token = world.link("ann@example.com").await;
        let browser = world.browser();
        let guessed = world.log_in_from(&world.browser(), "192.0.2.1", "ann@example.com", "wrong password").await;
        assert_eq!(guessed.status(), 401);
        assert_eq!(choose(&browser, &token, NEW, NEW).await.status(), 200);
        // Somebody guesses at the account; who read the mail gets in all the same.
        let stranger = world.log_in_from(&world.browser(), "192.0.2.2", "ann@example.com", NEW).await;
        assert_eq!(stranger.status(), 429);
        assert_eq!(browser.log_in("ann@example.com", NEW, "/").await.status(), 303);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_asks_for_a_few_links_only() {
    let world = World::with(&[]).await;
    let browser = world.browser();
    let csrf = field(&browser.get("/login/forgot").await.text().await.unwrap(), "csrf");
    let mut statuses = Vec::new();
    for at in 0..6 {
        let email = format!("person{at}@example.com");
        statuses.push(browser.post("/login/forgot", &[("csrf", &*csrf), ("email", &email)]).await.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    let foreign = client(false).post(world.service.url("/login/forgot")).form(&[("email", "ann@example.com")]);
    let foreign = foreign.header("x-forwarded-for", "192.0.2.3").send().await.unwrap();
    assert_eq!(foreign.status(), 403);
    assert!(world.mails().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_server_that_fails_changes_no_answer() {
    let world = World::with(&[]).await;
    let password = dragoman::base::secret::Secret::new(PASSWORD);
    world.service.identity.create_user("refused@example.com", "R", &password).await.unwrap();
    assert_eq!(world.forgot("refused@example.com").await.status(), 200);
    assert!(world.mails().await.is_empty());
    assert_eq!(world.forgot("ann@example.com").await.status(), 200);
    assert_eq!(world.mails().await.len(), 1, "the next mail goes out");
    // A port where nobody listens.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    drop(listener);
    let gone = World::with(&[("DRAGOMAN_SMTP_URL", &url)]).await;
    assert_eq!(gone.forgot("ann@example.com").await.status(), 200);
    gone.service.identity.mailer().finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_mail_server_a_public_installation_promises_no_mail() {
    let world = World::with(&[("DRAGOMAN_SMTP_URL", ""), ("DRAGOMAN_PUBLIC_URL", "https://data.example.com")]).await;
    let listen = format!("http://{}", world.service.config.listen);
    let page = async |path: &str| {
        let response = client(false).get(format!("{listen}{path}")).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.text().await.unwrap()
    };
    assert!(!page("/login").await.contains("/login/forgot"));
    let forgot = page("/login/forgot").await;
    assert!(forgot.contains("sends no e-mail") && !forgot.contains("name=\"email\""), "{forgot}");
}
