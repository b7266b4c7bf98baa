//! A signed-in person at a page of the console: who they are, and whether a form is theirs.

use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use crate::identity::Identity;
use crate::model::access::Rights;
use crate::model::caller::{Caller, Client, Proof};
use crate::model::error::Result;
use crate::model::user::Membership;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::csrf;
use crate::surface::login::session::SignedIn;
use crate::surface::web::{AuditEvent, Web};

/// See the module.
#[derive(Clone, Debug)]
pub struct Visit {
    pub person: SignedIn,
    pub context: Context,
}

impl Visit {
    /// The visitor of a page; who is not signed in is sent to sign in, and comes back.
    pub fn of<'a>(
        web: &'a Web,
        session: &'a Session,
        context: Context,
        request: &Request,
    ) -> impl Future<Output = Result<Self, Response>> + Send + use<'a> {
        // Only the address is kept: a request's body cannot be shared between threads.
        let here = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        async move {
            match SignedIn::find(web, session).await {
                Ok(Some(person)) => Ok(Self { person, context }),
                Ok(None) => {
                    let encoded: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
                    Err(html::see_other(&format!("/login?return_to={encoded}")))
                }
                Err(error) => Err(html::failure(&error)),
            }
        }
    }

    /// The visitor and the fields of a form that they sent from our page for `purpose` (B06, B07); anything else is
    /// refused and recorded.
    pub async fn form(
        web: &Web,
        session: &Session,
        context: Context,
        purpose: &str,
        request: Request,
    ) -> Result<(Self, Params), Response> {
        let visit = Self::of(web, session, context, &request).await?;
        let (parts, body) = request.into_parts();
        let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
        let ours = csrf::from_our_pages(web, &parts.headers)
            && csrf::is_token(web, visit.person.binding(), purpose, params.get("csrf"));
        if ours {
            return Ok((visit, params));
        }
        let event = AuditEvent::new(&visit.context, "console.form", "form_refused").by(visit.person.principal());
        match web.record(event.target(purpose)).await {
            Ok(()) => {
                let text = "This form was not sent from our page, or the page was old. Please go back and try again.";
                Err(html::problem(StatusCode::FORBIDDEN, "That did not work", text))
            }
            Err(error) => Err(html::failure(&error)),
        }
    }

    /// The token for a form of this visitor.
    pub fn csrf(&self, web: &Web, purpose: &str) -> String {
        csrf::token(web, self.person.binding(), purpose)
    }

    /// The visitor as a caller of one of their workspaces; `None` for a workspace that is not theirs, or that is not
    /// there.
    pub async fn caller(&self, identity: &Identity, slug: &str) -> Result<Option<(Membership, Caller)>> {
        let memberships = identity.memberships(self.person.user.id).await?;
        let found = memberships.into_iter().find(|membership| membership.org.slug == slug);
        Ok(found.map(|membership| {
            let caller = Caller {
                org: membership.org.id,
                user: Some(self.person.user.id),
                role: membership.role,
                rights: Rights::of_role(membership.role),
                proof: Proof::BrowserSession { auth_time: self.person.auth_time / 1000 },
                client: Client { id: "console".into(), name: "console".into(), ..Client::default() },
                session: None,
                ip: self.context.ip,
                request_id: self.context.request_id.clone(),
            };
            (membership, caller)
        }))
    }
}

/// What a handler takes from a request before its body.
#[derive(Clone, Debug)]
pub struct Door {
    pub session: Session,
    pub context: Context,
}

impl<S: Send + Sync> FromRequestParts<S> for Door {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut axum::http::request::Parts, state: &S) -> Result<Self, Self::Rejection> {
        let session = Session::from_request_parts(parts, state).await?;
        let context = Context::from_request_parts(parts, state).await.map_err(|status| (status, ""))?;
        Ok(Self { session, context })
    }
}
