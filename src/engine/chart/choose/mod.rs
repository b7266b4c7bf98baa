//! Which charts fit a result.
//!
//! | the answer has | chart |
//! |---|---|
//! | one dimension of time, at least 3 points | line; 2 points bars |
//! | time and one more dimension | a line for each of its values |
//! | a cycle of the calendar or ranges of a number | vertical bars in their order, a line when over 30 |
//! | categories | bars, the largest first unless the plan has an order, horizontal for rankings and long names; a pie for shares of the whole |
//! | two dimensions of categories | bars side by side, up to 48 |
//! | two measures of different units, or of over 30 rows, at least 10 rows | a cloud of points |
//! | a comparison | two lines, or two bars side by side |
//! | one row, no numbers, more dimensions, or rows that were cut | none |
//!
//! Numbers that can share no axis, of other units or beside a second dimension, have charts of their own, up to three
//! in all; a cloud of points shows both of its measures and stands alone.
//!
//! Of more than 8 lines the smallest are added up as "Other" where the numbers may be added up; otherwise the 8
//! largest are shown and the title says of how many. Of more than 30 bars the 30 largest are shown, and the title says
//! so. Rows without a time are not on a line of time; periods without a row are gaps in it.

mod grouped;
mod timeline;

use crate::engine::render::column::{Column, Role};
use crate::engine::render::markdown::one_line;
use crate::engine::render::number::heading;
use crate::model::chart::{ChartSpec, ChartType, Layout, Point, Series, Slice};
use crate::model::plan::{By, Plan, Shown};
use crate::model::table::Table;

use super::validate::{SLICES, TITLE, validate};

/// Bars of one series.
const BARS: usize = 30;
/// Lines, or bars side by side.
const LINES: usize = 8;
/// Charts of one answer.
const CHARTS: usize = 3;
/// Points of a cloud at least.
const CLOUD: usize = 10;

/// The charts of a result; none where a chart would say no more than the text, or something else. `columns` are those of
/// the table; `title` is that of a chart alone, cut at a word: several say which numbers they show. A chart that comes
/// back is valid.
pub fn choose(plan: &Plan, columns: &[Column], table: &Table, title: &str) -> Vec<ChartSpec> {
    if table.truncated || table.rows.len() < 2 {
        return Vec::new();
    }
    let result = Result { plan, columns, table };
    let mut charts = result.charts();
    let is_alone = charts.len() == 1;
    for (spec, shown, measures) in &mut charts {
        spec.title = if is_alone { titled(title, *shown) } else { titled(&result.says(measures), *shown) };
    }
    charts.into_iter().map(|(spec, ..)| spec).filter(|spec| validate(spec).is_ok()).collect()
}

/// What part of everything a chart shows: "top 8 of 16".
type Part = Option<(usize, usize)>;

struct Result<'a> {
    plan: &'a Plan,
    columns: &'a [Column],
    table: &'a Table,
}

impl Result<'_> {
    #[expect(clippy::indexing_slicing, reason = "every position in this module is one that `positions` found")]
    fn column(&self, at: usize) -> &Column {
        &self.columns[at]
    }

    /// Each with the columns of the numbers that it shows.
    fn charts(&self) -> Vec<(ChartSpec, Part, Vec<usize>)> {
        if self.plan.is_listing() {
            return self.listed_cloud().map(|(spec, part)| (spec, part, Vec::new())).into_iter().collect();
        }
        let dimensions: Vec<usize> = self.positions(|column| column.role.is_dimension());
        let named = self.named_twice(&dimensions);
        let mut charts = Vec::new();
        for measures in self.measures(named.is_none() && dimensions.len() > 1) {
            let Some((spec, part)) = self.chart(&dimensions, named, &measures) else { continue };
            let is_cloud = spec.r#type == ChartType::Scatter;
            charts.push((spec, part, measures));
            if is_cloud || charts.len() == CHARTS {
                break;
            }
        }
        charts
    }

    fn chart(&self, dimensions: &[usize], named: Option<usize>, measures: &[usize]) -> Option<(ChartSpec, Part)> {
        if let Some(named) = named {
            return self.of_categories(named, measures);
        }
        match dimensions {
            [only] if self.column(*only).is_timeline() => self.over_time(*only, None, measures),
            [only] => self.of_categories(*only, measures),
            [first, second] => match (self.column(*first).is_timeline(), self.column(*second).is_timeline()) {
                (true, false) => self.over_time(*first, Some(*second), measures),
                (false, true) => self.over_time(*second, Some(*first), measures),
                (false, false) => self.side_by_side(*first, *second, *measures.first()?),
                (true, true) => None,
            },
            _ => None,
        }
    }

    /// Which numbers of which groups: "Average delay by carrier".
    fn says(&self, measures: &[usize]) -> String {
        let headings = |columns: &mut dyn Iterator<Item = &Column>| {
            let headings: Vec<String> = columns.map(|column| one_line(&column.heading)).collect();
            headings.join(" and ")
        };
        let is_own = |column: &&Column| matches!(column.role, Role::Measure(_));
        let numbers = headings(&mut measures.iter().filter_map(|at| self.columns.get(*at)).filter(is_own));
        let groups = headings(&mut self.columns.iter().filter(|column| column.role.is_dimension()));
        format!("{numbers} by {groups}")
    }

    /// Of several dimensions the one that names each row alone, when the others only say the same in numbers: "customer
    /// and customer number".
    fn named_twice(&self, dimensions: &[usize]) -> Option<usize> {
        let names = |at: &&usize| !self.column(**at).style.code && !self.column(**at).is_timeline();
        let mut texts = dimensions.iter().filter(names);
        let (named, others) = (texts.next()?, texts.next());
        let mut labels = std::collections::BTreeSet::new();
        let mut alone = || self.table.rows.iter().all(|row| labels.insert(self.label(row, *named)));
        let rest_are_codes = dimensions.iter().all(|at| at == named || self.column(*at).style.code);
        (dimensions.len() > 1 && others.is_none() && rest_are_codes && alone()).then_some(*named)
    }

    fn positions(&self, is: impl Fn(&Column) -> bool) -> Vec<usize> {
        self.columns.iter().enumerate().filter(|(_, column)| is(column)).map(|(at, _)| at).collect()
    }

    /// The columns of numbers that can share an axis, of the same unit, in the order of the first of each; a measure with
    /// its value at a comparison's time alone. `apart` where no two fit into one chart.
    fn measures(&self, apart: bool) -> Vec<Vec<usize>> {
        let has_values = |at: &usize| self.table.rows.iter().any(|row| self.number(row, *at).is_some());
        let all = self.positions(|column| matches!(column.role, Role::Measure(_) | Role::Other(_)));
        let compared = self.plan.comparison.is_some();
        let alike = |one: usize, other: usize| {
            let (Some(one), Some(other)) = (self.columns.get(one), self.columns.get(other)) else { return false };
            let same_measure = matches!((other.role, one.role),
                (Role::Other(other) | Role::Measure(other), Role::Measure(own)) if other == own);
            let same_axis = other.style.unit == one.style.unit && other.style.part == one.style.part;
            same_axis && (same_measure || !compared && !apart)
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in all.into_iter().filter(has_values) {
            match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(*first, at))) {
                Some(group) if group.len() < LINES => group.push(at),
                Some(_) => {}
                None => groups.push(vec![at]),
            }
        }
        groups
    }

    /// The number of a cell as it is drawn: parts of 1 as per cent.
    fn number(&self, row: &[serde_json::Value], at: usize) -> Option<f64> {
        let column = self.columns.get(at)?;
        let digits = column.number(row.get(at)?)?;
        let digits = if column.style.part { digits.percent() } else { digits };
        digits.text(false).parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn label(&self, row: &[serde_json::Value], at: usize) -> String {
        match (self.columns.get(at), row.get(at)) {
            (Some(column), Some(value)) => match one_line(&column.bare(value)) {
                text if text.is_empty() => "(empty)".into(),
                text => text,
            },
            _ => String::new(),
        }
    }

    /// A column's heading with its unit.
    fn axis(&self, at: usize) -> Option<String> {
        let column = self.columns.get(at)?;
        let name = one_line(&heading(&column.heading, &column.style));
        let per_cent = column.style.part || column.style.unit.as_deref() == Some("%");
        let name = if per_cent && !name.contains('%') { format!("{name} (%)") } else { name };
        (!name.is_empty()).then_some(name)
    }

    fn is_ranking(&self) -> bool {
        self.plan.order.first().is_some_and(|key| !matches!(key.by, By::Dimension(_)))
    }

    fn of_categories(&self, dimension: usize, measures: &[usize]) -> Option<(ChartSpec, Part)> {
        let (column, measure) = (self.column(dimension), *measures.first()?);
        let bucketed = match column.role {
            Role::Dimension(at) => self.plan.dimensions.get(at).is_some_and(|each| each.bucket.is_some()),
            _ => false,
        };
        if column.style.grain.is_some() || bucketed {
            return self.in_order(dimension, measures);
        }
        if let Some(cloud) = self.cloud(Some(dimension)) {
            return Some((cloud, None));
        }
        if let Some(pie) = self.pie(dimension, measures) {
            return Some((pie, None));
        }
        let mut rows: Vec<&[serde_json::Value]> = self.table.rows.iter().map(Vec::as_slice).collect();
        let all = rows.len();
        let value = |row: &&[serde_json::Value]| self.number(row, measure).unwrap_or(f64::NEG_INFINITY);
        let in_numbers = rows.iter().any(|row| self.number(row, dimension).is_some());
        if all > BARS && !self.is_ranking() {
            rows.sort_by(|left, right| value(right).abs().total_cmp(&value(left).abs()));
        }
        rows.truncate(BARS);
        if self.plan.order.is_empty() && in_numbers {
            let place = |row: &&[serde_json::Value]| self.number(row, dimension).unwrap_or(f64::INFINITY);
            rows.sort_by(|left, right| place(left).total_cmp(&place(right)));
        } else if self.plan.order.is_empty() {
            rows.sort_by(|left, right| value(right).total_cmp(&value(left)));
        }
        let categories: Vec<String> = rows.iter().map(|row| self.label(row, dimension)).collect();
        let long = categories.iter().map(|label| label.chars().count()).max().unwrap_or_default();
        let wide = long * categories.len() > 72 || long > 14;
        let layout = if self.is_ranking() || wide { Layout::Horizontal } else { Layout::Vertical };
        let series = self.series(&rows, measures);
        let part = (all > BARS).then_some((BARS, all));
        Some((self.axes(ChartType::Bar, dimension, measures, categories, series, Some(layout)), part))
    }

    /// Places in a cycle, or ranges of numbers.
    fn in_order(&self, dimension: usize, measures: &[usize]) -> Option<(ChartSpec, Part)> {
        let mut rows: Vec<&[serde_json::Value]> = self
            .table
            .rows
            .iter()
            .map(Vec::as_slice)
            .filter(|row| row.get(dimension).is_some_and(|value| !value.is_null()))
            .collect();
        let place = |row: &&[serde_json::Value]| {
            let text = row.get(dimension).and_then(|value| match value {
                serde_json::Value::Number(number) => number.as_f64(),
                serde_json::Value::String(text) => text.parse().ok(),
                _ => None,
            });
            text.unwrap_or(f64::INFINITY)
        };
        rows.sort_by(|left, right| place(left).total_cmp(&place(right)));
        if rows.len() < 2 {
            return None;
        }
        let categories: Vec<String> = rows.iter().map(|row| self.label(row, dimension)).collect();
        let series = self.series(&rows, measures);
        let (kind, layout) = match rows.len() > BARS {
            true => (ChartType::Line, None),
            false => (ChartType::Bar, Some(Layout::Vertical)),
        };
        Some((self.axes(kind, dimension, measures, categories, series, layout), None))
    }

    fn series(&self, rows: &[&[serde_json::Value]], measures: &[usize]) -> Vec<Series> {
        measures
            .iter()
            .map(|at| Series {
                label: one_line(&self.column(*at).heading),
                data: rows.iter().map(|row| self.number(row, *at)).collect(),
            })
            .collect()
    }

    fn axes(
        &self,
        r#type: ChartType,
        dimension: usize,
        measures: &[usize],
        categories: Vec<String>,
        series: Vec<Series>,
        layout: Option<Layout>,
    ) -> ChartSpec {
        let measure = measures.first().copied();
        let has_one_name = measures.len() == 1 || self.plan.comparison.is_some();
        ChartSpec {
            r#type,
            title: String::new(),
            x_axis_label: self.axis(dimension),
            y_axis_label: match has_one_name {
                true => measure.and_then(|at| self.axis(at)),
                false => measure.and_then(|at| self.column(at).style.unit.clone()),
            },
            categories: Some(categories),
            series: Some(series),
            slices: None,
            points: None,
            layout,
        }
    }

    /// Shares of one whole, all of them there, none negative.
    fn pie(&self, dimension: usize, measures: &[usize]) -> Option<ChartSpec> {
        let [measure] = measures else { return None };
        let Role::Measure(position) = self.columns.get(*measure)?.role else { return None };
        let shown = self.plan.measures.get(position)?.shown_as.as_ref()?;
        let whole = matches!(shown, Shown::Share { within } if within.is_empty());
        if !whole || self.plan.limit.is_some() || !self.plan.having.is_empty() {
            return None;
        }
        let values: Option<Vec<(String, f64)>> =
            self.table.rows.iter().map(|row| Some((self.label(row, dimension), self.number(row, *measure)?))).collect();
        let mut values = values?;
        if values.iter().any(|(_, value)| *value <= 0.0) {
            return None;
        }
        values.sort_by(|left, right| right.1.total_cmp(&left.1));
        let mut slices: Vec<Slice> = values.into_iter().map(|(label, value)| Slice { label, value }).collect();
        if slices.len() > SLICES {
            let rest: f64 = slices.drain(SLICES - 1..).map(|slice| slice.value).sum();
            slices.push(Slice { label: "Other".into(), value: rest });
        }
        Some(ChartSpec { slices: Some(slices), ..empty(ChartType::Pie) })
    }

    /// Two measures against each other, a point for each row.
    fn cloud(&self, dimension: Option<usize>) -> Option<ChartSpec> {
        let measures = self.positions(|column| matches!(column.role, Role::Measure(_)));
        let [x, y] = measures[..] else { return None };
        let rows = self.table.rows.len();
        let different = self.column(x).style.unit != self.column(y).style.unit || rows > BARS;
        if self.plan.comparison.is_some() || self.plan.limit.is_some() || rows < CLOUD || !different {
            return None;
        }
        self.points(x, y, dimension)
    }

    /// A list of just two numbers.
    fn listed_cloud(&self) -> Option<(ChartSpec, Part)> {
        let [x, y] = self.columns else { return None };
        let both_numbers = x.style.datatype.is_number() && y.style.datatype.is_number();
        match both_numbers && self.table.rows.len() >= CLOUD {
            true => Some((self.points(0, 1, None)?, None)),
            false => None,
        }
    }

    fn points(&self, x: usize, y: usize, dimension: Option<usize>) -> Option<ChartSpec> {
        let point = |row: &Vec<serde_json::Value>| {
            let label = dimension.map(|at| self.label(row, at));
            Some(Point { x: self.number(row, x)?, y: self.number(row, y)?, label })
        };
        let points: Vec<Point> = self.table.rows.iter().filter_map(point).collect();
        (points.len() >= CLOUD).then(|| ChartSpec {
            x_axis_label: self.axis(x),
            y_axis_label: self.axis(y),
            points: Some(points),
            ..empty(ChartType::Scatter)
        })
    }
}

fn empty(r#type: ChartType) -> ChartSpec {
    ChartSpec {
        r#type,
        title: String::new(),
        x_axis_label: None,
        y_axis_label: None,
        categories: None,
        series: None,
        slices: None,
        points: None,
        layout: None,
    }
}

/// At most 60 characters, cut at a word, with what part of everything is shown.
fn titled(title: &str, part: Part) -> String {
    let suffix = part.map(|(shown, all)| format!(" (top {shown} of {all})")).unwrap_or_default();
    let room = TITLE - suffix.chars().count();
    let title = match one_line(title) {
        blank if blank.is_empty() => "Result".into(),
        title if title.chars().count() > room => title.replacen(", all time", "", 1),
        title => title,
    };
    format!("{}{suffix}", cut(&title, room))
}

/// At most `most` characters, the last of them "…" where something is left out, which begins with a whole word where
/// that leaves at least half.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    let whole_word = text.chars().nth(most.saturating_sub(1)).is_some_and(char::is_whitespace);
    let kept = match kept.rsplit_once(' ') {
        Some((words, _)) if !whole_word && words.chars().count() * 2 >= most => words,
        _ => kept.as_str(),
    };
    format!("{}…", kept.trim_end_matches(|c: char| c.is_whitespace() || ",;:–-(".contains(c)))
}

#[cfg(test)]
mod tests;
