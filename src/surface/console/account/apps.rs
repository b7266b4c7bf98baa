//! `/account/apps`: the programs that act for the person, each with what it may do, and a button that ends it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::base::clock::Millis;
use crate::identity::clients;
use crate::identity::connected::ConnectedRow;
use crate::identity::redirect;
use crate::model::access::Scope;
use crate::model::error::Result;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::html::{self, filters};
use crate::surface::web::{AuditEvent, Web};

const PURPOSE: &str = "disconnect";

#[derive(Template)]
#[template(path = "apps.html", config = "src/surface/askama.toml")]
struct AppsPage {
    frame: Frame,
    apps: Vec<App>,
    csrf: String,
}

/// A connected program, for people.
struct App {
    id: String,
    name: String,
    /// Who vouches for the name.
    verified_host: Option<String>,
    goes_to: String,
    workspace: String,
    may: Vec<&'static str>,
    since: Millis,
    used: Millis,
    ends: Millis,
}

/// `GET`.
pub async fn show(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    page(&web, &visit).await.map_err(|error| html::failure(&error))
}

async fn page(web: &Web, visit: &Visit) -> Result<Response> {
    let apps = web.identity.connections(visit.person.user.id).await?.into_iter().map(App::from).collect();
    let frame = Frame::new(web, visit, Place::Account("/apps")).await?;
    Ok(html::page(StatusCode::OK, &AppsPage { frame, apps, csrf: visit.csrf(web, PURPOSE) }))
}

impl From<ConnectedRow> for App {
    fn from(connection: ConnectedRow) -> Self {
        let verified_host = clients::verified_host(&connection.client_id);
        let name = connection.client_name.or_else(|| verified_host.clone()).unwrap_or_default();
        Self {
            id: connection.id,
            name: html::display_name(&name),
            verified_host,
            goes_to: redirect::shown(&connection.redirect_uri),
            workspace: connection.org_name,
            may: connection.scopes.split(' ').filter_map(Scope::parse).map(Scope::meaning).collect(),
            since: connection.created_at,
            used: connection.last_used_at,
            ends: connection.ends_at,
        }
    }
}

/// `POST`.
pub async fn disconnect(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, params) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    let ended = async {
        let person = visit.person.user.id;
        if let Some(ended) = web.identity.disconnect_own(person, params.get("grant").unwrap_or("")).await? {
            let event = AuditEvent::new(&visit.context, "account.disconnect", "ok").by(visit.person.principal());
            web.record(event.org(Some(ended.org)).client(ended.client_id)).await?;
        }
        Ok(html::see_other("/account/apps"))
    };
    ended.await.map_err(|error| html::failure(&error))
}
