//! One number as a part of another: "profit as a percentage of revenue".

use super::super::sketch::Quantity;
use super::Parser;

impl Parser<'_> {
    /// After a number: the other one that it is held against. A part of the total is no such thing.
    pub(super) fn portion(&mut self) -> bool {
        let start = (self.at, self.sketch.nouns.len());
        let said = self.eat_any(&[
            "as a percentage of", "as percentage of", "as a percent of", "as percent of", "as a share of",
            "as a fraction of", "as a proportion of", "as a ratio of", "as a % of", "as % of", "in percent of",
            "relative to",
        ]);
        self.articles();
        let whole = matches!(self.word(0), "total" | "whole" | "sum" | "overall");
        let first = self.sketch.measures.last().cloned();
        if let (true, false, Some(first)) = (said, whole, first)
            && let Some(second) = self.quantity()
            && second != first
        {
            self.sketch.measures.pop();
            self.sketch.measures.push(Quantity::Ratio(Box::new(first), Box::new(second)));
            return true;
        }
        self.at = start.0;
        self.drop_nouns(start.1);
        false
    }
}
