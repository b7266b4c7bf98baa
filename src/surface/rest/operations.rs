//! One route for each operation of [`crate::ops::each`]. Every request to one counts before anything else of it is looked
//! at, whatever comes of it.

use std::collections::HashMap;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, delete, get, on, options, post};
use axum::{Extension, Router};

use super::{Named, Rest, answer, arguments, failure, openapi, refused, upload, uploads};
use crate::gateway::Knock;
use crate::gateway::operation::Operation;
use crate::model::caller::Caller;
use crate::ops;
use crate::ops::audit_log::ExportAudit;
use crate::ops::check_import::CheckImport;
use crate::ops::explain_question::ExplainQuestion;
use crate::ops::import::Import;
use crate::ops::uploads::{CreateUpload, DeleteUpload};
use crate::surface::export::{self, Ground};
use crate::surface::guard::Lease;
use crate::surface::schema;

/// Where the operator asks what every stage made of a question.
pub const EXPLAIN: &str = "/api/v1/explain";

struct Routes {
    rest: Rest,
    router: Router<Rest>,
}

impl ops::Visitor for Routes {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        let base = openapi::base(info.surface);
        let path = format!("{base}{}", info.route.path);
        let method = match info.route.method {
            "GET" => MethodFilter::GET,
            "PATCH" => MethodFilter::PATCH,
            "PUT" => MethodFilter::PUT,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::POST,
        };
        // An import does not arrive as JSON, and an export does not leave as JSON.
        let route = match info.name {
            name if name == Import::INFO.name => post(upload::upload::<Import>),
            name if name == CheckImport::INFO.name => post(upload::upload::<CheckImport>),
            // These paths are shared with another protocol.
            name if name == CreateUpload::INFO.name => post(uploads::create),
            name if name == DeleteUpload::INFO.name => delete(uploads::remove),
            name if name == ExportAudit::INFO.name => get(exported),
            _ => on(method, answered::<O>),
        };
        let route = route.route_layer(from_fn_with_state(self.rest.clone(), counted::<O>));
        let router = std::mem::take(&mut self.router);
        self.router = router.route(&path, route);
    }
}

/// All of them, still without the guard.
pub fn routes(rest: Rest) -> Router {
    let mut routes = Routes { rest, router: Router::new() };
    ops::each(&mut routes);
    let bytes = on(MethodFilter::HEAD, uploads::head).patch(uploads::patch);
    let bytes = bytes.route_layer(from_fn_with_state(routes.rest.clone(), counted::<CreateUpload>));
    let router = routes.router.route(uploads::UPLOADS, options(uploads::options)).route(uploads::UPLOAD, bytes);
    router.with_state(routes.rest)
}

/// For the operator at the socket of the data folder: all of them, and what only he asks.
pub fn for_operator(rest: Rest) -> Router {
    let explain = post(answered::<ExplainQuestion>);
    routes(rest.clone()).merge(Router::new().route(EXPLAIN, explain).with_state(rest))
}

/// The layer of every operation: a request of its caller's, of which there may be so many.
async fn counted<O: Operation>(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    match rest.gateway.knock(&caller, Knock::Request) {
        Ok(()) => next.run(request).await,
        Err(error) => refused::<O>(&rest, &caller, error).await,
    }
}

async fn answered<O: Operation>(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: Named,
    request: Request,
) -> Response {
    answer::<O>(&rest, caller, path, request).await
}

/// The audit log as a file.
async fn exported(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    Extension(lease): Extension<Lease>,
    request: Request,
) -> Response {
    let asked = arguments::<ExportAudit>(&rest, &caller, HashMap::new(), request).await;
    match asked.and_then(schema::parse::<ExportAudit>) {
        Ok(op) => match export::file(rest.gateway.clone(), caller.clone(), Ground::Token(lease), op).await {
            Ok(response) => response,
            Err(error) => failure(&rest, &caller, ExportAudit::INFO.action, &error),
        },
        Err(error) => refused::<ExportAudit>(&rest, &caller, error).await,
    }
}
