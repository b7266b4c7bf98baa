use std::sync::Arc;

use super::{Renewed, renewed, text};
use crate::engine::ontology::diff::diff;
use crate::engine::ontology::read::read;
use crate::model::ontology::{Confidence, Link, Ontology};

/// As a person wrote it: names of their own, a comment, a description.
const STANDING: &str = r"version: 0.2.0.dev0
name: shop
# Ask Mara before you change what an order is.
datasets:
  - name: orders
    source: ord
    primary_key: [id]
    fields:
      - name: id
        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
        datatype: Integer
      - name: revenue   # gross
        expression: {dialects: [{dialect: ANSI_SQL, expression: amt}]}
        datatype: Decimal
        description: What the customer paid.

  - name: customers
    source: cust
    primary_key: [id]
    fields:
      - name: id
        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
        datatype: Integer
metrics:
  - name: orders_count
    expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(orders.id)}]}
";

/// As the tables look now.
const DRAFT: &str = r"version: 0.2.0.dev0
name: shop
datasets:
  - name: ord
    source: ord
    primary_key: [id]
    fields:
      - name: id
        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
        datatype: Integer
      - name: amt
        expression: {dialects: [{dialect: ANSI_SQL, expression: amt}]}
        datatype: Decimal
        description: The amount.
      - name: cust
        expression: {dialects: [{dialect: ANSI_SQL, expression: cust}]}
        datatype: Integer
  - name: cust
    source: cust
    primary_key: [id]
    fields:
      - name: id
        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
        datatype: Integer
  - name: returns
    source: returns
    fields:
      - name: ord
        expression: {dialects: [{dialect: ANSI_SQL, expression: ord}]}
        datatype: Integer
relationships:
  - {name: ord_to_cust, from: ord, to: cust, from_columns: [cust], to_columns: [id]}
  - {name: returns_to_ord, from: returns, to: ord, from_columns: [ord], to_columns: [id]}
metrics:
  - name: total_amount
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(ord.amt)}]}
";

fn read_of(text: &str) -> Ontology {
    read(text).unwrap_or_else(|problems| panic!("{problems:?}")).ontology
}

#[test]
fn where_nothing_is_new_nothing_changes() {
    let standing = read_of(STANDING);
    let Renewed { ontology, notes } = renewed(&standing, &[], &standing);
    assert_eq!((&ontology, notes), (&standing, Vec::new()));
    assert_eq!(text(STANDING, &standing, &ontology), (STANDING.to_owned(), true));
}

#[test]
fn what_is_new_comes_in_the_names_that_people_gave() {
    let standing = read_of(STANDING);
    let Renewed { ontology, notes } = renewed(&standing, &[], &read_of(DRAFT));
    let changes = diff(&standing, &ontology);
    assert_eq!(
        changes,
        [
            "The field `orders.cust` was added.",
            "The dataset `returns` was added.",
            "The relationship `ord_to_cust` was added.",
            "The relationship `returns_to_ord` was added.",
            "The metric `total_amount` was added.",
        ],
        "{notes:?}"
    );
    let [first, second] = ontology.relationships.as_slice() else { panic!() };
    assert_eq!((first.from.as_str(), first.to.as_str()), ("orders", "customers"));
    assert_eq!(second.to, "orders");
    assert_eq!(ontology.metrics[1].expression, "SUM(orders.revenue)");
    // What a person wrote wins over what the tables say.
    assert_eq!(ontology.field("orders", "revenue").unwrap().description, "What the customer paid.");
}

#[test]
fn the_text_keeps_comments_where_only_something_is_added() {
    let standing = read_of(STANDING);
    let mut draft = read_of(DRAFT);
    draft.relationships.clear();
    let made = renewed(&standing, &[], &draft).ontology;
    let (written, kept) = text(STANDING, &standing, &made);
    assert!(kept, "{written}");
    assert_eq!(read_of(&written), made);
    assert!(written.contains("# Ask Mara before") && written.contains("revenue   # gross"), "{written}");
    for line in STANDING.lines() {
        assert!(written.contains(line), "{line} is gone from {written}");
    }
    // There is no list of relationships to add to: it is written anew, and said.
    let whole = renewed(&standing, &[], &read_of(DRAFT)).ontology;
    let (written, kept) = text(STANDING, &standing, &whole);
    assert!(!kept);
    assert_eq!(read_of(&written), whole);
}

#[test]
fn what_was_taken_out_is_not_brought_again() {
    let earlier = Arc::new(renewed(&read_of(STANDING), &[], &read_of(DRAFT)).ontology);
    // A person removed a table, a field, a relationship and a metric.
    let standing = read_of(STANDING);
    let Renewed { ontology, notes } = renewed(&standing, &[earlier], &read_of(DRAFT));
    assert_eq!(diff(&standing, &ontology), [""; 0], "{notes:?}");
}

#[test]
fn what_does_not_hold_any_more_is_said_and_stays() {
    let standing = read_of(STANDING);
    let mut draft = read_of(DRAFT);
    draft.datasets[0].fields.retain(|field| field.name != "amt");
    draft.datasets[1].primary_key = vec!["code".into()];
    let Renewed { ontology, notes } = renewed(&standing, &[], &draft);
    assert!(ontology.field("orders", "revenue").is_some());
    assert_eq!(ontology.entity("customers").unwrap().primary_key, ["id"]);
    assert!(!ontology.metrics.iter().any(|metric| metric.name == "total_amount"), "it speaks of what is gone");
    assert_eq!(
        notes,
        [
            "The column amt of ord is gone: orders.revenue rests on it.",
            "customers is told apart by id here; its rows now suggest code.",
        ]
    );
}

#[test]
fn answers_of_now_go_before_what_stands() {
    let standing = renewed(&read_of(STANDING), &[], &read_of(DRAFT)).ontology;
    let link = |to: &str| Link {
        from: "ord".into(),
        from_columns: vec!["cust".into()],
        to: to.into(),
        to_columns: vec!["id".into()],
    };
    let mut draft = read_of(DRAFT);
    draft.relationships.remove(0);
    draft.refused.push(link("cust"));
    let refused = renewed(&standing, &[], &draft).ontology;
    assert_eq!(refused.refused, [Link { from: "orders".into(), to: "customers".into(), ..link("cust") }]);
    assert!(refused.relationship("ord_to_cust").is_none());
    // A draft that knows nothing of it does not bring it back; one in which it is confirmed does.
    let again = renewed(&refused, &[], &read_of(DRAFT)).ontology;
    assert!(again.relationship("ord_to_cust").is_none());
    let mut draft = read_of(DRAFT);
    draft.relationships[0].confidence = Confidence::Verified;
    let confirmed = renewed(&refused, &[], &draft).ontology;
    assert_eq!(confirmed.refused, []);
    assert_eq!(confirmed.relationship("ord_to_cust").unwrap().confidence, Confidence::Verified);
}
