//! Signing in at another provider. The provider that misbehaves is ours ([`provider`]); the one that behaves is others'
//! (`real`). Names carry the number of the attack that the test makes.

mod accounts;
mod anew;
mod faults;
mod journeys;
mod provider;
mod real;

use reqwest::Response;

use self::provider::{CLIENT, Provider, SECRET};
use crate::site::{Browser, Site, field, location, refresh};
use dragoman::base::clock::Clock;

/// The service with a provider, at the same time.
pub struct House {
    pub site: Site,
    pub provider: Provider,
}

impl House {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let provider = Provider::start(Clock::manual(crate::site::NOW)).await;
        let mut all = vec![
            ("DRAGOMAN_OIDC_ISSUER", provider.issuer.as_str()),
            ("DRAGOMAN_OIDC_NAME", "Example ID"),
            ("DRAGOMAN_OIDC_CLIENT_ID", CLIENT),
            ("DRAGOMAN_OIDC_CLIENT_SECRET", SECRET),
        ];
        all.extend(settings);
        let site = Site::with(&all).await;
        Self { site, provider }
    }

    /// Moves both clocks.
    pub fn wait(&self, seconds: u64) {
        let by = std::time::Duration::from_secs(seconds);
        self.site.clock.advance(by);
        self.provider.advance(by);
    }

    /// From the page to the address at the provider.
    pub async fn depart(&self, browser: &Browser, return_to: &str) -> String {
        let encoded: String = url::form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
        let page = browser.get(&format!("/login/oidc?return_to={encoded}")).await;
        assert_eq!(page.status(), 200, "{}", page.text().await.unwrap());
        let page = page.text().await.unwrap();
        let form = [("csrf", &*field(&page, "csrf")), ("return_to", return_to)];
        let sent = browser.post("/login/oidc", &form).await;
        assert_eq!(sent.status(), 200, "{}", sent.text().await.unwrap());
        refresh(&sent)
    }

    /// The whole way there and back.
    pub async fn come_back(&self, browser: &Browser, return_to: &str) -> Response {
        let there = self.depart(browser, return_to).await;
        browser.get(&self.provider.approve(&there)).await
    }

    /// As [`House::come_back`], signed in.
    pub async fn sign_in(&self, browser: &Browser) {
        let response = self.come_back(browser, "/account/providers").await;
        assert_eq!(response.status(), 303, "{}", response.text().await.unwrap());
        assert_eq!(location(&response), "/account/providers");
    }

    /// People and links, which no refusal may change.
    pub async fn counts(&self) -> (i64, i64) {
        let pool = self.site.identity.db().pool();
        let users = sqlx::query_scalar("SELECT COUNT(*) FROM users").fetch_one(pool).await.unwrap();
        let links = sqlx::query_scalar("SELECT COUNT(*) FROM upstream_identities").fetch_one(pool).await.unwrap();
        (users, links)
    }

    /// What the record says last: action and outcome.
    pub fn last(&self) -> (&'static str, String) {
        let events = self.site.events.lock().unwrap();
        let event = events.last().unwrap();
        (event.action, event.outcome.clone())
    }

    /// A workspace that takes whoever has an address at `domain`.
    pub async fn open_to(&self, domain: &str) {
        sqlx::query("UPDATE orgs SET email_domains = $1 WHERE slug = 'demo'")
            .bind(format!("[\"{domain}\"]"))
            .execute(self.site.identity.db().pool())
            .await
            .unwrap();
    }
}

/// Who the browser's session is, if anybody.
pub async fn who(browser: &Browser) -> Option<String> {
    let page = browser.get("/").await.text().await.unwrap();
    let (_, rest) = page.split_once("Signed in as ")?;
    Some(rest.split('<').next().unwrap().to_owned())
}

/// Whether the answer takes the journey's cookie away.
pub fn removes_journey(response: &Response) -> bool {
    let set = response.headers().get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    set.into_iter().any(|line| line.contains("dragoman-journey-") && line.contains("=; ") && line.contains("Max-Age=0"))
}
