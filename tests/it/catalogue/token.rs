//! C and D: the token endpoint over its port, on both databases. What can be put right by the client is refused before
//! anything is used up.

use serde_json::{Value, json};

use crate::site::{REDIRECT, Site, VERIFIER};

const FORM: &str = "application/x-www-form-urlencoded";

type Form = Vec<(String, String)>;

fn form(pairs: &[(&str, &str)]) -> Form {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn exchange(client: &str, code: &str) -> Form {
    let grant = ("grant_type", "authorization_code");
    form(&[grant, ("code", code), ("client_id", client), ("redirect_uri", REDIRECT), ("code_verifier", VERIFIER)])
}

fn renewal(client: &str, token: &str) -> Form {
    form(&[("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)])
}

/// `form` with a parameter replaced, or without it when the value is empty.
fn with(form: &Form, name: &str, value: &str) -> Form {
    let mut changed: Form = form.iter().filter(|(key, _)| key != name).cloned().collect();
    if !value.is_empty() {
        changed.push((name.to_owned(), value.to_owned()));
    }
    changed
}

async fn send(site: &Site, form: &Form) -> (u16, Value) {
    let response = site.program().post(site.url("/api/oauth/token")).form(form).send().await.unwrap();
    assert_eq!(response.headers()["cache-control"], "no-store");
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    assert!(status == 200 || (body.get("access_token").is_none() && body.get("refresh_token").is_none()));
    (status, body)
}

async fn refused(site: &Site, form: &Form, status: u16, error: &str) {
    let (got, body) = send(site, form).await;
    assert_eq!((got, body["error"].as_str().unwrap_or("")), (status, error), "{form:?}: {body}");
}

/// A person's approval of a client of its own: the client and its code.
async fn approved(site: &Site) -> (String, String) {
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let path = site.authorize_path(&client, &[("prompt", "consent")]);
    let code = ann.code(&path).await;
    (client, code)
}

#[tokio::test]
async fn c05_c07_c08_c09_c10_c11_what_a_client_can_put_right_does_not_use_its_code_up() {
    Site::both(async |site| {
        let (client, code) = approved(&site).await;
        let other = site.named_client("Other").await;
        let usual = exchange(&client, &code);
        let (short, long, wrong) = (&VERIFIER[..42], "a".repeat(129), "b".repeat(43));
        let challenge = dragoman::base::secret::base64url(&dragoman::base::secret::sha256(VERIFIER.as_bytes()));
        for (name, value, status, error) in [
            ("grant_type", "", 400, "invalid_request"),
            ("grant_type", "password", 400, "unsupported_grant_type"),
            ("grant_type", "implicit", 400, "unsupported_grant_type"),
            ("grant_type", "client_credentials", 400, "unsupported_grant_type"),
            ("grant_type", "AUTHORIZATION_CODE", 400, "unsupported_grant_type"),
            ("grant_type", "urn:ietf:params:oauth:grant-type:nothing", 400, "unsupported_grant_type"),
            ("code", "", 400, "invalid_request"),
            ("code", "dgac_AAAA", 400, "invalid_grant"),
            ("code_verifier", "", 400, "invalid_request"),
            ("code_verifier", short, 400, "invalid_grant"),
            ("code_verifier", &long, 400, "invalid_grant"),
            ("code_verifier", &wrong, 400, "invalid_grant"),
            ("code_verifier", &challenge, 400, "invalid_grant"),
            ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjX%", 400, "invalid_grant"),
            ("redirect_uri", "http://127.0.0.1:43211/callback", 400, "invalid_grant"),
            ("redirect_uri", "http://127.0.0.1/callback", 400, "invalid_grant"),
            ("redirect_uri", "http://localhost:43210/callback", 400, "invalid_grant"),
            ("redirect_uri", "https://evil.example/callback", 400, "invalid_grant"),
            ("resource", "https://elsewhere.example/mcp", 400, "invalid_target"),
            ("resource", "/mcp", 400, "invalid_target"),
            ("resource", &site.url("/t/demo/mcp"), 400, "invalid_target"),
            ("resource", &site.url("/t/others/mcp"), 400, "invalid_target"),
            ("client_id", "", 400, "invalid_request"),
            ("client_id", "dgc_unknown", 401, "invalid_client"),
            // C02: a leaked code is worth nothing to another client, and stays good for its own.
            ("client_id", &other, 400, "invalid_grant"),
        ] {
            refused(&site, &with(&usual, name, value), status, error).await;
        }
        for (name, value) in usual.clone() {
            for again in [value, String::new()] {
                let mut twice = usual.clone();
                twice.push((name.clone(), again));
                refused(&site, &twice, 400, "invalid_request").await;
            }
        }
        for name in ["scope", "resource"] {
            let twice = [usual.clone(), form(&[(name, "x"), (name, "y")])].concat();
            refused(&site, &twice, 400, "invalid_request").await;
        }
        // C09: what a code gives is what the person approved; a wider wish changes nothing.
        let wide = with(&usual, "scope", "data_agent:read data_agent:write datasets:write workspace:admin");
        let (status, tokens) = send(&site, &wide).await;
        assert_eq!((status, &tokens["scope"]), (200, &json!("data_agent:read data_agent:write")));
        refused(&site, &usual, 400, "invalid_grant").await;
    })
    .await;
}

#[tokio::test]
async fn c12_c13_c14_only_a_well_formed_form_in_the_body_is_read() {
    Site::both(async |site| {
        let (client, code) = approved(&site).await;
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(exchange(&client, &code)).finish();
        let endpoint = site.url("/api/oauth/token");
        let post = |kind: Option<&str>, body: Vec<u8>| {
            let request = site.program().post(&endpoint).body(body);
            kind.map_or(request.try_clone().unwrap(), |kind| request.header("content-type", kind)).send()
        };
        for kind in [
            None,
            Some(""),
            Some("application/json"),
            Some("application/json, application/x-www-form-urlencoded"),
            Some("application/x-www-form-urlencoded, application/json"),
            Some("multipart/form-data"),
            Some("multipart/form-data; boundary=x"),
            Some("text/plain"),
            Some("application/x-www-form-urlencoded-not"),
            Some("é"),
        ] {
            assert_eq!(post(kind, body.clone().into()).await.unwrap().status(), 415, "{kind:?}");
        }
        for (bad, status) in [
            (b"grant_type=%".to_vec(), 400),
            (b"grant_type=%2".to_vec(), 400),
            (b"grant_type=%zz".to_vec(), 400),
            (b"grant_type=%ff".to_vec(), 400),
            (b"grant_type=\xff\xfe".to_vec(), 400),
            (b"grant_type=a%00b".to_vec(), 400),
            (b"grant_type=a\0b".to_vec(), 400),
            (b"%c3%28=x".to_vec(), 400),
            (Vec::new(), 400),
            (b"&&&&".to_vec(), 400),
            ([body.as_bytes(), &b"&x=1".repeat(64)].concat(), 413),
            ([body.as_bytes(), b"&x=", &b"a".repeat(16 << 10)].concat(), 413),
        ] {
            let response = post(Some(FORM), bad.clone()).await.unwrap();
            assert_eq!(response.status(), status, "{}", String::from_utf8_lossy(&bad[..bad.len().min(40)]));
            assert_eq!(response.json::<Value>().await.unwrap()["error"], "invalid_request");
        }
        for method in ["GET", "PUT", "DELETE", "PATCH", "HEAD"] {
            let request = site.program().request(method.parse().unwrap(), format!("{endpoint}?{body}"));
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 405, "{method}");
        }
        // In the address they are not read, whole or in part.
        let client_only = format!("client_id={client}");
        for (query, sent) in [(body.as_str(), ""), (&body, "grant_type=authorization_code"), (&body, &client_only)] {
            let request = site.program().post(format!("{endpoint}?{query}")).header("content-type", FORM);
            assert_eq!(request.body(sent.to_owned()).send().await.unwrap().status(), 400, "{sent}");
        }
        for kind in ["Application/X-WWW-Form-URLencoded", "application/x-www-form-urlencoded ; charset=UTF-8"] {
            let (client, code) = approved(&site).await;
            let body =
                url::form_urlencoded::Serializer::new(String::new()).extend_pairs(exchange(&client, &code)).finish();
            assert_eq!(post(Some(kind), body.into()).await.unwrap().status(), 200, "{kind}");
        }
        assert_eq!(post(Some(FORM), body.into()).await.unwrap().status(), 200, "the code was never touched");
    })
    .await;
}

#[tokio::test]
async fn d06_d07_d08_d12_d13_d15_a_bad_renewal_changes_nothing_and_a_good_one_replaces() {
    Site::both(async |site| {
        let (client, code) = approved(&site).await;
        let other = site.named_client("Other").await;
        let (_, tokens) = send(&site, &exchange(&client, &code)).await;
        let first = tokens["refresh_token"].as_str().unwrap().to_owned();
        let access = tokens["access_token"].as_str().unwrap().to_owned();
        let usual = renewal(&client, &first);
        for (name, value, status, error) in [
            ("client_id", &*other, 400, "invalid_grant"),
            ("client_id", "dgc_unknown", 401, "invalid_client"),
            ("client_id", "", 400, "invalid_request"),
            ("scope", "datasets:write", 400, "invalid_scope"),
            ("scope", "data_agent:read workspace:admin", 400, "invalid_scope"),
            ("scope", "nonsense", 400, "invalid_scope"),
            ("resource", "https://elsewhere.example/mcp", 400, "invalid_target"),
            ("resource", &site.url("/t/demo/mcp"), 400, "invalid_target"),
            ("resource", "mcp", 400, "invalid_target"),
            ("refresh_token", "", 400, "invalid_request"),
            ("refresh_token", &access, 400, "invalid_grant"),
            ("refresh_token", &code, 400, "invalid_grant"),
            ("refresh_token", "dgrt_", 400, "invalid_grant"),
            ("refresh_token", &format!("{first}="), 400, "invalid_grant"),
            ("refresh_token", &first.to_uppercase(), 400, "invalid_grant"),
        ] {
            refused(&site, &with(&usual, name, value), status, error).await;
        }
        // D12: neither is a refresh token a bearer, nor an access token a code.
        assert_eq!(site.call("/mcp", &first).await.status(), 401);
        refused(&site, &exchange(&client, &access), 400, "invalid_grant").await;
        refused(&site, &exchange(&client, &first), 400, "invalid_grant").await;
        // D15: only in the body.
        let endpoint = site.url("/api/oauth/token");
        let rest = with(&usual, "refresh_token", "");
        let query = site.program().post(format!("{endpoint}?refresh_token={first}")).form(&rest).send().await.unwrap();
        assert_eq!(query.status(), 400);
        for header in
            [format!("Bearer {first}"), format!("Basic {}", dragoman::base::secret::base64url(first.as_bytes()))]
        {
            let request = site.program().post(&endpoint).header("authorization", &header).form(&rest);
            let response = request.send().await.unwrap();
            assert!([400, 401].contains(&response.status().as_u16()), "{header}");
            assert!(response.json::<Value>().await.unwrap().get("access_token").is_none());
        }
        assert_eq!(site.call("/mcp", &access).await.status(), 200, "nobody ended the family");
        // D13: every renewal of a public client replaces its token. Long after: none of the above had.
        site.clock.advance(std::time::Duration::from_secs(300));
        let mut current = first;
        for _ in 0..3 {
            let (status, tokens) = send(&site, &renewal(&client, &current)).await;
            assert_eq!(status, 200, "{tokens}");
            let next = tokens["refresh_token"].as_str().unwrap().to_owned();
            assert_ne!(next, current);
            current = next;
        }
        let narrow = with(&renewal(&client, &current), "scope", "data_agent:read");
        let (status, tokens) = send(&site, &narrow).await;
        assert_eq!((status, &tokens["scope"]), (200, &json!("data_agent:read")));
        let (_, tokens) = send(&site, &renewal(&client, tokens["refresh_token"].as_str().unwrap())).await;
        assert_eq!(tokens["scope"], "data_agent:read data_agent:write", "the grant did not shrink");
    })
    .await;
}

#[tokio::test]
async fn c01_c04_d01_leaked_codes_and_tokens_end_what_they_gave_and_it_is_on_the_record() {
    Site::both(async |site| {
        for leak in ["code", "refresh"] {
            let (client, code) = approved(&site).await;
            let (_, tokens) = send(&site, &exchange(&client, &code)).await;
            let first = tokens["refresh_token"].as_str().unwrap();
            let (status, renewed) = send(&site, &renewal(&client, first)).await;
            assert_eq!(status, 200, "{renewed}");
            let access = renewed["access_token"].as_str().unwrap();
            site.clock.advance(std::time::Duration::from_secs(31));
            assert_eq!(site.call("/mcp", access).await.status(), 200);
            let used = if leak == "code" { exchange(&client, &code) } else { renewal(&client, first) };
            refused(&site, &used, 400, "invalid_grant").await;
            assert_eq!(site.call("/mcp", access).await.status(), 401, "{leak}");
            refused(&site, &renewal(&client, renewed["refresh_token"].as_str().unwrap()), 400, "invalid_grant").await;
            let events = site.events.lock().unwrap();
            let said = events.iter().filter(|event| event.action == "oauth.token" && event.outcome == "invalid_grant");
            assert!(said.count() >= 2, "{leak}");
        }
        let (client, code) = approved(&site).await;
        site.clock.advance(std::time::Duration::from_secs(60));
        refused(&site, &exchange(&client, &code), 400, "invalid_grant").await;
    })
    .await;
}

#[tokio::test]
async fn c17_tokens_come_as_the_standard_says_and_are_kept_by_nobody() {
    Site::both(async |site| {
        let client = site.client_id().await;
        let ann = site.browser().signed_in("ann@example.com").await;
        let code = ann.code(&site.authorize_path(&client, &[])).await;
        let mut form = exchange(&client, &code);
        for expected in ["authorization_code", "refresh_token", "invalid_grant"] {
            let request = site.program().post(site.url("/api/oauth/token")).form(&form);
            let response = request.header("origin", "https://inspector.example").send().await.unwrap();
            let headers = response.headers().clone();
            assert_eq!(headers["content-type"], "application/json", "{expected}");
            assert_eq!(
                (&headers["cache-control"], &headers["pragma"]),
                (&"no-store".parse().unwrap(), &"no-cache".parse().unwrap())
            );
            assert_eq!(headers["access-control-allow-origin"], "*");
            assert!(!headers.contains_key("access-control-allow-credentials") && !headers.contains_key("set-cookie"));
            let body: Value = response.json().await.unwrap();
            if expected == "invalid_grant" {
                assert_eq!(body["error"], expected);
                continue;
            }
            assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(600)));
            assert_eq!(body["scope"], "data_agent:read data_agent:write");
            let refresh = body["refresh_token"].as_str().unwrap().to_owned();
            form = match expected {
                "authorization_code" => renewal(&client, &refresh),
                _ => renewal(&client, "dgrt_none"),
            };
        }
    })
    .await;
}
