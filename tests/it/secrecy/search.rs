//! What is searched for: a secret, the part of it that is random, and every way in which either could be written.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter texts would be found by chance.
const SHORTEST: usize = 12;

/// Secrets by what they are.
#[derive(Default)]
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// `name` says what it is where it is found.
    pub fn keep(&mut self, name: &str, secret: &str) {
        assert!(secret.len() >= SHORTEST, "{name} is too short to be searched for: {secret}");
        if !self.0.iter().any(|(_, known)| known == secret) {
            self.0.push((name.to_owned(), secret.to_owned()));
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One line for each secret in a line of `text`.
    pub fn search(&self, place: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (name, secret) in &self.0 {
            for spelling in spellings(secret) {
                for line in text.lines().filter(|line| line.contains(&spelling)) {
                    let line: String = line.chars().take(300).collect();
                    found.push(format!("{place}: {name}, in: {line}"));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

fn spellings(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    // Behind a prefix, and in a token of three parts its signature: either would do for an attacker.
    let random = secret.rsplit_once('.').map_or(secret, |(_, signature)| signature);
    let random = random.split_once('_').map_or(random, |(_, rest)| rest);
    for text in [secret, random].into_iter().filter(|text| text.len() >= SHORTEST) {
        all.push(text.to_owned());
        all.push(url::form_urlencoded::byte_serialize(text.as_bytes()).collect());
        all.push(text.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D"));
        all.push(text.replace('/', "%2f").replace('+', "%2b").replace('=', "%3d"));
        all.push(hex::encode(text));
        all.push(hex::encode_upper(text));
        all.extend(within_base64(text));
    }
    all.sort();
    all.dedup();
    all
}

/// What stands in the base64 of any text that holds this one: its letters depend on how many bytes come before, and
/// the first and the last ones on what they are.
fn within_base64(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let bytes = [&[0; 3][..before], text.as_bytes()].concat();
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let written = engine.encode(&bytes);
            // The letters that only bits of the text decide.
            let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            all.push(written[first..last].to_owned());
        }
    }
    all
}
