//! Superlatives: which end they mean, and what they speak of.

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Aggregation;
use crate::model::plan::Grain;

use super::super::items::Kind;
use super::super::sketch::{Ask, Group, Noun, NounAt, Quantity, Rank, Want};
use super::super::vocabulary;
use super::Parser;

/// A superlative that was read.
#[derive(Clone, Debug)]
pub(super) struct Superlative {
    /// Whether the most of it is meant.
    pub descending: bool,
    /// What it speaks of, see [`vocabulary::superlative`].
    pub hints: &'static [&'static str],
    /// The fields that its adjective is a name of: "windiest", where winds are called windy.
    pub entries: Vec<Entry>,
    /// How many items it takes.
    pub words: usize,
}

impl Superlative {
    pub(super) fn is_speed(&self) -> bool {
        self.hints.contains(&"speed")
    }

    pub(super) fn is_time(&self) -> bool {
        self.hints == ["@time"]
    }

    pub(super) fn is_age(&self) -> bool {
        self.hints == ["@age"]
    }

    pub(super) fn is_quality(&self) -> bool {
        self.hints == ["@quality"]
    }
}

impl Parser<'_> {
    /// The superlative here.
    pub(super) fn superlative(&self) -> Option<Superlative> {
        if let Some(found) = self.adjective() {
            return Some(found);
        }
        let (descending, hints, words) = self.superlative_at(0)?;
        Some(Superlative { descending, hints, entries: Vec::new(), words })
    }

    /// A superlative at a place, with how many items it takes.
    pub(super) fn superlative_at(&self, ahead: usize) -> Option<(bool, &'static [&'static str], usize)> {
        let (word, next) = (self.word(ahead), self.word(ahead + 1));
        if matches!(word, "most" | "least") {
            let hints: &'static [&'static str] = match next {
                "expensive" | "costly" | "pricey" => &["price", "cost", "rate", "amount", "fee", "fare", "charge"],
                "recent" | "recently" => &["@time"],
                "popular" | "frequent" | "common" | "active" | "rented" | "used" | "visited" | "ordered" | "sold"
                | "bought" | "played" | "purchased" => &["@count"],
                "populous" => &["population"],
                "heavy" => &["weight", "mass"],
                "distant" => &["distance"],
                "profitable" => &["profit", "margin"],
                _ => return Some((word == "most", &[], 1)),
            };
            return Some((word == "most", hints, 2));
        }
        if matches!(word, "max" | "maximum" | "min" | "minimum") {
            return None;
        }
        // "the last 5 orders": the latest; "their first order" is one for each of them.
        if matches!(word, "last" | "first") {
            let number = usize::from(matches!(self.item(ahead + 1).map(|item| &item.kind), Some(Kind::Number(_))));
            let things = self
                .item(ahead + 1 + number)
                .is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing) && !item.has_value());
            let before = self.previous_of(self.at + ahead);
            let free = before.is_empty()
                || matches!(before, "the" | "our" | "is" | "was" | "are" | "were" | "me" | "what" | "which")
                || vocabulary::is_show(before);
            return (things && free).then_some((word == "last", &["@time"], 1));
        }
        // "which shop has more customers", "which has the better margin, A or B": of all that are named, the most.
        let compared = matches!(
            word,
            "more" | "fewer" | "better" | "worse" | "higher" | "lower" | "larger" | "bigger" | "smaller"
        ) && self.sketch.ask == Ask::Which
            && self.sketch.subject.is_some()
            && !self.items.iter().any(|item| item.any(&["than", "each", "every"]))
            && matches!(
                self.previous_of(self.at + ahead),
                "has" | "have" | "had" | "made" | "sold" | "got" | "a" | "an" | "the"
            );
        if compared {
            return Some(match word {
                "better" => (true, &["@quality"], 1),
                "worse" => (false, &["@quality"], 1),
                word => (matches!(word, "more" | "higher" | "larger" | "bigger"), &[], 1),
            });
        }
        let item = self.item(ahead)?;
        if matches!(item.kind, Kind::Quoted | Kind::Time(_))
            || item.entries.iter().any(|entry| !entry.partial && item.norm.contains(' ') && entry.quality > 0.0)
        {
            return None;
        }
        vocabulary::superlative(word).map(|(descending, hints)| (descending, hints, 1))
    }

    /// "windiest", "most humid": an adjective that the ontology calls a number by.
    pub(super) fn adjective(&self) -> Option<Superlative> {
        let item = self.item(0).filter(|item| matches!(item.kind, Kind::Word))?;
        let (bases, most, words) = match item.norm.as_str() {
            "most" | "least" => {
                let next = self.item(1).filter(|item| matches!(item.kind, Kind::Word) && !item.norm.contains(' '))?;
                (vec![next.norm.clone()], item.norm == "most", 2)
            }
            word if vocabulary::superlative(word).is_none() && item.entries.is_empty() => {
                (vocabulary::positives(word), true, 1)
            }
            _ => return None,
        };
        let number = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => !entry.partial && entry.quality > 0.9 && self.is_measure(&Sense::Field(d, f)),
            _ => false,
        };
        // "the most humid day", but not "the most rain".
        let day = matches!(self.item(words).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Grain(_))));
        bases.iter().find_map(|base| {
            let how = self.on.matches(&["how", base], &[false, false]).into_iter().find(|found| found.words == 2);
            // The name of a number alone is what there is most of: "the most rain".
            let found = match how {
                Some(found) => found,
                None if words == 1 || day => {
                    self.on.matches(&[base], &[false]).into_iter().find(|found| found.words == 1)?
                }
                None => return None,
            };
            let entries: Vec<Entry> = found.entries.into_iter().filter(number).collect();
            let descending = most != vocabulary::is_little(base);
            (!entries.is_empty()).then_some(Superlative { descending, hints: &[], entries, words })
        })
    }

    /// The field that a superlative speaks of, where it speaks of one.
    pub(super) fn field_of_superlative(&mut self, found: &Superlative, at: usize) -> Option<NounAt> {
        if !found.entries.is_empty() {
            let noun = Noun::new(self, at..at + found.words, found.entries.clone(), Want::Number, "");
            return Some(self.push(noun));
        }
        let fielded = !found.hints.is_empty() && !found.is_quality() && found.hints != ["@count"];
        fielded.then(|| self.hinted(at, found.hints))
    }

    /// "the windiest month", "on which day was it coldest", "the windiest station": by the number that the adjective
    /// speaks of.
    pub(super) fn ranked_by_adjective(&mut self, found: &Superlative, rows: Option<u32>, skip: u32) -> bool {
        let from = self.at;
        let text = self.items[from..from + found.words].iter().map(|item| item.text.as_str()).collect::<Vec<_>>();
        let mut rank = Rank::new(found.descending, rows, skip, text.join(" "));
        let Some(field) = self.field_of_superlative(found, from) else { return false };
        self.at += found.words;
        if let (None, Some(Kind::Number(number))) = (rows, self.item(0).map(|item| item.kind.clone()))
            && number.unit.is_none()
            && number.value >= 1.0
            && number.value.fract() == 0.0
        {
            let Ok(number) = format!("{}", number.value).parse() else { return false };
            (rank.rows, rank.single) = (number, false);
            self.at += 1;
        }
        if let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(0).map(|item| item.kind.clone()) {
            self.at += 1;
            let group = Group { noun: None, grain: Some(grain), each: false, per: false };
            if !self.sketch.groups.contains(&group) {
                self.sketch.groups.push(group);
            }
        } else if let Some(noun) = self.noun(Want::Column) {
            let is_thing = self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
            if !is_thing || self.sketch.subject.is_some() || !self.sketch.groups.is_empty() {
                return false;
            }
            self.sketch.nouns[noun].want = Want::Thing;
            self.sketch.subject = Some(noun);
            self.focus = Some(noun);
        }
        if self.sketch.groups.is_empty() && self.sketch.subject.is_none() && self.sketch.columns.is_empty() {
            return false;
        }
        // The coldest day is that of the lowest temperature; the coldest month is cold on the whole.
        let short = self.sketch.groups.iter().any(|group| matches!(group.grain, Some(Grain::Day | Grain::Hour)));
        rank.by = Some(if short {
            self.sketch.nouns[field].want = Want::Aggregated;
            Quantity::Aggregate(if rank.descending { Aggregation::Max } else { Aggregation::Min }, field)
        } else {
            Quantity::Plain(field)
        });
        self.sketch.rank = Some(rank);
        true
    }

    /// "latest price": that of the latest row, which is not the greatest of all. A number of several rows has none.
    pub(super) fn latest_number(
        &mut self,
        rank: &Rank,
        from: usize,
        hints: &'static [&'static str],
        known_thing: bool,
    ) -> bool {
        self.modifiers();
        let Some(noun) = self.noun(Want::Column) else { return false };
        let known = &self.sketch.nouns[noun];
        let owned = known.of.is_some();
        let mut entries: Vec<Entry> = known.entries.iter().filter(|entry| owned || !entry.partial).cloned().collect();
        let is_thing = !owned && entries.iter().any(Entry::is_thing);
        entries.retain(|entry| self.is_measure(&entry.sense));
        if is_thing || entries.is_empty() {
            return false;
        }
        entries.retain(|entry| matches!(entry.sense, Sense::Field(..)));
        if known_thing || entries.is_empty() {
            let (said, number) = (&rank.text, &self.sketch.nouns[noun].text);
            self.sketch.refused =
                Some(format!("“{said} {number}” of what? Name the things that are the {said}, or say for which time."));
            return true;
        }
        self.sketch.nouns[noun].entries = entries;
        self.sketch.columns.push(noun);
        let field = self.hinted(from, hints);
        self.sketch.rank = Some(Rank { field: Some(field), ..rank.clone() });
        true
    }

    /// "the farthest shop": what it is far by may be a number of the rows that refer to it, the trips there.
    pub(super) fn far(&mut self, things: NounAt, hints: &[&str], from: usize) -> Option<NounAt> {
        if hints.first() != Some(&"distance") {
            return None;
        }
        let named = |dataset: usize| self.ontology.datasets.get(dataset).map(|entity| entity.name.as_str());
        let of_role = |role: usize| self.ontology.relationships.get(role).map(|role| role.to.as_str());
        let own: Vec<&str> = self.sketch.nouns[things]
            .entries
            .iter()
            .filter_map(|entry| match entry.sense {
                Sense::Entity(dataset) => named(dataset),
                Sense::Role(role) => of_role(role),
                _ => None,
            })
            .collect();
        let distances = |dataset: usize| {
            let fields = self.ontology.datasets.get(dataset).map(|entity| entity.fields.as_slice()).unwrap_or_default();
            fields.iter().enumerate().filter(|(_, field)| {
                let names = [field.name.as_str(), field.label.as_str()];
                let said = |name: &str| name.to_lowercase().split([' ', '_']).any(|word| hints.contains(&word));
                field.datatype.is_number() && !field.hidden && names.into_iter().any(said)
            })
        };
        let is = |dataset: usize, name: &str| named(dataset).is_some_and(|known| known.eq_ignore_ascii_case(name));
        let mut found = Vec::new();
        for dataset in 0..self.ontology.datasets.len() {
            let refers = self.ontology.relationships.iter().any(|relationship| {
                is(dataset, &relationship.from) && own.iter().any(|own| own.eq_ignore_ascii_case(&relationship.to))
            });
            let itself = own.iter().any(|own| is(dataset, own));
            if !refers && !itself {
                continue;
            }
            for (field, _) in distances(dataset) {
                if itself {
                    return None;
                }
                found.push(Entry { sense: Sense::Field(dataset, field), quality: 1.0, partial: false });
            }
        }
        if found.is_empty() {
            return None;
        }
        let to = self.at.max(from + 1).min(self.items.len());
        let noun = Noun::new(self, from..to, found, Want::Aggregated, "");
        Some(self.push(noun))
    }
}
