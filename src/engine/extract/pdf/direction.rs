//! Scripts that are written from right to left. A page is read as it is seen, from left to right; this puts the letters of a
//! piece into the order in which they are read (UAX #9, as far as one direction with words of the other in it goes).

/// Whether a letter is of a script that is written from right to left.
fn is_leftward(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Letters of the other scripts, digits, and the signs that are written with these.
fn is_rightward(c: char) -> bool {
    c.is_alphanumeric() && !is_leftward(c) || "%‰#$€£¥₪°".contains(c)
}

/// Whether most letters of a text are written from right to left.
pub(super) fn runs_left(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (leftward, all) = letters.fold((0, 0), |(leftward, all), c| (leftward + usize::from(is_leftward(c)), all + 1));
    leftward * 2 > all
}

/// What is seen from left to right, as it is read.
pub(super) fn as_read(seen: &str) -> String {
    let runs_left = runs_left(seen);
    let letters: Vec<char> =
        if runs_left { seen.chars().rev().map(mirrored).collect() } else { seen.chars().collect() };
    let goes_on = |c: char| if runs_left { is_leftward(c) } else { is_rightward(c) };
    let turns = |c: char| if runs_left { is_rightward(c) } else { is_leftward(c) };
    let mut read = String::with_capacity(seen.len());
    let mut rest = letters.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if !turns(*first) {
            read.push(*first);
            rest = after;
            continue;
        }
        let mut end = rest.iter().position(|c| goes_on(*c)).unwrap_or(rest.len());
        // Words keep their order, numbers that follow each other have the line's.
        let run = rest.iter().take(end);
        if runs_left && !run.clone().any(|c| c.is_alphabetic()) {
            end = run.clone().position(|c| c.is_whitespace()).unwrap_or(end);
        }
        let last = rest.iter().take(end).rposition(|c| turns(*c)).map_or(end, |last| last + 1);
        let (turned, after) = rest.split_at(last);
        read.extend(turned.iter().rev().map(|c| if runs_left { mirrored(*c) } else { *c }));
        rest = after;
    }
    read
}

/// Brackets open on the side that is read first.
fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '«' => '»',
        '»' => '«',
        '<' => '>',
        '>' => '<',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_is_read_in_the_order_of_its_letters() {
        for (seen, read) in [
            ("plain (text) 12", "plain (text) 12"),
            ("םלוע םולש", "שלום עולם"),
            ("Rust םלועל םולש (2024-25)", "(2024-25) שלום לעולם Rust"),
            ("the word םולש means peace", "the word שלום means peace"),
            ("200 100 םוכס", "סכום 100 200"),
            ("50% החנה", "הנחה 50%"),
            ("$12,345.67 ריחמ", "מחיר $12,345.67"),
            ("Rust 1.95 םלועל", "לעולם Rust 1.95"),
        ] {
            assert_eq!(as_read(seen), read);
        }
    }
}
