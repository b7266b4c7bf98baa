//! The same way through a provider that others wrote, and a person who wants to connect a program.

use std::path::PathBuf;
use std::process::Stdio;

use dragoman::base::clock::Clock;
use dragoman::model::access::Role;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::site::{Site, field, location, param, refresh};

/// The provider, which ends with its standard input.
struct Foreign {
    _child: Child,
    issuer: String,
}

impl Foreign {
    async fn start(redirect: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        let node = folder.join("node_modules/.bin/node");
        assert!(node.exists(), "run `npm ci --ignore-scripts` in tests/clients (tests/run does)");
        let mut child = Command::new(node)
            .args(["provider.mjs", redirect])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let issuer = lines.next_line().await.unwrap().expect("the provider ended before it was up");
        // It may say more, and ends when nobody listens.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { _child: child, issuer }
    }
}

#[tokio::test]
async fn a_person_of_a_real_provider_signs_in_and_connects_a_program() {
    // The provider has to know the service's address first, and the service the provider's.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base = format!("http://127.0.0.1:{port}");
    let foreign = Foreign::start(&format!("{base}/login/oidc/callback")).await;
    let settings = [
        ("DRAGOMAN_LISTEN", format!("127.0.0.1:{port}")),
        ("DRAGOMAN_OIDC_ISSUER", foreign.issuer.clone()),
        ("DRAGOMAN_OIDC_CLIENT_ID", "house".into()),
        ("DRAGOMAN_OIDC_CLIENT_SECRET", "a secret of the house".into()),
    ];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let site = Site::at(&settings, Clock::manual(Clock::system().now())).await;
    sqlx::query("UPDATE orgs SET email_domains = '[\"example.com\"]' WHERE slug = 'demo'")
        .execute(site.identity.db().pool())
        .await
        .unwrap();

    let client = site.client_id().await;
    let authorize = site.authorize_path(&client, &[("scope", "data_agent:read")]);
    let browser = site.browser();
    let login = location(&browser.get(&authorize).await);
    let page = browser.get(&login).await.text().await.unwrap();
    let way = page.split_once("href=\"/login/oidc").unwrap().1.split('"').next().unwrap().to_owned();
    let page = browser.get(&format!("/login/oidc{way}")).await.text().await.unwrap();
    assert!(page.contains("Test client") && page.contains("unverified"), "{page}");
    let return_to = field(&page, "return_to").replace("&amp;", "&").replace("&#38;", "&");
    let sent = browser.post("/login/oidc", &[("csrf", &*field(&page, "csrf")), ("return_to", &return_to)]).await;
    assert_eq!(sent.status(), 200, "{}", sent.text().await.unwrap());

    let sent_cookies: Vec<String> =
        sent.headers().get_all("set-cookie").iter().map(|line| line.to_str().unwrap().to_owned()).collect();

    // At the provider: its own redirects, with its own cookies, until it sends the person back.
    let mut at = refresh(&sent);
    assert!(at.starts_with(&foreign.issuer), "{at}");
    let stranger = crate::site::client(true);
    let mut hops = 0;
    while !at.starts_with(&format!("{base}/login/oidc/callback?")) {
        let response = stranger.get(&at).send().await.unwrap();
        assert_eq!(response.status().as_u16() / 100, 3, "{at}: {}", response.text().await.unwrap());
        at = url::Url::parse(&at).unwrap().join(&location(&response)).unwrap().to_string();
        hops += 1;
        assert!(hops < 10, "{at}");
    }
    assert_eq!(param(&at, "iss").as_ref(), Some(&foreign.issuer), "RFC 9207");

    let path = at.strip_prefix(&base).unwrap();
    // A provider that says that it always names itself is not believed when it does not.
    let other = site.browser();
    let mut nameless = url::Url::parse(&at).unwrap();
    let kept: Vec<_> = nameless.query_pairs().into_owned().filter(|(name, _)| name != "iss").collect();
    nameless.query_pairs_mut().clear().extend_pairs(kept);
    let cookie = sent_cookies.iter().find(|line| line.contains("journey-")).unwrap().split(';').next().unwrap();
    let response = other.http.get(nameless).header("cookie", cookie).send().await.unwrap();
    assert_eq!(response.status(), 400);

    let response = browser.get(path).await;
    assert_eq!(response.status(), 303, "{}", response.text().await.unwrap());
    let back = location(&response);
    assert!(back.starts_with("/api/oauth/authorize?"), "{back}");

    let user = site.identity.user_by_email("cleo@example.com").await.unwrap().unwrap();
    assert_eq!(user.name, "Cleo");
    site.identity.set_role(site.demo.id, user.id, Role::Viewer).await.unwrap();
    let page = browser.consent_page(&back).await;
    assert!(page.contains("cleo@example.com"), "{page}");
    let answer = browser.answer(&page, "approve", &[("scope", "data_agent:read")]).await;
    let code = param(&refresh(&answer), "code").unwrap();
    let (status, tokens) = site.redeem(&client, &code).await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(site.call("/mcp", tokens["access_token"].as_str().unwrap()).await.status(), 200);
}
