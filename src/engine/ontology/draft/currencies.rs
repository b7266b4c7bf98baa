//! Currencies of amounts that stand in a column beside them.

use crate::engine::ontology::draft::reasons::{Judged, Reason};
use crate::engine::ontology::draft::units::is_currency;
use crate::engine::ontology::draft::{DraftTable, fields, kinds};
use crate::model::ontology::{DataType, Field, Ontology};
use crate::model::profile::{ColumnProfile, Figure};

/// Gives amounts of money the only currency that the column beside them has. Where there are several the column is said
/// to hold their unit, and that is noted.
pub(super) fn name_currencies(
    tables: &[DraftTable],
    ontology: &mut Ontology,
    judged: &mut [Judged],
    notes: &mut Vec<String>,
) {
    for (entity, judged) in ontology.datasets.iter_mut().zip(judged) {
        let Some(table) = tables.iter().find(|table| table.name == entity.source) else { continue };
        let Some(figures) = entity.fields.iter().find_map(|field| currencies(table, field)) else { continue };
        let open = |(_, field): &(usize, &mut Field)| {
            let words: Vec<String> = field.label.split(' ').map(str::to_owned).collect();
            fields::measure(field).is_some() && field.unit.is_none() && kinds::is_paid(&words)
        };
        let amounts: Vec<(usize, &mut Field)> = entity.fields.iter_mut().enumerate().filter(open).collect();
        // The range is of all rows also where different values are estimated.
        let sampled = figures.approximate.contains(&Figure::Range) || figures.min != figures.max;
        match figures.top_values.as_slice() {
            _ if amounts.is_empty() => {}
            [only] if figures.distinct == 1 && !sampled => {
                for (at, field) in amounts {
                    field.unit = Some(only.value.clone());
                    let because = format!("That is the only value of {}.", figures.name);
                    judged.say(at, Reason::new(format!("In {}", only.value), because));
                }
            }
            _ => {
                for (at, field) in amounts {
                    field.unit_field = Some(figures.name.clone());
                    let because = "The codes of currencies stand there.";
                    judged.say(at, Reason::new(format!("Unit in {}", figures.name), because));
                }
                notes.push(several(table, figures));
            }
        }
    }
}

/// What to know before amounts are added up that may be in several currencies.
fn several(table: &DraftTable, figures: &ColumnProfile) -> String {
    match figures.top_values.as_slice() {
        [only] if figures.distinct == 1 => format!(
            "Amounts of {} seem to be in {} only, by a sample of {}: look for others before they are added up.",
            table.name, only.value, figures.name
        ),
        _ => format!(
            "Amounts of {} are in several currencies: ask for one of them, by {}, before they are added up.",
            table.name, figures.name
        ),
    }
}

/// The figures of a column whose values are codes of currencies.
fn currencies<'a>(table: &'a DraftTable, field: &Field) -> Option<&'a ColumnProfile> {
    const CALLED: &[&str] = &["currency", "waehrung", "devise", "moneda", "moeda", "valuta", "waluta"];
    let called = field.label.split(' ').any(|word| CALLED.contains(&word));
    let figures = table.figures(&field.name).filter(|_| called && field.datatype == DataType::String)?;
    let codes = !figures.top_values.is_empty() && figures.top_values.iter().all(|top| is_currency(&top.value));
    codes.then_some(figures)
}
