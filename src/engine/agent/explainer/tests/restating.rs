use std::collections::BTreeMap;

use super::super::restate;
use crate::model::ontology::*;
use crate::model::plan::f64bits::F64;
use crate::model::plan::*;

fn field(name: &str, datatype: DataType) -> Field {
    Field { name: name.into(), datatype, expression: name.into(), ..Field::default() }
}

/// Trips from a stop to a stop, by a firm, with people who made complaints about trips.
pub(crate) fn ontology() -> Ontology {
    let labelled = |name: &str, label: &str, datatype| Field { label: label.into(), ..field(name, datatype) };
    let relationship = |name: &str, from: &str, to: &str, role: Option<&str>| Relationship {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        from_columns: vec!["x".into()],
        to_columns: vec!["y".into()],
        role: role.map(str::to_owned),
        ..Relationship::default()
    };
    let status = Field {
        value_synonyms: BTreeMap::from([("C".to_owned(), vec!["cancelled".to_owned()])]),
        ..field("status", DataType::String)
    };
    Ontology {
        currency: Some("EUR".into()),
        datasets: vec![
            Entity {
                name: "trips".into(),
                grain: Some("trip".into()),
                default_time_field: Some("departed_at".into()),
                fields: vec![
                    field("departed_at", DataType::DateTime),
                    field("arrived_on", DataType::Date),
                    Field { unit: Some("minutes".into()), ..labelled("delay", "Arrival Delay", DataType::Integer) },
                    field("scheduled_delay", DataType::Integer),
                    labelled("firm", "Firm", DataType::String),
                    status,
                    field("night", DataType::Boolean),
                    Field { unit: Some("%".into()), ..field("load", DataType::Float) },
                ],
                ..Entity::default()
            },
            Entity {
                name: "stops".into(),
                fields: vec![
                    labelled("name", "Name", DataType::String),
                    labelled("code", "IATA code", DataType::String),
                ],
                ..Entity::default()
            },
            Entity {
                name: "people".into(),
                grain: Some("person".into()),
                fields: vec![
                    labelled("name", "Name", DataType::String),
                    labelled("city", "Home City", DataType::String),
                ],
                ..Entity::default()
            },
            Entity {
                name: "complaints".into(),
                primary_key: vec!["complaint_no".into()],
                fields: vec![
                    field("text", DataType::String),
                    field("made_on", DataType::Date),
                    Field { hidden: true, ..field("complaint_no", DataType::Integer) },
                ],
                ..Entity::default()
            },
        ],
        relationships: vec![
            relationship("trip_from", "trips", "stops", Some("origin")),
            relationship("trip_to", "trips", "stops", Some("destination")),
            relationship("made_by", "complaints", "people", None),
        ],
        metrics: vec![Metric { name: "total_fare".into(), ..Metric::default() }],
        segments: vec![],
        ..Ontology::default()
    }
}

fn at(path: &str) -> FieldRef {
    let (dataset, field) = path.split_once('.').unwrap();
    FieldRef::new(dataset, field)
}
fn via(path: &str, way: &str) -> FieldRef {
    FieldRef { via: vec![way.into()], ..at(path) }
}
fn by(path: &str) -> Dimension {
    Dimension::of(at(path))
}
fn grain(path: &str, grain: Grain) -> Dimension {
    Dimension { grain: Some(grain), ..by(path) }
}
fn number(of: f64) -> F64 {
    F64::new(of).unwrap()
}
fn is(path: &str, value: &str) -> Condition {
    Condition::Compare { field: at(path), op: Comparator::Equal, value: Literal::Text(value.into()) }
}
fn count(dataset: &str) -> Measure {
    Measure::of(Value::Count(dataset.into()))
}
fn aggregate(function: Aggregation, path: &str) -> Measure {
    Measure::of(Value::Aggregate { function, field: at(path) })
}
fn window(start: &str, end: &str) -> Window {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Window { start: some(start), end: some(end), ..Window::default() }
}
fn trips() -> Plan {
    Plan { measures: vec![count("trips")], ..Plan::default() }
}
fn filtered(filters: Vec<Condition>) -> Plan {
    Plan { filters, ..trips() }
}
fn check(cases: Vec<(Plan, &str)>) {
    let ontology = ontology();
    for (plan, words) in cases {
        assert_eq!(restate(&plan, &ontology), words);
    }
}

#[test]
fn measures_are_noun_phrases() {
    let one = |measure: Measure| Plan { measures: vec![measure], ..Plan::default() };
    let ratio = |numerator: Measure, denominator: Measure| {
        one(Measure::of(Value::Ratio { numerator: Box::new(numerator), denominator: Box::new(denominator) }))
    };
    let over = |function, measure: Measure, by: Dimension| {
        one(Measure::of(Value::Over { function, measure: Box::new(measure), by: vec![by] }))
    };
    let late = Measure {
        filters: vec![Condition::Compare {
            field: at("trips.delay"),
            op: Comparator::Greater,
            value: Literal::Number(number(15.0)),
        }],
        ..count("trips")
    };
    let as_shown = |shown: Shown| {
        let measure = Measure { shown_as: Some(shown), ..count("trips") };
        Plan {
            measures: vec![measure],
            dimensions: vec![grain("trips.departed_at", Grain::Month), by("trips.firm")],
            ..Plan::default()
        }
    };
    check(vec![
        (one(Measure::metric("total_fare")), "Total fare, all time"),
        (one(count("trips")), "Number of trips, all time"),
        (one(count("people")), "Number of people"),
        (one(count("stops")), "Number of stops"),
        (one(aggregate(Aggregation::Avg, "trips.delay")), "Average arrival delay, all time"),
        (one(aggregate(Aggregation::Max, "trips.departed_at")), "Latest departed at, all time"),
        (one(aggregate(Aggregation::Max, "trips.delay")), "Highest arrival delay, all time"),
        (
            one(Measure::of(Value::Days {
                function: Aggregation::Avg,
                from: at("trips.departed_at"),
                to: at("trips.arrived_on"),
            })),
            "Average days from departed at to arrived on, all time",
        ),
        (one(aggregate(Aggregation::CountDistinct, "people.city")), "Number of distinct home cities"),
        (one(aggregate(Aggregation::Count, "people.city")), "Number of people with home city"),
        (one(aggregate(Aggregation::Stddev, "trips.delay")), "Standard deviation of arrival delay, all time"),
        (one(late.clone()), "Number of trips (only where arrival delay is over 15 minutes), all time"),
        (ratio(Measure::metric("total_fare"), count("trips")), "Total fare per trip, all time"),
        (
            ratio(late.clone(), count("trips")),
            "Share of trips where arrival delay is over 15 minutes, all time, among all trips",
        ),
        (
            ratio(Measure::metric("total_fare"), aggregate(Aggregation::Sum, "trips.delay")),
            "Total fare divided by total arrival delay, all time",
        ),
        (
            one(Measure::of(Value::Sum(vec![count("trips"), count("complaints")]))),
            "Number of trips plus number of complaints, all time",
        ),
        (
            one(Measure::of(Value::Difference(
                Box::new(count("trips")),
                Box::new(Measure::of(Value::Sum(vec![late, Measure::of(Value::Number(number(2.5)))]))),
            ))),
            "Number of trips minus (number of trips (only where arrival delay is over 15 minutes) plus 2.5), all time",
        ),
        (
            over(Aggregation::Avg, count("trips"), grain("trips.departed_at", Grain::Day)),
            "Average of the number of trips of each day, all time",
        ),
        (
            over(Aggregation::Count, count("trips"), by("trips.firm")),
            "Number of distinct firms with number of trips, all time",
        ),
        (
            as_shown(Shown::Share { within: vec![] }),
            "Number of trips as share of the total by month and firm, all time",
        ),
        (
            as_shown(Shown::Share { within: vec![1] }),
            "Number of trips as share of the total of each firm by month and firm, all time",
        ),
        (as_shown(Shown::Cumulative), "Running total of number of trips by month and firm, all time"),
        (as_shown(Shown::Change), "Change in number of trips from month to month by month and firm, all time"),
        (
            as_shown(Shown::ChangePercent),
            "Percentage change in number of trips from month to month by month and firm, all time",
        ),
        (
            as_shown(Shown::MovingAverage { rows: 3 }),
            "Moving average of number of trips over 3 months by month and firm, all time",
        ),
    ]);
}

#[test]
fn a_time_that_is_none_of_the_numbers_own_is_said() {
    let mut ontology = ontology();
    ontology.datasets[3].default_time_field = Some("made_on".into());
    ontology.metrics[0].expression = "SUM(trips.delay)".into();
    let by_month = |measures: Vec<Measure>| Plan {
        dimensions: vec![grain("complaints.made_on", Grain::Month)],
        measures,
        ..Plan::default()
    };
    let window = Window { start: Some("2013-01-01".into()), end: Some("2014-01-01".into()), ..Window::default() };
    let placed = |measure: Measure| Plan {
        time: Some(TimeFilter { field: Some(at("complaints.made_on")), window: window.clone() }),
        measures: vec![measure],
        ..Plan::default()
    };
    for (plan, words) in [
        (by_month(vec![count("trips")]), "Number of trips by month of made on, all time"),
        (by_month(vec![Measure::metric("total_fare")]), "Total fare by month of made on, all time"),
        (by_month(vec![count("complaints")]), "Number of complaints by month, all time"),
        // What belongs to several is told of each, by the time that each has.
        (
            by_month(vec![count("trips"), count("complaints")]),
            "Number of trips and number of complaints by month, all time",
        ),
        (placed(count("trips")), "Number of trips, 2013 by made on"),
        (placed(count("complaints")), "Number of complaints, 2013"),
    ] {
        assert_eq!(restate(&plan, &ontology), words);
    }
}

#[test]
fn a_way_through_another_dataset_is_said_by_that_dataset() {
    let mut ontology = ontology();
    let relationship = |name: &str, from: &str, to: &str| Relationship {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        role: None,
        ..ontology.relationships[2].clone()
    };
    let more = [relationship("rider", "trips", "people"), relationship("lives_at", "people", "stops")];
    ontology.relationships.extend(more);
    for (path, way, words) in [
        ("stops.code", "rider", "Number of trips by person stop IATA code, all time"),
        ("stops.code", "lives_at", "Number of trips by person stop IATA code, all time"),
        ("people.name", "rider", "Number of trips by trip person name, all time"),
        ("people.name", "made_by", "Number of trips by complaint person name, all time"),
    ] {
        let plan = Plan { dimensions: vec![Dimension::of(via(path, way))], ..trips() };
        assert_eq!(restate(&plan, &ontology), words, "{way}");
    }
}

#[test]
fn dimensions_and_lists_name_their_columns() {
    let grouped = |dimensions: Vec<Dimension>| Plan { dimensions, ..trips() };
    let origin = Dimension::of(via("stops.name", "trip_from"));
    let bucket = Dimension { bucket: Some(number(10.0)), ..by("trips.delay") };
    check(vec![
        (grouped(vec![by("trips.firm")]), "Number of trips by firm, all time"),
        (grouped(vec![origin, by("stops.code")]), "Number of trips by origin stop name and IATA code, all time"),
        (grouped(vec![by("people.name")]), "Number of trips by person name, all time"),
        (grouped(vec![bucket]), "Number of trips by arrival delay in ranges of 10, all time"),
        (grouped(vec![grain("trips.departed_at", Grain::DayOfWeek)]), "Number of trips by day of the week, all time"),
        (grouped(vec![grain("trips.arrived_on", Grain::Month)]), "Number of trips by month of arrived on, all time"),
        (
            Plan { subject: Some("people".into()), dimensions: vec![by("people.name")], ..trips() },
            "Number of trips by person name, for every person (also without any), all time",
        ),
        (Plan { subject: Some("people".into()), ..Plan::default() }, "List of people"),
        (
            Plan { subject: Some("firms".into()), dimensions: vec![by("trips.firm")], ..Plan::default() },
            "List of firms",
        ),
        (
            Plan { dimensions: vec![Dimension::of(via("people.city", "made_by"))], ..trips() },
            "Number of trips by home city, all time",
        ),
        (
            Plan { subject: Some("people".into()), dimensions: vec![by("people.city")], ..Plan::default() },
            "List of people: home city",
        ),
        (
            Plan { dimensions: vec![by("trips.firm"), by("trips.status")], distinct: true, ..Plan::default() },
            "Distinct firm and status of trips",
        ),
    ]);
}

#[test]
fn windows_name_their_last_day() {
    let within = |start: &str, end: &str, field: Option<FieldRef>| Plan {
        time: Some(TimeFilter { field, window: window(start, end) }),
        ..trips()
    };
    let compared = Plan {
        comparison: Some(Comparison { with: window("2012-01-01", "2013-01-01"), align: Some(Grain::Month) }),
        ..within("2013-01-01", "2014-01-01", None)
    };
    check(vec![
        (within("2013-01-01", "2013-04-01", None), "Number of trips, 1 Jan – 31 Mar 2013"),
        (within("2012-11-01", "2013-04-01", None), "Number of trips, 1 Nov 2012 – 31 Mar 2013"),
        (within("2013-02-02", "2013-02-03", None), "Number of trips, 2 Feb 2013"),
        (within("2013-02-02", "", None), "Number of trips, since 2 Feb 2013"),
        (within("", "2013-02-02", None), "Number of trips, before 2 Feb 2013"),
        (within("2013-02-02T08:00:00", "2013-02-02T09:30:00", None), "Number of trips, 2 Feb 2013 08:00 – 09:30"),
        (
            within("2013-01-01", "2013-04-01", Some(at("trips.arrived_on"))),
            "Number of trips, 1 Jan – 31 Mar 2013 by arrived on",
        ),
        (within("2013-01-01", "2013-04-01", Some(at("trips.departed_at"))), "Number of trips, 1 Jan – 31 Mar 2013"),
        (compared, "Number of trips, 2013, compared with 2012, month by month"),
    ]);
}

#[test]
fn conditions_say_what_they_keep() {
    let compare = |path: &str, op, value| Condition::Compare { field: at(path), op, value };
    let num = |of: f64| Literal::Number(number(of));
    let text = |of: &str| Literal::Text(of.into());
    let values = |values: &[&str], negated| Condition::In {
        field: at("trips.firm"),
        values: values.iter().map(|value| Literal::Text((*value).into())).collect(),
        negated,
    };
    let exists = |negated, filters, via| Condition::Exists {
        of: "people".into(),
        dataset: "complaints".into(),
        via,
        filters,
        negated,
    };
    let cases = vec![
        (vec![is("trips.firm", "Blue Line")], "firm is Blue Line"),
        (vec![is("trips.firm", "Salt and Co")], "firm is “Salt and Co”"),
        (vec![is("trips.firm", "")], "firm is “”"),
        (vec![is("trips.firm", "a, b")], "firm is “a, b”"),
        (vec![is("trips.status", "C")], "status is C (cancelled)"),
        (vec![compare("trips.night", Comparator::Equal, Literal::Bool(true))], "night is true"),
        (vec![compare("trips.delay", Comparator::AtMost, num(15.0))], "arrival delay is at most 15 minutes"),
        (vec![compare("trips.load", Comparator::Less, num(12.5))], "load is below 12.5%"),
        (vec![compare("trips.arrived_on", Comparator::Less, text("2013-01-01"))], "arrived on is before 2013-01-01"),
        (vec![compare("trips.firm", Comparator::NotEqual, text("Red"))], "firm is not Red"),
        (
            vec![Condition::CompareFields {
                left: at("trips.delay"),
                op: Comparator::Greater,
                right: at("trips.scheduled_delay"),
            }],
            "arrival delay is over scheduled delay",
        ),
        (vec![values(&["Red", "Blue", "Green"], false)], "firm is Red, Blue or Green"),
        (vec![values(&["Red", "Blue"], true)], "firm is neither Red nor Blue"),
        (vec![values(&["Red"], true)], "firm is not Red"),
        (
            vec![Condition::Like {
                field: at("complaints.text"),
                pattern: Pattern::Contains,
                text: "too late".into(),
                negated: true,
            }],
            "text does not contain “too late”",
        ),
        (vec![Condition::IsNull { field: at("trips.firm"), negated: false }], "firm has no value"),
        (vec![Condition::IsNull { field: at("trips.firm"), negated: true }], "firm has a value"),
        (vec![Condition::IsNull { field: at("complaints.complaint_no"), negated: true }], "it is a complaint"),
        (vec![Condition::IsNull { field: at("complaints.complaint_no"), negated: false }], "it is no complaint"),
        (
            vec![Condition::Within {
                field: at("trips.arrived_on"),
                window: window("2013-01-01", "2013-02-01"),
                negated: true,
            }],
            "arrived on is not in Jan 2013",
        ),
        (vec![Condition::Segment { name: "busy trips".into(), negated: false }], "in the segment “busy trips”"),
        (vec![Condition::Segment { name: "busy trips".into(), negated: true }], "not in the segment “busy trips”"),
        (vec![exists(true, vec![], vec![])], "the person has no complaint"),
        (
            vec![exists(false, vec![is("complaints.text", "late")], vec!["made_by".into()])],
            "the person has at least one complaint (where text is late)",
        ),
        (
            vec![Condition::Measured {
                of: "people".into(),
                measure: Box::new(count("complaints")),
                op: Comparator::Greater,
                value: num(3.0),
            }],
            "the person’s number of complaints is over 3",
        ),
        (
            vec![Condition::AgainstOverall {
                field: at("trips.delay"),
                op: Comparator::Greater,
                function: Aggregation::Avg,
            }],
            "arrival delay is over the average arrival delay of all",
        ),
        (vec![Condition::Any(vec![is("trips.firm", "Red"), is("trips.firm", "Blue")])], "firm is Red or firm is Blue"),
        (
            vec![
                is("trips.status", "open"),
                Condition::Any(vec![
                    is("trips.firm", "Red"),
                    Condition::All(vec![is("trips.firm", "Blue"), is("people.city", "Rome")]),
                ]),
            ],
            "status is open and (firm is Red or (firm is Blue and home city is Rome))",
        ),
        (
            vec![Condition::Not(Box::new(Condition::Any(vec![is("trips.firm", "Red"), is("people.city", "Rome")])))],
            "not (firm is Red or home city is Rome)",
        ),
    ];
    for (filters, words) in cases {
        let plan = filtered(filters);
        let window = if matches!(plan.filters[0], Condition::Within { .. }) { "" } else { ", all time" };
        check(vec![(plan, &format!("Number of trips{window}, where {words}"))]);
    }
}

#[test]
fn ranks_and_bounds_come_last() {
    let limited = |rows, skip, per: Vec<usize>, with_ties| Some(Limit { rows, per, with_ties, skip });
    let ordered = |by, descending, limit| Plan {
        dimensions: vec![by_firm(), grain("trips.departed_at", Grain::Month)],
        order: vec![Order { by, descending }],
        limit,
        ..trips()
    };
    fn by_firm() -> Dimension {
        by("trips.firm")
    }
    let base = "Number of trips by firm and month, all time";
    let having = |value| Plan {
        having: vec![Having { measure: 0, op: Comparator::AtLeast, value }],
        dimensions: vec![by_firm()],
        ..trips()
    };
    for (plan, words) in [
        (ordered(By::Measure(0), true, limited(5, 0, vec![], false)), "top 5"),
        (ordered(By::Measure(0), false, limited(5, 0, vec![], true)), "bottom 5 with ties"),
        (ordered(By::Measure(0), true, limited(3, 0, vec![1], false)), "top 3 for each month"),
        (ordered(By::Measure(0), true, limited(1, 1, vec![], false)), "top number 2"),
        (ordered(By::Measure(0), true, limited(5, 5, vec![], false)), "top 6 to 10"),
        (ordered(By::Dimension(1), true, limited(2, 0, vec![], false)), "latest 2 by month"),
        (ordered(By::Dimension(0), false, limited(2, 0, vec![], false)), "first 2 by firm"),
        (ordered(By::Change(0), true, limited(2, 0, vec![], false)), "top 2 by change of number of trips"),
        (ordered(By::Measure(0), true, None), "highest first"),
        (ordered(By::Dimension(0), false, None), "sorted by firm"),
        (ordered(By::Dimension(1), true, None), "latest month first"),
    ] {
        check(vec![(plan, &format!("{base}, {words}"))]);
    }
    let longest = Plan {
        subject: Some("trips".into()),
        dimensions: vec![by("trips.delay")],
        order: vec![Order { by: By::Dimension(0), descending: true }],
        ..Plan::default()
    };
    check(vec![
        (longest.clone(), "List of trips: arrival delay, highest arrival delay first"),
        (
            Plan { limit: limited(3, 0, vec![], false), ..longest },
            "List of trips: arrival delay, top 3 by arrival delay",
        ),
        (
            having(Bound::Number(number(100.0))),
            "Number of trips by firm, all time, only those whose number of trips is at least 100",
        ),
        (
            having(Bound::Overall(Aggregation::Avg)),
            "Number of trips by firm, all time, only those whose number of trips is at least the average of all",
        ),
    ]);
}
