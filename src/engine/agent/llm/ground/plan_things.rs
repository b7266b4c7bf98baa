//! The things of the ontology that a plan uses.

use std::collections::BTreeSet;

use super::words::stems;
use crate::engine::agent::llm::meant::{Meant, choice};
use crate::model::ontology::{DataType, Entity, Field, Metric, Ontology, Segment, in_words};
use crate::model::plan::{Condition, Dimension, FieldRef, Node, Plan, Value};

/// A thing by its name in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Metric(String),
    /// The rows of a dataset.
    Dataset(String),
    Segment(String),
    Field(String, String),
}

/// Everything that a plan uses, but for the field of its time, which questions seldom name.
pub(super) fn parts(plan: &Plan) -> BTreeSet<Part> {
    let mut found = BTreeSet::new();
    if let Some(subject) = &plan.subject {
        found.insert(Part::Dataset(subject.to_lowercase()));
    }
    of_dimensions(&plan.dimensions, &mut found);
    for node in plan.nodes() {
        match node {
            Node::Measure(measure) => of_value(&measure.value, &mut found),
            Node::Condition(condition) => of_condition(condition, &mut found),
        }
    }
    found
}

fn of_dimensions(dimensions: &[Dimension], found: &mut BTreeSet<Part>) {
    // A grain is said by a word of its own ("monthly"): which field it is of need not be.
    found.extend(
        dimensions.iter().filter(|dimension| dimension.grain.is_none()).map(|dimension| field(&dimension.field)),
    );
}

fn of_value(value: &Value, found: &mut BTreeSet<Part>) {
    match value {
        Value::Metric(name) => {
            found.insert(Part::Metric(name.to_lowercase()));
        }
        Value::Count(name) => {
            found.insert(Part::Dataset(name.to_lowercase()));
        }
        Value::Aggregate { field: named, .. } => {
            found.insert(field(named));
        }
        Value::Over { by, .. } => of_dimensions(by, found),
        // When something was is said by verbs ("until it was closed"), as in a condition.
        Value::Days { .. } | Value::Ratio { .. } | Value::Difference(..) | Value::Sum(_) | Value::Number(_) => {}
    }
}

fn of_condition(condition: &Condition, found: &mut BTreeSet<Part>) {
    match condition {
        Condition::Within { .. } | Condition::OnDays { .. } | Condition::AtHours { .. } => {}
        Condition::Segment { name, .. } => {
            found.insert(Part::Segment(name.to_lowercase()));
        }
        Condition::Exists { of, dataset, .. } => {
            found.extend([Part::Dataset(of.to_lowercase()), Part::Dataset(dataset.to_lowercase())]);
        }
        Condition::Measured { of, .. } => {
            found.insert(Part::Dataset(of.to_lowercase()));
        }
        other => found.extend(other.fields().into_iter().map(field)),
    }
}

fn field(named: &FieldRef) -> Part {
    Part::Field(named.dataset.to_lowercase(), named.field.to_lowercase())
}

impl Part {
    /// What a model means, where it is there.
    pub(super) fn of(meant: &Meant, ontology: &Ontology) -> Option<Self> {
        choice(meant, ontology)?;
        Some(match meant {
            Meant::Metric(name) => Self::Metric(name.to_lowercase()),
            Meant::Dataset(name) => Self::Dataset(name.to_lowercase()),
            Meant::Segment(name) => Self::Segment(name.to_lowercase()),
            Meant::Field { dataset, field } => Self::Field(dataset.to_lowercase(), field.to_lowercase()),
        })
    }

    /// Whether a plan uses it, or for a dataset something of it. A field of time may be that of a grain or of the plan's
    /// time, which are not among the parts.
    pub(super) fn is_in(&self, used: &BTreeSet<Part>, ontology: &Ontology) -> bool {
        let is_of = |part: &Part| match (self, part) {
            (Self::Dataset(dataset), Self::Field(of, _)) => dataset == of,
            (Self::Dataset(dataset), Self::Metric(name)) => {
                ontology.metric(name).is_some_and(|metric| counts(metric, dataset))
            }
            _ => false,
        };
        used.iter().any(|part| part == self || is_of(part)) || self.is_time(ontology)
    }

    /// Whether the rows of a dataset are meant by the field that people call them by: "which gardens" is their name.
    pub(super) fn stands_for(&self, other: &Part, ontology: &Ontology) -> bool {
        let (Self::Dataset(dataset), Self::Field(of, field)) = (self, other) else { return false };
        let Some(entity) = ontology.entity(dataset).filter(|_| of == dataset) else { return false };
        match &entity.label_field {
            Some(label) => label.eq_ignore_ascii_case(field),
            None => entity.field(field).is_some_and(|field| field.datatype == DataType::String),
        }
    }

    fn is_time(&self, ontology: &Ontology) -> bool {
        let Self::Field(dataset, field) = self else { return false };
        ontology.field(dataset, field).is_some_and(|field| field.datatype.is_calendar() || field.is_time)
    }

    /// For people.
    pub(super) fn in_words(&self, ontology: &Ontology) -> String {
        match self {
            Self::Metric(name) => format!("the metric {}", in_words(name)),
            Self::Dataset(name) => format!("the dataset {}", in_words(name)),
            Self::Segment(name) => format!("the segment {}", in_words(name)),
            Self::Field(dataset, name) => {
                let words = ontology.field(dataset, name).map_or_else(|| in_words(name), Field::words);
                format!("the field {words} of {}", in_words(dataset))
            }
        }
    }

    /// The words of its names, and of the rows that it is of.
    pub(super) fn stems(&self, ontology: &Ontology) -> BTreeSet<String> {
        match self {
            Self::Metric(name) => ontology.metric(name).map_or_else(BTreeSet::new, |metric| {
                let of = ontology.datasets.iter().filter(|entity| counts(metric, &entity.name));
                let mut stems = of.flat_map(of_entity).collect::<BTreeSet<String>>();
                stems.extend(of_metric(metric));
                stems
            }),
            Self::Dataset(name) => ontology.entity(name).map(of_entity).unwrap_or_default(),
            Self::Segment(name) => ontology.segment(name).map(of_segment).unwrap_or_default(),
            Self::Field(dataset, name) => {
                let Some(entity) = ontology.entity(dataset) else { return BTreeSet::new() };
                let mut stems = of_entity(entity);
                stems.extend(entity.field(name).map(of_field).unwrap_or_default());
                stems
            }
        }
    }
}

/// The words of every name that people can see.
pub(super) fn every_stem(ontology: &Ontology) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = ontology.metrics.iter().flat_map(of_metric).collect();
    all.extend(ontology.segments.iter().flat_map(of_segment));
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        all.extend(of_entity(entity));
        all.extend(entity.fields.iter().filter(|field| !field.hidden).flat_map(of_field));
    }
    all
}

/// Whether a metric reads a dataset, as far as its text says.
fn counts(metric: &Metric, dataset: &str) -> bool {
    metric.expression.to_lowercase().contains(&format!("{}.", dataset.to_lowercase()))
}

fn of_metric(metric: &Metric) -> BTreeSet<String> {
    named(&metric.name, "", &metric.ai.synonyms)
}

fn of_segment(segment: &Segment) -> BTreeSet<String> {
    named(&segment.name, "", &segment.synonyms)
}

fn of_entity(entity: &Entity) -> BTreeSet<String> {
    named(&entity.name, entity.grain.as_deref().unwrap_or_default(), &entity.ai.synonyms)
}

fn of_field(field: &Field) -> BTreeSet<String> {
    named(&field.name, &field.label, &field.ai.synonyms)
}

fn named(name: &str, label: &str, synonyms: &[String]) -> BTreeSet<String> {
    stems(&format!("{} {label} {}", in_words(name), synonyms.join(" ")))
}
