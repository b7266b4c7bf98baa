//! What holds of every draft.

use super::*;
use crate::engine::ontology::expression::{Aggregate, Scalar};

#[test]
fn tables_without_profile_are_drafted_by_names() {
    let mut tables = shop();
    for table in &mut tables {
        table.profile = None;
        table.place = Some("erp".into());
    }
    let mut facts = Facts::default();
    for candidate in key_candidates(&tables, &facts.clone()) {
        let first = candidate.columns.len() == 1
            && tables
                .iter()
                .any(|table| table.name == candidate.table && table.columns[0].name == candidate.columns[0]);
        facts.keys.insert(candidate, first);
    }
    let made = draft(&wanted("shop"), &tables, &facts).ontology;
    assert_eq!(made.entity("customers").unwrap().primary_key, ["customer_id"]);
    assert!(made.relationships.iter().any(|r| r.from == "orders" && r.to == "customers"));
    assert!(made.field("orders", "status").unwrap().is_enum);
}

#[test]
fn every_expression_is_one_that_ontologies_may_hold() {
    for (tables, facts) in [(shop(), facts(&shop())), (trips(), Facts::default())] {
        let made = draft(&wanted("all"), &tables, &facts).ontology;
        for field in made.datasets.iter().flat_map(|entity| &entity.fields) {
            Scalar::parse(&field.expression).unwrap();
        }
        for metric in &made.metrics {
            Aggregate::parse(&metric.expression).unwrap();
        }
        let text = crate::engine::ontology::write::flat_yaml(&made);
        let read = crate::engine::ontology::read::read(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
        assert_eq!(read.ontology, made);
    }
}

#[test]
fn statements_are_short_and_quote_names() {
    let key = KeyCandidate { table: "or\"ders".into(), columns: vec!["a b".into()] };
    assert!(
        key.sql(Rows::All).contains("FROM \"or\"\"ders\"") && key.sql(Rows::All).contains("\"a b\" IS NULL"),
        "{}",
        key.sql(Rows::All)
    );
    let tables = shop();
    for candidate in relationship_candidates(&tables, &facts(&tables)) {
        assert!(candidate.sql(Some(200_000_000), false).len() < 470, "{}", candidate.sql(Some(200_000_000), false));
    }
}

#[test]
fn the_same_tables_make_the_same_draft() {
    assert_eq!(drafted(), drafted());
    let mut glossary = drafted();
    glossary.ontology.glossary = vec![Term { term: "AOV".into(), means: "average order value".into() }];
    let tables = shop();
    let given = Wanted { glossary: glossary.ontology.glossary.clone(), ..wanted("shop") };
    assert_eq!(draft(&given, &tables, &facts(&tables)), glossary);
}

#[test]
fn odd_tables_end_well() {
    let none = Column("c1", "VARCHAR", 0, 10, NONE, &[]);
    let mut wide = table("wide", 10, &[Column("c", "BIGINT", 10, 0, ["0", "5000"], &["500", "1000", "250"])]);
    let (column, figures) = (wide.columns[0].clone(), wide.profile.as_ref().unwrap().columns[0].clone());
    let name = |at: usize| format!("c{at}");
    wide.columns = (0..3_000).map(|at| ColumnInfo { name: name(at), ..column.clone() }).collect();
    let all = (0..3_000).map(|at| ColumnProfile { name: name(at), ..figures.clone() });
    wide.profile.as_mut().unwrap().columns = all.collect();
    let only = |name| table(name, 10, &[Column("c1", "VARCHAR", 1, 0, NONE, &["x"])]);
    let mut tables = vec![table("empty", 10, &[none]), only("one"), only("c1"), wide];
    tables.push(table("rowless", 0, &[Column("id", "BIGINT", 0, 0, NONE, &[])]));
    tables.push(table("bare", 10, &[]));
    tables.push(table("___", 10, &[Column("_", "VARCHAR", 10, 0, NONE, &["x"])]));
    let begun = std::time::Instant::now();
    let made = draft(&wanted("odd"), &tables, &facts(&tables));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(made.ontology.datasets.len(), tables.len());
    assert_eq!(made.ontology.relationships, []);
    assert!(made.notes.iter().any(|note| note.contains("at most 5000 metrics")), "{:?}", made.notes);
    let written = crate::engine::ontology::write::flat_yaml(&made.ontology);
    let problems = crate::engine::ontology::read::read(&written).err();
    assert!(problems.is_none(), "{problems:?}");
}
