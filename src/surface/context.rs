//! Where a request came from, as the outermost layers put it into the request's extensions.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, StatusCode};

use crate::model::error::Error;

/// The id of a request, which answers, logs and audit rows carry.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// The client's address: the peer's, or what a trusted proxy said.
#[derive(Clone, Copy, Debug)]
pub struct ClientIp(pub IpAddr);

/// Both.
#[derive(Clone, Debug)]
pub struct Context {
    pub ip: IpAddr,
    pub request_id: String,
}

impl Context {
    /// `None` when a layer is missing: nothing may be answered without a record of where it came from.
    pub fn of(extensions: &Extensions) -> Option<Self> {
        let ip = extensions.get::<ClientIp>()?.0;
        let request_id = extensions.get::<RequestId>()?.0.clone();
        Some(Self { ip, request_id })
    }
}

impl<S: Sync> FromRequestParts<S> for Context {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        Context::of(&parts.extensions).ok_or_else(|| {
            Error::internal("a route is served without its request id and client address layers");
            StatusCode::INTERNAL_SERVER_ERROR
        })
    }
}
