//! What people say in passing: the owner of a share, a state on a day, days of the week, a year in front, a count at
//! the end.

use crate::model::reading::Turn;

use super::*;

#[test]
fn the_owner_of_a_share_is_the_part() {
    check(
        &bakery(),
        &[
            ("Lund's share of the sales", "(count sale [shop.town = 'Lund'] / count sale)"),
            (
                "What is Lund's share of the online sales?",
                "(count sale [shop.town = 'Lund'] / count sale); where sale.channel = 'online'",
            ),
            ("what share of revenue is loaves sold", "(loaves_sold / revenue)"),
            ("how much of the revenue came from Lund, as a percentage?", "(revenue [shop.town = 'Lund'] / revenue)"),
        ],
    );
}

#[test]
fn a_state_on_a_day_had_begun_and_had_not_ended() {
    let open = "all(van_trip.left_at within ..2025-06-11, \
                any(van_trip.returned_at is null, van_trip.returned_at within 2025-06-11..))";
    check(
        &bakery(),
        &[
            ("how many trips were open on 10 June 2025", &format!("count van_trip; where {open}")),
            // Of a longer time it is not said at which day of it.
            ("how many trips were open in June 2025", "cannot"),
            ("how many open trips", "count van_trip; where open trips"),
        ],
    );
}

#[test]
fn days_of_the_week_come_again_every_week() {
    check(
        &bakery(),
        &[
            ("how many sales on Saturdays", "count sale; where sale.sold_on on [6]"),
            ("revenue on a Sunday in Lund", "revenue; where sale.sold_on on [7], shop.town = 'Lund'"),
            ("revenue at weekends", "revenue; where sale.sold_on on [6, 7]"),
            (
                "revenue on Saturdays compared to Mondays",
                "revenue; by sale.sold_on:DayOfWeek; where sale.sold_on on [1, 6]",
            ),
            ("revenue on weekends vs weekdays", "cannot"),
            (
                "customers who joined on Fridays",
                "list customer: customer.full_name, customer.customer_id; where customer.joined_on on [5]",
            ),
        ],
    );
}

#[test]
fn a_year_may_stand_in_front() {
    check(
        &bakery(),
        &[
            ("2024 revenue by shop", "revenue; by shop.shop_name; time 2024-01-01..2025-01-01"),
            ("how many 2023 sales", "count sale; time 2023-01-01..2024-01-01"),
            ("shops with revenue over 2024", "list shop: shop.shop_name; where shop: revenue > 2024"),
            // Not yet: it is a number.
            ("2090 revenue", "cannot 2090"),
            ("revenue on June 3 and 4 2024", "revenue; time 2024-06-03..2024-06-05"),
        ],
    );
}

#[test]
fn what_is_counted_may_be_said_before_or_after() {
    check(
        &bakery(),
        &[
            ("sales in Lund. How many?", "count sale; where shop.town = 'Lund'"),
            ("customers with no sales - how many are there?", "count customer; where customer has no sale()"),
            ("top 2 shops by big sales", "count sale; by shop.shop_name; where big sales; order m0 desc; first 2"),
            ("Which 2 shops had the most sales?", "count sale; by shop.shop_name; order m0 desc; first 2"),
            ("shops with more than 5 sales and the number", "count sale; by shop.shop_name; having m0 > 5"),
            // Shops have no time: it is that of the sales.
            (
                "shops with more than 5 sales in 2024",
                "list shop: shop.shop_name; where shop: count sale [sale.sold_on within 2024-01-01..2025-01-01] > 5",
            ),
        ],
    );
}

#[test]
fn the_time_behind_a_bound_is_that_of_the_bound_too() {
    check(
        &bakery(),
        &[(
            "loaves sold of shops with more than 5 sales in 2024",
            "loaves_sold; where shop: count sale [sale.sold_on within 2024-01-01..2025-01-01] > 5; \
             time 2024-01-01..2025-01-01",
        )],
    );
}

#[test]
fn the_worst_of_a_field_is_what_its_metrics_say() {
    check(
        &bakery(),
        &[
            ("worst departure delay", "max van_trip.dep_delay"),
            ("best departure delay", "min van_trip.dep_delay"),
            ("worst floor area", "cannot"),
        ],
    );
}

#[test]
fn the_others_are_those_that_were_left_out() {
    let bakery = bakery();
    let talk = |first: &str, second: &str| {
        let Outcome::Plan(reading) = bakery.ask(first) else { panic!("{first}") };
        let turn = Turn { question: first.into(), plan: reading.plan };
        shown::outcome(&bakery.ask_in(second, &Context { previous: vec![turn], ..context() }))
    };
    let with = "count customer; where customer has sale()";
    assert_eq!(talk("how many customers with no sales", "and of those with sales?"), with);
    assert_eq!(talk("how many customers in SE", "and of those with sales?"), "cannot");
    // One count stands for another, and so does the condition that said what was counted.
    let sales = "count sale; by shop.shop_name; order m0 desc; first 2";
    assert_eq!(talk("top 2 shops by big sales", "same for sales"), sales);
}
