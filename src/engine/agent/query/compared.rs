//! What a field is held against: values, lists, parts of texts, other fields, times, the mean of all rows.

use jiff::civil::DateTime;

use super::cursor::{Read, Reader};
use super::cycles::NO_CYCLE;
use super::lexer::Kind;
use super::names::aggregation;
use super::problem::Wrong;
use super::times::{in_time, spanned};
use super::words::COMPARATORS;
use crate::engine::agent::plan::window::read;
use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::f64bits::F64;
use crate::model::plan::{Comparator, Condition, FieldRef, Literal, Pattern, Window};

/// Functions around a field that do not change what a condition means.
const TRANSPARENT: [&str; 4] = ["lower", "upper", "trim", "lcase"];

/// The right side of a comparison.
enum Right {
    Literal(Literal),
    Window(Window),
    Field(FieldRef),
    Overall(Aggregation, FieldRef),
}

impl Reader<'_> {
    pub(super) fn comparator(&mut self) -> Option<Comparator> {
        let (op, _) = COMPARATORS.iter().find(|(_, sign)| self.is_sign(0, sign))?;
        self.skip(1);
        Some(*op)
    }

    /// A field and what it is held against; `between` says two things at once.
    pub(super) fn comparison(&mut self) -> Read<Vec<Condition>> {
        if let Some(found) = self.turned()? {
            return Ok(vec![found]);
        }
        if let Some((of, measure)) = self.days_of_rows()? {
            let op = self.comparator().ok_or_else(|| self.wrong_here("a bound is missing, such as `> 3`"))?;
            return Ok(vec![Condition::Measured { of, measure: Box::new(measure), op, value: self.literal()? }]);
        }
        let at = self.here();
        if let Some((field, grain)) = self.cut()? {
            return self.cut_compared(field, grain, at);
        }
        let field = self.left()?;
        // As a dimension is cut: what it means is plain here, too.
        if self.eat(&["by"]) {
            let grain = self.grain().map_err(|wrong| Wrong::at(wrong.at, NO_CYCLE))?;
            return self.cut_compared(field, grain, at);
        }
        let negated = self.is(0, &["not"]) && self.kind(1).is_some();
        self.skip(usize::from(negated));
        if self.is(0, &["is"]) && !negated {
            return self.is_null(field).map(|condition| vec![condition]);
        }
        if self.eat(&["between"]) {
            return self.between(field, negated);
        }
        if self.is(0, &["in"]) && (self.is_sign(1, "(") || self.is_sign(1, "[")) {
            self.skip(1);
            return self.among(field, negated).map(|condition| vec![condition]);
        }
        if self.eat(&["during", "in", "within"]) {
            let window = self.window()?;
            return Ok(vec![Condition::Within { field, window, negated }]);
        }
        if let Some(condition) = self.part_of_text(&field, negated)? {
            return Ok(vec![condition]);
        }
        if negated {
            return Err(
                self.wrong_here("after `not` there is `in`, `like`, `contains`, `starts with`, `between` or `during`")
            );
        }
        match self.comparator() {
            Some(op) => self.against(field, op).map(|condition| vec![condition]),
            None => self.is_true(field, at).map(|condition| vec![condition]),
        }
    }

    /// The field on the left, also in parentheses or in a function that changes nothing.
    fn left(&mut self) -> Read<FieldRef> {
        let in_function = self.is(0, &TRANSPARENT) && self.is_sign(1, "(");
        if in_function || self.is_sign(0, "(") {
            self.skip(usize::from(in_function) + 1);
            let field = self.inside(Self::left)?;
            self.need_sign(")", "after the field")?;
            return Ok(field);
        }
        if let (Some(word), true) = (self.word(0), self.is_sign(1, "(")) {
            return Err(self.wrong_here(format!("there is no function `{word}` of fields")));
        }
        let path = self.path()?;
        let field = match self.find_field(&path) {
            Ok(field) => field,
            Err(wrong) => {
                if let Some(message) = path.single().and_then(|name| self.no_condition(name)) {
                    return Err(Wrong::at(path.at, message));
                }
                let near = path.single().map(|name| self.anything_near(name)).filter(|near| !near.is_empty());
                let wrong = match path.single() {
                    Some(name) if wrong.message.starts_with("there is no field") => {
                        Wrong::at(wrong.at, format!("there is no field and no segment {name:?}"))
                            .near(near.unwrap_or(wrong.nearest))
                    }
                    _ => wrong,
                };
                self.wrong.push(wrong);
                FieldRef::new(String::new(), path.text())
            }
        };
        if self.is_sign(0, "::") {
            self.skip(2);
        }
        Ok(field)
    }

    /// `1000 < flight.distance`.
    fn turned(&mut self) -> Read<Option<Condition>> {
        let is_literal = match self.kind(0) {
            Some(Kind::Text(_) | Kind::Number(_) | Kind::Date(_)) => true,
            Some(Kind::Sign("-")) => true,
            _ => self.is(0, &["true", "false"]),
        };
        if !is_literal {
            return Ok(None);
        }
        let value = self.literal()?;
        let op =
            self.comparator().ok_or_else(|| self.wrong_here("a comparison is missing, such as `= dataset.field`"))?;
        let field = self.left()?;
        let op = match op {
            Comparator::Less => Comparator::Greater,
            Comparator::AtMost => Comparator::AtLeast,
            Comparator::Greater => Comparator::Less,
            Comparator::AtLeast => Comparator::AtMost,
            same => same,
        };
        Ok(Some(Condition::Compare { field, op, value }))
    }

    fn is_null(&mut self, field: FieldRef) -> Read<Condition> {
        self.skip(1);
        let negated = self.eat(&["not"]);
        if self.eat(&["null", "missing", "empty"]) {
            return Ok(Condition::IsNull { field, negated });
        }
        let is = self.is(0, &["true"]);
        if !is && !self.is(0, &["false"]) {
            return Err(self.wrong_here("after `is` there is `null`, `not null`, `true` or `false`"));
        }
        self.skip(1);
        let op = if negated { Comparator::NotEqual } else { Comparator::Equal };
        Ok(Condition::Compare { field, op, value: Literal::Bool(is) })
    }

    /// Both ends are part of it.
    pub(super) fn between(&mut self, field: FieldRef, negated: bool) -> Read<Vec<Condition>> {
        let place = self.place();
        let low = self.right(&field)?;
        self.need("and", "in `between … and …`")?;
        let high = self.right(&field)?;
        let conditions = match (low, high) {
            (Right::Literal(low), Right::Literal(high)) => [(Comparator::AtLeast, low), (Comparator::AtMost, high)]
                .map(|(op, value)| Condition::Compare { field: field.clone(), op, value })
                .to_vec(),
            (Right::Window(_), _) | (_, Right::Window(_)) => {
                self.back_to(place);
                let missing = "a time is missing, such as 2013-07";
                let from = self.point_or_window()?.ok_or_else(|| self.wrong_here(missing))?;
                self.need("and", "in `between … and …`")?;
                let to = self.point_or_window()?.ok_or_else(|| self.wrong_here(missing))?;
                return Ok(vec![Condition::Within { field, window: spanned(from, to), negated }]);
            }
            (Right::Field(low), Right::Field(high)) => [(Comparator::AtLeast, low), (Comparator::AtMost, high)]
                .map(|(op, right)| Condition::CompareFields { left: field.clone(), op, right })
                .to_vec(),
            _ => return Err(self.wrong_here("`between` has two values, two times or two fields")),
        };
        Ok(if negated { vec![Condition::Not(Box::new(Condition::All(conditions)))] } else { conditions })
    }

    /// `in ('a', 'b')`; of times also `in (2013-07, 2013-08)`.
    fn among(&mut self, field: FieldRef, negated: bool) -> Read<Condition> {
        let close = if self.is_sign(0, "[") { "]" } else { ")" };
        self.skip(1);
        if self.is(0, &["select"]) {
            return Err(self.wrong_here(
                "`in` has values and no `select`: rows of another dataset are asked for by `a has b where (…)`",
            ));
        }
        let (mut values, mut windows) = (Vec::new(), Vec::new());
        while !self.is_sign(0, close) {
            match self.right(&field)? {
                Right::Literal(value) => values.push(value),
                Right::Window(window) => {
                    windows.push(Condition::Within { field: field.clone(), window, negated: false });
                }
                _ => return Err(self.wrong_here("`in` has values: texts in single quotes, numbers, dates")),
            }
            if !self.eat_sign(",") {
                break;
            }
        }
        self.need_sign(close, "after the values of `in (…`")?;
        if windows.is_empty() {
            return Ok(Condition::In { field, values, negated });
        }
        if !values.is_empty() {
            windows.push(Condition::In { field, values, negated: false });
        }
        let any = Condition::Any(windows);
        Ok(if negated { Condition::Not(Box::new(any)) } else { any })
    }

    /// `contains 'x'`, `starts with 'x'`, `like '%x%'`.
    fn part_of_text(&mut self, field: &FieldRef, negated: bool) -> Read<Option<Condition>> {
        let at = self.here();
        let is_like = self.eat(&["like", "ilike"]);
        let pattern = if is_like || self.eat(&["contains", "contain", "containing"]) {
            Pattern::Contains
        } else if self.eat(&["starts with", "starts_with", "begins with"]) {
            Pattern::StartsWith
        } else if self.eat(&["ends with", "ends_with"]) {
            Pattern::EndsWith
        } else {
            return Ok(None);
        };
        let text = match self.kind(0) {
            Some(Kind::Text(text)) => text.clone(),
            _ => return Err(self.wrong_here("a text in single quotes is missing")),
        };
        self.skip(1);
        let field = field.clone();
        if !is_like {
            return Ok(Some(Condition::Like { field, pattern, text, negated }));
        }
        let (starts, ends) = (text.len() > 1 && text.starts_with('%'), text.ends_with('%'));
        let inner = text.strip_prefix('%').unwrap_or(&text);
        let inner = if ends { inner.strip_suffix('%').unwrap_or(inner) } else { inner };
        if inner.contains(['%', '_']) || inner.is_empty() {
            let message = "`like` has one text with `%` before it, after it or both: `contains 'x'`, `starts with 'x'` and \
                           `ends with 'x'` say the same, and hold `%` and `_` as they are";
            return Err(Wrong::at(at, message));
        }
        let pattern = match (starts, ends) {
            (true, true) => Pattern::Contains,
            (false, true) => Pattern::StartsWith,
            (true, false) => Pattern::EndsWith,
            (false, false) => {
                let op = if negated { Comparator::NotEqual } else { Comparator::Equal };
                return Ok(Some(Condition::Compare { field, op, value: Literal::Text(text) }));
            }
        };
        Ok(Some(Condition::Like { field, pattern, text: inner.to_owned(), negated }))
    }

    pub(super) fn against(&mut self, field: FieldRef, op: Comparator) -> Read<Condition> {
        let at = self.here();
        Ok(match self.right(&field)? {
            Right::Literal(value) => {
                let is_flag = self.known(&field).is_some_and(|known| known.datatype == DataType::Boolean);
                let value = match value {
                    Literal::Number(number) if is_flag && number == F64::from(1) => Literal::Bool(true),
                    Literal::Number(number) if is_flag && number == F64::from(0) => Literal::Bool(false),
                    other => other,
                };
                Condition::Compare { field, op, value }
            }
            Right::Field(right) => Condition::CompareFields { left: field, op, right },
            Right::Overall(function, of) if of == field => Condition::AgainstOverall { field, op, function },
            Right::Overall(..) => {
                let name = format!("{}.{}", field.dataset, field.field);
                return Err(Wrong::at(
                    at,
                    format!("a field is held against an aggregate of itself: `{name} > avg({name})`"),
                ));
            }
            Right::Window(window) => in_time(field, op, window),
        })
    }

    /// What is on the right of a comparison with a field.
    fn right(&mut self, field: &FieldRef) -> Read<Right> {
        if let Some(function) = self.word(0).filter(|_| self.is_sign(1, "(")).and_then(|word| aggregation(&word)) {
            self.skip(2);
            let is_distinct = self.eat(&["distinct"]);
            let of = self.field()?;
            self.need_sign(")", "after the field")?;
            return Ok(Right::Overall(if is_distinct { Aggregation::CountDistinct } else { function }, of));
        }
        if self.is_time(field)
            && let Some(window) = self.window_for_comparison()?
        {
            return Ok(Right::Window(window));
        }
        let is_name = self.path_length().is_some() && !self.is(0, &["true", "false", "date", "timestamp", "datetime"]);
        let is_name = is_name || self.path_length().is_some_and(|length| length > 1);
        if !is_name {
            let literal = self.literal()?;
            return Ok(Right::Literal(match literal {
                Literal::Text(text) if self.is_time(field) => Literal::Text(moment_text(&text)),
                other => other,
            }));
        }
        let path = self.path()?;
        match self.find_field(&path) {
            Ok(right) => Ok(Right::Field(right)),
            Err(wrong) => match (path.single(), path.quoted) {
                (Some(name), true) => {
                    Err(Wrong::at(path.at, format!("there is no field {name:?}; a text is in single quotes: '{name}'")))
                }
                (Some(name), false) => {
                    let message =
                        format!("there is no field {name:?} to compare with; a text is in single quotes: '{name}'");
                    Err(Wrong::at(path.at, message))
                }
                _ => Err(wrong),
            },
        }
    }

    /// A time that is no day in figures: a day is compared as it stands.
    fn window_for_comparison(&mut self) -> Read<Option<Window>> {
        let place = self.place();
        let is_time = match self.kind(0) {
            Some(Kind::Date(date)) => {
                let is_day = date.len() >= 10;
                !is_day || self.is_sign(1, "+") || self.is_sign(1, "-")
            }
            Some(Kind::Number(year)) => year.fract() == 0.0 && (1000.0..=9999.0).contains(year),
            // A day in quotes is compared as it stands, too.
            Some(Kind::Text(text)) => civil(text).is_none(),
            Some(Kind::Word(word)) => {
                const WORDS: [&str; 20] = [
                    "today", "yesterday", "tomorrow", "now", "current_date", "current_timestamp", "last", "past",
                    "previous", "this", "next", "start", "end", "monday", "latest", "ytd", "mtd", "qtd", "wtd",
                    "beginning",
                ];
                WORDS.iter().any(|it| it.eq_ignore_ascii_case(word)) && !self.is_sign(1, ".")
            }
            _ => false,
        };
        if !is_time {
            return Ok(None);
        }
        let window = self.point_or_window()?;
        if window.is_none() {
            self.back_to(place);
        }
        Ok(window)
    }

    /// A value: a text, a number, true or false, a date.
    pub(super) fn literal(&mut self) -> Read<Literal> {
        let is_typed = self.is(0, &["date", "timestamp", "datetime"]) && matches!(self.kind(1), Some(Kind::Text(_)));
        self.skip(usize::from(is_typed));
        let is_negative = self.eat_sign("-");
        self.skip(usize::from(!is_negative && self.is_sign(0, "+")));
        let literal = match self.kind(0) {
            Some(Kind::Text(text)) if is_typed => Literal::Text(moment_text(text)),
            Some(Kind::Text(text)) if !is_negative => Literal::Text(text.clone()),
            Some(Kind::Date(date)) if !is_negative => Literal::Text(date.clone()),
            Some(Kind::Number(number)) => {
                let number = F64::new(if is_negative { -number } else { *number });
                Literal::Number(number.ok_or_else(|| self.wrong_here("this is no number that can be compared with"))?)
            }
            _ if self.is(0, &["true"]) => Literal::Bool(true),
            _ if self.is(0, &["false"]) => Literal::Bool(false),
            _ if self.is(0, &["null"]) => {
                return Err(self.wrong_here("nothing is equal to `null`: write `is null` or `is not null`"));
            }
            _ => {
                return Err(self.wrong_here(format!(
                    "a value is missing before {}: a text in single quotes, a number, a date",
                    self.what()
                )));
            }
        };
        self.skip(1);
        if self.is_sign(0, "::") && matches!(self.kind(1), Some(Kind::Word(_))) {
            self.skip(2);
        }
        Ok(literal)
    }
}

/// A day, or a day with a time.
fn civil(text: &str) -> Option<DateTime> {
    let text = moment_text(text);
    if text.len() >= 10 { read(&text) } else { None }
}

/// A time as plans have it: a `T` between day and clock.
fn moment_text(text: &str) -> String {
    let text = text.trim();
    match text.split_once(' ') {
        Some((day, clock)) if day.len() == 10 => format!("{day}T{clock}"),
        _ => text.to_owned(),
    }
}
