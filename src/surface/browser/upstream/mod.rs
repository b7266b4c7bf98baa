//! What signing in at another provider and linking it to an account have in common: the way there, the cookies that the
//! browser carries along, and the pages on which it ends.

pub mod cookie;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::identity::upstream::{Errand, Fault, Foreigner, Linking};
use crate::model::error::Error;
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

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

/// Sends the browser to a provider on an errand, with the sealed journey as a cookie.
///
/// # Errors
/// The provider is unknown or cannot be used; the way back is too long for a cookie.
pub async fn leave(web: &Web, headers: &HeaderMap, provider: &str, errand: Errand) -> Result<Response, Stop> {
    let departure = web.identity.depart(provider, errand).await.map_err(|fault| Stop::fault(provider, &fault))?;
    let sealed = web.identity.seal_journey(&departure.journey)?;
    let name = web.identity.provider(provider).map_or("", |provider| provider.name.as_str());
    let mut response = html::leave("Sign in elsewhere", name, departure.url.as_str());
    cookie::make_room(web, headers, &mut response);
    if cookie::set(web, &mut response, &cookie::journey(web, &departure.journey.state), &sealed) {
        return Ok(response);
    }
    let text = "What the program asks for is too long for this way to sign in. Sign in with your password instead.";
    Err(Stop::Page(StatusCode::BAD_REQUEST, "too_long", text.into()))
}

/// Links a proven foreigner to the account of a person who asked for it.
///
/// # Errors
/// 409 when it is somebody else's already.
pub async fn link(web: &Web, context: &Context, person: &SignedIn, foreigner: &Foreigner) -> Result<(), Stop> {
    match web.identity.link(person.user.id, foreigner).await? {
        Linking::Already => Ok(()),
        Linking::Done => {
            let event = AuditEvent::new(context, "account.link", "ok").by(person.principal());
            Ok(web.record(event.target(foreigner.provider.as_str())).await?)
        }
        Linking::AnothersAlready => {
            let text = "That sign-in belongs to another account here already. Unlink it there first.";
            Err(Stop::Page(StatusCode::CONFLICT, "linked_elsewhere", text.into()))
        }
    }
}

/// The provider's id for the record, unless a stranger made it up.
pub fn known(web: &Web, provider: &str) -> &'static str {
    web.identity.provider(provider).map_or("", |provider| provider.id)
}
