//! `POST /api/v1/datasets`: files as `multipart/form-data`. Fields: `name`, `description`, `publish` (`true` or
//! `false`), `if_exists` (`replace`, `append` or `refuse`), and one or more `file`. Bytes go to a private staging folder as they
//! arrive, bounded; nothing is kept when anything fails.

use axum::Extension;
use axum::extract::{Multipart, State};
use axum::response::Response;

use super::{Rest, refused, run};
use crate::model::caller::{Caller, Proof};
use crate::model::error::{Error, Result};
use crate::ops::import::{IfExists, Import};
use crate::surface::receive::{Received, Room, receive};

const FIELDS: [&str; 4] = ["name", "description", "publish", "if_exists"];

pub(super) async fn upload(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    multipart: Result<Multipart, axum::extract::multipart::MultipartRejection>,
) -> Response {
    // Rights and a place first: nobody without them makes us write a byte.
    let staging = match rest.gateway.staging(&caller) {
        Ok(staging) => staging,
        Err(error) => return refused::<Import>(&rest, &caller, error).await,
    };
    let Ok(multipart) = multipart else {
        let error = Error::invalid("Content-Type", "Send the files as multipart/form-data, in fields named file.");
        return refused::<Import>(&rest, &caller, error).await;
    };
    // What the operator has on this machine already may be as large as it is.
    let most = if caller.proof == Proof::Local { u64::MAX } else { rest.config.limits.budgets.upload_bytes };
    let room = Room { folder: staging.path(), most, fields: &FIELDS };
    match receive(multipart, room, |_| Ok(())).await.and_then(import) {
        Ok(op) => run(&rest, caller, op, staging).await,
        Err(error) => refused::<Import>(&rest, &caller, error).await,
    }
}

fn import(received: Received) -> Result<Import> {
    let publish = received.get("publish").unwrap_or("false").parse();
    Ok(Import {
        name: received.get("name").map(str::to_owned),
        description: received.get("description").unwrap_or_default().to_owned(),
        publish: publish.map_err(|_| Error::invalid("publish", "publish is true or false."))?,
        if_exists: IfExists::parse(received.get("if_exists"))?,
        files: received.files,
    })
}
