//! One name for the service in a browser's address bar.

use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::surface::html;
use crate::surface::web::Web;

/// Without TLS we are on this machine, which has several names: a person who typed `localhost` is sent to the name in
/// the settings, because cookies and forms of one name are not those of another. Behind TLS a proxy may change the
/// `Host`, and nothing is concluded from it.
pub async fn one_name(State(web): State<Web>, request: Request, next: Next) -> Response {
    let public = web.config.issuer();
    let ours = public.strip_prefix("http://");
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if request.method() == Method::GET && ours.is_some() && host.is_some() && host != ours {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        return html::see_other(&web.config.url(path));
    }
    next.run(request).await
}
