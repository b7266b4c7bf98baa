//! The question sets, asked in full: what the product promises of its answers, kept from one change to the next.

use crate::bank::judge::Verdict;
use crate::bank::{SETS, With, run};

/// Of the answerable questions, at least so many are answered.
const COVERAGE: f64 = 0.90;
/// The same of those that were written without knowing how questions are understood.
const COVERAGE_OF_UNSEEN: f64 = 0.70;
/// Of the answered, at least so many rightly.
const PRECISION: f64 = 0.98;
/// Of the unanswerable, at least so many are declined or asked about.
const KEPT_QUIET: f64 = 0.95;

#[tokio::test(flavor = "multi_thread")]
async fn most_questions_are_answered_nearly_all_of_them_rightly_and_none_is_guessed() {
    let mut all = Vec::new();
    for set in SETS {
        all.extend(run(set, With::Steward).await);
    }
    let share = |part: usize, of: usize| part as f64 / of as f64;
    let (answerable, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.question.kind.has_answer());
    let right = answerable.iter().filter(|it| it.verdict == Verdict::Right).count();
    let wrong: Vec<String> = all
        .iter()
        .filter(|it| it.verdict == Verdict::Wrong)
        .map(|it| format!("{} {}: {}", it.question.id, it.question.question, it.said))
        .collect();
    let answered = answerable.iter().filter(|it| it.verdict != Verdict::Silent).count();
    let quiet = others.iter().filter(|it| it.verdict != Verdict::Wrong).count();
    for (unseen, least) in [(false, COVERAGE), (true, COVERAGE_OF_UNSEEN)] {
        let part: Vec<_> = answerable.iter().filter(|it| it.question.is_unseen() == unseen).collect();
        let answered = part.iter().filter(|it| it.verdict != Verdict::Silent).count();
        assert!(share(answered, part.len()) >= least, "{answered} of {}, unseen: {unseen}", part.len());
    }
    assert!(share(right, answered) >= PRECISION, "{right} of {answered}: {wrong:#?}");
    assert!(share(quiet, others.len()) >= KEPT_QUIET, "{quiet} of {}: {wrong:#?}", others.len());
    let published = all.iter().filter(|it| it.question.id.starts_with("acme-"));
    let missed: Vec<&str> =
        published.filter(|it| it.verdict != Verdict::Right).map(|it| it.question.id.as_str()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
