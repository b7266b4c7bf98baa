use std::time::Duration;

use super::*;
use crate::base::id::Id;
use crate::config::Limits;
use crate::model::access::{Rights, Role};
use crate::model::caller::{Client, Proof};

fn caller(clock: &Clock, token: &str) -> Caller {
    Caller {
        role: Role::Viewer,
        rights: Rights::NONE,
        proof: Proof::ConnectivityToken { id: token.into() },
        client: Client::default(),
        ..Caller::operator(Id::new(clock), String::new())
    }
}

#[test]
fn a_token_gets_its_calls_then_is_told_when_to_come_back() {
    let clock = Clock::manual(1_000_000);
    let limiter = Limiter::new(Limits::default().rates, &clock);
    let ann = caller(&clock, "ann");
    for _ in 0..30 {
        limiter.take(&ann, Cost::Read).unwrap();
    }
    let refused = limiter.take(&ann, Cost::Read).unwrap_err();
    assert_eq!((refused.code, refused.retry_after), (Code::RateLimited, Some(2)));
    assert!(limiter.take(&caller(&clock, "bob"), Cost::Read).is_ok(), "another token is not affected");
    clock.advance(Duration::from_secs(2));
    assert!(limiter.take(&ann, Cost::Read).is_ok());
}

#[test]
fn sql_has_its_own_smaller_limit() {
    let clock = Clock::manual(1_000_000);
    let limiter = Limiter::new(Limits::default().rates, &clock);
    let ann = caller(&clock, "ann");
    for _ in 0..10 {
        limiter.take(&ann, Cost::Sql).unwrap();
    }
    assert_eq!(limiter.take(&ann, Cost::Sql).unwrap_err().details["limit"], "token_sql");
    assert!(limiter.take(&ann, Cost::Read).is_ok());
}

#[test]
fn a_client_with_a_person_in_front_of_it_may_work_and_a_token_of_a_program_has_less() {
    let clock = Clock::manual(1_000_000);
    let plenty = Rates { in_flight: 1_000, instance_in_flight: 100_000, ..Limits::default().rates };
    let taken = |who: &Caller, cost: Cost| {
        let limiter = Limiter::new(plenty.clone(), &clock);
        let mut places = Vec::new();
        loop {
            match limiter.take(who, cost) {
                Ok(place) => places.push(place),
                Err(refused) => {
                    assert_eq!(refused.code, Code::RateLimited, "{refused}");
                    assert!(refused.retry_after.is_some_and(|wait| wait > 0), "{refused:?}");
                    return (places.len(), refused.details["limit"].as_str().unwrap().to_owned());
                }
            }
        }
    };
    let token = caller(&clock, "nightly");
    let person = Some(Id::new(&clock));
    let grant =
        Caller { user: person, proof: Proof::AccessToken { family: "f".into(), auth_time: 0 }, ..token.clone() };
    let browser = Caller { user: person, proof: Proof::BrowserSession { auth_time: 0 }, ..token.clone() };
    for (cost, of_token, of_client, name) in [
        (Cost::Read, 30, 120, ""),
        (Cost::Sql, 10, 60, "_sql"),
        (Cost::Ask, 5, 30, "_ask"),
        (Cost::Resource, 30, 120, "_resources"),
    ] {
        assert_eq!(taken(&token, cost), (of_token, format!("token{name}")));
        for who in [&grant, &browser] {
            assert_eq!(taken(who, cost), (of_client, format!("client{name}")));
        }
    }
    for who in [&token, &grant] {
        assert_eq!(taken(who, Cost::Manage), (120, "management".to_owned()));
    }
    // Ten clients of a workspace at work.
    let limiter = Limiter::new(plenty.clone(), &clock);
    let clients = (0..11).map(|family: u32| Caller {
        proof: Proof::AccessToken { family: family.to_string(), auth_time: 0 },
        ..grant.clone()
    });
    let mut calls = 0;
    let refused = clients.flat_map(|who| std::iter::repeat_n(who, 120)).find_map(|who| {
        let taken = limiter.take(&who, Cost::Read);
        calls += u32::from(taken.is_ok());
        taken.err()
    });
    assert_eq!((calls, &refused.unwrap().details["limit"]), (1_200, &serde_json::json!("workspace")));
}

#[test]
fn one_workspace_shares_one_limit_over_its_tokens() {
    let clock = Clock::manual(1_000_000);
    let rates = Rates { workspace: 3, ..Limits::default().rates };
    let limiter = Limiter::new(rates, &clock);
    let ann = caller(&clock, "ann");
    let bob = Caller { proof: Proof::ConnectivityToken { id: "bob".into() }, ..ann.clone() };
    for who in [&ann, &bob, &ann] {
        limiter.take(who, Cost::Read).unwrap();
    }
    assert_eq!(limiter.take(&bob, Cost::Read).unwrap_err().details["limit"], "workspace");
}

#[test]
fn three_at_once_and_a_finished_call_makes_room() {
    let clock = Clock::manual(1_000_000);
    let limiter = Limiter::new(Limits::default().rates, &clock);
    let ann = caller(&clock, "ann");
    let mut running: Vec<Share> = (0..3).map(|_| limiter.take(&ann, Cost::Read).unwrap()).collect();
    assert_eq!(limiter.take(&ann, Cost::Read).unwrap_err().details["limit"], "in_flight");
    running.pop();
    assert!(limiter.take(&ann, Cost::Read).is_ok());
}

#[test]
fn a_workspace_and_a_person_leave_room_for_others_whatever_they_make() {
    let clock = Clock::manual(1_000_000);
    let plenty = Rates { workspace: 1_000, ..Limits::default().rates };
    let limiter = Limiter::new(plenty, &clock);
    let ann = Caller { user: Some(Id::new(&clock)), ..caller(&clock, "") };
    let grant = |who: &Caller, number: usize| Caller {
        proof: Proof::AccessToken { family: number.to_string(), auth_time: 0 },
        ..who.clone()
    };
    let mut running = Vec::new();
    let mut grab = |who: &Caller| -> (usize, Error) {
        let before = running.len();
        for number in 0.. {
            match limiter.take(&grant(who, number), Cost::Read) {
                Ok(place) => running.push(place),
                Err(full) => return (running.len() - before, full),
            }
        }
        unreachable!()
    };
    let (hers, full) = grab(&ann);
    assert_eq!((hers, &full.details["limit"]), (22, &serde_json::json!("workspace_in_flight")), "a third of 64");
    let bob = Caller { user: Some(Id::new(&clock)), ..ann.clone() };
    assert_eq!(grab(&bob).0, 10, "and the workspace a half");
    let stranger = Caller { org: Id::new(&clock), ..bob.clone() };
    assert!(grab(&stranger).0 >= 10);
    let newcomer = caller(&clock, "late");
    assert!(limiter.take(&newcomer, Cost::Read).is_ok());
}

#[test]
fn requests_of_all_kinds_count_for_the_person_over_all_clients() {
    let clock = Clock::manual(1_000_000);
    let limiter = Limiter::new(Rates { requests: 4, sessions: 2, ..Limits::default().rates }, &clock);
    let ann =
        Caller { user: Some(Id::new(&clock)), proof: Proof::BrowserSession { auth_time: 0 }, ..caller(&clock, "") };
    let other_client = Caller { client: Client { id: "other".into(), ..Client::default() }, ..ann.clone() };
    for who in [&ann, &other_client] {
        limiter.knock(who, Knock::Request).unwrap();
        limiter.knock(who, Knock::Session).unwrap();
    }
    assert_eq!(limiter.knock(&ann, Knock::Session).unwrap_err().details["limit"], "sessions");
    for who in [&ann, &other_client] {
        limiter.knock(who, Knock::Request).unwrap();
    }
    assert_eq!(limiter.knock(&other_client, Knock::Request).unwrap_err().details["limit"], "requests");
    let bob = caller(&clock, "bob");
    assert!([Knock::Request, Knock::Session].iter().all(|knock| limiter.knock(&bob, *knock).is_ok()));
}

#[test]
fn a_person_brings_few_large_requests_at_once_and_leaves_room_for_others() {
    let clock = Clock::manual(1_000_000);
    let limiter = Limiter::new(Rates { instance_uploads: 8, ..Limits::default().rates }, &clock);
    let ann = caller(&clock, "ann");
    let hers: Vec<Share> = (0..3).map(|_| limiter.body(&ann).unwrap()).collect();
    let full = limiter.body(&ann).unwrap_err();
    assert_eq!((full.code, &full.details["limit"]), (Code::RateLimited, &serde_json::json!("large_requests")));
    assert!(limiter.upload(&ann).is_ok() && limiter.take(&ann, Cost::Read).is_ok(), "those are others");
    let colleague = Caller { proof: Proof::ConnectivityToken { id: "cy".into() }, ..ann };
    let _theirs = limiter.body(&colleague).unwrap();
    assert_eq!(limiter.body(&colleague).unwrap_err().details["limit"], "workspace_large_requests");
    assert!(limiter.body(&caller(&clock, "bob")).is_ok());
    drop(hers);
    assert!(limiter.body(&colleague).is_ok());
}

#[test]
fn what_ones_own_limit_refuses_takes_nothing_from_the_others() {
    let clock = Clock::manual(1_000_000);
    let rates = Rates { instance: std::num::NonZeroU32::new(400), requests: 100, ..Limits::default().rates };
    let limiter = Limiter::new(rates, &clock);
    let (ann, bob) = (caller(&clock, "ann"), caller(&clock, "bob"));
    let let_in = (0..1_000).filter(|_| limiter.knock(&ann, Knock::Request).is_ok()).count();
    assert!(let_in <= 100, "{let_in}");
    assert_eq!(limiter.knock(&bob, Knock::Request).map_err(|error| error.details), Ok(()));
}
