//! Habits from other dialects, and what is written here instead.

/// Functions that other dialects have, in lower case.
const FUNCTIONS: [(&[&str], &str); 58] = [
    (&["dateadd", "date_add_days", "adddate", "timestampadd"], "Write day + INTERVAL 1 DAY."),
    (&["subdate", "timestampsub"], "Write day - INTERVAL 1 DAY."),
    (&["add_months"], "Write day + INTERVAL 1 MONTH."),
    (&["months_between", "timestampdiff", "timestamp_diff", "datetime_diff"], "Write date_diff('month', a, b)."),
    (&["getdate", "sysdatetime", "getutcdate", "sysdate", "systimestamp"], "Write now() (in UTC) or current_date."),
    (&["curdate"], "Write current_date."),
    (&["curtime"], "Write current_time."),
    (&["nvl", "isnull", "zeroifnull", "ifnan"], "Write coalesce(a, b)."),
    (&["nvl2"], "Write if(a IS NOT NULL, b, c)."),
    (&["iif"], "Write if(condition, a, b)."),
    (
        &["convert", "safe_cast", "try_convert", "parse", "to_number", "tonumber"],
        "Write CAST(a AS INTEGER) or TRY_CAST(…).",
    ),
    (&["charindex", "locate", "patindex"], "Write strpos(text, part)."),
    (
        &["date_format", "to_char", "format_date", "format_timestamp", "format_datetime"],
        "Write strftime(day, '%Y-%m').",
    ),
    (&["str_to_date", "parse_timestamp", "parse_datetime"], "Write strptime(text, '%d.%m.%Y')."),
    (&["to_date", "parse_date"], "Write CAST(strptime(text, '%d.%m.%Y') AS DATE), or CAST(text AS DATE)."),
    (&["datename"], "Write dayname(day), monthname(day) or strftime(day, '%B')."),
    (&["eomonth"], "Write last_day(day)."),
    (&["datefromparts", "date_from_parts"], "Write make_date(2024, 1, 31)."),
    (&["unix_timestamp", "to_unixtime", "unix_seconds"], "Write epoch(t)."),
    (&["unix_millis"], "Write epoch_ms(t)."),
    (&["from_unixtime", "timestamp_seconds"], "Write to_timestamp(seconds)."),
    (&["timestamp_millis"], "Write make_timestamp(1000 * milliseconds)."),
    (&["timestamp_trunc", "datetime_trunc"], "Write date_trunc('month', t)."),
    (&["generate_date_array", "sequence"], "Write generate_series(from, to, INTERVAL 1 DAY)."),
    (&["substring_index"], "Write split_part(text, ',', 1)."),
    (&["regexp_substr"], "Write regexp_extract(text, pattern)."),
    (&["regexp_like", "regexp_contains", "rlike"], "Write regexp_matches(text, pattern)."),
    (&["regexp_count"], "Write len(regexp_extract_all(text, pattern))."),
    (&["regexp_split"], "Write regexp_split_to_array(text, pattern)."),
    (&["replicate"], "Write repeat(text, 3)."),
    (&["space"], "Write repeat(' ', 3)."),
    (&["stuff", "insert"], "Write overlay(text PLACING part FROM 1 FOR 2)."),
    (&["initcap"], "Write upper(text[1]) || lower(text[2:]) for one word."),
    (&["btrim"], "Write trim(text, characters)."),
    (&["newid", "generate_uuid", "uuid_generate_v4", "sys_guid"], "Write uuid()."),
    (
        &["percentile", "percentile_approx", "approx_percentile"],
        "Write quantile_cont(a, 0.5), or approx_quantile(a, 0.5).",
    ),
    (&["approx_distinct", "hll", "uniq"], "Write approx_count_distinct(a)."),
    (&["stdev", "std"], "Write stddev(a)."),
    (&["stdevp", "stddevpop"], "Write stddev_pop(a)."),
    (&["var", "varp"], "Write var_samp(a) or var_pop(a)."),
    (&["collect_list", "make_array", "grouparray"], "Write list(a)."),
    (&["collect_set", "groupuniqarray"], "Write list(DISTINCT a)."),
    (&["explode", "posexplode", "explode_outer"], "Write unnest(list)."),
    (&["size", "array_size"], "Write len(list)."),
    (&["json_unquote", "json_extract_scalar", "jsonb_extract_path_text", "get_json_object"], "Write json ->> '$.a'."),
    (&["json_query", "parse_json", "jsonb"], "Write text::JSON -> '$.a'."),
    (&["json_agg", "jsonb_agg"], "Write json_group_array(a)."),
    (&["json_object_agg", "jsonb_object_agg"], "Write json_group_object(name, a)."),
    (&["json_build_object", "jsonb_build_object"], "Write json_object('a', a)."),
    (&["jsonb_array_elements", "json_array_elements", "openjson", "json_table"], "Write FROM json_each(json)."),
    (&["safe_divide", "div0"], "Write a / nullif(b, 0)."),
    (&["to_varchar", "str", "tostring", "to_string"], "Write CAST(a AS VARCHAR)."),
    (&["square"], "Write a ** 2."),
    (&["countdistinct", "count_distinct", "uniqexact"], "Write count(DISTINCT a)."),
    (&["sumif"], "Write sum(a) FILTER (condition)."),
    (&["avgif"], "Write avg(a) FILTER (condition)."),
    (&["ratio_to_report"], "Write a / sum(a) OVER ()."),
    (
        &["getvariable", "last_insert_id", "rownum", "connection_id"],
        "Queries have no state here; write the value itself.",
    ),
];

/// Text that no reader here understands: what stands in it (in lower case, one blank between words), and what to write.
const TEXTS: [(&str, &str); 23] = [
    ("select top ", "Write LIMIT 10 at the end."),
    ("select distinct top ", "Write LIMIT 10 at the end."),
    (" separator ", "Write string_agg(a, ', ' ORDER BY a)."),
    (" regexp ", "Write regexp_matches(text, pattern)."),
    (" rlike ", "Write regexp_matches(text, pattern)."),
    ("like any", "Write one LIKE for each pattern, or regexp_matches(text, 'a|b')."),
    ("like all", "Write one LIKE for each pattern, joined by AND."),
    ("safe_cast", "Write TRY_CAST(a AS INTEGER)."),
    ("convert(", "Write CAST(a AS INTEGER)."),
    ("connect by", "Write WITH RECURSIVE."),
    ("(+)", "Write LEFT JOIN … ON …."),
    ("cross apply", "Write CROSS JOIN LATERAL (…)."),
    ("outer apply", "Write LEFT JOIN LATERAL (…) ON true."),
    (" with (nolock)", "Leave WITH (NOLOCK) out."),
    (" for update", "Leave FOR UPDATE out: queries only read."),
    ("lateral view", "Write CROSS JOIN unnest(list) AS t(a)."),
    ("fetch first", "Write LIMIT 10."),
    ("fetch next", "Write LIMIT 10 OFFSET 20."),
    ("dateadd(", "Write day + INTERVAL 1 DAY."),
    ("interval '1' day to", "Write INTERVAL '1 day 02:00:00'."),
    (" minus ", "Write EXCEPT."),
    ("match_recognize", "Use window functions."),
    (" into ", "Leave INTO out: queries only read."),
];

/// What to write instead of a function that does not exist.
pub fn function(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(names, _)| names.contains(&name)).map(|(_, instead)| *instead)
}

/// What to write instead of a text that does not parse. `near` is where the parser stopped.
pub fn text(sql: &str, near: &str) -> Option<&'static str> {
    let plain = sql.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    if near == "," && plain.rfind("limit ").is_some_and(|at| plain[at..].contains(',')) {
        return Some("Write LIMIT 10 OFFSET 5.");
    }
    TEXTS.iter().find(|(habit, _)| plain.contains(habit)).map(|(_, instead)| *instead)
}

/// What to write where a call has other arguments than a function takes.
pub fn call(name: &str) -> Option<&'static str> {
    match name {
        "date_sub" | "datesub" => Some("Write day - INTERVAL 1 DAY; date_sub('day', a, b) counts whole days between."),
        "date_add" => Some("Write day + INTERVAL 1 DAY."),
        "date_diff" | "datediff" => Some("Write date_diff('day', from, to)."),
        "date_trunc" | "datetrunc" | "trunc" => Some("Write date_trunc('month', day)."),
        "to_timestamp" => Some("Write strptime(text, '%d.%m.%Y'); to_timestamp takes seconds since 1970."),
        "decode" => Some("Write CASE a WHEN 1 THEN 'x' ELSE 'y' END."),
        "substring" | "substr" => Some("Write substring(text, 1, 3); make a number a text with CAST(a AS VARCHAR)."),
        "round" => Some("Write round(CAST(a AS DOUBLE), 2)."),
        "sum" | "avg" | "stddev" | "median" => Some("Make a text a number first: CAST(a AS DOUBLE), or TRY_CAST."),
        "concat" => Some("Write a || b."),
        _ => None,
    }
}

/// What to write where a unit of time was taken for a column.
pub fn column(name: &str) -> Option<&'static str> {
    let units = [
        "year", "quarter", "month", "week", "day", "dayofweek", "hour", "minute", "second", "weekday", "dd", "mm",
        "yyyy",
    ];
    match name.to_ascii_lowercase().as_str() {
        unit if units.contains(&unit) => Some(
            "If it is a unit of time, write it as a text and first: date_trunc('month', day), date_diff('day', a, b).",
        ),
        "sysdate" | "systimestamp" | "getdate" => Some("Write now() (in UTC) or current_date."),
        "rownum" => Some("Write row_number() OVER ()."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_habit_is_told_what_to_write() {
        for (name, words) in [("nvl", "coalesce"), ("to_char", "strftime"), ("charindex", "strpos"), ("iif", "if(")] {
            assert!(function(name).unwrap().contains(words), "{name}");
        }
        assert_eq!(function("upper"), None);
        for (sql, near, words) in [
            ("SELECT\nTOP 5 * FROM t", "5", "LIMIT"),
            ("SELECT a FROM t LIMIT 5, 10", ",", "OFFSET"),
            ("SELECT group_concat(a SEPARATOR ';') FROM t", "separator", "string_agg"),
            ("SELECT a FROM t WHERE a REGEXP 'x'", "regexp", "regexp_matches"),
        ] {
            assert!(text(sql, near).unwrap().contains(words), "{sql}");
        }
        assert_eq!(text("SELECT FROM", "FROM"), None);
    }

    #[test]
    fn a_function_stands_in_one_row_only() {
        let mut names: Vec<&str> = FUNCTIONS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
