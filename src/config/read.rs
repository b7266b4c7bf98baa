//! From variables to [`Config`]: one table of names, and a reader that collects every problem.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use url::Url;

use super::{Config, Limits, Mail, Provider, llm};
use crate::base::outbound::Trusted;
use crate::base::secret::{MasterKey, Secret};
use crate::base::telemetry::{LogFilter, LogFormat};

/// A variable that the service reads, for `.env.example` and the README.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    /// As it would be written; empty when there is none.
    pub default: &'static str,
    pub meaning: &'static str,
}

macro_rules! variables {
    ($($name:literal = $default:literal: $meaning:literal;)*) => {
        /// Every variable, in the order of `.env.example`.
        pub const VARIABLES: &[Variable] = &[$(Variable { name: $name, default: $default, meaning: $meaning }),*];
    };
}

variables! {
    "DRAGOMAN_DATA_DIR" = "./data": "folder of databases, tables, vectors and keys";
    "DRAGOMAN_LISTEN" = "127.0.0.1:8787": "address of the service";
    "DRAGOMAN_PUBLIC_URL" = "": "address that clients use; taken from the listen address on loopback, required otherwise, https required off loopback";
    "DRAGOMAN_ADMIN_LISTEN" = "127.0.0.1:8788": "address of /metrics; 'off' switches it off";
    "DATABASE_URL" = "": "PostgreSQL for metadata (postgres://…); SQLite in the data folder when empty";
    "DRAGOMAN_MASTER_KEY" = "": "64 hex digits that seal keys at rest; a file in the data folder when empty; required to be the same on every node";
    "DRAGOMAN_BREACHED_PASSWORDS" = "": "file of breached passwords that nobody may choose, as Have I Been Pwned publishes it (SHA-1, sorted by hash); read where it lies";
    "DRAGOMAN_SMTP_URL" = "": "mail server (smtps://user:password@host:465, or smtp://… with STARTTLS, which only a server on this machine may lack); when empty, mails are written to the log on loopback, and none are sent elsewhere";
    "DRAGOMAN_MAIL_FROM" = "Dragoman <dragoman@localhost>": "sender of mails";
    "DRAGOMAN_OIDC_GOOGLE_CLIENT_ID" = "": "lets people sign in with Google; redirect address /login/google/callback";
    "DRAGOMAN_OIDC_GOOGLE_CLIENT_SECRET" = "": "secret of the client at Google";
    "DRAGOMAN_OIDC_ISSUER" = "": "lets people sign in with this OpenID Connect provider; redirect address /login/oidc/callback";
    "DRAGOMAN_OIDC_NAME" = "your organisation": "how the sign-in page calls that provider";
    "DRAGOMAN_OIDC_CLIENT_ID" = "": "client at that provider";
    "DRAGOMAN_OIDC_CLIENT_SECRET" = "": "secret of the client at that provider; empty for a public client";
    "DRAGOMAN_TRUSTED_PROXIES" = "": "comma-separated addresses whose X-Forwarded-For is believed";
    "DRAGOMAN_ALLOWED_ORIGINS" = "": "comma-separated browser origins that may call /mcp, such as http://localhost:6274 for a local inspector";
    "DRAGOMAN_SOURCE_PRIVATE_HOSTS" = "": "comma-separated hosts and networks (db.internal, 10.0.0.0/8) of your own network in which the admins of workspaces may register PostgreSQL and ClickHouse servers; none when empty";
    "DRAGOMAN_LLM_PROVIDER" = "": "openai (for any server with its chat completions) or anthropic; no language model when empty. Each workspace says whether it may be asked; what is sent then is in its settings";
    "DRAGOMAN_LLM_URL" = "": "address of the model's server, such as http://127.0.0.1:11434/v1; the provider's own when empty; may lie in your own network";
    "DRAGOMAN_LLM_API_KEY" = "": "key of the model's server; empty for a server that asks for none";
    "DRAGOMAN_LLM_MODEL" = "": "name of the model, as its server calls it";
    "DRAGOMAN_LLM_TIMEOUT" = "30": "seconds that an answer of the model may take";
    "DRAGOMAN_LLM_DAILY_TOKENS" = "1000000": "tokens that each workspace may use in a day (UTC); counted in memory by each node, from nothing at its start";
    "DRAGOMAN_LLM_OUTPUT_TOKENS" = "4000": "tokens that an answer of the model may have";
    "DRAGOMAN_LLM_LOCAL_HOSTS" = "": "comma-separated hosts and networks (127.0.0.0/8, models.internal) of your own network whose models are local for workspaces that allow only these; none when empty. A relay that passes questions on is not local";
    "DRAGOMAN_LOG" = "info,qdrant_edge=error": "log filter, such as info,dragoman=debug; of libraries only warnings and errors are written, because their other lines hold requests";
    "DRAGOMAN_LOG_FORMAT" = "text": "text or json";
    "DRAGOMAN_ACCESS_TTL" = "600": "seconds that an access token lives";
    "DRAGOMAN_CODE_TTL" = "60": "seconds that an authorization code lives";
    "DRAGOMAN_REFRESH_TTL" = "2592000": "seconds that a refresh token lives unused";
    "DRAGOMAN_REFRESH_ABSOLUTE_TTL" = "15552000": "seconds after which a grant ends whatever its use";
    "DRAGOMAN_REFRESH_RETRY_WINDOW" = "30": "seconds in which a repeated refresh gets the same successor";
    "DRAGOMAN_CONSENT_TTL" = "600": "seconds that a person may take to approve";
    "DRAGOMAN_BROWSER_SESSION_TTL" = "43200": "seconds that a browser session lives unused";
    "DRAGOMAN_STEP_UP_TTL" = "900": "seconds after a log-in in which sensitive actions need no new one";
    "DRAGOMAN_DEVICE_TTL" = "900": "seconds that a device waits for approval";
    "DRAGOMAN_LINK_TTL" = "1800": "seconds that a link to set a new password works";
    "DRAGOMAN_INVITE_TTL" = "604800": "seconds that an invitation can be accepted";
    "DRAGOMAN_KEY_TTL" = "7776000": "seconds after which a signing key is replaced";
    "DRAGOMAN_MCP_SESSION_TTL" = "3600": "seconds that an MCP session lives unused";
    "DRAGOMAN_MCP_SESSIONS" = "20": "MCP sessions for each principal";
    "DRAGOMAN_MCP_SESSIONS_TOTAL" = "2000": "MCP sessions for this instance";
    "DRAGOMAN_AUDIT_DAYS" = "400": "days that the audit log is kept; 'off' keeps it for good";
    "DRAGOMAN_EXT_RATE_TOKEN" = "30": "calls a minute for each token";
    "DRAGOMAN_EXT_RATE_SQL" = "10": "SQL queries a minute for each token";
    "DRAGOMAN_EXT_RATE_ASK" = "5": "questions in plain words a minute for each token";
    "DRAGOMAN_EXT_RATE_RESOURCES" = "30": "resource reads a minute for each token";
    "DRAGOMAN_EXT_RATE_WORKSPACE" = "120": "calls a minute for each workspace";
    "DRAGOMAN_EXT_RATE_REQUESTS" = "300": "requests of any kind a minute for each person or connectivity token";
    "DRAGOMAN_EXT_RATE_SESSIONS" = "60": "MCP sessions that each person or connectivity token may open in a minute";
    "DRAGOMAN_EXT_IN_FLIGHT" = "3": "calls at the same time for each token, and uploads for each person";
    "DRAGOMAN_EXT_STREAMS" = "20": "open MCP streams for each token";
    "DRAGOMAN_IN_FLIGHT" = "64": "calls at the same time for this instance; one workspace has at most as many as are still free";
    "DRAGOMAN_UPLOADS" = "32": "uploads at the same time for this instance, shared in the same way";
    "DRAGOMAN_STREAMS" = "1000": "open MCP streams for this instance, shared in the same way";
    "DRAGOMAN_RATE_REFUSED" = "300": "requests without a good credential a minute from one address";
    "DRAGOMAN_FAILURES_PER_IP" = "5": "failed log-ins, or bad tokens, a minute from one address before further ones are refused";
    "DRAGOMAN_BLOCK_TTL" = "300": "seconds that a blocked address stays blocked";
    "DRAGOMAN_FAILURES_PER_ACCOUNT" = "10": "failed log-ins of one account in 15 minutes before its log-ins are slowed down for browsers that it has not used";
    "DRAGOMAN_RATE_AUTHORIZE" = "10": "authorization requests a minute from one address";
    "DRAGOMAN_RATE_REGISTER" = "20": "client registrations a minute from one address";
    "DRAGOMAN_RATE_TOKEN" = "60": "requests for tokens, revocations and introspections a minute from one address";
    "DRAGOMAN_SQL_SECONDS" = "10": "seconds that a query may run";
    "DRAGOMAN_SQL_ROWS" = "500": "rows that a query may return";
    "DRAGOMAN_SQL_MEMORY_MB" = "256": "megabytes that a query may use";
    "DRAGOMAN_SQL_THREADS" = "2": "threads that a query may use";
    "DRAGOMAN_SQL_CHARS" = "4096": "characters that a query may have";
    "DRAGOMAN_SQL_WORKERS" = "4": "queries at the same time on this node";
    "DRAGOMAN_ASK_SECONDS" = "300": "seconds that a question may take, with all that it runs";
    "DRAGOMAN_ASK_SQL_SECONDS" = "30": "seconds that one statement of a question may run";
    "DRAGOMAN_ASK_ROWS" = "10000": "rows that the answer to a question may have";
    "DRAGOMAN_REPLY_BYTES" = "130000": "bytes of the largest reply";
    "DRAGOMAN_UPLOAD_BYTES" = "536870912": "bytes of the largest uploaded file";
}

/// Everything that is wrong with the settings.
#[derive(Debug)]
pub struct Problems(pub Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} setting(s) cannot be used:", self.0.len())?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
impl std::error::Error for Problems {}

pub(super) struct Reader<F> {
    source: F,
    pub problems: Vec<String>,
}

impl<F: Fn(&str) -> Option<String>> Reader<F> {
    /// The value as written, or the table's default; `None` when both are empty.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let default = VARIABLES.iter().find(|variable| variable.name == name).map_or("", |v| v.default);
        (self.source)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .or_else(|| (!default.is_empty()).then(|| default.to_owned()))
    }

    fn parse<T: FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        let text = self.text(name)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.problems.push(format!("{name}: expected {expected}"));
        }
        parsed
    }

    /// A whole number of at least one.
    pub fn number<T: TryFrom<u64>>(&mut self, name: &str, fallback: T) -> T {
        let number = self.parse::<u64>(name, "a whole number of at least 1").filter(|n| *n > 0);
        match number.and_then(|n| T::try_from(n).ok()) {
            Some(number) => number,
            None => {
                let said = format!("{name}: expected a whole number of at least 1");
                if !self.problems.contains(&said) {
                    self.problems.push(said);
                }
                fallback
            }
        }
    }

    pub fn seconds(&mut self, name: &str) -> Duration {
        Duration::from_secs(self.number(name, 1u64))
    }

    pub fn list<T: FromStr>(&mut self, name: &str, expected: &str) -> Vec<T> {
        let text = self.text(name).unwrap_or_default();
        let mut items = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item.parse() {
                Ok(item) => items.push(item),
                Err(_) => self.problems.push(format!("{name}: expected {expected}")),
            }
        }
        items
    }
}

pub(super) fn config(source: impl Fn(&str) -> Option<String>) -> Result<Config, Problems> {
    let mut read = Reader { source, problems: Vec::new() };
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
        trusted_proxies: read.list::<IpAddr>("DRAGOMAN_TRUSTED_PROXIES", "addresses separated by commas"),
        allowed_origins: read.list("DRAGOMAN_ALLOWED_ORIGINS", "origins separated by commas"),
        source_private_hosts: read
            .list("DRAGOMAN_SOURCE_PRIVATE_HOSTS", "hosts, addresses and networks separated by commas"),
        llm: llm::llm(&mut read),
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

fn limits(read: &mut Reader<impl Fn(&str) -> Option<String>>) -> Limits {
    let mut limits = Limits::default();
    let rates = &mut limits.rates;
    rates.token = read.number("DRAGOMAN_EXT_RATE_TOKEN", rates.token);
    rates.sql = read.number("DRAGOMAN_EXT_RATE_SQL", rates.sql);
    rates.ask = read.number("DRAGOMAN_EXT_RATE_ASK", rates.ask);
    rates.resources = read.number("DRAGOMAN_EXT_RATE_RESOURCES", rates.resources);
    rates.workspace = read.number("DRAGOMAN_EXT_RATE_WORKSPACE", rates.workspace);
    rates.requests = read.number("DRAGOMAN_EXT_RATE_REQUESTS", rates.requests);
    rates.sessions = read.number("DRAGOMAN_EXT_RATE_SESSIONS", rates.sessions);
    rates.in_flight = read.number("DRAGOMAN_EXT_IN_FLIGHT", rates.in_flight);
    rates.streams = read.number("DRAGOMAN_EXT_STREAMS", rates.streams);
    rates.instance_in_flight = read.number("DRAGOMAN_IN_FLIGHT", rates.instance_in_flight);
    rates.instance_uploads = read.number("DRAGOMAN_UPLOADS", rates.instance_uploads);
    rates.instance_streams = read.number("DRAGOMAN_STREAMS", rates.instance_streams);
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
    budgets.ask_time = read.seconds("DRAGOMAN_ASK_SECONDS");
    budgets.ask_sql_time = read.seconds("DRAGOMAN_ASK_SQL_SECONDS");
    budgets.ask_rows = read.number("DRAGOMAN_ASK_ROWS", budgets.ask_rows);
    budgets.reply_bytes = read.number("DRAGOMAN_REPLY_BYTES", budgets.reply_bytes);
    budgets.upload_bytes = read.number("DRAGOMAN_UPLOAD_BYTES", budgets.upload_bytes);
    let lifetimes = &mut limits.lifetimes;
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
