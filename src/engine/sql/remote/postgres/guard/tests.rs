//! Of the judge and the frame, over the real parser.

use super::*;

fn tables() -> Vec<Permitted> {
    let table = |name: &str, columns: &[&str]| Permitted {
        name: name.into(),
        schema: "s\"x".into(),
        table: "T".into(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
    };
    vec![table("flights", &["id", "Odd \"one\""]), table("carriers", &["code"])]
}

fn rule(sql: &str) -> String {
    wrapped(sql, &tables()).expect_err(sql).details["rule"].as_str().unwrap().to_owned()
}

#[test]
fn the_module_is_the_one_of_the_note() {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, include_bytes!("libpg_query/libpg-query.wasm"));
    assert!(include_str!("libpg_query/NOTE.md").contains(&hex::encode(digest)));
}

#[test]
fn the_frame_is_put_before_the_statement_or_into_its_with() {
    let frame = r#""flights" AS NOT MATERIALIZED (SELECT "id", "Odd ""one""" FROM "s""x"."T")"#;
    let both = format!(r#"{frame}, "carriers" AS NOT MATERIALIZED (SELECT "code" FROM "s""x"."T")"#);
    for (sql, framed) in [
        ("SELECT 1", "SELECT 1".to_owned()),
        ("SELECT * FROM flights -- x", format!("WITH {frame}\nSELECT * FROM flights -- x")),
        (
            "SELECT * FROM flights, carriers, flights f;",
            format!("WITH {both}\nSELECT * FROM flights, carriers, flights f;"),
        ),
        (
            "/* é */ WITH RECURSIVE a AS (TABLE flights) TABLE a",
            format!("/* é */ WITH RECURSIVE {frame},\na AS (TABLE flights) TABLE a"),
        ),
        (
            "(WITH \"é\" AS (SELECT 1) SELECT * FROM \"é\", flights)",
            format!("(WITH {frame},\n\"é\" AS (SELECT 1) SELECT * FROM \"é\", flights)"),
        ),
        (
            "SELECT * FROM (WITH flights AS (SELECT 1) TABLE flights) f",
            "SELECT * FROM (WITH flights AS (SELECT 1) TABLE flights) f".to_owned(),
        ),
    ] {
        assert_eq!(wrapped(sql, &tables()).unwrap(), framed);
    }
}

#[test]
fn the_name_of_a_table_in_with_is_refused_with_what_to_do() {
    let refused = wrapped("WITH flights AS (SELECT * FROM flights) SELECT * FROM flights", &tables()).unwrap_err();
    assert_eq!(refused.details["hint"], "Give the WITH part another name.");
    // Where the table is not read, the name is free.
    assert!(wrapped("WITH flights AS (SELECT 1) SELECT * FROM flights", &tables()).is_ok());
}

#[test]
fn the_scope_of_with_is_that_of_the_server() {
    for sql in [
        "WITH t AS (SELECT * FROM t) SELECT * FROM t",
        "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
        "SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c) x, c",
        "(WITH c AS (SELECT 1 AS s) SELECT s FROM c) UNION ALL SELECT s FROM c",
        "WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM b",
    ] {
        assert_eq!(rule(sql), "table", "{sql}");
    }
    for sql in [
        "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b",
        "WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a UNION SELECT x FROM a ORDER BY (SELECT x FROM a)",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM (WITH b AS (SELECT * FROM a) SELECT * FROM b, a) z",
    ] {
        assert!(wrapped(sql, &tables()).is_ok(), "{sql}");
    }
}

#[test]
fn a_table_that_is_hidden_and_one_that_is_absent_look_the_same() {
    let words = |name: &str| {
        let refused = wrapped(&format!("SELECT * FROM {name}"), &tables()).unwrap_err();
        refused.body("r").to_string().replace(name, "?")
    };
    assert_eq!(words("pg_authid"), words("pg_nosuchtable"), "a name of the server's own, whether it is there or not");
    assert_eq!(words("payroll"), words("nosuchtable"));
}

#[test]
fn what_is_near_is_offered() {
    let hint = |sql: &str| wrapped(sql, &tables()).unwrap_err().details["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint("SELECT * FROM fligths"), "Did you mean flights?");
    assert_eq!(hint("SELECT uper('a')"), "Did you mean upper?");
    assert_eq!(hint("SELECT 1::inteeger"), "Did you mean integer?");
    assert_eq!(hint("SELECT * FROM public.flights"), "Write flights.");
}

#[test]
fn a_part_of_the_tree_that_the_walk_does_not_know_is_refused() {
    let known = statement("SELECT 1").unwrap().unwrap();
    let judge = |tree: &Value| Walk::judge(tree, &[]).map(|used| used.len()).map_err(|refusal| refusal.rule);
    assert_eq!(judge(&known), Ok(0));
    let mut more = known.clone();
    more["SelectStmt"]["somethingNew"] = json!([]);
    assert_eq!(judge(&more), Err("node"));
    // Where the walk takes the type's word for it, the count does not: a node hidden in a plain list.
    let mut hidden = known.clone();
    hidden["SelectStmt"]["targetList"][0]["ResTarget"]["val"] =
        json!({ "A_Const": { "ival": { "ival": 1 }, "location": 7 }, "RangeVar": { "relname": "secret" } });
    assert_eq!(judge(&hidden), Err("node"));
    let mut beside = known;
    beside["SelectStmt"]["targetList"][0]["ResTarget"]["val"]["A_Const"]["sval"] = json!({ "sval": { "x": {} } });
    assert_eq!(judge(&beside), Err("node"));
}

#[test]
fn a_text_that_reads_otherwise_in_its_frame_is_not_run() {
    // The trees differ in the query's own part, in the frame's, or in both.
    let sql = "SELECT id FROM flights";
    let judged = statement(sql).unwrap().unwrap();
    let tables = tables();
    let used = [&tables[0]];
    let expected = added(&judged, &used);
    let reads = |text: String| plain(&statement(&text).unwrap().unwrap());
    let frame = expression(&tables[0]);
    assert_eq!(reads(format!("WITH {frame}\n{sql}")), expected);
    for other in [
        format!("WITH {frame}\nSELECT code FROM flights"),
        format!("WITH {frame}, x AS (SELECT 1)\n{sql}"),
        format!("WITH RECURSIVE {frame}\n{sql}"),
        format!("WITH {}\n{sql}", frame.replace("\"id\"", "\"secret\"")),
        format!("WITH {}\n{sql}", frame.replace("\"T\"", "\"T\" WHERE true")),
        format!("WITH {}\n{sql}", frame.replace("NOT MATERIALIZED", "")),
        sql.to_owned(),
    ] {
        assert_ne!(reads(other.clone()), expected, "{other}");
    }
}

#[test]
fn a_text_that_does_not_parse_is_an_invalid_argument_with_a_place() {
    let refused = wrapped("SELECT * FORM flights WHERE", &tables()).unwrap_err();
    assert!(refused.message.contains("near \"FORM\" at character 10"), "{refused}");
    assert_eq!(refused.code, crate::model::error::Code::InvalidArgument);
    assert_eq!(rule("\u{feff}"), "syntax");
}

#[test]
fn the_gate_comes_first() {
    assert_eq!(rule(&format!("SELECT {}1{}", "(".repeat(65), ")".repeat(65))), "nesting");
    assert_eq!(rule("SELECT '\0'"), "text");
}

#[test]
fn nothing_of_one_text_is_left_for_the_next() {
    for _ in 0..3 {
        assert_eq!(rule("SELEC"), "syntax");
        assert!(wrapped("SELECT $$a$$", &tables()).is_ok());
        assert_eq!(rule("SELECT $a$ open"), "syntax");
    }
}
