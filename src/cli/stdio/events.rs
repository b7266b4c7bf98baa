//! Server-sent events (WHATWG HTML §9.2.6), as far as MCP has them: the data of each event is a message.

use std::collections::VecDeque;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::CONTENT_TYPE;
use reqwest::Response;

/// The messages of an answer, one after the other as they come: one that is the body, or those of a stream.
pub(super) struct Messages {
    ready: VecDeque<String>,
    events: Events,
    stream: Option<BoxStream<'static, reqwest::Result<axum::body::Bytes>>>,
}

impl Messages {
    /// # Errors
    /// A body that does not come whole.
    pub(super) async fn of(response: Response) -> reqwest::Result<Self> {
        let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (mut ready, events) = (VecDeque::new(), Events::default());
        if media.starts_with("text/event-stream") {
            return Ok(Self { ready, events, stream: Some(response.bytes_stream().boxed()) });
        }
        ready.extend(Some(response.text().await?).filter(|text| !text.trim().is_empty()));
        Ok(Self { ready, events, stream: None })
    }

    /// `None` at the end. A stream that breaks off has ended: what it has not said is known by whoever waits for it.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(said) = self.ready.pop_front() {
                return Some(said);
            }
            let bytes = self.stream.as_mut()?.next().await?.ok()?;
            self.ready.extend(self.events.push(&bytes));
        }
    }
}

/// Reads a stream as it comes, in whatever pieces.
#[derive(Default)]
struct Events {
    /// A line that is not whole yet.
    line: Vec<u8>,
    /// Data lines of an event that is not whole yet.
    data: Vec<String>,
    /// The last byte was a carriage return: a line feed after it belongs to the same end.
    returned: bool,
}

impl Events {
    /// The data of the events that these bytes complete.
    fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        for byte in bytes {
            let was_return = std::mem::replace(&mut self.returned, *byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => whole.extend(self.end_of_line()),
                _ => self.line.push(*byte),
            }
        }
        whole
    }

    fn end_of_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data).join("\n");
            return Some(data).filter(|data| !data.trim().is_empty());
        }
        let line = String::from_utf8_lossy(&line);
        if let Some(data) = line.strip_prefix("data:") {
            self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_however_they_are_cut() {
        let stream =
            ": hello\n\ndata: {\"a\":1}\n\nevent: message\r\nid: 7\r\ndata:{\"b\":\r\ndata: \"é\"}\r\n\r\ndata:\n\n";
        let expected = ["{\"a\":1}", "{\"b\":\n\"é\"}"];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let read: Vec<String> = stream.as_bytes().chunks(size).flat_map(|bytes| events.push(bytes)).collect();
            assert_eq!(read, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_the_stream_ends_in_the_middle_of_is_no_event() {
        assert!(Events::default().push(b"data: {\"a\":1}\n").is_empty());
    }
}
