use serde_json::{Value, json};

use super::*;
use crate::engine::chart::validate;

fn spec(value: Value) -> ChartSpec {
    let spec: ChartSpec = serde_json::from_value(value).unwrap();
    validate(&spec).unwrap();
    spec
}

fn light(value: Value) -> String {
    svg(&spec(value), Theme::Light)
}

fn of_type(kind: &str, labels: &[&str], data: Value) -> Value {
    match kind {
        "pie" => {
            let slices: Vec<Value> = labels
                .iter()
                .zip(data.as_array().unwrap())
                .map(|(label, value)| json!({"label": label, "value": value}))
                .collect();
            json!({"type": "pie", "title": "T", "slices": slices})
        }
        "scatter" => {
            let points: Vec<Value> = labels
                .iter()
                .zip(data.as_array().unwrap())
                .map(|(label, value)| json!({"x": value, "y": value, "label": label}))
                .collect();
            json!({"type": "scatter", "title": "T", "points": points})
        }
        "lying" => json!({"type": "bar", "layout": "horizontal", "title": "T", "categories": labels,
                          "series": [{"label": "s", "data": data}]}),
        kind => json!({"type": kind, "title": "T", "categories": labels, "series": [{"label": "s", "data": data}]}),
    }
}

const KINDS: [&str; 5] = ["bar", "lying", "line", "pie", "scatter"];

/// Every tag that is opened is closed, in the right order, and there are only elements and attributes of drawings.
fn assert_well_formed(svg: &str) {
    let known = ["svg", "title", "desc", "style", "rect", "line", "path", "circle", "text"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').unwrap() + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(known.contains(&name), "{tag}");
        let names: String = tag.split('"').step_by(2).collect();
        assert!(!names.contains(" on") && !names.contains("href") && !tag.contains("url("), "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn labels_cannot_leave_their_place() {
    let evil =
        ["</text><script>alert(1)</script>", "\" onload=\"x", "' & ]]> <!--", "a\u{0}\u{8}\u{1b}b", "\u{202E}שלום"];
    for kind in KINDS {
        let mut value = of_type(kind, &evil, json!([1, 2, 3, 4, 5]));
        value["title"] = json!("</title><script>1</script>\"'");
        if kind != "pie" {
            value["xAxisLabel"] = json!(evil[0]);
            value["yAxisLabel"] = json!(evil[1]);
        }
        for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
            let picture = svg(&spec(value.clone()), theme);
            assert_well_formed(&picture);
            assert!(!picture.contains("<script") && !picture.contains(" onload=\""), "{picture}");
            assert!(!picture.chars().any(|c| c.is_control() && c != '\n'), "{kind}");
            assert!(!picture.contains('\u{202E}'), "{kind}");
            assert!(picture.contains("\u{2068}שלום\u{2069}"), "{kind}");
        }
    }
}

#[test]
fn pictures_are_told_to_those_who_do_not_see_them() {
    let picture = light(of_type("bar", &["a", "b", "c"], json!([1, null, 1234.5])));
    assert!(picture.contains(" role=\"img\" aria-label=\"T. Bar chart of 3 values from a to c."));
    assert!(picture.contains(
        "<title>T</title>\n<desc>Bar chart of 3 values from a to c. s: lowest 1 (a), highest 1,234.5 (c).</desc>"
    ));
    let picture = light(of_type("pie", &["a", "b"], json!([1, 3])));
    assert!(picture.contains("<desc>Pie chart. a: 25%, b: 75%.</desc>"));
    let picture = light(of_type("scatter", &["a", "b"], json!([1, 3])));
    assert!(picture.contains("<desc>Scatter chart of 2 points. Across from 1 to 3; Upright from 1 to 3.</desc>"));
}

#[test]
fn equal_charts_are_equal_texts() {
    for kind in KINDS {
        let value = of_type(kind, &["a", "b", "c"], json!([1, 2, 3]));
        assert_eq!(light(value.clone()), light(value));
    }
}

#[test]
fn themes_differ_in_colours_only() {
    let value = spec(of_type("bar", &["a"], json!([1])));
    let [light, dark, auto] = [Theme::Light, Theme::Dark, Theme::Auto].map(|theme| svg(&value, theme));
    assert!(light.contains("fill=\"#ffffff\"") && !light.contains("<style"));
    assert!(dark.contains("fill=\"#15191f\"") && !dark.contains("<style"));
    assert!(auto.contains("<style>@media (prefers-color-scheme:dark){.dg-f-ground{fill:#15191f}"));
    let rules = auto.find("<style>").unwrap()..auto.find("</style>\n").unwrap() + "</style>\n".len();
    assert_eq!(format!("{}{}", &auto[..rules.start], &auto[rules.end..]), light);
}

#[test]
fn a_missing_value_is_a_gap_and_not_a_zero() {
    let picture = light(of_type("line", &["a", "b", "c", "d", "e"], json!([1, 2, null, 4, 5])));
    assert_eq!(picture.matches("<path ").count(), 2, "two runs");
    assert_eq!(picture.matches("<circle ").count(), 4);
    let picture = light(of_type("bar", &["a", "b", "c"], json!([1, null, 0])));
    let bars = picture.matches("class=\"dg-f-s0\"").count();
    assert_eq!((bars, picture.matches(">–<").count()), (2, 1));
}

#[test]
fn negative_bars_hang_from_a_visible_zero() {
    let picture = light(of_type("bar", &["a", "b"], json!([10, -10])));
    let attribute = |element: &str, name: &str| -> f64 {
        let from = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        element[from..].split('"').next().unwrap().parse().unwrap()
    };
    let bars: Vec<&str> =
        picture.lines().filter(|line| line.starts_with("<rect") && line.contains("dg-f-s0")).collect();
    let zero = picture.lines().rfind(|line| line.starts_with("<line") && line.contains("dg-k-axis")).unwrap();
    let zero = attribute(zero, "y1");
    assert!((attribute(bars[0], "y") + attribute(bars[0], "height") - zero).abs() <= 0.1);
    assert!((attribute(bars[1], "y") - zero).abs() <= 0.1);
    assert!((attribute(bars[0], "height") - attribute(bars[1], "height")).abs() <= 0.1);
}

#[test]
fn large_charts_are_thinned_and_say_so() {
    let numbers: Vec<f64> = (0..10_000).map(|at| f64::from(at * 7919 % 10_007)).collect();
    let names: Vec<String> = (0..10_000).map(|at| format!("A category with a long name {at}")).collect();
    let series: Vec<Value> = (0..24).map(|at| json!({"label": format!("s{at}"), "data": numbers})).collect();
    let points: Vec<Value> =
        numbers.iter().enumerate().map(|(at, y)| json!({"x": at, "y": y, "label": names[at]})).collect();
    let cases = [
        (json!({"type": "line", "title": "T", "categories": names, "series": series}), "Of each stretch"),
        (json!({"type": "bar", "title": "T", "categories": names, "series": series}), "The first 25 of 10,000"),
        (
            json!({"type": "bar", "layout": "horizontal", "title": "T", "categories": names, "series": series[..1]}),
            "The first 60 of 10,000",
        ),
        (json!({"type": "scatter", "title": "T", "points": points}), "of 10,000 points are drawn"),
    ];
    for (value, note) in cases {
        let picture = light(value);
        assert!(picture.len() <= LARGEST, "{note} {}", picture.len());
        assert!(picture.contains(note), "{note}");
        assert_well_formed(&picture);
    }
}

#[test]
fn strange_numbers_are_drawn() {
    for kind in KINDS {
        for data in [
            json!([0.0, 0.0]),
            json!([1e-300, 1e300]),
            json!([5.0, 5.0]),
            json!([1e308, 1e-308]),
            json!([-1e308, 1e308]),
        ] {
            let sum: f64 = data.as_array().unwrap().iter().filter_map(Value::as_f64).sum();
            if kind == "pie" && (sum <= 0.0 || data[0].as_f64() < Some(0.0)) {
                continue;
            }
            let picture = light(of_type(kind, &["a", "b"], data.clone()));
            assert_well_formed(&picture);
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{kind} {data}: {picture}");
        }
    }
}

#[test]
fn an_axis_that_does_not_begin_at_zero_says_so() {
    let value = |data| {
        let mut value = of_type("line", &["a", "b", "c"], data);
        value["yAxisLabel"] = json!("Flights");
        light(value)
    };
    assert!(value(json!([27_004, 28_000, 29_425])).contains(">Flights · axis begins at 27.0k<"));
    assert!(value(json!([4, 28, 9])).contains(">Flights<"));
}
