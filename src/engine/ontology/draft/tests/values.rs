//! What fields are for, and which values they have.

use super::*;
use crate::model::ontology::{Aggregation, FieldRole};
use crate::model::profile::Figure;

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
fn flags_and_ends_are_named_conditions() {
    let tables = vec![table(
        "loans",
        300,
        &[
            key("loan_id", 300),
            Column("is_active", "BOOLEAN", 2, 0, ["false", "true"], &[]),
            Column("paid", "BIGINT", 2, 0, ["0", "1"], &["0", "1"]),
            Column("shipped", "VARCHAR", 2, 0, ["N", "Y"], &["N", "Y"]),
            Column("approved", "VARCHAR", 2, 0, ["A", "N"], &["A", "N"]),
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
            ("shipped loans", "loans.shipped = 'Y'"),
            ("unshipped loans", "loans.shipped = 'N'"),
            ("returned loans", "loans.return_date IS NOT NULL"),
            ("unreturned loans", "loans.return_date IS NULL"),
        ]
    );
}

#[test]
fn what_was_done_at_a_time_that_rows_may_lack_is_a_named_condition() {
    let time = |name, nulls| Column(name, "TIMESTAMP", 90, nulls, NONE, &[]);
    let tables = vec![table(
        "tickets",
        300,
        &[
            key("ticket_id", 300),
            // When they happened.
            time("opened_at", 3),
            time("resolved_at", 40),
            time("left_on", 40),
            time("answered_at", 0),
            // Neither has happened yet.
            time("expected_at", 40),
            time("ends_on", 40),
            // Something else is called so.
            time("escalated_at", 40),
            Column("escalated", "BOOLEAN", 2, 0, ["false", "true"], &[]),
            time("merged_on", 40),
            Column("status", "VARCHAR", 2, 0, NONE, &["Open", "Merged"]),
        ],
    )];
    let made = made_of(&tables).ontology;
    let of: Vec<(&str, &str)> = made.segments.iter().map(|it| (it.name.as_str(), it.expression.as_str())).collect();
    assert_eq!(
        of,
        [
            ("resolved tickets", "tickets.resolved_at IS NOT NULL"),
            ("not resolved tickets", "tickets.resolved_at IS NULL"),
            ("left tickets", "tickets.left_on IS NOT NULL"),
            ("not left tickets", "tickets.left_on IS NULL"),
        ]
    );
    assert_eq!(made.segments[1].synonyms, ["not resolved"]);
    assert_eq!(made.field("tickets", "ends_on").unwrap().ai.synonyms, ["end"]);
}

#[test]
fn few_numbers_that_stand_for_kinds_are_a_closed_set() {
    let number = |name, distinct| Column(name, "BIGINT", distinct, 0, ["1", "99"], &["1", "2"]);
    let columns = [key("firm_id", 300), number("company_type", 4), number("branch_type", 40), number("lot", 4)];
    let made = made_of(&[table("firms", 300, &columns)]).ontology;
    let closed = |name: &str| made.field("firms", name).unwrap().is_enum;
    assert_eq!(["company_type", "branch_type", "lot"].map(closed), [true, false, false]);
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

#[test]
fn declared_values_stay_known_whatever_the_rows_hold() {
    let columns = [
        key("ticket_id", 90),
        Column("status", "VARCHAR", 2, 0, NONE, &["open", "odd"]),
        Column("lane", "BIGINT", 2, 0, ["1", "2"], &["1", "2"]),
        Column("first_name", "VARCHAR", 2, 0, NONE, &["Ann"]),
    ];
    let mut tables = vec![table("tickets", 90, &columns)];
    let text = |value: &&str| (*value).to_owned();
    for (column, values) in
        [("status", ["open", "closed", ""]), ("lane", ["1", "2", "3"]), ("first_name", ["Ann", "Lee", "Fay"])]
    {
        tables[0].told.values.insert(column.into(), values.iter().map(text).collect());
    }
    let known = |tables: &[DraftTable], name: &str| {
        let field = made_of(tables).ontology.field("tickets", name).unwrap().clone();
        field.value_synonyms.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(known(&tables, "status"), ["closed", "open"]);
    // A number says nothing to people, and a person is no value.
    assert!(known(&tables, "lane").is_empty() && known(&tables, "first_name").is_empty());
    tables[0].told.values.insert("status".into(), (0..201).map(|at| format!("status {at}")).collect());
    assert!(known(&tables, "status").is_empty(), "no set that people could say");
}

#[test]
fn values_of_people_are_never_indexed_and_the_reasons_say_why() {
    let text = |name, sample| Column(name, "VARCHAR", 40, 0, NONE, sample);
    let id = |name| Column(name, "BIGINT", 40, 0, ["1", "40"], &["1"]);
    let tables = vec![
        table("patients", 40, &[id("patient_id"), text("name", &["Ann Lee"]), text("town", &["Lund"])]),
        table("clients", 40, &[id("client_id"), text("name", &["Client#1"])]),
        table(
            "staff",
            40,
            &[id("staff_id"), Column("fname", "VARCHAR", 9, 0, NONE, &["Ann"]), text("lname", &["Lee"])],
        ),
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
    for (name, because) in [
        ("patients.name", "Personal: The names in patients are those of people."),
        ("staff.fname", "Personal: Beside it is the other part of people's names."),
    ] {
        let said = said_of(&made, name);
        // Few as they are, names of people are no values to list.
        assert!(said.contains(because) && !said.contains("Closed set"), "{name}: {said}");
    }
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
