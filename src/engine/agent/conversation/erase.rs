//! What questions over a dataset left, and its end when the dataset is erased.

use super::Questions;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::store;
use crate::store::tenant::Scoped;

impl Questions {
    /// What has to be known before anything is erased: which tables texts use of which that is not known yet. Texts are
    /// long, and nothing is read while others wait for the turn to write.
    ///
    /// # Errors
    /// The database fails.
    pub async fn before_erasing(&self, org: Id<Org>) -> Result<()> {
        self.library.find_tables(org).await
    }

    /// Erases what came from a dataset: how questions over it were answered, conversations, what was remembered and what
    /// comparisons found, of every ontology that has or had its table. They hold values of rows: compared with in
    /// statements, suggested, chosen, added up. What people wrote into the ontologies stays. `unattest` is for the moment
    /// of the deletion: later somebody may have imported another table under the name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn erase(&self, tx: &mut Scoped, of: &Dataset, unattest: bool) -> Result<()> {
        for (id, is_newest) in self.library.using(tx, of.org, &of.name).await? {
            store::questions::erase(tx, of.org, id).await?;
            if is_newest && unattest {
                let problem = format!("Its table `{}` was deleted.", of.name);
                store::ontologies::unattest(tx, of.org, id, &problem).await?;
            }
        }
        Ok(())
    }

    /// Drops the values of a dataset that are kept in memory to be recognised.
    pub fn let_go(&self, of: &Dataset) {
        self.ready.forget(of.org, of);
    }
}
