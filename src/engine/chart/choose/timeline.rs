//! Lines along time.

use std::collections::BTreeMap;

use jiff::Span;
use jiff::civil::DateTime;
use serde_json::{Value, json};

use super::grouped::Matrix;
use super::{Part, Result};
use crate::model::chart::{ChartSpec, ChartType, Layout, Series};
use crate::model::plan::Grain;

/// Periods on an axis, those without a row among them.
const PERIODS: usize = 1_000;

impl Result<'_> {
    /// A line for each measure, or for each value of a second dimension; bars where there are only two periods.
    pub(super) fn over_time(&self, time: usize, by: Option<usize>, measures: &[usize]) -> Option<(ChartSpec, Part)> {
        let mut rows: Vec<&[Value]> = self
            .table
            .rows
            .iter()
            .map(Vec::as_slice)
            .filter(|row| row.get(time).is_some_and(|value| !value.is_null()))
            .collect();
        rows.sort_by_key(|row| moment(row.get(time)));
        let measure = *measures.first()?;
        let (categories, series, part) = match by {
            Some(by) => {
                let cell = |row: &&[Value]| (self.label(row, time), self.label(row, by), self.number(row, measure));
                let (matrix, part) = Matrix::of(rows.iter().map(cell))?.largest(self.column(measure).additive);
                (matrix.categories, matrix.series, part)
            }
            None => (rows.iter().map(|row| self.label(row, time)).collect(), self.series(&rows, measures), None),
        };
        if categories.len() < 2 || series.iter().all(|series| series.data.iter().flatten().count() < 2) {
            return None;
        }
        let (categories, series) = self.with_gaps(time, &rows, categories, series);
        let (kind, layout) = match categories.len() {
            2 => (ChartType::Bar, Some(Layout::Vertical)),
            _ => (ChartType::Line, None),
        };
        let shown = if by.is_some() { &[measure] } else { measures };
        Some((self.axes(kind, time, shown, categories, series, layout), part))
    }

    /// With the periods between the first and the last that have no row.
    fn with_gaps(
        &self,
        time: usize,
        rows: &[&[Value]],
        categories: Vec<String>,
        series: Vec<Series>,
    ) -> (Vec<String>, Vec<Series>) {
        let Some(labels) = self.periods(time, rows) else { return (categories, series) };
        let places: Option<Vec<usize>> =
            categories.iter().map(|category| labels.iter().position(|label| label == category)).collect();
        let Some(places) = places else { return (categories, series) };
        let spread = |one: Series| {
            let known: BTreeMap<usize, Option<f64>> = places.iter().copied().zip(one.data).collect();
            let data = (0..labels.len()).map(|place| known.get(&place).copied().flatten()).collect();
            Series { label: one.label, data }
        };
        let series = series.into_iter().map(spread).collect();
        (labels, series)
    }

    /// Every period from the first to the last, by its name. `None` where they cannot be counted.
    fn periods(&self, time: usize, rows: &[&[Value]]) -> Option<Vec<String>> {
        let column = self.column(time);
        let step = match column.style.grain? {
            Grain::Hour => Span::new().hours(1),
            Grain::Day => Span::new().days(1),
            Grain::Week => Span::new().weeks(1),
            Grain::Month => Span::new().months(1),
            Grain::Quarter => Span::new().months(3),
            Grain::Year => Span::new().years(1),
            _ => return None,
        };
        let text = |row: &&[Value]| row.get(time).and_then(Value::as_str).map(str::to_owned);
        let civil = |text: String| text.trim_end_matches('Z').parse::<DateTime>().ok();
        let (first, last) = (civil(text(rows.first()?)?)?, civil(text(rows.last()?)?)?);
        let mut labels = Vec::new();
        let mut at = first;
        while at <= last {
            if labels.len() == PERIODS {
                return None;
            }
            labels.push(column.bare(&json!(at.to_string())));
            at = at.checked_add(step).ok()?;
        }
        Some(labels)
    }
}

/// Sorts as time goes: texts of times by themselves, years by their number.
fn moment(value: Option<&Value>) -> (i64, String) {
    match value {
        Some(Value::String(text)) => (0, text.clone()),
        Some(other) => (other.as_i64().unwrap_or_default(), String::new()),
        None => (0, String::new()),
    }
}
