//! A dataset: a table or a set of documents that a workspace may publish to external clients.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::personal;
use crate::model::source::{Dialect, RemoteTable};

/// What a dataset holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Table,
    Documents,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Documents => "documents",
        }
    }
}

/// A dataset as stored. Its data are immutable files of `version`; a new import publishes a new version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub id: Id<Dataset>,
    pub org: Id<Org>,
    /// Unique in the workspace; for tables also the SQL name: `[a-z_][a-z0-9_]*`, at most 63 characters.
    pub name: String,
    /// What people call it; empty when they call it by its name.
    pub title: String,
    pub description: String,
    pub kind: Kind,
    /// Whether external clients may see it; false until published.
    pub externally_queryable: bool,
    /// Names the immutable file or shard in the workspace's folder, or the reading of a remote catalogue; `None` until
    /// the first import ended.
    pub version: Option<String>,
    /// Rows of a table (as its engine estimates them when it is remote), chunks of documents.
    pub row_count: i64,
    /// Bytes on disk.
    pub bytes: i64,
    /// Columns of a table; empty for documents.
    pub columns: Vec<ColumnInfo>,
    /// Names of columns that external clients do not see, in lower case; those of earlier versions may be among them.
    pub hidden: Vec<String>,
    /// The file that it came from, as a person would recognise it; for a remote table its source and name there.
    pub source: String,
    /// Where the rows are, when they are in a remote engine; nothing of them is kept here then.
    pub remote: Option<RemoteTable>,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Dataset {
    /// One with nothing in it yet, that no external client sees.
    pub fn new(id: Id<Dataset>, org: Id<Org>, name: impl Into<String>, kind: Kind) -> Self {
        Self {
            id,
            org,
            name: name.into(),
            title: String::new(),
            description: String::new(),
            kind,
            externally_queryable: false,
            version: None,
            row_count: 0,
            bytes: 0,
            columns: Vec::new(),
            hidden: Vec::new(),
            source: String::new(),
            remote: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    /// As a caller sees it. This is the one place that decides what of a dataset external clients get to know: what reads
    /// the columns here, and the SQL engine, which shows these alone, cannot tell more.
    #[must_use]
    pub fn seen(mut self, external: bool) -> Self {
        if external && !self.hidden.is_empty() {
            self.columns.retain(|column| !self.hidden.contains(&column.name.to_lowercase()));
        }
        self
    }

    /// Whether a column is hidden from external clients.
    pub fn hides(&self, column: &str) -> bool {
        self.hidden.contains(&column.to_lowercase())
    }

    /// Whether it can be queried at all.
    pub fn is_ready(&self) -> bool {
        self.version.is_some()
    }

    /// How the names of the files end that it was made of, each once; none of a remote table.
    pub fn file_types(&self) -> Vec<String> {
        let ends = self.source.split(", ").filter_map(|file| file.rsplit_once('.')).map(|(_, end)| end.to_lowercase());
        let is_word = |end: &String| (1..=8).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric());
        let ends: BTreeSet<String> = ends.filter(is_word).collect();
        if self.remote.is_some() { vec![] } else { ends.into_iter().collect() }
    }

    /// The SQL that reads it; `None` for documents.
    pub fn dialect(&self) -> Option<Dialect> {
        let dialect = self.remote.as_ref().map_or(Dialect::DuckDb, |remote| remote.engine.dialect());
        (self.kind == Kind::Table).then_some(dialect)
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ColumnInfo {
    /// As written in SQL.
    pub name: String,
    /// The engine's type name, such as DuckDB's `BIGINT`, `VARCHAR`, `TIMESTAMP`.
    pub r#type: String,
    pub nullable: bool,
    /// What people wrote of it, or the source that it comes from; empty when nobody did.
    pub description: String,
    /// Up to five distinct values, as text; masked where the column likely holds personal data.
    pub sample_values: Vec<String>,
    /// Whether these are all its values, besides NULL. Absent where it is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples_are_all: bool,
    /// The kind of personal data that the column likely holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likely_personal_data: Option<personal::Kind>,
}

impl ColumnInfo {
    /// As it may be shown: what likely is personal is masked, by the judgement of all its values that the import made,
    /// or of the samples where there was none.
    #[must_use]
    pub fn masked(mut self) -> Self {
        let judged = personal::judge_column(&self.name, &self.r#type, &self.sample_values);
        self.likely_personal_data = self.likely_personal_data.or(judged.map(|finding| finding.kind));
        if let Some(kind) = self.likely_personal_data {
            self.sample_values = self.sample_values.iter().map(|value| personal::mask(kind, value)).collect();
            self.sample_values.dedup();
            // Masked, they no longer say which values there are.
            self.samples_are_all = false;
        }
        self
    }
}

/// A dataset's name made from a file's: lower-case letters of ASCII without their accents, `_` for the rest, never empty,
/// never starting with a digit.
pub fn name_from_file(stem: &str) -> String {
    // Letters that have no other one in them.
    const LATIN: &[(char, &str)] = &[
        ('ß', "ss"),
        ('æ', "ae"),
        ('œ', "oe"),
        ('ø', "o"),
        ('ł', "l"),
        ('đ', "d"),
        ('ð', "d"),
        ('þ', "th"),
        ('ı', "i"),
    ];
    let mut name = String::new();
    for letter in stem.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        match LATIN.iter().find(|(latin, _)| *latin == letter) {
            Some((_, plain)) => name.push_str(plain),
            None => name.push(if letter.is_ascii_alphanumeric() { letter } else { '_' }),
        }
    }
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_matches('_');
    let name = if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("t_{name}")
    } else {
        name.to_owned()
    };
    name.chars().take(63).collect::<String>().trim_end_matches('_').to_owned()
}

/// What an import does to a dataset that has the name already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IfExists {
    /// It gets a new version: these rows instead of those before.
    #[default]
    Replace,
    /// It gets a new version: these rows below those before, in its columns and their types; these texts beside those
    /// before, of which each takes the place of the one that has its name.
    Append,
    /// It stays as it is, and the import is refused.
    Refuse,
}

impl IfExists {
    /// As [`IfExists::parse`] reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Refuse => "refuse",
        }
    }

    /// A field of a form; absent is the default.
    ///
    /// # Errors
    /// `invalid_argument` with the words that are understood.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        match text {
            None | Some("replace") => Ok(Self::Replace),
            Some("append") => Ok(Self::Append),
            Some("refuse") => Ok(Self::Refuse),
            Some(_) => Err(Error::invalid("if_exists", "if_exists is replace, append or refuse.")),
        }
    }
}

/// Characters of a dataset's title, of its description, and of a column's.
pub const TITLE: usize = 120;
pub const DESCRIPTION: usize = 2_000;
pub const COLUMN_DESCRIPTION: usize = 500;

/// A text that people and models read beside data, without spaces around it.
///
/// # Errors
/// `invalid_argument`, in the name of `argument`, for more than `most` characters, and for characters that are not
/// printed: PostgreSQL keeps no NUL, and no page or terminal is helped by the others.
pub fn readable(argument: &str, text: &str, most: usize) -> Result<String> {
    let odd = |c: char| c.is_control() && !"\n\r\t".contains(c);
    let text = text.trim();
    let length = text.chars().count();
    if length > most || text.contains(odd) {
        let message = format!("{argument} has at most {most} printable characters; this has {length}.");
        return Err(Error::invalid(argument, message));
    }
    Ok(text.to_owned())
}

/// What [`is_name`] asks for, in words.
pub const NAMES: &str = "A dataset's name has 1 to 63 characters of a–z, 0–9 and _, and does not start with a digit.";

/// Whether a text can be a dataset's name.
pub fn is_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_data_is_short_and_printable() {
        assert_eq!(readable("title", " Sales of 2024\n", TITLE).unwrap(), "Sales of 2024");
        assert_eq!(readable("title", &"é".repeat(TITLE), TITLE).unwrap().chars().count(), TITLE);
        for bad in ["é".repeat(TITLE + 1), "a\0b".into(), "\u{1b}[31m".into()] {
            let refused = readable("title", &bad, TITLE).unwrap_err();
            assert!(refused.message.contains("title has at most 120"), "{}", refused.message);
        }
    }

    #[test]
    fn file_names_become_sql_names() {
        for (file, name) in [
            ("Flights 2013", "flights_2013"),
            ("2013", "t_2013"),
            ("--", "t"),
            ("Ünï", "uni"),
            ("a__b", "a_b"),
            ("Straße 3", "strasse_3"),
            ("Łódź", "lodz"),
            ("表", "t"),
        ] {
            assert_eq!(name_from_file(file), name, "{file}");
            assert!(is_name(&name_from_file(file)), "{file}");
        }
    }
}
