//! The rules of membership, also when two break them at once, on both databases.

use dragoman::base::secret::Secret;
use dragoman::identity::grants::GrantError;
use dragoman::identity::workspace_settings::Change;
use dragoman::model::access::{Role, Scope};
use dragoman::model::error::{Code, Error};
use dragoman::model::user::User;

use crate::identity::{PASSWORD, World, invalid_grant, nowhere, revoked};
use crate::support::databases::both;

async fn member(world: &World, email: &str, role: Role) -> User {
    let user = world.identity.create_user(email, "Person", &Secret::new(PASSWORD)).await.unwrap();
    world.identity.set_role(world.org.id, user.id, role).await.unwrap();
    user
}

#[track_caller]
fn rule<T: std::fmt::Debug>(result: Result<T, Error>, expected: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.code, &error.details["rule"]), (Code::Forbidden, &expected.into()), "{error}");
    assert_eq!(error.code.info().status, 403);
}

fn token_of(link: &Secret) -> String {
    link.expose().rsplit('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn k09_the_last_admin_is_not_removed_nor_demoted_and_does_not_leave() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org, ann) = (&world.identity, world.org.id, world.user.id);
        let admin = member(&world, "root@example.com", Role::Admin).await;
        for by in [Some(admin.id), None] {
            rule(identity.expel(org, by, admin.id).await, "last_admin");
            for role in [Role::Viewer, Role::Contributor] {
                rule(identity.change_role(org, by, admin.id, role).await, "last_admin");
            }
        }
        identity.change_role(org, Some(admin.id), admin.id, Role::Admin).await.unwrap();

        // An admin who is locked out helps nobody.
        let second = member(&world, "second@example.com", Role::Admin).await;
        identity.suspend_person(second.id, true).await.unwrap();
        rule(identity.expel(org, Some(admin.id), admin.id).await, "last_admin");
        rule(identity.expel(org, Some(second.id), ann).await, "not_an_admin");
        identity.suspend_person(second.id, false).await.unwrap();
        identity.expel(org, Some(admin.id), admin.id).await.unwrap();
        assert_eq!(identity.role(org, admin.id).await.unwrap(), None);
        rule(identity.change_role(org, Some(second.id), second.id, Role::Viewer).await, "last_admin");
    })
    .await;
}

#[tokio::test]
async fn k09_nobody_below_admin_changes_anybody_and_everybody_may_leave() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org, ann) = (&world.identity, world.org.id, world.user.id);
        let admin = member(&world, "root@example.com", Role::Admin).await;
        rule(identity.change_role(org, Some(ann), ann, Role::Admin).await, "not_an_admin");
        rule(identity.change_role(org, Some(ann), admin.id, Role::Viewer).await, "not_an_admin");
        rule(identity.expel(org, Some(ann), admin.id).await, "not_an_admin");
        rule(identity.invite(org, Some(ann), "x@example.com", Role::Viewer).await, "not_an_admin");
        rule(identity.change_settings(org, Some(ann), Change::default()).await, "not_an_admin");
        let stranger = nowhere();
        rule(identity.expel(org, Some(stranger), ann).await, "not_an_admin");
        let missing = identity.expel(org, Some(admin.id), stranger).await.unwrap_err();
        assert_eq!(missing.code, Code::NotFound);
        let missing = identity.change_role(org, Some(admin.id), stranger, Role::Admin).await.unwrap_err();
        assert_eq!(missing.code, Code::NotFound, "a role is changed, never given to one who was not invited");

        let pair = world.pair().await;
        identity.expel(org, Some(ann), ann).await.unwrap();
        revoked(&world.verify(&pair.access).await);
        invalid_grant(world.refresh(&pair.refresh).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn k09_of_two_admins_who_remove_or_demote_each_other_at_once_one_is_left() {
    both(async |db| {
        let world = World::new(db).await;
        let org = world.org.id;
        for round in 0..12 {
            let one = member(&world, &format!("one{round}@example.com"), Role::Admin).await.id;
            let two = member(&world, &format!("two{round}@example.com"), Role::Admin).await.id;
            let against = |by, user| {
                let identity = world.identity.clone();
                tokio::spawn(async move {
                    match round % 3 {
                        0 => identity.expel(org, Some(by), user).await,
                        1 => identity.change_role(org, Some(by), user, Role::Viewer).await,
                        // Both leave.
                        _ => identity.expel(org, Some(by), by).await,
                    }
                })
            };
            let (first, second) = tokio::join!(against(one, two), against(two, one));
            let (first, second) = (first.unwrap(), second.unwrap());
            assert!(first.is_ok() != second.is_ok(), "round {round}: {first:?} {second:?}");
            let admins = world.identity.members(org).await.unwrap();
            let admins: Vec<_> = admins.into_iter().filter(|(_, role)| *role == Role::Admin).collect();
            assert_eq!(admins.len(), 1, "round {round}");
            world.identity.set_role(org, admins[0].0.id, Role::Viewer).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn k08_an_invitation_is_good_for_its_address_and_workspace_once() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        let admin = member(&world, "root@example.com", Role::Admin).await;
        let other = identity.create_org("other", "Other").await.unwrap();
        let bob = identity.create_user("bob@example.com", "Bob", &Secret::new(PASSWORD)).await.unwrap();
        let eve = identity.create_user("eve@example.com", "Eve", &Secret::new(PASSWORD)).await.unwrap();
        let (row, link) = identity.invite(org, Some(admin.id), " Bob@Example.com", Role::Contributor).await.unwrap();
        assert_eq!(row.email, "bob@example.com");
        let token = token_of(&link);
        let offer = identity.offer(&token).await.unwrap().unwrap();
        assert_eq!((offer.org.id, offer.role, offer.has_account), (org, Role::Contributor, true));
        assert_eq!(offer.invited_by.as_deref(), Some("root@example.com"));

        assert_eq!(identity.accept_invitation(&token, &eve).await.unwrap(), None, "another address");
        let password = Secret::new(PASSWORD);
        assert!(identity.join_with_invitation(&token, "Eve", &password).await.unwrap().is_none(), "has an account");
        for wrong in ["", "dgin_", &row.digest, &row.id.to_string(), &format!("{token}x")] {
            assert!(identity.offer(wrong).await.unwrap().is_none(), "{wrong}");
            assert_eq!(identity.accept_invitation(wrong, &bob).await.unwrap(), None);
        }
        assert!(!identity.revoke_invitation(other.id, row.id).await.unwrap(), "another workspace's admin");
        assert_eq!(identity.accept_invitation(&token, &bob).await.unwrap(), Some(org));
        assert_eq!(identity.role(org, bob.id).await.unwrap(), Some(Role::Contributor));
        assert_eq!(identity.role(other.id, bob.id).await.unwrap(), None);
        identity.expel(org, Some(admin.id), bob.id).await.unwrap();
        assert_eq!(identity.accept_invitation(&token, &bob).await.unwrap(), None, "a second time");

        // Taken back, replaced, or too old.
        let (first, first_link) = identity.invite(org, Some(admin.id), &bob.email, Role::Viewer).await.unwrap();
        let (second, second_link) = identity.invite(org, Some(admin.id), &bob.email, Role::Viewer).await.unwrap();
        assert_eq!(identity.accept_invitation(&token_of(&first_link), &bob).await.unwrap(), None, "replaced");
        assert!(!identity.revoke_invitation(org, first.id).await.unwrap());
        assert!(identity.revoke_invitation(org, second.id).await.unwrap());
        assert_eq!(identity.accept_invitation(&token_of(&second_link), &bob).await.unwrap(), None, "taken back");
        let (_, link) = identity.invite(org, Some(admin.id), &bob.email, Role::Viewer).await.unwrap();
        world.wait(7 * 24 * 3600);
        assert_eq!(identity.accept_invitation(&token_of(&link), &bob).await.unwrap(), None, "too old");
        assert!(identity.invitations(org).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_person_without_an_account_makes_it_where_the_link_proves_the_address() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        let (_, link) = identity.invite(org, None, "new@example.com", Role::Viewer).await.unwrap();
        let token = token_of(&link);
        let password = Secret::new("another good one");
        for (name, bad) in [("", password.clone()), ("New", Secret::new("short"))] {
            let refused = identity.join_with_invitation(&token, name, &bad).await.unwrap_err();
            assert_eq!(refused.code, Code::InvalidArgument);
        }
        let user = identity.join_with_invitation(&token, "New", &password).await.unwrap().unwrap();
        assert_eq!((user.email.as_str(), user.name.as_str()), ("new@example.com", "New"));
        assert_eq!(identity.role(org, user.id).await.unwrap(), Some(Role::Viewer));
        assert_eq!(identity.log_in("new@example.com", &password).await.unwrap().unwrap().id, user.id);
        assert!(identity.join_with_invitation(&token, "New", &password).await.unwrap().is_none());
        assert!(identity.offer(&token).await.unwrap().is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn k08_of_two_who_use_a_link_at_once_one_joins() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        for round in 0..6 {
            let email = format!("new{round}@example.com");
            let (_, link) = identity.invite(org, None, &email, Role::Viewer).await.unwrap();
            let joins = (0..2).map(|_| {
                let (identity, token) = (identity.clone(), token_of(&link));
                tokio::spawn(async move {
                    identity.join_with_invitation(&token, "New", &Secret::new("another good one")).await.unwrap()
                })
            });
            let joined = futures_util::future::join_all(joins).await;
            assert_eq!(joined.into_iter().filter(|joined| joined.as_ref().unwrap().is_some()).count(), 1);
        }
    })
    .await;
}

#[tokio::test]
async fn an_admin_who_is_no_admin_any_more_comes_back_through_no_invitation_of_theirs() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        let root = member(&world, "root@example.com", Role::Admin).await;
        for demoted in [true, false] {
            let rogue = member(&world, &format!("rogue{demoted}@example.com"), Role::Admin).await;
            let (_, own) =
                identity.invite(org, Some(rogue.id), &format!("alt{demoted}@example.com"), Role::Admin).await.unwrap();
            let (_, kept) =
                identity.invite(org, Some(root.id), &format!("ok{demoted}@example.com"), Role::Admin).await.unwrap();
            if demoted {
                identity.change_role(org, Some(root.id), rogue.id, Role::Viewer).await.unwrap();
            } else {
                identity.expel(org, Some(root.id), rogue.id).await.unwrap();
            }
            assert!(identity.offer(&token_of(&own)).await.unwrap().is_none(), "{demoted}");
            assert!(identity.offer(&token_of(&kept)).await.unwrap().is_some(), "{demoted}");
        }
    })
    .await;
}

#[tokio::test]
async fn who_joins_has_an_address_of_the_workspaces_domains() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        let (_, early) = identity.invite(org, None, "early@elsewhere.org", Role::Viewer).await.unwrap();
        let domains = Change { email_domains: Some(vec!["example.com".into()]), ..Change::default() };
        identity.change_settings(org, None, domains).await.unwrap();
        for bad in ["x@elsewhere.org", "x@sub.example.com", "x@example.com.evil.org"] {
            let refused = identity.invite(org, None, bad, Role::Viewer).await.unwrap_err();
            assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &"email".into()), "{bad}");
        }
        identity.invite(org, None, "x@EXAMPLE.com", Role::Viewer).await.unwrap();
        let joined = identity.join_with_invitation(&token_of(&early), "Early", &Secret::new(PASSWORD)).await.unwrap();
        assert!(joined.is_none(), "the rule of the day of joining holds");
        assert!(identity.user_by_email("early@elsewhere.org").await.unwrap().is_none(), "nothing was half done");
        assert_eq!(identity.role(org, world.user.id).await.unwrap(), Some(Role::Contributor), "members stay");
    })
    .await;
}

#[tokio::test]
async fn at_most_fifty_invitations_are_open() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, world.org.id);
        for number in 0..50 {
            identity.invite(org, None, &format!("p{number}@example.com"), Role::Viewer).await.unwrap();
        }
        let refused = identity.invite(org, None, "more@example.com", Role::Viewer).await.unwrap_err();
        assert_eq!(refused.code, Code::LimitExceeded);
        identity.invite(org, None, "p7@example.com", Role::Contributor).await.unwrap();
        assert_eq!(identity.invitations(org).await.unwrap().len(), 50, "a repeated one replaces the first");
        let member = identity.invite(org, None, "ann@example.com", Role::Viewer).await.unwrap_err();
        assert_eq!(member.code, Code::InvalidArgument, "a member already");
    })
    .await;
}

#[tokio::test]
async fn a_blocked_client_uses_nothing_that_it_has_and_is_given_nothing() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org) = (&world.identity, Some(world.org.id));
        let pair = world.pair().await;
        identity.block_client(org, crate::identity::CLIENT).await.unwrap();
        revoked(&world.verify(&pair.access).await);
        assert!(!identity.still_good(pair.access.expose(), &world.resource()).await);
        let refused = identity.approve(world.approval()).await.unwrap_err();
        assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidArgument, &"client".into()));
        assert!(identity.unblock_client(org, crate::identity::CLIENT).await.unwrap());
        world.verify(&pair.access).await.unwrap();
    })
    .await;
}

/// I18: whatever a person or a workspace has is refused from the moment on, and comes back with them.
#[tokio::test]
async fn i18_suspension_holds_at_once_for_every_kind_of_credential() {
    both(async |db| {
        let world = World::new(db).await;
        let (identity, org, ann) = (&world.identity, world.org.id, world.user.id);
        let resource = world.resource();
        let (pair, waiting) = (world.pair().await, world.code().await);
        let scopes = &dragoman::model::access::ExtScope::ALL;
        let token = identity.create_token(org, "t", scopes, None).await.unwrap().1;
        let password = Secret::new(PASSWORD);

        identity.suspend_person(ann, true).await.unwrap();
        assert!(identity.log_in("ann@example.com", &password).await.unwrap().is_none(), "as a wrong password");
        assert!(identity.active_user(ann).await.unwrap().is_none());
        revoked(&world.verify(&pair.access).await);
        invalid_grant(world.refresh(&pair.refresh).await);
        invalid_grant(world.redeem(&waiting).await);
        assert!(identity.approve(world.approval()).await.is_err());
        world.verify(&token).await.unwrap();
        identity.suspend_person(ann, false).await.unwrap();
        assert!(identity.log_in("ann@example.com", &password).await.unwrap().is_some());
        world.verify(&pair.access).await.unwrap();

        identity.suspend_org(org, true).await.unwrap();
        revoked(&world.verify(&pair.access).await);
        revoked(&world.verify(&token).await);
        assert!(!identity.still_good(token.expose(), &resource).await);
        assert!(!identity.still_good(pair.access.expose(), &resource).await);
        let refused = world.refresh(&pair.refresh).await;
        assert!(matches!(refused, Err(GrantError::InvalidGrant(_))), "{refused:?}");
        assert!(identity.approve(world.approval()).await.is_err());
        assert!(identity.memberships(ann).await.unwrap().is_empty());
        assert!(identity.log_in("ann@example.com", &password).await.unwrap().is_some(), "their other workspaces stay");
        identity.suspend_org(org, false).await.unwrap();
        world.verify(&token).await.unwrap();
        assert!(identity.still_good(token.expose(), &resource).await);
        world.redeem(&waiting).await.unwrap();
        world.refresh(&pair.refresh).await.unwrap();
        assert_eq!(identity.memberships(ann).await.unwrap().len(), 1);
        let scopes = world.verify(&pair.access).await.unwrap().rights;
        assert_eq!(scopes, dragoman::model::access::Rights::of_scopes(&[Scope::DataRead, Scope::DataWrite]));
    })
    .await;
}
