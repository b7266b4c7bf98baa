//! Rows of two dimensions as series over categories.

use serde_json::Value;

use super::{LINES, Part, Result};
use crate::model::chart::{ChartSpec, ChartType, Layout, Series};

/// Bars side by side in all.
const BARS: usize = 48;

/// Values by category and series, in the order in which they were met.
pub(super) struct Matrix {
    pub categories: Vec<String>,
    pub series: Vec<Series>,
}

impl Matrix {
    /// `None` when two rows have the same place: then a dimension that is not shown tells them apart.
    pub(super) fn of<'a>(cells: impl Iterator<Item = (String, String, Option<f64>)> + 'a) -> Option<Self> {
        let mut matrix = Self { categories: Vec::new(), series: Vec::new() };
        let mut filled = std::collections::BTreeSet::new();
        for (category, name, value) in cells {
            let at = matrix.categories.iter().position(|known| *known == category).unwrap_or_else(|| {
                matrix.categories.push(category);
                matrix.categories.len() - 1
            });
            if !filled.insert((at, name.clone())) {
                return None;
            }
            let series = match matrix.series.iter_mut().find(|known| known.label == name) {
                Some(known) => known,
                None => matrix.series.push_mut(Series { label: name, data: Vec::new() }),
            };
            series.data.resize(series.data.len().max(at + 1), None);
            if let Some(cell) = series.data.get_mut(at) {
                *cell = value;
            }
        }
        let length = matrix.categories.len();
        matrix.series.iter_mut().for_each(|series| series.data.resize(length, None));
        Some(matrix)
    }

    /// The largest series; what is left added up as "Other" where that means something.
    pub(super) fn largest(mut self, additive: bool) -> (Self, Part) {
        let all = self.series.len();
        if all <= LINES {
            return (self, None);
        }
        let size = |series: &Series| series.data.iter().flatten().map(|value| value.abs()).sum::<f64>();
        self.series.sort_by(|left, right| size(right).total_cmp(&size(left)));
        if !additive {
            self.series.truncate(LINES);
            return (self, Some((LINES, all)));
        }
        let rest = self.series.split_off(LINES - 1);
        let sum = |at: usize| rest.iter().filter_map(|series| *series.data.get(at)?).reduce(|left, right| left + right);
        let data = (0..self.categories.len()).map(sum).collect();
        self.series.push(Series { label: "Other".into(), data });
        (self, None)
    }
}

impl Result<'_> {
    /// Bars of the dimension with fewer values beside each other, for each value of the other.
    pub(super) fn side_by_side(&self, first: usize, second: usize, measure: usize) -> Option<(ChartSpec, Part)> {
        let distinct = |at: usize| {
            let labels: std::collections::BTreeSet<String> =
                self.table.rows.iter().map(|row| self.label(row, at)).collect();
            labels.len()
        };
        let (outer, inner) = if distinct(first) >= distinct(second) { (first, second) } else { (second, first) };
        let cell = |row: &Vec<Value>| (self.label(row, outer), self.label(row, inner), self.number(row, measure));
        let (matrix, part) = Matrix::of(self.table.rows.iter().map(cell))?.largest(self.column(measure).additive);
        if matrix.categories.len() < 2 || matrix.categories.len() * matrix.series.len() > BARS {
            return None;
        }
        let long = matrix.categories.iter().map(|label| label.chars().count()).max().unwrap_or_default();
        let layout = if long > 18 { Layout::Horizontal } else { Layout::Vertical };
        let spec = self.axes(ChartType::Bar, outer, &[measure], matrix.categories, matrix.series, Some(layout));
        Some((spec, part))
    }
}
