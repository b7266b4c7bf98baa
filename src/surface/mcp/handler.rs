//! The MCP server as the protocol library sees it. One instance a session (or a request, where there are no
//! sessions), holding the rights captured when it was made; on every request they are intersected with those of the
//! token that the request itself carried.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskMethod, CancelTaskParams,
    ClientCapabilities, CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskMethod, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::compat::is_modern;
use super::complete::complete;
use super::introduction::{self, signed};
use super::news::{Before, Ear, Event, MOST};
use super::resources::{self, protocol_error};
use super::tasks::{self, Begun};
use super::tools::CALL;
use super::toolsets::Offered;
use super::written::Written;
use super::{Shared, asking, logs, params, progress, prompts};
use crate::gateway::operation::Operation as _;
use crate::model::access::Rights;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::ops::ask_question::AskQuestion;

/// How long a client may keep the list of tools, in milliseconds; lists of data are kept for less.
const TOOLS_TTL: u64 = 300_000;
const DATA_TTL: u64 = 30_000;

/// The record's word for who looks at the list of tools.
pub(super) const LIST: &str = "mcp.tools.list";

/// The record's word for who subscribes to a resource.
const SUBSCRIBE: &str = "mcp.resource.subscribe";

/// One server instance.
#[derive(Clone)]
pub struct Handler {
    shared: Arc<Shared>,
    captured: Rights,
    offered: Offered,
}

impl Handler {
    /// `captured` are the rights of the caller for whom the instance is made: its upper bound for good, as are the
    /// toolsets that it was offered.
    pub(super) fn new(shared: Arc<Shared>, captured: Rights, offered: Offered) -> Self {
        Self { shared, captured, offered }
    }

    /// The caller of this very request, no more powerful than the session was at its start.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let Some(caller) = extension::<Caller>(context) else {
            tracing::error!("a request reached the MCP handler without a verified caller");
            return Err(ErrorData::internal_error("The service failed to answer.", None));
        };
        let caller = caller.clone().bounded(self.captured);
        Ok(match context.client_info() {
            Some(client) => caller.introduced(client.name, client.version),
            None => caller,
        })
    }
}

/// What the layers before the library put beside a request.
fn extension<T: Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<&T> {
    context.extensions.get::<http::request::Parts>()?.extensions.get()
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        introduction::info()
    }

    /// `initialize` belongs to the era of sessions, whatever revision it asks for (2026-07-28, lifecycle): a newer one
    /// gets the newest of that era.
    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Result<InitializeResult, ErrorData> {
        let asked = &request.protocol_version;
        let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let known = ProtocolVersion::KNOWN_VERSIONS.contains(asked) && asked.as_str() <= newest.as_str();
        let mut info = self.get_info();
        // Tasks are of the newer era.
        info.capabilities.extensions = None;
        Ok(info.with_protocol_version(if known { asked.clone() } else { newest }))
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = TOOLS_TTL;
        result.cache_scope = CacheScope::Private;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.and_then(|page| page.cursor).is_some() {
            return Err(ErrorData::invalid_params("The list of tools has one page.", None));
        }
        let caller = self.caller(&context)?;
        // On the record, so that whoever connects a client sees that it has come so far.
        let recorded = self.shared.gateway.record(&caller, LIST, "").await;
        recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
        let mut result = ListToolsResult::with_all_items(self.shared.tools.of(&caller, self.offered));
        result.meta = signed(result.meta, &context);
        Ok(result.with_ttl_ms(TOOLS_TTL).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let entry = self.shared.tools.get(name).filter(|entry| self.offered.any(entry.toolsets))?;
        Some(entry.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let known = self.shared.tools.get(&request.name);
        let Some(entry) = known.filter(|entry| self.offered.any(entry.toolsets)) else {
            let error = self.offered.refusal(known.map(|entry| entry.toolsets));
            let recorded = self.shared.gateway.refused(&caller, CALL, &request.name, &error).await;
            recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
            return Err(protocol_error(&error, &caller.request_id));
        };
        let mut arguments = request.arguments.unwrap_or_default();
        let asks_back = request.name == AskQuestion::INFO.name;
        let state = asking::State::new(&self.shared.gateway, &caller, AskQuestion::INFO.name, &arguments);
        if asks_back {
            let opened = request.request_state.as_deref().map(|sealed| state.open(sealed)).transpose();
            let conversation = match opened {
                Ok(conversation) => conversation,
                Err(error) => {
                    let recorded = self.shared.gateway.refused(&caller, CALL, &request.name, &error).await;
                    recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
                    return Ok(CallToolResult::from(Written::failure(&error, &caller.request_id)).into());
                }
            };
            arguments = asking::resumed(arguments, conversation.as_deref(), request.input_responses.as_ref());
        }
        let call = |arguments| {
            entry.call(self.shared.gateway.clone(), caller.clone(), arguments, progress::via(CALL, &context))
        };
        let (started, ear) = (Instant::now(), self.ear(&caller));
        let result = match tasks::are_known(&context) {
            true => match tasks::begin(&self.shared, &caller, &entry.tool.name, arguments.clone(), &context).await {
                Begun::Over(result) => result,
                Begun::Task(mut task) => {
                    task.meta = signed(task.meta, &context);
                    return Ok(task.into());
                }
            },
            false => call(arguments.clone()).await,
        };
        let mut response = match asks_back {
            true => asking::settled(result, &arguments, &context, &state, call).await,
            false => CallToolResult::from(result).into(),
        };
        if let CallToolResponse::Complete(result) = &response {
            logs::tell(entry.tool.name.as_ref(), result, started.elapsed(), ear.as_deref(), &context).await;
        }
        match &mut response {
            CallToolResponse::Complete(result) => result.meta = signed(result.meta.take(), &context),
            CallToolResponse::InputRequired(result) => result.meta = signed(result.meta.take(), &context),
            _ => {}
        }
        Ok(response)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if request.and_then(|page| page.cursor).is_some() {
            return Err(ErrorData::invalid_params("The list of prompts has one page.", None));
        }
        let mut result = ListPromptsResult::with_all_items(prompts::list());
        result.meta = signed(result.meta, &context);
        Ok(result.with_ttl_ms(TOOLS_TTL).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let via = progress::via("mcp.prompt.get", &context);
        let arguments = request.arguments.unwrap_or_default();
        let Shared { gateway, place, .. } = &*self.shared;
        let prompt = prompts::get(gateway, &caller, &request.name, &arguments, place, via).await;
        let mut result = prompt.map_err(|error| protocol_error(&error, &caller.request_id))?;
        result.meta = signed(result.meta, &context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context)?;
        let via = progress::via("mcp.complete", &context);
        let known = |name: &str| request.context.as_ref()?.arguments.as_ref()?.get(name).cloned();
        let (name, typed) = (request.argument.name.as_str(), request.argument.value.as_str());
        let found = complete(&self.shared.gateway, &caller, &request.r#ref, (name, typed), known, via).await;
        let mut result = CompleteResult::new(found.map_err(|error| protocol_error(&error, &caller.request_id))?);
        result.meta = signed(result.meta, &context);
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let cursor = request.and_then(|page| page.cursor);
        let via = progress::via("mcp.resource.list", &context);
        let listed = resources::list(&self.shared.gateway, &caller, cursor, via).await;
        let (items, next) = listed.map_err(|error| protocol_error(&error, &caller.request_id))?;
        let mut result = ListResourcesResult::with_all_items(items);
        result.next_cursor = next;
        result.meta = signed(result.meta, &context);
        Ok(result.with_ttl_ms(DATA_TTL).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if request.and_then(|page| page.cursor).is_some() {
            return Err(ErrorData::invalid_params("The list of templates has one page.", None));
        }
        let mut result = ListResourceTemplatesResult::with_all_items(resources::templates());
        result.meta = signed(result.meta, &context);
        Ok(result.with_ttl_ms(TOOLS_TTL).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let via = progress::via("mcp.resource.read", &context);
        let contents = resources::read(&self.shared.gateway, &caller, &request.uri, via).await;
        let contents = contents.map_err(|error| resources::unread(&error, &request.uri, &caller.request_id))?;
        let mut result = ReadResourceResult::new(vec![contents]);
        result.meta = signed(result.meta, &context);
        Ok(result.with_ttl_ms(DATA_TTL).with_cache_scope(CacheScope::Private).into())
    }

    /// Messages of the log from this severity on, for the rest of the session. The newer era says so with each request.
    #[expect(deprecated, reason = "revisions that clients use have it")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let Some(ear) = self.ear(&caller).filter(|_| !is_modern(&context)) else {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        };
        let level = serde_json::to_value(request.level).ok();
        let level = level.as_ref().and_then(|level| logs::severity(level.as_str()?)).unwrap_or_default();
        ear.level.store(level, Ordering::Relaxed);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let subscribed = self.subscribed(&caller, &request.uri).await;
        let recorded = match &subscribed {
            Ok(()) => self.shared.gateway.record(&caller, SUBSCRIBE, &request.uri).await,
            Err(error) => self.shared.gateway.refused(&caller, SUBSCRIBE, &request.uri, error).await,
        };
        recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
        subscribed.map_err(|error| resources::unread(&error, &request.uri, &caller.request_id))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        if let Some(ear) = self.ear(&caller) {
            ear.unsubscribe(&request.uri);
        }
        let recorded = self.shared.gateway.record(&caller, "mcp.resource.unsubscribe", &request.uri).await;
        recorded.map_err(|error| protocol_error(&error, &caller.request_id))
    }

    /// By its form alone, so that the acknowledgment says nothing of what there is. Prompts never change.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.prompts_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.sort();
            uris.dedup();
            uris.retain(|uri| resources::watched(uri).is_some());
            uris.truncate(MOST);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let caller = self.caller(request)?;
        let recorded = self.shared.gateway.record(&caller, "mcp.listen", "").await;
        recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
        let before = extension::<Before>(request).and_then(Before::take);
        let Some((mut listener, ear, sight)) = before else {
            tracing::error!("a subscription reached the MCP handler without its listener");
            return Err(ErrorData::internal_error("The service failed to answer.", None));
        };
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            // What is not seen is not heard of, until it is.
            if let Ok(thing) = resources::thing(&self.shared.gateway, &caller, &sight, uri).await {
                let _at_most_so_many_were_accepted = ear.subscribe(uri, thing, &sight);
            }
        }
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = listener.pause() => {}
            }
            // The credential is no more.
            let Some(events) = listener.look(&ear).await else { return Ok(()) };
            for event in events {
                if !told(&context, event).await {
                    return Ok(());
                }
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.owner::<GetTaskMethod>(&context)?;
        let got = tasks::get(&self.shared, &caller, &request.task_id).await;
        let mut result = tasks::told(&self.shared, &caller, GetTaskMethod::VALUE, got).await?;
        result.meta = signed(result.meta, &context);
        Ok(result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.owner::<UpdateTaskMethod>(&context)?;
        let forms = asking::shows_forms(&context);
        let updated = tasks::update(&self.shared, &caller, &request.task_id, &request.input_responses, forms).await;
        tasks::told(&self.shared, &caller, UpdateTaskMethod::VALUE, updated).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.owner::<CancelTaskMethod>(&context)?;
        let cancelled = tasks::cancel(&self.shared, &caller, &request.task_id).await;
        tasks::told(&self.shared, &caller, CancelTaskMethod::VALUE, cancelled).await
    }

    /// What the library could not read as any request that it knows: unknown methods, and known ones with parameters
    /// that are not theirs.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(error) = params::problem(&request.method, request.params.as_ref(), is_modern(&context)) else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        // What the library says of those that it reads.
        if request.method.starts_with("tasks/") && !tasks::are_known(&context) {
            let needed = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        let caller = self.caller(&context)?;
        let recorded = self.shared.gateway.refused(&caller, "mcp.request", &request.method, &error).await;
        recorded.map_err(|error| protocol_error(&error, &caller.request_id))?;
        Err(protocol_error(&error, &caller.request_id))
    }
}

impl Handler {
    /// The caller of a request about a task. The era of sessions has none, whatever its client says that it knows.
    fn owner<M: ConstString>(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        if !tasks::are_known(context) {
            return Err(ErrorData::method_not_found::<M>());
        }
        self.caller(context)
    }

    /// What is listened to in the caller's session.
    fn ear(&self, caller: &Caller) -> Option<Arc<Ear>> {
        caller.session.as_deref().and_then(|id| self.shared.sessions.heard(id)).map(|heard| heard.ear)
    }

    async fn subscribed(&self, caller: &Caller, uri: &str) -> crate::model::error::Result<()> {
        let gateway = &self.shared.gateway;
        let ear = self.ear(caller).ok_or_else(|| Error::invalid("uri", "Subscriptions belong to a session."))?;
        let sight = gateway.sight(&gateway.listen(caller), caller).await?;
        let thing = resources::subscribed(gateway, caller, &sight, uri).await?;
        ear.subscribe(uri, thing, &sight).map_err(|_full| {
            let message = format!("A session subscribes to at most {MOST} resources. Unsubscribe from one first.");
            Error::new(Code::LimitExceeded, message)
        })
    }
}

/// Sends one of the news that were asked for; `false` when nobody is there any more.
async fn told(context: &SubscriptionContext, event: Event) -> bool {
    let (sink, wanted) = (context.sink(), context.accepted());
    let sent = match event {
        Event::Tools if wanted.tools_list_changed == Some(true) => sink.notify_tool_list_changed().await,
        Event::Resources if wanted.resources_list_changed == Some(true) => sink.notify_resource_list_changed().await,
        Event::Updated(uri) => sink.notify_resource_updated(uri).await,
        Event::Tools | Event::Resources => Ok(()),
    };
    sent.is_ok()
}
