//! A small model of the BERT family: word pieces in, one vector a text out. Texts stand behind each other, with nothing
//! filled up; each attends to itself.

#![expect(clippy::indexing_slicing, reason = "positions within the model's own shapes")]

use super::lanes::{Lanes, WIDE, Work};
use super::matrix::{Matrix, Rows};
use super::waves::{gelu, weigh};

/// Rows that go through the wide matrices together: what they become stays in a core's cache.
const TOGETHER: usize = 96;
/// Rows of floats that are multiplied together.
const ROWS: usize = 6;

pub(super) struct Layer {
    /// Query, key and value, one behind the other.
    pub attention: Matrix,
    pub joined: Matrix,
    pub after_attention: Norm,
    pub up: Matrix,
    pub down: Matrix,
    pub after: Norm,
}

pub(super) struct Norm {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
}

/// What a model's layers make of texts: for each the sum over its pieces.
pub(super) struct Pass<'a> {
    pub layers: &'a [Layer],
    pub heads: usize,
    /// The pieces of all texts, as they were looked up.
    pub pieces: Vec<f32>,
    /// How many pieces each text has.
    pub lengths: &'a [usize],
    pub hidden: usize,
}

impl Work for Pass<'_> {
    type Output = Vec<Vec<f32>>;

    #[inline(always)]
    fn on<L: Lanes>(self, lanes: L) -> Vec<Vec<f32>> {
        let Self { layers, heads, mut pieces, lengths, hidden } = self;
        let count = pieces.len() / hidden;
        let mut rows = Rows::default();
        let mut attended = vec![0.0; count * hidden];
        let mut qkv = vec![0.0; count * hidden * 3];
        let mut wide = Vec::new();
        let mut room = Room::default();
        for layer in layers {
            for (from, to) in pieces.chunks(TOGETHER * hidden).zip(qkv.chunks_mut(TOGETHER * hidden * 3)) {
                rows.read(from, hidden);
                layer.attention.multiply(lanes, &rows, to);
            }
            let (mut from, mut to) = (qkv.as_slice(), attended.as_mut_slice());
            for &length in lengths {
                let (text, after) = from.split_at(length * hidden * 3);
                let (out, behind) = to.split_at_mut(length * hidden);
                for head in 0..heads {
                    attend(lanes, text, hidden, hidden / heads, head, &mut room, out);
                }
                (from, to) = (after, behind);
            }
            for (part, attended) in pieces.chunks_mut(TOGETHER * hidden).zip(attended.chunks_mut(TOGETHER * hidden)) {
                rows.read(attended, hidden);
                layer.joined.multiply(lanes, &rows, attended);
                layer.after_attention.add(part, attended);
                rows.read(part, hidden);
                wide.resize(part.len() / hidden * layer.up.width(), 0.0);
                layer.up.multiply(lanes, &rows, &mut wide);
                gelu(&mut wide);
                rows.read(&wide, layer.up.width());
                layer.down.multiply(lanes, &rows, attended);
                layer.after.add(part, attended);
            }
        }
        let mut rest = pieces.as_slice();
        let mut sums = Vec::with_capacity(lengths.len());
        for &length in lengths {
            let (text, after) = rest.split_at(length * hidden);
            let mut sum = vec![0.0; hidden];
            for piece in text.chunks_exact(hidden) {
                for (sum, x) in sum.iter_mut().zip(piece) {
                    *sum += x;
                }
            }
            sums.push(sum);
            rest = after;
        }
        sums
    }
}

impl Norm {
    /// `to` becomes `to + other`, each row brought to mean 0 and variance 1, then scaled and moved.
    #[inline(always)]
    pub(super) fn add(&self, to: &mut [f32], other: &[f32]) {
        let depth = self.weight.len();
        for (to, other) in to.chunks_exact_mut(depth).zip(other.chunks_exact(depth)) {
            let mut sum = [0.0; WIDE];
            for (to, other) in to.as_chunks_mut::<WIDE>().0.iter_mut().zip(other.as_chunks::<WIDE>().0) {
                for at in 0..WIDE {
                    to[at] += other[at];
                    sum[at] += to[at];
                }
            }
            let mean = sum.iter().sum::<f32>() / depth as f32;
            let mut squares = [0.0; WIDE];
            for to in to.as_chunks_mut::<WIDE>().0 {
                for at in 0..WIDE {
                    to[at] -= mean;
                    squares[at] += to[at] * to[at];
                }
            }
            // BERT's own least variance.
            let scale = 1.0 / (squares.iter().sum::<f32>() / depth as f32 + 1e-12).sqrt();
            for ((to, weight), bias) in to.iter_mut().zip(&self.weight).zip(&self.bias) {
                *to = *to * scale * weight + bias;
            }
        }
    }
}

/// What the heads of a text need for the time of their work.
#[derive(Default)]
struct Room {
    keys: Vec<[f32; WIDE]>,
    values: Vec<[f32; WIDE]>,
    weights: Vec<[f32; WIDE]>,
    taken: Vec<[f32; WIDE]>,
}

/// One head of a text: what each piece takes of all.
#[inline(always)]
fn attend<L: Lanes>(
    lanes: L,
    text: &[f32],
    hidden: usize,
    depth: usize,
    head: usize,
    room: &mut Room,
    out: &mut [f32],
) {
    let (count, stride) = (text.len() / hidden / 3, hidden * 3);
    let panels = count.div_ceil(WIDE);
    room.keys.clear();
    room.keys.resize(panels * depth, [0.0; WIDE]);
    room.values.clear();
    room.values.resize(count * (depth / WIDE), [0.0; WIDE]);
    room.weights.resize(ROWS * panels, [0.0; WIDE]);
    for (at, piece) in text.chunks_exact(stride).enumerate() {
        let key = &piece[hidden + head * depth..][..depth];
        for (along, x) in key.iter().enumerate() {
            room.keys[at / WIDE * depth + along][at % WIDE] = *x;
        }
        let value = &piece[2 * hidden + head * depth..][..depth];
        for (panel, part) in value.as_chunks().0.iter().enumerate() {
            room.values[panel * count + at] = *part;
        }
    }
    let scale = 1.0 / (depth as f32).sqrt();
    for first in (0..count).step_by(ROWS) {
        let mut queries = [[].as_slice(); ROWS];
        for (at, query) in queries.iter_mut().enumerate() {
            *query = &text[(first + at).min(count - 1) * stride + head * depth..][..depth];
        }
        product(lanes, queries, &room.keys, panels, &mut room.weights);
        let mut weights = [[].as_slice(); ROWS];
        let mut wholes = [0.0; ROWS];
        for (at, row) in room.weights.chunks_exact_mut(panels).enumerate() {
            let row = row.as_flattened_mut();
            wholes[at] = weigh(row, count, scale);
            weights[at] = &row[..count];
        }
        room.taken.resize(ROWS * depth / WIDE, [0.0; WIDE]);
        product(lanes, weights, &room.values, depth / WIDE, &mut room.taken);
        for (at, taken) in room.taken.chunks_exact(depth / WIDE).enumerate().take(ROWS.min(count - first)) {
            let to = &mut out[(first + at) * hidden + head * depth..][..depth];
            let part = 1.0 / wholes[at];
            for (to, taken) in to.as_chunks_mut::<WIDE>().0.iter_mut().zip(taken) {
                *to = taken.map(|x| x * part);
            }
        }
    }
}

/// Some rows times panels of columns.
#[inline(always)]
fn product<L: Lanes>(lanes: L, rows: [&[f32]; ROWS], columns: &[[f32; WIDE]], panels: usize, out: &mut [[f32; WIDE]]) {
    let mut panel = 0;
    while panel < panels {
        match panel + 1 < panels {
            true => block::<L, 2>(lanes, rows, columns, panel, out, panels),
            false => block::<L, 1>(lanes, rows, columns, panel, out, panels),
        }
        panel += 2;
    }
}

#[inline(always)]
fn block<L: Lanes, const PANELS: usize>(
    lanes: L,
    rows: [&[f32]; ROWS],
    columns: &[[f32; WIDE]],
    panel: usize,
    out: &mut [[f32; WIDE]],
    panels: usize,
) {
    let depth = rows[0].len();
    let mut of = [[].as_slice(); PANELS];
    for at in 0..PANELS {
        of[at] = &columns[(panel + at) * depth..][..depth];
    }
    let mut sums = [[lanes.splat(0.0); PANELS]; ROWS];
    for along in 0..depth {
        let mut column = [lanes.splat(0.0); PANELS];
        for at in 0..PANELS {
            column[at] = lanes.floats(&of[at][along]);
        }
        for row in 0..ROWS {
            let x = lanes.splat(rows[row][along]);
            for at in 0..PANELS {
                sums[row][at] = lanes.multiply_add(x, column[at], sums[row][at]);
            }
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        for (at, sum) in sums.into_iter().enumerate() {
            out[row * panels + panel + at] = lanes.values(sum);
        }
    }
}
