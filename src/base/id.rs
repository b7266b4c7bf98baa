//! Typed identifiers: UUIDv7 (RFC 9562 §5.7), so that ids sort by creation time and never mix kinds.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::base::clock::Clock;

/// The id of one `T`; as text it is the hyphenated lower-case UUID, which is also how the metadata stores it.
pub struct Id<T>(Uuid, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// A fresh id stamped with the clock's time.
    pub fn new(clock: &Clock) -> Self {
        let random = crate::base::secret::random_bytes::<10>();
        let millis = u64::try_from(clock.now()).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid(), PhantomData)
    }

    /// The raw UUID, for engines that key by it.
    pub fn uuid(&self) -> Uuid {
        self.0
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The text is not an id; carries nothing of the text, which may be hostile.
#[derive(Debug, thiserror::Error)]
#[error("not an id: expected a UUID")]
pub struct NotAnId;

impl<T> FromStr for Id<T> {
    type Err = NotAnId;

    /// Accepts the hyphenated form only, in either case (RFC 9562 §4: written in lower case, read in any). Whoever
    /// keeps or compares an id does so with what was read, never with the text: that has one spelling.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let uuid = Uuid::try_parse(text).map_err(|_| NotAnId)?;
        let written = uuid.hyphenated().to_string();
        if written.eq_ignore_ascii_case(text) { Ok(Self(uuid, PhantomData)) } else { Err(NotAnId) }
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<T> schemars::JsonSchema for Id<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Id".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "uuid" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing;

    #[test]
    fn ids_sort_by_time_and_survive_text() {
        let clock = Clock::manual(1_700_000_000_000);
        let first = Id::<Thing>::new(&clock);
        clock.advance(std::time::Duration::from_millis(1));
        let second = Id::<Thing>::new(&clock);
        assert!(first < second);
        assert_eq!(first.to_string().parse::<Id<Thing>>().unwrap(), first);
    }

    #[test]
    fn other_spellings_of_an_id_are_refused() {
        for text in [
            "",
            "1",
            "../etc/passwd",
            "0190a3c2000070008000000000000000",
            "{0190a3c2-0000-7000-8000-000000000000}",
            "urn:uuid:0190a3c2-0000-7000-8000-000000000000",
            " 0190a3c2-0000-7000-8000-000000000000",
        ] {
            assert!(text.parse::<Id<Thing>>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_read_in_any_case_and_written_in_lower_case() {
        let id: Id<Thing> = "0190A3C2-0000-7000-8000-0000000000fF".parse().unwrap();
        assert_eq!(id, "0190a3c2-0000-7000-8000-0000000000ff".parse().unwrap());
        assert_eq!(id.to_string(), "0190a3c2-0000-7000-8000-0000000000ff");
    }
}
