use super::*;

#[test]
fn a_condition_on_an_owner_is_about_all_of_its_rows() {
    let rye = "customer has sale(sale has bread(bread.title = 'Baguette'))";
    check(
        &bakery(),
        &[
            ("revenue from customers who purchased Baguette", &format!("revenue; where {rye}")),
            (
                "revenue from customers who never purchased Baguette",
                "revenue; where customer has no sale(sale has bread(bread.title = 'Baguette'))",
            ),
            (
                "revenue by country of customers who purchased Baguette",
                &format!("revenue; by customer.country; where {rye}"),
            ),
            ("average basket of customers with more than 3 sales", "average_basket; where customer: count sale > 3"),
            ("revenue from customers with sales in Lund", "revenue; where customer has sale(shop.town = 'Lund')"),
            ("revenue from customers", "revenue"),
            // The time may be that of the purchase or that of the revenue.
            ("revenue from customers who purchased Baguette in 2023", "ask when:2023: condition | number"),
        ],
    );
}

#[test]
fn sets_are_put_together_and_taken_apart() {
    let customers = "list customer: customer.full_name, customer.customer_id; where";
    let bought = |bread: &str| format!("customer has sale(sale has bread(bread.title = '{bread}'))");
    check(
        &bakery(),
        &[
            (
                "customers who purchased Baguette but not Rye Loaf",
                &format!(
                    "{customers} {}, customer has no sale(sale has bread(bread.title = 'Rye Loaf'))",
                    bought("Baguette")
                ),
            ),
            // Of different sales: no sale needs to have both.
            (
                "customers who purchased both Baguette and Rye Loaf",
                &format!("{customers} all({}), all({})", bought("Baguette"), bought("Rye Loaf")),
            ),
            ("customers who purchased Baguette and Rye Loaf", "ask and:baguette and rye loaf: each | any"),
            (
                "customers who purchased in 2023 but not in 2024",
                &format!(
                    "{customers} customer has sale(sale.sold_on within 2023-01-01..2024-01-01), \
                     customer has no sale(sale.sold_on within 2024-01-01..2025-01-01)"
                ),
            ),
            ("customers who purchased nothing", &format!("{customers} customer has no sale()")),
            ("customers who purchased more than 3 times", &format!("{customers} customer: count sale > 3")),
        ],
    );
}

#[test]
fn what_means_nothing_is_not_answered() {
    let said = |question: &str| match bakery().ask(question) {
        Outcome::Cannot(cannot) => cannot.reason,
        other => panic!("{question}: {other:?}"),
    };
    assert!(said("largest revenue").starts_with("“largest revenue” of what?"));
    let price = said("total price of the revenue");
    assert_eq!(price, "It is not clear what “revenue” has to do with the rest of the question.");
}

#[test]
fn a_way_that_was_taken_among_several_is_said() {
    let Outcome::Plan(reading) = bakery().ask("shops with no trips") else { panic!("no plan") };
    // A shop may be the origin or the destination of a trip.
    let said = &reading.assumptions;
    assert!(said.iter().any(|line| line.contains("could also go by") && line.contains("origin")), "{said:?}");
}

/// Vans of a bakery that only leave for shops.
#[test]
fn what_only_belongs_to_the_same_row_is_said_of_that_row() {
    let text: Vec<&str> =
        include_str!("bakery.yaml").lines().filter(|line| !line.contains("name: trip_source")).collect();
    let ontology = read(&text.join("\n")).unwrap().ontology;
    let lexicon = Lexicon::build(&ontology, &[known("van_trip", "origin_note", &["Depot"])]);
    let bakery = Bakery { lexicon, graph: Graph::new(&ontology), ontology };
    let told = "revenue; where shop has van_trip(van_trip.origin_note = 'Depot')";
    check(&bakery, &[("revenue of Depot", told)]);
}
