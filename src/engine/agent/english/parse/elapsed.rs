//! Days from one date to another: "days between departure and return", "how many days after the departure was
//! each trip billed".

use crate::engine::agent::english::lexicon::Sense;
use crate::model::ontology::Aggregation;

use super::super::sketch::{Group, Noun, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::dates::of_any;
use super::nouns::thing;

/// What may stand between "days" and the dates.
const PASS: &[&str] = &[
    "are there", "were there", "is there", "was there", "there are", "there were", "do", "does", "did", "lie", "lies",
    "lay", "pass", "passes", "passed", "elapse", "elapses", "elapsed", "go by", "goes by", "went by", "it takes",
    "it took", "it take", "is it", "was it", "on average", "typically", "usually", "have passed", "had passed", "that",
    "we have", "are", "were",
];

impl Parser<'_> {
    /// An aggregate of the days between two dates.
    pub(super) fn elapsed(&mut self) -> Option<Quantity> {
        let (start, nouns, groups, conds) =
            (self.at, self.sketch.nouns.len(), self.sketch.groups.len(), self.sketch.conds.len());
        let found = self.days();
        if found.is_none() {
            self.at = start;
            self.drop_nouns(nouns);
            self.sketch.groups.truncate(groups);
            self.sketch.conds.truncate(conds);
        }
        found
    }

    fn days(&mut self) -> Option<Quantity> {
        self.articles();
        let mut function = match self.word(0) {
            "longest" | "maximum" | "max" => Some(Aggregation::Max),
            "shortest" | "minimum" | "min" => Some(Aggregation::Min),
            "typical" => Some(Aggregation::Avg),
            word => vocabulary::aggregate(word),
        };
        self.at += usize::from(function.is_some());
        if !self.days_asked() {
            return None;
        }
        loop {
            if self.eat_any(&["on average", "typically", "usually"]) {
                function = function.or(Some(Aggregation::Avg));
            } else if !self.eat_any(PASS) {
                break;
            }
        }
        let (from, to) = if self.eat("between") {
            self.pair_of_dates(&["and"])?
        } else if self.eat("from") {
            self.pair_of_dates(&["to", "until", "till"])?
        } else if self.eat("after") {
            self.event_after()?
        } else if self.eat("before") {
            let (other, event) = self.event_after()?;
            (event, other)
        } else {
            return None;
        };
        let back = self.at;
        self.eat(",");
        if self.eat_any(&["on average", "typically", "usually"]) {
            function = function.or(Some(Aggregation::Avg));
        } else {
            self.at = back;
        }
        let fields = |noun: NounAt| -> Vec<Sense> {
            self.sketch.nouns[noun].entries.iter().map(|entry| entry.sense.clone()).collect()
        };
        (fields(from) != fields(to)).then_some(Quantity::Days { function, from, to })
    }

    /// "how many days", "number of days", "how long", "time".
    fn days_asked(&mut self) -> bool {
        if self.eat_any(&["how long", "how much time"]) {
            self.eat_any(&["is the time", "was the time", "is the period", "is the interval", "is the gap"]);
            return true;
        }
        self.eat_any(&["how many", "number of", "the number of", "total number of"]);
        let asked = matches!(self.word(0), "days" | "time" | "duration" | "interval" | "gap" | "lag" | "timespan");
        self.at += usize::from(asked);
        if asked {
            self.eat("in days");
        }
        asked
    }

    fn pair_of_dates(&mut self, joined: &[&str]) -> Option<(NounAt, NounAt)> {
        let first = self.date()?;
        if !self.eat_any(joined) {
            return None;
        }
        let second = self.date()?;
        self.of_one_thing(first, second);
        Some((first, second))
    }

    /// "the departure was each trip billed", behind "after": both dates, that of the event last.
    fn event_after(&mut self) -> Option<(NounAt, NounAt)> {
        let first = self.date()?;
        self.eat(",");
        if !self.eat_any(&["was", "were", "is", "are", "did", "do", "does", "has", "have", "had"]) {
            return None;
        }
        let each = self.eat_any(&["each", "every"]);
        self.articles();
        let mut own: Vec<usize> = Vec::new();
        if self.date_entries(self.at, &[]).is_none_or(|(_, used)| used > 1 || self.is_thing_here())
            && self.is_thing_here()
        {
            let noun = self.noun(if each { Want::Group } else { Want::Thing })?;
            own = self.sketch.nouns[noun].entries.iter().filter_map(thing).collect();
            if each {
                self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
            } else if !self.literal_after(noun) {
                self.sketch.mentions.push(noun);
            }
        } else if each {
            return None;
        }
        self.eat_any(&["been", "finally", "actually", "get", "take place"]);
        let at = self.at;
        let (mut entries, used) = self.date_entries(at, &own)?;
        if !own.is_empty() {
            // What happened is said of the thing that was named, of no other.
            entries.retain(|entry| of_any(entry, &own));
        }
        if entries.is_empty() {
            return None;
        }
        self.at += used;
        let noun = Noun::new(self, at..at + used, entries, Want::Time, "");
        let second = self.push(noun);
        self.of_one_thing(first, second);
        Some((first, second))
    }
}
