use super::*;
use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::{AiContext, DataType, Entity, Field, FieldRole, Metric, Relationship, Segment, Term};

fn field(name: &str, datatype: DataType) -> Field {
    Field { name: name.into(), expression: name.into(), datatype, role: FieldRole::Dimension, ..Field::default() }
}

fn entity(name: &str, fields: Vec<Field>) -> Entity {
    Entity {
        name: name.into(),
        source: format!("w.{name}"),
        primary_key: vec!["id".into()],
        fields,
        ..Entity::default()
    }
}

fn to(from: &str, name: &str) -> Relationship {
    Relationship {
        name: format!("{from}_{name}"),
        from: from.into(),
        to: name.into(),
        from_columns: vec![format!("{name}_id")],
        to_columns: vec!["id".into()],
        ..Relationship::default()
    }
}

/// Shops that sell, and people who are paid; with `more` datasets that have to do with nothing.
fn ontology(more: usize) -> Ontology {
    let sale = Entity {
        default_time_field: Some("sold_on".into()),
        ..entity(
            "sale",
            vec![
                Field { role: FieldRole::Key, hidden: true, ..field("shop_id", DataType::Integer) },
                field("sold_on", DataType::Date),
                Field { unit: Some("EUR".into()), role: FieldRole::Measure, ..field("euros", DataType::Decimal) },
                Field { is_enum: true, ..field("product", DataType::String) },
            ],
        )
    };
    let shop = Entity { label_field: Some("town".into()), ..entity("shop", vec![field("town", DataType::String)]) };
    let salary = entity("salary", vec![field("amount", DataType::Decimal)]);
    let purse = Entity { hidden: true, ..entity("purse", vec![field("coins", DataType::Integer)]) };
    let described = |mut it: Entity| {
        it.description = "What somebody wrote of it, at length. ".repeat(6);
        it
    };
    let plots = (0..more).map(|at| {
        let notes = (0..20).map(|note| field(&format!("note_{note}"), DataType::String)).collect();
        described(entity(&format!("plot_{at}"), notes))
    });
    Ontology {
        name: "bakery".into(),
        description: "What the shops sell".into(),
        datasets: [sale, shop, salary, purse].into_iter().chain(plots).collect(),
        relationships: vec![to("sale", "shop"), to("sale", "purse")],
        metrics: vec![
            Metric {
                name: "revenue".into(),
                expression: "SUM(sale.euros)".into(),
                ai: AiContext { synonyms: vec!["turnover".into()], ..AiContext::default() },
                unit: Some("EUR".into()),
                ..Metric::default()
            },
            Metric { name: "pay".into(), expression: "SUM(salary.amount)".into(), ..Metric::default() },
        ],
        segments: vec![Segment {
            name: "large sales".into(),
            synonyms: vec!["big".into()],
            expression: "sale.euros > 10".into(),
            datasets: vec!["sale".into()],
        }],
        glossary: [("takings", "revenue"), ("cash", "purse.coins")]
            .map(|(term, means)| Term { term: term.into(), means: means.into() })
            .to_vec(),
        ..Ontology::default()
    }
}

fn told(ontology: &Ontology, about: Option<&str>, bytes: usize) -> Guide {
    told_in(Dialect::DuckDb, ontology, about, bytes)
}

fn told_in(dialect: Dialect, ontology: &Ontology, about: Option<&str>, bytes: usize) -> Guide {
    let known = |dataset: &str, field: &str, values: &[&str]| FieldValues {
        dataset: dataset.into(),
        field: field.into(),
        values: values.iter().map(|value| (*value).into()).collect(),
        complete: true,
    };
    let values = [known("sale", "product", &["Bun", "Rye"]), known("shop", "town", &["Bruges", "Ghent"])];
    let days = ("2025-01-10".parse().unwrap(), "2025-02-28".parse().unwrap());
    let sight = Sight { ontology, values: &values, extents: [("sale".to_owned(), days)].into(), dialect };
    let wish = Wish { about, now: "2025-03-01T10:00".parse().unwrap(), bytes };
    written(&sight, &Graph::new(ontology), &[], (&wish, &|_| true))
}

const ROOM: usize = 23_000;

#[test]
fn all_that_may_be_named_is_told_with_what_it_takes_to_name_it() {
    let guide = told(&ontology(0), None, ROOM);
    assert_eq!(guide.metrics, ["revenue = SUM(sale.euros) [EUR]; also turnover", "pay = SUM(salary.amount)"]);
    assert_eq!(guide.segments, ["\"large sales\" of sale: sale.euros > 10; also big"]);
    let sale = &guide.datasets[0];
    assert_eq!(sale.dataset, "sale; time sold_on, 2025-01-10 to 2025-02-28");
    assert_eq!(sale.fields, ["sold_on date", "euros number [EUR]", "product text; one of 'Bun', 'Rye'"]);
    assert_eq!(guide.relationships, ["sale to shop: write shop.town"]);
    assert!(guide.notes.iter().any(|note| note.contains("2025-03-01 10:00, Saturday")), "{:?}", guide.notes);
    assert!(guide.notes.iter().any(|note| note.contains("takings = revenue")), "{:?}", guide.notes);
    assert_eq!(guide.left_out, None);
    let text = guide.text();
    assert!(!text.contains("shop_id") && !text.contains("purse") && !text.contains("cash"), "{text}");
    for part in [&guide.metrics[0], &guide.segments[0], &sale.dataset, &sale.fields[2], &guide.relationships[0]] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn examples_show_each_form_over_things_that_are_there() {
    let guide = told(&ontology(0), None, ROOM);
    let examples: Vec<String> = guide.examples.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    assert_eq!(
        examples,
        [
            r#"{"measures":["revenue"],"dimensions":["shop.town"],"order":["revenue desc"],"limit":5}"#,
            r#"{"measures":["revenue"],"dimensions":["sale.sold_on by month"],"time":"2025"}"#,
            r#"{"measures":["revenue"],"filters":["shop.town = 'Bruges'"]}"#,
            r#"{"list":["sale.sold_on","sale.euros","sale.product"],"limit":5}"#,
        ]
    );
}

#[test]
fn words_narrow_it_to_what_has_to_do_with_them() {
    let guide = told(&ontology(3), Some("takings in Ghent"), ROOM);
    assert_eq!(guide.values, ["shop.town = 'Ghent'"]);
    assert!(guide.metrics.len() == 1 && guide.metrics[0].starts_with("revenue"), "{:?}", guide.metrics);
    let datasets: Vec<&str> = guide.datasets.iter().map(|it| it.dataset.split(';').next().unwrap()).collect();
    assert_eq!(datasets, ["sale", "shop"]);
    let left_out = guide.left_out.unwrap();
    assert!(left_out.contains("1 metrics") && left_out.contains("4 datasets"), "{left_out}");
}

#[test]
fn what_nothing_is_called_is_said_and_everything_shown() {
    let guide = told(&ontology(0), Some("xyzzy"), ROOM);
    assert_eq!(guide.metrics.len(), 2);
    assert!(guide.not_found.as_ref().unwrap().starts_with("Nothing here is called so: xyzzy."));
    assert!(guide.text().starts_with("Nothing here is called so"), "{}", guide.text());
    assert!(guide.text().len() < told(&ontology(0), None, ROOM).text().len(), "names alone");
}

#[test]
fn words_that_nothing_is_called_come_first_beside_what_was_found() {
    let guide = told(&ontology(0), Some("average takings of Kenji in Ghent by month"), ROOM);
    assert_eq!(guide.not_found.as_deref(), Some("Neither a name nor a known value here has: kenji."));
    assert_eq!(guide.values, ["shop.town = 'Ghent'"]);
    let mut of_people = ontology(0);
    of_people.datasets[1].fields.push(Field { pii: Some("name".into()), ..field("owner", DataType::String) });
    let said = told(&of_people, Some("takings of Kenji"), ROOM).not_found.unwrap();
    assert!(said.contains("kenji") && said.contains("Names of people are found by the whole of them only"), "{said}");
}

#[test]
fn of_very_much_there_is_never_more_than_fits_and_the_rest_is_named_and_counted() {
    let large = ontology(1_000);
    for bytes in [6_000, ROOM] {
        let guide = told(&large, None, bytes);
        assert!(size(&guide) <= bytes, "{}", size(&guide));
        assert_eq!(guide.metrics.len(), 2, "numbers come first");
        let left_out = guide.left_out.unwrap();
        assert!(left_out.contains("more)") && left_out.contains("`about`"), "{left_out}");
    }
    let guide = told(&large, Some("plot 777"), ROOM);
    assert!(size(&guide) <= ROOM, "{}", size(&guide));
}

#[test]
fn one_of_a_thousand_datasets_is_found_by_its_name() {
    let guide = told(&ontology(1_000), Some("plot_777"), ROOM);
    let first = guide.datasets.iter().find(|it| it.dataset.starts_with("plot_777")).unwrap();
    assert!(first.fields.iter().any(|line| line.starts_with("note_3 text")), "{first:?}");
}

#[test]
fn an_ontology_is_found_by_the_words_of_its_names() {
    let ontology = ontology(0);
    use crate::engine::agent::near::relevance;
    assert!(relevance(&ontology, "turnover by town") > relevance(&ontology, "salary"));
    assert!(relevance(&ontology, "salary") > 0);
    assert_eq!(relevance(&ontology, "weather"), 0);
    assert_eq!(questions(&ontology, 3), ["revenue by shop", "pay"]);
}
