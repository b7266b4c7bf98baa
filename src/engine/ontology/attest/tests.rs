use serde_json::{Value, json};

use super::*;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::engine::ontology::read::read;
use crate::model::dataset::{Dataset, Kind};
use crate::model::ontology::{DataType, Field, Metric, Ontology, Severity};
use crate::model::table::{Column, Table};

const RICH: &str = include_str!("../../../../tests/data/ossie/insurance.yaml");

fn table(name: &str) -> Dataset {
    let clock = Clock::manual(0);
    Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        row_count: 1,
        bytes: 1,
        ..Dataset::new(Id::new(&clock), Id::new(&clock), name, Kind::Table)
    }
}

fn insurance() -> Ontology {
    read(RICH).unwrap().ontology
}

fn part<'p>(plan: &'p Plan, what: &str) -> (&'p Group, &'p Part) {
    let mut all = plan.groups.iter().flat_map(|group| group.parts.iter().map(move |part| (group, part)));
    all.find(|(_, part)| part.what == what).unwrap_or_else(|| panic!("{what}"))
}

fn sql(plan: &Plan, what: &str) -> String {
    let (group, part) = part(plan, what);
    group.sql(&[part])
}

/// An answer of one row with columns of one type.
fn answer(kind: &str, row: Vec<Value>) -> Table {
    let columns = row.iter().map(|_| Column { name: "c".into(), r#type: kind.into() }).collect();
    Table { columns, rows: vec![row], truncated: false }
}

#[test]
fn every_kind_of_question_is_written() {
    let mut ontology = insurance();
    ontology.metrics.push(Metric {
        name: "loss_per_claim".into(),
        expression: "loss_amount / claim_count".into(),
        ..Metric::default()
    });
    ontology.metrics[1].filters = vec!["claim.status = 'O'".into()];
    let plan = plan(&ontology, &[table("claim"), table("claim_amount")]);
    assert_eq!(plan.findings, []);
    for (what, expected) in [
        (
            "datasets[0].primary_key",
            "SELECT COUNT(*) AS c1, COUNT(CASE WHEN \"claim\".\"claim_identifier\" IS NOT NULL THEN 1 END) AS c2, \
             COUNT(DISTINCT \"claim\".\"claim_identifier\") AS c3 FROM \"claim\" AS \"claim\"",
        ),
        (
            "datasets[0].fields[3].expression",
            "SELECT MAX(CAST((UPPER(TRIM(\"claim\".\"status_code\"))) AS VARCHAR)) AS c1 FROM \"claim\" AS \"claim\"",
        ),
        (
            "datasets[0].fields[3]",
            "SELECT DISTINCT (UPPER(TRIM(\"claim\".\"status_code\"))) AS c1 FROM \"claim\" AS \"claim\" \
             WHERE (UPPER(TRIM(\"claim\".\"status_code\"))) IS NOT NULL LIMIT 201",
        ),
        (
            "relationships[0]",
            "SELECT COUNT(*) AS c1, COUNT(CASE WHEN l.\"claim_identifier\" IS NOT NULL THEN 1 END) AS c2, \
             COUNT(CASE WHEN l.\"claim_identifier\" IS NOT NULL AND COALESCE(r.met, 0) = 0 THEN 1 END) AS c3 \
             FROM \"claim_amount\" AS l LEFT JOIN (SELECT DISTINCT p.\"claim_identifier\" AS k0, 1 AS met \
             FROM \"claim\" AS p) AS r ON l.\"claim_identifier\" = r.k0",
        ),
        (
            "metrics[2].expression",
            "SELECT ((SELECT SUM(\"claim_amount\".\"amount\") FROM \"claim_amount\" AS \"claim_amount\" \
             LEFT JOIN \"claim\" AS \"claim\" ON \"claim_amount\".\"claim_identifier\" = \"claim\".\"claim_identifier\" \
             WHERE ((UPPER(TRIM(\"claim\".\"status_code\"))) = 'O'))) / NULLIF(((SELECT \
             COUNT(DISTINCT \"claim\".\"claim_identifier\") FROM \"claim\" AS \"claim\")), 0) AS c1",
        ),
    ] {
        // Claims have a row policy: what it hides is not asked about.
        let held = "(SELECT * FROM \"claim\" AS \"claim\" WHERE (UPPER(TRIM(\"claim\".\"status_code\"))) <> 'X') AS ";
        assert_eq!(sql(&plan, what), expected.replace("\"claim\" AS ", held), "{what}");
    }
    // Nothing that a row policy hides is shown, not even summed up.
    assert!(matches!(part(&plan, "metrics[0].expression").1.judge, Judge::Metric { shows: false, .. }));
}

#[test]
fn days_are_those_of_the_ontology_s_time_zone() {
    let mut ontology = insurance();
    ontology.calendar.timezone = "Asia/Tokyo".into();
    let claim = &mut ontology.datasets[0];
    for (name, expression, datatype) in
        [("filed_at", "filed_at", DataType::DateTimeTz), ("filed_on", "CAST(filed_at AS DATE)", DataType::Date)]
    {
        let (name, expression) = (name.into(), expression.into());
        claim.fields.push(Field { name, expression, datatype, ..Field::default() });
    }
    claim.row_policy = Some("filed_at < '2024-01-01'".into());
    let metric = &mut ontology.metrics[1];
    metric.expression = "COUNT(DISTINCT CAST(claim.filed_at AS DATE))".into();
    metric.filters = vec!["claim.filed_at >= '2023-01-01'".into()];
    let plan = plan(&ontology, &[table("claim"), table("claim_amount")]);
    assert_eq!(plan.findings, []);
    let there = "(\"claim\".\"filed_at\" AT TIME ZONE 'Asia/Tokyo')";
    let (field, metric) = (sql(&plan, "datasets[0].fields[6].expression"), sql(&plan, "metrics[1].expression"));
    let held = format!("WHERE {there} < '2024-01-01') AS \"claim\"");
    assert!(field.contains(&format!("(CAST({there} AS DATE))")) && field.contains(&held), "{field}");
    let counted = format!("SELECT COUNT(DISTINCT CAST({there} AS DATE)) FROM");
    assert!(metric.contains(&counted) && metric.contains(&format!("({there} >= '2023-01-01')")), "{metric}");
}

#[test]
fn several_columns_are_counted_as_one_value() {
    let mut ontology = insurance();
    ontology.datasets[1].primary_key = vec!["claim_identifier".into(), "kind".into()];
    let plan = plan(&ontology, &[table("claim"), table("claim_amount")]);
    let (a, b) = ("\"claim_amount\".\"claim_identifier\"", "\"claim_amount\".\"kind\"");
    let distinct = format!("COUNT(DISTINCT CASE WHEN {a} IS NOT NULL AND {b} IS NOT NULL THEN ({a}, {b}) END) AS c3");
    let given = sql(&plan, "datasets[1].primary_key");
    assert!(given.contains(&distinct), "{given}");
}

#[test]
fn statements_stay_below_the_limit_and_lose_no_question() {
    let mut ontology = insurance();
    for at in 0..200 {
        let field = Field {
            nullable: Some(false),
            expression: format!("c{at}"),
            name: format!("field_{at}"),
            ..Field::default()
        };
        ontology.datasets[1].fields.push(field);
    }
    let plan = plan(&ontology, &[table("claim"), table("claim_amount")]);
    for group in &plan.groups {
        let statements = group.statements(4_096);
        assert!(statements.iter().all(|statement| statement.sql.chars().count() <= 4_096));
        let asked: Vec<&str> = statements.iter().flat_map(|s| s.parts.iter().map(|part| part.what.as_str())).collect();
        let wanted: Vec<&str> = group.parts.iter().map(|part| part.what.as_str()).collect();
        assert_eq!(asked, wanted);
        if group.parts.len() > 100 {
            assert!((2..20).contains(&statements.len()), "{}", statements.len());
        }
    }
}

#[test]
fn what_cannot_be_asked_is_a_finding() {
    let mut ontology = insurance();
    ontology.metrics[0].expression = "claim_count + 1".into();
    ontology.datasets[0].row_policy = None;
    ontology.datasets[0].fields[3].expression = "UPPER(".into();
    let plan = plan(&ontology, &[table("claim")]);
    let whats: Vec<&str> = plan.findings.iter().map(|finding| finding.what.as_str()).collect();
    let expected = [
        "datasets[0].fields[3].expression",
        "datasets[1].source",
        "relationships[0]",
        "metrics[0].expression",
        "metrics[1].expression",
    ];
    assert_eq!(whats, expected);
    assert!(plan.findings.iter().all(|finding| !finding.passed && finding.is_error()));
}

#[test]
fn answers_are_judged() {
    let part = |judge: Judge| Part { what: "x.datatype".into(), name: "a.b".into(), select: vec![], judge };
    let key = |is_primary: bool, row: [i64; 3]| {
        part(Judge::Key { is_primary }).judge(&answer("BIGINT", row.map(Value::from).to_vec()), 0).unwrap()
    };
    assert!(key(true, [3, 3, 3]).passed);
    assert!(!key(true, [3, 2, 2]).passed && key(false, [3, 2, 2]).passed);
    assert_eq!(
        key(true, [9, 8, 6]).says,
        "`a.b` is declared as a key, but is empty in 1 of 9 rows and repeats a value in 2 of 9 rows."
    );
    let partners = |is_optional: bool, row: [i64; 3]| {
        let judge = Judge::Partners { is_optional, to: "c".into() };
        let finding = part(judge).judge(&answer("BIGINT", row.map(Value::from).to_vec()), 0).unwrap();
        (finding.passed, finding.severity)
    };
    assert_eq!(partners(false, [4, 4, 0]), (true, Severity::Error));
    assert_eq!(partners(false, [4, 3, 0]), (false, Severity::Error));
    assert_eq!(partners(true, [4, 3, 0]), (true, Severity::Warning));
    assert_eq!(partners(true, [4, 4, 1]), (false, Severity::Warning));
    let kind = |declared: DataType, native: &str| {
        part(Judge::Type { declared }).judge(&answer(native, vec![Value::Null]), 0).is_none()
    };
    assert!(kind(DataType::Decimal, "DOUBLE") && kind(DataType::Date, "TIMESTAMP") && kind(DataType::Opaque, "BLOB"));
    assert!(!kind(DataType::Date, "VARCHAR") && !kind(DataType::Integer, "BOOLEAN"));
    // Counts above 2^53 come as texts.
    let filled = Judge::Filled { severity: Severity::Warning, otherwise: "x" };
    let found =
        part(filled).judge(&answer("BIGINT", vec![json!(0), json!("9007199254740995"), json!("9007199254740993")]), 1);
    assert_eq!(found.unwrap().figures["empty"], json!(2));
    // A type that cannot be found out is the expression's fault.
    assert_eq!(part(Judge::Type { declared: DataType::Date }).refused("no").what, "x.expression");
}

#[test]
fn a_value_that_is_only_listed_may_be_in_no_row() {
    let mut ontology = insurance();
    ontology.datasets[0].fields[3].value_synonyms.insert("P".into(), Vec::new());
    let plan = plan(&ontology, &[table("claim"), table("claim_amount")]);
    let (_, status) = part(&plan, "datasets[0].fields[3]");
    let judged = |values: &[&str]| {
        let rows = values.iter().map(|value| vec![json!(value)]).collect();
        status.judge(&Table { rows, ..answer("VARCHAR", Vec::new()) }, 0).unwrap()
    };
    assert!(judged(&["C", "O"]).passed);
    let finding = judged(&["O"]);
    let says = "1 of the 2 values of `claim.status` that people have words for occur in no row, such as `C`.";
    assert_eq!((finding.passed, finding.says.as_str()), (false, says));
}
