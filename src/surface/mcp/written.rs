//! A tool's reply as it is sent. Its JSON is written once: where no library is between, nobody reads it again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, RequestId};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::gateway::operation::{Asks, Blocks, Operation};
use crate::gateway::{Sent, WithId};
use crate::model::error::{Error, Result};

/// What a result is that asks nothing (2026-07-28).
const COMPLETE: &str = "complete";

/// A tool's result, member by member as the library writes one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    result_type: &'static str,
    pub content: Vec<ContentBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    pub is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// What it asks back.
    #[serde(skip)]
    pub asks: Option<Asks>,
}

#[derive(Serialize)]
struct Message<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a Written,
}

impl Written {
    /// A reply as a result. Some clients show the model only the texts, others only the structure: each is complete by
    /// itself. So the structure is what counts, with the pictures beside it.
    ///
    /// # Errors
    /// The reply has no JSON form.
    pub(super) fn of<O: Operation>(reply: &O::Reply, request_id: &str) -> Result<Sent<Self>> {
        let structure = match O::EXACT {
            true => to_raw_value(reply),
            false => to_raw_value(&WithId { reply, request_id }),
        };
        let structure = structure.map_err(Error::internal)?;
        let alone = || Blocks { texts: vec![structure.get().to_owned()], ..Blocks::default() };
        let Blocks { texts, pictures } = O::blocks(reply).unwrap_or_else(alone);
        let images: Vec<String> = O::images(reply).iter().map(|svg| STANDARD.encode(svg)).collect();
        let size = structure.get().len() + length(&pictures);
        let bytes = size + length(&texts) + length(&images);
        let mut meta = JsonObject::new();
        if !pictures.is_empty() {
            meta.insert("dragoman/svg".into(), pictures.into());
        }
        if O::EXACT {
            meta.insert("dragoman/request_id".into(), request_id.into());
        }
        let images = images.into_iter().map(|image| ContentBlock::image(image, "image/svg+xml"));
        let reply = Self {
            result_type: COMPLETE,
            content: texts.into_iter().map(ContentBlock::text).chain(images).collect(),
            structured_content: Some(structure),
            is_error: false,
            meta: (!meta.is_empty()).then_some(MetaObject(meta)),
            asks: O::asks(reply),
        };
        Ok(Sent { reply, size, bytes })
    }

    /// An error as a result: a text, which every host shows.
    pub(super) fn failure(error: &Error, request_id: &str) -> Self {
        Self {
            result_type: COMPLETE,
            content: vec![ContentBlock::text(error.body(request_id).to_string())],
            structured_content: None,
            is_error: true,
            meta: None,
            asks: None,
        }
    }

    /// The answer to a request, as bytes.
    ///
    /// # Errors
    /// None: all of it has a JSON form.
    pub(super) fn answer(&self, id: &RequestId) -> Result<Vec<u8>> {
        serde_json::to_vec(&Message { jsonrpc: "2.0", id, result: self }).map_err(Error::internal)
    }
}

/// As the library has it, for the ways on which it writes the answer. What is nested deeper than it reads is in the text
/// alone.
impl From<Written> for CallToolResult {
    fn from(written: Written) -> Self {
        let Written { result_type: _, content, structured_content, is_error, meta, asks: _ } = written;
        let mut result = if is_error { Self::error(content) } else { Self::success(content) };
        result.structured_content = structured_content.and_then(|json| serde_json::from_str(json.get()).ok());
        result.meta = meta;
        result
    }
}

fn length(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
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
        let Sent { reply, size, bytes } = Written::of::<PreviewRows>(&reply, "r-1").unwrap();
        let direct = String::from_utf8(reply.answer(&RequestId::Number(7)).unwrap()).unwrap();
        let result = CallToolResult::from(reply);
        let [block] = result.content.as_slice() else { panic!("{result:?}") };
        let text = &block.as_text().unwrap().text;
        let expected = r#"{"columns":[],"rows":[[0.30000000000000004,"9007199254740993",null],[5e-324,"NaN",{"a":[true]}]],"row_count":2,"truncated":false,"request_id":"r-1"}"#;
        assert_eq!((text.as_str(), size, bytes), (expected, expected.len(), 2 * expected.len()));
        let structure: &Value = result.structured_content.as_ref().unwrap();
        assert_eq!(structure.to_string(), expected, "no digit is lost on the way");
        let by_library = serde_json::to_string(&result).unwrap();
        assert_eq!(direct, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{by_library}}}"#), "both ways are one");
    }
}
