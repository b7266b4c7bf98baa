//! `/w/{slug}/audit`: who did what, with filters, and to take away.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::model::error::Result;
use crate::model::user::User;
use crate::ops::audit_log::{AuditEntry, Entries, ExportAudit, Format, ListAudit};
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

    /// As the record has it: the principal of a member whose address was given, and outcomes in small letters.
    fn recorded(mut self, people: &HashMap<String, String>) -> Self {
        let who = self.principal.trim();
        if let Some((principal, _)) = people.iter().find(|(_, email)| email.eq_ignore_ascii_case(who)) {
            self.principal = principal.clone();
        }
        self.outcome = self.outcome.trim().to_lowercase();
        self
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

/// Members' addresses by principal.
async fn people(room: &Room<'_>) -> Result<HashMap<String, String>> {
    let members = room.console.web.identity.members(room.caller.org).await?;
    Ok(members.into_iter().map(|(user, _)| (format!("user:{}", user.id), user.email)).collect())
}

/// Adds who was a member when an entry was written, and left since: those alone whose role it says was changed.
async fn add_who_left(room: &Room<'_>, entries: &[AuditEntry], people: &mut HashMap<String, String>) -> Result<()> {
    for entry in entries.iter().filter(|entry| entry.outcome == "ok" && entry.action.starts_with("admin.role.")) {
        for id in entry.target.split(' ').filter_map(|word| word.parse::<Id<User>>().ok()) {
            let principal = format!("user:{id}");
            if !people.contains_key(&principal)
                && let Some(user) = room.console.web.identity.user(id).await?
            {
                people.insert(principal, user.email);
            }
        }
    }
    Ok(())
}

/// What an entry is about, with the addresses of people behind their ids.
fn told(target: &str, people: &HashMap<String, String>) -> String {
    let word = |word: &str| match people.get(&format!("user:{word}")) {
        Some(email) => format!("{word} ({email})"),
        None => word.to_owned(),
    };
    target.split(' ').map(word).collect::<Vec<String>>().join(" ")
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
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    page(&room, &params).await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, params: &Params) -> Result<Response> {
    let filters = Filters::of(params);
    let cursor = params.get("cursor").map(str::to_owned);
    let mut people = people(room).await?;
    let asked = filters.clone().recorded(&people);
    let (found, problem) = match room.ask(asked.list(cursor)).await {
        Ok(found) => (found, String::new()),
        Err(error) if Room::is_correctable(&error) => {
            (Entries { entries: Vec::new(), next_cursor: None }, error.message)
        }
        Err(error) => return Err(error),
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    add_who_left(room, &found.entries, &mut people).await?;
    let page = AuditPage {
        frame: room.frame().await?,
        here: room.here(),
        query: asked.query(),
        filters,
        found,
        people,
        problem,
    };
    Ok(html::page(status, &page))
}

/// `GET …/export?format=csv|ndjson`: a file, written as it is read.
pub async fn export(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
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
    file.await.map_err(|error| room.refusal(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_known_by_their_addresses() {
        let people = HashMap::from([("user:7".to_owned(), "ann@example.com".to_owned())]);
        assert_eq!(told("remove_member 7 of 8", &people), "remove_member 7 (ann@example.com) of 8");
        let typed = Filters { principal: " Ann@example.com".into(), outcome: "OK ".into(), ..Filters::default() };
        let asked = typed.recorded(&people);
        assert_eq!((asked.principal.as_str(), asked.outcome.as_str()), ("user:7", "ok"));
        let token = Filters { principal: "token:x".into(), ..Filters::default() }.recorded(&people);
        assert_eq!(token.principal, "token:x", "others are as they were typed");
    }
}
