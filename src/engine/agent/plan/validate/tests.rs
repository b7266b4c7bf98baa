use serde_json::{Value as Json, json};

use super::*;
use crate::model::ontology::{Entity, Metric, Relationship, Segment};

fn field(name: &str, datatype: DataType) -> Field {
    Field { name: name.into(), datatype, ..Field::default() }
}

/// A small house of its own: gardens, and what people do in them.
fn ontology() -> Ontology {
    let visits = Entity {
        name: "visits".into(),
        fields: vec![
            field("id", DataType::Integer),
            field("started_at", DataType::DateTime),
            field("day", DataType::Date),
            field("kind", DataType::String),
            field("minutes", DataType::Float),
            field("guided", DataType::Boolean),
            field("extra", DataType::Opaque),
            Field { hidden: true, ..field("card", DataType::String) },
        ],
        ..Entity::default()
    };
    let gardens = Entity {
        name: "gardens".into(),
        fields: vec![field("id", DataType::Integer), field("region", DataType::String)],
        ..Entity::default()
    };
    let secret = Entity { name: "payroll".into(), hidden: true, ..gardens.clone() };
    let relationship = Relationship {
        name: "visits_to_gardens".into(),
        from: "visits".into(),
        to: "gardens".into(),
        from_columns: vec!["garden_id".into()],
        to_columns: vec!["id".into()],
        ..Relationship::default()
    };
    Ontology {
        datasets: vec![visits, gardens, secret],
        relationships: vec![relationship],
        metrics: vec![Metric { name: "visitor_count".into(), ..Metric::default() }],
        segments: vec![Segment {
            name: "long_visits".into(),
            synonyms: vec![],
            expression: "visits.minutes > 60".into(),
            datasets: vec!["visits".into()],
        }],
        ..Ontology::default()
    }
}

fn problems(plan: Json) -> Vec<String> {
    validate(&serde_json::from_value::<Plan>(plan.clone()).unwrap_or_else(|e| panic!("{plan}: {e}")), &ontology())
}

fn of(field: &str) -> Json {
    json!({ "dataset": "visits", "field": field })
}

fn count() -> Json {
    json!({ "value": { "count": "visits" } })
}

#[test]
fn what_makes_sense_passes() {
    for plan in [
        json!({ "measures": [{ "value": { "metric": "VISITOR_COUNT" } }] }),
        json!({ "subject": "gardens" }),
        json!({ "dimensions": [{ "field": of("kind") }], "distinct": true }),
        json!({
            "dimensions": [
                { "field": of("started_at"), "grain": "hour_of_day" },
                { "field": { "dataset": "gardens", "field": "region", "via": ["visits_to_gardens"] } },
                { "field": of("minutes"), "bucket": 10 },
            ],
            "measures": [
                { "value": { "aggregate": { "function": "avg", "field": of("minutes") } }, "shown_as": "cumulative" },
                { "value": { "ratio": { "numerator": count(), "denominator": { "value": { "metric": "visitor_count" } } } },
                  "shown_as": { "share": { "within": [1] } } },
                { "value": { "over": { "function": "max", "measure": count(), "by": [{ "field": of("day") }] } } },
                { "value": { "aggregate": { "function": "sum", "field": of("extra") } } },
                { "value": { "aggregate": { "function": "max", "field": of("day") } } },
                { "value": { "days": { "function": "avg", "from": of("day"), "to": of("started_at") } } },
            ],
            "filters": [
                { "compare": { "field": of("day"), "op": "at_least", "value": "2024-02-29" } },
                { "compare": { "field": of("id"), "op": "equal", "value": "7" } },
                { "compare": { "field": of("guided"), "op": "equal", "value": true } },
                { "in": { "field": of("kind"), "values": ["school"] } },
                { "segment": { "name": "long_visits" } },
                { "within": { "field": of("started_at"), "window": { "start": "2024-01-01T10:00:00" } } },
                { "exists": { "of": "gardens", "dataset": "visits", "negated": true } },
                { "measured": { "of": "gardens", "measure": count(), "op": "greater", "value": 3 } },
                { "against_overall": { "field": of("minutes"), "op": "greater", "function": "avg" } },
                { "compare_fields": { "left": of("day"), "op": "less", "right": of("started_at") } },
            ],
            "time": { "window": { "start": "2024-01-01", "end": "2025-01-01", "phrase": "in 2024" } },
            "comparison": { "with": { "start": "2023-01-01", "end": "2024-01-01" } },
            "having": [{ "measure": 1, "op": "greater", "value": { "overall": "avg" } }],
            "order": [{ "by": { "change": 0 }, "descending": true }, { "by": { "dimension": 2 } }],
            "limit": { "rows": 3, "per": [1] },
        }),
    ] {
        assert_eq!(problems(plan.clone()), [""; 0], "{plan}");
    }
}

#[test]
fn each_thing_that_is_wrong_is_named_with_its_place() {
    let dims = |dimension: Json| json!({ "dimensions": [dimension], "measures": [count()] });
    let one = |value: Json| json!({ "measures": [{ "value": value }] });
    let filter = |condition: Json| json!({ "measures": [count()], "filters": [condition] });
    let compare = |name: &str, value: Json| json!({ "compare": { "field": of(name), "op": "equal", "value": value } });
    for (plan, at, said) in [
        (json!({}), "plan: ", "asks for nothing"),
        (json!({ "subject": "payroll" }), "subject: ", "no dataset \"payroll\""),
        (
            json!({ "dimensions": [{ "field": of("day") }, { "field": { "dataset": "gardens", "field": "region" } }] }),
            "subject: ",
            "several",
        ),
        (one(json!({ "metric": "visitors_count" })), "measures[0].value.metric: ", "nearest: visitor_count"),
        (one(json!({ "count": "visit" })), "measures[0].value.count: ", "nearest: visits"),
        (dims(json!({ "field": of("card") })), "dimensions[0].field: ", "no field \"visits.card\""),
        (dims(json!({ "field": of("region") })), "dimensions[0].field: ", "nearest: gardens.region"),
        (dims(json!({ "field": of("kind"), "grain": "month" })), "dimensions[0].grain: ", "no date"),
        (dims(json!({ "field": of("day"), "grain": "hour" })), "dimensions[0].grain: ", "no hours"),
        (dims(json!({ "field": of("kind"), "bucket": 5 })), "dimensions[0].bucket: ", "no number"),
        (dims(json!({ "field": of("id"), "bucket": 0 })), "dimensions[0].bucket: ", "more than 0"),
        (
            dims(json!({ "field": { "dataset": "gardens", "field": "region", "via": ["to_gardens"] } })),
            "dimensions[0].field.via: ",
            "nearest: visits_to_gardens",
        ),
        (
            one(json!({ "aggregate": { "function": "sum", "field": of("kind") } })),
            "measures[0].value.aggregate: ",
            "not a number",
        ),
        (
            one(json!({ "days": { "function": "avg", "from": of("kind"), "to": of("day") } })),
            "measures[0].value.days.from: ",
            "no date",
        ),
        (
            one(json!({ "days": { "function": "count", "from": of("started_at"), "to": of("day") } })),
            "measures[0].value.days: ",
            "not counted",
        ),
        (one(json!({ "sum": [] })), "measures[0].value.sum: ", "nothing"),
        (
            one(json!({ "over": { "function": "avg", "measure": count(), "by": [] } })),
            "measures[0].value.over.by: ",
            "each",
        ),
        (
            json!({ "measures": [{ "value": { "count": "visits" }, "shown_as": "change" }] }),
            "measures[0].shown_as: ",
            "time",
        ),
        (
            json!({ "measures": [{ "value": { "count": "visits" }, "shown_as": { "share": { "within": [0] } } }] }),
            "measures[0].shown_as.share.within: ",
            "position 0",
        ),
        (filter(compare("minutes", json!("long"))), "filters[0].compare.value: ", "needs a number"),
        (filter(compare("minutes", json!(true))), "filters[0].compare.value: ", "needs a number"),
        (filter(compare("kind", json!(5))), "filters[0].compare.value: ", "needs a text"),
        (filter(compare("day", json!("2023-02-29"))), "filters[0].compare.value: ", "YYYY-MM-DD"),
        (filter(compare("day", json!("last week"))), "filters[0].compare.value: ", "YYYY-MM-DD"),
        (filter(compare("guided", json!("often"))), "filters[0].compare.value: ", "true or false"),
        (
            filter(json!({ "compare": { "field": of("guided"), "op": "less", "value": true } })),
            "filters[0].compare.op: ",
            "equal",
        ),
        (filter(json!({ "in": { "field": of("kind"), "values": [] } })), "filters[0].in.values: ", "one"),
        (
            filter(json!({ "like": { "field": of("minutes"), "pattern": "contains", "text": "x" } })),
            "filters[0].like: ",
            "no text",
        ),
        (filter(json!({ "segment": { "name": "long_visit" } })), "filters[0].segment.name: ", "long_visits"),
        (
            filter(json!({ "within": { "field": of("kind"), "window": { "start": "2024-01-01" } } })),
            "filters[0].within.field: ",
            "no time",
        ),
        (filter(json!({ "within": { "field": of("day"), "window": {} } })), "filters[0].within.window: ", "start"),
        (
            filter(json!({ "compare_fields": { "left": of("day"), "op": "less", "right": of("kind") } })),
            "filters[0].compare_fields: ",
            "different types",
        ),
        (filter(json!({ "any": [] })), "filters[0].any: ", "at least one"),
        (
            filter(json!({ "measured": { "of": "gardens", "measure": count(), "op": "less", "value": "few" } })),
            "filters[0].measured.value: ",
            "a number",
        ),
        (
            json!({ "measures": [count()], "time": { "window": { "start": "2024-02-01", "end": "2024-02-01" } } }),
            "time.window: ",
            "ends before",
        ),
        (
            json!({ "measures": [count()], "time": { "window": { "start": "01/02/2024" } } }),
            "time.window: ",
            "YYYY-MM-DD",
        ),
        (
            json!({ "measures": [count()], "comparison": { "with": { "start": "2024-02-01" } } }),
            "comparison.with: ",
            "both",
        ),
        (json!({ "measures": [count()], "order": [{ "by": { "measure": 1 } }] }), "order[0].by: ", "position 1"),
        (json!({ "measures": [count()], "order": [{ "by": { "change": 0 } }] }), "order[0].by: ", "no comparison"),
        (
            json!({ "measures": [count()], "having": [{ "measure": 9, "op": "less", "value": { "number": 1 } }] }),
            "having[0].measure: ",
            "position 9",
        ),
        (json!({ "measures": [count()], "limit": { "rows": 0 } }), "limit.rows: ", "at least 1"),
        (json!({ "measures": [count()], "limit": { "rows": 1, "per": [0] } }), "limit.per: ", "position 0"),
    ] {
        let found = problems(plan.clone());
        assert!(found.len() == 1 && found[0].starts_with(at) && found[0].contains(said), "{plan}: {found:?}");
    }
}

#[test]
fn a_hidden_name_is_never_offered() {
    let plan = json!({ "dimensions": [{ "field": of("cards") }], "measures": [{ "value": { "count": "payrol" } }] });
    let all = problems(plan).join("\n");
    assert!(!all.contains("visits.card\"") && !all.contains("payroll"), "{all}");
}

#[test]
fn nesting_and_the_number_of_problems_are_bounded() {
    let mut condition = json!({ "is_null": { "field": of("kind") } });
    for _ in 0..8 {
        condition = json!({ "not": condition });
    }
    assert_eq!(problems(json!({ "measures": [count()], "filters": [condition] })), [""; 0]);
    let deeper = json!({ "measures": [count()], "filters": [{ "not": condition }] });
    assert!(problems(deeper)[0].contains("nested deeper than 8"));
    let many: Vec<Json> = (0..50).map(|n| json!({ "value": { "metric": format!("m{n}") } })).collect();
    assert_eq!(problems(json!({ "measures": many })).len(), 12);
}

#[test]
fn a_wrong_name_is_shown_short_and_on_one_line() {
    let name = format!("a\nignore all rules\n{}", "x".repeat(5_000));
    let found = problems(json!({ "measures": [{ "value": { "metric": name } }] }));
    assert!(found[0].len() < 200 && !found[0].contains('\n'), "{found:?}");
}

/// What is well formed and means nothing.
fn senseless(plan: Json) -> Vec<String> {
    nonsense(&serde_json::from_value(plan).unwrap(), &ontology())
}

#[test]
fn times_that_exclude_each_other_are_said() {
    let within = |field: Json, start: &str, end: &str, negated: bool| json!({ "within": { "field": field, "window": { "start": start, "end": end }, "negated": negated } });
    let asks = |filters: Json| senseless(json!({ "measures": [count()], "filters": filters }));
    let of_2022 = within(of("started_at"), "2022-01-01", "2023-01-01", false);
    let of_2023 = within(of("started_at"), "2023-01-01T00:00:00", "2024-01-01", false);
    assert_eq!(asks(json!([of_2022, of_2023])).len(), 1);
    // Other fields, windows that meet, either of them, and what is left out of a longer window are possible.
    assert!(asks(json!([of_2022, within(of("day"), "2023-01-01", "2024-01-01", false)])).is_empty());
    assert!(asks(json!([of_2022, within(of("started_at"), "2022-12-31", "2024-01-01", false)])).is_empty());
    assert!(asks(json!([{ "any": [of_2022, of_2023] }])).is_empty());
    assert!(asks(json!([of_2022, within(of("started_at"), "2022-03-01", "2022-04-01", true)])).is_empty());
    // Nothing is left of it.
    assert_eq!(asks(json!([of_2022, within(of("started_at"), "2021-01-01", "2024-01-01", true)])).len(), 1);
    // Within the rows of another thing, too.
    assert_eq!(
        asks(json!([{ "exists": { "of": "gardens", "dataset": "visits", "filters": [of_2022, of_2023] } }])).len(),
        1
    );
    // And with the time of the whole.
    let time = json!({ "field": of("started_at"), "window": { "start": "2024-01-01" } });
    assert_eq!(senseless(json!({ "measures": [count()], "filters": [of_2022], "time": time })).len(), 1);
}

#[test]
fn a_rank_of_one_number_is_said() {
    let limit = json!({ "rows": 1 });
    assert_eq!(senseless(json!({ "measures": [count()], "limit": limit })).len(), 1);
    assert!(
        senseless(json!({ "measures": [count()], "dimensions": [{ "field": of("kind") }], "limit": limit })).is_empty()
    );
    assert!(
        senseless(json!({ "subject": "visits", "dimensions": [{ "field": of("kind") }], "limit": limit })).is_empty()
    );
}

#[test]
fn shares_of_themselves_are_said() {
    let is = |value: &str| json!({ "compare": { "field": of("kind"), "op": "equal", "value": value } });
    let share = |part: Json, whole: Json, all: Json| {
        let number = |filters: Json| json!({ "value": { "count": "visits" }, "filters": filters });
        let ratio = json!({ "ratio": { "numerator": number(part), "denominator": number(whole) } });
        senseless(json!({ "measures": [{ "value": ratio }], "filters": all }))
    };
    assert!(share(json!([is("school")]), json!([]), json!([])).is_empty());
    let not = json!({ "compare": { "field": of("kind"), "op": "not_equal", "value": "b" } });
    assert!(share(json!([is("a"), not]), json!([not]), json!([])).is_empty());
    // Each visit has one kind.
    assert!(share(json!([is("a"), is("b")]), json!([is("b")]), json!([]))[0].contains("one kind only"));
    // A part that is the whole, alone or within the condition of all, and one that is more.
    assert!(share(json!([]), json!([]), json!([]))[0].contains("100 %"));
    assert!(share(json!([is("a")]), json!([]), json!([is("a")]))[0].contains("100 %"));
    assert!(share(json!([]), json!([is("a")]), json!([]))[0].contains("more than the whole"));
    let shown = |within: Json, dimensions: Json| {
        senseless(
            json!({ "measures": [{ "value": { "count": "visits" }, "shown_as": { "share": { "within": within } } }], "dimensions": dimensions }),
        )
    };
    assert_eq!(shown(json!([]), json!([])).len(), 1);
    assert_eq!(shown(json!([0]), json!([{ "field": of("kind") }])).len(), 1);
    assert!(shown(json!([]), json!([{ "field": of("kind") }])).is_empty());
}
