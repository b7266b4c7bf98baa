//! Uploads: files on their way in over as many connections as it takes, and whole ones that wait to be imported. Their bytes
//! come by the tus protocol (tus.io, 1.0), which many programs speak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::uploads::Sender;
pub use crate::engine::uploads::Upload;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Pass};
use crate::model::error::{Error, Result};

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shown {
    pub upload_id: Id<Upload>,
    /// As the file was named.
    pub name: String,
    /// Bytes of the whole.
    pub size: u64,
    /// Bytes that are here; the next ones are sent from there.
    pub offset: u64,
    pub created_at: String,
    /// When it is removed, whole or not.
    pub expires_at: String,
}

impl Shown {
    fn of((upload, offset): (Upload, u64)) -> Self {
        Self {
            upload_id: upload.id,
            name: upload.name,
            size: upload.size,
            offset,
            created_at: rfc3339(upload.created_at),
            expires_at: rfc3339(upload.expires_at),
        }
    }
}

const MANAGE: Info = Info { action: Action::WriteDatasets, cost: Cost::Read, ..Info::MANAGE };

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateUpload {
    /// The file's name; its extension says what it is.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// Its bytes.
    pub size: u64,
}

impl Operation for CreateUpload {
    const INFO: Info = Info {
        name: "create_upload",
        title: "Begin an upload",
        description: "Begins the upload of a file that may be sent over several connections. Send its bytes with PATCH to \
                      /api/v1/uploads/{upload_id} (tus 1.0), then import it by its id. It is kept for a day.",
        route: Route { method: "POST", path: "/uploads" },
        example: r#"{"name":"sales.csv","size":1048576}"#,
        ..MANAGE
    };
    type Reply = Shown;

    fn target(&self) -> String {
        format!("{} {}", self.name, self.size)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Shown> {
        let name: String = self.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(Error::invalid("name", "A file's name has 1 to 200 printable characters."));
        }
        if self.size == 0 {
            return Err(Error::invalid("size", "The file is empty."));
        }
        let (credential, person) = (job.pass.credential(), person(job.pass));
        let sender = Sender { org: job.pass.org(), credential, person: &person };
        let upload = on.engines.uploads.create(sender, name, self.size)?;
        Ok(Shown::of((upload, 0)))
    }
}

/// Whose share an upload is of, however many clients they connect.
fn person(pass: &Pass) -> String {
    pass.user().map_or_else(|| pass.credential().to_owned(), |user| user.to_string())
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListUploads {}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// Those that this credential began, the latest first.
    pub uploads: Vec<Shown>,
}

impl Operation for ListUploads {
    const INFO: Info = Info {
        name: "list_uploads",
        title: "List uploads",
        description: "The caller's own uploads that are under way, or wait to be imported.",
        read_only: true,
        route: Route { method: "GET", path: "/uploads" },
        ..MANAGE
    };
    type Reply = Listed;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Listed> {
        let uploads = on.engines.uploads.list(job.pass.org(), job.pass.credential())?;
        Ok(Listed { uploads: uploads.into_iter().map(Shown::of).collect() })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteUpload {
    pub upload_id: Id<Upload>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    pub upload_id: Id<Upload>,
    pub name: String,
    /// Always true.
    pub deleted: bool,
}

impl Operation for DeleteUpload {
    const INFO: Info = Info {
        name: "delete_upload",
        title: "Remove an upload",
        description: "Removes an upload of the caller's, whole or not. What was imported of it stays.",
        route: Route { method: "DELETE", path: "/uploads/{upload_id}" },
        example: r#"{"upload_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..MANAGE
    };
    type Reply = Deleted;

    fn target(&self) -> String {
        self.upload_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Deleted> {
        let gone = on.engines.uploads.remove(job.pass.org(), job.pass.credential(), self.upload_id)?;
        Ok(Deleted { upload_id: gone.id, name: gone.name, deleted: true })
    }
}
