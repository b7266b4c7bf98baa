use super::*;
use crate::base::clock::Clock;
use crate::model::caller::Proof;
use crate::model::dataset::Kind;

fn org(clock: &Clock, connectivity_enabled: bool) -> Org {
    Org { id: Id::new(clock), slug: "acme".into(), name: "Acme".into(), connectivity_enabled, created_at: 0 }
}

fn caller(org: &Org, role: Role, rights: Rights, proof: Proof) -> Caller {
    Caller { role, rights, proof, ..Caller::operator(org.id, "r".into()) }
}

fn dataset(clock: &Clock, org: &Org, name: &str, published: bool, ready: bool) -> Dataset {
    Dataset {
        externally_queryable: published,
        version: ready.then(|| "v1".into()),
        ..Dataset::new(Id::new(clock), org.id, name, Kind::Table)
    }
}

fn token() -> Proof {
    Proof::AccessToken { family: "f".into(), auth_time: 0 }
}

#[test]
fn the_table_of_roles_is_the_published_one() {
    let may = |role, action| Rights::of_role(role).allow(action);
    for action in [Action::ListDatasets, Action::ReadSchema, Action::Search, Action::ReadOntologies] {
        assert!(may(Role::Viewer, action), "{action:?}");
    }
    for action in [Action::RunSql, Action::WriteDatasets, Action::DeleteDatasets] {
        assert!(!may(Role::Viewer, action) && may(Role::Contributor, action), "{action:?}");
    }
    assert!(!may(Role::Contributor, Action::Administer) && may(Role::Admin, Action::Administer));
}

#[test]
fn a_connectivity_token_never_writes_or_administers() {
    let all = Rights::of_ext_scopes(&ExtScope::ALL);
    for action in [Action::WriteDatasets, Action::DeleteDatasets, Action::Administer] {
        assert!(!all.allow(action), "{action:?}");
    }
}

#[test]
fn rights_only_shrink_when_combined() {
    let session = Rights::of_scopes(&[Scope::DataRead]);
    let token = Rights::of_scopes(&[Scope::DataRead, Scope::DataWrite]);
    assert!(!session.and(token).allow(Action::RunSql));
    assert!(session.and(token).allow(Action::Search));
}

#[test]
fn a_pass_covers_only_what_the_caller_may_see() {
    let clock = Clock::manual(1);
    let (home, other) = (org(&clock, true), org(&clock, true));
    let all = || {
        vec![
            dataset(&clock, &home, "b", true, true),
            dataset(&clock, &home, "a", true, true),
            dataset(&clock, &home, "hidden", false, true),
            dataset(&clock, &home, "loading", true, false),
            dataset(&clock, &other, "foreign", true, true),
        ]
    };
    let names = |pass: &Pass| pass.datasets().iter().map(|d| d.name.clone()).collect::<Vec<_>>();

    let outside = caller(&home, Role::Admin, Rights::of_role(Role::Admin), token());
    let pass = authorize(&outside, &Catalogue::new(home.clone(), all()), Action::ListDatasets, &Want::All).unwrap();
    assert_eq!(names(&pass), ["a", "b"]);

    let inside = caller(&home, Role::Admin, Rights::of_role(Role::Admin), Proof::BrowserSession { auth_time: 0 });
    let pass = authorize(&inside, &Catalogue::new(home.clone(), all()), Action::ListDatasets, &Want::All).unwrap();
    assert_eq!(names(&pass), ["a", "b", "hidden"]);
    let catalogue = Catalogue::new(home.clone(), all());
    let handed_out = authorize(&inside, &catalogue, Action::ListDatasets, &Want::Published).unwrap();
    assert_eq!((names(&handed_out), handed_out.is_external()), (vec!["a".to_owned(), "b".to_owned()], true));
}

#[test]
fn absent_foreign_and_unpublished_datasets_look_the_same() {
    let clock = Clock::manual(1);
    let (home, other) = (org(&clock, true), org(&clock, true));
    let outside = caller(&home, Role::Admin, Rights::of_role(Role::Admin), token());
    let hidden = dataset(&clock, &home, "hidden", false, true);
    let foreign = dataset(&clock, &other, "foreign", true, true);
    let absent = Id::new(&clock);
    let answer = |id| {
        let all = vec![hidden.clone(), foreign.clone()];
        authorize(&outside, &Catalogue::new(home.clone(), all), Action::ReadSchema, &Want::One(id))
            .unwrap_err()
            .body("r")
    };
    assert_eq!(answer(hidden.id), answer(absent));
    assert_eq!(answer(foreign.id), answer(absent));
}

#[test]
fn the_switch_of_a_workspace_stops_external_callers_only() {
    let clock = Clock::manual(1);
    let off = org(&clock, false);
    let rights = Rights::of_role(Role::Admin);
    let refused = authorize(
        &caller(&off, Role::Admin, rights, token()),
        &Catalogue::new(off.clone(), vec![]),
        Action::ListDatasets,
        &Want::All,
    );
    assert_eq!(refused.unwrap_err().code, Code::ServiceUnavailable);
    let inside = caller(&off, Role::Admin, rights, Proof::BrowserSession { auth_time: 0 });
    assert!(authorize(&inside, &Catalogue::new(off, vec![]), Action::ListDatasets, &Want::All).is_ok());
}

#[test]
fn a_refusal_names_the_missing_scope_and_the_role() {
    let clock = Clock::manual(1);
    let home = org(&clock, true);
    let viewer = caller(&home, Role::Viewer, Rights::of_role(Role::Viewer), token());
    let refused = authorize(&viewer, &Catalogue::new(home, vec![]), Action::RunSql, &Want::All).unwrap_err();
    assert_eq!(refused.code, Code::ScopeDenied);
    assert_eq!(refused.details["required"], json!(["data_agent:write"]));
    assert_eq!(refused.details["required_role"], "contributor");
}
