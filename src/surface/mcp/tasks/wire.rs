//! Tasks as the protocol writes them, and what is kept of their outcomes.

use rmcp::model::{DetailedTask, InputRequests, JsonObject, TaskPayload, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::{Millis, rfc3339};
use crate::gateway::tasks::LOOK;
use crate::model::access::Rights;
use crate::model::error::{Code, Error};
use crate::model::task::{Status, Task};
use crate::surface::mcp::resources::protocol_error;

/// What is kept of a task besides its state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Asked(Asked),
    /// The tool's result.
    Result(JsonObject),
    /// A JSON-RPC error.
    Error(JsonObject),
}

/// What a task waits for, and what it takes to go on from there.
#[derive(Serialize, Deserialize)]
pub(super) struct Asked {
    /// The key of the one form, which no other round of the task has.
    pub key: String,
    pub requests: InputRequests,
    /// What the tool was called with at first.
    pub arguments: JsonObject,
    /// What the answer belongs to.
    pub conversation: String,
    /// What the caller might do when the task began: its upper bound for good.
    pub rights: Rights,
    /// Counts the forms, from 1.
    pub round: u32,
}

/// The state of a task.
pub(super) fn task(task: &Task) -> rmcp::model::Task {
    let status = match task.status {
        Status::Working => TaskStatus::Working,
        Status::InputRequired => TaskStatus::InputRequired,
        Status::Completed => TaskStatus::Completed,
        Status::Failed => TaskStatus::Failed,
        Status::Cancelled => TaskStatus::Cancelled,
    };
    let (created, updated) = (rfc3339(task.created_at), rfc3339(task.updated_at));
    let mut told = rmcp::model::Task::new(task.id.clone(), status, created, updated)
        .with_ttl_ms(whole(task.expires_at - task.created_at))
        // What is asked more often than a process looks after its tasks says nothing new.
        .with_poll_interval_ms(u64::try_from(LOOK.as_millis()).unwrap_or(u64::MAX));
    told.status_message = (!task.message.is_empty()).then(|| task.message.clone());
    told
}

/// The state of a task, and what it came to.
pub(super) fn detailed(state: &Task, outcome: Option<Outcome>, request_id: &str) -> DetailedTask {
    let payload = match (state.status, outcome) {
        (Status::Working, _) => TaskPayload::Working,
        (Status::Cancelled, _) => TaskPayload::Cancelled,
        (Status::InputRequired, Some(Outcome::Asked(asked))) => {
            TaskPayload::InputRequired { input_requests: asked.requests }
        }
        (Status::Completed, Some(Outcome::Result(result))) => TaskPayload::Completed { result },
        (Status::Failed, Some(Outcome::Error(error))) => TaskPayload::Failed { error },
        (Status::Failed, _) => {
            let left = Error::new(Code::ServiceUnavailable, state.message.clone());
            TaskPayload::Failed { error: error(&left, request_id) }
        }
        (Status::InputRequired | Status::Completed, _) => {
            let closed = Error::internal("what a task came to cannot be opened");
            TaskPayload::Failed { error: error(&closed, request_id) }
        }
    };
    DetailedTask::new(task(state), payload)
}

/// An error as it stands in a task that failed.
pub(super) fn error(error: &Error, request_id: &str) -> JsonObject {
    match serde_json::to_value(protocol_error(error, request_id)) {
        Ok(Value::Object(error)) => error,
        _ => JsonObject::new(),
    }
}

fn whole(span: Millis) -> u64 {
    u64::try_from(span).unwrap_or(0)
}
