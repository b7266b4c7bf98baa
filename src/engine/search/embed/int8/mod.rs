//! The built-in model in whole numbers: its weights are of four bits, so that rows of bytes times them need no floats, and
//! a processor multiplies 64 bytes where it would 16 floats. Attention, which has no weights, stays in floats.
//!
//! ```text
//! lanes   sixteen columns at a time, by what the processor has
//! matrix  rows of bytes times four-bit weights
//! waves   exp and what is made of it
//! layers  a transformer of these
//! floats  the same weights in the general library
//! ```
//!
//! It is written in place of a general library because those keep weights and what is between the layers as floats: four
//! times the time, and eight times the memory.

mod floats;
mod lanes;
mod layers;
mod matrix;
mod waves;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

pub(super) use floats::in_floats;
use lanes::{are_fast, widest};
use layers::{Layer, Norm, Pass};
use matrix::{GROUP, Matrix};

const LAYERS: usize = 3;
const HEADS: usize = 12;
/// Coordinates of a piece.
pub(super) const HIDDEN: usize = 384;
/// The same between the layers' two matrices.
const WIDE: usize = 1_536;

pub(super) struct Model {
    words: FourBits,
    /// What the place of a piece in its text adds to it, and that there is but one text.
    places: Vec<f32>,
    first: Norm,
    layers: Vec<Layer>,
}

/// Two weights a byte, the lower half first, eight above their value; a scale of two bytes for each [`GROUP`].
struct FourBits {
    packed: &'static [u8],
    scales: &'static [u8],
}

impl Model {
    /// Whether [`in_floats`] is slower.
    pub(super) fn is_fast() -> bool {
        are_fast()
    }

    /// Of `model.safetensors`; a text has at most `pieces`.
    ///
    /// # Errors
    /// A sentence that names the weight which is missing or has another length.
    pub(super) fn read(file: &'static [u8], pieces: usize) -> Result<Self, String> {
        let parts = Parts::of(file)?;
        let mut places = vec![0.0; pieces * HIDDEN];
        let (of_place, of_text) =
            (parts.four_bits("embeddings.position_embeddings")?, parts.four_bits("embeddings.token_type_embeddings")?);
        for (at, place) in places.chunks_exact_mut(HIDDEN).enumerate() {
            of_place.add(at, place);
            of_text.add(0, place);
        }
        Ok(Self {
            words: parts.four_bits("embeddings.word_embeddings")?,
            places,
            first: parts.norm("embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(|at| parts.layer(&format!("encoder.layer.{at}"))).collect::<Result<_, _>>()?,
        })
    }

    /// For each text, of its pieces' numbers, the sum of what the layers make of the pieces.
    pub(super) fn encode(&self, texts: &[&[u32]]) -> Vec<Vec<f32>> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let mut pieces = vec![0.0; lengths.iter().sum::<usize>() * HIDDEN];
        let all = texts.iter().flat_map(|text| text.iter().zip(self.places.chunks_exact(HIDDEN)));
        for ((piece, place), to) in all.zip(pieces.chunks_exact_mut(HIDDEN)) {
            self.words.add(*piece as usize, to);
            self.first.add(to, place);
        }
        widest(Pass { layers: &self.layers, heads: HEADS, pieces, lengths: &lengths, hidden: HIDDEN })
    }
}

impl FourBits {
    fn weights(&self) -> Vec<i8> {
        self.packed.iter().flat_map(|two| halves(*two)).collect()
    }

    fn scales(&self) -> Vec<f32> {
        self.scales.as_chunks().0.iter().map(|scale| half(*scale)).collect()
    }

    /// Adds a row, as floats, to what is there; nothing where there is no such row.
    fn add(&self, row: usize, to: &mut [f32]) {
        let packed = self.packed.chunks_exact(GROUP / 2).skip(row * to.len() / GROUP);
        let scales = self.scales.as_chunks().0.iter().skip(row * to.len() / GROUP);
        for ((to, packed), scale) in to.chunks_exact_mut(GROUP).zip(packed).zip(scales) {
            let scale = half(*scale);
            for (to, two) in to.as_chunks_mut::<2>().0.iter_mut().zip(packed) {
                let [low, high] = halves(*two);
                *to = [to[0] + f32::from(low) * scale, to[1] + f32::from(high) * scale];
            }
        }
    }
}

fn halves(two: u8) -> [i8; 2] {
    [(two & 15).cast_signed() - 8, (two >> 4).cast_signed() - 8]
}

/// A float of 16 bits (IEEE 754's binary16, little end first) that is finite.
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    // The exponent's offset is greater by 112 in 32 bits.
    let size = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    if bits >> 15 == 0 { size } else { -size }
}

/// The weights by their names: a safetensors file is the length of its header, the header, and what that says where.
struct Parts {
    header: HashMap<String, Value>,
    content: &'static [u8],
}

#[derive(Deserialize)]
struct Part {
    data_offsets: [usize; 2],
}

impl Parts {
    fn of(file: &'static [u8]) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk().ok_or("the file has no header")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|problem| problem.to_string())?;
        let (header, content) = rest.split_at_checked(length).ok_or("the file ends within its header")?;
        Ok(Self { header: serde_json::from_slice(header).map_err(|problem| problem.to_string())?, content })
    }

    fn bytes(&self, name: &str) -> Result<&'static [u8], String> {
        let part = self.header.get(name).ok_or_else(|| format!("{name} is missing"))?;
        let Part { data_offsets: [from, to] } =
            Part::deserialize(part).map_err(|problem| format!("{name}: {problem}"))?;
        self.content.get(from..to).ok_or_else(|| format!("{name} lies outside of the file"))
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, String> {
        Ok(self.bytes(name)?.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn four_bits(&self, name: &str) -> Result<FourBits, String> {
        Ok(FourBits {
            packed: self.bytes(&format!("{name}.weight.q4"))?,
            scales: self.bytes(&format!("{name}.weight.scales"))?,
        })
    }

    fn norm(&self, name: &str) -> Result<Norm, String> {
        let (weight, bias) = (self.floats(&format!("{name}.weight"))?, self.floats(&format!("{name}.bias"))?);
        match weight.len() == HIDDEN && bias.len() == HIDDEN {
            true => Ok(Norm { weight, bias }),
            false => Err(format!("{name} has another length than {HIDDEN}")),
        }
    }

    /// Of several that are one beside the other.
    fn matrix(&self, names: &[String], depth: usize, width: usize) -> Result<Matrix, String> {
        let (mut weights, mut scales, mut bias) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let part = self.four_bits(name)?;
            weights.extend(part.weights());
            scales.extend(part.scales());
            bias.extend(self.floats(&format!("{name}.bias"))?);
        }
        let matrix = Matrix::new(depth, &weights, &scales, &bias).filter(|matrix| matrix.width() == width);
        matrix.ok_or_else(|| format!("{} has another shape than {width} by {depth}", names.join(", ")))
    }

    fn layer(&self, name: &str) -> Result<Layer, String> {
        let attention = ["query", "key", "value"].map(|part| format!("{name}.attention.self.{part}"));
        Ok(Layer {
            attention: self.matrix(&attention, HIDDEN, HIDDEN * 3)?,
            joined: self.matrix(&[format!("{name}.attention.output.dense")], HIDDEN, HIDDEN)?,
            after_attention: self.norm(&format!("{name}.attention.output.LayerNorm"))?,
            up: self.matrix(&[format!("{name}.intermediate.dense")], HIDDEN, WIDE)?,
            down: self.matrix(&[format!("{name}.output.dense")], WIDE, HIDDEN)?,
            after: self.norm(&format!("{name}.output.LayerNorm"))?,
        })
    }
}

#[cfg(test)]
mod tests;
