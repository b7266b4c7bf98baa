//! `/health/live`, `/health/ready` on the service; `/metrics` on the admin listener only. No tenant data.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Value, json};

use crate::base::telemetry;
use crate::config::Config;
use crate::store::Db;

/// The process answers.
pub async fn live() -> &'static str {
    "live\n"
}

/// Ready means that the metadata answer.
pub async fn ready(State(db): State<Db>) -> (StatusCode, &'static str) {
    match sqlx::query("SELECT 1").execute(db.pool()).await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(problem) => {
            tracing::warn!(%problem, "not ready: the metadata do not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
        }
    }
}

/// What the running service knows of itself, for the operator at the socket of the data folder: `listen` is where it
/// listens for the network, null where it does not.
pub async fn facts(State((config, listen)): State<(Arc<Config>, Option<SocketAddr>)>) -> Json<Value> {
    let metrics = telemetry::start_metrics().render();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"), "listen": listen, "metrics_listen": config.admin_listen,
        "address": config.issuer(), "metrics": metrics, "log": telemetry::recent_lines(),
    }))
}

/// Prometheus text.
pub async fn metrics(State(handle): State<PrometheusHandle>) -> String {
    handle.render()
}
