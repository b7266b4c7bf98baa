//! Over real trees: the pinned engine parses, in memory.

use std::collections::BTreeSet;

use duckdb::Connection;

use super::*;

fn tree(sql: &str) -> String {
    let engine = Connection::open_in_memory().unwrap();
    let serialize = "SELECT json_serialize_sql(?, skip_default := true, skip_empty := true, skip_null := true)";
    engine.query_row(serialize, [sql], |row| row.get(0)).unwrap()
}

fn judge(sql: &str) -> Verdict<BTreeSet<String>> {
    let judged = check(sql, &tree(sql), &["flights".to_owned(), "carriers".to_owned()])?;
    judged.check_columns(|| vec!["id".to_owned(), "session_user".to_owned()])?;
    Ok(judged.tables)
}

fn rule(sql: &str) -> &'static str {
    judge(sql).expect_err(sql).rule
}

#[test]
fn the_list_of_functions_is_that_of_the_pinned_engine() {
    let engine = Connection::open_in_memory().unwrap();
    let mut statement = engine.prepare("SELECT DISTINCT lower(function_name) FROM duckdb_functions()").unwrap();
    let names: BTreeSet<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(functions::DEFINED_HERE.iter().all(|(name, _)| !names.contains(*name)), "the engine has it now");
    assert!(functions::DEFINED_OVER.iter().all(|(name, _)| names.contains(*name)), "the engine has it no longer");
    let listed: BTreeSet<String> = functions::known().into_iter().map(str::to_owned).collect();
    let (new, gone) = (names.difference(&listed).collect::<Vec<_>>(), listed.difference(&names).collect::<Vec<_>>());
    assert!(new.is_empty() && gone.is_empty(), "review and add: {new:#?}; remove: {gone:#?}");
}

#[test]
fn what_may_be_called_and_changes_by_itself_is_known() {
    let engine = Connection::open_in_memory().unwrap();
    // Of functions that are defined in SQL the engine says nothing: their bodies call one that is known.
    let mut statement = engine
        .prepare(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions()
             WHERE stability <> 'CONSISTENT' OR regexp_matches(macro_definition,
                   '(current_|now|random|uuid|timestamp\\(\\)|today)')",
        )
        .unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let unknown: Vec<String> = names
        .filter(|name| functions::in_expression(name).is_ok() && !functions::is_fleeting(name))
        .filter(|name| name != "setseed")
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
    let ours = functions::DEFINED_HERE.iter().chain(&functions::DEFINED_OVER);
    for (name, body) in ours.filter(|(_, body)| body.contains("now()")) {
        assert!(functions::is_fleeting(name), "{name}: {body}");
    }
    let is_fleeting = |sql: &str| check(sql, &tree(sql), &["flights".to_owned()]).unwrap().is_fleeting;
    for sql in [
        "SELECT now()",
        "SELECT * FROM flights WHERE day > current_date - 7",
        "SELECT current_timestamp",
        "SELECT (SELECT \"LocalTime\")",
        "SELECT * FROM flights ORDER BY random()",
        "FROM flights USING SAMPLE 3",
        "SELECT * FROM flights TABLESAMPLE 10%",
        "SELECT (SELECT uuid())",
        "SELECT age(TIMESTAMP '2020-01-01')",
        "WITH t AS (SELECT today() AS d) FROM t",
        "SELECT list_aggregate([1, 2, 3], 'reservoir_quantile', 0.5)",
        "SELECT [1, 2, 3].list_aggregate('reservoir_quantile', 0.5)",
    ] {
        assert!(is_fleeting(sql), "{sql}");
    }
    for sql in ["SELECT 1", "SELECT day, count(*) FROM flights GROUP BY 1 ORDER BY 2", "SELECT 'now()', age, now"] {
        assert!(!is_fleeting(sql), "{sql}");
    }
}

#[test]
fn a_sample_is_small_however_its_aggregate_is_called() {
    for (sql, is_allowed) in [
        ("SELECT reservoir_quantile(distance, 0.5, 100) FROM flights", true),
        ("SELECT reservoir_quantile(distance, 0.5, 2000000000) FROM flights", false),
        ("SELECT list_aggregate([1, 2, 3], 'reservoir_quantile', 0.5, 100)", true),
        ("SELECT list_aggregate([1, 2, 3], 'reservoir_quantile', 0.5, 2000000000)", false),
    ] {
        assert_eq!(judge(sql).is_ok(), is_allowed, "{sql}");
    }
}

#[test]
fn says_which_tables_are_read() {
    let used = judge("WITH x AS (SELECT * FROM Flights) SELECT * FROM x WHERE EXISTS (FROM carriers)").unwrap();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["carriers", "flights"]);
    assert!(judge("WITH flights AS (SELECT 1) SELECT * FROM flights").unwrap().is_empty());
}

#[test]
fn the_scope_of_with_is_positional() {
    for sql in [
        "WITH t AS (SELECT * FROM t) SELECT * FROM t",
        "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
        "SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c) x, c",
        "(WITH c AS (SELECT 1 AS s) SELECT s FROM c) UNION ALL SELECT s FROM c",
        "WITH RECURSIVE r AS (SELECT * FROM r UNION ALL SELECT 1) SELECT * FROM r",
    ] {
        assert_eq!(rule(sql), "table", "{sql}");
    }
    for sql in [
        "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b",
        "WITH a AS (SELECT 1 AS x) SELECT (SELECT x FROM a), * FROM (SELECT * FROM a)",
        "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT * FROM r",
    ] {
        assert!(judge(sql).is_ok(), "{sql}");
    }
}

#[test]
fn a_table_that_is_hidden_and_one_that_is_absent_look_the_same() {
    let words = |sql: &str, name: &str| judge(sql).unwrap_err().into_error().body("r").to_string().replace(name, "?");
    assert_eq!(words("FROM secret", "secret"), words("FROM nosuch", "nosuch"));
}

#[test]
fn the_nearest_permitted_name_is_offered() {
    assert_eq!(judge("FROM fligths").unwrap_err().hint, "Did you mean flights?");
    assert_eq!(judge("SELECT uper('a')").unwrap_err().hint, "Did you mean upper?");
    assert!(judge("FROM something_else").unwrap_err().hint.starts_with("List the datasets"));
}

#[test]
fn a_part_of_the_tree_that_the_walk_does_not_know_is_refused() {
    let mut known: Value = serde_json::from_str(&tree("SELECT 1")).unwrap();
    let tables = ["flights".to_owned()];
    let hidden = json!({ "type": "BASE_TABLE", "qualified_name": { "path": ["secret"] } });
    let node = known.pointer_mut("/statements/0/node").unwrap();
    node["select_list"][0]["alias"] = json!([&hidden]);
    assert_eq!(check("", &known.to_string(), &tables).unwrap_err().rule, "node");

    let mut beside: Value = serde_json::from_str(&tree("SELECT 1")).unwrap();
    beside["more"] = hidden;
    assert_eq!(check("", &beside.to_string(), &tables).unwrap_err().rule, "count");
}

#[test]
fn only_ascii_is_folded() {
    // The Kelvin sign's lower case is k; the engine keeps the two apart.
    assert_eq!(rule("WITH \"\u{212a}\" AS (SELECT 1) SELECT * FROM k"), "table");
}

#[test]
fn text_that_does_not_parse_is_an_invalid_argument_with_a_place() {
    let refused = judge("SELECT * FORM flights WHERE").unwrap_err();
    assert!(refused.is_mistake && refused.message.contains("at character"), "{refused:?}");
    assert_eq!(refused.into_error().code, Code::InvalidArgument);
    let refused = judge("DELETE FROM flights").unwrap_err().into_error();
    assert_eq!((refused.code, &refused.details["name"]), (Code::ForbiddenSql, &json!("DELETE")));
}

#[test]
fn a_pivot_without_values_says_what_to_write() {
    assert!(judge("PIVOT flights ON origin USING count(*)").unwrap_err().message.contains("PIVOT"));
    assert!(judge("PIVOT flights ON origin IN ('JFK') USING count(*)").is_ok());
}

#[test]
fn parts_of_with_that_are_written_out_count_wherever_they_stand() {
    let doubling = |depth: usize| {
        let parts = (1..=depth).map(|n| format!("c{n} AS NOT MATERIALIZED (SELECT a.id FROM c{0} a, c{0} b)", n - 1));
        let parts: Vec<String> = parts.collect();
        format!("WITH c0 AS NOT MATERIALIZED (FROM flights), {} SELECT * FROM c{depth}", parts.join(", "))
    };
    // Tables in all: 1 for c0; 2 + 2 * 1 for c1; 2 + 2 * 4 for c2; 2 + 2 * 10 for c3; 1 + 22 at the end. Another level
    // would need 2 + 2 * 22 more.
    assert!(judge(&doubling(3)).is_ok());
    assert_eq!(rule(&doubling(4)), "planner");
    assert_eq!(rule(&doubling(16)), "planner");
    let wide = format!("WITH w AS NOT MATERIALIZED (SELECT {}) SELECT {}", vec!["id + 1"; 300].join(", "), 1);
    let uses = ["w"; 10].join(", ");
    assert!(judge(&format!("{wide} FROM flights")).is_ok());
    assert_eq!(rule(&format!("{wide} FROM {uses}")), "planner");
}

#[test]
fn names_of_the_session_are_columns_where_columns_have_them() {
    assert_eq!(rule("SELECT current_user FROM flights"), "value_name");
    for sql in [
        "SELECT session_user FROM flights",
        "SELECT f.current_user FROM flights f",
        "SELECT current_user FROM (SELECT 1 AS current_user)",
        "SELECT \"Current_Role\" FROM (VALUES (1)) t(current_role)",
    ] {
        assert!(judge(sql).is_ok(), "{sql}");
    }
}
