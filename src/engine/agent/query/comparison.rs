//! The times of a whole query: which rows, and beside which others.

use super::cursor::{Read, Reader};
use super::problem::Wrong;
use super::times::bounded;
use crate::engine::agent::plan::window::{Span, midnight};
use crate::model::plan::{Comparison, Dimension, TimeFilter, Window};

const OTHER_TIMES: &str = "`compare_to` is `previous period`, `same period last year`, or a time such as `2012`";

/// The other time, said by the first one.
enum Beside {
    PreviousPeriod,
    YearBefore,
}

impl Reader<'_> {
    /// `2013-07`, `order.shipped_at in 2013-07`.
    pub(super) fn time_filter(&mut self) -> Read<TimeFilter> {
        let length = self.path_length().unwrap_or(0);
        let signs = ["=", "<", "<=", ">", ">="];
        let is_field = length > 0
            && (self.is(length, &["in", "during", "within", "between"])
                || signs.iter().any(|sign| self.is_sign(length, sign)));
        if !is_field {
            return Ok(TimeFilter { field: None, window: self.window()? });
        }
        let field = self.field()?;
        if let Some(op) = self.comparator() {
            let at = self.here();
            let window = self.point_or_window()?.ok_or_else(|| Wrong::at(at, "a time is missing"))?;
            let window = bounded(op, window);
            return Ok(TimeFilter { field: Some(field), window });
        }
        self.eat(&["in", "during", "within"]);
        Ok(TimeFilter { field: Some(field), window: self.window()? })
    }

    /// The time that another is held against, and what the rows of both are matched by.
    pub(super) fn comparison_with(&mut self, main: Option<&Window>, dimensions: &[Dimension]) -> Read<Comparison> {
        let at = self.here();
        let said = self.beside();
        let with = match &said {
            None => self
                .window()
                .map_err(|wrong| Wrong { message: format!("{}; {OTHER_TIMES}", wrong.message), ..wrong })?,
            Some(beside) => {
                let Some(main) = main else {
                    return Err(Wrong::at(at, "this needs to know before what: say the query's own `time`"));
                };
                let open =
                    || Wrong::at(at, "there is no such time before one without beginning or end: give `time` both");
                let span = Span::read(main).ok_or_else(open)?;
                let span = match beside {
                    Beside::PreviousPeriod => span.before(),
                    Beside::YearBefore => self.passed(span).year_before(),
                };
                span.ok_or_else(open)?.window(None)
            }
        };
        let mut align = None;
        if self.eat(&["by"]) {
            align = Some(self.grain()?);
        } else if said.is_some() {
            align = dimensions.iter().find_map(|dimension| dimension.grain);
        }
        Ok(Comparison { with, align })
    }

    /// As much of a time that goes on as has passed by the end of today.
    fn passed(&self, main: Span) -> Span {
        let today = self.now.date().tomorrow().map_or(main.end, midnight);
        let goes_on = main.start <= self.now && main.end > today;
        if goes_on { Span::new(main.start, today).unwrap_or(main) } else { main }
    }

    fn beside(&mut self) -> Option<Beside> {
        const BEFORE: [&str; 15] = [
            "previous period", "prior period", "preceding period", "last period", "the previous period",
            "period before", "the period before", "month over month", "week over week", "quarter over quarter",
            "day over day", "mom", "wow", "qoq", "dod",
        ];
        const YEAR: [&str; 9] = [
            "last year", "previous year", "prior year", "the year before", "year before", "a year ago", "year ago",
            "year over year", "yoy",
        ];
        if self.eat(&BEFORE) {
            return Some(Beside::PreviousPeriod);
        }
        let place = self.place();
        self.eat(&["the"]);
        let is_same =
            self.eat(&["same"]) && (self.eat(&["period", "time", "dates", "days", "range"]) || self.unit_word());
        if is_same {
            self.eat(&["of", "in"]);
            self.eat(&["the"]);
        }
        if self.eat(&YEAR) {
            return Some(Beside::YearBefore);
        }
        self.back_to(place);
        let alone = self.are("previous") == Some(1) && (self.kind(1).is_none() || self.is(1, &["by"]));
        self.skip(usize::from(alone));
        alone.then_some(Beside::PreviousPeriod)
    }

    fn unit_word(&mut self) -> bool {
        let is = self.is(0, &["day", "week", "month", "quarter", "year"]);
        self.skip(usize::from(is));
        is
    }
}

/// Whether a time would be read as said by the query's own.
pub(super) fn is_beside(said: &str) -> bool {
    let first = said.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["previous", "prior", "preceding", "last", "same", "the", "year", "a", "period", "month", "week", "quarter", "day"]
        .contains(&first.as_str())
        || ["mom", "wow", "qoq", "dod", "yoy"].contains(&first.as_str())
}
