//! Which things of the ontology the nouns of a question are: those that fit best, lie nearest to what is asked for, and
//! can be reached from it.

mod kinds;
pub(super) mod metric_rows;
mod others;
mod qualified;
mod ways;

use std::collections::BTreeSet;

use crate::engine::agent::english::lexicon::{Effort, Sense};
use crate::engine::ontology::graph::{Graph, NoWay, Steps};
use crate::model::ontology::{DataType, Entity, FieldRole, Ontology, in_words};
use crate::model::reading::{Choice, Chosen, Clarification};

use super::sketch::{Cond, Noun, NounAt, Quantity, Sketch, Want};
use super::vocabulary;

/// What a noun is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Metric(usize),
    Entity(usize),
    Field(usize, usize),
    Value(usize, usize, String),
    Segment(usize),
}

/// What a noun is and on which way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub target: Target,
    pub via: Vec<String>,
    pub score: f32,
    /// Two with the same are the same numbers.
    pub same: String,
    /// Its name is the whole phrase.
    pub whole: bool,
}

/// Why nouns are not found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    Ask(Box<Clarification>),
    /// Nothing of the kind that is wanted here.
    Nothing(NounAt),
    /// No way from what is asked for.
    Apart(NounAt, String),
}

pub(super) struct Resolver<'a> {
    pub ontology: &'a Ontology,
    pub graph: &'a Graph,
    pub chosen: &'a [Chosen],
    pub effort: &'a Effort<'a>,
    pub sketch: &'a Sketch,
    /// The dataset that the question before was about, where this one goes on from it.
    pub before: Option<usize>,
}

/// What each noun is, by its position.
type Nouns = Vec<Option<Found>>;

/// Scores nearer than this are no reason to prefer one reading.
const MARGIN: f32 = 0.09;

impl Resolver<'_> {
    /// What each noun is; the dataset that the numbers or the list are of comes first.
    pub(super) fn resolve(&self) -> Result<(usize, Vec<Option<Found>>), Trouble> {
        if let Some(before) = self.before.filter(|_| self.sketch.measures.is_empty()) {
            let (_, all) = self.rest(before, usize::MAX, None);
            return Ok((before, all?));
        }
        let Some(first) = self.first() else {
            return Ok((usize::MAX, vec![None; self.sketch.nouns.len()]));
        };
        let mut best: Vec<(f32, usize, Found, Result<Nouns, Trouble>)> = Vec::new();
        let candidates = self.candidates(first, None);
        if candidates.is_empty() {
            return Err(Trouble::Nothing(first));
        }
        for candidate in candidates.into_iter().take(16) {
            let Some(anchor) = self.dataset_of(&candidate.target) else { continue };
            let (rest, all) = self.rest(anchor, first, Some(&candidate));
            best.push((candidate.score + rest, anchor, candidate, all));
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.same.cmp(&b.2.same)));
        let Some((score, anchor, found, all)) = best.first().cloned() else { return Err(Trouble::Nothing(first)) };
        let rivals: Vec<Found> = best
            .iter()
            .filter(|(other, _, rival, all)| score - other < MARGIN && rival.same != found.same && all.is_ok())
            .map(|(_, _, rival, _)| rival.clone())
            .collect();
        if !rivals.is_empty() && all.is_ok() {
            return Err(Trouble::Ask(Box::new(self.question(first, &found, &rivals))));
        }
        let mut all = all?;
        all[first] = Some(found);
        Ok((anchor, all))
    }

    /// The noun that says what the numbers or rows are of.
    fn first(&self) -> Option<NounAt> {
        let sketch = self.sketch;
        let ranked = sketch.rank.as_ref().and_then(|rank| rank.by.as_ref()).and_then(first_noun);
        let ranked = ranked.filter(|at| sketch.nouns[*at].hints.is_empty());
        let measured = sketch.conds.iter().find_map(|cond| match cond {
            Cond::Measured { quantity, .. } if sketch.subject.is_none() => first_noun(quantity),
            _ => None,
        });
        let field = sketch.rank.as_ref().and_then(|rank| rank.field);
        let field = field.filter(|at| !sketch.nouns[*at].entries.is_empty());
        sketch
            .measures
            .first()
            .and_then(first_noun)
            .or(ranked)
            .or(sketch.subject)
            .or(measured)
            .or_else(|| sketch.columns.first().copied())
            .or(field)
            .or_else(|| sketch.mentions.first().copied())
            .or_else(|| sketch.groups.iter().find_map(|group| group.noun))
            .or_else(|| sketch.conds.iter().find_map(spoken))
    }

    fn rest(&self, anchor: usize, first: NounAt, found: Option<&Found>) -> (f32, Result<Nouns, Trouble>) {
        let nouns = &self.sketch.nouns;
        let mut all: Vec<Option<Found>> = vec![None; nouns.len()];
        if let (Some(slot), Some(found)) = (all.get_mut(first), found) {
            *slot = Some(found.clone());
        }
        let (mut score, mut trouble) = (0.0, None);
        // What is seen from other nouns comes after those.
        let depth = |at: &NounAt| (u8::from(nouns[*at].inside.is_some()), u8::from(nouns[*at].holder.is_some()));
        let mut order: Vec<NounAt> = (0..nouns.len()).collect();
        order.sort_by_key(depth);
        for at in order {
            if at == first {
                continue;
            }
            let from = nouns[at]
                .inside
                .or(nouns[at].holder)
                .and_then(|thing| all[thing].as_ref())
                .and_then(|found| self.dataset_of(&found.target));
            let from = from.unwrap_or(anchor);
            let mut candidates = self.candidates(at, Some(from));
            self.without_qualified(&nouns[at], from, &mut candidates);
            let Some(best) = candidates.first() else {
                let known = self.candidates(at, None);
                score -= 3.0;
                trouble = trouble.or(Some(match known.first() {
                    Some(_) => Trouble::Apart(at, self.entity_words(from)),
                    None => Trouble::Nothing(at),
                }));
                continue;
            };
            score += best.score;
            let rivals: Vec<Found> = candidates[1..]
                .iter()
                .filter(|rival| {
                    let margin =
                        if self.elsewhere(&nouns[at], from, best, rival) { 2.0 * MARGIN + 0.02 } else { MARGIN };
                    best.score - rival.score < margin && rival.same != best.same && !self.twins(from, best, rival)
                })
                .cloned()
                .collect();
            if !rivals.is_empty() && (nouns[at].want != Want::Thing || self.sketch.subject == Some(at)) {
                trouble = trouble.or_else(|| Some(Trouble::Ask(Box::new(self.question(at, best, &rivals)))));
            }
            all[at] = Some(best.clone());
        }
        (
            score,
            match trouble {
                Some(trouble) => Err(trouble),
                None => Ok(all),
            },
        )
    }

    /// Whether a text is a value of another dataset just as well, and nothing stands beside it that says of which.
    fn elsewhere(&self, noun: &Noun, from: usize, best: &Found, rival: &Found) -> bool {
        let one = |found: &Found| {
            self.dataset_of(&found.target).is_some_and(|to| self.graph.way(from, to, &found.via, Steps::ToOne).is_ok())
        };
        noun.want == Want::Value
            && noun.near.is_none()
            && noun.of.is_none()
            && noun.roles.is_empty()
            && best.whole
            && rival.whole
            && self.dataset_of(&best.target) != self.dataset_of(&rival.target)
            && one(best)
            && one(rival)
    }

    /// What a noun may be, best first; seen from a dataset only what can be reached.
    fn candidates(&self, at: NounAt, from: Option<usize>) -> Vec<Found> {
        let noun = &self.sketch.nouns[at];
        let mut found = self.weighed(at, from);
        if found.iter().any(|found| found.whole) && noun.want != Want::Value {
            found.retain(|found| found.whole);
        }
        self.prune(noun, &mut found);
        for key in [Self::key(noun), format!("path:{}", noun.norm)] {
            if let Some(chosen) = self.chosen.iter().rev().find(|chosen| chosen.key == key) {
                let kept: Vec<Found> =
                    found.iter().filter(|found| self.value(found) == chosen.value).cloned().collect();
                if !kept.is_empty() {
                    found = kept;
                }
            }
        }
        found
    }

    /// All that a noun's words may stand for, best first.
    fn weighed(&self, at: NounAt, from: Option<usize>) -> Vec<Found> {
        let noun = &self.sketch.nouns[at];
        let mut found: Vec<Found> = Vec::new();
        for (target, quality, whole) in self.targets(noun, from) {
            if !self.effort.spend(1) {
                break;
            }
            let bonus = self.bonus(noun, &target, at);
            match from {
                None => {
                    let same = self.same(&target, &[], usize::MAX);
                    found.push(Found { target, via: Vec::new(), score: quality + bonus, same, whole });
                }
                Some(from) => {
                    for (via, steps) in self.ways(from, &target, noun) {
                        if noun.want == Want::Time && !self.is_time_of(from, &target, &via) {
                            continue;
                        }
                        let toward = self.direction(noun, &target, &via);
                        // "to Harbour" is no place of departure where there are destinations, too.
                        if toward < 0.0 && noun.want == Want::Value && self.leads(from, &noun.before) {
                            continue;
                        }
                        let near = self.passes(from, &target, &via, noun);
                        let score = quality + bonus + toward + near + self.own_column(noun, &target, from) - steps;
                        let same = self.same(&target, &via, from);
                        found.push(Found { target: target.clone(), via, score, same, whole });
                    }
                }
            }
        }
        found.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| a.target.cmp(&b.target)).then_with(|| a.via.cmp(&b.via))
        });
        found
    }

    fn thing(&self, sense: &Sense) -> Option<usize> {
        match sense {
            Sense::Entity(d) => Some(*d),
            Sense::Role(r) => self.position(&self.ontology.relationships.get(*r)?.to),
            _ => None,
        }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name))
    }

    /// The dataset of a thing; of a metric the first that its expression speaks of.
    pub(super) fn dataset_of(&self, target: &Target) -> Option<usize> {
        match target {
            Target::Entity(d) | Target::Field(d, _) | Target::Value(d, _, _) => Some(*d),
            Target::Segment(s) => self.position(self.ontology.segments.get(*s)?.datasets.first()?),
            Target::Metric(m) => self.metric_datasets(*m, 0).into_iter().next(),
        }
    }

    /// The datasets that a metric's expression speaks of.
    pub(super) fn metric_datasets(&self, metric: usize, depth: usize) -> Vec<usize> {
        let Some(metric) = self.ontology.metrics.get(metric) else { return Vec::new() };
        let mut found = Vec::new();
        let mut word = String::new();
        for c in metric.expression.chars().chain(std::iter::once(' ')) {
            if c.is_alphanumeric() || c == '_' || c == '.' {
                word.push(c);
                continue;
            }
            if let Some((dataset, _)) = word.split_once('.') {
                found.extend(self.position(dataset));
            } else if depth < 4 {
                let inner = self.ontology.metrics.iter().position(|other| other.name.eq_ignore_ascii_case(&word));
                found.extend(inner.into_iter().flat_map(|inner| self.metric_datasets(inner, depth + 1)));
            }
            word.clear();
        }
        let mut seen = BTreeSet::new();
        found.retain(|dataset| seen.insert(*dataset));
        found
    }

    /// A thing whose dataset is spoken of in the question is more likely.
    fn bonus(&self, noun: &Noun, target: &Target, at: NounAt) -> f32 {
        if matches!(target, Target::Entity(_)) {
            return 0.0;
        }
        let Some(dataset) = self.dataset_of(target) else { return 0.0 };
        // "holder names" are names of what plays that part.
        let part = |role: &usize| {
            self.ontology.relationships.get(*role).and_then(|known| self.position(&known.to)) == Some(dataset)
        };
        if matches!(target, Target::Field(..)) && noun.roles.iter().any(part) {
            return 0.1;
        }
        let spoken = self.sketch.nouns.iter().enumerate().any(|(other, known)| {
            other != at
                && Some(other) != noun.of
                && matches!(known.want, Want::Thing | Want::Counted | Want::Group | Want::Column | Want::Bound)
                && known.entries.first().is_some_and(|entry| self.thing(&entry.sense) == Some(dataset))
        });
        if spoken { 0.1 } else { 0.0 }
    }

    /// A column of a list is rather one of the listed thing itself than of what it has to do with.
    fn own_column(&self, noun: &Noun, target: &Target, from: usize) -> f32 {
        let listed = self.sketch.measures.is_empty() && noun.want == Want::Column && noun.of.is_none();
        if listed && matches!(target, Target::Field(d, _) if *d == from) { 0.15 } else { 0.0 }
    }

    pub(super) fn entity_words(&self, dataset: usize) -> String {
        self.ontology.datasets.get(dataset).map(Entity::noun).unwrap_or_default()
    }

    fn key(noun: &Noun) -> String {
        match noun.want {
            Want::Value => format!("value:{}", noun.norm),
            _ => format!("term:{}", noun.norm),
        }
    }

    /// What stands for a reading of a noun in an answer to a question back.
    fn value(&self, found: &Found) -> String {
        let datasets = &self.ontology.datasets;
        let base = match &found.target {
            Target::Metric(m) => format!("metric:{}", self.ontology.metrics[*m].name),
            Target::Segment(s) => format!("segment:{}", self.ontology.segments[*s].name),
            Target::Entity(d) => datasets[*d].name.clone(),
            // Of parts of values several of one field may be meant.
            Target::Value(d, f, value) if !found.whole => {
                format!("{}.{} = {value}", datasets[*d].name, datasets[*d].fields[*f].name)
            }
            Target::Field(d, f) | Target::Value(d, f, _) => {
                format!("{}.{}", datasets[*d].name, datasets[*d].fields[*f].name)
            }
        };
        found.via.iter().fold(base, |base, via| format!("{base} via {via}"))
    }

    /// What a reading of a noun is, for people.
    pub(super) fn words(&self, found: &Found) -> String {
        let datasets = &self.ontology.datasets;
        let role = found
            .via
            .iter()
            .filter_map(|via| self.ontology.relationship(via))
            .map(|relationship| relationship.role.clone().unwrap_or_else(|| in_words(&relationship.name)))
            .collect::<Vec<_>>()
            .join(" ");
        let with = |text: String| if role.is_empty() { text } else { format!("{text} ({role})") };
        match &found.target {
            Target::Metric(m) => format!("the metric {}", in_words(&self.ontology.metrics[*m].name)),
            Target::Segment(s) => in_words(&self.ontology.segments[*s].name),
            Target::Entity(d) => with(datasets[*d].noun()),
            Target::Field(d, f) => with(format!("{} of the {}", datasets[*d].fields[*f].words(), datasets[*d].noun())),
            Target::Value(d, f, value) => {
                with(format!("{} of the {} is {value}", datasets[*d].fields[*f].words(), datasets[*d].noun()))
            }
        }
    }

    fn question(&self, at: NounAt, best: &Found, rivals: &[Found]) -> Clarification {
        let noun = &self.sketch.nouns[at];
        let mut options: Vec<Choice> = Vec::new();
        for found in std::iter::once(best).chain(rivals) {
            let choice = Choice { label: self.words(found), value: self.value(found) };
            if options.len() < 5 && options.iter().all(|known| known.label != choice.label) {
                options.push(choice);
            }
        }
        let assumption = options.first().map(|option| option.label.clone()).unwrap_or_default();
        Clarification {
            key: Self::key(noun),
            question: format!("What is meant by “{}”?", noun.text),
            options,
            assumption,
        }
    }
}

/// Whether the name of a field is one of an amount of money.
pub(super) fn is_money(words: &str) -> bool {
    words.to_lowercase().split(' ').any(|word| {
        matches!(
            word,
            "amount"
                | "price"
                | "cost"
                | "total"
                | "fee"
                | "revenue"
                | "value"
                | "salary"
                | "balance"
                | "payment"
                | "rate"
        )
    })
}

fn cost(way: &[crate::engine::ontology::graph::Step]) -> f32 {
    way.iter().map(|step| if step.to_many { 0.15 } else { 0.04 }).sum()
}

/// The noun of a condition.
pub(super) fn spoken(cond: &Cond) -> Option<NounAt> {
    match cond {
        Cond::Values { nouns, .. } => nouns.first().copied(),
        Cond::Compare { field, .. } | Cond::Like { field, .. } | Cond::Null { field, .. } => Some(*field),
        Cond::Flag { noun, .. } => Some(*noun),
        Cond::Fields { left, .. } => Some(*left),
        Cond::Window { field, .. } | Cond::Days { field, .. } | Cond::Hours { field, .. } => *field,
        Cond::Exists { .. } | Cond::Others { .. } | Cond::Booked(_) | Cond::Measured { .. } => None,
    }
}

/// The first noun of a quantity.
pub(super) fn first_noun(quantity: &Quantity) -> Option<NounAt> {
    match quantity {
        Quantity::Count(noun) | Quantity::Distinct(noun) | Quantity::Aggregate(_, noun) | Quantity::Plain(noun) => {
            Some(*noun)
        }
        Quantity::Days { to, .. } => Some(*to),
        Quantity::Ratio(first, _)
        | Quantity::Difference(first, _)
        | Quantity::Over(_, first, _)
        | Quantity::Part { whole: first, .. } => first_noun(first),
        Quantity::Across { counted, .. } => Some(*counted),
        Quantity::Sum(parts) => parts.first().and_then(first_noun),
    }
}
