//! `GET /api/v1/ext/health` for who has no credential: whether the service answers, whether it lets external clients into
//! any of its workspaces, and the version of the interface. Who has one is told of their own workspace, by
//! [`crate::ops::health`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use serde_json::json;

use super::openapi;
use crate::gateway::operation::{Operation as _, Surface};
use crate::ops::health::{Health, VERSION};
use crate::store::{self, Db};

/// How old an answer may be: strangers ask, and they all get the same.
const FRESH: Duration = Duration::from_secs(1);

/// The state of [`open_health`].
#[derive(Clone)]
pub struct OpenHealth {
    db: Db,
    known: Arc<Mutex<Option<(Instant, bool)>>>,
}

impl OpenHealth {
    pub fn new(db: Db) -> Self {
        Self { db, known: Arc::default() }
    }

    async fn any_open(&self) -> sqlx::Result<bool> {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, open)) = known.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(open);
        }
        let open = store::orgs::any_open(self.db.pool()).await?;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), open));
        Ok(open)
    }
}

/// The layer before the guard: answers who shows no credential, and lets everything else pass.
pub async fn open_health(State(health): State<OpenHealth>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let of_health = path.strip_prefix(openapi::base(Surface::Resource)) == Some(Health::INFO.route.path);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !of_health || !reads || request.headers().contains_key(header::AUTHORIZATION) {
        return next.run(request).await;
    }
    let (status, said, open) = match health.any_open().await {
        Ok(open) => (StatusCode::OK, "ok", open),
        Err(problem) => {
            tracing::warn!(%problem, "the metadata do not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", false)
        }
    };
    (status, Json(json!({ "status": said, "connectivity_enabled": open, "version": VERSION }))).into_response()
}
