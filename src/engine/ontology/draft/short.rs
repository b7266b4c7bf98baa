//! Short names that people have for fields: an amount without its unit, and what happens at a time.

use crate::engine::ontology::draft::{kinds, quantities, units};
use crate::model::ontology::{Field, FieldRole};

/// Gives fields their short names, as far as nothing else of the table is called so.
pub(super) fn name_short(fields: &mut [Field], words: &[Vec<String>]) {
    let short: Vec<Option<String>> = fields.iter().zip(words).map(|(field, words)| short_name(field, words)).collect();
    let called = fields.iter().flat_map(|field| field.ai.synonyms.iter().chain([&field.label]));
    let called: Vec<String> = called.chain(short.iter().flatten()).cloned().collect();
    for (field, name) in fields.iter_mut().zip(short) {
        let free = |name: &String| called.iter().filter(|other| *other == name).count() == 1;
        field.ai.synonyms.extend(name.filter(free));
    }
}

/// "Price" of "price gbp", and of times that rows may lack the "first response" of "first response at".
fn short_name(field: &Field, words: &[String]) -> Option<String> {
    if field.role == FieldRole::Measure {
        return amount(field.unit.as_deref()?, words);
    }
    let (last, what) = words.split_last().filter(|_| field.is_time && field.nullable == Some(true))?;
    let at = matches!(last.as_str(), "at" | "on");
    match what {
        // "ends on", "end date"
        [only] if matches!(only.as_str(), "end" | "ends") && (at || last == "date") => Some("end".into()),
        // "last login at", and not "last seen at"
        [_, .., happens] if at && !kinds::is_done(happens) && !kinds::is_audit(words) => Some(what.join(" ")),
        _ => None,
    }
}

/// What is measured or paid: "weight" of "weight in lbs", and not "engine" of "engine kw".
fn amount(unit: &str, words: &[String]) -> Option<String> {
    let rest = units::without_unit(words)?;
    let said = units::is_currency(unit) || units::has_measure(rest) || quantities::is_amount(rest);
    let done = rest.last().is_some_and(|last| kinds::is_done(last));
    (said && !done).then(|| rest.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::in_words;

    fn words(name: &str) -> Vec<String> {
        in_words(name).split(' ').map(str::to_owned).collect()
    }

    fn measure(name: &str) -> Field {
        let unit = units::unit(&words(name), "").map(str::to_owned);
        Field { name: name.into(), label: in_words(name), role: FieldRole::Measure, unit, ..Field::default() }
    }

    /// The other names of fields called so.
    fn named(fields: &[Field]) -> Vec<String> {
        let mut fields = fields.to_vec();
        let words: Vec<Vec<String>> = fields.iter().map(|field| words(&field.name)).collect();
        name_short(&mut fields, &words);
        fields.iter().map(|field| field.ai.synonyms.join(", ")).collect()
    }

    #[test]
    fn amounts_are_called_without_their_unit() {
        for (name, expected) in [
            ("annual_budget_chf", "annual budget"),
            ("price_gbp", "price"),
            ("rent_eur", "rent"),
            ("weight_in_lbs", "weight"),
            ("beak_length_mm", "beak length"),
            ("body_mass_g", "body mass"),
            ("running_time_min", "running time"),
            ("speed_km_h", "speed"),
            ("duration_minutes", "duration"),
            // What is left says too little.
            ("billable_minutes", ""),
            ("hours_spent", ""),
            ("minutes", ""),
            ("paid_eur", ""),
            ("engine_kw", ""),
            ("discount_pct", ""),
            ("price_per_kg", ""),
            ("wait_ms_min", ""),
        ] {
            assert_eq!(named(&[measure(name)]), [expected], "{name}");
        }
    }

    #[test]
    fn what_two_fields_would_be_called_is_the_name_of_neither() {
        assert_eq!(named(&[measure("cost_eur"), measure("cost_usd")]), ["", ""]);
        assert_eq!(named(&[measure("price_eur"), measure("price")]), ["", ""]);
    }

    #[test]
    fn times_that_rows_may_lack_are_called_by_what_happens_then() {
        let time = |name: &str, nullable| Field {
            name: name.into(),
            label: in_words(name),
            is_time: true,
            nullable: Some(nullable),
            role: FieldRole::Dimension,
            ..Field::default()
        };
        for (name, nullable, expected) in [
            ("first_response_at", true, "first response"),
            ("first_response_at", false, ""),
            ("ends_on", true, "end"),
            ("end_date", true, "end"),
            ("due_on", true, ""),
            ("last_seen_at", true, ""),
            ("resolved_at", true, ""),
        ] {
            assert_eq!(named(&[time(name, nullable)]), [expected], "{name}");
        }
    }
}
