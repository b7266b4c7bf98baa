//! What people would stumble over: datasets that nothing leads to, and words that mean several things.

use std::collections::BTreeMap;

use super::Check;
use crate::model::ontology::{AiContext, FieldRole};

/// What a word may stand for.
struct Meaning {
    path: String,
    /// For messages.
    name: String,
    kind: Kind,
    /// Written as a synonym, not the thing's own name.
    is_synonym: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dataset,
    /// A key is often called like the dataset that it leads to: that is no confusion.
    Key,
    Field,
    Metric,
    Segment,
}

impl Check<'_> {
    pub(super) fn words(&mut self) {
        if self.is_full() {
            return;
        }
        self.islands();
        for (word, meanings) in self.meanings() {
            let Some(first) = meanings.first() else { continue };
            let apart = |other: &&Meaning| {
                let names_only = !first.is_synonym && !other.is_synonym;
                let fields = |kind| matches!(kind, Kind::Field | Kind::Key);
                let key_of =
                    matches!((first.kind, other.kind), (Kind::Dataset, Kind::Key) | (Kind::Key, Kind::Dataset));
                // Fields of several datasets may well have one name: the dataset tells them apart.
                other.name != first.name && !key_of && !(names_only && fields(first.kind) && fields(other.kind))
            };
            let Some(other) = meanings.iter().find(apart) else { continue };
            let message =
                format!("`{word}` means {} and {}: questions with it will be asked back.", first.name, other.name);
            let hint = "Keep it for one of them, or leave it so if people mean both.";
            self.warn(other.path.clone(), message, hint);
        }
    }

    /// Visible datasets that no chain of relationships connects with most of the others.
    fn islands(&mut self) {
        let datasets = &self.ontology.datasets;
        let mut group: Vec<usize> = (0..datasets.len()).collect();
        let position = |name: &str| datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name));
        for relationship in &self.ontology.relationships {
            if let (Some(from), Some(to)) = (position(&relationship.from), position(&relationship.to))
                && let (Some(&old), Some(&new)) = (group.get(from), group.get(to))
            {
                group.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
            }
        }
        let size = |of: usize| group.iter().filter(|group| **group == of).count();
        let Some(largest) = group.iter().copied().max_by_key(|&of| (size(of), std::cmp::Reverse(of))) else { return };
        if size(largest) == 1 {
            // Nothing is related at all: that is a choice, not an oversight.
            return;
        }
        let grouped = datasets.iter().zip(&group).enumerate();
        for (at, (entity, _)) in grouped.filter(|(_, (entity, group))| **group != largest && !entity.hidden) {
            let message = format!("No relationship leads from `{}` to the other datasets.", entity.name);
            let hint = "Add one, if its rows belong to theirs; otherwise it can only be asked about on its own.";
            self.warn(format!("datasets[{at}]"), message, hint);
        }
    }

    /// Every word with what it may stand for, as people may write it; what is hidden stands for nothing.
    fn meanings(&self) -> BTreeMap<String, Vec<Meaning>> {
        let mut words: BTreeMap<String, Vec<Meaning>> = BTreeMap::new();
        let mut add = |path: &str, name: &str, own: &[&str], synonyms: &[String], kind: Kind| {
            let mut put = |word: &str, path: String, is_synonym: bool| {
                let meanings = words.entry(normal(word)).or_default();
                if !meanings.iter().any(|known| known.name == name) {
                    meanings.push(Meaning { path, name: name.to_owned(), kind, is_synonym });
                }
            };
            for word in own.iter().filter(|word| !word.is_empty()) {
                put(word, format!("{path}.name"), false);
            }
            for (at, word) in synonyms.iter().enumerate() {
                let place = if kind == Kind::Segment { "synonyms" } else { "ai_context.synonyms" };
                put(word, format!("{path}.{place}[{at}]"), true);
            }
        };
        let synonyms = |ai: &AiContext| ai.synonyms.clone();
        for (at, metric) in self.ontology.metrics.iter().enumerate() {
            let name = format!("the metric `{}`", metric.name);
            add(&format!("metrics[{at}]"), &name, &[&metric.name], &synonyms(&metric.ai), Kind::Metric);
        }
        for (at, entity) in self.ontology.datasets.iter().enumerate().filter(|(_, entity)| !entity.hidden) {
            let path = format!("datasets[{at}]");
            let name = format!("the dataset `{}`", entity.name);
            add(&path, &name, &[&entity.name], &synonyms(&entity.ai), Kind::Dataset);
            for (at, field) in entity.fields.iter().enumerate().filter(|(_, field)| !field.hidden) {
                let name = format!("the field `{}.{}`", entity.name, field.name);
                let kind = if field.role == FieldRole::Key { Kind::Key } else { Kind::Field };
                let own = [field.name.as_str(), field.label.as_str()];
                add(&format!("{path}.fields[{at}]"), &name, &own, &synonyms(&field.ai), kind);
            }
        }
        for (at, segment) in self.ontology.segments.iter().enumerate() {
            let name = format!("the segment `{}`", segment.name);
            add(&format!("segments[{at}]"), &name, &[&segment.name], &segment.synonyms, Kind::Segment);
        }
        words
    }
}

/// Case, underscores and double spaces make no difference.
fn normal(word: &str) -> String {
    crate::model::ontology::in_words(word)
}
