//! `POST /api/v1/datasets`: files as `multipart/form-data`. Fields: `name`, `description`, `publish` (`true` or
//! `false`), and one or more `file`. Bytes go to a private staging folder as they arrive, bounded; nothing is kept
//! when anything fails.

use std::time::Duration;

use axum::Extension;
use axum::extract::multipart::MultipartError;
use axum::extract::{Multipart, State};
use axum::response::Response;
use tokio::io::AsyncWriteExt as _;

use super::{Rest, refused, run};
use crate::model::caller::{Caller, Proof};
use crate::model::error::{Code, Error, Result};
use crate::ops::import::{Import, Staged};
use crate::surface::body;

/// Files in one upload.
const FILES: usize = 200;
/// How long the bytes of an upload may take to arrive.
const TIME: Duration = Duration::from_secs(30 * 60);

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
    let received = tokio::time::timeout(TIME, receive(multipart, staging.path(), most)).await;
    let late = || Error::new(Code::QueryTimeout, format!("The upload took longer than {} s.", TIME.as_secs()));
    match received.unwrap_or_else(|_| Err(late())) {
        Ok(op) => run(&rest, caller, op, staging).await,
        Err(error) => refused::<Import>(&rest, &caller, error).await,
    }
}

async fn receive(mut multipart: Multipart, staging: &std::path::Path, most: u64) -> Result<Import> {
    let mut import = Import { name: None, description: String::new(), publish: false, files: Vec::new() };
    let mut left = most;
    while let Some(mut field) = multipart.next_field().await.map_err(unread)? {
        let key = field.name().unwrap_or_default().to_owned();
        if key == "file" {
            let name = field.file_name().unwrap_or_default().to_owned();
            if import.files.len() == FILES {
                return Err(Error::invalid("file", format!("At most {FILES} files at once.")));
            }
            let path = staging.join(format!("upload-{}", import.files.len()));
            let mut file = tokio::fs::File::create(&path).await.map_err(Error::internal)?;
            while let Some(chunk) = field.chunk().await.map_err(unread)? {
                left = left.checked_sub(chunk.len() as u64).ok_or_else(|| too_large(most))?;
                file.write_all(&chunk).await.map_err(Error::internal)?;
            }
            file.flush().await.map_err(Error::internal)?;
            import.files.push(Staged { name: base_name(&name), path });
        } else {
            let text = short_text(&mut field).await?;
            match key.as_str() {
                "name" => import.name = Some(text).filter(|text| !text.is_empty()),
                "description" => import.description = text,
                "publish" => {
                    import.publish =
                        text.parse().map_err(|_| Error::invalid("publish", "publish is true or false."))?;
                }
                _ => {
                    let message = format!("Unknown field {key:?}: expected name, description, publish or file.");
                    return Err(Error::invalid("body", message));
                }
            }
        }
    }
    Ok(import)
}

fn unread(problem: MultipartError) -> Error {
    match body::is_late(&problem) {
        true => Error::new(Code::QueryTimeout, "The upload came too slowly: at least a kilobyte a second is expected."),
        false => Error::invalid("body", "The multipart body is damaged or ended early."),
    }
}

fn too_large(most: u64) -> Error {
    Error::new(Code::FileTooLarge, format!("An upload has at most {most} bytes."))
        .with(serde_json::json!({ "limit": "upload_bytes", "max": most }))
}

/// A text field of at most 4 KiB.
async fn short_text(field: &mut axum::extract::multipart::Field<'_>) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(unread)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > 4096 {
            return Err(Error::invalid("body", "A text field has at most 4096 bytes."));
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid("body", "A text field is not UTF-8."))
}

/// The last part of a name that may hold a path of the sender's machine.
fn base_name(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn only_the_last_part_of_a_name_is_kept() {
        for (sent, kept) in [("../../etc/a.csv", "a.csv"), ("C:\\x\\b.csv", "b.csv"), ("c\n.csv", "c.csv"), ("", "")] {
            assert_eq!(base_name(sent), kept);
        }
    }
}
