//! An ontology without what rests on data that somebody may not see.

use super::expression::{Aggregate, Scalar};
use crate::model::ontology::{Metric, Ontology, Relationship};

/// The part of an ontology whose tables are `covered` (a workspace's dataset, by name): their datasets, the
/// relationships between them, and the metrics and segments that read nothing else.
pub fn restricted(ontology: &Ontology, covered: impl Fn(&str) -> bool) -> Ontology {
    let mut part = ontology.clone();
    part.datasets.retain(|entity| covered(entity.table()));
    let kept: Vec<String> = part.datasets.iter().map(|entity| entity.name.to_lowercase()).collect();
    let is_kept = |dataset: &str| kept.contains(&dataset.to_lowercase());
    part.relationships.retain(|Relationship { from, to, .. }| is_kept(from) && is_kept(to));
    part.segments.retain(|segment| segment.datasets.iter().all(|dataset| is_kept(dataset)));
    let scalar = |text: &str| {
        Scalar::parse(text).is_ok_and(|scalar| scalar.refs().iter().all(|it| it.dataset.as_deref().is_none_or(is_kept)))
    };
    part.metrics.retain(|metric| metric.filters.iter().all(|filter| scalar(filter)));
    // A metric may rest on others: until none goes any more.
    loop {
        let names: Vec<String> = part.metrics.iter().map(|metric| metric.name.to_lowercase()).collect();
        let rests = |metric: &Metric| {
            Aggregate::parse(&metric.expression).is_ok_and(|aggregate| {
                aggregate.refs().iter().all(|it| it.dataset.as_deref().is_none_or(is_kept))
                    && aggregate.metrics().iter().all(|name| names.contains(&name.to_lowercase()))
            })
        };
        let before = part.metrics.len();
        part.metrics.retain(rests);
        if part.metrics.len() == before {
            break;
        }
    }
    // A verified question may name what is gone.
    part.verified_queries.clear();
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::Entity;

    #[test]
    fn what_rests_on_hidden_data_is_gone_too() {
        let entity = |name: &str| Entity { name: name.into(), source: format!("w.{name}"), ..Entity::default() };
        let metric = |name: &str, expression: &str| Metric {
            name: name.into(),
            expression: expression.into(),
            ..Metric::default()
        };
        let ontology = Ontology {
            datasets: vec![entity("orders"), entity("salaries")],
            metrics: vec![
                metric("sales", "SUM(orders.amount)"),
                metric("pay", "SUM(salaries.amount)"),
                metric("pay_share", "pay / sales"),
                metric("twice", "pay_share * 2"),
            ],
            ..Ontology::default()
        };
        let part = restricted(&ontology, |table| table == "orders");
        assert_eq!(part.datasets.iter().map(|entity| entity.name.as_str()).collect::<Vec<_>>(), ["orders"]);
        assert_eq!(part.metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>(), ["sales"]);
    }
}
