//! A question as its words, for rewritings that look for some of them.

use crate::engine::agent::english::text::token::{Token, tokens};

/// A question as its words, in small letters, with where each stands.
pub(in super::super) struct Words<'q> {
    question: &'q str,
    all: Vec<Token>,
}

impl<'q> Words<'q> {
    pub(in super::super) fn of(question: &'q str) -> Self {
        let all =
            tokens(question).into_iter().filter(|token| !matches!(token.text.as_str(), "?" | "." | "!")).collect();
        Self { question, all }
    }

    pub(in super::super) fn at(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |token| token.norm.as_str())
    }

    pub(in super::super) fn has(&self, at: usize, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(ahead, word)| self.at(at + ahead) == word)
    }

    pub(in super::super) fn find(&self, phrase: &str) -> Option<usize> {
        (0..self.all.len()).find(|at| self.has(*at, phrase))
    }

    pub(in super::super) fn len(&self) -> usize {
        self.all.len()
    }

    /// As it was written; empty when nothing is between.
    pub(in super::super) fn text(&self, from: usize, to: usize) -> &'q str {
        let (Some(first), Some(last)) = (self.all.get(from), to.checked_sub(1).and_then(|last| self.all.get(last)))
        else {
            return "";
        };
        if from < to { self.question.get(first.start..last.end).unwrap_or_default() } else { "" }
    }
}
