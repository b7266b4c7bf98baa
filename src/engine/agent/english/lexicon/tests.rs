use super::*;
use crate::engine::agent::planner::MOST_CHARS;
use crate::model::ontology::{Entity, Field, Metric, Segment, Term};

fn field(name: &str, label: &str) -> Field {
    Field { name: name.into(), label: label.into(), ..Field::default() }
}

/// Books on shelves.
fn library() -> (Ontology, Vec<FieldValues>) {
    let mut hidden = Entity {
        name: "library_book".into(),
        grain: Some("book".into()),
        fields: vec![field("book_title", ""), field("lent_date", ""), field("late_fee", ""), field("secret", "")],
        ..Entity::default()
    };
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
    // A rate is never a misspelt date.
    let when = Entity { name: "loan".into(), fields: vec![field("date", "")], ..Entity::default() };
    let dated = Lexicon::build(&Ontology { datasets: vec![when], ..Ontology::default() }, &Vec::new());
    assert!(dated.matches(&["rate"], &[true]).is_empty() && !dated.matches(&["dste"], &[true]).is_empty());
    // Too short, too far, a code, or not to be corrected.
    for (word, fuzzy) in [("fe", true), ("fex", true), ("bxxk", true), ("tit1e", true), ("tilte", false)] {
        assert!(lexicon.matches(&[word], &[fuzzy]).is_empty(), "{word}");
    }
}

#[test]
fn an_everyday_word_is_no_misspelt_value() {
    let (ontology, mut values) = library();
    values[0].values = ["Linz", "Graz", "United Kingdom"].map(str::to_owned).to_vec();
    let lexicon = Lexicon::build(&ontology, &values);
    let read_as = |words: &[&str]| {
        lexicon.matches(words, &vec![true; words.len()]).into_iter().next_back().and_then(|found| found.corrected)
    };
    for word in ["line", "lines", "grab"] {
        assert_eq!(read_as(&[word]), None, "{word}");
    }
    assert_eq!(read_as(&["linx"]).as_deref(), Some("linz"));
    // What stands beside it says that it is one, and a name is told who misspells it.
    assert_eq!(read_as(&["untied", "kingdom"]).as_deref(), Some("united kingdom"));
    assert_eq!(read_as(&["boot"]).as_deref(), Some("book"));
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
    let values: Vec<FieldValues> = (0..20)
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

#[test]
fn long_values_are_left_out_and_cost_nothing() {
    let (ontology, mut values) = library();
    values[0].values.push("x".repeat(1_500_000));
    values[0].values.push("é".repeat(MOST_CHARS));
    values[0].values.push("é".repeat(MOST_CHARS + 1));
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!(lexicon.indexed(0, 0), Some(false), "there are others");
    assert!(lexicon.has_value(0, 0, "Emma") && lexicon.has_value(0, 0, &"é".repeat(MOST_CHARS)));
    assert!(!lexicon.has_value(0, 0, &"é".repeat(MOST_CHARS + 1)));
    assert!(lexicon.bytes() < 100_000, "{} bytes", lexicon.bytes());
    // A text of 1,900 letters is compared with nothing; what there is is still said.
    assert_eq!(lexicon.nearest(0, 0, &"y".repeat(1_900)).1, 0);
    assert_eq!(lexicon.near_values(0, 0, &"y".repeat(1_900))[..2], ["War and Peace", "The Trial"]);
    assert_eq!(lexicon.near(&"y".repeat(1_900), &ontology), ["total fees", "book"]);
}

#[test]
fn comparing_with_very_many_values_is_bounded() {
    let (ontology, mut values) = library();
    values[0].values = (0..10_000).map(|at| format!("{at:064}")).collect();
    let lexicon = Lexicon::build(&ontology, &values);
    // Each would take 66 x 66 cells: of the 43,560,000 in all, at most ten million are filled.
    let (near, cells) = lexicon.nearest(0, 0, &"7".repeat(64));
    assert_eq!(near, values[0].values[..5], "none is alike, so that the first are told");
    assert!((9_990_000..=10_000_000).contains(&cells), "{cells}");
}

#[test]
fn values_are_found_by_words_in_them_in_the_same_order_each_time() {
    let (ontology, mut values) = library();
    let titles = ["The Long Trial", "A Trial", "Trial", "Trial and Error", "Trials", "Error and Trial"];
    values[0].values = titles.map(str::to_owned).to_vec();
    let lexicon = Lexicon::build(&ontology, &values);
    let found = |said: &[&str]| -> Vec<String> {
        let said: Vec<String> = said.iter().map(|word| (*word).to_owned()).collect();
        let entries = lexicon.containing(&said, &Effort::default());
        let value = |entry: Entry| match entry.sense {
            Sense::Value { value, .. } => value,
            other => format!("{other:?}"),
        };
        entries.into_iter().map(value).collect()
    };
    // "Trial" is all of one value, and "Trials" is another word.
    assert_eq!(found(&["trial"]), ["A Trial", "Error and Trial", "The Long Trial", "Trial and Error"]);
    assert_eq!(found(&["trial", "and"]), ["Trial and Error"]);
    assert_eq!(found(&["long", "trial"]), ["The Long Trial"]);
    assert!(found(&["trial", "long"]).is_empty() && found(&["peace"]).is_empty() && found(&["a", "trial"]).is_empty());
}

#[test]
fn words_that_stand_in_very_many_values_take_little_work() {
    let (ontology, mut values) = library();
    values[0].values = (0..9_000).map(|at| format!("Street {at} North")).collect();
    let lexicon = Lexicon::build(&ontology, &values);
    let effort = Effort::default();
    let said = |words: [&str; 2]| words.map(str::to_owned);
    assert!(lexicon.containing(&said(["street", "north"]), &effort).is_empty());
    assert_eq!(effort.spent(), 1_000, "no word of them tells values apart");
    assert_eq!(lexicon.containing(&said(["street", "77"]), &effort).len(), 1);
    assert_eq!(effort.spent(), 1_001, "the rarest word leads to it");
}

#[test]
fn personal_values_are_understood_and_told_nobody() {
    let (mut ontology, mut values) = library();
    ontology.datasets[0].fields[0].pii = Some("name".into());
    values[0].values = vec!["Ada Berg".into(), "Ada Lund".into()];
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!(lexicon.matches(&["ada", "berg"], &[false; 2]).len(), 1);
    assert!(lexicon.near_values(0, 0, "Ada Bergg").is_empty());
    assert!(lexicon.containing(&["ada".into()], &Effort::default()).is_empty());
}

/// Texts that differ only in their signs: `foo.`, `foo!`, `foo.!` and so on.
fn in_signs(count: usize) -> Vec<String> {
    let signs =
        |at: usize| format!("{:b}", at + 2).chars().skip(1).map(|bit| if bit == '0' { '.' } else { '!' }).collect();
    (0..count).map(|at| format!("foo{}", String::from_iter::<Vec<char>>(signs(at)))).collect()
}

/// How many things are kept of a phrase of one word.
fn kept(lexicon: &Lexicon, word: &str) -> usize {
    let node = lexicon.store.word(word).and_then(|word| lexicon.store.step(Store::ROOT, word));
    node.map_or(0, |node| lexicon.store.leaves(node).len())
}

#[test]
fn of_values_that_differ_only_in_signs_a_few_are_kept() {
    let (ontology, mut values) = library();
    values[0].values = in_signs(40);
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!((kept(&lexicon, "foo"), lexicon.indexed(0, 0)), (40, Some(true)));

    values[0].values = in_signs(10_000);
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!((kept(&lexicon, "foo"), lexicon.indexed(0, 0)), (41, Some(false)));
    let found = lexicon.matches(&["foo", "foo"], &[false; 2]);
    assert_eq!(found.iter().map(|found| (found.words, found.entries.len())).collect::<Vec<_>>(), [(1, 40)]);
    assert!(lexicon.has_value(0, 0, "foo!!!!"), "it is stored all the same");
}

#[test]
fn of_values_that_are_called_the_same_a_few_are_kept() {
    let (mut ontology, values) = library();
    let called = |at: usize| (format!("code {at}"), vec!["foo".to_owned()]);
    ontology.datasets[0].fields[0].value_synonyms = (0..10_000).map(called).collect();
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!((kept(&lexicon, "foo"), lexicon.indexed(0, 0)), (41, Some(false)));
    assert_eq!(lexicon.matches(&["code", "77"], &[false; 2]).last().map(|found| found.words), Some(2));
}

/// The same value is told once, also where what people call it is said beside it.
#[test]
fn a_value_is_kept_once() {
    let (mut ontology, values) = library();
    ontology.datasets[0].fields[0].value_synonyms = [("Emma".to_owned(), vec!["emma".to_owned()])].into();
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!(kept(&lexicon, "emma"), 1);
}

#[test]
fn a_whole_name_stands_out_from_very_many_of_which_it_is_a_part() {
    let kind = |at: usize| Entity {
        name: format!("kind_{at}"),
        fields: vec![field(&format!("part{at}_weight"), "")],
        ..Entity::default()
    };
    let mut datasets: Vec<Entity> = (0..500).map(kind).collect();
    datasets.push(Entity { name: "thing".into(), fields: vec![field("weight", "")], ..Entity::default() });
    let lexicon = Lexicon::build(&Ontology { datasets, ..Ontology::default() }, &Vec::new());
    assert_eq!(kept(&lexicon, "weight"), 41);
    let found = lexicon.matches(&["weight"], &[false]);
    let senses: Vec<&Sense> = found.iter().flat_map(|found| &found.entries).map(|entry| &entry.sense).collect();
    assert_eq!(senses, [&Sense::Field(500, 0)]);
}

/// By the name of a field or that of its column, where the ontology does not say so itself.
#[test]
fn personal_values_are_known_by_names_and_correct_nobody() {
    let (mut ontology, mut values) = library();
    values[0].values = vec!["Ada Smith".into(), "Bea Smythe".into()];
    let personal = |field: Field| {
        let mut ontology = ontology.clone();
        ontology.datasets[0].fields[0] = Field { index_values: true, ..field };
        Lexicon::build(
            &ontology,
            &[FieldValues { field: ontology.datasets[0].fields[0].name.clone(), ..values[0].clone() }],
        )
    };
    for of in [
        field("customer_name", ""),
        Field { expression: "last_name".into(), ..field("called", "") },
        Field { pii: Some("name".into()), ..field("who", "") },
    ] {
        let lexicon = personal(of.clone());
        assert_eq!(lexicon.matches(&["ada", "smith"], &[true; 2]).len(), 1, "{}", of.name);
        assert!(lexicon.matches(&["ada", "smiht"], &[true; 2]).is_empty(), "{}", of.name);
        assert!(lexicon.near_values(0, 0, "Ada Smiht").is_empty(), "{}", of.name);
        assert!(lexicon.containing(&["smith".into()], &Effort::default()).is_empty(), "{}", of.name);
    }
    let open = personal(field("title", ""));
    assert_eq!(open.matches(&["ada", "smiht"], &[true; 2])[0].corrected.as_deref(), Some("ada smith"));
    // A word that something else has too is corrected.
    ontology.datasets[0].ai.synonyms = vec!["smith".into()];
    ontology.datasets[0].fields[0].pii = Some("name".into());
    let lexicon = Lexicon::build(&ontology, &values);
    assert_eq!(lexicon.matches(&["smiht"], &[true])[0].entries[0].sense, Sense::Entity(0));
}
