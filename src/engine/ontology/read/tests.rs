use super::*;
use crate::model::ontology::*;

const RICH: &str = include_str!("../../../../tests/data/ossie/insurance.yaml");

fn errors(text: &str) -> Vec<String> {
    let problems = read(text).map_or_else(|problems| problems, |document| document.warnings);
    let place = |at: Option<u32>| at.map_or("-".to_owned(), |at| at.to_string());
    problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|p| format!("{}:{} {} | {} {}", place(p.line), place(p.column), p.path, p.message, p.hint))
        .collect()
}

fn first(text: &str) -> String {
    errors(text).into_iter().next().unwrap_or_default()
}

/// A small flat document with a replaced part.
fn small(from: &str, to: &str) -> String {
    let text = "version: 0.2.0.dev0
name: shop
datasets:
  - name: orders
    source: orders
    primary_key: [id]
    fields:
      - name: id
        expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
        datatype: Integer
  - name: customers
    source: customers
relationships:
  - name: placed_by
    from: orders
    to: customers
    from_columns: [customer_id]
    to_columns: [id]
metrics:
  - name: order_count
    expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(*)}]}
";
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn every_key_of_the_profile_is_read() {
    let document = read(RICH).unwrap();
    let o = &document.ontology;
    assert_eq!(o.name, "acme_insurance");
    assert_eq!(o.ai.examples, ["How many claims do we have?"]);
    let calendar = Calendar { timezone: "Europe/Berlin".into(), week_start: 7, fiscal_year_start: 7 };
    assert_eq!((&o.calendar, o.currency.as_deref()), (&calendar, Some("USD")));
    assert_eq!(o.default_time_window.as_deref(), Some("last 12 months"));
    assert_eq!(o.segments[0].expression, "claim.status = 'O'");
    assert_eq!(o.glossary[0].means, "loss_amount");
    assert_eq!(o.verified_queries[0].plan, Some(serde_json::json!({"metrics": ["claim_count"], "limit": 10})));
    let claim = o.entity("claim").unwrap();
    assert_eq!(claim.source, "claim");
    assert_eq!(claim.unique_keys, [["company_claim_number"]]);
    assert_eq!((claim.grain.as_deref(), claim.label_field.as_deref()), (Some("claim"), Some("company_claim_number")));
    let status = o.field("claim", "status").unwrap();
    assert_eq!(status.value_synonyms["O"], ["open", "pending"]);
    assert!(status.is_enum && status.index_values && !status.hidden);
    assert_eq!((status.role, status.nullable, status.pii.as_deref()), (FieldRole::Dimension, Some(true), None));
    let opened = o.field("claim", "claim_open_date").unwrap();
    assert_eq!((opened.datatype, opened.is_time), (DataType::Date, true));
    let amount = o.field("claim_amount", "amount").unwrap();
    assert_eq!((amount.datatype, amount.default_aggregation), (DataType::Decimal, Some(Aggregation::Sum)));
    assert_eq!((amount.unit.as_deref(), amount.unit_field.as_deref()), (Some("USD"), Some("kind")));
    let relationship = o.relationship("claim_amount_to_claim").unwrap();
    assert_eq!((relationship.cardinality, relationship.optional), (Cardinality::ManyToOne, false));
    assert_eq!((relationship.preferred, relationship.confidence), (true, Confidence::Verified));
    let metric = o.metric("loss_amount").unwrap();
    assert_eq!((&metric.additivity, metric.higher_is.as_deref()), (&Additivity::Additive, Some("worse")));
    assert_eq!(metric.filters, ["claim_amount.kind = 'loss'"]);
    assert_eq!(document.warnings, []);
}

#[test]
fn the_published_example_is_read() {
    let document = read(include_str!("../../../../tests/data/ossie/tpcds_semantic_model.yaml")).unwrap();
    let o = &document.ontology;
    assert_eq!(o.name, "tpcds_retail_model");
    assert_eq!((o.datasets.len(), o.relationships.len(), o.metrics.len()), (5, 4, 5));
    let sales = o.entity("store_sales").unwrap();
    assert_eq!((sales.source.as_str(), sales.primary_key.len()), ("store_sales", 2));
    assert!(o.relationships.iter().all(|relationship| relationship.cardinality == Cardinality::ManyToOne));
    assert_eq!(o.field("store_sales", "ss_item_sk").unwrap().role, FieldRole::Key);
    assert_eq!(o.field("store_sales", "ss_quantity").unwrap().role, FieldRole::Measure);
}

#[test]
fn every_mistake_is_named_with_its_place() {
    for (from, to, expected) in [
        (
            "    source: orders\n",
            "    sorce: orders\n",
            "5:5 datasets[0].sorce | The key `sorce` is unknown here. Write `source`, or remove it.",
        ),
        (
            "        datatype: Integer",
            "        datatype: integr",
            "10:19 datasets[0].fields[0].datatype | `integr` is not a value of `datatype`. Write `Integer`; allowed are String, Integer, Decimal, Float, Boolean, Date, Time, DateTime, DateTimeTz, Opaque.",
        ),
        ("name: shop", "name: 2024", "2:7 name | A text is expected here, not a number. Put it in quotes."),
        (
            "name: shop\n",
            "name: shop\nname: shop\n",
            "3:1  | The key `name` is written twice in this mapping. Keep one of them.",
        ),
        (
            "name: shop",
            "name: &a shop",
            "2:10  | Anchors and aliases are not read. Write the value out in both places; a text that begins with & or * needs quotes.",
        ),
        (
            "name: shop",
            "name: *a",
            "2:7  | Anchors and aliases are not read. Write the value out in both places; a text that begins with & or * needs quotes.",
        ),
        (
            "name: shop",
            "name: !env shop",
            "2:12  | Tags are not read. Remove it; a text that begins with ! needs quotes.",
        ),
        (
            "version: 0.2.0.dev0",
            "version: 3.0",
            "1:10 version | The version `3.0` is not known. Write `0.2.0.dev0`; 0.1.1 is read too.",
        ),
        (
            "    to: customers",
            "    to: customer",
            "16:9 relationships[0].to | There is no dataset `customer`. Write `customers`, or add the dataset.",
        ),
        (
            "from_columns: [customer_id]",
            "from_columns: [a, b]",
            "18:17 relationships[0].to_columns | `from_columns` has 2 columns and `to_columns` 1. Columns go together in pairs.",
        ),
        (
            "  - name: customers",
            "  - name: Orders",
            "11:11 datasets[1].name | There are two datasets named `Orders`: this one and number 1. Rename one of them; case makes no difference.",
        ),
        (
            "expression: COUNT(*)",
            "expression: ''",
            "21:61 metrics[0].expression.dialects[0].expression | `expression` is empty. Write it out.",
        ),
        (
            "ANSI_SQL, expression: COUNT",
            "SNOWFLAKE, expression: COUNT",
            "21:17 metrics[0].expression | There is no expression that can be read here, only one in SNOWFLAKE. Add one with `dialect: ANSI_SQL`.",
        ),
        (
            "ANSI_SQL, expression: COUNT",
            "ANSI, expression: COUNT",
            "21:39 metrics[0].expression.dialects[0].dialect | `ANSI` is not a dialect. Write one of DUCKDB, OSSIE_SQL_2026, ANSI_SQL.",
        ),
        (
            "    source: customers",
            "    source: SELECT 1",
            "12:13 datasets[1].source | A source must be a table; this is a query. Save the query's result as a dataset, and write the dataset's name here.",
        ),
        (
            "    primary_key: [id]",
            "    primary_key: id",
            "6:18 datasets[0].primary_key | A list is expected here, not a text. ",
        ),
        ("    from: orders\n", "", "14:5 relationships[0].from | `from` is missing. Add `from`."),
        ("metrics:\n", "metrics: [\n", "This is neither YAML nor JSON"),
    ] {
        let given = first(&small(from, to));
        assert!(given.contains(expected), "{to}\n  expected {expected}\n  given    {given}");
    }
}

#[test]
fn our_keys_are_a_closed_set_with_types() {
    let with = |data: &str| {
        let extension = format!("name: shop\ncustom_extensions: [{{vendor_name: DRAGOMAN, data: {data}}}]");
        first(&small("name: shop", &extension))
    };
    for (data, expected) in [
        ("{timezon: UTC}", "custom_extensions[0].data.timezon | The key `timezon` is unknown here. Write `timezone`"),
        ("{timezone: Berlin}", "custom_extensions[0].data.timezone | `Berlin` is not a time zone."),
        ("{week_start: 8}", "3:64 custom_extensions[0].data.week_start | This is not a day of the week."),
        ("{fiscal_year_start: 13}", "custom_extensions[0].data.fiscal_year_start | This is not a month."),
        ("{currency: euro}", "custom_extensions[0].data.currency | `euro` is not a currency."),
        ("{segments: [{name: a}]}", "custom_extensions[0].data.segments[0].expression | `expression` is missing."),
        ("'{\"timezon\": 1}'", "3:51 custom_extensions[0].data.timezon | The key `timezon` is unknown here."),
        ("'{timezone: UTC}'", "custom_extensions[0].data | `data` is not JSON"),
        ("[1]", "custom_extensions[0].data | A text with JSON or a mapping is expected here, not a list."),
    ] {
        let given = with(data);
        assert!(given.contains(expected), "{data}\n  expected {expected}\n  given    {given}");
    }
    assert_eq!(with("{timezone: Asia/Tokyo, week_start: 1, fiscal_year_start: 12}"), "");
}

#[test]
fn limits_hold() {
    let deep = format!("a: {}1{}", "[".repeat(65), "]".repeat(65));
    assert!(first(&deep).contains("nested deeper than 64"), "{}", first(&deep));
    assert!(first(&"x".repeat(MAX_BYTES + 1)).contains("has 10485761 bytes"));
    let many = format!("a: [{}]", "1,".repeat(MAX_NODES));
    assert!(first(&many).contains("more than 1000000 values"), "{}", first(&many));
    let name = format!("name: {}", "x".repeat(MAX_NAME + 1));
    assert!(first(&small("name: shop", &name)).contains("2:7 name | This text has 129 characters; at most 128"));
    let relationship = "  - {name: placed_by, from: orders, to: customers, from_columns: [a], to_columns: [b]}\n";
    let many = format!("relationships:\n{}", relationship.repeat(MAX_RELATIONSHIPS + 1));
    assert!(errors(&small("relationships:\n", &many)).iter().any(|error| error.contains("at most 5000")));
    assert!(first("").contains("empty"));
    assert!(first("a: 1\n---\nb: 2\n").contains("A second document begins here."));
}

#[test]
fn a_bomb_of_aliases_is_refused_at_its_first_anchor() {
    let bomb = "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    assert_eq!(errors(bomb).len(), 1);
    assert!(first(bomb).starts_with("1:7"), "{}", first(bomb));
}

#[test]
fn json_is_read_with_the_same_places() {
    let text = "{\"version\": \"0.2.0.dev0\", \"name\": \"caf\\u00e9 \\ud83d\\ude00\",\n \"datasets\": [{\"name\": \"a\", \"source\": \"a\"}]}";
    assert_eq!(read(text).unwrap().ontology.name, "café 😀");
    let wrong = text.replace("\"source\"", "\"sauce\"");
    assert!(errors(&wrong).iter().any(|error| error.starts_with("2:29 datasets[0].sauce")), "{:?}", errors(&wrong));
}

#[test]
fn a_hand_written_dataset_without_a_version_is_read() {
    let text =
        "name: orders\ndescription: Customer orders\nsource:\n  table: public.orders\nfields:\n  - name: order_id
    type: number\n    description: Unique order identifier\n    source_column: order_no\n  - name: order_date
    type: date\n    source_column: order_date\n";
    assert_eq!(errors(text), [""; 0]);
    let document = read(text).unwrap();
    let orders = document.ontology.entity("orders").unwrap();
    assert_eq!(orders.source, "orders");
    assert_eq!((orders.fields[0].expression.as_str(), orders.fields[0].datatype), ("order_no", DataType::Decimal));
    assert_eq!((orders.fields[0].role, orders.fields[1].is_time), (FieldRole::Key, true));
    assert_eq!(document.warnings.len(), 1);
    // With a version the same keys are unknown.
    let strict = errors(&format!("version: 0.2.0.dev0\n{text}"));
    assert!(strict.iter().any(|error| error.contains("The key `fields` is unknown here.")), "{strict:?}");
}

#[test]
fn keys_that_other_writers_put_into_ai_context_are_understood() {
    let text = "semantic_model:
  - name: shop
    datasets:
      - name: orders
        label: Purchases
        source: db.public.orders
        fields:
          - name: id
            expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}
            ai_context: {data_type: integer, native_type: int8, is_nullable: false, is_primary_key: true, sample_data: [1, 2]}
";
    let document = read(text).unwrap();
    let orders = document.ontology.entity("orders").unwrap();
    assert_eq!(orders.primary_key, ["id"]);
    assert_eq!(orders.ai.synonyms, ["Purchases"]);
    let id = &orders.fields[0];
    assert_eq!((id.native_type.as_deref(), id.nullable, id.datatype), (Some("int8"), Some(false), DataType::Integer));
}

#[test]
fn cardinality_follows_from_the_keys_of_both_sides() {
    let cardinality = |from: &str, to: &str| {
        let document = read(&small(from, to)).unwrap();
        let relationship = document.ontology.relationships[0].clone();
        (relationship.from, relationship.cardinality, document.warnings.len())
    };
    let customers = "    source: customers\n";
    let keyed = "    source: customers\n    primary_key: [id]\n";
    assert_eq!(cardinality(customers, keyed), ("orders".into(), Cardinality::ManyToOne, 0));
    // Nothing is known of customers.id: many to many, with a warning.
    assert_eq!(cardinality(customers, customers), ("orders".into(), Cardinality::ManyToMany, 1));
    // orders.id is a key, customers' column is not: customers are the many side.
    assert_eq!(cardinality("[customer_id]", "[id]"), ("customers".into(), Cardinality::ManyToOne, 1));
}

#[test]
fn paths_find_their_lines() {
    let document = read(RICH).unwrap();
    let line = |path: &str| {
        let at = document.locate(path);
        RICH.lines().nth(at.line as usize - 1).unwrap()[at.column as usize - 1..].to_owned()
    };
    assert_eq!(line("datasets[0].source"), "acme.public.claim");
    assert!(line("segments[0].expression").starts_with("\"claim.status = 'O'\""));
    assert_eq!(line("datasets[0].label_field"), "company_claim_number");
    assert_eq!(line("datasets[0].fields[0].no_such_key"), "name: claim_identifier");
    // Inside a string the whole string is the place.
    assert!(line("datasets[1].fields[3].default_aggregation").starts_with("name: amount"));
    let problems = document.place(vec![Problem::error("metrics[0].name", "x", "")]);
    assert_eq!(RICH.lines().nth(problems[0].line.unwrap() as usize - 1).unwrap(), "  - name: claim_count");
}

#[test]
fn models_of_other_tools_are_told_apart() {
    let text = include_str!("../../../../tests/data/semantic/cube.yaml");
    assert_eq!(errors(text).len(), 1);
    assert!(first(text).contains("cubes | This is no Ossie document"), "{}", first(text));
}

#[test]
fn types_of_engines_are_known() {
    for (native, datatype) in [
        ("BIGINT", DataType::Integer),
        ("DECIMAL(18,3)", DataType::Decimal),
        ("DECIMAL(18,0)", DataType::Integer),
        ("number", DataType::Decimal),
        ("DOUBLE PRECISION", DataType::Float),
        ("varchar(20)", DataType::String),
        ("LowCardinality(Nullable(String))", DataType::String),
        ("Nullable(DateTime64(3))", DataType::DateTime),
        ("TIMESTAMP WITH TIME ZONE", DataType::DateTimeTz),
        ("TIMESTAMP(6) WITH TIME ZONE", DataType::DateTimeTz),
        ("TIMESTAMP", DataType::DateTime),
        ("VARCHAR[]", DataType::Opaque),
        ("GEOMETRY", DataType::Opaque),
    ] {
        assert_eq!(datatype_of(native), datatype, "{native}");
    }
}
