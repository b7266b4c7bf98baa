//! What a person typed, read as words to look for and conditions on where they stand. Nothing is ever refused: what is
//! not written exactly as below is plain words.
//!
//! ```text
//! late planes               words: more of them, and rarer ones, are better
//! "thirty days"             the words one after the other, in text, heading or title
//! title:returns             the word in the title; so heading: and file:
//! heading:"terms of sale"   the words one after the other in the heading
//! ```

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A place of a chunk that words can be asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Heading,
    File,
}

impl Field {
    const ALL: [(&str, Field); 3] = [("title:", Field::Title), ("heading:", Field::Heading), ("file:", Field::File)];
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// Everything that was typed, without the signs that are syntax.
    pub plain: String,
    /// Sequences that must stand in a chunk.
    pub phrases: Vec<String>,
    /// Words, or sequences of them, that must stand in a place of it.
    pub fields: Vec<(Field, String)>,
}

impl Words {
    /// Reads what was typed.
    pub(super) fn read(text: &str) -> Self {
        let mut words = Words::default();
        let mut plain: Vec<&str> = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = rest.get(start..).unwrap_or_default();
            let field = Field::ALL.into_iter().find_map(|(name, field)| Some((field, after(rest, name)?)));
            let (field, value) = field.map_or((None, rest), |(field, value)| (Some(field), value));
            let (said, is_phrase, left) = one(value);
            match field {
                Some(field) if is_said(said) => words.fields.push((field, said.to_owned())),
                None if is_phrase && is_said(said) => words.phrases.push(said.to_owned()),
                _ => {}
            }
            // A field's name without anything behind it is a word like others.
            match field.is_some() && !is_said(said) {
                true => {
                    let (word, _, behind) = plain_word(rest);
                    plain.push(word);
                    rest = behind;
                }
                false => {
                    plain.push(said);
                    rest = left;
                }
            }
        }
        words.plain = plain.join(" ");
        words
    }

    /// Whether it says more than words.
    pub(super) fn has_conditions(&self) -> bool {
        !self.phrases.is_empty() || !self.fields.is_empty()
    }
}

/// Whether there is something to look for: signs alone stand in no index.
fn is_said(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// What follows a field's name, if it is there: names are read in either case.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let head = text.get(..name.len())?;
    head.eq_ignore_ascii_case(name).then(|| text.get(name.len()..).unwrap_or_default())
}

/// The first word or quoted sequence, whether it is the latter, and what follows. A quote that never ends is no syntax.
fn one(text: &str) -> (&str, bool, &str) {
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
        let quoted = text.strip_prefix(open).and_then(|rest| rest.split_once(close));
        if let Some((said, left)) = quoted {
            return (said, true, left);
        }
    }
    plain_word(text)
}

fn plain_word(text: &str) -> (&str, bool, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, left) = text.split_at_checked(end).unwrap_or((text, ""));
    (word, false, left)
}

/// A text as phrases are looked for in it: its words without case, accents and signs, each between two spaces. A phrase
/// stands in a text where the one so written contains the other, which no index is needed for; and of scripts that put
/// no spaces between words each character is one, so that any part of a text is found.
pub(super) fn said(text: &str) -> String {
    let folded = text.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase();
    let mut said = String::with_capacity(folded.len() + 2);
    said.push(' ');
    for c in folded.chars() {
        let is_letter = c.is_alphanumeric();
        if (!is_letter || is_unspaced(c)) && !said.ends_with(' ') {
            said.push(' ');
        }
        if is_letter {
            said.push(c);
        }
        if is_unspaced(c) {
            said.push(' ');
        }
    }
    if !said.ends_with(' ') {
        said.push(' ');
    }
    said
}

/// Han, Kana and Thai; by their blocks in Unicode.
pub(super) fn is_unspaced(c: char) -> bool {
    let block = matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}');
    block && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_and_fields_are_told_apart() {
        let words = Words::read("late \"thirty  days\" TITLE:returns heading:\"terms of sale\" planes");
        assert_eq!(words.plain, "late thirty  days returns terms of sale planes");
        assert_eq!(words.phrases, ["thirty  days"]);
        let fields = [(Field::Title, "returns".to_owned()), (Field::Heading, "terms of sale".to_owned())];
        assert_eq!(words.fields, fields);
        assert_eq!(Words::read("„drei Tage“ «deux jours» “two days”").phrases, ["drei Tage", "deux jours", "two days"]);
    }

    #[test]
    fn a_phrase_stands_where_its_words_follow_each_other_in_any_spelling() {
        let text = said("Das Büro in Zürich-West: 「東京 のオフィス」, within THIRTY days. C++!");
        for phrase in ["buro IN zürich", "Zürich West", "京の", "オフィス", "thirty  days", "(within thirty)", "c"]
        {
            assert!(text.contains(&said(phrase)), "{phrase}: {text}");
        }
        for phrase in ["days thirty", "thirty day", "hirty days", "京オ", "c c"] {
            assert!(!text.contains(&said(phrase)), "{phrase}: {text}");
        }
        assert_eq!((said("").as_str(), said("?!").as_str()), (" ", " "));
    }

    #[test]
    fn any_text_is_a_query_and_what_is_no_syntax_is_plain() {
        for plain in [
            "json_extract mysql?", "C++", "what's up", "error: 1064", "foo-bar", "mysql 8.0", "NOT", "\"unbalanced",
            "DELETE statement", "a;b", "--", "🚀", "東京", "https://a/b", "title:", "file: x", "a:b", "5\" pipe",
            "\"\"\"",
        ] {
            let words = Words::read(plain);
            assert!(!words.has_conditions(), "{plain}: {words:?}");
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            assert_eq!(letters(&words.plain), letters(plain));
        }
        assert_eq!(Words::read(" \n "), Words::default());
        assert!(!Words::read("\"?!\" title:\"--\"").has_conditions(), "signs alone stand in no index");
    }
}
