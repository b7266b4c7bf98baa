//! Everyday wording around a question, and words that are not known.

use crate::model::reading::{Chosen, Turn};

use super::*;

#[test]
fn what_is_said_around_a_question_is_no_part_of_it() {
    check(
        &bakery(),
        &[
            ("My boss wants to know how many shops there are", "count shop"),
            ("Good morning! A colleague asked me how many shops we have. Thanks a lot", "count shop"),
            ("Sorry to bother you, but could you check for me how many shops there are?", "count shop"),
            ("For my presentation: revenue by shop", "revenue; by shop.shop_name"),
            ("revenue by shop for the next meeting", "revenue; by shop.shop_name"),
            ("the shops in Lund, so that we can write to them", "list shop: shop.shop_name; where shop.town = 'Lund'"),
            ("I'm looking for the shops in Lund", "list shop: shop.shop_name; where shop.town = 'Lund'"),
            ("how many shops are in our system?", "count shop"),
            ("revenue and number of sales side by side", "revenue, count sale"),
        ],
    );
}

#[test]
fn a_second_sentence_names_columns_or_which_ones() {
    check(
        &bakery(),
        &[
            (
                "Which customers live in Sweden? Email and points are enough.",
                "list customer: customer.full_name, customer.customer_id, customer.email, customer.points; where customer.country = 'SE'",
            ),
            (
                "shops in Lund. I want the floor area as well",
                "list shop: shop.shop_name, shop.floor_area; where shop.town = 'Lund'",
            ),
            ("Are there any shops in Bergen? Which ones?", "list shop: shop.shop_name; where shop.town = 'Bergen'"),
        ],
    );
}

#[test]
fn numbers_are_bounded_behind_what_they_are_of() {
    check(
        &bakery(),
        &[
            ("sales of 20 euros or more", "list sale: sale.sale_id; where sale.amount >= 20"),
            (
                "customers with 100 points or more",
                "list customer: customer.full_name, customer.customer_id; where customer.points >= 100",
            ),
            (
                "customers with 100+ points",
                "list customer: customer.full_name, customer.customer_id; where customer.points >= 100",
            ),
            (
                "customers with 100 points or fewer",
                "list customer: customer.full_name, customer.customer_id; where customer.points <= 100",
            ),
            ("breads with a price of 4 and above", "list bread: bread.title; where bread.price >= 4"),
            (
                "customers with 7 points",
                "list customer: customer.full_name, customer.customer_id; where customer.points = 7",
            ),
        ],
    );
}

#[test]
fn light_phrases_are_read_for_what_they_say() {
    check(
        &bakery(),
        &[
            ("revenue month by month", "revenue; by sale.sold_on:Month"),
            ("revenue, shop by shop", "revenue; by shop.shop_name"),
            ("revenue by shop, Harbour excluded", "revenue; by shop.shop_name; where shop.shop_name != 'Harbour'"),
            ("which shop is best in terms of revenue", "revenue; by shop.shop_name; order m0 desc; first 1 with ties"),
            ("break the revenue down by channel", "revenue; by sale.channel"),
            ("split the shops by town and count them", "count shop; by shop.town"),
            ("revenue next to loaves sold", "revenue, loaves_sold"),
            ("which shops lie in Lund?", "list shop: shop.shop_name; where shop.town = 'Lund'"),
            ("how much money did we make in 2024?", "revenue; time 2024-01-01..2025-01-01"),
            ("revenue in euros", "revenue"),
            ("revenue of Lund and Bergen each", "revenue; by shop.town; where shop.town in 'Lund'/'Bergen'"),
            ("revenue of Lund and of Bergen", "revenue; by shop.town; where shop.town in 'Lund'/'Bergen'"),
            ("shops in Lund: total number?", "count shop; where shop.town = 'Lund'"),
            ("revenue including big sales", "revenue"),
        ],
    );
}

#[test]
fn numbers_of_what_there_is_must_be_those_of_the_data() {
    check(
        &bakery(),
        &[
            ("revenue for each of the three shops", "revenue; by shop.shop_name"),
            ("revenue of the three shops", "revenue; by shop.shop_name"),
            ("revenue of the four shops", "cannot four, shops"),
            ("revenue of both shops", "cannot shops"),
        ],
    );
}

#[test]
fn what_a_question_is_about_may_come_first() {
    check(
        &bakery(),
        &[
            ("Lund: what is the average basket?", "average_basket; where shop.town = 'Lund'"),
            ("Looking only at online sales, what is the revenue?", "revenue; where sale.channel = 'online'"),
            ("Ada Berg made how many purchases?", "count sale; where customer.full_name = 'Ada Berg'"),
        ],
    );
}

#[test]
fn amounts_are_of_one_currency() {
    let bakery = bakery();
    for question in ["sales over 20 dollars", "shops with revenue over 20 USD", "revenue in dollars"] {
        assert!(bakery.said(question).starts_with("cannot"), "{question}: {}", bakery.said(question));
    }
}

#[test]
fn light_words_with_a_meaning_of_their_own_are_not_passed_over() {
    let bakery = bakery();
    for question in [
        "which shops lie",
        "how much money did we lose in 2024",
        "how much money went out in 2024",
        "revenue by shop, Harbour included",
        "shops more than 5 miles away",
        "revenue in terms of happiness",
        "which shops are on the moon",
    ] {
        assert!(!matches!(bakery.ask(question), Outcome::Plan(_)), "{question}: {}", bakery.said(question));
    }
}

fn asked(outcome: &Outcome) -> &crate::model::reading::Clarification {
    match outcome {
        Outcome::Clarify(asked) => &asked[0],
        other => panic!("{}", shown::outcome(other)),
    }
}

#[test]
fn a_question_with_one_strange_word_is_offered_without_it() {
    let bakery = bakery();
    let outcome = bakery.ask("approved revenue by shop");
    let open = asked(&outcome);
    assert!(open.question.starts_with("“approved” is not known here and would be left out."), "{}", open.question);
    assert!(open.question.contains("Revenue by shop"), "{}", open.question);
    let values: Vec<&str> = open.options.iter().map(|option| option.value.as_str()).collect();
    assert_eq!(values, ["revenue by shop", "approved revenue by shop"]);
    // Who does not answer is not answered.
    assert_eq!(open.assumption, open.options[1].label);
    let answer = |value: &str| {
        let chosen = vec![Chosen { key: open.key.clone(), value: value.into() }];
        bakery.ask_in("approved revenue by shop", &Context { chosen, ..context() })
    };
    assert_eq!(shown::outcome(&answer(values[0])), "revenue; by shop.shop_name");
    assert_eq!(shown::outcome(&answer(values[1])), "cannot approved");
    // It goes on from another question just as well.
    let Outcome::Plan(before) = bakery.ask("revenue by shop") else { panic!() };
    let previous = vec![Turn { question: "revenue by shop".into(), plan: before.plan }];
    let outcome = bakery.ask_in("and the approved revenue in Lund?", &Context { previous, ..context() });
    assert!(asked(&outcome).question.contains("“approved”"), "{}", asked(&outcome).question);
    for (reply, value) in [("yes", values[0]), ("no", values[1]), ("1", values[0]), ("revenue by shop", values[0])] {
        let chosen = choose(reply, std::slice::from_ref(open)).unwrap_or_default();
        assert_eq!(chosen.iter().map(|one| one.value.as_str()).collect::<Vec<_>>(), [value], "{reply}");
    }
}

#[test]
fn words_that_tell_are_never_offered_to_be_left_out() {
    check(
        &bakery(),
        &[
            // What is grouped by, counted, or looked for.
            ("revenue by planet", "cannot planet"),
            ("how many unicorns do we have", "cannot unicorns"),
            ("revenue in Atlantis", "cannot Atlantis"),
            ("shops with windows", "cannot windows"),
            // Times, ends, negations, and what they may be misspelt for.
            ("revenue bevore 2024", "cannot bevore"),
            ("revenue of 7 cents", "cannot 7, cents"),
        ],
    );
}
