//! Conditions on the day of the week, the hour of the day, and the unit of the calendar that a time is in.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::problem::Wrong;
use super::times::in_time;
use super::words::DAYS;
use crate::model::plan::{Comparator, Condition, FieldRef, Grain};

pub(super) const NO_CYCLE: &str = "of the parts of a time, conditions are on the day of the week and the hour of the day: \
                        `day_of_week(f) in ('Saturday', 'Sunday')`, `hour_of_day(f) between 8 and 17`; months and years are times: `f during 2013-07`";

impl Reader<'_> {
    /// Conditions on the day of the week, the hour of the day, or a stretch that a time is in.
    pub(super) fn cut_compared(&mut self, field: FieldRef, grain: Grain, at: usize) -> Read<Vec<Condition>> {
        let negated = self.eat(&["not"]);
        match grain {
            Grain::DayOfWeek => self.on_days(field, negated).map(|condition| vec![condition]),
            Grain::HourOfDay => self.at_hours(field, negated).map(|condition| vec![condition]),
            // A day is compared as a whole anyway, and other stretches are those that their first days are in.
            Grain::Day if !negated => match self.comparator() {
                Some(op) => self.against(field, op).map(|condition| vec![condition]),
                None if self.eat(&["between"]) => self.between(field, false),
                None => Err(self.wrong_here("a comparison is missing, such as `= 2013-07-04`")),
            },
            Grain::Month | Grain::Quarter | Grain::Year | Grain::Week | Grain::FiscalQuarter | Grain::FiscalYear
                if !negated =>
            {
                let op = self.comparator().ok_or_else(|| Wrong::at(at, NO_CYCLE))?;
                let window = self.stretch_of(grain)?;
                Ok(vec![in_time(field, op, window)])
            }
            _ => Err(Wrong::at(at, NO_CYCLE)),
        }
    }

    fn on_days(&mut self, field: FieldRef, negated: bool) -> Read<Condition> {
        if self.eat(&["between"]) && !negated {
            let first = self.day()?;
            self.need("and", "in `between … and …`")?;
            let last = self.day()?;
            let length = (i16::from(last) - i16::from(first)).rem_euclid(7);
            let days = (0..=length).map(|ahead| ((i16::from(first) - 1 + ahead) % 7 + 1) as u8).collect();
            return Ok(Condition::OnDays { field, days, negated });
        }
        if self.eat(&["in"]) {
            let close = if self.is_sign(0, "[") { "]" } else { ")" };
            if close == ")" {
                self.need_sign("(", "after `in`")?;
            } else {
                self.skip(1);
            }
            let mut days = Vec::new();
            while !self.is_sign(0, close) {
                days.push(self.day()?);
                if !self.eat_sign(",") {
                    break;
                }
            }
            self.need_sign(close, "after the days of `in (…`")?;
            return Ok(Condition::OnDays { field, days, negated });
        }
        let op = self.comparator().filter(|_| !negated);
        let day = self.day();
        let days = match op {
            Some(Comparator::Equal | Comparator::NotEqual) => vec![day?],
            Some(Comparator::AtLeast) => (day?..=7).collect(),
            Some(Comparator::Greater) => (day?.saturating_add(1)..=7).collect(),
            Some(Comparator::AtMost) => (1..=day?).collect(),
            Some(Comparator::Less) => (1..day?).collect(),
            None => return Err(self.wrong_here("days of the week are `= 'Saturday'` or `in ('Saturday', 'Sunday')`")),
        };
        Ok(Condition::OnDays { field, days, negated: op == Some(Comparator::NotEqual) })
    }

    /// A day of the week by its name, or by its number from 1 for Monday; a Sunday may be 0.
    fn day(&mut self) -> Read<u8> {
        let by_name = |name: &str| {
            let name = name.trim().to_lowercase();
            let is = |day: &&str| name.len() > 2 && day.to_lowercase().starts_with(&name);
            DAYS.iter().position(is).and_then(|at| u8::try_from(at + 1).ok())
        };
        let day = match self.kind(0) {
            Some(Kind::Text(name) | Kind::Word(name) | Kind::Name(name)) => by_name(name),
            Some(Kind::Number(number)) if number.fract() == 0.0 && (0.0..=7.0).contains(number) => {
                Some(if *number == 0.0 { 7 } else { *number as u8 })
            }
            _ => None,
        };
        let day = day.ok_or_else(|| {
            self.wrong_here(format!("{} is no day of the week: Monday to Sunday, or 1 for Monday to 7", self.what()))
        })?;
        self.skip(1);
        Ok(day)
    }

    /// Hours as they are said: the last one is part of them.
    fn at_hours(&mut self, field: FieldRef, negated: bool) -> Read<Condition> {
        let hours = |from: u8, to: u8, negated| Ok(Condition::AtHours { field: field.clone(), from, to, negated });
        if self.eat(&["between"]) {
            let from = self.hour()?;
            self.need("and", "in `between … and …`")?;
            let to = self.hour()?;
            return hours(from, to.min(23) + 1, negated);
        }
        if self.eat(&["in"]) {
            self.need_sign("(", "after `in`")?;
            let mut parts = Vec::new();
            while !self.is_sign(0, ")") {
                let hour = self.hour()?;
                match parts.last_mut() {
                    Some((_, end)) if *end == hour => *end += 1,
                    _ => parts.push((hour, hour.min(23) + 1)),
                }
                if !self.eat_sign(",") {
                    break;
                }
            }
            self.need_sign(")", "after the hours of `in (…`")?;
            let all: Vec<Condition> = parts.iter().map(|(from, to)| hours(*from, *to, false)).collect::<Read<_>>()?;
            return match (<[Condition; 1]>::try_from(all), parts.first()) {
                (Ok(_), Some((from, to))) => hours(*from, *to, negated),
                (Err(all), _) if negated => Ok(Condition::Not(Box::new(Condition::Any(all)))),
                (Err(all), _) => Ok(Condition::Any(all)),
                (Ok([only]), None) => Ok(only),
            };
        }
        let Some(op) = self.comparator().filter(|_| !negated) else {
            return Err(self.wrong_here("hours of the day are `between 8 and 17` or `>= 22`"));
        };
        let hour = self.hour()?;
        let next = hour.min(23) + 1;
        match op {
            Comparator::Equal => hours(hour, next, false),
            Comparator::NotEqual => hours(hour, next, true),
            Comparator::AtLeast => hours(hour, 24, false),
            Comparator::Greater if next < 24 => hours(next, 24, false),
            Comparator::AtMost => hours(0, next, false),
            Comparator::Less if hour > 0 => hours(0, hour, false),
            _ => Err(self.wrong_here("there is no such hour: a day has those from 0 to 23")),
        }
    }

    fn hour(&mut self) -> Read<u8> {
        match self.kind(0) {
            Some(Kind::Number(hour)) if hour.fract() == 0.0 && (0.0..=24.0).contains(hour) => {
                let hour = *hour as u8;
                self.skip(1);
                Ok(hour)
            }
            _ => Err(self.wrong_here(format!("{} is no hour of the day: 0 to 23", self.what()))),
        }
    }
}
