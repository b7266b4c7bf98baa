//! Reads the engine's JSON without a limit of depth. `serde_json` stops at 128 levels, which a concatenation of forty
//! terms exceeds; here the depth is bounded by [`MAX_DEPTH`], and the worker's stack is sized for it.

use serde_json::{Map, Value};

/// More than any text of the allowed length can reach through legitimate use; far below what the stack holds.
const MAX_DEPTH: usize = 2_000;

/// Parses one JSON value.
///
/// # Errors
/// What was found instead of JSON. The engine writes the text, so that this means a changed engine.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at == text.len() { Ok(value) } else { Err(format!("text after the value at byte {}", reader.at)) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.text.as_bytes().get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, expected: u8) -> Result<(), String> {
        if self.peek() == Some(expected) {
            self.at += 1;
            return Ok(());
        }
        Err(format!("expected {:?} at byte {}", char::from(expected), self.at))
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("nested too deeply".into());
        }
        match self.peek() {
            Some(b'{') => {
                let mut map = Map::new();
                self.items(b'{', b'}', |reader| {
                    let key = reader.string()?;
                    reader.take(b':')?;
                    let value = reader.value(depth + 1)?;
                    match map.insert(key, value) {
                        None => Ok(()),
                        Some(_) => Err("a key is written twice".into()),
                    }
                })?;
                Ok(Value::Object(map))
            }
            Some(b'[') => {
                let mut list = Vec::new();
                self.items(b'[', b']', |reader| {
                    list.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Value::Array(list))
            }
            Some(b'"') => Ok(Value::String(self.string()?)),
            _ => self.scalar(),
        }
    }

    fn items(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.take(open)?;
        if self.peek() == Some(close) {
            return self.take(close);
        }
        loop {
            item(self)?;
            if self.peek() != Some(b',') {
                return self.take(close);
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.take(b'"')?;
        let (start, bytes) = (self.at - 1, self.text.as_bytes());
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err("a string without an end".into()),
            }
        }
        self.at += 1;
        let token = self.text.get(start..self.at).ok_or("a string that splits a character")?;
        serde_json::from_str(token).map_err(|problem| problem.to_string())
    }

    fn scalar(&mut self) -> Result<Value, String> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find([',', '}', ']', ' ', '\n', '\t', '\r']).unwrap_or(rest.len());
        self.at += end;
        serde_json::from_str(&rest[..end]).map_err(|problem| format!("{problem} at byte {start}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_serde_json_reads() {
        for text in [
            r#"{"a": [1, -2.5, 1e3, true, false, null], "b\n\"\u00e9": "x\\y{}[],:", "c": {}, "d": []}"#,
            r#" [ "é\"" , { } ] "#,
            "0",
            r#""""#,
        ] {
            assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1", "[1,]", r#"{"a" 1}"#, r#""x"#, r#""x\"#, "1 2", r#"{"a":1,"a":2}"#, "nul", "[1}"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_deeper_than_serde_json_but_not_without_end() {
        // As in a worker, whose stack is made for it.
        let deep = || {
            let nest = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
            assert!(parse(&nest(1_000)).is_ok());
            assert!(parse(&nest(3_000)).is_err());
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(deep).unwrap().join().unwrap();
    }
}
