//! Tools: the operations of [`crate::ops::each`] that are tools, with their schemas and a way to call them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};

use super::apps;
use super::toolsets::Offered;
use crate::gateway::operation::{Blocks, Info, Operation, Surface, Toolset};
use crate::gateway::{Gateway, Via, WithId, measured};
use crate::model::access::{Action, Rights};
use crate::model::caller::Caller;
use crate::model::error::{Error, Result};
use crate::ops;
use crate::surface::schema;

/// The record's word for a call of a tool.
pub(super) const CALL: &str = "mcp.tool.call";

type CallFn = fn(Arc<Gateway>, Caller, JsonObject, Via) -> BoxFuture<'static, Result<CallToolResult>>;

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
    let hints = ToolAnnotations::with_title(info.title)
        .read_only(info.read_only)
        .destructive(false)
        .idempotent(info.read_only)
        .open_world(false);
    let tool = Tool::new(info.name, info.description, Arc::new(schema::of::<O>()))
        .with_title(info.title)
        .with_annotations(hints);
    // A list of tools is read, whole, before anything is asked, and the reply shows what it holds: its schema is in the
    // OpenAPI document, and here only where a client checks the shape.
    let tool = match O::EXACT {
        true => tool.with_raw_output_schema(Arc::new(schema::of::<O::Reply>())),
        false => tool,
    };
    match info.view {
        Some(view) => tool.with_meta(apps::of_tool(view)),
        None => tool,
    }
}

fn call<O: Operation>(
    gateway: Arc<Gateway>,
    caller: Caller,
    arguments: JsonObject,
    via: Via,
) -> BoxFuture<'static, Result<CallToolResult>> {
    Box::pin(async move {
        match schema::parse::<O>(arguments) {
            Ok(op) => Ok(gateway.write(&caller, op, via, written::<O>).await?.reply),
            Err(error) => {
                gateway.refused(&caller, via.action, O::INFO.name, &error).await?;
                Err(error)
            }
        }
    })
}

/// A reply as a result. Some clients show the model only the texts, others only the structure: each is complete by
/// itself. So the structure is what counts, with the pictures beside it.
fn written<O: Operation>(reply: O::Reply, request_id: &str) -> Result<(CallToolResult, usize)> {
    let (text, bytes) = match O::EXACT {
        true => measured(serde_json::to_string(&reply).map_err(Error::internal)?),
        false => WithId { reply: &reply, request_id }.text()?,
    };
    // The library takes a value only, and writes it once more.
    let structure = serde_json::from_str(&text).map_err(Error::internal)?;
    let blocks = O::blocks(&reply).unwrap_or_else(|| Blocks { texts: vec![text], ..Blocks::default() });
    let images = O::images(&reply).iter().map(|svg| ContentBlock::image(STANDARD.encode(svg), "image/svg+xml"));
    let mut result = CallToolResult::success(blocks.texts.into_iter().map(ContentBlock::text).chain(images).collect());
    result.structured_content = Some(structure);
    let bytes = bytes + blocks.pictures.iter().map(String::len).sum::<usize>();
    let mut meta = JsonObject::new();
    if !blocks.pictures.is_empty() {
        meta.insert("dragoman/svg".into(), blocks.pictures.into());
    }
    if O::EXACT {
        meta.insert("dragoman/request_id".into(), request_id.into());
    }
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    Ok((result, bytes))
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
    pub(super) async fn call(
        &self,
        gateway: Arc<Gateway>,
        caller: Caller,
        arguments: JsonObject,
        via: Via,
    ) -> CallToolResult {
        let request_id = caller.request_id.clone();
        (self.call)(gateway, caller, arguments, via).await.unwrap_or_else(|error| failure(&error, &request_id))
    }
}

/// An error as a tool's result. Text only: structured content would have to fit the tool's output schema.
pub(super) fn failure(error: &Error, request_id: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.body(request_id).to_string())])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::ops::preview_rows::{PreviewRows, Reply};

    #[test]
    fn a_result_says_the_same_in_its_text_and_in_its_structure() {
        let rows = [r#"[0.30000000000000004,"9007199254740993",null]"#, r#"[5e-324,"NaN",{"a":[true]}]"#];
        let rows = rows.map(|row| RawValue::from_string(row.to_owned()).unwrap()).into();
        let reply = Reply { columns: vec![], rows, row_count: 2, truncated: false };
        let (result, bytes) = written::<PreviewRows>(reply, "r-1").unwrap();
        let [block] = result.content.as_slice() else { panic!("{result:?}") };
        let text = &block.as_text().unwrap().text;
        let expected = r#"{"columns":[],"rows":[[0.30000000000000004,"9007199254740993",null],[5e-324,"NaN",{"a":[true]}]],"row_count":2,"truncated":false,"request_id":"r-1"}"#;
        assert_eq!((text.as_str(), bytes), (expected, expected.len()));
        let structure: Value = result.structured_content.unwrap();
        assert_eq!(structure.to_string(), expected, "no digit is lost on the way");
    }

    /// Clients put the whole list before every conversation of a model.
    #[test]
    fn all_tools_together_are_short() {
        let sizes: Vec<(String, usize)> = Tools::collect()
            .0
            .values()
            .filter(|entry| Offered::by_default(false).lists(entry.toolsets))
            .map(|entry| (entry.tool.name.to_string(), serde_json::to_string(&entry.tool).unwrap().len()))
            .collect();
        let all: usize = sizes.iter().map(|(_, size)| size + 1).sum();
        assert!(all < 11_700, "{all} bytes: {sizes:?}");
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
            let all = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
            assert!(all.iter().all(Option::is_some) && tool.title.is_some(), "{}", tool.name);
            for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten() {
                assert_eq!(schema["type"], "object", "{}", tool.name);
                for word in ["anyOf", "oneOf", "allOf", "$schema", "$ref", "$defs"] {
                    assert!(!schema.contains_key(word), "{} has {word} at the root", tool.name);
                }
                let text = serde_json::to_string(schema).unwrap();
                assert!(!text.contains("$ref") && !text.contains("uint"), "{}: {text}", tool.name);
            }
            assert!(tool.icons.is_none());
        }
    }
}
