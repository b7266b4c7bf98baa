//! C19 and D14: the database refuses the first write of an exchange, then the second, and so on to its commit. Each
//! time everything is as it was, and the same request works once the database does.

use dragoman::identity::grants::GrantError;
use sqlx::AssertSqlSafe;

use super::*;
use crate::support::databases::both;
use crate::support::dump::{is_postgres, rows_of};

const TABLES: [&str; 2] = ["grants", "refresh_tokens"];

/// Makes the database able to fail.
async fn prepare(db: &Db) {
    let mut commands =
        vec!["CREATE TABLE fault (at BIGINT NOT NULL)".to_owned(), "INSERT INTO fault VALUES (0)".into()];
    if is_postgres(db.pool()) {
        commands.extend(
            [
                "CREATE SEQUENCE writes",
                // A sequence is not rolled back, so that it counts the writes of failed attempts too.
                "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                   IF nextval('writes') = (SELECT at FROM fault) THEN RAISE EXCEPTION 'no room'; END IF;
                   RETURN NEW;
                 END $$",
            ]
            .map(String::from),
        );
        for table in TABLES {
            commands.push(format!(
                "CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION fail()"
            ));
            // Runs when the transaction commits.
            commands.push(format!(
                "CREATE CONSTRAINT TRIGGER fail_late AFTER INSERT OR UPDATE ON {table}
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()"
            ));
        }
    } else {
        commands.push("CREATE TABLE writes (n BIGINT NOT NULL)".into());
        commands.push("INSERT INTO writes VALUES (0)".into());
        for (table, event) in TABLES.iter().flat_map(|table| [(table, "INSERT"), (table, "UPDATE")]) {
            commands.push(format!(
                "CREATE TRIGGER fail_{event}_{table} BEFORE {event} ON {table} BEGIN
                   UPDATE writes SET n = n + 1;
                   SELECT RAISE(ABORT, 'no room') FROM fault, writes WHERE fault.at = writes.n;
                 END"
            ));
        }
    }
    run(db, &commands).await;
}

/// The write of that number fails from now on; none with 0.
async fn fail_at(db: &Db, at: u32) {
    let count = match is_postgres(db.pool()) {
        true => "ALTER SEQUENCE writes RESTART",
        false => "UPDATE writes SET n = 0",
    };
    run(db, &[count.into(), format!("UPDATE fault SET at = {at}")]).await;
}

async fn run(db: &Db, commands: &[String]) {
    for command in commands {
        sqlx::query(AssertSqlSafe(command.as_str())).execute(db.pool()).await.unwrap();
    }
}

#[track_caller]
fn failed(result: &Result<TokenPair, GrantError>) {
    assert!(matches!(result, Err(GrantError::Internal(_))), "{result:?}");
}

#[tokio::test]
async fn c19_a_code_survives_a_failure_of_any_write_of_its_exchange() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        prepare(&db).await;
        let mut steps = 0;
        loop {
            let code = world.code().await;
            let before = rows_of(&db, &TABLES).await;
            fail_at(&db, steps + 1).await;
            let result = world.redeem(&code).await;
            fail_at(&db, 0).await;
            if result.is_ok() {
                break;
            }
            failed(&result);
            steps += 1;
            assert_eq!(rows_of(&db, &TABLES).await, before, "write {steps}");
            let pair = world.redeem(&code).await.unwrap();
            world.verify(&pair.access).await.unwrap();
            world.refresh(&pair.refresh).await.unwrap();
        }
        // The lock, the mark, the token; on PostgreSQL each again at the commit.
        assert!(steps >= 3, "only {steps} writes could fail");
    })
    .await;
}

#[tokio::test]
async fn d14_a_refresh_token_survives_a_failure_of_any_write_of_its_rotation() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        prepare(&db).await;
        let mut steps = 0;
        loop {
            let first = world.pair().await;
            let before = rows_of(&db, &TABLES).await;
            fail_at(&db, steps + 1).await;
            let result = world.refresh(&first.refresh).await;
            fail_at(&db, 0).await;
            if result.is_ok() {
                break;
            }
            failed(&result);
            steps += 1;
            assert_eq!(rows_of(&db, &TABLES).await, before, "write {steps}");
            // Long after: had it been replaced, this would be reuse.
            world.wait(60);
            let second = world.refresh(&first.refresh).await.unwrap();
            world.refresh(&second.refresh).await.unwrap();
        }
        assert!(steps >= 3, "only {steps} writes could fail");
    })
    .await;
}

#[tokio::test]
async fn d14_a_kill_that_cannot_be_written_is_said_and_made_up_for() {
    both(async |db| {
        let world = World::new(db.clone()).await;
        prepare(&db).await;
        let mut steps = 0;
        loop {
            let first = world.pair().await;
            let second = world.refresh(&first.refresh).await.unwrap();
            world.wait(60);
            fail_at(&db, steps + 1).await;
            let result = world.refresh(&first.refresh).await;
            fail_at(&db, 0).await;
            if let Err(GrantError::Reused(_)) = result {
                revoked(&world.verify(&second.access).await);
                break;
            }
            failed(&result);
            steps += 1;
            // Nobody was told that the family has ended: it has not, and the next reuse ends it.
            world.verify(&second.access).await.unwrap();
            invalid_grant(world.refresh(&first.refresh).await);
            revoked(&world.verify(&second.access).await);
        }
        assert!(steps >= 2, "only {steps} writes could fail");
    })
    .await;
}
