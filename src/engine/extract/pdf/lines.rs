//! Glyphs into words that stand together, and these into lines. Reading order is found by cutting the page: between two
//! columns first, of running text or of what was drawn one after the other, otherwise at its widest empty band.

use super::direction;
use super::glyphs::Placed;

/// Parts of the letters' size: a gap that is a space, one that is more than a space, how far letters of one line may stand
/// above each other, and how far small ones beside them.
const SPACE: f64 = 0.17;
const APART: f64 = 0.9;
const LEVEL: f64 = 0.35;
const SCRIPT: f64 = 0.6;
/// Sizes of letters that a column is wide, and lines that it has; and what of a size lies between two.
const COLUMN: f64 = 11.0;
const COLUMN_LINES: usize = 3;
const GUTTER: f64 = 0.8;
/// The same of columns that are no running text, as of forms and lists: how wide they are, the letters of a line, and the
/// lines of both for each time that the drawing goes over to the other. Programs draw a column to its end, and tables row
/// by row, whose cells may be of several lines.
const NARROW: f64 = 6.0;
const WORDS: usize = 8;
const AT_ONCE: usize = 16;
/// Cuts within cuts.
const DEPTH: usize = 60;

/// Glyphs that stand together on a line.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) x0: f64,
    pub(super) x1: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) bold: usize,
    /// Its place in the order of drawing.
    drawn: usize,
    /// Where its last letter begins, and whether that is a raised one.
    last_x0: f64,
    is_raised: bool,
    ends_in_space: bool,
}

impl Span {
    fn top(&self) -> f64 {
        self.y - 0.75 * self.size
    }

    fn bottom(&self) -> f64 {
        self.y + 0.2 * self.size
    }
}

/// A line of one column: its pieces from left to right, apart by more than a space.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) cells: Vec<Span>,
    pub(super) y: f64,
    pub(super) size: f64,
}

impl Line {
    pub(super) fn x0(&self) -> f64 {
        self.cells.first().map_or(0.0, |cell| cell.x0)
    }

    pub(super) fn x1(&self) -> f64 {
        self.cells.last().map_or(0.0, |cell| cell.x1)
    }

    pub(super) fn text(&self) -> String {
        let mut pieces: Vec<&str> = self.cells.iter().map(|cell| cell.text.trim()).collect();
        if direction::runs_left(&pieces.concat()) {
            pieces.reverse();
        }
        pieces.join(" ")
    }

    pub(super) fn is_bold(&self) -> bool {
        let (bold, all) = self.cells.iter().fold((0, 0), |(bold, all), cell| {
            (bold + cell.bold, all + cell.text.chars().filter(|c| !c.is_whitespace()).count())
        });
        bold * 10 >= all * 9 && all > 0
    }
}

/// The lines of each column, in reading order.
pub(super) fn ordered(glyphs: &[Placed]) -> Vec<Vec<Line>> {
    let spans = spans(glyphs);
    let mut columns = Vec::new();
    cut(spans, DEPTH, &mut columns);
    columns.into_iter().map(lines).filter(|lines| !lines.is_empty()).collect()
}

fn spans(glyphs: &[Placed]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (drawn, glyph) in glyphs.iter().enumerate() {
        let is_space = glyph.text.chars().all(char::is_whitespace);
        match spans.last_mut() {
            Some(span) if span.repeats(glyph) => {}
            Some(span) if span.takes(glyph) => span.push(glyph, is_space),
            _ if is_space => {}
            _ => spans.push(Span {
                text: glyph.text.clone(),
                x0: glyph.x0,
                x1: glyph.x1,
                y: glyph.y,
                size: glyph.size,
                bold: usize::from(glyph.is_bold),
                drawn,
                last_x0: glyph.x0,
                is_raised: false,
                ends_in_space: false,
            }),
        }
    }
    let mut kept: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        // Drawn twice, to look heavier or to cast a shadow.
        let is_again = kept.iter().rev().take(4).any(|other| {
            other.text == span.text
                && (other.x0 - span.x0).abs() < 0.15 * span.size
                && (other.y - span.y).abs() < 0.15 * span.size
        });
        if !is_again {
            kept.push(span);
        }
    }
    kept
}

impl Span {
    /// Whether a letter is drawn over the same letter, to look heavier.
    fn repeats(&self, glyph: &Placed) -> bool {
        self.text.ends_with(&glyph.text)
            && (self.last_x0 - glyph.x0).abs() < 0.1 * glyph.size
            && (self.y - glyph.y).abs() < 0.1 * glyph.size
    }

    /// Whether a letter goes on with what stands here: on its level, or as a small one that is raised or lowered beside it.
    fn takes(&self, glyph: &Placed) -> bool {
        let gap = glyph.x0 - self.x1;
        let distance = (glyph.y - self.y).abs();
        let is_on_level = distance < LEVEL * self.size
            && (-0.4 * self.size..APART * self.size).contains(&gap)
            && (glyph.size - self.size).abs() < 0.5 * self.size;
        let is_script = distance < SCRIPT * self.size
            && gap.abs() < SPACE * self.size
            && (0.4 * self.size..0.85 * self.size).contains(&glyph.size);
        is_on_level || is_script
    }

    fn push(&mut self, glyph: &Placed, is_space: bool) {
        if is_space {
            self.ends_in_space = true;
            self.x1 = self.x1.max(glyph.x1);
            return;
        }
        let gap = glyph.x0 - self.x1;
        if (self.ends_in_space || gap > SPACE * self.size) && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.ends_in_space = false;
        // A raised digit behind another is an exponent, or the mark of a note: it makes no longer number of it.
        let is_raised = glyph.size < 0.85 * self.size && self.y - glyph.y > 0.1 * self.size;
        let is_digit = |c: char| c.is_ascii_digit();
        if is_raised && !self.is_raised && self.text.ends_with(is_digit) && glyph.text.starts_with(is_digit) {
            self.text.push('^');
        }
        self.is_raised = is_raised;
        self.text.push_str(&glyph.text);
        self.last_x0 = glyph.x0;
        self.bold += usize::from(glyph.is_bold);
        self.x1 = self.x1.max(glyph.x1);
    }
}

/// Cuts what stands in a region into its columns, in the order of reading.
fn cut(spans: Vec<Span>, depth: usize, columns: &mut Vec<Vec<Span>>) {
    if spans.len() < 2 || depth == 0 {
        columns.extend((!spans.is_empty()).then_some(spans));
        return;
    }
    if let Some(at) = gutter(&spans) {
        let (left, right): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(|span| span.x1 <= at);
        cut(left, depth - 1, columns);
        cut(right, depth - 1, columns);
        return;
    }
    let bands = bands(spans);
    if let [_] = bands.as_slice() {
        columns.extend(bands);
        return;
    }
    // Bands that hold no columns are one text.
    let mut whole: Vec<Span> = Vec::new();
    for band in bands {
        let mut parts = Vec::new();
        cut(band, depth - 1, &mut parts);
        match parts.len() {
            1 => whole.extend(parts.into_iter().flatten()),
            _ => {
                columns.extend((!whole.is_empty()).then(|| std::mem::take(&mut whole)));
                columns.extend(parts);
            }
        }
    }
    columns.extend((!whole.is_empty()).then_some(whole));
}

/// Where a region falls into two columns: the middle of an empty stripe.
fn gutter(spans: &[Span]) -> Option<f64> {
    let size = middle(spans.iter().map(|span| span.size).collect());
    let mut edges: Vec<(f64, f64)> = spans.iter().map(|span| (span.x0, span.x1)).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = edges.first()?.1;
    let mut stripes = Vec::new();
    for (x0, x1) in edges {
        if x0 - end > GUTTER * size {
            stripes.push((end, x0));
        }
        end = end.max(x1);
    }
    stripes.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
    stripes.into_iter().take(8).map(|(from, to)| f64::midpoint(from, to)).find(|at| {
        let (left, right): (Vec<&Span>, Vec<&Span>) = spans.iter().partition(|span| span.x1 <= *at);
        let sides = [Side::of(&left, size), Side::of(&right, size)];
        // Where both have their lines at the same heights they may be the cells of a table's rows.
        let is_level = Side::share_levels(&sides, size);
        sides.iter().all(|side| side.is_running(size) && (!is_level || side.is_prose()))
            || (sides.iter().all(|side| side.has_words(size)) && Side::is_drawn_apart(&sides, spans, *at))
    })
}

/// What stands on one side of a stripe.
struct Side<'s> {
    /// The lines, from top to bottom, each with what is in it.
    levels: Vec<(f64, Vec<&'s Span>)>,
    width: f64,
}

impl<'s> Side<'s> {
    fn of(spans: &[&'s Span], size: f64) -> Self {
        let mut sorted = spans.to_vec();
        sorted.sort_by(|a, b| a.y.total_cmp(&b.y));
        let mut levels: Vec<(f64, Vec<&Span>)> = Vec::new();
        for span in sorted {
            match levels.last_mut() {
                Some((y, line)) if (span.y - *y).abs() < LEVEL * size => line.push(span),
                _ => levels.push((span.y, vec![span])),
            }
        }
        let (x0, x1) = spans.iter().fold((f64::MAX, f64::MIN), |(x0, x1), span| (x0.min(span.x0), x1.max(span.x1)));
        Self { levels, width: x1 - x0 }
    }

    /// Whether most lines of the shorter side have one of the other beside them.
    fn share_levels([one, other]: &[Self; 2], size: f64) -> bool {
        let beside = |y: f64| {
            let next = other.levels.partition_point(|(level, _)| *level < y - 0.1 * size);
            other.levels.get(next).is_some_and(|(level, _)| *level < y + 0.1 * size)
        };
        let shared = one.levels.iter().filter(|(y, _)| beside(*y)).count();
        shared * 10 >= one.levels.len().min(other.levels.len()) * 7
    }

    /// Whether the drawing went over to the other side but seldom.
    fn is_drawn_apart(sides: &[Self; 2], spans: &[Span], at: f64) -> bool {
        let mut drawn: Vec<(usize, bool)> = spans.iter().map(|span| (span.drawn, span.x1 <= at)).collect();
        drawn.sort_unstable();
        let changes = drawn.windows(2).filter(|pair| matches!(pair, [one, next] if one.1 != next.1)).count();
        changes * AT_ONCE <= sides.iter().map(|side| side.levels.len()).sum()
    }

    /// Whether it may be a column of short lines, which are words and no values.
    fn has_words(&self, size: f64) -> bool {
        let signs = || self.levels.iter().flat_map(|(_, line)| line).flat_map(|span| span.text.chars());
        let (all, letters) =
            (signs().filter(|c| !c.is_whitespace()).count(), signs().filter(|c| c.is_alphabetic()).count());
        let count = self.levels.len();
        count >= COLUMN_LINES && self.width >= NARROW * size && letters >= count * WORDS && letters * 2 >= all
    }

    /// Whether it is as wide as a column, and has as many letters.
    fn is_running(&self, size: f64) -> bool {
        let letters: usize = self.levels.iter().flat_map(|(_, line)| line).map(|span| span.text.chars().count()).sum();
        self.levels.len() >= COLUMN_LINES && self.width >= COLUMN * size && letters >= self.levels.len() * 16
    }

    /// Whether most lines are words that fill the width, in one piece or a few long ones.
    fn is_prose(&self) -> bool {
        let is_filled = |line: &&(f64, Vec<&Span>)| {
            let long = line.1.iter().filter(|span| span.text.chars().filter(|c| c.is_alphabetic()).count() >= 12);
            long.map(|span| span.x1 - span.x0).sum::<f64>() >= 0.7 * self.width
        };
        self.levels.iter().filter(is_filled).count() * 2 >= self.levels.len()
    }
}

/// Cuts at the widest empty bands from side to side, from top to bottom.
fn bands(mut spans: Vec<Span>) -> Vec<Vec<Span>> {
    spans.sort_by(|a, b| a.top().total_cmp(&b.top()));
    let mut gaps = Vec::new();
    let mut bottom = f64::MIN;
    for (index, span) in spans.iter().enumerate() {
        if index > 0 && span.top() > bottom {
            gaps.push((index, span.top() - bottom));
        }
        bottom = bottom.max(span.bottom());
    }
    let widest = gaps.iter().map(|(_, gap)| *gap).fold(0.0, f64::max);
    let mut bands = Vec::new();
    let mut rest = spans;
    for (index, _) in gaps.into_iter().rev().filter(|(_, gap)| *gap > 0.7 * widest) {
        bands.push(rest.split_off(index));
    }
    bands.push(rest);
    bands.reverse();
    bands
}

/// The lines of a column.
fn lines(mut spans: Vec<Span>) -> Vec<Line> {
    spans.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut lines: Vec<Line> = Vec::new();
    for span in spans {
        match lines.last_mut() {
            // What stands a little higher or lower, as small letters do.
            Some(line) if (span.y - line.y).abs() < LEVEL * line.size.max(span.size) => {
                if span.size > line.size {
                    (line.y, line.size) = (span.y, span.size);
                }
                line.cells.push(span);
            }
            _ => lines.push(Line { y: span.y, size: span.size, cells: vec![span] }),
        }
    }
    for line in &mut lines {
        line.cells.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        let mut joined: Vec<Span> = Vec::new();
        for span in std::mem::take(&mut line.cells) {
            match joined.last_mut() {
                Some(before) if span.x0 - before.x1 < APART * line.size || is_mark(&before.text) => {
                    if span.x0 - before.x1 > SPACE * line.size || before.ends_in_space {
                        before.text.push(' ');
                    }
                    before.text.push_str(&span.text);
                    before.x1 = before.x1.max(span.x1);
                    before.bold += span.bold;
                    before.ends_in_space = span.ends_in_space;
                }
                _ => joined.push(span),
            }
        }
        joined.iter_mut().for_each(|cell| cell.text = direction::as_read(&cell.text));
        line.cells = joined;
    }
    lines.retain(|line| !line.text().trim().is_empty());
    lines
}

/// Whether a piece is the mark of an item, which stands apart from what it marks.
fn is_mark(text: &str) -> bool {
    let mut characters = text.trim().chars();
    let (first, second) = (characters.next(), characters.next());
    second.is_none()
        && first.is_some_and(|c| !c.is_alphanumeric() && !c.is_ascii_punctuation() && !"€£$¥°–—…".contains(c))
}

/// The value in the middle.
pub(super) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters half as wide as they are high.
    fn drawn(text: &str, x: f64, y: f64, size: f64) -> Vec<Placed> {
        let place = |(n, c): (usize, char)| {
            let x0 = x + n as f64 * size / 2.0;
            Placed { text: c.to_string(), x0, x1: x0 + size / 2.0, y, size, is_bold: false }
        };
        text.chars().enumerate().map(place).collect()
    }

    fn read(pieces: &[(&str, f64, f64, f64)]) -> Vec<Vec<String>> {
        let glyphs: Vec<Placed> = pieces.iter().flat_map(|(text, x, y, size)| drawn(text, *x, *y, *size)).collect();
        ordered(&glyphs).iter().map(|lines| lines.iter().map(Line::text).collect()).collect()
    }

    #[test]
    fn the_rows_of_a_table_stay_whole_and_columns_of_prose_are_read_one_by_one() {
        let mut table = Vec::new();
        for (n, label) in
            ["Andaman and Nicobar Islands", "Dadra and Nagar Haveli", "Andhra Pradesh and others"].iter().enumerate()
        {
            let y = 100.0 + 12.0 * n as f64;
            table.push((*label, 50.0, y, 10.0));
            table.extend([200.0, 250.0, 300.0, 350.0].map(|x| ("188,741", x, y, 10.0)));
        }
        let rows = read(&table);
        assert_eq!(
            (rows.len(), rows[0][0].as_str()),
            (1, "Andaman and Nicobar Islands 188,741 188,741 188,741 188,741")
        );
        let prose = [100.0, 112.0, 124.0].map(|y| {
            [("the words of the left column", 50.0, y, 10.0), ("and those on the other side.", 220.0, y, 10.0)]
        });
        let columns = read(&prose.concat());
        assert_eq!(columns.len(), 2);
        assert!(columns[1].iter().all(|line| line.starts_with("and those")), "{columns:?}");
    }

    #[test]
    fn what_was_drawn_as_columns_is_read_so_and_rows_are_not() {
        let rows: Vec<f64> = (0..8).map(|n| 100.0 + 12.0 * f64::from(n)).collect();
        let side = |text: &'static str, x: f64| rows.iter().map(move |y| (text, x, *y, 10.0));
        let (left, right) = ("dpkg -l names", "tar -xf archive");
        let columns: Vec<_> = side(left, 50.0).chain(side(right, 250.0)).collect();
        assert_eq!(read(&columns), [vec![left; 8], vec![right; 8]]);
        let by_rows: Vec<_> = side(left, 50.0).zip(side(right, 250.0)).flat_map(|(one, other)| [one, other]).collect();
        assert_eq!(read(&by_rows), [vec![format!("{left} {right}"); 8]]);
        let values: Vec<_> = side(left, 50.0).chain(side("1,204.50 1,204.50", 250.0)).collect();
        assert_eq!(read(&values).len(), 1);
    }

    #[test]
    fn raised_letters_stay_in_their_word_and_doubled_ones_are_one() {
        let raised = [("the 19", 50.0, 100.0, 10.0), ("th", 80.0, 96.0, 6.0), (" century", 86.0, 100.0, 10.0)];
        assert_eq!(read(&raised), [["the 19th century"]]);
        let power = [("about 10", 50.0, 100.0, 10.0), ("23", 90.0, 96.0, 6.0), (" atoms", 96.0, 100.0, 10.0)];
        assert_eq!(read(&power), [["about 10^23 atoms"]]);
        let doubled: Vec<Placed> =
            drawn("BOOK", 50.0, 100.0, 10.0).into_iter().flat_map(|glyph| [glyph.clone(), glyph]).collect();
        assert_eq!(ordered(&doubled)[0][0].text(), "BOOK");
    }
}
