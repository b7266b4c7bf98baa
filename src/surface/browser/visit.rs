//! A signed-in person at a page of the console: who they are, and whether a form is theirs.

use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use tower_sessions::Session;

use crate::base::clock::millis;
use crate::identity::Identity;
use crate::model::access::Rights;
use crate::model::acr::Acr;
use crate::model::caller::{Caller, Client, Proof};
use crate::model::error::Result;
use crate::model::user::Membership;
use crate::surface::browser::return_to::{self, SignIn};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::{csrf, once};
use crate::surface::context::Context;
use crate::surface::form::{Params, Size};
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// See the module.
#[derive(Clone, Debug)]
pub struct Visit {
    pub person: SignedIn,
    pub context: Context,
    /// The page that they look at, or that their form was on.
    page: String,
    /// They sent a form.
    sends: bool,
}

impl Visit {
    /// A visitor who looks at a page.
    pub fn new(person: SignedIn, context: Context, page: &str) -> Self {
        Self { person, context, page: page.to_owned(), sends: false }
    }

    /// The visitor of a page; who is not signed in is sent to sign in, and comes back.
    pub fn of<'a>(
        web: &'a Web,
        session: &'a Session,
        context: Context,
        request: &Request,
    ) -> impl Future<Output = Result<Self, Response>> + Send + use<'a> {
        // Only what is needed is kept: a request's body cannot be shared between threads.
        let here = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let sends = request.method() != Method::GET;
        let page = if sends { form_page(web, request.headers()).unwrap_or("/account") } else { &here };
        let page = return_to::safe(Some(page)).to_owned();
        async move {
            match SignedIn::find(web, session).await {
                Ok(Some(person)) => Ok(Self { person, context, page, sends }),
                Ok(None) => Err(SignIn { least: None, to: here }.answer()),
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
        Self::form_within(web, session, context, purpose, request, Size::SHORT).await
    }

    /// As [`Visit::form`], for a form that may hold more.
    pub async fn form_within(
        web: &Web,
        session: &Session,
        context: Context,
        purpose: &str,
        request: Request,
        size: Size,
    ) -> Result<(Self, Params), Response> {
        let visit = Self::of(web, session, context, &request).await?;
        let (parts, body) = request.into_parts();
        let params = Params::of_body_within(&parts.headers, body, size).await.unwrap_or_default();
        if visit.has_sent(web, &parts.headers, purpose, params.get("csrf")) {
            return Ok((visit, params));
        }
        Err(visit.has_not_sent(web, purpose).await)
    }

    /// Whether a form with these headers and this token is the visitor's, from our page for `purpose`.
    pub fn has_sent(&self, web: &Web, headers: &HeaderMap, purpose: &str, token: Option<&str>) -> bool {
        csrf::from_our_pages(web, headers) && csrf::is_token(web, self.person.binding(), purpose, token)
    }

    /// The answer to a form that is not; it is recorded.
    pub async fn has_not_sent(&self, web: &Web, purpose: &str) -> Response {
        let event = AuditEvent::new(&self.context, "console.form", "form_refused").by(self.person.principal());
        match web.record(event.target(purpose)).await {
            Ok(()) => {
                let text = "This form was not sent from our page, or the page was old. Please go back and try again.";
                html::problem(StatusCode::FORBIDDEN, "That did not work", text)
            }
            Err(error) => html::failure(&error),
        }
    }

    /// Whether the visitor has proved who they are within `lifetimes.step_up`. Who has not is sent to do so and comes
    /// back; a form that comes too late is recorded as refused.
    ///
    /// # Errors
    /// The answer to send instead of the page.
    pub async fn fresh(&self, web: &Web) -> Result<(), Response> {
        self.fresh_as(web, Acr::Aal1).await
    }

    /// As [`Visit::fresh`], and as well as `least` says.
    ///
    /// # Errors
    /// The answer to send instead of the page.
    pub async fn fresh_as(&self, web: &Web, least: Acr) -> Result<(), Response> {
        if self.is_fresh(web) && self.person.acr >= least {
            return Ok(());
        }
        if self.sends {
            let event = AuditEvent::new(&self.context, "console.form", "step_up_required").by(self.person.principal());
            web.record(event.target(&self.page)).await.map_err(|error| html::failure(&error))?;
        }
        Err(SignIn { least: Some(least), to: self.returning(self.page.clone()) }.answer())
    }

    /// Whether the last proof is younger than `lifetimes.step_up`.
    pub fn is_fresh(&self, web: &Web) -> bool {
        let life = millis(web.config.limits.lifetimes.step_up);
        web.identity.clock().now() - self.person.auth_time < life
    }

    /// The address of the page that they look at, as it is returned to after a fresh proof: it says then that a form,
    /// where they sent one, is to be sent once more.
    pub fn returning(&self, here: String) -> String {
        if self.sends { return_to::saying(&here, return_to::AGAIN, return_to::NOTHING) } else { here }
    }

    /// What the page that they look at says of the form before it; empty where there was none.
    pub fn notice(&self) -> &'static str {
        if self.sends {
            return "";
        }
        if return_to::said(&self.page, return_to::AGAIN) == Some(return_to::NOTHING) {
            return "You are confirmed. Nothing was changed yet: do it once more.";
        }
        if return_to::said(&self.page, return_to::SHOWN).is_some() {
            return "What was shown here once is not shown again.";
        }
        if return_to::query(&self.page) == return_to::DONE { "Done." } else { "" }
    }

    /// A page that answers a form of the visitor, to be shown once at the address `at`, which has a page of its own.
    pub fn once(&self, page: Response, at: &str) -> Response {
        once::once(page, self.person.user.id, at)
    }

    /// The token for a form of this visitor.
    pub fn csrf(&self, web: &Web, purpose: &str) -> String {
        csrf::owned(web, &csrf::token(web, self.person.binding(), purpose), self.person.user.id)
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

/// The page that a form was on, as the browser says (our pages let it: `Referrer-Policy: same-origin`).
pub(super) fn form_page<'a>(web: &Web, headers: &'a HeaderMap) -> Option<&'a str> {
    headers.get(header::REFERER)?.to_str().ok()?.strip_prefix(&web.config.issuer())
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
