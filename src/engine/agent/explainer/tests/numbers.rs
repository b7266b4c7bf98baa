use serde_json::{Value, json};

use crate::engine::render::digits::Digits;
use crate::engine::render::markdown::escaped;
use crate::engine::render::number::{Style, bare, heading, with_unit};
use crate::model::ontology::DataType;
use crate::model::plan::Grain;

fn style(datatype: DataType, unit: &str, format: &str) -> Style {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Style { datatype, unit: some(unit), format: some(format), ..Style::default() }
}

#[test]
fn values_are_written_as_people_write_them() {
    use DataType::*;
    for (value, datatype, unit, format, written) in [
        (json!(0), Integer, "", "", "0"),
        (json!(999), Integer, "", "", "999"),
        (json!(1000), Integer, "", "", "1,000"),
        (json!(-1234567), Integer, "", "", "-1,234,567"),
        (json!("123456789012345678901"), Integer, "", "", "123,456,789,012,345,678,901"),
        // Decimals are exact: every digit stays, also zeros at the end.
        (json!("1234.50"), Decimal, "", "", "1,234.50"),
        (json!("0.10000000000000000001"), Decimal, "", "", "0.10000000000000000001"),
        (json!("9007199254740993.01"), Decimal, "", "#,##0.00", "9,007,199,254,740,993.01"),
        (json!("1234.5"), Decimal, "USD", "", "1,234.5 USD"),
        (json!("1234.5"), Decimal, "USD", "#,##0.00", "1,234.50 USD"),
        (json!("0.005"), Decimal, "", "0.00", "0.01"),
        (json!("-0.005"), Decimal, "", "0.00", "-0.01"),
        (json!("-0.004"), Decimal, "", "0.00", "0.00"),
        (json!("999.995"), Decimal, "", "#,##0.00", "1,000.00"),
        (json!("12.3456"), Decimal, "", "0.##", "12.35"),
        (json!("12.00"), Decimal, "", "0.##", "12"),
        (json!("5.4"), Decimal, "", "$#,##0.00", "$5.40"),
        (json!("1234.5"), Decimal, "", "not a format", "1,234.5"),
        // Floats have two places, or three digits below 1.
        (json!(12.5), Float, "", "", "12.5"),
        (json!(1.0 / 3.0), Float, "", "", "0.333"),
        (json!(12.639070257304708), Float, "minutes", "", "12.64 minutes"),
        (json!(0.001234), Float, "", "", "0.00123"),
        (json!(0.00000012345), Float, "", "", "1.23e-7"),
        (json!(1234567.891), Float, "", "", "1,234,567.89"),
        (json!(1e20), Float, "", "", "1.00e20"),
        (json!(5.0), Float, "EUR", "", "5 EUR"),
        (json!(5.1), Float, "EUR", "", "5.10 EUR"),
        (json!(0.25), Float, "", "0.0%", "25.0%"),
        (json!(12.5), Float, "%", "", "12.5%"),
        (json!(12), Integer, "minutes", "", "12 minutes"),
        (json!(1), Integer, "minutes", "", "1 minute"),
        (json!(1), Integer, "miles per hour", "", "1 miles per hour"),
        // What is no number is as written.
        (json!("NaN"), Float, "minutes", "", "NaN"),
        (json!(null), Float, "minutes", "", "no value"),
        (json!(true), Boolean, "", "", "true"),
        (json!("007"), String, "", "", "007"),
        (json!("2013-01-31"), Date, "", "", "2013-01-31"),
        (json!("2013-01-31T10:11:12"), DateTime, "", "", "2013-01-31 10:11:12"),
        (json!([1, "a"]), Opaque, "", "", "[1,\"a\"]"),
    ] {
        assert_eq!(with_unit(&value, &style(datatype, unit, format)), written, "{value}");
    }
}

#[test]
fn parts_of_one_are_per_cent() {
    let part = |format: &str| Style { part: true, ..style(DataType::Float, "", format) };
    for (value, format, written) in [
        (json!(0.5), "", "50%"),
        (json!(0.12345), "", "12.3%"),
        (json!(0.001234), "", "0.12%"),
        (json!(-0.25), "", "-25%"),
        (json!(12.5), "", "1,250%"),
        (json!(0), "", "0%"),
        (json!("0.1250"), "0.00%", "12.50%"),
        (json!(0.125), "#,##0.00", "12.50%"),
    ] {
        assert_eq!(with_unit(&value, &part(format)), written, "{value}");
    }
}

#[test]
fn times_are_called_by_their_grain() {
    for (value, grain, written) in [
        (json!("2013-01-01"), Grain::Month, "Jan 2013"),
        (json!("2013-01-01T00:00:00"), Grain::Month, "Jan 2013"),
        (json!("2013-04-01"), Grain::Quarter, "2013 Q2"),
        (json!("2013-01-01"), Grain::Year, "2013"),
        (json!(2013), Grain::Year, "2013"),
        (json!("2013-01-07T00:00:00"), Grain::Week, "2013-01-07"),
        (json!("2013-01-07T05:00:00"), Grain::Hour, "2013-01-07 05:00"),
        (json!(1), Grain::DayOfWeek, "Monday"),
        (json!(7), Grain::DayOfWeek, "Sunday"),
        (json!(8), Grain::DayOfWeek, "8"),
        (json!(12), Grain::MonthOfYear, "December"),
        (json!(5), Grain::HourOfDay, "05:00"),
        (json!(31), Grain::DayOfMonth, "31"),
        (json!(3), Grain::QuarterOfYear, "Q3"),
        (json!("2013-01-15"), Grain::Month, "2013-01-15"),
        (json!("whenever"), Grain::Month, "whenever"),
        (Value::Null, Grain::Month, "no value"),
    ] {
        let style = Style { grain: Some(grain), ..style(DataType::Date, "", "") };
        assert_eq!(bare(&value, &style), written, "{value} {grain:?}");
    }
}

#[test]
fn headings_have_the_unit_once() {
    let minutes = style(DataType::Integer, "minutes", "");
    assert_eq!(heading("Delay", &minutes), "Delay (minutes)");
    assert_eq!(heading("Delay in minutes", &minutes), "Delay in minutes");
    assert_eq!(heading("Load", &style(DataType::Float, "%", "")), "Load");
}

#[test]
fn digits_are_ordered_by_value_and_exactly() {
    let digits = |text: &str| Digits::parse(text).unwrap();
    for (less, more) in
        [("1", "2"), ("9", "10"), ("-10", "-9"), ("-1", "0"), ("1.5", "1.51"), ("9007199254740992", "9007199254740993")]
    {
        assert!(digits(less) < digits(more), "{less} {more}");
        assert!(digits(more) > digits(less), "{more} {less}");
    }
    assert_eq!(digits("1.5").partial_cmp(&digits("1.50")), Some(std::cmp::Ordering::Equal));
    for none in ["", "-", ".5", "5.", "1e5", "NaN", "1,000", "+1", "0x1"] {
        assert_eq!(Digits::parse(none), None, "{none}");
    }
}

#[test]
fn nothing_in_a_value_becomes_markup() {
    for (value, markdown) in [
        ("United Air Lines Inc.", "United Air Lines Inc."),
        ("a | b", r"a \| b"),
        ("`code`", r"\`code\`"),
        ("**bold** _it_", r"\*\*bold\*\* \_it\_"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("[click](here)", r"\[click\](here)"),
        ("![x](y)", r"!\[x\](y)"),
        ("# Title", r"\# Title"),
        ("- item", r"\- item"),
        ("-5", "-5"),
        ("line\nbreak\r\ttab", "line break tab"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
        (r"back\slash", r"back\\slash"),
        ("~~gone~~", r"\~\~gone\~\~"),
        ("see https://evil.example/?q=1", "`see https://evil.example/?q=1`"),
        ("![x](https://evil.example/a|b`)", r"`![x](https://evil.example/a\|b')`"),
        ("evil.com", "`evil.com`"),
        ("me@evil", "`me@evil`"),
        ("\u{202E}txt\u{200B}", "txt"),
    ] {
        assert_eq!(escaped(value), markdown, "{value}");
    }
    let long = "x".repeat(500);
    assert_eq!(escaped(&long).chars().count(), 200);
    assert!(escaped(&long).ends_with('…'));
}
