//! The words and signs of a text.

use super::problem::Wrong;

/// The longest text that is read, in characters.
const MAX_CHARS: usize = 4_096;

/// A word or sign, and where it stands in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A keyword or a name.
    Word(String),
    /// A name in double quotes, backticks or brackets.
    Name(String),
    /// A text in single quotes.
    Text(String),
    Number(f64),
    /// A day, a unit of the calendar or a time in figures: `2013-07`, `2013-Q3`, `FY2014`, `2013-07-04T10:00`.
    Date(String),
    Sign(&'static str),
}

/// Longer signs first.
const SIGNS: [&str; 30] = [
    "<=", ">=", "<>", "!=", "==", "::", "||", "&&", "..", "(", ")", "=", "<", ">", "+", "-", "*", "/", ",", ".", "#",
    "%", "[", "]", ";", ":", "!", "≤", "≥", "≠",
];

/// Signs that are written in several ways.
const SAME: [(&str, &str); 5] = [("!=", "<>"), ("==", "="), ("≤", "<="), ("≥", ">="), ("≠", "<>")];

/// All of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Wrong> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > MAX_CHARS {
        return Err(Wrong::at(
            MAX_CHARS,
            format!("a text has at most {MAX_CHARS} characters: this has {}", chars.len()),
        ));
    }
    let mut lexer = Lexer { chars: &chars, at: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    // The end of a statement is no part of it.
    while found.last().is_some_and(|token| token.kind == Kind::Sign(";")) {
        found.pop();
    }
    Ok(found)
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<Token>, Wrong> {
        while self.peek(0).is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        let Some(first) = self.peek(0) else { return Ok(None) };
        let kind = match first {
            '\'' => Kind::Text(self.enclosed('\'', "this text has no closing quote: '")?),
            '"' => Kind::Name(self.enclosed('"', "this name has no closing quote: \"")?),
            '`' => Kind::Name(self.enclosed('`', "this name has no closing backtick")?),
            '[' if self.is_name_in_brackets() => Kind::Name(self.enclosed(']', "this name has no closing bracket")?),
            _ if is_first(first) => self.word(),
            _ if first.is_ascii_digit() || first == '.' && self.is_digit(1) => match self.date() {
                Some(date) => date,
                None => self.number()?,
            },
            _ => Kind::Sign(self.sign()?),
        };
        Ok(Some(Token { kind, start, end: self.at }))
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn is_digit(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|c| c.is_ascii_digit())
    }

    /// What is between two quotes; a doubled one stands for itself.
    fn enclosed(&mut self, close: char, missing: &str) -> Result<String, Wrong> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c != close {
                text.push(c);
            } else if self.peek(0) == Some(close) {
                text.push(close);
                self.at += 1;
            } else {
                return Ok(text);
            }
        }
        Err(Wrong::at(start, missing))
    }

    /// `[Net revenue]` is a name, `['a', 'b']` and `[1, 2]` are lists.
    fn is_name_in_brackets(&self) -> bool {
        let inside = self.chars.get(self.at + 1..).unwrap_or_default().iter().find(|c| !c.is_whitespace());
        inside.is_some_and(|c| c.is_alphabetic() || *c == '_')
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        while self.peek(0).is_some_and(is_further) {
            self.at += 1;
        }
        let word: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let year = word.get(..2).filter(|head| head.eq_ignore_ascii_case("fy")).and_then(|_| word.get(2..));
        match year.filter(|year| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())) {
            Some(year) => Kind::Date(format!("FY{year}{}", self.part_of_year())),
            None => Kind::Word(word),
        }
    }

    /// `-Q1`, `-H2` after a year.
    fn part_of_year(&mut self) -> String {
        let part = match (self.peek(0), self.peek(1), self.peek(2), self.peek(3)) {
            (Some('-'), Some(letter @ ('q' | 'Q' | 'h' | 'H')), Some(digit), after)
                if digit.is_ascii_digit() && !after.is_some_and(is_further) =>
            {
                format!("-{}{digit}", letter.to_ascii_uppercase())
            }
            _ => return String::new(),
        };
        self.at += 3;
        part
    }

    /// A date in figures, if one begins here: with a hyphen between them, and no space.
    fn date(&mut self) -> Option<Kind> {
        let start = self.at;
        let found = self.date_in_figures().filter(|_| !self.peek(0).is_some_and(is_further));
        if found.is_none() {
            self.at = start;
        }
        found.map(Kind::Date)
    }

    fn date_in_figures(&mut self) -> Option<String> {
        let year = self.digits(4, 4)?;
        if let Some('q' | 'Q') = self.peek(0) {
            self.at += 1;
            return self.digits(1, 1).map(|quarter| format!("{year}-Q{quarter}"));
        }
        let part = self.part_of_year();
        if !part.is_empty() {
            return Some(format!("{year}{part}"));
        }
        self.eat('-')?;
        if let Some('w' | 'W') = self.peek(0) {
            self.at += 1;
            return self.digits(1, 2).map(|week| format!("{year}-W{week:0>2}"));
        }
        let month = self.digits(1, 2)?;
        let before_day = self.at;
        let Some(day) = self.eat('-').and_then(|()| self.digits(1, 2)) else {
            self.at = before_day;
            return Some(format!("{year}-{month:0>2}"));
        };
        let date = format!("{year}-{month:0>2}-{day:0>2}");
        let before_time = self.at;
        match self.clock() {
            Some(clock) => Some(format!("{date}T{clock}")),
            None => {
                self.at = before_time;
                Some(date)
            }
        }
    }

    /// `T10:00`, ` 10:00:30`.
    fn clock(&mut self) -> Option<String> {
        let (Some('T' | 't' | ' '), true) = (self.peek(0), self.is_digit(1)) else { return None };
        self.at += 1;
        let hour = self.digits(1, 2)?;
        self.eat(':')?;
        let minute = self.digits(2, 2)?;
        let before = self.at;
        let Some(second) = self.eat(':').and_then(|()| self.digits(2, 2)) else {
            self.at = before;
            return Some(format!("{hour:0>2}:{minute}:00"));
        };
        let mut clock = format!("{hour:0>2}:{minute}:{second}");
        if self.peek(0) == Some('.') && self.is_digit(1) {
            self.at += 1;
            clock.push('.');
            clock.push_str(&self.digits(1, 9)?);
        }
        Some(clock)
    }

    fn eat(&mut self, c: char) -> Option<()> {
        (self.peek(0) == Some(c)).then(|| self.at += 1)
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<String> {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let digits: String = rest.iter().take(most).take_while(|c| c.is_ascii_digit()).collect();
        (digits.len() >= least).then(|| {
            self.at += digits.len();
            digits
        })
    }

    fn number(&mut self) -> Result<Kind, Wrong> {
        let start = self.at;
        let digits = |lexer: &mut Self| {
            while lexer.is_digit(0) {
                lexer.at += 1;
            }
        };
        digits(self);
        if self.peek(0) == Some('.') && self.is_digit(1) {
            self.at += 1;
            digits(self);
        }
        let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if let (Some('e' | 'E'), true) = (self.peek(0), self.is_digit(1 + signed)) {
            self.at += 1 + signed;
            digits(self);
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Kind::Number(number)),
            _ => Err(Wrong::at(start, format!("{text} is no number that can be computed with"))),
        }
    }

    fn sign(&mut self) -> Result<&'static str, Wrong> {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let is = |sign: &&&str| sign.chars().enumerate().all(|(at, c)| rest.get(at) == Some(&c));
        let Some(sign) = SIGNS.iter().find(is).copied() else {
            let what = rest.first().copied().unwrap_or_default();
            return Err(Wrong::at(
                self.at,
                format!("{what:?} means nothing here: names that hold it are in double quotes, texts in single quotes"),
            ));
        };
        self.at += sign.chars().count();
        Ok(SAME.iter().find(|(other, _)| *other == sign).map_or(sign, |(_, same)| same))
    }
}

/// Whether a word begins with it.
pub(super) fn is_first(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a word goes on with it.
pub(super) fn is_further(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
