//! What the things of a draft are called in the ontology that stands: people give datasets and fields names of their own.

use std::collections::{BTreeMap, HashMap};

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
            Some((drafted.name.to_ascii_lowercase(), whole.or_else(|| standing.datasets.iter().find(same))?))
        };
        Self { datasets: draft.datasets.iter().filter_map(known).collect(), draft }
    }

    /// Whether a dataset is the one that stands for a drafted one.
    pub(super) fn is(&self, entity: &Entity, drafted: &Entity) -> bool {
        self.datasets.get(&drafted.name.to_ascii_lowercase()).is_some_and(|known| std::ptr::eq(*known, entity))
    }

    fn dataset(&self, drafted: &str) -> String {
        self.datasets
            .get(&drafted.to_ascii_lowercase())
            .map_or_else(|| drafted.to_owned(), |entity| entity.name.clone())
    }

    /// A link of drafted datasets; relationships name columns, whose names stay.
    pub(super) fn link(&self, drafted: &Link) -> Link {
        Link { from: self.dataset(&drafted.from), to: self.dataset(&drafted.to), ..drafted.clone() }
    }

    /// What stands for each drafted field, `dataset.field`, of those that are in an ontology.
    pub(super) fn fields(&self, on: &Ontology) -> Renamed {
        let mut all = HashMap::new();
        for drafted in &self.draft.datasets {
            let Some(entity) = on.entity(&self.dataset(&drafted.name)) else { continue };
            let fields = Fields::of(entity);
            for field in &drafted.fields {
                if let Some(known) = fields.find(field).and_then(|at| entity.fields.get(at)) {
                    let drafted = (drafted.name.to_ascii_lowercase(), field.name.to_ascii_lowercase());
                    all.insert(drafted, (entity.name.clone(), known.name.clone()));
                }
            }
        }
        Renamed(all)
    }
}

/// The names of drafted fields in an ontology.
pub(super) struct Renamed(HashMap<(String, String), (String, String)>);

impl Renamed {
    fn field(&self, dataset: &str, field: &str) -> Option<(String, String)> {
        self.0.get(&(dataset.to_ascii_lowercase(), field.to_ascii_lowercase())).cloned()
    }

    /// A drafted metric in these names; `None` for one that speaks of what is not there.
    pub(super) fn metric(&self, drafted: &Metric) -> Option<Metric> {
        let renamed = |text: &String| renamed(text, &mut |dataset, field| self.field(dataset, field));
        let time = match drafted.default_time_field.as_ref().map(|field| field.split_once('.')) {
            None => None,
            Some(parts) => {
                let (dataset, field) = parts?;
                let (dataset, field) = self.field(dataset, field)?;
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

/// The fields of a dataset by their names and by the columns that they are, in lower case.
pub(super) struct Fields {
    names: HashMap<String, usize>,
    columns: HashMap<String, usize>,
}

impl Fields {
    pub(super) fn of(entity: &Entity) -> Self {
        let (mut names, mut columns) = (HashMap::new(), HashMap::new());
        for (at, field) in entity.fields.iter().enumerate() {
            names.entry(field.name.to_ascii_lowercase()).or_insert(at);
            if let Some(column) = column(field) {
                columns.entry(column.to_ascii_lowercase()).or_insert(at);
            }
        }
        Self { names, columns }
    }

    /// Where the field stands that a drafted one is: by its name, or as the same column.
    pub(super) fn find(&self, drafted: &Field) -> Option<usize> {
        let by_name = self.names.get(&drafted.name.to_ascii_lowercase());
        let by_column = column(drafted).and_then(|column| self.columns.get(&column.to_ascii_lowercase()));
        by_name.into_iter().chain(by_column).min().copied()
    }

    pub(super) fn has_column(&self, column: &str) -> bool {
        self.columns.contains_key(&column.to_ascii_lowercase())
    }
}

/// The column that a field is, where it is nothing else.
pub(super) fn column(field: &Field) -> Option<String> {
    let scalar = Scalar::parse(&field.expression).ok()?;
    Some(scalar.as_name()?.name.clone())
}

/// Whether two expressions are written alike, but for spaces and case.
pub(super) fn same_text(one: &str, other: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}
