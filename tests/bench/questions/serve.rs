//! Offers a question set over MCP on loopback, to whoever plays the client: `serve SET [--draft]`. Prints one line of
//! JSON, `{url, token}`, and serves until its standard input ends. The service's clock begins at the set's moment.

use std::io::Read as _;

use super::bank::{self, With};

/// Serves.
pub async fn serve(arguments: &[String]) {
    let with = if arguments.iter().any(|it| it == "--draft") { With::Draft } else { With::Steward };
    let Some(set) = arguments.iter().find(|it| !it.starts_with("--")) else { panic!("name a set") };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let (app, token) = bank::offered(set, with, folder.path(), &address).await;
    println!("{}", serde_json::json!({ "url": format!("http://{address}/mcp"), "token": token }));
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    app.serve(listener, async move { drop(ended.await) }).await.unwrap();
}
