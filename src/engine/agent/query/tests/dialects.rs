//! The same in many ways of writing: each group is one plan.

use super::{entity, now, plan, query, relationship, shop};
use crate::engine::agent::query::{read, write};
use crate::model::ontology::Ontology;
use crate::model::plan::{By, Condition, Measure, Order, Value};

/// Every text of a group is read as the first, in a query that has it in one place.
fn same(around: &str, groups: &[&[&str]]) {
    for group in groups {
        let of = |text: &str| plan(&around.replace("?", &serde_json::to_string(text).unwrap()));
        let first = of(group[0]);
        for other in &group[1..] {
            assert_eq!(of(other), first, "{other} is not {}", group[0]);
        }
    }
}

#[test]
fn numbers() {
    same(
        r#"{"measures": [?], "dimensions": ["order.status"]}"#,
        &[
            &[
                "revenue", "REVENUE", "\"revenue\"", "`revenue`", "[revenue]", "(revenue)", "sum(revenue)",
                "round(revenue, 2)", "1.0 * revenue",
            ],
            &["\"Net revenue\"", "[net revenue]", "`Net Revenue`", "net_revenue", "Net revenue", "net revenue"],
            &["orders", "\"number of orders\"", "number_of_orders", "number of orders"],
            &[
                "count(order)", "COUNT(*)", "count(1)", "count()", "count(orders)", "Count(\"order\")",
                "count(order.*)", "count(distinct order)",
            ],
            &[
                "count(distinct order.status)",
                "COUNT(DISTINCT status)",
                "count_distinct(order.status)",
                "approx_count_distinct(status)",
            ],
            &[
                "avg(order.total)",
                "mean(total)",
                "average(\"order\".\"total\")",
                "AVG( [order].[total] )",
                "avg(orders.total)",
            ],
            &[
                "revenue / orders",
                "(revenue) / (orders)",
                "revenue / nullif(orders, 0)",
                "revenue::float / orders",
                "divide(revenue, orders)",
                "revenue * 1.0 / orders",
            ],
            &["revenue + orders + count(order)", "add(revenue, orders, count(order))"],
            &["(revenue + orders) - count(order)", "revenue + orders - count(order)"],
            &["revenue as \"Money in\"", "revenue AS 'Money in'", "revenue as Money in", "(revenue as \"Money in\")"],
            &["share(revenue)", "percent_of_total(revenue)"],
            &["share(revenue within order.status)", "share(revenue within status)", "share(revenue within #1)"],
            &["moving_average(revenue, 3)", "rolling_avg(revenue, 3)"],
            &["change_percent(revenue)", "pct_change(revenue)", "growth(revenue)"],
            &[
                "avg(days(order.placed, order.shipped))",
                "avg(date_diff('day', order.placed, order.shipped))",
                "avg(datediff(day, placed, shipped))",
                "avg(datediff(shipped, placed))",
                "avg(order.shipped - order.placed)",
            ],
            &["avg(count(order) per order.placed by day)", "average(count(*) per date_trunc('day', order.placed))"],
            &[
                "count(order) filter (where order.gift)",
                "count(*) FILTER (WHERE gift = true)",
                "count(order) where order.gift",
                "sum(case when order.gift then 1 else 0 end)",
                "count(case when order.gift then 1 end)",
                "count(order) filter (order.gift is true)",
            ],
            &[
                "sum(order.total) filter (where order.gift)",
                "sum(case when order.gift then order.total else 0 end)",
                "sum(CASE WHEN gift THEN total END)",
            ],
            &[
                "count(order) filter (where order.gift) / count(order)",
                "avg(case when order.gift then 1 else 0 end)",
                "avg(case when order.gift then 1.0 else 0.0 end)",
            ],
        ],
    );
}

#[test]
fn dimensions() {
    same(
        r#"{"measures": ["revenue"], "dimensions": [?]}"#,
        &[
            &["order.status", "status", "ORDER.STATUS", "orders.status", "\"order\".\"status\""],
            &[
                "order.placed by month",
                "date_trunc('month', order.placed)",
                "order.placed.month",
                "order.placed__month",
                "placed by months",
                "placed BY Month",
                "placed by monthly",
                "placed by 'month'",
            ],
            &[
                "order.placed by day of week",
                "placed by day_of_week",
                "placed by weekday",
                "day_of_week(placed)",
                "extract(dow from order.placed)",
            ],
            &["order.placed by month of year", "month(order.placed)", "extract(month from placed)"],
            &["order.placed by fiscal quarter", "placed by fiscal_quarter"],
            &["order.placed by day", "date(order.placed)", "cast(placed as date)", "placed::date"],
            &["order.total by 500", "total by 500.0"],
            &[
                "bills.address.city",
                "billing.city",
                "bills.city",
                "billing.address.city",
                "order.billing.city",
                "order.bills.address.city",
            ],
            &["customer.name", "customer", "customers"],
            &["customer.name as \"Who\"", "customer as Who"],
        ],
    );
}

#[test]
fn conditions() {
    same(
        r#"{"each": "customer", "measures": ["revenue"], "filters": [?]}"#,
        &[
            &["order.status = 'new'", "order.status == 'new'", "'new' = status", "status like 'new'"],
            &["order.status <> 'new'", "status != 'new'", "status not like 'new'"],
            &["order.status in ('a', 'b')", "status in ['a', 'b']", "STATUS IN ('a','b')"],
            &["order.status not in ('a')", "not status in ('a')"],
            &["order.status contains 'x'", "status like '%x%'", "status ILIKE '%x%'", "lower(status) like '%x%'"],
            &["order.status starts with 'x'", "status like 'x%'", "status starts_with 'x'"],
            &["order.status not ends with 'x'", "status not like '%x'", "not status like '%x'"],
            &[
                "order.total >= 10 and order.total <= 20",
                "total between 10 and 20",
                "10 <= total and 20 >= total",
                "(total >= 10) and (total <= 20)",
            ],
            &["order.gift", "order.gift = true", "gift is true", "gift = 1"],
            &["not order.gift", "order.gift = false", "gift is false"],
            &["order.shipped is null", "shipped IS NULL"],
            &["order.shipped is not null", "not shipped is null", "shipped is not missing"],
            &["late", "LATE", "delayed", "\"late\""],
            &["not late", "NOT delayed"],
            &["\"big orders\"", "big orders", "Big Orders"],
            &["\"order line\".quantity > 2", "order line.quantity > 2", "quantity > 2"],
            &["order.placed during since today - 30 days", "placed >= today - 30 days"],
            &["order.placed during since now() - interval '30 days'", "placed >= now() - interval '30 days'"],
            &["order.placed during after yesterday", "placed > yesterday", "placed > 'yesterday'"],
            &["order.placed during today - 7 days to yesterday", "placed between today - 7 days and yesterday"],
            &["order.placed during last year", "placed in last year", "placed = 'last year'", "placed = last year"],
            &[
                "order.placed during 2013-07",
                "placed in 2013-07",
                "placed = 2013-07",
                "date_trunc('month', placed) = '2013-07-01'",
                "placed during '2013-07'",
                "placed = '2013-07'",
            ],
            &[
                "order.placed during 2013",
                "year(placed) = 2013",
                "placed = 2013",
                "placed during 2013-01-01 to 2013-12-31",
                "extract(year from placed) = 2013",
            ],
            &["order.placed during since 2013-07-01", "placed >= 2013-07"],
            &["order.placed during before 2014-01-01", "placed <= 2013", "placed < 2014"],
            &[
                "order.placed >= '2013-07-04'",
                "placed >= 2013-07-04",
                "placed >= date '2013-07-04'",
                "date(placed) >= '2013-07-04'",
            ],
            &[
                "order.placed < '2013-07-04T10:00:00'",
                "placed < 2013-07-04 10:00",
                "placed < timestamp '2013-07-04 10:00:00'",
            ],
            &["order.placed during last 3 months", "placed in last 3 months"],
            &[
                "day_of_week(order.placed) in ('Saturday', 'Sunday')",
                "weekday(placed) in (6, 7)",
                "dayofweek(placed) in (6, 0)",
                "day_of_week(placed) >= 6",
                "day_of_week(placed) between 'sat' and 'sun'",
            ],
            &["day_of_week(order.placed) in ('Saturday')", "dayname(placed) = 'Saturday'"],
            &["hour_of_day(order.placed) between 22 and 5", "hour(placed) between 22 and 5"],
            &[
                "hour_of_day(order.placed) between 22 and 23",
                "hour(placed) >= 22",
                "extract(hour from placed) > 21",
                "hour(placed) in (22, 23)",
            ],
            &["customer has order", "exists(order)", "customers has any order"],
            &["customer has no order", "not exists(order)", "customer without order", "not customer has order"],
            &[
                "customer has order where (order.total > 5 and late)",
                "customer has order where order.total > 5 and late",
                "exists(order where order.total > 5 and late)",
            ],
            &["count(order) per customer > 3", "(count(order)) per customer > 3", "(count(order) per customer > 3)"],
            &["order.total > avg(order.total)", "total > average(total)"],
            &["order.status = 'a' or order.status = 'b' and late", "status = 'a' or (status = 'b' and late)"],
        ],
    );
}

#[test]
fn times() {
    same(
        r#"{"measures": ["revenue"], "time": ?}"#,
        &[
            &[
                "2013",
                "2013-01-01 to 2013-12-31",
                "2013-01 to 2013-12",
                "2013-H1 to 2013-Q4",
                "'2013'",
                "from 2013-01-01 to 2013-12-31",
                "2013-01-01..2013-12-31",
                "2013-01-01 - 2013-12-31",
                "2013-01-01/2013-12-31",
                "between 2013-01-01 and 2013-12-31",
            ],
            &["2013-Q3", "2013Q3", "2013 Q3", "2013-07-01 to 2013-09-30", "2013-q3", "2013-7 to 2013-9"],
            &["2013-W05", "2013-01-28 to 2013-02-03"],
            &["since 2020-01-01", "since 2020", "from 2020", "after 2019", "since '2020-01-01'"],
            &["before 2020-01-01", "before 2020", "until 2019", "up to 2019-12-31"],
            &["2013-07-04T10:00:00 to 2013-07-04T12:00:00", "2013-07-04T10:00 to 2013-07-04 12:00"],
            &["FY2014", "fy2014", "2014"],
            &["order.placed during 2013-07", "order.placed in 2013-07", "placed in 2013-07", "order.placed = 2013-07"],
            &["order.placed during since 2013-07-01", "order.placed >= 2013-07", "placed > 2013-06"],
        ],
    );
    let told = |text: &str| plan(&format!(r#"{{"measures": ["revenue"], "time": "{text}"}}"#)).time.unwrap().window;
    for (text, start, end) in [
        ("last 3 months", "2026-08-01", "2026-11-01"),
        ("past 7 days", "2026-11-15", "2026-11-22"),
        ("this quarter", "2026-10-01", "2027-01-01"),
        ("month to date", "2026-11-01", "2026-11-23"),
        ("ytd", "2026-01-01", "2026-11-23"),
        ("2 weeks ago", "2026-11-02", "2026-11-09"),
        ("today", "2026-11-22", "2026-11-23"),
        ("next year", "2027-01-01", "2028-01-01"),
        ("today - 7 days to today", "2026-11-15", "2026-11-23"),
        ("Q3 2013", "2013-07-01", "2013-10-01"),
        ("July 2013", "2013-07-01", "2013-08-01"),
        ("July 2013 to September 2013", "2013-07-01", "2013-10-01"),
        ("last weekend", "2026-11-14", "2026-11-16"),
    ] {
        let window = told(text);
        assert_eq!((window.start.as_deref(), window.end.as_deref()), (Some(start), Some(end)), "{text}");
        assert_eq!(window.phrase.as_deref(), Some(text), "the words are kept");
        let moves = !text.ends_with("2013");
        assert_eq!(window.relative.is_some(), moves, "{text}");
    }
    assert_eq!(told("2013-07").phrase, None);
    assert_eq!(told("2013-07 as 'that July'").phrase.as_deref(), Some("that July"));
}

#[test]
fn other_times() {
    same(
        r#"{"measures": ["revenue"], "time": "2013-07", "compare_to": ?}"#,
        &[
            &["2013-06", "previous period", "the previous period", "previous", "mom", "previous_period"],
            &[
                "2012-07",
                "same period last year",
                "previous year",
                "last year",
                "last_year",
                "the same month of the previous year",
                "yoy",
            ],
            &["2012-07 by month", "2012-07 by months"],
        ],
    );
    let aligned = plan(
        r#"{"measures": ["revenue"], "dimensions": ["order.placed by month"], "time": "2013", "compare_to": "previous year"}"#,
    );
    assert_eq!(aligned.comparison, plan(r#"{"measures": ["revenue"], "dimensions": ["order.placed by month"], "time": "2013", "compare_to": "2012 by month"}"#).comparison);
}

#[test]
fn columns() {
    let around = |order: &str| {
        format!(
            r#"{{"measures": ["revenue as \"Money made\"", "count(order)"], "dimensions": ["order.placed by month", "order.status"], "order": [{order}]}}"#
        )
    };
    for group in [
        &[
            r##""#3 desc""##,
            r#""revenue desc""#,
            r#""\"Money made\" desc""#,
            r#""-revenue""#,
            r#""'money made' DESC""#,
            r#""Money made desc""#,
            r#""3 desc""#,
            r#""revenue:desc nulls last""#,
        ][..],
        &[r##""#1""##, r#""order.placed by month""#, r#""order.placed asc""#, r#""placed""#],
        &[r#""revenue desc", "status""#, r#""revenue desc, status asc""#],
    ] {
        group.iter().for_each(|other| assert_eq!(plan(&around(other)).order, plan(&around(group[0])).order, "{other}"));
    }
    let around = |having: &str| {
        format!(r#"{{"measures": ["revenue", "count(order) as n"], "dimensions": ["status"], "having": [{having}]}}"#)
    };
    for group in [
        &[
            r#""revenue > 1000", "n >= 2""#,
            r#""revenue > 1000 and n >= 2""#,
            r#""1000 < revenue", "count(order) >= 2""#,
        ][..],
        &[r#""revenue >= 5", "revenue <= 9""#, r#""revenue between 5 and 9""#],
        &[r#""revenue > avg(revenue)""#, r##""#2 > avg(#2)""##],
    ] {
        group
            .iter()
            .for_each(|other| assert_eq!(plan(&around(other)).having, plan(&around(group[0])).having, "{other}"));
    }
}

#[test]
fn lists() {
    let subject = |json: &str| plan(json).subject;
    assert_eq!(
        subject(r#"{"list": ["order.status", "customer.name"]}"#).as_deref(),
        Some("order"),
        "an order has one customer"
    );
    assert_eq!(
        subject(r#"{"list": ["product.name", "customer.name"]}"#).as_deref(),
        Some("order line"),
        "only it has one of both"
    );
    assert_eq!(subject(r#"{"list": ["order.status"]}"#), None);
    let rows = plan(r#"{"list": ["customer"]}"#);
    assert_eq!(rows.subject.as_deref(), Some("customer"));
    let names: Vec<&str> = rows.dimensions.iter().map(|it| it.field.field.as_str()).collect();
    assert_eq!(names.first(), Some(&"name"), "its label comes first");
    assert!(names.contains(&"joined") && !names.contains(&"password"), "{names:?}");
    assert_eq!(plan(r#"{"each": "customer"}"#), rows);
    let all = plan(r#"{"list": ["customer.*"]}"#);
    assert_eq!(all.dimensions.len(), 7, "all that are not hidden");
    let values = plan(r#"{"dimensions": ["order.status"]}"#);
    assert!(values.distinct && values.measures.is_empty(), "values to group by are each shown once");
}

#[test]
fn a_condition_may_cut_a_time_as_a_dimension_does() {
    let around = r#"{"measures": ["revenue"], "filters": [?]}"#;
    same(
        around,
        &[
            &["day_of_week(order.placed) = 'Saturday'", "order.placed by day of week = 'Saturday'"],
            &["hour_of_day(order.placed) >= 22", "order.placed by hour of day >= 22"],
            &["order.placed during 2013-07", "order.placed by month = 2013-07"],
        ],
    );
}

#[test]
fn the_order_may_be_by_a_field_of_the_rows_that_are_shown() {
    let beside = |json: &str, others: usize| {
        let plan = plan(json);
        let last = plan.dimensions.last().unwrap();
        assert_eq!((last.field.dataset.as_str(), last.field.field.as_str()), ("customer", "joined"), "{json}");
        assert_eq!(plan.dimensions.len(), others + 1, "{json}");
        assert_eq!(plan.order.first().unwrap(), &Order { by: By::Dimension(others), descending: true }, "{json}");
        let written = write(&plan, &shop());
        assert_eq!(read(&written, &shop(), now()).unwrap(), plan, "{written:?}");
    };
    beside(r#"{"list": ["customer.name"], "order": ["customer.joined desc"]}"#, 1);
    beside(r#"{"list": ["customer.name", "city"], "order": ["-joined", "name, customer.joined"]}"#, 2);
    let of_each =
        r##"{"each": "customer", "measures": ["orders"], "dimensions": ["name"], "order": ["joined desc", "#2"]}"##;
    beside(of_each, 1);
}

#[test]
fn conditions_of_one_text_are_several_and_those_in_parentheses_one() {
    let filters = |text: &str| plan(&format!(r#"{{"measures": ["revenue"], "filters": ["{text}"]}}"#)).filters;
    assert_eq!(filters("late and order.gift").len(), 2);
    assert!(matches!(filters("(late and order.gift)").as_slice(), [Condition::All(both)] if both.len() == 2));
    let of_one = plan(r#"{"measures": ["count(order) filter (where late and order.gift)"]}"#);
    assert!(
        matches!(of_one.measures.as_slice(), [Measure { value: Value::Count(_), filters, .. }] if filters.len() == 2)
    );
    let segments = plan(r#"{"measures": ["revenue"], "segments": ["late", "not \"big orders\""]}"#);
    assert_eq!(segments.filters, filters("late and not \\\"big orders\\\""));
}

#[test]
fn what_is_written_is_plain() {
    let written = |json: &str| write(&read(&query(json), &shop(), now()).unwrap(), &shop());
    let one = written(
        r#"{"measures": ["avg(total) as 'Mean'", "Revenue/Orders"], "dimensions": ["placed__month"], "filters": ["status = 'x' or gift", "delayed"],
            "time": "2013-07-01 to 2013-07-31", "order": ["mean desc"], "having": ["revenue / orders > 3"], "limit": 5}"#,
    );
    assert_eq!(
        one,
        query(
            r#"{"measures": ["avg(order.total) as \"Mean\"", "revenue / orders"], "dimensions": ["order.placed by month"],
                "filters": ["order.status = 'x' or order.gift = true"], "segments": ["late"], "time": "2013-07",
                "order": ["\"Mean\" desc"], "having": ["(revenue / orders) > 3"], "limit": 5}"#
        )
    );
}

#[test]
fn a_dataset_on_the_way_says_which_way_is_meant() {
    let mut ontology = shop();
    let via = |ontology: &Ontology, name: &str| {
        let query = serde_json::from_value(serde_json::json!({ "measures": ["revenue"], "dimensions": [name] }));
        read(&query.unwrap(), ontology, now()).unwrap().dimensions[0].field.via.clone()
    };
    assert_eq!(via(&ontology, "order.customer.name"), [""; 0], "the only way needs no name");
    ontology.datasets.push(entity("gift", vec![]));
    ontology.relationships.push(relationship("given_to", "gift", "customer", Some("gift")));
    assert_eq!(via(&ontology, "gift.customer.name"), ["given_to"]);
    assert_eq!(via(&ontology, "order.customer.name"), ["placed_by"]);
    assert_eq!(via(&ontology, "\"order line\".order.customer.name"), ["placed_by"]);
    assert_eq!(via(&ontology, "order.address.city"), [""; 0], "two lead there from it: which is asked");
}
