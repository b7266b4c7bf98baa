//! ClickHouse's HTTP interface: one request a statement, one JSON array a line in the answer.
//! <https://clickhouse.com/docs/interfaces/http>

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde_json::Value;

use super::{FORMAT, problem};
use crate::base::outbound;
use crate::engine::sql::remote::Address;
use crate::model::error::{Error, Result};

/// An error's text: enough for the message of a person's mistake.
const PROBLEM_BYTES: usize = 16 << 10;

pub(super) struct Http<'a> {
    pub address: &'a Address,
}

impl Http<'_> {
    /// Sends a statement with settings, and waits until the server has computed its answer.
    pub(super) async fn ask(&self, sql: &str, settings: &[(&str, String)]) -> Result<Rows> {
        let client = outbound::engine_client(&self.address.url, self.address.private_hosts, &self.address.addresses);
        let client = client.await.map_err(|refused| unreachable(&refused.to_string()))?;
        let mut url = self.address.url.clone();
        // The name of the login travels in a header; a URL without a host cannot get here.
        let _no_user_in_urls_without_host = url.set_username("");
        url.query_pairs_mut()
            .clear()
            .append_pair("default_format", "JSONCompactEachRowWithNamesAndTypes")
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
        let response = request.send().await.map_err(|e| unreachable(&e.without_url().to_string()))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let code = header("X-ClickHouse-Exception-Code").and_then(|code| code.parse().ok());
        let format = header("X-ClickHouse-Format").map(str::to_owned);
        let stream = response.bytes_stream().map(|chunk| chunk.map(|chunk| chunk.to_vec()));
        let stream = stream.map(|chunk| chunk.map_err(|e| e.without_url().to_string())).boxed();
        let mut rows = Rows { stream, held: vec![], received: 0, is_full: false };
        if code.is_some() || !status.is_success() {
            let text = rows.text().await;
            return Err(match code.or_else(|| problem::code(&text)) {
                Some(code) => problem::of(code, &text),
                None => unreachable(&format!("status {status}")),
            });
        }
        if format.as_deref() != Some("JSONCompactEachRowWithNamesAndTypes") {
            return Err(not_clickhouse());
        }
        Ok(rows)
    }
}

/// The lines of an answer.
pub(super) struct Rows {
    stream: BoxStream<'static, Result<Vec<u8>, String>>,
    held: Vec<u8>,
    received: usize,
    /// Whether there was more than may be read.
    pub is_full: bool,
}

impl Rows {
    /// The next row; `None` at the end, and where more than `bytes` would be read.
    pub(super) async fn next(&mut self, bytes: usize) -> Result<Option<Vec<Value>>> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                let line = line.trim_ascii();
                if line.is_empty() {
                    continue;
                }
                return match serde_json::from_slice(line) {
                    Ok(row) => Ok(Some(row)),
                    Err(_) => Err(self.broken(line).await),
                };
            }
            if self.received > bytes {
                self.is_full = true;
                return Ok(None);
            }
            match self.stream.next().await {
                Some(Ok(chunk)) => {
                    self.received += chunk.len();
                    self.held.extend(chunk);
                }
                Some(Err(cause)) => return Err(unreachable(&cause)),
                None if self.held.is_empty() => return Ok(None),
                None => {
                    let rest = std::mem::take(&mut self.held);
                    return Err(self.broken(&rest).await);
                }
            }
        }
    }

    /// What is no row: an error that came after the first rows, or something else.
    async fn broken(&mut self, line: &[u8]) -> Error {
        let text = format!("{}\n{}", String::from_utf8_lossy(line), self.text().await);
        match problem::code(&text) {
            Some(code) => problem::of(code, &text),
            None => not_clickhouse(),
        }
    }

    async fn text(&mut self) -> String {
        while self.held.len() < PROBLEM_BYTES {
            match self.stream.next().await {
                Some(Ok(chunk)) => self.held.extend(chunk),
                _ => break,
            }
        }
        self.held.truncate(PROBLEM_BYTES);
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
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
