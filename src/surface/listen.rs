//! Connections: as `axum::serve`, but one that does not bring a whole request header in time is closed, so that
//! strangers cannot keep sockets open for nothing; and so is one that takes too little of its answers (`stall.rs`), and one
//! too many (`crowd.rs`). The same for the socket of the data folder, whose peer is this machine and which has no crowd.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::base::local::LocalListener;
use crate::base::shares::Share;
use crate::surface::crowd::Crowd;
use crate::surface::stall::Stalling;

/// How long a connection may take for a request's header.
#[derive(Clone, Copy, Debug)]
pub struct HeaderTimes {
    pub first: Duration,
    /// Of each later one, the pause before it included; over HTTP/2 it may be twice as long.
    pub later: Duration,
}

/// Proxies keep a connection for a minute (nginx and the balancers of clouds do unless they are told otherwise): it is
/// they who close one that is quiet, and none is closed here on which a request is just on its way.
pub const HEADER_TIMES: HeaderTimes = HeaderTimes { first: Duration::from_secs(30), later: Duration::from_secs(75) };
/// Bytes of a request's header over HTTP/1; more are refused. hyper would gather 400 kB for whoever is connected.
const HEADER: usize = 64 << 10;
/// How often an HTTP/2 client is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);

/// How long after a failure to accept the next try waits: the process may be short of file handles.
const RETRY: Duration = Duration::from_secs(1);

/// Serves until `stop` is ready, and returns when the requests that were running then are answered.
pub async fn serve(
    mut listener: TcpListener,
    router: Router,
    times: HeaderTimes,
    crowd: Crowd,
    stop: impl Future<Output = ()>,
) {
    let house = House::new(router, times);
    let mut stop = pin!(stop);
    loop {
        // Axum's accept waits and goes on when the process is short of file handles.
        let (stream, peer) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stop => break,
        };
        // To leave it in the backlog would let all others wait behind it.
        let Some(place) = crowd.enter(peer.ip()) else { continue };
        // An answer is written whole: nothing is gained by holding back its end.
        let _as_the_system_does = stream.set_nodelay(true);
        house.receive(stream, peer, Some(place));
    }
    drop(listener);
    house.close().await;
}

/// As [`serve`], at the socket of the data folder.
pub async fn serve_local(listener: LocalListener, router: Router, stop: impl Future<Output = ()>) {
    let house = House::new(router, HEADER_TIMES);
    let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok(stream) => house.receive(stream, peer, None),
            Err(problem) => {
                tracing::debug!(%problem, "nobody could be let in at the socket of the data folder");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
    drop(listener);
    house.close().await;
}

/// The connections of one address.
struct House {
    builder: Builder<TokioExecutor>,
    router: Router,
    times: HeaderTimes,
    stopping: CancellationToken,
    connections: TaskTracker,
}

impl House {
    fn new(router: Router, times: HeaderTimes) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(times.later).max_buf_size(HEADER);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(PING);
        let (stopping, connections) = (CancellationToken::new(), TaskTracker::new());
        Self { builder, router, times, stopping, connections }
    }

    /// `place` is held for as long as the connection is open.
    fn receive<S>(&self, stream: S, peer: SocketAddr, place: Option<Share>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (builder, router, stopping) = (self.builder.clone(), self.router.clone(), self.stopping.clone());
        let conversation = converse(builder, stream, peer, router, self.times, stopping);
        self.connections.spawn(async move {
            conversation.await;
            drop(place);
        });
    }

    /// Waits for the answers that are on their way.
    async fn close(self) {
        self.stopping.cancel();
        self.connections.close();
        self.connections.wait().await;
    }
}

/// What was asked on a connection.
#[derive(Debug, Default)]
struct Asked {
    /// A request, over whatever protocol.
    arrived: AtomicBool,
    /// Requests over HTTP/2.
    over_http2: AtomicUsize,
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    builder: Builder<TokioExecutor>,
    stream: S,
    peer: SocketAddr,
    router: Router,
    times: HeaderTimes,
    stopping: CancellationToken,
) {
    let asked = Arc::new(Asked::default());
    let seen = asked.clone();
    let service = router.map_request(move |mut request: Request<Incoming>| {
        seen.arrived.store(true, Ordering::Relaxed);
        if request.version() == Version::HTTP_2 {
            seen.over_http2.fetch_add(1, Ordering::Relaxed);
        }
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(Body::new)
    });
    let io = TokioIo::new(Stalling::new(stream));
    let mut connection = pin!(builder.serve_connection_with_upgrades(io, TowerToHyperService::new(service)));
    // hyper's own clock for headers starts when it knows the protocol, and there is none for HTTP/2.
    let mut clock = pin!(tokio::time::sleep(times.first));
    let (mut known, mut told) = (0, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(problem) = ended {
                    tracing::trace!(%problem, "a connection ended");
                }
                return;
            }
            () = clock.as_mut() => {
                if !asked.arrived.load(Ordering::Relaxed) {
                    return;
                }
                let over_http2 = asked.over_http2.load(Ordering::Relaxed);
                if over_http2 > 0 && over_http2 == known && !told {
                    // What is open goes on to its end.
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
                known = over_http2;
                clock.as_mut().reset(Instant::now() + times.later);
            }
            () = stopping.cancelled(), if !told => {
                // Half a header would be waited for.
                if !asked.arrived.load(Ordering::Relaxed) {
                    return;
                }
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
