//! Names of an ontology and stored values that come near some words.
//!
//! Who looks something up writes [`words`], of which some say what is meant: [`fit()`] says how well an ontology, or
//! anything with names, has to do with them, and [`values`] finds the stored values that they name. Who writes a word
//! that means nothing misspelt it, or means another: [`names`] has what comes nearest, by how [`alike`] words are, and
//! [`unstored()`] the same for values in conditions.

mod alike;
mod fit;
mod names;
mod unstored;
mod values;
mod words;

pub use fit::{fit, fit_of, relevance};
pub(super) use fit::{names_of, open_terms, texts_of};
pub(super) use names::{datasets, near};
pub(super) use unstored::unstored;
pub(super) use values::{Found, find, known};
pub(super) use words::Sought;
