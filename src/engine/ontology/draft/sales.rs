//! What was sold: its value, revenue, what an order is worth, how many units.

use crate::engine::ontology::draft::kinds;
use crate::engine::ontology::draft::measured::{head_of, reference, synonyms};
use crate::engine::ontology::draft::names::plural;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{DraftTable, fields};
use crate::model::ontology::{
    Additivity, Aggregation, DataType, Entity, Field, FieldRole, Metric, Ontology, Relationship,
};

/// Words of tables whose amounts are what was sold.
const SALES: &[&str] = &[
    "sale", "sales", "order", "orders", "invoice", "invoices", "payment", "payments", "transaction", "transactions",
    "purchase", "purchases", "booking", "bookings", "pedido", "pedidos", "venta", "ventas", "venda", "vendas",
    "factura", "facturas", "commande", "commandes", "vente", "ventes", "facture", "factures", "bestellung",
    "bestellungen", "auftrag", "rechnung", "rechnungen", "ordine", "ordini",
];

/// Words for a price, for one piece, and for how many pieces.
const PRICE: &[&str] = &["price", "precio", "preco", "prix", "preis", "prezzo", "einzelpreis", "stueckpreis"];
const UNIT: &[&str] = &["unit", "sale", "sales", "unidad", "unitario", "unitaire", "vente", "venta", "unidade"];
const QUANTITY: &[&str] = &["quantity", "qty", "cantidad", "quantidade", "quantite", "menge", "anzahl", "quantita"];

/// A metric of what was sold.
pub(super) struct Sold {
    /// The dataset's name.
    pub entity: String,
    /// Its place among the metrics.
    pub metric: usize,
    /// The rows say how it was paid, not what was sold.
    pub payment: bool,
}

/// Whether the rows of a dataset are payments.
pub(super) fn is_payment(entity: &Entity, vocabulary: &Vocabulary) -> bool {
    vocabulary.table(&entity.name).iter().any(|word| word == "payment" || word == "payments")
}

/// Whether the rows of a dataset are sales, or lines of them.
pub(super) fn is_sale(entity: &Entity, ontology: &Ontology, vocabulary: &Vocabulary) -> bool {
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
pub(super) fn price_times_quantity(entity: &Entity, words: &[Vec<String>], time: Option<&String>) -> Option<Metric> {
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let price = find(entity, words, |words| has(words, PRICE) && (words.len() == 1 || has(words, UNIT)))?;
    let quantity = find(entity, words, |words| has(words, QUANTITY) && !has(words, &["stock", "avail", "available"]))?;
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
        default_time_field: time.cloned(),
        higher_is: Some("better".into()),
        ..Metric::default()
    })
}

/// An amount without its discount, where the discount is a part of it.
pub(super) fn less_discount(
    entity: &Entity,
    table: Option<&DraftTable>,
    words: &[Vec<String>],
    time: Option<&String>,
) -> Option<Metric> {
    let has = |words: &[String], list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let amount = find(entity, words, |words| has(words, &["extended", "gross"]) || words == ["amount".to_owned()])?;
    let discount = find(entity, words, |words| {
        matches!(words, [only] if only == "discount") || has(words, &["discount"]) && has(words, &["rate", "fraction"])
    })?;
    // A share, and neither an amount nor a percentage.
    let most = table.and_then(|table| table.figures(&discount.name)).and_then(|figures| figures.max.clone());
    let small = most.and_then(|most| most.parse::<f64>().ok()).is_none_or(|most| most <= 1.0);
    let share = small && matches!(discount.datatype, DataType::Decimal | DataType::Float) && discount.unit.is_none();
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
        default_time_field: time.cloned(),
        ..Metric::default()
    })
}

/// Lets one metric be what people call revenue: of several the one of the finest rows, if they lead to the others.
/// Payments are it only where nothing else says what was sold.
pub(super) fn name_revenue(made: &mut [Metric], sold: &[Sold], ontology: &Ontology, notes: &mut Vec<String>) {
    let goods = sold.iter().any(|one| !one.payment);
    let sold: Vec<&Sold> = sold.iter().filter(|one| !(goods && one.payment)).collect();
    let leads = |from: &Sold, to: &Sold| {
        let refers = |it: &Relationship| it.from == from.entity && it.to == to.entity;
        from.entity == to.entity || ontology.relationships.iter().any(refers)
    };
    let finest = sold.iter().find(|one| sold.iter().all(|other| leads(one, other)));
    let alone = finest.filter(|one| sold.iter().filter(|other| other.entity == one.entity).count() == 1);
    if let Some(one) = alone {
        if let Some(metric) = made.get_mut(one.metric) {
            metric.ai.synonyms.extend(["revenue", "sales", "turnover"].map(str::to_owned));
            metric.higher_is = Some("better".into());
        }
    } else if !sold.is_empty() {
        let names: Vec<&str> = sold.iter().filter_map(|one| made.get(one.metric)).map(|it| it.name.as_str()).collect();
        notes.push(format!("Revenue may be any of {}: give the right one the synonym.", names.join(", ")));
    }
}

/// What people call the quantities on lines of sales: "units sold", and "tracks sold" of what the lines name.
pub(super) fn units_sold(entity: &Entity, ontology: &Ontology) -> Vec<String> {
    let head = head_of(entity, ontology).map(|head| head.name.as_str());
    let mut names = vec!["units sold".to_owned(), "quantity sold".to_owned()];
    let named = ontology.relationships.iter().filter(|it| it.from == entity.name && it.from_columns.len() == 1);
    for goods in named.filter_map(|it| ontology.entity(&it.to)) {
        let thing = goods.default_time_field.is_none() && !goods.fields.iter().any(|field| field.pii.is_some());
        if thing && head != Some(goods.name.as_str()) && !goods.hidden {
            names.push(format!("{} sold", many(&goods.noun())));
        }
    }
    names
}

/// What an order is worth on average, where only its lines have amounts.
pub(super) fn average_worth(entity: &Entity, value: &Metric, ontology: &Ontology) -> Option<Metric> {
    let head = head_of(entity, ontology)?;
    let [key] = head.primary_key.as_slice() else { return None };
    let amounts = head.fields.iter().any(|field| {
        let words: Vec<String> = field.words().split(' ').map(str::to_owned).collect();
        fields::measure(field) == Some(Aggregation::Sum) && kinds::is_money(&words)
    });
    let noun = head.noun();
    (!amounts).then(|| Metric {
        name: format!("average_{}_value", noun.replace(' ', "_")),
        expression: format!("{} / COUNT({})", value.expression, reference(head, key)),
        description: format!("{} Divided by how many {} there are.", value.description, many(&noun)),
        datatype: DataType::Float,
        ai: synonyms(vec![format!("average {noun}"), format!("value per {noun}"), format!("average {noun} amount")]),
        additivity: Additivity::NonAdditive,
        default_time_field: value.default_time_field.clone(),
        ..Metric::default()
    })
}

/// Gives the only amount of a sale or payment the names that people have for it: what an order is worth, what was paid.
pub(super) fn name_amounts(ontology: &mut Ontology, vocabulary: &Vocabulary) {
    let sales: Vec<bool> = ontology.datasets.iter().map(|entity| is_sale(entity, ontology, vocabulary)).collect();
    let lines: Vec<bool> = ontology.datasets.iter().map(|entity| head_of(entity, ontology).is_some()).collect();
    for ((entity, sale), line) in ontology.datasets.iter_mut().zip(sales).zip(lines) {
        let (noun, payment) = (entity.noun(), is_payment(entity, vocabulary));
        // How heavy an order is says nothing of its worth.
        const HEAVY: &[&str] = &["tons", "kilograms", "grams", "cubic meters", "liters"];
        let heavy = |field: &Field| field.unit.as_deref().is_some_and(|unit| HEAVY.contains(&unit));
        let summed = |field: &Field| fields::measure(field) == Some(Aggregation::Sum) && !heavy(field);
        let mut amounts = entity.fields.iter_mut().filter(|field| summed(field));
        if !sale || line && !payment {
            continue;
        }
        if let (Some(field), None) = (amounts.next(), amounts.next()) {
            let names: &[&str] = if payment { &["amount paid", "paid", "amount"] } else { &["value", "amount"] };
            let own = [format!("{noun} value"), format!("{noun} amount")];
            for name in names.iter().map(|name| (*name).to_owned()).chain(own) {
                if name != field.label && !field.ai.synonyms.contains(&name) {
                    field.ai.synonyms.push(name);
                }
            }
        }
    }
}

/// The plural of a noun of several words.
pub(super) fn many(noun: &str) -> String {
    match noun.rsplit_once(' ') {
        Some((first, last)) => format!("{first} {}", plural(last)),
        None => plural(noun),
    }
}
