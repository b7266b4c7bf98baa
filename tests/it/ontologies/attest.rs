//! Whether the data keep what an ontology says, asked of real tables.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman::engine::job::{Job, OnProgress};
use dragoman::engine::ontology::attest_run::attest;
use dragoman::engine::ontology::read::read;
use dragoman::engine::sql::TableFormat;
use dragoman::model::error::Code;
use dragoman::model::ontology::{Finding, Severity};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::sql::bombs::children;
use crate::sql::house::House;

const SHOP: &str = include_str!("shop.yaml");

async fn shop(customers: &str, orders: &str) -> House {
    let mut house = House::new(|_| {}).await;
    house.add("shop_customers", TableFormat::Csv, customers).await;
    house.add("shop_orders", TableFormat::Csv, orders).await;
    house
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_data_do_not_keep_is_found_and_counted() {
    let house = shop(
        "id,name\n1,Ann\n2,Bob\n2,Bea\n",
        "id,customer_id,amount,status,day\n1,1,10.5,open,2024-01-01\n2,2,20,closed,2024-01-02\n\
         3,99,5,open,2024-01-03\n4,,1,void,2024-01-04\n",
    )
    .await;
    let ontology = read(SHOP).unwrap().ontology;
    let pass = house.pass();
    let told = Arc::new(Mutex::new(vec![]));
    let tell = Arc::clone(&told);
    let on_progress: OnProgress = Arc::new(move |progress| tell.lock().unwrap().push(progress.fraction.unwrap()));
    let time = Duration::from_secs(60);
    let job = Job::new(&pass, &house.budgets, time, CancellationToken::new(), Some(on_progress));
    let attestation = attest(&house.engine, &job, &ontology, 7).await.unwrap();
    assert_eq!((attestation.passed, attestation.checked_at), (false, 7));
    let find = |what: &str| -> &Finding {
        let found = attestation.findings.iter().find(|finding| finding.what == what);
        found.unwrap_or_else(|| panic!("{what} in {:#?}", attestation.findings))
    };
    let figures = |what: &str| (find(what).passed, json!(find(what).figures));
    assert_eq!(figures("datasets[0].primary_key"), (true, json!({"rows": 4, "empty": 0, "repeated": 0})));
    assert_eq!(figures("datasets[0].unique_keys[0]"), (true, json!({"rows": 4, "empty": 1, "repeated": 0})));
    assert_eq!(figures("datasets[1].primary_key"), (false, json!({"rows": 3, "empty": 0, "repeated": 1})));
    assert_eq!(figures("relationships[0]"), (false, json!({"rows": 4, "empty": 1, "orphans": 1})));
    assert_eq!(find("relationships[0]").severity, Severity::Error);
    // A set that declares `lost`, which no order is.
    assert_eq!(figures("datasets[0].fields[3]"), (false, json!({"values": 3, "not_found": 1})));
    assert_eq!(find("datasets[0].fields[3]").severity, Severity::Warning);
    assert_eq!(figures("datasets[0].fields[1].nullable"), (false, json!({"rows": 4, "empty": 1})));
    let broken = &find("datasets[0].fields[5].expression").says;
    assert!(broken.contains("shop_orders.broken") && broken.contains("does not fit"), "{broken}");
    // The engine's own words would be "Could not convert string 'open' to INT32".
    assert!(!["open", "closed", "void"].iter().any(|stored| broken.contains(stored)), "{broken}");
    assert!(find("datasets[0].fields[6].datatype").says.contains("declared as String"));
    assert_eq!(find("metrics[0].expression").figures["value"], json!(36.5));
    // Of Ann, through the relationship.
    assert_eq!(find("metrics[1].expression").figures["value"], json!(10.5));
    // Of all orders a quarter of the sum: a metric made from metrics.
    assert_eq!(find("metrics[2].expression").figures["value"], json!(9.125));
    assert!(!find("metrics[3].expression").passed);
    assert!(find("metrics[3].expression").says.contains("status_sum"));
    let failed: Vec<&str> =
        attestation.findings.iter().filter(|finding| !finding.passed).map(|finding| finding.what.as_str()).collect();
    assert_eq!(failed.len(), 7, "{failed:?}");
    let told = told.lock().unwrap().clone();
    assert_eq!(told.first(), Some(&0.0));
    assert!(told.is_sorted() && told.iter().all(|fraction| *fraction < 1.0), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_keep_everything_pass_and_a_caller_who_has_gone_is_not_served() {
    let house = shop(
        "id,name\n1,Ann\n2,Bob\n",
        "id,customer_id,amount,status,day\n1,1,10.5,open,2024-01-01\n2,2,20,closed,2024-01-02\n\
         3,1,5,lost,2024-01-03\n",
    )
    .await;
    let mut ontology = read(SHOP).unwrap().ontology;
    ontology.metrics.truncate(3);
    ontology.datasets[0].fields.truncate(5);
    ontology.datasets[0].unique_keys.clear();
    let pass = house.pass();
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(60), CancellationToken::new(), None);
    let attestation = attest(&house.engine, &job, &ontology, 7).await.unwrap();
    assert!(attestation.findings.iter().all(|finding| finding.passed), "{:#?}", attestation.findings);
    // Two keys, a relationship, a closed set, three metrics.
    assert_eq!((attestation.passed, attestation.findings.len()), (true, 7));
    let gone = CancellationToken::new();
    gone.cancel();
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(60), gone, None);
    assert_eq!(attest(&house.engine, &job, &ontology, 7).await.unwrap_err().code, Code::QueryTimeout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_ran_out_of_time_says_nothing_of_the_ontology() {
    let mut house = House::new(|_| {}).await;
    house.add("shop_customers", TableFormat::Csv, "id,name\n1,Ann\n").await;
    // Two million different keys are not told apart in a millisecond.
    house.make(
        "shop_orders",
        "SELECT i AS id, 1 AS customer_id, 10.5 AS amount, 'open' AS status, DATE '2024-01-01' AS day \
         FROM range(2000000) AS rows(i)",
    );
    let ontology = read(SHOP).unwrap().ontology;
    let pass = house.pass();
    let budget = dragoman::config::Budgets { sql_time: Duration::from_millis(1), ..house.budgets.clone() };
    let job = Job::new(&pass, &budget, Duration::from_secs(60), CancellationToken::new(), None);
    let ended = attest(&house.engine, &job, &ontology, 7).await.unwrap_err();
    assert_eq!(ended.code, Code::QueryTimeout, "{ended}");
    job.check().expect("the job itself goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tables_are_opened_together_and_not_each_in_a_worker_of_its_own() {
    // A limit that is this house's alone: its workers are known by it.
    let mut house = House::empty(|budgets| budgets.sql_memory_mb = 259);
    let mut text = "version: 0.2.0.dev0\nname: many\ndatasets:\n".to_owned();
    for number in 0..60 {
        house.make(&format!("part_{number}"), "SELECT i AS id, i / 2 AS half FROM range(4) AS rows(i)");
        text += &format!(
            "  - name: part_{number}\n    source: part_{number}\n    primary_key: [id]\n    fields:\n      \
             - {{name: id, datatype: Integer, expression: {{dialects: [{{dialect: ANSI_SQL, expression: id}}]}}}}\n"
        );
    }
    let ontology = read(&text).unwrap().ontology;
    let pass = house.pass();
    let workers = Arc::new(Mutex::new(BTreeSet::new()));
    let (seen, limit) = (Arc::clone(&workers), ((259_u64 << 20) + (1 << 30)).to_string());
    let look: OnProgress = Arc::new(move |_| seen.lock().unwrap().extend(children(&limit).iter().map(|(pid, _)| *pid)));
    let job = Job::new(&pass, &house.budgets, Duration::from_secs(300), CancellationToken::new(), Some(look));
    let attestation = attest(&house.engine, &job, &ontology, 7).await.unwrap();
    assert!(attestation.passed, "{:#?}", attestation.findings);
    assert_eq!(attestation.findings.len(), 60, "a key each");
    let workers = workers.lock().unwrap().len();
    assert!((1..=6).contains(&workers), "{workers} workers for 60 tables");
}
