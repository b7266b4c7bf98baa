//! What is said of all that a thing has: that there are only such, none but such, both of two, or ever or never any.

use super::super::Frame;
use super::*;
use crate::engine::agent::english::resolve::metric_rows;
use crate::model::plan::Condition;

impl Parser<'_> {
    /// What a clause that ends here says of the thing that it is about.
    pub(in super::super) fn say(&mut self, frame: Frame) {
        let Frame { thing, conds, negated, only, across, object } = frame;
        let few = |op: &Comparator| matches!(op, Comparator::Less | Comparator::AtMost | Comparator::Equal);
        if only && (negated || conds.is_empty() || !across.is_empty()) {
            let said = "What “only” is said of is not clear: ask for those with it, or for those without any other.";
            self.sketch.refused = Some(said.to_owned());
        }
        let holder = self.sketch.nouns[thing].holder;
        for (counted, op, value) in &across {
            let quantity = Quantity::Across { counted: *counted, thing, inner: conds.clone(), object };
            self.add(Cond::Measured { quantity, op: *op, value: value.clone() });
            self.sketch.nouns[*counted].holder = holder;
        }
        if only {
            self.add(Cond::Others { thing, inner: conds.clone(), negated: true });
        }
        // Who bought in at most 3 towns did buy.
        if across.is_empty() || across.iter().any(|(_, op, _)| few(op)) {
            self.add(Cond::Exists { thing, inner: conds, negated });
        }
    }

    /// The thing that the question asks for, whatever was named since.
    pub(super) fn asked_for(&self) -> Option<NounAt> {
        self.sketch.subject.or_else(|| match self.sketch.measures.first() {
            Some(Quantity::Count(noun)) => Some(*noun),
            _ => None,
        })
    }

    /// "only" before or behind the verb of a clause, said of what is not a number or a time.
    pub(super) fn only_here(&mut self) -> bool {
        let number = |ahead: usize| {
            self.item(ahead).is_some_and(|item| matches!(item.kind, Kind::Number(_)))
                || matches!(
                    self.word(ahead),
                    "one" | "once" | "twice" | "a" | "after" | "before" | "since" | "until" | "later"
                )
        };
        !number(1) && !number(2) && self.eat_any(&["only", "exclusively", "solely"])
    }

    /// "with both an order and a claim", where neither is a number or a value.
    pub(super) fn both_here(&mut self) -> bool {
        let ahead = 1 + usize::from(matches!(self.word(1), "a" | "an" | "any" | "some"));
        let joined = (ahead + 1..ahead + 4).any(|at| self.word(at) == "and");
        self.word(0) == "both" && joined && self.thing_at(ahead) && self.eat("both")
    }

    /// The rows that a number here is booked on, and what they are beside: "without a loss payment".
    pub(super) fn booked(&self, ahead: usize) -> Option<(usize, Vec<Cond>)> {
        let item = self.item(ahead)?;
        if item.entries.iter().any(Entry::is_thing) {
            return None;
        }
        item.entries.iter().filter(|entry| !entry.partial).find_map(|entry| {
            let Sense::Metric(metric) = entry.sense else { return None };
            let (field, filters) = metric_rows::rows(self.ontology.metrics.get(metric)?, &item.text, self.ontology)?;
            let dataset =
                self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(&field.dataset))?;
            let filters: Vec<Condition> = filters;
            Some((dataset, if filters.is_empty() { Vec::new() } else { vec![Cond::Booked(filters)] }))
        })
    }

    /// Whether "a" or "any" stands before what comes, and no bound behind it.
    pub(super) fn one_before(&self) -> bool {
        let bound = matches!(
            self.word(1),
            "over" | "above" | "under" | "below" | "of" | "more" | "less" | "at" | "between" | "higher" | "lower"
        );
        matches!(self.previous(), "a" | "an" | "any" | "one" | "some") && !bound
    }

    /// A verb that goes on with the sentence behind a clause: "how many of the tracks that were sold are rock".
    pub(in super::super) fn main_verb(&self) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let Some(noun) = self.sketch.nouns.get(frame.thing) else { return false };
        let relative = |item: &crate::engine::agent::english::items::Item| {
            item.any(&["that", "which", "who", "whose", "whom", "where", "when", "none"])
        };
        // In "where no order was late" the clause is about what is in it.
        let before = self.items.get(noun.items.start.saturating_sub(3)..noun.items.start).unwrap_or_default();
        let inside = before.iter().any(|item| item.any(&["whose", "whom", "where", "when", "none"]));
        let since = self.items.get(noun.items.end..self.at).unwrap_or_default();
        let joined = matches!(self.previous(), "and" | "but" | "or" | "," | "not");
        !inside && !joined && !since.iter().any(relative)
    }

    pub(in super::super) fn one_more(&mut self) -> bool {
        self.guarded(Self::exists_too)
    }

    /// "with an order and a claim", "with an order but no claim": one more that there must or must not be.
    pub(super) fn exists_too(&mut self) -> bool {
        let Some(again) = self.again.filter(|again| again.at == self.at && self.frames.is_empty()) else {
            return false;
        };
        let Some(owner) = self.sketch.nouns[again.thing].holder else { return false };
        if !self.eat_any(&[", but", ", and", "but", "and", "nor"]) {
            return false;
        }
        let nor = self.previous() == "nor";
        let never = self.eat_any(&["without any", "without a", "without", "with no", "no", "not any", "not a"]);
        let one = self.eat_any(&["also a", "at least one", "a", "an", "any", "some"]);
        let both = std::mem::take(&mut self.both);
        if !(never || nor || one || both) || !self.thing_at(0) {
            return false;
        }
        let bound = self.item(1).is_some_and(|item| matches!(item.kind, Kind::Number(_)));
        if bound {
            return false;
        }
        let rows = self.booked(0).map(|(_, rows)| rows).unwrap_or_default();
        let own: Vec<usize> = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        let Some(noun) = self.existing() else { return false };
        self.sketch.nouns[noun].entries.retain(|entry| thing(entry).is_none_or(|d| !own.contains(&d)));
        if self.sketch.nouns[noun].entries.is_empty() || self.sketch.nouns[noun].of.is_some() {
            return false;
        }
        self.sketch.apart.push(noun);
        self.open_frame(noun, owner, rows, never || nor);
        true
    }

    /// "that were never returned", "that has ever been cancelled": a condition on any row that there may be.
    pub(super) fn ever_so(&mut self) -> bool {
        if self.focus.or(self.sketch.subject).is_none() {
            return false;
        }
        self.eat_any(&["that", "which", "who"]);
        self.eat_any(&["have", "has", "had", "were", "was", "are", "is"]);
        let negated = self.eat("never");
        if !negated && !self.eat("ever") {
            return false;
        }
        self.eat_any(&["been", "be"]);
        if self.done_here() {
            let noun = self.noun(Want::Column);
            return noun.is_some_and(|noun| self.is_time(noun) && self.happened(noun));
        }
        if !self.frames.is_empty() {
            return false;
        }
        let named = self.item(0).is_some_and(|item| {
            item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial)
        });
        if named {
            let Some(noun) = self.noun(Want::Flag) else { return false };
            self.sketch.nouns[noun].entries.retain(|entry| matches!(entry.sense, Sense::Segment(_)));
            self.sketch.ever.push(noun);
            self.add(Cond::Flag { noun, negated });
            return true;
        }
        // "who never played in a comedy": the verb says no more than that they belong together.
        if !self.value_here() && vocabulary::is_relation(self.word(0)) && !self.thing_at(0) {
            self.at += 1;
            self.eat_any(&["in", "on", "at", "for", "to", "from", "with", "by"]);
            self.articles();
        }
        self.value_here() && self.value_list(None, negated)
    }

    /// "with no late orders", where "late orders" is the name of a condition: there is no such row.
    pub(super) fn segment_rows(&mut self, owner: NounAt, never: bool, only: bool) -> bool {
        let segment = self.item(0).and_then(|item| {
            let many = item.norm.contains(' ') && words::singular(&item.norm) != item.norm;
            item.entries.iter().filter(|_| many).find_map(|entry| match entry.sense {
                Sense::Segment(segment) if !entry.partial => self.ontology.segments.get(segment),
                _ => None,
            })
        });
        let dataset = segment
            .and_then(|segment| segment.datasets.first())
            .and_then(|name| self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name)));
        let own = |d: &usize| self.sketch.nouns[owner].entries.iter().filter_map(thing).any(|own| own == *d);
        let Some(dataset) = dataset.filter(|dataset| !own(dataset)) else { return false };
        let here = self.at..self.at + 1;
        let entry = |sense| Entry { sense, quality: 1.0, partial: false };
        let rows = Noun::new(self, here.clone(), vec![entry(Sense::Entity(dataset))], Want::Thing, "");
        let segments = self.item(0).map(|item| item.entries.clone()).unwrap_or_default();
        let segments = segments.into_iter().filter(|entry| matches!(entry.sense, Sense::Segment(_))).collect();
        let flag = Noun::new(self, here, segments, Want::Flag, "");
        let (rows, flag) = (self.push(rows), self.push(flag));
        self.sketch.nouns[flag].inside = Some(rows);
        self.at += 1;
        self.open_frame(rows, owner, vec![Cond::Flag { noun: flag, negated: false }], never);
        if let Some(frame) = self.frames.last_mut() {
            frame.only = only;
        }
        true
    }

    /// "in both 2023 and 2024" in a clause: once in each.
    pub(super) fn both_times(&mut self) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| self.frames.len() == 1 && !frame.only) else {
            return false;
        };
        let plain = !frame.negated && frame.across.is_empty();
        let (thing, conds) = (frame.thing, frame.conds.clone());
        self.eat_any(&["in", "during"]);
        let window = |parser: &Self, ahead: usize| match parser.item(ahead).map(|item| item.kind.clone()) {
            Some(Kind::Time(TimePhrase::Window(window))) => Some(window),
            _ => None,
        };
        if !plain || !self.eat("both") {
            return false;
        }
        let Some(first) = window(self, 0) else { return false };
        self.at += 1;
        if !self.eat_any(&["and in", "and"]) {
            return false;
        }
        let Some(second) = window(self, 0) else { return false };
        self.at += 1;
        let in_one = |window| Cond::Window { field: None, windows: vec![window], negated: false, either: false };
        self.add(in_one(first));
        self.close_frame();
        let Some(owner) = self.sketch.nouns[thing].holder else { return false };
        let noun = self.sketch.nouns[thing].clone();
        let noun = self.push(noun);
        self.sketch.apart.push(noun);
        self.open_frame(noun, owner, conds, false);
        self.add(in_one(second));
        true
    }

    /// "who ordered in both 2023 and 2024", "who ordered in 2023 but not in 2024", where the verb is a time's name: there
    /// are rows of it.
    pub(super) fn dated_rows(&mut self) -> bool {
        let Some(owner) = self.focus.or(self.sketch.subject).filter(|_| self.frames.is_empty()) else { return false };
        self.eat_any(&["that", "which", "who"]);
        self.eat_any(&["have been", "has been", "had been", "have", "has", "had", "were", "was", "are", "is"]);
        let never = self.eat_any(&["never been", "never"]);
        let Some(dataset) = self.dated_thing().filter(|_| !self.verb_here()) else { return false };
        let own: Vec<usize> = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        let ahead = 1 + usize::from(matches!(self.word(1), "in" | "during" | "on"));
        let timed =
            |ahead: usize| matches!(self.item(ahead).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
        let both = self.word(ahead) == "both" && timed(ahead + 1);
        let but = timed(ahead) && matches!(self.word(ahead + 1), "but" | "and") && self.word(ahead + 2) == "not";
        if own.contains(&dataset)
            || !(both || but || never && (timed(ahead) || matches!(self.word(1), "anything" | "")))
            || never && (both || but)
        {
            return false;
        }
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let noun = Noun::new(self, self.at..self.at + 1, vec![entry], Want::Thing, "");
        self.at += 1;
        let noun = self.push(noun);
        self.open_frame(noun, owner, Vec::new(), never);
        self.eat("anything");
        true
    }
}
