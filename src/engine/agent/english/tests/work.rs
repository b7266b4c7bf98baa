//! Questions that are made to take long.

use super::*;
use crate::model::ontology::Metric;

/// A bakery with very many breads, whose titles begin with the words of a small stock.
fn many_breads() -> Bakery {
    let mut bakery = bakery();
    let titles: Vec<String> = (0..100_000).map(|at| format!("{} {} Loaf", strange(at % 490), at / 490)).collect();
    let titles = FieldValues { dataset: "bread".into(), field: "title".into(), values: titles, complete: true };
    bakery.lexicon = Lexicon::build(&bakery.ontology, &[titles]);
    bakery
}

/// "Qaab", "Qaac" and so on: no word of any language.
fn strange(at: usize) -> String {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap());
    format!("Q{}{}b", letter(at / 26), letter(at))
}

fn asked(words: usize) -> String {
    (0..words).fold("how many sales of".to_owned(), |asked, at| format!("{asked} {}", strange(at)))
}

fn reason(outcome: Outcome) -> String {
    match outcome {
        Outcome::Cannot(cannot) => cannot.reason,
        other => shown::outcome(&other),
    }
}

#[test]
fn a_question_of_very_many_words_is_not_read() {
    let bakery = bakery();
    let said = reason(bakery.ask(&asked(350)));
    assert_eq!(said, "The question has 354 words, and at most 150 are read. Ask for less at once.");
    let said = reason(bakery.ask(&"is ".repeat(151)));
    assert!(said.starts_with("The question has 151 words"), "{said}");
    assert!(!reason(bakery.ask(&"is ".repeat(150))).contains("150"));
}

/// Each of the names stands in hundreds of the hundred thousand titles.
#[test]
fn many_unknown_names_over_very_many_values_take_bounded_work() {
    let bakery = many_breads();
    let effort = Effort::default();
    let outcome = plan_within(&asked(140), &bakery.lexicon, &bakery.ontology, &bakery.graph, &context(), &effort);
    // The first name is in 205 values, so that none of them is meant.
    let said = "It is not clear how “Qaab”, “Qabb”, “Qacb” and 137 more belong to the rest of the question. Ask for \
                example: “revenue by shop”.";
    assert_eq!(reason(outcome), said);
    // After 5,000 steps no further name is looked for; one takes at most sixteen times the values that it is in. Reading
    // takes ten for each of the 144 words, and the example that is told has three.
    let most = 5_000 + 16 * 205 + 10 * 144 + 100;
    assert!((5_000..=most).contains(&effort.spent()), "{} steps", effort.spent());
    assert!(!effort.is_over());
}

/// A bakery whose breads have titles that differ only in their signs: `foo.`, `foo!`, `foo.!` and so on.
fn breads_in_signs() -> Bakery {
    let mut bakery = bakery();
    let sign = |bit: char| if bit == '0' { '.' } else { '!' };
    let signs = |at: usize| format!("{:b}", at + 2).chars().skip(1).map(sign).collect::<String>();
    let titles = (0..10_000).map(|at| format!("foo{}", signs(at))).collect();
    let titles = FieldValues { dataset: "bread".into(), field: "title".into(), values: titles, complete: true };
    bakery.lexicon = Lexicon::build(&bakery.ontology, &[titles]);
    bakery
}

#[test]
fn a_word_that_very_many_values_are_takes_bounded_work() {
    let bakery = breads_in_signs();
    let effort = Effort::default();
    let begun = std::time::Instant::now();
    let question = "foo ".repeat(150);
    let outcome = plan_within(&question, &bakery.lexicon, &bakery.ontology, &bakery.graph, &context(), &effort);
    assert!(!matches!(outcome, Outcome::Plan(_)));
    // Far under a second when optimised. Comparing all of them with each other would take an hour.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

/// "And …" is tried with each of the ontology's numbers: twelve, or four where that is long.
#[test]
fn what_is_tried_in_place_of_a_question_is_counted() {
    let mut bakery = bakery();
    let metric = |at: usize| Metric {
        name: format!("gain_{}", strange(at)),
        expression: "SUM(sale.amount)".into(),
        ..Metric::default()
    };
    bakery.ontology.metrics = (0..20).map(metric).collect();
    let work = |words: usize| {
        let question = format!("and {}", "gribble ".repeat(words));
        let effort = Effort::default();
        plan_within(&question, &bakery.lexicon, &bakery.ontology, &bakery.graph, &context(), &effort);
        effort.spent()
    };
    // Each try begins with the three words of a number in place of "and". At last, up to eight examples are tried: two
    // of the numbers by any of the things.
    let least = |words: u64, tries: u64| 10 * (words + 1 + tries * (words + 1));
    assert!((least(20, 12)..least(20, 13) + 8 * 100).contains(&work(20)), "{}", work(20));
    assert!((least(100, 4)..least(100, 5)).contains(&work(100)), "{}", work(100));
}

/// A question that takes long is tried no further once nobody waits.
#[test]
fn nothing_more_is_tried_when_nobody_waits() {
    let bakery = bakery();
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 1
    };
    let effort = Effort::new(&stop);
    let outcome = plan_within("and gribble", &bakery.lexicon, &bakery.ontology, &bakery.graph, &context(), &effort);
    assert!(matches!(outcome, Outcome::Cannot(_)));
    // Before the question and before what would have been tried first.
    assert_eq!((asked.get(), effort.is_over()), (2, true));
}

#[test]
fn reading_ends_when_nobody_waits_for_it() {
    let bakery = bakery();
    let read = |stop: &dyn Fn() -> bool| {
        let effort = Effort::new(stop);
        plan_within("how many sales by shop", &bakery.lexicon, &bakery.ontology, &bakery.graph, &context(), &effort)
    };
    assert!(matches!(read(&|| false), Outcome::Plan(_)));
    assert!(reason(read(&|| true)).starts_with("There are too many ways to read this question"));
}
