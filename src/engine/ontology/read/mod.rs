//! From YAML or JSON to an ontology, with the line of every problem.
//!
//! Read are Apache Ossie 0.2.0.dev0, flat or wrapped in `semantic_model`, 0.1.x, and documents without a version that
//! were written by hand, which may use a few shorter forms. Objects are closed: an unknown key is an error, except in
//! `ai_context`. Paths of problems begin at the model, below `semantic_model[0]` where there is one.

mod derive;
mod extension;
mod node;
mod objects;
mod settle;
#[cfg(test)]
mod tests;
mod walk;

pub use derive::{additivity, cardinality, datatype_of, is_time, role};
pub use extension::{COMMON_KEY, VENDOR};
pub use node::{MAX_BYTES, MAX_DEPTH, MAX_NODES, Mark, Node, parse};
pub use objects::{MAX_DATASETS, MAX_FIELDS, MAX_METRICS, MAX_RELATIONSHIPS};
pub use settle::name as cardinality_name;
pub use walk::{MAX_NAME, MAX_TEXT};

use objects::Manner;
use walk::{Part, Walk};

use crate::model::ontology::{Ontology, Problem};

/// The version that we write and that flat documents have.
pub const VERSION: &str = "0.2.0.dev0";
/// The last released version, always wrapped.
pub const LEGACY_VERSION: &str = "0.1.1";
const VERSIONS: [&str; 4] = [VERSION, LEGACY_VERSION, "0.1.0", "1.0"];

/// An ontology and the text that it was read from.
#[derive(Clone, Debug)]
pub struct Document {
    pub ontology: Ontology,
    /// Doubts; in the order of the text.
    pub warnings: Vec<Problem>,
    model: Node,
}

impl Document {
    /// Where the value at a path into the model stands, or else the nearest thing around it. Paths may leave out our
    /// extension: `segments[0].expression`, `datasets[1].label_field`.
    pub fn locate(&self, path: &str) -> Mark {
        let steps = walk::steps(path);
        let mut steps = steps.as_slice();
        let mut node = &self.model;
        loop {
            let (reached, left) = walk::descend(node, steps);
            let ours = left.first().and_then(|_| ours(reached));
            match ours {
                Some(data) if walk::descend(data, left).1.len() < left.len() => (node, steps) = (data, left),
                _ => return reached.at,
            }
        }
    }

    /// Puts line and column to problems that have only a path.
    pub fn place(&self, problems: Vec<Problem>) -> Vec<Problem> {
        let place = |problem: Problem| match problem.line {
            Some(_) => problem,
            None => {
                let at = self.locate(&problem.path);
                Problem { line: Some(at.line), column: Some(at.column), ..problem }
            }
        };
        problems.into_iter().map(place).collect()
    }
}

/// The data of our extension of a thing, where they are a mapping.
fn ours(node: &Node) -> Option<&Node> {
    let extensions = node.get("custom_extensions")?.list()?;
    let ours = extensions.iter().find(|one| one.get("vendor_name").and_then(Node::text) == Some(VENDOR))?;
    ours.get("data").filter(|data| data.map().is_some())
}

/// Reads an ontology.
///
/// # Errors
/// Everything that is wrong, with warnings among it, in the order of the text.
pub fn read(text: &str) -> Result<Document, Vec<Problem>> {
    let root = node::parse(text).map_err(|problem| vec![problem])?;
    let mut walk = Walk::default();
    let read = document(&mut walk, root);
    let mut problems = walk.problems;
    problems.sort_by_key(|problem| (problem.line, problem.column));
    match read {
        Some((ontology, model)) if !problems.iter().any(Problem::is_error) => {
            Ok(Document { ontology, warnings: problems, model })
        }
        _ => Err(problems),
    }
}

fn document(walk: &mut Walk, root: Node) -> Option<(Ontology, Node)> {
    if root.map().is_none() {
        walk.expected("a mapping with `version`, `name` and `datasets`", &Part { path: String::new(), node: &root });
        return None;
    }
    let of_others = ["cubes", "semantic_models", "models", "tables"].into_iter().find(|key| root.get(key).is_some());
    if let Some(key) = of_others.filter(|_| root.get("datasets").is_none() && root.get("semantic_model").is_none()) {
        let message = format!("This is no Ossie document: `{key}` is a key of another tool's semantic model.");
        walk.error(key, root.at, message, "Import it as a model of that tool.");
        return None;
    }
    let version = version(walk, &root);
    let part = Part { path: String::new(), node: &root };
    if root.get("semantic_model").is_some() {
        let object = walk.object(&part, &["version", "semantic_model", "dialects", "vendors"])?;
        let models = walk.required_list(&object, "semantic_model");
        let [model] = models.as_slice() else {
            if let [_, second, ..] = models.as_slice() {
                let message = format!("The document holds {} models; an ontology is one.", models.len());
                walk.error("", second.node.at, message, "Save each as an ontology of its own.");
            }
            return None;
        };
        let ontology = objects::model(walk, &Part { path: String::new(), node: model.node }, Manner::Wrapped);
        let model = model.node.clone();
        return Some((ontology, model));
    }
    let ontology = if root.get("fields").is_some() && root.get("datasets").is_none() && version.is_none() {
        objects::lone_dataset(walk, &part)
    } else {
        let manner = if version.is_some() { Manner::Strict } else { Manner::Lenient };
        objects::model(walk, &part, manner)
    };
    Some((ontology, root))
}

/// The version, which must be one that is known; without one the document is read leniently.
fn version<'n>(walk: &mut Walk, root: &'n Node) -> Option<&'n str> {
    let Some(node) = root.get("version").filter(|node| !node.is_null()) else {
        let hint = format!("Add `version: {VERSION}`.");
        walk.warn("version", root.at, "The document has no version, and is read as if it were ours.", hint);
        return None;
    };
    // An unquoted 1.0 is a number.
    let version = match &node.value {
        node::Value::Scalar { text, .. } => text.as_str(),
        _ => "",
    };
    if !VERSIONS.contains(&version) {
        let message = format!("The version `{version}` is not known.");
        walk.error("version", node.at, message, format!("Write `{VERSION}`; {LEGACY_VERSION} is read too."));
    }
    Some(version)
}
