//! A model of the BERT family in a folder, as sentence-transformers lays it out: `config.json`, `tokenizer.json`,
//! `model.safetensors`, and where they are there `sentence_bert_config.json` (how much is read), `1_Pooling/config.json`
//! (how words become a text) and `config_sentence_transformers.json` (what is put before a query or a passage).
//! <https://sbert.net/docs/package_reference/sentence_transformer/models.html>

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use candle_core::Device;
use candle_transformers::models::bert::Config;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::bert::{Bert, Pooling};
use super::{Embed, Purpose};
use crate::base::secret::sha256_hex;
use crate::engine::search::chunk::Measure;
use crate::model::error::{Error, Result};

/// Texts of a batch.
const BATCH: usize = 16;
/// Word pieces of a text, where the folder says nothing or more.
const MOST_PIECES: usize = 512;

/// A model in a folder; loaded by the first text, once.
pub(super) struct Local {
    folder: PathBuf,
    model: OnceLock<Result<Model, String>>,
}

struct Model {
    bert: Bert,
    dimension: usize,
    prompts: Prompts,
    measure: Measure,
    identity: String,
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

    fn dimension(&self, _: Purpose) -> Result<usize> {
        Ok(self.model()?.dimension)
    }

    fn weight(&self) -> f64 {
        0.55
    }

    fn pull(&self) -> f32 {
        0.0
    }

    fn measure(&self) -> Result<Measure> {
        Ok(self.model()?.measure.clone())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, texts: &[String], purpose: Purpose, _: &CancellationToken) -> Result<Vec<Vec<f32>>> {
        let model = self.model()?;
        let prompt = match purpose {
            Purpose::Query => &model.prompts.query,
            Purpose::Passage => &model.prompts.passage,
        };
        model.bert.encode(texts, prompt)
    }
}

/// How many numbers the vectors of a model in a folder have, once one was made.
///
/// # Errors
/// A sentence for the operator: it cannot be used.
pub fn model_in(folder: &Path) -> Result<usize, String> {
    let model = Model::load(folder)?;
    let made = model.bert.encode(&["A text.".into()], "").map_err(|problem| problem.to_string())?;
    match made.first().is_some_and(|vector| vector.iter().all(|x| x.is_finite())) {
        true => Ok(model.dimension),
        false => Err("it makes vectors of what is no number".into()),
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
        let weights = candle_core::safetensors::load_buffer(&weights, &Device::Cpu)
            .map_err(|problem| format!("model.safetensors: {problem}"))?;
        let bert = Bert::new(weights, &config, &tokenizer, pieces, pooling)?;
        let measure = bert.measure(pieces, &prompts.passage)?;
        Ok(Self { bert, dimension: config.hidden_size, prompts, measure, identity: identity.to_string() })
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

#[cfg(test)]
pub(in crate::engine::search) mod tests {
    use std::collections::{BTreeMap, HashMap};

    use candle_core::{DType, Tensor};
    use serde_json::{Value, json};

    use super::*;

    const HIDDEN: usize = 8;
    const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "late", "planes", "query", "bread"];

    /// A model of one small layer, its weights any numbers.
    pub(in crate::engine::search) fn folder(kind: &str, pooling: Value) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, content: Value| fs::write(folder.path().join(file), content.to_string()).unwrap();
        write(
            "config.json",
            json!({
                "model_type": kind, "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 1,
                "num_attention_heads": 2, "intermediate_size": 16, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
                "max_position_embeddings": 16, "type_vocab_size": 2, "initializer_range": 0.02,
                "layer_norm_eps": 1e-12, "pad_token_id": 0, "position_embedding_type": "absolute", "use_cache": true,
            }),
        );
        // In one order, so that equal folders are equal to the byte.
        let vocabulary: BTreeMap<&str, usize> = WORDS.iter().enumerate().map(|(at, word)| (*word, at)).collect();
        let special = |id: &str, at: usize| json!({ "id": id, "ids": [at], "tokens": [id] });
        write(
            "tokenizer.json",
            json!({
                "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
                "pre_tokenizer": { "type": "WhitespaceSplit" }, "decoder": null,
                "post_processor": {
                    "type": "TemplateProcessing", "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }],
                    "single": [
                        { "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } },
                        { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }
                    ],
                    "special_tokens": { "[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3) },
                },
                "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
            }),
        );
        write("sentence_bert_config.json", json!({ "max_seq_length": 6 }));
        write("config_sentence_transformers.json", json!({ "prompts": { "query": "query ", "document": "" } }));
        fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        write("1_Pooling/config.json", pooling);
        candle_core::safetensors::save(&weights(), folder.path().join("model.safetensors")).unwrap();
        folder
    }

    fn weights() -> HashMap<String, Tensor> {
        let square = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
        let mut shapes = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), HIDDEN]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![16, HIDDEN]),
            ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
        ];
        let mut linear = |name: &str, out: usize, into: usize| {
            shapes.push((format!("{name}.weight"), if into == 0 { vec![out] } else { vec![out, into] }));
            shapes.push((format!("{name}.bias"), vec![out]));
        };
        let layer = |part: &str| format!("encoder.layer.0.{part}");
        linear("embeddings.LayerNorm", HIDDEN, 0);
        square.iter().for_each(|part| linear(&layer(part), HIDDEN, HIDDEN));
        linear(&layer("attention.output.LayerNorm"), HIDDEN, 0);
        linear(&layer("intermediate.dense"), 16, HIDDEN);
        linear(&layer("output.dense"), HIDDEN, 16);
        linear(&layer("output.LayerNorm"), HIDDEN, 0);
        let filled = |(at, (name, shape)): (usize, (String, Vec<usize>))| {
            let count = shape.iter().product::<usize>();
            let values: Vec<f32> = (0..count).map(|n| ((n * 7 + at * 3) % 11) as f32 / 11.0 - 0.4).collect();
            (name, Tensor::from_vec(values, shape, &Device::Cpu).unwrap())
        };
        shapes.into_iter().enumerate().map(filled).collect()
    }

    fn encode(model: &Local, texts: &[&str], purpose: Purpose) -> Vec<Vec<f32>> {
        model
            .encode(
                &texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(),
                purpose,
                &CancellationToken::new(),
            )
            .unwrap()
    }

    fn near(a: &[f32], b: &[f32]) -> bool {
        let of = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        of(a, b) / (of(a, a) * of(b, b)).sqrt() > 0.9999
    }

    #[test]
    fn texts_of_different_lengths_do_not_change_each_other() {
        for pooling in [
            json!({ "pooling_mode_mean_tokens": true }),
            json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false }),
        ] {
            let folder = folder("bert", pooling);
            let model = Local::new(folder.path().to_owned());
            assert_eq!(model.dimension(Purpose::Passage).unwrap(), HIDDEN);
            let texts = ["late", "late planes bread", "bread", "planes late"];
            let together = encode(&model, &texts, Purpose::Passage);
            for (text, vector) in texts.iter().zip(&together) {
                assert!(near(&encode(&model, &[text], Purpose::Passage)[0], vector), "{text}");
            }
            assert_ne!(together[0], together[2], "and differ from each other");
        }
    }

    #[test]
    fn what_is_beyond_the_model_s_reach_is_not_read_and_a_query_gets_its_prompt() {
        let folder = folder("bert", json!({ "pooling_mode_mean_tokens": true }));
        let model = Local::new(folder.path().to_owned());
        let long =
            encode(&model, &["late planes late planes", "late planes late planes bread bread"], Purpose::Passage);
        assert!(near(&long[0], &long[1]));
        let asked = encode(&model, &["late"], Purpose::Query);
        assert!(near(&asked[0], &encode(&model, &["query late"], Purpose::Passage)[0]));
    }

    #[test]
    fn the_identity_changes_with_the_weights_and_with_the_pooling() {
        let identity = |folder: &tempfile::TempDir| Local::new(folder.path().to_owned()).identity().unwrap();
        let (mean, again) = (folder("bert", json!({})), folder("bert", json!({})));
        assert_eq!(identity(&mean), identity(&again));
        let first = folder("bert", json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false }));
        assert_ne!(identity(&mean), identity(&first));
        let mut changed = weights();
        let bias = Tensor::zeros(HIDDEN, DType::F32, &Device::Cpu).unwrap();
        changed.insert("encoder.layer.0.output.dense.bias".into(), bias);
        candle_core::safetensors::save(&changed, again.path().join("model.safetensors")).unwrap();
        assert_ne!(identity(&mean), identity(&again));
    }

    #[test]
    fn a_folder_that_cannot_be_used_says_which_file_is_wrong() {
        for (broken, said) in [
            ("model.safetensors", "model.safetensors"),
            ("tokenizer.json", "tokenizer.json"),
            ("config.json", "config.json"),
        ] {
            let folder = folder("bert", json!({}));
            fs::write(folder.path().join(broken), "{}").unwrap();
            let failed = Model::load(folder.path()).err().unwrap();
            assert!(failed.contains(said), "{failed}");
        }
        assert!(Model::load(folder("gpt2", json!({})).path()).err().unwrap().contains("bert"));
        let pooled = folder("bert", json!({ "pooling_mode_cls_token": true }));
        assert!(Model::load(pooled.path()).err().unwrap().contains("1_Pooling"));
    }
}
