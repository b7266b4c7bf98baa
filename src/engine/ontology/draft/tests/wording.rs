//! What things are called.

use super::*;

#[test]
fn a_number_that_people_gave_is_what_rows_are_called_by() {
    let tables = vec![table("claims", 90, &[key("claim_id", 90), key("company_claim_number", 90), key("year", 9)])];
    let claims = made_of(&tables).ontology.datasets.remove(0);
    assert_eq!(claims.label_field.as_deref(), Some("company_claim_number"));
    assert_eq!(claims.unique_keys, [["company_claim_number"]]);
    assert!(claims.field("company_claim_number").unwrap().ai.synonyms.contains(&"claim number".to_owned()));
}

#[test]
fn a_code_is_called_by_what_it_stands_for_and_a_list_by_what_it_lists() {
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["AB"]);
    let tables = vec![
        table("firms", 60, &[text("brand", 60), text("name", 60)]),
        table("cars", 300, &[key("car_id", 300), text("brand", 50)]),
        table("extra", 400, &[key("car_id", 200), Column("extra", "VARCHAR", 30, 0, NONE, &["Radio"])]),
    ];
    let mut facts = facts(&tables);
    facts.keys.insert(KeyCandidate { table: "extra".into(), columns: vec!["car_id".into(), "extra".into()] }, true);
    for candidate in relationship_candidates(&tables, &facts) {
        let overlap = measured(&candidate);
        facts.overlaps.insert(candidate, overlap);
    }
    let made = draft(&wanted("it"), &tables, &facts).ontology;
    let firms = made.entity("firms").unwrap();
    assert!(firms.ai.synonyms.contains(&"brand".to_owned()), "{:?}", firms.ai.synonyms);
    assert_eq!(firms.field("firm_code").unwrap().expression, "brand");
    let refers = made.field("cars", "brand").unwrap();
    assert!(
        !refers.hidden && !refers.index_values,
        "a code can be asked for where it refers, and its values are elsewhere"
    );
    let list = made.entity("car_extra").unwrap();
    assert_eq!((list.source.as_str(), list.grain.as_deref()), ("extra", Some("car extra")));
    assert_eq!(made.relationships.iter().filter(|it| it.from == "car_extra").count(), 1);
}

#[test]
fn people_are_called_by_their_whole_names_in_other_languages_too() {
    let columns = [
        key("id", 90),
        Column("nome", "VARCHAR", 60, 0, NONE, &["Anna"]),
        Column("cognome", "VARCHAR", 80, 0, NONE, &["Rossi"]),
        Column("data_nascita", "DATE", 80, 0, NONE, &["1970-01-05"]),
    ];
    let made = made_of(&[table("pazienti", 90, &columns)]).ontology;
    let entity = made.entity("pazienti").unwrap();
    assert_eq!(entity.label_field.as_deref(), Some("full_name"));
    assert_eq!(entity.field("nome").unwrap().pii.as_deref(), Some("person_name"));
    assert_eq!(entity.default_time_field, None, "nobody is born every day");
}

#[test]
fn what_all_tables_are_called_by_is_no_word_of_theirs() {
    let id = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1"]);
    let tables = vec![
        table("shop_orders_dataset", 300, &[id("order_id", 300), id("customer_id", 200)]),
        table("shop_customers_dataset", 250, &[id("customer_id", 250)]),
        table("shop_sellers_dataset", 20, &[id("seller_id", 20)]),
    ];
    let made = draft(
        &wanted("shop"),
        &tables,
        &measured_by(&tables, &[("shop_orders_dataset", "customer_id", "shop_customers_dataset")]),
    );
    assert_eq!(shown(&made), ["shop_orders_dataset.customer_id shop_customers_dataset"]);
    assert_eq!(made.ontology.entity("shop_orders_dataset").unwrap().grain.as_deref(), Some("order"));
}

/// Where every table begins with a `CN`, it is what others call an id.
#[test]
fn the_word_that_a_schema_has_for_an_id_is_learnt() {
    let cn = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1", "2"]);
    let tables = [
        table("plot", 400, &[cn("CN", 400), cn("SRV_CN", 20)]),
        table("survey", 20, &[cn("CN", 20), Column("state", "VARCHAR", 5, 0, NONE, &["ME"])]),
        table("tree", 900, &[cn("CN", 900), cn("PLT_CN", 380), cn("PREV_TRE_CN", 700)]),
    ];
    let refers = [("tree", "PLT_CN", "plot"), ("plot", "SRV_CN", "survey"), ("tree", "PREV_TRE_CN", "tree")];
    let made = draft(&wanted("forest"), &tables, &measured_by(&tables, &refers));
    assert_eq!(shown(&made), ["plot.SRV_CN survey", "tree.PLT_CN plot", "tree.PREV_TRE_CN tree"]);
    assert!(made.ontology.datasets.iter().all(|entity| entity.primary_key == ["CN"]));
}
