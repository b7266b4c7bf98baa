//! Documents for anybody, without a credential and so without a rate: each is made once, of the settings, which do not
//! change while the service runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::config::Config;

/// See the module.
#[derive(Clone, Debug)]
pub struct Made {
    config: Arc<Config>,
    kept: Arc<Mutex<HashMap<String, Response<Bytes>>>>,
}

impl Made {
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, kept: Arc::default() }
    }

    /// The document of a name. What is none is not kept: of such names there is no end.
    pub async fn document(&self, name: &str, make: impl FnOnce(&Config) -> Response) -> Response {
        let kept = self.kept().get(name).cloned();
        if let Some(kept) = kept {
            return kept.map(Body::from);
        }
        let (head, body) = make(&self.config).into_parts();
        let Ok(text) = to_bytes(body, usize::MAX).await else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let made = Response::from_parts(head, text);
        if made.status() == StatusCode::OK {
            self.kept().insert(name.to_owned(), made.clone());
        }
        made.map(Body::from)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Response<Bytes>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_document_is_made_once_and_what_is_none_is_not_kept() {
        let documents = Made::new(Arc::new(Config::read(|_| None).unwrap()));
        let made = Cell::new(0);
        let ask = async |name: &str, status: StatusCode| {
            let make = |_: &Config| {
                made.set(made.get() + 1);
                (status, [("x-kind", "a text")], "text").into_response()
            };
            let answer = documents.clone().document(name, make).await;
            assert_eq!((answer.status(), answer.headers()["x-kind"].to_str().unwrap()), (status, "a text"));
            assert_eq!(to_bytes(answer.into_body(), 10).await.unwrap(), "text");
        };
        for _ in 0..10 {
            ask("one", StatusCode::OK).await;
            ask("other", StatusCode::OK).await;
        }
        assert_eq!(made.get(), 2);
        ask("none", StatusCode::NOT_FOUND).await;
        ask("none", StatusCode::NOT_FOUND).await;
        assert_eq!((made.get(), documents.kept().len()), (4, 2));
    }
}
