//! What every stage on the way to one answer made, for who has to mend a wrong answer: which stage made it wrong. It is
//! made only where somebody asked for it, and has an end.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::model::run::Stage;

/// Most stages that are kept; where other words are tried for a question, each try has its own.
const MOST_STAGES: usize = 400;

/// Characters of what one stage made.
const MOST_CHARS: usize = 8_000;

/// A record of one answer, if one is kept. Its clones write to the same.
#[derive(Clone, Debug, Default)]
pub struct Record(Option<Arc<Mutex<Vec<Stage>>>>);

impl Record {
    /// One that is kept.
    pub fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    /// Adds what a stage made; `made` is not called where no record is kept, or where it is full.
    pub fn add(&self, name: &str, made: impl FnOnce() -> String) {
        let Some(stages) = &self.0 else { return };
        let mut stages = stages.lock().unwrap_or_else(PoisonError::into_inner);
        if stages.len() >= MOST_STAGES {
            return;
        }
        let mut made = made();
        if let Some((end, _)) = made.char_indices().nth(MOST_CHARS) {
            made.truncate(end);
            made.push('…');
        }
        stages.push(Stage { name: name.to_owned(), made });
    }

    /// The same for what is told best as JSON.
    pub fn add_json(&self, name: &str, made: &impl Serialize) {
        self.add(name, || serde_json::to_string_pretty(made).unwrap_or_default());
    }

    /// Everything that was added, in its order.
    pub fn stages(&self) -> Vec<Stage> {
        let stages = self.0.as_ref().map(|stages| stages.lock().unwrap_or_else(PoisonError::into_inner).clone());
        stages.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_made_only_where_it_is_kept_and_has_an_end() {
        Record::default().add("never", || panic!("nobody asked for it"));
        let record = Record::kept();
        record.add("long", || "é".repeat(MOST_CHARS + 1));
        (0..MOST_STAGES + 5).for_each(|at| record.clone().add("more", || at.to_string()));
        let stages = record.stages();
        assert_eq!((stages.len(), stages[0].made.chars().count()), (MOST_STAGES, MOST_CHARS + 1));
        assert_eq!((stages[1].name.as_str(), stages[1].made.as_str()), ("more", "0"));
    }
}
