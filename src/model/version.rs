//! Versions of a dataset that are kept: the current one, and some of those before it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::{ColumnInfo, Dataset};
use crate::model::org::Org;

/// What made a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Files took the place of what was there.
    Import,
    /// Files were added to what was there.
    Append,
    /// Rows of a table were taken over as documents.
    Sync,
    /// Documents were removed.
    Remove,
}

/// What becomes of a text that is there already under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twins {
    StayOut,
    Stay,
}

impl How {
    pub const ALL: [How; 4] = [How::Import, How::Append, How::Sync, How::Remove];

    pub fn name(self) -> &'static str {
        match self {
            How::Import => "import",
            How::Append => "append",
            How::Sync => "sync",
            How::Remove => "remove",
        }
    }

    /// A file that comes twice is one; each row of a table is one of its own.
    pub fn twins(self) -> Twins {
        if self == How::Sync { Twins::Stay } else { Twins::StayOut }
    }
}

/// A version as the metadata know it; what it holds is an immutable file or shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub org: Id<Org>,
    pub dataset: Id<Dataset>,
    /// Names its file or shard in the workspace's folder.
    pub version: String,
    pub how: How,
    /// Rows of a table, chunks of documents.
    pub row_count: i64,
    /// Bytes on disk.
    pub bytes: i64,
    /// As they were found then; what people wrote of them is with the dataset.
    pub columns: Vec<ColumnInfo>,
    /// The files that it came from, as people call them.
    pub source: String,
    /// What these files are known by when they come again.
    pub files: String,
    pub made_at: Millis,
    /// A person's id; `None` for the operator and for programs.
    pub made_by: Option<String>,
    /// When it last became the current one, and by whom.
    pub current_since: Millis,
    pub current_by: Option<String>,
}

/// Those of the versions before the current one that are kept no longer, where `versions` stay, the current one included,
/// and those before it as long as they take `most` bytes together; `earlier` begins with the newest. One that is too large
/// takes those before it along. Of syncs that follow each other only the newest stays and counts: what people made is not
/// pushed out by what comes every few minutes.
pub fn beyond(versions: usize, most: u64, earlier: &[Version]) -> Vec<&Version> {
    let (mut left, mut bytes, mut after) = (versions.saturating_sub(1), 0_u64, None);
    let is_beyond = |version: &&Version| {
        if after.replace(version.how) == Some(How::Sync) && version.how == How::Sync {
            return true;
        }
        bytes = bytes.saturating_add(u64::try_from(version.bytes).unwrap_or_default());
        left = if bytes > most { 0 } else { left };
        let is_beyond = left == 0;
        left = left.saturating_sub(1);
        is_beyond
    };
    earlier.iter().filter(is_beyond).collect()
}

/// How the columns of a version differ from those of the current one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Columns that it has and the current one has not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Columns that the current one has and it has not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Columns of another type, each with its type in this version: `amount BIGINT`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retyped: Vec<String>,
}

impl Difference {
    /// From the current columns to those of a version.
    pub fn between(now: &[ColumnInfo], then: &[ColumnInfo]) -> Self {
        let find = |among: &[ColumnInfo], name: &str| {
            among.iter().find(|column| column.name.eq_ignore_ascii_case(name)).map(|column| column.r#type.clone())
        };
        let missing = |of: &[ColumnInfo], in_: &[ColumnInfo]| {
            let missing = of.iter().filter(|column| find(in_, &column.name).is_none());
            missing.map(|column| column.name.clone()).collect()
        };
        let retyped = then.iter().filter(|column| find(now, &column.name).is_some_and(|now| now != column.r#type));
        Self {
            added: missing(then, now),
            removed: missing(now, then),
            retyped: retyped.map(|column| format!("{} {}", column.name, column.r#type)).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.retyped.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    fn version(bytes: i64) -> Version {
        let clock = Clock::manual(1);
        Version {
            org: Id::new(&clock),
            dataset: Id::new(&clock),
            version: String::new(),
            how: How::Import,
            row_count: 0,
            bytes,
            columns: Vec::new(),
            source: String::new(),
            files: String::new(),
            made_at: 0,
            made_by: None,
            current_since: 0,
            current_by: None,
        }
    }

    #[test]
    fn versions_are_kept_by_number_and_bytes_without_holes() {
        let earlier: Vec<Version> = [10, 10, 50, 10].map(version).into();
        let beyond = |versions, bytes| beyond(versions, bytes, &earlier).len();
        assert_eq!(beyond(5, 100), 0);
        assert_eq!(beyond(3, 100), 2);
        assert_eq!(beyond(1, 100), 4, "the current one alone");
        assert_eq!(beyond(5, 69), 2, "the third does not fit, and the fourth goes with it");
        assert_eq!(beyond(5, 9), 4);
    }

    #[test]
    fn of_syncs_in_a_row_the_newest_stays_and_counts_and_what_people_made_is_kept() {
        use How::{Append, Import, Remove, Sync};
        let earlier =
            |all: &[How]| -> Vec<Version> { all.iter().map(|how| Version { how: *how, ..version(10) }).collect() };
        let gone = |versions: usize, bytes: u64, all: &[How]| -> Vec<usize> {
            let earlier = earlier(all);
            let gone = beyond(versions, bytes, &earlier);
            let at = |one: &Version| gone.iter().any(|gone| std::ptr::eq(*gone, one));
            earlier.iter().enumerate().filter(|(_, one)| at(one)).map(|(at, _)| at).collect()
        };
        assert_eq!(gone(5, 100, &[Sync, Sync, Sync, Sync, Sync, Sync, Import]), [1, 2, 3, 4, 5]);
        assert_eq!(gone(3, 100, &[Sync, Sync, Import, Append]), [1, 3], "people's are counted as before");
        assert_eq!(gone(5, 100, &[Sync, Remove, Sync, Sync, Import]), [3], "another comes between two rows of them");
        assert_eq!(gone(5, 20, &[Sync, Sync, Import]), [1], "its bytes are not counted either");
    }

    #[test]
    fn columns_are_compared_by_name_and_type() {
        let columns = |all: &[(&str, &str)]| -> Vec<ColumnInfo> {
            let column = |(name, of): &(&str, &str)| ColumnInfo {
                name: (*name).into(),
                r#type: (*of).into(),
                ..ColumnInfo::default()
            };
            all.iter().map(column).collect()
        };
        let now = columns(&[("a", "BIGINT"), ("b", "VARCHAR"), ("c", "DATE")]);
        assert!(Difference::between(&now, &now).is_empty());
        let then = columns(&[("A", "BIGINT"), ("b", "DOUBLE"), ("d", "DATE")]);
        let found = Difference::between(&now, &then);
        assert_eq!((found.added, found.removed), (vec!["d".to_owned()], vec!["c".to_owned()]));
        assert_eq!(found.retyped, ["b DOUBLE"]);
    }
}
