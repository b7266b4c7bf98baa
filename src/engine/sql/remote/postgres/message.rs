//! Messages of the frontend/backend protocol, version 3 (PostgreSQL documentation, chapter "Frontend/Backend
//! Protocol"). The server is a stranger: a workspace names it, and what it sends is bounded before it is allocated.

use std::io::{self, Read};

use super::Trouble;

/// How much is allocated ahead of the bytes that arrive.
const STEP: u64 = 64 << 10;

/// A message of the server: its type, and what follows the length.
#[derive(Debug)]
pub(super) struct Message {
    pub tag: u8,
    pub body: Vec<u8>,
}

/// Reads one message whose body has at most `most` bytes.
pub(super) fn read(from: &mut impl Read, most: usize) -> Result<Message, Trouble> {
    let mut head = [0; 5];
    from.read_exact(&mut head).map_err(Trouble::Lost)?;
    let [tag, length @ ..] = head;
    let length = u32::from_be_bytes(length).checked_sub(4).ok_or_else(|| Trouble::odd("a length below four"))?;
    if usize::try_from(length).map_or(true, |length| length > most) {
        return Err(if tag == b'D' { Trouble::RowTooLong } else { Trouble::odd("a message that is too long") });
    }
    let mut body = Vec::with_capacity(usize::try_from(u64::from(length).min(STEP)).unwrap_or_default());
    let read = from.take(length.into()).read_to_end(&mut body).map_err(Trouble::Lost)?;
    if read != length as usize {
        return Err(Trouble::Lost(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(Message { tag, body })
}

/// A message to the server. A length that does not fit is no message: nothing that is sent comes near it.
pub(super) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(untagged(body));
    bytes
}

/// A message from before the server knows who speaks: it has no type.
pub(super) fn untagged(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), body].concat()
}

/// A text with the zero that ends it. A zero inside would end it early, so that there must be none.
pub(super) fn text(text: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    bytes.push(0);
    bytes
}

/// Reads a message's fields one after the other.
pub(super) struct Fields<'a>(pub &'a [u8]);

fn ends_early() -> Trouble {
    Trouble::odd("a message that ends early")
}

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Trouble> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(ends_early)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Trouble> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(ends_early)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Trouble> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn short(&mut self) -> Result<i16, Trouble> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(super) fn int(&mut self) -> Result<i32, Trouble> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// A text up to its zero.
    pub(super) fn text(&mut self) -> Result<String, Trouble> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(|| Trouble::odd("a text without an end"))?;
        let text = String::from_utf8_lossy(self.bytes(end)?).into_owned();
        self.byte()?;
        Ok(text)
    }
}

/// A column as the server describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub name: String,
    /// The type's object id, and what modifies it (a width, a precision).
    pub oid: u32,
    pub modifier: i32,
}

/// `RowDescription`.
pub(super) fn columns(body: &[u8]) -> Result<Vec<Described>, Trouble> {
    let mut fields = Fields(body);
    let count = fields.short()?;
    let mut columns = Vec::new();
    for _ in 0..count {
        let name = fields.text()?;
        // The table and the column that it comes from.
        fields.bytes(6)?;
        let oid = fields.int()?.cast_unsigned();
        fields.bytes(2)?;
        let modifier = fields.int()?;
        fields.bytes(2)?;
        columns.push(Described { name, oid, modifier });
    }
    Ok(columns)
}

/// `DataRow`, its values as text.
pub(super) fn row(body: &[u8]) -> Result<Vec<Option<String>>, Trouble> {
    let mut fields = Fields(body);
    let count = fields.short()?;
    let mut values = Vec::new();
    for _ in 0..count {
        let length = fields.int()?;
        values.push(match usize::try_from(length) {
            Ok(length) => Some(String::from_utf8_lossy(fields.bytes(length)?).into_owned()),
            Err(_) => None,
        });
    }
    Ok(values)
}

/// An error that the server reports (`ErrorResponse`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    /// Five characters (PostgreSQL documentation, appendix "PostgreSQL Error Codes").
    pub code: String,
    pub message: String,
}

impl ServerError {
    pub(super) fn read(body: &[u8]) -> Result<Self, Trouble> {
        let mut fields = Fields(body);
        let mut error = Self::default();
        loop {
            match fields.byte()? {
                0 => return Ok(error),
                b'C' => error.code = fields.text()?,
                b'M' => error.message = fields.text()?,
                _ => drop(fields.text()?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_the_wire_and_a_long_one_is_refused_before_it_is_read() {
        let sent = message(b'Z', b"T");
        assert_eq!(sent, [b'Z', 0, 0, 0, 5, b'T']);
        let got = read(&mut sent.as_slice(), 1).unwrap();
        assert_eq!((got.tag, got.body.as_slice()), (b'Z', b"T".as_slice()));
        assert!(matches!(read(&mut sent.as_slice(), 0), Err(Trouble::Odd(_))));
        assert!(matches!(read(&mut [b'D', 0xff, 0xff, 0xff, 0xff].as_slice(), 1 << 20), Err(Trouble::RowTooLong)));
        assert!(matches!(read(&mut [b'Z', 0, 0, 0, 3].as_slice(), 10), Err(Trouble::Odd(_))));
        assert!(matches!(read(&mut [b'Z', 0, 0, 0, 9, 1].as_slice(), 10), Err(Trouble::Lost(_))));
    }

    #[test]
    fn fields_that_end_early_are_odd_and_never_a_panic() {
        let row_of_one = [0, 1, 0, 0, 0, 2, b'o', b'k'];
        assert_eq!(row(&row_of_one).unwrap(), [Some("ok".to_owned())]);
        assert_eq!(row(&[0, 1, 0xff, 0xff, 0xff, 0xff]).unwrap(), [None]);
        for end in 0..row_of_one.len() {
            assert!(row(&row_of_one[..end]).is_err(), "{end}");
        }
        let column = [&[0, 1][..], b"n\0", &[0; 6], &[0, 0, 0, 23], &[0, 4], &[0xff; 4], &[0, 0]].concat();
        assert_eq!(columns(&column).unwrap(), [Described { name: "n".into(), oid: 23, modifier: -1 }]);
        for end in 0..column.len() {
            assert!(columns(&column[..end]).is_err(), "{end}");
        }
        let error = ServerError::read(b"SERROR\0C42601\0Msyntax\0\0").unwrap();
        assert_eq!((error.code.as_str(), error.message.as_str()), ("42601", "syntax"));
        assert!(ServerError::read(b"C42601\0M").is_err());
    }
}
