//! The console's pages for workspaces and connected apps, through a browser without scripts.

use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::{Egress, Org};
use dragoman::model::user::User;
use dragoman::store::audit;
use reqwest::Response;

use crate::site::{Browser, client, field, location};
use crate::support::service::{PASSWORD, Service};

const PAGES: [&str; 8] = ["", "/ask", "/ask/history", "/members", "/clients", "/sources", "/audit", "/settings"];

pub async fn person(service: &Service, email: &str, places: &[(&Org, Role)]) -> (User, Browser) {
    let user = service.identity.create_user(email, "Person", &Secret::new(PASSWORD)).await.unwrap();
    for (org, role) in places {
        service.identity.set_role(org.id, user.id, *role).await.unwrap();
    }
    let browser = Browser { base: service.url(""), http: client(true) };
    (user, browser.signed_in(email).await)
}

/// The page's form that does `what`, with its token and what the page showed.
pub async fn send(browser: &Browser, page: &str, what: &str, more: &[(&str, &str)]) -> Response {
    let shown = browser.get(page).await.text().await.unwrap();
    send_from(&shown, browser, page, what, more).await
}

/// As [`send`], from a page that was loaded before.
pub async fn send_from(shown: &str, browser: &Browser, page: &str, what: &str, more: &[(&str, &str)]) -> Response {
    let (csrf, was) = (token(shown), was(shown));
    let said = [("was", was.as_str()), ("do", what)].into_iter().filter(|(_, value)| !value.is_empty());
    let form: Vec<_> = [("csrf", csrf.as_str())].into_iter().chain(said).chain(more.iter().copied()).collect();
    browser.post(page, &form).await
}

/// The token of the page's own forms; the first on a page is that of signing out.
pub fn token(page: &str) -> String {
    let (_, main) = page.split_once("<main").unwrap();
    field(main, "csrf")
}

/// What the first form that says so was made from; empty when none does.
pub fn was(page: &str) -> String {
    let was = field(page, "was").replace("&#34;", "\"").replace("&quot;", "\"").replace("&#39;", "'");
    let was = was.replace("&#60;", "<").replace("&lt;", "<").replace("&#62;", ">").replace("&gt;", ">");
    was.replace("&#38;", "&").replace("&amp;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_belong_sees_the_same_as_for_a_workspace_that_is_not_there() {
    let service = Service::start().await;
    let (ours, theirs) = (service.workspace("ours").await, service.workspace("theirs").await);
    let (_, browser) = person(&service, "ann@example.com", &[(&ours, Role::Admin)]).await;
    for page in PAGES {
        assert_eq!(browser.get(&format!("/w/ours{page}")).await.status(), 200, "{page}");
        let there = browser.get(&format!("/w/theirs{page}")).await;
        let nowhere = browser.get(&format!("/w/nowhere{page}")).await;
        assert_eq!((there.status(), nowhere.status()), (404.try_into().unwrap(), 404.try_into().unwrap()), "{page}");
        assert_eq!(there.text().await.unwrap(), nowhere.text().await.unwrap(), "{page}");
    }
    let stranger = Browser { base: service.url(""), http: client(true) };
    let asked = stranger.get("/w/ours/members").await;
    assert_eq!((asked.status().as_u16(), location(&asked).as_str()), (303, "/login?return_to=%2Fw%2Fours%2Fmembers"));
    // A form of one workspace is not one of another.
    let csrf = token(&browser.get("/w/ours/members").await.text().await.unwrap());
    let sent =
        browser.post("/w/theirs/members", &[("csrf", &csrf), ("do", "invite"), ("email", "x@example.com")]).await;
    assert_eq!(sent.status(), 403);
    assert!(service.identity.invitations(theirs.id).await.unwrap().is_empty());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_the_overview_and_manages_nothing() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let overview = browser.get("/w/acme").await.text().await.unwrap();
    assert!(overview.contains("you are viewer") && !overview.contains("/w/acme/members"), "{overview}");
    for page in &PAGES[1..] {
        let refused = browser.get(&format!("/w/acme{page}")).await;
        assert_eq!(refused.status(), 403, "{page}");
        assert!(refused.text().await.unwrap().contains("Your role in this workspace is viewer"), "{page}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_manages_people_by_forms_alone() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (ann, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (bob, _) = person(&service, "bob@example.com", &[(&org, Role::Viewer)]).await;
    let page = "/w/acme/members";

    let bob_id = bob.id.to_string();
    let changed = send(&browser, page, "role", &[("user_id", &bob_id), ("role", "contributor")]).await;
    assert_eq!((changed.status().as_u16(), location(&changed)), (303, format!("{page}?done=1")));
    let told = r#"<p class="notice" role="status">Done.</p>"#;
    assert!(browser.get(&location(&changed)).await.text().await.unwrap().contains(told));
    assert!(!browser.get(page).await.text().await.unwrap().contains(told), "nothing was done here");
    assert_eq!(service.identity.role(org.id, bob.id).await.unwrap(), Some(Role::Contributor));
    let ann_id = ann.id.to_string();
    for (what, more) in
        [("role", vec![("user_id", ann_id.as_str()), ("role", "viewer")]), ("remove", vec![("user_id", &*ann_id)])]
    {
        let kept = send(&browser, page, what, &more).await;
        assert_eq!(kept.status(), 422, "{what}: the last admin stays");
        assert!(kept.text().await.unwrap().contains("role=\"alert\""));
    }
    let forged = browser.post(page, &[("csrf", "00"), ("do", "remove"), ("user_id", &bob_id)]).await;
    assert_eq!(forged.status(), 403);

    let invited = send(&browser, page, "invite", &[("email", "cleo@example.com"), ("role", "viewer")]).await;
    let text = browser.once(invited).await;
    assert!(text.contains("cleo@example.com") && text.contains(&service.url("/invitation/")), "{text}");
    let again = browser.get(page).await.text().await.unwrap();
    assert!(again.contains("cleo@example.com") && !again.contains("/invitation/"), "the link is shown once");
    let id = field(&again, "invitation_id");
    assert_eq!(send(&browser, page, "revoke", &[("invitation_id", &id)]).await.status(), 303);
    assert!(service.identity.invitations(org.id).await.unwrap().is_empty());

    assert_eq!(send(&browser, page, "remove", &[("user_id", &bob_id)]).await.status(), 303);
    assert_eq!(service.identity.role(org.id, bob.id).await.unwrap(), None);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_is_too_old_is_confirmed_before_anything_changes() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    service.clock.advance(service.config.limits.lifetimes.step_up + Duration::from_secs(1));
    let page = "/w/acme/settings";
    let sent = send(&browser, page, "", &[("name", "Other")]).await;
    let confirm = location(&sent);
    assert!(confirm.starts_with("/login/confirm?return_to=%2Fw%2Facme%2Fsettings%3Fagain%3D"), "{confirm}");
    let asked = browser.get(&confirm).await.text().await.unwrap();
    assert!(asked.contains("Nothing was changed yet. What you typed is kept"), "{asked}");
    let (csrf, again) = (field(&asked, "csrf"), field(&asked, "return_to"));
    let form = [("csrf", &*csrf), ("way", "password"), ("password", PASSWORD), ("return_to", &*again)];
    assert_eq!(location(&browser.post("/login/confirm", &form).await), again);
    // What was typed is in the form, and nothing is done until it is sent.
    let back = browser.get(&again).await.text().await.unwrap();
    assert!(back.contains("back in its form"), "{back}");
    assert!(back.contains(r#"maxlength="100" value="Other" required>"#), "{back}");
    assert_eq!(service.identity.org(org.id).await.unwrap().unwrap().name, "acme");
    let once = browser.get(&again).await.text().await.unwrap();
    assert!(once.contains(r#"maxlength="100" value="acme" required>"#), "it is given back once: {once}");
    assert_eq!(send_from(&back, &browser, page, "", &[("name", "Other")]).await.status(), 303);
    assert_eq!(service.identity.org(org.id).await.unwrap().unwrap().name, "Other");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_whose_session_ran_out_waits_for_its_own_person_without_its_secrets() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
        person(&service, "bob@example.com", &[(&org, Role::Admin)]).await;
        let (clients, sources) = ("/w/acme/clients", "/w/acme/sources");
        let token_form = browser.get(clients).await.text().await.unwrap();
        let source_form = browser.get(sources).await.text().await.unwrap();
        let connect = [
            ("cursor", ""),
            ("name", "shop"),
            ("engine", "clickhouse"),
            ("address", "https://db.example.com"),
            ("user", "reader"),
            ("password", "not for keeping"),
        ];
        let connecting =
            [r#"value="https://db.example.com""#, r#"<option value="clickhouse" selected"#, r#"value="reader""#];
        let make = [("label", "nightly \"x\""), ("scope", "ext:sql"), ("expires_in_days", "7")];
        let making = [r#"value="nightly &quot;x&quot;""#, r#"value="ext:sql" checked"#, r#"value="7""#];
        let mut back = String::new();
        for (shown, page, what, more, parts) in [
            (&source_form, sources, "add", &connect[..], connecting),
            (&token_form, clients, "create", &make[..], making),
        ] {
            service.clock.advance(service.config.limits.lifetimes.browser_session + Duration::from_secs(1));
            // What is not from a page of ours is not kept.
            let forged = browser.post(page, &[&[("csrf", "00"), ("do", what)][..], more].concat()).await;
            assert_eq!(location(&forged), format!("/login?return_to={}", page.replace('/', "%2F")));
            let sent = location(&send_from(shown, &browser, page, what, more).await);
            assert!(sent.starts_with("/login?return_to=%2Fw%2Facme%2F") && sent.contains("%3Fagain%3D"), "{sent}");
            let asked = browser.get(&sent).await.text().await.unwrap();
            assert!(asked.contains("You are not signed in any more. Nothing was changed yet."), "{asked}");
            let again = field(&asked, "return_to");
            // Another person at the same browser is shown the page as it is.
            assert_eq!(location(&browser.log_in("bob@example.com", PASSWORD, &again).await), again);
            let other = browser.get(&again).await.text().await.unwrap();
            assert!(!other.contains(parts[0]) && !other.contains("back in its form"), "{other}");
            assert_eq!(location(&browser.log_in("ann@example.com", PASSWORD, &again).await), again);
            back = browser.get(&again).await.text().await.unwrap();
            for part in parts {
                assert!(back.contains(part), "{part}: {back}");
            }
            assert!(back.contains("back in its form") && !back.contains("not for keeping"), "{back}");
        }
        assert!(service.identity.tokens(org.id).await.unwrap().is_empty(), "nothing is made by looking");
        let made = browser.once(send_from(&back, &browser, clients, "create", &make).await).await;
        assert!(made.contains("<code>dgmcp_"), "{made}");
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_shown_once_and_settings_hold_at_once() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let page = "/w/acme/clients";
    let form = [("label", "report"), ("scope", "ext:datasets"), ("scope", "ext:sql"), ("expires_in_days", "30")];
    let sent = send(&browser, page, "create", &form).await;
    let at = location(&sent);
    let made = browser.once(sent).await;
    let (_, secret) = made.split_once("<code>dgmcp_").unwrap();
    let secret = format!("dgmcp_{}", secret.split('<').next().unwrap());
    // Loaded again, the page says so, and makes no other.
    let again = browser.get(&at).await.text().await.unwrap();
    assert!(again.contains("not shown again") && !again.contains(&secret), "{again}");
    assert_eq!(service.identity.tokens(org.id).await.unwrap().len(), 1);
    assert!(!browser.get(page).await.text().await.unwrap().contains(&secret), "it is shown once");
    let health = async || service.get("/api/v1/ext/datasets", &secret).send().await.unwrap().status().as_u16();
    assert_eq!(health().await, 200);

    let off =
        send(&browser, "/w/acme/settings", "", &[("name", "Acme & Sons"), ("email_domains", "example.com")]).await;
    assert_eq!(off.status(), 303);
    let org = service.identity.org(org.id).await.unwrap().unwrap();
    assert_eq!((org.name.as_str(), org.connectivity_enabled), ("Acme & Sons", false));
    assert_eq!(health().await, 503, "AI clients are off");
    let on = [("name", "Acme"), ("connectivity_enabled", "1"), ("llm_egress", "restricted"), ("llm_send_values", "1")];
    assert_eq!(send(&browser, "/w/acme/settings", "", &on).await.status(), 303);
    assert_eq!(health().await, 200);
    let models = service.identity.settings(org.id).await.unwrap().language_models;
    assert_eq!((models.egress, models.send_values), (Egress::Restricted, true));
    let page_now = browser.get("/w/acme/settings").await.text().await.unwrap();
    assert!(page_now.contains(r#"value="restricted" checked"#), "{page_now}");
    assert!(page_now.contains(r#"name="llm_send_values" value="1" checked"#), "{page_now}");
    let less = [("name", "Acme"), ("connectivity_enabled", "1"), ("llm_egress", "nonsense")];
    assert_eq!(send(&browser, "/w/acme/settings", "", &less).await.status(), 303);
    assert_eq!(service.identity.settings(org.id).await.unwrap().language_models, Default::default());

    // Rotated, it is shown with its successor, whose secret is on the answer alone.
    let token_id = secret.split('_').nth(1).unwrap();
    let rotated = browser.once(send(&browser, page, "rotate", &[("token_id", token_id)]).await).await;
    let (_, next) = rotated.split_once("<code>dgmcp_").unwrap();
    let next = format!("dgmcp_{}", next.split('<').next().unwrap());
    assert!(next != secret && rotated.contains("active, rotated"), "{rotated}");
    let with_next = service.get("/api/v1/ext/datasets", &next).send().await.unwrap().status().as_u16();
    assert_eq!((health().await, with_next), (200, 200));
    assert!(!browser.get(page).await.text().await.unwrap().contains(&next), "it is shown once");

    assert_eq!(send(&browser, page, "revoke", &[("token_id", token_id)]).await.status(), 303);
    assert_eq!(health().await, 401);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_keeps_what_was_typed() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let page = "/w/acme/clients";
    let form = [("label", "nightly"), ("scope", "ext:sql"), ("expires_in_days", "99999999")];
    let refused = send(&browser, page, "create", &form).await;
    assert_eq!(refused.status(), 422);
    let refused = refused.text().await.unwrap();
    for part in [r#"value="nightly""#, r#"value="ext:sql" checked"#, r#"value="99999999""#] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert_eq!(refused.matches(" checked").count(), 1, "{refused}");
    let fresh = browser.get(page).await.text().await.unwrap();
    assert!(fresh.contains(r#"value="90""#) && !fresh.contains(" checked"), "{fresh}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_read_pages_and_their_own_words_where_something_is_missing() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "sales.csv", b"a\n1\n", false).await.unwrap();
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
    let look = async |path: &str| {
        let request = browser.http.get(format!("{}{path}", browser.base));
        request.header("accept", "text/html,application/xhtml+xml,*/*;q=0.8").send().await.unwrap()
    };
    for path in ["/w/acme/documents", "/account/nothing", "/docs/no/thing"] {
        let page = look(path).await;
        assert_eq!(page.status(), 404, "{path}");
        let page = page.text().await.unwrap();
        assert!(page.contains("There is nothing at this address.") && page.contains("<h1>"), "{path}: {page}");
    }
    let slash = look("/w/acme/").await;
    assert_eq!((slash.status().as_u16(), location(&slash).as_str()), (303, "/w/acme"));
    // Programs, and whoever looks elsewhere, read JSON as before.
    for answer in [browser.get("/w/acme/documents").await, look("/nowhere").await] {
        assert_eq!(answer.headers()["content-type"], "application/json");
    }

    let nowhere = browser.get("/w/acme/ontologies/01936f2e-7c1a-7000-8000-000000000001").await.text().await.unwrap();
    assert!(nowhere.contains("List the ontologies to see which there are."), "{nowhere}");
    let query = [("mode", "sql"), ("sql", "SELECT * FROM elsewhere")];
    let wrong = send(&browser, "/w/acme/ask", "", &query).await.text().await.unwrap();
    assert!(wrong.contains("List the datasets to see which tables there are."), "{wrong}");
    service.stop().await;
}

/// What a browser sends of the settings, as `changed` leaves them.
fn settings<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let shown = [("name", "acme"), ("connectivity_enabled", "1"), ("email_domains", ""), ("llm_egress", "allowed")];
    let kept = shown.into_iter().filter(|(name, _)| !changed.iter().any(|(other, _)| name == other));
    kept.chain(changed.iter().copied()).filter(|(_, value)| !value.is_empty()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_page_of_the_settings_takes_back_nothing_that_another_admin_set() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        let (_, ada) = person(&service, "ada@example.com", &[(&org, Role::Admin)]).await;
        let (_, carl) = person(&service, "carl@example.com", &[(&org, Role::Admin)]).await;
        let page = "/w/acme/settings";
        assert_eq!(send(&ada, page, "", &settings(&[])).await.status(), 303);
        let now = async || service.identity.settings(org.id).await.unwrap();
        assert_eq!(now().await.language_models.egress, Egress::Allowed);

        // In an incident Carl shuts all out; Ada does not know.
        let old = ada.get(page).await.text().await.unwrap();
        let off = settings(&[("connectivity_enabled", ""), ("email_domains", "example.com"), ("llm_egress", "off")]);
        assert_eq!(send(&carl, page, "", &off).await.status(), 303);
        assert_eq!(send_from(&old, &ada, page, "", &settings(&[("name", "Acme Ltd")])).await.status(), 303);
        let set = now().await;
        assert_eq!((set.org.name.as_str(), set.org.connectivity_enabled), ("Acme Ltd", false));
        assert_eq!((set.email_domains, set.language_models.egress), (vec!["example.com".to_owned()], Egress::Off));

        // What both changed is not written over unseen; what was typed stays, and nothing else of the old page does.
        let both = settings(&[("name", "Acme Inc"), ("llm_egress", "restricted")]);
        let refused = send_from(&old, &ada, page, "", &both).await;
        assert_eq!(refused.status(), 422);
        // The page that follows has a row too.
        let (_, record) = audit::newest(&service.db, Some(org.id), 2).await.unwrap().remove(1);
        assert_eq!((record.action.as_str(), record.outcome.as_str()), ("admin.workspace.update", "invalid_argument"));
        let refused = refused.text().await.unwrap();
        for part in [
            "Somebody changed the name meanwhile: it is “Acme Ltd” now.",
            "Somebody changed the choice of language models meanwhile: it is “off” now. Nothing was saved.",
            r#"value="Acme Inc""#,
            r#"value="restricted" checked"#,
            r#"name="connectivity_enabled" value="1"><span>"#,
            ">example.com</textarea>",
        ] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        assert_eq!((now().await.org.name.as_str(), now().await.language_models.egress), ("Acme Ltd", Egress::Off));
        let seen = [("name", "Acme Inc"), ("email_domains", "example.com"), ("llm_egress", "restricted")];
        assert_eq!(send_from(&refused, &ada, page, "", &seen).await.status(), 303);
        let set = now().await;
        assert_eq!((set.org.name.as_str(), set.org.connectivity_enabled), ("Acme Inc", false));
        assert_eq!(set.language_models.egress, Egress::Restricted);

        // A page that does not say what it showed changes nothing.
        let csrf = token(&old);
        let silent = ada.post(page, &[("csrf", &csrf), ("name", "Other"), ("connectivity_enabled", "1")]).await;
        assert_eq!(silent.status(), 422);
        assert!(silent.text().await.unwrap().contains("Open it again, and save there."));
        assert_eq!(now().await, set);
        service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_and_admins_end_connections_at_once() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (ann, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (bob, of_bob) = person(&service, "bob@example.com", &[(&org, Role::Viewer)]).await;
    let status = async |token: &str| service.get("/api/v1/ext/health", token).send().await.unwrap().status().as_u16();

    let own = service.access_token_of(&org, ann.id, &[Scope::DataRead]).await;
    let apps = browser.get("/account/apps").await.text().await.unwrap();
    assert!(apps.contains("Test client") && apps.contains("name unverified"), "{apps}");
    let grant = field(&apps, "grant");
    // Somebody else's is not theirs to end.
    let csrf = token(&of_bob.get("/account/apps").await.text().await.unwrap());
    assert!(csrf.is_empty(), "there is nothing to end");
    assert_eq!(status(&own).await, 200);
    let ended = browser.post("/account/apps", &[("csrf", &token(&apps)), ("grant", &grant)]).await;
    assert_eq!((ended.status().as_u16(), status(&own).await), (303, 401));

    let bobs = service.access_token_of(&org, bob.id, &[Scope::DataRead]).await;
    let page = "/w/acme/clients";
    let shown = browser.get(page).await.text().await.unwrap();
    assert!(shown.contains("bob@example.com"), "{shown}");
    let (grant, client_id) = (field(&shown, "grant_id"), field(&shown, "client_id"));
    assert_eq!(send(&browser, page, "disconnect", &[("grant_id", &grant)]).await.status(), 303);
    assert_eq!(status(&bobs).await, 401);

    let another = service.access_token_of(&org, bob.id, &[Scope::DataRead]).await;
    assert_eq!(send(&browser, page, "block", &[("client_id", &client_id)]).await.status(), 303);
    assert_eq!(status(&another).await, 401);
    assert!(browser.get(page).await.text().await.unwrap().contains("Blocked clients"));
    assert_eq!(send(&browser, page, "unblock", &[("client_id", &client_id)]).await.status(), 303);
    assert!(!browser.get(page).await.text().await.unwrap().contains("Blocked clients"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_is_filtered_and_taken_away() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (ann, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let token = service.access_token_of(&org, ann.id, &[Scope::DataRead]).await;
    for _ in 0..3 {
        service.get("/api/v1/ext/datasets", &token).send().await.unwrap();
    }
    let refused = service.get("/api/v1/members", &token).send().await.unwrap();
    assert_eq!(refused.status(), 403);

    let all = browser.get("/w/acme/audit").await.text().await.unwrap();
    assert!(all.contains("rest.call") && all.contains("ann@example.com"), "{all}");
    let denied = browser.get("/w/acme/audit?outcome=scope_denied").await.text().await.unwrap();
    assert_eq!(denied.matches("<time ").count(), 1, "{denied}");
    let wrong = browser.get("/w/acme/audit?since=yesterday").await;
    assert_eq!(wrong.status(), 422);

    let csv = browser.get("/w/acme/audit/export?format=csv&action=rest.call").await;
    assert_eq!(csv.headers()["content-type"], "text/csv; charset=utf-8");
    assert_eq!(csv.headers()["content-disposition"], "attachment; filename=\"audit.csv\"");
    let csv = csv.text().await.unwrap();
    assert!(csv.starts_with("seq,at,principal,"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains("rest.call")).count(), 3, "{csv}");
    let lines = browser.get("/w/acme/audit/export?format=ndjson").await.text().await.unwrap();
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_says_whom_by_their_addresses() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (bob, _) = person(&service, "bob@example.com", &[(&org, Role::Viewer)]).await;
    let bob = bob.id.to_string();
    assert_eq!(send(&browser, "/w/acme/members", "remove", &[("user_id", &bob)]).await.status(), 303);
    let whom = format!("{bob} (bob@example.com)");
    let found = browser.get("/w/acme/audit?principal=Ann@example.com&outcome=OK&action=admin.role.").await;
    let found = found.text().await.unwrap();
    assert!(found.matches("<time ").count() == 1 && found.contains(&whom), "who left is known: {found}");
    let none = browser.get("/w/acme/audit?principal=eve@example.com").await.text().await.unwrap();
    assert!(none.contains("Nothing was found."), "{none}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_is_taken_away_for_as_long_as_the_browser_is_signed_in() {
    let service = Service::with(&[("DRAGOMAN_RATE_MANAGE", "60")]).await;
    let org = service.workspace("acme").await;
    let (ann, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    // All calls of a minute but one.
    for _ in 0..59 {
        let none = browser.get("/w/acme/audit/export?format=ndjson&until=2000-01-01T00:00:00Z").await;
        assert_eq!(none.text().await.unwrap(), "");
    }
    let entry = service.last_audit(&org).await;
    audit::append(&service.db, vec![entry; 400], vec![]).await.unwrap();
    // The second part waits until there may be another call.
    let mut file = browser.get("/w/acme/audit/export?format=ndjson").await;
    assert_eq!(file.status(), 200);
    assert_eq!(service.identity.end_other_browser_sessions(ann.id, "").await.unwrap(), 1);
    service.clock.advance(Duration::from_secs(60));
    let end = loop {
        match file.chunk().await {
            Ok(Some(_)) => {}
            end => break end,
        }
    };
    assert!(end.is_err(), "the whole file came");
    service.stop().await;
}
