//! What a model that has nothing but the tools finds: how much it must read first, what it learns of tables in one
//! call, how its slips are told, and how little stands around an answer.

use dragoman::model::access::Role;
use dragoman::model::org::Org;
use serde_json::{Value, json};

use crate::sessions;
use crate::support::service::{Service, json_of};

/// Customers with an address each, and their orders.
const CUSTOMERS: &[u8] =
    b"id,email,phone,tier\n1,ann@example.com,+49 30 1234567,gold\n2,bob@example.com,+49 30 7654321,tin\n\
                           3,,+49 30 1112222,tin\n";
const ORDERS: &[u8] = b"id,customer_id,euros,region\n1,1,10,north\n2,1,20,south\n3,2,5,north\n4,3,7,\n";

const ONTOLOGY: &str = r#"
version: 0.2.0.dev0
name: shop
datasets:
  - name: order
    source: orders
    primary_key: [id]
    fields:
      - {name: id, expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}, datatype: Integer}
      - {name: customer, expression: {dialects: [{dialect: ANSI_SQL, expression: customer_id}]}, datatype: Integer}
      - name: value
        expression: {dialects: [{dialect: ANSI_SQL, expression: euros}]}
        datatype: Integer
        custom_extensions: [{vendor_name: DRAGOMAN, data: {unit: EUR}}]
  - name: customer
    source: customers
    primary_key: [id]
    fields:
      - {name: id, expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}, datatype: Integer}
relationships:
  - {name: bought_by, from: order, to: customer, from_columns: [customer_id], to_columns: [id]}
metrics:
  - {name: revenue, expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(order.value)}]}, datatype: Integer}
"#;

struct Shop {
    service: Service,
    org: Org,
    token: String,
    /// Ids of `customers` and `orders`.
    customers: String,
    orders: String,
}

impl Shop {
    async fn open(service: Service) -> Self {
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Admin).await;
        let id = |made: Value| made["dataset_id"].as_str().unwrap().to_owned();
        let customers = id(service.import(&org, "customers.csv", CUSTOMERS, true).await.unwrap());
        let orders = id(service.import(&org, "orders.csv", ORDERS, true).await.unwrap());
        Self { service, org, token, customers, orders }
    }

    /// With the ontology, which can be asked; its id.
    async fn with_ontology(&self) -> String {
        let (_, kept) =
            self.service.manage(&self.token, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        let ontology = kept["ontology"]["ontology_id"].as_str().unwrap_or_else(|| panic!("{kept}")).to_owned();
        let path = format!("/ontologies/{ontology}/check");
        let (_, checked) = self.service.manage(&self.token, "POST", &path, None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        ontology
    }

    async fn tool(&self, name: &str, arguments: Value) -> Value {
        let (failed, body) = self.service.tool(&self.token, name, arguments).await;
        assert!(!failed, "{name}: {body}");
        body
    }

    async fn sql(&self, sql: &str) -> Value {
        self.tool("dragoman_sql", json!({ "sql": sql })).await
    }

    /// Code and message of a query that must fail.
    async fn slip(&self, sql: &str) -> (String, String) {
        let (failed, body) = self.service.tool(&self.token, "dragoman_sql", json!({ "sql": sql })).await;
        assert!(failed, "{sql}: {body}");
        let text = |key: &str| body["error"][key].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }
}

/// The column of a schema.
fn column<'v>(schema: &'v Value, name: &str) -> &'v Value {
    let columns = schema["columns"].as_array().unwrap_or_else(|| panic!("{schema}"));
    columns.iter().find(|column| column["name"] == name).unwrap_or_else(|| panic!("{name}: {schema}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_tools_is_short_in_both_eras() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, token) = service.member(&org, "ann@example.com", Role::Admin).await;
    let modern = service.rpc(&token, "tools/list", json!({})).send().await.unwrap().text().await.unwrap();
    let session = sessions::open(&service, &token).await;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let older = sessions::send(&service, &token, Some(&session), message).await;
    let older = sessions::message(older).await.to_string();
    for listed in [modern, older] {
        assert!(listed.len() < 12_000, "{} bytes", listed.len());
        let listed: Value = serde_json::from_str(&listed).unwrap();
        for tool in listed["result"]["tools"].as_array().unwrap() {
            assert_eq!((&tool["inputSchema"]["type"], tool.get("outputSchema")), (&json!("object"), None), "{tool}");
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 40), "{tool}");
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_says_how_to_join_and_which_ontologies_speak_of_the_table() {
    Service::both(async |service| {
        let shop = Shop::open(service).await;
        let ontology = shop.with_ontology().await;
        let both = json!({ "dataset_ids": [shop.orders, "Customers"] });
        let schemas = shop.tool("dragoman_get_schema", both).await;
        let [orders, customers] = schemas["datasets"].as_array().unwrap().as_slice() else { panic!("{schemas}") };
        assert_eq!((&orders["table_name"], &customers["table_name"]), (&json!("orders"), &json!("customers")));
        assert_eq!(orders["primary_key"], json!(["id"]));
        let reference =
            json!({ "columns": ["customer_id"], "table": "customers", "to_columns": ["id"], "ontology": "shop" });
        assert_eq!(orders["references"], json!([reference]));
        assert_eq!(orders["ontologies"], json!([{ "id": ontology, "name": "shop", "dataset": "order" }]));
        assert_eq!((&column(orders, "euros")["unit"], &column(orders, "id")["unit"]), (&json!("EUR"), &Value::Null));
        // Few values are all values, and it is said.
        let region = column(orders, "region");
        assert_eq!((&region["sample_values"], &region["samples_are_all"]), (&json!(["north", "south"]), &json!(true)));

        let one = shop.tool("dragoman_get_schema", json!({ "dataset_id": "orders" })).await;
        assert_eq!((&one["columns"], &one["dataset_id"]), (&orders["columns"], &json!(shop.orders)));
        let path = "/api/v1/ext/datasets/orders/schema";
        let (_, rest) = json_of(shop.service.get(path, &shop.token).send().await.unwrap()).await;
        assert_eq!(rest["columns"], one["columns"]);

        // What a caller does not see is not spoken of: the table that orders refer to, and then the ontology.
        let hidden = json!({ "externally_queryable": false });
        let path = format!("/datasets/{}", shop.customers);
        let (status, body) = shop.service.manage(&shop.token, "PATCH", &path, Some(hidden)).await;
        assert_eq!(status, 200, "{body}");
        let alone = shop.tool("dragoman_get_schema", json!({ "dataset_id": "orders" })).await;
        assert_eq!(alone["references"], Value::Null, "{alone}");
        for name in ["customers", "customer", "nothing"] {
            let (failed, body) =
                shop.service.tool(&shop.token, "dragoman_get_schema", json!({ "dataset_id": name })).await;
            assert!(failed && body["error"]["code"] == "dataset_not_found", "{body}");
            assert_eq!(body["error"]["details"], json!({}), "{name}");
        }
        shop.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_is_found_by_its_name_and_a_slip_is_told_the_nearest() {
    let shop = Shop::open(Service::start().await).await;
    for (arguments, code, words) in [
        (json!({ "dataset_id": "order" }), "dataset_not_found", "Did you mean orders?"),
        (json!({ "dataset_ids": ["orders", "costumers"] }), "dataset_not_found", "Did you mean customers?"),
        (json!({ "dataset_id": "zzz" }), "dataset_not_found", "List the datasets"),
        (json!({}), "invalid_argument", "dataset_ids"),
        (json!({ "dataset_ids": vec!["orders"; 21] }), "invalid_argument", "At most 20"),
    ] {
        let (failed, body) = shop.service.tool(&shop.token, "dragoman_get_schema", arguments.clone()).await;
        assert!(failed && body["error"]["code"] == code, "{arguments}: {body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(words), "{arguments}: {body}");
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_datasets_names_columns_as_far_as_there_is_room() {
    let shop = Shop::open(Service::start().await).await;
    let names: Vec<String> = (0..800).map(|at| format!("column_{at}")).collect();
    let wide = format!("{}\n{}\n", names.join(","), vec!["1"; 800].join(","));
    shop.service.import(&shop.org, "wide.csv", wide.as_bytes(), true).await.unwrap();
    let listed = shop.tool("dragoman_list_datasets", json!({})).await;
    let [customers, orders, wide] = listed["datasets"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(orders["columns"], json!(["id BIGINT", "customer_id BIGINT", "euros BIGINT", "region VARCHAR"]));
    assert_eq!((&customers["column_count"], &customers["columns_left_out"]), (&json!(4), &Value::Null));
    let (shown, left_out) = (wide["columns"].as_array().unwrap().len(), wide["columns_left_out"].as_u64().unwrap());
    assert!(shown > 100 && shown as u64 + left_out == 800, "{shown} {left_out}");
    assert!(listed.to_string().len() < 30_000);
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_samples_are_masked_wherever_they_are_shown() {
    let shop = Shop::open(Service::start().await).await;
    let named = json!({ "dataset_id": shop.customers });
    let schema = shop.tool("dragoman_get_schema", named.clone()).await;
    let profile = shop.tool("dragoman_profile_dataset", named).await;
    for name in ["email", "phone", "tier"] {
        let (shown, profiled) = (column(&schema, name), column(&profile, name));
        assert_eq!(shown["likely_personal_data"], profiled["likely_personal_data"]["kind"], "{name}");
        assert_eq!(shown["likely_personal_data"].is_null(), name == "tier", "{shown}");
    }
    assert_eq!(column(&schema, "tier")["sample_values"], json!(["gold", "tin"]));
    for text in [schema.to_string(), profile.to_string()] {
        for secret in ["ann@", "example.com", "1234567", "7654321"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    let listed = shop.service.get(&format!("/api/v1/ext/datasets/{}/schema", shop.customers), &shop.token);
    assert!(!listed.send().await.unwrap().text().await.unwrap().contains("ann@"));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_and_describe_say_the_same_of_nulls() {
    let shop = Shop::open(Service::start().await).await;
    let schema = shop.tool("dragoman_get_schema", json!({ "dataset_id": "orders" })).await;
    let nullable: Vec<Value> = schema["columns"].as_array().unwrap().iter().map(|it| it["nullable"].clone()).collect();
    assert_eq!(nullable, [json!(false), json!(false), json!(false), json!(true)]);
    for sql in ["DESCRIBE orders", "DESCRIBE main.Orders"] {
        let described = shop.sql(sql).await;
        let said: Vec<Value> = described["rows"].as_array().unwrap().iter().map(|row| row[2].clone()).collect();
        assert_eq!(said, [json!("NO"), json!("NO"), json!("NO"), json!("YES")], "{described}");
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slip_is_told_for_what_it_is() {
    let shop = Shop::open(Service::start().await).await;
    for (sql, code, words) in [
        ("SELECT tier FROM orders", "invalid_argument", "It is a column of customers, which this query does not read"),
        ("SELECT euro FROM orders", "invalid_argument", "Did you mean euros? It is a column of orders."),
        ("SELECT * FROM order_s", "invalid_argument", "Did you mean orders?"),
        ("SELECT * FROM main.custmers", "invalid_argument", "Did you mean customers?"),
        ("SELECT summ(euros) FROM orders", "invalid_argument", "There is no function summ. Did you mean sum?"),
        ("SELECT * FROM read_csv('x.csv')", "forbidden_sql", "read_csv"),
        ("SELECT * FROM '/etc/passwd'", "forbidden_sql", "There is no table"),
        ("SELECT * FROM information_schema.tables", "forbidden_sql", "dragoman_list_datasets"),
        ("DELETE FROM orders", "forbidden_sql", "Only queries may run"),
    ] {
        let (heard, message) = shop.slip(sql).await;
        assert!(heard == code && message.contains(words), "{sql}: {heard}: {message}");
    }
    // A table of others is not there, in the same words as one that nobody has.
    let other = shop.service.workspace("other").await;
    shop.service.import(&other, "salaries.csv", b"a\n1\n", true).await.unwrap();
    shop.service.import(&shop.org, "drafts.csv", b"a\n1\n", false).await.unwrap();
    let words = async |name: &str| {
        let (code, message) = shop.slip(&format!("SELECT * FROM {name}")).await;
        (code, message.replace(name, "?"))
    };
    let none = words("zzzzzzzz").await;
    assert_eq!(none.0, "invalid_argument");
    for name in ["salaries", "drafts"] {
        assert_eq!(words(name).await, none, "{name}");
    }
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pivot_finds_out_its_columns_and_says_when_they_are_too_many() {
    let shop = Shop::open(Service::start().await).await;
    let answer =
        shop.sql("PIVOT main.orders ON region USING sum(euros) GROUP BY customer_id ORDER BY customer_id").await;
    let names: Vec<&str> =
        answer["columns"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["customer_id", "north", "south"]);
    assert_eq!(answer["rows"], json!([[1, 10, 20], [2, 5, null], [3, null, null]]));
    let listed =
        "PIVOT orders ON region IN ('north', 'south') USING sum(euros) GROUP BY customer_id ORDER BY customer_id";
    assert_eq!(shop.sql(listed).await["rows"], answer["rows"], "as with the list");
    for (sql, words) in [
        ("PIVOT (SELECT i, i % 2 AS b FROM range(201) t(i)) ON i USING count(*)", "there may be 200"),
        ("PIVOT (SELECT * FROM orders WHERE id > 9) ON region USING count(*)", "there is none"),
        ("PIVOT orders ON regin USING count(*)", "Did you mean region?"),
        ("PIVOT nothing ON region USING count(*)", "There is no table nothing"),
    ] {
        let (code, message) = shop.slip(sql).await;
        assert!(code == "invalid_argument" && message.contains(words), "{sql}: {message}");
    }
    let two_hundred = "SELECT count(*) FROM (PIVOT (SELECT i FROM range(200) t(i)) ON i USING count(*))";
    assert_eq!(shop.sql(two_hundred).await["rows"], json!([[1]]));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn little_stands_around_the_rows_of_an_answer() {
    let shop = Shop::open(Service::start().await).await;
    let one = shop.sql("SELECT 1").await;
    let members: Vec<&String> = one.as_object().unwrap().keys().collect();
    assert_eq!(members, ["columns", "rows", "row_count", "truncated", "execution_ms", "request_id"]);
    assert!(one.to_string().len() < 200, "{one}");
    let cut = shop.sql("SELECT i FROM range(501) t(i)").await;
    assert_eq!((&cut["truncated"], &cut["limits_applied"]["max_rows"]), (&json!(true), &json!(500)));
    shop.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_person_may_ask_more_often_than_a_token_and_both_are_told_when_to_come_back() {
    let settings =
        [("DRAGOMAN_EXT_RATE_SQL", "2"), ("DRAGOMAN_CLIENT_RATE_SQL", "4"), ("DRAGOMAN_CLIENT_RATE_CALLS", "6")];
    let service = Service::with(&settings).await;
    let org = service.workspace("acme").await;
    let (_, client) = service.member(&org, "ann@example.com", Role::Admin).await;
    let token = service.token(&org).await;
    let query = async |credential: &str| {
        let response = service.post("/api/v1/ext/sql", credential).json(&json!({ "sql": "SELECT 1" })).send().await;
        let response = response.unwrap();
        let wait = response.headers().get("retry-after").map(|wait| wait.to_str().unwrap().parse::<u64>().unwrap());
        (json_of(response).await, wait)
    };
    for (credential, allowed, limit) in [(&token, 2, "token_sql"), (&client, 4, "client_sql")] {
        for _ in 0..allowed {
            assert_eq!(query(credential).await.0.0, 200);
        }
        let ((status, body), wait) = query(credential).await;
        let details = &body["error"]["details"];
        assert_eq!(
            (status, &details["limit"], &details["per_minute"]),
            (429, &json!(limit), &json!(allowed)),
            "{body}"
        );
        let wait = wait.unwrap_or_else(|| panic!("{body}"));
        assert!((1..=60).contains(&wait) && body["error"]["message"].as_str().unwrap().contains(&format!("{wait} s")));
        service.clock.advance(std::time::Duration::from_secs(wait));
        assert_eq!(query(credential).await.0.0, 200, "then it is answered");
    }
    service.stop().await;
}
