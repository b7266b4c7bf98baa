//! Rich Text Format (1.9.1): groups, control words, and text in whatever code page the font has.

mod page;

use encoding_rs::Encoding;

use super::budget::Budget;
use super::numbers::MARK;
use super::tables::Tables;
use super::write::Text;
use super::{Extracted, broken};
use crate::model::document::Facts;
use crate::model::error::Result;

/// Groups within groups.
const DEPTH: usize = 2_000;

/// Groups that hold no text of the document.
const SKIPPED: &[&str] = &[
    "fonttbl", "colortbl", "stylesheet", "listtable", "listoverridetable", "pict", "sp", "object", "themedata",
    "datastore", "colorschememapping", "latentstyles", "rsidtbl", "xmlnstbl", "generator", "filetbl", "revtbl",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "fldinst", "pntxta",
    "pntxtb", "bkmkstart", "bkmkend", "nonshppict", "annotation", "atnid", "atnauthor", "ftnsep", "ftnsepc", "aftnsep",
    "xe", "tc", "userprops", "mmathPr", "template", "private", "operator", "company", "author", "subject", "keywords",
    "comment", "doccomm", "creatim", "revtim", "printim", "buptim",
];

/// What a group says of its text; its end takes it back.
#[derive(Clone)]
struct State {
    encoding: &'static Encoding,
    is_skipped: bool,
    is_title: bool,
    is_mark: bool,
    is_fonts: bool,
    is_hidden: bool,
    /// Characters that stand for one of Unicode, for readers that know none.
    fallback: usize,
    level: Option<usize>,
    item: Option<usize>,
    in_table: bool,
}

struct Reader<'t, 'b> {
    out: &'t mut Text<'b>,
    state: State,
    above: Vec<State>,
    default_encoding: &'static Encoding,
    fonts: page::Fonts,
    /// Bytes in the code page that are not decoded yet, and text.
    bytes: Vec<u8>,
    text: String,
    title: String,
    /// What stands before an item, as the program that wrote it counted.
    mark: String,
    /// Paragraphs of the open cell.
    cell: String,
    to_skip: usize,
    surrogate: Option<u16>,
    tables: Tables,
    /// A group that has just begun, and whether it began with `\*`.
    begins: bool,
    is_optional: bool,
}

pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut text = Text::new(budget);
    let default = encoding_rs::WINDOWS_1252;
    let state = State {
        encoding: default,
        is_skipped: false,
        is_title: false,
        is_mark: false,
        is_fonts: false,
        is_hidden: false,
        fallback: 1,
        level: None,
        item: None,
        in_table: false,
    };
    let mut reader = Reader {
        out: &mut text,
        state,
        above: Vec::new(),
        default_encoding: default,
        fonts: page::Fonts::default(),
        bytes: Vec::new(),
        text: String::new(),
        title: String::new(),
        mark: String::new(),
        cell: String::new(),
        to_skip: 0,
        surrogate: None,
        tables: Tables::default(),
        begins: false,
        is_optional: false,
    };
    reader.read(bytes)?;
    let title = Some(super::write::squeezed(&reader.title)).filter(|title| !title.is_empty());
    let title = title.or_else(|| text.first_heading().map(str::to_owned));
    Ok(Extracted::new(name, title, text, Facts::new()))
}

impl Reader<'_, '_> {
    fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'{' => {
                    self.decode();
                    if self.above.len() >= DEPTH {
                        return Err(broken(format!(
                            "byte {}: groups are nested more than {DEPTH} deep",
                            bytes.len() - rest.len()
                        )));
                    }
                    self.above.push(self.state.clone());
                    (self.begins, self.is_optional) = (true, false);
                }
                b'}' => {
                    self.decode();
                    match self.above.pop() {
                        Some(above) if self.state.is_skipped => self.state = above,
                        Some(above) => {
                            // The end of the paragraph knows what it was, not the group of its words.
                            self.state = State {
                                level: self.state.level,
                                item: self.state.item,
                                in_table: self.state.in_table,
                                ..above
                            };
                        }
                        None => break,
                    }
                    self.begins = false;
                    if self.above.is_empty() {
                        break;
                    }
                }
                b'\\' => rest = self.control(rest)?,
                b'\r' | b'\n' => {}
                byte => {
                    self.begins = false;
                    self.byte(*byte);
                }
            }
        }
        self.end_paragraph()?;
        self.end_table()
    }

    /// A control word or sign behind its backslash; answers what follows it.
    fn control<'r>(&mut self, rest: &'r [u8]) -> Result<&'r [u8]> {
        let Some((first, after)) = rest.split_first() else { return Ok(rest) };
        if !first.is_ascii_alphabetic() {
            return self.sign(*first, after);
        }
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count().min(32);
        let (word, rest) = rest.split_at(letters);
        let digits =
            rest.iter().enumerate().take_while(|(at, byte)| byte.is_ascii_digit() || (*at == 0 && **byte == b'-'));
        let (digits, rest) = rest.split_at(digits.count().min(12));
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let begins = std::mem::take(&mut self.begins);
        let word = std::str::from_utf8(word).unwrap_or_default();
        if word == "bin" {
            let skipped = usize::try_from(number.unwrap_or_default()).unwrap_or_default();
            return Ok(rest.get(skipped..).unwrap_or_default());
        }
        if word != "u" {
            self.decode();
        }
        self.word(word, number, begins)?;
        Ok(rest)
    }

    fn sign<'r>(&mut self, sign: u8, rest: &'r [u8]) -> Result<&'r [u8]> {
        match sign {
            b'\'' => {
                let (digits, after) = rest.split_at(rest.len().min(2));
                let value = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                if let Some(byte) = value {
                    self.begins = false;
                    self.byte(byte);
                    return Ok(after);
                }
            }
            b'*' => self.is_optional = self.begins,
            b'~' => self.sign_of(" "),
            b'_' => self.sign_of("-"),
            b'\r' | b'\n' => self.end_paragraph()?,
            b'\\' | b'{' | b'}' => self.byte(sign),
            _ => {}
        }
        Ok(rest)
    }

    fn word(&mut self, word: &str, number: Option<i64>, begins: bool) -> Result<()> {
        let optional = std::mem::take(&mut self.is_optional) && begins;
        if begins && word == "info" {
            self.state.is_skipped = true;
        } else if begins && word == "title" {
            self.state.is_title = true;
        } else if begins && matches!(word, "listtext" | "pntext") {
            // Within what is skipped it is of no item that is read.
            self.state.is_mark |= !self.state.is_skipped;
            self.state.is_skipped = true;
        } else if begins && word == "fonttbl" {
            (self.state.is_skipped, self.state.is_fonts) = (true, true);
        } else if begins && (SKIPPED.contains(&word) || (optional && !matches!(word, "shptxt" | "shpinst"))) {
            self.state.is_skipped = true;
        }
        let number_or = |default: i64| number.unwrap_or(default);
        match word {
            "par" | "sect" => self.end_paragraph()?,
            "page" => {
                self.end_paragraph()?;
                if !self.state.is_skipped && !self.tables.is_open() {
                    self.out.page()?;
                }
            }
            "line" => self.push("\n"),
            "tab" => self.push("\t"),
            "cell" | "nestcell" if !self.state.is_skipped => self.end_cell(),
            "row" | "nestrow" if !self.state.is_skipped => self.tables.row(),
            "pard" => (self.state.level, self.state.item, self.state.in_table) = (None, None, false),
            "intbl" => self.state.in_table = true,
            "outlinelevel" => {
                self.state.level = usize::try_from(number_or(9)).ok().filter(|level| *level < 9).map(|level| level + 1);
            }
            "ls" => self.state.item = self.state.item.or(Some(0)),
            "ilvl" => self.state.item = usize::try_from(number_or(0)).ok(),
            "v" => self.state.is_hidden = number != Some(0),
            "plain" => {
                self.state.is_hidden = false;
                self.state.encoding = self.default_encoding;
            }
            "deleted" => self.state.is_hidden = number != Some(0),
            "uc" => self.state.fallback = usize::try_from(number_or(1)).unwrap_or(1),
            "u" => self.unicode(number_or(0)),
            "ansicpg" => {
                if let Some(encoding) = page::of_number(number_or(0)) {
                    (self.state.encoding, self.default_encoding) = (encoding, encoding);
                }
            }
            "mac" => (self.state.encoding, self.default_encoding) = (encoding_rs::MACINTOSH, encoding_rs::MACINTOSH),
            "f" if self.state.is_fonts => self.fonts.name(number_or(0)),
            "f" => self.state.encoding = self.fonts.encoding(number_or(0)).unwrap_or(self.default_encoding),
            "fcharset" => self.fonts.charset(number_or(0)),
            "emdash" => self.push("—"),
            "endash" => self.push("–"),
            "lquote" => self.push("‘"),
            "rquote" => self.push("’"),
            "ldblquote" => self.push("“"),
            "rdblquote" => self.push("”"),
            "bullet" => self.push("•"),
            "emspace" | "enspace" | "qmspace" => self.push(" "),
            _ => {}
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.is_read() {
            self.bytes.push(byte);
        }
    }

    /// A character that has a control sign.
    fn sign_of(&mut self, text: &str) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else {
            self.decode();
            self.push(text);
        }
    }

    /// A character as a signed number of 16 bits, a pair of them for those beyond.
    fn unicode(&mut self, number: i64) {
        self.decode();
        self.to_skip = self.state.fallback;
        let unit = u16::try_from(number.rem_euclid(0x1_0000)).unwrap_or_default();
        let c = match (self.surrogate.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.surrogate = Some(unit);
                return;
            }
            (Some(high), low) => char::decode_utf16([high, low]).next(),
            (None, unit) => char::decode_utf16([unit]).next(),
        };
        if let Some(Ok(c)) = c {
            self.push(c.encode_utf8(&mut [0; 4]));
        }
    }

    fn is_read(&self) -> bool {
        (!self.state.is_skipped || self.state.is_title || self.state.is_mark) && !self.state.is_hidden
    }

    /// The bytes that were met become text, in the code page that holds until here.
    fn decode(&mut self) {
        self.to_skip = 0;
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let text = self.state.encoding.decode_without_bom_handling(&bytes).0.into_owned();
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        if !self.is_read() {
            return;
        }
        match (self.state.is_title, self.state.is_mark) {
            (true, _) => self.title.push_str(text),
            (false, true) => {
                let room = MARK.saturating_sub(self.mark.chars().count());
                self.mark.extend(text.chars().take(room));
            }
            (false, false) => self.text.push_str(text),
        }
    }

    fn end_cell(&mut self) {
        self.decode();
        if !self.tables.is_open() {
            self.tables.open();
            self.tables.row();
        }
        self.tables.cell();
        self.end_in_cell();
        self.tables.add(&std::mem::take(&mut self.cell));
    }

    /// A paragraph of a cell ends; its number stands before it.
    fn end_in_cell(&mut self) {
        let (mark, text) = (std::mem::take(&mut self.mark), std::mem::take(&mut self.text));
        for piece in [number(&mark).unwrap_or_default(), text.as_str()] {
            self.cell.push_str(piece);
            self.cell.push(' ');
        }
    }

    fn end_paragraph(&mut self) -> Result<()> {
        self.decode();
        if self.state.in_table {
            self.end_in_cell();
            return Ok(());
        }
        self.end_table()?;
        let mark = std::mem::take(&mut self.mark);
        let text = std::mem::take(&mut self.cell) + &std::mem::take(&mut self.text);
        let number = number(&mark);
        let item = self.state.item.or_else(|| (!mark.is_empty()).then_some(0));
        match (self.state.level, item) {
            (Some(_), _) if text.trim().is_empty() => Ok(()),
            (Some(level), _) => self.out.heading(level, &format!("{} {text}", number.unwrap_or_default())),
            (None, Some(depth)) => self.out.item(depth, number.unwrap_or("-"), &text),
            (None, None) => self.out.paragraph(&text),
        }
    }

    fn end_table(&mut self) -> Result<()> {
        match self.tables.close() {
            Some(rows) => self.out.table(&rows),
            None => Ok(()),
        }
    }
}

/// The number that a mark is; bullets, which are of any shape, are none.
fn number(mark: &str) -> Option<&str> {
    Some(mark.trim()).filter(|mark| mark.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rtf: &[u8]) -> String {
        read(rtf, "x.rtf", &Budget::new(0)).unwrap().text
    }

    #[test]
    fn control_signs_stand_where_they_were_written() {
        assert_eq!(text(b"{\\rtf1 10\\~000 pre\\_war \\u8211\\_x}"), "10 000 pre-war –x\n");
        assert_eq!(text(b"{\\rtf1 a {\\b b\\*\\unknown c} d}"), "a bc d\n");
        assert_eq!(text(b"{\\rtf1 a{\\*\\unknown b}c}"), "ac\n");
    }

    #[test]
    fn what_is_skipped_changes_nothing() {
        let numbered =
            b"{\\rtf1{\\stylesheet{\\s1\\outlinelevel0 x;}}One\\par\\pard\\outlinelevel0{\\listtext\\pard 1.}Two\\par}";
        assert_eq!(text(numbered), "One\n\n# 1. Two\n");
        let bullets = b"{\\rtf1{\\pntext\\'b7\\tab}One\\par{\\listtext (b)\\tab}\\ls1\\ilvl1 Two\\par}";
        assert_eq!(text(bullets), "- One\n  (b) Two\n");
        assert_eq!(text(b"{\\rtf1 a{\\*\\shpinst{\\sp{\\sn fLine}{\\sv 0}}{\\shptxt b}}}"), "ab\n");
    }

    #[test]
    fn numbers_stay_in_their_cells_and_those_of_headers_are_not_read() {
        let table = b"{\\rtf1{\\listtext 1.\\tab}\\pard\\intbl\\ls1 \\cell A\\cell\\row{\\listtext 2.\\tab}\
                      \\pard\\intbl\\ls1 \\cell{\\pntext a)}B\\par{\\pntext b)}C\\cell\\row\\pard Next\\par}";
        assert_eq!(text(table), "| 1. | A |\n| --- | --- |\n| 2. | a) B b) C |\n\nNext\n");
        assert_eq!(text(b"{\\rtf1{\\header {\\listtext 1.\\tab}Top}Body\\par}"), "Body\n");
    }

    #[test]
    fn a_mark_is_short() {
        let long = format!("{{\\rtf1{{\\listtext {}}}x\\line y\\par}}", "1".repeat(1_000));
        assert_eq!(text(long.as_bytes()).len(), MARK + 3 + MARK + 3);
    }

    #[test]
    fn fonts_of_groups_say_how_letters_are_encoded() {
        let russian =
            b"{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}}{\\f1 \\'d3\\'e2}{\\f0 \\'e9}}";
        assert_eq!(text(russian), "Увé\n");
    }
}
