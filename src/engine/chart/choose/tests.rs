use serde_json::{Value as Json, json};

use super::*;
use crate::engine::render::number::Style;
use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::{Comparison, Dimension, FieldRef, Grain, Limit, Measure, Order, Value, Window};
use crate::model::table;

fn text(grain: Option<Grain>) -> Dimension {
    Dimension { grain, ..Dimension::of(FieldRef::new("t", "f")) }
}

fn count() -> Measure {
    Measure::of(Value::Count("t".into()))
}

fn average() -> Measure {
    Measure::of(Value::Aggregate { function: Aggregation::Avg, field: FieldRef::new("t", "n") })
}

fn share() -> Measure {
    Measure { shown_as: Some(Shown::Share { within: vec![] }), ..count() }
}

fn plan(dimensions: Vec<Dimension>, measures: Vec<Measure>) -> Plan {
    Plan { dimensions, measures, ..Plan::default() }
}

/// A column for each dimension and measure; units by measure.
fn columns(plan: &Plan, units: &[&str]) -> Vec<Column> {
    let dimensions = (0..plan.dimensions.len()).map(|at| {
        let datatype = if plan.dimensions[at].grain.is_some() { DataType::Date } else { DataType::String };
        Column::new(format!("D{at}"), Role::Dimension(at), plan, Style { datatype, ..Style::default() })
    });
    let measures = (0..plan.measures.len()).flat_map(|at| {
        let style = Style {
            datatype: DataType::Float,
            unit: units.get(at).filter(|unit| !unit.is_empty()).map(|unit| (*unit).to_owned()),
            ..Style::default()
        };
        let mut columns = vec![Column::new(format!("M{at}"), Role::Measure(at), plan, style.clone())];
        if plan.comparison.is_some() {
            columns.push(Column::new(format!("M{at} before"), Role::Other(at), plan, style.clone()));
            columns.push(Column::new("Difference", Role::Difference(at), plan, style.clone()));
            columns.push(Column::new("Change", Role::Change(at), plan, style));
        }
        columns
    });
    dimensions.chain(measures).collect()
}

fn chart(plan: &Plan, units: &[&str], rows: Vec<Vec<Json>>) -> Option<ChartSpec> {
    let table = table::Table { columns: vec![], rows, truncated: false };
    choose(plan, &columns(plan, units), &table, "A title").into_iter().next()
}

fn months(count: usize) -> Vec<Vec<Json>> {
    (1..=count).map(|month| vec![json!(format!("2013-{month:02}-01")), json!(month)]).collect()
}

fn names(count: usize) -> Vec<Vec<Json>> {
    (1..=count).map(|at| vec![json!(format!("c{at}")), json!(at)]).collect()
}

#[test]
fn time_makes_lines_from_three_points_on() {
    let plan = plan(vec![text(Some(Grain::Month))], vec![count()]);
    let kinds = [1, 2, 3, 12].map(|count| chart(&plan, &[], months(count)).map(|spec| spec.r#type));
    assert_eq!(kinds, [None, Some(ChartType::Bar), Some(ChartType::Line), Some(ChartType::Line)]);
    let spec = chart(&plan, &["minutes"], months(3)).unwrap();
    assert_eq!(spec.categories.unwrap(), ["Jan 2013", "Feb 2013", "Mar 2013"]);
    assert_eq!((spec.x_axis_label.as_deref(), spec.y_axis_label.as_deref()), (Some("D0"), Some("M0 (minutes)")));
}

#[test]
fn time_runs_forward_and_periods_without_rows_are_gaps() {
    let plan = plan(vec![text(Some(Grain::Month))], vec![count()]);
    let rows = vec![
        vec![json!("2013-04-01"), json!(4)],
        vec![Json::Null, json!(9)],
        vec![json!("2013-01-01"), json!("1")],
        vec![json!("2013-02-01"), json!(null)],
    ];
    let spec = chart(&plan, &[], rows).unwrap();
    assert_eq!(spec.categories.unwrap(), ["Jan 2013", "Feb 2013", "Mar 2013", "Apr 2013"]);
    assert_eq!(spec.series.unwrap()[0].data, [Some(1.0), None, None, Some(4.0)]);
}

#[test]
fn a_second_dimension_makes_a_line_each_and_the_rest_other() {
    let rows = |kinds: usize| -> Vec<Vec<Json>> {
        (1..=3)
            .flat_map(|month| {
                (1..=kinds).map(move |kind| {
                    vec![json!(format!("2013-0{month}-01")), json!(format!("k{kind:02}")), json!(kind)]
                })
            })
            .collect()
    };
    let counted = plan(vec![text(Some(Grain::Month)), text(None)], vec![count()]);
    let labels = |spec: &ChartSpec| -> Vec<String> {
        spec.series.as_ref().unwrap().iter().map(|series| series.label.clone()).collect()
    };
    let spec = chart(&counted, &[], rows(8)).unwrap();
    assert_eq!((spec.r#type, labels(&spec).len(), spec.title.as_str()), (ChartType::Line, 8, "A title"));
    // Counts add up: seven largest, and 1 + 2 + 3 of the rest.
    let spec = chart(&counted, &[], rows(10)).unwrap();
    assert_eq!(labels(&spec), ["k10", "k09", "k08", "k07", "k06", "k05", "k04", "Other"]);
    assert_eq!(spec.series.as_ref().unwrap()[7].data, [Some(6.0); 3]);
    // Averages do not.
    let spec = chart(&plan(vec![text(Some(Grain::Month)), text(None)], vec![average()]), &[], rows(10)).unwrap();
    assert_eq!(labels(&spec), ["k10", "k09", "k08", "k07", "k06", "k05", "k04", "k03"]);
    assert_eq!(spec.title, "A title (top 8 of 10)");
}

#[test]
fn categories_make_bars() {
    let mut by = plan(vec![text(None)], vec![count()]);
    let spec = chart(&by, &[], names(5)).unwrap();
    assert_eq!((spec.r#type, spec.layout), (ChartType::Bar, Some(Layout::Vertical)));
    let long = vec![vec![json!("A company with a long name"), json!(1)], vec![json!("B"), json!(-2)]];
    assert_eq!(chart(&by, &[], long).unwrap().layout, Some(Layout::Horizontal));
    let many = chart(&by, &[], names(200)).unwrap();
    assert_eq!((many.title.as_str(), many.categories.as_ref().unwrap().len()), ("A title (top 30 of 200)", 30));
    assert_eq!(many.categories.unwrap()[0], "c200", "the largest first");
    by.order = vec![Order { by: By::Measure(0), descending: true }];
    assert_eq!(chart(&by, &[], names(3)).unwrap().layout, Some(Layout::Horizontal), "a ranking");
}

#[test]
fn bars_are_sorted_by_size_unless_their_names_are_numbers_or_the_plan_has_an_order() {
    let mut by = plan(vec![text(None)], vec![count()]);
    let rows = vec![vec![json!("a"), json!(1)], vec![json!("b"), json!(3)], vec![json!("c"), json!(2)]];
    assert_eq!(chart(&by, &[], rows.clone()).unwrap().categories.unwrap(), ["b", "c", "a"]);
    by.order = vec![Order { by: By::Dimension(0), descending: false }];
    assert_eq!(chart(&by, &[], rows).unwrap().categories.unwrap(), ["a", "b", "c"]);
    by.order.clear();
    let mut columns = columns(&by, &[]);
    let style = Style { datatype: DataType::Integer, ..Style::default() };
    columns[0] = Column::new("Size", Role::Dimension(0), &by, style);
    let rows = vec![vec![json!(2000), json!(1)], vec![json!(70), json!(3)]];
    let table = table::Table { columns: vec![], rows, truncated: false };
    assert_eq!(choose(&by, &columns, &table, "T").remove(0).categories.unwrap(), ["70", "2000"]);
}

#[test]
fn a_name_and_its_number_are_one_category() {
    let both = plan(vec![text(None), text(None)], vec![count()]);
    let mut columns = columns(&both, &[]);
    let style = Style { datatype: DataType::Integer, ..Style::default() };
    columns[1] = Column::new("Number", Role::Dimension(1), &both, style);
    let with = |rows: Vec<Vec<Json>>| {
        let table = table::Table { columns: vec![], rows, truncated: false };
        let spec = choose(&both, &columns, &table, "T").remove(0);
        (spec.categories.unwrap(), spec.series.unwrap().len())
    };
    let row = |name: &str, number: i64, value: i64| vec![json!(name), json!(number), json!(value)];
    assert_eq!(with(vec![row("Kim", 3, 5), row("Ann", 4, 2)]), (vec!["Kim".to_owned(), "Ann".to_owned()], 1));
    let two_kims = with(vec![row("Kim", 3, 5), row("Kim", 4, 2)]);
    assert_eq!(two_kims.1, 1, "told apart by number: {two_kims:?}");
    assert_eq!(two_kims.0, ["3", "4"]);
}

#[test]
fn cycles_are_bars_in_their_order() {
    let plan = plan(vec![text(Some(Grain::DayOfWeek))], vec![count()]);
    let rows = vec![vec![json!(7), json!(1)], vec![json!(1), json!(2)], vec![json!(3), json!(3)]];
    let spec = chart(&plan, &[], rows).unwrap();
    assert_eq!(spec.r#type, ChartType::Bar);
    assert_eq!(spec.categories.unwrap(), ["Monday", "Wednesday", "Sunday"]);
}

#[test]
fn shares_of_the_whole_make_a_pie() {
    let shared = plan(vec![text(None)], vec![share()]);
    let rows = |values: &[f64]| -> Vec<Vec<Json>> {
        values.iter().enumerate().map(|(at, value)| vec![json!(format!("c{at}")), json!(value)]).collect()
    };
    let spec = chart(&shared, &[], rows(&[0.25, 0.75])).unwrap();
    let slices: Vec<(String, f64)> = spec.slices.unwrap().into_iter().map(|slice| (slice.label, slice.value)).collect();
    assert_eq!((spec.r#type, slices), (ChartType::Pie, vec![("c1".into(), 75.0), ("c0".into(), 25.0)]));
    let spec =
        chart(&shared, &[], rows(&[0.5, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625, 0.0625])).unwrap();
    let slices = spec.slices.unwrap();
    assert_eq!((slices.len(), slices[7].label.as_str(), slices[7].value), (8, "Other", 12.5));
    for not_parts in [vec![1.5, -0.5], vec![1.0, 0.0]] {
        assert_eq!(chart(&shared, &[], rows(&not_parts)).unwrap().r#type, ChartType::Bar, "{not_parts:?}");
    }
    let limited = Plan { limit: Some(Limit { rows: 2, per: vec![], with_ties: false, skip: 0 }), ..shared };
    assert_eq!(chart(&limited, &[], rows(&[0.5, 0.25])).unwrap().r#type, ChartType::Bar, "not the whole");
}

#[test]
fn two_measures_of_many_rows_make_a_cloud() {
    let two = plan(vec![text(None)], vec![count(), average()]);
    let rows = |count: usize| -> Vec<Vec<Json>> {
        (0..count).map(|at| vec![json!(format!("c{at}")), json!(at), json!(at * 2)]).collect()
    };
    let spec = chart(&two, &["", "miles"], rows(10)).unwrap();
    assert_eq!(spec.r#type, ChartType::Scatter);
    assert_eq!(spec.points.unwrap()[3], Point { x: 3.0, y: 6.0, label: Some("c3".into()) });
    // Few rows, or the same unit: bars of what fits on one axis.
    let few = chart(&two, &["", "miles"], rows(9)).unwrap();
    assert_eq!((few.r#type, few.series.unwrap().len()), (ChartType::Bar, 1));
    let same = chart(&two, &["miles", "miles"], rows(12)).unwrap();
    assert_eq!(
        (same.r#type, same.series.unwrap().len(), same.y_axis_label.as_deref()),
        (ChartType::Bar, 2, Some("miles"))
    );
    assert_eq!(chart(&two, &["miles", "miles"], rows(31)).unwrap().r#type, ChartType::Scatter);
}

#[test]
fn two_dimensions_of_categories_stand_side_by_side() {
    let two = plan(vec![text(None), text(None)], vec![count()]);
    let rows = |first: usize, second: usize| -> Vec<Vec<Json>> {
        (0..first)
            .flat_map(|a| (0..second).map(move |b| vec![json!(format!("a{a}")), json!(format!("b{b}")), json!(a + b)]))
            .collect()
    };
    let spec = chart(&two, &[], rows(2, 5)).unwrap();
    assert_eq!((spec.categories.unwrap().len(), spec.series.unwrap().len()), (5, 2));
    assert_eq!(chart(&two, &[], rows(20, 20)), None);
}

#[test]
fn comparisons_stand_beside_each_other() {
    let compared = |grain| Plan {
        comparison: Some(Comparison { with: Window::default(), align: None }),
        ..plan(vec![text(grain)], vec![count()])
    };
    let row = |name: &str, at: i64| vec![json!(name), json!(at), json!(at * 2), json!(-at), json!(-0.5)];
    let spec = chart(&compared(None), &[], vec![row("a", 1), row("b", 2)]).unwrap();
    let labels: Vec<String> = spec.series.unwrap().into_iter().map(|series| series.label).collect();
    assert_eq!((spec.r#type, labels), (ChartType::Bar, vec!["M0".to_owned(), "M0 before".to_owned()]));
    let rows = vec![row("2013-01-01", 1), row("2013-02-01", 2), row("2013-03-01", 2)];
    let spec = chart(&compared(Some(Grain::Month)), &[], rows).unwrap();
    assert_eq!((spec.r#type, spec.series.unwrap().len()), (ChartType::Line, 2));
}

#[test]
fn what_a_chart_cannot_say_has_none() {
    let by = plan(vec![text(None)], vec![count()]);
    assert_eq!(chart(&plan(vec![], vec![count()]), &[], vec![vec![json!(5)]]), None, "a scalar");
    assert_eq!(chart(&by, &[], names(1)), None, "one row");
    assert_eq!(chart(&by, &[], vec![]), None, "no row");
    assert_eq!(chart(&by, &[], vec![vec![json!("a"), Json::Null], vec![json!("b"), Json::Null]]), None, "no value");
    let list = Plan { subject: Some("t".into()), dimensions: vec![text(None)], ..Plan::default() };
    assert_eq!(chart(&list, &[], vec![vec![json!("a")], vec![json!("b")]]), None, "texts");
    let three = plan(vec![text(None), text(None), text(None)], vec![count()]);
    let row = |a: &str| vec![json!(a), json!("b"), json!("c"), json!(1)];
    assert_eq!(chart(&three, &[], vec![row("x"), row("y")]), None, "three dimensions");
    let cut = table::Table { columns: vec![], rows: names(5), truncated: true };
    assert_eq!(choose(&by, &columns(&by, &[]), &cut, "T"), [], "rows that were cut");
}

/// All charts of a result: the kind, the title and the labels of the series of each.
fn all(plan: &Plan, units: &[&str], rows: Vec<Vec<Json>>) -> Vec<(ChartType, String, Vec<String>)> {
    let table = table::Table { columns: vec![], rows, truncated: false };
    let labels = |spec: &ChartSpec| spec.series.iter().flatten().map(|series| series.label.clone()).collect();
    let charts = choose(plan, &columns(plan, units), &table, "A title");
    charts.into_iter().map(|spec| (spec.r#type, spec.title.clone(), labels(&spec))).collect()
}

#[test]
fn numbers_of_other_units_have_charts_of_their_own_up_to_three() {
    let rows = |measures: i64| -> Vec<Vec<Json>> {
        let row = |at: i64| std::iter::once(json!(format!("c{at}"))).chain((0..measures).map(move |by| json!(at + by)));
        (1..=4).map(|at| row(at).collect()).collect()
    };
    let of = |measures: usize| plan(vec![text(None)], vec![average(); measures]);
    let bar = |title: &str, labels: &[&str]| {
        (ChartType::Bar, title.to_owned(), labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(all(&of(1), &["EUR"], rows(1)), [bar("A title", &["M0"])]);
    assert_eq!(all(&of(2), &["EUR", "EUR"], rows(2)), [bar("A title", &["M0", "M1"])]);
    assert_eq!(
        all(&of(3), &["EUR", "min", "EUR"], rows(3)),
        [bar("M0 and M2 by D0", &["M0", "M2"]), bar("M1 by D0", &["M1"])]
    );
    let four = all(&of(4), &["EUR", "min", "km", "kg"], rows(4));
    assert_eq!(four, [bar("M0 by D0", &["M0"]), bar("M1 by D0", &["M1"]), bar("M2 by D0", &["M2"])]);
}

#[test]
fn what_one_chart_cannot_show_beside_a_second_dimension_has_another() {
    let two = plan(vec![text(Some(Grain::Month)), text(None)], vec![count(), count()]);
    let rows: Vec<Vec<Json>> = (1..=3)
        .flat_map(|month| {
            ["a", "b"].map(|kind| vec![json!(format!("2013-0{month}-01")), json!(kind), json!(1), json!(2)])
        })
        .collect();
    let titles: Vec<String> = all(&two, &[], rows).into_iter().map(|(_, title, _)| title).collect();
    assert_eq!(titles, ["M0 by D0 and D1", "M1 by D0 and D1"]);
}

#[test]
fn a_cloud_and_a_comparison_of_one_number_stand_alone() {
    let cloud = plan(vec![text(None)], vec![count(), average()]);
    let rows = (0..12).map(|at| vec![json!(format!("c{at}")), json!(at), json!(at * 2)]).collect();
    let titles = all(&cloud, &["", "miles"], rows);
    assert_eq!(
        titles.iter().map(|(kind, title, _)| (*kind, title.as_str())).collect::<Vec<_>>(),
        [(ChartType::Scatter, "A title")]
    );
    let compared = Plan {
        comparison: Some(Comparison { with: Window::default(), align: None }),
        ..plan(vec![text(None)], vec![count(), count()])
    };
    let row = |name: &str| {
        vec![json!(name), json!(1), json!(2), json!(1), json!(0.5), json!(3), json!(4), json!(1), json!(0.3)]
    };
    let charts = all(&compared, &[], vec![row("a"), row("b")]);
    let labels: Vec<Vec<String>> = charts.into_iter().map(|(_, _, labels)| labels).collect();
    assert_eq!(labels, [["M0", "M0 before"], ["M1", "M1 before"]]);
}

#[test]
fn titles_are_cut_at_a_word() {
    let long = "Number of trips by firm and destination stop name, 1 Jan – 31 Mar 2013, where origin is JFK";
    for (title, part, cut) in [
        ("Short", None, "Short"),
        ("", None, "Result"),
        (" \n ", None, "Result"),
        (long, None, "Number of trips by firm and destination stop name, 1 Jan…"),
        (long, Some((30, 200)), "Number of trips by firm and destination… (top 30 of 200)"),
    ] {
        assert_eq!(titled(title, part), cut);
    }
    let all_time = "Total premium and total claims by policy holder and year, all time";
    assert_eq!(titled(all_time, None), "Total premium and total claims by policy holder and year");
    let word = "x".repeat(61);
    assert_eq!(titled(&word, None).chars().count(), 60);
    assert!(titled(&"y".repeat(60), None).ends_with('y'), "60 characters need no cut");
}
