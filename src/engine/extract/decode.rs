//! Bytes of unknown encoding into text. A byte-order mark decides, then where NULs stand (UTF-16 without a mark), then
//! escapes of ISO-2022-JP, then whether they are UTF-8; an older encoding is taken only where what it yields reads like
//! words, since a wrong guess would be silently wrong.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Letters beyond ASCII that a text of another script has at least.
const LETTERS: usize = 4;
/// Encodings of Latin letters.
const LATIN: [&str; 6] = ["windows-1250", "windows-1254", "windows-1257", "windows-1258", "ISO-8859-2", "ISO-8859-4"];
/// How many bytes tell an encoding.
const LOOK: usize = 1 << 20;

/// The text of bytes that begin with a byte-order mark, which is dropped, or are UTF-16 without one; wrong ones become
/// U+FFFD.
pub(super) fn marked(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let (encoding, mark) = Encoding::for_bom(bytes).or_else(|| Some((wide(bytes)?, 0)))?;
    Some(encoding.decode_without_bom_handling(bytes.get(mark..)?).0)
}

/// What bytes are not: the first that fits no encoding, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongByte {
    pub at: usize,
    /// Whether it is a NUL, which no text contains.
    pub is_nul: bool,
}

/// The text that bytes are, and its encoding.
///
/// # Errors
/// The first byte that is no text.
pub fn text(bytes: &[u8]) -> Result<(Cow<'_, str>, &'static str), WrongByte> {
    let wrong = |at| WrongByte { at, is_nul: bytes.get(at) == Some(&0) };
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(mark..).unwrap_or_default();
        return strict(encoding, rest).map_err(|at| wrong(mark + at));
    }
    if let Some(encoding) = wide(bytes) {
        return strict(encoding, bytes).map_err(wrong);
    }
    if is_switched(bytes)
        && let Ok(found) = strict(ISO_2022_JP, bytes)
    {
        return Ok(found);
    }
    let at = match std::str::from_utf8(bytes) {
        Ok(text) => return text.find('\0').map_or(Ok((Cow::Borrowed(text), "UTF-8")), |at| Err(wrong(at))),
        Err(problem) => problem.valid_up_to(),
    };
    if let Some(nul) = bytes.iter().position(|byte| *byte == 0) {
        return Err(wrong(nul.min(at)));
    }
    let encoding = older(bytes);
    match strict(encoding, bytes) {
        Ok((text, name)) if is_plausible(&text, encoding) => Ok((text, name)),
        _ => Err(wrong(at)),
    }
}

/// UTF-16 without a mark: every other byte of a text of Latin letters is NUL.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(512) & !1)?;
    let nuls = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second, pairs) = (nuls(0), nuls(1), head.len() / 2);
    let mostly = |nuls: usize, others: usize| pairs >= 4 && nuls * 10 > pairs * 7 && others == 0;
    match (mostly(second, first), mostly(first, second)) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

/// Whether bytes are ASCII, and so UTF-8, that goes over to letters of Japanese (ISO-2022-JP, RFC 1468).
pub(super) fn is_switched(bytes: &[u8]) -> bool {
    let head = bytes.get(..LOOK).unwrap_or(bytes);
    head.is_ascii() && head.windows(3).any(|window| matches!(window, b"\x1b$B" | b"\x1b$@"))
}

/// The likeliest encoding of before Unicode.
pub(super) fn older(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes.get(..LOOK).unwrap_or(bytes), true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // A few letters tell no Latin encoding from another: the most common of them is it.
    let letters = bytes.iter().filter(|byte| !byte.is_ascii()).take(LETTERS).count();
    if letters < LETTERS && LATIN.contains(&guess.name()) { WINDOWS_1252 } else { guess }
}

/// The whole, or where it is wrong.
fn strict<'b>(encoding: &'static Encoding, bytes: &'b [u8]) -> Result<(Cow<'b, str>, &'static str), usize> {
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) if !text.contains('\0') => Ok((text, encoding.name())),
        Some(text) => {
            let before = text.find('\0').and_then(|at| text.get(..at)).unwrap_or_default();
            Err(if encoding == UTF_16LE || encoding == UTF_16BE {
                before.encode_utf16().count() * 2
            } else {
                before.len()
            })
        }
        None if encoding == UTF_8 => {
            Err(std::str::from_utf8(bytes).map_or_else(|problem| problem.valid_up_to(), str::len))
        }
        None => Err(0),
    }
}

/// Whether it reads like words: letters with accents stand by plain ones, and those of other scripts are many.
fn is_plausible(text: &str, encoding: &'static Encoding) -> bool {
    let (mut letters, mut lone, mut odd) = (0_usize, 0_usize, 0_usize);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_ascii() {
            let beside = before.is_ascii_alphabetic() || rest.peek().is_some_and(char::is_ascii_alphabetic);
            match c.is_alphabetic() {
                true if beside => letters += 1,
                true => (letters, lone) = (letters + 1, lone + 1),
                // Quotes, dashes, signs of money and units are what Windows' encoding was made for.
                false if c.is_control() => odd += 1,
                false => {}
            }
        }
        before = c;
    }
    let is_latin = encoding == WINDOWS_1252 || text.chars().filter(|c| c.is_alphabetic()).all(|c| c < '\u{250}');
    let is_worded = if is_latin { lone * 2 <= letters } else { letters >= LETTERS };
    is_worded && odd == 0 && (!is_latin || letters > 0 || text.chars().any(|c| !c.is_ascii() && !c.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found_out() {
        let words = "Größe und Maß: 12 €, naïve façade – “fin”";
        let (utf16le, utf16be): (Vec<u8>, Vec<u8>) = (
            words.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            words.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        );
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        let windows = encoding_rs::WINDOWS_1252.encode(words).0.into_owned();
        for (bytes, name) in [
            (words.as_bytes().to_vec(), "UTF-8"),
            (marked(b"\xef\xbb\xbf", words.as_bytes()), "UTF-8"),
            (marked(b"\xff\xfe", &utf16le), "UTF-16LE"),
            (marked(b"\xfe\xff", &utf16be), "UTF-16BE"),
            (utf16le, "UTF-16LE"),
            (utf16be, "UTF-16BE"),
            (windows, "windows-1252"),
        ] {
            let found = text(&bytes).map(|(text, name)| (text.into_owned(), name));
            assert_eq!(found, Ok((words.to_owned(), name)), "{name}");
        }
        let russian = "Каждая книга стоит на своём месте, и каждая из них прочитана.";
        let bytes = encoding_rs::WINDOWS_1251.encode(russian).0.into_owned();
        assert_eq!(text(&bytes).unwrap().0, russian);
        let japanese = "すべての人間は、生まれながらにして自由である。";
        let bytes = encoding_rs::SHIFT_JIS.encode(japanese).0.into_owned();
        assert_eq!(text(&bytes).unwrap().0, japanese);
        let switched = b"\x1b$B$9$Y$F\x1b(B all";
        assert_eq!(text(switched).unwrap(), (Cow::Borrowed("すべて all"), "ISO-2022-JP"));
        let coloured = b"\x1b[31mred\x1b[0m";
        assert_eq!(text(coloured).unwrap().1, "UTF-8");
    }

    #[test]
    fn what_reads_like_nothing_is_wrong_where_it_is() {
        for (bytes, at, is_nul) in [
            (&b"one\ntwo \xff"[..], 8, false),
            (b"id,name\n1,a\n2,\xff\xfe\n", 14, false),
            (b"a\n\nb\0c", 4, true),
            (b"\xef\xbb\xbfok \xc3", 6, false),
        ] {
            assert_eq!(text(bytes).unwrap_err(), WrongByte { at, is_nul }, "{bytes:?}");
        }
    }
}
