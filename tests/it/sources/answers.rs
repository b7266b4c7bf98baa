//! What callers see of a remote table: the same as of any other, in its own dialect.

use serde_json::{Value, json};

use super::{OPEN, Ready, Shop, publish};
use crate::support::service::Service;
use crate::tenancy::{both, code};

fn names(body: &Value) -> Vec<&str> {
    body["datasets"].as_array().unwrap().iter().map(|dataset| dataset["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_a_source_are_datasets_like_any_other_once_they_are_published() {
    both(&[OPEN], async |service| {
        let shop = Shop::open().await;
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "admin@acme.example", dragoman::model::access::Role::Admin).await;
        let token = service.token(&org).await;
        let (status, made) = service.manage(&admin, "POST", "/sources", Some(shop.new_source("shop"))).await;
        assert_eq!(status, 200, "{made}");
        let source = &made["source"];
        assert_eq!((&source["status"], &source["dialect"]), (&json!("ok"), &json!("PostgreSQL")));
        let tables: Vec<_> =
            source["tables"].as_array().unwrap().iter().map(|t| (&t["name"], &t["published"])).collect();
        assert_eq!(tables, [(&json!("customers"), &json!(false)), (&json!("orders"), &json!(false))]);
        let audit = service.last_audit(&org).await;
        assert_eq!(audit.action, "admin.source.create");
        assert_eq!(audit.target, "create_source shop postgres 127.0.0.1");

        // Nobody outside sees them before they are published.
        let (_, listed) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
        assert_eq!(names(&listed), [""; 0]);
        let orders = source["tables"][1]["dataset_id"].clone();
        for (tool, arguments) in [
            ("dragoman_get_schema", json!({ "dataset_id": orders })),
            ("dragoman_preview_rows", json!({ "dataset_id": orders })),
            ("dragoman_sql", json!({ "dataset_id": orders, "sql": "SELECT 1" })),
        ] {
            let (failed, body) = service.tool(&token, tool, arguments).await;
            assert!(failed && code(&body) == "dataset_not_found", "{tool}: {body}");
        }

        publish(&service, &admin, source).await;
        let (_, listed) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
        assert_eq!(names(&listed), ["customers", "orders"]);
        let listed = &listed["datasets"][1];
        assert_eq!((&listed["dialect"], &listed["source"]), (&json!("PostgreSQL"), &json!("shop")));
        assert_eq!((&listed["row_count"], &listed["description"]), (&json!(1000), &json!("What was ordered")));

        let (_, schema) = service.tool(&token, "dragoman_get_schema", json!({ "dataset_id": orders })).await;
        assert_eq!((&schema["table_name"], &schema["dialect"]), (&json!("orders"), &json!("PostgreSQL")));
        let columns: Vec<_> =
            schema["columns"].as_array().unwrap().iter().map(|c| (&c["name"], &c["type"], &c["nullable"])).collect();
        let told = [
            (json!("id"), json!("bigint"), json!(false)),
            (json!("customer"), json!("integer"), json!(false)),
            (json!("total"), json!("numeric(10,2)"), json!(true)),
            (json!("placed"), json!("timestamp with time zone"), json!(false)),
        ];
        assert_eq!(columns, told.iter().map(|(n, t, b)| (n, t, b)).collect::<Vec<_>>());
        assert_eq!(schema["columns"][2]["description"], "in euros");
        let declared = json!([{ "columns": ["customer"], "table": "customers", "to_columns": ["id"] }]);
        assert_eq!((&schema["primary_key"], &schema["references"]), (&json!(["id"]), &declared), "as the server says");
        let mut samples: Vec<_> =
            schema["columns"][1]["sample_values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        samples.sort_unstable();
        assert_eq!(samples, ["1", "2", "3"]);

        let arguments = json!({ "dataset_id": orders, "limit": 2 });
        let (failed, rows) = service.tool(&token, "dragoman_preview_rows", arguments).await;
        assert!(!failed, "{rows}");
        assert_eq!(
            rows["rows"],
            json!([[1, 2, "1.25", "2024-01-02T11:00:00Z"], [2, 3, "2.50", "2024-01-03T11:00:00Z"]])
        );
        assert_eq!(rows["truncated"], true);

        // What the login cannot read is nowhere, and an import does not take a remote table's name.
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": "SELECT * FROM payments" })).await;
        assert!(failed && !body.to_string().contains("CANARY"), "{body}");
        let refused = service.import(&org, "orders.csv", b"a\n1\n", false).await.unwrap_err();
        assert!(refused.message.contains("a table of the source shop"), "{refused}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_runs_in_the_engine_of_its_tables() {
    let service = Service::with(&[OPEN]).await;
    let ready = Ready::new(&service).await;
    service.import(&ready.org, "countries.csv", b"code,name\nDE,Germany\nFR,France\n", true).await.unwrap();
    let sql = "SELECT c.name, count(*) AS orders, sum(o.total) AS total FROM orders o JOIN customers c \
               ON c.id = o.customer GROUP BY c.name ORDER BY c.name";
    let (failed, body) = ready.sql(&service, sql).await;
    assert!(!failed, "{body}");
    assert_eq!(body["dialect"], "PostgreSQL");
    let columns = json!([
        { "name": "name", "type": "text" },
        { "name": "orders", "type": "bigint" },
        { "name": "total", "type": "numeric" },
    ]);
    assert_eq!(body["columns"], columns);
    // Orders 3, 6 … 999 are Ann's: 333 of them, 1.25 × 3 × (333 × 334 / 2).
    assert_eq!(body["rows"][0], json!(["Ann", 333, "208541.25"]));
    assert_eq!((&body["row_count"], &body["truncated"]), (&json!(3), &json!(false)));

    let (failed, body) = ready.sql(&service, "SELECT name FROM countries ORDER BY code").await;
    assert!(!failed, "{body}");
    assert_eq!((&body["dialect"], &body["rows"]), (&Value::Null, &json!([["Germany"], ["France"]])));

    let mixed = "SELECT * FROM customers JOIN countries ON code = country";
    let (failed, body) = ready.sql(&service, mixed).await;
    assert!(failed && code(&body) == "invalid_argument", "{body}");
    let told = body["error"]["message"].as_str().unwrap();
    for part in ["customers in the source shop (PostgreSQL)", "countries in the service itself (DuckDB)"] {
        assert!(told.contains(part), "{told}");
    }

    // A mistake is told in the server's words, and the session serves on.
    let (failed, body) = ready.sql(&service, "SELECT nothing FROM orders").await;
    assert!(failed && code(&body) == "invalid_argument" && body.to_string().contains("nothing"), "{body}");
    let (failed, body) = ready.sql(&service, "SELECT 1 / (id - id) FROM orders").await;
    assert!(failed && body.to_string().contains("division by zero"), "{body}");
    let (failed, body) = ready.sql(&service, "SELECT max(id) FROM orders -- the end").await;
    assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_follow_the_rules_of_every_table() {
    let service = Service::with(&[OPEN]).await;
    let shop = Shop::open().await;
    shop.admin(&format!(
        "CREATE TYPE mood AS ENUM ('sad', 'ok');
         CREATE TABLE kinds (
            small smallint, big bigint, large bigint, exact numeric, odd numeric, real4 real, real8 double precision,
            inf double precision, yes boolean, word varchar(9), fixed char(4), bytes bytea, day date, clock time,
            moment timestamptz, plain timestamp, forever timestamptz, span interval, id uuid, doc jsonb, list int[],
            words text[], feeling mood, feelings mood[], range int4range, net inet, \"Odd Name\" int, none int);
         INSERT INTO kinds VALUES (
            -7, 9007199254740992, 9007199254740993, 123456789012345678901234567890.10, 'NaN', 0.1, 1e300, '-Infinity',
            true, 'é', 'ab', '\\x00ff', '2024-02-29', '04:05:06.789', '2024-02-29 23:30:00-05', '2024-02-29 23:30:00.5',
            'infinity', '1 year 2 months 3 days 04:05:06', '0194a0c0-0000-7000-8000-000000000001',
            '{{\"a\": [1, 2.5, null]}}', '{{{{1,2}},{{3,NULL}}}}', '{{\"a b\",NULL,c}}', 'ok', '{{sad,ok}}', '[1,5)',
            '10.0.0.1/8', 3, NULL);
         GRANT SELECT ON kinds TO {}",
        shop.reader
    ))
    .await;
    let ready = Ready::with(&service, shop).await;
    let (failed, body) = ready.sql(&service, "SELECT * FROM kinds").await;
    assert!(!failed, "{body}");
    let expected = json!([
        -7, 9_007_199_254_740_992_i64, "9007199254740993", "123456789012345678901234567890.10", "NaN", 0.1, 1e300,
        "-Infinity", true, "é", "ab  ", "AP8=", "2024-02-29", "04:05:06.789", "2024-03-01T04:30:00Z",
        "2024-02-29T23:30:00.5", "infinity", "1 year 2 months 3 days 04:05:06",
        "0194a0c0-0000-7000-8000-000000000001", { "a": [1, 2.5, null] }, [[1, 2], [3, null]], ["a b", null, "c"], "ok",
        ["sad", "ok"], "[1,5)", "10.0.0.1/8", 3, null,
    ]);
    assert_eq!(body["rows"][0], expected);
    let types: Vec<_> = body["columns"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    assert_eq!(types[..3], ["smallint", "bigint", "bigint"]);
    assert_eq!(
        (types[9], types[14], types[20], types[23]),
        ("character varying(9)", "timestamp with time zone", "integer[]", "public.mood[]")
    );
    let (failed, body) = ready.sql(&service, "SELECT \"Odd Name\" FROM kinds").await;
    assert!(!failed && body["rows"] == json!([[3]]), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_comes_back_than_a_reply_holds() {
    let service = Service::with(&[OPEN, ("DRAGOMAN_SQL_ROWS", "10"), ("DRAGOMAN_REPLY_BYTES", "20000")]).await;
    let ready = Ready::new(&service).await;
    for (sql, rows, truncated) in [
        ("SELECT id FROM orders ORDER BY id LIMIT 10", 10, false),
        ("SELECT id FROM orders ORDER BY id LIMIT 11", 10, true),
        ("SELECT id FROM orders ORDER BY id DESC", 10, true),
        ("SELECT lpad(name, 5000, 'x') FROM customers", 3, false),
        // A tenth of 20,000 bytes is left for what else is in a reply: of rows of 3,005 bytes five fit.
        ("SELECT lpad('y', 3000, 'x') FROM orders LIMIT 7", 5, true),
    ] {
        let (failed, body) = ready.sql(&service, sql).await;
        assert!(!failed, "{sql}: {body}");
        assert_eq!((&body["row_count"], &body["truncated"]), (&json!(rows), &json!(truncated)), "{sql}");
    }
    let (failed, body) = ready.sql(&service, "SELECT lpad('y', 30000, 'x') FROM customers").await;
    assert!(failed && code(&body) == "limit_exceeded", "{body}");
    let (failed, body) = ready.sql(&service, "SELECT id FROM orders ORDER BY id DESC LIMIT 1").await;
    assert!(!failed && body["rows"] == json!([[1000]]), "{body}");
}
