//! The language over an invented shop.

mod arbitrary;
mod dialects;
mod wrong;

use jiff::civil::{DateTime, date};

use super::problem::Problem;
use super::read;
use crate::model::ontology::{Additivity, DataType, Entity, Field, FieldRole, Metric, Ontology, Relationship, Segment};
use crate::model::plan::Plan;
use crate::model::query::Query;

fn now() -> DateTime {
    date(2026, 11, 22).at(10, 30, 0, 0)
}

fn field(name: &str, datatype: DataType) -> Field {
    let role = if datatype.is_number() { FieldRole::Measure } else { FieldRole::Dimension };
    Field { name: name.into(), expression: name.into(), datatype, role, ..Field::default() }
}

fn entity(name: &str, fields: Vec<Field>) -> Entity {
    let key = Field { role: FieldRole::Key, ..field("id", DataType::Integer) };
    let fields = [key].into_iter().chain(fields).collect();
    Entity { name: name.into(), source: name.into(), primary_key: vec!["id".into()], fields, ..Entity::default() }
}

fn relationship(name: &str, from: &str, to: &str, role: Option<&str>) -> Relationship {
    Relationship {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        from_columns: vec![format!("{name}_id")],
        to_columns: vec!["id".into()],
        role: role.map(Into::into),
        ..Relationship::default()
    }
}

fn shop() -> Ontology {
    use DataType::{Boolean, Date, DateTime, Decimal, Float, Integer, String};
    let hidden = |field: Field| Field { hidden: true, ..field };
    let customer = Entity {
        label_field: Some("name".into()),
        default_time_field: Some("joined".into()),
        ..entity(
            "customer",
            vec![
                field("name", String),
                field("city", String),
                field("active", Boolean),
                field("joined", Date),
                field("score", Float),
                field("Odd \"name\"", String),
                field("password", String),
            ]
            .into_iter()
            .map(|it| if it.name == "password" { hidden(it) } else { it })
            .collect(),
        )
    };
    let order = Entity {
        default_time_field: Some("placed".into()),
        ..entity(
            "order",
            vec![
                field("placed", DateTime),
                field("shipped", Date),
                field("total", Decimal),
                field("discount", Decimal),
                field("status", String),
                field("gift", Boolean),
                field("by", String),
                field("FY2014", Float),
            ],
        )
    };
    let line = entity("order line", vec![field("quantity", Integer), field("price", Decimal)]);
    let product = Entity {
        label_field: Some("name".into()),
        ..entity("product", vec![field("name", String), field("list_price", Decimal)])
    };
    let address = entity("address", vec![field("city", String), field("country", String)]);
    let secret = Entity { hidden: true, ..entity("secret", vec![field("salary", Decimal)]) };
    let metric = |name: &str, expression: &str, additivity| Metric {
        name: name.into(),
        expression: expression.into(),
        additivity,
        ..Metric::default()
    };
    let mut orders = metric("orders", "COUNT(order.id)", Additivity::Additive);
    orders.ai.synonyms = vec!["number of orders".into()];
    Ontology {
        name: "shop".into(),
        datasets: vec![customer, order, line, product, address, secret],
        relationships: vec![
            relationship("placed_by", "order", "customer", None),
            relationship("line_of", "order line", "order", None),
            relationship("line_product", "order line", "product", None),
            relationship("bills", "order", "address", Some("billing")),
            relationship("ships", "order", "address", Some("delivery")),
        ],
        metrics: vec![
            metric("revenue", "SUM(order.total)", Additivity::Additive),
            metric("Net revenue", "SUM(order.total - order.discount)", Additivity::Additive),
            metric("average basket", "AVG(order.total)", Additivity::NonAdditive),
            orders,
        ],
        segments: ["late", "big orders"]
            .map(|name| Segment {
                name: name.into(),
                synonyms: if name == "late" { vec!["delayed".into()] } else { Vec::new() },
                expression: "order.total > 100".into(),
                datasets: vec!["order".into()],
            })
            .into(),
        ..Ontology::default()
    }
}

fn query(json: &str) -> Query {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn plan(json: &str) -> Plan {
    read(&query(json), &shop(), now()).unwrap_or_else(|problems| panic!("{json}: {problems:#?}"))
}

fn problems(json: &str) -> Vec<Problem> {
    read(&query(json), &shop(), now()).expect_err(json)
}
