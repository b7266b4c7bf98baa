//! `dragoman model pull`: a model of the BERT family into a folder, for `DRAGOMAN_EMBEDDING_FOLDER`. The folder is there
//! when all of it is, checked and loaded once; what was fetched of one that broke off is not fetched again.

mod fetch;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use serde_json::json;

use self::fetch::Source;
use crate::base::secret::sha256_of;
use crate::engine::search::model_in;

/// What a model is made of, and whether it is none without it.
const FILES: [(&str, bool); 6] = [
    ("config.json", true),
    ("tokenizer.json", true),
    ("sentence_bert_config.json", false),
    ("1_Pooling/config.json", false),
    ("config_sentence_transformers.json", false),
    ("model.safetensors", true),
];
/// Sums beside the files, as `sha256sum` writes them.
const SUMS: &str = "SHA256SUMS";

/// `dragoman model`.
#[derive(Debug, Subcommand)]
pub(super) enum Model {
    /// Fetch an encoder of the BERT family, check it, and say how to use it
    Pull(Pull),
}

/// Arguments of `model pull`.
#[derive(Debug, Args)]
pub(super) struct Pull {
    /// The address that the model's files are below (https://…/resolve/main), or a folder of this machine
    from: String,
    /// The new folder (otherwise in the data folder, below models)
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// What a file must be; a SHA256SUMS beside the files is heeded too
    #[arg(long = "sha256", value_name = "FILE=HEX", value_parser = sum)]
    sums: Vec<(String, String)>,
}

/// `FILE=HEX`.
fn sum(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(file, _)| FILES.iter().any(|(known, _)| known == file));
    let (file, hex) = parts.ok_or("write it as model.safetensors=…, with one of the model's files")?;
    match hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok((file.to_owned(), hex.to_ascii_lowercase())),
        false => Err("a SHA-256 has 64 hexadecimal digits".into()),
    }
}

impl Model {
    pub(super) async fn run(self, data: &Path, json: bool) -> anyhow::Result<()> {
        let Self::Pull(pull) = self;
        pull.run(data, json).await
    }
}

impl Pull {
    async fn run(self, data: &Path, json: bool) -> anyhow::Result<()> {
        let source = Source::read(&self.from)?;
        let into = self.into.unwrap_or_else(|| data.join("models").join(source.name()));
        ensure!(
            !into.exists(),
            "{} is there already. Remove it, or choose another folder with --into.",
            into.display()
        );
        let aside = aside(&into)?;
        let mut sums = self.sums;
        if let Some(listed) = source.text(SUMS).await? {
            sums.extend(listed.lines().filter_map(listed_sum));
        }
        let mut got = Vec::new();
        for (file, is_needed) in FILES {
            let place = aside.join(file);
            if !source.file(file, &place).await? {
                ensure!(!is_needed, "{} has no {file}: a model has it beside config.json.", self.from);
                continue;
            }
            let found = hex::encode(sha256_of(&mut fs::File::open(&place)?)?);
            if let Some((_, expected)) = sums.iter().find(|(of, expected)| of == file && *expected != found) {
                fs::remove_file(&place)?;
                bail!(
                    "{file} is not what it should be: its SHA-256 is {found}, and not {expected}. Nothing was kept of it."
                );
            }
            got.push((file, found, sums.iter().any(|(of, _)| of == file)));
        }
        let dimension = model_in(&aside).or_else(|problem| {
            fs::remove_dir_all(&aside)?;
            bail!("this model cannot be used: {problem}")
        })?;
        fs::rename(&aside, &into).with_context(|| format!("{} cannot be made", into.display()))?;
        let place = into.canonicalize()?.display().to_string();
        if json {
            let files =
                got.iter().map(|(file, sum, checked)| json!({ "file": file, "sha256": sum, "checked": checked }));
            say!("{:#}", json!({ "folder": place, "dimension": dimension, "files": files.collect::<Vec<_>>() }));
            return Ok(());
        }
        for (file, sum, checked) in got {
            say!("{sum}  {file}{}", if checked { "  (as it should be)" } else { "" });
        }
        say!("vectors of {dimension} numbers; use it with DRAGOMAN_EMBEDDING_FOLDER={place}");
        Ok(())
    }
}

/// Where a model is put together: beside its place, so that it can be moved there at once.
fn aside(into: &Path) -> anyhow::Result<PathBuf> {
    let mut name = into.file_name().context("--into names a folder")?.to_owned();
    name.push(".part");
    let aside = into.with_file_name(name);
    fs::create_dir_all(aside.join("1_Pooling")).with_context(|| format!("{} cannot be made", aside.display()))?;
    Ok(aside)
}

/// A line of `sha256sum`.
fn listed_sum(line: &str) -> Option<(String, String)> {
    let (hex, file) = line.split_once(' ')?;
    let file = file.trim_start_matches([' ', '*']).trim_start_matches("./");
    sum(&format!("{file}={hex}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read_as_they_are_written() {
        let hex = "AB".repeat(32);
        let read = Some(("model.safetensors".to_owned(), hex.to_lowercase()));
        for line in [format!("{hex}  model.safetensors"), format!("{hex} *./model.safetensors")] {
            assert_eq!(listed_sum(&line), read);
        }
        for line in ["", "# sums", "abc  model.safetensors", &format!("{hex}  other.bin")] {
            assert_eq!(listed_sum(line), None, "{line}");
        }
    }
}
