//! Parts of a whole.

use std::f64::consts::TAU;

use super::canvas::{Anchor, Canvas, Text};
use super::frame::{self, MARGIN, SMALL, WIDTH, point, spread};
use super::paint::Paint;
use super::scale::value;
use super::text::{fitted, label};
use crate::model::chart::{ChartSpec, Slice};

const RADIUS: f64 = 118.0;

/// Returns the picture's height.
pub(super) fn draw(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let slices = spec.slices.as_deref().unwrap_or_default();
    let top = frame::title(spec, canvas);
    let centre = (WIDTH / 2.0, top + 34.0 + RADIUS);
    let total: f64 = slices.iter().map(|slice| slice.value).sum();
    let mut done = 0.0;
    let mut middles = Vec::new();
    for (at, slice) in slices.iter().enumerate() {
        let part = slice.value / total;
        let tip = format!("{}: {}", label(&slice.label), share(slice, total));
        if part >= 0.9999 {
            canvas.dot(centre, RADIUS, Paint::of(at, &slice.label), 1.0, &tip);
        } else if part > 0.0 {
            canvas.shape(&wedge(centre, done, done + part), Paint::of(at, &slice.label), &tip);
        }
        middles.push(done + part / 2.0);
        done += part;
    }
    names(slices, &middles, centre, total, canvas);
    centre.1 + RADIUS + 40.0
}

/// A place at a part of the way around, clockwise from the top.
fn around(centre: (f64, f64), radius: f64, part: f64) -> (f64, f64) {
    let angle = TAU * (part - 0.25);
    (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
}

fn wedge(centre: (f64, f64), from: f64, to: f64) -> String {
    let large = i32::from(to - from > 0.5);
    format!(
        "M{}L{}A{RADIUS} {RADIUS} 0 {large} 1 {}Z",
        point(centre),
        point(around(centre, RADIUS, from)),
        point(around(centre, RADIUS, to))
    )
}

/// The part, and the value where that says more.
fn share(slice: &Slice, total: f64) -> String {
    let part = slice.value / total * 100.0;
    let rounded = (part * 10.0).round() / 10.0;
    let part = if rounded == 0.0 && part > 0.0 { "<0.1%".to_owned() } else { format!("{}%", value(rounded)) };
    if (total - 100.0).abs() < 0.5 { part } else { format!("{part} ({})", value(slice.value)) }
}

/// Names at either side with threads to their slices.
fn names(slices: &[Slice], middles: &[f64], centre: (f64, f64), total: f64, canvas: &mut Canvas) {
    for right in [true, false] {
        let side = || slices.iter().zip(middles).filter(|(_, middle)| (**middle < 0.5) == right);
        let wanted: Vec<f64> = side().map(|(_, middle)| around(centre, RADIUS + 16.0, *middle).1).collect();
        let places = spread(&wanted, 36.0, centre.1 - RADIUS - 6.0, centre.1 + RADIUS + 6.0);
        let turn = if right { 1.0 } else { -1.0 };
        let x = centre.0 + turn * (RADIUS + 44.0);
        let anchor = if right { Anchor::Start } else { Anchor::End };
        let room = WIDTH / 2.0 - RADIUS - 44.0 - 8.0 - MARGIN;
        for ((slice, middle), y) in side().zip(places) {
            let edge = around(centre, RADIUS + 3.0, *middle);
            let bend = around(centre, RADIUS + 15.0, *middle);
            canvas.way(&[edge, (bend.0, bend.1), (x - turn * 4.0, y)], Paint::Axis, 1.0, "", "");
            let full = label(&slice.label);
            let name = fitted(&full, room, SMALL + 1.0);
            let at_x = x + turn * 2.0;
            let text = Text {
                size: SMALL + 1.0,
                paint: Paint::Ink,
                bold: true,
                full: Some(&full),
                ..Text::new((at_x, y), &name, anchor)
            };
            canvas.text(&text);
            canvas.text(&Text::new((at_x, y + 15.0), &share(slice, total), anchor));
        }
    }
}
