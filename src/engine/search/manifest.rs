//! What a shard folder says of itself: whose it is, which encoder made its vectors, how long each file is. Written
//! last, checked before anything else is opened: the vector files are mapped into memory, and a file that is shorter
//! than the engine believes would end the process instead of being an error.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::SeekFrom;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::org::Org;

const FILE: &str = "manifest.json";
/// Raised when a shard of the past can no longer be read.
const FORMAT: u32 = 2;

/// Names the way that texts are cut (`chunk.rs`): another when that changes, so that indexes of before are cut anew.
pub(super) const CUTTER: &str = "structure 1";

/// The dataset that a shard holds, and the tenant that the dataset belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Owner {
    pub org: Id<Org>,
    pub dataset: Id<Dataset>,
}

/// Why a shard cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("the shard belongs to another dataset")]
    Foreign,
    #[error("the shard was made with another encoder or format: {0}")]
    OtherModel(String),
    #[error("the shard is damaged: {0}")]
    Damaged(String),
    #[error("the vector engine failed: {0}")]
    Engine(String),
    #[error("the shard cannot be read or written: {0}")]
    Io(#[from] io::Error),
    /// A server cannot be used: in words for who set it, and in the log already.
    #[error("{0}")]
    Away(String),
}

/// How much was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub points: u64,
    /// Those of them that are in parts that are only read.
    #[serde(default)]
    pub parted: u64,
    /// How often the engine was written to, up to this version and those that it was copied from; 0 in those of before.
    #[serde(default)]
    pub operations: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    owner: Owner,
    /// [`crate::engine::search::embed::Embed::identity`].
    encoder: String,
    /// [`crate::engine::search::analysis::IDENTITY`].
    terms: String,
    /// [`CUTTER`]; empty in those of before.
    #[serde(default)]
    cutter: String,
    #[serde(flatten)]
    counts: Counts,
    /// Path within the folder, and length in bytes, sorted by path.
    files: Vec<(String, u64)>,
}

/// Seals a closed shard: writes the manifest, then syncs every file and folder. Returns the bytes on disk.
pub(super) fn seal(folder: &Path, owner: Owner, encoder: &str, terms: &str, counts: Counts) -> Result<u64, Fault> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    walk(folder, &mut files, &mut folders)?;
    files.sort();
    let mut listed = Vec::new();
    for path in &files {
        let name = path.strip_prefix(folder).map_err(|problem| Fault::Damaged(problem.to_string()))?;
        let name = name.to_str().ok_or_else(|| Fault::Damaged("a file's name is not UTF-8".into()))?;
        listed.push((name.to_owned(), fs::metadata(path)?.len()));
    }
    let (encoder, terms, cutter) = (encoder.into(), terms.into(), CUTTER.into());
    let manifest = Manifest { format: FORMAT, owner, encoder, terms, cutter, counts, files: listed };
    let text = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
    let place = folder.join(FILE);
    fs::write(&place, text)?;
    files.push(place);
    let mut bytes = 0;
    for path in files.iter().chain(&folders) {
        let file = File::open(path)?;
        file.sync_all()?;
        // Blocks, not lengths: the engine's files are sparse. A block here is 512 bytes (stat(2)).
        bytes += file.metadata()?.blocks() * 512;
    }
    Ok(bytes)
}

/// The encoder that made a folder's vectors, as it named itself.
pub(super) fn encoder(folder: &Path) -> Result<String, Fault> {
    Ok(read(folder)?.encoder)
}

/// Bytes of all files of a folder on disk, their holes not counted.
pub(super) fn bytes(folder: &Path) -> Result<u64, Fault> {
    let blocks = |(name, _): &(String, u64)| Ok::<_, io::Error>(fs::metadata(folder.join(name))?.blocks());
    let blocks: io::Result<u64> = read(folder)?.files.iter().map(blocks).sum();
    Ok(blocks? * 512)
}

/// How much was written into a folder.
pub(super) fn counts(folder: &Path) -> Result<Counts, Fault> {
    Ok(read(folder)?.counts)
}

/// Copies what was sealed in a folder, without its manifest, into another that is absent.
pub(super) fn copy(sealed: &Path, folder: &Path) -> Result<(), Fault> {
    for (name, _) in read(sealed)?.files {
        let place = folder.join(&name);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        copy_file(&sealed.join(&name), &place)?;
    }
    Ok(())
}

/// Copies a file without its holes: the engine's are much longer than what is in them.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create_new(to)?);
    to.set_len(from.metadata()?.len())?;
    let mut at = 0;
    loop {
        let data = match rustix::fs::seek(&from, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing but a hole is left.
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(problem) => return Err(problem.into()),
        };
        at = rustix::fs::seek(&from, SeekFrom::Hole(data))?;
        rustix::fs::seek(&from, SeekFrom::Start(data))?;
        rustix::fs::seek(&to, SeekFrom::Start(data))?;
        io::copy(&mut from.by_ref().take(at - data), &mut to)?;
    }
}

/// Whether the texts of a folder are cut as they are cut now.
pub(super) fn is_cut_so(folder: &Path) -> Result<bool, Fault> {
    Ok(read(folder)?.cutter == CUTTER)
}

fn read(folder: &Path) -> Result<Manifest, Fault> {
    serde_json::from_slice(&fs::read(folder.join(FILE))?)
        .map_err(|problem| Fault::Damaged(format!("{FILE}: {problem}")))
}

/// Checks that a folder is whole, of this owner and of these models. Returns its number of points.
pub(super) fn verify(folder: &Path, owner: Owner, encoder: &str, terms: &str) -> Result<u64, Fault> {
    let manifest = read(folder)?;
    if manifest.owner != owner {
        return Err(Fault::Foreign);
    }
    if manifest.format != FORMAT || manifest.encoder != encoder || manifest.terms != terms {
        return Err(Fault::OtherModel(format!("{}, {}, {}", manifest.format, manifest.encoder, manifest.terms)));
    }
    for (name, length) in &manifest.files {
        let found = fs::metadata(folder.join(name)).map_err(|problem| Fault::Damaged(format!("{name}: {problem}")))?;
        if found.len() != *length {
            return Err(Fault::Damaged(format!("{name} has {} bytes instead of {length}", found.len())));
        }
    }
    Ok(manifest.counts.points)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) -> io::Result<()> {
    folders.push(folder.to_owned());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files, folders)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    const COUNTS: Counts = Counts { points: 7, parted: 3, operations: 2 };

    fn sealed() -> (tempfile::TempDir, Owner) {
        let clock = Clock::manual(1);
        let owner = Owner { org: Id::new(&clock), dataset: Id::new(&clock) };
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("segments")).unwrap();
        fs::write(folder.path().join("segments/vectors"), "0123456789").unwrap();
        seal(folder.path(), owner, "encoder", "terms", COUNTS).unwrap();
        (folder, owner)
    }

    #[test]
    fn a_sealed_folder_is_accepted_with_its_number_of_points() {
        let (folder, owner) = sealed();
        assert_eq!(verify(folder.path(), owner, "encoder", "terms").unwrap(), 7);
    }

    #[test]
    fn what_was_sealed_is_copied_with_its_holes_and_without_what_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let owner = Owner { org: Id::new(&Clock::manual(1)), dataset: Id::new(&Clock::manual(1)) };
        fs::create_dir(folder.path().join("segments")).unwrap();
        let long = File::create(folder.path().join("segments/long")).unwrap();
        long.set_len(64 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&long, b"middle", 32 << 20).unwrap();
        fs::write(folder.path().join("empty"), "").unwrap();
        seal(folder.path(), owner, "encoder", "terms", COUNTS).unwrap();
        fs::write(folder.path().join("later"), "log").unwrap();

        let copied = folder.path().join("copy");
        copy(folder.path(), &copied).unwrap();
        let text = fs::read(copied.join("segments/long")).unwrap();
        assert_eq!((text.len(), &text[32 << 20..(32 << 20) + 6]), (64 << 20, b"middle".as_slice()));
        assert!(text[..32 << 20].iter().chain(&text[(32 << 20) + 6..]).all(|byte| *byte == 0));
        assert!(fs::metadata(copied.join("segments/long")).unwrap().blocks() * 512 < 1 << 20);
        let mut names: Vec<_> = fs::read_dir(&copied).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["empty", "segments"]);
        assert_eq!(counts(folder.path()).unwrap(), COUNTS);
    }

    #[test]
    fn another_owner_or_model_is_refused() {
        let (folder, owner) = sealed();
        let other = Owner { org: Id::new(&Clock::manual(2)), ..owner };
        assert!(matches!(verify(folder.path(), other, "encoder", "terms"), Err(Fault::Foreign)));
        assert!(matches!(verify(folder.path(), owner, "newer", "terms"), Err(Fault::OtherModel(_))));
        assert!(matches!(verify(folder.path(), owner, "encoder", "newer"), Err(Fault::OtherModel(_))));
    }

    #[test]
    fn a_short_or_missing_file_and_a_broken_manifest_are_refused() {
        let (folder, owner) = sealed();
        let vectors = folder.path().join("segments/vectors");
        let check = || verify(folder.path(), owner, "encoder", "terms");
        fs::write(&vectors, "012345678").unwrap();
        assert!(matches!(check(), Err(Fault::Damaged(_))));
        fs::remove_file(&vectors).unwrap();
        assert!(matches!(check(), Err(Fault::Damaged(_))));
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(matches!(check(), Err(Fault::Damaged(_))));
        fs::remove_file(folder.path().join(FILE)).unwrap();
        assert!(matches!(check(), Err(Fault::Io(_))));
    }
}
