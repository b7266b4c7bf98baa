//! A password is compared, wherever a page asks for one: few times from one address (B22), few times for one account from
//! anywhere (B23, B24), with the same answer in the same time for whoever is not there (B21).

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::base::counted::counted;
use crate::base::secret::Secret;
use crate::model::error::{Code, Error, Result};
use crate::model::user::{User, normal_email};
use crate::surface::browser::known::KnownBrowser;
use crate::surface::context::Context;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// What came of it.
#[derive(Debug)]
pub enum Compared {
    Right(Right),
    Wrong,
    /// Nothing was compared: the page to answer with.
    Later(Response),
}

/// A person who gave their password.
#[derive(Debug)]
pub struct Right {
    pub user: User,
    /// Of the password that was given; what its session is bound to.
    pub stamp: String,
    remembered: Option<HeaderValue>,
}

impl Right {
    /// The response, which also lets the browser show next time that it is no stranger.
    pub fn remembered(&self, mut response: Response) -> Response {
        if let Some(cookie) = &self.remembered {
            response.headers_mut().append(header::SET_COOKIE, cookie.clone());
        }
        response
    }
}

/// Compares a password, counts it when it is wrong, and records what came of it as `action`.
///
/// # Errors
/// `service_unavailable` when too many log-ins wait.
pub async fn compare(
    web: &Web,
    context: &Context,
    headers: &HeaderMap,
    action: &'static str,
    (email, password): (&str, &Secret),
) -> Result<Compared> {
    let _trying = match web.throttle.try_login(context.ip) {
        Ok(trying) => trying,
        Err(wait) => return Ok(Compared::Later(html::too_many(Code::IpBlocked, wait))),
    };
    let candidate = web.identity.candidate(email).await?;
    let browser = KnownBrowser::of(web, headers);
    // Whom the guesses are aimed at; only the record may know whether there is such a person.
    let target = candidate.principal().unwrap_or_default();
    let event = |outcome: &str| AuditEvent::new(context, action, outcome).target(&target);
    let account = normal_email(email).unwrap_or_default();
    // A browser that has signed in before is counted alone: strangers do not slow it down, and a copy of its cookie does
    // not guess without end.
    let account = if browser.knows(web, &candidate) { format!("{}:{account}", browser.device()) } else { account };
    let _trying_account = match web.throttle.accounts.begin(&account) {
        Ok(trying) => trying,
        Err(wait) => {
            web.record(event(Code::RateLimited.info().name)).await?;
            return Ok(Compared::Later(too_many_for_account(wait)));
        }
    };
    let Some(user) = web.identity.prove(candidate.clone(), password).await? else {
        web.throttle.record_failure(context.ip);
        web.throttle.accounts.record_failure(&account);
        web.record(event(Code::AuthInvalid.info().name)).await?;
        return Ok(Compared::Wrong);
    };
    web.record(event("ok").by(format!("user:{}", user.id))).await?;
    let remembered = browser.remember(web, &candidate);
    Ok(Compared::Right(Right { user, stamp: candidate.stamp().to_owned(), remembered }))
}

/// The cookie that makes this browser known for a person whose password has just changed.
pub async fn remember(web: &Web, headers: &HeaderMap, user: &User) -> Result<Option<HeaderValue>> {
    let candidate = web.identity.candidate(&user.email).await?;
    Ok(KnownBrowser::of(web, headers).remember(web, &candidate))
}

fn too_many_for_account(wait: u64) -> Response {
    let text = format!(
        "There were too many attempts to sign in with this e-mail address. Try again in {}, or in a browser \
         that you have signed in with before.",
        counted(wait, "second")
    );
    html::failure(&Error::new(Code::RateLimited, text).retry_after(wait))
}
