//! What models wrote as clients of the question sets, asked again: nobody who wrote these queries had seen the ontologies'
//! files, the references or the code.

use std::path::Path;

use crate::bank::judge::Verdict;
use crate::bank::{Played, SETS, With, judged};

/// Of the questions, at least so many are answered, asked about or declined rightly.
const RIGHT: f64 = 0.99;
/// At most so many are answered wrongly.
const WRONG: f64 = 0.02;

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_models_wrote_give_the_right_answers_still() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/questions/played");
    let mut all: Vec<(Played, Verdict)> = Vec::new();
    for set in SETS.into_iter().filter(|set| *set != "traps") {
        let text = std::fs::read_to_string(folder.join(format!("{set}.jsonl"))).unwrap();
        let played: Vec<Played> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let again = judged(set, With::Steward, &played).await;
        assert_eq!(again.len(), played.len(), "{set}: a question that was played is not in the set any more");
        all.extend(again);
    }
    let of = |verdict: Verdict| -> Vec<&str> {
        all.iter().filter(|(_, it)| *it == verdict).map(|(one, _)| one.question.as_str()).collect()
    };
    let share = |part: usize| part as f64 / all.len() as f64;
    let (wrong, silent) = (of(Verdict::Wrong), of(Verdict::Silent));
    assert!(share(of(Verdict::Right).len()) >= RIGHT, "of {}: wrong {wrong:?}, silent {silent:?}", all.len());
    assert!(share(wrong.len()) <= WRONG, "of {}: wrong {wrong:?}", all.len());
}
