//! Whether a plan can mean anything in an ontology: every name is there, every position is in range, types fit. For
//! plans that were not made here: a language model's, and stored ones. What passes may still be refused by the compiler.

use crate::model::ontology::{Aggregation, DataType, Field, Ontology};
use crate::model::plan::{
    Bound, By, Comparator, Condition, Dimension, FieldRef, Grain, Literal, Measure, Plan, Shown, Value, Window,
};

mod fits;
mod names;
mod sense;
mod values;

pub(in crate::engine::agent) use names::{nearest, shown};
pub use sense::nonsense;

/// Most problems that are named at once.
const MAX_PROBLEMS: usize = 12;
/// Deepest nesting of measures and conditions.
const MAX_DEPTH: usize = 8;

/// Every reason why a plan cannot be used, each with its place in the plan, and the nearest names where one is wrong.
/// Empty when there is none.
pub fn validate(plan: &Plan, ontology: &Ontology) -> Vec<String> {
    let mut check = Check { ontology, plan, problems: Vec::new() };
    check.whole();
    if check.problems.is_empty() {
        check.problems.extend(nonsense(plan, ontology).into_iter().map(|problem| format!("plan: {problem}")));
    }
    check.problems.truncate(MAX_PROBLEMS);
    check.problems
}

struct Check<'a> {
    ontology: &'a Ontology,
    plan: &'a Plan,
    problems: Vec<String>,
}

impl<'a> Check<'a> {
    fn say(&mut self, at: &str, problem: impl AsRef<str>) {
        self.problems.push(format!("{at}: {}", problem.as_ref()));
    }

    fn whole(&mut self) {
        let plan = self.plan;
        if let Some(subject) = &plan.subject {
            self.dataset("subject", subject);
        } else if plan.measures.is_empty() {
            let first = plan.dimensions.first().map(|dimension| &dimension.field.dataset);
            match first {
                None => self.say("plan", "it asks for nothing: give measures, or the subject whose rows are listed"),
                Some(first) if plan.dimensions.iter().any(|other| !other.field.dataset.eq_ignore_ascii_case(first)) => {
                    self.say("subject", "say the dataset whose rows are listed: the dimensions are of several");
                }
                Some(_) => {}
            }
        }
        for (at, dimension) in plan.dimensions.iter().enumerate() {
            self.dimension(&format!("dimensions[{at}]"), dimension);
        }
        for (at, measure) in plan.measures.iter().enumerate() {
            let at = format!("measures[{at}]");
            self.measure(&at, measure, 0);
            if let Some(shown) = &measure.shown_as {
                self.shown(&format!("{at}.shown_as"), shown);
            }
        }
        self.conditions("filters", &plan.filters, 0);
        if let Some(time) = &plan.time {
            if let Some(field) = &time.field {
                self.time_field("time.field", field);
            }
            self.window("time.window", &time.window);
        }
        if let Some(comparison) = &plan.comparison {
            if plan.measures.is_empty() {
                self.say("comparison", "there is no measure to compare");
            }
            if comparison.with.start.is_none() || comparison.with.end.is_none() {
                self.say("comparison.with", "both start and end are needed");
            }
            self.window("comparison.with", &comparison.with);
        }
        self.finished();
    }

    /// What is about the columns of the answer.
    fn finished(&mut self) {
        let plan = self.plan;
        let (dimensions, measures) = (plan.dimensions.len(), plan.measures.len());
        for (at, having) in plan.having.iter().enumerate() {
            self.position(&format!("having[{at}].measure"), having.measure, measures, "measures");
            if let Bound::Overall(Aggregation::Count | Aggregation::CountDistinct) = having.value {
                self.say(&format!("having[{at}].value"), "a number is not compared with a count of rows");
            }
        }
        for (at, order) in plan.order.iter().enumerate() {
            let place = format!("order[{at}].by");
            match order.by {
                By::Dimension(number) => self.position(&place, number, dimensions, "dimensions"),
                By::Measure(number) => self.position(&place, number, measures, "measures"),
                By::Difference(number) | By::Change(number) => {
                    self.position(&place, number, measures, "measures");
                    if plan.comparison.is_none() {
                        self.say(&place, "there is no comparison");
                    }
                }
            }
        }
        if let Some(limit) = &plan.limit {
            if limit.rows == 0 {
                self.say("limit.rows", "at least 1");
            }
            for number in &limit.per {
                self.position("limit.per", *number, dimensions, "dimensions");
            }
        }
    }

    fn position(&mut self, at: &str, number: usize, count: usize, what: &str) {
        if number >= count {
            self.say(at, format!("position {number} is not there: the plan has {count} {what}, counted from 0"));
        }
    }

    fn dimension(&mut self, at: &str, dimension: &Dimension) {
        let Some(field) = self.field(&format!("{at}.field"), &dimension.field) else { return };
        if let Some(grain) = dimension.grain {
            let has_hours = matches!(field.datatype, DataType::DateTime | DataType::DateTimeTz | DataType::Time);
            if matches!(grain, Grain::Hour | Grain::HourOfDay) {
                if !has_hours && field.datatype != DataType::Opaque {
                    self.say(&format!("{at}.grain"), format!("{} has no hours", name_of(&dimension.field)));
                }
            } else if !field.holds_times() {
                self.say(&format!("{at}.grain"), format!("{} is no date", name_of(&dimension.field)));
            }
        }
        if let Some(width) = dimension.bucket {
            if width.get() <= 0.0 {
                self.say(&format!("{at}.bucket"), "the width of ranges is more than 0");
            }
            if !is_number(field.datatype) {
                self.say(&format!("{at}.bucket"), format!("{} is no number", name_of(&dimension.field)));
            }
        }
        if dimension.grain.is_some() && dimension.bucket.is_some() {
            self.say(at, "either grain or bucket");
        }
    }

    fn measure(&mut self, at: &str, measure: &Measure, depth: usize) {
        if depth > MAX_DEPTH {
            return self.say(at, format!("nested deeper than {MAX_DEPTH}"));
        }
        let inner = |check: &mut Self, at: &str, measure: &Measure| {
            check.measure(at, measure, depth + 1);
            if measure.shown_as.is_some() {
                check.say(&format!("{at}.shown_as"), "only a column of the answer is shown as something");
            }
        };
        let value = format!("{at}.value");
        match &measure.value {
            Value::Metric(name) => self.metric(&format!("{value}.metric"), name),
            Value::Count(name) => self.dataset(&format!("{value}.count"), name),
            Value::Aggregate { function, field } => {
                let place = format!("{value}.aggregate");
                if let Some(found) = self.field(&format!("{place}.field"), field) {
                    self.aggregate(&place, *function, found, field);
                }
            }
            Value::Days { function, from, to } => {
                let place = format!("{value}.days");
                for (end, named) in [("from", from), ("to", to)] {
                    let place = format!("{place}.{end}");
                    if self.field(&place, named).is_some_and(|field| !field.datatype.is_calendar()) {
                        self.say(&place, format!("{} is no date", name_of(named)));
                    }
                }
                if matches!(function, Aggregation::Count | Aggregation::CountDistinct) {
                    self.say(&place, "days are added up or averaged, not counted");
                }
            }
            Value::Ratio { numerator, denominator } => {
                inner(self, &format!("{value}.ratio.numerator"), numerator);
                inner(self, &format!("{value}.ratio.denominator"), denominator);
            }
            Value::Sum(parts) => {
                if parts.is_empty() {
                    self.say(&format!("{value}.sum"), "there is nothing to add up");
                }
                for (number, part) in parts.iter().enumerate() {
                    inner(self, &format!("{value}.sum[{number}]"), part);
                }
            }
            Value::Difference(left, right) => {
                inner(self, &format!("{value}.difference[0]"), left);
                inner(self, &format!("{value}.difference[1]"), right);
            }
            Value::Over { measure, by, .. } => {
                inner(self, &format!("{value}.over.measure"), measure);
                if by.is_empty() {
                    self.say(&format!("{value}.over.by"), "say what each number is for");
                }
                for (number, dimension) in by.iter().enumerate() {
                    self.dimension(&format!("{value}.over.by[{number}]"), dimension);
                }
            }
            Value::Number(_) => {}
        }
        self.conditions(&format!("{at}.filters"), &measure.filters, depth + 1);
    }

    fn aggregate(&mut self, at: &str, function: Aggregation, field: &Field, named: &FieldRef) {
        let computes =
            matches!(function, Aggregation::Sum | Aggregation::Avg | Aggregation::Median | Aggregation::Stddev);
        if computes && !is_number(field.datatype) {
            let type_name = format!("{:?}", field.datatype);
            self.say(at, format!("{} is a {type_name}, not a number", name_of(named)));
        }
    }

    fn shown(&mut self, at: &str, shown: &Shown) {
        let dimensions = &self.plan.dimensions;
        match shown {
            Shown::Share { within } => {
                for number in within {
                    self.position(&format!("{at}.share.within"), *number, dimensions.len(), "dimensions");
                }
            }
            Shown::Cumulative | Shown::Change | Shown::ChangePercent | Shown::MovingAverage { .. } => {
                let ontology = self.ontology;
                let is_time =
                    |dimension: &Dimension| dimension.grain.is_some() || dimension.field.is_calendar(ontology);
                if !dimensions.iter().any(is_time) {
                    self.say(at, "this needs a dimension of time");
                }
                if matches!(shown, Shown::MovingAverage { rows: 0 | 1 }) {
                    self.say(at, "a moving average is of at least 2 rows");
                }
            }
        }
    }

    fn conditions(&mut self, at: &str, conditions: &[Condition], depth: usize) {
        for (number, condition) in conditions.iter().enumerate() {
            self.condition(&format!("{at}[{number}]"), condition, depth);
        }
    }

    fn condition(&mut self, at: &str, condition: &Condition, depth: usize) {
        if depth > MAX_DEPTH {
            return self.say(at, format!("nested deeper than {MAX_DEPTH}"));
        }
        match condition {
            Condition::Compare { field, op, value } => {
                let at = format!("{at}.compare");
                if let Some(found) = self.field(&format!("{at}.field"), field) {
                    self.literal(&format!("{at}.value"), found, field, value);
                    let is_equality = matches!(op, Comparator::Equal | Comparator::NotEqual);
                    if found.datatype == DataType::Boolean && !is_equality {
                        self.say(&format!("{at}.op"), "true and false are only equal or not");
                    }
                }
            }
            Condition::CompareFields { left, right, .. } => {
                let at = format!("{at}.compare_fields");
                let found = (self.field(&format!("{at}.left"), left), self.field(&format!("{at}.right"), right));
                if let (Some(one), Some(other)) = found
                    && !fits::comparable(one.datatype, other.datatype)
                {
                    self.say(&at, format!("{} and {} are of different types", name_of(left), name_of(right)));
                }
            }
            Condition::In { field, values, .. } => {
                let at = format!("{at}.in");
                if values.is_empty() {
                    self.say(&format!("{at}.values"), "at least one");
                }
                if let Some(found) = self.field(&format!("{at}.field"), field) {
                    for (number, value) in values.iter().enumerate() {
                        self.literal(&format!("{at}.values[{number}]"), found, field, value);
                    }
                }
            }
            Condition::Like { field, text, .. } => {
                let at = format!("{at}.like");
                let found = self.field(&format!("{at}.field"), field);
                if found.is_some_and(|found| !matches!(found.datatype, DataType::String | DataType::Opaque)) {
                    self.say(&at, format!("{} is no text", name_of(field)));
                }
                if text.is_empty() {
                    self.say(&format!("{at}.text"), "at least one character");
                }
            }
            Condition::IsNull { field, .. } => {
                self.field(&format!("{at}.is_null.field"), field);
            }
            Condition::Within { field, window, .. } => {
                let at = format!("{at}.within");
                self.time_field(&format!("{at}.field"), field);
                if window.start.is_none() && window.end.is_none() {
                    self.say(&format!("{at}.window"), "start or end, or both");
                }
                self.window(&format!("{at}.window"), window);
            }
            Condition::OnDays { field, days, .. } => {
                let at = format!("{at}.on_days");
                self.time_field(&format!("{at}.field"), field);
                if days.is_empty() || days.iter().any(|day| !(1..=7).contains(day)) {
                    self.say(&format!("{at}.days"), "numbers from 1 for Monday to 7 for Sunday, at least one");
                }
            }
            Condition::AtHours { field, from, to, .. } => self.hours(&format!("{at}.at_hours"), field, *from, *to),
            Condition::Segment { name, .. } => self.segment(&format!("{at}.segment.name"), name),
            Condition::Exists { of, dataset, via, filters, .. } => {
                let at = format!("{at}.exists");
                self.dataset(&format!("{at}.of"), of);
                self.dataset(&format!("{at}.dataset"), dataset);
                self.via(&format!("{at}.via"), via);
                self.conditions(&format!("{at}.filters"), filters, depth + 1);
            }
            Condition::Measured { of, measure, value, .. } => {
                let at = format!("{at}.measured");
                self.dataset(&format!("{at}.of"), of);
                self.measure(&format!("{at}.measure"), measure, depth + 1);
                if measure.shown_as.is_some() {
                    self.say(&format!("{at}.measure.shown_as"), "only a column of the answer is shown as something");
                }
                if !fits::is_number(value) {
                    self.say(&format!("{at}.value"), "a number is needed");
                }
            }
            Condition::AgainstOverall { field, function, .. } => {
                let at = format!("{at}.against_overall");
                if let Some(found) = self.field(&format!("{at}.field"), field) {
                    self.aggregate(&at, *function, found, field);
                }
            }
            Condition::Any(conditions) => self.group(&format!("{at}.any"), conditions, depth),
            Condition::All(conditions) => self.group(&format!("{at}.all"), conditions, depth),
            Condition::Not(condition) => self.condition(&format!("{at}.not"), condition, depth + 1),
        }
    }

    fn hours(&mut self, at: &str, field: &FieldRef, from: u8, to: u8) {
        self.time_field(&format!("{at}.field"), field);
        if from > 23 {
            self.say(&format!("{at}.from"), "an hour from 0 to 23");
        }
        if !(1..=24).contains(&to) {
            self.say(&format!("{at}.to"), "an hour from 1 to 24");
        }
        if self.field(&format!("{at}.field"), field).is_some_and(|field| field.datatype == DataType::Date) {
            self.say(&format!("{at}.field"), format!("{} holds days without a time", name_of(field)));
        }
    }

    fn group(&mut self, at: &str, conditions: &[Condition], depth: usize) {
        if conditions.is_empty() {
            self.say(at, "at least one condition");
        }
        self.conditions(at, conditions, depth + 1);
    }

    fn literal(&mut self, at: &str, field: &Field, named: &FieldRef, value: &Literal) {
        if let Some(expected) = fits::misfit(field.datatype, value) {
            self.say(at, format!("{} needs {expected}", name_of(named)));
        }
    }

    fn time_field(&mut self, at: &str, named: &FieldRef) {
        if let Some(field) = self.field(at, named)
            && !field.datatype.is_calendar()
            && !field.is_time
        {
            self.say(at, format!("{} is no time", name_of(named)));
        }
    }

    fn window(&mut self, at: &str, window: &Window) {
        if let Some(problem) = fits::bad_window(window) {
            self.say(at, problem);
        }
    }
}

/// Types that are not known may be numbers.
fn is_number(datatype: DataType) -> bool {
    datatype.is_number() || datatype == DataType::Opaque
}

fn name_of(field: &FieldRef) -> String {
    names::shown(&format!("{}.{}", field.dataset, field.field))
}

#[cfg(test)]
mod tests;
