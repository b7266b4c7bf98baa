//! What is reached over the network: the addresses that the service listens on, the public one with its certificate and
//! documents, and the servers that the settings name.

use std::net::SocketAddr;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::Finding;
use crate::base::outbound;
use crate::config::{Config, Qdrant};
use crate::engine::search::reach;

/// How long one thing may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// By how much the clock may differ from that of whoever answers at the public address, in seconds.
const APART: i64 = 30;

pub(super) async fn all(config: &Config, service: Option<&Value>) -> Vec<Finding> {
    let runs = service.is_some();
    let Addresses { listen, metrics, public_url, trusts_proxies } = addresses(config, service);
    let config = &Config { public_url, ..config.clone() };
    let mut findings = vec![port("address", "--listen or DRAGOMAN_LISTEN", listen, runs).await];
    findings.push(port("metrics address", "DRAGOMAN_ADMIN_LISTEN", metrics, runs).await);
    findings.extend(public(config, runs && listen.is_some()).await);
    if config.is_https() {
        findings.push(proxy(trusts_proxies));
    }
    if let Some(llm) = &config.llm {
        findings.push(server("language model", "DRAGOMAN_LLM_URL", Some(llm.url.clone())).await);
    }
    if let Some(mail) = &config.mail.server {
        findings.push(server("mail server", "DRAGOMAN_SMTP_URL", Url::parse(mail.expose()).ok()).await);
    }
    if let Some(chosen) = &config.qdrant {
        findings.push(qdrant(chosen).await);
    }
    for provider in &config.providers {
        findings.push(server("sign-in provider", "DRAGOMAN_OIDC_ISSUER", Url::parse(&provider.issuer).ok()).await);
    }
    findings
}

/// Where the service is met.
struct Addresses {
    listen: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
    public_url: Url,
    /// Whether the forwarded addresses of any peer are believed.
    trusts_proxies: bool,
}

/// Those of the service that runs, which may have been started with other settings than this command.
fn addresses(config: &Config, service: Option<&Value>) -> Addresses {
    fn said<T: DeserializeOwned>(service: Option<&Value>, key: &str, set: T) -> T {
        let said = service.and_then(|facts| facts.get(key));
        said.and_then(|said| serde_json::from_value(said.clone()).ok()).unwrap_or(set)
    }
    Addresses {
        listen: said(service, "listen", Some(config.listen)),
        metrics: said(service, "metrics_listen", config.admin_listen),
        public_url: said(service, "address", config.public_url.clone()),
        trusts_proxies: said(service, "trusts_proxies", !config.trusted_proxies.is_empty()),
    }
}

/// Somebody in front of the service ends its TLS, and is to be believed whom they speak for.
fn proxy(is_trusted: bool) -> Finding {
    const WHAT: &str = "proxy";
    match is_trusted {
        true => Finding::good(WHAT, "X-Forwarded-For is believed of those in DRAGOMAN_TRUSTED_PROXIES"),
        false => Finding::note(
            WHAT,
            "nobody's X-Forwarded-For is believed: all who come through a proxy count as one address, and the wrong \
             passwords of one stop them all",
            "Name the proxy that ends TLS, or its network, in DRAGOMAN_TRUSTED_PROXIES.",
        ),
    }
}

async fn qdrant(chosen: &Qdrant) -> Finding {
    const WHAT: &str = "Qdrant server";
    match reach(chosen).await {
        Ok(version) => Finding::good(WHAT, format!("Qdrant {version} answers")),
        Err(problem) => Finding::wrong(
            WHAT,
            problem,
            "Is it running, does QDRANT_URL lead to its gRPC port (6334), and is QDRANT_API_KEY its key? Documents that are \
             on it are not found until it answers.",
        ),
    }
}

async fn port(what: &'static str, setting: &str, address: Option<SocketAddr>, runs: bool) -> Finding {
    let Some(address) = address else { return Finding::good(what, "off") };
    let answers = tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await.is_ok_and(|tried| tried.is_ok());
    if runs {
        return match answers {
            true => Finding::good(what, format!("{address} is listened on")),
            false => Finding::note(
                what,
                format!("nobody listens on {address}, though a service runs"),
                "Start the service again, and look into its log.",
            ),
        };
    }
    match TcpListener::bind(address).await {
        Ok(_) => Finding::good(what, format!("{address} is free")),
        Err(problem) => Finding::wrong(
            what,
            format!("{address} cannot be listened on: {problem}"),
            format!("End what uses it, or choose another with {setting}."),
        ),
    }
}

/// What clients see of the public address.
async fn public(config: &Config, runs: bool) -> Vec<Finding> {
    const WHAT: &str = "public address";
    const DOCUMENTS: &str = "discovery documents";
    let issuer = config.issuer();
    if !runs && !config.is_https() {
        return vec![Finding::skipped(WHAT, format!("{issuer}: the service does not run"))];
    }
    let seen = match live(config).await {
        Ok(seen) => seen,
        Err(problem) => {
            let mend = "Does its name lead here, does the proxy in front of it run, and is its certificate for this name, in \
                        force, and with its intermediate ones?";
            let finding = match runs {
                true => Finding::wrong(WHAT, format!("{issuer} cannot be reached: {problem}"), mend),
                false => Finding::note(WHAT, format!("{issuer} cannot be reached: {problem}"), "Start the service."),
            };
            return vec![finding, Finding::skipped(DOCUMENTS, "they cannot be read")];
        }
    };
    let mut findings = Vec::new();
    findings.push(match config.is_https() {
        true => Finding::good(WHAT, format!("{issuer} answers, and its certificate is good")),
        false => Finding::note(
            WHAT,
            format!("{issuer} answers on this machine alone"),
            "Clients in a cloud (claude.ai, ChatGPT) need an https address: see DRAGOMAN_PUBLIC_URL.",
        ),
    });
    if let Some(apart) = seen.filter(|apart| apart.abs() > APART) {
        let says = format!("this machine's clock and that of the public address are {apart} s apart");
        findings.push(Finding::wrong("clocks", says, "Keep both by NTP."));
    }
    let expected = [
        ("/.well-known/oauth-protected-resource/mcp", "resource", config.resource()),
        ("/.well-known/oauth-authorization-server", "issuer", issuer),
    ];
    for (path, member, expected) in expected {
        findings.push(match document(config, path).await {
            Ok(document) if document.get(member).and_then(Value::as_str) == Some(&expected) => {
                Finding::good(DOCUMENTS, format!("{path} says {expected}"))
            }
            Ok(document) => Finding::wrong(
                DOCUMENTS,
                format!("{path} says {} where {expected} is expected", document.get(member).unwrap_or(&Value::Null)),
                "Another service answers there, or it was started with another DRAGOMAN_PUBLIC_URL.",
            ),
            Err(problem) => Finding::wrong(
                DOCUMENTS,
                format!("{path}: {problem}"),
                "The proxy has to pass /.well-known/ on to the service; nginx/ shows how.",
            ),
        });
    }
    findings
}

async fn get(config: &Config, path: &str) -> Result<reqwest::Response, String> {
    let url = Url::parse(&config.url(path)).map_err(|problem| problem.to_string())?;
    let client = outbound::own_service(&url).map_err(|problem| problem.to_string())?;
    let response = client.get(url).timeout(PATIENCE).send().await.map_err(|problem| causes(&problem))?;
    match response.status() {
        status if status.is_success() => Ok(response),
        status => Err(format!("status {}", status.as_u16())),
    }
}

/// By how many seconds the clock of whoever answers differs, where they say it.
async fn live(config: &Config) -> Result<Option<i64>, String> {
    let response = get(config, "/health/live").await?;
    let date = response.headers().get(http::header::DATE).and_then(|date| date.to_str().ok()).map(str::to_owned);
    let text = response.text().await.unwrap_or_default();
    if text.trim() != "live" {
        return Err("something else than this service answers".into());
    }
    let theirs = date.and_then(|date| jiff::fmt::rfc2822::parse(&date).ok()).map(|at| at.timestamp().as_second());
    Ok(theirs.map(|theirs| theirs - crate::base::clock::Clock::system().now() / 1000))
}

async fn document(config: &Config, path: &str) -> Result<Value, String> {
    get(config, path).await?.json().await.map_err(|_| "it is no JSON".to_owned())
}

/// The last cause says most.
fn causes(problem: &reqwest::Error) -> String {
    let mut said = "no connection".to_owned();
    let mut cause = std::error::Error::source(problem);
    while let Some(next) = cause {
        said = next.to_string();
        cause = next.source();
    }
    said
}

/// Whether somebody takes connections where a setting says.
async fn server(what: &'static str, setting: &str, url: Option<Url>) -> Finding {
    let mend = format!("Is it running, and is {setting} right? A firewall or a network of containers may be between.");
    let Some(url) = url else { return Finding::wrong(what, format!("{setting} is no address"), mend) };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let fallback = if url.scheme() == "smtps" { 465 } else { 587 };
    let port = url.port_or_known_default().unwrap_or(fallback);
    match tokio::time::timeout(PATIENCE, TcpStream::connect((host.as_str(), port))).await {
        Ok(Ok(_)) => Finding::good(what, format!("{host}:{port} takes connections")),
        Ok(Err(problem)) => Finding::wrong(what, format!("{host}:{port}: {problem}"), mend),
        Err(_) => Finding::wrong(what, format!("{host}:{port} does not answer within {} s", PATIENCE.as_secs()), mend),
    }
}
