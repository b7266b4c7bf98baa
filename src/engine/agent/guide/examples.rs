//! Queries over an ontology that show how one is written: by a dimension, over time, of some rows, and a list.

use super::lines::{Sight, literal, name, way};
use crate::engine::agent::query::write;
use crate::engine::ontology::expression::Aggregate;
use crate::engine::ontology::graph::{Graph, Steps};
use crate::model::ontology::{DataType, Entity, Field, FieldRole, Metric, Ontology};
use crate::model::personal::is_personal;
use crate::model::plan::{Condition, Node, Plan};
use crate::model::query::Query;

/// Rows of an example.
const ROWS: u32 = 5;

/// The plans of questions that somebody verified, as queries; none that limits personal data by a value.
pub(super) fn verified(on: &Ontology) -> impl Iterator<Item = Query> + '_ {
    let plans = on.verified_queries.iter().filter_map(|query| serde_json::from_value::<Plan>(query.plan.clone()?).ok());
    let is_open = |plan: &Plan| {
        let conditions = plan.nodes().into_iter().filter_map(|node| match node {
            Node::Condition(condition) => Some(condition),
            Node::Measure(_) => None,
        });
        let mut fields = conditions.flat_map(Condition::fields);
        !fields.any(|at| on.field(&at.dataset, &at.field).is_none_or(is_personal))
    };
    plans.filter(is_open).map(|plan| write(&plan, on))
}

/// Examples about one metric, or about a dataset where there is none.
pub(super) fn queries(
    metric: Option<&Metric>,
    dataset: Option<&Entity>,
    sight: &Sight<'_>,
    graph: &Graph,
) -> Vec<Query> {
    let base = metric.and_then(|metric| base(metric, sight.ontology)).or(dataset);
    let Some(base) = base else { return Vec::new() };
    let measure = metric.map_or_else(|| format!("count({})", name(&base.name)), |metric| name(&metric.name));
    let by = group(base, sight, graph);
    let mut queries = Vec::new();
    if let Some((by, _)) = &by {
        queries.push(Query {
            measures: vec![measure.clone()],
            dimensions: vec![by.clone()],
            order: vec![format!("{measure} desc")],
            limit: Some(ROWS),
            ..Query::default()
        });
    }
    if let Some(time) = time(metric, base, sight.ontology) {
        let year = sight.extents.get(&base.name.to_lowercase()).map(|(_, last)| last.year().to_string());
        let dimensions = vec![format!("{time} by month")];
        queries.push(Query { measures: vec![measure.clone()], dimensions, time: year, ..Query::default() });
    }
    if let Some(condition) = by.as_ref().and_then(|(by, field)| equal(by, field, sight)) {
        queries.push(Query { measures: vec![measure], filters: vec![condition], ..Query::default() });
    }
    let shown: Vec<String> = base
        .fields
        .iter()
        .filter(|field| !field.hidden && !is_personal(field))
        .take(3)
        .map(|field| format!("{}.{}", name(&base.name), name(&field.name)))
        .collect();
    if !shown.is_empty() {
        queries.push(Query { list: shown, limit: Some(ROWS), ..Query::default() });
    }
    queries
}

/// The dataset that a metric counts, directly or by the metrics that it rests on.
pub(super) fn base<'a>(metric: &Metric, on: &'a Ontology) -> Option<&'a Entity> {
    let mut expression = metric.expression.clone();
    // A metric may rest on others, these again on others.
    for _ in 0..8 {
        let aggregate = Aggregate::parse(&expression).ok()?;
        let refs = aggregate.refs();
        let dataset = refs.iter().find_map(|it| it.dataset.as_deref()).and_then(|dataset| on.entity(dataset));
        if let Some(entity) = dataset {
            return Some(entity).filter(|entity| !entity.hidden);
        }
        expression = aggregate.metrics().iter().find_map(|name| on.metric(name))?.expression.clone();
    }
    None
}

/// A field to group by, as a query names it: what the rows of a dataset nearby are called by, or an own one.
fn group<'a>(base: &'a Entity, sight: &Sight<'a>, graph: &Graph) -> Option<(String, (&'a Entity, &'a Field))> {
    let ontology = sight.ontology;
    let is_good = |field: &&Field| {
        let text =
            field.datatype == DataType::String && matches!(field.role, FieldRole::Dimension | FieldRole::Attribute);
        !field.hidden && (field.is_enum || text) && !is_personal(field)
    };
    let own = || {
        let best = base.fields.iter().find(|field| is_good(field) && field.is_enum);
        best.or_else(|| base.fields.iter().find(|field| is_good(field) && field.role == FieldRole::Dimension))
    };
    let named = |entity: &'a Entity| {
        let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
        label.filter(is_good).map(|field| (entity, field))
    };
    let from = graph.dataset(&base.name)?;
    let nearby =
        ontology.relationships.iter().filter(|one| one.from.eq_ignore_ascii_case(&base.name)).find_map(|one| {
            let entity = ontology.entity(&one.to).filter(|entity| !entity.hidden)?;
            let to = graph.dataset(&entity.name)?;
            let plain = way(one, ontology).is_none() && graph.way(from, to, &[], Steps::ToOne).is_ok();
            if plain { named(entity) } else { None }
        });
    let (entity, field) = nearby.or_else(|| own().map(|field| (base, field)))?;
    Some((format!("{}.{}", name(&entity.name), name(&field.name)), (entity, field)))
}

/// The time of a metric, or of its dataset.
fn time(metric: Option<&Metric>, base: &Entity, on: &Ontology) -> Option<String> {
    let own = metric.and_then(|metric| metric.default_time_field.clone());
    let own = own.or_else(|| base.default_time_field.as_ref().map(|field| format!("{}.{field}", base.name)))?;
    let (dataset, field) = own.split_once('.')?;
    let field = on.entity(dataset).filter(|entity| !entity.hidden)?.field(field)?;
    (!field.hidden && field.datatype.is_calendar()).then(|| format!("{}.{}", name(dataset), name(&field.name)))
}

/// A condition on a field with one of its values.
fn equal(by: &str, (entity, field): &(&Entity, &Field), sight: &Sight<'_>) -> Option<String> {
    let known = sight.told_values(entity, field)?;
    let value = known.values.iter().find(|value| value.chars().count() <= 40 && !value.contains(char::is_control))?;
    Some(format!("{by} = {}", literal(value, field.datatype)))
}
