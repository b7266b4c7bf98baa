//! A matrix of four-bit weights, and rows of floats times it: the rows as unsigned bytes between their least and their
//! greatest value, the products in whole numbers, the scales of the weights' groups in floats.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "positions within the shapes that the constructors checked, in several arrays at once"
)]

use super::lanes::{FOUR, Lanes, WIDE};

/// Weights along a row that share a scale.
pub(super) const GROUP: usize = 32;
const STEPS: usize = GROUP / FOUR;
/// Rows that are multiplied together, and panels: what they sum up must fit the processor's registers.
const ROWS: usize = 6;

/// One column an output.
pub(super) struct Matrix {
    depth: usize,
    /// By panel, then by group: four weights of each column, eight times.
    weights: Vec<[[i8; WIDE * FOUR]; STEPS]>,
    /// By panel, then by group.
    scales: Vec<[f32; WIDE]>,
    /// What the weights of a column come to together, and what is added to it.
    sums: Vec<[f32; WIDE]>,
    bias: Vec<[f32; WIDE]>,
}

impl Matrix {
    /// Of outputs: the weights of each, -8 to 7, the scale of each group of them, and what is added to it. `None` where
    /// the lengths do not fit together.
    pub(super) fn new(depth: usize, weights: &[i8], scales: &[f32], bias: &[f32]) -> Option<Self> {
        let (width, groups) = (bias.len(), depth / GROUP);
        let fits = depth.is_multiple_of(GROUP) && width.is_multiple_of(WIDE) && depth > 0;
        if !fits || weights.len() != width * depth || scales.len() != width * groups {
            return None;
        }
        let mut matrix = Self {
            depth,
            weights: vec![[[0; WIDE * FOUR]; STEPS]; width / WIDE * groups],
            scales: vec![[0.0; WIDE]; width / WIDE * groups],
            sums: vec![[0.0; WIDE]; width / WIDE],
            bias: bias.as_chunks().0.to_vec(),
        };
        for (column, (weights, scales)) in weights.chunks_exact(depth).zip(scales.chunks_exact(groups)).enumerate() {
            let (panel, lane) = (column / WIDE, column % WIDE);
            for (group, (weights, scale)) in weights.chunks_exact(GROUP).zip(scales).enumerate() {
                let at = panel * groups + group;
                for (step, four) in weights.chunks_exact(FOUR).enumerate() {
                    matrix.weights[at][step][lane * FOUR..][..FOUR].copy_from_slice(four);
                }
                matrix.scales[at][lane] = *scale;
                matrix.sums[panel][lane] += weights.iter().map(|x| f32::from(*x)).sum::<f32>() * scale;
            }
        }
        Some(matrix)
    }

    pub(super) fn width(&self) -> usize {
        self.bias.len() * WIDE
    }

    /// `out`, a row of [`Matrix::width`] for each row of `rows`, becomes their product.
    #[inline(always)]
    pub(super) fn multiply<L: Lanes>(&self, lanes: L, rows: &Rows, out: &mut [f32]) {
        let panels = self.bias.len();
        let mut panel = 0;
        while panel < panels {
            let two = panel + 1 < panels;
            let mut row = 0;
            while row < rows.count() {
                match two {
                    true => self.block::<L, 2>(lanes, rows, row, panel, out),
                    false => self.block::<L, 1>(lanes, rows, row, panel, out),
                }
                row += ROWS;
            }
            panel += if two { 2 } else { 1 };
        }
    }

    /// Some rows times some panels. Behind the last row it is taken again, and not written.
    #[inline(always)]
    fn block<L: Lanes, const PANELS: usize>(&self, lanes: L, rows: &Rows, first: usize, panel: usize, out: &mut [f32]) {
        let groups = self.depth / GROUP;
        let mut of = [[].as_slice(); ROWS];
        for (at, row) in of.iter_mut().enumerate() {
            *row = rows.row((first + at).min(rows.count() - 1));
        }
        let mut totals = [[lanes.splat(0.0); PANELS]; ROWS];
        for group in 0..groups {
            let mut sums = [[lanes.nothing(); PANELS]; ROWS];
            let mut bytes = [&[[0; FOUR]; STEPS]; ROWS];
            for at in 0..ROWS {
                bytes[at] = &of[at][group];
            }
            let mut weights = [&[[0; WIDE * FOUR]; STEPS]; PANELS];
            for at in 0..PANELS {
                weights[at] = &self.weights[(panel + at) * groups + group];
            }
            for step in 0..STEPS {
                let mut columns = [lanes.repeated([0; FOUR]); PANELS];
                for at in 0..PANELS {
                    columns[at] = lanes.weights(&weights[at][step]);
                }
                for row in 0..ROWS {
                    let four = lanes.repeated(bytes[row][step]);
                    for at in 0..PANELS {
                        sums[row][at] = lanes.add(sums[row][at], four, columns[at]);
                    }
                }
            }
            for at in 0..PANELS {
                let scales = lanes.floats(&self.scales[(panel + at) * groups + group]);
                for row in 0..ROWS {
                    totals[row][at] = lanes.scaled(totals[row][at], sums[row][at], scales);
                }
            }
        }
        let panels = self.bias.len();
        let out = out.as_chunks_mut().0;
        for (at, totals) in totals.into_iter().enumerate().take(rows.count() - first) {
            let (least, scale) = rows.ranges[first + at];
            let (least, scale) = (lanes.splat(least), lanes.splat(scale));
            for (column, total) in (panel..).zip(totals) {
                let added =
                    lanes.multiply_add(least, lanes.floats(&self.sums[column]), lanes.floats(&self.bias[column]));
                out[(first + at) * panels + column] = lanes.values(lanes.multiply_add(scale, total, added));
            }
        }
    }
}

/// Rows of unsigned bytes.
#[derive(Default)]
pub(super) struct Rows {
    /// Groups of a row.
    groups: usize,
    bytes: Vec<[[u8; FOUR]; STEPS]>,
    /// The value that 0 stands for, and how much one more is.
    ranges: Vec<(f32, f32)>,
}

impl Rows {
    /// Of rows of `depth` floats, a multiple of [`GROUP`].
    #[inline(always)]
    pub(super) fn read(&mut self, floats: &[f32], depth: usize) {
        self.groups = depth / GROUP;
        self.bytes.clear();
        self.ranges.clear();
        for row in floats.chunks_exact(depth) {
            let (mut least, mut most) = ([f32::INFINITY; WIDE], [f32::NEG_INFINITY; WIDE]);
            for chunk in row.as_chunks::<WIDE>().0 {
                for at in 0..WIDE {
                    least[at] = if chunk[at] < least[at] { chunk[at] } else { least[at] };
                    most[at] = if chunk[at] > most[at] { chunk[at] } else { most[at] };
                }
            }
            let least = least.into_iter().fold(f32::INFINITY, f32::min);
            let most = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
            let span = (most - least).max(f32::MIN_POSITIVE);
            for group in row.as_chunks::<GROUP>().0 {
                let mut bytes = [0_u8; GROUP];
                for at in 0..GROUP {
                    // A float this great holds whole numbers in its lowest bits.
                    bytes[at] = ((group[at] - least) * (255.0 / span) + 8_388_608.0).to_bits() as u8;
                }
                self.bytes.push(pulp::cast(bytes));
            }
            self.ranges.push((least, span / 255.0));
        }
    }

    fn count(&self) -> usize {
        self.ranges.len()
    }

    #[inline(always)]
    fn row(&self, at: usize) -> &[[[u8; FOUR]; STEPS]] {
        &self.bytes[at * self.groups..][..self.groups]
    }
}
