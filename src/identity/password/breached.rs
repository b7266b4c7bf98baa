//! Passwords that attackers try first: a built-in list of common ones, and a local file of breached ones when the
//! operator has one. Nothing is asked of anybody outside.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::base::secret::sha1_hex_upper;

/// Lines sorted by their bytes; the slices point into the program itself.
static COMMON: LazyLock<Vec<&'static str>> = LazyLock::new(|| include_str!("common.txt").lines().collect());

/// Bytes that hold any line of the file: 40 digits, a colon, a count, the line's end.
const LINE: usize = 80;
/// Hex digits of a SHA-1.
const DIGITS: usize = 40;

/// Whether a password in lower case is one that many people use.
pub(super) fn is_common(folded: &str) -> bool {
    COMMON.binary_search(&folded).is_ok()
}

/// A file as Have I Been Pwned publishes it: a line for each password, its SHA-1 in upper-case hex, a colon and a count,
/// sorted by the hash. It has tens of gigabytes, so it is searched where it lies.
#[derive(Clone, Debug)]
pub(crate) struct Breached(Arc<File>);

impl Breached {
    /// Opens the file.
    ///
    /// # Errors
    /// It cannot be read, or its first line is not of the form.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let breached = Self(Arc::new(File::open(path)?));
        match breached.line(0)? {
            Some(_) => Ok(breached),
            None => Err(form()),
        }
    }

    /// Whether the file has this password. Blocks: about 40 small reads.
    ///
    /// # Errors
    /// The file cannot be read, or what was read is not of the form.
    pub(crate) fn has(&self, password: &str) -> io::Result<bool> {
        let wanted = sha1_hex_upper(password.as_bytes());
        // The line is in the file's part from `low` to `high`; `low` is the start of a line.
        let (mut low, mut high) = (0, self.0.metadata()?.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = if middle == low { low } else { self.next_start(middle)? };
            let found = if start < high { self.line(start)? } else { None };
            let Some((hash, length)) = found else {
                // No line starts in the upper half.
                high = middle;
                continue;
            };
            match hash.cmp(&wanted) {
                std::cmp::Ordering::Equal => return Ok(true),
                std::cmp::Ordering::Less => low = start + length,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(false)
    }

    /// Where the first line starts that does not start before `at`, which is not the start of the file.
    fn next_start(&self, at: u64) -> io::Result<u64> {
        let from = at - 1;
        let bytes = self.read(from)?;
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => Ok(from + end as u64 + 1),
            None if bytes.len() < LINE => Ok(from + bytes.len() as u64),
            None => Err(form()),
        }
    }

    /// The hash of the line at `start`, and the line's length with its end; `None` at the end of the file.
    fn line(&self, start: u64) -> io::Result<Option<(String, u64)>> {
        let bytes = self.read(start)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let length = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        let (hash, rest) = bytes.split_at_checked(DIGITS).ok_or_else(form)?;
        let plain = hash.iter().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte));
        if length == LINE || !plain || rest.first() != Some(&b':') {
            return Err(form());
        }
        let hash = String::from_utf8(hash.to_vec()).map_err(|_| form())?;
        Ok(Some((hash, length as u64)))
    }

    fn read(&self, at: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; LINE];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, at + filled as u64)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

fn form() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "expected lines of 40 upper-case hex digits, ':' and a count, sorted")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_built_in_list_is_sorted_folded_and_has_what_everybody_takes() {
        assert!(COMMON.is_sorted(), "it is searched by halves");
        assert!(COMMON.len() > 10_000);
        assert!(COMMON.iter().all(|line| line.chars().count() >= 8 && *line == line.to_lowercase()));
        for common in ["password", "12345678", "password1", "iloveyou", "qwertyuiop"] {
            assert!(is_common(common), "{common}");
        }
        for rare in ["", "passwor", "correct horse battery", "zzzzzzzzzzzzzzzzzzzzzz", "\u{10ffff}"] {
            assert!(!is_common(rare), "{rare}");
        }
    }

    fn file(lines: &[String], end: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.join(end).as_bytes()).unwrap();
        file
    }

    #[test]
    fn every_line_of_a_file_is_found_and_nothing_else() {
        for (count, end, last) in [(1, "\n", false), (2, "\r\n", true), (3, "\n", true), (1000, "\r\n", false)] {
            let password = |at: usize| format!("password number {at}");
            let mut lines: Vec<String> = (0..count)
                .map(|at| format!("{}:{}", sha1_hex_upper(password(at).as_bytes()), 10_u64.pow((at % 12) as u32)))
                .collect();
            lines.sort();
            if last {
                lines.push(String::new());
            }
            let file = file(&lines, end);
            let breached = Breached::open(file.path()).unwrap();
            for at in 0..count {
                assert!(breached.has(&password(at)).unwrap(), "{at} of {count}");
            }
            for at in count..count + 200 {
                assert!(!breached.has(&password(at)).unwrap(), "{at} of {count}");
            }
        }
    }

    #[test]
    fn what_is_not_such_a_file_is_refused() {
        let hash = sha1_hex_upper(b"x");
        for bad in ["", "\n", "password\n", &hash, &hash.to_lowercase(), &format!("{hash}:{}\n", "9".repeat(100))] {
            let file = file(&[bad.to_owned()], "\n");
            assert!(Breached::open(file.path()).is_err(), "{bad:?}");
        }
        assert!(Breached::open(Path::new("/nowhere")).is_err());
    }
}
