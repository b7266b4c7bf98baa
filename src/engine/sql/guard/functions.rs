//! Which functions may be called, and with what. The list of the pinned engine is committed as `functions.txt`
//! (`+` may be called in an expression, `-` may not, with the reason); a name that is not in it is refused.

use std::sync::OnceLock;

use serde_json::Value;

pub use super::defined::{DEFINED_HERE, DEFINED_OVER, TOO_MUCH};
use super::groups::{
    BOUNDS, FLEETING, LAMBDA_TAKERS, LIST_AGGREGATES, LITERAL_BUILDERS, LITERAL_FROM_SECOND, NAME_LISTS, NAME_TESTS,
    TABLE_FUNCTIONS,
};
use super::list::List;
use super::literal::{function_name, number, text, year};
use super::{Refusal, Verdict};

/// Every name that the engine knows, one a line: verdict, name, reason, separated by tabs.
const LIST: &str = include_str!("functions.txt");

/// Largest count that may be asked of a function which makes much out of little.
pub const MAX_AMPLIFICATION: i64 = 100_000;

fn list() -> &'static List {
    static FUNCTIONS: OnceLock<List> = OnceLock::new();
    FUNCTIONS.get_or_init(|| List::read(LIST, "Use DuckDB's built-in functions.").with_habits())
}

/// Every name in the list, allowed or not.
#[cfg(test)]
pub fn known() -> std::collections::BTreeSet<&'static str> {
    list().names()
}

/// Whether a function gives another value for the same arguments at another time.
pub fn is_fleeting(name: &str) -> bool {
    FLEETING.contains(&name)
}

/// Whether a function may stand in an expression.
pub fn in_expression(name: &str) -> Verdict {
    if DEFINED_HERE.iter().any(|(defined, _)| *defined == name) {
        return Ok(());
    }
    list().judge(name)
}

/// Whether a function may stand in the place of a table.
pub fn in_from(name: &str) -> Verdict {
    if TABLE_FUNCTIONS.contains(&name) {
        return Ok(());
    }
    Err(Refusal::new(
        "table_function",
        name,
        format!("The table function {name} may not be used: queries read the listed tables and nothing else."),
        format!("Query a table by its name. In FROM these functions work: {}.", TABLE_FUNCTIONS.join(", ")),
    ))
}

/// Whether a function may be evaluated while names are being resolved.
pub fn tests_names(name: &str) -> bool {
    NAME_TESTS.contains(&name)
}

/// Whether that is so for two calls only.
pub fn lists_names(name: &str) -> bool {
    NAME_LISTS.contains(&name)
}

pub fn takes_lambda(name: &str) -> bool {
    LAMBDA_TAKERS.contains(&name)
}

/// Whether argument `index` only adds to the size of the result: then it may hold another amplifier.
pub fn absorbs(name: &str, index: usize) -> bool {
    match name {
        "lpad" | "rpad" => index == 0,
        "printf" | "format" => index > 0,
        _ => false,
    }
}

/// Whether a function makes much out of little, so that calls of it must not be nested.
pub fn amplifies(name: &str) -> bool {
    matches!(
        name,
        "repeat"
            | "lpad"
            | "rpad"
            | "range"
            | "generate_series"
            | "list_resize"
            | "array_resize"
            | "bitstring"
            | "printf"
            | "format"
            | "equi_width_bins"
    )
}

/// The aggregate that a function computes over a list, by the literal that names it.
pub fn aggregate(name: &str, arguments: &[Value], is_method: bool) -> Option<String> {
    let named = arguments.get(usize::from(!is_method)).filter(|_| LIST_AGGREGATES.contains(&name))?;
    text(named.get("expression")?).map(|inner| inner.to_ascii_lowercase())
}

/// What follows the fraction of a quantile by a sample is the sample's size, which is allocated at once.
fn is_small_sample(name: &str, size: &[Value]) -> Verdict {
    let is_small = |size: &Value| size.get("expression").and_then(number).is_some_and(|n| n <= MAX_AMPLIFICATION);
    if name != "reservoir_quantile" || size.iter().all(is_small) {
        return Ok(());
    }
    let hint = format!("Write a literal of at most {MAX_AMPLIFICATION}.");
    Err(amplifier(name, format!("{name} could take more memory than the limit."), hint))
}

/// Checks the arguments of functions for which they decide about work or names. `arguments` are the elements of the
/// tree's `arguments`; `is_method` tells `x.f(y)`, whose first argument is then missing from them.
pub fn arguments(name: &str, arguments: &[Value], is_method: bool) -> Verdict {
    if amplifies(name) {
        if is_method || arguments.iter().any(|argument| argument.get("name").is_some()) {
            let hint = format!("Write {name}(value, 10).");
            return Err(amplifier(name, format!("{name} must be called with plain arguments, not as a method."), hint));
        }
        return amplification(name, arguments);
    }
    let rest = arguments.get(usize::from(!is_method)..).unwrap_or_default();
    // Names put arguments in another order than that which is looked at here.
    let is_looked_at = LIST_AGGREGATES.contains(&name) || LITERAL_FROM_SECOND.contains(&name);
    if is_looked_at && arguments.iter().any(|argument| argument.get("name").is_some()) {
        let message = format!("The arguments of {name} must have no names.");
        return Err(Refusal::new("literal", name, message, "Write them in their order."));
    }
    if LIST_AGGREGATES.contains(&name) {
        let inner = aggregate(name, arguments, is_method);
        let inner = inner.ok_or_else(|| not_literal(name, "the name of the aggregate"))?;
        in_expression(&inner)?;
        is_small_sample(&inner, rest.get(2..).unwrap_or_default())?;
        return arguments_are_literal(name, rest);
    }
    if LITERAL_FROM_SECOND.contains(&name) {
        // `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)` has its column elsewhere.
        if arguments.len() == 1 && name.starts_with("quantile") {
            return arguments_are_literal(name, arguments);
        }
        is_small_sample(name, rest.get(1..).unwrap_or_default())?;
        return arguments_are_literal(name, rest);
    }
    if matches!(name, "strptime" | "try_strptime") && arguments.iter().any(names_a_zone) {
        let message = format!("{name} cannot read the name of a time zone (%Z): it would be left out of account.");
        let hint = "Cut the name off and write: strptime(…, …) AT TIME ZONE name; offsets are read with %z.";
        return Err(Refusal::new("function", name, message, hint));
    }
    Ok(())
}

fn arguments_are_literal(name: &str, arguments: &[Value]) -> Verdict {
    match arguments.iter().all(|argument| argument.get("expression").is_some_and(is_literal)) {
        true => Ok(()),
        false => Err(not_literal(name, "every argument after the first")),
    }
}

fn not_literal(name: &str, what: &str) -> Refusal {
    let message = format!("In {name}, {what} must be written as a literal.");
    Refusal::new("literal", name, message, "Write the value itself, such as 0.5 or 'sum'.")
}

fn amplification(name: &str, arguments: &[Value]) -> Verdict {
    let argument = |index: usize| arguments.get(index).and_then(|argument| argument.get("expression"));
    let bounded = |index: usize| match argument(index) {
        None => true,
        Some(count) => is_null(count) || number(count).is_some_and(|n| n.abs() <= MAX_AMPLIFICATION),
    };
    let fits = match name {
        "range" | "generate_series" => series_is_short(arguments),
        "printf" | "format" => {
            argument(0).is_some_and(|it| is_null(it) || text(it).is_some_and(|pattern| widths_are_small(&pattern)))
        }
        "equi_width_bins" => bounded(2),
        _ => bounded(1),
    };
    let is_checked = |index: usize| argument(index).is_none_or(|value| !is_literal(value));
    let checked = match name {
        "repeat" | "lpad" | "rpad" => is_checked(1),
        // The start is computed twice.
        "range" | "generate_series" => match arguments.len() {
            1 => is_checked(0),
            2 => (is_checked(0) || is_checked(1)) && argument(0).is_some_and(is_simple),
            // Days between times that only the data know: what they take is bounded by the worker's memory.
            3 => (is_checked(0) || is_checked(1)) && argument(2).is_some_and(step_is_days),
            _ => false,
        },
        _ => false,
    };
    if fits || checked {
        return Ok(());
    }
    let hint = match name {
        "range" | "generate_series" => {
            format!("Use it in FROM (FROM {name}(1, 10) AS t(i)), or with literals that give few values.")
        }
        "printf" | "format" => "Write the pattern as a literal with widths of at most 1000.".to_owned(),
        _ => format!("Write a literal of at most {MAX_AMPLIFICATION}."),
    };
    Err(amplifier(name, format!("{name} could make more data than the limit."), hint))
}

/// The refusal of a call that makes much out of little.
pub fn amplifier(name: &str, message: String, hint: impl Into<String>) -> Refusal {
    Refusal::new("amplifier", name, message, hint)
}

/// At most [`MAX_AMPLIFICATION`] values: literal whole numbers, or literal dates with a literal step.
fn series_is_short(arguments: &[Value]) -> bool {
    let expressions: Option<Vec<&Value>> = arguments.iter().map(|argument| argument.get("expression")).collect();
    let Some(expressions) = expressions else { return false };
    if expressions.iter().any(|value| is_null(value)) {
        return true;
    }
    if let Some(numbers) = expressions.iter().map(|value| number(value)).collect::<Option<Vec<i64>>>() {
        let (start, stop, step) = match numbers[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] => (start, stop, step),
            _ => return false,
        };
        return step != 0 && stop.saturating_sub(start).saturating_abs() / step.saturating_abs() <= MAX_AMPLIFICATION;
    }
    let [from, to, step] = expressions[..] else { return false };
    let years = match (year(from), year(to)) {
        (Some(from), Some(to)) => (to - from).abs(),
        _ => return false,
    };
    let same_month = text(from).zip(text(to)).is_some_and(|(from, to)| from.get(..7) == to.get(..7));
    match unit(step).as_deref() {
        Some("minute") => same_month,
        Some("hour") => years <= 10,
        _ => years <= 200 && step_is_days(step),
    }
}

/// A step of a day or more.
fn step_is_days(step: &Value) -> bool {
    matches!(unit(step).as_deref(), Some("day" | "week" | "month" | "quarter" | "year"))
}

/// The unit, in the singular, of a step that is a whole number of it: `INTERVAL 3 DAY` or `INTERVAL '3 days'`.
fn unit(step: &Value) -> Option<String> {
    let unit = match (function_name(step), text(step)) {
        // Backwards.
        (Some("-"), _) if step.pointer("/arguments/1").is_none() => unit(step.pointer("/arguments/0/expression")?)?,
        (Some(name), _) if step_is_whole(step) => name.strip_prefix("to_")?.to_owned(),
        (None, Some(text)) => match text.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            [count, unit] if count.parse::<i64>().is_ok_and(|count| count != 0) => unit.to_ascii_lowercase(),
            _ => return None,
        },
        _ => return None,
    };
    Some(unit.trim_end_matches('s').to_owned())
}

/// A step of at least one unit: `INTERVAL 3 DAY` is `to_days(CAST(trunc(CAST(3 …)) …))` in the tree.
fn step_is_whole(step: &Value) -> bool {
    let mut inner = step;
    loop {
        if let Some(n) = number(inner) {
            return n != 0;
        }
        inner = match inner.get("class").and_then(Value::as_str) {
            Some("CAST") => match inner.get("child") {
                Some(child) => child,
                None => return false,
            },
            Some("FUNCTION") => match inner.pointer("/arguments/0/expression") {
                Some(argument) => argument,
                None => return false,
            },
            _ => return false,
        };
    }
}

/// No width or precision above three digits' worth, and none taken from an argument.
pub fn widths_are_small(pattern: &str) -> bool {
    let dynamic = pattern.contains('*')
        || pattern.match_indices('{').any(|(at, _)| {
            let rest = &pattern[at + 1..];
            rest.find('{').is_some_and(|inner| rest.find('}').is_none_or(|end| inner < end)) && !rest.starts_with('{')
        });
    let numbers = pattern.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    !dynamic && numbers.into_iter().all(|digits| digits.parse::<u32>().is_ok_and(|n| n <= 1_000))
}

/// A format with `%Z`, alone or in a list.
fn names_a_zone(argument: &Value) -> bool {
    let has = |format: &Value| text(format).is_some_and(|format| format.contains("%Z"));
    let Some(format) = argument.get("expression") else { return false };
    let listed = format.get("arguments").and_then(Value::as_array);
    has(format) || listed.is_some_and(|list| list.iter().any(|item| item.get("expression").is_some_and(has)))
}

/// Without the casts around it.
pub fn uncast(value: &Value) -> &Value {
    match value.get("child") {
        Some(child) if value.get("class").and_then(Value::as_str) == Some("CAST") => uncast(child),
        _ => value,
    }
}

/// The literal NULL, of any type: what it bounds makes nothing.
fn is_null(value: &Value) -> bool {
    uncast(value).pointer("/literal/kind").and_then(Value::as_str) == Some("NULL_LITERAL")
}

/// A value written out: constants, casts of them, and lists, structs and intervals made of them.
pub fn is_literal(value: &Value) -> bool {
    made_of(value, &|_| false)
}

/// A literal, or a column, or arithmetic over them: cheap, and nothing in it can amplify.
pub fn is_simple(value: &Value) -> bool {
    made_of(value, &|class| class == "COLUMN_REF")
}

/// What may bound a series in FROM or be read there: simple values, cheap functions of them, and subqueries, which
/// run when everything runs.
pub fn is_bound(value: &Value) -> bool {
    let all = |list: Option<&Value>, inner: &dyn Fn(&Value) -> bool| {
        list.and_then(Value::as_array).is_none_or(|list| list.iter().all(inner))
    };
    match value.get("class").and_then(Value::as_str) {
        Some("CONSTANT" | "COLUMN_REF" | "SUBQUERY") => true,
        Some("CAST") => value.get("child").is_some_and(is_bound),
        Some("OPERATOR" | "CONJUNCTION") => all(value.get("children"), &is_bound),
        Some("COMPARISON") => ["left", "right"].iter().all(|side| value.get(side).is_some_and(is_bound)),
        Some("BETWEEN") => ["input", "lower", "upper"].iter().all(|side| value.get(side).is_some_and(is_bound)),
        Some("CASE") => {
            let parts =
                |check: &Value| ["when_expr", "then_expr"].iter().all(|part| check.get(part).is_some_and(is_bound));
            all(value.get("case_checks"), &parts) && value.get("else_expr").is_none_or(is_bound)
        }
        // The JSON arrow: a lambda proper has words before its body.
        Some("LAMBDA") if value.get("syntax_type").and_then(Value::as_str) == Some("SINGLE_ARROW") => {
            ["lhs", "expr"].iter().all(|side| value.get(side).is_some_and(is_bound))
        }
        Some("FUNCTION") => {
            let known = function_name(value).is_some_and(|name| {
                let name = name.to_ascii_lowercase();
                LITERAL_BUILDERS.contains(&name.as_str()) || BOUNDS.contains(&name.as_str())
            });
            known && all(value.get("arguments"), &|argument| argument.get("expression").is_some_and(is_bound))
        }
        _ => false,
    }
}

fn made_of(value: &Value, also: &dyn Fn(&str) -> bool) -> bool {
    match value.get("class").and_then(Value::as_str) {
        Some("CONSTANT") => true,
        Some("CAST") => value.get("child").is_some_and(|child| made_of(child, also)),
        Some("FUNCTION") => {
            let builds = function_name(value).is_some_and(|name| LITERAL_BUILDERS.contains(&name));
            let arguments = value.get("arguments").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            builds && arguments.iter().all(|argument| argument.get("expression").is_some_and(|it| made_of(it, also)))
        }
        Some(class) => also(class),
        None => false,
    }
}
