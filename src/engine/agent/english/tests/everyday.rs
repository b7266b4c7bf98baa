//! Values that are everyday words, and words of commands and deeds that are values.

use super::*;

fn with_channels(channels: &[&str]) -> Bakery {
    let bakery = bakery();
    let values = vec![
        known("sale", "channel", channels),
        known("shop", "shop_name", &["North Lane", "Harbour", "Castle Hill"]),
        known("bread", "title", &["Rye Loaf", "Baguette"]),
    ];
    Bakery { lexicon: Lexicon::build(&bakery.ontology, &values), ..bakery }
}

#[test]
fn states_of_everyday_words_are_conditions() {
    check(
        &with_channels(&["counter", "on hold", "to do", "in use", "done", "unknown"]),
        &[
            ("How many sales are on hold?", "count sale; where sale.channel = 'on hold'"),
            ("How many sales are to do?", "count sale; where sale.channel = 'to do'"),
            ("How many sales are in use?", "count sale; where sale.channel = 'in use'"),
            ("number of sales with channel on hold", "count sale; where sale.channel = 'on hold'"),
            ("How many sales are done?", "count sale; where sale.channel = 'done'"),
            ("number of sales with channel done", "count sale; where sale.channel = 'done'"),
            ("number of sales with channel unknown", "count sale; where sale.channel = 'unknown'"),
        ],
    );
}

#[test]
fn words_of_the_grammar_stay_what_they_are() {
    check(
        &with_channels(&["counter", "all", "other", "and", "here"]),
        &[
            ("number of all sales by channel and shop", "count sale; by sale.channel, shop.shop_name"),
            ("number of sales by channel", "count sale; by sale.channel"),
            ("how many sales are there", "count sale"),
        ],
    );
    // A field without a value of that name has none where it is unknown.
    let said = with_channels(&["counter", "online"]).said("number of sales with channel unknown");
    assert_eq!(said, "count sale; where sale.channel is null");
}

#[test]
fn what_is_said_of_a_thing_is_no_command() {
    check(
        &with_channels(&["counter", "insert", "mail"]),
        &[
            ("insert sales by shop", "count sale; by shop.shop_name; where sale.channel = 'insert'"),
            ("mail sales by shop", "count sale; by shop.shop_name; where sale.channel = 'mail'"),
            ("insert customers", "cannot"),
            ("mail Harbour", "cannot"),
        ],
    );
}

#[test]
fn a_value_of_one_letter_is_no_article() {
    let an_a = "where sale.channel = 'A'";
    check(
        &with_channels(&["A", "B", "counter"]),
        &[
            ("number of sales with an A", &format!("count sale; {an_a}")),
            ("how many sales got an A", &format!("count sale; {an_a}")),
            (
                "customers with an A",
                "list customer: customer.full_name, customer.customer_id; where customer has sale(sale.channel = 'A')",
            ),
            ("How many A channels?", &format!("count sale; {an_a}")),
            ("B channels by shop", "count sale; by shop.shop_name; where sale.channel = 'B'"),
        ],
    );
}
