//! Expressions that mean the same in every session.
//!
//! Which day an instant is on depends on where the clock hangs that it is read from, and an engine asks its session. Here
//! it is the ontology's clock: where an expression makes a date, a part of the calendar or a text of an instant, or
//! compares it with a date, the instant becomes first what clocks show there (`AT TIME ZONE`); and where it makes an
//! instant of a date, clocks there showed it. Lengths of time (the hours from one instant to another, EPOCH) need no clock
//! and stay as they are. What nothing is known of stays, too.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType as SqlType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Interval, TimezoneInfo, Value, visit_expressions_mut,
};

use crate::model::ontology::DataType;

/// The function that cuts a time to a unit.
const CUT: &str = "date_trunc";

/// How a value tells the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// The same moment everywhere.
    Instant,
    /// What a clock or a calendar shows.
    Civil,
}

/// The expression read by clocks of an IANA time zone; `of` says what is known of a name's type.
pub(super) fn settled(expr: &Expr, zone: &str, of: &dyn Fn(Option<&str>, &str) -> Option<DataType>) -> Expr {
    let mut expr = expr.clone();
    let clock = Clock { zone, of };
    let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |expr| {
        clock.settle(expr);
        ControlFlow::Continue(())
    });
    expr
}

struct Clock<'c> {
    zone: &'c str,
    of: &'c dyn Fn(Option<&str>, &str) -> Option<DataType>,
}

impl Clock<'_> {
    /// What is inside of it is settled already.
    fn settle(&self, expr: &mut Expr) {
        let becomes_instant = match expr {
            Expr::Cast { expr: inner, data_type, .. } => match typed(data_type) {
                Some(Time::Instant) if self.is_civil(inner) => plain(data_type),
                Some(Time::Instant) => false,
                Some(Time::Civil) | None => self.show(inner),
            },
            Expr::TypedString(text)
                if typed(&text.data_type) == Some(Time::Instant) && is_civil_text(&text.value.value) =>
            {
                plain(&mut text.data_type)
            }
            Expr::Extract { field, expr: inner, .. } if !is_length(&field.to_string()) => self.show(inner),
            Expr::BinaryOp { left, op, right } => self.operator(left, op, right),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => self.compare(left, right),
            Expr::Between { expr: inner, low, high, .. } if self.is_civil(low) && self.is_civil(high) => {
                self.show(inner)
            }
            Expr::InList { expr: inner, list, .. } if list.iter().all(|value| self.is_civil(value)) => self.show(inner),
            Expr::Function(function) => match self.cut(function) {
                Some(cut) => {
                    *expr = cut;
                    false
                }
                None => self.call(function),
            },
            _ => false,
        };
        if becomes_instant {
            self.turn(expr);
        }
    }

    /// From an instant to what clocks show, or back.
    fn turn(&self, expr: &mut Expr) {
        let inner = std::mem::replace(expr, Expr::Value(Value::Null.with_empty_span()));
        let zone = Expr::Value(Value::SingleQuotedString(self.zone.to_owned()).with_empty_span());
        let (timestamp, time_zone) = (Box::new(operand(inner)), Box::new(zone));
        *expr = Expr::Nested(Box::new(Expr::AtTimeZone { timestamp, time_zone }));
    }

    /// An instant that is cut to a unit below a day: less what clocks show since the unit began. When they are set back,
    /// an hour comes twice, and what they show of it does not say which of the two it is.
    fn cut(&self, function: &Function) -> Option<Expr> {
        if !function.name.to_string().eq_ignore_ascii_case(CUT) {
            return None;
        }
        let FunctionArguments::List(list) = &function.args else { return None };
        let given: Vec<&Expr> = list.args.iter().filter_map(argument).collect();
        let [unit, at] = given.as_slice() else { return None };
        let is_below_a_day = matches!(unit, Expr::Value(_)) && is_short(&unit.to_string());
        // The instant stands three times in what is written, so that of many cuts within each other only the inner ones
        // are written like this.
        let is_deep = || at.to_string().to_ascii_lowercase().matches(CUT).count() > 3;
        if !is_below_a_day || self.time(at) != Some(Time::Instant) || is_deep() {
            return None;
        }
        let mut shown = (*at).clone();
        self.turn(&mut shown);
        let mut since = function.clone();
        if let FunctionArguments::List(list) = &mut since.args {
            for argument in list.args.iter_mut().filter_map(argument_mut) {
                self.show(argument);
            }
        }
        Some(minus(operand((*at).clone()), minus(shown, Expr::Function(since))))
    }

    /// An instant becomes what clocks show. Never makes an instant of what is around it.
    fn show(&self, expr: &mut Expr) -> bool {
        if self.time(expr) == Some(Time::Instant) {
            self.turn(expr);
        }
        false
    }

    fn compare(&self, left: &mut Expr, right: &mut Expr) -> bool {
        if self.is_civil(left) {
            self.show(right)
        } else if self.is_civil(right) {
            self.show(left)
        } else {
            false
        }
    }

    fn operator(&self, left: &mut Expr, op: &BinaryOperator, right: &mut Expr) -> bool {
        use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, Minus, NotEq, Plus, StringConcat};
        match op {
            Eq | Gt | GtEq | Lt | LtEq | NotEq => self.compare(left, right),
            StringConcat => self.show(left) | self.show(right),
            Plus | Minus => match (&*left, &*right) {
                // A day is not always 24 hours.
                (_, Expr::Interval(length)) if has_days(length) => self.shift(left),
                (Expr::Interval(length), _) if has_days(length) => self.shift(right),
                (from, to) if *op == Minus && self.is_named_day(from) && self.is_named_day(to) => {
                    day(left);
                    day(right);
                    false
                }
                _ => self.compare(left, right),
            },
            _ => false,
        }
    }

    /// Whether it is the name of a day: that it is one is written, for engines that have several types of days.
    fn is_named_day(&self, expr: &Expr) -> bool {
        let known = match expr {
            Expr::Identifier(name) => (self.of)(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [dataset, name] => (self.of)(Some(&dataset.value), &name.value),
                _ => None,
            },
            _ => None,
        };
        known == Some(DataType::Date)
    }

    /// An instant that days are added to: they are days of the calendar, and then it is an instant again.
    fn shift(&self, expr: &mut Expr) -> bool {
        let is_instant = self.time(expr) == Some(Time::Instant);
        self.show(expr);
        is_instant
    }

    fn call(&self, function: &mut Function) -> bool {
        let name = function.name.to_string().to_ascii_lowercase();
        let FunctionArguments::List(list) = &mut function.args else { return false };
        let mut given: Vec<&mut Expr> = list.args.iter_mut().filter_map(argument_mut).collect();
        match (name.as_str(), given.as_mut_slice()) {
            ("year" | "quarter" | "month" | "day" | "hour" | "minute" | "second", [time]) => self.show(time),
            ("date_part", [part, time]) if !is_length(&part.to_string()) => self.show(time),
            (CUT, [_, time]) => self.shift(time),
            ("date_diff", [part, from, to]) if !is_short(&part.to_string()) => self.show(from) | self.show(to),
            ("age" | "concat" | "concat_ws", all) => all.iter_mut().fold(false, |any, each| any | self.show(each)),
            _ => false,
        }
    }

    fn time(&self, expr: &Expr) -> Option<Time> {
        match expr {
            Expr::Identifier(name) => self.named(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [dataset, name] => self.named(Some(&dataset.value), &name.value),
                _ => None,
            },
            Expr::Nested(inner) => self.time(inner),
            Expr::Cast { data_type, .. } => typed(data_type),
            Expr::TypedString(text) => typed(&text.data_type),
            Expr::AtTimeZone { timestamp, .. } => match self.time(timestamp)? {
                Time::Instant => Some(Time::Civil),
                Time::Civil => Some(Time::Instant),
            },
            Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
                // The difference of two is a length.
                match (self.time(left), self.time(right)) {
                    (Some(time), None) | (None, Some(time)) => Some(time),
                    _ => None,
                }
            }
            Expr::Case { conditions, else_result, .. } => {
                let mut results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.find_map(|result| self.time(result))
            }
            Expr::Function(function) => self.made(function),
            _ => None,
        }
    }

    /// What a function makes.
    fn made(&self, function: &Function) -> Option<Time> {
        let FunctionArguments::List(list) = &function.args else { return None };
        match function.name.to_string().to_ascii_lowercase().as_str() {
            "make_date" => Some(Time::Civil),
            "to_timestamp" => Some(Time::Instant),
            CUT | "coalesce" | "nullif" | "greatest" | "least" => {
                list.args.iter().filter_map(argument).find_map(|each| self.time(each))
            }
            _ => None,
        }
    }

    fn named(&self, dataset: Option<&str>, name: &str) -> Option<Time> {
        match (self.of)(dataset, name)? {
            DataType::DateTimeTz => Some(Time::Instant),
            DataType::Date | DataType::DateTime => Some(Time::Civil),
            _ => None,
        }
    }

    fn is_civil(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Value(value) => is_civil_text(&value.value),
            other => self.time(other) == Some(Time::Civil),
        }
    }
}

/// As a day.
fn day(expr: &mut Expr) {
    let inner = std::mem::replace(expr, Expr::Value(Value::Null.with_empty_span()));
    let (kind, data_type) = (CastKind::Cast, SqlType::Date);
    *expr = Expr::Cast { kind, expr: Box::new(inner), data_type, format: None };
}

/// What an operator can be written beside.
fn operand(expr: Expr) -> Expr {
    match expr {
        operation @ (Expr::BinaryOp { .. } | Expr::Case { .. }) => Expr::Nested(Box::new(operation)),
        other => other,
    }
}

fn minus(left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Minus, right }))
}

fn argument(argument: &FunctionArg) -> Option<&Expr> {
    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument { Some(expr) } else { None }
}

fn argument_mut(argument: &mut FunctionArg) -> Option<&mut Expr> {
    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument { Some(expr) } else { None }
}

fn typed(data_type: &SqlType) -> Option<Time> {
    match data_type {
        SqlType::Timestamp(_, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => Some(Time::Instant),
        SqlType::Timestamp(..) | SqlType::Date => Some(Time::Civil),
        _ => None,
    }
}

/// The type of an instant becomes that of a civil time, from which the instant is made.
fn plain(data_type: &mut SqlType) -> bool {
    *data_type = SqlType::Timestamp(None, TimezoneInfo::None);
    true
}

/// A day, or a time without an offset.
fn is_civil_text(value: &Value) -> bool {
    let Value::SingleQuotedString(text) = value else { return false };
    let is_moment = text.chars().skip(10).any(|c| matches!(c, '+' | '-' | '[' | 'Z' | 'z'));
    !is_moment && text.parse::<jiff::civil::DateTime>().is_ok()
}

/// Whether a part of a time says how long after a moment it is, or in which zone.
fn is_length(part: &str) -> bool {
    let part = part.trim_matches('\'').to_ascii_lowercase();
    part == "epoch" || part.starts_with("timezone")
}

/// Whether a unit is shorter than a day, and the same everywhere.
fn is_short(unit: &str) -> bool {
    let unit = unit.trim_matches('\'').to_ascii_lowercase();
    ["hour", "minute", "second", "millisecond", "microsecond"].iter().any(|short| unit.starts_with(short))
}

fn has_days(length: &Interval) -> bool {
    let text = length.to_string().to_ascii_lowercase();
    ["day", "week", "mon", "quarter", "year", "decade", "centur"].iter().any(|unit| text.contains(unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ontology::expression::{Aggregate, MAX_CHARS, Scalar};
    use crate::model::source::Dialect;

    /// `at` and `until` are instants, `day` and `wall` are civil, of `other` nothing is known.
    fn of(_: Option<&str>, name: &str) -> Option<DataType> {
        match name {
            "at" | "until" => Some(DataType::DateTimeTz),
            "day" => Some(DataType::Date),
            "wall" => Some(DataType::DateTime),
            "amount" => Some(DataType::Integer),
            _ => None,
        }
    }

    fn written(text: &str) -> String {
        let scalar = Scalar::parse(text).unwrap().in_zone("Asia/Tokyo", &of);
        scalar.write(Dialect::PostgreSql, &mut |_, name| Ok::<_, String>(name.to_owned())).unwrap()
    }

    #[test]
    fn what_depends_on_a_clock_is_read_from_the_ontology_s() {
        for (text, expected) in [
            ("CAST(at AS DATE)", "CAST((at AT TIME ZONE 'Asia/Tokyo') AS DATE)"),
            ("at::text", "(at AT TIME ZONE 'Asia/Tokyo')::TEXT"),
            ("EXTRACT(hour FROM at)", "EXTRACT(HOUR FROM (at AT TIME ZONE 'Asia/Tokyo'))"),
            ("year(t.at)", "EXTRACT(year FROM (at AT TIME ZONE 'Asia/Tokyo'))"),
            ("date_part('dow', at)", "date_part('dow', (at AT TIME ZONE 'Asia/Tokyo'))"),
            (
                "date_trunc('month', at)",
                "(date_trunc('month', (at AT TIME ZONE 'Asia/Tokyo')) AT TIME ZONE 'Asia/Tokyo')",
            ),
            (
                "date_trunc('hour', at)",
                "(at - ((at AT TIME ZONE 'Asia/Tokyo') - date_trunc('hour', (at AT TIME ZONE 'Asia/Tokyo'))))",
            ),
            (
                "date_trunc('minute', at) < day",
                "((at - ((at AT TIME ZONE 'Asia/Tokyo') - date_trunc('minute', (at AT TIME ZONE 'Asia/Tokyo')))) \
                 AT TIME ZONE 'Asia/Tokyo') < day",
            ),
            (
                "date_diff('day', at, until)",
                "(CAST((until AT TIME ZONE 'Asia/Tokyo') AS DATE) - CAST((at AT TIME ZONE 'Asia/Tokyo') AS DATE))",
            ),
            ("at >= DATE '2024-01-01'", "(at AT TIME ZONE 'Asia/Tokyo') >= DATE '2024-01-01'"),
            ("'2024-01-01' > at", "'2024-01-01' > (at AT TIME ZONE 'Asia/Tokyo')"),
            ("at = wall", "(at AT TIME ZONE 'Asia/Tokyo') = wall"),
            ("coalesce(at, until) < day", "(coalesce(at, until) AT TIME ZONE 'Asia/Tokyo') < day"),
            (
                "at BETWEEN '2024-01-01' AND '2024-02-01'",
                "(at AT TIME ZONE 'Asia/Tokyo') BETWEEN '2024-01-01' AND '2024-02-01'",
            ),
            (
                "at + INTERVAL '1 day'",
                "(((at AT TIME ZONE 'Asia/Tokyo') + INTERVAL '1 day') AT TIME ZONE 'Asia/Tokyo')",
            ),
            ("CAST(day AS TIMESTAMPTZ)", "(CAST(day AS TIMESTAMP) AT TIME ZONE 'Asia/Tokyo')"),
            ("CAST(to_timestamp(amount) AS DATE)", "CAST((to_timestamp(amount) AT TIME ZONE 'Asia/Tokyo') AS DATE)"),
            ("at > TIMESTAMPTZ '2024-01-01'", "at > (TIMESTAMP '2024-01-01' AT TIME ZONE 'Asia/Tokyo')"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn cuts_within_each_other_stay_short() {
        let deep = |cuts: usize| format!("{}at{}", "date_trunc('hour', ".repeat(cuts), ")".repeat(cuts));
        let twice = written(&deep(2));
        assert!(twice.starts_with("((at - (") && twice.matches("date_trunc").count() == 4, "{twice}");
        assert!(written(&deep(12)).len() < 4 * MAX_CHARS);
    }

    #[test]
    fn what_depends_on_none_stays() {
        for text in [
            "at",
            "at > until",
            "at - until",
            "EXTRACT(EPOCH FROM at)",
            "date_part('epoch', at)",
            "date_diff('hour', at, until)",
            "at + INTERVAL '2 hours'",
            "at > TIMESTAMPTZ '2024-01-01T00:00:00+02:00'",
            "at > '2024-01-01T00:00:00Z'",
            "at AT TIME ZONE 'Europe/Berlin' > '2024-01-01'",
            "CAST(at AS TIMESTAMPTZ)",
            "CAST(wall AS DATE)",
            "wall > '2024-01-01'",
            "date_trunc('hour', wall)",
            "CAST(other AS DATE)",
            "amount + 1",
        ] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn what_an_aggregate_reads_is_settled_too() {
        let metric = Aggregate::parse("COUNT(DISTINCT CAST(t.at AS DATE))").unwrap();
        let call = metric.calls()[0].in_zone("Asia/Tokyo", &of);
        let sql = call.write(Dialect::DuckDb, &mut |_, name| Ok::<_, String>(name.to_owned())).unwrap();
        assert_eq!(sql, "COUNT(DISTINCT CAST((at AT TIME ZONE 'Asia/Tokyo') AS DATE))");
    }
}
