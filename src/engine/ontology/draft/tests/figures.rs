//! What is added up or averaged, and the numbers that are defined.

use super::*;
use crate::model::ontology::{Additivity, Aggregation, FieldRole, Metric};
use crate::model::profile::Figure;

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
    let beside = |made: &Draft| made.ontology.field("bills", "amount").unwrap().unit_field.clone();
    let one = bills(&["EUR"]);
    let noted = |made: &Draft| made.notes.iter().any(|it| it.starts_with("Amounts of bills are in several currencies"));
    assert_eq!((unit(&one).as_deref(), noted(&one)), (Some("EUR"), false), "{:?}", one.notes);
    assert_eq!(beside(&one), None);
    assert_eq!(one.ontology.metrics.iter().filter(|metric| metric.unit.as_deref() == Some("EUR")).count(), 2);
    let two = bills(&["EUR", "USD"]);
    assert_eq!((unit(&two), noted(&two)), (None, true), "{:?}", two.notes);
    assert_eq!(beside(&two).as_deref(), Some("currency_code"));
    assert!(said_of(&two, "bills.amount").contains("Unit in currency_code: The codes of currencies stand there."));
    let estimated = bill_in(&["EUR"], &[Figure::Distinct, Figure::TopValues]);
    assert_eq!(unit(&estimated).as_deref(), Some("EUR"), "no row has another");
    let sampled = bill_in(&["EUR"], &[Figure::Nulls, Figure::Range, Figure::Distinct, Figure::TopValues]);
    let guessed = sampled.notes.iter().any(|it| it.starts_with("Amounts of bills seem to be in EUR only"));
    assert_eq!((unit(&sampled), guessed), (None, true), "{:?}", sampled.notes);
    assert_eq!(beside(&sampled).as_deref(), Some("currency_code"), "others may be in the rows that nobody saw");
}

#[test]
fn time_that_was_spent_is_added_up() {
    let day = |name| Column(name, "DATE", 90, 0, NONE, &[]);
    let minutes = |name| Column(name, "BIGINT", 40, 0, ["5", "240"], &["30", "12"]);
    let mut tables = vec![
        table("tickets", 90, &[key("ticket_id", 90), day("opened_on"), minutes("wait_minutes")]),
        table("worklogs", 400, &[key("worklog_id", 400), key("ticket_id", 80), day("work_date"), minutes("minutes")]),
    ];
    let refers = [("worklogs", "ticket_id", "tickets")];
    let of = |tables: &[DraftTable]| draft(&wanted("it"), tables, &measured_by(tables, &refers)).ontology;
    let made = of(&tables);
    let by = |made: &Ontology, table: &str, name: &str| fields::measure(made.field(table, name).unwrap());
    assert_eq!(by(&made, "worklogs", "minutes"), Some(Aggregation::Sum));
    assert_eq!(made.metric("total_minutes").unwrap().expression, "SUM(worklogs.minutes)");
    assert_eq!(made.metric("average_minutes").unwrap().expression, "AVG(worklogs.minutes)");
    assert_eq!(by(&made, "tickets", "wait_minutes"), Some(Aggregation::Avg));
    // Where nothing says when, nothing says that it happened.
    tables[1].columns.remove(2);
    tables[1].profile.as_mut().unwrap().columns.remove(2);
    assert_eq!(by(&of(&tables), "worklogs", "minutes"), Some(Aggregation::Avg));
}

#[test]
fn what_each_event_brought_is_added_up() {
    let day = |name| Column(name, "DATE", 90, 0, NONE, &[]);
    let heavy = |name| Column(name, "DOUBLE", 60, 0, ["0.5", "99.5"], &["1.5", "12.25"]);
    let load = [
        key("worklog_id", 400),
        key("ticket_id", 80),
        day("work_date"),
        heavy("gross_weight_kg"),
        heavy("shelf_weight_kg"),
    ];
    let tables = [
        table("tickets", 90, &[key("ticket_id", 90), day("opened_on"), heavy("net_weight_kg")]),
        table("worklogs", 400, &load),
    ];
    let facts = measured_by(&tables, &[("worklogs", "ticket_id", "tickets")]);
    let made = draft(&wanted("it"), &tables, &facts).ontology;
    let by = |table: &str, name: &str| fields::measure(made.field(table, name).unwrap());
    assert_eq!(by("worklogs", "gross_weight_kg"), Some(Aggregation::Sum));
    assert_eq!(by("worklogs", "shelf_weight_kg"), Some(Aggregation::Avg));
    assert_eq!(by("tickets", "net_weight_kg"), Some(Aggregation::Avg), "how heavy one is, that others refer to");
}

#[test]
fn rows_that_are_called_like_the_sum_of_others_are_noted() {
    let noted = |kinds: &'static [&'static str]| {
        let columns = [
            Column("kind", "VARCHAR", 6, 0, NONE, kinds),
            Column("year", "BIGINT", 15, 0, ["2001", "2015"], &["2001", "2002"]),
            Column("deaths", "BIGINT", 60, 0, ["0", "9000"], &["12", "7"]),
        ];
        let mut losses = table("losses", 90, &columns);
        losses.primary_key = ["kind", "year"].map(str::to_owned).into();
        let made = made_of(&[losses]);
        made.notes.iter().any(|note| note.starts_with("Rows of losses with All kinds as their kind may be sums"))
    };
    assert!(noted(&["Flood", "All kinds"]));
    assert!(!noted(&["Flood", "Storm"]));
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
        Column("max_dew_point", "BIGINT", 60, 0, ["1", "60"], &["17", "23", "41"]),
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
    assert_eq!(
        measured,
        ["horsepower", "bonus", "drift", "emission", "max_dew_point", "goals", "years_at_company", "number_of_rooms"]
    );
}
