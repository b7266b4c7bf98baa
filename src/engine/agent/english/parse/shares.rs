//! Shares: which part of which whole. What stands right beside the noun restricts the whole ("of flights from JFK"),
//! and what is said of it with a clause or a verb is the part ("that were cancelled", "were from JFK").

use super::super::items::Kind;
use super::super::sketch::{Cond, Display, Group, Noun, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;

/// What a share begins with, longest first.
pub(super) const SHARES: &[&str] = &[
    "what percentage of", "what percent of", "what share of", "what proportion of", "what fraction of",
    "which percentage of", "which share of", "percentage of", "percent of", "share of", "proportion of", "fraction of",
    "% of",
];

const RELATIVE: &[&str] = &["that", "which", "who", "whose", "where"];

const VERBS: &[&str] = &[
    "were", "was", "are", "is", "have been", "has been", "have", "has", "had", "comes", "come", "came", "go", "goes",
    "went", "left", "departed", "arrived", "did", "do", "does", "cost", "costs", "took", "take", "belong", "belongs",
];

/// Conditions that were read one after the other: those of the first, those that follow without a word between, and
/// the words of the latter.
struct Clause {
    first: Vec<Cond>,
    doubtful: Vec<Cond>,
    said: String,
}

impl Parser<'_> {
    /// What comes after "percentage of": a part of a whole, or else the part of the total of each group.
    pub(super) fn share(&mut self) -> Option<Quantity> {
        let back = (self.at, self.sketch.clone());
        if let Some(ratio) = self.part_by_metric() {
            return Some(ratio);
        }
        (self.at, self.sketch) = (back.0, back.1.clone());
        if let Some(part) = self.part() {
            return Some(part);
        }
        (self.at, self.sketch) = back;
        self.of_total()
    }

    /// "Lund's share of the orders": the value whose part it is.
    pub(super) fn sharer(&mut self, start: usize) -> Option<Cond> {
        let whose = self.items.get(start.checked_sub(1)?)?.text.contains(['\'', '’']);
        let last = match self.sketch.conds.last()? {
            Cond::Values { nouns, negated: false } => self.sketch.nouns.get(*nouns.last()?)?,
            _ => return None,
        };
        // "the Lund share of the orders"
        let bare = matches!(last.before.as_str(), "" | "the" | "show" | "me" | "is" | "was" | "what");
        let ends = last.items.end == start;
        if (whose || bare) && ends && self.frames.is_empty() { self.sketch.conds.pop() } else { None }
    }

    /// What comes after "Lund's share of": the whole, with all that is said of it.
    pub(super) fn share_of_one(&mut self, owner: Cond) -> Option<Quantity> {
        self.articles();
        self.modifiers();
        let noun = self.noun(Want::Counted)?;
        let noun = self.segment_thing(noun);
        let entries = &self.sketch.nouns[noun].entries;
        let counted = entries.iter().any(Entry::is_thing);
        let whole = if counted {
            self.focus = Some(noun);
            Quantity::Count(noun)
        } else if entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial) {
            self.sketch.nouns[noun].want = Want::Measure;
            Quantity::Plain(noun)
        } else {
            return None;
        };
        Some(Quantity::Part { whole: Box::new(whole), conds: vec![owner], doubtful: Vec::new(), said: String::new() })
    }

    /// "share of revenue that is profit": one number as a part of another.
    fn part_by_metric(&mut self) -> Option<Quantity> {
        self.articles();
        let metric = |parser: &mut Self| {
            let named = |entry: &Entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial;
            parser.articles();
            parser
                .item(0)
                .is_some_and(|item| item.entries.iter().any(named))
                .then(|| parser.noun(Want::Measure))
                .flatten()
        };
        let whole = metric(self)?;
        self.eat_any(&["that", "which"]);
        self.eat_any(&["is", "are", "was", "were"]).then_some(())?;
        let part = metric(self)?;
        let ended = self.at >= self.end || matches!(self.word(0), "by" | "per" | "in" | "for" | "," | "each");
        let ended = ended || self.item(0).is_some_and(|item| matches!(item.kind, Kind::Time(_)));
        let (part, whole) = (Quantity::Plain(part), Quantity::Plain(whole));
        (ended && part != whole).then(|| Quantity::Ratio(Box::new(part), Box::new(whole)))
    }

    /// "share of revenue by shop", "percentage of flights of each airline": of the total.
    fn of_total(&mut self) -> Option<Quantity> {
        self.articles();
        let quantity = match self.quantity() {
            Some(quantity) => quantity,
            None => {
                let noun = self.noun(Want::Counted)?;
                let counted = self.sketch.nouns[noun].entries.iter().any(Entry::is_thing);
                Quantity::Count(counted.then_some(noun)?)
            }
        };
        self.sketch.display = Some(Display::Share);
        self.eat_any(&["does", "do", "did"]);
        Some(quantity)
    }

    /// "flights that were cancelled", "flights from JFK that were cancelled", "cancelled flights were from JFK".
    fn part(&mut self) -> Option<Quantity> {
        self.articles();
        let each = self.share_of_each()?;
        let known = self.sketch.conds.len();
        self.modifiers();
        let noun = self.noun(Want::Counted)?;
        let noun = self.segment_thing(noun);
        let counted = self.sketch.nouns[noun].entries.iter().any(Entry::is_thing);
        let metric = self.sketch.nouns[noun]
            .entries
            .iter()
            .any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial);
        if !counted && !metric {
            return None;
        }
        let whole = if counted { Quantity::Count(noun) } else { Quantity::Plain(noun) };
        if counted {
            self.focus = Some(noun);
        } else {
            self.sketch.nouns[noun].want = Want::Measure;
        }
        let beside = self.clause(known, true);
        let related = if RELATIVE.iter().any(|word| self.eat(word)) { Some(self.predicate()?) } else { None };
        let main = if self.verb_next() { Some(self.predicate()?) } else { None };
        let (restricting, part) = match (related, main) {
            (Some(related), Some(main)) => {
                (beside.into_iter().chain(std::iter::once(related)).collect::<Vec<_>>(), main)
            }
            (Some(part), None) | (None, Some(part)) => (beside.into_iter().collect(), part),
            // "share of flights from JFK": one condition, which can only be the part.
            (None, None) => {
                let clause = beside?;
                let grouped = matches!(self.word(0), "by" | "per" | "each" | "every")
                    || self.word(0) == "for" && matches!(self.word(1), "each" | "every");
                if grouped || !clause.doubtful.is_empty() {
                    let noun = &self.sketch.nouns[noun].text;
                    self.sketch.refused = Some(format!(
                        "It is not clear of which whole the share is: say it with a verb, such as “percentage of {noun} \
                         that are …” or “percentage of … {noun} by …”."
                    ));
                }
                (Vec::new(), clause)
            }
        };
        for clause in restricting {
            self.sketch.conds.extend(clause.first);
            self.sketch.conds.extend(clause.doubtful);
        }
        if let Some(noun) = each {
            self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
        }
        Some(Quantity::Part { whole: Box::new(whole), conds: part.first, doubtful: part.doubtful, said: part.said })
    }

    /// "share of each shop's sales that …": the shop. `None` where it makes no sense.
    fn share_of_each(&mut self) -> Option<Option<usize>> {
        if !self.eat_any(&["each", "every"]) {
            return Some(None);
        }
        let whole = self.at + 1;
        let whose = self.items.get(self.at..whole)?.first()?.text.contains(['\'', '’']);
        let entries = self.item(0)?.entries.iter().filter(|entry| entry.is_thing()).cloned().collect::<Vec<_>>();
        if !whose || entries.is_empty() {
            return None;
        }
        let noun = Noun::new(self, self.at..whole, entries, Want::Group, "each");
        self.at = whole;
        Some(Some(self.push(noun)))
    }

    /// A verb that says something of the noun before: the main verb of a question for a share.
    fn verb_next(&self) -> bool {
        let word = self.word(0);
        VERBS.iter().any(|verb| verb.split(' ').next() == Some(word)) || self.verb_here() || self.bound_verb()
    }

    /// "placed at least 10 orders": a verb that says no more than that they belong together, before a bound.
    fn bound_verb(&self) -> bool {
        let bound = matches!(self.word(1), "at" | "more" | "fewer" | "less" | "exactly" | "over" | "only" | "just")
            || self.item(1).is_some_and(|item| matches!(item.kind, Kind::Number(_)));
        bound && vocabulary::is_relation(self.word(0)) && !self.verb_here()
    }

    /// Whether a verb here is a named condition itself: "departed".
    fn segment_here(&self) -> bool {
        self.item(0).is_some_and(|item| {
            item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial)
        })
    }

    /// What a clause or a verb says.
    fn predicate(&mut self) -> Option<Clause> {
        let known = self.sketch.conds.len();
        let mut verb = self.at;
        while !self.segment_here() {
            let at = self.at;
            if VERBS.iter().any(|verb| self.eat(verb)) {
                verb = self.at - 1;
            } else if at == self.at && !self.eat_any(&["still", "ever", "already", "also", "currently", "actually"]) {
                break;
            }
        }
        if matches!(self.word(0), "each" | "every") {
            return None;
        }
        if self.bound_verb() {
            self.at += 1;
            return self.clause(known, false);
        }
        // "have a company", "did not buy": the rule of what there must be wants its verb.
        let said = self.items.get(verb).map_or("", |item| item.norm.as_str());
        let negated = matches!(said, "did" | "do" | "does") && self.word(0) == "not";
        if negated || matches!(said, "have" | "has" | "had") {
            self.at = verb;
        }
        self.clause(known, false)
    }

    /// Conditions up to a verb, a relative word or a group. Windows of time alone are always the whole's.
    fn clause(&mut self, known: usize, beside: bool) -> Option<Clause> {
        let mut clause = Clause { first: Vec::new(), doubtful: Vec::new(), said: String::new() };
        let mut taken = self.split_conds(known);
        clause.first.append(&mut taken);
        let mut read = usize::from(!clause.first.is_empty());
        let mut from = self.at;
        loop {
            // "a sale and a refund": one more that there must be.
            let too = read > 0 && clause.doubtful.is_empty() && self.one_more();
            let joined = too || self.eat_any(&["and also", "and", ", and", "but", ","]);
            let window = matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
            if !too && window && self.times() {
                from = self.at;
                continue;
            }
            let ended = self.at >= self.end
                || matches!(self.word(0), "by" | "per" | "each" | "every")
                || self.word(0) == "for" && matches!(self.word(1), "each" | "every")
                || !joined && (RELATIVE.contains(&self.word(0)) || (beside || read > 0) && self.verb_next());
            if !too && (ended || !self.one_condition()) {
                if joined {
                    self.at -= 1;
                }
                break;
            }
            // "bought Jazz": what must exist takes the conditions after it.
            while !self.frames.is_empty() {
                if self.at >= self.end || self.at_boundary() || !(self.condition() || self.times()) {
                    self.close_frame();
                }
            }
            let mut conds = self.split_conds(known);
            if read == 0 || joined && clause.doubtful.is_empty() {
                clause.first.append(&mut conds);
            } else {
                clause.doubtful.append(&mut conds);
                let words = self.items[from..self.at].iter().map(|item| item.text.as_str()).collect::<Vec<_>>();
                clause.said = format!("{} {}", clause.said, words.join(" ")).trim().to_owned();
            }
            from = self.at;
            read += 1;
        }
        (!clause.first.is_empty()).then_some(clause)
    }

    /// The conditions that were added since, but for windows of time alone.
    fn split_conds(&mut self, known: usize) -> Vec<Cond> {
        let (windows, conds): (Vec<Cond>, Vec<Cond>) = self
            .sketch
            .conds
            .split_off(known.min(self.sketch.conds.len()))
            .into_iter()
            .partition(|cond| matches!(cond, Cond::Window { field: None, .. }));
        self.sketch.conds.extend(windows);
        conds
    }

    /// One condition, also one that begins with its field ("whose price is over 5").
    fn one_condition(&mut self) -> bool {
        if self.happened_often() || self.existence() || self.condition() {
            return true;
        }
        let back = (self.at, self.sketch.clone());
        let conds = self.sketch.conds.len();
        self.eat_any(&[
            "have not been", "has not been", "have not yet been", "has not yet been", "have never been",
            "has never been",
        ]);
        self.eat_any(&[
            "had a", "had an", "have a", "have an", "has a", "has an", "with a", "with an", "had", "with", "have",
            "has",
        ]);
        if self.noun_here() && self.sketch.conds.len() > conds {
            let (old, new) = (&back.1, &self.sketch);
            let same = (old.measures.len(), old.columns.len(), old.mentions.len(), old.unknown.len(), old.subject)
                == (new.measures.len(), new.columns.len(), new.mentions.len(), new.unknown.len(), new.subject);
            if same {
                return true;
            }
        }
        (self.at, self.sketch) = back;
        false
    }
}
