use super::*;

#[test]
fn a_thing_without_a_time_took_part_in_what_has_one() {
    check(
        &bakery(),
        &[(
            "how many breads did Lund sell in May",
            "count bread; where bread has sale_line(shop.town = 'Lund', sale.sold_on within 2025-05-01..2025-06-01)",
        )],
    );
}

#[test]
fn a_time_alone_says_nothing_of_what_happened() {
    assert!(bakery().said("how many wheat breads did we have in May").starts_with("cannot"));
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

#[test]
fn times_without_agreed_ends_are_asked_about() {
    let bakery = bakery();
    for (question, options) in [
        ("revenue in summer", ["revenue from June to August", "revenue from June 21 to September 22"]),
        (
            "revenue by shop in the spring of 2024",
            ["revenue by shop from March to May 2024", "revenue by shop from March 20 to June 20 2024"],
        ),
        ("how many trips at night", ["how many trips between 10 pm and 6 am", "how many trips between 9 pm and 5 am"]),
        ("revenue at the end of May", ["revenue in the last 10 days of May", "revenue in the last week of May"]),
    ] {
        let outcome = plan(question, &bakery.lexicon, &bakery.ontology, &bakery.graph, &context());
        let Outcome::Clarify(asked) = outcome else { panic!("{question}: {outcome:?}") };
        let offered: Vec<&str> = asked[0].options.iter().map(|option| option.value.as_str()).collect();
        assert_eq!(offered, options, "{question}");
    }
    // A sale has no hour, and all of May ends with its end.
    assert_eq!(bakery.said("revenue in the morning"), "cannot morning");
    assert_eq!(bakery.said("revenue until the end of May"), "revenue; time ..2025-06-01");
}
