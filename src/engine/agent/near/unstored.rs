//! Texts in the conditions of a plan that no row holds, and the stored values that come near.

use super::alike::{ALIKE, best};
use super::values::known;
use super::words::in_name;
use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::{DataType, Field, Ontology};
use crate::model::personal::is_personal;
use crate::model::plan::{Comparator, Condition, FieldRef, Literal, Node, Plan};
use crate::model::source::text_literal;

/// Most texts that are told, and most values that come near one.
const MOST: usize = 3;
const MOST_NEAR: usize = 4;

/// So many values are all told where none of them comes near.
const FEW: usize = 8;

/// Longer values are not offered, in bytes.
const LONGEST: usize = 60;

/// How alike whole texts are that are taken for one another (Jaro-Winkler).
const WHOLE: f64 = 0.8;

/// One sentence for each text that a condition compares a field with and that is none of the field's values, where all
/// of these are known: "No carrier.name is 'Emirates'; nearest: 'Endeavor Air Inc.'." Of personal values nothing is told.
pub(in crate::engine::agent) fn unstored(plan: &Plan, ontology: &Ontology, values: &[FieldValues]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (at, text) in compared(plan) {
        let Some(entity) = ontology.entity(&at.dataset).filter(|entity| !entity.hidden) else { continue };
        let Some(field) = entity.field(&at.field).filter(|field| is_told(field)) else { continue };
        let all = known(values, entity, field).filter(|known| known.complete && !known.values.contains(text));
        let Some(all) = all else { continue };
        let sentence = format!("No {}.{} is {}{}.", entity.name, field.name, quoted(text), instead(text, field, all));
        if !said.contains(&sentence) {
            said.push(sentence);
        }
        if said.len() == MOST {
            break;
        }
    }
    said
}

fn is_told(field: &Field) -> bool {
    !field.hidden && field.datatype == DataType::String && !is_personal(field)
}

/// The texts that fields are equal to, or not.
fn compared(plan: &Plan) -> Vec<(&FieldRef, &String)> {
    let mut found = Vec::new();
    for node in plan.nodes() {
        match node {
            Node::Condition(Condition::Compare {
                field,
                op: Comparator::Equal | Comparator::NotEqual,
                value: Literal::Text(text),
            }) => found.push((field, text)),
            Node::Condition(Condition::In { field, values, .. }) => {
                found.extend(values.iter().filter_map(|value| match value {
                    Literal::Text(text) => Some((field, text)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    found
}

/// What to say instead of a text.
fn instead(text: &str, field: &Field, all: &FieldValues) -> String {
    let lower = text.to_lowercase();
    let words = in_name(text);
    let short = || all.values.iter().filter(|value| value.len() <= LONGEST);
    let mut near: Vec<(f64, &String)> = Vec::new();
    for value in short().filter(|_| text.len() <= LONGEST) {
        let called = field.value_synonyms.get(value).into_iter().flatten();
        let by_words = best(&words, called.chain([value]).map(String::as_str));
        let whole = strsim::jaro_winkler(&lower, &value.to_lowercase());
        if by_words >= ALIKE || whole >= WHOLE {
            near.push((by_words + whole, value));
        }
    }
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    let listed = |values: &[&String]| values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ");
    let near: Vec<&String> = near.into_iter().take(MOST_NEAR).map(|(_, value)| value).collect();
    let few: Vec<&String> = short().collect();
    match (near.as_slice(), all.values.len()) {
        ([], 0) => "; no row has a value of it".into(),
        ([], 1..=FEW) if few.len() == all.values.len() => format!("; there are: {}", listed(&few)),
        ([], _) => String::new(),
        (near, _) => format!("; nearest: {}", listed(near)),
    }
}

fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    text_literal(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::Entity;

    fn field(name: &str) -> Field {
        Field { name: name.into(), expression: name.into(), datatype: DataType::String, ..Field::default() }
    }

    fn said(name: &str, texts: &[&str]) -> Vec<String> {
        let origin =
            Field { value_synonyms: [("JFK".to_owned(), vec!["Kennedy".to_owned()])].into(), ..field("origin") };
        let pilot = Field { pii: Some("name".into()), index_values: true, ..field("pilot") };
        let flight = Entity {
            name: "flight".into(),
            fields: vec![origin, field("line"), pilot, field("tail")],
            ..Entity::default()
        };
        let ontology = Ontology { datasets: vec![flight], ..Ontology::default() };
        let known = |field: &str, values: &[&str], complete| FieldValues {
            dataset: "flight".into(),
            field: field.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            complete,
        };
        let lines: Vec<String> = (0..20).map(|at| format!("Line {at}")).chain(["O'Hare Air Inc.".into()]).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let values = [
            known("origin", &["EWR", "JFK"], true),
            known("line", &lines, true),
            known("pilot", &["Ada Lane"], true),
            known("tail", &["N1"], false),
        ];
        let values_of = texts.iter().map(|text| Literal::Text((*text).to_owned())).collect();
        let filter = Condition::In { field: FieldRef::new("flight", name), values: values_of, negated: false };
        let plan = Plan { filters: vec![Condition::Not(Box::new(filter))], ..Plan::default() };
        unstored(&plan, &ontology, &values)
    }

    #[test]
    fn a_text_that_is_not_stored_is_told_with_what_comes_near() {
        assert_eq!(said("origin", &["JFK", "jfk"]), ["No flight.origin is 'jfk'; nearest: 'JFK'."]);
        assert_eq!(said("origin", &["Kennedy"]), ["No flight.origin is 'Kennedy'; nearest: 'JFK'."]);
        assert_eq!(said("origin", &["XYZ"]), ["No flight.origin is 'XYZ'; there are: 'EWR', 'JFK'."]);
        assert_eq!(said("line", &["O'Hara Air"]), ["No flight.line is 'O''Hara Air'; nearest: 'O''Hare Air Inc.'."]);
        assert_eq!(said("line", &["Emirates"]), ["No flight.line is 'Emirates'."]);
        assert_eq!(said("line", &["a", "b", "c", "d"]).len(), MOST);
    }

    #[test]
    fn nothing_is_told_of_personal_values_and_of_fields_that_are_not_known_whole() {
        assert_eq!(said("pilot", &["Ada Lan"]), [""; 0]);
        assert_eq!(said("tail", &["N2"]), [""; 0]);
    }
}
