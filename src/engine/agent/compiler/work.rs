//! What is known and collected while a statement is made.

use std::collections::HashMap;

use crate::engine::ontology::graph::{Graph, NoWay, Step, Steps, Way};
use crate::model::ontology::{Entity, Field, Metric, Ontology, Relationship, in_words};
use crate::model::plan::{FieldRef, Measure, Plan};
use crate::model::source::Dialect;

use super::check::Checks;
use super::compiled::{Note, NoteKind, Reads};
use super::error::CompileError;
use super::names::Names;

/// How deep measures and conditions may be inside each other.
const MAX_DEPTH: usize = 12;

/// A number for each row of a dataset, in a part of the statement.
pub(super) struct Keyed {
    pub name: String,
    /// Names of the columns of the key.
    pub keys: Vec<String>,
    /// SQL of the number.
    pub value: String,
    /// Whether it is a sum, which is 0 of a row that has nothing.
    pub is_sum: bool,
}

/// Makes a measure for each row of a dataset.
pub(super) type NumberOfEach = fn(&mut Work<'_>, usize, &Measure) -> Result<Keyed, CompileError>;

/// See the module. Datasets are meant by their positions in the ontology.
pub(super) struct Work<'a> {
    pub plan: &'a Plan,
    pub ontology: &'a Ontology,
    pub graph: &'a Graph,
    pub dialect: Dialect,
    /// Of the parts of the statement; none is that of a table.
    pub names: Names,
    /// The parts of the statement (WITH): names and bodies.
    pub parts: Vec<(String, String)>,
    pub notes: Vec<Note>,
    pub reads: Reads,
    pub checks: Checks,
    /// The datasets of the numbers that are being put together.
    pub homes: Vec<usize>,
    /// Conditions may be on numbers, which are made on a floor above theirs.
    pub number_of_each: NumberOfEach,
    /// Whether days between times are whole ones of the calendar, since they are to be equal to a number.
    pub whole_days: bool,
    depth: usize,
    ways: HashMap<(usize, usize, Vec<String>, bool), Way>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        ontology: &'a Ontology,
        graph: &'a Graph,
        dialect: Dialect,
        number_of_each: NumberOfEach,
    ) -> Self {
        let mut names = Names::default();
        for entity in &ontology.datasets {
            names.take(table_name(entity));
        }
        Self {
            plan,
            ontology,
            graph,
            dialect,
            names,
            parts: Vec::new(),
            notes: Vec::new(),
            reads: Reads::default(),
            checks: Checks::default(),
            homes: Vec::new(),
            number_of_each,
            whole_days: false,
            depth: 0,
            ways: HashMap::new(),
        }
    }

    /// Adds a part to the statement and gives its name.
    pub(super) fn part(&mut self, wanted: &str, body: String) -> String {
        let name = self.names.fresh(wanted);
        self.parts.push((name.clone(), body));
        name
    }

    /// Adds a sentence once.
    pub(super) fn note(&mut self, says: impl Into<String>) {
        self.note_of(NoteKind::Always, says);
    }

    pub(super) fn note_of(&mut self, kind: NoteKind, says: impl Into<String>) {
        let note = Note { kind, says: says.into() };
        if !self.notes.iter().any(|known| known.says == note.says) {
            self.notes.push(note);
        }
    }

    /// Numbers with gaps decide which rows the answer has: gaps are told, whether its rows show some or not.
    pub(super) fn gaps_decide(&mut self) {
        self.notes.iter_mut().for_each(|note| note.kind = NoteKind::Always);
    }

    /// Goes one level deeper for the time of `inner`.
    pub(super) fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        if self.depth == MAX_DEPTH {
            return Err(CompileError::Unsupported(format!(
                "measures and conditions are more than {MAX_DEPTH} deep inside each other"
            )));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    #[expect(clippy::indexing_slicing, reason = "the graph and the scopes mean the datasets of this ontology")]
    pub(super) fn entity(&self, at: usize) -> &'a Entity {
        &self.ontology.datasets[at]
    }

    #[expect(clippy::indexing_slicing, reason = "the graph's steps are along the relationships of this ontology")]
    pub(super) fn relationship(&self, step: &Step) -> &'a Relationship {
        &self.ontology.relationships[step.relationship]
    }

    pub(super) fn dataset(&self, name: &str) -> Result<usize, CompileError> {
        self.graph
            .dataset(name)
            .ok_or_else(|| unknown("dataset", name, self.ontology.datasets.iter().map(|entity| entity.name.as_str())))
    }

    /// The time zone in which days begin.
    pub(super) fn zone_name(&self) -> &'a str {
        &self.ontology.calendar.timezone
    }

    /// The dataset that a name in `what` of the ontology stands behind.
    pub(super) fn owner(&self, what: &str, dataset: Option<&str>) -> Result<usize, CompileError> {
        match dataset {
            Some(dataset) => self.dataset(dataset),
            None => Err(CompileError::Unsupported(format!("{what} of the ontology names a field without its dataset"))),
        }
    }

    /// A field and its dataset.
    pub(super) fn field(&self, reference: &FieldRef) -> Result<(usize, &'a Field), CompileError> {
        let dataset = self.dataset(&reference.dataset)?;
        Ok((dataset, self.field_of(dataset, &reference.field)?))
    }

    pub(super) fn field_of(&self, dataset: usize, name: &str) -> Result<&'a Field, CompileError> {
        let entity = self.entity(dataset);
        entity.field(name).ok_or_else(|| {
            let nearest = unknown("field", name, entity.fields.iter().map(|field| field.name.as_str()));
            match nearest {
                CompileError::UnknownName { kind, name, nearest } => CompileError::UnknownName {
                    kind,
                    name: format!("{}.{name}", entity.name),
                    nearest: nearest.map(|field| format!("{}.{field}", entity.name)),
                },
                other => other,
            }
        })
    }

    pub(super) fn metric(&self, name: &str) -> Result<&'a Metric, CompileError> {
        let known = || self.ontology.metrics.iter().map(|metric| metric.name.as_str());
        self.ontology.metric(name).ok_or_else(|| unknown("metric", name, known()))
    }

    /// The way between datasets, or what is wrong with it.
    pub(super) fn way(&mut self, from: usize, to: usize, via: &[String], steps: Steps) -> Result<Way, CompileError> {
        let key = (from, to, via.to_vec(), steps == Steps::Any);
        if let Some(way) = self.ways.get(&key) {
            return Ok(way.clone());
        }
        let way = self.graph.way(from, to, via, steps).map_err(|no| self.no_way(from, to, no))?;
        self.ways.insert(key, way.clone());
        Ok(way)
    }

    fn no_way(&self, from: usize, to: usize, no: NoWay) -> CompileError {
        let (from, to) = (self.entity(from).name.clone(), self.entity(to).name.clone());
        match no {
            NoWay::Unreachable => CompileError::Unreachable { from, to },
            NoWay::UnknownRelationship(name) => {
                let known = self.ontology.relationships.iter().map(|relationship| relationship.name.as_str());
                unknown("relationship", &name, known)
            }
            NoWay::Ambiguous(options) => {
                let labels = options.iter().map(|way| self.label(way, &options)).collect();
                CompileError::Ambiguous { from, to, options, labels }
            }
        }
    }

    /// What people call a way, by what tells it from the others.
    fn label(&self, way: &[String], others: &[Vec<String>]) -> String {
        let own = way.iter().filter(|name| !others.iter().all(|other| other.contains(name)));
        let words: Vec<String> = own
            .map(|name| {
                let role = self.ontology.relationship(name).and_then(|relationship| relationship.role.clone());
                role.unwrap_or_else(|| in_words(name))
            })
            .collect();
        words.join(", ")
    }

    /// The relationship of a step, in words.
    pub(super) fn step_words(&self, step: &Step) -> String {
        in_words(&self.relationship(step).name)
    }
}

/// The table behind a dataset.
pub(super) fn table_name(entity: &Entity) -> &str {
    let source = if entity.source.is_empty() { &entity.name } else { &entity.source };
    source.rsplit('.').next().unwrap_or(source).trim_matches('"')
}

/// A name that is not there, with the one that comes nearest.
pub(super) fn unknown<'n>(kind: &'static str, name: &str, known: impl Iterator<Item = &'n str>) -> CompileError {
    let lower = name.to_lowercase();
    let nearest = known
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &lower), known))
        .filter(|(score, _)| *score >= 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))
        .map(|(_, known)| known.to_owned());
    CompileError::UnknownName { kind, name: name.to_owned(), nearest }
}
