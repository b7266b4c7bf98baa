//! Expressions: of fields, conditions and metrics.

use std::collections::BTreeMap;

use super::{Check, source};
use crate::engine::ontology::expression::{Aggregate, Call, Reference, Scalar};
use crate::engine::ontology::graph::{Graph, Steps};
use crate::model::ontology::{Entity, Metric};

/// How often fields may be made from fields, and metrics from metrics.
const MAX_NESTING: usize = 16;

impl Check<'_> {
    pub(super) fn expressions(&mut self) {
        let ontology = self.ontology;
        for (at, entity) in ontology.datasets.iter().enumerate() {
            self.field_expressions(&format!("datasets[{at}]"), entity);
            if let Some(policy) = &entity.row_policy {
                self.condition(&format!("datasets[{at}].row_policy"), policy, Some(entity));
            }
        }
        for (at, segment) in ontology.segments.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let path = format!("segments[{at}]");
            let [dataset] = segment.datasets.as_slice() else {
                let message = format!("The segment `{}` is about {} datasets.", segment.name, segment.datasets.len());
                self.error(format!("{path}.datasets"), message, "Name exactly one: that whose rows it holds for.");
                continue;
            };
            match ontology.entity(dataset) {
                Some(entity) => self.condition(&format!("{path}.expression"), &segment.expression, Some(entity)),
                None => self.unknown_dataset(format!("{path}.datasets[0]"), dataset),
            }
        }
        let graph = Graph::new(ontology);
        let mut parts = Vec::new();
        for (at, metric) in ontology.metrics.iter().enumerate() {
            if self.is_full() {
                return;
            }
            parts.push(self.metric(&format!("metrics[{at}]"), metric, &graph));
        }
        let names = ontology.metrics.iter().map(|metric| metric.name.as_str());
        let endless = endless(&positions(names, &parts));
        for (at, metric) in endless.into_iter().filter_map(|at| Some((at, ontology.metrics.get(at)?))) {
            let message = format!("`{}` comes back to itself through other metrics.", metric.name);
            self.error(format!("metrics[{at}].expression"), message, "Write it over fields.");
        }
    }

    fn unknown_dataset(&mut self, path: String, name: &str) {
        let hint = self.suggest(name, self.ontology.datasets.iter().map(|entity| entity.name.as_str()));
        self.error(path, format!("There is no dataset `{name}`."), hint);
    }

    fn field_expressions(&mut self, path: &str, entity: &Entity) {
        let mut parts = Vec::new();
        for (at, field) in entity.fields.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let path = format!("{path}.fields[{at}].expression");
            let refs = self.refs(&path, &field.expression);
            for reference in &refs {
                self.own_name(&path, entity, reference);
            }
            // A name directly inside its own expression means the column.
            let others = refs.into_iter().map(|reference| reference.name);
            parts.push(others.filter(|name| !name.eq_ignore_ascii_case(&field.name)).collect());
        }
        let endless = endless(&positions(entity.fields.iter().map(|field| field.name.as_str()), &parts));
        for (at, field) in endless.into_iter().filter_map(|at| Some((at, entity.fields.get(at)?))) {
            let message = format!("`{}.{}` comes back to itself through other fields.", entity.name, field.name);
            self.error(format!("{path}.fields[{at}].expression"), message, "Write it over columns of the table.");
        }
    }

    /// The names in a scalar expression; none where it cannot be read, which is reported.
    fn refs(&mut self, path: &str, expression: &str) -> Vec<Reference> {
        if self.is_full() {
            return Vec::new();
        }
        match Scalar::parse(expression) {
            Ok(scalar) => scalar.refs().to_vec(),
            // A bare column may be called like a word of SQL.
            Err(_) if is_bare(expression) => vec![Reference { dataset: None, name: expression.trim().to_owned() }],
            Err(problem) => {
                self.error(path.to_owned(), format!("The expression cannot be used: {problem}."), "");
                Vec::new()
            }
        }
    }

    /// A name in an expression over one dataset: of a column or another field of it.
    fn own_name(&mut self, path: &str, entity: &Entity, reference: &Reference) {
        let foreign =
            |name: &String| !name.eq_ignore_ascii_case(&entity.name) && !name.eq_ignore_ascii_case(source(entity));
        if let Some(other) = reference.dataset.as_ref().filter(|name| foreign(name)) {
            let message =
                format!("`{other}.{}` is not of `{}`, whose rows this is about.", reference.name, entity.name);
            self.error(
                path.to_owned(),
                message,
                "Use its own columns; what joins datasets is a metric or a relationship.",
            );
            return;
        }
        let Some(table) = self.table(entity) else { return };
        // A field that is a column of its own name is only as good as that column.
        let field = entity.field(&reference.name);
        let is_other = field.is_some_and(|field| !field.expression.trim().eq_ignore_ascii_case(&reference.name));
        if !is_other && self.column(entity, &reference.name).is_none() {
            let hint = self.suggest(&reference.name, table.columns.iter().map(|column| column.name.as_str()));
            self.error(
                path.to_owned(),
                format!("The table `{}` has no column `{}`.", table.name, reference.name),
                hint,
            );
        }
    }

    /// A condition over `dataset.field`; where `only` is given, over no other dataset.
    fn condition(&mut self, path: &str, expression: &str, only: Option<&Entity>) {
        for reference in self.refs(path, expression) {
            match only {
                Some(entity) => self.own_name(path, entity, &reference),
                None => self.qualified(path, &reference),
            }
        }
    }

    /// `dataset.field`; a column that is not modelled is none.
    fn qualified(&mut self, path: &str, reference: &Reference) {
        let Some(dataset) = &reference.dataset else {
            let message = format!("`{}` does not say of which dataset it is.", reference.name);
            return self.error(path.to_owned(), message, format!("Write `dataset.{}`.", reference.name));
        };
        let Some(entity) = self.ontology.entity(dataset) else {
            return self.unknown_dataset(path.to_owned(), dataset);
        };
        if entity.field(&reference.name).is_none() {
            let hint = match self.column(entity, &reference.name) {
                Some(_) => "The table has such a column: make a field of it (it may be hidden).".to_owned(),
                None => self.suggest(&reference.name, entity.fields.iter().map(|field| field.name.as_str())),
            };
            self.error(path.to_owned(), format!("`{}` has no field `{}`.", entity.name, reference.name), hint);
        }
    }

    /// Returns the metrics that it uses, by name.
    fn metric(&mut self, path: &str, metric: &Metric, graph: &Graph) -> Vec<String> {
        let place = format!("{path}.expression");
        let mut used = Vec::new();
        match Aggregate::parse(&metric.expression) {
            Ok(aggregate) => {
                for reference in aggregate.refs() {
                    self.qualified(&place, &reference);
                }
                for name in aggregate.metrics().iter().filter(|name| self.ontology.metric(name).is_none()) {
                    let hint = self.suggest(name, self.ontology.metrics.iter().map(|metric| metric.name.as_str()));
                    self.error(place.clone(), format!("There is no metric `{name}`."), hint);
                }
                if aggregate.refs().is_empty() && aggregate.metrics().is_empty() {
                    let message = format!("`{}` does not say whose rows it counts.", metric.name);
                    self.error(place.clone(), message, "Name a key: `COUNT(dataset.key)`.");
                }
                for call in aggregate.calls() {
                    self.meets(&place, metric, call, graph);
                }
                used = aggregate.metrics().to_vec();
            }
            Err(problem) => self.error(place, format!("The expression cannot be used: {problem}."), ""),
        }
        for (at, filter) in metric.filters.iter().enumerate() {
            self.condition(&format!("{path}.filters[{at}]"), filter, None);
        }
        if let Some(name) = &metric.default_time_field {
            let path = format!("{path}.default_time_field");
            match (self.field(name), name.split_once('.')) {
                (Some((entity, field)), _) => self.must_be_time(path, entity, field),
                (None, Some((dataset, field))) => match self.ontology.entity(dataset) {
                    Some(entity) => {
                        self.own_field(&path, entity, field);
                    }
                    None => self.unknown_dataset(path, dataset),
                },
                (None, None) => {
                    self.error(
                        path,
                        format!("`{name}` does not say of which dataset it is."),
                        "Write `dataset.field`.",
                    );
                }
            }
        }
        used
    }

    /// One aggregate over several datasets needs one whose rows meet at most one row of each other.
    fn meets(&mut self, path: &str, metric: &Metric, call: &Call, graph: &Graph) {
        let mut datasets: Vec<usize> = Vec::new();
        for reference in call.refs() {
            match reference.dataset.as_deref().and_then(|name| graph.dataset(name)) {
                Some(dataset) if !datasets.contains(&dataset) => datasets.push(dataset),
                Some(_) => {}
                None => return,
            }
        }
        let reaches = |&home: &usize| datasets.iter().all(|&other| graph.way(home, other, &[], Steps::ToOne).is_ok());
        if datasets.len() > 1 && !datasets.iter().any(reaches) {
            let named = datasets.iter().filter_map(|&at| self.ontology.datasets.get(at));
            let names: Vec<&str> = named.map(|entity| entity.name.as_str()).collect();
            let message = format!(
                "`{}` puts {} into one aggregate, but no row of one has exactly one row in each other.",
                metric.name,
                names.join(" and ")
            );
            self.error(
                path.to_owned(),
                message,
                "Aggregate each dataset on its own, or declare keys and relationships.",
            );
        }
    }
}

/// The positions of what cannot be computed, since what it is made from comes back to itself or is nested too deep.
/// `parts` has for each thing what it is made from.
fn endless(parts: &[Vec<usize>]) -> Vec<usize> {
    let mut left: BTreeMap<usize, &Vec<usize>> = parts.iter().enumerate().collect();
    for _ in 0..MAX_NESTING {
        let waits = |parts: &[usize]| parts.iter().any(|part| left.contains_key(part));
        let later: BTreeMap<usize, &Vec<usize>> =
            left.iter().filter(|(_, parts)| waits(parts)).map(|(at, parts)| (*at, *parts)).collect();
        if later.len() == left.len() {
            break;
        }
        left = later;
    }
    left.into_keys().collect()
}

/// Names as positions among the things that they name.
fn positions<'n>(names: impl Iterator<Item = &'n str>, parts: &[Vec<String>]) -> Vec<Vec<usize>> {
    let at: BTreeMap<String, usize> = names.enumerate().map(|(at, name)| (name.to_lowercase(), at)).collect();
    let of = |parts: &Vec<String>| parts.iter().filter_map(|name| at.get(&name.to_lowercase()).copied()).collect();
    parts.iter().map(of).collect()
}

fn is_bare(expression: &str) -> bool {
    let text = expression.trim();
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
