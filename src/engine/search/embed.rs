//! The sentence encoder: texts into unit vectors, in this process, on the CPU.

use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::base::id::Id;
use crate::engine::turns::{Turn, Turns};
use crate::model::error::{Error, Result};
use crate::model::org::Org;

/// Coordinates of a vector.
pub(super) const DIMENSION: usize = 384;

/// The built-in encoder. The model is loaded by the first text, once a process; clones share the turns.
///
/// A query is a few milliseconds of work, an import minutes of it: each has turns of its own, so that no query waits
/// for a text of an import.
#[derive(Clone)]
pub(super) struct Encoder {
    /// As many as there are cores.
    queries: Arc<Semaphore>,
    /// One less, where there is more than one: it is left to the rest of the service. A workspace may have all of them;
    /// each is short.
    imports: Turns,
}

impl Encoder {
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let left = cores.saturating_sub(1);
        Self { queries: Arc::new(Semaphore::new(cores)), imports: Turns::of_imports(left, left) }
    }

    /// Names model, weights, tokenizer and pooling. Vectors are comparable only when it is equal to the letter, so it
    /// is stored beside them.
    ///
    /// # Errors
    /// `internal_error` when the facts cannot be written as JSON.
    pub(super) fn identity() -> Result<String> {
        serde_json::to_string(&pocket_encoder::model_info()).map_err(Error::internal)
    }

    /// The model's name, as people know it.
    pub(super) fn name() -> String {
        pocket_encoder::model_info().id
    }

    /// The vector of a query.
    ///
    /// # Errors
    /// As [`Encoder::vectors`].
    pub(super) async fn query(&self, text: &str) -> Result<Vec<f32>> {
        let turn = self.queries.clone().acquire_owned().await.map_err(Error::internal)?;
        let texts = [text.to_owned()];
        let work = move || {
            let _turn = turn;
            Self::vectors(&texts)
        };
        let vectors = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        vectors.into_iter().next().ok_or_else(|| Error::internal("the encoder made no vector"))
    }

    /// The right to encode some texts of an import by [`Encoder::vectors`], and to do what else of it takes a core.
    ///
    /// # Errors
    /// None while the process lives.
    pub(super) async fn import_turn(&self, org: Id<Org>) -> Result<Turn> {
        let workspace = org.to_string();
        self.imports.take(&workspace, &workspace).await
    }

    /// One unit vector of [`DIMENSION`] finite coordinates a text, in order. Texts are read up to 128 word pieces.
    /// Blocks, some hundredths of a second for a text of that length.
    ///
    /// # Errors
    /// `internal_error` when the model cannot be loaded or fails, or a text is blank or over 64 KiB.
    pub(super) fn vectors(texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let encoder = pocket_encoder::Encoder::new().map_err(Error::internal)?;
        let vectors = encoder.embed(texts).map_err(Error::internal)?;
        let sound = |vector: &Vec<f32>| vector.len() == DIMENSION && vector.iter().all(|x| x.is_finite());
        if vectors.iter().all(sound) { Ok(vectors) } else { Err(Error::internal("the encoder made an unsound vector")) }
    }

    /// Makes every further query fail, as a broken model does.
    #[cfg(test)]
    pub(crate) fn break_down(&self) {
        self.queries.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::Clock;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn like_meanings_are_nearer_than_unlike_ones() {
        let texts = ["The flight was postponed.", "The plane left late.", "Add two eggs to the dough."];
        let vectors = Encoder::vectors(&texts.map(str::to_owned)).unwrap();
        assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
        assert!(vectors.iter().all(|vector| (cosine(vector, vector) - 1.0).abs() < 1e-4));
    }

    #[test]
    fn a_blank_text_is_an_error_and_not_a_vector() {
        assert!(Encoder::vectors(&[" ".into()]).is_err());
    }

    #[tokio::test]
    async fn a_query_waits_for_no_import() {
        let encoder = Encoder::new();
        let org = Id::new(&Clock::manual(1));
        let mut held = vec![];
        while let Ok(turn) = tokio::time::timeout(Duration::ZERO, encoder.import_turn(org)).await {
            held.push(turn.unwrap());
        }
        assert!(!held.is_empty(), "imports have every turn that they can have");
        let found = tokio::time::timeout(Duration::from_secs(60), encoder.query("late planes")).await.unwrap().unwrap();
        assert!(cosine(&found, &Encoder::vectors(&["late planes".into()]).unwrap()[0]) > 0.999);
    }
}
