//! The datasets of a workspace as the two kinds of callers see them.

use std::sync::Arc;

use crate::model::dataset::Dataset;
use crate::model::org::Org;

/// Candidates for a pass: made once, and looked at by every call until something changes.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub org: Org,
    /// Sorted by name.
    inside: Arc<[Dataset]>,
    /// Those that are published, without the columns that are hidden from external clients.
    outside: Arc<[Dataset]>,
}

impl Catalogue {
    /// What nobody may see is dropped here: datasets of another workspace, and those that are deleted or not ready.
    pub fn new(org: Org, mut datasets: Vec<Dataset>) -> Self {
        datasets.retain(|dataset| dataset.org == org.id && dataset.is_ready());
        datasets.sort_by(|a, b| a.name.cmp(&b.name));
        let published = datasets.iter().filter(|dataset| dataset.externally_queryable).cloned();
        let outside = published.map(|dataset| dataset.seen(true)).collect();
        let inside = datasets.into_iter().map(|dataset| dataset.seen(false)).collect();
        Self { org, inside, outside }
    }

    /// How many datasets are kept, those that are seen in two ways twice; each sixteen columns are as much as one more.
    pub fn size(&self) -> usize {
        self.inside.iter().chain(&*self.outside).map(|dataset| 1 + dataset.columns.len() / 16).sum()
    }

    pub(super) fn seen(&self, external: bool) -> Arc<[Dataset]> {
        if external { self.outside.clone() } else { self.inside.clone() }
    }
}
