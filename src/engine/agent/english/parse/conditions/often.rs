//! How often something happened, held against a number.

use super::*;
use crate::engine::agent::english::lexicon::Entry;

impl Parser<'_> {
    /// The dataset whose usual time is called by a verb here: orders for "bought".
    pub(super) fn dated_thing(&self) -> Option<usize> {
        let item = self.item(0)?;
        item.entries.iter().filter(|entry| !entry.partial).find_map(|entry| {
            let Sense::Field(d, f) = entry.sense else { return None };
            let (entity, field) = (self.ontology.datasets.get(d)?, self.field(d, f)?);
            entity.default_time_field.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&field.name)).then_some(d)
        })
    }

    /// "shops with more than 5 sales, with the number": the number that they were held against, or ranked by, is shown.
    pub(in super::super) fn with_its_number(&mut self) -> bool {
        let back = self.at;
        self.eat(",");
        let joined = self.eat_any(&["with", "and"]) && self.eat_any(&["the", "its", "their"]);
        let (word, last) = (self.word(0).to_owned(), self.at + 1 >= self.end);
        let ranked = self.sketch.rank.as_ref().is_some_and(|rank| rank.by.is_some());
        let bound = match self.sketch.conds.as_slice() {
            [.., Cond::Measured { quantity, .. }] | [.., Cond::Measured { quantity, .. }, Cond::Window { .. }] => {
                Some(quantity.clone())
            }
            _ => None,
        };
        if joined && last && self.frames.is_empty() && self.sketch.measures.is_empty() {
            let amount = matches!(word.as_str(), "amount" | "amounts" | "total" | "totals" | "value" | "figure");
            match bound {
                Some(quantity) if amount || matches!(word.as_str(), "number" | "numbers" | "count" | "counts") => {
                    self.sketch.measures.push(quantity);
                    self.at += 1;
                    return true;
                }
                _ if ranked && amount => {
                    self.at += 1;
                    return true;
                }
                _ => {}
            }
        }
        self.at = back;
        false
    }

    /// "rented more than 40 times".
    pub(in super::super) fn happened_often(&mut self) -> bool {
        self.guarded(Self::often)
    }

    /// "rented more than 40 times", "who bought at least twice": how often something happened.
    pub(super) fn often(&mut self) -> bool {
        if self.owner().is_none() {
            return false;
        }
        self.eat_any(&[
            "that were", "which were", "that have been", "who have", "that", "which", "who", "were", "have been",
        ]);
        let dated = self.dated_thing();
        if !self.verb_here() && dated.is_none() {
            return false;
        }
        let own: Vec<usize> = self
            .owner()
            .map(|owner| self.sketch.nouns[owner].entries.iter().filter_map(thing).collect())
            .unwrap_or_default();
        let noun = match dated {
            Some(dataset) if !self.verb_here() => {
                let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
                let noun = Noun::new(self, self.at..self.at + 1, vec![entry], Want::Counted, "");
                self.at += 1;
                Some(self.push(noun))
            }
            _ => self.noun(Want::Counted),
        };
        let Some(noun) = noun else { return false };
        self.sketch.nouns[noun].entries.retain(|entry| thing(entry).is_some_and(|d| !own.contains(&d)));
        if self.sketch.nouns[noun].entries.is_empty() {
            return false;
        }
        let op = if self.says_exactly() { Some(Comparator::Equal) } else { self.operator().map(|(op, _)| op) };
        let number = match self.word(0) {
            "once" => Some(1.0),
            "twice" => Some(2.0),
            _ => None,
        };
        let number = match number {
            Some(number) => {
                self.at += 1;
                number
            }
            None => {
                let Some((number, None)) = self.number() else { return false };
                let after = self.suffix();
                if !self.eat_any(&["times", "time"]) {
                    return false;
                }
                let op = after.or(op).or_else(|| self.suffix()).unwrap_or(Comparator::Equal);
                let value = Bound::Number(number, None);
                self.add(Cond::Measured { quantity: Quantity::Count(noun), op, value });
                return true;
            }
        };
        let value = Bound::Number(number, None);
        self.add(Cond::Measured { quantity: Quantity::Count(noun), op: op.unwrap_or(Comparator::Equal), value });
        true
    }
}
