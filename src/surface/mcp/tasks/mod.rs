//! Tasks (MCP extension `io.modelcontextprotocol/tasks`, SEP-2663, of revision 2026-07-28): long calls of clients that
//! declare it, answered with a handle and asked for later. What a task is, whose, and for how long: `gateway/tasks.rs`.
//!
//! The service decides which calls become tasks, by time alone, and whatever tool is called: the work begins at once, and
//! what is over within [`WAIT`] is answered as it always was, with nothing kept. Only then the client gets a handle, and the
//! same work goes on: nothing is begun twice. Until then a client that leaves ends its call, as everywhere; from then on
//! `tasks/cancel` does. Clients without the extension wait for their answers, and so does who has as many tasks as may be.
//!
//! A task that asks its person something waits without a process: whichever node gets the answer goes on with it. A call
//! is on the record when it ends, with its own outcome, as any other.

mod wire;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{CreateTaskResult, ElicitResult, ErrorCode, GetTaskResult, InputResponses, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::wire::{Asked, Outcome};
use self::work::{Call, Work};
use super::Shared;
use super::asking::{FORM, resumed, shows_forms};
use super::compat::is_modern;
use super::resources::protocol_error;
use super::written::Written;
use crate::base::secret::random_token;
use crate::gateway::operation::Operation as _;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::model::task::{Status, Task};
use crate::ops::ask_question::AskQuestion;

/// How long a call may take before its client gets a handle for it. Nearly every call is over by then, and needs no second
/// request; and no host that knows tasks has given up waiting.
const WAIT: Duration = Duration::from_secs(3);
/// The longest that the end of the service waits for its tasks to say that they are stopped.
const STOPPING: Duration = Duration::from_secs(5);

/// The tasks that this process works on.
pub(super) struct Tasks {
    /// Names the process in the leases of its tasks.
    node: String,
    /// What stops each of them.
    at_work: Mutex<HashMap<String, CancellationToken>>,
    running: TaskTracker,
    stop: CancellationToken,
}

/// What became of a call within [`WAIT`].
pub(super) enum Begun {
    Over(Written),
    Task(CreateTaskResult),
}

/// Whether the client of a request knows tasks.
pub(super) fn are_known(context: &RequestContext<RoleServer>) -> bool {
    is_modern(context) && context.client_capabilities().is_some_and(|can| can.supports_tasks())
}

impl Tasks {
    pub(super) fn new() -> Self {
        Self {
            node: random_token("").expose().to_owned(),
            at_work: Mutex::default(),
            running: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    fn at_work(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all that this process works on, and waits until it is said of each, for the end of the service.
    pub(super) async fn finish(&self) {
        self.stop.cancel();
        self.running.close();
        if tokio::time::timeout(STOPPING, self.running.wait()).await.is_err() {
            tracing::warn!("tasks were still running after {} s", STOPPING.as_secs());
        }
    }
}

/// Calls a tool for a client that knows tasks.
pub(super) async fn begin(
    shared: &Arc<Shared>,
    caller: &Caller,
    tool: &str,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Begun {
    let call = Call {
        tool: tool.to_owned(),
        caller: caller.clone(),
        arguments,
        answered: None,
        forms: shows_forms(context) && tool == AskQuestion::INFO.name,
        round: 1,
    };
    let mut work = Work::start(shared, call, Some(context));
    // Whoever waits here and is given up, gives up the work.
    let stops = work.cancel.clone().drop_guard();
    tokio::select! {
        () = tokio::time::sleep(WAIT) => {}
        over = work.over_or_left(&context.ct) => return Begun::Over(over),
    }
    let begun = shared.gateway.begin_task(caller, tool, &work.said.last(), &shared.tasks.node).await;
    // Without a place, or where the database fails, the answer comes as it does to other clients.
    let Ok(Some(task)) = begun else { return Begun::Over(work.over_or_left(&context.ct).await) };
    stops.disarm();
    let created = CreateTaskResult::new(wire::task(&task));
    work::keep(shared, work, task);
    Begun::Task(created)
}

/// How far a task is, and what it came to, which is on the record first.
///
/// # Errors
/// `not_found`, also when something of what it was made of is open to the caller no more; the refusals of whoever may no
/// longer do what the task does.
pub(super) async fn get(shared: &Shared, caller: &Caller, id: &str) -> Result<GetTaskResult> {
    let task = readable(shared, caller, id).await?;
    let outcome = shared.gateway.outcome_of(caller, &task);
    if outcome.is_some() {
        // Whenever data leave: the call itself may have been long ago.
        shared.gateway.record(caller, "mcp.task.get", &task.tool).await?;
    }
    Ok(GetTaskResult::new(wire::detailed(&task, outcome, &caller.request_id)))
}

/// Gives a task the answers that it waits for. Those that it does not wait for are ignored (SEP-2663).
///
/// # Errors
/// As [`get`], and `invalid_argument` for an answer that is none.
pub(super) async fn update(
    shared: &Arc<Shared>,
    caller: &Caller,
    id: &str,
    responses: &InputResponses,
    forms: bool,
) -> Result<()> {
    let task = readable(shared, caller, id).await?;
    let outcome = shared.gateway.outcome_of(caller, &task).filter(|_| task.status == Status::InputRequired);
    let Some(Outcome::Asked(Asked { key, arguments, conversation, rights, round, .. })) = outcome else {
        return Ok(());
    };
    let Some(answer) = responses.get(&key) else { return Ok(()) };
    if serde_json::from_value::<ElicitResult>(answer.clone()).is_err() {
        let message = format!(
            "inputResponses.{key} is the answer to a form: an object with action (accept, decline or cancel) and, where it \
             is accept, content."
        );
        return Err(Error::invalid("inputResponses", message));
    }
    let Some(task) = shared.gateway.resume_task(&task, &shared.tasks.node).await? else { return Ok(()) };
    let answers: InputResponses = [(FORM.to_owned(), answer.clone())].into();
    let answered = resumed(arguments.clone(), Some(&conversation), Some(&answers));
    let caller = caller.clone().bounded(rights);
    let call = Call { tool: task.tool.clone(), caller, arguments, answered: Some(answered), forms, round: round + 1 };
    work::keep(shared, Work::start(shared, call, None), task);
    Ok(())
}

/// Has a task stop: at once where this process works on it, at its next look where another does. Whoever began it may
/// stop it, whatever they may still do.
///
/// # Errors
/// `not_found`; the database fails.
pub(super) async fn cancel(shared: &Shared, caller: &Caller, id: &str) -> Result<()> {
    let task = shared.gateway.task(caller, id).await?;
    if !matches!(task.status, Status::Working | Status::InputRequired) {
        return Ok(());
    }
    shared.gateway.cancel_task(&task).await?;
    if let Some(work) = shared.tasks.at_work().get(&task.id) {
        work.cancel();
    }
    shared.gateway.record(caller, "mcp.task.cancel", &task.tool).await
}

/// The answer to a request about a task; a refusal is on the record first. A task that there is not is a parameter that is
/// wrong (SEP-2663).
///
/// # Errors
/// The refusal, as the protocol writes it.
pub(super) async fn told<T>(shared: &Shared, caller: &Caller, method: &str, answer: Result<T>) -> Result<T, ErrorData> {
    let error = match answer {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    let recorded = shared.gateway.refused(caller, "mcp.task", method, &error).await;
    recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
    let mut told = protocol_error(&error, &caller.request_id);
    if error.code == Code::NotFound {
        told.code = ErrorCode::INVALID_PARAMS;
    }
    Err(told)
}

/// A task of a caller who may still do what it does, which a tool that was taken away does no more, and may still see
/// what it saw.
async fn readable(shared: &Shared, caller: &Caller, id: &str) -> Result<Task> {
    let task = shared.gateway.task(caller, id).await?;
    let entry = shared.tools.get(&task.tool).ok_or_else(|| Error::not_found("tool"))?;
    shared.gateway.may_read(caller, entry.action, &task).await?;
    Ok(task)
}
