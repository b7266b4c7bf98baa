use super::*;
use crate::model::ontology::{Additivity, Aggregation, Cardinality, DataType, FieldRole};

fn imported(text: &str, format: Format) -> Imported {
    let imported = import(text).unwrap();
    assert_eq!(imported.format, format);
    imported
}

/// The metrics with their expressions.
fn metrics(ontology: &Ontology) -> Vec<(&str, &str)> {
    ontology.metrics.iter().map(|metric| (metric.name.as_str(), metric.expression.as_str())).collect()
}

fn relationships(ontology: &Ontology) -> Vec<String> {
    let side = |dataset: &str, columns: &[String]| format!("{dataset}({})", columns.join(", "));
    let write = |one: &crate::model::ontology::Relationship| {
        assert_eq!(one.cardinality, Cardinality::ManyToOne, "{}", one.name);
        format!("{} -> {}", side(&one.from, &one.from_columns), side(&one.to, &one.to_columns))
    };
    ontology.relationships.iter().map(write).collect()
}

/// Every expected beginning is that of a note, and there are no others.
fn noted(imported: &Imported, expected: &[&str]) {
    for (at, note) in imported.notes.iter().enumerate() {
        let wanted = expected.get(at).copied().unwrap_or("NOTHING");
        assert!(note.starts_with(wanted), "{at}: expected {wanted}\n{:#?}", imported.notes);
    }
    assert_eq!(imported.notes.len(), expected.len(), "{:#?}", imported.notes);
}

#[test]
fn the_legacy_form_of_metricflow_is_mapped() {
    let text = include_str!("../../../../tests/data/semantic/metricflow_legacy.yaml");
    let imported = imported(text, Format::MetricFlowLegacy);
    let o = &imported.ontology;
    let loans = o.entity("loans").unwrap();
    assert_eq!((loans.source.as_str(), loans.primary_key.as_slice()), ("fct_loans", &["loan_id".to_owned()][..]));
    assert_eq!(loans.default_time_field.as_deref(), Some("lent_on"));
    assert_eq!(loans.ai.synonyms, ["Book loans"]);
    assert_eq!(relationships(o), ["loans(member_id) -> members(member_id)"]);
    let shelf = loans.field("shelf").unwrap();
    assert_eq!((shelf.expression.as_str(), shelf.label.as_str()), ("UPPER(shelf_code)", "Shelf mark"));
    assert_eq!((shelf.role, loans.field("member_id").unwrap().role), (FieldRole::Dimension, FieldRole::Key));
    assert_eq!(loans.field("lent_on").unwrap().datatype, DataType::Date);
    assert_eq!(loans.field("returned_at").unwrap().datatype, DataType::DateTime);
    assert_eq!(
        metrics(o),
        [
            ("fee_total", "SUM(loans.fee_amount)"),
            ("loan_count", "COUNT(loans.loan_id)"),
            ("city_loans", "COUNT(loans.loan_id)"),
            ("late_share", "late_loan_count / loan_count"),
            ("late_loan_count", "SUM(CASE WHEN loans.days_late > 0 THEN 1 ELSE 0 END)"),
            ("fee_per_loan", "fee_total / NULLIF(loan_count, 0)"),
            ("borrowers", "COUNT(DISTINCT loans.member_id)"),
        ]
    );
    assert_eq!(o.metric("city_loans").unwrap().filters, ["members.city = 'Lyon'"]);
    assert_eq!(o.metric("loan_count").unwrap().ai.synonyms, ["Number of loans"]);
    assert_eq!(o.metric("loan_count").unwrap().additivity, Additivity::Additive);
    noted(
        &imported,
        &[
            "semantic_models[0].measures[4]: `books_out` and what uses it were left out: `non_additive_dimension`",
            "semantic_models[0].measures[5].agg_params: has no place",
            "semantic_models[0].measures[5]: `slowest` and what uses it were left out: the aggregation `percentile`",
            "semantic_models[0].entities[2]: the entity `branch` is the key of no other model",
            "metrics[5]: `loan_growth` was left out: `offset_window` has no equal.",
            "metrics[6]: `all_loans` was left out: the type `cumulative` has no equal.",
            "metrics[7]: `open_books` was left out: there is no measure `books_out`.",
            "semantic_models[0].measures[6]: no metric uses the measure `never_used`",
            "saved_queries: has no place",
        ],
    );
}

#[test]
fn the_form_of_metricflow_in_which_models_hold_columns_is_mapped() {
    let imported = imported(include_str!("../../../../tests/data/semantic/metricflow.yaml"), Format::MetricFlow);
    let o = &imported.ontology;
    assert_eq!(relationships(o), ["fct_loans(member_id) -> dim_members(member_id)"]);
    let lent = o.field("fct_loans", "lent_on").unwrap();
    assert_eq!((lent.datatype, lent.is_time, lent.description.as_str()), (DataType::Date, true, "When it was lent"));
    assert_eq!(o.field("fct_loans", "shelf").unwrap().expression, "shelf_code");
    assert_eq!(
        metrics(o),
        [
            ("loan_count", "COUNT(fct_loans.loan_id)"),
            ("fee_total", "SUM(fct_loans.fee_amount)"),
            ("shelf_fees", "SUM(fct_loans.fee_amount)"),
            ("fee_per_loan", "fee_total / loan_count"),
            ("fees_twice", "fee_total * 2"),
        ]
    );
    assert_eq!(o.metric("shelf_fees").unwrap().filters, ["fct_loans.shelf = 'A'"]);
    noted(
        &imported,
        &[
            "models[0].columns[3].tests: has no place",
            "models[2]: `stg_raw` has no semantic model",
            "metrics[2]: `funnel` was left out: the type `conversion` has no equal.",
        ],
    );
}

#[test]
fn cubes_are_mapped() {
    let imported = imported(include_str!("../../../../tests/data/semantic/cube.yaml"), Format::Cube);
    let o = &imported.ontology;
    let names: Vec<(&str, &str)> = o.datasets.iter().map(|one| (one.name.as_str(), one.source.as_str())).collect();
    assert_eq!(names, [("rides", "rides"), ("stations", "stations"), ("bikes", "bikes")]);
    assert_eq!(relationships(o), ["rides(start_station) -> stations(id)", "rides(bike_id, fleet) -> bikes(id, fleet)"]);
    assert_eq!(o.field("rides", "kind").unwrap().expression, "UPPER(rides.kind_code)");
    assert_eq!(o.field("rides", "started_at").unwrap().expression, "started_at");
    assert!(o.field("rides", "is_night").unwrap().hidden);
    assert_eq!(
        metrics(o),
        [
            ("rides_count", "COUNT(rides.id)"),
            ("revenue", "SUM(rides.price)"),
            ("night_revenue", "SUM(rides.price)"),
            ("price_per_ride", "revenue / NULLIF(rides_count, 0)"),
            ("stations_count", "COUNT(stations.id)"),
        ]
    );
    assert_eq!(o.metric("night_revenue").unwrap().filters, ["rides.hour >= 22"]);
    assert_eq!(o.metric("price_per_ride").unwrap().unit.as_deref(), Some("%"));
    assert_eq!(o.segments[0].expression, "rides.minutes > 60");
    noted(
        &imported,
        &[
            "views: has no place",
            "cubes[0].pre_aggregations: has no place",
            "cubes[0].dimensions[3]: was left out: the type `geo` has no equal.",
            "cubes[0].dimensions[4]: was left out: `sub_query` has no equal.",
            "cubes[0].measures[1].format: `currency` has no equal",
            "cubes[0].measures[4]: was left out: an estimated count has no equal.",
            "cubes[0].measures[5]: was left out: `rolling_window` has no equal.",
            "cubes[3]: reads a query and was left out",
            "cubes[0].joins[2]: was left out:",
        ],
    );
}

#[test]
fn models_of_cortex_analyst_are_mapped() {
    let imported = imported(include_str!("../../../../tests/data/semantic/cortex.yaml"), Format::Cortex);
    let o = &imported.ontology;
    assert_eq!(o.ai.instructions, "Cancelled appointments count as appointments.");
    let visits = o.entity("visits").unwrap();
    assert_eq!((visits.source.as_str(), visits.unique_keys.as_slice()), ("visits", &[vec!["visit_id".to_owned()]][..]));
    let minutes = visits.field("minutes").unwrap();
    assert_eq!((minutes.expression.as_str(), minutes.datatype), ("minutes_spent", DataType::Integer));
    assert_eq!((minutes.role, minutes.default_aggregation), (FieldRole::Measure, Some(Aggregation::Avg)));
    assert!(visits.field("seen_on").unwrap().is_time && visits.field("patient_key").unwrap().hidden);
    assert_eq!(relationships(o), ["visits(ward_id) -> wards(id)"]);
    assert_eq!(
        metrics(o),
        [
            ("total_minutes", "SUM(visits.minutes)"),
            ("patients", "COUNT(DISTINCT visits.patient_key)"),
            ("minutes_per_patient", "total_minutes / NULLIF(patients, 0)"),
        ]
    );
    assert_eq!((o.segments[0].name.as_str(), o.segments[0].expression.as_str()), ("done", "visits.state = 'done'"));
    assert_eq!(o.ai.examples, ["How many visits are open?"]);
    assert_eq!(o.verified_queries[0].verified_at.as_deref(), Some("1714752498"));
    noted(
        &imported,
        &[
            "tables[0].dimensions[2].sample_values: were left out",
            "tables[0].dimensions[3]: was left out: the function SPLIT_TO_TABLE",
            "tables[1].dimensions[1].cortex_search_service: has no place",
            "relationships[0].join_type: `inner` was left out",
            "metrics[1]: was left out:",
            "verified_queries[0].name: has no place",
            "verified_queries[0].verified_by: has no place",
            "module_custom_instructions: has no place",
        ],
    );
}

#[test]
fn what_is_no_semantic_model_is_refused() {
    let problems = import("a: 1").unwrap_err();
    assert!(problems[0].hint.contains("Cube"), "{problems:?}");
    // What maps to nothing that an ontology can be is an error, not an empty ontology.
    assert!(import("cubes: []").unwrap_err().iter().any(|problem| problem.path == "datasets"));
}
