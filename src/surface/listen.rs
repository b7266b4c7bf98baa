//! Connections: as `axum::serve`, but one that does not bring a whole request header in time is closed, so that
//! strangers cannot keep sockets open for nothing; and so is one that takes nothing of its answers (`stall.rs`). The same
//! for the socket of the data folder, whose peer is this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::base::local::LocalListener;
use crate::surface::stall::Stalling;

/// How long a connection may take for a request's header.
#[derive(Clone, Copy, Debug)]
pub struct HeaderTimes {
    pub first: Duration,
    /// Of each later one, over HTTP/1, the pause before it included.
    pub later: Duration,
}

/// Proxies keep a connection for a minute (nginx and the balancers of clouds do unless they are told otherwise): it is
/// they who close one that is quiet, and none is closed here on which a request is just on its way.
pub const HEADER_TIMES: HeaderTimes = HeaderTimes { first: Duration::from_secs(30), later: Duration::from_secs(75) };
/// How often an HTTP/2 client is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);

/// How long after a failure to accept the next try waits: the process may be short of file handles.
const RETRY: Duration = Duration::from_secs(1);

/// Serves until `stop` is ready, and returns when the requests that were running then are answered.
pub async fn serve(mut listener: TcpListener, router: Router, times: HeaderTimes, stop: impl Future<Output = ()>) {
    let house = House::new(router, times);
    let mut stop = pin!(stop);
    loop {
        // Axum's accept waits and goes on when the process is short of file handles.
        let (stream, peer) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stop => break,
        };
        // An answer is written whole: nothing is gained by holding back its end.
        let _as_the_system_does = stream.set_nodelay(true);
        house.receive(stream, peer);
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
            Ok(stream) => house.receive(stream, peer),
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
    first_header: Duration,
    stopping: CancellationToken,
    connections: TaskTracker,
}

impl House {
    fn new(router: Router, times: HeaderTimes) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(times.later);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(PING);
        let (stopping, connections) = (CancellationToken::new(), TaskTracker::new());
        Self { builder, router, first_header: times.first, stopping, connections }
    }

    fn receive<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(&self, stream: S, peer: SocketAddr) {
        let (builder, router, stopping) = (self.builder.clone(), self.router.clone(), self.stopping.clone());
        self.connections.spawn(converse(builder, stream, peer, router, self.first_header, stopping));
    }

    /// Waits for the answers that are on their way.
    async fn close(self) {
        self.stopping.cancel();
        self.connections.close();
        self.connections.wait().await;
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    builder: Builder<TokioExecutor>,
    stream: S,
    peer: SocketAddr,
    router: Router,
    first_header: Duration,
    stopping: CancellationToken,
) {
    let arrived = Arc::new(AtomicBool::new(false));
    let seen = arrived.clone();
    let service = router.map_request(move |mut request: Request<Incoming>| {
        seen.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(Body::new)
    });
    let io = TokioIo::new(Stalling::new(stream));
    let mut connection = pin!(builder.serve_connection_with_upgrades(io, TowerToHyperService::new(service)));
    // hyper's own clock for headers starts when it knows the protocol, and there is none for HTTP/2.
    let mut first = pin!(tokio::time::sleep(first_header));
    let (mut waiting, mut told) = (true, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(problem) = ended {
                    tracing::trace!(%problem, "a connection ended");
                }
                return;
            }
            () = &mut first, if waiting => {
                waiting = false;
                if !arrived.load(Ordering::Relaxed) {
                    return;
                }
            }
            () = stopping.cancelled(), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
