//! What a dictionary says, in the names that it uses: texts of tables and columns, and what it declares of them.

use crate::model::error::{Error, Result};
use crate::model::ontology::Term;

/// Characters of a description, and of a name.
pub(super) const MAX_DESCRIPTION: usize = 2_000;
pub(super) const MAX_NAME: usize = 120;
/// Other names of one thing.
pub(super) const MAX_SYNONYMS: usize = 20;
/// Words of a title that people would say for a column.
const MAX_SPOKEN: usize = 5;

/// The names of one table or column, the surest first: a file may give a name, a heading and the name of a file.
pub(super) type Names = Vec<String>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub entries: Vec<Entry>,
    pub terms: Vec<Term>,
    pub keys: Vec<Key>,
    pub references: Vec<Reference>,
    pub values: Vec<Values>,
    /// Tables and their columns that are said to hold personal data.
    pub personal: Vec<(Names, Names)>,
    /// What could not be read of it.
    pub left_out: Vec<String>,
}

/// What is written of a table, or of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Empty where the text does not say of which table it is.
    pub table: Names,
    /// Empty for the table itself.
    pub column: Names,
    pub description: String,
    pub synonyms: Vec<String>,
}

/// Columns that tell the rows of a table apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub table: Names,
    pub columns: Vec<String>,
    pub primary: bool,
    /// Whether none of them is empty in any row; that is not said of all that is unique.
    pub filled: bool,
}

/// Columns that hold keys of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub table: Names,
    pub columns: Vec<String>,
    /// Empty for the table itself.
    pub to: Names,
    pub to_columns: Vec<String>,
}

/// The only values that a column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub table: Names,
    pub column: Names,
    pub values: Vec<String>,
}

impl Said {
    /// Adds what is written of a table or column; of long descriptions the beginning.
    pub(super) fn entry(&mut self, table: &Names, column: &Names, description: &str, synonyms: &[String]) {
        let description: String = line(description).chars().take(MAX_DESCRIPTION).collect();
        let spoken = synonyms.iter().map(|word| word.trim().to_lowercase());
        let spoken = spoken.filter(|word| !word.is_empty() && word.chars().count() <= MAX_NAME);
        let synonyms = spoken.take(MAX_SYNONYMS).collect();
        self.entries.push(Entry { table: table.clone(), column: column.clone(), description, synonyms });
    }
}

/// A text in one line, without control characters.
pub(super) fn line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Titles that can be said for the thing that they are over; the others are read.
pub(super) fn spoken(titles: &[String]) -> Vec<String> {
    titles.iter().filter(|title| title.split_whitespace().count() <= MAX_SPOKEN).cloned().collect()
}

/// The name of a file without its folders and endings, as tables are called that were imported from it.
pub(super) fn stem(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    file.split('.').next().unwrap_or_default().to_owned()
}

pub(super) fn wrong(message: String) -> Error {
    Error::invalid("dictionary", message)
}

/// A name that is not too long for one.
pub(super) fn name(text: &str, line: impl std::fmt::Display) -> Result<String> {
    let name = self::line(text);
    if name.chars().count() > MAX_NAME {
        return Err(wrong(format!("Line {line}: a name has at most {MAX_NAME} characters.")));
    }
    Ok(name)
}
