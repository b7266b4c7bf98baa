//! `/api/v1/uploads`: the bytes of uploads, by tus; and as JSON what has no bytes.

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::Response;

use super::{Named, Rest, answer, recorded_as};
use crate::model::caller::Caller;
use crate::ops::uploads::{CreateUpload, DeleteUpload};
use crate::surface::tus::{self, Desk};

pub(super) const UPLOADS: &str = "/api/v1/uploads";
pub(super) const UPLOAD: &str = "/api/v1/uploads/{upload_id}";

fn desk<'a>(rest: &'a Rest, caller: &'a Caller) -> Desk<'a> {
    Desk { gateway: &rest.gateway, caller, recorded_as: recorded_as(caller) }
}

fn id(path: Named) -> String {
    path.ok().and_then(|Path(mut path)| path.remove("upload_id")).unwrap_or_default()
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
    answer::<CreateUpload>(&rest, caller, path, request).await
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
    answer::<DeleteUpload>(&rest, caller, path, request).await
}
