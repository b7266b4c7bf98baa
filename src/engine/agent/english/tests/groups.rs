//! What numbers are grouped by, and what is counted, averaged or said of them instead.

use super::*;
use crate::model::ontology::{DataType, Metric};

#[test]
fn things_behind_by_are_counted_for_what_each_is_of() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            ("top 2 shops by sales", "count sale; by shop.shop_name; order m0 desc; first 2"),
            (
                "bottom 2 customers by sales",
                "count sale; by customer.full_name, customer.customer_id; order m0; first 2",
            ),
            // A line is of a sale, and the sale of a customer.
            (
                "top 2 customers by sale lines",
                "count sale_line; by customer.full_name, customer.customer_id; order m0 desc; first 2",
            ),
            ("shops by sales", "count sale; by shop.shop_name"),
        ],
    );
    // A sale has one customer: the number is 1 in every row.
    let said = bakery.said("number of customers by sale id");
    assert!(said.starts_with("cannot"), "{said}");
}

#[test]
fn kinds_alone_are_counted_for_what_they_are_divided_by() {
    let counted = "count sale; by shop.shop_name; where sale.channel = 'phone'";
    let asked = ["number of phones per shop", "phones per shop", "phones by shop", "phones for each shop"];
    check(&bakery(), &asked.map(|question| (question, counted)));
}

#[test]
fn rows_in_a_currency_are_what_they_come_to() {
    // Where all amounts are in one currency anyway, nobody needs to name it.
    let bakery = bakery_with(&[("      currency: EUR\n", "")], &[]);
    check(
        &bakery,
        &[
            ("phone sales per shop in EUR", "sum sale.amount; by shop.shop_name; where sale.channel = 'phone'"),
            ("phone sales per shop", "count sale; by shop.shop_name; where sale.channel = 'phone'"),
        ],
    );
    let said = bakery.said("revenue by shop in USD");
    assert!(!said.starts_with("revenue"), "amounts in one currency are none in another: {said}");
    let Outcome::Plan(reading) = bakery.ask("total sales by shop") else { panic!("no plan") };
    let counted = |line: &String| line.starts_with("“Total sales” is taken as how many there are");
    assert!(reading.assumptions.iter().any(counted), "{:?}", reading.assumptions);
}

#[test]
fn who_did_it_is_a_condition_where_it_is_said_who_that_is() {
    check(
        &bakery(),
        &[
            ("how many sales were made by customers from Sweden", "count sale; where customer.country = 'SE'"),
            ("number of sales made by customers from Sweden", "count sale; where customer.country = 'SE'"),
            ("how many sales by customers from Sweden", "count sale; where customer.country = 'SE'"),
            ("number of sales made by customers", "count sale; by customer.full_name, customer.customer_id"),
        ],
    );
}

#[test]
fn a_number_per_thing_by_what_the_thing_has_is_a_mean() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            (
                "sales per customer by country",
                "avg of (count sale) over customer.full_name, customer.customer_id; by customer.country",
            ),
            ("number of sales per shop by town", "avg of (count sale) over shop.shop_name; by shop.town"),
            ("revenue per shop by town", "avg of (revenue) over shop.shop_name; by shop.town"),
            // The shops by their names are the shops.
            ("number of sales per shop by shop name", "count sale; by shop.shop_name"),
            // Neither is the other's.
            ("number of sales per shop by channel", "count sale; by shop.shop_name, sale.channel"),
        ],
    );
    // It may be divided by the area.
    let said = bakery.said("number of sales per floor area");
    assert!(said.starts_with("cannot"), "{said}");
}

#[test]
fn the_average_of_one_is_no_number_of_them() {
    let bakery = bakery();
    check(&bakery, &[("average sales per shop", "avg of (count sale) over shop.shop_name")]);
    let said = bakery.said("average sale per shop");
    assert!(said.starts_with("cannot"), "{said}");
}

#[test]
fn rows_without_a_key_are_ranked_each_by_itself() {
    let mut bakery = bakery();
    let mut total = Metric {
        name: "total_floor_area".into(),
        expression: "SUM(shop.floor_area)".into(),
        datatype: DataType::Float,
        ..Metric::default()
    };
    total.ai.synonyms = vec!["floor area".into()];
    bakery.ontology.metrics.push(total);
    let shop = bakery.ontology.datasets.iter_mut().find(|entity| entity.name == "shop").unwrap();
    shop.primary_key.clear();
    shop.unique_keys.clear();
    bakery.lexicon = Lexicon::build(&bakery.ontology, &[]);
    bakery.graph = Graph::new(&bakery.ontology);
    // Two shops may have the same name.
    assert_eq!(
        bakery.said("which shop has the most floor area"),
        "list shop: shop.shop_name, shop.floor_area; order d1 desc; first 1 with ties"
    );
    assert_eq!(
        bakery.said("which shop has the most total floor area"),
        "total_floor_area; by shop.shop_name; order m0 desc; first 1 with ties"
    );
}
