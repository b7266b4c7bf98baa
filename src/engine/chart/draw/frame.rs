//! What charts have in common: the title, axes, the legend, notes below.

use super::canvas::{Anchor, Canvas, Text, number};
use super::paint::Paint;
use super::scale::Scale;
use super::text::{fitted, label, width, wrapped};
use crate::model::chart::{ChartSpec, Series};

/// Of every picture.
pub(super) const WIDTH: f64 = 760.0;
pub(super) const MARGIN: f64 = 20.0;
pub(super) const SMALL: f64 = 12.0;

/// Where the marks are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Area {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// The title; returns where what follows may begin.
pub(super) fn title(spec: &ChartSpec, canvas: &mut Canvas) -> f64 {
    let full = label(&spec.title);
    let lines = wrapped(&full, WIDTH - 2.0 * MARGIN, 17.0, 2);
    let mut y = 34.0;
    for line in &lines {
        let text = Text {
            size: 17.0,
            bold: true,
            paint: Paint::Ink,
            full: Some(&full),
            ..Text::new((MARGIN, y), line, Anchor::Start)
        };
        canvas.text(&text);
        y += 22.0;
    }
    y - 8.0
}

/// Names of series with their colours in rows; returns where what follows may begin.
pub(super) fn legend(series: &[Series], as_lines: bool, top: f64, canvas: &mut Canvas) -> f64 {
    let (mut x, mut y) = (MARGIN, top + 16.0);
    for (at, one) in series.iter().enumerate() {
        let full = label(&one.label);
        let name = fitted(&full, 200.0, SMALL);
        let room = 22.0 + width(&name, SMALL) + 16.0;
        if x + room > WIDTH - MARGIN && x > MARGIN {
            x = MARGIN;
            y += 20.0;
        }
        let paint = Paint::of(at, &one.label);
        match as_lines {
            true => canvas.way(&[(x, y - 4.0), (x + 16.0, y - 4.0)], paint, 3.0, Paint::dashes(at), ""),
            false => canvas.rect((x, y - 10.0), (12.0, 12.0), paint, ""),
        }
        canvas.text(&Text { paint: Paint::Ink, full: Some(&full), ..Text::new((x + 22.0, y), &name, Anchor::Start) });
        x += room;
    }
    y + 10.0
}

/// The name of the upright axis, above it.
pub(super) fn upright_name(name: Option<&str>, top: f64, canvas: &mut Canvas) -> f64 {
    let Some(full) = name.map(label) else { return top + 8.0 };
    let shown = fitted(&full, WIDTH - 2.0 * MARGIN, SMALL);
    canvas.text(&Text { full: Some(&full), ..Text::new((MARGIN, top + 14.0), &shown, Anchor::Start) });
    top + 26.0
}

/// The name of the level axis, below it.
pub(super) fn level_name(name: Option<&str>, area: Area, y: f64, canvas: &mut Canvas) {
    let Some(full) = name.map(label) else { return };
    let shown = fitted(&full, area.width().max(160.0), SMALL);
    let middle = (area.left + area.right) / 2.0;
    canvas.text(&Text { full: Some(&full), ..Text::new((middle, y), &shown, Anchor::Middle) });
}

/// A remark under the picture, such as what is left out.
pub(super) fn note(text: &str, y: f64, canvas: &mut Canvas) {
    canvas.text(&Text { size: 11.0, ..Text::new((WIDTH - MARGIN, y), text, Anchor::End) });
}

/// Room for the labels of an upright axis of numbers.
pub(super) fn room_for(scale: &Scale) -> f64 {
    let widest = scale.labels().iter().map(|text| width(text, SMALL)).fold(0.0, f64::max);
    MARGIN + widest + 8.0
}

/// Lines across and their labels at the left.
pub(super) fn upright_ticks(scale: &Scale, area: Area, canvas: &mut Canvas) {
    for (tick, text) in scale.ticks.iter().zip(scale.labels()) {
        let y = area.bottom - scale.place(*tick) * area.height();
        canvas.line((area.left, y), (area.right, y), Paint::Grid, 1.0);
        canvas.text(&Text::new((area.left - 8.0, y + 4.0), &text, Anchor::End));
    }
}

/// Lines upright and their labels below.
pub(super) fn level_ticks(scale: &Scale, area: Area, canvas: &mut Canvas) {
    for (tick, text) in scale.ticks.iter().zip(scale.labels()) {
        let x = area.left + scale.place(*tick) * area.width();
        canvas.line((x, area.top), (x, area.bottom), Paint::Grid, 1.0);
        canvas.text(&Text::new((x, area.bottom + 18.0), &text, Anchor::Middle));
    }
}

/// Puts texts of a height below each other so that none overlaps, each as near to where it belongs as it can be, all
/// between `top` and `bottom` where there is room.
pub(super) fn spread(wanted: &[f64], height: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = wanted.iter().copied().enumerate().collect();
    order.sort_by(|left, right| left.1.total_cmp(&right.1));
    // Neighbours that would overlap become a group around the mean of where they belong.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (rank, (_, wanted)) in order.iter().enumerate() {
        let mut group = (wanted - height * rank as f64, 1);
        while let Some(before) = groups.pop_if(|before| before.0 > group.0) {
            let count = before.1 + group.1;
            group = ((before.0 * before.1 as f64 + group.0 * group.1 as f64) / count as f64, count);
        }
        groups.push(group);
    }
    let start = groups.iter().flat_map(|(start, count)| std::iter::repeat_n(*start, *count));
    let mut next = top;
    for ((rank, (_, place)), start) in order.iter_mut().enumerate().zip(start) {
        *place = (start + height * rank as f64).max(next);
        next = *place + height;
    }
    let mut below = bottom;
    for (_, place) in order.iter_mut().rev() {
        *place = place.min(below);
        below = *place - height;
    }
    order.sort_by_key(|(at, _)| *at);
    order.into_iter().map(|(_, place)| place).collect()
}

/// A count in words of a note.
pub(super) fn counted(count: usize) -> String {
    super::scale::value(count as f64)
}

/// The commands of a path to a point.
pub(super) fn point(at: (f64, f64)) -> String {
    format!("{} {}", number(at.0), number(at.1))
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn labels_are_moved_apart_and_stay_inside() {
        assert_eq!(spread(&[10.0, 50.0], 15.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[40.0, 41.0], 15.0, 0.0, 100.0), [33.0, 48.0]);
        assert_eq!(spread(&[1.0, 2.0], 15.0, 0.0, 100.0), [0.0, 15.0]);
        assert_eq!(spread(&[99.0, 100.0], 15.0, 0.0, 100.0), [85.0, 100.0]);
        assert_eq!(spread(&[80.0, 40.0, 41.0], 15.0, 0.0, 100.0), [80.0, 33.0, 48.0]);
    }
}
