//! What a name may hold that people and programs give to themselves and to their things. Such a name stands on pages
//! that others read before they decide, so that nothing in it may be invisible or change how its neighbours are read.
//!
//! Left out are controls, line breaks, format characters (among them the marks that turn the direction of text, the
//! spaces without width, and the tags that carry a second text unseen), private and unassigned characters, and letters
//! that are drawn as nothing. A joiner, which Persian, the scripts of India and many emoji need, stands only where it
//! joins; a variation selector only behind what it varies.

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeEmoji as _, UnicodeGeneralCategory as _};

use crate::model::error::{Error, Result};

/// Letters, marks and symbols that are drawn as nothing, and those that stand for what could not be decoded.
const BLANK: &str = "\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{1d159}\u{2800}\u{3164}\u{ffa0}\u{fffc}\u{fffd}";

/// A name as it is kept: on one line, without spaces at its ends, in normal form C.
///
/// # Errors
/// `invalid_argument` for `field`, a noun, when the name is empty, has more than `most` characters, or one that no name
/// may hold.
pub fn checked(field: &str, text: &str, most: usize) -> Result<String> {
    let text: String = text.trim().nfc().collect();
    if let Some((bad, _)) = judged(&text).find(|(_, fits)| !fits) {
        let code = u32::from(bad);
        let message = format!(
            "A {field} has printable characters only: U+{code:04X} cannot be seen, or changes how others are read."
        );
        return Err(Error::invalid(field, message));
    }
    let text = one_line(&text);
    if text.is_empty() || text.chars().count() > most {
        return Err(Error::invalid(field, format!("A {field} has 1 to {most} printable characters.")));
    }
    Ok(text)
}

/// A name that nobody can be asked for again, as it is shown: what may not be in it is left out, and what breaks a line
/// is a space. May be empty.
pub fn shown(text: &str) -> String {
    let spaced: String = text.nfc().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    one_line(&judged(&spaced).filter(|(_, fits)| *fits).map(|(c, _)| c).collect::<String>())
}

/// Whether a character is a letter, a mark or a number, and is seen.
pub(super) fn is_written(c: char) -> bool {
    let groups = [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Mark, GeneralCategoryGroup::Number];
    groups.contains(&c.general_category_group()) && Around::default().fits(c)
}

/// All spaces are the usual one, and no two stand together.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every character of a text, and whether it may stand where it does.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut rest = text.chars().peekable();
    let mut around = Around::default();
    std::iter::from_fn(move || {
        let c = rest.next()?;
        around.next = rest.peek().copied();
        let fits = around.fits(c);
        if fits {
            around.pass(c);
        }
        Some((c, fits))
    })
}

/// What stands beside a character. What may not stand is passed over.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    /// Directly before it.
    last: Option<char>,
    /// The last before it that is no mark: what the marks and joiners since then belong to.
    base: Option<char>,
    next: Option<char>,
}

impl Around {
    fn pass(&mut self, c: char) {
        self.last = Some(c);
        if !is_mark(c) {
            self.base = Some(c);
        }
    }

    fn fits(&self, c: char) -> bool {
        use GeneralCategory as Is;
        match c {
            // ZWNJ and ZWJ.
            '\u{200c}' | '\u{200d}' => {
                let joins = |next| is_joined(next) || is_mark(next) && is_written(next);
                self.base.is_some_and(is_joined) && self.next.is_some_and(joins)
            }
            // A key cap is a digit, this selector, and the cap.
            '\u{fe0f}' if self.next == Some('\u{20e3}') => self.last.is_some_and(|c| c.is_ascii_graphic()),
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => {
                self.last.is_some_and(is_joined)
            }
            _ if BLANK.contains(c) => false,
            _ => !matches!(
                c.general_category(),
                Is::Control
                    | Is::Format
                    | Is::Surrogate
                    | Is::PrivateUse
                    | Is::Unassigned
                    | Is::LineSeparator
                    | Is::ParagraphSeparator
            ),
        }
    }
}

fn is_mark(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Mark
}

/// An emoji, or a letter of a script without capitals: of these are the scripts that joiners and variation selectors
/// are for. In Latin, Greek and Cyrillic one could only hide.
fn is_joined(c: char) -> bool {
    !c.is_ascii() && (c.is_emoji_char() || c.general_category() == GeneralCategory::OtherLetter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(text: &str) -> bool {
        checked("name", text, 100).is_ok_and(|name| name == text) && shown(text) == text
    }

    #[test]
    fn names_of_all_scripts_are_kept_as_they_are() {
        for name in [
            "Ann O'Neill-Ødegård",
            "Анна Ⅳ",
            "山田 太郎",
            "김민준",
            "محمد",
            "עברית",
            "สมชาย",
            "R&D <2026> (EU) – №1 50 %",
            // Persian "I want", with a non-joiner between two letters.
            "می\u{200c}خواهم",
            // Sinhala "Sri", with a joiner behind the virama; Bengali "ra" with a joiner before it.
            "ශ\u{dca}\u{200d}රී",
            "র\u{200d}\u{9cd}যাব",
            // A family, a flag of joined emoji, a heart, a key cap, a skin, a flag of two letters.
            "👨\u{200d}👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽 🇪🇺",
            // An ideograph in the form that a family writes it in.
            "葛\u{e0100}城",
        ] {
            assert!(is_kept(name), "{name}");
        }
    }

    #[test]
    fn what_is_not_seen_or_turns_the_text_around_is_refused_and_left_out() {
        const UNSEEN: &str = "\0\u{7}\u{1b}\n\t\u{7f}\u{85}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180e}\u{200b}\
            \u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2061}\
            \u{2066}\u{2067}\u{2068}\u{2069}\u{206f}\u{2800}\u{3164}\u{fe0e}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{fffc}\
            \u{fffd}\u{fdd0}\u{e000}\u{378}\u{e0001}\u{e0041}\u{e0100}\u{f0000}\u{10ffff}";
        for bad in UNSEEN.chars() {
            let refused = checked("name", &format!("a{bad}b"), 100).unwrap_err();
            assert_eq!(refused.details["field"], "name", "{bad:?}");
            assert!(refused.message.contains(&format!("U+{:04X}", u32::from(bad))), "{}", refused.message);
            let expected = if bad.is_whitespace() { "a b" } else { "ab" };
            assert_eq!(shown(&format!("a{bad}b")), expected, "{bad:?}");
        }
    }

    #[test]
    fn joiners_and_selectors_hide_nowhere() {
        for bad in [
            "پ\u{200c}",
            "\u{200d}پ",
            "پ\u{200c}\u{200c}پ",
            "پ \u{200c}پ",
            "پ\u{200d}\u{fe0f}",
            "é\u{200d}é",
            "q\u{301}\u{200d}\u{301}",
            "Я\u{200c}Я",
            "1\u{200d}1",
            "1\u{fe0f}",
            "❤\u{fe0f}\u{fe0f}",
            "é\u{e0100}",
        ] {
            assert!(checked("name", bad, 100).is_err(), "{bad:?}");
            assert!(shown(bad).chars().count() < bad.chars().count(), "{bad:?}");
        }
        assert_eq!(shown("پ\u{200c}\u{200c}پ"), "پ\u{200c}پ");
    }

    #[test]
    fn a_name_has_one_form_and_its_length_is_that_of_this_form() {
        assert_eq!(checked("name", " Ann \u{a0}\u{3000} Lee ", 7).unwrap(), "Ann Lee");
        assert_eq!(checked("name", "Zoe\u{308}", 3).unwrap(), "Zoë");
        for bad in ["", "   ", "\u{3000}", "12345678"] {
            let refused = checked("label", bad, 7).unwrap_err();
            assert_eq!(
                (refused.details["field"].as_str(), &*refused.message),
                (Some("label"), "A label has 1 to 7 printable characters.")
            );
        }
        assert_eq!(shown(" \u{200f}\u{feff} "), "");
        assert_eq!(shown("a\r\n b\u{2028}c"), "a b c");
    }
}
