//! `POST /logout`: the session's row goes, so that a copy of the cookie is worth nothing (B05).

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use crate::model::error::Result;
use crate::surface::browser::csrf;
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    match log_out(&web, &context, &session, request).await {
        Ok(true) => html::see_other("/"),
        Ok(false) => html::problem(StatusCode::FORBIDDEN, "That did not work", "This form was not sent from our page."),
        Err(error) => html::failure(&error),
    }
}

async fn log_out(web: &Web, context: &Context, session: &Session, request: Request) -> Result<bool> {
    let (parts, body) = request.into_parts();
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(true) };
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    if !csrf::from_our_pages(web, &parts.headers)
        || !csrf::is_token(web, person.binding(), csrf::LOG_OUT, params.get("csrf"))
    {
        return Ok(false);
    }
    SignedIn::end(session).await?;
    web.record(AuditEvent::new(context, "login.logout", "ok").by(person.principal())).await?;
    Ok(true)
}
