//! One text of a query while it is read: where the reading is, and what is known around it.

use jiff::civil::DateTime;

use super::lexer::{Kind, Token, tokens};
use super::problem::{Problem, Wrong};
use super::words::RESERVED;
use crate::model::ontology::Ontology;
use crate::model::plan::{Dimension, Measure};

/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 32;

/// What is read, or where it cannot be read further.
pub(super) type Read<T> = Result<T, Wrong>;

/// What the other arguments of the query say.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    pub each: Option<String>,
    /// The datasets that are named anywhere in it.
    pub datasets: Vec<String>,
    /// What was read of the dimensions and, after them, the measures.
    pub dimensions: Vec<Dimension>,
    pub measures: Vec<Measure>,
    /// How those are written.
    pub texts: (Vec<String>, Vec<String>),
    pub compares: bool,
    /// The dataset each of whose rows is one of the answer, so that its fields can stand beside the others; and those
    /// that do, because the order is by them.
    pub rows: Option<String>,
    pub beside: Vec<Dimension>,
    /// Names of several words, in lower case: they are read without quotes too.
    pub spaced: Vec<Vec<String>>,
}

/// Reads one text. A wrong name is noted, and the reading goes on.
pub(super) struct Reader<'a> {
    pub ontology: &'a Ontology,
    pub now: DateTime,
    pub around: &'a Around,
    /// Names that are not there.
    pub wrong: Vec<Wrong>,
    /// Fields that the answer is ordered by and has no column of yet.
    pub beside: Vec<Dimension>,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// What a text of an argument says: all of it is read. Problems are added to the others.
pub(super) fn whole<'a, T>(
    argument: &str,
    text: &'a str,
    (ontology, now, around): (&'a Ontology, DateTime, &'a Around),
    problems: &mut Vec<Problem>,
    read: impl FnOnce(&mut Reader<'a>) -> Read<T>,
) -> Option<T> {
    let found = Reader::new(text, (ontology, now, around)).and_then(|mut reader| {
        let found = read(&mut reader).and_then(|found| reader.end().map(|()| found));
        problems.extend(reader.wrong.drain(..).map(|wrong| wrong.of(argument)));
        found
    });
    found.map_err(|wrong| problems.push(wrong.of(argument))).ok()
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, (ontology, now, around): (&'a Ontology, DateTime, &'a Around)) -> Read<Self> {
        let tokens = joined(tokens(text)?, &around.spaced);
        Ok(Self { ontology, now, around, wrong: Vec::new(), beside: Vec::new(), text, tokens, at: 0, depth: 0 })
    }

    pub(super) fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(super) fn kind_at(&self, place: usize) -> Option<&Kind> {
        self.tokens.get(place).map(|token| &token.kind)
    }

    /// The place after the last word.
    pub(super) fn place_of_end(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Goes back to where the reading was.
    pub(super) fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    pub(super) fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Where in the text the reading is, in characters.
    pub(super) fn here(&self) -> usize {
        self.offset(self.at)
    }

    pub(super) fn offset(&self, place: usize) -> usize {
        let end = || self.tokens.last().map_or(0, |token| token.end);
        self.tokens.get(place).map_or_else(end, |token| token.start)
    }

    /// What is written from one place up to the present one.
    pub(super) fn since(&self, place: usize) -> String {
        let from = self.offset(place);
        let to = self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(from, |token| token.end);
        self.text.chars().skip(from).take(to.saturating_sub(from)).collect()
    }

    /// A word that is no name in quotes, in lower case.
    pub(super) fn word(&self, ahead: usize) -> Option<String> {
        match self.kind(ahead) {
            Some(Kind::Word(word)) => Some(word.to_lowercase()),
            _ => None,
        }
    }

    pub(super) fn is(&self, ahead: usize, words: &[&str]) -> bool {
        matches!(self.kind(ahead), Some(Kind::Word(word)) if words.iter().any(|it| it.eq_ignore_ascii_case(word)))
    }

    /// Whether these words follow, one after the other, or joined by underscores.
    pub(super) fn are(&self, words: &str) -> Option<usize> {
        if words.contains(' ') && self.is(0, &[&words.replace(' ', "_")]) {
            return Some(1);
        }
        let mut count = 0;
        for word in words.split(' ') {
            self.is(count, &[word]).then_some(())?;
            count += 1;
        }
        Some(count)
    }

    pub(super) fn eat(&mut self, words: &[&str]) -> bool {
        let found = words.iter().find_map(|words| self.are(words));
        self.at += found.unwrap_or(0);
        found.is_some()
    }

    pub(super) fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.kind(ahead), Some(Kind::Sign(is)) if *is == sign)
    }

    pub(super) fn eat_sign(&mut self, sign: &str) -> bool {
        let is = self.is_sign(0, sign);
        self.at += usize::from(is);
        is
    }

    pub(super) fn need_sign(&mut self, sign: &str, after: &str) -> Read<()> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.wrong_here(format!("`{sign}` is missing {after}"))) }
    }

    pub(super) fn need(&mut self, word: &str, after: &str) -> Read<()> {
        if self.eat(&[word]) { Ok(()) } else { Err(self.wrong_here(format!("`{word}` is missing {after}"))) }
    }

    /// Something is wrong with what comes next.
    pub(super) fn wrong_here(&self, message: impl Into<String>) -> Wrong {
        Wrong::at(self.here(), message)
    }

    fn end(&self) -> Read<()> {
        match self.is_end() {
            true => Ok(()),
            false if self.is(0, &["per"]) => Err(self.wrong_here(
                "`per` belongs within an aggregate of the number for each of them: `avg(count(order) per order.city)`",
            )),
            false => Err(self.wrong_here(format!("{} is more than can be read here", self.what()))),
        }
    }

    /// What comes next, for people.
    pub(super) fn what(&self) -> String {
        match self.tokens.get(self.at) {
            None => "the end".into(),
            Some(token) => {
                let text: String =
                    self.text.chars().skip(token.start).take((token.end - token.start).min(60)).collect();
                format!("`{text}`")
            }
        }
    }

    /// The place after the parenthesis that closes the one which is here.
    pub(super) fn after_group(&self) -> Option<usize> {
        let mut open = 0_usize;
        for (place, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                Kind::Sign("(") => open += 1,
                Kind::Sign(")") => open = open.checked_sub(1)?,
                _ => {}
            }
            if open == 0 {
                return Some(place + 1);
            }
        }
        None
    }

    /// Reads what is inside something else.
    pub(super) fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.wrong_here(format!("this is nested deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }
}

/// Words that are a name together become that name. None of them may be a word of the language.
fn joined(tokens: Vec<Token>, spaced: &[Vec<String>]) -> Vec<Token> {
    let mut found = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let longest = spaced.iter().filter(|name| begins_with(rest, name)).map(Vec::len).max();
        match longest.and_then(|count| rest.split_at_checked(count)) {
            Some((name, after)) => {
                let words = name.iter().filter_map(plain_word);
                let end = name.last().map_or(first.end, |last| last.end);
                let kind = Kind::Name(words.collect::<Vec<_>>().join(" "));
                found.push(Token { kind, start: first.start, end });
                rest = after;
            }
            None => {
                found.push(first.clone());
                rest = after;
            }
        }
    }
    found
}

fn begins_with(tokens: &[Token], name: &[String]) -> bool {
    let is = |(token, word): (&Token, &String)| plain_word(token).is_some_and(|it| it.to_lowercase() == *word);
    tokens.len() >= name.len() && tokens.iter().zip(name).all(is)
}

fn plain_word(token: &Token) -> Option<&str> {
    match &token.kind {
        Kind::Word(word) if !RESERVED.iter().any(|it| it.eq_ignore_ascii_case(word)) => Some(word),
        _ => None,
    }
}
