//! Files on their way in as `multipart/form-data`, for programs and for pages: each goes to a private staging folder as it
//! arrives, bounded in bytes and in time. The short fields beside them come in whatever order. Whatever is no file is kept
//! in memory until the form is read: there is a bound for all of it together.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest as _, Multipart, Request};
use futures_util::{Stream, StreamExt as _};
use tokio::io::AsyncWriteExt as _;

use crate::model::audit::clip;
use crate::model::error::{Code, Error, Result};
use crate::ops::import::Staged;
use crate::surface::body;

/// Files in one upload.
const FILES: usize = 200;
/// How long the bytes of an upload may take to arrive.
const TIME: Duration = Duration::from_secs(30 * 60);
/// Bytes of a short field.
const TEXT: usize = 64 << 10;
/// Bytes that are kept of a form at a time: its short fields, the names of its parts, and what is not looked at yet.
const KEPT: usize = 1 << 20;
/// Bytes that are looked at together.
const PIECE: usize = 64 << 10;

/// A form that is on its way.
pub struct Form {
    multipart: Multipart,
    taken: Arc<Taken>,
}

/// How far a form was taken apart, known where it comes in and where it is read.
#[derive(Default)]
struct Taken {
    /// Bytes that came and did not go into a file.
    kept: AtomicUsize,
    /// There may be something to read in what came: no more is wanted.
    is_enough: AtomicBool,
}

impl Form {
    /// `None` for a request that is no `multipart/form-data`.
    pub async fn of(request: Request) -> Option<Self> {
        let taken = Arc::<Taken>::default();
        let request = request.map(|body| Body::from_stream(Pieces::new(body, taken.clone())));
        Some(Self { multipart: Multipart::from_request(request, &()).await.ok()?, taken })
    }
}

/// The body of a form. Who takes forms apart gathers all that is there before looking at it, more for each thing that is
/// asked for, and all of a part's header, however long: therefore it comes piece by piece, the next one where nothing was
/// found in those that came, and fails once more is kept than may be.
struct Pieces {
    body: BodyDataStream,
    /// What came of the body and was not given yet.
    rest: Bytes,
    taken: Arc<Taken>,
}

/// There is too much in the form beside its files.
#[derive(Debug, thiserror::Error)]
#[error("the form is too long beside its files")]
struct Crammed;

impl Pieces {
    fn new(body: Body, taken: Arc<Taken>) -> Self {
        Self { body: body.into_data_stream(), rest: Bytes::new(), taken }
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, axum::BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { body, rest, taken } = &mut *self;
        if taken.is_enough.swap(false, Ordering::Relaxed) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if rest.is_empty() {
            match ready!(body.poll_next_unpin(context)) {
                Some(Ok(part)) => *rest = part,
                end => return Poll::Ready(end.map(|part| part.map_err(Into::into))),
            }
        }
        let piece = rest.split_to(rest.len().min(PIECE));
        if taken.kept.fetch_add(piece.len(), Ordering::Relaxed) + piece.len() > KEPT {
            return Poll::Ready(Some(Err(Crammed.into())));
        }
        taken.is_enough.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Ok(piece)))
    }
}

/// What is expected, and where it goes.
pub struct Room<'a> {
    /// A folder of this upload alone.
    pub folder: &'a Path,
    /// Bytes of all files together.
    pub most: u64,
    /// Asked before so many bytes of a file are written.
    pub admits: &'a (dyn Fn(u64) -> Result<()> + Sync),
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
/// That of `may`, and of `room.admits`; `invalid_argument` for a form that is damaged, is too long beside its files, or
/// has other fields or one twice; `file_too_large`; `query_timeout` for one that comes too slowly. What was written by
/// then stays in the folder.
pub async fn receive(form: Form, room: Room<'_>, may: impl Fn(&Received) -> Result<()> + Send) -> Result<Received> {
    let late = || Error::new(Code::QueryTimeout, format!("The upload took longer than {} s.", TIME.as_secs()));
    tokio::time::timeout(TIME, read(form, room, may)).await.unwrap_or_else(|_| Err(late()))
}

async fn read(form: Form, room: Room<'_>, may: impl Fn(&Received) -> Result<()> + Send) -> Result<Received> {
    let Form { mut multipart, taken } = form;
    let mut received = Received::default();
    let mut left = room.most;
    while let Some(mut field) = multipart.next_field().await.map_err(unread)? {
        taken.is_enough.store(true, Ordering::Relaxed);
        let key = field.name().unwrap_or_default().to_owned();
        if key == "file" {
            if received.files.len() == FILES {
                return Err(Error::invalid("file", format!("At most {FILES} files at once.")));
            }
            may(&received)?;
            let name = base_name(field.file_name().unwrap_or_default());
            let path = room.folder.join(format!("upload-{}", received.files.len()));
            let bytes = written(&mut field, &path, &taken, &mut left, &room).await?;
            // A form whose field for files was left alone sends one without a name and without content.
            match name.is_empty() && bytes == 0 {
                true => tokio::fs::remove_file(&path).await.map_err(Error::internal)?,
                false => received.files.push(Staged { name, path }),
            }
        } else if received.fields.iter().any(|(other, _)| *other == key) {
            return Err(Error::invalid(&key, format!("{key} is given more than once.")));
        } else if room.fields.contains(&key.as_str()) {
            let text = short_text(&mut field).await?;
            received.fields.push((key, text));
        } else {
            let message = format!("Unknown field {:?}: expected {} or file.", clip(&key), room.fields.join(", "));
            return Err(Error::invalid("body", message));
        }
    }
    may(&received)?;
    Ok(received)
}

/// Writes a file; says how many bytes it had.
async fn written(field: &mut Field<'_>, path: &Path, taken: &Taken, left: &mut u64, room: &Room<'_>) -> Result<u64> {
    let mut file = tokio::fs::File::create(path).await.map_err(Error::internal)?;
    let mut bytes = 0;
    while let Some(chunk) = field.chunk().await.map_err(unread)? {
        let size = chunk.len() as u64;
        *left = left.checked_sub(size).ok_or_else(|| too_large(room.most))?;
        (room.admits)(size)?;
        bytes += size;
        file.write_all(&chunk).await.map_err(Error::internal)?;
        taken.kept.fetch_sub(chunk.len(), Ordering::Relaxed);
        taken.is_enough.store(true, Ordering::Relaxed);
    }
    file.flush().await.map_err(Error::internal)?;
    Ok(bytes)
}

fn unread(problem: MultipartError) -> Error {
    if body::is_late(&problem) {
        Error::new(Code::QueryTimeout, "The upload came too slowly: at least a kilobyte a second is expected.")
    } else if body::is_caused_by::<Crammed>(&problem) {
        let message = format!("A form has at most {KEPT} bytes beside the content of its files. Shorten its fields.");
        Error::invalid("body", message)
    } else {
        Error::invalid("body", "The multipart body is damaged or ended early.")
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
    use std::convert::Infallible;

    use http::header::CONTENT_TYPE;

    use super::*;

    /// What comes of a form whose body is a text so many times between two others, the bytes of its files, and how many
    /// bytes of it were taken.
    async fn sent(before: &str, text: &str, times: usize, after: &str) -> (Result<Received>, u64, usize) {
        let taken = Arc::new(AtomicUsize::new(0));
        let (count, text) = (taken.clone(), Bytes::from(text.to_owned()));
        let parts = std::iter::once(Bytes::from(before.to_owned()))
            .chain(std::iter::repeat_n(text, times))
            .chain([Bytes::from(after.to_owned())]);
        let parts = parts.map(move |part| {
            count.fetch_add(part.len(), Ordering::Relaxed);
            Ok::<_, Infallible>(part)
        });
        let body = Body::from_stream(futures_util::stream::iter(parts));
        let request = http::Request::builder().header(CONTENT_TYPE, "multipart/form-data; boundary=x");
        let request = request.body(body).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let room = Room { folder: folder.path(), most: 10 << 20, admits: &|_| Ok(()), fields: &["name"] };
        let received = receive(Form::of(request).await.unwrap(), room, |_| Ok(())).await;
        let files = received.iter().flat_map(|received| &received.files);
        let bytes = files.map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
        (received, bytes, taken.load(Ordering::Relaxed))
    }

    const FILE: &str = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n";
    const NAME: &str = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nsales\r\n";

    #[tokio::test]
    async fn a_file_may_be_longer_than_what_is_kept_and_what_is_beside_it_may_not() {
        let text = "a".repeat(100 << 10);
        let (received, bytes, _) = sent(&format!("{NAME}{FILE}"), &text, 15, "\r\n--x--\r\n").await;
        assert_eq!((received.unwrap().get("name"), bytes), (Some("sales"), 1_536_000));
        // Who sends faster than files are written does not fill what is kept.
        let file = format!("{FILE}{}\r\n", "a".repeat(70 << 10));
        let (received, bytes, _) = sent(NAME, &file, 25, "--x--\r\n").await;
        assert_eq!((received.unwrap().files.len(), bytes), (25, 25 * (70 << 10)));
        for before in ["", "--x\r\nContent-Disposition: ", &format!("{NAME}--x\r\nX: ")] {
            let (received, _, taken) = sent(before, &text, 1_000, "").await;
            let refused = received.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &"body".into()), "{refused}");
            assert!(refused.message.contains("beside the content of its files"), "{before:?}: {refused}");
            assert!(taken <= KEPT + 2 * text.len(), "{before:?}: {taken}");
        }
    }

    #[tokio::test]
    async fn a_field_is_given_once() {
        let (received, _, taken) = sent(NAME, NAME, 10_000, "--x--\r\n").await;
        let refused = received.unwrap_err();
        assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &"name".into()), "{refused}");
        assert!(taken <= 10 * NAME.len(), "{taken}");
    }

    #[test]
    fn only_the_last_part_of_a_name_is_kept() {
        for (sent, kept) in [("../../etc/a.csv", "a.csv"), ("C:\\x\\b.csv", "b.csv"), ("c\n.csv", "c.csv"), ("", "")] {
            assert_eq!(base_name(sent), kept);
        }
    }
}
