//! The datasets that one SELECT reads, and how they are joined.

use crate::engine::ontology::expression::Scalar;
use crate::engine::ontology::graph::{Step, Steps, Way};
use crate::model::ontology::Field;
use crate::model::plan::FieldRef;

use super::error::CompileError;
use super::joins::{equal, pairs};
use super::names::Names;
use super::work::Work;
use crate::model::source::quoted;

/// See the module. The first dataset is the one whose rows are meant; the others are joined to it, each way once.
pub(super) struct Scope {
    aliases: Names,
    nodes: Vec<Node>,
    /// The dataset that ways are taken from, and the way from there to the first one: not the same in a sub-query.
    pub origin: usize,
    pub prefix: Way,
    /// Whether a row of the first dataset may come several times.
    pub fans: bool,
    /// Whether nothing is joined: conditions on other datasets' rows are sub-queries, also where there is one row only.
    pub apart: bool,
}

/// A dataset under an alias.
pub(super) struct Node {
    pub dataset: usize,
    pub alias: String,
    pub parent: Option<Parent>,
}

/// The node that one is joined to, how, and on which columns (the joined one's first).
pub(super) type Parent = (usize, Step, Vec<(String, String)>);

/// Where a way leads.
pub(super) enum Reached {
    At(usize),
    /// As far as the node, and from there a step that may meet several rows.
    Beyond(usize, Way),
}

impl Scope {
    pub(super) fn new(work: &Work<'_>, dataset: usize) -> Self {
        let mut aliases = Names::default();
        let alias = aliases.fresh(&work.entity(dataset).name);
        let nodes = vec![Node { dataset, alias, parent: None }];
        Self { aliases, nodes, origin: dataset, prefix: Vec::new(), fans: false, apart: false }
    }

    /// A sub-query's, with aliases of its own.
    pub(super) fn inner(&self, work: &Work<'_>, dataset: usize) -> Self {
        let mut aliases = self.aliases.clone();
        let alias = aliases.fresh(&work.entity(dataset).name);
        let nodes = vec![Node { dataset, alias, parent: None }];
        Self { aliases, nodes, origin: dataset, prefix: Vec::new(), fans: false, apart: false }
    }

    /// A name for a sub-query without joins.
    pub(super) fn alias(&self, wanted: &str) -> String {
        self.aliases.clone().fresh(wanted)
    }

    /// The way from the origin to a node.
    pub(super) fn way_to(&self, node: usize) -> Way {
        let mut way = Vec::new();
        let mut at = node;
        while let Some((parent, step, _)) = &self.node(at).parent {
            way.push(*step);
            at = *parent;
        }
        way.extend(self.prefix.iter().rev());
        way.reverse();
        way
    }

    /// The dataset whose rows are meant.
    pub(super) fn base(&self) -> usize {
        self.node(0).dataset
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "only `join` hands out positions, of nodes that stay; the first is there"
    )]
    pub(super) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Follows a way and joins what is missing; steps to many only with `fan`, or where they are joined already.
    pub(super) fn reach(&mut self, work: &mut Work<'_>, way: &[Step], fan: bool) -> Result<Reached, CompileError> {
        let mut at = 0;
        for (done, step) in way.iter().enumerate() {
            let joined = self
                .nodes
                .iter()
                .position(|node| node.parent.as_ref().is_some_and(|(parent, by, _)| *parent == at && by == step));
            at = match joined {
                Some(node) => node,
                None if (step.to_many || self.apart) && !fan => {
                    return Ok(Reached::Beyond(at, way.iter().skip(done).copied().collect()));
                }
                None => self.join(work, at, step)?,
            };
        }
        Ok(Reached::At(at))
    }

    /// The way to a dataset from where the scope's ways begin, without what lies behind its first dataset.
    pub(super) fn way(&self, work: &mut Work<'_>, dataset: usize, via: &[String]) -> Result<Way, CompileError> {
        if self.prefix.is_empty() {
            return work.way(self.base(), dataset, via, Steps::Any);
        }
        let full = work.way(self.origin, dataset, via, Steps::Any)?;
        match full.strip_prefix(self.prefix.as_slice()) {
            Some(rest) => Ok(rest.to_vec()),
            None => work.way(self.base(), dataset, via, Steps::Any),
        }
    }

    /// The node of a dataset that each row meets once.
    pub(super) fn at(&mut self, work: &mut Work<'_>, dataset: &str) -> Result<usize, CompileError> {
        let to = work.dataset(dataset)?;
        let way = self.way(work, to, &[])?;
        match self.reach(work, &way, false)? {
            Reached::At(node) => Ok(node),
            Reached::Beyond(..) => {
                Err(CompileError::Unreachable { from: work.entity(self.base()).name.clone(), to: dataset.to_owned() })
            }
        }
    }

    /// A field that each row meets once.
    pub(super) fn column<'a>(
        &mut self,
        work: &mut Work<'a>,
        reference: &FieldRef,
    ) -> Result<(String, &'a Field), CompileError> {
        let (dataset, field) = work.field(reference)?;
        let way = self.way(work, dataset, &reference.via)?;
        match self.reach(work, &way, false)? {
            Reached::At(node) => Ok((self.field(work, node, &reference.field)?, field)),
            Reached::Beyond(..) => Err(CompileError::Unsupported(format!(
                "{} belongs to several rows: compare it on its own",
                field.words()
            ))),
        }
    }

    /// A boolean expression of the ontology over `dataset.field`; `what` it is, for messages.
    pub(super) fn expression(
        &mut self,
        work: &mut Work<'_>,
        scalar: &Scalar,
        what: &str,
    ) -> Result<String, CompileError> {
        scalar.settled(work.ontology).write(work.dialect, &mut |dataset, name| {
            let dataset = work.owner(what, dataset)?;
            let field = FieldRef::new(work.entity(dataset).name.clone(), name);
            Ok(self.column(work, &field)?.0)
        })
    }

    fn join(&mut self, work: &mut Work<'_>, parent: usize, step: &Step) -> Result<usize, CompileError> {
        self.fans |= step.to_many;
        let relationship = work.relationship(step);
        let entity = work.entity(step.to);
        let wanted = match &relationship.role {
            Some(role) if step.forward => format!("{role}_{}", entity.name),
            _ => entity.name.clone(),
        };
        let alias = self.aliases.fresh(&wanted);
        let on = pairs(work, step, &self.node(parent).alias, &alias)?;
        work.uses(step);
        self.nodes.push(Node { dataset: step.to, alias, parent: Some((parent, *step, on)) });
        Ok(self.nodes.len() - 1)
    }

    /// A field at a node.
    pub(super) fn field(&self, work: &Work<'_>, at: usize, name: &str) -> Result<String, CompileError> {
        let node = self.node(at);
        work.named(node.dataset, &node.alias, name, &mut Vec::new())
    }

    /// From FROM on. Joins keep every row.
    pub(super) fn from(&self, work: &mut Work<'_>) -> Result<String, CompileError> {
        self.only(work, |_| true)
    }

    /// The same with some of the joins.
    pub(super) fn only(&self, work: &mut Work<'_>, keep: impl Fn(usize) -> bool) -> Result<String, CompileError> {
        let mut sql = String::new();
        for (_, node) in self.nodes.iter().enumerate().filter(|(at, _)| keep(*at)) {
            let table = work.table(node.dataset, &node.alias)?;
            match &node.parent {
                None => sql.push_str(&format!("FROM {table}")),
                Some((_, _, on)) => sql.push_str(&format!("\nLEFT JOIN {table} ON {}", equal(on))),
            }
        }
        Ok(sql)
    }

    /// The columns of a key of the first dataset.
    pub(super) fn key(&self, work: &Work<'_>) -> Vec<String> {
        let entity = work.entity(self.base());
        let key = if entity.primary_key.is_empty() { entity.unique_keys.first() } else { Some(&entity.primary_key) };
        let columns = key.map(Vec::as_slice).unwrap_or_default();
        columns.iter().map(|column| format!("{}.{}", quoted(&self.node(0).alias), quoted(column))).collect()
    }
}
