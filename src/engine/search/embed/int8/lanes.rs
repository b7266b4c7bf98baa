//! Sixteen columns at a time, by the widest instructions that the processor has. The rest of the folder is written once,
//! over [`Lanes`].

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256i, __m512, __m512i};

use pulp::NullaryFnOnce;
#[cfg(target_arch = "x86_64")]
use pulp::cast;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

/// Columns of a panel.
pub(super) const WIDE: usize = 16;
/// Coordinates that a step multiplies of each column.
pub(super) const FOUR: usize = 4;

/// Sixteen columns. Sums of products are held as 16-bit numbers, two a column: of eight steps of unsigned bytes and numbers
/// between -8 and 7 they cannot overflow (8 × 2 × 255 × 8 = 32,640).
pub(super) trait Lanes: Copy {
    type Sums: Copy;
    type Bytes: Copy;
    type Floats: Copy;

    fn nothing(self) -> Self::Sums;
    fn weights(self, of: &[i8; WIDE * FOUR]) -> Self::Bytes;
    /// The same four for each column.
    fn repeated(self, four: [u8; FOUR]) -> Self::Bytes;
    fn add(self, to: Self::Sums, four: Self::Bytes, weights: Self::Bytes) -> Self::Sums;
    /// `to + sums * scales`.
    fn scaled(self, to: Self::Floats, sums: Self::Sums, scales: Self::Floats) -> Self::Floats;

    fn splat(self, of: f32) -> Self::Floats;
    fn floats(self, of: &[f32; WIDE]) -> Self::Floats;
    /// `a * b + c`.
    fn multiply_add(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    fn values(self, of: Self::Floats) -> [f32; WIDE];
}

/// Work that is compiled for each kind of lanes.
pub(super) trait Work {
    type Output;
    fn on<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Does work with the widest instructions that are here.
pub(super) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(set) = V4::try_new() {
            return set.vectorize(On(Avx512(set), work));
        }
        if let Some(set) = V3::try_new() {
            return set.vectorize(On(Avx2(set), work));
        }
    }
    work.on(Portable)
}

/// Whether this processor multiplies bytes faster than floats, in this build.
pub(super) fn are_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_wide_bytes = V3::try_new().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    let has_wide_bytes = false;
    has_wide_bytes && !cfg!(debug_assertions)
}

/// Does work with each kind of instructions that is here, the widest first.
#[cfg(test)]
pub(super) fn each<W: Work + Clone>(work: &W) -> Vec<W::Output> {
    let mut done = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        done.extend(V4::try_new().map(|set| set.vectorize(On(Avx512(set), work.clone()))));
        done.extend(V3::try_new().map(|set| set.vectorize(On(Avx2(set), work.clone()))));
    }
    done.push(work.clone().on(Portable));
    done
}

/// Work by one kind of lanes, inlined where their instructions are allowed.
struct On<L, W>(L, W);

impl<L: Lanes, W: Work> NullaryFnOnce for On<L, W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.1.on(self.0)
    }
}

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx512(V4);

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx512 {
    type Sums = __m512i;
    type Bytes = __m512i;
    type Floats = __m512;

    #[inline(always)]
    fn nothing(self) -> __m512i {
        self.0.avx512f._mm512_setzero_si512()
    }

    #[inline(always)]
    fn weights(self, of: &[i8; 64]) -> __m512i {
        cast(*of)
    }

    #[inline(always)]
    fn repeated(self, four: [u8; FOUR]) -> __m512i {
        self.0.avx512f._mm512_set1_epi32(i32::from_le_bytes(four))
    }

    #[inline(always)]
    fn add(self, to: __m512i, four: __m512i, weights: __m512i) -> __m512i {
        self.0.avx512bw._mm512_add_epi16(to, self.0.avx512bw._mm512_maddubs_epi16(four, weights))
    }

    #[inline(always)]
    fn scaled(self, to: __m512, sums: __m512i, scales: __m512) -> __m512 {
        let f = self.0.avx512f;
        let sums = self.0.avx512bw._mm512_madd_epi16(sums, f._mm512_set1_epi16(1));
        f._mm512_fmadd_ps(f._mm512_cvtepi32_ps(sums), scales, to)
    }

    #[inline(always)]
    fn splat(self, of: f32) -> __m512 {
        self.0.avx512f._mm512_set1_ps(of)
    }

    #[inline(always)]
    fn floats(self, of: &[f32; WIDE]) -> __m512 {
        cast(*of)
    }

    #[inline(always)]
    fn multiply_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        self.0.avx512f._mm512_fmadd_ps(a, b, c)
    }

    #[inline(always)]
    fn values(self, of: __m512) -> [f32; WIDE] {
        cast(of)
    }
}

/// Two halves of eight columns.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx2(V3);

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    type Sums = [__m256i; 2];
    type Bytes = [__m256i; 2];
    type Floats = [__m256; 2];

    #[inline(always)]
    fn nothing(self) -> [__m256i; 2] {
        [self.0.avx._mm256_setzero_si256(); 2]
    }

    #[inline(always)]
    fn weights(self, of: &[i8; 64]) -> [__m256i; 2] {
        cast(*of)
    }

    #[inline(always)]
    fn repeated(self, four: [u8; FOUR]) -> [__m256i; 2] {
        [self.0.avx._mm256_set1_epi32(i32::from_le_bytes(four)); 2]
    }

    #[inline(always)]
    fn add(self, [low, high]: [__m256i; 2], four: [__m256i; 2], weights: [__m256i; 2]) -> [__m256i; 2] {
        let set = self.0.avx2;
        [
            set._mm256_add_epi16(low, set._mm256_maddubs_epi16(four[0], weights[0])),
            set._mm256_add_epi16(high, set._mm256_maddubs_epi16(four[1], weights[1])),
        ]
    }

    #[inline(always)]
    fn scaled(self, to: [__m256; 2], sums: [__m256i; 2], scales: [__m256; 2]) -> [__m256; 2] {
        let ones = self.0.avx._mm256_set1_epi16(1);
        let low = self.0.avx._mm256_cvtepi32_ps(self.0.avx2._mm256_madd_epi16(sums[0], ones));
        let high = self.0.avx._mm256_cvtepi32_ps(self.0.avx2._mm256_madd_epi16(sums[1], ones));
        self.multiply_add([low, high], scales, to)
    }

    #[inline(always)]
    fn splat(self, of: f32) -> [__m256; 2] {
        [self.0.avx._mm256_set1_ps(of); 2]
    }

    #[inline(always)]
    fn floats(self, of: &[f32; WIDE]) -> [__m256; 2] {
        cast(*of)
    }

    #[inline(always)]
    fn multiply_add(self, a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        let set = self.0.fma;
        [set._mm256_fmadd_ps(a[0], b[0], c[0]), set._mm256_fmadd_ps(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn values(self, of: [__m256; 2]) -> [f32; WIDE] {
        cast(of)
    }
}

/// What any processor can do, if slowly: there floats are faster ([`are_fast`]).
#[derive(Clone, Copy)]
struct Portable;

impl Lanes for Portable {
    type Sums = [i32; WIDE];
    type Bytes = [[i8; FOUR]; WIDE];
    type Floats = [f32; WIDE];

    #[inline(always)]
    fn nothing(self) -> [i32; WIDE] {
        [0; WIDE]
    }

    #[inline(always)]
    fn weights(self, of: &[i8; 64]) -> [[i8; FOUR]; WIDE] {
        pulp::cast(*of)
    }

    #[inline(always)]
    fn repeated(self, four: [u8; FOUR]) -> [[i8; FOUR]; WIDE] {
        [four.map(u8::cast_signed); WIDE]
    }

    #[inline(always)]
    fn add(self, mut to: [i32; WIDE], four: [[i8; FOUR]; WIDE], weights: [[i8; FOUR]; WIDE]) -> [i32; WIDE] {
        for ((sum, four), weights) in to.iter_mut().zip(four).zip(weights) {
            for (x, weight) in four.into_iter().zip(weights) {
                *sum += i32::from(x.cast_unsigned()) * i32::from(weight);
            }
        }
        to
    }

    #[inline(always)]
    fn scaled(self, mut to: [f32; WIDE], sums: [i32; WIDE], scales: [f32; WIDE]) -> [f32; WIDE] {
        for ((to, sum), scale) in to.iter_mut().zip(sums).zip(scales) {
            *to += sum as f32 * scale;
        }
        to
    }

    #[inline(always)]
    fn splat(self, of: f32) -> [f32; WIDE] {
        [of; WIDE]
    }

    #[inline(always)]
    fn floats(self, of: &[f32; WIDE]) -> [f32; WIDE] {
        *of
    }

    #[inline(always)]
    fn multiply_add(self, a: [f32; WIDE], b: [f32; WIDE], mut c: [f32; WIDE]) -> [f32; WIDE] {
        for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
            *c += a * b;
        }
        c
    }

    #[inline(always)]
    fn values(self, of: [f32; WIDE]) -> [f32; WIDE] {
        of
    }
}
