//! Numbers that programs count themselves and no text holds: of the items of lists, and of headings.

use super::write::squeezed;

/// Numbers up to these are written as letters or in the Roman way; larger ones with digits.
const LETTERS: usize = 26 * 8;
const ROMAN: usize = 3_999;
/// Levels of a list, one in the other.
const LEVELS: usize = 10;
/// Characters of a mark, or of what says how it is made.
pub(super) const MARK: usize = 60;

/// How a number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Digits,
    /// At least two digits.
    Padded,
    LowerLetters,
    UpperLetters,
    LowerRoman,
    UpperRoman,
    /// Not at all: a bullet, or nothing.
    None,
}

impl Form {
    /// By the sign that OpenDocument (`num-format`) and HTML (`type`, WHATWG HTML §4.4.5) have for it.
    pub(super) fn of(sign: &str) -> Self {
        match sign {
            "a" => Self::LowerLetters,
            "A" => Self::UpperLetters,
            "i" => Self::LowerRoman,
            "I" => Self::UpperRoman,
            _ => Self::Digits,
        }
    }
}

/// A level of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) form: Form,
    /// What stands before an item: `%1.%2)`, where `%1` is the number of the outermost level.
    pub(super) mark: String,
    pub(super) start: usize,
    /// Whether the numbers of all levels are written with digits here.
    pub(super) is_of_digits: bool,
    /// Whether it never begins anew.
    pub(super) goes_on: bool,
}

/// How far a list is counted, from the outermost level; `None` for a level that has no item yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<Option<usize>>);

impl Counts {
    /// Counts an item `depth` levels deep from 0, from `start` if there is one; answers its mark, which is empty for a
    /// bullet. The levels below begin anew, but for those that never do.
    pub(super) fn next<'l>(
        &mut self,
        depth: usize,
        start: Option<usize>,
        level: impl Fn(usize) -> Option<&'l Level>,
    ) -> String {
        let depth = depth.min(LEVELS - 1);
        self.0.resize(self.0.len().max(depth + 1), None);
        for (at, count) in self.0.iter_mut().enumerate().skip(depth + 1) {
            *count = count.filter(|_| level(at).is_some_and(|level| level.goes_on));
        }
        let first = |at: usize| level(at).map_or(1, |level| level.start);
        if let Some(count) = self.0.get_mut(depth) {
            *count = Some(start.or(count.map(|count| count.saturating_add(1))).unwrap_or_else(|| first(depth)));
        }
        let Some(own) = level(depth).filter(|own| own.form != Form::None) else { return String::new() };
        let mut mark = String::new();
        let mut signs = own.mark.chars().take(MARK).peekable();
        while let Some(sign) = signs.next() {
            let at = signs.peek().and_then(|digit| digit.to_digit(10)).filter(|digit| sign == '%' && *digit > 0);
            let Some(at) = at.map(|digit| digit as usize - 1) else {
                mark.push(sign);
                continue;
            };
            signs.next();
            let count = self.0.get(at).copied().flatten().unwrap_or_else(|| first(at));
            let form = level(at).map_or(Form::Digits, |level| level.form);
            mark.push_str(&written(count, if own.is_of_digits { Form::Digits } else { form }));
        }
        squeezed(&mark)
    }
}

/// A number in a form.
pub(super) fn written(number: usize, form: Form) -> String {
    let lower = match form {
        Form::None => return String::new(),
        Form::Padded => return format!("{number:02}"),
        Form::LowerLetters | Form::UpperLetters if (1..=LETTERS).contains(&number) => {
            let letter = char::from(b"abcdefghijklmnopqrstuvwxyz".get((number - 1) % 26).copied().unwrap_or(b'a'));
            letter.to_string().repeat((number - 1) / 26 + 1)
        }
        Form::LowerRoman | Form::UpperRoman if (1..=ROMAN).contains(&number) => roman(number),
        _ => return number.to_string(),
    };
    if matches!(form, Form::UpperLetters | Form::UpperRoman) { lower.to_uppercase() } else { lower }
}

fn roman(mut number: usize) -> String {
    const SIGNS: [(usize, &str); 13] = [
        (1_000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut roman = String::new();
    for (value, sign) in SIGNS {
        roman.push_str(&sign.repeat(number / value));
        number %= value;
    }
    roman
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_one_in_the_other() {
        let level = |form, mark: &str, start| Level { form, mark: mark.to_owned(), start, ..Level::default() };
        let levels = [
            level(Form::UpperRoman, "%1.", 1),
            Level { is_of_digits: true, ..level(Form::Digits, "%1.%2", 1) },
            level(Form::LowerLetters, "(%3)", 1),
            level(Form::None, "%4", 1),
        ];
        let mut counts = Counts::default();
        let mut next = |depth| counts.next(depth, None, |at| levels.get(at));
        let marks = [0, 1, 2, 2, 1, 3, 0, 1].map(&mut next);
        assert_eq!(marks, ["I.", "1.1", "(a)", "(b)", "1.2", "", "II.", "2.1"]);
        assert_eq!(counts.next(0, Some(9), |at| levels.get(at)), "IX.");
        let levels = levels.map(|level| Level { goes_on: true, ..level });
        let mut counts = Counts::default();
        let marks = [0, 1, 0, 1].map(|depth| counts.next(depth, None, |at| levels.get(at)));
        assert_eq!(marks, ["I.", "1.1", "II.", "2.2"]);
        // An item of a level whose upper ones have none yet.
        assert_eq!(Counts::default().next(1, None, |at| levels.get(at)), "1.1");
    }

    #[test]
    fn numbers_are_written_as_letters_as_far_as_there_are_any() {
        let all = |form: Form, numbers: [usize; 3]| numbers.map(|number| written(number, form)).join(" ");
        assert_eq!(all(Form::LowerLetters, [1, 28, 0]), "a bb 0");
        assert_eq!(all(Form::UpperRoman, [4, 1994, 4_000]), "IV MCMXCIV 4000");
        assert_eq!(all(Form::Padded, [3, 10, usize::MAX]), format!("03 10 {}", usize::MAX));
    }
}
