//! Any bytes as a file of documents: each reader ends with a text or an error. What the first byte picks is the name, which
//! breaks ties between kinds that the same bytes may be.

#![no_main]

use dragoman::engine::extract;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = ["x", "x.eml", "x.mbox", "x.html", "x.md", "x.csv"];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    if let Ok(found) = extract::read(rest, name) {
        for document in found.documents {
            assert!(!document.text.is_empty() && !document.text.contains('\0'), "{}", document.name);
        }
    }
});
