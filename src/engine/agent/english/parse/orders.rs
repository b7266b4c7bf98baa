//! In which order rows are shown: "by revenue, highest first", "from longest to shortest", "starting with the newest",
//! "the one that opened most recently first".

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;

use super::super::items::Kind;
use super::super::resolve::first_noun;
use super::super::sketch::{Noun, NounAt, OrderBy, Quantity, Want};
use super::Parser;
use super::most_done::participles;
use super::nouns::field_of;
use super::superlatives::Superlative;

/// What leads in the number or field that rows are sorted by.
const BY: &[&str] = &[
    "sorted by", "ordered by", "sort by", "order by", "ranked by", "rank by", "arranged by", "arrange by",
    "sorted according to", "ordered according to", "sorted on", "sorted in order of", "ordered in order of",
    "ranked in order of", "in the order of", "in order of", "in descending order of", "in ascending order of",
    "in descending order by", "in ascending order by", "in decreasing order of", "in increasing order of",
    "in order by", "by order of",
];

/// Directions that name no end.
const DIRECTIONS: &[(&str, bool)] = &[
    ("in descending order", true),
    ("in decreasing order", true),
    ("in falling order", true),
    ("in reverse order", true),
    ("descending", true),
    ("decreasing", true),
    ("desc", true),
    ("from high to low", true),
    ("high to low", true),
    ("from z to a", true),
    ("z to a", true),
    ("in ascending order", false),
    ("in increasing order", false),
    ("in rising order", false),
    ("ascending", false),
    ("increasing", false),
    ("asc", false),
    ("from low to high", false),
    ("low to high", false),
    ("from a to z", false),
    ("a to z", false),
];

/// What says that an end of the order comes first, and that it comes last.
const FIRST: &[&str] = &[
    "first of all", "coming first", "come first", "first", "at the very top", "at the top", "on the top", "at top",
    "on top", "up top", "up front", "at the front", "at the beginning", "at the start",
];
const LAST: &[&str] = &["last of all", "coming last", "last", "at the very bottom", "at the bottom", "at the end"];

impl Parser<'_> {
    /// Sorting that is said in so many words.
    pub(super) fn ordering(&mut self) -> bool {
        self.guarded_order(Self::in_order_of)
            || self.guarded_order(Self::direction)
            || self.guarded_order(Self::lined_up)
    }

    fn guarded_order(&mut self, rule: impl Fn(&mut Self) -> bool) -> bool {
        let order = self.sketch.order.clone();
        let (measures, columns) = (self.sketch.measures.len(), self.sketch.columns.len());
        let held = self.guarded(rule);
        if !held {
            self.sketch.order = order;
            self.sketch.measures.truncate(measures);
            self.sketch.columns.truncate(columns);
        }
        held
    }

    /// "sorted by revenue", "in order of price".
    fn in_order_of(&mut self) -> bool {
        let start = self.at;
        if !self.eat_any(BY) {
            return false;
        }
        let said: Vec<&str> = self.items[start..self.at].iter().map(|item| item.norm.as_str()).collect();
        let said = said.join(" ");
        let down = said.contains("descending") || said.contains("decreasing");
        let up = said.contains("ascending") || said.contains("increasing");
        let usual = said.starts_with("rank") || down;
        self.articles();
        let back = (self.at, self.sketch.nouns.len());
        if let Some(quantity) = self.quantity() {
            self.order_by(quantity, usual);
        } else {
            self.at = back.0;
            self.drop_nouns(back.1);
            if let Some(Kind::Time(TimePhrase::Grain(_))) = self.item(0).map(|item| &item.kind) {
                self.at += 1;
                self.sketch.order = Some((OrderBy::Time, usual));
            } else if let Some(noun) = self.noun(Want::Column) {
                self.sketch.order = Some((OrderBy::Noun(noun), usual));
            } else {
                return false;
            }
        }
        if !(down || up) {
            let end = self.at;
            self.eat(",");
            if !(self.direction() || self.lined_up()) {
                self.at = end;
            }
        }
        true
    }

    /// A quantity is what was asked for already, a field of the rows, or one more number.
    fn order_by(&mut self, quantity: Quantity, descending: bool) {
        let known = self.sketch.measures.contains(&quantity)
            || !self.sketch.measures.is_empty() && self.same_as_last(&quantity);
        let things = |noun: NounAt| {
            let entries = &self.sketch.nouns[noun].entries;
            entries.iter().any(Entry::is_whole_thing)
        };
        // "from most to least sales": how many there are.
        let quantity = match quantity {
            Quantity::Plain(noun) if things(noun) => {
                self.sketch.nouns[noun].want = Want::Counted;
                Quantity::Count(noun)
            }
            other => other,
        };
        self.sketch.order = match quantity {
            _ if known => Some((OrderBy::Measure, descending)),
            Quantity::Plain(noun) if !self.is_quantity(noun) => Some((OrderBy::Noun(noun), descending)),
            quantity => {
                self.sketch.measures.push(quantity);
                Some((OrderBy::Measure, descending))
            }
        };
    }

    /// "in descending order", "from high to low", "in chronological order".
    fn direction(&mut self) -> bool {
        if self.eat_any(&["in alphabetical order", "in alphabetic order", "alphabetically"]) {
            return true;
        }
        let reverse = self.eat("in reverse chronological order");
        if reverse || self.eat_any(&["in chronological order", "chronologically"]) {
            self.sketch.order = Some((OrderBy::Time, reverse));
            return true;
        }
        let Some(descending) = DIRECTIONS.iter().find_map(|(phrase, down)| self.eat(phrase).then_some(*down)) else {
            return false;
        };
        match &mut self.sketch.order {
            Some((_, known)) => *known = descending,
            None => self.sketch.order = Some((OrderBy::Measure, descending)),
        }
        true
    }

    /// "longest first", "most expensive at the top", "from best to worst", "starting with the newest".
    fn lined_up(&mut self) -> bool {
        self.eat(",");
        if self.opened_first() {
            return true;
        }
        let led = self.eat_any(&[
            "starting with", "starting from", "starting at", "beginning with", "beginning from", "going from",
            "running from", "sorted from", "ordered from", "ranked from", "arranged from", "listed from", "sorted",
            "ordered", "ranked", "arranged",
        ]);
        let begins = led && matches!(self.previous(), "with" | "at" | "from") && self.began();
        self.eat_any(&["from", "with"]);
        self.eat("the");
        let mut at = self.at;
        let Some(mut end) = self.superlative() else { return false };
        self.at += end.words;
        let Some(mut echo) = self.echoed() else { return false };
        let first = if self.eat_any(FIRST) {
            true
        } else if self.eat_any(LAST) {
            false
        } else if let Some((other, other_at, said)) = self.other_end() {
            // "from longest to longest" is no order.
            if other.descending == end.descending {
                return false;
            }
            echo = echo.or(said);
            // "from most to least expensive"
            if end.hints.is_empty() && end.entries.is_empty() {
                (end, at) = (Superlative { descending: !other.descending, ..other }, other_at);
            }
            true
        } else if begins && self.ended() {
            true
        } else {
            return false;
        };
        if echo.is_none() && end.hints == ["@count"] {
            echo = self.popular(at, end.words);
        }
        self.sort(end, echo, first, at)
    }

    /// "the most popular first", where popular is a name of a number.
    fn popular(&mut self, at: usize, count: usize) -> Option<Quantity> {
        let word = self.items.get(at + count.checked_sub(1)?)?.norm.clone();
        let found = self.on.matches(&[word.as_str()], &[false]).into_iter().find(|found| found.words == 1)?;
        let metric = |entry: &Entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial;
        let entries: Vec<Entry> = found.entries.into_iter().filter(metric).collect();
        if entries.is_empty() {
            return None;
        }
        let noun = Noun::new(self, at..at + count, entries, Want::Measure, "");
        Some(Quantity::Plain(self.push(noun)))
    }

    /// "to shortest", "down to the lowest price": the other end of an order.
    fn other_end(&mut self) -> Option<(Superlative, usize, Option<Quantity>)> {
        if !self.eat_any(&["down to", "up to", "to", "through to", "through"]) {
            return None;
        }
        self.eat("the");
        let at = self.at;
        let other = self.superlative()?;
        self.at += other.words;
        let echo = self.echoed()?;
        Some((other, at, echo))
    }

    /// Whether what leads in says that something begins: "starting from".
    fn began(&self) -> bool {
        let before = self.at.checked_sub(1).map_or("", |at| self.previous_of(at));
        matches!(before, "starting" | "beginning")
    }

    fn ended(&self) -> bool {
        self.at >= self.end || matches!(self.word(0), "," | "and" | "by")
    }

    /// What is said behind a superlative before the order goes on: nothing, "one", or the number or thing itself.
    /// `None` where something else is.
    fn echoed(&mut self) -> Option<Option<Quantity>> {
        let ended = |parser: &Self| {
            let back = |phrase: &str| {
                let words: Vec<&str> = phrase.split(' ').collect();
                words.iter().enumerate().all(|(ahead, word)| parser.word(ahead) == *word)
            };
            parser.ended()
                || FIRST.iter().chain(LAST).any(|phrase| back(phrase))
                || matches!(parser.word(0), "to" | "down" | "through")
        };
        if self.eat_any(&["ones", "one", "amounts", "amount", "values", "value", "numbers", "number", "figures"])
            && ended(self)
            || ended(self)
        {
            return Some(None);
        }
        let back = (self.at, self.sketch.nouns.len());
        // "most albums first": how many there are; "lowest price first": the price.
        if let Some(quantity) = self.ranked_quantity(&[])
            && ended(self)
        {
            return Some(Some(quantity));
        }
        self.at = back.0;
        self.drop_nouns(back.1);
        None
    }

    fn sort(&mut self, end: Superlative, echo: Option<Quantity>, first: bool, at: usize) -> bool {
        // The slowest delivery takes the most days.
        let turned = end.is_speed() && self.measures_time();
        let descending = (end.descending == first) != turned;
        if let Some(quantity) = echo {
            self.order_by(quantity, descending);
            return true;
        }
        let by = match &self.sketch.order {
            Some((known, _)) => known.clone(),
            None if end.is_time() => OrderBy::Time,
            None if end.is_quality() => {
                let text = self.items[at..at + end.words].iter().map(|item| item.text.as_str()).collect::<Vec<_>>();
                OrderBy::Judged(text.join(" "))
            }
            None if !self.sketch.measures.is_empty() && !end.is_age() => OrderBy::Measure,
            None => match self.field_of_superlative(&end, at) {
                Some(noun) => OrderBy::Noun(noun),
                None => OrderBy::Measure,
            },
        };
        self.sketch.order = Some((by, descending));
        true
    }

    /// Whether the first number that is asked for is a stretch of time.
    fn measures_time(&self) -> bool {
        let unit = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).and_then(|field| field.unit.as_deref()),
            Sense::Metric(metric) => self.ontology.metrics.get(metric).and_then(|metric| metric.unit.as_deref()),
            _ => None,
        };
        let noun = self.sketch.measures.first().and_then(first_noun).map(|noun| &self.sketch.nouns[noun]);
        let mut units = noun.into_iter().flat_map(|noun| &noun.entries).filter_map(unit);
        units.any(|unit| super::super::vocabulary::unit(unit).is_some_and(|(kind, _)| kind == "time"))
    }

    /// "the one that opened most recently first", "most recently joined first": by the time that the verb names.
    fn opened_first(&mut self) -> bool {
        let back = (self.at, self.sketch.nouns.len());
        self.eat_any(&["the ones", "the one", "those"]);
        self.eat_any(&["that", "who", "which"]);
        self.eat_any(&["were", "was", "have been", "has been", "have", "has"]);
        let before = self.recency();
        let time = self.time_verb();
        let Some(noun) = time else {
            self.at = back.0;
            self.drop_nouns(back.1);
            return false;
        };
        let Some(latest) = before.or_else(|| self.recency()) else {
            self.at = back.0;
            self.drop_nouns(back.1);
            return false;
        };
        let first = self.eat_any(FIRST);
        if !first && !self.eat_any(LAST) {
            self.at = back.0;
            self.drop_nouns(back.1);
            return false;
        }
        self.sketch.order = Some((OrderBy::Noun(noun), latest == first));
        true
    }

    /// "most recently", "latest", "longest ago": whether the latest is meant.
    pub(super) fn recency(&mut self) -> Option<bool> {
        if self.eat_any(&["most recently", "most lately", "the latest", "latest", "the most recently", "the newest"]) {
            return Some(true);
        }
        self.eat_any(&["least recently", "the earliest", "earliest", "longest ago", "the longest ago", "soonest"])
            .then_some(false)
    }

    /// A verb that stands for a time of the rows: "opened", "was hired".
    pub(super) fn time_verb(&mut self) -> Option<NounAt> {
        let spoken = self.focus.or(self.sketch.subject);
        let own: Vec<usize> = spoken
            .map(|noun| self.sketch.nouns[noun].entries.iter().filter_map(super::nouns::thing).collect())
            .unwrap_or_default();
        let fits = |entry: &&Entry| {
            !entry.partial
                && self.is_calendar(&entry.sense)
                && (own.is_empty() || field_of(entry).is_some_and(|d| own.contains(&d)))
        };
        let item = self.item(0).filter(|item| matches!(item.kind, Kind::Word))?;
        let mut entries: Vec<Entry> = item.entries.iter().filter(fits).cloned().collect();
        // "the first to join", where the time is that of those who joined.
        if entries.is_empty() && self.previous() == "to" {
            let done = participles(&item.norm);
            let found = done.iter().flat_map(|done| self.on.matches(&[done], &[false]));
            let found: Vec<Entry> = found.flat_map(|found| found.entries).collect();
            entries = found.iter().filter(fits).cloned().collect();
        }
        if entries.is_empty() {
            return None;
        }
        let noun = Noun::new(self, self.at..self.at + 1, entries, Want::Time, "");
        self.at += 1;
        Some(self.push(noun))
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

    /// "from most expensive to cheapest by revenue": the adjective says the end, and the number is named.
    pub(super) fn settle_order(&mut self) {
        let Some((OrderBy::Noun(noun), descending)) = self.sketch.order else { return };
        let named = self.sketch.measures.last().and_then(super::super::resolve::first_noun);
        if let (false, Some(named)) = (self.sketch.nouns[noun].hints.is_empty(), named) {
            self.sketch.nouns[noun] = self.sketch.nouns[named].clone();
            self.sketch.order = Some((OrderBy::Measure, descending));
        }
    }

    /// "list shops by town": rows that are listed by a field of theirs are sorted by it, and show it.
    pub(super) fn listed_by(&mut self) {
        use super::super::sketch::Ask;
        let sketch = &self.sketch;
        let thing = sketch.subject.is_some_and(|noun| {
            sketch.nouns[noun].of.is_none() && sketch.nouns[noun].entries.iter().any(Entry::is_thing)
        });
        let numbered = |noun: NounAt| {
            sketch.nouns[noun].entries.iter().any(|entry| {
                field_of(entry).is_some() && self.is_measure(&entry.sense) || self.is_calendar(&entry.sense)
            })
        };
        // "breads by price, cheapest first" are breads, too, and not how many there are of each price.
        let lined_up = sketch.ask == Ask::Open
            && sketch.order.is_some()
            && sketch.groups.iter().all(|group| group.noun.is_some_and(numbered));
        let list = sketch.ask == Ask::List || lined_up;
        let list = list && thing && sketch.measures.is_empty() && sketch.rank.is_none();
        let [group] = sketch.groups.as_slice() else { return };
        let (Some(noun), None, false) = (group.noun, group.grain, group.each || group.per) else { return };
        let own: Vec<usize> = sketch
            .subject
            .map(|noun| sketch.nouns[noun].entries.iter().filter_map(super::nouns::thing).collect())
            .unwrap_or_default();
        let field = sketch.nouns[noun]
            .entries
            .iter()
            .any(|entry| matches!(entry.sense, Sense::Field(d, _) if own.contains(&d) && !entry.partial));
        if !list || !field {
            return;
        }
        self.sketch.groups.clear();
        self.sketch.nouns[noun].want = Want::Column;
        self.sketch.columns.push(noun);
        let descending = self.sketch.order.take().is_some_and(|(_, descending)| descending);
        self.sketch.order = Some((OrderBy::Noun(noun), descending));
    }
}
