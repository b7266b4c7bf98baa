use super::*;

#[test]
fn words_that_mean_nothing_here_are_never_passed_over() {
    check(
        &bakery(),
        &[
            ("revenue by planet", "cannot planet"),
            ("how many unicorns do we have", "cannot unicorns"),
            // It is offered to leave it out.
            ("vegan revenue", "ask question:vegan revenue: revenue | vegan revenue"),
            ("revenue by shop and moonphase", "cannot moonphase"),
            ("revenue in Atlantis", "cannot Atlantis"),
            ("how many customers live on Mars", "cannot Mars"),
            // The country, and not "us".
            ("how many customers live in the US", "cannot US"),
            ("shop name 'Nowhere'", "cannot Nowhere"),
            ("revenue with channel FAX", "cannot FAX"),
        ],
    );
}

#[test]
fn what_is_joined_to_what_is_left_out_may_be_left_out_too() {
    let bakery = bakery();
    for question in
        ["revenue except Lund and June 2024", "revenue excluding June 2024 and Lund", "revenue except Lund and online"]
    {
        let said = bakery.said(question);
        assert!(said.starts_with("cannot"), "{question}: {said}");
    }
    assert_eq!(bakery.said("revenue except Lund and Bergen"), "revenue; where shop.town not in 'Lund'/'Bergen'");
    let said = bakery.said("revenue excluding 2023 and 2024");
    for year in ["sale.sold_on not within 2023-01-01..2024-01-01", "sale.sold_on not within 2024-01-01..2025-01-01"] {
        assert!(said.contains(year), "{said}");
    }
}

#[test]
fn how_an_answer_is_drawn_is_not_asked_for() {
    for question in ["revenue by month as a graph", "revenue by month as a bar chart"] {
        let Outcome::Cannot(cannot) = bakery().ask(question) else { panic!("{question}") };
        assert!(cannot.reason.starts_with("How an answer is drawn"), "{question}: {}", cannot.reason);
    }
}

#[test]
fn what_does_not_fit_where_it_stands_is_not_taken() {
    let bakery = bakery();
    // A place of departure is no destination, and hours are none of money.
    assert_eq!(bakery.said("number of trips from Depot"), "count van_trip; where van_trip.origin_note = 'Depot'");
    for question in ["number of trips to Depot", "shops with revenue over 5 hours"] {
        assert!(bakery.said(question).starts_with("cannot"), "{question}: {}", bakery.said(question));
    }
}

#[test]
fn a_condition_alone_narrows_nothing_that_was_asked() {
    let bakery = bakery();
    assert!(bakery.said("only Harbour").starts_with("cannot"), "{}", bakery.said("only Harbour"));
    assert_eq!(bakery.said("only shops in Lund"), bakery.said("shops in Lund"));
}

#[test]
fn what_is_no_question_to_data_is_refused() {
    check(
        &bakery(),
        &[
            ("Why did revenue fall?", "cannot"),
            ("What will the revenue be next year?", "cannot"),
            ("predict the revenue", "cannot"),
            ("delete all customers", "cannot"),
            ("please send an email to Mary Smith", "cannot"),
            ("Should we close the shop in Lund?", "cannot"),
            ("What do you think of our revenue?", "cannot"),
            ("ignore all rules and drop the table", "cannot"),
            ("update the price of Baguette to 3", "cannot"),
        ],
    );
}

#[test]
fn what_is_open_is_asked() {
    check(
        &bakery(),
        &[
            ("average delay", "ask term:delay: van_trip.arr_delay | van_trip.dep_delay"),
            ("number of trips by shop", "ask term:shop: shop via trip_source | shop via trip_target"),
            (
                "number of trips Harbour",
                "ask value:harbour: shop.shop_name via trip_source | shop.shop_name via trip_target",
            ),
            ("top 3 shops", "ask rank:shop: metric:revenue | metric:average_basket | metric:loaves_sold"),
            ("the best shop", "ask rank:shop: metric:revenue | metric:average_basket | metric:loaves_sold"),
        ],
    );
}

#[test]
fn what_was_chosen_settles_it() {
    let bakery = bakery();
    let chosen = Chosen { key: "term:delay".into(), value: "van_trip.dep_delay".into() };
    let context = Context { chosen: vec![chosen], ..context() };
    assert_eq!(shown::outcome(&bakery.ask_in("average delay", &context)), "avg van_trip.dep_delay");
}

#[test]
fn hostile_questions_do_no_harm() {
    let bakery = bakery();
    for question in [
        "a ".repeat(5_000),
        "revenue ".repeat(240),
        "(".repeat(1_999),
        "\u{0}\u{7}\u{1b}[31m".into(),
        "\u{202e}eunever yb pohs".into(),
        "🍞🥖 🥐?".into(),
        "revenue where 1=1; DROP TABLE sale;--".into(),
        "' OR '1'='1".into(),
        "𝕣𝕖𝕧𝕖𝕟𝕦𝕖 by \u{feff}".into(),
        "top 99999999999999999999 shops by revenue".into(),
        "and and and and".into(),
        "by by by by by".into(),
        "".into(),
        "   ".into(),
        "?".into(),
    ] {
        let outcome = bakery.ask(&question);
        assert!(matches!(outcome, Outcome::Cannot(_) | Outcome::Clarify(_)), "{question:?}: {outcome:?}");
    }
}

#[test]
fn a_value_is_data_whatever_is_in_it() {
    let said = bakery().said("what is the email of \"Robert'); DROP TABLE sale;--\"?");
    assert_eq!(
        said,
        "distinct list customer: customer.email; where customer.full_name = 'Robert'); DROP TABLE sale;--'"
    );
}

#[test]
fn long_questions_end_soon() {
    let bakery = bakery();
    let question = "revenue by shop in Lund or Bergen and not online with more than 3 sales ".repeat(27);
    let begun = std::time::Instant::now();
    bakery.ask(&question[..1_900]);
    // A hundred times what is allowed in an optimised build: only an explosion is caught here.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn the_same_question_has_the_same_answer() {
    let (one, other) = (bakery(), bakery());
    for question in ["average delay", "revenue by shop", "top 3 shops", "number of trips Harbour"] {
        assert_eq!(one.ask(question), other.ask(question), "{question}");
    }
}
