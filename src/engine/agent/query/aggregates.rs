//! Aggregates: of rows, of a field, of the days between two dates, of other numbers.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::names::{Path, dataset, datasets, metric};
use super::problem::Wrong;
use super::words::{function_name, name};
use crate::engine::agent::plan::validate::shown;
use crate::model::ontology::{Additivity, Aggregation};
use crate::model::plan::{Measure, Value};

impl Reader<'_> {
    /// What is between the parentheses of an aggregate.
    pub(super) fn aggregate(&mut self, function: Aggregation) -> Read<Measure> {
        if function == Aggregation::Count {
            return self.counted_rows();
        }
        self.eat(&["distinct"]);
        if self.is(0, &["case"]) {
            return self.case(function);
        }
        if let Some(days) = self.days(function)? {
            return Ok(days);
        }
        let ends = |length: usize| self.is_sign(length, ")") || self.kind(length).is_none();
        if self.path_length().is_some_and(ends) {
            let path = self.path()?;
            return self.aggregate_of(function, &path);
        }
        self.over(function)
    }

    fn aggregate_of(&mut self, function: Aggregation, path: &Path) -> Read<Measure> {
        let found = self.find_field(path);
        let known = path.single().and_then(|name| metric(self.ontology, name));
        if let (Err(_), Some(metric)) = (&found, known) {
            if function == Aggregation::Sum && metric.additivity == Additivity::Additive {
                return Ok(Measure::metric(&metric.name));
            }
            let (name, function) = (name(&metric.name), function_name(function));
            let message = format!(
                "{name} is a metric, and a number already: write `{name}` alone, or `{function}({name} per dataset.field)` for that of \
                 its numbers for each value of a field"
            );
            return Err(Wrong::at(path.at, message));
        }
        let field = self.field_at(path);
        Ok(Measure::of(Value::Aggregate { function, field }))
    }

    fn counted_rows(&mut self) -> Read<Measure> {
        let at = self.here();
        let is_distinct = self.eat(&["distinct"]);
        let one = matches!(self.kind(0), Some(Kind::Number(one)) if *one == 1.0);
        if !is_distinct && (self.is_sign(0, "*") || self.is_sign(0, ")") || one && self.is_sign(1, ")")) {
            self.skip(usize::from(!self.is_sign(0, ")")));
            let Some(dataset) = self.the_dataset().or_else(|| self.the_counted()) else {
                let all = datasets(self.ontology).take(6).map(|entity| format!("count({})", entity.name));
                return Err(Wrong::at(at, "say the rows of which dataset are counted").near(all.collect()));
            };
            return Ok(Measure::of(Value::Count(dataset)));
        }
        let function = if is_distinct { Aggregation::CountDistinct } else { Aggregation::Count };
        if self.is(0, &["case"]) {
            return self.case(function);
        }
        if let Some(days) = self.days(function)? {
            return Ok(days);
        }
        let is_all = |length: usize| self.is_sign(length, ".") && self.is_sign(length + 1, "*");
        let length = self.path_length();
        let with_star = length.is_some_and(is_all);
        if length.is_some_and(|length| with_star || self.is_sign(length, ")") || self.kind(length).is_none()) {
            let path = self.path()?;
            self.skip(if with_star { 2 } else { 0 });
            let counted = path.single().and_then(|name| dataset(self.ontology, name));
            let is_field = || !with_star && self.find_field(&path).is_ok();
            return match counted {
                Some(entity) if entity.name.eq_ignore_ascii_case(&path.text()) || !is_field() => {
                    Ok(Measure::of(Value::Count(entity.name.clone())))
                }
                _ if with_star
                    || path.single().is_some() && !is_field() && metric(self.ontology, &path.text()).is_none() =>
                {
                    let near = self.anything_near(&path.text());
                    Err(Wrong::at(path.at, format!("there is no dataset and no field {}", shown(&path.text())))
                        .near(near))
                }
                _ => self.aggregate_of(function, &path),
            };
        }
        self.over(function)
    }

    /// What is counted by the only measure that counts rows.
    fn the_counted(&self) -> Option<String> {
        let mut counted = self.around.measures.iter().filter_map(|measure| match &measure.value {
            Value::Count(dataset) => Some(dataset),
            _ => None,
        });
        counted.next().filter(|_| counted.next().is_none()).cloned()
    }

    /// `count(order) per order.placed by day`: an aggregate of numbers.
    fn over(&mut self, function: Aggregation) -> Read<Measure> {
        let at = self.here();
        let measure = self.measure()?;
        if !self.eat(&["per"]) {
            let message = "an aggregate is of one field, `sum(dataset.field)`, or of the numbers for each value of a field, \
                           `avg(count(dataset) per dataset.field)`; what is computed of a row's fields is a field or metric of the ontology";
            return Err(Wrong::at(at, message));
        }
        let mut by = vec![self.dimension()?];
        while self.eat_sign(",") {
            by.push(self.dimension()?);
        }
        Ok(Measure::of(Value::Over { function, measure: Box::new(measure), by }))
    }

    /// `days(from, to)`, and how that is written elsewhere.
    fn days(&mut self, function: Aggregation) -> Read<Option<Measure>> {
        let Some((from, to)) = self.two_days()? else { return Ok(None) };
        Ok(Some(Measure::of(Value::Days { function, from, to })))
    }
}
