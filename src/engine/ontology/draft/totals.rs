//! Rows that are sums of others.

use crate::engine::ontology::draft::{DraftTable, fields};
use crate::model::ontology::{Aggregation, Entity, Field};

/// What to know of a table in which rows are called like the sum of others: "All natural disasters" of a year beside
/// those of each kind.
pub(super) fn of_totals(table: &DraftTable, entity: &Entity) -> Option<String> {
    let summed = entity.fields.iter().any(|field| fields::measure(field) == Some(Aggregation::Sum));
    let parted = |field: &&Field| field.is_enum && entity.primary_key.contains(&field.name);
    let mut parts = entity.fields.iter().filter(parted).filter(|_| summed && entity.primary_key.len() > 1);
    let (column, value) = parts.find_map(|field| Some((&field.name, total(table, field)?)))?;
    let name = &table.name;
    Some(format!("Rows of {name} with {value} as their {column} may be sums of others: leave them out of totals."))
}

/// A known value of a column that is called like a sum.
fn total<'a>(table: &'a DraftTable, field: &Field) -> Option<&'a String> {
    let samples = table.column(&field.name)?.sample_values.iter();
    let most = table.figures(&field.name).into_iter().flat_map(|figures| &figures.top_values);
    samples.chain(most.map(|top| &top.value)).find(|value| is_total(value))
}

fn is_total(value: &str) -> bool {
    let value = value.to_lowercase();
    let mut words = value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    matches!(words.next(), Some("all" | "total" | "totals" | "overall"))
        || matches!(words.next_back(), Some("total" | "totals"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_told_by_what_they_are_called() {
        for (value, expected) in [
            ("All natural disasters", true),
            ("TOTAL", true),
            ("Total, all ages", true),
            ("EU - total", true),
            ("Allergy", false),
            ("Flood", false),
            ("", false),
        ] {
            assert_eq!(is_total(value), expected, "{value}");
        }
    }
}
