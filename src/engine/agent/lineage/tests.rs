use super::*;
use crate::engine::agent::compiler::compile;
use crate::engine::ontology::graph::Graph;
use crate::model::lineage::{ColumnPair, JoinUse};
use crate::model::ontology::{Aggregation, DataType, Field, Metric, Relationship, Segment};
use crate::model::plan::{Comparison, Dimension, TimeFilter, Value as Computed, Window};
use crate::model::source::Dialect;

fn field(name: &str, datatype: DataType) -> Field {
    Field { name: name.into(), expression: name.into(), datatype, ..Field::default() }
}

fn relationship(name: &str, columns: &[(&str, &str)], role: Option<&str>) -> Relationship {
    Relationship {
        name: name.into(),
        from: "flight".into(),
        to: "airport".into(),
        from_columns: columns.iter().map(|(from, _)| (*from).to_owned()).collect(),
        to_columns: columns.iter().map(|(_, to)| (*to).to_owned()).collect(),
        role: role.map(str::to_owned),
        ..Relationship::default()
    }
}

/// Flights from an airport to an airport, both of a country.
fn ontology() -> Ontology {
    let flight = Entity {
        name: "flight".into(),
        source: "raw.flights".into(),
        primary_key: vec!["id".into()],
        default_time_field: Some("day".into()),
        row_policy: Some("is_test = FALSE".into()),
        fields: vec![
            field("id", DataType::Integer),
            field("day", DataType::Date),
            field("delay", DataType::Integer),
            field("carrier", DataType::String),
            field("is_test", DataType::Boolean),
        ],
        ..Entity::default()
    };
    let airport = Entity {
        name: "airport".into(),
        source: "airports".into(),
        primary_key: vec!["country".into(), "code".into()],
        fields: vec![
            field("country", DataType::String),
            field("code", DataType::String),
            field("city", DataType::String),
        ],
        ..Entity::default()
    };
    Ontology {
        name: "flights".into(),
        datasets: vec![flight, airport, Entity { name: "unused".into(), ..Entity::default() }],
        relationships: vec![
            relationship("origin", &[("from_country", "country"), ("from_code", "code")], Some("origin")),
            relationship("destination", &[("to_country", "country"), ("to_code", "code")], Some("destination")),
        ],
        metrics: vec![Metric {
            name: "late_flights".into(),
            expression: "COUNT(flight.id)".into(),
            filters: vec!["flight.delay > 15".into()],
            ..Metric::default()
        }],
        segments: vec![Segment {
            name: "domestic".into(),
            expression: "flight.carrier = 'AA'".into(),
            synonyms: vec![],
            datasets: vec!["flight".into()],
        }],
        ..Ontology::default()
    }
}

fn lineage(plan: &Plan, dialect: Dialect) -> Lineage {
    let ontology = ontology();
    let compiled = compile(plan, &ontology, &Graph::new(&ontology), dialect, 100).unwrap();
    of(plan, &compiled, &ontology, 3)
}

fn window(start: &str, end: &str) -> Window {
    Window { start: Some(start.into()), end: Some(end.into()), ..Window::default() }
}

fn compare(dataset: &str, name: &str, op: Comparator, value: Literal) -> Condition {
    Condition::Compare { field: FieldRef::new(dataset, name), op, value }
}

/// Late flights and all flights of July by city of origin, of one carrier, beside the July before.
fn plan() -> Plan {
    let city = FieldRef { via: vec!["origin".into()], ..FieldRef::new("airport", "city") };
    Plan {
        dimensions: vec![Dimension::of(city)],
        measures: vec![Measure::metric("late_flights"), Measure::of(Computed::Count("flight".into()))],
        filters: vec![compare("flight", "carrier", Comparator::Equal, Literal::Text("AA".into()))],
        time: Some(TimeFilter { field: None, window: window("2013-07-01", "2013-08-01") }),
        comparison: Some(Comparison { with: window("2012-07-01", "2012-08-01"), align: None }),
        having: vec![Having { measure: 1, op: Comparator::Greater, value: Bound::Number(10.into()) }],
        ..Plan::default()
    }
}

#[test]
fn it_names_what_is_read_joined_and_kept() {
    let lineage = lineage(&plan(), Dialect::DuckDb);
    let datasets: Vec<(&str, &str, Option<&str>)> =
        lineage.datasets.iter().map(|it| (it.name.as_str(), it.source.as_str(), it.only.as_deref())).collect();
    assert_eq!(datasets, [("airport", "airports", None), ("flight", "flights", Some("is_test = FALSE"))]);
    let pair = |left: &str, right: &str| ColumnPair { left: left.into(), right: right.into() };
    let origin = JoinUse {
        left: "flight".into(),
        right: "airport".into(),
        relationship: "origin".into(),
        on: vec![pair("from_country", "country"), pair("from_code", "code")],
    };
    assert_eq!(lineage.joins, [origin]);
    let filters: Vec<(Option<&str>, &str, Value, Option<&str>)> = lineage
        .filters
        .iter()
        .map(|it| (it.field.as_deref(), it.operator.as_str(), it.value.clone().unwrap(), it.applies_to.as_deref()))
        .collect();
    assert_eq!(
        filters,
        [
            (Some("flight.carrier"), "=", json!("AA"), None),
            (None, "expression", json!("flight.delay > 15"), Some("late_flights")),
            (Some("number of flights"), ">", json!(10), None),
        ]
    );
    let time = lineage.time_window.unwrap();
    assert_eq!((time.start.as_deref(), time.end.as_deref()), (Some("2013-07-01"), Some("2013-08-01")));
    assert_eq!((time.says.as_str(), time.fields), ("Jul 2013", vec!["flight.day".to_owned()]));
    assert_eq!(time.compared_with.unwrap().says, "Jul 2012");
    assert_eq!((lineage.kind.as_str(), lineage.row_count), ("data_lineage", 3));
    assert_eq!(lineage.grain, "one row for each origin city");
}

#[test]
fn it_is_the_same_whatever_engine_the_statement_is_for() {
    let [here, there] = [Dialect::DuckDb, Dialect::PostgreSql].map(|dialect| lineage(&plan(), dialect));
    assert_ne!(here.sql, there.sql);
    assert_eq!(here, Lineage { sql: here.sql.clone(), ..there });
}

#[test]
fn conditions_of_a_number_alone_say_so_and_those_within_it_too() {
    let late = compare("flight", "delay", Comparator::Greater, Literal::Number(15.into()));
    let count = || Measure::of(Computed::Count("flight".into()));
    let part = Measure { filters: vec![late], ..count() };
    let ratio = Computed::Ratio { numerator: Box::new(part), denominator: Box::new(count()) };
    let plan = Plan { measures: vec![Measure::of(ratio)], ..Plan::default() };
    let [filter] = lineage(&plan, Dialect::DuckDb).filters.try_into().unwrap();
    assert_eq!((filter.field.as_deref(), filter.operator.as_str()), (Some("flight.delay"), ">"));
    assert_eq!((filter.value, filter.applies_to.as_deref()), (Some(json!(15)), Some("number of flights")));
}

#[test]
fn every_kind_of_condition_has_its_operator() {
    let at = || FieldRef::new("flight", "day");
    let carrier = || FieldRef::new("flight", "carrier");
    let of = |condition: Condition| {
        let plan = Plan {
            measures: vec![Measure::of(Computed::Count("flight".into()))],
            filters: vec![Condition::All(vec![condition])],
            ..Plan::default()
        };
        let [filter] = lineage(&plan, Dialect::DuckDb).filters.try_into().unwrap();
        assert!(!filter.says.is_empty());
        (filter.field.unwrap_or_default(), filter.operator, filter.value.unwrap_or_default())
    };
    let texts = || vec![Literal::Text("AA".into()), Literal::Text("UA".into())];
    let like = |pattern, negated| Condition::Like { field: carrier(), pattern, text: "A".into(), negated };
    let cases = [
        (
            Condition::In { field: carrier(), values: texts(), negated: true },
            "flight.carrier",
            "not in",
            json!(["AA", "UA"]),
        ),
        (like(Pattern::Contains, false), "flight.carrier", "contains", json!("A")),
        (like(Pattern::EndsWith, true), "flight.carrier", "not ends with", json!("A")),
        (Condition::IsNull { field: carrier(), negated: true }, "flight.carrier", "not is null", Value::Null),
        (
            Condition::Within {
                field: at(),
                window: Window { start: Some("2013-01-01".into()), ..Window::default() },
                negated: false,
            },
            "flight.day",
            "within",
            json!({ "start": "2013-01-01" }),
        ),
        (Condition::OnDays { field: at(), days: vec![6, 7], negated: false }, "flight.day", "on days", json!([6, 7])),
        (Condition::Segment { name: "domestic".into(), negated: true }, "", "not segment", json!("domestic")),
        (
            Condition::CompareFields { left: carrier(), op: Comparator::NotEqual, right: carrier() },
            "flight.carrier",
            "!=",
            json!({ "field": "flight.carrier" }),
        ),
        (
            Condition::AgainstOverall {
                field: FieldRef::new("flight", "delay"),
                op: Comparator::Greater,
                function: Aggregation::Avg,
            },
            "flight.delay",
            ">",
            json!({ "aggregate": "avg", "of": "flight.delay" }),
        ),
        (
            Condition::Measured {
                of: "flight".into(),
                measure: Box::new(Measure::of(Computed::Count("flight".into()))),
                op: Comparator::AtLeast,
                value: Literal::Number(1.into()),
            },
            "number of flights",
            ">=",
            json!(1),
        ),
        (
            Condition::Any(vec![
                Condition::IsNull { field: carrier(), negated: false },
                compare("flight", "carrier", Comparator::Equal, Literal::Text("AA".into())),
            ]),
            "",
            "any",
            Value::Null,
        ),
    ];
    for (condition, field, operator, value) in cases {
        let says = format!("{condition:?}");
        let (is_field, is_operator, is_value) = of(condition);
        assert_eq!((is_field.as_str(), is_operator.as_str()), (field, operator), "{says}");
        assert_eq!(is_value, value, "{says}");
    }
}

#[test]
fn a_segment_says_what_it_means() {
    let plan = Plan {
        measures: vec![Measure::of(Computed::Count("flight".into()))],
        filters: vec![Condition::Segment { name: "domestic".into(), negated: false }],
        ..Plan::default()
    };
    let [filter] = lineage(&plan, Dialect::DuckDb).filters.try_into().unwrap();
    assert_eq!(filter.says, "in the segment “domestic”: flight.carrier = 'AA'");
}
