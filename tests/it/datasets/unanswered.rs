//! A database that has committed, and whose answer is lost on its way.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dragoman::gateway::Via;
use dragoman::ops::import::{Import, Staged};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use super::sql;
use crate::support::databases::postgres_url;
use crate::support::service::{Service, operator};

/// What is written of a dataset together with its version, and nowhere else.
const MARK: &str = "Figures of a quiet year";

/// Passes on what both say, until the client commits a transaction with the mark in it: that reaches the server, its
/// answer reaches nobody, and both connections end. The first time alone.
async fn pass_on(mut client: TcpStream, mut server: UnixStream, is_lost: Arc<AtomicBool>) -> io::Result<()> {
    let (mut said, mut asked, mut answered) = (Vec::new(), [0; 8192], [0; 8192]);
    loop {
        tokio::select! {
            many = client.read(&mut asked) => {
                let asked = &asked[..many?];
                if asked.is_empty() {
                    return Ok(());
                }
                server.write_all(asked).await?;
                said.extend_from_slice(asked);
                if said.ends_with(b"COMMIT\0") {
                    let is_marked = said.windows(MARK.len()).any(|part| part == MARK.as_bytes());
                    if is_marked && !is_lost.swap(true, Ordering::SeqCst) {
                        assert!(server.read(&mut answered).await? > 0);
                        return Ok(());
                    }
                    said.clear();
                }
            }
            many = server.read(&mut answered) => {
                let answered = &answered[..many?];
                if answered.is_empty() {
                    return Ok(());
                }
                client.write_all(answered).await?;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_is_named_keeps_its_data_when_nobody_hears_that_it_is() {
    let url: url::Url = postgres_url().await.parse().unwrap();
    let folder = url.query_pairs().find(|(name, _)| name == "host").unwrap().1.into_owned();
    let socket = format!("{folder}/.s.PGSQL.{}", url.port().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let is_lost = Arc::new(AtomicBool::new(false));
    let once = is_lost.clone();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = UnixStream::connect(&socket).await.unwrap();
            tokio::spawn(pass_on(client, server, once.clone()));
        }
    });
    let database = format!("postgres://{}@127.0.0.1:{port}{}?sslmode=disable", url.username(), url.path());
    let service = Service::with(&[("DATABASE_URL", &database)]).await;
    let org = service.workspace("acme").await;
    let uploads = tempfile::tempdir().unwrap();
    let path = uploads.path().join("figures.csv");
    std::fs::write(&path, "v\n7\n").unwrap();
    let files = vec![Staged { name: "figures.csv".into(), path }];
    let op = Import { description: MARK.into(), publish: true, files, ..Import::default() };
    service.gateway.call(&operator(&org), op, Via::new("admin.call")).await.unwrap();
    assert!(is_lost.load(Ordering::SeqCst), "every answer was heard");
    let token = service.token(&org).await;
    let (status, body) = sql(&service, &token, json!({ "sql": "SELECT v FROM figures" })).await;
    assert_eq!((status, &body["rows"]), (200, &json!([[7]])), "{body}");
    service.stop().await;
}
