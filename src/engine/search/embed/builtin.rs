//! The encoder that is part of the program: MiniLM of three layers, in English, without a download.
//!
//! The folder `minilm` holds it: sentence-transformers/paraphrase-MiniLM-L3-v2 (UKPLab, Apache-2.0; Reimers and Gurevych,
//! "Sentence-BERT", EMNLP 2019), its matrices changed to four bits in groups of 32 with a scale each, as the crate
//! `pocket-encoder` (0.1.2) prepared them. They are read into floats once.

use std::collections::HashMap;
use std::sync::OnceLock;

use candle_core::{DType, Device, Tensor, safetensors};

use super::bert::{Bert, Pooling};
use super::{Embed, Purpose};
use crate::model::error::{Error, Result};

const WEIGHTS: &[u8] = include_bytes!("minilm/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("minilm/tokenizer.json");
/// The shape of each weight, which the packed form does not say.
const SHAPES: &str = include_str!("minilm/shapes.json");
const CONFIG: &str = include_str!("minilm/config.json");
/// Indexes hold it to the letter.
pub(in crate::engine::search) const IDENTITY: &str = r#"{"id":"pocket-encoder/minilm-l3-q4-g32-v1","revision":"sha256:dabb40d5d98a22372c8921acf048cb54bb8bf6d781b1233b2a360d5125789c7e","upstream_model":"sentence-transformers/paraphrase-MiniLM-L3-v2","upstream_revision":"4ca70771034acceecb2e72475f72050fcdde4ddc","tokenizer_sha256":"a9576e4dadfe7f78f071a1c00ba6902cc83ec6ed7e9b590ee974950bd4d54393","dimensions":384,"max_tokens":128,"pooling":"attention-masked mean; L2 normalized; no query prefix; right truncation"}"#;
const NAME: &str = "pocket-encoder/minilm-l3-q4-g32-v1";
const DIMENSION: usize = 384;
/// Word pieces of a text that are read.
const PIECES: usize = 128;
/// Coordinates that share a scale.
const GROUP: usize = 32;

/// The built-in encoder. The model is loaded by the first text, once a process.
pub(super) struct Builtin;

impl Embed for Builtin {
    fn identity(&self) -> Result<String> {
        Ok(IDENTITY.to_owned())
    }

    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn dimension(&self) -> Result<usize> {
        Ok(DIMENSION)
    }

    fn weight(&self) -> f64 {
        0.45
    }

    fn pull(&self) -> f32 {
        0.8
    }

    fn batch(&self) -> usize {
        32
    }

    fn encode(&self, texts: &[String], _: Purpose) -> Result<Vec<Vec<f32>>> {
        static MODEL: OnceLock<Result<Bert, String>> = OnceLock::new();
        MODEL.get_or_init(load).as_ref().map_err(Error::internal)?.encode(texts, "")
    }
}

fn load() -> Result<Bert, String> {
    let shapes: HashMap<String, Vec<usize>> = serde_json::from_str(SHAPES).map_err(|problem| problem.to_string())?;
    let config = serde_json::from_str(CONFIG).map_err(|problem| problem.to_string())?;
    let weights = unpacked(shapes).map_err(|problem| problem.to_string())?;
    Bert::new(weights, &config, TOKENIZER, PIECES, Pooling::Mean)
}

fn unpacked(shapes: HashMap<String, Vec<usize>>) -> candle_core::Result<HashMap<String, Tensor>> {
    let parts = safetensors::load_buffer(WEIGHTS, &Device::Cpu)?;
    let part =
        |name: &str| parts.get(name).ok_or_else(|| candle_core::Error::Msg(format!("the built-in model lacks {name}")));
    let whole = |(name, shape): (String, Vec<usize>)| {
        let weight = match shape.len() {
            0 | 1 => part(&name)?.clone(),
            _ => floats(part(&format!("{name}.q4"))?, part(&format!("{name}.scales"))?)?.reshape(shape)?,
        };
        Ok((name, weight))
    };
    shapes.into_iter().map(whole).collect()
}

/// Two coordinates a byte, the lower half first, eight above their value.
fn floats(packed: &Tensor, scales: &Tensor) -> candle_core::Result<Tensor> {
    let packed = packed.flatten_all()?.to_dtype(DType::F32)?;
    let high = (&packed / 16.0)?.floor()?;
    let low = (packed - (&high * 16.0)?)?;
    let all = (Tensor::stack(&[low, high], 1)? - 8.0)?;
    let scales = scales.flatten_all()?.to_dtype(DType::F32)?;
    all.reshape((scales.elem_count(), GROUP))?.broadcast_mul(&scales.unsqueeze(1)?)?.flatten_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secret::sha256_hex;

    #[test]
    fn the_identity_names_the_weights_and_the_tokenizer_that_are_here() {
        let named: serde_json::Value = serde_json::from_str(IDENTITY).unwrap();
        assert_eq!(named["revision"], format!("sha256:{}", sha256_hex(WEIGHTS)));
        assert_eq!(named["tokenizer_sha256"], sha256_hex(TOKENIZER));
        assert_eq!((named["id"].as_str(), named["dimensions"].as_u64()), (Some(NAME), Some(DIMENSION as u64)));
    }

    /// What the crate made of these texts itself, one at a time.
    #[test]
    fn vectors_of_indexes_of_before_are_still_comparable() {
        let texts = ["The flight was postponed.", "Boundary layer δ of a slender wing at Mach 2.5"].map(str::to_owned);
        let made = Builtin.encode(&texts, Purpose::Passage).unwrap();
        for (vector, first) in made.iter().zip([
            [0.094_548_35_f32, -0.023_515_001, -0.089_588_046, -0.074_021_05, 0.038_424_81, -0.027_220_42],
            [0.012_215_154, 0.054_700_89, 0.043_323_565, 0.018_564_55, 0.036_993_08, -0.022_568_457],
        ]) {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            for (x, expected) in vector.iter().zip(first) {
                assert!((x / length - expected).abs() < 1e-5, "{} {expected}", x / length);
            }
        }
    }

    #[test]
    fn four_bits_and_a_scale_become_floats() {
        let mut packed = vec![0x88_u8; 16];
        packed[0] = 0x9f;
        let packed = Tensor::from_vec(packed, 16, &Device::Cpu).unwrap();
        let scales = Tensor::from_vec(vec![0.5_f32], 1, &Device::Cpu).unwrap();
        let unpacked = floats(&packed, &scales).unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(unpacked[..3], [3.5, 0.5, 0.0]);
        assert_eq!(unpacked.len(), 32);
    }
}
