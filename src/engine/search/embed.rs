//! The sentence encoder: texts into unit vectors, in this process, on the CPU.

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::model::error::{Error, Result};

/// Coordinates of a vector.
pub const DIMENSION: usize = 384;

/// The built-in encoder. The model is loaded by the first text, once a process; clones share the turns.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// The encoder uses one core a call: one core is left to the rest of the service.
    turns: Arc<Semaphore>,
}

impl Encoder {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { turns: Arc::new(Semaphore::new(cores.saturating_sub(1).max(1))) }
    }

    /// Names model, weights, tokenizer and pooling. Vectors are comparable only when it is equal to the letter, so it
    /// is stored beside them.
    ///
    /// # Errors
    /// `internal_error` when the facts cannot be written as JSON.
    pub fn identity() -> Result<String> {
        serde_json::to_string(&pocket_encoder::model_info()).map_err(Error::internal)
    }

    /// One unit vector of [`DIMENSION`] finite coordinates a text, in order. Texts are read up to 128 word pieces.
    /// Waits for a turn, so callers pass a few dozen texts at most and let others in between.
    ///
    /// # Errors
    /// `internal_error` when the model cannot be loaded or fails, or a text is blank or over 64 KiB.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let turn = self.turns.clone().acquire_owned().await.map_err(Error::internal)?;
        let work = move || {
            let _turn = turn;
            pocket_encoder::Encoder::new()?.embed(&texts)
        };
        let vectors = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?.map_err(Error::internal)?;
        let sound = |vector: &Vec<f32>| vector.len() == DIMENSION && vector.iter().all(|x| x.is_finite());
        if vectors.iter().all(sound) { Ok(vectors) } else { Err(Error::internal("the encoder made an unsound vector")) }
    }

    /// Makes every further call fail, as a broken model does.
    #[cfg(test)]
    pub fn break_down(&self) {
        self.turns.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[tokio::test]
    async fn like_meanings_are_nearer_than_unlike_ones() {
        let texts = ["The flight was postponed.", "The plane left late.", "Add two eggs to the dough."];
        let vectors = Encoder::new().embed(texts.map(str::to_owned).to_vec()).await.unwrap();
        assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
        assert!(vectors.iter().all(|vector| (cosine(vector, vector) - 1.0).abs() < 1e-4));
    }

    #[tokio::test]
    async fn a_blank_text_is_an_error_and_not_a_vector() {
        assert!(Encoder::new().embed(vec![" ".into()]).await.is_err());
    }
}
