//! Documents into chunks that fit the encoder. A Markdown text is cut at its headings first, then each section at its
//! paragraphs, sentences and words; the headings above a chunk travel with it, since "It is 30 days" means nothing
//! without "Returns > Electronics". It is done little by little, so that a long text can be given up in its midst.

use std::collections::VecDeque;
use std::sync::Arc;
use std::vec::IntoIter;

use text_splitter::{ChunkConfig, ChunkSizer, MarkdownSplitter, TextSplitter};

use crate::base::id::Id;
use crate::engine::search::markdown::{self, Section};
use crate::model::document::{Chunk, Document, Markup, ParsedDocument};
use crate::model::error::{Error, Result};

/// Word pieces of a chunk with its headings, as [`pieces`] estimates them. The encoder reads 126 and ignores the rest;
/// the difference is the estimate's margin. (Words beyond it would still be found by the exact leg.)
const BUDGET: usize = 112;
/// A chunk keeps at least this much room, however long its headings are.
const LEAST: usize = 48;
/// Repeated from the end of the chunk before, so that a sentence on the border is whole in one of both.
const OVERLAP: usize = 16;
/// Bytes that the splitter gets at once.
const BLOCK: usize = 16 << 10;
/// Characters that are kept of one heading.
const HEADING_CHARS: usize = 80;

/// Cuts one document. The same document yields the same chunks; a document with text yields at least one.
pub(super) struct Cutter {
    id: Id<Document>,
    document: Arc<ParsedDocument>,
    /// Heading and text of each section that is still to come.
    sections: IntoIter<(String, String)>,
    /// The section that is being cut, and how much of it is.
    heading: String,
    body: String,
    at: usize,
    /// Chunks of the newest block.
    ready: VecDeque<Chunk>,
    index: u32,
    /// Bytes of all sections, of the blocks before the newest, and of the newest; and how many chunks this has.
    whole: usize,
    past: usize,
    block: usize,
    of: usize,
}

impl Cutter {
    pub(super) fn new(id: Id<Document>, document: Arc<ParsedDocument>) -> Self {
        let sections = match document.markup {
            Markup::Markdown => markdown::sections(&document.text),
            Markup::Plain => vec![Section { path: vec![], body: document.text.clone() }],
        };
        let mut texts = Vec::with_capacity(sections.len());
        let mut sections = sections.into_iter().peekable();
        while let Some(Section { path, body }) = sections.next() {
            // A heading with nothing below it is itself what can be found.
            let is_parent = sections.peek().is_some_and(|next| next.path.starts_with(&path));
            let text = match path.last() {
                Some(title) if body.trim().is_empty() && !is_parent => title.clone(),
                _ => body,
            };
            texts.push((heading(&path), text));
        }
        let whole = texts.iter().map(|(_, text)| text.len()).sum();
        Self {
            id,
            document,
            sections: texts.into_iter(),
            heading: String::new(),
            body: String::new(),
            at: 0,
            ready: VecDeque::new(),
            index: 0,
            whole,
            past: 0,
            block: 0,
            of: 0,
        }
    }

    /// The next chunks, at most `most`; none at the document's end.
    ///
    /// # Errors
    /// `internal_error` when the splitter refuses its own settings.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<Chunk>> {
        while self.ready.is_empty() {
            if self.at == self.body.len() {
                let Some((heading, body)) = self.sections.next() else { return Ok(Vec::new()) };
                (self.heading, self.body, self.at) = (heading, body, 0);
                continue;
            }
            let block = block(&self.body[self.at..]);
            self.at += block.len();
            self.past += std::mem::replace(&mut self.block, block.len());
            let room = BUDGET.saturating_sub(pieces(context(&self.heading, &self.document))).max(LEAST);
            for text in cut(block, room, self.document.markup)? {
                self.ready.push_back(Chunk {
                    document: self.id,
                    index: self.index,
                    heading: self.heading.clone(),
                    text,
                });
                self.index = self.index.checked_add(1).ok_or_else(|| Error::internal("too many chunks"))?;
            }
            self.of = self.ready.len();
        }
        let count = most.min(self.ready.len());
        Ok(self.ready.drain(..count).collect())
    }

    /// Whether there is nothing more to cut; what is left may still yield no chunk.
    pub(super) fn is_at_end(&self) -> bool {
        self.ready.is_empty() && self.at == self.body.len() && self.sections.len() == 0
    }

    /// How much of the text was handed out in chunks, 0 to 1.
    pub(super) fn fraction(&self) -> f64 {
        let handed_out = if self.of == 0 { 1.0 } else { 1.0 - self.ready.len() as f64 / self.of as f64 };
        (self.past as f64 + self.block as f64 * handed_out) / self.whole.max(1) as f64
    }

    /// The document that is cut.
    pub(super) fn document(&self) -> &Arc<ParsedDocument> {
        &self.document
    }
}

/// What the two legs index and embed: the chunk below its headings, or below the document's title where it has none.
pub(super) fn searchable(chunk: &Chunk, document: &ParsedDocument) -> String {
    format!("{}\n{}", context(&chunk.heading, document), chunk.text)
}

fn context<'a>(heading: &'a str, document: &'a ParsedDocument) -> &'a str {
    if heading.is_empty() { &document.title } else { heading }
}

fn heading(path: &[String]) -> String {
    let short = |title: &String| title.chars().take(HEADING_CHARS).collect::<String>();
    path.iter().map(short).collect::<Vec<_>>().join(" > ")
}

/// Cuts a block at its paragraphs, sentences and words.
fn cut(block: &str, room: usize, markup: Markup) -> Result<Vec<String>> {
    let config = ChunkConfig::new(room).with_sizer(WordPieces).with_overlap(OVERLAP).map_err(Error::internal)?;
    let mut chunks: Vec<String> = match markup {
        Markup::Markdown => MarkdownSplitter::new(config).chunks(block).map(str::to_owned).collect(),
        Markup::Plain => TextSplitter::new(config).chunks(block).map(str::to_owned).collect(),
    };
    chunks.retain(|chunk| !chunk.trim().is_empty());
    Ok(chunks)
}

/// The first bytes of a text, at most [`BLOCK`], ended where possible after a paragraph, a line or a word: the
/// splitter's time grows with the square of a text that it finds no border in, and files come from strangers.
fn block(text: &str) -> &str {
    if text.len() <= BLOCK {
        return text;
    }
    let window = &text[..text.floor_char_boundary(BLOCK)];
    let after = |border: &str| window.rfind(border).map(|at| at + border.len()).filter(|at| *at > BLOCK / 2);
    let end = after("\n\n").or_else(|| after("\n")).or_else(|| after(" ")).unwrap_or(window.len());
    &text[..end]
}

struct WordPieces;

impl ChunkSizer for WordPieces {
    fn size(&self, chunk: &str) -> usize {
        pieces(chunk)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Latin,
    Digit,
    Space,
    /// Signs, and letters of other scripts: nearly every one is a piece of its own to an English vocabulary.
    Single,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_whitespace() => Class::Space,
            '0'..='9' => Class::Digit,
            // Latin with its accents, which the encoder folds away.
            _ if c.is_alphabetic() && c < '\u{250}' => Class::Latin,
            _ => Class::Single,
        }
    }

    /// Characters of a run that make one piece.
    fn length(self) -> usize {
        match self {
            Class::Latin => 6,
            Class::Digit => 3,
            Class::Space => 16,
            Class::Single => 1,
        }
    }
}

/// An estimate of a text's word pieces, from the lengths of its runs of letters, digits and signs; the encoder's own
/// tokenizer is not reachable. In English it is at most a sixth too low (measured over technical prose), in other
/// Latin languages more, since the vocabulary is English. Long white space counts too, so that no chunk is long in
/// bytes and short in pieces.
pub(super) fn pieces(text: &str) -> usize {
    let mut count = 0;
    let mut run = 0;
    let mut class = Class::Space;
    for c in text.chars() {
        let next = Class::of(c);
        run = if next == class { run + 1 } else { 1 };
        class = next;
        let starts = run % class.length() == 1 || class.length() == 1;
        // One space between words is free; a long run of them is not.
        if starts && !(class == Class::Space && run == 1) {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    fn document(markup: Markup, text: &str) -> ParsedDocument {
        ParsedDocument { title: "Title".into(), source_file: "f".into(), text: text.into(), markup }
    }

    /// All chunks of a document, handed out a few at a time.
    fn split(id: Id<Document>, document: &ParsedDocument, most: usize) -> Vec<Chunk> {
        let mut cutter = Cutter::new(id, Arc::new(document.clone()));
        let mut chunks = vec![];
        while !cutter.is_at_end() {
            chunks.extend(cutter.next(most).unwrap());
        }
        assert!(cutter.next(most).unwrap().is_empty());
        chunks
    }

    fn chunks(markup: Markup, text: &str) -> Vec<Chunk> {
        split(Id::new(&Clock::manual(1)), &document(markup, text), 4)
    }

    fn blocks(mut text: &str) -> Vec<&str> {
        let mut blocks = vec![];
        while !text.is_empty() {
            let (first, rest) = text.split_at(block(text).len());
            blocks.push(first);
            text = rest;
        }
        blocks
    }

    fn prose(words: usize) -> String {
        (0..words).map(|n| format!("word{n}{}", if n % 12 == 11 { ". " } else { " " })).collect()
    }

    #[test]
    fn chunks_fit_keep_every_word_and_count_up() {
        for markup in [Markup::Plain, Markup::Markdown] {
            let chunks = chunks(markup, &prose(1_000));
            assert!(chunks.len() > 5);
            for (at, chunk) in chunks.iter().enumerate() {
                assert_eq!(chunk.index as usize, at);
                assert!(pieces(&chunk.text) <= BUDGET, "{}", chunk.text);
            }
            let all = chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join(" ");
            for n in 0..1_000 {
                assert!(all.contains(&format!("word{n}")), "word{n}");
            }
        }
    }

    #[test]
    fn headings_travel_with_their_text_and_do_not_mix() {
        let text = format!("# Shop\n\n## Returns\n\n{}\n\n## Delivery\n\nTwo days.\n\n## Empty end\n", prose(150));
        let chunks = chunks(Markup::Markdown, &text);
        let delivery: Vec<_> = chunks.iter().filter(|chunk| chunk.text.contains("Two days")).collect();
        assert_eq!(delivery.len(), 1);
        assert_eq!((delivery[0].heading.as_str(), delivery[0].text.as_str()), ("Shop > Delivery", "Two days."));
        assert!(chunks.iter().filter(|chunk| chunk.heading == "Shop > Returns").count() >= 2);
        assert_eq!(chunks.last().unwrap().text, "Empty end");
        assert!(chunks.iter().all(|chunk| chunk.heading != "Shop"), "a heading with sections below has no own chunk");
    }

    #[test]
    fn text_without_any_space_or_only_of_space_stays_bounded() {
        for text in
            ["x".repeat(20_000), "漢".repeat(5_000), format!("a{}b", " ".repeat(50_000)), "\u{1f600}".repeat(3_000)]
        {
            let chunks = chunks(Markup::Plain, &text);
            assert!(!chunks.is_empty());
            assert!(chunks.iter().all(|chunk| chunk.text.chars().count() <= 2_000));
        }
    }

    #[test]
    fn long_texts_go_to_the_splitter_in_blocks_that_lose_nothing() {
        for text in ["x".repeat(100_000), "漢".repeat(30_000), prose(10_000), "line\n\n".repeat(10_000), String::new()]
        {
            let blocks = blocks(&text);
            assert_eq!(blocks.concat(), text);
            assert!(blocks.iter().all(|block| block.len() <= BLOCK));
            assert!(blocks.len() <= 1 + text.len() / (BLOCK / 2), "no block but the last is small");
        }
        assert!(blocks(&prose(10_000)).iter().all(|block| block.ends_with(' ')), "words stay whole");
    }

    #[test]
    fn the_same_document_is_cut_the_same_way() {
        let document = document(Markup::Markdown, &format!("# A\n\n{}\n\n- b\n- c\n", prose(400)));
        let id = Id::new(&Clock::manual(1));
        let whole = split(id, &document, usize::MAX);
        for most in [1, 4, usize::MAX] {
            assert_eq!(split(id, &document, most), whole, "in whatever portions");
        }
    }

    #[test]
    fn what_was_handed_out_rises_from_nothing_to_the_whole() {
        let long = format!("# A\n\n{}\n\n# B\n\n{}", prose(4_000), prose(10));
        for text in [long, " ".repeat(50_000) + "end", "x".into()] {
            let mut cutter = Cutter::new(Id::new(&Clock::manual(1)), Arc::new(document(Markup::Markdown, &text)));
            let mut fractions = vec![cutter.fraction()];
            while !cutter.is_at_end() {
                cutter.next(3).unwrap();
                fractions.push(cutter.fraction());
            }
            assert!(fractions.is_sorted(), "{fractions:?}");
            assert_eq!((fractions[0], *fractions.last().unwrap()), (0.0, 1.0));
        }
    }

    #[test]
    fn a_chunk_without_headings_is_read_below_the_title() {
        let document = document(Markup::Plain, "body");
        let chunk = &split(Id::new(&Clock::manual(1)), &document, 4)[0];
        assert_eq!(searchable(chunk, &document), "Title\nbody");
    }
}
