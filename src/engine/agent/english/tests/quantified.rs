use super::*;

const CUSTOMERS: &str = "list customer: customer.full_name, customer.customer_id; where";
const BAGUETTE: &str = "customer has sale(sale has bread(bread.title = 'Baguette'))";

#[test]
fn only_says_that_there_are_no_others() {
    // One who bought nothing did not buy only one bread.
    let only = format!("{CUSTOMERS} customer has no sale(sale has bread(bread.title not in 'Baguette')), {BAGUETTE}");
    let in_2023 = format!(
        "{CUSTOMERS} customer has no sale(sale.sold_on not within 2023-01-01..2024-01-01), \
         customer has sale(sale.sold_on within 2023-01-01..2024-01-01)"
    );
    check(
        &bakery(),
        &[
            ("customers who purchased only Baguette", &only),
            ("customers who only purchased Baguette", &only),
            ("customers who exclusively purchased Baguette", &only),
            ("customers who only purchased in 2023", &in_2023),
            // Of the numbers of things it is none.
            ("customers who purchased only once", &format!("{CUSTOMERS} customer: count sale = 1")),
        ],
    );
}

#[test]
fn what_cannot_be_said_of_all_is_refused() {
    let said = |question: &str| match bakery().ask(question) {
        Outcome::Cannot(cannot) => cannot.reason,
        other => panic!("{question}: {other:?}"),
    };
    assert!(said("customers who did not purchase only Baguette").contains("“only”"));
    assert!(said("customers who purchased in every shop").contains("all of them together"));
    assert!(said("customers who purchased all breads").contains("all of them together"));
    assert!(said("breads that only Ada Berg purchased").contains("“Only” is said of who did it"));
}

#[test]
fn different_ones_are_counted_among_the_rows_of_a_clause() {
    let across = |what: &str, rest: &str| format!("{CUSTOMERS} customer: countdistinct {what}{rest}");
    check(
        &bakery(),
        &[
            ("customers who purchased in at least 2 shops", &across("sale.shop_id", " >= 2")),
            ("customers who purchased in both shops", &across("sale.shop_id", " >= 2")),
            ("customers who purchased in all three shops", &across("sale.shop_id", " >= 3")),
            ("customers who purchased in more than 2 different towns", &across("shop.town", " > 2")),
            (
                "customers who purchased in at least 2 shops in 2024",
                &across("sale.shop_id [sale.sold_on within 2024-01-01..2025-01-01]", " >= 2"),
            ),
            (
                "how many customers purchased in at least 2 shops",
                "count customer; where customer: countdistinct sale.shop_id >= 2",
            ),
            ("customers who purchased at least 3 different breads", &across("sale_line.bread_id", " >= 3")),
            // Who bought in one shop at most did buy.
            (
                "customers who purchased in at most one shop",
                &format!("{CUSTOMERS} customer: countdistinct sale.shop_id <= 1, customer has sale()"),
            ),
            ("customers with only one sale", &format!("{CUSTOMERS} customer: count sale = 1")),
        ],
    );
    // A sale may be of several breads: neither its sales nor its breads are meant for certain.
    let Outcome::Cannot(cannot) = bakery().ask("customers who purchased more than 3 breads") else {
        panic!("no reason")
    };
    assert!(cannot.reason.contains("say “different” before it"), "{}", cannot.reason);
}

#[test]
fn both_neither_and_but_no_are_said_of_rows_of_their_own() {
    let year = |year: u16| format!("sale.sold_on within {year}-01-01..{}-01-01", year + 1);
    check(
        &bakery(),
        &[
            (
                "customers who purchased in both 2023 and 2024",
                &format!("{CUSTOMERS} customer has sale({}), all(customer has sale({}))", year(2023), year(2024)),
            ),
            (
                "customers who purchased neither Baguette nor Rye Loaf",
                &format!("{CUSTOMERS} customer has no sale(sale has bread(bread.title in 'Baguette'/'Rye Loaf'))"),
            ),
            ("revenue neither online nor in Lund", "revenue; where sale.channel != 'online', shop.town != 'Lund'"),
            (
                "how many shops are neither in Lund nor have sales",
                "count shop; where shop.town != 'Lund', shop has no sale()",
            ),
            (
                "who purchased in 2023 but not in 2024?",
                &format!("{CUSTOMERS} customer has sale({}), customer has no sale({})", year(2023), year(2024)),
            ),
            ("did anyone purchase Baguette?", &format!("{CUSTOMERS} {BAGUETTE}")),
            // What holds of the sales is said before the verb of the whole.
            (
                "how many of the customers who purchased Baguette are Swedish?",
                &format!("count customer; where {BAGUETTE}, customer.country = 'SE'"),
            ),
            (
                "shops other than Harbour with more than 5 sales",
                "list shop: shop.shop_name; where shop.shop_name != 'Harbour', shop: count sale > 5",
            ),
        ],
    );
}

#[test]
fn what_was_never_so_was_so_of_no_row() {
    check(
        &bakery(),
        &[
            // That all did is said by the share of those who did.
            ("have all customers purchased Baguette?", &format!("(count customer [{BAGUETTE}] / count customer)")),
            (
                "what share of customers purchased at least twice?",
                "(count customer [customer: count sale >= 2] / count customer)",
            ),
            ("customers with no big sales", &format!("{CUSTOMERS} customer has no sale(big sales)")),
            (
                "customers with only big sales",
                &format!("{CUSTOMERS} customer has no sale(not big sales), customer has sale(big sales)"),
            ),
            (
                "share of customers who have never purchased",
                "(count customer [customer has no sale()] / count customer)",
            ),
            (
                "what share of customers has ever purchased Baguette?",
                &format!("(count customer [{BAGUETTE}] / count customer)"),
            ),
        ],
    );
}

#[test]
fn fields_are_held_against_fields() {
    check(
        &bakery(),
        &[(
            "trips whose return is before the departure",
            "list van_trip: van_trip.trip_id; where van_trip.returned_at < van_trip.left_at",
        )],
    );
}

#[test]
fn questions_about_the_answer_before_change_it_in_one_place() {
    let bakery = bakery();
    let talk = |questions: &[&str]| talk(&bakery, questions);
    for (questions, expected) in [
        (&["how many customers purchased nothing", "who are they?"][..], format!("{CUSTOMERS} customer has no sale()")),
        (
            &["how many customers purchased nothing", "and how many did?"],
            "count customer; where customer has sale()".into(),
        ),
        (&["customers with no sales", "how many are there?"], "count customer; where customer has no sale()".into()),
        (&["customers with no sales", "the others"], format!("{CUSTOMERS} customer has sale()")),
        (&["customers with no sales", "and with?"], format!("{CUSTOMERS} customer has sale()")),
        (
            &["how many customers purchased Baguette", "what share is that?"],
            format!("(count customer [{BAGUETTE}] / count customer)"),
        ),
        (&["revenue by shop", "only those over 50"], "revenue; by shop.shop_name; having m0 > 50".into()),
        (
            &["revenue by shop", "only the ones over 50", "and those under 20"],
            "revenue; by shop.shop_name; having m0 < 20".into(),
        ),
        (
            &["customers who purchased in 2023 but not in 2024", "and the other way round"],
            format!(
                "{CUSTOMERS} customer has no sale(sale.sold_on within 2023-01-01..2024-01-01), \
                 customer has sale(sale.sold_on within 2024-01-01..2025-01-01)"
            ),
        ),
        (
            &["revenue by shop", "exclude Harbour"],
            "revenue; by shop.shop_name; where shop.shop_name != 'Harbour'".into(),
        ),
        (
            &["revenue by shop", "only those over 50", "the others"],
            "revenue; by shop.shop_name; having m0 <= 50".into(),
        ),
        (
            &["shops with more than 5 sales", "and with fewer than 3?"],
            "list shop: shop.shop_name; where shop: count sale < 3".into(),
        ),
        // Of two conditions it is not clear which the others lack, and of which the share is.
        (&["how many Swedish customers purchased nothing", "the others"], "cannot".into()),
        (&["how many Swedish customers purchased nothing", "as a percentage"], "cannot".into()),
        (&["revenue by shop", "only those over 50", "as a percentage"], "cannot".into()),
    ] {
        assert_eq!(talk(questions), expected, "{questions:?}");
    }
}
