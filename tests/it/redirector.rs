//! A link to this service sends nobody where a stranger wants them (RFC 9700 §4.11.2): whoever registers a client, or
//! publishes the document of one, chooses its redirect addresses, and anybody can make a request that has to be refused.

use dragoman::identity::confidential::NewConfidentialClient;
use reqwest::Response;
use serde_json::{Value, json};

use crate::site::{Browser, PASSWORD, Site, VERIFIER, location, param, refresh};

const WEB: &str = "https://prizes.example/cb?from=us";
const OTHER: &str = "https://prizes.example/other";
const LOOPBACK: [&str; 3] = ["http://127.0.0.1:43210/cb", "http://[::1]:43210/cb", "http://localhost:43210/cb"];

/// A client that a stranger registered.
async fn strangers(site: &Site) -> String {
    let uris = json!([WEB, OTHER, "cursor://cb", "com.example.app:/cb", LOOPBACK[0], LOOPBACK[1], LOOPBACK[2]]);
    let body = site.register(json!({ "client_name": "Free <b>prizes</b>", "redirect_uris": uris })).await;
    body.json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned()
}

/// A request to be sent to [`WEB`], with changes.
fn request(site: &Site, client: &str, changes: &[(&str, &str)]) -> String {
    let mut all = vec![("redirect_uri", WEB)];
    all.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    all.extend(changes);
    site.authorize_path(client, &all)
}

/// The answer to the client that a page of ours offers as a link. The browser itself goes nowhere.
pub async fn offered(response: Response) -> String {
    page(response).await.1
}

/// The page besides.
async fn page(response: Response) -> (String, String) {
    assert_eq!(response.status(), 400);
    let headers = response.headers();
    assert!(headers.get("location").is_none() && headers.get("refresh").is_none(), "{headers:?}");
    assert_eq!(headers["x-frame-options"], "DENY");
    assert_eq!(headers["cache-control"], "no-store");
    let text = response.text().await.unwrap();
    assert!(!text.contains("<meta http-equiv") && !text.contains("<script"), "{text}");
    let (_, rest) = text.split_once("rel=\"noreferrer\" href=\"").unwrap_or_else(|| panic!("no link: {text}"));
    let link = rest.split('"').next().unwrap().replace("&#38;", "&");
    (text, link)
}

/// Approves a client on the page, and lets it have its tokens.
async fn connect(site: &Site, browser: &Browser, client: &str) {
    let page = browser.consent_page(&request(site, client, &[])).await;
    let code = param(&refresh(&browser.answer(&page, "approve", &[]).await), "code").unwrap();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("client_id", client),
        ("redirect_uri", WEB),
        ("code_verifier", VERIFIER),
    ];
    let (status, body) = site.token(&form).await;
    assert_eq!(status, 200, "{body}");
}

/// What the request has besides, the error, and the words on the page.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

#[tokio::test]
async fn a_stranger_is_asked_before_they_leave_for_a_client_that_registered_itself() {
    Site::both(async |site| {
        let client = strangers(&site).await;
        let cases: &[Case] = &[
            (&[("scope", "root")], "invalid_scope", "The scope is not one of"),
            (&[("code_challenge", "")], "invalid_request", "code_challenge is missing"),
            (&[("prompt", "none")], "login_required", "The person is not logged in"),
            (&[("response_type", "token")], "unsupported_response_type", "response_type must be code"),
            (&[("resource", "https://elsewhere.example/mcp")], "invalid_target", "The resource is not one"),
            (&[("request", "x")], "request_not_supported", "Request objects"),
            (&[("max_age", "soon")], "invalid_request", "max_age is malformed"),
            // What stands in a request that our log-in sends back can be put into any link.
            (&[("scope", "root"), ("login_after", "0")], "invalid_scope", "The scope is not one of"),
            (
                &[("scope", "root"), ("acr_unmet", "1"), ("login_after", "0")],
                "invalid_scope",
                "The scope is not one of",
            ),
        ];
        for (changes, error, what) in cases {
            for (redirect, host) in
                [(WEB, "prizes.example"), ("cursor://cb", "cursor://"), ("com.example.app:/cb", "com.example.app://")]
            {
                let all = [*changes, &[("redirect_uri", redirect), ("state", "a&b\"c")]].concat();
                let (text, link) = page(site.browser().get(&request(&site, &client, &all)).await).await;
                assert!(link.starts_with(redirect), "{link}");
                assert_eq!(param(&link, "error").as_deref(), Some(*error), "{changes:?}");
                assert_eq!(param(&link, "state").as_deref(), Some("a&b\"c"));
                assert_eq!(param(&link, "iss"), Some(site.base.clone()));
                assert!(text.contains(what), "{text}");
                assert!(text.contains("<bdi>Free &#60;b&#62;prizes&#60;/b&#62;</bdi>"), "{text}");
                assert!(text.contains("unverified") && text.contains(&format!("<strong>{host}</strong>")), "{text}");
                let event = site.events.lock().unwrap().last().cloned().unwrap();
                assert_eq!((event.action, &*event.outcome, &event.client), ("oauth.authorize", *error, &client));
            }
        }
        // As a form of a page of the stranger's it is no different.
        let path = request(&site, &client, &[]);
        let posted = site.program().post(site.url(&path)).form(&[("prompt", "none")]).send().await.unwrap();
        assert_eq!(param(&offered(posted).await, "error").as_deref(), Some("login_required"));
        // Nor is it of one that nobody is signed in for, whatever the browser says of where it comes from.
        let path = request(&site, &client, &[("scope", "root"), ("login_after", "0")]);
        let response = site.program().get(site.url(&path)).header("sec-fetch-site", "same-origin").send().await;
        offered(response.unwrap()).await;
        assert_eq!((site.rows("sessions").await, site.rows("pending").await), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn the_publisher_of_a_document_is_named() {
    let site = Site::start().await;
    let claude = "https://claude.ai/oauth/mcp-oauth-client-metadata";
    let redirect = ("redirect_uri", "https://claude.com/api/mcp/auth_callback");
    let (text, link) = page(site.browser().get(&request(&site, claude, &[redirect, ("scope", "root")])).await).await;
    assert!(link.starts_with("https://claude.com/api/mcp/auth_callback?error=invalid_scope"), "{link}");
    assert!(text.contains("<bdi>Claude</bdi></strong>, published by <strong>claude.ai</strong>"), "{text}");
    assert!(text.contains("<strong>claude.com</strong>") && !text.contains("unverified"), "{text}");
}

#[tokio::test]
async fn a_program_on_the_computer_and_a_client_of_the_operator_are_answered_at_once() {
    Site::both(async |site| {
        let stranger = strangers(&site).await;
        let new = NewConfidentialClient { name: "Ours".into(), redirect_uris: vec![WEB.into()], may_introspect: false };
        let (ours, _) = site.identity.create_confidential_client(new).await.unwrap();
        let mut answered = vec![(ours.id.as_str(), WEB)];
        answered.extend(LOOPBACK.map(|redirect| (stranger.as_str(), redirect)));
        for (client, redirect) in answered {
            for (change, error) in [(("scope", "root"), "invalid_scope"), (("prompt", "none"), "login_required")] {
                let path = request(&site, client, &[("redirect_uri", redirect), change]);
                let response = site.browser().get(&path).await;
                assert_eq!(response.status(), 303, "{redirect}");
                let url = location(&response);
                assert!(url.starts_with(redirect), "{url}");
                assert_eq!(param(&url, "error").as_deref(), Some(error), "{url}");
                assert_eq!(
                    (param(&url, "state").as_deref(), param(&url, "iss")),
                    (Some("s-1"), Some(site.base.clone()))
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn somebody_signed_in_is_sent_on_only_to_what_they_have_connected() {
    Site::both(async |site| {
        let client = strangers(&site).await;
        let ann = site.browser().signed_in("ann@example.com").await;
        let bad = [("scope", "root")];
        let silent = [("prompt", "none"), ("scope", "data_agent:read datasets:write")];
        for (changes, error) in [(&bad[..], "invalid_scope"), (&silent[..], "consent_required")] {
            let link = offered(ann.get(&request(&site, &client, changes)).await).await;
            assert_eq!(param(&link, "error").as_deref(), Some(error));
        }
        connect(&site, &ann, &client).await;
        for (changes, error) in [(&bad[..], "invalid_scope"), (&silent[..], "consent_required")] {
            let url = location(&ann.get(&request(&site, &client, changes)).await);
            assert!(url.starts_with(WEB), "{url}");
            assert_eq!(param(&url, "error").as_deref(), Some(error), "{url}");
        }
        // That says nothing of another address of the client, of another client, or of another person.
        let elsewhere = [("scope", "root"), ("redirect_uri", OTHER)];
        offered(ann.get(&request(&site, &client, &elsewhere)).await).await;
        let body = site.register(json!({ "client_name": "Another", "redirect_uris": [WEB] })).await;
        let another = body.json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned();
        offered(ann.get(&request(&site, &another, &bad)).await).await;
        let bob = site.browser().signed_in("bob@example.com").await;
        offered(bob.get(&request(&site, &client, &bad)).await).await;
        offered(site.browser().get(&request(&site, &client, &bad)).await).await;
        // Nor does it outlive the connection.
        let connections = site.identity.connections(site.ann.id).await.unwrap();
        site.identity.disconnect_own(site.ann.id, &connections[0].id).await.unwrap().unwrap();
        offered(ann.get(&request(&site, &client, &bad)).await).await;
    })
    .await;
}

#[tokio::test]
async fn who_has_just_signed_in_for_a_request_hears_its_answer_at_the_client() {
    let site = Site::start().await;
    let client = strangers(&site).await;
    let others = site.url("/t/others/mcp");
    let browser = site.browser();
    let login = location(&browser.get(&request(&site, &client, &[("resource", &others)])).await);
    let back = param(&site.url(&login), "return_to").unwrap();
    let back = location(&browser.log_in("ann@example.com", PASSWORD, &back).await);
    let get = async |path: &str, said: Option<&'static str>| {
        let request = browser.http.get(site.url(path));
        let request = if let Some(said) = said { request.header("sec-fetch-site", said) } else { request };
        request.send().await.unwrap()
    };
    let arrived = get(&back, Some("same-origin")).await;
    assert_eq!(arrived.status(), 200);
    let url = refresh(&arrived);
    assert!(url.starts_with(WEB), "{url}");
    assert_eq!(param(&url, "error").as_deref(), Some("access_denied"));
    // The same address as a link of another site, or typed, or in a browser that does not say.
    for said in [Some("cross-site"), Some("same-site"), Some("none"), None] {
        let link = offered(get(&back, said).await).await;
        assert_eq!(param(&link, "error").as_deref(), Some("access_denied"), "{said:?}");
    }
    // One that did not come back from a log-in.
    let fresh = request(&site, &client, &[("resource", &others)]);
    offered(get(&fresh, Some("same-origin")).await).await;
}
