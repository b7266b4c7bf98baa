use super::*;

#[test]
fn clauses_are_read_as_phrases() {
    check(
        &bakery(),
        &[
            ("shops with North in the name", "list shop: shop.shop_name; where shop.shop_name Contains 'North'"),
            (
                "shops that have the word \"hill\" in their name",
                "list shop: shop.shop_name; where shop.shop_name Contains 'hill'",
            ),
            ("shops with more than 3 sales - how many are there?", "count shop; where shop: count sale > 3"),
            ("in how many shops are there more than 3 sales?", "count shop; where shop: count sale > 3"),
            ("what share of the revenue did each shop take?", "revenue as Share { within: [] }; by shop.shop_name"),
            (
                "by what percentage did revenue go up between 2023 and 2024?",
                "revenue; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01",
            ),
            ("channels per shop", "countdistinct sale.channel; by shop.shop_name"),
        ],
    );
}

#[test]
fn what_stands_behind_the_verb_of_a_clause_is_its_own() {
    let customers = "list customer: customer.full_name, customer.customer_id; where";
    let within = "sale.sold_on within 2023-01-01..2024-01-01";
    check(
        &bakery(),
        &[
            ("customers who purchased bread in 2023", &format!("{customers} customer has sale({within})")),
            ("customers who made a purchase in 2023", &format!("{customers} customer has sale({within})")),
            ("customers who never purchased bread in 2023", &format!("{customers} customer has no sale({within})")),
        ],
    );
}

#[test]
fn what_is_open_is_asked() {
    check(
        &bakery(),
        &[
            // The ontology says no usual way to take areas together.
            ("floor area by town", "ask how:floor area: average | total"),
            ("total floor area by town", "sum shop.floor_area; by shop.town"),
            // It is June 2025.
            ("revenue in 2030", "ask future:2030: year | all"),
            ("revenue in 2025", "revenue; time 2025-01-01..2026-01-01"),
        ],
    );
}

#[test]
fn an_answer_to_what_was_open_holds() {
    let bakery = bakery();
    let chosen = |question: &str, key: &str, value: &str| {
        let chosen = vec![Chosen { key: key.into(), value: value.into() }];
        shown::outcome(&bakery.ask_in(question, &Context { chosen, ..context() }))
    };
    assert_eq!(chosen("floor area by town", "how:floor area", "total"), "sum shop.floor_area; by shop.town");
    assert_eq!(chosen("floor area by town", "how:floor area", "average"), "avg shop.floor_area; by shop.town");
    assert_eq!(chosen("revenue in 2030", "future:2030", "all"), "revenue");
    assert_eq!(chosen("revenue in 2030", "future:2030", "year"), "revenue; time 2025-01-01..2026-01-01");
}

#[test]
fn bookings_of_times_to_come_are_numbers() {
    let extent = Extent { first: jiff::civil::date(2020, 1, 1), last: jiff::civil::date(2031, 1, 1) };
    let asked = bakery().ask_in("revenue in 2030", &Context { extent: Some(extent), ..context() });
    assert_eq!(shown::outcome(&asked), "revenue; time 2030-01-01..2031-01-01");
}

#[test]
fn what_no_row_can_be_is_refused() {
    let said = |question: &str| match bakery().ask(question) {
        Outcome::Cannot(cannot) => cannot.reason,
        other => panic!("{question}: {other:?}"),
    };
    assert!(said("shops in Lund and in Bergen").contains("one town only"));
    // A bread has this name, and no customer.
    assert!(said("customers called Baguette").contains("“Baguette” in the data"));
    // A part of the name of a shop says nothing of customers.
    assert!(said("revenue of Castle customers").contains("“Castle”"));
}

#[test]
fn longer_values_that_are_not_meant_are_said() {
    let ontology = read(include_str!("bakery.yaml")).unwrap().ontology;
    let values = vec![known("shop", "shop_name", &["Castle", "Castle Hill", "Old Castle"])];
    let bakery = Bakery { lexicon: Lexicon::build(&ontology, &values), graph: Graph::new(&ontology), ontology };
    let Outcome::Plan(reading) = bakery.ask("revenue of Castle") else { panic!("no plan") };
    assert_eq!(reading.assumptions, ["“Castle” alone is taken, without “Castle Hill”."]);
    let Outcome::Plan(reading) = bakery.ask("revenue of Castle Hill") else { panic!("no plan") };
    assert_eq!(reading.assumptions, Vec::<String>::new());
}

#[test]
fn some_of_the_rows_before_are_counted() {
    let bakery = bakery();
    let talk = |first: &str, second: &str| {
        let mut context = context();
        let Outcome::Plan(reading) = bakery.ask_in(first, &context) else { panic!("{first}") };
        context.previous.push(Turn { question: first.into(), plan: reading.plan });
        shown::outcome(&bakery.ask_in(second, &context))
    };
    let of = "count sale; where shop.town = 'Lund', sale.channel = 'online'";
    assert_eq!(talk("how many sales in Lund", "how many of them were online?"), of);
    // What held before holds still, even where both are said of one field.
    let both = "count customer; where customer.country = 'SE', customer has no sale()";
    assert_eq!(talk("list the Swedish customers", "and how many of those have no sales?"), both);
    assert!(talk("how many sales in 2023", "how many of them were in 2024?").starts_with("ask question:"));
}
