//! Conditions in a text, put together by `and`, `or`, `not` and parentheses.
//!
//! `flight.origin = 'JFK'`, `late` (a segment), `flight.cancelled`, `customer has order where (…)`, `customer has no
//! order`, `count(order) per customer > 3`; what one field is held against is read in `compared`.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::names::{aggregation, dataset, metric};
use super::problem::Wrong;
use super::values::showing;
use crate::engine::agent::plan::validate::shown;
use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::{Comparator, Condition, FieldRef, Literal, Measure, Value};

/// What follows a number or a field that is in parentheses, and not a condition.
const AFTER_VALUE: [&str; 11] =
    ["per", "filter", "in", "between", "like", "ilike", "is", "during", "contains", "starts", "ends"];
const SIGNS_AFTER_VALUE: [&str; 11] = ["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "::"];

impl Reader<'_> {
    /// Conditions that all hold; what is in parentheses is one of them.
    pub(super) fn conditions(&mut self) -> Read<Vec<Condition>> {
        self.inside(|reader| {
            let first = reader.all_of()?;
            if !reader.is_or() {
                return Ok(first);
            }
            let mut parts = vec![one(first)];
            while reader.is_or() {
                reader.skip(1);
                parts.push(one(reader.all_of()?));
            }
            Ok(vec![Condition::Any(parts)])
        })
    }

    fn is_or(&self) -> bool {
        self.is(0, &["or"]) || self.is_sign(0, "||")
    }

    fn all_of(&mut self) -> Read<Vec<Condition>> {
        let mut all = self.unless()?;
        while self.is(0, &["and"]) || self.is_sign(0, "&&") {
            self.skip(1);
            all.extend(self.unless()?);
        }
        Ok(all)
    }

    /// `not (…)` is the opposite of what is in the parentheses; `not late` is said of the segment itself.
    fn unless(&mut self) -> Read<Vec<Condition>> {
        if !(self.is(0, &["not"]) || self.is_sign(0, "!")) {
            return self.single();
        }
        self.skip(1);
        self.inside(|reader| {
            let is_group = reader.is_sign(0, "(") && reader.is_group_of_conditions();
            let inner = reader.unless()?;
            Ok(vec![match <[Condition; 1]>::try_from(inner) {
                Ok([only]) if !is_group => opposite(only),
                Ok([only]) => Condition::Not(Box::new(only)),
                Err(all) => Condition::Not(Box::new(Condition::All(all))),
            }])
        })
    }

    /// Whether what is in the parentheses here is no number and no field.
    pub(super) fn is_group_of_conditions(&self) -> bool {
        let Some(after) = self.after_group() else { return true };
        let ahead = after - self.place();
        let is_negated = self.is(ahead, &["not"]);
        let ahead = ahead + usize::from(is_negated);
        !self.is(ahead, &AFTER_VALUE) && !SIGNS_AFTER_VALUE.iter().any(|sign| self.is_sign(ahead, sign))
    }

    fn single(&mut self) -> Read<Vec<Condition>> {
        if self.is_sign(0, "(") && self.is_group_of_conditions() {
            self.skip(1);
            let all = self.conditions()?;
            self.need_sign(")", "after what is in parentheses")?;
            return Ok(vec![one(all)]);
        }
        if self.is(0, &["any", "all"]) && self.is_sign(1, "(") {
            return self.listed_conditions().map(|condition| vec![condition]);
        }
        if self.is(0, &["exists"]) {
            return self.exists().map(|condition| vec![condition]);
        }
        if self.is(0, &["case", "select"]) {
            return Err(self.wrong_here("a condition has no `case` and no `select`: rows of another dataset are asked for by `a has b where (…)`"));
        }
        if let Some(found) = self.has()? {
            return Ok(vec![found]);
        }
        if let Some(found) = self.segment() {
            return Ok(vec![found]);
        }
        if self.is_measure() {
            return self.measured();
        }
        self.comparison()
    }

    /// `any(…)` and `all(…)`: also of one condition, or of none.
    fn listed_conditions(&mut self) -> Read<Condition> {
        let is_any = self.is(0, &["any"]);
        self.skip(2);
        let mut parts = Vec::new();
        while !self.is_sign(0, ")") {
            parts.push(one(self.conditions()?));
            if !self.eat_sign(",") {
                break;
            }
        }
        self.need_sign(")", "after the conditions")?;
        Ok(if is_any { Condition::Any(parts) } else { Condition::All(parts) })
    }

    /// A named condition, if nothing is done with its name.
    fn segment(&mut self) -> Option<Condition> {
        let name = match self.kind(0) {
            Some(Kind::Word(name) | Kind::Name(name)) if self.path_length() == Some(1) => name.clone(),
            _ => return None,
        };
        let segment = self.segment_named(&name)?;
        let ends = self.kind(1).is_none()
            || self.is(1, &["and", "or", "then"])
            || ["&&", "||", ")", ","].iter().any(|sign| self.is_sign(1, sign));
        ends.then(|| self.skip(1))?;
        Some(Condition::Segment { name: segment, negated: false })
    }

    /// A segment by its name, or the only one that is called so.
    pub(super) fn segment_named(&self, name: &str) -> Option<String> {
        let called = |text: &String| text.eq_ignore_ascii_case(name);
        let mut others = self.ontology.segments.iter().filter(|it| it.synonyms.iter().any(called));
        let by_synonym = || others.next().filter(|_| others.next().is_none());
        self.ontology.segment(name).or_else(by_synonym).map(|segment| segment.name.clone())
    }

    /// Whether a number begins here, which is one of each row of a dataset.
    fn is_measure(&self) -> bool {
        let goes_on = |ahead: usize| {
            self.is(ahead, &["per", "filter"]) || ["+", "-", "*", "/"].iter().any(|sign| self.is_sign(ahead, sign))
        };
        if self.is_sign(0, "(") {
            return self.after_group().is_some_and(|after| goes_on(after - self.place()));
        }
        if let Some(Kind::Number(_)) = self.kind(0) {
            return goes_on(1);
        }
        match self.path_length() {
            Some(1) if self.is_sign(1, "(") => {
                let word = self.word(0).unwrap_or_default();
                let others = ["add", "nullif", "ratio", "divide", "safe_divide"];
                aggregation(&word).is_some() || showing(&word).is_some() || others.contains(&word.as_str())
            }
            Some(length) => goes_on(length),
            None => false,
        }
    }

    /// `count(order) per customer > 3`.
    fn measured(&mut self) -> Read<Vec<Condition>> {
        let at = self.here();
        let measure = self.sum()?;
        if !self.eat(&["per"]) {
            let message = "a number here is one of each row: `count(order) per customer > 3`; a condition on the finished numbers of \
                           the answer belongs into `having`";
            return Err(Wrong::at(at, message));
        }
        let of = self.dataset()?;
        let measured =
            |op, value| Condition::Measured { of: of.clone(), measure: Box::new(measure.clone()), op, value };
        if self.eat(&["between"]) {
            let low = self.literal()?;
            self.need("and", "in `between … and …`")?;
            let high = self.literal()?;
            return Ok(vec![measured(Comparator::AtLeast, low), measured(Comparator::AtMost, high)]);
        }
        let Some(op) = self.comparator() else {
            return Err(self.wrong_here("a bound is missing, such as `> 3`"));
        };
        let value = self.literal()?;
        Ok(vec![measured(op, value)])
    }

    /// `days(order.placed, order.shipped) > 3`: of each row that the first date is of.
    pub(super) fn days_of_rows(&mut self) -> Read<Option<(String, Measure)>> {
        if !(self.is_sign(1, "(") && self.is(0, &["days", "days_between", "date_diff", "datediff"])) {
            return Ok(None);
        }
        let Some((from, to)) = self.two_days()? else { return Ok(None) };
        let of = from.dataset.clone();
        let value = Value::Days { function: Aggregation::Avg, from, to };
        Ok(Some((of, Measure::of(value))))
    }

    /// A field that is true or false, alone.
    pub(super) fn is_true(&self, field: FieldRef, at: usize) -> Read<Condition> {
        let datatype = self.known(&field).map_or(DataType::Opaque, |known| known.datatype);
        if !matches!(datatype, DataType::Boolean | DataType::Opaque) {
            let message =
                format!("{}.{} is not true or false: say what it is compared with", field.dataset, field.field);
            return Err(Wrong::at(at, message));
        }
        Ok(Condition::Compare { field, op: Comparator::Equal, value: Literal::Bool(true) })
    }

    /// What stands where a condition is expected, and is a dataset or a metric.
    pub(super) fn no_condition(&self, name: &str) -> Option<String> {
        if dataset(self.ontology, name).is_some() && self.ontology.segment(name).is_none() {
            return Some(format!("{} is a dataset: a condition is on its fields, or `{name} has …`", shown(name)));
        }
        let metric = metric(self.ontology, name)?;
        Some(format!(
            "{} is a metric: a condition on it belongs into `having`, or is on each row of a dataset: `{} per dataset > 3`",
            shown(name),
            metric.name
        ))
    }
}

fn one(all: Vec<Condition>) -> Condition {
    match <[Condition; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(all) => Condition::All(all),
    }
}

/// The opposite of a condition, said by itself where it can be.
fn opposite(condition: Condition) -> Condition {
    match condition {
        Condition::In { field, values, negated: false } => Condition::In { field, values, negated: true },
        Condition::Like { field, pattern, text, negated: false } => {
            Condition::Like { field, pattern, text, negated: true }
        }
        Condition::IsNull { field, negated: false } => Condition::IsNull { field, negated: true },
        Condition::Within { field, window, negated: false } => Condition::Within { field, window, negated: true },
        Condition::OnDays { field, days, negated: false } => Condition::OnDays { field, days, negated: true },
        Condition::AtHours { field, from, to, negated: false } => Condition::AtHours { field, from, to, negated: true },
        Condition::Segment { name, negated: false } => Condition::Segment { name, negated: true },
        Condition::Exists { of, dataset, via, filters, negated: false } => {
            Condition::Exists { of, dataset, via, filters, negated: true }
        }
        Condition::Compare { field, op: Comparator::Equal, value: Literal::Bool(is) } => {
            Condition::Compare { field, op: Comparator::Equal, value: Literal::Bool(!is) }
        }
        other => Condition::Not(Box::new(other)),
    }
}
