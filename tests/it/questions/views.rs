//! The views of MCP Apps: what hosts are told of them, and the pages themselves in a real browser, with what the service
//! replies.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Bakery;
use crate::support::program::clients;
use crate::support::service::json_of;

async fn rpc(bakery: &Bakery, method: &str, params: Value) -> Value {
    let sent = bakery.service.rpc(&bakery.client, method, params).send().await.unwrap();
    let (status, body) = json_of(sent).await;
    assert_eq!(status, 200, "{body}");
    body["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn views_show_what_the_service_replies_in_a_real_browser() {
    let bakery = Bakery::start().await;
    let tools = rpc(&bakery, "tools/list", json!({})).await;
    let view = |name: &str| {
        let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        tool["_meta"]["ui"]["resourceUri"].as_str().unwrap().to_owned()
    };
    for (tool, its) in [("dragoman_sql", "table"), ("dragoman_preview_rows", "table"), ("ask_question", "chart")] {
        assert_eq!(view(tool), format!("ui://dragoman/{its}.html"), "{tool}");
    }

    let given = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(given.path().join(name), text).unwrap();
    for name in ["chart.html", "table.html"] {
        let read = rpc(&bakery, "resources/read", json!({ "uri": format!("ui://dragoman/{name}") })).await;
        let [page] = read["contents"].as_array().unwrap().as_slice() else { panic!("{read}") };
        assert_eq!(page["mimeType"], "text/html;profile=mcp-app", "{name}");
        let asked = &page["_meta"]["ui"];
        assert!(asked["csp"].as_object().unwrap().values().all(|domains| *domains == json!([])), "{name}: {asked}");
        assert_eq!(asked["permissions"], json!({ "clipboardWrite": {} }), "{name}");
        write(name, page["text"].as_str().unwrap());
    }
    let sql = "SELECT CASE WHEN sale_id = 1 THEN TIMESTAMP '2013-02-01 10:30:00' END AS seen, \
               CASE WHEN sale_id = 1 THEN 12345678901234567890.50 ELSE -1 END::DECIMAL(22, 2) AS ticket_id \
               FROM sales WHERE sale_id <= 2 ORDER BY sale_id";
    let question = json!({ "ontologyId": bakery.ontology, "question": "revenue by shop" });
    for (name, tool, arguments) in
        [("answer.json", "ask_question", question), ("rows.json", "dragoman_sql", json!({ "sql": sql }))]
    {
        let result = rpc(&bakery, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_ne!(result["isError"], true, "{result}");
        write(name, &result.to_string());
    }

    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("views");
    let output = tokio::process::Command::new("node")
        .arg("views.mjs")
        .arg(given.path())
        .arg(&pictures)
        .current_dir(clients())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(600), output).await.expect("in time").unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said["views"].as_array().unwrap().len() > 30, "{said}");
    bakery.service.stop().await;
}
