//! What of an ontology is shown: all of it, or what has to do with the words that are looked for and what that needs.

use std::collections::{BTreeMap, BTreeSet};

use super::examples::base;
use super::lines::Sight;
use crate::engine::agent::near::Sought;
use crate::model::ontology::{Entity, Field, FieldRole, Metric, Relationship, Segment};

/// One thing of an ontology.
pub(super) enum Thing<'a> {
    Metric(&'a Metric),
    Segment(&'a Segment),
    /// With the fields that are shown, by name; none means all.
    Dataset(&'a Entity, Option<BTreeSet<String>>),
    Relationship(&'a Relationship),
}

impl Thing<'_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Thing::Metric(metric) => &metric.name,
            Thing::Segment(segment) => &segment.name,
            Thing::Dataset(entity, _) => &entity.name,
            Thing::Relationship(one) => &one.name,
        }
    }
}

pub(super) struct Item<'a> {
    pub thing: Thing<'a>,
    /// The higher is shown first where there is not room for all.
    pub rank: usize,
}

/// What is shown, in the order of the document.
pub(super) struct Picked<'a> {
    pub items: Vec<Item<'a>>,
    /// How many there are of what can be left out.
    narrowed: bool,
}

/// Ranks where nothing is looked for: numbers and where they come from first.
const METRIC: usize = 3;
const DATASET: usize = 2;
const SEGMENT: usize = 2;
const RELATIONSHIP: usize = 1;

impl<'a> Picked<'a> {
    /// `places` are fields (`dataset`, `field`) of values that were found.
    pub(super) fn new(sight: &Sight<'a>, sought: Option<&Sought>, places: &[(String, String)]) -> Self {
        match sought {
            None => Self { items: everything(sight), narrowed: false },
            Some(sought) => Self { items: narrowed(sight, sought, places), narrowed: true },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The metric and the dataset that come first.
    pub(super) fn best(&self) -> (Option<&'a Metric>, Option<&'a Entity>) {
        let mut order: Vec<&Item<'a>> = self.items.iter().collect();
        order.sort_by_key(|item| std::cmp::Reverse(item.rank));
        let metric = order.iter().find_map(|item| match item.thing {
            Thing::Metric(metric) => Some(metric),
            _ => None,
        });
        let dataset = order.iter().find_map(|item| match item.thing {
            Thing::Dataset(entity, _) => Some(entity),
            _ => None,
        });
        (metric, dataset)
    }

    /// What has nothing to do with what is looked for, in a sentence.
    pub(super) fn left_out(&self, sight: &Sight<'_>) -> Option<String> {
        if !self.narrowed {
            return None;
        }
        let count = |is: fn(&Thing<'_>) -> bool| self.items.iter().filter(|item| is(&item.thing)).count();
        let metrics = sight.ontology.metrics.len() - count(|thing| matches!(thing, Thing::Metric(_)));
        let segments = sight.ontology.segments.len() - count(|thing| matches!(thing, Thing::Segment(_)));
        let datasets = sight.datasets().count() - count(|thing| matches!(thing, Thing::Dataset(..)));
        let told = [(metrics, "metrics"), (segments, "segments"), (datasets, "datasets")];
        let told: Vec<String> =
            told.iter().filter(|(count, _)| *count > 0).map(|(count, of)| format!("{count} {of}")).collect();
        (!told.is_empty()).then(|| {
            format!(
                "Not shown, because `about` has no word of them: {}. Leave `about` out to see all.",
                told.join(", ")
            )
        })
    }
}

fn everything<'a>(sight: &Sight<'a>) -> Vec<Item<'a>> {
    let ontology = sight.ontology;
    let mut items: Vec<Item<'a>> = Vec::new();
    items.extend(ontology.metrics.iter().map(|it| Item { thing: Thing::Metric(it), rank: METRIC }));
    items.extend(ontology.segments.iter().map(|it| Item { thing: Thing::Segment(it), rank: SEGMENT }));
    let datasets = ontology.datasets.iter().filter(|entity| !entity.hidden);
    items.extend(datasets.map(|it| Item { thing: Thing::Dataset(it, None), rank: DATASET }));
    let relationships = ontology.relationships.iter().filter(|one| is_seen(one, sight));
    items.extend(relationships.map(|it| Item { thing: Thing::Relationship(it), rank: RELATIONSHIP }));
    items
}

fn is_seen(one: &Relationship, sight: &Sight<'_>) -> bool {
    let seen = |name: &str| sight.ontology.entity(name).is_some_and(|entity| !entity.hidden);
    seen(&one.from) && seen(&one.to)
}

/// Things that the words name or describe; the datasets that these metrics count; what one step from them has a name for
/// its rows; and the relationships between all these.
fn narrowed<'a>(sight: &Sight<'a>, sought: &Sought, places: &[(String, String)]) -> Vec<Item<'a>> {
    let ontology = sight.ontology;
    let mut items: Vec<Item<'a>> = Vec::new();
    let hits = |names: &[&String], synonyms: &[String], description: &str| {
        let names: Vec<&str> =
            names.iter().map(|name| name.as_str()).chain(synonyms.iter().map(String::as_str)).collect();
        sought.hits(&names, description)
    };
    let mut datasets: BTreeMap<String, (usize, Option<BTreeSet<String>>)> = BTreeMap::new();
    for metric in &ontology.metrics {
        let rank = hits(&[&metric.name], &metric.ai.synonyms, &metric.description);
        if rank > 0 {
            items.push(Item { thing: Thing::Metric(metric), rank: rank + METRIC });
            if let Some(entity) = base(metric, ontology) {
                whole(&mut datasets, &entity.name, rank);
            }
        }
    }
    for segment in &ontology.segments {
        let rank = hits(&[&segment.name], &segment.synonyms, "");
        if rank > 0 {
            items.push(Item { thing: Thing::Segment(segment), rank: rank + SEGMENT });
            segment.datasets.iter().for_each(|dataset| part(&mut datasets, dataset, None, rank));
        }
    }
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        let grain = entity.grain.clone().unwrap_or_default();
        let rank = hits(&[&entity.name, &grain], &entity.ai.synonyms, &entity.description);
        if rank > 0 {
            whole(&mut datasets, &entity.name, rank + DATASET);
        }
        for field in entity.fields.iter().filter(|field| !field.hidden) {
            let named = hits(&[&field.name, &field.label], &field.ai.synonyms, &field.description);
            let found = places.iter().any(|(dataset, name)| *dataset == entity.name && *name == field.name);
            let rank = named + if found { 20 } else { 0 };
            if rank > 0 {
                part(&mut datasets, &entity.name, Some(&field.name), rank);
            }
        }
    }
    let near: Vec<String> = ontology
        .relationships
        .iter()
        .filter(|one| datasets.contains_key(&one.from.to_lowercase()))
        .map(|one| one.to.clone())
        .collect();
    for name in near {
        part(&mut datasets, &name, None, 0);
    }
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        let Some((rank, fields)) = datasets.get(&entity.name.to_lowercase()) else { continue };
        let fields = fields.as_ref().map(|fields| with_leading(entity, fields));
        items.push(Item { thing: Thing::Dataset(entity, fields), rank: *rank });
    }
    let between = |one: &&Relationship| {
        is_seen(one, sight) && [&one.from, &one.to].iter().all(|name| datasets.contains_key(&name.to_lowercase()))
    };
    let relationships = ontology.relationships.iter().filter(between);
    items.extend(relationships.map(|it| Item { thing: Thing::Relationship(it), rank: RELATIONSHIP }));
    items
}

/// A dataset with all its fields.
fn whole(datasets: &mut BTreeMap<String, (usize, Option<BTreeSet<String>>)>, name: &str, rank: usize) {
    let known = datasets.entry(name.to_lowercase()).or_insert((rank, None));
    known.0 = known.0.max(rank);
    known.1 = None;
}

/// A dataset with one of its fields, or with those by which its rows are known.
fn part(
    datasets: &mut BTreeMap<String, (usize, Option<BTreeSet<String>>)>,
    name: &str,
    field: Option<&String>,
    rank: usize,
) {
    let known = datasets.entry(name.to_lowercase()).or_insert((rank, Some(BTreeSet::new())));
    known.0 = known.0.max(rank);
    if let Some(fields) = &mut known.1 {
        fields.extend(field.cloned());
    }
}

/// With what rows are called by, their time, and what one groups by.
fn with_leading(entity: &Entity, fields: &BTreeSet<String>) -> BTreeSet<String> {
    let leads = |field: &&Field| {
        let name = Some(&field.name);
        name == entity.label_field.as_ref()
            || name == entity.default_time_field.as_ref()
            || field.role == FieldRole::Dimension && field.is_enum
    };
    let leading = entity.fields.iter().filter(leads).map(|field| field.name.clone());
    fields.iter().cloned().chain(leading).collect()
}
