//! Tools: the operations of [`crate::ops::each`] that are tools, with their schemas and a way to call them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};

use super::apps;
use super::toolsets::Offered;
use super::written::Written;
use crate::gateway::operation::{Info, Operation, Surface, Toolset};
use crate::gateway::{Gateway, Via};
use crate::model::access::{Action, Rights};
use crate::model::caller::Caller;
use crate::model::error::Result;
use crate::ops;
use crate::surface::schema;

/// The record's word for a call of a tool.
pub(super) const CALL: &str = "mcp.tool.call";

/// What Claude Code is told not to cut of a large reply: more than one has where nobody has set its limit higher.
const MOST_CHARACTERS: usize = 150_000;

type CallFn = fn(Arc<Gateway>, Caller, JsonObject, Via) -> BoxFuture<'static, Result<Written>>;

/// One tool.
pub(super) struct Entry {
    /// The right that it needs.
    pub action: Action,
    /// Those that it is in.
    pub toolsets: &'static [Toolset],
    pub tool: Tool,
    call: CallFn,
}

/// All tools, by name.
pub(super) struct Tools(BTreeMap<&'static str, Entry>);

struct Collect(BTreeMap<&'static str, Entry>);

impl ops::Visitor for Collect {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        if info.surface == Surface::Tool {
            let (action, toolsets) = (info.action, info.toolsets);
            self.0.insert(info.name, Entry { action, toolsets, tool: tool::<O>(&info), call: call::<O> });
        }
    }
}

fn tool<O: Operation>(info: &Info) -> Tool {
    // Whether a repeated call changes nothing is said by what only reads (2025-06-18, tool annotations).
    let hints = ToolAnnotations::with_title(info.title).read_only(info.read_only).destructive(false).open_world(false);
    // A list of tools is read, whole, before anything is asked, and a reply shows what it holds: its schema is in the OpenAPI
    // document alone.
    let tool = Tool::new(info.name, info.description, Arc::new(schema::of::<O>()))
        .with_title(info.title)
        .with_annotations(hints);
    let mut meta = info.view.map(|view| apps::of_tool(view).0).unwrap_or_default();
    if O::LARGE {
        meta.insert("anthropic/maxResultSizeChars".into(), MOST_CHARACTERS.into());
    }
    if meta.is_empty() { tool } else { tool.with_meta(MetaObject(meta)) }
}

fn call<O: Operation>(
    gateway: Arc<Gateway>,
    caller: Caller,
    arguments: JsonObject,
    via: Via,
) -> BoxFuture<'static, Result<Written>> {
    Box::pin(async move {
        match schema::parse::<O>(arguments) {
            Ok(op) => {
                let write = |reply, request_id: &str| Written::of::<O>(&reply, request_id);
                Ok(gateway.write(&caller, op, via, write).await?.reply)
            }
            Err(error) => {
                gateway.refused(&caller, via.action, O::INFO.name, &error).await?;
                Err(error)
            }
        }
    })
}

impl Tools {
    pub(super) fn collect() -> Self {
        let mut collect = Collect(BTreeMap::new());
        ops::each(&mut collect);
        Self(collect.0)
    }

    /// By name; dots are accepted for underscores, as older clients write them.
    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.0.get(name).or_else(|| self.0.get(name.replace('.', "_").as_str()))
    }

    /// The names of those that these rights allow, sorted.
    pub(super) fn names(&self, rights: Rights) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |(_, entry)| rights.allow(entry.action)).map(|(name, _)| *name)
    }

    /// Those that are listed of the offered toolsets, and that the caller may use, sorted by name.
    pub(super) fn of(&self, caller: &Caller, offered: Offered) -> Vec<Tool> {
        let usable = |entry: &&Entry| offered.lists(entry.toolsets) && caller.rights.allow(entry.action);
        self.0.values().filter(usable).map(|entry| entry.tool.clone()).collect()
    }
}

impl Entry {
    /// Calls it. A failure of the tool is a result that the model can read and act on, not a protocol error.
    pub(super) async fn call(&self, gateway: Arc<Gateway>, caller: Caller, arguments: JsonObject, via: Via) -> Written {
        let request_id = caller.request_id.clone();
        (self.call)(gateway, caller, arguments, via).await.unwrap_or_else(|error| Written::failure(&error, &request_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients put the whole list before every conversation of a model.
    #[test]
    fn all_tools_together_are_short() {
        for of_openai in [false, true] {
            let sizes: Vec<(String, usize)> = Tools::collect()
                .0
                .values()
                .filter(|entry| Offered::by_default(of_openai).lists(entry.toolsets))
                .map(|entry| (entry.tool.name.to_string(), serde_json::to_string(&entry.tool).unwrap().len()))
                .collect();
            let all: usize = sizes.iter().map(|(_, size)| size + 1).sum();
            assert!(all < 11_700, "{all} bytes: {sizes:?}");
        }
    }

    struct Placed;

    impl ops::Visitor for Placed {
        fn visit<O: Operation>(&mut self) {
            let info = O::INFO;
            assert_eq!(info.surface == Surface::Tool, !info.toolsets.is_empty(), "{}", info.name);
        }
    }

    #[test]
    fn every_tool_is_in_a_toolset_and_nothing_else_is() {
        ops::each(&mut Placed);
    }

    #[test]
    fn every_tool_is_one_that_all_clients_accept() {
        for entry in Tools::collect().0.values() {
            let tool = &entry.tool;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(tool.name.len() <= 40 && tool.name.chars().all(plain), "{}: Claude rejects the set", tool.name);
            let hints = tool.annotations.as_ref().unwrap();
            let all = [hints.read_only_hint, hints.destructive_hint, hints.open_world_hint];
            assert!(all.iter().all(Option::is_some) && tool.title.is_some(), "{}", tool.name);
            assert!(tool.output_schema.is_none(), "{}", tool.name);
            let schema = &tool.input_schema;
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for word in ["anyOf", "oneOf", "allOf", "$schema", "$ref", "$defs"] {
                assert!(!schema.contains_key(word), "{} has {word} at the root", tool.name);
            }
            let text = serde_json::to_string(schema).unwrap();
            assert!(!text.contains("$ref") && !text.contains("uint"), "{}: {text}", tool.name);
            assert!(tool.icons.is_none());
        }
    }
}
