//! Documents that are kept from a web site: a site of the test's own, whose pages come, change, fail and go.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dragoman::model::access::{Role, Scope};
use dragoman::store;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::sync::{FIRST, Shop, counts, names, syncs};
use crate::support::databases::postgres_url;
use crate::support::service::Service;

/// A page as it is answered.
#[derive(Clone, Default)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    pub(super) etag: Option<&'static str>,
    pub(super) to: Option<String>,
    /// Answers only when a permit is given.
    pub(super) is_held: bool,
}

/// A site under the test's hand.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) origin: String,
    pages: Arc<Mutex<BTreeMap<String, Page>>>,
    /// Paths in the order in which they were asked for, with what was sent.
    pub(super) asked: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    pub(super) permits: Arc<Semaphore>,
}

async fn answer(State(site): State<Site>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    site.asked.lock().unwrap().push((path.clone(), request.headers().clone()));
    let page = site.pages.lock().unwrap().get(&path).cloned();
    let Some(page) = page else { return StatusCode::NOT_FOUND.into_response() };
    if page.is_held {
        site.permits.acquire().await.unwrap().forget();
    }
    let mut headers = HeaderMap::new();
    if let Some(etag) = page.etag {
        headers.insert("etag", etag.parse().unwrap());
        if request.headers().get("if-none-match").is_some_and(|known| known == etag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
    }
    if let Some(to) = page.to {
        headers.insert("location", to.parse().unwrap());
    }
    (StatusCode::from_u16(page.status).unwrap(), headers, page.body).into_response()
}

impl Site {
    pub(super) async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Self { origin, pages: Arc::default(), asked: Arc::default(), permits: Arc::new(Semaphore::new(0)) };
        let router = axum::Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        site
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    pub(super) fn put(&self, path: &str, body: impl Into<Vec<u8>>) {
        self.set(path, Page { body: body.into(), ..Page::default() });
    }

    pub(super) fn set(&self, path: &str, page: Page) {
        let status = if page.status == 0 { 200 } else { page.status };
        self.pages.lock().unwrap().insert(path.into(), Page { status, ..page });
    }

    /// A sitemap of addresses, each with its `lastmod` where it has one.
    pub(super) fn list(&self, path: &str, pages: &[(&str, &str)]) {
        let entries = pages.iter().map(|(page, changed)| {
            let url = if page.starts_with('/') { self.url(page) } else { (*page).to_owned() };
            let changed = if changed.is_empty() { String::new() } else { format!("<lastmod>{changed}</lastmod>") };
            format!("<url><loc>{url}</loc>{changed}</url>")
        });
        let urls: String = entries.collect();
        self.put(
            path,
            packed(format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>")),
        );
    }

    /// What was asked for since the last time.
    pub(super) fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.into_iter().map(|(path, _)| path).collect()
    }

    /// Waits until a path is asked for, since the last time that [`Site::asked`] was.
    pub(super) async fn until(&self, path: &str) {
        let end = Instant::now() + Duration::from_secs(240);
        let is_asked = || self.asked.lock().unwrap().iter().any(|(asked, _)| asked == path);
        while !is_asked() {
            assert!(Instant::now() < end, "{path} is not asked for");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A workspace that may keep documents from it.
    async fn shop(&self, settings: &[(&str, &str)]) -> Shop {
        let private = format!("other=https://10.0.0.7,acme={}", self.origin);
        let mut all = vec![("DRAGOMAN_SYNC_PRIVATE_SITES", private.as_str())];
        all.extend(settings);
        Shop::open(Service::with(&all).await, FIRST).await
    }

    pub(super) fn sync(&self, paths: &[&str]) -> Value {
        json!({ "name": "pages", "site": { "sitemap": self.url("/sitemap.xml"), "paths": paths } })
    }
}

fn packed(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(text.as_ref()).unwrap();
    gzip.finish().unwrap()
}

pub(super) fn page(title: &str, text: &str) -> String {
    format!(
        "<!doctype html><html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>"
    )
}

async fn again(shop: &Shop) -> Value {
    let asked = shop.bring("pages").await;
    let run = shop.ended("pages").await;
    assert_eq!(run["job_id"], asked["job_id"], "{run}");
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_the_pages_of_a_site() {
    let postgres = postgres_url().await;
    for settings in [&[][..], &[("DATABASE_URL", postgres.as_str())]] {
        follow(settings).await;
    }
}

async fn follow(settings: &[(&str, &str)]) {
    let site = Site::open().await;
    site.put("/robots.txt", "User-agent: *\nDisallow: /docs/private\n");
    let index = format!("<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>", site.url("/docs.xml.gz"));
    site.put("/sitemap.xml", index);
    site.list(
        "/docs.xml.gz",
        &[
            ("/docs/returns", "2024-01-01"),
            ("/docs/lunch", ""),
            ("/docs/notes.txt", "2024-01-01"),
            ("/docs/parking", "2024-01-01"),
            ("/docs/private/plan", ""),
            ("/docs/away", ""),
            ("/shop", ""),
            ("/docsabout", ""),
            ("https://elsewhere.example/docs/x", ""),
        ],
    );
    site.put("/docs/returns", page("Returns", "Goods may be sent back within thirty days."));
    let lunch = page("Lunch", "The canteen opens at noon.");
    site.set("/docs/lunch", Page { body: lunch.into(), etag: Some("\"1\""), ..Page::default() });
    site.put("/docs/notes.txt", "Bicycles are kept in the yard behind the house.\n");
    let moved = |to: String| Page { status: 302, to: Some(to), ..Page::default() };
    site.set("/docs/parking", moved("/docs/parking/".into()));
    site.put("/docs/parking/", page("Parking", "The garage closes at ten."));
    let stranger = Site::open().await;
    stranger.put("/docs/away", page("Away", "Not ours."));
    site.set("/docs/away", moved(stranger.url("/docs/away")));

    let shop = site.shop(settings).await;
    let (status, set) = shop.set(site.sync(&["/docs/"])).await;
    assert_eq!((status, &set["site"]["paths"]), (200, &json!(["/docs/"])), "{set}");
    let run = shop.ended("pages").await;
    assert_eq!((run["state"].as_str(), counts(&run)), (Some("done"), [4, 0, 0, 0, 4]), "{run}");
    let message = run["message"].as_str().unwrap();
    for part in
        ["1 of 5 could not be read", "1 link of other sites", "1 page closed by robots.txt", "/docs/away: it leads"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let agent = site.asked.lock().unwrap()[0].1["user-agent"].to_str().unwrap().to_owned();
    assert_eq!(agent, format!("dragoman (+{})", shop.service.config.issuer()));
    let asked = site.asked();
    assert_eq!(asked[..3], ["/robots.txt", "/sitemap.xml", "/docs.xml.gz"]);
    for never in ["/docs/private/plan", "/shop", "/docsabout"] {
        assert!(!asked.iter().any(|path| path == never), "{asked:?}");
    }
    assert!(stranger.asked().is_empty(), "no redirect leaves the site");
    shop.publish("pages").await;
    let returns = shop.found("goods").await;
    assert_eq!(names(&returns), [site.url("/docs/returns")]);
    assert_eq!(names(&shop.found("garage").await), [site.url("/docs/parking")]);
    let read = shop.ask("rag_get_docs", json!({ "doc_ids": [returns.first().unwrap().1] })).await;
    assert_eq!(read["docs"][0]["title"], "Returns", "{read}");

    // Nothing changed: what has a date is not asked for, what has a tag is not sent, and what has neither is not encoded.
    let run = again(&shop).await;
    assert_eq!(counts(&run)[..2], [0, 0], "{run}");
    let mut asked = site.asked();
    asked.sort();
    assert_eq!(asked, ["/docs.xml.gz", "/docs/away", "/docs/lunch", "/robots.txt", "/sitemap.xml"]);

    site.list(
        "/docs.xml.gz",
        &[("/docs/returns", "2024-02-02"), ("/docs/lunch", ""), ("/docs/notes.txt", "2024-02-02")],
    );
    site.put("/docs/returns", page("Returns", "Goods may be sent back within sixty days."));
    site.set("/docs/lunch", Page { status: 500, ..Page::default() });
    site.pages.lock().unwrap().remove("/docs/notes.txt");
    let run = again(&shop).await;
    assert_eq!(counts(&run), [0, 1, 0, 2, 2], "{run}");
    assert!(run["message"].as_str().unwrap().contains("/docs/lunch: status 500"), "{run}");
    assert_eq!(shop.found("sixty").await, returns, "its id stays");
    assert_eq!(names(&shop.found("canteen").await), [site.url("/docs/lunch")], "a page that fails keeps its text");
    assert!(shop.found("garage bicycles").await.is_empty());

    // A site that is gone takes nothing with it.
    site.pages.lock().unwrap().clear();
    let run = again(&shop).await;
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["message"].as_str().unwrap().contains("There is no sitemap at"), "{run}");
    assert_eq!(shop.found("goods").await, returns);
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cut_off_goes_on_where_it_was() {
    let site = Site::open().await;
    site.list("/sitemap.xml", &[("/1", "2024"), ("/2", "2024"), ("/3", "2024"), ("/4", "2024")]);
    for number in 1..=4 {
        let body = page(&format!("Page {number}"), &format!("What stands on page {number} alone.")).into();
        site.set(&format!("/{number}"), Page { body, is_held: number > 2, ..Page::default() });
    }
    let shop = site.shop(&[]).await;
    assert_eq!(shop.set(site.sync(&[])).await.0, 200);
    site.until("/3").await;
    // What was read is published once a minute; the run goes on holding its lease in between.
    for _ in 0..2 {
        shop.service.clock.advance(Duration::from_secs(31));
        let end = Instant::now() + Duration::from_secs(60);
        let lease = "SELECT leased_until FROM document_syncs WHERE name = 'pages'";
        while sqlx::query_scalar::<_, i64>(lease).fetch_one(shop.service.db.pool()).await.unwrap()
            < shop.service.clock.now() + 59_000
        {
            assert!(Instant::now() < end, "the lease is not held");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    site.permits.add_permits(1);
    site.until("/4").await;
    shop.publish("pages").await;
    assert_eq!(names(&shop.found("stands").await).len(), 3, "what was read by then is there");
    let before = site.asked();
    assert_eq!(before, ["/robots.txt", "/sitemap.xml", "/1", "/2", "/3", "/4"]);
    // Defined anew, the run of before is held no more.
    assert_eq!(shop.set(site.sync(&[])).await.0, 200);
    site.until("/4").await;
    site.permits.add_permits(2);
    let run = shop.ended("pages").await;
    assert_eq!(counts(&run), [1, 0, 0, 0, 4], "{run}");
    assert_eq!(site.asked(), ["/robots.txt", "/sitemap.xml", "/4"], "what was read is not read again");
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_sites_that_are_public_or_opened_for_the_workspace_are_kept() {
    let site = Site::open().await;
    site.list("/sitemap.xml", &[("/1", "")]);
    site.put("/1", page("One", "The only page."));
    let shop = site.shop(&[]).await;
    let of = |sitemap: &str| json!({ "name": "pages", "site": { "sitemap": sitemap } });
    for sitemap in [
        "https://localhost/sitemap.xml",
        "https://127.0.0.1/sitemap.xml",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.7/sitemap.xml",
        "http://example.com/sitemap.xml",
        "http://127.0.0.1:1/sitemap.xml",
        "https://user@example.com/sitemap.xml",
        "https://example.com:8443/sitemap.xml",
        "file:///etc/passwd",
        "sitemap.xml",
    ] {
        let (status, refused) = shop.set(of(sitemap)).await;
        assert_eq!(
            (status, &refused["error"]["details"]["field"]),
            (400, &json!("site.sitemap")),
            "{sitemap} {refused}"
        );
    }
    let site_and = |field: &str, value: Value| {
        let mut sync = site.sync(&[]);
        sync[field] = value;
        sync
    };
    for (sync, field) in [
        (site.sync(&["docs"]), "site.paths"),
        (site.sync(&["/a"; 21]), "site.paths"),
        (site_and("table", json!("posts")), "table"),
        (site_and("key", json!("id")), "table"),
        (json!({ "name": "pages" }), "table"),
        (json!({ "name": "pages", "table": "posts", "text": ["body"] }), "key"),
    ] {
        let (status, refused) = shop.set(sync).await;
        assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!(field)), "{refused}");
    }
    let viewer = shop.service.access_token(&shop.org, Role::Viewer, &Scope::ALL).await;
    let set = async |who: &str| {
        let (status, _) = shop.service.manage(who, "POST", "/document-syncs", Some(site.sync(&[]))).await;
        status
    };
    assert_eq!(set(&viewer).await, 403);
    let third = shop.service.workspace("third").await;
    let neighbour = shop.service.access_token(&third, Role::Admin, &Scope::ALL).await;
    assert_eq!(set(&neighbour).await, 400, "it is not open for this workspace");
    assert!(site.asked().is_empty(), "nothing was sent");

    assert_eq!(set(&shop.admin).await, 200);
    assert_eq!(counts(&shop.ended("pages").await), [1, 0, 0, 0, 1]);
    assert_eq!(syncs(&shop.service, &third).await, json!([]));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_cannot_be_understood_is_left_as_it_was() {
    let site = Site::open().await;
    let shop = site.shop(&[]).await;
    let down = Page { status: 503, ..Page::default() };
    site.put("/sitemap.xml", packed(vec![b' '; (50 << 20) + 1]));
    assert_eq!(shop.set(site.sync(&[])).await.0, 200);
    let failed = async |run: Value, part: &str| {
        assert_eq!(run["state"], "failed", "{part}: {run}");
        assert!(run["message"].as_str().unwrap().contains(part), "{part}: {run}");
    };
    failed(shop.ended("pages").await, "more than 52428800 bytes").await;
    site.put("/sitemap.xml", "<html><body>Soon here</body></html>");
    failed(again(&shop).await, "it begins with <html>").await;
    site.list("/sitemap.xml", &[("https://elsewhere.example/", "")]);
    failed(again(&shop).await, "names no page of its own site").await;
    let own = site.url("/sitemap.xml");
    let nested = format!("<sitemapindex><sitemap><loc>{own}?x={{}}</loc></sitemap></sitemapindex>");
    site.put("/sitemap.xml", nested.replace("{}", "1"));
    failed(again(&shop).await, "names no page").await;
    let many: String = (0..201).map(|number| format!("<sitemap><loc>{own}?x={number}</loc></sitemap>")).collect();
    site.put("/sitemap.xml", format!("<sitemapindex>{many}</sitemapindex>"));
    site.asked();
    failed(again(&shop).await, "leads to more than 200 sitemaps").await;
    assert_eq!(site.asked(), ["/robots.txt", "/sitemap.xml"], "none of them is read");
    site.set("/robots.txt", down.clone());
    failed(again(&shop).await, "robots.txt cannot be read").await;
    site.put("/robots.txt", "User-agent: dragoman\nDisallow: /\n");
    failed(again(&shop).await, "robots.txt of the site closes").await;
    site.pages.lock().unwrap().remove("/robots.txt");
    let pages: Vec<String> = (0..12).map(|number| format!("/{number}")).collect();
    let listed: Vec<(&str, &str)> = pages.iter().map(|page| (page.as_str(), "")).collect();
    site.list("/sitemap.xml", &listed);
    site.put("/0", page("First", "The only page that is answered."));
    for page in pages.iter().skip(1) {
        site.set(page, down.clone());
    }
    site.asked();
    let run = again(&shop).await;
    assert_eq!(counts(&run), [1, 0, 0, 0, 1], "what was read before stays: {run}");
    failed(run, "did not answer for 10 of them").await;
    assert_eq!(site.asked().len(), 13, "it is left alone then");
    let record = store::audit::newest(&shop.service.db, Some(shop.org.id), 50).await.unwrap();
    let (_, entry) = record.into_iter().find(|(_, entry)| entry.action == "admin.document.sync").unwrap();
    assert_eq!((entry.outcome.as_str(), entry.rows), ("source_unavailable", 1));
    shop.service.stop().await;
}
