//! A document of a documents dataset, and the chunks that search returns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::model::dataset::Dataset;
use crate::model::org::Org;

/// A text of a document: when the text is replaced, the document keeps its id and gets another of these.
#[derive(Clone, Copy, Debug)]
pub struct DocumentRow;

/// What a document says of itself beside its text, by name: an author, when it was written. Flat values alone.
pub type Facts = BTreeMap<String, Value>;

/// A document as stored: the whole text, and the file that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Stays as long as the document is in its dataset, whatever becomes of its text.
    pub id: Id<Document>,
    /// This text of it, which versions of the dataset share.
    pub row: Id<DocumentRow>,
    pub org: Id<Org>,
    pub dataset: Id<Dataset>,
    /// The dataset's version that the document belongs to.
    pub version: String,
    pub title: String,
    pub source_file: String,
    pub text: String,
    pub markup: Markup,
    pub facts: Facts,
    pub created_at: Millis,
}

/// What an import did to the documents of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Changes {
    /// Documents that are new.
    pub added: usize,
    /// Documents that got another text; their ids stay.
    pub replaced: usize,
    /// Files whose very text was there already, under their name or another.
    pub unchanged: usize,
    /// Documents that are there no more.
    pub removed: usize,
    /// Documents that the dataset has now.
    pub total: usize,
}

impl Changes {
    /// These, and those that came after them, if any.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            added: self.added + later.added,
            replaced: self.replaced + later.replaced,
            unchanged: self.unchanged + later.unchanged,
            removed: self.removed + later.removed,
            total: if later == Self::default() { self.total } else { later.total },
        }
    }
}

/// A piece of a document, as cut for search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    pub document: Id<Document>,
    /// Position in the document, from 0.
    pub index: u32,
    /// Headings above it, outermost first.
    pub heading: String,
    pub text: String,
    pub spot: Spot,
}

/// Where a chunk stands in its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// Page, slide or part of the source, from 1; `None` where it has none.
    pub page: Option<u32>,
    /// Bytes of the document's text, from `start` up to before `end`, both between two characters.
    pub start: usize,
    pub end: usize,
}

/// How a text is marked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Markup {
    Plain,
    Markdown,
}

impl Markup {
    pub fn name(self) -> &'static str {
        match self {
            Markup::Plain => "plain",
            Markup::Markdown => "markdown",
        }
    }

    /// By its name; of documents from before there was one, as the ending of their file has it.
    pub fn stored(name: &str, source_file: &str) -> Self {
        const MARKED: &str = " md markdown pdf docx pptx odt odp ods html htm xhtml epub rtf xlsx xls eml mbox ";
        match (name, source_file.rsplit_once('.')) {
            ("plain", _) => Markup::Plain,
            ("markdown", _) => Markup::Markdown,
            (_, Some((_, ending))) if MARKED.contains(&format!(" {} ", ending.to_ascii_lowercase())) => {
                Markup::Markdown
            }
            _ => Markup::Plain,
        }
    }
}

/// A document as read from a file, before it has an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedDocument {
    /// At most [`ParsedDocument::TITLE_CHARS`] characters, never empty.
    pub title: String,
    /// The file's name without its folders; followed by the path within it where it holds several. Read from a file, as
    /// [`ParsedDocument::name`] has it.
    pub source_file: String,
    /// The whole text; lines end in `\n`, and pages in a form feed, where it has such.
    pub text: String,
    pub markup: Markup,
    pub facts: Facts,
}

impl ParsedDocument {
    pub const TITLE_CHARS: usize = 200;
    /// Bytes of what a document is called. Each of its chunks has that.
    pub const NAME_BYTES: usize = 1_000;

    /// What a document is called; of a longer name what fits, `…`, and 16 hex digits of its SHA-256, so that names stay
    /// different from each other, and the same each time.
    pub fn name(whole: String) -> String {
        const DIGITS: usize = 16;
        if whole.len() <= Self::NAME_BYTES {
            return whole;
        }
        let kept = whole.floor_char_boundary(Self::NAME_BYTES - '…'.len_utf8() - DIGITS);
        let digest = sha256_hex(whole.as_bytes());
        format!("{}…{}", whole.get(..kept).unwrap_or_default(), digest.get(..DIGITS).unwrap_or_default())
    }
}

/// What a document is known by when it comes again: SHA-256 of its text, and of what it says of itself.
pub fn digest(text: &str, facts: &Facts) -> String {
    match serde_json::to_string(facts) {
        Ok(facts) if facts != "{}" => sha256_hex(format!("{text}\0{facts}").as_bytes()),
        _ => sha256_hex(text.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_markup_is_its_name_or_what_the_file_of_before_had() {
        for markup in [Markup::Plain, Markup::Markdown] {
            assert_eq!(Markup::stored(markup.name(), "x.pdf"), markup);
        }
        for (file, markup) in [
            ("a.MD", Markup::Markdown),
            ("box.zip/a.docx", Markup::Markdown),
            ("a.txt", Markup::Plain),
            ("posts:7", Markup::Plain),
        ] {
            assert_eq!(Markup::stored("", file), markup, "{file}");
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let long = |letter: &str, end: &str| ParsedDocument::name(letter.repeat(2_000) + end);
        for letter in ["a", "é", "語", "𝄞"] {
            let cut = long(letter, ".md");
            assert!((990..=ParsedDocument::NAME_BYTES).contains(&cut.len()), "{}", cut.len());
            assert_eq!((cut == long(letter, ".md"), cut == long(letter, ".txt")), (true, false));
            assert!(cut.starts_with(&letter.repeat(200)));
        }
        let just = "a".repeat(ParsedDocument::NAME_BYTES);
        assert_eq!(ParsedDocument::name(just.clone()), just);
        assert_ne!(ParsedDocument::name(just.clone() + "b"), just);
    }

    #[test]
    fn what_a_document_says_of_itself_is_part_of_what_it_is_known_by() {
        assert_eq!(digest("text", &Facts::new()), sha256_hex(b"text"));
        let of = |author: &str| digest("text", &Facts::from([("author".into(), author.into())]));
        assert_ne!(of("Ada"), of("Bo"));
    }
}
