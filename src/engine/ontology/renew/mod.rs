//! A draft made anew, brought into the ontology that stands: what is new in the tables comes, and what people wrote
//! stays as they wrote it. What stood in an earlier version and was taken out is not brought again.

mod names;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use crate::model::ontology::{AiContext, Confidence, Entity, Link, Metric, Ontology, Relationship, same_columns};
use names::{Fields, Names};
pub use text::text;

/// An ontology with what is new in its tables, and what somebody should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Renewed {
    pub ontology: Ontology,
    pub notes: Vec<String>,
}

/// Brings a draft of the tables into an ontology. `earlier` are its versions before, in any order.
pub fn renewed(standing: &Ontology, earlier: &[Arc<Ontology>], draft: &Ontology) -> Renewed {
    let mut made = Renewed { ontology: standing.clone(), notes: Vec::new() };
    let names = Names::new(standing, draft);
    for drafted in &draft.datasets {
        match standing.datasets.iter().position(|entity| names.is(entity, drafted)) {
            Some(at) => {
                if let Some(entity) = made.ontology.datasets.get_mut(at) {
                    known(entity, drafted, earlier, &mut made.notes);
                }
            }
            None if earlier.iter().any(|before| of_table(before, drafted).is_some()) => {}
            None if standing.entity(&drafted.name).is_some() => {
                made.notes
                    .push(format!("There is another dataset named {0}: the table {0} was left out.", drafted.name));
            }
            None => made.ontology.datasets.push(drafted.clone()),
        }
    }
    answers(&mut made.ontology, &names, draft);
    relationships(&mut made, &names, earlier, draft);
    metrics(&mut made, &names, earlier, draft);
    for term in &draft.glossary {
        let is = |of: &Ontology| of.glossary.iter().any(|known| known.term.eq_ignore_ascii_case(&term.term));
        if !is(standing) && !earlier.iter().any(|before| is(before)) {
            made.ontology.glossary.push(term.clone());
        }
    }
    made
}

/// What people answered now goes before what stands: a reference that is refused goes, one that is confirmed is not
/// refused any more.
fn answers(made: &mut Ontology, names: &Names<'_>, draft: &Ontology) {
    let verified = draft.relationships.iter().filter(|it| it.confidence == Confidence::Verified);
    let verified: Vec<Link> = verified.map(|it| names.link(&it.link())).collect();
    made.refused.retain(|link| !verified.iter().any(|other| other.is(link)));
    for link in draft.refused.iter().map(|link| names.link(link)) {
        if !made.refused.iter().any(|known| known.is(&link)) {
            made.relationships.retain(|it| !it.link().is(&link));
            made.refused.push(link);
        }
    }
}

/// The dataset over the table of a drafted one.
fn of_table<'o>(ontology: &'o Ontology, drafted: &Entity) -> Option<&'o Entity> {
    ontology.datasets.iter().find(|entity| entity.table().eq_ignore_ascii_case(drafted.table()))
}

/// Fields of new columns, words where there were none, and what does not hold any more.
fn known(entity: &mut Entity, drafted: &Entity, earlier: &[Arc<Ontology>], notes: &mut Vec<String>) {
    let before: Vec<&Entity> = earlier.iter().filter_map(|before| of_table(before, drafted)).collect();
    let now = Fields::of(drafted);
    for field in &entity.fields {
        if let Some(column) = names::column(field).filter(|column| !now.has_column(column)) {
            let (table, name, field) = (entity.table(), &entity.name, &field.name);
            notes.push(format!("The column {column} of {table} is gone: {name}.{field} rests on it."));
        }
    }
    let (fields, once) = (Fields::of(entity), before.iter().map(|entity| Fields::of(entity)).collect::<Vec<_>>());
    for new in &drafted.fields {
        match fields.find(new).and_then(|at| entity.fields.get_mut(at)) {
            Some(field) => {
                fill(&mut field.description, &new.description);
                fill_words(
                    &mut field.ai,
                    &new.ai,
                    before.iter().filter_map(|entity| Some(&entity.field(&new.name)?.ai)),
                );
            }
            None if once.iter().any(|fields| fields.find(new).is_some()) => {}
            None => entity.fields.push(new.clone()),
        }
    }
    fill(&mut entity.description, &drafted.description);
    let had_key = before.iter().any(|entity| !entity.primary_key.is_empty());
    if entity.primary_key.is_empty() && !had_key {
        entity.primary_key.clone_from(&drafted.primary_key);
    } else if !drafted.primary_key.is_empty() && !same_columns(&entity.primary_key, &drafted.primary_key) {
        let [stands, now] = [&entity.primary_key, &drafted.primary_key].map(|columns| columns.join(", "));
        notes.push(format!("{} is told apart by {stands} here; its rows now suggest {now}.", entity.name));
    }
    let time = before.iter().any(|entity| entity.default_time_field.is_some());
    if entity.default_time_field.is_none() && !time {
        entity.default_time_field = drafted.default_time_field.clone().filter(|name| entity.field(name).is_some());
    }
}

fn fill(text: &mut String, new: &str) {
    if text.is_empty() {
        new.clone_into(text);
    }
}

/// Other names, where nobody gave any or took some away.
fn fill_words<'a>(ai: &mut AiContext, new: &AiContext, mut before: impl Iterator<Item = &'a AiContext>) {
    if ai.synonyms.is_empty() && before.all(|before| before.synonyms.is_empty()) {
        ai.synonyms.clone_from(&new.synonyms);
    }
}

fn relationships(made: &mut Renewed, names: &Names<'_>, earlier: &[Arc<Ontology>], draft: &Ontology) {
    for drafted in &draft.relationships {
        let link = names.link(&drafted.link());
        let ends = [&link.from, &link.to].iter().all(|name| made.ontology.entity(name).is_some());
        let was = |of: &Ontology| of.relationships.iter().any(|known| known.link().is(&link));
        let refused = made.ontology.refused.iter().any(|known| known.is(&link));
        if !ends || refused || earlier.iter().any(|before| was(before)) && !was(&made.ontology) {
            continue;
        }
        let taken = |it: &&mut Relationship| {
            it.from.eq_ignore_ascii_case(&link.from) && same_columns(&it.from_columns, &link.from_columns)
        };
        if let Some(known) = made.ontology.relationships.iter_mut().find(|it| it.link().is(&link)) {
            // An answer counts, and nothing else of a relationship that stands.
            if drafted.confidence == Confidence::Verified {
                known.confidence = Confidence::Verified;
            }
        } else if let Some(known) = made.ontology.relationships.iter_mut().find(taken) {
            let column = format!("{}.{}", link.from, link.from_columns.join(", "));
            made.notes.push(format!("{column} refers to {} here; its values now suggest {}.", known.to, link.to));
        } else {
            let name = free(&drafted.name, |name| made.ontology.relationship(name).is_some());
            let (from, to) = (link.from, link.to);
            made.ontology.relationships.push(Relationship { name, from, to, ..drafted.clone() });
        }
    }
}

fn metrics(made: &mut Renewed, names: &Names<'_>, earlier: &[Arc<Ontology>], draft: &Ontology) {
    let fields = names.fields(&made.ontology);
    for drafted in &draft.metrics {
        // What speaks of something that was taken out has no place.
        let Some(new) = fields.metric(drafted) else { continue };
        let same = |known: &&Metric| {
            known.name.eq_ignore_ascii_case(&new.name) || names::same_text(&known.expression, &new.expression)
        };
        match made.ontology.metrics.iter_mut().find(|known| same(&&**known)) {
            Some(known) => fill(&mut known.description, &new.description),
            None if earlier.iter().any(|before| before.metrics.iter().any(|known| same(&known))) => {}
            None => made.ontology.metrics.push(new),
        }
    }
}

/// A name that is not taken.
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..1_000).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_else(|| name.to_owned())
}
