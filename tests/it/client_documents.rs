//! Clients known by a document instead of a registration (catalogue G), through the endpoints and pages.

use serde_json::Value;

use crate::site::{Site, VERIFIER, location, param, refresh};

const CLAUDE: &str = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const CLAUDE_CODE: &str = "https://claude.ai/oauth/claude-code-client-metadata";
const CHATGPT: &str = "https://chatgpt.com/oauth/client.json";

#[tokio::test]
async fn g_a_client_with_a_document_gets_working_tokens_without_registering() {
    let site = Site::start().await;
    let metadata = site.url("/.well-known/oauth-authorization-server");
    let metadata: Value = site.program().get(metadata).send().await.unwrap().json().await.unwrap();
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
    assert_eq!(metadata["token_endpoint_auth_methods_supported"][0], "none");
    let ann = site.browser().signed_in("ann@example.com").await;
    for (client, redirect, name, host) in [
        (CLAUDE, "https://claude.ai/api/mcp/auth_callback", "Claude", "claude.ai"),
        (CLAUDE, "https://claude.com/api/mcp/auth_callback", "Claude", "claude.ai"),
        (CLAUDE_CODE, "http://localhost:50123/callback", "Claude Code", "claude.ai"),
        (CHATGPT, "https://chatgpt.com/connector_platform_oauth_redirect", "ChatGPT", "chatgpt.com"),
    ] {
        site.events.lock().unwrap().clear();
        let page = ann.consent_page(&site.authorize_path(client, &[("redirect_uri", redirect)])).await;
        assert!(
            page.contains(&format!("<bdi>{name}</bdi></strong> is published by <strong>{host}</strong>")),
            "{page}"
        );
        assert!(!page.contains("unverified"), "{page}");
        let answer = refresh(&ann.answer(&page, "approve", &[]).await);
        assert!(answer.starts_with(&format!("{redirect}?")), "{answer}");
        assert_eq!(param(&answer, "iss").as_deref(), Some(site.base.as_str()));
        let code = param(&answer, "code").unwrap();
        let (status, tokens) = site
            .token(&[
                ("grant_type", "authorization_code"),
                ("code", &code),
                ("client_id", client),
                ("redirect_uri", redirect),
                ("code_verifier", VERIFIER),
            ])
            .await;
        assert_eq!(status, 200, "{tokens}");
        let refresh_token = tokens["refresh_token"].as_str().unwrap();
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("client_id", client)];
        let (status, renewed) = site.token(&form).await;
        assert_eq!(status, 200, "{renewed}");
        let access = renewed["access_token"].as_str().unwrap();
        assert_eq!(site.call("/mcp", access).await.text().await.unwrap(), format!("{} admin", site.demo.id));
        let proven = site.identity.verify(access, &site.url("/mcp")).await.unwrap();
        assert_eq!((proven.client.id.as_str(), proven.client.name.as_str()), (client, host));
        let events = site.events.lock().unwrap();
        let recorded: Vec<_> = events.iter().map(|e| (e.action, e.outcome.as_str(), e.client.as_str())).collect();
        assert_eq!(
            recorded,
            [
                ("oauth.authorize", "ok", client),
                ("oauth.consent", "ok", client),
                ("oauth.token", "ok", client),
                ("oauth.token", "ok", client)
            ]
        );
    }
}

#[tokio::test]
async fn g16_a_program_on_the_computer_is_not_taken_for_the_publisher() {
    let site = Site::start().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let warnings = ["We cannot tell which one", "can still say that it is this one without being it"];
    let path = site.authorize_path(CLAUDE_CODE, &[("redirect_uri", "http://127.0.0.1:6666/callback")]);
    let page = ann.consent_page(&path).await;
    assert!(page.contains("<dd><strong>127.0.0.1</strong>"), "{page}");
    assert!(warnings.iter().all(|warning| page.contains(warning)), "{page}");
    let path = site.authorize_path(CLAUDE, &[("redirect_uri", "https://claude.ai/api/mcp/auth_callback")]);
    let page = ann.consent_page(&path).await;
    assert!(page.contains("<dd><strong>claude.ai</strong>"), "{page}");
    assert!(!warnings.iter().any(|warning| page.contains(warning)), "{page}");
    // One who registers a famous name is still somebody who chose that name.
    let registered = site.named_client("Claude").await;
    let page = ann.consent_page(&site.authorize_path(&registered, &[])).await;
    assert!(page.contains("unverified") && !page.contains("published by"), "{page}");
}

#[tokio::test]
async fn g01_g14_g15_every_refused_client_id_gets_the_page_of_unknown_clients() {
    let site = Site::with(&[("DRAGOMAN_PUBLIC_URL", "https://data.example.com")]).await;
    let program = site.program();
    let answer = async |client: &str| {
        let path = site.authorize_path(client, &[("redirect_uri", "https://claude.ai/api/mcp/auth_callback")]);
        let response = program.get(format!("{}{path}", site.listen)).send().await.unwrap();
        assert!(response.headers().get("location").is_none() && response.headers().get("refresh").is_none());
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let unknown = answer("dgc_unknown").await;
    assert_eq!(unknown.0, 400);
    for client in [
        "https://claude.ai",
        "https://claude.ai/",
        "https://CLAUDE.ai/oauth/mcp-oauth-client-metadata",
        "https://claude.ai:443/oauth/mcp-oauth-client-metadata",
        "https://claude.ai/oauth/mcp-oauth-client-metadata#",
        "https://claude.ai/oauth/./mcp-oauth-client-metadata",
        "http://claude.ai/oauth/mcp-oauth-client-metadata",
        "https://localhost:22/c",
        "https://127.0.0.1/c",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/c",
        "https://data.example.com/api/oauth/authorize",
        // Looked up, and found to be nobody's or this computer's.
        "https://client.invalid/c",
        "https://client.localhost/c",
    ] {
        assert_eq!(answer(client).await, unknown, "{client}");
    }
    let events = site.events.lock().unwrap();
    assert!(events.iter().all(|event| (event.action, event.outcome.as_str()) == ("oauth.authorize", "refused")));
}

#[tokio::test]
async fn a03_g13_only_addresses_of_the_document_are_sent_to() {
    let site = Site::start().await;
    for (client, redirect) in [
        (CLAUDE, "https://claude.ai/api/mcp/auth_callback/"),
        (CLAUDE, "https://claude.ai.evil.example/api/mcp/auth_callback"),
        (CLAUDE, "http://localhost:1/callback"),
        (CLAUDE_CODE, "https://claude.ai/api/mcp/auth_callback"),
        (CLAUDE_CODE, "http://localhost:1/other"),
        (CHATGPT, "https://chatgpt.com/connector/oauth/x"),
    ] {
        let response = site.browser().get(&site.authorize_path(client, &[("redirect_uri", redirect)])).await;
        assert_eq!(response.status(), 400, "{redirect}");
        assert!(response.headers().get("location").is_none() && response.headers().get("refresh").is_none());
    }
}

#[tokio::test]
async fn c_a_code_of_one_document_is_nobody_elses() {
    let site = Site::start().await;
    let ann = site.browser().signed_in("ann@example.com").await;
    let redirect = "https://claude.ai/api/mcp/auth_callback";
    let start = ann.get(&site.authorize_path(CLAUDE, &[("redirect_uri", redirect)])).await;
    let page = ann.get(&location(&start)).await.text().await.unwrap();
    let code = param(&refresh(&ann.answer(&page, "approve", &[]).await), "code").unwrap();
    let registered = site.client_id().await;
    let redeem = async |client: &str| {
        let (status, body) = site
            .token(&[
                ("grant_type", "authorization_code"),
                ("code", &code),
                ("client_id", client),
                ("redirect_uri", redirect),
                ("code_verifier", VERIFIER),
            ])
            .await;
        (status, body["error"].as_str().unwrap_or("").to_owned())
    };
    // A document that nobody approved is not fetched here: the name would not resolve, the answer is the code's.
    for other in [CLAUDE_CODE, &registered, "https://client.invalid/c"] {
        assert_eq!(redeem(other).await, (400, "invalid_grant".to_owned()), "{other}");
    }
    for none in ["https://claude.ai/", "https://127.0.0.1/c", "dgc_unknown"] {
        assert_eq!(redeem(none).await, (401, "invalid_client".to_owned()), "{none}");
    }
    assert_eq!(redeem(CLAUDE).await.0, 200);
}

#[tokio::test]
async fn g03_g04_g05_an_address_of_ours_is_never_called_and_nobody_learns_why() {
    let site = Site::start().await;
    let program = site.program();
    let answer = async |client: &str| {
        let path = site.authorize_path(client, &[("redirect_uri", "https://a.example/cb")]);
        let response = program.get(site.url(&path)).send().await.unwrap();
        assert!(response.headers().get("location").is_none() && response.headers().get("refresh").is_none());
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let unknown = answer("dgc_unknown").await;
    assert_eq!(unknown.0, 400);
    // Every port is free for whoever wants to listen here, but 443 may be in use: nothing is to reach any of them.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut hosts: Vec<String> = [
        "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "[::1]", "[::]", "[fc00::1]", "[fe80::1]", "[ff02::1]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "2130706433",
        "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "017700000001", "localhost", "localhost.",
        "client.localhost", "x.localhost.", "127.0.0.1.", "%31%32%37.0.0.1", "①②⑦.0.0.1", "1.1.1.1",
    ]
    .map(String::from)
    .to_vec();
    hosts.push(format!("127.0.0.1:{port}"));
    hosts.push(format!("localhost:{port}"));
    hosts.push(format!("user@127.0.0.1:{port}"));
    for host in hosts {
        assert_eq!(answer(&format!("https://{host}/client.json")).await, unknown, "{host}");
    }
    assert!(futures_util::FutureExt::now_or_never(listener.accept()).is_none(), "somebody was called");
}
