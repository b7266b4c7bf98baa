//! Parameters of queries and forms, read strictly: what is not well-formed is refused, never repaired, and a repeated
//! name is seen (RFC 6749 §3.1: parameters MUST NOT be included more than once).

use axum::body::Body;
use axum::http::{HeaderMap, header};

use crate::base::shares::Share;
use crate::model::error;
use crate::surface::body::{self, Unread};

/// How much a query or form may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub bytes: usize,
    pub params: usize,
}

impl Size {
    /// Queries, and forms of short answers (A27, C14).
    pub const SHORT: Size = Size { bytes: 16 << 10, params: 64 };
    /// Forms of signed-in people that hold a statement, what was said before, or texts and boxes for each column.
    pub const LONG: Size = Size { bytes: 4 << 20, params: 1_200 };
    /// Forms of signed-in people that hold an ontology, each byte percent-encoded at worst, or a box for each table
    /// and answers about them.
    pub const DOCUMENT: Size = Size { bytes: 31 << 20, params: 1_200 };
}

/// Decoded parameters in their order.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

/// Why parameters could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("the parameters are too long or too many")]
    TooLarge,
    #[error("the parameters are not well-formed")]
    Malformed,
    #[error("the body must be application/x-www-form-urlencoded")]
    ContentType,
    #[error("the parameters did not arrive in time")]
    Late,
}

impl FormError {
    pub fn status(self) -> u16 {
        match self {
            FormError::TooLarge => 413,
            FormError::Malformed => 400,
            FormError::ContentType => 415,
            FormError::Late => 408,
        }
    }
}

impl Params {
    /// Reads `application/x-www-form-urlencoded`.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        Self::parse_within(text, Size::SHORT)
    }

    fn parse_within(text: &str, size: Size) -> Result<Self, FormError> {
        if text.len() > size.bytes {
            return Err(FormError::TooLarge);
        }
        let mut params = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if params.len() == size.params {
                return Err(FormError::TooLarge);
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            params.push((decode(name)?, decode(value)?));
        }
        Ok(Self(params))
    }

    /// Reads a body after its content type; no more bytes are read than [`Size::SHORT`] allows.
    pub async fn of_body(headers: &HeaderMap, body: Body) -> Result<Self, FormError> {
        Self::of_body_within(headers, body, Size::SHORT).await
    }

    /// As [`Params::of_body`], within another size.
    pub async fn of_body_within(headers: &HeaderMap, body: Body, size: Size) -> Result<Self, FormError> {
        if !is_form(headers) {
            return Err(FormError::ContentType);
        }
        match body::whole(body, size.bytes).await {
            Ok(bytes) => Self::of_bytes(&bytes, size),
            Err(Unread::TooLarge) => Err(FormError::TooLarge),
            Err(Unread::Late) => Err(FormError::Late),
            Err(Unread::Broken) => Err(FormError::Malformed),
        }
    }

    /// As [`Params::of_body_within`]; `place` as in [`body::large`].
    ///
    /// # Errors
    /// That of `place`.
    pub async fn of_large_body(
        headers: &HeaderMap,
        body: Body,
        size: Size,
        place: impl FnOnce() -> error::Result<Share>,
    ) -> error::Result<Result<Self, FormError>> {
        if !is_form(headers) {
            return Ok(Err(FormError::ContentType));
        }
        Ok(match body::large(headers, body, size.bytes, place).await {
            Ok(bytes) => Self::of_bytes(&bytes, size),
            Err(Unread::TooLarge) => Err(FormError::TooLarge),
            Err(Unread::Late) => Err(FormError::Late),
            Err(Unread::Broken) => Err(FormError::Malformed),
            Err(Unread::NoPlace(error)) => return Err(error),
        })
    }

    /// Reads a body that has come as a whole.
    pub fn of_bytes(bytes: &[u8], size: Size) -> Result<Self, FormError> {
        Self::parse_within(std::str::from_utf8(bytes).map_err(|_| FormError::Malformed)?, size)
    }

    /// The value of a parameter; an empty one counts as absent (RFC 6749 §3.1).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, v)| n == name && !v.is_empty()).map(|(_, value)| value.as_str())
    }

    /// Every non-empty value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(n, v)| n == name && !v.is_empty()).map(|(_, value)| value.as_str())
    }

    /// All parameters in their order, those with an empty value too.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether one of `names` appears more than once.
    pub fn repeats(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.iter().filter(|(n, _)| n == name).count() > 1)
    }

    /// As a form would have sent them.
    pub fn of<const N: usize>(pairs: [(&str, String); N]) -> Self {
        Self(pairs.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// These parameters and then `more`.
    #[must_use]
    pub fn and(mut self, more: Params) -> Self {
        self.0.extend(more.0);
        self
    }

    /// As a query, without the parameters named in `dropped`.
    pub fn query_without(&self, dropped: &[&str]) -> String {
        let kept = self.0.iter().filter(|(name, _)| !dropped.contains(&name.as_str()));
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).finish()
    }
}

/// Whether a body is said to be a form, once.
pub fn is_form(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let essence = types.next().and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = essence.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") && types.next().is_none()
}

/// Decodes one value of a form.
///
/// # Errors
/// [`FormError::Malformed`].
pub fn decode(text: &str) -> Result<String, FormError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let (digits, after) = rest.split_at_checked(2).ok_or(FormError::Malformed)?;
                rest = after;
                let mut byte = [0];
                hex::decode_to_slice(digits, &mut byte).map_err(|_| FormError::Malformed)?;
                byte[0]
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(FormError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c14_what_is_malformed_is_refused_not_repaired() {
        for bad in ["a=%", "a=%2", "a=%zz", "a=%ff", "a=%00", "%c3%28=x", "a=%+1"] {
            assert_eq!(Params::parse(bad).unwrap_err(), FormError::Malformed, "{bad}");
        }
        assert_eq!(Params::parse(&"a=1&".repeat(65)).unwrap_err(), FormError::TooLarge);
        assert_eq!(Params::parse(&"a".repeat(Size::SHORT.bytes + 1)).unwrap_err(), FormError::TooLarge);
    }

    #[test]
    fn values_are_decoded_and_empty_ones_are_absent() {
        let params = Params::parse("scope=a+b%2Bc&state=&x&%C3%A9=%C3%A9").unwrap();
        assert_eq!(params.get("scope"), Some("a b+c"));
        assert_eq!(params.get("state"), None);
        assert_eq!(params.get("x"), None);
        assert_eq!(params.get("é"), Some("é"));
    }

    #[test]
    fn c11_repetition_is_seen_even_when_one_is_empty() {
        let params = Params::parse("code=1&code=&x=1&x=2").unwrap();
        assert!(params.repeats(&["code"]));
        assert!(!params.repeats(&["state"]));
    }

    #[test]
    fn a_query_is_written_back_without_what_was_dropped() {
        let params = Params::parse("a=1+2&prompt=login&b=%26").unwrap();
        assert_eq!(params.query_without(&["prompt"]), "a=1+2&b=%26");
    }
}
