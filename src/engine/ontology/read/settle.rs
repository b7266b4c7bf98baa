//! What can only be said when the whole document is read: names that are taken, sides of relationships, defaults.

use std::collections::BTreeMap;

use super::derive;
use super::node::Mark;
use super::walk::{Object, Walk, join};
use crate::base::nearest::nearest;
use crate::engine::ontology::graph::column;
use crate::model::ontology::{Cardinality, Entity, Ontology, Relationship};

/// What a document leaves open until everything is read.
#[derive(Default)]
pub(super) struct Open {
    /// Fields without a role, by dataset and field.
    pub roles: Vec<(usize, usize)>,
    /// Relationships that do not say whether rows without a partner are expected.
    pub optional: Vec<usize>,
    pub cardinalities: Vec<Written>,
    /// Metrics without an additivity.
    pub metrics: Vec<usize>,
    /// Fields so far.
    pub fields: usize,
}

/// A cardinality as written for a relationship.
pub(super) struct Written {
    pub relationship: usize,
    pub path: String,
    pub at: Mark,
    pub word: String,
}

/// Checks names and settles what is open.
pub(super) fn settle(walk: &mut Walk, ontology: &mut Ontology, object: &Object<'_>, open: &Open) {
    unique(walk, object, "datasets", "dataset", ontology.datasets.iter().map(|entity| entity.name.as_str()));
    for (at, entity) in ontology.datasets.iter().enumerate() {
        let path = format!("datasets[{at}].fields");
        unique(walk, object, &path, "field", entity.fields.iter().map(|field| field.name.as_str()));
    }
    let names = ontology.relationships.iter().map(|relationship| relationship.name.as_str());
    unique(walk, object, "relationships", "relationship", names);
    unique(walk, object, "metrics", "metric", ontology.metrics.iter().map(|metric| metric.name.as_str()));
    let mut segments: BTreeMap<String, usize> = BTreeMap::new();
    for (at, segment) in ontology.segments.iter().enumerate() {
        if segments.insert(segment.name.to_lowercase(), at).is_some() {
            let message = format!("There are two segments named `{}`.", segment.name);
            walk.error(&format!("segments[{at}].name"), object.at("custom_extensions"), message, "Rename one of them.");
        }
    }
    sides(walk, ontology, object, open);
    roles(ontology, open);
    for &at in &open.metrics {
        if let Some(metric) = ontology.metrics.get_mut(at) {
            metric.additivity = derive::additivity(&metric.expression);
        }
    }
}

/// Guesses the roles that are not written.
pub(super) fn roles(ontology: &mut Ontology, open: &Open) {
    for &(entity, field) in &open.roles {
        let guessed =
            ontology.datasets.get(entity).and_then(|of| Some(derive::role(ontology, of, of.fields.get(field)?)));
        let field = ontology.datasets.get_mut(entity).and_then(|of| of.fields.get_mut(field));
        if let (Some(role), Some(field)) = (guessed, field) {
            field.role = role;
        }
    }
}

fn unique<'a>(walk: &mut Walk, root: &Object<'_>, path: &str, what: &str, names: impl Iterator<Item = &'a str>) {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (at, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = known.insert(name.to_lowercase(), at) {
            let path = format!("{path}[{at}].name");
            let message = format!("There are two {what}s named `{name}`: this one and number {}.", first + 1);
            walk.error(&path, root.locate(&path), message, "Rename one of them; case makes no difference.");
        }
    }
}

fn sides(walk: &mut Walk, ontology: &mut Ontology, root: &Object<'_>, open: &Open) {
    let datasets = &ontology.datasets;
    for (at, relationship) in ontology.relationships.iter_mut().enumerate() {
        let path = format!("relationships[{at}]");
        let from = side(walk, datasets, root, &join(&path, "from"), &relationship.from);
        let to = side(walk, datasets, root, &join(&path, "to"), &relationship.to);
        let (Some(from), Some(to)) = (from, to) else { continue };
        relationship.from.clone_from(&from.name);
        relationship.to.clone_from(&to.name);
        if open.optional.contains(&at) {
            relationship.optional = may_lack(from, &relationship.from_columns);
        }
        derive_cardinality(walk, root, &path, relationship, from, to);
        let written = open.cardinalities.iter().find(|written| written.relationship == at);
        if let Some(written) = written {
            compare(walk, written, relationship.cardinality);
        }
    }
}

fn side<'e>(walk: &mut Walk, datasets: &'e [Entity], root: &Object<'_>, path: &str, name: &str) -> Option<&'e Entity> {
    if name.is_empty() {
        return None;
    }
    let found = datasets.iter().find(|entity| entity.name.eq_ignore_ascii_case(name));
    if found.is_none() {
        let names = datasets.iter().map(|entity| entity.name.as_str());
        let near = if walk.is_full() { None } else { nearest(name, names) };
        let hint = match near {
            Some(near) => format!("Write `{near}`, or add the dataset."),
            None => "Add the dataset, or remove the relationship.".to_owned(),
        };
        walk.error(path, root.locate(path), format!("There is no dataset `{name}`."), hint);
    }
    found
}

/// Rows whose columns may be empty may lack a partner; where nothing is known they may, so that none is lost.
fn may_lack(from: &Entity, columns: &[String]) -> bool {
    !columns.iter().all(|name| {
        let own = column(from, name);
        let mut fields = from.fields.iter().filter(|field| column(from, &field.name).eq_ignore_ascii_case(own));
        fields.any(|field| field.nullable == Some(false))
    })
}

fn derive_cardinality(
    walk: &mut Walk,
    root: &Object<'_>,
    path: &str,
    relationship: &mut Relationship,
    from: &Entity,
    to: &Entity,
) {
    match derive::cardinality(relationship, from, to) {
        Some(cardinality) => relationship.cardinality = cardinality,
        None => {
            let message = format!(
                "`from` must be the many side, but the keys say that it is the one side: it is read from `{}` to `{}`.",
                to.name, from.name
            );
            let hint = "Exchange `from` and `to` with their columns, or correct the keys.";
            walk.warn(&join(path, "from"), root.locate(&join(path, "from")), message, hint);
            std::mem::swap(&mut relationship.from, &mut relationship.to);
            std::mem::swap(&mut relationship.from_columns, &mut relationship.to_columns);
            relationship.cardinality = Cardinality::ManyToOne;
        }
    }
    if relationship.cardinality == Cardinality::ManyToMany {
        let message =
            format!("Neither side's columns hold a key, so nothing can be added up across `{}`.", relationship.name);
        let hint = format!("If they are unique in `{}`, add them to its `primary_key` or `unique_keys`.", to.name);
        walk.warn(&join(path, "to_columns"), root.locate(&join(path, "to_columns")), message, hint);
    }
}

fn compare(walk: &mut Walk, written: &Written, derived: Cardinality) {
    let (word, derived) = (written.word.as_str(), name(derived));
    if !["many_to_one", "one_to_one", "many_to_many", "one_to_many"].contains(&word) {
        let message = format!("`{word}` is not a value of `cardinality`.");
        let hint = "Write many_to_one, one_to_one or many_to_many.";
        walk.error(&written.path, written.at, message, hint);
    } else if word != derived {
        let message = format!("The document says {word}, the keys of both sides say {derived}; the keys count.");
        walk.warn(&written.path, written.at, message, "Correct one of them.");
    }
}

/// As in documents.
pub fn name(cardinality: Cardinality) -> &'static str {
    match cardinality {
        Cardinality::ManyToOne => "many_to_one",
        Cardinality::OneToOne => "one_to_one",
        Cardinality::ManyToMany => "many_to_many",
    }
}
