use super::*;

fn scalar(text: &str, dialect: Dialect) -> String {
    let name =
        &mut |dataset: Option<&str>, name: &str| Ok::<_, String>(format!("\"{}\".\"{name}\"", dataset.unwrap_or("t")));
    Scalar::parse(text).unwrap().write(dialect, name).unwrap()
}

fn calls(text: &str, dialect: Dialect) -> Vec<String> {
    let name = &mut |dataset: Option<&str>, name: &str| Ok::<_, String>(format!("{}.{name}", dataset.unwrap_or("t")));
    let aggregate = Aggregate::parse(text).unwrap();
    aggregate.calls().iter().map(|call| call.write(dialect, name).unwrap()).collect()
}

#[test]
fn a_scalar_is_written_with_its_names_replaced() {
    assert_eq!(scalar("amount", Dialect::DuckDb), "\"t\".\"amount\"");
    assert_eq!(scalar("orders.amount + 1", Dialect::DuckDb), "\"orders\".\"amount\" + 1");
    assert_eq!(
        scalar("CASE WHEN lower(status) = 'open' THEN 1 ELSE 0 END", Dialect::PostgreSql),
        "CASE WHEN lower(\"t\".\"status\") = 'open' THEN 1 ELSE 0 END"
    );
}

#[test]
fn a_division_is_exact_and_never_fails_in_either_engine() {
    assert_eq!(scalar("a / b", Dialect::DuckDb), "\"t\".\"a\" / NULLIF(\"t\".\"b\", 0)");
    assert_eq!(scalar("a / b", Dialect::PostgreSql), "1.0 * \"t\".\"a\" / NULLIF(\"t\".\"b\", 0)");
    assert_eq!(scalar("a / 100", Dialect::DuckDb), "\"t\".\"a\" / 100");
    assert_eq!(scalar("a / 0", Dialect::DuckDb), "\"t\".\"a\" / NULLIF(0, 0)");
}

#[test]
fn a_metric_falls_into_calls_and_metrics() {
    let metric = Aggregate::parse("SUM(premium.amount) / COUNT(DISTINCT policy.policy_number) * fee_rate").unwrap();
    assert_eq!(metric.metrics(), ["fee_rate"]);
    let refs: Vec<String> =
        metric.refs().iter().map(|r| format!("{}.{}", r.dataset.as_deref().unwrap_or("-"), r.name)).collect();
    assert_eq!(refs, ["premium.amount", "policy.policy_number"]);
    let call = &mut |position: usize| Ok::<_, String>(format!("c{position}"));
    let other = &mut |name: &str| Ok::<_, String>(format!("<{name}>"));
    assert_eq!(metric.write(Dialect::DuckDb, call, other).unwrap(), "c0 / NULLIF(c1, 0) * <fee_rate>");
    assert!(metric.calls()[0].adds_up() && !metric.calls()[1].adds_up());
    assert!(metric.calls()[1].ignores_repetition() && !metric.calls()[0].ignores_repetition());
}

#[test]
fn a_metric_says_what_it_is_at_its_outermost() {
    let made = |text: &str| Aggregate::parse(text).unwrap().made();
    assert!(matches!(made("(COUNT(*))"), Made::Call(0)));
    assert!(matches!(made("SUM(a.b) * 2"), Made::Other));
    let Made::Difference(left, right) = made("SUM(a.b) - (sales + SUM(c.d))") else { panic!() };
    assert!(matches!(left.made(), Made::Call(0)));
    let Made::Sum(left, right) = right.made() else { panic!() };
    assert!(matches!(left.made(), Made::Metric(name) if name == "sales"));
    assert!(matches!(right.made(), Made::Call(1)));
}

#[test]
fn aggregates_are_written_for_the_engine() {
    assert_eq!(calls("MEDIAN(a.b)", Dialect::DuckDb), ["MEDIAN(a.b)"]);
    assert_eq!(calls("MEDIAN(a.b)", Dialect::PostgreSql), ["PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a.b)"]);
    assert_eq!(
        calls("SUM(a.b) FILTER (WHERE a.kind = 'x')", Dialect::PostgreSql),
        ["SUM(a.b) FILTER (WHERE a.kind = 'x')"]
    );
    assert_eq!(
        calls("MEDIAN(a.b) FILTER (WHERE a.c > 1)", Dialect::PostgreSql),
        ["PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a.b) FILTER (WHERE a.c > 1)"]
    );
    assert_eq!(
        calls("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a.b)", Dialect::DuckDb),
        ["PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a.b)"]
    );
}

#[test]
fn what_a_scalar_may_not_hold_is_refused_with_its_place_and_a_way_out() {
    for (text, says, offset) in [
        ("1 + SUM(amount)", "aggregate", 4),
        ("(SELECT 1)", "no sub-query", 0),
        ("a > $1", "placeholder", 4),
        ("nvl(a, 0)", "write COALESCE", 0),
        ("a + uper(b)", "did you mean UPPER?", 4),
        ("read_text('x')", "not available", 0),
        ("a b", "too much", 2),
        ("", "empty", 0),
        ("a.b.c.d", "dataset.field", 0),
        ("row_number() OVER (ORDER BY a)", "not available", 0),
        ("lower(a) OVER ()", "no windows", 0),
        ("a::blob", "not a type", 0),
        ("current_date", "questions name their time", 0),
        ("a IN (SELECT b FROM c)", "no sub-query", 0),
        ("a -> 'b'", "operator", 0),
        ("[a]", "expressions may hold", 0),
        ("a +", "not an SQL expression", 0),
    ] {
        let problem = Scalar::parse(text).unwrap_err();
        assert!(problem.message.contains(says), "{text}: {problem}");
        assert!(offset == 0 || problem.offset == offset, "{text}: {problem}");
    }
}

#[test]
fn what_a_metric_may_not_hold_is_refused() {
    for (text, says) in [
        ("SUM(AVG(a.b))", "aggregate"),
        ("a.b + SUM(a.b)", "outside an aggregate"),
        ("1 + 1", "no aggregate"),
        ("SUM(a.b) OVER ()", "no windows"),
        ("SUM(a.b, a.c)", "takes 1"),
        ("SUM(*)", "dataset.field"),
        ("COUNT(DISTINCT *)", "dataset.field"),
        ("PERCENTILE_CONT(a.b)", "WITHIN GROUP"),
        ("SUM(a.b ORDER BY a.c)", "alone"),
        ("string_agg(a.b, ',')", "not available"),
    ] {
        let problem = Aggregate::parse(text).unwrap_err();
        assert!(problem.message.contains(says), "{text}: {problem}");
    }
}

#[test]
fn nothing_makes_the_parser_fall() {
    let deep = format!("{}1{}", "(".repeat(2_000), ")".repeat(2_000));
    assert!(Scalar::parse(&deep).is_err());
    assert!(Scalar::parse(&"a + ".repeat(2_000)).unwrap_err().message.contains("at most 4096"));
    assert!(Aggregate::parse("\u{0}0").is_err());
}

#[test]
fn clickhouse_means_what_the_others_do() {
    for (text, expected) in [
        ("length(a)", r#"lengthUTF8("t"."a")"#),
        (r"a = 'it''s \'", r#""t"."a" = 'it''s \\'"#),
        ("a / b", r#"1.0 * "t"."a" / NULLIF("t"."b", 0)"#),
        ("a % 0", r#""t"."a" % NULLIF(0, 0)"#),
        ("a IN (1.5, b)", r#"("t"."a" = 1.5 OR "t"."a" = "t"."b")"#),
        ("a NOT IN ('x')", r#"NOT ("t"."a" IN ('x'))"#),
        ("substr(a, 2, 3)", r#"substringUTF8("t"."a", 2, 3)"#),
        ("position('x' IN a)", r#"positionUTF8("t"."a", 'x')"#),
        ("EXTRACT(isodow FROM a)", r#"toDayOfWeek("t"."a")"#),
        ("EXTRACT(epoch FROM (b - a)) / 60", r#"1.0 * date_diff('second', "t"."a", "t"."b") / 60"#),
        ("date_diff('day', a, b)", r#"date_diff('day', toDate32("t"."a"), toDate32("t"."b"))"#),
        ("concat_ws(' ', a, b)", r#"arrayStringConcat([toString("t"."a"), toString("t"."b")], ' ')"#),
        ("DATE '2024-02-01' - CAST(a AS DATE)", r#"date_diff('day', toDate32("t"."a"), toDate32('2024-02-01'))"#),
        ("CAST(a AS BIGINT)", r#"CAST(round(toDecimal128("t"."a", 9)) AS BIGINT)"#),
        ("DATE '2024-01-31'", "toDate32('2024-01-31')"),
        ("to_timestamp(a / 1000)", r#"toDateTime64(1.0 * "t"."a" / 1000, 6, 'UTC')"#),
        (
            "CAST(a AT TIME ZONE 'Asia/Tokyo' AS DATE)",
            r#"toDate32(addSeconds(toTimeZone("t"."a", 'UTC'), timezoneOffset(toTimeZone("t"."a", 'Asia/Tokyo'))))"#,
        ),
        (
            "CAST(a AS TIMESTAMP) AT TIME ZONE 'Asia/Tokyo'",
            r#"toDateTime64(toString(toDateTime64("t"."a", 6, 'UTC')), 6, 'Asia/Tokyo')"#,
        ),
    ] {
        assert_eq!(scalar(text, Dialect::ClickHouse), expected, "{text}");
    }
    assert_eq!(
        calls("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a.b DESC)", Dialect::ClickHouse),
        ["quantileExactInclusive(1 - 0.9)(1.0 * (a.b))"]
    );
    assert_eq!(
        calls("VARIANCE(a.b) FILTER (WHERE a.c > 1)", Dialect::ClickHouse),
        ["if(COUNT(a.b) FILTER (WHERE a.c > 1) > 1, varSampStable(a.b) FILTER (WHERE a.c > 1), NULL)"]
    );
    let name = &mut |_: Option<&str>, name: &str| Ok::<_, String>(name.to_owned());
    for (text, instead) in [("chr(65)", "as a text"), ("age(a, b)", "DATE_DIFF")] {
        let refused = Scalar::parse(text).unwrap().write(Dialect::ClickHouse, name).unwrap_err();
        assert!(refused.contains("ClickHouse") && refused.contains(instead), "{refused}");
    }
}
