//! Which columns tell rows apart.

use super::*;
use crate::model::ontology::{Cardinality, FieldRole};
use crate::model::profile::Figure;

#[test]
fn keys_are_unique_columns_with_the_right_name_and_otherwise_pairs() {
    for (name, key) in [
        ("customers", &["customer_id"][..]),
        ("orders", &["order_id"]),
        ("order_items", &["order_id", "line_no"]),
        ("products", &["productid"]),
        ("tags", &["id"]),
        ("product_tags", &["product_id", "tag_id"]),
    ] {
        assert_eq!(entity(name).primary_key, key, "{name}");
    }
    // Unique by chance: a name of a product, a time of an order.
    assert!(entity("orders").unique_keys.is_empty());
}

#[test]
fn only_what_is_open_is_asked() {
    let tables = shop();
    let open = key_candidates(&tables, &Facts::default());
    assert!(
        open.iter().all(|candidate| ["order_items", "product_tags"].contains(&candidate.table.as_str())),
        "{open:?}"
    );
    assert!(open.iter().all(|candidate| candidate.columns.len() == 2), "{open:?}");
    let mut declared = shop();
    for table in &mut declared {
        table.primary_key = vec![table.columns[0].name.clone()];
    }
    assert!(key_candidates(&declared, &Facts::default()).is_empty());
    // An estimate near the number of rows says nothing; one far away does.
    let mut estimated = vec![tables[0].clone()];
    let column = &mut estimated[0].profile.as_mut().unwrap().columns[0];
    (column.distinct, column.approximate) = (98, vec![crate::model::profile::Figure::Distinct]);
    assert_eq!(key_candidates(&estimated, &Facts::default())[0].columns, ["customer_id"]);
    estimated[0].profile.as_mut().unwrap().columns[0].distinct = 50;
    assert!(key_candidates(&estimated, &Facts::default()).iter().all(|candidate| candidate.columns != ["customer_id"]));
}

#[test]
fn two_rows_do_not_make_keys() {
    let int = |name| Column(name, "BIGINT", 2, 0, ["1", "2"], &["1"]);
    let tables = vec![
        table("claim", 2, &[int("claim_identifier"), int("claim_amount")]),
        table("claim_coverage", 2, &[int("claim_identifier"), int("detail_no")]),
    ];
    let made = draft(&wanted("claims"), &tables, &Facts::default()).ontology;
    assert_eq!(made.entity("claim").unwrap().primary_key, ["claim_identifier"]);
    assert!(made.entity("claim").unwrap().unique_keys.is_empty());
    assert!(made.entity("claim_coverage").unwrap().primary_key.is_empty());
    assert_eq!(made.relationships[0].cardinality, Cardinality::ManyToOne);
}

#[test]
fn a_side_of_a_bridge_that_is_there_once_among_many_is_a_key() {
    let bridge = |rows| {
        let tables = vec![
            table("films", 90, &[key("film_id", 90), Column("title", "VARCHAR", 90, 0, NONE, &["Up"])]),
            table("genres", 9, &[key("genre_id", 9), Column("name", "VARCHAR", 9, 0, NONE, &["War"])]),
            table("film_genres", rows, &[key("film_id", rows), key("genre_id", 9)]),
        ];
        made_of(&tables).ontology.entity("film_genres").unwrap().unique_keys.clone()
    };
    assert_eq!(bridge(80), [["film_id"]]);
    assert!(bridge(12).is_empty());
}

#[test]
fn initials_are_keys_and_roles_refer_by_their_values() {
    let tables = papers();
    let refers = [
        ("author", "oid", "organization"),
        ("writes", "aid", "author"),
        ("writes", "pid", "paper"),
        ("cite", "citing", "paper"),
        ("cite", "cited", "paper"),
    ];
    let made = draft(&wanted("papers"), &tables, &measured_by(&tables, &refers));
    for (name, key) in [("author", "aid"), ("organization", "oid"), ("paper", "pid")] {
        assert_eq!(made.ontology.entity(name).unwrap().primary_key, [key]);
    }
    assert_eq!(
        shown(&made),
        ["author.oid organization", "writes.aid author", "writes.pid paper", "cite.citing paper", "cite.cited paper"]
    );
    let measures =
        made.ontology.datasets.iter().flat_map(|entity| &entity.fields).filter(|it| it.role == FieldRole::Measure);
    assert_eq!(measures.map(|field| field.name.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn a_key_that_could_not_be_measured_is_said_to_be_a_guess() {
    let mut visits = table(
        "visits",
        200_000_000,
        &[
            Column("visit_id", "BIGINT", 196_000_000, 0, ["1", "200000000"], &["1"]),
            Column("receipt_no", "BIGINT", 170_000_000, 0, ["1", "200000000"], &["1"]),
        ],
    );
    for figures in &mut visits.profile.as_mut().unwrap().columns {
        figures.approximate = vec![crate::model::profile::Figure::Distinct];
    }
    let tables = [visits];
    let open = key_candidates(&tables, &Facts::default());
    let columns: Vec<&str> = open.iter().map(|it| it.columns[0].as_str()).collect();
    assert_eq!(columns, ["visit_id", "receipt_no"], "an estimate that is a little low refutes no key");
    let unknown = Facts { unknown: open.into_iter().collect(), ..Facts::default() };
    let made = draft(&wanted("shop"), &tables, &unknown);
    let entity = made.ontology.entity("visits").unwrap();
    assert_eq!(entity.primary_key, ["visit_id"]);
    assert!(entity.unique_keys.is_empty(), "{:?}", entity.unique_keys);
    let evidence = made.evidence.iter().find(|it| it.decided == "visits is told apart by visit_id").unwrap();
    assert!(!evidence.sure && evidence.because[0].ends_with("was not measured."), "{evidence:?}");
}

#[test]
fn a_key_that_nobody_measured_is_not_said_to_be_measured() {
    let mut tables = [table("visits", 40, &[Column("visit_id", "BIGINT", 40, 0, ["1", "40"], &["1"])])];
    let said = |tables: &[DraftTable], facts: &Facts| {
        let seen = super::columns::seen(tables, &super::vocabulary::Vocabulary::new(tables));
        let keys = super::keys::Keys { primary: vec!["visit_id".into()], ..Default::default() };
        let Evidence { because, sure, .. } = super::evidence::of_key(&seen[0], &keys, facts);
        (because.join(" "), sure)
    };
    let measured = ("No two of its 40 rows agree there, and none is empty.".to_owned(), true);
    assert_eq!(said(&tables, &Facts::default()), measured, "the profile counted them");
    tables[0].profile.as_mut().unwrap().columns[0].approximate = vec![Figure::Distinct];
    let guess = "It is called so; that no two of its 40 rows agree was not measured.";
    assert_eq!(said(&tables, &Facts::default()), (guess.to_owned(), false));
    let key = KeyCandidate { table: "visits".into(), columns: vec!["visit_id".into()] };
    let facts = Facts { keys: [(key, true)].into(), ..Facts::default() };
    assert_eq!(said(&tables, &facts), measured);
}

#[test]
fn nought_stands_for_none_and_a_column_without_values_for_nothing() {
    let candidate = Candidate {
        from: "a".into(),
        from_columns: vec!["b_id".into()],
        to: "b".into(),
        to_columns: vec!["id".into()],
    };
    assert!(candidate.sql(None, false).contains("IN ('0', '-1', '')"), "{}", candidate.sql(None, false));
    assert!(
        candidate.sql(Some(200_000_000), false).contains("TABLESAMPLE system(0.500000 PERCENT)"),
        "{}",
        candidate.sql(Some(200_000_000), false)
    );
    let id = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "20"], &["1"]);
    let tables = vec![
        table("shelf", 20, &[id("shelf_id", 20)]),
        table("book", 90, &[id("book_id", 90), Column("shelf_id", "BIGINT", 0, 90, NONE, &[])]),
    ];
    let mut facts = Facts::default();
    for candidate in relationship_candidates(&tables, &facts) {
        facts.overlaps.insert(candidate, Overlap { values: 0, found: 0 });
    }
    assert!(draft(&wanted("books"), &tables, &facts).ontology.relationships.is_empty());
}

#[test]
fn what_is_said_to_be_a_key_and_is_none_carries_nothing_across() {
    let link = Link {
        from: "orders".into(),
        from_columns: vec!["cust_id".into()],
        to: "customers".into(),
        to_columns: vec!["country".into()],
    };
    let answers = Answers { accepted: vec![link.clone()], ..Answers::default() };
    let mut tables = shop();
    tables[0].columns.push(ColumnInfo { name: "country".into(), r#type: "VARCHAR".into(), ..ColumnInfo::default() });
    assert_eq!(answers.tell(&mut tables), [""; 0]);
    let key = KeyCandidate { table: "customers".into(), columns: vec!["country".into()] };
    assert!(key_candidates(&tables, &Facts::default()).contains(&key), "it is measured");
    let mut facts = facts(&tables);
    facts.keys.insert(key, false);
    let made = draft(&Wanted { answers, ..wanted("shop") }, &tables, &facts);
    let relationship = made.ontology.relationships.iter().find(|it| it.link() == link).unwrap();
    assert_eq!(relationship.cardinality, Cardinality::ManyToMany);
    let note = "customers.country is referred to, but rows of customers agree in it: it is no key.";
    assert!(made.notes.iter().any(|it| it == note), "{:?}", made.notes);
}

#[test]
fn a_table_that_begins_with_the_key_of_another_is_told_apart_by_it_and_not_by_its_names() {
    let tables = club();
    let made = draft(&wanted("club"), &tables, &measured_by(&tables, &[]));
    assert_eq!(made.ontology.entity("member_notes").unwrap().primary_key, ["member_id"]);
}

/// What stands between the columns of a key belongs to it only where one of them needs it: a town's province, the country.
#[test]
fn a_key_of_several_columns_has_no_column_that_it_does_not_need() {
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Lund", "Bonn"]);
    let tables = [
        table("seasons", 40, &[text("season", 40)]),
        table("episodes", 500, &[text("season", 40), key("episode", 16), text("aired", 400)]),
        table(
            "challenges",
            900,
            &[text("season", 40), key("episode", 16), key("challenge_no", 40), text("rules", 800)],
        ),
        table("countries", 50, &[text("country", 50)]),
        table("provinces", 300, &[text("province", 280), text("country", 50)]),
        table("towns", 900, &[text("town", 700), text("country", 50), text("province", 280)]),
        table("votes", 900, &[text("season", 40), text("voter", 200), key("voter_id", 300), key("turn", 30)]),
    ];
    let is_key = |it: &KeyCandidate| {
        [&["season", "challenge_no"][..], &["town", "province"], &["season", "voter"], &["season", "voter_id"]]
            .contains(&it.columns.iter().map(String::as_str).collect::<Vec<_>>().as_slice())
    };
    let mut facts = Facts::default();
    for _ in 0..5 {
        for candidate in key_candidates(&tables, &facts) {
            let is = is_key(&candidate);
            facts.keys.insert(candidate, is);
        }
    }
    let made = draft(&wanted("it"), &tables, &facts);
    let key = |name: &str| made.ontology.entity(name).unwrap().primary_key.join("+");
    assert_eq!(key("challenges"), "season+challenge_no");
    assert_eq!(key("towns"), "town+country+province");
    assert_eq!(key("votes"), "season+voter_id", "the id, and not what its row is called by");
}
