//! Days between two dates, ranges of numbers, changes beside numbers, and bounds on means.

use super::*;

#[test]
fn days_between_two_dates_are_those_of_the_rows_that_have_both() {
    check(
        &bakery(),
        &[
            ("average days between departure and return", "avg days van_trip.left_at to van_trip.returned_at"),
            (
                "How many days are there on average from departure to return?",
                "avg days van_trip.left_at to van_trip.returned_at",
            ),
            ("longest time between departure and return", "max days van_trip.left_at to van_trip.returned_at"),
            // A sale has the date of its customer's joining; "sale" stands for its own date.
            ("average number of days from joining to the sale", "avg days customer.joined_on to sale.sold_on"),
            (
                "average days from joining to sale by shop",
                "avg days customer.joined_on to sale.sold_on; by shop.shop_name",
            ),
            (
                "median days from joining to sale in 2024",
                "median days customer.joined_on to sale.sold_on; time 2024-01-01..2025-01-01",
            ),
        ],
    );
}

/// Words that are near to those above and ask for something else.
#[test]
fn what_only_sounds_alike_is_declined() {
    let bakery = bakery();
    for question in [
        // The lease of a shop has an end only.
        "How long does each lease run?",
        "days between the sales",
        "how many days are there between sales on average?",
        // Within how many days of what?
        "trips that return within 3 days",
        // A sum and a mean.
        "how much higher is the revenue than the price?",
        "how many trips returned within 2 days of 1 March 2024?",
        // Texts and dates have no ranges, and nobody knows what is 5 euros wide in minutes.
        "number of sales by channel in groups of 3",
        "number of sales by queue time in bands of 5 euros",
        "number of sales by amount in bands of 0",
        "number of customers by decade",
        // Another unit than that of the numbers, or none at all.
        "revenue per month and the change from the year before",
        "revenue by shop and the change from the month before",
        // Points are a difference of parts.
        "by how many percentage points did revenue grow from 2023 to 2024?",
        "what is the difference between a shop and a customer?",
        "revenue with and without loyalty",
    ] {
        let said = bakery.said(question);
        assert!(said.starts_with("cannot"), "{question}: {said}");
    }
}

#[test]
fn what_happened_is_held_against_another_date() {
    let trips = "van_trip: avg days van_trip.left_at to van_trip.returned_at";
    check(
        &bakery(),
        &[
            (
                "how many trips returned more than 3 days after departure?",
                &format!("count van_trip; where {trips} > 3"),
            ),
            ("how many trips returned within 2 days?", &format!("count van_trip; where {trips} >= 0, {trips} <= 2")),
            (
                "how many trips returned within 2 days of departure?",
                &format!("count van_trip; where {trips} >= 0, {trips} <= 2"),
            ),
        ],
    );
}

#[test]
fn numbers_are_put_in_ranges() {
    check(
        &bakery(),
        &[
            ("number of sales by amount in bands of 10", "count sale; by sale.amount:10"),
            ("breads by price range of 2", "count bread; by bread.price:2"),
            ("number of sales by queue time in 15 minute steps", "count sale; by sale.queue_minutes:15"),
            ("number of sales by queue time in 15-minute buckets", "count sale; by sale.queue_minutes:15"),
            ("revenue by queue time in intervals of half an hour", "revenue; by sale.queue_minutes:30"),
            ("number of sales by queue time in ranges of 1 hour", "count sale; by sale.queue_minutes:60"),
            ("number of sales per 10 minutes of queue time", "count sale; by sale.queue_minutes:10"),
        ],
    );
}

#[test]
fn changes_stand_beside_the_numbers() {
    let monthly = "revenue, revenue as Change, revenue as ChangePercent; by sale.sold_on:Month";
    let grown = "revenue; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01";
    check(
        &bakery(),
        &[
            ("revenue per month and the change from the month before", monthly),
            ("monthly revenue with the difference to the previous month", monthly),
            ("revenue by month and how it changed", monthly),
            ("month to month change of revenue", monthly),
            ("How does revenue change from month to month?", monthly),
            ("By how many percent did revenue grow from 2023 to 2024?", grown),
            ("percentage increase in revenue from 2023 to 2024", grown),
            (
                "percentage change in revenue from March to April 2024",
                "revenue; time 2024-04-01..2024-05-01; beside 2024-03-01..2024-04-01",
            ),
            // Backwards: it is no change of one whole stretch against the one before it.
            ("percentage change in revenue from April to March 2024", "cannot"),
            ("revenue change between 2023 and 2024 in percent", grown),
            ("did revenue go up or down from 2023 to 2024?", grown),
            (
                "growth of revenue from 2023 to 2024 by shop",
                "revenue; by shop.shop_name; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01",
            ),
        ],
    );
}

#[test]
fn numbers_are_held_against_each_other() {
    let less = "(revenue - loaves_sold); by shop.shop_name";
    check(
        &bakery(),
        &[
            ("how much higher is the revenue than the loaves sold per shop?", less),
            ("For each shop, how much higher is the revenue than the loaves sold?", less),
            ("difference between revenue and loaves sold by shop", less),
            ("how much lower is loaves sold than revenue by shop", less),
        ],
    );
}

#[test]
fn bounds_on_means_are_not_bounds_on_rows() {
    check(
        &bakery(),
        &[
            (
                "shops whose sales are on average over 20 euros",
                "list shop: shop.shop_name; where shop: avg sale.amount > 20",
            ),
            (
                "shops with sales that are on average over 20 euros",
                "list shop: shop.shop_name; where shop: avg sale.amount > 20",
            ),
            (
                "average price of breads per flour, only flours with an average above 4",
                "avg bread.price; by bread.flour; having m0 > 4",
            ),
            (
                "shops with an average queue time above 10 minutes",
                "avg sale.queue_minutes; by shop.shop_name; having m0 > 10",
            ),
        ],
    );
}
