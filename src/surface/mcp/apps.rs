//! Views that hosts show beside a tool's result (MCP Apps, SEP-1865): self-contained pages without any tenant's data,
//! which arrive by message from the host.

use rmcp::model::{MetaObject, ResourceContents};
use serde_json::{Value, json};

/// What hosts know a view's page by.
const MIME: &str = "text/html;profile=mcp-app";

/// A page of one piece: what all views have, and then what is the view's own.
macro_rules! view {
    ($title:literal, $css:expr, $script:expr) => {
        concat!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
            $title,
            "</title>\n<style>\n",
            include_str!("apps/view.css"),
            $css,
            "</style>\n</head>\n<body>\n<main id=\"view\" aria-live=\"polite\">",
            "<p class=\"soft\">Waiting for the answer…</p></main>\n<script>\n",
            include_str!("apps/view.js"),
            $script,
            "</script>\n</body>\n</html>\n"
        )
    };
}

/// The views: address and page.
const VIEWS: [(&str, &str); 2] = [
    (
        "ui://dragoman/chart.html",
        view!("Dragoman: chart", include_str!("apps/chart.css"), include_str!("apps/chart.js")),
    ),
    ("ui://dragoman/table.html", view!("Dragoman: table", "", include_str!("apps/table.js"))),
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
