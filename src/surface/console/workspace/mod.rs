//! `/w/{slug}`: a workspace, for its people. What is shown and changed here passes the gateway as a caller's request
//! does, with the same rules, the same refusals and the same rows in the record.

pub mod ask;
pub mod audit;
pub mod check;
pub mod clients;
pub mod connect;
pub mod dataset;
pub mod demo;
pub mod document;
pub mod figures;
pub mod follow;
pub mod import;
mod kept;
pub mod members;
pub mod ontologies;
pub mod overview;
mod places;
pub mod rows;
pub mod settings;
pub mod several;
pub mod sources;
mod table;
pub mod texts;
pub mod uploads;

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRef, Path, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::de::DeserializeOwned;

use crate::gateway::operation::Operation;
use crate::gateway::{Gateway, Via};
use crate::model::acr::Acr;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::model::user::Membership;
use crate::surface::browser::return_to::{self, SignIn};
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::form::{FormError, Params, Size};
use crate::surface::html;
use crate::surface::web::Web;

/// Where the rows of a statement become a file.
const CSV: &str = "/ask/csv";

/// The state of the handlers here.
#[derive(Clone)]
pub struct Console {
    pub web: Web,
    pub gateway: Arc<Gateway>,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Console")
    }
}

impl FromRef<Console> for Web {
    fn from_ref(console: &Console) -> Self {
        console.web.clone()
    }
}

/// The slug in a path.
type Slug = Path<HashMap<String, String>>;

/// A person in one of their workspaces.
struct Room<'a> {
    console: &'a Console,
    visit: Visit,
    membership: Membership,
    caller: Caller,
    /// The page, below the workspace's address; `{id}` stands for the thing that it is about.
    page: &'static str,
    /// As `page`, with the thing that the page is about, where it is about one of several.
    place: String,
}

impl<'a> Room<'a> {
    /// Who opens a page. A workspace of others and one that does not exist are the same blank page.
    async fn enter(
        console: &'a Console,
        door: Door,
        Path(path): Slug,
        page: &'static str,
        request: Request,
    ) -> Result<Self, Response> {
        let visit = Visit::of(&console.web, &door.session, door.context, &request).await?;
        Self::find(console, visit, &path, page).await
    }

    /// Who sends a form of a page, with its fields.
    async fn submit(
        console: &'a Console,
        door: Door,
        Path(path): Slug,
        page: &'static str,
        request: Request,
    ) -> Result<(Self, Params), Response> {
        let slug = path.get("slug").map_or("", String::as_str);
        let purpose = purpose(slug, &place(&path, page));
        let (visit, params) = Visit::form(&console.web, &door.session, door.context, &purpose, request).await?;
        Ok((Self::find(console, visit, &path, page).await?, params))
    }

    /// As [`Room::submit`], for a form that asks for `O` and may hold more. It is read of members alone.
    async fn submit_long<O: Operation>(
        console: &'a Console,
        door: Door,
        Path(path): Slug,
        page: &'static str,
        request: Request,
        size: Size,
    ) -> Result<(Self, Params), Response> {
        let visit = Visit::of(&console.web, &door.session, door.context, &request).await?;
        let room = Self::find(console, visit, &path, page).await?;
        let (parts, body) = request.into_parts();
        let params = room.long_form::<O>(&parts.headers, body, size).await?;
        let purpose = purpose(&room.membership.org.slug, &room.place);
        if room.visit.has_sent(&console.web, &parts.headers, &purpose, params.get("csrf")) {
            return Ok((room, params));
        }
        Err(room.visit.has_not_sent(&console.web, &purpose).await)
    }

    /// The fields of a form. One of more than a few kilobytes is read of those alone who may do what it asks for.
    async fn long_form<O: Operation>(&self, headers: &HeaderMap, body: Body, size: Size) -> Result<Params, Response> {
        let gateway = &self.console.gateway;
        let place = || gateway.body(&self.caller, Some(O::INFO.action));
        match Params::of_large_body(headers, body, size, place).await {
            Ok(Err(FormError::TooLarge)) => {
                let most = if size == Size::DOCUMENT { "a document may be: ten megabytes" } else { "this form may be" };
                let text = format!("What you sent is larger than {most}. Nothing was kept.");
                Err(html::problem(StatusCode::PAYLOAD_TOO_LARGE, "That was too much", &text))
            }
            Ok(params) => Ok(params.unwrap_or_default()),
            Err(error) => match gateway.refused(&self.caller, "console.call", O::INFO.name, &error).await {
                Ok(()) => Err(self.refusal(&error)),
                Err(unrecorded) => Err(html::failure(&unrecorded)),
            },
        }
    }

    async fn find(
        console: &'a Console,
        visit: Visit,
        path: &HashMap<String, String>,
        page: &'static str,
    ) -> Result<Self, Response> {
        let slug = path.get("slug").map_or("", String::as_str);
        match visit.caller(&console.web.identity, slug).await {
            Ok(Some((membership, caller))) => {
                Ok(Self { console, visit, membership, caller, page, place: place(path, page) })
            }
            Ok(None) => {
                let text = "There is no such workspace, or you do not belong to it.";
                Err(html::problem(StatusCode::NOT_FOUND, "Not found", text))
            }
            Err(error) => Err(html::failure(&error)),
        }
    }

    /// Asks the gateway.
    async fn ask<O: Operation>(&self, op: O) -> Result<O::Reply> {
        let asked = self.console.gateway.call(&self.caller, op, Via::new("console.call")).await;
        Ok(asked.map_err(|error| Error { message: html::plainly(&error.message), ..error })?.reply)
    }

    async fn frame(&self) -> Result<Frame> {
        Frame::new(&self.console.web, &self.visit, Place::Workspace(&self.membership.org.slug, self.page)).await
    }

    /// As a page below the tab of another.
    async fn frame_below(&self, tab: &'static str) -> Result<Frame> {
        Frame::new(&self.console.web, &self.visit, Place::Workspace(&self.membership.org.slug, tab)).await
    }

    /// The same person at another page of the workspace.
    fn at(&self, page: &'static str, place: String) -> Room<'a> {
        let Self { console, visit, membership, caller, .. } = self;
        Room { console, visit: visit.clone(), membership: membership.clone(), caller: caller.clone(), page, place }
    }

    /// For the forms of this page.
    fn csrf(&self) -> String {
        self.csrf_at(&self.place)
    }

    /// For a form that is sent to another page of the workspace.
    fn csrf_at(&self, place: &str) -> String {
        self.visit.csrf(&self.console.web, &purpose(&self.membership.org.slug, place))
    }

    /// The page's own address.
    fn here(&self) -> String {
        format!("/w/{}{}", self.membership.org.slug, self.place)
    }

    /// The page as it answers a form, to be shown once.
    fn once(&self, page: Response) -> Response {
        self.visit.once(page, &self.here())
    }

    /// What a person sees of a refusal: a way to confirm who they are when that is all that is missing.
    fn refusal(&self, error: &Error) -> Response {
        if error.code == Code::InsufficientUserAuthentication {
            return SignIn { least: Some(Acr::Aal1), to: self.visit.returning(self.here()) }.answer();
        }
        html::failure(error)
    }

    /// What follows what a form changes: what the page shows this one time, and what was wrong.
    ///
    /// # Errors
    /// The answer to send instead of the page.
    async fn settle<T>(
        &self,
        change: impl Future<Output = Result<Option<T>>>,
    ) -> Result<(Option<T>, String), Response> {
        match change.await {
            Ok(None) => Err(html::see_other(&format!("{}?{}", self.here(), return_to::DONE))),
            Ok(once) => Ok((once, String::new())),
            Err(error) if Self::is_correctable(&error) => Ok((None, error.message)),
            Err(error) => Err(self.refusal(&error)),
        }
    }

    /// Whether the page shows the error itself, beside the form that caused it.
    fn is_correctable(error: &Error) -> bool {
        matches!(error.code, Code::InvalidArgument | Code::NotFound | Code::Forbidden | Code::LimitExceeded)
    }
}

fn purpose(slug: &str, place: &str) -> String {
    format!("console:{slug}:{place}")
}

fn place(path: &HashMap<String, String>, page: &str) -> String {
    let Some(id) = path.get("id") else { return page.to_owned() };
    // Percent-encoded again, so that no id makes an address of another page.
    let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    if page.contains("{id}") { page.replace("{id}", &id) } else { format!("{page}/{id}") }
}

/// A value of a form that is one of an enum's names.
fn parsed<T: DeserializeOwned>(params: &Params, name: &str) -> Result<T> {
    let text = params.get(name).unwrap_or("");
    serde_json::from_value(text.into()).map_err(|_| Error::invalid(name, format!("{name} is missing or malformed.")))
}
