//! `/api/v1/uploads`: the bytes of uploads, by tus; and as JSON what has no bytes.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;

use super::{Rest, arguments, recorded_as, refused, run};
use crate::gateway::operation::Operation;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::ops::uploads::{CreateUpload, DeleteUpload};
use crate::surface::schema;
use crate::surface::tus::{self, Desk};

pub(super) const UPLOADS: &str = "/api/v1/uploads";
pub(super) const UPLOAD: &str = "/api/v1/uploads/{upload_id}";

type Named = Result<Path<HashMap<String, String>>, PathRejection>;

fn desk<'a>(rest: &'a Rest, caller: &'a Caller) -> Desk<'a> {
    Desk { gateway: &rest.gateway, caller, recorded_as: recorded_as(caller) }
}

fn id(path: Named) -> String {
    path.ok().and_then(|Path(mut path)| path.remove("upload_id")).unwrap_or_default()
}

/// As JSON, as every other operation.
async fn plain<O: Operation>(rest: &Rest, caller: Caller, path: Named, request: Request) -> Response {
    let Ok(Path(path)) = path else {
        return refused::<O>(rest, &caller, Error::invalid("path", "The address is not UTF-8.")).await;
    };
    match arguments::<O>(path, request).await.and_then(schema::parse::<O>) {
        Ok(op) => run(rest, caller, op, ()).await,
        Err(error) => refused::<O>(rest, &caller, error).await,
    }
}

pub(super) async fn options(State(rest): State<Rest>) -> Response {
    tus::options(rest.config.limits.budgets.upload_bytes)
}

pub(super) async fn create(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: Named,
    request: Request,
) -> Response {
    if tus::is_tus(request.headers()) {
        return tus::create(desk(&rest, &caller), &rest.config.url(UPLOADS), request.headers()).await;
    }
    plain::<CreateUpload>(&rest, caller, path, request).await
}

pub(super) async fn head(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: Named,
    request: Request,
) -> Response {
    tus::head(desk(&rest, &caller), &id(path), request.headers()).await
}

pub(super) async fn patch(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: Named,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    tus::patch(desk(&rest, &caller), &id(path), &parts.headers, body).await
}

pub(super) async fn remove(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: Named,
    request: Request,
) -> Response {
    if tus::is_tus(request.headers()) {
        return tus::remove(desk(&rest, &caller), &id(path), request.headers()).await;
    }
    plain::<DeleteUpload>(&rest, caller, path, request).await
}
