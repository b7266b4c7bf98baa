//! The same weights as floats, for the general library: where the processor has no wide products of bytes, and in
//! development, where the library is optimised and the service is not. Whole numbers would take most of a second a text
//! there, and floats some hundredths.

use std::collections::HashMap;

use candle_core::{Device, Tensor};
use candle_transformers::models::bert::Config;
use serde_json::json;

use super::{GROUP, HEADS, HIDDEN, LAYERS, Parts, WIDE};
use crate::engine::search::embed::bert::{Bert, Pooling};

/// # Errors
/// As [`super::Model::read`]; and a sentence that names the tokenizer's file.
pub(in crate::engine::search::embed) fn in_floats(
    file: &'static [u8],
    tokenizer: &[u8],
    pieces: usize,
) -> Result<Bert, String> {
    let config = json!({
        "vocab_size": 30_522, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": WIDE, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": 512,
        "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "position_embedding_type": "absolute", "use_cache": true, "model_type": "bert",
    });
    let config: Config = serde_json::from_value(config).map_err(|problem| problem.to_string())?;
    let parts = Parts::of(file)?;
    let mut weights: HashMap<String, Tensor> = HashMap::new();
    for name in parts.header.keys() {
        if let Some(matrix) = name.strip_suffix(".weight.q4") {
            weights.insert(format!("{matrix}.weight"), matrix_of(&parts, matrix)?);
        } else if name.ends_with(".bias") || name.ends_with("LayerNorm.weight") {
            let values = parts.floats(name)?;
            let count = values.len();
            weights.insert(name.clone(), tensor(values, &[count])?);
        }
    }
    Bert::new(weights, &config, tokenizer, pieces, Pooling::Mean)
}

fn matrix_of(parts: &Parts, name: &str) -> Result<Tensor, String> {
    let part = parts.four_bits(name)?;
    let (weights, scales) = (part.weights(), part.scales());
    let groups = weights.chunks_exact(GROUP).zip(&scales);
    let values: Vec<f32> = groups.flat_map(|(group, scale)| group.iter().map(move |x| f32::from(*x) * scale)).collect();
    let is_down = name.ends_with(".output.dense") && !name.contains("attention");
    let depth = if is_down { WIDE } else { HIDDEN };
    let count = values.len() / depth;
    tensor(values, &[count, depth])
}

fn tensor(values: Vec<f32>, shape: &[usize]) -> Result<Tensor, String> {
    Tensor::from_vec(values, shape, &Device::Cpu).map_err(|problem| problem.to_string())
}
