//! What there must or must not be.

use super::*;

impl Parser<'_> {
    /// "without a phone", "missing email", "with a tail number", "with no manager".
    pub(super) fn missing(&mut self) -> bool {
        let negated = if self.eat_any(&[
            "without any", "without", "with no", "missing", "lacking", "that have no", "who have no", "have no",
            "has no", "had no", "with missing", "with unknown", "with an unknown", "that are missing", "do not have",
            "dont have", "does not have", "that lack",
        ]) {
            false
        } else if self.eat_any(&[
            "with a known", "with known", "that have a", "that have an", "who have a", "who have an", "with a",
            "with an", "have a", "have an", "has a", "has an", "with recorded",
        ]) || self.with_yes_no()
        {
            true
        } else {
            return false;
        };
        // "with unknown parking" is rather none that is known than none.
        let recorded = matches!(self.previous(), "missing" | "unknown" | "known" | "recorded");
        self.articles();
        let yes_no = !recorded && self.yes_no_at(0);
        let field = self.item(0).is_some_and(|item| {
            item.entries.first().is_some_and(|entry| field_of(entry).is_some() && !entry.partial)
                && !item.entries.iter().any(Entry::is_whole_thing)
        });
        if !field && !yes_no {
            return false;
        }
        let Some(noun) = self.noun(Want::Bound) else { return false };
        if yes_no && self.flagged_rows(noun, !negated) {
            return true;
        }
        let more =
            self.item(0).is_some_and(|item| item.has_value() || matches!(item.kind, Kind::Number(_) | Kind::Quoted))
                || self.operator().is_some()
                || matches!(self.word(0), "is" | "of" | "between" | "like" | "starting" | "containing");
        if more {
            return false;
        }
        // "has a garden", where that is yes or no.
        match self.yes_of(noun) {
            Some(yes) => self.add(Cond::Values { nouns: vec![yes], negated: !negated }),
            None if self.sketch.nouns[noun].entries.iter().all(|entry| self.is_yes_no(entry)) => {
                self.sketch.nouns[noun].want = Want::Flag;
                self.add(Cond::Flag { noun, negated: !negated });
            }
            None => self.add(Cond::Null { field: noun, negated }),
        }
        true
    }

    /// "with parking", where that is yes or no. In a list, as in "with parking and address", it is a column, and so is
    /// one that is called as its field is written.
    fn with_yes_no(&mut self) -> bool {
        let written = self.item(1).is_some_and(|item| {
            item.text.contains('_') || item.norm.starts_with("has ") || item.norm.starts_with("is ")
        });
        let column = self.item(3).is_some_and(|item| item.is_named() && !item.has_value())
            && !self.yes_no_at(3)
            && !self.thing_at(3)
            && self.item(4).is_none_or(|item| item.any(&[",", "and"]));
        let listed = matches!(self.word(2), "," | "and") && column;
        self.yes_no_at(1) && !written && !listed && self.eat("with")
    }

    /// Whether an item means nothing but fields of yes and no.
    fn yes_no_at(&self, ahead: usize) -> bool {
        self.item(ahead)
            .is_some_and(|item| !item.entries.is_empty() && item.entries.iter().all(|entry| self.is_yes_no(entry)))
    }

    /// "with tenured professors": that there are rows of another dataset of which its field of yes and no holds. What
    /// comes behind is said of the same rows.
    fn flagged_rows(&mut self, flag: NounAt, never: bool) -> bool {
        let Some(owner) = self.focus.or(self.sketch.subject).filter(|_| self.frames.is_empty()) else { return false };
        let flagged: Vec<usize> = self.sketch.nouns[flag].entries.iter().filter_map(field_of).collect();
        let own = |d: usize| self.sketch.nouns[owner].entries.iter().filter_map(thing).any(|known| known == d);
        let next = self.item(0).map(|item| item.entries.as_slice()).unwrap_or_default();
        let Some(dataset) = next.iter().find_map(|entry| match entry.sense {
            Sense::Entity(d) | Sense::Value { dataset: d, .. } if flagged.contains(&d) && !own(d) => Some(d),
            _ => None,
        }) else {
            return false;
        };
        let named = next.iter().any(|entry| entry.sense == Sense::Entity(dataset));
        let here = if named { self.at..self.at + 1 } else { self.sketch.nouns[flag].items.clone() };
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let rows = Noun { corrected: None, ..Noun::new(self, here, vec![entry], Want::Thing, "") };
        let rows = self.push(rows);
        self.at += usize::from(named);
        self.sketch.nouns[flag].want = Want::Flag;
        self.sketch.nouns[flag].inside = Some(rows);
        self.open_frame(rows, owner, vec![Cond::Flag { noun: flag, negated: false }], never);
        true
    }

    fn is_yes_no(&self, entry: &Entry) -> bool {
        matches!(entry.sense, Sense::Field(d, f) if self.field(d, f).is_some_and(|field| field.datatype == DataType::Boolean))
    }

    /// The value that says that there is one, of a field of texts for yes and no.
    fn yes_of(&mut self, noun: NounAt) -> Option<NounAt> {
        let known = self.sketch.nouns[noun].clone();
        let first = match known.entries.first()?.sense {
            Sense::Field(d, f) => (d, f),
            _ => return None,
        };
        let of = |word: &str| -> Vec<Entry> {
            let found = self.on.matches(&[word], &[false]);
            let entries = found.into_iter().flat_map(|found| found.entries);
            entries
                .filter(|entry| matches!(entry.sense, Sense::Value { dataset, field, .. } if (dataset, field) == first))
                .collect()
        };
        let yes = of("yes");
        if yes.is_empty() || of("no").is_empty() {
            return None;
        }
        Some(self.push(Noun { entries: yes, want: Want::Value, of: Some(noun), ..known }))
    }

    pub(super) fn exists(&mut self) -> bool {
        let Some(mut owner) = self.focus.or(self.sketch.subject) else { return false };
        while self.eat_any(&["and", "but", "both", ","]) {
            // "in the list but never bought" is said of what is asked for, not of the list.
            if self.previous() == "but" {
                owner = self.asked_for().unwrap_or(owner);
            }
        }
        let relative = self.eat_any(&["who also", "who", "that also", "that", "which", "whose"]);
        if matches!(self.word(1), "never" | "not") {
            self.eat_any(&["were", "was", "are", "is", "have", "has", "had"]);
        }
        self.eat_any(&["have been", "has been", "also", "ever", "actually"]);
        let mut only = self.only_here();
        let never = self.eat_any(&[
            "not", "have never had any", "have never had", "have never", "has never", "had never", "never had any",
            "never had a", "never had", "never", "did not", "didnt", "do not have any", "dont have any", "do not have",
            "dont have", "does not have", "have not", "havent", "has not", "hasnt", "without any", "without a",
            "without an", "without", "with no", "have no", "has no", "had no", "not having", "no", "do not", "dont",
            "does not", "were not", "was not", "are not", "is not", "neither have", "neither has", "neither had",
            "nor have", "nor has", "nor had",
        ]);
        let has = !never
            && self.eat_any(&[
                "have had", "has had", "have", "has", "had", "with", "having", "that have", "there is", "there are",
            ]);
        // "the sales with their shop": a column, and no sales without one are left out.
        if has && self.previous() == "with" && self.word(0) == "their" {
            return false;
        }
        let has = has || !never && self.linked(relative);
        // "with neither an order nor a claim"
        let never = never || has && self.eat("neither");
        while self.eat_any(&["ever", "also", "still", "already"]) || never && self.eat_any(&["were", "was"]) {}
        if never {
            // "that are not on any list"
            let placed = matches!(self.word(0), "on" | "in" | "at" | "to" | "from" | "for" | "by" | "with");
            let any = matches!(self.word(1), "any" | "a" | "an" | "one") && self.thing_at(2);
            self.at += usize::from(placed && any);
        }
        self.eat_any(&["have", "make", "made", "any", "been", "placed", "place"]);
        only |= self.only_here();
        let both = has && self.both_here();
        if never && !self.thing_at(0) && vocabulary::is_relation(self.word(0)) {
            // "never played in a film": the verb says no more than that they belong together.
            self.at += 1;
            self.eat_any(&["in", "on", "at", "for", "to", "from", "with", "by"]);
        }
        self.eat_any(&["at least one", "one or more", "some", "any", "a", "an", "at least 1", "their"]);
        if !(relative || never || has || self.verb_here()) {
            return false;
        }
        let modified = self.open_conds();
        let verb = self.verb_here();
        if (never || has) && self.segment_rows(owner, never, only) {
            return true;
        }
        let thing_here = self.thing_at(0);
        let before_thing = self.at;
        if !thing_here {
            // "with a pending order": conditions before the thing are about it.
            self.modifiers();
        }
        let is_thing = self.thing_at(0);
        if !is_thing || !(has || never || verb) {
            return false;
        }
        // "sold fewer than 20 tracks" is a bound on what is not known.
        let bound = self.item(1).is_some_and(|item| {
            matches!(item.kind, Kind::Number(_)) || item.any(&["fewer", "more", "less", "over", "under"])
        }) || self.word(1) == "at" && matches!(self.word(2), "least" | "most");
        if verb && bound {
            return false;
        }
        // "have 3 orders" is a bound; "customers with orders" is none.
        let own: Vec<usize> = [Some(owner), self.sketch.subject]
            .into_iter()
            .flatten()
            .flat_map(|noun| self.sketch.nouns[noun].entries.iter().filter_map(thing).collect::<Vec<_>>())
            .collect();
        let same = self.item(0).is_some_and(|item| {
            let mut things = item.entries.iter().filter_map(thing).peekable();
            things.peek().is_some() && things.all(|d| own.contains(&d))
        });
        if same {
            return false;
        }
        let inner: Vec<Cond> = {
            let conds = match self.frames.last_mut() {
                Some(frame) => &mut frame.conds,
                None => &mut self.sketch.conds,
            };
            if before_thing < self.at { conds.split_off(modified.min(conds.len())) } else { Vec::new() }
        };
        let mut inner = inner;
        match self.booked(0) {
            // "with loss payments" asks for the number of them; "with a loss payment" says that there is one.
            Some((_, rows)) if never || both || self.one_before() => inner.extend(rows),
            Some(_) => return false,
            None => {}
        }
        let Some(noun) = self.existing() else { return false };
        self.sketch.nouns[noun].entries.retain(|entry| thing(entry).is_none_or(|d| !own.contains(&d)));
        let things = self.sketch.nouns[noun].entries.iter().filter_map(thing).count();
        if things == 0 || self.sketch.nouns[noun].of.is_some() {
            return false;
        }
        for cond in &inner {
            if let Cond::Values { nouns, .. } = cond {
                for value in nouns {
                    self.sketch.nouns[*value].inside = Some(noun);
                }
            }
        }
        let never = never || verb && self.eat_any(&["nothing", "none"]);
        let neither = (verb || has) && !never && self.eat_any(&["neither", "no", "not any"]);
        if has && !relative && !never {
            self.sketch.beside.push(noun);
        }
        self.open_frame(noun, owner, inner, never || neither);
        self.both = both;
        if let Some(frame) = self.frames.last_mut() {
            frame.only = only;
        }
        self.eat_any(&[
            "associated to them", "associated with them", "associated", "anything", "something", "linked to them",
            "related to them", "attached", "yet", "at all", "ever",
        ]);
        true
    }

    pub(super) fn open_frame(&mut self, thing: NounAt, owner: NounAt, conds: Vec<Cond>, negated: bool) {
        if self.frames.is_empty() {
            self.sketch.nouns[thing].holder = Some(owner);
        }
        self.frames.push(Frame { thing, conds, negated, only: false, across: Vec::new(), object: None });
    }

    /// Whether an item is something of which rows exist: a dataset, or a number that counts all rows of one.
    pub(in super::super) fn thing_at(&self, ahead: usize) -> bool {
        self.item(ahead).is_some_and(|item| {
            item.entries.iter().any(|entry| thing(entry).is_some() || self.counted_rows(entry).is_some())
        }) || self.booked(ahead).is_some()
    }

    /// The dataset all of whose rows a metric counts.
    fn counted_rows(&self, entry: &Entry) -> Option<usize> {
        let Sense::Metric(metric) = entry.sense else { return None };
        let metric = self.ontology.metrics.get(metric).filter(|metric| !entry.partial && metric.filters.is_empty())?;
        let inner = metric.expression.trim().to_lowercase();
        let inner = inner.strip_prefix("count(")?.strip_suffix(')')?.trim().to_owned();
        let (dataset, field) = inner.strip_prefix("distinct ").unwrap_or(&inner).split_once('.')?;
        let at = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(dataset))?;
        let entity = &self.ontology.datasets[at];
        let column = entity.field(field).map_or(field, |field| field.expression.as_str());
        matches!(entity.primary_key.as_slice(), [key] if key.eq_ignore_ascii_case(column) || key.eq_ignore_ascii_case(field))
            .then_some(at)
    }

    /// The thing here whose rows must or must not be.
    pub(super) fn existing(&mut self) -> Option<NounAt> {
        let booked = self.booked(0).map(|(dataset, _)| Sense::Entity(dataset));
        let item = self.item(0)?;
        if item.entries.iter().any(Entry::is_thing) {
            return self.noun(Want::Thing);
        }
        let mut entries: Vec<Entry> = item
            .entries
            .iter()
            .filter_map(|entry| Some(Entry { sense: Sense::Entity(self.counted_rows(entry)?), ..entry.clone() }))
            .collect();
        if entries.is_empty() {
            entries.extend(booked.map(|sense| Entry { sense, quality: 1.0, partial: false }));
        }
        let before = self.previous().to_owned();
        let noun = Noun::new(self, self.at..self.at + 1, entries, Want::Thing, &before);
        self.at += 1;
        Some(self.push(noun))
    }

    /// "artists whose tracks were never sold": there are tracks, and what is said of them never was.
    pub(super) fn whose(&mut self) -> bool {
        let Some(owner) = self.focus.or(self.sketch.subject).filter(|_| self.frames.is_empty()) else { return false };
        if !self.eat("whose") || !self.thing_at(0) {
            return false;
        }
        let Some(noun) = self.existing() else { return false };
        let are = self.eat_any(&["were", "was", "are", "is", "have been", "has been", "have", "has", "had"]);
        if !are || !self.eat_any(&["never been", "never", "not been", "not"]) || !self.verb_here() {
            return false;
        }
        let Some(verb) = self.noun(Want::Thing) else { return false };
        self.sketch.nouns[noun].holder = Some(owner);
        self.add(Cond::Exists { thing: noun, inner: Vec::new(), negated: false });
        self.open_frame(verb, owner, Vec::new(), true);
        true
    }

    /// "but not jazz" after "who bought rock", "but not in June" after "who rented in May".
    pub(super) fn exists_again(&mut self) -> bool {
        let Some(again) = self.again.filter(|again| again.at == self.at && self.frames.is_empty()) else {
            return false;
        };
        let joined = self.eat_any(&["but", "and", ","]);
        if !joined || !self.eat_any(&["not", "never", "none", "no"]) {
            return false;
        }
        let ahead = usize::from(matches!(self.word(0), "in" | "on" | "at" | "during" | "from" | "to" | "any" | "for"));
        let said = self.item(ahead).is_some_and(|item| {
            item.has_value() && !item.is_named() || matches!(item.kind, Kind::Time(TimePhrase::Window(_)))
        });
        let Some(owner) = self.sketch.nouns[again.thing].holder.filter(|_| said) else { return false };
        let window = self.item(ahead).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        let mut kept: Vec<Cond> = match self.sketch.conds.last() {
            Some(Cond::Exists { thing, inner, .. }) if *thing == again.thing => inner.clone(),
            _ => return false,
        };
        kept.retain(|cond| match cond {
            Cond::Window { .. } => !window,
            Cond::Values { .. } => window,
            _ => true,
        });
        if !window && !kept.is_empty() {
            // "bought rock in May but not jazz": never, or not in May?
            return false;
        }
        let noun = self.sketch.nouns[again.thing].clone();
        let thing = self.push(noun);
        self.open_frame(thing, owner, kept, true);
        if let Some(Kind::Time(TimePhrase::Window(window))) = self.item(ahead).map(|item| item.kind.clone()) {
            // The negation is that of the whole.
            self.at += ahead + 1;
            self.add(Cond::Window { field: None, windows: vec![window], negated: false, either: false });
        }
        true
    }

    /// "films rented more than 40 times".
    pub(super) fn counted_times(&mut self) -> bool {
        if self.focus.or(self.sketch.subject).is_none() || !self.frames.is_empty() {
            return false;
        }
        self.eat_any(&["that", "which", "who"]);
        self.eat_any(&["have been", "has been", "were", "was", "are", "have", "had", "has"]);
        let verb = self.verb_here();
        let own: Vec<usize> = self
            .focus
            .or(self.sketch.subject)
            .map(|owner| self.sketch.nouns[owner].entries.iter().filter_map(thing).collect())
            .unwrap_or_default();
        let Some(noun) = verb.then(|| self.noun(Want::Thing)).flatten() else { return false };
        self.sketch.nouns[noun].entries.retain(|entry| thing(entry).is_none_or(|d| !own.contains(&d)));
        if self.sketch.nouns[noun].entries.is_empty() {
            return false;
        }
        let (op, value) = match self.operator() {
            Some((op, _)) => (op, self.bound_value()),
            None => (Comparator::Equal, self.bound_value()),
        };
        let Some(value @ Bound::Number(_, None)) = value else { return false };
        let op = self.suffix().unwrap_or(op);
        if !self.eat_any(&["times", "time"]) {
            return false;
        }
        self.sketch.nouns[noun].want = Want::Counted;
        let owner = self.focus.or(self.sketch.subject);
        self.add(Cond::Measured { quantity: Quantity::Count(noun), op, value });
        self.sketch.nouns[noun].holder = owner;
        true
    }

    /// "who does Ada report to": Ada is the one that reports, and the other end is asked for.
    pub(in super::super) fn turned(&mut self) {
        let Some(subject) = self.sketch.subject.map(|at| self.sketch.nouns[at].clone()) else { return };
        let Some(role) = subject
            .entries
            .iter()
            .find_map(super::super::nouns::role)
            .filter(|_| super::super::nouns::leads(&subject.norm))
        else {
            return;
        };
        let Some(relationship) = self.ontology.relationships.get(role) else { return };
        let itself = relationship.from.eq_ignore_ascii_case(&relationship.to);
        for value in 0..self.sketch.nouns.len() {
            let noun = &self.sketch.nouns[value];
            if noun.want != Want::Value || noun.items.end > subject.items.start {
                continue;
            }
            let ours = |sense: &Sense| match sense {
                Sense::Value { dataset, .. } => self
                    .ontology
                    .datasets
                    .get(*dataset)
                    .is_some_and(|entity| entity.name.eq_ignore_ascii_case(&relationship.from)),
                _ => false,
            };
            if !noun.entries.iter().any(|entry| ours(&entry.sense)) {
                continue;
            }
            if itself {
                self.sketch.unknown.push(subject.text);
                return;
            }
            let kept = noun.entries.iter().filter(|entry| ours(&entry.sense)).cloned().collect();
            self.sketch.nouns[value].entries = kept;
        }
    }

    /// Whether the next word is a form of a verb that stands for a dataset: "ordered" for orders.
    pub(in super::super) fn verb_here(&self) -> bool {
        let Some(item) = self.item(0) else { return false };
        let last = item.norm.rsplit(' ').next().unwrap_or_default();
        let form = last.ends_with("ed")
            || matches!(last, "bought" | "sold" | "paid" | "flew" | "flown" | "lent" | "spent" | "made");
        let noun_itself = words::singular(last) == last && words::forms(last).len() == 1;
        let entity = item.entries.iter().any(Entry::is_thing);
        let past = form && !noun_itself;
        let infinitive = matches!(self.previous(), "never" | "not" | "didnt" | "did");
        let asked = self.sketch.ask == super::super::super::sketch::Ask::Who && self.frames.is_empty();
        let clause = (asked || matches!(self.previous(), "that" | "who" | "which")) && vocabulary::is_relation(last);
        entity && (past || infinitive || clause)
    }
}
