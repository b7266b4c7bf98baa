//! Dates by their names, by what happened then, or by the things that have them: "the start of its lesson", "joining",
//! "the sale".

use crate::engine::agent::english::lexicon::{Entry, Sense, dated, words};

use super::super::items::Kind;
use super::super::sketch::{Cond, Group, Noun, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::{field_of, thing};

impl Parser<'_> {
    /// Two dates that may be of one thing are: "from the start of the assessment to its end".
    pub(super) fn of_one_thing(&mut self, first: NounAt, second: NounAt) {
        for (sure, open) in [(first, second), (second, first)] {
            let of: Vec<usize> = self.sketch.nouns[sure].entries.iter().filter_map(field_of).collect();
            let one = of.first().filter(|d| of.iter().all(|other| other == *d)).copied();
            let within = |entry: &Entry| one.is_some_and(|d| of_any(entry, &[d]));
            if self.sketch.nouns[open].entries.iter().any(within) {
                self.sketch.nouns[open].entries.retain(within);
            }
        }
    }

    pub(super) fn is_thing_here(&self) -> bool {
        self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing))
    }

    /// A date by its name, by what happened then, or by the thing that has one: "the start of its lesson", "joining",
    /// "the sale".
    pub(super) fn date(&mut self) -> Option<NounAt> {
        let mut own = false;
        // "after they were opened", "after being opened"
        let said = ["they were", "it was", "they are", "it is", "being", "having been", "they had been"];
        own |= self.eat_any(&said);
        while matches!(self.word(0), "the" | "a" | "an" | "our" | "its" | "their" | "his" | "her") {
            own |= matches!(self.word(0), "its" | "their" | "his" | "her");
            self.at += 1;
        }
        let at = self.at;
        let of_focus = if own { self.spoken_of() } else { Vec::new() };
        let (mut entries, used) = self.date_entries(at, &of_focus)?;
        self.at += used;
        self.eat("date");
        if self.word(0) == "of" {
            let back = self.at;
            self.at += 1;
            while matches!(self.word(0), "the" | "a" | "an" | "its" | "their" | "our") {
                self.at += 1;
            }
            let each = self.eat_any(&["each", "every"]);
            let things: Vec<usize> =
                self.item(0).map(|item| item.entries.iter().filter_map(thing).collect()).unwrap_or_default();
            let within: Vec<Entry> = entries.iter().filter(|entry| of_any(entry, &things)).cloned().collect();
            if self.is_thing_here() && !within.is_empty() {
                entries = within;
                if each {
                    let noun = self.noun(Want::Group)?;
                    self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
                } else {
                    self.at += 1;
                }
            } else if each && self.is_thing_here() {
                // "between the departure and the return of each trip": of whatever has both.
                let noun = self.noun(Want::Group)?;
                self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
            } else {
                self.at = back;
            }
        }
        let noun = Noun::new(self, at..at + used, entries, Want::Time, "");
        Some(self.push(noun))
    }

    /// The datasets that "its" may speak of.
    fn spoken_of(&self) -> Vec<usize> {
        let groups = self.sketch.groups.iter().filter_map(|group| group.noun);
        let nouns = groups.chain(self.sketch.subject).chain(self.focus);
        nouns.flat_map(|noun| self.sketch.nouns[noun].entries.iter().filter_map(thing)).collect()
    }

    /// The fields that the words at a place may be the date of, and how many items say it; of some datasets only, where
    /// they have any.
    pub(super) fn date_entries(&self, at: usize, own: &[usize]) -> Option<(Vec<Entry>, usize)> {
        let item = self.items.get(at).filter(|item| at < self.end && item.kind == Kind::Word)?;
        let of = |entries: Vec<Entry>| -> Vec<Entry> {
            let within: Vec<Entry> = entries.iter().filter(|entry| of_any(entry, own)).cloned().collect();
            if within.is_empty() { entries } else { within }
        };
        let exact: Vec<Entry> =
            item.entries.iter().filter(|entry| !entry.partial && self.is_date(entry)).cloned().collect();
        let misses = !own.is_empty() && !exact.iter().any(|entry| of_any(entry, own));
        let theirs = if misses { self.dates_called(&item.norm, own) } else { Vec::new() };
        if !theirs.is_empty() {
            return Some((theirs, 1));
        }
        if !exact.is_empty() {
            return Some((of(exact), 1));
        }
        let things: Vec<usize> = item.entries.iter().filter(|entry| !entry.partial).filter_map(thing).collect();
        // "the trip was booked"
        let be = self.items.get(at + 1).is_some_and(|item| item.any(&["was", "were", "is", "are", "got", "being"]));
        let verb = at + 1 + usize::from(be);
        if !things.is_empty()
            && let Some(next) = self.items.get(verb).filter(|next| verb < self.end && next.kind == Kind::Word)
        {
            let mut named: Vec<Entry> = next
                .entries
                .iter()
                .filter(|entry| !entry.partial && self.is_date(entry) && of_any(entry, &things))
                .cloned()
                .collect();
            if named.is_empty() {
                named = self.dates_called(&next.norm, &things);
            }
            if !named.is_empty() {
                return Some((of(named), verb + 1 - at));
            }
        }
        let called = self.dates_called(&item.norm, &[]);
        if !called.is_empty() {
            return Some((of(called), 1));
        }
        let usual: Vec<Entry> = things.iter().filter_map(|dataset| self.usual_date(*dataset)).collect();
        (!usual.is_empty()).then_some((usual, 1))
    }

    /// When that was done which is said before a window, where it is none of the usual times of what it was done with:
    /// the date of borrowing in "members who borrowed Dune in May".
    pub(super) fn time_done(&mut self, window: usize) -> Option<NounAt> {
        if !self.frames.is_empty() {
            return None;
        }
        let done = self.sketch.conds.iter().rev().find_map(|cond| match cond {
            Cond::Null { field, negated: true } => Some(*field),
            _ => None,
        });
        if let Some(noun) = done.and_then(|field| self.sketch.nouns.get(field)).filter(|noun| noun.want == Want::Time) {
            let own = self.things_before(noun.items.start);
            let others = !own.is_empty() && !noun.entries.iter().any(|entry| of_any(entry, &own));
            return done.filter(|_| others);
        }
        let is_time = |at: usize| self.items.get(at).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        let unread = |at: &usize| {
            self.items
                .get(*at)
                .is_some_and(|item| item.kind == Kind::Word && item.entries.is_empty() && words::is_past(&item.norm))
        };
        let verb = (0..window).rev().take_while(|at| !is_time(*at)).find(unread)?;
        let own = self.things_before(verb);
        let all = self.dates_called(&self.items.get(verb)?.norm, &[]);
        let of_own: Vec<Entry> = all.iter().filter(|entry| of_any(entry, &own)).cloned().collect();
        let usual: Vec<Entry> = own.iter().filter_map(|dataset| self.usual_date(*dataset)).collect();
        let goes_without_saying = of_own.iter().any(|entry| usual.iter().any(|usual| usual.sense == entry.sense));
        let entries = if of_own.is_empty() { all } else { of_own };
        if own.is_empty() || goes_without_saying || entries.is_empty() {
            return None;
        }
        let noun = Noun::new(self, verb..verb + 1, entries, Want::Time, "");
        Some(self.push(noun))
    }

    /// When that was done which a verb says of a value right before a window, where each of the things that are spoken
    /// of may have several such rows and has a date of its own: that of the sales in "customers who used the card in
    /// May", and not that on which they joined.
    pub(super) fn time_of_deed(&mut self, window: usize) -> Option<NounAt> {
        let counts = |quantity: &Quantity| matches!(quantity, Quantity::Count(_) | Quantity::Distinct(_));
        if !self.frames.is_empty() || !self.sketch.measures.iter().all(counts) {
            return None;
        }
        let Some(Cond::Values { nouns, negated }) = self.sketch.conds.last() else { return None };
        let (first, last, negated) = (*nouns.first()?, *nouns.last()?, *negated);
        let end = self.before(window, &["in", "on", "during"])?;
        let value = self.sketch.nouns.get(first)?;
        // The value's own field may stand between.
        let beside = self.sketch.nouns.get(last).is_some_and(|last| (end..=end + 1).contains(&last.items.end));
        let verb = self.before(value.items.start, &["the", "a", "an", "any", "our"])?;
        let did = self.items.get(verb).is_some_and(|item| {
            item.kind == Kind::Word
                && vocabulary::is_relation(&item.norm)
                && words::is_past(&item.norm)
                && item.entries.iter().all(|entry| entry.partial)
        });
        let mut events: Vec<usize> = value.entries.iter().filter_map(value_of).collect();
        events.dedup();
        let [event] = *events.as_slice() else { return None };
        let nouns = self.sketch.nouns.iter().filter(|noun| noun.items.end <= verb);
        let spoken = nouns.flat_map(|noun| noun.entries.iter().filter(|entry| !entry.partial));
        let own: Vec<usize> = spoken.filter_map(|entry| thing(entry).or_else(|| field_of(entry))).collect();
        let several = own.iter().all(|own| self.has_one(event, *own) && !self.has_one(*own, event));
        let dated = own.iter().any(|own| self.usual_date(*own).is_some());
        let usual = self.usual_date(event).filter(|_| beside && did && several && dated)?;
        if negated || self.sketch.joint.contains(&first) {
            let (time, verb) = (&self.items.get(window)?.text, &self.items.get(verb)?.text);
            let reason = format!("Is “{time}” the time of what “{verb}” says? Name the date that is meant.");
            self.sketch.refused = self.sketch.refused.take().or(Some(reason));
            return None;
        }
        let noun = Noun::new(self, verb..verb + 1, vec![usual], Want::Time, "");
        Some(self.push(noun))
    }

    /// The last place before another one at which none of these words stands.
    fn before(&self, end: usize, words: &[&str]) -> Option<usize> {
        (0..end).rev().find(|at| self.items.get(*at).is_some_and(|item| !item.any(words)))
    }

    /// Whether each row of a dataset is one of another, or belongs to one of it.
    fn has_one(&self, from: usize, of: usize) -> bool {
        let mut reached = vec![from];
        let mut at = 0;
        while let Some(entity) = reached.get(at).copied().and_then(|dataset| self.ontology.datasets.get(dataset)) {
            for relationship in &self.ontology.relationships {
                let to = self.ontology.datasets.iter().position(|to| to.name.eq_ignore_ascii_case(&relationship.to));
                let next =
                    to.filter(|to| relationship.from.eq_ignore_ascii_case(&entity.name) && !reached.contains(to));
                reached.extend(next);
            }
            at += 1;
        }
        reached.contains(&of)
    }

    /// Whether what was spoken of before a place has a date of its beginning.
    pub(super) fn begins(&self, at: usize) -> bool {
        let own = self.things_before(at);
        !own.is_empty() && !self.dates_called("start", &own).is_empty()
    }

    /// The datasets that were spoken of before a place.
    fn things_before(&self, at: usize) -> Vec<usize> {
        let nouns = self.sketch.nouns.iter().filter(|noun| noun.items.end <= at);
        nouns.flat_map(|noun| noun.entries.iter().filter_map(thing)).collect()
    }

    pub(super) fn is_date(&self, entry: &Entry) -> bool {
        match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype.is_calendar() && !field.hidden),
            _ => false,
        }
    }

    /// When the rows of a dataset are usually taken to have been.
    pub(super) fn usual_date(&self, dataset: usize) -> Option<Entry> {
        let entity = self.ontology.datasets.get(dataset)?;
        let name = entity.default_time_field.as_ref()?;
        let field = entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name))?;
        let entry = Entry { sense: Sense::Field(dataset, field), quality: 0.95, partial: false };
        self.is_date(&entry).then_some(entry)
    }

    /// The dates whose name says no more than these words: "joining" of a join date.
    fn dates_called(&self, said: &str, of: &[usize]) -> Vec<Entry> {
        let said: Vec<&str> = said.split(' ').filter(|word| !dated::is_plain(word)).collect();
        if said.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (d, entity) in self.ontology.datasets.iter().enumerate() {
            if !of.is_empty() && !of.contains(&d) {
                continue;
            }
            for (f, field) in entity.fields.iter().enumerate() {
                if field.datatype.is_calendar() && !field.hidden && dated::is_called(entity, field, &said) {
                    found.push(Entry { sense: Sense::Field(d, f), quality: 1.0, partial: false });
                }
            }
        }
        found
    }
}

pub(super) fn of_any(entry: &Entry, datasets: &[usize]) -> bool {
    matches!(entry.sense, Sense::Field(d, _) if datasets.contains(&d))
}

/// The dataset of a value.
fn value_of(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Value { dataset, .. } => Some(dataset),
        _ => None,
    }
}
