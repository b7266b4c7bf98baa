//! A: the authorization endpoint, each near miss of a line.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::site::{PASSWORD, REDIRECT, Site, field, location, param, refresh};
use crate::support::service::json_of;

/// Registers a client and returns its id.
async fn registered(site: &Site, redirect_uris: Value) -> String {
    let (status, body) =
        json_of(site.register(json!({ "client_name": "C", "redirect_uris": redirect_uris })).await).await;
    assert_eq!(status, 201, "{body}");
    body["client_id"].as_str().unwrap().to_owned()
}

/// The request gets a page of ours, and the browser goes nowhere.
async fn stays(site: &Site, path: &str) {
    let response = site.program().get(site.url(path)).send().await.unwrap();
    assert_eq!(response.status(), 400, "{path}");
    let headers = response.headers();
    assert!(headers.get("location").is_none() && headers.get("refresh").is_none(), "{path}");
    assert_eq!(headers["content-type"], "text/html; charset=utf-8", "{path}");
    let page = response.text().await.unwrap();
    assert!(!page.contains("evil") && !page.contains("iss="), "{path}");
}

/// The request is refused at the client's address, with its state and our name, once each.
async fn refused(site: &Site, path: &str, error: &str) {
    let response = site.program().get(site.url(path)).send().await.unwrap();
    assert_eq!(response.status(), 303, "{path}");
    let url = location(&response);
    assert!(url.starts_with(&format!("{REDIRECT}?")), "{url}");
    assert_eq!(param(&url, "error").as_deref(), Some(error), "{path}");
    assert_eq!(param(&url, "iss"), Some(site.base.clone()), "{url}");
    assert_eq!(param(&url, "code"), None, "{url}");
}

#[tokio::test]
async fn a03_addresses_that_are_nearly_the_registered_one_are_not_it() {
    let site = Site::start().await;
    let client = registered(&site, json!(["https://good.example/app/cb?a=1"])).await;
    for redirect in [
        "https://good.example/app/cb",
        "https://good.example/app/cb/more?a=1",
        "https://good.example/app/cb/?a=1",
        "https://good.example/app/cb?a=1/",
        "https://good.example/app/cb?a=1&b=2",
        "https://good.example/app/cb?b=2&a=1",
        "https://good.example/app/cb?a=2",
        "https://good.example/app/cb?A=1",
        "https://good.example/app/cb?a=1#",
        "https://good.example/app/cb?a=1#evil",
        "https://good.example/APP/cb?a=1",
        "https://good.example/app/%63b?a=1",
        "https://good.example/app%2Fcb?a=1",
        "https://good.example/app/cb?a=%31",
        "https://good.example//app/cb?a=1",
        "https://good.example/app//cb?a=1",
        "https://good.example/x/../app/cb?a=1",
        "https://good.example/app/./cb?a=1",
        "https://good.example/x/%2e%2e/app/cb?a=1",
        "https://good.example/app/cb;x?a=1",
        "https://good.example;evil.example/app/cb?a=1",
        "https://good.example@evil.example/app/cb?a=1",
        "https://good.example:443@evil.example/app/cb?a=1",
        "https://user@good.example/app/cb?a=1",
        "https://good.example.evil.example/app/cb?a=1",
        "https://evilgood.example/app/cb?a=1",
        "https://good.example\\@evil.example/app/cb?a=1",
        "https://good.example\\.evil.example/app/cb?a=1",
        "https:\\\\good.example\\app\\cb?a=1",
        "https://good.example%00.evil.example/app/cb?a=1",
        "https://good.example%2eevil.example/app/cb?a=1",
        "https://good.example\u{9}/app/cb?a=1",
        "https://good.exa\nmple/app/cb?a=1",
        "https://good.example/app/cb?a=1\r\nlocation:https://evil.example",
        "\thttps://good.example/app/cb?a=1",
        "https://good.example/app/cb?a=1 ",
        "https://gооd.example/app/cb?a=1",
        "https://xn--god-fmc.example/app/cb?a=1",
        "https://good.example./app/cb?a=1",
        "https://GOOD.example/app/cb?a=1",
        "HTTPS://good.example/app/cb?a=1",
        "https://good.example:443/app/cb?a=1",
        "https://good.example:8443/app/cb?a=1",
        "http://good.example/app/cb?a=1",
        "//good.example/app/cb?a=1",
        "/app/cb?a=1",
    ] {
        stays(&site, &site.authorize_path(&client, &[("redirect_uri", redirect)])).await;
    }
    let own = site.authorize_path(&client, &[("redirect_uri", "https://good.example/app/cb?a=1")]);
    let response = site.program().get(site.url(&own)).send().await.unwrap();
    assert!(location(&response).starts_with("/login?"), "the registered address itself is good");
    assert!(site.events.lock().unwrap().iter().filter(|event| event.outcome == "refused").count() >= 46, "recorded");
}

#[tokio::test]
async fn a04_only_the_port_of_a_loopback_address_is_free() {
    let site = Site::start().await;
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        let client = registered(&site, json!([format!("http://{host}:4000/cb")])).await;
        for good in ["", ":1", ":4000", ":65535"] {
            let redirect = format!("http://{host}{good}/cb");
            let path = site.authorize_path(&client, &[("redirect_uri", &redirect)]);
            let response = site.program().get(site.url(&path)).send().await.unwrap();
            assert_eq!(response.status(), 303, "{redirect}");
            assert!(location(&response).starts_with("/login?"), "{redirect}");
        }
        let mut bad: Vec<String> =
            ["/", "/cb/", "/CB", "/cb?x", "/cb#x", ":0/cb", ":65536/cb", ":x/cb", ":/cb", ":1@evil.example/cb"]
                .iter()
                .map(|end| format!("http://{host}{end}"))
                .collect();
        bad.extend([format!("https://{host}/cb"), format!("ws://{host}/cb"), format!("http://{host}.evil.example/cb")]);
        for other in [
            "127.0.0.1", "[::1]", "localhost", "LOCALHOST", "localhost.", "127.0.0.2", "127.1", "0x7f000001",
            "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "127.0.0.1.evil.example",
            "localhost.evil.example", "0.0.0.0", "[::]",
        ] {
            if other != host {
                bad.push(format!("http://{other}/cb"));
            }
        }
        for redirect in bad {
            stays(&site, &site.authorize_path(&client, &[("redirect_uri", &redirect)])).await;
        }
    }
}

#[tokio::test]
async fn a05_an_authorization_request_always_says_where_the_answer_goes() {
    let site = Site::start().await;
    for uris in [json!(["https://a.example/cb"]), json!(["https://a.example/cb", "https://b.example/cb"])] {
        let client = registered(&site, uris).await;
        stays(&site, &site.authorize_path(&client, &[("redirect_uri", "")])).await;
    }
}

#[tokio::test]
async fn a06_dangerous_schemes_are_refused_at_registration_and_at_use() {
    let site = Site::start().await;
    let client = registered(&site, json!(["https://a.example/cb"])).await;
    for uri in [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "jAvAsCrIpT://a.example/%0aalert(1)",
        " javascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "java\u{0}script:alert(1)",
        "javascript\u{9}:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "DATA:text/html;base64,PHNjcmlwdD4=",
        "vbscript:msgbox(1)",
        "file:///etc/passwd",
        "blob:https://a.example/b",
        "about:blank",
        "view-source:https://a.example/",
        "filesystem:https://a.example/x",
    ] {
        for uris in [json!([uri]), json!(["https://a.example/cb", uri])] {
            let (status, body) = json_of(site.register(json!({ "redirect_uris": uris })).await).await;
            assert_eq!((status, &body["error"]), (400, &json!("invalid_redirect_uri")), "{uri:?}");
        }
        let path = site.authorize_path(&client, &[("redirect_uri", uri)]);
        let response = site.program().get(site.url(&path)).send().await.unwrap();
        assert_eq!(response.status(), 400, "{uri:?}");
        assert!(response.headers().get("location").is_none() && response.headers().get("refresh").is_none());
        assert!(!response.text().await.unwrap().contains("alert(1)"), "{uri:?}");
    }
}

#[tokio::test]
async fn a07_a_private_scheme_beside_a_good_address_is_registered_and_not_sent_to() {
    let site = Site::start().await;
    let client = registered(&site, json!(["unheard-of://app/cb", "cursor://app/cb", "https://a.example/cb"])).await;
    stays(&site, &site.authorize_path(&client, &[("redirect_uri", "unheard-of://app/cb")])).await;
    // Schemes of programs that we know are the explicit policy.
    for known in ["cursor://app/cb", "https://a.example/cb"] {
        let path = site.authorize_path(&client, &[("redirect_uri", known)]);
        let response = site.program().get(site.url(&path)).send().await.unwrap();
        assert!(location(&response).starts_with("/login?"), "{known}");
    }
    let alone = site.register(json!({ "redirect_uris": ["unheard-of://app/cb"] })).await;
    assert_eq!(alone.status(), 400);
}

#[tokio::test]
async fn a08_a09_a10_a11_a12_a24_other_flows_and_weak_challenges_are_refused_at_the_client() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let challenge = |length: usize| "a".repeat(length);
    let (short, long, longest, padded) = (challenge(42), challenge(129), challenge(44), challenge(42) + "=");
    for (changes, error) in [
        (vec![("response_type", "")], "invalid_request"),
        (vec![("response_type", "token")], "unsupported_response_type"),
        (vec![("response_type", "id_token")], "unsupported_response_type"),
        (vec![("response_type", "code token")], "unsupported_response_type"),
        (vec![("response_type", "none")], "unsupported_response_type"),
        (vec![("response_type", "CODE")], "unsupported_response_type"),
        (vec![("response_mode", "fragment")], "invalid_request"),
        (vec![("response_mode", "form_post")], "invalid_request"),
        (vec![("response_mode", "jwt")], "invalid_request"),
        (vec![("code_challenge", "")], "invalid_request"),
        (vec![("code_challenge", ""), ("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge_method", "plain")], "invalid_request"),
        (vec![("code_challenge_method", "s256")], "invalid_request"),
        (vec![("code_challenge_method", "S512")], "invalid_request"),
        (vec![("code_challenge", &short)], "invalid_request"),
        (vec![("code_challenge", &longest)], "invalid_request"),
        (vec![("code_challenge", &long)], "invalid_request"),
        (vec![("code_challenge", &padded)], "invalid_request"),
        (vec![("code_challenge", "aaaaaaaaaaaaaaaaaaaaa+aaaaaaaaaaaaaaaaaaaa/")], "invalid_request"),
        (vec![("code_challenge", "aaaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaaa")], "invalid_request"),
        (vec![("code_challenge", "éaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], "invalid_request"),
    ] {
        refused(&site, &site.authorize_path(&client, &changes), error).await;
    }
}

#[tokio::test]
async fn a13_a_repeated_parameter_is_refused_wherever_it_stands() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let path = site.authorize_path(&client, &[]);
    let query = path.split_once('?').unwrap().1.to_owned();
    let known = [
        "response_type", "response_mode", "scope", "state", "code_challenge", "code_challenge_method", "resource",
        "prompt", "max_age",
    ];
    for name in known {
        // Twice in the query, and once in the query and once in the body, the same value and an empty one included.
        let extra = format!("{name}=x&{name}=");
        refused(&site, &format!("{path}&{extra}"), "invalid_request").await;
        if ["response_type", "scope", "state", "code_challenge", "code_challenge_method"].contains(&name) {
            let posted = site.program().post(site.url(&path)).form(&[(name, "x")]).send().await.unwrap();
            let url = location(&posted);
            assert_eq!(param(&url, "error").as_deref(), Some("invalid_request"), "{name}");
        }
    }
    for name in ["client_id", "redirect_uri"] {
        stays(&site, &format!("{path}&{name}=x")).await;
        stays(&site, &format!("{path}&{name}=")).await;
        let posted = site.program().post(site.url(&path)).form(&[(name, "x")]).send().await.unwrap();
        assert_eq!((posted.status().as_u16(), posted.headers().get("location")), (400, None), "{name}");
    }
    // The same parameters in the body alone are a good request.
    let posted = site.program().post(site.url("/api/oauth/authorize")).body(query);
    let posted = posted.header("content-type", "application/x-www-form-urlencoded").send().await.unwrap();
    assert!(location(&posted).starts_with("/login?"));
}

#[tokio::test]
async fn a14_a_scope_is_known_or_the_request_is_refused_and_never_widened() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let many = vec!["x"; 200].join(" ");
    for scope in [
        "root",
        "data_agent:read root",
        "data_agent:READ",
        "data_agent:read,data_agent:write",
        "data_agent:read\tdata_agent:write",
        "data_agent:read\ndatasets:write",
        "\"data_agent:read\"",
        "data_agent:read\\",
        "data_agent:*",
        "données",
        &many,
    ] {
        refused(&site, &site.authorize_path(&client, &[("scope", scope)]), "invalid_scope").await;
    }
    // Repeated a hundred times it is one, and what was not asked for is neither offered nor given.
    let repeated = vec!["data_agent:read"; 100].join(" ");
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&site.authorize_path(&client, &[("scope", &repeated)])).await;
    assert_eq!(page.matches("name=\"scope\"").count(), 1, "{page}");
    let wide = [("scope", "data_agent:read"), ("scope", "data_agent:write"), ("scope", "workspace:admin")];
    let url = refresh(&ann.answer(&page, "approve", &wide).await);
    let (status, tokens) = site.redeem(&client, &param(&url, "code").unwrap()).await;
    assert_eq!((status, &tokens["scope"]), (200, &json!("data_agent:read")));
}

#[tokio::test]
async fn a15_a18_the_resource_is_the_usual_one_or_the_one_that_was_named_in_our_spelling() {
    Site::both(async |site| {
        let client = site.client_id().await;
        let ann = site.browser().signed_in("ann@example.com").await;
        let shouted = site.url("/mcp").replace("http://", "HTTP://");
        let workspace = site.url("/t/demo/mcp/").replace("http://", "Http://");
        for (said, meant) in [("", "/mcp"), (&*shouted, "/mcp"), (&*workspace, "/t/demo/mcp")] {
            let code = ann.code(&site.authorize_path(&client, &[("resource", said), ("prompt", "consent")])).await;
            let (status, tokens) = site.redeem(&client, &code).await;
            assert_eq!(status, 200, "{tokens}");
            let access = tokens["access_token"].as_str().unwrap();
            let claims = access.split('.').nth(1).and_then(dragoman::base::secret::from_base64url).unwrap();
            let claims: Value = serde_json::from_slice(&claims).unwrap();
            assert_eq!(claims["aud"], site.url(meant), "{said}");
            for path in ["/mcp", "/t/demo/mcp"] {
                let status = site.call(path, access).await.status();
                assert_eq!(status == 200, path == meant, "{said} at {path}: {status}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a16_a_resource_that_is_nearly_ours_is_not() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let base = site.base.clone();
    let host = base.strip_prefix("http://").unwrap();
    let port = host.rsplit(':').next().unwrap();
    for resource in [
        "mcp".to_owned(),
        "/mcp".into(),
        "//localhost/mcp".into(),
        format!("//{host}/mcp"),
        base.clone(),
        format!("{base}/"),
        format!("{base}/mcp#"),
        format!("{base}/mcp#x"),
        format!("{base}/mcp?x=1"),
        format!("{base}/MCP"),
        format!("{base}/mcp//"),
        format!("{base}//mcp"),
        format!("{base}/mcp/.."),
        format!("{base}/x/../mcp"),
        format!("{base}/./mcp"),
        format!("{base}/x/%2e%2e/mcp"),
        format!("{base}/%6dcp"),
        format!("{base}/mcp-evil"),
        format!("{base}/mcp.evil"),
        format!("{base}/t/demo-evil"),
        format!("{base}/t/demo/mcp-evil"),
        format!("{base}/t/demo/mcp/x"),
        format!("{base}/t/DEMO/mcp"),
        format!("{base}/t//mcp"),
        format!("{base}/t/../mcp"),
        format!("{base}/t/demo/../others/mcp"),
        format!("{base}/t/demo\\mcp"),
        format!("{base}/api/v1/ext"),
        format!("http://user@{host}/mcp"),
        format!("http://{host}@evil.example/mcp"),
        format!("https://{host}/mcp"),
        format!("http://127.0.0.1.evil.example:{port}/mcp"),
        format!("http://localhost:{port}/mcp"),
        format!("http://127.0.0.1:1{port}/mcp"),
        "http://127.0.0.1/mcp".into(),
        "https://evil.example/mcp".into(),
        format!("{base}/mcp {base}/mcp"),
        format!(" {base}/mcp"),
        format!("{base}/mcp\n"),
        format!("{base}/mcp\0").replace('\0', "\u{1}"),
        "urn:mcp".into(),
        format!("{base}/{}", "a".repeat(3000)),
    ] {
        refused(&site, &site.authorize_path(&client, &[("resource", &resource)]), "invalid_target").await;
    }
    // Repeated, even with the same value, is not one target.
    let own = url::form_urlencoded::byte_serialize(site.url("/mcp").as_bytes()).collect::<String>();
    let twice = site.authorize_path(&client, &[]) + &format!("&resource={own}&resource={own}");
    refused(&site, &twice, "invalid_request").await;
}

#[tokio::test]
async fn a19_nothing_that_a_request_points_to_is_fetched() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/r", listener.local_addr().unwrap());
    refused(&site, &site.authorize_path(&client, &[("request", "eyJhbGciOiJub25lIn0.e30.")]), "request_not_supported")
        .await;
    refused(&site, &site.authorize_path(&client, &[("request_uri", &address)]), "request_uri_not_supported").await;
    refused(
        &site,
        &site.authorize_path(&client, &[("request_uri", "urn:ietf:params:oauth:request_uri:x")]),
        "request_uri_not_supported",
    )
    .await;
    let nobody = futures_util::FutureExt::now_or_never(listener.accept());
    assert!(nobody.is_none(), "the address was called");
}

#[tokio::test]
async fn a22_a24_without_a_state_none_comes_back_and_the_issuer_still_does() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let response =
        site.program().get(site.url(&site.authorize_path(&client, &[("state", ""), ("scope", "root")]))).send();
    let url = location(&response.await.unwrap());
    assert!(!url.contains("state="), "{url}");
    assert_eq!(url.matches("iss=").count(), 1, "{url}");
    let metadata = site.url("/.well-known/oauth-authorization-server");
    let metadata: Value = site.program().get(metadata).send().await.unwrap().json().await.unwrap();
    assert_eq!(param(&url, "iss").as_deref(), metadata["issuer"].as_str());
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
}

#[tokio::test]
async fn a25_what_we_do_not_know_and_every_order_are_no_difference() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let extras = [("nonce", "n"), ("display", "page"), ("login_hint", "x"), ("acr_values", "0"), ("ui_locales", "de")];
    let mut scopes = Vec::new();
    for (changes, backwards) in [
        (vec![], false),
        (extras.to_vec(), false),
        (extras.to_vec(), true),
        (vec![("scope", "data_agent:write data_agent:read")], true),
        (vec![("scope", "data_agent:write  data_agent:read data_agent:write")], false),
    ] {
        let mut path = site.authorize_path(&client, &[&changes[..], &[("prompt", "consent")]].concat());
        if backwards {
            let query = path.split_once('?').unwrap().1;
            let turned: Vec<&str> = query.split('&').rev().collect();
            path = format!("/api/oauth/authorize?{}", turned.join("&"));
        }
        let code = ann.code(&path).await;
        let (status, tokens) = site.redeem(&client, &code).await;
        assert_eq!(status, 200, "{tokens}");
        scopes.push(tokens["scope"].clone());
    }
    assert!(scopes.iter().all(|scope| scope == "data_agent:read data_agent:write"), "{scopes:?}");
}

#[tokio::test]
async fn a26_a27_only_reading_and_forms_of_a_bearable_size_are_taken() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let path = site.authorize_path(&client, &[]);
    for method in ["PUT", "DELETE", "HEAD", "PATCH", "TRACE"] {
        let request = site.program().request(method.parse().unwrap(), site.url(&path));
        assert_eq!(request.send().await.unwrap().status(), 405, "{method}");
    }
    for kind in ["application/json", "multipart/form-data; boundary=x", "text/plain"] {
        let request = site.program().post(site.url("/api/oauth/authorize")).header("content-type", kind);
        assert_eq!(request.body("{}").send().await.unwrap().status(), 415, "{kind}");
    }
    // Too much is seen before any client is looked up or fetched.
    site.events.lock().unwrap().clear();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fetched = format!("https://127.0.0.1:{}/c", listener.local_addr().unwrap().port());
    for more in [format!("&x={}", "a".repeat(8 << 10)), "&x=1".repeat(64)] {
        for id in [&client, &fetched] {
            let path = site.authorize_path(id, &[]) + &more;
            assert_eq!(site.program().get(site.url(&path)).send().await.unwrap().status(), 413);
        }
    }
    assert!(futures_util::FutureExt::now_or_never(listener.accept()).is_none());
    assert_eq!((site.rows("pending").await, site.rows("sessions").await), (0, 0));
    for bad in ["%zz", "%ff", "%00", "%"] {
        let path = format!("{path}&x={bad}");
        assert_eq!(site.program().get(site.url(&path)).send().await.unwrap().status(), 400, "{bad}");
    }
}

#[tokio::test]
async fn a29_a30_no_answer_to_a_form_repeats_it_elsewhere_and_none_is_stored() {
    let site = Site::start().await;
    let client = site.client_id().await;
    let ann = site.browser();
    let page = ann.get("/login").await.text().await.unwrap();
    let wrong = [("csrf", &*field(&page, "csrf")), ("email", "ann@example.com"), ("password", "a wrong password")];
    let mut answers = vec![ann.post("/login", &wrong).await];
    answers.push(ann.log_in("ann@example.com", PASSWORD, &site.authorize_path(&client, &[])).await);
    answers.push(ann.get(&site.authorize_path(&client, &[])).await);
    for decision in ["approve", "deny"] {
        let page = ann.consent_page(&site.authorize_path(&client, &[("prompt", "consent")])).await;
        answers.push(ann.answer(&page, decision, &[]).await);
        answers.push(ann.answer(&page, decision, &[]).await);
    }
    answers.push(ann.get(&site.authorize_path(&client, &[("scope", "root")])).await);
    answers.push(ann.post("/api/oauth/authorize", &[("client_id", "unknown")]).await);
    let home = ann.get("/").await.text().await.unwrap();
    answers.push(ann.post("/logout", &[("csrf", &field(&home, "csrf"))]).await);
    for answer in answers {
        let status = answer.status().as_u16();
        assert!(![301, 302, 307, 308].contains(&status), "{status} at {}", answer.url());
        assert_eq!(answer.headers()["cache-control"], "no-store", "{}", answer.url());
        let policy = answer.headers()["referrer-policy"].to_str().unwrap();
        // Pages with a form keep the referrer to ourselves; whatever leads elsewhere sends none.
        let leaves = answer.headers().contains_key("refresh") || answer.headers().contains_key("location");
        assert!(policy == "no-referrer" || (policy == "same-origin" && !leaves), "{policy} at {}", answer.url());
    }
}

#[tokio::test]
async fn b32_a_picture_that_a_client_names_is_neither_fetched_nor_shown() {
    let site = Site::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let logo = format!("http://{}/logo.svg", listener.local_addr().unwrap());
    let metadata = json!({
        "client_name": "<svg onload=alert(1)>", "logo_uri": logo, "client_uri": "https://a.example",
        "redirect_uris": ["http://127.0.0.1/callback"],
    });
    let (status, body) = json_of(site.register(metadata).await).await;
    assert_eq!(status, 201, "{body}");
    let ann = site.browser().signed_in("ann@example.com").await;
    let page = ann.consent_page(&site.authorize_path(body["client_id"].as_str().unwrap(), &[])).await;
    assert!(!page.contains("logo.svg") && !page.contains("<img") && !page.contains("<svg"), "{page}");
    assert!(futures_util::FutureExt::now_or_never(listener.accept()).is_none(), "the picture was fetched");
}

#[tokio::test]
async fn h04_what_is_advertised_works_and_what_works_is_advertised() {
    let site = Site::start().await;
    let metadata = site.url("/.well-known/oauth-authorization-server");
    let metadata: Value = site.program().get(metadata).send().await.unwrap().json().await.unwrap();
    let client = site.client_id().await;
    for (name, path) in [
        ("authorization_endpoint", "authorize"),
        ("token_endpoint", "token"),
        ("registration_endpoint", "register"),
        ("revocation_endpoint", "revoke"),
        ("introspection_endpoint", "introspect"),
        ("device_authorization_endpoint", "device_authorization"),
        ("pushed_authorization_request_endpoint", "par"),
        ("end_session_endpoint", "logout"),
        ("userinfo_endpoint", "userinfo"),
    ] {
        let url = site.url(&format!("/api/oauth/{path}"));
        let advertised = metadata.get(name).and_then(Value::as_str);
        assert!(advertised.is_none_or(|advertised| advertised == url), "{name}");
        let answers = site.program().post(&url).form(&[("x", "y")]).send().await.unwrap().status() != 404;
        assert_eq!(answers, advertised.is_some(), "{name}");
        if advertised.is_some() {
            let put = site.program().put(&url).send().await.unwrap();
            assert_eq!(put.status(), 405, "{name}");
        }
    }
    let listed = |name: &str, value: &str| metadata[name].as_array().unwrap().iter().any(|one| one == value);
    for grant in [
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "password",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ] {
        let (_, body) = site.token(&[("grant_type", grant), ("client_id", &client)]).await;
        let known = body["error"] != "unsupported_grant_type";
        assert_eq!(known, listed("grant_types_supported", grant), "{grant}: {body}");
    }
    for (parameter, list, values) in [
        ("response_type", "response_types_supported", ["code", "token", "id_token"]),
        ("response_mode", "response_modes_supported", ["query", "fragment", "form_post"]),
        ("code_challenge_method", "code_challenge_methods_supported", ["S256", "plain", "S512"]),
        ("scope", "scopes_supported", ["data_agent:read", "offline_access", "openid"]),
    ] {
        for value in values {
            let path = site.authorize_path(&client, &[(parameter, value)]);
            let to = location(&site.program().get(site.url(&path)).send().await.unwrap());
            assert_eq!(to.starts_with("/login?"), listed(list, value), "{parameter}={value}: {to}");
        }
    }
}
