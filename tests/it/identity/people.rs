//! Workspaces, people, memberships, log-in, registered clients.

use std::time::Instant;

use dragoman::identity::clients::{NewClient, OAuthClient};
use dragoman::identity::upstream::{Foreigner, Linking};
use dragoman::model::error::Code;
use futures_util::future::join_all;

use super::*;
use crate::support::databases::both;
use crate::support::dump::dump;

#[tokio::test]
async fn workspaces_and_people_are_kept_as_given_and_found_by_their_names() {
    both(async |db| {
        let world = World::new(db).await;
        let identity = &world.identity;
        assert_eq!(identity.org(world.org.id).await.unwrap().as_ref(), Some(&world.org));
        assert_eq!(identity.org_by_slug("acme").await.unwrap().as_ref(), Some(&world.org));
        assert_eq!(identity.org_by_slug("ACME").await.unwrap(), None);
        assert_eq!(identity.org(nowhere()).await.unwrap(), None);
        assert_eq!(identity.user(world.user.id).await.unwrap().as_ref(), Some(&world.user));
        assert_eq!(identity.user_by_email(" Ann@Example.com").await.unwrap().as_ref(), Some(&world.user));
        assert_eq!(identity.user_by_email("no address").await.unwrap(), None);
        assert!(!world.org.connectivity_enabled, "closed until an admin opens it");
        identity.set_connectivity(world.org.id, true).await.unwrap();
        assert!(identity.org(world.org.id).await.unwrap().unwrap().connectivity_enabled);
        assert_eq!(identity.set_connectivity(nowhere(), true).await.unwrap_err().code, Code::InvalidArgument);
    })
    .await;
}

#[tokio::test]
async fn taken_and_malformed_names_are_refused_with_the_field() {
    both(async |db| {
        let world = World::new(db).await;
        let password = Secret::new(PASSWORD);
        let long = "x".repeat(101);
        for (slug, name, field) in
            [("acme", "Again", "slug"), ("A b", "X", "slug"), ("new", " ", "name"), ("new", &long, "name")]
        {
            let refused = world.identity.create_org(slug, name).await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &field.into()));
        }
        for (email, name, password, field) in [
            ("ANN@example.com", "Ann", &password, "email"),
            ("nobody", "X", &password, "email"),
            ("x@example.com", "\u{7}", &password, "name"),
            ("x@example.com", "X", &Secret::new("short"), "password"),
        ] {
            let refused = world.identity.create_user(email, name, password).await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &field.into()));
        }
        assert_eq!(world.identity.list_users().await.unwrap(), [world.user]);
        assert_eq!(world.identity.list_orgs().await.unwrap(), [world.org]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_parallel_creations_of_one_slug_give_one_workspace() {
    both(async |db| {
        let world = World::new(db).await;
        let tasks = (0..20).map(|_| {
            let identity = world.identity.clone();
            tokio::spawn(async move { identity.create_org("race", "Race").await })
        });
        let results: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(results.iter().flat_map(|result| result.as_ref().err()).all(|e| e.code == Code::InvalidArgument));
    })
    .await;
}

#[tokio::test]
async fn a_person_has_a_role_in_each_workspace_by_itself() {
    both(async |db| {
        let world = World::new(db).await;
        let identity = &world.identity;
        let other = identity.create_org("other", "A first by name").await.unwrap();
        identity.set_role(other.id, world.user.id, Role::Admin).await.unwrap();
        let of = |memberships: Vec<dragoman::model::user::Membership>| -> Vec<(String, Role)> {
            memberships.into_iter().map(|membership| (membership.org.slug, membership.role)).collect()
        };
        let both_orgs = [("other".to_owned(), Role::Admin), ("acme".to_owned(), Role::Contributor)];
        assert_eq!(of(identity.memberships(world.user.id).await.unwrap()), both_orgs);
        identity.set_role(world.org.id, world.user.id, Role::Viewer).await.unwrap();
        assert_eq!(identity.role(world.org.id, world.user.id).await.unwrap(), Some(Role::Viewer));
        assert_eq!(identity.role(other.id, world.user.id).await.unwrap(), Some(Role::Admin));
        assert_eq!(identity.members(other.id).await.unwrap(), [(world.user.clone(), Role::Admin)]);
        identity.remove_member(other.id, world.user.id).await.unwrap();
        assert_eq!(identity.members(other.id).await.unwrap(), []);
        assert_eq!(identity.role(world.org.id, world.user.id).await.unwrap(), Some(Role::Viewer));
        for refused in [
            identity.remove_member(other.id, world.user.id).await,
            identity.set_role(nowhere(), world.user.id, Role::Viewer).await,
            identity.set_role(other.id, nowhere(), Role::Viewer).await,
        ] {
            assert_eq!(refused.unwrap_err().code, Code::InvalidArgument);
        }
    })
    .await;
}

#[tokio::test]
async fn only_the_right_password_logs_in_and_a_new_one_replaces_it() {
    both(async |db| {
        let world = World::new(db).await;
        let log_in =
            async |email: &str, password: &str| world.identity.log_in(email, &Secret::new(password)).await.unwrap();
        assert_eq!(log_in("Ann@example.com ", PASSWORD).await, Some(world.user.clone()));
        assert_eq!(log_in("ann@example.com", "correct horse batterY").await, None);
        assert_eq!(log_in("ann@example.com", "").await, None);
        assert_eq!(log_in("eve@example.com", PASSWORD).await, None);
        assert_eq!(log_in("no address", PASSWORD).await, None);
        world.identity.set_password(world.user.id, &Secret::new("another one 1")).await.unwrap();
        assert_eq!(log_in("ann@example.com", PASSWORD).await, None);
        assert_eq!(log_in("ann@example.com", "another one 1").await, Some(world.user.clone()));
        let refused = world.identity.set_password(nowhere(), &Secret::new(PASSWORD)).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidArgument);
        assert_eq!(log_in("ann@example.com", &"x".repeat(1025)).await, None);
    })
    .await;
}

#[tokio::test]
async fn b21_a_stranger_takes_as_long_as_a_wrong_password() {
    both(async |db| {
        let world = World::new(db).await;
        let wrong = Secret::new("wrong password");
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            for (email, times) in [("ann@example.com", &mut known), ("eve@example.com", &mut unknown)] {
                let started = Instant::now();
                assert_eq!(world.identity.log_in(email, &wrong).await.unwrap(), None);
                times.push(started.elapsed());
            }
        }
        // The quickest of each: a busy machine only adds time, and the work itself is what must not differ.
        let (known, unknown) = (known.iter().min().unwrap(), unknown.iter().min().unwrap());
        let ratio = known.as_secs_f64() / unknown.as_secs_f64();
        assert!((0.5..2.0).contains(&ratio), "quickest {known:?} and {unknown:?}");
    })
    .await;
}

#[tokio::test]
async fn equal_metadata_is_one_client_and_other_metadata_another() {
    both(async |db| {
        let world = World::new(db).await;
        let new = |name: &str, uris: &[&str]| NewClient {
            name: name.into(),
            redirect_uris: uris.iter().map(|uri| (*uri).to_owned()).collect(),
            application_type: "native".into(),
            uri: None,
        };
        let register = async |new: NewClient| world.identity.register_client(new).await.unwrap();
        let uris = ["http://127.0.0.1/cb", "https://a.example/cb"];
        let first = register(new("A", &uris)).await;
        assert!(first.id.starts_with("dgc_"));
        world.wait(60);
        // Who registers again is about to use it: the day after which unused ones go begins anew.
        let first = OAuthClient { created_at: world.clock.now(), ..first };
        assert_eq!(register(new("A", &uris)).await, first);
        assert_eq!(register(new("A", &[uris[1], uris[0]])).await.id, first.id);
        let mut web = new("A", &uris);
        web.application_type = "web".into();
        let mut home = new("A", &uris);
        home.uri = Some("https://a.example".into());
        for other in [new("B", &uris), new("A", &uris[..1]), web, home] {
            assert_ne!(register(other).await.id, first.id);
        }
        assert_eq!(world.identity.client(&first.id).await.unwrap(), Some(first.clone()));
        assert_eq!(world.identity.client(&first.id.to_lowercase()).await.unwrap(), None);

        let approval = Approval { client_id: first.id.clone(), ..world.approval() };
        let code = world.identity.approve(approval).await.unwrap();
        let used = CodeUse { client_id: &first.id, ..code_use(&code) };
        let access = world.identity.redeem(used).await.unwrap().access;
        let client = world.verify(&access).await.unwrap().client;
        assert_eq!((client.id, client.name.as_str()), (first.id, "A"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_parallel_registrations_of_one_client_give_one_id() {
    both(async |db| {
        let world = World::new(db).await;
        let tasks = (0..20).map(|_| {
            let identity = world.identity.clone();
            tokio::spawn(async move {
                let redirect_uris = vec![REDIRECT.to_owned()];
                let new = NewClient { name: "A".into(), redirect_uris, application_type: "native".into(), uri: None };
                identity.register_client(new).await.unwrap().id
            })
        });
        let ids: Vec<String> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    })
    .await;
}

#[tokio::test]
async fn b02_a_change_under_way_does_not_undo_a_reset() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, user) = (&world.identity, &world.user);
        let (_, old) = identity.active_user(user.id).await.unwrap().unwrap();
        // The owner's reset commits while the change of somebody who knows the old password waits for its turn.
        identity.set_password(user.id, &Secret::new("the owner's new one")).await.unwrap();
        let thief = Secret::new("what the thief wanted");
        assert!(identity.change_password(user, &old, &thief).await.unwrap().is_none());
        assert!(identity.log_in(&user.email, &thief).await.unwrap().is_none());
        let (_, now) = identity.active_user(user.id).await.unwrap().unwrap();
        let next = Secret::new("a third good password");
        let stamp = identity.change_password(user, &now, &next).await.unwrap().unwrap();
        assert_eq!(identity.active_user(user.id).await.unwrap().unwrap().1, stamp);
        assert!(identity.log_in(&user.email, &next).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn of_a_person_who_is_erased_the_metadata_keep_nothing_but_an_id() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        let (identity, ann) = (&world.identity, world.user.id);
        identity.set_name(ann, "Annabel Quine").await.unwrap();
        let bob = identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        let other = identity.create_org("other", "Other").await.unwrap();
        identity.set_role(other.id, ann, Role::Admin).await.unwrap();
        let third = identity.create_org("third", "Third").await.unwrap();
        identity.invite(third.id, None, "ann@example.com", Role::Viewer).await.unwrap();
        let (_, link) = identity.invite(other.id, Some(ann), "cleo@example.com", Role::Viewer).await.unwrap();
        let (_, sent) = link.expose().rsplit_once('/').unwrap();
        assert!(identity.offer(sent).await.unwrap().is_some());
        let elsewhere = Foreigner {
            provider: "oidc".into(),
            issuer: "https://id.example".into(),
            subject: "s-1".into(),
            email: Some("ann@elsewhere.example".into()),
            name: None,
            hosted_domain: None,
            auth_time: None,
        };
        assert_eq!(identity.link(ann, &elsewhere).await.unwrap(), Linking::Done);
        identity.begin_totp(&world.user).await.unwrap();
        let kept = [
            "INSERT INTO browser_sessions (id_hash, user_id, expires_at, data, agent) \
             VALUES ('s', 'ANN', NOW, '', 'annabel')",
            "INSERT INTO pending_authorizations (handle_hash, session_hash, user_id, expires_at, data) \
             VALUES ('h', 'form', 'ANN', NOW, 'annabel')",
        ];
        for row in kept {
            let row = row.replace("ANN", &ann.to_string()).replace("NOW", &(NOW * 2).to_string());
            sqlx::query(sqlx::AssertSqlSafe(row)).execute(db.pool()).await.unwrap();
        }
        let pair = world.pair().await;
        let traces = async || -> Vec<String> {
            let all = dump(db.pool()).await.to_lowercase();
            all.lines().filter(|line| line.contains("ann@") || line.contains("annabel")).map(str::to_owned).collect()
        };
        let found = traces().await;
        assert_eq!(found.len(), 5, "person, invitation, sign-in, session, form: {found:#?}");

        let refused = identity.erase_person(ann).await.unwrap_err();
        assert_eq!((refused.code, &refused.details["rule"]), (Code::Forbidden, &"last_admin".into()));
        assert!(refused.message.contains("other") && !refused.message.contains("acme"), "{refused}");
        assert_eq!((traces().await, identity.memberships(ann).await.unwrap().len()), (found, 2), "nothing is changed");
        world.verify(&pair.access).await.unwrap();

        identity.set_role(other.id, bob.id, Role::Admin).await.unwrap();
        identity.erase_person(ann).await.unwrap();
        assert_eq!(traces().await, [""; 0]);
        assert!(!identity.has_password(ann).await.unwrap());
        assert!(identity.unconfirmed_totp(&world.user).await.unwrap().is_none());
        assert_eq!(identity.memberships(ann).await.unwrap(), []);
        assert!(world.verify(&pair.access).await.is_err());
        invalid_grant(world.refresh(&pair.refresh).await);
        assert!(identity.offer(sent).await.unwrap().is_none());
        assert_eq!(identity.log_in("ann@example.com", &Secret::new(PASSWORD)).await.unwrap(), None);
        assert_eq!(identity.list_users().await.unwrap(), [bob]);
        assert_eq!(identity.user(ann).await.unwrap().unwrap().name, "Somebody who has left");
        // The address is free again, for somebody else.
        let anew = identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        assert_ne!(anew.id, ann);
        assert_eq!(identity.erase_person(nowhere()).await.unwrap_err().code, Code::InvalidArgument);
    })
    .await;
}
