//! Answers that go on to their end, and so to their row in the record, even when the client hangs up or the service
//! ends: what they have changed is not forgotten. Nor is that somebody was refused.

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use crate::gateway::audit::AuditLog;
use crate::model::error::Code;
use crate::surface::context::Context;
use crate::surface::error::{id_of, problem};
use crate::surface::web::{AuditEvent, REFUSED, Sender, Web, watched};

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

/// The layer of what writes rows without a call of the gateway: records the refusals that nothing else has recorded,
/// with the address as the routes write it and the person of the browser's session. What is not there is no refusal,
/// nor is a form that is shown again to be corrected.
pub async fn refused(State(web): State<Web>, request: Request, next: Next) -> Response {
    let context = Context::of(request.extensions());
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let (response, has_row) = watched(next.run(request)).await;
    let code = match response.status() {
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::UNPROCESSABLE_ENTITY => return response,
        StatusCode::TOO_MANY_REQUESTS => Code::RateLimited,
        StatusCode::FORBIDDEN => Code::Forbidden,
        status if status.is_client_error() => Code::InvalidArgument,
        _ => return response,
    };
    let Some(context) = context.filter(|_| !has_row) else { return response };
    let code = response.extensions().get::<Code>().copied().unwrap_or(code);
    let by = response.extensions().get::<Sender>().map_or("", |Sender(principal)| principal.as_str());
    match web.record(AuditEvent::new(&context, REFUSED, code.info().name).by(by).target(path)).await {
        Ok(()) => response,
        Err(error) => problem(&error, &context.request_id),
    }
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
