//! Ways between datasets.
//!
//! A step along a relationship from its many side to its one side finds at most one row: what is measured on the way
//! stays what it is. A step the other way finds many. [`Graph::way`] never guesses: where several ways are equally
//! good it says so.

mod search;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use crate::model::ontology::{Cardinality, Entity, Ontology, Relationship};

/// The most steps of a way.
pub const MAX_STEPS: usize = 8;

/// What is known of an ontology's relationships. Datasets and relationships are meant by their positions in it.
#[derive(Clone, Debug)]
pub struct Graph {
    datasets: HashMap<String, usize>,
    relationships: HashMap<String, usize>,
    edges: Vec<Edge>,
    /// Of each dataset: the steps that leave it.
    leaving: Vec<Vec<Step>>,
}

#[derive(Clone, Debug)]
struct Edge {
    name: String,
    preferred: bool,
    /// There and back; none when a dataset is missing.
    steps: Option<[Step; 2]>,
}

/// From one dataset to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// Position in [`Ontology::relationships`].
    pub relationship: usize,
    /// From the relationship's `from` to its `to`.
    pub forward: bool,
    /// Positions in [`Ontology::datasets`].
    pub from: usize,
    pub to: usize,
    /// Whether a row may meet several.
    pub to_many: bool,
    /// Whether several rows may meet the same one.
    pub shares: bool,
}

/// Steps in their order; none for a dataset itself.
pub type Way = Vec<Step>;

/// Which steps a way may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// At most one row at each.
    ToOne,
    /// Any. Ways to one row come first, then those that do not pass through a shared dataset into another's rows, then
    /// short ones.
    Any,
}

/// Why there is no way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoWay {
    Unreachable,
    /// Equally good ways, by the names of their relationships.
    Ambiguous(Vec<Vec<String>>),
    /// A relationship that is not there.
    UnknownRelationship(String),
}

/// What a relationship is, from the keys of both sides: the one side is one when its columns hold a key of it.
pub fn cardinality(relationship: &Relationship, from: &Entity, to: &Entity) -> Cardinality {
    let one = has_key(to, &relationship.to_columns);
    match (has_key(from, &relationship.from_columns), one) {
        (true, true) => Cardinality::OneToOne,
        (false, true) => Cardinality::ManyToOne,
        (_, false) => Cardinality::ManyToMany,
    }
}

/// Whether the columns (or fields that are columns) hold all of a key.
fn has_key(entity: &Entity, columns: &[String]) -> bool {
    let names: Vec<&str> = columns.iter().map(|name| column(entity, name)).collect();
    let within = |key: &[String]| {
        !key.is_empty() && key.iter().all(|part| names.iter().any(|n| n.eq_ignore_ascii_case(column(entity, part))))
    };
    within(&entity.primary_key) || entity.unique_keys.iter().any(|key| within(key))
}

/// The column behind a name: a field that is nothing but a column stands for it.
pub fn column<'e>(entity: &'e Entity, name: &'e str) -> &'e str {
    plain_column(entity, name).unwrap_or(name)
}

/// The same; `None` where the name is a field's that is computed, whatever its table has under that name.
pub fn plain_column<'e>(entity: &'e Entity, name: &'e str) -> Option<&'e str> {
    let Some(field) = entity.field(name) else { return Some(name) };
    let text = field.expression.trim();
    let text = text.rsplit_once('.').map_or(text, |(_, column)| column).trim_matches('"');
    (!text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ')).then_some(text)
}

/// Where a way goes up to a row that others share, and from there down to rows that are as much theirs: from an order
/// to its shop, and to the shop's refunds. How many steps lead up; `None` where it goes another way.
pub fn shared(way: &[Step]) -> Option<usize> {
    let up = way.iter().position(|step| step.to_many)?;
    way.iter().take(up).any(|step| step.shares).then_some(up)
}

impl Graph {
    /// Cardinalities are derived here, whatever the document says. A relationship to a dataset that is not there is
    /// left out.
    pub fn new(ontology: &Ontology) -> Self {
        let lower = |name: &str| name.to_lowercase();
        let datasets: HashMap<String, usize> =
            ontology.datasets.iter().enumerate().map(|(at, entity)| (lower(&entity.name), at)).collect();
        let mut leaving = vec![Vec::new(); ontology.datasets.len()];
        let mut relationships = HashMap::new();
        let mut edges = Vec::with_capacity(ontology.relationships.len());
        for (at, relationship) in ontology.relationships.iter().enumerate() {
            relationships.insert(lower(&relationship.name), at);
            let end = |name: &str| {
                let at = *datasets.get(&lower(name))?;
                Some((at, ontology.datasets.get(at)?))
            };
            let steps = end(&relationship.from).zip(end(&relationship.to)).map(|((from, leaves), (to, arrives))| {
                let is = cardinality(relationship, leaves, arrives);
                let (many, one) = (is == Cardinality::ManyToMany, is == Cardinality::OneToOne);
                let there = Step { relationship: at, forward: true, from, to, to_many: many, shares: !one };
                let back = Step { forward: false, from: to, to: from, to_many: !one, shares: many, ..there };
                [there, back]
            });
            for step in steps.into_iter().flatten() {
                if let Some(steps) = leaving.get_mut(step.from) {
                    steps.push(step);
                }
            }
            edges.push(Edge { name: relationship.name.clone(), preferred: relationship.preferred, steps });
        }
        Self { datasets, relationships, edges, leaving }
    }

    #[expect(clippy::indexing_slicing, reason = "only the graph makes steps, of relationships that it knows")]
    fn edge(&self, step: &Step) -> &Edge {
        &self.edges[step.relationship]
    }

    /// The steps that leave a dataset.
    fn leaving(&self, dataset: usize) -> &[Step] {
        self.leaving.get(dataset).map(Vec::as_slice).unwrap_or_default()
    }

    /// The position of a dataset, without regard to case.
    pub fn dataset(&self, name: &str) -> Option<usize> {
        self.datasets.get(name).or_else(|| self.datasets.get(&name.to_lowercase())).copied()
    }

    /// The best way from one dataset to another that uses all of the relationships `via`.
    pub fn way(&self, from: usize, to: usize, via: &[String], steps: Steps) -> Result<Way, NoWay> {
        let mut demanded = Vec::with_capacity(via.len());
        for name in via {
            match self.relationships.get(&name.to_lowercase()) {
                Some(&at) => demanded.push(at),
                None => return Err(NoWay::UnknownRelationship(name.clone())),
            }
        }
        if from == to && demanded.is_empty() {
            return Ok(Vec::new());
        }
        let mut ways = search::ways(self, from, to, &demanded, steps);
        let preferred = |way: &Way| way.iter().filter(|step| self.edge(step).preferred).count();
        let most = ways.iter().map(preferred).max().unwrap_or_default();
        ways.retain(|way| preferred(way) == most);
        match ways.len() {
            0 => Err(NoWay::Unreachable),
            1 => Ok(ways.swap_remove(0)),
            _ => Err(NoWay::Ambiguous(ways.iter().map(|way| self.names(way)).collect())),
        }
    }

    /// The datasets that are met from one by steps to one row, nearest first, with the number of steps.
    pub fn upward(&self, from: usize) -> Vec<(usize, usize)> {
        let mut met = vec![(from, 0)];
        let mut seen = HashSet::from([from]);
        let mut at = 0;
        while let Some(&(dataset, steps)) = met.get(at) {
            at += 1;
            if steps == MAX_STEPS {
                continue;
            }
            for step in self.leaving(dataset).iter().filter(|step| !step.to_many) {
                if seen.insert(step.to) {
                    met.push((step.to, steps + 1));
                }
            }
        }
        met
    }

    /// The same step the other way round.
    pub fn back(&self, step: &Step) -> Step {
        match self.edge(step).steps {
            Some([there, back]) => {
                if step.forward {
                    back
                } else {
                    there
                }
            }
            None => *step,
        }
    }

    /// Names of the relationships of a way.
    pub fn names(&self, way: &[Step]) -> Vec<String> {
        way.iter().map(|step| self.edge(step).name.clone()).collect()
    }
}
