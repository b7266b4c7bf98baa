//! Bytes become SQL. What the guard accepts runs in a real worker, over tables beside a table and files that it may not
//! read: no reply may hold their secret, no file may change or appear, no worker may crash, the guard may not panic.
#![no_main]

#[path = "guard/house.rs"]
mod house;
#[path = "guard/mutate.rs"]
mod mutate;

use std::sync::OnceLock;

use dragoman::engine::sql::{guard, text};
use dragoman::model::error::Code;
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};

use house::{CANARY, House};

/// Characters of a statement, as in the product's budget.
const LONGEST: usize = 4_096;

fn house() -> &'static House {
    static HOUSE: OnceLock<House> = OnceLock::new();
    HOUSE.get_or_init(House::new)
}

fuzz_target!(|data: &[u8]| -> Corpus { examine(data) });

fn examine(data: &[u8]) -> Corpus {
    let Ok(sql) = std::str::from_utf8(data) else { return Corpus::Reject };
    // A text that has the secret already may well see it in an error.
    if sql.contains(CANARY) || text::check(sql, LONGEST).is_err() {
        return Corpus::Reject;
    }
    let house = house();
    let verdict = guard::check(sql, &house.tree(sql), &house.names);
    // A few of those that are refused go the whole way too: the worker is the one that judges.
    if verdict.is_err() && !data.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(32) {
        return Corpus::Keep;
    }
    let said = match house.query(sql) {
        Ok(answer) => {
            assert!(verdict.is_ok(), "the worker ran what the guard refuses: {sql}");
            serde_json::to_string(&answer.table).expect("a table is JSON")
        }
        Err(error) => {
            let crashed = error.code == Code::InternalError && error.details["reason"] == "engine_crashed";
            assert!(!crashed, "a worker crashed: {sql}");
            error.body("r").to_string()
        }
    };
    assert!(!said.contains(CANARY), "the secret got out: {sql}\n{said}");
    assert!(!said.contains(house.path()), "a path got out: {sql}\n{said}");
    house.look_around(sql);
    Corpus::Keep
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});
