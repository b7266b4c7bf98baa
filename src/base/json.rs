//! What is often done with JSON.

use std::io;

use serde::Serialize;
use serde_json::Value;

/// Gives an object a member, in place of one of the same name. Whatever is no object stays as it is.
pub(crate) fn put(object: &mut Value, name: &str, member: impl Into<Value>) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), member.into());
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::size;

    #[test]
    fn a_size_is_the_length_of_the_text() {
        for value in [json!(null), json!("é\"\n"), json!({ "a": [1, 0.5, "x"], "b": { "c": [] } })] {
            assert_eq!(size(&value).unwrap(), value.to_string().len());
        }
    }
}
