//! The client of the configured endpoint: one request, whole answers under a cap of bytes, one more try when the
//! provider is busy, and what the server was found to take.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use url::Url;

use super::ask::{LlmError, Reply, Request};
use super::wire::{Dialect, Problem, anthropic, openai};
use crate::base::clock::Clock;
use crate::base::outbound::{self, KeptClient, Refused};
use crate::base::peers::PrivateHost;
use crate::config::{Llm, LlmProvider};

/// The largest answer that is read: a hundred times what the longest allowed answer needs.
const MAX_BYTES: usize = 2 << 20;
/// The wait before another try where the provider names none.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Client {
    llm: Llm,
    endpoint: Url,
    clock: Clock,
    kept: KeptClient,
    /// Found out at the first request, and kept.
    dialect: Mutex<Dialect>,
}

impl Client {
    pub(super) fn new(llm: Llm, clock: Clock) -> Self {
        let endpoint = endpoint(&llm);
        Self { llm, endpoint, clock, kept: KeptClient::default(), dialect: Mutex::default() }
    }

    pub(super) fn url(&self) -> &Url {
        &self.endpoint
    }

    pub(super) fn local_hosts(&self) -> &[PrivateHost] {
        &self.llm.local_hosts
    }

    /// Tokens of the longest answer.
    pub(super) fn output_tokens(&self) -> u32 {
        self.llm.output_tokens
    }

    /// Sends a request to one of `addresses`, or to what the endpoint's name has when there are none. The operator named
    /// the endpoint: it may lie in his own network.
    pub(super) async fn complete(
        &self,
        request: &Request,
        addresses: &[SocketAddr],
        time_left: Duration,
    ) -> Result<Reply, LlmError> {
        let time = self.llm.timeout.min(time_left);
        let work = self.try_until(request, addresses, Instant::now() + time);
        tokio::time::timeout(time, work).await.unwrap_or(Err(LlmError::Timeout))
    }

    async fn try_until(
        &self,
        request: &Request,
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<Reply, LlmError> {
        let client = self.kept.get(&self.endpoint, true, addresses).await.map_err(refused)?;
        let known = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut dialect, mut was_busy) = (known, false);
        loop {
            match self.once(&client, request, dialect).await {
                Ok(reply) => {
                    // Learnt only from what worked: a refusal may have had another reason.
                    if dialect != known {
                        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    }
                    return Ok(reply);
                }
                Err(Problem { error: LlmError::Overloaded { retry_after }, .. }) => {
                    let wait = retry_after.unwrap_or(PAUSE);
                    if was_busy || wait >= deadline.saturating_duration_since(Instant::now()) {
                        return Err(LlmError::Overloaded { retry_after });
                    }
                    was_busy = true;
                    tokio::time::sleep(wait).await;
                }
                Err(Problem { error: error @ LlmError::Rejected(400 | 422), text }) => {
                    dialect = dialect.after(&text, request.form.is_some()).ok_or(error)?;
                }
                Err(Problem { error, .. }) => return Err(error),
            }
        }
    }

    async fn once(&self, client: &reqwest::Client, request: &Request, dialect: Dialect) -> Result<Reply, Problem> {
        let body = match self.llm.provider {
            LlmProvider::OpenAi => openai::body(request, &self.llm.model, dialect),
            LlmProvider::Anthropic => anthropic::body(request, &self.llm.model, dialect),
        };
        let mut sent = http::Request::post(self.endpoint.as_str());
        if let Some(headers) = sent.headers_mut() {
            *headers = self.headers()?;
        }
        let sent = sent.body(body.to_string().into_bytes());
        let sent = sent.map_err(|_| LlmError::Failed("the endpoint is no address".into()))?;
        let answer = outbound::exchange(client, sent, MAX_BYTES).await.map_err(refused)?;
        let status = answer.status().as_u16();
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if status == 200 && !kind.to_ascii_lowercase().contains("json") {
            return Err(LlmError::Malformed("not JSON").into());
        }
        let read = match self.llm.provider {
            LlmProvider::OpenAi => openai::read(status, answer.body()),
            LlmProvider::Anthropic => anthropic::read(status, answer.body()),
        };
        read.map_err(|problem| match problem.error {
            LlmError::Overloaded { .. } => LlmError::Overloaded { retry_after: self.wait(answer.headers()) }.into(),
            _ => problem,
        })
    }

    fn headers(&self) -> Result<HeaderMap, LlmError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if self.llm.provider == LlmProvider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
        }
        if let Some(key) = &self.llm.api_key {
            let (name, text) = match self.llm.provider {
                LlmProvider::OpenAi => (AUTHORIZATION, format!("Bearer {}", key.expose())),
                LlmProvider::Anthropic => {
                    ("x-api-key".parse().map_err(|_| LlmError::Unauthorised)?, key.expose().into())
                }
            };
            let mut value = HeaderValue::try_from(text).map_err(|_| LlmError::Unauthorised)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// `Retry-After` in either of its forms (RFC 9110 §10.2.3).
    fn wait(&self, headers: &HeaderMap) -> Option<Duration> {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
        Some(Duration::from_millis(u64::try_from(at.as_millisecond() - self.clock.now()).unwrap_or(0)))
    }
}

/// Where requests go: the configured address, with the protocol's path where it is not there already.
fn endpoint(llm: &Llm) -> Url {
    let method = match llm.provider {
        LlmProvider::OpenAi => "chat/completions",
        LlmProvider::Anthropic => "messages",
    };
    let mut url = llm.url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&match path.as_str() {
        "" => format!("/v1/{method}"),
        path if path.ends_with(&format!("/{method}")) => path.to_owned(),
        path => format!("{path}/{method}"),
    });
    url
}

fn refused(refused: Refused) -> LlmError {
    match refused {
        Refused::TooLarge(_) => LlmError::TooLarge,
        Refused::Address | Refused::Private => {
            LlmError::Failed("the endpoint is closed: a special address, or plain http to a public one".into())
        }
        Refused::Unresolved => LlmError::Failed("the endpoint's name does not resolve".into()),
        Refused::Status(status) => LlmError::Failed(format!("status {status}")),
        Refused::Failed(_) => LlmError::Failed("no complete answer".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llm(provider: LlmProvider, url: &str) -> Llm {
        Llm {
            provider,
            url: Url::parse(url).unwrap(),
            api_key: Some(crate::base::secret::Secret::new("k")),
            model: "m".into(),
            timeout: Duration::from_secs(1),
            daily_tokens: 1,
            output_tokens: 1,
            local_hosts: vec![],
        }
    }

    #[test]
    fn the_protocols_path_is_added_where_it_is_not_there() {
        use LlmProvider::{Anthropic, OpenAi};
        for (provider, url, expected) in [
            (OpenAi, "https://a.example", "https://a.example/v1/chat/completions"),
            (OpenAi, "https://a.example/v1/", "https://a.example/v1/chat/completions"),
            (OpenAi, "https://a.example/x/v1beta", "https://a.example/x/v1beta/chat/completions"),
            (OpenAi, "https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
            (Anthropic, "https://a.example", "https://a.example/v1/messages"),
            (Anthropic, "https://a.example/v1", "https://a.example/v1/messages"),
            (Anthropic, "https://a.example/v1/messages", "https://a.example/v1/messages"),
        ] {
            assert_eq!(endpoint(&llm(provider, url)).as_str(), expected);
        }
    }

    #[test]
    fn the_key_travels_in_the_protocols_header_and_does_not_show_itself() {
        for (provider, name, value) in
            [(LlmProvider::OpenAi, "authorization", "Bearer k"), (LlmProvider::Anthropic, "x-api-key", "k")]
        {
            let client = Client::new(llm(provider, "https://a.example"), Clock::manual(0));
            let headers = client.headers().unwrap();
            assert_eq!(headers[name], value);
            assert_eq!(format!("{:?}", headers[name]), "Sensitive");
            assert_eq!(headers.contains_key("anthropic-version"), provider == LlmProvider::Anthropic);
        }
    }

    #[test]
    fn both_forms_of_retry_after_are_understood() {
        // 1994-11-06T08:49:37Z.
        let client = Client::new(llm(LlmProvider::OpenAi, "https://a.example"), Clock::manual(784_111_777_000));
        for (text, seconds) in [
            ("7", Some(7)),
            ("Sun, 06 Nov 1994 08:50:00 GMT", Some(23)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap())]);
            assert_eq!(client.wait(&headers), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
