//! Standard input and output, each in a thread of its own: a read that waits for a client must not keep the program
//! from ending, and a client that reads nothing must not either.

use std::io::{self, BufRead, Read as _, Write as _};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

/// Most bytes of a message, as the service takes them.
pub(super) const LARGEST: usize = 1 << 20;
/// Messages that wait to be handled, or to be taken by the client.
const WAITING: usize = 64;
/// How long a client may take for what was written last.
const LAST: Duration = Duration::from_secs(2);

/// What stood on one line of the input.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Message(Vec<u8>),
    /// Of more bytes than [`LARGEST`]; they were skipped.
    TooLarge,
}

/// The lines of standard input; the channel closes at its end.
pub(super) fn input() -> mpsc::Receiver<Line> {
    let (sender, lines) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = next(&mut input) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line that is not empty; `None` at the end.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        // One byte more than a message and its line feed.
        input.by_ref().take(LARGEST as u64 + 2).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let ended = line.ends_with(b"\n");
        let text = line.trim_ascii();
        if text.len() > LARGEST || (!ended && line.len() > LARGEST) {
            if !ended {
                input.skip_until(b'\n')?;
            }
            return Ok(Some(Line::TooLarge));
        }
        if !text.is_empty() {
            return Ok(Some(Line::Message(text.to_vec())));
        }
    }
}

/// Where messages to the client go, one a line.
#[derive(Clone)]
pub(super) struct Output(mpsc::Sender<String>);

/// Ready when everything is written, or nobody reads it.
pub(super) struct Written(oneshot::Receiver<()>);

/// Standard output.
pub(super) fn output() -> (Output, Written) {
    let (sender, mut lines) = mpsc::channel::<String>(WAITING);
    let (done, written) = oneshot::channel();
    std::thread::spawn(move || {
        let mut output = io::stdout().lock();
        while let Some(line) = lines.blocking_recv() {
            let wrote = output.write_all(line.as_bytes()).and_then(|()| output.write_all(b"\n"));
            if wrote.and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        let _nobody_waits = done.send(());
    });
    (Output(sender), Written(written))
}

impl Output {
    /// Writes a message. JSON has line ends between its parts only, where spaces say the same.
    pub(super) async fn write(&self, message: &str) {
        let line = message.replace(['\n', '\r'], " ");
        let _nobody_reads_it = self.0.send(line).await;
    }

    /// Ready when the client reads no more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Written {
    /// Waits for what was written last, once every [`Output`] is gone.
    pub(super) async fn wait(self) {
        let _either_way = tokio::time::timeout(LAST, self.0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Line> {
        let mut input = io::BufReader::with_capacity(7, text);
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn a_message_is_a_line_and_empty_lines_are_none() {
        let of = |text: &str| Line::Message(text.into());
        assert_eq!(lines(b"{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{}"), [of("{\"a\":1}"), of("{\"b\":2}"), of("{}")]);
        assert!(lines(b"").is_empty() && lines(b"\n\n").is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let most = vec![b'x'; LARGEST];
        let over = vec![b'x'; LARGEST + 1];
        let far = vec![b'x'; LARGEST * 3];
        let text = [most.as_slice(), b"\r\n", &over, b"\n", &far, b"\nlast\n", &far].concat();
        let kinds: Vec<bool> = lines(&text).iter().map(|line| *line == Line::TooLarge).collect();
        assert_eq!(kinds, [false, true, true, false, true]);
    }
}
