//! What an invitation does not do: outlive the right to invite, or prove a mailbox that it was not sent to.

use dragoman::base::secret::Secret;
use dragoman::model::access::Role;

use crate::support::databases::postgres_url;
use crate::support::service::{PASSWORD, Service};

#[tokio::test(flavor = "multi_thread")]
async fn k08_an_invitation_does_not_outlive_the_right_to_invite() {
    for database in [String::new(), postgres_url().await] {
        let service = Service::with(&[("DATABASE_URL", &database)]).await;
        let (identity, password) = (&service.identity, Secret::new(PASSWORD));
        let org = service.workspace("acme").await;
        let ann = identity.create_user("ann@example.com", "Ann", &password).await.unwrap();
        identity.set_role(org.id, ann.id, Role::Admin).await.unwrap();
        let (_, link) = identity.invite(org.id, Some(ann.id), "second@example.com", Role::Admin).await.unwrap();
        let token = link.expose().rsplit('/').next().unwrap();
        assert!(identity.offer(token).await.unwrap().is_some());
        identity.suspend_person(ann.id, true).await.unwrap();
        assert!(identity.offer(token).await.unwrap().is_none(), "while suspended");
        assert!(identity.join_with_invitation(token, "Ann again", &password).await.unwrap().is_none());
        identity.suspend_person(ann.id, false).await.unwrap();
        identity.set_role(org.id, ann.id, Role::Viewer).await.unwrap();
        assert!(identity.join_with_invitation(token, "Ann again", &password).await.unwrap().is_none(), "no admin");
        identity.set_role(org.id, ann.id, Role::Admin).await.unwrap();
        assert!(identity.join_with_invitation(token, "Second", &password).await.unwrap().is_some());
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k08_b22_only_a_link_that_was_mailed_makes_an_account() {
    // Mails would go to a server, which need not answer here.
    let service = Service::with(&[("DRAGOMAN_SMTP_URL", "smtp://127.0.0.1:9")]).await;
    let (identity, password) = (&service.identity, Secret::new(PASSWORD));
    let org = service.workspace("acme").await;
    let ann = identity.create_user("ann@example.com", "Ann", &password).await.unwrap();
    identity.set_role(org.id, ann.id, Role::Admin).await.unwrap();
    identity.create_user("bob@example.com", "Bob", &password).await.unwrap();
    for email in ["ceo@victim.example", "bob@example.com"] {
        let (_, link) = identity.invite(org.id, Some(ann.id), email, Role::Viewer).await.unwrap();
        let page = service.http.get(link.expose()).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("open the link in the mail"), "{email}: nor is said who has an account: {page}");
        let token = link.expose().rsplit('/').next().unwrap();
        assert!(identity.join_with_invitation(token, "Mallory", &password).await.unwrap().is_none());
        let guessed = format!("{token}{}", "0".repeat(32));
        assert!(identity.join_with_invitation(&guessed, "Mallory", &password).await.unwrap().is_none());
        assert!(identity.offer(&guessed).await.unwrap().is_none());
    }
    assert!(identity.user_by_email("ceo@victim.example").await.unwrap().is_none());
    service.stop().await;
}
