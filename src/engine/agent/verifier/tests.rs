use serde_json::json;

use super::*;
use crate::model::plan::{Dimension, FieldRef, Measure};
use crate::model::table::Column;

fn table(rows: Vec<Vec<Json>>) -> Table {
    let width = rows.first().map_or(0, Vec::len);
    let columns = (0..width).map(|at| Column { name: format!("c{at}"), r#type: String::new() }).collect();
    Table { columns, rows, truncated: false }
}

/// Of one dimension and one measure.
fn result(rows: Vec<Vec<Json>>) -> Table {
    Table { rows, ..table(vec![vec![json!(null), json!(null)]]) }
}

fn column(role: Role, datatype: DataType, nullable: bool) -> OutputColumn {
    OutputColumn { heading: format!("{role:?}"), role, datatype, unit: None, format: None, nullable }
}

/// One dimension and one measure, with the checks given.
fn compiled(measure: OutputColumn, checks: Vec<Check>) -> Compiled {
    Compiled {
        sql: String::new(),
        count_sql: None,
        columns: vec![column(Role::Dimension(0), DataType::String, true), measure],
        reads: Default::default(),
        notes: vec![],
        grain: String::new(),
        checks,
        checks_sql: None,
    }
}

fn plan(value: Value, shown_as: Option<Shown>) -> Plan {
    Plan {
        dimensions: vec![Dimension::of(FieldRef::new("t", "d"))],
        measures: vec![Measure { shown_as, ..Measure::of(value) }],
        ..Plan::default()
    }
}

fn check(kind: CheckKind) -> Check {
    Check { name: "one".into(), kind, says: "it holds".into() }
}

fn sum() -> OutputColumn {
    column(Role::Measure(0), DataType::Decimal, true)
}

fn judged(kind: CheckKind, rows: Vec<Vec<Json>>, numbers: Option<Vec<Json>>) -> Verdict {
    let plan = plan(Value::Metric("m".into()), None);
    let numbers = numbers.map(|row| table(vec![row]));
    verify(&compiled(sum(), vec![check(kind)]), &plan, &Ontology::default(), &result(rows), numbers.as_ref(), &[])
}

#[test]
fn keys_that_are_not_one_are_a_reason_to_distrust() {
    let one_side = || CheckKind::OneSide { rows: 0, keys: 1 };
    assert!(
        judged(one_side(), vec![], Some(vec![json!(3), json!(3)]))
            .findings
            .iter()
            .all(|f| f.check != "one" || f.passed)
    );
    let verdict = judged(one_side(), vec![vec![json!("a"), json!(1)]], Some(vec![json!(3), json!(2)]));
    assert!(!verdict.passed);
    assert!(verdict.findings[0].says.contains("3 rows have 2 different keys"), "{:?}", verdict.findings);
}

#[test]
fn what_cannot_be_read_does_not_pass() {
    let row = || vec![vec![json!("a"), json!(1)]];
    let partners = || CheckKind::Partners {
        orphans: 0,
        without: 1,
        of: 2,
        lost: None,
        optional: false,
        rows: "visits".into(),
        from: "visit".into(),
        to: "shop".into(),
    };
    for kind in
        [CheckKind::OneSide { rows: 0, keys: 1 }, partners(), CheckKind::Total { measure: 0, total: 0, shared: false }]
    {
        for numbers in [None, Some(vec![]), Some(vec![json!("many"), json!(true), json!([])])] {
            let verdict = judged(kind.clone(), row(), numbers.clone());
            assert!(!verdict.passed, "{kind:?} {numbers:?}");
        }
    }
    // Two rows of numbers are not the one that was asked for.
    let two = table(vec![vec![json!(1), json!(1)], vec![json!(1), json!(1)]]);
    let compiled = compiled(sum(), vec![check(CheckKind::OneSide { rows: 0, keys: 1 })]);
    let plan = plan(Value::Metric("m".into()), None);
    assert!(!verify(&compiled, &plan, &Ontology::default(), &table(row()), Some(&two), &[]).passed);
    // Nor is a result with other columns.
    let other = table(vec![vec![json!(1)]]);
    assert!(!verify(&compiled, &plan, &Ontology::default(), &other, Some(&two), &[]).passed);
}

#[test]
fn rows_without_a_partner_are_said_with_their_share() {
    let kind = CheckKind::Partners {
        orphans: 0,
        without: 1,
        of: 2,
        lost: None,
        optional: false,
        rows: "visits".into(),
        from: "visit".into(),
        to: "shop".into(),
    };
    let row = vec![vec![json!("a"), json!(1)]];
    let verdict = judged(kind.clone(), row.clone(), Some(vec![json!(2), json!(1), json!(8)]));
    assert!(verdict.passed);
    assert_eq!(verdict.caveats.len(), 2);
    assert!(verdict.caveats[0].starts_with("2 of 8 visits (25.0 %)"), "{:?}", verdict.caveats);
    assert!(verdict.caveats[1].starts_with("1 of 8 visits (12.5 %)"), "{:?}", verdict.caveats);
    assert_eq!(verdict.findings[0].says, "3 of 8 visits are without a shop.");
    assert_eq!(judged(kind, row, Some(vec![json!(0), json!(0), json!(8)])).caveats, Vec::<String>::new());
}

#[test]
fn parts_add_up_to_the_total() {
    let kind = || CheckKind::Total { measure: 0, total: 0, shared: false };
    // A decimal comes as a text, NULL is no part, and the total of nothing is NULL.
    let rows = || vec![vec![json!("a"), json!("1.50")], vec![json!("b"), json!(null)], vec![json!(null), json!(2)]];
    assert!(judged(kind(), rows(), Some(vec![json!("3.50")])).passed);
    assert!(!judged(kind(), rows(), Some(vec![json!("3.51")])).passed);
    assert!(judged(kind(), vec![], Some(vec![json!(null)])).passed);
    // A total of nothing is not the total of parts that have a value.
    assert!(!judged(kind(), rows(), Some(vec![json!(null)])).passed);
    assert!(!judged(kind(), vec![], Some(vec![json!(3)])).passed);
    // Where rows are in several groups, the parts may be more than the total together, but none alone.
    let shared = || CheckKind::Total { measure: 0, total: 0, shared: true };
    assert!(judged(shared(), rows(), Some(vec![json!(2)])).passed);
    assert!(!judged(shared(), rows(), Some(vec![json!("1.99")])).passed);
}

#[test]
fn numbers_are_said_as_people_write_them() {
    let total = CheckKind::Total { measure: 0, total: 0, shared: false };
    let rows = vec![vec![json!("a"), json!(4_945_442.279_999_975_f64)]];
    let verdict = judged(total, rows, Some(vec![json!(4_945_442.279_999_975_f64)]));
    assert_eq!(verdict.findings[0].says, "The parts add up to 4,945,442.28.");
    let kind = CheckKind::Groups { without: 0, of: 1, groups: "shops".into(), have: "no row" };
    let verdict = judged(kind, vec![vec![json!("a"), json!(1)]], Some(vec![json!(1_000), json!(20_000)]));
    assert_eq!(verdict.findings[0].says, "1,000 of 20,000 shops have no row.");
}

#[test]
fn rows_that_a_condition_leaves_out_are_said() {
    let kind = CheckKind::Partners {
        orphans: 0,
        without: 1,
        of: 2,
        lost: Some(3),
        optional: true,
        rows: "visits".into(),
        from: "visit".into(),
        to: "shop".into(),
    };
    let row = || vec![vec![json!("a"), json!(1)]];
    let caveats =
        |lost: i64| judged(kind.clone(), row(), Some(vec![json!(0), json!(3), json!(8), json!(lost)])).caveats;
    assert_eq!(caveats(3), ["3 of 8 visits (37.5 %) have no shop, and are left out."]);
    assert_eq!(caveats(0), ["3 of 8 visits (37.5 %) have no shop, and count."]);
    assert!(!judged(kind.clone(), row(), Some(vec![json!(0), json!(3), json!(8)])).passed);
}

#[test]
fn groups_without_a_row_are_said() {
    let kind = CheckKind::Groups { without: 0, of: 1, groups: "shops".into(), have: "no row, and count as 0" };
    let row = || vec![vec![json!("a"), json!(1)]];
    let caveats = |without: i64| judged(kind.clone(), row(), Some(vec![json!(without), json!(4)])).caveats;
    assert_eq!(caveats(1), ["1 of 4 shops (25.0 %) have no row, and count as 0."]);
    assert!(caveats(0).is_empty());
}

#[test]
fn a_group_that_is_there_twice_does_not_pass() {
    let twice = vec![vec![json!(null), json!(1)], vec![json!(null), json!(2)]];
    assert!(!judged(CheckKind::Grain, twice, None).passed);
    let once = vec![vec![json!(null), json!(1)], vec![json!("null"), json!(2)]];
    assert!(judged(CheckKind::Grain, once, None).passed);
}

#[test]
fn values_are_what_they_can_be() {
    let count = column(Role::Measure(0), DataType::Integer, false);
    let share = Some(Shown::Share { within: vec![] });
    let field = FieldRef::new("t", "f");
    let mean = Value::Aggregate { function: Aggregation::Avg, field };
    let bounds = [Bounds { dataset: "T".into(), field: "F".into(), min: 1.0, max: 5.0 }];
    let of = |column: OutputColumn, value: &Value, shown: &Option<Shown>, cell: Json| {
        let plan = plan(value.clone(), shown.clone());
        let result = table(vec![vec![json!("a"), cell]]);
        verify(&compiled(column, vec![]), &plan, &Ontology::default(), &result, None, &bounds).passed
    };
    let counted = Value::Count("t".into());
    assert!(of(count.clone(), &counted, &None, json!(0)));
    assert!(!of(count.clone(), &counted, &None, json!(-1)));
    assert!(!of(count.clone(), &counted, &None, json!(1.5)));
    assert!(!of(count, &counted, &None, json!("many")));
    assert!(of(sum(), &counted, &share, json!(1.0)));
    assert!(!of(sum(), &counted, &share, json!(1.2)));
    assert!(of(sum(), &mean, &None, json!(5.0)));
    assert!(!of(sum(), &mean, &None, json!(5.1)));
    assert!(!of(sum(), &mean, &None, json!("0.9")));
}

#[test]
fn a_column_without_values_and_rows_that_are_not_shown_are_said() {
    let plan = plan(Value::Metric("m".into()), None);
    let mut result = table(vec![vec![json!("a"), json!(null)]]);
    result.truncated = true;
    let verdict = verify(&compiled(sum(), vec![]), &plan, &Ontology::default(), &result, None, &[]);
    assert!(verdict.caveats[0].contains("has no value"), "{:?}", verdict.caveats);
    assert!(verdict.cut.unwrap().contains("more rows"));
}

#[test]
fn amounts_in_several_units_are_told() {
    let units = || CheckKind::Units { different: 0, amounts: "Fee".into(), by: "currency".into() };
    let rows = || vec![vec![json!("a"), json!(1)]];
    let told = judged(units(), rows(), Some(vec![json!(2)]));
    assert!(told.passed);
    let says = "Fee is in 2 currencies, taken together as if they were one: ask for one currency, or by currency.";
    assert_eq!(told.caveats, [says]);
    assert_eq!(judged(units(), rows(), Some(vec![json!(1)])).caveats, [""; 0]);
    assert!(!judged(units(), rows(), None).passed);
}
