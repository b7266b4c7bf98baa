//! `/login/{provider}/callback`: a person comes back from a provider.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tower_sessions::Session;

use crate::base::clock::Millis;
use crate::identity::upstream::{Admission, Errand, Fault, Foreigner, Journey};
use crate::model::error::Code;
use crate::model::user::User;
use crate::surface::browser::destination::{Destination, answer_url};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::upstream::{Stop, cookie, known, link};
use crate::surface::browser::{cookies, csrf, return_to};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::form::{PURPOSE, form};
use crate::surface::login::two_step::{self, First};
use crate::surface::web::{AuditEvent, Web};

/// Parameters that must not be repeated.
const ONCE: [&str; 4] = ["state", "code", "error", "iss"];

/// The account exists: its person signs in to it before anything is linked.
#[derive(Template)]
#[template(path = "sign_in_first.html", config = "src/surface/askama.toml")]
struct SignInFirstPage<'a> {
    provider: &'a str,
    email: &'a str,
    csrf: String,
    confirm: &'static str,
}

/// What a return carries.
struct Return<'a> {
    provider: &'a str,
    params: &'a Params,
    headers: &'a HeaderMap,
}

pub async fn arrive(
    State(web): State<Web>,
    context: Context,
    session: Session,
    Path(provider): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let back = Return { provider: &provider, params: &params, headers: &headers };
    let mut response = match land(&web, &context, &session, &back).await {
        Ok(response) => response,
        Err(stop) => {
            let event = AuditEvent::new(&context, "login.oidc", stop.outcome());
            match web.record(event.target(known(&web, &provider))).await {
                Ok(()) => stop.page(),
                Err(error) => html::failure(&error),
            }
        }
    };
    // Whatever happened: this journey is over.
    for state in params.all("state") {
        cookie::remove(&web, &mut response, &cookie::journey(&web, state));
    }
    response
}

async fn land(web: &Web, context: &Context, session: &Session, back: &Return<'_>) -> Result<Response, Stop> {
    let (provider, params) = (back.provider, back.params);
    let fault = |fault: Fault| Stop::fault(provider, &fault);
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return Ok(html::too_many(Code::IpBlocked, wait));
    }
    if web.identity.provider(provider).is_none() {
        return Err(fault(Fault::Unknown));
    }
    let journey = journey(web, back).filter(|_| !params.repeats(&ONCE)).ok_or_else(Stop::journey)?;
    if !web.identity.is_answer_of(provider, params.get("iss")).await.map_err(fault)? {
        let text = "This answer is another provider's. Please start again.";
        return Err(Stop::Page(StatusCode::BAD_REQUEST, "issuer_mismatch", text.into()));
    }
    if let Some(error) = params.get("error") {
        return declined(web, context, back, &journey, error == "access_denied").await;
    }
    let code = params.get("code").ok_or_else(Stop::journey)?;
    let foreigner = {
        let _trying = match web.throttle.try_login(context.ip) {
            Ok(trying) => trying,
            Err(wait) => return Ok(html::too_many(Code::IpBlocked, wait)),
        };
        web.identity.arrive(&journey, code).await.map_err(|problem| {
            if matches!(problem, Fault::Code | Fault::IdToken(_)) {
                web.throttle.record_failure(context.ip);
            }
            fault(problem)
        })?
    };
    match &journey.errand {
        Errand::SignIn { return_to, anew } => sign_in(web, context, session, back, &foreigner, return_to, *anew).await,
        Errand::Link { user, session_hash } => {
            let person = SignedIn::find(web, session).await?;
            let person = person.filter(|person| person.user.id == *user && person.session_hash() == *session_hash);
            let person = person.ok_or_else(Stop::journey)?;
            link(web, context, &person, &foreigner).await?;
            Ok(html::see_other("/account/providers"))
        }
    }
}

/// The journey that this browser has under way with this provider and this state.
fn journey(web: &Web, back: &Return<'_>) -> Option<Journey> {
    let state = back.params.get("state")?;
    let sealed = cookies::read(back.headers, &cookie::journey(web, state))?;
    web.identity.open_journey(sealed, back.provider, state)
}

/// The person did not sign in there: the program that waits is told, else they may try another way.
async fn declined(
    web: &Web,
    context: &Context,
    back: &Return<'_>,
    journey: &Journey,
    by_person: bool,
) -> Result<Response, Stop> {
    let outcome = if by_person { "access_denied" } else { "provider_error" };
    let event = AuditEvent::new(context, "login.oidc", outcome).target(known(web, back.provider));
    let to = match &journey.errand {
        Errand::SignIn { return_to, .. } => return_to,
        Errand::Link { .. } => {
            web.record(event).await?;
            return Ok(html::see_other("/account/providers"));
        }
    };
    let asker = match return_to::authorization(to).filter(|_| by_person) {
        Some(query) => Destination::waiting(web, query).await?,
        None => None,
    };
    if let Some(asker) = asker {
        web.record(event.client(&asker.client.id)).await?;
        let answer = [("error", "access_denied"), ("error_description", "The person did not sign in.")];
        let url = answer_url(&web.config, &asker.redirect_uri, asker.state.as_deref(), &answer);
        return Ok(html::leave("Not connected", &html::display_name(&asker.client.name), &url));
    }
    web.record(event).await?;
    let problem = match by_person {
        true => "You cancelled the sign-in there. You can sign in in another way.",
        false => "The provider could not sign you in. You can try again, or sign in in another way.",
    };
    Ok(other_ways(web, back, StatusCode::OK, to, problem))
}

/// The log-in page, which goes on to `to`.
fn other_ways(web: &Web, back: &Return<'_>, status: StatusCode, to: &str, problem: &str) -> Response {
    let encoded: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
    let params = Params::parse(&format!("return_to={encoded}")).unwrap_or_default();
    form(web, back.headers, status, &params, problem)
}

async fn sign_in(
    web: &Web,
    context: &Context,
    session: &Session,
    back: &Return<'_>,
    foreigner: &Foreigner,
    to: &str,
    anew: Option<Millis>,
) -> Result<Response, Stop> {
    let target = known(web, back.provider);
    let event = |outcome: &str| AuditEvent::new(context, "login.oidc", outcome).target(target);
    let user = match web.identity.admit(foreigner).await? {
        Admission::Known(user) => user,
        Admission::Created(user) => {
            let created = AuditEvent::new(context, "account.create", "ok").by(principal(&user));
            web.record(created.target(target)).await?;
            user
        }
        Admission::SignInFirst { email } => {
            web.record(event("sign_in_first")).await?;
            return sign_in_first(web, back, foreigner, &email, to);
        }
        Admission::Suspended(user) => {
            web.record(event("suspended").by(principal(&user))).await?;
            let text = "This account is suspended. Ask the people who run this service.";
            return Ok(html::problem(StatusCode::FORBIDDEN, "You are not signed in", text));
        }
        Admission::Uninvited { email } => {
            let text = format!(
                "There is no account for {email} here. Ask an admin of your workspace for an invitation to this address."
            );
            return Err(Stop::Page(StatusCode::FORBIDDEN, "uninvited", text));
        }
        Admission::NoEmail => return Err(Stop::fault(back.provider, &Fault::Unverified)),
    };
    let proven = foreigner.proven_at(anew, web.identity.clock().now());
    // Whoever has a second factor shows it here in any case, and that is new.
    if proven.is_none() && !web.identity.factors(user.id).await?.any() {
        web.record(event("not_anew").by(principal(&user))).await?;
        let name = web.identity.provider(back.provider).map_or("", |provider| provider.name.as_str());
        return Ok(other_ways(web, back, StatusCode::UNAUTHORIZED, to, &not_anew(name)));
    }
    web.record(event("ok").by(principal(&user))).await?;
    let (browser, fresh) = match csrf::form_cookie(web, back.headers) {
        Some(value) => (value, None),
        None => csrf::new_form_cookie(web),
    };
    let first = First::Elsewhere(proven.unwrap_or_default());
    let response = two_step::begin(web, session, &browser, &user, first, Some(to)).await?;
    Ok(html::with_cookie(response, fresh))
}

fn not_anew(provider: &str) -> String {
    format!(
        "This needs a new sign-in, and {provider} does not say that you have just signed in there. Use your password \
         or a passkey instead. If you have neither, sign out here and at {provider}, sign in again, and add a passkey \
         or turn on two-step sign-in under Account at once."
    )
}

/// Never silently: an equal address proves nothing (B19). The form is the log-in page's own; it leads to the page that
/// asks whether to link.
fn sign_in_first(web: &Web, back: &Return<'_>, foreigner: &Foreigner, email: &str, to: &str) -> Result<Response, Stop> {
    let (csrf, fresh) = csrf::guest_token(web, back.headers, PURPOSE);
    let page = SignInFirstPage {
        provider: web.identity.provider(back.provider).map_or("", |provider| provider.name.as_str()),
        email,
        csrf,
        confirm: "/account/providers/confirm",
    };
    let mut response = html::with_cookie(html::page(StatusCode::OK, &page), fresh);
    let sealed = web.identity.seal_waiting(foreigner, to)?;
    if cookie::set(web, &mut response, &cookie::waiting(web), &sealed) {
        return Ok(response);
    }
    let text = "This cannot be linked from here. Sign in, then link it under Account, Other sign-ins.";
    Err(Stop::Page(StatusCode::BAD_REQUEST, "too_long", text.into()))
}

fn principal(user: &User) -> String {
    format!("user:{}", user.id)
}
