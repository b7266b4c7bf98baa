//! The documentation as the service shows it: to everybody, without scripts, and as Markdown.

use std::collections::{BTreeMap, BTreeSet};

use dragoman::model::access::Role;
use dragoman::ops::connectivity::guides::GUIDES;
use dragoman::surface::docs::{FILES, PAGES};

use crate::console::person;
use crate::site::{Browser, client};
use crate::support::service::Service;

/// Where every page is.
fn paths() -> Vec<String> {
    let pages = PAGES.iter().map(|page| format!("/docs/{}", page.name));
    let guides = GUIDES.iter().map(|guide| format!("/docs/connect/{}", guide.id));
    ["/docs".to_owned()].into_iter().chain(pages).chain(guides).collect()
}

async fn text(service: &Service, path: &str) -> String {
    let response = service.http.get(service.url(path)).send().await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_reads_every_page_without_scripts() {
    let service = Service::start().await;
    for path in paths() {
        let response = service.http.get(service.url(&path)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("script-src"), "{path}: {policy}");
        let page = response.text().await.unwrap();
        // What the policy would refuse is not there to be refused.
        let tags: Vec<&str> = page.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()).collect();
        for part in ["script", "iframe", "object", "form"] {
            assert!(!tags.iter().any(|tag| tag.starts_with(part)), "{path}: <{part}");
        }
        for part in [" style=", " onclick=", " onerror=", "javascript:"] {
            assert!(!tags.iter().any(|tag| tag.contains(part)), "{path}: {part}");
        }
        assert_eq!(page.matches("<h1>").count(), 1, "{path}");
        assert!(page.matches(" aria-current=\"page\"").count() <= 1, "{path}");
        assert_eq!(page.matches(" aria-current=\"page\"").count() == 0, path == "/docs", "{path}");
    }
    for path in [
        "/docs/nothing", "/docs/connect/netscape", "/docs/nothing.md", "/docs/files/Cargo.toml",
        "/docs/..%2FCargo.toml",
    ] {
        assert_eq!(service.http.get(service.url(path)).send().await.unwrap().status(), 404, "{path}");
    }
    service.stop().await;
}

/// Every link of every page, with its anchor, leads to something that the service has.
#[tokio::test(flavor = "multi_thread")]
async fn links_between_pages_lead_to_what_is_there() {
    let service = Service::start().await;
    let mut pages = BTreeMap::new();
    let mut links = BTreeSet::new();
    for path in paths() {
        let page = text(&service, &path).await;
        let addresses =
            page.split(" href=\"").chain(page.split("<img src=\"")).filter(|rest| rest.starts_with(['/', '#']));
        for link in addresses.map(|rest| rest.split('"').next().unwrap()) {
            links.insert(if link.starts_with('#') { format!("{path}{link}") } else { link.to_owned() });
        }
        pages.insert(path, page);
    }
    for link in &links {
        let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
        if anchor.is_empty() {
            assert_eq!(service.http.get(service.url(to)).send().await.unwrap().status(), 200, "{link}");
        } else {
            assert!(pages[to].contains(&format!(" id=\"{anchor}\"")), "{link}");
        }
    }
    assert!(links.len() > 100, "{links:?}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_get_markdown_with_this_services_address() {
    let service = Service::start().await;
    let list = text(&service, "/llms.txt").await;
    assert!(list.starts_with("# Dragoman\n\n> "), "{list}");
    for path in paths().iter().filter(|path| *path != "/docs") {
        assert!(list.contains(&format!("]({}.md): ", service.url(path))), "{path}: {list}");
    }
    for path in paths().iter().map(|path| if path == "/docs" { "/docs/README" } else { path }) {
        let response = service.http.get(service.url(&format!("{path}.md"))).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"text/markdown; charset=utf-8".parse().unwrap()),
            "{path}"
        );
        let markdown = response.text().await.unwrap();
        assert!(markdown.starts_with("# ") && !markdown.contains("http://127.0.0.1:8787"), "{path}");
    }
    let connect = text(&service, "/docs/connect.md").await;
    assert!(connect.contains(&service.url("/mcp")), "{connect}");
    assert!(text(&service, "/docs/connect/cursor").await.contains(&service.url("/mcp")));
    for file in FILES {
        assert!(!text_or_bytes(&service, file.name).await.is_empty(), "{}", file.name);
    }
    service.stop().await;
}

async fn text_or_bytes(service: &Service, name: &str) -> Vec<u8> {
    let response = service.http.get(service.url(&format!("/docs/files/{name}"))).send().await.unwrap();
    assert_eq!(response.status(), 200, "{name}");
    response.bytes().await.unwrap().to_vec()
}

/// Who is in trouble finds the way: pages that need it lead to the documentation.
#[tokio::test(flavor = "multi_thread")]
async fn pages_lead_to_the_documentation() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, ann) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    let (_, outsider) = person(&service, "vic@example.com", &[]).await;
    let stranger = Browser { base: service.url(""), http: client(true) };
    for (browser, path, link) in [
        (&stranger, "/login", "/docs/troubleshooting#signing-in"),
        (&stranger, "/", "/docs/connect"),
        (&outsider, "/w/acme", "/docs/troubleshooting"),
        (&ann, "/", "/docs"),
        (&ann, "/w/acme", "/docs/data"),
        (&ann, "/w/acme/connect", "/docs/connect"),
        (&ann, "/w/acme/connect/cursor", "/docs/connect/cursor"),
        (&ann, "/w/acme/sources", "/docs/sources"),
        (&ann, "/w/acme/ask?mode=question", "/docs/ontologies"),
    ] {
        let page = browser.get(path).await.text().await.unwrap();
        assert!(page.contains(&format!("href=\"{link}\"")), "{path}: {link}");
    }
    service.stop().await;
}
