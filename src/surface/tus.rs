//! Resumable uploads by the tus protocol 1.0 (tus.io: core, creation, expiration, termination), for programs and for our
//! own pages. It was chosen over the IETF's draft of resumable uploads because its clients are released and many, in every
//! language, while the draft still changes what goes over the wire.
//!
//! What has arrived is kept when a connection breaks at any byte; the client asks how much that is, and goes on from there.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::base::clock::http_date;
use crate::base::id::Id;
use crate::gateway::operation::Operation as _;
use crate::gateway::{Gateway, Via};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::ops::uploads::{CreateUpload, DeleteUpload, Upload};
use crate::surface::body;
use crate::surface::error::problem;

const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const VERSIONS: HeaderName = HeaderName::from_static("tus-version");
const EXTENSIONS: HeaderName = HeaderName::from_static("tus-extension");
const MOST: HeaderName = HeaderName::from_static("tus-max-size");
const LENGTH: HeaderName = HeaderName::from_static("upload-length");
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const METADATA: HeaderName = HeaderName::from_static("upload-metadata");
const EXPIRES: HeaderName = HeaderName::from_static("upload-expires");

const VERSION: &str = "1.0.0";

/// Who speaks, at which door.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    pub gateway: &'a Gateway,
    pub caller: &'a Caller,
    /// The record's word.
    pub recorded_as: &'static str,
}

impl Desk<'_> {
    /// A refusal that no operation has recorded.
    async fn refuses(&self, error: Error, target: &str) -> Response {
        match self.gateway.refused(self.caller, self.recorded_as, target, &error).await {
            Ok(()) => refused(&error, self.caller),
            Err(unrecorded) => problem(&unrecorded, &self.caller.request_id),
        }
    }
}

/// Whether a request speaks tus: the paths are shared with JSON.
pub fn is_tus(headers: &HeaderMap) -> bool {
    headers.contains_key(RESUMABLE)
}

/// What is spoken here.
pub fn options(most: u64) -> Response {
    let headers = [
        (RESUMABLE, VERSION.to_owned()),
        (VERSIONS, VERSION.to_owned()),
        (EXTENSIONS, "creation,expiration,termination".to_owned()),
        (MOST, most.to_string()),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Begins an upload; `base` is the address below which it will be found.
pub async fn create(desk: Desk<'_>, base: &str, headers: &HeaderMap) -> Response {
    let op = match wanted(headers) {
        Ok(op) => op,
        Err(error) => return desk.refuses(error, CreateUpload::INFO.name).await,
    };
    match desk.gateway.call(desk.caller, op, Via::new(desk.recorded_as)).await {
        Ok(made) => {
            let headers = [
                (LOCATION, format!("{base}/{}", made.reply.upload_id)),
                (OFFSET, made.reply.offset.to_string()),
                (EXPIRES, http_date(&made.reply.expires_at)),
            ];
            answered((StatusCode::CREATED, headers).into_response())
        }
        Err(error) => refused(&error, desk.caller),
    }
}

fn wanted(headers: &HeaderMap) -> Result<CreateUpload> {
    spoken(headers)?;
    let size = headers.get(LENGTH).and_then(number);
    let size = size.ok_or_else(|| Error::invalid("Upload-Length", "Say how many bytes will come: Upload-Length."))?;
    let name = metadata(headers, "filename").or_else(|| metadata(headers, "name"));
    let message = "Say what the file is called: Upload-Metadata: filename <base64>.";
    let name = name.ok_or_else(|| Error::invalid("Upload-Metadata", message))?;
    Ok(CreateUpload { name, size })
}

/// How much of an upload is here.
pub async fn head(desk: Desk<'_>, id: &str, headers: &HeaderMap) -> Response {
    let found = spoken(headers).and_then(|()| desk.gateway.upload(desk.caller, named(id)?));
    match found {
        Ok((upload, offset)) => {
            let headers = [
                (OFFSET, offset.to_string()),
                (LENGTH, upload.size.to_string()),
                (CACHE_CONTROL, "no-store".to_owned()),
                (METADATA, format!("filename {}", STANDARD.encode(&upload.name))),
            ];
            answered((StatusCode::OK, headers).into_response())
        }
        Err(error) => desk.refuses(error, id).await,
    }
}

/// The next bytes.
pub async fn patch(desk: Desk<'_>, id: &str, headers: &HeaderMap, body: Body) -> Response {
    let appended = async {
        spoken(headers)?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind != Some("application/offset+octet-stream") {
            let message = "The bytes are sent as application/offset+octet-stream.";
            return Err(Refusal::Status(StatusCode::UNSUPPORTED_MEDIA_TYPE, Error::invalid("Content-Type", message)));
        }
        let from = headers.get(OFFSET).and_then(number);
        let from =
            from.ok_or_else(|| Error::invalid("Upload-Offset", "Say where these bytes begin: Upload-Offset."))?;
        let filling = desk.gateway.fill_upload(desk.caller, named(id)?).await?;
        let here = filling.offset();
        if from != here {
            let message = format!("The upload has {here} bytes, and these would begin at {from}. Go on from {here}.");
            return Err(Refusal::Status(StatusCode::CONFLICT, Error::invalid("Upload-Offset", message)));
        }
        // A connection that breaks ends this answer, and not the work of keeping what it brought.
        Ok(tokio::spawn(filling.fill(body.into_data_stream(), broken)).await.map_err(Error::internal)??)
    };
    match appended.await {
        Ok(offset) => answered((StatusCode::NO_CONTENT, [(OFFSET, offset.to_string())]).into_response()),
        Err(Refusal::Plain(error)) => desk.refuses(error, id).await,
        Err(Refusal::Status(status, error)) => {
            let mut response = desk.refuses(error, id).await;
            *response.status_mut() = status;
            response
        }
    }
}

/// A refusal, with a status where the protocol says another than ours.
enum Refusal {
    Plain(Error),
    Status(StatusCode, Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Plain(error)
    }
}

/// Why what was to come did not.
fn broken(problem: axum::Error) -> Error {
    match body::is_late(&problem) {
        true => late(),
        false => Error::invalid("body", "The connection broke. What arrived is kept."),
    }
}

fn late() -> Error {
    let message = "The upload came too slowly: at least a kilobyte a second is expected. What arrived is kept.";
    Error::new(Code::QueryTimeout, message)
}

/// Removes an upload.
pub async fn remove(desk: Desk<'_>, id: &str, headers: &HeaderMap) -> Response {
    let upload_id = match spoken(headers).and_then(|()| named(id)) {
        Ok(upload_id) => upload_id,
        Err(error) => return desk.refuses(error, DeleteUpload::INFO.name).await,
    };
    match desk.gateway.call(desk.caller, DeleteUpload { upload_id }, Via::new(desk.recorded_as)).await {
        Ok(_) => answered(StatusCode::NO_CONTENT.into_response()),
        Err(error) => refused(&error, desk.caller),
    }
}

/// Another version is refused with those that are spoken.
fn spoken(headers: &HeaderMap) -> Result<()> {
    let version = headers.get(RESUMABLE).and_then(|version| version.to_str().ok());
    if version == Some(VERSION) {
        return Ok(());
    }
    Err(Error::invalid("Tus-Resumable", "tus 1.0.0 is spoken here: send Tus-Resumable: 1.0.0."))
}

fn named(id: &str) -> Result<Id<Upload>> {
    id.parse().map_err(|_| Error::new(Code::NotFound, "There is no such upload."))
}

fn number(value: &HeaderValue) -> Option<u64> {
    value.to_str().ok()?.parse().ok()
}

/// A value of `Upload-Metadata`: `key base64, key base64`.
fn metadata(headers: &HeaderMap, key: &str) -> Option<String> {
    let pairs = headers.get(METADATA)?.to_str().ok()?;
    let value = pairs.split(',').find_map(|pair| {
        let (name, value) = pair.trim().split_once(' ')?;
        (name == key).then_some(value.trim())
    })?;
    String::from_utf8(STANDARD.decode(value).ok()?).ok().filter(|name| !name.is_empty())
}

fn answered(mut response: Response) -> Response {
    response.headers_mut().insert(RESUMABLE, HeaderValue::from_static(VERSION));
    response
}

fn refused(error: &Error, caller: &Caller) -> Response {
    let mut response = problem(error, &caller.request_id);
    if error.details.get("field").is_some_and(|field| field == "Tus-Resumable") {
        *response.status_mut() = StatusCode::PRECONDITION_FAILED;
        response.headers_mut().insert(VERSIONS, HeaderValue::from_static(VERSION));
    }
    answered(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_is_read_from_the_metadata() {
        let read = |text: &'static str| {
            let headers = HeaderMap::from_iter([(METADATA, HeaderValue::from_static(text))]);
            metadata(&headers, "filename")
        };
        assert_eq!(read("filetype dGV4dA==,filename w7wuY3N2"), Some("ü.csv".into()));
        assert_eq!(read("filename"), None);
        assert_eq!(read("filename !!"), None);
        assert_eq!(read("filename /w=="), None, "not UTF-8");
    }
}
