//! What the numbers are grouped by.

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::model::ontology::{Aggregation, DataType};

use super::super::items::Kind;
use super::super::sketch::{Ask, Group, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::{field_of, thing};

impl Parser<'_> {
    /// Whether a field is what the numbers are grouped by already.
    pub(super) fn grouped(&self, noun: NounAt) -> bool {
        let first = |noun: NounAt| self.sketch.nouns[noun].entries.first().map(|entry| &entry.sense);
        self.sketch.groups.iter().filter_map(|group| group.noun).any(|known| first(known) == first(noun))
            && first(noun).is_some()
            && self.sketch.nouns[noun].of.is_none()
    }

    pub(super) fn grouping(&mut self) -> bool {
        let start = self.at;
        if self.each_window() {
            return self.times();
        }
        // "in price bands of 5"
        if !self.sketch.measures.is_empty() || self.sketch.subject.is_some() {
            if self.eat("in")
                && let Some(group) = self.banded(false)
            {
                self.sketch.groups.push(group);
                return true;
            }
            self.at = start;
        }
        if self.every_one() {
            return true;
        }
        // "served by only one line" counts the lines.
        let exact = matches!(self.word(1), "only" | "just" | "exactly" | "precisely");
        if self.word(0) == "by" && exact && self.word(2) == "one" {
            return false;
        }
        if self.word(0) == "by" && self.doers() {
            self.at += 1;
            return true;
        }
        let each = self.eat_any(&[
            "for each of the", "for each", "for every", "in each", "in every", "at each", "at every", "from each",
            "on each", "of each", "per", "each", "every", "for all the different", "to each", "within each",
        ]);
        // "sold by shop name", where "sold by" is said of the shop.
        let role = self.item(0).is_some_and(|item| {
            item.norm.ends_with(" by")
                && item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_)))
                && self.item(1).is_some_and(|next| next.entries.iter().any(Entry::is_whole_thing))
        });
        if !each && role && !self.sketch.measures.is_empty() {
            self.at += 1;
        }
        let per = each && self.previous() == "per";
        let by = !each
            && (role && !self.sketch.measures.is_empty()
                || self.eat_any(&[
                    "broken down by", "break down by", "grouped by", "group by", "split by", "segmented by",
                    "across all", "across", "by each", "by every", "then by", "as a function of", "by",
                    "separately for each", "for different",
                ]));
        if !each && !by {
            // "that a policy holder has paid"
            return self.agent();
        }
        self.eat_any(&["different", "distinct", "respective"]);
        let nouns = self.sketch.nouns.len();
        let mut groups: Vec<Group> = Vec::new();
        loop {
            let back = (self.at, self.sketch.nouns.len());
            let value = self.item(0).is_some_and(|item| item.has_value() && !item.is_named());
            let banded = if value { None } else { self.banded(each) };
            let quantity = !value && banded.is_none() && by && self.quantity_after_by(groups.is_empty());
            if quantity {
                return true;
            }
            let group = if value { None } else { banded.or_else(|| self.group_term(each)) };
            let Some(group) = group else {
                self.at = back.0;
                self.drop_nouns(back.1);
                break;
            };
            // "the best shop in each town": the town of the shop.
            if let (Some(noun), Some(owner)) = (group.noun, self.sketch.subject.filter(|_| each)) {
                self.sketch.nouns[noun].near = Some(owner);
            }
            if let Some(noun) = group.noun.filter(|noun| per && self.is_amount(*noun)) {
                let said = &self.sketch.nouns[noun].text;
                self.sketch.refused = Some(format!(
                    "“per {said}” may divide by that number, or ask for each of its values: say “divided by total \
                     {said}”, or “by {said}”."
                ));
            }
            // A number is held against something: "by" was not about groups here.
            groups.push(Group { per, ..group });
            let comma = self.at;
            while self.eat_any(&[",", "and by", "and per", "and", "&", "and for each"]) {}
            let time_window = matches!(
                self.item(0).map(|item| &item.kind),
                Some(Kind::Time(crate::engine::agent::english::time::TimePhrase::Window(_)))
            );
            if comma == self.at || time_window || !self.groups_go_on() {
                self.at = comma;
                break;
            }
        }
        if groups.is_empty() {
            self.at = start;
            self.drop_nouns(nouns);
            return false;
        }
        // A list of rows by some fields shows these fields.
        for group in groups {
            let replaced = self.replaces(&group);
            if let Some(at) = replaced.filter(|at| self.is_name(&group) || !self.averaged_over(*at)) {
                self.sketch.groups[at] = group;
            } else if !self.sketch.groups.contains(&group) {
                self.sketch.groups.push(group);
            }
        }
        true
    }

    /// "towns per country": how many different ones each has.
    pub(super) fn counted_per(&mut self) {
        let sketch = &self.sketch;
        let per = !sketch.groups.is_empty() && sketch.groups.iter().all(|group| group.per);
        let bare = sketch.ask == Ask::Open && sketch.measures.is_empty() && sketch.rank.is_none();
        let [column] = sketch.columns.as_slice() else { return };
        let column = *column;
        let noun = &sketch.nouns[column];
        let many = noun.norm.split(' ').next_back().is_some_and(|last| words::singular(last) != last);
        let text = !noun.entries.is_empty()
            && noun.entries.iter().all(|entry| match entry.sense {
                Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype == DataType::String),
                _ => entry.partial,
            });
        if per && bare && sketch.subject.is_none() && many && text {
            self.sketch.nouns[column].want = Want::Counted;
            self.sketch.columns.clear();
            self.sketch.measures.push(Quantity::Distinct(column));
        }
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

    /// Whether a group is what its things are called, as in "sales per shop by shop name".
    fn is_name(&self, group: &Group) -> bool {
        let Some(noun) = group.noun.map(|noun| &self.sketch.nouns[noun]) else { return false };
        noun.entries.iter().filter(|entry| !entry.partial).any(|entry| {
            let Sense::Field(d, f) = entry.sense else { return false };
            let known = self.ontology.datasets.get(d).zip(self.field(d, f));
            known.is_some_and(|(entity, own)| {
                let keys = std::iter::once(&entity.primary_key).chain(&entity.unique_keys);
                let mut names = keys.filter(|key| key.len() == 1).flatten().chain(&entity.label_field);
                names.any(|name| name.eq_ignore_ascii_case(&own.name))
            })
        })
    }

    /// "sales per customer by country": the mean over the customers of each country, so that the customers are no
    /// group any more.
    fn averaged_over(&mut self, at: usize) -> bool {
        let sketch = &mut self.sketch;
        if !sketch.groups[at].per || sketch.rank.is_some() {
            return false;
        }
        let number = matches!(
            sketch.measures.as_slice(),
            [Quantity::Count(_) | Quantity::Plain(_) | Quantity::Aggregate(Aggregation::Sum, _)]
        );
        let rows = sketch.subject.filter(|_| sketch.measures.is_empty() && sketch.columns.is_empty());
        let inner = if number { sketch.measures.pop() } else { rows.map(Quantity::Count) };
        let Some(inner) = inner else { return false };
        if let Some(rows) = rows {
            sketch.subject = None;
            sketch.nouns[rows].want = Want::Counted;
        }
        let group = Group { per: false, ..sketch.groups.remove(at) };
        sketch.measures.push(Quantity::Over(Aggregation::Avg, Box::new(inner), vec![group]));
        true
    }

    /// Whether a noun is nothing but a number that rows have, and is not called a number of something.
    fn is_amount(&self, noun: NounAt) -> bool {
        let noun = &self.sketch.nouns[noun];
        noun.width.is_none()
            && !noun.norm.starts_with("number")
            && !noun.entries.is_empty()
            && noun.entries.iter().all(|entry| self.is_measure(&entry.sense))
    }

    /// "loans made by members from Hull": a condition says by whom, and nothing is grouped. "How many loans" needs no
    /// verb for it.
    fn doers(&self) -> bool {
        let many = self.item(1).is_some_and(|item| {
            let last = item.norm.rsplit(' ').next().unwrap_or_default();
            words::singular(last) != last && item.entries.iter().any(Entry::is_whole_thing)
        });
        let value = matches!(self.word(2), "from" | "in" | "of" | "at")
            && self.item(3).is_some_and(|item| item.has_value() && !item.is_named());
        let clause = matches!(self.word(2), "who" | "that" | "whose");
        // "orders by customers" has a noun that is a verb, too.
        let verb = self.at.checked_sub(1).is_some_and(|at| {
            let noun = self.sketch.nouns.iter().any(|noun| noun.items.contains(&at));
            let word = self.previous();
            word.ends_with("ed") || words::is_irregular(word) || self.verb_at(at) && !noun
        });
        let counted = match self.sketch.measures.as_slice() {
            [Quantity::Count(noun)] => {
                let said = &self.sketch.nouns[*noun].items;
                said.end == self.at && matches!(self.previous_of(said.start), "many" | "how many")
            }
            _ => false,
        };
        many && (verb && (value || clause) || counted && value)
    }

    fn groups_go_on(&self) -> bool {
        let Some(item) = self.item(0) else { return false };
        if matches!(item.kind, Kind::Time(crate::engine::agent::english::time::TimePhrase::Grain(_))) {
            return true;
        }
        let article = usize::from(matches!(item.norm.as_str(), "the" | "their"));
        // "for each town, the shop with the highest revenue": the shop is what is asked for.
        let ranked = item.norm == "the"
            && self.previous() == ","
            && (2..5).any(|ahead| {
                let start = matches!(self.word(ahead), "with" | "that" | "who" | "which");
                start && (1..3).any(|more| vocabulary::superlative(self.word(ahead + more)).is_some())
            });
        // "per customer, the number of orders": what is asked for, too.
        let counted = item.norm == "the"
            && matches!(self.word(1), "number" | "count" | "total" | "average" | "mean" | "median" | "sum")
            && matches!(self.word(2), "of")
            || matches!(self.word(1), "number of" | "how many");
        if ranked || counted {
            return false;
        }
        // "for each town, revenue minus cost": a number that is asked for.
        let reckoned = matches!(self.word(article + 1), "minus" | "plus" | "divided" | "between");
        // "per town and the number of sales": another number.
        let counted = self.item(article).is_some_and(|item| {
            ["number of", "count of", "total number", "average "].iter().any(|start| item.norm.starts_with(start))
        }) || matches!(self.word(article), "number" | "count") && self.word(article + 1) == "of";
        // "by town, shop 2": one shop.
        let one =
            self.previous() == "," && matches!(self.item(article + 1).map(|item| &item.kind), Some(Kind::Number(_)));
        !reckoned
            && !one
            && !counted
            && self.item(article).is_some_and(|item| item.is_named() && !matches!(item.kind, Kind::Time(_)))
    }

    /// "customers by revenue": the number that things are compared by.
    fn quantity_after_by(&mut self, first: bool) -> bool {
        if !first {
            return false;
        }
        let back = (self.at, self.sketch.nouns.len());
        if let Some(quantity) = self.quantity() {
            let sure = match &quantity {
                Quantity::Plain(noun) => {
                    let open = self.sketch.rank.as_ref().is_some_and(|rank| rank.by.is_none());
                    self.is_quantity(*noun) || open
                }
                _ => true,
            };
            if sure {
                // "the busiest month by cancellations" says itself what busy is.
                let named = |by: &Quantity| match by {
                    Quantity::Plain(noun) => self.sketch.nouns.get(*noun).is_some_and(|noun| {
                        super::super::vocabulary::superlative(noun.norm.split(' ').next().unwrap_or_default()).is_some()
                    }),
                    _ => false,
                };
                let open = self.sketch.rank.as_ref().is_some_and(|rank| rank.by.as_ref().is_none_or(named));
                match &mut self.sketch.rank {
                    Some(rank) if open => {
                        // "the shortest flight by distance": the adjective's own field is not asked for.
                        let named = match &quantity {
                            Quantity::Plain(noun) => Some(self.sketch.nouns[*noun].clone()),
                            _ => None,
                        };
                        if let (Some(field), Some(named)) = (rank.field, named) {
                            self.sketch.nouns[field] = named;
                        }
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
        self.drop_nouns(back.1);
        // "top 3 shops by refunded sales": how many there are of what a condition names.
        let named = self.item(0).and_then(|item| item.entries.first());
        let state = named.is_some_and(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial);
        let theirs = self.are_theirs();
        if (state || theirs)
            && self.sketch.rank.as_ref().is_none_or(|rank| rank.by.is_none() && rank.field.is_none())
            && (self.sketch.rank.is_some() || self.sketch.subject.is_some())
            && self.sketch.measures.is_empty()
            && let Some(noun) = self.noun(Want::Counted)
        {
            let counted = self.segment_thing(noun);
            if theirs || counted != noun {
                if theirs {
                    self.focus = Some(counted);
                }
                match &mut self.sketch.rank {
                    Some(rank) => {
                        rank.by = Some(Quantity::Count(counted));
                        rank.quality = false;
                        rank.frequency = false;
                    }
                    None => self.sketch.measures.push(Quantity::Count(counted)),
                }
                return true;
            }
        }
        self.at = back.0;
        self.drop_nouns(back.1);
        false
    }

    /// "top 3 titles by loans", where each loan is of one title: how many of them each has.
    fn are_theirs(&self) -> bool {
        let Some((item, subject)) = self.item(0).zip(self.sketch.subject) else { return false };
        let last = item.norm.rsplit(' ').next().unwrap_or_default();
        let first = |entries: &[Entry]| entries.iter().filter(|entry| !entry.partial).find_map(thing);
        let things = first(&item.entries).zip(first(&self.sketch.nouns[subject].entries));
        words::singular(last) != last
            && things.is_some_and(|(theirs, whose)| {
                let field = item.entries.iter().any(|entry| !entry.partial && field_of(entry) == Some(whose));
                !field && self.is_of_one(theirs, whose) && !self.is_of_one(whose, theirs)
            })
    }

    /// Whether each row of a dataset is of one row of another: it refers to it, or what it refers to does.
    fn is_of_one(&self, from: usize, to: usize) -> bool {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(dataset) = reached.get(next).copied() {
            next += 1;
            for relationship in &self.ontology.relationships {
                let one = self.dataset(&relationship.to).filter(|one| !reached.contains(one));
                if self.dataset(&relationship.from) == Some(dataset) {
                    reached.extend(one);
                }
            }
        }
        from != to && reached.contains(&to)
    }

    /// "… that a policy holder has paid": each of those who do it.
    fn agent(&mut self) -> bool {
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
        let is_thing = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
        let nouns = self.sketch.nouns.len();
        if let Some(noun) = is_thing.then(|| self.noun(Want::Group)).flatten() {
            self.eat_any(&["has", "have", "had"]);
            let verb = self.word(0);
            let neutral = super::super::vocabulary::is_relation(verb)
                || matches!(verb, "paid" | "pays" | "spent" | "spends" | "earned" | "earns");
            if neutral {
                self.at += 1;
            }
            self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
            return true;
        }
        self.drop_nouns(nouns);
        self.at = start;
        false
    }
}
