//! Rankings: "top 5 customers by revenue", "the most expensive product", "which carrier has the most flights".

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Aggregation;

use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Noun, NounAt, Quantity, Rank, Want};
use super::super::vocabulary;
use super::Parser;

impl Parser<'_> {
    pub(super) fn ranking(&mut self) -> bool {
        // "at least 10" is a bound.
        if self.previous() == "at" && matches!(self.word(0), "least" | "most") {
            return false;
        }
        let start = self.at;
        let sketch = self.sketch.clone();
        if self.sketch.rank.is_none() && self.ranked() || self.so_many() || self.on_average() {
            return true;
        }
        self.at = start;
        self.sketch = sketch;
        false
    }

    /// "shops with the most sales, top 10": how many of them.
    fn so_many(&mut self) -> bool {
        let start = self.at;
        self.eat(",");
        self.eat_any(&["only", "just", "show", "show me"]);
        self.eat("the");
        let rows = if self.eat_any(&["top", "first"]) { self.small_number(0) } else { None };
        let ended = self.at + 1 >= self.end || matches!(self.word(1), "," | "and" | "only");
        if let (Some(rows), true, Some(rank)) = (rows, ended, &mut self.sketch.rank)
            && rank.single
            && rank.skip == 0
        {
            (rank.rows, rank.single) = (rows, false);
            self.at += 1;
            return true;
        }
        self.at = start;
        false
    }

    fn small_number(&self, ahead: usize) -> Option<u32> {
        match self.item(ahead).map(|item| &item.kind) {
            Some(Kind::Number(quantity))
                if quantity.unit.is_none()
                    && quantity.value >= 1.0
                    && quantity.value.fract() == 0.0
                    && quantity.value <= 10_000.0 =>
            {
                format!("{}", quantity.value).parse().ok()
            }
            _ => None,
        }
    }

    /// "5 shops …" at the beginning: how many of those that a superlative picks later.
    pub(super) fn some_of_them(&mut self) -> bool {
        let begun = !self.sketch.nouns.is_empty() || !self.sketch.measures.is_empty() || self.first.is_some();
        let Some(rows) = self.small_number(0).filter(|_| !begun) else { return false };
        let things = self.item(1).is_some_and(|item| item.is_named() && !item.has_value());
        if things && let Some(item) = self.item(0) {
            self.first = Some((rows, item.text.clone()));
            self.at += 1;
        }
        things
    }

    /// Gives the number of [`Parser::some_of_them`] to the ranking; without one it says nothing.
    pub(super) fn rank_some(&mut self) {
        let Some((rows, text)) = self.first.take() else { return };
        match &mut self.sketch.rank {
            Some(rank) if rank.single && rank.skip == 0 => {
                rank.rows = rows;
                rank.single = false;
            }
            _ => self.sketch.unknown.push(text),
        }
    }

    fn ordinal(&self) -> Option<u32> {
        Some(match self.word(0) {
            "second" | "2nd" => 2,
            "third" | "3rd" => 3,
            "fourth" | "4th" => 4,
            "fifth" | "5th" => 5,
            "sixth" | "6th" => 6,
            "seventh" | "7th" => 7,
            "eighth" | "8th" => 8,
            "ninth" | "9th" => 9,
            "tenth" | "10th" => 10,
            _ => return None,
        })
    }

    fn ranked(&mut self) -> bool {
        let listed = matches!(self.sketch.ask, Ask::Which | Ask::List);
        if known_subject(&self.sketch) && listed && self.who_by_time() {
            return true;
        }
        // "revenue was at its highest"
        self.eat_any(&["at its", "at their", "at the"]);
        self.articles();
        let text_from = self.at;
        let mut rows = None;
        let mut skip = 0;
        if let Some(ordinal) = self.ordinal() {
            self.at += 1;
            skip = ordinal - 1;
        } else if let Some(number) = self.small_number(0) {
            if self.superlative_at(1).is_none() && self.item(1).is_none_or(|item| is_superlative_metric(item).is_none())
            {
                return false;
            }
            rows = Some(number);
            self.at += 1;
        }
        if let Some(descending) = self.superlative_metric() {
            return self.ranked_by_metric(descending, rows, skip);
        }
        // "most popular", where that is a name of a metric
        let most = match self.word(0) {
            "most" => Some(true),
            "least" => Some(false),
            _ => None,
        };
        let metric = |entry: &Entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial;
        if let Some(descending) = most
            && self.superlative_at(0).is_some_and(|(_, hints, _)| hints == ["@count"])
            && self.item(1).is_some_and(|item| item.entries.iter().any(metric))
        {
            self.at += 1;
            return self.ranked_by_metric(descending, rows, skip);
        }
        if matches!(self.word(0), "single" | "one") && self.superlative_at(1).is_some() {
            self.at += 1;
        }
        if let Some(found) = self.adjective() {
            return self.ranked_by_adjective(&found, rows, skip);
        }
        let Some((descending, mut hints, words)) = self.superlative_at(0) else { return false };
        let word = self.word(0).to_owned();
        let quoted_top = matches!(word.as_str(), "top" | "bottom");
        let plain_most = hints.is_empty() && matches!(word.as_str(), "most" | "least");
        self.at += words;
        // "the largest single payment"
        self.eat("single");
        if rows.is_none()
            && let Some(number) = self.small_number(0)
        {
            rows = Some(number);
            self.at += 1;
        }
        // "top 3 months"
        let counted = match self.item(0).map(|item| &item.kind) {
            Some(Kind::Number(number)) if rows.is_none() && number.value >= 1.0 && number.value.fract() == 0.0 => {
                let grain = number.unit.as_deref().and_then(crate::engine::agent::english::time::grain);
                grain.and_then(|grain| Some((format!("{}", number.value).parse::<u32>().ok()?, grain)))
            }
            _ => None,
        };
        if quoted_top && rows.is_none() && skip == 0 && self.sketch.ask == Ask::Open && self.item(0).is_none() {
            return false;
        }
        let text = self.items[text_from..self.at].iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ");
        let mut rank = Rank {
            quality: hints == ["@quality"],
            judged: judged(&word).filter(|_| hints == ["@quality"]),
            frequency: hints == ["@count"],
            ..Rank::new(descending, rows, skip, text)
        };
        if (rank.judged.is_some() || quoted_top) && self.eat_any(&["performing", "ranked", "rated"]) {
            rank.judged = rank.judged.or(Some(word == "top"));
        }
        // "the top 10 busiest airports"
        if quoted_top
            && rows.is_some()
            && let Some((_, more, words)) = self.superlative_at(0)
            && !more.is_empty()
        {
            hints = more;
            rank.quality = hints == ["@quality"];
            rank.judged = judged(self.word(0));
            rank.frequency = hints == ["@count"];
            rank.descending = self.superlative_at(0).is_none_or(|(descending, _, _)| descending);
            self.at += words;
        }
        if let Some((number, grain)) = counted {
            rank.rows = number;
            rank.single = false;
            return self.ranked_times(rank, grain);
        }
        if hints.first() == Some(&"distance") {
            self.eat("away");
        }
        // "took the longest to close"
        if !hints.is_empty() && !rank.frequency && !rank.quality && known_subject(&self.sketch) && self.word(0) == "to"
        {
            let field = self.hinted(text_from, hints);
            self.what_for(field);
            if self.sketch.nouns[field].hints.is_empty() {
                rank.field = Some(field);
                self.sketch.rank = Some(rank);
                return true;
            }
        }
        // "the 5 most recently opened accounts"
        let (opened, between) = match hints {
            ["@time"] => self.verb_before().map_or((None, None), |(time, things)| (Some(time), things)),
            _ => (None, None),
        };
        // "the worst month for cancellations", "the best day by revenue"
        if let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(0).map(|item| item.kind.clone()) {
            return self.ranked_times(rank, grain);
        }
        // "which shop earns the most": by what is not said.
        let ended = self.at >= self.end
            || matches!(
                self.word(0),
                "in" | "on" | "during" | "for" | "overall" | "," | "us" | "ever" | "and" | "at" | "of"
            )
            || self.item(0).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        // "which month is busiest for sales"
        let times = self.sketch.groups.iter().any(|group| group.grain.is_some());
        if (rank.frequency || hints.is_empty())
            && times
            && self.sketch.subject.is_none()
            && self.sketch.measures.is_empty()
        {
            let back = (self.at, self.sketch.nouns.len());
            if self.eat_any(&["for", "by", "in terms of", "with"])
                && let Some(by) = self.ranked_quantity(&[])
            {
                self.sketch.rank = Some(Rank { by: Some(by), frequency: false, ..rank });
                return true;
            }
            self.at = back.0;
            self.drop_nouns(back.1);
        }
        // "which town spends the most": by the number that was said.
        let asked = matches!(self.sketch.ask, Ask::Which | Ask::Who)
            && (self.sketch.subject.is_some() || !self.sketch.columns.is_empty());
        if plain_most && ended && asked && self.sketch.measures.len() == 1 {
            self.sketch.rank = Some(rank);
            return true;
        }
        // "which channel was used the most"
        if plain_most && ended && asked && self.sketch.measures.is_empty() {
            let verb =
                (text_from.saturating_sub(2)..text_from).any(|at| self.items[at].any(&["used", "chosen", "picked"]));
            if verb && self.sketch.subject.is_none() {
                self.sketch.rank = Some(Rank { frequency: true, ..rank });
                return true;
            }
        }
        // "in which year was revenue lowest", "which shop's delays are the longest".
        let of_numbers = !quoted_top && !matches!(hints, ["@time" | "@age" | "@count"]);
        let asked =
            asked || self.sketch.ask == Ask::When || self.sketch.ask == Ask::Which && !self.sketch.groups.is_empty();
        if of_numbers && ended && asked && self.sketch.measures.len() == 1 {
            self.sketch.rank = Some(Rank { quality: false, ..rank });
            return true;
        }
        // "which payments were the highest": by what is not said.
        let vague = hints.is_empty() && !plain_most && !quoted_top && self.sketch.ask == Ask::Which;
        if vague
            && ended
            && self.sketch.measures.is_empty()
            && let Some(things) = self.sketch.subject
        {
            // "in which month were sales highest": how many there were.
            let times = self.sketch.groups.iter().any(|group| group.grain.is_some());
            // What is the name of an amount, too, is that: "sales" of what was sold for how much.
            let amount = self.sketch.nouns[things]
                .entries
                .iter()
                .any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial && !self.is_count(&entry.sense));
            let by = times.then_some(if amount { Quantity::Plain(things) } else { Quantity::Count(things) });
            if times {
                self.sketch.subject = None;
                self.sketch.nouns[things].want = if amount { Want::Measure } else { Want::Counted };
            }
            self.sketch.rank = Some(Rank { quality: !times, by, ..rank });
            return true;
        }
        if plain_most && ended && self.sketch.subject.is_some() && self.sketch.measures.is_empty() {
            rank.by = self.counted_by_verb(text_from);
            rank.quality = rank.by.is_none();
            self.sketch.rank = Some(rank);
            return true;
        }
        let known_thing = self.sketch.subject.is_some()
            || !self.sketch.groups.is_empty()
            || self.sketch.ask == Ask::Which && !self.sketch.columns.is_empty();
        // "the most flights", "highest revenue": the number itself follows.
        let back = (self.at, self.sketch.nouns.len());
        let plain_superlative = hints.is_empty() && !quoted_top;
        if opened.is_none()
            && hints == ["@time"]
            && self.guarded(|parser| parser.latest_number(&rank, text_from, hints, known_thing))
        {
            return true;
        }
        if !quoted_top {
            self.eat("of");
            self.eat_any(&["number of", "total number of"]);
            let counting = self.previous() == "of";
            if counting || known_thing && rows.is_none() {
                if counting {
                    self.modifiers();
                    if let Some(noun) = self.noun(Want::Counted) {
                        let noun = self.segment_thing(noun);
                        rank.by = Some(Quantity::Count(noun));
                        return self.settle(rank, known_thing);
                    }
                } else if let Some(quantity) = self.deed_behind().or_else(|| self.ranked_quantity(hints)) {
                    rank.by = Some(quantity);
                    return self.settle(rank, known_thing);
                }
            }
            self.at = back.0;
            self.drop_nouns(back.1);
        }
        self.modifiers();
        // "highest delay", "largest claim amount" on their own.
        let next_measure = self.item(0).is_some_and(|item| {
            item.entries.iter().any(|entry| self.is_measure(&entry.sense) && !entry.partial)
                && !item.entries.iter().any(Entry::is_whole_thing)
        });
        let aggregate_next =
            vocabulary::aggregate(self.word(0)).is_some() || matches!(self.word(0), "number" | "count");
        if !quoted_top && (next_measure || aggregate_next) {
            let quantity =
                if aggregate_next { self.quantity() } else { self.noun(Want::Aggregated).map(Quantity::Plain) };
            let Some(quantity) = quantity else { return false };
            rank.by = Some(quantity);
            return self.settle(rank, known_thing);
        }
        let Some(noun) = between.or_else(|| self.noun(Want::Column)) else {
            // "the most expensive", "the longest" of what was spoken of.
            if !hints.is_empty() && known_thing && !rank.frequency && !rank.quality {
                let known = self.sketch.subject.or(self.sketch.columns.last().copied());
                self.rank_by_field(&mut rank, known, text_from, hints);
                self.sketch.rank = Some(rank);
                return true;
            }
            if quoted_top && rank.single {
                return false;
            }
            let alone = quoted_top && self.sketch.nouns.is_empty();
            if alone || known_thing && (rank.frequency || rank.judged.is_some() || quoted_top && rows.is_some()) {
                rank.quality = !rank.frequency;
                self.sketch.rank = Some(rank);
                return true;
            }
            return false;
        };
        // "the oldest open account" says the account with its state.
        let noun = if opened.is_none() && !hints.is_empty() { self.segment_thing(noun) } else { noun };
        let number = self.sketch.nouns[noun].of.is_some()
            && self.sketch.nouns[noun].entries.iter().any(|entry| self.is_measure(&entry.sense));
        if number && !quoted_top {
            self.sketch.nouns[noun].want = Want::Aggregated;
            rank.by = Some(Quantity::Plain(noun));
            return self.settle(rank, known_thing);
        }
        let is_thing =
            self.sketch.nouns[noun].of.is_none() && self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
        // "which brand is the best seller" asks for no seller.
        let other = self.sketch.ask == Ask::Which && self.sketch.subject.is_none() && !self.sketch.columns.is_empty();
        if is_thing && other && rank.quality && rank.judged.is_some() {
            return false;
        }
        if is_thing {
            self.sketch.nouns[noun].want = Want::Thing;
            self.focus = Some(noun);
            match self.sketch.subject {
                None => self.sketch.subject = Some(noun),
                // "which customer placed the largest order": the order is ranked, and shown with its customer.
                Some(owner) if !hints.is_empty() && !rank.quality && !rank.frequency => {
                    self.sketch.subject = Some(noun);
                    self.sketch.nouns[owner].want = Want::Column;
                    self.sketch.columns.push(owner);
                }
                Some(_) => self.sketch.mentions.push(noun),
            }
        } else if plain_superlative && rows.is_none() && !known_thing {
            // "the highest price": the number itself.
            self.sketch.nouns[noun].want = Want::Aggregated;
            let function = if descending { Aggregation::Max } else { Aggregation::Min };
            self.sketch.measures.push(Quantity::Aggregate(function, noun));
            return true;
        } else {
            self.sketch.columns.push(noun);
        }
        // "the biggest claim", where nothing says how big claims are: it is asked by what.
        if hints.contains(&"size") && is_thing && !self.is_sized(noun, hints) {
            rank.quality = true;
        }
        let opened = opened.or_else(|| if hints == ["@time"] && is_thing { self.verb_behind() } else { None });
        if opened.is_some() {
            rank.field = opened;
        } else if !hints.is_empty() && !rank.quality && !rank.frequency {
            self.rank_by_field(&mut rank, Some(noun), text_from, hints);
        } else if !rank.frequency {
            rank.quality = true;
        }
        self.sketch.rank = Some(rank);
        true
    }

    fn superlative_metric(&self) -> Option<bool> {
        is_superlative_metric(self.item(0)?)
    }

    fn settle(&mut self, rank: Rank, known_thing: bool) -> bool {
        // Without anything that is ranked the extreme itself is asked for.
        let mut function = if rank.descending { Aggregation::Max } else { Aggregation::Min };
        if let (Some(best), Some(Quantity::Plain(noun)), false) = (rank.judged, &rank.by, known_thing) {
            let field = self.sketch.nouns[*noun].entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..)));
            match self.more_is_better(*noun) {
                Some(better) => function = if best == better { Aggregation::Max } else { Aggregation::Min },
                None if field => {
                    let (said, words) = (&rank.text, &self.sketch.nouns[*noun].text);
                    self.sketch.refused = Some(format!(
                        "Is “{said}” the highest or the lowest? Say “highest {words}” or “lowest {words}”."
                    ));
                }
                None => {}
            }
        }
        match (&rank.by, known_thing) {
            (Some(Quantity::Plain(noun)), false) if rank.single && rank.skip == 0 => {
                let noun = *noun;
                let field = self.sketch.nouns[noun].entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..)));
                if field {
                    self.sketch.nouns[noun].want = Want::Aggregated;
                    self.sketch.measures.push(Quantity::Aggregate(function, noun));
                    return true;
                }
                self.sketch.rank = Some(rank);
                true
            }
            _ => {
                self.sketch.rank = Some(rank);
                true
            }
        }
    }

    /// A noun for the field that an adjective speaks of.
    pub(super) fn hinted(&mut self, from: usize, hints: &'static [&'static str]) -> NounAt {
        let to = self.at.max(from + 1).min(self.items.len());
        let mut noun = Noun::new(self, from..to, Vec::new(), Want::Number, "");
        noun.hints = hints;
        // "who rented films longer than 2 hours": the films are, not the rentals.
        noun.inside = self.object().or(noun.inside);
        self.push(noun)
    }
}

/// Whether the rows that are asked for are known.
fn known_subject(sketch: &super::super::sketch::Sketch) -> bool {
    sketch.subject.is_some() && sketch.measures.is_empty()
}

/// Whether a superlative judges, and which way.
fn judged(word: &str) -> Option<bool> {
    match word {
        "best" | "better" => Some(true),
        "worst" | "worse" => Some(false),
        _ => None,
    }
}

/// Whether a metric is called by a superlative here, and by which.
fn is_superlative_metric(item: &Item) -> Option<bool> {
    let metric = item.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial);
    let first = item.norm.split(' ').next().unwrap_or_default();
    let superlative =
        vocabulary::superlative(first).filter(|_| first.ends_with("est") || matches!(first, "most" | "least"));
    superlative
        .filter(|_| metric && (item.norm.contains(' ') || first.ends_with("est")))
        .map(|(descending, _)| descending)
}
