//! Numbers in a text: metrics, aggregates, and what is computed of them.
//!
//! `revenue`, `count(order)`, `count(distinct order.city)`, `avg(days(order.placed, order.shipped))`, `a / b`, `a + b`,
//! `a - b`, `avg(count(order) per order.placed by day)`, `share(revenue within order.city)`, `cumulative(m)`,
//! `change(m)`, `change_percent(m)`, `moving_average(m, 3)`, `m filter (where …)`, `m as "Average"`.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::names::{Path, aggregation, dataset, metric};
use super::problem::Wrong;
use crate::engine::agent::plan::validate::shown;
use crate::model::plan::f64bits::F64;
use crate::model::plan::{Measure, Shown, Value};

/// Functions that change how a number looks, and not what it is.
const LOOKS: [&str; 4] = ["round", "cast", "ifnull", "coalesce"];

const NO_PRODUCT: &str = "numbers are divided, added and subtracted, not multiplied: a ratio and a share are parts of 1 as they \
                          are, without `* 100`; what a row's fields multiply to is a metric or a field of the ontology, or SQL for dragoman_sql";

impl Reader<'_> {
    /// A number with its conditions and its heading.
    pub(super) fn measure(&mut self) -> Read<Measure> {
        self.inside(|reader| {
            let mut measure = reader.sum()?;
            if reader.eat(&["where"]) {
                measure.filters.extend(reader.conditions()?);
            }
            if let Some(label) = reader.label()? {
                measure.label = Some(label);
            }
            Ok(measure)
        })
    }

    /// `as "Average"`; without quotes up to the end of the text.
    pub(super) fn label(&mut self) -> Read<Option<String>> {
        if !self.eat(&["as"]) {
            return Ok(None);
        }
        if let Some(Kind::Name(label) | Kind::Text(label)) = self.kind(0) {
            let label = label.clone();
            self.skip(1);
            return Ok(Some(label));
        }
        let place = self.place();
        let mut count = 0;
        while matches!(self.kind(count), Some(Kind::Word(_) | Kind::Number(_) | Kind::Date(_))) {
            count += 1;
        }
        let is_rest = self.kind(count).is_none();
        self.skip(if is_rest { count } else { 1 });
        match self.place() > place && (is_rest || matches!(self.kind_at(place), Some(Kind::Word(_)))) {
            true => Ok(Some(self.since(place))),
            false => Err(self.wrong_here("after `as` there is a heading, such as `as \"Average\"`")),
        }
    }

    pub(super) fn sum(&mut self) -> Read<Measure> {
        let mut found = self.quotient()?;
        // Whether it was added up here, and not in parentheses.
        let mut is_sum = false;
        loop {
            let is_plus = self.eat_sign("+");
            if !is_plus && !self.eat_sign("-") {
                return Ok(found);
            }
            let next = self.quotient()?;
            found = match found {
                Measure { value: Value::Sum(mut parts), .. } if is_plus && is_sum => {
                    parts.push(next);
                    Measure::of(Value::Sum(parts))
                }
                first if is_plus => Measure::of(Value::Sum(vec![first, next])),
                first => Measure::of(Value::Difference(Box::new(first), Box::new(next))),
            };
            is_sum = is_plus;
        }
    }

    fn quotient(&mut self) -> Read<Measure> {
        let mut found = self.factor()?;
        loop {
            if self.is_sign(0, "*") || self.is_sign(0, "%") {
                let (before, after) = (is_one(&found), matches!(self.kind(1), Some(Kind::Number(one)) if *one == 1.0));
                if !self.is_sign(0, "*") || !before && !after {
                    return Err(self.wrong_here(NO_PRODUCT));
                }
                self.skip(1);
                let next = self.factor()?;
                found = if before { next } else { found };
            } else if self.eat_sign("/") {
                let next = self.factor()?;
                found = Measure::of(Value::Ratio { numerator: Box::new(found), denominator: Box::new(next) });
            } else {
                return Ok(found);
            }
        }
    }

    /// A single number with the conditions that are its own.
    fn factor(&mut self) -> Read<Measure> {
        let mut measure = self.plain()?;
        loop {
            if self.is(0, &["filter"]) && self.is_sign(1, "(") {
                self.skip(2);
                self.eat(&["where"]);
                measure.filters.extend(self.conditions()?);
                self.need_sign(")", "after the conditions of `filter (where …`")?;
            } else if self.is_sign(0, "::") && matches!(self.kind(1), Some(Kind::Word(_))) {
                self.skip(2);
            } else {
                return Ok(measure);
            }
        }
    }

    fn plain(&mut self) -> Read<Measure> {
        if self.eat_sign("(") {
            let measure = self.measure()?;
            self.need_sign(")", "after what is in parentheses")?;
            return Ok(measure);
        }
        let is_negative = self.eat_sign("-");
        if let Some(Kind::Number(number)) = self.kind(0) {
            let number = F64::new(if is_negative { -number } else { *number });
            let number = number.ok_or_else(|| self.wrong_here("this is no number that can be computed with"))?;
            self.skip(1);
            return Ok(Measure::of(Value::Number(number)));
        }
        if is_negative {
            return Err(self.wrong_here("a number is missing after `-`: what is less than another is written `a - b`"));
        }
        if self.is(0, &["case"]) {
            return Err(
                self.wrong_here("a `case` is inside of `sum` or `count`; better is `count(dataset) filter (where …)`")
            );
        }
        match self.word(0).filter(|_| self.is_sign(1, "(")) {
            Some(function) => self.inside(|reader| reader.call(&function)),
            None => self.named(),
        }
    }

    /// A metric by its name; a field that says how its values come together.
    fn named(&mut self) -> Read<Measure> {
        let path = self.path().map_err(|wrong| {
            Wrong::at(
                wrong.at,
                format!("a number is missing before {}: a metric, `count(dataset)`, `sum(dataset.field)`", self.what()),
            )
        })?;
        if let Some(metric) = path.single().and_then(|name| metric(self.ontology, name)) {
            return Ok(Measure::metric(&metric.name));
        }
        let Ok(field) = self.find_field(&path) else {
            if let Some(entity) = path.single().and_then(|name| dataset(self.ontology, name)) {
                let message = format!("{} is a dataset: `count({})` says how many", shown(&entity.name), entity.name);
                return Err(Wrong::at(path.at, message));
            }
            return Err(self.no_number(&path));
        };
        match self.known(&field).and_then(|known| known.default_aggregation) {
            Some(function) => Ok(Measure::of(Value::Aggregate { function, field })),
            None => {
                let text = path.text();
                let message = format!(
                    "{text} is a field of single rows: say how they come together, as in `sum({text})`, `avg({text})`"
                );
                Err(Wrong::at(path.at, message))
            }
        }
    }

    fn no_number(&self, path: &Path) -> Wrong {
        Wrong::at(path.at, format!("there is no metric and no field {}", shown(&path.text())))
            .near(self.anything_near(&path.text()))
    }

    /// A function of numbers or of fields.
    fn call(&mut self, function: &str) -> Read<Measure> {
        let (place, at) = (self.place(), self.here());
        self.skip(2);
        let shown_as = showing(function);
        let measure = if let Some(shown_as) = shown_as {
            self.shown_as(shown_as)?
        } else if let Some(aggregate) = aggregation(function) {
            self.aggregate(aggregate)?
        } else if function == "add" {
            Measure::of(Value::Sum(self.listed()?))
        } else if ["divide", "safe_divide", "ratio"].contains(&function) {
            let numerator = Box::new(self.measure()?);
            self.need_sign(",", "between the two numbers of a division")?;
            Measure::of(Value::Ratio { numerator, denominator: Box::new(self.measure()?) })
        } else if function == "nullif" {
            let measure = self.measure()?;
            self.need_sign(",", "in `nullif(m, 0)`")?;
            match self.kind(0) {
                Some(Kind::Number(zero)) if *zero == 0.0 => self.skip(1),
                _ => {
                    return Err(self
                        .wrong_here("`nullif` has no other use than `nullif(m, 0)`: a division by 0 is empty anyway"));
                }
            }
            measure
        } else if LOOKS.contains(&function) {
            self.looks()?
        } else {
            self.back_to(place);
            return Err(no_function(function, at));
        };
        self.need_sign(")", &format!("after `{function}(…`"))?;
        Ok(measure)
    }

    /// What a function around it changes only in looks.
    fn looks(&mut self) -> Read<Measure> {
        let measure = self.measure()?;
        if measure.label.is_none() && self.eat_sign(",") {
            match self.kind(0) {
                Some(Kind::Number(_)) => self.skip(1),
                _ => return Err(self.wrong_here("a number is needed here")),
            }
        }
        Ok(Measure { label: None, ..measure })
    }

    fn listed(&mut self) -> Read<Vec<Measure>> {
        let mut found = Vec::new();
        while !self.is_sign(0, ")") {
            found.push(self.measure()?);
            if !self.eat_sign(",") {
                break;
            }
        }
        Ok(found)
    }

    /// `share(m)` and its like: of a number that is not shown as something already.
    fn shown_as(&mut self, shown_as: Shown) -> Read<Measure> {
        let at = self.here();
        let measure = self.measure()?;
        if measure.shown_as.is_some() {
            return Err(Wrong::at(at, "a number is shown in one way: this is shown as something already"));
        }
        let shown_as = match shown_as {
            Shown::Share { .. } => Shown::Share { within: self.within()? },
            Shown::MovingAverage { .. } => {
                self.need_sign(",", "in `moving_average(m, 3)`")?;
                let rows = match self.kind(0) {
                    Some(Kind::Number(rows)) if rows.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(rows) => {
                        *rows as u32
                    }
                    _ => return Err(self.wrong_here("the number of rows is missing in `moving_average(m, 3)`")),
                };
                self.skip(1);
                Shown::MovingAverage { rows }
            }
            other => other,
        };
        Ok(Measure { shown_as: Some(shown_as), ..measure })
    }

    /// Dimensions of the query, within which shares add up.
    fn within(&mut self) -> Read<Vec<usize>> {
        let mut found = Vec::new();
        if self.eat(&["within", "per"]) {
            loop {
                found.push(self.dimension_column()?);
                if !self.eat_sign(",") {
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// How a number is shown by a function of its column.
pub(super) fn showing(function: &str) -> Option<Shown> {
    Some(match function {
        "share" | "percent_of_total" | "portion" | "ratio_to_report" => Shown::Share { within: Vec::new() },
        "cumulative" | "running_total" | "cumulative_sum" | "cumsum" => Shown::Cumulative,
        "change" | "delta" => Shown::Change,
        "change_percent" | "percent_change" | "pct_change" | "growth" => Shown::ChangePercent,
        "moving_average" | "moving_avg" | "rolling_average" | "rolling_avg" => Shown::MovingAverage { rows: 0 },
        _ => return None,
    })
}

fn is_one(measure: &Measure) -> bool {
    matches!(measure.value, Value::Number(one) if one.get() == 1.0) && measure.filters.is_empty()
}

/// What is called as a function and is none.
fn no_function(function: &str, at: usize) -> Wrong {
    let message = match function {
        "days" | "date_diff" | "datediff" => "the days of many rows come together: `avg(days(from, to))`".to_owned(),
        "if" | "iff" | "iif" => "a number under a condition is written `count(dataset) filter (where …)`".to_owned(),
        _ => format!(
            "there is no function {}: there are count, count(distinct …), sum, avg, median, min, max, stddev, share, cumulative, \
             change, change_percent, moving_average",
            shown(function)
        ),
    };
    Wrong::at(at, message)
}
