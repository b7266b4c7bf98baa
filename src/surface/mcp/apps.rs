//! Views that hosts show beside a tool's result (MCP Apps, SEP-1865): self-contained pages without any tenant's data,
//! which arrive by message from the host. One program draws charts, rows and words of a result; the views differ in what
//! of it they show first.

use rmcp::model::{MetaObject, ResourceContents};
use serde_json::{Value, json};

/// What hosts know a view's page by.
const MIME: &str = "text/html;profile=mcp-app";

/// A page of one piece.
macro_rules! view {
    ($first:literal) => {
        concat!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Dragoman: ",
            $first,
            "</title>\n<style>\n",
            include_str!("apps/view.css"),
            include_str!("apps/chart.css"),
            "</style>\n</head>\n<body data-first=\"",
            $first,
            "\">\n<main id=\"view\"><p class=\"soft\">Waiting for the answer…</p></main>\n",
            "<p id=\"spoken\" class=\"away\" role=\"status\"></p>\n",
            "<p id=\"keys\" hidden>The arrow keys go through the values.</p>\n<script>\n",
            include_str!("apps/host.js"),
            include_str!("apps/parts.js"),
            include_str!("apps/values.js"),
            include_str!("apps/grid.js"),
            include_str!("apps/told.js"),
            include_str!("apps/scale.js"),
            include_str!("apps/marks.js"),
            include_str!("apps/chart.js"),
            include_str!("apps/view.js"),
            "start('dragoman-",
            $first,
            "');\n</script>\n</body>\n</html>\n"
        )
    };
}

/// The views: address and page.
const VIEWS: [(&str, &str); 2] =
    [("ui://dragoman/chart.html", view!("chart")), ("ui://dragoman/table.html", view!("table"))];

/// What a tool's entry says of its view: models and views may call the tool, as where nothing is said of it. The flat key is
/// for hosts of before the standard.
pub fn of_tool(view: &str) -> MetaObject {
    object(json!({ "ui": { "resourceUri": view }, "ui/resourceUri": view }))
}

/// The page of a view. It may fetch nothing from anywhere; it asks to write to the clipboard, and does without where the
/// host does not let it.
pub fn page(uri: &str) -> Option<ResourceContents> {
    let (_, html) = VIEWS.iter().find(|(known, _)| *known == uri)?;
    let none: [&str; 0] = [];
    let csp = json!({ "connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none });
    let ui = json!({ "csp": csp, "permissions": { "clipboardWrite": {} }, "prefersBorder": true });
    let meta = object(json!({ "ui": ui }));
    Some(ResourceContents::text(*html, uri).with_mime_type(MIME).with_meta(meta))
}

fn object(value: Value) -> MetaObject {
    MetaObject(value.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_one_small_file_that_fetches_and_evaluates_nothing() {
        for (uri, html) in VIEWS {
            assert!(html.len() < 100_000, "{uri}: {} bytes", html.len());
            // Names of XML's spaces are no addresses of anything.
            let text = html.replace("http://www.w3.org/2000/svg", "");
            for word in [
                "http:", "https:", "src=", "href", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "eval(",
                "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "localStorage",
            ] {
                assert!(!text.contains(word), "{uri} has {word}");
            }
            assert_eq!(text.matches("<script").count(), 1, "{uri}");
        }
    }
}
