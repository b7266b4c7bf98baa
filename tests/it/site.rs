//! The browser and OAuth routes on a real port over a fresh SQLite file, with people, workspaces and a scripted
//! browser.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse as _;
use axum::routing::any;
use axum::{Extension, Router};
use dragoman::base::clock::Clock;
use dragoman::base::secret::{MasterKey, Secret, base64url, sha256};
use dragoman::base::throttle::Throttle;
use dragoman::config::Config;
use dragoman::identity::Identity;
use dragoman::model::access::Role;
use dragoman::model::caller::Caller;
use dragoman::model::org::Org;
use dragoman::model::user::User;
use dragoman::store::Db;
use dragoman::surface::browser::session;
use dragoman::surface::browser::visit::{Door, Visit};
use dragoman::surface::context::{ClientIp, RequestId};
use dragoman::surface::guard::{GuardState, Guards, guard};
use dragoman::surface::routes::without_gateway;
use dragoman::surface::web::{AuditEvent, Web};
use reqwest::{Client, Response};
use serde_json::Value;

use crate::support::databases::postgres_url;

/// Where the clock stands at first.
pub const NOW: i64 = 1_800_000_000_000;
pub const PASSWORD: &str = "correct horse battery";
/// PKCE pair (RFC 7636 appendix B).
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const REDIRECT: &str = "http://127.0.0.1:43210/callback";

pub struct Site {
    /// The address that the outside uses.
    pub base: String,
    /// Where it listens.
    pub listen: String,
    pub identity: Identity,
    pub clock: Clock,
    pub events: Arc<Mutex<Vec<AuditEvent>>>,
    pub refused: Arc<Mutex<Vec<AuditEvent>>>,
    /// `demo`: accepts AI clients. `quiet`: does not.
    pub demo: Org,
    pub quiet: Org,
    /// Admin of both.
    pub ann: User,
    /// Viewer of both.
    pub bob: User,
    _dir: tempfile::TempDir,
}

impl Site {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Runs a test on SQLite and then on PostgreSQL, each fresh.
    pub async fn both(test: impl AsyncFn(Site)) {
        test(Self::start().await).await;
        test(Self::with(&[("DATABASE_URL", &postgres_url().await)]).await).await;
    }

    /// With settings of one's own; `{port}` stands for the port that it listens on.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::at(settings, Clock::manual(NOW)).await
    }

    /// As [`Site::with`], at another time.
    pub async fn at(settings: &[(&str, &str)], clock: Clock) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let db = match settings.iter().find(|(name, _)| *name == "DATABASE_URL") {
            Some((_, url)) => Db::open_postgres(&Secret::new(*url)).await.unwrap(),
            None => Db::open_sqlite(&dir.path().join("meta.db")).await.unwrap(),
        };
        let listen = settings.iter().find(|(name, _)| *name == "DRAGOMAN_LISTEN").map_or("127.0.0.1:0", |(_, at)| at);
        let listener = tokio::net::TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = Config::read(|name| {
            let own = settings
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.replace("{port}", &address.port().to_string()));
            own.or(match name {
                "DRAGOMAN_LISTEN" => Some(address.to_string()),
                "DRAGOMAN_RATE_AUTHORIZE"
                | "DRAGOMAN_RATE_REGISTER"
                | "DRAGOMAN_RATE_TOKEN"
                | "DRAGOMAN_FAILURES_PER_IP" => Some("10000".into()),
                _ => None,
            })
        });
        let config = Arc::new(config.unwrap());
        let master = MasterKey::generate();
        let identity = Identity::open(db, config.clone(), master.clone(), clock.clone()).await.unwrap();
        let demo = identity.create_org("demo", "Demo").await.unwrap();
        let quiet = identity.create_org("quiet", "Quiet").await.unwrap();
        identity.create_org("others", "Others").await.unwrap();
        identity.set_connectivity(demo.id, true).await.unwrap();
        let password = Secret::new(PASSWORD);
        let ann = identity.create_user("ann@example.com", "Ann", &password).await.unwrap();
        let bob = identity.create_user("bob@example.com", "Bob", &password).await.unwrap();
        for org in [demo.id, quiet.id] {
            identity.set_role(org, ann.id, Role::Admin).await.unwrap();
            identity.set_role(org, bob.id, Role::Viewer).await.unwrap();
        }
        let throttle = Arc::new(Throttle::new(config.limits.rates.by_address(), clock.clone()));
        let events = Arc::new(Mutex::new(Vec::new()));
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (kept, kept_refused) = (events.clone(), refused.clone());
        let web = Web {
            identity: identity.clone(),
            config: config.clone(),
            throttle,
            audit: Arc::new(move |event| {
                kept.lock().unwrap().push(event);
                Box::pin(async { Ok(()) })
            }),
            form_key: master.derive("forms").into(),
        };
        let refusing = Web {
            audit: Arc::new(move |event| {
                kept_refused.lock().unwrap().push(event);
                Box::pin(async { Ok(()) })
            }),
            ..web.clone()
        };
        let guarded = GuardState { web: refusing, guards: Guards::Mcp };
        let sensitive = Router::new()
            .route("/account/sensitive", any(sensitive))
            .route_layer(session::layer(&web))
            .with_state(web.clone());
        let rest = GuardState { guards: Guards::Rest, ..guarded.clone() };
        let app = Router::new()
            .route("/mcp", any(who))
            .route("/t/{workspace}/mcp", any(who))
            .layer(from_fn_with_state(guarded, guard))
            .merge(Router::new().route("/api/v1/ext/who", any(who)).layer(from_fn_with_state(rest, guard)))
            .merge(sensitive)
            .merge(without_gateway(web))
            .layer(Extension(RequestId("r-1".into())))
            .layer(Extension(ClientIp(IpAddr::V4(Ipv4Addr::LOCALHOST))));
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let base = config.issuer();
        let listen = format!("http://{address}");
        Self { base, listen, identity, clock, events, refused, demo, quiet, ann, bob, _dir: dir }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// A browser with an empty cookie jar that shows every redirect.
    pub fn browser(&self) -> Browser {
        Browser { base: self.base.clone(), http: client(true) }
    }

    /// A program: no cookies.
    pub fn program(&self) -> Client {
        client(false)
    }

    pub async fn register(&self, body: Value) -> Response {
        self.program().post(self.url("/api/oauth/register")).json(&body).send().await.unwrap()
    }

    /// A registered client with the usual addresses.
    pub async fn client_id(&self) -> String {
        self.named_client("Test client").await
    }

    pub async fn named_client(&self, name: &str) -> String {
        let body = serde_json::json!({ "client_name": name, "redirect_uris": ["http://127.0.0.1/callback"] });
        let body: Value = self.register(body).await.json().await.unwrap();
        body["client_id"].as_str().unwrap().to_owned()
    }

    /// An authorization request; `changes` replace (or with an empty value remove) the usual parameters.
    pub fn authorize_path(&self, client: &str, changes: &[(&str, &str)]) -> String {
        let challenge = base64url(&sha256(VERIFIER.as_bytes()));
        let mut params = vec![
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "s-1"),
            ("scope", "data_agent:read data_agent:write"),
        ];
        params.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        params.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
        format!("/api/oauth/authorize?{query}")
    }

    pub async fn token(&self, form: &[(&str, &str)]) -> (u16, Value) {
        let response = self.program().post(self.url("/api/oauth/token")).form(form).send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json().await.unwrap())
    }

    /// Redeems a code as its client would.
    pub async fn redeem(&self, client: &str, code: &str) -> (u16, Value) {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ])
        .await
    }

    /// Calls a guarded address with a token.
    pub async fn call(&self, path: &str, token: &str) -> Response {
        self.program().post(self.url(path)).bearer_auth(token).send().await.unwrap()
    }

    /// Rows of a table.
    pub async fn rows(&self, table: &'static str) -> i64 {
        let sql = match table {
            "sessions" => "SELECT COUNT(*) FROM browser_sessions",
            _ => "SELECT COUNT(*) FROM pending_authorizations",
        };
        sqlx::query_scalar(sql).fetch_one(self.identity.db().pool()).await.unwrap()
    }
}

/// A page of the console that wants a fresh proof.
async fn sensitive(State(web): State<Web>, door: Door, request: Request) -> axum::response::Response {
    let visit = match Visit::of(&web, &door.session, door.context, &request).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    match visit.fresh(&web).await {
        Ok(()) => "the sensitive page".into_response(),
        Err(response) => response,
    }
}

async fn who(Extension(caller): Extension<Caller>) -> String {
    format!("{} {}", caller.org, caller.role)
}

#[expect(clippy::disallowed_methods, reason = "the test is the outside; the ban is for the service's own calls")]
pub fn client(cookies: bool) -> Client {
    // Fails when another test was first, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    Client::builder().cookie_store(cookies).redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}

/// A person's browser.
pub struct Browser {
    pub base: String,
    pub http: Client,
}

impl Browser {
    pub async fn get(&self, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.base)).send().await.unwrap()
    }

    /// Sends a form as a page of ours would.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Response {
        let request = self.http.post(format!("{}{path}", self.base)).form(form);
        request.header("origin", &self.base).header("sec-fetch-site", "same-origin").send().await.unwrap()
    }

    /// The page to which a form leads that is shown once.
    pub async fn once(&self, sent: Response) -> String {
        assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
        let at = location(&sent);
        assert!(at.contains("shown="), "{at}");
        let page = self.get(&at).await;
        assert_eq!((page.status().as_u16(), &page.headers()["cache-control"]), (200, &"no-store".parse().unwrap()));
        page.text().await.unwrap()
    }

    /// Fills in the log-in form.
    pub async fn log_in(&self, email: &str, password: &str, return_to: &str) -> Response {
        let page = self.get("/login").await.text().await.unwrap();
        let form =
            [("csrf", &*field(&page, "csrf")), ("email", email), ("password", password), ("return_to", return_to)];
        self.post("/login", &form).await
    }

    /// A browser of somebody who is logged in.
    pub async fn signed_in(self, email: &str) -> Self {
        assert_eq!(self.log_in(email, PASSWORD, "/").await.status(), 303);
        self
    }

    /// From an authorization request to the consent page; returns its text.
    pub async fn consent_page(&self, authorize: &str) -> String {
        let response = self.get(authorize).await;
        assert_eq!(response.status(), 303, "{}", response.text().await.unwrap());
        let page = self.get(&location(&response)).await;
        assert_eq!(page.status(), 200);
        page.text().await.unwrap()
    }

    /// Answers a consent page with the boxes that it shows ticked.
    pub async fn answer(&self, page: &str, decision: &str, more: &[(&str, &str)]) -> Response {
        let (csrf, request, workspace) = (field(page, "csrf"), field(page, "request"), field(page, "workspace"));
        let mut form = vec![("csrf", &*csrf), ("request", &*request), ("workspace", &*workspace)];
        form.push(("decision", decision));
        form.extend(more);
        if !more.iter().any(|(name, _)| *name == "scope") {
            form.extend(["data_agent:read", "data_agent:write"].map(|scope| ("scope", scope)));
        }
        self.post("/consent", &form).await
    }

    /// The whole way to a code.
    pub async fn code(&self, authorize: &str) -> String {
        let page = self.consent_page(authorize).await;
        let response = self.answer(&page, "approve", &[]).await;
        assert_eq!(response.status(), 200);
        param(&refresh(&response), "code").unwrap()
    }
}

pub fn location(response: &Response) -> String {
    response.headers()["location"].to_str().unwrap().to_owned()
}

/// Where a page sends the browser on.
pub fn refresh(response: &Response) -> String {
    let value = response.headers()["refresh"].to_str().unwrap();
    value.strip_prefix("0; url=").unwrap().to_owned()
}

/// A parameter of an address.
pub fn param(url: &str, name: &str) -> Option<String> {
    let url = url::Url::parse(url).unwrap();
    let found: Vec<_> = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect();
    assert!(found.len() < 2, "{name} appears {} times", found.len());
    found.into_iter().next()
}

/// The value of a form field; empty when there is none.
pub fn field(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    page.split_once(&start).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(value, _)| value).to_owned()
}
