//! Values, alone or with their field.

use super::*;
use crate::engine::agent::english::items::Item;

impl Parser<'_> {
    /// Whether a value may be one of a field that was named: its own, or of the dataset that it belongs to or refers to.
    pub(super) fn value_fits(&self, noun: NounAt, sense: &Sense) -> bool {
        let Sense::Value { dataset, field, .. } = sense else { return false };
        self.sketch.nouns[noun].entries.iter().any(|entry| match entry.sense {
            Sense::Entity(d) => d == *dataset,
            Sense::Field(d, f) => d == *dataset && f == *field || self.refers(d, f, *dataset),
            Sense::Role(r) => self.ontology.relationships.get(r).is_some_and(|relationship| {
                self.ontology
                    .datasets
                    .get(*dataset)
                    .is_some_and(|entity| entity.name.eq_ignore_ascii_case(&relationship.to))
            }),
            _ => false,
        })
    }

    /// Whether a field refers to a row of a dataset.
    pub(super) fn refers(&self, dataset: usize, field: usize, to: usize) -> bool {
        let (Some(from), Some(to)) = (self.ontology.datasets.get(dataset), self.ontology.datasets.get(to)) else {
            return false;
        };
        let Some(field) = from.fields.get(field) else { return false };
        self.ontology.relationships.iter().any(|relationship| {
            relationship.from.eq_ignore_ascii_case(&from.name)
                && relationship.to.eq_ignore_ascii_case(&to.name)
                && relationship.from_columns.iter().any(|column| {
                    column.eq_ignore_ascii_case(&field.name) || column.eq_ignore_ascii_case(&field.expression)
                })
        })
    }

    /// Values, alone or with their field, with what negates them.
    pub(super) fn valued(&mut self) -> bool {
        let preposition = matches!(
            self.word(0),
            "in" | "from"
                | "at"
                | "for"
                | "with"
                | "of"
                | "on"
                | "to"
                | "by"
                | "into"
                | "named"
                | "called"
                | "as"
                | "is"
                | "are"
                | "only"
                | "were"
                | "was"
                | "via"
                | "between"
                | "about"
                | "than"
        ) || self.role_here();
        if preposition && !self.item(0).is_some_and(Item::has_value) {
            if matches!(self.word(0), "than" | "between" | "about") {
                return false;
            }
            // "that only Ada bought" says that nobody else did.
            let relative = matches!(self.previous(), "that" | "which" | "who") && self.frames.is_empty();
            if self.word(0) == "only" && relative && self.verb_at(self.at + 2) {
                let said = "“Only” is said of who did it: ask for those with it, or for those without any other.";
                self.sketch.refused = Some(said.to_owned());
                return false;
            }
            self.at += 1;
        }
        let before = self.previous().to_owned();
        let numeric =
            preposition && self.item(0).is_some_and(|item| matches!(item.kind, Kind::Number(_)) && item.has_value());
        if numeric && !matches!(before.as_str(), "is" | "are" | "was" | "were" | "by" | "to") {
            return self.value_list(None, false);
        }
        let negated = NEGATION.iter().any(|phrase| self.eat(phrase));
        if negated {
            self.eat_any(&["in", "from", "to", "at", "for", "by", "the", "those from", "those in"]);
            self.verb_before_value();
            self.eat_any(&["yet been", "been", "yet"]);
        }
        self.articles();
        if !negated && self.word(0) == "both" && self.item(1).is_some_and(|item| item.has_value() && !item.is_named()) {
            self.at += 1;
        }
        // "customers called Frank" have the name; records that are called so are others.
        if matches!(before.as_str(), "named" | "called")
            && let Some(owner) = self.owner()
            && self.of_other_thing(owner)
            && let Some(text) = self.free_text()
        {
            return self.text_value(owner, text, negated);
        }
        if self.value_here() {
            return self.value_list(None, negated);
        }
        if negated || preposition {
            let named = self.item(0).is_some_and(Item::is_named);
            let back = (self.at, self.sketch.nouns.len());
            if named && let Some(noun) = self.noun(Want::Bound) {
                let known = self.open_conds();
                let flag = self.sketch.nouns[noun]
                    .entries
                    .first()
                    .is_some_and(|entry| matches!(entry.sense, Sense::Segment(_)));
                if flag && negated {
                    self.sketch.nouns[noun].want = Want::Flag;
                    self.add(Cond::Flag { noun, negated });
                    return true;
                }
                if self.literal_after(noun) {
                    if negated {
                        self.negate_since(known);
                    }
                    return true;
                }
            }
            self.at = back.0;
            self.drop_nouns(back.1);
            if matches!(before.as_str(), "named" | "called")
                && let (Some(owner), Some(Kind::Quoted | Kind::Word)) =
                    (self.owner(), self.item(0).map(|item| item.kind.clone()))
                && let Some(text) = self.free_text()
            {
                return self.text_value(owner, text, negated);
            }
        }
        false
    }

    /// Whether what comes is a value, but none of a thing.
    fn of_other_thing(&self, owner: NounAt) -> bool {
        let own: Vec<usize> = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        let of_own = |entry: &Entry| matches!(entry.sense, Sense::Value { dataset, .. } if own.contains(&dataset));
        !own.is_empty() && self.item(0).is_some_and(|item| item.has_value() && !item.entries.iter().any(of_own))
    }

    /// "not made by Boeing": verbs before a value that say no more than the value.
    fn verb_before_value(&mut self) {
        let verb = vocabulary::is_relation(self.word(0)) || self.word(0).ends_with("ed");
        let by = matches!(self.word(1), "by" | "from" | "in" | "to" | "at" | "with");
        let plain = self.item(0).is_some_and(|item| {
            item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_) | Sense::Field(..)) || entry.partial)
        });
        if verb && by && plain && self.item(2).is_some_and(Item::has_value) {
            self.at += 2;
        }
    }

    pub(super) fn negate_since(&mut self, known: usize) {
        let conds = match self.frames.last_mut() {
            Some(frame) => &mut frame.conds,
            None => &mut self.sketch.conds,
        };
        let from = known.min(conds.len().saturating_sub(1));
        for cond in &mut conds[from..] {
            match cond {
                Cond::Values { negated, .. } | Cond::Like { negated, .. } | Cond::Null { negated, .. } => {
                    *negated = !*negated;
                }
                Cond::Compare { op, .. } if *op == Comparator::Equal => *op = Comparator::NotEqual,
                _ => {}
            }
        }
    }

    /// Words for a role before a value: "departing from" before an airport.
    pub(super) fn role_here(&self) -> bool {
        let role =
            self.item(0).is_some_and(|item| item.entries.iter().any(|entry| matches!(entry.sense, Sense::Role(_))));
        let article = usize::from(matches!(self.word(1), "the" | "either"));
        role && self.item(1 + article).is_some_and(Item::has_value)
    }

    pub(super) fn value_here(&self) -> bool {
        self.item(0).is_some_and(|item| {
            let named = item
                .entries
                .iter()
                .any(|entry| !matches!(entry.sense, Sense::Value { .. } | Sense::Role(_)) && !entry.partial);
            item.has_value() && !named && !matches!(item.kind, Kind::Number(_) | Kind::Time(_))
        })
    }

    /// One or more values of one field: "UA", "UA or DL", "UA, DL and AA".
    pub(super) fn value_list(&mut self, field: Option<NounAt>, negated: bool) -> bool {
        let before = self.previous().to_owned();
        let mut nouns: Vec<NounAt> = Vec::new();
        let both = matches!(before.as_str(), "both");
        // "to both Lund and Bergen"
        let before = if both { self.previous_of(self.at.saturating_sub(1)).to_owned() } else { before };
        let (mut and, mut or) = (false, false);
        let roles: Vec<usize> = [1, 2]
            .iter()
            .filter_map(|back| Some((*back, self.items.get(self.at.checked_sub(*back)?)?)))
            .take_while(|(back, item)| {
                let roles = item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_)));
                let leading = *back == 1 && super::super::nouns::leads(&item.norm);
                leading || roles && (!item.entries.is_empty() || item.any(&["the", "either", "both"]))
            })
            .map(|(_, item)| item)
            .flat_map(|item| item.entries.iter().filter_map(super::super::nouns::role))
            .collect();
        let first = self.at;
        while let Some(item) = self.item(0) {
            let fits = match field {
                Some(noun) => item.entries.iter().any(|entry| self.value_fits(noun, &entry.sense)),
                None => {
                    // Several of them are all numbers, or none is.
                    let number = matches!(item.kind, Kind::Number(_));
                    let alike = matches!(self.items.get(first).map(|item| &item.kind), Some(Kind::Number(_)));
                    self.value_here() || number && alike && item.has_value()
                }
            };
            if !fits {
                break;
            }
            let entries = item.entries.iter().filter(|entry| match field {
                Some(noun) => self.value_fits(noun, &entry.sense),
                None => matches!(entry.sense, Sense::Value { .. }),
            });
            let mut entries: Vec<_> = entries.cloned().collect();
            self.owning(&mut entries);
            self.of_others(&mut entries);
            let mut noun = Noun::new(self, self.at..self.at + 1, entries, Want::Value, &before);
            noun.of = field;
            noun.roles.clone_from(&roles);
            noun.holder = self.relative(self.at);
            // "Japanese customers": the thing comes after.
            let adjective = self.item(1).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
            noun.near = if adjective { None } else { self.near_thing() };
            if let Some(field) = field {
                noun.roles.clone_from(&self.sketch.nouns[field].roles);
                let own = self.sketch.nouns[field].entries.iter().filter_map(super::super::nouns::role);
                let own: Vec<usize> = own.filter(|role| !noun.roles.contains(role)).collect();
                noun.roles.extend(own);
                noun.before.clone_from(&self.sketch.nouns[field].before);
            }
            nouns.push(self.push(noun));
            self.at += 1;
            self.own_field(&nouns, field.is_none());
            let back = self.at;
            let against =
                self.eat_any(&["vs", "versus", "compared to", "compared with"]) || self.said_for_each(&before);
            while let Some(word) = [",", "or", "and", "nor", "or in", "or from", "and from", "or to", "/", "&"]
                .into_iter()
                .find(|word| self.eat(word))
            {
                and |= word.starts_with("and") || word == "&";
                or |= word.contains("or");
            }
            let next = self.item(0).is_some_and(|item| match field {
                Some(noun) => item.entries.iter().any(|entry| self.value_fits(noun, &entry.sense)),
                None => {
                    let number = |item: &super::super::super::items::Item| matches!(item.kind, Kind::Number(_));
                    let before = self.items.get(first).is_some_and(number);
                    self.value_here() || before && item.has_value() && number(item)
                }
            });
            if back == self.at || !next || !self.same_field(&nouns) {
                self.at = back;
                break;
            }
            self.sketch.comparing |= against;
        }
        if nouns.is_empty() {
            return false;
        }
        match field {
            Some(field) => self.sketch.nouns[field].want = Want::Bound,
            None => self.do_it(first, &nouns),
        }
        if let (true, true, false, Some(first)) = (nouns.len() > 1, and, or, nouns.first()) {
            if both { &mut self.sketch.each } else { &mut self.sketch.joint }.push(*first);
        } else if both {
            return false;
        }
        // "Harbour included" does not say that there is nothing else.
        if matches!(self.word(0), "included" | "counted") && !negated {
            let said = nouns.last().map(|noun| self.sketch.nouns[*noun].text.clone()).unwrap_or_default();
            let reason = format!("Is only “{said}” meant, or all with it? Say “only {said}”, or leave it out.");
            self.sketch.refused = Some(reason);
        }
        if negated {
            self.ends_what_is_not();
        }
        self.add(Cond::Values { nouns, negated });
        true
    }

    /// "except Lund and June": whether what is joined to what is left out is left out as well, or is what is asked for,
    /// nobody can know, but for "nor".
    pub(in super::super) fn ends_what_is_not(&mut self) {
        let comma = usize::from(self.word(0) == ",");
        if !matches!(self.word(comma), "and" | "or" | "&") {
            return;
        }
        let ahead = comma + 1;
        let ahead = ahead + usize::from(matches!(self.word(ahead), "in" | "on" | "from" | "during" | "the"));
        let is_open = |item: &&Item| match item.kind {
            Kind::Time(TimePhrase::Window(_)) => true,
            Kind::Word | Kind::Quoted => item.has_value() && !item.is_named(),
            Kind::Number(_) | Kind::Time(_) | Kind::Punct => false,
        };
        if let Some(item) = self.item(ahead).filter(is_open) {
            let text = item.text.clone();
            let reason = format!("Is “{text}” left out, too, or meant? Say “except” before it, or name it first.");
            self.sketch.refused = Some(reason);
        }
    }

    /// The thing that a clause is about which begins right behind it, and in which nothing was named before: airlines in
    /// "delay of airlines that fly to Lund".
    pub(super) fn relative(&self, at: usize) -> Option<NounAt> {
        let focus = self.focus.filter(|focus| self.frames.is_empty() && self.sketch.subject != Some(*focus))?;
        let end = self.sketch.nouns.get(focus)?.items.end;
        let clause = self.items.get(end).is_some_and(|item| item.any(&["who", "that", "which", "whose"])) && end < at;
        let first = self.sketch.nouns.iter().all(|noun| noun.items.start < end || noun.items.start >= at);
        (clause && first).then_some(focus)
    }

    /// "part number 100" is rather a number than a name.
    pub(super) fn numbers_first(&mut self, noun: NounAt) {
        let number = |parser: &Self, sense: &Sense| match *sense {
            Sense::Field(d, f) => parser.field(d, f).is_some_and(|field| field.datatype.is_number()),
            _ => false,
        };
        let entries = &self.sketch.nouns[noun].entries;
        let fields = entries.iter().all(|entry| matches!(entry.sense, Sense::Field(..)));
        if fields && entries.first().is_some_and(|entry| number(self, &entry.sense)) {
            let kept = entries.iter().filter(|entry| number(self, &entry.sense)).cloned().collect();
            self.sketch.nouns[noun].entries = kept;
        }
    }

    /// "rye flour", "online channel": the value's own field behind it.
    fn own_field(&mut self, nouns: &[NounAt], alone: bool) {
        let Some(item) = self.item(0).filter(|item| alone && !item.has_value()) else { return };
        let named = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => Some((d, f)),
            _ => None,
        };
        let fields: Vec<(usize, usize)> = item.entries.iter().filter_map(named).collect();
        // "the rye flour" alone speaks of the flour; before breads it says which of them.
        let thing_here = item.entries.iter().any(Entry::is_whole_thing);
        let before_other = self.item(1).is_some_and(|next| next.entries.iter().any(Entry::is_thing));
        if fields.is_empty() || thing_here && !before_other {
            return;
        }
        let of = |entry: &&Entry| matches!(entry.sense, Sense::Value { dataset, field, .. } if fields.contains(&(dataset, field)));
        let kept: Vec<Vec<Entry>> =
            nouns.iter().map(|noun| self.sketch.nouns[*noun].entries.iter().filter(of).cloned().collect()).collect();
        if kept.iter().any(Vec::is_empty) {
            return;
        }
        for (noun, entries) in nouns.iter().zip(kept) {
            self.sketch.nouns[*noun].entries = entries;
        }
        self.at += 1;
    }

    /// "how many songs does Abba have": who has things is none of them.
    fn owning(&self, entries: &mut Vec<Entry>) {
        let asked = matches!(self.previous(), "does" | "do" | "did")
            && matches!(self.word(1), "have" | "own" | "has" | "make" | "made" | "sell" | "hold");
        let Some(counted) = self.focus.filter(|_| asked) else { return };
        let things: Vec<usize> = self.sketch.nouns[counted].entries.iter().filter_map(thing).collect();
        let other = |sense: &Sense| !matches!(sense, Sense::Value { dataset, .. } if things.contains(dataset));
        if entries.iter().any(|entry| other(&entry.sense)) {
            entries.retain(|entry| other(&entry.sense));
        }
    }

    /// The dataset right before a value: shops in "shops in Bergen", customers in "customers living in Turku".
    pub(super) fn near_thing(&self) -> Option<NounAt> {
        let back = (1..=4).find(|back| {
            let item = self.at.checked_sub(*back).and_then(|at| self.items.get(at));
            item.is_some_and(|item| item.entries.iter().any(Entry::is_thing))
        })?;
        let at = self.at.checked_sub(back)?;
        let between = (at + 1..self.at)
            .filter_map(|at| self.items.get(at))
            .all(|item| vocabulary::is_ordinary(&item.norm) && !item.any(&["and", "or"]));
        let noun = self.sketch.nouns.iter().rposition(|noun| noun.items.contains(&at) || noun.items.start == at)?;
        between.then_some(noun)
    }

    /// Whether the next value is one of a field of which the values before are.
    pub(super) fn same_field(&self, nouns: &[NounAt]) -> bool {
        let Some(item) = self.item(0) else { return false };
        let fields = |entries: &[Entry]| -> Vec<(usize, usize)> {
            entries
                .iter()
                .filter_map(|entry| match entry.sense {
                    Sense::Value { dataset, field, .. } => Some((dataset, field)),
                    _ => None,
                })
                .collect()
        };
        let next = fields(&item.entries);
        nouns.iter().all(|noun| fields(&self.sketch.nouns[*noun].entries).iter().any(|field| next.contains(field)))
    }
}
