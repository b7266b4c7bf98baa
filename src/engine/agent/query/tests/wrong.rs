//! What is wrong is told with its argument, its place, and what comes near.

use super::{problems, query};
use crate::engine::agent::query::refusal;
use crate::model::error::Code;

/// A query, and of its only problem the argument, the place, a part of the message, and the nearest name.
const WRONG: &[(&str, &str, usize, &str, &str)] = &[
    (r#"{"measures": ["revenu"]}"#, "measures[0]", 0, "no metric", "revenue"),
    (r#"{"measures": ["revenue", "avg(order.totl)"]}"#, "measures[1]", 4, "has no field", "order.total"),
    (r#"{"measures": ["avg(revenue)"]}"#, "measures[0]", 4, "is a metric", ""),
    (r#"{"measures": ["order.status"]}"#, "measures[0]", 0, "say how they come together", ""),
    (r#"{"measures": ["count(odrer)"]}"#, "measures[0]", 6, "no dataset", "order"),
    (r#"{"measures": ["revenue * 100"]}"#, "measures[0]", 8, "not multiplied", ""),
    (r#"{"measures": ["revenue * 2"]}"#, "measures[0]", 8, "dragoman_sql", ""),
    (r#"{"measures": ["count(order) per order.city"]}"#, "measures[0]", 13, "within an aggregate", ""),
    (r#"{"measures": ["sum(order.total"]}"#, "measures[0]", 15, "`)` is missing", ""),
    (r#"{"measures": ["sum(secret.salary)"]}"#, "measures[0]", 4, "no dataset", ""),
    (r#"{"measures": ["customer"]}"#, "measures[0]", 0, "count(customer)", ""),
    (r#"{"measures": ["revenue"], "dimensions": ["customer.pasword"]}"#, "dimensions[0]", 0, "has no field", ""),
    (
        r#"{"measures": ["revenue"], "dimensions": ["order.placed by fortnight"]}"#,
        "dimensions[0]",
        16,
        "nothing to group by",
        "",
    ),
    (
        r#"{"measures": ["revenue"], "dimensions": ["order.shipped is not null as sent"]}"#,
        "dimensions[0]",
        14,
        "filter (where",
        "",
    ),
    (
        r#"{"measures": ["revenue"], "dimensions": ["case when order.shipped is null then 1 end"]}"#,
        "dimensions[0]",
        0,
        "filter (where",
        "",
    ),
    (
        r#"{"list": ["order.status", "days_between(order.placed, order.shipped)"]}"#,
        "list[1]",
        0,
        "belong into `measures`",
        "",
    ),
    (r#"{"measures": ["revenue"], "dimensions": ["orders"]}"#, "dimensions[0]", 0, "belongs into `measures`", ""),
    (
        r#"{"measures": ["count(product)"], "dimensions": ["city"]}"#,
        "dimensions[0]",
        0,
        "several datasets",
        "customer.city",
    ),
    (
        r#"{"measures": ["revenue"], "filters": ["late", "order.status = \"new\""]}"#,
        "filters[1]",
        15,
        "single quotes",
        "",
    ),
    (r#"{"measures": ["revenue"], "filters": ["order.status = new"]}"#, "filters[0]", 15, "'new'", ""),
    (r#"{"measures": ["revenue"], "filters": ["revenue > 5"]}"#, "filters[0]", 0, "having", ""),
    (r#"{"measures": ["revenue"], "filters": ["count(order) > 5"]}"#, "filters[0]", 0, "having", ""),
    (r#"{"measures": ["revenue"], "filters": ["month(order.placed) = 7"]}"#, "filters[0]", 0, "parts of a time", ""),
    (r#"{"measures": ["revenue"], "filters": ["order.status like 'a%b'"]}"#, "filters[0]", 13, "contains", ""),
    (r#"{"measures": ["revenue"], "filters": ["order.status = null"]}"#, "filters[0]", 15, "is null", ""),
    (r#"{"measures": ["revenue"], "filters": ["order.status"]}"#, "filters[0]", 0, "not true or false", ""),
    (r#"{"measures": ["revenue"], "filters": ["order.id in (select 1)"]}"#, "filters[0]", 13, "no `select`", ""),
    (
        r#"{"measures": ["revenue"], "filters": ["order.total > 5; drop table x"]}"#,
        "filters[0]",
        15,
        "more than can be read",
        "",
    ),
    (r#"{"measures": ["revenue"], "filters": ["order.status = 'x"]}"#, "filters[0]", 15, "closing quote", ""),
    (r#"{"measures": ["revenue"], "segments": ["ltae"]}"#, "segments[0]", 0, "no segment", "late"),
    (r#"{"measures": ["revenue"], "time": "soonish"}"#, "time", 0, "no time", ""),
    (r#"{"measures": ["revenue"], "time": "2013-13"}"#, "time", 0, "not in the calendar", ""),
    (r#"{"measures": ["revenue"], "time": "2013-07 to 2012-07"}"#, "time", 0, "ends before it begins", ""),
    (r#"{"measures": ["revenue"], "compare_to": "previous period"}"#, "compare_to", 0, "`time`", ""),
    (r#"{"measures": ["revenue"], "order": ["order.status"]}"#, "order[0]", 0, "none of the query's", "revenue"),
    (
        r#"{"measures": ["revenue"], "having": ["orders > 5"]}"#,
        "having[0]",
        0,
        "none of the query's measures",
        "revenue",
    ),
    (
        r#"{"list": ["customer.name"], "each": "customer", "order": ["order.total desc"]}"#,
        "order[0]",
        0,
        "or a field of customer",
        "customer.name",
    ),
    (
        r#"{"list": ["customer.name"], "distinct": true, "order": ["customer.joined"]}"#,
        "order[0]",
        0,
        "none of the query's",
        "customer.name",
    ),
    (
        r#"{"measures": ["revenue"], "filters": ["order.placed by month of year = 7"]}"#,
        "filters[0]",
        0,
        "day_of_week(f)",
        "",
    ),
    (r#"{"measures": ["revenue"], "filters": ["order.total by 10 > 5"]}"#, "filters[0]", 15, "day_of_week(f)", ""),
    (r##"{"measures": ["revenue"], "order": ["#4"]}"##, "order[0]", 1, "no column", ""),
    (r#"{"measures": ["revenue"], "each": "custmer"}"#, "each", 0, "no dataset", "customer"),
    (r#"{"measures": ["revenue"], "offset": 3}"#, "offset", 0, "`limit`", ""),
    (
        r#"{"list": ["address.city", "customer.name", "product.name"], "measures": []}"#,
        "each",
        0,
        "several datasets",
        "address",
    ),
    (r#"{}"#, "measures", 0, "asks for nothing", "count(customer)"),
];

#[test]
fn each_is_told_where_it_is() {
    for (json, argument, at, message, near) in WRONG {
        let found = problems(json);
        let [problem] = found.as_slice() else { panic!("{json}: {found:#?}") };
        assert_eq!((problem.argument.as_str(), problem.at), (*argument, *at), "{json}: {problem:?}");
        assert!(problem.message.contains(message), "{json}: {problem:?}");
        assert!(near.is_empty() || problem.nearest.first().is_some_and(|first| first == near), "{json}: {problem:?}");
    }
}

#[test]
fn all_are_told_at_once() {
    let json = r#"{"measures": ["sum(order.totl) / sum(order.discont)"], "dimensions": ["custmer.city"], "filters": ["order.statsu = 'x' and order.gfit"], "time": "whenever"}"#;
    let found = problems(json);
    let places: Vec<(&str, usize)> = found.iter().map(|problem| (problem.argument.as_str(), problem.at)).collect();
    assert_eq!(
        places,
        [
            ("dimensions[0]", 0),
            ("measures[0]", 4),
            ("measures[0]", 22),
            ("filters[0]", 0),
            ("filters[0]", 23),
            ("time", 0)
        ]
    );
    let error = refusal(&found, &query(json));
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(error.details["field"], "dimensions[0]");
    assert_eq!(error.details["problems"].as_array().unwrap().len(), 6);
    assert!(
        error.message.contains(
            "measures[0] `sum(»order.totl) / sum(order.discont)`: order has no field \"totl\" (nearest: `order.total`"
        ),
        "{}",
        error.message
    );
}

#[test]
fn texts_are_bounded() {
    let long = format!(r#"{{"measures": ["{}"]}}"#, "x".repeat(4_097));
    assert!(problems(&long)[0].message.contains("4096"));
    let deep = format!(r#"{{"measures": ["{}revenue{}"]}}"#, "(".repeat(40), ")".repeat(40));
    assert!(problems(&deep)[0].message.contains("deeper"));
    let deep = format!(r#"{{"measures": ["revenue"], "filters": ["{}late"]}}"#, "not ".repeat(900));
    assert!(problems(&deep)[0].message.contains("deeper"));
}
