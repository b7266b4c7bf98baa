//! From items to a sketch: a scan from left to right in which each rule takes the words that it knows. What no rule
//! takes is unknown, and an unknown word forbids an answer.

mod conditions;
mod define;
mod groups;
mod nouns;
mod quantities;
mod ranks;
mod when;

use crate::engine::agent::lexicon::{Lexicon, Sense};
use crate::engine::agent::time::TimePhrase;
use crate::model::ontology::{Field, FieldRole, Ontology};

use super::grammar;
use super::items::{Item, Kind};
use super::sketch::{Ask, Cond, Display, NounAt, Quantity, Sketch};

/// A dataset whose rows the conditions that follow are about.
struct Frame {
    thing: NounAt,
    conds: Vec<Cond>,
    negated: bool,
}

pub(super) struct Parser<'a> {
    items: &'a [Item],
    on: &'a Lexicon,
    ontology: &'a Ontology,
    at: usize,
    /// Items from here on were read already.
    end: usize,
    sketch: Sketch,
    frames: Vec<Frame>,
    /// The dataset that was spoken of last.
    focus: Option<NounAt>,
}

/// What a question of these items says.
pub(super) fn sketch(items: &[Item], on: &Lexicon, ontology: &Ontology) -> Sketch {
    let mut parser = Parser {
        items,
        on,
        ontology,
        at: 0,
        end: items.len(),
        sketch: Sketch::default(),
        frames: Vec::new(),
        focus: None,
    };
    parser.run();
    parser.sketch
}

impl Parser<'_> {
    fn run(&mut self) {
        self.definition();
        while self.at < self.end {
            if self.at_boundary() {
                self.close_frame();
            }
            let taken = self.comparing()
                || self.opening()
                || self.display()
                || self.ordering()
                || self.ranking()
                || self.grouping()
                || self.existence()
                || self.condition()
                || self.times()
                || self.quantity_here()
                || self.noun_here()
                || self.filler();
            if !taken {
                self.unknown();
            }
        }
        while !self.frames.is_empty() {
            self.close_frame();
        }
    }

    fn item(&self, ahead: usize) -> Option<&Item> {
        let at = self.at + ahead;
        if at < self.end { self.items.get(at) } else { None }
    }

    /// The words of an item; empty at the end and for quoted texts.
    fn word(&self, ahead: usize) -> &str {
        self.item(ahead).filter(|item| !matches!(item.kind, Kind::Quoted)).map_or("", |item| item.norm.as_str())
    }

    /// The word before the place of reading.
    fn previous(&self) -> &str {
        self.at.checked_sub(1).and_then(|at| self.items.get(at)).map_or("", |item| item.norm.as_str())
    }

    /// Takes these words if they come next; several in one text stand apart by spaces.
    fn eat(&mut self, phrase: &str) -> bool {
        let words: Vec<&str> = phrase.split(' ').collect();
        let mut at = 0;
        let mut ahead = 0;
        while at < words.len() {
            let Some(item) = self.item(ahead) else { return false };
            if matches!(item.kind, Kind::Quoted | Kind::Time(_)) || item.norm.is_empty() {
                return false;
            }
            let inner: Vec<&str> = item.norm.split(' ').collect();
            if words[at..].len() < inner.len() || words[at..at + inner.len()] != inner[..] {
                return false;
            }
            at += inner.len();
            ahead += 1;
        }
        self.at += ahead;
        true
    }

    fn eat_any(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.eat(phrase))
    }

    fn articles(&mut self) {
        while matches!(
            self.word(0),
            "the" | "a" | "an" | "our" | "all" | "my" | "your" | "their" | "its" | "any" | "his" | "her"
        ) {
            self.at += 1;
        }
    }

    fn unknown(&mut self) {
        if let Some(item) = self.item(0) {
            let text = item.text.clone();
            self.sketch.unknown.push(text);
        }
        self.at += 1;
    }

    /// "compare A with B": what is compared are two times, or values of one field.
    fn comparing(&mut self) -> bool {
        if self.sketch.comparing || !matches!(self.word(0), "compare" | "comparing" | "comparison") {
            return false;
        }
        self.sketch.comparing = true;
        self.at += 1;
        self.eat_any(&["of", "the"]);
        true
    }

    fn filler(&mut self) -> bool {
        let Some(item) = self.item(0) else { return false };
        let silent =
            matches!(item.kind, Kind::Punct) && matches!(item.norm.as_str(), "," | ";" | "-" | "–" | "—" | "/" | "&");
        if silent || matches!(item.kind, Kind::Word) && grammar::is_filler(&item.norm) {
            self.at += 1;
            return true;
        }
        // A verb that only joins two things that are both named.
        let between = (!self.sketch.columns.is_empty()
            || !self.sketch.groups.is_empty()
            || self.focus.is_some()
            || self.sketch.subject.is_some()
            || !self.sketch.measures.is_empty())
            && grammar::is_relation(&item.norm);
        // "cost us the most", "spend the least": a verb of money that says no more than the superlative.
        let money =
            matches!(item.norm.as_str(), "cost" | "costs" | "spend" | "spends" | "spent" | "pay" | "pays" | "paid")
                && (1..4).any(|ahead| {
                    matches!(self.word(ahead), "most" | "least")
                        && (1..ahead).all(|before| matches!(self.word(before), "the" | "us" | "me"))
                });
        if money && matches!(item.kind, Kind::Word) && self.sketch.subject.is_some() {
            self.at += 1;
            return true;
        }
        let have = matches!(item.norm.as_str(), "have" | "has" | "had" | "with" | "who");
        if (between || have) && matches!(item.kind, Kind::Word) {
            self.at += 1;
            return true;
        }
        false
    }

    /// Words that say what kind of answer is asked for.
    fn opening(&mut self) -> bool {
        let first = self.sketch.nouns.is_empty() && self.sketch.measures.is_empty();
        if !first {
            return false;
        }
        let word = self.word(0).to_owned();
        if grammar::is_show(&word) {
            let counting =
                word == "count" || self.item(0).is_some_and(|item| item.entries.iter().any(|entry| !entry.partial));
            if !counting
                || self.at == 0
                    && word != "count"
                    && self.word(1) != "of"
                    && word != "name"
                    && word != "report"
                    && word != "order"
            {
                self.sketch.ask = if self.sketch.ask == Ask::Open { Ask::List } else { self.sketch.ask };
                self.at += 1;
                self.eat("me");
                return true;
            }
            return false;
        }
        for (phrase, ask) in [
            ("is there", Ask::Whether),
            ("are there", Ask::Whether),
            ("was there", Ask::Whether),
            ("were there", Ask::Whether),
            ("do we have", Ask::Whether),
            ("did we have", Ask::Whether),
            ("what are", Ask::List),
            ("which are", Ask::List),
            ("what were", Ask::List),
            ("who", Ask::Who),
            ("when", Ask::When),
        ] {
            if self.sketch.ask == Ask::Open && self.eat(phrase) {
                self.sketch.ask = ask;
                return true;
            }
        }
        // "in which month", "what day"
        let ahead = usize::from(matches!(word.as_str(), "in" | "on" | "at" | "during" | "for"));
        if matches!(self.word(ahead), "which" | "what")
            && let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(ahead + 1).map(|item| item.kind.clone())
        {
            self.sketch.ask = Ask::Which;
            self.sketch.groups.push(super::sketch::Group { noun: None, grain: Some(grain), each: false, per: false });
            self.at += ahead + 2;
            return true;
        }
        if matches!(word.as_str(), "which" | "what") && self.sketch.ask != Ask::Which {
            let next = self.item(1);
            let named = next.is_some_and(|item| item.is_named() && !item.any(&["is", "are", "was", "were"]));
            if named || next.is_some_and(|item| item.any(&["different", "distinct", "unique"])) {
                self.sketch.ask = Ask::Which;
                self.at += 1;
                return true;
            }
        }
        false
    }

    /// How numbers are shown in relation to others.
    fn display(&mut self) -> bool {
        for (phrase, display) in [
            ("cumulative", Display::Cumulative),
            ("cumulatively", Display::Cumulative),
            ("running total of", Display::Cumulative),
            ("running total", Display::Cumulative),
            ("running sum of", Display::Cumulative),
            ("as a percentage of the total", Display::Share),
            ("as a percentage of total", Display::Share),
            ("as percentage of total", Display::Share),
            ("as a percent of total", Display::Share),
            ("as a share of the total", Display::Share),
            ("as a share of total", Display::Share),
            ("percentage of total", Display::Share),
            ("percent of total", Display::Share),
            ("share of total", Display::Share),
            ("share of the total", Display::Share),
            ("percentage of the total", Display::Share),
            ("as a percentage", Display::Share),
            ("as percentages", Display::Share),
            ("in percent", Display::Share),
            ("growth rate of", Display::ChangePercent),
            ("growth of", Display::ChangePercent),
            ("growth in", Display::ChangePercent),
            ("percentage change in", Display::ChangePercent),
            ("percent change in", Display::ChangePercent),
            ("change in", Display::Change),
            ("month over month", Display::ChangePercent),
            ("year over year", Display::ChangePercent),
            ("growth", Display::ChangePercent),
        ] {
            if self.eat(phrase) {
                self.sketch.display = Some(display);
                let counted = self.item(0).is_some_and(|item| {
                    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Entity(_)) && !entry.partial)
                });
                let measured = self.item(0).is_some_and(|item| {
                    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
                });
                if counted
                    && !measured
                    && display != Display::Share
                    && let Some(noun) = self.noun(super::sketch::Want::Counted)
                {
                    self.sketch.measures.push(Quantity::Count(noun));
                }
                return true;
            }
        }
        false
    }

    /// Sorting that is said in so many words.
    fn ordering(&mut self) -> bool {
        let start = self.at;
        if self.eat_any(&["sorted by", "ordered by", "sort by", "order by", "ranked by", "sorted from"]) {
            self.articles();
            let descending_word = |parser: &mut Self| {
                if parser.eat_any(&[
                    "descending",
                    "desc",
                    "in descending order",
                    "from highest to lowest",
                    "highest first",
                    "largest first",
                    "from high to low",
                ]) {
                    Some(true)
                } else if parser.eat_any(&[
                    "ascending",
                    "asc",
                    "in ascending order",
                    "from lowest to highest",
                    "lowest first",
                    "smallest first",
                    "from low to high",
                ]) {
                    Some(false)
                } else {
                    None
                }
            };
            let ranked = self.items.get(start).is_some_and(|item| item.norm.starts_with("rank"));
            let before = self.at;
            if let Some(quantity) = self.quantity() {
                let descending = descending_word(self).unwrap_or(ranked);
                if self.sketch.measures.contains(&quantity)
                    || !self.sketch.measures.is_empty() && self.same_as_last(&quantity)
                {
                    self.sketch.order = Some((super::sketch::OrderBy::Measure, descending));
                } else if let Quantity::Plain(noun) = quantity {
                    self.sketch.order = Some((super::sketch::OrderBy::Noun(noun), descending));
                } else {
                    self.sketch.measures.push(quantity);
                    self.sketch.order = Some((super::sketch::OrderBy::Measure, descending));
                }
                return true;
            }
            self.at = before;
            if let Some(Kind::Time(TimePhrase::Grain(_))) = self.item(0).map(|item| &item.kind) {
                self.at += 1;
                self.sketch.order = Some((super::sketch::OrderBy::Time, descending_word(self).unwrap_or(false)));
                return true;
            }
            if let Some(noun) = self.noun(super::sketch::Want::Column) {
                let descending = descending_word(self).unwrap_or(false);
                self.sketch.order = Some((super::sketch::OrderBy::Noun(noun), descending));
                return true;
            }
            self.at = start;
            return false;
        }
        if self.eat_any(&["in alphabetical order", "alphabetically"]) {
            return true;
        }
        for (phrase, descending) in [
            ("in descending order", true),
            ("descending", true),
            ("highest first", true),
            ("newest first", true),
            ("latest first", true),
            ("most recent first", true),
            ("in ascending order", false),
            ("ascending", false),
            ("oldest first", false),
            ("lowest first", false),
        ] {
            if self.eat(phrase) {
                let by = if phrase.starts_with(['n', 'o']) || phrase.contains("latest") || phrase.contains("recent") {
                    super::sketch::OrderBy::Time
                } else {
                    super::sketch::OrderBy::Measure
                };
                match &mut self.sketch.order {
                    Some((_, known)) => *known = descending,
                    None => self.sketch.order = Some((by, descending)),
                }
                return true;
            }
        }
        false
    }

    /// Whether a quantity is said with the same words as the last measure.
    fn same_as_last(&self, quantity: &Quantity) -> bool {
        let norm = |quantity: &Quantity| match quantity {
            Quantity::Plain(noun) | Quantity::Count(noun) | Quantity::Aggregate(_, noun) => {
                self.sketch.nouns.get(*noun).map(|noun| noun.norm.clone())
            }
            _ => None,
        };
        self.sketch.measures.last().is_some_and(|last| norm(last).is_some() && norm(last) == norm(quantity))
    }

    fn add(&mut self, cond: Cond) {
        match self.frames.last_mut() {
            Some(frame) => frame.conds.push(cond),
            None => self.sketch.conds.push(cond),
        }
    }

    /// How many conditions there are where the next one goes.
    fn open_conds(&self) -> usize {
        self.frames.last().map_or(self.sketch.conds.len(), |frame| frame.conds.len())
    }

    fn close_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            let cond = Cond::Exists { thing: frame.thing, inner: frame.conds, negated: frame.negated };
            self.add(cond);
        }
    }

    /// Words after which conditions are no longer about the last dataset that something must exist in.
    fn at_boundary(&self) -> bool {
        if self.frames.is_empty() {
            return false;
        }
        let next = self.word(1);
        match self.word(0) {
            "by" | "per" | "but" | "," | ";" | "sorted" | "grouped" | "broken" | "split" | "for"
                if self.word(0) != "for" || matches!(next, "each" | "every") =>
            {
                true
            }
            "and" => {
                matches!(
                    next,
                    "who"
                        | "that"
                        | "which"
                        | "with"
                        | "without"
                        | "have"
                        | "has"
                        | "had"
                        | "no"
                        | "never"
                        | "a"
                        | "an"
                        | "not"
                        | "their"
                        | "the"
                        | "also"
                        | "are"
                        | "live"
                        | "whose"
                ) || self.item(1).is_some_and(|item| item.is_named())
            }
            _ => false,
        }
    }

    fn field(&self, dataset: usize, field: usize) -> Option<&Field> {
        self.ontology.datasets.get(dataset)?.fields.get(field)
    }

    fn is_measure(&self, sense: &Sense) -> bool {
        match sense {
            Sense::Metric(_) => true,
            Sense::Field(d, f) => {
                self.field(*d, *f).is_some_and(|field| field.role == FieldRole::Measure && field.datatype.is_number())
            }
            _ => false,
        }
    }
}
