//! Files on their way in as `multipart/form-data`, for programs and for pages: each goes to a private staging folder as it
//! arrives, bounded in bytes and in time. The short fields beside them come in whatever order.

use std::path::Path;
use std::time::Duration;

use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use tokio::io::AsyncWriteExt as _;

use crate::model::error::{Code, Error, Result};
use crate::ops::import::Staged;
use crate::surface::body;

/// Files in one upload.
const FILES: usize = 200;
/// How long the bytes of an upload may take to arrive.
const TIME: Duration = Duration::from_secs(30 * 60);
/// Bytes of a short field.
const TEXT: usize = 64 << 10;

/// What is expected, and where it goes.
pub struct Room<'a> {
    /// A folder of this upload alone.
    pub folder: &'a Path,
    /// Bytes of all files together.
    pub most: u64,
    /// The names of the short fields.
    pub fields: &'a [&'a str],
}

/// What came.
#[derive(Debug, Default)]
pub struct Received {
    fields: Vec<(String, String)>,
    pub files: Vec<Staged>,
}

impl Received {
    /// A short field; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}

/// Reads the whole form. Before the first byte of a file is written, `may` sees the fields that came before it.
///
/// # Errors
/// That of `may`; `invalid_argument` for a form that is damaged, or has other fields; `file_too_large`; `query_timeout`
/// for one that comes too slowly. What was written by then stays in the folder.
pub async fn receive(
    multipart: Multipart,
    room: Room<'_>,
    may: impl Fn(&Received) -> Result<()> + Send,
) -> Result<Received> {
    let late = || Error::new(Code::QueryTimeout, format!("The upload took longer than {} s.", TIME.as_secs()));
    tokio::time::timeout(TIME, read(multipart, room, may)).await.unwrap_or_else(|_| Err(late()))
}

async fn read(
    mut multipart: Multipart,
    room: Room<'_>,
    may: impl Fn(&Received) -> Result<()> + Send,
) -> Result<Received> {
    let mut received = Received::default();
    let mut left = room.most;
    while let Some(mut field) = multipart.next_field().await.map_err(unread)? {
        let key = field.name().unwrap_or_default().to_owned();
        if key == "file" {
            if received.files.len() == FILES {
                return Err(Error::invalid("file", format!("At most {FILES} files at once.")));
            }
            may(&received)?;
            let name = base_name(field.file_name().unwrap_or_default());
            let path = room.folder.join(format!("upload-{}", received.files.len()));
            let bytes = written(&mut field, &path, &mut left, room.most).await?;
            // A form whose field for files was left alone sends one without a name and without content.
            match name.is_empty() && bytes == 0 {
                true => tokio::fs::remove_file(&path).await.map_err(Error::internal)?,
                false => received.files.push(Staged { name, path }),
            }
        } else if room.fields.contains(&key.as_str()) {
            let text = short_text(&mut field).await?;
            received.fields.push((key, text));
        } else {
            let message = format!("Unknown field {key:?}: expected {} or file.", room.fields.join(", "));
            return Err(Error::invalid("body", message));
        }
    }
    may(&received)?;
    Ok(received)
}

/// Writes a file; says how many bytes it had.
async fn written(field: &mut Field<'_>, path: &Path, left: &mut u64, most: u64) -> Result<u64> {
    let mut file = tokio::fs::File::create(path).await.map_err(Error::internal)?;
    let mut bytes = 0;
    while let Some(chunk) = field.chunk().await.map_err(unread)? {
        let size = chunk.len() as u64;
        *left = left.checked_sub(size).ok_or_else(|| too_large(most))?;
        bytes += size;
        file.write_all(&chunk).await.map_err(Error::internal)?;
    }
    file.flush().await.map_err(Error::internal)?;
    Ok(bytes)
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

async fn short_text(field: &mut Field<'_>) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(unread)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > TEXT {
            return Err(Error::invalid("body", format!("A text field has at most {TEXT} bytes.")));
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
