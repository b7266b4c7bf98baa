//! The words of a question against the plan: names and values that no noun took, numbers, times, and the words of the
//! grammar that change what is asked.

use std::ops::Range;

use super::super::items::{Item, Kind};
use super::super::sketch::Cond;
use super::super::vocabulary;
use super::Check;
use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Comparator, Shown};

/// Words that say that something is not so.
const NOT: &[&str] = &[
    "not", "never", "no", "none", "nobody", "without", "except", "excluding", "excl", "neither", "nor", "cannot",
    "isnt", "arent", "wasnt", "werent", "dont", "doesnt", "didnt", "havent", "hasnt", "hadnt", "lacking", "besides",
    "outside",
];

/// Words that the grammar reads, and names may have too.
const READ: &[&str] = &["starts", "start", "begins", "begin", "ends", "end", "worth", "top", "bottom"];

impl Check<'_> {
    /// The first words that the plan does not hold.
    pub(super) fn words(&self) -> Option<String> {
        let items = self.account.items;
        (0..items.len()).find(|at| !self.item(*at)).map(|at| items[at].text.clone()).or_else(|| self.negations())
    }

    fn at(&self, at: usize) -> &str {
        self.account
            .items
            .get(at)
            .filter(|item| !matches!(item.kind, Kind::Quoted))
            .map_or("", |item| item.norm.as_str())
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.at(at))
    }

    /// Whether a noun of the sketch stands here: it is held against the plan as what it was found to be.
    fn in_noun(&self, at: usize) -> bool {
        self.account.sketch.nouns.iter().any(|noun| noun.items.contains(&at))
    }

    /// "in hours": the unit that a number is asked for in.
    fn is_unit(&self, item: &Item) -> bool {
        let asked = self.account.sketch.unit.as_deref().and_then(vocabulary::unit);
        asked.is_some() && asked == vocabulary::unit(&item.norm)
    }

    fn item(&self, at: usize) -> bool {
        let Some(item) = self.account.items.get(at) else { return true };
        if let Some(whole) = self.account.sketch.definition.iter().find(|defined| defined.contains(&at)) {
            return self.defined(at, whole);
        }
        match &item.kind {
            Kind::Punct => true,
            Kind::Quoted => self.in_noun(at) || self.holds_text(&item.text) || self.entries(item),
            Kind::Number(quantity) => {
                self.in_noun(at)
                    || self.holds_number(quantity.value)
                    || self.holds_text(&item.text)
                    || self.entries(item)
            }
            Kind::Time(phrase) => {
                self.in_noun(at) || self.is_unit(item) || self.is_days(item) || self.time(phrase, &item.text)
            }
            Kind::Word => {
                let named = item.entries.is_empty()
                    || self.in_noun(at)
                    || Self::plain(item)
                    || self.entries(item)
                    || self.is_days(item)
                    || self.plays(at)
                    || item.any(&["name", "names"]) && self.has_text();
                named && (self.in_noun(at) || self.grammatical(at))
            }
        }
    }

    /// What a definition in the question defines has one name, a new one or one of the ontology's: nothing that says
    /// more of it.
    fn defined(&self, at: usize, whole: &Range<usize>) -> bool {
        const FORMAL: &[&str] =
            &["the", "a", "an", "our", "this", "total", "average", "amount", "amounts", "sum", "size"];
        let named = |item: &&Item| item.entries.iter().any(|entry| !entry.partial) && !item.any(FORMAL);
        let all = self.account.items.get(whole.clone()).unwrap_or_default();
        let Some(item) = self.account.items.get(at) else { return true };
        if item.kind != Kind::Word || item.any(NOT) {
            return false;
        }
        let known = all.iter().filter(named).count();
        match (named(&item), item.entries.is_empty()) {
            (true, _) => known == 1 && item.is_named() || self.entries(item),
            (false, false) => item.is_named(),
            (false, true) => item.any(FORMAL) || known == 0 && !vocabulary::is_ordinary(&item.norm),
        }
    }

    /// Words of everyday language that names have too.
    fn plain(item: &Item) -> bool {
        let grammatical = |word: &str| {
            vocabulary::is_ordinary(word)
                || READ.contains(&word)
                || vocabulary::superlative(word).is_some()
                || vocabulary::comparative(word).is_some()
        };
        item.norm.split(' ').all(grammatical)
    }

    fn entries(&self, item: &Item) -> bool {
        item.entries.iter().any(|entry| self.sense(entry))
    }

    fn sense(&self, entry: &Entry) -> bool {
        use super::super::resolve::Target;
        match &entry.sense {
            Sense::Entity(dataset) => self.holds(&Target::Entity(*dataset)),
            Sense::Field(dataset, field) => self.holds(&Target::Field(*dataset, *field)),
            Sense::Metric(metric) => self.holds(&Target::Metric(*metric)),
            Sense::Segment(segment) => self.holds(&Target::Segment(*segment)),
            Sense::Value { dataset, field, value } => self.holds(&Target::Value(*dataset, *field, value.clone())),
            Sense::Role(role) => {
                let ontology = self.account.resolver.ontology;
                ontology.relationships.get(*role).is_some_and(|relationship| {
                    let to = self.account.resolver.position(&relationship.to);
                    self.held.ways.contains(relationship.name.as_str()) || to.is_some_and(|to| self.speaks_of(to))
                })
            }
        }
    }

    fn holds_text(&self, text: &str) -> bool {
        let said = text.trim_matches(['"', '\'', '“', '”', '‘', '’', ' ']).to_lowercase();
        self.held.texts.iter().any(|known| known.to_lowercase() == said)
    }

    fn holds_number(&self, number: f64) -> bool {
        // Codes are texts, and a number of years may be a part of a time.
        let texts = || self.held.texts.iter().any(|text| text.parse::<f64>().is_ok_and(|known| same(known, number)));
        // "what about 2024?"
        let year = |bound: &Option<String>| {
            bound.as_ref().and_then(|date| date.get(..4)?.parse::<f64>().ok()).is_some_and(|year| same(year, number))
        };
        let time = || number >= 1900.0 && self.held.windows.iter().any(|window| year(&window.start));
        self.held.numbers.iter().any(|known| Self::same_number(number, *known)) || texts() || time()
    }

    /// Whether a number of the plan is one of the question, maybe in another unit.
    pub(super) fn same_number(said: f64, held: f64) -> bool {
        const UNITS: &[f64] = &[1.0, 100.0, 60.0, 3_600.0, 86_400.0, 604_800.0, 24.0, 7.0, 1_000.0, 1_000_000.0];
        let scaled = UNITS.iter().any(|unit| same(said * unit, held) || same(said / unit, held));
        let length = [1_609.344, 0.3048, 0.0254, 453.592_37, 28.349_523_125];
        scaled || said != 0.0 && length.iter().any(|unit| same(said * unit, held) || same(said / unit, held))
    }

    fn time(&self, phrase: &TimePhrase, text: &str) -> bool {
        match phrase {
            TimePhrase::Window(window) => self.window(window).is_none(),
            TimePhrase::Grain(grain) => self.grain(*grain, text).is_none(),
            TimePhrase::Hours(from, to) => self.held.hours.contains(&(*from, *to)),
            TimePhrase::Compare(_) => {
                self.held.is_compared
                    || self.held.is_difference
                    || self.held.shown.iter().any(|shown| matches!(shown, Shown::Change | Shown::ChangePercent))
            }
            TimePhrase::Rolling(..) => self.held.shown.iter().any(|shown| matches!(shown, Shown::MovingAverage { .. })),
        }
    }

    /// Whether a word of the grammar changed the plan as such words do.
    fn grammatical(&self, at: usize) -> bool {
        let held = self.held;
        let word = self.at(at);
        let extreme = || {
            held.limit.is_some()
                || held.is_ordered
                || held.functions.iter().any(|one| matches!(one, Aggregation::Max | Aggregation::Min))
        };
        let is_bound = |ops: &[Comparator]| held.bounds.iter().any(|(op, _)| ops.contains(op));
        match word {
            "average" | "avg" | "mean" | "averaged" => {
                held.functions.contains(&Aggregation::Avg)
                    || held.is_part
                    || !held.metrics.is_empty()
                    || held.shown.iter().any(|shown| matches!(shown, Shown::MovingAverage { .. }))
            }
            // "who only bought Rock" are those who bought nothing else: that is no condition on one row.
            "only" | "just" | "solely"
                if at > 0 && held.some_meet && !self.account.follows && !self.says_no_others() =>
            {
                let next = self.at(at + 1);
                matches!(next, "those" | "the" | "those who" | "in")
                    || !self.account.sketch.nouns.iter().any(|noun| noun.items.end <= at)
            }
            "median" => held.functions.contains(&Aggregation::Median) || !held.metrics.is_empty(),
            "percentage" | "percent" | "share" | "proportion" | "fraction" => {
                held.is_part
                    || !held.metrics.is_empty()
                    || !held.bounds.is_empty()
                    || held.shown.iter().any(|shown| matches!(shown, Shown::Share { .. } | Shown::ChangePercent))
                    || held.is_compared
            }
            "cumulative" | "running" => held.shown.contains(&&Shown::Cumulative),
            "least" | "most" if self.before(at, 1) == "at" => {
                let op = if word == "least" { Comparator::AtLeast } else { Comparator::AtMost };
                is_bound(&[op]) || !held.existing.is_empty() || !held.windows.is_empty()
            }
            "most" | "least" if matches!(self.at(at + 1), "recent" | "recently") => held.is_by_time,
            "most" | "least" | "fewest" => extreme() || held.is_part,
            _ if vocabulary::superlative(word).is_some_and(|(_, hints)| hints == ["@time"]) => held.is_by_time,
            _ if vocabulary::superlative(word).is_some() => extreme(),
            "more" | "over" | "above" | "exceeding" | "exceeds" | "less" | "fewer" | "under" | "below" => {
                self.directed(at, !matches!(word, "less" | "fewer" | "under" | "below"))
            }
            _ => true,
        }
    }

    /// Whether the question was read as one of which there are no others.
    fn says_no_others(&self) -> bool {
        fn has(conds: &[Cond]) -> bool {
            conds.iter().any(|cond| match cond {
                Cond::Others { .. } => true,
                Cond::Exists { inner, .. } => has(inner),
                _ => false,
            })
        }
        has(&self.account.sketch.conds)
    }

    /// "days between two dates": the number is of days.
    fn is_days(&self, item: &Item) -> bool {
        self.held.is_in_days && item.norm.split(' ').any(|word| matches!(word, "day" | "days"))
    }

    /// "policies that Ada signed": the verb beside a name says which part it plays.
    fn plays(&self, at: usize) -> bool {
        let beside = |items: &Range<usize>| items.end == at || at + 1 == items.start || at + 2 == items.start;
        self.account.sketch.nouns.iter().any(|noun| !noun.roles.is_empty() && beside(&noun.items))
    }

    /// "more than 5": bounded from the side that the word says.
    fn directed(&self, at: usize, up: bool) -> bool {
        let number = (at + 1..at + 4).find_map(|at| match self.account.items.get(at).map(|item| &item.kind) {
            Some(Kind::Number(quantity)) => Some(quantity.value),
            _ => None,
        });
        let than = matches!(self.at(at + 1), "than")
            || matches!(self.account.items.get(at + 1).map(|item| &item.kind), Some(Kind::Number(_)));
        let (Some(number), true) = (number, than) else { return true };
        let turned = matches!(self.before(at, 1), "no" | "not" | "never");
        let ops: &[Comparator] = match (up, turned) {
            (true, false) => &[Comparator::Greater],
            (true, true) => &[Comparator::AtMost],
            (false, false) => &[Comparator::Less],
            (false, true) => &[Comparator::AtLeast],
        };
        let is = |(op, bound): &(Comparator, Option<f64>)| {
            ops.contains(op) && bound.is_some_and(|bound| Self::same_number(number, bound))
        };
        self.held.bounds.iter().any(is)
    }

    /// As much is not so in the plan as in the question.
    fn negations(&self) -> Option<String> {
        let items = self.account.items;
        let says = |at: &usize| {
            let turned = matches!(self.at(at + 1), "more" | "less" | "fewer" | "later" | "earlier" | "longer" | "only");
            // "no." is short for a number.
            let noun = self.in_noun(*at) && (items[*at].text.contains('.') || !items[*at].is("no"));
            !noun && items[*at].any(NOT) && !turned && self.at(*at) != "nor" && self.at(at + 1) != "of"
        };
        let said: Vec<usize> = (0..items.len()).filter(says).collect();
        let first = said.get(self.held.negations)?;
        Some(items[*first].text.clone())
    }
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.abs().max(other.abs())
}
