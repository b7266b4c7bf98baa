//! Names of the ontology in a text: which thing is meant, and what comes near where there is none.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use super::words::RESERVED;
use crate::engine::agent::plan::validate::{nearest, shown};
use crate::model::ontology::{Aggregation, Entity, Field, Metric, Ontology, Relationship, in_words};
use crate::model::plan::FieldRef;

/// Most choices that are told.
const CHOICES: usize = 6;

/// Names with points between them, and where they stand.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub parts: Vec<String>,
    pub at: usize,
    /// Whether the first is in quotes.
    pub quoted: bool,
}

impl Path {
    pub(super) fn text(&self) -> String {
        self.parts.join(".")
    }

    pub(super) fn single(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// The datasets that people are offered.
pub(super) fn datasets(ontology: &Ontology) -> impl Iterator<Item = &Entity> {
    ontology.datasets.iter().filter(|entity| !entity.hidden)
}

/// The fields of a dataset that people are offered.
pub(super) fn fields(entity: &Entity) -> impl Iterator<Item = &Field> {
    entity.fields.iter().filter(|field| !field.hidden)
}

/// A dataset by its name; where none has it, the only one that is called so otherwise.
pub(super) fn dataset<'o>(ontology: &'o Ontology, name: &str) -> Option<&'o Entity> {
    let named = ontology.entity(name).filter(|entity| !entity.hidden);
    named.or_else(|| {
        let plural = |entity: &Entity| {
            let noun = entity.grain.as_deref().is_some_and(|grain| same(grain, name));
            let other =
                |one: &str, many: &str| many.len() == one.len() + 1 && many.ends_with(['s', 'S']) && starts(many, one);
            noun || other(&entity.name, name) || other(name, &entity.name) || same(entity.table(), name)
        };
        only(datasets(ontology).filter(|entity| plural(entity) || is_synonym(&entity.ai.synonyms, name)))
    })
}

/// A field by its name; where none has it, the only one that is called so otherwise.
pub(super) fn field_of<'o>(entity: &'o Entity, name: &str) -> Option<&'o Field> {
    let named = entity.field(name).filter(|field| !field.hidden);
    let called = |field: &&Field| same(&field.words(), name) || is_synonym(&field.ai.synonyms, name);
    named.or_else(|| only(fields(entity).filter(called)))
}

pub(super) fn metric<'o>(ontology: &'o Ontology, name: &str) -> Option<&'o Metric> {
    let called = |metric: &&Metric| is_synonym(&metric.ai.synonyms, name) || same(&in_words(&metric.name), name);
    ontology.metric(name).or_else(|| only(ontology.metrics.iter().filter(called)))
}

/// The dataset's field that its rows are called by: its label, or a key of one column.
pub(super) fn label_of(entity: &Entity) -> Option<&Field> {
    let label = entity.label_field.as_deref().and_then(|name| entity.field(name));
    let key = || match entity.primary_key.as_slice() {
        [key] => fields(entity)
            .find(|field| field.name.eq_ignore_ascii_case(key) || field.expression.eq_ignore_ascii_case(key)),
        _ => None,
    };
    label.filter(|field| !field.hidden).or_else(key)
}

/// The names of several words that may be written without quotes, each as its words in lower case.
pub(super) fn spaced(ontology: &Ontology) -> Vec<Vec<String>> {
    let metrics = ontology.metrics.iter().flat_map(|it| [&it.name].into_iter().chain(&it.ai.synonyms));
    let segments = ontology.segments.iter().flat_map(|it| [&it.name].into_iter().chain(&it.synonyms));
    let entities = datasets(ontology).flat_map(|it| [&it.name].into_iter().chain(fields(it).map(|field| &field.name)));
    let ways = ontology.relationships.iter().flat_map(|it| [&it.name].into_iter().chain(&it.role));
    metrics.chain(segments).chain(entities).chain(ways).filter_map(|name| words_of(name)).collect()
}

/// The words of a name, if it has several.
pub(super) fn words_of(name: &str) -> Option<Vec<String>> {
    let words: Vec<String> = name.split(' ').map(str::to_lowercase).collect();
    (words.len() > 1).then_some(words)
}

/// An aggregate by its name in SQL.
pub(super) fn aggregation(word: &str) -> Option<Aggregation> {
    Some(match word {
        "sum" | "total" => Aggregation::Sum,
        "avg" | "mean" | "average" => Aggregation::Avg,
        "median" => Aggregation::Median,
        "min" | "minimum" => Aggregation::Min,
        "max" | "maximum" => Aggregation::Max,
        "count" => Aggregation::Count,
        "count_distinct" | "countdistinct" | "approx_count_distinct" | "uniq" => Aggregation::CountDistinct,
        "stddev" | "stddev_samp" | "stdev" | "std" => Aggregation::Stddev,
        _ => return None,
    })
}

fn is_synonym(synonyms: &[String], name: &str) -> bool {
    synonyms.iter().any(|synonym| same(synonym, name))
}

/// The same but for case, and for spaces that are written as underscores.
fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace('_', " ").to_lowercase();
    plain(one) == plain(other)
}

fn starts(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

impl<'a> Reader<'a> {
    /// A name, or names with points between them.
    pub(super) fn path(&mut self) -> Read<Path> {
        let (at, quoted) = (self.here(), matches!(self.kind(0), Some(Kind::Name(_))));
        let mut parts = Vec::new();
        if self.is(0, RESERVED) {
            return Err(self.wrong_here(format!("a name is missing before {}", self.what())));
        }
        loop {
            match self.kind(0) {
                Some(Kind::Word(name) | Kind::Name(name)) => parts.push(name.clone()),
                _ => return Err(self.wrong_here(format!("a name is missing before {}", self.what()))),
            }
            self.skip(1);
            let goes_on = self.is_sign(0, ".") && matches!(self.kind(1), Some(Kind::Word(_) | Kind::Name(_)));
            if !goes_on {
                return Ok(Path { parts, at, quoted });
            }
            self.skip(1);
        }
    }

    /// How many words and signs a path has that begins here.
    pub(super) fn path_length(&self) -> Option<usize> {
        let is_name = |ahead: usize| matches!(self.kind(ahead), Some(Kind::Word(_) | Kind::Name(_)));
        if !is_name(0) || self.is(0, RESERVED) {
            return None;
        }
        let mut length = 1;
        while self.is_sign(length, ".") && is_name(length + 1) {
            length += 2;
        }
        Some(length)
    }

    /// A field by its path. One that is not there is noted, and has the names that were given.
    pub(super) fn field_at(&mut self, path: &Path) -> FieldRef {
        match self.find_field(path) {
            Ok(field) => field,
            Err(wrong) => {
                self.wrong.push(wrong);
                let mut parts = path.parts.iter().rev().cloned();
                let field = parts.next().unwrap_or_default();
                FieldRef::new(parts.next().unwrap_or_default(), field)
            }
        }
    }

    pub(super) fn field(&mut self) -> Read<FieldRef> {
        let path = self.path()?;
        Ok(self.field_at(&path))
    }

    pub(super) fn find_field(&self, path: &Path) -> Read<FieldRef> {
        let (name, holder, ways) = match path.parts.as_slice() {
            [ways @ .., holder, name] => (name, holder, ways),
            [name] => return self.bare_field(name, path.at),
            [] => return Err(Wrong::at(path.at, "a field is missing")),
        };
        let named = dataset(self.ontology, holder);
        if let Some((entity, field)) = named.and_then(|entity| field_of(entity, name).map(|field| (entity, field))) {
            return Ok(FieldRef { via: self.ways(ways, holder, path.at)?, ..FieldRef::new(&entity.name, &field.name) });
        }
        if let Some(found) = self.by_role(holder, name, path)? {
            let mut via = self.ways(ways, holder, path.at)?;
            via.extend(found.via);
            return Ok(FieldRef { via, ..found });
        }
        let of_dataset = named.map(|entity| fields(entity).map(|field| format!("{}.{}", entity.name, field.name)));
        let wanted = format!("{}.{name}", named.map_or(holder.as_str(), |entity| &entity.name));
        let mut near = of_dataset.map(|names| nearest(&wanted, &names.collect::<Vec<_>>())).unwrap_or_default();
        if near.is_empty() {
            near = nearest(&wanted, &self.all_fields());
        }
        let message = match named {
            Some(entity) => format!("{} has no field {}", entity.name, shown(name)),
            None => format!("there is no dataset and no way {}", shown(holder)),
        };
        Err(Wrong::at(path.at, message).near(near))
    }

    /// The names of fields as they are written, of all datasets.
    fn all_fields(&self) -> Vec<String> {
        let of = |entity: &'a Entity| fields(entity).map(|field| format!("{}.{}", entity.name, field.name));
        datasets(self.ontology).flat_map(of).collect()
    }

    /// A field without its dataset: of the only one that has it, or else of the one that the query is about.
    fn bare_field(&self, name: &str, at: usize) -> Read<FieldRef> {
        let by_name = |entity: &&'a Entity| entity.field(name).is_some_and(|field| !field.hidden);
        let mut having: Vec<&Entity> = datasets(self.ontology).filter(by_name).collect();
        if having.is_empty() {
            having = datasets(self.ontology).filter(|entity| field_of(entity, name).is_some()).collect();
        }
        let is_each =
            |entity: &&Entity| self.around.each.as_ref().is_some_and(|each| each.eq_ignore_ascii_case(&entity.name));
        let is_named = |entity: &&Entity| self.around.datasets.contains(&entity.name);
        let found = only(having.iter().copied())
            .or_else(|| having.iter().copied().find(is_each))
            .or_else(|| only(having.iter().copied().filter(is_named)));
        if let Some((entity, field)) = found.and_then(|entity| field_of(entity, name).map(|field| (entity, field))) {
            return Ok(FieldRef::new(&entity.name, &field.name));
        }
        if having.is_empty() {
            let message = match self.ontology.metric(name) {
                Some(_) => format!("{} is a metric, and a field is needed here", shown(name)),
                None => format!("there is no field {}", shown(name)),
            };
            return Err(Wrong::at(at, message).near(nearest(name, &self.all_fields())));
        }
        let choices: Vec<String> =
            having.iter().take(CHOICES).map(|entity| format!("{}.{name}", entity.name)).collect();
        Err(Wrong::at(at, format!("several datasets have {}: say which", shown(name))).near(choices))
    }

    /// A field by the relationship that leads to its dataset, or by what that is called at its end.
    fn by_role(&self, holder: &str, name: &str, path: &Path) -> Read<Option<FieldRef>> {
        let mut found = Vec::new();
        let exact = self.ontology.relationship(holder);
        let by_role =
            self.ontology.relationships.iter().filter(|it| it.role.as_deref().is_some_and(|role| same(role, holder)));
        let candidates: Vec<_> = if exact.is_some() { exact.into_iter().collect() } else { by_role.collect() };
        for relationship in candidates {
            let ends = [&relationship.to, &relationship.from];
            let end = ends
                .into_iter()
                .filter_map(|end| dataset(self.ontology, end))
                .find_map(|entity| Some((entity, field_of(entity, name)?)));
            if let Some((entity, field)) = end {
                found.push((
                    relationship,
                    FieldRef { via: vec![relationship.name.clone()], ..FieldRef::new(&entity.name, &field.name) },
                ));
            }
        }
        let about = |name: &String| self.around.datasets.contains(name);
        let narrower: Vec<_> = found.iter().filter(|(relationship, _)| about(&relationship.from)).cloned().collect();
        let found = if narrower.is_empty() { found } else { narrower };
        match found.as_slice() {
            [] => Ok(None),
            [(_, only)] => Ok(Some(only.clone())),
            several => {
                let names = several
                    .iter()
                    .take(CHOICES)
                    .map(|(relationship, field)| format!("{}.{}.{}", relationship.name, field.dataset, field.field));
                Err(Wrong::at(path.at, format!("several relationships are called {}: say which", shown(holder)))
                    .near(names.collect()))
            }
        }
    }

    /// Names of relationships on the way to `holder`. A dataset that is passed through stands for the only one that leads
    /// on from it, where others lead to the next as well.
    fn ways(&self, names: &[String], holder: &str, at: usize) -> Read<Vec<String>> {
        let mut ways = Vec::new();
        let next = names.iter().skip(1).map(String::as_str).chain([holder]);
        for (name, next) in names.iter().zip(next) {
            let passed = dataset(self.ontology, name).filter(|_| self.ontology.relationship(name).is_none());
            match (passed, dataset(self.ontology, next)) {
                (None, _) => ways.push(self.way(name, at)?),
                (Some(passed), Some(next)) => ways.extend(self.leads_on(passed, next).map(|it| it.name.clone())),
                (Some(_), None) => {}
            }
        }
        Ok(ways)
    }

    fn leads_on(&self, from: &Entity, to: &Entity) -> Option<&Relationship> {
        let all = self.ontology.relationships.iter();
        let lead: Vec<&Relationship> = all.filter(|it| it.to.eq_ignore_ascii_case(&to.name)).collect();
        let own = lead.iter().copied().filter(|it| it.from.eq_ignore_ascii_case(&from.name));
        only(own).filter(|_| lead.len() > 1)
    }

    /// A relationship by its name, or by its role where only one has that.
    pub(super) fn way(&self, name: &str, at: usize) -> Read<String> {
        let all = &self.ontology.relationships;
        let by_role = || only(all.iter().filter(|it| it.role.as_deref().is_some_and(|role| same(role, name))));
        let found = self.ontology.relationship(name).or_else(by_role);
        found.map(|it| it.name.clone()).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(|it| it.name.clone()).collect();
            Wrong::at(at, format!("there is no relationship {}", shown(name))).near(nearest(name, &names))
        })
    }

    /// The name of a dataset.
    pub(super) fn dataset(&mut self) -> Read<String> {
        let path = self.path()?;
        let name = path.text();
        let found = dataset(self.ontology, &name).map(|entity| entity.name.clone());
        Ok(found.unwrap_or_else(|| {
            let names: Vec<String> = datasets(self.ontology).map(|entity| entity.name.clone()).collect();
            let wrong = Wrong::at(path.at, format!("there is no dataset {}", shown(&name)));
            self.wrong.push(wrong.near(nearest(&name, &names)));
            name
        }))
    }

    /// What a name that is no thing of the ontology comes near to, whatever kind of thing that is.
    pub(super) fn anything_near(&self, name: &str) -> Vec<String> {
        let metrics = self.ontology.metrics.iter().map(|it| it.name.clone());
        let segments = self.ontology.segments.iter().map(|it| it.name.clone());
        let entities = datasets(self.ontology).map(|it| it.name.clone());
        let all: Vec<String> = metrics.chain(segments).chain(entities).chain(self.all_fields()).collect();
        nearest(name, &all)
    }

    /// The only dataset that the query can be about.
    pub(super) fn the_dataset(&self) -> Option<String> {
        let only_one = || only(self.around.datasets.iter()).cloned();
        let sole = || only(datasets(self.ontology)).map(|entity| entity.name.clone());
        self.around.each.clone().or_else(only_one).or_else(sole)
    }

    pub(super) fn known(&self, field: &FieldRef) -> Option<&'a Field> {
        self.ontology.field(&field.dataset, &field.field)
    }

    /// Whether a field holds times.
    pub(super) fn is_time(&self, field: &FieldRef) -> bool {
        self.known(field).is_some_and(Field::holds_times)
    }
}
