//! What goes with every answer, and with what has none: the query that it was read as, what was understood, the names
//! that come near, what is still open, and the code for a question that took too long.

use serde_json::{Value, json};

use super::{Bakery, in_store};
use crate::support::service::{Service, json_of};

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_carries_its_query_and_says_where_each_number_comes_from() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue by product in January 2025", None).await;
    assert_eq!(reply["outcome"], "answer", "{reply}");
    let query = &reply["query"];
    assert_eq!(texts(&query["measures"]), ["revenue"], "{query}");
    assert_eq!(texts(&query["dimensions"]), ["sale.product"], "{query}");
    assert!(query["time"].as_str().unwrap().contains("2025-01"), "{query}");
    assert!(reply.get("understood").is_none(), "nothing is left to go on with: {reply}");

    let lineage = &reply["dataLineage"];
    assert_eq!(lineage["datasets"], json!([{ "name": "sale", "source": "sales" }]), "{lineage}");
    let time = json!({ "start": "2025-01-01", "end": "2025-02-01", "says": "Jan 2025", "fields": ["sale.sold_on"] });
    assert_eq!(lineage["timeWindow"], time, "{lineage}");
    assert_eq!((&lineage["joins"], &lineage["filters"]), (&json!([]), &json!([])), "{lineage}");
    assert_eq!(lineage["rowCount"], 2, "{lineage}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_and_caveats_are_objects() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue of Corner in January 2025", None).await;
    let filter = &reply["dataLineage"]["filters"][0];
    assert_eq!((&filter["field"], &filter["operator"]), (&json!("shop.shop_name"), &json!("=")), "{reply}");
    assert_eq!(filter["value"], "Corner", "{filter}");
    let empty: Vec<&Value> =
        reply["caveats"].as_array().unwrap().iter().filter(|caveat| caveat["kind"] == "empty").collect();
    let said = reply["narrative"].as_str().unwrap();
    // Why it is empty: Corner has 3 sales, January has 2, and none is both.
    assert_eq!(empty.len(), 2, "{reply}");
    assert!(empty.iter().all(|caveat| said.contains("rows") && caveat["says"].as_str().unwrap().contains("rows")));
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_comes_with_what_was_and_how_to_go_on() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("revenue by flurb", None).await;
    assert_eq!(reply["outcome"], "cannot_answer", "{reply}");
    let understood = &reply["understood"];
    assert_eq!(texts(&understood["query"]["measures"]), ["revenue"], "{understood}");
    assert!(understood["readAs"].as_str().unwrap().starts_with("Revenue"), "{understood}");
    assert_eq!(texts(&understood["unknown"]), ["flurb"], "{understood}");
    assert!(texts(&understood["near"]["metrics"]).contains(&"revenue"), "{understood}");
    let names: Vec<&Value> = understood["datasets"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["sale", "shop"], "{understood}");
    let advice = understood["advice"].as_str().unwrap();
    assert!(advice.contains("dragoman_query") && advice.contains(&bakery.ontology), "{advice}");
    assert!(reply["narrative"].as_str().unwrap().contains("sale, shop"), "people read it too: {reply}");

    // Of a question that is none for the data, what it is about.
    let refused = bakery.ask("Why did Bruges sell less?", None).await;
    assert_eq!(refused["outcome"], "cannot_answer", "{refused}");
    assert!(texts(&refused["understood"]["near"]["values"]).contains(&"shop.town = 'Bruges'"), "{refused}");

    // What the caller does not see is not named.
    bakery.withdraw("shops").await;
    let refused = bakery.ask("Why did Bruges sell less?", None).await.to_string();
    assert!(!refused.contains("shop.") && !refused.contains(r#""name":"shop""#), "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_back_says_how_it_would_be_read() {
    let bakery = Bakery::start().await;
    let reply = bakery.ask("Which is the best shop?", None).await;
    assert_eq!(reply["outcome"], "clarification", "{reply}");
    let understood = &reply["understood"];
    let assumed = reply["clarificationRequest"]["questions"][0]["assumption"].as_str().unwrap();
    let measure = texts(&understood["query"]["measures"])[0].replace('_', " ");
    assert!(measure.starts_with(assumed) || assumed.contains(&measure), "{assumed}: {understood}");
    assert!(understood["advice"].as_str().unwrap().contains("conversationId"), "{understood}");
    bakery.service.stop().await;
}

/// Trips from a stop to a stop.
const TRIPS: &str = "\
version: 0.2.0.dev0
name: trips
datasets:
  - name: trip
    source: trips
    primary_key: [trip_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: {grain: trip}}]
    fields:
      - {name: trip_id, expression: {dialects: [{dialect: ANSI_SQL, expression: trip_id}]}, datatype: Integer,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {hidden: true}}]}
      - {name: planned_delay, expression: {dialects: [{dialect: ANSI_SQL, expression: planned}]}, datatype: Integer}
      - {name: actual_delay, expression: {dialects: [{dialect: ANSI_SQL, expression: actual}]}, datatype: Integer}
  - name: stop
    source: stops
    primary_key: [stop_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: {label_field: stop_name, grain: stop}}]
    fields:
      - {name: stop_id, expression: {dialects: [{dialect: ANSI_SQL, expression: stop_id}]}, datatype: Integer,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {hidden: true}}]}
      - {name: stop_name, expression: {dialects: [{dialect: ANSI_SQL, expression: stop_name}]}, datatype: String}
relationships:
  - {name: trip_from, from: trip, to: stop, from_columns: [from_id], to_columns: [stop_id],
     custom_extensions: [{vendor_name: DRAGOMAN, data: {role: origin}}]}
  - {name: trip_to, from: trip, to: stop, from_columns: [to_id], to_columns: [stop_id],
     custom_extensions: [{vendor_name: DRAGOMAN, data: {role: destination}}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_open_is_asked_at_once_and_a_part_of_it_may_be_answered() {
    let mut bakery = Bakery::start().await;
    for (file, rows) in [
        ("trips.csv", &b"trip_id,from_id,to_id,planned,actual\n1,1,2,10,20\n2,2,1,30,60\n"[..]),
        ("stops.csv", &b"stop_id,stop_name\n1,Quay\n2,Mole\n"[..]),
    ] {
        bakery.service.import(&bakery.org, file, rows, true).await.unwrap();
    }
    let manage = |path: String, body: Option<Value>| {
        let (service, admin) = (&bakery.service, &bakery.admin);
        async move { service.manage(admin, "POST", &path, body).await.1 }
    };
    let made = manage("/ontologies".into(), Some(json!({ "text": TRIPS }))).await;
    let id = made["ontology"]["ontology_id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let checked = manage(format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    bakery.ontology = id;

    // Which delay, and the stop where trips begin or end?
    let asked = bakery.ask("average delay by stop", None).await;
    assert_eq!(asked["outcome"], "clarification", "{asked}");
    let questions = asked["clarificationRequest"]["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 2, "{asked}");
    let suggestion = |of: &Value, part: &str| {
        let found = texts(&of["suggestions"]).into_iter().find(|it| it.to_lowercase().contains(part));
        found.unwrap_or_else(|| panic!("{part}: {of}")).to_owned()
    };
    let is_delay = |of: &&Value| of["suggestions"].to_string().to_lowercase().contains("delay");
    let delay = questions.iter().find(is_delay).map(|of| suggestion(of, "actual")).unwrap();
    let stop = questions.iter().find(|of| !is_delay(of)).map(|of| suggestion(of, "destination")).unwrap();
    assert!(asked["understood"]["query"]["measures"][0].as_str().unwrap().contains("delay"), "{asked}");

    let in_order: Vec<&str> =
        questions.iter().map(|of| if is_delay(&of) { delay.as_str() } else { stop.as_str() }).collect();
    let answer = bakery.ask(&in_order.join("\n"), Some(&asked["conversationId"])).await;
    let rows = answer["table"]["rows"].to_string();
    // The trip to the Mole was 20 late, the one to the Quay 60.
    assert!(rows.contains("Mole") && rows.contains("20") && rows.contains("60"), "{answer}");
    assert!(!rows.contains("10") && !rows.contains("30"), "{rows}");

    let asked = bakery.ask("average delay by stop", None).await;
    let rest = bakery.ask(&stop, Some(&asked["conversationId"])).await;
    assert_eq!(rest["outcome"], "clarification", "{rest}");
    let open = rest["clarificationRequest"]["questions"].as_array().unwrap();
    assert_eq!(open.len(), 1, "what was answered is not asked again: {rest}");
    let answer = bakery.ask(&delay, Some(&rest["conversationId"])).await;
    assert_eq!(answer["table"]["rows"].to_string(), rows, "{answer}");
    bakery.service.stop().await;
}

/// Every row of the one table belongs to each row of the other, which no key of the data holds against.
const PRODUCT: &str = "\
version: 0.2.0.dev0
name: product
datasets:
  - name: left
    source: lefts
    primary_key: [id]
    fields:
      - {name: amount, expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}, datatype: Integer}
  - name: right
    source: rights
    primary_key: [same]
    fields:
      - {name: size, expression: {dialects: [{dialect: ANSI_SQL, expression: id}]}, datatype: Integer}
relationships:
  - {name: left_to_right, from: left, to: right, from_columns: [same], to_columns: [same]}
metrics:
  - {name: total_amount, expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(left.amount)}]}}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_question_whose_whole_time_is_over_says_so() {
    let service = Service::with(&[("DRAGOMAN_ASK_SECONDS", "1")]).await;
    let mut bakery = Bakery::open(service).await;
    let rows: String = (0..100_000).map(|id| format!("{id},1\n")).collect();
    for file in ["lefts.csv", "rights.csv"] {
        bakery.service.import(&bakery.org, file, format!("id,same\n{rows}").as_bytes(), true).await.unwrap();
    }
    bakery.ontology = in_store(&bakery, "product", PRODUCT).await.to_string();
    // Ten thousand million rows are joined.
    let (status, late) = bakery.try_ask("total amount by size").await;
    assert_eq!((status, &late["error"]["code"]), (408, &json!("agent_timeout")), "{late}");
    assert!(late["error"]["message"].as_str().unwrap().contains("1 s"), "{late}");
    let body = json!({ "ontologyId": bakery.ontology, "question": "total amount by size" });
    let params = json!({ "name": "ask_question", "arguments": body });
    let (_, late) = json_of(bakery.service.rpc(&bakery.client, "tools/call", params).send().await.unwrap()).await;
    assert_eq!(late["result"]["isError"], true, "{late}");
    assert!(late["result"]["content"].to_string().contains("agent_timeout"), "{late}");
    let query = json!({ "ontologyId": bakery.ontology, "measures": ["total_amount"], "dimensions": ["right.size"] });
    let (failed, late) = bakery.service.tool(&bakery.client, "dragoman_query", query).await;
    assert_eq!((failed, &late["error"]["code"]), (true, &json!("agent_timeout")), "{late}");
    bakery.service.stop().await;
}
