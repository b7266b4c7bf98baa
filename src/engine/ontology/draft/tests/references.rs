//! Which tables refer to which.

use super::*;
use crate::model::ontology::{Cardinality, Confidence};

#[test]
fn tables_refer_to_each_other_by_the_names_of_columns() {
    let relationships = drafted().ontology.relationships;
    let shown: Vec<String> = relationships
        .iter()
        .map(|r| {
            format!(
                "{}.{} -> {}.{} {}",
                r.from,
                r.from_columns.join("+"),
                r.to,
                r.to_columns.join("+"),
                r.role.as_deref().unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "orders.cust_id -> customers.customer_id -",
            "orders.billing_address_id -> addresses.address_id billing",
            "orders.shipping_address_id -> addresses.address_id shipping",
            "order_items.order_id -> orders.order_id -",
            "order_items.product_id -> products.productid -",
            "product_tags.product_id -> products.productid -",
            "product_tags.tag_id -> tags.id -",
        ]
    );
    assert!(
        relationships.iter().all(|r| r.cardinality == Cardinality::ManyToOne && r.confidence == Confidence::Inferred)
    );
    let optional: Vec<&str> = relationships.iter().filter(|r| r.optional).map(|r| r.from_columns[0].as_str()).collect();
    assert_eq!(optional, ["shipping_address_id"]);
    let mut names: Vec<&str> = relationships.iter().map(|r| r.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), relationships.len());
}

#[test]
fn values_decide_against_names_but_not_against_declared_keys() {
    let tables = shop();
    let mut facts = facts(&tables);
    let mut is_left = |found| {
        for (candidate, overlap) in &mut facts.overlaps {
            if candidate.from_columns == ["cust_id"] {
                overlap.found = found;
            }
        }
        let made = draft(&wanted("shop"), &tables, &facts);
        let refers: Vec<_> = made.ontology.relationships.iter().filter(|r| r.to == "customers").collect();
        assert!(refers.is_empty(), "{refers:?}");
        let mut left =
            made.evidence.iter().filter(|it| it.reference.as_ref().is_some_and(|asked| asked.state == State::LeftOut));
        left.any(|it| it.decided == "orders.cust_id does not refer to customers.customer_id")
    };
    assert!(is_left(20));
    assert!(!is_left(10), "where hardly a value is there, the name means something else");

    let mut tables = tables;
    tables[2].foreign_keys = vec![ForeignKey {
        columns: vec!["cust_id".into()],
        to: "customers".into(),
        to_columns: vec!["customer_id".into()],
    }];
    let made = draft(&wanted("shop"), &tables, &facts);
    let declared = made.ontology.relationships.iter().find(|r| r.to == "customers").unwrap();
    assert_eq!(declared.confidence, Confidence::Declared);
}

#[test]
fn codes_of_one_kind_are_found_by_their_values_and_keep_their_roles() {
    let tables = trips();
    let candidates = relationship_candidates(&tables, &Facts::default());
    let tried: Vec<&str> = candidates.iter().map(|candidate| candidate.from_columns[0].as_str()).collect();
    // Not the state, whose values have another length.
    assert_eq!(tried, ["orig", "dest"]);
    let mut facts = Facts::default();
    for candidate in candidates {
        facts.overlaps.insert(candidate, Overlap { values: 100, found: 96 });
    }
    let made = draft(&wanted("trips"), &tables, &facts).ontology.relationships;
    let roles: Vec<_> = made.iter().map(|r| (r.role.as_deref(), r.ai.synonyms.clone(), r.optional)).collect();
    let spoken = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    assert_eq!(
        roles,
        [
            (Some("orig"), spoken(["origin", "orig place", "origin place"]), true),
            (Some("dest"), spoken(["destination", "dest place", "destination place"]), true)
        ]
    );

    for overlap in facts.overlaps.values_mut() {
        overlap.found = 60;
    }
    assert!(draft(&wanted("trips"), &tables, &facts).ontology.relationships.is_empty());
    // Without being measured, values say nothing.
    assert!(draft(&wanted("trips"), &tables, &Facts::default()).ontology.relationships.is_empty());
}

#[test]
fn the_plain_reference_is_preferred_to_one_with_a_role() {
    let int = |name, distinct| Column(name, "INTEGER", distinct, 0, ["1", "6"], &["1"]);
    let tables = vec![
        table("language", 6, &[int("language_id", 6), Column("name", "VARCHAR", 6, 0, NONE, &["Dutch"])]),
        table("film", 1_000, &[int("film_id", 1_000), int("language_id", 6), int("original_language_id", 5)]),
    ];
    let mut facts = Facts::default();
    for candidate in relationship_candidates(&tables, &facts) {
        facts.overlaps.insert(candidate, Overlap { values: 5, found: 5 });
    }
    let made = draft(&wanted("films"), &tables, &facts).ontology.relationships;
    let shown: Vec<_> = made.iter().map(|r| (r.from_columns[0].as_str(), r.role.as_deref(), r.preferred)).collect();
    assert_eq!(shown, [("language_id", None, true), ("original_language_id", Some("original"), false)]);
}

#[test]
fn columns_of_several_kinds_refer_to_people_and_to_themselves() {
    let int = |name, distinct| Column(name, "INTEGER", distinct, 0, ["1", "20"], &["1"]);
    let tables = vec![
        table("Employee", 20, &[int("EmployeeId", 20), int("ReportsTo", 4)]),
        table("Account", 90, &[int("AccountId", 90), int("SalesRepId", 9)]),
        table("category", 30, &[int("category_id", 30), int("parent_id", 5)]),
    ];
    let mut facts = Facts::default();
    for candidate in relationship_candidates(&tables, &facts) {
        facts.overlaps.insert(candidate, Overlap { values: 4, found: 4 });
    }
    let made = draft(&wanted("people"), &tables, &facts).ontology.relationships;
    let shown: Vec<_> = made.iter().map(|r| format!("{}.{} {}", r.from, r.from_columns[0], r.to)).collect();
    assert_eq!(shown, ["Employee.ReportsTo Employee", "Account.SalesRepId Employee", "category.parent_id category"]);
}

#[test]
fn keys_of_several_columns_are_referred_to_as_a_whole() {
    let int = |name, distinct| Column(name, "INTEGER", distinct, 0, ["1", "20"], &["1"]);
    let mut tables = vec![
        table(
            "partsupp",
            80,
            &[int("ps_partkey", 20), int("ps_suppkey", 10), Column("ps_cost", "DOUBLE", 70, 0, ["1", "9"], &[])],
        ),
        table("line", 900, &[int("l_id", 900), int("l_partkey", 20), int("l_suppkey", 10)]),
    ];
    tables[0].primary_key = vec!["ps_partkey".into(), "ps_suppkey".into()];
    let made = draft(&wanted("parts"), &tables, &Facts::default()).ontology;
    assert_eq!(made.relationships.len(), 1);
    assert_eq!(made.relationships[0].from_columns, ["l_partkey", "l_suppkey"]);
    assert_eq!(made.relationships[0].to_columns, ["ps_partkey", "ps_suppkey"]);
    // The prefix of all columns is no part of what people call them.
    assert_eq!(made.field("partsupp", "ps_cost").unwrap().label, "cost");
}

/// Which end of a way it is may stand behind what it is an end of, and the texts of a status have its code.
#[test]
fn an_end_behind_the_name_and_the_code_of_texts_refer() {
    let code = |distinct| Column("code", "VARCHAR", distinct, 0, NONE, &["N", "X"]);
    let name = |distinct| Column("name", "VARCHAR", distinct, 0, NONE, &["New", "Gone"]);
    let locale = Column("locale", "VARCHAR", 4, 0, NONE, &["de", "sv"]);
    let tables = [
        table("towns", 60, &[key("id", 60), name(60)]),
        table("roads", 90, &[key("id", 90), key("town_from", 40), key("town_to", 40)]),
        table("status", 9, &[code(9), name(9)]),
        table("status_texts", 36, &[locale, code(9), name(36)]),
    ];
    let refers = [("roads", "town_from", "towns"), ("roads", "town_to", "towns"), ("status_texts", "code", "status")];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &refers));
    assert_eq!(shown(&made), ["roads.town_from towns", "roads.town_to towns", "status_texts.code status"]);
}

/// A table of ids alone says so of each; a number tells roles of one kind apart; and what a table is called by itself is its own,
/// whatever else has a column of that name.
#[test]
fn a_name_means_the_table_that_is_called_so() {
    let tables = [
        table("tag", 30, &[key("id_tag", 30), Column("name", "VARCHAR", 30, 0, NONE, &["New"])]),
        table("book", 60, &[key("id_book", 60), Column("name", "VARCHAR", 60, 0, NONE, &["Up"])]),
        table("shelving", 90, &[key("id_shelving", 90), key("id_tag", 25), key("id_book", 40)]),
        table("player", 80, &[key("player_id", 80), key("child_order", 40), key("parentid", 20)]),
        table("match", 200, &[key("match_id", 200), key("player1_id", 70), key("player2_id", 70)]),
        table("release", 90, &[key("id", 90), Column("name", "VARCHAR", 88, 0, NONE, &["Up"])]),
        table("release_country", 60, &[key("release", 60), Column("country", "VARCHAR", 9, 0, NONE, &["SE"])]),
        table("release_label", 120, &[key("id", 120), key("release", 55)]),
        table("technology", 40, &[key("tech", 40), Column("about", "VARCHAR", 40, 0, NONE, &["coal"])]),
        table("lifetime_tech", 30, &[key("tech", 30), key("years", 9)]),
        table("costs", 300, &[key("tech", 28), Column("cost", "DOUBLE", 200, 0, ["0.5", "9"], &["1.5"])]),
    ];
    let refers = [
        ("shelving", "id_tag", "tag"),
        ("shelving", "id_book", "book"),
        ("player", "child_order", "player"),
        ("player", "parentid", "player"),
        ("match", "player1_id", "player"),
        ("match", "player2_id", "player"),
        ("release_country", "release", "release"),
        ("release_label", "release", "release"),
        ("release_label", "release", "release_country"),
        ("lifetime_tech", "tech", "technology"),
        ("costs", "tech", "technology"),
        ("costs", "tech", "lifetime_tech"),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &refers));
    assert_eq!(
        shown(&made),
        [
            "shelving.id_tag tag",
            "shelving.id_book book",
            "player.parentid player",
            "match.player1_id player",
            "match.player2_id player",
            "release_country.release release",
            "release_label.release release",
            "lifetime_tech.tech technology",
            "costs.tech technology"
        ]
    );
}

/// The columns of another table's key, called by it and by their own names, in however many tables.
#[test]
fn a_key_of_several_columns_is_referred_to_by_names_with_the_table_before_them() {
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Sprint", "Bonn"]);
    let entries =
        |name| table(name, 900, &[key("bib", 900), text("event_category_name", 9), text("event_contest_name", 7)]);
    let mut tables = [
        table("categories", 9, &[text("name", 9)]),
        table("contests", 7, &[text("name", 7)]),
        table("events", 60, &[text("category_name", 9), text("contest_name", 7), text("place", 8)]),
        entries("starters"),
        entries("finishers"),
        entries("refused"),
    ];
    tables[2].primary_key = vec!["category_name".into(), "contest_name".into()];
    let refers = [("events", "category_name", "categories"), ("events", "contest_name", "contests")];
    let made = shown(&draft(&wanted("it"), &tables, &measured_by(&tables, &refers)));
    for from in ["starters", "finishers", "refused"] {
        assert!(made.contains(&format!("{from}.event_category_name+event_contest_name events")), "{made:?}");
    }
    assert!(made.contains(&"events.category_name categories".to_owned()), "{made:?}");
}

/// Players and rounds have tables of their own, and what happened to a player in a round is told by many: none of these is
/// what the others refer to because it has one row for each. A match has its own number within a round.
#[test]
fn of_many_facts_with_the_same_two_keys_none_is_what_the_others_refer_to() {
    let of = |others: &[&str]| {
        let fact = |name: &&str| table(name, 900, &[key("player_id", 80), key("round_id", 9), key("match_no", 12)]);
        let mut tables = vec![
            table("players", 80, &[key("player_id", 80)]),
            table("rounds", 9, &[key("round_id", 9)]),
            table("scores", 500, &[key("player_id", 80), key("round_id", 9), key("points", 30)]),
            table("matches", 100, &[key("round_id", 9), key("match_no", 12)]),
        ];
        tables[2].primary_key = vec!["player_id".into(), "round_id".into()];
        tables[3].primary_key = vec!["round_id".into(), "match_no".into()];
        tables.extend(others.iter().map(fact));
        let refers: Vec<(&str, &str, &str)> = (tables.iter())
            .flat_map(|it| [(it.name.as_str(), "player_id", "players"), (it.name.as_str(), "round_id", "rounds")])
            .collect();
        let made = shown(&draft(&wanted("cup"), &tables, &measured_by(&tables, &refers)));
        made.into_iter().filter(|it| it.contains('+')).collect::<Vec<_>>()
    };
    assert_eq!(
        of(&["fouls", "goals", "cards"]),
        ["fouls.round_id+match_no matches", "goals.round_id+match_no matches", "cards.round_id+match_no matches"]
    );
    let few = of(&["fouls"]);
    assert!(few.contains(&"fouls.player_id+round_id scores".to_owned()), "one other may well mean it: {few:?}");
}

#[test]
fn tables_of_two_engines_do_not_refer_to_each_other() {
    let mut tables = shop();
    tables[0].place = Some("crm".into());
    let candidates = relationship_candidates(&tables, &Facts::default());
    assert!(candidates.iter().all(|candidate| candidate.to != "customers"), "{candidates:?}");
}

#[test]
fn ways_to_one_table_are_called_by_their_columns_and_by_where_they_start() {
    let tables = vec![
        table("towns", 60, &[key("town_id", 60), Column("name", "VARCHAR", 60, 0, NONE, &["Lund"])]),
        table("loads", 300, &[key("load_id", 300), key("from_town", 50), key("to_town", 50)]),
        table("drivers", 30, &[key("driver_id", 30), key("town_id", 20)]),
    ];
    let made = made_of(&tables).ontology;
    let names: Vec<(&str, Option<&str>, bool)> = made
        .relationships
        .iter()
        .map(|it| (it.from.as_str(), it.role.as_deref(), it.ai.synonyms.contains(&"destination town".to_owned())))
        .collect();
    assert_eq!(names, [("loads", Some("from"), false), ("loads", Some("to"), true), ("drivers", None, false)]);
    assert_eq!(made.relationships[2].ai.synonyms, ["driver town"]);
    // The town is asked for, not its number on the load.
    assert!(made.field("loads", "to_town").unwrap().hidden);
}

#[test]
fn values_that_cannot_be_chance_refer_whatever_they_are_called() {
    let tables = club();
    let refers = [
        ("lessons", "given", "members"),
        ("members", "recommendedby", "members"),
        ("member_notes", "member_id", "members"),
    ];
    let made = draft(&wanted("club"), &tables, &measured_by(&tables, &refers));
    let shown = shown(&made);
    for reference in ["lessons.given members", "members.recommendedby members", "member_notes.member_id members"] {
        assert!(shown.contains(&reference.to_owned()), "{reference}: {shown:?}");
    }
    assert!(!shown.contains(&"lessons.fee members".to_owned()), "an amount is none, wherever it lies: {shown:?}");
}

/// A player's number tells players apart, though coaches have none: it is referred to, and no key of all people.
#[test]
fn a_key_that_some_rows_lack_is_referred_to() {
    let people = [
        Column("player_id", "VARCHAR", 300, 100, NONE, &["aubinja01"]),
        Column("coach_id", "VARCHAR", 120, 280, NONE, &["abelsi01c"]),
        Column("weight", "BIGINT", 90, 0, ["120", "260"], &["180"]),
        Column("postal_code", "VARCHAR", 395, 5, NONE, &["H2G 1A7"]),
    ];
    let scoring = [
        Column("player_id", "VARCHAR", 280, 0, NONE, &["aubinja01"]),
        Column("goals", "BIGINT", 40, 0, ["0", "92"], &["3"]),
        Column("billing_postal_code", "VARCHAR", 280, 0, NONE, &["H2G 1A7"]),
    ];
    let tables = [table("people", 400, &people), table("scoring", 2_000, &scoring)];
    let facts = measured_by(&tables, &[("scoring", "player_id", "people")]);
    assert!(!facts.overlaps.keys().any(|it| it.to_columns == ["postal_code"]), "nobody is looked up by a postal code");
    let made = draft(&wanted("hockey"), &tables, &facts);
    assert_eq!(shown(&made), ["scoring.player_id people"]);
    let people = made.ontology.entity("people").unwrap();
    assert_eq!((people.primary_key.len(), people.unique_keys.as_slice()), (0, &[vec!["player_id".to_owned()]][..]));
}

/// Campaigns that come again and again by household are not what tells campaigns apart.
#[test]
fn a_table_that_uses_its_own_id_is_not_the_one_that_has_it() {
    let id = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let tables = [
        table("campaigns", 6_000, &[id("household_id", 1_500, "2500"), id("campaign_id", 27, "27")]),
        table("campaign_descriptions", 27, &[id("campaign_id", 27, "27"), Column("start", "DATE", 20, 0, NONE, &[])]),
        table("coupons", 900, &[id("campaign_id", 27, "27"), id("upc", 850, "99999")]),
    ];
    let refers =
        [("campaigns", "campaign_id", "campaign_descriptions"), ("coupons", "campaign_id", "campaign_descriptions")];
    let made = draft(&wanted("shop"), &tables, &measured_by(&tables, &refers));
    assert_eq!(
        shown(&made),
        ["campaigns.campaign_id campaign_descriptions", "coupons.campaign_id campaign_descriptions"]
    );
}

/// The last words of one table refer to it; of several that end alike, none is meant; and a shop's group is no other group.
#[test]
fn the_end_of_a_tables_name_refers_to_it_where_it_can_be_no_other() {
    let id = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["north"]);
    let tables = [
        table("acq_fund", 40, &[id("id", 40, "60"), text("name", 40)]),
        table("acq_debit", 900, &[id("id", 900, "900"), id("fund", 38, "60"), id("trans_no", 30, "60")]),
        table("bank_trans", 60, &[id("id", 60, "60"), text("memo", 50)]),
        table("supplier_trans", 70, &[id("id", 70, "70"), text("memo", 50)]),
        table("customer_trans", 80, &[id("id", 80, "80"), text("memo", 50)]),
        table("attribute_group", 12, &[id("attribute_group_id", 12, "12"), text("name", 12)]),
        table("carts", 300, &[id("cart_id", 300, "300"), id("shop_id", 3, "3"), id("shop_group_id", 3, "3")]),
    ];
    let refers = [
        ("acq_debit", "fund", "acq_fund"),
        ("acq_debit", "trans_no", "bank_trans"),
        ("carts", "shop_group_id", "attribute_group"),
    ];
    let made = draft(&wanted("library"), &tables, &measured_by(&tables, &refers));
    assert_eq!(shown(&made), ["acq_debit.fund acq_fund"]);
}

/// The names of warriors are told apart by the warrior, who has an id of his own; so do all others refer to warriors.
#[test]
fn a_key_that_is_another_tables_is_not_what_others_refer_to() {
    let text = |name| Column(name, "VARCHAR", 200, 0, NONE, &["Oda Nobunaga", "Okuni"]);
    let tables = [
        table("conquest_warriors", 200, &[key("id", 200), text("identifier")]),
        table("conquest_warrior_names", 200, &[key("warrior_id", 200), text("name")]),
        table("conquest_episode_warriors", 300, &[key("episode_id", 20), key("warrior_id", 38)]),
        table("conquest_episodes", 20, &[key("id", 20), text("name")]),
        table("types", 17, &[key("id", 17), text("name")]),
        table("moves", 40, &[key("id", 40), key("type_id", 17)]),
    ];
    let refers = [
        ("conquest_warrior_names", "warrior_id", "conquest_warriors"),
        ("conquest_episode_warriors", "warrior_id", "conquest_warriors"),
        ("conquest_episode_warriors", "warrior_id", "conquest_warrior_names"),
        ("conquest_episode_warriors", "episode_id", "conquest_episodes"),
        ("moves", "type_id", "types"),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &refers));
    assert_eq!(
        shown(&made),
        [
            "conquest_warrior_names.warrior_id conquest_warriors",
            "conquest_episode_warriors.episode_id conquest_episodes",
            "conquest_episode_warriors.warrior_id conquest_warriors",
            "moves.type_id types",
        ]
    );
}

#[test]
fn one_random_value_that_is_a_key_is_no_chance() {
    let draw = |name, distinct, rows_without| {
        Column(name, "VARCHAR", distinct, rows_without, NONE, &["5cbd3f4ab5f04d3b8e6a0b7b2d4c9e11"])
    };
    let short = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["ab12"]);
    for (name, holds) in [("guid", true), ("code", false)] {
        let one = |distinct| if holds { draw(name, distinct, 0) } else { short(name, distinct) };
        let other = if holds { draw("quoted", 1, 0) } else { short("quoted", 1) };
        let tables = [
            table("commodities", 4, &[one(4), Column("mnemonic", "VARCHAR", 4, 0, NONE, &["a long name of it"])]),
            table("transactions", 76, &[key("id", 76), other]),
        ];
        let mut facts = Facts::default();
        for candidate in relationship_candidates(&tables, &facts) {
            facts.overlaps.insert(candidate, Overlap { values: 1, found: 1 });
        }
        let expected: &[&str] = if holds { &["transactions.quoted commodities"] } else { &[] };
        assert_eq!(shown(&draft(&wanted("it"), &tables, &facts)), expected, "{name}");
    }
}

#[test]
fn an_id_is_none_of_a_table_of_identifiers() {
    // Numbers from 1 on, of which it says nothing that one's are among the other's.
    let counted = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let text = |name| Column(name, "VARCHAR", 60, 0, NONE, &["Aye-aye", "Bear"]);
    let tables = [
        table("identifier", 60, &[counted("pk", 60, "60"), text("name")]),
        table("area", 11, &[counted("pk", 11, "11"), counted("id", 11, "11"), text("name")]),
    ];
    let refers = [("area", "id", "identifier")];
    assert!(shown(&draft(&wanted("it"), &tables, &measured_by(&tables, &refers))).is_empty());
}

#[test]
fn an_id_of_a_database_is_one_of_its_table() {
    let text = |name| Column(name, "VARCHAR", 60, 0, NONE, &["Aye-aye", "Bear"]);
    let tables = [
        table("study", 60, &[key("id", 60), text("name")]),
        table("season", 90, &[key("id", 90), key("studyDbId", 50)]),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &[("season", "studyDbId", "study")]));
    assert_eq!(shown(&made), ["season.studyDbId study"]);
}

/// What happens to be unique here, and is the first column and the key there, refers to it all the same.
#[test]
fn what_comes_first_in_another_table_is_that_tables() {
    let text = |name| Column(name, "VARCHAR", 40, 0, NONE, &["Lampa", "Szafa"]);
    let tables = [
        table("mebel", 60, &[key("id_mebla", 60), text("nazwa")]),
        table("reklamacja", 58, &[key("id_reklamacji", 58), key("id_mebla", 58)]),
    ];
    let made = draft(&wanted("it"), &tables, &measured_by(&tables, &[("reklamacja", "id_mebla", "mebel")]));
    assert_eq!(shown(&made), ["reklamacja.id_mebla mebel"]);
}
