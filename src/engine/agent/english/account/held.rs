//! What a plan holds: all that words of a question may have left in it. The walk names every part of a plan, so that a
//! new one does not compile before it is said here what it holds.

use std::collections::BTreeSet;

use super::super::resolve::Resolver;
use crate::model::ontology::{Aggregation, in_words};
use crate::model::plan::f64bits::F64;
use crate::model::plan::{
    Bound, By, Comparator, Comparison, Condition, Dimension, FieldRef, Grain, Having, Limit, Literal, Measure, Order,
    Plan, Shown, TimeFilter, Value, Window,
};

/// See the module. Positions are those in the ontology.
#[derive(Default)]
pub(super) struct Held<'p> {
    pub metrics: BTreeSet<usize>,
    pub datasets: BTreeSet<usize>,
    pub fields: BTreeSet<(usize, usize)>,
    /// Fields that are columns, and those that numbers are taken for each of.
    pub columns: BTreeSet<(usize, usize)>,
    pub segments: BTreeSet<usize>,
    /// Names of relationships.
    pub ways: BTreeSet<&'p str>,
    /// Ways that are taken: to a dataset, by relationships, and from which dataset where it is not the plan's.
    pub taken: Vec<(usize, &'p [String], Option<usize>)>,
    pub texts: Vec<&'p str>,
    pub numbers: Vec<f64>,
    /// Bounds on numbers, with how they bound.
    pub bounds: Vec<(Comparator, Option<f64>)>,
    pub windows: Vec<&'p Window>,
    pub days: Vec<u8>,
    pub hours: Vec<(u8, u8)>,
    pub grains: BTreeSet<Grain>,
    pub functions: Vec<Aggregation>,
    pub shown: Vec<&'p Shown>,
    pub limit: Option<&'p Limit>,
    /// How many conditions say what is not so.
    pub negations: usize,
    pub is_part: bool,
    pub is_sum: bool,
    pub is_difference: bool,
    pub is_in_days: bool,
    pub is_over: bool,
    pub is_ordered: bool,
    /// Whether rows are in the order of a time, or an extreme is one of a time.
    pub is_by_time: bool,
    pub is_compared: bool,
    pub is_null: bool,
    /// Datasets of which there must be a row, or none.
    pub existing: BTreeSet<usize>,
    /// Whether a row of several must meet a condition.
    pub some_meet: bool,
}

impl<'p> Held<'p> {
    pub(super) fn of(plan: &'p Plan, by: &Resolver<'_>) -> Self {
        let mut held = Held::default();
        let Plan { subject, dimensions, measures, filters, time, comparison, having, order, limit, distinct: _ } = plan;
        held.dataset(subject.as_deref().unwrap_or_default(), by);
        dimensions.iter().for_each(|dimension| held.dimension(dimension, by));
        measures.iter().for_each(|measure| held.measure(measure, by));
        filters.iter().for_each(|filter| held.condition(filter, by));
        if let Some(TimeFilter { field, window }) = time {
            field.iter().for_each(|field| held.field(field, by));
            held.windows.push(window);
        }
        if let Some(Comparison { with, align: _ }) = comparison {
            held.windows.push(with);
            held.is_compared = true;
        }
        for Having { measure: _, op, value } in having {
            let number = match value {
                Bound::Number(number) => Some(number.get()),
                Bound::Overall(function) => {
                    held.functions.push(*function);
                    None
                }
            };
            held.bound(*op, number);
        }
        for Order { by: key, descending: _ } in order {
            held.is_ordered = true;
            let column = match key {
                By::Dimension(at) => dimensions.get(*at),
                By::Measure(_) | By::Difference(_) | By::Change(_) => None,
            };
            held.is_by_time |= column.is_some_and(|dimension| is_time(&dimension.field, by));
        }
        if let Some(limit @ Limit { rows, per: _, with_ties: _, skip }) = limit {
            held.numbers.extend([f64::from(*rows), f64::from(*skip) + 1.0]);
            held.limit = Some(limit);
        }
        held
    }

    fn dataset(&mut self, name: &str, by: &Resolver<'_>) {
        self.datasets.extend(by.position(name));
    }

    fn field(&mut self, field: &'p FieldRef, by: &Resolver<'_>) {
        let FieldRef { dataset, field, via } = field;
        self.ways.extend(via.iter().map(String::as_str));
        self.taken.extend(by.position(dataset).map(|to| (to, via.as_slice(), None)));
        self.named(dataset, field, by);
    }

    fn named(&mut self, dataset: &str, field: &str, by: &Resolver<'_>) -> Option<(usize, usize)> {
        let d = by.position(dataset)?;
        self.datasets.insert(d);
        let of = by.ontology.datasets.get(d)?;
        let f = of.fields.iter().position(|known| known.name.eq_ignore_ascii_case(field))?;
        self.fields.insert((d, f));
        Some((d, f))
    }

    /// The fields that an expression of the ontology speaks of.
    fn expression(&mut self, text: &str, by: &Resolver<'_>, depth: usize) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            match word.split_once('.') {
                Some((dataset, field)) => drop(self.named(dataset, field, by)),
                None if depth < 4 => self.metric(word, by, depth + 1),
                None => {}
            }
        }
    }

    fn metric(&mut self, name: &str, by: &Resolver<'_>, depth: usize) {
        let metrics = &by.ontology.metrics;
        let Some(at) = metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name)) else { return };
        self.metrics.insert(at);
        let metric = &metrics[at];
        self.expression(&metric.expression, by, depth);
        metric.filters.iter().for_each(|filter| self.expression(filter, by, depth));
    }

    fn dimension(&mut self, dimension: &'p Dimension, by: &Resolver<'_>) {
        let Dimension { field, grain, bucket, label: _ } = dimension;
        self.field(field, by);
        let own = self.named(&field.dataset, &field.field, by);
        self.columns.extend(own);
        self.grains.extend(grain);
        self.numbers.extend(bucket.map(F64::get));
    }

    fn measure(&mut self, measure: &'p Measure, by: &Resolver<'_>) {
        let Measure { value, filters, shown_as, label: _ } = measure;
        filters.iter().for_each(|filter| self.condition(filter, by));
        if let Some(shown) = shown_as {
            if let Shown::MovingAverage { rows } = shown {
                self.numbers.push(f64::from(*rows));
            }
            self.shown.push(shown);
        }
        match value {
            Value::Metric(name) => self.metric(name, by, 0),
            Value::Count(name) => {
                self.functions.push(Aggregation::Count);
                self.dataset(name, by);
            }
            Value::Aggregate { function, field } => {
                self.functions.push(*function);
                self.is_by_time |= matches!(function, Aggregation::Max | Aggregation::Min) && is_time(field, by);
                self.field(field, by);
            }
            Value::Ratio { numerator, denominator } => {
                self.is_part = true;
                self.measure(numerator, by);
                self.measure(denominator, by);
            }
            Value::Sum(parts) => {
                self.is_sum = true;
                parts.iter().for_each(|part| self.measure(part, by));
            }
            Value::Difference(first, second) => {
                self.is_difference = true;
                self.measure(first, by);
                self.measure(second, by);
            }
            Value::Over { function, measure, by: each } => {
                self.is_over = true;
                self.functions.push(*function);
                self.measure(measure, by);
                each.iter().for_each(|each| self.dimension(each, by));
            }
            Value::Days { function, from, to } => {
                self.functions.push(*function);
                self.is_difference = true;
                self.is_in_days = true;
                self.field(from, by);
                self.field(to, by);
            }
            Value::Number(number) => self.numbers.push(number.get()),
        }
    }

    fn bound(&mut self, op: Comparator, number: Option<f64>) {
        self.negations += usize::from(op == Comparator::NotEqual || number == Some(0.0));
        self.numbers.extend(number);
        self.bounds.push((op, number));
    }

    /// The number that it is, if it is one.
    fn literal(&mut self, literal: &'p Literal) -> Option<f64> {
        match literal {
            Literal::Bool(yes) => self.negations += usize::from(!yes),
            Literal::Number(number) => {
                self.numbers.push(number.get());
                return Some(number.get());
            }
            Literal::Text(text) => self.texts.push(text),
        }
        None
    }

    fn condition(&mut self, condition: &'p Condition, by: &Resolver<'_>) {
        match condition {
            Condition::Compare { field, op, value } => {
                self.field(field, by);
                let number = self.literal(value);
                self.bound(*op, number);
            }
            Condition::CompareFields { left, op, right } => {
                self.field(left, by);
                self.field(right, by);
                self.bound(*op, None);
            }
            Condition::In { field, values, negated } => {
                self.field(field, by);
                for value in values {
                    self.literal(value);
                }
                self.negations += usize::from(*negated);
            }
            Condition::Like { field, pattern: _, text, negated } => {
                self.field(field, by);
                self.texts.push(text);
                self.negations += usize::from(*negated);
            }
            Condition::IsNull { field, negated } => {
                self.field(field, by);
                self.is_null = true;
                self.negations += usize::from(!negated);
            }
            Condition::Within { field, window, negated } => {
                self.field(field, by);
                self.windows.push(window);
                self.negations += usize::from(*negated);
            }
            Condition::OnDays { field, days, negated } => {
                self.field(field, by);
                self.days.extend(days);
                self.negations += usize::from(*negated);
            }
            Condition::AtHours { field, from, to, negated } => {
                self.field(field, by);
                self.hours.push((*from, *to));
                self.negations += usize::from(*negated);
            }
            Condition::Segment { name, negated } => {
                self.segment(name, by);
                self.negations += usize::from(*negated);
            }
            Condition::Exists { of, dataset, via, filters, negated } => {
                self.dataset(of, by);
                self.dataset(dataset, by);
                self.ways.extend(via.iter().map(String::as_str));
                self.taken.extend(by.position(dataset).map(|to| (to, via.as_slice(), by.position(of))));
                filters.iter().for_each(|filter| self.condition(filter, by));
                self.existing.extend(by.position(dataset));
                self.some_meet |= !negated && !filters.is_empty();
                self.negations += usize::from(*negated);
            }
            Condition::Measured { of, measure, op, value } => {
                self.dataset(of, by);
                self.measure(measure, by);
                let number = self.literal(value);
                self.bound(*op, number);
            }
            Condition::AgainstOverall { field, op, function } => {
                self.field(field, by);
                self.functions.push(*function);
                self.bound(*op, None);
            }
            Condition::Any(conditions) | Condition::All(conditions) => {
                conditions.iter().for_each(|condition| self.condition(condition, by));
            }
            Condition::Not(condition) => {
                self.negations += 1;
                self.condition(condition, by);
            }
        }
    }

    fn segment(&mut self, name: &str, by: &Resolver<'_>) {
        let segments = &by.ontology.segments;
        let Some(at) = segments.iter().position(|segment| segment.name.eq_ignore_ascii_case(name)) else { return };
        self.segments.insert(at);
        segments[at].datasets.iter().for_each(|dataset| self.dataset(dataset, by));
        self.expression(&segments[at].expression, by, 0);
    }
}

/// Whether a field is a time, or the number of a year.
fn is_time(field: &FieldRef, by: &Resolver<'_>) -> bool {
    by.ontology
        .field(&field.dataset, &field.field)
        .is_some_and(|own| own.datatype.is_calendar() || in_words(&own.name).split(' ').any(|word| word == "year"))
}
