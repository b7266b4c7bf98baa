//! What is done most: "who sold the most pieces", "in which month were the most trips cancelled". The verb and its object
//! together are the name of a number, or a condition on what is counted.

use crate::engine::agent::english::lexicon::{Entry, Sense, words};

use super::super::items::Kind;
use super::super::sketch::{Bound, Cond, Noun, Quantity, Rank, Want};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// A verb with "the most" of something behind it.
    pub(super) fn deed(&mut self) -> bool {
        let asked = self.sketch.rank.is_none() && self.sketch.measures.is_empty() && self.frames.is_empty();
        let known = self.sketch.subject.is_some() || !self.sketch.columns.is_empty() || !self.sketch.groups.is_empty();
        let Some(item) = self.item(0).filter(|item| matches!(item.kind, Kind::Word) && !item.norm.contains(' ')) else {
            return false;
        };
        let us = matches!(self.previous(), "we" | "you" | "they" | "i" | "people" | "customers");
        if !asked || !known || !is_verb(&item.norm) && !us {
            return false;
        }
        let verb = item.norm.clone();
        if self.guarded(|parser| parser.deed_bound(&verb)) {
            return true;
        }
        let mut ahead = 1;
        ahead += usize::from(matches!(self.word(ahead), "out" | "in" | "up" | "off" | "on"));
        while matches!(self.word(ahead), "the" | "us" | "our") {
            ahead += 1;
        }
        let (descending, said) = match (self.word(ahead), self.word(ahead + 1), self.word(ahead + 2)) {
            ("most", ..) => (true, 1),
            ("fewest" | "least", ..) => (false, 1),
            ("highest" | "largest" | "greatest" | "biggest", "number" | "amount" | "quantity" | "volume", "of") => {
                (true, 3)
            }
            ("lowest" | "smallest", "number" | "amount" | "quantity" | "volume", "of") => (false, 3),
            _ => return false,
        };
        let object = ahead + said;
        let text = self.items[self.at + ahead..(self.at + object).min(self.end)]
            .iter()
            .map(|item| item.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let rank = Rank::new(descending, None, 0, text);
        // "units" alone may mean nothing, and "units sold" does.
        let named = self.item(object).filter(|item| {
            matches!(item.kind, Kind::Word)
                && item.norm != "money"
                && (item.is_named() || !vocabulary::is_ordinary(&item.norm))
        });
        let Some(named) = named.map(|item| item.norm.clone()) else {
            let money = usize::from(self.word(object) == "money");
            return self.deed_alone(&verb, object + money, rank);
        };
        for done in participles(&verb) {
            let entries = self.called(&format!("{named} {done}"), &format!("{done} {named}"));
            let metric: Vec<Entry> =
                entries.iter().filter(|entry| matches!(entry.sense, Sense::Metric(_))).cloned().collect();
            if !metric.is_empty() {
                let at = self.at + object;
                let noun = Noun::new(self, at..at + 1, metric, Want::Measure, "");
                let noun = self.push(noun);
                self.at = at + 1;
                self.sketch.rank = Some(Rank { by: Some(Quantity::Plain(noun)), ..rank });
                return true;
            }
            let flag: Vec<Entry> =
                entries.iter().filter(|entry| matches!(entry.sense, Sense::Segment(_))).cloned().collect();
            if !flag.is_empty() {
                let noun = Noun::new(self, self.at..self.at + 1, flag, Want::Flag, "");
                let noun = self.push(noun);
                self.add(Cond::Flag { noun, negated: false });
                self.at += ahead;
                return true;
            }
        }
        // "on which day did we rent the most films": of what has no time itself, it is counted how often that was done.
        let timed = self.sketch.groups.iter().any(|group| group.grain.is_some()) && self.sketch.subject.is_none();
        let done_to = self.item(object).map(|item| item.entries.clone()).unwrap_or_default();
        if let (true, Some(event)) = (timed && done_to.iter().any(Entry::is_thing), self.event(&done_to)) {
            let noun = Noun::new(self, self.at..self.at + 1, vec![event], Want::Counted, "");
            let noun = self.push(noun);
            self.at += object + 1;
            self.sketch.rank = Some(Rank { by: Some(Quantity::Count(noun)), ..rank });
            return true;
        }
        // "in which month did we ship the most pieces": by the time of shipping.
        if timed && us && self.timed_by(&verb) {
            self.at += ahead;
            return true;
        }
        // Who does it is no other thing than what was asked for.
        let agent = vocabulary::is_relation(&verb) && self.is_agent(&verb);
        if agent {
            self.at += ahead;
        }
        agent
    }

    /// "in which years did we sell more than 40 units": the number is that of the verb and its object.
    fn deed_bound(&mut self, verb: &str) -> bool {
        self.at += 1;
        let op = self.operator().map(|(op, _)| op);
        let Some((number, None)) = self.number() else { return false };
        let Some(op) = self.suffix().or(op) else { return false };
        let Some(named) = self.item(0).filter(|item| matches!(item.kind, Kind::Word)).map(|item| item.norm.clone())
        else {
            return false;
        };
        for done in participles(verb) {
            let entries = self.called(&format!("{named} {done}"), &format!("{done} {named}"));
            let metric: Vec<Entry> =
                entries.into_iter().filter(|entry| matches!(entry.sense, Sense::Metric(_))).collect();
            if !metric.is_empty() {
                let noun = Noun::new(self, self.at..self.at + 1, metric, Want::Measure, "");
                let noun = self.push(noun);
                self.at += 1;
                self.add(Cond::Measured { quantity: Quantity::Plain(noun), op, value: Bound::Number(number, None) });
                return true;
            }
        }
        false
    }

    /// Gives a unit of time that is asked for the time that a verb names; whether there is one.
    fn timed_by(&mut self, verb: &str) -> bool {
        let times: Vec<Entry> = participles(verb)
            .iter()
            .flat_map(|done| self.on.matches(&[done], &[false]))
            .flat_map(|found| found.entries)
            .filter(|entry| !entry.partial && self.is_calendar(&entry.sense))
            .collect();
        if times.is_empty() {
            return false;
        }
        let noun = Noun::new(self, self.at..self.at + 1, times, Want::Time, "");
        let noun = self.push(noun);
        for group in self.sketch.groups.iter_mut().filter(|group| group.noun.is_none()) {
            group.noun = Some(noun);
        }
        true
    }

    /// "which brand sold the most": by the number that the verb is a name of; else it is asked by what.
    fn deed_alone(&mut self, verb: &str, end: usize, rank: Rank) -> bool {
        let us = matches!((self.word(end), self.word(end + 1)), ("from" | "with" | "for", "us"));
        let end = end + if us { 2 } else { 0 };
        let ended = self.item(end).is_none_or(|item| {
            matches!(item.kind, Kind::Time(_)) || item.any(&["in", "on", "during", "for", "overall", ",", "and"])
        });
        if !ended {
            return false;
        }
        let money = self.previous_money(end);
        let metric = participles(verb).into_iter().find_map(|done| {
            let entries = if money { self.called(&format!("money {done}"), &done) } else { self.called(&done, &done) };
            let entries: Vec<Entry> = entries
                .into_iter()
                .filter(|entry| matches!(entry.sense, Sense::Metric(_)) && entry.quality > 0.9)
                .filter(|entry| !self.is_count(&entry.sense))
                .collect();
            (!entries.is_empty()).then_some(entries)
        });
        match metric {
            Some(entries) => {
                let noun = Noun::new(self, self.at..self.at + 1, entries, Want::Measure, "");
                let noun = self.push(noun);
                self.sketch.rank = Some(Rank { by: Some(Quantity::Plain(noun)), ..rank });
            }
            None if money || self.is_agent(verb) => self.sketch.rank = Some(Rank { quality: true, ..rank }),
            None => return false,
        }
        self.at += end;
        true
    }

    /// The rows that a verb here stands for, where they have a time and the things it is done to have none.
    fn event(&self, object: &[Entry]) -> Option<Entry> {
        let timed = |dataset: usize| {
            self.ontology.datasets.get(dataset).is_some_and(|entity| entity.default_time_field.is_some())
        };
        if object.iter().filter_map(thing).any(timed) {
            return None;
        }
        let item = self.item(0)?;
        let mut events = item.entries.iter().filter(|entry| !entry.partial && thing(entry).is_some_and(timed));
        events.next().filter(|_| events.next().is_none()).cloned()
    }

    fn previous_money(&self, end: usize) -> bool {
        (end.saturating_sub(3)..end).any(|ahead| self.word(ahead) == "money")
    }

    /// "… were the most pieces sold": the number that things are called by with the verb behind them, which are read.
    pub(super) fn deed_behind(&mut self) -> Option<Quantity> {
        let be = usize::from(matches!(self.word(1), "were" | "was" | "are" | "is" | "got" | "being"));
        let named = self.item(0).filter(|item| item.is_named()).map(|item| item.norm.clone())?;
        let done = self.item(1 + be).filter(|item| matches!(item.kind, Kind::Word)).map(|item| item.norm.clone())?;
        if done.contains(' ') || !is_verb(&done) {
            return None;
        }
        let metric: Vec<Entry> = self
            .called(&format!("{named} {done}"), &format!("{done} {named}"))
            .into_iter()
            .filter(|entry| matches!(entry.sense, Sense::Metric(_)))
            .collect();
        if metric.is_empty() {
            return None;
        }
        let noun = Noun::new(self, self.at..self.at + 1, metric, Want::Measure, "");
        self.at += 2 + be;
        Some(Quantity::Plain(self.push(noun)))
    }

    /// What one of two phrases is the whole name of.
    fn called(&self, phrase: &str, other: &str) -> Vec<Entry> {
        [phrase, other]
            .into_iter()
            .find_map(|phrase| {
                let list = words::split(phrase);
                let said: Vec<&str> = list.iter().map(String::as_str).collect();
                let found = self.on.matches(&said, &vec![false; said.len()]);
                let whole = found.into_iter().find(|found| found.words == said.len())?;
                let mut entries: Vec<Entry> = whole.entries.into_iter().filter(|entry| !entry.partial).collect();
                // What it is the very name of, and not what its forms are names of, too.
                let best = entries.iter().map(|entry| entry.quality).fold(0.0_f32, f32::max);
                entries.retain(|entry| entry.quality > best - words::ENDING);
                (!entries.is_empty()).then_some(entries)
            })
            .unwrap_or_default()
    }

    /// Whether a verb was read as those who do it: sellers for "sold".
    fn is_agent(&self, verb: &str) -> bool {
        let Some(item) = self.item(0) else { return false };
        let things: Vec<usize> = item.entries.iter().filter(|entry| !entry.partial).filter_map(thing).collect();
        let forms: Vec<String> = words::forms(verb).into_iter().map(|(form, _)| form).collect();
        let agent = |name: &str| {
            let name = words::split(name).join(" ");
            (name.ends_with("er") || name.ends_with("or")) && forms.contains(&name)
        };
        !things.is_empty()
            && things.iter().all(|dataset| {
                self.ontology.datasets.get(*dataset).is_some_and(|entity| {
                    agent(&entity.noun()) || entity.ai.synonyms.iter().any(|synonym| agent(synonym))
                })
            })
    }
}

/// Whether a word may be a verb: it says that things belong together, or has the form of one.
fn is_verb(word: &str) -> bool {
    vocabulary::is_relation(word)
        || word.ends_with("ed")
        || matches!(
            word,
            "cancel" | "cancels" | "spend" | "spends" | "spent" | "pay" | "pays" | "paid" | "lose" | "loses"
        )
        || word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")
        || words::forms(word).len() > 2
}

/// What was done, by the verb in any form: "sold" for "sells".
pub(super) fn participles(verb: &str) -> Vec<String> {
    const IRREGULAR: &[(&[&str], &str)] = &[
        (&["sell", "sells", "sold"], "sold"),
        (&["buy", "buys", "bought"], "bought"),
        (&["make", "makes", "made"], "made"),
        (&["fly", "flies", "flew"], "flown"),
        (&["spend", "spends", "spent"], "spent"),
        (&["pay", "pays", "paid"], "paid"),
        (&["write", "writes", "wrote"], "written"),
        (&["give", "gives", "gave"], "given"),
        (&["take", "takes", "took"], "taken"),
        (&["lose", "loses", "lost"], "lost"),
        (&["send", "sends", "sent"], "sent"),
        (&["lend", "lends", "lent"], "lent"),
        (&["build", "builds", "built"], "built"),
        (&["win", "wins", "won"], "won"),
        (&["bring", "brings", "brought"], "brought"),
    ];
    if let Some((_, done)) = IRREGULAR.iter().find(|(forms, _)| forms.contains(&verb)) {
        return vec![(*done).to_owned()];
    }
    if verb.ends_with("ed") {
        return vec![verb.to_owned()];
    }
    let mut stems = vec![verb.to_owned()];
    if let Some(stem) = verb.strip_suffix("ies") {
        stems = vec![format!("{stem}y")];
    } else if let Some(stem) = verb.strip_suffix('s') {
        stems.push(stem.to_owned());
        stems.extend(stem.strip_suffix('e').map(str::to_owned));
    }
    let mut done = Vec::new();
    for stem in stems {
        done.push(match stem.strip_suffix('y') {
            Some(start) if !start.ends_with(['a', 'e', 'o', 'u']) => format!("{start}ied"),
            _ if stem.ends_with('e') => format!("{stem}d"),
            _ => format!("{stem}ed"),
        });
        if let Some(last) = stem.chars().last().filter(|last| !"aeiouwxy".contains(*last)) {
            done.push(format!("{stem}{last}ed"));
        }
    }
    done
}
