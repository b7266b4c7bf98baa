//! A small mail server on a real port: takes every mail and keeps it.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A mail as it arrived.
#[derive(Clone, Debug)]
pub struct Sent {
    pub from: String,
    pub to: String,
    /// Head and text.
    pub content: String,
}

impl Sent {
    /// The address in the mail that leads to the form.
    pub fn link(&self) -> &str {
        self.content.lines().find(|line| line.contains("/login/reset?token=")).unwrap()
    }

    pub fn token(&self) -> &str {
        self.link().split_once("token=").unwrap().1
    }
}

pub struct Smtp {
    port: u16,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Smtp {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = sent.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, kept.clone()));
            }
        });
        Self { port, sent }
    }

    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    pub fn take(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

/// One conversation (RFC 5321 §3); an address with "refused" in it gets no mail.
async fn serve(mut stream: TcpStream, sent: Arc<Mutex<Vec<Sent>>>) -> Option<()> {
    let (read, mut write) = stream.split();
    let mut lines = BufReader::new(read).lines();
    let mut mail = Sent { from: String::new(), to: String::new(), content: String::new() };
    write.write_all(b"220 mail.test ESMTP\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        let address = || line.split_once('<').and_then(|(_, rest)| rest.split_once('>')).unwrap().0.to_owned();
        let answer = match line.get(..4).unwrap_or_default() {
            "EHLO" => "250-mail.test\r\n250 8BITMIME\r\n",
            "MAIL" => {
                mail.from = address();
                "250 ok\r\n"
            }
            "RCPT" if line.contains("refused") => "550 no such mailbox\r\n",
            "RCPT" => {
                mail.to = address();
                "250 ok\r\n"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                while let Some(line) = lines.next_line().await.ok()?.filter(|line| line != ".") {
                    mail.content.push_str(&line);
                    mail.content.push('\n');
                }
                if mail.content.contains("Content-Transfer-Encoding: quoted-printable") {
                    mail.content = plain(&mail.content);
                }
                sent.lock().unwrap().push(mail.clone());
                "250 taken\r\n"
            }
            "QUIT" => "221 bye\r\n",
            _ => "502 unknown\r\n",
        };
        write.write_all(answer.as_bytes()).await.ok()?;
    }
    Some(())
}

/// Undoes quoted-printable (RFC 2045 §6.7).
fn plain(text: &str) -> String {
    let joined = text.replace("=\n", "");
    let mut parts = joined.split('=');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => bytes.extend(format!("={part}").as_bytes()),
        }
    }
    String::from_utf8(bytes).unwrap()
}
