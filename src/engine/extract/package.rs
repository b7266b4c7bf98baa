//! A zip, as office documents, books and archives are: members by name, each unpacked within the file's budget.

use std::io::{Cursor, Read as _};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::broken;
use super::budget::Budget;
use super::xml::text_of;
use crate::model::error::{Code, Error, Result};

pub(super) struct Package<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    budget: &'b Budget,
}

impl<'b> Package<'b> {
    /// # Errors
    /// `invalid_argument` for what is no zip; `limit_exceeded` for too many members.
    pub(super) fn open(bytes: &'b [u8], budget: &'b Budget) -> Result<Self> {
        let package = Self::again(bytes, budget)?;
        budget.members(package.len())?;
        Ok(package)
    }

    /// Opens one whose members the budget has paid.
    ///
    /// # Errors
    /// `invalid_argument` for what is no zip.
    pub(super) fn again(bytes: &'b [u8], budget: &'b Budget) -> Result<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|cause| broken(format!("the zip: {cause}")))?;
        Ok(Self { zip, budget })
    }

    pub(super) fn len(&self) -> usize {
        self.zip.len()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// A member, when there is one of the name.
    ///
    /// # Errors
    /// `invalid_argument` for a damaged or encrypted member; `limit_exceeded` for one that is too large.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        match self.zip.index_for_name(name.trim_start_matches('/')) {
            Some(index) => self.member(index),
            None => Ok(None),
        }
    }

    /// A member that must be there.
    ///
    /// # Errors
    /// As [`Package::read`], and `invalid_argument` when it is not there.
    pub(super) fn need(&mut self, name: &str) -> Result<Vec<u8>> {
        self.read(name)?.ok_or_else(|| broken(format!("its part {name} is missing")))
    }

    /// Whether an OpenDocument opens without a password.
    ///
    /// # Errors
    /// `invalid_argument` when it does not; as [`Package::read`].
    pub(super) fn unlocked(&mut self) -> Result<()> {
        let manifest = self.read("META-INF/manifest.xml")?.unwrap_or_default();
        if text_of(&manifest).contains("encryption-data") { Err(protected()) } else { Ok(()) }
    }

    /// Whether all members together, as large as they say they are, may be unpacked by another reader.
    ///
    /// # Errors
    /// `limit_exceeded` when they may not.
    pub(super) fn within_budget(&mut self) -> Result<()> {
        let sizes =
            (0..self.zip.len()).filter_map(|index| self.zip.by_index_raw(index).ok().map(|member| member.size()));
        let sum = sizes.fold(0, u64::saturating_add);
        self.budget.unpacked(sum)
    }

    /// The name of a member, by its place.
    pub(super) fn name(&mut self, index: usize) -> String {
        let member = self.zip.by_index_raw(index);
        member
            .map_or_else(|_| (index + 1).to_string(), |member| String::from_utf8_lossy(member.name_raw()).into_owned())
    }

    /// A member by its place; `None` for a folder.
    ///
    /// # Errors
    /// As [`Package::read`].
    pub(super) fn member(&mut self, index: usize) -> Result<Option<Vec<u8>>> {
        let budget = self.budget;
        let mut member = self.zip.by_index(index).map_err(|cause| match cause {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => protected(),
            other => broken(format!("member {} of the zip: {other}", index + 1)),
        })?;
        if member.is_dir() {
            return Ok(None);
        }
        if !matches!(member.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(otherwise_packed());
        }
        let name = String::from_utf8_lossy(member.name_raw()).into_owned();
        let most = budget.unpackable();
        let mut bytes = Vec::new();
        let read = member.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
        budget.unpacked(bytes.len() as u64)?;
        read.map_err(|cause| broken(format!("the member {name} of the zip: {cause}")))?;
        Ok(Some(bytes))
    }
}

/// What is beside the text and damaged spoils no document: it is as if it were not there. Bounds hold all the same.
///
/// # Errors
/// `limit_exceeded` as it is.
pub(super) fn sound<T: Default>(read: Result<T>) -> Result<T> {
    match read {
        Err(cause) if cause.code != Code::LimitExceeded => Ok(T::default()),
        read => read,
    }
}

/// A file that opens by a password only.
pub(super) fn protected() -> Error {
    Error::invalid("file", "it is protected by a password. Save it without one.")
}

/// A file that is packed in a way that few programs know.
fn otherwise_packed() -> Error {
    Error::invalid("file", "it is packed in an unusual way. Unpack it, and pack it anew as ZIP with \"deflate\".")
}

/// A path beside another part, as relations and manifests name it: `../media/a.xml` from `ppt/slides/slide1.xml`.
pub(super) fn beside(part: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut folders: Vec<&str> = part.split('/').collect();
    folders.pop();
    for piece in target.split('/') {
        match piece {
            ".." => {
                folders.pop();
            }
            "." | "" => {}
            piece => folders.push(piece),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::tests::zipped;

    #[test]
    fn members_that_cannot_be_unpacked_say_what_to_do() {
        // Stored members, said to be imploded: once before the member, once in the directory.
        let mut imploded = zipped(&[("a.txt", b"")]);
        let at = imploded.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        (imploded[8], imploded[at + 10]) = (6, 6);
        let budget = Budget::new(0);
        let message = Package::open(&imploded, &budget).unwrap().member(0).unwrap_err().message;
        assert!(message.contains("pack it anew as ZIP"), "{message}");
    }

    #[test]
    fn targets_are_found_beside_their_part() {
        assert_eq!(beside("ppt/slides/slide1.xml", "../notes/n.xml"), "ppt/notes/n.xml");
        assert_eq!(beside("ppt/presentation.xml", "slides/s.xml"), "ppt/slides/s.xml");
        assert_eq!(beside("a/b.xml", "/c/d.xml"), "c/d.xml");
        assert_eq!(beside("a.xml", "../../../etc/passwd"), "etc/passwd");
    }
}
