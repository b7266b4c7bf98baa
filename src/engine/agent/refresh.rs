//! A plan of before, asked again: its relative times are counted from now.

use jiff::civil::DateTime;

use super::time::{self, TimePhrase};
use super::token::tokens;
use crate::model::ontology::Calendar;
use crate::model::plan::{Condition, Plan, Window};

/// The plan with every window that has a phrase made anew from it.
pub fn refreshed(plan: &Plan, now: DateTime, calendar: &Calendar) -> Plan {
    let mut plan = plan.clone();
    let anew = |window: &mut Window| {
        let Some(phrase) = &window.phrase else { return };
        let found = time::find(&tokens(phrase), now, calendar);
        if let [only] = found.as_slice()
            && let TimePhrase::Window(now) = &only.phrase
        {
            *window = Window { phrase: window.phrase.clone(), ..now.clone() };
        }
    };
    plan.time.iter_mut().for_each(|time| anew(&mut time.window));
    plan.comparison.iter_mut().for_each(|comparison| anew(&mut comparison.with));
    plan.filters.iter_mut().for_each(|condition| of_condition(condition, &anew));
    for measure in &mut plan.measures {
        measure.filters.iter_mut().for_each(|condition| of_condition(condition, &anew));
    }
    plan
}

fn of_condition(condition: &mut Condition, anew: &impl Fn(&mut Window)) {
    match condition {
        Condition::Within { window, .. } => anew(window),
        Condition::Exists { filters, .. } | Condition::Any(filters) | Condition::All(filters) => {
            filters.iter_mut().for_each(|inner| of_condition(inner, anew));
        }
        Condition::Not(inner) => of_condition(inner, anew),
        Condition::Measured { measure, .. } => {
            measure.filters.iter_mut().for_each(|inner| of_condition(inner, anew));
        }
        Condition::Compare { .. }
        | Condition::CompareFields { .. }
        | Condition::In { .. }
        | Condition::Like { .. }
        | Condition::IsNull { .. }
        | Condition::OnDays { .. }
        | Condition::AtHours { .. }
        | Condition::Segment { .. }
        | Condition::AgainstOverall { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::TimeFilter;

    #[test]
    fn last_month_is_the_month_before_the_day_of_asking() {
        let window = |start: &str, end: &str, phrase: &str| Window {
            start: Some(start.into()),
            end: Some(end.into()),
            phrase: Some(phrase.into()),
        };
        let plan = |window: Window| Plan { time: Some(TimeFilter { field: None, window }), ..Plan::default() };
        let now = jiff::civil::date(2026, 11, 21).at(12, 0, 0, 0);
        let calendar = Calendar::default();
        let before = plan(window("2025-01-01", "2025-02-01", "last month"));
        assert_eq!(refreshed(&before, now, &calendar), plan(window("2026-10-01", "2026-11-01", "last month")));
        let fixed = plan(window("2013-07-01", "2013-08-01", "July 2013"));
        assert_eq!(refreshed(&fixed, now, &calendar), fixed);
    }
}
