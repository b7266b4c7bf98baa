//! What the numbers are grouped by.

use super::super::items::Kind;
use super::super::sketch::{Group, Quantity, Want};
use super::Parser;
use super::nouns::{field_of, thing};

impl Parser<'_> {
    pub(super) fn grouping(&mut self) -> bool {
        let start = self.at;
        let each = self.eat_any(&[
            "for each of the",
            "for each",
            "for every",
            "in each",
            "in every",
            "at each",
            "at every",
            "from each",
            "on each",
            "of each",
            "per",
            "each",
            "every",
            "for all the different",
            "to each",
            "within each",
        ]);
        let per = each && self.previous() == "per";
        let by = !each
            && self.eat_any(&[
                "broken down by",
                "break down by",
                "grouped by",
                "group by",
                "split by",
                "segmented by",
                "across all",
                "across",
                "by each",
                "by every",
                "then by",
                "as a function of",
                "by",
                "separately for each",
                "for different",
            ]);
        if !each && !by {
            // "that a policy holder has paid"
            return self.doer();
        }
        self.eat_any(&["different", "distinct", "respective"]);
        let nouns = self.sketch.nouns.len();
        let mut groups: Vec<Group> = Vec::new();
        loop {
            let back = (self.at, self.sketch.nouns.len());
            let value = self.item(0).is_some_and(|item| item.has_value() && !item.is_named());
            let quantity = !value && by && self.quantity_after_by(groups.is_empty());
            if quantity {
                return true;
            }
            let group = if value { None } else { self.group_term(each) };
            let Some(group) = group else {
                self.at = back.0;
                self.sketch.nouns.truncate(back.1);
                break;
            };
            // A number is held against something: "by" was not about groups here.
            groups.push(Group { per, ..group });
            let comma = self.at;
            while self.eat_any(&[",", "and by", "and per", "and", "&", "and for each"]) {}
            let time_window = matches!(
                self.item(0).map(|item| &item.kind),
                Some(Kind::Time(crate::engine::agent::time::TimePhrase::Window(_)))
            );
            if comma == self.at || time_window || !self.groups_go_on() {
                self.at = comma;
                break;
            }
        }
        if groups.is_empty() {
            self.at = start;
            self.sketch.nouns.truncate(nouns);
            return false;
        }
        // A list of rows by some fields shows these fields.
        for group in groups {
            let replaced = self.replaces(&group);
            if let Some(at) = replaced {
                self.sketch.groups[at] = group;
            } else if !self.sketch.groups.contains(&group) {
                self.sketch.groups.push(group);
            }
        }
        true
    }

    /// A field of a dataset that was named as a group before says how that group is called: "each holder … by holder
    /// id".
    fn replaces(&self, group: &Group) -> Option<usize> {
        let noun = &self.sketch.nouns[group.noun?];
        let mut datasets: Vec<usize> = noun.entries.iter().filter_map(field_of).collect();
        if let Some(owner) = noun.of {
            datasets = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        }
        let same = |known: &Group| {
            let Some(noun) = known.noun.map(|noun| &self.sketch.nouns[noun]) else { return false };
            known.each && !group.each && noun.entries.iter().filter_map(thing).any(|d| datasets.contains(&d))
        };
        self.sketch.groups.iter().position(same)
    }

    fn groups_go_on(&self) -> bool {
        let Some(item) = self.item(0) else { return false };
        if matches!(item.kind, Kind::Time(crate::engine::agent::time::TimePhrase::Grain(_))) {
            return true;
        }
        let article = usize::from(matches!(item.norm.as_str(), "the" | "their"));
        self.item(article).is_some_and(|item| item.is_named() && !matches!(item.kind, Kind::Time(_)))
    }

    /// "customers by revenue": the number that things are compared by.
    fn quantity_after_by(&mut self, first: bool) -> bool {
        if !first {
            return false;
        }
        let back = (self.at, self.sketch.nouns.len());
        if let Some(quantity) = self.quantity() {
            let sure = match &quantity {
                Quantity::Plain(noun) => self.is_quantity(*noun) || self.sketch.rank.is_some(),
                _ => true,
            };
            if sure {
                match &mut self.sketch.rank {
                    Some(rank) if rank.by.is_none() => {
                        rank.by = Some(quantity);
                        rank.field = None;
                        rank.quality = false;
                        rank.frequency = false;
                    }
                    _ => self.sketch.measures.push(quantity),
                }
                return true;
            }
        }
        self.at = back.0;
        self.sketch.nouns.truncate(back.1);
        false
    }

    /// "… that a policy holder has paid": each of those who do it.
    fn doer(&mut self) -> bool {
        if self.sketch.measures.is_empty() || !matches!(self.word(0), "that" | "which") {
            return false;
        }
        let start = self.at;
        self.at += 1;
        if !matches!(self.word(0), "a" | "an" | "each" | "every") {
            self.at = start;
            return false;
        }
        self.at += 1;
        let is_thing = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| thing(entry).is_some()));
        let nouns = self.sketch.nouns.len();
        if let Some(noun) = is_thing.then(|| self.noun(Want::Group)).flatten() {
            self.eat_any(&["has", "have", "had"]);
            let verb = self.word(0);
            let neutral = super::super::grammar::is_relation(verb)
                || matches!(verb, "paid" | "pays" | "spent" | "spends" | "earned" | "earns");
            if neutral {
                self.at += 1;
            }
            self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
            return true;
        }
        self.sketch.nouns.truncate(nouns);
        self.at = start;
        false
    }
}
