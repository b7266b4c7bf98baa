//! What is computed of single rows inside of an aggregate: the days between two dates, and `case`.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Condition, FieldRef, Measure, Value};

const CASE: &str =
    "write a number under a condition as `count(dataset) filter (where …)` or `sum(dataset.field) filter (where …)`";

impl Reader<'_> {
    /// `days(from, to)`, `date_diff('day', from, to)`, `datediff(to, from)`, `to - from`.
    pub(super) fn two_days(&mut self) -> Read<Option<(FieldRef, FieldRef)>> {
        if self.is_sign(1, "(") && self.is(0, &["days", "days_between", "date_diff", "datediff"]) {
            let is_called_days = self.is(0, &["days", "days_between"]);
            self.skip(2);
            let unit = match self.kind(0) {
                Some(Kind::Text(unit) | Kind::Word(unit)) if self.is_sign(1, ",") && !is_called_days => {
                    Some(unit.to_lowercase())
                }
                _ => None,
            };
            let unit = unit.filter(|unit| is_unit(unit));
            if let Some(unit) = &unit {
                if !["day", "days", "d", "dd"].contains(&unit.as_str()) {
                    return Err(self.wrong_here("times between two dates are counted in days: `days(from, to)`"));
                }
                self.skip(2);
            }
            let first = self.field()?;
            self.need_sign(",", "between the two dates")?;
            let second = self.field()?;
            self.need_sign(")", "after the two dates")?;
            // Without a unit it is that of MySQL, which has the later date first.
            return Ok(Some(if is_called_days || unit.is_some() { (first, second) } else { (second, first) }));
        }
        if !self.path_length().is_some_and(|length| self.is_sign(length, "-")) {
            return Ok(None);
        }
        let place = self.place();
        let to = self.path()?;
        self.skip(1);
        let from = if self.path_length().is_some() { self.path().ok() } else { None };
        let fields = from.and_then(|from| Some((self.find_field(&from).ok()?, self.find_field(&to).ok()?)));
        let fields = fields.filter(|(from, to)| self.is_time(from) && self.is_time(to) && self.is_sign(0, ")"));
        if fields.is_none() {
            self.back_to(place);
        }
        Ok(fields)
    }

    /// `case when condition then x else y end` as a number of the rows that meet the condition.
    pub(super) fn case(&mut self, function: Aggregation) -> Read<Measure> {
        let at = self.here();
        self.skip(1);
        self.need("when", "after `case`")?;
        let filters = self.conditions()?;
        self.need("then", "after the condition of `case when`")?;
        let is_one = matches!(self.kind(0), Some(Kind::Number(one)) if *one == 1.0);
        let field = if is_one {
            self.skip(1);
            None
        } else {
            Some(self.field().map_err(|wrong| Wrong::at(wrong.at, CASE))?)
        };
        let is_zero = self.eat(&["else"]) && {
            let zero = matches!(self.kind(0), Some(Kind::Number(zero)) if *zero == 0.0);
            if !zero && !self.is(0, &["null"]) {
                return Err(self.wrong_here(CASE));
            }
            self.skip(1);
            zero
        };
        self.need("end", "after `case when … then …`")?;
        let counts =
            matches!(function, Aggregation::Sum if field.is_none()) || function == Aggregation::Count && !is_zero;
        let value = match field {
            None if counts => Value::Count(self.rows_of(&filters, at)?),
            None if function == Aggregation::Avg && is_zero => {
                let count = Value::Count(self.rows_of(&filters, at)?);
                let numerator = Box::new(Measure { filters, ..Measure::of(count.clone()) });
                return Ok(Measure::of(Value::Ratio { numerator, denominator: Box::new(Measure::of(count)) }));
            }
            Some(field) if !is_zero || function == Aggregation::Sum => Value::Aggregate { function, field },
            _ => return Err(Wrong::at(at, CASE)),
        };
        Ok(Measure { filters, ..Measure::of(value) })
    }

    /// The dataset whose rows a condition tells apart.
    fn rows_of(&self, filters: &[Condition], at: usize) -> Read<String> {
        if let Some(each) = &self.around.each {
            return Ok(each.clone());
        }
        let mut named =
            filters.iter().flat_map(Condition::fields).filter(|field| field.via.is_empty()).map(|field| &field.dataset);
        let first = named.next().cloned();
        let is_one = named.all(|dataset| Some(dataset) == first.as_ref());
        first.filter(|_| is_one).or_else(|| self.the_dataset()).ok_or_else(|| Wrong::at(at, CASE))
    }
}

/// Whether a word is a unit of what is between two dates.
fn is_unit(word: &str) -> bool {
    [
        "d", "dd", "day", "days", "week", "weeks", "month", "months", "year", "years", "hour", "hours", "minute",
        "minutes", "second",
    ]
    .contains(&word)
}
