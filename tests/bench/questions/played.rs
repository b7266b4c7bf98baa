//! Judges what models did as clients: `played FILE…`, files as `desk.mjs` writes them; and what `ask_question` makes of the
//! same questions with nobody to help it: `alone FILE…`.

use std::collections::{BTreeMap, BTreeSet};

use super::bank::judge::Verdict;
use super::bank::{Asked, Played, SETS, Said, With, judged, run_some};

/// What was judged of an ontology, with some tools, in a set.
type Rows = BTreeMap<(String, String, &'static str), Vec<(Played, Verdict)>>;

/// Prints right, wrong, asked back and given up for each set and kind of tools, with calls and bytes a question, and each
/// question that was not answered rightly.
pub async fn print(files: &[String]) {
    let played = read(files);
    let mut rows = Rows::new();
    for with in [With::Steward, With::Draft] {
        for set in SETS.into_iter().filter(|set| played.iter().any(|it| it.set == *set && it.with == with)) {
            for (one, verdict) in judged(set, with, &played).await {
                for of in [set, "all"] {
                    let key = (format!("{with:?}"), one.tools.clone(), of);
                    rows.entry(key).or_default().push((one.clone(), verdict));
                }
            }
        }
    }
    println!(
        "{:8} {:9} {:8} {:>9} {:>6} {:>6} {:>7} {:>6} {:>8}",
        "ontology", "tools", "set", "questions", "right", "wrong", "no answer", "calls", "bytes"
    );
    for ((with, tools, set), all) in &rows {
        let count = |of: Verdict| all.iter().filter(|(_, verdict)| *verdict == of).count();
        let each = |of: fn(&Played) -> usize| all.iter().map(|(it, _)| of(it)).sum::<usize>() as f64 / all.len() as f64;
        println!(
            "{with:8} {tools:9} {set:8} {:>9} {:>6} {:>6} {:>9} {:>6.1} {:>8.0}",
            all.len(),
            count(Verdict::Right),
            count(Verdict::Wrong),
            count(Verdict::Silent),
            each(|it| it.calls.len()),
            each(|it| it.calls.iter().map(|call| call.bytes).sum())
        );
    }
    for (one, verdict) in rows.iter().filter(|((_, _, set), _)| *set == "all").flat_map(|(_, all)| all) {
        if *verdict != Verdict::Right {
            let last = one.calls.last().map(|call| call.arguments.to_string()).unwrap_or_default();
            let said = match &one.outcome {
                Said::Call(number) => format!("call {number}"),
                Said::Rows(rows) => format!("{} rows of its own", rows.len()),
                Said::Asked(text) => format!("asked: {text}"),
                Said::Declined(text) => format!("declined: {text}"),
            };
            println!("{verdict:?} {} {} {said}\n    {last}", one.tools, one.question);
        }
    }
}

/// Prints what `ask_question` alone makes of the questions that were played, each once.
pub async fn print_alone(files: &[String]) {
    let played = read(files);
    println!("{:8} {:8} {:>9} {:>6} {:>6} {:>7}", "ontology", "set", "questions", "right", "wrong", "no answer");
    let mut missed: Vec<Asked> = Vec::new();
    for with in [With::Steward, With::Draft] {
        let mut all: Vec<Asked> = Vec::new();
        for set in SETS {
            let of_set = played.iter().filter(|it| it.set == set && it.with == with);
            let ids: BTreeSet<&str> = of_set.map(|it| it.question.as_str()).collect();
            if ids.is_empty() {
                continue;
            }
            let asked = run_some(set, with, |question| ids.contains(question.id.as_str())).await;
            counted(with, set, &asked);
            all.extend(asked);
        }
        if !all.is_empty() {
            counted(with, "all", &all);
        }
        missed.extend(all.into_iter().filter(|it| it.verdict != Verdict::Right));
    }
    for it in missed {
        println!("{:?} {} {}\n    {}", it.verdict, it.question.id, it.question.question, it.said);
    }
}

fn counted(with: With, set: &str, asked: &[Asked]) {
    let count = |of: Verdict| asked.iter().filter(|it| it.verdict == of).count();
    let (right, wrong, silent) = (count(Verdict::Right), count(Verdict::Wrong), count(Verdict::Silent));
    println!("{:8} {set:8} {:>9} {right:>6} {wrong:>6} {silent:>9}", format!("{with:?}"), asked.len());
}

fn read(files: &[String]) -> Vec<Played> {
    let mut played: Vec<Played> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|problem| panic!("{file}: {problem}"));
        played.extend(text.lines().map(|line| serde_json::from_str::<Played>(line).unwrap()));
    }
    played
}
