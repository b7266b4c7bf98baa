//! Questions about times of which there are no data, or not all.

use jiff::civil::{Date, DateTime};

use super::Prepared;
use crate::engine::agent::explainer::describe;
use crate::engine::agent::plan::window::{Span, Unit, midnight, read, text};
use crate::engine::render::nouns::plural;
use crate::model::ontology::Entity;
use crate::model::plan::{Measure, Plan, Shown, Value, Window};

impl Prepared {
    /// That a plan asks for a time before or after all data that it is about, and which time these are from: "The data
    /// on flights are from 2013-01-01 to 2013-12-31." None where the time has data, or is not known to have none.
    pub(crate) fn outside(&self, plan: &Plan) -> Option<String> {
        self.without_data(plan, &plan.time.as_ref()?.window)
    }

    /// The same of the time that a plan compares with: "There is nothing to compare with in 2012. …".
    pub(crate) fn compared_outside(&self, plan: &Plan) -> Option<String> {
        let with = &plan.comparison.as_ref()?.with;
        let data = self.without_data(plan, with)?;
        Some(format!("There is nothing to compare with in {}. {data}", describe(with)))
    }

    /// Which times the data are from that a plan is about, where none are of a window.
    fn without_data(&self, plan: &Plan, window: &Window) -> Option<String> {
        plan.time.as_ref()?;
        let mut said = Vec::new();
        for (dataset, field) in self.times(plan) {
            let (first, last) = self.known(&dataset, field.as_deref())?;
            if !is_outside(window, first, last) {
                return None;
            }
            let sentence = format!("The data on {} are from {first} to {last}.", self.things(&dataset));
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// What of a plan's times is not over, or not whole, where it is held against another, or where units of time follow
    /// each other in a course. Sentences; `now` is the civil time of the ontology's zone.
    pub(crate) fn in_part(&self, plan: &Plan, now: DateTime) -> Vec<String> {
        match &plan.comparison {
            Some(_) => self.shorter(plan, now).into_iter().collect(),
            None => self.cut_units(plan, now).unwrap_or_default(),
        }
    }

    /// That one of two times that are compared goes on, or the data end in it, and the other does not end as early.
    fn shorter(&self, plan: &Plan, now: DateTime) -> Option<String> {
        let one = Span::read(&plan.time.as_ref()?.window)?;
        let other = Span::read(&plan.comparison.as_ref()?.with)?;
        let ends = self.times(plan).into_iter().filter_map(|(dataset, field)| {
            let (_, last) = self.known(&dataset, field.as_deref())?;
            Some((last, dataset))
        });
        let data = ends.min();
        let told = |span: Span| describe(&span.window(None));
        [(one, other), (other, one)].into_iter().find_map(|(one, other)| {
            let today = if one.start.date() == now.date() { now } else { end_of(now.date())? };
            let (until, why) = match &data {
                Some((last, dataset)) if end_of(*last)? < today => {
                    (end_of(*last)?, format!("The data on {} end on {last}", self.things(dataset)))
                }
                _ => (today, format!("{} is not over", told(one))),
            };
            let part = Span::new(one.start, until).filter(|_| until < one.end)?;
            let says = format!("{why}: {} is held against {}, which is longer.", told(part), told(other));
            (!is_as_short(other, part)).then_some(says)
        })
    }

    /// Which units of a course begin before the window, or end after it, after today or after the data.
    fn cut_units(&self, plan: &Plan, now: DateTime) -> Option<Vec<String>> {
        let reaches = |measure: &Measure| {
            matches!(measure.shown_as, Some(Shown::Change | Shown::ChangePercent | Shown::MovingAverage { .. }))
        };
        let mut times = plan.dimensions.iter().filter_map(|it| Some((&it.field, Unit::of(it.grain?)?)));
        let (field, unit) = times.next().filter(|_| plan.measures.iter().any(reaches))?;
        let window = plan.time.as_ref().map(|time| time.window.clone()).unwrap_or_default();
        let (start, end) = (window.start.as_deref().and_then(read), window.end.as_deref().and_then(read));
        let last = self.extent_of(&field.dataset, &field.field).map(|(_, last)| last);
        let open = |start: Option<DateTime>, end: Option<DateTime>| {
            describe(&Window { start: start.map(text), end: end.map(text), ..Window::default() })
        };
        let mut ends = Vec::new();
        ends.extend(end.map(|end| (end, format!("is not whole: only what is {} counts", open(None, Some(end))))));
        if end.is_some() || last.is_some() {
            ends.push((end_of(now.date())?, "is not over".to_owned()));
        }
        if let Some(last) = last {
            let things = self.things(&field.dataset);
            ends.push((end_of(last)?, format!("may not be whole: the data on {things} end on {last}")));
        }
        // The first of those that are as early: the window says most.
        let end = ends.into_iter().min_by_key(|(end, _)| *end);
        let start =
            start.map(|start| (start, format!("is not whole: only what is {} counts", open(Some(start), None))));
        let mut said = Vec::new();
        for (at, says) in start.into_iter().chain(end) {
            let first = unit.start(at, &self.ontology.calendar)?;
            if first != at {
                said.push(format!("{} {says}.", open(Some(first), unit.add(first, 1))));
            }
        }
        Some(said)
    }

    /// The first and the last day of a field of time, or of a dataset's default one.
    fn known(&self, dataset: &str, field: Option<&str>) -> Option<(Date, Date)> {
        match field {
            Some(field) => self.extent_of(dataset, field),
            None => self.extent(dataset),
        }
    }

    /// What the rows of a dataset are called.
    fn things(&self, dataset: &str) -> String {
        plural(&self.ontology.entity(dataset).map_or_else(|| dataset.to_owned(), Entity::noun))
    }

    /// The datasets whose times place the rows of a plan, and where it is not their default one, the field.
    fn times(&self, plan: &Plan) -> Vec<(String, Option<String>)> {
        if let Some(field) = plan.time.as_ref().and_then(|time| time.field.as_ref()) {
            return vec![(field.dataset.clone(), Some(field.field.clone()))];
        }
        let mut found = Vec::new();
        let mut open: Vec<&Measure> = plan.measures.iter().collect();
        while let Some(measure) = open.pop() {
            open.extend(measure.value.measures());
            match &measure.value {
                Value::Metric(name) => found.extend(self.time_of(name)),
                Value::Count(dataset) => found.push((dataset.clone(), None)),
                Value::Aggregate { field, .. } | Value::Days { to: field, .. } => {
                    found.push((field.dataset.clone(), None));
                }
                Value::Ratio { .. } | Value::Difference(..) | Value::Sum(_) | Value::Over { .. } | Value::Number(_) => {
                }
            }
        }
        if plan.measures.is_empty() {
            found.extend(plan.subject.iter().map(|subject| (subject.clone(), None)));
        }
        found
    }

    /// A metric's own time, or the dataset that its expression names first.
    fn time_of(&self, metric: &str) -> Option<(String, Option<String>)> {
        let metric = self.ontology.metric(metric)?;
        if let Some((dataset, field)) = metric.default_time_field.as_deref().and_then(|time| time.split_once('.')) {
            return Some((dataset.to_owned(), Some(field.to_owned())));
        }
        let words = metric.expression.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
        let datasets = words.filter_map(|word| self.ontology.entity(word.split_once('.')?.0));
        datasets.map(|entity| (entity.name.clone(), None)).next()
    }
}

fn end_of(day: Date) -> Option<DateTime> {
    day.tomorrow().ok().map(midnight)
}

/// Whether a stretch is no longer than another: it ends where that ends, or before, had both begun at once. Months and
/// days, or days alone, may be what makes them equally long.
fn is_as_short(one: Span, other: Span) -> bool {
    let reached = [jiff::Unit::Year, jiff::Unit::Day].into_iter().filter_map(|largest| {
        let passed = other.start.until((largest, other.end)).ok()?;
        one.start.checked_add(passed).ok()
    });
    reached.max().is_some_and(|reached| one.end <= reached)
}

/// Whether a window ends before the first day or begins after the last one.
fn is_outside(window: &Window, first: Date, last: Date) -> bool {
    let (start, end) = (window.start.as_deref().and_then(read), window.end.as_deref().and_then(read));
    end.is_some_and(|end| end <= midnight(first)) || start.is_some_and(|start| start.date() > last)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::prepared;
    use super::*;
    use crate::model::ontology::Ontology;
    use crate::model::plan::{Comparison, Dimension, FieldRef, Grain, TimeFilter};

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    /// Orders from 2023 on to a last day.
    fn orders(last: &str) -> Prepared {
        let entity = Entity {
            name: "orders".into(),
            grain: Some("order".into()),
            default_time_field: Some("day".into()),
            ..Entity::default()
        };
        let ontology = Arc::new(Ontology { datasets: vec![entity], ..Ontology::default() });
        let extents = [("orders.day".to_owned(), (day("2023-01-01"), day(last)))].into();
        Prepared { ontology, extents, ..prepared(false) }
    }

    fn window((start, end): (&str, &str)) -> Window {
        Window { start: Some(start.into()), end: Some(end.into()), ..Window::default() }
    }

    #[test]
    fn a_time_that_goes_on_or_has_data_in_part_is_not_held_against_a_longer_one_in_silence() {
        let year = ("2026-01-01", "2027-01-01");
        let before = ("2025-01-01", "2026-01-01");
        let goes_on = "2026 is not over: 1 Jan – 28 Nov 2026 is held against 2025, which is longer.";
        for (last, one, other, says) in [
            ("2026-11-28", year, before, goes_on),
            ("2026-11-28", before, year, goes_on),
            ("2026-11-28", year, ("2025-01-01", "2025-11-29"), ""),
            ("2026-11-28", ("2026-01-01", "2026-11-29"), ("2025-01-01", "2025-11-29"), ""),
            ("2026-11-28", before, ("2024-01-01", "2025-01-01"), ""),
            ("2026-11-28", ("2026-10-01", "2027-01-01"), ("2026-07-01", "2026-08-29"), ""),
            (
                "2026-11-28",
                ("2026-11-23", "2026-11-30"),
                ("2026-11-16", "2026-11-23"),
                "23 Nov – 29 Nov 2026 is not over: 23 Nov – 28 Nov 2026 is held against 16 Nov – 22 Nov 2026, which is \
                 longer.",
            ),
            (
                "2026-08-31",
                year,
                before,
                "The data on orders end on 2026-08-31: 1 Jan – 31 Aug 2026 is held against 2025, which is longer.",
            ),
            // Nothing of it is known at all, which is said elsewhere.
            ("2025-12-31", year, before, ""),
        ] {
            let plan = Plan {
                measures: vec![Measure::of(Value::Count("orders".into()))],
                time: Some(TimeFilter { field: None, window: window(one) }),
                comparison: Some(Comparison { with: window(other), align: None }),
                ..Plan::default()
            };
            let said = orders(last).in_part(&plan, day("2026-11-28").at(12, 0, 0, 0));
            assert_eq!(said.join(" "), says, "{one:?} {other:?}");
        }
    }

    #[test]
    fn units_of_a_course_that_are_not_whole_are_said() {
        let (all, year) = (("", ""), ("2026-01-01", "2027-01-01"));
        for (last, asked, shown, says) in [
            ("2026-11-28", year, Some(Shown::Change), "Nov 2026 is not over."),
            ("2026-11-28", all, Some(Shown::MovingAverage { rows: 3 }), "Nov 2026 is not over."),
            ("2026-11-28", year, None, ""),
            ("2026-11-28", year, Some(Shown::Cumulative), ""),
            (
                "2026-11-28",
                ("2024-03-15", "2024-05-15"),
                Some(Shown::ChangePercent),
                "Mar 2024 is not whole: only what is since 15 Mar 2024 counts. \
                 May 2024 is not whole: only what is before 15 May 2024 counts.",
            ),
            ("2026-11-28", ("2024-03-01", "2024-05-01"), Some(Shown::Change), ""),
            ("2026-10-31", all, Some(Shown::Change), ""),
            (
                "2026-10-30",
                all,
                Some(Shown::Change),
                "Oct 2026 may not be whole: the data on orders end on 2026-10-30.",
            ),
        ] {
            let by = Dimension { grain: Some(Grain::Month), ..Dimension::of(FieldRef::new("orders", "day")) };
            let plan = Plan {
                dimensions: vec![by],
                measures: vec![Measure { shown_as: shown, ..Measure::of(Value::Count("orders".into())) }],
                time: (asked != all).then(|| TimeFilter { field: None, window: window(asked) }),
                ..Plan::default()
            };
            let said = orders(last).in_part(&plan, day("2026-11-28").at(12, 0, 0, 0));
            assert_eq!(said.join(" "), says, "{asked:?} {last}");
        }
    }

    #[test]
    fn a_window_is_outside_when_it_touches_no_day_of_the_data() {
        let window = |start: &str, end: &str| {
            let at = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Window { start: at(start), end: at(end), ..Window::default() }
        };
        let (first, last) = ("2013-01-01".parse().unwrap(), "2013-12-31".parse().unwrap());
        for (start, end, outside) in [
            ("2014-01-01", "2015-01-01", true),
            ("2012-01-01", "2013-01-01", true),
            ("2013-12-31", "2014-01-01", false),
            ("2012-12-31", "2013-01-02", false),
            ("2012-12-31T00:00:00", "2013-01-01T00:00:01", false),
            ("2013-12-31T23:00:00", "2014-01-01T00:00:00", false),
            ("2014-01-01T00:00:00", "", true),
            ("", "2012-01-01", true),
            ("", "", false),
            ("2010-01-01", "", false),
        ] {
            assert_eq!(is_outside(&window(start, end), first, last), outside, "{start} to {end}");
        }
    }
}
