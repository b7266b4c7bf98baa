//! Views that hosts show beside a tool's result (MCP Apps, SEP-1865): self-contained pages without any tenant's data,
//! which arrive by message from the host.

use rmcp::model::{MetaObject, ResourceContents};
use serde_json::{Value, json};

/// What hosts know a view's page by.
const MIME: &str = "text/html;profile=mcp-app";

/// The views: address and page.
const VIEWS: [(&str, &str); 2] = [
    ("ui://dragoman/chart.html", include_str!("apps/chart.html")),
    ("ui://dragoman/table.html", include_str!("apps/table.html")),
];

/// What a tool's entry says of its view; the flat key is for hosts of before the standard.
pub fn of_tool(view: &str) -> MetaObject {
    object(json!({ "ui": { "resourceUri": view, "visibility": ["model", "app"] }, "ui/resourceUri": view }))
}

/// The page of a view; it may fetch nothing from anywhere.
pub fn page(uri: &str) -> Option<ResourceContents> {
    let (_, html) = VIEWS.iter().find(|(known, _)| *known == uri)?;
    let none: [&str; 0] = [];
    let csp = json!({ "connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none });
    let meta = object(json!({ "ui": { "csp": csp, "prefersBorder": true } }));
    Some(ResourceContents::text(*html, uri).with_mime_type(MIME).with_meta(meta))
}

fn object(value: Value) -> MetaObject {
    MetaObject(value.as_object().cloned().unwrap_or_default())
}
