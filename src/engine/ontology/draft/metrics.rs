//! Numbers with a definition: how many rows there are, sums and averages of what is measured, and what was sold.

use crate::engine::ontology::draft::fields;
use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::names::{Vocabulary, plural};
use crate::engine::ontology::draft::{DraftTable, identifier};
use crate::model::ontology::{
    Additivity, Aggregation, AiContext, DataType, Entity, Field, FieldRole, Metric, Ontology,
};

/// Words of tables whose amounts are what was sold.
const SALES: &[&str] = &[
    "sale",
    "sales",
    "order",
    "orders",
    "invoice",
    "invoices",
    "payment",
    "payments",
    "transaction",
    "transactions",
    "purchase",
    "purchases",
    "booking",
    "bookings",
];

pub(super) fn metrics(
    tables: &[DraftTable],
    ontology: &Ontology,
    vocabulary: &Vocabulary,
    notes: &mut Vec<String>,
) -> Vec<Metric> {
    let mut made: Vec<Metric> = Vec::new();
    let shown = || ontology.datasets.iter().filter(|entity| !entity.hidden);
    let mut sold: Vec<(&Entity, usize)> = Vec::new();
    for entity in shown() {
        let time = time_of(entity, ontology);
        if let Some(count) = count(entity, &time) {
            push(&mut made, count);
        }
        let words = tables.iter().find(|table| table.name == entity.name).map(|table| fields::words(table, vocabulary));
        let words = words.unwrap_or_default();
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
                let at = push(&mut made, total(entity, field, words, &label, &time));
                if is_sale(entity, ontology, vocabulary)
                    && kinds::is_money(words)
                    && !words.iter().any(|word| word == "tax" || word == "discount")
                {
                    sold.push((entity, at));
                }
            }
            push(&mut made, average(entity, field, &label, &time));
        }
        if let Some(metric) = price_times_quantity(entity, &words, &time) {
            sold.push((entity, push(&mut made, metric)));
        }
        if let Some(metric) = less_discount(entity, &words, &time) {
            push(&mut made, metric);
        }
    }
    name_revenue(&mut made, &sold, ontology, notes);
    made
}

/// Whether the rows of a dataset are sales, or lines of them.
fn is_sale(entity: &Entity, ontology: &Ontology, vocabulary: &Vocabulary) -> bool {
    const NONE: &[&str] = &["expense", "loss", "refund", "return", "returns", "supply", "payroll"];
    let named = |name: &str| {
        let words = vocabulary.table(name);
        let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        any(SALES) && !any(NONE)
    };
    let head = |name: &str| {
        ontology.relationships.iter().any(|relationship| relationship.from == name && named(&relationship.to))
    };
    named(&entity.name) || entity.primary_key.len() > 1 && head(&entity.name)
}

/// Adds a metric under a name that is free, and says where.
fn push(made: &mut Vec<Metric>, mut metric: Metric) -> usize {
    let taken = |name: &str| made.iter().any(|other| other.name.eq_ignore_ascii_case(name));
    while taken(&metric.name) {
        metric.name.push('_');
    }
    made.push(metric);
    made.len() - 1
}

fn reference(entity: &Entity, field: &str) -> String {
    format!("{}.{}", identifier(&entity.name), identifier(field))
}

/// When the rows of a dataset happened: its own time, or that of what they are lines of.
fn time_of(entity: &Entity, ontology: &Ontology) -> Option<String> {
    if let Some(field) = &entity.default_time_field {
        return Some(format!("{}.{field}", entity.name));
    }
    let mut heads = ontology.relationships.iter().filter(|relationship| relationship.from == entity.name).filter_map(
        |relationship| {
            let head = ontology.entity(&relationship.to)?;
            let line = entity.noun().starts_with(&head.noun())
                || relationship
                    .from_columns
                    .iter()
                    .all(|column| entity.primary_key.len() > 1 && entity.primary_key.contains(column));
            head.default_time_field.as_ref().filter(|_| line).map(|field| format!("{}.{field}", head.name))
        },
    );
    heads.next().filter(|_| heads.next().is_none())
}

fn count(entity: &Entity, time: &Option<String>) -> Option<Metric> {
    let sure = |field: &&Field| field.nullable == Some(false) && !field.hidden;
    let of_key = entity.primary_key.first().and_then(|name| entity.field(name));
    let named = entity.fields.iter().filter(sure).find(|field| field.role == FieldRole::Key);
    let counted = of_key.or(named).or_else(|| entity.fields.iter().find(sure))?;
    let one = entity.noun();
    let many = match one.rsplit_once(' ') {
        Some((first, last)) => format!("{first} {}", plural(last)),
        None => plural(&one),
    };
    Some(Metric {
        name: format!("{}_count", one.replace(' ', "_")),
        expression: format!("COUNT({})", reference(entity, &counted.name)),
        description: format!("How many {many} there are."),
        datatype: DataType::Integer,
        ai: synonyms(vec![format!("number of {many}"), format!("{one} count")]),
        additivity: Additivity::Additive,
        default_time_field: time.clone(),
        format: Some("#,##0".into()),
        ..Metric::default()
    })
}

fn synonyms(synonyms: Vec<String>) -> AiContext {
    AiContext { synonyms, ..AiContext::default() }
}

/// The other names of a field, with its dataset's where its label has that.
fn others<'a>(entity: &'a Entity, field: &'a Field, label: &'a str) -> impl Iterator<Item = String> + 'a {
    let of = if label == field.label { String::new() } else { format!("{} ", entity.noun()) };
    field.ai.synonyms.iter().map(move |other| format!("{of}{other}"))
}

fn total(entity: &Entity, field: &Field, words: &[String], label: &str, time: &Option<String>) -> Metric {
    let rest = label.strip_prefix("total ").unwrap_or(label);
    let mut names = vec![format!("sum of {label}")];
    names.extend(others(entity, field, label).map(|other| format!("total {other}")));
    let stock = kinds::is_stock(words);
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
        default_time_field: time.clone(),
        unit: field.unit.clone(),
        ..Metric::default()
    }
}

fn average(entity: &Entity, field: &Field, label: &str, time: &Option<String>) -> Metric {
    let rest = label.strip_prefix("average ").unwrap_or(label);
    let mut names = vec![format!("mean {rest}"), format!("avg {rest}")];
    names.extend(others(entity, field, label).map(|other| format!("average {other}")));
    Metric {
        name: format!("average_{}", rest.replace(' ', "_")),
        expression: format!("AVG({})", reference(entity, &field.name)),
        description: format!("Mean {rest} of {}.", plural(&entity.noun())),
        datatype: DataType::Float,
        ai: synonyms(names),
        additivity: Additivity::NonAdditive,
        default_time_field: time.clone(),
        unit: field.unit.clone(),
        ..Metric::default()
    }
}

/// A measure of an entity whose words hold.
fn find<'a>(entity: &'a Entity, words: &[Vec<String>], holds: impl Fn(&[String]) -> bool) -> Option<&'a Field> {
    entity
        .fields
        .iter()
        .zip(words)
        .find(|(field, words)| field.role == FieldRole::Measure && holds(words))
        .map(|(field, _)| field)
}

/// What lines of a sale are worth, where they have a price and a quantity and no amount of their own.
fn price_times_quantity(entity: &Entity, words: &[Vec<String>], time: &Option<String>) -> Option<Metric> {
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let price = find(entity, words, |words| {
        words.last().is_some_and(|word| word == "price") && (words.len() == 1 || has(words, &["unit", "sale", "sales"]))
    })?;
    let quantity =
        find(entity, words, |words| has(words, &["quantity", "qty"]) && !has(words, &["stock", "avail", "available"]))?;
    let whole = find(entity, words, |words| {
        has(words, &["amount", "amt", "total", "extended", "revenue", "value", "net", "gross"])
    });
    if whole.is_some() {
        return None;
    }
    Some(Metric {
        name: format!("{}_value", entity.noun().replace(' ', "_")),
        expression: format!("SUM({} * {})", reference(entity, &price.name), reference(entity, &quantity.name)),
        description: format!("{} times {}, added up.", price.label, quantity.label),
        datatype: DataType::Decimal,
        ai: synonyms(vec![format!("{} times {}", price.label, quantity.label)]),
        additivity: Additivity::Additive,
        default_time_field: time.clone(),
        higher_is: Some("better".into()),
        ..Metric::default()
    })
}

/// An amount without its discount, where the discount is a part of it.
fn less_discount(entity: &Entity, words: &[Vec<String>], time: &Option<String>) -> Option<Metric> {
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let amount = find(entity, words, |words| has(words, &["extended", "gross"]) || words == ["amount".to_owned()])?;
    let discount = find(entity, words, |words| {
        matches!(words, [only] if only == "discount") || has(words, &["discount"]) && has(words, &["rate", "fraction"])
    })?;
    // A share, and neither an amount nor a percentage.
    let share = matches!(discount.datatype, DataType::Decimal | DataType::Float) && discount.unit.is_none();
    if !share {
        return None;
    }
    Some(Metric {
        name: format!("net_{}", amount.label.replace(' ', "_")),
        expression: format!("SUM({} * (1 - {}))", reference(entity, &amount.name), reference(entity, &discount.name)),
        description: format!("{} less {}, which is taken for a part of 1, added up.", amount.label, discount.label),
        datatype: DataType::Decimal,
        ai: synonyms(vec![format!("discounted {}", amount.label), format!("{} after discount", amount.label)]),
        additivity: Additivity::Additive,
        default_time_field: time.clone(),
        ..Metric::default()
    })
}

/// Lets one metric be what people call revenue: of several the one of the finest rows, if they lead to the others.
fn name_revenue(made: &mut [Metric], sold: &[(&Entity, usize)], ontology: &Ontology, notes: &mut Vec<String>) {
    let leads = |from: &Entity, to: &Entity| {
        from.name == to.name
            || ontology
                .relationships
                .iter()
                .any(|relationship| relationship.from == from.name && relationship.to == to.name)
    };
    let finest = sold.iter().find(|(entity, _)| sold.iter().all(|(other, _)| leads(entity, other)));
    let alone = finest.filter(|(entity, _)| sold.iter().filter(|(other, _)| other.name == entity.name).count() == 1);
    match (alone, sold.is_empty()) {
        (Some((_, at)), _) => {
            if let Some(metric) = made.get_mut(*at) {
                metric.ai.synonyms.extend(["revenue", "sales", "turnover"].map(str::to_owned));
                metric.higher_is = Some("better".into());
            }
        }
        (None, false) => {
            let names: Vec<&str> =
                sold.iter().filter_map(|(_, at)| made.get(*at)).map(|metric| metric.name.as_str()).collect();
            notes.push(format!("Revenue may be any of {}: give the right one the synonym.", names.join(", ")));
        }
        (None, true) => {}
    }
}
