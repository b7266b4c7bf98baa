//! A model of the BERT family, in memory: word pieces in, one vector a text out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use super::side_by_side;
use crate::engine::search::chunk::Measure;
use crate::model::error::{Error, Result};

/// Word pieces that go through the model together, with what the shorter texts lack filled up: what they become must
/// fit a core's cache.
const TOGETHER: usize = 512;

pub(super) struct Bert {
    model: BertModel,
    tokenizer: Arc<Tokenizer>,
    pooling: Pooling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    /// The first piece, which stands for the whole text.
    First,
}

impl Bert {
    /// Of weights by their names, and of a `tokenizer.json`; what a text has beyond `pieces` word pieces is not read.
    ///
    /// # Errors
    /// A sentence that names the file which does not fit.
    pub(super) fn new(
        weights: HashMap<String, Tensor>,
        config: &Config,
        tokenizer: &[u8],
        pieces: usize,
        pooling: Pooling,
    ) -> Result<Self, String> {
        let said = |problem: candle_core::Error| format!("model.safetensors: {problem}");
        let laid = |(name, weight): (String, Tensor)| laid_out(&name, weight).map(|weight| (name, weight));
        let weights: HashMap<_, _> = weights.into_iter().map(laid).collect::<Result<_, _>>().map_err(said)?;
        let weights = VarBuilder::from_tensors(weights, DType::F32, &Device::Cpu);
        let model = BertModel::load(weights, config).map_err(said)?;
        Ok(Self { model, tokenizer: Arc::new(tokenizer_of(tokenizer, pieces)?), pooling })
    }

    /// How long texts are to it, of which it reads `pieces` word pieces with its marks and with `prompt` before each.
    ///
    /// # Errors
    /// A sentence that names the file which does not fit.
    pub(super) fn measure(&self, pieces: usize, prompt: &str) -> Result<Measure, String> {
        let before =
            self.tokenizer.encode_fast(prompt, true).map_err(|problem| format!("tokenizer.json: {problem}"))?;
        Ok(Measure::of(self.tokenizer.clone(), pieces.saturating_sub(before.len())))
    }

    /// One vector a text, in order, of any length; `prompt` is put before each. Blocks, on all cores.
    ///
    /// # Errors
    /// `internal_error` when the model fails.
    pub(super) fn encode(&self, texts: &[String], prompt: &str) -> Result<Vec<Vec<f32>>> {
        let read = |text: &String| match prompt {
            "" => self.tokenizer.encode_fast(text.as_str(), true),
            prompt => self.tokenizer.encode_fast(format!("{prompt}{text}"), true),
        };
        let read: Vec<Encoding> = texts.iter().map(read).collect::<Result<_, _>>().map_err(Error::internal)?;
        side_by_side(&read, Encoding::len, TOGETHER, |texts| {
            on_one_core(|| self.together(texts))?.map_err(Error::internal)
        })
    }

    /// One pass over texts of about one length.
    fn together(&self, texts: &[&Encoding]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let filled = |part: fn(&Encoding) -> &[u32]| {
            let mut all: Vec<u32> = Vec::with_capacity(texts.len() * longest);
            for (at, text) in texts.iter().enumerate() {
                all.extend(part(text));
                all.resize((at + 1) * longest, 0);
            }
            Tensor::from_vec(all, (texts.len(), longest), &Device::Cpu)
        };
        let mask = filled(Encoding::get_attention_mask)?;
        let hidden = self.model.forward(&filled(Encoding::get_ids)?, &filled(Encoding::get_type_ids)?, Some(&mask))?;
        match self.pooling {
            Pooling::First => hidden.narrow(1, 0, 1)?.squeeze(1)?.to_vec2(),
            // The sum: its direction is the mean's, and only that is kept.
            Pooling::Mean => hidden.broadcast_mul(&mask.to_dtype(DType::F32)?.unsqueeze(2)?)?.sum(1)?.to_vec2(),
        }
    }
}

/// Of a `tokenizer.json`; it reads a text up to so many pieces, and fills nothing up.
///
/// # Errors
/// A sentence that names the file.
pub(super) fn tokenizer_of(file: &[u8], pieces: usize) -> Result<Tokenizer, String> {
    let said = |problem| format!("tokenizer.json: {problem}");
    let mut tokenizer = Tokenizer::from_bytes(file).map_err(said)?;
    let truncation = TruncationParams { max_length: pieces, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(said)?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

/// Runs work that would otherwise spread each of its small steps over all cores, which costs more than it gains and
/// holds up who works beside it.
fn on_one_core<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    static IDLE: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let pool = match idle {
        Some(pool) => pool,
        None => ThreadPoolBuilder::new().num_threads(1).build().map_err(Error::internal)?,
    };
    let done = pool.install(work);
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
    Ok(done)
}

/// A weight as the multiplication reads it, column after column; otherwise it is laid out anew for each text, which
/// takes longer than a short text itself.
fn laid_out(name: &str, weight: Tensor) -> candle_core::Result<Tensor> {
    match weight.rank() {
        2 if !name.contains("embeddings") => weight.t()?.contiguous()?.t(),
        _ => Ok(weight),
    }
}
