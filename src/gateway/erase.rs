//! The end of a workspace, at the operator's word.

use super::Gateway;
use crate::engine::datasets::workspace::Erased;
use crate::model::caller::Caller;
use crate::model::error::{Error, Result};

impl Gateway {
    /// Erases the workspace of the caller, who is its operator.
    ///
    /// # Errors
    /// As [`crate::engine::datasets::Datasets::erase_workspace`].
    pub async fn erase_workspace(&self, caller: &Caller) -> Result<Erased> {
        let _call = self.audit.begin()?;
        let org = self.parts.identity.org(caller.org).await?.ok_or_else(|| Error::not_found("workspace"))?;
        // Before anything goes: the record is what tells later whose the workspace was.
        self.record(caller, "admin.workspace.erase", &org.slug).await?;
        let erased = self.parts.engines.datasets.erase_workspace(org.id).await;
        self.sights.changed(org.id);
        erased
    }
}
