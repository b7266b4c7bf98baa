//! A quote that is never closed takes the rest of a text file for one value: the reader then finds a file of one column,
//! and says nothing.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::json;

use super::instance::internal;
use crate::model::error::{Error, Result};

/// What separates values.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// Refuses a file whose only column is called by a whole line of separated names, and says in which line a quote stands
/// alone.
pub(super) fn refuse(path: &Path, names: &[String], quote: char) -> Result<()> {
    let [name] = names else { return Ok(()) };
    let Some(separator) = SEPARATORS.iter().find(|sign| name.contains(**sign)) else { return Ok(()) };
    let lines = BufReader::new(File::open(path).map_err(|cause| internal(&cause))?).split(b'\n');
    for (at, line) in (1_u64..).zip(lines) {
        let line = line.map_err(|cause| internal(&cause))?;
        let line = String::from_utf8_lossy(&line);
        // A name in quotes may have any sign in it.
        if at == 1 && line.trim_start_matches('\u{feff}').starts_with(quote) {
            return Ok(());
        }
        if line.chars().filter(|sign| *sign == quote).count() % 2 == 1 {
            let said = match separator {
                '\t' => "tabs".to_owned(),
                sign => format!("‘{sign}’"),
            };
            let message = format!(
                "Line {at} has a quote ({quote}) that is not closed in it, so that the whole file is one column. The first \
                 line has names between {said}. Close the quote, or double it where it belongs to the value."
            );
            return Err(Error::invalid("file", message).with(json!({ "field": "file", "line": at })));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_of_names_that_a_lone_quote_made_one_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = |text: &str, name: &str| {
            std::fs::write(file.path(), text).unwrap();
            refuse(file.path(), &[name.to_owned()], '"').map_err(|error| error.details["line"].as_u64().unwrap())
        };
        let whole = "shop,town\nNorth,Graz\n";
        assert_eq!(refused(&format!("{whole}South,\"Linz\nEast,Wien\n"), "shop,town"), Err(3));
        assert_eq!(refused(whole, "shop,town"), Ok(()));
        assert_eq!(refused("\"shop,town\"\n\"a \"\n b\"\n", "shop,town"), Ok(()));
        assert_eq!(refused("note\nShe said \"no\n", "note"), Ok(()));
    }
}
