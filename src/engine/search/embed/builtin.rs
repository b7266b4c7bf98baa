//! The encoder that is part of the program: MiniLM of three layers, in English, without a download.

use super::{Embed, Purpose, side_by_side};
use crate::model::error::{Error, Result};

/// The built-in encoder. The model is loaded by the first text, once a process.
pub(super) struct Builtin;

impl Embed for Builtin {
    fn identity(&self) -> Result<String> {
        serde_json::to_string(&pocket_encoder::model_info()).map_err(Error::internal)
    }

    fn name(&self) -> String {
        pocket_encoder::model_info().id
    }

    fn dimension(&self) -> Result<usize> {
        Ok(pocket_encoder::model_info().dimensions)
    }

    fn weight(&self) -> f64 {
        0.45
    }

    fn pull(&self) -> f32 {
        0.8
    }

    fn batch(&self) -> usize {
        8
    }

    /// Texts are read up to 128 word pieces.
    fn encode(&self, texts: &[String], _: Purpose) -> Result<Vec<Vec<f32>>> {
        let encoder = pocket_encoder::Encoder::new().map_err(Error::internal)?;
        // It takes one text after the other itself; it also refuses one of over 64 KiB.
        side_by_side(texts, String::len, 1, |texts| encoder.embed(texts).map_err(Error::internal))
    }
}
