use super::*;
use crate::engine::render::column::{Column, Role};
use crate::engine::render::number::Style;
use crate::model::lineage::ColumnPair;
use crate::model::ontology::{Aggregation, DataType, Entity, Field, Metric, Relationship};
use crate::model::plan::{
    Bound, By, Comparator, Comparison, Condition, Dimension, FieldRef, Grain, Having, Limit, Literal, Measure, Order,
    Pattern, Shown, TimeFilter, Value, Window,
};
use crate::model::source::CLICKHOUSE_SETTINGS;

fn field(name: &str, datatype: DataType) -> Field {
    Field { name: name.into(), expression: name.into(), datatype, ..Field::default() }
}

fn relationship(name: &str, from: &str, column: &str, to: &str, role: &str) -> Relationship {
    Relationship {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        from_columns: vec![column.into()],
        to_columns: vec!["code".into()],
        role: (!role.is_empty()).then(|| role.into()),
        ..Relationship::default()
    }
}

/// Flights from an airport to an airport, without a key of their own.
fn ontology() -> Ontology {
    let mut ontology = Ontology { name: "o".into(), ..Ontology::default() };
    ontology.datasets = vec![
        Entity {
            name: "flights".into(),
            source: "db.main.flights".into(),
            grain: Some("flight".into()),
            default_time_field: Some("day".into()),
            fields: vec![
                field("origin", DataType::String),
                field("dest", DataType::String),
                field("miles", DataType::Integer),
                field("day", DataType::Date),
            ],
            ..Entity::default()
        },
        Entity {
            name: "airports".into(),
            source: "air\"ports".into(),
            primary_key: vec!["code".into()],
            fields: vec![field("code", DataType::String), field("city", DataType::String)],
            ..Entity::default()
        },
    ];
    ontology.relationships = vec![
        relationship("from", "flights", "origin", "airports", "origin"),
        relationship("to", "flights", "dest", "airports", "destination"),
    ];
    ontology.metrics = vec![Metric {
        name: "flights".into(),
        expression: "SUM(flights.miles)".into(),
        unit: Some("miles".into()),
        ..Metric::default()
    }];
    ontology
}

fn made(plan: &Plan) -> Result<Compiled, CompileError> {
    let ontology = ontology();
    compile(plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100)
}

fn count(dims: &[(&str, &str, &[&str])]) -> Plan {
    let dimension = |(dataset, name, via): &(&str, &str, &[&str])| {
        let via = via.iter().map(|name| (*name).to_owned()).collect();
        Dimension::of(FieldRef { via, ..FieldRef::new(*dataset, *name) })
    };
    Plan {
        dimensions: dims.iter().map(dimension).collect(),
        measures: vec![Measure::of(Value::Count("flights".into()))],
        ..Plan::default()
    }
}

fn is(dataset: &str, name: &str, op: Comparator, value: Literal) -> Condition {
    Condition::Compare { field: FieldRef::new(dataset, name), op, value }
}

#[test]
fn every_name_is_quoted_and_no_part_hides_a_table() {
    let mut plan = count(&[("airports", "city", &["from"])]);
    plan.measures = vec![Measure::metric("flights")];
    let sql = made(&plan).unwrap().sql;
    assert!(sql.contains("FROM \"flights\" AS \"flights\""), "{sql}");
    assert!(sql.contains("LEFT JOIN \"air\"\"ports\" AS \"origin_airports\""), "{sql}");
    assert!(sql.starts_with("WITH \"flights_2\" AS ("), "{sql}");
}

#[test]
fn one_row_more_is_asked_for_than_can_be_taken() {
    assert!(made(&count(&[])).unwrap().sql.ends_with("LIMIT 101"));
    let mut plan = count(&[("flights", "origin", &[])]);
    plan.limit = Some(Limit { rows: 5, per: vec![], with_ties: false, skip: 2 });
    assert!(made(&plan).unwrap().sql.ends_with("LIMIT 5 OFFSET 2"));
    plan.limit = Some(Limit { rows: 500, per: vec![], with_ties: false, skip: 0 });
    assert!(made(&plan).unwrap().sql.ends_with("LIMIT 101"));
}

#[test]
fn several_ways_are_asked_about_and_an_answer_settles_them() {
    let plan = count(&[("airports", "city", &[])]);
    let error = made(&plan).unwrap_err();
    let asked = error.clarification().unwrap();
    assert_eq!(asked.key, "way:flights:airports");
    let options: Vec<(&str, &str)> =
        asked.options.iter().map(|option| (option.label.as_str(), option.value.as_str())).collect();
    assert_eq!(options, [("origin", "from"), ("destination", "to")]);
    assert_eq!(asked.assumption, "origin");
    let settled = with_way(&plan, "Airports", &["to".into()]);
    assert!(made(&settled).unwrap().sql.contains("\"destination_airports\".\"code\" = \"flights\".\"dest\""));
    // What was said before is not said again.
    let said = count(&[("airports", "city", &["from"])]);
    assert_eq!(with_way(&said, "airports", &["to".into()]), said);
    assert_eq!(CompileError::TooLarge { bytes: 1 }.clarification(), None);
}

#[test]
fn sums_that_would_count_rows_twice_need_a_key() {
    let mut ontology = ontology();
    let sum = Value::Aggregate {
        function: crate::model::ontology::Aggregation::Sum,
        field: FieldRef::new("airports", "size"),
    };
    ontology.datasets[1].fields.push(field("size", DataType::Integer));
    ontology.datasets[1].primary_key.clear();
    ontology.datasets[1].unique_keys = vec![];
    ontology.datasets[0].primary_key = vec!["origin".into()];
    ontology.relationships.truncate(1);
    let plan = Plan { measures: vec![Measure::of(sum)], ..count(&[("flights", "dest", &[])]) };
    let error = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap_err();
    let CompileError::FanOut { measure, relationship, instead } = &error else { panic!("{error}") };
    assert_eq!((measure.as_str(), relationship.as_str()), ("Total size", "from"));
    assert!(instead.contains("give airports a primary_key"), "{instead}");
}

#[test]
fn refusals_name_the_thing_and_what_to_do() {
    let with = |filter: Condition| Plan { filters: vec![filter], ..count(&[]) };
    let text = |value: &str| Literal::Text(value.into());
    let cases = [
        (count(&[("flihgts", "origin", &[])]), "did you mean flights?"),
        (count(&[("flights", "orgin", &[])]), "there is no field flights.orgin; did you mean flights.origin?"),
        (count(&[("airports", "city", &["frm"])]), "there is no relationship frm; did you mean from?"),
        (with(is("flights", "miles", Comparator::Less, text("far"))), "“far” cannot be compared with miles"),
        (with(is("flights", "day", Comparator::Less, text("soon"))), "write a day as 2024-01-31"),
        (with(is("flights", "day", Comparator::Less, Literal::Bool(true))), "it holds days"),
        (with(Condition::Segment { name: "big".into(), negated: false }), "there is no segment big"),
        (Plan { measures: vec![Measure::metric("flight")], ..Plan::default() }, "did you mean flights?"),
        (Plan::default(), "asks for nothing"),
        (
            Plan {
                measures: vec![Measure {
                    shown_as: Some(Shown::Cumulative),
                    ..Measure::of(Value::Count("flights".into()))
                }],
                ..count(&[("flights", "origin", &[])])
            },
            "needs a time to group by",
        ),
        (
            Plan {
                time: Some(TimeFilter {
                    field: None,
                    window: Window {
                        start: Some("2024-02-01".into()),
                        end: Some("2024-01-01".into()),
                        ..Window::default()
                    },
                }),
                ..count(&[])
            },
            "is empty",
        ),
        (
            Plan {
                measures: vec![Measure::of(Value::Count("airports".into()))],
                time: Some(TimeFilter {
                    field: None,
                    window: Window { start: Some("2024-02-01".into()), ..Window::default() },
                }),
                ..Plan::default()
            },
            "give airports a default_time_field",
        ),
        (
            Plan { measures: vec![Measure::of(Value::Number(1.into()))], ..count(&[("flights", "origin", &[])]) },
            "fixed",
        ),
    ];
    for (plan, says) in cases {
        let error = made(&plan).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
    }
}

/// A plan's statement for ClickHouse, without its settings.
fn there(plan: &Plan, ontology: &Ontology) -> String {
    let made = compile(plan, ontology, &Graph::new(ontology), Dialect::ClickHouse, 100).unwrap();
    for sql in [Some(&made.sql), made.count_sql.as_ref(), made.checks_sql.as_ref()].into_iter().flatten() {
        assert!(sql.ends_with(CLICKHOUSE_SETTINGS) && sql.matches("SETTINGS").count() == 1, "{sql}");
    }
    made.sql.trim_end_matches(CLICKHOUSE_SETTINGS).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn clickhouse_is_told_in_its_own_words() {
    let mut ontology = ontology();
    ontology.datasets[0].fields[3].datatype = DataType::DateTimeTz;
    ontology.calendar.timezone = "Asia/Tokyo".into();
    let filtered = |condition: Condition| there(&Plan { filters: vec![condition], ..count(&[]) }, &ontology);
    let says = [
        (
            is("flights", "origin", Comparator::Equal, Literal::Text(r"'\ OR 1=1".into())),
            r#"WHERE "flights"."origin" = '''\\ OR 1=1'"#,
        ),
        (
            Condition::Like {
                field: FieldRef::new("flights", "origin"),
                pattern: Pattern::Contains,
                text: r"a_\".into(),
                negated: false,
            },
            r#"WHERE toString("flights"."origin") ILIKE '%a\\_\\\\%'"#,
        ),
        (
            is("flights", "day", Comparator::Less, Literal::Text("2024-01-01".into())),
            r#"WHERE "flights"."day" < toDateTime('2023-12-31 15:00:00', 'UTC')"#,
        ),
        (
            Condition::In {
                field: FieldRef::new("flights", "miles"),
                values: vec![Literal::Number(1.into()), Literal::Text("2.5".into())],
                negated: false,
            },
            r#"WHERE ("flights"."miles" = 1 OR "flights"."miles" = 2.5)"#,
        ),
        (
            Condition::Exists {
                of: "airports".into(),
                dataset: "flights".into(),
                via: vec!["from".into()],
                filters: vec![],
                negated: true,
            },
            "",
        ),
    ];
    for (condition, expected) in says {
        if expected.is_empty() {
            let plan = Plan {
                measures: vec![Measure::of(Value::Count("airports".into()))],
                filters: vec![condition],
                ..Plan::default()
            };
            let sql = there(&plan, &ontology);
            let lacking = r#"NOT COALESCE(("airports"."code") IN ( SELECT "flights"."origin" FROM "flights" AS "flights" ), FALSE)"#;
            assert!(sql.contains(lacking), "{sql}");
            continue;
        }
        let sql = filtered(condition);
        assert!(sql.contains(expected), "{expected}: {sql}");
    }
    let mut plan = count(&[("flights", "day", &[])]);
    plan.dimensions[0].grain = Some(Grain::Month);
    plan.measures.push(Measure::of(Value::Count("airports".into())));
    plan.measures[0].shown_as = Some(Shown::Change);
    let grouped = there(&count(&[("airports", "city", &["from"])]), &ontology);
    assert!(!grouped.contains("UNION") && grouped.contains(" GROUP BY 1"), "{grouped}");
    let by_month = there(&Plan { measures: vec![plan.measures[0].clone()], ..plan.clone() }, &ontology);
    let month = r#"toDate32(date_trunc('month', toDate32(addSeconds(toTimeZone("flights"."day", 'UTC'), timezoneOffset(toTimeZone("flights"."day", 'Asia/Tokyo'))))))"#;
    assert!(by_month.contains(month) && by_month.contains("LAG(toNullable("), "{by_month}");
    let of = |function| Measure::of(Value::Aggregate { function, field: FieldRef::new("flights", "miles") });
    let spread =
        there(&Plan { measures: vec![of(Aggregation::Median), of(Aggregation::Stddev)], ..Plan::default() }, &ontology);
    for part in [
        r#"quantileExactInclusive(0.5)(1.0 * ("flights"."miles"))"#,
        r#"if(COUNT("flights"."miles") > 1, stddevSampStable("flights"."miles"), NULL)"#,
    ] {
        assert!(spread.contains(part), "{part}: {spread}");
    }
}

#[test]
fn numbers_of_several_datasets_meet_without_a_union_in_clickhouse() {
    let groups = Dialect::ClickHouse.all_groups(&["a".into(), "b".into()], &["x", "y", "z"]);
    let expected = [
        r#"SELECT COALESCE("x"."a", "y"."a", "z"."a") AS "a", COALESCE("x"."b", "y"."b", "z"."b") AS "b""#,
        r#"FROM "x""#,
        r#"FULL JOIN "y" ON isNotDistinctFrom("x"."a", "y"."a") AND isNotDistinctFrom("x"."b", "y"."b")"#,
        r#"FULL JOIN "z" ON isNotDistinctFrom(COALESCE("x"."a", "y"."a"), "z"."a") AND isNotDistinctFrom(COALESCE("x"."b", "y"."b"), "z"."b")"#,
    ];
    assert_eq!(groups, expected.join("\n"));
}

#[test]
fn what_clickhouse_has_no_words_for_is_refused_with_what_to_do_instead() {
    let mut ontology = ontology();
    let at = Field { expression: "CAST(day AS TIME)".into(), ..field("at", DataType::Time) };
    let since = Field { expression: "age(day, day)".into(), ..field("since", DataType::Opaque) };
    ontology.datasets[0].fields.extend([at, since]);
    for (name, says) in [("at", "compare hours: EXTRACT(hour FROM …)"), ("since", "write DATE_DIFF('day', from, to)")]
    {
        let refused =
            |dialect| compile(&count(&[("flights", name, &[])]), &ontology, &Graph::new(&ontology), dialect, 9);
        let refused =
            [Dialect::DuckDb, Dialect::ClickHouse].map(|dialect| refused(dialect).map_err(|it| it.to_string()));
        assert!(refused[0].is_ok() && refused[1].as_ref().unwrap_err().contains(says), "{refused:?}");
    }
}

#[test]
fn a_statement_has_an_end() {
    let values: Vec<Literal> = (0..9_000).map(|at| Literal::Text(format!("value {at}"))).collect();
    let plan = Plan {
        filters: vec![Condition::In { field: FieldRef::new("flights", "origin"), values, negated: false }],
        ..count(&[])
    };
    assert!(matches!(made(&plan), Err(CompileError::TooLarge { .. })));
    let deep = (0..40).fold(is("flights", "miles", Comparator::Less, Literal::Number(1.into())), |inner, _| {
        Condition::Not(Box::new(inner))
    });
    let plan = Plan { filters: vec![deep], ..count(&[]) };
    assert!(made(&plan).unwrap_err().to_string().contains("deep inside"));
}

#[test]
fn values_cannot_leave_their_quotes() {
    let evil = "'; DROP TABLE flights; --";
    let sql = made(&Plan {
        filters: vec![is("flights", "origin", Comparator::Equal, Literal::Text(evil.into()))],
        ..count(&[])
    })
    .unwrap()
    .sql;
    assert!(sql.contains("= '''; DROP TABLE flights; --'"), "{sql}");
    let plan = Plan {
        filters: vec![is("flights", "origin", Comparator::Equal, Literal::Text("a\u{0}b".into()))],
        ..count(&[])
    };
    assert!(made(&plan).is_err());
}

#[test]
fn alternatives_stay_together_among_other_conditions() {
    let mut ontology = ontology();
    ontology.datasets[0].fields[3].datatype = DataType::DateTime;
    let days = ["2024-01-01", "2024-02-01"].map(|day| Literal::Text(day.into())).to_vec();
    let plan = Plan {
        filters: vec![
            Condition::In { field: FieldRef::new("flights", "day"), values: days, negated: false },
            is("flights", "miles", Comparator::Less, Literal::Number(9.into())),
        ],
        ..count(&[])
    };
    let sql = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap().sql;
    let either = "WHERE (((\"flights\".\"day\" >= TIMESTAMP '2024-01-01 00:00:00' AND";
    assert!(sql.contains(either), "{sql}");
}

#[test]
fn instants_are_read_from_the_ontology_s_clock_in_every_engine() {
    let mut ontology = ontology();
    ontology.calendar.timezone = "Asia/Tokyo".into();
    ontology.datasets[0].fields[3].datatype = DataType::DateTimeTz;
    let date = Field { expression: "CAST(day AS DATE)".into(), ..field("date", DataType::Date) };
    ontology.datasets[0].fields.push(date);
    let window = |year: u16| Window {
        start: Some(format!("{year}-01-01")),
        end: Some(format!("{year}-02-01")),
        ..Window::default()
    };
    let compared = Plan {
        time: Some(TimeFilter { field: None, window: window(2024) }),
        comparison: Some(Comparison { with: window(2023), align: None }),
        ..count(&[("flights", "day", &[])])
    };
    for dialect in [Dialect::DuckDb, Dialect::PostgreSql] {
        let made = |plan: &Plan| compile(plan, &ontology, &Graph::new(&ontology), dialect, 100).unwrap().sql;
        let sql = made(&count(&[("flights", "date", &[])]));
        assert!(sql.contains(r#"(CAST(("flights"."day" AT TIME ZONE 'Asia/Tokyo') AS DATE)) AS "date""#), "{sql}");
        // A year of days later it may not be as many hours later.
        let sql = made(&compared);
        let moved = r#"(CAST(("flights"."day" AT TIME ZONE 'Asia/Tokyo') + INTERVAL '12 months' AS TIMESTAMP) AT TIME ZONE 'Asia/Tokyo')"#;
        assert!(sql.contains(moved), "{sql}");
    }
}

#[test]
fn what_reaches_back_is_read_from_before_the_window_on() {
    let made = |start: &str, shown: Vec<Shown>| {
        let mut plan = count(&[("flights", "day", &[])]);
        plan.dimensions[0].grain = Some(Grain::Month);
        let of = |shown| Measure { shown_as: Some(shown), ..Measure::of(Value::Count("flights".into())) };
        plan.measures.extend(shown.into_iter().map(of));
        let window = Window { start: Some(start.into()), end: Some("2024-05-01".into()), ..Window::default() };
        plan.time = Some(TimeFilter { field: None, window });
        made(&plan).unwrap().sql.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mean = || Shown::MovingAverage { rows: 3 };
    for (start, shown, from_before) in [
        // A month without a row counts as 0 once there has been one, however long before.
        ("2024-03-01", vec![mean()], true),
        ("2024-03-01", vec![Shown::Change], true),
        ("2024-03-01", vec![Shown::ChangePercent, mean()], true),
        // The month is not meant from its first day on, and what is taken over all rows is of the window alone.
        ("2024-03-15", vec![Shown::Change], false),
        ("2024-03-01", vec![Shown::Cumulative], false),
        ("2024-03-01", vec![Shown::Change, Shown::Share { within: vec![] }], false),
    ] {
        let sql = made(start, shown);
        assert_eq!(sql.contains(r#""flights"."day" >= DATE"#), !from_before, "{sql}");
        let cut = format!(r#"FROM "shown" WHERE "shown"."day" >= DATE '{start}'"#);
        assert_eq!(sql.contains(&cut), from_before, "{sql}");
    }
}

#[test]
fn columns_say_what_they_are() {
    let mut plan = count(&[("flights", "day", &[]), ("airports", "city", &["from"]), ("airports", "city", &["to"])]);
    plan.dimensions[0].grain = Some(Grain::Month);
    plan.dimensions[2].label = Some("Origin city".into());
    plan.measures.push(Measure::metric("flights"));
    let compiled = made(&plan).unwrap();
    let headings: Vec<&str> = compiled.columns.iter().map(|column| column.heading.as_str()).collect();
    assert_eq!(headings, ["Day (month)", "Origin city", "Origin city (2)", "Number of flights", "Flights"]);
    let roles: Vec<Role> = compiled.columns.iter().map(|column| column.role).collect();
    let expected = [Role::Dimension(0), Role::Dimension(1), Role::Dimension(2), Role::Measure(0), Role::Measure(1)];
    assert_eq!(roles, expected);
    assert_eq!((compiled.columns[0].datatype, compiled.columns[3].datatype), (DataType::Date, DataType::Integer));
    assert!(!compiled.columns[3].nullable && compiled.columns[4].nullable);
    assert_eq!(compiled.columns[4].unit.as_deref(), Some("miles"));
    assert_eq!(compiled.reads.joins.len(), 2);
    assert_eq!(compiled.reads.joins[0].relationship, "from");
    assert_eq!(compiled.reads.joins[0].on, [ColumnPair { left: "origin".into(), right: "code".into() }]);
}

/// Money from an account to an account, each of a person; persons and banks have names.
fn transfers(roles: [&str; 2]) -> Ontology {
    let named = |name: &str, more: Vec<Field>| Entity {
        name: name.into(),
        source: name.into(),
        primary_key: vec!["code".into()],
        fields: [vec![field("code", DataType::Integer), field("name", DataType::String)], more].concat(),
        ..Entity::default()
    };
    let number = |name: &str| field(name, DataType::Integer);
    let of_transfer = vec![number("giver_id"), number("taker_id"), number("amount"), field("state", DataType::String)];
    let datasets = vec![
        Entity { fields: of_transfer, ..named("transfer", vec![]) },
        named("account", vec![number("person_id"), number("bank_id"), number("amount")]),
        named("person", vec![]),
        named("bank", vec![]),
    ];
    let relationships = vec![
        relationship("paid_by", "transfer", "giver_id", "account", roles[0]),
        relationship("paid_to", "transfer", "taker_id", "account", roles[1]),
        relationship("account_person", "account", "person_id", "person", ""),
        relationship("account_bank", "account", "bank_id", "bank", ""),
    ];
    Ontology { name: "o".into(), datasets, relationships, ..Ontology::default() }
}

/// The same, with cards of persons.
fn cards() -> Ontology {
    let mut ontology = transfers(["sender", "receiver"]);
    ontology.datasets.push(Entity {
        name: "card".into(),
        source: "card".into(),
        primary_key: vec!["code".into()],
        fields: ["code", "person_id", "debt"].map(|name| field(name, DataType::Integer)).to_vec(),
        ..Entity::default()
    });
    ontology.relationships.push(relationship("card_person", "card", "person_id", "person", ""));
    ontology
}

#[test]
fn gaps_are_told_where_they_decide_which_rows_there_are() {
    let mut ontology = cards();
    let metric =
        |name: &str, expression: &str| Metric { name: name.into(), expression: expression.into(), ..Metric::default() };
    ontology.metrics = vec![
        metric("net", "SUM(account.amount) - SUM(card.debt)"),
        metric("debt", "SUM(card.debt)"),
        metric("mean", "AVG(card.debt)"),
        metric("cards", "COUNT(card.code)"),
    ];
    let made = |change: &dyn Fn(&mut Plan)| {
        let mut plan = Plan {
            dimensions: vec![Dimension::of(FieldRef::new("person", "name"))],
            measures: ["net", "debt", "mean", "cards"].map(Measure::metric).to_vec(),
            ..Plan::default()
        };
        change(&mut plan);
        let made = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
        let says = |part: &str| made.notes.iter().any(|note| note.kind == NoteKind::Always && note.says.contains(part));
        assert!(!(says("counts as 0 in the order") && says("Only what has a value is compared")));
        (says("comes last and meets no bound"), says("counts as 0 in the order"))
    };
    let first = |by: usize, descending: bool| {
        made(&|plan: &mut Plan| {
            plan.order = vec![Order { by: By::Measure(by), descending }];
            plan.limit = Some(Limit { rows: 1, per: vec![], with_ties: false, skip: 0 });
        })
    };
    // A person without a card has no mean debt, and a total of 0; what is left of the accounts is there.
    assert_eq!([0, 1, 2, 3].map(|by| first(by, true)), [(false, false), (false, false), (true, false), (false, false)]);
    assert_eq!([0, 1, 2, 3].map(|by| first(by, false)), [(false, false), (false, true), (true, false), (false, false)]);
    let below = |measure: usize| {
        let value = Bound::Number(9.into());
        made(&|plan: &mut Plan| {
            plan.having = vec![Having { measure, op: Comparator::Less, value: value.clone() }];
        })
    };
    assert_eq!([below(1), below(2)], [(false, true), (true, false)]);
    assert_eq!(made(&|_: &mut Plan| ()), (false, false), "all rows are there");
}

#[test]
fn rows_that_only_belong_to_the_same_row_are_not_each_other_s() {
    let ontology = cards();
    let counted = |filter: Condition| {
        let measures = vec![Measure::of(Value::Count("account".into()))];
        let plan = Plan { measures, filters: vec![filter], ..Plan::default() };
        compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100)
    };
    let code = is("card", "code", Comparator::Greater, Literal::Number(4.into()));
    for (negated, filters) in [(false, vec![]), (true, vec![]), (false, vec![code.clone()])] {
        let has = |of: &str| Condition::Exists {
            of: of.into(),
            dataset: "card".into(),
            via: vec![],
            filters: filters.clone(),
            negated,
        };
        let refused = counted(has("account")).unwrap_err().to_string();
        assert_eq!(
            refused,
            "which cards are of which account is not known: both only belong to the same person. Say it of that: \
             accounts of people with cards, in a query `person has card`"
        );
        let sql = counted(has("person")).unwrap().sql;
        assert!(sql.contains("EXISTS (") && sql.contains("\"card\".\"person_id\" = \"person\".\"code\""), "{sql}");
    }
    // A bank has accounts of persons who have cards, for other banks too.
    let bank =
        Condition::Exists { of: "bank".into(), dataset: "card".into(), via: vec![], filters: vec![], negated: false };
    let measures = vec![Measure::of(Value::Count("bank".into()))];
    let plan = Plan { measures, filters: vec![bank], ..Plan::default() };
    let notes = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap().notes;
    assert!(notes.iter().any(|note| note.says.starts_with("Which cards are of which bank is not known")), "{notes:?}");
    let notes = counted(code).unwrap().notes;
    let told = "Accounts count when at least one of their person’s cards meets the conditions.";
    assert!(notes.iter().any(|note| note.says == told), "{notes:?}");
}

#[test]
fn no_two_columns_are_called_alike() {
    let headings = |roles: [&str; 2], dims: &[(&str, &str, &[&str])], measures: Vec<Measure>| -> Vec<String> {
        let ontology = transfers(roles);
        let measures = [vec![Measure::of(Value::Count("transfer".into()))], measures].concat();
        let plan = Plan { measures, ..count(dims) };
        let made = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
        made.columns.into_iter().map(|column| column.heading).collect()
    };
    let roles = ["sender", "receiver"];
    let two: [(&str, &str, &[&str]); 2] = [("account", "name", &["paid_by"]), ("account", "name", &["paid_to"])];
    assert_eq!(headings(roles, &two, vec![]), ["Sender name", "Receiver name", "Number of transfers"]);
    assert_eq!(headings(["", ""], &two, vec![])[..2], ["Paid by name", "Paid to name"], "without roles");
    let far: [(&str, &str, &[&str]); 4] = [
        ("person", "name", &["paid_by", "account_person"]),
        ("bank", "name", &["paid_by", "account_bank"]),
        ("person", "name", &["paid_to", "account_person"]),
        ("account", "code", &["paid_to"]),
    ];
    let told = ["Sender person name", "Sender bank name", "Receiver name", "Receiver code"];
    assert_eq!(headings(roles, &far, vec![])[..4], told);

    let sum = |dataset: &str| Value::Aggregate { function: Aggregation::Sum, field: FieldRef::new(dataset, "amount") };
    let count_of = |state: &str| Measure {
        filters: vec![is("transfer", "state", Comparator::Equal, Literal::Text(state.into()))],
        ..Measure::of(Value::Count("transfer".into()))
    };
    let measures = vec![Measure::of(sum("transfer")), Measure::of(sum("account")), count_of("open"), count_of("Done")];
    let told = [
        "Number of transfers",
        "Total transfer amount",
        "Total account amount",
        "Number of transfers where transfer.state = 'open'",
        "Number of transfers where transfer.state = 'Done'",
    ];
    assert_eq!(headings(roles, &[], measures), told);
    let one = headings(roles, &[], vec![Measure { label: Some("Open".into()), ..count_of("open") }, count_of("Done")]);
    assert_eq!(one[1..], ["Open", "Number of transfers where transfer.state = 'Done'"], "a name of its own stays");
    let many = headings(roles, &[], vec![count_of(&"x".repeat(500))]);
    assert!(many[1].ends_with('…') && many[1].chars().count() < 120, "{many:?}");
}

#[test]
fn a_share_is_called_one_and_what_is_shown_of_a_number_is_told_from_it() {
    let shown = |shown_as: Shown| Measure { shown_as: Some(shown_as), ..Measure::of(Value::Count("flights".into())) };
    let mut ontology = ontology();
    ontology.metrics[0].additivity = crate::model::ontology::Additivity::Additive;
    let plan = Plan {
        measures: vec![
            Measure::metric("flights"),
            Measure { shown_as: Some(Shown::Share { within: vec![] }), ..Measure::metric("flights") },
            shown(Shown::Share { within: vec![] }),
            shown(Shown::Share { within: vec![1] }),
            Measure { label: Some("Part".into()), ..shown(Shown::Share { within: vec![] }) },
            shown(Shown::Cumulative),
            Measure::of(Value::Count("flights".into())),
        ],
        ..count(&[("flights", "day", &[]), ("flights", "dest", &[])])
    };
    let compiled = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
    let headings: Vec<&str> = compiled.columns.iter().skip(2).map(|column| column.heading.as_str()).collect();
    assert_eq!(
        headings,
        [
            "Flights",
            "Share of flights",
            "Share of flights (2)",
            "Share of flights within dest",
            "Part",
            "Number of flights, running total",
            "Number of flights"
        ]
    );
}

#[test]
fn a_reference_is_expected_to_lead_somewhere_and_a_subtype_is_not() {
    let mut ontology = ontology();
    ontology.datasets.push(Entity {
        name: "heliports".into(),
        primary_key: vec!["code".into()],
        fields: vec![field("code", DataType::String), field("pads", DataType::Integer)],
        ..Entity::default()
    });
    ontology.relationships.push(relationship("is_airport", "heliports", "code", "airports", ""));
    let partners = |counted: &str, by: (&str, &str)| {
        let plan = Plan {
            dimensions: vec![Dimension::of(FieldRef::new(by.0, by.1))],
            measures: vec![Measure::of(Value::Count(counted.into()))],
            ..Plan::default()
        };
        let compiled = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
        assert!(compiled.sql.contains("LEFT JOIN"), "{}", compiled.sql);
        compiled.checks.iter().filter(|check| matches!(check.kind, CheckKind::Partners { .. })).count()
    };
    assert_eq!(partners("heliports", ("airports", "city")), 1);
    assert_eq!(partners("airports", ("heliports", "pads")), 0);
}

#[test]
fn years_are_no_amounts() {
    let mut ontology = ontology();
    ontology.datasets[0]
        .fields
        .extend([field("built_year", DataType::Float), field("miles_per_year", DataType::Float)]);
    let of = |function: Aggregation, name: &str| {
        Measure::of(Value::Aggregate { function, field: FieldRef::new("flights", name) })
    };
    let mut plan = count(&[("flights", "built_year", &[]), ("flights", "built_year", &[])]);
    plan.dimensions[1].bucket = Some(10.into());
    plan.measures = vec![
        of(Aggregation::Max, "built_year"),
        of(Aggregation::Avg, "built_year"),
        of(Aggregation::CountDistinct, "built_year"),
        of(Aggregation::Max, "miles_per_year"),
    ];
    let compiled = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
    let shown: Vec<String> = compiled
        .columns
        .iter()
        .map(|it| {
            let style = Style { datatype: it.datatype, format: it.format.clone(), ..Style::default() };
            Column::new(it.heading.clone(), it.role, &plan, style).bare(&serde_json::json!(1960.0))
        })
        .collect();
    assert_eq!(shown, ["1960", "1960", "1960", "1960", "1,960", "1,960"]);
}

#[test]
fn a_mean_of_whole_numbers_is_not_written_as_one() {
    let mut ontology = ontology();
    ontology.metrics[0].format = Some("#,##0".into());
    let over = |function: Aggregation| {
        let by = vec![Dimension::of(FieldRef::new("flights", "origin"))];
        Measure::of(Value::Over { function, measure: Box::new(Measure::metric("flights")), by })
    };
    let mut moving = Measure::metric("flights");
    moving.shown_as = Some(Shown::MovingAverage { rows: 3 });
    let mut plan = count(&[("flights", "day", &[])]);
    plan.dimensions[0].grain = Some(Grain::Month);
    plan.measures = vec![over(Aggregation::Avg), over(Aggregation::Max), moving];
    let compiled = compile(&plan, &ontology, &Graph::new(&ontology), Dialect::DuckDb, 100).unwrap();
    let formats: Vec<Option<&str>> = compiled.columns[1..].iter().map(|column| column.format.as_deref()).collect();
    assert_eq!(formats, [None, Some("#,##0"), None]);
}

#[test]
fn of_the_lowest_it_is_said_that_they_have_a_value() {
    let says = |value: Value, descending: bool| {
        let mut plan = Plan { measures: vec![Measure::of(value)], ..count(&[("flights", "origin", &[])]) };
        plan.order = vec![Order { by: By::Measure(0), descending }];
        plan.limit = Some(Limit { rows: 1, per: vec![], with_ties: false, skip: 0 });
        made(&plan).unwrap().notes.iter().any(|note| note.says.starts_with("Only what has a value is compared"))
    };
    let (miles, flights) = (Value::Metric("flights".into()), Value::Count("flights".into()));
    assert_eq!([says(miles.clone(), false), says(miles, true), says(flights, false)], [true, false, false]);
}

#[test]
fn only_what_is_divided_says_why_it_may_be_empty() {
    let says = |value: Value| {
        let plan = Plan { measures: vec![Measure::of(value)], ..count(&[("flights", "origin", &[])]) };
        made(&plan).unwrap().notes.iter().any(|note| note.kind == NoteKind::Empty)
    };
    let (miles, flights) = (Measure::metric("flights"), Measure::of(Value::Count("flights".into())));
    assert!(!says(miles.value.clone()));
    assert!(says(Value::Ratio { numerator: Box::new(miles), denominator: Box::new(flights) }));
}

#[test]
fn what_is_read_before_a_window_is_neither_shown_nor_checked() {
    let mut plan = count(&[("flights", "day", &[]), ("airports", "city", &["from"])]);
    plan.dimensions[0].grain = Some(Grain::Month);
    plan.measures[0].shown_as = Some(Shown::MovingAverage { rows: 3 });
    let window = Window { start: Some("2024-03-01".into()), ..Window::default() };
    plan.time = Some(TimeFilter { field: None, window });
    let compiled = made(&plan).unwrap();
    assert_eq!(compiled.sql.matches("2024-03-01").count(), 1, "{}", compiled.sql);
    assert!(compiled.reads.times.contains(&"flights.day".to_owned()), "{:?}", compiled.reads);
    let checks = compiled.checks_sql.unwrap();
    assert!(checks.contains("AS DATE) >= DATE '2024-03-01'"), "{checks}");
}

#[test]
fn equal_plans_have_equal_statements() {
    let plan = count(&[("airports", "city", &["from"]), ("flights", "day", &[])]);
    let first = made(&plan).unwrap();
    assert!((0..20).all(|_| made(&plan).unwrap() == first));
}
