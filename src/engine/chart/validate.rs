//! What a chart must be before anybody draws it.

use crate::model::chart::{ChartSpec, ChartType};

/// Characters of a title.
pub(super) const TITLE: usize = 60;
/// Slices of a pie, "Other" among them.
pub(super) const SLICES: usize = 8;
/// Lines, or bars side by side.
pub(super) const SERIES: usize = 24;
/// Categories of an axis, and points of a cloud.
pub(super) const VALUES: usize = 10_000;

/// Whether it can be drawn: a title of 1 to 60 characters, just the lists of its type, none empty, all lengths equal,
/// finite numbers, something to see, and no negative part of a whole.
///
/// # Errors
/// What is wrong, as a sentence.
pub fn validate(spec: &ChartSpec) -> Result<(), String> {
    let title = spec.title.chars().count();
    if spec.title.trim().is_empty() || title > TITLE {
        return Err(format!("the title has {title} characters: it needs 1 to {TITLE}, not all blank"));
    }
    let lists = [
        ("categories", spec.categories.is_some()),
        ("series", spec.series.is_some()),
        ("slices", spec.slices.is_some()),
        ("points", spec.points.is_some()),
    ];
    let (kind, own): (&str, &[&str]) = match spec.r#type {
        ChartType::Bar => ("bar", &["categories", "series"]),
        ChartType::Line => ("line", &["categories", "series"]),
        ChartType::Pie => ("pie", &["slices"]),
        ChartType::Scatter => ("scatter", &["points"]),
    };
    for (name, given) in lists {
        match (given, own.contains(&name)) {
            (true, false) => return Err(format!("a {kind} chart has no {name}: leave them out")),
            (false, true) => return Err(format!("a {kind} chart needs {name}")),
            _ => {}
        }
    }
    match spec.r#type {
        ChartType::Bar | ChartType::Line => series(spec),
        ChartType::Pie => slices(spec),
        ChartType::Scatter => points(spec),
    }
}

fn series(spec: &ChartSpec) -> Result<(), String> {
    let categories = spec.categories.as_deref().unwrap_or_default().len();
    let series = spec.series.as_deref().unwrap_or_default();
    counted("categories", categories, VALUES)?;
    counted("series", series.len(), SERIES)?;
    for one in series {
        if one.data.len() != categories {
            return Err(format!(
                "the series “{}” has {} values for {categories} categories: the lengths must agree",
                one.label,
                one.data.len()
            ));
        }
        if one.data.iter().flatten().any(|value| !value.is_finite()) {
            return Err(format!("the series “{}” has a value that is not finite", one.label));
        }
    }
    match series.iter().any(|one| one.data.iter().any(Option::is_some)) {
        true => Ok(()),
        false => Err("no series has a value".into()),
    }
}

fn slices(spec: &ChartSpec) -> Result<(), String> {
    let slices = spec.slices.as_deref().unwrap_or_default();
    counted("slices", slices.len(), SLICES)?;
    if let Some(slice) = slices.iter().find(|slice| !slice.value.is_finite() || slice.value < 0.0) {
        return Err(format!("the slice “{}” is {}: parts of a whole are 0 or more", slice.label, slice.value));
    }
    let total: f64 = slices.iter().map(|slice| slice.value).sum();
    match total > 0.0 && total.is_finite() {
        true => Ok(()),
        false => Err("the slices add up to nothing that can be shown".into()),
    }
}

fn points(spec: &ChartSpec) -> Result<(), String> {
    let points = spec.points.as_deref().unwrap_or_default();
    counted("points", points.len(), VALUES)?;
    match points.iter().all(|point| point.x.is_finite() && point.y.is_finite()) {
        true => Ok(()),
        false => Err("a point has a coordinate that is not finite".into()),
    }
}

fn counted(name: &str, count: usize, most: usize) -> Result<(), String> {
    match count {
        0 => Err(format!("there are no {name}")),
        count if count > most => Err(format!("there are {count} {name}: at most {most} can be drawn")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Parsing and validating, as for a chart that comes from outside.
    fn accepts(spec: Value) -> bool {
        serde_json::from_value::<ChartSpec>(spec).is_ok_and(|spec| validate(&spec).is_ok())
    }

    fn bar(data: Value) -> Value {
        json!({"type": "bar", "title": "T", "categories": ["a", "b"], "series": [{"label": "s", "data": data}]})
    }

    fn slices(count: usize) -> Value {
        let slices: Vec<Value> = (0..count).map(|at| json!({"label": at.to_string(), "value": 1})).collect();
        json!({"type": "pie", "title": "T", "slices": slices})
    }

    fn titled(title: &str) -> Value {
        let mut spec = slices(2);
        spec["title"] = json!(title);
        spec
    }

    #[test]
    fn whole_charts_are_accepted() {
        for spec in [
            bar(json!([1, 2])),
            bar(json!([-1, 2.5])),
            bar(json!([null, 2])),
            json!({"type": "bar", "title": "T", "layout": "horizontal", "categories": ["a"],
                   "series": [{"label": "s", "data": [1]}], "xAxisLabel": "x", "yAxisLabel": "y"}),
            json!({"type": "line", "title": "T", "categories": ["a", "b"],
                   "series": [{"label": "s", "data": [1, 2]}, {"label": "t", "data": [3, 4]}]}),
            slices(8),
            slices(1),
            json!({"type": "scatter", "title": "T", "points": [{"x": -1.5, "y": 2}, {"x": 1, "y": 2, "label": "p"}]}),
            titled(&"x".repeat(60)),
            titled(&"ä".repeat(60)),
        ] {
            assert!(accepts(spec.clone()), "{spec}");
        }
    }

    #[test]
    fn anything_less_is_refused() {
        let with = |key: &str, value: Value| {
            let mut spec = bar(json!([1, 2]));
            spec[key] = value;
            spec
        };
        let missing = |key: &str| {
            let mut spec = bar(json!([1, 2]));
            spec.as_object_mut().unwrap().remove(key);
            spec
        };
        for spec in [
            with("type", json!("heatmap")),
            titled(&"x".repeat(61)),
            titled(""),
            titled("  "),
            missing("title"),
            missing("type"),
            missing("categories"),
            missing("series"),
            slices(9),
            slices(0),
            with("layout", json!("diagonal")),
            with("slices", json!([{"label": "a", "value": 1}])),
            with("points", json!([])),
            with("colour", json!("red")),
            with("categories", json!([])),
            with("series", json!([])),
            bar(json!(["1", "2"])),
            bar(json!([1])),
            bar(json!([1, 2, 3])),
            bar(json!([null, null])),
            json!({"type": "scatter", "title": "T", "points": []}),
            json!({"type": "scatter", "title": "T", "points": [{"x": "1", "y": 2}]}),
            json!({"type": "pie", "title": "T", "slices": [{"label": "a", "value": -1}, {"label": "b", "value": 2}]}),
            json!({"type": "pie", "title": "T", "slices": [{"label": "a", "value": 0}]}),
        ] {
            assert!(!accepts(spec.clone()), "{spec}");
        }
        let infinite: ChartSpec = serde_json::from_value(bar(json!([1, 2]))).unwrap();
        let infinite = ChartSpec {
            series: Some(vec![crate::model::chart::Series {
                label: "s".into(),
                data: vec![Some(f64::INFINITY), None],
            }]),
            ..infinite
        };
        assert_eq!(validate(&infinite), Err("the series “s” has a value that is not finite".into()));
    }
}
