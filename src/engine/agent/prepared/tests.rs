use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::DateTime;

use super::*;
use crate::model::query::Query;

fn id<T>(number: u128) -> Id<T> {
    uuid::Uuid::from_u128(number).hyphenated().to_string().parse().unwrap()
}

pub(super) fn prepared(is_partial: bool) -> Prepared {
    let ontology = Arc::new(Ontology::default());
    Prepared {
        graph: Arc::new(Graph::new(&ontology)),
        values: Vec::new(),
        learnt: Vec::new(),
        dialect: Dialect::DuckDb,
        bounds: Vec::new(),
        left_out: Vec::new(),
        extents: HashMap::new(),
        is_partial,
        tried: Tried::default(),
        ontology,
    }
}

fn key(org: u128, ontology: u128) -> Key {
    (id(org), id(ontology), 1, "data".into())
}

fn busy() -> Error {
    Error::unavailable("Too many queries are running.")
}

#[tokio::test]
async fn those_who_want_the_same_at_once_have_it_made_once() {
    let ready = Ready::new(Planners::new(Vec::new()));
    let made = AtomicUsize::new(0);
    let get = || {
        ready.kept_or_made(key(1, 1), || async {
            made.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Ok(prepared(false))
        })
    };
    let (one, other, third) = tokio::join!(get(), get(), get());
    let (one, other, third) = (one.unwrap(), other.unwrap(), third.unwrap());
    assert!(Arc::ptr_eq(&one, &other) && Arc::ptr_eq(&one, &third));
    assert!(Arc::ptr_eq(&one, &get().await.unwrap()), "it is kept");
    assert_eq!((made.load(Ordering::SeqCst), ready.state().making.len()), (1, 0));
}

/// The first who makes it fails for reasons of its own; the second does not.
#[tokio::test]
async fn who_waits_for_one_that_fails_or_goes_makes_it() {
    let ready = Ready::new(Planners::new(Vec::new()));
    let fails = ready.kept_or_made(key(1, 1), || async {
        tokio::task::yield_now().await;
        Err(busy())
    });
    let works = ready.kept_or_made(key(1, 1), || async { Ok(prepared(false)) });
    let (failed, worked) = tokio::join!(fails, works);
    assert_eq!(failed.err().map(|error| error.code), Some(Code::ServiceUnavailable));
    assert!(worked.is_ok() && ready.state().making.is_empty());

    // One who goes leaves nothing behind.
    let gone = ready.kept_or_made(key(1, 2), std::future::pending);
    tokio::select! {
        biased;
        _ = gone => panic!("nobody made it"),
        () = tokio::task::yield_now() => {}
    }
    assert!(ready.state().making.is_empty());
    assert!(ready.kept_or_made(key(1, 2), || async { Ok(prepared(false)) }).await.is_ok());
}

#[test]
fn a_workspace_has_its_share_and_leaves_that_of_others() {
    const MIB: usize = 1 << 20;
    let ready = Ready::new(Planners::new(Vec::new()));
    let kept = || Kept { prepared: Arc::new(prepared(false)), since: Instant::now() };
    let has = |org: u128, ontology: u128| ready.state().kept.get(&key(org, ontology)).is_some();
    ready.state().keep(key(2, 1), kept(), 60 * MIB);
    for ontology in 1..=40 {
        ready.state().keep(key(1, ontology), kept(), 30 * MIB);
    }
    assert!(has(1, 40) && has(1, 39) && !has(1, 38), "two of 30 MiB are within 64");
    assert!(has(2, 1), "another workspace's stays");
    // One alone may be larger than a share: else it could not be asked.
    ready.state().keep(key(1, 41), kept(), 200 * MIB);
    assert!(has(1, 41) && !has(1, 40) && has(2, 1));
}

#[tokio::test]
async fn what_is_old_is_made_anew() {
    let ready = Ready::new(Planners::new(Vec::new()));
    let made = AtomicUsize::new(0);
    let get = |ontology: u128, is_partial: bool| {
        let made = &made;
        ready.kept_or_made(key(1, ontology), move || async move {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(prepared(is_partial))
        })
    };
    let made_by = async |ontology: u128, is_partial: bool| {
        let before = made.load(Ordering::SeqCst);
        get(ontology, is_partial).await.unwrap();
        made.load(Ordering::SeqCst) > before
    };
    let age = |by: Duration| {
        let mut state = ready.state();
        for ontology in [1, 2] {
            let mut kept = state.kept.get(&key(1, ontology)).unwrap();
            kept.since = kept.since.checked_sub(by).unwrap();
            state.kept.put(key(1, ontology), kept, 1);
        }
    };
    assert!(made_by(1, false).await && made_by(2, true).await);
    age(LIFE_OF_A_PART - Duration::from_secs(60));
    assert!(!made_by(1, false).await && !made_by(2, true).await);
    age(Duration::from_secs(61));
    assert!(!made_by(1, false).await && made_by(2, true).await, "a part is tried again sooner");
    age(LIFE);
    assert!(made_by(1, false).await);
}

#[test]
fn a_query_is_tried_once() {
    let prepared = prepared(false);
    let of = |measure: &str| Query { measures: vec![measure.into()], ..Query::default() };
    let now = DateTime::default();
    assert!(!prepared.runs(&of("revenue"), now) && !prepared.runs(&of("revenue"), now));
    assert_eq!(prepared.tried.count(), 1);
    assert!(!prepared.runs(&of("orders"), now));
    assert_eq!(prepared.tried.count(), 2);
}
