use super::*;

fn tables() -> Vec<Permitted> {
    let table = |name: &str, columns: &[&str]| Permitted {
        name: name.into(),
        schema: "w`x".into(),
        table: "facts".into(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
    };
    vec![table("flights", &["id", "odd\\one"]), table("carriers", &["code"])]
}

fn rule(sql: &str) -> String {
    wrapped(sql, &tables()).expect_err(sql).details["rule"].as_str().unwrap().to_owned()
}

#[test]
fn the_frame_is_put_before_the_statement_or_into_its_with() {
    let frame = r"`flights` AS (SELECT `id`, `odd\\one` FROM `w\`x`.`facts`)";
    for (sql, framed) in [
        ("SELECT 1;", "SELECT 1".to_owned()),
        ("SELECT * FROM flights -- x", format!("WITH {frame}\nSELECT * FROM flights -- x")),
        ("WITH 5 AS x SELECT x FROM flights", format!("WITH {frame},\n5 AS x SELECT x FROM flights")),
        (
            "SELECT * FROM (WITH flights AS (SELECT 1) SELECT * FROM flights)",
            "SELECT * FROM (WITH flights AS (SELECT 1) SELECT * FROM flights)".to_owned(),
        ),
    ] {
        assert_eq!(wrapped(sql, &tables()).unwrap(), framed);
    }
    let refused = wrapped("WITH flights AS (SELECT 1 FROM flights) SELECT * FROM flights", &tables()).unwrap_err();
    assert_eq!(refused.details["hint"], "Give the WITH part another name.");
}

#[test]
fn a_part_of_with_is_seen_behind_itself_and_inside_its_brackets() {
    for sql in [
        "WITH tables AS (SELECT * FROM tables) SELECT * FROM tables",
        "WITH a AS (SELECT * FROM tables), tables AS (SELECT 1) SELECT * FROM a",
        "SELECT * FROM (WITH tables AS (SELECT 1) SELECT * FROM tables) x, tables",
        "SELECT (WITH tables AS (SELECT 1) SELECT count() FROM tables) FROM tables",
        "WITH (SELECT 1) AS tables SELECT * FROM tables",
    ] {
        assert_eq!(rule(sql), "table", "{sql}");
    }
    for sql in [
        "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b JOIN a ON a.x = b.x",
        "WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM a",
    ] {
        assert!(wrapped(sql, &tables()).is_ok(), "{sql}");
    }
    // What a later part of a UNION sees of it depends on the server.
    assert_eq!(rule("WITH a AS (SELECT 1) SELECT * FROM a UNION ALL SELECT * FROM a"), "node");
}

#[test]
fn quotation_marks_comments_and_escapes_end_where_the_server_ends_them() {
    for sql in [
        r"SELECT 'it\'s', '', 'a''b', '\\' FROM flights",
        "SELECT 1 /* ' */ + 1 -- '\n, 'x'",
        "SELECT \"odd name\", `other` FROM flights",
    ] {
        assert!(wrapped(sql, &tables()).is_ok(), "{sql}");
    }
    for (sql, expected) in [
        (r"SELECT 'it\\'s'", "syntax"),
        ("SELECT 'open", "syntax"),
        ("SELECT /* open", "syntax"),
        ("SELECT 1)", "syntax"),
        ("SELECT (1]", "syntax"),
        (r#"SELECT "a\"b" FROM flights"#, "text"),
        ("SELECT `a``b`", "text"),
        ("SELECT 1 /* /* */ */", "text"),
        ("SELECT 1 --\r, 2", "text"),
        ("SELECT \u{2018}a\u{2019}", "text"),
        ("SELECT 1 # x", "text"),
        ("SELECT $a$ x $a$", "text"),
        ("SELECT {a:Int32}", "text"),
        ("SELECT 1abc", "text"),
    ] {
        assert_eq!(rule(sql), expected, "{sql}");
    }
}

#[test]
fn the_settings_of_our_own_statements_may_stand_at_the_end_and_nowhere_else() {
    let wrapped = |sql: &str| wrapped(sql, &tables());
    let plain = wrapped("SELECT count() FROM flights").unwrap();
    for end in ["", "\n"] {
        let ours = wrapped(&format!("SELECT count() FROM flights{CLICKHOUSE_SETTINGS}{end}")).unwrap();
        assert_eq!(ours, format!("{plain}{CLICKHOUSE_SETTINGS}"));
    }
    let other = CLICKHOUSE_SETTINGS.replace("join_use_nulls", "readonly");
    for sql in [
        format!("SELECT count() FROM flights{other}"),
        format!("SELECT count() FROM flights{CLICKHOUSE_SETTINGS}, readonly = 0"),
        format!("SELECT count() FROM (SELECT 1 FROM flights{CLICKHOUSE_SETTINGS})"),
        format!("SELECT 'text{CLICKHOUSE_SETTINGS}"),
        format!("SELECT count() FROM secret{CLICKHOUSE_SETTINGS}"),
    ] {
        assert!(wrapped(&sql).is_err(), "{sql}");
    }
}
