//! Documents into chunks that fit the encoder. A text is cut where its structure lets it: headings and pages always part
//! chunks, then paragraphs, lists, code and tables are kept whole where they fit, and cut at sentences, items, lines and
//! rows where they do not; a table's head stands above each of its parts. The headings above a chunk travel with it, since
//! "It is 30 days" means nothing without "Returns > Electronics". It is done little by little, so that a long text can be
//! given up in its midst.
//!
//! All that it needs is in the text ([`crate::engine::extract`]): a document that is stored can be cut anew.

mod measure;
mod units;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::base::id::Id;
use crate::engine::extract::PAGE_BREAK;
use crate::engine::search::markdown::{self, Block, Kind, Place};
use crate::model::document::{Chunk, Document, ParsedDocument, Spot};
use crate::model::error::{Error, Result};

use measure::LEAST;
pub(super) use measure::Measure;
use units::Unit;

/// Repeated from the end of the chunk before, where a sentence had to be cut or is short.
const OVERLAP: usize = 16;
/// Bytes that are cut at once.
const PORTION: usize = 16 << 10;
/// Characters that are kept of one heading.
const HEADING_CHARS: usize = 80;

/// Cuts one document. The same document and measure yield the same chunks; a document with text yields at least one.
pub(super) struct Cutter {
    id: Id<Document>,
    document: Arc<ParsedDocument>,
    measure: Measure,
    has_pages: bool,
    /// Where the text was not read yet, and whether nothing but white space is there.
    place: Place,
    is_read: bool,
    /// Of what was read, what comes next.
    ahead: VecDeque<Block>,
    /// Headings that hold for what comes, with their levels.
    path: Vec<(usize, String)>,
    /// Chunks of the newest portion.
    ready: VecDeque<Chunk>,
    index: u32,
    /// Bytes of the text before the newest portion, up to its end, and how many chunks it has.
    before: usize,
    past: usize,
    of: usize,
}

impl Cutter {
    pub(super) fn new(id: Id<Document>, document: Arc<ParsedDocument>, measure: Measure) -> Self {
        Self {
            id,
            has_pages: document.text.contains(PAGE_BREAK),
            document,
            measure,
            place: Place::default(),
            is_read: false,
            ahead: VecDeque::new(),
            path: Vec::new(),
            ready: VecDeque::new(),
            index: 0,
            before: 0,
            past: 0,
            of: 0,
        }
    }

    /// The next chunks, at most `most`; none at the document's end.
    ///
    /// # Errors
    /// `internal_error` for more chunks than can be counted.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<Chunk>> {
        while self.ready.is_empty() && self.peek().is_some() {
            self.before = self.past;
            self.portion()?;
            self.of = self.ready.len();
        }
        let count = most.min(self.ready.len());
        Ok(self.ready.drain(..count).collect())
    }

    /// Whether there is nothing more to cut; what is left may still yield no chunk.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.ready.is_empty() && self.peek().is_none()
    }

    /// How much of the text was handed out in chunks, 0 to 1.
    pub(super) fn fraction(&self) -> f64 {
        let whole = self.document.text.len().max(1) as f64;
        if self.ready.is_empty() && self.ahead.is_empty() && self.is_read {
            return 1.0;
        }
        let handed_out = if self.of == 0 { 1.0 } else { 1.0 - self.ready.len() as f64 / self.of as f64 };
        (self.before as f64 + (self.past - self.before) as f64 * handed_out) / whole
    }

    /// The document that is cut.
    pub(super) fn document(&self) -> &Arc<ParsedDocument> {
        &self.document
    }

    /// The block that comes next.
    fn peek(&mut self) -> Option<&Block> {
        if self.ahead.is_empty() && !self.is_read {
            match self.place.block(&self.document.text, self.document.markup) {
                Some(block) => self.ahead.extend(portions(&self.document.text, block)),
                None => self.is_read = true,
            }
        }
        self.ahead.front()
    }

    fn take(&mut self) -> Option<Block> {
        self.peek()?;
        self.ahead.pop_front()
    }

    /// Cuts the next blocks that stand under one heading and on one page.
    fn portion(&mut self) -> Result<()> {
        let Some(first) = self.take() else { return Ok(()) };
        self.past = first.range.end;
        if let Kind::Heading(level) = first.kind {
            let title = self.document.text.get(first.range.clone()).map(markdown::title).unwrap_or_default();
            self.path.retain(|(above, _)| *above < level);
            self.path.push((level, title.clone()));
            // A heading with nothing below it is itself what can be found.
            let is_parent = self.peek().is_some_and(|next| match next.kind {
                Kind::Heading(below) => below > level,
                _ => true,
            });
            return if is_parent { Ok(()) } else { self.push(title, &first) };
        }
        let mut group = vec![first];
        let mut bytes = 0;
        while let (Some(next), Some(last)) = (self.peek(), group.last()) {
            bytes += last.range.len();
            let is_apart = matches!(next.kind, Kind::Heading(_)) || next.page != last.page || bytes > PORTION;
            if is_apart {
                break;
            }
            group.extend(self.take());
        }
        self.past = group.last().map_or(self.past, |last| last.range.end);
        self.pack(&group)
    }

    /// Fills chunks with what the blocks are made of.
    fn pack(&mut self, group: &[Block]) -> Result<()> {
        let document = Arc::clone(&self.document);
        let context = self.measure.count(context(&self.heading(), &document.title));
        let room = self.measure.room.saturating_sub(context).max(LEAST);
        let mut open: Option<Range<usize>> = None;
        let mut filled = 0;
        for block in group {
            let text = document.text.get(block.range.clone()).unwrap_or_default();
            let whole = self.measure.count(text);
            match &mut open {
                Some(range) if filled + whole <= room => {
                    (range.end, filled) = (block.range.end, filled + whole);
                    continue;
                }
                _ => {}
            }
            // What fits by itself is not torn for the sake of what stands before it.
            if whole <= room {
                self.close(open.take(), block.page)?;
                (open, filled) = (Some(block.range.clone()), whole);
                continue;
            }
            if block.kind == Kind::Table && self.table(text, block, room, &mut open)? {
                continue;
            }
            // A table whose head leaves no room is lines like any.
            let kind = if block.kind == Kind::Table { Kind::List } else { block.kind };
            for part in portions(&document.text, Block { kind, ..block.clone() }) {
                self.tear(&part, room, (&mut open, &mut filled))?;
            }
        }
        self.close(open, group.last().map_or(1, |last| last.page))
    }

    /// Fills chunks with the units of what does not fit as a whole.
    fn tear(
        &mut self,
        part: &Block,
        room: usize,
        (open, filled): (&mut Option<Range<usize>>, &mut usize),
    ) -> Result<()> {
        let document = Arc::clone(&self.document);
        let text = document.text.get(part.range.clone()).unwrap_or_default();
        let units = units::of(text, part, room, &self.measure);
        for unit in &units {
            match open {
                Some(range) if *filled + unit.tokens <= room => {
                    (range.end, *filled) = (unit.range.end, *filled + unit.tokens);
                }
                _ => {
                    let closed = open.take();
                    let start = closed.as_ref().map_or(unit.range.start, |closed| repeated(&units, closed, unit, room));
                    self.close(closed, part.page)?;
                    let text = document.text.get(start..unit.range.end);
                    *filled = text.map_or(unit.tokens, |text| self.measure.count(text));
                    *open = Some(start..unit.range.end);
                }
            }
        }
        Ok(())
    }

    /// Cuts a table at its rows, with its head above each part; false when its head leaves no room.
    fn table(&mut self, text: &str, block: &Block, room: usize, open: &mut Option<Range<usize>>) -> Result<bool> {
        let head = text.match_indices('\n').nth(1).map_or(text, |(at, _)| text.get(..=at).unwrap_or(text));
        let above = self.measure.count(head);
        if above * 2 > room {
            return Ok(false);
        }
        self.close(open.take(), block.page)?;
        let start = block.range.start + head.len();
        let rows = Block { kind: Kind::List, range: start..block.range.end, page: block.page };
        let mut part: Option<Range<usize>> = None;
        let mut filled = 0;
        let mut parts = Vec::new();
        // Some rows at a time: there may be millions.
        for some in portions(&self.document.text, rows) {
            let text = self.document.text.get(some.range.clone()).unwrap_or_default();
            for row in units::of(text, &some, room - above, &self.measure) {
                match &mut part {
                    Some(range) if filled + row.tokens <= room - above => {
                        (range.end, filled) = (row.range.end, filled + row.tokens);
                    }
                    _ => {
                        parts.extend(part.take());
                        (part, filled) = (Some(row.range), row.tokens);
                    }
                }
            }
        }
        parts.extend(part);
        for (at, part) in parts.into_iter().enumerate() {
            let rows = self.document.text.get(part.clone()).unwrap_or_default().trim_end();
            let text = format!("{head}{rows}");
            // The first part holds the head where it stands.
            let range = if at == 0 { block.range.start..part.end } else { part };
            self.push(text, &Block { kind: Kind::Table, range, page: block.page })?;
        }
        Ok(true)
    }

    fn close(&mut self, open: Option<Range<usize>>, page: u32) -> Result<()> {
        let Some(range) = open else { return Ok(()) };
        let whole = self.document.text.get(range.clone()).unwrap_or_default();
        let start = range.start + (whole.len() - whole.trim_start().len());
        let text = whole.trim().to_owned();
        let range = start..start + text.len();
        self.push(text, &Block { kind: Kind::Paragraph, range, page })
    }

    fn push(&mut self, text: String, at: &Block) -> Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let spot = Spot { page: self.has_pages.then_some(at.page), start: at.range.start, end: at.range.end };
        let heading = self.heading();
        self.ready.push_back(Chunk { document: self.id, index: self.index, heading, text, spot });
        self.index = self.index.checked_add(1).ok_or_else(|| Error::internal("too many chunks"))?;
        Ok(())
    }

    fn heading(&self) -> String {
        let short = |(_, title): &(usize, String)| title.chars().take(HEADING_CHARS).collect::<String>();
        self.path.iter().map(short).collect::<Vec<_>>().join(" > ")
    }
}

/// What the two legs index and embed: the chunk below its headings, or below the document's title where it has none.
pub(super) fn searchable(chunk: &Chunk, document: &ParsedDocument) -> String {
    beneath(&chunk.heading, &document.title, &chunk.text)
}

/// The same of its parts.
pub(super) fn beneath(heading: &str, title: &str, text: &str) -> String {
    format!("{}\n{text}", context(heading, title))
}

fn context<'a>(heading: &'a str, title: &'a str) -> &'a str {
    if heading.is_empty() { title } else { heading }
}

/// Where a chunk begins whose first own unit is `unit`: a little before it, so that what the border cuts is whole in one
/// of both chunks.
fn repeated(units: &[Unit], closed: &Range<usize>, unit: &Unit, room: usize) -> usize {
    let before = units.iter().rev().skip_while(|other| other.range.start >= unit.range.start);
    let mut start = unit.range.start;
    let mut taken = 0;
    // Never all of the chunk before.
    for other in before.take_while(|other| other.range.start > closed.start) {
        taken += other.tokens;
        if taken > OVERLAP || taken + unit.tokens > room || other.range.end > start {
            break;
        }
        start = other.range.start;
    }
    start
}

/// A block of at most [`PORTION`] bytes each, ended where possible after a line, a sentence or a word: files come from
/// strangers, and what is cut at once is held at once.
fn portions(text: &str, block: Block) -> Vec<Block> {
    let mut portions = Vec::new();
    let Block { kind, range, page } = block;
    let mut start = range.start;
    while range.end - start > PORTION && kind != Kind::Table {
        let window = text.get(start..text.floor_char_boundary(start + PORTION)).unwrap_or_default();
        let after = |border: &str| window.rfind(border).map(|at| at + border.len()).filter(|at| *at > PORTION / 2);
        let length = after("\n").or_else(|| after(". ")).or_else(|| after(" ")).unwrap_or(window.len());
        portions.push(Block { kind, range: start..start + length, page });
        start += length;
    }
    portions.push(Block { kind, range: start..range.end, page });
    portions
}

#[cfg(test)]
mod tests;
