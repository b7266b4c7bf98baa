//! What a language model may name: things of the ontology, and words of the question.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::ontology::{Ontology, in_words};
use crate::model::reading::Choice;

/// A thing of the ontology by its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Meant {
    Metric(String),
    Dataset(String),
    Segment(String),
    Field { dataset: String, field: String },
}

/// As an option for the person who asked; `None` for what is not there, or hidden.
pub(super) fn choice(meant: &Meant, ontology: &Ontology) -> Option<Choice> {
    Some(match meant {
        Meant::Metric(name) => {
            let name = &ontology.metric(name)?.name;
            Choice { label: in_words(name), value: format!("metric {name}") }
        }
        Meant::Dataset(name) => {
            let name = &ontology.entity(name).filter(|entity| !entity.hidden)?.name;
            Choice { label: format!("the number of {}", in_words(name)), value: format!("dataset {name}") }
        }
        Meant::Segment(name) => {
            let name = &ontology.segment(name)?.name;
            Choice { label: in_words(name), value: format!("segment {name}") }
        }
        Meant::Field { dataset, field } => {
            let entity = ontology.entity(dataset).filter(|entity| !entity.hidden)?;
            let field = entity.field(field).filter(|field| !field.hidden)?;
            let label = format!("{} of {}", field.words(), in_words(&entity.name));
            Choice { label, value: format!("field {}.{}", entity.name, field.name) }
        }
    })
}

/// Whether words stand in the question, without regard to case and to how they are spaced.
pub(super) fn occurs(words: &str, question: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let words = plain(words);
    !words.is_empty() && words.chars().any(char::is_alphanumeric) && plain(question).contains(&words)
}
