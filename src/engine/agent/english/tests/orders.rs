//! Orders, extremes, and which of several is the first, the last, the most.

use super::*;
use crate::model::reading::Turn;

#[test]
fn adjectives_say_an_order() {
    check(
        &bakery(),
        &[
            ("list the breads by price, cheapest first", "list bread: bread.title, bread.price; order d1"),
            ("breads by price, most expensive first", "list bread: bread.title, bread.price; order d1 desc"),
            ("breads from most expensive to cheapest", "list bread: bread.title, bread.price; order d1 desc"),
            ("list the breads from most to least expensive", "list bread: bread.title, bread.price; order d1 desc"),
            ("rank the shops from most to least sales", "count sale; by shop.shop_name; order m0 desc"),
            ("list the breads, starting with the cheapest", "list bread: bread.title, bread.price; order d1"),
            ("list the breads, lowest price first", "list bread: bread.title, bread.price; order d1"),
            ("breads, heaviest at the bottom", "list bread: bread.title, bread.weight; order d1"),
            ("revenue by shop, smallest at the top", "revenue; by shop.shop_name; order m0"),
            ("revenue by shop from high to low", "revenue; by shop.shop_name; order m0 desc"),
            ("revenue by month, latest first", "revenue; by sale.sold_on:Month; order d0 desc"),
            ("shops sorted by revenue in descending order", "revenue; by shop.shop_name; order m0 desc"),
            ("Sort the shops by number of sales, biggest to smallest", "count sale; by shop.shop_name; order m0 desc"),
            ("Rank the shops by revenue, lowest at the top", "revenue; by shop.shop_name; order m0"),
            (
                "customers, most recently joined first",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2 desc",
            ),
            (
                "List the customers, the one that joined most recently first",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2 desc",
            ),
            (
                "list the customers from oldest to newest",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2",
            ),
        ],
    );
}

#[test]
fn which_end_is_the_better_one_is_for_the_ontology_to_say() {
    check(
        &bakery(),
        &[
            (
                "mean departure delay by month, worst first",
                "mean_departure_delay; by van_trip.left_at:Month; order m0 desc",
            ),
            ("mean departure delay by month, best first", "mean_departure_delay; by van_trip.left_at:Month; order m0"),
            ("revenue by shop, best to worst", "revenue; by shop.shop_name; order m0 desc"),
            ("average basket by shop, best first", "ask better:best: highest | lowest"),
        ],
    );
}

#[test]
fn what_has_no_such_order_is_refused() {
    check(
        &bakery(),
        &[
            // Shops have no time, and the months of their sales are not shown.
            ("revenue by shop, newest first", "cannot"),
            // The two that are picked stand in the order in which they were picked.
            ("top 2 shops by revenue, lowest first", "cannot"),
            ("list the breads from cheapest to cheapest", "cannot cheapest"),
        ],
    );
}

#[test]
fn superlatives_stand_behind_what_they_are_said_of() {
    check(
        &bakery(),
        &[
            ("in which month was revenue lowest", "revenue; by sale.sold_on:Month; order m0; first 1 with ties"),
            ("the year revenue was highest", "revenue; by sale.sold_on:Year; order m0 desc; first 1 with ties"),
            ("in what quarter did sales peak", "count sale; by sale.sold_on:Quarter; order m0 desc; first 1 with ties"),
            (
                "which day of the week is busiest for sales",
                "count sale; by sale.sold_on:DayOfWeek; order m0 desc; first 1 with ties",
            ),
            ("which town's shops have the highest revenue", "revenue; by shop.town; order m0 desc; first 1 with ties"),
            ("when was revenue highest", "ask when:highest: month | day | week | year"),
            (
                "which town has the largest shops on average",
                "avg shop.floor_area; by shop.town; order m0 desc; first 1 with ties",
            ),
        ],
    );
}

#[test]
fn more_than_any_other_is_the_most() {
    check(
        &bakery(),
        &[
            (
                "which shop had more revenue than any other shop in 2024",
                "revenue; by shop.shop_name; time 2024-01-01..2025-01-01; order m0 desc; first 1 with ties",
            ),
            ("which town has fewer shops than all others", "count shop; by shop.town; order m0; first 1 with ties"),
            // No other shop is meant, but other things.
            ("which shop had more revenue than any other customer", "cannot customer"),
        ],
    );
}

#[test]
fn what_is_done_most_is_the_number_of_that_name() {
    check(
        &bakery(),
        &[
            ("which shop sold the most units", "loaves_sold; by shop.shop_name; order m0 desc; first 1 with ties"),
            (
                "in which month did we sell the fewest units",
                "loaves_sold; by sale.sold_on:Month; order m0; first 1 with ties",
            ),
            // How much, or how often: nothing says it.
            ("which shop sold the most", "ask rank:shop: metric:revenue | metric:average_basket | metric:loaves_sold"),
        ],
    );
}

#[test]
fn the_last_is_that_of_the_latest_time() {
    check(
        &bakery(),
        &[
            (
                "which customer joined last",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2 desc; first 1 with ties",
            ),
            (
                "which customer was the first to join",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2; first 1 with ties",
            ),
            (
                "the 3 most recently joined customers",
                "list customer: customer.full_name, customer.customer_id, customer.joined_on; order d2 desc; first 3",
            ),
            ("the last 3 sales", "list sale: sale.sale_id, sale.sold_on; order d1 desc; first 3"),
            ("the latest date of sale", "max sale.sold_on"),
            (
                "on what day was the largest sale",
                "list sale: sale.sold_on:Day, sale.sale_id, sale.amount; order d2 desc; first 1 with ties",
            ),
            // The number of the latest row, and not the greatest.
            ("latest amount", "list sale: sale.amount, sale.sold_on; order d1 desc; first 1 with ties"),
            ("latest revenue", "cannot"),
            ("latest weight", "cannot"),
            ("which shop has the latest amount", "cannot"),
            // Each of them has a first one of its own.
            ("which customers made their first sale in 2024", "cannot sale"),
        ],
    );
}

#[test]
fn units_of_time_are_picked_by_their_numbers() {
    check(
        &bakery(),
        &[
            ("days with more than 20 sales", "count sale; by sale.sold_on:Day; having m0 > 20"),
            ("in which months was revenue over 5000", "revenue; by sale.sold_on:Month; having m0 > 5000"),
            (
                "months of 2024 with more than 20 sales",
                "count sale; by sale.sold_on:Month; time sale.sold_on 2024-01-01..2025-01-01; having m0 > 20",
            ),
            ("in which months did we sell more than 40 units", "loaves_sold; by sale.sold_on:Month; having m0 > 40"),
            ("months in which we had fewer than 3 sales", "count sale; by sale.sold_on:Month; having m0 < 3"),
        ],
    );
}

#[test]
fn what_is_shown_anyway_may_be_asked_for_again() {
    let most = "count sale; by shop.shop_name; order m0 desc; first 1 with ties";
    check(
        &bakery(),
        &[
            ("which shop has the most sales, and how many?", most),
            ("which shop has the most sales and how many sales is that?", most),
            (
                "which bread is the heaviest and how many grams is it",
                "list bread: bread.title, bread.weight; order d1 desc; first 1 with ties",
            ),
            // Weights are in grams.
            ("which bread is the heaviest and how many minutes is it", "cannot"),
            (
                "how expensive is the most expensive bread",
                "list bread: bread.title, bread.price; order d1 desc; first 1 with ties",
            ),
            ("towns with at least 2 shops and how many they have", "count shop; by shop.town; having m0 >= 2"),
            (
                "the largest sale, and when was it?",
                "list sale: sale.sale_id, sale.sold_on, sale.amount; order d2 desc; first 1 with ties",
            ),
            // A sale is of a shop and of a customer.
            ("the largest sale, and who made it?", "cannot"),
        ],
    );
}

#[test]
fn the_answer_before_is_divided_and_sorted() {
    let bakery = bakery();
    for (first, then, expected) in [
        ("revenue", "break that down by channel", "revenue; by sale.channel"),
        ("revenue by shop", "can you split it by month please", "revenue; by shop.shop_name, sale.sold_on:Month"),
        ("revenue", "in which towns?", "revenue; by shop.town"),
        ("revenue by shop", "lowest first", "revenue; by shop.shop_name; order m0"),
        ("revenue by shop", "sort it by shop", "revenue; by shop.shop_name; order d0"),
        ("revenue by shop", "sort by revenue descending", "revenue; by shop.shop_name; order m0 desc"),
        ("list the breads", "sort them by price", "list bread: bread.title, bread.price; order d1"),
        // The two that were picked are no others in another order.
        ("top 2 shops by revenue", "lowest first", "cannot"),
        ("revenue by shop", "sort it by number of sales", "cannot"),
        ("list the breads", "break that down by flour", "cannot"),
    ] {
        let Outcome::Plan(reading) = bakery.ask(first) else { panic!("{first}") };
        let previous = vec![Turn { question: first.into(), plan: reading.plan }];
        let said = shown::outcome(&bakery.ask_in(then, &Context { previous, ..context() }));
        assert_eq!(said, expected, "{first} / {then}");
    }
    for alone in ["break that down by channel", "in which towns?"] {
        assert_eq!(bakery.said(alone), "cannot", "{alone}");
    }
}

#[test]
fn adjectives_are_found_behind_their_superlatives() {
    for (superlative, positive) in [("windiest", "windy"), ("hottest", "hot"), ("coldest", "cold"), ("wettest", "wet")]
    {
        let found = vocabulary::positives(superlative);
        assert!(found.iter().any(|one| one == positive), "{superlative}: {found:?}");
    }
    assert!(vocabulary::positives("best").is_empty());
}
