//! The semantic query plan: what a question asks, in terms of an ontology. Planners emit it, and one compiler turns it
//! into SQL; nothing else does. It says what, never how: joins are found by the navigator, sums are made at the grain
//! of each measure by the compiler.
//!
//! A plan is an answer of rows: one for each combination of [`Plan::dimensions`], with one column for each dimension
//! and then for each of [`Plan::measures`] (and its comparison's). Without measures it lists the rows of
//! [`Plan::subject`].

pub mod f64bits;
mod walk;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use walk::{Node, NodeMut};

use crate::model::ontology::{Aggregation, Ontology};

/// See the module. All conditions hold together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// The dataset whose rows are listed when there are no measures; otherwise what a row of the answer is about, if
    /// it is more than its dimensions say: each row of it is a group of its own, also one without any measure
    /// ("customers by number of orders" shows those with none).
    pub subject: Option<String>,
    pub dimensions: Vec<Dimension>,
    pub measures: Vec<Measure>,
    pub filters: Vec<Condition>,
    pub time: Option<TimeFilter>,
    pub comparison: Option<Comparison>,
    /// Conditions on the finished numbers.
    pub having: Vec<Having>,
    pub order: Vec<Order>,
    pub limit: Option<Limit>,
    /// Whether equal rows of a list are shown once.
    pub distinct: bool,
}

/// A field of the ontology, and which way leads to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldRef {
    pub dataset: String,
    pub field: String,
    /// Names of relationships that the way must use, where there are several ("origin" or "destination" airport).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// A column to group by, or to list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    pub field: FieldRef,
    /// For a field of time: what its values are cut to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    /// For a number: the width of the ranges that its values are put in, from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<f64bits::F64>,
    /// The column's heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A unit of the calendar, or a cycle in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    FiscalQuarter,
    FiscalYear,
    /// 0 to 23.
    HourOfDay,
    /// 1 Monday to 7 Sunday.
    DayOfWeek,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12.
    MonthOfYear,
    /// 1 to 4.
    QuarterOfYear,
}

/// A number of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub value: Value,
    /// Conditions for this number alone, beside the plan's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Condition>,
    /// What is shown instead of the number itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_as: Option<Shown>,
    /// The column's heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// What a number is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Value {
    /// A metric of the ontology, by name.
    Metric(String),
    /// How many rows of a dataset (its grain), each counted once whatever it is joined to.
    Count(String),
    /// An aggregate of one field at the field's own grain.
    Aggregate { function: Aggregation, field: FieldRef },
    /// One measure divided by another, NULL where that is 0.
    Ratio { numerator: Box<Measure>, denominator: Box<Measure> },
    /// An aggregate of the days from one date to another, of the same row or of rows that it belongs to: less than 0
    /// where the second date is the earlier one. Times of the day count where both have one (12 hours are 0.5), but not
    /// for a number of days that is to be equal to another; otherwise it is 0 on the same day.
    Days { function: Aggregation, from: FieldRef, to: FieldRef },
    /// Measures added up; one without a row counts as 0.
    Sum(Vec<Measure>),
    /// The first less the second.
    Difference(Box<Measure>, Box<Measure>),
    /// An aggregate of another measure taken for each value of `by`: "the average number of flights a day". Groups
    /// without any row of the measure are not part of it, but for rows of a dataset and for units of time of a window,
    /// which have 0 of what is counted or added up.
    Over { function: Aggregation, measure: Box<Measure>, by: Vec<Dimension> },
    /// A literal.
    Number(f64bits::F64),
}

/// How a number is shown in relation to its column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Part of the total over all rows of the answer before limits, 0 to 1. With dimensions given (positions in
    /// [`Plan::dimensions`]), part of the total of the rows that share them.
    Share { within: Vec<usize> },
    /// Running total along the first time dimension, for each combination of the others.
    Cumulative,
    /// Change to the unit of time right before along the first time dimension, also of the first in the window. A unit
    /// between others that has no row has 0 of what is counted or added up, and no value otherwise. Where times are cut
    /// to no unit, the row before is meant.
    Change,
    /// The same as a part of what was before: 0.1 is 10 % more.
    ChangePercent,
    /// Mean of this unit of time and the `rows - 1` before, which are found as for [`Shown::Change`].
    MovingAverage { rows: u32 },
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    Compare {
        field: FieldRef,
        op: Comparator,
        value: Literal,
    },
    /// One field against another.
    CompareFields {
        left: FieldRef,
        op: Comparator,
        right: FieldRef,
    },
    /// Any of the values (`negated`: none of them; NULL is none of them).
    In {
        field: FieldRef,
        values: Vec<Literal>,
        #[serde(default)]
        negated: bool,
    },
    /// A text inside a text, without regard to case.
    Like {
        field: FieldRef,
        pattern: Pattern,
        text: String,
        #[serde(default)]
        negated: bool,
    },
    IsNull {
        field: FieldRef,
        #[serde(default)]
        negated: bool,
    },
    /// Rows whose time is in a window.
    Within {
        field: FieldRef,
        window: Window,
        #[serde(default)]
        negated: bool,
    },
    /// Rows whose time is on one of some days of the week: 1 is Monday, 7 is Sunday.
    OnDays {
        field: FieldRef,
        days: Vec<u8>,
        #[serde(default)]
        negated: bool,
    },
    /// Rows whose hour of the day, in the ontology's time zone, is from one (0 to 23) up to but not with another (1 to
    /// 24). Where the second is not after the first, the night between them.
    AtHours {
        field: FieldRef,
        from: u8,
        to: u8,
        #[serde(default)]
        negated: bool,
    },
    /// A named condition of the ontology.
    Segment {
        name: String,
        #[serde(default)]
        negated: bool,
    },
    /// Rows of `of` for which there is a row (`negated`: no row) of `dataset` that meets the conditions: "customers
    /// who never ordered".
    Exists {
        of: String,
        dataset: String,
        #[serde(default)]
        via: Vec<String>,
        #[serde(default)]
        filters: Vec<Condition>,
        #[serde(default)]
        negated: bool,
    },
    /// Rows of `of` whose own number meets a bound: "customers with more than 3 orders".
    Measured {
        of: String,
        measure: Box<Measure>,
        op: Comparator,
        value: Literal,
    },
    /// Rows of `of` whose own number is above or below the mean of all rows of `of`, when `than` is absent; otherwise
    /// whose field compares with that aggregate of the field: "flights longer than the average".
    AgainstOverall {
        field: FieldRef,
        op: Comparator,
        function: Aggregation,
    },
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    Contains,
    StartsWith,
    EndsWith,
}

/// A value in a question. The compiler writes it as the type of the field that it meets, and refuses what is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Literal {
    Bool(bool),
    Number(f64bits::F64),
    Text(String),
}

/// The time that the rows of every measure are in. Each measure uses its own time field unless `field` says which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeFilter {
    #[serde(default)]
    pub field: Option<FieldRef>,
    pub window: Window,
}

/// From `start` up to but not with `end`, as civil times `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM:SS` of the ontology's zone.
/// Open where absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    pub start: Option<String>,
    pub end: Option<String>,
    /// The words that it was made from, such as "last quarter".
    pub phrase: Option<String>,
    /// How it lies to the time of asking, in a plan that is kept to be asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub relative: Option<Relative>,
}

/// A window that moves with the time of asking; open where absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Relative {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Moment>,
}

/// A time, as it is found when a plan is asked: from one that the calendar has, so many units on, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    pub from: Anchor,
    /// Back where the count is negative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Step>,
}

/// Where a moment is counted from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Anchor {
    /// A time that does not move, as windows have it.
    At(String),
    /// The beginning of the unit that is so many after the present one, or before it when negative: "last month" begins
    /// with the month that is -1 ahead, and ends with the one that is 0.
    Unit { unit: TimeUnit, ahead: i64 },
    /// The Monday of the week that is so many after the present one, wherever weeks begin: of "last weekend".
    Monday { ahead: i64 },
    /// The latest day of this name that has begun: "in January".
    Day { month: i8, day: i8 },
    /// The beginning of the latest week of this number that has begun (ISO 8601).
    Week(i8),
}

/// So many units on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub count: i64,
    pub unit: TimeUnit,
}

/// What time is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Half,
    Year,
    FiscalQuarter,
    FiscalHalf,
    FiscalYear,
}

/// Every measure beside itself at another time. Adds, after each measure: the other value, the difference, and the
/// change as a part of the other value (NULL where that is 0).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub with: Window,
    /// What the rows of both times are matched by when a dimension is a time: the same place in either window.
    #[serde(default)]
    pub align: Option<Grain>,
}

/// A condition on a finished number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Having {
    /// Position in [`Plan::measures`].
    pub measure: usize,
    pub op: Comparator,
    pub value: Bound,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    Number(f64bits::F64),
    /// An aggregate of the column over all rows of the answer: "above average".
    Overall(Aggregation),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub by: By,
    #[serde(default)]
    pub descending: bool,
}

/// A column of the answer by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Dimension(usize),
    Measure(usize),
    /// The comparison's difference of a measure.
    Difference(usize),
    /// The comparison's change of a measure.
    Change(usize),
}

/// The first rows in the plan's order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub rows: u32,
    /// For each combination of these dimensions (positions): "the top 3 carriers of each airport".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per: Vec<usize>,
    /// Rows equal to the last one in the first order are shown too.
    #[serde(default)]
    pub with_ties: bool,
    /// Rows skipped before: 1 for "the second".
    #[serde(default)]
    pub skip: u32,
}

impl Plan {
    /// Whether it lists rows instead of computing.
    pub fn is_listing(&self) -> bool {
        self.measures.is_empty()
    }
}

impl FieldRef {
    pub fn new(dataset: impl Into<String>, field: impl Into<String>) -> Self {
        Self { dataset: dataset.into(), field: field.into(), via: Vec::new() }
    }

    /// Whether its values are days of the calendar, or times of such.
    pub fn is_calendar(&self, on: &Ontology) -> bool {
        on.field(&self.dataset, &self.field).is_some_and(|field| field.datatype.is_calendar())
    }
}

impl Dimension {
    pub fn of(field: FieldRef) -> Self {
        Self { field, grain: None, bucket: None, label: None }
    }
}

impl Measure {
    pub fn of(value: Value) -> Self {
        Self { value, filters: Vec::new(), shown_as: None, label: None }
    }

    pub fn metric(name: impl Into<String>) -> Self {
        Self::of(Value::Metric(name.into()))
    }

    /// Whether it is the part of another for which more conditions hold.
    pub fn is_part_of(&self, whole: &Measure) -> bool {
        self.value == whole.value
            && self.filters.len() > whole.filters.len()
            && whole.filters.iter().all(|filter| self.filters.contains(filter))
    }
}

impl Grain {
    /// A repeating part of the calendar rather than a stretch of it.
    pub fn is_cycle(self) -> bool {
        use Grain::{DayOfMonth, DayOfWeek, HourOfDay, MonthOfYear, QuarterOfYear};
        matches!(self, HourOfDay | DayOfWeek | DayOfMonth | MonthOfYear | QuarterOfYear)
    }

    /// As people say it.
    pub fn words(self) -> &'static str {
        match self {
            Grain::Hour => "hour",
            Grain::Day => "day",
            Grain::Week => "week",
            Grain::Month => "month",
            Grain::Quarter => "quarter",
            Grain::Year => "year",
            Grain::FiscalQuarter => "fiscal quarter",
            Grain::FiscalYear => "fiscal year",
            Grain::HourOfDay => "hour of the day",
            Grain::DayOfWeek => "day of the week",
            Grain::DayOfMonth => "day of the month",
            Grain::MonthOfYear => "month of the year",
            Grain::QuarterOfYear => "quarter of the year",
        }
    }
}
