//! What workers define before a query runs.

/// Names of the time that the engine leaves to an extension which is not built in; workers define them, in UTC:
/// a name, then parameters and body.
pub const DEFINED_HERE: [(&str, &str); 5] = [
    ("current_date", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS DATE)"),
    ("today", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS DATE)"),
    ("current_localtimestamp", "() AS CAST(system.main.now() AS TIMESTAMP)"),
    ("current_localtime", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS TIME)"),
    ("get_current_time", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS TIME)"),
];

/// Functions that workers define over the engine's own: a name, then parameters and body, one or more.
///
/// Times: arithmetic over times with a zone is left to the same extension, so that the present is a plain timestamp
/// in UTC here. Amplifiers: the size is checked when it is known; `least` holds even where the size is another one
/// each time it is computed.
pub const DEFINED_OVER: [(&str, &str); 9] = [
    ("now", "() AS CAST(system.main.now() AS TIMESTAMP)"),
    ("get_current_timestamp", "() AS CAST(system.main.now() AS TIMESTAMP)"),
    ("transaction_timestamp", "() AS CAST(system.main.now() AS TIMESTAMP)"),
    (
        "timezone",
        "(zone, t) AS CASE WHEN upper(zone) IN ('UTC', 'GMT', 'Z', 'ETC/UTC') THEN CAST(t AS TIMESTAMP)
         ELSE error('the only time zone here is UTC') END",
    ),
    (
        "repeat",
        "(t, n) AS system.main.repeat(t, CASE WHEN n > 100000 THEN error('too much data') ELSE least(n, 100000) END)",
    ),
    (
        "lpad",
        "(t, n, f) AS system.main.lpad(t,
         CAST(CASE WHEN n > 100000 THEN error('too much data') ELSE least(n, 100000) END AS INTEGER), f)",
    ),
    (
        "rpad",
        "(t, n, f) AS system.main.rpad(t,
         CAST(CASE WHEN n > 100000 THEN error('too much data') ELSE least(n, 100000) END AS INTEGER), f)",
    ),
    (
        "range",
        "(b) AS system.main.range(CASE WHEN b > 100000 THEN error('too much data') ELSE least(b, 100000) END),
         (a, b) AS system.main.range(a,
         CASE WHEN b - a > 100000 THEN error('too much data') ELSE least(b, a + 100000) END),
         (a, b, c) AS system.main.range(a, b, c)",
    ),
    (
        "generate_series",
        "(b) AS system.main.generate_series(CASE WHEN b > 100000 THEN error('too much data') ELSE least(b, 100000) END),
         (a, b) AS system.main.generate_series(a,
         CASE WHEN b - a > 100000 THEN error('too much data') ELSE least(b, a + 100000) END),
         (a, b, c) AS system.main.generate_series(a, b, c)",
    ),
];

/// What those say when the size is above [`super::functions::MAX_AMPLIFICATION`].
pub const TOO_MUCH: &str = "too much data";
