//! A model of the BERT family in a folder, as sentence-transformers lays it out: `config.json`, `tokenizer.json`,
//! `model.safetensors`, and where they are there `sentence_bert_config.json` (how much is read), `1_Pooling/config.json`
//! (how words become a text) and `config_sentence_transformers.json` (what is put before a query or a passage).
//! <https://sbert.net/docs/package_reference/sentence_transformer/models.html>

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use super::{Embed, Purpose, side_by_side};
use crate::base::secret::sha256_hex;
use crate::model::error::{Error, Result};

/// Texts that go through the model together, with what the shorter ones lack filled up.
const TOGETHER: usize = 16;
/// Word pieces of a text, where the folder says nothing or more.
const MOST_PIECES: usize = 512;

/// A model in a folder; loaded by the first text, once.
pub(super) struct Local {
    folder: PathBuf,
    model: OnceLock<Result<Model, String>>,
}

struct Model {
    bert: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
    dimension: usize,
    prompts: Prompts,
    identity: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pooling {
    Mean,
    /// The first piece, which stands for the whole text.
    First,
}

#[derive(Deserialize)]
#[serde(default)]
struct PoolingFile {
    pooling_mode_mean_tokens: bool,
    pooling_mode_cls_token: bool,
}

impl Default for PoolingFile {
    fn default() -> Self {
        Self { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LengthFile {
    max_seq_length: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptsFile {
    prompts: Prompts,
}

/// What stands before a text, by what it is for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Prompts {
    query: String,
    #[serde(alias = "document")]
    passage: String,
}

impl Local {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, model: OnceLock::new() }
    }

    fn model(&self) -> Result<&Model> {
        let load = || Model::load(&self.folder).map_err(|problem| format!("{}: {problem}", self.folder.display()));
        self.model.get_or_init(load).as_ref().map_err(Error::internal)
    }
}

impl Embed for Local {
    fn identity(&self) -> Result<String> {
        Ok(self.model()?.identity.clone())
    }

    fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn dimension(&self) -> Result<usize> {
        Ok(self.model()?.dimension)
    }

    fn weight(&self) -> f64 {
        0.5
    }

    fn batch(&self) -> usize {
        TOGETHER
    }

    fn encode(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let model = self.model()?;
        let prompt = match purpose {
            Purpose::Query => &model.prompts.query,
            Purpose::Passage => &model.prompts.passage,
        };
        let read = |text: &String| model.tokenizer.encode_fast(format!("{prompt}{text}"), true);
        let read: Vec<Encoding> = texts.iter().map(read).collect::<Result<_, _>>().map_err(Error::internal)?;
        side_by_side(&read, Encoding::len, TOGETHER, |texts| model.together(texts).map_err(Error::internal))
    }
}

impl Model {
    /// # Errors
    /// A sentence for the operator.
    fn load(folder: &Path) -> Result<Self, String> {
        let weights = read(folder, "model.safetensors")?;
        let tokenizer = read(folder, "tokenizer.json")?;
        let kind: serde_json::Value = required(folder, "config.json")?;
        if kind.get("model_type").and_then(serde_json::Value::as_str) != Some("bert") {
            return Err("config.json: only models of the type bert can be used".into());
        }
        let config: Config = required(folder, "config.json")?;
        let pooling = match optional(folder, "1_Pooling/config.json")? {
            PoolingFile { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false } => Pooling::First,
            PoolingFile { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false } => Pooling::Mean,
            _ => return Err("1_Pooling/config.json: only the mean of all tokens or the first token can be used".into()),
        };
        let length: LengthFile = optional(folder, "sentence_bert_config.json")?;
        let pieces = length.max_seq_length.unwrap_or(MOST_PIECES).min(config.max_position_embeddings).min(MOST_PIECES);
        let prompts = optional::<PromptsFile>(folder, "config_sentence_transformers.json")?.prompts;
        let identity = serde_json::json!({
            "weights": sha256_hex(&weights), "tokenizer": sha256_hex(&tokenizer), "pooling": format!("{pooling:?}"), "pieces": pieces,
            "passage": prompts.passage, "query": prompts.query,
        });
        let said = |file: &'static str| move |problem: candle_core::Error| format!("{file}: {problem}");
        let tensors = candle_core::safetensors::load_buffer(&weights, &Device::Cpu).map_err(said("model.safetensors"))?;
        let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let bert = BertModel::load(weights, &config).map_err(said("model.safetensors"))?;
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer).map_err(|problem| format!("tokenizer.json: {problem}"))?;
        let truncation = TruncationParams { max_length: pieces, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|problem| format!("tokenizer.json: {problem}"))?;
        tokenizer.with_padding(None);
        Ok(Self { bert, tokenizer, pooling, dimension: config.hidden_size, prompts, identity: identity.to_string() })
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
        let hidden =
            self.bert.forward(&filled(Encoding::get_ids)?, &filled(Encoding::get_type_ids)?, Some(&mask))?;
        match self.pooling {
            Pooling::First => hidden.narrow(1, 0, 1)?.squeeze(1)?.to_vec2(),
            // The sum: its direction is the mean's, and only that is kept.
            Pooling::Mean => hidden.broadcast_mul(&mask.to_dtype(DType::F32)?.unsqueeze(2)?)?.sum(1)?.to_vec2(),
        }
    }
}

fn read(folder: &Path, file: &str) -> Result<Vec<u8>, String> {
    fs::read(folder.join(file)).map_err(|problem| format!("{file}: {problem}"))
}

fn required<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T, String> {
    serde_json::from_slice(&read(folder, file)?).map_err(|problem| format!("{file}: {problem}"))
}

fn optional<T: DeserializeOwned + Default>(folder: &Path, file: &str) -> Result<T, String> {
    if folder.join(file).exists() { required(folder, file) } else { Ok(T::default()) }
}
