//! The curved functions of a transformer, on sixteen numbers at a time, in steps that any processor has wide.

use super::lanes::WIDE;

/// e to the power of `x`, for `x` up to 88; below -87 about 1e-38. Off by at most some 2e-7 of it.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Behind this sum the whole number nearest to the power of two stands in the lowest bits.
    const SHIFT: f32 = 12_582_912.0;
    let x = if x > -87.0 { x } else { -87.0 };
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let whole = shifted - SHIFT;
    // Cody and Waite: what is left of x, with ln 2 in two parts.
    let left = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let curve = 1.0 / 5040.0;
    let curve = curve * left + 1.0 / 720.0;
    let curve = curve * left + 1.0 / 120.0;
    let curve = curve * left + 1.0 / 24.0;
    let curve = curve * left + 1.0 / 6.0;
    let curve = curve * left + 0.5;
    let curve = curve * left + 1.0;
    let curve = curve * left + 1.0;
    f32::from_bits(curve.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Half of `x` times one more than the error function of `x / √2` (Abramowitz and Stegun, 7.1.26: off by at most 2e-7 there).
/// The length is a multiple of [`WIDE`].
#[inline(always)]
pub(super) fn gelu(all: &mut [f32]) {
    for chunk in all.as_chunks_mut::<WIDE>().0 {
        for x in chunk {
            let side = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
            let t = 1.0 / (1.0 + 0.327_591_1 * side);
            let curve = 1.061_405_4 * t - 1.453_152;
            let curve = curve * t + 1.421_413_7;
            let curve = curve * t - 0.284_496_74;
            let curve = (curve * t + 0.254_829_6) * t;
            let rest = curve * exp(-side * side);
            *x = 0.5 * (*x + x.abs() * (1.0 - rest));
        }
    }
}

/// The first `count` numbers become their weights, by the powers of e (times `scale`, from the greatest down), and what is
/// behind them next to nothing. The sum of the weights comes back.
#[inline(always)]
pub(super) fn weigh(row: &mut [f32], count: usize, scale: f32) -> f32 {
    if let Some(rest) = row.get_mut(count..) {
        rest.fill(f32::MIN);
    }
    let mut greatest = [f32::MIN; WIDE];
    for chunk in row.as_chunks::<WIDE>().0 {
        for (greatest, x) in greatest.iter_mut().zip(chunk) {
            *greatest = if *x > *greatest { *x } else { *greatest };
        }
    }
    let greatest = greatest.into_iter().fold(f32::MIN, f32::max);
    let mut sums = [0.0; WIDE];
    for chunk in row.as_chunks_mut::<WIDE>().0 {
        for (x, sum) in chunk.iter_mut().zip(&mut sums) {
            *x = exp((*x - greatest) * scale);
            *sum += *x;
        }
    }
    sums.into_iter().sum()
}
