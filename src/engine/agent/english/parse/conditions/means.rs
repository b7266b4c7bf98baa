//! Bounds on averages: "whose trips are on average longer than 5 hours", "with an average length above 5 minutes".

use super::*;
use crate::model::ontology::Aggregation;

const ON_AVERAGE: &[&str] = &["on average", "on an average", "typically", "usually"];

impl Parser<'_> {
    /// "towns whose trips are on average longer than 5 hours": the mean of what each has of another thing.
    pub(super) fn mean_of_theirs(&mut self) -> bool {
        let Some(owner) = self.owner().filter(|_| self.frames.is_empty()) else { return false };
        // "with trips that are on average longer than 5 hours"
        let has =
            !self.eat("whose") && self.eat_any(&["with", "have", "has", "had", "having", "that have", "who have"]);
        if !(has || self.previous() == "whose") || !self.thing_at(0) {
            return false;
        }
        let Some(child) = self.noun(Want::Thing) else { return false };
        if has && !self.eat_any(&["that", "which", "who"]) {
            return false;
        }
        let mut mean = self.eat_any(ON_AVERAGE);
        self.eat_any(&["are", "is", "were", "was", "last", "lasted", "take", "took", "run", "ran", "stayed", "have"]);
        mean |= self.eat_any(&["on average", "on an average", "typically", "usually", "average", "averaged"]);
        let from = self.at;
        let Some((op, hints)) = self.operator() else { return false };
        let Some(value) = self.bound_value() else { return false };
        let op = self.suffix().unwrap_or(op);
        let hints = if hints.is_empty() && self.eat_any(&["long", "in length"]) {
            &["length", "duration", "distance", "time", "minutes"][..]
        } else {
            hints
        };
        mean |= self.eat_any(ON_AVERAGE);
        let unit = match &value {
            Bound::Number(_, unit) => unit.clone(),
            _ => None,
        };
        if !mean || hints.is_empty() && unit.is_none() {
            return false;
        }
        let field = self.hinted(from, hints);
        self.sketch.nouns[field].unit = unit;
        self.sketch.nouns[field].inside = Some(child);
        self.sketch.nouns[field].holder = Some(owner);
        self.sketch.mentions.push(child);
        self.sketch.conds.push(Cond::Measured { quantity: Quantity::Aggregate(Aggregation::Avg, field), op, value });
        true
    }

    /// "with an average length above 5 minutes", "only towns with an average over 6", "above 5 minutes on average": of
    /// the mean that was just read, never of single rows.
    pub(super) fn mean_bounded(&mut self) -> bool {
        let Some(quantity @ Quantity::Aggregate(Aggregation::Avg | Aggregation::Median, noun)) =
            self.sketch.measures.last().cloned()
        else {
            return false;
        };
        let follows = self.sketch.nouns[noun].items.end == self.at;
        let with = self.eat_any(&["with", "having", "that have", "where"]);
        self.articles();
        let again = with && self.eat_any(&["average", "mean", "averages", "average is", "median"]);
        let Some((op, [])) = self.operator() else { return false };
        let Some(value) = self.bound_value() else { return false };
        let op = self.suffix().unwrap_or(op);
        let mean = self.eat_any(ON_AVERAGE);
        // What follows may be what the number is of: "above 5 orders".
        let other = self.item(0).is_some_and(|item| item.is_named() && !item.any(&["by", "per", "in", "for"]));
        if !(follows || again || mean) || other {
            return false;
        }
        self.sketch.conds.push(Cond::Measured { quantity, op, value });
        true
    }
}
