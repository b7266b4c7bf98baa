use serde_json::json;

use super::super::unsupported_numbers;
use crate::engine::render::column::{Column, Role};
use crate::engine::render::number::Style;
use crate::model::ontology::DataType;
use crate::model::plan::*;
use crate::model::table;

/// Two firms with a count and a share.
fn unsupported(text: &str) -> Vec<String> {
    let share = Measure { shown_as: Some(Shown::Share { within: vec![] }), ..Measure::metric("trips") };
    let plan = Plan { measures: vec![Measure::metric("trips"), share], ..Plan::default() };
    let style = |datatype| Style { datatype, ..Style::default() };
    let columns = [
        Column::new("Firm", Role::Dimension(0), &plan, style(DataType::String)),
        Column::new("Trips", Role::Measure(0), &plan, style(DataType::Integer)),
        Column::new("Fare", Role::Measure(2), &plan, style(DataType::Decimal)),
        Column::new("Share", Role::Measure(1), &plan, style(DataType::Float)),
    ];
    let table = table::Table {
        columns: vec![],
        rows: vec![
            vec![json!("B6"), json!(1234567), json!("12345.678"), json!(0.12345)],
            vec![json!("Route 66"), json!(-42), json!("0.10"), json!(0.5)],
            vec![json!("2013-07-04"), json!(null), json!(null), json!(null)],
        ],
        truncated: false,
    };
    let known = ["How many trips over 15 minutes?", "Number of trips, 1 Jan – 31 Mar 2013, top 5"];
    unsupported_numbers(text, &table, &columns, &known)
}

#[test]
fn numbers_of_the_result_and_the_question_are_supported() {
    for text in [
        "B6 made 1,234,567 trips",
        "1234567 trips, 1\u{202f}234\u{202f}567",
        "-42 or 42 fewer",
        "about 1.2 million, 1.23M, 1235k",
        "12,345.68 or 12,345.7",
        "0.1 and 0.10",
        "12.3% of all, 12.345 %, 50%",
        "in Q1, 1 Jan – 31 Mar 2013, over 15 minutes, the top 5",
        "on 4 July 2013",
        "3 rows, three rows",
        "Route 66",
        "1. B6\n2. Route 66\n3. another",
        "one of them leads",
        "someone often, tenants, weight",
    ] {
        assert_eq!(unsupported(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn numbers_from_nowhere_are_found_as_written() {
    for (text, found) in [
        ("1,234,568 trips", vec!["1,234,568"]),
        ("about 1.3 million", vec!["1.3 million"]),
        ("about 1 million", vec!["1 million"]),
        ("1,234,000", vec!["1,234,000"]),
        ("12,346", vec![]),
        ("12%", vec!["12"]),
        ("12.4%", vec!["12.4"]),
        ("8 firms", vec!["8"]),
        ("eight firms and eight more", vec!["eight"]),
        ("a dozen", vec!["dozen"]),
        ("doubled", vec!["doubled"]),
        ("two million", vec!["two million"]),
        ("５ firms", vec!["５"]),
        ("½ of them", vec!["½"]),
        ("in 2014", vec!["2014"]),
        ("1e9", vec!["1e9"]),
        ("99. of the month", vec!["99"]),
        ("A321 flew 9 and 9 times", vec!["321", "9"]),
    ] {
        assert_eq!(unsupported(text), found, "{text}");
    }
}
