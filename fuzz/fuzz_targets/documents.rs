//! Any bytes as a file of documents: each reader ends with a text or an error. What the first byte picks is the name, which
//! breaks ties between kinds that the same bytes may be.

#![no_main]

use dragoman::engine::extract;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = ["x", "x.eml", "x.mbox", "x.html", "x.md", "x.csv"];

// What a reader gives up on in its midst is caught by the room, and no find; what is not caught ends this all the same.
fuzz_target!(init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))), |bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    if let Ok(found) = extract::read(rest, name) {
        for document in found.documents {
            assert!(!document.text.is_empty() && !document.text.contains('\0'), "{}", document.name);
        }
    }
});
