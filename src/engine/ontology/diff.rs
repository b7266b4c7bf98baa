//! What changed between two versions of an ontology, for people.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::model::ontology::{Entity, Ontology};

/// Changes from `old` to `new`, a sentence each, in the order of the model; things are the same when their names are,
/// without regard to case.
pub fn diff(old: &Ontology, new: &Ontology) -> Vec<String> {
    let mut lines = Vec::new();
    let head = |ontology: &Ontology| Ontology {
        segments: Vec::new(),
        glossary: Vec::new(),
        verified_queries: Vec::new(),
        datasets: Vec::new(),
        relationships: Vec::new(),
        metrics: Vec::new(),
        ..ontology.clone()
    };
    changed(&mut lines, "The ontology", &head(old), &head(new));
    for (name, old, new) in pairs(&old.datasets, &new.datasets, |entity| &entity.name) {
        let what = format!("The dataset `{name}`");
        let (Some(old), Some(new)) = (old, new) else {
            lines.push(came_or_went(&what, new.is_some()));
            continue;
        };
        let bare = |entity: &Entity| Entity { fields: Vec::new(), ..entity.clone() };
        changed(&mut lines, &what, &bare(old), &bare(new));
        list(&mut lines, &old.fields, &new.fields, |field| &field.name, |field| format!("The field `{name}.{field}`"));
    }
    let named = |kind: &'static str| move |name: &str| format!("The {kind} `{name}`");
    list(&mut lines, &old.relationships, &new.relationships, |one| &one.name, named("relationship"));
    list(&mut lines, &old.metrics, &new.metrics, |one| &one.name, named("metric"));
    list(&mut lines, &old.segments, &new.segments, |one| &one.name, named("segment"));
    list(&mut lines, &old.glossary, &new.glossary, |one| &one.term, named("term"));
    list(&mut lines, &old.verified_queries, &new.verified_queries, |one| &one.question, named("verified question"));
    lines
}

fn list<T: Serialize>(
    lines: &mut Vec<String>,
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &String,
    what: impl Fn(&str) -> String,
) {
    for (name, old, new) in pairs(old, new, name) {
        match (old, new) {
            (Some(old), Some(new)) => changed(lines, &what(name), old, new),
            (_, new) => lines.push(came_or_went(&what(name), new.is_some())),
        }
    }
}

fn came_or_went(what: &str, came: bool) -> String {
    format!("{what} was {}.", if came { "added" } else { "removed" })
}

/// Things of both sides by name: those of the new side in its order, then what only the old side has.
fn pairs<'t, T>(
    old: &'t [T],
    new: &'t [T],
    name: impl Fn(&T) -> &String,
) -> Vec<(&'t String, Option<&'t T>, Option<&'t T>)> {
    let by_name =
        |side: &'t [T]| -> BTreeMap<String, &'t T> { side.iter().map(|one| (name(one).to_lowercase(), one)).collect() };
    let (before, after) = (by_name(old), by_name(new));
    let known = new.iter().map(|one| (name(one), before.get(&name(one).to_lowercase()).copied(), Some(one)));
    let gone = old.iter().filter(|one| !after.contains_key(&name(one).to_lowercase()));
    known.chain(gone.map(|one| (name(one), Some(one), None))).collect()
}

/// Names the parts that are not the same.
fn changed<T: Serialize>(lines: &mut Vec<String>, what: &str, old: &T, new: &T) {
    let (Ok(old), Ok(new)) = (serde_json::to_value(old), serde_json::to_value(new)) else { return };
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return };
    let parts: Vec<String> = new
        .iter()
        .filter(|(key, value)| old.get(*key) != Some(value))
        .map(|(key, value)| match (old.get(key), value) {
            (Some(before), after) if is_short(before) && is_short(after) => {
                format!("{} from {} to {}", key.replace('_', " "), shown(before), shown(after))
            }
            _ => key.replace('_', " "),
        })
        .collect();
    if !parts.is_empty() {
        lines.push(format!("{what} changed: {}.", parts.join(", ")));
    }
}

fn is_short(value: &Value) -> bool {
    !value.is_object() && !value.is_array() && value.to_string().chars().count() <= 80
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) if text.is_empty() => "nothing".into(),
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ontology::read::read;

    const RICH: &str = include_str!("../../../tests/data/ossie/insurance.yaml");

    fn between(from: &str, to: &str) -> Vec<String> {
        assert!(RICH.contains(from), "{from}");
        diff(&read(RICH).unwrap().ontology, &read(&RICH.replacen(from, to, 1)).unwrap().ontology)
    }

    #[test]
    fn every_change_is_said_once() {
        assert_eq!(between("claims", "claims"), [""; 0]);
        for (from, to, expected) in [
            ("currency: USD", "currency: EUR", "The ontology changed: currency from `USD` to `EUR`."),
            (
                "label: Open date",
                "label: Opened",
                "The field `claim.claim_open_date` changed: label from `Open date` to `Opened`.",
            ),
            ("grain: claim\n", "grain: case\n", "The dataset `claim` changed: grain from `claim` to `case`."),
            ("C: [closed]", "C: [shut]", "The field `claim.status` changed: value synonyms."),
            (
                "optional: false",
                "optional: true",
                "The relationship `claim_amount_to_claim` changed: optional from false to true.",
            ),
            (
                "SUM(claim_amount.amount)",
                "AVG(claim_amount.amount)",
                "The metric `loss_amount` changed: expression from `SUM(claim_amount.amount)` to `AVG(claim_amount.amount)`, additivity from `additive` to `non_additive`.",
            ),
            (
                "means: loss_amount",
                "means: claim_count",
                "The term `losses` changed: means from `loss_amount` to `claim_count`.",
            ),
        ] {
            assert_eq!(between(from, to), [expected], "{to}");
        }
    }

    #[test]
    fn what_came_and_went_is_said() {
        let renamed = between("name: claim_count\n", "name: cases\n");
        assert_eq!(renamed, ["The metric `cases` was added.", "The metric `claim_count` was removed."]);
        // Another case is the same name, and a change of it.
        let cased = between("- name: claim_count\n", "- name: Claim_Count\n");
        assert_eq!(cased, ["The metric `Claim_Count` changed: name from `claim_count` to `Claim_Count`."]);
    }
}
