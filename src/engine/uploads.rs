//! Files on their way in, over as many connections as it takes: what has arrived is on disk and is gone on with, also
//! after this process was started anew. Who began an upload alone sees it; it waits so long for its rest and to be
//! imported, and is removed then.
//!
//! How much of a file is there is the length of its file on disk: nothing else has to agree with it.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::base::clock::{Clock, Millis, millis};
use crate::base::id::Id;
use crate::engine::files::Files;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;

/// How long an upload is kept.
pub const LIFE: Duration = Duration::from_secs(24 * 3600);
/// Uploads of one person at a time.
const PER_PERSON: usize = 200;
/// How many of the largest uploads a person, and a workspace, may have on their way at a time.
const PERSON: u64 = 2;
const WORKSPACE: u64 = 8;
/// How long the connection before may take to let go of an upload.
const LETS_GO: Duration = Duration::from_secs(10);

/// How long what is on its way already is waited for then.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// Bytes that are gathered before they are written.
const GATHERED: usize = 256 << 10;

const ABOUT: &str = "about.json";
const DATA: &str = "data";

/// A file on its way in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Upload {
    pub id: Id<Upload>,
    /// The credential that began it.
    owner: String,
    /// Whose share it is of.
    person: String,
    /// As the person named it; its extension says what it is.
    pub name: String,
    /// Bytes of the whole.
    pub size: u64,
    pub created_at: Millis,
    pub expires_at: Millis,
}

/// Who sends.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    pub org: Id<Org>,
    pub credential: &'a str,
    pub person: &'a str,
}

/// See the module; clones share the desks.
#[derive(Clone)]
pub struct Uploads {
    files: Files,
    clock: Clock,
    /// Bytes of the largest upload.
    most: u64,
    desks: Arc<Mutex<HashMap<Id<Upload>, Arc<Desk>>>>,
}

/// Where one upload is written: by one connection at a time, of which the latest goes first. The one before may be one
/// that broke without our knowing.
#[derive(Default)]
struct Desk {
    turn: Arc<tokio::sync::Mutex<()>>,
    stop: Mutex<CancellationToken>,
}

/// Writes what comes, from where the upload ended so far.
pub struct Writer {
    upload: Upload,
    /// Bytes that are there.
    pub offset: u64,
    /// Cancelled when another connection goes on with the upload.
    stop: CancellationToken,
    files: Files,
    file: tokio::fs::File,
    folder: PathBuf,
    _turn: OwnedMutexGuard<()>,
}

impl Uploads {
    pub fn new(files: Files, clock: Clock, most: u64) -> Self {
        Self { files, clock, most, desks: Arc::default() }
    }

    /// Begins an upload.
    ///
    /// # Errors
    /// `file_too_large`; `limit_exceeded` for more than a person or a workspace may have on their way;
    /// `service_unavailable` when the disk has no room.
    pub fn create(&self, sender: Sender<'_>, name: String, size: u64) -> Result<Upload> {
        if size > self.most {
            return Err(Error::new(Code::FileTooLarge, format!("An upload has at most {} bytes.", self.most))
                .with(json!({ "limit": "upload_bytes", "max": self.most })));
        }
        let now = self.clock.now();
        let mut all = self.all(sender.org)?;
        for (gone, _) in all.extract_if(.., |(upload, _)| upload.expires_at <= now) {
            self.clear(sender.org, gone.id)?;
        }
        let all: Vec<&Upload> = all.iter().map(|(upload, _)| upload).collect();
        let mine: Vec<&Upload> = all.iter().filter(|upload| upload.person == sender.person).copied().collect();
        let bytes = |uploads: &[&Upload]| uploads.iter().map(|upload| upload.size).sum::<u64>();
        let held = [
            ("Your uploads that are not imported yet", bytes(&mine), PERSON),
            ("The uploads of this workspace that are not imported yet", bytes(&all), WORKSPACE),
        ];
        for (whose, held, share) in held {
            let most = self.most.saturating_mul(share);
            if held.saturating_add(size) > most {
                let message = format!(
                    "{whose} have {held} bytes; with this one it would be more than {most}. Import or remove one of them."
                );
                return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "uploads", "max": most })));
            }
        }
        if mine.len() >= PER_PERSON {
            let message = format!("At most {PER_PERSON} uploads wait at a time. Import or remove some of them.");
            return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "uploads", "max": PER_PERSON })));
        }
        let folder = self.files.uploads(sender.org);
        std::fs::create_dir_all(&folder).map_err(Error::internal)?;
        self.files.admit(size).map_err(Error::internal)?;
        let life = millis(LIFE);
        let upload = Upload {
            id: Id::new(&self.clock),
            owner: sender.credential.to_owned(),
            person: sender.person.to_owned(),
            name,
            size,
            created_at: now,
            expires_at: now.saturating_add(life),
        };
        begin(&upload, &folder.join(upload.id.to_string())).map_err(Error::internal)?;
        Ok(upload)
    }

    /// An upload of this credential, and how many bytes of it are there.
    ///
    /// # Errors
    /// `not_found`, the same for one of others and one that is over.
    pub fn find(&self, org: Id<Org>, credential: &str, id: Id<Upload>) -> Result<(Upload, u64)> {
        let found = read(&self.folder(org, id)).map_err(Error::internal)?;
        let live = |upload: &Upload| upload.owner == credential && upload.expires_at > self.clock.now();
        found.filter(|(upload, _)| live(upload)).ok_or_else(missing)
    }

    /// Where the bytes of a whole upload are.
    ///
    /// # Errors
    /// As [`Uploads::find`]; `invalid_argument` when some of it has not arrived yet.
    pub fn whole(&self, org: Id<Org>, credential: &str, id: Id<Upload>) -> Result<(Upload, PathBuf)> {
        let (upload, there) = self.find(org, credential, id)?;
        if there != upload.size {
            let message = format!("{there} of {} bytes of {} are here. Send the rest first.", upload.size, upload.name);
            return Err(Error::invalid("uploads", message));
        }
        let path = self.folder(org, id).join(DATA);
        Ok((upload, path))
    }

    /// The uploads of a credential, the latest first.
    ///
    /// # Errors
    /// The data folder cannot be read.
    pub fn list(&self, org: Id<Org>, credential: &str) -> Result<Vec<(Upload, u64)>> {
        let now = self.clock.now();
        let mut all = self.all(org)?;
        all.retain(|(upload, _)| upload.owner == credential && upload.expires_at > now);
        all.sort_by_key(|(upload, _)| std::cmp::Reverse(upload.created_at));
        Ok(all)
    }

    /// Goes on with an upload. Another connection that writes to it is told to stop, and has so long for it.
    ///
    /// # Errors
    /// As [`Uploads::find`]; `service_unavailable` when the other does not let go.
    pub async fn open(&self, org: Id<Org>, credential: &str, id: Id<Upload>) -> Result<Writer> {
        self.find(org, credential, id)?;
        let desk = self.desk(id);
        let stop = CancellationToken::new();
        let before = std::mem::replace(&mut *desk.stop.lock().unwrap_or_else(PoisonError::into_inner), stop.clone());
        before.cancel();
        let turn = tokio::time::timeout(LETS_GO, desk.turn.clone().lock_owned()).await;
        let turn =
            turn.map_err(|_| Error::unavailable("Another connection still writes to this upload. Try again."))?;
        // Looked at again: it may have grown meanwhile, or be gone.
        let (upload, offset) = self.find(org, credential, id)?;
        let folder = self.folder(org, id);
        let file = tokio::fs::OpenOptions::new().append(true).open(folder.join(DATA)).await.map_err(Error::internal)?;
        Ok(Writer { upload, offset, stop, files: self.files.clone(), file, folder, _turn: turn })
    }

    fn desk(&self, id: Id<Upload>) -> Arc<Desk> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        desks.retain(|known, desk| *known == id || Arc::strong_count(&desk.turn) > 1 || Arc::strong_count(desk) > 1);
        desks.entry(id).or_default().clone()
    }

    /// Removes an upload.
    ///
    /// # Errors
    /// As [`Uploads::find`].
    pub fn remove(&self, org: Id<Org>, credential: &str, id: Id<Upload>) -> Result<Upload> {
        let (upload, _) = self.find(org, credential, id)?;
        self.clear(org, id)?;
        Ok(upload)
    }

    fn clear(&self, org: Id<Org>, id: Id<Upload>) -> Result<()> {
        if let Some(desk) = self.desks.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            desk.stop.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        }
        self.files.remove(&self.folder(org, id)).map_err(Error::internal)
    }

    /// Removes what is over, in every workspace. Blocks.
    ///
    /// # Errors
    /// The data folder cannot be read.
    pub fn sweep(&self) -> Result<()> {
        let now = self.clock.now();
        for org in self.files.orgs().map_err(Error::internal)? {
            for (upload, _) in self.all(org)? {
                if upload.expires_at <= now {
                    self.clear(org, upload.id)?;
                }
            }
        }
        Ok(())
    }

    fn folder(&self, org: Id<Org>, id: Id<Upload>) -> PathBuf {
        self.files.uploads(org).join(id.to_string())
    }

    fn all(&self, org: Id<Org>) -> Result<Vec<(Upload, u64)>> {
        let entries = match std::fs::read_dir(self.files.uploads(org)) {
            Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(Error::internal)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            found.extend(read(&entry.map_err(Error::internal)?.path()).map_err(Error::internal)?);
        }
        Ok(found)
    }
}

impl Writer {
    /// Writes what comes until it ends, breaks, or another connection goes on with it; what is here by then stays, and how
    /// many bytes that are is given. What was sent over a line before it broke is taken, however soon the next connection
    /// comes: else those that come quickly one after another would bring nothing.
    ///
    /// # Errors
    /// `file_too_large` for more than was said to come, of which nothing is kept; `service_unavailable` when another
    /// connection goes on, or the disk is full, and then the upload is removed; `broken` of what the line breaks with.
    pub async fn fill<B: AsRef<[u8]>, E>(
        &mut self,
        mut chunks: impl Stream<Item = Result<B, E>> + Unpin,
        broken: impl FnOnce(E) -> Error,
    ) -> Result<u64> {
        let stop = self.stop.clone();
        let over = async {
            stop.cancelled().await;
            tokio::time::sleep(ON_ITS_WAY).await;
        };
        tokio::pin!(over);
        let mut gathered: Vec<u8> = Vec::with_capacity(GATHERED);
        let ended = loop {
            let next = tokio::select! {
                biased;
                () = &mut over => break Err(Error::unavailable("Another connection goes on with this upload.")),
                next = chunks.next() => next,
            };
            match next {
                None => break Ok(()),
                Some(Ok(chunk)) => {
                    gathered.extend_from_slice(chunk.as_ref());
                    if gathered.len() >= GATHERED {
                        self.write(&gathered).await?;
                        gathered.clear();
                    }
                }
                Some(Err(problem)) => break Err(broken(problem)),
            }
        };
        self.write(&gathered).await?;
        self.sync().await?;
        ended.map(|()| self.offset)
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let after = self.offset + bytes.len() as u64;
        if after > self.upload.size {
            let message = format!("The upload was said to have {} bytes, and more came.", self.upload.size);
            return Err(Error::new(Code::FileTooLarge, message).with(json!({ "max": self.upload.size })));
        }
        let written = async {
            // Others have come since it began.
            self.files.admit(bytes.len() as u64)?;
            self.file.write_all(bytes).await?;
            // A write is done when the file has it, not when it was handed over.
            self.file.flush().await
        };
        match written.await {
            Ok(()) => {
                self.offset = after;
                Ok(())
            }
            Err(problem) => Err(self.unwritten(problem).await),
        }
    }

    /// Sees to it that what was written survives a power cut. Some systems find out only now that there is no room.
    async fn sync(&self) -> Result<()> {
        match self.file.sync_data().await {
            Ok(()) => Ok(()),
            Err(problem) => Err(self.unwritten(problem).await),
        }
    }

    async fn unwritten(&self, problem: io::Error) -> Error {
        if Error::is_disk_full(&problem.to_string())
            && let Err(kept) = tokio::fs::remove_dir_all(&self.folder).await
        {
            return Error::internal(kept);
        }
        Error::internal(problem)
    }
}

/// Made aside and renamed: an upload is there with what is known of it, or not at all, also after a power cut. The folders
/// above may be new.
fn begin(upload: &Upload, folder: &Path) -> io::Result<()> {
    use std::io::Write as _;
    let parent = folder.parent().ok_or_else(|| io::Error::other("a folder of uploads"))?;
    let made = tempfile::Builder::new().prefix("new-").tempdir_in(parent)?;
    let mut about = std::fs::File::create(made.path().join(ABOUT))?;
    about.write_all(&serde_json::to_vec(upload).map_err(io::Error::other)?)?;
    about.sync_all()?;
    std::fs::File::create(made.path().join(DATA))?;
    std::fs::File::open(made.path())?.sync_all()?;
    std::fs::rename(made.path(), folder)?;
    parent.ancestors().take(4).try_for_each(|folder| std::fs::File::open(folder)?.sync_all())
}

/// `None` for what is no upload, or has just gone.
fn read(folder: &Path) -> io::Result<Option<(Upload, u64)>> {
    let read = || -> io::Result<(Vec<u8>, u64)> {
        let about = std::fs::read(folder.join(ABOUT))?;
        Ok((about, std::fs::metadata(folder.join(DATA))?.len()))
    };
    match read() {
        Ok((about, there)) => Ok(serde_json::from_slice(&about).ok().map(|upload: Upload| (upload, there))),
        Err(problem) if matches!(problem.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn missing() -> Error {
    Error::new(Code::NotFound, "There is no such upload: it was imported, removed, or is over. Send the file again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(bytes: &'static str) -> impl Stream<Item = Result<&'static str>> + Unpin {
        futures_util::stream::iter([Ok(bytes)])
    }

    fn broken(problem: Error) -> Error {
        problem
    }

    const ANN: (&str, &str) = ("org:person:ann", "org:user:ann");

    struct Desk {
        _data: tempfile::TempDir,
        clock: Clock,
        org: Id<Org>,
        uploads: Uploads,
    }

    impl Desk {
        fn new(most: u64) -> Self {
            let data = tempfile::tempdir().unwrap();
            let clock = Clock::manual(1_700_000_000_000);
            let files = Files::new(data.path()).unwrap();
            let org = Id::new(&clock);
            Self { _data: data, uploads: Uploads::new(files, clock.clone(), most), clock, org }
        }

        fn begin(&self, (credential, person): (&str, &str), size: u64) -> Result<Upload> {
            self.uploads.create(Sender { org: self.org, credential, person }, "a.csv".into(), size)
        }
    }

    #[tokio::test]
    async fn an_upload_goes_on_where_it_ended_and_is_its_owners_alone() {
        let desk = Desk::new(100);
        let upload = desk.begin(ANN, 6).unwrap();
        let (uploads, org, id) = (desk.uploads.clone(), desk.org, upload.id);
        let mut first = uploads.open(org, ANN.0, id).await.unwrap();
        assert_eq!(first.fill(sent("abc"), broken).await.unwrap(), 3);
        assert!(desk.uploads.whole(desk.org, ANN.0, upload.id).unwrap_err().message.contains("3 of 6 bytes"));
        // The next connection has the first one stop, and waits until it has let go.
        let second = tokio::spawn(async move { uploads.open(org, ANN.0, id).await });
        first.stop.cancelled().await;
        // What it has sent is taken, and what it says no more is not waited for.
        let silent = sent("d").chain(futures_util::stream::pending());
        assert_eq!(first.fill(silent, broken).await.unwrap_err().code, Code::ServiceUnavailable);
        drop(first);
        let mut second = second.await.unwrap().unwrap();
        assert_eq!(second.offset, 4);
        assert_eq!(second.fill(sent("ef"), broken).await.unwrap(), 6);
        assert_eq!(second.fill(sent("g"), broken).await.unwrap_err().code, Code::FileTooLarge);
        let (_, path) = desk.uploads.whole(desk.org, ANN.0, upload.id).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"abcdef");
        let other = desk.uploads.find(desk.org, "org:person:bob", upload.id).unwrap_err();
        let absent = desk.uploads.find(desk.org, ANN.0, Id::new(&desk.clock)).unwrap_err();
        assert_eq!(other.body("r"), absent.body("r"));
        desk.uploads.remove(desk.org, ANN.0, upload.id).unwrap();
        assert!(desk.uploads.list(desk.org, ANN.0).unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_would_leave_too_little_of_the_disk_is_refused_when_it_begins_and_on_its_way() {
        let mut desk = Desk::new(100);
        let begun = desk.begin(ANN, 6).unwrap();
        desk.uploads.files = desk.uploads.files.leaving(Some(u64::MAX));
        let refused = desk.begin(ANN, 1).unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::ServiceUnavailable, &json!("disk")));
        let mut writer = desk.uploads.open(desk.org, ANN.0, begun.id).await.unwrap();
        let refused = writer.fill(sent("abc"), broken).await.unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::ServiceUnavailable, &json!("disk")));
        let gone = desk.uploads.find(desk.org, ANN.0, begun.id).unwrap_err();
        assert_eq!(gone.code, Code::NotFound, "nothing of it was kept");
    }

    #[test]
    fn what_waits_is_bounded_and_goes_when_it_is_over() {
        let desk = Desk::new(100);
        assert_eq!(desk.begin(ANN, 101).unwrap_err().code, Code::FileTooLarge);
        let first = desk.begin(ANN, 100).unwrap();
        desk.begin(ANN, 100).unwrap();
        let refused = desk.begin(ANN, 1).unwrap_err();
        assert!(refused.message.starts_with("Your uploads"), "{}", refused.message);
        for person in ["b", "c", "d"] {
            desk.begin((person, person), 100).unwrap();
            desk.begin((person, person), 100).unwrap();
        }
        assert!(desk.begin(("e", "e"), 1).unwrap_err().message.starts_with("The uploads of this workspace"));
        desk.clock.advance(LIFE);
        assert_eq!(desk.uploads.find(desk.org, ANN.0, first.id).unwrap_err().code, Code::NotFound);
        desk.uploads.sweep().unwrap();
        assert_eq!(std::fs::read_dir(desk.uploads.files.uploads(desk.org)).unwrap().count(), 0);
        desk.begin(ANN, 100).unwrap();
    }
}
