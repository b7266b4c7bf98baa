//! Connections that bring no request are closed; those that do are left alone.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::routing::get;
use dragoman::surface::crowd::Crowd;
use dragoman::surface::listen::{HeaderTimes, serve};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};

use crate::support::program::free_port;

/// Long enough for a busy machine, short enough for a test.
const TIMES: HeaderTimes = HeaderTimes { first: Duration::from_millis(500), later: Duration::from_secs(3) };
/// Within this, what must happen has happened.
const PATIENCE: Duration = Duration::from_secs(20);

struct Running {
    address: SocketAddr,
    /// Each text is sent on the open stream at `/events`; dropped, the stream ends.
    events: mpsc::UnboundedSender<String>,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<()>,
}

async fn start(times: HeaderTimes) -> Running {
    start_with(times, Crowd::new(1_000, vec![])).await
}

async fn start_with(times: HeaderTimes, crowd: Crowd) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (events, received) = mpsc::unbounded_channel::<String>();
    let received = std::sync::Mutex::new(Some(received));
    let stream = move || {
        let mut received = received.lock().unwrap().take().unwrap();
        let body =
            futures_util::stream::poll_fn(move |cx| received.poll_recv(cx).map(|next| next.map(Ok::<_, Infallible>)));
        async { Body::from_stream(body) }
    };
    let stream = std::sync::Arc::new(stream);
    let router = Router::new()
        .route("/events", get(move || stream()))
        .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }));
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(serve(listener, router, times, crowd, async { stopped.await.unwrap_or(()) }));
    Running { address, events, stop, served }
}

/// Reads until `text` has come.
async fn until(socket: &mut TcpStream, text: &str) -> String {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        let mut buffer = [0; 1024];
        let count = tokio::time::timeout(PATIENCE, socket.read(&mut buffer)).await.unwrap().unwrap();
        assert!(count > 0, "closed before {text:?}: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// Asks on a connection for its own address, and whether it is told.
async fn asked(mut socket: TcpStream) -> Option<TcpStream> {
    let mut start = [0; 12];
    socket.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.ok()?;
    tokio::time::timeout(PATIENCE, socket.read_exact(&mut start)).await.unwrap().ok()?;
    assert_eq!(&start, b"HTTP/1.1 200");
    Some(socket)
}

/// Waits for the other side to close.
async fn closed(socket: &mut TcpStream, what: &str) {
    let mut rest = Vec::new();
    let end = tokio::time::timeout(PATIENCE, socket.read_to_end(&mut rest)).await;
    assert!(end.is_ok(), "{what:?} is still open");
}

#[tokio::test]
async fn who_brings_no_whole_header_is_closed_and_an_open_stream_outlives_it() {
    let running = start(TIMES).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    running.events.send("data: one\n\n".into()).unwrap();
    until(&mut stream, "data: one").await;
    // Nothing, what could become either protocol, half a header, and HTTP/2 without a request.
    for bytes in ["", "P", "GET /peer HTTP/1.1\r\nhost: x\r\nx-half: ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut socket = TcpStream::connect(running.address).await.unwrap();
        socket.write_all(bytes.as_bytes()).await.unwrap();
        closed(&mut socket, bytes).await;
    }
    // A second request may come after a longer pause, and has an end too.
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    socket.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let own = socket.local_addr().unwrap().to_string();
    until(&mut socket, &own).await;
    tokio::time::sleep(TIMES.first * 2).await;
    socket.write_all(b"GET /peer HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    until(&mut socket, &own).await;
    socket.write_all(b"GET /peer HTTP/1.1\r\n").await.unwrap();
    closed(&mut socket, "half a second request").await;
    // Five times the limit has passed.
    running.events.send("data: two\n\n".into()).unwrap();
    until(&mut stream, "data: two").await;
}

#[tokio::test]
async fn stopping_waits_for_an_open_stream_and_for_nobody_who_is_silent() {
    let hour = Duration::from_secs(3600);
    let running = start(HeaderTimes { first: hour, later: hour }).await;
    let mut silent = TcpStream::connect(running.address).await.unwrap();
    let mut half = TcpStream::connect(running.address).await.unwrap();
    half.write_all(b"GET /peer HTTP/1.1\r\nhost: ").await.unwrap();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET /events HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    running.events.send("data: one\n\n".into()).unwrap();
    until(&mut stream, "data: one").await;
    running.stop.send(()).unwrap();
    closed(&mut silent, "silent").await;
    closed(&mut half, "half a header").await;
    assert!(!running.served.is_finished());
    running.events.send("data: two\n\n".into()).unwrap();
    until(&mut stream, "data: two").await;
    drop(running.events);
    until(&mut stream, "0\r\n\r\n").await;
    tokio::time::timeout(PATIENCE, running.served).await.unwrap().unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn a_header_that_does_not_end_is_refused_before_it_takes_memory() {
    let hour = Duration::from_secs(3600);
    let running = start(HeaderTimes { first: hour, later: hour }).await;
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    let head = format!("GET /peer HTTP/1.1\r\nhost: x\r\nx-long: {}", "a".repeat(64 << 10));
    socket.write_all(&head.as_bytes()[..64 << 10]).await.unwrap();
    until(&mut socket, "HTTP/1.1 431").await;
    closed(&mut socket, "a header of 64 kB").await;
}

#[tokio::test]
async fn one_address_leaves_connections_to_others_and_a_proxy_may_have_them_all() {
    let hour = Duration::from_secs(3600);
    let times = HeaderTimes { first: hour, later: hour };
    let running = start_with(times, Crowd::new(8, vec![])).await;
    let connect = async || asked(TcpStream::connect(running.address).await.unwrap()).await;
    let mut held = Vec::new();
    while let Some(socket) = connect().await {
        held.push(socket);
    }
    assert_eq!(held.len(), 4, "as many as are still free");
    let elsewhere = TcpSocket::new_v4().unwrap();
    elsewhere.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let other = asked(elsewhere.connect(running.address).await.unwrap()).await;
    assert!(other.is_some(), "who comes next finds room");
    // Who goes makes room.
    drop((held.pop(), other));
    let again = async {
        while connect().await.is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.unwrap();

    let running = start_with(times, Crowd::new(8, vec!["127.0.0.0/8".parse().unwrap()])).await;
    let mut held = Vec::new();
    while let Some(socket) = asked(TcpStream::connect(running.address).await.unwrap()).await {
        held.push(socket);
    }
    assert_eq!(held.len(), 8);
}

#[tokio::test]
async fn a_connection_over_http2_that_asks_nothing_more_is_told_to_go() {
    let running = start(TIMES).await;
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    let own = socket.local_addr().unwrap().to_string();
    // Settings; then `GET http://x/peer` on the first stream, as HPACK (RFC 7541 appendix A).
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").await.unwrap();
    socket.write_all(b"\x00\x00\x0c\x01\x05\x00\x00\x00\x01\x82\x86\x04\x05/peer\x41\x01x").await.unwrap();
    until(&mut socket, &own).await;
    // To be sure that nothing is on its way it is asked first, and answers (RFC 9113 §6.7, §6.8).
    let mut read: Vec<u8> = Vec::new();
    let question = loop {
        let ping = read.windows(17).find(|frame| frame.starts_with(b"\0\0\x08\x06\0\0\0\0\0"));
        if let Some(ping) = ping {
            break ping[9..].to_vec();
        }
        let mut buffer = [0; 1024];
        let count = tokio::time::timeout(PATIENCE, socket.read(&mut buffer)).await.unwrap().unwrap();
        assert!(count > 0, "closed without a word: {read:?}");
        read.extend_from_slice(&buffer[..count]);
    };
    socket.write_all(&[&b"\0\0\x08\x06\x01\0\0\0\0"[..], &question].concat()).await.unwrap();
    closed(&mut socket, "HTTP/2 without a request").await;
}

/// What databases, workers and imports need is kept back.
#[tokio::test(flavor = "multi_thread")]
async fn connections_take_half_of_the_files_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let mut child = tokio::process::Command::new("sh")
        .args(["-c", "ulimit -n 400 && exec \"$0\" --data \"$1\" serve --listen \"$2\""])
        .args([env!("CARGO_BIN_EXE_dragoman").as_ref(), folder.path().as_os_str(), address.as_ref()])
        .env("DRAGOMAN_ADMIN_LISTEN", "off")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    assert!(first.contains("is up on"), "{first}");
    let mut sockets = Vec::new();
    for _ in 0..=200 {
        sockets.push(TcpStream::connect(&address).await.unwrap());
    }
    closed(&mut sockets.pop().unwrap(), "one more than half").await;
    for mut socket in sockets {
        let request = format!("GET /health/ready HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        until(&mut socket, "HTTP/1.1 200").await;
    }
}

/// Started with the soft limit that systems begin with, and less.
#[tokio::test(flavor = "multi_thread")]
async fn the_service_has_as_many_open_files_as_the_system_lets_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = tokio::process::Command::new("sh")
        .args(["-c", "ulimit -Sn 200 && exec \"$0\" --data \"$1\" serve --listen 127.0.0.1:0"])
        .args([env!("CARGO_BIN_EXE_dragoman").as_ref(), folder.path().as_os_str()])
        .env("DRAGOMAN_ADMIN_LISTEN", "off")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    assert!(first.contains("is up on"), "{first}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id().unwrap())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = line.split_whitespace().take(2).collect::<Vec<_>>()[..] else { panic!("{line}") };
    assert!(soft == hard && soft != "200", "{line}");
}
