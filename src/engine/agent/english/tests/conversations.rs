use crate::model::reading::{Choice, Clarification, Turn};

use super::*;

#[test]
fn questions_go_on_from_the_one_before() {
    let bakery = bakery();
    for (questions, expected) in [
        (&["revenue", "and by channel?"][..], "revenue; by sale.channel"),
        (&["revenue by shop", "by channel"], "revenue; by sale.channel"),
        (&["revenue by shop", "also by channel"], "revenue; by shop.shop_name, sale.channel"),
        (&["revenue in 2023", "what about 2024?"], "revenue; time 2024-01-01..2025-01-01"),
        (&["revenue in Lund", "and Bergen?"], "revenue; where shop.town = 'Bergen'"),
        (&["revenue in Lund by channel", "same for Bergen"], "revenue; by sale.channel; where shop.town = 'Bergen'"),
        (&["revenue by shop", "only online"], "revenue; by shop.shop_name; where sale.channel = 'online'"),
        (&["revenue by shop", "top 2"], "revenue; by shop.shop_name; order m0 desc; first 2"),
        (&["top 3 shops by revenue", "top 2 instead"], "revenue; by shop.shop_name; order m0 desc; first 2"),
        (&["revenue by shop", "as a percentage"], "revenue as Share { within: [] }; by shop.shop_name"),
        (&["revenue by shop", "what about the number of sales?"], "count sale; by shop.shop_name"),
        (
            &["revenue by shop in 2024", "and in Lund?", "by month"],
            "revenue; by sale.sold_on:Month; where shop.town = 'Lund'; time 2024-01-01..2025-01-01",
        ),
        (&["revenue by shop", "why?"], "cannot"),
        (&["revenue by shop", "how many customers do we have"], "count customer"),
    ] {
        assert_eq!(talk(&bakery, questions), expected, "{questions:?}");
    }
    // With nothing before it, it is asked what is meant.
    let open = "ask question:what about bergen: revenue Bergen | average basket Bergen | loaves sold Bergen";
    assert_eq!(talk(&bakery, &["what about Bergen?"]), open);
}

#[test]
fn a_superlative_alone_names_the_end_of_the_ranking_before() {
    let bakery = bakery();
    for (first, ranking) in [
        ("which town has the largest shops on average", "avg shop.floor_area; by shop.town; order m0"),
        ("which shop sold the most units", "loaves_sold; by shop.shop_name; order m0"),
    ] {
        let (highest, lowest) = (format!("{ranking} desc; first 1 with ties"), format!("{ranking}; first 1 with ties"));
        assert_eq!(talk(&bakery, &[first]), highest);
        assert_eq!(talk(&bakery, &[first, "and the lowest"]), lowest);
        assert_eq!(talk(&bakery, &[first, "and the lowest", "and the highest?"]), highest);
    }
    // Where nothing is ranked, it is the number itself.
    assert_eq!(talk(&bakery, &["median price", "and the lowest"]), "min bread.price");
}

#[test]
fn what_narrows_an_answer_keeps_what_was_asked() {
    let bakery = bakery();
    for (questions, expected) in [
        (
            &["revenue in Lund by channel", "only Harbour"][..],
            "revenue; by sale.channel; where shop.town = 'Lund', shop.shop_name = 'Harbour'",
        ),
        (&["revenue in Lund by channel", "only Bergen"], "revenue; by sale.channel; where shop.town = 'Bergen'"),
        (
            &["revenue by shop", "exclude Harbour", "exclude Castle Hill"],
            "revenue; by shop.shop_name; where shop.shop_name != 'Harbour', shop.shop_name != 'Castle Hill'",
        ),
    ] {
        assert_eq!(talk(&bakery, questions), expected, "{questions:?}");
    }
}

#[test]
fn words_that_point_back_lose_nothing_of_what_they_point_to() {
    let bakery = bakery();
    for (first, then) in [
        ("shops in Lund", &["their revenue", "how many sales do they have", "how many of their sales were online"][..]),
        ("top 2 shops by revenue", &["which of them have sales?", "their average basket", "and their average basket"]),
        ("customers with no sales", &["their revenue", "list their sales"]),
        ("sales in June 2024", &["their shops", "and their shops"]),
        ("the heaviest bread", &["when was it?", "which flour is that?", "what bread was it?", "and?"]),
    ] {
        assert!(matches!(bakery.ask(first), Outcome::Plan(_)), "{first}");
        for then in then {
            let said = talk(&bakery, &[first, then]);
            assert!(said.starts_with("cannot"), "{first} / {then}: {said}");
        }
    }
    // With nothing before them they stand for nothing.
    for alone in ["their revenue", "how many sales do they have", "when was it?"] {
        assert!(!matches!(bakery.ask(alone), Outcome::Plan(_)), "{alone}: {}", bakery.said(alone));
    }
    let Outcome::Cannot(refused) = bakery.ask("their revenue") else { panic!("no refusal") };
    assert!(refused.reason.contains("“their”"), "{}", refused.reason);
    // What only conditions say is carried to another number, and what stands in the question itself is meant.
    for (questions, expected) in [
        (&["how many sales in Lund", "and their revenue"][..], "revenue; where shop.town = 'Lund'"),
        (&["revenue by shop", "which bread is the heaviest and how many grams is it"], HEAVIEST),
        (&["the largest sale, and when was it?", "and when?"], LARGEST),
    ] {
        assert_eq!(talk(&bakery, questions), expected, "{questions:?}");
    }
}

const HEAVIEST: &str = "list bread: bread.title, bread.weight; order d1 desc; first 1 with ties";
const LARGEST: &str = "list sale: sale.sale_id, sale.sold_on, sale.amount; order d2 desc; first 1 with ties";

#[test]
fn what_was_chosen_for_a_question_is_said_and_takes_no_question_that_goes_on_from_another() {
    let bakery = bakery();
    let chosen = Chosen { key: vague::key("what about Bergen?"), value: "average basket Bergen".into() };
    let mut context = Context { chosen: vec![chosen], ..context() };
    let notes = |outcome: &Outcome| match outcome {
        Outcome::Plan(reading) => reading.assumptions.clone(),
        other => panic!("{}", shown::outcome(other)),
    };
    let first = bakery.ask_in("what about Bergen?", &context);
    assert_eq!(shown::outcome(&first), "average_basket; where shop.town = 'Bergen'");
    let said = "Read as “average basket Bergen”, as it was chosen.".to_owned();
    assert!(notes(&first).contains(&said), "{:?}", notes(&first));
    let Outcome::Plan(revenue) = bakery.ask("revenue in Lund") else { panic!() };
    context.previous.push(Turn { question: "revenue in Lund".into(), plan: revenue.plan });
    let then = bakery.ask_in("what about Bergen?", &context);
    assert_eq!(shown::outcome(&then), "revenue; where shop.town = 'Bergen'");
    assert!(!notes(&then).contains(&said), "{:?}", notes(&then));
}

#[test]
fn the_usual_window_holds_where_no_time_is_named() {
    let bakery = bakery();
    let context = Context { default_window: Some("last year".into()), ..context() };
    assert_eq!(shown::outcome(&bakery.ask_in("revenue", &context)), "revenue; time 2024-01-01..2025-01-01");
    assert_eq!(shown::outcome(&bakery.ask_in("revenue in 2023", &context)), "revenue; time 2023-01-01..2024-01-01");
}

#[test]
fn replies_choose_among_options() {
    let option = |label: &str, value: &str| Choice { label: label.into(), value: value.into() };
    let question = Clarification {
        key: "term:delay".into(),
        question: String::new(),
        options: vec![option("departure delay", "trip.dep_delay"), option("arrival delay", "trip.arr_delay")],
        assumption: "departure delay".into(),
    };
    let one = |reply: &str| choose(reply, std::slice::from_ref(&question)).map(|chosen| chosen[0].value.clone());
    for (reply, value) in [
        ("1", "trip.dep_delay"),
        ("the second", "trip.arr_delay"),
        ("2nd please", "trip.arr_delay"),
        ("Arrival delay", "trip.arr_delay"),
        ("arrival", "trip.arr_delay"),
        ("I mean the departure delay", "trip.dep_delay"),
        ("departur delay", "trip.dep_delay"),
        ("the last", "trip.arr_delay"),
        ("trip.arr_delay", "trip.arr_delay"),
    ] {
        assert_eq!(one(reply).as_deref(), Some(value), "{reply}");
    }
    for reply in ["", "3", "delay", "something else", "revenue by shop"] {
        assert_eq!(one(reply), None, "{reply}");
    }
    let both = choose("first, arrival", &[question.clone(), question.clone()]).unwrap();
    assert_eq!([both[0].value.as_str(), both[1].value.as_str()], ["trip.dep_delay", "trip.arr_delay"]);
    assert_eq!(choose("first", &[question.clone(), question]), None);
}
