//! Programs that register themselves (RFC 7591; catalogue F), through the real port.

use std::io::ErrorKind;
use std::time::Duration;

use serde_json::{Value, json};

use crate::site::{Site, location};

/// Status and body of an answer to a registration.
async fn answer(site: &Site, body: Value) -> (u16, Value) {
    let response = site.register(body).await;
    assert_eq!(response.headers()["cache-control"], "no-store");
    (response.status().as_u16(), response.json().await.unwrap())
}

/// A registration with one more member.
fn with(member: &str, value: Value) -> Value {
    let mut body = json!({ "client_name": "App", "redirect_uris": ["https://app.example/cb"] });
    body[member] = value;
    body
}

#[tokio::test]
async fn f03_a_domain_under_which_anybody_may_have_a_name_gets_no_codes() {
    let site = Site::start().await;
    for uri in ["https://co.uk/cb", "https://github.io/cb"] {
        let (status, body) = answer(&site, json!({ "redirect_uris": [uri] })).await;
        assert_eq!((status, &body["error"]), (400, &json!("invalid_redirect_uri")), "{uri}");
        let both = json!({ "redirect_uris": ["https://app.example/cb", uri] });
        assert_eq!(answer(&site, both).await.0, 400, "one that is unfit spoils them all: {uri}");
    }
    assert_eq!(answer(&site, json!({ "redirect_uris": ["https://someone.github.io/cb"] })).await.0, 201);
}

#[tokio::test]
async fn f04_keys_and_methods_that_cannot_be_are_refused() {
    let site = Site::start().await;
    let public = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "AA" }] });
    let private = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "AA", "d": "AA" }] });
    let mut both = with("jwks", public.clone());
    both["jwks_uri"] = "https://app.example/keys".into();
    for body in [
        both,
        with("jwks", private),
        with("jwks", json!({ "keys": [{ "kty": "oct", "k": "AA" }] })),
        with("grant_types", json!(["client_credentials"])),
        with("grant_types", json!(["implicit"])),
        with("response_types", json!(["token"])),
        with("token_endpoint_auth_method", json!("tls_client_auth")),
    ] {
        let (status, refused) = answer(&site, body.clone()).await;
        assert_eq!((status, &refused["error"]), (400, &json!("invalid_client_metadata")), "{body}");
    }
    assert_eq!(answer(&site, with("jwks", public)).await.0, 201);
}

#[tokio::test]
async fn f05_f10_f12_f13_what_a_client_says_of_its_own_standing_has_no_effect() {
    let site = Site::start().await;
    let plain = answer(&site, with("client_name", "App".into())).await.1;
    // Unsigned, and it would send the codes elsewhere.
    let statement = "eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmlzIjpbImh0dHBzOi8vZXZpbC5leGFtcGxlL2NiIl19.";
    for (member, value) in [
        ("client_id", json!("mine")),
        ("client_id", json!("https://claude.ai/oauth/mcp-oauth-client-metadata")),
        ("client_secret", json!("mine")),
        ("registration_access_token", json!("mine")),
        ("trusted", json!(true)),
        ("first_party", json!(true)),
        ("skip_consent", json!(true)),
        ("may_introspect", json!(true)),
        ("tenant_id", json!(site.demo.id)),
        ("org", json!(site.demo.id)),
        ("software_statement", json!(statement)),
        ("software_statement", json!(7)),
    ] {
        let (status, body) = answer(&site, with(member, value)).await;
        // The same client as without the member: it left no trace.
        assert_eq!((status, &body), (201, &plain), "{member}");
    }
    let id = plain["client_id"].as_str().unwrap();
    assert!(id.starts_with("dgc_") && !id.contains(':'), "no id is an address: {id}");
    assert_eq!(
        plain,
        json!({
            "client_id": id, "client_id_issued_at": site.clock.now() / 1000, "client_name": "App",
            "redirect_uris": ["https://app.example/cb"], "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "token_endpoint_auth_method": "none", "application_type": "web",
        })
    );
    // It is asked about like any other, and the statement's address is not its own.
    let ann = site.browser().signed_in("ann@example.com").await;
    let to = async |uri: &str| ann.get(&site.authorize_path(id, &[("redirect_uri", uri)])).await;
    assert!(location(&to("https://app.example/cb").await).starts_with("/consent?"));
    assert_eq!(to("https://evil.example/cb").await.status(), 400);
    let token = site.token(&[("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", "mine")]).await;
    assert_eq!((token.0, &token.1["error"]), (401, &json!("invalid_client")));
}

#[tokio::test]
async fn f06_registering_again_is_the_same_client_counted_from_now() {
    let site = Site::start().await;
    let first = answer(&site, with("client_uri", "https://app.example".into())).await.1;
    site.clock.advance(Duration::from_secs(23 * 3600));
    let (status, second) = answer(&site, with("client_uri", "https://app.example".into())).await;
    assert_eq!((status, &second["client_id"]), (201, &first["client_id"]));
    let issued = |body: &Value| body["client_id_issued_at"].as_i64().unwrap();
    assert_eq!(issued(&second) - issued(&first), 23 * 3600);
    let stored = site.identity.client(first["client_id"].as_str().unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.created_at, site.clock.now());
}

#[tokio::test]
async fn f07_bodies_that_are_no_plain_object_are_refused() {
    let site = Site::start().await;
    let uris = r#""redirect_uris":["https://app.example/cb"]"#;
    for (body, status) in [
        (String::new(), 400),
        ("[]".into(), 400),
        ("null".into(), 400),
        ("\"x\"".into(), 400),
        ("{".into(), 400),
        (format!("{{{uris}}}}}"), 400),
        (format!("{{{uris},{uris}}}"), 400),
        (format!("{{{uris},\"logo_uri\":\"https://a.example\",\"logo_uri\":\"https://b.example\"}}"), 400),
        (format!("{{{uris},\"unknown\":1,\"unknown\":1}}"), 400),
        (r#"{"redirect_uris":[null,"https://app.example/cb"]}"#.into(), 400),
        (r#"{"redirect_uris":[["https://app.example/cb"]]}"#.into(), 400),
        (r#"{"redirect_uris":{"0":"https://app.example/cb"}}"#.into(), 400),
        (format!("{{{uris},\"client_name\":7}}"), 400),
        (format!("{{{uris},\"grant_types\":\"authorization_code\"}}"), 400),
        (format!("{{{uris},\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000)), 400),
        (format!("{{{uris},\"x\":\"{}\"}}", "a".repeat(1 << 20)), 413),
        (format!("{{{uris},\"client_name\":null,\"grant_types\":null,\"jwks\":null}}"), 201),
    ] {
        let shown: String = body.chars().take(90).collect();
        let request = site.program().post(site.url("/api/oauth/register")).body(body);
        let response = request.header("content-type", "application/json").send().await.unwrap();
        assert_eq!(response.status(), status, "{shown}");
        let answer: Value = response.json().await.unwrap();
        assert!(answer.as_object().unwrap().values().all(|value| !value.is_null()), "{answer}");
    }
    let bytes = [b"{\"redirect_uris\":[\"https://app.example/".as_slice(), b"\xff\"]}"].concat();
    let request = site.program().post(site.url("/api/oauth/register")).body(bytes);
    assert_eq!(request.header("content-type", "application/json").send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn f08_nobody_registers_as_this_service_and_every_other_name_is_unverified() {
    let site = Site::start().await;
    for name in ["Dragoman", "Dragoman Console", "drаgоmаn", "(Dragoman)"] {
        let (status, body) = answer(&site, with("client_name", name.into())).await;
        assert_eq!((status, &body["error"]), (400, &json!("invalid_client_metadata")), "{name}");
        // Under a language tag it is not read.
        let (status, body) = answer(&site, with("client_name#de", name.into())).await;
        assert_eq!((status, &body["client_name"]), (201, &json!("App")), "{name}");
    }
    let ann = site.browser().signed_in("ann@example.com").await;
    for name in ["Google", "Claude Code (dragoman)"] {
        let (status, body) = answer(&site, with("client_name", name.into())).await;
        assert_eq!((status, &body["client_name"]), (201, &json!(name)));
        let path =
            site.authorize_path(body["client_id"].as_str().unwrap(), &[("redirect_uri", "https://app.example/cb")]);
        assert!(ann.consent_page(&path).await.contains("The name is <strong>unverified</strong>"), "{name}");
    }
}

#[tokio::test]
async fn f09_nothing_that_a_registration_names_is_fetched() {
    let site = Site::start().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/x", listener.local_addr().unwrap());
    let mut body = with("client_uri", address.as_str().into());
    for member in ["logo_uri", "tos_uri", "policy_uri", "jwks_uri", "sector_identifier_uri", "request_uris"] {
        body[member] = address.as_str().into();
    }
    let (status, registered) = answer(&site, body).await;
    assert_eq!(status, 201, "{registered}");
    let ann = site.browser().signed_in("ann@example.com").await;
    let client = registered["client_id"].as_str().unwrap();
    ann.consent_page(&site.authorize_path(client, &[("redirect_uri", "https://app.example/cb")])).await;
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody called");
}
