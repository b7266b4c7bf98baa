//! Removal of one document from its dataset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::ingest::Edit;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::Dataset;
use crate::model::document::{Changes, Document};
use crate::model::error::{Code, Error, Result};
use crate::model::version::How;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteDocument {
    pub dataset_id: Id<Dataset>,
    pub document_id: Id<Document>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    pub document_id: Id<Document>,
    pub title: String,
    pub documents: Changes,
}

impl Operation for DeleteDocument {
    const INFO: Info = Info {
        name: "delete_document",
        title: "Remove a document",
        description: "Removes one document from its dataset: nobody finds or reads it any more. The version before it is kept \
                      like any other, and can be restored or deleted for good. One that is kept from elsewhere comes back \
                      with the next run, as long as its row or page is there.",
        action: Action::DeleteDatasets,
        cost: Cost::Read,
        recorded_as: Some("admin.document.delete"),
        route: Route { method: "DELETE", path: "/datasets/{dataset_id}/documents/{document_id}" },
        time: |_| std::time::Duration::from_secs(300),
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","document_id":"01936f2e-7c1a-7000-8000-000000000002"}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        Want::One(self.dataset_id)
    }

    fn target(&self) -> String {
        format!("{} {}", self.dataset_id, self.document_id)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let document = on.engines.catalog.document(job, self.document_id).await?;
        let dataset = job.pass.dataset(self.dataset_id)?;
        if document.dataset != dataset.id {
            return Err(Error::new(Code::DocumentNotFound, "This document is not one of the dataset."));
        }
        let edit = Edit {
            name: dataset.name.clone(),
            texts: vec![],
            gone: [document.id].into(),
            how: How::Remove,
            source: document.source_file,
            sync: None,
        };
        let (_, documents) = on.engines.ingest.edit(job, edit).await?;
        Ok(Reply { dataset_id: dataset.id, document_id: document.id, title: document.title, documents })
    }
}
