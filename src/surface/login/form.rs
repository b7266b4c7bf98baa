//! The page of `/login`, for all who show it.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::surface::browser::{csrf, return_to};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::passkey;
use crate::surface::web::Web;

/// What the form token is for.
pub(super) const PURPOSE: &str = "login";

#[derive(Template)]
#[template(path = "login.html", config = "src/surface/askama.toml")]
struct LoginPage<'a> {
    csrf: String,
    return_to: &'a str,
    email: &'a str,
    /// Whether a forgotten password can be helped.
    mails: bool,
    /// Where to sign in with a passkey, if this address can have any.
    passkey_page: Option<String>,
    problem: &'a str,
    /// What is said of a form that waits for it; empty where none does.
    waits: &'static str,
    providers: Vec<Way>,
}

/// A provider to choose on the log-in page.
struct Way {
    name: String,
    href: String,
}

/// The page, with what was wrong with a form before it.
pub(super) fn form(web: &Web, headers: &HeaderMap, status: StatusCode, params: &Params, problem: &str) -> Response {
    let (csrf, cookie) = csrf::guest_token(web, headers, PURPOSE);
    let to = return_to::safe(params.get("return_to"));
    let page = LoginPage {
        csrf,
        return_to: to,
        passkey_page: web.identity.has_passkeys().then(|| return_to::with(passkey::PATH, to)),
        email: params.get("email").unwrap_or(""),
        mails: web.identity.mailer().is_on(),
        problem,
        waits: return_to::waiting(to),
        providers: ways(web, params.get("return_to")),
    };
    html::with_cookie(html::page(status, &page), cookie)
}

/// Every configured provider, with where to go after signing in there.
fn ways(web: &Web, back: Option<&str>) -> Vec<Way> {
    let encoded: String = url::form_urlencoded::byte_serialize(return_to::safe(back).as_bytes()).collect();
    let way = |provider: &crate::config::Provider| Way {
        name: provider.name.clone(),
        href: format!("/login/{}?return_to={encoded}", provider.id),
    };
    web.config.providers.iter().map(way).collect()
}
