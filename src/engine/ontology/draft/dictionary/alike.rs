//! Names in a dictionary and those of the tables that it is about: alike apart from case, short forms, number and gaps.

use std::collections::HashMap;

use crate::engine::ontology::draft::names::{canonical, singular};
use crate::model::ontology::{Field, in_words};

/// Names of columns and tables are compared as words: two are alike where one of these is the same. Letters apart from
/// case; words apart from short forms and number; all letters run together.
pub(super) fn keys(name: &str) -> [String; 3] {
    let name = name.trim_matches('"');
    let words = in_words(name);
    let each: Vec<String> = words.split(' ').map(canonical).collect();
    let together = singular(&words.replace(' ', ""));
    [format!("={}", name.to_ascii_lowercase()), format!(" {}", each.join(" ")), format!("~{together}")]
}

/// Names by what they are compared by, each with where the first of them stands.
pub(super) struct Known(HashMap<String, usize>);

impl Known {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut first = HashMap::new();
        for (at, name) in names.enumerate() {
            for key in keys(name) {
                first.entry(key).or_insert(at);
            }
        }
        Self(first)
    }

    /// Where the name stands that is most like this one: the same letters, then the same words, then the same run together.
    /// Of several that are equally like it, the first.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        keys(name).iter().find_map(|key| self.0.get(key)).copied()
    }

    /// Where the first of several names of one thing stands that is there.
    pub(super) fn first(&self, names: &[String]) -> Option<usize> {
        names.iter().find_map(|name| self.find(name))
    }
}

/// The column that a field is; its own name where it is more than a column.
fn column(field: &Field) -> &str {
    let text = field.expression.trim();
    let is_column = match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => !quoted.contains('"'),
        None => !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_'),
    };
    if is_column { text } else { &field.name }
}

/// The fields of a dataset by their columns, and what each is called.
pub(super) struct Called {
    pub columns: Known,
    /// By what fields are called: what their columns are compared by.
    words: HashMap<String, Vec<[String; 3]>>,
}

impl Called {
    pub(super) fn new(fields: &[Field]) -> Self {
        let mut words: HashMap<String, Vec<[String; 3]>> = HashMap::new();
        for field in fields {
            words.entry(field.words()).or_default().push(keys(column(field)));
        }
        Self { columns: Known::new(fields.iter().map(column)), words }
    }

    /// Whether a field of another column is called so.
    pub(super) fn is_taken(&self, word: &str, column: &[String; 3]) -> bool {
        let of_another = |other: &[String; 3]| other.iter().zip(column).all(|(one, other)| one != other);
        self.words.get(word).is_some_and(|columns| columns.iter().any(of_another))
    }
}
