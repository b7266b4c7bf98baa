use super::alike::Known;
use super::*;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{Entity, Field};
use crate::model::profile::{ColumnProfile, Profile};

fn tables() -> Vec<DraftTable> {
    let column = |name: &str| ColumnInfo {
        name: name.into(),
        r#type: "VARCHAR".into(),
        nullable: true,
        description: "as it was".into(),
        sample_values: vec![],
        ..ColumnInfo::default()
    };
    vec![DraftTable { name: "visits".into(), columns: vec![column("startedAt"), column("ward")], ..<_>::default() }]
}

#[test]
fn descriptions_are_read_of_csv_and_of_markdown() {
    let csv = "Table,Column,Description\nVisits,,\"Stays, by day\"\nvisits,started_at,\"When \"\"it\"\" began\"\n\
               visits,colour,x\nelephants,,y\n";
    let markdown = "| Table | Column | Description |\n|---|:-:|---|\n| Visits | | Stays, by day |\n\
                    | visits | `started_at` | When \"it\" began |\n| visits | colour | x |\n| elephants | | y |\n";
    for text in [csv, markdown] {
        let mut tables = tables();
        let missing = Dictionary::read(text).unwrap().tell(&mut tables);
        assert_eq!(tables[0].description, "Stays, by day");
        let told: Vec<&str> = tables[0].columns.iter().map(|column| column.description.as_str()).collect();
        assert_eq!(told, ["When \"it\" began", "as it was"]);
        assert_eq!(
            missing,
            [
                "The dictionary names a column colour of visits, which is not there.",
                "The dictionary names a table elephants, which is not there."
            ]
        );
    }
}

#[test]
fn synonyms_go_to_their_column_and_never_to_two() {
    let field = |name: &str| Field { name: name.into(), expression: name.into(), ..Field::default() };
    let visits = Entity {
        name: "visits".into(),
        source: "visits".into(),
        fields: vec![field("started_at"), field("ward")],
        ..Entity::default()
    };
    let mut ontology = Ontology { datasets: vec![visits], ..Ontology::default() };
    let text = "table,column,synonyms\nvisits,started_at,Begin; ward ;begin\nvisits,,Stays\n";
    Dictionary::read(text).unwrap().name(&mut ontology);
    assert_eq!(ontology.datasets[0].fields[0].ai.synonyms, ["begin"]);
    assert_eq!(ontology.datasets[0].ai.synonyms, ["stays"]);
    assert!(ontology.datasets[0].fields[1].ai.synonyms.is_empty());
}

#[test]
fn names_are_alike_apart_from_case_short_forms_number_and_gaps() {
    let names = Known::new(["cust_no", "Orders", "line item", "\"Net Amt\"", "lineitem", "orders2"].into_iter());
    for (name, at) in [
        ("CUST_NO", Some(0)),
        ("customer_number", Some(0)),
        ("order", Some(1)),
        ("LineItems", Some(2)),
        ("lineitem", Some(4)),
        ("net_amount", Some(3)),
        ("orders2", Some(5)),
        ("cust", None),
        ("", None),
    ] {
        assert_eq!(names.find(name), at, "{name}");
    }
}

#[test]
fn the_name_itself_is_found_before_those_that_are_like_it() {
    let columns = Known::new(["\"desc\"", "description", "orders", "order"].into_iter());
    for (name, at) in [("description", 1), ("desc", 0), ("order", 3), ("Orders", 2), ("descriptions", 0)] {
        assert_eq!(columns.find(name), Some(at), "{name}");
    }
}

#[test]
fn fields_that_are_more_than_a_column_are_found_by_their_names() {
    let field =
        |name: &str, expression: &str| Field { name: name.into(), expression: expression.into(), ..Field::default() };
    let visits = Entity {
        name: "visits".into(),
        source: "visits".into(),
        fields: vec![field("state", "CAST(state AS VARCHAR)"), field("year", "\"year\"")],
        ..Entity::default()
    };
    let mut ontology = Ontology { datasets: vec![visits], ..Ontology::default() };
    let text = "table,column,synonyms\nvisits,state,mood\nvisits,year,season\n";
    Dictionary::read(text).unwrap().name(&mut ontology);
    let synonyms: Vec<&[String]> = ontology.datasets[0].fields.iter().map(|it| it.ai.synonyms.as_slice()).collect();
    assert_eq!(synonyms, [["mood"], ["season"]]);
}

/// Each line compared with each table and column would take minutes.
#[test]
fn a_long_dictionary_of_many_tables_takes_little_time() {
    let table = |at: usize| DraftTable { name: format!("table_{at}"), ..tables().remove(0) };
    let mut tables: Vec<DraftTable> = (0..1_000).map(table).collect();
    let column = tables[0].columns[0].clone();
    tables[999].columns = (0..1_000).map(|at| ColumnInfo { name: format!("part_{at}"), ..column.clone() }).collect();
    let field = |at: usize| {
        let name = format!("part_{at}");
        Field { expression: name.clone(), name, ..Field::default() }
    };
    let parts = Entity {
        name: "parts".into(),
        source: "table_999".into(),
        fields: (0..1_000).map(field).collect(),
        ..Entity::default()
    };
    let mut ontology = Ontology { datasets: vec![parts], ..Ontology::default() };
    let line = |at: usize| format!("table_999,part_{},told,word {at}\n", at % 1_000);
    let text = (0..9_999).map(line).fold("table,column,description,synonyms\n".to_owned(), |text, line| text + &line);
    let dictionary = Dictionary::read(&text).unwrap();
    let begun = std::time::Instant::now();
    assert!(dictionary.tell(&mut tables).is_empty());
    dictionary.name(&mut ontology);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert!(tables[999].columns.iter().all(|column| column.description == "told"));
    assert_eq!(ontology.datasets[0].fields[999].ai.synonyms.len(), 9, "999, 1999 and so on to 8999");
    assert_eq!(ontology.datasets[0].fields[0].ai.synonyms.len(), 10);
}

#[test]
fn one_thing_has_only_so_many_other_names() {
    let entity = Entity { name: "visits".into(), source: "visits".into(), ..Entity::default() };
    let mut ontology = Ontology { datasets: vec![entity], ..Ontology::default() };
    let text = (0..100).map(|at| format!("visits,word {at}\n")).collect::<String>();
    Dictionary::read(&format!("table,synonyms\n{text}")).unwrap().name(&mut ontology);
    assert_eq!(ontology.datasets[0].ai.synonyms.len(), MAX_SYNONYMS);
}

#[test]
fn terms_are_words_of_the_house() {
    let read = Dictionary::read("term,means\nAOV,average order value\n,x\n").unwrap();
    assert_eq!(read.terms(), [Term { term: "AOV".into(), means: "average order value".into() }]);
}

#[test]
fn what_is_no_dictionary_is_refused_with_its_line() {
    for (text, says) in [
        ("a,b\n1,2", "The first line names the columns: table, column, description and synonyms, or term and means."),
        ("table,column\nvisits,ward", "The first line names the columns"),
        ("table,description\nvisits,\"open\n", "Line 2: a quotation mark is not closed."),
    ] {
        let error = Dictionary::read(text).unwrap_err();
        assert!(error.message.starts_with(says), "{}", error.message);
    }
    for (text, says) in [
        (
            "version: 2\nexposures: []",
            "Line 1: this has version, exposures. A dictionary in YAML or JSON is a schema.yml",
        ),
        ("{\"a\": 1}", "Line 1: this has a. "),
        ("[1]", "Line 1: this is a list. "),
        ("{\"fields\": [", "Line 1: This is neither YAML nor JSON"),
        ("models:\n  - description: x", "Line 2: A table needs a name"),
        ("models:\n  orders: {}", "Line 2: models is a list; this is a mapping."),
        (
            "models:\n  - name: a\n    columns:\n      - name: b\n        tests:\n          - relationships: {to: ref('c')}",
            "Line 6: relationships needs",
        ),
        ("{\"resources\": [{\"title\": \"x\"}]}", "Line 1: a resource needs `name` or `path`"),
        ("{\"fields\": [],\n\"foreignKeys\": [{\"fields\": \"a\"}]}", "Line 2: a foreign key needs `reference`"),
        (
            "{\"fields\": [], \"foreignKeys\": [{\"fields\": \"a\", \"reference\": {\"resource\": \"b\", \"fields\": [\"c\", \"d\"]}}]}",
            "Line 1: this foreign key has 1 fields here and 2 there.",
        ),
        ("{\"@context\": \"http://www.w3.org/ns/csvw\", \"tables\": [{}]}", "Line 1: a table needs `url`"),
        ("{\"tableSchema\": {\"columns\": [{}]}}", "Line 1: a column needs `name` or `titles`"),
    ] {
        let error = Dictionary::read(text).unwrap_err();
        assert!(error.message.starts_with(says), "{}", error.message);
    }
    assert!(Dictionary::read(&"x".repeat(MAX_BYTES + 1)).is_err());
    assert_eq!(Dictionary::read(" \n").unwrap(), Dictionary::default());
}

/// A table with these columns, each with so many different values in ten rows.
fn counted(name: &str, columns: &[(&str, i64)]) -> DraftTable {
    let info = |(name, _): &(&str, i64)| ColumnInfo {
        name: (*name).into(),
        r#type: "VARCHAR".into(),
        nullable: true,
        ..ColumnInfo::default()
    };
    let figures = |(name, distinct): &(&str, i64)| ColumnProfile {
        name: (*name).into(),
        r#type: "VARCHAR".into(),
        nulls: 0,
        distinct: *distinct,
        min: None,
        max: None,
        mean: None,
        median: None,
        not_finite: None,
        top_values: vec![],
        approximate: vec![],
        not_computed: vec![],
        likely_personal_data: None,
    };
    DraftTable {
        name: name.into(),
        columns: columns.iter().map(info).collect(),
        profile: Some(Profile { row_count: 10, sampled_rows: None, columns: columns.iter().map(figures).collect() }),
        row_count: 10,
        ..DraftTable::default()
    }
}

fn shop() -> Vec<DraftTable> {
    vec![
        counted("stg_customers", &[("customer_id", 10), ("email", 10), ("boss", 3)]),
        counted("orders", &[("ref", 10), ("line", 4), ("buyer", 5), ("status", 3), ("place", 10)]),
    ]
}

/// Keys, references, and what else is declared, of all tables in turn.
fn declared(tables: &[DraftTable]) -> Vec<String> {
    let mut all = Vec::new();
    for table in tables {
        let name = &table.name;
        all.push(format!("{name} is {}", table.primary_key.join("+")));
        all.extend(table.unique_keys.iter().map(|key| format!("{name} too {}", key.join("+"))));
        let reference = |it: &crate::engine::ontology::draft::ForeignKey| {
            format!("{name}.{} -> {}.{}", it.columns.join("+"), it.to, it.to_columns.join("+"))
        };
        all.extend(table.foreign_keys.iter().map(reference));
        all.extend(table.told.values.iter().map(|(column, values)| format!("{name}.{column} in {}", values.join("/"))));
        all.extend(table.told.personal.iter().map(|column| format!("{name}.{column} is personal")));
    }
    all
}

const SHOP: [&str; 7] = [
    "stg_customers is customer_id",
    "stg_customers too email",
    "stg_customers.boss -> stg_customers.customer_id",
    "stg_customers.email is personal",
    "orders is ref",
    "orders.buyer -> stg_customers.customer_id",
    "orders.status in open/closed",
];

#[test]
fn tests_of_dbt_declare_keys_references_and_enumerations_however_they_are_written() {
    let old = r#"
version: 2
models:
  - name: orders
    description: What was ordered
    columns:
      - name: ref
        tests: [unique, not_null]
      - name: buyer
        description: "{{ doc('buyer') }}"
        tests:
          - relationships: {to: ref('customers'), field: customer_id}
      - name: status
        meta: {label: State of the order}
        tests:
          - accepted_values:
              values: ['open', 'closed']
      - name: line
        tests:
          - unique: {where: "status = 'open'"}
sources:
  - name: crm
    tables:
      - name: customers
        identifier: stg_customers
        columns:
          - {name: customer_id, tests: [unique, not_null]}
          - {name: email, meta: {contains_pii: true}, tests: [unique]}
          - name: boss
            tests: [{relationships: {to: "source('crm', 'customers')", field: customer_id}}]
"#;
    let new = r#"
models:
  - name: orders
    description: What was ordered
    constraints:
      - {type: primary_key, columns: [ref]}
    columns:
      - name: ref
      - name: buyer
        data_tests:
          - relationships:
              arguments: {to: "{{ ref('shop', 'customers', v=2) }}", field: customer_id}
      - name: status
        config: {meta: {synonyms: state of the order}}
        data_tests:
          - dbt.accepted_values: {arguments: {values: [open, closed]}}
  - name: customers
    config: {alias: stg_customers}
    data_tests:
      - unique: {column_name: email}
      - test_name: relationships
        column_name: boss
        to: ref('customers')
        field: customer_id
    columns:
      - name: customer_id
        constraints: [{type: primary_key}]
      - {name: email, tags: [pii]}
"#;
    for text in [old, new] {
        let mut tables = shop();
        let read = Dictionary::read(text).unwrap();
        let notes = read.tell(&mut tables);
        assert_eq!(declared(&tables), SHOP);
        assert_eq!(tables[1].description, "What was ordered");
        assert_eq!(notes.len(), usize::from(text == old), "{notes:?}");
        let field = |name: &str| Field { name: name.into(), expression: name.into(), ..Field::default() };
        let orders = Entity {
            name: "orders".into(),
            source: "orders".into(),
            fields: vec![field("status")],
            ..Entity::default()
        };
        let mut ontology = Ontology { datasets: vec![orders], ..Ontology::default() };
        read.name(&mut ontology);
        assert_eq!(ontology.datasets[0].fields[0].ai.synonyms, ["state of the order"]);
    }
}

#[test]
fn packages_of_frictionless_declare_them_too_and_an_empty_resource_is_the_table_itself() {
    let text = r#"{
	"name": "shop",
	"resources": [
		{
			"name": "people", "path": ["data/stg_customers.csv"],
			"schema": {
				"fields": [
					{"name": "customer_id", "title": "Number", "type": "integer"},
					{"name": "email", "description": "Where to write", "constraints": {"unique": true, "required": true}},
					{"name": "boss"}
				],
				"primaryKey": "customer_id",
				"foreignKeys": [{"fields": "boss", "reference": {"resource": "", "fields": "customer_id"}}]
			}
		},
		{
			"name": "orders", "title": "Orders", "description": "What was ordered",
			"schema": {
				"fields": [
					{"name": "ref"}, {"name": "buyer"},
					{"name": "status", "categories": [{"value": "open", "label": "Open"}, "closed"]}
				],
				"primaryKey": ["ref"],
				"foreignKeys": [
					{"fields": ["buyer"], "reference": {"resource": "people", "fields": ["customer_id"]}},
					{"fields": ["ref"], "reference": {"package": "http://example.org", "resource": "x", "fields": ["y"]}}
				]
			}
		},
		{"name": "orders", "schema": "orders.json"}
	]
}"#;
    let mut tables = shop();
    let notes = Dictionary::read(text).unwrap().tell(&mut tables);
    let expected: Vec<&str> = SHOP.into_iter().filter(|it| !it.ends_with("personal")).collect();
    assert_eq!(declared(&tables), expected);
    assert_eq!(tables[0].columns[1].description, "Where to write");
    assert_eq!(tables[0].columns[0].description, "Number");
    assert_eq!(tables[1].description, "Orders: What was ordered");
    assert_eq!(notes, ["The schema of orders is in another file (orders.json): write it in its place."]);
}

#[test]
fn metadata_of_csvw_finds_columns_by_their_headings() {
    let text = r#"{
  "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
  "tables": [
    {
      "url": "http://example.org/stg_customers.csv",
      "tableSchema": {
        "columns": [
          {"name": "no", "titles": {"de": "Nummer", "en": ["customer_id"]}},
          {"name": "email", "dc:description": {"@value": "Where to write", "@language": "en"}},
          {"titles": "boss"},
          {"name": "row", "virtual": true}
        ],
        "primaryKey": "no",
        "foreignKeys": [{"columnReference": "boss",
          "reference": {"resource": "http://example.org/stg_customers.csv", "columnReference": "no"}}]
      }
    },
    {
      "url": "orders.csv", "rdfs:comment": "What was ordered",
      "tableSchema": {
        "columns": [{"name": "ref"}, {"name": "buyer"}],
        "primaryKey": ["ref"],
        "foreignKeys": [{"columnReference": ["buyer"],
          "reference": {"schemaReference": "stg_customers.json", "columnReference": ["no"]}}]
      }
    }
  ]
}"#;
    let mut tables = shop();
    assert_eq!(Dictionary::read(text).unwrap().tell(&mut tables), [""; 0]);
    assert_eq!(
        declared(&tables),
        [
            "stg_customers is customer_id",
            "stg_customers.boss -> stg_customers.customer_id",
            "orders is ref",
            "orders.buyer -> stg_customers.customer_id",
        ]
    );
    assert_eq!(tables[0].columns[1].description, "Where to write");
    assert_eq!(tables[1].description, "What was ordered");
}

#[test]
fn what_is_declared_loses_against_the_data_and_against_the_database() {
    let text = r#"
models:
  - name: orders
    columns:
      - {name: line, tests: [unique, not_null]}
      - {name: place, tests: [unique, not_null]}
      - {name: buyer, tests: [{relationships: {to: ref('stg_customers'), field: boss}}]}
      - {name: colour, tests: [unique]}
      - {name: status, tests: [{relationships: {to: ref('states'), field: name}}]}
"#;
    let mut tables = shop();
    tables[1].primary_key = vec!["ref".into()];
    let notes = Dictionary::read(text).unwrap().tell(&mut tables);
    assert_eq!(declared(&tables), ["stg_customers is ", "orders is ref", "orders too place"]);
    assert_eq!(
        notes,
        [
            "The dictionary names a column colour of orders, which is not there.",
            "The dictionary says that line is a key of orders, but several rows have the same value in it: it is not \
             taken.",
            "The dictionary says that orders.buyer refers to stg_customers.boss, but several rows have the same value \
             in it: no relationship.",
            "The dictionary says that orders refers to states, which is not there.",
        ]
    );
}

#[test]
fn files_are_read_as_others_publish_them() {
    let mut tables = vec![counted("my_first_dbt_model", &[("id", 10)]), counted("my_second_dbt_model", &[("id", 10)])];
    let read = Dictionary::read(include_str!("examples/dbt_starter.yml")).unwrap();
    assert_eq!(read.tell(&mut tables), [""; 0]);
    assert_eq!(declared(&tables), ["my_first_dbt_model is id", "my_second_dbt_model is id"]);
    assert_eq!(tables[0].columns[0].description, "The primary key for this table");

    let columns = ["first_name", "last_name", "gender", "age", "period_employed", "employment_start", "daily_start"];
    let more =
        ["daily_end", "is_management", "photo", "interests", "home_location", "position_title", "extra", "notes"];
    let staff: Vec<(&str, i64)> = columns.into_iter().chain(more).map(|name| (name, 5)).collect();
    let mut tables = vec![counted("positions", &[("name", 10)]), counted("staff", &staff)];
    let read = Dictionary::read(include_str!("examples/table_schema.json")).unwrap();
    assert_eq!(read.tell(&mut tables), [""; 0]);
    assert_eq!(
        declared(&tables),
        [
            "positions is ",
            "staff is first_name+last_name+period_employed+home_location",
            "staff.position_title -> positions.name"
        ]
    );
    assert_eq!(tables[1].columns[3].description, "The age of this person.");

    let names = ["ID", "Language_ID", "Parameter_ID", "Value", "Code_ID", "Comment", "Source"];
    let mut tables = vec![counted("values", &names.map(|name| (name, 10)))];
    let read = Dictionary::read(include_str!("examples/csvw_cldf.json")).unwrap();
    assert_eq!(read.tell(&mut tables), [""; 0]);
}
