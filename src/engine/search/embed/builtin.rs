//! The encoder that is part of the program: MiniLM of three layers, in English, without a download.
//!
//! The folder `minilm` holds it: sentence-transformers/paraphrase-MiniLM-L3-v2 (UKPLab, Apache-2.0; Reimers and Gurevych,
//! "Sentence-BERT", EMNLP 2019), its matrices changed to four bits in groups of 32 with a scale each, as the crate
//! `pocket-encoder` (0.1.2) prepared them.

use std::sync::OnceLock;

use tokenizers::{Encoding, Tokenizer};
use tokio_util::sync::CancellationToken;

use super::bert::{Bert, tokenizer_of};
use super::int8::{HIDDEN, Model, in_floats};
use super::{Embed, Purpose, side_by_side};
use crate::model::error::{Error, Result};

const WEIGHTS: &[u8] = include_bytes!("minilm/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("minilm/tokenizer.json");
/// Indexes hold it to the letter.
pub(in crate::engine::search) const IDENTITY: &str = r#"{"id":"pocket-encoder/minilm-l3-q4-g32-v1","revision":"sha256:dabb40d5d98a22372c8921acf048cb54bb8bf6d781b1233b2a360d5125789c7e","upstream_model":"sentence-transformers/paraphrase-MiniLM-L3-v2","upstream_revision":"4ca70771034acceecb2e72475f72050fcdde4ddc","tokenizer_sha256":"a9576e4dadfe7f78f071a1c00ba6902cc83ec6ed7e9b590ee974950bd4d54393","dimensions":384,"max_tokens":128,"pooling":"attention-masked mean; L2 normalized; no query prefix; right truncation"}"#;
const NAME: &str = "pocket-encoder/minilm-l3-q4-g32-v1";
/// Word pieces of a text that are read.
const PIECES: usize = 128;
/// Bytes of texts that a core takes at a time.
const TOGETHER: usize = 1 << 11;

/// The built-in encoder. The model is loaded by the first text, once a process.
pub(super) struct Builtin;

impl Embed for Builtin {
    fn identity(&self) -> Result<String> {
        Ok(IDENTITY.to_owned())
    }

    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn dimension(&self, _: Purpose) -> Result<usize> {
        Ok(HIDDEN)
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

    fn encode(&self, texts: &[String], _: Purpose, _: &CancellationToken) -> Result<Vec<Vec<f32>>> {
        static LOADED: OnceLock<Result<Loaded, String>> = OnceLock::new();
        let loaded = LOADED.get_or_init(Loaded::new).as_ref().map_err(Error::internal)?;
        match loaded {
            Loaded::Int8(model, tokenizer) => {
                side_by_side(texts, String::len, TOGETHER, |texts| in_int8(model, tokenizer, texts))
            }
            Loaded::Floats(bert) => bert.encode(texts, ""),
        }
    }
}

enum Loaded {
    Int8(Model, Box<Tokenizer>),
    /// Where whole numbers would be slower.
    Floats(Bert),
}

impl Loaded {
    fn new() -> Result<Self, String> {
        let said = |problem| format!("the built-in model: {problem}");
        if !Model::is_fast() {
            return in_floats(WEIGHTS, TOKENIZER, PIECES).map(Self::Floats).map_err(said);
        }
        let model = Model::read(WEIGHTS, PIECES).map_err(said)?;
        Ok(Self::Int8(model, Box::new(tokenizer_of(TOKENIZER, PIECES)?)))
    }
}

/// The sums over the texts' pieces: their direction is the mean's, and only that is kept.
fn in_int8(model: &Model, tokenizer: &Tokenizer, texts: &[&String]) -> Result<Vec<Vec<f32>>> {
    let read = |text: &&String| tokenizer.encode_fast(text.as_str(), true);
    let read: Vec<Encoding> = texts.iter().map(read).collect::<Result<_, _>>().map_err(Error::internal)?;
    let pieces: Vec<&[u32]> = read.iter().map(Encoding::get_ids).collect();
    Ok(model.encode(&pieces))
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
        assert_eq!((named["id"].as_str(), named["dimensions"].as_u64()), (Some(NAME), Some(HIDDEN as u64)));
    }

    /// What the crate made of these texts itself, in floats, one at a time: the first coordinates.
    #[test]
    fn vectors_of_indexes_of_before_are_still_comparable() {
        let texts = ["The flight was postponed.", "Boundary layer δ of a slender wing at Mach 2.5"].map(str::to_owned);
        let made = Builtin.encode(&texts, Purpose::Passage, &CancellationToken::new()).unwrap();
        for (vector, first) in made.iter().zip([
            [0.094_548_35_f32, -0.023_515_001, -0.089_588_046, -0.074_021_05, 0.038_424_81, -0.027_220_42],
            [0.012_215_154, 0.054_700_89, 0.043_323_565, 0.018_564_55, 0.036_993_08, -0.022_568_457],
        ]) {
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            for (x, expected) in vector.iter().zip(first) {
                assert!((x / length - expected).abs() < 3e-3, "{} {expected}", x / length);
            }
        }
    }
}
