//! The server that the protocol's conformance suite asks for: tools, resources and prompts with the names, arguments
//! and answers of its scenarios, each of which says in the suite's source what it expects. It stands where the product's
//! own server stands, and knows nothing of data.
#![expect(deprecated, reason = "the older revisions have sampling and logging")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman::base::cursor::Cursors;
use dragoman::model::caller::Caller;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CompletionInfo, DiscoverResult, ElicitResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, GetTaskParams, GetTaskResult, Implementation, InputRequiredResult, InputResponses,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::jobs::Jobs;
use super::schemas::{choices, defaults, tools};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// Between the notifications of a call that sends several.
const PAUSE: Duration = Duration::from_millis(50);
const TTL: u64 = 1_000;

/// One instance: of a session, or of a request where there are no sessions.
#[derive(Clone)]
pub struct Fixture {
    shared: Arc<Shared>,
    /// What the client of a session wants to be told at least.
    level: Arc<Mutex<LoggingLevel>>,
}

/// What all instances share.
pub struct Shared {
    listeners: Mutex<Vec<SubscriptionSink>>,
    states: Cursors,
    jobs: Jobs,
}

impl Shared {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { listeners: Mutex::default(), states: Cursors::new(vec![7; 32]), jobs: Jobs::default() })
    }

    /// Tells every stream that listens for it; one that has ended is forgotten.
    async fn changed(&self, tools: bool) {
        let listeners = self.listeners.lock().unwrap().clone();
        for sink in listeners {
            let wanted = if tools { sink.accepted().tools_list_changed } else { sink.accepted().prompts_list_changed };
            if wanted != Some(true) {
                continue;
            }
            let told =
                if tools { sink.notify_tool_list_changed().await } else { sink.notify_prompt_list_changed().await };
            if told.is_err() {
                self.listeners.lock().unwrap().retain(|other| other.id() != sink.id());
            }
        }
    }
}

impl Fixture {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared, level: Arc::new(Mutex::new(LoggingLevel::Info)) }
    }
}

/// A value as the protocol writes it.
pub fn typed<T: DeserializeOwned>(json: Value) -> T {
    let text = json.to_string();
    serde_json::from_value(json).unwrap_or_else(|problem| panic!("{problem}: {text}"))
}

pub fn text(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    content(json!([{ "type": "text", "text": text.into() }]))
}

fn content(content: Value) -> Result<CallToolResponse, ErrorData> {
    Ok(typed::<CallToolResult>(json!({ "resultType": "complete", "content": content })).into())
}

pub fn failed(text: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::error(typed(json!([{ "type": "text", "text": text }]))).into())
}

pub fn asking(requests: Value, state: Option<String>) -> InputRequiredResult {
    InputRequiredResult::new(Some(typed(requests)), state)
}

/// A form with one required text or truth value.
pub fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling(question: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": question } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

/// What the person filled in.
pub fn filled(responses: Option<&InputResponses>, key: &str, field: &str) -> Option<Value> {
    let answer: ElicitResult = serde_json::from_value(responses?.get(key)?.clone()).ok()?;
    answer.content?.get(field).cloned()
}

type Context = RequestContext<RoleServer>;

impl Fixture {
    /// The tools that answer at once.
    fn plain(name: &str) -> Option<Result<CallToolResponse, ErrorData>> {
        let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
        let resource = |uri: &str, mime: &str, text: &str| {
            let resource = json!({ "uri": uri, "mimeType": mime, "text": text });
            json!({ "type": "resource", "resource": resource })
        };
        Some(match name {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => content(json!([image])),
            "test_audio_content" => content(json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])),
            "test_embedded_resource" => {
                let said = "This is an embedded resource content.";
                content(json!([resource("test://embedded-resource", "text/plain", said)]))
            }
            "test_multiple_content_types" => content(json!([
                { "type": "text", "text": "Multiple content types test:" },
                image,
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ])),
            "test_error_handling" => failed("This tool intentionally returns an error for testing"),
            "json_schema_2020_12_tool" | "test_header" => text(name),
            _ => return None,
        })
    }

    /// A request to the client within the call: what the era of sessions has.
    async fn elicited(
        context: &Context,
        message: &str,
        properties: Value,
        required: Value,
    ) -> Result<CallToolResponse, ErrorData> {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let params = typed(json!({ "mode": "form", "message": message, "requestedSchema": schema }));
        match context.peer.create_elicitation(params).await {
            Ok(answer) => text(format!("Elicitation completed: {}", json!(answer))),
            Err(problem) => failed(&problem.to_string()),
        }
    }

    async fn sampled(context: &Context, prompt: &str) -> Result<CallToolResponse, ErrorData> {
        let params = sampling(prompt)["params"].take();
        match context.peer.create_message(typed(params)).await {
            Ok(answer) => text(format!("LLM response: {}", json!(answer.message))),
            Err(problem) => failed(&problem.to_string()),
        }
    }

    async fn logged(&self, context: &Context) -> Result<CallToolResponse, ErrorData> {
        let modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let wanted = if modern { context.meta.log_level() } else { Some(*self.level.lock().unwrap()) };
        let is_wanted = wanted.is_some_and(|level| matches!(level, LoggingLevel::Debug | LoggingLevel::Info));
        for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            if is_wanted {
                let param = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
                context.peer.notify_logging_message(param).await.map_err(internal)?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        text("Logged.")
    }

    async fn progressed(context: &Context) -> Result<CallToolResponse, ErrorData> {
        for reached in [0.0, 50.0, 100.0] {
            if let Some(token) = context.meta.get_progress_token() {
                let param = ProgressNotificationParam::new(token, reached).with_total(100.0);
                context.peer.notify_progress(param).await.map_err(internal)?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        text("Done.")
    }

    /// The tools that ask by their result (SEP-2322). What they remember between rounds is sealed, and belongs to the
    /// caller and the tool.
    fn asks(&self, request: &CallToolRequestParams, context: &Context) -> Option<Result<CallToolResponse, ErrorData>> {
        let name = request.name.strip_prefix("test_input_required_result_")?;
        let parts = context.extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>()).unwrap();
        let scope = format!("{} {name}", caller.principal());
        let seal = |step: &str| Some(self.shared.states.make(&scope, step));
        let step = match request.request_state.as_deref() {
            Some(state) => match self.shared.states.read(&scope, state) {
                Some(step) => step,
                None => {
                    return Some(Err(ErrorData::invalid_params("The requestState is not one of this server's.", None)));
                }
            },
            None => String::new(),
        };
        let responses = request.input_responses.as_ref();
        let given = |key: &&str| responses.and_then(|all| all.get(*key)).is_some_and(Value::is_object);
        let answered = |keys: &[&str]| keys.iter().all(given);
        let named = form("What is your name?", "name", "string");
        let roots = json!({ "method": "roots/list", "params": {} });
        let confirm = json!({ "confirm": form("Please confirm", "ok", "boolean") });
        Some(match name {
            "elicitation" => match filled(responses, "user_name", "name") {
                Some(Value::String(name)) => text(format!("Hello, {name}!")),
                _ => Ok(asking(json!({ "user_name": named }), None).into()),
            },
            "sampling" if answered(&["capital_question"]) => text("Thank you."),
            "sampling" => {
                Ok(asking(json!({ "capital_question": sampling("What is the capital of France?") }), None).into())
            }
            "list_roots" if answered(&["client_roots"]) => text("Thank you."),
            "list_roots" => Ok(asking(json!({ "client_roots": roots }), None).into()),
            "request_state" | "tampered_state" if step == "asked" && answered(&["confirm"]) => text("state-ok"),
            "request_state" | "tampered_state" => Ok(asking(confirm, seal("asked")).into()),
            "multiple_inputs" if step == "asked" && answered(&["user_name", "greeting", "client_roots"]) => {
                text("Thank you.")
            }
            "multiple_inputs" => {
                let greeting = sampling("Generate a greeting");
                let requests = json!({ "user_name": named, "greeting": greeting, "client_roots": roots });
                Ok(asking(requests, seal("asked")).into())
            }
            "multi_round" => {
                match (step.as_str(), filled(responses, "step1", "name"), filled(responses, "step2", "color")) {
                    ("second", _, Some(color)) => text(format!("Thank you, {color}.")),
                    ("first", Some(_), _) => {
                        let second = form("Step 2: What is your favorite color?", "color", "string");
                        Ok(asking(json!({ "step2": second }), seal("second")).into())
                    }
                    _ => {
                        let first = form("Step 1: What is your name?", "name", "string");
                        Ok(asking(json!({ "step1": first }), seal("first")).into())
                    }
                }
            }
            "capabilities" => {
                let can = json!(context.client_capabilities());
                let all = [("sampling", sampling("Say hello.")), ("elicitation", named), ("roots", roots)];
                let able: Value = all
                    .into_iter()
                    .filter(|(key, _)| can[*key].is_object())
                    .map(|(key, it)| (key.to_owned(), it))
                    .collect();
                Ok(asking(able, None).into())
            }
            _ => return None,
        })
    }

    /// A call that cannot go on without something that the client has to be able to do.
    fn needs(context: &Context, capability: &str) -> Result<(), ErrorData> {
        let can = json!(context.client_capabilities());
        if can[capability].is_object() {
            return Ok(());
        }
        Err(ErrorData::missing_required_client_capability(typed(json!({ capability: {} }))))
    }
}

fn internal(problem: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(problem.to_string(), None)
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let can = json!({
            "tools": { "listChanged": true }, "prompts": { "listChanged": true }, "resources": { "subscribe": true },
            "completions": {}, "logging": {}, "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        let can: ServerCapabilities = typed(can);
        ServerConfig::new(can).with_server_info(Implementation::new("conformance", "1.0.0"))
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.cache_scope = CacheScope::Private;
        Ok(result)
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        *self.level.lock().unwrap() = request.level;
        Ok(())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()).with_ttl_ms(TTL).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = Self::plain(&request.name).or_else(|| self.asks(&request, &context)) {
            return answer;
        }
        if let Some(answer) = self.shared.jobs.call(&request, &context).await {
            return answer;
        }
        let argument = |name: &str| {
            let value = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
            value.map(str::to_owned).ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
        };
        match request.name.as_ref() {
            "test_tool_with_logging" | "test_logging_tool" => self.logged(&context).await,
            "test_tool_with_progress" => Self::progressed(&context).await,
            "test_sampling" => Self::sampled(&context, &argument("prompt")?).await,
            "test_elicitation" => {
                let person = json!({ "username": { "type": "string" }, "email": { "type": "string" } });
                Self::elicited(&context, &argument("message")?, person, json!(["username", "email"])).await
            }
            "test_elicitation_sep1034_defaults" => {
                Self::elicited(&context, "Check the defaults", defaults(), json!([])).await
            }
            "test_elicitation_sep1330_enums" => Self::elicited(&context, "Choose", choices(), json!([])).await,
            "test_missing_capability" => {
                Self::needs(&context, "sampling")?;
                text("The client can.")
            }
            "test_streaming_elicitation" => {
                Self::needs(&context, "elicitation")?;
                Ok(asking(json!({ "name": form("What is your name?", "name", "string") }), None).into())
            }
            "test_trigger_tool_change" => {
                self.shared.changed(true).await;
                text("The tools changed.")
            }
            "test_trigger_prompt_change" => {
                self.shared.changed(false).await;
                text("The prompts changed.")
            }
            name => Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
        }
    }

    async fn get_task(&self, request: GetTaskParams, _: Context) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.shared.jobs.0.get_task(&request.task_id)?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.shared.jobs.0.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.shared.jobs.0.cancel_task(&request.task_id)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.listeners.lock().unwrap().push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        watched(&request.uri)
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        watched(&request.uri)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |name: &str, mime: &str| {
            let uri = format!("test://{name}");
            json!({ "uri": uri, "name": name, "description": name, "mimeType": mime })
        };
        let all = json!([
            resource("static-text", "text/plain"),
            resource("static-binary", "image/png"),
            resource("watched-resource", "text/plain"),
        ]);
        let listed = ListResourcesResult::with_all_items(typed(all));
        Ok(listed.with_ttl_ms(TTL).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template =
            json!({ "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" });
        let listed = ListResourceTemplatesResult::with_all_items(typed(json!([template])));
        Ok(listed.with_ttl_ms(TTL).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text", _) => {
                let text = "This is the content of the static text resource.";
                json!({ "uri": uri, "mimeType": "text/plain", "text": text })
            }
            ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
            ("test://watched-resource", _) => json!({ "uri": uri, "mimeType": "text/plain", "text": "Watched." }),
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
            }
            _ => {
                return Err(ErrorData::new(
                    ErrorCode::INVALID_PARAMS,
                    "Resource not found",
                    Some(json!({ "uri": uri })),
                ));
            }
        };
        let read = ReadResourceResult::new(vec![typed(contents)]);
        Ok(read.with_ttl_ms(TTL).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments: Vec<Value> =
                arguments.iter().map(|name| json!({ "name": name, "required": true })).collect();
            json!({ "name": name, "description": name, "arguments": arguments })
        };
        let all = json!([
            prompt("test_input_required_result_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_simple_prompt", &[]),
        ]);
        Ok(ListPromptsResult::with_all_items(typed(all)).with_ttl_ms(TTL).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        let argument = |name: &str| {
            let value = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
            value.map(str::to_owned).ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
        };
        let said = |text: &str| json!({ "role": "user", "content": { "type": "text", "text": text } });
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([said("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => {
                let (first, second) = (argument("arg1")?, argument("arg2")?);
                json!([said(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
            }
            "test_prompt_with_embedded_resource" => {
                let text = "Embedded resource content for testing.";
                let resource = json!({ "uri": argument("resourceUri")?, "mimeType": "text/plain", "text": text });
                let embedded = json!({ "role": "user", "content": { "type": "resource", "resource": resource } });
                json!([embedded, said("Please process the embedded resource above.")])
            }
            "test_prompt_with_image" => {
                let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
                json!([{ "role": "user", "content": image }, said("Please analyze the image above.")])
            }
            "test_input_required_result_prompt" => {
                match filled(request.input_responses.as_ref(), "user_context", "context") {
                    Some(context) => json!([said(&format!("The context is {context}."))]),
                    None => {
                        let form = form("What context should the prompt use?", "context", "string");
                        return Ok(asking(json!({ "user_context": form }), None).into());
                    }
                }
            }
            name => return Err(ErrorData::invalid_params(format!("Unknown prompt: {name}"), None)),
        };
        Ok(typed::<GetPromptResult>(json!({ "resultType": "complete", "messages": messages })).into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let all = ["paris", "park", "party", "test", "testing"].map(str::to_owned);
        let begin = all.into_iter().filter(|word| word.starts_with(&request.argument.value)).collect();
        Ok(CompleteResult::new(CompletionInfo::with_all_values(begin).map_err(internal)?))
    }
}

fn watched(uri: &str) -> Result<(), ErrorData> {
    match uri {
        "test://watched-resource" => Ok(()),
        _ => Err(ErrorData::invalid_params("Resource not found", Some(json!({ "uri": uri })))),
    }
}
