//! `/health/live`, `/health/ready` on the service; `/metrics` on the admin listener only. No tenant data.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, StatusCode};
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Value, json};

use crate::base::telemetry;
use crate::config::Config;
use crate::gateway::audit::AuditLog;
use crate::store::Db;

/// The process answers.
pub async fn live() -> &'static str {
    "live\n"
}

/// Ready means that the metadata answer, and that the last row of the record could be written.
pub async fn ready(State((db, audit)): State<(Db, AuditLog)>) -> (StatusCode, &'static str) {
    let asked = sqlx::query("SELECT 1").execute(db.pool()).await;
    if let Err(problem) = &asked {
        tracing::warn!(%problem, "not ready: the metadata do not answer");
    }
    match asked.is_ok() && audit.is_written() {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

/// What the running service knows of itself, for the operator at the socket of the data folder: `listen` is where it
/// listens for the network, null where it does not.
pub async fn facts(State((config, listen)): State<(Arc<Config>, Option<SocketAddr>)>) -> Json<Value> {
    let metrics = telemetry::start_metrics().render();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"), "listen": listen, "metrics_listen": config.admin_listen,
        "address": config.issuer(), "trusts_proxies": !config.trusted_proxies.is_empty(), "metrics": metrics,
        "log": telemetry::recent_lines(),
    }))
}

/// Prometheus text. Where it is for this machine alone, a web page whose name was made to lead here reads nothing.
pub async fn metrics(State((handle, is_local)): State<(PrometheusHandle, bool)>, headers: HeaderMap) -> Response {
    if is_local && !names_this_machine(&headers) {
        let text = "Ask for this by the address that it listens on, or by localhost.\n";
        return (StatusCode::MISDIRECTED_REQUEST, text).into_response();
    }
    handle.render().into_response()
}

/// Whether a request that names a host names an address, or the one name that cannot lead anywhere else.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else { return true };
    let named = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    named.is_some_and(|named| {
        let host = named.host().trim_matches(['[', ']']);
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
    })
}
