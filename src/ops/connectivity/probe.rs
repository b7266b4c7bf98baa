//! The steps of a connection test, each with what it says and what mends it.

use std::time::{Duration, Instant};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT, WWW_AUTHENTICATE};
use http::{Method, Request, Response};
use serde_json::{Value, json};
use url::Url;

use super::place::Place;
use super::report::{Check, Outcome, Report};
use crate::base::clock::whole_millis;
use crate::base::outbound::{FetchLimits, Refused, Trusted, Whereabouts, send, whereabouts};
use crate::base::secret::Secret;
use crate::config::Config;
use crate::identity::connectivity::TokenInfo;
use crate::model::access::ExtScope;
use crate::model::error::Error;

/// Of one request.
const LIMITS: FetchLimits = FetchLimits { max_bytes: 1 << 20, total: Duration::from_secs(6) };

/// See the module.
pub(super) struct Probe<'a> {
    config: &'a Config,
    place: Place,
    from_cloud: bool,
    user_agent: &'static str,
    trusted: Option<Trusted>,
    report: Report,
    latencies: Vec<u64>,
}

/// An answer, its JSON where it has one, and how long it took in milliseconds.
struct Answer {
    response: Response<Vec<u8>>,
    body: Value,
    latency: u64,
}

impl Answer {
    fn status(&self) -> u16 {
        self.response.status().as_u16()
    }
}

impl<'a> Probe<'a> {
    pub(super) fn new(config: &'a Config, place: Place, from_cloud: bool, user_agent: &'static str) -> Self {
        let trusted = Trusted::of(&config.public_url);
        Self { config, place, from_cloud, user_agent, trusted, report: Report::default(), latencies: vec![] }
    }

    fn add(&mut self, id: &'static str, title: &'static str, outcome: Outcome, said: String, mend: Option<&str>) {
        let mend = mend.map(str::to_owned);
        self.report.checks.push(Check { id, title, outcome, said, mend, latency_ms: None });
    }

    fn passed(&mut self, id: &'static str, title: &'static str, said: impl Into<String>, latency: u64) {
        self.add(id, title, Outcome::Passed, said.into(), None);
        if let Some(check) = self.report.checks.last_mut() {
            check.latency_ms = Some(latency);
        }
    }

    fn failed(&mut self, id: &'static str, title: &'static str, said: impl Into<String>, mend: &str) {
        self.add(id, title, Outcome::Failed, said.into(), Some(mend));
    }

    /// One request to an address of the service's own; nothing else can be asked.
    async fn ask(
        &mut self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Answer, Refused> {
        let url = Url::parse(url).map_err(|_| Refused::Address)?;
        let own = self.trusted.as_ref().filter(|_| url.origin() == self.config.public_url.origin());
        let trusted = own.ok_or(Refused::Address)?;
        let mut request = Request::builder().method(method).uri(url.as_str()).header(USER_AGENT, self.user_agent);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(|problem| Refused::Failed(problem.to_string()))?;
        let started = Instant::now();
        let response = send(request, trusted, LIMITS).await?;
        let latency = whole_millis(started.elapsed());
        self.latencies.push(latency);
        let body = json_of(response.body());
        Ok(Answer { response, body, latency })
    }

    /// Whether there is anything at the address at all.
    pub(super) async fn address(&mut self) -> bool {
        let (id, title) = ("address", "The address");
        let base = self.place.base.clone();
        let there = whereabouts(&self.config.public_url).await;
        if self.from_cloud && !(self.config.is_https() && there == Whereabouts::Public) {
            let said = match (self.config.is_https(), there) {
                (false, _) => format!("{base} is not https."),
                (true, Whereabouts::Nowhere) => format!("The name in {base} has no address."),
                (true, _) => format!("{base} leads into a private network, or to this machine."),
            };
            self.failed(
                id,
                title,
                said,
                "A client in its maker's cloud reaches public https addresses alone. Have the \
                operator set DRAGOMAN_PUBLIC_URL to such a one, and put it before the service; or take a client that \
                runs on your own machine.",
            );
        } else {
            let how = if there == Whereabouts::Public { "a public address" } else { "an address of your own network" };
            self.add(id, title, Outcome::Passed, format!("{base} is {how}."), None);
        }
        let (id, title) = ("reach", "Name, connection and certificate");
        match self.ask(Method::GET, &format!("{base}/.well-known/oauth-protected-resource/mcp"), &[], vec![]).await {
            Ok(answer) => {
                let said =
                    if self.config.is_https() { "It answers, with a certificate that is good." } else { "It answers." };
                self.passed(id, title, said, answer.latency);
                true
            }
            Err(refused) => {
                let (said, mend) = unreachable(&refused);
                self.failed(id, title, said, mend);
                false
            }
        }
    }

    /// What a client reads before it does anything: the challenge, and both documents.
    pub(super) async fn discovery(&mut self) {
        self.challenge().await;
        let (hosted, own) = (self.place.hosted.clone(), self.place.mcp.clone());
        self.resource("resource", "Metadata of the address", &hosted).await;
        self.resource("workspace_resource", "Metadata of the workspace's address", &own).await;
        self.server().await;
    }

    async fn challenge(&mut self) {
        let (id, title) = ("challenge", "The door asks for a sign-in");
        const MEND: &str = "A request to /mcp without a token has to reach the service and come back as it is: a proxy \
            must pass 401 and its header WWW-Authenticate on, and turn no program away by its name.";
        let hosted = self.place.hosted.clone();
        let asked = self.ask(Method::POST, &hosted, &[("accept", "application/json, text/event-stream")], vec![]).await;
        let expected = self.place.fill("{base}/.well-known/oauth-protected-resource/mcp");
        match asked {
            Ok(answer) => {
                let header = answer.response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
                match header {
                    Some(header) if answer.status() == 401 && header.contains(&format!("\"{expected}\"")) => {
                        self.passed(id, title, "401, with the address of its metadata.", answer.latency);
                    }
                    _ => self.failed(id, title, format!("{} instead of 401 with a challenge.", answer.status()), MEND),
                }
            }
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    async fn resource(&mut self, id: &'static str, title: &'static str, address: &str) {
        const MEND: &str = "Let /.well-known/ through to the service, unchanged and without a redirect.";
        let path = address.strip_prefix(&self.place.base).unwrap_or_default();
        let url = format!("{}/.well-known/oauth-protected-resource{path}", self.place.base);
        match self.ask(Method::GET, &url, &[], vec![]).await {
            Ok(answer) => {
                let right = answer.status() == 200
                    && answer.body.get("resource").and_then(Value::as_str) == Some(address)
                    && answer.body.pointer("/authorization_servers/0").and_then(Value::as_str)
                        == Some(&self.place.base);
                match right {
                    true => self.passed(id, title, format!("Found; it names {address}."), answer.latency),
                    false => {
                        let said = format!("{} at {url}, or another document.", answer.status());
                        self.failed(id, title, said, MEND);
                    }
                }
            }
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    async fn server(&mut self) {
        let (id, title) = ("authorization_server", "Metadata of the sign-in");
        const MEND: &str = "Let /.well-known/oauth-authorization-server through to the service. Its issuer is what \
            DRAGOMAN_PUBLIC_URL says: that has to be the address that people use.";
        let url = self.place.fill("{base}/.well-known/oauth-authorization-server");
        match self.ask(Method::GET, &url, &[], vec![]).await {
            Ok(answer) => {
                let named = |name: &str| answer.body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                let ends = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];
                let right = answer.status() == 200
                    && named("issuer") == self.place.base
                    && ends.iter().all(|name| named(name).starts_with(&format!("{}/", self.place.base)));
                match right {
                    true => self.passed(id, title, "Found; issuer and endpoints are right.", answer.latency),
                    false => self.failed(id, title, format!("{}, or another document.", answer.status()), MEND),
                }
            }
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    /// Asks the ends of the sign-in for what each refuses for its content: they answer, and nothing is left behind.
    pub(super) async fn sign_in(&mut self) {
        let nowhere = json!({ "client_name": "Connection test", "redirect_uris": ["ftp://nowhere"] }).to_string();
        self.refused("registration", "Clients can register", "/register", ("application/json", nowhere)).await;
        let unknown = ("application/x-www-form-urlencoded", "grant_type=connection_test".to_owned());
        self.refused("token_endpoint", "Clients can fetch a token", "/token", unknown).await;
    }

    async fn refused(&mut self, id: &'static str, title: &'static str, end: &str, (media, body): (&str, String)) {
        const MEND: &str = "Let POST requests to /api/oauth/ through to the service.";
        let url = self.place.fill("{base}/api/oauth") + end;
        match self.ask(Method::POST, &url, &[(CONTENT_TYPE.as_str(), media)], body.into_bytes()).await {
            Ok(answer) if answer.status() == 429 => {
                let said = "Too many requests from here at the moment.".to_owned();
                self.add(id, title, Outcome::Skipped, said, Some("Try again in a minute."));
            }
            Ok(answer) if answer.status() == 400 && answer.body.get("error").is_some() => {
                self.passed(id, title, "It answers, and refused what it has to refuse.", answer.latency);
            }
            Ok(answer) => self.failed(id, title, format!("{} instead of an answer of ours.", answer.status()), MEND),
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    /// What is said of the token that was named; the scopes that the test is to have.
    pub(super) fn token(&mut self, id: Option<&str>, found: Option<(TokenInfo, bool)>) -> Vec<ExtScope> {
        let (step, title) = ("token", "The token");
        let Some(id) = id else { return ExtScope::ALL.to_vec() };
        self.report.token_valid = Some(found.as_ref().is_some_and(|(_, in_force)| *in_force));
        match found {
            Some((token, true)) => {
                let names: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
                let said = format!("{} is in force, with {}.", token.label, names.join(", "));
                self.add(step, title, Outcome::Passed, said, None);
                token.scopes
            }
            Some((token, false)) => {
                let said = format!("{} was revoked, or its time is over.", token.label);
                self.failed(step, title, said, "Make a new token, and give it to the client.");
                token.scopes
            }
            None => {
                let id: String = id.chars().take(8).collect();
                self.failed(step, title, format!("There is no token {id} in this workspace."), "Make a token.");
                ExtScope::ALL.to_vec()
            }
        }
    }

    /// Whether clients are let in.
    pub(super) fn switch(&mut self, on: bool) -> bool {
        let (id, title) = ("switch", "The switch for AI clients");
        match on {
            true => self.add(id, title, Outcome::Passed, "AI clients are on.".into(), None),
            false => self.failed(id, title, "AI clients are off.", "Turn them on, here or in the settings."),
        }
        on
    }

    /// The token of the test could not be made.
    pub(super) fn no_token(&mut self, error: &Error) {
        let said = format!("No token could be made for the test: {}", error.message);
        self.add(
            "mcp",
            "Tools over MCP",
            Outcome::Skipped,
            said,
            Some("Revoke a token that nobody uses, and test again."),
        );
    }

    /// With a credential: the tools over MCP, and a sample query.
    pub(super) async fn behind_the_door(&mut self, secret: &Secret, scopes: &[ExtScope]) {
        self.report.scopes = scopes.iter().map(|scope| scope.name()).collect();
        let bearer = format!("Bearer {}", secret.expose());
        self.tools(&bearer).await;
        if scopes.contains(&ExtScope::Datasets) {
            self.sample(&bearer).await;
        } else {
            let said = "The token may not list datasets (ext:datasets).".to_owned();
            self.add("sample_query", "A sample query", Outcome::Skipped, said, None);
        }
    }

    async fn tools(&mut self, bearer: &str) {
        let (id, title) = ("mcp", "Tools over MCP");
        const MEND: &str = "A proxy has to pass the header Authorization and those that begin with Mcp- on, and must not \
            hold answers back (text/event-stream).";
        const VERSION: &str = "2026-07-28";
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "connection-test", "version": env!("CARGO_PKG_VERSION") },
        });
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string();
        let headers = [
            (AUTHORIZATION.as_str(), bearer),
            (ACCEPT.as_str(), "application/json, text/event-stream"),
            (CONTENT_TYPE.as_str(), "application/json"),
            ("mcp-protocol-version", VERSION),
            ("mcp-method", "tools/list"),
        ];
        let address = self.place.mcp.clone();
        match self.ask(Method::POST, &address, &headers, body.into_bytes()).await {
            Ok(answer) => match answer.body.pointer("/result/tools").and_then(Value::as_array) {
                Some(tools) => self.passed(id, title, format!("It offers {} tools.", tools.len()), answer.latency),
                None => self.failed(id, title, format!("{}, without a list of tools.", answer.status()), MEND),
            },
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    async fn sample(&mut self, bearer: &str) {
        let (id, title) = ("sample_query", "A sample query");
        const MEND: &str = "Let /api/v1/ext/ through to the service, with the header Authorization.";
        let url = self.place.fill("{base}/api/v1/ext/datasets");
        match self.ask(Method::GET, &url, &[(AUTHORIZATION.as_str(), bearer)], vec![]).await {
            Ok(answer) => match answer.body.get("count").and_then(Value::as_u64).filter(|_| answer.status() == 200) {
                Some(count) => {
                    self.report.sample_query_ok = true;
                    self.report.datasets_accessible = usize::try_from(count).ok();
                    match count {
                        0 => self.failed(id, title, "It answers, and no dataset is published.", "Publish a dataset."),
                        _ => self.passed(id, title, format!("It sees {count} published datasets."), answer.latency),
                    }
                }
                None => self.failed(id, title, format!("{} instead of a list of datasets.", answer.status()), MEND),
            },
            Err(refused) => self.failed(id, title, unreachable(&refused).0, MEND),
        }
    }

    pub(super) fn report(mut self) -> Report {
        let failed = |check: &&Check| check.outcome == Outcome::Failed;
        self.report.ok = !self.report.checks.iter().any(|check| failed(&check));
        let sentence = |check: &Check| format!("{}: {}", check.title, check.said);
        self.report.errors = self.report.checks.iter().filter(failed).map(sentence).collect();
        self.report.recommendations = self.report.checks.iter().filter_map(|check| check.mend.clone()).collect();
        self.latencies.sort_unstable();
        self.report.latency_ms = self.latencies.get(self.latencies.len() / 2).copied();
        self.report
    }
}

/// The JSON of an answer; of a stream of events, the first event's.
fn json_of(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    let event = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| !data.trim().is_empty());
    serde_json::from_str(event.unwrap_or(&text)).unwrap_or_default()
}

/// Why nothing came back, for people, and what to do.
fn unreachable(refused: &Refused) -> (String, &'static str) {
    let said = match refused {
        Refused::Failed(cause) => cause.clone(),
        other => other.to_string(),
    };
    let small = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| small.contains(word));
    if matches!(refused, Refused::Unresolved) {
        return ("The name does not resolve.".into(), "Enter the name into the DNS, or mend DRAGOMAN_PUBLIC_URL.");
    }
    if has(&["certificate", "unknownissuer", "notvalidforname", "expired", "tls", "handshake"]) {
        let mend = "Clients refuse a certificate that is expired, for another name, without its chain, or of an \
            authority of your own. Install one of a public authority, with the whole chain.";
        return (format!("The certificate is not good: {said}"), mend);
    }
    if has(&["out of time", "timed out"]) {
        let mend = "Nothing answered in time. Let the port through the firewall. Where the service cannot reach its own \
            public address from inside while others can, the checkpoints of a client tell more than this test.";
        return ("Nothing answered in time.".into(), mend);
    }
    let mend = "Nothing takes the connection at this address: see that the service (or the proxy before it) listens there, \
        and that DRAGOMAN_PUBLIC_URL is right.";
    (format!("No connection: {said}"), mend)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(public_url: &str) -> Config {
        Config::read(|name| (name == "DRAGOMAN_PUBLIC_URL").then(|| public_url.to_owned())).unwrap()
    }

    /// It has the service's own address and no other.
    #[tokio::test]
    async fn nothing_else_is_ever_asked() {
        let config = config("https://data.example.com");
        let mut probe = Probe::new(&config, Place::new(&config, Some("acme"), None), true, "test");
        for url in
            ["https://other.example.com/", "http://data.example.com/", "https://data.example.com:8443/", "file:///etc"]
        {
            let refused = probe.ask(Method::GET, url, &[], vec![]).await;
            assert!(matches!(refused, Err(Refused::Address)), "{url}");
        }
    }

    #[test]
    fn a_cause_leads_to_what_mends_it() {
        let failed = |text: &str| Refused::Failed(text.to_owned());
        for (refused, word) in [
            (Refused::Unresolved, "DNS"),
            (failed("invalid peer certificate: UnknownIssuer"), "chain"),
            (failed("out of time"), "firewall"),
            (failed("connection refused"), "listens"),
        ] {
            assert!(unreachable(&refused).1.contains(word), "{refused}");
        }
    }

    #[test]
    fn an_answer_is_read_as_a_document_or_as_a_stream() {
        assert_eq!(json_of(br#"{"a":1}"#)["a"], 1);
        assert_eq!(json_of(b"id: 1\ndata:\n\nevent: message\ndata: {\"a\":2}\n\n")["a"], 2);
        assert_eq!(json_of(b"<html>"), Value::Null);
    }
}
