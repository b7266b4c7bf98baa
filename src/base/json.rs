//! What is often done with JSON.

use std::collections::HashSet;
use std::{fmt, io};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Gives an object a member, in place of one of the same name. Whatever is no object stays as it is.
pub(crate) fn put(object: &mut Value, name: &str, member: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), member.into());
    }
}

/// Every object in a value, itself included, in no order that means anything.
pub(crate) fn objects(value: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        loop {
            match open.pop()? {
                Value::Array(list) => open.extend(list),
                Value::Object(map) => {
                    open.extend(map.values());
                    return Some(map);
                }
                _ => {}
            }
        }
    })
}

/// How many bytes a value has as JSON, without building it.
///
/// # Errors
/// It has no JSON form.
pub fn size(value: &(impl Serialize + ?Sized)) -> serde_json::Result<usize> {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}

/// Takes bytes and keeps their number.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first name that an object within some JSON has twice. Some readers take the first of its values, some the last.
#[derive(Debug)]
pub(crate) struct Twice(pub Option<String>);

impl<'de> Deserialize<'de> for Twice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Names).map(Self)
    }
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<String>, A::Error> {
        let mut twice = None;
        while let Some(Twice(within)) = list.next_element()? {
            twice = twice.or(within);
        }
        Ok(twice)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let (mut names, mut twice) = (HashSet::new(), None);
        while let Some((name, Twice(within))) = map.next_entry::<String, Twice>()? {
            twice = twice.or(within).or_else(|| names.replace(name));
        }
        Ok(twice)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Twice, objects, size};

    #[test]
    fn a_name_that_is_there_twice_is_found_at_any_depth() {
        for (text, twice) in [
            (r#"{"a":1,"b":{"a":[]},"c":[{"a":null},{"a":-1.5}]}"#, None),
            (r#"{"a":1,"b":2,"a":1}"#, Some("a")),
            (r#"[true,{"a":[{"b":{},"\u0062":""}]}]"#, Some("b")),
        ] {
            let Twice(found) = serde_json::from_str(text).unwrap();
            assert_eq!(found.as_deref(), twice, "{text}");
        }
    }

    #[test]
    fn every_object_is_found_once() {
        let value = json!([{ "at": 1, "in": [{ "at": 2 }, [{ "at": 3 }]] }, "text", { "at": 4, "in": { "at": 5 } }]);
        let mut found: Vec<_> = objects(&value).filter_map(|object| object.get("at")?.as_u64()).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_size_is_the_length_of_the_text() {
        for value in [json!(null), json!("é\"\n"), json!({ "a": [1, 0.5, "x"], "b": { "c": [] } })] {
            assert_eq!(size(&value).unwrap(), value.to_string().len());
        }
    }
}
