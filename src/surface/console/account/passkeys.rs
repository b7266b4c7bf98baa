//! `/account/passkeys`: the person's passkeys, and adding, renaming and removing them.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use super::two_step::{finished, first, may_change, record};
use crate::base::clock::{Millis, rfc3339};
use crate::identity::passkeys::{Answer, Ceremony, PasskeyInfo, ProofError};
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::Web;

const PATH: &str = "/account/passkeys";
const PURPOSE: &str = "passkey settings";

struct Row {
    id: String,
    name: String,
    added: String,
    last_used: String,
}

#[derive(Template)]
#[template(path = "account_passkeys.html", config = "src/surface/askama.toml")]
struct PasskeysPage {
    frame: Frame,
    rows: Vec<Row>,
    /// This address can have passkeys.
    possible: bool,
    /// Where to prove oneself, when a change needs that first.
    first: Option<String>,
    ceremony: Option<Ceremony>,
    csrf: String,
    problem: String,
}

pub async fn show(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    page(&web, &visit, StatusCode::OK, "").await.map_err(|error| html::failure(&error))
}

async fn page(web: &Web, visit: &Visit, status: StatusCode, problem: &str) -> Result<Response> {
    let person = &visit.person;
    let first = first(web, visit, web.identity.factors(person.user.id).await?, PATH);
    let possible = web.identity.has_passkeys();
    let (ceremony, full) = match possible && first.is_none() {
        false => (None, None),
        true => match web.identity.begin_passkey(&person.user, person.binding()).await {
            Ok(ceremony) => (Some(ceremony), None),
            Err(error) if error.code == Code::InvalidArgument => (None, Some(error.message)),
            Err(error) => return Err(error),
        },
    };
    let page = PasskeysPage {
        frame: Frame::new(web, visit, Place::Account("/passkeys")).await?,
        rows: web.identity.passkeys(person.user.id).await?.into_iter().map(row).collect(),
        possible,
        first,
        ceremony,
        csrf: visit.csrf(web, PURPOSE),
        problem: if problem.is_empty() { full.unwrap_or_default() } else { problem.to_owned() },
    };
    Ok(html::page_with_script(status, &page))
}

fn row(passkey: PasskeyInfo) -> Row {
    let day = |at: Millis| rfc3339(at).get(..10).unwrap_or_default().to_owned();
    Row {
        id: passkey.id,
        name: passkey.name,
        added: day(passkey.created_at),
        last_used: passkey.last_used_at.map_or_else(|| "never".to_owned(), day),
    }
}

/// The visitor of a form that may change passkeys.
async fn changing(web: &Web, door: Door, request: Request) -> Result<(Visit, Session, Params), Response> {
    let session = door.session.clone();
    let (visit, params) = Visit::form(web, &door.session, door.context, PURPOSE, request).await?;
    may_change(web, &visit).await?;
    Ok((visit, session, params))
}

pub async fn add(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, session, params) = changing(&web, door, request).await?;
    let added = async {
        let (person, name) = (&visit.person, params.get("name").unwrap_or(""));
        let answer =
            Answer { state: params.get("state").unwrap_or(""), credential: params.get("credential").unwrap_or("") };
        match web.identity.add_passkey(&person.user, person.binding(), answer, name).await {
            Ok(codes) => {
                record(&web, &visit, "account.passkey", "ok", "added").await?;
                // The session has shown both factors now.
                person.renew(&web, &session, Acr::Aal2).await?;
                Ok(finished(&visit, codes, "The passkey is added.", PATH))
            }
            Err(ProofError::Refused(why)) => {
                record(&web, &visit, "account.passkey", why, "added").await?;
                let problem = "The passkey was not added: it was not accepted, or the page was old. Please try again.";
                page(&web, &visit, StatusCode::BAD_REQUEST, problem).await
            }
            Err(ProofError::Internal(error)) => Err(error),
        }
    };
    added.await.map_err(|error| html::failure(&error))
}

pub async fn rename(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, _, params) = changing(&web, door, request).await?;
    let (id, name) = (params.get("id").unwrap_or(""), params.get("name").unwrap_or(""));
    let renamed = web.identity.rename_passkey(visit.person.user.id, id, name).await;
    done(&web, &visit, renamed, "renamed").await.map_err(|error| html::failure(&error))
}

pub async fn remove(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, _, params) = changing(&web, door, request).await?;
    let removed = web.identity.remove_passkey(visit.person.user.id, params.get("id").unwrap_or("")).await;
    done(&web, &visit, removed, "removed").await.map_err(|error| html::failure(&error))
}

/// The same answer for somebody else's passkey and for one that is not there.
async fn done(web: &Web, visit: &Visit, found: Result<bool>, what: &str) -> Result<Response, Error> {
    let found = found?;
    record(web, visit, "account.passkey", if found { "ok" } else { "not_found" }, what).await?;
    if found && what == "removed" {
        // Whoever else had the passkey goes with it.
        web.identity.end_other_browser_sessions(visit.person.user.id, &visit.person.session_hash()).await?;
    }
    match found {
        true => Ok(html::see_other(PATH)),
        false => page(web, visit, StatusCode::NOT_FOUND, "You have no such passkey.").await,
    }
}
