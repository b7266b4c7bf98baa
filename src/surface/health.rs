//! `/health/live`, `/health/ready` on the service; `/metrics` on the admin listener only. No tenant data.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::store::Db;

/// The probes.
pub fn routes(db: Db) -> Router {
    Router::new().route("/health/live", get(async || "live\n")).route("/health/ready", get(ready)).with_state(db)
}

/// Ready means that the metadata answer.
async fn ready(State(db): State<Db>) -> (StatusCode, &'static str) {
    match sqlx::query("SELECT 1").execute(db.pool()).await {
        Ok(_) => (StatusCode::OK, "ready\n"),
        Err(problem) => {
            tracing::warn!(%problem, "not ready: the metadata do not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
        }
    }
}

/// Prometheus text.
pub fn metrics(handle: PrometheusHandle) -> Router {
    Router::new().route("/metrics", get(async move || handle.render()))
}
