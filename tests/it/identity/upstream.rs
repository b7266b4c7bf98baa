//! Which account somebody from another provider is.

use std::net::{IpAddr, Ipv4Addr};

use dragoman::identity::clients::NewClient;
use dragoman::identity::connected::Disconnected;
use dragoman::identity::consents::Request;
use dragoman::identity::device::DeviceError;
use dragoman::identity::upstream::{Admission, Foreigner, Linking, Unlinking};
use futures_util::future::join_all;

use super::*;
use crate::support::databases::both;

const ISSUER: &str = "https://accounts.google.com";

fn foreigner(subject: &str, email: &str) -> Foreigner {
    Foreigner {
        provider: "google".into(),
        issuer: ISSUER.into(),
        subject: subject.into(),
        email: Some(email.into()),
        name: Some("Cleo".into()),
        hosted_domain: email.split_once('@').map(|(_, domain)| domain.into()),
        auth_time: None,
    }
}

/// A world where Google is configured.
async fn world(db: Db) -> World {
    let world = World::new(db).await;
    let config = Config::read(|name| (name == "DRAGOMAN_OIDC_GOOGLE_CLIENT_ID").then(|| "g".into())).unwrap();
    let (db, clock) = (world.identity.db().clone(), world.clock.clone());
    let identity = Identity::open(db, Arc::new(config), world.master.clone(), clock).await.unwrap();
    World { identity, ..world }
}

async fn set(world: &World, sql: &'static str) {
    sqlx::query(sql).execute(world.identity.db().pool()).await.unwrap();
}

async fn people(world: &World) -> usize {
    world.identity.list_users().await.unwrap().len()
}

#[tokio::test]
async fn b19_accounts_are_found_by_issuer_and_subject_alone() {
    both(async |db| {
        let world = world(db).await;
        let admit = async |foreigner: &Foreigner| world.identity.admit(foreigner).await.unwrap();
        let ann = foreigner("s-1", "ann@example.com");
        assert_eq!(admit(&ann).await, Admission::SignInFirst { email: "ann@example.com".into() });
        assert_eq!(world.identity.link(world.user.id, &ann).await.unwrap(), Linking::Done);
        assert_eq!(world.identity.link(world.user.id, &ann).await.unwrap(), Linking::Already);
        assert_eq!(admit(&ann).await, Admission::Known(world.user.clone()));
        let moved = Foreigner { email: None, name: None, hosted_domain: None, ..ann.clone() };
        assert_eq!(admit(&moved).await, Admission::Known(world.user.clone()), "whatever the address is now");
        let same_subject_elsewhere = Foreigner { issuer: "https://other.example".into(), ..ann.clone() };
        assert_eq!(admit(&same_subject_elsewhere).await, Admission::SignInFirst { email: "ann@example.com".into() });
        let spelled = Foreigner { subject: "S-1".into(), ..ann.clone() };
        assert_eq!(admit(&spelled).await, Admission::SignInFirst { email: "ann@example.com".into() });
        let other = world.identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        assert_eq!(world.identity.link(other.id, &ann).await.unwrap(), Linking::AnothersAlready);
        assert_eq!(admit(&ann).await, Admission::Known(world.user.clone()));
        world.wait(60);
        admit(&ann).await;
        let linked = world.identity.upstream_identities(world.user.id).await.unwrap();
        assert_eq!((linked[0].created_at, linked[0].last_used_at), (NOW, NOW + 60_000));
    })
    .await;
}

#[tokio::test]
async fn b19_googles_domain_must_be_managed_by_the_domain() {
    both(async |db| {
        let world = world(db).await;
        set(&world, "UPDATE orgs SET email_domains = '[\"Example.com\",\"b.example\"]'").await;
        let cleo = foreigner("s-2", "cleo@example.com");
        for hosted_domain in [None, Some("evil.example".to_owned()), Some(String::new())] {
            let consumer = Foreigner { hosted_domain, ..cleo.clone() };
            let expected = Admission::Uninvited { email: "cleo@example.com".into() };
            assert_eq!(world.identity.admit(&consumer).await.unwrap(), expected);
        }
        let elsewhere = Foreigner { email: Some("cleo@evil.example".into()), ..cleo.clone() };
        assert!(matches!(world.identity.admit(&elsewhere).await.unwrap(), Admission::Uninvited { .. }));
        let nobody = Foreigner { email: None, ..cleo.clone() };
        assert_eq!(world.identity.admit(&nobody).await.unwrap(), Admission::NoEmail);
        assert_eq!(people(&world).await, 1);
        // Other providers have no such claim.
        let own = Foreigner {
            provider: "oidc".into(),
            issuer: "https://id.b.example".into(),
            ..foreigner("s", "x@b.example")
        };
        let own = Foreigner { hosted_domain: None, ..own };
        assert!(matches!(world.identity.admit(&own).await.unwrap(), Admission::Created(_)));
        let Admission::Created(user) = world.identity.admit(&cleo).await.unwrap() else { panic!("expected") };
        assert_eq!((user.email.as_str(), user.name.as_str()), ("cleo@example.com", "Cleo"));
        assert_eq!(world.identity.memberships(user.id).await.unwrap(), []);
        set(&world, "UPDATE orgs SET suspended_at = 1").await;
        let late = foreigner("s-3", "dan@example.com");
        assert!(matches!(world.identity.admit(&late).await.unwrap(), Admission::Uninvited { .. }), "suspended");
    })
    .await;
}

#[tokio::test]
async fn an_open_invitation_makes_an_account_and_a_closed_one_does_not() {
    both(async |db| {
        let world = world(db).await;
        let invite = async |email: &str, id: &str, column: &str, value: i64| {
            let sql = format!(
                "INSERT INTO invitations (org_id, id, email, role, digest, invited_by, created_at, expires_at, accepted_at, \
                 revoked_at) VALUES ($1, '{id}', $2, 'viewer', '{id}', 'x', 1, {}, {}, {})",
                if column == "expires_at" { value } else { NOW + 1 },
                if column == "accepted_at" { "1" } else { "NULL" },
                if column == "revoked_at" { "1" } else { "NULL" },
            );
            let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(world.org.id.to_string()).bind(email.to_owned());
            query.execute(world.identity.db().pool()).await.unwrap();
        };
        invite("late@x.example", "i-1", "expires_at", NOW).await;
        invite("done@x.example", "i-2", "accepted_at", 1).await;
        invite("gone@x.example", "i-3", "revoked_at", 1).await;
        for email in ["late@x.example", "done@x.example", "gone@x.example", "never@x.example"] {
            let admitted = world.identity.admit(&foreigner(email, email)).await.unwrap();
            assert_eq!(admitted, Admission::Uninvited { email: email.into() });
        }
        invite("open@x.example", "i-4", "", 0).await;
        // No domain is listed: an invitation needs none, and no `hd` either.
        let open = Foreigner { hosted_domain: None, ..foreigner("s", "open@x.example") };
        let Admission::Created(user) = world.identity.admit(&open).await.unwrap() else { panic!("expected") };
        assert_eq!(world.identity.memberships(user.id).await.unwrap(), [], "accepting is another step");
        assert_eq!(world.identity.admit(&open).await.unwrap(), Admission::Known(user));
    })
    .await;
}

#[tokio::test]
async fn of_many_first_sign_ins_at_once_one_makes_the_account() {
    both(async |db| {
        let world = world(db).await;
        set(&world, "UPDATE orgs SET email_domains = '[\"example.com\"]'").await;
        let cleo = foreigner("s-2", "cleo@example.com");
        let all = join_all((0..8).map(|_| world.identity.admit(&cleo))).await;
        let made = all.iter().filter(|one| matches!(one.as_ref().unwrap(), Admission::Created(_))).count();
        assert_eq!((made, people(&world).await), (1, 2));
    })
    .await;
}

#[tokio::test]
async fn the_last_way_to_sign_in_stays_even_when_both_are_taken_at_once() {
    both(async |db| {
        let world = world(db).await;
        let unlink = async |subject: &str| world.identity.unlink(world.user.id, ISSUER, subject).await.unwrap();
        let link = async |subject: &str| {
            let done = world.identity.link(world.user.id, &foreigner(subject, "ann@example.com")).await.unwrap();
            assert_eq!(done, Linking::Done);
        };
        link("s-1").await;
        assert_eq!(unlink("s-2").await, Unlinking::NotTheirs);
        assert_eq!(unlink("s-1").await, Unlinking::Done, "there is a password");
        set(&world, "UPDATE users SET password_hash = ''").await;
        link("s-1").await;
        assert_eq!(unlink("s-1").await, Unlinking::LastWay);
        link("s-2").await;
        let (first, second) = futures_util::join!(unlink("s-1"), unlink("s-2"));
        let mut both = [format!("{first:?}"), format!("{second:?}")];
        both.sort();
        assert_eq!(both, ["Done", "LastWay"]);
        let left = world.identity.upstream_identities(world.user.id).await.unwrap();
        assert_eq!(left.len(), 1);
        // One at a provider that is no longer configured is not a way in.
        let gone = Foreigner { issuer: "https://gone.example".into(), ..foreigner("s-9", "ann@example.com") };
        assert_eq!(world.identity.link(world.user.id, &gone).await.unwrap(), Linking::Done);
        assert_eq!(unlink(&left[0].subject).await, Unlinking::LastWay);
        assert_eq!(world.identity.unlink(world.user.id, &gone.issuer, "s-9").await.unwrap(), Unlinking::Done);
        let stranger = world.identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        let taken = world.identity.unlink(stranger.id, ISSUER, &left[0].subject).await.unwrap();
        assert_eq!(taken, Unlinking::NotTheirs);
    })
    .await;
}

#[tokio::test]
async fn a_suspended_person_is_known_and_does_not_get_in() {
    both(async |db| {
        let world = world(db).await;
        let ann = foreigner("s-1", "ann@example.com");
        world.identity.link(world.user.id, &ann).await.unwrap();
        set(&world, "UPDATE users SET suspended_at = 1").await;
        assert_eq!(world.identity.admit(&ann).await.unwrap(), Admission::Suspended(world.user.clone()));
    })
    .await;
}

/// What docs/incidents.md says of an account that was taken.
#[tokio::test]
async fn what_a_thief_left_in_an_account_ends_and_does_not_come_back_with_it() {
    both(async |db| {
        let world = world(db).await;
        let (identity, ann, resource) = (&world.identity, world.user.id, world.resource());
        let given = async |approval: Approval| world.redeem(&identity.approve(approval).await.unwrap()).await.unwrap();
        let other = identity.create_org("other", "Other").await.unwrap().id;
        identity.set_role(other, ann, Role::Contributor).await.unwrap();
        let bob = identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap().id;
        identity.set_role(world.org.id, bob, Role::Contributor).await.unwrap();
        let (bobs, waiting) = (given(Approval { user: bob, ..world.approval() }).await, world.code().await);
        let taken = [world.pair().await, given(Approval { org: other, ..world.approval() }).await];
        for pair in &taken {
            world.verify(&pair.access).await.unwrap();
        }
        let device = device(&world).await;
        let thief = foreigner("s-thief", "thief@example.net");
        assert_eq!(identity.link(ann, &thief).await.unwrap(), Linking::Done);
        let request = Request {
            user: ann,
            client_id: CLIENT,
            redirect_uri: "https://thief.example/callback",
            resource: &resource,
            addresses: "digest",
        };
        let remembered = async || identity.remembered_consent(request, &[Scope::DataRead]).await.unwrap();
        identity.remember_consent(world.org.id, request, &[Scope::DataRead]).await.unwrap();
        assert_eq!(remembered().await, Some(world.org.id));

        identity.suspend_person(ann, true).await.unwrap();
        identity.set_password(ann, &Secret::new("four quite other words")).await.unwrap();
        identity.reset_factors(ann).await.unwrap();
        let ended = identity.disconnect_person(ann).await.unwrap();
        assert_eq!(ended, Disconnected { grants: 4, sign_ins: 1 });
        identity.suspend_person(ann, false).await.unwrap();

        for pair in &taken {
            revoked(&world.verify(&pair.access).await);
            invalid_grant(world.refresh(&pair.refresh).await);
        }
        invalid_grant(world.redeem(&waiting).await);
        let polled = identity.poll_device(device.0.expose(), &device.1, None).await;
        assert!(matches!(polled, Err(DeviceError::Grant(GrantError::InvalidGrant(_)))), "{polled:?}");
        assert_eq!(identity.admit(&thief).await.unwrap(), Admission::Uninvited { email: "thief@example.net".into() });
        assert_eq!(remembered().await, None);
        assert_eq!(identity.memberships(ann).await.unwrap().len(), 2, "what was given to the person stays");
        world.verify(&bobs.access).await.unwrap();
        assert_eq!(identity.disconnect_person(ann).await.unwrap(), Disconnected { grants: 0, sign_ins: 0 });
    })
    .await;
}

/// The code of a device that was approved and has not asked since, and its client.
async fn device(world: &World) -> (Secret, String) {
    let new = NewClient {
        name: "A device".into(),
        redirect_uris: vec!["http://127.0.0.1/callback".into()],
        application_type: "native".into(),
        uri: None,
    };
    let client = world.identity.register_client(new).await.unwrap();
    let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let started = world.identity.start_device(&client, &[Scope::DataRead], world.resource(), ip).await.unwrap();
    let asks = world.identity.waiting_device(started.user_code.expose()).await.unwrap().unwrap();
    let approval = Approval { client_id: client.id.clone(), ..world.approval() };
    assert!(world.identity.approve_device(&asks.digest, approval).await.unwrap());
    (started.device_code, client.id)
}
