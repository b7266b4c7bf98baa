//! Questions about times of which there are no data.

use jiff::civil::{Date, DateTime};

use super::Prepared;
use crate::engine::agent::explainer::describe;
use crate::engine::render::nouns::plural;
use crate::model::ontology::Entity;
use crate::model::plan::{Measure, Plan, Value, Window};

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
        let placed = match plan.time.as_ref()?.field.as_ref() {
            Some(field) => vec![(field.dataset.clone(), Some(field.field.clone()))],
            None => self.times(plan),
        };
        let mut said = Vec::new();
        for (dataset, field) in placed {
            let (first, last) = match field {
                Some(field) => self.extent_of(&dataset, &field),
                None => self.extent(&dataset),
            }?;
            if !is_outside(window, first, last) {
                return None;
            }
            let noun = self.ontology.entity(&dataset).map_or(dataset, Entity::noun);
            let sentence = format!("The data on {} are from {first} to {last}.", plural(&noun));
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The datasets whose times place the rows of a plan, and where it is not their default one, the field.
    fn times(&self, plan: &Plan) -> Vec<(String, Option<String>)> {
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

/// Whether a window ends before the first day or begins after the last one.
fn is_outside(window: &Window, first: Date, last: Date) -> bool {
    let at = |end: &Option<String>| {
        let text = end.as_deref()?;
        text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|day| day.at(0, 0, 0, 0))).ok()
    };
    let before = at(&window.end).is_some_and(|end| end <= first.at(0, 0, 0, 0));
    let after = at(&window.start).is_some_and(|start| start.date() > last);
    before || after
}

#[cfg(test)]
mod tests {
    use super::*;

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
