//! What of an ontology is left when columns of its tables are hidden from who reads it: nothing that reads one of them, and
//! no words that name one.

use std::collections::{BTreeMap, HashSet};

use super::expression::{Aggregate, Reference, Scalar};
use super::visible::{has_any, standing};
use crate::model::ontology::{AiContext, Entity, Metric, Ontology};

/// The part of an ontology that reads no hidden column. `hidden` are the names of hidden columns by tables, both in lower
/// case. A dataset whose rows are chosen by a hidden column goes as a whole: without the choice it would be another one.
pub(super) fn without(ontology: &Ontology, hidden: &BTreeMap<String, Vec<String>>) -> Ontology {
    let mut part = ontology.clone();
    let of = |entity: &Entity| hidden.get(&entity.table().to_lowercase());
    let mut gone: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for entity in &mut part.datasets {
        let Some(columns) = of(entity) else { continue };
        gone.insert(entity.name.to_lowercase(), emptied(entity, columns));
    }
    let reads = |scalar: &str, of: Option<&str>| {
        Scalar::parse(scalar).map_or(true, |it| it.refs().iter().any(|one| is_gone(&gone, one, of)))
    };
    part.datasets.retain(|it| !it.row_policy.as_ref().is_some_and(|policy| reads(policy, Some(&it.name))));
    let kept: HashSet<String> = part.datasets.iter().map(|entity| entity.name.to_lowercase()).collect();
    let is_kept = |name: &str| kept.contains(&name.to_lowercase());
    let names = |dataset: &str, columns: &[String]| {
        gone.get(&dataset.to_lowercase()).is_some_and(|gone| columns.iter().any(|it| gone.contains(&it.to_lowercase())))
    };
    part.relationships.retain(|it| is_kept(&it.from) && is_kept(&it.to));
    part.relationships.retain(|it| !names(&it.from, &it.from_columns) && !names(&it.to, &it.to_columns));
    part.refused.clear();
    part.segments.retain(|it| it.datasets.iter().all(|dataset| is_kept(dataset)) && !reads(&it.expression, None));
    let stays = |metric: Metric| {
        let aggregate = Aggregate::parse(&metric.expression).ok()?;
        let of_kept = |one: &Reference| one.dataset.as_deref().is_none_or(is_kept);
        let stays = aggregate.refs().iter().all(|one| of_kept(one) && !is_gone(&gone, one, None))
            && !metric.filters.iter().any(|filter| reads(filter, None));
        stays.then_some((metric, aggregate))
    };
    let metrics = std::mem::take(&mut part.metrics).into_iter().filter_map(stays).collect();
    part.metrics = standing(metrics).into_iter().map(|(metric, _)| metric).collect();
    for metric in &mut part.metrics {
        let is_open = |field: &String| {
            field.split_once('.').is_some_and(|(dataset, name)| is_kept(dataset) && !names(dataset, &[name.to_owned()]))
        };
        metric.default_time_field = metric.default_time_field.take().filter(is_open);
    }
    // Questions and terms may be about anything.
    part.verified_queries.clear();
    unsay(&mut part, &words(&gone));
    part
}

/// Takes from an entity what reads hidden columns; gives their names and those of the fields that went with them.
fn emptied(entity: &mut Entity, columns: &[String]) -> HashSet<String> {
    let mut gone: HashSet<String> = columns.iter().map(|name| name.to_lowercase()).collect();
    // A field may rest on another that is gone.
    loop {
        let before = entity.fields.len();
        entity.fields.retain(|field| {
            let refs =
                Scalar::parse(&field.expression).map(|it| it.refs().iter().map(|it| it.name.to_lowercase()).collect());
            let stays = refs.is_ok_and(|refs: Vec<String>| !refs.iter().any(|name| gone.contains(name)));
            if !stays {
                gone.insert(field.name.to_lowercase());
            }
            stays
        });
        if entity.fields.len() == before {
            break;
        }
    }
    let has = |name: &String| gone.contains(&name.to_lowercase());
    if entity.primary_key.iter().any(has) {
        entity.primary_key.clear();
    }
    entity.unique_keys.retain(|key| !key.iter().any(has));
    entity.default_time_field = entity.default_time_field.take().filter(|field| !has(field));
    entity.label_field = entity.label_field.take().filter(|field| !has(field));
    gone
}

/// Whether an expression's reference is to what is gone; one that does not say its dataset is to any of them.
fn is_gone(gone: &BTreeMap<String, HashSet<String>>, one: &Reference, of: Option<&str>) -> bool {
    let name = one.name.to_lowercase();
    match one.dataset.as_deref().or(of) {
        Some(dataset) => gone.get(&dataset.to_lowercase()).is_some_and(|names| names.contains(&name)),
        None => gone.values().any(|names| names.contains(&name)),
    }
}

/// The names of what is gone, as they are said.
fn words(gone: &BTreeMap<String, HashSet<String>>) -> Vec<String> {
    let said = |name: &String| {
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    };
    gone.values().flatten().map(said).filter(|name| !name.is_empty()).collect()
}

/// Clears every free text that names what is gone.
fn unsay(part: &mut Ontology, names: &[String]) {
    let text = |text: &mut String| {
        if has_any(text, names) {
            text.clear();
        }
    };
    let ai = |it: &mut AiContext| {
        text(&mut it.instructions);
        it.synonyms.retain(|word| !has_any(word, names));
        it.examples.retain(|example| !has_any(example, names));
    };
    text(&mut part.description);
    ai(&mut part.ai);
    for entity in &mut part.datasets {
        text(&mut entity.description);
        ai(&mut entity.ai);
        for field in &mut entity.fields {
            text(&mut field.description);
            ai(&mut field.ai);
        }
    }
    part.relationships.iter_mut().for_each(|it| ai(&mut it.ai));
    for metric in &mut part.metrics {
        text(&mut metric.description);
        ai(&mut metric.ai);
    }
    part.glossary.retain(|term| !has_any(&term.term, names) && !has_any(&term.means, names));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::{Field, Segment, Term};

    #[test]
    fn nothing_that_reads_a_hidden_column_is_left_and_nothing_that_names_it() {
        let field = |name: &str, expression: &str| Field {
            name: name.into(),
            expression: expression.into(),
            ..Field::default()
        };
        let metric = |name: &str, expression: &str| Metric {
            name: name.into(),
            expression: expression.into(),
            ..Metric::default()
        };
        let staff = Entity {
            name: "staff".into(),
            source: "w.people".into(),
            description: "People; base_pay is monthly".into(),
            primary_key: vec!["id".into()],
            unique_keys: vec![vec!["Base_Pay".into()]],
            label_field: Some("wage".into()),
            fields: vec![
                field("town", "town"),
                field("wage", "staff.BASE_PAY"),
                field("yearly", "wage * 12"),
                field("grade", "UPPER(grade)"),
            ],
            ..Entity::default()
        };
        let ontology = Ontology {
            datasets: vec![
                Entity {
                    name: "rich".into(),
                    source: "w.people".into(),
                    row_policy: Some("rich.base_pay > 9".into()),
                    ..Entity::default()
                },
                staff,
            ],
            metrics: vec![
                metric("heads", "COUNT(staff.id)"),
                metric("cost", "SUM(staff.base_pay)"),
                metric("cost_each", "cost / heads"),
                metric("unsaid", "SUM(base_pay)"),
                Metric { filters: vec!["staff.yearly > 3".into()], ..metric("some", "COUNT(staff.id)") },
                Metric { description: "Not the base pay".into(), ..metric("towns", "COUNT(DISTINCT staff.town)") },
            ],
            segments: vec![Segment {
                name: "paid".into(),
                synonyms: vec![],
                expression: "staff.wage > 0".into(),
                datasets: vec!["staff".into()],
            }],
            glossary: [("pay", "staff.wage"), ("place", "staff.town")]
                .map(|(term, means)| Term { term: term.into(), means: means.into() })
                .to_vec(),
            ..Ontology::default()
        };
        let hidden = BTreeMap::from([("people".to_owned(), vec!["base_pay".to_owned()])]);
        let part = without(&ontology, &hidden);
        let said = serde_json::to_string(&part).unwrap().to_lowercase();
        for word in ["base_pay", "base pay", "wage", "yearly", "rich", "cost", "unsaid", "paid"] {
            assert!(!said.contains(word), "{word}: {said}");
        }
        let metrics: Vec<&str> = part.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(metrics, ["heads", "towns"]);
        assert_eq!(
            part.datasets[0].fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(),
            ["town", "grade"]
        );
        assert_eq!(part.glossary.len(), 1);
        assert_eq!(without(&ontology, &BTreeMap::new()).metrics.len(), 6, "nothing is hidden");
    }
}
