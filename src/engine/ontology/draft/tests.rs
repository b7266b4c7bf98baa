use super::*;
use crate::engine::ontology::expression::{Aggregate, Scalar};
use crate::model::ontology::{Additivity, Aggregation, Cardinality, Confidence, Entity, FieldRole};
use crate::model::personal::{Basis, Finding, Kind};

/// A column of a test: name, type, different values, NULLs, least, greatest, samples.
struct Column(&'static str, &'static str, i64, i64, [&'static str; 2], &'static [&'static str]);

fn table(name: &str, rows: i64, columns: &[Column]) -> DraftTable {
    let info = |column: &Column| ColumnInfo {
        name: column.0.into(),
        r#type: column.1.into(),
        nullable: true,
        description: String::new(),
        sample_values: column.5.iter().map(|value| (*value).to_owned()).collect(),
    };
    let figures = |column: &Column| ColumnProfile {
        name: column.0.into(),
        r#type: column.1.into(),
        nulls: column.3,
        distinct: column.2,
        min: (!column.4[0].is_empty()).then(|| column.4[0].to_owned()),
        max: (!column.4[1].is_empty()).then(|| column.4[1].to_owned()),
        mean: None,
        median: None,
        not_finite: None,
        top_values: Vec::new(),
        approximate: Vec::new(),
        not_computed: Vec::new(),
        likely_personal_data: (["first_name", "last_name", "given_name"].contains(&column.0)).then(|| Finding {
            kind: Kind::PersonName,
            because: vec![Basis::Name],
            share: None,
        }),
    };
    DraftTable {
        name: name.into(),
        columns: columns.iter().map(info).collect(),
        profile: Some(Profile { row_count: rows, sampled_rows: None, columns: columns.iter().map(figures).collect() }),
        row_count: rows,
        ..DraftTable::default()
    }
}

const NONE: [&str; 2] = ["", ""];

/// A shop: people, orders of them with two addresses each, lines, articles and their tags.
fn shop() -> Vec<DraftTable> {
    let int = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1", "2"]);
    vec![
        table(
            "customers",
            100,
            &[
                int("customer_id", 100),
                Column("first_name", "VARCHAR", 60, 0, NONE, &["Ann"]),
                Column("last_name", "VARCHAR", 90, 0, NONE, &["Lee"]),
                Column("birth_date", "DATE", 90, 0, NONE, &["1970-01-01"]),
                Column("valid", "BIGINT", 2, 0, ["0", "1"], &["0", "1"]),
            ],
        ),
        table(
            "addresses",
            150,
            &[
                int("address_id", 150),
                Column("city", "VARCHAR", 20, 0, NONE, &["Bonn"]),
                Column("zip", "BIGINT", 40, 0, ["10000", "99999"], &["10000"]),
            ],
        ),
        table(
            "orders",
            400,
            &[
                int("order_id", 400),
                int("cust_id", 90),
                int("billing_address_id", 90),
                Column("shipping_address_id", "BIGINT", 80, 12, ["1", "150"], &["1"]),
                Column("created_at", "TIMESTAMP", 400, 0, NONE, &[]),
                Column("order_date", "DATE", 200, 0, NONE, &["2024-01-05"]),
                Column("status", "VARCHAR", 3, 0, NONE, &["open", "paid"]),
                Column("comment", "VARCHAR", 300, 0, NONE, &["please ring"]),
            ],
        ),
        table(
            "order_items",
            1_000,
            &[
                int("order_id", 400),
                int("line_no", 9),
                int("product_id", 50),
                int("qty", 12),
                Column("unit_price", "DECIMAL(10,2)", 40, 0, ["0.5", "99"], &["1.50"]),
                Column("discount_pct", "DOUBLE", 5, 0, ["0", "20"], &["5"]),
            ],
        ),
        table(
            "products",
            50,
            &[
                int("productid", 50),
                Column("title", "VARCHAR", 50, 0, NONE, &["Lamp"]),
                Column("weight_kg", "DOUBLE", 30, 2, ["0.1", "20"], &["1.5"]),
                Column("stock", "BIGINT", 30, 0, ["0", "500"], &["12"]),
                Column("list_price", "DECIMAL(10,2)", 40, 0, ["0.5", "99"], &["1.50"]),
            ],
        ),
        table("tags", 8, &[int("id", 8), Column("name", "VARCHAR", 8, 0, NONE, &["new"])]),
        table(
            "product_tags",
            70,
            &[int("product_id", 50), int("tag_id", 8), Column("last_update", "TIMESTAMP", 1, 0, NONE, &[])],
        ),
    ]
}

/// Answers every question: pairs of keys of the shop are keys, and all values are found.
fn facts(tables: &[DraftTable]) -> Facts {
    let mut facts = Facts::default();
    loop {
        let open = key_candidates(tables, &facts);
        if open.is_empty() {
            break;
        }
        for candidate in open {
            let is_key =
                [["order_id", "line_no"], ["product_id", "tag_id"]].iter().any(|key| candidate.columns == *key);
            facts.keys.insert(candidate, is_key);
        }
    }
    for candidate in relationship_candidates(tables, &facts) {
        facts.overlaps.insert(candidate, Overlap { values: 80, found: 80 });
    }
    facts
}

fn drafted() -> Draft {
    let tables = shop();
    draft("shop", &tables, &[], &facts(&tables))
}

fn entity(name: &str) -> Entity {
    drafted().ontology.entity(name).unwrap().clone()
}

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
    for (candidate, overlap) in &mut facts.overlaps {
        if candidate.from_columns == ["cust_id"] {
            overlap.found = 20;
        }
    }
    let made = draft("shop", &tables, &[], &facts);
    assert!(made.ontology.relationships.iter().all(|r| r.to != "customers"));
    assert!(made.notes.iter().any(|note| note.contains("orders.cust_id") && note.contains("25 %")), "{:?}", made.notes);

    let mut tables = tables;
    tables[2].foreign_keys = vec![ForeignKey {
        columns: vec!["cust_id".into()],
        to: "customers".into(),
        to_columns: vec!["customer_id".into()],
    }];
    let made = draft("shop", &tables, &[], &facts);
    let declared = made.ontology.relationships.iter().find(|r| r.to == "customers").unwrap();
    assert_eq!(declared.confidence, Confidence::Declared);
}

/// Trips between places whose code is called otherwise there.
fn trips() -> Vec<DraftTable> {
    let code = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["AAA", "BBB"]);
    vec![
        table("places", 300, &[code("iata", 300), Column("name", "VARCHAR", 299, 0, NONE, &["Aachen"])]),
        table(
            "trips",
            9_000,
            &[
                Column("id", "BIGINT", 9_000, 0, ["1", "9000"], &["1"]),
                code("orig", 40),
                code("dest", 60),
                Column("state", "VARCHAR", 4, 0, NONE, &["open", "done"]),
            ],
        ),
    ]
}

#[test]
fn codes_of_one_kind_are_found_by_their_values_and_keep_their_roles() {
    let tables = trips();
    let candidates = relationship_candidates(&tables, &Facts::default());
    let tried: Vec<&str> = candidates.iter().map(|candidate| candidate.from_columns[0].as_str()).collect();
    // Not the state, whose values have another length.
    assert_eq!(tried, ["orig", "dest"]);
    assert!(candidates.iter().all(|candidate| candidate.by == By::Values));
    let mut facts = Facts::default();
    for candidate in candidates {
        facts.overlaps.insert(candidate, Overlap { values: 100, found: 96 });
    }
    let made = draft("trips", &tables, &[], &facts).ontology.relationships;
    let roles: Vec<_> = made.iter().map(|r| (r.role.as_deref(), r.ai.synonyms.clone(), r.optional)).collect();
    assert_eq!(
        roles,
        [(Some("orig"), vec!["origin".to_owned()], true), (Some("dest"), vec!["destination".to_owned()], true)]
    );

    for overlap in facts.overlaps.values_mut() {
        overlap.found = 60;
    }
    assert!(draft("trips", &tables, &[], &facts).ontology.relationships.is_empty());
    // Without being measured, values say nothing.
    assert!(draft("trips", &tables, &[], &Facts::default()).ontology.relationships.is_empty());
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
    let made = draft("films", &tables, &[], &facts).ontology.relationships;
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
    let made = draft("people", &tables, &[], &facts).ontology.relationships;
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
    let made = draft("parts", &tables, &[], &Facts::default()).ontology;
    assert_eq!(made.relationships.len(), 1);
    assert_eq!(made.relationships[0].from_columns, ["l_partkey", "l_suppkey"]);
    assert_eq!(made.relationships[0].to_columns, ["ps_partkey", "ps_suppkey"]);
    // The prefix of all columns is no part of what people call them.
    assert_eq!(made.field("partsupp", "ps_cost").unwrap().label, "cost");
}

#[test]
fn tables_of_two_engines_do_not_refer_to_each_other() {
    let mut tables = shop();
    tables[0].place = Some("crm".into());
    let candidates = relationship_candidates(&tables, &Facts::default());
    assert!(candidates.iter().all(|candidate| candidate.to != "customers"), "{candidates:?}");
}

#[test]
fn fields_have_roles_units_and_what_people_call_them() {
    let made = drafted().ontology;
    let field = |dataset: &str, name: &str| made.field(dataset, name).unwrap().clone();
    for (dataset, name, role) in [
        ("customers", "customer_id", FieldRole::Key),
        ("customers", "valid", FieldRole::Dimension),
        ("customers", "birth_date", FieldRole::Dimension),
        ("orders", "cust_id", FieldRole::Key),
        ("orders", "status", FieldRole::Dimension),
        ("orders", "comment", FieldRole::Attribute),
        ("order_items", "line_no", FieldRole::Key),
        ("order_items", "qty", FieldRole::Measure),
        ("addresses", "zip", FieldRole::Dimension),
        ("products", "weight_kg", FieldRole::Measure),
    ] {
        assert_eq!(field(dataset, name).role, role, "{dataset}.{name}");
    }
    for (dataset, name, aggregation, unit) in [
        ("order_items", "qty", Aggregation::Sum, None),
        ("order_items", "unit_price", Aggregation::Avg, None),
        ("order_items", "discount_pct", Aggregation::Avg, Some("%")),
        ("products", "weight_kg", Aggregation::Avg, Some("kilograms")),
        ("products", "stock", Aggregation::Sum, None),
    ] {
        let field = field(dataset, name);
        assert_eq!((field.default_aggregation, field.unit.as_deref()), (Some(aggregation), unit), "{name}");
    }
    assert_eq!(field("order_items", "qty").ai.synonyms, ["quantity"]);
    assert!(field("orders", "status").is_enum && field("orders", "status").index_values);
    assert!(!field("orders", "comment").index_values);
    let name = field("customers", "first_name");
    assert_eq!((name.pii.as_deref(), name.index_values), (Some("person_name"), false));
}

#[test]
fn rows_have_a_name_and_a_time() {
    let label = |name: &str| entity(name).label_field;
    assert_eq!(label("products").as_deref(), Some("title"));
    assert_eq!(label("tags").as_deref(), Some("name"));
    assert_eq!(label("customers").as_deref(), Some("full_name"));
    assert_eq!(label("orders"), None);
    let time = |name: &str| entity(name).default_time_field;
    assert_eq!(time("orders").as_deref(), Some("order_date"));
    // A birthday is not when somebody became a customer, and an update is no event.
    assert_eq!(time("customers"), None);
    assert_eq!(time("product_tags"), None);
    assert_eq!(entity("orders").grain.as_deref(), Some("order"));
    assert_eq!(entity("addresses").ai.synonyms, ["address"]);
    // Only a bridge.
    assert!(entity("product_tags").hidden && !entity("order_items").hidden);
}

#[test]
fn parts_of_names_and_dates_become_one_field() {
    let int = |name, distinct| Column(name, "INTEGER", distinct, 0, ["1", "31"], &["1"]);
    let tables = vec![table(
        "visits",
        500,
        &[
            int("visit_id", 500),
            Column("given_name", "VARCHAR", 60, 0, NONE, &["Ann"]),
            Column("surname", "VARCHAR", 60, 0, NONE, &["Lee"]),
            int("year", 3),
            int("month", 12),
            int("day", 31),
        ],
    )];
    let made = draft("visits", &tables, &[], &Facts::default()).ontology;
    let entity = made.entity("visits").unwrap();
    assert_eq!(entity.label_field.as_deref(), Some("full_name"));
    assert_eq!(entity.field("full_name").unwrap().expression, "given_name || ' ' || surname");
    assert_eq!(entity.field("full_name").unwrap().pii.as_deref(), Some("person_name"));
    assert_eq!(entity.default_time_field.as_deref(), Some("date"));
    assert_eq!(entity.field("date").unwrap().expression, "MAKE_DATE(\"year\", \"month\", \"day\")");
    assert!(entity.field("date").unwrap().is_time);
}

#[test]
fn numbers_have_definitions_that_add_up_where_they_say_so() {
    let made = drafted().ontology;
    for (name, expression, additivity) in [
        ("order_count", "COUNT(orders.order_id)", Additivity::Additive),
        ("customer_count", "COUNT(customers.customer_id)", Additivity::Additive),
        ("total_qty", "SUM(order_items.qty)", Additivity::Additive),
        ("average_unit_price", "AVG(order_items.unit_price)", Additivity::NonAdditive),
        ("total_stock", "SUM(products.stock)", Additivity::SemiAdditive),
        ("order_item_value", "SUM(order_items.unit_price * order_items.qty)", Additivity::Additive),
    ] {
        let metric = made.metric(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!((metric.expression.as_str(), metric.additivity.clone()), (expression, additivity), "{name}");
    }
    // Lines happened when their order did.
    assert_eq!(made.metric("total_qty").unwrap().default_time_field.as_deref(), Some("orders.order_date"));
    assert_eq!(made.metric("average_list_price").unwrap().default_time_field, None);
    let revenue: Vec<&str> = made
        .metrics
        .iter()
        .filter(|metric| metric.ai.synonyms.iter().any(|word| word == "revenue"))
        .map(|metric| metric.name.as_str())
        .collect();
    assert_eq!(revenue, ["order_item_value"]);
    assert!(made.metric("product_tag_count").is_none());
}

#[test]
fn what_may_be_revenue_twice_is_noted_and_given_to_none() {
    let money = |name| Column(name, "DOUBLE", 90, 0, ["1", "900"], &["1.5"]);
    let id = |name| Column(name, "BIGINT", 100, 0, ["1", "100"], &["1"]);
    let tables =
        vec![table("orders", 100, &[id("id"), money("total")]), table("payments", 100, &[id("id"), money("amount")])];
    let made = draft("money", &tables, &[], &Facts::default());
    assert!(made.ontology.metrics.iter().all(|metric| !metric.ai.synonyms.iter().any(|word| word == "revenue")));
    assert!(
        made.notes.iter().any(|note| note.contains("order_total") && note.contains("total_amount")),
        "{:?}",
        made.notes
    );
}

#[test]
fn two_rows_do_not_make_keys() {
    let int = |name| Column(name, "BIGINT", 2, 0, ["1", "2"], &["1"]);
    let tables = vec![
        table("claim", 2, &[int("claim_identifier"), int("claim_amount")]),
        table("claim_coverage", 2, &[int("claim_identifier"), int("detail_no")]),
    ];
    let made = draft("claims", &tables, &[], &Facts::default()).ontology;
    assert_eq!(made.entity("claim").unwrap().primary_key, ["claim_identifier"]);
    assert!(made.entity("claim").unwrap().unique_keys.is_empty());
    assert!(made.entity("claim_coverage").unwrap().primary_key.is_empty());
    assert_eq!(made.relationships[0].cardinality, Cardinality::ManyToOne);
}

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
    let made = draft("shop", &tables, &[], &facts).ontology;
    assert_eq!(made.entity("customers").unwrap().primary_key, ["customer_id"]);
    assert!(made.relationships.iter().any(|r| r.from == "orders" && r.to == "customers"));
    assert!(made.field("orders", "status").unwrap().is_enum);
}

#[test]
fn every_expression_is_one_that_ontologies_may_hold() {
    for (tables, facts) in [(shop(), facts(&shop())), (trips(), Facts::default())] {
        let made = draft("all", &tables, &[], &facts).ontology;
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
    assert!(key.sql().contains("FROM \"or\"\"ders\"") && key.sql().contains("\"a b\" IS NULL"), "{}", key.sql());
    let tables = shop();
    for candidate in relationship_candidates(&tables, &facts(&tables)) {
        assert!(candidate.sql().len() < 400, "{}", candidate.sql());
    }
}

#[test]
fn the_same_tables_make_the_same_draft() {
    assert_eq!(drafted(), drafted());
    let mut glossary = drafted();
    glossary.ontology.glossary = vec![Term { term: "AOV".into(), means: "average order value".into() }];
    let tables = shop();
    assert_eq!(draft("shop", &tables, &glossary.ontology.glossary, &facts(&tables)), glossary);
}
