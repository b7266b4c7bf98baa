use super::*;

#[test]
fn a_thing_without_a_time_took_part_in_what_has_one() {
    check(
        &bakery(),
        &[
            (
                "how many breads did Lund sell in May",
                "count bread; where bread has sale_line(shop.town = 'Lund', sale.sold_on within 2025-05-01..2025-06-01)",
            ),
            (
                "how many wheat breads did we have in May",
                "count bread; where bread has sale_line(sale.sold_on within 2025-05-01..2025-06-01), bread.flour = 'wheat'",
            ),
        ],
    );
}

#[test]
fn hours_are_those_of_a_time_of_the_day() {
    check(
        &bakery(),
        &[
            ("how many trips at 10 pm or later", "count van_trip; where van_trip.left_at at 22-24"),
            (
                "average departure delay between 6 and 9 am in May",
                "avg van_trip.dep_delay; where van_trip.left_at at 6-9; time 2025-05-01..2025-06-01",
            ),
            // A sale has a day, and no hour.
            ("how many sales after 3 pm", "cannot"),
            ("how many trips at 10 pm", "cannot 10, pm"),
        ],
    );
}
