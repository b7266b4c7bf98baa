use std::time::Duration;

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::model::access::{Action, Catalogue, Rights, Role, Want, authorize};
use crate::model::caller::{Caller, Proof};
use crate::model::dataset::Kind;
use crate::model::error::Code;
use crate::model::table::Table;

const SQL: &str = "SELECT * FROM t";
/// Bytes of a reply that holds about ten of the rows of [`answer`].
const REPLY: usize = ENVELOPE + 1_100;

struct World {
    clock: Clock,
    results: Results,
    org: Org,
    table: Dataset,
}

impl World {
    fn new() -> Self {
        let clock = Clock::manual(1_000_000);
        let org =
            Org { id: Id::new(&clock), slug: "a".into(), name: "A".into(), connectivity_enabled: true, created_at: 0 };
        let table = Dataset {
            externally_queryable: true,
            version: Some("v1".into()),
            row_count: 25,
            bytes: 1,
            ..Dataset::new(Id::new(&clock), org.id, "t", Kind::Table)
        };
        Self { results: Results::new(clock.clone()), clock, org, table }
    }

    /// The pass of a token.
    fn pass(&self, token: &str) -> Pass {
        let caller = Caller {
            role: Role::Contributor,
            rights: Rights::of_role(Role::Contributor),
            proof: Proof::ConnectivityToken { id: token.into() },
            ..Caller::operator(self.org.id, "r".into())
        };
        authorize(&caller, &Catalogue::new(self.org.clone(), vec![self.table.clone()]), Action::RunSql, &Want::All)
            .unwrap()
    }

    fn first(&self) -> Page {
        self.results.first(&self.pass("a"), SQL, answer(25, 100), REPLY).unwrap()
    }

    fn code(&self, position: &str) -> Option<Code> {
        self.results.next(&self.pass("a"), SQL, position, REPLY).err().map(|error| {
            assert_eq!(error.details["field"], "cursor");
            assert!(error.message.contains("Run the query again"));
            error.code
        })
    }
}

/// A row of one text.
fn text(value: &str) -> RowText {
    to_raw_value(&[value]).unwrap()
}

/// `rows` rows of about `bytes` bytes.
fn answer(rows: usize, bytes: usize) -> Answer<RowText> {
    let columns = vec![Column { name: "c".into(), r#type: "VARCHAR".into() }];
    let rows = (0..rows).map(|row| text(&format!("{row:0>width$}", width = bytes - 5))).collect();
    let table = Table { columns, rows, truncated: false };
    Answer { table, execution_ms: 7, used: vec!["T".into()], judged_us: 1, dialect: Dialect::DuckDb }
}

#[test]
fn pages_together_are_the_whole_result_in_order() {
    let world = World::new();
    let mut page = world.first();
    assert_eq!(page.facts.rows, 25);
    let mut rows = page.rows;
    let mut pages = 1;
    while let Some(position) = page.next {
        assert!(rows.len() < 25);
        page = world.results.next(&world.pass("a"), SQL, &position, REPLY).unwrap();
        assert_eq!(page.facts.execution_ms, 7);
        rows.append(&mut page.rows);
        pages += 1;
    }
    let texts = |rows: &[RowText]| rows.iter().map(|row| row.get().to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&rows), texts(&answer(25, 100).table.rows));
    assert!(pages >= 3, "{pages}");
    let whole = world.results.first(&world.pass("a"), SQL, answer(5, 100), REPLY).unwrap();
    assert!(whole.next.is_none() && whole.rows.len() == 5);
}

#[test]
fn a_position_is_worth_nothing_to_others_for_other_text_or_later() {
    let world = World::new();
    let position = world.first().next.unwrap();
    assert_eq!(world.code(&position), None);
    assert_eq!(world.code(&position), None, "a page can be asked for again");
    let refused = |pass: &Pass, sql: &str| world.results.next(pass, sql, &position, REPLY).is_err();
    assert!(refused(&world.pass("b"), SQL), "another token of the workspace");
    assert!(refused(&World::new().pass("a"), SQL), "another workspace");
    assert!(refused(&world.pass("a"), "SELECT 1"));
    let id = position.split(':').next().unwrap();
    for made_up in [
        &position[1..],
        "",
        "x",
        ":",
        &format!("{id}:-1"),
        &format!("{id}:0"),
        &format!("{id}:25"),
        &format!("{id}:9999999"),
    ] {
        assert_eq!(world.code(made_up), Some(Code::InvalidArgument), "{made_up}");
    }
    world.clock.advance(Duration::from_secs(599));
    assert_eq!(world.code(&position), None);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(world.code(&position), Some(Code::InvalidArgument), "over");
}

#[test]
fn a_result_ends_with_its_data() {
    let mut world = World::new();
    let position = world.first().next.unwrap();
    world.table.externally_queryable = false;
    assert!(world.code(&position).is_some(), "withdrawn");
    world.table.externally_queryable = true;
    assert!(world.code(&position).is_some(), "and gone for good");

    let position = world.first().next.unwrap();
    world.table.version = Some("v2".into());
    assert!(world.code(&position).is_some(), "a new version");

    let position = world.first().next.unwrap();
    world.table.hidden = vec!["c".into()];
    assert!(world.code(&position).is_some(), "a column is hidden now");

    let position = world.first().next.unwrap();
    world.results.forget(world.org.id, Id::new(&world.clock));
    assert_eq!(world.code(&position), None, "another dataset's end");
    world.results.forget(world.org.id, world.table.id);
    assert!(world.code(&position).is_some());
}

#[test]
fn a_row_that_fits_into_no_reply_is_named() {
    let world = World::new();
    let error = world.results.first(&world.pass("a"), SQL, answer(3, 5_000), REPLY).err().unwrap();
    assert_eq!((error.code, &error.details["row"]), (Code::LimitExceeded, &json!(1)));
    let mut late = answer(3, 100);
    late.table.rows[1] = text(&"x".repeat(5_000));
    let page = world.results.first(&world.pass("a"), SQL, late, REPLY).unwrap();
    assert_eq!(page.rows.len(), 1);
    let error = world.results.next(&world.pass("a"), SQL, &page.next.unwrap(), REPLY).err().unwrap();
    assert_eq!((error.code, &error.details["row"]), (Code::LimitExceeded, &json!(2)));
}

/// A workspace that keeps much pushes out its own first results, and nobody else's.
#[test]
fn a_workspace_has_its_own_room() {
    let world = World::new();
    let other = World { results: world.results.clone(), ..World::new() };
    let theirs = other.first().next.unwrap();
    let position = world.first().next.unwrap();
    let large = || world.results.first(&world.pass("a"), SQL, answer(1_600, 5_000), 20_000).unwrap().next.unwrap();
    let newer = [large(), large(), large()];
    assert_eq!(world.code(&position), Some(Code::InvalidArgument), "pushed out");
    assert_eq!(world.code(&newer[0]), Some(Code::InvalidArgument), "three of 8 MB are more than 16 MB");
    let still = |position: &str| world.results.next(&world.pass("a"), SQL, position, 20_000).is_ok();
    assert!(still(&newer[1]) && still(&newer[2]));
    assert_eq!(other.code(&theirs), None);
}
