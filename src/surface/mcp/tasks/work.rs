//! The work on a task: begun within a request, looked after until it ends, and what became of it kept.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rmcp::RoleServer;
use rmcp::model::{ElicitRequest, InputRequest, JsonObject};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::wire::{self, Asked, Outcome};
use crate::gateway::Via;
use crate::gateway::tasks::{CANCELLED, Ending, Hold, LEASE, LOOK};
use crate::model::access::Pass;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::model::task::{Seen, Status, Task};
use crate::surface::mcp::Shared;
use crate::surface::mcp::asking::{FORM, form};
use crate::surface::mcp::progress::{Said, outliving};
use crate::surface::mcp::tools::CALL;
use crate::surface::mcp::written::Written;

/// Said of a task whose process is told to end.
const STOPPED: &str = "The service was stopped before this was done, and nothing of it was kept. Call the tool again.";

/// A call of a tool that may go on as a task.
#[derive(Clone)]
pub(super) struct Call {
    pub tool: String,
    pub caller: Caller,
    /// What the client called with.
    pub arguments: JsonObject,
    /// The same with a person's answer, where there is one.
    pub answered: Option<JsonObject>,
    /// Whether the tool asks back, and the client shows forms.
    pub forms: bool,
    /// Counts the calls of a task, from 1: each may end in a form.
    pub round: u32,
}

/// A call that runs.
pub(super) struct Work {
    call: Call,
    running: JoinHandle<Written>,
    /// What it may read, once it has begun to.
    pass: Arc<OnceLock<Pass>>,
    /// Stops it.
    pub cancel: CancellationToken,
    /// What it says of its progress.
    pub said: Said,
}

impl Work {
    pub(super) fn start(shared: &Arc<Shared>, call: Call, context: Option<&RequestContext<RoleServer>>) -> Self {
        let (cancel, said, pass) = (CancellationToken::new(), Said::default(), Arc::default());
        let via = outliving(CALL, context, cancel.clone(), said.clone());
        let via = Via { pass: Some(Arc::clone(&pass)), ..via };
        let (all, Call { tool, caller, arguments, answered, .. }) = (shared.clone(), call.clone());
        let running = shared.tasks.running.spawn(async move {
            let request_id = caller.request_id.clone();
            match all.tools.get(&tool) {
                Some(entry) => entry.call(all.gateway.clone(), caller, answered.unwrap_or(arguments), via).await,
                None => Written::failure(&Error::not_found("tool"), &request_id),
            }
        });
        Self { call, running, pass, cancel, said }
    }

    /// What the call came to.
    async fn over(&mut self) -> Written {
        let ended = (&mut self.running).await;
        ended.unwrap_or_else(|broken| Written::failure(&Error::internal(broken), &self.call.caller.request_id))
    }

    /// What the call came to, or what it comes to when whoever waits for it has left.
    pub(super) async fn over_or_left(&mut self, left: &CancellationToken) -> Written {
        let cancel = self.cancel.clone();
        tokio::select! {
            over = self.over() => return over,
            () = left.cancelled() => cancel.cancel(),
        }
        self.over().await
    }
}

/// Looks after a task until its work ends.
pub(super) fn keep(shared: &Arc<Shared>, mut work: Work, mut task: Task) {
    let shared = shared.clone();
    shared.tasks.at_work().insert(task.id.clone(), work.cancel.clone());
    let tracker = shared.tasks.running.clone();
    tracker.spawn(async move {
        let (over, stopped) = looked_after(&shared, &mut work, &mut task).await;
        task.seen = work.pass.get().map(Seen::by).unwrap_or_default();
        ended(&shared, &work.call.caller, &task, ending(&work, &over, stopped)).await;
        shared.tasks.at_work().remove(&task.id);
    });
}

/// Keeps what became of a task. A database that is away may be back before the lease is over.
async fn ended(shared: &Shared, caller: &Caller, task: &Task, became: (Status, String, Option<Outcome>)) {
    let (status, message, outcome) = became;
    let begun = Instant::now();
    loop {
        let ending = Ending { status, message: &message, outcome: outcome.as_ref() };
        let Err(problem) = shared.gateway.end_task(caller, task, ending).await else { return };
        if begun.elapsed() > LEASE || shared.tasks.stop.is_cancelled() {
            return tracing::error!(%problem, "what became of a task could not be kept");
        }
        tracing::warn!(%problem, "what became of a task could not be kept yet");
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = shared.tasks.stop.cancelled() => {}
        }
    }
}

/// Waits for the end of the work, and ends it when it may not go on: then with the reason.
async fn looked_after(shared: &Shared, work: &mut Work, task: &mut Task) -> (Written, Option<Error>) {
    let mut stopped = None;
    loop {
        let cancel = work.cancel.clone();
        tokio::select! {
            over = work.over() => return (over, stopped),
            () = shared.tasks.stop.cancelled(), if stopped.is_none() => {
                stopped = Some(Error::unavailable(STOPPED));
                cancel.cancel();
            }
            () = tokio::time::sleep(LOOK) => {
                if let Some(reason) = refused(shared, &work.call).await {
                    stopped = stopped.or(Some(reason));
                    cancel.cancel();
                }
                match shared.gateway.hold_task(task, &work.said.last()).await {
                    Ok(Hold::Ours) => {}
                    Ok(Hold::Cancelled | Hold::Lost) => cancel.cancel(),
                    Err(problem) => tracing::warn!(%problem, "a task could not be looked after"),
                }
            }
        }
    }
}

/// Why a call may not go on that was begun rightly.
async fn refused(shared: &Shared, call: &Call) -> Option<Error> {
    let entry = shared.tools.get(&call.tool)?;
    shared.gateway.may_still(&call.caller, entry.action).await.err()
}

/// What became of a task: its status, what is told of it, and what is kept.
fn ending(work: &Work, over: &Written, stopped: Option<Error>) -> (Status, String, Option<Outcome>) {
    let (call, is_failure) = (&work.call, over.is_error);
    if let Some(reason) = stopped {
        let error = wire::error(&reason, &call.caller.request_id);
        return (Status::Failed, reason.message, Some(Outcome::Error(error)));
    }
    let asked = over.asks.as_ref().filter(|_| call.forms).and_then(form);
    // Whoever cancels may come too late: then there is a result.
    if work.cancel.is_cancelled() && (is_failure || asked.is_some()) {
        return (Status::Cancelled, CANCELLED.into(), None);
    }
    if let Some((params, conversation)) = asked {
        let key = format!("{FORM}_{}", call.round);
        let asked = Asked {
            requests: [(key.clone(), InputRequest::Elicitation(ElicitRequest::new(params)))].into(),
            key,
            arguments: call.arguments.clone(),
            conversation,
            rights: call.caller.rights,
            round: call.round,
        };
        return (Status::InputRequired, "Waits for an answer.".into(), Some(Outcome::Asked(asked)));
    }
    match serde_json::to_value(over) {
        Ok(Value::Object(result)) => {
            let message = if is_failure { "Done: the tool failed." } else { "Done." };
            (Status::Completed, message.into(), Some(Outcome::Result(result)))
        }
        _ => {
            let error = Error::new(Code::InternalError, "The service failed to keep the result. Call the tool again.");
            let kept = Outcome::Error(wire::error(&error, &call.caller.request_id));
            (Status::Failed, error.message, Some(kept))
        }
    }
}
