//! `ask_question` through a real client, in both eras.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CompleteRequestParams,
    ElicitRequestParams, ElicitResult, ElicitationAction, GetPromptRequestParams, ProtocolVersion,
    ReadResourceRequestParams, Reference, ResourceContents,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};

use super::Bakery;
use crate::support::service::{bytes_of, http, json_of};

pub(super) fn eras() -> [(&'static str, ClientLifecycleMode); 2] {
    let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [("sessions", ClientLifecycleMode::Initialize), ("stateless", modern)]
}

pub(super) async fn connect<H: ClientHandler>(
    bakery: &Bakery,
    handler: H,
    mode: ClientLifecycleMode,
) -> RunningService<RoleClient, H> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(bakery.service.url("/mcp"));
    config.auth_header = Some(bakery.client.clone());
    let transport = StreamableHttpClientTransport::with_client(http(), config);
    handler.serve_with_lifecycle(transport, mode).await.unwrap()
}

async fn ask<H: ClientHandler>(
    client: &RunningService<RoleClient, H>,
    bakery: &Bakery,
    question: &str,
) -> CallToolResult {
    let arguments = json!({ "ontologyId": bakery.ontology, "question": question });
    let params = CallToolRequestParams::new("ask_question").with_arguments(arguments.as_object().unwrap().clone());
    client.call_tool(params).await.unwrap()
}

fn texts(result: &CallToolResult) -> Vec<String> {
    result.content.iter().filter_map(|block| Some(block.as_text()?.text.clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_its_numbers_its_reading_a_chart_and_where_it_came_from() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let client = connect(&bakery, ClientConfig::default(), mode).await;
        let result = ask(&client, &bakery, "revenue by shop").await;
        let reply = result.structured_content.clone().unwrap();
        assert_eq!((&reply["outcome"], &reply["verified"]), (&json!("answer"), &json!(true)), "{era}: {reply}");
        // Old Mill: 8 + 5; Corner: 4 + 2 + 12. Closed sold nothing.
        let rows = reply["table"]["rows"].to_string();
        assert_eq!(
            rows, r#"[["Corner",2,18.0],["Old Mill",1,13.0]]"#,
            "{era}: names that may be shared have their key"
        );

        let blocks = texts(&result);
        assert!(blocks[0].contains("18") && blocks[0].contains("Read as"), "{era}: {}", blocks[0]);
        let parts: Vec<Value> = blocks[1..].iter().map(|block| serde_json::from_str(block).unwrap()).collect();
        let kinds: Vec<&str> = parts.iter().filter_map(|part| part["_type"].as_str()).collect();
        assert_eq!(kinds, ["chart_specs", "data_lineage", "conversation"], "{era}");
        assert_eq!(parts[0], reply["chartSpecs"], "{era}: each block is in the structure too");
        assert_eq!(parts[1], reply["dataLineage"], "{era}");
        let datasets = json!([{ "name": "sale", "source": "sales" }, { "name": "shop", "source": "shops" }]);
        assert_eq!(parts[1]["datasets"], datasets, "{era}");
        let join = json!({
            "left": "sale",
            "right": "shop",
            "relationship": "sale_to_shop",
            "on": [{ "left": "shop_id", "right": "shop_id" }]
        });
        assert_eq!(parts[1]["joins"], json!([join]), "{era}");
        let read_as = reply["readAs"].as_str().unwrap();
        assert!(read_as.contains("Revenue by") && blocks[0].contains(read_as), "{era}: {read_as}");
        assert!(parts[1]["sql"].as_str().unwrap().contains("SUM("), "{era}");
        assert_eq!(parts[2]["conversationId"], reply["conversationId"], "{era}");
        let pictures = &result.meta.as_ref().unwrap().0["dragoman/svg"];
        assert!(pictures[0].as_str().unwrap().starts_with("<svg"), "{era}");
        assert!(!reply.to_string().contains("<svg"), "{era}: pictures are for views, not for models");
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_come_as_images_to_whom_asks_for_them() {
    let bakery = Bakery::start().await;
    for image in [true, false] {
        let arguments = json!({ "ontologyId": bakery.ontology, "question": "revenue by shop", "image": image });
        let sent = bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&arguments).send().await.unwrap();
        let (status, reply) = json_of(sent).await;
        assert_eq!((status, &reply["outcome"]), (200, &json!("answer")), "{reply}");
        let picture = reply["images"][0].as_str().unwrap_or_default();
        assert_eq!((reply.get("images").is_some(), picture.starts_with("<svg")), (image, image), "{reply}");

        let params = json!({ "name": "ask_question", "arguments": arguments });
        let sent = bakery.service.rpc(&bakery.client, "tools/call", params).send().await.unwrap();
        let (_, body) = json_of(sent).await;
        let blocks = body["result"]["content"].as_array().unwrap();
        let images: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "image").collect();
        assert_eq!(images.len(), usize::from(image), "{body}");
        assert!(images.iter().all(|block| block["mimeType"] == "image/svg+xml"), "{body}");
        assert!(!body["result"]["structuredContent"].to_string().contains("<svg"), "{body}");
        let recorded = bakery.service.last_audit(&bakery.org).await.bytes;
        assert_eq!(recorded, i64::try_from(bytes_of(&body["result"])).unwrap(), "{body}");
    }
    bakery.service.stop().await;
}

/// Answers forms as a person would, and remembers what was asked.
#[derive(Clone)]
struct Person {
    answer: Option<&'static str>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder().enable_elicitation().build(),
            rmcp::model::Implementation::new("person", "1"),
        )
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else { panic!("a form") };
        let schema = serde_json::to_value(&requested_schema).unwrap();
        self.asked.lock().unwrap().push(schema.to_string());
        let Some(answer) = self.answer else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        let options = schema["properties"]["answer_1"]["enum"].as_array().unwrap();
        let option = options.iter().find(|option| option.as_str().unwrap().contains(answer)).unwrap();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "answer_1": option })))
    }
}

/// "best shop" does not say by what: revenue or pieces.
const OPEN: &str = "Which is the best shop?";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_back_reaches_the_person_in_a_form() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let person = Person { answer: Some("pieces"), asked: Arc::default() };
        let client = connect(&bakery, person.clone(), mode.clone()).await;
        let result = ask(&client, &bakery, OPEN).await;
        let reply = result.structured_content.unwrap();
        assert_eq!(reply["outcome"], "answer", "{era}: {reply}");
        // Old Mill sold 12 pieces, Corner 8.
        assert!(reply["table"]["rows"].to_string().contains(r#""Old Mill""#), "{era}: {reply}");
        assert!(reply["narrative"].as_str().unwrap().contains("12"), "{era}: {reply}");
        assert_eq!(person.asked.lock().unwrap().len(), 1, "{era}");
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_forms_gets_the_questions_as_the_result() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let client = connect(&bakery, ClientConfig::default(), mode).await;
        let result = ask(&client, &bakery, OPEN).await;
        assert_ne!(result.is_error, Some(true), "{era}");
        let blocks = texts(&result);
        assert_eq!(blocks.len(), 1, "{era}: it stands alone");
        let asked: Value = serde_json::from_str(&blocks[0]).unwrap();
        assert_eq!(asked["_type"], "clarification_request", "{era}");
        let question = &asked["questions"][0];
        let options = question["suggestions"].as_array().unwrap();
        assert!((2..=5).contains(&options.len()) && options.contains(&question["assumption"]), "{era}: {asked}");
        assert!(asked["conversationId"].is_string(), "{era}: to go on with");
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_does_not_say_gets_the_question_or_the_assumption() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let person = Person { answer: None, asked: Arc::default() };
        let client = connect(&bakery, person, mode).await;
        let reply = ask(&client, &bakery, OPEN).await.structured_content.unwrap();
        // With sessions the form was declined within the call. Without them the repeated call says so, and what is
        // assumed is stated.
        match era {
            "sessions" => assert_eq!(reply["outcome"], "clarification", "{reply}"),
            _ => assert_eq!(reply["outcome"], "answer", "{reply}"),
        }
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ontologies_are_resources_prompts_fill_in_and_variables_complete() {
    let bakery = Bakery::start().await;
    for (era, mode) in eras() {
        let client = connect(&bakery, ClientConfig::default(), mode).await;
        let read = async |uri: &str| {
            let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
            let ResourceContents::TextResourceContents { text, mime_type, .. } = read.contents[0].clone() else {
                panic!()
            };
            (text, mime_type.unwrap())
        };
        let (all, _) = read("dragoman://ontologies").await;
        let all: Value = serde_json::from_str(&all).unwrap();
        assert_eq!(
            all,
            json!([{ "id": bakery.ontology, "name": "bakery", "description": "What the shops sell",
                "datasetCount": 2, "fieldCount": 6 }]),
            "{era}: two fields are hidden"
        );
        let (one, _) = read(&format!("dragoman://ontologies/{}", bakery.ontology)).await;
        let one: Value = serde_json::from_str(&one).unwrap();
        assert_eq!(one["metrics"][0]["expression"], Value::Null, "{era}: it reads a hidden field");
        assert_eq!(one["metrics"][1]["expression"], "SUM(sale.pieces)", "{era}");
        assert_eq!(one["relationships"][0]["to"], "shop", "{era}");
        let (schema, kind) = read(&format!("dragoman://ontologies/{}/datasets/sale", bakery.ontology)).await;
        assert!(
            kind.contains("yaml") && schema.contains("name: product") && schema.contains("article"),
            "{era}: {schema}"
        );
        let (view, kind) = read("ui://dragoman/chart.html").await;
        assert!(kind == "text/html;profile=mcp-app" && view.to_lowercase().starts_with("<!doctype html>"), "{era}");
        let tools = client.list_all_tools().await.unwrap();
        let tool = tools.iter().find(|tool| tool.name == "ask_question").unwrap();
        assert_eq!(tool.meta.as_ref().unwrap().0["ui"]["resourceUri"], "ui://dragoman/chart.html", "{era}");

        let prompts = client.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        assert_eq!(names, ["ask_about", "connect_client", "explore_dataset"], "{era}");
        let mut params = GetPromptRequestParams::new("ask_about");
        params.arguments = json!({ "ontology_id": bakery.ontology }).as_object().cloned();
        let prompt = client.get_prompt(params).await.unwrap();
        let said = serde_json::to_string(&prompt.messages).unwrap();
        assert!(said.contains("revenue") && said.contains("ask_question"), "{era}: {said}");

        let argument = rmcp::model::ArgumentInfo::new("platform", "cl");
        let asked = CompleteRequestParams::new(Reference::for_prompt("connect_client"), argument);
        let values = client.complete(asked).await.unwrap().completion.values;
        assert_eq!(values, ["claude", "claude-code"], "{era}");
        let argument = rmcp::model::ArgumentInfo::new("id", "bak");
        let place = Reference::for_resource("dragoman://ontologies/{id}");
        let values = client.complete(CompleteRequestParams::new(place, argument)).await.unwrap().completion.values;
        assert_eq!(values, std::slice::from_ref(&bakery.ontology), "{era}");
        client.cancel().await.unwrap();
    }
    bakery.service.stop().await;
}
