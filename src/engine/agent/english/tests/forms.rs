//! Sentence forms: words that say nothing, what is said once for several, and what is left out.

use crate::model::reading::{Chosen, Turn};

use super::*;

#[test]
fn words_around_the_question_say_nothing() {
    check(
        &bakery(),
        &[
            ("pls give me the revenue so far", "revenue"),
            ("do you know how many shops there are", "count shop"),
            ("I'd like a list of the shops", "list shop: shop.shop_name"),
            ("Please can you show me a full list of our shops?", "list shop: shop.shop_name"),
            ("revenue per each shop", "revenue; by shop.shop_name"),
            (
                "Which of the three shops has the highest revenue?",
                "revenue; by shop.shop_name; order m0 desc; first 1 with ties",
            ),
            ("revenue not counting online", "revenue; where sale.channel != 'online'"),
            ("sales with queue time over half an hour", "list sale: sale.sale_id; where sale.queue_minutes > 30"),
        ],
    );
}

#[test]
fn what_is_said_once_holds_for_several() {
    check(
        &bakery(),
        &[
            ("lowest, highest and average price", "min bread.price, max bread.price, avg bread.price"),
            ("arrival and departure delay", "avg van_trip.arr_delay, avg van_trip.dep_delay"),
        ],
    );
}

#[test]
fn rankings_take_a_number_before_the_things() {
    check(
        &bakery(),
        &[
            ("2 shops with the highest revenue", "revenue; by shop.shop_name; order m0 desc; first 2"),
            ("2 shops with the most sales", "count sale; by shop.shop_name; order m0 desc; first 2"),
            ("2 shops", "cannot 2"),
            ("Rank the shops by revenue", "revenue; by shop.shop_name; order m0 desc"),
            (
                "for each town, the shop with the highest revenue",
                "revenue; by shop.shop_name, shop.town; order m0 desc; first 1 per [1] with ties",
            ),
        ],
    );
}

#[test]
fn how_long_asks_for_the_one_time_that_there_is() {
    check(
        &bakery(),
        &[
            // A sale has one time in minutes; a trip has two.
            ("how long do sales take on average", "avg sale.queue_minutes"),
            ("how long do trips take", "cannot how, long"),
            // A part of a total needs something to divide by.
            ("revenue as a percentage of total points", "cannot"),
            ("revenue as a percentage of loaves sold by shop", "(revenue / loaves_sold); by shop.shop_name"),
        ],
    );
}

#[test]
fn when_is_answered_by_a_time_or_not_at_all() {
    let bakery = bakery();
    for question in ["When is the revenue?", "when are the sales of each shop counted"] {
        let said = bakery.said(question);
        // Or it is asked whether a word may be left out.
        let open = said.starts_with("cannot") || said.starts_with("ask question:");
        assert!(open || said.contains("sold_on"), "{question}: {said}");
    }
}

#[test]
fn conditions_are_said_of_what_they_are_of() {
    let bakery = bakery();
    // Loyal are customers: with their noun shops may have them, and without it the word says nothing of shops.
    let said = bakery.said("shops with loyal customers");
    assert!(said.contains("loyal customers") || said.starts_with("cannot"), "{said}");
}

#[test]
fn vague_questions_are_asked_back_in_whole_questions() {
    let bakery = bakery();
    let said = bakery.said("show it by month");
    let options = "ask question:show it by month: revenue by month | average basket by month | loaves sold by month";
    assert!(said.starts_with(options), "{said}");
    assert!(
        bakery.said("top 10").starts_with("ask question:top 10: top 10 shops by revenue"),
        "{}",
        bakery.said("top 10")
    );
    assert!(
        bakery.said("who is the best?").starts_with("ask question:who is the best"),
        "{}",
        bakery.said("who is the best?")
    );
    let chosen = Chosen { key: "question:show it by month".into(), value: "loaves sold by month".into() };
    let context = Context { chosen: vec![chosen], ..context() };
    assert_eq!(shown::outcome(&bakery.ask_in("show it by month", &context)), "loaves_sold; by sale.sold_on:Month");
}

#[test]
fn known_words_are_never_said_to_mean_nothing() {
    let bakery = bakery();
    let Outcome::Cannot(cannot) = bakery.ask("revenue shop shop") else { panic!("answered") };
    assert!(!cannot.reason.contains("means nothing"), "{}", cannot.reason);
    assert!(!cannot.instead.iter().any(|instead| cannot.unknown.contains(instead)), "{cannot:?}");
    let Outcome::Cannot(cannot) = bakery.ask("revenue by planet") else { panic!("answered") };
    assert_eq!(cannot.reason, "“planet” means nothing here.");
}

/// What the second question means after the first.
fn then(first: &str, second: &str) -> String {
    let bakery = bakery();
    let Outcome::Plan(reading) = bakery.ask(first) else { panic!("{first}: not answered") };
    let context = Context { previous: vec![Turn { question: first.into(), plan: reading.plan }], ..context() };
    shown::outcome(&bakery.ask_in(second, &context))
}

#[test]
fn times_are_meant_beside_the_one_before() {
    for (first, second, expected) in [
        ("revenue on 2025-03-01", "and the day before?", "revenue; time 2025-02-28..2025-03-01"),
        ("revenue in March 2025", "and in the month before?", "revenue; time 2025-02-01..2025-03-01"),
        ("revenue in March 2025", "and a year earlier?", "revenue; time 2024-03-01..2024-04-01"),
        ("revenue in 2024", "and in the year before?", "revenue; time 2023-01-01..2024-01-01"),
        ("revenue in March 2024", "and in the whole year?", "revenue; time 2024-01-01..2025-01-01"),
    ] {
        assert_eq!(then(first, second), expected, "{first} – {second}");
    }
    // No day comes before a year.
    assert!(then("revenue in 2024", "and the day before?").starts_with("cannot"));
}

#[test]
fn the_number_before_is_taken_together_in_another_way() {
    assert_eq!(then("maximum price by flour", "and on average?"), "avg bread.price; by bread.flour");
    assert_eq!(then("list the title and weight of the breads", "and on average?"), "avg bread.weight");
}

#[test]
fn with_and_without_say_yes_and_no() {
    let field = |name: &str| {
        format!(
            "{{name: {name}, expression: {{dialects: [{{dialect: ANSI_SQL, expression: {name}}}]}}, datatype: Boolean}}\n      - "
        )
    };
    let (card, gift) =
        (format!("{}{{name: points,", field("has_card")), format!("{}{{name: queue_minutes,", field("is_gift")));
    let bakery = bakery_with(&[("{name: points,", &card), ("{name: queue_minutes,", &gift)], &[]);
    let customers = "list customer: customer.full_name, customer.customer_id; where customer";
    check(
        &bakery,
        &[
            ("customers with card", &format!("{customers}.has_card = true")),
            ("customers with a card", &format!("{customers}.has_card = true")),
            ("customers without cards", &format!("{customers}.has_card = false")),
            ("customers without a card", &format!("{customers}.has_card = false")),
            ("how many customers with cards", "count customer; where customer.has_card = true"),
            ("customers with gift sales", &format!("{customers} has sale(sale.is_gift = true)")),
            ("customers without gift sales", &format!("{customers} has no sale(sale.is_gift = true)")),
        ],
    );
    // In a list it is a column.
    let said = bakery.said("customers with card and email");
    assert!(said.contains("customer.has_card") && !said.contains("where"), "{said}");
}
