//! Tasks as the protocol writes them, and what is kept of their outcomes.

use rmcp::model::{DetailedTask, InputRequests, JsonObject, TaskPayload, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::{Millis, rfc3339, whole_millis};
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
        .with_poll_interval_ms(whole_millis(LOOK));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn state(status: Status, message: &str) -> Task {
        Task {
            org: "01936f2e-7c1a-7000-8000-000000000001".parse().unwrap(),
            id: "t".into(),
            credential: "c".into(),
            tool: "dragoman_sql".into(),
            status,
            message: message.into(),
            outcome: None,
            seen: vec![],
            node: "n".into(),
            leased_until: 0,
            created_at: 1_000,
            updated_at: 2_000,
            expires_at: 61_000,
        }
    }

    #[test]
    fn a_task_is_told_in_the_words_of_the_protocol() {
        let told = serde_json::to_value(task(&state(Status::InputRequired, ""))).unwrap();
        let expected = serde_json::json!({
            "taskId": "t", "status": "input_required", "createdAt": "1970-01-01T00:00:01.000Z",
            "lastUpdatedAt": "1970-01-01T00:00:02.000Z", "ttlMs": 60_000, "pollIntervalMs": 2_000,
        });
        assert_eq!(told, expected);
    }

    /// What was kept under another key, or was left by its process, is told as it is: there is nothing to show.
    #[test]
    fn what_cannot_be_shown_has_failed_and_says_why() {
        for (status, code, said) in [
            (Status::Failed, "service_unavailable", "Left."),
            (Status::Completed, "internal_error", "failed to answer"),
            (Status::InputRequired, "internal_error", "failed to answer"),
        ] {
            let told = detailed(&state(status, "Left."), None, "r-1");
            let TaskPayload::Failed { error } = &told.payload else { panic!("{told:?}") };
            assert_eq!(told.status(), TaskStatus::Failed);
            let error = serde_json::to_value(error).unwrap();
            assert_eq!((&error["code"], &error["data"]["error"]["code"]), (&Value::from(-32603), &Value::from(code)));
            assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        }
    }

    #[test]
    fn an_outcome_is_read_as_it_was_kept() {
        let result = serde_json::json!({ "rows": [[0.30000000000000004, 9_007_199_254_740_993_i64]] });
        let kept = Outcome::Result(result.as_object().unwrap().clone());
        let text = serde_json::to_string(&kept).unwrap();
        let Outcome::Result(read) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
        assert_eq!(Value::Object(read).to_string(), result.to_string());
    }
}
