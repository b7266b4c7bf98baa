//! `dragoman model pull` with the real program: from a server whose stream breaks, from a folder, and what is no model.

use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use dragoman::base::secret::sha256_hex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

const HIDDEN: usize = 8;
const WORDS: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "text"];

type Files = BTreeMap<String, Vec<u8>>;

/// A model of one small layer, its weights any numbers.
fn model(kind: &str) -> Files {
    let config = json!({
        "model_type": kind, "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 16, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "max_position_embeddings": 16, "type_vocab_size": 2, "initializer_range": 0.02,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, "position_embedding_type": "absolute", "use_cache": true,
    });
    let vocabulary: BTreeMap<&str, usize> = WORDS.iter().enumerate().map(|(at, word)| (*word, at)).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" }, "decoder": null, "post_processor": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    });
    Files::from([
        ("config.json".into(), config.to_string().into_bytes()),
        ("tokenizer.json".into(), tokenizer.to_string().into_bytes()),
        ("model.safetensors".into(), weights()),
    ])
}

/// As the format has it: the length of a head, the head, the numbers.
fn weights() -> Vec<u8> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
    ];
    let mut linear = |name: &str, weight: Vec<usize>| {
        shapes.push((format!("{name}.bias"), vec![weight[0]]));
        shapes.push((format!("{name}.weight"), weight));
    };
    linear("embeddings.LayerNorm", vec![HIDDEN]);
    for part in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
        linear(&format!("encoder.layer.0.{part}"), vec![HIDDEN, HIDDEN]);
    }
    linear("encoder.layer.0.attention.output.LayerNorm", vec![HIDDEN]);
    linear("encoder.layer.0.intermediate.dense", vec![16, HIDDEN]);
    linear("encoder.layer.0.output.dense", vec![HIDDEN, 16]);
    linear("encoder.layer.0.output.LayerNorm", vec![HIDDEN]);
    let (mut head, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let begin = numbers.len();
        let count = shape.iter().product::<usize>();
        numbers.extend((0..count).flat_map(|n| ((n % 7) as f32 / 7.0 - 0.4).to_le_bytes()));
        head.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, numbers.len()] }));
    }
    let head = Value::from(head).to_string();
    [&(head.len() as u64).to_le_bytes()[..], head.as_bytes(), &numbers].concat()
}

/// A server of files below `/m/`, which breaks off in the midst of the weights, once. Its address, and the ranges that it
/// was asked for.
async fn served(files: Files) -> (String, Arc<Mutex<Vec<String>>>) {
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let asked = ranges.clone();
    let answer = move |uri: Uri, headers: HeaderMap| {
        let (files, asked) = (files.clone(), asked.clone());
        async move { answered(&files, &asked, uri.path(), &headers) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/m", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    (address, ranges)
}

fn answered(files: &Files, asked: &Mutex<Vec<String>>, path: &str, headers: &HeaderMap) -> Response {
    let Some(bytes) = path.strip_prefix("/m/").and_then(|file| files.get(file)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tag = format!("\"{}\"", sha256_hex(bytes));
    if let Some(range) = headers.get("range") {
        let range = range.to_str().unwrap().to_owned();
        assert_eq!(headers["if-range"], tag.as_str());
        let from: usize = range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap();
        asked.lock().unwrap().push(range);
        let of = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
        return (StatusCode::PARTIAL_CONTENT, [("content-range", of)], bytes[from..].to_vec()).into_response();
    }
    if path.ends_with("safetensors") && asked.lock().unwrap().is_empty() {
        let half = futures_util::stream::iter([Ok(bytes[..bytes.len() / 2].to_vec())]);
        // What is there is sent when there is nothing more for now.
        let broken = half.chain(futures_util::stream::once(async {
            tokio::task::yield_now().await;
            Err(std::io::Error::other("the line is cut"))
        }));
        return Response::builder()
            .header("etag", tag)
            .header("content-length", bytes.len())
            .body(Body::from_stream(broken))
            .unwrap();
    }
    ([("etag", tag)], bytes.clone()).into_response()
}

/// Whether the program worked, and what it said.
async fn pull(data: &Path, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("--data").arg(data).args(["model", "pull"]).args(arguments);
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_fetched_whole_checked_and_there_at_once() {
    let data = tempfile::tempdir().unwrap();
    let mut files = model("bert");
    let sum = sha256_hex(&files["model.safetensors"]);
    files.insert("SHA256SUMS".into(), format!("{sum}  model.safetensors\n").into_bytes());
    let (address, ranges) = served(files.clone()).await;
    let (worked, said, told) = pull(data.path(), &["--json", &address]).await;
    assert!(worked, "{told}");
    let made: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(made["dimension"], HIDDEN);
    let weights = made["files"].as_array().unwrap().iter().find(|it| it["file"] == "model.safetensors").unwrap();
    assert_eq!((&weights["sha256"], &weights["checked"]), (&json!(sum), &json!(true)));
    assert_eq!(ranges.lock().unwrap().len(), 1, "gone on with where it broke: {told}");
    let folder = data.path().join("models/m");
    assert_eq!(made["folder"], folder.canonicalize().unwrap().display().to_string());
    assert_eq!(std::fs::read(folder.join("model.safetensors")).unwrap(), files["model.safetensors"]);
    assert!(!data.path().join("models/m.part").exists());

    let (worked, _, told) = pull(data.path(), &[&address]).await;
    assert!(!worked && told.contains("is there already"), "{told}");
    let copy = data.path().join("copy");
    let (worked, said, told) = pull(data.path(), &[folder.to_str().unwrap(), "--into", copy.to_str().unwrap()]).await;
    assert!(worked && said.contains("DRAGOMAN_EMBEDDING_FOLDER=") && copy.join("config.json").is_file(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_model_or_another_than_was_meant_leaves_nothing_in_its_place() {
    let data = tempfile::tempdir().unwrap();
    let mut without = model("bert");
    without.remove("tokenizer.json");
    let other = format!("model.safetensors={}", "0".repeat(64));
    for (files, more, reason) in [
        (model("gpt2"), vec![], "only models of the type bert"),
        (without, vec![], "has no tokenizer.json"),
        (model("bert"), vec!["--sha256", other.as_str()], "is not what it should be"),
    ] {
        let (address, _) = served(files).await;
        let (worked, _, told) = pull(data.path(), &[&[address.as_str()], more.as_slice()].concat()).await;
        assert!(!worked && told.contains(reason), "{told}");
        assert!(!data.path().join("models/m").exists());
    }
    for (from, reason) in [("http://10.0.0.1/m", "https://"), ("no/such/folder", "neither a folder nor an address")] {
        let (worked, _, told) = pull(data.path(), &[from]).await;
        assert!(!worked && told.contains(reason), "{told}");
    }
}
