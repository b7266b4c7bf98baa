//! From an address to a session: TCP to a vetted address, TLS, and the proof of the password.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::Trouble;
use super::message::{self, Fields, Message, ServerError};
use super::scram::{self, Scram};
use crate::base::secret::Secret;

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How many of its addresses are tried.
const ADDRESSES: usize = 4;
/// A server that says nothing for so long before the first query is taken for dead. Of a query the time is kept
/// elsewhere.
const SILENCE: Duration = Duration::from_secs(10);
/// Bytes of a message before the first query.
const MOST: usize = 32 << 10;
/// Messages before the first query.
const MESSAGES: usize = 200;

/// Where to connect, and as whom.
#[derive(Clone)]
pub struct Target {
    /// As the certificate must name it.
    pub host: String,
    /// Vetted; never looked up again.
    pub addresses: Vec<SocketAddr>,
    pub user: String,
    pub password: Secret,
    pub database: String,
    /// Without, nothing is encrypted: only for hosts that the operator listed.
    pub tls: Option<Arc<ClientConfig>>,
}

/// A stream to a server.
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Secure(stream) => &stream.sock,
        }
    }

    /// Whether an idle server has said or done nothing: whatever it did means that the session is over.
    pub(super) fn is_quiet(&self) -> bool {
        let socket = self.socket();
        if socket.set_nonblocking(true).is_err() {
            return false;
        }
        let peeked = socket.peek(&mut [0]);
        let quiet = matches!(peeked, Err(problem) if problem.kind() == io::ErrorKind::WouldBlock);
        quiet && socket.set_nonblocking(false).is_ok()
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(buffer),
            Self::Secure(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}

/// What a server wants to hear from who cancels: the backend and its secret.
pub(super) type CancelKey = Vec<u8>;

/// Ends a session from outside, wherever it is: its reads and writes fail from then on.
#[derive(Default)]
pub(super) struct Leash(Mutex<Held>);

#[derive(Default)]
struct Held {
    is_cut: bool,
    socket: Option<TcpStream>,
    key: Option<CancelKey>,
}

impl Leash {
    fn hold(&self, socket: &TcpStream) -> Result<(), Trouble> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_cut {
            return Err(Trouble::Lost(io::ErrorKind::ConnectionAborted.into()));
        }
        held.socket = Some(socket.try_clone().map_err(Trouble::Lost)?);
        Ok(())
    }

    fn keep(&self, key: CancelKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).key = Some(key);
    }

    /// Cuts the session off, and tells how to cancel what it runs.
    pub(super) fn cut(&self) -> Option<CancelKey> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.is_cut = true;
        if let Some(socket) = held.socket.take() {
            // A socket that is closed already needs no closing.
            let _closed = socket.shutdown(Shutdown::Both);
        }
        held.key.take()
    }
}

/// A stream over which the server has accepted the login.
pub(super) struct Opened {
    pub stream: BufReader<Stream>,
    /// `server_version` as the server reports it.
    pub version: String,
}

/// Connects, and logs in.
pub(super) fn open(target: &Target, leash: &Leash) -> Result<Opened, Trouble> {
    let stream = connect(target, leash)?;
    let mut stream = BufReader::new(stream);
    let mut body = 196_608_i32.to_be_bytes().to_vec();
    let parameters = [
        ("user", target.user.as_str()),
        ("database", &target.database),
        ("application_name", "dragoman"),
        ("client_encoding", "UTF8"),
    ];
    for (name, value) in parameters {
        body.extend(message::text(name));
        body.extend(message::text(value));
    }
    body.push(0);
    send(&mut stream, &message::untagged(&body))?;
    log_in(&mut stream, target)?;
    let mut version = String::new();
    for _ in 0..MESSAGES {
        let Message { tag, body } = message::read(&mut stream, MOST)?;
        match tag {
            b'Z' => {
                stream.get_ref().socket().set_read_timeout(None).map_err(Trouble::Lost)?;
                return Ok(Opened { stream, version });
            }
            b'K' => leash.keep(body),
            b'S' => {
                let mut fields = Fields(&body);
                if fields.text()? == "server_version" {
                    version = fields.text()?;
                }
            }
            b'E' => return Err(Trouble::Refused(ServerError::read(&body)?)),
            b'N' | b'v' => {}
            _ => return Err(Trouble::odd("an unexpected message at the start")),
        }
    }
    Err(Trouble::odd("too many messages at the start"))
}

fn log_in(stream: &mut BufReader<Stream>, target: &Target) -> Result<(), Trouble> {
    let mut scram: Option<Scram> = None;
    let mut is_challenged = false;
    for _ in 0..MESSAGES {
        let Message { tag, body } = message::read(stream, MOST)?;
        match tag {
            b'E' => return Err(Trouble::Refused(ServerError::read(&body)?)),
            b'N' | b'v' => continue,
            b'R' => {}
            _ => return Err(Trouble::odd("an unexpected message in place of a password request")),
        }
        let mut fields = Fields(&body);
        match fields.int()? {
            // A server that asked for a proof has to give one before it accepts.
            0 if scram.is_none() => return Ok(()),
            3 if target.tls.is_some() => {
                send(stream, &message::message(b'p', &message::text(target.password.expose())))?;
            }
            3 => return Err(Trouble::Login("it asks for the password in clear text over an unencrypted connection")),
            10 if scram.is_some() || is_challenged => return Err(Trouble::odd("a second way to log in")),
            10 => {
                let names = String::from_utf8_lossy(fields.0).into_owned();
                if !names.split('\0').any(|name| name == scram::NAME) {
                    return Err(Trouble::Login("it offers no way to log in that is known here"));
                }
                let begun = Scram::new(&target.password);
                let first = begun.first();
                let length = u32::try_from(first.len()).unwrap_or(u32::MAX);
                let body = [message::text(scram::NAME).as_slice(), &length.to_be_bytes(), first.as_bytes()].concat();
                send(stream, &message::message(b'p', &body))?;
                scram = Some(begun);
            }
            11 => {
                let challenge = String::from_utf8_lossy(fields.0).into_owned();
                let begun = scram.as_mut().ok_or_else(|| Trouble::odd("a password challenge out of turn"))?;
                // Each one costs thousands of hashes.
                if std::mem::replace(&mut is_challenged, true) {
                    return Err(Trouble::odd("a second password challenge"));
                }
                let answer = begun.answer(&challenge)?;
                send(stream, &message::message(b'p', answer.as_bytes()))?;
            }
            12 => {
                let proof = String::from_utf8_lossy(fields.0).into_owned();
                let begun = scram.take().ok_or_else(|| Trouble::odd("a password proof out of turn"))?;
                if !begun.is_proven(&proof) {
                    return Err(Trouble::odd("a proof that it does not know the password"));
                }
            }
            5 => {
                let why = "it keeps the password as an MD5 hash, which is not accepted; set password_encryption to \
                           scram-sha-256 there and set the password again";
                return Err(Trouble::Login(why));
            }
            _ => return Err(Trouble::Login("it wants a way to log in that is not known here")),
        }
    }
    Err(Trouble::odd("too many messages at the start"))
}

/// Asks a server to end what the session with this key runs; whether it does is not told.
pub(super) fn cancel(target: &Target, key: &[u8], leash: &Leash) -> Result<(), Trouble> {
    let mut stream = connect(target, leash)?;
    let body = [80_877_102_i32.to_be_bytes().as_slice(), key].concat();
    stream.write_all(&message::untagged(&body)).map_err(Trouble::Lost)?;
    stream.flush().map_err(Trouble::Lost)?;
    // The server closes when it has done it.
    let _closed = stream.read(&mut [0]);
    Ok(())
}

fn send(stream: &mut BufReader<Stream>, bytes: &[u8]) -> Result<(), Trouble> {
    let stream = stream.get_mut();
    stream.write_all(bytes).and_then(|()| stream.flush()).map_err(Trouble::Lost)
}

fn connect(target: &Target, leash: &Leash) -> Result<Stream, Trouble> {
    let mut problem = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let connected = target.addresses.iter().take(ADDRESSES).find_map(|address| {
        match TcpStream::connect_timeout(address, CONNECT) {
            Ok(socket) => Some(socket),
            Err(why) => {
                problem = why;
                None
            }
        }
    });
    let mut socket = connected.ok_or(Trouble::Unreached(problem))?;
    leash.hold(&socket)?;
    let limits = socket.set_read_timeout(Some(SILENCE)).and_then(|()| socket.set_write_timeout(Some(SILENCE)));
    limits.and_then(|()| socket.set_nodelay(true)).map_err(Trouble::Lost)?;
    let Some(tls) = &target.tls else { return Ok(Stream::Plain(socket)) };
    socket.write_all(&message::untagged(&80_877_103_i32.to_be_bytes())).map_err(Trouble::Lost)?;
    // One byte and no more: what an eavesdropper adds behind it must not be taken for the server's (CVE-2021-23222).
    let mut answer = [0];
    socket.read_exact(&mut answer).map_err(Trouble::Lost)?;
    if answer != *b"S" {
        return Err(Trouble::Tls("the server does not offer TLS".into()));
    }
    let name = ServerName::try_from(target.host.clone()).map_err(|problem| Trouble::Tls(problem.to_string()))?;
    let mut connection =
        ClientConnection::new(tls.clone(), name).map_err(|problem| Trouble::Tls(problem.to_string()))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(|problem| Trouble::Tls(problem.to_string()))?;
    }
    Ok(Stream::Secure(Box::new(StreamOwned::new(connection, socket))))
}
