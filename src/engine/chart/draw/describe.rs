//! A chart in words, for those who do not see it.

use super::scale::value;
use super::text::label;
use crate::model::chart::{ChartSpec, ChartType, Series};

/// Series that are described one by one.
const DESCRIBED: usize = 6;

/// What kind it is, how much it shows, and the extremes.
pub(super) fn summary(spec: &ChartSpec) -> String {
    let categories = spec.categories.as_deref().unwrap_or_default();
    let series = spec.series.as_deref().unwrap_or_default();
    match spec.r#type {
        ChartType::Bar | ChartType::Line => {
            let kind = if spec.r#type == ChartType::Bar { "Bar chart" } else { "Line chart" };
            let span = match (categories.first(), categories.last()) {
                (Some(first), Some(last)) if categories.len() > 1 => {
                    format!(" of {} values from {} to {}", categories.len(), label(first), label(last))
                }
                (Some(only), _) => format!(" of {}", label(only)),
                _ => String::new(),
            };
            let told: Vec<String> = series.iter().take(DESCRIBED).map(|one| extremes(one, categories)).collect();
            let more = match series.len().saturating_sub(DESCRIBED) {
                0 => String::new(),
                more => format!(" And {more} more series."),
            };
            format!("{kind}{span}. {}{more}", told.join(" "))
        }
        ChartType::Pie => {
            let slices = spec.slices.as_deref().unwrap_or_default();
            let total: f64 = slices.iter().map(|slice| slice.value).sum();
            let parts: Vec<String> = slices
                .iter()
                .map(|slice| {
                    format!("{}: {}%", label(&slice.label), value((slice.value / total * 1000.0).round() / 10.0))
                })
                .collect();
            format!("Pie chart. {}.", parts.join(", "))
        }
        ChartType::Scatter => {
            let points = spec.points.as_deref().unwrap_or_default();
            let span = |of: fn(&crate::model::chart::Point) -> f64| {
                let (low, high) = points
                    .iter()
                    .map(of)
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
                format!("from {} to {}", value(low), value(high))
            };
            let name = |name: &Option<String>, other: &str| name.as_deref().map_or_else(|| other.to_owned(), label);
            format!(
                "Scatter chart of {} points. {} {}; {} {}.",
                points.len(),
                name(&spec.x_axis_label, "Across"),
                span(|point| point.x),
                name(&spec.y_axis_label, "Upright"),
                span(|point| point.y)
            )
        }
    }
}

fn extremes(series: &Series, categories: &[String]) -> String {
    let values = || series.data.iter().zip(categories).filter_map(|(value, category)| Some(((*value)?, category)));
    let low = values().min_by(|left, right| left.0.total_cmp(&right.0));
    let high = values().max_by(|left, right| left.0.total_cmp(&right.0));
    let name = label(&series.label);
    match (low, high) {
        (Some((low, at_low)), Some((high, at_high))) if low < high => {
            format!("{name}: lowest {} ({}), highest {} ({}).", value(low), label(at_low), value(high), label(at_high))
        }
        (Some((low, _)), _) => format!("{name}: {} throughout.", value(low)),
        _ => format!("{name}: no values."),
    }
}
