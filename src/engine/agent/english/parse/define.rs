//! Definitions inside of questions: "…, which is the sum of A and B", "… where X is A divided by B".

use std::ops::Range;

use super::super::sketch::Quantity;
use super::super::vocabulary;
use super::Parser;

impl Parser<'_> {
    /// Reads a definition ahead of everything else and takes its words, and those that it defines, out of the rest.
    pub(super) fn definition(&mut self) {
        let Some((mark, again, body)) = self.definition_mark() else { return };
        self.at = body;
        let nouns = self.sketch.nouns.len();
        self.articles();
        let Some(quantity) = self.quantity() else {
            self.at = 0;
            self.drop_nouns(nouns);
            return;
        };
        if matches!(quantity, Quantity::Plain(_) | Quantity::Count(_) | Quantity::Aggregate(..)) {
            self.at = 0;
            self.drop_nouns(nouns);
            return;
        }
        // What comes after the definition belongs to the question again.
        let after = self.at;
        self.end = self.items.len();
        self.at = after;
        let head = self.head(mark);
        self.sketch.measures.push(quantity);
        // "where total loss is …" says again what is defined, and nothing else.
        let said = |at: &usize| self.items[head.clone()].iter().any(|item| item.norm == self.items[*at].norm);
        if let Some(other) = again.clone().find(|at| !said(at) && !self.items[*at].any(&["the", "a", "an", "this"])) {
            self.sketch.unknown.push(self.items[other].text.clone());
        }
        self.sketch.definition = vec![head.clone(), again];
        // Groups and conditions between the defined words and the definition.
        self.at = head.end;
        self.end = mark;
        self.rest();
        self.at = after;
        self.end = self.items.len();
    }

    /// Where a definition begins with its introduction, what it says again, and where it begins without both.
    fn definition_mark(&mut self) -> Option<(usize, Range<usize>, usize)> {
        for at in 1..self.items.len() {
            self.at = at;
            let which = self.eat_any(&[
                "which is", "which are", "defined as", "calculated as", "computed as", "that is", "i e", "ie",
                "meaning", "being",
            ]);
            if which {
                let body = self.at;
                self.at = 0;
                return Some((at, body..body, body));
            }
            if self.eat("where") || self.eat("with") {
                let is = (self.at + 1..self.items.len().min(self.at + 8))
                    .find(|&is| self.items[is].any(&["is", "equals", "means", "being", "are"]));
                if let Some(is) = is {
                    let formula = self.items[is + 1..]
                        .iter()
                        .take(4)
                        .any(|item| item.any(&["sum", "ratio", "difference", "divided", "total", "number"]));
                    if formula {
                        let again = self.at..is;
                        self.at = 0;
                        let body = if self.items[is].is("defined") { is + 2 } else { is + 1 };
                        return Some((at, again, body));
                    }
                }
            }
        }
        self.at = 0;
        None
    }

    /// The words that are defined: from after the opening up to a group, a condition or the definition.
    fn head(&self, mark: usize) -> std::ops::Range<usize> {
        let mut from = 0;
        while from < mark
            && (vocabulary::is_filler(&self.items[from].norm) || vocabulary::is_show(&self.items[from].norm))
        {
            from += 1;
        }
        let stop = ["of", "by", "per", "for", "in", "each", ",", "from", "during", "since"];
        let to = (from..mark).find(|&at| self.items[at].any(&stop)).unwrap_or(mark);
        from..to.max(from)
    }

    fn rest(&mut self) {
        while self.at < self.end {
            let taken = self.grouping() || self.condition() || self.times() || self.mention() || self.filler();
            if !taken {
                self.unknown();
            }
        }
    }

    fn mention(&mut self) -> bool {
        let Some(noun) = self.noun(super::super::sketch::Want::Thing) else { return false };
        self.sketch.mentions.push(noun);
        true
    }
}
