//! From variables to [`Config`], one setting after the other.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use url::Url;

use super::embedding::embedding;
use super::llm::llm;
use super::qdrant::qdrant;
use super::reader::{Problems, Reader};
use super::{Config, Limits, Mail, Provider};
use crate::base::outbound::Trusted;
use crate::base::secret::{MasterKey, Secret};
use crate::base::telemetry::{LogFilter, LogFormat};

pub(super) fn config(source: impl Fn(&str) -> Option<String>) -> Result<Config, Problems> {
    let mut read = Reader::new(source);
    let loopback = SocketAddr::from(([127, 0, 0, 1], 8787));
    let listen = read.parse("DRAGOMAN_LISTEN", "an address such as 127.0.0.1:8787").unwrap_or(loopback);
    let config = Config {
        data_dir: read.text("DRAGOMAN_DATA_DIR").unwrap_or_default().into(),
        listen,
        admin_listen: match read.text("DRAGOMAN_ADMIN_LISTEN").as_deref() {
            Some("off") => None,
            _ => read.parse("DRAGOMAN_ADMIN_LISTEN", "an address such as 127.0.0.1:8788, or 'off'"),
        },
        public_url: public_url(&mut read, listen),
        database_url: read.text("DATABASE_URL").map(Secret::new),
        master_key: read.text("DRAGOMAN_MASTER_KEY").map(Secret::new),
        breached_passwords: read.text("DRAGOMAN_BREACHED_PASSWORDS").map(Into::into),
        mail: mail(&mut read),
        providers: providers(&mut read),
        trusted_proxies: read.list("DRAGOMAN_TRUSTED_PROXIES", "addresses and networks separated by commas"),
        allowed_origins: read.list("DRAGOMAN_ALLOWED_ORIGINS", "origins separated by commas"),
        ext_allowed_origins: read
            .list::<Origin>("DRAGOMAN_EXT_ALLOWED_ORIGINS", ORIGINS)
            .into_iter()
            .map(|it| it.0)
            .collect(),
        mcp_strict: read.switch("DRAGOMAN_MCP_STRICT"),
        source_private_hosts: read
            .list("DRAGOMAN_SOURCE_PRIVATE_HOSTS", "hosts, addresses and networks separated by commas"),
        sync_private_sites: read.list("DRAGOMAN_SYNC_PRIVATE_SITES", PRIVATE_SITES),
        sync_folders: read.list("DRAGOMAN_SYNC_FOLDERS", FOLDERS),
        llm: llm(&mut read),
        embedding: embedding(&mut read),
        qdrant: qdrant(&mut read),
        token: read.text("DRAGOMAN_TOKEN").map(Secret::new),
        log: read.text("DRAGOMAN_LOG").unwrap_or_default(),
        log_format: match read.text("DRAGOMAN_LOG_FORMAT").as_deref() {
            Some("json") => LogFormat::Json,
            Some("text") => LogFormat::Text,
            _ => {
                read.problems.push("DRAGOMAN_LOG_FORMAT: expected text or json".into());
                LogFormat::Text
            }
        },
        limits: limits(&mut read),
        trims: true,
    };
    if let Err(problem) = LogFilter::read(&config.log) {
        read.problems.push(format!("DRAGOMAN_LOG: {problem}"));
    }
    if let Some(url) = &config.database_url
        && !["postgres://", "postgresql://"].iter().any(|scheme| url.expose().starts_with(scheme))
    {
        read.problems.push("DATABASE_URL: expected postgres://…, or nothing for SQLite in the data folder".into());
    }
    if let Some(key) = &config.master_key
        && MasterKey::from_hex(key.expose()).is_none()
    {
        read.problems.push("DRAGOMAN_MASTER_KEY: expected 64 hex digits".into());
    }
    if read.problems.is_empty() { Ok(config) } else { Err(Problems(read.problems)) }
}

/// On loopback the public URL is the listen address; anywhere else it must be said, and be https.
fn public_url(read: &mut Reader<impl Fn(&str) -> Option<String>>, listen: SocketAddr) -> Url {
    let said = read.parse::<Url>("DRAGOMAN_PUBLIC_URL", "a URL such as https://data.example.com");
    let url = said.or_else(|| Url::parse(&format!("http://{listen}")).ok().filter(|_| listen.ip().is_loopback()));
    let Some(url) = url else {
        let said = "DRAGOMAN_PUBLIC_URL: required when DRAGOMAN_LISTEN is not a loopback address";
        if !read.problems.iter().any(|problem| problem.starts_with("DRAGOMAN_PUBLIC_URL")) {
            read.problems.push(said.into());
        }
        #[expect(clippy::expect_used, reason = "a constant; the problem above keeps it from being used")]
        return Url::parse("http://127.0.0.1:8787").expect("a constant URL");
    };
    let local = match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && local) {
        read.problems.push("DRAGOMAN_PUBLIC_URL: https is required off loopback".into());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        read.problems.push("DRAGOMAN_PUBLIC_URL: expected scheme, host and port only".into());
    }
    url
}

fn mail(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Mail {
    let server = read.text("DRAGOMAN_SMTP_URL").map(Secret::new);
    let schemes = ["smtp://", "smtps://"];
    if server.as_ref().is_some_and(|url| !schemes.iter().any(|scheme| url.expose().starts_with(scheme))) {
        read.problems.push("DRAGOMAN_SMTP_URL: expected smtps://user:password@host:465 or smtp://…".into());
    }
    Mail { server, from: read.text("DRAGOMAN_MAIL_FROM").unwrap_or_default() }
}

/// Other providers that people may sign in with: Google, and one of the operator's choice.
fn providers(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Vec<Provider> {
    let mut providers = Vec::new();
    if let Some(client_id) = read.text("DRAGOMAN_OIDC_GOOGLE_CLIENT_ID") {
        providers.push(Provider {
            id: "google",
            name: "Google".into(),
            issuer: "https://accounts.google.com".into(),
            client_id,
            client_secret: read.text("DRAGOMAN_OIDC_GOOGLE_CLIENT_SECRET").map(Secret::new),
        });
    }
    if let Some(issuer) = read.text("DRAGOMAN_OIDC_ISSUER") {
        let plain = |url: &Url| url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if !Url::parse(&issuer).is_ok_and(|url| plain(&url) && Trusted::of(&url).is_some()) {
            read.problems
                .push("DRAGOMAN_OIDC_ISSUER: expected https://… (http on loopback only), without a query".into());
        }
        match read.text("DRAGOMAN_OIDC_CLIENT_ID") {
            Some(client_id) => providers.push(Provider {
                id: "oidc",
                name: read.text("DRAGOMAN_OIDC_NAME").unwrap_or_default(),
                issuer,
                client_id,
                client_secret: read.text("DRAGOMAN_OIDC_CLIENT_SECRET").map(Secret::new),
            }),
            None => read.problems.push("DRAGOMAN_OIDC_CLIENT_ID: required when DRAGOMAN_OIDC_ISSUER is set".into()),
        }
    }
    providers
}

const PRIVATE_SITES: &str = "workspaces and origins such as acme=https://wiki.internal, separated by commas";
const FOLDERS: &str = "workspaces, names and paths such as acme/handbook=/srv/handbook, separated by commas";
const ORIGINS: &str = "origins such as https://app.example, whole and without a path, separated by commas";

/// An origin as browsers write it.
struct Origin(String);

impl FromStr for Origin {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_whole =
            !text.contains('*') && Url::parse(text).is_ok_and(|url| url.origin().ascii_serialization() == text);
        if is_whole { Ok(Self(text.to_owned())) } else { Err(()) }
    }
}

fn limits(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Limits {
    let mut limits = Limits::default();
    let rates = &mut limits.rates;
    rates.token.calls = read.number("DRAGOMAN_EXT_RATE_TOKEN", rates.token.calls);
    rates.token.sql = read.number("DRAGOMAN_EXT_RATE_SQL", rates.token.sql);
    rates.token.ask = read.number("DRAGOMAN_EXT_RATE_ASK", rates.token.ask);
    rates.token.resources = read.number("DRAGOMAN_EXT_RATE_RESOURCES", rates.token.resources);
    rates.client.calls = read.number("DRAGOMAN_CLIENT_RATE_CALLS", rates.client.calls);
    rates.client.sql = read.number("DRAGOMAN_CLIENT_RATE_SQL", rates.client.sql);
    rates.client.ask = read.number("DRAGOMAN_CLIENT_RATE_ASK", rates.client.ask);
    rates.client.resources = read.number("DRAGOMAN_CLIENT_RATE_RESOURCES", rates.client.resources);
    rates.workspace = read.number("DRAGOMAN_EXT_RATE_WORKSPACE", rates.workspace);
    rates.instance = read.parse("DRAGOMAN_EXT_RATE_INSTANCE", "a whole number from 1 on, or nothing");
    rates.manage = read.number("DRAGOMAN_RATE_MANAGE", rates.manage);
    rates.requests = read.number("DRAGOMAN_EXT_RATE_REQUESTS", rates.requests);
    rates.sessions = read.number("DRAGOMAN_EXT_RATE_SESSIONS", rates.sessions);
    rates.in_flight = read.number("DRAGOMAN_EXT_IN_FLIGHT", rates.in_flight);
    rates.streams = read.number("DRAGOMAN_EXT_STREAMS", rates.streams);
    rates.instance_in_flight = read.number("DRAGOMAN_IN_FLIGHT", rates.instance_in_flight);
    rates.instance_uploads = read.number("DRAGOMAN_UPLOADS", rates.instance_uploads);
    rates.instance_streams = read.number("DRAGOMAN_STREAMS", rates.instance_streams);
    rates.instance_connections = read.number("DRAGOMAN_CONNECTIONS", rates.instance_connections);
    rates.refused = read.number("DRAGOMAN_RATE_REFUSED", rates.refused);
    rates.failures = read.number("DRAGOMAN_FAILURES_PER_IP", rates.failures);
    rates.block = read.seconds("DRAGOMAN_BLOCK_TTL");
    rates.account_failures = read.number("DRAGOMAN_FAILURES_PER_ACCOUNT", rates.account_failures);
    rates.authorize = read.number("DRAGOMAN_RATE_AUTHORIZE", rates.authorize);
    rates.register = read.number("DRAGOMAN_RATE_REGISTER", rates.register);
    rates.exchange = read.number("DRAGOMAN_RATE_TOKEN", rates.exchange);
    let budgets = &mut limits.budgets;
    budgets.sql_time = read.seconds("DRAGOMAN_SQL_SECONDS");
    budgets.sql_rows = read.number("DRAGOMAN_SQL_ROWS", budgets.sql_rows);
    budgets.sql_memory_mb = read.number("DRAGOMAN_SQL_MEMORY_MB", budgets.sql_memory_mb);
    budgets.sql_threads = read.number("DRAGOMAN_SQL_THREADS", budgets.sql_threads);
    budgets.sql_chars = read.number("DRAGOMAN_SQL_CHARS", budgets.sql_chars);
    budgets.sql_workers = read.number("DRAGOMAN_SQL_WORKERS", budgets.sql_workers);
    let known = read.parse("DRAGOMAN_SQL_KNOWN_MB", "a whole number of megabytes");
    budgets.sql_known_mb = known.unwrap_or(budgets.sql_known_mb);
    budgets.ask_time = read.seconds("DRAGOMAN_ASK_SECONDS");
    budgets.ask_sql_time = read.seconds("DRAGOMAN_ASK_SQL_SECONDS");
    budgets.ask_rows = read.number("DRAGOMAN_ASK_ROWS", budgets.ask_rows);
    budgets.reply_bytes = read.number("DRAGOMAN_REPLY_BYTES", budgets.reply_bytes);
    budgets.upload_bytes = read.number("DRAGOMAN_UPLOAD_BYTES", budgets.upload_bytes);
    budgets.keep.versions = read.number("DRAGOMAN_VERSIONS", budgets.keep.versions);
    budgets.keep.bytes = read.number("DRAGOMAN_VERSIONS_BYTES", budgets.keep.bytes);
    budgets.keep.workspace = read.parse("DRAGOMAN_WORKSPACE_BYTES", "a whole number from 1 on, or nothing");
    budgets.keep.free = read.parse("DRAGOMAN_DISK_FREE_BYTES", "a whole number of bytes, or nothing");
    let lifetimes = &mut limits.lifetimes;
    lifetimes.tokens = read.number("DRAGOMAN_EXT_MAX_TOKENS", lifetimes.tokens);
    lifetimes.access = read.seconds("DRAGOMAN_ACCESS_TTL");
    lifetimes.code = read.seconds("DRAGOMAN_CODE_TTL");
    lifetimes.refresh = read.seconds("DRAGOMAN_REFRESH_TTL");
    lifetimes.refresh_absolute = read.seconds("DRAGOMAN_REFRESH_ABSOLUTE_TTL");
    lifetimes.refresh_retry = read.seconds("DRAGOMAN_REFRESH_RETRY_WINDOW");
    lifetimes.consent = read.seconds("DRAGOMAN_CONSENT_TTL");
    lifetimes.browser_session = read.seconds("DRAGOMAN_BROWSER_SESSION_TTL");
    lifetimes.step_up = read.seconds("DRAGOMAN_STEP_UP_TTL");
    lifetimes.device = read.seconds("DRAGOMAN_DEVICE_TTL");
    lifetimes.link = read.seconds("DRAGOMAN_LINK_TTL");
    lifetimes.invite = read.seconds("DRAGOMAN_INVITE_TTL");
    lifetimes.key = read.seconds("DRAGOMAN_KEY_TTL");
    lifetimes.mcp_session = read.seconds("DRAGOMAN_MCP_SESSION_TTL");
    lifetimes.mcp_sessions = read.number("DRAGOMAN_MCP_SESSIONS", lifetimes.mcp_sessions);
    lifetimes.mcp_sessions_instance = read.number("DRAGOMAN_MCP_SESSIONS_TOTAL", lifetimes.mcp_sessions_instance);
    lifetimes.audit = match read.text("DRAGOMAN_AUDIT_DAYS").as_deref() {
        Some("off") => None,
        _ => Some(Duration::from_secs(u64::from(read.number("DRAGOMAN_AUDIT_DAYS", 400u32)) * 24 * 60 * 60)),
    };
    limits
}
