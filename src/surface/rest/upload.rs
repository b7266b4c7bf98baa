//! `POST /api/v1/datasets` and `/api/v1/datasets/check`: files as `multipart/form-data`. Fields: `name`, `description`,
//! `publish` (`true` or `false`), `if_exists` (`replace`, `append` or `refuse`), `columns` (JSON), and one or more `file`.
//! Bytes go to a private staging folder as they arrive, bounded; nothing is kept when anything fails. Whole uploads are
//! named in a JSON body instead.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::{Rest, answer, refused, run};
use crate::gateway::operation::Operation;
use crate::model::caller::{Caller, Proof};
use crate::model::column_change::ColumnChange;
use crate::model::error::{Error, Result};
use crate::ops::check_import::CheckImport;
use crate::ops::import::{IfExists, Import};
use crate::surface::receive::{Form, Received, Room, receive};

const FIELDS: [&str; 5] = ["name", "description", "publish", "if_exists", "columns"];

/// An operation over files that come with it.
pub(super) trait FromForm: Operation {
    /// # Errors
    /// A field says something else than it can.
    fn from_form(received: Received) -> Result<Self>;
}

pub(super) async fn upload<O: FromForm>(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    // Rights and a place first: nobody without them makes us write a byte.
    let staging = match rest.gateway.staging(&caller) {
        Ok(staging) => staging,
        Err(error) => return refused::<O>(&rest, &caller, error).await,
    };
    if is_json(request.headers()) {
        return answer::<O>(&rest, caller, Ok(Path(HashMap::new())), request).await;
    }
    let Some(form) = Form::of(request).await else {
        let message = "Send the files as multipart/form-data, in fields named file; or JSON that names uploads.";
        return refused::<O>(&rest, &caller, Error::invalid("Content-Type", message)).await;
    };
    // What the operator has on this machine already may be as large as it is.
    let most = if caller.proof == Proof::Local { u64::MAX } else { rest.config.limits.budgets.upload_bytes };
    let admits = |bytes: u64| rest.gateway.admit(bytes);
    let room = Room { folder: staging.path(), most, admits: &admits, fields: &FIELDS };
    match receive(form, room, |_| Ok(())).await.and_then(O::from_form) {
        Ok(op) => run(&rest, caller, op, staging).await,
        Err(error) => {
            // First what came of it: on a full disk the refusal needs room to be recorded.
            drop(staging);
            refused::<O>(&rest, &caller, error).await
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    named.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The corrections in a form's field.
fn columns(received: &Received) -> Result<Vec<ColumnChange>> {
    let Some(text) = received.get("columns") else { return Ok(vec![]) };
    serde_json::from_str(text).map_err(|problem| {
        let message = format!(r#"columns is a JSON array such as [{{"column":"zip","type":"VARCHAR"}}]: {problem}."#);
        Error::invalid("columns", message)
    })
}

impl FromForm for Import {
    fn from_form(received: Received) -> Result<Self> {
        let publish = received.get("publish").unwrap_or("false").parse();
        Ok(Self {
            name: received.get("name").map(str::to_owned),
            description: received.get("description").unwrap_or_default().to_owned(),
            publish: publish.map_err(|_| Error::invalid("publish", "publish is true or false."))?,
            if_exists: IfExists::parse(received.get("if_exists"))?,
            columns: columns(&received)?,
            uploads: vec![],
            files: received.files,
        })
    }
}

impl FromForm for CheckImport {
    fn from_form(received: Received) -> Result<Self> {
        Ok(Self {
            name: received.get("name").map(str::to_owned),
            if_exists: IfExists::parse(received.get("if_exists"))?,
            columns: columns(&received)?,
            uploads: vec![],
            files: received.files,
        })
    }
}
