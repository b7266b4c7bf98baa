//! Which paragraphs are headings, by their letters' size and weight over the whole document; and what only repeats on
//! each page.

use std::collections::HashMap;

use super::layout::{Block, Paragraph};

/// A heading is larger than the text by this, and has so many characters and lines at most.
const LARGER: f64 = 1.12;
const CHARS: usize = 160;
const LINES: usize = 3;
/// Levels by size; a bold line of the text's own size is one below.
const LEVELS: usize = 4;
/// Pages that say the same at their edge before it counts as the page's frame, and the part of all pages, in percent.
const REPEATS: usize = 3;
const REPEATS_PERCENT: usize = 35;

/// The sizes of headings, largest first, in tenths.
pub(super) struct Levels {
    sizes: Vec<i64>,
    body: i64,
}

impl Levels {
    pub(super) fn of(&self, paragraph: &Paragraph) -> Option<usize> {
        let size = tenths(paragraph.size);
        let text = paragraph.text.trim();
        let is_short = text.chars().count() <= CHARS && paragraph.lines <= LINES;
        let has_words = text.chars().filter(|c| c.is_alphabetic()).count() >= 2;
        if !is_short || !has_words || paragraph.is_item {
            return None;
        }
        if let Some(at) = self.sizes.iter().position(|known| size >= *known) {
            return Some(at + 1);
        }
        let is_line = paragraph.lines <= 2 && !text.ends_with(['.', ',', ';', ':']) && text.chars().count() <= 90;
        (paragraph.is_bold && is_line && size * 100 >= self.body * 95).then(|| (self.sizes.len() + 1).min(6))
    }
}

/// What the sizes of a document's paragraphs mean.
pub(super) fn levels(pages: &[Vec<Block>]) -> Levels {
    let mut letters: HashMap<i64, usize> = HashMap::new();
    for paragraph in paragraphs(pages) {
        *letters.entry(tenths(paragraph.size)).or_default() += paragraph.text.len();
    }
    let body = letters.iter().max_by_key(|(size, letters)| (**letters, **size)).map_or(0, |(size, _)| *size);
    let mut sizes: Vec<i64> = letters.keys().copied().filter(|size| *size as f64 >= body as f64 * LARGER).collect();
    sizes.sort_by(|a, b| b.cmp(a));
    // Sizes that differ by less than a twentieth are one.
    sizes.dedup_by(|next, kept| *next * 20 >= *kept * 19);
    // The rest, however small, is the last level.
    let smallest = letters.keys().copied().filter(|size| *size as f64 >= body as f64 * LARGER).min();
    sizes.truncate(LEVELS);
    if let (Some(last), Some(smallest)) = (sizes.last_mut(), smallest) {
        *last = smallest.min(*last);
    }
    Levels { sizes, body }
}

/// Drops what stands at the edge of many pages with the same words: all but the first of it, and every number.
pub(super) fn drop_furniture(pages: &mut [Vec<Block>]) {
    let count = pages.len();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let at_edge = page.iter().filter_map(|block| match block {
            Block::Paragraph(paragraph) if paragraph.is_at_edge => Some(form(&paragraph.text)),
            _ => None,
        });
        let forms: std::collections::HashSet<String> = at_edge.collect();
        forms.into_iter().for_each(|form| *seen.entry(form).or_default() += 1);
    }
    let mut met = std::collections::HashSet::new();
    for page in pages.iter_mut() {
        page.retain(|block| match block {
            Block::Paragraph(paragraph) if paragraph.is_at_edge => {
                let form = form(&paragraph.text);
                let times = seen.get(&form).copied().unwrap_or_default();
                let repeats = times >= REPEATS && times * 100 >= count * REPEATS_PERCENT;
                let is_number = form.chars().all(|c| !c.is_alphabetic());
                !repeats || (!is_number && met.insert(form))
            }
            _ => true,
        });
    }
}

/// The words of a text, whatever its numbers are.
fn form(text: &str) -> String {
    let digits = text.chars().map(|c| if c.is_numeric() { '0' } else { c });
    let mut form: String = digits.collect();
    while form.contains("00") {
        form = form.replace("00", "0");
    }
    form.trim().to_lowercase()
}

fn paragraphs(pages: &[Vec<Block>]) -> impl Iterator<Item = &Paragraph> {
    pages.iter().flatten().filter_map(|block| match block {
        Block::Paragraph(paragraph) => Some(paragraph),
        Block::Table(_) => None,
    })
}

fn tenths(size: f64) -> i64 {
    (size * 10.0).round() as i64
}
