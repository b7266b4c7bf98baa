//! What all mappings share: reading loosely, noting what is left over, and writing expressions.

use crate::engine::ontology::expression::{Aggregate, Scalar};
use crate::engine::ontology::read::{Node, additivity, cardinality, role};
use crate::model::ontology::{Cardinality, Entity, FieldRole, Ontology, Relationship};
use crate::model::source::Dialect;
use crate::model::source::quoted;

/// An ontology that is being made.
#[derive(Default)]
pub(super) struct Import {
    pub ontology: Ontology,
    pub notes: Vec<String>,
}

impl Import {
    pub(super) fn note(&mut self, path: &str, says: impl AsRef<str>) {
        self.notes.push(format!("{path}: {}", says.as_ref()));
    }

    /// Notes every key that no mapping knows.
    pub(super) fn rest(&mut self, node: &Node, path: &str, known: &[&str]) {
        for (key, _) in node.map().into_iter().flatten().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
            self.note(&path, "has no place in an ontology and was left out.");
        }
    }

    /// Settles what follows from the whole.
    pub(super) fn finish(mut self) -> (Ontology, Vec<String>) {
        let mut relationships = std::mem::take(&mut self.ontology.relationships);
        for relationship in &mut relationships {
            let sides = (self.ontology.entity(&relationship.from), self.ontology.entity(&relationship.to));
            let (Some(from), Some(to)) = sides else { continue };
            match cardinality(relationship, from, to) {
                Some(cardinality) => relationship.cardinality = cardinality,
                None => {
                    std::mem::swap(&mut relationship.from, &mut relationship.to);
                    std::mem::swap(&mut relationship.from_columns, &mut relationship.to_columns);
                    relationship.cardinality = Cardinality::ManyToOne;
                }
            }
        }
        self.ontology.relationships = relationships;
        let guessed: Vec<Vec<FieldRole>> = self
            .ontology
            .datasets
            .iter()
            .map(|entity| entity.fields.iter().map(|field| role(&self.ontology, entity, field)).collect())
            .collect();
        for (entity, roles) in self.ontology.datasets.iter_mut().zip(guessed) {
            for (field, guessed) in entity.fields.iter_mut().zip(roles) {
                // A mapping that knows better has said so.
                if field.role == FieldRole::Attribute || guessed == FieldRole::Key {
                    field.role = guessed;
                }
            }
        }
        for metric in &mut self.ontology.metrics {
            metric.additivity = additivity(&metric.expression);
        }
        (self.ontology, self.notes)
    }

    pub(super) fn relate(&mut self, name: String, from: (&str, Vec<String>), to: (&str, Vec<String>)) {
        self.ontology.relationships.push(Relationship {
            name,
            from: from.0.to_owned(),
            to: to.0.to_owned(),
            from_columns: from.1,
            to_columns: to.1,
            cardinality: Cardinality::ManyToMany,
            optional: true,
            ..Relationship::default()
        });
    }
}

/// The text of a scalar however it is written; empty where there is none.
pub(super) fn text(node: &Node, key: &str) -> String {
    node.get(key).map(scalar).unwrap_or_default()
}

pub(super) fn scalar(node: &Node) -> String {
    match node.json() {
        serde_json::Value::String(text) => text.trim().to_owned(),
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::Bool(truth) => truth.to_string(),
        _ => String::new(),
    }
}

/// The values of a list, with their paths.
pub(super) fn items<'n>(node: &'n Node, key: &str, path: &str) -> Vec<(String, &'n Node)> {
    let items = node.get(key).and_then(Node::list).unwrap_or_default();
    let base = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    items.iter().enumerate().map(|(at, node)| (format!("{base}[{at}]"), node)).collect()
}

pub(super) fn texts(node: &Node, key: &str) -> Vec<String> {
    items(node, key, "").into_iter().map(|(_, node)| scalar(node)).filter(|text| !text.is_empty()).collect()
}

/// A name in an expression.
pub(super) fn ident(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // A word of SQL would not be read as a name.
    if plain && Scalar::parse(name).is_ok_and(|scalar| scalar.as_name().is_some()) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A scalar expression whose names without a dataset are those of `dataset`.
pub(super) fn qualified(expression: &str, dataset: &str) -> Result<String, String> {
    let scalar = Scalar::parse(expression).map_err(|problem| problem.to_string())?;
    scalar.write(Dialect::DuckDb, &mut |owner, name| {
        Ok::<_, String>(format!("{}.{}", ident(owner.unwrap_or(dataset)), ident(name)))
    })
}

/// The same for an aggregate; names outside of its calls are metrics.
pub(super) fn qualified_aggregate(expression: &str, dataset: &str) -> Result<String, String> {
    let aggregate = Aggregate::parse(expression).map_err(|problem| problem.to_string())?;
    let mut call = |at: usize| {
        let call = aggregate.calls().get(at).ok_or("an aggregate is missing")?;
        call.write(Dialect::DuckDb, &mut |owner, name| {
            Ok::<_, String>(format!("{}.{}", ident(owner.unwrap_or(dataset)), ident(name)))
        })
    };
    aggregate.write(Dialect::DuckDb, &mut call, &mut |metric| Ok(ident(metric)))
}

/// Something that counts every row of a dataset: its key.
pub(super) fn count_rows(entity: &Entity) -> Result<String, String> {
    match entity.primary_key.as_slice() {
        [key] => Ok(format!("COUNT({}.{})", ident(&entity.name), ident(key))),
        _ => Err(format!("`{}` has no single key whose rows could be counted", entity.name)),
    }
}

/// An aggregate by its name in other tools, over an expression of a dataset.
pub(super) fn aggregate(function: &str, expression: &str, entity: &Entity) -> Result<String, String> {
    let of = qualified(expression, &entity.name)?;
    if Scalar::parse(expression).is_ok_and(|scalar| scalar.refs().is_empty()) {
        // Adding up 1 for each row, or counting a constant, counts rows.
        return match (function, expression.trim()) {
            ("sum", "1") | ("count", _) => count_rows(entity),
            _ => Err(format!("`{expression}` names no column")),
        };
    }
    Ok(match function {
        "sum" | "min" | "max" | "median" | "count" => format!("{}({of})", function.to_uppercase()),
        "average" | "avg" => format!("AVG({of})"),
        "count_distinct" => format!("COUNT(DISTINCT {of})"),
        "sum_boolean" => format!("SUM(CASE WHEN {of} THEN 1 ELSE 0 END)"),
        other => return Err(format!("the aggregation `{other}` has no equal")),
    })
}
