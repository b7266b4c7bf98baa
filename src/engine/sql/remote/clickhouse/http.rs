//! ClickHouse's HTTP interface: one request a statement, one JSON array a line in the answer.
//! <https://clickhouse.com/docs/interfaces/http>

use reqwest::Response;
use serde::de::DeserializeOwned;

use super::{FORMAT, problem};
use crate::base::outbound;
use crate::engine::sql::remote::Address;
use crate::model::error::{Error, Result};

/// An error's text: enough for the message of a person's mistake.
const PROBLEM_BYTES: usize = 16 << 10;

const LINES: &str = "JSONCompactEachRowWithNamesAndTypes";

pub(super) struct Http<'a> {
    pub address: &'a Address,
}

impl Http<'_> {
    /// Sends a statement with settings, and waits for its answer, of which not much more than `bytes` is taken.
    pub(super) async fn ask(&self, sql: &str, settings: &[(&str, String)], bytes: usize) -> Result<Lines> {
        let client = outbound::engine_client(&self.address.url, self.address.private_hosts, &self.address.addresses);
        let client = client.await.map_err(|refused| unreachable(&refused.to_string()))?;
        let mut url = self.address.url.clone();
        // The name of the login travels in a header; a URL without a host cannot get here.
        let _no_user_in_urls_without_host = url.set_username("");
        url.query_pairs_mut()
            .clear()
            .append_pair("default_format", LINES)
            // An error is known before the first byte.
            .append_pair("wait_end_of_query", "1")
            .extend_pairs(FORMAT)
            .extend_pairs(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let user = match self.address.url.username() {
            "" => "default",
            user => user,
        };
        let request = client
            .post(url)
            .header("X-ClickHouse-User", user)
            .header("X-ClickHouse-Key", self.address.password.expose())
            .body(sql.to_owned());
        let lost = |cause: reqwest::Error| unreachable(&cause.without_url().to_string());
        let response = request.send().await.map_err(lost)?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let code = header("X-ClickHouse-Exception-Code").and_then(|code| code.parse().ok());
        let is_lines = header("X-ClickHouse-Format") == Some(LINES);
        let mut body = Vec::new();
        if code.is_some() || !status.is_success() {
            // What came before an answer broke off says enough.
            let _whole = read(response, PROBLEM_BYTES, &mut body).await;
            let text = text(&body);
            return Err(match code.or_else(|| problem::code(&text)) {
                Some(code) => problem::of(code, &text),
                None => unreachable(&format!("status {status}")),
            });
        }
        if !is_lines {
            return Err(not_clickhouse());
        }
        read(response, bytes, &mut body).await.map_err(lost)?;
        Ok(Lines::new(body, bytes))
    }
}

/// Reads a body to its end, or until it has more than `bytes`.
async fn read(mut response: Response, bytes: usize, body: &mut Vec<u8>) -> reqwest::Result<()> {
    while body.len() <= bytes {
        // A server that always has more at hand must not keep the thread to itself.
        tokio::task::coop::consume_budget().await;
        match response.chunk().await? {
            Some(chunk) => body.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(())
}

/// The lines of an answer.
pub(super) struct Lines {
    body: Vec<u8>,
    /// Where the next line starts.
    at: usize,
    /// Whether there was more than may be read.
    pub is_cut: bool,
}

impl Lines {
    /// The lines that are whole, of a body of which no more was read when it had more than `bytes`.
    fn new(mut body: Vec<u8>, bytes: usize) -> Self {
        let is_cut = body.len() > bytes;
        if is_cut {
            let whole = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            body.truncate(whole);
        }
        Self { body, at: 0, is_cut }
    }

    /// What the next line holds; `None` at the end. Not for a thread of the runtime: there may be millions.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        while let Some(rest) = self.body.get(self.at..).filter(|rest| !rest.is_empty()) {
            let line = rest.split_inclusive(|byte| *byte == b'\n').next().unwrap_or(rest);
            self.at += line.len();
            let line = line.trim_ascii();
            if !line.is_empty() {
                return serde_json::from_slice(line).map(Some).map_err(|_| broken(rest));
            }
        }
        Ok(None)
    }
}

/// What is no row: an error that came after the first rows, or something else.
fn broken(rest: &[u8]) -> Error {
    let text = text(rest);
    problem::code(&text).map_or_else(not_clickhouse, |code| problem::of(code, &text))
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body.get(..PROBLEM_BYTES).unwrap_or(body)).into_owned()
}

fn unreachable(cause: &str) -> Error {
    tracing::warn!(cause, "a ClickHouse server was not reached");
    Error::unavailable(
        "The server of this table does not answer. Try again later, or ask an admin to check its source.",
    )
}

pub(super) fn not_clickhouse() -> Error {
    Error::unavailable("The server of this table did not answer as ClickHouse does. Ask an admin to check its source.")
}
