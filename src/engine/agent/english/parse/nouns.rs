//! Nouns: terms of the ontology with what stands beside them.

use crate::engine::agent::english::lexicon::{Entry, GENERIC, Sense, words};
use crate::engine::agent::english::time::TimePhrase;

use super::super::items::{Item, Kind};
use super::super::vocabulary;
use crate::model::ontology::DataType;

use super::super::sketch::{Ask, Cond, Noun, NounAt, Quantity, Want};
use super::Parser;

impl Parser<'_> {
    /// A noun here, with what says more about it: "origin airport", "customer name", "name of the customer".
    pub(super) fn noun(&mut self, want: Want) -> Option<NounAt> {
        let start = self.at;
        let before = self.previous().to_owned();
        self.articles();
        let mut roles: Vec<usize> = Vec::new();
        loop {
            let mut named: Vec<usize> = self.item(0)?.entries.iter().filter_map(role).collect();
            if vocabulary::is_filler(&self.item(0)?.norm) {
                // "from customers": a preposition is a role only of what it may lead to.
                named.retain(|role| self.leads_to_next(*role));
            }
            let next =
                self.item(1).is_some_and(|item| item.entries.iter().any(|entry| is_thing(entry) || is_field(entry)));
            // "customers bought …" says no role of what is bought.
            // "customers joined …" neither, where customers are things themselves.
            let itself = self.item(0).is_some_and(|item| item.entries.iter().any(is_thing));
            let when = matches!(self.word(2), "first" | "last" | "most" | "least" | "earliest" | "latest");
            let verb = self.item(1).is_some_and(|item| {
                vocabulary::is_ordinary(&item.norm) && !matches!(item.norm.as_str(), "name" | "names")
                    || itself && (item.norm.ends_with("ed") || when)
            });
            if named.is_empty() || !next || verb {
                break;
            }
            roles.extend(named);
            self.at += 1;
        }
        let bare = self.item(0).is_some_and(|item| {
            item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_) | Sense::Value { .. }))
                && vocabulary::is_ordinary(&item.norm)
        });
        if bare && !self.item(0).is_some_and(|item| matches!(item.norm.as_str(), "name" | "names" | "id" | "ids")) {
            self.at = start;
            return None;
        }
        let Some(mut entries) = self.named_entries() else {
            self.at = start;
            return None;
        };
        let mut of = None;
        let first = self.at;
        self.at += 1;
        // "customer name", "claim's open date".
        let things: Vec<usize> = entries.iter().filter_map(thing).collect();
        if !things.is_empty() && want != Want::Thing {
            let inner: Vec<Entry> = self
                .item(0)
                .map(|item| {
                    item.entries
                        .iter()
                        .filter(|entry| field_of(entry).is_some_and(|d| things.contains(&d)))
                        .cloned()
                        .collect()
                })
                .unwrap_or_default();
            let generic = self.item(0).is_some_and(|item| {
                matches!(
                    item.norm.as_str(),
                    "name" | "number" | "code" | "id" | "identifier" | "key" | "title" | "titles"
                ) || matches!(item.norm.as_str(), "names" | "ids" | "numbers" | "codes")
            });
            let free = !matches!(self.item(0).map(|item| &item.kind), Some(Kind::Number(_) | Kind::Time(_)));
            // "customers joined in 2024" says when, not which field.
            let when = matches!(self.word(1), "before" | "after" | "in" | "since" | "between" | "during" | "until")
                || matches!(self.item(1).map(|item| &item.kind), Some(Kind::Time(_)));
            let made = self.word(1) == "by" && self.item(2).is_some_and(Item::has_value);
            let done = words::is_irregular(self.word(0)) && (made || when)
                || self.word(0).ends_with("ed")
                || want == Want::Counted && matches!(self.word(0), "built" | "made" | "born" | "sent" | "written");
            let free = free && !done && !self.is_when_verb();
            if free && (!inner.is_empty() || generic && self.item(0).is_some()) {
                let owner = self.push(Noun::new(self, first..first + 1, entries.clone(), Want::Thing, &before));
                self.sketch.nouns[owner].roles.clone_from(&roles);
                of = Some(owner);
                entries = inner;
                self.at += 1;
            }
        }
        let mut noun = Noun::new(self, first..self.at, entries, want, &before);
        noun.roles = roles;
        noun.of = of;
        let at = self.push(noun);
        if of.is_none() && self.part_of_one(at) {
            return Some(at);
        }
        // "name of the customer".
        if of.is_none() && self.word(0) == "of" && self.owned_thing(at) {
            self.at += 1;
            self.articles();
            self.sketch.nouns[at].of = self.noun(Want::Thing);
            self.focus_owner(at);
            self.one_owner(at);
        } else if of.is_none()
            && self.word(0) == "of"
            && matches!(
                want,
                Want::Column | Want::Group | Want::Bound | Want::Number | Want::Aggregated | Want::Measure
            )
        {
            let back = self.at;
            self.at += 1;
            self.articles();
            if matches!(self.word(0), "each" | "every") {
                self.at = back;
                return Some(at);
            }
            // "town of the broken tool", where that is a role.
            let part: Vec<usize> = self
                .item(0)
                .filter(|item| item.entries.iter().all(|entry| matches!(entry.sense, Sense::Role(_))))
                .map(|item| item.entries.iter().filter_map(role).collect())
                .unwrap_or_default();
            if !part.is_empty() && !vocabulary::is_ordinary(self.word(0)) && self.value_at(1).is_none() {
                self.sketch.nouns[at].roles.extend(part);
                self.at += 1;
                return Some(at);
            }
            let owns = self.item(0).is_some_and(|item| {
                let whose: Vec<usize> = item.entries.iter().filter_map(thing).collect();
                let fields: Vec<usize> = self.sketch.nouns[at].entries.iter().filter_map(field_of).collect();
                let generic = self.sketch.nouns[at].is_generic();
                !whose.is_empty() && (generic || whose.iter().any(|d| fields.contains(d)))
            });
            if owns {
                let owner = self.noun(Want::Thing);
                self.sketch.nouns[at].of = owner;
                self.focus_owner(at);
                if self.sketch.subject.is_none() && matches!(want, Want::Column) {
                    self.sketch.subject = owner;
                    self.focus = owner;
                }
                self.one_owner(at);
            } else {
                self.at = back;
            }
        }
        Some(at)
    }

    /// A value here.
    fn value_at(&self, ahead: usize) -> Option<&super::super::items::Item> {
        self.item(ahead).filter(|item| item.has_value() && !item.is_named())
    }

    /// "country of the customers who …": what follows is said of the customers.
    fn focus_owner(&mut self, noun: NounAt) {
        if self.frames.is_empty() && self.sketch.subject.is_none() {
            self.focus = self.sketch.nouns[noun].of.or(self.focus);
        }
    }

    /// Whether a role is one that the next item's rows may have.
    fn leads_to_next(&self, role: usize) -> bool {
        let to = self.ontology.relationships.get(role).map_or("", |relationship| relationship.to.as_str());
        let is = |dataset: usize| {
            self.ontology.datasets.get(dataset).is_some_and(|entity| entity.name.eq_ignore_ascii_case(to))
        };
        let next = self.item(1).map(|item| item.entries.as_slice()).unwrap_or_default();
        next.iter().any(|entry| thing(entry).or_else(|| field_of(entry)).is_some_and(is))
    }

    /// "town of the shop": a dataset that another one refers to, or one that it refers to does.
    fn owned_thing(&self, noun: NounAt) -> bool {
        let article = if matches!(self.word(1), "the" | "a" | "its" | "their" | "our") { 2 } else { 1 };
        let Some(owner) = self.item(article) else { return false };
        let name = |dataset: usize| self.ontology.datasets.get(dataset).map_or("", |entity| entity.name.as_str());
        let owners: Vec<&str> = owner.entries.iter().filter_map(thing).map(name).collect();
        let owned: Vec<&str> = self.sketch.nouns[noun].entries.iter().filter_map(thing).map(name).collect();
        // "region of the shop", where the shop's town has one.
        let mut reached = owners;
        for _ in 0..3 {
            let to = |from: &str| {
                let from = from.to_owned();
                let all = self.ontology.relationships.iter();
                all.filter(move |known| known.from.eq_ignore_ascii_case(&from)).map(|known| known.to.as_str())
            };
            reached = reached.iter().flat_map(|from| to(from)).collect();
            if reached.iter().any(|to| owned.iter().any(|owned| owned.eq_ignore_ascii_case(to))) {
                return true;
            }
        }
        false
    }

    /// What the next item is, if the lexicon knows more of it than values.
    fn named_entries(&self) -> Option<Vec<Entry>> {
        let item = self.item(0)?;
        if matches!(item.kind, Kind::Number(_) | Kind::Time(_) | Kind::Quoted) {
            return None;
        }
        let named: Vec<Entry> =
            item.entries.iter().filter(|entry| !matches!(entry.sense, Sense::Value { .. })).cloned().collect();
        if named.is_empty() {
            // "name of the customer", where customers have no field of that name.
            let generic = matches!(item.norm.as_str(), "name" | "names" | "id" | "ids" | "identifier" | "identifiers");
            return generic.then(Vec::new);
        }
        Some(named)
    }

    pub(super) fn push(&mut self, noun: Noun) -> NounAt {
        self.sketch.nouns.push(noun);
        self.sketch.nouns.len() - 1
    }

    /// A noun that no other rule took: the subject, a column, or a number that is asked for.
    pub(super) fn noun_here(&mut self) -> bool {
        if matches!(self.word(0), "different" | "distinct" | "unique") && self.item(1).is_some_and(Item::is_named) {
            self.at += 1;
        }
        let start = self.at;
        let known = self.sketch.nouns.len();
        let begun = !self.sketch.measures.is_empty() || self.sketch.subject.is_some() || self.focus.is_some();
        let timed = matches!(self.item(1).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
        let vague = self.item(0).is_some_and(|item| {
            let verb = vocabulary::is_relation(&item.norm);
            let said = |d: usize| self.sketch.nouns.iter().any(|noun| noun.entries.first().and_then(thing) == Some(d));
            let thing_here = item.entries.iter().filter_map(thing).any(|d| !said(d));
            // "departed" alone is the condition of that name; with a place or a time behind it, it says how they belong.
            let named = item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial)
                && !self.item(1).is_some_and(|next| next.any(&["from", "to", "for", "at", "by", "on"]));
            // "order 7" is one of the orders, whatever verb it may be.
            let numbered = self.item(1).is_some_and(|next| matches!(next.kind, Kind::Number(_)));
            let passive = self.done_here();
            verb && (begun && !thing_here && !timed && !named && !numbered && !passive
                || item.entries.iter().all(|entry| entry.partial))
        });
        if vague {
            return false;
        }
        let Some(at) = self.noun(Want::Column) else { return false };
        if self.sketch.parts.contains(&at) {
            self.sketch.columns.push(at);
            return true;
        }
        if self.sketch.nouns[at].entries.is_empty()
            && self.sketch.nouns[at].of.is_none()
            && self.sketch.subject.is_none()
        {
            self.drop_nouns(known);
            self.at = start;
            return false;
        }
        if self.sketch.ask == Ask::When && self.is_time(at) {
            // "when was it closed" asks for the time, not whether it is.
            self.sketch.nouns[at].entries.retain(|entry| matches!(entry.sense, Sense::Field(..)));
        }
        if self.bound_here(at) {
            // "name and height of hills above 500 m": the height is asked for as well.
            if self.listed(start) && self.sketch.nouns[at].of.is_some() && self.sketch.measures.is_empty() {
                let asked = Noun { want: Want::Column, unit: None, ..self.sketch.nouns[at].clone() };
                let asked = self.push(asked);
                self.sketch.columns.push(asked);
            }
            return true;
        }
        if self.is_time(at) && (self.dated(at) || self.happened(at)) {
            return true;
        }
        let kind = self.sketch.nouns[at].clone();
        let owned = kind.of.is_some();
        let best = kind.entries.first().map(|entry| entry.sense.clone());
        let entity = !owned && kind.entries.iter().any(|entry| thing(entry).is_some() && !entry.partial);
        let flag = matches!(best, Some(Sense::Segment(_)))
            || kind.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial)
                && kind.entries.iter().all(|entry| match entry.sense {
                    Sense::Segment(_) => true,
                    Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype == DataType::Boolean),
                    _ => false,
                });
        let yes_no = |entry: &Entry| matches!(entry.sense, Sense::Field(d, f) if self.field(d, f).is_some_and(|field| field.datatype == DataType::Boolean));
        if !flag && !owned && !kind.entries.is_empty() && kind.entries.iter().all(yes_no) && !self.listed(start) {
            self.sketch.nouns[at].want = Want::Flag;
            let negated = self.negated_before(start);
            self.add(Cond::Flag { noun: at, negated });
            return true;
        }
        let asked = !self.sketch.groups.is_empty() || !self.sketch.columns.is_empty();
        if (flag || entity && asked) && self.is_done_by_us(start) {
            let text = self.sketch.nouns[at].text.clone();
            self.sketch.unknown.push(text);
            return true;
        }
        if flag {
            self.sketch.nouns[at].entries.retain(|entry| matches!(entry.sense, Sense::Segment(_)));
            if self.included(start, at) {
                return true;
            }
            let negated = self.negated_before(start);
            let free = self.focus.is_none()
                && self.sketch.subject.is_none()
                && self.sketch.measures.is_empty()
                && self.sketch.rank.is_none()
                && !self.sketch.conds.iter().any(|cond| matches!(cond, Cond::Measured { .. }))
                && self.frames.is_empty();
            let before_thing = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| thing(entry).is_some()));
            if free && !before_thing && !negated {
                // "active customers" says the noun with the condition.
                let subject = self.segment_thing(at);
                self.sketch.subject = Some(subject);
                self.focus = Some(subject);
                return true;
            }
            // "cancelled and delayed flights" may be those that are both, or all of either kind.
            let before = self.sketch.conds.last().and_then(|cond| match cond {
                Cond::Flag { noun, negated: false } => self.sketch.nouns.get(*noun),
                _ => None,
            });
            let listed = self.previous_of(start) == "and"
                && before.is_some_and(|before| {
                    let verb = self.previous_of(before.items.start);
                    let said = matches!(verb, "are" | "were" | "is" | "was" | "be" | "been" | "that" | "which" | "who");
                    before.items.end + 1 == start && !said
                });
            if listed && !negated && self.item(0).is_none_or(|item| !item.any(&["too", "both"])) {
                let said = &self.sketch.nouns[at].text;
                self.sketch.refused = Some(format!(
                    "Is “{said}” said of the same rows as what stands before “and”, or of others? Ask for one at a time."
                ));
            }
            self.ended_within(at);
            self.sketch.nouns[at].want = Want::Flag;
            self.add(Cond::Flag { noun: at, negated });
            return true;
        }
        if !owned && self.column_of_one(at, start) {
            return true;
        }
        if entity {
            let count = |metric: usize| {
                self.ontology
                    .metrics
                    .get(metric)
                    .is_some_and(|metric| metric.expression.trim().to_lowercase().starts_with("count"))
            };
            let metric =
                kind.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(m) if !entry.partial && !count(m)));
            if metric
                && self.sketch.ask == Ask::Open
                && self.sketch.subject.is_none()
                && self.sketch.measures.is_empty()
            {
                self.sketch.nouns[at].want = Want::Measure;
                self.sketch.measures.push(Quantity::Plain(at));
                return true;
            }
            // "revenue and orders by country": two numbers.
            let last = kind.norm.rsplit(' ').next().unwrap_or_default();
            let counts =
                kind.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(m) if !entry.partial && count(m)));
            if counts
                && words::singular(last) != last
                && !self.sketch.measures.is_empty()
                && matches!(self.previous_of(start), "and" | "," | "&" | "plus" | "versus" | "vs")
            {
                self.sketch.nouns[at].want = Want::Counted;
                self.sketch.measures.push(Quantity::Count(at));
                return true;
            }
            let which = self.sketch.ask == Ask::Which && self.sketch.subject.is_none();
            self.sketch.nouns[at].want = Want::Thing;
            self.focus = Some(at);
            // "which country's customers spend the most" asks for the country.
            if which && self.is_owned_by_column(start) {
                self.sketch.mentions.push(at);
                return true;
            }
            if self.sketch.subject.is_none() && (self.sketch.measures.is_empty() && self.sketch.rank.is_none() || which)
            {
                self.sketch.subject = Some(at);
            } else if self.listed(start) && !self.also_said(start) {
                self.sketch.nouns[at].want = Want::Column;
                self.sketch.columns.push(at);
            } else if self.object_of_verb(start)
                || self.verb_at(start)
                || self.joined(start)
                || self.also_said(start)
                || self.repeated(at)
            {
                self.sketch.mentions.push(at);
            } else {
                let text = self.sketch.nouns[at].text.clone();
                self.sketch.unknown.push(text);
            }
            return true;
        }
        let measure = kind.entries.iter().any(|entry| !entry.partial && self.is_measure(&entry.sense))
            || kind.entries.iter().all(|entry| self.is_measure(&entry.sense)) && !kind.entries.is_empty();
        // A word of a metric's name alone asks for it only where nothing else was asked for.
        let said = self.sketch.subject.is_some() && !self.listed(start);
        let metric =
            kind.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !(entry.partial && said));
        // A second number must be asked for like the first: "revenue and orders", not "the cost of the stock".
        if metric && !self.sketch.measures.is_empty() && !self.listed(start) && !self.compared_with(start) {
            let text = self.sketch.nouns[at].text.clone();
            self.sketch.unknown.push(text);
            return true;
        }
        if metric || measure && self.sketch.subject.is_none() && self.sketch.columns.is_empty() {
            self.sketch.nouns[at].want = Want::Measure;
            self.sketch.measures.push(Quantity::Plain(at));
            self.light_verb();
            self.focus_counted(at);
            return true;
        }
        if self.grouped(at) {
            // "by town, only towns with …": the same group again.
            self.sketch.nouns[at].want = Want::Group;
            return true;
        }
        if !self.sketch.measures.is_empty() && !self.listed(start) || self.beside(start) {
            let text = self.sketch.nouns[at].text.clone();
            self.sketch.unknown.push(text);
            return true;
        }
        self.sketch.columns.push(at);
        true
    }
}

impl Noun {
    pub(super) fn new(
        parser: &Parser,
        items: std::ops::Range<usize>,
        entries: Vec<Entry>,
        want: Want,
        before: &str,
    ) -> Self {
        let texts: Vec<&str> = parser.items[items.clone()].iter().map(|item| item.text.as_str()).collect();
        let norms: Vec<&str> = parser.items[items.clone()].iter().map(|item| item.norm.as_str()).collect();
        let corrected = parser.items[items.clone()].iter().find_map(|item| item.corrected.clone());
        Self {
            text: texts.join(" "),
            norm: norms.join(" "),
            items,
            entries,
            want,
            of: None,
            roles: Vec::new(),
            before: before.to_owned(),
            hints: &[],
            unit: None,
            inside: parser.frames.last().map(|frame| frame.thing),
            holder: None,
            corrected,
            near: None,
            width: None,
        }
    }

    /// A word such as "name" or "id" that says little without its owner.
    pub(super) fn is_generic(&self) -> bool {
        let one = crate::engine::agent::english::lexicon::words::singular(&self.norm);
        GENERIC.contains(&one.as_str())
    }
}

/// Whether it is a phrase that leads to the other end of a relationship, such as "report to".
pub(super) fn leads(norm: &str) -> bool {
    let last = norm.rsplit_once(' ').map_or("", |(_, last)| last);
    matches!(last, "to" | "by" | "for" | "from" | "in" | "with" | "under" | "at" | "on")
}

pub(super) fn role(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Role(role) => Some(role),
        _ => None,
    }
}

pub(super) fn thing(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Entity(dataset) => Some(dataset),
        _ => None,
    }
}

pub(super) fn field_of(entry: &Entry) -> Option<usize> {
    match entry.sense {
        Sense::Field(dataset, _) => Some(dataset),
        _ => None,
    }
}

fn is_thing(entry: &Entry) -> bool {
    matches!(entry.sense, Sense::Entity(_))
}

fn is_field(entry: &Entry) -> bool {
    matches!(entry.sense, Sense::Field(..))
}
