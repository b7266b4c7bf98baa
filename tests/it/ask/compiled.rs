//! Plans as SQL that the engine runs, over data made to go wrong: what is expected was worked out by hand.

use dragoman::engine::agent::compiler::{Compiled, compile};
use dragoman::engine::agent::lineage;
use dragoman::engine::agent::verifier::{Verdict, verify};
use dragoman::model::ontology::{Entity, Ontology};
use dragoman::model::plan::Plan;
use dragoman::model::source::Dialect;
use dragoman::model::table::Table;
use serde_json::Value;

use super::trap::{self, Question, Trap};
use crate::sql::house::House;

/// Rows that a caller takes.
const ROWS: u32 = 1_000;

fn house(trap: &Trap) -> House {
    let mut house = House::empty(|budgets| budgets.sql_chars = 64 * 1024);
    for (name, query) in trap.queries() {
        house.make(&name, &query);
    }
    house
}

fn as_number(cell: &Value) -> Option<f64> {
    cell.as_f64().or_else(|| cell.as_str()?.parse().ok())
}

/// Numbers are equal but for rounding, whatever carries them.
fn same(given: &Value, expected: &Value) -> bool {
    match (expected.as_f64(), as_number(given)) {
        (Some(expected), Some(given)) => (given - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        _ => given == expected,
    }
}

fn same_rows(given: &[Vec<Value>], expected: &[Vec<Value>]) -> bool {
    given.len() == expected.len()
        && given.iter().zip(expected).all(|(given, expected)| {
            given.len() == expected.len() && given.iter().zip(expected).all(|(given, expected)| same(given, expected))
        })
}

/// What is wrong with an answer, if anything is.
async fn ask(house: &House, trap: &Trap, question: &Question) -> Option<String> {
    let (ontology, graph) = trap.graph();
    let plan = question.plan();
    let compiled = match (compile(&plan, &ontology, &graph, Dialect::DuckDb, ROWS), &question.refused) {
        (Ok(compiled), None) => compiled,
        (Err(error), Some(refused)) if error.to_string().contains(refused) => return None,
        (Err(error), _) => return Some(error.to_string()),
        (Ok(compiled), Some(_)) => return Some(format!("not refused:\n{}", compiled.sql)),
    };
    let run = async |sql: &str| match house.query(sql).await {
        Ok(answer) => Ok(answer.table),
        Err(error) => Err(format!("{error} {}\n{sql}", error.details)),
    };
    let table = match run(&compiled.sql).await {
        Ok(table) => table,
        Err(error) => return Some(error),
    };
    if !same_rows(&table.rows, &question.rows) {
        return Some(format!("{:?} instead of {:?}\n{}", table.rows, question.rows, compiled.sql));
    }
    let checks = match &compiled.checks_sql {
        None => None,
        Some(sql) => match run(sql).await {
            Ok(table) => Some(table),
            Err(error) => return Some(error),
        },
    };
    judged(question, &compiled, &plan, &ontology, &table, checks.as_ref())
}

fn judged(
    question: &Question,
    compiled: &Compiled,
    plan: &Plan,
    ontology: &Ontology,
    table: &Table,
    checks: Option<&Table>,
) -> Option<String> {
    let Verdict { findings, caveats, passed, cut } = verify(compiled, plan, ontology, table, checks, &[]);
    let caveats: Vec<String> = caveats.into_iter().chain(cut).collect();
    let notes: Vec<String> = compiled.notes.iter().map(|note| note.says.clone()).collect();
    let failed: Vec<&str> = findings.iter().filter(|f| !f.passed).map(|f| f.says.as_str()).collect();
    match &question.distrusted {
        None if !passed => return Some(format!("not trusted: {failed:?}")),
        Some(says) if !failed.iter().any(|finding| finding.contains(says)) => {
            return Some(format!("trusted, but for {failed:?}"));
        }
        _ => {}
    }
    for (wanted, said) in [(&question.caveat, &caveats), (&question.note, &notes)] {
        if let Some(wanted) = wanted
            && !said.iter().any(|sentence| sentence.contains(wanted))
        {
            return Some(format!("“{wanted}” is not said: {said:?}"));
        }
    }
    if let Some(unsaid) = &question.no_caveat
        && let Some(said) = caveats.iter().find(|caveat| caveat.contains(unsaid))
    {
        return Some(format!("“{said}” is said"));
    }
    let lineage = lineage::of(plan, compiled, ontology, table.rows.len());
    let read =
        |source: &str| ["FROM", "JOIN"].iter().any(|word| compiled.sql.contains(&format!("{word} \"{source}\" AS")));
    if lineage.datasets.is_empty() {
        return Some("a lineage without datasets".to_owned());
    }
    let told = |name: &str| lineage.datasets.iter().any(|dataset| dataset.name == name);
    if let Some(join) = lineage.joins.iter().find(|join| !told(&join.left) || !told(&join.right)) {
        return Some(format!("{join:?} joins what is not read"));
    }
    let is_read = |entity: &&Entity| read(entity.table()) && !told(&entity.name);
    let left_out = ontology.datasets.iter().find(is_read);
    left_out.map(|entity| format!("{} is read and not said:\n{}", entity.name, compiled.sql))
}

async fn all_of(name: &str) {
    let (_, trap) = trap::all().into_iter().find(|(known, _)| *known == name).unwrap();
    let house = house(&trap);
    let mut wrong = vec![];
    for question in &trap.questions {
        wrong.extend(ask(&house, &trap, question).await.map(|what| format!("{}: {what}", question.asks)));
    }
    assert!(wrong.is_empty(), "{}\n{}", trap.says, wrong.join("\n\n"));
}

macro_rules! traps {
    ($($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                all_of(stringify!($name)).await;
            }
        )*

        #[test]
        fn every_trap_is_run() {
            let names: Vec<&str> = trap::all().into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

traps! { sums ways broken_keys times balances shares absence bridges metrics grain owners courses }

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_checks_did_not_run_does_not_pass() {
    let (_, trap) = trap::all().into_iter().find(|(name, _)| *name == "broken_keys").unwrap();
    let question = &trap.questions[0];
    let (ontology, graph) = trap.graph();
    let plan = question.plan();
    let compiled = compile(&plan, &ontology, &graph, Dialect::DuckDb, ROWS).unwrap();
    let table = house(&trap).query(&compiled.sql).await.unwrap().table;
    let verdict = verify(&compiled, &plan, &ontology, &table, None, &[]);
    assert!(!verdict.passed);
    assert!(verdict.findings.iter().any(|finding| finding.says.contains("could not be looked up")));
}
