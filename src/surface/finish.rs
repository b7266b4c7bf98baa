//! Answers that go on to their end, and so to their row in the record, even when the client hangs up or the service
//! ends: what they have changed is not forgotten.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use crate::gateway::audit::AuditLog;
use crate::surface::error::{id_of, problem};

/// The layer.
pub async fn finish(request: Request, next: Next) -> Response {
    to_its_end(next.run(request)).await
}

/// The layer of what writes rows without a call of the gateway, which is waited for by itself: the end of the service
/// waits until it is answered. What comes after the end has begun is refused.
pub async fn recorded(State(audit): State<AuditLog>, request: Request, next: Next) -> Response {
    let _begun = match audit.begin() {
        Ok(begun) => begun,
        Err(error) => return problem(&error, &id_of(&request)),
    };
    next.run(request).await
}

/// As [`finish`], for one answer.
pub async fn to_its_end(answer: impl Future<Output = Response> + Send + 'static) -> Response {
    match tokio::spawn(answer).await {
        Ok(response) => response,
        Err(gone) if gone.is_panic() => std::panic::resume_unwind(gone.into_panic()),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_opens_a_session_goes_on_when_its_client_hangs_up() {
        let (go, gate) = oneshot::channel::<()>();
        let (bound, finished) = oneshot::channel::<()>();
        let answer = to_its_end(async move {
            gate.await.unwrap();
            bound.send(()).unwrap();
            StatusCode::OK.into_response()
        });
        assert!(answer.now_or_never().is_none(), "nobody waits for it any more");
        go.send(()).unwrap();
        finished.await.unwrap();
    }
}
