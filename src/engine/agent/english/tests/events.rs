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

#[test]
fn what_was_done_has_the_time_that_its_verb_names() {
    let borrowed = bakery_with(&[("label: date of sale", "label: borrowed on")], &[]);
    check(
        &borrowed,
        &[
            ("how many customers borrowed in 2024", "count customer; time sale.sold_on 2024-01-01..2025-01-01"),
            (
                "how many customers borrowed Baguette in 2024",
                "count customer; where customer has sale(sale has bread(bread.title = 'Baguette'), \
                 sale.sold_on within 2024-01-01..2025-01-01)",
            ),
            // What was done with sales goes without saying.
            ("how many sales borrowed in 2024", "count sale; time 2024-01-01..2025-01-01"),
        ],
    );
    let scanned = bakery_with(&[("label: date of sale", "label: scanned on")], &[]);
    check(
        &scanned,
        &[(
            "how many customers scanned a sale in 2024",
            "count customer; where customer has sale(sale.sold_on is not null, \
             sale.sold_on within 2024-01-01..2025-01-01)",
        )],
    );
    let handled = bakery_with(&[("label: return, ai_context: {synonyms: [trip end]}", "label: handled at")], &[]);
    check(
        &handled,
        &[(
            "how many trips were handled in May 2025",
            "count van_trip; time van_trip.returned_at 2025-05-01..2025-06-01",
        )],
    );
}

#[test]
fn a_state_with_a_time_is_the_date_of_it() {
    let paid = bakery_with(
        &[
            ("returned_at", "paid_at"),
            ("label: return, ai_context: {synonyms: [trip end]}", "label: paid at"),
            (
                "        - {name: open trips,",
                "        - {name: paid trips, synonyms: [paid], expression: van_trip.paid_at IS NOT NULL, \
                 datasets: [van_trip]}\n        - {name: open trips,",
            ),
        ],
        &[],
    );
    check(
        &paid,
        &[("how many trips were paid in May 2025", "count van_trip; time van_trip.paid_at 2025-05-01..2025-06-01")],
    );
}

/// The bakery where sales at the counter are settled, and have a day on which they were.
fn settled() -> Bakery {
    bakery_with(
        &[
            (
                "      - {name: amount, expression",
                "      - {name: settled_on, expression: {dialects: [{dialect: ANSI_SQL, expression: settled_on}]}, \
                 datatype: Date, label: settled on}\n      - {name: amount, expression",
            ),
            (
                "expression: channel}]}, datatype: String, custom_extensions: [{vendor_name: DRAGOMAN, \
                 data: {role: dimension,",
                "expression: channel}]}, datatype: String, custom_extensions: [{vendor_name: DRAGOMAN, \
                 data: {role: dimension, value_synonyms: {counter: [settled]},",
            ),
        ],
        &[],
    )
}

#[test]
fn the_time_of_a_state_is_the_date_that_is_called_like_it() {
    let settled = settled();
    check(
        &settled,
        &[
            (
                "how many sales settled in 2024",
                "count sale; where sale.channel = 'counter'; time sale.settled_on 2024-01-01..2025-01-01",
            ),
            ("settled sales by year", "count sale; by sale.settled_on:Year; where sale.channel = 'counter'"),
            (
                "customers with a sale that settled in 2024",
                "list customer: customer.full_name, customer.customer_id; where customer has \
                 sale(sale.channel = 'counter', sale.settled_on within 2024-01-01..2025-01-01)",
            ),
            ("how many online sales in 2024", "count sale; where sale.channel = 'online'; time 2024-01-01..2025-01-01"),
        ],
    );
    let Outcome::Plan(reading) = settled.ask("settled sales by year") else { panic!("no plan") };
    assert!(reading.assumptions.iter().any(|line| line.contains("settled on")), "{:?}", reading.assumptions);
}

#[test]
fn what_was_done_with_a_value_has_its_own_time() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            // Customers have the day on which they joined, and that is no time of what they used.
            (
                "how many customers used online in 2024",
                "count customer; where customer has sale(sale.channel = 'online', \
                 sale.sold_on within 2024-01-01..2025-01-01)",
            ),
            // Each sale is of one channel.
            (
                "how many sales used online in 2024",
                "count sale; where sale.channel = 'online'; time 2024-01-01..2025-01-01",
            ),
        ],
    );
    // What did not happen then may have happened at another time.
    let never = bakery.said("how many customers never used online in 2024");
    assert!(!never.starts_with("count"), "{never}");
}

#[test]
fn a_time_is_none_of_what_only_has_to_do_with_the_same() {
    let started = ("label: shop end date", "label: started");
    // Theirs is the beginning, whatever is called so elsewhere.
    let both = bakery_with(&[started, ("label: joined, ai_context: {synonyms: [join date]}", "label: begins on")], &[]);
    check(
        &both,
        &[("how many customers started in 2024", "count customer; time customer.joined_on 2024-01-01..2025-01-01")],
    );
    // Shops started, and customers have bought there.
    check(&bakery_with(&[started], &[]), &[("how many customers started in 2024", "cannot")]);
}

#[test]
fn what_may_be_a_time_or_a_name_is_not_guessed() {
    check(
        &bakery_with(&[], &["1984"]),
        &[("how many sales of 1984", "cannot"), ("how many sales in 1984", "count sale; time 1984-01-01..1985-01-01")],
    );
    let joined = "label: joined, ai_context: {synonyms: [join date]}";
    check(
        &bakery_with(&[(joined, "label: start date")], &[]),
        &[
            ("customers starting in 2024", "cannot"),
            ("number of sales starting in 2024", "count sale; time 2024-01-01.."),
        ],
    );
}
