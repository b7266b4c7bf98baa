//! How often something was done, and how many different ones there are of something among the rows of a thing: "who bought
//! more than 3 breads", "who bought in at least 3 towns", "that fly from all three".

use super::*;

impl Parser<'_> {
    /// "who borrowed more than 3 books", "that delivered at least 50 different parts": how often something was done, or
    /// how many different ones of its objects there are.
    pub(super) fn done_so_often(&mut self) -> bool {
        let Some(owner) = self.focus.or(self.sketch.subject).filter(|_| self.frames.is_empty()) else { return false };
        self.eat_any(&["that", "which", "who"]);
        self.eat_any(&["have", "has", "had", "did"]);
        while self.eat_any(&["ever", "also", "already"]) {}
        let own: Vec<usize> = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        let other = |entry: &Entry| thing(entry).is_some_and(|d| !own.contains(&d));
        if !self.verb_here() || !self.item(0).is_some_and(|item| item.entries.iter().any(other)) {
            return false;
        }
        let Some(event) = self.noun(Want::Thing) else { return false };
        self.sketch.nouns[event].entries.retain(other);
        if self.sketch.nouns[event].of.is_some() {
            return false;
        }
        let op = if self.says_exactly() { Some(Comparator::Equal) } else { self.operator().map(|(op, _)| op) };
        let Some(value @ Bound::Number(_, None)) = self.bound_value() else { return false };
        let op = self.suffix().or(op).unwrap_or(Comparator::Equal);
        self.open_frame(event, owner, Vec::new(), false);
        if self.eat_any(&["different", "distinct", "unique", "separate"]) {
            return self.countable_here() && self.counted_across(op, value, true);
        }
        self.modifiers();
        if !self.item(0).is_some_and(|item| item.entries.iter().any(|entry| other(entry) && !entry.partial)) {
            return false;
        }
        let Some(object) = self.noun(Want::Thing) else { return false };
        let Some(frame) = self.frames.last_mut() else { return false };
        frame.object = Some(object);
        frame.across.push((event, op, value));
        self.focus = Some(object);
        true
    }

    /// A preposition before a number of different things in a clause: "who bought in at least 3 towns". What a thing
    /// itself has is said with "with".
    pub(super) fn across_here(&mut self) -> bool {
        let own = matches!(self.previous(), "with" | "having" | "have" | "has" | "had");
        let clause = self.frames.last().is_some_and(|frame| !frame.negated && !frame.only);
        if own || !clause {
            return false;
        }
        let back = self.at;
        self.eat_any(&["from", "in", "to", "at", "on", "for", "into", "across", "through", "of", "by", "with"]);
        // "in 2024" and "for 5 dollars" are no numbers of things.
        if self.at > back && !self.numbered() {
            self.at = back;
        }
        true
    }

    /// "supplied by at least 4 vendors": the role of what is counted, where its name stands before the number.
    pub(super) fn roles_before_number(&mut self) -> Vec<usize> {
        let roles: Vec<usize> = self
            .item(0)
            .filter(|item| item.norm.contains(' '))
            .filter(|item| item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_))))
            .map(|item| item.entries.iter().filter_map(super::super::nouns::role).collect())
            .unwrap_or_default();
        if roles.is_empty() {
            return roles;
        }
        self.at += 1;
        if self.numbered() {
            return roles;
        }
        self.at -= 1;
        Vec::new()
    }

    /// Whether a number of things comes.
    fn numbered(&mut self) -> bool {
        let back = self.at;
        let found = self.all_of_them().is_some()
            || self.operator().is_some()
            || self.says_exactly()
            || self.item(0).is_some_and(|item| matches!(item.kind, Kind::Number(_)));
        self.at = back;
        found
    }

    /// "only one", "just 2": no more than that.
    pub(super) fn says_exactly(&mut self) -> bool {
        let number = self.item(1).is_some_and(|item| matches!(item.kind, Kind::Number(_)))
            || matches!(self.word(1), "one" | "once" | "twice");
        number && self.eat_any(&["only", "just", "precisely"])
    }

    /// "all three", "both" before things.
    pub(super) fn all_of_them(&mut self) -> Option<(Comparator, Bound)> {
        let back = self.at;
        let value = if self.eat_any(&["both of the", "both of our", "both the", "both"]) {
            Some(2.0)
        } else if self.eat_any(&["all of the", "all of our", "all the", "all of", "all", "each of the", "each of"]) {
            match self.item(0).map(|item| item.kind.clone()) {
                Some(Kind::Number(quantity)) if quantity.unit.is_none() => {
                    self.at += 1;
                    Some(quantity.value)
                }
                _ => None,
            }
        } else {
            None
        };
        let joined = matches!(self.word(1), "and" | "or" | "," | "&");
        if value.is_none() || joined || !self.countable_here() {
            self.at = back;
            return None;
        }
        value.map(|value| (Comparator::AtLeast, Bound::Number(value, None)))
    }

    /// "who played in every category" speaks of all of them together, and not of each.
    pub(in super::super) fn every_one(&mut self) -> bool {
        let ahead = usize::from(matches!(self.word(0), "in" | "at" | "from" | "to" | "on" | "for" | "of"));
        let every = self.word(ahead) == "every" || self.word(ahead) == "each" && self.word(ahead + 1) == "of";
        let clause = self.sketch.subject.and_then(|subject| self.items.get(self.sketch.nouns[subject].items.end));
        let clause = clause.is_some_and(|item| item.any(&["who", "that", "which"]));
        let thing = self.item(ahead + 1).is_some_and(|item| item.is_named() || matches!(item.kind, Kind::Time(_)));
        let list = self.sketch.measures.is_empty() && self.sketch.rank.is_none();
        // "who bought all albums by …", where all are meant and not any.
        let the = ahead + 1 + usize::from(matches!(self.word(ahead + 1), "the" | "of"));
        let the = the + usize::from(self.word(the) == "the");
        let whole = (clause && list || !self.frames.is_empty())
            && self.word(ahead) == "all"
            && self.item(the).is_some_and(|item| item.is_named() && !item.has_value());
        if !(every && clause && thing && list || whole) {
            return false;
        }
        let named = if whole { the } else { ahead + 1 };
        let (word, what) = (self.word(ahead).to_owned(), self.item(named).map(|item| item.text.clone()));
        let what = what.unwrap_or_default();
        self.sketch.refused = Some(format!(
            "“{word} {what}” is said of all of them together: say how many there are, such as “at least 5 different” ones."
        ));
        self.at += named + 1;
        true
    }

    /// "with more than one loss payment", where a metric has the name: its rows are counted.
    pub(super) fn booked_count(&mut self, op: Comparator, value: &Bound) -> bool {
        let Some(owner) = self.owner().filter(|_| self.frames.is_empty()) else { return false };
        let Some((dataset, rows)) = self.booked(0) else { return false };
        let one = matches!(value, Bound::Number(number, _) if (*number - 1.0).abs() < f64::EPSILON);
        let word = self.word(0).to_owned();
        if words::singular(&word) == word && !one {
            return false;
        }
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let before = self.previous().to_owned();
        let noun = Noun::new(self, self.at..self.at + 1, vec![entry], Want::Thing, &before);
        self.at += 1;
        let noun = self.push(noun);
        let quantity = Quantity::Across { counted: noun, thing: noun, inner: rows, object: None };
        self.add(Cond::Measured { quantity, op, value: value.clone() });
        self.sketch.nouns[noun].holder = Some(owner);
        true
    }

    /// Whether different ones of what comes can be counted: a thing, or a field that is no number.
    pub(super) fn countable_here(&self) -> bool {
        let ahead = usize::from(matches!(self.word(0), "different" | "distinct" | "unique" | "separate"));
        self.item(ahead).is_some_and(|item| {
            item.entries.iter().any(|entry| match entry.sense {
                Sense::Entity(_) => !entry.partial,
                Sense::Field(d, f) => {
                    !entry.partial && self.field(d, f).is_some_and(|field| !field.datatype.is_number())
                }
                _ => self.different(entry).is_some(),
            })
        })
    }

    /// The field whose different values a metric counts: "different towns" may be the name of such a number.
    fn different(&self, entry: &Entry) -> Option<Entry> {
        let Sense::Metric(metric) = entry.sense else { return None };
        let metric = self.ontology.metrics.get(metric).filter(|metric| !entry.partial && metric.filters.is_empty())?;
        let inner = metric.expression.trim().to_lowercase();
        let (dataset, field) = inner.strip_prefix("count(distinct ")?.strip_suffix(')')?.trim().split_once('.')?;
        let d = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(dataset))?;
        let f = self.ontology.datasets[d].fields.iter().position(|known| known.name.eq_ignore_ascii_case(field))?;
        Some(Entry { sense: Sense::Field(d, f), ..entry.clone() })
    }

    /// The direction before a number of things that was just read: "from" in "from at least 3 towns".
    pub(super) fn before_bound(&self) -> String {
        (1..=5)
            .filter_map(|back| self.items.get(self.at.checked_sub(back)?))
            .take_while(|item| {
                let roles = item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_)));
                roles && !matches!(item.kind, Kind::Quoted | Kind::Time(_))
            })
            .find(|item| item.any(&["from", "to", "into"]))
            .map(|item| item.norm.clone())
            .unwrap_or_default()
    }

    /// A number of different things in a clause, or of the thing itself.
    pub(super) fn counted_across(&mut self, op: Comparator, value: Bound, across: bool) -> bool {
        self.eat_any(&["different", "distinct", "unique", "separate"]);
        if !across {
            return self.owner().is_some() && self.counted_bound(op, value, None);
        }
        let own = self.frames.last().map(|frame| frame.thing);
        let things =
            |noun: NounAt| -> Vec<usize> { self.sketch.nouns[noun].entries.iter().filter_map(thing).collect() };
        let own = own.map(things).unwrap_or_default();
        let same = self.item(0).is_some_and(|item| item.entries.iter().filter_map(thing).any(|d| own.contains(&d)));
        let before = self.before_bound();
        let Some(counted) = (!same).then(|| self.noun(Want::Counted)).flatten() else { return false };
        let entries = &self.sketch.nouns[counted].entries;
        if entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_))) {
            let fields = entries.iter().filter_map(|entry| self.different(entry)).collect();
            self.sketch.nouns[counted].entries = fields;
        }
        if !before.is_empty() {
            self.sketch.nouns[counted].before = before;
        }
        match self.frames.last_mut() {
            Some(frame) => frame.across.push((counted, op, value)),
            None => return false,
        }
        true
    }
}
