//! What of an ontology is shown: to those who do not see all of its data the part that rests on what they see, and to
//! those who only read it no more than is meant for readers.

use std::collections::{HashMap, HashSet};

use super::expression::{Aggregate, Reference, Scalar};
use crate::model::ontology::{AiContext, Entity, Metric, Ontology, Relationship};

/// The part of an ontology whose tables are `covered` (a workspace's dataset, by name): their datasets, the
/// relationships between them, and the metrics, segments and terms that read nothing else. What is written of the whole
/// in free words may name anything, and is left out; a reference that does not say its dataset may be to any.
pub fn restricted(ontology: &Ontology, covered: impl Fn(&str) -> bool) -> Ontology {
    let mut part = ontology.clone();
    part.description.clear();
    part.ai = AiContext::default();
    part.datasets.retain(|entity| covered(entity.table()));
    let kept: HashSet<String> = part.datasets.iter().map(|entity| entity.name.to_lowercase()).collect();
    let is_kept = |dataset: &str| kept.contains(&dataset.to_lowercase());
    part.relationships.retain(|Relationship { from, to, .. }| is_kept(from) && is_kept(to));
    part.refused.clear();
    // What is written of several things together may be of those that are gone.
    part.relationships.iter_mut().for_each(|it| it.ai = AiContext::default());
    part.segments.retain(|segment| segment.datasets.iter().all(|dataset| is_kept(dataset)));
    let scalar = |text: &str| {
        Scalar::parse(text)
            .is_ok_and(|scalar| scalar.refs().iter().all(|it| it.dataset.as_deref().is_some_and(is_kept)))
    };
    part.segments.retain(|segment| scalar(&segment.expression));
    let reads_kept = |metric: Metric| {
        let aggregate = Aggregate::parse(&metric.expression).ok()?;
        let reads_kept = aggregate.refs().iter().all(|it| it.dataset.as_deref().is_some_and(is_kept))
            && metric.filters.iter().all(|filter| scalar(filter));
        reads_kept.then_some((metric, aggregate))
    };
    let metrics = std::mem::take(&mut part.metrics).into_iter().filter_map(reads_kept).collect();
    for (mut metric, aggregate) in standing(metrics) {
        if spans(&aggregate) {
            metric.description.clear();
            metric.ai = AiContext::default();
        }
        let of_kept = |field: &String| field.split_once('.').is_some_and(|(dataset, _)| is_kept(dataset));
        metric.default_time_field = metric.default_time_field.take().filter(of_kept);
        part.metrics.push(metric);
    }
    // A verified question may name what is gone.
    part.verified_queries.clear();
    let terms = std::mem::take(&mut part.glossary);
    part.glossary = terms.iter().filter(|term| means_something(&term.means, &part)).cloned().collect();
    part
}

/// Those metrics that rest on no other metric than these, however far.
pub(super) fn standing(metrics: Vec<(Metric, Aggregate)>) -> Vec<(Metric, Aggregate)> {
    let folded = |(metric, aggregate): &(Metric, Aggregate)| {
        let rests_on: Vec<String> = aggregate.metrics().iter().map(|name| name.to_lowercase()).collect();
        (metric.name.to_lowercase(), rests_on)
    };
    let names: Vec<(String, Vec<String>)> = metrics.iter().map(folded).collect();
    let known: HashSet<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, rests_on) in &names {
        for other in rests_on {
            users.entry(other.as_str()).or_default().push(name.as_str());
        }
    }
    // With each that goes, go those that rest on it.
    let mut going: Vec<&str> = users.keys().copied().filter(|name| !known.contains(name)).collect();
    let mut gone: HashSet<&str> = HashSet::new();
    while let Some(name) = going.pop() {
        let with_it = users.remove(name).unwrap_or_default();
        going.extend(with_it.into_iter().filter(|user| gone.insert(*user)));
    }
    metrics.into_iter().zip(&names).filter(|(_, (name, _))| !gone.contains(name.as_str())).map(|(it, _)| it).collect()
}

/// Whether a metric is of several datasets, or rests on others.
fn spans(aggregate: &Aggregate) -> bool {
    let refs = aggregate.refs();
    let mut datasets = refs.iter().filter_map(|it| it.dataset.as_deref());
    let first = datasets.next();
    !aggregate.metrics().is_empty() || datasets.any(|it| first.is_some_and(|one| !one.eq_ignore_ascii_case(it)))
}

/// Whether what a term stands for is a metric, a segment, a dataset or a field of the ontology. Another term or a
/// phrase is not followed: it may lead to anything.
fn means_something(means: &str, on: &Ontology) -> bool {
    let is = |name: &str| name.eq_ignore_ascii_case(means);
    let field = || {
        let (dataset, field) = means.split_once('.')?;
        on.entity(dataset)?.fields.iter().find(|known| known.name.eq_ignore_ascii_case(field))
    };
    on.metrics.iter().any(|it| is(&it.name))
        || on.segments.iter().any(|it| is(&it.name))
        || on.datasets.iter().any(|it| is(&it.name))
        || field().is_some()
}

/// A dataset as it is shown to those who read and do not write: without hidden fields and whatever names one, without the text of the policy on
/// its rows, and without stored values of fields that hold personal data.
pub fn readable(entity: &Entity) -> Entity {
    let mut shown = entity.clone();
    shown.row_policy = None;
    let hidden = hidden_names(entity);
    let is_hidden = |name: &str| hidden.iter().any(|it| it.eq_ignore_ascii_case(name));
    shown.fields.retain(|field| !field.hidden);
    for field in &mut shown.fields {
        let named = Scalar::parse(&field.expression).map(|it| it.refs().iter().any(|it| is_hidden(&it.name)));
        if named.unwrap_or(true) {
            field.expression.clear();
        }
        field.unit_field = field.unit_field.take().filter(|name| !is_hidden(name));
    }
    if shown.primary_key.iter().any(|column| is_hidden(column)) {
        shown.primary_key.clear();
    }
    shown.unique_keys.retain(|key| !key.iter().any(|column| is_hidden(column)));
    shown.default_time_field = shown.default_time_field.take().filter(|field| !is_hidden(field));
    shown.label_field = shown.label_field.take().filter(|field| !is_hidden(field));
    for field in shown.fields.iter_mut().filter(|field| field.pii.is_some()) {
        field.value_synonyms.clear();
    }
    shown
}

/// The names of datasets, fields, metrics and segments of an ontology that a part of it does not have, as they are said:
/// in lower case, with spaces.
pub fn unseen(whole: &Ontology, part: &Ontology) -> Vec<String> {
    let names = |of: &Ontology| -> Vec<String> {
        let fields = of.datasets.iter().flat_map(|entity| &entity.fields).map(|field| &field.name);
        let datasets = of.datasets.iter().map(|entity| &entity.name);
        let metrics = of.metrics.iter().map(|metric| &metric.name);
        let segments = of.segments.iter().map(|segment| &segment.name);
        fields.chain(datasets).chain(metrics).chain(segments).map(|name| said(name)).collect()
    };
    let seen: HashSet<String> = names(part).into_iter().collect();
    names(whole).into_iter().filter(|name| !seen.contains(name)).collect()
}

/// Whether a text has one of some names, which are as [`unseen`] gives them.
pub fn has_any(text: &str, names: &[String]) -> bool {
    let text = format!(" {} ", said(text));
    names.iter().any(|name| text.contains(&format!(" {name} ")))
}

/// Words in lower case with a space between them.
fn said(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The names of hidden fields, and of the columns that they are.
fn hidden_names(entity: &Entity) -> Vec<String> {
    let mut names = Vec::new();
    for field in entity.fields.iter().filter(|field| field.hidden) {
        let column = Scalar::parse(&field.expression).ok();
        names.extend(column.and_then(|it| it.as_name().map(|column| column.name.clone())));
        names.push(field.name.clone());
    }
    names
}

/// Whether an expression of a metric can be shown: it reads no hidden dataset and no hidden field.
pub fn is_open(metric: &Metric, on: &Ontology) -> bool {
    let is_hidden = |it: &Reference| {
        it.dataset.as_deref().is_some_and(|dataset| {
            on.entity(dataset)
                .is_none_or(|entity| entity.hidden || entity.field(&it.name).is_some_and(|field| field.hidden))
        })
    };
    Aggregate::parse(&metric.expression).is_ok_and(|aggregate| !aggregate.refs().iter().any(is_hidden))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::{Field, Segment, Term};

    #[test]
    fn what_rests_on_hidden_data_is_gone_too() {
        let entity = |name: &str| Entity { name: name.into(), source: format!("w.{name}"), ..Entity::default() };
        let metric = |name: &str, expression: &str| Metric {
            name: name.into(),
            expression: expression.into(),
            ..Metric::default()
        };
        let ontology = Ontology {
            datasets: vec![entity("orders"), entity("shops"), entity("salaries")],
            relationships: vec![Relationship {
                name: "sold_in".into(),
                from: "orders".into(),
                to: "shops".into(),
                ai: AiContext { instructions: "As with salaries".into(), ..Default::default() },
                from_columns: vec!["shop_id".into()],
                to_columns: vec!["shop_id".into()],
                ..Relationship::default()
            }],
            metrics: vec![
                Metric { description: "What is sold".into(), ..metric("sales", "SUM(orders.amount)") },
                metric("pay", "SUM(salaries.amount)"),
                metric("pay_share", "pay / sales"),
                metric("twice", "pay_share * 2"),
            ],
            ..Ontology::default()
        };
        let ontology = Ontology {
            description: "Orders, and what salaries cost".into(),
            ai: AiContext { instructions: "salaries are monthly".into(), ..Default::default() },
            glossary: [("pay", "salaries.amount"), ("turnover", "sales"), ("income", "what salaries are")]
                .map(|(term, means)| Term { term: term.into(), means: means.into() })
                .to_vec(),
            segments: vec![Segment {
                name: "paid".into(),
                synonyms: Vec::new(),
                expression: "salaries.amount > 0".into(),
                datasets: vec!["orders".into()],
            }],
            metrics: [
                ontology.metrics.clone(),
                vec![
                    metric("unsaid", "SUM(amount)"),
                    Metric {
                        description: "Per shop, as salaries are".into(),
                        ai: AiContext { synonyms: vec!["sales for salaries".into()], ..Default::default() },
                        ..metric("per_shop", "SUM(orders.amount) / COUNT(shops.id)")
                    },
                    Metric { description: "Half of salaries".into(), ..metric("half", "sales / 2") },
                    Metric {
                        default_time_field: Some("salaries.paid_on".into()),
                        ..metric("paid_orders", "COUNT(orders.id)")
                    },
                ],
            ]
            .concat(),
            ..ontology
        };
        let part = restricted(&ontology, |table| table != "salaries");
        let said = serde_json::to_string(&part).unwrap();
        assert!(!said.contains("salaries"), "{said}");
        let metric = |name: &str| part.metrics.iter().find(|metric| metric.name == name).unwrap();
        assert_eq!(metric("sales").description, "What is sold", "of one dataset");
        assert_eq!(part.relationships.len(), 1);
        assert_eq!(part.glossary.iter().map(|term| term.term.as_str()).collect::<Vec<_>>(), ["turnover"]);
        assert_eq!(part.datasets.iter().map(|entity| entity.name.as_str()).collect::<Vec<_>>(), ["orders", "shops"]);
        assert_eq!(
            part.metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>(),
            ["sales", "per_shop", "half", "paid_orders"]
        );
    }

    #[test]
    fn a_long_chain_of_metrics_goes_with_its_last() {
        let dataset = |name: &str| Entity { name: name.into(), source: name.into(), ..Entity::default() };
        let metric = |name: String, expression: String| Metric { name, expression, ..Metric::default() };
        let chain = |of: &str, last: &str| {
            let mut metrics: Vec<Metric> =
                (0..2_000).map(|at| metric(format!("{of}_{at}"), format!("{of}_{} * 2", at + 1))).collect();
            metrics.push(metric(format!("{}_2000", of.to_uppercase()), format!("SUM({last}.amount)")));
            metrics
        };
        let circle = [("one", "other + 1"), ("other", "ONE + 1")].map(|(name, it)| metric(name.into(), it.into()));
        let ontology = Ontology {
            datasets: vec![dataset("orders"), dataset("salaries")],
            metrics: [chain("sales", "orders"), chain("pay", "salaries"), circle.to_vec()].concat(),
            ..Ontology::default()
        };
        let part = restricted(&ontology, |table| table == "orders");
        let names = |of: &[Metric]| of.iter().map(|metric| metric.name.clone()).collect::<Vec<_>>();
        let expected = [chain("sales", "orders"), circle.to_vec()].concat();
        assert_eq!(names(&part.metrics), names(&expected), "what only rests on itself reads nothing hidden");
    }

    #[test]
    fn what_names_a_thing_that_is_not_seen_is_known_by_it() {
        let entity = |name: &str, field: &str| Entity {
            name: name.into(),
            source: name.into(),
            fields: vec![Field { name: field.into(), ..Field::default() }],
            ..Entity::default()
        };
        let whole =
            Ontology { datasets: vec![entity("orders", "amount"), entity("wages", "Base_Pay")], ..Ontology::default() };
        let names = unseen(&whole, &restricted(&whole, |table| table == "orders"));
        assert_eq!(names, ["base pay", "wages"]);
        for text in ["base_pay", "wages.base_pay", "Total Base Pay by town", "term:wages"] {
            assert!(has_any(text, &names), "{text}");
        }
        for text in ["amount", "orders.amount", "database payments", ""] {
            assert!(!has_any(text, &names), "{text}");
        }
    }

    #[test]
    fn readers_see_no_hidden_field_no_policy_and_no_value_of_a_person() {
        let field = |name: &str, hidden: bool, pii: Option<&str>| Field {
            name: name.into(),
            hidden,
            pii: pii.map(str::to_owned),
            value_synonyms: [(format!("{name} value"), vec!["said".to_owned()])].into(),
            ..Field::default()
        };
        let entity = Entity {
            name: "staff".into(),
            row_policy: Some("staff.name <> 'Jane Roe'".into()),
            primary_key: vec!["salary".into()],
            unique_keys: vec![vec!["grade".into(), "pay_col".into()], vec!["grade".into()]],
            default_time_field: Some("salary".into()),
            label_field: Some("salary".into()),
            fields: vec![
                Field { expression: "name".into(), ..field("name", false, Some("name")) },
                Field { expression: "UPPER(staff.grade)".into(), ..field("grade", false, None) },
                Field { expression: "Salary * 2".into(), ..field("twice", false, None) },
                Field { expression: "pay_col".into(), ..field("salary", true, None) },
                Field { expression: "pay_col + 1".into(), ..field("more", false, None) },
            ],
            ..Entity::default()
        };
        let said = serde_json::to_string(&readable(&entity)).unwrap();
        for gone in ["Jane Roe", "name value", "salary", "Salary", "pay_col"] {
            assert!(!said.contains(gone), "{gone}: {said}");
        }
        assert!(said.contains("grade value") && said.contains("UPPER(staff.grade)"), "{said}");
        assert_eq!(readable(&entity).unique_keys, [["grade"]]);
    }

    #[test]
    fn a_metric_over_a_hidden_dataset_keeps_its_expression_to_itself() {
        let entity = |name: &str, hidden: bool| Entity { name: name.into(), hidden, ..Entity::default() };
        let mut ontology =
            Ontology { datasets: vec![entity("orders", false), entity("salaries", true)], ..Ontology::default() };
        ontology.datasets[0].fields = vec![Field { name: "cost".into(), hidden: true, ..Field::default() }];
        let metric = |expression: &str| Metric { expression: expression.into(), ..Metric::default() };
        assert!(is_open(&metric("SUM(orders.amount)"), &ontology));
        assert!(!is_open(&metric("SUM(orders.amount) / SUM(salaries.amount)"), &ontology));
        assert!(!is_open(&metric("SUM(orders.amount) - SUM(orders.Cost)"), &ontology), "a hidden field");
    }
}
