//! Functions of the pinned engine that are judged alike.

/// Functions in the place of a table. They have a list of their own, since one name can be a harmless aggregate and
/// a macro that reads any table (`histogram`).
pub(super) const TABLE_FUNCTIONS: [&str; 6] =
    ["range", "generate_series", "unnest", "json_each", "json_tree", "repeat_row"];

/// Functions that the binder may run over column names (`COLUMNS(lambda …)`): linear and not amplifying.
pub(super) const NAME_TESTS: [&str; 35] = [
    "~~", "!~~", "~~*", "!~~*", "~~~", "like_escape", "ilike_escape", "regexp_matches", "regexp_full_match",
    "starts_with", "ends_with", "prefix", "suffix", "contains", "lower", "upper", "length", "^@", "||", "list_filter",
    "list_value", "list_contains", "list_has", "left", "right", "substr", "substring", "strpos", "struct_pack",
    "struct_extract", "not_like_escape", "not_ilike_escape", "~", "=", "trim",
];

/// Functions that the binder may run over column names in two calls: in many, they could multiply what they make.
pub(super) const NAME_LISTS: [&str; 3] = ["list_apply", "list_transform", "list_concat"];

/// Functions that build values in literals and in the bounds of series.
pub(super) const LITERAL_BUILDERS: [&str; 30] = [
    "+", "-", "*", "/", "trunc", "list_value", "list_pack", "row", "struct_pack", "map", "to_years", "to_quarters",
    "to_months", "to_weeks", "to_days", "to_hours", "to_minutes", "to_seconds", "to_milliseconds", "to_microseconds",
    "to_decades", "to_centuries", "to_millennia", "make_date", "make_timestamp", "array_value", "//", "%", "||", "chr",
];

/// Functions that may stand in the bounds of series beside those, and in what `json_each` reads: their results are
/// no larger than what they are given.
pub(super) const BOUNDS: [&str; 81] = [
    "%", "//", "abs", "floor", "ceil", "ceiling", "round", "greatest", "least", "len", "length", "strlen",
    "array_length", "cardinality", "json_array_length", "->>", "json_extract", "json_extract_string", "date_trunc",
    "date_part", "date_add", "date_diff", "datediff", "date_sub", "last_day", "strptime", "year", "quarter", "month",
    "day", "now", "today", "current_date", "get_current_timestamp", "epoch", "epoch_ms", "epoch_us", "to_timestamp",
    "datetrunc", "datepart", "week", "isodow", "dayofweek", "dayofyear", "dayofmonth", "hour", "minute", "second",
    "sign", "sqrt", "pow", "power", "**", "^", "ln", "log", "log2", "log10", "timezone", "array_extract",
    "list_extract", "struct_extract", "list_min", "list_max", "upper", "lower", "trim", "substr", "substring", "left",
    "right", "split_part", "strpos", "transaction_timestamp", "current_localtimestamp", "mod", "days_in_month", "json",
    "json_keys", "map_keys", "map_values",
];

/// Functions that give another value at another time: those of the clock, `age` with one argument among them, and those
/// of chance.
pub(super) const FLEETING: [&str; 16] = [
    "now", "today", "ago", "age", "current_date", "current_localtime", "current_localtimestamp", "get_current_time",
    "get_current_timestamp", "transaction_timestamp", "random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid",
    "reservoir_quantile",
];

/// Functions whose arguments from the second on are read while binding: they must be literals.
pub(super) const LITERAL_FROM_SECOND: [&str; 20] = [
    "quantile", "quantile_cont", "quantile_disc", "approx_quantile", "reservoir_quantile", "approx_top_k",
    "string_agg", "group_concat", "listagg", "json_transform", "json_transform_strict", "from_json",
    "from_json_strict", "list_sort", "array_sort", "list_reverse_sort", "array_reverse_sort", "list_grade_up",
    "array_grade_up", "grade_up",
];

pub(super) const LIST_AGGREGATES: [&str; 5] =
    ["list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate"];

pub(super) const LAMBDA_TAKERS: [&str; 14] = [
    "list_transform", "array_transform", "list_apply", "array_apply", "apply", "list_filter", "array_filter", "filter",
    "list_reduce", "array_reduce", "reduce", "list_where", "list_select", "array_select",
];
