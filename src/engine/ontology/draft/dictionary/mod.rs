//! A data dictionary: what people wrote of tables and columns. A table in CSV or Markdown gives descriptions, other names
//! and words of the house; a `schema.yml` of dbt, a package of Frictionless and metadata of CSV on the Web also declare
//! keys, references and enumerations, which count as those that a database declares.

mod alike;
mod csvw;
mod dbt;
mod frictionless;
mod lines;
mod part;
mod said;
mod tell;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashMap;

use super::DraftTable;
use crate::model::error::Result;
use crate::model::ontology::{Ontology, Term, in_words};
use alike::{Called, Known, keys};
use said::{MAX_SYNONYMS, Said, wrong};

/// Bytes of a dictionary, its lines, and what it may say in all.
const MAX_BYTES: usize = 512 << 10;
const MAX_LINES: usize = 10_000;

/// What a dictionary says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary(Said);

impl Dictionary {
    /// Reads a dictionary; its content tells which kind it is.
    ///
    /// # Errors
    /// `invalid_argument`: the line that cannot be read, and what is expected there.
    pub fn read(text: &str) -> Result<Self> {
        let tree = tree::is_tree(text);
        // Brackets take lines of their own in JSON.
        let lines = if tree { 0 } else { text.lines().count() };
        if text.len() > MAX_BYTES || lines > MAX_LINES {
            return Err(wrong(format!("A dictionary has at most {MAX_LINES} lines and {} KB.", MAX_BYTES >> 10)));
        }
        let said = if tree { tree::read(text)? } else { lines::read(text)? };
        if said.entries.len() > MAX_LINES {
            return Err(wrong(format!("A dictionary is of at most {MAX_LINES} tables and columns.")));
        }
        Ok(Self(said))
    }

    /// Words of the house.
    pub fn terms(&self) -> &[Term] {
        &self.0.terms
    }

    /// Writes its descriptions and what it declares into tables, and says what it names that is not there, and what the
    /// data speak against.
    pub fn tell(&self, tables: &mut [DraftTable]) -> Vec<String> {
        tell::tell(&self.0, tables)
    }

    /// Adds its synonyms. A name that a column of the same table has is not given to another.
    pub(super) fn name(&self, ontology: &mut Ontology) {
        let known = Known::new(ontology.datasets.iter().map(|entity| entity.source.as_str()));
        let mut fields: HashMap<usize, Called> = HashMap::new();
        for entry in self.0.entries.iter().filter(|entry| !entry.synonyms.is_empty()) {
            let at = known.first(&entry.table);
            let Some((at, entity)) = at.and_then(|at| Some((at, ontology.datasets.get_mut(at)?))) else { continue };
            let called = fields.entry(at).or_insert_with(|| Called::new(&entity.fields));
            let (of, own) = if entry.column.is_empty() {
                (Some(&mut entity.ai.synonyms), in_words(&entity.name))
            } else {
                let field = called.columns.first(&entry.column).and_then(|field| entity.fields.get_mut(field));
                let own = field.as_ref().map(|field| field.words()).unwrap_or_default();
                (field.map(|field| &mut field.ai.synonyms), own)
            };
            let Some(synonyms) = of else { continue };
            let column = keys(entry.column.first().map(String::as_str).unwrap_or_default());
            for word in entry.synonyms.iter().filter(|word| **word != own) {
                if synonyms.len() >= MAX_SYNONYMS {
                    break;
                }
                if !synonyms.contains(word) && !called.is_taken(word, &column) {
                    synonyms.push(word.clone());
                }
            }
        }
    }
}
