//! What a request has to pass before the library sees it: it is counted and read, may be asked with this token, and gets
//! a place.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::Value;

use super::message::{self, Peek, Refused, error_body, rpc_error};
use super::refusals::unrecorded;
use super::tools::CALL;
use super::toolsets::Offered;
use super::{BODY, Mcp, resources};
use crate::base::shares::{Key, Share};
use crate::gateway::Knock;
use crate::model::access::{Action, denied};
use crate::model::caller::Caller;
use crate::surface::body::{self, Unread};
use crate::surface::guard;

impl Mcp {
    /// Counts a request of any kind, whether it can be read or not, and then reads it: the body of a POST, bounded and
    /// read as far as needed, whose bytes go on as they came. Nothing else has a body.
    pub(super) async fn read(&self, caller: &Caller, parts: &Parts, body: Body) -> Result<(Peek, Bytes), Response> {
        let (gateway, method) = (&self.shared.gateway, &parts.method);
        if let Err(error) = gateway.knock(caller, Knock::Request) {
            return Err(self.refuse(caller, method.as_str(), &Value::Null, &error).await);
        }
        if *method != Method::POST {
            return Ok((Peek::default(), Bytes::new()));
        }
        let refuse = |status, message| Err(Refused { status, id: Value::Null, code: -32600, message });
        let read = match body::large(&parts.headers, body, BODY, || gateway.body(caller, None)).await {
            Ok(bytes) => message::read(&bytes).map(|peek| (peek, bytes)),
            Err(Unread::NoPlace(error)) => {
                return Err(self.refuse(caller, method.as_str(), &Value::Null, &error).await);
            }
            Err(Unread::TooLarge) => refuse(StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than 1 MiB."),
            Err(Unread::Late) => refuse(StatusCode::REQUEST_TIMEOUT, "The request did not arrive in time."),
            Err(Unread::Broken) => refuse(StatusCode::BAD_REQUEST, "The request did not arrive whole."),
        };
        let (peek, bytes) = match read {
            Ok(read) => read,
            Err(refused) => {
                return Err(self.unfit(caller, method.as_str(), &refused.id.clone(), refused.into_response()).await);
            }
        };
        if peek.opens()
            && let Err(error) = gateway.knock(caller, Knock::Session)
        {
            let target = peek.method().unwrap_or_default();
            return Err(self.refuse(caller, target, &peek.id(), &error).await);
        }
        Ok((peek, bytes))
    }

    /// What a message wants to do, and its name for the record; `None` where no scope is needed, or nothing is known of.
    pub(super) fn wanted<'a>(&'a self, peek: &'a Peek, offered: Offered) -> Option<(Action, &'a str, &'static str)> {
        if let Some(tool) = peek.tool() {
            let entry = self.shared.tools.get(tool).filter(|entry| offered.any(entry.toolsets))?;
            return Some((entry.action, &entry.tool.name, CALL));
        }
        let method = peek.method()?;
        Some((resources::action(method)?, method, "mcp.resource.read"))
    }

    /// A call of a tool, or a look at resources, whose scope the token lacks is answered with the challenge that lets
    /// the client ask for it (RFC 6750 §3.1, MCP authorization: step-up). A role that may not hold the scope is the
    /// tool's own refusal.
    pub(super) async fn challenge(
        &self,
        caller: &Caller,
        path: &str,
        peek: &Peek,
        offered: Offered,
    ) -> Option<Response> {
        let (action, name, recorded_as) = self.wanted(peek, offered)?;
        let (scope, _, role) = action.needs();
        if caller.rights.allow(action) || caller.role < role || caller.proof.is_connectivity_token() {
            return None;
        }
        let error = denied(caller, action);
        if let Err(error) = self.shared.gateway.refused(caller, recorded_as, name, &error).await {
            return Some(unrecorded(&peek.id(), &error));
        }
        let code = error.code.info().json_rpc;
        let body = error_body(&peek.id(), code, &error.message, error.body(&caller.request_id));
        Some(guard::insufficient_scope(&self.config, path, &[scope], body))
    }

    /// What an answer that stays open holds. Streams that listen are few for each credential, and workspaces share the
    /// instance's. Of requests in a session no two at once have one id: the library sends both answers to the later, and
    /// the earlier never ends.
    pub(super) async fn place(
        &self,
        caller: &Caller,
        method: &Method,
        session: Option<&str>,
        peek: &Peek,
    ) -> Result<Option<Share>, Response> {
        let id = peek.id();
        if method == Method::GET || peek.listens() {
            return match self.shared.gateway.stream(caller) {
                Ok(place) => Ok(Some(place)),
                Err(error) => Err(self.refuse(caller, "stream", &id, &error).await),
            };
        }
        let Some(session) = session.filter(|_| peek.is_request()) else { return Ok(None) };
        let key = Key::at_most(format!("{session} {id}"), 1);
        if let Ok(place) = self.answering.enter(&[key]) {
            return Ok(Some(place));
        }
        let message = "A request with this id is being answered. Each request has an id of its own.";
        let refusal = rpc_error(StatusCode::BAD_REQUEST, &id, -32600, message, Value::Null);
        Err(self.unfit(caller, peek.method().unwrap_or_default(), &id, refusal).await)
    }
}
