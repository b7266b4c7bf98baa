//! The page of an invitation, and what a browser meets when somebody is locked out.

use dragoman::base::secret::Secret;
use dragoman::model::access::Role;

use crate::site::{Browser, PASSWORD, Site, field, location};

/// Invites an address into `demo` in Ann's name; returns the path of the link.
async fn invite(site: &Site, email: &str, role: Role) -> String {
    let (_, link) = site.identity.invite(site.demo.id, Some(site.ann.id), email, role).await.unwrap();
    link.expose().strip_prefix(&site.base).unwrap().to_owned()
}

async fn page(browser: &Browser, path: &str) -> (u16, String) {
    let response = browser.get(path).await;
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn k08_somebody_new_sees_who_invites_to_what_and_makes_an_account() {
    let site = Site::start().await;
    let path = invite(&site, "new@example.com", Role::Contributor).await;
    let browser = site.browser();
    let response = browser.get(&path).await;
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["referrer-policy"], "same-origin");
    let text = response.text().await.unwrap();
    for part in ["Join <bdi>Demo</bdi>?", "ann@example.com", "new@example.com", "a contributor", "new-password"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let csrf = field(&text, "csrf");
    let form = [("csrf", &*csrf), ("name", "New"), ("password", "another good one")];
    // Without the form's token, from elsewhere, with the token of another browser, or with a bad password: nothing.
    assert_eq!(browser.post(&path, &[("name", "New"), ("password", "another good one")]).await.status(), 403);
    let request = browser.http.post(site.url(&path)).form(&form).header("origin", "https://evil.example");
    assert_eq!(request.send().await.unwrap().status(), 403);
    assert_eq!(site.browser().post(&path, &form).await.status(), 403);
    let short = browser.post(&path, &[("csrf", &csrf), ("name", "<New>"), ("password", "short")]).await;
    assert_eq!(short.status(), 422);
    let text = short.text().await.unwrap();
    assert!(text.contains("role=\"alert\"") && text.contains("8 to 128") && !text.contains("<New>"), "{text}");
    assert!(site.identity.user_by_email("new@example.com").await.unwrap().is_none());

    let joined = browser.post(&path, &form).await;
    assert_eq!((joined.status().as_u16(), location(&joined).as_str()), (303, "/"));
    let (_, home) = page(&browser, "/").await;
    assert!(home.contains("new@example.com") && home.contains("Demo"), "{home}");
    let user = site.identity.user_by_email("new@example.com").await.unwrap().unwrap();
    assert_eq!(site.identity.role(site.demo.id, user.id).await.unwrap(), Some(Role::Contributor));
    assert_eq!(page(&browser, &path).await.0, 404, "used");
    assert_eq!(browser.post(&path, &form).await.status(), 404);
    let events = site.events.lock().unwrap().clone();
    let accepted: Vec<_> = events.iter().filter(|event| event.action == "admin.invitation.accept").collect();
    let outcomes: Vec<_> = accepted.iter().map(|event| event.outcome.as_str()).collect();
    assert_eq!(outcomes, ["form_refused", "form_refused", "form_refused", "ok"]);
    assert_eq!(accepted[3].principal, format!("user:{}", user.id));
    assert!(accepted.iter().all(|event| event.org == Some(site.demo.id)));
    let token = path.rsplit('/').next().unwrap();
    assert!(!format!("{events:?}").contains(token), "the link is in no record");
}

#[tokio::test]
async fn k08_who_has_an_account_signs_in_and_nobody_else_can_accept() {
    let site = Site::start().await;
    site.identity.create_user("cy@example.com", "Cy", &Secret::new(PASSWORD)).await.unwrap();
    let path = invite(&site, "cy@example.com", Role::Viewer).await;
    let browser = site.browser();
    let (status, text) = page(&browser, &path).await;
    let login = format!("/login?return_to={path}");
    assert!(status == 200 && text.contains(&format!("href=\"{login}\"")), "{text}");
    assert!(!text.contains("new-password"), "no account is made over another");
    let (_, text) = page(&browser, &login).await;
    assert_eq!(field(&text, "return_to"), path);

    // Bob is sent away, also when he sends the form that he was not shown.
    let bob = site.browser().signed_in("bob@example.com").await;
    let (_, text) = page(&bob, &path).await;
    assert!(text.contains("You are signed in as bob@example.com") && text.contains("action=\"/logout\""), "{text}");
    assert!(!text.contains("Join the workspace"));
    assert_eq!(bob.post(&path, &[("csrf", &field(&text, "csrf"))]).await.status(), 403, "the token of another form");

    let done = browser.log_in("cy@example.com", PASSWORD, &path).await;
    assert_eq!(location(&done), path);
    let (_, text) = page(&browser, &path).await;
    let accepted = browser.post(&path, &[("csrf", &field(&text, "csrf"))]).await;
    assert_eq!(accepted.status(), 303);
    let cy = site.identity.user_by_email("cy@example.com").await.unwrap().unwrap();
    assert_eq!(site.identity.role(site.demo.id, cy.id).await.unwrap(), Some(Role::Viewer));
    for gone in [&path, "/invitation/dgin_nothing", "/invitation/x"] {
        let (status, text) = page(&browser, gone).await;
        assert!(status == 404 && text.contains("This invitation is over"), "{gone}");
    }
}

/// I18: a person who is locked out is nobody in every browser, and signing in fails as with a wrong password.
#[tokio::test]
async fn i18_a_suspended_person_is_signed_out_and_told_nothing() {
    let site = Site::start().await;
    let browser = site.browser().signed_in("bob@example.com").await;
    assert!(page(&browser, "/").await.1.contains("bob@example.com"));
    site.identity.suspend_person(site.bob.id, true).await.unwrap();
    assert!(!page(&browser, "/").await.1.contains("bob@example.com"));
    let fresh = site.browser();
    let suspended = fresh.log_in("bob@example.com", PASSWORD, "/").await;
    let status = suspended.status();
    let suspended = suspended.text().await.unwrap();
    let wrong = site.browser().log_in("bob@example.com", "not the password", "/").await;
    assert_eq!((status, wrong.status().as_u16()), (wrong.status(), 401));
    let without = |text: &str| text.replace(&field(text, "csrf"), "");
    assert_eq!(without(&suspended), without(&wrong.text().await.unwrap()));
    site.identity.suspend_person(site.bob.id, false).await.unwrap();
    assert!(!page(&browser, "/").await.1.contains("bob@example.com"), "the old session is gone for good");
    assert_eq!(fresh.log_in("bob@example.com", PASSWORD, "/").await.status(), 303);
}
