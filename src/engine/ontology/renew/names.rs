//! What the things of a draft are called in the ontology that stands: people give datasets and fields names of their own.

use std::collections::BTreeMap;

use crate::engine::ontology::expression::{Scalar, renamed};
use crate::model::ontology::{Entity, Field, Link, Metric, Ontology};

/// Names of a draft, and those that stand for them.
pub(super) struct Names<'a> {
    /// By the drafted name in lower case.
    datasets: BTreeMap<String, &'a Entity>,
    draft: &'a Ontology,
}

impl<'a> Names<'a> {
    pub(super) fn new(standing: &'a Ontology, draft: &'a Ontology) -> Self {
        let known = |drafted: &Entity| {
            let same = |entity: &&Entity| entity.table().eq_ignore_ascii_case(drafted.table());
            // Of several over one table the one with all of its rows.
            let whole = standing.datasets.iter().filter(same).find(|entity| entity.row_policy.is_none());
            Some((drafted.name.to_lowercase(), whole.or_else(|| standing.datasets.iter().find(same))?))
        };
        Self { datasets: draft.datasets.iter().filter_map(known).collect(), draft }
    }

    /// Whether a dataset is the one that stands for a drafted one.
    pub(super) fn is(&self, entity: &Entity, drafted: &Entity) -> bool {
        self.datasets.get(&drafted.name.to_lowercase()).is_some_and(|known| std::ptr::eq(*known, entity))
    }

    fn dataset(&self, drafted: &str) -> String {
        self.datasets.get(&drafted.to_lowercase()).map_or_else(|| drafted.to_owned(), |entity| entity.name.clone())
    }

    /// A link of drafted datasets; relationships name columns, whose names stay.
    pub(super) fn link(&self, drafted: &Link) -> Link {
        Link { from: self.dataset(&drafted.from), to: self.dataset(&drafted.to), ..drafted.clone() }
    }

    /// The names of a drafted field in an ontology; `None` for one that is not there.
    fn field(&self, dataset: &str, field: &str, on: &Ontology) -> Option<(String, String)> {
        let drafted = self.draft.field(dataset, field)?;
        let entity = on.entity(&self.dataset(dataset))?;
        let known = entity.fields.iter().find(|known| same_field(known, drafted))?;
        Some((entity.name.clone(), known.name.clone()))
    }

    /// A drafted metric in the names of an ontology; `None` for one that speaks of what is not there.
    pub(super) fn metric(&self, drafted: &Metric, on: &Ontology) -> Option<Metric> {
        let renamed = |text: &String| renamed(text, &mut |dataset, field| self.field(dataset, field, on));
        let time = match drafted.default_time_field.as_ref().map(|field| field.split_once('.')) {
            None => None,
            Some(parts) => {
                let (dataset, field) = parts?;
                let (dataset, field) = self.field(dataset, field, on)?;
                Some(format!("{dataset}.{field}"))
            }
        };
        Some(Metric {
            expression: renamed(&drafted.expression)?,
            filters: drafted.filters.iter().map(renamed).collect::<Option<Vec<String>>>()?,
            default_time_field: time,
            ..drafted.clone()
        })
    }
}

/// The column that a field is, where it is nothing else.
pub(super) fn column(field: &Field) -> Option<String> {
    let scalar = Scalar::parse(&field.expression).ok()?;
    Some(scalar.as_name()?.name.clone())
}

/// Whether a field is what a drafted one is: by its name, or as the same column.
pub(super) fn same_field(known: &Field, drafted: &Field) -> bool {
    known.name.eq_ignore_ascii_case(&drafted.name)
        || column(drafted).is_some_and(|name| column(known).is_some_and(|known| known.eq_ignore_ascii_case(&name)))
}

pub(super) fn same_columns(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.eq_ignore_ascii_case(other))
}

/// Whether two expressions are written alike, but for spaces and case.
pub(super) fn same_text(one: &str, other: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}
