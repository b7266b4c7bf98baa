//! Numbers in words.

/// `seven`, `seventeen`, `seventy`.
pub fn small(word: &str) -> Option<u32> {
    const UNTIL_TWENTY: [&str; 20] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str]| list.iter().position(|name| *name == word).and_then(|at| u32::try_from(at).ok());
    place(&UNTIL_TWENTY).or_else(|| place(&TENS).map(|at| (at + 2) * 10))
}
