//! What workers define before a query runs.

/// Names of the time that the engine leaves to an extension which is not built in; workers define them, in UTC:
/// a name, then parameters and body.
pub const DEFINED_HERE: [(&str, &str); 6] = [
    ("current_date", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS DATE)"),
    ("today", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS DATE)"),
    ("current_localtimestamp", "() AS CAST(system.main.now() AS TIMESTAMP)"),
    ("current_localtime", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS TIME)"),
    ("get_current_time", "() AS CAST(CAST(system.main.now() AS TIMESTAMP) AS TIME)"),
    (
        "make_timestamptz",
        "(m) AS CAST(make_timestamp(m) AS TIMESTAMPTZ),
         (y, mo, d, h, mi, s) AS CAST(make_timestamp(y, mo, d, h, mi, s) AS TIMESTAMPTZ),
         (y, mo, d, h, mi, s, zone) AS system.main.timezone(zone, make_timestamp(y, mo, d, h, mi, s))",
    ),
];

/// Functions that workers define over the engine's own: a name, then parameters and body, one or more.
///
/// The past: its body would compute over times with a zone, which is put right only in the text of a caller.
/// Amplifiers: the size is checked when it is known, and NULL stays NULL, which `least` would pass over; `least` holds
/// even where the size is another one each time it is computed.
pub const DEFINED_OVER: [(&str, &str); 6] = [
    ("ago", "(i) AS CAST(CAST(system.main.now() AS TIMESTAMP) - CAST(i AS INTERVAL) AS TIMESTAMPTZ)"),
    (
        "repeat",
        "(t, n) AS system.main.repeat(t, CASE WHEN n > 100000 THEN error('too much data')
         WHEN n IS NULL THEN NULL ELSE least(n, 100000) END)",
    ),
    (
        "lpad",
        "(t, n, f) AS system.main.lpad(t,
         CAST(CASE WHEN n > 100000 THEN error('too much data')
         WHEN n IS NULL THEN NULL ELSE least(n, 100000) END AS INTEGER), f)",
    ),
    (
        "rpad",
        "(t, n, f) AS system.main.rpad(t,
         CAST(CASE WHEN n > 100000 THEN error('too much data')
         WHEN n IS NULL THEN NULL ELSE least(n, 100000) END AS INTEGER), f)",
    ),
    (
        "range",
        "(b) AS system.main.range(CASE WHEN b > 100000 THEN error('too much data')
         WHEN b IS NULL THEN NULL ELSE least(b, 100000) END),
         (a, b) AS system.main.range(a,
         CASE WHEN b - a > 100000 THEN error('too much data')
         WHEN b IS NULL THEN NULL ELSE least(b, a + 100000) END),
         (a, b, c) AS system.main.range(a, b, c)",
    ),
    (
        "generate_series",
        "(b) AS system.main.generate_series(CASE WHEN b > 100000 THEN error('too much data')
         WHEN b IS NULL THEN NULL ELSE least(b, 100000) END),
         (a, b) AS system.main.generate_series(a,
         CASE WHEN b - a > 100000 THEN error('too much data')
         WHEN b IS NULL THEN NULL ELSE least(b, a + 100000) END),
         (a, b, c) AS system.main.generate_series(a, b, c)",
    ),
];

/// What those say when the size is above [`super::functions::MAX_AMPLIFICATION`].
pub const TOO_MUCH: &str = "too much data";
