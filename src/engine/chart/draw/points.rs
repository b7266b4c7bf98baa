//! A cloud of points.

use std::collections::BTreeSet;

use super::canvas::{Anchor, Canvas, Text};
use super::frame::{self, Area, MARGIN, WIDTH};
use super::paint::Paint;
use super::scale::{Scale, value};
use super::text::{fitted, label, width};
use crate::model::chart::{ChartSpec, Point};

/// Points in one picture.
const MOST: usize = 2_000;
/// Points with what they are, when pointed at.
const WITH_TIP: usize = 500;
/// Points with their name beside them where it has room.
const NAMED: usize = 25;

/// Returns the picture's height.
pub(super) fn draw(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let points = spec.points.as_deref().unwrap_or_default();
    let mut top = frame::title(spec, canvas);
    top = frame::upright_name(spec.y_axis_label.as_deref(), top, canvas);
    let upright = Scale::around(points.iter().map(|point| point.y), false, 5);
    let level = Scale::around(points.iter().map(|point| point.x), false, 7);
    let area = Area {
        left: frame::room_for(&upright) + 4.0,
        right: WIDTH - MARGIN - 12.0,
        top: top + 6.0,
        bottom: top + 300.0,
    };
    frame::upright_ticks(&upright, area, canvas);
    frame::level_ticks(&level, area, canvas);
    for (scale, is_level) in [(&upright, false), (&level, true)] {
        let zero = scale.place(scale.low().max(0.0).min(scale.high()));
        match is_level {
            true => {
                let x = area.left + zero * area.width();
                canvas.line((x, area.top), (x, area.bottom), Paint::Axis, 1.0);
            }
            false => {
                let y = area.bottom - zero * area.height();
                canvas.line((area.left, y), (area.right, y), Paint::Axis, 1.0);
            }
        }
    }
    let place = |point: &Point| {
        (area.left + level.place(point.x) * area.width(), area.bottom - upright.place(point.y) * area.height())
    };
    let shown = thinned(points, place);
    let clear = if shown.len() > 200 { 0.45 } else { 0.7 };
    for point in &shown {
        let numbers = format!("{}, {}", value(point.x), value(point.y));
        let tip = match (&point.label, shown.len() <= WITH_TIP) {
            (_, false) => String::new(),
            (Some(name), _) => format!("{}: {numbers}", label(name)),
            (None, _) => numbers,
        };
        canvas.dot(place(point), if shown.len() > 400 { 3.0 } else { 4.5 }, Paint::Series(0), clear, &tip);
    }
    if shown.len() <= NAMED {
        names(&shown, area, place, canvas);
    }
    let mut bottom = area.bottom + 18.0;
    if spec.x_axis_label.is_some() {
        bottom += 20.0;
        frame::level_name(spec.x_axis_label.as_deref(), area, bottom, canvas);
    }
    if shown.len() < points.len() {
        bottom += 20.0;
        let (drawn, all) = (frame::counted(shown.len()), frame::counted(points.len()));
        frame::note(&format!("{drawn} of {all} points are drawn, without those that cover each other"), bottom, canvas);
    }
    bottom + 16.0
}

/// Without points that others cover, on a grid that is made coarser until few enough are left.
fn thinned(points: &[Point], place: impl Fn(&Point) -> (f64, f64)) -> Vec<&Point> {
    if points.len() <= MOST {
        return points.iter().collect();
    }
    let mut size = 1.0;
    loop {
        let mut taken = BTreeSet::new();
        let cell = |point: &Point| {
            let (x, y) = place(point);
            ((x / size) as i64, (y / size) as i64)
        };
        let kept: Vec<&Point> = points.iter().filter(|point| taken.insert(cell(point))).collect();
        if kept.len() <= MOST {
            return kept;
        }
        size *= 1.25;
    }
}

/// Names beside their points, of those that cover no other name.
fn names(points: &[&Point], area: Area, place: impl Fn(&Point) -> (f64, f64), canvas: &mut Canvas) {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for point in points {
        let Some(full) = point.label.as_deref().map(label) else { continue };
        let name = fitted(&full, 120.0, 11.0);
        let (x, y) = place(point);
        let room = width(&name, 11.0);
        let start = if x + 8.0 + room <= area.right + 12.0 { x + 8.0 } else { x - 8.0 - room };
        let covers = |(from, to, at): &(f64, f64, f64)| start < *to && start + room > *from && (y - at).abs() < 13.0;
        let on_point = points.iter().any(|other| {
            let (x, at) = place(other);
            x > start - 4.0 && x < start + room + 4.0 && (y - at).abs() < 8.0
        });
        if taken.iter().any(covers) || on_point {
            continue;
        }
        taken.push((start, start + room, y));
        canvas.text(&Text {
            size: 11.0,
            paint: Paint::Ink,
            full: Some(&full),
            ..Text::new((start, y + 4.0), &name, Anchor::Start)
        });
    }
}
