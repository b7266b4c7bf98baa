//! `/account/sessions`: every browser that is signed in, since when, and from where; each can be signed out from here.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::base::clock::{Millis, rfc3339};
use crate::model::error::{Error, Result};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

const PURPOSE: &str = "account.session";

#[derive(Template)]
#[template(path = "sessions.html", config = "src/surface/askama.toml")]
struct SessionsPage {
    frame: Frame,
    csrf: String,
    done: &'static str,
    sessions: Vec<Line>,
}

struct Line {
    id: String,
    browser: String,
    ip: String,
    since: String,
    seen: String,
    here: bool,
}

/// `GET /account/sessions`.
pub async fn show(State(web): State<Web>, door: Door, RawQuery(query): RawQuery, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let done = match params.get("ended") {
        Some("one") => "That browser is signed out.",
        Some("others") => "Every other browser is signed out.",
        _ => "",
    };
    let shown: Result<Response, Error> = async {
        let here = visit.person.session_hash();
        let sessions = web.identity.browser_sessions(visit.person.user.id).await?;
        let line = |session: crate::identity::browsers::BrowserSession| Line {
            here: session.id_hash == here,
            browser: browser_name(&session.trace.agent),
            since: minute(session.trace.created_at),
            seen: minute(session.trace.seen_at),
            ip: session.trace.ip,
            id: session.trace.id,
        };
        let page = SessionsPage {
            frame: Frame::new(&web, &visit, Place::Account("/sessions")).await?,
            csrf: visit.csrf(&web, PURPOSE),
            done,
            sessions: sessions.into_iter().map(line).collect(),
        };
        Ok(html::page(StatusCode::OK, &page))
    }
    .await;
    shown.map_err(|error| html::failure(&error))
}

/// `POST /account/sessions/end`: one browser, which may be this one.
pub async fn end(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, params) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    let ended: Result<Response, Error> = async {
        let (user, id) = (visit.person.user.id, params.get("id").unwrap_or(""));
        let event = |outcome| AuditEvent::new(&visit.context, PURPOSE, outcome).by(visit.person.principal()).target(id);
        let here = visit.person.session_hash();
        let sessions = web.identity.browser_sessions(user).await?;
        let is_here = sessions.iter().any(|session| session.trace.id == id && session.id_hash == here);
        let known = web.identity.end_browser_session(user, id).await?;
        web.record(event(if known { "ok" } else { "not_found" })).await?;
        if is_here {
            SignedIn::end(&door.session).await?;
            return Ok(html::see_other("/"));
        }
        // One that has ended meanwhile is what the person wanted.
        Ok(html::see_other("/account/sessions?ended=one"))
    }
    .await;
    ended.map_err(|error| html::failure(&error))
}

/// `POST /account/sessions/end-others`.
pub async fn end_others(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, _) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    let ended: Result<Response, Error> = async {
        let keep = visit.person.session_hash();
        web.identity.end_other_browser_sessions(visit.person.user.id, &keep).await?;
        let event = AuditEvent::new(&visit.context, PURPOSE, "ok").by(visit.person.principal());
        web.record(event.target("others")).await?;
        Ok(html::see_other("/account/sessions?ended=others"))
    }
    .await;
    ended.map_err(|error| html::failure(&error))
}

/// `2026-11-22 01:47`, in UTC.
fn minute(at: Millis) -> String {
    rfc3339(at).chars().take(16).collect::<String>().replace('T', " ")
}

/// What a browser is, as far as it can be read from what it calls itself; else its own words, fit to be shown.
fn browser_name(agent: &str) -> String {
    let first =
        |names: &[(&str, &'static str)]| names.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    // In this order: most browsers also claim to be the ones below them.
    let browser = first(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ if agent.is_empty() => "A browser without a name".to_owned(),
        _ => html::display_name(agent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_as_people_call_them() {
        for (agent, name) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
                 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.14.1\u{202e}", "curl/8.14.1"),
            ("", "A browser without a name"),
        ] {
            assert_eq!(browser_name(agent), name);
        }
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(minute(1_700_000_000_000), "2023-11-14 22:13");
    }
}
