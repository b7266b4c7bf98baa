//! Readings whose plausible neighbours are wrong numbers: parts and wholes, the best and the worst, several times.

use super::*;

#[test]
fn the_part_of_a_share_is_told_from_its_whole() {
    check(
        &bakery(),
        &[
            // What stands beside the noun restricts the whole; the clause or verb says the part.
            (
                "percentage of sales over 20 euros that were online",
                "(count sale [sale.channel = 'online'] / count sale); where sale.amount > 20",
            ),
            (
                "what percentage of online sales were over 20 euros",
                "(count sale [sale.amount > 20] / count sale); where sale.channel = 'online'",
            ),
            ("what share of sales were online", "(count sale [sale.channel = 'online'] / count sale)"),
            (
                "what percentage of sales that were online were big sales",
                "(count sale [big sales] / count sale); where sale.channel = 'online'",
            ),
            (
                "what share of sales were online in 2024",
                "(count sale [sale.channel = 'online'] / count sale); time 2024-01-01..2025-01-01",
            ),
            // Of which whole, nobody can know.
            ("percentage of online sales in Lund by customer", "cannot"),
            ("what percentage of sales were online in Lund", "ask share:in lund: whole | part"),
        ],
    );
}

#[test]
fn best_and_worst_are_what_the_ontology_says() {
    check(
        &bakery(),
        &[
            ("best shop by revenue", "revenue; by shop.shop_name; order m0 desc; first 1 with ties"),
            ("worst shop by revenue", "revenue; by shop.shop_name; order m0; first 1 with ties"),
            ("worst month for revenue", "revenue; by sale.sold_on:Month; order m0; first 1 with ties"),
            // Of delays more is worse.
            (
                "worst month by mean departure delay",
                "mean_departure_delay; by van_trip.left_at:Month; order m0 desc; first 1 with ties",
            ),
            (
                "best 2 months by mean departure delay",
                "mean_departure_delay; by van_trip.left_at:Month; order m0; first 2",
            ),
            // Nothing says whether more of these is better.
            ("best shop by loaves sold", "ask better:best: highest | lowest"),
            // Of two that are named, the better one.
            (
                "which shop has better revenue, Harbour or Castle Hill",
                "revenue; by shop.shop_name; where shop.shop_name in 'Harbour'/'Castle Hill'; order m0 desc; first 1 \
                 with ties",
            ),
            // "top" and "bottom" are about numbers alone.
            (
                "top 3 months by mean departure delay",
                "mean_departure_delay; by van_trip.left_at:Month; order m0 desc; first 3",
            ),
        ],
    );
}

#[test]
fn an_answer_says_which_of_highest_and_lowest_is_best() {
    let bakery = bakery();
    let chosen = crate::model::reading::Chosen { key: "better:best".into(), value: "lowest".into() };
    let answered = bakery.ask_in("best shop by loaves sold", &Context { chosen: vec![chosen], ..context() });
    assert_eq!(shown::outcome(&answered), "loaves_sold; by shop.shop_name; order m0; first 1 with ties");
}

#[test]
fn the_highest_of_nothing_is_no_total() {
    for question in ["largest revenue", "highest revenue", "worst revenue in 2024", "highest average basket"] {
        let said = bakery().said(question);
        assert!(said.starts_with("cannot"), "{question}: {said}");
    }
}

#[test]
fn several_times_are_any_of_them() {
    check(
        &bakery(),
        &[
            ("revenue in 2023 and 2024", "revenue; time 2023-01-01..2025-01-01"),
            ("revenue in Q1 and Q2 of 2024", "revenue; time 2024-01-01..2024-07-01"),
            (
                "revenue in January or March 2024",
                "revenue; where any(sale.sold_on within 2024-01-01..2024-02-01, sale.sold_on within 2024-03-01..2024-04-01)",
            ),
            (
                "revenue in 2021, 2022 and 2024",
                "revenue; where any(sale.sold_on within 2021-01-01..2023-01-01, sale.sold_on within 2024-01-01..2025-01-01)",
            ),
            (
                "customers who joined in 2022 and 2024",
                "list customer: customer.full_name, customer.customer_id; where any(customer.joined_on within \
                 2022-01-01..2023-01-01, customer.joined_on within 2024-01-01..2025-01-01)",
            ),
            ("revenue in each of 2023 and 2024", "revenue; by sale.sold_on:Year; time 2023-01-01..2025-01-01"),
            ("compare revenue in 2023 and 2024", "revenue; time 2023-01-01..2024-01-01; beside 2024-01-01..2025-01-01"),
            // Joined by nothing, they must have something in common.
            ("revenue in March 2023 in 2024", "cannot"),
        ],
    );
}

#[test]
fn who_did_something_in_two_years_may_have_done_it_in_both_or_in_either() {
    let bakery = bakery();
    let said = bakery.said("customers who bought in 2023 and 2024");
    assert!(said.starts_with("cannot"), "{said}");
}

#[test]
fn a_second_number_is_asked_for_like_the_first() {
    check(
        &bakery(),
        &[
            ("revenue and loaves sold by shop", "revenue, loaves_sold; by shop.shop_name"),
            ("total points of the turnover", "cannot turnover"),
        ],
    );
}

#[test]
fn averages_are_over_what_is_named() {
    check(
        &bakery(),
        &[
            ("revenue per month on average", "avg of (revenue) over sale.sold_on:month"),
            ("on average, how many sales are there per day", "avg of (count sale) over sale.sold_on:day"),
            ("average monthly revenue", "avg of (revenue) over sale.sold_on:month"),
            (
                "how many sales does the average customer have",
                "avg of (count sale) over customer.full_name, customer.customer_id",
            ),
        ],
    );
}

#[test]
fn growth_is_beside_the_time_before() {
    check(
        &bakery(),
        &[("how much did revenue grow in 2024", "revenue; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01")],
    );
}

#[test]
fn a_month_without_a_year_is_one_that_the_data_have() {
    let bakery = bakery();
    let extent = Extent { first: jiff::civil::date(2012, 1, 1), last: jiff::civil::date(2013, 9, 30) };
    let within = Context { extent: Some(extent), ..context() };
    let Outcome::Plan(reading) = bakery.ask_in("revenue in March", &within) else { panic!("no plan") };
    let window = reading.plan.time.map(|time| time.window).unwrap();
    assert_eq!((window.start.as_deref(), window.end.as_deref()), (Some("2013-03-01"), Some("2013-04-01")));
    assert!(reading.assumptions.iter().any(|said| said.contains("30 Sep 2013")), "{:?}", reading.assumptions);
    // Of 2013, because in November 2013 there are no data.
    assert_eq!(shown::outcome(&bakery.ask_in("revenue in November", &within)), "revenue; time 2012-11-01..2012-12-01");
    // What is said of now, and a year that is said, stay.
    assert_eq!(shown::outcome(&bakery.ask_in("revenue last month", &within)), "revenue; time 2025-05-01..2025-06-01");
    assert_eq!(
        shown::outcome(&bakery.ask_in("revenue in March 2024", &within)),
        "revenue; time 2024-03-01..2024-04-01"
    );
}

#[test]
fn what_was_refused_is_never_suggested() {
    let Outcome::Cannot(cannot) = bakery().ask("total points of the turnover") else { panic!("no refusal") };
    assert!(!cannot.reason.contains("nothing"), "{}", cannot.reason);
    assert_eq!(cannot.instead, Vec::<String>::new());
}
