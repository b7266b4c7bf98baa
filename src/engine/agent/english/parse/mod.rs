//! From items to a sketch: a scan from left to right in which each rule takes the words that it knows. What no rule
//! takes is unknown, and an unknown word forbids an answer.

mod bands;
mod beside;
mod besides;
mod conditions;
mod date_offsets;
mod dates;
mod define;
mod display;
mod each;
mod elapsed;
mod fields;
mod forward_reference;
mod grains;
mod groups;
mod judged;
mod kinds;
mod lone_nouns;
mod most_done;
mod noun_modifiers;
mod nouns;
mod objects;
mod occasions;
mod orders;
mod owners;
mod portion;
mod quantities;
mod ranked;
mod ranks;
mod role_verbs;
mod shares;
mod superlatives;
mod weekdays;
mod when;
mod who_did;
mod with_and_without;

use crate::engine::agent::english::lexicon::{Lexicon, Sense};
use crate::model::ontology::{Field, FieldRole, Ontology};
use crate::model::plan::Comparator;

pub(super) use bands::is_band;

use super::items::{Item, Kind};
use super::sketch::{Ask, Bound, Cond, NounAt, Sketch};
use super::vocabulary;

/// A dataset whose rows the conditions that follow are about.
struct Frame {
    thing: NounAt,
    conds: Vec<Cond>,
    negated: bool,
    /// "who bought only …": there are no others.
    only: bool,
    /// How many different ones of something its rows have: "who bought in at least 3 towns".
    across: Vec<(NounAt, Comparator, Bound)>,
    /// What each of its rows is of, where these are counted: "who borrowed more than 3 books".
    object: Option<NounAt>,
}

/// What must or must not be, said again: "but not jazz" after "who bought rock".
#[derive(Clone, Copy)]
struct Again {
    thing: NounAt,
    /// Items up to here were read when it was closed.
    at: usize,
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
    /// The frame that was closed last.
    again: Option<Again>,
    /// "with both a … and a …" was said, and the second is not read yet.
    both: bool,
    /// The dataset that was spoken of last.
    focus: Option<NounAt>,
    /// The dataset of those who are asked for by what they do: what they do it to is none of them.
    doing: Option<usize>,
    /// A number before the things themselves, with its text: "5 shops with the highest revenue".
    first: Option<(u32, String)>,
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
        again: None,
        both: false,
        focus: None,
        doing: None,
        first: None,
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
            let taken = self.nothing_else()
                || self.and_when()
                || self.comparing()
                || self.opening()
                || self.portion()
                || self.with_and_without()
                || self.change_beside()
                || self.besides()
                || self.display()
                || self.ordering()
                || self.deed()
                || self.ranking()
                || self.each_of_values()
                || self.grouping()
                || self.happened_often()
                || self.with_its_number()
                || self.guarded(Self::done_by)
                || self.which_does()
                || self.fields_compared()
                || self.existence()
                || self.condition()
                || self.weekdays(None)
                || self.times()
                || self.quantity_here()
                || self.noun_here()
                || self.some_of_them()
                || self.filler();
            if !taken {
                self.unknown();
            }
        }
        while !self.frames.is_empty() {
            self.close_frame();
        }
        self.listed_by();
        self.settle_order();
        self.ranks_counts();
        self.owners();
        self.turned();
        self.counted_per();
        self.rank_some();
    }

    /// Takes back the nouns from a place on, and what speaks of them: they were read in a way that led nowhere.
    fn drop_nouns(&mut self, from: usize) {
        self.sketch.nouns.truncate(from);
        self.sketch.totalled.retain(|noun| *noun < from);
        self.focus = self.focus.filter(|noun| *noun < from);
        self.sketch.subject = self.sketch.subject.filter(|noun| *noun < from);
        self.again = self.again.take().filter(|again| again.thing < from);
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
        let silent = matches!(item.kind, Kind::Punct)
            && matches!(item.norm.as_str(), "," | ";" | ":" | "-" | "–" | "—" | "/" | "&");
        // "From the US" names a place, whatever the data call it; "tell us" does not.
        let place = item.text == "US";
        if silent || matches!(item.kind, Kind::Word) && vocabulary::is_filler(&item.norm) && !place {
            self.at += 1;
            return true;
        }
        // "airports that lie above 5000 feet", "customers who sit in Lund"; not "tracks that lie".
        let placed = self.item(1).is_some_and(|next| {
            next.has_value()
                || next.any(&[
                    "in", "on", "at", "over", "above", "below", "under", "more", "less", "between", "higher", "lower",
                    "within", "from", "farther", "further", "fewer", "at least", "at most",
                ])
        });
        if vocabulary::is_posture(&item.norm) && placed && self.at > 0 && matches!(item.kind, Kind::Word) {
            self.at += 1;
            return true;
        }
        // "for every shop show me the revenue"
        let us = self.item(1).is_some_and(|next| next.any(&["me", "us"]) && next.text != "US");
        if self.at > 0 && vocabulary::is_show(&item.norm) && us {
            self.at += 2;
            return true;
        }
        // A verb that only joins two things that are both named.
        let between = (!self.sketch.columns.is_empty()
            || !self.sketch.groups.is_empty()
            || self.focus.is_some()
            || self.sketch.subject.is_some()
            || !self.sketch.measures.is_empty())
            && vocabulary::is_relation(&item.norm);
        // "cost us the most", "spend the least": a verb of money that says no more than the superlative.
        let money =
            matches!(item.norm.as_str(), "cost" | "costs" | "spend" | "spends" | "spent" | "pay" | "pays" | "paid")
                && (1..4).any(|ahead| {
                    matches!(self.word(ahead), "most" | "least")
                        && (1..ahead).all(|before| matches!(self.word(before), "the" | "us" | "me"))
                });
        // "how much premium did Ada pay"
        let payer = matches!(item.norm.as_str(), "spend" | "pay" | "cost" | "earn" | "bring")
            && !self.sketch.measures.is_empty()
            && self.at.checked_sub(1).and_then(|at| self.items.get(at)).is_some_and(Item::has_value);
        if (money && self.sketch.subject.is_some() || payer) && matches!(item.kind, Kind::Word) {
            self.at += 1;
            return true;
        }
        // "is rented out the most"
        let out = matches!(item.norm.as_str(), "out" | "up") && matches!(self.word(1), "the" | "most" | "least");
        if out && self.sketch.subject.is_some() && self.at > 0 && self.verb_at(self.at - 1) {
            self.at += 1;
            return true;
        }
        // "average delay when visibility was low", "revenue vs cost"
        let article = usize::from(matches!(self.word(1), "the" | "our"));
        let next = self.item(1 + article);
        let while_so = item.norm == "when"
            && self.at > 0
            && next.is_some_and(|next| next.entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..))));
        let against = matches!(item.norm.as_str(), "vs" | "versus" | "against")
            && next.is_some_and(|next| {
                next.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
            });
        if (while_so || against) && matches!(item.kind, Kind::Word) && !self.sketch.measures.is_empty() {
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
        if self.number_later() {
            return true;
        }
        let word = self.word(0).to_owned();
        if vocabulary::is_show(&word) {
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
        if self.who_did() {
            return true;
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
        if self.time_asked() {
            return true;
        }
        if self.sketch.ask == Ask::Who && (self.who_by_time() || self.who_does()) {
            return true;
        }
        if matches!(word.as_str(), "which" | "what") && self.sketch.ask != Ask::Which {
            let next = self.item(1);
            let named = next.is_some_and(|item| item.is_named() && !item.any(&["is", "are", "was", "were"]));
            // "which 5 shops had …"
            let some = next.is_some_and(|item| matches!(item.kind, Kind::Number(_)))
                && self.item(2).is_some_and(|item| item.is_named() && !item.has_value());
            let named = named || some;
            if named || next.is_some_and(|item| item.any(&["different", "distinct", "unique"])) {
                self.sketch.ask = Ask::Which;
                self.at += 1;
                return true;
            }
        }
        false
    }

    fn add(&mut self, cond: Cond) {
        if let (true, Cond::Measured { quantity, .. }) = (self.frames.is_empty(), &cond)
            && let Some(noun) = super::resolve::first_noun(quantity)
        {
            self.sketch.nouns[noun].holder = self.focus.filter(|focus| *focus != noun);
        }
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
            self.again = Some(Again { thing: frame.thing, at: self.at });
            self.say(frame);
        }
    }

    /// Words after which conditions are no longer about the last dataset that something must exist in.
    fn at_boundary(&self) -> bool {
        if self.frames.is_empty() {
            return false;
        }
        let next = self.word(1);
        // "never bought records by Queen": whose they are is said of them.
        let agent = self.item(1).is_some_and(|item| item.has_value() && !item.is_named());
        match self.word(0) {
            "by" if agent => false,
            "by" | "per" | "but" | "nor" | "," | ";" | "sorted" | "grouped" | "broken" | "split" | "for"
                if self.word(0) != "for" || matches!(next, "each" | "every") =>
            {
                true
            }
            "are" | "were" | "is" | "was" => self.main_verb(),
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
                ) || self.item(1).is_some_and(Item::is_named)
            }
            _ => false,
        }
    }

    fn field(&self, dataset: usize, field: usize) -> Option<&Field> {
        self.ontology.datasets.get(dataset)?.fields.get(field)
    }

    /// Whether it is a field of days of the calendar, or of times of such.
    fn is_calendar(&self, sense: &Sense) -> bool {
        matches!(*sense, Sense::Field(d, f) if self.field(d, f).is_some_and(|field| field.datatype.is_calendar()))
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
