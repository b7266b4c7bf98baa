//! Numbers, times and texts of the data as people write them: charts and answers in words show them alike.

pub mod column;
pub mod digits;
pub mod markdown;
pub mod nouns;
pub mod number;
pub mod spelled;
