//! Numbers of things in sentences.

use std::fmt::Display;

/// `1 row`, `2 rows`: a number and a noun, whose plural only has an s more.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let end = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_one() {
        let told = [counted(0_i64, "row"), counted(1_usize, "row"), counted(2_u64, "row")];
        assert_eq!(told, ["0 rows", "1 row", "2 rows"]);
    }
}
