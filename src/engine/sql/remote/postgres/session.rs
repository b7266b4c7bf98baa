//! One conversation with a server: a transaction that can only read, and in it statements by the extended protocol,
//! which takes one statement at a time. Values come as the server's own texts.

use std::collections::HashMap;
use std::io::{BufReader, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::connect::{self, Leash, Stream, Target};
use super::message::{self, Described, Message, ServerError};
use super::{Trouble, guard};

/// Bytes of a message that is not a row.
const MOST: usize = 1 << 20;
/// Messages of one statement that are not rows.
const MESSAGES: usize = 10_000;

/// Types whose names a session keeps, beside those of one more result, which has at most 1,664 columns at an honest
/// server.
const TYPES: usize = 2_000;

/// What one statement may bring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caps {
    pub rows: usize,
    /// Of all values together.
    pub bytes: usize,
}

/// What a statement brought.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub columns: Vec<Described>,
    pub rows: Vec<Vec<Option<String>>>,
    /// Whether more would have come; the session is then of no further use.
    pub is_cut: bool,
}

/// What is known of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub name: String,
    /// The type of an array's elements.
    pub element: Option<u32>,
}

/// What a transaction may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub time: Duration,
    pub memory_mb: u64,
}

/// See the module.
pub(super) struct Session {
    pub target: Arc<Target>,
    /// By which it can be ended from outside.
    pub leash: Arc<Leash>,
    stream: BufReader<Stream>,
    pub version: String,
    types: HashMap<(u32, i32), Type>,
}

impl Session {
    pub(super) fn open(target: Arc<Target>, leash: Arc<Leash>) -> Result<Self, Trouble> {
        let connect::Opened { stream, version } = connect::open(&target, &leash)?;
        Ok(Self { target, leash, stream, version, types: HashMap::new() })
    }

    /// Gives the connection up, with what the server still sends, for a new one.
    pub(super) fn reopen(&mut self, bounds: Bounds) -> Result<(), Trouble> {
        self.stream = connect::open(&self.target, &self.leash)?.stream;
        self.begin(bounds)
    }

    /// Whether the server is still there, as far as can be seen without asking.
    pub(super) fn is_alive(&self) -> bool {
        self.stream.buffer().is_empty() && self.stream.get_ref().is_quiet()
    }

    /// Begins a transaction that can only read, under settings that hold for it alone: what the login's owner set for
    /// it must not change how a text is read, nor whose functions and tables a name means ([`guard::SESSION`]).
    pub(super) fn begin(&mut self, bounds: Bounds) -> Result<(), Trouble> {
        let millis = bounds.time.as_millis().max(1);
        let work_mem = (bounds.memory_mb / 8).clamp(4, 64);
        let judged: String =
            guard::SESSION.iter().map(|(name, value)| format!("; SET LOCAL {name} = '{value}'")).collect();
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; \
             SET LOCAL statement_timeout = {millis}; SET LOCAL lock_timeout = {lock}; \
             SET LOCAL idle_in_transaction_session_timeout = {idle}; \
             SET LOCAL row_security = on; \
             SET LOCAL work_mem = '{work_mem}MB'; SET LOCAL timezone = 'UTC'; \
             SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; \
             SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1{judged}",
            lock = millis.min(2_000),
            idle = millis + 5_000,
        );
        self.send(&message::message(b'Q', &message::text(&sql)))?;
        match self.until_ready(Caps { rows: 0, bytes: 0 })? {
            (_, b'T') => Ok(()),
            _ => Err(Trouble::odd("no transaction after BEGIN")),
        }
    }

    /// Ends the transaction; its settings go with it.
    pub(super) fn end(&mut self) -> Result<(), Trouble> {
        self.send(&message::message(b'Q', &message::text("ROLLBACK")))?;
        match self.until_ready(Caps { rows: 0, bytes: 0 })? {
            (_, b'I') => Ok(()),
            _ => Err(Trouble::odd("a transaction that does not end")),
        }
    }

    /// Runs one statement within the transaction. The server itself refuses a text that holds more than one.
    pub(super) fn fetch(&mut self, sql: &str, caps: Caps) -> Result<Fetched, Trouble> {
        let parse = [message::text("").as_slice(), &message::text(sql), &0_i16.to_be_bytes()].concat();
        // No parameters; all results as text (0).
        let bind = [&b"\0\0"[..], &[0, 0], &[0, 0], &[0, 1], &[0, 0]].concat();
        let execute = [&b"\0"[..], &0_i32.to_be_bytes()].concat();
        let all = [(b'P', parse), (b'B', bind), (b'D', b"P\0".to_vec()), (b'E', execute), (b'S', Vec::new())];
        let bytes: Vec<u8> = all.iter().flat_map(|(tag, body)| message::message(*tag, body)).collect();
        self.send(&bytes)?;
        match self.until_ready(caps)? {
            (fetched, b'T') => Ok(fetched),
            (fetched, _) if fetched.is_cut => Ok(fetched),
            _ => Err(Trouble::odd("a statement that left its transaction")),
        }
    }

    /// The names of the columns' types as the server writes them, and what their arrays hold.
    pub(super) fn types(&mut self, columns: &[Described]) -> Result<Vec<Type>, Trouble> {
        if self.types.len() > TYPES {
            self.types.clear();
        }
        let mut missing: Vec<(u32, i32)> = columns.iter().map(|column| (column.oid, column.modifier)).collect();
        missing.retain(|key| !self.types.contains_key(key));
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let list = |part: &dyn Fn(&(u32, i32)) -> String| missing.iter().map(part).collect::<Vec<_>>().join(",");
            let sql = format!(
                "SELECT pg_catalog.format_type(t.o, t.m), \
                 (SELECT p.typelem FROM pg_catalog.pg_type p WHERE p.oid = t.o AND p.typcategory = 'A' \
                  AND p.typdelim = ',' AND p.typlen = -1) \
                 FROM ROWS FROM (pg_catalog.unnest(ARRAY[{}]::pg_catalog.oid[]), \
                 pg_catalog.unnest(ARRAY[{}]::pg_catalog.int4[])) WITH ORDINALITY AS t(o, m, n) ORDER BY t.n",
                list(&|(oid, _)| oid.to_string()),
                list(&|(_, modifier)| modifier.to_string()),
            );
            let fetched = self.fetch(&sql, Caps { rows: missing.len(), bytes: MOST })?;
            for (key, row) in missing.into_iter().zip(fetched.rows) {
                let [name, element] = row.as_slice() else { return Err(Trouble::odd("a type without a name")) };
                let element = element.as_ref().and_then(|oid| oid.parse().ok()).filter(|oid| *oid != 0);
                self.types.insert(key, Type { name: name.clone().unwrap_or_default(), element });
            }
        }
        let known = columns.iter().map(|column| self.types.get(&(column.oid, column.modifier)).cloned());
        known.collect::<Option<_>>().ok_or_else(|| Trouble::odd("a type without a name"))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let stream = self.stream.get_mut();
        stream.write_all(bytes).and_then(|()| stream.flush()).map_err(Trouble::Lost)
    }

    /// Reads until the server is ready for more, and tells in what state it is (`T`: within a transaction). What is
    /// beyond the caps is not waited for.
    fn until_ready(&mut self, caps: Caps) -> Result<(Fetched, u8), Trouble> {
        let mut fetched = Fetched::default();
        let mut refused = None;
        let mut bytes = 0;
        let mut others = 0;
        loop {
            let Message { tag, body } = message::read(&mut self.stream, MOST.max(caps.bytes))?;
            match tag {
                b'D' => {
                    bytes += body.len();
                    if fetched.rows.len() == caps.rows || bytes > caps.bytes {
                        if fetched.rows.is_empty() && caps.rows > 0 {
                            return Err(Trouble::RowTooLong);
                        }
                        fetched.is_cut = true;
                        return Ok((fetched, 0));
                    }
                    fetched.rows.push(message::row(&body)?);
                    continue;
                }
                b'T' => fetched.columns = message::columns(&body)?,
                b'E' => refused = Some(ServerError::read(&body)?),
                b'Z' => {
                    let state = body.first().copied().unwrap_or_default();
                    return refused.map_or(Ok((fetched, state)), |error| Err(Trouble::Refused(error)));
                }
                // Done, empty, suspended; parsed, bound, closed, no data; parameters, notices, notifications.
                b'C' | b'I' | b's' | b'1' | b'2' | b'3' | b'n' | b't' | b'S' | b'N' | b'A' => {}
                // COPY among them.
                _ => return Err(Trouble::odd("a message that no query is answered with")),
            }
            others += 1;
            if others > MESSAGES {
                return Err(Trouble::odd("too many messages"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::base::secret::Secret;

    #[test]
    fn a_session_forgets_types_when_a_server_has_ever_more_of_them() {
        const COLUMNS: u32 = 1_500;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        // Names every type that it is asked for.
        let serving = std::thread::spawn(move || {
            let row = [&[0, 2][..], &[0, 0, 0, 4], b"odd!", &[0xff; 4]].concat();
            let rows = message::message(b'D', &row).repeat(COLUMNS as usize);
            let answer = [rows, message::message(b'Z', b"T")].concat();
            let (mut asked, mut part) = (Vec::new(), [0; 4_096]);
            while let Ok(count) = server.read(&mut part)
                && count > 0
            {
                asked.extend_from_slice(&part[..count]);
                if asked.ends_with(b"S\0\0\0\x04") {
                    asked.clear();
                    server.write_all(&answer).unwrap();
                }
            }
        });
        let target = Target {
            host: String::new(),
            addresses: vec![],
            user: String::new(),
            password: Secret::new(""),
            database: String::new(),
            tls: None,
        };
        let mut session = Session {
            target: Arc::new(target),
            leash: Arc::default(),
            stream: BufReader::new(Stream::Plain(socket)),
            version: String::new(),
            types: HashMap::new(),
        };
        for first in [0, COLUMNS, 2 * COLUMNS] {
            let column = |oid| Described { name: String::new(), oid, modifier: -1 };
            let columns: Vec<Described> = (first..first + COLUMNS).map(column).collect();
            assert_eq!(session.types(&columns).unwrap().len(), columns.len());
        }
        assert_eq!(session.types.len(), COLUMNS as usize);
        drop(session);
        serving.join().unwrap();
    }
}
