//! Nouns that no other rule took.

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::DataType;

use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Cond, Noun, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// A noun here: the subject, a column, or a number that is asked for.
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
        let entity = !owned && kind.entries.iter().any(Entry::is_whole_thing);
        let is_boolean = |d: usize, f: usize| self.field(d, f).is_some_and(|field| field.datatype == DataType::Boolean);
        let yes_no = |entry: &Entry| matches!(entry.sense, Sense::Field(d, f) if is_boolean(d, f));
        let condition = |entry: &Entry| matches!(entry.sense, Sense::Segment(_));
        let flag = matches!(best, Some(Sense::Segment(_)))
            || kind.entries.iter().any(|entry| condition(entry) && !entry.partial)
                && kind.entries.iter().all(|entry| condition(entry) || yes_no(entry));
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
            let before_thing = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
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
