//! Mails: plain text over SMTP, or written to the log where there is no server. They leave in the background, so that
//! nobody who waits for an answer can tell whether one was sent.

use std::time::Duration;

use lettre::address::AddressError;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use tokio_util::task::TaskTracker;
use url::Url;

use crate::base::clock::Clock;
use crate::base::secret::{Secret, random_bytes};

/// For each step of the conversation with the server.
const STEP: Duration = Duration::from_secs(10);
/// For a whole mail.
const WHOLE: Duration = Duration::from_secs(30);
/// Mails, and searches for their people, that may be under way at once.
const MOST: usize = 64;
/// How long mails on their way may go on after the signal to stop.
const DRAIN: Duration = Duration::from_secs(5);

/// Where mails go.
#[derive(Clone, Debug)]
pub enum Route {
    /// `smtps://user:password@host:465`, or `smtp://…` with STARTTLS, which only a server on this machine may lack.
    Server(Secret),
    /// To the log, links and all: for a machine that only its owner uses.
    Log,
    /// Nowhere: there are no mails.
    Off,
}

/// A mail to one person.
#[derive(Clone, Debug)]
pub struct Mail {
    /// A bare address.
    pub to: String,
    pub subject: String,
    /// Plain text.
    pub text: String,
}

/// Why mails cannot be sent as the settings say; without the settings' values.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error("the mail server's address cannot be used: {0}")]
    Server(String),
    #[error("the sender of mails is not of the form `Name <address>`: {0}")]
    From(#[from] AddressError),
}

type Transport = AsyncSmtpTransport<Tokio1Executor>;

#[derive(Clone)]
enum Way {
    Server(Transport),
    Log,
    Off,
}

/// Sends mails; clones share the bound.
#[derive(Clone)]
pub struct Mailer {
    way: Way,
    from: Mailbox,
    clock: Clock,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailer").field("on_their_way", &self.tasks.len()).finish_non_exhaustive()
    }
}

impl Mailer {
    /// Nothing is connected yet. `from` is `Name <address>`.
    ///
    /// # Errors
    /// [`MailError`].
    pub fn new(route: &Route, from: &str, clock: Clock) -> Result<Self, MailError> {
        let way = match route {
            Route::Server(url) => Way::Server(transport(url)?),
            Route::Log => Way::Log,
            Route::Off => Way::Off,
        };
        Ok(Self { way, from: from.parse()?, clock, tasks: TaskTracker::new() })
    }

    /// Whether mails go anywhere.
    /// Whether mails only go to the log of this machine.
    pub fn is_log(&self) -> bool {
        matches!(self.way, Way::Log)
    }

    pub fn is_on(&self) -> bool {
        !matches!(self.way, Way::Off)
    }

    /// Sends a mail in the background. What fails is logged, without the text: nobody waits for it.
    pub fn send(&self, mail: Mail) {
        let mailer = self.clone();
        self.background(async move {
            match tokio::time::timeout(WHOLE, mailer.deliver(&mail)).await {
                Ok(Ok(())) => {}
                Ok(Err(problem)) => tracing::error!(problem, subject = mail.subject, "a mail was not sent"),
                Err(_) => tracing::error!(subject = mail.subject, "a mail was not sent in {} s", WHOLE.as_secs()),
            }
        });
    }

    /// Does what leads to a mail in the background too: not even the search for the person takes time of the answer.
    /// Beyond a bound nothing more is begun, and the log says so.
    pub fn background(&self, work: impl Future<Output = ()> + Send + 'static) {
        if self.tasks.len() < MOST {
            self.tasks.spawn(work);
        } else {
            tracing::error!("a mail is not sent: too many are on their way");
        }
    }

    /// Waits for mails on their way, for a while.
    pub async fn finish(&self) {
        self.tasks.close();
        if tokio::time::timeout(DRAIN, self.tasks.wait()).await.is_err() {
            tracing::warn!("{} mails were still on their way", self.tasks.len());
        }
    }

    async fn deliver(&self, mail: &Mail) -> Result<(), String> {
        let server = match &self.way {
            Way::Server(server) => server,
            Way::Log => {
                for line in mail.text.lines().filter(|line| !line.is_empty()) {
                    tracing::warn!(
                        to = mail.to,
                        subject = mail.subject,
                        line,
                        "no mail server is set; a line of the mail"
                    );
                }
                return Ok(());
            }
            Way::Off => return Err("no mail server is set".into()),
        };
        let message = self.message(mail)?;
        // The server's words may repeat the person's address, not the text.
        server.send(message).await.map(drop).map_err(|problem| problem.to_string())
    }

    fn message(&self, mail: &Mail) -> Result<Message, String> {
        let now = Duration::from_millis(u64::try_from(self.clock.now()).unwrap_or(0));
        let id = format!("<{}@{}>", hex::encode(random_bytes::<16>()), self.from.email.domain());
        let to = mail.to.parse().map_err(|problem: AddressError| problem.to_string())?;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .date(std::time::SystemTime::UNIX_EPOCH + now)
            .message_id(Some(id))
            .subject(mail.subject.clone())
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.clone())
            .map_err(|problem| problem.to_string())
    }
}

fn transport(url: &Secret) -> Result<Transport, MailError> {
    let wrong = |why: &str| MailError::Server(why.to_owned());
    // The parser's own words may repeat the password.
    let mut url = Url::parse(url.expose()).map_err(|_| wrong("it is not a URL"))?;
    let host = url.host_str().ok_or_else(|| wrong("it has no host"))?.to_owned();
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a query or a fragment"));
    }
    let builder = match url.scheme() {
        "smtps" => Transport::from_url(url.as_str()),
        "smtp" if is_here(&host) => Transport::from_url(url.as_str()),
        "smtp" => {
            url.set_query(Some("tls=required"));
            Transport::from_url(url.as_str())
        }
        _ => return Err(wrong("it is neither smtps:// nor smtp://")),
    };
    let builder = builder.map_err(|_| wrong("its host, user or password cannot be used"))?;
    Ok(builder.timeout(Some(STEP)).build())
}

/// Whether a host is this machine, where nobody listens on the wire.
fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailer(url: &str, from: &str) -> Result<Mailer, MailError> {
        Mailer::new(&Route::Server(Secret::new(url)), from, Clock::manual(0))
    }

    #[test]
    fn settings_that_cannot_be_used_are_refused_without_being_repeated() {
        let from = "Dragoman <dragoman@example.com>";
        for bad in
            ["", "smtp:", "http://u:hunter2@example.com", "smtps://u:hunter2@x/?tls=none", "smtp://u:hunter2@h:0x"]
        {
            let problem = mailer(bad, from).unwrap_err().to_string();
            assert!(!problem.contains("hunter2"), "{problem}");
        }
        for bad in ["", "Dragoman", "a@b\r\nBcc: c@d"] {
            assert!(mailer("smtps://example.com", bad).is_err(), "{bad}");
        }
        for good in ["smtps://u:p@example.com", "smtp://example.com:587", "smtp://127.0.0.1:2525", "smtp://[::1]:25"] {
            assert!(mailer(good, from).unwrap().is_on());
        }
        assert!(!Mailer::new(&Route::Off, from, Clock::manual(0)).unwrap().is_on());
    }

    #[test]
    fn only_this_machine_may_go_without_encryption() {
        for here in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_here(here), "{here}");
        }
        for there in ["localhost.example.com", "10.0.0.1", "mail", "[::2]", "127.0.0.1.example.com"] {
            assert!(!is_here(there), "{there}");
        }
    }

    #[tokio::test]
    async fn a_mail_says_who_when_and_what_and_nothing_can_be_slipped_into_its_head() {
        let mailer = mailer("smtps://example.com", "Dragoman <dragoman@example.com>").unwrap();
        let mail = |to: &str, subject: &str| Mail { to: to.into(), subject: subject.into(), text: "Grüße\n".into() };
        let sent = String::from_utf8(mailer.message(&mail("ann@example.com", "Über")).unwrap().formatted()).unwrap();
        for line in
            ["From: Dragoman <dragoman@example.com>", "To: ann@example.com", "Date: Thu, 01 Jan 1970 00:00:00 +0000"]
        {
            assert!(sent.contains(line), "{line} in {sent}");
        }
        assert!(mailer.message(&mail("ann@example.com\r\nBcc: eve@example.com", "x")).is_err());
        let sent = mailer.message(&mail("ann@example.com", "x\r\nBcc: eve@example.com")).unwrap().formatted();
        assert!(!String::from_utf8(sent).unwrap().contains("\r\nBcc:"));
    }
}
