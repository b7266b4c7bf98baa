//! Numbers of things in sentences.

use std::fmt::Display;

/// `1 row`, `2 rows`: a number and a noun, whose plural only has an s more.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let end = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{end}")
}

/// `1,002,356`: a whole number, not below 0, with its digits in groups of three.
pub fn grouped<N: Display>(number: N) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let told = [0_i64, 999, 1_000, 20_000, 1_002_356].map(grouped);
        assert_eq!(told, ["0", "999", "1,000", "20,000", "1,002,356"]);
    }

    #[test]
    fn only_one_is_one() {
        let told = [counted(0_i64, "row"), counted(1_usize, "row"), counted(2_u64, "row")];
        assert_eq!(told, ["0 rows", "1 row", "2 rows"]);
    }
}
