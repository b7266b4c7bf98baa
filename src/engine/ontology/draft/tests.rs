use super::*;
use crate::engine::ontology::expression::{Aggregate, Scalar};
use crate::model::ontology::{Additivity, Aggregation, Cardinality, Confidence, Entity, FieldRole, Metric};
use crate::model::personal::{Basis, Finding, Kind};
use crate::model::profile::Figure;

/// A column of a test: name, type, different values, NULLs, least, greatest, samples.
struct Column(&'static str, &'static str, i64, i64, [&'static str; 2], &'static [&'static str]);

fn table(name: &str, rows: i64, columns: &[Column]) -> DraftTable {
    let info = |column: &Column| ColumnInfo {
        name: column.0.into(),
        r#type: column.1.into(),
        nullable: true,
        description: String::new(),
        sample_values: column.5.iter().map(|value| (*value).to_owned()).collect(),
        ..ColumnInfo::default()
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

fn wanted(name: &str) -> Wanted {
    Wanted { name: name.into(), ..Wanted::default() }
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

/// Columns, and the tables in which all of their values are.
const REFER: &[(&str, &str)] = &[
    ("billing_address_id", "addresses"),
    ("brand", "firms"),
    ("car_id", "cars"),
    ("cust_id", "customers"),
    ("entry_id", "entries"),
    ("from_town", "towns"),
    ("lamp_id", "lamps"),
    ("order_id", "orders"),
    ("product_id", "products"),
    ("shipping_address_id", "addresses"),
    ("tag_id", "tags"),
    ("to_town", "towns"),
    ("town_id", "towns"),
];

/// How many values of a candidate are there: all, or none.
fn measured(candidate: &Candidate) -> Overlap {
    let refers = |column: &String| REFER.contains(&(column.as_str(), candidate.to.as_str()));
    Overlap { values: 80, found: if candidate.from_columns.iter().any(refers) { 80 } else { 0 } }
}

/// Answers every question: pairs of keys of the shop are keys, and what refers to something is there.
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
        let overlap = measured(&candidate);
        facts.overlaps.insert(candidate, overlap);
    }
    facts
}

fn drafted() -> Draft {
    let tables = shop();
    draft(&wanted("shop"), &tables, &facts(&tables))
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
    let made = draft(&wanted("shop"), &tables, &facts);
    let refers: Vec<_> = made.ontology.relationships.iter().filter(|r| r.to == "customers").collect();
    assert!(refers.is_empty(), "{refers:?}");
    let left = |it: &&Evidence| it.reference.as_ref().is_some_and(|asked| asked.state == State::LeftOut);
    let left: Vec<&str> = made.evidence.iter().filter(left).map(|it| it.decided.as_str()).collect();
    assert!(left.contains(&"orders.cust_id does not refer to customers.customer_id"), "{left:?}");

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
    let mut tables = vec![table(
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
    // A day 99 among them makes no date: nobody looked yet.
    let made = draft(&wanted("visits"), &tables, &Facts::default()).ontology;
    assert_eq!(made.entity("visits").unwrap().field("date"), None);
    tables[0].date_parts = Some(["year", "month", "day"].map(Into::into));
    let made = draft(&wanted("visits"), &tables, &Facts::default()).ontology;
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
    let tables = [("orders", "total"), ("invoices", "amount"), ("payments", "amount")]
        .map(|(name, amount)| table(name, 100, &[id("id"), money(amount)]));
    let revenue = |made: &Draft| {
        let named = made.ontology.metrics.iter().filter(|it| it.ai.synonyms.iter().any(|word| word == "revenue"));
        named.map(|metric| metric.name.clone()).collect::<Vec<_>>()
    };
    let made = draft(&wanted("money"), &tables, &Facts::default());
    assert!(revenue(&made).is_empty());
    let noted = |note: &String| note.contains("order_total") && note.contains("total_invoice_amount");
    assert!(made.notes.iter().any(noted), "{:?}", made.notes);
    // A payment says how it was paid, not what was sold; alone it is all that is known.
    let without = draft(&wanted("money"), &[tables[0].clone(), tables[2].clone()], &Facts::default());
    assert_eq!(revenue(&without), ["order_total"]);
    let alone = draft(&wanted("money"), &[tables[2].clone()], &Facts::default());
    assert_eq!(revenue(&alone), ["total_amount"]);
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

/// Tables whose keys are those of their names, and whose references hold.
fn made_of(tables: &[DraftTable]) -> Draft {
    draft(&wanted("it"), tables, &facts(tables))
}

fn key(name: &'static str, distinct: i64) -> Column {
    Column(name, "BIGINT", distinct, 0, ["1", "900"], &["1", "2"])
}

#[test]
fn what_holds_nothing_is_hidden_and_said() {
    let tables = vec![table(
        "meters",
        200,
        &[
            key("meter_id", 200),
            Column("remark_code", "VARCHAR", 0, 200, NONE, &[]),
            Column("load", "DOUBLE", 4, 196, ["1", "9"], &["1.5"]),
            Column("power", "DOUBLE", 90, 100, ["1", "9"], &["1.5"]),
            Column("updated_at", "TIMESTAMP", 200, 0, NONE, &[]),
        ],
    )];
    let made = made_of(&tables);
    let hidden = |name: &str| made.ontology.field("meters", name).unwrap().hidden;
    assert_eq!(["remark_code", "load", "power", "updated_at"].map(hidden), [true, true, false, true]);
    assert!(made.notes.contains(&"meters has no value in remark_code: hidden.".to_owned()), "{:?}", made.notes);
    assert!(made.notes.contains(&"Hardly a row of meters has a value in load: hidden.".to_owned()));
    assert!(made.ontology.metric("average_load").is_none() && made.ontology.metric("average_power").is_some());
}

#[test]
fn an_instant_is_a_day_only_where_it_is_known_where_days_begin() {
    let part = |name, most: &'static str| Column(name, "INTEGER", 12, 0, ["1", most], &["1"]);
    let mut tables = vec![table(
        "readings",
        500,
        &[
            key("reading_id", 500),
            Column("year", "INTEGER", 2, 0, ["2013", "2014"], &["2013"]),
            part("month", "12"),
            part("day", "31"),
            Column("taken_at", "TIMESTAMP WITH TIME ZONE", 500, 0, NONE, &[]),
        ],
    )];
    tables[0].date_parts = Some(["year", "month", "day"].map(Into::into));
    let time = |made: &Draft| made.ontology.entity("readings").unwrap().default_time_field.clone().unwrap();
    let nobody_says = made_of(&tables);
    assert_eq!(time(&nobody_says), "date");
    let berlin = Wanted { timezone: Some("Europe/Berlin".into()), ..wanted("it") };
    let said = draft(&berlin, &tables, &facts(&tables));
    assert_eq!((time(&said).as_str(), said.ontology.calendar.timezone.as_str()), ("taken_at", "Europe/Berlin"));

    let only = vec![table("calls", 9, &[key("call_id", 9), Column("at", "TIMESTAMPTZ", 9, 0, NONE, &[])])];
    let note = |made: &Draft| made.notes.iter().any(|note| note.contains("in which time zone days begin"));
    assert!(note(&made_of(&only)) && !note(&draft(&berlin, &only, &facts(&only))));
}

#[test]
fn a_number_that_people_gave_is_what_rows_are_called_by() {
    let tables = vec![table("claims", 90, &[key("claim_id", 90), key("company_claim_number", 90), key("year", 9)])];
    let claims = made_of(&tables).ontology.datasets.remove(0);
    assert_eq!(claims.label_field.as_deref(), Some("company_claim_number"));
    assert_eq!(claims.unique_keys, [["company_claim_number"]]);
    assert!(claims.field("company_claim_number").unwrap().ai.synonyms.contains(&"claim number".to_owned()));
}

/// Orders of goods, and lines of them with a price before a discount of a part of 1.
fn sales() -> Vec<DraftTable> {
    vec![
        table("orders", 300, &[key("order_id", 300), Column("order_date", "DATE", 90, 0, NONE, &[])]),
        table("lamps", 40, &[key("lamp_id", 40), Column("name", "VARCHAR", 40, 0, NONE, &["Sun"])]),
        table(
            "order_lines",
            900,
            &[
                key("order_id", 300),
                key("line_no", 9),
                key("lamp_id", 40),
                Column("quantity", "INTEGER", 9, 0, ["1", "9"], &["1"]),
                Column("extended_price", "DECIMAL(10,2)", 300, 0, ["1", "900"], &["10.00"]),
                Column("discount", "DECIMAL(4,2)", 9, 0, ["0.00", "0.10"], &["0.05"]),
                Column("ship_date", "DATE", 90, 0, NONE, &[]),
            ],
        ),
    ]
}

#[test]
fn lines_happen_with_their_order_and_revenue_is_less_discounts() {
    let tables = sales();
    let made = made_of(&tables).ontology;
    assert_eq!(made.entity("order_lines").unwrap().default_time_field, None);
    let called = |word: &str| {
        let named = |metric: &&Metric| metric.ai.synonyms.iter().any(|synonym| synonym == word);
        made.metrics.iter().filter(named).map(|metric| metric.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(called("revenue"), ["net_extended_price"]);
    let net = made.metric("net_extended_price").unwrap();
    assert_eq!(net.expression, "SUM(order_lines.extended_price * (1 - order_lines.discount))");
    assert_eq!(net.default_time_field.as_deref(), Some("orders.order_date"));
    assert_eq!((called("units sold"), called("lamps sold")), (vec!["total_quantity"], vec!["total_quantity"]));

    // Eight per cent written as 8 are no part of 1.
    let mut percents = tables;
    percents[2].profile.as_mut().unwrap().columns[5].max = Some("8".into());
    assert!(made_of(&percents).ontology.metric("net_extended_price").is_none());
}

#[test]
fn what_an_order_is_worth_is_that_of_its_lines() {
    let mut tables = sales();
    tables[2].columns[4].name = "unit_price".into();
    tables[2].profile.as_mut().unwrap().columns[4].name = "unit_price".into();
    let made = made_of(&tables).ontology;
    let worth = made.metric("average_order_value").unwrap();
    assert_eq!(worth.expression, "SUM(order_lines.unit_price * order_lines.quantity) / COUNT(orders.order_id)");
}

#[test]
fn tables_that_only_mark_rows_have_the_amounts_of_those_rows() {
    let tables = vec![
        table(
            "entries",
            500,
            &[key("entry_id", 500), Column("amount", "BIGINT", 90, 0, ["1", "900"], &["5"]), key("booked_year", 3)],
        ),
        table("tips", 60, &[key("entry_id", 60)]),
    ];
    let made = made_of(&tables).ontology;
    assert!(made.entity("tips").unwrap().hidden);
    let tips = made.metric("total_tip").unwrap();
    assert_eq!(
        (tips.expression.as_str(), tips.filters.as_slice()),
        ("SUM(entries.amount)", ["tips.entry_id IS NOT NULL".to_owned()].as_slice())
    );
    assert!(tips.ai.synonyms.contains(&"tips".to_owned()));
    assert_eq!(made.metric("tip_count").unwrap().expression, "COUNT(entries.entry_id)");
    assert!(made.metrics.iter().all(|metric| metric.expression != "COUNT(tips.entry_id)"));
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
fn flags_and_ends_are_named_conditions() {
    let tables = vec![table(
        "loans",
        300,
        &[
            key("loan_id", 300),
            Column("is_active", "BOOLEAN", 2, 0, ["false", "true"], &[]),
            Column("paid", "BIGINT", 2, 0, ["0", "1"], &["0", "1"]),
            Column("tall", "BIGINT", 2, 0, ["0", "1"], &["0", "1"]),
            Column("closed", "BOOLEAN", 1, 0, ["true", "true"], &[]),
            Column("return_date", "DATE", 90, 40, NONE, &[]),
            Column("ship_date", "DATE", 90, 0, NONE, &[]),
        ],
    )];
    let made = made_of(&tables).ontology;
    let made: Vec<(&str, &str)> = made.segments.iter().map(|it| (it.name.as_str(), it.expression.as_str())).collect();
    assert_eq!(
        made,
        [
            ("active loans", "loans.is_active"),
            ("inactive loans", "NOT loans.is_active"),
            ("paid loans", "loans.paid = 1"),
            ("unpaid loans", "loans.paid = 0"),
            ("returned loans", "loans.return_date IS NOT NULL"),
            ("unreturned loans", "loans.return_date IS NULL"),
        ]
    );
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
fn declared_enumerations_are_texts_with_known_values() {
    let mut tables = vec![table("tickets", 90, &[key("ticket_id", 90), Column("mood", "mood_t", 3, 0, NONE, &[])])];
    tables[0].profile = None;
    let opaque = made_of(&tables).ontology.field("tickets", "mood").unwrap().clone();
    assert_eq!((opaque.datatype, opaque.hidden), (DataType::Opaque, true));
    tables[0].values.insert("mood".into(), vec!["glad".into(), "sad".into()]);
    let known = made_of(&tables).ontology.field("tickets", "mood").unwrap().clone();
    assert_eq!((known.datatype, known.hidden, known.is_enum), (DataType::String, false, true));
    assert_eq!(known.expression, "CAST(mood AS VARCHAR)");
}

/// A paper is told apart by `pid`, and so on: the first letter and "id". Keys of few rows, one after the other.
fn papers() -> Vec<DraftTable> {
    let id = |name, distinct, most| Column(name, "BIGINT", distinct, 0, ["1", most], &["1", "2"]);
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Ada Lovelace", "Alan Turing"]);
    vec![
        table("author", 12, &[id("aid", 12, "12"), text("name", 12), id("oid", 4, "5")]),
        table("organization", 5, &[id("oid", 5, "5"), text("name", 5)]),
        table(
            "paper",
            30,
            &[id("pid", 30, "30"), text("title", 30), Column("year", "BIGINT", 9, 0, ["1990", "1999"], &[])],
        ),
        table("writes", 40, &[id("aid", 12, "12"), id("pid", 30, "30")]),
        table("cite", 60, &[id("citing", 25, "30"), id("cited", 28, "30")]),
    ]
}

/// Measures candidates as if these columns held keys of these tables, and all others held none.
fn measured_by(tables: &[DraftTable], refers: &[(&str, &str, &str)]) -> Facts {
    let mut facts = Facts::default();
    for _ in 0..5 {
        for candidate in key_candidates(tables, &facts) {
            facts.keys.insert(candidate, false);
        }
    }
    for candidate in relationship_candidates(tables, &facts) {
        let [column] = candidate.from_columns.as_slice() else { continue };
        let holds = refers.contains(&(candidate.from.as_str(), column.as_str(), candidate.to.as_str()));
        facts.overlaps.insert(candidate, Overlap { values: 25, found: if holds { 25 } else { 5 } });
    }
    facts
}

fn shown(draft: &Draft) -> Vec<String> {
    let relationships = draft.ontology.relationships.iter();
    relationships.map(|it| format!("{}.{} {}", it.from, it.from_columns.join("+"), it.to)).collect()
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
fn amounts_are_in_the_only_currency_beside_them() {
    let bill_in = |codes: &[&str], approximate: &[Figure]| {
        let columns = [
            Column("bill_id", "BIGINT", 50, 0, ["1", "50"], &["1"]),
            Column("amount", "DOUBLE", 40, 0, ["0.5", "99.5"], &["1.5"]),
            Column("currency_code", "VARCHAR", codes.len().try_into().unwrap(), 0, NONE, &["EUR"]),
        ];
        let mut bills = table("bills", 50, &columns);
        let value = |code: &&str| crate::model::profile::TopValue { value: (*code).to_owned(), count: 9, share: 0.2 };
        let figures = &mut bills.profile.as_mut().unwrap().columns[2];
        figures.top_values = codes.iter().map(value).collect();
        figures.approximate = approximate.to_vec();
        made_of(&[bills])
    };
    let bills = |codes: &[&str]| bill_in(codes, &[]);
    let unit = |made: &Draft| made.ontology.field("bills", "amount").unwrap().unit.clone();
    let one = bills(&["EUR"]);
    let noted = |made: &Draft| made.notes.iter().any(|it| it.starts_with("Amounts of bills are in several currencies"));
    assert_eq!((unit(&one).as_deref(), noted(&one)), (Some("EUR"), false), "{:?}", one.notes);
    assert_eq!(one.ontology.metrics.iter().filter(|metric| metric.unit.as_deref() == Some("EUR")).count(), 2);
    let two = bills(&["EUR", "USD"]);
    assert_eq!((unit(&two), noted(&two)), (None, true), "{:?}", two.notes);
    let estimated = bill_in(&["EUR"], &[Figure::Distinct, Figure::TopValues]);
    assert_eq!(unit(&estimated).as_deref(), Some("EUR"), "no row has another");
    let sampled = bill_in(&["EUR"], &[Figure::Nulls, Figure::Range, Figure::Distinct, Figure::TopValues]);
    let guessed = sampled.notes.iter().any(|it| it.starts_with("Amounts of bills seem to be in EUR only"));
    assert_eq!((unit(&sampled), guessed), (None, true), "{:?}", sampled.notes);
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
fn values_of_people_are_never_indexed_and_the_evidence_says_why() {
    let text = |name, sample| Column(name, "VARCHAR", 40, 0, NONE, sample);
    let id = |name| Column(name, "BIGINT", 40, 0, ["1", "40"], &["1"]);
    let tables = vec![
        table("patients", 40, &[id("patient_id"), text("name", &["Ann Lee"]), text("town", &["Lund"])]),
        table("clients", 40, &[id("client_id"), text("name", &["Client#1"])]),
        table("staff", 40, &[id("staff_id"), text("fname", &["Ann"]), text("lname", &["Lee"])]),
        table("products", 40, &[id("product_id"), text("name", &["Lamp"])]),
    ];
    let made = draft(&wanted("people"), &tables, &Facts::default());
    let found: Vec<String> = made
        .ontology
        .datasets
        .iter()
        .flat_map(|entity| entity.fields.iter().map(move |field| (entity, field)))
        .filter(|(_, field)| field.pii.is_some())
        .map(|(entity, field)| format!("{}.{}", entity.name, field.name))
        .collect();
    assert_eq!(found, ["patients.name", "staff.fname", "staff.lname", "staff.full_name"]);
    let fields = made.ontology.datasets.iter().flat_map(|entity| &entity.fields);
    assert!(fields.filter(|field| field.pii.is_some()).all(|field| !field.index_values && !field.is_enum));
    let because = |decided: &str| made.evidence.iter().find(|it| it.decided.contains(decided)).unwrap().because.clone();
    assert_eq!(because("patients.name are not indexed"), ["The names in patients are those of people."]);
    assert_eq!(because("staff.fname are not indexed"), ["Beside it is the other part of people's names."]);
}

#[test]
fn texts_at_which_nobody_looked_are_judged_by_their_names_and_samples_and_never_indexed() {
    let id = Column("case_id", "BIGINT", 40, 0, ["1", "40"], &["1"]);
    let text = |name, sample| Column(name, "VARCHAR", 3, 0, NONE, sample);
    let columns = [id, text("reach", &["ann@example.com"]), text("email", &[]), text("status", &["open"])];
    let mut tables = vec![table("cases", 40, &columns)];
    let field = |tables: &[DraftTable], name: &str| {
        let made = draft(&wanted("cases"), tables, &Facts::default()).ontology;
        let field = made.field("cases", name).unwrap();
        (field.pii.clone(), field.is_enum, field.index_values)
    };
    assert_eq!(field(&tables, "status"), (None, true, true));
    for figures in &mut tables[0].profile.as_mut().unwrap().columns {
        figures.not_computed = vec![Figure::LikelyPersonalData];
    }
    assert_eq!(field(&tables, "status"), (None, false, false));
    assert_eq!(field(&tables, "email"), (Some("email".into()), false, false));
    assert_eq!(field(&tables, "reach"), (Some("email".into()), false, false));
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

/// A club: members, lessons that are given by some of them and named by nobody's name, and what a member says of himself.
fn club() -> Vec<DraftTable> {
    let number = |name, distinct, least, most| Column(name, "BIGINT", distinct, 0, [least, most], &["7010"]);
    let text = |name, distinct| Column(name, "VARCHAR", distinct, 0, NONE, &["Fay", "Gil"]);
    vec![
        table(
            "members",
            90,
            &[number("member_id", 90, "7001", "7094"), text("name", 88), number("recommendedby", 30, "7001", "7060")],
        ),
        table(
            "lessons",
            400,
            &[
                number("lesson_id", 400, "1", "400"),
                number("given", 7, "7004", "7080"),
                number("fee", 40, "7010", "7090"),
                number("id_room", 9, "1", "9"),
                number("goals", 12, "0", "14"),
                number("first_half", 8, "1", "45"),
            ],
        ),
        table("member_notes", 60, &[number("member_id", 60, "7001", "7094"), text("title", 60)]),
    ]
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

#[test]
fn what_counts_on_from_a_first_one_is_no_measure() {
    let tables = club();
    let made = draft(&wanted("club"), &tables, &measured_by(&tables, &[]));
    let measures = |entity: &str| {
        let fields = made.ontology.entity(entity).unwrap().fields.iter();
        let measures = fields.filter_map(|field| Some((field.name.as_str(), fields::measure(field)?)));
        measures.map(|(name, by)| format!("{name} {by:?}")).collect::<Vec<_>>()
    };
    assert_eq!(measures("members"), Vec::<String>::new());
    assert_eq!(measures("lessons"), ["fee Sum", "goals Sum"]);
}

#[test]
fn a_table_that_begins_with_the_key_of_another_is_told_apart_by_it_and_not_by_its_names() {
    let tables = club();
    let made = draft(&wanted("club"), &tables, &measured_by(&tables, &[]));
    assert_eq!(made.ontology.entity("member_notes").unwrap().primary_key, ["member_id"]);
}

/// A number is measured when its name or its values say so; what somebody gave out is not, whatever it is called.
#[test]
fn numbers_that_stand_for_something_are_no_measures() {
    let columns = [
        // Nothing in these names says anything: the values do.
        Column("wipact", "BIGINT", 5, 0, ["1", "5"], &["1", "2", "3"]),
        Column("debtorno", "BIGINT", 40, 0, ["1", "40"], &["1", "2", "3"]),
        Column("serial", "BIGINT", 400, 0, ["20000001", "29999999"], &["20000001", "21345678"]),
        Column("counted_on", "BIGINT", 200, 0, ["10001", "10200"], &["10001", "10002"]),
        Column("horsepower", "BIGINT", 60, 0, ["46", "230"], &["110", "150", "90"]),
        Column("bonus", "BIGINT", 30, 0, ["0", "9000"], &["500", "1000", "250"]),
        Column("drift", "BIGINT", 90, 0, ["-40", "55"], &["-3", "12", "7"]),
        Column("emission", "DOUBLE", 90, 0, ["0.2", "55.1"], &["0.7", "12.5"]),
        // Here the name does.
        Column("goals", "BIGINT", 7, 0, ["0", "6"], &["0", "1", "2"]),
        Column("years_at_company", "BIGINT", 20, 0, ["0", "19"], &["0", "1", "2"]),
        Column("number_of_rooms", "BIGINT", 20, 0, ["1", "20"], &["1", "2", "3"]),
        Column("payment_method", "BIGINT", 2, 0, ["1", "2"], &["1", "2"]),
        Column("cost_center", "BIGINT", 30, 0, ["4100", "9800"], &["4100", "7250"]),
        Column("order_number", "BIGINT", 400, 0, ["-5", "90000"], &["100", "200", "300"]),
        Column("spcd", "BIGINT", 80, 0, ["-40", "950"], &["12", "830"]),
        Column("x", "DOUBLE", 390, 0, ["-5.5", "9.25"], &["0.5", "8.25"]),
    ];
    let made = draft(&wanted("numbers"), &[table("things", 400, &columns)], &Facts::default());
    let fields = &made.ontology.datasets[0].fields;
    let measured: Vec<&str> =
        fields.iter().filter(|it| it.role == FieldRole::Measure).map(|it| it.name.as_str()).collect();
    assert_eq!(measured, ["horsepower", "bonus", "drift", "emission", "goals", "years_at_company", "number_of_rooms"]);
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
