//! The end of a workspace whose indexes are on a server.

use std::time::Duration;

use dragoman::store::cluster_indexes as rows;

use super::acme;
use crate::support::dump::dump;
use crate::support::qdrant::Qdrant;
use crate::support::service::operator;

#[tokio::test(flavor = "multi_thread")]
async fn points_of_an_erased_workspace_go_at_once_or_when_the_server_is_back() {
    let mut server = Qdrant::start().await;
    let acme = acme(&server).await;
    let service = &acme.service;
    let kept = server.points().await;
    let second = service.workspace("second").await;
    service.import(&second, "notes.txt", b"The pump leaks.", true).await.unwrap();
    assert!(server.points().await > kept);
    let erased = service.gateway.erase_workspace(&operator(&second)).await.unwrap();
    assert_eq!((erased.indexes_left, server.points().await), (0, kept), "those of others stay");

    server.stop().await;
    let erased = service.gateway.erase_workspace(&operator(&acme.org)).await.unwrap();
    assert_eq!((erased.indexes_left, erased.people), (3, vec!["ann@example.com".to_owned()]));
    assert!(service.identity.org(acme.org.id).await.unwrap().is_none());
    server.again().await;
    service.clock.advance(Duration::from_secs(61));
    assert_eq!(service.gateway.renew_once().await.unwrap().removed, 3);
    assert_eq!(server.points().await, 0);
    for org in [acme.org.id, second.id] {
        assert_eq!(rows::of_workspace(&mut service.db.read_tenant(org).await.unwrap(), org).await.unwrap(), []);
        service.identity.sweep().await.unwrap();
        let text = dump(service.db.pool()).await;
        let left = text.lines().find(|row| row.contains(&org.to_string()) && !row.starts_with("audit"));
        assert_eq!(left, None);
    }
    acme.service.stop().await;
}
