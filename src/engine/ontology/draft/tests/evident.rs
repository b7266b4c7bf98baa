//! What a draft says of itself, and what people answer.

use super::*;
use crate::model::ontology::Confidence;

#[test]
fn a_draft_says_what_speaks_for_it_and_what_to_look_at() {
    let tables = papers();
    let refers = [("writes", "aid", "author"), ("cite", "citing", "paper")];
    let made = draft(&wanted("papers"), &tables, &measured_by(&tables, &refers));
    let of =
        |decided: &str| made.evidence.iter().find(|it| it.decided == decided).unwrap_or_else(|| panic!("{decided}"));
    let named = of("writes.aid refers to author.aid");
    assert!(named.sure, "{named:?}");
    assert_eq!(named.because, ["It is called like the key there.", "25 of its 25 different values are there."]);
    let weak = of("cite.citing refers to paper.pid");
    assert!(!weak.sure, "{weak:?}");
    assert!(of("paper is told apart by pid").sure);
}

#[test]
fn a_draft_says_what_was_decided_of_each_column_and_why() {
    let made = drafted();
    assert!(made.columns.iter().flat_map(|table| &table.columns).all(|column| !column.reasons.is_empty()));
    for (column, expected) in [
        ("orders.order_id", "Key: It is in the key."),
        ("orders.cust_id", "Key: A relationship uses it. Hidden: What it refers to says more than its number."),
        ("orders.order_date", "Dimension: It is a time, by its type. When rows happen: It is called so."),
        ("orders.status", "Dimension: It is a text. Closed set: It has 3 different values in 400 rows."),
        ("orders.comment", "Attribute: It is called like a text to read."),
        (
            "customers.valid",
            "Dimension: 0 and 1 stand for no and yes. Closed set: It has 2 different values in 100 rows.",
        ),
        ("customers.first_name", "Dimension: It is a text. Personal: Its name is that of names of people."),
        ("order_items.qty", "Measure: It is called like an amount. Added up: It is called like a part of a whole."),
        (
            "products.weight_kg",
            "Measure: It is called like an amount. Averaged: Its unit is one that is measured on each thing. \
             In kilograms: Its name says so.",
        ),
        ("products.title", "Dimension: It is a text. What rows are called by: It is called like a name or a title."),
        (
            "product_tags.last_update",
            "Attribute: All rows that have a value have the same. Hidden: It says when a row was written, not when it \
             happened.",
        ),
    ] {
        assert_eq!(said_of(&made, column), expected, "{column}");
    }
    // Where names say nothing, values do.
    let columns = [
        Column("counted_on", "BIGINT", 200, 0, ["10001", "10200"], &["10001", "10002"]),
        Column("drift", "BIGINT", 90, 0, ["-40", "55"], &["-3", "12", "7"]),
    ];
    let made = made_of(&[table("things", 400, &columns)]);
    let given = "Dimension: Its values lie close together and far from 0, as numbers do that are given out.";
    assert_eq!(said_of(&made, "things.counted_on"), given);
    let below = "Measure: It has values below 0. Added up: Nothing says that it is averaged.";
    assert_eq!(said_of(&made, "things.drift"), below);
}

/// The shop with answers of people.
fn answered(answers: Answers) -> Draft {
    let mut tables = shop();
    assert_eq!(answers.tell(&mut tables), [""; 0]);
    let facts = facts(&tables);
    draft(&Wanted { answers, ..wanted("shop") }, &tables, &facts)
}

#[test]
fn what_a_person_confirmed_or_refused_is_so_and_says_it() {
    let drafted = drafted();
    let link = drafted.ontology.relationships.first().unwrap().link();
    let refused = answered(Answers { refused: vec![link.clone()], ..Answers::default() });
    assert!(!refused.ontology.relationships.iter().any(|it| it.link() == link));
    assert_eq!(refused.ontology.refused, std::slice::from_ref(&link));
    let of = |draft: &Draft| {
        let is = |it: &&Evidence| it.reference.as_ref().is_some_and(|asked| asked.link == link);
        draft.evidence.iter().find(is).cloned().unwrap()
    };
    assert_eq!(of(&refused).because, ["A person said so."]);
    assert_eq!((of(&refused).sure, of(&refused).reference.unwrap().state), (true, State::Refused));
    let confirmed = answered(Answers { accepted: vec![link.clone()], ..Answers::default() });
    let relationship = confirmed.ontology.relationships.iter().find(|it| it.link() == link).unwrap();
    assert_eq!(relationship.confidence, Confidence::Verified);
    assert_eq!(of(&confirmed).reference.unwrap().state, State::Confirmed);
    // What stands in the ontology is an answer of the next draft; a later one wins.
    assert_eq!(Answers::of(&confirmed.ontology), Answers { accepted: vec![link.clone()], ..Answers::default() });
    let later = Answers { refused: vec![link.clone()], ..Answers::default() };
    assert_eq!(Answers::of(&confirmed.ontology).then(later.clone()), later);
}

#[test]
fn an_answer_about_what_is_gone_is_said_and_not_used() {
    let link = Link {
        from: "orders".into(),
        from_columns: vec!["nothing".into()],
        to: "customers".into(),
        to_columns: vec!["customer_id".into()],
    };
    let mut tables = shop();
    let said = Answers { accepted: vec![link], ..Answers::default() }.tell(&mut tables);
    assert_eq!(
        said,
        ["An answer about orders.nothing and customers.customer_id is not used: a table or column of it is gone."]
    );
    assert_eq!(tables, shop());
}

/// Small numbers are among any that are counted from 1 on; where all of many are keys of that name, nobody need look.
#[test]
fn what_is_called_like_a_key_and_holds_nothing_else_is_sure() {
    let id = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let tables = [
        table("mebel", 60, &[id("id_mebla", 60, "60"), Column("nazwa", "VARCHAR", 40, 0, NONE, &["Lampa"])]),
        table("polprodukt", 50, &[id("id_polproduktu", 50, "50"), id("id_mebla", 16, "20")]),
    ];
    let sure = |values, found| {
        let mut facts = Facts::default();
        for candidate in relationship_candidates(&tables, &facts) {
            facts.overlaps.insert(candidate, Overlap { values, found });
        }
        let made = draft(&wanted("it"), &tables, &facts);
        made.evidence.iter().find(|it| it.decided == "polprodukt.id_mebla refers to mebel.id_mebla").unwrap().sure
    };
    assert!(sure(16, 16));
    assert!(!sure(4, 4), "a few");
    assert!(!sure(100, 98), "not all");
}
