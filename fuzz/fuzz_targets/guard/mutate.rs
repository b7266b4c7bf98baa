//! Half of the mutations know words and brackets: they put pieces of known statements into others, so that much of
//! what comes out still parses.

use std::sync::OnceLock;

use libfuzzer_sys::fuzzer_mutate;

const CORPORA: [&str; 2] =
    [include_str!("../../../tests/it/sql/allow.sql"), include_str!("../../../tests/it/sql/deny.sql")];

pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice(u64::from(seed) | 1 << 32);
    let text = std::str::from_utf8(&data[..size]).unwrap_or_default();
    if text.is_empty() || dice.below(2) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let text = recombine(text, &mut dice);
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text.as_bytes()[..size]);
    size
}

/// Replaces, inserts, wraps or removes a piece between the borders of words.
fn recombine(text: &str, dice: &mut Dice) -> String {
    let (from, to) = piece(text, dice);
    let other = dice.one_of(statements());
    let (start, end) = piece(other, dice);
    let (before, inner, after, new) = (&text[..from], &text[from..to], &text[to..], &other[start..end]);
    match dice.below(7) {
        0 => format!("{before}{new}{after}"),
        1 => format!("{before}{inner} {new}{after}"),
        2 => format!("{before}{after}"),
        3 => format!("{before}({inner}){after}"),
        4 => format!("{before}(SELECT {new} FROM ({text}) t){after}"),
        5 => format!("WITH x AS ({other}) {text}"),
        _ => format!("{before}{}({inner}, {new}){after}", dice.one_of(functions())),
    }
}

/// A piece with both ends at borders of words; often one with balanced brackets.
fn piece(text: &str, dice: &mut Dice) -> (usize, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut borders = vec![0];
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if !is_word(c) || !is_word(last) {
            borders.push(at);
        }
        last = c;
    }
    borders.push(text.len());
    let (a, b) = (dice.one_of(&borders), dice.one_of(&borders));
    let (from, to) = (*a.min(b), *a.max(b));
    match text[from..].find('(').map(|at| from + at).zip(balanced(text, from)) {
        Some((open, close)) if dice.below(2) == 0 => (open, close),
        _ => (from, to),
    }
}

/// Where the first bracket after `from` is closed.
fn balanced(text: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text[from..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(from + at + 1),
            ')' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    None
}

fn statements() -> &'static [&'static str] {
    static STATEMENTS: OnceLock<Vec<&str>> = OnceLock::new();
    STATEMENTS.get_or_init(|| {
        let lines = CORPORA.iter().flat_map(|corpus| corpus.lines()).filter(|line| !line.starts_with("-- "));
        lines.map(|line| line.split_once('\t').map_or(line, |(_, sql)| sql)).filter(|sql| sql.len() < 400).collect()
    })
}

fn functions() -> &'static [&'static str] {
    static FUNCTIONS: OnceLock<Vec<&str>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let list = include_str!("../../../src/engine/sql/guard/functions.txt");
        let names = list.lines().filter_map(|line| line.split('\t').nth(1));
        names.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())).collect()
    })
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % end as u64) as usize
    }

    fn one_of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}
