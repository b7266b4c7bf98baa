//! L11: whatever a stranger writes, nothing that reads it panics, and what it makes of it keeps its promises. The seeds
//! are fixed: a text that failed once fails again.

use dragoman::base::cursor::Cursors;
use dragoman::base::secret::base64url;
use dragoman::config::Config;
use dragoman::identity::redirect;
use dragoman::model::access::{Role, Scope};
use dragoman::model::grant::{parse_scopes, scope_text};
use dragoman::surface::browser::return_to;
use dragoman::surface::resource::Resource;
use serde_json::Value;
use url::Url;

use crate::site::{REDIRECT, Site, VERIFIER};
use crate::support::chance::Chance;
use crate::support::service::{Service, json_of};

/// Texts for what is read in memory, and requests for what is read on the wire.
const TEXTS: usize = 8_000;
const REQUESTS: usize = 150;

#[test]
fn l11_redirect_addresses() {
    let mut chance = Chance::new(1);
    let valid = [
        "https://good.example/cb?a=1",
        "https://good.example:8443/app/cb",
        "http://127.0.0.1:43210/callback",
        "http://localhost/callback?x=%41",
        "http://[::1]:9/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/oauth",
        "javascript:alert(1)",
    ];
    let mut usable = 0;
    for _ in 0..TEXTS {
        let (text, registered) = (chance.text(&valid), chance.one(&valid));
        let _shown = redirect::shown(&text);
        let kind = redirect::kind(&text);
        assert_eq!(redirect::judge(std::slice::from_ref(&text)).is_ok(), kind.is_ok_and(redirect::Kind::is_usable));
        let Ok(kind) = kind else {
            assert!(!redirect::matches(&text, &text) && !redirect::matches(registered, &text), "{text:?}");
            continue;
        };
        // What passes is what a browser will open, and it has one host.
        let url = Url::parse(&text).unwrap();
        assert!(text.is_ascii() && url.fragment().is_none() && url.username().is_empty(), "{text:?}");
        assert_eq!(redirect::matches(&text, &text), kind.is_usable(), "{text:?}");
        usable += usize::from(kind.is_usable());
        if redirect::matches(registered, &text) && registered != text {
            let ours = Url::parse(registered).unwrap();
            assert_eq!((ours.scheme(), ours.host_str()), ("http", url.host_str()), "{text:?}");
            assert_eq!((ours.path(), ours.query()), (url.path(), url.query()), "{text:?}");
        }
    }
    assert!(usable > 200, "{usable}");
}

#[test]
fn l11_resources() {
    let config =
        Config::read(|name| (name == "DRAGOMAN_PUBLIC_URL").then(|| "https://data.example.com".into())).unwrap();
    let mut chance = Chance::new(2);
    let valid =
        ["https://data.example.com/mcp", "HTTPS://Data.Example.com:443/t/acme/mcp/", "https://evil.example/mcp"];
    let mut read = 0;
    for _ in 0..TEXTS {
        let text = chance.text(&valid);
        let Some(resource) = Resource::parse(&config, &text) else { continue };
        read += 1;
        let url = resource.url(&config);
        assert!(url.starts_with("https://data.example.com/") && url.ends_with("/mcp"), "{text:?}: {url}");
        assert_eq!(Resource::parse(&config, &url).as_ref(), Some(&resource), "{text:?}");
        assert_eq!(Url::parse(&text).unwrap().host_str(), Some("data.example.com"), "{text:?}");
    }
    assert!(read > 30, "{read}");
}

#[test]
fn l11_scopes() {
    let mut chance = Chance::new(3);
    let valid = [
        "data_agent:read data_agent:write",
        "workspace:admin",
        "offline_access",
        "",
        "datasets:write  ontologies:read",
    ];
    let mut read = 0;
    for _ in 0..TEXTS {
        let text = chance.text(&valid);
        let Ok(scopes) = parse_scopes(&text) else { continue };
        read += 1;
        assert_eq!(parse_scopes(&scope_text(&scopes)).unwrap(), scopes, "{text:?}");
        let said = |scope: &Scope| text.split(' ').any(|word| word == scope.name());
        let none = text.split(' ').all(|word| word.is_empty() || word == "offline_access");
        assert!(none || scopes.iter().all(said), "{text:?} became {scopes:?}");
    }
    assert!(read > 30, "{read}");
}

#[test]
fn l11_cursors_and_addresses_to_return_to() {
    let mut chance = Chance::new(4);
    let cursors = Cursors::new(vec![7; 32]);
    let (one, other) = (cursors.make("acme:datasets", "sales"), cursors.make("other:datasets", "sales"));
    for _ in 0..TEXTS {
        let text = chance.text(&[&one, &other]);
        assert_eq!(cursors.read("acme:datasets", &text).is_some(), text == one, "{text:?}");
    }
    let valid = [
        "/api/oauth/authorize?client_id=x",
        "/account/sessions",
        "/w/acme/members?page=2",
        "//evil.example",
        "https://evil.example/",
    ];
    let base = Url::parse("https://data.example.com/login").unwrap();
    for _ in 0..TEXTS {
        let text = chance.text(&valid);
        let to = return_to::safe(Some(&text));
        let url = base.join(to).unwrap();
        assert_eq!(url.origin(), base.origin(), "{text:?} leads to {url}");
        assert!(to.starts_with('/') && !to.starts_with("//") && to.is_ascii(), "{text:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l11_bearers() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (jwt, connectivity) = (service.access_token(&org, Role::Admin, &Scope::ALL).await, service.token(&org).await);
    let second = service.access_token(&org, Role::Viewer, &Scope::ALL).await;
    let good = [jwt.as_str(), &second, &connectivity];
    let mut chance = Chance::new(5);
    for _ in 0..TEXTS / 4 {
        let text = chance.text(&good);
        let proven = service.identity.verify(&text, &service.config.resource()).await;
        assert_eq!(proven.is_ok(), good.contains(&text.as_str()), "{text:?}: {proven:?}");
    }
    // Any header and any claims, in the right shape.
    let header = r#"{"typ":"at+jwt","alg":"EdDSA","kid":"x","crit":[]}"#;
    let claims = r#"{"iss":"a","aud":["b"],"exp":1e9,"nbf":0,"sub":{},"scope":null}"#;
    for _ in 0..TEXTS / 4 {
        let part = |chance: &mut Chance, valid: &str| base64url(&chance.mutated(&[valid]));
        let text = format!("{}.{}.{}", part(&mut chance, header), part(&mut chance, claims), base64url(&[0; 64]));
        assert!(service.identity.verify(&text, &service.config.resource()).await.is_err(), "{text}");
    }
    for _ in 0..REQUESTS {
        let text =
            chance.mutated(&[&format!("Bearer {jwt}"), &format!("bearer {connectivity}"), "Basic YTpi", "DPoP x.y.z"]);
        let Ok(header) = http::HeaderValue::from_bytes(&text) else { continue };
        let request = service.http.get(service.url("/api/v1/ext/health")).header("authorization", header);
        let status = request.send().await.unwrap().status().as_u16();
        assert!([200, 401].contains(&status), "{status}: {:?}", String::from_utf8_lossy(&text));
    }
}

/// Sends hostile bodies, headers and queries to an endpoint; none of them is answered by a failure.
async fn survives(site: &Site, chance: &mut Chance, path: &str, kind: &str, valid: &[&str]) {
    for number in 0..REQUESTS {
        let body = chance.mutated(valid);
        let mut request = site.program().post(site.url(path)).body(body.clone());
        request =
            request.header("content-type", if number % 16 == 0 { chance.one(&["", "x", "text/plain"]) } else { kind });
        if number % 4 == 0 {
            let basic = chance.mutated(&["Basic YTpi", "Basic ZGdjXzpzZWNyZXQ6eA==", "basic %%%", "Bearer x"]);
            if let Ok(value) = http::HeaderValue::from_bytes(&basic) {
                request = request.header("authorization", value);
            }
        }
        let shown = String::from_utf8_lossy(&body).into_owned();
        let response = request.send().await.unwrap_or_else(|problem| panic!("{path}: {problem}: {shown:?}"));
        let status = response.status().as_u16();
        assert!(status < 500, "{path}: {status}: {shown:?}");
        if status >= 400 && path.starts_with("/api/oauth/") && path != "/api/oauth/authorize" {
            let error: Value = response.json().await.unwrap_or_else(|_| panic!("{path}: no error in JSON: {shown:?}"));
            assert!(error["error"].is_string(), "{path}: {error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l11_forms_metadata_and_basic_credentials_over_the_port() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let form = "application/x-www-form-urlencoded";
    let mut chance = Chance::new(6);
    let redirect: String = url::form_urlencoded::byte_serialize(REDIRECT.as_bytes()).collect();
    let exchange = format!(
        "grant_type=authorization_code&code=dgac_x&client_id={client}&redirect_uri={redirect}&code_verifier={VERIFIER}"
    );
    let renewal =
        format!("grant_type=refresh_token&refresh_token=dgrt_x&client_id={client}&scope=data_agent%3Aread&resource=x");
    let basic = "grant_type=refresh_token&refresh_token=x&client_secret=y&client_assertion=e30.e30.e30";
    survives(&site, &mut chance, "/api/oauth/token", form, &[&exchange, &renewal, basic]).await;
    let revoke = format!("token=dgrt_x&token_type_hint=refresh_token&client_id={client}");
    survives(&site, &mut chance, "/api/oauth/revoke", form, &[&revoke, basic]).await;
    let metadata = r#"{"client_name":"C","redirect_uris":["https://a.example/cb"],"jwks":{"keys":[]},"grant_types":["authorization_code"]}"#;
    survives(
        &site,
        &mut chance,
        "/api/oauth/register",
        "application/json",
        &[metadata, "{\"redirect_uris\":[[[[1e999]]]]}"],
    )
    .await;
    let authorize = site.authorize_path(&client, &[]);
    let query = authorize.split_once('?').unwrap().1;
    let document = query.replace(&client, "https%3A%2F%2F127.0.0.1%2Fc");
    survives(&site, &mut chance, "/api/oauth/authorize", form, &[query, &document]).await;
    survives(&site, &mut chance, "/login", form, &["csrf=x&email=a%40b.example&password=z&return_to=%2Faccount"]).await;
    survives(
        &site,
        &mut chance,
        "/consent",
        form,
        &["csrf=x&request=y&workspace=demo&scope=data_agent%3Aread&decision=approve"],
    )
    .await;
    for _ in 0..REQUESTS {
        let text = chance.text(&[query, &document]);
        let encoded: String = text
            .bytes()
            .map(|byte| {
                if byte.is_ascii_graphic() && byte != b'#' {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02x}")
                }
            })
            .collect();
        let response = site.program().get(site.url(&format!("/api/oauth/authorize?{encoded}"))).send().await.unwrap();
        assert!(response.status().as_u16() < 500, "{encoded}");
    }
    let cookies = ["dragoman=AAAAAAAAAAAAAAAAAAAAAA", "dragoman=x; dragoman-form=y"];
    for _ in 0..REQUESTS {
        let Ok(value) = http::HeaderValue::from_bytes(&chance.mutated(&cookies)) else { continue };
        let response = site.program().get(site.url("/")).header("cookie", value).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l11_numbers_of_rows_and_messages_over_the_port() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let id =
        service.import(&org, "t.csv", b"a\n1\n2\n", true).await.unwrap()["dataset_id"].as_str().unwrap().to_owned();
    let token = service.token(&org).await;
    for limit in ["0", "-1", "51", "1e9", "99999999999999999999", "", "x", "1.5", "%00", "+1x", "NaN"] {
        let response =
            service.get(&format!("/api/v1/ext/datasets/{id}/rows?limit={limit}"), &token).send().await.unwrap();
        let (status, body) = json_of(response).await;
        assert_eq!((status, body["error"]["code"].as_str()), (400, Some("invalid_argument")), "{limit:?}: {body}");
    }
    for limit in ["0", "-1", "51", "1e400", "99999999999999999999", "null", "\"x\"", "[]", "1.5"] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"dragoman_preview_rows","arguments":{{"dataset_id":"{id}","limit":{limit}}},
            "_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},
            "io.modelcontextprotocol/clientInfo":{{"name":"x","version":"1"}}}}}}}}"#
        );
        let request = service.post("/mcp", &token).header("accept", "*/*").header("content-type", "application/json");
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        let (status, answer) =
            json_of(request.header("mcp-name", "dragoman_preview_rows").body(body).send().await.unwrap()).await;
        let refused = answer["error"]["code"].is_i64() || answer["result"]["isError"] == true;
        assert!(status < 500 && refused, "{limit}: {status} {answer}");
    }
    let mut chance = Chance::new(7);
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dragoman_sql","arguments":{"sql":"SELECT 1"},"_meta":{}}}"#;
    let initialize = r#"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    for _ in 0..REQUESTS {
        let body = chance.mutated(&[message, initialize]);
        let request = service.post("/mcp", &token).header("accept", "*/*").header("content-type", "application/json");
        let status = request.body(body.clone()).send().await.unwrap().status().as_u16();
        assert!(status < 500 || status == 503, "{status}: {:?}", String::from_utf8_lossy(&body));
    }
}
