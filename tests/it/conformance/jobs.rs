//! The suite's tools that go on after their client was given a handle (SEP-2663). They run on the library's own tasks, in
//! memory: the product's, which are kept and owned, have tests of their own. Here it is the way to them that is tried,
//! through the same guards and settings.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult,
    InputRequest, InputResponses,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::fixture::{asking, failed, filled, form, text, typed};

/// The tasks of all instances.
#[derive(Clone, Default)]
pub struct Jobs(pub TaskManager);

/// The names of these tools.
pub const NAMES: [&str; 7] = [
    "confirm_delete", "failing_job", "greet", "multi_input", "protocol_error_job", "slow_compute",
    "test_tool_with_task",
];

impl Jobs {
    /// Answers a call of one of these tools; `None` for others.
    pub async fn call(
        &self,
        request: &CallToolRequestParams,
        context: &rmcp::service::RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let name = NAMES.into_iter().find(|name| *name == request.name)?;
        let argument =
            |name: &str| request.arguments.as_ref().and_then(|all| all.get(name)).cloned().unwrap_or_default();
        let knows = context.client_capabilities().is_some_and(|can| can.supports_tasks());
        let seconds = Duration::from_secs_f64(argument("seconds").as_f64().unwrap_or(0.0));
        Some(match name {
            "greet" => text(format!("Hello, {}!", argument("name").as_str().unwrap_or("stranger"))),
            "slow_compute" if !knows || seconds.is_zero() => {
                tokio::time::sleep(seconds).await;
                text("Computed.")
            }
            "failing_job" if !knows => {
                let needed = ClientCapabilities::builder().enable_tasks().build();
                Err(ErrorData::missing_required_client_capability(needed))
            }
            _ if !knows => text("Nothing was done: the client does not know tasks."),
            "slow_compute" => self.begin(move |task| Box::pin(slow(task, seconds))),
            "failing_job" => self.begin(|_| Box::pin(failing())),
            "protocol_error_job" => {
                let broken = || TaskExit::Error(ErrorData::internal_error("The job broke off.", None));
                self.begin(move |_| Box::pin(async move { Err(broken()) }))
            }
            "confirm_delete" => self.begin(|task| Box::pin(confirmed(task))),
            "multi_input" => self.begin(|task| Box::pin(several(task))),
            _ => match named(request.input_responses.as_ref()) {
                Some(name) => self.begin(move |_| Box::pin(async move { Ok(said(&format!("Hello, {name}!"))) })),
                None => Ok(asking(json!({ "user_name": form("What is your name?", "name", "string") }), None).into()),
            },
        })
    }

    fn begin(&self, work: impl FnOnce(TaskContext) -> TaskFuture) -> Result<CallToolResponse, ErrorData> {
        Ok(CreateTaskResult::new(self.0.spawn(TaskOptions::new(), work)).into())
    }
}

fn said(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn named(responses: Option<&InputResponses>) -> Option<String> {
    filled(responses, "user_name", "name")?.as_str().map(str::to_owned)
}

async fn slow(task: TaskContext, time: Duration) -> Result<CallToolResult, TaskExit> {
    tokio::select! {
        () = task.cancelled() => Err(TaskExit::Cancelled),
        () = tokio::time::sleep(time) => Ok(said("Computed.")),
    }
}

async fn failing() -> Result<CallToolResult, TaskExit> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    match failed("This job always fails.") {
        Ok(CallToolResponse::Complete(result)) => Ok(result),
        _ => unreachable!("a failure is a result"),
    }
}

fn question(message: &str, field: &str, kind: &str) -> InputRequest {
    typed(form(message, field, kind))
}

async fn confirmed(task: TaskContext) -> Result<CallToolResult, TaskExit> {
    let answer: Value = task.request_input("confirm", question("Delete it?", "confirm", "boolean")).await?;
    Ok(said(if answer["content"]["confirm"] == true { "Deleted." } else { "Left as it is." }))
}

async fn several(task: TaskContext) -> Result<CallToolResult, TaskExit> {
    let name = task.request_input("name", question("Who is it?", "name", "string"));
    let sure = task.request_input("sure", question("Sure?", "confirm", "boolean"));
    let (name, sure) = tokio::join!(name, sure);
    Ok(said(&json!([name?, sure?]).to_string()))
}
