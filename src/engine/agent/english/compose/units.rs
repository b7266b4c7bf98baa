//! Numbers with units, held against numbers that have units of their own.

use super::*;

impl Builder<'_> {
    /// Refuses an amount of one currency for a number of another one: nothing is converted.
    pub(super) fn same_currency(&self, said: &str, own: Option<&str>, words: &str) -> Result<(), Fault> {
        let own = own.filter(|unit| vocabulary::unit(unit).is_some_and(|(kind, _)| kind == "money"));
        match own.or(self.resolver.ontology.currency.as_deref()) {
            Some(own) if !own.eq_ignore_ascii_case(said) => {
                cannot(format!("{} is in {own}, not in {said}: nothing is converted here.", capital(words)))
            }
            _ => Ok(()),
        }
    }

    /// A number in a field's unit.
    pub(super) fn converted(&self, number: f64, unit: Option<&str>, field: &Field) -> Result<f64, Fault> {
        let Some(unit) = unit else { return Ok(number) };
        let Some((kind, factor)) = vocabulary::unit(unit) else { return Ok(number) };
        let own = field.unit.as_deref().and_then(vocabulary::unit);
        if kind == "money" {
            self.same_currency(unit, field.unit.as_deref(), &field.words())?;
        }
        match own {
            Some((own_kind, own_factor)) if own_kind == kind => {
                // Whole numbers of seconds are exact; what is divided last stays as exact as it can.
                Ok(number * factor / own_factor)
            }
            Some(_) => cannot(format!(
                "{} is in {}, not in {unit}.",
                capital(&field.words()),
                field.unit.clone().unwrap_or_default()
            )),
            None if kind == "money" && super::super::resolve::is_money(&field.words()) => Ok(number),
            None if kind == "percent" => Ok(number / 100.0),
            None => cannot(format!(
                "It is not known in which unit {} is, so it cannot be held against {number} {unit}.",
                field.words()
            )),
        }
    }
}
