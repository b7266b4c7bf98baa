//! Where data live: one folder a workspace, one immutable file or shard folder a dataset version.
//!
//! ```text
//! <data>/workspaces/<org>/tables/<dataset>/<version>.duckdb
//! <data>/workspaces/<org>/vectors/<dataset>/<version>/
//! <data>/workspaces/<org>/uploads/<upload>/        files on their way in, kept for a day (`engine/uploads.rs`)
//! <data>/workspaces/<org>/staging/<import>…        unfinished work; removed at start
//! ```
//!
//! A version lives from its rename into place until nobody can read it. Before the metadata name it, it is an orphan:
//! a process that dies then leaves it, and the next start removes it, or whoever tidies up
//! ([`crate::engine::datasets::Datasets::tidy`]). When the metadata name another, it is kept as an
//! earlier version, as many of them as the settings say. When it is kept no longer, calls that began before may still be
//! about to open it; it is removed when the last of those has ended ([`crate::engine::readers`]), or then. Whoever has it open
//! already would not need that: an unlinked file is read to its end.
//! Erasure does not wait for calls: the names go at once, and the blocks when the last open handle closes, which the
//! limits on a call's time see to. What the medium keeps of freed blocks is the file system's and the disk's affair.

use std::io;
use std::path::{Path, PathBuf};

use crate::base::id::Id;
use crate::model::dataset::{Dataset, Kind};
use crate::model::org::Org;

/// Bytes of a disk that new data leave free where nothing else is set, and which share of it that is at most: the
/// metadata and the record go on on the same disk.
const FREE: u64 = 1 << 30;
const FREE_SHARE: u64 = 20;

/// The layout under a data folder.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
    /// Bytes of the disk that new data leave free, where they are set.
    free: Option<u64>,
}

impl Files {
    /// `data_dir` is made absolute, since workers run elsewhere.
    pub fn new(data_dir: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(data_dir)?;
        Ok(Self { root: data_dir.canonicalize()?.join("workspaces"), free: None })
    }

    /// With so many bytes of the disk that new data leave free, in the place of a share of it.
    #[must_use]
    pub fn leaving(self, free: Option<u64>) -> Self {
        Self { free, ..self }
    }

    /// Whether the disk has room for so many bytes of new data, beside what they leave free.
    ///
    /// # Errors
    /// It has not: as a write fails on a disk that is full.
    pub fn admit(&self, bytes: u64) -> io::Result<()> {
        // Where no workspace has anything yet, the disk that it will be on.
        let root = self.root.as_path();
        let folder = if root.exists() { root } else { root.parent().unwrap_or(root) };
        let disk = Disk::under(folder)?;
        let free = disk.kept_free(self.free);
        if disk.room < bytes.saturating_add(free) {
            let room = disk.room;
            let said = format!("No space left on device for new data: {room} bytes are free, and {free} stay free");
            return Err(io::Error::new(io::ErrorKind::StorageFull, said));
        }
        Ok(())
    }

    fn org(&self, org: Id<Org>) -> PathBuf {
        self.root.join(org.to_string())
    }

    /// The immutable DuckDB file of a table version.
    pub fn table(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> PathBuf {
        self.tables(org, dataset).join(format!("{version}.duckdb"))
    }

    /// The folder of all versions of a table.
    pub fn tables(&self, org: Id<Org>, dataset: Id<Dataset>) -> PathBuf {
        self.org(org).join("tables").join(dataset.to_string())
    }

    /// The immutable vector shard of a documents version.
    pub fn vectors(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> PathBuf {
        self.org(org).join("vectors").join(dataset.to_string()).join(version)
    }

    /// The folder of files on their way in.
    pub fn uploads(&self, org: Id<Org>) -> PathBuf {
        self.org(org).join("uploads")
    }

    /// The workspaces that have something here.
    pub fn orgs(&self) -> io::Result<Vec<Id<Org>>> {
        let named = |org: PathBuf| org.file_name().and_then(|name| name.to_str()?.parse().ok());
        Ok(entries(&self.root)?.into_iter().filter_map(named).collect())
    }

    /// A fresh, empty, private folder for work that is not published yet.
    ///
    /// # Errors
    /// The disk has no room for new data, or the folder cannot be made.
    pub fn staging(&self, org: Id<Org>) -> io::Result<tempfile::TempDir> {
        self.admit(0)?;
        let folder = self.org(org).join("staging");
        std::fs::create_dir_all(&folder)?;
        tempfile::Builder::new().prefix("import-").tempdir_in(folder)
    }

    /// Moves finished work to its place: after the rename, and not before, it is there whole. Its folder and those
    /// that may be new above it are synced, so that it survives a power cut.
    pub fn publish(&self, staged: &Path, place: &Path) -> io::Result<()> {
        let folder = place.parent().ok_or_else(|| io::Error::other("a place has a folder"))?;
        std::fs::create_dir_all(folder)?;
        std::fs::rename(staged, place)?;
        folder.ancestors().take(5).try_for_each(|folder| std::fs::File::open(folder)?.sync_all())
    }

    /// Removes a version that the metadata no longer know; absent is fine.
    pub fn remove(&self, place: &Path) -> io::Result<()> {
        let removed = if place.is_dir() { std::fs::remove_dir_all(place) } else { std::fs::remove_file(place) };
        match removed {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes every version of a dataset, and the folders that were its own; absent is fine.
    pub fn erase(&self, org: Id<Org>, dataset: Id<Dataset>) -> io::Result<()> {
        for kind in ["tables", "vectors"] {
            let folder = self.org(org).join(kind);
            self.remove(&folder.join(dataset.to_string()))?;
            if folder.exists() {
                std::fs::File::open(folder)?.sync_all()?;
            }
        }
        Ok(())
    }

    /// Removes everything of a workspace; absent is fine.
    pub fn erase_workspace(&self, org: Id<Org>) -> io::Result<()> {
        self.remove(&self.org(org))?;
        if self.root.exists() {
            std::fs::File::open(&self.root)?.sync_all()?;
        }
        Ok(())
    }

    /// Every version of a workspace in place, as what is known of its dataset by that.
    pub fn versions(&self, org: Id<Org>) -> io::Result<Vec<Dataset>> {
        let named = |place: &Path| place.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let mut found = Vec::new();
        for (kind, folder, end) in [(Kind::Table, "tables", ".duckdb"), (Kind::Documents, "vectors", "")] {
            for folder in entries(&self.org(org).join(folder))? {
                let Some(id) = named(&folder).and_then(|name| name.parse().ok()) else { continue };
                for version in entries(&folder)?.iter().filter_map(|version| named(version)) {
                    let Some(version) = version.strip_suffix(end) else { continue };
                    found.push(Dataset { version: Some(version.to_owned()), ..Dataset::new(id, org, "", kind) });
                }
            }
        }
        Ok(found)
    }

    /// Removes what interrupted imports left, in every workspace. What cannot be removed is in nobody's way: it is logged,
    /// and stays until the next start. So it is where a process that ends still writes.
    pub fn sweep_staging(&self) -> io::Result<()> {
        for org in entries(&self.root)? {
            let staging = org.join("staging");
            if let Err(problem) = self.remove(&staging) {
                tracing::warn!(%problem, folder = %staging.display(), "what interrupted imports left cannot be removed");
            }
        }
        Ok(())
    }
}

/// A disk, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// What is free of it.
    pub room: u64,
    pub size: u64,
}

impl Disk {
    /// That under a folder.
    pub fn under(folder: &Path) -> io::Result<Self> {
        let disk = nix::sys::statvfs::statvfs(folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.fragment_size());
        Ok(Self { room: bytes(disk.blocks_available()), size: bytes(disk.blocks()) })
    }

    /// How much of it new data leave free: what is `set`, or a share.
    pub fn kept_free(self, set: Option<u64>) -> u64 {
        set.unwrap_or_else(|| FREE.min(self.size / FREE_SHARE))
    }
}

/// Whether the disk under a folder can hold so many bytes more, whatever is kept free of it.
///
/// # Errors
/// It cannot: as a write would fail there.
pub fn room_for(folder: &Path, bytes: u64) -> io::Result<()> {
    match Disk::under(folder)?.room < bytes {
        true => Err(nix::errno::Errno::ENOSPC.into()),
        false => Ok(()),
    }
}

/// The paths in a folder; none when it is not there.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::model::error::Error;

    #[test]
    fn published_work_appears_whole_and_staging_is_swept() {
        let data = tempfile::tempdir().unwrap();
        let files = Files::new(data.path()).unwrap();
        let clock = Clock::system();
        let (org, dataset) = (Id::new(&clock), Id::new(&clock));
        let staging = files.staging(org).unwrap();
        let staged = staging.path().join("t.duckdb");
        std::fs::write(&staged, "rows").unwrap();
        let place = files.table(org, dataset, "v1");
        files.publish(&staged, &place).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"rows");

        let abandoned = files.staging(org).unwrap().keep();
        files.sweep_staging().unwrap();
        assert!(!abandoned.exists() && place.exists());
        files.remove(&place).unwrap();
        files.remove(&place).unwrap();
        assert!(!place.exists());
    }

    #[test]
    fn new_data_leave_free_what_is_set_or_a_share_of_the_disk() {
        let kept_free = |size: u64, set| Disk { room: 0, size }.kept_free(set);
        assert_eq!(kept_free(100 << 20, None), 5 << 20, "of a small disk a twentieth");
        assert_eq!(kept_free(1 << 40, None), 1 << 30);
        assert_eq!((kept_free(1 << 40, Some(0)), kept_free(1 << 20, Some(5 << 20))), (0, 5 << 20));
    }

    #[test]
    fn new_data_are_refused_as_on_a_full_disk_where_they_would_leave_too_little() {
        let data = tempfile::tempdir().unwrap();
        let org = Id::new(&Clock::system());
        let files = Files::new(data.path()).unwrap().leaving(Some(0));
        files.admit(1).unwrap();
        drop(files.staging(org).unwrap());
        let files = files.leaving(Some(u64::MAX));
        for refused in [files.admit(0).unwrap_err(), files.staging(org).unwrap_err()] {
            assert!(Error::is_disk_full(&refused.to_string()), "{refused}");
        }
        room_for(data.path(), 1).unwrap();
    }
}
