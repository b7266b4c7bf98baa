//! When rows happened.

use super::*;
use crate::engine::ontology::expression::Scalar;

#[test]
fn rows_have_a_name_and_a_time() {
    let label = |name: &str| entity(name).label_field;
    assert_eq!(label("products").as_deref(), Some("title"));
    assert_eq!(label("tags").as_deref(), Some("name"));
    assert_eq!(label("customers").as_deref(), Some("full_name"));
    assert_eq!(label("orders"), None);
    let time = |name: &str| entity(name).default_time_field;
    assert_eq!(time("orders").as_deref(), Some("order_date"));
    // A birthday is not when somebody became a customer, and an update is no event.
    assert_eq!(time("customers"), None);
    assert_eq!(time("product_tags"), None);
    assert_eq!(entity("orders").grain.as_deref(), Some("order"));
    assert_eq!(entity("addresses").ai.synonyms, ["address"]);
    // Only a bridge.
    assert!(entity("product_tags").hidden && !entity("order_items").hidden);
}

#[test]
fn parts_of_names_and_dates_become_one_field() {
    let int = |name, distinct| Column(name, "INTEGER", distinct, 0, ["1", "31"], &["1"]);
    let mut tables = vec![table(
        "visits",
        500,
        &[
            int("visit_id", 500),
            Column("given_name", "VARCHAR", 60, 0, NONE, &["Ann"]),
            Column("surname", "VARCHAR", 60, 0, NONE, &["Lee"]),
            int("year", 3),
            int("month", 12),
            int("day", 31),
        ],
    )];
    // A day 99 among them makes no date: nobody looked yet.
    let made = draft(&wanted("visits"), &tables, &Facts::default()).ontology;
    assert_eq!(made.entity("visits").unwrap().field("date"), None);
    tables[0].date_parts = Some(["year", "month", "day"].map(Into::into));
    let made = draft(&wanted("visits"), &tables, &Facts::default()).ontology;
    let entity = made.entity("visits").unwrap();
    assert_eq!(entity.label_field.as_deref(), Some("full_name"));
    assert_eq!(entity.field("full_name").unwrap().expression, "given_name || ' ' || surname");
    assert_eq!(entity.field("full_name").unwrap().pii.as_deref(), Some("person_name"));
    assert_eq!(entity.default_time_field.as_deref(), Some("date"));
    assert_eq!(entity.field("date").unwrap().expression, "MAKE_DATE(\"year\", \"month\", \"day\")");
    assert!(entity.field("date").unwrap().is_time);
}

#[test]
fn numbers_that_count_since_1970_and_months_are_times_and_no_measures() {
    let mut tables = vec![table(
        "visits",
        500,
        &[
            key("visit_id", 500),
            Column("created_at", "BIGINT", 490, 0, ["1577836800", "1609459200"], &["1609459200", "0"]),
            Column("ts", "BIGINT", 495, 0, ["1577836800000", "1609459200000"], &["1609459200000"]),
            Column("yyyymm", "BIGINT", 12, 0, ["202001", "202012"], &["202001"]),
            Column("fee", "BIGINT", 90, 0, ["0", "1609459200"], &["1000"]),
        ],
    )];
    let candidates = time_candidates(&tables);
    let asked: Vec<String> = candidates.iter().map(TimeCandidate::sql).collect();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(
        asked[1],
        "SELECT count(*) AS against FROM \"visits\" WHERE \"ts\" <> 0 AND NOT (\"ts\" BETWEEN 631152000000 AND \
         4102444800000)"
    );
    tables[0].times.extend(candidates.into_iter().map(|it| (it.column, it.written)));
    let made = made_of(&tables).ontology;
    let visits = made.entity("visits").unwrap();
    for (name, datatype, expression) in [
        ("created_at", DataType::DateTimeTz, "TO_TIMESTAMP(NULLIF(created_at, 0))"),
        ("ts", DataType::DateTimeTz, "TO_TIMESTAMP(NULLIF(ts, 0) / 1000)"),
        (
            "yyyymm",
            DataType::Date,
            "MAKE_DATE(CAST(FLOOR(NULLIF(yyyymm, 0) / 100) AS INTEGER), CAST(MOD(NULLIF(yyyymm, 0), 100) AS INTEGER), 1)",
        ),
    ] {
        let field = visits.field(name).unwrap();
        assert_eq!((field.datatype, field.expression.as_str()), (datatype, expression), "{name}");
        assert_eq!((field.is_time, field.default_aggregation), (true, None), "{name}");
        Scalar::parse(&field.expression).unwrap();
    }
    assert!(!visits.field("fee").unwrap().is_time);
    // What any engine can compare is asked of another one, too.
    tables[0].place = Some("crm".into());
    let elsewhere: Vec<String> = time_candidates(&tables).into_iter().map(|it| it.column).collect();
    assert_eq!(elsewhere, ["created_at", "ts"]);
}

#[test]
fn zeros_among_dates_are_none() {
    let opened = Column("open_ymd", "VARCHAR", 40, 0, ["0000-00-00", "2021-03-01"], &["1902-12-10"]);
    let mut tables = vec![table("stations", 90, &[key("station_id", 90), opened])];
    let candidates = time_candidates(&tables);
    let asked: Vec<String> = candidates.iter().map(TimeCandidate::sql).collect();
    assert_eq!(
        asked,
        ["SELECT count(*) AS against FROM \"stations\" WHERE \"open_ymd\" NOT IN ('', '0000-00-00') AND \
          try_strptime(CAST(\"open_ymd\" AS VARCHAR), '%Y-%m-%d') IS NULL"]
    );
    tables[0].times.extend(candidates.into_iter().map(|it| (it.column, it.written)));
    let made = made_of(&tables).ontology;
    let opened = made.field("stations", "open_ymd").unwrap();
    assert_eq!(opened.datatype, DataType::Date);
    let year = "SPLIT_PART(NULLIF(NULLIF(open_ymd, ''), '0000-00-00'), '-', 1)";
    assert!(opened.expression.contains(year), "{}", opened.expression);
    Scalar::parse(&opened.expression).unwrap();
}

#[test]
fn what_is_the_same_in_all_rows_and_when_a_row_was_written_is_not_when_it_happened() {
    let time = |name, distinct| Column(name, "TIMESTAMP", distinct, 0, NONE, &[]);
    let of = |columns: &[Column]| made_of(&[table("bookings", 90, columns)]).ontology.datasets.remove(0);
    let id = || key("booking_id", 90);
    let bookings = of(&[id(), time("row_created_at", 90), time("travels_on", 60), time("LastChangedAt", 90)]);
    assert_eq!(bookings.default_time_field.as_deref(), Some("travels_on"));
    assert!(bookings.field("LastChangedAt").unwrap().hidden && !bookings.field("row_created_at").unwrap().hidden);
    let only = of(&[id(), time("row_created_at", 90)]);
    assert_eq!(only.default_time_field.as_deref(), Some("row_created_at"));
    assert_eq!(of(&[id(), time("settled_on", 1)]).default_time_field, None);
}

#[test]
fn a_month_and_a_quarter_of_a_year_are_their_first_days() {
    let number = |name, most: &'static str| Column(name, "INTEGER", 4, 0, ["1", most], &["1"]);
    let year = |name| Column(name, "INTEGER", 3, 0, ["2019", "2021"], &["2020"]);
    let of = |columns: &[Column]| {
        let mut tables = vec![table("rents", 500, columns)];
        tables[0].period = periods(&tables).pop();
        let made = made_of(&tables);
        let rents = made.ontology.entity("rents").unwrap().clone();
        let time = rents.default_time_field.as_deref().and_then(|name| rents.field(name)).cloned();
        (time, made.notes.iter().any(|note| note.contains("take fiscal_year for a calendar year")))
    };
    let (month, noted) = of(&[key("rent_id", 500), year("year"), number("month", "12")]);
    let month = month.unwrap();
    assert_eq!(
        (month.name.as_str(), month.expression.as_str(), noted),
        ("date", "MAKE_DATE(CAST(\"year\" AS INTEGER), CAST(\"month\" AS INTEGER), 1)", false)
    );
    Scalar::parse(&month.expression).unwrap();
    let (quarter, noted) = of(&[key("rent_id", 500), year("fiscal_year"), number("quarter", "4")]);
    let quarter = quarter.unwrap();
    assert_eq!(
        (quarter.expression.as_str(), noted),
        ("MAKE_DATE(CAST(fiscal_year AS INTEGER), CAST(quarter * 3 - 2 AS INTEGER), 1)", true)
    );
    assert_eq!(quarter.description, "The first day of the quarter, made of fiscal_year and quarter.");
    // A day says more than its month.
    let day = Column("paid_on", "DATE", 90, 0, NONE, &["2020-01-31"]);
    let (day, _) = of(&[key("rent_id", 500), year("year"), number("month", "12"), day]);
    assert_eq!(day.map(|field| field.name).as_deref(), Some("paid_on"));
}

#[test]
fn an_instant_is_a_day_only_where_it_is_known_where_days_begin() {
    let part = |name, most: &'static str| Column(name, "INTEGER", 12, 0, ["1", most], &["1"]);
    let mut tables = vec![table(
        "readings",
        500,
        &[
            key("reading_id", 500),
            Column("year", "INTEGER", 2, 0, ["2013", "2014"], &["2013"]),
            part("month", "12"),
            part("day", "31"),
            Column("taken_at", "TIMESTAMP WITH TIME ZONE", 500, 0, NONE, &[]),
        ],
    )];
    tables[0].date_parts = Some(["year", "month", "day"].map(Into::into));
    let time = |made: &Draft| made.ontology.entity("readings").unwrap().default_time_field.clone().unwrap();
    let nobody_says = made_of(&tables);
    assert_eq!(time(&nobody_says), "date");
    let berlin = Wanted { timezone: Some("Europe/Berlin".into()), ..wanted("it") };
    let said = draft(&berlin, &tables, &facts(&tables));
    assert_eq!((time(&said).as_str(), said.ontology.calendar.timezone.as_str()), ("taken_at", "Europe/Berlin"));

    let only = vec![table("calls", 9, &[key("call_id", 9), Column("at", "TIMESTAMPTZ", 9, 0, NONE, &[])])];
    let note = |made: &Draft| made.notes.iter().any(|note| note.contains("in which time zone days begin"));
    assert!(note(&made_of(&only)) && !note(&draft(&berlin, &only, &facts(&only))));
}
