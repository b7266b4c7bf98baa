//! Catalogues that are larger than what is kept of one, or than a reply.

use serde_json::{Value, json};

use super::{OPEN, Ready, Shop};
use crate::tenancy::both;

/// Makes so many tables of so many columns that the reader may read.
async fn widen(shop: &Shop, name: &str, tables: usize, columns: usize) {
    let reader = &shop.reader;
    shop.admin(&format!(
        "DO $$ BEGIN FOR n IN 1..{tables} LOOP
             EXECUTE format('CREATE TABLE {name}_%s (%s)', lpad(n::text, 3, '0'),
                            (SELECT string_agg('c' || k || ' bool', ',') FROM generate_series(1, {columns}) k));
             EXECUTE format('GRANT SELECT ON {name}_%s TO {reader}', lpad(n::text, 3, '0'));
         END LOOP; END $$"
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_of_a_catalogue_is_said_wherever_it_matters() {
    both(&[OPEN], async |service| {
        let ready = Ready::new(&service).await;
        let manage = async |method: &str, path: &str, body: Option<Value>| {
            let (status, body) = service.manage(&ready.admin, method, path, body).await;
            assert_eq!(status, 200, "{method} {path}: {body}");
            body
        };
        let (test, refresh) = (format!("/sources/{}/test", ready.source), format!("/sources/{}/refresh", ready.source));
        let draft = async || {
            let listed = manage("GET", "/sources", None).await;
            let orders = listed["sources"][0]["tables"].as_array().unwrap().iter().find(|it| it["name"] == "orders");
            let asked = json!({ "name": "shop", "dataset_ids": [orders.unwrap()["dataset_id"]] });
            manage("POST", "/ontologies/draft", Some(asked)).await["notes"].to_string()
        };
        for reply in [manage("POST", &test, Some(json!({}))).await, manage("POST", &refresh, Some(json!({}))).await] {
            assert_eq!(reply["left_out"], "", "{reply}");
        }
        assert_eq!(manage("GET", "/sources", None).await["sources"][0]["left_out"], "");
        assert!(!draft().await.contains("left out"));

        // With the columns of the two others 20,807: those of the last table are too many.
        widen(&ready.shop, "wide", 13, 1_600).await;
        let tested = manage("POST", &test, Some(json!({}))).await;
        assert_eq!(tested["readable_tables"], 15);
        for said in [&tested["left_out"], &tested["message"]] {
            assert!(said.as_str().unwrap().contains("20807 columns, of which 20000 are kept"), "{tested}");
        }
        let refreshed = manage("POST", &refresh, Some(json!({}))).await;
        assert_eq!((&refreshed["added"], &refreshed["removed"]), (&json!(12), &json!(0)), "{refreshed}");
        let said = refreshed["left_out"].as_str().unwrap();
        assert!(said.contains("more than 20000 columns") && said.contains("public.wide_013"), "{said}");
        let listed = manage("GET", "/sources", None).await;
        let source = &listed["sources"][0];
        assert_eq!((&source["left_out"], &source["table_count"]), (&json!(said), &json!(14)), "{listed}");
        assert!(source["tables"].as_array().unwrap().iter().all(|it| it["column_count"] != 0), "{listed}");
        assert!(draft().await.contains(said));

        // It is over when the login reads less.
        ready.shop.admin(&format!("REVOKE SELECT ON wide_001, wide_002 FROM {}", ready.shop.reader)).await;
        let refreshed = manage("POST", &refresh, Some(json!({}))).await;
        assert_eq!((&refreshed["left_out"], &refreshed["removed"]), (&json!(""), &json!(2)), "{refreshed}");
        assert_eq!(manage("GET", "/sources", None).await["sources"][0]["left_out"], "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_with_more_tables_than_a_reply_holds_are_listed_page_by_page() {
    both(&[OPEN], async |service| {
        let ready = Ready::new(&service).await;
        widen(&ready.shop, "many", 450, 1).await;
        let refresh = format!("/sources/{}/refresh", ready.source);
        assert_eq!(service.manage(&ready.admin, "POST", &refresh, Some(json!({}))).await.1["added"], 450);
        let zoo = Shop::open().await;
        let (status, body) = service.manage(&ready.admin, "POST", "/sources", Some(zoo.new_source("zoo"))).await;
        assert_eq!(status, 200, "{body}");

        let (mut told, mut pages, mut path) = (Vec::new(), 0, "/sources".to_owned());
        loop {
            let (status, body) = service.manage(&ready.admin, "GET", &path, None).await;
            assert_eq!(status, 200, "{body}");
            assert!(body.to_string().len() < service.config.limits.budgets.reply_bytes);
            pages += 1;
            for source in body["sources"].as_array().unwrap() {
                let name = source["name"].as_str().unwrap();
                assert_eq!(source["table_count"], if name == "shop" { 452 } else { 2 });
                let tables = source["tables"].as_array().unwrap().iter();
                told.extend(tables.map(|table| format!("{name}.{}", table["table"].as_str().unwrap())));
            }
            let Some(next) = body["next_cursor"].as_str() else { break };
            let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
            path = format!("/sources?cursor={next}");
        }
        let of_shop = ["customers".to_owned()].into_iter().chain((1..=450).map(|number| format!("many_{number:03}")));
        let of_shop = of_shop.chain(["orders".to_owned()]).map(|table| format!("shop.{table}"));
        let all: Vec<String> = of_shop.chain(["zoo.customers".to_owned(), "zoo.orders".to_owned()]).collect();
        assert_eq!(told, all, "each of them once, in order");
        assert!(pages >= 2, "{pages}");
        let (status, body) = service.manage(&ready.admin, "GET", "/sources?cursor=of-another-list", None).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("cursor")), "{body}");
    })
    .await;
}
