use super::*;
use crate::model::ontology::{Entity, Field, Metric, Segment, Term};

fn field(name: &str, label: &str) -> Field {
    Field { name: name.into(), label: label.into(), ..Field::default() }
}

/// Books on shelves.
fn library() -> (Ontology, Values) {
    let book = Entity {
        name: "library_book".into(),
        grain: Some("book".into()),
        fields: vec![field("book_title", ""), field("lent_date", ""), field("late_fee", ""), field("secret", "")],
        ..Entity::default()
    };
    let mut hidden = book.clone();
    hidden.fields[3].hidden = true;
    let archive = Entity { name: "archive".into(), hidden: true, ..Entity::default() };
    let ontology = Ontology {
        datasets: vec![hidden, archive],
        metrics: vec![Metric { name: "total_fees".into(), ..Metric::default() }],
        segments: vec![Segment {
            name: "overdue books".into(),
            synonyms: vec![],
            expression: String::new(),
            datasets: vec!["library_book".into()],
        }],
        glossary: vec![Term { term: "tome".into(), means: "book".into() }],
        ..Ontology::default()
    };
    let titles = ["War and Peace", "The Trial", "Emma"].map(str::to_owned).to_vec();
    let values = vec![FieldValues {
        dataset: "library_book".into(),
        field: "book_title".into(),
        values: titles,
        complete: true,
    }];
    (ontology, values)
}

/// The best sense of the longest phrase that these words begin with, and how many words it has.
fn best(words: &[&str]) -> Option<(Sense, usize)> {
    let (ontology, values) = library();
    let lexicon = Lexicon::build(&ontology, &values);
    let found = lexicon.matches(words, &vec![true; words.len()]).into_iter().next_back()?;
    Some((found.entries[0].sense.clone(), found.words))
}

#[test]
fn names_labels_and_parts_of_them_are_found() {
    for (words, expected) in [
        (&["book"][..], Some((Sense::Entity(0), 1))),
        (&["books"], Some((Sense::Entity(0), 1))),
        (&["library", "books"], Some((Sense::Entity(0), 2))),
        (&["tomes"], Some((Sense::Entity(0), 1))),
        (&["book", "title"], Some((Sense::Field(0, 0), 2))),
        (&["titles"], Some((Sense::Field(0, 0), 1))),
        // "lent" of "lent date".
        (&["lent"], Some((Sense::Field(0, 1), 1))),
        (&["late", "fee"], Some((Sense::Field(0, 2), 2))),
        // "total fees" is the better sense of a single fee than a part of "late fee".
        (&["fee"], Some((Sense::Metric(0), 1))),
        (&["fees"], Some((Sense::Metric(0), 1))),
        (&["overdue"], Some((Sense::Segment(0), 1))),
        (&["war", "and", "peace"], Some((Sense::Value { dataset: 0, field: 0, value: "War and Peace".into() }, 3))),
        (&["secret"], None),
        (&["archive"], None),
        (&["war", "and"], None),
    ] {
        assert_eq!(best(words), expected, "{words:?}");
    }
}

#[test]
fn misspelt_words_are_found_and_corrected() {
    let (ontology, values) = library();
    let lexicon = Lexicon::build(&ontology, &values);
    for (word, right) in [("tilte", "title"), ("boook", "book"), ("overdeu", "overdue"), ("overduuu", "overdue")] {
        let found = lexicon.matches(&[word], &[true]);
        assert_eq!(found.first().and_then(|found| found.corrected.as_deref()), Some(right), "{word}");
    }
    // Too short, too far, a code, or not to be corrected.
    for (word, fuzzy) in [("fe", true), ("fex", true), ("bxxk", true), ("tit1e", true), ("tilte", false)] {
        assert!(lexicon.matches(&[word], &[fuzzy]).is_empty(), "{word}");
    }
}

#[test]
fn what_is_near_is_said() {
    let (ontology, values) = library();
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!(lexicon.near("titel", &ontology)[0], "book title");
    assert_eq!(lexicon.near("zzzzzz", &ontology), ["total fees", "book"]);
    assert_eq!(lexicon.near_values(0, 0, "Ema")[0], "Emma");
    assert_eq!((lexicon.indexed(0, 0), lexicon.indexed(0, 1)), (Some(true), None));
}

#[test]
fn many_names_and_values_are_built_in_little_time() {
    let fields = (0..20).map(|at| field(&format!("field_{at}_amount"), "")).collect::<Vec<_>>();
    let datasets =
        (0..1_000).map(|at| Entity { name: format!("dataset_{at}"), fields: fields.clone(), ..Entity::default() });
    let ontology = Ontology { datasets: datasets.collect(), ..Ontology::default() };
    let values = (0..20)
        .map(|at| FieldValues {
            dataset: format!("dataset_{at}"),
            field: "field_0_amount".into(),
            values: (0..10_000).map(|value| format!("value {at} {value}")).collect(),
            complete: false,
        })
        .collect();
    let begun = std::time::Instant::now();
    let lexicon = Lexicon::build(&ontology, &values);
    // Well under a second when optimised: only what grows with the square is caught here.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(lexicon.matches(&["value", "7", "9999"], &[true; 3]).last().map(|found| found.words), Some(3));
}
