//! What a person sees: logging in and out, a forgotten password, and approving a client; and the layers of every page.

mod choice;
mod consent;
pub mod cookies;
pub mod csrf;
mod device;
mod forgot;
mod known;
mod log_in;
pub mod log_out;
pub mod password;
mod pending;
pub mod remembered;
mod reset;
pub mod return_to;
pub mod session;

pub use device::PAGE as DEVICE;
pub use pending::{Asker, Back, Pending};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use crate::surface::web::Web;
use crate::surface::{console, html, oauth};

/// The pages, and the authorization endpoint, which needs to know who is in front of the browser.
pub fn routes(web: &Web) -> Router<Web> {
    let pages = console::routes()
        .route("/login", get(log_in::show).post(log_in::submit))
        .route("/login/forgot", get(forgot::show).post(forgot::submit))
        .route("/login/reset", get(reset::show).post(reset::submit))
        .route("/logout", post(log_out::submit))
        .route("/consent", get(consent::show).post(consent::submit))
        .route(DEVICE, get(device::show).post(device::submit))
        .route(return_to::AUTHORIZE, get(oauth::authorize).post(oauth::authorize));
    with_session(web, pages).route("/assets/{name}", get(html::asset))
}

/// The layers of every page that needs to know who is in front of the browser.
pub fn with_session<S: Clone + Send + Sync + 'static>(web: &Web, pages: Router<S>) -> Router<S> {
    pages
        .route_layer(from_fn_with_state(web.clone(), session::trace))
        .route_layer(session::layer(web))
        .route_layer(from_fn_with_state(web.clone(), one_name))
}

/// Without TLS we are on this machine, which has several names: a person who typed `localhost` is sent to the name in
/// the settings, because cookies and forms of one name are not those of another. Behind TLS a proxy may change the
/// `Host`, and nothing is concluded from it.
async fn one_name(State(web): State<Web>, request: Request, next: Next) -> Response {
    let public = web.config.issuer();
    let ours = public.strip_prefix("http://");
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if request.method() == Method::GET && ours.is_some() && host.is_some() && host != ours {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        return html::see_other(&web.config.url(path));
    }
    next.run(request).await
}
