//! Consent that is remembered, and what ends it; and what ends a code before it is exchanged.

use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::identity::consents::{Request, addresses};
use dragoman::identity::grants::Approval;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::store::sessions::{self, SessionRow};
use reqwest::Response;
use serde_json::{Value, json};

use crate::identity::{World, invalid_grant};
use crate::redirector::offered;
use crate::site::{Browser, PASSWORD, Site, VERIFIER, field, location, param, refresh};
use crate::support::databases::both;

const WEB: &str = "https://client.example/cb";
const OTHER: &str = "https://client.example/other";

/// A client on the web.
async fn web_client(site: &Site, name: &str) -> String {
    let body =
        json!({ "client_name": name, "redirect_uris": [WEB, OTHER, "http://127.0.0.1/callback", "cursor://cb"] });
    let body: Value = site.register(body).await.json().await.unwrap();
    body["client_id"].as_str().unwrap().to_owned()
}

/// The request of a client on the web, with changes.
fn request(site: &Site, client: &str, changes: &[(&str, &str)]) -> String {
    let mut all = vec![("redirect_uri", WEB)];
    all.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    all.extend(changes);
    site.authorize_path(client, &all)
}

/// Approves on the page, for a workspace.
async fn approve(browser: &Browser, path: &str, workspace: &str, more: &[(&str, &str)]) -> String {
    let page = browser.consent_page(path).await;
    let chosen = field(&page, "workspace");
    let page = page.replace(
        &format!("name=\"workspace\" value=\"{chosen}\""),
        &format!("name=\"workspace\" value=\"{workspace}\""),
    );
    param(&refresh(&browser.answer(&page, "approve", more).await), "code").unwrap()
}

/// The code that came back without a page, if it did; else the browser must be on its way to the page.
async fn without_a_page(browser: &Browser, path: &str) -> Option<String> {
    silent(browser.get(path).await)
}

#[track_caller]
fn silent(response: Response) -> Option<String> {
    assert_eq!(response.status(), 303);
    let to = location(&response);
    if to.starts_with("/consent?request=") {
        return None;
    }
    Some(param(&to, "code").unwrap_or_else(|| panic!("{to}")))
}

async fn redeem(site: &Site, client: &str, code: &str, redirect_uri: &str) -> (u16, Value) {
    site.token(&[
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client),
        ("redirect_uri", redirect_uri),
        ("code_verifier", VERIFIER),
    ])
    .await
}

/// Who the bearer of a code's tokens is at `/mcp`.
async fn whose(site: &Site, client: &str, code: &str) -> String {
    let (status, tokens) = redeem(site, client, code, WEB).await;
    assert_eq!(status, 200, "{tokens}");
    site.call("/mcp", tokens["access_token"].as_str().unwrap()).await.text().await.unwrap()
}

async fn ann(site: &Site) -> Browser {
    site.browser().signed_in("ann@example.com").await
}

#[tokio::test]
async fn b14_the_same_request_and_one_for_less_are_approved_without_the_page() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    site.identity.set_connectivity(site.quiet.id, true).await.unwrap();
    approve(&ann, &request(&site, &client, &[]), "quiet", &[]).await;
    let pending = site.rows("pending").await;

    let response = ann.get(&request(&site, &client, &[("state", "s-2")])).await;
    let to = location(&response);
    assert!(to.starts_with(&format!("{WEB}?code=")), "{to}");
    assert_eq!((param(&to, "state").as_deref(), param(&to, "iss").as_deref()), (Some("s-2"), Some(&*site.base)));
    let code = silent(response).unwrap();
    assert_eq!(whose(&site, &client, &code).await, format!("{} admin", site.quiet.id), "the workspace that was chosen");

    let code = without_a_page(&ann, &request(&site, &client, &[("scope", "data_agent:read")])).await.unwrap();
    let (_, tokens) = redeem(&site, &client, &code, WEB).await;
    assert_eq!(tokens["scope"], "data_agent:read");
    // The same in another order, and in another browser of the same person.
    let swapped = request(&site, &client, &[("scope", "data_agent:write offline_access data_agent:read")]);
    let elsewhere = site.browser().signed_in("ann@example.com").await;
    assert!(without_a_page(&elsewhere, &swapped).await.is_some());
    assert_eq!(site.rows("pending").await, pending, "no page was prepared");

    let events = site.events.lock().unwrap();
    let remembered: Vec<_> = events.iter().filter(|event| event.outcome == "remembered").collect();
    assert_eq!(remembered.len(), 3);
    for event in remembered {
        assert_eq!((event.action, &event.client, event.target.as_str()), ("oauth.consent", &client, "client.example"));
        assert_eq!((event.org, event.principal.clone()), (Some(site.quiet.id), format!("user:{}", site.ann.id)));
    }
}

#[tokio::test]
async fn b14_more_or_other_than_what_was_approved_shows_the_page() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    approve(&ann, &request(&site, &client, &[]), "demo", &[("scope", "data_agent:read")]).await;
    let workspace = site.url("/t/demo/mcp");
    for changes in [
        // The box that was not ticked is asked for again.
        [].as_slice(),
        &[("scope", "data_agent:read ontologies:read")],
        // No scope is the usual three.
        &[("scope", "")],
        &[("scope", "data_agent:read"), ("redirect_uri", OTHER)],
        &[("scope", "data_agent:read"), ("resource", &workspace)],
        &[("scope", "data_agent:read"), ("prompt", "consent")],
        &[("scope", "data_agent:read"), ("prompt", "select_account")],
    ] {
        assert_eq!(without_a_page(&ann, &request(&site, &client, changes)).await, None, "{changes:?}");
    }
    let less = request(&site, &client, &[("scope", "data_agent:read")]);
    assert!(without_a_page(&ann, &less).await.is_some());
    // What one person approved says nothing of another.
    let bob = site.browser().signed_in("bob@example.com").await;
    assert_eq!(without_a_page(&bob, &less).await, None);
    // The latest answer is the one that counts.
    approve(&ann, &request(&site, &client, &[("prompt", "consent")]), "demo", &[]).await;
    assert!(without_a_page(&ann, &request(&site, &client, &[])).await.is_some());
}

#[tokio::test]
async fn b14_programs_on_the_computer_are_asked_about_each_time() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    for redirect in ["http://127.0.0.1:43210/callback", "cursor://cb"] {
        let path = request(&site, &client, &[("redirect_uri", redirect)]);
        for _ in 0..2 {
            let page = ann.consent_page(&path).await;
            assert!(param(&refresh(&ann.answer(&page, "approve", &[]).await), "code").is_some());
        }
        let silently = ann.get(&request(&site, &client, &[("redirect_uri", redirect), ("prompt", "none")])).await;
        let to = if redirect.starts_with("http:") { location(&silently) } else { offered(silently).await };
        assert_eq!(param(&to, "error").as_deref(), Some("consent_required"), "{redirect}");
    }
    let kept: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM consents").fetch_one(site.identity.db().pool()).await.unwrap();
    assert_eq!(kept, 0);
}

#[tokio::test]
async fn b15_an_attackers_client_does_not_profit_from_what_another_client_was_given() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    approve(&ann, &request(&site, &client, &[]), "demo", &[]).await;
    // The same name, even the same addresses with one more: it is another client.
    let body = json!({ "client_name": "Web client", "redirect_uris": [WEB, "https://evil.example/cb"] });
    let body: Value = site.register(body).await.json().await.unwrap();
    let evil = body["client_id"].as_str().unwrap();
    for redirect in [WEB, "https://evil.example/cb"] {
        let path = request(&site, evil, &[("redirect_uri", redirect)]);
        assert_eq!(without_a_page(&ann, &path).await, None);
        let silently = ann.get(&request(&site, evil, &[("redirect_uri", redirect), ("prompt", "none")])).await;
        assert_eq!(param(&offered(silently).await, "error").as_deref(), Some("consent_required"));
    }
    // And the client that was approved gets no address of the attacker's.
    let stolen = request(&site, &client, &[("redirect_uri", "https://evil.example/cb")]);
    assert_eq!(ann.get(&stolen).await.status(), 400);
}

#[tokio::test]
async fn a20_prompt_none_succeeds_for_what_is_remembered_and_only_then() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    let path = request(&site, &client, &[("prompt", "none")]);
    let error = async |browser: &Browser, path: &str| param(&location(&browser.get(path).await), "error").unwrap();
    // Who has not connected it is not sent there without being asked.
    let asked = async |browser: &Browser| param(&offered(browser.get(&path).await).await, "error").unwrap();
    assert_eq!(asked(&ann).await, "consent_required");
    approve(&ann, &request(&site, &client, &[]), "demo", &[]).await;
    let code = without_a_page(&ann, &path).await.unwrap();
    assert_eq!(whose(&site, &client, &code).await, format!("{} admin", site.demo.id));
    let more = request(&site, &client, &[("prompt", "none"), ("scope", "data_agent:read datasets:write")]);
    assert_eq!(error(&ann, &more).await, "consent_required");
    assert_eq!(asked(&site.browser()).await, "login_required");
    // Remembered or not, an old log-in does not do.
    site.clock.advance(Duration::from_secs(60));
    let fresh = request(&site, &client, &[("prompt", "none"), ("max_age", "59")]);
    assert_eq!(error(&ann, &fresh).await, "login_required");
}

#[tokio::test]
async fn b14_after_a_log_in_a_page_of_ours_sends_the_browser_on() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    approve(&ann(&site).await, &request(&site, &client, &[]), "demo", &[]).await;
    let back_from_login = async |changes: &[(&str, &str)]| {
        let browser = site.browser();
        let login = location(&browser.get(&request(&site, &client, changes)).await);
        let back = param(&site.url(&login), "return_to").unwrap();
        // `prompt=login` is met by a log-in after it.
        site.clock.advance(Duration::from_secs(1));
        let done = browser.log_in("ann@example.com", PASSWORD, &back).await;
        browser.get(&location(&done)).await
    };
    let response = back_from_login(&[]).await;
    assert_eq!(response.status(), 200);
    let to = refresh(&response);
    assert!(to.starts_with(&format!("{WEB}?code=")), "{to}");
    assert_eq!(whose(&site, &client, &param(&to, "code").unwrap()).await, format!("{} admin", site.demo.id));
    assert!(back_from_login(&[("max_age", "0")]).await.headers().contains_key("refresh"));
    // Who asked for the page gets it, log-in or not.
    for prompt in ["login", "consent", "login consent", "select_account"] {
        let response = back_from_login(&[("prompt", prompt)]).await;
        assert_eq!(silent(response), None, "{prompt}");
    }
}

#[tokio::test]
async fn b14_of_two_workspaces_the_person_chooses_each_time_unless_the_resource_names_one() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    site.identity.set_connectivity(site.quiet.id, true).await.unwrap();
    let again = request(&site, &client, &[("prompt", "consent")]);
    approve(&ann, &again, "demo", &[]).await;
    approve(&ann, &again, "quiet", &[]).await;
    assert_eq!(without_a_page(&ann, &request(&site, &client, &[])).await, None);
    let resource = |org: &Org| site.url(&format!("/t/{}/mcp", org.slug));
    for org in [&site.demo, &site.quiet] {
        let path = request(&site, &client, &[("resource", &resource(org))]);
        approve(&ann, &path, &org.slug, &[]).await;
    }
    for org in [&site.demo, &site.quiet] {
        let code = without_a_page(&ann, &request(&site, &client, &[("resource", &resource(org))])).await.unwrap();
        let tokens = redeem(&site, &client, &code, WEB).await.1;
        let answer = site.call(&format!("/t/{}/mcp", org.slug), tokens["access_token"].as_str().unwrap()).await;
        assert_eq!(answer.text().await.unwrap(), format!("{} admin", org.id));
    }
    // When one of the two is given up, the other is the one.
    site.identity.withdraw_consent(site.quiet.id, site.ann.id, &client).await.unwrap();
    let code = without_a_page(&ann, &request(&site, &client, &[])).await.unwrap();
    assert_eq!(whose(&site, &client, &code).await, format!("{} admin", site.demo.id));
}

#[tokio::test]
async fn b14_what_is_no_longer_the_persons_to_give_shows_the_page() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    let path = request(&site, &client, &[]);
    approve(&ann, &path, "demo", &[]).await;
    let is_silent = async || without_a_page(&ann, &path).await.is_some();
    assert!(is_silent().await);
    // The role covers less: nothing is left out silently.
    site.identity.set_role(site.demo.id, site.ann.id, Role::Viewer).await.unwrap();
    assert!(!is_silent().await);
    site.identity.set_role(site.demo.id, site.ann.id, Role::Contributor).await.unwrap();
    assert!(is_silent().await);
    // The switch of the workspace.
    site.identity.set_connectivity(site.demo.id, false).await.unwrap();
    assert!(!is_silent().await);
    site.identity.set_connectivity(site.demo.id, true).await.unwrap();
    assert!(is_silent().await);
    // A block of the client: of this workspace, of the installation; of another workspace it is none.
    let pool = site.identity.db().pool();
    for (org, blocked) in [(site.demo.id.to_string(), true), ("-".into(), true), (site.quiet.id.to_string(), false)] {
        let sql = "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ($1, $2, 0)";
        sqlx::query(sql).bind(&org).bind(&client).execute(pool).await.unwrap();
        // Whether a blocked one is shown a page or refused at once is not the matter here.
        let response = ann.get(&path).await;
        let to = response.headers().get("location").map_or("", |to| to.to_str().unwrap());
        assert_eq!(to.contains("code="), !blocked, "{org}: {to}");
        sqlx::query("DELETE FROM client_blocks").execute(pool).await.unwrap();
    }
    // A membership that ended: who is taken back starts anew.
    site.identity.remove_member(site.demo.id, site.ann.id).await.unwrap();
    assert!(!is_silent().await);
    site.identity.set_role(site.demo.id, site.ann.id, Role::Admin).await.unwrap();
    assert!(!is_silent().await);
    approve(&ann, &path, "demo", &[]).await;
    assert!(is_silent().await);
    // Consent that was withdrawn.
    assert!(site.identity.withdraw_consent(site.demo.id, site.ann.id, &client).await.unwrap() > 0);
    assert!(!is_silent().await);
}

#[tokio::test]
async fn g13_a_client_whose_redirect_addresses_changed_is_asked_about_again() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    let path = request(&site, &client, &[]);
    approve(&ann, &path, "demo", &[]).await;
    let addresses_are = async |uris: &[&str]| {
        let sql = "UPDATE oauth_clients SET redirect_uris = $1 WHERE id = $2";
        let uris = serde_json::to_string(uris).unwrap();
        sqlx::query(sql).bind(uris).bind(&client).execute(site.identity.db().pool()).await.unwrap();
    };
    // In another order it is the same list.
    addresses_are(&["cursor://cb", OTHER, "http://127.0.0.1/callback", WEB]).await;
    assert!(without_a_page(&ann, &path).await.is_some());
    for changed in
        [[WEB, OTHER, "http://127.0.0.1/callback", "https://new.example/cb"].as_slice(), &[WEB], &[WEB, OTHER]]
    {
        addresses_are(changed).await;
        assert_eq!(without_a_page(&ann, &path).await, None, "{changed:?}");
    }
    approve(&ann, &path, "demo", &[]).await;
    assert!(without_a_page(&ann, &path).await.is_some());
    // One that is gone is not sent to at all.
    addresses_are(&[OTHER]).await;
    assert_eq!(ann.get(&path).await.status(), 400);
}

#[tokio::test]
async fn b14_consent_is_kept_and_forgotten_alike_on_both_databases() {
    both(async |db| {
        let world = World::new(db).await;
        let identity = &world.identity;
        let (resource, known) = (world.resource(), addresses(&[WEB.into(), OTHER.into()]));
        assert_eq!(known, addresses(&[OTHER.into(), WEB.into()]));
        let request = Request {
            user: world.user.id,
            client_id: "client-a",
            redirect_uri: WEB,
            resource: &resource,
            addresses: &known,
        };
        let (read, all) = ([Scope::DataRead], [Scope::DataRead, Scope::DataWrite]);
        let found = async |request, scopes: &[Scope]| identity.remembered_consent(request, scopes).await.unwrap();
        assert_eq!(found(request, &read).await, None);
        identity.remember_consent(world.org.id, request, &read).await.unwrap();
        assert_eq!(found(request, &read).await, Some(world.org.id));
        assert_eq!(found(request, &all).await, None);
        identity.remember_consent(world.org.id, request, &all).await.unwrap();
        assert_eq!(found(request, &all).await, Some(world.org.id));
        let other = identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        let changed = addresses(&[WEB.into()]);
        for request in [
            Request { user: other.id, ..request },
            Request { client_id: "client-b", ..request },
            Request { redirect_uri: OTHER, ..request },
            Request { resource: "https://elsewhere.example/mcp", ..request },
            Request { addresses: &changed, ..request },
        ] {
            assert_eq!(found(request, &read).await, None, "{request:?}");
        }
        // A loopback address and a program's own scheme are never remembered.
        for redirect_uri in ["http://127.0.0.1/callback", "http://localhost:1/cb", "cursor://cb", "com.example.app:/cb"]
        {
            let request = Request { redirect_uri, ..request };
            identity.remember_consent(world.org.id, request, &all).await.unwrap();
            assert_eq!(found(request, &read).await, None, "{redirect_uri}");
        }
        // Withdrawing ends what was issued; another client's is untouched.
        let pair = world.pair().await;
        let kept = Request { client_id: "client-b", ..request };
        identity.remember_consent(world.org.id, kept, &all).await.unwrap();
        assert_eq!(identity.withdraw_consent(world.org.id, world.user.id, "client-a").await.unwrap(), 1);
        crate::identity::revoked(&world.verify(&pair.access).await);
        assert_eq!((found(request, &read).await, found(kept, &read).await), (None, Some(world.org.id)));
        // Even one that was written after its membership had ended is void in the next one.
        world.wait(1);
        identity.remove_member(world.org.id, world.user.id).await.unwrap();
        identity.remember_consent(world.org.id, kept, &all).await.unwrap();
        assert_eq!(found(kept, &read).await, None);
        world.wait(1);
        identity.set_role(world.org.id, world.user.id, Role::Admin).await.unwrap();
        assert_eq!(found(kept, &read).await, None);
    })
    .await;
}

async fn grants(site: &Site) -> i64 {
    sqlx::query_scalar("SELECT COUNT(*) FROM grants").fetch_one(site.identity.db().pool()).await.unwrap()
}

#[tokio::test]
async fn b07_b08_what_is_not_the_answer_of_this_page_grants_nothing() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    let path = request(&site, &client, &[]);
    let page = ann.consent_page(&path).await;
    let (csrf, handle) = (field(&page, "csrf"), field(&page, "request"));
    let scope = ("scope", "data_agent:read");
    let form = [("csrf", &*csrf), ("request", &*handle), ("workspace", "demo"), ("decision", "approve"), scope];
    let send = async |headers: &[(&str, &str)]| {
        let mut sent = ann.http.post(site.url("/consent")).form(&form);
        for (name, value) in headers {
            sent = sent.header(*name, *value);
        }
        sent.send().await.unwrap().status().as_u16()
    };
    for elsewhere in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        assert_eq!(send(&[elsewhere]).await, 403, "{elsewhere:?}");
    }
    // As a link it is only the page.
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    assert_eq!(ann.get(&format!("/consent?{query}")).await.status(), 200);
    // Another person at the same browser, while the page is still open.
    ann.log_in("bob@example.com", PASSWORD, "/").await;
    assert!([400, 403].contains(&send(&[]).await));
    assert_eq!(grants(&site).await, 0);
    // And when the first one has logged in again it is another session.
    ann.log_in("ann@example.com", PASSWORD, "/").await;
    assert!([400, 403].contains(&send(&[]).await));
    assert_eq!(grants(&site).await, 0);
    let page = ann.consent_page(&path).await;
    assert_eq!(ann.answer(&page, "approve", &[]).await.status(), 200);
    assert_eq!(grants(&site).await, 1);
    // Answered, the page is not shown again either.
    let handle = field(&page, "request");
    assert_eq!(ann.get(&format!("/consent?request={handle}")).await.status(), 400);
}

#[tokio::test]
async fn b12_a_long_name_is_cut_and_no_picture_or_link_of_the_client_is_shown() {
    let site = Site::start().await;
    let body = json!({
        "client_name": "<b>é</b>".repeat(1_500),
        "redirect_uris": [WEB],
        "client_uri": "https://home.example/<script>",
        "logo_uri": "https://logo.example/logo.svg",
    });
    let body: Value = site.register(body).await.json().await.unwrap();
    let client = body["client_id"].as_str().unwrap();
    let page = ann(&site).await.consent_page(&request(&site, client, &[])).await;
    assert!(page.len() < 10_000, "{} bytes", page.len());
    assert!(!page.contains("<b>") && !page.contains("<script") && !page.contains("<img") && !page.contains("logo"));
    assert!(!page.contains("href=\"https://"), "{page}");
}

#[tokio::test]
async fn b13_the_page_says_who_asks_for_what_where_and_where_the_answer_goes() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let ann = ann(&site).await;
    let page = ann.consent_page(&request(&site, &client, &[])).await;
    assert!(page.contains("<bdi>Web client</bdi>") && page.contains("unverified"));
    assert!(page.contains("<strong>client.example</strong>"), "where the answer goes: {page}");
    assert!(!page.contains("program on the computer"), "no warning where there is no cause");
    for meaning in [Scope::DataRead.meaning(), Scope::DataWrite.meaning()] {
        assert!(page.contains(meaning), "{meaning}");
    }
    assert!(!page.contains(Scope::WorkspaceAdmin.meaning()));
    assert!(page.contains("<strong>Demo</strong>") && page.contains("Quiet"), "the one that is chosen, and the other");
    let loopback = request(&site, &client, &[("redirect_uri", "http://127.0.0.1:1/callback")]);
    let page = ann.consent_page(&loopback).await;
    assert!(page.contains("<strong>127.0.0.1</strong>") && page.contains("program on the computer"));
}

#[tokio::test]
async fn b31_tabs_of_two_clients_do_not_disturb_each_other() {
    let site = Site::start().await;
    let (one, two) = (web_client(&site, "One").await, web_client(&site, "Two").await);
    let ann = ann(&site).await;
    let (first, second) = (request(&site, &one, &[]), request(&site, &two, &[]));
    let pages = [ann.consent_page(&first).await, ann.consent_page(&second).await, ann.consent_page(&first).await];
    let mut codes = Vec::new();
    for page in pages.iter().rev() {
        codes.push(param(&refresh(&ann.answer(page, "approve", &[]).await), "code").unwrap());
    }
    for (client, code) in [(&one, &codes[0]), (&two, &codes[1]), (&one, &codes[2])] {
        assert_eq!(redeem(&site, client, code, WEB).await.0, 200);
    }
}

#[tokio::test]
async fn c16_a_code_of_a_browser_that_was_signed_out_is_worth_nothing() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let path = request(&site, &client, &[("prompt", "consent")]);
    let ann = ann(&site).await;
    let (first, second) = (approve(&ann, &path, "demo", &[]).await, approve(&ann, &path, "demo", &[]).await);
    let remembered = without_a_page(&ann, &request(&site, &client, &[])).await.unwrap();
    assert_eq!(redeem(&site, &client, &first, WEB).await.0, 200);
    // Somebody else's session is not this one.
    let elsewhere = site.browser().signed_in("ann@example.com").await;
    let other = approve(&elsewhere, &path, "demo", &[]).await;
    let home = ann.get("/").await.text().await.unwrap();
    assert_eq!(ann.post("/logout", &[("csrf", &field(&home, "csrf"))]).await.status(), 303);
    for code in [&second, &remembered] {
        let (status, body) = redeem(&site, &client, code, WEB).await;
        assert_eq!((status, body["error"].as_str().unwrap()), (400, "invalid_grant"));
    }
    assert_eq!(redeem(&site, &client, &other, WEB).await.0, 200);
    // A new password signs out everywhere.
    let code = approve(&elsewhere, &path, "demo", &[]).await;
    site.identity.set_password(site.ann.id, &Secret::new("another long password")).await.unwrap();
    assert_eq!(redeem(&site, &client, &code, WEB).await.0, 400);
}

#[tokio::test]
async fn c15_a_code_of_a_person_who_was_removed_or_took_it_back_is_worth_nothing() {
    let site = Site::start().await;
    let client = web_client(&site, "Web client").await;
    let path = request(&site, &client, &[("prompt", "consent")]);
    let ann = ann(&site).await;
    let withdrawn = approve(&ann, &path, "demo", &[]).await;
    site.identity.withdraw_consent(site.demo.id, site.ann.id, &client).await.unwrap();
    let removed = approve(&ann, &path, "demo", &[]).await;
    site.identity.remove_member(site.demo.id, site.ann.id).await.unwrap();
    for code in [&withdrawn, &removed] {
        let (status, body) = redeem(&site, &client, code, WEB).await;
        assert_eq!((status, body["error"].as_str().unwrap()), (400, "invalid_grant"));
    }
}

#[tokio::test]
async fn c16_the_session_of_a_code_must_live_on_both_databases() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let session = |id: &str| SessionRow {
            id_hash: id.to_owned(),
            user_id: Some(world.user.id.to_string()),
            data: "{}".into(),
            expires_at: world.clock.now() + 30_000,
            trace: None,
        };
        let code = async |id: &str| {
            let approval = Approval { session_hash: Some(id.to_owned()), ..world.approval() };
            world.identity.approve(approval).await.unwrap()
        };
        let unknown = code("never-was").await;
        invalid_grant(world.redeem(&unknown).await);
        for id in ["ended", "expired", "lives"] {
            assert!(sessions::create(&mut db.writer().await.unwrap(), &session(id)).await.unwrap());
        }
        let (ended, expired, lives) = (code("ended").await, code("expired").await, code("lives").await);
        sessions::delete(&mut db.writer().await.unwrap(), "ended").await.unwrap();
        invalid_grant(world.redeem(&ended).await);
        world.redeem(&lives).await.unwrap();
        world.wait(30);
        invalid_grant(world.redeem(&expired).await);
    })
    .await;
}
