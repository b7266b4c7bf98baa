//! A chart for rows of which nothing is known but their columns: those of a statement that a person wrote.
//!
//! | the rows have | chart |
//! |---|---|
//! | days, months or years that rise, then numbers; at least 3 rows | lines |
//! | other texts, each once, then numbers; 2 to 30 rows | bars, lying when there are many or their names are long |
//! | anything else, or rows that were cut | none |
//!
//! Several numbers share an axis when none is lost beside the others; otherwise the first is drawn.

use std::collections::HashSet;

use serde_json::Value;

use super::validate::{TITLE, validate};
use crate::model::chart::{ChartSpec, ChartType, Layout, Series};
use crate::model::table::Column;

/// Bars, points of a line, and numbers beside each other.
const BARS: usize = 30;
const POINTS: usize = 1_000;
const SERIES: usize = 4;
/// Bars, and characters of a name, from which on bars lie.
const MANY: usize = 12;
const LONG: usize = 12;
/// How many times as large a number may be as another on the same axis.
const APART: f64 = 20.0;

/// The chart of these rows; what comes back is valid.
pub fn plain(columns: &[Column], rows: &[Vec<Value>], truncated: bool) -> Option<ChartSpec> {
    if truncated || rows.len() < 2 {
        return None;
    }
    let numbers: Vec<Option<Vec<Option<f64>>>> =
        columns.iter().enumerate().map(|(at, column)| numbers(column, rows, at)).collect();
    let named = numbers.iter().position(Option::is_none).unwrap_or(0);
    let names: Vec<String> = rows.iter().map(|row| row.get(named).map(name).unwrap_or_default()).collect();
    let is_distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
    let measured = columns.iter().zip(numbers).enumerate().filter(|(at, _)| *at != named);
    let measured = measured.filter_map(|(_, (column, numbers))| Some((column.name.clone(), numbers?)));
    let series: Vec<Series> = measured.map(|(label, data)| Series { label, data }).collect();
    let series = beside(series);
    let first = series.first()?;
    let column = columns.get(named)?;
    let is_timeline = rows.len() >= 3 && is_timeline(&names);
    if !is_distinct || rows.len() > if is_timeline { POINTS } else { BARS } {
        return None;
    }
    let lies = rows.len() > MANY || names.iter().any(|name| name.chars().count() > LONG);
    let label = if series.len() == 1 { first.label.clone() } else { "Numbers".to_owned() };
    let title = format!("{label} by {}", column.name);
    let spec = ChartSpec {
        r#type: if is_timeline { ChartType::Line } else { ChartType::Bar },
        title: cut(&title),
        x_axis_label: Some(cut(&column.name)),
        y_axis_label: Some(cut(&label)),
        categories: Some(names),
        series: Some(series),
        slices: None,
        points: None,
        layout: (!is_timeline && lies).then_some(Layout::Horizontal),
    };
    validate(&spec).is_ok().then_some(spec)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TITLE - 1) {
        Some((at, _)) if text.chars().count() > TITLE => format!("{}…", text.get(..at).unwrap_or_default()),
        _ => text.to_owned(),
    }
}

/// The values of a column of numbers; decimals and very large whole numbers come as texts.
fn numbers(column: &Column, rows: &[Vec<Value>], at: usize) -> Option<Vec<Option<f64>>> {
    let kind = column.r#type.to_ascii_uppercase();
    let of_text = ["DECIMAL", "NUMERIC", "HUGEINT", "UHUGEINT", "BIGINT", "UBIGINT", "INT", "UINT"];
    let is_number = of_text.iter().any(|name| kind.starts_with(name)) && !kind.starts_with("INTERVAL");
    let number = |row: &Vec<Value>| match row.get(at) {
        None | Some(Value::Null) => Some(None),
        Some(Value::Number(number)) => number.as_f64().map(Some),
        Some(Value::String(text)) if is_number => text.parse().ok().filter(|it: &f64| it.is_finite()).map(Some),
        Some(_) => None,
    };
    let numbers: Vec<Option<f64>> = rows.iter().map(number).collect::<Option<_>>()?;
    numbers.iter().any(Option::is_some).then_some(numbers)
}

fn name(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether names are times of one form that rise: `2013`, `2013-07`, `2013-07-01`, `2013-07-01T00:00:00`.
fn is_timeline(names: &[String]) -> bool {
    let is_time = |name: &String| {
        let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        let day = name.split('T').next().unwrap_or_default();
        let mut parts = day.split('-');
        parts.next().is_some_and(|year| digits(year, 4)) && parts.all(|part| digits(part, 2))
    };
    let length = names.first().map_or(0, String::len);
    names.iter().all(|name| is_time(name) && name.len() == length) && names.is_sorted()
}

/// Those that can share an axis with the first.
fn beside(series: Vec<Series>) -> Vec<Series> {
    let greatest = |one: &Series| one.data.iter().flatten().fold(0.0_f64, |most, number| most.max(number.abs()));
    let sizes: Vec<f64> = series.iter().map(greatest).collect();
    let (least, most) = sizes.iter().fold((f64::MAX, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
    let fit = series.len() <= SERIES && most <= least * APART;
    series.into_iter().take(if fit { SERIES } else { 1 }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn columns(named: &[(&str, &str)]) -> Vec<Column> {
        named.iter().map(|(name, kind)| Column { name: (*name).into(), r#type: (*kind).into() }).collect()
    }

    fn rows(rows: Value) -> Vec<Vec<Value>> {
        serde_json::from_value(rows).unwrap()
    }

    #[test]
    fn names_and_numbers_are_bars() {
        let columns = columns(&[("town", "VARCHAR"), ("sales", "DECIMAL(10,2)")]);
        let spec = plain(&columns, &rows(json!([["Oslo", "1.50"], ["Bergen", null]])), false).unwrap();
        assert_eq!((spec.r#type, spec.title.as_str()), (ChartType::Bar, "sales by town"));
        assert_eq!(spec.categories, Some(vec!["Oslo".into(), "Bergen".into()]));
        assert_eq!(spec.series.unwrap(), [Series { label: "sales".into(), data: vec![Some(1.5), None] }]);
    }

    #[test]
    fn times_that_rise_are_a_line_and_others_are_not() {
        let columns = columns(&[("month", "VARCHAR"), ("sales", "BIGINT")]);
        let rising = rows(json!([["2013-01", 1], ["2013-02", 2], ["2013-03", 3]]));
        assert_eq!(plain(&columns, &rising, false).unwrap().r#type, ChartType::Line);
        let falling = rows(json!([["2013-03", 1], ["2013-02", 2], ["2013-01", 3]]));
        assert_eq!(plain(&columns, &falling, false).unwrap().r#type, ChartType::Bar);
    }

    #[test]
    fn numbers_of_other_sizes_do_not_share_an_axis() {
        let columns = columns(&[("town", "VARCHAR"), ("sales", "INTEGER"), ("share", "DOUBLE")]);
        let apart = rows(json!([["Oslo", 1000, 0.5], ["Bergen", 2000, 0.5]]));
        assert_eq!(plain(&columns, &apart, false).unwrap().series.unwrap().len(), 1);
        let near = rows(json!([["Oslo", 10, 5.5], ["Bergen", 20, 7.5]]));
        assert_eq!(plain(&columns, &near, false).unwrap().series.unwrap().len(), 2);
    }

    #[test]
    fn what_a_chart_would_not_say_is_not_drawn() {
        let named = columns(&[("town", "VARCHAR"), ("sales", "INTEGER")]);
        let two = rows(json!([["Oslo", 1], ["Bergen", 2]]));
        assert!(plain(&named, &two, true).is_none(), "cut");
        assert!(plain(&named, &two[..1], false).is_none(), "one row");
        assert!(plain(&named, &rows(json!([["Oslo", 1], ["Oslo", 2]])), false).is_none(), "twice the same name");
        assert!(plain(&named[..1], &rows(json!([["Oslo"], ["Bergen"]])), false).is_none(), "no numbers");
        assert!(plain(&[], &rows(json!([[], []])), false).is_none());
    }
}
