//! Values of a message as they may be: of any type, whatever the protocol has there.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Characters of an id, and of a token of progress.
const ID: usize = 256;

/// A text that can stand in a line of a log as it is.
pub(super) fn is_plain(text: &str, most: usize) -> bool {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().nth(most).is_none() && !text.chars().any(breaks)
}

/// Whatever stands in the place of a value; of lists and the like nothing is kept, however large they are.
#[derive(Debug, Default)]
pub(super) enum Any<T = IgnoredAny> {
    #[default]
    Absent,
    Null,
    Text(String),
    Whole(i64),
    Object(T),
    Other,
}

impl<T> Any<T> {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Some clients write `null` for none.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }

    pub(super) fn is_id(&self) -> bool {
        match self {
            Self::Text(text) => is_plain(text, ID),
            Self::Whole(_) => true,
            _ => false,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor(PhantomData))
    }
}

struct AnyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AnyVisitor<T> {
    type Value = Any<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Any<T>, E> {
        Ok(Any::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Any<T>, E> {
        Ok(Any::Other)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Any<T>, E> {
        Ok(Any::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Any<T>, E> {
        Ok(i64::try_from(number).map_or(Any::Other, Any::Whole))
    }

    /// `1.0` is a whole number to the library too, as far as a float tells it from its neighbours.
    fn visit_f64<E>(self, number: f64) -> Result<Any<T>, E> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        Ok(if number.fract() == 0.0 && number.abs() < EXACT { Any::Whole(number as i64) } else { Any::Other })
    }

    fn visit_str<E>(self, text: &str) -> Result<Any<T>, E> {
        Ok(Any::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Any<T>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Any::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Any<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Any::Object)
    }
}
