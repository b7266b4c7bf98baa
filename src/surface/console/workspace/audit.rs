//! `/w/{slug}/audit`: who did what, with filters, and to take away.

use std::collections::HashMap;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Console, Room, Slug};
use crate::gateway::Via;
use crate::model::error::{Error, Result};
use crate::ops::audit_log::{ExportAudit, Format, ListAudit};
use crate::surface::console::frame::Frame;
use crate::surface::console::visit::Door;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/audit";

#[derive(Deserialize)]
struct Entries {
    entries: Vec<AuditEntry>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct AuditEntry {
    seq: i64,
    at: String,
    principal: String,
    client: String,
    ip: String,
    request_id: String,
    action: String,
    target: String,
    outcome: String,
    duration_ms: i64,
}

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
    let (found, problem) = match room.ask::<Entries>(filters.list(cursor)).await {
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

#[derive(Deserialize)]
struct Part {
    content: String,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// `GET …/export?format=csv|ndjson`: a file, written as it is read.
pub async fn export(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let params = Params::parse(&query).unwrap_or_default();
    let (format, kind) = match params.get("format") {
        Some("ndjson") => (Format::Ndjson, "application/x-ndjson"),
        _ => (Format::Csv, "text/csv; charset=utf-8"),
    };
    let filters = Filters::of(&params).list(None);
    let op = move |cursor: Option<String>| ExportAudit {
        format,
        since: filters.since.clone(),
        until: filters.until.clone(),
        principal: filters.principal.clone(),
        action: filters.action.clone(),
        outcome: filters.outcome.clone(),
        text: filters.text.clone(),
        cursor,
    };
    // The first part is fetched before anything is answered, so that a refusal is a page and not half a file.
    let first = match room.ask::<Part>(op(None)).await {
        Ok(first) => first,
        Err(error) => return room.refusal(&error),
    };
    let (gateway, caller) = (room.console.gateway.clone(), room.caller.clone());
    let parts = futures_util::stream::unfold(Some(Ok(first)), move |part: Option<Result<Part>>| {
        let (gateway, caller, op) = (gateway.clone(), caller.clone(), op.clone());
        async move {
            let part = match part? {
                Ok(part) => part,
                Err(error) => return Some((Err(error), None)),
            };
            let next = match part.next_cursor {
                None => None,
                Some(cursor) => {
                    let reply = gateway.call(&caller, op(Some(cursor)), Via::new("console.call")).await;
                    Some(reply.and_then(|reply| serde_json::from_value(reply).map_err(Error::internal)))
                }
            };
            Some((Ok::<_, Error>(Bytes::from(part.content)), next))
        }
    });
    let name = format!(
        "attachment; filename=\"audit-{}.{}\"",
        room.membership.org.slug,
        match format {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
        }
    );
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    response
}
