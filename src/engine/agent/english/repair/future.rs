//! Times that have not begun: what has not happened yet is no number of 0.

use jiff::civil::Date;

use crate::engine::agent::planner::Context;
use crate::model::plan::{Plan, Window};
use crate::model::reading::{Choice, Clarification};

/// The question back which time is meant, where a plan asks for one that is yet to come in data that end before now. An
/// answer to it is put into the plan.
pub(in super::super) fn not_begun(plan: &mut Plan, context: &Context) -> Option<Clarification> {
    let time = plan.time.as_ref().filter(|time| time.field.is_none())?;
    let start = time.window.start.as_ref()?.get(..10)?.parse::<Date>().ok()?;
    let today = context.now.date();
    // Bookings and plans are data of times to come.
    let planned = context.extent.is_some_and(|extent| extent.last > today && extent.last >= start);
    if start <= today || planned {
        return None;
    }
    let said = time.window.phrase.clone().unwrap_or_else(|| start.to_string());
    let key = format!("future:{}", said.to_lowercase());
    let year = today.year();
    match context.chosen.iter().rev().find(|chosen| chosen.key == key).map(|chosen| chosen.value.as_str()) {
        Some("all") => plan.time = None,
        Some(_) => {
            let bound = |year: i16| Some(format!("{year}-01-01"));
            let window =
                Window { start: bound(year), end: bound(year + 1), phrase: Some(year.to_string()), relative: None };
            plan.time = plan.time.take().map(|time| crate::model::plan::TimeFilter { window, ..time });
        }
        None => {
            let options = vec![
                Choice { label: format!("{year}, up to now"), value: "year".into() },
                Choice { label: "all the time up to now".into(), value: "all".into() },
            ];
            let today = today.strftime("%-d %b %Y");
            let question = format!("“{said}” has not begun, today is {today}: which time is meant?");
            let assumption = options[0].label.clone();
            return Some(Clarification { key, question, options, assumption });
        }
    }
    None
}
