//! JSON's size, without building it.

use std::io;

use serde::Serialize;

/// How many bytes a value has as JSON.
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
