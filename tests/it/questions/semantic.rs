//! From nothing to a right number with tools alone: which ontologies there are, what one offers, and a query over it.

use dragoman::model::access::{Role, Scope};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig};
use rmcp::service::RunningService;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::mcp::{connect, eras};
use super::{Bakery, ONTOLOGY, in_store};
use crate::support::service::{Service, json_of};

async fn call<H: ClientHandler>(
    client: &RunningService<RoleClient, H>,
    name: &'static str,
    arguments: Value,
) -> CallToolResult {
    let params = CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
    client.call_tool(params).await.unwrap()
}

fn text(result: &CallToolResult) -> String {
    result.content[0].as_text().unwrap().text.clone()
}

impl Bakery {
    async fn tool(&self, name: &str, arguments: Value) -> (bool, Value) {
        let params = json!({ "name": name, "arguments": arguments });
        let (status, body) = json_of(self.service.rpc(&self.client, "tools/call", params).send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        let result = &body["result"];
        let failed = result["isError"] == true;
        let told = result["content"][0]["text"].as_str().unwrap();
        (failed, if failed { serde_json::from_str(told).unwrap() } else { result["structuredContent"].clone() })
    }

    async fn query(&self, query: Value) -> Value {
        let (failed, reply) = self.tool("dragoman_query", query.clone()).await;
        assert!(!failed, "{query}: {reply}");
        reply
    }

    async fn refused(&self, query: Value) -> Value {
        let (failed, refused) = self.tool("dragoman_query", query.clone()).await;
        assert!(failed, "{query}: {refused}");
        refused["error"].clone()
    }

    async fn about(&self, about: &str) -> Value {
        let (failed, reply) = self.tool("dragoman_get_ontology", json!({ "about": about })).await;
        assert!(!failed, "{about}: {reply}");
        reply
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_sees_tools_alone_gets_from_nothing_to_a_right_number() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let client = connect(&bakery, ClientConfig::default(), mode).await;
        let listed = call(&client, "dragoman_list_ontologies", json!({})).await.structured_content.unwrap();
        let [one] = listed["ontologies"].as_array().unwrap().as_slice() else { panic!("{era}: {listed}") };
        assert_eq!((&one["name"], &one["id"]), (&json!("bakery"), &json!(bakery.ontology)), "{era}");
        assert_eq!(one["datasets"], json!(["sale", "shop"]), "{era}");
        assert_eq!(one["examples"], json!(["revenue by shop", "pieces sold by shop"]), "{era}");

        let told = call(&client, "dragoman_get_ontology", json!({ "ontologyId": "bakery" })).await;
        let reply = told.structured_content.clone().unwrap();
        let metrics = &reply["metrics"];
        assert!(
            metrics[0].as_str().unwrap().starts_with("revenue [EUR]"),
            "{era}: hidden euros are not told: {metrics}"
        );
        assert!(metrics[1].as_str().unwrap().starts_with("pieces_sold = SUM(sale.pieces)"), "{era}: {metrics}");
        let sale = &reply["datasets"][0];
        assert!(sale["dataset"].as_str().unwrap().contains("sold_on, 2025-01-10 to 2025-02-28"), "{era}: {sale}");
        assert!(sale["fields"].to_string().contains("one of 'Bun', 'Rye'"), "{era}: {sale}");
        let as_text = text(&told);
        for line in metrics.as_array().unwrap().iter().chain(sale["fields"].as_array().unwrap()) {
            assert!(as_text.contains(line.as_str().unwrap()), "{era}: each says all: {as_text}");
        }

        // What it shows as examples runs as it is.
        let examples = reply["examples"].as_array().unwrap();
        assert!(examples.len() >= 3, "{era}: {examples:?}");
        for example in examples {
            let answer = call(&client, "dragoman_query", example.clone()).await;
            assert_ne!(answer.is_error, Some(true), "{era}: {example}: {answer:?}");
        }
        let query = json!({ "measures": ["revenue"], "dimensions": ["shop.town"], "order": ["revenue desc"] });
        let answer = call(&client, "dragoman_query", query).await;
        let reply = answer.structured_content.clone().unwrap();
        // Corner in Bruges: 4 + 2 + 12. Old Mill in Ghent: 8 + 5.
        assert_eq!(reply["table"]["rows"], json!([["Bruges", 18.0], ["Ghent", 13.0]]), "{era}: {reply}");
        assert_eq!((&reply["outcome"], &reply["verified"]), (&json!("answer"), &json!(true)), "{era}: {reply}");
        assert!(text(&answer).contains("18"), "{era}: {answer:?}");
        assert_eq!(reply["dataLineage"]["_type"], "data_lineage", "{era}");
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}

/// ChatGPT shows its model tools, and the first 512 characters of the instructions: no resource and no prompt. Every name
/// that is called or queried here stands in something that the service said before.
#[tokio::test(flavor = "multi_thread")]
async fn chatgpt_gets_from_nothing_to_a_right_number_by_what_it_is_told() {
    const DOCUMENT: (&str, &str) =
        ("https://chatgpt.com/oauth/client.json", "https://chatgpt.com/connector_platform_oauth_redirect");
    let bakery = Bakery::start().await;
    let (service, user) = (&bakery.service, bakery.baker.user.unwrap());
    let token = service.access_token_by(&bakery.org, user, &Scope::ALL, DOCUMENT).await;
    let rpc = async |method: &str, params: Value| {
        let (status, body) = json_of(service.rpc(&token, method, params).send().await.unwrap()).await;
        assert_eq!(status, 200, "{method}: {body}");
        body["result"].clone()
    };
    let call = async |name: &str, arguments: Value| {
        let result = rpc("tools/call", json!({ "name": name, "arguments": arguments })).await;
        assert_eq!(result["isError"], false, "{name}: {result}");
        result["structuredContent"].clone()
    };
    let told = rpc("server/discover", json!({})).await;
    let shown: String = told["instructions"].as_str().unwrap().chars().take(512).collect();
    let listed = rpc("tools/list", json!({})).await;
    let tools: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let words = shown.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let [list, get, query, ..] = words.filter(|word| tools.contains(word)).collect::<Vec<_>>()[..] else {
        panic!("{shown}: {tools:?}")
    };

    let ontologies = call(list, json!({ "about": "turnover by town" })).await;
    let [one] = ontologies["ontologies"].as_array().unwrap().as_slice() else { panic!("{ontologies}") };
    let guide = call(get, json!({ "ontologyId": one["id"], "about": "turnover by town" })).await;
    let first = |line: &Value| line.as_str().unwrap().split([' ', ';', ',']).next().unwrap().to_owned();
    let metrics = guide["metrics"].as_array().unwrap();
    let metric = metrics.iter().find(|line| line.as_str().unwrap().contains("turnover")).map(first).unwrap();
    let mut fields = guide["datasets"].as_array().unwrap().iter().flat_map(|it| {
        let fields = it["fields"].as_array().unwrap().iter();
        fields.map(move |field| (first(&it["dataset"]), first(field)))
    });
    let (dataset, field) = fields.find(|(_, field)| field == "town").unwrap();
    let asked = json!({ "measures": [metric], "dimensions": [format!("{dataset}.{field}")] });
    let mut rows: Vec<Value> = call(query, asked).await["table"]["rows"].as_array().unwrap().clone();
    rows.sort_by_key(ToString::to_string);
    // Corner in Bruges: 4 + 2 + 12. Old Mill in Ghent: 8 + 5.
    assert_eq!(rows, [json!(["Bruges", 18.0]), json!(["Ghent", 13.0])]);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_narrow_an_ontology_and_find_stored_values() {
    let bakery = Bakery::start().await;
    let ghent = bakery.about("pieces in ghent").await;
    assert_eq!(ghent["values"], json!(["shop.town = 'Ghent'"]), "{ghent}");
    assert_eq!(ghent["metrics"].as_array().unwrap().len(), 1, "{ghent}");
    let filters = ghent["values"].clone();
    let reply = bakery.query(json!({ "measures": ["pieces_sold"], "filters": filters })).await;
    assert_eq!(reply["table"]["rows"], json!([[12]]), "as it is, in a query: {reply}");
    let mill = bakery.about("Old Mil").await;
    assert!(mill["values"].to_string().contains("shop.shop_name = 'Old Mill'"), "{mill}");
    let nothing = bakery.about("xyzzy").await;
    assert!(nothing["notFound"].as_str().unwrap().starts_with("Nothing here is called so"), "{nothing}");
    assert_eq!(nothing["datasets"].as_array().unwrap().len(), 2, "{nothing}");
    let (failed, refused) = bakery.tool("dragoman_get_ontology", json!({ "about": "x".repeat(501) })).await;
    assert!(failed && refused["error"]["details"]["field"] == "about", "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_says_what_a_model_would_stumble_over() {
    let bakery = Bakery::start().await;
    let caveats = |reply: &Value| reply["caveats"].to_string();
    let narrative = |reply: &Value| reply["narrative"].as_str().unwrap().to_owned();
    let headings = |reply: &Value| -> Vec<String> {
        let columns = reply["table"]["columns"].as_array().unwrap().iter();
        columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    let misspelt = json!({ "list": ["shop.shop_name"], "each": "shop", "filters": ["shop.town = 'Gent'"] });
    let reply = bakery.query(misspelt).await;
    assert!(caveats(&reply).contains("No shop.town is 'Gent'; nearest: 'Ghent'."), "{reply}");
    assert!(narrative(&reply).starts_with("**There are no shops** that meet the conditions."), "{reply}");
    let stored = bakery.query(json!({ "measures": ["revenue"], "filters": ["shop.town = 'Ghent'"] })).await;
    assert!(!caveats(&stored).contains("No shop.town"), "{stored}");
    let small = bakery.query(json!({ "measures": ["pieces_sold"], "filters": ["sale.product = 'bun'"] })).await;
    assert!(
        caveats(&small).contains("With “product contains bun”, which leaves capitals aside, there are "),
        "{small}"
    );

    let compared = |with: &str| json!({ "measures": ["revenue"], "time": "2025-02", "compare_to": with });
    let reply = bakery.query(compared("2019-02")).await;
    assert!(caveats(&reply).contains("There is nothing to compare with in Feb 2019."), "{reply}");
    let reply = bakery.query(compared("2025-01")).await;
    assert!(!caveats(&reply).contains("nothing to compare"), "{reply}");

    let shares = json!({ "measures": ["revenue", "share(revenue)"], "dimensions": ["shop.town"] });
    let reply = bakery.query(shares).await;
    assert_eq!(headings(&reply), ["Town", "Revenue", "Share of revenue"], "{reply}");

    let ordered = json!({ "each": "shop", "measures": ["pieces_sold"], "dimensions": ["shop.shop_name"],
        "order": ["shop.town desc", "shop.shop_name"] });
    let reply = bakery.query(ordered).await;
    let rows = json!([["Closed", "Ghent", null], ["Old Mill", "Ghent", 12], ["Corner", "Bruges", 8]]);
    assert_eq!(reply["table"]["rows"], rows, "{reply}");

    let told = bakery.about("turnover of Kenji").await;
    assert!(told["notFound"].as_str().unwrap().contains("kenji"), "{told}");
    assert_eq!(bakery.about("turnover").await["notFound"], Value::Null);
    let (_, told) = bakery.tool("dragoman_get_ontology", json!({})).await;
    assert_eq!(told["relationships"], json!(["sale to shop: write shop.shop_name"]), "{told}");

    let (failed, found) = bakery.tool("dragoman_search", json!({ "query": "opening hours" })).await;
    assert!(!failed && found["note"].as_str().unwrap().starts_with("There are no documents here."), "{found}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ontology_is_named_by_its_name_and_need_not_be_where_there_is_one() {
    let bakery = Bakery::start().await;
    let of = |named: Option<&str>| {
        let mut arguments = json!({ "measures": ["revenue"] });
        named.into_iter().for_each(|named| arguments["ontologyId"] = named.into());
        arguments
    };
    for named in [None, Some("bakery"), Some("Bakery"), Some(bakery.ontology.as_str())] {
        assert_eq!(bakery.query(of(named)).await["table"]["rows"], json!([[31.0]]), "{named:?}");
    }
    let ask = json!({ "question": "revenue" });
    let (failed, answer) = bakery.tool("ask_question", ask.clone()).await;
    assert!(!failed && answer["table"]["rows"] == json!([[31.0]]), "{answer}");
    let path = "/api/v1/ext/ontologies/bakery";
    let (status, read) = json_of(bakery.service.get(path, &bakery.client).send().await.unwrap()).await;
    assert_eq!((status, &read["ontology"]["id"]), (200, &json!(bakery.ontology)), "{read}");
    let entry = bakery.service.last_audit(&bakery.org).await;
    assert_eq!(entry.target, "get_ontology by name", "no text of the caller's is kept for ever");

    let second = ONTOLOGY.replace("name: bakery", "name: second");
    let other = in_store(&bakery, "second", &second).await.to_string();
    let error = bakery.refused(of(None)).await;
    assert_eq!((&error["code"], &error["details"]["field"]), (&json!("invalid_argument"), &json!("ontologyId")));
    let message = error["message"].as_str().unwrap();
    for part in ["bakery", "second", &bakery.ontology, &other] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(error["details"]["ontologies"][1], json!({ "id": other, "name": "second" }), "{error}");
    let (failed, refused) = bakery.tool("ask_question", ask).await;
    assert!(failed && refused["error"]["code"] == "invalid_argument", "{refused}");
    let error = bakery.refused(of(Some("nosuch"))).await;
    assert_eq!(error["code"], "ontology_not_found");
    assert!(error["message"].as_str().unwrap().contains("bakery"), "{error}");
    // A conversation knows which one it is about.
    let goes_on = json!({ "question": "and by shop?", "conversationId": answer["conversationId"] });
    let (failed, next) = bakery.tool("ask_question", goes_on).await;
    assert!(!failed && next["outcome"] == "answer", "{next}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_query_is_told_with_its_place_and_the_names_that_come_near() {
    let bakery = Bakery::start().await;
    let audit = async || bakery.service.last_audit(&bakery.org).await;
    for (query, field, part) in [
        (json!({ "measures": ["revenu"] }), "measures[0]", "revenue"),
        (json!({ "measures": ["revenue"], "filters": ["shop.twon = 'Ghent'"] }), "filters[0]", "shop.town"),
        (
            json!({ "measures": ["revenue"], "dimensions": ["shop.town", "sale.prodct"] }),
            "dimensions[1]",
            "sale.product",
        ),
        (json!({ "measures": ["revenue"], "numbers": ["x"] }), "numbers", "measures"),
        (json!({ "measures": 5 }), "measures", "measures"),
    ] {
        let error = bakery.refused(query.clone()).await;
        assert_eq!(error["code"], "invalid_argument", "{query}: {error}");
        assert_eq!(error["details"]["field"], field, "{query}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{query}: {error}");
    }
    let error = bakery.refused(json!({ "measures": ["revenue"], "filters": ["sale.euros > 1"] })).await;
    assert!(!error["details"]["problems"][0]["nearest"].to_string().contains("euros"), "hidden: {error}");
    // Of a query the record keeps a digest and no value.
    bakery.query(json!({ "measures": ["revenue"], "filters": ["shop.town = 'Ghent'"] })).await;
    let target = audit().await.target;
    assert!(target.starts_with("dragoman_query the only one sha256:") && !target.contains("Ghent"), "{target}");
    bakery.service.stop().await;
}

/// From a trip two ways lead to a town.
const TRIPS: &str = "\
version: 0.2.0.dev0
name: trips
datasets:
  - name: trip
    source: trips
    primary_key: [trip_id]
    fields:
      - {name: trip_id, expression: {dialects: [{dialect: ANSI_SQL, expression: trip_id}]}, datatype: Integer}
  - name: town
    source: towns
    primary_key: [town_id]
    fields:
      - {name: town_name, expression: {dialects: [{dialect: ANSI_SQL, expression: town_name}]}, datatype: String}
relationships:
  - {name: starts_in, from: trip, to: town, from_columns: [start_id], to_columns: [town_id]}
  - {name: ends_in, from: trip, to: town, from_columns: [end_id], to_columns: [town_id]}
metrics:
  - {name: trip_count, expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(trip.trip_id)}]}}
";

#[tokio::test(flavor = "multi_thread")]
async fn of_several_ways_to_join_all_are_told_and_each_can_be_taken() {
    let bakery = Bakery::start().await;
    for (file, rows) in [
        ("trips.csv", "trip_id,start_id,end_id\n1,1,2\n2,1,2\n3,2,2\n"),
        ("towns.csv", "town_id,town_name\n1,Ghent\n2,Bruges\n"),
    ] {
        bakery.service.import(&bakery.org, file, rows.as_bytes(), true).await.unwrap();
    }
    let ontology = in_store(&bakery, "trips", TRIPS).await.to_string();
    let query = |name: &str| json!({ "ontologyId": ontology, "measures": ["trip_count"], "dimensions": [name] });
    let refused = bakery.refused(query("town.town_name")).await;
    assert_eq!((&refused["code"], &refused["details"]["dataset"]), (&json!("invalid_argument"), &json!("town")));
    let ways = refused["details"]["ways"].as_array().unwrap().clone();
    assert_eq!(ways.len(), 2, "{refused}");
    let mut counted = Vec::new();
    for way in &ways {
        let way = way.as_str().unwrap();
        assert!(refused["message"].as_str().unwrap().contains(way), "{refused}");
        let answer = bakery.query(query(&format!("{way}.town_name"))).await;
        counted.push((way, answer["table"]["rows"].to_string()));
    }
    let of = |role: &str| counted.iter().find(|(way, _)| way.contains(role)).map(|(_, rows)| rows.as_str());
    assert_eq!(of("ends_in"), Some(r#"[["Bruges",3]]"#));
    let starts = of("starts_in").unwrap();
    assert!(starts.contains(r#"["Ghent",2]"#) && starts.contains(r#"["Bruges",1]"#), "{starts}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_rest_a_query_is_answered_and_its_trace_kept_as_a_questions_is() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let body =
            json!({ "measures": "revenue", "dimensions": "sale.sold_on by month", "time": "2025", "limit": null });
        let sent = bakery.service.post("/api/v1/ext/query", &bakery.admin).json(&body).send().await.unwrap();
        let (status, reply) = json_of(sent).await;
        assert_eq!(status, 200, "{reply}");
        let sums: Vec<&Value> = reply["table"]["rows"].as_array().unwrap().iter().map(|row| &row[1]).collect();
        assert_eq!(sums, [&json!(13.0), &json!(18.0)], "January and February: {reply}");
        let path = format!("/questions/{}", reply["traceId"].as_str().unwrap());
        let (status, trace) = bakery.service.manage(&bakery.admin, "GET", &path, None).await;
        assert_eq!((status, &trace["outcome"]), (200, &json!("answer")), "{trace}");
        assert!(trace["question"].as_str().unwrap().contains("sale.sold_on by month"), "{trace}");
        let ask = json!({ "question": "and by shop?", "conversationId": reply["conversationId"] });
        let sent = bakery.service.post("/api/v1/ext/ask", &bakery.admin).json(&ask).send().await.unwrap();
        let (_, next) = json_of(sent).await;
        assert_eq!(next["outcome"], "answer", "a question goes on from a query: {next}");

        let get = async |path: &str| json_of(bakery.service.get(path, &bakery.client).send().await.unwrap()).await;
        let (status, listed) = get("/api/v1/ext/query/ontologies?about=turnover").await;
        assert_eq!((status, &listed["ontologies"][0]["name"]), (200, &json!("bakery")), "{listed}");
        let (status, told) = get("/api/v1/ext/query/ontology?about=Ghent").await;
        assert_eq!((status, &told["values"]), (200, &json!(["shop.town = 'Ghent'"])), "{told}");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_names_or_values_of_what_they_do_not_see() {
    let bakery = Bakery::start().await;
    bakery.withdraw("shops").await;
    for about in ["", "Ghent", "shop town", "revenue by town"] {
        let mut told = bakery.about(about).await;
        // What the caller said.
        told.as_object_mut().unwrap().remove("notFound");
        let all = told.to_string().replace(about, "");
        assert!(!all.contains("shop") && !all.contains("town") && !all.contains("Ghent"), "{about}: {all}");
        assert!(all.contains("revenue"), "{about}: {all}");
    }
    let (_, listed) = bakery.tool("dragoman_list_ontologies", json!({})).await;
    assert_eq!(listed["ontologies"][0]["datasets"], json!(["sale"]), "{listed}");
    assert!(!listed.to_string().contains("shop"), "{listed}");
    let error = bakery.refused(json!({ "measures": ["revenue"], "dimensions": ["shop.town"] })).await;
    let nearest = error["details"]["problems"][0]["nearest"].to_string();
    assert!(!nearest.contains("shop") && !nearest.contains("town"), "{error}");
    assert_eq!(bakery.query(json!({ "measures": ["revenue"] })).await["table"]["rows"], json!([[31.0]]));

    bakery.withdraw("sales").await;
    let (_, listed) = bakery.tool("dragoman_list_ontologies", json!({})).await;
    assert_eq!(listed["ontologies"], json!([]));
    assert!(listed["note"].as_str().unwrap().contains("dragoman_sql"), "{listed}");
    let (failed, gone) = bakery.tool("dragoman_get_ontology", json!({ "ontologyId": bakery.ontology })).await;
    assert!(failed && gone["error"]["code"] == "ontology_not_found", "{gone}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_for_who_may_read_ontologies_values_for_who_may_see_samples_and_numbers_for_who_may_run_sql() {
    let bakery = Bakery::start().await;
    let told = async |role: Role, scopes: &[Scope], about: &str| {
        let token = bakery.service.access_token(&bakery.org, role, scopes).await;
        let path = format!("/api/v1/ext/query/ontology?about={about}");
        json_of(bakery.service.get(&path, &token).send().await.unwrap()).await
    };
    let (status, blind) = told(Role::Viewer, &[Scope::OntologiesRead], "Ghent").await;
    assert_eq!(status, 200, "{blind}");
    assert!(blind["values"].is_null() && !blind.to_string().contains("'Bun'"), "{blind}");
    assert!(blind["leftOut"].as_str().unwrap().contains("right to read schemas"), "{blind}");
    let (status, seeing) = told(Role::Viewer, &[Scope::OntologiesRead, Scope::DataRead], "Ghent").await;
    assert_eq!((status, &seeing["values"]), (200, &json!(["shop.town = 'Ghent'"])), "{seeing}");
    let (status, refused) = told(Role::Viewer, &[Scope::DataRead], "Ghent").await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("scope_denied")), "{refused}");

    let viewer =
        bakery.service.access_token(&bakery.org, Role::Viewer, &[Scope::OntologiesRead, Scope::DataRead]).await;
    let body = json!({ "measures": ["revenue"] });
    let sent = bakery.service.post("/api/v1/ext/query", &viewer).json(&body).send().await.unwrap();
    assert_eq!(json_of(sent).await.0, 403);
    bakery.service.stop().await;
}
