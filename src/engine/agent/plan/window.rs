//! Stretches of civil time, and units of the calendar.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};

use crate::model::ontology::Calendar;
pub(in crate::engine::agent) use crate::model::plan::TimeUnit as Unit;
use crate::model::plan::{Grain, Window};

/// A half-open stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::agent) struct Span {
    pub start: DateTime,
    pub end: DateTime,
}

impl Unit {
    pub fn grain(self) -> Option<Grain> {
        Some(match self {
            Unit::Hour => Grain::Hour,
            Unit::Day => Grain::Day,
            Unit::Week => Grain::Week,
            Unit::Month => Grain::Month,
            Unit::Quarter => Grain::Quarter,
            Unit::Year => Grain::Year,
            Unit::FiscalQuarter => Grain::FiscalQuarter,
            Unit::FiscalYear => Grain::FiscalYear,
            Unit::Half | Unit::FiscalHalf => return None,
        })
    }

    /// The unit that times are cut to; `None` of a cycle.
    pub fn of(grain: Grain) -> Option<Self> {
        Some(match grain {
            Grain::Hour => Unit::Hour,
            Grain::Day => Unit::Day,
            Grain::Week => Unit::Week,
            Grain::Month => Unit::Month,
            Grain::Quarter => Unit::Quarter,
            Grain::Year => Unit::Year,
            Grain::FiscalQuarter => Unit::FiscalQuarter,
            Grain::FiscalYear => Unit::FiscalYear,
            Grain::HourOfDay | Grain::DayOfWeek | Grain::DayOfMonth | Grain::MonthOfYear | Grain::QuarterOfYear => {
                return None;
            }
        })
    }

    /// The same unit of the fiscal year.
    pub fn fiscal(self) -> Option<Unit> {
        Some(match self {
            Unit::Quarter => Unit::FiscalQuarter,
            Unit::Half => Unit::FiscalHalf,
            Unit::Year => Unit::FiscalYear,
            _ => return None,
        })
    }

    pub fn is_fiscal(self) -> bool {
        matches!(self, Unit::FiscalQuarter | Unit::FiscalHalf | Unit::FiscalYear)
    }

    /// How many months it has; `None` when it is not made of months.
    pub fn months(self) -> Option<i32> {
        Some(match self {
            Unit::Month => 1,
            Unit::Quarter | Unit::FiscalQuarter => 3,
            Unit::Half | Unit::FiscalHalf => 6,
            Unit::Year | Unit::FiscalYear => 12,
            Unit::Hour | Unit::Day | Unit::Week => return None,
        })
    }

    /// When the unit that a time is in began.
    pub fn start(self, at: DateTime, calendar: &Calendar) -> Option<DateTime> {
        match self {
            Unit::Hour => Some(at.date().at(at.hour(), 0, 0, 0)),
            Unit::Day => Some(midnight(at.date())),
            Unit::Week => {
                let first = i64::from(calendar.week_start.clamp(1, 7));
                let back = (i64::from(at.weekday().to_monday_one_offset()) - first).rem_euclid(7);
                at.date().checked_sub(back.days()).ok().map(midnight)
            }
            _ => {
                let first = if self.is_fiscal() { i32::from(calendar.fiscal_year_start.clamp(1, 12)) } else { 1 };
                let back = (i32::from(at.month()) - first).rem_euclid(12) % self.months()?;
                let month = at.date().first_of_month();
                month.checked_sub(back.months()).ok().map(midnight)
            }
        }
    }

    /// As many units later, or earlier when negative.
    pub fn add(self, at: DateTime, count: i64) -> Option<DateTime> {
        let span = match self {
            Unit::Hour => jiff::Span::new().try_hours(count),
            Unit::Day => jiff::Span::new().try_days(count),
            Unit::Week => jiff::Span::new().try_weeks(count),
            _ => jiff::Span::new().try_months(count.checked_mul(i64::from(self.months()?))?),
        };
        at.checked_add(span.ok()?).ok()
    }

    /// Units counted from the one that a time is in, which is 0: from the first up to but not with the second.
    pub(in crate::engine::agent) fn around(
        self,
        at: DateTime,
        from: i64,
        to: i64,
        calendar: &Calendar,
    ) -> Option<Span> {
        let this = self.start(at, calendar)?;
        Span::new(self.add(this, from)?, self.add(this, to)?)
    }
}

/// A week of ISO 8601: from Monday on, the first with most of its days in the year.
pub(in crate::engine::agent) fn iso_week(year: i16, week: i8) -> Option<Span> {
    let monday = midnight(ISOWeekDate::new(year, week, Weekday::Monday).ok()?.date());
    Span::new(monday, Unit::Week.add(monday, 1)?)
}

pub(in crate::engine::agent) fn midnight(date: Date) -> DateTime {
    date.at(0, 0, 0, 0)
}

impl Span {
    /// `None` when it would be empty.
    pub(crate) fn new(start: DateTime, end: DateTime) -> Option<Span> {
        (start < end).then_some(Span { start, end })
    }

    pub(crate) fn day(date: Date) -> Option<Span> {
        Span::new(midnight(date), midnight(date.tomorrow().ok()?))
    }

    /// Whole months from the first of a month on.
    pub(crate) fn months(year: i16, month: i8, count: i32) -> Option<Span> {
        let start = Date::new(year, month, 1).ok()?;
        Span::new(midnight(start), midnight(start.checked_add(count.months()).ok()?))
    }

    /// The fiscal year of a number, in months from `skip` on.
    pub(crate) fn fiscal(year: i16, skip: i32, count: i32, calendar: &Calendar) -> Option<Span> {
        let month = calendar.fiscal_year_start.clamp(1, 12);
        let year = if month == 1 { year } else { year.checked_sub(1)? };
        let start = Date::new(year, i8::try_from(month).ok()?, 1).ok()?;
        let start = start.checked_add(skip.months()).ok()?;
        Span::new(midnight(start), midnight(start.checked_add(count.months()).ok()?))
    }

    pub(crate) fn window(self, phrase: Option<String>) -> Window {
        Window { start: Some(text(self.start)), end: Some(text(self.end)), phrase, relative: None }
    }

    pub(crate) fn read(window: &Window) -> Option<Span> {
        Span::new(read(window.start.as_deref()?)?, read(window.end.as_deref()?)?)
    }

    /// How many whole months it has; `None` when it is not made of whole months.
    pub(crate) fn whole_months(self) -> Option<i32> {
        let first = |at: DateTime| at.day() == 1 && at == midnight(at.date());
        let months = i32::from(self.end.year() - self.start.year()) * 12 + i32::from(self.end.month())
            - i32::from(self.start.month());
        (first(self.start) && first(self.end)).then_some(months)
    }

    /// As much time right before.
    pub(crate) fn before(self) -> Option<Span> {
        let start = match self.whole_months() {
            Some(months) => self.start.checked_sub(months.months()),
            None => self.start.checked_sub(self.end.duration_since(self.start)),
        };
        Span::new(start.ok()?, self.start)
    }

    /// The same dates a year before. The last day goes back, not the end after it, so that what ends with 28 February
    /// does so in every year.
    pub(crate) fn year_before(self) -> Option<Span> {
        let back = |at: DateTime| at.checked_sub(1.year()).ok();
        let is_midnight = self.end == midnight(self.end.date());
        let end = if self.whole_months().is_some() || !is_midnight {
            back(self.end)?
        } else {
            back(self.end.checked_sub(1.day()).ok()?)?.checked_add(1.day()).ok()?
        };
        Span::new(back(self.start)?, end)
    }
}

/// As windows have it: a day, or a day with a time when that is not midnight.
pub(in crate::engine::agent) fn text(at: DateTime) -> String {
    if at == midnight(at.date()) { at.date().to_string() } else { at.strftime("%Y-%m-%dT%H:%M:%S").to_string() }
}

pub(in crate::engine::agent) fn read(text: &str) -> Option<DateTime> {
    text.parse::<DateTime>().ok().or_else(|| text.parse::<Date>().ok().map(midnight))
}
