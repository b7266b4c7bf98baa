//! The files of a folder that the operator gave to the workspace. Links are not followed, wherever they lead, also where one
//! is put into the place of a folder while it is read: every name is opened from the folder itself, by a call that refuses
//! links on its way.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

use super::Ingest;
use super::place::{Item, Listed, Looked, MOST, Place, too_many};
use crate::base::counted::counted;
use crate::base::nearest::nearest;
use crate::config::SyncFolder;
use crate::engine::job::Job;
use crate::model::error::{Code, Error, Result};
use crate::model::sync::Mark;
use crate::store;

/// Folders within folders.
const DEPTH: usize = 32;

/// A folder that is open.
pub(super) struct Shelf {
    name: String,
    root: Arc<OwnedFd>,
    /// Bytes of one file.
    most: u64,
}

/// A folder's name as the operator wrote it.
///
/// # Errors
/// `invalid_argument` for one that the operator did not give to this workspace.
pub(super) async fn checked(on: &Ingest, job: &Job<'_>, name: &str) -> Result<String> {
    Ok(named(on, job, name).await?.0)
}

/// Those that the operator gave to the workspace.
pub(super) async fn own(on: &Ingest, job: &Job<'_>) -> Result<Vec<SyncFolder>> {
    let workspace = store::orgs::by_id(on.db.pool(), job.pass.org()).await?.map(|org| org.slug);
    let own = on.places.folders.iter().filter(|folder| Some(&folder.workspace) == workspace.as_ref());
    Ok(own.cloned().collect())
}

async fn named(on: &Ingest, job: &Job<'_>, name: &str) -> Result<(String, PathBuf)> {
    let own = own(on, job).await?;
    if let Some(folder) = own.iter().find(|folder| folder.name == name.trim()) {
        return Ok((folder.name.clone(), folder.path.clone()));
    }
    let name: String = name.chars().take(64).collect();
    let hint = match nearest(&name, own.iter().map(|folder| folder.name.as_str())) {
        Some(near) => format!("Did you mean {near}?"),
        None if own.is_empty() => "None is: the operator gives them in DRAGOMAN_SYNC_FOLDERS.".to_owned(),
        None => format!("These are: {}.", own.iter().map(|folder| folder.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{name:?} is no folder that was given to this workspace. {hint}");
    Err(Error::invalid("folder", message))
}

impl Shelf {
    /// # Errors
    /// As [`checked`]; `source_unavailable` where the folder is not there.
    pub(super) async fn open(on: &Ingest, job: &Job<'_>, name: &str) -> Result<Self> {
        let (name, path) = named(on, job, name).await?;
        let opened = tokio::task::spawn_blocking(move || File::open(path).and_then(of_folder));
        let root = job.wait(opened).await?.map_err(Error::internal)?.map_err(|cause| unread(&name, &cause))?;
        Ok(Self { name, root: Arc::new(root), most: job.budget.upload_bytes })
    }

    /// The files in it and in the folders within it, but for hidden ones.
    ///
    /// # Errors
    /// `source_unavailable` where it cannot be read; `invalid_argument` where it is empty, which a folder is too whose disk is
    /// not there; `limit_exceeded`.
    pub(super) async fn list(&self, job: &Job<'_>) -> Result<Listed> {
        job.says(0.0, format!("Looking through {}", self.name));
        let (root, cancel, until) = (self.root.clone(), job.cancel.clone(), Instant::now() + job.time_left());
        let walked = tokio::task::spawn_blocking(move || {
            let mut walk = Walk::default();
            walk.through(&root, &mut || cancel.is_cancelled() || Instant::now() >= until).map(|()| walk)
        });
        // What the folder is of may not answer at all.
        let walk = job.wait(walked).await?.map_err(Error::internal)?.map_err(|cause| unread(&self.name, &cause))?;
        job.check()?;
        if walk.is_too_deep {
            let message = format!("{} has folders more than {DEPTH} deep.", self.name);
            return Err(too_many("folder_depth", message, DEPTH));
        }
        if walk.items.len() > MOST {
            let message = format!("{} has more than {MOST} files. Give a folder of fewer.", self.name);
            return Err(too_many("sync_files", message, MOST));
        }
        if walk.items.is_empty() {
            let message = format!("{} has no files, or what it is of is not there. Its documents stay.", self.name);
            return Err(Error::invalid("folder", message));
        }
        let mut notes = Vec::new();
        if walk.links > 0 {
            notes.push(format!("{} not followed", counted(walk.links, "link")));
        }
        if walk.unnamed > 0 {
            notes.push(format!("{} whose names are not UTF-8 left out", counted(walk.unnamed, "file")));
        }
        Ok(Listed { items: walk.items, notes })
    }
}

impl Place for Shelf {
    const WITHIN: char = '/';

    async fn read(&mut self, job: &Job<'_>, item: &Item, _: Option<&Mark>) -> Result<Looked> {
        let (root, name, most) = (self.root.clone(), item.name.clone(), self.most);
        let read = tokio::task::spawn_blocking(move || content(&root, Path::new(&name), most));
        Ok(match job.wait(read).await?.map_err(Error::internal)? {
            Ok(Some(bytes)) => Looked::New(bytes, Mark::default()),
            Ok(None) => Looked::Failed(format!("it has more than {} MiB", self.most >> 20)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Looked::Gone,
            Err(cause) => Looked::Failed(told(&cause)),
        })
    }
}

/// What a walk through a folder came upon.
#[derive(Default)]
struct Walk {
    items: Vec<Item>,
    links: usize,
    unnamed: usize,
    is_too_deep: bool,
}

impl Walk {
    /// Stops early where there is more than is taken, or when `is_over`.
    fn through(&mut self, root: &OwnedFd, is_over: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let mut left = vec![(String::new(), 0)];
        while let Some((folder, depth)) = left.pop() {
            self.is_too_deep |= depth > DEPTH;
            if self.is_too_deep || self.items.len() > MOST || is_over() {
                return Ok(());
            }
            let open = beneath(root, Path::new(if folder.is_empty() { "." } else { &folder }), OFlag::O_DIRECTORY)?;
            // Its entries are looked at from what is open, whatever now has its name.
            for entry in std::fs::read_dir(format!("/proc/self/fd/{}", open.as_raw_fd()))? {
                let entry = entry?;
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let Some(name) = name.to_str() else {
                    self.unnamed += 1;
                    continue;
                };
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                let metadata = match entry.metadata() {
                    Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                    metadata => metadata?,
                };
                if metadata.is_symlink() {
                    self.links += 1;
                } else if metadata.is_dir() {
                    left.push((path, depth + 1));
                } else if metadata.is_file() {
                    let at = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                    let stamp = Some(format!("{} {}", metadata.len(), at.as_nanos()));
                    self.items.push(Item { file: name.to_owned(), name: path, stamp });
                }
            }
        }
        Ok(())
    }
}

/// The bytes of a file, when they are not too many.
fn content(root: &OwnedFd, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    // What is no file could be waited for.
    let file = beneath(root, path, OFlag::O_NONBLOCK)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file any more"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Opens what is in a folder, to be read.
fn beneath(root: &OwnedFd, path: &Path, flags: OFlag) -> io::Result<File> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | flags)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS);
    Ok(File::from(openat2(root, path, how)?))
}

fn of_folder(file: File) -> io::Result<OwnedFd> {
    if file.metadata()?.is_dir() { Ok(file.into()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Why something cannot be read, without where it is.
fn told(cause: &io::Error) -> String {
    cause.kind().to_string()
}

fn unread(name: &str, cause: &io::Error) -> Error {
    let message = format!("The folder {name} cannot be read: {}. The operator sets where it is.", told(cause));
    Error::new(Code::SourceUnavailable, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_is_read_whatever_leads_there() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("in"), place.path().join("out"));
        for folder in [&inside.join("deep"), &outside] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(inside.join("deep/a.md"), "ours").unwrap();
        std::fs::write(outside.join("b.md"), "theirs").unwrap();
        symlink(outside.join("b.md"), inside.join("file.md")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        symlink("deep/a.md", inside.join("own.md")).unwrap();
        let root = File::open(&inside).and_then(of_folder).unwrap();
        let read = |path: &str| content(&root, Path::new(path), 100);
        assert_eq!(read("deep/a.md").unwrap().unwrap(), b"ours");
        assert_eq!(content(&root, Path::new("deep/a.md"), 3).unwrap(), None);
        let absolute = outside.join("b.md").display().to_string();
        for path in ["file.md", "folder/b.md", "own.md", "../out/b.md", "deep/../../out/b.md", &absolute, "deep"] {
            assert!(read(path).is_err(), "{path}");
        }
        let mut walk = Walk::default();
        walk.through(&root, &mut || false).unwrap();
        let names: Vec<&str> = walk.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!((names, walk.links), (vec!["deep/a.md"], 3));
        assert!(File::open(inside.join("deep/a.md")).and_then(of_folder).is_err());
    }
}
