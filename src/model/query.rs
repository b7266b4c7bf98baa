//! The semantic query: a [`super::plan::Plan`] as a language model or a person writes it. Flat, without recursion, in the
//! words of the field, over the names of an ontology and small expressions in SQL's way of writing. It is read into a
//! plan and never handed to an engine; every plan can be written so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See the module. Either numbers (`measures`, for each combination of `dimensions`) or rows (`list`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Numbers: `"revenue"` (a metric), `"count(flight)"`, `"avg(flight.dep_delay)"`, `"revenue / orders as average"`,
    /// `"share(revenue)"`, `"change_percent(revenue)"` (from unit to unit),
    /// `"avg(days(order.placed, order.paid))"`, `"count(flight) filter (where flight.cancelled)"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<String>,
    /// What to group by: `"flight.carrier"`, `"flight.scheduled_departure by month"`, `"flight.distance by 500"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// Instead of measures: the fields of rows to show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// The dataset of which each row is a row of the answer, also one without any measure: `"customer"`. What to show of
    /// it is named in dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// Conditions that all hold: `"flight.origin = 'JFK' and flight.distance > 1000"`, `"customer has no order where
    /// (order.total > 9)"`, `"count(order) per customer = 0"`, `"day_of_week(flight.departure) in ('Sunday')"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Named conditions of the ontology; `"not late"` for the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<String>,
    /// `"2013-07"`, `"2013-Q3"`, `"2013-01-01 to 2013-03-31"` with its last day (a time of day as the end is not part
    /// of it), `"last year"` (of the calendar), `"last 3 months"`, `"since 2020"`; of a certain field: `"order.shipped_at in 2013-07"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Every measure beside itself at another time: `"previous period"`, `"same period last year"`, `"2012"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare_to: Option<String>,
    /// Conditions on finished numbers: `"revenue > 1000"`, `"revenue > avg(revenue)"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub having: Vec<String>,
    /// `"revenue desc"`, `"flight.carrier"`; a column also by its heading or its number, dimensions first: `"#2 desc"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// Rows at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Dimensions for each of which the limit is counted: the best three of each airport.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per: Vec<String>,
    /// Rows skipped first.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: u32,
    /// Whether rows equal to the last one are shown too.
    #[serde(skip_serializing_if = "is_false")]
    pub with_ties: bool,
    /// Whether equal rows of a list are shown once.
    #[serde(skip_serializing_if = "is_false")]
    pub distinct: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}
