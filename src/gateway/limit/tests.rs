use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::*;
use crate::base::id::Id;
use crate::config::Limits;
use crate::model::access::{Rights, Role};
use crate::model::caller::{Client, Proof};

fn caller(clock: &Clock, token: &str) -> Caller {
    Caller {
        org: Id::new(clock),
        user: None,
        role: Role::Viewer,
        rights: Rights::NONE,
        proof: Proof::ConnectivityToken { id: token.into() },
        client: Client::default(),
        session: None,
        ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: String::new(),
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
    let mut running: Vec<Permit> = (0..3).map(|_| limiter.take(&ann, Cost::Read).unwrap()).collect();
    assert_eq!(limiter.take(&ann, Cost::Read).unwrap_err().details["limit"], "in_flight");
    running.pop();
    assert!(limiter.take(&ann, Cost::Read).is_ok());
}
