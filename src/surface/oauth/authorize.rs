//! `/api/oauth/authorize` (RFC 6749 §4.1.1, RFC 7636, RFC 8707, RFC 9207).
//!
//! 1. Client and redirect address are checked first. While either is in doubt the answer is a page of ours: a redirect
//!    to an unproven address would make us an open redirector (RFC 9700 §4.11).
//! 2. Every later check answers the client, with `error`, `state` and `iss`: by redirect where a browser may be sent on
//!    at once, elsewhere from a page of ours with a link that the person may take (`refusal.rs`).
//! 3. Nobody logged in: the browser goes to `/login` with this very request as the place to return to. Nothing is
//!    stored for strangers; everything is checked again when it comes back.
//! 4. Logged in less well than `acr_values` asks: the browser goes to `/login/confirm`, and comes back in the same way.
//! 5. Logged in: what the person approved before is approved again (`consent/remembered.rs`); anything else is stored,
//!    and the browser goes to `/consent`.

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower_sessions::Session;

use crate::base::clock::Millis;
use crate::config::Config;
use crate::identity::{consents, redirect};
use crate::model::access::Scope;
use crate::model::acr::Acr;
use crate::model::error::{Code, Error};
use crate::model::grant::{parse_scopes, scope_text};
use crate::surface::browser::destination::{Destination, Unproven, answer_url};
use crate::surface::browser::return_to::{self, RETURNED};
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::form::{FormError, Params};
use crate::surface::html;
use crate::surface::oauth::consent::pending::{Asker, Back, Pending};
use crate::surface::oauth::consent::remembered;
use crate::surface::oauth::refusal;
use crate::surface::resource::Resource;
use crate::surface::web::{AuditEvent, Web};

/// Bytes of the longest request (A27).
const LONGEST: usize = 8 << 10;
/// Parameters that must not be repeated, `client_id` and `redirect_uri` besides (A13).
const ONCE: [&str; 14] = [
    "response_type",
    "response_mode",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
    "prompt",
    "max_age",
    "acr_values",
    "request",
    "request_uri",
    RETURNED,
    return_to::UNMET,
];

/// Why a request goes no further.
enum Stop {
    /// A page of ours: where the browser would be sent is not proven.
    Page(StatusCode, &'static str),
    /// A page of ours: this client, by its id, may not be used. It is told nothing.
    Blocked(String),
    /// An answer to the client; see [`refusal`].
    Redirect(&'static str, &'static str),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

impl From<Unproven> for Stop {
    fn from(unproven: Unproven) -> Self {
        match unproven {
            Unproven::Page(text) => Stop::Page(StatusCode::BAD_REQUEST, text),
            Unproven::Blocked(id) => Stop::Blocked(id),
            Unproven::Failed(error) => Stop::Failed(error),
        }
    }
}

/// Everything that was asked, checked.
struct Asked {
    scopes: Vec<Scope>,
    resource: Resource,
    code_challenge: String,
    prompt: Prompt,
    /// A log-in before this does not count.
    login_after: Millis,
    /// How well the person must have proved themselves (RFC 9470 §4).
    least: Acr,
}

/// `prompt` (OpenID Connect Core §3.1.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prompt {
    /// Nothing said: a page when it is needed.
    Unsaid,
    /// `none`: no page may be shown.
    Silent,
    /// `login`, `consent` or `select_account`: the person must see the page, whatever they approved before.
    Ask,
}

/// `GET` and `POST`.
pub async fn authorize(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    if request.method() == Method::HEAD {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, POST")]).into_response();
    }
    if let Err(wait) = web.throttle.check_authorize(context.ip) {
        return html::too_many(Code::RateLimited, wait);
    }
    let from_our_pages = refusal::is_from_our_pages(request.headers());
    let params = match read(request).await {
        Ok(params) => params,
        Err(problem) => {
            let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
            return html::problem(status, "This request cannot be used", &problem.to_string());
        }
    };
    // Step 1: who asks, and whether the answer may go where they want it.
    let (answer, destination) = match Destination::find(&web, &params).await {
        Ok(found) => (proceed(&web, &context, &session, &params, &found).await, Some(found)),
        Err(unproven) => (Err(unproven.into()), None),
    };
    match answer {
        Ok(response) => response,
        Err(stop) => {
            let from_log_in = from_our_pages && params.get(RETURNED).is_some();
            refuse(&web, &context, &session, &params, destination.as_ref(), from_log_in, stop).await
        }
    }
}

async fn read(request: Request) -> Result<Params, FormError> {
    let query = request.uri().query().unwrap_or("").to_owned();
    if query.len() > LONGEST {
        return Err(FormError::TooLarge);
    }
    let params = Params::parse(&query)?;
    if request.method() == Method::GET {
        return Ok(params);
    }
    let (parts, body) = request.into_parts();
    Ok(params.and(Params::of_body(&parts.headers, body).await?))
}

/// Steps 2 to 5.
async fn proceed(
    web: &Web,
    context: &Context,
    session: &Session,
    params: &Params,
    to: &Destination,
) -> Result<Response, Stop> {
    let now = web.identity.clock().now();
    let asked = check(&web.config, params, now)?;
    let person = SignedIn::find(web, session).await?.filter(|person| person.auth_time >= asked.login_after);
    let Some(person) = person else {
        if asked.prompt == Prompt::Silent {
            return Err(Stop::Redirect("login_required", "The person is not logged in."));
        }
        return Ok(html::see_other(&return_to::with("/login", &back(params, &asked))));
    };
    if person.acr < asked.least {
        if asked.prompt == Prompt::Silent {
            return Err(Stop::Redirect("interaction_required", "The person must show a second factor on a page."));
        }
        if params.get(return_to::UNMET).is_some() {
            let text = "The person did not show a second factor.";
            return Err(Stop::Redirect("unmet_authentication_requirements", text));
        }
        return Ok(html::see_other(&return_to::confirmed(&back(params, &asked), asked.least)));
    }
    let org = match &asked.resource {
        Resource::Any => None,
        Resource::Workspace(slug) => {
            let memberships = web.identity.memberships(person.user.id).await?;
            let found = memberships.into_iter().find(|membership| membership.org.slug == *slug);
            // The same answer for a workspace that is another's and for one that does not exist (A17).
            Some(found.ok_or(Stop::Redirect("access_denied", "The workspace is not open to this person."))?.org.id)
        }
    };
    if web.identity.is_blocked(&to.client.id, org).await? {
        return Err(Stop::Blocked(to.client.id.clone()));
    }
    let pending = Pending {
        client_id: to.client.id.clone(),
        client_name: to.client.name.clone(),
        client_site: to.client.uri.clone(),
        resource: asked.resource.url(&web.config),
        scope: scope_text(&asked.scopes),
        org,
        asker: Asker::Browser(Back {
            redirect_uri: to.redirect_uri.clone(),
            state: to.state.clone(),
            code_challenge: asked.code_challenge,
            addresses: consents::addresses(&to.client.redirect_uris),
        }),
    };
    if asked.prompt != Prompt::Ask
        && let Some(url) = remembered::answer(web, context, &person, &pending).await?
    {
        return Ok(send_back("Connected", params, to, &url));
    }
    if asked.prompt == Prompt::Silent {
        return Err(Stop::Redirect("consent_required", "The person must approve on a page."));
    }
    let page = pending.store(web, &person).await?;
    let event = AuditEvent::new(context, "oauth.authorize", "ok").by(person.principal()).org(org);
    web.record(event.client(&to.client.id).target(redirect::shown(&to.redirect_uri))).await?;
    Ok(html::see_other(&page))
}

/// The checks of step 2, in order.
fn check(config: &Config, params: &Params, now: Millis) -> Result<Asked, Stop> {
    check_once(params)?;
    check_no_request_object(params)?;
    check_response_type(params)?;
    check_response_mode(params)?;
    let code_challenge = check_pkce(params)?;
    let scopes = check_scope(params)?;
    let resource = check_resource(config, params)?;
    let prompt = check_prompt(params)?;
    let login_after = check_age(params, now)?;
    let least = Acr::asked(params.get("acr_values").unwrap_or("")).unwrap_or(Acr::Aal1);
    Ok(Asked { scopes, resource, code_challenge, prompt, login_after, least })
}

fn check_once(params: &Params) -> Result<(), Stop> {
    if params.repeats(&ONCE) {
        return Err(Stop::Redirect("invalid_request", "A parameter was sent more than once."));
    }
    Ok(())
}

fn check_no_request_object(params: &Params) -> Result<(), Stop> {
    if params.get("request").is_some() {
        return Err(Stop::Redirect("request_not_supported", "Request objects are not supported."));
    }
    if params.get("request_uri").is_some() {
        return Err(Stop::Redirect("request_uri_not_supported", "Request objects are not supported."));
    }
    Ok(())
}

fn check_response_type(params: &Params) -> Result<(), Stop> {
    match params.get("response_type") {
        Some("code") => Ok(()),
        Some(_) => Err(Stop::Redirect("unsupported_response_type", "response_type must be code.")),
        None => Err(Stop::Redirect("invalid_request", "response_type is missing.")),
    }
}

fn check_response_mode(params: &Params) -> Result<(), Stop> {
    match params.get("response_mode") {
        None | Some("query") => Ok(()),
        Some(_) => Err(Stop::Redirect("invalid_request", "response_mode must be query.")),
    }
}

/// RFC 7636 §4.3, S256 only: 43 characters are the base64url of a SHA-256; up to 128 are allowed by the grammar.
fn check_pkce(params: &Params) -> Result<String, Stop> {
    let challenge = params.get("code_challenge");
    let challenge =
        challenge.ok_or(Stop::Redirect("invalid_request", "code_challenge is missing (PKCE, RFC 7636)."))?;
    if params.get("code_challenge_method") != Some("S256") {
        return Err(Stop::Redirect("invalid_request", "code_challenge_method must be S256."));
    }
    let fits = challenge.len() == 43 && challenge.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if fits { Ok(challenge.to_owned()) } else { Err(Stop::Redirect("invalid_request", "code_challenge is malformed.")) }
}

fn check_scope(params: &Params) -> Result<Vec<Scope>, Stop> {
    parse_scopes(params.get("scope").unwrap_or(""))
        .map_err(|_| Stop::Redirect("invalid_scope", "The scope is not one of scopes_supported."))
}

fn check_resource(config: &Config, params: &Params) -> Result<Resource, Stop> {
    match params.get("resource") {
        None => Ok(Resource::Any),
        Some(text) => Resource::parse(config, text)
            .ok_or(Stop::Redirect("invalid_target", "The resource is not one that this service issues tokens for.")),
    }
}

/// Values that we do not know are ignored. That `login` asks for a log-in is read by [`check_age`].
fn check_prompt(params: &Params) -> Result<Prompt, Stop> {
    let prompts: Vec<&str> = params.get("prompt").unwrap_or("").split(' ').filter(|p| !p.is_empty()).collect();
    match prompts.as_slice() {
        ["none"] => Ok(Prompt::Silent),
        several if several.contains(&"none") => Err(Stop::Redirect("invalid_request", "prompt=none stands alone.")),
        several if several.iter().any(|p| ["login", "consent", "select_account"].contains(p)) => Ok(Prompt::Ask),
        _ => Ok(Prompt::Unsaid),
    }
}

/// How fresh the log-in must be; 0 when any will do.
fn check_age(params: &Params, now: Millis) -> Result<Millis, Stop> {
    let returned = params.get(RETURNED).and_then(|text| text.parse::<Millis>().ok()).unwrap_or(0).min(now);
    if params.get("prompt").is_some_and(|prompt| prompt.split(' ').any(|p| p == "login")) {
        // Later than any log-in until now.
        return Ok(now + 1);
    }
    match params.get("max_age") {
        None => Ok(returned),
        Some(text) => {
            let seconds: u32 = text.parse().map_err(|_| Stop::Redirect("invalid_request", "max_age is malformed."))?;
            Ok(returned.max(now.saturating_sub(Millis::from(seconds) * 1000)))
        }
    }
}

/// This request, to return to. That the person must be asked is said again, in the one way that does not ask for another
/// log-in.
fn back(params: &Params, asked: &Asked) -> String {
    let query = params.query_without(&["prompt", "max_age", RETURNED, return_to::UNMET]);
    let again = if asked.prompt == Prompt::Ask { "&prompt=consent" } else { "" };
    format!("{}?{query}{again}&{RETURNED}={}", return_to::AUTHORIZE, asked.login_after)
}

/// Sends the browser to the client. One that has just sent the log-in form may not be redirected elsewhere; see
/// `html::leave`.
fn send_back(title: &str, params: &Params, to: &Destination, url: &str) -> Response {
    match params.get(RETURNED) {
        Some(_) => html::leave(title, &html::display_name(&to.client.name), url),
        None => html::see_other(url),
    }
}

async fn refuse(
    web: &Web,
    context: &Context,
    session: &Session,
    params: &Params,
    to: Option<&Destination>,
    from_log_in: bool,
    stop: Stop,
) -> Response {
    let blocked = if let Stop::Blocked(id) = &stop { id.clone() } else { String::new() };
    let event = |outcome: &str| {
        let event = AuditEvent::new(context, "oauth.authorize", outcome);
        match to {
            Some(to) => event.client(&to.client.id).target(redirect::shown(&to.redirect_uri)),
            None => event.client(blocked),
        }
    };
    let (outcome, response) = match (stop, to) {
        (Stop::Redirect(error, description), Some(to)) => {
            let answer = [("error", error), ("error_description", description)];
            let url = answer_url(&web.config, &to.redirect_uri, to.state.as_deref(), &answer);
            let response = match refusal::may_be_sent_on(web, session, to, from_log_in).await {
                Ok(true) => send_back("Not connected", params, to, &url),
                Ok(false) => refusal::page(to, description, &url),
                Err(error) => html::failure(&error),
            };
            (error, response)
        }
        (Stop::Redirect(error, text), None) => (error, html::problem(StatusCode::BAD_REQUEST, "Not possible", text)),
        (Stop::Blocked(_), _) => {
            let text = "The program that sent you here is blocked. Ask an admin of your workspace about it.";
            ("client_blocked", html::problem(StatusCode::BAD_REQUEST, "This program cannot be used", text))
        }
        (Stop::Page(status, text), _) => ("refused", html::problem(status, "This request cannot be used", text)),
        (Stop::Failed(error), _) => (error.code.info().name, html::failure(&error)),
    };
    match web.record(event(outcome)).await {
        Ok(()) => response,
        Err(error) => html::failure(&error),
    }
}
