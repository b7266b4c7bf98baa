//! `/w/{slug}/audit`: who did what, with filters, and to take away.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::model::error::Result;
use crate::ops::audit_log::{Entries, ExportAudit, Format, ListAudit};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::export::{self, Ground};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/audit";

/// The filters as the form has them.
#[derive(Clone, Default)]
struct Filters {
    since: String,
    until: String,
    principal: String,
    action: String,
    outcome: String,
    text: String,
}

#[derive(Template)]
#[template(path = "audit.html", config = "src/surface/askama.toml")]
struct AuditPage {
    frame: Frame,
    here: String,
    filters: Filters,
    found: Entries,
    /// Members' addresses by principal.
    people: HashMap<String, String>,
    /// The filters as a query, for links.
    query: String,
    problem: String,
}

impl Filters {
    fn of(params: &Params) -> Self {
        let text = |name| params.get(name).unwrap_or("").to_owned();
        Self {
            since: text("since"),
            until: text("until"),
            principal: text("principal"),
            action: text("action"),
            outcome: text("outcome"),
            text: text("text"),
        }
    }

    fn query(&self) -> String {
        let pairs = [
            ("since", &self.since),
            ("until", &self.until),
            ("principal", &self.principal),
            ("action", &self.action),
            ("outcome", &self.outcome),
            ("text", &self.text),
        ];
        let said = pairs.iter().filter(|(_, value)| !value.is_empty());
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(said).finish()
    }

    fn list(&self, cursor: Option<String>) -> ListAudit {
        let said = |text: &String| (!text.is_empty()).then(|| text.clone());
        ListAudit {
            since: moment(&self.since),
            until: moment(&self.until),
            principal: said(&self.principal),
            action: said(&self.action),
            outcome: said(&self.outcome),
            text: said(&self.text),
            limit: None,
            cursor,
        }
    }
}

/// A day in a date field is its first moment; a whole moment is left as it is.
fn moment(text: &str) -> Option<String> {
    match text.len() {
        0 => None,
        10 => Some(format!("{text}T00:00:00Z")),
        _ => Some(text.to_owned()),
    }
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let params = Params::parse(&query).unwrap_or_default();
    page(&room, &params).await.unwrap_or_else(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, params: &Params) -> Result<Response> {
    let filters = Filters::of(params);
    let cursor = params.get("cursor").map(str::to_owned);
    let (found, problem) = match room.ask(filters.list(cursor)).await {
        Ok(found) => (found, String::new()),
        Err(error) if Room::is_correctable(&error) => {
            (Entries { entries: Vec::new(), next_cursor: None }, error.message)
        }
        Err(error) => return Err(error),
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let members = room.console.web.identity.members(room.caller.org).await?;
    let page = AuditPage {
        frame: room.frame().await?,
        here: room.here(),
        query: filters.query(),
        filters,
        found,
        people: members.into_iter().map(|(user, _)| (format!("user:{}", user.id), user.email)).collect(),
        problem,
    };
    Ok(html::page(status, &page))
}

/// `GET …/export?format=csv|ndjson`: a file, written as it is read.
pub async fn export(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let params = Params::parse(&query).unwrap_or_default();
    let filters = Filters::of(&params).list(None);
    let op = ExportAudit {
        format: if params.get("format") == Some("ndjson") { Format::Ndjson } else { Format::Csv },
        since: filters.since,
        until: filters.until,
        principal: filters.principal,
        action: filters.action,
        outcome: filters.outcome,
        text: filters.text,
        cursor: None,
    };
    let ground = Ground::Browser(room.console.web.clone(), room.visit.person.clone());
    let file = export::file(room.console.gateway.clone(), room.caller.clone(), ground, op);
    file.await.unwrap_or_else(|error| room.refusal(&error))
}
