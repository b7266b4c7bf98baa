//! What numbers are grouped by, and the columns of lists: `flight.carrier`, `flight.departure by month`,
//! `flight.distance by 500`, `airport.name as "From"`.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::names::{Path, dataset, label_of};
use super::problem::Wrong;
use super::words::{COMPARATORS, GRAINS};
use crate::engine::agent::plan::validate::shown;
use crate::model::plan::f64bits::F64;
use crate::model::plan::{Dimension, FieldRef, Grain};

const NO_GRAIN: &str = "this is nothing to group a time by: `by month`, `by day of week`";

const NO_CONDITION: &str = "a condition is no dimension: give a measure for each side of it, as in \
                            `count(order) filter (where order.shipped is null)`";

impl Reader<'_> {
    /// A dimension that is all of a text.
    pub(super) fn whole_dimension(&mut self) -> Read<Dimension> {
        if self.is(0, &["case"]) && matches!(self.kind(1), Some(Kind::Word(_) | Kind::Name(_))) {
            return Err(self.wrong_here(NO_CONDITION));
        }
        let dimension = self.dimension()?;
        let is_compared = self.is(0, &["is", "in", "not", "like", "between"])
            || COMPARATORS.iter().any(|(_, sign)| self.is_sign(0, sign));
        if is_compared { Err(self.wrong_here(NO_CONDITION)) } else { Ok(dimension) }
    }

    pub(super) fn dimension(&mut self) -> Read<Dimension> {
        let mut dimension = match self.cut()? {
            Some((field, grain)) => Dimension { grain: Some(grain), ..Dimension::of(field) },
            None => self.plain_dimension()?,
        };
        loop {
            if self.is_sign(0, "::") && self.is(1, &["date"]) {
                self.skip(2);
                dimension.grain = dimension.grain.or(Some(Grain::Day));
            } else if self.eat(&["by"]) {
                let is_negative = self.eat_sign("-");
                match self.kind(0) {
                    Some(Kind::Text(grain)) => {
                        let found = grain_of(&grain.to_lowercase());
                        dimension.grain = Some(found.ok_or_else(|| self.wrong_here(NO_GRAIN))?);
                        self.skip(1);
                    }
                    Some(Kind::Number(width)) => {
                        dimension.bucket = F64::new(if is_negative { -width } else { *width });
                        self.skip(1);
                    }
                    _ => dimension.grain = Some(self.grain()?),
                }
            } else {
                break;
            }
        }
        if let Some(label) = self.label()? {
            dimension.label = Some(label);
        }
        Ok(dimension)
    }

    /// A field, also with the grain as its last name: `order.placed.month`, `order.placed__month`.
    fn plain_dimension(&mut self) -> Read<Dimension> {
        if let (Some(function), true) = (self.word(0), self.is_sign(1, "(")) {
            let message = format!(
                "there is no function {} here: a field stands as it is stored, a time is cut as in `dataset.field by \
                 month`, and numbers that are computed belong into `measures`",
                shown(&function)
            );
            return Err(self.wrong_here(message));
        }
        let path = self.path()?;
        match self.find_field(&path) {
            Ok(field) => Ok(Dimension::of(field)),
            Err(wrong) => {
                if let Some((shorter, grain)) = without_grain(&path)
                    && let Ok(field) = self.find_field(&shorter)
                {
                    return Ok(Dimension { grain: Some(grain), ..Dimension::of(field) });
                }
                let Some(name) = path.single() else {
                    self.wrong.push(wrong);
                    return Ok(Dimension::of(FieldRef::new(String::new(), path.text())));
                };
                let entity = dataset(self.ontology, name);
                let is_named = entity.is_some_and(|entity| entity.name.eq_ignore_ascii_case(name));
                if !is_named && self.ontology.metric(name).is_some() {
                    let message = format!("{} is a metric: it belongs into `measures`", shown(name));
                    return Err(Wrong::at(path.at, message));
                }
                if let Some((entity, label)) = entity.and_then(|entity| label_of(entity).map(|label| (entity, label))) {
                    return Ok(Dimension::of(FieldRef::new(&entity.name, &label.name)));
                }
                self.wrong.push(wrong);
                Ok(Dimension::of(FieldRef::new(String::new(), path.text())))
            }
        }
    }

    /// A unit of the calendar, or a cycle in it.
    pub(super) fn grain(&mut self) -> Read<Grain> {
        self.eat(&["the"]);
        let mut words: Vec<(Grain, &str)> = GRAINS.to_vec();
        // The longest first: "day of week" is no day.
        words.sort_by_key(|(_, words)| std::cmp::Reverse(words.len()));
        for (grain, words) in words {
            let joined = words.replace(' ', "_");
            if self.eat(&[words, &joined, &format!("{joined}s")]) {
                return Ok(grain);
            }
        }
        if let Some(grain) = self.word(0).and_then(|word| other_grain(&word)) {
            self.skip(1);
            return Ok(grain);
        }
        let all: Vec<&str> = GRAINS.iter().map(|(_, words)| *words).collect();
        Err(self.wrong_here(format!(
            "{} is nothing to group by: `by` has a number or one of {}",
            self.what(),
            all.join(", ")
        )))
    }

    /// A time cut by a function as SQL has it: `date_trunc('month', f)`, `extract(hour from f)`, `year(f)`.
    pub(super) fn cut(&mut self) -> Read<Option<(FieldRef, Grain)>> {
        let Some(function) = self.word(0).filter(|_| self.is_sign(1, "(")) else { return Ok(None) };
        let place = self.place();
        self.skip(2);
        let grain = match function.as_str() {
            "date_trunc" | "datetrunc" | "date_part" | "datepart" => {
                let unit = match self.kind(0) {
                    Some(Kind::Text(unit) | Kind::Word(unit)) => unit.to_lowercase(),
                    _ => String::new(),
                };
                let stretch = if function.ends_with("trunc") { grain_of(&unit) } else { part_of(&unit) };
                let grain = stretch.ok_or_else(|| self.wrong_here(format!("{} is no unit of time", shown(&unit))))?;
                self.skip(1);
                self.need_sign(",", "after the unit of time")?;
                grain
            }
            "extract" => {
                let unit = self.word(0).unwrap_or_default();
                let grain =
                    part_of(&unit).ok_or_else(|| self.wrong_here(format!("{} is no part of a time", self.what())))?;
                self.skip(1);
                self.need("from", "in `extract(month from …)`")?;
                grain
            }
            "date" | "to_date" => Grain::Day,
            "cast" => Grain::Day,
            name => match part_of(name) {
                Some(grain) => grain,
                None => {
                    self.back_to(place);
                    return Ok(None);
                }
            },
        };
        let field = self.field()?;
        if function == "cast" {
            self.need("as", "in `cast(… as date)`")?;
            self.need("date", "in `cast(… as date)`")?;
        }
        self.need_sign(")", &format!("after `{function}(…`"))?;
        Ok(Some((field, grain)))
    }
}

/// A path whose last name is a grain.
fn without_grain(path: &Path) -> Option<(Path, Grain)> {
    let (last, rest) = path.parts.split_last()?;
    let mut parts = rest.to_vec();
    let grain = match last.rsplit_once("__") {
        Some((name, grain)) => {
            parts.push(name.to_owned());
            grain_of(&grain.to_lowercase())?
        }
        None => grain_of(&last.to_lowercase())?,
    };
    (!parts.is_empty()).then(|| (Path { parts, ..path.clone() }, grain))
}

fn grain_of(word: &str) -> Option<Grain> {
    let spaced = word.replace('_', " ");
    GRAINS.iter().find(|(_, words)| *words == spaced).map(|(grain, _)| *grain).or_else(|| other_grain(word))
}

fn other_grain(word: &str) -> Option<Grain> {
    Some(match word {
        "hours" | "hourly" => Grain::Hour,
        "days" | "daily" | "date" => Grain::Day,
        "weeks" | "weekly" => Grain::Week,
        "months" | "monthly" => Grain::Month,
        "quarters" | "quarterly" => Grain::Quarter,
        "years" | "yearly" | "annually" => Grain::Year,
        "weekday" | "weekdays" | "dayofweek" | "dow" | "isodow" => Grain::DayOfWeek,
        "dayofmonth" | "monthday" => Grain::DayOfMonth,
        "hourofday" => Grain::HourOfDay,
        _ => return None,
    })
}

/// The part of a time that a function of SQL gives.
fn part_of(word: &str) -> Option<Grain> {
    Some(match word {
        "hour" | "hour_of_day" => Grain::HourOfDay,
        "day" | "dayofmonth" | "day_of_month" => Grain::DayOfMonth,
        "week" => Grain::Week,
        "month" | "month_of_year" | "monthname" => Grain::MonthOfYear,
        "quarter" | "quarter_of_year" => Grain::QuarterOfYear,
        "year" => Grain::Year,
        "dow" | "isodow" | "dayofweek" | "day_of_week" | "weekday" | "dayname" => Grain::DayOfWeek,
        _ => return None,
    })
}
