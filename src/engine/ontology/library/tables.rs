//! Which tables the texts of a workspace's ontologies use: found out when a text is saved, so that it is known by name
//! when a table goes, and when it is asked who may see an ontology.

use std::collections::HashMap;

use super::{Library, Visible};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::ontology::covered::Covered;
use crate::engine::ontology::read;
use crate::engine::ontology::visible::unseen;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Ontology, StoredOntology};
use crate::model::org::Org;
use crate::store;
use crate::store::ontology_tables::{ANY, NONE};
use crate::store::tenant::Scoped;

/// The names under which a text is found; `None` for one that cannot be read.
pub(super) fn names(of: Option<&Ontology>) -> Vec<String> {
    let Some(ontology) = of else { return vec![ANY.into()] };
    let mut names: Vec<String> = ontology.datasets.iter().map(|it| it.table().to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { vec![NONE.into()] } else { names }
}

/// What the newest texts use, as far as it is known.
pub(super) struct Newest(HashMap<Id<StoredOntology>, Vec<String>>);

impl Newest {
    /// Whether it is known that the caller sees no table of an ontology.
    pub(super) fn none_seen(&self, covered: &Covered, id: Id<StoredOntology>) -> bool {
        self.known(id).is_some_and(|names| names.iter().all(|name| !covered.has(name)))
    }

    /// Whether it is known that the caller does not see all tables of an ontology.
    pub(super) fn some_unseen(&self, covered: &Covered, id: Id<StoredOntology>) -> bool {
        self.known(id).is_some_and(|names| names.iter().any(|name| name != NONE && !covered.has(name)))
    }

    /// The tables of an ontology, in small letters; none where they are not known.
    pub(super) fn names(&self, id: Id<StoredOntology>) -> Vec<String> {
        self.known(id).unwrap_or_default().iter().filter(|name| *name != NONE).cloned().collect()
    }

    /// A text that could not be read is looked at again: another release may read it.
    fn known(&self, id: Id<StoredOntology>) -> Option<&[String]> {
        self.0.get(&id).map(Vec::as_slice).filter(|names| !names.iter().any(|name| name == ANY))
    }
}

impl Library {
    /// Finds out which tables texts use that were saved before this was kept with them. Each is read once, outside of any
    /// transaction.
    ///
    /// # Errors
    /// The database fails.
    pub async fn find_tables(&self, org: Id<Org>) -> Result<()> {
        let unknown = store::ontology_tables::unknown(&mut self.db.read_tenant(org).await?, org).await?;
        for it in unknown {
            let text = {
                let mut read = self.db.read_tenant(org).await?;
                store::ontologies::text(&mut read, org, it.ontology, it.version).await?
            };
            let Some(text) = text else { continue };
            let found = move || names(read::read(&text).ok().map(|document| document.ontology).as_ref());
            let names = tokio::task::spawn_blocking(found).await.map_err(Error::internal)?;
            let mut tx = self.db.tenant(org).await?;
            store::ontology_tables::set(&mut tx, org, it.ontology, it.version, &names).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// The ontologies of a workspace any kept version of which has this table; those that cannot be read, or were not yet
    /// ([`Library::find_tables`]), count as if they had. With whether the newest has it.
    ///
    /// # Errors
    /// The database fails.
    pub async fn using(&self, on: &mut Scoped, org: Id<Org>, table: &str) -> Result<Vec<(Id<StoredOntology>, bool)>> {
        let mut all = store::ontology_tables::using(on, org, table).await?;
        all.extend(store::ontology_tables::unknown(on, org).await?);
        let mut using: Vec<(Id<StoredOntology>, bool)> = Vec::new();
        for it in all {
            match using.iter_mut().find(|(known, _)| *known == it.ontology) {
                Some((_, is_newest)) => *is_newest |= it.is_newest,
                None => using.push((it.ontology, it.is_newest)),
            }
        }
        Ok(using)
    }

    /// What of an ontology the caller does not see, by the names of [`unseen`].
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn unseen(&self, job: &Job<'_>, of: &Visible) -> Result<Vec<String>> {
        let stored = self.stored(job.pass.org(), of.stored.id).await?;
        let whole = self.parsed(&stored).await?.ok_or_else(Error::ontology_not_found)?;
        Ok(unseen(&whole, &of.ontology))
    }

    /// What the newest texts of the caller's workspace use.
    pub(super) async fn newest_tables(&self, org: Id<Org>) -> Result<Newest> {
        let mut newest: HashMap<Id<StoredOntology>, Vec<String>> = HashMap::new();
        for (id, name) in store::ontology_tables::newest(&mut self.db.read_tenant(org).await?, org).await? {
            newest.entry(id).or_default().push(name);
        }
        Ok(Newest(newest))
    }
}
