//! Bars, upright or lying.

use super::canvas::{Anchor, Canvas, Text};
use super::frame::{self, Area, MARGIN, SMALL, WIDTH};
use super::paint::Paint;
use super::scale::{Scale, short, value};
use super::text::{fitted, label, width, wrapped};
use crate::model::chart::{ChartSpec, Series};

/// Bars in one picture.
const MOST: usize = 600;
/// Upright bars with their value above.
const WITH_VALUE: usize = 14;

/// The part that can be drawn, and a note on what cannot.
struct Shown<'a> {
    categories: &'a [String],
    series: &'a [Series],
    note: Option<String>,
}

fn shown(spec: &ChartSpec, most: usize) -> Shown<'_> {
    let all = spec.categories.as_deref().unwrap_or_default();
    let series = spec.series.as_deref().unwrap_or_default();
    let most = most.min(MOST / series.len().max(1)).max(1);
    let categories = all.get(..most).unwrap_or(all);
    let note = (categories.len() < all.len())
        .then(|| format!("The first {} of {}", frame::counted(categories.len()), frame::counted(all.len())));
    Shown { categories, series, note }
}

fn scale(shown: &Shown<'_>, ticks: usize) -> Scale {
    let values = shown.series.iter().flat_map(|series| series.data.iter().take(shown.categories.len()).flatten());
    Scale::around(values.copied(), true, ticks)
}

fn tip(series: &Series, many: bool, category: &str, number: f64) -> String {
    match many {
        true => format!("{}, {}: {}", label(category), label(&series.label), value(number)),
        false => format!("{}: {}", label(category), value(number)),
    }
}

/// Bars that stand. Returns the picture's height.
pub(super) fn vertical(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let shown = shown(spec, 120);
    let many = shown.series.len() > 1;
    let mut top = frame::title(spec, canvas);
    if many {
        top = frame::legend(shown.series, false, top, canvas);
    }
    top = frame::upright_name(spec.y_axis_label.as_deref(), top, canvas);
    let scale = scale(&shown, 5);
    let left = frame::room_for(&scale);
    let band = (WIDTH - MARGIN - left) / shown.categories.len() as f64;
    let names: Vec<String> = shown.categories.iter().map(|name| label(name)).collect();
    let names = Names::of(&names, band);
    let valued = !many && shown.categories.len() <= WITH_VALUE;
    let area = Area { left, right: WIDTH - MARGIN, top: top + if valued { 12.0 } else { 4.0 }, bottom: top + 270.0 };
    frame::upright_ticks(&scale, area, canvas);
    let zero = area.bottom - scale.place(0.0) * area.height();
    let gap = (band * 0.22).clamp(1.0, 40.0);
    let thick = ((band - gap) / shown.series.len() as f64).min(72.0);
    for (at, category) in shown.categories.iter().enumerate() {
        let middle = area.left + band * (at as f64 + 0.5);
        let start = middle - thick * shown.series.len() as f64 / 2.0;
        for (of, series) in shown.series.iter().enumerate() {
            let Some(number) = series.data.get(at).copied().flatten() else {
                if !many {
                    canvas.text(&Text { size: 11.0, ..Text::new((middle, zero - 5.0), "–", Anchor::Middle) });
                }
                continue;
            };
            let y = area.bottom - scale.place(number) * area.height();
            let x = start + thick * of as f64;
            let paint = Paint::of(of, &series.label);
            let room = if many { (thick - 1.0).max(0.8) } else { thick };
            canvas.rect(
                (x, y.min(zero)),
                (room, (y - zero).abs().max(visible(number))),
                paint,
                &tip(series, many, category, number),
            );
            let text = short(number, scale.largest());
            if valued && width(&text, 11.0) < band {
                let above = if number < 0.0 { y + 14.0 } else { y - 5.0 };
                canvas.text(&Text {
                    size: 11.0,
                    paint: Paint::Ink,
                    ..Text::new((middle, above), &text, Anchor::Middle)
                });
            }
        }
    }
    canvas.line((area.left, zero), (area.right, zero), Paint::Axis, 1.0);
    let below = if valued && scale.low() < 0.0 { 10.0 } else { 0.0 };
    let mut bottom = names.draw(area, band, area.bottom + below, canvas);
    if spec.x_axis_label.is_some() {
        bottom += 20.0;
        frame::level_name(spec.x_axis_label.as_deref(), area, bottom, canvas);
    }
    end(shown.note, bottom, canvas)
}

/// A value that is not zero is seen.
fn visible(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { 1.0 }
}

fn end(note: Option<String>, mut bottom: f64, canvas: &mut Canvas) -> f64 {
    if let Some(note) = note {
        bottom += 20.0;
        frame::note(&note, bottom, canvas);
    }
    bottom + 16.0
}

/// Names of categories under upright bars: level in up to two lines where they fit, turned otherwise.
struct Names {
    full: Vec<String>,
    lines: Option<Vec<Vec<String>>>,
    /// Every so-manieth is shown.
    every: usize,
}

impl Names {
    fn of(names: &[String], band: f64) -> Self {
        let room = band - 6.0;
        let whole = |name: &String| name.split(' ').all(|word| width(word, SMALL) <= room);
        let lines: Vec<Vec<String>> = names.iter().map(|name| wrapped(name, room, SMALL, 2)).collect();
        let fits = names.iter().all(whole) && lines.iter().flatten().all(|line| !line.ends_with('…'));
        let every = (16.0 / band).ceil().max(1.0) as usize;
        Self { full: names.to_vec(), lines: fits.then_some(lines), every }
    }

    fn draw(&self, area: Area, band: f64, top: f64, canvas: &mut Canvas) -> f64 {
        let mut lowest: f64 = top + 18.0;
        for (at, full) in self.full.iter().enumerate() {
            let x = area.left + band * (at as f64 + 0.5);
            if let Some(lines) = &self.lines {
                for (line, text) in lines.get(at).into_iter().flatten().enumerate() {
                    let y = top + 18.0 + 15.0 * line as f64;
                    canvas.text(&Text::new((x, y), text, Anchor::Middle));
                    lowest = lowest.max(y);
                }
            } else if at % self.every == 0 {
                // Turned by 40 degrees it takes three quarters of its width to the left, and must not leave the picture.
                let room = 130f64.min((x - 6.0) / 0.77);
                let text = fitted(full, room, SMALL);
                lowest = lowest.max(top + 14.0 + width(&text, SMALL) * 0.64);
                canvas.text(&Text {
                    turn: -40.0,
                    full: Some(full),
                    ..Text::new((x + 4.0, top + 14.0), &text, Anchor::End)
                });
            }
        }
        lowest
    }
}

/// Bars that lie, one category below the other. Returns the picture's height.
pub(super) fn horizontal(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let shown = shown(spec, 60);
    let many = shown.series.len() > 1;
    let mut top = frame::title(spec, canvas);
    if many {
        top = frame::legend(shown.series, false, top, canvas);
    }
    top = frame::upright_name(spec.x_axis_label.as_deref(), top, canvas);
    let names: Vec<String> = shown.categories.iter().map(|name| label(name)).collect();
    let widest = names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max).clamp(20.0, 230.0);
    let scale = scale(&shown, 6);
    let valued = !many;
    let texts: Vec<Option<String>> = match shown.series {
        [only] => only
            .data
            .iter()
            .take(names.len())
            .map(|number| number.map(|number| short(number, scale.largest())))
            .collect(),
        _ => Vec::new(),
    };
    let longest = texts.iter().flatten().map(|text| width(text, 11.0)).fold(0.0, f64::max) + 8.0;
    let negative = scale.low() < 0.0;
    let (before, after) = (if valued && negative { longest } else { 0.0 }, if valued { longest } else { 8.0 });
    let thick = if many { (34.0 / shown.series.len() as f64).clamp(8.0, 14.0) } else { 18.0 };
    let pitch = thick * shown.series.len() as f64 + if many { 10.0 } else { 8.0 };
    let area = Area {
        left: MARGIN + widest + 10.0 + before,
        right: WIDTH - MARGIN - after,
        top,
        bottom: top + pitch * names.len() as f64 + 4.0,
    };
    frame::level_ticks(&scale, area, canvas);
    let zero = area.left + scale.place(0.0) * area.width();
    for (at, (full, category)) in names.iter().zip(shown.categories).enumerate() {
        let y = area.top + 4.0 + pitch * at as f64;
        let middle = y + (pitch - if many { 10.0 } else { 8.0 }) / 2.0;
        let name = fitted(full, widest, SMALL);
        let place = (area.left - before - 10.0, middle + 4.0);
        canvas.text(&Text { paint: Paint::Ink, full: Some(full), ..Text::new(place, &name, Anchor::End) });
        for (of, series) in shown.series.iter().enumerate() {
            let Some(number) = series.data.get(at).copied().flatten() else {
                if valued {
                    canvas.text(&Text { size: 11.0, ..Text::new((zero + 6.0, middle + 4.0), "–", Anchor::Start) });
                }
                continue;
            };
            let x = area.left + scale.place(number) * area.width();
            let room = if many { thick - 1.0 } else { thick };
            let size = ((x - zero).abs().max(visible(number)), room);
            let tip = tip(series, many, category, number);
            canvas.rect((x.min(zero), y + thick * of as f64), size, Paint::of(of, &series.label), &tip);
            if let Some(Some(text)) = texts.get(at) {
                let (x, anchor) = if number < 0.0 { (x - 6.0, Anchor::End) } else { (x + 6.0, Anchor::Start) };
                canvas.text(&Text { size: 11.0, paint: Paint::Ink, ..Text::new((x, middle + 4.0), text, anchor) });
            }
        }
    }
    canvas.line((zero, area.top), (zero, area.bottom), Paint::Axis, 1.0);
    let mut bottom = area.bottom + 18.0;
    if spec.y_axis_label.is_some() {
        bottom += 20.0;
        frame::level_name(spec.y_axis_label.as_deref(), area, bottom, canvas);
    }
    end(shown.note, bottom, canvas)
}
