//! Signing in at another provider, as a person sees it.
//!
//! 1. `GET /login/{provider}` ([`depart`]) says where the browser will be sent, and when a program waits for the
//!    sign-in, which one. No state exists yet (B15, B16).
//! 2. Its `POST` makes the [`Journey`](crate::identity::upstream::Journey), seals it into a cookie of its own
//!    ([`cookie`]), and sends the browser away. Nothing is stored for strangers.
//! 3. `GET /login/{provider}/callback` ([`callback`]) opens the journey, removes its cookie whatever happens, has the ID
//!    token judged, and goes on as the account allows.
//! 4. Whoever turns out to have an account signs in to it and confirms at `/account/providers/confirm`.

pub mod callback;
pub mod cookie;
pub mod depart;

use axum::http::StatusCode;
use axum::response::Response;

use crate::identity::upstream::Fault;
use crate::model::error::Error;
use crate::surface::html;
use crate::surface::login::return_to;
use crate::surface::web::Web;

/// A provider to choose on the log-in page.
#[derive(Clone, Debug)]
pub struct Way {
    pub name: String,
    pub href: String,
}

/// Every configured provider, with where to go after signing in there.
pub fn ways(web: &Web, back: Option<&str>) -> Vec<Way> {
    let encoded: String = url::form_urlencoded::byte_serialize(return_to::safe(back).as_bytes()).collect();
    let way = |provider: &crate::config::Provider| Way {
        name: provider.name.clone(),
        href: format!("/login/{}?return_to={encoded}", provider.id),
    };
    web.config.providers.iter().map(way).collect()
}

/// Why a sign-in ends on a page of ours.
#[derive(Debug)]
pub enum Stop {
    /// Status, what the record says, what the person reads.
    Page(StatusCode, &'static str, String),
    Failed(Error),
}

impl Stop {
    /// The journey is not one that this browser has under way.
    pub fn journey() -> Self {
        let text =
            "This sign-in was started in another browser, was already used, or took too long. Please start again.";
        Stop::Page(StatusCode::BAD_REQUEST, "state_invalid", text.into())
    }

    /// What a fault looks like from outside; the particulars are logged.
    pub fn fault(provider: &str, fault: &Fault) -> Self {
        tracing::info!(provider, %fault, "a sign-in at another provider failed");
        let (status, outcome, text) = match fault {
            Fault::Unknown => (StatusCode::NOT_FOUND, "not_found", "There is no such way to sign in here."),
            Fault::Unusable(_) => (
                StatusCode::BAD_GATEWAY,
                "provider_unusable",
                "The provider cannot be used at the moment. Try again later, or sign in in another way.",
            ),
            Fault::Code => (
                StatusCode::BAD_REQUEST,
                "code_invalid",
                "The provider did not confirm this sign-in. It may have been used before. Please start again.",
            ),
            Fault::IdToken(_) => (
                StatusCode::UNAUTHORIZED,
                "id_token_invalid",
                "The provider's answer does not prove who you are. Nothing was changed.",
            ),
            Fault::Unverified => (
                StatusCode::UNAUTHORIZED,
                "email_unverified",
                "The provider has not verified your e-mail address. Verify it there, then sign in again.",
            ),
        };
        Stop::Page(status, outcome, text.into())
    }

    /// What the record says.
    pub fn outcome(&self) -> &'static str {
        match self {
            Stop::Page(_, outcome, _) => outcome,
            Stop::Failed(error) => error.code.info().name,
        }
    }

    /// The page.
    pub fn page(&self) -> Response {
        match self {
            Stop::Page(status, _, text) => html::problem(*status, "You are not signed in", text),
            Stop::Failed(error) => html::failure(error),
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}
