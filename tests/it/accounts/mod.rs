//! Passwords and what surrounds them, over the whole service: guesses from everywhere, forgotten passwords by e-mail, the
//! person's own pages. Names carry the number of the attack that the test makes (see the catalogue in the reference on
//! OAuth).

mod guesses;
mod lives;
mod pages;
mod passwords;
mod reset;
mod smtp;
mod strangers;

use dragoman::base::secret::Secret;
use dragoman::model::user::User;
use dragoman::store;
use reqwest::Response;

use crate::site::{Browser, client, field};
use crate::support::databases::postgres_url;
use crate::support::service::{PASSWORD, Service};
use smtp::{Sent, Smtp};

/// The service with a mail server beside it, and two people: Ann and Bob.
pub struct World {
    pub service: Service,
    pub smtp: Smtp,
    pub ann: User,
}

/// Runs a test over SQLite, then over PostgreSQL.
pub async fn on_both(settings: &[(&str, &str)], test: impl AsyncFn(&World)) {
    eprintln!("on SQLite");
    test(&World::with(settings).await).await;
    eprintln!("on PostgreSQL");
    let url = postgres_url().await;
    let settings: Vec<_> = settings.iter().copied().chain([("DATABASE_URL", url.as_str())]).collect();
    test(&World::with(&settings).await).await;
}

impl World {
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let smtp = Smtp::start().await;
        let url = smtp.url();
        let mut all = vec![
            ("DRAGOMAN_SMTP_URL", url.as_str()),
            ("DRAGOMAN_MAIL_FROM", "Dragoman <dragoman@data.example>"),
            // Tests speak for many addresses.
            ("DRAGOMAN_TRUSTED_PROXIES", "127.0.0.1"),
        ];
        all.retain(|(name, _)| !settings.iter().any(|(own, _)| own == name));
        all.extend(settings);
        let service = Service::with(&all).await;
        let password = Secret::new(PASSWORD);
        let ann = service.identity.create_user("ann@example.com", "Ann", &password).await.unwrap();
        service.identity.create_user("bob@example.com", "Bob", &password).await.unwrap();
        Self { service, smtp, ann }
    }

    /// A browser with an empty cookie jar.
    pub fn browser(&self) -> Browser {
        Browser { base: self.service.config.issuer(), http: client(true) }
    }

    pub async fn ann(&self) -> Browser {
        self.browser().signed_in("ann@example.com").await
    }

    /// Sends the log-in form from an address.
    pub async fn log_in_from(&self, browser: &Browser, ip: &str, email: &str, password: &str) -> Response {
        let page = browser.http.get(self.service.url("/login")).header("x-forwarded-for", "198.51.100.1").send().await;
        let csrf = field(&page.unwrap().text().await.unwrap(), "csrf");
        let form = [("csrf", &*csrf), ("email", email), ("password", password)];
        let request = browser.http.post(self.service.url("/login")).form(&form);
        request.header("x-forwarded-for", ip).send().await.unwrap()
    }

    /// Asks for a link, as a stranger would.
    pub async fn forgot(&self, email: &str) -> Response {
        struct Address;
        // An address that asks once only.
        let unique = dragoman::base::id::Id::<Address>::new(&dragoman::base::clock::Clock::system()).uuid();
        let ip = std::net::Ipv6Addr::from_bits(unique.as_u128().rotate_left(64));
        let browser = self.browser();
        let page = browser.get("/login/forgot").await.text().await.unwrap();
        let form = [("csrf", &*field(&page, "csrf")), ("email", email)];
        let request = browser.http.post(self.service.url("/login/forgot")).form(&form);
        request.header("x-forwarded-for", ip.to_string()).send().await.unwrap()
    }

    /// Every mail since the last time, once those on their way have arrived.
    pub async fn mails(&self) -> Vec<Sent> {
        self.service.identity.mailer().finish().await;
        self.smtp.take()
    }

    /// The secret of a fresh link for a person.
    pub async fn link(&self, email: &str) -> String {
        assert_eq!(self.forgot(email).await.status(), 200);
        let mails = self.mails().await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        mails[0].token().to_owned()
    }

    /// Outcome, principal and target of the entries of an action, the oldest first.
    pub async fn record(&self, action: &str) -> Vec<(String, String, String)> {
        let entries = store::audit::newest(&self.service.db, None, 1000).await.unwrap();
        let ours = entries.into_iter().rev().map(|(_, entry)| entry).filter(|entry| entry.action == action);
        ours.map(|entry| (entry.outcome, entry.principal, entry.target)).collect()
    }

    /// Changes rows as only the operator of the database could.
    pub async fn sql(&self, sql: &'static str) {
        sqlx::query(sql).execute(self.service.db.pool()).await.unwrap();
    }
}

/// The newest session cookie that a response sets.
pub fn session_cookie(response: &Response) -> Option<String> {
    let lines = response.headers().get_all("set-cookie").iter().filter_map(|line| line.to_str().ok());
    let line = lines.filter_map(|line| line.strip_prefix("dragoman=")).next_back()?;
    line.split(';').next().map(str::to_owned)
}

/// Whose home page a session cookie opens; `None` for nobody's.
pub async fn home_of(world: &World, cookie: &str) -> Option<String> {
    let request = client(false).get(world.service.url("/")).header("cookie", format!("dragoman={cookie}"));
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let page = response.text().await.unwrap();
    let (_, rest) = page.split_once("Signed in as ")?;
    rest.split_once('<').map(|(email, _)| email.to_owned())
}
