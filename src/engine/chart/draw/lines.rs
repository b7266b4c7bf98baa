//! Lines along time or another order.

use super::canvas::{Anchor, Canvas, Text};
use super::frame::{self, Area, MARGIN, SMALL, WIDTH, spread};
use super::paint::Paint;
use super::scale::{Scale, value};
use super::text::{fitted, label, width};
use crate::model::chart::{ChartSpec, Series};

/// Lines that have their names at their ends instead of in a legend.
const NAMED: usize = 14;
/// Points of a line with a dot each.
const DOTTED: usize = 40;
/// Points of all lines.
const MOST: usize = 4_000;

/// Returns the picture's height.
pub(super) fn draw(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let categories = spec.categories.as_deref().unwrap_or_default();
    let series = spec.series.as_deref().unwrap_or_default();
    let named = (2..=NAMED).contains(&series.len());
    let mut top = frame::title(spec, canvas);
    if series.len() > NAMED {
        top = frame::legend(series, true, top, canvas);
    }
    let scale = Scale::around(series.iter().flat_map(|one| one.data.iter().flatten().copied()), false, 5);
    top = frame::upright_name(axis_name(spec, &scale).as_deref(), top, canvas);
    let names: Vec<String> = series.iter().map(|one| fitted(&label(&one.label), 150.0, SMALL)).collect();
    let widest = names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
    let right = WIDTH - MARGIN - if named { widest + 18.0 } else { 6.0 };
    let area = Area { left: frame::room_for(&scale) + 4.0, right, top: top + 4.0, bottom: top + 270.0 };
    frame::upright_ticks(&scale, area, canvas);
    if scale.low() < 0.0 && scale.high() > 0.0 {
        let zero = area.bottom - scale.place(0.0) * area.height();
        canvas.line((area.left, zero), (area.right, zero), Paint::Axis, 1.0);
    }
    let across = Across { area, count: categories.len() };
    ticks(categories, &across, canvas);
    let most = (MOST / series.len().max(1)).max(50);
    let mut thinned = false;
    let category = |at: usize| categories.get(at).map(|name| label(name)).unwrap_or_default();
    for (at, one) in series.iter().enumerate().rev() {
        let paint = Paint::of(at, &one.label);
        for run in runs(one) {
            let kept = thin(&run, most);
            thinned |= kept.len() < run.len();
            let place =
                |(at, number): &(usize, f64)| (across.x(*at), area.bottom - scale.place(*number) * area.height());
            let points: Vec<(f64, f64)> = kept.iter().map(place).collect();
            if points.len() > 1 {
                canvas.way(&points, paint, 2.2, Paint::dashes(at), &label(&one.label));
            }
            if categories.len() <= DOTTED || points.len() == 1 {
                for (point, (at, number)) in points.iter().zip(&kept) {
                    let tip = match series.len() {
                        1 => format!("{}: {}", category(*at), value(*number)),
                        _ => format!("{}, {}: {}", category(*at), label(&one.label), value(*number)),
                    };
                    canvas.dot(*point, if points.len() == 1 { 3.2 } else { 2.8 }, paint, 1.0, &tip);
                }
            }
        }
    }
    if named {
        name_ends(series, &names, &scale, &across, canvas);
    }
    let mut bottom = area.bottom + 20.0;
    if spec.x_axis_label.is_some() {
        bottom += 20.0;
        frame::level_name(spec.x_axis_label.as_deref(), area, bottom, canvas);
    }
    if thinned {
        bottom += 20.0;
        frame::note("Of each stretch its lowest and highest point are drawn", bottom, canvas);
    }
    bottom + 16.0
}

/// The name of the upright axis, which says so when it does not begin at zero.
fn axis_name(spec: &ChartSpec, scale: &Scale) -> Option<String> {
    let from = scale.labels().into_iter().next().filter(|_| scale.low() > 0.0);
    match (spec.y_axis_label.clone(), from) {
        (Some(name), Some(from)) => Some(format!("{name} · axis begins at {from}")),
        (None, Some(from)) => Some(format!("Axis begins at {from}")),
        (name, None) => name,
    }
}

/// Where the categories are.
struct Across {
    area: Area,
    count: usize,
}

impl Across {
    fn x(&self, at: usize) -> f64 {
        let inner = 8f64.min(self.area.width() / 4.0);
        match self.count {
            0 | 1 => (self.area.left + self.area.right) / 2.0,
            count => self.area.left + inner + (self.area.width() - 2.0 * inner) * at as f64 / (count - 1) as f64,
        }
    }
}

/// Names below the axis, as many as have room, evenly, from the first on; and the last where it has room.
fn ticks(categories: &[String], across: &Across, canvas: &mut Canvas) {
    let names: Vec<String> = categories.iter().map(|name| fitted(&label(name), 110.0, SMALL)).collect();
    let widest = names.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max) + 14.0;
    let step = if names.len() > 1 { across.x(1) - across.x(0) } else { widest };
    let every = round_count((widest / step).ceil().max(1.0) as usize);
    let last = names.len().saturating_sub(1);
    let reached = last - last % every;
    let ends_named = across.x(last) - across.x(reached) >= widest;
    let area = across.area;
    for (at, (name, category)) in names.iter().zip(categories).enumerate() {
        if at % every != 0 && !(at == last && ends_named) {
            continue;
        }
        let half = width(name, SMALL) / 2.0;
        let x = across.x(at).clamp(MARGIN / 2.0 + half, (WIDTH - MARGIN / 2.0 - half).max(MARGIN + half));
        canvas.line((across.x(at), area.bottom), (across.x(at), area.bottom + 5.0), Paint::Axis, 1.0);
        let full = label(category);
        canvas.text(&Text { full: Some(&full), ..Text::new((x, area.bottom + 20.0), name, Anchor::Middle) });
    }
    canvas.line((area.left, area.bottom), (area.right, area.bottom), Paint::Axis, 1.0);
}

/// The next count that people step by: months come in twelves.
fn round_count(count: usize) -> usize {
    [1, 2, 3, 4, 6, 12, 24, 36, 60, 120, 240, 600].into_iter().find(|round| *round >= count).unwrap_or(count)
}

/// Stretches of values without a gap.
fn runs(series: &Series) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut open = false;
    for (at, number) in series.data.iter().enumerate() {
        match (number, runs.last_mut()) {
            (Some(number), Some(run)) if open => run.push((at, *number)),
            (Some(number), _) => runs.push(vec![(at, *number)]),
            (None, _) => {}
        }
        open = number.is_some();
    }
    runs
}

/// At most about so many points: of equal stretches the lowest and the highest, which keeps every spike.
fn thin(run: &[(usize, f64)], most: usize) -> Vec<(usize, f64)> {
    if run.len() <= most {
        return run.to_vec();
    }
    let size = (run.len() * 2).div_ceil(most);
    let mut kept = Vec::new();
    for stretch in run.chunks(size.max(1)) {
        let by = |left: &&(usize, f64), right: &&(usize, f64)| left.1.total_cmp(&right.1);
        let (Some(low), Some(high)) = (stretch.iter().min_by(by), stretch.iter().max_by(by)) else { continue };
        let mut pair = [*low, *high];
        pair.sort_by_key(|point| point.0);
        kept.push(pair[0]);
        if pair[1].0 != pair[0].0 {
            kept.push(pair[1]);
        }
    }
    kept
}

/// Each line's name beside its last point, moved so that none overlaps, with a thread to the point where it moved.
fn name_ends(series: &[Series], names: &[String], scale: &Scale, across: &Across, canvas: &mut Canvas) {
    let area = across.area;
    let ends: Vec<Option<(f64, f64)>> = series
        .iter()
        .map(|one| {
            let (at, number) = one.data.iter().enumerate().rev().find_map(|(at, number)| Some((at, (*number)?)))?;
            Some((across.x(at), area.bottom - scale.place(number) * area.height()))
        })
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|end| end.map_or(area.bottom, |(_, y)| y)).collect();
    let places = spread(&wanted, 16.0, area.top + 2.0, area.bottom);
    for (at, (((one, name), end), y)) in series.iter().zip(names).zip(ends).zip(places).enumerate() {
        let paint = Paint::of(at, &one.label);
        let x = area.right + 14.0;
        if let Some((from_x, from_y)) = end
            && ((from_y - y).abs() > 1.0 || x - from_x > 30.0)
        {
            canvas.way(&[(from_x + 4.0, from_y), (x - 3.0, y)], Paint::Axis, 0.7, "", "");
        }
        canvas.dot((x + 2.0, y), 3.4, paint, 1.0, "");
        let full = label(&one.label);
        canvas.text(&Text {
            paint: Paint::Ink,
            full: Some(&full),
            ..Text::new((x + 9.0, y + 4.0), name, Anchor::Start)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_end_a_run() {
        let series = Series { label: "s".into(), data: vec![Some(1.0), None, Some(2.0), Some(3.0), None] };
        assert_eq!(runs(&series), [vec![(0, 1.0)], vec![(2, 2.0), (3, 3.0)]]);
    }

    #[test]
    fn thinning_keeps_every_spike() {
        let mut run: Vec<(usize, f64)> = (0..10_000).map(|at| (at, 1.0)).collect();
        run[5_432].1 = 100.0;
        run[7_654].1 = -100.0;
        let kept = thin(&run, 400);
        assert!(kept.len() <= 400);
        assert!(kept.contains(&(5_432, 100.0)) && kept.contains(&(7_654, -100.0)));
        assert!(kept.windows(2).all(|two| two[0].0 < two[1].0));
    }
}
