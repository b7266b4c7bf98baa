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
fn rows_are_not_called_by_what_nobody_can_say_or_by_the_name_of_something_else() {
    let text = |name, distinct, sample| Column(name, "VARCHAR", distinct, 0, NONE, sample);
    let drawn = |name, distinct| text(name, distinct, &["5cbd3f4ab5f04d3b8e6a0b7b2d4c9e11"]);
    let tables = [
        table("visits", 90, &[drawn("guid", 90), key("horse_id", 40), text("horse_name", 88, &["Red Rum"])]),
        table("rates", 90, &[key("rate_id", 90), text("title", 1, &["Basic"])]),
        table("horses", 90, &[key("id", 90), text("horse_name", 88, &["Red Rum"])]),
        table("remarks", 200, &[key("remark_id", 200), drawn("visit_guid", 25)]),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &[("remarks", "visit_guid", "visits")])).ontology;
    let label = |name: &str| made.entity(name).unwrap().label_field.clone();
    assert_eq!(["visits", "rates"].map(label), [None, None]);
    assert_eq!(label("horses").as_deref(), Some("horse_name"));
    assert!(!made.field("visits", "guid").unwrap().index_values);
    assert!(made.field("remarks", "visit_guid").unwrap().hidden);
}

#[test]
fn ways_are_called_by_where_they_start_where_two_lead_there_from_one_table() {
    let name = || Column("name", "VARCHAR", 50, 0, NONE, &["Lund"]);
    let tables = [
        table("nations", 50, &[key("nation_id", 50), name()]),
        table("customers", 90, &[key("customer_id", 90), key("nation_id", 40)]),
        table("suppliers", 80, &[key("supplier_id", 80), key("nation_id", 40)]),
        table("rivers", 70, &[key("river_id", 70), key("nation_id", 40)]),
        table("orders", 900, &[key("order_id", 900), key("customer_id", 85), key("supplier_id", 75)]),
    ];
    let refers = [
        ("customers", "nation_id", "nations"),
        ("suppliers", "nation_id", "nations"),
        ("rivers", "nation_id", "nations"),
        ("orders", "customer_id", "customers"),
        ("orders", "supplier_id", "suppliers"),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &refers)).ontology;
    let names: Vec<&String> = made.relationships.iter().flat_map(|it| &it.ai.synonyms).collect();
    assert_eq!(names, ["customer nation", "supplier nation"]);
}

#[test]
fn letters_that_tell_no_ways_apart_are_no_role() {
    let name = |distinct| Column("name", "VARCHAR", distinct, 0, NONE, &["Lund"]);
    let tables = [
        table("towns", 60, &[key("id", 60), name(60)]),
        table("firms", 50, &[key("id", 50), name(50)]),
        table("loads", 90, &[key("id", 90), key("to_firm_id", 40), key("from_town_id", 40), key("to_town_id", 40)]),
        table("load_marks", 300, &[key("lom_id", 300), key("lom_load_id", 80), key("lom_seal", 30), key("lom_at", 9)]),
    ];
    let refers = [
        ("loads", "to_firm_id", "firms"),
        ("loads", "from_town_id", "towns"),
        ("loads", "to_town_id", "towns"),
        ("load_marks", "lom_load_id", "loads"),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &refers)).ontology;
    let role = |column: &str| {
        let way = made.relationships.iter().find(|it| it.from_columns == [column]);
        way.unwrap_or_else(|| panic!("{column}")).role.clone()
    };
    assert_eq!(["to_firm_id", "lom_load_id"].map(role), [None, None]);
    assert_eq!(["from_town_id", "to_town_id"].map(role), ["from", "to"].map(|role| Some(role.to_owned())));
    assert_eq!(made.field("load_marks", "lom_seal").unwrap().label, "seal");
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

/// Goals and cards call it a fixture; where one table alone does, that may be a role. The noun in another case is no
/// other word.
#[test]
fn the_word_by_which_several_tables_refer_to_one_is_a_name_of_it() {
    let text = |name| Column(name, "VARCHAR", 9, 0, NONE, &["Lund", "Bonn"]);
    let tables = [
        table("results", 60, &[key("id", 60), text("place")]),
        table("goals", 90, &[key("id", 90), key("fixture_id", 55)]),
        table("cards", 80, &[key("id", 80), key("fixture_id", 50)]),
        table("klient", 60, &[key("id_klienta", 60), text("miasto")]),
        table("faktura", 90, &[key("id_faktury", 90), key("id_klienta", 55)]),
        table("reklamacja", 80, &[key("id_reklamacji", 80), key("id_klienta", 50)]),
    ];
    let refers = [
        ("goals", "fixture_id", "results"),
        ("cards", "fixture_id", "results"),
        ("faktura", "id_klienta", "klient"),
        ("reklamacja", "id_klienta", "klient"),
    ];
    let synonyms = |name: &str, tables: &[DraftTable]| {
        let made = draft(&wanted("cup"), tables, &measured_by(tables, &refers)).ontology;
        made.entity(name).unwrap().ai.synonyms.clone()
    };
    assert_eq!(synonyms("results", &tables), ["result", "fixture", "fixtures"]);
    assert_eq!(synonyms("results", &tables[..2]), ["result"]);
    assert_eq!(synonyms("klient", &tables), ["klients"]);
}
