//! `/login/{provider}`: where the person will be sent, and for whom. Anybody can register a client and send people to
//! us; whoever is signed in at the provider would pass it without a page. So ours comes first, always (B15).

use askama::Template;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tower_sessions::Session;

use crate::base::secret::sha256_hex;
use crate::identity::clients;
use crate::identity::redirect::{self, Kind};
use crate::identity::upstream::Errand;
use crate::model::error::Code;
use crate::surface::browser::destination::Destination;
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::upstream::{Stop, known, leave};
use crate::surface::browser::{csrf, return_to};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// The program that waits for the sign-in.
struct Asker {
    client: String,
    /// Who vouches for the client's name.
    verified_host: Option<String>,
    goes_to: String,
    kind: Kind,
}

#[derive(Template)]
#[template(path = "depart.html", config = "src/surface/askama.toml")]
struct DepartPage<'a> {
    provider: &'a str,
    id: &'a str,
    host: String,
    asker: Option<Asker>,
    return_to: &'a str,
    csrf: String,
    problem: &'a str,
}

/// `GET`.
pub async fn show(
    State(web): State<Web>,
    context: Context,
    Path(provider): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = page(&web, &headers, &provider, &params, StatusCode::OK, "").await;
    finish(&web, &context, &provider, shown).await
}

/// `POST`.
pub async fn submit(
    State(web): State<Web>,
    context: Context,
    session: Session,
    Path(provider): Path<String>,
    request: Request,
) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let back = return_to::safe(params.get("return_to"));
    let purpose = purpose(&provider, back);
    let sent = if csrf::guest(&web, &parts.headers, &purpose, params.get("csrf")).is_some() {
        send(&web, &session, &parts.headers, &provider, back).await
    } else {
        let event = AuditEvent::new(&context, "login.oidc", "form_refused").target(known(&web, &provider));
        if let Err(error) = web.record(event).await {
            return html::failure(&error);
        }
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        page(&web, &parts.headers, &provider, &params, StatusCode::FORBIDDEN, problem).await
    };
    finish(&web, &context, &provider, sent).await
}

/// Whoever is signed in already, or goes on to where an earlier log-in does not do, is there to prove themselves: the
/// session that their browser has at the provider does not.
async fn send(web: &Web, session: &Session, headers: &HeaderMap, provider: &str, back: &str) -> Result<Response, Stop> {
    let renewed = return_to::asks_for_fresh(back) || SignedIn::find(web, session).await?.is_some();
    let anew = renewed.then(|| web.identity.clock().now());
    leave(web, headers, provider, Errand::SignIn { return_to: back.to_owned(), anew }).await
}

async fn finish(web: &Web, context: &Context, provider: &str, answer: Result<Response, Stop>) -> Response {
    let stop = match answer {
        Ok(response) => return response,
        Err(stop) => stop,
    };
    let event = AuditEvent::new(context, "login.oidc", stop.outcome()).target(known(web, provider));
    match web.record(event).await {
        Ok(()) => stop.page(),
        Err(error) => html::failure(&error),
    }
}

/// The token is for this provider and this way back: the page said who asks, and nobody else can be put in their place.
fn purpose(provider: &str, back: &str) -> String {
    format!("upstream:{provider}:{}", sha256_hex(back.as_bytes()))
}

async fn page(
    web: &Web,
    headers: &HeaderMap,
    id: &str,
    params: &Params,
    status: StatusCode,
    problem: &str,
) -> Result<Response, Stop> {
    let fault = |fault| Stop::fault(id, &fault);
    let host = web.identity.upstream_host(id).await.map_err(fault)?;
    let back = return_to::safe(params.get("return_to"));
    let (csrf, fresh) = csrf::guest_token(web, headers, &purpose(id, back));
    let page = DepartPage {
        provider: web.identity.provider(id).map_or("", |provider| provider.name.as_str()),
        id,
        host,
        asker: asker(web, back).await?,
        return_to: back,
        csrf,
        problem,
    };
    Ok(html::with_cookie(html::page(status, &page), fresh))
}

/// Who waits for the sign-in, when it is an authorization request that does.
async fn asker(web: &Web, back: &str) -> Result<Option<Asker>, Stop> {
    let Some(query) = return_to::authorization(back) else { return Ok(None) };
    let Some(found) = Destination::waiting(web, query).await? else {
        let text = "The program that sent you here is not registered with this service, or wants you to be sent to an \
                    address that it did not register. Remove the connection in your AI client and add it again.";
        return Err(Stop::Page(StatusCode::BAD_REQUEST, "client_unknown", text.into()));
    };
    Ok(Some(Asker {
        client: html::display_name(&found.client.name),
        verified_host: clients::verified_host(&found.client.id),
        goes_to: redirect::shown(&found.redirect_uri),
        kind: redirect::kind(&found.redirect_uri).unwrap_or(Kind::UnknownApp),
    }))
}
