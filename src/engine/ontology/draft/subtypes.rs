//! Tables that hold nothing but keys of another table: they mark some of its rows, as `premium` marks amounts of
//! policies. Nobody asks for the marks; people ask for the amounts of the rows that are marked.

use crate::engine::ontology::draft::measured::{reference, synonyms};
use crate::engine::ontology::draft::metrics::{push, time_of};
use crate::engine::ontology::draft::sales::many;
use crate::engine::ontology::draft::{DraftTable, fields};
use crate::model::ontology::{
    Additivity, Aggregation, Cardinality, DataType, Entity, Field, FieldRole, Metric, Ontology,
};

/// A table that marks rows of another, and the amount that those have.
struct Marks<'a> {
    /// The place of the dataset that marks.
    at: usize,
    entity: &'a Entity,
    key: &'a Field,
    of: &'a Entity,
    amount: &'a Field,
}

/// Hides the datasets that only mark rows, and makes metrics of the amounts of those rows.
pub(super) fn metrics(ontology: &mut Ontology, tables: &[DraftTable]) {
    let found: Vec<Marks<'_>> = (0..ontology.datasets.len()).filter_map(|at| marks(at, ontology, tables)).collect();
    let mut made = ontology.metrics.clone();
    for marks in &found {
        let entity = marks.entity;
        made.retain(|metric| metric.expression != format!("COUNT({})", reference(entity, &marks.key.name)));
        of_marked(marks, entity, ontology).into_iter().for_each(|metric| {
            push(&mut made, metric);
        });
    }
    let hidden: Vec<usize> = found.iter().map(|marks| marks.at).collect();
    ontology.metrics = made;
    for at in hidden {
        if let Some(entity) = ontology.datasets.get_mut(at) {
            entity.hidden = true;
        }
    }
}

fn marks<'a>(at: usize, ontology: &'a Ontology, tables: &[DraftTable]) -> Option<Marks<'a>> {
    let entity = ontology.datasets.get(at).filter(|entity| !entity.hidden)?;
    let [key] = entity.primary_key.as_slice() else { return None };
    let key = entity.fields.iter().find(|field| field.name == *key && field.role == FieldRole::Key)?;
    if entity.fields.iter().any(|field| !field.hidden && field.name != key.name) {
        return None;
    }
    let mut leaving = ontology.relationships.iter().filter(|it| it.from == entity.name);
    let (relationship, None) = (leaving.next()?, leaving.next()) else { return None };
    let referred = ontology.relationships.iter().any(|it| it.to == entity.name);
    let own = relationship.from_columns == entity.primary_key && relationship.cardinality == Cardinality::OneToOne;
    let of = ontology.entity(&relationship.to).filter(|_| own && !referred)?;
    let mut amounts = of.fields.iter().filter(|field| fields::measure(field) == Some(Aggregation::Sum));
    let (amount, None) = (amounts.next()?, amounts.next()) else { return None };
    // A table without a row says nothing yet.
    let rows = tables.iter().find(|table| table.name == entity.source).map_or(0, DraftTable::rows);
    (rows > 0).then_some(Marks { at, entity, key, of, amount })
}

/// How many are marked, and what they have in total and on average.
fn of_marked(marks: &Marks<'_>, entity: &Entity, ontology: &Ontology) -> [Metric; 3] {
    let noun = entity.noun();
    let plural = many(&noun);
    let snake = noun.replace(' ', "_");
    let amount = reference(marks.of, &marks.amount.name);
    let key = marks.of.primary_key.first().map_or(&marks.amount.name, |key| key);
    let made = |name: String, expression: String, description: String, names: Vec<String>| Metric {
        name,
        expression,
        description,
        ai: synonyms(names),
        default_time_field: time_of(marks.of, ontology),
        filters: vec![format!("{} IS NOT NULL", reference(entity, &marks.key.name))],
        ..Metric::default()
    };
    let label = marks.amount.words();
    let of = many(&marks.of.noun());
    let total = made(
        format!("total_{snake}"),
        format!("SUM({amount})"),
        format!("The {label} of those {of} that are {plural}, added up."),
        vec![
            noun.clone(),
            plural.clone(),
            format!("{noun} amount"),
            format!("total {noun} amount"),
            format!("amount of {plural}"),
            format!("total amount of {plural}"),
        ],
    );
    let average = made(
        format!("average_{snake}"),
        format!("AVG({amount})"),
        format!("Mean {label} of those {of} that are {plural}."),
        vec![format!("mean {noun}"), format!("avg {noun}"), format!("average {noun} amount")],
    );
    let count = made(
        format!("{snake}_count"),
        format!("COUNT({})", reference(marks.of, key)),
        format!("How many {plural} there are."),
        vec![format!("number of {plural}"), format!("how many {plural}")],
    );
    let unit = marks.amount.unit.clone();
    [
        Metric { datatype: marks.amount.datatype, additivity: Additivity::Additive, unit: unit.clone(), ..total },
        Metric { datatype: DataType::Float, unit, ..average },
        Metric { datatype: DataType::Integer, additivity: Additivity::Additive, format: Some("#,##0".into()), ..count },
    ]
}
