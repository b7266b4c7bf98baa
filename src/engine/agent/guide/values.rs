//! Stored values that were found, as conditions: "Kennedy" is `flight.origin = 'JFK'`.

use std::collections::BTreeMap;

use super::lines::{Sight, literal, name, one_line, way};
use crate::base::counted::counted;
use crate::engine::agent::near::Found;
use crate::model::ontology::Relationship;

/// Most conditions, and most of one field.
const MOST: usize = 20;
const MOST_OF_A_FIELD: usize = 5;

/// The first of what was found as lines, of each field a few, and the fields that they are of.
pub(super) fn lines(found: &[Found<'_>], sight: &Sight<'_>) -> (Vec<String>, Vec<(String, String)>) {
    let mut of_fields: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    let mut more = 0;
    for it in found {
        let count = of_fields.entry((&it.entity.name, &it.field.name)).or_default();
        *count += 1;
        if *count > MOST_OF_A_FIELD || lines.len() == MOST {
            more += 1;
            continue;
        }
        let place = (it.entity.name.clone(), it.field.name.clone());
        if !places.contains(&place) {
            places.push(place);
        }
        lines.push(condition(it, sight));
    }
    if more > 0 {
        lines.push(format!("{} with these words; give more of them to find one", counted(more, "more value")));
    }
    (lines, places)
}

/// As a query has it, and behind it what there is to know.
fn condition(found: &Found<'_>, sight: &Sight<'_>) -> String {
    let (dataset, field) = (name(&found.entity.name), name(&found.field.name));
    let line = format!("{dataset}.{field} = {}", literal(found.value, found.field.datatype));
    let mut notes: Vec<String> = found.called.iter().map(|called| format!("called {}", one_line(called, 60))).collect();
    if found.is_slip() {
        notes.push("spelt nearly so".into());
    }
    let leads = |it: &&Relationship| it.to.eq_ignore_ascii_case(&found.entity.name);
    let ways: Vec<String> = sight
        .ontology
        .relationships
        .iter()
        .filter(leads)
        .filter_map(|one| Some(format!("{}.{dataset}.{field}", way(one, sight.ontology)?)))
        .collect();
    if !ways.is_empty() {
        notes.push(format!("from another dataset {}", ways.join(" or ")));
    }
    if notes.is_empty() { line } else { format!("{line}  -- {}", notes.join("; ")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::agent::near::{Sought, find};
    use crate::engine::agent::planner::FieldValues;
    use crate::model::ontology::{DataType, Entity, Field, Ontology};

    fn field(name: &str) -> Field {
        Field { name: name.into(), expression: name.into(), datatype: DataType::String, ..Field::default() }
    }

    fn relationship(name: &str, role: &str) -> Relationship {
        Relationship {
            name: name.into(),
            from: "flight".into(),
            to: "airport".into(),
            from_columns: vec![name.into()],
            to_columns: vec!["faa".into()],
            role: Some(role.into()),
            ..Relationship::default()
        }
    }

    fn ontology() -> Ontology {
        let called = [("JFK".to_owned(), vec!["Kennedy".to_owned()])];
        let origin = Field { value_synonyms: called.into(), is_enum: true, ..field("origin") };
        let level = Field { datatype: DataType::Integer, ..field("level") };
        let pilot = Field { pii: Some("name".into()), index_values: true, ..field("pilot") };
        let secret = Field { hidden: true, ..field("secret") };
        let flight = Entity { name: "flight".into(), fields: vec![origin, level, pilot, secret], ..Entity::default() };
        let airport = Entity { name: "airport".into(), fields: vec![field("name")], ..Entity::default() };
        let relationships = vec![relationship("flight_from", "origin"), relationship("flight_to", "destination")];
        Ontology { datasets: vec![flight, airport], relationships, ..Ontology::default() }
    }

    fn found(text: &str) -> Vec<String> {
        let ontology = ontology();
        let known = |dataset: &str, field: &str, values: &[&str]| FieldValues {
            dataset: dataset.into(),
            field: field.into(),
            values: values.iter().map(|value| (*value).into()).collect(),
            complete: true,
        };
        let values = [
            known("flight", "origin", &["EWR", "JFK", "LGA"]),
            known("flight", "level", &["1", "2", "3"]),
            known("flight", "pilot", &["Ada Kennedy", "Bo Lane"]),
            known("airport", "name", &["John F Kennedy Intl Airport", "O'Hare Airport", "Honolulu Airport"]),
        ];
        let sight = Sight {
            ontology: &ontology,
            values: &values,
            extents: Default::default(),
            dialect: crate::model::source::Dialect::DuckDb,
        };
        let names: BTreeSet<String> = ["flight", "airport"].map(str::to_owned).into();
        lines(&find(&Sought::new(text, &[], &names), &names, (&ontology, &values)), &sight).0
    }

    #[test]
    fn a_value_is_found_by_itself_by_what_it_is_called_and_by_its_words() {
        let kennedy = found("delays at Kennedy");
        assert_eq!(kennedy.len(), 2, "{kennedy:?}");
        assert_eq!(kennedy[0], "flight.origin = 'JFK'  -- called Kennedy");
        let ways = "from another dataset origin.airport.name or destination.airport.name";
        assert_eq!(kennedy[1], format!("airport.name = 'John F Kennedy Intl Airport'  -- {ways}"));
        assert_eq!(found("flights from ewr"), ["flight.origin = 'EWR'"]);
        assert!(found("o'hare")[0].starts_with("airport.name = 'O''Hare Airport'"));
        assert!(found("top 3 flights").is_empty(), "a number is a value only by itself");
        assert_eq!(found("3"), ["flight.level = 3"]);
    }

    #[test]
    fn names_of_the_ontology_are_no_part_of_a_value() {
        assert!(found("airport").is_empty(), "every airport has it in its name");
    }

    #[test]
    fn a_misspelt_value_is_found_where_nothing_else_is() {
        assert!(found("Honolulo")[0].contains("'Honolulu Airport'  -- spelt nearly so"));
        assert!(found("Hanover").is_empty());
    }

    #[test]
    fn personal_values_are_found_by_who_names_them_in_full() {
        assert_eq!(found("flights of Ada Kennedy")[0], "flight.pilot = 'Ada Kennedy'");
        for text in ["Lane", "Bo", "Bo Lan", "Ada"] {
            assert!(!found(text).iter().any(|line| line.contains("pilot")), "{text}");
        }
    }
}
