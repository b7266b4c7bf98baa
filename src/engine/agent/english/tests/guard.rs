//! No word that means something is lost: one more word in a question changes its plan, or there is no plan.

use super::*;

const QUESTIONS: &[&str] = &[
    "revenue by shop in 2024",
    "average price of breads by flour",
    "customers with more than 3 sales",
    "revenue from Swedish customers",
    "top 3 shops by revenue",
    "shops without sales in 2024",
    "number of sales by channel in Lund",
    "which shop had the highest revenue in 2023",
];

/// None of them says what one of the questions says already.
const WORDS: &[&str] = &[
    "not", "never", "without", "Bergen", "not Bergen", "wheat", "rye or wheat", "Norwegian", "7", "more than 100",
    "in 2019", "before March 2019", "on Mondays", "median", "minimum", "cumulative", "loyal", "zorped", "approved",
    "net", "online", "counter", "big sales", "by town", "trips", "by origin", "Ada Berg", "\"Paris\"", "second",
    "twice", "half", "compared with 2018", "sorted by town", "except Bergen", "only online", "with no email",
    "queue time",
];

fn plan_of(bakery: &Bakery, question: &str) -> Option<String> {
    match bakery.ask(question) {
        Outcome::Plan(reading) => Some(format!("{} {:?}", shown::plan(&reading.plan), reading.assumptions)),
        Outcome::Clarify(_) | Outcome::Cannot(_) => None,
    }
}

#[test]
fn one_more_word_changes_the_plan_or_there_is_none() {
    let bakery = bakery();
    let mut lost = Vec::new();
    for question in QUESTIONS {
        let plan = plan_of(&bakery, question);
        assert!(plan.is_some(), "{question}");
        let said: Vec<&str> = question.split(' ').collect();
        for word in WORDS {
            for at in 0..=said.len() {
                let other = [&said[..at], &[*word], &said[at..]].concat().join(" ");
                if plan_of(&bakery, &other) == plan {
                    lost.push(other);
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} lost a word:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn the_opposite_has_another_plan() {
    let bakery = bakery();
    let pairs = [
        ("customers with more than 3 sales", "customers with less than 3 sales"),
        ("customers with more than 3 sales", "customers with no more than 3 sales"),
        ("customers with more than 3 sales", "customers with more than 30 sales"),
        ("sales before May 2025", "sales after May 2025"),
        ("which shop had the highest revenue", "which shop had the lowest revenue"),
        ("top 3 shops by revenue", "bottom 3 shops by revenue"),
        ("top 3 shops by revenue", "top 3 shops by loaves sold"),
        ("shops with sales in 2024", "shops without sales in 2024"),
        ("sales in Lund", "sales not in Lund"),
        ("sales in Lund", "sales in Bergen"),
        ("trips from Lund", "trips to Lund"),
        ("revenue by shop", "revenue by town"),
        ("average price of breads", "median price of breads"),
        ("customers who bought Baguette", "customers who never bought Baguette"),
        ("revenue in 2024", "revenue in 2023"),
    ];
    for (one, other) in pairs {
        let (one_plan, other_plan) = (plan_of(&bakery, one), plan_of(&bakery, other));
        assert!(one_plan.is_some(), "{one}");
        assert_ne!(one_plan, other_plan, "{one} | {other}");
    }
}

#[test]
fn answers_are_of_the_kind_that_was_asked_for() {
    let bakery = bakery();
    for question in [
        // A person, and there is none.
        "who sold Baguette in 2024",
        "who approved the revenue of Harbour",
        "most expensive bread, and who bought it?",
        // What was said is no answer.
        "who is Ada Berg",
        // A place instead of rows.
        "where did Ada Berg buy",
        // A condition that is not understood is no second number.
        "revenue when queue time was long",
    ] {
        assert_eq!(plan_of(&bakery, question), None, "{question}");
    }
}

#[test]
fn a_verb_that_relates_things_to_nothing_is_not_passed_over() {
    let bakery = bakery();
    for question in [
        "how many customers have left",
        "how many customers work here now",
        "how many shops still work",
        "how many customers left by country",
    ] {
        assert_eq!(plan_of(&bakery, question), None, "{question}");
    }
    check(
        &bakery,
        &[
            ("how many sales were made", "count sale"),
            ("how many sales happened", "count sale"),
            ("how many customers do we have", "count customer"),
        ],
    );
}

#[test]
fn a_contraction_is_no_name() {
    check(&bakery(), &[("I'd like the number of sales per shop", "count sale; by shop.shop_name")]);
}

#[test]
fn a_rewriting_loses_no_word() {
    let kept = |before: &str, after: &str| rewrite::lost(before, after);
    assert_eq!(kept("any idea how many sales", "how many sales"), None);
    assert_eq!(kept("how did revenue grow in 2024", "revenue in 2024 compared with the previous period"), None);
    assert_eq!(kept("sales with and without a discount", "sales by discount"), None);
    assert_eq!(kept("online sales", "sales"), Some("online".into()));
    assert_eq!(kept("how long is not the longest trip", "maximum trip length"), Some("not".into()));
    assert_eq!(kept("sales over 100", "sales over"), Some("100".into()));
}
