//! A plan that is kept, and asked again: its times that move are counted from when it is asked.

use jiff::civil::DateTime;

use super::relative::{relative, window_at};
use crate::engine::agent::planner::Planners;
use crate::model::ontology::Calendar;
use crate::model::plan::{Condition, NodeMut, Plan, Relative, Window};

/// A plan to be kept, with how its times lie to the time of asking, as far as their words say it.
pub fn kept(mut plan: Plan, planners: &Planners, asked: DateTime, calendar: &Calendar) -> Plan {
    each_window(&mut plan, &mut |window| {
        let phrase = window.phrase.clone().unwrap_or_default();
        let read = |at: DateTime| <[Window; 1]>::try_from(planners.windows(&phrase, at, calendar)).ok();
        // What was read in figures has no words that say how it moves.
        let as_it_is = |it: &Relative| {
            window_at(it, asked, calendar, None).is_some_and(|at| (&at.start, &at.end) == (&window.start, &window.end))
        };
        let known = window.relative.clone().filter(as_it_is);
        window.relative = relative(window, asked, calendar, |at| read(at).map(|[only]| only)).or(known);
    });
    plan
}

/// The plan with every window that moves as it is now. One of which that is not known stays.
pub fn renewed(plan: &Plan, now: DateTime, calendar: &Calendar) -> Plan {
    let mut plan = plan.clone();
    each_window(&mut plan, &mut |window| {
        let anew = window.relative.as_ref().and_then(|it| window_at(it, now, calendar, window.phrase.clone()));
        if let Some(anew) = anew {
            *window = anew;
        }
    });
    plan
}

fn each_window(plan: &mut Plan, see: &mut dyn FnMut(&mut Window)) {
    plan.time.iter_mut().for_each(|time| see(&mut time.window));
    plan.comparison.iter_mut().for_each(|comparison| see(&mut comparison.with));
    plan.walk_mut(&mut |node| {
        if let NodeMut::Condition(Condition::Within { window, .. }) = node {
            see(window);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engines;
    use crate::model::plan::TimeFilter;

    fn plan(start: &str, end: &str, phrase: &str) -> Plan {
        let some = |text: &str| Some(text.to_owned());
        let window = Window { start: some(start), end: some(end), phrase: some(phrase), relative: None };
        Plan { time: Some(TimeFilter { field: None, window }), ..Plan::default() }
    }

    /// Its plan as it is now, without how that was found.
    fn at(plan: &Plan, now: &str) -> Plan {
        let mut plan = renewed(plan, now.parse().unwrap(), &Calendar::default());
        each_window(&mut plan, &mut |window| window.relative = None);
        plan
    }

    #[test]
    fn last_month_is_the_month_before_the_day_of_asking() {
        let calendar = Calendar::default();
        let asked = "2025-02-21T12:00:00".parse().unwrap();
        let keep = |it: &Plan| kept(it.clone(), &Engines::languages(), asked, &calendar);
        let before = keep(&plan("2025-01-01", "2025-02-01", "last month"));
        assert_eq!(at(&before, "2026-11-21T12:00:00"), plan("2026-10-01", "2026-11-01", "last month"));
        let fixed = plan("2013-07-01", "2013-08-01", "July 2013");
        assert_eq!(at(&keep(&fixed), "2026-11-21T12:00:00"), fixed);
    }

    #[test]
    fn a_plan_that_was_kept_with_words_alone_is_read_and_stays_as_it_was() {
        let stored =
            r#"{"measures":[],"time":{"window":{"start":"2025-01-01","end":"2025-02-01","phrase":"last month"}}}"#;
        let stored: Plan = serde_json::from_str(stored).unwrap();
        assert_eq!(stored, plan("2025-01-01", "2025-02-01", "last month"));
        assert_eq!(at(&stored, "2026-11-21T12:00:00"), stored);
        let text = serde_json::to_string(&stored).unwrap();
        assert!(!text.contains("relative"), "{text}");
    }
}
