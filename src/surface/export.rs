//! The audit log as a file, for programs and for the console. Part after part is asked of the gateway while the client
//! reads, so that neither side holds the whole; each part is a row in the record like any other call.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};

use crate::gateway::{Gateway, Sent, Via};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::ops::audit_log::{ExportAudit, Format, Part};
use crate::surface::browser::session::SignedIn;
use crate::surface::guard::Lease;
use crate::surface::web::Web;

/// What a file is given for. It can be asked again.
#[derive(Clone)]
pub enum Ground {
    Token(Lease),
    Browser(Web, SignedIn),
}

impl Ground {
    async fn holds(&self) -> bool {
        match self {
            Self::Token(lease) => lease.holds().await,
            Self::Browser(web, person) => person.stays(web).await,
        }
    }
}

/// The log as an answer that a browser saves as a file. It goes on for no longer than `ground` holds.
///
/// # Errors
/// Those of the first part. When a later one fails the connection breaks, so that a file that is not whole is known.
pub async fn file(gateway: Arc<Gateway>, caller: Caller, ground: Ground, op: ExportAudit) -> Result<Response> {
    let media = op.format.media();
    let name = match op.format {
        Format::Csv => "audit.csv",
        Format::Ndjson => "audit.ndjson",
    };
    let first = ask(&gateway, &caller, op.clone()).await?;
    let parts = stream::try_unfold(Some(Next::Have(first)), move |next| {
        let (gateway, caller, ground, op) = (gateway.clone(), caller.clone(), ground.clone(), op.clone());
        async move {
            let part = match next {
                None => return Ok(None),
                Some(Next::Have(part)) => part,
                Some(Next::Ask(cursor)) => {
                    let op = ExportAudit { cursor: Some(cursor), ..op };
                    part(&gateway, &caller, &ground, op).await.map_err(std::io::Error::other)?
                }
            };
            Ok::<_, std::io::Error>(Some((part.content, part.next_cursor.map(Next::Ask))))
        }
    });
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

enum Next {
    Have(Part),
    Ask(String),
}

/// A part; its lines are what is sent of it.
async fn ask(gateway: &Gateway, caller: &Caller, op: ExportAudit) -> Result<Part> {
    let lines = |part: Part, _: &str| {
        let bytes = part.content.len();
        Ok(Sent::once(part, bytes))
    };
    Ok(gateway.write(caller, op, Via::new("rest.call"), lines).await?.reply)
}

/// A later part; when they come faster than calls may, it waits as long as it is told to.
async fn part(gateway: &Gateway, caller: &Caller, ground: &Ground, op: ExportAudit) -> Result<Part> {
    loop {
        if !ground.holds().await {
            return Err(Error::new(Code::AuthRevoked, "The credential was revoked."));
        }
        match ask(gateway, caller, op.clone()).await {
            Err(error) if error.code == Code::RateLimited => {
                tokio::time::sleep(Duration::from_secs(error.retry_after.unwrap_or(1))).await;
            }
            answer => return answer,
        }
    }
}
