//! Numbers with a definition: how many rows there are, sums and averages of what is measured, and what was sold.

use std::collections::BTreeSet;

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::fields;
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::measured::{head_of, reference, synonyms};
use crate::engine::ontology::draft::names::plural;
use crate::engine::ontology::draft::quantities;
use crate::engine::ontology::draft::sales::{self, Sold};
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::read::MAX_METRICS;
use crate::model::ontology::{Additivity, Aggregation, DataType, Entity, Field, FieldRole, Metric, Ontology};

pub(super) fn metrics(
    tables: &[DraftTable],
    ontology: &Ontology,
    vocabulary: &Vocabulary,
    notes: &mut Vec<String>,
) -> Vec<Metric> {
    let mut made: Vec<Metric> = Vec::new();
    let shown = || ontology.datasets.iter().filter(|entity| !entity.hidden);
    let mut sold: Vec<Sold> = Vec::new();
    for entity in shown() {
        let time = time_of(entity, ontology);
        let time = time.as_ref();
        if let Some(count) = count(entity, time) {
            push(&mut made, count);
        }
        let table = tables.iter().find(|table| table.name == entity.source);
        let words = table.map(|table| fields::words(table, vocabulary)).unwrap_or_default();
        let mut of_entity: Vec<usize> = Vec::new();
        for (field, words) in entity.fields.iter().zip(&words) {
            let Some(aggregation) = fields::measure(field) else { continue };
            let shared = shown().any(|other| {
                other.name != entity.name
                    && other.fields.iter().any(|same| same.label == field.label && fields::measure(same).is_some())
            });
            let label = if shared || field.label == "total" {
                format!("{} {}", entity.noun(), field.label)
            } else {
                field.label.clone()
            };
            if aggregation == Aggregation::Sum {
                let mut metric = total(entity, field, words, &label, time);
                let sale = sales::is_sale(entity, ontology, vocabulary);
                if sale && words.iter().any(|word| word == "quantity" || word == "qty") {
                    metric.ai.synonyms.extend(sales::units_sold(entity, ontology));
                }
                let at = push(&mut made, metric);
                if sale && kinds::is_money(words) && !words.iter().any(|word| word == "tax" || word == "discount") {
                    of_entity.push(at);
                }
            }
            push(&mut made, average(entity, field, &label, time));
        }
        if let Some(metric) = sales::price_times_quantity(entity, &words, time) {
            let average = sales::average_worth(entity, &metric, ontology);
            of_entity.push(push(&mut made, metric));
            average.into_iter().for_each(|metric| {
                push(&mut made, metric);
            });
        }
        if let Some(metric) = sales::less_discount(entity, table, &words, time) {
            let net = push(&mut made, metric);
            // Revenue is what is left after discounts.
            if of_entity.len() == 1 {
                of_entity = vec![net];
            }
        }
        let payment = sales::is_payment(entity, vocabulary);
        sold.extend(of_entity.into_iter().map(|metric| Sold { entity: entity.name.clone(), metric, payment }));
    }
    sales::name_revenue(&mut made, &sold, ontology, notes);
    made
}

/// Leaves out what an ontology has no room for: averages first, then sums, of the last tables first.
pub(super) fn fit(metrics: &mut Vec<Metric>, notes: &mut Vec<String>) {
    let over = metrics.len().saturating_sub(MAX_METRICS);
    if over == 0 {
        return;
    }
    let rank = |metric: &Metric| match metric.expression.split('(').next() {
        Some("AVG") => 0,
        Some("SUM") => 1,
        _ => 2,
    };
    let mut order: Vec<(u8, std::cmp::Reverse<usize>)> =
        metrics.iter().enumerate().map(|(at, metric)| (rank(metric), std::cmp::Reverse(at))).collect();
    order.sort_unstable();
    let gone: BTreeSet<usize> = order.into_iter().take(over).map(|(_, at)| at.0).collect();
    let mut at = 0..;
    metrics.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
    notes.push(format!(
        "{over} averages and sums were left out: an ontology has at most {MAX_METRICS} metrics. Their columns can be \
         asked for all the same."
    ));
}

/// Adds a metric under a name that is free, and says where.
pub(super) fn push(made: &mut Vec<Metric>, mut metric: Metric) -> usize {
    let taken = |name: &str| made.iter().any(|other| other.name.eq_ignore_ascii_case(name));
    while taken(&metric.name) {
        metric.name.push('_');
    }
    made.push(metric);
    made.len() - 1
}

/// When the rows of a dataset happened: its own time, or that of what they are lines of.
pub(super) fn time_of(entity: &Entity, ontology: &Ontology) -> Option<String> {
    if let Some(field) = &entity.default_time_field {
        return Some(format!("{}.{field}", entity.name));
    }
    let head = head_of(entity, ontology)?;
    head.default_time_field.as_ref().map(|field| format!("{}.{field}", head.name))
}

fn count(entity: &Entity, time: Option<&String>) -> Option<Metric> {
    let sure = |field: &&Field| field.nullable == Some(false) && !field.hidden;
    let of_key = entity.primary_key.first().and_then(|name| entity.field(name));
    let named = entity.fields.iter().filter(sure).find(|field| field.role == FieldRole::Key);
    let counted = of_key.or(named).or_else(|| entity.fields.iter().find(sure))?;
    let one = entity.noun();
    let many = sales::many(&one);
    Some(Metric {
        name: format!("{}_count", one.replace(' ', "_")),
        expression: format!("COUNT({})", reference(entity, &counted.name)),
        description: format!("How many {many} there are."),
        datatype: DataType::Integer,
        ai: synonyms(vec![format!("number of {many}"), format!("{one} count")]),
        additivity: Additivity::Additive,
        default_time_field: time.cloned(),
        format: Some("#,##0".into()),
        ..Metric::default()
    })
}

/// The other names of a field, with its dataset's where its label has that.
fn others<'a>(entity: &'a Entity, field: &'a Field, label: &'a str) -> impl Iterator<Item = String> + 'a {
    let of = if label == field.label { String::new() } else { format!("{} ", entity.noun()) };
    field.ai.synonyms.iter().map(move |other| format!("{of}{other}"))
}

fn total(entity: &Entity, field: &Field, words: &[String], label: &str, time: Option<&String>) -> Metric {
    let rest = label.strip_prefix("total ").unwrap_or(label);
    let mut names = vec![format!("sum of {label}")];
    names.extend(others(entity, field, label).map(|other| format!("total {other}")));
    let stock = quantities::is_stock(words);
    Metric {
        name: if rest.ends_with(" total") {
            rest.replace(' ', "_")
        } else {
            format!("total_{}", rest.replace(' ', "_"))
        },
        expression: format!("SUM({})", reference(entity, &field.name)),
        description: format!("All {label} of {} added up.", plural(&entity.noun())),
        datatype: field.datatype,
        ai: synonyms(names),
        additivity: if stock { Additivity::SemiAdditive } else { Additivity::Additive },
        default_time_field: time.cloned(),
        unit: field.unit.clone(),
        ..Metric::default()
    }
}

fn average(entity: &Entity, field: &Field, label: &str, time: Option<&String>) -> Metric {
    let said = |word| label.strip_prefix(word);
    let rest = said("average ").or_else(|| said("avg ")).or_else(|| said("mean ")).unwrap_or(label);
    let mut names = vec![format!("mean {rest}"), format!("avg {rest}")];
    names.extend(others(entity, field, label).map(|other| format!("average {other}")));
    Metric {
        name: format!("average_{}", rest.replace(' ', "_")),
        expression: format!("AVG({})", reference(entity, &field.name)),
        description: format!("Mean {rest} of {}.", plural(&entity.noun())),
        datatype: DataType::Float,
        ai: synonyms(names),
        additivity: Additivity::NonAdditive,
        default_time_field: time.cloned(),
        unit: field.unit.clone(),
        ..Metric::default()
    }
}
