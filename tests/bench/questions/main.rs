//! Asks the question sets and prints how many were answered, how many of those rightly, and how many wrongly without a
//! word: `tests/bench/questions/run [--draft] [SET…]`. `dropped` looks for words that reading loses, `speed` measures,
//! `answers` prints every answer whole, to hold two versions against each other. `serve` offers a set to a model that is a
//! client, `played` judges what such models did, and `alone` asks the same questions without one.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot go on should stop, and prints"
)]

mod bank;
mod dropped;
mod played;
mod serve;
mod speed;

use bank::judge::Verdict;
use bank::{Asked, SETS, With};

/// Questions of each set that are put together of two: 20,000 in all.
const RECOMBINED: usize = 3_334;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|it| it == "speed") {
        speed::answers().await;
        speed::growth();
        return;
    }
    if arguments.first().is_some_and(|it| it == "dropped") {
        let named: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
        for set in if named.is_empty() { SETS.to_vec() } else { named } {
            lost(set, &bank::reader(set).await);
        }
        return;
    }
    if arguments.first().is_some_and(|it| it == "answers") {
        for set in SETS {
            for asked in bank::run(set, With::Steward).await {
                println!("{} {:?} {}", asked.question.id, asked.verdict, asked.whole);
            }
        }
        return;
    }
    if let [what, rest @ ..] = arguments.as_slice() {
        match what.as_str() {
            "serve" => return serve::serve(rest).await,
            "played" => return played::print(rest).await,
            "alone" => return played::print_alone(rest).await,
            _ => {}
        }
    }
    let with = if arguments.iter().any(|it| it == "--draft") { With::Draft } else { With::Steward };
    let named: Vec<&str> = arguments.iter().map(String::as_str).filter(|it| !it.starts_with("--")).collect();
    let sets = if named.is_empty() { SETS.to_vec() } else { named };
    println!("ontology: {with:?}; no language model");
    println!(
        "{:8} {:>9} {:>9} {:>9} {:>6} {:>12} {:>8} {:>8}",
        "set", "answerable", "coverage", "precision", "wrong", "unanswerable", "p50 ms", "p95 ms"
    );
    let mut all = Vec::new();
    for set in sets {
        let asked = bank::run(set, with).await;
        row(set, &asked);
        all.extend(asked);
    }
    row("all", &all);
    let (unseen, own): (Vec<Asked>, Vec<Asked>) = all.into_iter().partition(|it| it.question.is_unseen());
    if !unseen.is_empty() && !own.is_empty() {
        row("own", &own);
        row("unseen", &unseen);
    }
    let all: Vec<Asked> = own.into_iter().chain(unseen).collect();
    for it in all.iter().filter(|it| it.verdict != Verdict::Right) {
        println!(
            "{:?} {} {:?} {}\n    {}",
            it.verdict, it.question.id, it.question.kind, it.question.question, it.said
        );
    }
}

/// Prints the questions of a set that lose a word.
fn lost(set: &str, reader: &bank::Reader) {
    for (how, found) in [("one more word", reader.inserted()), ("put together", reader.recombined(RECOMBINED))] {
        println!(
            "{set:8} {how:14} {:>6} asked {:>6} answered {:>4} lost a word {:>2} panics",
            found.asked,
            found.answered,
            found.lost.len(),
            found.panics.len()
        );
        for line in found.lost.iter().chain(&found.panics) {
            println!("    {line}");
        }
    }
}

fn row(name: &str, asked: &[Asked]) {
    let part = |of: usize, all: usize| format!("{:.1} %", 100.0 * of as f64 / all.max(1) as f64);
    let answerable: Vec<&Asked> = asked.iter().filter(|it| it.question.kind.has_answer()).collect();
    let answered = answerable.iter().filter(|it| it.verdict != Verdict::Silent).count();
    let right = answerable.iter().filter(|it| it.verdict == Verdict::Right).count();
    let others: Vec<&Asked> = asked.iter().filter(|it| !it.question.kind.has_answer()).collect();
    let kept_quiet = others.iter().filter(|it| it.verdict != Verdict::Wrong).count();
    let wrong = asked.iter().filter(|it| it.verdict == Verdict::Wrong).count();
    let mut times: Vec<f64> = asked.iter().map(|it| it.took.as_secs_f64() * 1_000.0).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{name:8} {:>9} {:>9} {:>9} {wrong:>6} {:>12} {:>8.1} {:>8.1}",
        answerable.len(),
        part(answered, answerable.len()),
        part(right, answered),
        part(kept_quiet, others.len()),
        at(0.5),
        at(0.95)
    );
}
